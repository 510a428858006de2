"""Tuples that are passed to kernels: each of their numbers is a parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _instances
from ._passed_dicts import Passed
from ._types import Tuple, Uniform, of_value
from ._values import Form, class_of, of_tuple

# What has more numbers is an array, unless its parts have names.
_MOST_NUMBERS = 16


def is_tuple(kernel: Any, name: str, value: tuple[Any, ...]) -> bool:
    """Return whether an array kernel takes a tuple as such; else it is taken for an array, to which may be stored."""
    if name in kernel._told_tuples or class_of(value) is not None:
        return True
    ty = type_of(value) if name not in kernel._stored else None
    return ty is not None and len(ty.leaves) <= _MOST_NUMBERS


def is_uniform_tuple(kernel: Any, name: str, value: Any) -> bool:
    """Return whether what an elementwise kernel is given is a tuple for all elements, rather than an array of them."""
    return isinstance(value, tuple) and (name in kernel._tuples or class_of(value) is not None)


def type_of(value: tuple[Any, ...]) -> Tuple | None:
    """Give the type of a tuple of numbers, and of tuples of these; None of others."""
    parts = [type_of(part) if isinstance(part, tuple) else _of_number(part) for part in value]
    return None if None in parts else Tuple(tuple(parts), class_of(value))


def _of_number(value: Any) -> Any:
    return None if isinstance(value, np.ndarray) else of_value(value)


def kind_of(value: Any) -> Any:
    """Give what the types of a call depend on."""
    if isinstance(value, Passed):
        return value.identity
    return (value.__class__, *map(kind_of, value)) if isinstance(value, tuple) else _instances.kind_of(value)


def all_leaves(values: Any) -> list[Any]:
    """Give values with their numbers in the place of tuples."""
    return [leaf for value in values for leaf in (all_leaves(value) if isinstance(value, tuple) else (value,))]


def apart(names: list[str], types: tuple[Any, ...], uniform: bool = False) -> tuple[list[str], tuple[Any, ...]]:
    """Give names and types with those of their numbers in the place of tuples; if there are none, as they are.

    For an elementwise kernel they are `uniform`: the same for all elements.
    """
    if not any(isinstance(ty, Tuple) for ty in types):
        return names, types
    found = []
    for name, ty in zip(names, types):
        of = _apart(name, ty)
        found += [(own, Uniform(leaf)) for own, leaf in of] if uniform and isinstance(ty, Tuple) else of
    return [name for name, _ in found], tuple(ty for _, ty in found)


def _apart(name: str, ty: Any) -> list[tuple[str, Any]]:
    if not isinstance(ty, Tuple):
        return [(name, ty)]
    return [leaf for k, part in enumerate(ty.parts) for leaf in _apart(of_tuple(name, k), part)]


def forms(names: list[str], types: Any) -> dict[str, Form]:
    """Give the forms of the parameters that are tuples, and of the tuples in these."""
    found: dict[str, Form] = {}
    for name, ty in zip(names, types):
        if isinstance(ty, Tuple):
            own = [of_tuple(name, k) for k in range(len(ty.parts))]
            found.update(forms(own, ty.parts))
            found[name] = Form(tuple(found.get(each) for each in own), ty.of)
    return found
