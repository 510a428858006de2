"""Functions and kernels that return None in one way and a value in another do so as in Python."""

from typing import NamedTuple, Optional

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])


class Found(NamedTuple):
    at: int
    value: float


def first(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return i
    return None


def first_pair(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return i, a[i]


def least(a, limit):
    best = None
    for v in a:
        if v > limit and (best is None or v < best):
            best = v
    return best


def least_of_pairs(a, limit):
    best = None
    for pair in enumerate(a):
        if pair[1] > limit and (best is None or pair[1] < best[1]):
            best = pair
    return best


def passed_on(a, limit):
    if limit < 0:
        return None
    return first(a, limit)


def chosen(a, limit):
    return a[0] if limit > 2 else None


def named(a, limit):
    for i in range(len(a)):
        if a[i] > limit:
            return Found(i, a[i])
    return None


def annotated(a, limit: float) -> Optional[float]:
    if limit > 2:
        return None
    return a[0]


def bounded(a, low, high, x):
    if low >= high:
        return None
    middle = (low + high) // 2
    if a[middle] == x:
        return middle
    if a[middle] < x:
        return bounded(a, middle + 1, high, x)
    return bounded(a, low, middle, x)


def asked(a, limit):
    total, k, pair = 0.0, first(a, limit), first_pair(a, limit)
    if k is not None:
        total += a[k]
    if pair is None:
        total += 1000
    else:
        i, v = pair
        total += i * v
    best = least(a, limit)
    if best:
        total += best
    other, one, three = passed_on(a, limit), chosen(a, limit), named(a, limit)
    if three is not None:
        total += three.value
    if one is not None and one > 1:
        total += one
    return total, other if other is not None else -5


def asked_in_a_loop(a, limit):
    n, k = 0, first(a, limit)
    while k is not None:
        n += k + 1
        limit = limit + 1
        k = first(a, limit)
    return n


def asked_of_a_kernel(a, limit):
    k = compiled_first(a, limit)
    if k is None:
        return -1
    return k


compiled_first = spmdvm.kernel(first)


def asked_of_one_within(a, limit):
    def place(x):
        for i in range(len(a)):
            if a[i] == x:
                return i

    n = 0
    for x in (1.0, 2.5, limit):
        k = place(x)
        n = n * 10 + (9 if k is None else k)
    return n


def sought(a, limit):
    return bounded(np.sort(a), 0, len(a), limit + 2)


FUNCTIONS = [
    first, first_pair, least, least_of_pairs, passed_on, chosen, named, annotated, asked, asked_in_a_loop,
    asked_of_a_kernel, asked_of_one_within, sought,
]  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_none_is_returned_as_in_python(function, options, monkeypatch):
    compiled = spmdvm.kernel(**options)(function)
    limits = (2.0, 100.0, -1.0, 4.5, 7.0)
    found = [compiled(A, limit) for limit in limits]
    monkeypatch.setitem(globals(), "compiled_first", first)
    expected = [function(A, limit) for limit in limits]
    assert found == expected
    assert [type(each) is Found for each in found] == [type(each) is Found for each in expected]


def test_elements_ask_for_none():
    def doubled(x):
        if x < 3:
            return None
        return x * 2

    def of_elements(a, out):
        for i in spmdvm.foreach(len(a)):
            x = doubled(a[i])
            out[i] = -1 if x is None else x

    @spmdvm.kernel
    def factor(n):
        k = divisor(n)
        if k is None:
            return -1
        return k

    out = np.zeros(7)
    spmdvm.kernel(of_elements)(A, out)
    assert out.tolist() == [6, -1, 8, -1, 10, 18, -1]
    assert factor(np.arange(4, 12)).tolist() == [2, -1, 2, -1, 2, 3, 2, -1]


def divisor(n):
    for k in range(2, n):
        if n % k == 0:
            return k
    return None


def test_none_where_a_number_is_needed_is_an_error_of_python():
    @spmdvm.kernel
    def behind(a, limit):
        k = first(a, limit)
        return k + 1

    assert behind(A, 3.5) == 3
    with pytest.raises(TypeError, match="k"):
        behind(A, 100.0)


def within_an_expression(a):
    return first(a, 2.0) + 1  # HERE what `first` returns may be None


def none_or_array(a):
    if a[0] > 100:
        return None
    return a * 2  # HERE this returns None, other parts of the function an array


def one_of_several(a):
    best = first(a, 2.0)
    return best, 1  # HERE `best` may be None here


@pytest.mark.parametrize("function", [within_an_expression, none_or_array, one_of_several], ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)
