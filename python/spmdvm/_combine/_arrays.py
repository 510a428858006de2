"""What the combinators are given: arrays, axes and numbers of threads, checked."""

from __future__ import annotations

import functools
import math
import operator
import os
from typing import Any

import numpy as np

from .._containers import as_array, instead_of, is_lazy, made_of
from .._copies import Deadline
from .._kernel import Kernel
from .._kernel._types import Num, of_dtype


def reading(who: str, options: dict[str, Any], *functions: Any) -> Deadline:
    """Begin to count the time that arguments may take to be read: `timeout` of the call, or of the kernels in it."""
    given = [options, *(function._options for function in functions if isinstance(function, Kernel))]
    timeout = next((each["timeout"] for each in given if "timeout" in each), None)
    # (What it does not take is told when the options are looked at.)
    return Deadline(who, timeout if isinstance(timeout, (int, float)) and timeout >= 0 else None)


def elements(
    who: str, parameter: str, given: Any, deadline: Deadline | None = None
) -> tuple[list[np.ndarray], list[Num]]:
    """Give arrays of one shape, and the types of their elements. A tuple is several arrays."""
    parts = given if isinstance(given, tuple) else (given,)
    if not parts:
        raise TypeError(f"{who}(): `{parameter}` is an empty tuple; give an array, or a tuple of arrays")
    arrays = []
    for k, part in enumerate(parts):
        name = parameter if len(parts) == 1 else f"{parameter}[{k}]"
        arrays.append(_array(who, name, part, deadline))
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1:
        try:
            arrays = list(np.broadcast_arrays(*arrays))
        except ValueError:
            raise ValueError(
                f"{who}(): the arrays of `{parameter}` have the shapes {', '.join(map(str, shapes))}, which do not "
                "broadcast"
            ) from None
    types = []
    for array in arrays:
        ty = _number(array.dtype)
        assert ty is not None
        types.append(ty)
    return arrays, types


@functools.lru_cache(maxsize=64)
def _number(dtype: np.dtype) -> Num | None:
    """Give the type of numbers of a dtype; None if combinators have none. Bytes in the other order are turned later."""
    found = of_dtype(dtype.newbyteorder("=") if dtype.kind in "iuf" else dtype)
    return found if isinstance(found, Num) and found.kind != "c" else None


def _array(who: str, name: str, given: Any, deadline: Deadline | None) -> np.ndarray:
    if type(given) is np.ndarray and _number(given.dtype) is not None:
        # (What most calls give: to ask what else it may be takes longer than to go over a small one.)
        return given
    if isinstance(given, np.ma.MaskedArray):
        raise TypeError(f"{who}(): `{name}` is a masked array; pass its filled() values, or compressed()")
    if isinstance(given, np.ndarray) and type(given) not in (np.ndarray, np.memmap):
        raise TypeError(
            f"{who}(): `{name}` is a {type(given).__name__}; pass np.asarray of it, if its numbers alone count"
        )
    if given is None or isinstance(given, (str, bytes)):
        help = f"; the operator comes first: spmdvm.{who}(op, x)" if who in ("reduce", "scan") and given else ""
        raise TypeError(f"{who}(): `{name}` takes an array, not {given!r}{help}")
    made = made_of(given)
    if made is not None:
        raise TypeError(f"{who}(): `{name}` takes an array, not a `{type(given).__name__}`; pass {made}")
    if is_lazy(given):
        raise TypeError(
            f"{who}() works on whole arrays, and `{name}` is a Dask array; compute it first (x.compute()), or call "
            f"{who} for each chunk (x.map_blocks(…))"
        )
    array = as_array(given, f"{who}(): `{name}`", deadline)
    if _number(array.dtype) is None:
        hint = instead_of(array.dtype) or "take its real or imaginary part"
        hint = "pass its fields one by one, as a tuple" if array.dtype.fields else hint
        raise TypeError(
            f"{who}(): `{name}` holds {array.dtype}, and programs have bools, integers and floats up to 64 bits; {hint}"
        )
    return array


def axis_of(who: str, axis: Any, ndim: int) -> int:
    """Give an axis, counted from 0."""
    try:
        found = operator.index(axis)
    except TypeError:
        raise TypeError(f"{who}(): `axis` takes an integer or None, not {axis!r}") from None
    if not -ndim <= found < ndim:
        raise ValueError(f"{who}(): `axis` is {found}, and the array has {ndim} dimensions")
    return found % ndim


def axis_first(array: np.ndarray, axis: int) -> np.ndarray:
    """Give an array whose first axis is this one."""
    return array if axis == 0 else np.moveaxis(array, axis, 0)


def around(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    """Give how many elements are in front of an axis, along it, and behind it."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def threads_of(who: str, threads: Any) -> int:
    """Give a number of threads; 0 means as many as there are cores."""
    try:
        found = operator.index(threads)
    except TypeError:
        raise TypeError(f"{who}(): `threads` takes an integer, not {threads!r}") from None
    if not 0 <= found <= 1024:
        raise ValueError(f"{who}(): `threads` takes a number from 0 (all cores) to 1024, not {found}")
    return found or _cores()


def _cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def flag(who: str, name: str, value: Any) -> bool:
    """Give a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{who}(): `{name}` takes True or False, not {value!r}")
    return bool(value)
