"""The types of kernels: numpy's numbers, Python's own, arrays and records, and what arithmetic makes of two of them.

Python's `int` and `float` are *weak*, as in numpy: with a number of numpy's they take its type (`np.float32(2) * 3`
is a `float32`). Alone they are computed as `int64` and `float64`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from ._reserved import RESERVED


@functools.cache
def _dtype_of(name: str) -> np.dtype:
    return np.dtype({"int": "int64", "float": "float64", "complex": "complex128"}.get(name, name))


@dataclass(frozen=True)
class Num:
    """A number or bool, with the name it has in SPMD text. `weak` ones are Python's own."""

    name: str
    spmd: str
    weak: bool = False

    @property
    def dtype(self) -> np.dtype:
        """What numpy keeps such numbers in."""
        return _dtype_of(self.name)

    @property
    def weak_class(self) -> type:
        """The class of such numbers of Python."""
        return {"i": int, "f": float, "c": complex}[self.kind]

    @property
    def kind(self) -> str:
        """`b`, `i`, `u`, `f` or `c`, as numpy's."""
        return self.dtype.kind

    @property
    def is_int(self) -> bool:
        """Whether it is an integer, signed or not."""
        return self.kind in "iu"

    @property
    def bits(self) -> int:
        """How many bits a number has."""
        return 8 * self.dtype.itemsize

    @property
    def part(self) -> Num:
        """What the parts of a complex number are; any other type itself."""
        if self.kind != "c":
            return self
        return FLOAT if self.weak else NUMBERS["float32" if self.bits == 64 else "float64"]

    def holds(self, value: int) -> bool:
        """Whether an integer is one of its values."""
        info = np.iinfo(self.dtype)
        return int(info.min) <= value <= int(info.max)

    def __str__(self) -> str:
        """Give the name."""
        return self.name


_SPMD = {
    "bool": "bool",
    "int8": "int8",
    "int16": "int16",
    "int32": "int",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint",
    "uint64": "uint64",
    "float16": "float16",
    "float32": "float",
    "float64": "double",
    # Structs, see `_complex`.
    "complex64": "Complex64",
    "complex128": "Complex128",
}
NUMBERS = {name: Num(name, spmd) for name, spmd in _SPMD.items()}
BOOL = NUMBERS["bool"]
INT64, FLOAT64 = NUMBERS["int64"], NUMBERS["float64"]
INT = Num("int", "int64", weak=True)
FLOAT = Num("float", "double", weak=True)
COMPLEX = Num("complex", "Complex128", weak=True)


@dataclass(frozen=True)
class Rows:
    """A field of as many numbers, or records, as its shape says."""

    of: Num | Record
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype:
        """What numpy keeps such a field in."""
        return np.dtype((self.of.dtype, self.shape))

    @property
    def lengths(self) -> str:
        """What stands behind the name of such a member in SPMD text."""
        return "".join(f"[{length}]" for length in self.shape)

    @property
    def item(self) -> Num | Record | Rows:
        """What one index gives."""
        return Rows(self.of, self.shape[1:]) if len(self.shape) > 1 else self.of

    def __str__(self) -> str:
        """Give the type of the elements and the shape."""
        return f"{self.of}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Record:
    """The elements of a structured array."""

    fields: tuple[tuple[str, Num | Record | Rows], ...]

    @property
    def dtype(self) -> np.dtype:
        """What numpy keeps such records in, laid out as C and SPMD programs lay them out."""
        return np.dtype([(name, ty.dtype) for name, ty in self.fields], align=True)

    def member(self, name: str) -> str:
        """Give what a field is called in SPMD text: programs find members by their places."""
        if name.isascii() and name.isidentifier() and name not in RESERVED:
            return name
        return f"field__{[field for field, _ in self.fields].index(name)}"

    @property
    def leaves(self) -> list[tuple[str, Num]]:
        """The numbers of a record, each with what stands behind the record's place in SPMD text."""
        return [leaf for name, ty in self.fields for leaf in _leaves(f".{self.member(name)}", ty)]

    def __str__(self) -> str:
        """Give the fields."""
        return "{" + ", ".join(f"{name}: {ty}" for name, ty in self.fields) + "}"


def _leaves(place: str, ty: Num | Record | Rows) -> list[tuple[str, Num]]:
    if isinstance(ty, Num):
        return [(place, ty)]
    if isinstance(ty, Record):
        return [(f"{place}{text}", of) for text, of in ty.leaves]
    return [leaf for k in range(ty.shape[0]) for leaf in _leaves(f"{place}[{k}]", ty.item)]


@dataclass(frozen=True)
class Array:
    """An array of numbers or records; with no dimensions, one record of an array. In a list also of tuples."""

    of: Num | Record | Tuple
    ndim: int

    def __str__(self) -> str:
        """Give the type of the elements and the number of dimensions; a record is one of none."""
        if self.ndim == 0:
            return str(self.of)
        return f"array[{self.of}]" if self.ndim == 1 else f"array[{self.of}, {self.ndim}]"


@dataclass(frozen=True)
class Uniform:
    """A number, or record, of an elementwise kernel that is the same for all elements."""

    of: Num | Record


@dataclass(frozen=True)
class Tuple:
    """A tuple of numbers that is passed to a kernel: the types of its parts, and its class if these have names."""

    parts: tuple[Num | Tuple, ...]
    of: type | None = None

    @property
    def leaves(self) -> list[Num]:
        """The types of all its numbers."""
        return [leaf for part in self.parts for leaf in (part.leaves if isinstance(part, Tuple) else [part])]

    def __str__(self) -> str:
        """Give the types of its parts."""
        return f"({', '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class Literal:
    """The type of None, and of one text: no program has such values, and functions are translated for each."""

    value: str | None


Type = Union[Num, Array, Record]


def of_dtype(dtype: Any) -> Num | Record | None:
    """Give the type of the elements of a numpy array, or None if kernels have none."""
    dtype = np.dtype(dtype)
    if dtype.fields:
        return record_of(dtype) if is_laid_out(dtype) else None
    return NUMBERS.get(dtype.name) if dtype.isnative else None


def record_of(dtype: np.dtype) -> Record | None:
    """Give the type of records, wherever their fields lie; None if these are not made of numbers."""
    fields = tuple((name, field_of(dtype.fields[name][0])) for name in dtype.names or ())
    return Record(fields) if fields and all(ty is not None for _, ty in fields) else None


def field_of(dtype: np.dtype) -> Num | Record | Rows | None:
    """Give the type of a field; None if it is not made of numbers."""
    if dtype.subdtype is not None:
        of = field_of(dtype.base)
        return Rows(of, dtype.shape) if of is not None and 0 not in dtype.shape else None
    return record_of(dtype) if dtype.names is not None else of_dtype(dtype)


def is_laid_out(dtype: np.dtype) -> bool:
    """Return whether the fields lie as C and SPMD programs lay them out, also those of records within."""
    of = record_of(dtype)
    return of is not None and dtype == of.dtype


def of_value(value: Any) -> Type | None:
    """Give the type of an argument, or None if kernels have none."""
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, np.ndarray) and value.ndim:
        of = of_dtype(value.dtype)
        return of and Array(of, value.ndim)
    if isinstance(value, (np.generic, np.ndarray)):
        of = of_dtype(value.dtype)
        return of if isinstance(of, Num) else None
    if isinstance(value, int):
        return INT
    if isinstance(value, complex):
        return COMPLEX
    return FLOAT if isinstance(value, float) else None


def promote(a: Num, b: Num) -> Num | None:
    """Give the type of the sum of two numbers, by numpy's rules (NEP 50); None if they cannot be mixed.

    Bools are numpy's here: with a number of Python's they give what numpy keeps such numbers in.
    """
    if a == b:
        return a
    if a == BOOL or b == BOOL:
        return strong(b if a == BOOL else a)
    if a.weak and b.weak:
        return COMPLEX if COMPLEX in (a, b) else FLOAT
    if a.weak or b.weak:
        weak, other = (a, b) if a.weak else (b, a)
        if weak == COMPLEX and other.kind != "c":
            return NUMBERS["complex64" if other.kind == "f" and other.bits <= 32 else "complex128"]
        return other if weak == INT or other.kind in "fc" else FLOAT64
    return NUMBERS.get(np.promote_types(a.dtype, b.dtype).name)


def strong(ty: Num) -> Num:
    """Give the type of numpy's that a number of Python's is kept in."""
    return {INT: INT64, FLOAT: FLOAT64, COMPLEX: NUMBERS["complex128"]}.get(ty, ty)


def join(a: Num, b: Num) -> Num | None:
    """Give the type of a variable that is assigned values of both; None if there is none."""
    if (a == BOOL) != (b == BOOL):
        return None
    return promote(a, b)


def named(ty: Any) -> str:
    """Name a type in a sentence: `an array (…)`, `a float64`."""
    if isinstance(ty, Array) and isinstance(ty.of, Tuple):
        return "a list of tuples"
    if isinstance(ty, Array):
        return f"an array ({ty})" if ty.ndim else f"a record ({ty})"
    name = str(ty)
    return f"an `{name}`" if name[0] in "aeiou" and not name.startswith("uint") else f"a `{name}`"
