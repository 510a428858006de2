"""Tuples as values in kernels: in variables, parameters and results, nested, and those whose parts have names."""

import copy
import math
import pickle
from typing import NamedTuple

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0])


class Point(NamedTuple):
    x: float
    y: float = 3.0


class Line(NamedTuple):
    a: Point
    b: Point


class Window(NamedTuple):
    values: np.ndarray
    n: int


ORIGIN = Point(1.0, 2.0)
CORNERS = (Point(1.0, 2.0), Point(3.0, 4.0), Point(5.0, -1.0))


def swapped(p):
    return p[1], p[0]


def nested(a):
    return (a[0], a[1]), a[2]


def of_nested(p):
    (x, y), z = p
    return x + 10 * y + 100 * z


def length(p):
    return math.sqrt(p.x * p.x + p.y * p.y)


def middle(line):
    return Point((line.a.x + line.b.x) / 2, (line.a.y + line.b.y) / 2)


def fibonacci(p, n):
    if n == 0:
        return p
    x, y = p
    return fibonacci((y, x + y), n - 1)


def times(t, i):
    values, factor = t
    return values[i] * factor


def store(t, i):
    t[0][i] = 5.0


def total(w):
    s = 0.0
    for i in range(w.n):
        s += w.values[i]
    return s


def doubled(a):
    return a * 2, (a[0], a[1])


def variables(a):
    p = (a[0], a[1])
    x, y = p
    q = swapped(swapped(swapped(p)))
    p = (p[1], p[0])
    return x + 2 * y + p[0] - p[-1] + len(q), q, p


def in_loops(a):
    best, p = (1e9, -1), Point(0.0, 1.0)
    for i in range(len(a)):
        if abs(a[i] - 2.5) < best[0]:
            best = (abs(a[i] - 2.5), i)
        p = Point(p.y, p.x + a[i])
    return best, p


def nested_ones(a):
    p = ((a[1], a[2]), a[3])
    (x, y), z = nested(a)
    r = nested(a)
    return of_nested(p), of_nested(((1, 2), 3)), x + y + z, r[0][1], p[0]


def in_branches(a):
    if a[0] > 3:
        p = (a[0], (1, 2))
    elif a[1] > 0:
        p = (a[1], (3, 4))
    else:
        p = (0.0, (5, 6))
    q = (a[0], 1.0) if a[1] > 0 else (a[2], 2.0)
    return p, q


def named(a):
    p, q = Point(a[0], a[1]), Point(x=a[2])
    line = Line(p, Point(y=a[3], x=1.0))
    line = line._replace(b=q._replace(y=7.0))
    x, y = line.b
    m = middle(line)
    return length(p) + length(line.a) + m.x + middle(line).y + m[1] + x + y, line, m


def constants_of_outside(a):
    o, s = ORIGIN, 0.0
    for p in CORNERS:
        s += p.x * a[0] + p.y
    for i in range(len(CORNERS)):
        s += CORNERS[i].x * a[i] + CORNERS[i][1]
    return s + o.x + ORIGIN.y


def operators(a):
    p, q = (a[0], a[1]), (a[0], a[2], 1)
    r = p + q[1:] + (1,) * 2 + a.shape
    return r, p < q, q < p, p <= p, p == (a[0], a[1]), p > (a[0], 0), min(p, (1, 2)), max(p, (9, 1), (9, 0)), 1.0 in p


def made_of_others(a):
    t = tuple((a[0], a[1]))
    return t, tuple(a.shape), np.array(t), np.sum(t) + np.max(t), np.array((t, t)), len(tuple())


def as_indices(a):
    m, p = np.zeros((3, 3)), (1, 2)
    m[p] = a[0]
    m[p] += 1
    return m[p] + m[1, 2], m


def of_arrays(a):
    t, w = (a, a[1] + 1), Window(a, 3)
    store(t, 1)
    t[0][2] = 9.0
    t[0][3] += 1
    w.values[0] = 100.0
    return times(t, 2) + t[0][1] + np.sum(t[0]) + total(w) + len(w.values)


def arrays_in_results(a):
    b, (x, y) = doubled(a)
    w = Window(a + 1, 3)
    return doubled(a), (b, x), w, ((y, w.values), 1)


def recursive(a):
    return fibonacci((a[0], a[1]), 10)


def captured(a):
    p = ((a[0], 2.0), a[1])

    def line(x):
        return p[0][0] * x + p[0][1] + p[1]

    return line(2.0) + line(3)


@pytest.mark.parametrize(
    "function",
    [
        variables, in_loops, nested_ones, in_branches, named, constants_of_outside, made_of_others, as_indices,
        of_arrays, arrays_in_results, recursive, captured, operators,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_tuples_are_those_of_python(function):
    expected, given = function(own := A.copy()), A.copy()
    assert_same(spmdvm.kernel(function)(given), expected)
    assert (given == own).all()


def of_numbers(p, a):
    x, y = p
    return a[x] + y + a[p[0]]


def of_tuples(p, a):
    (x, y), q = p
    p = ((4, y + 1), q)
    return a[x] + y + q[0] * q[1] + p[0][1], p


def of_names(p, a):
    return p.x * a[1] + p.y, p, p._replace(x=0.5)


def of_lines(line, a):
    return line.a.x + line.b.y * a[0], line.b, middle(line)


def of_types(p, a):
    return p[0] + a[0], p[1], p[2] * 2, p[3] + 1, p[4] * a[0]


def gone_over(p, a):
    s = 0.0
    for k, x in enumerate(p):
        s += k * x * a[k]
    for x, y in zip(p, a):
        s += x * y
    for i in range(len(p)):
        s += p[i] * a[i]
    return s + np.sum(p) + max(p), np.array(p) * 2


def as_arrays(p, a):
    b = a[:3] * p + 1
    a[1:4] = p - a[:3]
    return b, a, np.dot(p, a[:3]), np.median(p), np.mean(p), np.interp(2.5, p, a[:3])


def as_shape(shape, a):
    out = np.full(shape, a[2])
    for i in range(shape[0]):
        out[i, 0] = i
    return out


def compared(p, a):
    return a[0] if p == (1, 2) else a[1]


@pytest.mark.parametrize(
    "function, argument",
    [
        (of_numbers, (1, 2.5)), (of_numbers, (2, 1)), (of_tuples, ((1, 2), (3.0, 4))), (of_names, Point(1.0, 2.0)),
        (of_names, Point(2)), (of_lines, Line(Point(1.0, 2.0), Point(3.0))),
        (of_types, (1.0, True, np.float32(2.5), np.int8(3), 1 + 2j)), (gone_over, (2, 3)), (gone_over, (1.5, 2.5, 3)),
        (as_arrays, (1.0, 2.0, 4.0)), (as_shape, (2, 3)), (compared, (1, 2)), (compared, (1, 3)),
    ],
)  # fmt: skip
def test_kernels_take_tuples(function, argument):
    kernel = spmdvm.kernel(function)
    for _ in range(2):
        assert_same(kernel(argument, A.copy()), function(argument, A.copy()))


def test_a_tuple_of_another_form_or_types_is_another_instance():
    kernel = spmdvm.kernel(gone_over)
    for argument in ((2, 3), (2, 3.5), (2, 3, 4), (np.int8(2), 3), (2, 3)):
        assert_same(kernel(argument, A), gone_over(argument, A))
    assert len(kernel._instances) == 4


def test_many_numbers_are_an_array():
    def added(p, a):
        s = 0
        for i in range(len(p)):
            s += p[i]
        return s + a[0]

    assert spmdvm.kernel(added)(tuple(range(40)), A) == added(tuple(range(40)), A)


def test_annotations_of_tuples():
    @spmdvm.kernel
    def annotated(p: tuple[int, float], q: Point, a) -> tuple[float, tuple[int, np.float32]]:
        x, y = p
        return q.x * a[x] + y, (x, y)

    assert_same(annotated((1, 2.5), Point(2.0), A), (4.5, (1, np.float32(2.5))))

    @spmdvm.kernel
    def point(a) -> Point:
        return Point(a[0], a[1])

    assert_same(point(A), Point(3.0, 1.0))


def test_elementwise_kernels_take_tuples_for_all_elements():
    def along(t, line):
        dx, dy = line.b.x - line.a.x, line.b.y - line.a.y
        return Point(line.a.x + t * dx, line.a.y + t * dy)

    def scaled(t, p: tuple[float, int]):
        return t * p[0] + p[1]

    def apart(t, p):
        a, b = p
        return (a * t, (b, t)), t

    line, t = Line(Point(1.0, 2.0), Point(3.0)), np.linspace(0, 1, 7)
    kernel = spmdvm.kernel(along)
    assert kernel.is_elementwise and spmdvm.kernel(scaled).is_elementwise
    assert_same(kernel(t, line), along(t, line))
    assert_same(kernel(t, line, threads=2), along(t, line))
    assert_same(kernel(0.5, line), along(0.5, line))
    assert_same(spmdvm.kernel(scaled)(t, (2.5, 1)), scaled(t, (2.5, 1)))
    found = spmdvm.kernel(apart)(t, (2, 3))
    assert (found[0][0] == 2 * t).all() and (found[0][1][0] == 3).all() and (found[0][1][1] == found[1]).all()
    # What is not taken apart is an array, as before.
    assert spmdvm.kernel(lambda x, y: x + y)(np.arange(2), (2, 3)).tolist() == [2, 4]


def test_tuples_in_foreach():
    @spmdvm.kernel
    def nearest(points, lines):
        out = np.zeros((len(points), 2))
        for i in spmdvm.foreach(len(points)):
            best = (np.inf, (0.0, 0.0))
            for k in range(len(lines)):
                m = middle(Line(Point(lines[k, 0], lines[k, 1]), Point(lines[k, 2], lines[k, 3])))
                d = length(Point(m.x - points[i, 0], m.y - points[i, 1]))
                if (d, m) < best:
                    best = (d, (m.x, m.y))
            out[i] = best[1]
        return out

    rng = np.random.default_rng(1)
    points, lines = rng.random((20, 2)), rng.random((5, 4))
    middles = (lines[:, :2] + lines[:, 2:]) / 2
    distances = np.hypot(*(points[:, None] - middles).T)
    assert np.allclose(nearest(points, lines), middles[distances.T.argmin(axis=1)])


def test_kernels_with_tuples_are_sent_to_other_processes():
    class Own(NamedTuple):
        x: float
        y: float = 2.0

    @spmdvm.kernel
    def kernel(p: Own, a):
        q = Own(p.x * a[0])
        return q.x + q.y

    assert pickle.loads(pickle.dumps(kernel))(Own(3.0), A) == 11


def of_other_lengths(a):
    p = (a[0], a[1])
    p = (a[0], a[1], 1)  # HERE `p` has 2 values in one place and 3 in another
    return p[0]


def of_other_parts(a):
    p = (a[0], (a[1], 1))
    p = ((a[0], a[1]), 1)  # HERE `p` is another tuple here than in another place
    return p[1]


def other_results(a):
    if a[0] > 1:
        return Point(a[0], 1.0)
    return a[0], 1.0  # HERE this returns another tuple than other parts of the function


def no_such_field(a):
    p = Point(a[0], 1.0)
    return p.z  # HERE `p` has no `z`


def too_many_fields(a):
    return Point(a[0], 1.0, 2.0)  # HERE `Point` has 2 fields, x, y


def unknown_field(a):
    return Point(a[0], z=1.0)  # HERE `Point` has no field `z`


def missing_field(a):
    return Line(Point(a[0], 1.0))  # HERE `Line` has 2 fields, a, b


def repeated(a):
    return (a[0], 1.0) * len(a)  # HERE tuples have a constant number of values


def changed(a):
    p = (a[0], 1.0)
    p[0] = 2.0  # HERE `p` is a tuple, whose parts do not change
    return p


def order_of_a_number(a):
    return (a[0], 1.0) < 3  # HERE a tuple and a number have no order


def tuple_of_an_array(a):
    return tuple(a)  # HERE `tuple` takes a tuple in a kernel


@pytest.mark.parametrize(
    "function",
    [
        of_other_lengths, of_other_parts, other_results, no_such_field, too_many_fields, unknown_field, missing_field,
        repeated, changed, order_of_a_number, tuple_of_an_array,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)


def test_tuples_of_something_else_are_refused():
    with pytest.raises(TypeError, match=r"^of_names\(\): `p` has no type of kernels: a tuple with a `str` in it"):
        spmdvm.kernel(of_names)(Point("a", 1), A)
    with pytest.raises(TypeError, match=r"a tuple with a `ndarray` in it; pass its parts one by one"):
        spmdvm.kernel(of_names)(Point(A, 1), A)


def assert_same(found, expected):
    """Assert that results are the same, of the same classes."""
    if isinstance(expected, tuple):
        assert type(found) is type(expected) and len(found) == len(expected)
        for part, own in zip(found, expected):
            assert_same(part, own)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and np.allclose(found, expected)
    else:
        assert np.isclose(copy.copy(found), expected)


def test_numbers_that_array_kernels_return_are_those_of_python():
    class Found(NamedTuple):
        value: float
        place: int
        mean: float

    @spmdvm.kernel
    def largest(a):
        k = 0
        for i in range(len(a)):
            if a[i] > a[k]:
                k = i
        return Found(a[k], k, np.mean(a))

    @spmdvm.kernel
    def several(a):
        return a[0], len(a), 1.5, (len(a) / 2, 2j), a * 2

    # Each as in Python: counters and lengths are ints, what comes of elements is numpy's.
    for dtype in (np.int8, np.uint64, np.float16, np.float32, np.float64):
        b = A.astype(dtype)
        found = largest(b)
        assert found == (5, 4, np.mean(b)) and [type(x) for x in found] == [dtype, int, np.mean(b).dtype.type]
        first, n, fixed, (half, z), doubled = several(b)
        assert (first, n, fixed, half, z, doubled.dtype) == (3, 5, 1.5, 2.5, 2j, dtype)
        assert [type(x) for x in (first, n, fixed, half, z)] == [dtype, int, float, float, complex]
