"""Kernels that other processes import."""

import numpy as np
import spmdvm

STEP = 3
TWO = np.float64(2)


def half(x):
    return x / 2


@spmdvm.kernel
def imported(x):
    return half(x) + STEP


@spmdvm.kernel
def first(a: spmdvm.array[spmdvm.float32]):
    return a[0]


polynomial = spmdvm.vectorize("x*x - 2*x + 1")


def maker(factor):
    """Give a kernel that no module has under its name."""

    def scaled(x):
        return factor * half(x)

    @spmdvm.kernel(width=8, fp="strict")
    def made(x: np.float64, y=TWO):
        """Say something."""
        return scaled(x) + y * STEP + np.sqrt(x)

    return made
