"""Random arrays: of any strides, broadcast, and overlapping each other."""

from __future__ import annotations

import random

import numpy as np


def values(rng: random.Random, dtype: type, size: int) -> np.ndarray:
    """Give numbers of a type, special ones among them."""
    state = np.random.default_rng(rng.getrandbits(32))
    if np.issubdtype(dtype, np.floating):
        array = state.normal(scale=rng.choice([1, 1e3, 1e-3]), size=size).astype(dtype)
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1], dtype)
        array[state.random(size) < 0.1] = rng.choice(special)
        return array
    info = np.iinfo(dtype)
    array = state.integers(info.min, info.max, size=size, dtype=dtype, endpoint=True)
    small = state.random(size) < 0.5
    array[small] = (array[small] % 16).astype(dtype)
    return array


def strided(rng: random.Random, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Give an array of a shape with strides of its own: steps, reversed, transposed, unaligned."""
    steps = [rng.choice([1, 1, 2, 3]) for _ in shape]
    order = list(range(len(shape)))
    rng.shuffle(order)
    full = [shape[axis] * steps[axis] for axis in order]
    size = int(np.prod(full, dtype=int))
    if rng.random() < 0.1:
        raw = np.zeros(size * np.dtype(dtype).itemsize + 1, np.uint8)[1:]
        base = raw.view(dtype)
        base[...] = values(rng, dtype, size)
    else:
        base = values(rng, dtype, size)
    base = base.reshape(full).transpose(np.argsort(order))
    cut = tuple(slice(None, None, rng.choice([1, -1]) * step) for step in steps)
    return base[(*cut, ...)]


def operand(rng: random.Random, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Give an array that broadcasts to a shape."""
    kept = tuple(1 if rng.random() < 0.2 else n for n in shape)
    while kept and rng.random() < 0.15:
        kept = kept[1:]
    return strided(rng, dtype, kept)


def shape(rng: random.Random) -> tuple[int, ...]:
    """Give a shape; most are small, some larger than any block of work."""
    if rng.random() < 0.1:
        return (rng.randint(5_000, 60_000),)
    return tuple(rng.choice([0, 1, 2, 3, 7, 16, 17, 40]) for _ in range(rng.randint(0, 3)))


def overlapping(rng: random.Random, other: np.ndarray) -> np.ndarray:
    """Give another view of (nearly) the same memory as an array, of the same shape."""
    choice = rng.randrange(3)
    if choice == 0 or other.ndim == 0:
        return other
    if choice == 1:
        return other[tuple(slice(None, None, -1) for _ in other.shape)]
    base = np.concatenate([other.ravel(), other.ravel()[:1], np.zeros(1, other.dtype)])
    count = other.size
    return base[1 : count + 1].reshape(other.shape) if count else other


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether two arrays are the same, bit for bit but for NaNs."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if not np.issubdtype(a.dtype, np.floating):
        return bool(np.array_equal(a, b))
    bits = np.dtype(f"u{a.dtype.itemsize}")
    equal = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    return bool(np.all(equal | (np.isnan(a) & np.isnan(b))))
