"""Finding the mapped file that an array lies in."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np


def find(function: str, array: np.ndarray) -> tuple[object, int, int] | None:
    """Give the file that an array's memory is mapped from, and where the mapping begins and how long it is.

    `None` if the array lies in ordinary memory. Raises `OSError` if the file is shorter than what is mapped of it.
    """
    base: Any = array
    named: Any = None
    while isinstance(base, np.ndarray):
        named = base if isinstance(base, np.memmap) else named
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    if not isinstance(base, mmap.mmap):
        return None
    begin = named.offset - named.offset % mmap.ALLOCATIONGRANULARITY if named is not None else 0
    file = getattr(named, "filename", None) or base
    try:
        size = base.size()
    except (OSError, ValueError):
        # Memory without a file.
        size = begin + len(base)
    if size < begin + len(base):
        mapped = begin + len(base)
        raise OSError(
            f"{function}(): the mapped file {str(file)!r} has been cut off: it has {size} bytes, not {mapped}"
        )
    start = np.frombuffer(base, np.uint8).__array_interface__["data"][0]
    return (str(file), start, len(base))
