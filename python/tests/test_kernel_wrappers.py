"""Decorators: those that do more than to call the function are not left out silently."""

import functools
import pickle

import numpy as np
import pytest
import spmdvm


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(function(*args))

    return wrapper


class Counted:
    """A decorator that is an object."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.calls = 0

    def __call__(self, *args):
        self.calls += 1
        return self.__wrapped__(*args)


@twice
def next_one(x):
    return x + 1


@functools.lru_cache
def cached(x):
    return x + 1


@twice
@functools.lru_cache
def twice_cached(x):
    return x + 1


@functools.lru_cache
@twice
def cached_twice(x):
    return x + 1


counted = Counted(cached.__wrapped__)


@twice
def first_of(a):
    return a[0]


def test_a_kernel_is_no_function_that_is_wrapped():
    with pytest.raises(spmdvm.CompileError, match="`next_one` is wrapped by a decorator") as error:
        spmdvm.kernel(next_one)
    assert "def next_one(x):" in str(error.value)
    assert "put the decorator above `@spmdvm.kernel`" in str(error.value)
    with pytest.raises(spmdvm.CompileError, match="wrapped by a decorator"):
        spmdvm.vectorize(next_one)
    with pytest.raises(spmdvm.CompileError, match="wrapped by a decorator"):
        spmdvm.kernel(twice(lambda x: x + 1))
    with pytest.raises(spmdvm.CompileError, match="wrapped by a decorator"):
        spmdvm.kernel(functools.wraps(next_one)(lambda x: x + 1))
    with pytest.raises(TypeError, match="not Counted"):
        spmdvm.kernel(counted)


def test_a_kernel_is_wrapped():
    @twice
    @spmdvm.kernel
    def up(x):
        return x + 1

    assert up(np.arange(3)).tolist() == [2, 3, 4]


@pytest.mark.parametrize("function", [next_one, twice_cached, cached_twice, counted])
def test_functions_that_are_called_are_not_wrapped(function):
    with pytest.raises(spmdvm.CompileError, match="`function` is wrapped by a decorator") as error:
        spmdvm.kernel(lambda x: function(x) * 2)(np.arange(3))
    assert "`function.__wrapped__(…)`" in str(error.value)


def test_wrapped_functions_of_arrays():
    @spmdvm.kernel
    def total(a):
        s = 0
        for i in range(len(a)):
            s += a[i]
        return s + first_of(a)

    with pytest.raises(spmdvm.CompileError, match="`first_of` is wrapped by a decorator"):
        total(np.arange(3))


def test_the_function_within_is_called():
    kernel = spmdvm.kernel(lambda x: next_one.__wrapped__(x) * 2)
    assert kernel(np.arange(3)).tolist() == [2, 4, 6]


def test_caches_and_kernels_are_transparent():
    inner = spmdvm.kernel(cached.__wrapped__)
    assert spmdvm.kernel(lambda x: cached(x) * 2)(np.arange(3)).tolist() == [2, 4, 6]
    assert spmdvm.kernel(lambda x: inner(x) * 2)(np.arange(3)).tolist() == [2, 4, 6]


def test_what_numba_compiles_is_transparent():
    numba = pytest.importorskip("numba")
    quick = numba.njit(lambda x: x + 1)
    assert spmdvm.kernel(lambda x: quick(x) * 2)(np.arange(3)).tolist() == [2, 4, 6]


def test_kernels_that_call_a_cache_pickle():
    again = pickle.loads(pickle.dumps(spmdvm.kernel(lambda x: cached(x) * 2)))
    assert again(np.arange(3)).tolist() == [2, 4, 6]
