"""Functions of numpy whose results are as long as turns out, as they are translated: where elements are not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _library

# What counts elements; it is there when these functions are translated.
foreach: Any = None


@_library.array_for(np.flatnonzero)
def flatnonzero(a):
    out = np.zeros(np.count_nonzero(a), np.int64)
    k = 0
    for at, x in enumerate(a.ravel()):
        if x:
            out[k] = at
            k += 1
    return out


@_library.array_for(np.argwhere)
def argwhere(m):
    out = np.zeros((np.count_nonzero(m), 2), np.int64)
    k = 0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j]:
                out[k] = i, j
                k += 1
    return out


def places_in_rows(m):
    """Give the rows and the columns of the elements that are not zero."""
    places = argwhere(m)
    return places[:, 0].copy(), places[:, 1].copy()


def argwhere_in_row(m):
    """Give the indices of the elements of a row, one in each."""
    return flatnonzero(m).reshape(-1, 1)


def chosen_rows(m, mask):
    """Give the rows of an array that a mask chooses."""
    count, k = np.count_nonzero(mask), 0
    out = np.zeros((count, m.shape[1]), m.dtype)
    assert len(mask) == len(m), "a mask has an element for each row"
    for i in range(len(mask)):
        if mask[i]:
            out[k] = m[i]
            k += 1
    return out


def taken_rows(m, indices):
    """Give the rows of an array that indices choose."""
    n = len(m)
    out = np.zeros((len(indices), m.shape[1]), m.dtype)
    for i in range(len(indices)):
        k = indices[i]
        out[i] = m[k + n if k < 0 else k]
    return out


def taken_columns(m, indices):
    """Give the columns of an array that indices choose."""
    w = m.shape[1]
    out = np.zeros((len(m), len(indices)), m.dtype)
    for i, j in foreach(len(m), len(indices)):
        k = indices[j]
        out[i, j] = m[i, k + w if k < 0 else k]
    return out


def repeated(a, counts):
    """Give each element as often as a count says that belongs to it."""
    assert len(a) == len(counts), "there is a count for each element"
    total = 0
    for n in counts:
        assert n >= 0, "repeats may not contain negative values"
        total += n
    out = np.empty(total, a.dtype)
    k = 0
    for i in range(len(a)):
        for _ in range(counts[i]):
            out[k] = a[i]
            k += 1
    return out


def places_of(a, values):
    """Give where each value comes among elements that are in order."""
    out = np.zeros(len(values), np.int64)
    for i in foreach(len(values)):
        out[i] = _library.searchsorted(a, values[i])
    return out


def places_behind(a, values):
    """Do the same, but give the places behind elements that are equal."""
    out = np.zeros(len(values), np.int64)
    for i in foreach(len(values)):
        out[i] = _library.searchsorted_right(a, values[i])
    return out


def partitioned(a, places):
    """Put elements in order, of which several have to come to their places."""
    for k in places:
        assert -len(a) <= k < len(a), "`partition` takes places of elements"
    return np.sort(a)


def indices_partitioned(a, places):
    """Give the indices that do so."""
    for k in places:
        assert -len(a) <= k < len(a), "`argpartition` takes places of elements"
    return np.argsort(a)


def bins_of(values, bins):
    """Give in which bin each value is."""
    order, n = _library.order_of(bins), len(bins)
    out = np.zeros(len(values), np.int64)
    for i in foreach(len(values)):
        if order > 0:
            out[i] = _library.searchsorted_right(bins, values[i])
        else:
            out[i] = n - _library.searchsorted_right(bins[::-1], values[i])
    return out


def bins_with_right_edges(values, bins):
    """Do the same, of bins that have their right edges."""
    order, n = _library.order_of(bins), len(bins)
    out = np.zeros(len(values), np.int64)
    for i in foreach(len(values)):
        if order > 0:
            out[i] = _library.searchsorted(bins, values[i])
        else:
            out[i] = n - _library.searchsorted(bins[::-1], values[i])
    return out


def quantiles(a, q):
    """Give several quantiles."""
    in_order = np.sort(a.ravel())
    out = np.zeros(len(q), (in_order[0] + q[0] * 1.0).dtype)
    for k in range(len(q)):
        out[k] = _library.quantile_in_order(in_order, q[k])
    return out


def ends(a, q):
    """Give several elements at the ends of the order."""
    in_order = np.sort(a.ravel())
    out = np.zeros(len(q), a.dtype)
    for k in range(len(q)):
        out[k] = _library.end_in_order(in_order, q[k])
    return out


def percentiles(a, q):
    """Give several percentiles."""
    return quantiles(a, q / 100)


def distinct_parts(a):
    """Give one of each of the elements, where it comes first, which of them each is, and how often each comes."""
    n = len(a)
    order = np.argsort(a)
    count = 0
    for k in range(n):
        if k == 0 or _differ(a[order[k - 1]], a[order[k]]):
            count += 1
    values, first, counts = np.empty(count, a.dtype), np.zeros(count, np.int64), np.zeros(count, np.int64)
    inverse = np.zeros(n, np.int64)
    at = -1
    for k in range(n):
        i = order[k]
        if k == 0 or _differ(a[order[k - 1]], a[i]):
            at += 1
            values[at] = a[i]
            first[at] = i
        inverse[i] = at
        counts[at] += 1
    return values, first, inverse, counts


def _differ(x, y):
    # NaNs are one to numpy.
    return x != y and (x == x or y == y)


_library.note(
    (argwhere, flatnonzero, places_in_rows, argwhere_in_row, chosen_rows, taken_rows, taken_columns, repeated),
    dimensions={argwhere: 2},
    by_dimensions={argwhere: {(1,): argwhere_in_row}},
)
