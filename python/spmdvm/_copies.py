"""Copies of arrays in pieces: numpy's own go on to their end, whatever Ctrl-C and `timeout` say."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._errors import _trap

# So many bytes are copied at once, which takes some hundredths of a second where elements lie far apart; and so many
# numbers of lists are read at once, which takes as long.
_PIECE, _NUMBERS = 16 << 20, 1 << 18
# Arrays have so many dimensions; lists may contain themselves.
_DEPTH = 32
# What numpy makes of Python's numbers, and what these become together.
_OF_PYTHON = (np.asarray(True).dtype, np.asarray(0).dtype, np.asarray(0.0).dtype)


class Deadline:
    """When a call has to be at its end; copies ask between two pieces."""

    def __init__(self, who: str, timeout: Any) -> None:
        """Begin to count the seconds of `timeout`, which has been checked; None: there is no end."""
        self._who, self._end = who, None if timeout is None else time.monotonic() + timeout

    def is_limited(self) -> bool:
        """Return whether there is an end."""
        return self._end is not None

    def check(self, doing: str = "copying an array") -> None:
        """Raise `OutOfTime` if the time is over, as the program itself does."""
        if self._end is not None and time.monotonic() > self._end:
            text = f"[timeout] Trap: out of time in `{self._who}`, which was {doing}"
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


def of_list(value: Any, deadline: Deadline) -> np.ndarray:
    """Give what `np.asarray` makes of a list or a tuple, of 10 million numbers in half a second; raises what it does.

    Raises:
        OutOfTime: the deadline is over.
    """
    found = _in_pieces(value, deadline) if deadline.is_limited() else None
    if found is None:
        found = np.asarray(value)
        _check_list(deadline)
    return found


def _in_pieces(value: Any, deadline: Deadline, depth: int = 0) -> np.ndarray | None:
    """Read a list in pieces; None of one that is short, and where the pieces do not tell what numpy makes of all."""
    row = _count(value[0], depth + 1) if value else 0
    if len(value) * row <= _NUMBERS or depth > _DEPTH:
        return None
    step = max(1, _NUMBERS // row)
    pieces: list[np.ndarray] = []
    for first in range(0, len(value), step):
        part = value[first : first + step]
        inner = _in_pieces(part[0], deadline, depth + 1) if step == 1 and type(part[0]) in (list, tuple) else None
        try:
            pieces.append(np.asarray(part) if inner is None else inner[None])
        except (OverflowError, TypeError, ValueError):
            return None
        _check_list(deadline)
    dtypes = {piece.dtype for piece in pieces}
    if not pieces[0].ndim or len({piece.shape[1:] for piece in pieces}) > 1:
        return None
    # Of others than these, numpy may make another type of all than of what it makes of parts.
    is_one = len(dtypes) == 1 and pieces[0].dtype.kind in "biufc"
    if not (is_one or dtypes.issubset(_OF_PYTHON)):
        return None
    found = np.empty((len(value), *pieces[0].shape[1:]), np.result_type(*dtypes))
    first = 0
    for piece in pieces:
        found[first : first + len(piece)] = piece
        first += len(piece)
        _check_list(deadline)
    # (The list may have become shorter meanwhile.)
    return found if first == len(value) == len(found) else None


def _count(value: Any, depth: int) -> int:
    """Count the numbers of one element of a list, as far as the first of each list tells."""
    if type(value) in (list, tuple) and depth <= _DEPTH:
        return len(value) * _count(value[0], depth + 1) if value else 1
    return max(int(np.size(value)), 1) if isinstance(value, np.ndarray) else 1


def _check_list(deadline: Deadline) -> None:
    deadline.check("reading a list")
