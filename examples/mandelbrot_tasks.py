"""The Mandelbrot set on all cores, by tasks."""

import numpy as np
from example import Case, compile_example, main
from mandelbrot import X0, X1, Y0, Y1, colours, with_numpy

ROWS = 8


def case(width: int = 1024, height: int = 512, limit: int = 256) -> Case:
    """The whole set, in tasks of eight rows each."""
    module = compile_example("mandelbrot_tasks", fp="strict")
    counts = np.zeros((height, width), np.int32)

    def ours() -> np.ndarray:
        module.mandelbrot_tasks(X0, Y0, X1, Y1, width, height, limit, ROWS, counts)
        return counts

    work = f"{width} x {height} pixels in tasks, up to {limit} iterations"
    return Case("mandelbrot_tasks", work, ours, lambda: with_numpy(width, height, limit), 0, colours)


if __name__ == "__main__":
    main(case)
