"""Arrays of other libraries: buffers, mapped files, DLPack, pandas, polars, Dask.

`python examples/python/interchange.py` hands each to a kernel and compares with numpy. What is not installed is left
out, and that is said; numpy is all that is needed.
"""

from __future__ import annotations

import array
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import spmdvm


@spmdvm.kernel
def damped(x, y):
    """A formula with a branch."""
    return x / (1 + y * y) if y > 0 else x


@spmdvm.kernel
def accumulate(a):
    """Replace each number by the sum of all until there."""
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        a[i] = total


class Shown:
    """A foreign object that shows its memory, as images and buffers of devices do."""

    def __init__(self, values: np.ndarray) -> None:
        """Keep the memory."""
        self.kept = values
        self.__array_interface__ = values.__array_interface__


X, Y = np.random.default_rng(1).normal(size=(2, 1000))
WANT = np.where(Y > 0, X / (1 + Y * Y), X)
SUMS = np.cumsum(X)


def buffers() -> Iterator[tuple[str, Any, Any]]:
    """Whatever has Python's buffer protocol, or shows its memory."""
    yield "array.array", damped(np.frombuffer(array.array("d", X)), memoryview(Y)), WANT
    yield "__array_interface__", damped(Shown(X), Shown(Y)), WANT
    own = X.copy()
    accumulate(Shown(own))
    yield "__array_interface__, written", own, SUMS
    frozen = X.copy()
    frozen.flags.writeable = False
    yield "read-only input", damped(frozen, Y), WANT
    try:
        accumulate(frozen)
    except ValueError as error:
        yield f"… which is not written to ({error})", frozen, X


def mapped() -> Iterator[tuple[str, Any, Any]]:
    """Files larger than memory are read as they are needed, and written in place."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        yield "np.memmap", damped(np.load(path, mmap_mode="r"), Y), WANT
        accumulate(np.load(path, mmap_mode="r+"))
        yield "np.memmap, written", np.load(path), SUMS


def torch_tensors() -> Iterator[tuple[str, Any, Any]]:
    """Tensors come in through DLPack, without a copy; numpy's results go out the same way."""
    import torch

    yield "torch", torch.from_dlpack(damped(torch.from_numpy(X), torch.from_numpy(Y))).numpy(), WANT
    tensor = torch.from_numpy(X.copy())
    accumulate(tensor)
    yield "torch, written", tensor.numpy(), SUMS


def dlpack() -> Iterator[tuple[str, Any, Any]]:
    """The protocol itself: any object that has it."""

    class Tensor:
        def __init__(self, values: np.ndarray) -> None:
            self.values = values

        def __dlpack__(self, **how: Any) -> Any:
            return self.values.__dlpack__(**how)

        def __dlpack_device__(self) -> Any:
            return self.values.__dlpack_device__()

    yield "DLPack", damped(Tensor(X), Tensor(Y)), WANT

    class OnGpu(Tensor):
        def __dlpack_device__(self) -> Any:
            return (2, 0)

    try:
        damped(OnGpu(X), Y)
    except TypeError as error:
        yield f"… of a GPU is refused ({str(error).splitlines()[0]})", X, X


def pandas_columns() -> Iterator[tuple[str, Any, Any]]:
    """Series and frames give the same, with their labels."""
    import pandas

    frame = pandas.DataFrame({"x": X, "y": Y}, index=np.arange(1000) * 2)
    found = damped(frame["x"], frame["y"])
    assert isinstance(found, pandas.Series) and found.index.equals(frame.index)
    yield "pandas.Series", found.to_numpy(), WANT
    yield "evaluate over columns", spmdvm.evaluate("x / (1 + y*y) if y > 0 else x", frame), WANT


def polars_columns() -> Iterator[tuple[str, Any, Any]]:
    """A Series gives a Series."""
    import polars

    found = damped(polars.Series("x", X), polars.Series("x", Y))
    assert isinstance(found, polars.Series) and found.name == "x"
    yield "polars.Series", found.to_numpy(), WANT


def dask_arrays() -> Iterator[tuple[str, Any, Any]]:
    """Lazy arrays give lazy ones; `dask_mandelbrot.py` has a cluster."""
    import dask.array

    x, y = (dask.array.from_array(a, chunks=300) for a in (X, Y))
    lazy = damped(x, y)
    assert isinstance(lazy, dask.array.Array)
    yield "dask.array", lazy.compute(scheduler="threads"), WANT
    yield "map_blocks", dask.array.map_blocks(damped, x, y, dtype=float).compute(scheduler="threads"), WANT


ALL = (buffers, mapped, dlpack, torch_tensors, pandas_columns, polars_columns, dask_arrays)


def main() -> int:
    """Run all, and say whether they agree."""
    wrong = 0
    for example in ALL:
        print(f"{example.__name__}: {example.__doc__}")
        try:
            for what, found, expected in example():
                agrees = np.shape(found) == np.shape(expected) and np.allclose(found, expected)
                wrong += not agrees
                print(f"    {'agrees' if agrees else 'DIFFERS'}  {what}")
        except ImportError as missing:
            print(f"    left out: {missing}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
