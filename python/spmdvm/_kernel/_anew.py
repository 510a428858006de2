"""Kernels of functions that are made anew each time, such as a lambda in a loop: one for all that are the same.

Functions are the same if they have the same code, and what they use from outside has the same values.
"""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np

from .._cache import remembered
from . import Kernel, _functions
from ._calls import MOST_ELEMENTS
from ._values import constants


def kernel_of(function: Any, options: dict[str, Any]) -> Kernel:
    """Give the kernel of a function, with the values that names from outside have now."""
    used = _used(function)
    key = (
        "function",
        function.__code__,
        _Itself(function.__globals__),
        tuple(_key(value) for value in function.__defaults__ or ()),
        tuple((name, _key(value)) for name, value in (function.__kwdefaults__ or {}).items()),
        tuple((name, _key(value)) for name, value in sorted(used.items())),
        tuple((name, _key(value)) for name, value in sorted(options.items())),
    )
    kernel: Kernel = remembered(key, lambda: _made(function, options, used))
    return kernel


def _made(function: Any, options: dict[str, Any], used: dict[str, Any]) -> Kernel:
    kernel = Kernel(function, options)
    # Later, when other types come, the variables may have changed.
    fixed = {name: copy.copy(value) if _is_table(value) else value for name, value in used.items()}
    kernel._lookup = lambda name: fixed[name] if name in fixed else _functions.lookup_of(function)(name)
    return kernel


class _Itself:
    """An object that is equal to itself only."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.what is other.what

    def __hash__(self) -> int:
        return id(self.what)


def _used(function: Any) -> dict[str, Any]:
    """Give the values of the names that a function may use from outside, but for those of Python itself."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            # It has no value yet.
            continue
    for name in _names(function.__code__) - found.keys():
        if name in function.__globals__:
            found[name] = function.__globals__[name]
    return found


def _names(code: types.CodeType) -> set[str]:
    inner = (_names(const) for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*inner)


def _is_table(value: Any) -> bool:
    return type(value) is np.ndarray and value.size <= MOST_ELEMENTS and not value.dtype.hasobject


def _key(value: Any) -> Any:
    """Give what is equal for values that mean the same in a kernel."""
    if isinstance(value, tuple) and constants(value) is not None:
        return tuple(map(_key, value))
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, (bool, int, str)):
        return type(value), value
    if isinstance(value, float):
        return type(value), value.hex()
    if _is_table(value):
        return value.dtype.str, value.shape, value.tobytes()
    return _Itself(value)
