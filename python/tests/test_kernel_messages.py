"""Texts of `raise` and `assert` in kernels with values that are known only while they run."""
# ruff: noqa: UP031, UP032 (texts are made in every way of Python)

import math
import pickle

import numpy as np
import pytest
import spmdvm

KIND = "speed"


def told_by(function, *args, **options):
    """Give the text with which Python raises, and that with which a kernel does, without what it says of the place."""
    with np.errstate(all="ignore"), pytest.raises(Exception) as wanted:
        function(*args)
    with pytest.raises(type(wanted.value)) as caught:
        spmdvm.kernel(function, **options)(*args)
    assert isinstance(caught.value, spmdvm.Trap)
    text = wanted.value.args[0] if wanted.value.args else ""
    return str(text), str(caught.value).split(f" in `{function.__name__}`")[0].removesuffix(" (lane 0)")


def positive(a):
    total = 0.0
    for k in range(len(a)):
        total += a[k]
        if a[k] < 0:
            raise ValueError(f"a[{k}] is {a[k]}, after {total!r} ({total:.3f}, {k:04d}, {a[k]:>8.2f}|)")
    return total


def test_values_stand_as_python_writes_them():
    for a in (np.array([0.1, 0.2, -1e300]), np.array([0.1, -1.5], np.float32), np.array([1, 2, -3], np.int8)):
        wanted, told = told_by(positive, a)
        assert told == wanted


def percent(a, limit):
    worst = a.max()
    if worst > limit:
        raise ValueError("%s of %d: %.2f is above %g (%r)" % (KIND, len(a), worst, limit * 2, worst > 3))
    return worst


def formatted(a, limit):
    worst = a.max()
    if worst > limit:
        raise RuntimeError("{} of {n}: {:.2f} is above {limit!r}".format(KIND, worst, n=len(a), limit=limit / 3))
    return worst


def joined(a, limit):
    worst = a.max()
    if worst > limit:
        raise KeyError("above " + str(limit + 1) + ": " + repr(len(a)) + "-" * (len(a) - 1) + "!")
    return worst


def bare(a, limit):
    if a.max() > limit:
        raise KeyError(len(a) + 3)
    return 1


def chosen(a, limit):
    if a.max() > limit:
        raise ValueError("too " + ("high" if limit > 0 else "low") + (f" by {a.max() - limit}"))
    return 1


def shapes(a, limit):
    pair = a[0], 3
    if limit < 9:
        raise ValueError(f"shape {a.shape} of {pair} and {pair[1]}")
    return 1


@pytest.mark.parametrize("function", [percent, formatted, joined, bare, chosen, shapes])
def test_texts_are_made_as_in_python(function):
    wanted, told = told_by(function, np.array([0.5, 4.25]), 1.0)
    assert told == wanted


def test_what_is_computed_in_the_text_may_loop():
    def far(a, limit):
        if np.sum(a) > limit:
            raise ValueError(f"{np.sum(a * 2)} of {max([x for x in a])} {math.sqrt(a[0])} {a[0] > 3} {int(a[0])}")
        return limit

    wanted, told = told_by(far, np.array([4.0, 8.0]), 1.0)
    assert told == wanted


def test_the_lane_that_fails_is_told():
    @spmdvm.kernel
    def root(x):
        y = x * 2
        if y < 0:
            raise ValueError(f"{y} is negative")
        return np.sqrt(y)

    assert root(np.array([2.0, 8.0])).tolist() == [2, 4]
    x = np.arange(100.0)
    x[[41, 43, 77]] = -3, -4, -5
    for options in ({}, {"threads": 2}):
        with pytest.raises(ValueError, match=r"^-\d+\.0 is negative") as caught:
            root(x, **options)
        trap = caught.value
        assert str(trap).startswith(f"{2 * trap.arguments['x']} is") and x[trap.element] == trap.arguments["x"]
    with pytest.raises(ValueError, match=r"^-6\.0 is negative"):
        root(x)
    again = pickle.loads(pickle.dumps(trap))
    assert again.args == trap.args


def test_in_a_call_with_a_loop_of_its_own():
    @spmdvm.kernel
    def both(x, y):
        s = x + y
        if s > 90:
            raise OverflowError(f"{s} of {x}")
        return s, x - y

    for threads in (1, 3):
        with pytest.raises(OverflowError, match=r"^91\.0 of 46\.0") as caught:
            both(np.arange(47.0), np.arange(47.0) - 1, threads=threads)
        assert caught.value.element == (46,)


def test_in_foreach_and_in_functions():
    def checked(v, k):
        if v > 30:
            raise ValueError(f"element {k} is {v + 1}")
        return v

    def of_all(a):
        out = np.zeros(len(a))
        for k in spmdvm.foreach(len(a)):
            out[k] = checked(a[k], k) * 2
        return out

    wanted = r"^element 33 is 34\.0"
    with pytest.raises(ValueError, match=wanted):
        spmdvm.kernel(of_all)(np.where(np.arange(50) == 33, np.arange(50.0), 0))
    assert spmdvm.kernel(of_all)(np.arange(5.0)).tolist() == [0, 2, 4, 6, 8]


def test_assert_tells_values():
    def ordered(a):
        for k in range(1, len(a)):
            assert a[k - 1] <= a[k], f"{a[k - 1]} before {a[k]} at {k}"
        return len(a)

    kernel = spmdvm.kernel(ordered)
    assert kernel(np.array([1.0, 2, 3])) == 3
    with pytest.raises(AssertionError, match=r"a\[k - 1\] <= a\[k\] \(5\.0 before 3\.0 at 2\)"):
        kernel(np.array([1.0, 5, 3]))
    elementwise = spmdvm.kernel(lambda_like)
    with pytest.raises(AssertionError, match=r"y < 9 \(y is 10\)"):
        elementwise(np.array([1, 2, 5, 3]))


def lambda_like(x):
    y = x * 2
    assert y < 9, "y is %d" % y
    return y


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64", "float16", "float32", "bool", "complex64", "complex128"])
def test_types_are_kept(dtype):
    def first(a, limit):
        if limit < 2:
            raise ValueError(f"{a[1]!r} {a[1]} {limit!r} {limit + 0.5!r} {limit > 0} {limit:3d}|")
        return 0

    a = np.array([0, 1.1 if np.dtype(dtype).kind in "fc" else 1], dtype)
    wanted, told = told_by(first, a, 1)
    assert told == wanted


def test_large_numbers_are_whole():
    def first(a, b):
        if b[0] > 3:
            raise ValueError(f"{a[0]} {b[0]}")
        return 0

    wanted, told = told_by(first, np.array([-(2**63)]), np.array([2**64 - 1], np.uint64))
    assert told == wanted == "-9223372036854775808 18446744073709551615"


@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_on_every_engine_and_with_other_checks(engine):
    wanted, told = told_by(positive, np.array([0.1, 0.2, -3]), engine=engine)
    assert told == wanted
    wanted, told = told_by(positive, np.array([0.1, 0.2, -3]), engine=engine, width=1)
    assert told == wanted


def test_texts_that_are_passed():
    def named(a, kind="length"):
        if a[0] > 1:
            raise ValueError(f"the {kind} is {a[0]}, {kind!r}")
        return a[0]

    assert told_by(named, np.array([2.5])) == ("the length is 2.5, 'length'",) * 2
    assert told_by(named, np.array([2.5]), "width") == ("the width is 2.5, 'width'",) * 2


def test_lists_are_given_back_and_the_kernel_goes_on():
    @spmdvm.kernel
    def listed(a, limit):
        found = []
        for x in a:
            if x > limit:
                raise ValueError(f"{x} behind {len(found)}")
            found.append(x)
        return found

    with pytest.raises(ValueError, match=r"^3\.0 behind 2 in"):
        listed(np.array([1.0, 2, 3]), 2)
    assert listed(np.array([1.0, 2, 3]), 5) == [1, 2, 3]
    with pytest.raises(ValueError, match=r"^9\.0 behind 0 in"):
        listed(np.array([9.0, 2, 3]), 5)


def test_in_combinators_values_are_names():
    def least(a, b):
        c = a - b
        if c == 0:
            raise ValueError(f"{c} of {a:.2f}")
        return min(a, b)

    with pytest.raises(ValueError, match=r"^{c} of {a}"):
        spmdvm.reduce(least, np.ones(100, int), neutral=99)
    with pytest.raises(ValueError, match=r"^-1\.0 is below"):
        spmdvm.map(spmdvm.kernel(below), np.array([4.0, 0, -1]))


def below(x):
    y = x - 0
    if y < 0:
        raise ValueError(f"{y} is below")
    return y


def test_limits_and_profiles_are_as_ever():
    kernel = spmdvm.kernel(positive)
    good = np.array([0.5, 1.5])
    assert kernel.profile(good).result == 2
    with kernel.stepper(good) as stepper:
        stepper.finish()
    with pytest.raises(ValueError, match=r"a\[1\] is -1\.5"):
        kernel.profile(np.array([0.5, -1.5]))
    assert kernel(good) == 2


def arrays(a, m, n):
    m[0] = -1
    if a[0] > 1:
        raise ValueError(f"bad {a} and {m!r}, {n} of {a[0]}")
    return a[0]


def arrays_alone(a, m, n):
    assert a[0] < 0, "all of %s" % (a,)


def test_arrays_that_are_passed_are_told_as_they_are_then():
    for a in (np.array([2.5, 0.5]), [2.5, 3.0], np.arange(5000.0) + 3, bytearray(b"abc")):
        wanted, told = told_by(arrays, a, np.zeros((2, 3)), 7)
        assert told == wanted
        _, told = told_by(arrays_alone, a, np.zeros((2, 3)), 7)
        assert told.endswith(f"(all of {a})")


def test_what_is_no_number_is_told_with_what_to_write():
    def whole(b):
        a = b + 0
        if a[0] > 1:
            raise ValueError(f"bad {a}")
        return a[0]

    with pytest.raises(spmdvm.CompileError, match="an array is no part of the text of a `raise`") as caught:
        spmdvm.kernel(whole)(np.array([2.5]))
    assert "help: tell a part of it: `{a[0]}`, `{a.shape}`" in str(caught.value)
