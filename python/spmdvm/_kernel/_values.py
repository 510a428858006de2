"""What expressions of kernels are: their SPMD text, their type, and what is known of a Python int."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._types import BOOL, COMPLEX, FLOAT, INT, NUMBERS, Num, Type

INT32 = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)
# What stands for an index where none of the array is meant: with small numbers added, it is outside all the same.
OUTSIDE = -(2**31) + 1
# The lane, among the indices with which numbers differ.
LANE = "lane"
# No array is longer in any dimension, so that an index and what is near it are 32-bit numbers.
LONGEST = 2**31 - 2**16
# What `host` of a value may call.
OF_HOST = {"_len": len, "_range": range, "_min": min, "_max": max}


class Form(NamedTuple):
    """How a tuple is made of values.

    Attributes:
        parts: of each part that is a tuple itself, its form; None of others.
        of: its class, if that is a `NamedTuple`; or which array its values are the elements of, or list of tuples the
            lists of numbers.
    """

    parts: tuple[Form | None, ...]
    of: type | Listed | Columns | Entries | Maybe | None = None

    @property
    def count(self) -> int:
        """Of how many values it is made in the end."""
        return sum(1 if part is None else part.count for part in self.parts)


class Listed(NamedTuple):
    """An array of so few elements that they are returned as numbers: their type, and its lengths."""

    of: Num
    lengths: tuple[int, ...]


class Maybe(NamedTuple):
    """A value that may be None: a bool that says whether it is, and what it is else."""


class Columns(NamedTuple):
    """A list of tuples that are made like this, which is passed as a list of each of their numbers."""

    form: Form


class Dict(NamedTuple):
    """What kind of a dict it is: a set, one with a value for keys that are not there, or a `Counter`."""

    is_set: bool = False
    missing: Any = None
    is_counter: bool = False

    @property
    def named(self) -> str:
        """What it is called."""
        if self.is_counter:
            return "Counter"
        return "set" if self.is_set else "dict" if self.missing is None else "defaultdict"

    @property
    def adds(self) -> bool:
        """Whether a key that is read is there from then on."""
        return self.missing is not None and not self.is_counter


class Entries(NamedTuple):
    """A dict of such keys and values, which is returned as a list of each of their numbers."""

    form: Form
    kind: Dict


@dataclass(frozen=True)
class Value:
    """An expression.

    Attributes:
        text: the SPMD expression, in parentheses where it needs them.
        type: its type.
        uniform: whether it is the same in all lanes.
        low, high: of an integer, the least and the greatest it can be.
        const: its value, if it is a constant.
        below: of an integer, a length and an offset: it is less than their sum.
        equals: likewise: it is their sum.
        parts: of a tuple, its elements.
        of: of a tuple, what its form is of.
        apart: the indices of `foreach` (and the lane) with each of which it is another number, if the others stay.
        wrapped: of an integer that is computed in 64 bits: the low 32 of them as an `int`, computed in 32.
        host: of an integer that is known before the kernel is called: an expression of Python that gives it, of the
            names that numbers and lengths have in the text.
        passed: of a Python int that was passed to the kernel: its name in the text.
        is_python: of a bool, whether it is one of Python's, which is an int, rather than of numpy's.
        least, most: of an integer, expressions of 64 bits, of parameters and their lengths alone, between which it is;
            what follows of `low`, `high`, `below` and `equals` is left out.
    """

    text: str
    type: Type
    uniform: bool
    low: int = INT64[0]
    high: int = INT64[1]
    const: Any = None
    below: tuple[str, int] | None = None
    equals: tuple[str, int] | None = None
    parts: tuple[Value, ...] | None = None
    apart: frozenset[str] = frozenset()
    wrapped: str | None = None
    host: str | None = None
    passed: str | None = None
    is_python: bool = False
    least: str | None = None
    most: str | None = None
    of: type | Listed | Columns | Entries | Maybe | None = None

    @property
    def form(self) -> Form | None:
        """How it is made of values, if it is a tuple."""
        return None if self.parts is None else Form(tuple(part.form for part in self.parts), self.of)

    @property
    def leaves(self) -> list[Value]:
        """The values that a tuple is made of in the end; itself, if it is none."""
        return [self] if self.parts is None else [leaf for part in self.parts for leaf in part.leaves]

    @property
    def before(self) -> str | None:
        """What gives an integer before the call; None if that is not known then."""
        if self.const is None and self.host is None and self.type == INT and self.low == self.high:
            # It can only be one, such as a constant that a function is passed.
            return str(self.low)
        if self.const is None:
            return self.host
        return str(int(self.const)) if isinstance(self.type, Num) and self.type.is_int else None

    @property
    def is_narrow(self) -> bool:
        """Whether it is an integer that is computed as `int`."""
        return self.type == INT and INT32[0] <= self.low and self.high <= INT32[1]


def exactly(value: Value) -> Value:
    """Give an integer that can only be one as a constant: that of a variable which is assigned once."""
    is_known = value.const is None and value.type == INT and value.low == value.high
    return constant(value.low) if is_known else value


def unequal(values: int, names: int) -> str:
    """Say that a tuple of so many values is taken apart to another number of names."""
    are = "is 1 value" if values == 1 else f"are {values} values"
    return f"there {are} for {names} name{'' if names == 1 else 's'}"


def tuple_of(parts: Any, of: type | Listed | Columns | Entries | Maybe | None = None) -> Value:
    """Give a tuple of values."""
    parts = tuple(parts)
    return Value("", INT, all(part.uniform for part in parts), parts=parts, of=of)


def formed(form: Form | None, leaves: Iterator[Value]) -> Value:
    """Give a tuple of such a form that is made of these values; the next of them, if it is none."""
    return next(leaves) if form is None else tuple_of([formed(part, leaves) for part in form.parts], form.of)


def of_tuple(name: str, at: int) -> str:
    """Give the name of the variable that has one of the values of a tuple."""
    return f"{name}[{at}]"


class Arguments:
    """What a function is called with: a tuple is an argument for each of its values.

    Attributes:
        names, values: of the arguments.
        nodes: where each is given.
        tuples: the forms of the parameters that are tuples, and of the tuples in these.
        functions: the arguments that are functions, by the names of their parameters: they are not passed.
        literals: likewise those that are None or texts.
        references: those that are lists and dicts which the function may change.
        captured: the names of parameters that are variables of functions around, by these functions and their names.
    """

    def __init__(
        self,
        names: list[str],
        values: list[Value],
        nodes: list[Any],
        functions: dict[str, Any],
        literals: dict[str, str | None],
        references: dict[str, Any],
        captured: Any,
    ) -> None:
        """Take tuples apart."""
        self.functions, self.literals, self.captured = functions, literals, captured
        self.references = references
        # The arguments that are passed as integers of 32 bits.
        self.narrow: set[str] = set()
        self.names: list[str] = []
        self.values: list[Value] = []
        self.nodes: list[Any] = []
        self.tuples: dict[str, Form] = {}
        for name, value, node in zip(names, values, nodes):
            self._add(name, value, node)

    def _add(self, name: str, value: Value, node: Any) -> None:
        if value.parts is None:
            self.names.append(name)
            self.values.append(value)
            self.nodes.append(node)
            return
        self.tuples[name] = value.form
        for k, part in enumerate(value.parts):
            self._add(of_tuple(name, k), part, node)


def constant(value: Any) -> Value | None:
    """Give the value of a number of Python or numpy; None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        is_python = isinstance(value, bool)
        return Value("true" if value else "false", BOOL, True, const=bool(value), is_python=is_python)
    if isinstance(value, np.integer):
        ty = NUMBERS[value.dtype.name]
        return Value(literal(int(value), ty), ty, True, int(value), int(value), int(value))
    if isinstance(value, np.floating) and not isinstance(value, float) and value.dtype.name in NUMBERS:
        ty = NUMBERS[value.dtype.name]
        return Value(literal(value, ty), ty, True, const=value)
    if isinstance(value, np.float64):
        return Value(literal(value, NUMBERS["float64"]), NUMBERS["float64"], True, const=float(value))
    # (Of those beyond int64 it turns out beside what they stand whether that is `uint64`.)
    if isinstance(value, int) and INT64[0] <= value < 2**64:
        return Value(literal(value, INT), INT, True, value, value, value)
    if isinstance(value, float):
        return Value(literal(value, FLOAT), FLOAT, True, const=value)
    if isinstance(value, np.complexfloating) and value.dtype.name in NUMBERS:
        ty = NUMBERS[value.dtype.name]
        return Value(literal(value, ty), ty, True, const=complex(value))
    if isinstance(value, complex):
        return Value(literal(value, COMPLEX), COMPLEX, True, const=value)
    return None


def constants(value: Any) -> Value | None:
    """Give the value of a number, or of a tuple of them; None for anything else."""
    if not isinstance(value, tuple):
        return constant(value)
    parts = [constants(part) for part in value]
    return None if None in parts else tuple_of(parts, class_of(value))


def class_of(value: tuple[Any, ...]) -> type | None:
    """Give the class of a tuple, if its parts have names."""
    return type(value) if hasattr(value, "_fields") else None


def literal(value: Any, ty: Num) -> str:
    """Write a number as a constant of a type that has it."""
    if ty.kind == "f":
        return _float(value, ty)
    if ty.kind == "c":
        return f"py_{ty.spmd.lower()}({_float(value.real, ty.part)}, {_float(value.imag, ty.part)})"
    value = int(value)
    if ty == BOOL:
        return "true" if value else "false"
    if ty.name in ("int32", "int") and INT32[0] < value <= INT32[1]:
        return str(value) if value >= 0 else f"({value})"
    if value == INT64[0]:
        return "(-9223372036854775807ll - 1)"
    text = f"{value}ull" if value > INT64[1] else f"{value}ll"
    if ty.spmd == "int64":
        return text if value >= 0 else f"({text})"
    return f"(({ty.spmd}){text})"


def initial(value: Any, ty: Num) -> str:
    """Write a number as one of a constant array."""
    if ty.kind != "c":
        return literal(value, ty)
    return f"{{{_float(value.real, ty.part)}, {_float(value.imag, ty.part)}}}"


def _float(value: Any, ty: Num) -> str:
    with np.errstate(over="ignore"):
        value = ty.dtype.type(value)
    suffix = {16: "f16", 32: "f", 64: "d"}[ty.bits]
    if np.isfinite(value):
        text = (
            np.format_float_scientific(value, trim="0")
            if abs(float(value)) >= 1e16 or 0 < abs(float(value)) < 1e-4
            else str(value)
        )
        return f"{text}{suffix}" if not np.signbit(value) else f"({text}{suffix})"
    special = "0.0" if np.isnan(value) else "1.0" if value > 0 else "-1.0"
    return f"(({ty.spmd})({special}{suffix} / 0.0{suffix}))"


def differ(a: str, b: str) -> bool:
    """Return whether two lengths, each as `host` of a value, are computed of the same numbers and not always equal."""
    both = [compile(host, "<host>", "eval") for host in (a, b)]
    names, others = ({name for name in code.co_names if name not in OF_HOST} for code in both)
    # Which numbers they are does not matter: a difference for some is one.
    some = {name: 50 + 7 * k for k, name in enumerate(sorted(names))}
    try:
        return names == others and eval(both[0], {**OF_HOST, **some}) != eval(both[1], {**OF_HOST, **some})
    except Exception:
        return False
