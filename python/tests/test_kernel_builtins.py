"""`sum`, `min`, `max`, `any` and `all` of arrays go over their elements in order, as Python's do."""

import numpy as np
import pytest
import spmdvm

ARRAYS = [
    np.array([3, 1, 4, 1, 5]),
    np.array([0.1, 1e16, -1e16, 0.3, 0.7]),
    np.array([0.1, 0.2, 0.3, -0.7, 1e7], np.float32),
    np.array([200, 100, 3, 7, 0], np.uint8),
    np.array([True, False, True, True, False]),
    np.array([np.nan, 1.0, -2.0, np.nan, -0.0]),
    np.array([1.0, np.nan, 0.0, -0.0, 2.0]),
]


def of_arrays(a):
    return sum(a), min(a), max(a), any(a), all(a)


def of_parts(a):
    total = sum(a[1:])
    for i in range(3):
        total += max(a[i:]) - min(a[: i + 1]) * sum(a[i::2])
    return total, any(a[4:]), all(a[:1])


def of_what_is_computed(a):
    return sum(a * 2), max(a * a), min(abs(a)), any(a > 3), all(a != 4), sum(a > 1)


def of_lists(a):
    xs = [v for v in a if v > 0]
    xs.append(a[0])
    return sum(xs[1:]), max(xs[:2]), any(xs[3:])


def of_nothing(a):
    return sum(a[:0]), any(a[5:]), all(a[5:])


OF_ALL = [of_arrays, of_nothing]
# (numpy does not subtract bools.)
OF_NUMBERS = [of_parts, of_what_is_computed, of_lists]
CASES = [(function, a) for a in ARRAYS for function in OF_ALL + OF_NUMBERS * (a.dtype != bool)]


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize(("function", "a"), CASES)
def test_they_are_those_of_python(function, a, options):
    with np.errstate(over="ignore"):
        expected = function(a)
    found = spmdvm.kernel(**options)(function)(a)
    for one, other in zip(found, expected):
        assert np.array_equal(one, other, equal_nan=True) and np.signbit(one) == np.signbit(other), (found, expected)


def test_elements_have_sums_of_rows():
    def rows(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = sum(m[i]) + max(m[i])

    m, out = np.arange(12).reshape(3, 4) * 7 % 13, np.zeros(3, int)
    spmdvm.kernel(rows)(m, out)
    assert out.tolist() == [sum(row) + max(row) for row in m.tolist()]


def test_nothing_has_no_extreme():
    with pytest.raises(ValueError, match=r"min\(\) iterable argument is empty"):
        spmdvm.kernel(lambda a: min(a[2:2]))(np.arange(3))
