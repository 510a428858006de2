"""Arrays of comprehensions, numbers of them, and functions that return arrays, in kernels."""

import inspect
import textwrap

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0])
M = np.arange(12.0).reshape(4, 3)
EVEN = (2, 4, 6)


def doubled(a):
    b = np.array([a[i] * 2 for i in range(len(a))])
    return b, np.array([i * i for i in range(2, len(a))]), np.array([x + 1 for x in a], dtype=np.float32)


def over_values(a):
    pairs = np.array([x * y for x, y in zip(a, a[1:])])
    counted = np.array([k + i for k, i in zip(range(len(a)), (5, 6, 7))])
    return pairs, counted, np.array([k * a[0] for k in EVEN]), np.array([k for k in (1, 2, 3)])


def of_rows(a):
    m = np.array([[a[i] * a[j] for j in range(len(a))] for i in range(3)])
    rows = np.array([row[0] + row[1] for row in m])
    return m, rows, np.array([(x, -x, 1) for x in a]), np.array([x + y for x, y in [(1, 2), (3, 4)]])


def flat(a):
    return np.array([x * k for x in a for k in range(3)]), np.array(
        [[i + j + k for j in (1, 2) for k in a] for i in EVEN]
    )


def chosen(a):
    b = np.array([x * 2 for x in a if x > 1.2])
    c = np.array([i for i in range(len(a)) if a[i] > 2 if a[i] < 4.5])
    return b, len(b) + np.sum(b), c, np.array([i + k for i in range(3) for k in range(3) if i != k])


def within_expressions(a):
    i = 10
    total = np.sum(np.array([a[i] for i in range(3)])) + np.array([x for x in a])[2]
    return total + i, np.array([x * x for x in a]) / 2 + a, np.array([t for t in np.array([x + 1 for x in a])])


def numbers(a):
    shortest = min(abs(x - 2.5) for x in a)
    return (
        sum(x * x for x in a), sum([i for i in range(len(a))]), max([a[i] * 2 for i in range(3)]), shortest,
        any(x > 4 for x in a), all(x > 2 for x in a), sum(x > 2 for x in a), sum(x * y for x in a for y in a if x < y),
    )  # fmt: skip


def three_of(x):
    return np.array([x, x * 2, x * 3])


def turned(v):
    d = np.empty(3)
    for k in range(3):
        d[k] = v[2 - k]
    return d


def slope(state):
    x, y, z = state
    return np.array([y, z, -x])


def halves(v):
    return np.array([v[0], v[1]]), v[2]


def rotation(t):
    return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])


def either(v):
    if v[0] > 4:
        return np.array([1.0, 2.0])
    return np.array([v[0], v[1]])


def squares(v, n):
    return np.array([v[k] * v[k] for k in range(n)])


def to_rows(m):
    out, b = np.zeros((4, 3)), np.zeros((4, 3))
    for i in range(4):
        out[i] = three_of(m[i, 0])
        b[i, :] = turned(m[i])
        b[i] += 0.5 * three_of(m[i, 1]) - turned(three_of(1.0))
    return out, b


def steps(m):
    y = np.array([1.0, 2.0, 3.0])
    for i in range(1, 4):
        y = y + 0.1 * slope(y)
        m[i] = m[i - 1] + 0.1 * turned(m[i - 1])
    return y, m


def in_expressions(m):
    s = 0.0
    for i in range(4):
        b = three_of(m[i, 0])
        s += b[0] * b[2] + np.sum(three_of(m[i, 1]) * m[i]) + turned(m[i])[0]
    return s


@pytest.mark.parametrize(
    "function, argument",
    [
        *((function, A) for function in (doubled, over_values, of_rows, flat, chosen, within_expressions, numbers)),
        *((function, M) for function in (to_rows, steps, in_expressions)),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_comprehensions_and_arrays_of_functions_are_those_of_python(function, argument):
    assert_same(spmdvm.kernel(function)(argument.copy()), function(argument.copy()))


def test_lengths_that_are_passed():
    def counted(a, n):
        return np.array([a[0] * k for k in range(n)])

    def alone(n):
        b = np.array([k * k for k in range(1, n)])
        return np.sum(b)

    for n in (7, 1, 0, -2):
        # (An empty list has no type in numpy.)
        assert spmdvm.kernel(counted)(A, n).tolist() == [3.0 * k for k in range(n)]
        assert spmdvm.kernel(alone)(n) == sum(k * k for k in range(1, n))


def test_nothing_is_not_the_least():
    @spmdvm.kernel
    def least(a):
        return min(x for x in a if x > 100)

    with pytest.raises(ValueError, match=r"min\(\) iterable argument is empty"):
        least(A)


def test_rows_of_functions_in_foreach():
    def filled(m, n):
        out, rows = np.zeros((4, 2)), np.zeros((4, 3))
        for i in spmdvm.foreach(4):
            b = turned(m[i]) * 2
            c, y = halves(m[i])
            r = rotation(m[i, 0])
            rows[i, :] = three_of(m[i, 0]) + b + squares(m[i], 3)
            rows[i] += np.array([c[0] * k for k in range(3)])
            out[i] = r[0] + y * r[1] + either(m[i]) + c + np.sum(three_of(y)) + sum(x for x in c)
            out[i, 0] += np.sum(np.array([m[i, k] for k in range(n)]))
        return out, rows

    space = dict(globals())
    exec(textwrap.dedent(inspect.getsource(filled)).replace("spmdvm.foreach", "range"), space)
    assert_same(spmdvm.kernel(filled)(M, 3), space["filled"](M, 3))


def test_elementwise_kernels_have_them():
    def function(x):
        r, v = rotation(x), three_of(x)
        w = np.array([v[k] * k for k in range(3)])
        return r[0, 0] + v[2] + np.sum(w) + sum(t for t in v) + max([t * t for t in v])

    x = np.linspace(0, 3, 9)
    assert np.allclose(spmdvm.kernel(function)(x), [function(t) for t in x])


def of_rows_with_a_condition(a):
    return np.array([(x, 1) for x in a if x > 1])  # HERE a condition chooses numbers for an array of one dimension


def of_something_else(a):
    return np.array([x for x in 5])  # HERE a comprehension in a kernel counts, or goes over an array or a tuple


def of_another_option(a):
    return np.array([x for x in a], copy=True)  # HERE an array is made of a list and a dtype


def of_a_generator(a):
    return np.array(x for x in a)  # HERE an array is made of a list and a dtype


def of_an_outer_variable(a):
    return np.array([[x for k in range(3)] for x in a for y in (x, 1)])  # HERE there is no `x`


@pytest.mark.parametrize(
    "function",
    [
        of_rows_with_a_condition, of_something_else, of_another_option, of_a_generator,
        of_an_outer_variable,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)


def assert_same(found, expected):
    """Assert that results are the same, arrays of the same types."""
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for part, own in zip(found, expected):
            assert_same(part, own)
        return
    expected = np.asarray(expected)
    if isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.allclose(found, expected)
