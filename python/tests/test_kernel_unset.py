"""Variables that may have no value where they are read: numbers are tested there, as Python does."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins").__name__


@kernel
def found_in_a_loop(a):
    for k in range(len(a)):
        if a[k] > 4:
            found = k
    return found


@kernel
def left_behind_a_loop(a):
    for i, x in enumerate(a[:4]):  # noqa: B007
        if x > 100:
            break
    else:
        last = i + 1 if x > 2 else 3
    return last, i, x


@kernel
def one_after_another(a):
    for i, x in enumerate(a):
        if i == 0:
            z = x * 2.0
        elif i == 1:
            z = z - (1 - z) * x
        else:
            z = z + i
        z += 1
    return z


@kernel
def by_cases(a):
    if a[0] == 3:
        w, v = a[0], 1.5
    elif a[0] == 2:
        w, v = a[1], 0.5
    if w > 2 and v == 1.5:
        w += 1
    return w * v, max(w, 3), -w


@kernel
def tuples(a):
    best = (1, 2)
    for x in a:
        if x > 3:
            pair = (x, x + 1)
    return pair[0] + pair[1], int(pair == best)


def last_of(a, n):
    for i in range(n):
        t = a[i]
    return t


@kernel
def in_a_function(a):
    return last_of(a, 3) + last_of(a, int(a[0]))


@kernel
def behind_a_while(a):
    n = len(a)
    while n > 0 and a[n - 1] < 9:
        n -= 1
        least = a[n]
    total = 0
    for k in range(3):
        total += least * k
    return total


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_variables_are_those_of_python(function, options):
    tested = spmdvm.kernel(**options)(function)
    for a in (A, A[:4].copy(), A * 0, np.array([9, 9, 9, 9])):
        assert outcome(tested, a) == outcome(function, a)


def by_size(x):
    if x > 3:
        y = x * 2
    elif x > 1:
        y = x + 0.5
    return y


def test_each_element_has_a_value_or_none():
    elementwise = spmdvm.kernel(by_size)
    assert elementwise(np.array([4.0, 5.0, 2.0])).tolist() == [8, 10, 2.5] and elementwise(4.0) == 8
    with pytest.raises(UnboundLocalError, match=r"`y` has no value here \(lane 2\) in `by_size`") as caught:
        elementwise(np.array([4.0, 5.0, 0.0, 2.0]))
    assert isinstance(caught.value, spmdvm.Trap) and caught.value.line == by_size.__code__.co_firstlineno + 5
    assert "help: assign `y` before" in str(caught.value)


def test_the_stepper_and_large_ints_have_them_too():
    elementwise = spmdvm.kernel(by_size)
    assert elementwise(np.array([4.0])).tolist() == [8]
    with elementwise.stepper(4.0) as stepper:
        stepper.finish()

    @spmdvm.kernel
    def stored(out, n):
        for k in range(n):
            if k > 0:
                last = k
        out[0] = last

    out = np.zeros(1, np.int8)
    stored(out, 5)
    assert out[0] == 4
    with pytest.raises(OverflowError):
        stored(out, 1000)


def an_array(a):
    if a[0] > 100:
        b = a * 2
    return b  # HERE `b` may have no value here


def an_array_of_a_function(a):
    def doubled():
        if a[0] > 100:
            b = a * 2
        return b  # HERE `b` may have no value here

    c = doubled()
    return c + 1


def of_each_element(a):
    out = np.zeros(len(a))
    for i in spmdvm.foreach(len(a)):
        if a[i] > 2:
            y = a[i]
        out[i] = y  # HERE `y` may have no value here
    return out


def none_in_one_branch(a):
    if a[0] > 0:
        y = None
    if a[1] > 2:
        y = 1.0
    return 0.0 if y is None else y  # HERE `y` may have no value here


WRONG = [an_array, an_array_of_a_function, of_each_element, none_in_one_branch]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_what_is_no_number_is_told_at_its_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)
