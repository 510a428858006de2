"""Names that stand for arrays of other lengths in loops and branches, also parameters: what Python makes of them."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_made import check

A = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
M = np.arange(12.0).reshape(4, 3)
S = np.arange(16.0).reshape(4, 4)
CASES = []


def case(*args):
    def decorate(function):
        CASES.append((function, args))
        return function

    return decorate


def grown(s):
    out = np.zeros(2 * len(s))
    out[: len(s)] = s
    return out


@case(np.zeros(2), 9)
@case(np.zeros(12), 9)
def parameter_that_grows(stack, n: int):
    for k in range(n):
        if k >= len(stack):
            stack = grown(stack)
        stack[k] = k * k
    return stack[:n]


@case(A)
@case(A - 5)
def parameter_in_a_branch(a):
    if a[0] > 2:
        a = a[1:].copy()
    a[0] = 50
    a += 1
    return a


@case(M.copy(), 2)
@case(M.copy(), 7)
def matrix_parameter(m, n: int):
    m[0, 0] = 100
    for k in range(n):
        if k >= m.shape[0]:
            m = np.concatenate((m, m * k), axis=0)
        m[k, 1] = -k
    return m, m.shape[0]


@case(9)
def grows_twice_as_long(n: int):
    stack = np.zeros(2)
    for k in range(n):
        if k >= len(stack):
            stack = grown(stack)
        stack[k] = k * k
    return stack


@case(9)
def by_a_function(n: int):
    def added(s, k):
        if k >= len(s):
            s = grown(s)
        s[k] = k
        return s

    stack = np.zeros(2)
    for k in range(n):
        stack = added(stack, k)
    return stack


@case(A, 30)
def by_a_function_of_its_own_array(a, n: int):
    def added(s, k):
        if k >= len(s):
            new = np.zeros(len(s) * 2)
            new[: len(s)] = s
            s = new
        s[k] = k
        return s

    stack = a.copy()
    for k in range(n):
        stack = added(stack, k)
    return stack


@case(4)
def rows_are_added(n: int):
    m = np.ones((2, 3))
    for k in range(n):
        m = np.vstack((m, m[:1] * k))
    return m


@case(3)
def both_lengths_change(n: int):
    m = np.ones((2, 2))
    for _ in range(n):
        new = np.zeros((len(m) + 1, m.shape[1] * 2))
        new[: len(m), : m.shape[1]] = m
        m = new
    return m, m.shape[0]


@case(M, 5)
def longer_and_shorter(m, n: int):
    for _ in range(n):
        if m.shape[0] > 2:  # noqa: SIM108
            m = m[:-1].copy()
        else:
            m = np.concatenate((m, m), axis=0)
    return m


@case(S)
def eliminated(m):
    s = 0.0
    while m.shape[0] > 1:
        s += m[0, 0]
        m = m[1:, 1:] - m[0, 0] / 2
    return m, s


@case(A)
def another_in_a_branch(a):
    m = np.eye(2)
    if a[0] > 2:
        m = np.zeros((3, 4))
        m[2, 3] = 5
    s = 0.0
    for row in m:
        s = 2 * s + np.sum(row)
    return m.sum(), m.shape, s


@case(7)
def rows_as_needed(n: int):
    m = np.zeros((1, 2))
    count = 0
    for k in range(n):
        if count == m.shape[0]:
            bigger = np.zeros((2 * m.shape[0], 2))
            bigger[:count] = m
            m = bigger
        m[count] = k, k * k
        count += 1
    return m[:count]


@case(A, 3)
def of_masks(a, n: int):
    rows = np.ones((len(a), 2))
    for k in range(n):
        rows = rows[rows[:, 0] * np.arange(len(rows)) > k]
        rows[0, 1] = k
    return rows, len(rows)


@case(6)
def two_that_change_places(n: int):
    a, b = np.ones((1, 2)), np.zeros((1, 3))
    for k in range(n):
        a = np.vstack((a, a[:1] + k))
        b = np.vstack((b, b[:1] - k))
    return a, b


@case(A, A[:4].copy())
@case(A[:4].copy(), A)
@case(A, A - 1)
def parameters_that_change_places(x, y):
    if len(x) < len(y):
        x, y = y, x
    out = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            out[i, j] = x[i] - 2 * y[j]
    return out


def far(a, b):
    total = 0.0
    for k in range(len(a)):
        total += abs(a[k] - b[k])
    return total


@case(M, S[:, :3].copy(), S[:3, :3] > 4)
@case(M, S, S[:, :3] > 4)
@case(S, M, S[:, :3] > 4)
def matrices_that_change_places(x, y, mask):
    if x.shape[1] < y.shape[1]:
        x, y = y, x
        mask = mask.T
    total = 0.0
    for i in range(min(x.shape[1], mask.shape[0])):
        for j in range(min(y.shape[1], mask.shape[1])):
            if mask[i, j]:
                total += far(x[:, i], y[:, j]) * (i + 1)
    return total, x.shape[1], mask.shape[0]


@case(A, A[:4].copy())
@case(A[:4].copy(), A)
def one_of_two_parameters(x, y):
    if len(x) < len(y):
        x = y
    return np.sum(x), len(x), len(y)


def more_and_first(x, y):
    if len(x) > len(y):
        x, y = y, x
    return np.sum(x) * 2 - y[0]


@case(A, A[:4].copy())
def parameters_of_functions(x, y):
    return more_and_first(x, y) + more_and_first(y, x) + more_and_first(x[1:], y)


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_arrays_of_other_lengths(case, options):
    function, args = case
    check(function, *args, **options)


def test_an_element_outside_is_told():
    def outside(m, n: int):
        for _ in range(n):
            m = np.vstack((m, m))
        return m[n, n]

    assert spmdvm.kernel(outside)(M, 2) == 8
    with pytest.raises(IndexError):
        spmdvm.kernel(outside)(M, 3)


def read_under_both_names(a):
    b, x = a.copy(), 0.0
    for _ in range(3):
        new = b * 2
        b = new  # HERE `b` and `new` would be one array, which is changed
        b[0] = 7.0
        x += new[0]
    return x


def shared_by_a_function(a):
    def added(s, k):
        if k >= len(s):
            s = grown(s)
        s[k] = k
        return s

    t = a.copy()
    u = added(t, 1)  # HERE `added` may return an array that it is passed, and `u` is changed
    u[0] = 9
    return t[0]


def of_another_type(a):
    m = np.ones((2, 3))
    for _ in range(len(a)):
        m = np.vstack((m, m)) > 0  # HERE in loops and branches a name stands for one array
    return m


def changed_in_another_place(a):
    def put_first(x, y):
        if x[0] > 100:
            x, y = y, x  # HERE the parameter `x` cannot become another array here
        x[0] = 1
        return np.sum(y)

    return put_first(a, a[1:].copy())


WRONG = [read_under_both_names, shared_by_a_function, of_another_type, changed_in_another_place]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)
