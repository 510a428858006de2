"""The kernels of examples/as_kernels.py beside the programs in SPMD text: the same bits, and which part of their time.

`python benches/kernels.py [ROUNDS] [--only NAME,…]`

Results are compared first, then both run until their loops are compiled. Times are medians of the processor time of so
many rounds (15), in each of which both run once, the one or the other first.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import as_kernels
import in_turn


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("rounds", nargs="?", type=int, default=15)
    arguments.add_argument("--only", default="", help="names, separated by commas")
    given = arguments.parse_args()
    print(f"{'example':<15}{'program':>12}{'kernel':>12}{'kernel/program':>16}")
    ratios = []
    for make in as_kernels.PAIRS:
        pair = make()
        if given.only and pair.name not in given.only.split(","):
            continue
        for ours, theirs in zip(pair.program(), pair.kernel()):
            if ours.tobytes() != theirs.tobytes():
                sys.exit(f"{pair.name}: the results differ")
        times = in_turn.times_of((pair.program, pair.kernel), given.rounds)
        program, kernel = (statistics.median(t) for t in times)
        ratios.append(statistics.median(b / a for a, b in zip(*times)))
        print(f"{pair.name:<15}{1e3 * program:9.2f} ms{1e3 * kernel:9.2f} ms{ratios[-1]:15.2f}x", flush=True)
    print(f"slowest ratio: {max(ratios):.2f}x")


if __name__ == "__main__":
    main()
