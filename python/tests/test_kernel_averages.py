"""`np.average` in kernels, and parts of what is computed."""

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
