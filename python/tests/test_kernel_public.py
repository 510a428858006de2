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


def test_nan_is_left_out():
    @spmdvm.kernel
    def summary(a):
        return np.nansum(a), np.nanmean(a), np.nanvar(a), np.nanstd(a, ddof=1), np.nanmin(a), np.nanmax(a)

    def plain(a):
        return np.nansum(a), np.nanmean(a), np.nanvar(a), np.nanstd(a, ddof=1), np.nanmin(a), np.nanmax(a)

    some = np.array([np.nan, 3, 1, np.nan, -7, 5])
    for a in (some, some.astype(np.float32), some[1:3].copy(), some.reshape(2, 3), np.array([3, -1, 4], np.int32)):
        got, expected = summary(a), plain(a)
        assert [np.asarray(x).dtype for x in got] == [x.dtype for x in expected]
        assert np.allclose(got, expected, rtol=1e-6)
    assert np.isnan(summary(np.full(3, np.nan))[1:]).all()


def test_the_places_of_elements():
    @spmdvm.kernel
    def places(a):
        return np.flatnonzero(a)

    assert places(np.array([3, 0, 2])).tolist() == [0, 2]

    @spmdvm.kernel
    def chosen(a):
        return np.arange(len(a))[a != 0]

    assert chosen(np.array([3, 0, 2])).tolist() == [0, 2]


def test_lengths_may_be_powers():
    @spmdvm.kernel
    def filled(r):
        out = np.empty((2 * r + 1) ** 2)
        out[:] = r
        return out

    assert filled(1).shape == (9,) and filled(3).tolist() == [3] * 49

    @spmdvm.kernel
    def by_bool(r):
        return np.empty(r**True)

    assert by_bool(3).shape == (3,)
