"""Dicts and sets of Python that array kernels are passed: read as in Python, and only read."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_dicts import A, in_order, outcome


def looked_up(d, a):
    s = 0.0
    for x in a:
        s = s * 0.5 + d.get(x, 0.25)
        if x in d:
            s += d[x]
    return s, len(d), sorted(d), max(d.values())


def copied(d):
    n = 0
    for k, v in d.items():
        n = 3 * n + k * v
    e = d.copy()
    e[100] = 1
    return n, e


def by_pairs(d, a):
    return [d[x, 1] for x in a if (x, 1) in d], d


def members(s, a):
    return [x for x in a if x in s], sorted(s | {77})


def annotated(d: dict[int, float], s: set) -> float:
    t = 0.0
    for k in d:
        if k in s:
            t += d[k]
    return t


def counted(c):
    return c[12345], c[3], len(c)


def handed_on(d, a):
    def found(places, x):
        return places[x] if x in places else -1.0  # noqa: SIM401

    s = 0.0
    for x in a:
        s = s * 0.5 + found(d, x)
    return s


def kind(x):
    if isinstance(x, (dict, set)):
        return len(x) * 10 + isinstance(x, set)
    return x


CASES = [
    (looked_up, {3: 1.5, 9: 2.0}, A), (looked_up, {3: 1, 9: 2.5}, A), (looked_up, {np.int64(3): 1.5}, A),
    (copied, {1: 2, 5: 6, 3: 1}), (copied, {}), (by_pairs, {(3, 1): 0.5, (5, 1): 2.5, (9, 0): 1.0}, A),
    (members, {3, 5}, A), (members, frozenset({3}), A), (annotated, {1: 0.5, 2: 0.25}, {2, 3}),
    (counted, Counter(A.tolist())), (handed_on, {3: 0.5, 1: 2.0}, A), (handed_on, defaultdict(float, {3: 0.5}), A),
    (kind, {1: 2}), (kind, {1}), (kind, 1),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__} {type(case[1]).__name__}")
def test_dicts_of_python_are_read(case):
    function, *args = case
    kernel = spmdvm.kernel(function)
    for _ in range(2):
        assert outcome(kernel, *args) == outcome(function, *args)


def test_each_call_has_what_is_passed():
    kernel, draw = spmdvm.kernel(fp="strict")(copied), random.Random(7)
    for _ in range(50):
        d = {draw.randrange(-20, 20): draw.randrange(9) for _ in range(draw.randrange(30))}
        assert in_order(kernel(d)) == in_order(copied(d)) and 100 not in d


@pytest.mark.parametrize(
    "value, error, message",
    [
        ({1: "a"}, TypeError, "`d` has values of `str`"),
        ({1: 2, 2.5: 3}, TypeError, "`d` has keys of `float`, `int`"),
        ({(1, 2): 3, (1,): 4}, TypeError, "tuples of several lengths"),
        ({2**70: 1}, OverflowError, "`d` has keys of more than 64 bits"),
        ({float("nan"): 1}, ValueError, "`d` has a NaN among its keys"),
        ({1j: 1}, TypeError, "`d` has complex numbers as keys"),
    ],
)
def test_what_is_not_taken_is_told(value, error, message):
    with pytest.raises(error, match=message):
        spmdvm.kernel(copied)(value)


def bump(d, k):
    d[k] = 1


def changed(d):
    d[1] = 2  # HERE the dict `d` is passed, and only read by a kernel
    return len(d)


def changed_by_a_function(d):
    bump(d, 1)  # HERE the dict `d` is passed, and only read by a kernel
    return len(d)


def emptied(d):
    d = {}  # HERE the dict `d` is passed, and only read by a kernel
    d[1] = 2
    return len(d)


@pytest.mark.parametrize("function", [changed, changed_by_a_function, emptied], ids=lambda f: f.__name__)
def test_changes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)({1: 3}), function)
