"""A kernel of a script in several processes: each draws a part of the Mandelbrot set.

`python examples/python/processes.py [PROCESSES]`
"""

from __future__ import annotations

import multiprocessing
import sys

import numpy as np
import spmdvm

LIMIT = 200


@spmdvm.kernel
def steps(re, im):
    """Count the steps until a point of the plane escapes."""
    x, y, n = re, im, 0
    while n < LIMIT and x * x + y * y <= 4:
        x, y = x * x - y * y + re, 2 * x * y + im
        n += 1
    return n


def draw(processes: int, height: int = 240, width: int = 320, method: str = "spawn") -> np.ndarray:
    """Draw, with as many parts as processes."""
    re, im = np.meshgrid(np.linspace(-2, 0.6, width), np.linspace(-1.1, 1.1, height))
    parts = list(zip(np.array_split(re, processes), np.array_split(im, processes)))
    with multiprocessing.get_context(method).Pool(processes) as pool:
        return np.concatenate(pool.starmap(steps, parts))


def main() -> None:
    """Draw with several processes and with one, and compare."""
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    picture = draw(processes)
    re, im = np.meshgrid(np.linspace(-2, 0.6, picture.shape[1]), np.linspace(-1.1, 1.1, picture.shape[0]))
    if not np.array_equal(picture, steps(re, im)):
        sys.exit("the parts differ from the whole")
    for row in picture[::12, ::4]:
        print("".join(" .:-=+*#%@"[min(9, n * 10 // LIMIT)] for n in row))
    print(f"{processes} processes drew {picture.size} points, {(picture == LIMIT).sum()} of them in the set")


if __name__ == "__main__":
    main()
