"""`raise` in kernels: a trap that is the exception which is named, too."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import spmdvm

TOO_LARGE = "too {large}"


class Unsettled(Exception):
    """One whose constructor only its own program knows."""

    def __init__(self, place, speed):
        super().__init__(place)
        self.speed = speed


@spmdvm.kernel
def root(x, least: spmdvm.uniform[float] = 0.0):
    if x < least:
        raise ValueError(f"{x} is below {least:.1f}")
    elif x == 3:
        raise Unsettled
    return x**0.5


@spmdvm.kernel
def place_of(values, wanted):
    for k in range(len(values)):
        if values[k] == wanted:
            return k
    raise KeyError("it is not there")


@spmdvm.kernel
def halved(values):
    out = np.empty(len(values))
    for k in spmdvm.foreach(len(values)):
        if values[k] < 0:
            raise ArithmeticError("negative")
        out[k] = values[k] / 2
    return out


def settled(x):
    for _ in range(99):
        if abs(x - np.cos(x)) < 1e-12:
            break
        x = np.cos(x)
    else:
        raise RuntimeError("it does not settle")
    return x


def test_what_is_raised_is_the_exception_and_a_trap():
    with pytest.raises(ValueError, match=r"-4\.0 is below 0\.0") as caught:
        root(np.array([1.0, 2, 5, -4, 7]))
    trap = caught.value
    assert isinstance(trap, spmdvm.Trap) and type(trap).__name__ == "ValueError"
    assert (trap.kind, trap.element, trap.arguments["x"]) == ("raised", (3,), -4)
    assert "raise ValueError(" in str(trap) and trap.line == root.__wrapped__.__code__.co_firstlineno + 3


def test_lanes_that_do_not_raise_have_results():
    assert root(np.array([0.0, 1, 4])).tolist() == [0, 1, 2]
    assert halved(np.arange(40.0)).tolist() == (np.arange(40.0) / 2).tolist()
    with pytest.raises(ArithmeticError, match="negative"):
        halved(np.arange(40.0) - 20)


def test_a_way_that_raises_needs_no_return():
    assert place_of(np.array([5, 3, 8]), 8) == 2
    with pytest.raises(KeyError) as caught:
        place_of(np.array([5, 3, 8]), 1)
    assert str(caught.value).startswith("it is not there in `place_of`")


def test_classes_without_a_text():
    with pytest.raises(Unsettled, match=r"^Unsettled"):
        root(3.0)


def test_in_the_else_of_a_loop_of_a_function_that_is_called():
    both = spmdvm.kernel(lambda x: 2 * settled(x))
    assert np.allclose(both(np.array([0.1, 0.7])), 2 * 0.7390851332)
    kernel = spmdvm.kernel(settled)
    assert np.isclose(kernel(0.5), 0.7390851332)
    with pytest.raises(RuntimeError, match="it does not settle"):
        kernel(np.nan)


def test_it_pickles():
    with pytest.raises(ValueError) as caught:
        root(-1.0)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and again.args == caught.value.args and again.lane == caught.value.lane


def test_nothing_is_warned_of(recwarn):
    of_halves = spmdvm.kernel(lambda values: place_of(halved(values), 1))
    assert of_halves(np.array([1.0, 2.0])) == 1 and not list(recwarn)


def test_kernels_that_raise_are_passed_to_other_processes(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        """
import pickle, subprocess, sys
import spmdvm

class Odd(ValueError):
    pass

@spmdvm.kernel
def checked(x):
    if x < 0:
        raise Odd(f"{x} is odd")
    elif x > 9:
        raise OverflowError("too large")
    return x

text = f\"\"\"
import pickle
checked = pickle.loads({pickle.dumps(checked)})
for x in (1, -1, 10):
    try:
        print(checked(x))
    except Exception as error:
        print(type(error).__name__, isinstance(error, ValueError), str(error).split(" in ")[0])
\"\"\"
subprocess.run([sys.executable, "-c", text], check=True)
"""
    )
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["1", "Odd True -1 is odd (lane 0)", "OverflowError False too large (lane 0)"]


def above(limit, error):
    def checked(x):
        if x > limit:
            raise error(f"above {limit}")
        assert x > -limit, f"below {-limit}"
        return x

    return checked


limit = 5.0
small, large = above(1.0, KeyError), above(2.0, ArithmeticError)


def within(x):
    if x > limit:
        raise ValueError(f"above {limit}")
    return x


@pytest.mark.parametrize("is_array", [False, True])
def test_functions_of_one_line_raise_what_each_of_them_says(is_array):
    def both(x):
        return small(x) + large(x)

    def other(x):
        return large(x) + small(x)

    def given(x):
        return np.array([-1.5, x]) if is_array else x

    with pytest.raises(KeyError, match=r"^above 1\.0"):
        spmdvm.kernel(both)(given(3.0) * 0 + 3.0)
    with pytest.raises(ArithmeticError, match=r"^above 2\.0"):
        spmdvm.kernel(other)(given(3.0) * 0 + 3.0)
    with pytest.raises(AssertionError, match=r"\(below -1\.0\)"):
        spmdvm.kernel(both)(given(-1.5) * 0 - 1.5)
    with pytest.raises(AssertionError, match=r"\(below -2\.0\)"):
        spmdvm.kernel(other)(given(-2.5) * 0 - 2.5)


def test_names_from_outside_are_not_those_of_parameters_of_the_kernel():
    @spmdvm.kernel
    def kernel(x, limit):
        return within(x) + limit

    with pytest.raises(ValueError, match=r"^above 5\.0"):
        kernel(np.array([1.0, 9.0]), 1.0)


def test_texts_have_names_outside():
    def first(a):
        if a[0] > 9:
            raise ValueError(TOO_LARGE)
        assert a[0] > 1, TOO_LARGE
        return a[0]

    def plain(a):
        if a[0] > 5:
            raise KeyError(f"{TOO_LARGE}!")
        return a[0]

    for kernel, x, told in ((first, 10.0, "^too {large} in"), (plain, 6.0, "^too {large}! in")):
        with pytest.raises((ValueError, KeyError), match=told):
            spmdvm.kernel(kernel)(np.array([x, 1.0]))
    with pytest.raises(AssertionError, match=r"a\[0\] > 1 \(too {large}\)"):
        spmdvm.kernel(first)(np.array([0.0, 1.0]))
