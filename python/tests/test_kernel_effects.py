"""Functions that change arrays which they are given, in expressions: they are called once, in Python's order."""

import numpy as np
import pytest
import spmdvm
from test_kernel_made import check

A = np.array([3.0, 1.5, 2.5, -4.0, 0.5])


def twice(x):
    x *= 2
    return x + 1


def itself(x):
    x -= 1.5
    return x


def first(x):
    x[0] += 7
    return x + 1


def looped(x):
    for i in range(len(x)):
        x[i] = x[i] * 3
    return x - 1


def whole(x):
    x[:] = x * 2
    return x - 1


def nested(x):
    return twice(x) + x


def renamed(x):
    y = x
    y += 2
    return y * 3


def named(x):
    return np.sum(looped(x=x)) * x


def plain(x):
    return x + 1


def counted(x):
    x[1] += 1
    return x[1] * 2


FUNCTIONS = [twice, itself, first, looped, whole, nested, renamed, named, counted]
OF_ARRAYS = FUNCTIONS[:-1]


def left(f):
    def kernel(a):
        n = len(a)
        d = f(a) + a
        return d * n

    return kernel


def right(f):
    def kernel(a):
        n = len(a)
        d = a * n + f(a)
        d += a - f(a)
        return d

    return kernel


def between(f):
    def kernel(a):
        n = len(a)
        return plain(a) * f(a) - plain(a) * n

    return kernel


def numbers(f):
    def kernel(a):
        x = a[0]
        d = (a[1] - 1) * f(a) + a[1] * x
        y = -a[0] + np.sum(a) * f(a)[1]
        if a[0] * 3 < np.sum(f(a) + a[0]):
            y += 1
        return d, y, a[0] + 1, f(a), a[0] - 1

    return kernel


def signs(f):
    def kernel(a):
        n = len(a)
        return (-a) * f(a), (a > n) * f(a), np.abs(a) + np.sqrt(np.abs(f(a))) * np.maximum(a, f(a)), a[1:] - f(a)[1:]

    return kernel


def stores(f):
    def kernel(a):
        d = np.zeros(len(a))
        d[:] = f(a) + a
        d[1:] += a[0] * f(a)[1:] + a[0]
        x, e = a[0], f(a)
        return d, x, e, np.where(a > 2, f(a), a), plain(f(a)) + a

    return kernel


def sums(f):
    def kernel(a):
        n = len(a)
        return np.sum(a) * n - np.sum(f(a)) + np.sum(a), np.max(f(a) * a), a @ f(a), f(a)[1] - a[1]

    return kernel


def parts(f):
    def kernel(a):
        d = f(a[1:]) + a[1:]
        b = a[::2]
        return d, b[1] * f(a[2:]), b * 2

    return kernel


@pytest.mark.parametrize("f", OF_ARRAYS)
@pytest.mark.parametrize("function", [left, right, between, numbers, signs, stores, sums, parts])
def test_functions_that_change_arrays_do_so_in_order(function, f):
    if function is parts and f is itself:
        pytest.skip("functions return whole arrays")
    check(function(f), A)
    check(function(f), A, engine="interp", width=4)


@pytest.mark.parametrize("function", [left, right, between])
def test_functions_that_change_arrays_and_give_numbers_are_called_in_order(function):
    check(function(counted), A)


def test_numbers_are_computed_in_front_of_calls_that_change_what_they_are_computed_of():
    def kernel(a):
        x = max(a[1], counted(a)) + a[1]
        if a[1] < counted(a) - a[1]:
            x += 1
        return a[1], counted(a), x, a[1]

    check(kernel, A)


def test_functions_within_kernels_change_arrays_around_them():
    def kernel(a):
        b = a * 2

        def change(x):
            b[0] += 1
            return x * 2

        return b * 2 - change(a) + b, b[0] - change(a) * b[0]

    check(kernel, A)


def test_functions_of_numbers_go_by_elements():
    def apart(x):
        x = x * 2
        x += 1
        return x

    def halved(x):
        n = 0.0
        while x > 1:
            x /= 2
            n += 1
        return n

    def kernel(a):
        return apart(a) * a, apart(a[0]) + halved(a[0]), len(a)

    def by_elements(a):
        return halved(a) + a * len(a)

    check(kernel, A)
    found = spmdvm.kernel(by_elements)(A)
    assert np.array_equal(found, [halved(x) + x * len(A) for x in A])


def test_elementwise_kernels_change_no_arrays():
    def kernel(x):
        return twice(x) + x

    a = A.copy()
    assert np.array_equal(spmdvm.kernel(kernel)(a), A * 3 + 1)
    assert np.array_equal(a, A)


def test_where_each_element_runs_by_itself_functions_change_its_array():
    def kernel(a, out):
        for i in spmdvm.foreach(len(out)):
            own = np.zeros(4)
            for k in range(4):
                own[k] = a[k] + i
            d = twice(own)
            out[i] = d[0] + own[1]

    out = np.zeros(5)
    spmdvm.kernel(kernel)(A, out)
    i = np.arange(5)
    assert np.array_equal(out, (A[0] + i) * 2 + 1 + (A[1] + i) * 2)


def test_where_each_element_runs_by_itself_such_functions_take_a_statement():
    def kernel(a, out):
        for i in spmdvm.foreach(len(out)):
            own = np.zeros(4)
            d = looped(own) + own
            out[i] = d[0]

    with pytest.raises(spmdvm.CompileError, match=r"give it a name before: `found = looped\(own\)`"):
        spmdvm.kernel(kernel)(A, np.zeros(5))


def test_loops_that_are_written_out_compute_in_order_each_time():
    def kernel(a):
        total = 0.0
        for k in (0, 1, 2):
            total += a[k] * 2 + np.sum(a * k - looped(a)) * a[0]
            a[k] = total + counted(a)
        return total

    check(kernel, A)
