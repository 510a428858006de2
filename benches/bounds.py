"""Shows what bounds checks cost: times kernels in two builds, with the checks and with the checks compiled out.

The builds run in turn, one call each, and where the system allows it on one processor, so that both meet the same
conditions; ratios are of medians. Results must be equal. The engine is the one that `auto` stands for.

    python benches/bounds.py [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FEATURE = "unchecked-for-benchmarks"
TARGETS = {"computing": 1.10, "streaming": 1.20}
WARM = 40


def build(folder: Path, *features: str) -> Path:
    """Build the program and give a copy of it."""
    command = ["cargo", "build", "--release", "--quiet", "-p", "spmdvm-benches", "--bin", "bounds", *features]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return Path(shutil.copy(target / "release" / "bounds", folder / f"bounds{len(features)}"))


class Build:
    """A running build."""

    def __init__(self, program: Path) -> None:
        """Start it, and read what kernels it has."""
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.kernels = [line.split() for line in iter(self.process.stdout.readline, "\n")]

    def run(self, kernel: int) -> tuple[int, str]:
        """Run a kernel once: nanoseconds and result."""
        print(kernel, file=self.process.stdin, flush=True)
        time, result = self.process.stdout.readline().split()
        return int(time), result


def stay_on_one_processor() -> None:
    """Keep this process and those it starts where they are: another processor may be slower at the moment."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=31)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = [build(Path(folder)), build(Path(folder), "--features", FEATURE)]
        stay_on_one_processor()
        checked, unchecked = map(Build, programs)
    print(f"{'kernel':16}{'kind':12}{'checked':>12}{'unchecked':>12}{'ratio':>8}{'at most':>9}")
    for number, (name, kind) in enumerate(checked.kernels):
        for _ in range(WARM):
            if checked.run(number)[1] != unchecked.run(number)[1]:
                sys.exit(f"{name}: results differ")
        pairs = [(checked.run(number)[0], unchecked.run(number)[0]) for _ in range(options.rounds)]
        times = [statistics.median(list_) for list_ in zip(*pairs)]
        ratio = times[0] / times[1]
        missed = "  missed" if ratio > TARGETS[kind] else ""
        cells = "".join(f"{time / 1e6:9.3f} ms" for time in times)
        print(f"{name:16}{kind:12}{cells}{ratio:8.2f}{TARGETS[kind]:9.2f}{missed}", flush=True)


if __name__ == "__main__":
    main()
