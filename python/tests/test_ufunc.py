"""Functions of varying numbers, called over arrays."""

from __future__ import annotations

import time

import numpy as np
import pytest
import spmdvm

SOURCE = """
export float add(float x, float y) { return x + y; }
export int collatz(int n) {
    int steps = 0;
    while (n != 1) { n = (n & 1) ? 3 * n + 1 : n / 2; ++steps; }
    return steps;
}
export float mul(float x, float y) { return x * y; }
export double mul(double x, double y) { return x * y; }
export float affine(float x, uniform float k, float offset = 0.5f) { return x * k + offset; }
export bool positive(double x) { return x > 0; }
export float lookup(int i, const uniform float table[]) { return table[i]; }
export float lane(float x) { return programIndex; }
"""


@pytest.fixture(scope="module")
def module() -> spmdvm.Module:
    return spmdvm.compile(SOURCE)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100])
def test_arrays(module: spmdvm.Module, n: int) -> None:
    x = np.arange(n, dtype=np.float32)
    result = module.add(x, x)
    assert result.dtype == np.float32
    assert (result == 2 * x).all()


def test_divergence(module: spmdvm.Module) -> None:
    n = np.arange(1, 200, dtype=np.int32)

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(3 * n + 1 if n % 2 else n // 2)

    assert module.collatz(n).tolist() == [steps(int(k)) for k in n]


def test_numbers_give_numbers(module: spmdvm.Module) -> None:
    result = module.add(1.5, 2)
    assert type(result) is float
    assert result == 3.5
    assert module.collatz(27) == 111
    assert module.positive(-1.0) is False
    assert module.add(np.float32(1), np.float32(2)) == 3


def test_broadcasting(module: spmdvm.Module) -> None:
    x = np.arange(5, dtype=np.float32)
    y = np.arange(3, dtype=np.float32)[:, np.newaxis]
    assert (module.add(x, y) == x + y).all()
    assert (module.add(x, 1) == x + 1).all()
    assert module.add(np.zeros((4, 0, 2), np.float32), 1).shape == (4, 0, 2)
    with pytest.raises(ValueError, match=r"add\(\): the shapes \(5,\) of `x`, \(4,\) of `y` do not broadcast"):
        module.add(x, np.zeros(4, np.float32))


def test_any_strides(module: spmdvm.Module) -> None:
    rng = np.random.default_rng(1)
    a = rng.random((6, 70, 8), dtype=np.float32)
    views = [a[::2], a[:, ::-1], a[:, :, 3], a.transpose(2, 0, 1), np.asfortranarray(a), a[1:3, 5:9, ::3], a[..., :3]]
    for view in views:
        before = view.copy()
        assert (module.add(view, view) == before + before).all()
        assert (module.add(view, 1) == before + 1).all()
        assert (view == before).all()


def test_out(module: spmdvm.Module) -> None:
    x = np.arange(20, dtype=np.float32)
    out = np.zeros(20, np.float32)
    assert module.add(x, x, out=out) is out
    assert (out == 2 * x).all()
    grid = np.zeros((20, 3), np.float32)
    module.add(x, 1, out=grid[:, 1])
    assert (grid[:, 1] == x + 1).all()
    assert (grid[:, 0] == 0).all()
    with pytest.raises(ValueError, match=r"`out` has shape \(10,\), but the result has shape \(20,\)"):
        module.add(x, x, out=np.zeros(10, np.float32))
    with pytest.raises(ValueError, match=r"`out` has shape \(1,\), but the result has shape \(20,\)"):
        module.add(x, x, out=np.zeros(1, np.float32))
    with pytest.raises(TypeError, match="`out` must be an array of float32"):
        module.add(x, x, out=np.zeros(20))
    with pytest.raises(TypeError, match="`out` expects a numpy array"):
        module.add(x, x, out=[0] * 20)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        module.add(x, x, out=out)


def test_out_may_overlap_the_input(module: spmdvm.Module) -> None:
    x = np.arange(40, dtype=np.float32)
    module.add(x, 1, out=x)
    assert (x == np.arange(1, 41)).all()
    module.add(x[:-1], 0, out=x[1:])
    assert x.tolist() == [1, *range(1, 40)]
    module.add(x[::-1], 0, out=x)
    assert x.tolist() == [*range(39, 0, -1), 1]


def test_where(module: spmdvm.Module) -> None:
    x = np.arange(20, dtype=np.float32)
    where = x % 3 == 0
    out = np.full(20, -1, np.float32)
    module.add(x, x, out=out, where=where)
    assert (out == np.where(where, 2 * x, -1)).all()
    assert (module.add(x, x, where=where) == np.where(where, 2 * x, 0)).all()
    assert (module.add(x, x, where=True) == 2 * x).all()
    assert (module.add(x, x, where=False) == 0).all()
    with pytest.raises(TypeError, match="`where` expects an array of bool"):
        module.add(x, x, where=x)
    # Where the mask is false, nothing runs: not the endless walk of 0, for example.
    n = np.array([0, 5, 0, 7], np.int32)
    assert module.collatz(n, where=n != 0).tolist() == [0, 5, 0, 16]


def test_dispatch(module: spmdvm.Module) -> None:
    x32, x64 = np.ones(3, np.float32), np.ones(3)
    assert module.mul(x32, x32).dtype == np.float32
    assert module.mul(x64, x64).dtype == np.float64
    assert module.mul(x32, x64).dtype == np.float64
    assert module.mul(x32, 2.0).dtype == np.float32
    assert module.mul(x32, 2).dtype == np.float32
    assert module.mul(np.ones(3, np.int16), x32).dtype == np.float32
    assert module.mul(np.ones(3, np.int32), 2).dtype == np.float64
    assert module.mul(0.1, 3.0) == 0.1 * 3.0
    with pytest.raises(TypeError, match=r"no overload of mul\(\)"):
        module.mul(np.ones(3, complex), x32)
    with pytest.raises(TypeError, match=r"add\(\): `y` expects float32, .* array of float64.*x.astype\(np.float32\)"):
        module.add(x32, x64)


def test_uniform_and_default_parameters(module: spmdvm.Module) -> None:
    x = np.arange(20, dtype=np.float32)
    assert (module.affine(x, 2) == 2 * x + 0.5).all()
    assert (module.affine(x, 2, x) == 3 * x).all()
    assert (module.affine(x, k=2, offset=1) == 2 * x + 1).all()
    with pytest.raises(TypeError, match="`k` expects a scalar"):
        module.affine(x, x)


def test_array_parameters(module: spmdvm.Module) -> None:
    table = np.array([3, 1, 4, 1, 5], np.float32)
    i = np.array([[0, 2], [4, 4]], np.int32)
    assert (module.lookup(i, table) == table[i]).all()
    with pytest.raises(IndexError) as caught:
        module.lookup(np.array([0, 1, 5], np.int32), table)
    assert (caught.value.index, caught.value.lane) == (5, 2)


def test_lists(module: spmdvm.Module) -> None:
    assert module.mul([1, 2, 3], [4.0, 5.0, 6.0]).tolist() == [4, 10, 18]


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 8])
def test_threads(module: spmdvm.Module, threads: int) -> None:
    x = np.arange(100_003, dtype=np.float32)
    assert (module.add(x, x, threads=threads) == x + x).all()
    assert (module.lane(x, threads=threads) == module.lane(x)).all()
    grid = x[:99_000].reshape(99, 1000)[:, :900]
    assert (module.add(grid, 1, threads=threads) == grid + 1).all()


def test_bad_threads(module: spmdvm.Module) -> None:
    with pytest.raises(ValueError, match="threads"):
        module.add(1, 2, threads=-1)


def test_a_trap_in_a_thread(module: spmdvm.Module) -> None:
    i = np.zeros(10_000, np.int32)
    i[7777] = 9
    with pytest.raises(IndexError):
        module.lookup(i, np.zeros(4, np.float32), threads=2)


def test_the_time_limit_is_for_the_whole_call() -> None:
    module = spmdvm.compile("export int f(int n) { while (n > 0) --n; return n; }", timeout=0.2)
    rows = np.full((100, 2000), 1_000_000, np.int32)[:, ::2]
    start = time.perf_counter()
    with pytest.raises(spmdvm.OutOfTime):
        module.f(rows)
    assert time.perf_counter() - start < 5


def test_every_width() -> None:
    x = np.arange(101, dtype=np.float32)
    for width in (1, 2, 4, 8, 16, 32, 64):
        module = spmdvm.compile(SOURCE, width=width)
        assert (module.add(x, x[::-1]) == 100).all()
