"""`round` and `np.round` with digits have the bits of Python and of numpy."""

import random

import numpy as np
import pytest
import spmdvm
from marks import assert_told

RNG = np.random.default_rng(5)
HALVES = np.arange(-2000, 2001) / 200
NUMBERS = np.concatenate(
    [
        HALVES,
        np.nextafter(HALVES, 99),
        np.nextafter(HALVES, -99),
        RNG.normal(size=3000) * 10.0 ** RNG.integers(-9, 19, 3000),
        [2.675, 1.005, -0.0, 0.0, np.nan, np.inf, -np.inf, 2.0**53, 2.0**52 + 0.5, 1e300, 5e-324, 0.5, 1.5, 2.5],
    ]
)


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    view = np.dtype(f"u{a.dtype.itemsize}")
    # (NaNs are one.)
    assert np.array_equal(np.where(np.isnan(a), 0, a).view(view), np.where(np.isnan(b), 0, b).view(view))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("digits", [0, 1, 2, 7, -1, -3])
@np.errstate(all="ignore")
def test_numbers_of_numpy_are_rounded_as_numpy_does(dtype, digits):
    x = NUMBERS.astype(dtype)

    @spmdvm.kernel
    def constant(x):
        return np.round(x, digits), np.around(x, decimals=digits), round(x, digits), x.round(digits)

    @spmdvm.kernel
    def computed(x, n: int):
        return np.round(x, n), round(x, ndigits=n)

    expected = np.round(x, digits)
    for found in (*constant(x), *computed(x, digits)):
        same(found, expected)


def test_floats_of_python_are_rounded_as_python_does():
    @spmdvm.kernel
    def rounded(x: float, n: int):
        return round(x, 2), round(x, n)

    for x in [*NUMBERS.tolist(), *(random.Random(3).randrange(10**6) / 2000 for _ in range(500))]:
        for n in (-20, -2, 0, 1, 3, 15, 22):
            same(np.array(rounded(x, n)), np.array([round(x, 2), round(x, n)]))
    assert rounded(2.675, 2) == (2.67, 2.67) and np.round(2.675, 2) == 2.68


def test_elements_of_arrays_and_of_lists():
    @spmdvm.kernel
    def both(a):
        xs = [0.0]
        for k in range(20):
            xs.append(k * 0.005)
        return np.round(a * 2, 1), [round(x, 2) for x in xs], round(len(xs), 1)

    x = HALVES[:200]
    found = both(x)
    same(found[0], np.round(x * 2, 1))
    assert found[1] == [0.0, *(round(k * 0.005, 2) for k in range(20))] and found[2] == 21


def test_bounds_are_given_by_name():
    clipped = spmdvm.kernel(lambda x: np.clip(x, a_max=1.5, a_min=-0.5))
    same(clipped(HALVES), np.clip(HALVES, -0.5, 1.5))


def test_integers_stay_what_they_are():
    for dtype in (np.int8, np.uint64):
        x = np.arange(100).astype(dtype)
        assert spmdvm.kernel(lambda x: round(x, 2))(x).dtype == dtype


def half_digits(x):
    return np.round(x, 1.5)  # HERE the number of digits is an integer


def integers_to_tens(x):
    return round(int(x), -1)  # HERE this rounds integers, to digits from 0 on


def too_many(x):
    return round(x, 400)  # HERE numbers are rounded to 22 digits at most in a kernel


@pytest.mark.parametrize("function", [half_digits, integers_to_tens, too_many], ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(HALVES), function)


def test_too_many_digits_trap():
    with pytest.raises(spmdvm.Trap, match="numbers are rounded to 22 digits"):
        spmdvm.kernel(lambda x, n: round(x, n))(HALVES, 23)
