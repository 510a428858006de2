"""Elementwise kernels over arrays that do not lie in the order of their axes: values, layouts, traps."""

import itertools

import numpy as np
import pytest
import spmdvm

rng = np.random.default_rng(5)
SHAPE = (3, 5, 7)


@spmdvm.kernel
def one(x, y):
    return x * 2 + y


@spmdvm.kernel
def two(x, y):
    return x + y, x > y


def lies(axes, values):
    """Give an array of this shape whose axes lie in the given order, the first one outermost."""
    return np.ascontiguousarray(values.transpose(axes)).transpose(np.argsort(axes))


@pytest.mark.parametrize("axes", list(itertools.permutations(range(3))))
def test_results_lie_as_those_of_numpy(axes):
    x, y = (lies(axes, rng.integers(-9, 9, SHAPE).astype(np.float32)) for _ in range(2))
    for other in (y, 3, y[0, 0, 0], y[:1, :1, :1], y[0], y[0, 0], y[:, :1]):
        got, want = one(x, other), x * 2 + other
        np.testing.assert_array_equal(got, want)
        if not isinstance(other, np.ndarray) or other.shape == SHAPE:
            assert got.strides == want.strides
        for ours, theirs in zip(two(x, other), (x + other, x > other)):
            np.testing.assert_array_equal(ours, theirs)
    assert (spmdvm.evaluate("x * y", threads=2) == x * y).all() and (spmdvm.map("x - y", x, y) == x - y).all()


@pytest.mark.parametrize("kernel", [one, two])
def test_results_in_arrays_and_masks(kernel):
    results = 1 if kernel is one else 2
    x, y = (rng.normal(size=(20, 30)).T for _ in range(2))
    want = kernel(np.ascontiguousarray(x), y)
    where = x > 0
    for make in (np.zeros, lambda shape, dtype: np.zeros(shape[::-1], dtype).T):
        outs = [make(x.shape, dtype) for dtype in (np.float64, np.bool_)[:results]]
        out = outs[0] if results == 1 else tuple(outs)
        assert kernel(x, y, out=out, where=where) is out
        for mine, theirs in zip(outs, want if results == 2 else (want,)):
            assert (mine == np.where(where, theirs, 0)).all()
    chosen = kernel(x, y, where=where[:, :1])
    first = chosen if results == 1 else chosen[0]
    assert (first == np.where(where[:, :1], want if results == 1 else want[0], 0)).all()


def test_arrays_that_are_changed_in_place():
    x = rng.normal(size=(20, 30)).T
    want = x * 2 + x
    assert one(x, x, out=x) is x and (x == want).all()


def test_traps_tell_the_place_of_the_element():
    @spmdvm.kernel
    def parts(x):
        return 12 // x

    @spmdvm.kernel
    def both(x):
        return 12 // x, x

    x = np.full((4, 6), 3).T
    x[4, 1] = 0
    for kernel in (parts, both):
        for given in (x, x.copy()):
            with pytest.raises(ZeroDivisionError) as caught:
                kernel(given)
            assert caught.value.element == (4, 1) and caught.value.arguments == {"x": 0}
        with pytest.raises(ZeroDivisionError) as caught:
            kernel(x, out=(np.zeros_like(x), np.zeros_like(x))[: 1 if kernel is parts else 2])
        assert caught.value.element == (4, 1)


def test_time_that_is_out():
    @spmdvm.kernel(timeout=0.2)
    def endless(x):
        while x > 0:
            x = x * 1.0
        return x

    with pytest.raises(spmdvm.OutOfTime):
        endless(np.ones((4, 6)).T)
