"""Combinators at work: statistics in one pass, a histogram, the longest run, a recurrence, a filter.

`python examples/python/combinators.py` computes each with spmdvm and with numpy or a loop, and compares.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import spmdvm

Pair = tuple[Any, Any]


@spmdvm.kernel
def begin_moments(x):
    """Count, mean, and sum of squared distances from the mean, of one number."""
    return 1.0, x, 0.0 * x


@spmdvm.kernel
def join_moments(count_a, mean_a, squares_a, count_b, mean_b, squares_b):
    """Join those of two sets of numbers (Chan, Golub and LeVeque)."""
    count = count_a + count_b
    if count == 0:
        return count, mean_a, squares_a
    step = mean_b - mean_a
    share = count_b / count
    return count, mean_a + step * share, squares_a + squares_b + step * step * count_a * share


@spmdvm.kernel
def begin_run(is_warm):
    """The longest run of one day, and whether it reaches both ends: length, first, last, best."""
    warm = 1 if is_warm else 0
    return 1, warm, warm, warm


@spmdvm.kernel
def join_runs(length_a, first_a, last_a, best_a, length_b, first_b, last_b, best_b):
    """Join two spans of days: runs that touch become one."""
    first = length_a + first_b if first_a == length_a else first_a
    last = length_b + last_a if last_b == length_b else last_b
    return length_a + length_b, first, last, max(best_a, best_b, last_a + first_b)


@spmdvm.kernel
def compose(scale_a, offset_a, scale_b, offset_b):
    """Do x -> scale * x + offset twice: the second function after the first."""
    return scale_a * scale_b, scale_b * offset_a + offset_b


@spmdvm.kernel
def in_circle(x, y):
    """Whether a point is nearer than 1."""
    return x * x + y * y < 1


def moments(threads: int) -> Pair:
    """Compute mean and variance in one pass over the data."""
    x = np.random.default_rng(1).normal(5, 2, 300_000)
    count, mean, squares = spmdvm.reduce(
        join_moments, x, map=begin_moments, neutral=(0, 0, 0), commutative=True, threads=threads
    )
    return np.array([mean, squares / count]), np.array([x.mean(), x.var()])


def histogram(threads: int) -> Pair:
    """Add up weights by bins."""
    random = np.random.default_rng(2)
    bins, weights = random.integers(0, 100, 300_000), random.random(300_000)
    return spmdvm.reduce_by_index(np.zeros(100), "+", bins, weights, threads=threads), np.bincount(bins, weights, 100)


def longest_run(threads: int) -> Pair:
    """Find the longest run of warm days, for each place."""
    warm = np.random.default_rng(3).random((40, 3650)) < 0.7
    found = spmdvm.reduce(join_runs, warm, map=begin_run, neutral=(0, 0, 0, 0), axis=1, threads=threads)
    best = []
    for row in warm:
        run = longest = 0
        for day in row:
            run = run + 1 if day else 0
            longest = max(longest, run)
        best.append(longest)
    return found[3], np.array(best)


def recurrence(threads: int) -> Pair:
    """Compute y[i] = scale[i] * y[i - 1] + offset[i], which looks sequential, as a scan of functions."""
    random = np.random.default_rng(4)
    scale, offset = random.random(100_000), random.random(100_000)
    _, found = spmdvm.scan(compose, (scale, offset), neutral=(1, 0), threads=threads)
    y, expected = 0.0, []
    for s, o in zip(scale.tolist(), offset.tolist()):
        y = s * y + o
        expected.append(y)
    return found, np.array(expected)


def points(threads: int) -> Pair:
    """Keep the points in a circle."""
    all_points = np.random.default_rng(5).random((200_000, 2)) * 2 - 1
    found = spmdvm.filter(in_circle, all_points, axis=0, threads=threads)
    return found, all_points[all_points[:, 0] ** 2 + all_points[:, 1] ** 2 < 1]


ALL = (moments, histogram, longest_run, recurrence, points)


def main() -> int:
    """Run all, and say whether they agree."""
    wrong = 0
    for example in ALL:
        found, expected = example(threads=2)
        agrees = found.shape == expected.shape and np.allclose(found, expected, rtol=1e-10)
        wrong += not agrees
        shown = np.array2string(found.ravel()[:4], precision=4, separator=", ")
        print(f"{example.__name__:<12} {'agrees' if agrees else 'DIFFERS'}  {shown}{' …' * (found.size > 4)}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
