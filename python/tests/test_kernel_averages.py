"""Averages and variances in kernels, and parts of what is computed."""

import numpy as np
import pytest
import spmdvm
from test_kernel_made import check

A = np.array([3.0, 1.5, 2.5, -4.0, 0.5])
M = np.arange(24.0).reshape(4, 6)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_averages_have_weights(dtype):
    def kernel(a, w, m):
        return np.average(a), np.average(a, weights=w), np.average(m, weights=m + 1), np.average(m[1:])

    check(kernel, (A * 2).astype(dtype), np.arange(1, 6).astype(dtype), M.astype(dtype))


def test_averages_of_each_lane():
    def kernel(m, w, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = np.average(m[i], weights=w)

    out, w = np.zeros(4), np.arange(1.0, 7)
    spmdvm.kernel(kernel)(M, w, out)
    assert np.allclose(out, np.average(M, axis=1, weights=w))


def test_weights_without_a_sum_are_an_error():
    def kernel(a, w):
        return np.average(a, weights=w)

    with pytest.raises(spmdvm.AssertionFailed, match="the sum of the weights"):
        spmdvm.kernel(kernel)(A, A * 0)


def test_what_is_computed_has_parts():
    def kernel(m, a):
        d = (m - 1)[:, 1:] * 2 + (-m)[:, :-1]
        e = (m @ m.T + 1)[1, :] - (m[0] + m[1])[:4]
        d[0] = (m[1] * 2)[::-1][1:]
        return d, e, np.sum((m * m)[1:, 2]), (a > 1)[1:], (a * 2)[-1:]

    check(kernel, M, A)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float32, np.float64])
def test_variances_have_degrees_of_freedom(dtype):
    def kernel(a, m, n):
        whole = np.var(a, ddof=1), np.std(a, ddof=n), a.var(ddof=0.5), m.std(ddof=1), np.var(a, 0, ddof=1)
        rows = np.var(m, axis=1, ddof=1), m.std(axis=0, ddof=n), np.std(m, axis=1, ddof=1, keepdims=True)
        return whole, rows, np.var(m * 2, axis=-1, ddof=1.5), (a - a.mean()) / a.std(ddof=1)

    for engine in ("auto", "interp"):
        check(kernel, (A * 2 + 9).astype(dtype), M.astype(dtype), 2, engine=engine)


def test_the_name_of_numpy_2_for_degrees_of_freedom():
    kernel = spmdvm.kernel(lambda a: np.std(a, correction=1))
    assert np.isclose(kernel(A), np.std(A, ddof=1))


@pytest.mark.filterwarnings("ignore")
def test_variances_of_fewer_elements_than_are_taken_away():
    def kernel(a, m):
        return np.var(a, ddof=5), np.var(a, ddof=9), np.var(m, axis=0, ddof=4), m.std(axis=1, ddof=7.0), np.var(a[:0])

    check(kernel, A, M)
    check(kernel, A * 0, M * 0)


def test_variances_of_each_lane_have_degrees_of_freedom():
    def kernel(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = np.var(m[i], ddof=i) + m[i].std(ddof=1)

    out = np.zeros(4)
    spmdvm.kernel(kernel)(M, out)
    assert np.allclose(out, [np.var(row, ddof=i) + row.std(ddof=1) for i, row in enumerate(M)])


@pytest.mark.parametrize(("kernel", "message"), [
    (lambda a: np.sum(a, axis=0, ddof=1), "a reduction along an axis takes an array and the axis"),
    (lambda a: np.var(a, ddof=1, correction=1), "`ddof` and `correction` are one argument"),
    (lambda a: np.var(a, ddof=1j), "a number of elements is taken away"),
    (lambda a: np.var(a, axis=0, dtype=np.float32), r"convert the result: `np.var\(a, axis=0\).astype"),
])  # fmt: skip
def test_what_variances_do_not_take(kernel, message):
    with pytest.raises(spmdvm.CompileError, match=message):
        spmdvm.kernel(kernel)(M)
