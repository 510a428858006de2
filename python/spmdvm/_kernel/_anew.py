"""Kernels of functions that are made anew each time, such as a lambda in a loop: one for all that are the same.

Functions are the same if they have the same text and code, and what they use from outside has the same values: numbers
and tables, attributes of modules and objects, and what the functions use that they call. Kernels keep these values: the
ones when they are made rather than when they are first called, as they are found by them.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
import typing
import weakref
from typing import Any, NamedTuple

import numpy as np

from .._cache import remembered
from . import Kernel, _functions
from ._annotations import Annotation
from ._calls import MOST_ELEMENTS
from ._source import Source
from ._trees import walk
from ._values import constants

# Their attributes do not change.
_LIBRARIES = frozenset(["numpy", "math", "cmath", "builtins", "operator", "random", "typing", "spmdvm"])


def kernel_of(function: Any, options: dict[str, Any]) -> Kernel:
    """Give the kernel of a function, with the values that names from outside have now."""
    key = ("function", _key_of(function, set()), tuple((name, _key(value)) for name, value in sorted(options.items())))
    kernel: Kernel = remembered(key, lambda: _made(function, options))
    return kernel


def _made(function: Any, options: dict[str, Any]) -> Kernel:
    kernel = Kernel(function, options)
    # Later, when other types come, the variables may have changed.
    memo: dict[int, Any] = {}
    names = _text_of(function).names
    fixed = {name: _fixed(value, names, memo) for name, value in _used(function).items()}
    kernel._lookup = lambda name: fixed[name] if name in fixed else _functions.lookup_of(function)(name)
    kernel._lookup.names = _functions.lookup_of(function).names
    return kernel


class _Itself:
    """An object that is equal to itself only."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.what is other.what

    def __hash__(self) -> int:
        return id(self.what)


class _Text(NamedTuple):
    """What a function was compiled from, and the names that may stand for something outside of it."""

    lines: tuple[str, ...]
    names: frozenset[str]


# By the code of functions, which are made anew, too.
_texts: dict[int, tuple[weakref.ref[types.CodeType], _Text]] = {}


def _text_of(function: Any) -> _Text:
    code = function.__code__
    at = id(code)
    found = _texts.get(at)
    if found is not None and found[0]() is code:
        return found[1]
    source = Source.of(function)
    # Annotations of variables are in no code.
    written = [node.annotation for node in walk(source.tree) if isinstance(node, (ast.AnnAssign, ast.arg))]
    inner = {node.id for part in written if part is not None for node in walk(part) if isinstance(node, ast.Name)}
    text = _Text(source.lines, frozenset(_names(code) | inner))
    _texts[at] = (weakref.ref(code, lambda _: _texts.pop(at, None)), text)
    return text


def _names(code: types.CodeType) -> set[str]:
    inner = (_names(const) for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*inner)


def _used(function: Any) -> dict[str, Any]:
    """Give the values of the names that a function may use from outside, but for those of Python itself."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            # It has no value yet.
            continue
    for name in _text_of(function).names - found.keys():
        if name in function.__globals__:
            found[name] = function.__globals__[name]
    return found


def _is_plain(value: Any) -> bool:
    """Return whether a value is a function of Python that kernels translate."""
    return inspect.isfunction(value) and not hasattr(value, "__wrapped__") and not _is_of_library(value)


def _is_of_library(value: Any) -> bool:
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return isinstance(name, str) and name.partition(".")[0] in _LIBRARIES


def _has_values(value: Any) -> bool:
    """Return whether attributes of a value may be constants: of modules, classes and objects."""
    if isinstance(value, (Kernel, np.ndarray, types.BuiltinFunctionType, types.FunctionType)):
        return False
    return constants(value) is None and not _is_of_library(value)


def _attributes(value: Any, names: frozenset[str]) -> dict[str, Any]:
    """Give the attributes of some names that a value has."""
    found = {}
    for name in names:
        try:
            found[name] = getattr(value, name)
        except Exception:
            continue
    return found


def _is_table(value: Any) -> bool:
    return type(value) is np.ndarray and value.size <= MOST_ELEMENTS and not value.dtype.hasobject


# What is equal for values that mean the same in a kernel.


def _key_of(function: Any, seen: set[int]) -> Any:
    if id(function) in seen:
        return "itself"
    seen.add(id(function))
    text = _text_of(function)
    return (
        function.__code__,
        text.lines,
        _Itself(function.__globals__),
        tuple(_key(value) for value in function.__defaults__ or ()),
        tuple((name, _key(value)) for name, value in (function.__kwdefaults__ or {}).items()),
        tuple((name, _annotation(value)) for name, value in function.__annotations__.items()),
        tuple((name, _value(value, text.names, seen)) for name, value in sorted(_used(function).items())),
    )


def _value(value: Any, names: frozenset[str], seen: set[int]) -> Any:
    if _is_plain(value):
        return _key_of(value, seen)
    if not _has_values(value) or id(value) in seen:
        return _key(value)
    seen.add(id(value))
    found = sorted(_attributes(value, names).items())
    return _Itself(value), tuple((name, _value(inner, names, seen)) for name, inner in found)


def _annotation(value: Any) -> Any:
    if isinstance(value, Annotation):
        return value.what, _key(value.of), value.ndim
    return value if typing.get_origin(value) is not None and isinstance(hash(value), int) else _key(value)


def _key(value: Any) -> Any:
    if isinstance(value, tuple) and constants(value) is not None:
        return tuple(map(_key, value))
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, (bool, int, str)):
        return type(value), value
    if isinstance(value, float):
        return type(value), value.hex()
    if isinstance(value, complex):
        return type(value), value.real.hex(), value.imag.hex()
    if _is_table(value):
        return value.dtype.str, value.shape, value.tobytes()
    return _Itself(value)


# What keeps the values of now.


class _Then(types.ModuleType):
    """A module or an object whose attributes are those of a time."""

    def __init__(self, what: Any, attributes: dict[str, Any]) -> None:
        super().__init__(getattr(what, "__name__", type(what).__name__))
        self.__dict__.update(attributes)
        self._what = what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._what, name)


def _fixed(value: Any, names: frozenset[str], memo: dict[int, Any]) -> Any:
    if id(value) in memo:
        return memo[id(value)]
    if _is_table(value):
        return copy.copy(value)
    if _is_plain(value):
        return _fixed_function(value, memo)
    if not _has_values(value):
        return value
    memo[id(value)] = value
    found = {name: _fixed(inner, names, memo) for name, inner in _attributes(value, names).items()}
    if found:
        memo[id(value)] = _Then(value, found)
    return memo[id(value)]


def _fixed_function(function: Any, memo: dict[int, Any]) -> Any:
    """Give a copy of a function with the values that it uses now; its text is the same."""
    space = {"__builtins__": function.__globals__.get("__builtins__"), "__name__": function.__module__}
    cells = tuple(types.CellType() for _ in function.__code__.co_freevars)
    code, name, defaults = function.__code__, function.__name__, function.__defaults__
    made = types.FunctionType(code, space, name, defaults, cells or None)
    memo[id(function)] = made
    made.__kwdefaults__, made.__annotations__ = function.__kwdefaults__, function.__annotations__
    made.__qualname__ = function.__qualname__
    names = _text_of(function).names
    places = dict(zip(function.__code__.co_freevars, cells))
    for used, value in _used(function).items():
        if used in places:
            places[used].cell_contents = _fixed(value, names, memo)
        else:
            space[used] = _fixed(value, names, memo)
    Source.of(function).keep_for(made)
    return made
