"""`isinstance` and `type(x)` of parameters are decided when a kernel is compiled, as in Python."""

from collections.abc import Iterable
from numbers import Integral

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([5.0, 6.0, 2.5])
NUMBERS = (int, float)


def total(x, y):
    if isinstance(x, (int, float)):
        return x * y
    return np.sum(x) * y


def halved(x):
    if type(x) is float:
        return x / 2
    elif type(x) == int:  # noqa: E721
        return x // 2
    return x * 2


def one_of_many(v):
    if isinstance(v, np.ndarray):
        return v[0]
    if isinstance(v, tuple):
        return v[1]
    if type(v) in (int, np.int64):
        return v + 1
    return v * 0.5


def of_functions(a):
    return one_of_many(a) + one_of_many((1, 2.5)) + one_of_many(len(a)) + one_of_many(a[0]) + one_of_many(3.0)


def weighed(x, w=None):
    if w is None:
        return x
    if isinstance(w, np.ndarray):
        return x * w[0]
    return x * w


def assigned_then(x):
    if not isinstance(x, float):
        x = float(x)
    return x / 3


def in_a_loop(x, n: int):
    s = 0.0
    for k in range(n):
        s += x if isinstance(x, float) and x > 1 else k
    return s


def kind(x):
    if isinstance(x, bool):
        return 1
    if isinstance(x, int | np.integer):
        return 2 if isinstance(x, Integral) else 3
    return 4 if isinstance(x, NUMBERS) else 5


def of_lists(a):
    def size(x):
        if isinstance(x, list):
            x.append(1.0)
            return len(x) * 1000
        if isinstance(x, dict):
            return len(x) * 100
        return 10 if isinstance(x, set) else 1

    xs = []
    for v in a:
        xs.append(v)
    return size(xs) + size({1: 2}) + size({3}) + size(3)


CASES = [
    (total, 2, 3), (total, 2.5, 3), (total, A, 3), (halved, 5), (halved, 5.0), (halved, np.int8(5)),
    (halved, np.float64(5)), (of_functions, A), (weighed, 2), (weighed, 2, 3), (weighed, 2, A), (assigned_then, 4),
    (assigned_then, 4.5), (in_a_loop, 2.5, 3), (in_a_loop, 2, 3), (in_a_loop, 0.5, 3), (kind, True), (kind, 4),
    (kind, np.uint8(4)), (kind, 4.0), (kind, np.float32(4)), (kind, np.float64(4)), (of_lists, A),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__} {type(case[-1]).__name__}")
def test_types_are_those_of_python(case):
    function, *args = case
    assert spmdvm.kernel(function)(*args) == function(*args)


def test_elements_are_numpys():
    @spmdvm.kernel
    def kinds(x):
        return 1 if isinstance(x, int) else 2 if isinstance(x, np.floating) else 3

    assert kinds(np.arange(3)).tolist() == [3, 3, 3] and kinds(np.arange(3.0)).tolist() == [2, 2, 2]
    assert kinds(7) == 1


def variable(x):
    y = x * 2
    if isinstance(y, float):  # HERE of which type `y` is in Python is not known
        return 1
    return 0


def assigned_before(x):
    x = x + 1
    return 1 if type(x) is int else 0  # HERE of which type `x` is in Python is not known


def a_list_that_is_passed(x):
    if isinstance(x, list):  # HERE `x` is an array in a kernel, also if a list is passed
        return 1
    return x[0]


@pytest.mark.parametrize(
    "function, value",
    [(variable, 1.0), (assigned_before, 1), (a_list_that_is_passed, [1, 2])],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_is_not_known_is_told(function, value):
    assert_told(lambda: spmdvm.kernel(function)(value), function)


def test_what_may_be_gone_over():
    @spmdvm.kernel
    def first(x):
        return x[0] if isinstance(x, Iterable) else x

    assert first(A) == 5.0 and first(3.5) == 3.5
