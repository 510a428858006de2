"""`match` in kernels is that of Python, and so is `:=` behind `and` and in comprehensions."""

import sys

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_made import check

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
SOURCE = """
import numpy as np


def numbers(a):
    total = 0
    for v in a:
        match int(v):
            case 0:
                total += 5
            case 1 | 2:
                total += 7
            case 3 if a[1] > 0:
                total += 9
            case k if k > 8:
                total += k * 1000
            case k:
                total = total * 2 + k
    return total + a[0]


def tuples(a):
    total = 0
    for k in range(len(a) * 3):
        match (k % 3, k % 5):
            case (0, 0):
                r = 15
            case (0, y):
                r = 3 * y
            case (x, 0):
                r = 5 * x
            case (x, y) if x == y:
                r = 100 + x
            case _:
                r = k
        total = total * 3 + r
    p = (int(a[0]), 2)
    match p:
        case (3, 1):
            total += 1
        case [3, x]:
            total += x * 10
    return total
"""


@pytest.mark.skipif(sys.version_info < (3, 10), reason="`match` came with Python 3.10")
@pytest.mark.parametrize("name", ["numbers", "tuples", "texts"])
def test_match_is_that_of_python(name, tmp_path):
    path = tmp_path / "matching.py"
    text = (
        SOURCE
        + """

def texts(a, mode="same", other=None):
    match mode:
        case "same":
            match other:
                case None:
                    return a[0]
                case _:
                    return a[1]
        case "valid" | "full":
            return a[2]
        case _:
            raise ValueError("no such mode")
"""
    )
    path.write_text(text)
    space = {"__name__": "matching"}
    exec(compile(text, str(path), "exec"), space)
    function = space[name]
    if name != "texts":
        check(function, A)
        return
    compiled = spmdvm.kernel(function)
    assert [compiled(A), compiled(A, "full"), compiled(A, "same", 1)] == [3, 4, 1]
    with pytest.raises(ValueError, match="no such mode"):
        compiled(A, "none")


@pytest.mark.skipif(sys.version_info < (3, 10), reason="`match` came with Python 3.10")
def test_a_case_may_have_one_pattern_in_a_foreach_too(tmp_path):
    path = tmp_path / "elements.py"
    path.write_text(
        "import spmdvm\n\n\ndef kind(a, out):\n    for i in spmdvm.foreach(len(a)):\n        match int(a[i]) % 4:\n"
        "            case 0:\n                out[i] = -1\n            case 1 | 2 if a[i] > 1:\n"
        "                out[i] = a[i]\n            case k:\n                out[i] = k * 10\n"
    )
    space = {"__name__": "elements"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    out = np.zeros(7)
    spmdvm.kernel(space["kind"])(A, out)
    assert out.tolist() == [30, 10, -1, 1.5, 5, 9, 2]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="`match` came with Python 3.10")
def test_other_patterns_are_refused(tmp_path):
    path = tmp_path / "others.py"
    path.write_text(
        "def of_a_class(a):\n    match a[0]:\n        case float():\n            return 1.0\n    return 2.0\n"
    )
    space = {"__name__": "others"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(spmdvm.CompileError, match="this `match` cannot stand in a kernel"):
        spmdvm.kernel(space["of_a_class"])(A)


def assigned_behind_and(a):
    total, k = 0.0, 0
    while k < 5 and (x := a[k]) < 4.5:
        total += x
        k += 1
    for v in a:
        if v > 1 and (y := v * 2) > 5:
            total += y
    if total > 1 and (z := total * 2) > 3 and (u := z + 1) > 4:
        total += z * u
    return total, [y for v in a if (y := v * 2) > 5], sum(x * x for v in a if (x := v - 1) > 1)


def covariances(a):
    return np.cov(a), np.cov(a, ddof=0), np.cov(a[1:], bias=True), np.cov(a * 2 + 1) / np.var(a, ddof=1), np.corrcoef(a)


@pytest.mark.parametrize("function", [assigned_behind_and, covariances], ids=lambda f: f.__name__)
def test_others_are_those_of_python(function):
    check(function, A)


def assigned_behind_or(a):
    if a[0] > 1 or (y := a[1]) > 2:  # HERE `:=` here cannot stand in a kernel
        return 1.0
    return y


def test_mistakes_are_told_at_their_line():
    assert_told(lambda: spmdvm.kernel(assigned_behind_or)(A), assigned_behind_or)
