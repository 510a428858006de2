"""Copies of arrays in pieces: numpy's own go on to their end, whatever Ctrl-C and `timeout` say."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._errors import _trap

# So many bytes are copied at once, which takes some hundredths of a second where elements lie far apart.
_PIECE = 16 << 20


class Deadline:
    """When a call has to be at its end; copies ask between two pieces."""

    def __init__(self, who: str, timeout: Any) -> None:
        """Begin to count the seconds of `timeout`, which has been checked; None: there is no end."""
        self._who, self._end = who, None if timeout is None else time.monotonic() + timeout

    def check(self) -> None:
        """Raise `OutOfTime` if the time is over, as the program itself does."""
        if self._end is not None and time.monotonic() > self._end:
            text = f"[timeout] Trap: out of time in `{self._who}`, which was copying an array"
            raise _trap("timeout", text, None, None, None, None, (), None)  # type: ignore[no-untyped-call]


def contiguous(array: np.ndarray, deadline: Deadline, dtype: Any = None) -> np.ndarray:
    """Give the elements in rows, one behind the other, in native order: the array itself where it is so.

    Args:
        array: of any strides; one without dimensions becomes one of one element.
        deadline: when it has to be done.
        dtype: into what elements are converted; without it they keep their type.

    Raises:
        OutOfTime: the deadline is over. What a handler of a signal raises passes, too.
    """
    if dtype is None and array.ndim and array.flags.c_contiguous and array.dtype.isnative:
        return array
    wanted = array.dtype if dtype is None else np.dtype(dtype)
    if wanted.names is None:
        wanted = wanted.newbyteorder("=")
    if array.nbytes <= _PIECE:
        return np.ascontiguousarray(array.astype(wanted, copy=False))
    if array.flags.c_contiguous and array.dtype == wanted:
        return array
    copy = np.empty(array.shape, wanted)
    assign(copy, array, deadline)
    return copy


def copied(array: np.ndarray, deadline: Deadline) -> np.ndarray:
    """Give a copy of an array; raises what `contiguous` does."""
    copy = np.empty(array.shape, array.dtype)
    assign(copy, array, deadline)
    return copy


def assign(target: np.ndarray, source: np.ndarray, deadline: Deadline, where: Any = True) -> None:
    """Copy elements to an array of the same shape, those for which `where` is true; raises what `contiguous` does."""
    for piece in _pieces(target.shape, target.itemsize):
        deadline.check()
        np.copyto(target[piece], source[piece], "unsafe", where if where is True else where[piece])


def _pieces(shape: tuple[int, ...], itemsize: int) -> Iterator[tuple[Any, ...]]:
    """Give the indices of pieces: of several rows, or where one row is too much, of its parts."""
    if not shape:
        yield (...,)
        return
    row = math.prod(shape[1:]) * itemsize
    if row > _PIECE:
        for k in range(shape[0]):
            yield from ((k, *rest) for rest in _pieces(shape[1:], itemsize))
        return
    rows = _PIECE // max(row, 1)
    yield from ((slice(first, first + rows),) for first in range(0, shape[0], rows))
