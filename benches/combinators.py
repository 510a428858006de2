"""Times the combinators: against numpy, and against loops in C, on one thread.

The C is compiled by `cc -O3 -march=native` (or $CC), if there is one, and tests indices as the combinators do. Results
are compared before anything is timed (plain sums of 10⁷ float32 err by some hundredths). In each round every contender
runs once; times are the least of all rounds, in milliseconds: with one thread of the processor, so that others on the
machine disturb less, else of the clock. The last columns are ours divided by theirs.

    python benches/combinators.py [--only NAME,…] [--rounds N] [--size N] [--threads N] [--engine auto|x86|clif|ir]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spmdvm

C = r"""
#include <stdint.h>
float sum(const float *x, int64_t n) { float s = 0; for (int64_t i = 0; i < n; i++) s += x[i]; return s; }
int64_t sum_i64(const int64_t *x, int64_t n) { int64_t s = 0; for (int64_t i = 0; i < n; i++) s += x[i]; return s; }
float dot(const float *x, const float *y, int64_t n) {
    float s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}
void scan(const float *x, float *y, int64_t n) { float s = 0; for (int64_t i = 0; i < n; i++) y[i] = s += x[i]; }
void scan_i32(const int32_t *x, int32_t *y, int64_t n) {
    int32_t s = 0;
    for (int64_t i = 0; i < n; i++) y[i] = s += x[i];
}
void weights(double *h, int64_t m, const int64_t *at, const double *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) if ((uint64_t)at[i] < (uint64_t)m) h[at[i]] += v[i];
}
void weights_f32(float *h, int64_t m, const int32_t *at, const float *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) if ((uint64_t)(int64_t)at[i] < (uint64_t)m) h[at[i]] += v[i];
}
void counts(int64_t *h, int64_t m, const int64_t *at, int64_t n) {
    for (int64_t i = 0; i < n; i++) if ((uint64_t)at[i] < (uint64_t)m) h[at[i]] += 1;
}
int64_t keep(const float *x, float *y, int64_t n) {
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) if (x[i] < 0.3f) y[k++] = x[i];
    return k;
}
"""


class Case(NamedTuple):
    """A task, done by us, numpy and C."""

    name: str
    ours: Callable[[], Any]
    numpy: Callable[[], Any]
    c: Callable[[Any], Any]
    tolerance: float


@spmdvm.kernel
def product(x, y):
    """Multiply."""
    return x * y


@spmdvm.kernel
def small(x):
    """Whether to keep a number."""
    return x < spmdvm.float32(0.3)


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Give the address of an array."""
    return array.ctypes.data_as(ctypes.c_void_p)


def cases(n: int, options: dict[str, Any]) -> list[Case]:
    """Make the tasks for arrays of a size."""
    random = np.random.default_rng(1)
    x, y = random.random(n, dtype=np.float32), random.random(n, dtype=np.float32)
    whole, whole32 = random.integers(-9, 9, n), random.integers(-9, 9, n).astype(np.int32)
    out, out32 = np.zeros_like(x), np.zeros_like(whole32)
    size = ctypes.c_int64(n)

    def filled(array: np.ndarray, call: Callable[[], Any]) -> np.ndarray:
        call()
        return array

    found = [
        Case("reduce + f32", lambda: spmdvm.reduce("+", x, **options), x.sum, lambda c: c.sum(pointer(x), size), 0.2),
        Case(
            "reduce + i64",
            lambda: spmdvm.reduce("+", whole, **options),
            whole.sum,
            lambda c: c.sum_i64(pointer(whole), size),
            0,
        ),
        Case("reduce max f32", lambda: spmdvm.reduce("max", x, **options), x.max, lambda c: x.max(), 0),
        Case(
            "dot product f32",
            lambda: spmdvm.reduce("+", (x, y), map=product, **options),
            lambda: (x * y).sum(),
            lambda c: c.dot(pointer(x), pointer(y), size),
            0.2,
        ),
        Case(
            "scan + f32",
            lambda: spmdvm.scan("+", x, out=out, **options),
            lambda: np.cumsum(x, out=out),
            lambda c: filled(out, lambda: c.scan(pointer(x), pointer(out), size)),
            0.2,
        ),
        Case(
            "scan + i32",
            lambda: spmdvm.scan("+", whole32, out=out32, **options),
            lambda: np.cumsum(whole32, dtype=np.int32, out=out32),
            lambda c: filled(out32, lambda: c.scan_i32(pointer(whole32), pointer(out32), size)),
            0,
        ),
        Case(
            "filter f32",
            lambda: spmdvm.filter(small, x, **options),
            lambda: x[x < np.float32(0.3)],
            lambda c: out[: c.keep(pointer(x), pointer(out), size)],
            0,
        ),
    ]
    for m in (256, 1000, 65536):
        at, weights = random.integers(0, m, n), random.random(n)
        at32, weights32 = at.astype(np.int32), weights.astype(np.float32)

        def fresh(kind: str, call: Callable[[np.ndarray], Any], m: int = m) -> np.ndarray:
            bins = np.zeros(m, kind)
            call(bins)
            return bins

        found += [
            Case(
                f"counts, {m} bins",
                lambda at=at, m=m: spmdvm.reduce_by_index(np.zeros(m, np.int64), "+", at, 1, **options),
                lambda at=at, m=m: np.bincount(at, minlength=m),
                lambda c, at=at, m=m, fresh=fresh: fresh(
                    "i8", lambda h: c.counts(pointer(h), ctypes.c_int64(m), pointer(at), size)
                ),
                0,
            ),
            Case(
                f"weights f64, {m} bins",
                lambda at=at, w=weights, m=m: spmdvm.reduce_by_index(np.zeros(m), "+", at, w, **options),
                lambda at=at, w=weights, m=m: np.bincount(at, w, m),
                lambda c, at=at, w=weights, m=m, fresh=fresh: fresh(
                    "f8", lambda h: c.weights(pointer(h), ctypes.c_int64(m), pointer(at), pointer(w), size)
                ),
                1e-9,
            ),
            Case(
                f"weights f32, {m} bins",
                lambda at=at32, w=weights32, m=m: spmdvm.reduce_by_index(np.zeros(m, "f4"), "+", at, w, **options),
                lambda at=at32, w=weights32, m=m: np.bincount(at, w, m),
                lambda c, at=at32, w=weights32, m=m, fresh=fresh: fresh(
                    "f4", lambda h: c.weights_f32(pointer(h), ctypes.c_int64(m), pointer(at), pointer(w), size)
                ),
                0.2,
            ),
        ]
    return found


def compiled(folder: Path) -> Any:
    """Compile the C; None if there is no compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc")
    if compiler is None:
        return None
    source, library = folder / "loops.c", folder / "loops.so"
    source.write_text(C)
    subprocess.run([*compiler.split(), "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
    c = ctypes.CDLL(str(library))
    c.sum.restype = c.dot.restype = ctypes.c_float
    c.sum_i64.restype = c.keep.restype = ctypes.c_int64
    return c


def agree(a: Any, b: Any, tolerance: float) -> bool:
    """Return whether results are the same but for rounding."""
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=tolerance, atol=0)


def main() -> None:
    """Time all, or those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--size", type=int, default=10**7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--engine", default="auto")
    given = parser.parse_args()
    options = {"threads": given.threads, "engine": given.engine}
    with tempfile.TemporaryDirectory() as folder:
        c = compiled(Path(folder))
        print(
            f"{given.size} elements, engine {given.engine}, {given.threads} thread(s); "
            f"{'C by cc' if c else 'no C compiler'}"
        )
        print(f"{'':<24}{'ours':>9}{'numpy':>9}{'C':>9}{'/ numpy':>10}{'/ C':>8}")
        for case in cases(given.size, options):
            if given.only and not any(word in case.name for word in given.only.split(",")):
                continue
            contenders = [case.ours, case.numpy] + ([lambda case=case: case.c(c)] if c else [])
            result = np.array(case.ours())
            for other in contenders[1:]:
                if not agree(result, other(), case.tolerance):
                    sys.exit(f"{case.name}: the results differ")
            best = [float("inf")] * len(contenders)
            clock = time.process_time if given.threads == 1 else time.perf_counter
            for _ in range(given.rounds):
                for k, contender in enumerate(contenders):
                    start = clock()
                    contender()
                    best[k] = min(best[k], 1e3 * (clock() - start))
            theirs = "".join(f"{time_:>9.2f}" for time_ in best[1:]) + ("" if c else f"{'–':>9}")
            ratios = f"{best[0] / best[1]:>10.2f}" + (f"{best[0] / best[2]:>8.2f}" if c else "")
            print(f"{case.name:<24}{best[0]:>9.2f}{theirs}{ratios}", flush=True)


if __name__ == "__main__":
    main()
