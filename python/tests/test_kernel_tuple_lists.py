"""Lists of tuples in kernels are those of Python: what they hold, loops over them, and what takes none."""

from typing import NamedTuple

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_made import check

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
KERNELS = []


class Point(NamedTuple):
    i: int
    x: float


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def appended(a):
    xs = []
    for i, v in enumerate(a):
        if v > 2:
            xs.append((i, v))
    s = 0.0
    for i, v in xs:
        s += i * v
    return s, len(xs), xs[0][1], xs[-1][0]


@kernel
def depth_first(a):
    stack = [(0, 0)]
    total, deepest = 0.0, 0
    while stack:
        node, depth = stack.pop()
        total += a[node] * depth
        deepest = max(deepest, depth)
        for child in (2 * node + 1, 2 * node + 2):
            if child < len(a):
                stack.append((child, depth + 1))
    return total, deepest


@kernel
def gone_over(a):
    xs, n = [], 0
    for i in range(len(a)):
        xs.append((i, (a[i], i * 2)))
    for k, (i, (v, w)) in enumerate(xs):
        n += k * i + w
        xs[k] = (i + 1, (v * 2, n))
    s = 0.0
    for (i, (v, w)), y in zip(xs, a):
        s += i * v + w * y
    t = xs[2]
    i, (v, w) = xs[-1]
    ys = [v + w for i, (v, w) in xs if i > 2]
    return s, n, t, i, v, w, ys, sum(w for i, (v, w) in xs), np.array([v for _, (v, _) in xs]), t[1][0]


@kernel
def other_ways(a):
    xs = [(0, 1.0), (2, 3.5)]
    xs += [(3, a[0])]
    xs.extend([(4, a[1]), (5, a[2])])
    ys = [(1, 2.0)] * 3
    ys.extend(xs)
    zs = [(i, v * 2) for i, v in ys if v > 1]
    n = len(zs)
    xs.clear()
    if not xs:
        n += 100
    xs.append((7, 1.0))
    return n, xs[0], zs[n - 101], zs[0], [v for i, v in zs], [i for i, v in ys]


@kernel
def points(a):
    ps = []
    for i in range(len(a)):
        ps.append(Point(i, a[i]))
    best = ps[0]
    for p in ps:
        if p.x > best.x:
            best = p
    last = ps.pop()
    return best.i, best.x, ps[0].x, ps[len(ps) - 1].i, last.x, len(ps)


@kernel
def read_before_it_is_filled(a):
    todo = []
    s, n = 0.0, 0
    while n < 5:
        for i, v in todo:
            s += i * v
        todo.append((n, a[n]))
        n += 1
        if n > 2:
            continue
        for k in range(n):
            xs = []
            if len(xs) > 0 and xs[-1][0] > 1:
                s += 1
            xs.append((k, n))
            s += xs[0][1]
    return s


@kernel
def in_functions(a):
    def halved(x):
        st = [(x, 1)]
        s = 0.0
        while len(st) > 0:
            y, n = st.pop()
            s += y * n
            if n < 4:
                st.append((y / 2, n + 1))
        return s

    return halved(a[0]) + halved(a[1])


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_lists_of_tuples_are_those_of_python(function, options):
    check(function, A, **options)


def test_elements_read_lists_of_tuples():
    def of_elements(a, out):
        xs = []
        for i in range(len(a)):
            xs.append((i, a[i]))
        for k in spmdvm.foreach(len(out)):
            j, v = xs[k]
            out[k] = v * 2 + j + xs[len(xs) - 1 - k][0]

    out = np.zeros(7)
    spmdvm.kernel(of_elements)(A, out)
    assert np.array_equal(out, A * 2 + 6)


def test_indices_of_lists_of_tuples_are_tested():
    def kernel(a, k):
        xs = []
        xs.append((1, a[0]))
        xs.append((2, a[1]))
        xs.pop()
        return xs[k][1]

    assert spmdvm.kernel(kernel)(A, 0) == 3
    with pytest.raises(IndexError):
        spmdvm.kernel(kernel)(A, 1)


def numbers_and_tuples(a):
    xs = []
    xs.append((1, a[0]))
    xs.append(2)  # HERE `xs` has numbers in one place and tuples in another
    return len(xs)


def tuples_and_numbers(a):
    xs = []
    xs.append(2)
    xs.append((1, a[0]))  # HERE `xs` has numbers in one place and tuples in another
    return len(xs)


def of_other_tuples(a):
    xs = []
    xs.append((1, a[0]))
    xs.append((1, a[0], 2))  # HERE `xs` has other tuples in another place
    return len(xs)


def summed(a):
    xs = []
    xs.append((1, a[0]))
    return np.sum(xs)  # HERE this takes no list of tuples in a kernel


def parts_stored_to(a):
    xs = []
    xs.append((1, a[0]))
    xs[0][0] = 3  # HERE `xs[0]` is a tuple, whose parts do not change
    return len(xs)


@pytest.mark.parametrize(
    "function",
    [
        numbers_and_tuples, tuples_and_numbers, of_other_tuples, summed, parts_stored_to,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)
