"""Dask: calls with lazy arrays are lazy, and give chunk by chunk what numpy's arrays give."""

from __future__ import annotations

import importlib.util
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import spmdvm

da = pytest.importorskip("dask.array")

PROGRAM = spmdvm.compile("""
export float shade(float x, uniform float k) { return k * x / 3; }
export float pick(int i, const uniform float table[]) { return table[i]; }
export double both(double x, double y) { return x - y; }
export int over(int x) { return x + 1; }
export float over(float x) { return x + 1; }
export void twice(uniform float x[], uniform int n) { foreach (i = 0 ... n) x[i] *= 2; }
export void show(float x) { print("%\\n", x); }
""")
SCALE = 3.5


@spmdvm.kernel
def steps(n):
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


@spmdvm.kernel
def weigh(x, by: spmdvm.uniform[spmdvm.float64]):
    return x * by + SCALE


@spmdvm.kernel
def parts(x, y):
    return x // y, x % y


@spmdvm.kernel
def first(a):
    return a[0]


def numbers(*shape):
    return np.random.default_rng(1).integers(1, 1000, shape)


def same(lazy, want):
    assert isinstance(lazy, da.Array)
    got = lazy.compute(scheduler="threads")
    assert got.dtype == want.dtype == lazy.dtype and got.shape == want.shape == lazy.shape
    np.testing.assert_array_equal(got, want)


def test_kernels_are_lazy():
    x = numbers(70, 50)
    lazy = da.from_array(x, chunks=(30, 20))
    before = steps._last
    same(steps(lazy), steps(x))
    assert steps(lazy).chunks == lazy.chunks
    assert before is None or before.text
    same(weigh(lazy, 2), weigh(x, 2))
    same(weigh(by=2, x=lazy), weigh(x, 2))
    same(steps(lazy, threads=2), steps(x))
    # With what broadcasts, lazy and not.
    row = numbers(50)
    for other in (row, da.from_array(row, chunks=7), 7, np.int64(7), x[:, :1]):
        plain = other.compute() if isinstance(other, da.Array) else other
        for lazy_part, want in zip(parts(lazy, other), parts(x, plain)):
            same(lazy_part, want)
    same(spmdvm.vectorize("p*p - q")(lazy, row), x * x - row)
    assert steps(da.from_array(np.array(27))).compute() == 111


def test_functions_of_modules_are_lazy():
    x = numbers(60, 40).astype(np.float32)
    lazy = da.from_array(x, chunks=25)
    same(PROGRAM.shade(lazy, 2), PROGRAM.shade(x, 2))
    same(PROGRAM.shade(k=2, x=lazy), PROGRAM.shade(x, 2))
    same(PROGRAM.both(lazy, x[0]), PROGRAM.both(x, x[0]))
    same(PROGRAM.over(lazy), x + 1)
    same(PROGRAM.over(lazy.astype(np.int32)), x.astype(np.int32) + 1)
    # An array parameter goes to every chunk as a whole.
    table = np.arange(1000, dtype=np.float32) ** 2
    at = numbers(60).astype(np.int32)
    same(PROGRAM.pick(da.from_array(at, chunks=13), table), table[at])
    # A part of a graph.
    graph = (PROGRAM.shade(lazy + 1, 2).sum(axis=0) * 2).compute()
    np.testing.assert_allclose(graph, PROGRAM.shade(x + 1, 2).sum(axis=0) * 2, rtol=1e-6)


def test_what_dask_calls():
    x = numbers(70, 50)
    lazy = da.from_array(x, chunks=(30, 20))
    same(da.map_blocks(steps, lazy), steps(x))
    same(da.map_blocks(weigh, lazy, 2), weigh(x, 2))
    same(da.apply_gufunc(steps, "()->()", lazy, output_dtypes=np.int64), steps(x))
    row = numbers(50)
    for got, want in zip(
        da.apply_gufunc(parts, "(),()->(),()", lazy, da.from_array(row, chunks=20), output_dtypes=(np.int64, np.int64)),
        parts(x, row),
    ):
        same(got, want)
    same(da.map_blocks(PROGRAM.both, lazy, lazy), PROGRAM.both(x, x))


def test_names_of_chunks_are_those_of_the_call():
    lazy = da.from_array(numbers(10), chunks=5)
    assert steps(lazy).name == steps(lazy).name
    assert weigh(lazy, 2).name == weigh(lazy, 2).name != weigh(lazy, 3).name
    assert PROGRAM.both(lazy, 2).name == PROGRAM.both(lazy, 2).name != PROGRAM.both(lazy, 3).name


def test_graphs_pickle():
    def local(factor):
        @spmdvm.kernel
        def scaled(x):
            return factor * x

        return scaled

    x = numbers(20)
    lazy = local(3)(da.from_array(x, chunks=7))
    same(pickle.loads(pickle.dumps(lazy)), 3 * x)


def test_maps_are_lazy():
    x = numbers(30, 20)
    lazy = da.from_array(x, chunks=(10, 7))
    same(spmdvm.map(steps, lazy), steps(x))
    same(spmdvm.map(steps, lazy, threads=2, width=8), steps(x))
    for got, want in zip(spmdvm.map(parts, lazy, 7), parts(x, 7)):
        same(got, want)
    same(spmdvm.map(PROGRAM.both, lazy, 2), PROGRAM.both(x, 2))


def test_combinators_do_not_compute_whole_arrays():
    def never(block):
        raise AssertionError("computed")

    lazy = da.ones((10, 4), chunks=5).map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    for call, name in [
        (lambda: spmdvm.reduce("+", lazy), "reduce"),
        (lambda: spmdvm.reduce("+", (np.ones((10, 4)), lazy), map=np.add), "reduce"),
        (lambda: spmdvm.scan("+", lazy, axis=0), "scan"),
        (lambda: spmdvm.filter(lambda v: v > 0, lazy), "filter"),
        (lambda: spmdvm.reduce_by_index(np.zeros(3), "+", np.arange(3), lazy), "reduce_by_index"),
    ]:
        told = (
            rf"{name}\(\) works on whole arrays, and `\w+(\[1\])?` is a Dask array; compute it first \(x\.compute\(\)\)"
        )
        with pytest.raises(TypeError, match=told):
            call()


def test_what_the_page_says_about_reductions():
    page = (Path(__file__).parents[2] / "docs" / "combinators.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```py\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    x = numbers(30, 20)
    names = {"spmdvm": spmdvm, "np": np, "x": da.from_array(x, chunks=(10, 7)), "op": "max", "e": None}
    *lines, last = block.strip().splitlines()
    exec("\n".join(lines), names)
    assert isinstance(names["chunks"], da.Array)
    assert eval(last, names) == x.max()


def test_traps_tell_the_element_of_the_chunk():
    lazy = da.from_array(np.array([3, 2, 1, 0]), chunks=2)
    with pytest.raises(spmdvm.DivisionByZero) as caught:
        parts(7, lazy)[0].compute(scheduler="threads")
    assert caught.value.element == (1,)


def test_mistakes():
    lazy = da.from_array(np.ones(10, np.float32), chunks=5)
    for call, message in [
        (
            lambda: first(lazy),
            r"first\(\): `a` is a Dask array, and this kernel works on whole arrays; compute it first",
        ),
        (lambda: PROGRAM.twice(lazy, 10), r"twice\(\) works on whole arrays, and was given a Dask array"),
        (
            lambda: PROGRAM.pick(lazy.astype(np.int32), lazy),
            r"pick\(\): `table` is the same for all elements and cannot",
        ),
        (lambda: weigh(lazy, lazy), r"weigh\(\): `by` is the same for all elements"),
        (lambda: PROGRAM.shade(lazy, 2, out=np.zeros(10)), r"shade\(\) of Dask arrays takes no `out=`"),
        (lambda: steps(lazy, where=np.ones(10, bool)), r"steps\(\) of Dask arrays takes no `where=`"),
        (lambda: PROGRAM.show(lazy), r"show\(\) has no result"),
        # Types are told when the graph is made.
        (lambda: PROGRAM.over(lazy.astype(np.float64)), "no overload"),
        (lambda: steps(lazy.astype(">c16")), "`n` has no type of kernels"),
    ]:
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(spmdvm.DivisionByZero):
        parts(da.ones(5, dtype=int), 0)[0].compute(scheduler="threads")


def test_processes():
    x = numbers(40)
    lazy = da.from_array(x, chunks=10)
    np.testing.assert_array_equal(PROGRAM.both(steps(lazy), 1.0).compute(scheduler="processes"), steps(x) - 1.0)


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="distributed is not installed")
def test_the_example():
    example = Path(__file__).parents[2] / "examples" / "python" / "dask_mandelbrot.py"
    ran = subprocess.run(
        [sys.executable, example, "--workers", "2", "--size", "200"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "2 processes" in ran.stdout and "bit for bit" in ran.stdout
