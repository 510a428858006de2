"""The examples as kernels (examples/as_kernels.py) give the bits of the programs; what makes them as fast is kept."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import spmdvm

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import as_kernels
import demo

# Sizes at which loops get hot, gangs are not full, and the interpreter takes no longer than needed.
SMALL = {
    "mandelbrot_pair": (33, 50),
    "noise_pair": (21, 35),
    "ao_pair": (20, 27, 4),
    "black_scholes_pair": (1003,),
    "binomial_pair": (50,),
    "nbody_pair": (101, 2),
    "stencil_pair": (37, 45, 3),
    "spmv_pair": (501, 9),
    "histogram_pair": (5003,),
    "lookup_pair": (2005,),
    "bitonic_sort_pair": (512,),
    "saxpy_pair": (3001,),
    "reduction_pair": (3007,),
    "prefix_sum_pair": (1011,),
}


@pytest.mark.parametrize("make", as_kernels.PAIRS, ids=lambda make: make.__name__)
def test_kernels_give_the_bits_of_the_programs(make: Callable[..., as_kernels.Pair]) -> None:
    pair = make(*SMALL[make.__name__])
    before = [a.copy() for a in pair.program()]
    assert any(a.any() for a in before)
    # Interpreted at first, then compiled.
    for _ in range(4):
        for ours, theirs in zip(pair.program(), pair.kernel()):
            assert ours.dtype == theirs.dtype
            assert ours.tobytes() == theirs.tobytes()


def test_every_example_has_a_kernel() -> None:
    names = {make.__name__.removesuffix("_pair") for make in as_kernels.PAIRS}
    assert set(demo.EXAMPLES) - names == {"mandelbrot_tasks", "relax"}


def test_numbers_that_are_the_same_in_all_lanes_stay_so_in_functions() -> None:
    def power(x, n):
        result = x
        for _ in range(n - 1):
            result *= x
        return result

    @spmdvm.kernel
    def cubes(x, n: np.int32, out):
        for i in spmdvm.foreach(len(x)):
            out[i] = power(x[i], n) + power(x[i], i + 1)

    x = np.array([2.0, 3.0, 0.5])
    out = np.zeros(3)
    cubes(x, 3, out)
    assert out.tolist() == [8 + 2, 27 + 9, 0.125 + 0.125]
    # Once with a uniform count, once with one for each lane.
    heads = [line for line in cubes.spmd_source.splitlines() if line.startswith("static")]
    assert sorted("uniform int n" in line for line in heads) == [False, True]


def test_a_uniform_parameter_may_be_assigned() -> None:
    def clipped(x, limit):
        if x > limit:
            limit = limit * 2
        return limit

    @spmdvm.kernel
    def run(x, limit: np.float64, out):
        for i in spmdvm.foreach(len(x)):
            out[i] = clipped(x[i], limit)

    x, out = np.array([1.0, 5.0, 2.0]), np.zeros(3)
    run(x, 2.0, out)
    assert out.tolist() == [2, 4, 2]


def test_one_name_may_count_several_loops() -> None:
    @spmdvm.kernel
    def triangle(n: np.int32, out):
        for x in spmdvm.foreach(len(out)):
            total = np.float32(0)
            for i in range(n):
                total += 1 + i - i
            for k in range(n):
                for i in range(k):
                    total += 1 + i - i
            out[x] = total

    out = np.zeros(20, np.float32)
    triangle(5, out)
    assert (out == 15).all()
    assert "v_i" not in triangle.spmd_source


@pytest.mark.parametrize("row", [-1, 3, 4, 2**30, 2**31 - 1, 2**40, -(2**40)])
def test_rows_out_of_bounds(row: int) -> None:
    """With 32 bits some products of them would come back into the array."""

    @spmdvm.kernel
    def uniform_row(x, row, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = x[row, i]

    @spmdvm.kernel
    def part(x, row, out):
        y = x[row]
        for i in spmdvm.foreach(len(out)):
            out[i] = y[i]

    @spmdvm.kernel
    def varying_row(x, rows, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = x[rows[i], i]

    @spmdvm.kernel
    def third(x, row, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = x[row, i, 1]

    x, out = np.arange(3 * 64.0).reshape(3, 64), np.zeros(64)
    cubic = np.zeros((3, 64, 2))
    for wrong in (
        lambda: uniform_row(x, row, out),
        lambda: part(x, row, out),
        lambda: varying_row(x, np.full(64, row), out),
        lambda: third(cubic, row, out),
    ):
        with pytest.raises(IndexError):
            wrong()
    for right in range(3):
        for f, at in ((uniform_row, right), (part, right), (varying_row, np.full(64, right))):
            f(x, at, out)
            assert (out == x[right]).all()


@pytest.mark.parametrize("row", range(4))
def test_constant_rows(row: int) -> None:
    """The first two rows are not tested by themselves."""

    @spmdvm.kernel
    def take(x, out):
        y = x[row]
        for i in spmdvm.foreach(len(out)):
            out[i] = x[row, i] + y[i]

    out = np.zeros(50)
    for height in range(6):
        x = np.arange(height * 50.0).reshape(height, 50)
        if row < height:
            take(x, out)
            assert (out == 2 * x[row]).all()
        else:
            with pytest.raises(IndexError):
                take(x, out)


def test_conditions_of_a_loop_are_asked_in_order() -> None:
    @spmdvm.kernel
    def first_zero(x, out):
        for i in spmdvm.foreach(len(out)):
            k = i
            while k < len(x) and x[k] != 0 and 12 // x[k] > 1:
                k += 1
            out[i] = k

    x = np.array([3, 1, 4, 0, 1, 5, 0, 13, 2, 2])
    out = np.zeros(10, np.int64)
    first_zero(x, out)
    want = []
    for i in range(10):
        k = i
        while k < len(x) and x[k] != 0 and 12 // x[k] > 1:
            k += 1
        want.append(k)
    assert out.tolist() == want


def test_empty_arrays_of_kernels_hold_what_is_stored() -> None:
    @spmdvm.kernel
    def reversed_(x, out):
        for i in spmdvm.foreach(len(out)):
            own = np.empty(4, np.float64)
            for k in range(4):
                own[3 - k] = x[i] + k
            out[i] = own[0] * 10 + own[3]

    out = np.zeros(5)
    reversed_(np.arange(5.0), out)
    assert out.tolist() == [10 * (i + 3) + i for i in range(5)]


def test_each_kernel_says_what_it_does() -> None:
    for _, value in inspect.getmembers(as_kernels, lambda value: isinstance(value, spmdvm.Kernel)):
        assert value.__doc__


@spmdvm.kernel
def least_and_greatest(x: spmdvm.array[np.float32], y: spmdvm.array[np.float32], out: spmdvm.array[np.float32, 2]):
    for i in spmdvm.foreach(len(x)):
        out[0, i] = min(x[i], y[i])
        out[1, i] = max(x[i], y[i])
        out[2, i] = x[i] if x[i] < y[i] else y[i]


def test_extremes_are_the_operations_of_the_machine():
    numbers = np.array([0.0, -0.0, 1, -1, np.nan, np.inf, -np.inf], np.float32)
    x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
    out = np.zeros((3, len(x)), np.float32)
    least_and_greatest(x, y, out)
    # As Python's: the first one, if they are equal or one is NaN.
    rows = zip(x.tolist(), y.tolist())
    want = np.array([(min(a, b), max(a, b), a if a < b else b) for a, b in rows], np.float32).T
    assert out.view(np.uint32).tolist() == want.view(np.uint32).tolist()
    body = least_and_greatest.spmd_source.split("foreach")[1]
    assert "= min(y[v_i], x[v_i]);" in body and "= max(y[v_i], x[v_i]);" in body


@spmdvm.kernel
def low_bits(x: spmdvm.array[np.int32], out: spmdvm.array[np.int32, 2]):
    for i in spmdvm.foreach(len(x)):
        k = int(x[i])
        out[0, i] = np.int32((i * 123456 - 7) * 9 + (i << 20))
        out[1, i] = np.int8(i * i * 3 ^ i)
        out[2, i] = np.uint16(k * k + i)
        out[3, i] = np.int32(i * 99999 // 7)


def test_low_bits_of_wide_numbers_are_computed_in_few():
    x = np.arange(100_000, 100_300, dtype=np.int32) * 17
    out = np.zeros((4, len(x)), np.int32)
    low_bits(x, out)
    i, k = np.arange(len(x)), x.astype(np.int64)
    np.testing.assert_array_equal(out[0], ((i * 123456 - 7) * 9 + (i << 20)).astype(np.int32))
    np.testing.assert_array_equal(out[1], (i * i * 3 ^ i).astype(np.int8))
    np.testing.assert_array_equal(out[2], (k * k + i).astype(np.uint16))
    np.testing.assert_array_equal(out[3], (i * 99999 // 7).astype(np.int32))
    first, second, _, last = (line for line in low_bits.spmd_source.splitlines() if " out[" in line and " = " in line)
    assert "int64" not in first + second and "int64" in last


@spmdvm.kernel
def shifted(a, b, out):
    height, width = a.shape
    for y, x in spmdvm.foreach((1, height), width):
        out[y, x] = a[y - 1, x] + b[y, x]


def test_equal_lengths_have_one_name():
    a, b = np.random.default_rng(1).random((2, 5, 70))
    for rows, row in ((5, "a__n1"), (70, "a__n0")):
        a, b = np.random.default_rng(1).random((2, rows, 70))
        out = np.zeros_like(a)
        shifted(a, b, out)
        np.testing.assert_array_equal(out[1:], a[:-1] + b[1:])
        body = shifted.spmd_source.split("foreach")[1]
        assert body.count(row) == 3 and "b__n" not in body and "out__n" not in body
    # Lengths that differ have a name each.
    out = np.zeros((5, 71))
    shifted(a[:5], b[:5], out)
    np.testing.assert_array_equal(out[1:, :-1], a[:4] + b[1:5])
    assert "out__n1" in shifted.spmd_source.split("foreach")[1]
