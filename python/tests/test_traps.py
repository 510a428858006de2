"""Programs that fail."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest
import spmdvm

SOURCE = """
static uniform int descend(uniform int n) { return descend(n + 1) + 1; }
export void index(uniform float x[], uniform int n) {
    foreach (i = 0 ... n) x[i] = i;
}
export void before(uniform float x[]) { x[programIndex - 1] = 1; }
export void divide(uniform int x[], uniform int n) {
    foreach (i = 0 ... n) x[i] = 100 / x[i];
}
export void careful(uniform int x[], uniform int n) {
    foreach (i = 0 ... n) if (x[i] != 0) x[i] = 100 / x[i];
}
export uniform int deep() { return descend(0); }
export void endless() { while (true) { } }
export void check(uniform int n) { assert(n > 3); }
export void grow() { while (true) { uniform int * uniform p = uniform new uniform int[1024]; p[0] = 1; } }
export void null(uniform int x) {
    uniform int * uniform p = NULL;
    if (x == 0) p[0] = 1;
}
static const uniform int table[4] = { 1, 2, 3, 4 };
export void change(uniform int i) {
    uniform int * uniform p = (uniform int * uniform)&table[0];
    p[i] = 5;
}
"""


@pytest.fixture(scope="module")
def module() -> spmdvm.Module:
    return spmdvm.compile(SOURCE, fuel=100_000_000)


def test_out_of_bounds(module: spmdvm.Module) -> None:
    around = np.full(30, -1, np.float32)
    with pytest.raises(spmdvm.OutOfBounds) as caught:
        module.index(around[10:20], 16)
    trap = caught.value
    assert isinstance(trap, IndexError)
    assert isinstance(trap, spmdvm.SpmdError)
    assert (trap.kind, trap.lane, trap.index, trap.length) == ("out_of_bounds", 10, 10, 10)
    assert (trap.file, trap.line, trap.array) == ("<string>", 4, "x")
    assert trap.stack[0].function.startswith("index")
    assert trap.stack[0].line == 4
    text = str(trap)
    assert "x[i] = i" in text
    assert "index 10" in text
    # Nothing was written: an instruction checks all lanes before it has any effect.
    assert (around == -1).all()
    module.index(around[10:20], 10)
    assert (around[10:20] == np.arange(10)).all()
    assert (around[:10] == -1).all()
    assert (around[20:] == -1).all()


def test_index_below_zero(module: spmdvm.Module) -> None:
    with pytest.raises(IndexError) as caught:
        module.before(np.zeros(64, np.float32))
    assert caught.value.index == -1
    assert caught.value.lane == 0


def test_division_by_zero(module: spmdvm.Module) -> None:
    x = np.array([1, 2, 0, 4], np.int32)
    with pytest.raises(ZeroDivisionError) as caught:
        module.divide(x, 4)
    assert isinstance(caught.value, spmdvm.DivisionByZero)
    assert caught.value.lane == 2
    assert x.tolist() == [1, 2, 0, 4]
    module.careful(x, 4)
    assert x.tolist() == [100, 50, 0, 25]


def test_recursion(module: spmdvm.Module) -> None:
    with pytest.raises(RecursionError) as caught:
        module.deep()
    assert isinstance(caught.value, spmdvm.StackOverflow)
    assert len(caught.value.stack) > 100
    assert len(str(caught.value)) < 5000


def test_assertion(module: spmdvm.Module) -> None:
    module.check(4)
    with pytest.raises(AssertionError, match="n > 3") as caught:
        module.check(3)
    assert isinstance(caught.value, spmdvm.AssertionFailed)
    assert caught.value.line is not None


def test_null_pointer(module: spmdvm.Module) -> None:
    module.null(1)
    with pytest.raises(spmdvm.BadPointer) as caught:
        module.null(0)
    assert caught.value.kind == "null_pointer"
    assert isinstance(caught.value, IndexError)


def test_constants_are_read_only(module: spmdvm.Module) -> None:
    with pytest.raises(spmdvm.ReadOnly) as caught:
        module.change(1)
    assert isinstance(caught.value, ValueError)


def test_fuel() -> None:
    module = spmdvm.compile(SOURCE, fuel=1000)
    with pytest.raises(TimeoutError) as caught:
        module.endless()
    assert isinstance(caught.value, spmdvm.OutOfFuel)
    assert "fuel" in str(caught.value)
    module.check(4)


def test_timeout() -> None:
    module = spmdvm.compile(SOURCE, timeout=0.05)
    start = time.perf_counter()
    with pytest.raises(spmdvm.OutOfTime) as caught:
        module.endless()
    assert time.perf_counter() - start < 2
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.kind == "timeout"
    module.check(4)


def test_memory() -> None:
    module = spmdvm.compile(SOURCE, memory=1 << 20, timeout=10.0)
    with pytest.raises(MemoryError) as caught:
        module.grow()
    assert isinstance(caught.value, spmdvm.OutOfMemory)


def test_the_module_lives_on(module: spmdvm.Module) -> None:
    x = np.zeros(4, np.float32)
    for _ in range(3):
        with pytest.raises(IndexError):
            module.index(x, 5)
        module.index(x, 4)
    assert x.tolist() == [0, 1, 2, 3]


def test_traps_pickle(module: spmdvm.Module) -> None:
    with pytest.raises(spmdvm.Trap) as caught:
        module.index(np.zeros(2, np.float32), 3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is spmdvm.OutOfBounds
    assert (again.index, again.stack, str(again)) == (2, caught.value.stack, str(caught.value))


def test_the_tree() -> None:
    expected = {
        spmdvm.OutOfBounds: IndexError,
        spmdvm.BadPointer: IndexError,
        spmdvm.ReadOnly: ValueError,
        spmdvm.DivisionByZero: ZeroDivisionError,
        spmdvm.AssertionFailed: AssertionError,
        spmdvm.Overflow: OverflowError,
        spmdvm.Aborted: RuntimeError,
        spmdvm.StackOverflow: RecursionError,
        spmdvm.OutOfFuel: TimeoutError,
        spmdvm.OutOfTime: TimeoutError,
        spmdvm.OutOfMemory: MemoryError,
        spmdvm.Interrupted: KeyboardInterrupt,
    }
    for trap, builtin in expected.items():
        assert issubclass(trap, spmdvm.Trap)
        assert issubclass(trap, builtin)
        assert str(trap("text")) == "text"
        assert trap.__module__ == "spmdvm"


def test_a_trap_in_a_task_tells_which() -> None:
    source = """
    task void inner(uniform int a[], uniform int row) { if (row == 2) a[row * 4 + taskIndex] = 1; }
    task void outer(uniform int a[]) { launch[4] inner(a, taskIndex); }
    export void f(uniform int a[]) { launch[5] outer(a); }
    """
    for threads in (1, 3, None):
        module = spmdvm.compile(source, task_threads=threads)
        with pytest.raises(spmdvm.OutOfBounds) as caught:
            module.f(np.zeros(10, np.int32))
        trap = caught.value
        assert trap.index == 10
        assert trap.task == 2
        assert [(frame.function.split("_")[0], frame.task) for frame in trap.stack] == [
            ("inner", 2),
            ("outer", 2),
            ("f", None),
        ]
        assert "(task 2 of `inner` <- task 2 of `outer`)" in str(trap)
        assert "launched from outer (task 2)" in str(trap)


def test_tasks_obey_limits() -> None:
    source = """
    task void one() { while (true) {} }
    export void f() { launch[4] one(); }
    """
    with pytest.raises(spmdvm.OutOfTime):
        spmdvm.compile(source, timeout=0.05, task_threads=3).f()
    with pytest.raises(spmdvm.OutOfFuel):
        spmdvm.compile(source, fuel=10_000, task_threads=3).f()
    with pytest.raises(ValueError, match=r"0|zero|range|non"):
        spmdvm.compile(source, task_threads=0)
