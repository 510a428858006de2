"""Calls over arrays that do not lie in the order of their axes, such as transposed and column-major ones.

Where all lie in one order, they are passed with their axes turned to it, and results turned back, which lie so too, as
those of numpy do. Results in the order of the axes would have each gang's elements far apart, which took up to ten
times as long.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from .._errors import Trap

_ndarray = np.ndarray
_PLAIN = (int, float, complex, bool)


def turned(values: list[Any], special: dict[str, Any]) -> tuple[list[Any], dict[str, Any], tuple[int, ...]] | None:
    """Give arguments with their axes in the order of memory, and which axes these are; None if they are already."""
    for value in values:
        if type(value) is _ndarray and value.ndim > 1 and not value.flags.c_contiguous:
            break
    else:
        return None
    out, where = special.get("out"), special.get("where", True)
    arrays = [v for v in values if type(v) is np.ndarray]
    others = [v for v in (out, where) if v is not None and v is not True]
    if any(type(v) is not np.ndarray for v in others) or special.keys() - {"out", "where", "threads"}:
        return None
    if not all(type(v) is np.ndarray or isinstance(v, (*_PLAIN, np.generic)) for v in values):
        return None
    shape = max((v.shape for v in (*arrays, *others)), key=len)
    try:
        if any(v.shape != shape for v in (*arrays, *others)):
            shape = np.broadcast_shapes(*(v.shape for v in (*arrays, *others)))
    except ValueError:
        # It is told where arguments are looked at.
        return None
    full = [v for v in (*arrays, *others) if v.shape == shape]
    if not full or not math.prod(shape) or any(v.flags.c_contiguous for v in full):
        return None
    ndim = len(shape)
    strides = full[0].strides
    axes = tuple(sorted(range(ndim), key=lambda k: -strides[k]))
    if not all(v.transpose(axes).flags.c_contiguous for v in full):
        return None
    if out is not None and out.shape != shape:
        return None

    def turn(value: Any) -> Any:
        if type(value) is not np.ndarray or not value.ndim:
            return value
        value = value if value.ndim == ndim else value.reshape((1,) * (ndim - value.ndim) + value.shape)
        return value.transpose(axes)

    return [turn(v) for v in values], {name: turn(v) for name, v in special.items()}, axes


def called(run: Callable[..., Any], turned: Any) -> Any:
    """Make a call, `run(values, special)`, with arguments that have been turned, and turn back what it gives."""
    values, special, axes = turned
    back = tuple(axes.index(k) for k in range(len(axes)))
    try:
        return _turned_back(run(values, special), back)
    except Trap as trap:
        if trap.element is not None:
            trap.element = tuple(trap.element[k] for k in back)
        raise


def _turned_back(result: Any, axes: tuple[int, ...]) -> Any:
    if isinstance(result, tuple):
        parts = [_turned_back(part, axes) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    return result.transpose(axes) if isinstance(result, np.ndarray) else result
