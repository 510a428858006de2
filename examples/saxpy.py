"""y = a*x + y over arrays, and the same as a ufunc."""

import numpy as np
from example import Case, compile_example, main


def case(n: int = 4_000_000) -> Case:
    """Add a multiple of one array to another."""
    module = compile_example("saxpy")
    rng = np.random.default_rng(1)
    x, start = rng.random((2, n), dtype=np.float32)
    y, expected = start.copy(), start.copy()
    a = np.float32(2.5)

    def ours() -> np.ndarray:
        y[:] = start
        module.saxpy(n, a, x, y)
        return y

    def reference() -> np.ndarray:
        expected[:] = start
        np.add(a * x, expected, out=expected)
        return expected

    return Case("saxpy", f"{n:,} elements", ours, reference, 1e-6)


def ufunc_case(n: int = 1_000_000) -> Case:
    """The same with an exported function of varying scalars: broadcasting, any strides."""
    module = compile_example("saxpy")
    rng = np.random.default_rng(2)
    x, y = rng.random((2, 4, n // 4), dtype=np.float32)
    a = np.arange(4, dtype=np.float32)[:, np.newaxis]
    return Case("axpy as ufunc", f"4 x {n // 4:,} elements", lambda: module.axpy(a, x, y), lambda: a * x + y, 1e-6)


if __name__ == "__main__":
    main(case, ufunc_case)
