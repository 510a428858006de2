"""Shapes of arrays for parameters of several dimensions."""

from __future__ import annotations

import numpy as np
import pytest
import spmdvm

SOURCE = """
export uniform float at(const uniform float x[][4], uniform int i, uniform int j) { return x[i][j]; }
export uniform float deep(const uniform float x[][2][3], uniform int i) { return x[i][1][2]; }
struct Vec { float x, y, z; };
export uniform float height(const uniform Vec v[], uniform int i) { return v[i].z; }
export uniform float corner(const uniform Vec v[][2], uniform int i) { return v[i][1].y; }
"""


@pytest.fixture(scope="module")
def module() -> spmdvm.Module:
    return spmdvm.compile(SOURCE)


def numbers(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def test_inner_lengths_agree(module: spmdvm.Module) -> None:
    assert module.at(numbers(3, 4), 2, 1) == 9
    assert module.at(numbers(2, 3, 4), 5, 1) == 21
    assert module.deep(numbers(5, 2, 3), 1) == 11
    assert module.height(numbers(4, 3), 2) == 8
    assert module.corner(numbers(5, 2, 3), 1) == 10
    pairs = np.zeros((5, 2), np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]))
    pairs["y"][1, 1] = 7
    assert module.corner(pairs, 1) == 7


def test_one_row_of_all_numbers(module: spmdvm.Module) -> None:
    assert module.at(numbers(12), 2, 1) == 9
    assert module.deep(numbers(12), 1) == 11
    assert module.height(numbers(12), 2) == 8
    with pytest.raises(ValueError, match=r"16 bytes each, but the array of shape \(10,\) has 40 bytes"):
        module.at(numbers(10), 0, 0)


@pytest.mark.parametrize(
    ("function", "shape", "needed"),
    [
        ("at", (4, 3), "(n, 4)"),
        ("at", (4, 4, 3), "(n, 4)"),
        ("at", (0, 3), "(n, 4)"),
        ("deep", (4, 3, 2), "(n, 2, 3)"),
        ("deep", (4, 6), "(n, 2, 3)"),
        ("height", (3, 4), "(n, 3)"),
        ("corner", (4, 3, 2), "(n, 2, 3)"),
    ],
)
def test_other_shapes(module: spmdvm.Module, function: str, shape: tuple, needed: str) -> None:
    arguments = (numbers(*shape), 0, 0) if function == "at" else (numbers(*shape), 0)
    with pytest.raises(ValueError) as caught:
        getattr(module, function)(*arguments)
    assert f"expects an array of shape {needed}, but was given one of shape {shape}" in str(caught.value)


def test_arrays_of_structs_of_another_shape(module: spmdvm.Module) -> None:
    vectors = np.zeros((5, 3), np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")]))
    with pytest.raises(ValueError, match=r"of shape \(n, 2\)"):
        module.corner(vectors, 1)


def test_numbers_for_structs_get_possible_advice(module: spmdvm.Module) -> None:
    with pytest.raises(TypeError, match=r"or pass one of np\.float32 with shape \(n, 3\)"):
        module.height(np.zeros((4, 3)), 2)
