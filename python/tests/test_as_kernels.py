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
