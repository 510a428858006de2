"""Mandelbrot's set with complex numbers beside the same with two floats: which part of its time it takes.

`python benches/complex_numbers.py [ROUNDS]`

Results are compared first, then both run until their loops are compiled. Times are medians of the processor time of so
many rounds (15), in each of which both run once, the one or the other first.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable

import in_turn
import numpy as np
import spmdvm
from spmdvm import int32, uniform


@spmdvm.kernel
def numbers(c, limit: uniform[int32]):
    """Of each element, as one number."""
    z = 0
    for k in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4:
            return k
    return limit


@spmdvm.kernel
def floats(x, y, limit: uniform[int32]):
    """Of each element, as two."""
    u, v = x - x, y - y
    for k in range(limit):
        u, v = u * u - v * v + x, u * v + v * u + y
        if u * u + v * v > 4:
            return k
    return limit


@spmdvm.kernel
def blocks_of_numbers(width, height, limit):
    """Of a picture, block by block, as one number."""
    out = np.empty((height, width), np.int32)
    for top in range(0, height, 32):
        for left in range(0, width, 32):
            for i, j in spmdvm.foreach((top, min(top + 32, height)), (left, min(left + 32, width))):
                c = complex(-2 + 2.6 * j / width, -1.2 + 2.4 * i / height)
                z, k = 0j, 0
                while k < limit and z.real * z.real + z.imag * z.imag <= 4:
                    z = z * z + c
                    k += 1
                out[i, j] = k
    return out


@spmdvm.kernel
def blocks_of_floats(width, height, limit):
    """Of a picture, block by block, as two."""
    out = np.empty((height, width), np.int32)
    for top in range(0, height, 32):
        for left in range(0, width, 32):
            for i, j in spmdvm.foreach((top, min(top + 32, height)), (left, min(left + 32, width))):
                x, y = -2 + 2.6 * j / width, -1.2 + 2.4 * i / height
                u, v, k = 0.0, 0.0, 0
                while k < limit and u * u + v * v <= 4:
                    u, v = u * u - v * v + x, u * v + v * u + y
                    k += 1
                out[i, j] = k
    return out


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    y, x = np.mgrid[-1.2:1.2:480j, -2:0.6:640j]
    x32, y32, c = x.astype(np.float32), y.astype(np.float32), x + 1j * y
    c64 = x32 + 1j * y32
    pairs: list[tuple[str, Callable[[], np.ndarray], Callable[[], np.ndarray]]] = [
        ("elements, complex128", lambda: numbers(c, 200), lambda: floats(x, y, 200)),
        ("elements, complex64", lambda: numbers(c64, 200), lambda: floats(x32, y32, 200)),
        ("blocks, complex128", lambda: blocks_of_numbers(640, 480, 200), lambda: blocks_of_floats(640, 480, 200)),
    ]
    print(f"{'':24}{'two floats':>12}{'complex':>12}{'part':>8}")
    for name, one, two in pairs:
        assert (one() == two()).mean() > 0.999, name
        mine, its = (1e3 * statistics.median(part) for part in in_turn.times_of((one, two), rounds))
        print(f"{name:24}{its:>9.2f} ms{mine:>9.2f} ms{mine / its:>8.2f}")


if __name__ == "__main__":
    main()
