"""Norms, covariances and correlations in kernels are those of numpy."""

import numpy as np
import pytest
import spmdvm
from ways import EVERY_WAY

DTYPES = ["float32", "float64", "int32", "int64"]
rng = np.random.default_rng(12)


def close(found, expected, rtol):
    """Return whether numbers, or arrays, are nearly the same ones, of one type."""
    found, expected = np.asarray(found), np.asarray(expected)
    return (
        found.dtype == expected.dtype
        and found.shape == expected.shape
        and np.allclose(found, expected, rtol, rtol, equal_nan=True)
    )


def norms(a):
    return (
        np.linalg.norm(a),
        np.linalg.norm(a, 1),
        np.linalg.norm(a, ord=2),
        np.linalg.norm(a, None),
        np.linalg.norm(a - 1, np.inf),
        np.linalg.norm(a[::2], ord=1),
    )


@EVERY_WAY
@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "complex64", "complex128"])
def test_norms_of_vectors(dtype, options):
    kernel = spmdvm.kernel(**options)(norms)
    of_least = spmdvm.kernel(**options)(lambda a: np.linalg.norm(a, -np.inf))
    arrays = [rng.integers(-100, 100, n).astype(dtype) for n in (1, 2, 17, 300)]
    if np.dtype(dtype).kind != "i":
        arrays += [np.array(some, dtype) for some in ([np.nan, 1, 2], [np.inf, 1])]
    for a in arrays:
        for mine, theirs in zip(kernel(a), norms(a)):
            assert close(mine, theirs, 1e-5 if theirs.dtype.itemsize == 4 else 1e-12), (mine, theirs)
        assert np.isclose(of_least(a), np.linalg.norm(a, -np.inf), 1e-6, equal_nan=True)
    empty = np.zeros(0, dtype)
    assert kernel(empty) == (0,) * 6
    with pytest.raises(AssertionError):
        of_least(empty)


@EVERY_WAY
def test_norms_of_matrices_and_of_rows(options):
    def of_all(m):
        return np.linalg.norm(m), np.linalg.norm(m.T), np.linalg.norm(m[1:, :2] * 2)

    @spmdvm.kernel(**options)
    def of_rows(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = np.linalg.norm(m[i], 1) + np.linalg.norm(m[i], np.inf) + np.linalg.norm(m[i])

    m, out = rng.normal(size=(21, 5)), np.zeros(21)
    for mine, theirs in zip(spmdvm.kernel(**options)(of_all)(m), of_all(m)):
        assert close(mine, theirs, 1e-12)
    of_rows(m, out)
    assert np.allclose(out, sum(np.linalg.norm(m, order, axis=1) for order in (1, 2, np.inf)))


def norms_along(m):
    return (
        np.linalg.norm(m, axis=0),
        np.linalg.norm(m, axis=1),
        np.linalg.norm(m, 1, 0),
        np.linalg.norm(m, ord=1, axis=-1),
        np.linalg.norm(m, 2, axis=-2),
        np.linalg.norm(m, None, 1),
        np.linalg.norm(m * 2, np.inf, axis=0),
        np.linalg.norm(m.T, np.inf, 0),
        np.linalg.norm(m, axis=0, keepdims=True),
        np.linalg.norm(m, 1, axis=1, keepdims=True),
    )


@EVERY_WAY
@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "uint8", "bool", "complex64", "complex128"])
def test_norms_along_an_axis(dtype, options):
    kernel = spmdvm.kernel(**options)(norms_along)
    of_least = spmdvm.kernel(**options)(lambda m: (np.linalg.norm(m, -np.inf, 0), np.linalg.norm(m, -np.inf, 1)))
    for shape in ((1, 1), (1, 5), (5, 1), (5, 3), (3, 1000), (1000, 3)):
        m = rng.integers(-100, 100, shape).astype(dtype)
        for mine, theirs in zip(kernel(m), norms_along(m)):
            assert close(mine, theirs, 1e-5 if theirs.dtype.itemsize == 4 else 1e-12), (shape, mine, theirs)
        for mine, axis in zip(of_least(m), (0, 1)):
            assert close(mine, np.linalg.norm(m, -np.inf, axis), 1e-6)
    for shape in ((0, 4), (4, 0), (0, 0)):
        for mine, like in zip(kernel(np.zeros(shape, dtype)), norms_along(np.ones((4, 4), dtype))):
            assert mine.dtype == like.dtype and (mine == 0).all()
    with pytest.raises(AssertionError, match="takes at least one element"):
        of_least(np.zeros((0, 4), dtype))


@EVERY_WAY
def test_norms_along_an_axis_of_what_is_computed(options):
    def several(m, a):
        m = m / np.linalg.norm(m, axis=1)[:, None]
        far = np.linalg.norm(m - a, axis=1) < 1
        for i in range(2):
            a = a + np.linalg.norm(m + i, axis=0)
        order = np.argsort(np.linalg.norm(m - m[0], np.inf, axis=1))
        of_vector = np.linalg.norm(a, axis=0) + np.linalg.norm(a, 1, axis=-1) + np.linalg.norm(m, axis=None)
        return far, a, order, np.linalg.norm(m[1:, ::2], axis=0), np.max(np.linalg.norm(m, axis=1)), of_vector

    m, a = rng.normal(size=(30, 4)), rng.normal(size=4)
    for mine, theirs in zip(spmdvm.kernel(**options)(several)(m, a), several(m, a)):
        assert close(mine, theirs, 1e-12)
    cube = rng.normal(size=(3, 4, 5))
    for mine, theirs in zip(spmdvm.kernel(**options)(of_cubes)(cube), of_cubes(cube)):
        assert close(mine, theirs, 1e-12)


def of_cubes(m):
    return np.linalg.norm(m, axis=1), np.linalg.norm(m, 1, axis=2), np.linalg.norm(m, np.inf, axis=0, keepdims=True)


@EVERY_WAY
def test_norms_along_an_axis_of_nan(options):
    m = np.array([[np.nan, 1, 2], [np.inf, 1, -np.inf], [0, -0.0, 0]])
    for mine, theirs in zip(spmdvm.kernel(**options)(norms_along)(m), norms_along(m)):
        assert close(mine, theirs, 1e-12)


def spread(m):
    return np.cov(m), np.corrcoef(m), np.cov(m.T), np.cov(m, ddof=0), np.cov(m * 2 + 1)[0, 1]


@EVERY_WAY
@pytest.mark.parametrize("dtype", [*DTYPES, "uint8"])
def test_covariances(dtype, options):
    kernel = spmdvm.kernel(**options)(spread)
    for shape in ((2, 2), (3, 50), (7, 4)):
        m = (100 * rng.random(shape)).astype(dtype)
        given = m.copy()
        for mine, theirs in zip(kernel(m), spread(m)):
            assert close(mine, theirs, 1e-10)
        assert (m == given).all()


def spread_of_two(x, y):
    return (
        np.cov(x, y),
        np.corrcoef(x, y),
        np.cov(x, y, ddof=0),
        np.cov(x, y=y, bias=True),
        np.cov(x * 2 - 1, y[::-1], bias=True, ddof=1),
        np.corrcoef(x, x)[0, 1],
    )


@EVERY_WAY
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [*DTYPES, "uint64", "float16"])
def test_covariances_of_two_vectors(dtype, options):
    kernel = spmdvm.kernel(**options)(spread_of_two)
    for n in (0, 1, 2, 5, 1000):
        for of in (dtype, "float32", "int64"):
            x, y = (100 * rng.random(n)).astype(dtype), (100 * rng.random(n)).astype(of)
            for mine, theirs in zip(kernel(x, y), spread_of_two(x, y)):
                # (Types of 16 and 32 bits round what is computed before.)
                assert close(mine, theirs, 1e-10)


@EVERY_WAY
def test_covariances_of_what_is_computed(options):
    def related(m, y, bias=False):
        listed = [x for x in y]
        total = np.zeros((2, 2))
        for i in range(len(m)):
            total += np.cov(m[i], y, bias=bias) + np.corrcoef(m[i] - 1, y * 2)
        return total, np.cov(m.T, bias=True), np.cov(y[y > 0.1], m[0][y > 0.1]), np.corrcoef(listed, listed)

    m, y = rng.random((4, 30)), rng.random(30)
    for bias in (False, True):
        for mine, theirs in zip(spmdvm.kernel(**options)(related)(m, y, bias), related(m, y, bias)):
            assert close(mine, theirs, 1e-10)


@EVERY_WAY
def test_correlations_of_rows_in_a_foreach(options):
    @spmdvm.kernel(**options)
    def of_rows(m, y, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = np.corrcoef(m[i], y)[0, 1] + np.cov(m[i], y, ddof=0)[1, 0]

    m, y, out = rng.random((21, 7)), rng.random(7), np.zeros(21)
    of_rows(m, y, out)
    assert np.allclose(out, [np.corrcoef(row, y)[0, 1] + np.cov(row, y, ddof=0)[0, 1] for row in m])


def test_covariances_of_other_lengths_trap():
    for kernel in (spmdvm.kernel(lambda x, y: np.cov(x, y)), spmdvm.kernel(lambda x, y: np.corrcoef(x, y))):
        with pytest.raises(AssertionError, match="both arrays have as many elements"):
            kernel(np.ones(4), np.ones(5))


@EVERY_WAY
@pytest.mark.filterwarnings("ignore")
def test_covariances_that_are_nan(options):
    def both(m):
        return np.cov(m), np.corrcoef(m)

    kernel = spmdvm.kernel(**options)(both)
    constant, with_nan = np.ones((2, 5)), rng.random((3, 5))
    with_nan[1, 2] = np.nan
    for m in (constant, with_nan, np.ones((2, 1)), np.zeros((2, 0))):
        for mine, theirs in zip(kernel(m), both(m)):
            assert close(mine, theirs, 1e-12)


def test_a_covariance_of_one_row_is_refused():
    with pytest.raises(AssertionError, match="variances are those of two rows and more"):
        spmdvm.kernel(lambda m: np.cov(m))(np.ones((1, 5)))
    assert spmdvm.kernel(lambda m: np.cov(m))(np.ones((0, 5))).shape == (0, 0)


def norms_of_matrices(m):
    return (
        np.linalg.norm(m, "fro"),
        np.linalg.norm(m, 1),
        np.linalg.norm(m, ord=-1),
        np.linalg.norm(m, np.inf),
        np.linalg.norm(m, -np.inf),
        np.linalg.norm(m.T, 1),
        np.linalg.norm(m[1:, ::2] * 2 - 1, ord=np.inf),
        np.linalg.norm(m[0], -1),
    )


@EVERY_WAY
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "bool", "complex64", "complex128"])
def test_norms_of_matrices(dtype, options):
    kernel = spmdvm.kernel(**options)(norms_of_matrices)
    arrays = [rng.integers(-100, 100, shape).astype(dtype) for shape in ((2, 1), (3, 5), (40, 7), (2, 300))]
    if np.dtype(dtype).kind in "fc":
        arrays += [np.array([[np.nan, 1, 2], [3, 4, np.inf]], dtype), np.array([[1, 2, 3], [np.inf, 0, 1]], dtype)]
    for m in arrays:
        for mine, theirs in zip(kernel(m), norms_of_matrices(m)):
            assert close(mine, theirs, 1e-5 if theirs.dtype.itemsize == 4 else 1e-12), (mine, theirs)


def test_norms_of_matrices_without_elements():
    def greatest(m):
        return np.linalg.norm(m, 1), np.linalg.norm(m, np.inf), np.linalg.norm(m, "fro")

    least, of_rows = spmdvm.kernel(lambda m: np.linalg.norm(m, -1)), spmdvm.kernel(lambda m: np.linalg.norm(m, -np.inf))
    for shape in ((0, 4), (4, 0), (0, 0)):
        assert spmdvm.kernel(greatest)(np.zeros(shape)) == (0, 0, 0)
    assert least(np.zeros((0, 4))) == of_rows(np.zeros((4, 0))) == 0
    for kernel, shape in ((least, (4, 0)), (of_rows, (0, 4))):
        with pytest.raises(AssertionError, match="of at least one"):
            kernel(np.zeros(shape))


@EVERY_WAY
def test_norms_of_matrices_of_each_lane(options):
    @spmdvm.kernel(**options)
    def kernel(cubes, out):
        for i in spmdvm.foreach(len(cubes)):
            out[i] = np.linalg.norm(cubes[i], 1) + np.linalg.norm(cubes[i], -np.inf) + np.linalg.norm(cubes[i], "fro")

    cubes, out = rng.normal(size=(21, 3, 4)), np.zeros(21)
    kernel(cubes, out)
    orders = (1, -np.inf, "fro")
    assert np.allclose(out, [sum(np.linalg.norm(m, order) for order in orders) for m in cubes])


def spread_of_both(m, n, x):
    return (
        np.cov(m, n),
        np.corrcoef(m, n),
        np.cov(m, x, ddof=0),
        np.cov(x, m, bias=True),
        np.cov(m, m * 2 + n),
        np.corrcoef(x, n)[0, -1],
        np.cov(m[1:], x * 2, bias=True, ddof=2),
    )


@EVERY_WAY
@pytest.mark.parametrize("dtype", [*DTYPES, "uint8"])
def test_covariances_of_two_matrices(dtype, options):
    kernel = spmdvm.kernel(**options)(spread_of_both)
    for shape in ((2, 3), (3, 50), (7, 4)):
        m, n = ((100 * rng.random(shape)).astype(of) for of in (dtype, "int64"))
        given = m.copy(), n.copy()
        for mine, theirs in zip(kernel(m, n, m[0].copy()), spread_of_both(m, n, m[0])):
            assert close(mine, theirs, 1e-4 if dtype == "float32" else 1e-9), (mine, theirs)
        assert (m == given[0]).all() and (n == given[1]).all()
    with pytest.raises(AssertionError, match="equal lengths"):
        kernel(m, n, m[0, 1:].copy())
