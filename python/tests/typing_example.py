"""What type checkers should accept; `make check` runs mypy over it."""

from pathlib import Path

import numpy as np
import spmdvm

module: spmdvm.Module = spmdvm.compile_file(Path("kernel.ispc"), width=8, defines={"N": 3}, timeout=1.5)
function: spmdvm.Function = module.saxpy
function(np.zeros(3, np.float32), 3, where=np.ones(3, bool))
names: tuple[str, ...] = module.exports
places: list[tuple[str, int]] = [(w.file, w.line) for w in module.warnings]
try:
    module["saxpy"]()
except spmdvm.OutOfBounds as trap:
    index: "int | None" = trap.index
except spmdvm.CompileError as error:
    codes: list[str] = [d.code for d in error.diagnostics]


@spmdvm.kernel
def twice(x: float) -> float:
    """Double a number."""
    return 2 * x


@spmdvm.kernel(width=8)
def thrice(x: float) -> float:
    """Triple a number."""
    return 3 * x


kernels: list[spmdvm.Kernel] = [twice, thrice, spmdvm.vectorize("x + 1")]
text: str = twice.spmd_source

total: object = spmdvm.reduce("+", np.arange(3), map=twice, threads=2, timeout=1)
sums: object = spmdvm.scan("max", np.arange(3), inclusive=False)
bins: object = spmdvm.reduce_by_index(np.zeros(3), "+", np.arange(3), 1, bounds="raise")
kept: object = spmdvm.filter(np.ones(3, bool), np.arange(3))
mapped: object = spmdvm.map(twice, np.arange(3.0))
