"""Kernels have arrays of the elements of others at other places: repeated, rolled, turned round, on diagonals."""

import numpy as np
import pytest
import spmdvm
from ways import EVERY_WAY

rng = np.random.default_rng(21)
A, V, M = rng.random(6), np.arange(3, dtype=np.int16), rng.random((3, 4))
CUBE = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


def same(found, expected):
    """Return whether arrays, or tuples of them, are the same to the last bit, of the same types."""
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    found, expected = np.asarray(found), np.asarray(expected)
    alike = found.shape == expected.shape and found.dtype == expected.dtype
    return alike and found.tobytes() == expected.tobytes()


def check(function, *args, **options):
    """Compare a kernel with the function run by Python, also in what they do to their arguments."""
    given, own = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    expected, found = function(*given), spmdvm.kernel(**options)(function)(*own)
    assert same(found, expected), (found, expected)
    assert all(map(same, own, given))


def repeated(a, v, m, cube, n):
    return (
        np.repeat(a, 3), np.repeat(a, n), np.repeat(v, 0), np.repeat(m, 2), np.repeat(m + 1, n, 1),
        np.repeat(m[1:, ::2], 2, axis=0), np.repeat(cube, n, axis=-2), np.repeat(a[a > 0.5], 2), np.repeat(a[:0], 4),
        np.repeat([1, 2.5], 2), np.repeat(len(a), 3), np.repeat(v > 0, repeats=n, axis=None),
    )  # fmt: skip


def tiled(a, v, m, cube, n):
    return (
        np.tile(a, 3), np.tile(v, n), np.tile(m, 2), np.tile(m.T, (2, 1)), np.tile(m, (n, 2, 3)), np.tile(a, (2, 1)),
        np.tile(a[a > 0.5], n), np.tile(cube, (1, n, 1)), np.tile((1, 2), 2), np.tile(a[0], (2, n)), np.tile(v, 0),
    )  # fmt: skip


def rolled(a, v, m, cube, n):
    return (
        np.roll(a, -2), np.roll(v, n), np.roll(a, 100), np.roll(a, -100), np.roll(a, -n, axis=0), np.roll(a[:0], 1),
        np.roll(m, 1), np.roll(m, -5), np.roll(cube, 7), np.roll(m[1:, 1:], n), np.roll(m * 2, 1) + 1,
        np.roll(m, 1, axis=0), np.roll(m, n, 1), np.roll(m, (1, n), (0, 1)), np.roll(m, (1, 2), axis=(0, 0)),
        np.roll(m, 1, (0, 1)), np.roll(cube, -1, axis=-2), np.roll(a[a > 0.5], 1),
        np.roll(m.T, n, 0), np.roll(a, (1, n)),
    )  # fmt: skip


def turned(a, v, m, cube, n):
    x, y = np.flip(m, 1), np.flipud(a)
    x[0, 0] = y[n] = 7
    return (
        x, y, m, np.flip(m), np.flip(m, 0), np.flip(cube, (0, 2)), np.fliplr(m), np.flipud(m), np.flip(m * 2, axis=-1),
        np.atleast_1d(a), np.atleast_1d(m), np.atleast_2d(a), np.atleast_2d(cube), np.atleast_2d(a * 2),
        np.atleast_1d(n), np.atleast_2d(a[0]), np.fliplr(cube)[1], np.flip(a)[1:],
    )  # fmt: skip


def on_diagonals(a, v, m, cube, n):
    return (
        np.diag(a), np.diag(v, n), np.diag(v, k=-1), np.diag(a[a > 0.5][:1]), np.diag(np.diag(m)), np.diag([1, 2]),
        np.diag(m), np.diag(m, 1), np.diag(m, -n), np.diag(m, -7), np.diag(m.T, 1), np.diagonal(m, offset=n),
        np.diag(m * 2), np.trace(m), np.trace(m, 1), np.trace(cube[1], offset=-n), np.trace(m, 9),
        np.eye(3), np.eye(3, 4), np.eye(3, k=1), np.eye(len(a), 4, 1, np.int32), np.eye(n, 5, -n), np.eye(4, 3, n - 3),
        np.eye(3, 4, k=-9), np.identity(3), np.identity(n=n, dtype=bool), np.eye(N=n, M=None, dtype=complex)[1],
    )  # fmt: skip


@EVERY_WAY
@pytest.mark.parametrize("function", [repeated, tiled, rolled, turned], ids=lambda f: f.__name__)
def test_elements_at_other_places(function, options):
    check(function, A, V, M, CUBE, 2, **options)


@EVERY_WAY
def test_diagonals(options):
    check(on_diagonals, A, V, M, CUBE, 2, **options)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64", "complex128"])
def test_types_stay(dtype):
    def kernel(a, m):
        many = np.repeat(a, 2), np.tile(m, (2, 1)), np.roll(m, 1), np.roll(a, 1), np.flip(m)
        return many, np.diag(a), np.diag(m, 1), np.atleast_2d(a)

    m = (rng.random((5, 3)) * 9).astype(dtype)
    check(kernel, m[0].copy(), m)


@EVERY_WAY
def test_each_lane_puts_elements_to_other_places(options):
    def own(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i, :8] = np.repeat(m[i], 2) * np.tile(m[i], 2) + np.roll(m[i] * 2, i)[0]
            square = np.roll(np.reshape(m[i] + 1, (2, 2)), i)
            out[i, 8] = np.trace(square) + 10 * square[0, 1] + 100 * np.sum(np.diag(m[i], 1)[0])
            out[i, 9] = np.sum(np.eye(3, 4, 1)[0] * np.flip(m[i])) + np.sum(np.diag(square, 1))

    m = rng.random((21, 4))
    found, expected = np.zeros((21, 10)), np.zeros((21, 10))
    for i, x in enumerate(m):
        expected[i, :8] = np.repeat(x, 2) * np.tile(x, 2) + np.roll(x * 2, i)[0]
        square = np.roll(np.reshape(x + 1, (2, 2)), i)
        expected[i, 8] = np.trace(square) + 10 * square[0, 1] + 100 * x[0]
        expected[i, 9] = np.flip(x)[1] + square[0, 1]
    spmdvm.kernel(**options)(own)(m, found)
    assert np.allclose(found, expected, 1e-14)


def test_arrays_with_names_change_places():
    def kernel(a, n):
        b = np.repeat(a, 2)
        for i in range(n):
            b = np.roll(b, i) + b
        d = np.diag(b)
        b[0] = 0
        return b, d, np.median(np.roll(a, 1)), a[:, None] * np.tile(a, 2), np.max(np.roll(d, 1, 0) - d)

    check(kernel, A, 3)


def test_methods_put_elements_to_other_places():
    def kernel(a, m, n):
        return a.repeat(n), m.repeat(2, axis=1), (m * 2).repeat(2), m.diagonal(), m.T.diagonal(1), a[1:].repeat(2, 0)

    check(kernel, A, M, 3)
    check(lambda m: m.diagonal(), M)
    check(lambda m: m.repeat(2), M)
    with pytest.raises(spmdvm.CompileError, match=r"write `np.trace\(m\)`"):
        spmdvm.kernel(lambda m: len(m) + m.trace())(M)


@EVERY_WAY
def test_arrays_are_stacked(options):
    def kernel(a, v, m):
        x = a[:3]
        return (
            np.stack((a, a * 2)), np.stack([x, v, x], axis=1), np.stack((x, v), -1), np.stack((m, m + 1), axis=1),
            np.stack((m, m), axis=2), np.stack((m.T, m.T), -3), np.column_stack((x, v)), np.vstack((x, v, x)),
            np.column_stack((m, v, m[:, 1:])), np.vstack((m, a[2:], m)), np.stack((np.diff(a), a[1:]), axis=1)[2],
        )  # fmt: skip

    check(kernel, A, V, M, **options)


def test_stacked_arrays_have_one_shape():
    for kernel in (lambda a, m: np.stack((a, m)), lambda a, m: np.stack((m, m), axis=3)):
        with pytest.raises(spmdvm.CompileError, match="arrays of as many dimensions are joined"):
            spmdvm.kernel(kernel)(A, M)
    with pytest.raises(spmdvm.AssertionFailed, match="equal lengths"):
        spmdvm.kernel(lambda a: np.stack((a, a[1:])))(A)


def twice(x, n):
    return np.repeat(np.tile(x, n), 2)


def test_functions_put_elements_to_other_places():
    check(lambda a, m: (twice(a, 2), twice(a * 2, 3), twice(m, 1)), A, M)


def test_an_outer_product_is_of_all_elements():
    check(lambda a, m, v: (np.outer(a, v), np.outer(m, v), np.outer(a, m[1:]), np.outer(m.T, m)), A, M, V)


def test_counts_are_not_negative():
    for kernel in (spmdvm.kernel(lambda a, n: np.repeat(a, n)), spmdvm.kernel(lambda a, n: np.tile(a, (2, n)))):
        assert kernel(A, 1).size in (6, 12)
        with pytest.raises(spmdvm.AssertionFailed, match="is not negative"):
            kernel(A, -1)
