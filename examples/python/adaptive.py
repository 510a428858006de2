"""Adaptive integration: a function that calls itself where the integrand bends, to another depth for each element.

`python examples/python/adaptive.py`
"""

from __future__ import annotations

import math
import sys

import numpy as np
import spmdvm


def integrand(x, sharp):
    """Give a peak at 0.3 that gets narrower."""
    return 1 / (1 + sharp * (x - 0.3) * (x - 0.3))


def simpson(a, b, fa, fm, fb):
    """Give the integral of the parabola through three points."""
    return (b - a) / 6 * (fa + 4 * fm + fb)


def halve(a, b, fa, fm, fb, whole, tolerance, sharp):
    """Integrate both halves of an interval, and their halves where the sum still changes."""
    m = (a + b) / 2
    fl, fr = integrand((a + m) / 2, sharp), integrand((m + b) / 2, sharp)
    left, right = simpson(a, m, fa, fl, fm), simpson(m, b, fm, fr, fb)
    if abs(left + right - whole) <= 15 * tolerance:
        return left + right + (left + right - whole) / 15
    return halve(a, m, fa, fl, fm, left, tolerance / 2, sharp) + halve(m, b, fm, fr, fb, right, tolerance / 2, sharp)


@spmdvm.kernel
def integral(a: np.float64, b: np.float64, sharp: np.float64):
    """Integrate from a to b."""
    fa, fm, fb = integrand(a, sharp), integrand((a + b) / 2, sharp), integrand(b, sharp)
    return halve(a, b, fa, fm, fb, simpson(a, b, fa, fm, fb), 1e-10, sharp)


def main() -> None:
    """Compare with the integrals that are known."""
    sharp = 10.0 ** np.arange(8)
    got = integral(0.0, 1.0, sharp)
    root = np.sqrt(sharp)
    exact = (np.arctan(root * 0.7) + np.arctan(root * 0.3)) / root
    for k, value in enumerate(got):
        print(f"peak of width {1 / math.sqrt(sharp[k]):.5f}: {value:.12f}, off by {abs(value - exact[k]):.0e}")
    if not np.allclose(got, exact, rtol=0, atol=1e-9):
        sys.exit("the integrals are wrong")


if __name__ == "__main__":
    main()
