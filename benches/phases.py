"""How soon the JIT suits what a program does after that has changed, and what it costs to look whether it has.

A kernel runs for long on one kind of input, then on another, for which other variants are better. After the change its
rounds alternate with those of a fresh module that has only seen the second kind, so that both meet the same conditions;
compared are medians over some time, and results. Printed are the time of a round in the first phase, of one at the end
of the second, and of one of the fresh module, the ratio of the last two, after how many milliseconds of running a round
takes at most a tenth longer than the fresh module's, and what part of its time went into looking. The last lines are of
programs that do both within one call: the milliseconds by which that takes longer than the two apart.

    python benches/phases.py [PHASE …] [--engine auto|x86|clif] [--first SECONDS] [--most SECONDS]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import spmdvm
from variants import ARMS, ESCAPE, GATHER, LONELY, MATERIAL, RARE, RECORDS, RNG, N, indices

Call = Callable[[spmdvm.Module, np.ndarray], None]

# Seconds of running that are compared at a time.
WINDOW = 0.01
# So many such windows in a row must do.
WINDOWS = 3
# How much longer than a fresh module's a round may take.
SETTLED = 1.1

CONDITIONS = """
export void f(const uniform float a[], const uniform int kind[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i], y = 1;
        if (kind[i] > 0) { y = sqrt(x + 1) / (x + 2); y = y * y + sqrt(y) / (y + 3); y = sqrt(y + x) / (y + 1); }
        out[i] = y;
    }
}
"""

SPARSE = """
export void f(const uniform float a[], const uniform int wanted[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float y = 0;
        if (wanted[i]) {
            for (uniform int k = 0; k < 8; ++k) y += sqrt(a[i] + k);
        }
        out[i] = y;
    }
}
"""

STEPS = """
export void f(uniform float x[], uniform float out[], uniform int n, uniform int step) {
    foreach (i = 0 ... n / 2) {
        int at = 2 * step * (i / step) + i % step;
        out[at] = x[at] + x[at + step];
        out[at + step] = x[at] - x[at + step];
    }
}
"""

ROWS = """
export void f(const uniform float a[], uniform float out[], uniform int n, uniform int length) {
    for (uniform int row = 0; row < n / length; ++row) {
        foreach (i = 0 ... length) out[row * length + i] = a[row * length + i] * 3 + 1;
    }
}
"""

BOTH_ADDRESSES = """
export void f(const uniform float table[], const uniform int first[], const uniform int second[], uniform float out[],
              uniform int n, uniform int rounds, uniform int until) {
    for (uniform int round = 0; round < rounds; ++round) {
        const uniform int * uniform at = round < until ? first : second;
        foreach (i = 0 ... n) {
            float m = table[at[i]];
            out[i] = sqrt(m * m + 1) / (m + 2) + sqrt(m + 3) * i;
        }
    }
}
"""


def phases() -> list[tuple[str, str, Call, Call]]:
    """What changes, the kernel, and a round of either phase."""
    table = RNG.random(N, np.float32)
    sorted_halves = np.sort(table)
    lanes = np.arange(N)

    def gather(kind: str) -> Call:
        at = indices(kind)
        return lambda module, out: module.f(table, at, out, N)

    def strided(kind: str) -> Call:
        at = {"row": lanes, "two": lanes * 2 % N, "three": lanes * 3 % (N - 3)}[kind].astype(np.int32)
        return lambda module, out: module.f(table, at, out, N)

    def kinds(kind: np.ndarray) -> Call:
        kind = kind.astype(np.int32)
        return lambda module, out: module.f(table, kind, out, N)

    def floats(a: np.ndarray) -> Call:
        return lambda module, out: module.f(a.astype(np.float32, copy=False), out, N)

    def ints(a: np.ndarray) -> Call:
        a = a.astype(np.int32)
        return lambda module, out: module.f(a, out, N)

    def number(n: int) -> Call:
        return lambda module, out: module.f(table, out, N // 1024 * 1024, n)

    seldom = np.where(RNG.random(N) < 0.0005, -table, table)
    often = np.where(RNG.random(N) < 0.3, -table, table)
    alone = np.where(lanes % 16 == 5, 200, lanes % 4)
    return [
        ("random, then in a row", GATHER, gather("random"), gather("row")),
        ("in a row, then random", GATHER, gather("row"), gather("random")),
        ("random, then one address", MATERIAL, gather("random"), gather("same")),
        ("one address, then random", MATERIAL, gather("same"), gather("random")),
        ("in a row, then every second", GATHER, strided("row"), strided("two")),
        ("every second, then in a row", GATHER, strided("two"), strided("row")),
        ("every second, then every third", GATHER, strided("two"), strided("three")),
        ("records: random, then in a row", RECORDS, gather("few"), gather("third")),
        ("both ways, then one", ARMS, floats(table), floats(sorted_halves)),
        ("one way, then both", ARMS, floats(sorted_halves), floats(table)),
        ("uniform, then varying conditions", CONDITIONS, kinds(lanes * 0 + 1), kinds(lanes % 3)),
        ("varying, then uniform conditions", CONDITIONS, kinds(lanes % 3), kinds(lanes * 0 + 1)),
        ("all lanes, then few", SPARSE, kinds(lanes * 0 + 1), kinds(lanes % 64 == 3)),
        ("few lanes, then all", SPARSE, kinds(lanes % 64 == 3), kinds(lanes * 0 + 1)),
        ("together, then one alone for long", LONELY, ints(lanes * 0 + 12), ints(alone)),
        ("one alone for long, then together", LONELY, ints(alone), ints(lanes * 0 + 12)),
        ("together to the end, then parting", ESCAPE, floats(table * 0 - 0.2), floats(table * 3 - 2)),
        ("aligned, then unaligned steps", STEPS, number(64), number(1)),
        ("unaligned, then aligned steps", STEPS, number(1), number(64)),
        ("short, then long rows", ROWS, number(4), number(1024)),
        ("long, then short rows", ROWS, number(1024), number(4)),
        ("a way taken never, then often", RARE, floats(table), floats(often)),
        ("a way taken seldom, then often", RARE, floats(seldom), floats(often)),
        ("a way taken often, then never", RARE, floats(often), floats(table)),
    ]


def timed(module: spmdvm.Module, call: Call, out: np.ndarray) -> float:
    """The time that a round takes this thread."""
    begin = time.thread_time()
    call(module, out)
    return time.thread_time() - begin


def rounds(module: spmdvm.Module, call: Call, out: np.ndarray, seconds: float) -> list[float]:
    """The times of rounds, for so long."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        times.append(timed(module, call, out))
    return times


def settled(after: list[float], fresh: list[float]) -> float | None:
    """Seconds of running until the windows from there on do; `None` if there are none."""
    windows: list[tuple[float, float]] = []
    begin, length = 0, 0.0
    for i, taken in enumerate(after):
        length += taken
        if length >= WINDOW:
            ratio = statistics.median(after[begin : i + 1]) / statistics.median(fresh[begin : i + 1])
            windows.append((sum(after[:begin]), ratio))
            begin, length = i + 1, 0.0
    for i in range(len(windows) - WINDOWS + 1):
        if all(ratio <= SETTLED for _, ratio in windows[i : i + WINDOWS]):
            return windows[i][0]
    return None


def within_one_call(first: str, second: str, engine: str) -> float:
    """The seconds by which a call that does both takes longer than two that do one of them."""
    table, out = RNG.random(N, np.float32), np.zeros(N, np.float32)
    inputs = [indices(first), indices(second)]
    # Some four hundred milliseconds, then as many again.
    apart = []
    for at in inputs:
        module = spmdvm.compile(BOTH_ADDRESSES, engine=engine)
        for _ in range(3):
            module.f(table, at, at, out, N, 1000, 0)
        begin = time.thread_time()
        module.f(table, at, at, out, N, 2000, 0)
        apart.append(time.thread_time() - begin)
    module = spmdvm.compile(BOTH_ADDRESSES, engine=engine)
    for _ in range(3):
        module.f(table, *inputs, out, N, 1000, 1000)
    begin = time.thread_time()
    module.f(table, *inputs, out, N, 4000, 2000)
    return time.thread_time() - begin - sum(apart)


def looked(module: spmdvm.Module) -> float:
    """The seconds for which somebody has looked at the loops of a module."""
    return sum(loop["look_seconds"] for loop in module.stats()["loops"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phases", nargs="*", metavar="PHASE", help="only those that have this in their name")
    parser.add_argument("--engine", default="auto", help="auto (the default), x86 or clif")
    parser.add_argument("--first", type=float, default=1.5, help="seconds of the first phase")
    parser.add_argument("--most", type=float, default=2.0, help="seconds of running to wait for at most")
    options = parser.parse_args()
    print(f"engine: {spmdvm.compile(GATHER, engine=options.engine).stats()['engine']}\n")
    print(f"{'what changes':34} {'first':>9} {'after':>9} {'fresh':>9} {'ratio':>6}   {'settled after':14} looking")
    for what, source, first, second in phases():
        if options.phases and not any(part in what for part in options.phases):
            continue
        # The same for both: where it lies makes a difference, too.
        out = np.zeros(2 * N, np.int32 if "int out[]" in source else np.float32)
        fresh, module = (spmdvm.compile(source, engine=options.engine) for _ in range(2))
        rounds(fresh, second, out, 0.7)
        before = rounds(module, first, out, options.first)
        after, beside, looks = [], [], looked(module)
        while sum(after) < options.most:
            pair = [(module, after), (fresh, beside)]
            # Who comes second finds more in the caches.
            for compiled, times in pair if len(after) % 2 else reversed(pair):
                times.append(timed(compiled, second, out))
        results = []
        for compiled in (module, fresh):
            out.fill(0)
            second(compiled, out)
            results.append(out.copy())
        np.testing.assert_array_equal(*results)
        took = settled(after, beside)
        told = "never" if took is None else f"{1e3 * took:.0f} ms"
        end = len(after) // 2
        figures = [statistics.median(times) for times in (before[len(before) // 2 :], after[end:], beside[end:])]
        ratio = figures[1] / figures[2]
        looking = 100 * (looked(module) - looks) / sum(after)
        print(
            f"{what:34} {' '.join(f'{1e3 * f:7.3f}ms' for f in figures)} {ratio:6.2f}   {told:14} {looking:.2f} %",
            flush=True,
        )
    for first, second in [("random", "same"), ("same", "random")]:
        what = f"in one call: {first}, then {second}"
        if not options.phases or any(part in what for part in options.phases):
            print(f"{what:34} {1e3 * within_one_call(first, second, options.engine):+.0f} ms", flush=True)


if __name__ == "__main__":
    main()
