"""Combinators: map, reduce, scan, reduce_by_index, filter."""

import copy
import ctypes
import doctest
import functools
import itertools
import linecache
import math
import operator
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest
import spmdvm
from spmdvm import _copies

ENGINES = ["interp", "ir", "clif", "x86"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]


def engines():
    found = []
    for engine in ENGINES:
        try:
            spmdvm.compile("export void f() { }", engine=engine)
        except ValueError:
            continue
        found.append(engine)
    return found


HERE = engines()
WIDTHS = (4, 8, 16)


def rng(seed=1):
    return np.random.default_rng(seed)


def numbers(dtype, shape, seed=1):
    """Numbers of a type of which sums are exact."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng(seed).integers(0, 2, shape).astype(bool)
    low = 0 if dtype.kind == "u" else -8
    return rng(seed).integers(low, 9, shape).astype(dtype)


@spmdvm.kernel
def matrix(a, b, c, d, e, f, g, h):
    """The product of two matrices: associative, not commutative."""
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


@spmdvm.kernel
def first(a, b):
    """The first that is not 0."""
    return a if a != 0 else b


@spmdvm.kernel
def square(x):
    return x * x


@spmdvm.kernel
def product(x, y):
    return x * y


@spmdvm.kernel
def odd(x):
    return x % 2 == 1


@spmdvm.kernel
def segmented(flag_a, a, flag_b, b):
    """A sum that begins anew where a flag is set."""
    return flag_a | flag_b, b if flag_b else a + b


def same(got, want):
    got = np.asarray(got)
    want = np.asarray(want)
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    assert got.shape == want.shape, (got.shape, want.shape)
    np.testing.assert_array_equal(got, want)


def bits(result):
    """The bits of a result, NaNs as one."""
    parts = result if isinstance(result, tuple) else (result,)
    found = []
    for part in parts:
        part = np.array(part)
        if part.dtype.kind == "f":
            part[np.isnan(part)] = np.nan
        found.append((part.dtype, part.shape, part.tobytes()))
    return found


# Against numpy.


@pytest.mark.parametrize("dtype", INTS + FLOATS)
@pytest.mark.parametrize("op, ufunc", [("+", np.add), ("*", np.multiply), ("min", np.minimum), ("max", np.maximum)])
def test_named_operators_of_numbers_are_numpys(dtype, op, ufunc):
    x = numbers(dtype, 300)
    if op == "*":
        x = np.where(x == 0, 1, np.where(x > 2, 1, x)).astype(dtype)
        x[40:] = np.sign(x[40:])
        if np.dtype(dtype).kind == "f":
            x[3:] = np.sign(x[3:])
    same(spmdvm.reduce(op, x), ufunc.reduce(x, dtype=dtype))
    same(spmdvm.scan(op, x), ufunc.accumulate(x, dtype=dtype))


@pytest.mark.parametrize("dtype", ["bool", *INTS])
@pytest.mark.parametrize(
    "op, ufunc", [("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor), ("and", np.bitwise_and)]
)
def test_named_operators_of_bits_are_numpys(dtype, op, ufunc):
    x = numbers(dtype, 100)
    same(spmdvm.reduce(op, x), ufunc.reduce(x))
    same(spmdvm.reduce(op, x[:3]), ufunc.reduce(x[:3]))
    same(spmdvm.scan(op, x), ufunc.accumulate(x))


def test_names_in_words_are_the_signs():
    x = numbers("int32", 50)
    for word, sign in (("add", "+"), ("mul", "*"), ("and", "&"), ("or", "|"), ("xor", "^")):
        assert spmdvm.reduce(word, x) == spmdvm.reduce(sign, x)


def test_bools_are_counted_as_int64():
    x = numbers("bool", 1000)
    same(spmdvm.reduce("+", x), x.sum())
    same(spmdvm.scan("+", x), np.cumsum(x))
    assert spmdvm.reduce("min", x) is np.False_ and spmdvm.reduce("max", x) is np.True_


def test_integers_wrap_in_their_own_type():
    x = np.full(100, 100, np.int8)
    same(spmdvm.reduce("+", x), x.sum(dtype=np.int8))
    same(spmdvm.reduce("+", x, map=np.int64), np.int64(10000))


LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    127,
    128,
    129,
    511,
    512,
    513,
    65535,
    65536,
    65537,
    131072,
    200003,
]


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("threads", [1, 3])
def test_every_length(n, threads):
    x = numbers("int32", n)
    same(spmdvm.reduce("+", x, threads=threads), x.sum(dtype=np.int32))
    same(spmdvm.reduce("max", x, commutative=False, threads=threads), x.max())
    same(spmdvm.scan("+", x, threads=threads), np.cumsum(x, dtype=np.int32))
    same(spmdvm.scan("+", x, inclusive=False, threads=threads), np.cumsum(x, dtype=np.int32) - x)
    same(spmdvm.filter(odd, x, threads=threads), x[x % 2 == 1])
    at = rng(2).integers(-1, 11, n)
    want = np.zeros(10, np.int32)
    inside = (at >= 0) & (at < 10)
    np.add.at(want, at[inside], x[inside])
    same(spmdvm.reduce_by_index(np.zeros(10, np.int32), "+", at, x, threads=threads), want)


SHAPES = [
    (5, 7),
    (1, 40),
    (40, 1),
    (300, 3),
    (3, 300),
    (20, 5, 30),
    (30, 20, 1),
    (2, 3, 4, 5),
    (17, 130),
    (130, 17),
    (2, 70000),
    (70000, 2),
    (600, 40),
    (5, 1100),
    (3, 700, 20),
    (5000, 9),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threads", [1, 2])
def test_every_axis(shape, threads):
    x = numbers("int16", shape)
    for axis in (None, *range(-len(shape), len(shape))):
        total = functools.partial(np.add.reduce, dtype=np.int16)
        same(spmdvm.reduce("+", x, axis=axis, threads=threads), total(x.ravel() if axis is None else x, axis=axis or 0))
        if axis is not None:
            same(spmdvm.reduce("+", x, axis=axis, commutative=False, threads=threads), total(x, axis=axis))
        sums = np.cumsum(x, axis=axis, dtype=np.int16)
        same(spmdvm.scan("+", x, axis=axis, threads=threads), sums)
        flat = x.ravel() if axis is None else x
        same(spmdvm.scan("+", x, axis=axis, inclusive=False, threads=threads), (sums - flat).astype(np.int16))
    for axes in itertools.combinations(range(len(shape)), 2):
        same(spmdvm.reduce("+", x, axis=axes, threads=threads), x.sum(axis=axes, dtype=np.int16))
    assert spmdvm.reduce("+", x, axis=tuple(range(len(shape)))) == x.sum(dtype=np.int16)


def test_arrays_that_lie_otherwise_in_memory():
    x = numbers("float64", (30, 40))
    for view in (x.T, x[::-1], x[:, ::3], np.asfortranarray(x), np.broadcast_to(x[0], (5, 40)), x.astype(">f8")):
        for axis in (None, 0, 1):
            want = view.astype("f8").sum(axis=axis)
            same(spmdvm.reduce("+", view, axis=axis), want)
            same(spmdvm.scan("+", view, axis=axis), np.cumsum(view.astype("f8"), axis=axis))
    same(spmdvm.reduce("+", [1, 2, 3]), np.int64(6))
    same(spmdvm.reduce("+", 5), np.int64(5))
    same(spmdvm.filter(odd, x[:, ::3].astype(int)), x[:, ::3].astype(int)[x[:, ::3].astype(int) % 2 == 1])


def test_a_file_that_is_mapped(tmp_path):
    np.save(tmp_path / "x.npy", numbers("float32", 1000))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert spmdvm.reduce("+", x) == x.sum()


@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS])
def test_no_elements(dtype):
    x = np.empty(0, dtype)
    zero = np.int64(0) if dtype == "bool" else np.dtype(dtype).type(0)
    same(spmdvm.reduce("+", x), zero)
    assert not np.signbit(float(spmdvm.reduce("+", x)))
    same(spmdvm.scan("+", x), np.empty(0, zero.dtype))
    same(spmdvm.filter(odd, np.empty(0, int)), np.empty(0, int))
    same(spmdvm.reduce("+", np.empty((3, 0), dtype), axis=1), np.zeros(3, zero.dtype))
    same(spmdvm.reduce("+", np.empty((3, 0), dtype), axis=0), np.zeros(0, zero.dtype))
    same(spmdvm.scan("+", np.empty((3, 0), dtype), axis=0), np.empty((3, 0), zero.dtype))
    dest = np.ones(3, zero.dtype)
    assert spmdvm.reduce_by_index(dest, "+", np.empty(0, int), np.empty(0, dtype)) is dest
    assert (dest == 1).all()


def test_the_least_of_nothing_is_the_neutral_element():
    assert spmdvm.reduce("min", np.empty(0, np.float32)) == np.inf
    assert spmdvm.reduce("max", np.empty(0, np.int16)) == -(2**15)
    assert spmdvm.reduce("*", np.empty(0)) == 1


# Operators of one's own.


def matrices(n, seed=1):
    return tuple(rng(seed).integers(-3, 4, n) for _ in range(4))


def products(parts):
    """All products, one after another."""
    found = []
    last = [1, 0, 0, 1]
    with np.errstate(over="ignore"):
        for a, b, c, d in zip(*(part.tolist() for part in parts)):
            e, f, g, h = last
            last = [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d]
            last = [(v + 2**63) % 2**64 - 2**63 for v in last]
            found.append(last)
    return np.array(found).T


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 100, 512, 513, 1000, 65536, 70000])
@pytest.mark.parametrize("threads", [1, 2])
def test_products_of_matrices_keep_their_order(n, threads):
    parts = matrices(n)
    want = products(parts)
    one = (1, 0, 0, 1)
    got = spmdvm.reduce(matrix, parts, neutral=one, threads=threads)
    assert [int(v) for v in got] == want[:, -1].tolist()
    for k, got in enumerate(spmdvm.scan(matrix, parts, neutral=one, threads=threads)):
        same(got, want[k])
    for k, got in enumerate(spmdvm.scan(matrix, parts, neutral=one, inclusive=False, threads=threads)):
        same(got, np.concatenate([[one[k]], want[k][:-1]]))


@pytest.mark.parametrize("shape, axis", [((600, 20), 0), ((20, 600), 1), ((40, 30), 1), ((300, 3), 0), ((4, 50, 2), 1)])
def test_products_of_matrices_along_an_axis(shape, axis):
    parts = tuple(part.reshape(shape) for part in matrices(math.prod(shape)))
    lines = [np.moveaxis(part, axis, -1).reshape(-1, shape[axis]) for part in parts]
    want = [products([line[k] for line in lines]) for k in range(len(lines[0]))]
    got = spmdvm.reduce(matrix, parts, neutral=(1, 0, 0, 1), axis=axis, threads=2)
    scans = spmdvm.scan(matrix, parts, neutral=(1, 0, 0, 1), axis=axis, threads=2)
    for part in range(4):
        same(got[part].ravel(), [line[part][-1] for line in want])
        same(np.moveaxis(scans[part], axis, -1).reshape(-1, shape[axis]), [line[part] for line in want])


@pytest.mark.parametrize("n", [1, 40, 5000, 70000])
def test_order_is_kept_where_it_counts(n):
    x = np.zeros(n, np.int32)
    x[n // 2 :] = np.arange(n - n // 2) + 1
    assert spmdvm.reduce(first, x, neutral=0) == 1
    got = spmdvm.scan(first, x, neutral=0)
    same(got, (np.arange(n) >= n // 2).astype(np.int32))


def test_a_segmented_scan_is_an_operator_on_pairs():
    flags = rng().random(3000) < 0.02
    x = numbers("int64", 3000)
    _, got = spmdvm.scan(segmented, (flags, x), neutral=(False, 0))
    total, want = 0, []
    for flag, value in zip(flags, x):
        total = value if flag else total + value
        want.append(total)
    same(got, want)


def test_the_place_of_the_greatest():
    @spmdvm.kernel
    def greater(value_a, at_a, value_b, at_b):
        if value_b > value_a or (value_b == value_a and at_b < at_a):
            return value_b, at_b
        return value_a, at_a

    x = rng().random((200, 30), dtype=np.float32)
    places = np.broadcast_to(np.arange(200)[:, None], x.shape)
    none = (-np.inf, np.iinfo(np.int64).max)
    value, at = spmdvm.reduce(greater, (x, places), neutral=none, commutative=True, axis=0)
    same(value, x.max(axis=0))
    same(at, x.argmax(axis=0))


def test_functions_of_a_module():
    module = spmdvm.compile("""
        // Overloads, and a helper.
        static float half(float x) { return x / 2; }
        export float average_like(float a, float b) { return a + b; }
        export double average_like(double a, double b) { return a + b; }
        export int least(int a, int b) { return a < b ? a : b; }
        export float halved(float x) { return half(x); }
        export bool positive(float x) { return x > 0; }
    """)
    x = numbers("float32", 500)
    same(spmdvm.reduce(module.average_like, x, neutral=0), x.sum())
    same(spmdvm.reduce(module.average_like, x.astype(float), neutral=0), x.astype(float).sum())
    same(
        spmdvm.scan(module.least, numbers("int32", 500), neutral=2**31 - 1),
        np.minimum.accumulate(numbers("int32", 500)),
    )
    same(spmdvm.reduce(module.average_like, x, neutral=0, map=module.halved), (x / 2).sum())
    same(spmdvm.reduce("+", x, map=module.halved), (x / 2).sum())
    same(spmdvm.filter(module.positive, x), x[x > 0])
    same(spmdvm.map(module.halved, x, threads=2), x / 2)
    dest = np.zeros(4, np.float32)
    spmdvm.reduce_by_index(dest, module.average_like, np.arange(500) % 4, x, neutral=0)
    same(dest, x.reshape(-1, 4).sum(axis=0))


def test_plain_functions_and_those_of_numpy():
    def largest(a, b):
        return a if a > b else b

    x = numbers("int32", 300)
    same(spmdvm.reduce(largest, x, neutral=-100), x.max())
    same(spmdvm.reduce(np.maximum, x, neutral=-100, commutative=True), x.max())
    same(spmdvm.reduce(max, x, neutral=-100), x.max())
    same(spmdvm.reduce("+", x, map=np.abs), np.abs(x).sum(dtype=np.int32))
    same(spmdvm.reduce(spmdvm.vectorize("a + b"), x, neutral=0), x.sum(dtype=np.int32))
    same(spmdvm.map(np.sqrt, np.array([1.0, 4.0])), np.array([1.0, 2.0]))


def test_an_operator_widens_the_elements_to_what_it_returns():
    @spmdvm.kernel
    def add(a: spmdvm.float64, b: spmdvm.float64):
        return a + b

    same(spmdvm.reduce(add, numbers("float32", 100), neutral=0), numbers("float64", 100).sum())


def test_maps_are_fused():
    x, y = numbers("float64", 1000), numbers("float64", 1000, 2)
    same(spmdvm.reduce("+", x, map=square), (x * x).sum())
    same(spmdvm.reduce("+", (x, y), map=product), (x * y).sum())
    same(spmdvm.scan("+", (x, y), map=product), np.cumsum(x * y))
    same(
        spmdvm.reduce("+", (x.reshape(10, 100), y[:100]), map=product, axis=1),
        (x.reshape(10, 100) * y[:100]).sum(axis=1),
    )

    @spmdvm.kernel
    def both(x):
        return x, x * x

    @spmdvm.kernel
    def add(a, b, c, d):
        return a + c, b + d

    total, squares = spmdvm.reduce(add, x, map=both, neutral=(0, 0), commutative=True)
    assert (total, squares) == (x.sum(), (x * x).sum())
    dest = (np.zeros(7), np.zeros(7))
    at = rng().integers(0, 7, 1000)
    spmdvm.reduce_by_index(dest, add, at, x, map=both, neutral=(0, 0))
    same(dest[0], np.bincount(at, x, 7))
    same(dest[1], np.bincount(at, x * x, 7))


# Histograms.


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16", "uint64"])
@pytest.mark.parametrize("m, n", [(1, 100), (7, 1000), (1000, 300000), (100000, 200000)])
@pytest.mark.parametrize("threads", [1, 2])
def test_histograms(dtype, m, n, threads):
    at = rng().integers(0, min(m, np.iinfo(dtype).max + 1), n).astype(dtype)
    values = numbers("int32", n)
    dest = numbers("int32", m, 3)
    want = dest.copy()
    np.add.at(want, at, values)
    got = spmdvm.reduce_by_index(dest, "+", at, values, threads=threads)
    assert got is dest
    same(got, want)
    largest = np.full(m, -100, np.int32)
    want = largest.copy()
    np.maximum.at(want, at, values)
    same(spmdvm.reduce_by_index(largest, "max", at, values, threads=threads), want)
    counts = spmdvm.reduce_by_index(np.zeros(m, np.int64), "+", at, 1, threads=threads)
    same(counts, np.bincount(at.astype(np.int64), minlength=m))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n, m", [(3000, 10), (300000, 10), (3000, 2000)])
def test_histograms_keep_the_order_of_values(n, m, threads):
    at = rng().integers(0, m, n)
    x = rng().integers(0, 3, n) * np.arange(n)
    dest = np.zeros(m, int)
    spmdvm.reduce_by_index(dest, first, at, x, neutral=0, threads=threads)
    want = [next((v for v in x[at == k].tolist() if v), 0) for k in range(m)] if m == 10 else None
    if want is not None:
        same(dest, want)
    parts = matrices(n)
    got = tuple(np.full(m, v) for v in (1, 0, 0, 1))
    spmdvm.reduce_by_index(got, matrix, at, parts, neutral=(1, 0, 0, 1), threads=threads)
    for k in range(0, m, 97):
        chosen = [part[at == k] for part in parts]
        if len(chosen[0]):
            assert [int(part[k]) for part in got] == products(chosen)[:, -1].tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_histograms_of_rows(threads):
    at = rng().integers(0, 9, 2000)
    x = numbers("int32", (2000, 20))
    want = np.zeros((9, 20), np.int32)
    np.add.at(want, at, x)
    same(spmdvm.reduce_by_index(np.zeros((9, 20), np.int32), "+", at, x, threads=threads), want)
    dest = np.zeros((20, 9), np.int32)
    same(spmdvm.reduce_by_index(dest, "+", at, np.ascontiguousarray(x.T), axis=1, threads=threads), want.T)
    dest = np.zeros((18, 20), np.int32)[::2]
    same(spmdvm.reduce_by_index(dest, "+", at, x, threads=threads), want)
    large = np.zeros((4000, 20), np.int32)
    spots = rng().integers(0, 4000, 2000)
    want = large.copy()
    np.add.at(want, spots, x)
    same(spmdvm.reduce_by_index(large, "+", spots, x, threads=threads), want)


def test_indices_outside():
    at = np.array([0, -1, 3, 2, 4])
    dest = np.zeros(3, int)
    same(spmdvm.reduce_by_index(dest, "+", at, 1), np.array([1, 0, 1]))
    with pytest.raises(IndexError, match=r"indices\[1\] is -1, and `dest` has 3 elements"):
        spmdvm.reduce_by_index(dest, "+", at, 1, bounds="raise")
    same(dest, np.array([1, 0, 1]))
    huge = np.array([2**40, 2**63 + 1, 0], np.uint64)
    same(spmdvm.reduce_by_index(np.zeros(3, int), "+", huge, 1), np.array([1, 0, 0]))
    same(spmdvm.reduce_by_index(np.zeros(0, int), "+", at, 1), np.zeros(0, int))


@pytest.mark.parametrize("engine", ["interp", "auto"])
@pytest.mark.parametrize("width", [1, 8, 64])
@pytest.mark.parametrize("outside", [0, 1, 40, 3000])
@pytest.mark.parametrize("n", [511, 512, 544, 2600])
def test_histograms_leave_out_indices_outside_in_some_blocks(n, outside, width, engine):
    at = rng().integers(0, 50, n).astype(np.int32)
    spots = rng().integers(0, n, outside)
    at[spots] = np.resize([-1, 50, 2**31 - 1, -(2**31)], outside)
    x = (rng().random(n) - 0.5).astype(np.float32)
    inside = (at >= 0) & (at < 50)
    sums, counts = np.zeros(50, np.float32), np.zeros(50, np.int64)
    np.add.at(sums, at[inside], x[inside])
    np.add.at(counts, at[inside], 1)
    options = {"width": width, "engine": engine}
    # One after another: the same bits.
    same(spmdvm.reduce_by_index(np.zeros(50, np.float32), "+", at, x, **options), sums)
    same(spmdvm.reduce_by_index(np.zeros(50, np.int64), "+", at, 1, **options), counts)


UFUNCS = {
    "+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("engine", HERE)
@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS])
def test_histograms_of_many_bins_by_threads(dtype, engine):
    """Each thread has bins of its own."""
    m, n = 700, 900
    options = {"engine": engine} if engine == "interp" else {"engine": engine, "jit": {"hot": 2, "background": False}}
    at = rng().integers(-30, m + 30, n)
    inside = (at >= 0) & (at < m)
    for op in {"bool": "&|^", "int32": UFUNCS}.get(dtype, ("+", "max")):
        for inner in ((), (3,), (20,)):
            x, before = numbers(dtype, (n, *inner)), numbers(dtype, (m, *inner), 3)
            want = before.copy()
            UFUNCS[op].at(want, at[inside], x[inside])
            for threads in (1, 2, 5, 1000):
                same(spmdvm.reduce_by_index(before.copy(), op, at, x, threads=threads, **options), want)


@pytest.mark.parametrize("engine", HERE)
@pytest.mark.parametrize("dtype", INTS)
def test_histograms_of_many_bins_have_indices_of_any_type(dtype, engine):
    info = np.iinfo(dtype)
    at = rng().integers(info.min, info.max, 3000, dtype, endpoint=True)
    at[::2] %= 100
    at[:2] = info.min, info.max
    for m in (1, 3, 110, 3000):
        inside = (at >= 0) & (at <= m - 1)
        want = np.bincount(at[inside].astype(int), minlength=m)
        for threads in (1, 2, 7):
            same(spmdvm.reduce_by_index(np.zeros(m, int), "+", at, 1, threads=threads, engine=engine), want)
        if not inside.all():
            with pytest.raises(IndexError, match=r"indices\[\d+\] is"):
                spmdvm.reduce_by_index(np.zeros(m, int), "+", at, 1, threads=2, bounds="raise", engine=engine)


@pytest.mark.parametrize("engine", HERE)
def test_histograms_of_nothing_by_threads(engine):
    options = {"threads": 3, "engine": engine}
    dest, nothing = np.arange(4000), np.zeros(0, int)
    same(spmdvm.reduce_by_index(dest, "+", nothing, nothing, **options), np.arange(4000))
    outside = np.full(500, -1)
    same(spmdvm.reduce_by_index(dest, "+", outside, 1, **options), np.arange(4000))
    assert spmdvm.reduce_by_index(np.zeros(0, int), "+", outside, 1, **options).size == 0
    assert spmdvm.reduce_by_index(np.zeros((4000, 0), int), "+", outside, 1, **options).size == 0


@pytest.mark.parametrize("n, m", [(3000, 2000), (70000, 8000), (70000, 9000), (140000, 1000)])
def test_histograms_round_the_same_for_any_number_of_threads(n, m):
    at = rng().integers(0, m, n)
    x = (rng().random(n, dtype=np.float32) - 0.4) * 100
    whole = numbers("int16", n)
    want = spmdvm.reduce_by_index(np.zeros(m, np.float32), "+", at, x)
    wanted = np.zeros(m, np.int16)
    np.add.at(wanted, at, whole)
    for threads in (2, 3, 16, 40):
        same(spmdvm.reduce_by_index(np.zeros(m, np.float32), "+", at, x, threads=threads), want)
        same(spmdvm.reduce_by_index(np.zeros(m, np.int16), "+", at, whole, threads=threads), wanted)


def test_values_that_are_dest_itself():
    x = np.arange(6)
    spmdvm.reduce_by_index(x, "+", np.array([0, 0, 1, 1, 2, 2]), x)
    same(x, np.array([1, 6, 11, 3, 4, 5]))
    x = np.arange(4)
    spmdvm.reduce_by_index(x, "+", x, 1)
    same(x, np.array([1, 2, 3, 4]))


# Filters.


@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS])
@pytest.mark.parametrize("threads", [1, 2])
def test_filters(dtype, threads):
    x = numbers(dtype, 140000)
    mask = rng(5).random(140000) < 0.3
    same(spmdvm.filter(mask, x, threads=threads), x[mask])
    kept, places = spmdvm.filter(mask, x, np.arange(140000), threads=threads)
    same(kept, x[mask])
    same(places, np.flatnonzero(mask))
    same(spmdvm.filter(np.zeros(140000, bool), x), x[:0])
    same(spmdvm.filter(np.ones(140000, bool), x), x)


@pytest.mark.parametrize("threads", [1, 2])
def test_filters_of_slices(threads):
    points = rng().random((70000, 2))

    @spmdvm.kernel
    def inside(x, y):
        return x * x + y * y < 1

    near = points[:, 0] ** 2 + points[:, 1] ** 2 < 1
    same(spmdvm.filter(inside, points, axis=0, threads=threads), points[near])
    same(spmdvm.filter(inside, points.T, axis=1, threads=threads), points.T[:, near])
    same(spmdvm.filter(near, points, axis=0, threads=threads), points[near])
    wide = numbers("int16", (300, 50))
    mask = wide[:, 0] > 0
    same(spmdvm.filter(mask, wide, axis=0, threads=threads), wide[mask])
    same(spmdvm.filter(mask, np.empty((300, 0)), axis=0), np.empty((int(mask.sum()), 0)))


def test_a_predicate_of_two_arrays():
    @spmdvm.kernel
    def less(x, y):
        return x < y

    x, y = numbers("int32", 999), numbers("int32", 999, 2)
    a, b = spmdvm.filter(less, x, y)
    same(a, x[x < y])
    same(b, y[x < y])


# Maps.


@pytest.mark.parametrize("threads", [1, 3])
def test_maps(threads):
    x, y = rng().random((50, 60)), rng(2).random(60)
    same(spmdvm.map(product, x, y, threads=threads), x * y)
    out = np.zeros((50, 60))
    assert spmdvm.map(product, x, y, out=out, threads=threads) is out
    same(out, x * y)

    @spmdvm.kernel
    def both(x, y):
        return x + y, x < y

    total, less = spmdvm.map(both, x, y, threads=threads)
    same(total, x + y)
    same(less, x < y)
    total[:], less[:] = -1, False
    where = x > 0.5
    assert spmdvm.map(both, x, y, out=(total, less), where=where, threads=threads)[0] is total
    same(total, np.where(where, x + y, -1))
    same(less, np.where(where, x < np.broadcast_to(y, x.shape), False))
    a, b = spmdvm.map(both, 1.0, 2.0)
    assert (a, b) == (3.0, True) and (type(a), type(b)) == (float, bool)


def test_results_go_to_out():
    x = numbers("int32", 1000)
    out = np.empty_like(x)
    assert spmdvm.scan("+", x, out=out) is out
    same(out, np.cumsum(x, dtype=np.int32))
    spmdvm.scan("+", x, out=x)
    same(x, out)
    wide = np.empty(2000, np.int32)[::2]
    spmdvm.scan("max", x, out=wide)
    same(wide, np.maximum.accumulate(x))


# Floating point.


def test_sums_of_floats_err_little():
    for dtype, seed in itertools.product((np.float32, np.float64), range(3)):
        x = ((rng(seed).random(300001) - 0.5) * 10.0 ** rng(seed + 9).integers(-5, 5, 300001)).astype(dtype)
        exact = math.fsum(x.astype(float))
        u = np.finfo(dtype).eps / 2
        for width, accumulators in ((4, 8), (16, 8)):
            # A lane adds so many numbers; then accumulators, lanes and runs are joined.
            depth = (
                65536 / (width * accumulators) + math.log2(width * accumulators) + math.ceil(math.log2(300001 / 65536))
            )
            bound = depth * u / (1 - depth * u) * np.abs(x.astype(float)).sum()
            assert abs(float(spmdvm.reduce("+", x, width=width)) - exact) <= bound


def test_nans_win_as_in_numpy():
    x = rng().random(1000, dtype=np.float32)
    x[700] = np.nan
    for op, ufunc in (("min", np.minimum), ("max", np.maximum)):
        assert np.isnan(spmdvm.reduce(op, x))
        same(spmdvm.scan(op, x), ufunc.accumulate(x))


def test_signs_of_zeros():
    x = np.full(100, -0.0)
    assert np.signbit(spmdvm.reduce("+", x))
    assert np.signbit(spmdvm.scan("+", x)).all()
    assert not np.signbit(spmdvm.scan("+", x, inclusive=False)[0])
    assert not np.signbit(spmdvm.reduce("+", np.array([-0.0, 0.0])))


# The same on all engines, and for any number of threads.


def outcomes(width, engine, threads, op, op_neutral):
    """The bits of many results of floats."""
    options = {"width": width, "engine": engine, "threads": threads}
    if engine != "interp":
        options["jit"] = {"hot": 2, "background": False}
    x = (rng().random(140003 if isinstance(op, str) else 66003, dtype=np.float32) - 0.4) * 100
    x[5] = np.nan if op in ("min", "max") else x[5]
    at = rng(3).integers(-1, 31, len(x)).astype(np.int32)
    found = []
    named = {} if isinstance(op, str) else {"neutral": op_neutral}
    for n in (1, 33, 1000, len(x)):
        found.append(spmdvm.reduce(op, x[:n], **named, **options))
        found.append(spmdvm.scan(op, x[:n], **named, **options))
        found.append(spmdvm.scan(op, x[:n], inclusive=False, **named, **options))
        found.append(spmdvm.reduce_by_index(np.ones(30, np.float32), op, at[:n], x[:n], **named, **options))
        found.append(spmdvm.filter(np.isfinite, x[:n], **options))
    table = x[:40000].reshape(200, 10, 20)
    for axis in range(3):
        found.append(spmdvm.reduce(op, table, axis=axis, **named, **options))
        found.append(spmdvm.scan(op, table, axis=axis, **named, **options))
    found.append(
        spmdvm.reduce_by_index(
            np.ones((7, 20), np.float32), op, at[:1000], x[:20000].reshape(1000, 20), **named, **options
        )
    )
    return [bits(result) for result in found]


@spmdvm.kernel
def log_add(a, b):
    """The logarithm of a sum of exponentials; rounds."""
    high = a if a > b else b
    low = b if a > b else a
    return high + np.log1p(np.exp(low - high)) if high > -np.inf else high


@functools.cache
def expected(width, name):
    op = log_add if name == "log_add" else name
    return outcomes(width, "interp", 1, op, -np.inf)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("engine", [engine for engine in HERE if engine != "interp"])
@pytest.mark.parametrize("name", ["+", "min", "log_add"])
def test_all_engines_give_the_same_bits(width, engine, name):
    if engine == "ir" and (width, name) != (8, "+"):
        pytest.skip("slow; one of them is enough")
    op = log_add if name == "log_add" else name
    assert outcomes(width, engine, 1, op, -np.inf) == expected(width, name)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["+", "log_add"])
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_bits(width, name, threads):
    op = log_add if name == "log_add" else name
    assert outcomes(width, "auto", threads, op, -np.inf) == expected(width, name)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32, 64])
def test_every_width(width):
    x = numbers("int32", 3001)
    assert spmdvm.reduce("+", x, width=width) == x.sum(dtype=np.int32)
    same(spmdvm.scan("+", x, width=width), np.cumsum(x, dtype=np.int32))
    same(spmdvm.scan("+", x, inclusive=False, width=width), np.cumsum(x, dtype=np.int32) - x)
    same(spmdvm.filter(odd, x, width=width), x[x % 2 == 1])
    parts = matrices(3001)
    assert [int(v) for v in spmdvm.reduce(matrix, parts, neutral=(1, 0, 0, 1), width=width)] == products(parts)[
        :, -1
    ].tolist()
    same(np.array(spmdvm.scan(matrix, parts, neutral=(1, 0, 0, 1), width=width)), products(parts))


# Stopping, threads, options.


@spmdvm.kernel
def slow(x):
    while x > 0:
        x = x + 1 if x < 5 else x - 1
    return x


@pytest.mark.parametrize("threads", [1, 2])
def test_a_timeout_stops_them(threads):
    x = np.full(100000, 3.0)
    for call in (
        lambda: spmdvm.reduce("+", x, map=slow, threads=threads, timeout=0.1),
        lambda: spmdvm.scan("+", x, map=slow, threads=threads, timeout=0.1),
        lambda: spmdvm.filter(slow, x, threads=threads, timeout=0.1),
        lambda: spmdvm.map(slow, x, threads=threads, timeout=0.1),
        lambda: spmdvm.reduce_by_index(
            np.zeros(3), "+", np.zeros(100000, int), x, map=slow, threads=threads, timeout=0.1
        ),
    ):
        start = time.monotonic()
        with pytest.raises(spmdvm.OutOfTime):
            call()
        assert time.monotonic() - start < 30
    with pytest.raises(spmdvm.OutOfFuel):
        spmdvm.reduce("+", x, map=slow, threads=threads, fuel=10000)


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_control_c_stops_them():
    # Where tests run in the background, SIGINT is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            spmdvm.reduce("+", np.full(100000, 3.0), map=slow, timeout=60)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


@spmdvm.kernel
def halves(x):
    return x / 2, -x


COPYING = {
    "reduce": lambda x, **options: spmdvm.reduce("+", x, **options),
    "reduce along": lambda x, **options: spmdvm.reduce("+", x, axis=1, **options),
    "scan": lambda x, **options: spmdvm.scan("+", x, axis=0, **options),
    "filter": lambda x, **options: spmdvm.filter(lambda v: v > 0, x, **options),
    "map": lambda x, **options: spmdvm.map(halves, x, **options),
    "reduce_by_index": lambda x, **options: spmdvm.reduce_by_index(
        np.zeros(3), "+", (np.arange(x.size) % 3)[::-1], x[0].repeat(len(x)), **options
    ),
    "map in the other order": lambda x, **options: spmdvm.map("v * 2", x.astype(">f8"), **options),
    "reduce_by_index of itself": lambda x, **options: (
        lambda dest: spmdvm.reduce_by_index(dest, "+", np.arange(dest.size), dest, **options)
    )(x.ravel()),
    "a kernel of several results": lambda x, **options: spmdvm.kernel(halves.__wrapped__, **options)(x),
}


@pytest.mark.parametrize("call", COPYING.values(), ids=COPYING)
def test_copies_look_at_the_deadline(call, monkeypatch):
    # (What is only transposed is not copied by all.)
    x = np.ones((300, 400))[:, ::2].T
    want = call(x.copy())
    monkeypatch.setattr(_copies, "_PIECE", 1000)
    for got, expected in zip(parts_of(call(x, timeout=60)), parts_of(want)):
        np.testing.assert_array_equal(got, expected)
    # Each look at the clock finds it ten seconds later.
    monkeypatch.setattr(_copies, "time", types.SimpleNamespace(monotonic=itertools.count(0, 10).__next__))
    with pytest.raises(spmdvm.OutOfTime, match=r"out of time in `\w+`, which was copying an array") as caught:
        call(x, timeout=60)
    assert caught.value.kind == "timeout" and caught.value.stack == ()


@spmdvm.kernel
def last(a):
    return a[len(a) - 1]


READING = {
    "reduce": lambda x, **options: spmdvm.reduce("+", x, **options),
    "scan": lambda x, **options: spmdvm.scan("+", x, **options),
    "filter": lambda x, **options: spmdvm.filter("v > 3", x, **options),
    "a mask": lambda x, **options: spmdvm.filter([v > 3 for v in x], np.arange(len(x)), **options),
    "map": lambda x, **options: spmdvm.map("v * 2", x, **options),
    "map of several results": lambda x, **options: spmdvm.map(halves, x, **options),
    "map where": lambda x, **options: spmdvm.map("v * 2", np.array(x), where=[v > 3 for v in x], **options),
    "reduce_by_index": lambda x, **options: spmdvm.reduce_by_index(np.zeros(30), "+", x, x, **options),
    "evaluate": lambda x, **options: spmdvm.evaluate("x + 1", **options),
    "kernel": lambda x, **options: spmdvm.kernel(square.__wrapped__, **options)(x),
    "kernel where": lambda x, **options: spmdvm.kernel(square.__wrapped__, **options)(
        np.array(x), where=[v > 3 for v in x], out=np.zeros(len(x), int)
    ),
    "array kernel": lambda x, **options: spmdvm.kernel(last.__wrapped__, **options)(x),
}


@pytest.mark.parametrize("call", READING.values(), ids=READING)
def test_reading_lists_looks_at_the_deadline(call, monkeypatch):
    x = list(range(20))
    want = parts_of(call(x))
    monkeypatch.setattr(_copies, "_NUMBERS", 6)
    for got, expected in zip(parts_of(call(x, timeout=60)), want):
        np.testing.assert_array_equal(got, expected)
    monkeypatch.setattr(_copies, "time", types.SimpleNamespace(monotonic=itertools.count(0, 10).__next__))
    with pytest.raises(spmdvm.OutOfTime, match=r"out of time in `.+`, which was reading a list"):
        call(x, timeout=25)


def test_lists_of_calls_with_kernels_that_have_a_timeout(monkeypatch):
    monkeypatch.setattr(_copies, "_NUMBERS", 6)
    monkeypatch.setattr(_copies, "time", types.SimpleNamespace(monotonic=itertools.count(0, 10).__next__))
    quick = spmdvm.kernel(square.__wrapped__, timeout=25)
    for call in (lambda x: spmdvm.reduce("+", x, map=quick), lambda x: spmdvm.map(quick, x)):
        with pytest.raises(spmdvm.OutOfTime, match="which was reading a list"):
            call(list(range(20)))


LISTS = {
    "ints": [1, 2, 3, 4, 5, 6, 7],
    "floats behind": [2**63 - 1, 2**53 + 1, 3, 4, 5, 6, 0.5],
    "bools and ints": [True, False, True, True, 5, 6],
    "large": [1, 2, 3, 4, 5, 2**63],
    "too large": [1, 2, 3, 4, 5, 2**64],
    "small types": [np.int8(1), np.int8(2), np.int8(3), np.uint8(200), np.float32(3), np.float16(1)],
    "one small type": [np.float32(0.1)] * 7,
    "unsigned": [2**63] * 7,
    "complex": [1, 2, 3, 4, 5, 2j],
    "rows": [[1, 2], [3, 4], [5, 6.5], [7, 8]],
    "long rows": [[1.0] * 9, [2] * 9, [True] * 9],
    "deep": [[[1] * 4] * 3] * 2,
    "arrays": [np.arange(4), np.arange(4) / 2, np.arange(4)],
    "tuples": tuple((k, k) for k in range(9)),
    "no rows": [[]] * 9,
    "different lengths": [[1, 2], [3, 4], [5, 6], [7]],
    "a row behind": [1, 2, 3, 4, 5, [6]],
    "a number behind": [[1, 2], [3, 4], [5, 6], 7],
    "texts": ["a", "bc", "d", "e"],
    "text behind": [1, 2, 3, 4, "e"],
    "objects": [None, 1, 2, 3],
    "nothing": [],
}


@pytest.mark.parametrize("given", LISTS.values(), ids=LISTS)
def test_lists_in_pieces_are_what_numpy_makes_of_them(given, monkeypatch):
    monkeypatch.setattr(_copies, "_NUMBERS", 3)
    try:
        want = np.asarray(given)
    except ValueError as error:
        with pytest.raises(ValueError) as caught:
            _copies.of_list(given, _copies.Deadline("f", 60))
        assert str(caught.value) == str(error)
        return
    got = _copies.of_list(given, _copies.Deadline("f", 60))
    assert (got.dtype, got.shape, got.tolist()) == (want.dtype, want.shape, want.tolist())


def test_lists_that_contain_themselves_are_no_arrays(monkeypatch):
    monkeypatch.setattr(_copies, "_NUMBERS", 0)
    given = []
    given.append(given)
    with pytest.raises((TypeError, ValueError, RecursionError)):
        spmdvm.reduce("+", given, timeout=60)


def parts_of(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_signals_stop_copies_between_two_pieces(monkeypatch):
    monkeypatch.setattr(_copies, "_PIECE", 1 << 16)
    x = np.ones((4000, 1000)).T
    spmdvm.reduce("+", x[:2])

    def stop(*_):
        raise InterruptedError("by the handler")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.003)
    try:
        with pytest.raises(InterruptedError, match="by the handler") as caught:
            while True:
                spmdvm.reduce("+", x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert any(entry.path.name == "_copies.py" for entry in caught.traceback)


@pytest.mark.parametrize("shape", [(7,), (5, 9), (3, 4, 5), (2, 3, 4, 5), (1, 200), (200, 1), (4, 0, 3)])
@pytest.mark.parametrize("dtype", [">f8", "<i2", "?"])
def test_copies_in_pieces_are_copies(shape, dtype, monkeypatch):
    monkeypatch.setattr(_copies, "_PIECE", 24)
    numbers = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    forever = _copies.Deadline("f", None)
    for given in (numbers, numbers.T, numbers[::-1], numbers[..., ::2], np.broadcast_to(numbers, (2, *shape))):
        got = _copies.contiguous(given, forever)
        assert got.flags.c_contiguous and got.dtype.isnative and got.shape == given.shape
        np.testing.assert_array_equal(got, given)
        target = np.zeros(given.shape)
        where = np.random.default_rng(1).random(given.shape) < 0.5
        _copies.assign(target, given, forever, where)
        np.testing.assert_array_equal(target, np.where(where, given, 0))
    assert _copies.contiguous(np.array(1.5), forever).tolist() == [1.5]
    whole = np.arange(100.0)
    assert _copies.contiguous(whole, forever) is whole


@pytest.mark.parametrize("dtype", [">i4", ">f8", ">u2", ">f2"])
def test_map_takes_bytes_in_the_other_order(dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    native = x.astype(x.dtype.newbyteorder("="))
    for given, plain in ((x, native), (x.T, native.T), (x[1:, ::2], native[1:, ::2]), (x[0, 1:2].reshape(()), 1)):
        same(np.asarray(spmdvm.map("v * 2", given)), np.asarray(spmdvm.map("v * 2", np.asarray(plain, native.dtype))))
    same(spmdvm.map("v + w", x, 1), native + 1)
    mask = native % 2 == 0
    masked = spmdvm.map("v * 2", np.ma.MaskedArray(x, mask))
    assert isinstance(masked, np.ma.MaskedArray) and (masked.mask == mask).all()
    same(masked.compressed(), native[~mask] * 2)
    same(x, np.arange(12).reshape(3, 4).astype(dtype))


def test_options_come_with_kernels_and_calls():
    quick = spmdvm.kernel(slow.__wrapped__, timeout=0.05)
    with pytest.raises(spmdvm.OutOfTime):
        spmdvm.reduce("+", np.full(1000, 3.0), map=quick)
    strict = spmdvm.kernel(square.__wrapped__, fp="strict", width=4)
    assert spmdvm.reduce("+", np.arange(4.0), map=strict) == 14
    other = spmdvm.kernel(first.__wrapped__, width=8)
    with pytest.raises(TypeError, match=r"different options, width=8 and width=4; say which with width="):
        spmdvm.reduce(other, np.arange(4.0), neutral=0, map=strict)
    assert spmdvm.reduce(other, np.arange(4.0), neutral=0, map=strict, width=16) == 1


def test_traps_tell_the_line_of_python():
    @spmdvm.kernel
    def inverse(n):
        return 100 // n

    with pytest.raises(ZeroDivisionError) as caught:
        spmdvm.reduce("+", np.array([4, 0, 5]), map=inverse)
    assert "return 100 // n" in str(caught.value)
    assert caught.value.file == __file__


def test_operators_that_may_fail_are_not_computed_for_nothing():
    @spmdvm.kernel
    def in_order(low_a, high_a, low_b, high_b):
        if low_a > high_a:
            return low_b, high_b
        if low_b > high_b:
            return low_a, high_a
        assert high_a < low_b
        return low_a, high_b

    for n in (1, 17, 600, 70000):
        x = np.arange(n)
        assert spmdvm.reduce(in_order, (x, x), neutral=(1, 0)) == (0, n - 1)
        low, high = spmdvm.scan(in_order, (x, x), neutral=(1, 0), threads=2)
        assert (low == 0).all() and (high == x).all()


def test_all_cores_are_as_many_threads():
    x = np.random.default_rng(1).random(200000)
    same(spmdvm.reduce("+", x, threads=0), spmdvm.reduce("+", x))
    same(spmdvm.scan("+", x, threads=0), spmdvm.scan("+", x))
    same(spmdvm.map("x * 2", x, threads=0), x * 2)
    same(spmdvm.filter("x > 0.5", x, threads=0), x[x > 0.5])
    counts = spmdvm.reduce_by_index(np.zeros(2, np.int64), "+", (x > 0.5).astype(int), 1, threads=0)
    assert counts.sum() == len(x)


def test_expressions():
    x, y = np.arange(5.0), np.arange(5.0)[::-1]
    assert spmdvm.reduce("+", x, map="x * x") == 30
    assert spmdvm.reduce("max", (x, y), map="abs(right - left)") == 4
    same(spmdvm.scan("+", x, map="2*x + 1"), np.cumsum(2 * x + 1))
    same(spmdvm.map("x*y + z", x, y, 1.0), x * y + 1)
    same(spmdvm.filter("x > limit", x, y)[0], x[x > y])


def test_functions_of_integers():
    a, b = np.array([12, 18, 30]), np.array([8, 9, 7])
    assert spmdvm.reduce(math.gcd, a, neutral=0) == 6
    same(spmdvm.map(math.gcd, a, b), np.gcd(a, b))
    same(spmdvm.scan(np.lcm, a, neutral=1), np.array([12, 36, 180]))


def test_many_threads_at_once():
    x = numbers("int64", 100000)
    results = []

    def work():
        results.append((spmdvm.reduce("+", x, threads=2), spmdvm.scan("max", x, width=8)[-1]))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(x.sum(), x.max())] * 6


def test_importing_the_package_does_not_import_them():
    script = "import spmdvm, sys; sys.exit('spmdvm._combine' in sys.modules or 'spmdvm._kernel' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
    hides = (
        "from spmdvm import *; assert map.__module__ == 'builtins' and filter.__module__ == 'builtins'; reduce, scan"
    )
    assert subprocess.run([sys.executable, "-c", hides], check=False).returncode == 0


def test_arguments_are_not_changed():
    x = numbers("int32", 100)
    before = copy.copy(x)
    spmdvm.reduce("+", x), spmdvm.scan("+", x), spmdvm.filter(odd, x)
    same(x, before)


ROOT = Path(__file__).parents[2]


def test_the_page_about_them():
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs/combinators.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3
    lines = "".join(blocks)
    page = types.ModuleType("page")
    # Kernels are read from files.
    file = f"<{page.__name__}>"
    linecache.cache[file] = (len(lines), None, lines.splitlines(True), file)
    exec(compile(lines, file, "exec"), page.__dict__)


@pytest.mark.parametrize("name", ["reduce", "scan", "reduce_by_index", "filter", "map"])
def test_examples_in_docstrings(name, tmp_path):
    examples = doctest.DocTestParser().get_examples(getattr(spmdvm, name).__doc__)
    assert examples
    script = "".join(
        f"{example.source}" if not example.want else f"shown({example.source.strip()}, {example.want!r})\n"
        for example in examples
    )
    check = "def shown(value, want):\n    assert repr(value) == want.strip(), value\n"
    (tmp_path / "examples.py").write_text(check + script)
    subprocess.run([sys.executable, tmp_path / "examples.py"], check=True)


def test_the_example():
    example = ROOT / "examples/python/combinators.py"
    found = subprocess.run([sys.executable, example], check=True, capture_output=True, text=True)
    assert found.stdout.count(" agrees ") == 5


# Mistakes: what was wrong, what was expected, what to do.


class Units(np.ndarray):
    """What may mean more than its numbers."""


F32 = np.ones(3, np.float32)
I64 = np.arange(3)
MODULE = """
export void fill(uniform float x[], uniform int n) { foreach (i = 0 ... n) x[i] = 0; }
export float scaled(float x, uniform float k) { return x * k; }
export float add(float a, float b) { return a + b; }
"""


@functools.cache
def module():
    return spmdvm.compile(MODULE)


@spmdvm.kernel
def of_arrays(a, out):
    for i in spmdvm.foreach(len(a)):
        out[i] = a[i]


@spmdvm.kernel
def nothing(a, b):
    if a > b:
        print(a)


@spmdvm.kernel
def less_than(a, b):
    return a < b


@spmdvm.kernel
def narrow(a: spmdvm.float32, b: spmdvm.float32):
    return a + b


@spmdvm.kernel
def with_uniform(a, b: spmdvm.uniform[spmdvm.float32]):
    return a + b


MISTAKES = [
    (lambda: spmdvm.reduce("plus", F32), ValueError, "`op` is 'plus', and the operators with a name are \"\\+\""),
    (lambda: spmdvm.reduce(None, F32), TypeError, '`op` takes "\\+", .*, or a function of two elements .*, not None'),
    (lambda: spmdvm.reduce(3, F32), TypeError, "`op` takes .*, not 3"),
    (lambda: spmdvm.reduce(lambda a, b: a, F32), TypeError, "`neutral` is missing: .*`<lambda>`"),
    (lambda: spmdvm.map(lambda a, b: a, F32), TypeError, "`f` must take one number, and the kernel `<lambda>` has 2"),
    (
        lambda: spmdvm.reduce(of_arrays, F32, neutral=0),
        TypeError,
        "`op` takes a function of numbers, and the kernel `of_arrays`",
    ),
    (
        lambda: spmdvm.reduce(square, F32, neutral=0),
        TypeError,
        "`op` must take 2 numbers, and the kernel `square` has 1 param",
    ),
    (lambda: spmdvm.reduce(nothing, F32, neutral=0), TypeError, "`op`: the kernel `nothing` returns nothing"),
    (
        lambda: spmdvm.reduce(less_than, F32, neutral=0),
        TypeError,
        "`op` must return what it takes, and `less_than` makes bool",
    ),
    (
        lambda: spmdvm.reduce(narrow, np.ones(3), neutral=0),
        TypeError,
        "`a` of the kernel `narrow` is a float32, and .* float64",
    ),
    (
        lambda: spmdvm.reduce(with_uniform, F32, neutral=0),
        TypeError,
        "`b` of the kernel `with_uniform` is one number for all",
    ),
    (lambda: spmdvm.reduce(first, F32), TypeError, "`neutral` is missing: .*`neutral=0` for a sum"),
    (lambda: spmdvm.scan(matrix, (I64,) * 4), TypeError, r"`neutral` is missing: .*`neutral=\(0, 0, 0, 0\)`"),
    (lambda: spmdvm.reduce(first, F32, neutral=(0, 0)), TypeError, "`neutral` must have one number, .*, and has 2"),
    (
        lambda: spmdvm.reduce(first, I64, neutral=0.5),
        ValueError,
        "`neutral` is 0.5, and the operator combines int64, which does not",
    ),
    (
        lambda: spmdvm.reduce(first, np.ones(3, np.int8), neutral=300),
        ValueError,
        "`neutral` is 300, and the operator combines int8",
    ),
    (lambda: spmdvm.reduce(first, F32, neutral="0"), TypeError, "`neutral` is '0', .*; give one number"),
    (lambda: spmdvm.reduce(first, F32, neutral=np.zeros(2)), TypeError, "`neutral` is array.*; give one number"),
    (
        lambda: spmdvm.reduce("+", F32, neutral=1),
        ValueError,
        "`neutral` is 1.0, and .* combines it with 1.0 to 2.0; the neutral",
    ),
    (
        lambda: spmdvm.reduce(product, I64 + 5, neutral=0),
        ValueError,
        "`neutral` is 0, and `product` combines it with 5 to 0",
    ),
    (
        lambda: spmdvm.reduce("&", F32),
        TypeError,
        "`op` is '&', which takes integers or bools, and the elements are float32",
    ),
    (
        lambda: spmdvm.reduce("+", (F32, F32)),
        TypeError,
        r"`op` is '\+', which combines numbers, .* 2 numbers each; give a kernel of 4",
    ),
    (lambda: spmdvm.reduce(square, (I64, I64), neutral=(0, 0)), TypeError, "`op` must take 4 numbers"),
    (lambda: spmdvm.reduce("+", np.ones(3, complex)), TypeError, "`x` holds complex128, .*real or imaginary"),
    (lambda: spmdvm.reduce("+", np.array([None])), TypeError, "`x` holds object, .*asarray"),
    (lambda: spmdvm.reduce("+", np.array(["a"])), TypeError, "`x` holds <U1, .*asarray"),
    (lambda: spmdvm.reduce("+", np.zeros(3, [("a", int)])), TypeError, "`x` holds .*; pass its fields one by one"),
    (lambda: spmdvm.reduce("+", "abc"), TypeError, "`x` takes an array, not 'abc'"),
    (lambda: spmdvm.reduce("+", None), TypeError, "`x` takes an array, not None"),
    (lambda: spmdvm.reduce("+", ()), TypeError, "`x` is an empty tuple"),
    (lambda: spmdvm.reduce("+", [[1], [1, 2]]), ValueError, "`x` is no array: its rows"),
    (lambda: spmdvm.reduce("+", np.ma.ones(3)), TypeError, "`x` is a masked array; pass its filled"),
    (lambda: spmdvm.reduce("+", np.ones(3).view(Units)), TypeError, "`x` is a Units; pass np.asarray"),
    (
        lambda: spmdvm.reduce("+", (F32, np.ones(4)), map=product),
        ValueError,
        r"arrays of `x` have the shapes \(3,\), \(4,\), which do",
    ),
    (lambda: spmdvm.reduce("+", F32, axis=1), ValueError, "`axis` is 1, and the array has 1 dimensions"),
    (lambda: spmdvm.reduce("+", F32, axis="x"), TypeError, "`axis` takes an integer or None, not 'x'"),
    (
        lambda: spmdvm.reduce("+", np.ones((2, 2)), axis=(0, 0)),
        ValueError,
        r"`axis` is \(0, 0\), which names an axis twice",
    ),
    (lambda: spmdvm.reduce("+", np.ones((2, 2)), axis=()), ValueError, "`axis` is an empty tuple; None means all"),
    (lambda: spmdvm.reduce("+", F32, threads=-1), ValueError, r"a number from 0 \(all cores\) to 1024, not -1"),
    (lambda: spmdvm.reduce("+", F32, map="sqrt"), TypeError, "not the name 'sqrt' alone"),
    (lambda: spmdvm.map("x*y", F32), TypeError, r"`f` must take one number, and the kernel `x\*y` has 2"),
    (lambda: spmdvm.filter(F32, lambda x: x > 1), TypeError, r"the predicate comes first: spmdvm.filter\(p"),
    (lambda: spmdvm.map(np.sqrt, F32, wdth=8), TypeError, r"map\(\) has no option `wdth`; did you mean `width`\?"),
    (lambda: spmdvm.reduce("+", F32, threads=1.5), TypeError, "`threads` takes an integer, not 1.5"),
    (lambda: spmdvm.reduce("+", F32, commutative=1), TypeError, "`commutative` takes True or False, not 1"),
    (
        lambda: spmdvm.reduce("+", F32, map=product),
        TypeError,
        "`map` must take one number, and the kernel `product` has 2",
    ),
    (lambda: spmdvm.reduce("+", F32, colour=3), TypeError, "colour"),
    (lambda: spmdvm.reduce("+", F32, width=5), ValueError, "width"),
    (
        lambda: spmdvm.reduce(module().fill, F32, neutral=0),
        TypeError,
        "`op`: the function `fill` cannot be called with 2 numbers",
    ),
    (lambda: spmdvm.reduce(module().scaled, F32, neutral=1), TypeError, "`op`: the function `scaled` cannot be called"),
    (
        lambda: spmdvm.reduce(module().add, np.ones(3), neutral=0),
        TypeError,
        "`op`: the function `add` cannot .* of float64",
    ),
    (
        lambda: spmdvm.reduce(
            module().add, F32, neutral=0, map=spmdvm.compile(MODULE + "export float g(float x) { return x; }").g
        ),
        TypeError,
        "`op` and `map` are functions of two modules; compile them as one",
    ),
    (lambda: spmdvm.scan("+", F32, inclusive=0), TypeError, "`inclusive` takes True or False, not 0"),
    (
        lambda: spmdvm.scan("+", np.ones((2, 2)), axis=(0, 1)),
        TypeError,
        r"`axis` takes an integer or None, not \(0, 1\)",
    ),
    (lambda: spmdvm.scan("+", F32, out=np.ones(3)), TypeError, "`out` holds float64, and the results are float32"),
    (
        lambda: spmdvm.scan("+", F32, out=F32[:2].copy()),
        ValueError,
        r"`out` has the shape \(2,\), and the results have \(3,\)",
    ),
    (lambda: spmdvm.scan("+", F32, out=[1, 2, 3]), TypeError, "`out` must be 1 array, not 3"),
    (lambda: spmdvm.scan("+", F32, out=np.broadcast_to(F32[:1], 3)), ValueError, "`out` is read-only"),
    (
        lambda: spmdvm.reduce_by_index([0, 0], "+", [0], [1]),
        TypeError,
        "`dest` takes an array, which is changed, not list",
    ),
    (lambda: spmdvm.reduce_by_index(np.broadcast_to(I64, 3), "+", [0], [1]), ValueError, "`dest` is read-only"),
    (lambda: spmdvm.reduce_by_index(np.array(0), "+", [0], [1]), ValueError, "`dest` has no dimensions"),
    (lambda: spmdvm.reduce_by_index((), "+", [0], [1]), TypeError, "`dest` is an empty tuple"),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [0.5], [1]),
        TypeError,
        "`indices` holds float64, and indices are integers",
    ),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [[0]], [1]),
        ValueError,
        "`indices` has 2 dimensions; pass one, with ravel",
    ),
    (
        lambda: spmdvm.reduce_by_index(np.zeros((3, 4)), "+", ([0, 1], [2, 0]), 1.0),
        ValueError,
        r"pass one of elements in a row: dest.ravel\(\), and np.ravel_multi_index\(indices, dest.shape\)",
    ),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [0, 1], [1, 2, 3]),
        ValueError,
        r"`values` has the shape \(3,\), and 2 indices",
    ),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [0], [0.5]),
        TypeError,
        "the values are float64, which does not cast safely",
    ),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [0], 0.5),
        TypeError,
        "the values are float64, which does not cast safely",
    ),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [0], (I64[:1], I64[:1])),
        TypeError,
        "values are 2 numbers each, and `dest` is 1",
    ),
    (lambda: spmdvm.reduce_by_index(I64.copy(), first, [0], [1]), TypeError, "`neutral` is missing"),
    (
        lambda: spmdvm.reduce_by_index(I64.copy(), "+", [0], [1], bounds="clip"),
        ValueError,
        '`bounds` takes "ignore" or "raise"',
    ),
    (lambda: spmdvm.reduce_by_index(np.zeros(3, ">i8"), "+", [0], [1]), TypeError, "`dest` holds >i8, whose bytes"),
    (lambda: spmdvm.reduce_by_index(np.zeros(3, bool), "+", [0], [True]), TypeError, "make `dest` of that type"),
    (lambda: spmdvm.filter(odd), TypeError, "no array to filter"),
    (lambda: spmdvm.filter(I64, I64), TypeError, "`predicate` is an array of int64; as an array it must hold bools"),
    (lambda: spmdvm.filter(I64 > 0, np.arange(4)), ValueError, r"`predicate` has the shape \(3,\)"),
    (
        lambda: spmdvm.filter(product, I64),
        TypeError,
        "`predicate` must take one number, and the kernel `product` has 2",
    ),
    (lambda: spmdvm.filter(matrix, *[I64] * 8), TypeError, "`predicate` must return one bool, and `matrix` returns 4"),
    (
        lambda: spmdvm.filter(odd, np.ones((3, 100)), axis=0),
        ValueError,
        "`predicate` would take 100 numbers, .*an array of bools",
    ),
    (lambda: spmdvm.filter(None, I64), TypeError, "`predicate` takes an array of bools, or a function of 1 number"),
    (lambda: spmdvm.map(square), TypeError, "no array to map"),
    (lambda: spmdvm.map(square, I64, I64), TypeError, "`f` must take 2 numbers, and the kernel `square` has 1"),
    (lambda: spmdvm.map("x", I64), TypeError, r"`f` takes a function or an expression, such as 'sqrt\(x\)', not"),
    (
        lambda: spmdvm.map(module().add, F32, F32, width=4),
        TypeError,
        "`width` is an option of `compile`, and `add` is compiled",
    ),
    (lambda: spmdvm.map(matrix, *[I64] * 8, out=I64.copy()), TypeError, "`out` must be 4 arrays, not 1"),
    (lambda: spmdvm.map(matrix, *[I64] * 8, where=I64), TypeError, "`where` holds int64, and takes bools"),
    (
        lambda: spmdvm.map(matrix, *[I64] * 8, where=np.ones(4, bool)),
        ValueError,
        r"`where` has the shape \(4,\), which does not",
    ),
]


@pytest.mark.parametrize("call, error, text", MISTAKES, ids=[text[:40] for _, _, text in MISTAKES])
def test_mistakes_are_explained(call, error, text):
    with pytest.raises(error, match=text) as caught:
        call()
    assert not isinstance(caught.value, spmdvm.Trap)


def test_operators_that_do_not_compile_show_the_line():
    @spmdvm.kernel
    def wrong(a, b):
        return np.correlate(a, b)

    with pytest.raises(spmdvm.CompileError, match=r"return np\.correlate\(a, b\)"):
        spmdvm.reduce(wrong, F32, neutral=0)

    @spmdvm.kernel
    def of_arrays(a, b):
        return a @ b

    with pytest.raises(TypeError, match="the kernel `of_arrays` takes arrays"):
        spmdvm.reduce(of_arrays, F32, neutral=0)


RNG = np.random.default_rng(7)


def test_functions_that_are_named_operators():
    x = RNG.integers(-9, 9, (4, 50))
    for op, named in [
        (np.add, "+"), (operator.add, "+"), (np.multiply, "*"), (operator.mul, "*"), (min, "min"), (np.minimum, "min"),
        (max, "max"), (np.maximum, "max"), (operator.and_, "&"), (np.bitwise_or, "|"), (operator.xor, "^"),
    ]:  # fmt: skip
        assert (spmdvm.reduce(op, x, axis=0) == spmdvm.reduce(named, x, axis=0)).all()
        assert (spmdvm.scan(op, x, inclusive=False) == spmdvm.scan(named, x, inclusive=False)).all()
    for op, told in [(sum, "+"), (np.sum, "+"), (np.max, "max"), (any, "or"), (math.prod, "*")]:
        with pytest.raises(TypeError, match=f"`{op.__name__}` takes all of them; write {re.escape(repr(told))}"):
            spmdvm.reduce(op, x)


def test_axes_that_are_kept():
    x = RNG.random((3, 4, 5))
    for axis in (None, 0, -1, (0, 2), (1, -1)):
        got = spmdvm.reduce("max", x, axis=axis, keepdims=True)
        want = np.max(x, axis=axis, keepdims=True)
        assert got.shape == want.shape and (got == want).all()
    assert spmdvm.reduce("+", np.float64(3.0), keepdims=True) == 3
    assert spmdvm.reduce("+", np.zeros((0, 4)), axis=0, keepdims=True).shape == (1, 4)
    low, high = spmdvm.reduce(lambda a, b, c, d: (min(a, c), max(b, d)), (x, x), neutral=(1, 0), axis=1, keepdims=True)
    assert (low == x.min(1, keepdims=True)).all() and (high == x.max(1, keepdims=True)).all()
    with pytest.raises(TypeError, match="`keepdims`"):
        spmdvm.reduce("+", x, keepdims="yes")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: spmdvm.reduce("+", x, initial=1),
            r"^reduce\(\) has no option `initial`; combine it with",
        ),
        (lambda x: spmdvm.reduce("+", x, dtype=float), r"^reduce\(\) has no option `dtype`; convert .* map=np.float64"),
        (lambda x: spmdvm.scan("+", x, exclusive=True), r"^scan\(\) has no option `exclusive`; write inclusive=False$"),
        (lambda x: spmdvm.reduce("+", x, widht=4), r"^reduce\(\) has no option `widht`; did you mean `width`\?$"),
    ],
)
def test_options_that_there_are_not(call, message):
    with pytest.raises(TypeError, match=message):
        call(np.arange(5))


def test_what_is_no_array_is_told():
    pointer = ctypes.cast((ctypes.c_float * 4)(), ctypes.POINTER(ctypes.c_float))
    double = spmdvm.kernel(lambda x: x * 2)
    calls = [
        lambda x: spmdvm.reduce("+", x),
        lambda x: spmdvm.scan("+", x),
        lambda x: spmdvm.map(double, x),
        lambda x: spmdvm.filter("x > 1", x),
        lambda x: spmdvm.reduce_by_index(np.zeros(3), "+", [0, 1], x),
        lambda x: spmdvm.evaluate("x + 1", {"x": x}),
        double,
    ]
    for call in calls:
        with pytest.raises(ValueError, match=r"\(.*\): `.*` is no array: its rows have different lengths; make them"):
            call([[1, 2], [3]])
        with pytest.raises(ValueError, match=r"is a pointer of ctypes, .*; pass np\.ctypeslib\.as_array\(x, \(n,\)\)"):
            call(pointer)
    for given, kind in (({1, 2}, "set"), ((k for k in range(3)), "generator"), (map(abs, [1]), "map")):
        with pytest.raises(TypeError, match=rf"`x` takes an array, not a `{kind}`; pass np\.array\(list\(x\)\)"):
            spmdvm.reduce("+", given)
    with pytest.raises(TypeError, match=r"not a `dict`; pass np\.array\(list\(x\.values\(\)\)\)"):
        spmdvm.reduce("+", {"a": 1})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: spmdvm.reduce("sum", x), r"; did you mean '\+'\?"),
        (lambda x: spmdvm.scan("cumprod", x), r"; did you mean '\*'\?"),
        (lambda x: spmdvm.reduce("a + b", x), r"; one of your own is a function of two elements, lambda a, b: "),
        (lambda x: spmdvm.reduce(x, "+"), r"not '\+'; the operator comes first: spmdvm\.reduce\(op, x\)"),
        (lambda x: spmdvm.filter(x, "x > 1"), "the predicate comes first"),
        (lambda x: spmdvm.map(x, np.sin), r"not a ndarray; it comes before the arrays: spmdvm\.map\(f, x\)"),
        (lambda x: spmdvm.map(np.fft.fft, x), "not `fft`, which kernels do not know; write a function"),
        (lambda x: spmdvm.map(print, x), "not `print`, which kernels do not know; write a function"),
        (lambda x: spmdvm.map(functools.partial(pow, 2), x), "not a partial; write what it calls"),
        (lambda x: spmdvm.reduce(lambda a: a, x), "has 1 parameter$"),
        (
            lambda x: spmdvm.reduce_by_index("+", [1], [1.0], x),
            "arguments are dest, op, indices, values, in this order",
        ),
    ],
)
def test_what_may_be_meant(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(np.arange(3.0))
