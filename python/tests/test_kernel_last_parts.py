"""Parts of arrays that are named in loops and branches, and read behind them: they are the last ones, as in Python."""

import numpy as np
import pytest
import spmdvm
from test_kernel_made import check

M = np.arange(24.0).reshape(8, 3) % 7
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def of_a_row(m):
    for i in range(3):
        t = m[i]
    return t[1]


@kernel
def of_an_expression(m):
    for i in range(3):
        t = m[i]
    return t + 1


@kernel
def stored_to(m):
    for i in range(4):
        t = m[i, 1:]
    t[0] = 5
    t *= 2
    return t[0]


@kernel
def in_loops(m):
    total = 0.0
    for i in range(4):
        for j in range(2):
            t = m[i, j:]
        s = t[0]
        for k in range(len(t)):
            total += t[k] * i
    return t[1] + s * 2, total


@kernel
def of_parts(m):
    for i in range(3):
        t = m[i]
        u = t[1:]
        column = m[i:, 1].T
    for k in range(2):
        u[k] += k
    return u[0], t[2], np.sum(column), np.sum(u) + i


@kernel
def in_branches(m):
    s = 0.0
    for i in range(3):
        if m[i, 0] > 2:
            for j in range(2):
                t = m[j + i]
            s += t[1]
        else:
            for j in range(2):
                u = m[:, j]
            s -= u[i]
    return s


@kernel
def in_functions(m):
    def last(x):
        for i in range(2):
            t = x[i, ::2]
        return t[1] + np.sum(t)

    return last(m) + last(m[1:])


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS)
def test_behind_loops_parts_are_the_last_ones(function, options):
    check(function, M, **options)


def test_each_lane_has_last_parts_of_its_own():
    def of_lanes(m, out):
        for i in spmdvm.foreach(len(out)):
            for j in range(3):
                t = m[j + i]
                u = m[j, i % 2 :]
            out[i] = t[1] + np.sum(u) + u[0]

    out = np.zeros(5)
    spmdvm.kernel(of_lanes)(M, out)
    assert np.array_equal(out, [M[2 + i, 1] + np.sum(M[2, i % 2 :]) + M[2, i % 2] for i in range(5)])
