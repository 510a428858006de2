"""Kernels whose functions call themselves and each other."""

import math
import pickle

import numpy as np
import pytest
import spmdvm


@spmdvm.kernel
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@spmdvm.kernel
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@spmdvm.kernel
def parity(n):
    return is_even(n)


def on_plain_numbers(kernel, *arrays):
    """Give what the Python function gives, whose recursion goes through itself."""
    space = dict(kernel.__wrapped__.__globals__)
    plain = type(kernel.__wrapped__)(kernel.__wrapped__.__code__, space)
    space[kernel.__name__] = plain
    return [plain(*row) for row in zip(*(array.tolist() for array in arrays))]


@pytest.mark.parametrize("width", [1, 4, 16])
@pytest.mark.parametrize("engine", ["interp", "clif"])
def test_results(width, engine):
    n = np.arange(18)
    options = {"width": width, "engine": engine}
    assert spmdvm.kernel(fibonacci.__wrapped__, **options)(n).tolist() == on_plain_numbers(fibonacci, n)
    m, n = np.array([0, 1, 2, 2, 2, 3]), np.array([3, 5, 0, 3, 4, 3])
    assert spmdvm.kernel(ackermann.__wrapped__, **options)(m, n).tolist() == on_plain_numbers(ackermann, m, n)
    assert spmdvm.kernel(parity.__wrapped__, **options)(np.arange(9)).tolist() == [True, False] * 4 + [True]


def test_types_are_found_out():
    assert fibonacci(np.arange(5, dtype=np.int16)).dtype == np.int16

    @spmdvm.kernel
    def factorial(n):
        # The call comes before the result whose type is known.
        return n * factorial(n - 1) if n > 1 else 1

    assert factorial(np.arange(10)).tolist() == [math.factorial(n) for n in range(10)]
    assert factorial(np.arange(5, dtype=np.uint8)).dtype == np.uint8

    @spmdvm.kernel
    def halves(n, total):
        if n > 1:
            # The result becomes a float by a later return.
            return halves(n // 2, total + 0.5)
        return total

    assert halves(np.array([1, 16]), 0).tolist() == [0, 2]

    @spmdvm.kernel
    def deep(n) -> np.float64:
        return deep(n + 1)

    with pytest.raises(RecursionError, match="`deep`"):
        deep(1)


def test_functions_within_and_several_results():
    @spmdvm.kernel
    def outer(x):
        def half(k):
            return k if k < 2 else half(k / 2)

        return half(x)

    assert outer(np.array([3.0, 100.0])).tolist() == [1.5, 1.5625]

    @spmdvm.kernel
    def gcd(a, b):
        if b == 0:
            return a, 1
        g, n = gcd(b, a % b)
        return g, n + 1

    g, n = gcd(np.array([12, 18, 7]), np.array([8, 27, 0]))
    assert (g.tolist(), n.tolist()) == ([4, 9, 7], [3, 4, 1])


@spmdvm.kernel
def with_walrus(n, limit):
    steps = 0
    while (n := n // 2 if n % 2 == 0 else 3 * n + 1) != 1 and (steps < limit):
        if (odd := n % 2) == 1:
            steps += odd
            continue
        elif (half := n // 2) % 2 == 0:
            steps += 10 if half > (double := limit * 2) else double
        steps += 1
    return (steps := steps * 2) + n


@spmdvm.kernel
def with_lambdas(x, k):
    scaled = lambda t, by=2: t * by  # noqa: E731
    both = lambda t, u: scaled(t) + scaled(u, 3)  # noqa: E731
    total = both(x, k)
    for i in range(2):
        step = lambda t: scaled(t, 5) - 1  # noqa: E731
        total += step(i)
    return total


@pytest.mark.parametrize("width", [1, 8])
def test_walrus_and_lambdas(width):
    n = np.arange(1, 60)
    for kernel, other in ((with_walrus, 40), (with_lambdas, 3)):
        function = kernel.__wrapped__
        assert spmdvm.kernel(function, width=width)(n, other).tolist() == [function(int(i), other) for i in n]


def test_arrays_are_passed_on():
    @spmdvm.kernel
    def quicksort(a: spmdvm.array[spmdvm.float64], low: int, high: int):
        if low < high:
            pivot, at = a[high], low
            for k in range(low, high):
                if a[k] < pivot:
                    other = a[k]
                    a[k] = a[at]
                    a[at] = other
                    at += 1
            other = a[high]
            a[high] = a[at]
            a[at] = other
            quicksort(a, low, at - 1)
            quicksort(a, at + 1, high)

    x = np.random.default_rng(1).random(500)
    want = np.sort(x)
    quicksort(x, 0, len(x) - 1)
    np.testing.assert_array_equal(x, want)
    with pytest.raises(IndexError, match="`quicksort`"):
        quicksort(x, 0, len(x))


def test_traps_name_the_functions():
    @spmdvm.kernel
    def down(n):
        if n == 3:
            return 7 // (n - 3)
        return down(n - 1)

    with pytest.raises(ZeroDivisionError, match="in `down`") as caught:
        down(5)
    assert {frame.function for frame in caught.value.stack} == {"down"}
    assert "7 // (n - 3)" in str(caught.value)


def test_they_pickle():
    again = pickle.loads(pickle.dumps(spmdvm.kernel(parity.__wrapped__, width=4)))
    assert again(np.arange(4)).tolist() == [True, False, True, False]

    @spmdvm.kernel
    def local(n):
        return 1 if n == 0 else 2 * local(n - 1)

    assert pickle.loads(pickle.dumps(local))(np.arange(5)).tolist() == [1, 2, 4, 8, 16]
