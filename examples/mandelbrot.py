"""The Mandelbrot set, as a picture."""

import numpy as np
from example import Case, compile_example, main

X0, Y0, X1, Y1 = -2.8, -1.15, 1.8, 1.15


def with_numpy(width: int, height: int, limit: int) -> np.ndarray:
    """Iterate all pixels that have not escaped, again and again."""
    step = np.float32((np.float32(X1) - np.float32(X0)) / np.float32(width))
    rise = np.float32((np.float32(Y1) - np.float32(Y0)) / np.float32(height))
    x = np.float32(X0) + np.arange(width, dtype=np.float32) * step
    y = np.float32(Y0) + np.arange(height, dtype=np.float32) * rise
    c_re, c_im = (part.ravel() for part in np.meshgrid(x, y))
    counts = np.full(width * height, limit, np.int32)
    alive = np.arange(width * height)
    re, im = c_re, c_im
    for i in range(limit):
        inside = re * re + im * im <= 4
        counts[alive[~inside]] = i
        alive, re, im, c_re, c_im = alive[inside], re[inside], im[inside], c_re[inside], c_im[inside]
        re, im = c_re + (re * re - im * im), c_im + 2 * re * im
    return counts.reshape(height, width)


def colours(counts: np.ndarray) -> np.ndarray:
    """Black inside; outside, from blue over white to gold by the number of iterations."""
    t = (np.log(counts + 1) / np.log(counts.max() + 1))[..., np.newaxis]
    rgb = 0.5 - 0.5 * np.cos(2 * np.pi * (t * [0.85, 0.8, 0.75] + [0.0, 0.05, 0.15]))
    return rgb * (counts < counts.max())[..., np.newaxis]


def case(width: int = 1024, height: int = 512, limit: int = 256) -> Case:
    """The whole set. With `fp="strict"` nothing is fused, so that the counts are exactly numpy's."""
    module = compile_example("mandelbrot", fp="strict")
    counts = np.zeros((height, width), np.int32)

    def ours() -> np.ndarray:
        module.mandelbrot(X0, Y0, X1, Y1, width, height, limit, counts)
        return counts

    work = f"{width} x {height} pixels, up to {limit} iterations"
    return Case("mandelbrot", work, ours, lambda: with_numpy(width, height, limit), 0, colours)


if __name__ == "__main__":
    main(case)
