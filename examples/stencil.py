"""Heat in a plate, by a five-point stencil."""

import numpy as np
from example import Case, compile_example, main


def with_numpy(plate: np.ndarray, steps: int, rate: np.float32) -> np.ndarray:
    """Whole-array steps."""
    for _ in range(steps):
        center = plate[1:-1, 1:-1]
        around = plate[1:-1, :-2] + plate[1:-1, 2:] + plate[:-2, 1:-1] + plate[2:, 1:-1]
        plate[1:-1, 1:-1] = center + rate * (around - 4 * center)
    return plate


def case(width: int = 512, height: int = 512, steps: int = 10) -> Case:
    """A hot disc and a hot edge."""
    module = compile_example("stencil")
    y, x = np.mgrid[:height, :width]
    start = ((x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 6) ** 2).astype(np.float32)
    start[0] = 1
    rate = np.float32(0.2)

    def ours() -> np.ndarray:
        a, b = start.copy(), start.copy()
        module.heat(width, height, steps, rate, a, b)
        return a

    work = f"{width} x {height} points, {steps} steps"
    return Case("stencil", work, ours, lambda: with_numpy(start.copy(), steps, rate), 1e-5)


if __name__ == "__main__":
    main(case)
