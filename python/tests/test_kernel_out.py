"""`out=` of numpy's functions of elements stores in kernels what it stores in numpy."""

import numpy as np
import pytest
import spmdvm
from ways import EVERY_WAY

rng = np.random.default_rng(13)


def check(function, given, options, rtol=0.0):
    """Compare a kernel with the function run by Python, in what it returns and in what it does to its arguments."""
    own = [np.copy(each) for each in given]
    found, expected = spmdvm.kernel(**options)(function)(*own), function(*given)
    pairs = list(zip(own, given))
    if expected is not None:
        pairs += zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
    for mine, theirs in pairs:
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        assert np.allclose(mine, theirs, rtol, 0, equal_nan=True), (mine, theirs)


def sums(a, b, c):
    np.add(a, b, out=c)
    np.subtract(c, 1, out=c)
    np.multiply(a, c, c)
    np.maximum(c, a[0] if len(a) > 5 else b[0], out=(c,))


def moved(a, b, c):
    np.add(a[:-1], b[1:], out=a[1:])
    np.clip(a, 1, 3, out=b)
    np.negative(b[::-1], out=c)
    np.fmax(a, c, out=a[::-1])


def flags(a, b, c):
    np.less(a, b, out=c)
    np.logical_not(c, out=c)
    np.square(3, out=b)


@EVERY_WAY
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_stores_of_elements(dtype, options):
    for function in (moved, flags):
        for n in (0, 1, 2, 17, 100):
            check(function, [rng.integers(0, 9, n).astype(dtype) for _ in range(3)], options)
    for n in (1, 17, 100):
        check(sums, [rng.integers(0, 9, n).astype(dtype) for _ in range(3)], options)


@EVERY_WAY
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stores_of_floats(dtype, options):
    def roots(a, b):
        np.sqrt(a, out=a)
        np.round(a, 1, out=b)
        np.hypot(a, b, out=a)

    for n in (0, 1, 17, 100):
        a = (10 * rng.random(n)).astype(dtype)
        a[:1] = np.nan
        check(roots, [a, a.copy()], options, 1e-6)


@EVERY_WAY
def test_types_that_are_converted_as_numpy_does(options):
    def kinds(a, small, single, wide, flag):
        np.add(a, 1, out=small)
        np.divide(a, 3, out=single)
        np.left_shift(a, 2, out=wide)
        np.greater(a, 4, out=flag)
        np.bitwise_and(a, 1, out=single)

    a = rng.integers(0, 9, 33)
    check(kinds, [a, *(np.zeros(33, ty) for ty in (np.int16, np.float32, np.complex128, np.bool_))], options)


@EVERY_WAY
def test_what_is_given_is_what_out_is(options):
    def named(a, b):
        c = np.empty_like(a)
        d = np.add(a, b, out=c)
        d[0] = -1
        b[1:] = np.add(a[1:], 0, out=a[1:])
        e = np.multiply(a, 2, out=None)
        return c, e

    def returned(a, b):
        return np.subtract(a, b, out=b)

    check(named, [rng.random(9), rng.random(9)], options)
    check(returned, [rng.random(9), rng.random(9)], options)


def helper(x, y, out):
    np.add(x, y, out=out)


@EVERY_WAY
def test_stores_in_loops_branches_functions_and_rows(options):
    def several(m, row, total):
        np.add(row, 1, out=m[1:])
        for i in range(len(m)):
            np.add(total, m[i], out=total)
            if i % 2 == 1:
                np.negative(m[i], out=m[i])
        helper(total, row, out=total)
        np.matmul(m, m.T, out=m[:, : len(m)])
        np.add(m.T, 1, out=m.T)
        for i in spmdvm.foreach(len(m)):
            np.multiply(m[i], row, out=m[i])

    def in_python(m, row, total):
        np.add(row, 1, out=m[1:])
        for i in range(len(m)):
            np.add(total, m[i], out=total)
            if i % 2 == 1:
                np.negative(m[i], out=m[i])
        helper(total, row, out=total)
        m[:, : len(m)] = m @ m.T
        m += 1
        m *= row

    m, row, total = (rng.random(shape) for shape in ((4, 6), 6, 6))
    own = [m.copy(), row.copy(), total.copy()]
    spmdvm.kernel(**options)(several)(*own)
    in_python(m, row, total)
    for mine, theirs in zip(own, (m, row, total)):
        np.testing.assert_allclose(mine, theirs, 1e-12)


@EVERY_WAY
def test_a_parameter_that_becomes_another_array_is_changed_before(options):
    def halved(a, n):
        np.add(a, 1, out=a)
        b = a * 1
        for _ in range(3):
            np.add(b, a, out=b)
            b = b * 0.5
        return b

    check(halved, [rng.random(7), np.arange(3)], options, 1e-12)


def test_other_lengths_trap():
    kernel = spmdvm.kernel(helper)
    with pytest.raises(AssertionError, match="equal lengths"):
        kernel(np.zeros(3), np.zeros(3), np.zeros(4))
    with pytest.raises(AssertionError, match="equal lengths"):
        kernel(np.zeros(3), np.zeros(3), np.zeros(1))
