"""Loops of kernels over all indices of a shape: `np.ndindex`, `np.ndenumerate`."""

import numpy as np
import pytest
import spmdvm
from test_kernel_rearranged import check
from ways import EVERY_WAY

rng = np.random.default_rng(22)
A, M = rng.random(6), rng.random((3, 4))
CUBE = rng.integers(0, 100, (2, 3, 4))


def in_order(m, cube, n):
    t = 0
    last = (0, 0)
    for i, j in np.ndindex(3, 4):
        t = t * 3 + i - 2 * j
        last = (i, j)
    for i, j, k in np.ndindex(cube.shape):
        t = t * 3 + cube[i, j, k]
        i = 5
    for at in np.ndindex((n, n + 1)):
        t = t * 3 + int(100 * m[at]) + at[0]
    for i, j in np.ndindex(*m.shape):
        if j == n:
            continue
        t = t * 3 + i + j
    for (i,) in np.ndindex(n):
        t = t * 3 + i
    return t, last


def until(cube, n):
    t = np.zeros(3)
    i = j = k = 9
    for i, j, k in np.ndindex(cube.shape):
        t[0] += cube[i, j, k]
        if cube[i, j, k] > 90:
            break
    else:
        t[1] = 1
    for x in np.ndindex(n, n):
        if x == (n, 0):
            break
    else:
        t[2] = 1
    return t, i, j, k


def enumerated(a, m, cube):
    t = 0.0
    for (i, j), x in np.ndenumerate(m):
        t = t / 2 + x * i
        m[2 - i, j] += t
    for at, x in np.ndenumerate(cube[:, 1:, ::2]):
        t = t / 2 + x * at[2] - cube[at]
        if t > 1e3:
            break
    for (i,), x in np.ndenumerate(a * 2):
        t = t / 2 + a[i] - x
    return t


@EVERY_WAY
@pytest.mark.filterwarnings("ignore")
def test_indices_come_in_order(options):
    check(in_order, M, CUBE, 2, **options)


@EVERY_WAY
@pytest.mark.parametrize("most", [100, 50])
def test_a_loop_over_indices_is_left(most, options):
    check(until, CUBE % most, 2, **options)


@EVERY_WAY
def test_elements_come_with_their_indices(options):
    check(enumerated, A, M, CUBE, **{**options, "fp": "strict"})


@EVERY_WAY
def test_indices_in_a_foreach(options):
    @spmdvm.kernel(**options)
    def kernel(m, out):
        for i in spmdvm.foreach(len(m)):
            for j, k in np.ndindex(i % 4, 2):
                out[i] += m[i, j] * k
            for j, k in np.ndindex(4, i):
                if m[i, j] * k > 1.5:
                    break
                out[i] += 10

    m, found, expected = rng.random((21, 4)), np.zeros(21), np.zeros(21)
    for i, row in enumerate(m):
        expected[i] = row[: i % 4].sum()
        for j, k in np.ndindex(4, i):
            if row[j] * k > 1.5:
                break
            expected[i] += 10
    kernel(m, found)
    assert np.allclose(found, expected)


def test_a_shape_without_elements_has_no_indices():
    def kernel(m, n):
        i, j = 7, 8
        for i, j in np.ndindex(n, 0):
            m[i, j] = 1
        for i, j in np.ndindex(m[:0].shape):
            if m[i, j] > 0:
                break
        return i, j, m

    check(kernel, M, 5)


def test_lengths_of_a_shape_are_not_negative():
    @spmdvm.kernel
    def kernel(m, n):
        for i, j in np.ndindex(2, n):
            m[i, j] = 1

    with pytest.raises(spmdvm.AssertionFailed, match="lengths of a shape are from 0"):
        kernel(M.copy(), -1)
