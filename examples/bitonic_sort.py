"""Sorting by a network of comparisons."""

import numpy as np
from example import Case, compile_example, main


def case(n: int = 1 << 16) -> Case:
    """Random numbers."""
    module = compile_example("bitonic_sort")
    start = np.random.default_rng(7).random(n, dtype=np.float32)

    def ours() -> np.ndarray:
        data = start.copy()
        module.bitonic_sort(n, data)
        return data

    return Case("bitonic_sort", f"{n:,} numbers", ours, lambda: np.sort(start), 0)


if __name__ == "__main__":
    main(case)
