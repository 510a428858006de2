"""Kernels solve linear equations as numpy does, up to rounding: `np.linalg.solve`, `inv`, `det`, `cholesky`."""

import linecache

import numpy as np
import pytest
import spmdvm
from ways import EVERY_WAY

rng = np.random.default_rng(31)
SIZES = (1, 2, 3, 8, 33)
solve = np.linalg.solve


def matrix(n, dtype="float64"):
    """Make a matrix that is not far from singular ones, of which each pivot is in another row."""
    m = rng.normal(size=(n, n))
    m[0, 0] = 0 if n > 1 else 2
    return (m + 1j * rng.normal(size=(n, n)) if np.dtype(dtype).kind == "c" else m).astype(dtype)


def positive(n, dtype="float64"):
    m = rng.normal(size=(n, n))
    return (m @ m.T + np.eye(n)).astype(dtype)


def near(found, expected, m):
    """Return whether solutions differ by no more than rounding explains, and are of one type."""
    found, expected = np.asarray(found), np.asarray(expected)
    eps = 4 * np.finfo(expected.dtype).eps * len(m) * np.linalg.cond(np.asarray(m, complex))
    alike = found.dtype == expected.dtype and found.shape == expected.shape
    return alike and np.abs(found - expected).max(initial=0) <= eps * np.abs(expected).max(initial=0)


def solved(m, x, columns):
    return (
        np.linalg.solve(m, x),
        np.linalg.solve(a=m, b=columns),
        solve(m.T, x[::-1]),
        solve(m, x * 2 + 1) - 1,
        np.linalg.inv(m),
        np.linalg.inv(m * 2)[0],
        np.linalg.det(m),
    )


@EVERY_WAY
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_equations(dtype, options):
    kernel = spmdvm.kernel(**options)(solved)
    for n in SIZES:
        m, columns = matrix(n, dtype), rng.normal(size=(n, 3)).astype(dtype)
        given = m.copy(), columns.copy()
        found, expected = kernel(m, columns[:, 0].copy(), columns), solved(m, columns[:, 0], columns)
        for mine, theirs in zip(found, expected):
            assert near(mine, theirs, m), (n, mine, theirs)
        assert (m == given[0]).all() and (columns == given[1]).all()
        # Whatever the matrix, the solution is that of one nearby.
        error = np.abs(m @ found[1] - columns).max()
        assert error <= 8 * n * np.finfo(dtype).eps * np.abs(m).sum(1).max() * np.abs(found[1]).max()


@EVERY_WAY
def test_equations_of_other_types(options):
    @spmdvm.kernel(**options)
    def kernel(m, f, x):
        return np.linalg.solve(m, f[0]), np.linalg.solve(f, x), np.linalg.inv(m), np.linalg.det(m), np.linalg.det(m > 1)

    m, f = np.array([[4, 1, 2], [1, 3, 0], [2, 0, 5]], np.int16), matrix(3, "float32")
    x = np.arange(3, dtype=np.uint8)
    expected = np.linalg.solve(m, f[0]), np.linalg.solve(f, x), np.linalg.inv(m), np.linalg.det(m), np.linalg.det(m > 1)
    for mine, theirs in zip(kernel(m, f, x), expected):
        assert mine.dtype == theirs.dtype and np.allclose(mine, theirs, 1e-5)


@EVERY_WAY
def test_what_is_exact_is_exact(options):
    order = rng.permutation(9)
    m = np.eye(9)[order] * 4
    kernel = spmdvm.kernel(**options)(lambda m, x: (np.linalg.inv(m), np.linalg.solve(m, x), np.linalg.det(m)))
    inverse, found, value = kernel(m, np.arange(9.0)[order])
    assert (inverse == m.T / 16).all() and (found == np.arange(9) / 4).all()
    assert value == round(np.linalg.det(m / 4)) * 4.0**9


@EVERY_WAY
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_factors_of_cholesky(dtype, options):
    kernel = spmdvm.kernel(**options)(lambda m: (np.linalg.cholesky(m), np.linalg.cholesky(m * 2, upper=True)))
    for n in SIZES:
        m = positive(n, dtype) if dtype != "int32" else np.tri(n, dtype=dtype) @ np.tri(n, dtype=dtype).T
        lower, upper = kernel(np.tril(m))[0], kernel(np.triu(m))[1]
        expected = np.linalg.cholesky(m), np.linalg.cholesky(m * 2).T
        for mine, theirs in zip((lower, upper), expected):
            assert near(mine, theirs, m) and (mine[theirs == 0] == 0).all()


@EVERY_WAY
def test_equations_of_each_lane(options):
    @spmdvm.kernel(**options)
    def kernel(ms, xs, both, out, values):
        for i in spmdvm.foreach(len(ms)):
            out[i] = np.linalg.solve(ms[i], xs[i])
            values[i, 0] = np.linalg.det(ms[i] * 2)
            values[i, 1] = np.linalg.cholesky(ms[i] * 0 + both)[2, 1]
            values[i, 2] = np.sum(np.linalg.inv(ms[i])[i % 3])

    ms, xs = np.array([matrix(3) for _ in range(21)]), rng.normal(size=(21, 3))
    out, values, both = np.zeros((21, 3)), np.zeros((21, 3)), positive(3)
    kernel(ms, xs, both, out, values)
    assert np.allclose(out, np.linalg.solve(ms, xs[:, :, None])[:, :, 0], 1e-9)
    assert np.allclose(values[:, 0], np.linalg.det(ms * 2), 1e-9)
    assert np.allclose(values[:, 1], np.linalg.cholesky(both)[2, 1], 1e-12)
    assert np.allclose(values[:, 2], [np.linalg.inv(m)[i % 3].sum() for i, m in enumerate(ms)], 1e-9)


def test_systems_without_unknowns():
    none, one = np.zeros((0, 0)), np.zeros(0)
    both = spmdvm.kernel(lambda m, x: (np.linalg.solve(m, x), np.linalg.det(m), np.linalg.cholesky(m)))(none, one)
    assert both[0].shape == (0,) and both[1] == 1 and both[2].shape == (0, 0)


WRONG = [
    (lambda m, x: np.linalg.solve(m, x), np.linalg.LinAlgError, "Singular matrix", (np.ones((3, 3)), np.ones(3))),
    (lambda m, x: np.linalg.inv(m), np.linalg.LinAlgError, "Singular matrix", (np.zeros((2, 2)), np.ones(3))),
    (lambda m, x: np.linalg.solve(m, x), ValueError, "as many rows as the matrix", (np.eye(3), np.ones(2))),
    (lambda m, x: np.linalg.inv(m), np.linalg.LinAlgError, "must be square", (np.ones((2, 3)), np.ones(3))),
    (lambda m, x: np.linalg.det(m), np.linalg.LinAlgError, "must be square", (np.ones((3, 2)), np.ones(3))),
    (lambda m, x: np.linalg.cholesky(m), np.linalg.LinAlgError, "not positive definite", (-np.eye(3), np.ones(3))),
]


@EVERY_WAY
@pytest.mark.parametrize(("function", "error", "text", "args"), WRONG)
def test_systems_that_have_no_solution(function, error, text, args, options):
    with pytest.raises(error, match=text) as caught:
        spmdvm.kernel(**options)(function)(*args)
    assert isinstance(caught.value, spmdvm.Trap) and caught.value.file == __file__
    assert "np.linalg" in linecache.getline(__file__, caught.value.line)
    with pytest.raises(error):
        function(*args)


@EVERY_WAY
def test_singular_matrices_have_a_determinant(options):
    kernel = spmdvm.kernel(**options)(lambda m: np.linalg.det(m))
    assert kernel(np.ones((4, 4))) == kernel(np.zeros((2, 2))) == 0
    assert np.isnan(kernel(np.full((2, 2), np.nan)))


def test_one_lane_has_a_singular_matrix():
    @spmdvm.kernel
    def kernel(ms, out):
        for i in spmdvm.foreach(len(ms)):
            if i != 3:
                out[i] = np.linalg.inv(ms[i])[0]

    ms, out = np.array([np.eye(2) * (i - 3) for i in range(9)]), np.zeros((9, 2))
    kernel(ms, out)
    assert (out[[0, 8], 0] == (-1 / 3, 1 / 5)).all() and (out[3] == 0).all()
    ms[5] = 1
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        kernel(ms, out)


def relaxed(m, x, steps):
    for _ in range(steps):
        x = np.linalg.solve(m, x + 1)
    return x


def test_functions_solve_equations():
    @spmdvm.kernel
    def kernel(m, x):
        y = relaxed(m, x, 3)
        inverse = np.linalg.inv(m)
        return y, inverse @ m, np.trace(inverse) / np.linalg.det(m), np.max(np.abs(np.linalg.solve(m, m) - np.eye(4)))

    m, x = matrix(4) + 4 * np.eye(4), rng.normal(size=4)
    y, one, ratio, rest = kernel(m, x)
    assert near(y, relaxed(m, x, 3), m) and np.allclose(one, np.eye(4), 1e-9) and rest < 1e-12
    assert np.isclose(ratio, np.trace(np.linalg.inv(m)) / np.linalg.det(m))


@pytest.mark.parametrize(("function", "message"), [
    (lambda a: np.linalg.inv(a[0]), "`np.linalg.inv` takes a matrix in a kernel"),
    (lambda a: np.linalg.det(a[None]), "loop over the matrices"),
    (lambda a: np.linalg.solve(a), "`np.linalg.solve` takes `a` and `b`"),
    (lambda a: np.linalg.solve(a, a[None]), "right sides are a vector or the columns of a matrix"),
    (lambda a: np.linalg.inv(a.astype(np.float16)), r"convert it: `a.astype\(np.float32\)`"),
    (lambda a: np.linalg.cholesky(a * 1j), "matrices of complex numbers have no such factor"),
    (lambda a: np.linalg.cholesky(a, upper=len(a)), "`upper` is `True` or `False`"),
    (lambda a: np.linalg.qr(a), "write the loops; or call it outside"),
])  # fmt: skip
def test_what_is_not_solved(function, message):
    with pytest.raises(spmdvm.CompileError, match=message):
        spmdvm.kernel(function)(np.eye(3))
