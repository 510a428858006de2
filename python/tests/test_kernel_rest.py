"""Kernels and functions in them that take as many arguments as they are given: `*rest`."""

import pickle

import numpy as np
import pytest
import spmdvm


def over_windows(a, width, f, *rest):
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = f(i, a[max(0, i - width + 1) : i + 1], *rest)
    return out


def greatest(i, part):
    return np.max(part)


def weighed(i, part, weights, offset):
    return np.sum(part * weights[0]) + offset * i


def on_and_on(a, depth, *rest):
    if depth == 0:
        return a + sum(rest)
    return on_and_on(a, depth - 1, *rest)


@spmdvm.kernel
def scaled(x, *factors):
    for factor in factors:
        x = x * factor
    return x


def test_what_is_left_is_passed_on():
    def without(a):
        return over_windows(a, 3, greatest)

    def with_some(a, weights):
        return over_windows(a, 2, weighed, weights, 0.5)

    a, weights = np.array([3.0, 1.0, 4.0, 1.0, 5.0]), np.array([2.0, 7.0])
    assert spmdvm.kernel(without)(a).tolist() == without(a).tolist()
    assert spmdvm.kernel(with_some)(a, weights).tolist() == with_some(a, weights).tolist()


def test_kernels_take_what_is_left_as_a_tuple():
    assert scaled(2.0) == 2 and scaled(2.0, 3) == 6 and scaled(2.0, 3, 0.5) == 3
    assert scaled(np.arange(3.0), 2, 2).tolist() == [0, 4, 8]

    @spmdvm.kernel
    def line(a, *rest, at=0):
        return a[at] + len(rest) + sum(rest)

    assert line(np.array([1.5, 2.5]), at=1) == 2.5
    assert line(np.array([1.5, 2.5]), 10) == 12.5

    @spmdvm.kernel
    def both(a):
        return scaled(a[0], 2, 3) + line(a, 1.0)

    assert both(np.array([1.0])) == 9
    assert pickle.loads(pickle.dumps(scaled))(1.0, 4) == 4


def test_functions_that_call_themselves_pass_it_on():
    @spmdvm.kernel
    def sums(x):
        return on_and_on(x, 3, 1.0, 2.0)

    assert sums(1.0) == 4


def test_nothing_is_left():
    @spmdvm.kernel
    def count(x, *rest):
        found = x
        for r in rest:
            found += r
        else:
            found += 100
        return found

    assert count(1) == 101 and count(1, 2) == 103


def test_what_it_does_not_take():
    def of_function(x, *rest):
        return x

    @spmdvm.kernel
    def passes(x):
        return of_function(x, greatest)

    with pytest.raises(spmdvm.CompileError, match=r"`\*rest` of `of_function` takes numbers and arrays in a kernel"):
        passes(1.0)
    with pytest.raises(TypeError, match=r"`factors` has no type of kernels: a tuple with a `ndarray` in it"):
        scaled(1.0, np.zeros(3))

    def named(**options):
        return 1

    @spmdvm.kernel
    def calls(x):
        return x + named()

    with pytest.raises(spmdvm.CompileError, match=r"`named` has a `\*\*` parameter"):
        calls(1.0)
