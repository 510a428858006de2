"""Traps of calls over arrays name the element."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import spmdvm

SOURCE = """
export float get(int i, uniform float k, const uniform float table[]) { return table[i] * k; }
static float deeper(int i, const uniform float table[]) { return table[i]; }
export float through(int i, const uniform float table[]) { return deeper(i, table); }
export int divide(int x, int y) { return x / y; }
export float gang(float x, const uniform float table[]) {
    float sum = 0;
    foreach (i = 0 ... 8) sum += table[i];
    return x + reduce_add(sum);
}
export void check(double x, bool b) { assert(x > 0 && b); }
static void visit(uniform int i, const uniform float table[]) { print("%\\n", table[i]); }
export void one_by_one(int i, const uniform float table[]) { foreach_active (lane) visit(extract(i, lane), table); }
export int endless(int first) { while (first >= 0) { } return 1; }
"""
TABLE = np.ones(4, np.float32)


@pytest.fixture(scope="module", params=[(4, "interp"), (16, "auto"), (64, "auto")], ids=str)
def module(request: pytest.FixtureRequest) -> spmdvm.Module:
    width, engine = request.param
    return spmdvm.compile(SOURCE, width=width, engine=engine, jit={"hot": 3, "background": False})


def trap(function: spmdvm.Function, *args, error: type = spmdvm.OutOfBounds, **options) -> spmdvm.Trap:
    with pytest.raises(error) as caught:
        function(*args, **options)
    assert "$map" not in str(caught.value)
    assert all("$map" not in frame.function for frame in caught.value.stack)
    return caught.value


def test_in_a_row(module: spmdvm.Module) -> None:
    i = np.zeros(1000, np.int32)
    i[777] = 9
    error = trap(module.get, i, 0.5, TABLE)
    assert error.element == (777,)
    assert error.arguments == {"i": 9, "k": 0.5}
    assert str(error).endswith("in element 777, with i = 9, k = 0.5")
    assert error.lane == 777 % module.width
    again = pickle.loads(pickle.dumps(error))
    assert (again.element, again.arguments) == (error.element, error.arguments)


def test_a_single_number(module: spmdvm.Module) -> None:
    error = trap(module.get, -1, 2, TABLE)
    assert (error.element, error.arguments) == ((), {"i": -1, "k": 2.0})
    assert str(error).endswith("with i = -1, k = 2.0")


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_in_any_shape(module: spmdvm.Module, threads: int) -> None:
    rng = np.random.default_rng(threads)
    base = np.ones((6, 70, 8), np.int32)
    views = [
        base,
        base[::2],
        base[:, ::-1],
        base.transpose(2, 0, 1),
        np.asfortranarray(base),
        base[1:3, 5:9, ::3],
        base[:, :1],
        base[0, :, 0],
    ]
    for view in views:
        x = np.ones(8, np.int32) if view.shape[-1] == 8 else np.int32(1)
        for _ in range(3):
            view[...] = 1
            at = tuple(int(rng.integers(n)) for n in view.shape)
            view[at] = 0
            error = trap(module.divide, x, view, error=spmdvm.DivisionByZero, threads=threads)
            assert error.element == at
            assert error.arguments == {"x": 1, "y": 0}


def test_in_a_function_that_is_called(module: spmdvm.Module) -> None:
    i = np.arange(10, dtype=np.int32)
    error = trap(module.through, i[::-1][6:], TABLE[:3])
    assert (error.element, error.arguments) == ((0,), {"i": 3})
    assert [frame.function.split("_")[0] for frame in error.stack] == ["deeper", "through"]


def test_arguments_are_those_before_the_call(module: spmdvm.Module) -> None:
    x = np.array([8, 4, 2, 0], np.int32)
    error = trap(module.divide, np.int32(8), x, error=ZeroDivisionError, out=x)
    assert error.arguments == {"x": 8, "y": 0}


def test_where_lanes_are_others(module: spmdvm.Module) -> None:
    x = np.zeros(100, np.float32)
    error = trap(module.gang, x, TABLE)
    assert error.element is None and error.arguments is None
    last = min(module.width, 100) - 1
    assert str(error).endswith(f"in one of the elements 0 to {last}")


def test_lane_after_lane(module: spmdvm.Module) -> None:
    i = np.zeros(100, np.int32)
    i[70] = 4
    error = trap(module.one_by_one, i, TABLE)
    assert error.arguments == {"i": 4} if error.element else "in one of the elements" in str(error)


def test_without_a_result(module: spmdvm.Module) -> None:
    error = trap(module.check, [[1, 2], [-0.5, 3]], True, error=AssertionError)
    assert error.element == (1, 0)
    assert str(error).endswith("in element (1, 0), with x = -0.5, b = True")


def test_names_are_those_of_the_source() -> None:
    module = spmdvm.compile(
        "static int g(int x) { return 1 / x; }\nstatic int g(int x, int y) { return y / x; }\n"
        "export int f(varying number$0 x) { return g((int)x, 1); }\n"
    )
    error = trap(module.f, np.zeros(3), error=ZeroDivisionError)
    assert [frame.function for frame in error.stack] == ["g", "f"]
    assert "in `g`" in str(error) and "called from f at" in str(error)
    assert repr(module.f) == "<spmdvm function export int f(varying number$0 x)>"


def test_limits_name_elements(module: spmdvm.Module) -> None:
    limited = spmdvm.compile(SOURCE, fuel=10_000)
    x = np.full(50, -1, np.int32)
    x[40] = 1
    error = trap(limited.endless, x, error=spmdvm.OutOfFuel)
    assert error.element is None
    assert "in one of the elements 32 to 47" in str(error)
