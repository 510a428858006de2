"""Rows and columns that arrays of indices and masks choose, several quantiles, and bins, are those of numpy."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told

M = np.arange(20.0).reshape(4, 5)
ORDER = np.array([2, 0, -1])
B = np.arange(100.0, 112).reshape(4, 3)
CHOSEN, STORED = [], []


def chosen(function):
    CHOSEN.append(function)
    return function


def stored(function):
    STORED.append(function)
    return function


@chosen
def columns(m, order, b):
    return m[:, order], m[:, order + 1], m[:, [0, 0, 3]], m[:, m[0] > 2], m[1:3, order]


@chosen
def rows(m, order, b):
    return m[order, :], m[order, 1:3], m[m[:, 1] > 6, ::2], m[[1, 1], -2:]


@chosen
def both_ways(m, order, b):
    return m[order][:, order], (m[:, order] - b) * 2, np.sum(m[:, order], axis=0), m[:, order].shape, m[order].size


@chosen
def taken(m, order, b):
    return np.take(m, order, axis=1), np.take(m, [0, 2], axis=0), np.take(m, order, axis=-1), np.take(m[0], order, 0)


@stored
def a_matrix(m, order, b):
    m[:, order] = b


@stored
def a_row(m, order, b):
    m[:, order] = b[0]
    m[1:, [3]] = b[1:, 1:2]


@stored
def numbers(m, order, b):
    m[:, order] = 3
    m[order, 2:] = 7


@stored
def changed(m, order, b):
    m[:, order] += b
    m[m[:, 0] > 105, :] *= 2
    m[:, m[0] > 50] -= 1


@stored
def from_itself(m, order, b):
    m[:, order] = m[:, order[::-1]]
    m[order[:2], :] = m[order[1:], :]


@stored
def parts(m, order, b):
    m[order, 1:4] = b[:3]
    m[1:3, order - 1] = b[1:3] + 1
    m[order, ::2] = [1, 2, 3]
    m[:, [0, 0, 4]] = b
    m[[0, 1, 2], :] = b[:3, :1]


@pytest.mark.parametrize("function", CHOSEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.int8, np.complex64])
def test_rows_and_columns_are_chosen(function, dtype):
    if dtype is np.complex64 and function in (columns, rows):
        pytest.skip("complex numbers have no order")
    m = M.astype(dtype)
    found, expected = spmdvm.kernel(function)(m, ORDER, B), function(m, ORDER, B)
    for one, other in zip(found, expected):
        assert np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


@pytest.mark.parametrize("function", STORED, ids=lambda f: f.__name__)
def test_rows_and_columns_are_stored_to(function):
    found, expected = M.copy(), M.copy()
    spmdvm.kernel(function)(found, ORDER, B)
    function(expected, ORDER, B)
    assert np.array_equal(found, expected)


def test_what_does_not_fit_traps():
    with pytest.raises(IndexError):
        spmdvm.kernel(columns)(M, ORDER + 5, B)
    with pytest.raises(AssertionError, match="as many columns are stored as indices name"):
        spmdvm.kernel(a_matrix)(M.copy(), ORDER[:2].copy(), B)

    def masked(m, mask):
        return m[:, mask]

    assert spmdvm.kernel(masked)(M, M[0] > 2).shape == (4, 2)
    with pytest.raises(AssertionError, match="a mask has an element for each row or column"):
        spmdvm.kernel(masked)(M, M[:, 0] > 2)


def quartiles(a, q):
    return np.percentile(a, [25, 50, 75.5]), np.quantile(a, q), np.percentile(a, q * 100), np.quantile(a, (0, 1))


def single(a, q):
    return np.quantile(a, 0.3), np.quantile(a, q[0]), np.quantile(a, 1), np.percentile(a, 40)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.uint8])
def test_quantiles_have_the_bits_of_numpy(dtype):
    rng = np.random.default_rng(3)
    kernels = [(spmdvm.kernel(fp="strict")(function), function) for function in (quartiles, single)]
    for n in (1, 2, 7, 40):
        a = (rng.normal(size=n) * 50 + 128).clip(0, 255).astype(dtype)
        for of in (np.float64, np.float32):
            q = rng.random(5).astype(of)
            for kernel, function in kernels:
                for one, other in zip(kernel(a, q), function(a, q)):
                    assert np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def test_quantiles_of_a_nan_are_nan():
    a = np.array([1.0, np.nan, 3.0])
    assert all(np.isnan(each).all() for each in spmdvm.kernel(quartiles)(a, np.array([0.0, 0.5])))
    with pytest.raises(AssertionError, match="a number from 0 to 1"):
        spmdvm.kernel(quartiles)(np.arange(3.0), np.array([0.5, 1.5]))


def in_places(a, k):
    middle = np.partition(a, [k - 1, k])
    return middle[k - 1], middle[k], a[np.argpartition(a, (0, -1))][0], np.partition(a, np.array([2]))[2]


def test_several_elements_come_to_their_places():
    a = np.array([3.0, 1, 4, 1, 5, 9, 2, 6])
    assert spmdvm.kernel(in_places)(a, 4) == in_places(a, 4)
    with pytest.raises(AssertionError, match="`partition` takes places of elements"):
        spmdvm.kernel(in_places)(a, 8)


X = np.array([0.5, 1, 1.5, 2, 7, -1, np.nan, 3])
BINS = np.array([0.0, 1, 1, 2, 3])


def in_bins(x, bins):
    down = bins[::-1]
    return np.digitize(x, bins), np.digitize(x, bins, right=True), np.digitize(x, down), np.digitize(x * 2, down, True)


def one_in_bins(x, bins):
    return [(np.digitize(v, bins), np.digitize(v, bins[::-1], right=True)) for v in x]


def test_bins_are_those_of_numpy():
    for bins in (BINS, BINS.astype(np.int32), np.ones(3), BINS[:1]):
        for one, other in zip(spmdvm.kernel(in_bins)(X, bins), in_bins(X, bins)):
            assert np.array_equal(one, other) and one.dtype == other.dtype
        assert spmdvm.kernel(one_in_bins)(X, bins) == one_in_bins(X, bins)

    @spmdvm.kernel
    def of_elements(x, bins, out):
        for i in spmdvm.foreach(len(x)):
            out[i] = np.digitize(x[i], bins)

    out = np.zeros(len(X), np.int64)
    of_elements(X, BINS, out)
    assert np.array_equal(out, np.digitize(X, BINS))
    with pytest.raises(AssertionError, match="monotonically increasing or decreasing in `in_bins`"):
        spmdvm.kernel(in_bins)(X, np.array([1.0, 3, 2]))


def quantiles_in_two_dimensions(m):
    return np.quantile(m, m)  # HERE quantiles are those of a list of numbers


def bins_in_two_dimensions(m):
    return np.digitize(m, m[0])  # HERE `np.digitize` takes arrays of one dimension in a kernel


def an_axis_that_is_none(m):
    return np.take(m, [0, 1], axis=2)  # HERE elements are taken along an axis of a matrix in a kernel


def quantiles_of_each(m):
    out = np.zeros((4, 2))
    for i in spmdvm.foreach(4):
        out[i] = np.quantile(m[i], [0.25, 0.75])  # HERE `np.quantile` is called outside of `foreach`
    return out


WRONG = [quantiles_in_two_dimensions, bins_in_two_dimensions, an_axis_that_is_none, quantiles_of_each]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(M), function)
