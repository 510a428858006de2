"""Branches of kernels by the dimensions of arrays, of which the other ones are for other arrays."""
# ruff: noqa: SIM102, SIM108 (branches are the matter)

import numpy as np
import pytest
import spmdvm

A = np.array([1.0, 3, 5, 0])
M = np.outer(A, A)


def of_vectors(x, y):
    total = 0.0
    for i in range(min(x.shape[0], y.shape[0])):
        total += (x[i] - y[i]) ** 2
    return total


def of_rows(x, y):
    total = 0.0
    for k in range(x.shape[0]):
        total += of_vectors(x[k], y[k])
    return total


def distance(x, y):
    if x.ndim == 1 and y.ndim == 1:
        return of_vectors(x, y)
    if x.ndim == 2 and y.ndim == 2:
        return of_rows(x, y)
    raise ValueError("x and y are vectors or matrices")


def alone(x):
    if x.ndim == 1:
        m = x.reshape((1, x.shape[0]))
        return of_rows(m, m + 1)
    elif len(x.shape) == 2:
        return of_rows(x, x + 1)
    else:
        return -1.0


def element(a, i, k):
    return a[i] if a.ndim == 1 else a[i, k]


def nested(a, i, k):
    if a.ndim == 0 or a.ndim > 2:
        return 0.0
    if a.ndim < 2:
        if not a.ndim >= 2:
            return a[i]
    return a[i, k]


def width(a):
    if a.ndim != 1:
        n = a.shape[1]
    else:
        n = -len(a)
    return n


@pytest.mark.parametrize("array", [A, M], ids=["vector", "matrix"])
def test_the_branch_for_an_array_is_taken(array):
    for function, args in (
        (distance, (array, array + 1)),
        (alone, (array,)),
        (element, (array, 1, 2)),
        (nested, (array, 1, 2)),
        (width, (array,)),
    ):
        assert spmdvm.kernel(function)(*args) == function(*args)


def test_one_function_is_called_for_both():
    def all_of(a):
        m = np.outer(a, a)
        return distance(a, a + 1), distance(m, m + 1), element(a, 1, 2), element(m, 1, 2), alone(a), alone(m)

    assert spmdvm.kernel(all_of)(A) == all_of(A)


def test_what_no_branch_is_for_is_raised():
    with pytest.raises(ValueError, match="x and y are vectors or matrices"):
        spmdvm.kernel(distance)(A, M)


def test_conditions_that_a_number_decides_are_asked_when_it_runs():
    def chosen(a, n):
        if n > 1 and a.ndim == 1:
            return a[1]
        if a.ndim == n:
            return a[2]
        return a[0]

    kernel = spmdvm.kernel(chosen)
    assert [kernel(A, n) for n in (0, 1, 2)] == [1, 5, 3]
