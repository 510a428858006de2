"""How many numbers fall into each bin."""

import numpy as np
from example import Case, compile_example, main

BINS = 256


def case(n: int = 1_000_000) -> Case:
    """Normally distributed numbers."""
    module = compile_example("histogram", defines={"BINS": BINS})
    data = np.random.default_rng(6).normal(size=n).astype(np.float32)

    def ours() -> np.ndarray:
        counts = np.zeros(BINS, np.int32)
        module.histogram(n, -4, 4, data, counts)
        return counts

    def reference() -> np.ndarray:
        bins = np.floor((data + np.float32(4)) * np.float32(BINS / 8)).astype(np.int64)
        return np.bincount(np.clip(bins, 0, BINS - 1), minlength=BINS)

    return Case("histogram", f"{n:,} numbers, {BINS} bins", ours, reference, 0)


if __name__ == "__main__":
    main(case)
