"""A wave on a membrane, written with parts of arrays; the same function runs in numpy.

`python examples/python/wave.py [SIZE]` compares results and times.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import spmdvm


@spmdvm.kernel
def step(before, now, after, speed):
    """Go from two moments to the next; the rim stands still."""
    after[1:-1, 1:-1] = (
        2 * now[1:-1, 1:-1]
        - before[1:-1, 1:-1]
        + speed * (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:] - 4 * now[1:-1, 1:-1])
    )


@spmdvm.kernel
def mirror(plate, out):
    """Turn a picture around."""
    for y in range(len(plate)):
        row = plate[y]
        out[y] = row[::-1]


def run(take_step, size: int, steps: int) -> np.ndarray:
    """Pluck the membrane, and let it swing."""
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    now = np.exp(-40 * ((x - 0.3) ** 2 + y * y))
    before, after = now.copy(), np.zeros_like(now)
    for _ in range(steps):
        take_step(before, now, after, 0.25)
        before, now, after = now, after, before
    return now


def main() -> None:
    """Compare with numpy, which runs the same lines."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seconds = {}
    results = {}
    for name, function in (("kernel", step), ("numpy", step.__wrapped__)):
        run(function, size, 3)
        start = time.perf_counter()
        results[name] = run(function, size, 50)
        seconds[name] = time.perf_counter() - start
    if not np.allclose(results["kernel"], results["numpy"], rtol=1e-9, atol=1e-12):
        sys.exit("the results differ")
    turned = np.zeros_like(results["kernel"])
    mirror(results["kernel"], turned)
    if not np.array_equal(turned, results["kernel"][:, ::-1]):
        sys.exit("the mirror is blind")
    for row in turned[:: size // 20, :: size // 40]:
        print("".join(" .:-=+*#%@"[min(9, int(30 * abs(v)))] for v in row))
    print(f"50 steps of {size}x{size}: " + ", ".join(f"{name} {1e3 * s:.1f} ms" for name, s in seconds.items()))


if __name__ == "__main__":
    main()
