"""Records: structs by value, and structs that point to arrays."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._spmdvm import Pointer


def record(value: Any, dtype: np.dtype, place: str, expected: str) -> np.ndarray:
    """Give an array of one struct with what a record, a mapping of its fields or a tuple of them holds."""
    if isinstance(value, np.void) and value.dtype.fields:
        return np.asarray(value)
    if not isinstance(value, (Mapping, tuple, list)):
        given = f"an object of type {type(value).__name__}"
        raise TypeError(
            f"{place} expects a record (an element of a structured array), a dict or a tuple for {expected}, "
            f"but was given {given}"
        )
    made = np.zeros((), dtype)
    _fill(made, value, place)
    return made


def _fill(target: np.ndarray, value: Any, place: str) -> None:
    """Set an array, or a struct in it, to a value in which nothing is lost."""
    names = target.dtype.names
    if names is None:
        target[...] = _number(value, target, place)
    elif isinstance(value, Mapping):
        unknown = [name for name in value if name not in names]
        missing = [name for name in names if name not in value]
        if unknown or missing:
            what = f"has no field `{unknown[0]}`" if unknown else f"needs a value for `{missing[0]}`"
            raise TypeError(f"{place}: the struct {what}; its fields are {', '.join(names)}")
        for name in names:
            _fill(target[name], value[name], f"{place}.{name}")
    elif isinstance(value, np.void) and value.dtype == target.dtype:
        target[...] = value
    elif isinstance(value, (tuple, list)):
        if len(value) != len(names):
            raise TypeError(f"{place}: the struct has {len(names)} fields ({', '.join(names)}), not {len(value)}")
        for name, item in zip(names, value):
            _fill(target[name], item, f"{place}.{name}")
    else:
        raise TypeError(
            f"{place}: a struct is a dict, a tuple or a record, not an object of type {type(value).__name__}"
        )


def _number(value: Any, target: np.ndarray, place: str) -> Any:
    """Give the number or numbers for a field, if they fit."""
    dtype = target.dtype
    if isinstance(value, Pointer) or value is None:
        if dtype != np.uint64:
            raise TypeError(f"{place} is {dtype}, no pointer")
        return 0 if value is None else int(value)
    given = np.asarray(value)
    if given.shape != target.shape:
        raise ValueError(f"{place} has the shape {target.shape}, but was given {given.shape}")
    if given.dtype.kind not in "biuf" or not (given.dtype.kind in "iu" and dtype.kind in "iuf"):
        fits = given.dtype.kind in "biuf" and np.can_cast(given.dtype, dtype, "same_kind")
        if not fits:
            raise TypeError(f"{place} is {dtype}, but was given {given.dtype}")
    if dtype.kind in "iu" and given.size:
        limits = np.iinfo(dtype)
        if given.min() < limits.min or given.max() > limits.max:
            raise OverflowError(f"{place}: {value!r} does not fit {dtype}")
    return given.astype(dtype)


# What the fields of records point to: by the object that owns a record's memory, the pointers by the fields' addresses.
_kept: dict[int, dict[int, Pointer]] = {}
# Held where a field and what it points to are set, so that they belong together. The thread that has it may take it
# again: collecting garbage may run anything.
_lock = threading.RLock()


def bind(module: Any, target: Any, fields: dict[str, Any]) -> Any:
    """Store addresses of arrays in a record; see `Module.bind`."""
    dtype = target.dtype if isinstance(target, (np.void, np.ndarray)) else None
    if dtype is None or not dtype.fields or not dtype.names or target.size != 1:
        raise TypeError("bind() sets fields of a record: an element of a structured array (x[i]), or an array of one")
    if not target.flags.writeable:
        raise ValueError("bind(): the record is read-only")
    pointers = {}
    for name, value in fields.items():
        if name not in dtype.names:
            raise TypeError(f"bind(): the record has no field `{name}`; its fields are {', '.join(dtype.names)}")
        if dtype[name] != np.uint64:
            raise TypeError(f"bind(): the field `{name}` is {dtype[name]}, no pointer (np.uint64)")
        pointers[name] = value if value is None or isinstance(value, Pointer) else module.bind(value)
    owner = target
    while getattr(owner, "base", None) is not None and isinstance(owner.base, (np.ndarray, np.void)):
        owner = owner.base
    if isinstance(owner, np.void):
        raise TypeError("bind(): a record without an array does not keep what it points to; make it an array of one")
    start = np.frombuffer(target, np.uint8).__array_interface__["data"][0]
    # They end behind the lock, with whatever their ends bring about.
    before = []
    with _lock:
        kept = _kept.get(id(owner))
        if kept is None:
            kept = _kept[id(owner)] = {}
            weakref.finalize(owner, _kept.pop, id(owner), None)
        for name, pointer in pointers.items():
            target[name] = 0 if pointer is None else int(pointer)
            address = start + dtype.fields[name][1]
            before.append(kept.pop(address, None))
            if pointer is not None:
                kept[address] = pointer
    before.clear()
    return target
