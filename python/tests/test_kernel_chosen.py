"""Arrays of kernels that are as long as turns out: rows that are computed, masks, `np.nonzero`, `np.unique`."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_made import check

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
M = np.arange(12.0).reshape(3, 4)
NANS = np.array([3.0, 1.0, 3.0, np.nan, 1.0, np.nan, 7.0])
KERNELS = []


def kernel(*args):
    def decorate(function):
        KERNELS.append((function, args))
        return function

    return decorate


def count(a, x):
    n = 0
    for v in a:
        if v > x:
            n += 1
    return n


def grid(n, m):
    out = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = i * 10 + j
    return out


def row_sums(m):
    return m.sum(axis=1)


def set_row(m, i):
    m[i] = -1


def peaks(a):
    return np.flatnonzero((a[1:-1] > a[:-2]) & (a[1:-1] > a[2:])) + 1


@kernel(A)
def computed_rows(a):
    n, m = count(a, 2), count(a, 3)
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            out[i, j] = a[i] * j
    out[0] = 1.5
    out[:, 1] += 2
    out[1:, -1] *= 3
    return (
        out, out.sum(axis=0), out.mean(axis=1), out * 2 + 1, out[1], out.T, out.max(), out.shape, out > 3,
        np.sum(out, axis=0, keepdims=True) + out, out[1:, :2], len(out),
    )  # fmt: skip


@kernel(A)
def computed_matrices(a):
    n = count(a, 2)
    m = np.ones((n, n), np.int32)
    m[1, 2] = 5
    p = m @ m
    q = m @ np.arange(n)
    b = np.empty_like(p)
    b[:] = p
    c = np.zeros((2, n, n))
    c[1] = m
    return (
        p, q, b, c, np.full((n, 3), 7.5), np.zeros_like(m), p.astype(np.float32), m.ravel(), m.reshape(-1),
        np.concatenate((m, p), axis=1), np.vstack((m, p)), m.T @ p, np.outer(q, q), np.eye(n), np.diag(m),
    )  # fmt: skip


@kernel(A)
def computed_in_loops(a):
    n, total = count(a, 2), 0.0
    m = np.zeros((n, n))
    for k in range(3):
        m = m + k
        m = m * 2
    for k in range(1, 4):
        t = np.ones((k, n))
        t *= k
        total += t.sum()
    for i, row in enumerate(m):
        row[0] = i * i
    return m, total


@kernel(A)
def computed_in_functions(a):
    n = count(a, 2)
    g, h = grid(n, 2), grid(n, count(a, 4))
    set_row(g, 1)
    return g, h, row_sums(g), row_sums(h * 2), row_sums(h[:, 1:]), grid(n, n) + 1


@kernel(A)
def of_no_rows(a):
    n = count(a, 200)
    return np.zeros((n, 3)), np.zeros((n, n)).sum(axis=0), np.flatnonzero(a > 200), without_any(a)


def without_any(a):
    m = np.ones((count(a, 2), 2))
    return m[m[:, 0] > 2]


@kernel(A)
def of_computed_lengths(a):
    n = count(a, 2)
    r = np.arange(n)
    m = np.array([[i * x for x in a] for i in range(n)])
    return (
        m, np.array([(i, 2 * i) for i in range(n)]), np.sort(r[::-1]), np.linspace(0, 1, n), np.roll(r, 1),
        np.tile(r, 2), np.repeat(r, 2), np.cumsum(r), np.diff(r * 2), np.argsort(-r),
        np.linalg.solve(np.eye(n) * 2, np.ones(n)),
    )  # fmt: skip


@kernel(M, np.array([True, False, True]), np.array([2, 0, -1, 2]))
def rows_and_elements(m, k, o):
    i, j = np.nonzero(m)
    return (
        m[k], m[o], m[m[:, 1] > 2], i, j, m[~(m > 3)], m[k] * 2, np.argwhere(m > 4), np.argwhere(m[1] > 4),
        np.where(m > 4), np.nonzero(m[0]), m[(m > 2) & (m < 7)], np.sum(m[m > 5]), m.T[m.T > 5],
        m[np.argsort(-m[:, 0])],
    )  # fmt: skip


@kernel(A)
def where_it_holds(a):
    i = np.flatnonzero(a > 2)
    b, total = a[i], 0.0
    for k in np.flatnonzero(a > 3):
        total += a[k] * k
    n = len(np.nonzero(a)[0])
    w = np.where(a > 4)[0]
    if len(w) > 0:
        total += w[0]
    p, q = peaks(a), peaks(-a)
    return (
        i, b, total, n, w, p, q, a[p], np.concatenate((p, q)), a[np.isfinite(a)], a[np.logical_not(a > 3)],
        np.flatnonzero(np.isnan(a)),
    )  # fmt: skip


@kernel(np.arange(24).reshape(2, 3, 4))
def of_three_dimensions(a):
    return a[a > 5], np.flatnonzero(a > 7), a[:, 1][a[:, 1] > 6]


@kernel(NANS)
def distinct_ones(a):
    u, c = np.unique(a, return_counts=True)
    v, i, w, d = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    return u, c, v, i, w, d, np.unique(a, return_inverse=True), np.unique(a, return_counts=False), u[np.argmax(c)]


@kernel(np.array([3, 1, 3, 7, 1], np.int16))
def repeated_and_sought(a):
    u, c = np.unique(a, return_counts=True)
    total = 0
    for x, n in zip(u, c):
        total += x * n
    return (
        np.searchsorted(u, a), np.searchsorted(u, [0, 3, 9], side="right"), np.searchsorted(u, u * 2 - 1, "right"),
        np.repeat(u, c), total, np.searchsorted(u, 3), np.repeat(a * 2, a), np.repeat([5, 6], [2, 1]),
        np.repeat(u, 2),
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function, args", KERNELS, ids=lambda each: getattr(each, "__name__", ""))
def test_arrays_are_those_of_numpy(function, args, options):
    check(function, *args, **options)


def test_indices_of_computed_rows_are_tested():
    @spmdvm.kernel
    def read(a, i, j):
        m = np.ones((count(a, 2), 2))
        return m[i, j]

    assert read(A, 3, 1) == 1
    for i, j in ((4, 0), (0, 2), (2**40, 0)):
        with pytest.raises(IndexError):
            read(A, i, j)


def test_lengths_and_counts_are_tested():
    @spmdvm.kernel
    def rows(a, n):
        return np.zeros((int(a[0]) * n, 3))

    @spmdvm.kernel
    def often(a, n):
        return np.repeat(a, n)

    assert rows(A, 2).shape == (6, 3)
    for n in (-1, 2**28):
        with pytest.raises(AssertionError, match="not negative, and there are fewer than"):
            rows(A, n)
    assert often(A, np.arange(7)).shape == (21,)
    with pytest.raises(AssertionError, match="a count for each element"):
        often(A, np.arange(6))
    with pytest.raises(AssertionError, match="may not contain negative values"):
        often(A, np.arange(7) - 1)


def test_memory_is_given_back():
    @spmdvm.kernel(memory=2**20)
    def work(a, n):
        total = 0.0
        for k in range(50):
            m = np.ones((count(a, 2) * n, 2)) * k
            total += m[m[:, 0] > 3].sum()
        return total

    assert work(A, 1000) == sum(8000.0 * k for k in range(4, 50))


def in_foreach(a):
    for i in spmdvm.foreach(len(a)):
        a[i] = len(np.nonzero(a)[0])  # HERE `np.nonzero` is called outside of `foreach`, once


def of_three(a):
    m = np.zeros((len(a), 2, 2))
    return np.nonzero(m)  # HERE `np.nonzero` takes arrays of up to two dimensions in a kernel


def rows_by_counts(a):
    m = np.zeros((len(a), 2))
    return np.repeat(m, [1, 2], axis=0)  # HERE elements of arrays of one dimension are repeated by counts


def no_known_side(a):
    return np.searchsorted(a, a, side="middle")  # HERE `side` is `'left'` or `'right'` in a kernel


@pytest.mark.parametrize("function", [in_foreach, of_three, rows_by_counts, no_known_side], ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A.copy()), function)
