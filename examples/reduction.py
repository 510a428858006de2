"""Sums, extrema and running sums."""

import numpy as np
from example import Case, compile_example, main


def case(n: int = 2_000_000) -> Case:
    """Sum, smallest and largest."""
    module = compile_example("reduction")
    data = np.random.default_rng(8).random(n, dtype=np.float32)
    ends = np.zeros(2, np.float32)

    def ours() -> np.ndarray:
        module.extrema(n, data, ends)
        return np.array([module.sum(n, data), *ends])

    def reference() -> np.ndarray:
        return np.array([data.sum(dtype=np.float64), data.min(), data.max()])

    return Case("reduction", f"{n:,} numbers", ours, reference, 1e-3)


def prefix_case(n: int = 1_000_000) -> Case:
    """Running sums."""
    module = compile_example("reduction")
    data = np.random.default_rng(9).integers(-100, 100, n, dtype=np.int32)
    out = np.full(n, -1, np.int32)

    def ours() -> np.ndarray:
        module.prefix_sum(n, data, out)
        return out

    return Case("prefix_sum", f"{n:,} numbers", ours, lambda: np.cumsum(data, dtype=np.int32), 0)


if __name__ == "__main__":
    main(case, prefix_case)
