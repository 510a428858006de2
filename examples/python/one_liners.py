"""Formulas as texts: `evaluate` computes one, `vectorize` makes a function of it.

`python examples/python/one_liners.py` computes each with numpy too, and compares.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import spmdvm

RADIUS = 6371.0
DISTANCE = """2 * RADIUS * arcsin(sqrt(
    sin((lat_b - lat_a) / 2)**2 + cos(lat_a) * cos(lat_b) * sin((long_b - long_a) / 2)**2))"""


def of_the_caller() -> tuple[Any, Any]:
    """Names are the variables of the function that calls, and those of its module."""
    rng = np.random.default_rng(1)
    lat_a, lat_b = rng.uniform(-1.5, 1.5, (2, 100_000))
    long_a, long_b = rng.uniform(-3, 3, (2, 100_000))
    half = np.sin((lat_b - lat_a) / 2) ** 2 + np.cos(lat_a) * np.cos(lat_b) * np.sin((long_b - long_a) / 2) ** 2
    return spmdvm.evaluate(DISTANCE), 2 * RADIUS * np.arcsin(np.sqrt(half))


def of_a_mapping() -> tuple[Any, Any]:
    """Names of a mapping, as the columns of a table; `out=` is written to."""
    rng = np.random.default_rng(2)
    table = {"weight": rng.uniform(50, 90, 1000), "height": rng.uniform(1.5, 2, 1000)}
    index = np.empty(1000)
    spmdvm.evaluate("weight / height**2", table, out=index)
    return index, table["weight"] / table["height"] ** 2


def that_choose() -> tuple[Any, Any]:
    """Conditions and chains of comparisons, for each element; shapes broadcast."""
    x, y = np.linspace(-1, 1, 300), np.linspace(-1, 1, 200)[:, None]
    ring = spmdvm.evaluate("1.0 if 0.25 <= x*x + y*y < 0.5 else 0.0")
    r = x * x + y * y
    return ring, ((r >= 0.25) & (r < 0.5)).astype(float)


def as_functions() -> tuple[Any, Any]:
    """A function of the names in the text, in their order, for arrays of any type, with all that a ufunc takes."""
    logistic = spmdvm.vectorize("1 / (1 + exp(-x))")
    x = np.linspace(-5, 5, 100_000, dtype=np.float32)
    y = np.zeros_like(x)
    logistic(x, out=y, where=x > 0, threads=2)
    assert logistic(x).dtype == np.float32 and logistic(np.arange(3)).dtype == np.float64
    return y, np.where(x > 0, 1 / (1 + np.exp(-x)), 0)


def as_lambdas() -> tuple[Any, Any]:
    """A lambda is such a function, with the numbers from around it; it is compiled once for each."""
    x = np.linspace(0, 1, 100_000)
    polynomials = [spmdvm.map(lambda t, n=n: (1 - t) ** n if t < 0.5 else t**n, x) for n in (1, 2, 3)]
    return np.array(polynomials), np.array([np.where(x < 0.5, (1 - x) ** n, x**n) for n in (1, 2, 3)])


def in_combinators() -> tuple[Any, Any]:
    """A function made of a text is a mapping function, too: a sum without an array in between."""
    x, y = np.random.default_rng(3).random((2, 100_000))
    return spmdvm.reduce("+", (x, y), map=spmdvm.vectorize("x * log(x / y)")), (x * np.log(x / y)).sum()


def with_a_mistake() -> tuple[Any, Any]:
    """What is wrong is shown in the text."""
    x = np.arange(3.0)
    try:
        spmdvm.evaluate("sqroot(x)")
    except spmdvm.CompileError as error:
        shown = str(error)
    print("\n".join(f"    {line}" for line in shown.splitlines()))
    return "sqroot" in shown, x is not None


ALL = (of_the_caller, of_a_mapping, that_choose, as_functions, as_lambdas, in_combinators, with_a_mistake)


def main() -> int:
    """Run all, and say whether they agree."""
    wrong = 0
    for example in ALL:
        print(f"{example.__name__}: {example.__doc__}")
        found, expected = example()
        agrees = np.shape(found) == np.shape(expected) and np.allclose(found, expected, rtol=1e-5)
        wrong += not agrees
        print(f"    {'agrees' if agrees else 'DIFFERS'}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
