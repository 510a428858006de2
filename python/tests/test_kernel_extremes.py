"""`min` and `max` with `key=` and `default=`, and of tuples, are those of Python."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
X = np.array([0.5, -2.5, 2.5, np.nan, -0.0, 0.0])
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


def away(x):
    return (x - 4) ** 2


@kernel
def of_arrays(a, x):
    n = 0
    for i in range(3):
        n += min(a[i:], key=away)
    return n, max(a, key=lambda v: -v), min(x, key=abs), max(x[4:], key=abs), max(x[:3], key=None)


@kernel
def of_lists(a, x):
    xs = [(v % 3, v) for v in a]
    n = max(v for v in a if v > 4)
    return max(xs), min(xs), max(xs, key=lambda p: p[1]), min(xs, key=lambda p: (p[0], -p[1])), n


@kernel
def of_several(a, x):
    best = max(-4, a[0], key=abs)
    return best, min(range(7), key=lambda k: (k - 3) ** 2), max((1, 2), (1, 3)), min((3, 1), (2, 5), key=lambda p: p[1])


@kernel
def of_nothing(a, x):
    return max((v for v in a if v > 100), default=-1), min((v for v in a if v > 4), default=-1)


@kernel
def of_pairs(a, x):
    i, v = max(enumerate(a), key=lambda p: p[1])
    j, w = min(enumerate(x), key=lambda p: abs(p[1] - 2))
    return i, v, j, w, min(zip(a, x), key=lambda p: p[0] + p[1] if p[1] == p[1] else 100.0)


@kernel
def in_conditions(a, x):
    n = 0
    for k in range(len(a)):
        if k > 0 and max(a[:k], key=away) > a[k]:
            n += k
    return n


@kernel
def empty(a, x):
    xs = [v for v in a if v > 100]
    return max(xs, key=abs)


def outcome(function):
    try:
        return function(A, X)
    except Exception as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins").__name__


def flat(value):
    return [part for each in value for part in flat(each)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_extremes_are_those_of_python(function, options):
    found, expected = outcome(spmdvm.kernel(**options)(function)), outcome(function)
    assert np.array_equal(*(np.array(flat(each), object) for each in (found, expected))), (found, expected)


def test_elements_have_some_of_their_own():
    near = spmdvm.kernel(lambda x, k: min((x - 1, x + k, 3), key=lambda v: abs(v - 2)))
    assert near(np.arange(8), 5).tolist() == [min((x - 1, x + 5, 3), key=lambda v: abs(v - 2)) for x in range(8)]

    def of_rows(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = max(m[i], key=lambda v: (v - 4) ** 2)

    m, out = np.arange(12).reshape(3, 4) * 7 % 13, np.zeros(3, int)
    spmdvm.kernel(of_rows)(m, out)
    assert out.tolist() == [max(row, key=lambda v: (v - 4) ** 2) for row in m]


def test_nothing_to_choose_from_is_told():
    with pytest.raises(ValueError, match=r"max\(\) iterable argument is empty in `empty`"):
        spmdvm.kernel(empty)(A, X)


def key_of_two(a):
    return max(a, key=lambda x, y: x)  # HERE takes 2 arguments


def another_keyword(a):
    return max(a, initial=3)  # HERE `max` takes `key=` and `default=`


def default_of_several(a):
    return max(a[0], a[1], default=3)  # HERE `max` of several values has no `default=`


@pytest.mark.parametrize("function", [key_of_two, another_keyword, default_of_several], ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)
