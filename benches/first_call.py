"""How long the first call of a small kernel takes in a process that has called others, and of what it consists; and
how long a call takes that has nothing to do.

`python benches/first_call.py [ROUNDS]`; with `--fresh [PROCESSES]` what it is in processes that have called nothing.

Beside it stands Numba's first call of the same function, if Numba is installed (`pip install numba`; a few rounds only,
as each takes about a second).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import spmdvm
from spmdvm import float32, foreach

try:
    import numba
except ImportError:
    numba = None

NUMBA_ROUNDS = 4
FRESH = """
import time
import numpy as np
times = [time.perf_counter()]
import spmdvm
times.append(time.perf_counter())

@spmdvm.kernel
def polynomial(x, y):
    return x * x + 2 * x * y - y / 3 + np.sqrt(x)

x = np.ones(100)
times.append(time.perf_counter())
polynomial(x, x)
times.append(time.perf_counter())
print(*(1e3 * (b - a) for a, b in zip(times, times[1:])))
"""


def kernels() -> list[tuple]:
    """Make kernels that have not been called, with arguments for each."""

    @spmdvm.kernel
    def polynomial(x, y):
        return x * x + 2 * x * y - y / 3 + np.sqrt(x)

    @spmdvm.kernel
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    @spmdvm.kernel
    def blur(image: spmdvm.array[float32, 2], out: spmdvm.array[float32, 2]):
        height, width = image.shape
        for i, j in foreach((1, height - 1), (1, width - 1)):
            total = 0.0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    total += image[i + di, j + dj]
            out[i, j] = total / 9

    x = np.ones(100)
    image = np.ones((20, 30), np.float32)
    return [(polynomial, (x, x)), (collatz, (np.arange(1, 100),)), (blur, (image, image.copy()))]


def numba_functions() -> list[tuple]:
    """Make the same for Numba, as its users write it."""

    @numba.vectorize
    def polynomial(x, y):
        return x * x + 2 * x * y - y / 3 + np.sqrt(x)

    @numba.vectorize
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    @numba.njit
    def blur(image, out):
        height, width = image.shape
        for i in range(1, height - 1):
            for j in range(1, width - 1):
                total = float32(0)
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        total += image[i + di, j + dj]
                out[i, j] = total / 9

    x = np.ones(100)
    image = np.ones((20, 30), np.float32)
    return [
        ("polynomial", polynomial, (x, x)),
        ("collatz", collatz, (np.arange(1, 100),)),
        ("blur", blur, (image, image.copy())),
    ]


def empty_call() -> float:
    """Give the least time of a call that does nothing with four arrays, in seconds."""
    text = "export void f(uniform float a[], uniform float b[], uniform float c[], uniform float d[]) {}"
    function = spmdvm.compile(text).f
    arrays = [np.zeros(4, np.float32) for _ in range(4)]
    least = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(200):
            function(*arrays)
        least = min(least, (time.perf_counter() - start) / 200)
    return least


def with_numba() -> dict[str, float]:
    """Give the median time of Numba's first call of each, in seconds; nothing without Numba."""
    times: dict[str, list[float]] = {}
    for _ in range(NUMBA_ROUNDS + 1 if numba is not None else 0):
        for name, function, arguments in numba_functions():
            start = time.perf_counter()
            function(*arguments)
            times.setdefault(name, []).append(time.perf_counter() - start)
    # The first round is the process's first, here too.
    return {name: statistics.median(row[1:]) for name, row in times.items()}


def fresh(processes: int) -> None:
    """Print medians of what a process does first, beyond `import numpy`."""
    # As users have it, with compiled Python beside the source.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "first.py")
        file.write_text(FRESH)
        for _ in range(processes + 1):
            done = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True, env=environment)
            rows.append([float(number) for number in done.stdout.split()])
    # The first process reads files from the disk.
    names = ("import spmdvm", "first decorator", "first call")
    for name, column in zip((*names, "together"), [*zip(*rows[1:]), [sum(row) for row in rows[1:]]]):
        print(f"{name:<16}{statistics.median(column):8.2f} ms, at least {min(column):6.2f} ms")


def main() -> None:
    """Print a table of medians."""
    if sys.argv[1:2] == ["--fresh"]:
        return fresh(int(sys.argv[2]) if len(sys.argv) > 2 else 20)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    times: dict[str, list[list[float]]] = {}
    for _ in range(rounds + 1):
        start = time.perf_counter()
        made = kernels()
        decorated = (time.perf_counter() - start) / len(made)
        for kernel, arguments in made:
            start = time.perf_counter()
            kernel(*arguments)
            first = time.perf_counter()
            kernel(*arguments)
            second = time.perf_counter()
            spmdvm.compile([("text", kernel.spmd_source)])
            compiled = time.perf_counter() - second
            times.setdefault(kernel.__name__, []).append([decorated, first - start, compiled, second - first])
    theirs = with_numba()
    if numba is None:
        print("Numba is not installed: its column is left out (pip install numba)")
    print(
        f"{'kernel':<12}{'decorator':>12}{'first call':>12}{'of it compile':>15}{'second call':>13}{'Numba first':>14}"
    )
    for name, rows in times.items():
        # The first round is the process's first.
        columns = [1e3 * statistics.median(column) for column in zip(*rows[1:])]
        beside = f"{1e3 * theirs[name]:11.1f} ms" if name in theirs else f"{'–':>14}"
        print(f"{name:<12}" + "".join(f"{ms:>{w}.3f} ms" for ms, w in zip(columns, (9, 9, 12, 10))) + beside)
    print(f"\na call of four arrays that does nothing: {1e6 * empty_call():.1f} µs")


if __name__ == "__main__":
    main()
