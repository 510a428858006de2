"""Kernels: what programs of others do that were written for Numba."""

import numpy as np

import spmdvm
from spmdvm._kernel import _usage


def applied(f, x, n):
    total = 0.0
    for k in range(n):
        total += f(x, k)
    return total


def power(x, k):
    return x**k


@spmdvm.kernel
def series(x, n):
    return applied(power, x, n)


@spmdvm.kernel
def turned(a, n):
    b = a.flatten()
    return b.reshape(n, -1)


def test_what_is_seen_of_a_kernel_is_found_out_once(monkeypatch):
    # Functions that are passed, and methods of variables, were taken for names that are not there yet.
    assert series(2.0, 4) == 15
    assert turned(np.arange(6.0), 2).tolist() == [[0, 1, 2], [3, 4, 5]]

    def looked(*_):
        raise AssertionError("looked at again")

    monkeypatch.setattr(_usage.Usage, "__init__", looked)
    assert series(3.0, 3) == 13
    assert turned(np.arange(4.0), 2).tolist() == [[0, 1], [2, 3]]
