"""Dicts and sets that are passed to array kernels: a list of each of their numbers, of which the kernel makes one.

They are only read: what a kernel changed in its own would not be seen by who calls it.
"""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ._types import FLOAT, INT, Array, Num, Tuple, of_value
from ._values import Dict, Entries, Form


class Passed(tuple):
    """The lists of the numbers of keys and values, with what is known of them."""

    type: Tuple

    @property
    def identity(self) -> Any:
        """What the types of a call depend on."""
        return self.type


def passed(place: str, value: Any) -> Passed:
    """Give a dict or set as it is passed; `place` tells of it if it cannot be."""
    is_set = isinstance(value, (set, frozenset))
    keys, arrays, types = list(value), [], []
    columns = [("keys" if not is_set else "elements", keys)]
    columns += [] if is_set else [("values", list(value.values()))]
    forms = [_listed(f"{place} has", what, each, arrays, types) for what, each in columns]
    for array in arrays[: 1 if forms[0] is None else forms[0].count]:
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ValueError(f"{place} has a NaN among its keys, which is no key in a kernel")
        if array.dtype.kind == "c":
            raise TypeError(f"{place} has complex numbers as keys, which a kernel does not take")
    found = Passed(arrays)
    found.type = Tuple(tuple(Array(ty, 1) for ty in types), Entries(Form(tuple(forms)), _kind_of(value, is_set)))
    return found


def _kind_of(value: Any, is_set: bool) -> Dict:
    if isinstance(value, collections.Counter):
        return Dict(False, int, True)
    missing = value.default_factory if isinstance(value, collections.defaultdict) else None
    return Dict(is_set, missing if missing in (int, float, bool) else None)


def _listed(place: str, what: str, values: list[Any], arrays: list[np.ndarray], types: list[Num]) -> Form | None:
    """Add the lists of the numbers of values, and their types; give how tuples are made of them."""
    if values and all(isinstance(value, tuple) for value in values):
        if len(set(map(len, values))) > 1 or not values[0]:
            raise TypeError(
                f"{place} {what} that are tuples of several lengths, or empty; a kernel takes tuples of one"
            )
        of = type(values[0]) if hasattr(values[0], "_fields") else None
        return Form(tuple(_listed(place, what, list(column), arrays, types) for column in zip(*values)), of)
    kinds = set(map(type, values))
    if kinds == {int, float} and what == "values":
        kinds = {float}
    ty = (INT if not values else FLOAT if kinds == {float} else of_value(values[0])) if len(kinds) < 2 else None
    if not isinstance(ty, Num):
        names = ", ".join(sorted(f"`{kind.__name__}`" for kind in kinds))
        raise TypeError(f"{place} {what} of {names}; a kernel takes numbers of one type, and tuples of them")
    try:
        arrays.append(np.array(values, ty.dtype))
    except OverflowError:
        raise OverflowError(f"{place} {what} of more than 64 bits") from None
    types.append(ty)
    return None
