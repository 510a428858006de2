"""Variables of kernels that are None until there is something mean what they mean in Python."""

import itertools
import pickle
import types
from typing import NamedTuple, Optional

import numpy as np
import pytest
import spmdvm
from marks import marked
from spmdvm import foreach

OPTIONS = [{"width": width, "engine": engine} for width in (4, 16) for engine in ("interp", "auto")]
A = np.array([4.0, 2.5, 9.0, 1.0, 7.0, 1.0, 3.0])
B = np.array([3, 1, 4, 1, 5, 9, 2, 6])


class Best(NamedTuple):
    value: float
    at: int


def least(a):
    best = None
    for k in range(len(a)):
        if best is None or a[k] < best:
            best = a[k]
    return -1.0 if best is None else best


def least_with_its_place(a):
    best, at = None, -1
    for k, v in enumerate(a):
        if best is not None and not v < best:
            continue
        best, at = v, k
    if best is None:
        return 0.0, at
    return best, at


def annotated(a):
    best: Optional[float] = None
    for v in a:
        if best is None or v > best:
            best = v
    assert best is not None
    return best


def two_least(a):
    first = second = None
    for v in a:
        if first is None or v < first:
            first, second = v, first
        elif second is None or v < second:
            second = v
    if first is None or second is None:
        return -1.0, -1.0
    return first, second


def copied(a):
    last = before = None
    n = 0
    for v in a:
        before = last
        last = v if v > 2 else None
        if before is not None and last is not None and before < last:
            n += 1
        if before is None:
            n += 10
    return n


def read_before_it_is_assigned(a):
    last = None
    total = 0.0
    for v in a:
        if last is not None and last > 3:
            total += last
        scale = last * 2 if last is not None else 0.5
        half = scale / 2
        total += half
        last = v + half / 8
    return total


def of_tuples(a):
    best = None
    for k in range(len(a)):
        if best is None or a[k] < best[0]:
            best = (a[k], k)
    if best is not None:
        value, at = best
        return value * 10 + at, best[1]
    return 0.0, 0


def of_tuples_in_tuples(a):
    span = None
    for k in range(len(a)):
        if span is None:
            span = (k, (a[k], a[k]))
        else:
            at, (low, high) = span
            span = (at + 1, (min(low, a[k]), max(high, a[k])))
    if span is None:
        return 0, 0.0, 0.0
    return span[0], span[1][0], span[1][1]


def with_names(a):
    best = None
    for k in range(len(a)):
        if best is None or (a[k], k) < (best.value, best.at):
            best = Best(a[k], k)
    return best.value * 100 + best.at if best is not None else -1.0


def until_it_is_found(a):
    found = None
    k = 0
    while found is None and k < len(a):
        if a[k] == 1:
            found = k
        k += 1
    return len(a) if found is None else found


def found_for_sure(a):
    found, k = None, 0
    while found is None:
        if k == len(a) or a[k] > 8:
            found = k
        k += 1
    return found + k


def forgotten(a):
    kept = None
    n = 0
    for v in a:
        if kept is None:
            kept = v
            continue
        if kept + v > 8:
            n += 1
            kept = None
        else:
            kept += v
    return n if kept is None else n + kept


def counts_as_false(a):
    last = None
    n = 0
    for v in a:
        if not last:
            n += 1
        if last and last > 2:
            n += 10
        is_none, none = not last, last is None
        n += 100 * is_none + 1000 * none
        last = v - 1
    return n


def chosen(a, limit):
    best = a[0] if a[0] > limit else None
    other = None if best is None else best * 2
    best, other = (None if other is None else other + 1), (best if limit > 0 else 1.0)
    total = 0.0 if best is None else best
    return total if other is None else total + other


def in_each_element(a):
    out = np.zeros(len(a))
    for i in foreach(len(a)):
        best = None
        for k in range(i % 5, len(a)):
            if a[k] > a[i] and (best is None or a[k] < best):
                best = a[k]
        out[i] = best if best is not None else -1.0
    return out


def around_a_foreach(a):
    best = None
    for v in a:
        if best is None or v > best:
            best = v
    out = np.zeros(len(a))
    for i in foreach(len(a)):
        if best is not None:
            out[i] = a[i] / best
    return out


def parameter_that_is_forgotten(a, limit):
    for v in a:
        if v > 8:
            limit = None
        elif limit is None:
            limit = v
    return -1.0 if limit is None else limit * 2


def default_that_is_found(a, least=None):
    for v in a:
        if least is None or v < least:
            least = v
    return 100.0 if least is None else least


def index(a):
    at = None
    for k in range(len(a)):
        if at is None or a[at] < a[k]:
            at = k
    return 0.0 if at is None else a[at]


def of_loops(a):
    v = k = None
    n = 0
    for k in range(len(a)):
        n += k
    for v in a:
        if v > 8:
            break
    return (-1.0 if v is None else v), (-1 if k is None else k + n)


def with_else(a):
    found = None
    for v in a:
        if v > 100:
            found = v
            break
    else:
        if len(a) > 2:
            found = a[2]
    return found if found is not None else 0.0


def before(a, x):
    nearest = None
    for v in a:
        if v <= x and (nearest is None or nearest < v):
            nearest = v
    if nearest is None:
        return x
    return nearest


def passed_on(a):
    best = None
    for v in a:
        if best is None or larger(v, best):
            best = v
    return before(a, best + 1) if best is not None else 0.0


def larger(x, y):
    return x > y


def complex_ones(a):
    last = None
    total = 0j
    for v in a:
        z = complex(v, 1.0)
        if last is not None:
            total += last * z
        last = z
    return total


def bools(a):
    was = None
    n = 0
    for v in a:
        now = v > 2
        if was is not None and was != now:
            n += 1
        was = now
    return n


def both_ways(a):
    x = None
    if len(a) > 3:
        x = a[3]
    if len(a) > 3:
        assert x is not None, "there are four"
        return x * 2
    return 0.0


NUMBERS = [
    least, least_with_its_place, two_least, copied, read_before_it_is_assigned, of_tuples, of_tuples_in_tuples,
    with_names, until_it_is_found, found_for_sure, forgotten, counts_as_false, in_each_element, around_a_foreach, index,
    of_loops, with_else, passed_on, complex_ones, bools, both_ways, default_that_is_found,
]  # fmt: skip


def as_python(function):
    """Give a function as Python runs it, where elements of a `foreach` come one after another."""
    return types.FunctionType(
        function.__code__, {**function.__globals__, "foreach": range}, argdefs=function.__defaults__
    )


def assert_alike(function, *args, **options):
    found, expected = spmdvm.kernel(**options)(function)(*args), as_python(function)(*args)
    pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    for x, y in pairs:
        assert np.shape(x) == np.shape(y) and np.array_equal(x, y), (function, args, found, expected)


@pytest.mark.parametrize("function", NUMBERS, ids=lambda f: f.__name__)
def test_it_is_what_python_gives(function):
    for options, a in itertools.product(OPTIONS, (A, A[:0], A[:1], A[2:], A[::-1].copy(), B, B.astype(np.float32))):
        with np.errstate(all="ignore"):
            assert_alike(function, a, **options)


def test_with_other_arguments():
    for options in OPTIONS:
        assert_alike(annotated, A, **options)
        for limit, a in itertools.product((0.5, 3.0, -9.0), (A, B, A[3:])):
            assert_alike(chosen, a, limit, **options)
            assert_alike(parameter_that_is_forgotten, a, limit, **options)
            assert_alike(default_that_is_found, a, limit, **options)
            assert_alike(default_that_is_found, a, None, **options)


def steps_to(n, limit):
    found = None
    steps = 0
    while steps < 40:
        if n == 1 and found is None:
            found = steps
        if n > limit and found is not None:
            found = None
            break
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps if found is None else -found


def last_digit(n):
    least = greatest = None
    while n > 0:
        d = n % 10
        if least is None or d < least:
            least = d
        if greatest is None or d > greatest:
            greatest = d
        n //= 10
    if least is None:
        return 0, 0
    assert greatest is not None
    return least, greatest


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_over_arrays(options):
    n = np.arange(200)
    found = spmdvm.kernel(**options)(steps_to)(n, 60, threads=2)
    assert found.tolist() == [steps_to(int(k), 60) for k in n]
    low, high = spmdvm.kernel(**options)(last_digit)(n * 37)
    assert list(zip(low, high)) == [last_digit(int(k) * 37) for k in n]


def used_without_asking(x):
    best = None
    if x > 2:
        best = x
    return 1 + best * 2  # HERE


def compared_without_asking(x):
    best = None
    if x > 2:
        best = x
    return 1.0 if best > 3 else 0.0  # HERE


def added_to_without_asking(x):
    best = None
    if x > 2:
        best = x
    best += 1  # HERE
    return best


def taken_apart_without_asking(x):
    best = None
    if x > 2:
        best = (x, 1.0)
    y, z = best  # HERE
    return y + z


def given_to_a_function_without_asking(x):
    best = None
    if x > 2:
        best = x
    return x if x > 50 else max(abs(best), x)  # HERE


UNASKED = [
    used_without_asking,
    compared_without_asking,
    added_to_without_asking,
    taken_apart_without_asking,
    given_to_a_function_without_asking,
]


@pytest.mark.parametrize("function", UNASKED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_none_is_no_number(function, options):
    kernel = spmdvm.kernel(**options)(function)
    x = np.arange(3.0, 60.0)
    assert kernel(x).tolist() == [function(v) for v in x]
    with pytest.raises(TypeError):
        function(1.0)
    for given in (1.0, np.array([5.0, 3.0, 1.0, 7.0])):
        with pytest.raises(TypeError, match="`best` is None") as caught:
            kernel(given)
        assert isinstance(caught.value, spmdvm.Trap)
        assert caught.value.line == marked(function)[0]
        assert "ask before: `if best is not None:`" in str(caught.value)
    assert caught.value.element == (2,)


def test_an_index_that_is_none():
    def f(a):
        at = None
        for k in range(len(a)):
            if a[k] > 3:
                at = k
        return a[at] + a[at - 1]

    kernel = spmdvm.kernel(f)
    assert kernel(A) == f(A)
    with pytest.raises(TypeError, match="`at` is None"):
        kernel(np.zeros(3))


def test_what_is_asserted():
    @spmdvm.kernel
    def f(a):
        large = None
        for v in a:
            if v > 5:
                large = v
        assert large is not None, f"no large one, {large}"
        return large

    assert f(A) == 7
    with pytest.raises(AssertionError, match=r"large is not None \(no large one, None\)"):
        f(np.zeros(3))


def test_nothing_is_read_that_has_no_value():
    for function in NUMBERS:
        kernel = spmdvm.kernel(check=True)(function)
        kernel(A)
        assert kernel.module.report() == [], function


def test_what_is_always_something_costs_nothing():
    kernel = spmdvm.kernel(least)
    kernel(A)
    assert "py_some" not in kernel.spmd_source

    @spmdvm.kernel
    def never_asked(a):
        last = None
        for v in a:
            last = v * 2
            a[0] = last + 1
        return a[0]

    never_asked(A)
    assert "None" not in never_asked.spmd_source


def test_the_stepper_shows_it():
    stepper = spmdvm.kernel(least).stepper(A)
    assert stepper.next(2)["best is None"]
    stepper.break_at(f"{least.__code__.co_firstlineno + 4}")
    stepper.resume()
    assert not stepper.next(1)["best is None"]


def test_combinators_and_pickles():
    kernel = pickle.loads(pickle.dumps(spmdvm.kernel(two_least)))
    assert kernel(A) == (1.0, 1.0)
    found = spmdvm.map(spmdvm.kernel(steps_to), np.arange(1, 40), 60)
    assert found.tolist() == [steps_to(k, 60) for k in range(1, 40)]
