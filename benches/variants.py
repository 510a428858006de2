"""What the dynamic variants of the JIT are worth: each on and off, where it should help and where it should not.

Every kernel runs on two inputs: one that suits the variant and one that does not. Both modules (with and without the
variant) run in turn, so that they meet the same conditions; times are medians, results are compared first. For inputs
that suit, more is better (times faster with the variant); for the others the effect is what the variant costs. Code is
what all of the compiling took, milliseconds with and without: ways that nobody takes are not there with `prune`. The
engine is the one that `auto` takes, unless another is asked for; the first line names it.

With --kernels it is the kernels of `benches/ispc/` (all, or those of a list of names), each with all variants and with
each one switched off that it has: what a variant costs there (saves, if less than nothing), by the time of the thread;
the most that one loses comes last.

    python benches/variants.py [VARIANT …] [--rounds N] [--engine auto|x86|clif|ir] [--kernels [NAME,…]]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import spmdvm
from ispc_kernels import KERNELS, Kernel

N = 200_000
# Rounds before anything is timed: constants are compiled in after a hundred calls.
WARM = 150
RNG = np.random.default_rng(1)

ESCAPE = """
export void f(const uniform float re[], uniform int out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = 0, y = 0; int k = 0;
        while (k < 60 && x * x + y * y < 4) {
            float t = x * x - y * y + re[i];
            y = 2 * x * y + 0.1f; x = t; ++k;
        }
        out[i] = k;
    }
}
"""

ARMS = """
export void f(const uniform float a[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i], y = x;
        if (x > 0.5f) { y = sqrt(x) / (1 + x * x); y = y * y + sqrt(y); }
        else { y = x * 3 - 1; }
        out[i] = y;
    }
}
"""

GATHER = """
export void f(const uniform float table[], const uniform int at[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) out[i] = table[at[i]] * 2 + 1;
}
"""

RECORDS = """
export void f(const uniform float table[], const uniform int at[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        int point = at[i];
        float x = table[point * 3], y = table[point * 3 + 1], z = table[point * 3 + 2];
        out[i] = x * x + y * y + z * z;
    }
}
"""

MATERIAL = """
export void f(const uniform float table[], const uniform int at[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float m = table[at[i]];
        out[i] = sqrt(m * m + 1) / (m + 2) + sqrt(m + 3) * i;
    }
}
"""

LONELY = """
export void f(const uniform int steps[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = i & 7; int k = 0;
        while (k < steps[i]) {
            if (x > 1000) x = x * 0.125f; else x = x * 1.5f + k;
            ++k;
        }
        out[i] = x;
    }
}
"""

DIVIDE = """
export void f(const uniform int a[], uniform int out[], uniform int n, uniform int by) {
    foreach (i = 0 ... n) out[i] = a[i] / by + a[i] % by;
}
"""

RARE = """
float slow(float x) {
    float s = 0;
    for (uniform int k = 0; k < 4; ++k) s += sin(x + k) * cos(x * k) + exp(-x * k);
    return s;
}
export void f(const uniform float a[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i];
        if (x < 0) x = slow(x);
        out[i] = x * 2 + 1;
    }
}
"""

POINTERS = """
struct Arrays { const uniform float *uniform a, *uniform other; uniform float *uniform out; };
noinline void copy(uniform Arrays *uniform arrays, uniform int n, uniform int change) {
    uniform int *uniform words = (uniform int *uniform)arrays;
    for (uniform int i = 0; i < n; ++i) {
        arrays->out[i] = arrays->a[i];
        if (change != 0) {
            uniform int first = words[0], second = words[1];
            words[0] = words[2]; words[1] = words[3];
            words[2] = first; words[3] = second;
        }
    }
}
export void f(const uniform float a[], uniform float out[], uniform int n, uniform int change) {
    uniform Arrays arrays = { a, a + 1, out };
    copy(&arrays, n - 1, change);
    out[n - 1] = 0;
}
"""


class Case(NamedTuple):
    """A kernel, its input, and whether that suits the variant."""

    variant: str
    input: str
    suits: bool
    source: str
    arguments: Callable[[int], tuple]
    """The arguments of a round, but for the output and the length, which follow the first ones."""


def indices(kind: str) -> np.ndarray:
    """Indices into a table of N elements, as int32."""
    i = np.arange(N)
    each = {
        "row": i,
        "third": i % (N // 3),
        "same": i // 64,
        "random": RNG.integers(0, N, N),
        "few": RNG.integers(0, N // 3, N),
    }[kind]
    return each.astype(np.int32)


def cases() -> list[Case]:
    """All kernels with all inputs."""
    table = RNG.random(N, np.float32)
    signed = np.where(RNG.random(N) < 0.02, -table, table).astype(np.float32)
    sorted_halves = np.sort(table)
    numbers = RNG.integers(-(10**6), 10**6, N, dtype=np.int32)
    alone = np.where(np.arange(N) % 16 == 5, 200, np.arange(N) % 4).astype(np.int32)
    even = np.full(N, 12, np.int32)
    inside, mixed = np.full(N, -0.2, np.float32), (table * 3 - 2).astype(np.float32)
    gather = lambda kind: (lambda at: lambda _: (table, at))(indices(kind))  # noqa: E731
    fixed = lambda *args: lambda _: args  # noqa: E731
    return [
        Case("all_active", "all lanes stay together", True, ESCAPE, fixed(inside)),
        Case("all_active", "lanes part at once", False, ESCAPE, fixed(mixed)),
        Case("skip_inactive", "whole gangs go one way", True, ARMS, fixed(sorted_halves)),
        Case("skip_inactive", "every gang goes both ways", False, ARMS, fixed(table)),
        Case("uniform", "one address for a gang", True, MATERIAL, gather("same")),
        Case("uniform", "random addresses", False, MATERIAL, gather("random")),
        Case("consecutive", "addresses in a row", True, GATHER, gather("row")),
        Case("consecutive", "random addresses", False, GATHER, gather("random")),
        Case("strided", "points in a row", True, RECORDS, gather("third")),
        Case("strided", "random points", False, RECORDS, gather("few")),
        Case("one_lane", "one lane goes on for long", True, LONELY, fixed(alone)),
        Case("one_lane", "all lanes end together", False, LONELY, fixed(even)),
        Case("same_pointer", "arrays of a struct", True, POINTERS, fixed(table, 0)),
        Case("same_pointer", "another array in every round", False, POINTERS, fixed(table, 1)),
        Case("constant", "the same divisor in all calls", True, DIVIDE, lambda _: (numbers, 7)),
        Case("constant", "another divisor in every call", False, DIVIDE, lambda k: (numbers, 3 + k % 50)),
        Case("prune", "a long way is never taken", True, RARE, fixed(table)),
        Case("prune", "it is taken now and then", False, RARE, fixed(signed)),
    ]


def run(case: Case, module: spmdvm.Module, k: int, out: np.ndarray) -> None:
    """Run round k."""
    arguments = case.arguments(k)
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    scalars = [a for a in arguments if not isinstance(a, np.ndarray)]
    module.f(*arrays, out, N, *scalars)


class Measured(NamedTuple):
    """What a case has shown, with and without the variant."""

    seconds: tuple[float, float]
    """Medians of a call."""
    compiling: tuple[float, float]
    counters: dict[str, int]


def measure(case: Case, rounds: int, engine: str) -> Measured:
    """Run a case with and without its variant."""
    on = spmdvm.compile(case.source, engine=engine)
    off = spmdvm.compile(case.source, engine=engine, jit={case.variant: False})
    reference = spmdvm.compile(case.source, engine="interp")
    # Made once: what is measured is no first touch of memory.
    out, expected = (np.zeros(N, np.int32 if "int out[]" in case.source else np.float32) for _ in range(2))
    for k in range(WARM):
        if k % 10 == 0:
            run(case, reference, k, expected)
            for module in (on, off):
                out.fill(-1)
                run(case, module, k, out)
                np.testing.assert_array_equal(out, expected)
        run(case, on, k, out)
        run(case, off, k, out)
        time.sleep(0.02)  # What is being compiled in the background ends.
    times: tuple[list[float], list[float]] = ([], [])
    for k in range(rounds):
        pairs = list(zip((on, off), times))
        for module, taken in pairs if k % 2 else reversed(pairs):
            begin = time.perf_counter()
            run(case, module, k, out)
            taken.append(time.perf_counter() - begin)
    seconds = (statistics.median(times[0]), statistics.median(times[1]))
    return Measured(seconds, (compiling(on), compiling(off)), counts(on, case.variant))


def compiling(module: spmdvm.Module) -> float:
    """Seconds that compiling took."""
    return sum(version["seconds"] for found in module.stats()["loops"] for version in found["versions"])


def counts(module: spmdvm.Module, variant: str) -> dict[str, int]:
    """How often a variant had each outcome."""
    sums: dict[str, int] = {}
    for found in module.stats()["loops"]:
        for version in found["versions"]:
            for told in version["variants"]:
                if told["variant"] == variant:
                    for outcome in ("hit", "missed"):
                        sums[outcome] = sums.get(outcome, 0) + told[outcome]
    return sums


def seconds(kernel: Kernel, modules: list[spmdvm.Module], rounds: int) -> list[float]:
    """The medians of the times that a kernel takes as some modules have it, in turn, once all are compiled."""
    # The same arrays for all: where they lie makes a difference, too.
    arguments = kernel.arguments()
    written = [arguments[name] for name in kernel.outputs + kernel.scratch]
    at_first = [array.copy() for array in written]

    def timed(module: spmdvm.Module) -> float:
        for array, first in zip(written, at_first):
            np.copyto(array, first)
        begin = time.thread_time()
        getattr(module, kernel.name)(*arguments.values())
        return time.thread_time() - begin

    for module in modules:
        end = time.perf_counter() + 1.5
        while time.perf_counter() < end:
            timed(module)
    times: list[list[float]] = [[] for _ in modules]
    begin = time.perf_counter()
    while len(times[0]) < rounds or time.perf_counter() - begin < 0.1 * len(modules):
        for module, own in zip(modules, times):
            own.append(timed(module))
    return [statistics.median(own) for own in times]


def of_kernels(options: argparse.Namespace) -> None:
    """Print what each variant is worth in each kernel."""
    lost = []
    for kernel in [KERNELS[name] for name in options.kernels.split(",") if name] or KERNELS.values():
        compiled = spmdvm.compile_file(kernel.path, width=16, engine=options.engine)
        seconds(kernel, [compiled], 1)
        told = [v["variant"] for loop in compiled.stats()["loops"] for w in loop["versions"] for v in w["variants"]]
        found = sorted(variant for variant in set(told) if not options.variants or variant in options.variants)
        every = [{}, *({variant: False} for variant in found)]
        modules = [spmdvm.compile_file(kernel.path, width=16, engine=options.engine, jit=jit) for jit in every]
        on, *off = seconds(kernel, modules, options.rounds)
        dropped = {m["variant"] for loop in modules[0].stats()["loops"] for m in loop["measured"] if m["dropped"]}
        costs = [(variant, 100 * (on / without - 1)) for variant, without in zip(found, off)]
        named = (f"{variant}{' (dropped)' * (variant in dropped)} {cost:+.1f} %" for variant, cost in costs)
        print(f"{kernel.name:18} {on * 1e3:8.3f}ms   {', '.join(named)}", flush=True)
        lost += [(cost, variant, kernel.name) for variant, cost in costs]
    for cost, variant, name in sorted(lost, reverse=True)[:5]:
        print(f"{variant} costs {cost:+.1f} % in {name}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--engine", default="auto", help="auto (the default), x86, clif or ir")
    parser.add_argument("--kernels", nargs="?", const="", help="kernels of benches/ispc/, separated by commas")
    options = parser.parse_args()
    if options.kernels is not None:
        of_kernels(options)
        return
    print(f"engine: {spmdvm.compile(GATHER, engine=options.engine).stats()['engine']}\n")
    print(f"{'variant':14} {'input':30} {'with':>9} {'without':>9}   {'effect':>16}   {'code':>12}   counters")
    for case in cases():
        if options.variants and case.variant not in options.variants:
            continue
        measured = measure(case, options.rounds, options.engine)
        on, off = measured.seconds
        effect = f"{off / on:5.2f}x faster" if case.suits else f"costs {100 * (on / off - 1):+5.1f} %"
        told = ", ".join(f"{name} {n}" for name, n in measured.counters.items()) or "-"
        code = " / ".join(f"{1e3 * s:.1f}" for s in measured.compiling)
        times = f"{on * 1e3:7.3f}ms {off * 1e3:7.3f}ms"
        print(f"{case.variant:14} {case.input:30} {times}   {effect:>16}   {code:>12}   {told}")


if __name__ == "__main__":
    main()
