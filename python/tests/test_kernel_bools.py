"""Bools: numpy's are a dtype of their own, Python's are ints."""

import numpy as np
import pytest
import spmdvm

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
WIDTHS = pytest.mark.parametrize("width", [1, 8])
VALUES = {
    "a": np.array([True, False, True, False]),
    "b": np.array([True, True, False, False]),
    "i8": np.array([1, 2, -3, 4], np.int8),
    "i32": np.array([1, 2, -3, 4], np.int32),
    "i64": np.array([1, 2, -3, 4]),
    "f32": np.array([1, 2, -3, 4], np.float32),
}
OF_TWO = ["a + b", "a * b", "a & b", "a | b", "a ^ b", "a / b", "a ** b", "a << b", "a >> b", "np.maximum(a, b)"]
ORDER = ["a < b", "a <= b", "a > b", "a >= b", "a == b", "a != b", "(a > b) == (a != b)", "a < 3", "a == 1", "a < f32"]
MIXED = [
    "a + 3",
    "3 - a",
    "a / 7",
    "a * 2.5",
    "a * i8",
    "a - f32",
    "a / i8",
    "a / 7 + f32",
    "(a - 3) * i32",
    "a & 1",
    "a << 1",
    "a + 1j",
    "(i8 > 1) + (f32 > 1)",
    "True + a",
]
FUNCTIONS = [
    "np.minimum(a, b)",
    "np.minimum(a, 3)",
    "np.where(a, b, 3)",
    "np.where(a, b, 3.5)",
    "np.where(a, b, i8)",
    "np.sqrt(a)",
    "np.exp(a)",
    "np.hypot(a, b)",
    "np.hypot(a, f32)",
    "np.abs(a)",
    "np.square(a)",
    "np.clip(a, 0, 1)",
    "~a",
]


@ENGINES
@WIDTHS
@pytest.mark.parametrize("text", [*OF_TWO, *ORDER, *MIXED, *FUNCTIONS])
def test_bools_are_as_numpys(text, engine, width):
    kernel = spmdvm.vectorize(text, engine=engine, width=width)
    got = kernel(**{name: VALUES[name] for name in kernel.__signature__.parameters if name in VALUES})
    with np.errstate(all="ignore"):
        want = eval(text, {"np": np, **VALUES})
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-3 if got.dtype == np.float16 else 1e-6)


def test_arrays_of_bools():
    @spmdvm.kernel
    def either(x, y):
        return (x > 3) + (y > 2), np.where(x > 3, y > 2, 3)

    x, y = np.arange(6), np.arange(6)[::-1].copy()
    got, chosen = either(x, y)
    assert got.dtype == np.bool_
    assert got.tolist() == ((x > 3) + (y > 2)).tolist()
    assert chosen.tolist() == np.where(x > 3, y > 2, 3).tolist()

    @spmdvm.kernel
    def stored(x, out):
        out[:] = (x > 1) + (x > 3)
        return np.array([x[0] > 1, 3])

    out = np.zeros(6, np.int64)
    assert stored(x, out).tolist() == [0, 3]
    assert out.tolist() == [0, 0, 1, 1, 1, 1]


@ENGINES
@WIDTHS
def test_what_holds_is_counted(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def lanes(x):
        n, m, s = 0, 10, 0.0
        for i in spmdvm.foreach(len(x)):
            n += x[i] > 3
            m -= i > 2
            s += x[i] > 5
        return n, m, s

    @spmdvm.kernel(engine=engine, width=width)
    def in_order(x):
        n = 0
        for i in range(len(x)):
            n += x[i] > 3
        return n

    x = np.arange(10.0)
    assert lanes(x) == (6, 3, 4)
    assert in_order(x) == 6


def test_pythons_bools_are_ints():
    @spmdvm.kernel
    def counted(x):
        s = 0
        for k in range(5):
            flag = k > 3
            s += (k > 1) + (k > 2) + flag + (not flag) + (k in (1, 2))
        return x + s + (True + True)

    want = sum((k > 1) + (k > 2) + (k > 3) + (not k > 3) + (k in (1, 2)) for k in range(5)) + 2
    assert counted(np.zeros(2)).tolist() == [want, want]
    halved = spmdvm.kernel(lambda x, n: x * ((n > 2) / 4))(np.ones(2, np.float32), 3)
    assert (halved.dtype, halved.tolist()) == (np.dtype(np.float32), [0.25, 0.25])


def test_a_variable_that_is_a_bool_of_numpys_somewhere_is_one():
    @spmdvm.kernel
    def last(x):
        flag = False
        if x > 1:
            flag = x > 2
        return flag + flag

    got = last(np.arange(5))
    assert (got.dtype, got.tolist()) == (np.dtype(bool), [False, False, False, True, True])


def test_what_remains_an_error_says_what_to_write():
    def told(function, *arguments):
        with pytest.raises(spmdvm.CompileError) as error:
            spmdvm.kernel(function)(*arguments)
        return str(error.value)

    def flagged(x):
        flag = x[0] > 1
        for i in spmdvm.foreach(len(x)):
            flag += x[i] > 3
        return flag

    def mixed(x):
        y = x > 1
        if x > 3:
            y = 5
        return y

    a = VALUES["a"]
    assert "`a ^ b`" in told(lambda x, y: x - y, a, a)
    assert "`~x`" in told(lambda x: -x, a)
    assert "`int(…)`" in told(lambda x: x if x else 3, a)
    assert "begin with a number, `flag = 0`" in told(flagged, np.arange(3.0))
    assert "`int(…)`" in told(mixed, np.arange(3.0))
    assert "`int(x)`" in told(lambda x: np.floor(x), a)
