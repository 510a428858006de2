"""Times the examples against numpy, and against numba where it is installed.

Results are compared first. Times are medians of at least nine rounds, in each of which every contender runs once, so
that they meet the same conditions.

    python benches/compare.py [NAME …] [--rounds N]
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import black_scholes
import demo
import example
import mandelbrot

Contender = Callable[[], np.ndarray]


def numba_contenders() -> dict[str, Contender]:
    """The examples that are written in numba too; none if it is not installed."""
    try:
        import numba
    except ImportError:
        return {}

    @numba.njit
    def iterate(x0, y0, x1, y1, width, height, limit, counts):
        dx, dy = np.float32((x1 - x0) / width), np.float32((y1 - y0) / height)
        for row in range(height):
            for column in range(width):
                c_re = x0 + np.float32(column) * dx
                c_im = y0 + np.float32(row) * dy
                re, im = c_re, c_im
                i = 0
                while i < limit and re * re + im * im <= np.float32(4):
                    re, im = c_re + (re * re - im * im), c_im + np.float32(2) * re * im
                    i += 1
                counts[row, column] = i
        return counts

    @numba.njit
    def price(stock, strike, years, rate, volatility, out):
        for i in range(stock.size):
            deviation = volatility[i] * math.sqrt(years[i])
            d1 = (math.log(stock[i] / strike[i]) + (rate[i] + 0.5 * volatility[i] ** 2) * years[i]) / deviation
            d2 = d1 - deviation
            n1, n2 = 0.5 * (1 + math.erf(d1 * math.sqrt(0.5))), 0.5 * (1 + math.erf(d2 * math.sqrt(0.5)))
            out[i] = stock[i] * n1 - strike[i] * math.exp(-rate[i] * years[i]) * n2
        return out

    corners = [np.float32(x) for x in (mandelbrot.X0, mandelbrot.Y0, mandelbrot.X1, mandelbrot.Y1)]
    counts = np.zeros((512, 1024), np.int32)
    data = black_scholes.options(500_000)
    prices = np.empty(500_000, np.float32)
    return {
        "mandelbrot": lambda: iterate(*corners, 1024, 512, 256, counts),
        "black_scholes": lambda: price(*data, prices),
    }


def verify(case: example.Case, contenders: dict[str, Contender]) -> None:
    """Stop if a contender's result is not numpy's."""
    expected = case.numpy().copy()
    for name, contender in contenders.items():
        # numba fuses and orders operations as it likes; pixels at the border of the set may differ.
        limit = case.tolerance if name != "numba" else max(case.tolerance, 1e-4)
        off = np.abs(np.asarray(contender(), np.float64) - expected) / np.maximum(1, np.abs(expected))
        if not np.mean(off > limit) <= (0 if name != "numba" else 1e-3):
            sys.exit(f"{case.name}: {name} differs from numpy by {off.max():g}")


def medians(contenders: dict[str, Contender], rounds: int) -> dict[str, float]:
    """Time all contenders in turn."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(list_) for name, list_ in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only these examples")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    compiled = numba_contenders()
    print(f"{'example':24}{'spmdvm':>11}{'numpy':>11}{'numba':>11}{'numpy/spmdvm':>15}{'numba/spmdvm':>15}")
    for case in demo.cases():
        if options.names and case.name not in options.names:
            continue
        contenders = {"spmdvm": case.spmdvm, "numpy": case.numpy}
        if case.name in compiled:
            contenders["numba"] = compiled[case.name]
        verify(case, contenders)
        times = medians(contenders, max(9, options.rounds))
        cells = [
            f"{times[name] * 1e3:8.2f} ms" if name in times else f"{'-':>11}" for name in ("spmdvm", "numpy", "numba")
        ]
        ratios = [
            f"{times[name] / times['spmdvm']:14.2f}x" if name in times else f"{'-':>15}" for name in ("numpy", "numba")
        ]
        print(f"{case.name:24}{''.join(cells)}{''.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
