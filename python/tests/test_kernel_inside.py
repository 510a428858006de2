"""Indices that are sums of counters and parameters: tested once for all elements where that can be said before."""

from __future__ import annotations

import numpy as np
import pytest
import spmdvm


@spmdvm.kernel
def correlate(a, k, out):
    h, w = out.shape
    for y, x in spmdvm.foreach(h, w):
        total = a[0, 0] * 0
        for dy in range(k.shape[0]):
            for dx in range(k.shape[1]):
                total += k[dy, dx] * a[y + dy, x + dx]
        out[y, x] = total


@spmdvm.kernel
def centred(a, k, out):
    h, w = a.shape
    r = k.shape[0] // 2
    for y, x in spmdvm.foreach((r, h - r), (r, w - r)):
        total = a[0, 0] * 0
        for dy in range(-r, r + 1):
            for dx in range(-r, r + 1):
                yy = y + dy
                xx = x + dx
                total += k[dy + r, dx + r] * a[yy, xx]
        out[y, x] = total


@spmdvm.kernel
def shifted(a, dy, dx, out):
    for y, x in spmdvm.foreach(*out.shape):
        out[y, x] = a[y + dy, x - dx]


@spmdvm.kernel
def put(a, dy, dx, out):
    for y, x in spmdvm.foreach(*a.shape):
        out[y + dy, x + dx] = a[y, x]


DTYPES = ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_any_type(dtype):
    a = (np.arange(20 * 31).reshape(20, 31) * 7 % 251).astype(dtype)
    out = np.zeros((15, 20), dtype)
    shifted(a, 3, -4, out)
    assert (out == a[3:18, 4:24]).all()
    whole = np.zeros_like(a)
    put(a[:15, :20].copy(), 2, 5, whole)
    assert (whole[2:17, 5:25] == a[:15, :20]).all() and whole[:2].sum() == 0 == whole[:, :5].sum()


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64"])
def test_sums_of_neighbours(dtype):
    rng = np.random.default_rng(1)
    a, k = rng.integers(0, 5, (30, 47)).astype(dtype), rng.integers(0, 3, (5, 5)).astype(dtype)
    out, inner = np.zeros((26, 43), dtype), np.zeros_like(a)
    correlate(a, k, out)
    centred(a, k, inner)
    expected = sum(k[i, j] * a[i : i + 26, j : j + 43] for i in range(5) for j in range(5)).astype(dtype)
    assert (out == expected).all() and (inner[2:-2, 2:-2] == expected).all()
    assert inner[:2].sum() == 0 == inner[:, -2:].sum()


def test_elements_outside():
    a = np.ones((10, 12))
    for kernel, *args, told in [
        (correlate, a, np.ones((3, 3)), np.zeros((8, 11)), "`a`"),
        (correlate, a, np.ones((3, 3)), np.zeros((9, 10)), "index"),
        (shifted, a, 0, 1, np.zeros((10, 12)), "`a`"),
        (shifted, a, 0, -1, np.zeros((10, 12)), "`a`"),
        (shifted, a, -1, 0, np.zeros((10, 12)), "`a`"),
        (shifted, a, 1, 0, np.zeros((10, 12)), "`a`"),
        (put, a, 0, 1, np.zeros((10, 12)), "`out`"),
        (put, a, -1, 0, np.zeros((10, 12)), "`out`"),
    ]:
        with pytest.raises(IndexError, match=told) as found:
            kernel(*args)
        assert found.value.line is not None


@pytest.mark.parametrize("large", [2**31, 2**32, 2**32 + 1, 2**40, 2**62, 2**63 - 1])
def test_large_numbers_are_not_small_ones(large):
    # In 32 bits, or where sums of 64 bits wrap, some of them would be inside.
    a, out = np.ones((4, 5)), np.zeros((4, 5))
    for shift in (large, -large):
        for dy, dx in ((shift, 0), (0, shift)):
            with pytest.raises(IndexError):
                shifted(a, dy, dx, out)
            with pytest.raises(IndexError):
                put(a, dy, dx, out)
    assert not out.any()


@spmdvm.kernel
def by_difference(a, p, q, out):
    for i, j in spmdvm.foreach(*out.shape):
        out[i, j] = a[i + (p - q), j]


def test_differences_of_large_numbers():
    a, out = np.arange(12.0).reshape(4, 3), np.zeros((2, 3))
    by_difference(a, 2**50 + 1, 2**50, out)
    assert (out == a[1:3]).all()
    for p, q in ((2**41, 2**45), (2**63 - 1, -(2**63 - 1)), (-(2**62), 2**62)):
        with pytest.raises(IndexError):
            by_difference(a, p, q, out)


def test_nothing_is_tested_without_elements():
    shifted(np.ones((2, 3)), 100, 100, np.zeros((0, 5)))
    correlate(np.ones((2, 3)), np.ones((9, 9)), np.zeros((0, 0)))


def test_indices_of_int32():
    @spmdvm.kernel
    def sample(a, ys, xs, out):
        for i in spmdvm.foreach(len(ys)):
            out[i] = a[ys[i] + 1, xs[i]]

    a, out = np.arange(12.0).reshape(3, 4), np.zeros(2)
    for ty in (np.int32, np.int64, np.int16, np.uint32):
        sample(a, np.array([0, 1], ty), np.array([3, 0], ty), out)
        assert out.tolist() == [7, 8]
        for y, x in ((2, 0), (0, 4)):
            with pytest.raises(IndexError):
                sample(a, np.array([0, y], ty), np.array([0, x], ty), out)
    for y, x in ((-2, 0), (0, -1), (2**31 - 1, 0), (-(2**31), 0), (0, -(2**31))):
        with pytest.raises(IndexError):
            sample(a, np.array([0, y], np.int32), np.array([0, x], np.int32), out)


def test_where_it_is_known_before_no_element_is_tested():
    a, out = np.ones((6, 6)), np.zeros((6, 6))
    centred(a, np.ones((3, 3)), out)
    text = centred.spmd_source
    assert "const uniform bool inside__" in text and "? a[v_yy" in text


def test_an_array_kernel_is_called_again_with_others():
    @spmdvm.kernel
    def scale(a, factor):
        for i in spmdvm.foreach(len(a)):
            a[i] *= factor

    for _ in range(2):
        for dtype, n in (("f4", 3), ("f8", 3), ("f8", 5), ("i4", 5)):
            a = np.arange(n).astype(dtype)
            scale(a, 2)
            scale(a, factor=3)
            scale(a, True)
            assert a.dtype == dtype and (a == 6 * np.arange(n)).all()
    frozen = np.ones(5)
    scale(frozen, 2)
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        scale(frozen, 2)
    with pytest.raises(ValueError, match="contiguous"):
        scale(np.ones(10)[::2], 2)
    with pytest.raises(TypeError):
        scale(np.ones(5))
    with pytest.raises(TypeError):
        scale(np.ones(5), 2, 3)


@spmdvm.kernel
def mean_around(a, out):
    h, w = a.shape
    for y, x in spmdvm.foreach(h, w):
        total = 0.0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                total += a[max(0, min(y + dy, h - 1)), np.clip(x + dx, 0, w - 1)]
        out[y, x] = total / 9


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (5, 1), (6, 19)])
def test_indices_that_are_clipped(shape):
    a = np.random.default_rng(3).integers(0, 100, shape) * 9.0
    out = np.zeros(shape)
    mean_around(a, out)
    b = np.pad(a, 1, mode="edge")
    h, w = shape
    assert np.allclose(out, sum(b[i : i + h, j : j + w] for i in range(3) for j in range(3)) / 9, rtol=1e-15)


def test_a_number_that_is_cut_is_no_length():
    @spmdvm.kernel
    def take(a, less: int, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = a[i, np.int32(a.shape[1] - less)]

    a, out = np.arange(12.0).reshape(3, 4), np.zeros(2)
    take(a, 1, out)
    assert out.tolist() == [3, 7]
    # That leaves 5 of 32 bits.
    with pytest.raises(IndexError):
        take(a, 2**32 - 1, out)


def test_histograms_of_lanes():
    @spmdvm.kernel
    def count(x, bins: spmdvm.int32, own, counts):
        for i in spmdvm.foreach(len(x)):
            at = min(max(spmdvm.int32(x[i]), spmdvm.int32(0)), spmdvm.int32(bins - 1))
            own[at, spmdvm.lane] += 1
        for k in spmdvm.foreach(len(counts)):
            for j in range(own.shape[1]):
                counts[k] += own[k, j]

    x = np.random.default_rng(4).normal(5, 4, 1000)
    own, counts = np.zeros((10, 64), int), np.zeros(10, int)
    count(x, 10, own, counts)
    assert (counts == np.bincount(np.clip(x.astype(int), 0, 9), minlength=10)).all()
    for bins, lanes in ((11, 64), (0, 64), (10, 1)):
        with pytest.raises(IndexError):
            count(x, bins, np.zeros((10, lanes), int), counts)


@spmdvm.kernel
def around(a, out):
    h, w = a.shape
    for y, x in spmdvm.foreach(h, w):
        for d in (-1, 1):
            out[y, x] += a[(y + d) % h, x] + a[y, (x - d * 3) % w]


def test_remainders_are_inside():
    a, out = np.random.default_rng(5).integers(0, 9, (4, 11)).astype(float), np.zeros((4, 11))
    around(a, out)
    want = np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 3, 1) + np.roll(a, -3, 1)
    assert (out == want).all()
    assert "-2147483647" not in around.spmd_source

    @spmdvm.kernel
    def at(a, n: int, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = a[0, (i + 1) % (n - 1)] + a[i % n, 0]

    for n in (2, 3, 4):
        at(a, n, out[0])
        assert out[0].tolist() == [a[0, (i + 1) % (n - 1)] + a[i % n, 0] for i in range(11)]
    for n, error in ((0, ZeroDivisionError), (1, ZeroDivisionError), (13, IndexError), (-3, IndexError)):
        with pytest.raises(error):
            at(a, n, out[0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("options", [{"engine": "interp"}, {"width": 1}, {}], ids=str)
def test_integers_of_floats(dtype, options):
    def cut(x):
        return int(x)

    def one_by_one(x, out):
        for i in range(len(x)):
            out[i] = int(x[i])

    few = [0, -0.0, 0.5, -0.5, 1.5, -1.5, 2147483647, 2147483648, -2147483648, -2147483649, 2147483646.5, 4e9, -4e9]
    x = np.tile(np.array([*few, 1e18, -1e18, 65504], np.float64), 9)
    with np.errstate(over="ignore"):
        x = x.astype(dtype)
    x = x[np.isfinite(x)]
    out = np.zeros(len(x), np.int64)
    spmdvm.kernel(**options)(one_by_one)(x, out)
    assert (out == x.astype(np.int64)).all()
    assert (spmdvm.kernel(**options)(cut)(x) == out).all()


@pytest.mark.parametrize("options", [{"engine": "interp", "width": 4}, {"width": 1}, {}], ids=str)
def test_remainders_of_what_is_near(options):
    def turned(n: int, out):
        for i in spmdvm.foreach(n):
            out[0, i] = i % n
            out[1, i] = (i + 1) % n
            out[2, i] = (i - 1) % n
            out[3, i] = (i - 7) % n
            for d in range(-6, 6):
                out[4, i] += (i + d) % n * (d + 10)

    kernel = spmdvm.kernel(**options)(turned)
    for n in (0, 1, 2, 3, 4, 7, 50):
        out, i = np.zeros((5, 50), np.int64), np.arange(n)
        kernel(n, out)
        want = [i % n, (i + 1) % n, (i - 1) % n, (i - 7) % n, sum((i + d) % n * (d + 10) for d in range(-6, 6))]
        assert (out[:, :n] == np.array(want)).all() and not out[:, n:].any()
