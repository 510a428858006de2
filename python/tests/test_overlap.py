"""Arrays of one call that share memory: the result is that of a call with copies."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import spmdvm

SOURCE = """
export float add(float x, float y) { return 2 * x + y; }
export float lookup(float x, const uniform float table[], uniform int n) {
    int i = abs((int)x) % n;
    return table[i] + table[n - 1 - i];
}
export float record(float x, uniform float log[], uniform int n) {
    int i = abs((int)x) % n;
    log[i] = 50;
    return x + 1;
}
export float both(float x, uniform float log[], const uniform float table[], uniform int n) {
    int i = abs((int)x) % n;
    log[i] = 50;
    return table[i] + table[n - 1 - i];
}
export void two(float x, uniform float a[], uniform float b[]) { }
export bool flip(bool x) { return !x; }
"""


@pytest.fixture(scope="module", params=[1, 4, 16, 64])
def module(request: pytest.FixtureRequest) -> spmdvm.Module:
    return spmdvm.compile(SOURCE, width=request.param)


def test_out_may_be_a_table_that_is_read(module: spmdvm.Module) -> None:
    table = np.arange(100, dtype=np.float32)
    x = np.arange(100, dtype=np.float32)[::-1].copy()
    expected = module.lookup(x, table, 100)
    assert module.lookup(x, table, 100, out=table) is table
    assert (table == expected).all()


def test_out_is_written_after_all_else(module: spmdvm.Module) -> None:
    memory = np.arange(64, dtype=np.float32)
    x = np.arange(64, dtype=np.float32)
    log = memory.copy()
    expected = module.record(x, log, 64)
    module.record(x, memory, 64, out=memory)
    assert (log == 50).all()
    assert (memory == expected).all()


def test_what_is_read_is_read_as_it_was(module: spmdvm.Module) -> None:
    memory = np.arange(100, dtype=np.float32)
    assert (module.record(memory[::-1], memory, 100) == np.arange(99, -1, -1) + 1).all()
    assert (memory == 50).all()
    memory = np.arange(100, dtype=np.float32)
    table = memory.copy()
    expected = module.both(table, memory.copy(), table, 100)
    assert (module.both(table, memory, memory, 100) == expected).all()


def test_two_arrays_that_are_written_must_lie_apart(module: spmdvm.Module) -> None:
    memory = np.zeros(10, np.float32)
    module.two(1.0, memory[:5], memory[5:])
    with pytest.raises(ValueError, match="`a` and `b` share memory, and the program may write to both"):
        module.two(1.0, memory[:6], memory[5:])


def test_threads_do_not_share_what_is_written(module: spmdvm.Module) -> None:
    log, x = np.zeros(8, np.float32), np.zeros(100, np.float32)
    for threads in (0, 2):
        with pytest.raises(ValueError, match="`threads` must be 1, because all threads would write to `log`"):
            module.record(x, log, 8, threads=threads)
    assert (module.lookup(x, log, 8, threads=2) == 0).all()


def test_threads_take_turns_on_a_program_with_state() -> None:
    module = spmdvm.compile(
        "static uniform int n = 0; export int f(int x) { return n + programIndex; }\n"
        "export int count(int x) { n += 1; return n; }"
    )
    x = np.zeros(1000, np.int32)
    assert (module.count(x, threads=4)[::16] == np.arange(1, 64)).all()


def test_out_with_elements_on_top_of_each_other(module: spmdvm.Module) -> None:
    memory = np.arange(8, dtype=np.float32)
    out = np.lib.stride_tricks.as_strided(memory, (4, 4), (4, 4))
    expected = memory.copy()
    np.lib.stride_tricks.as_strided(expected, (4, 4), (4, 4))[...] = module.add(out.copy(), 1)
    module.add(out, 1, out=out, threads=2)
    assert (memory == expected).all()


def random_view(
    rng: np.random.Generator, memory: np.ndarray, shape: tuple[int, ...], exact: bool = False
) -> np.ndarray:
    """Some elements of the memory in this shape, or one that broadcasts to it."""
    if not exact and rng.random() < 0.15:
        shape = tuple(1 if rng.random() < 0.5 else n for n in shape)
    while True:
        strides = [int(rng.integers(-5, 6)) for _ in shape]
        if rng.random() < 0.3:
            strides = list(np.cumprod([1, *shape[:0:-1]])[::-1])
        low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape))
        high = sum(max(0, s * (n - 1)) for s, n in zip(strides, shape))
        room = len(memory) - (high - low)
        if room > 0:
            start = int(rng.integers(0, room)) - low
            size = memory.itemsize
            return np.lib.stride_tricks.as_strided(memory[start:], shape, [s * size for s in strides])


@pytest.mark.parametrize("seed", range(60))
def test_random_views(module: spmdvm.Module, seed: int) -> None:
    """Everything lies in one piece of memory; the oracle copies first and assigns at the end."""
    rng = np.random.default_rng(seed)
    shape = [(40,), (7, 9), (3, 4, 5), (1,), (2, 33)][int(rng.integers(5))]
    for name, threads in itertools.product(("add", "lookup", "record", "both"), (1, 3)):
        memory = rng.integers(0, 50, 400).astype(np.float32)
        other = memory.copy()
        state = rng.bit_generator.state

        def views(memory: np.ndarray, state=state) -> tuple:
            rng.bit_generator.state = state
            x, y, out = (random_view(rng, memory, shape, exact=i == 2) for i in range(3))
            cut = int(rng.integers(0, 300))
            where = random_view(rng, memory.view(np.bool_), shape) if rng.random() < 0.4 else True
            return x, y, out, memory[cut : cut + 90], memory[10:100], where

        x, y, out, log, table, where = views(memory)
        if where is not True:
            # The bytes of floats are no bools.
            memory.view(np.uint8)[:] &= 1
            other.view(np.uint8)[:] &= 1
        writes = name in ("record", "both")
        if writes and threads > 1:
            continue
        arguments = {"add": (x, y), "lookup": (x, log, 90), "record": (x, log, 90), "both": (x, log, table, 90)}[name]
        getattr(module, name)(*arguments, out=out, where=where, threads=threads)

        x, y, out, log, table, where = views(other)
        mask = where if where is True else where.copy()
        copies = {
            "add": (x.copy(), y.copy()),
            "lookup": (x.copy(), log.copy(), 90),
            "record": (x.copy(), log, 90),
            "both": (x.copy(), log, table.copy(), 90),
        }[name]
        result = getattr(module, name)(*copies, where=mask)
        np.copyto(out, result, where=mask)
        np.testing.assert_array_equal(memory.view(np.uint32), other.view(np.uint32), err_msg=f"{name} {threads}")


def test_where_may_be_out(module: spmdvm.Module) -> None:
    flags = np.arange(50) % 3 == 0
    expected = np.where(flags, ~flags, flags)
    module.flip(flags, out=flags, where=flags)
    assert (flags == expected).all()
    flags = np.arange(50) % 3 == 0
    other = flags.copy()
    np.copyto(other[1:], ~flags[:-1], where=flags[1:])
    module.flip(flags[:-1], out=flags[1:], where=flags[1:])
    assert (flags == other).all()


@pytest.mark.parametrize("width", [4, 16])
def test_arrays_that_are_extern_variables(width: int) -> None:
    source = """
        extern uniform float table[];
        extern const uniform float fixed[];
        export float look(int i, float x) { return table[i] + x; }
        export float look_fixed(int i) { return fixed[i]; }
        export float bump(int i, float x) { table[i & 7] += 1; return x; }
    """
    module = spmdvm.compile(source, width=width)
    reversed_order = np.arange(100, dtype=np.int32)[::-1].copy()

    def table() -> np.ndarray:
        return np.arange(100, dtype=np.float32)

    # As if `out` were written after all else.
    t = table()
    module.globals["table"] = t
    module.look(reversed_order, 0.5, out=t)
    assert (t == table()[::-1] + 0.5).all()
    t = table()
    module.globals["fixed"] = t
    module.look_fixed(reversed_order, out=t)
    assert (t == table()[::-1]).all()
    # As if arguments had been copied before.
    t = table()
    module.globals["table"] = t
    assert (module.bump(np.zeros(100, np.int32), t) == table()).all()
    assert t[0] > 0
