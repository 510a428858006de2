"""What is wrong with what a kernel is given, and what to pass instead."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from numbers import Number
from typing import Any

import numpy as np

from .. import _containers
from . import _functions, _library
from ._types import Record, Rows, field_of, record_of

_EXPECTED = "kernels take numbers and arrays of them: bool, int8 to uint64, float16 to float64, complex64, complex128"
# What to pass of categories, of pandas and of polars.
CODES = {"category": "pass x.cat.codes", "Categorical": "pass x.to_physical()"}
# What to do where an array kernel does not take them.
INSTEAD_OF = {
    "threads": "make a kernel of single elements of what is done in a loop, or call it for parts of the arrays in "
    "threads of Python, which run at the same time",
    "out": "store to an array that is a parameter",
    "where": "pass the mask as an argument, and ask it in the loop",
}


def no_type(value: Any, told: str | None = None) -> str:
    """Say that an argument has no type of kernels."""
    return f"has no type of kernels: {told or described(value)}; {_EXPECTED}"


def described(value: Any) -> str:
    """Say what was given for an argument that a kernel does not take, and what to pass instead."""
    if isinstance(value, np.ndarray) and value.dtype == object and not value.ndim:
        # (Of a type, for one, numpy makes an array.)
        value = value if isinstance(value.item(), Number) else value.item()
    if isinstance(value, (np.ndarray, np.void)) and value.dtype.names:
        return record_described("an array of records" if isinstance(value, np.ndarray) else "a record", value.dtype)
    if isinstance(value, str) and type(value) is not str:
        return f"{value!r}; pass str(x)"
    if isinstance(value, str):
        return f"{value!r}, a text; pass its bytes, as np.frombuffer(text.encode(), np.uint8)"
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        native = value.dtype.newbyteorder("=").name
        return f"an array of {value.dtype}, whose bytes are in the other order; convert it, with astype({native!r})"
    if isinstance(value, np.ndarray):
        help = _containers.instead_of(value.dtype) or ("" if value.ndim else "pass x.reshape(1)")
        return f"an array of {value.dtype}{'' if value.ndim else ' without dimensions'}{help and '; '}{help}"
    if isinstance(value, (int, float)):
        return f"{value!r}"
    if value is None:
        return "None; pass a number that stands for it, or have the kernel ask whether it is None"
    if isinstance(value, (type, np.dtype)):
        name = getattr(value, "__name__", value)
        return f"the type {name}; write it in the kernel, or take that of an array, `a.dtype`"
    if callable(value):
        name = getattr(value, "__name__", "f")
        return f"a function; let another kernel call this one with it: spmdvm.kernel(lambda x: …(x, {name}))"
    kind = type(value).__name__
    if isinstance(value, tuple):
        odd = next((type(part).__name__ for part in value if not isinstance(part, (Number, tuple))), None)
        article = "an" if odd and odd[0] in "aeiou" else "a"
        return f"a `{kind}`" if odd is None else f"a tuple with {article} `{odd}` in it; pass its parts one by one"
    if isinstance(value, np.generic):
        return f"a `{kind}`; {_containers.instead_of(value.dtype) or 'pass x.item()'}"
    if isinstance(value, (bytes, bytearray)):
        return "bytes; pass np.frombuffer(x, np.uint8)"
    made = _containers.made_of(value)
    if made is not None:
        return f"a `{kind}`; pass {'its numbers one by one, or ' if isinstance(value, Mapping) else ''}{made}"
    if isinstance(value, Number):
        return f"a `{kind}`; pass float(x)"
    return f"a `{kind}`"


def no_function(given: Any) -> str:
    """Say what was given for the function of a kernel, and what to do with it."""
    from . import Kernel

    kind = type(given).__name__
    if isinstance(given, Kernel):
        return f"the kernel `{given.__name__}`; decorate its function once"
    if isinstance(given, (staticmethod, classmethod)):
        help = "write @staticmethod above @spmdvm.kernel" if kind == "staticmethod" else "a kernel has no `cls`"
        return f"a {kind}; {help}"
    if inspect.ismethod(given):
        return f"a method; a kernel has no `{'cls' if inspect.isclass(given.__self__) else 'self'}`: make it a function"
    name = getattr(given, "__name__", None)
    if callable(given) and (_functions.find(given) is not None or _library.find(given) is not None):
        return f"`{name}`, which kernels call as it is; to call it on arrays, spmdvm.map({name}, x)"
    if isinstance(given, functools.partial):
        return "a partial; write what it calls: `lambda x: f(x, 2)`"
    if isinstance(given, str):
        return f"the text {given!r}; spmdvm.vectorize makes kernels of expressions"
    return f"{kind}; write one with `def` or `lambda`"


def record_described(what: str, dtype: np.dtype) -> str:
    """Say what is wrong with records that a kernel cannot take."""
    if not dtype.names:
        return f"{what} without fields"
    name = dtype.names[0]
    for field in dtype.names:
        of = dtype.fields[field][0]
        if field_of(of) is None and field_of(of.newbyteorder("=")) is not None:
            help = 'convert it: x.astype(x.dtype.newbyteorder("="))'
            return f"{what} whose field `{field}` is {of}, with its bytes in the other order; {help}"
        if field_of(of) is None:
            return f"{what} whose field `{field}` is {of}; fields are numbers, and arrays and records of numbers"
    if what == "a record":
        return (
            f"{what}, for a kernel of arrays; pass its fields, x[{name!r}], or an array of records of which one is "
            "indexed; or annotate the parameter with its dtype, so that the kernel is one of records"
        )
    aligned = f"np.dtype({_spelled(record_of(dtype))}, align=True)"
    return (
        f"{what} whose fields do not lie as in C; make the dtype with align=True: x.astype({aligned}); kernels of "
        "single records, whose parameters are annotated with the dtype, take them as they are"
    )


def _spelled(record: Record) -> str:
    """Write the fields of records as `np.dtype` takes them: with those of records within, which it aligns as well."""
    parts = []
    for name, ty in record.fields:
        of, shape = (ty.of, f", {ty.shape}") if isinstance(ty, Rows) else (ty, "")
        spelled = _spelled(of) if isinstance(of, Record) else repr(of.dtype.str.lstrip("<>=|"))
        parts.append(f"({name!r}, {spelled}{shape})")
    return f"[{', '.join(parts)}]"
