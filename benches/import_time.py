"""How long `import spmdvm` takes beyond `import numpy`, in fresh processes. Aim: less than 10 ms.

`python benches/import_time.py [PROCESSES]`
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

CODE = """
import time
start = time.perf_counter(), time.process_time()
import numpy
numpy_done = time.perf_counter(), time.process_time()
import spmdvm
done = time.perf_counter(), time.process_time()
print(*(b - a for a, b in zip(start, numpy_done)), *(b - a for a, b in zip(numpy_done, done)))
"""


def main() -> None:
    """Print medians."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    # As users have it, with compiled Python beside the source.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    rows = []
    for _ in range(processes + 1):
        done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)
        rows.append([1e3 * float(number) for number in done.stdout.split()])
    # The first process reads files from the disk.
    numpy_wall, numpy_cpu, wall, cpu = (statistics.median(column) for column in zip(*rows[1:]))
    print(f"{'':<16}{'elapsed':>12}{'processor':>12}")
    print(f"{'import numpy':<16}{numpy_wall:9.2f} ms{numpy_cpu:9.2f} ms")
    print(f"{'import spmdvm':<16}{wall:9.2f} ms{cpu:9.2f} ms")


if __name__ == "__main__":
    main()
