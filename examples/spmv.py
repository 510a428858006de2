"""A sparse matrix times a vector."""

import numpy as np
from example import Case, compile_example, main


def case(rows: int = 100_000, most: int = 20) -> Case:
    """Rows of very different length: from none to `most` entries."""
    module = compile_example("spmv")
    rng = np.random.default_rng(5)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, most + 1, rows))]).astype(np.int32)
    n = int(starts[-1])
    columns = rng.integers(0, rows, n).astype(np.int32)
    values, x = rng.random(n, dtype=np.float32), rng.random(rows, dtype=np.float32)
    y = np.zeros(rows, np.float32)

    def ours() -> np.ndarray:
        module.spmv(rows, starts, columns, values, x, y)
        return y

    def reference() -> np.ndarray:
        sums = np.concatenate([[0], np.cumsum((values * x[columns]).astype(np.float64))])
        return sums[starts[1:]] - sums[starts[:-1]]

    return Case("spmv", f"{rows:,} rows, {n:,} entries", ours, reference, 1e-5)


if __name__ == "__main__":
    main(case)
