"""Functions of matrices that are written here, in Python, as those of `_library` are: norms, covariances, equations.

Sums are made in the order of `np.sum` in a kernel, which numpy makes in another.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _library
from ._library import array_for, number_for

# `spmdvm.foreach`, which is put here when it is made.
foreach: Any = None


@number_for(np.linalg.norm)
def norm(x):
    # Integers are floats before they are squared, in numpy too.
    return np.sqrt(np.sum(np.real((x * 1.0) * np.conj(x * 1.0))))


def norm_of_two(x):
    """Give the same of a vector."""
    return norm(x)


def norm_of_sum(x):
    """Give the sum of the magnitudes."""
    return np.sum(np.abs(x * 1.0))


def norm_of_greatest(x):
    """Give the greatest magnitude."""
    if len(x) == 0:
        return 0.0
    return np.max(np.abs(x * 1.0))


def norm_of_least(x):
    """Give the least magnitude."""
    return np.min(np.abs(x * 1.0))


def norm_of_inverses(x):
    """Give the inverse of the sum of the inverse magnitudes."""
    return 1 / np.sum(1 / np.abs(x * 1.0))


def norm_of_matrix(x):
    """Give the root of the sum of all squares."""
    return norm(x)


def greatest_of_columns(x):
    """Give the greatest sum of magnitudes in a column."""
    greatest = np.sum(np.abs(x[:0] * 1.0))
    for j in range(x.shape[1]):
        greatest = np.maximum(greatest, np.sum(np.abs(x[:, j] * 1.0)))
    return greatest


def least_of_columns(x):
    """Give the least sum of magnitudes in a column."""
    assert x.shape[1] > 0, "the least column is one of at least one"
    least = np.sum(np.abs(x[:, 0] * 1.0))
    for j in range(1, x.shape[1]):
        least = np.minimum(least, np.sum(np.abs(x[:, j] * 1.0)))
    return least


def greatest_of_rows(x):
    """Give the greatest sum of magnitudes in a row."""
    return greatest_of_columns(x.T)


def least_of_rows(x):
    """Give the least sum of magnitudes in a row."""
    return least_of_columns(x.T)


def _products_of_rows(m):
    # Of one row numpy gives a number.
    assert len(m) != 1, "variances are those of two rows and more"
    apart = m.astype(np.float64)
    apart -= np.mean(apart, axis=1)[:, None]
    return apart @ apart.T


def _products_of_two(x, y):
    assert len(x) == len(y), "both arrays have as many elements"
    # Without copies: lengths may be computed. (Products with it are of 64 bits.)
    unit = np.float64(1)
    mean, other_mean = np.mean(x * unit), np.mean(y * unit)
    both = np.sum((x * unit - mean) * (y * unit - other_mean))
    return np.array([[np.sum((x * unit - mean) ** 2), both], [both, np.sum((y * unit - other_mean) ** 2)]])


def _cov_of_both(m, y=None, *, bias=False, ddof=None):
    # (In 64 bits before they are joined: some types have none in common.)
    unit = np.float64(1)
    rows = np.concatenate((np.atleast_2d(m * unit), np.atleast_2d(y * unit)))
    return cov(rows, bias=bias, ddof=ddof)


@array_for(np.cov)
def cov(m, y=None, *, bias=False, ddof=None):
    if y is None:
        out = _products_of_rows(m)
        count = m.shape[1]
    else:
        out = _products_of_two(m, y)
        count = len(m)
    less = ddof if ddof is not None else 0 if bias else 1
    out /= max(count - less, 0)
    return out


def _cov_of_one(m, y=None, *, bias=False, ddof=None):
    # Of one vector it is a number.
    apart = m * np.float64(1)
    mean = np.mean(apart)
    less = ddof if ddof is not None else 0 if bias else 1
    return np.sum((apart - mean) ** 2) / max(len(m) - less, 0)


def _correlation_of_one(x, y=None):
    variance = _cov_of_one(x)
    return variance / variance


@array_for(np.corrcoef)
def corrcoef(x, y=None):
    out = cov(x, y)
    deviations = np.empty(len(out))
    for i in range(len(out)):
        deviations[i] = np.sqrt(out[i, i])
    # (In two steps, so that nothing is too small.)
    out /= deviations[:, None]
    out /= deviations
    out[:] = np.clip(out, -1.0, 1.0)
    return out


@number_for(np.trace)
def trace(a, offset=0):
    total = np.sum(a[:0])
    down, right = max(-offset, 0), max(offset, 0)
    for k in range(min(a.shape[0] - down, a.shape[1] - right)):
        total += a[k + down, k + right]
    return total


# Systems of equations. All changes what it is given; what is computed in a `foreach` around goes by `range`.


def _row_of_pivot(m, k):
    place, most = k, abs(m[k, k])
    for i in range(k + 1, len(m)):
        size = abs(m[i, k])
        if size > most:
            place, most = i, size
    return place


def _exchange(m, i, j):
    for k in foreach(m.shape[1]):
        m[i, k], m[j, k] = m[j, k], m[i, k]


def _exchange_numbers(m, i, j):
    m[i], m[j] = m[j], m[i]


def _take_below(factors, m, k):
    # Takes multiples of a row from those below.
    for i, j in foreach((k + 1, len(factors)), m.shape[1]):
        m[i, j] -= factors[i, k] * m[k, j]


def _take_number_below(factors, m, k):
    for i in foreach((k + 1, len(factors))):
        m[i] -= factors[i, k] * m[k]


def _take_above(factors, m, k):
    # Divides a row, and takes multiples of it from those above.
    for j in foreach(m.shape[1]):
        m[k, j] /= factors[k, k]
    for i, j in foreach(k, m.shape[1]):
        m[i, j] -= factors[i, k] * m[k, j]


def _take_number_above(factors, m, k):
    m[k] /= factors[k, k]
    for i in foreach(k):
        m[i] -= factors[i, k] * m[k]


def _decompose(m, k):
    # Has factors below a pivot, and takes multiples of its row from those below, right of it.
    for i in foreach((k + 1, len(m))):
        m[i, k] /= m[k, k]
    for i, j in foreach((k + 1, len(m)), (k + 1, m.shape[1])):
        m[i, j] -= m[i, k] * m[k, j]


def solve(m, x):
    """Put the solutions in the place of right sides; return whether there are any."""
    for k in range(len(m)):
        place = _row_of_pivot(m, k)
        if m[place, k] == 0:
            return False
        if place != k:
            _exchange(m, k, place)
            _exchange(x, k, place)
        _decompose(m, k)
        _take_below(m, x, k)
    for k in range(len(m) - 1, -1, -1):
        _take_above(m, x, k)
    return True


@number_for(np.linalg.det)
def det(m):
    # (It is a copy, of floats.)
    product = np.sum(m[:0]) + 1
    for k in range(len(m)):
        place = _row_of_pivot(m, k)
        product *= m[place, k]
        if m[place, k] == 0:
            return product
        if place != k:
            _exchange(m, k, place)
            product = -product
        _decompose(m, k)
    return product


def cholesky(m):
    """Put the lower factor in the place of a matrix; return whether there is one."""
    for k in range(len(m)):
        if not m[k, k] > 0:
            return False
        m[k, k] = np.sqrt(m[k, k])
        for i in foreach((k + 1, len(m))):
            m[i, k] /= m[k, k]
        for i, j in foreach((k + 1, len(m)), (k + 1, m.shape[1])):
            if j <= i:
                m[i, j] -= m[i, k] * m[j, k]
    for i, j in foreach(len(m), m.shape[1]):
        if j > i:
            m[i, j] = 0
    return True


_library.note(
    (norm, norm_of_two, norm_of_sum, norm_of_greatest, norm_of_least, norm_of_inverses, norm_of_matrix,
     greatest_of_columns, least_of_columns, greatest_of_rows, least_of_rows, trace, solve, det, _exchange_numbers,
     _take_number_below, _take_number_above),
    {
        norm: _library.Choice(
            "ord", 1, {
                None: norm, 1: norm_of_sum, 2: norm_of_two, math.inf: norm_of_greatest, -math.inf: norm_of_least,
                "fro": norm_of_matrix, -1: norm_of_inverses,
            },
        ),
    },
    {
        norm_of_two: 1, norm_of_sum: 1, norm_of_greatest: 1, norm_of_least: 1, _products_of_two: 1,
        norm_of_inverses: 1, norm_of_matrix: 2, _products_of_rows: 2,
    },
    {
        norm_of_sum: {(2,): greatest_of_columns},
        norm_of_greatest: {(2,): greatest_of_rows},
        norm_of_least: {(2,): least_of_rows},
        norm_of_inverses: {(2,): least_of_columns},
        _exchange: {(1,): _exchange_numbers},
        _take_below: {(2, 1): _take_number_below},
        _take_above: {(2, 1): _take_number_above},
        corrcoef: {(1,): _correlation_of_one},
        cov: {(1,): _cov_of_one, **dict.fromkeys([(1, 2), (2, 1), (2, 2)], _cov_of_both)},
    },
    {cov: ("m", "y"), corrcoef: ("x", "y")},
)  # fmt: skip
