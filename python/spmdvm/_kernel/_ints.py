"""Python ints that are known only at run time, where they meet integers of numpy's.

They take the other number's type (NEP 50), and have to fit in it. Most are known to: a counter of `range(8)`, a length
that becomes an `int32`. Of those that are passed, and of what is computed of these alone, it is assumed, and found out
before the call: if one does not fit, another instance runs that tests them where they are used. Of the rest the ends of
their range are tested first, where these are known then, or each number by itself. Comparisons are by value.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any, Callable, NamedTuple

import numpy as np

from ._types import INT, NUMBERS, Num
from ._values import INT32, INT64, Value

_NARROW = NUMBERS["int32"]
# What a length is called in the text.
_LENGTH = re.compile(r"(\w+)__n(\d+)")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Overflow(NamedTuple):
    """What a test is of that a Python int fits: the text of it in Python, and the type that it has to fit in."""

    what: str
    type: Num

    def __str__(self) -> str:
        """Say that it failed."""
        low, high = bounds_of(self.type)
        return f"overflow: {self.what} does not fit in the `{self.type}` that it is used as ({low} to {high})"


def bounds_of(ty: Num) -> tuple[int, int]:
    """Give the least and the greatest value of a type of integers."""
    info = np.iinfo(ty.dtype)
    return int(info.min), int(info.max)


def is_open(value: Value, ty: Num) -> bool:
    """Return whether a value is a Python int that may not fit in a type of numpy's, for all that its range tells."""
    meets = value.type == INT and value.const is None and ty.is_int and not ty.weak
    return meets and not (ty.holds(value.low) and ty.holds(value.high))


def is_assumed(body: Any, value: Value, ty: Num) -> bool:
    """Have it found out before the call that a Python int fits in a type; return False where that cannot be."""
    known = value.passed or value.host
    if known is None or not body.program.assumes:
        return False
    low, high = bounds_of(ty)
    old = body.program.assumed.get(known, INT64)
    body.program.assumed[known] = (max(low, old[0]), min(high, old[1]))
    return True


def fitted(body: Any, node: Any, value: Value, ty: Num, cast: Callable[[Value], Value]) -> Value:
    """Convert a Python int that may not fit; `cast` converts one that does. The kernel fails if it does not fit."""
    if is_assumed(body, value, ty):
        return cast(value)
    (low, high), (least, most) = bounds_of(ty), body.reach(value)
    tests = {f"{least} >= {low}": None} if value.low < low else {}
    tests.update({f"{most} <= {high}": None} if value.high > high else {})
    tested = _tested(body, node, value, ty)
    if (value.low < low and least is None) or (value.high > high and most is None):
        return tested
    return replace(tested, text=f"({body.known_before(tests)} ? {cast(value).text} : {tested.text})")


def _tested(body: Any, node: Any, value: Value, ty: Num) -> Value:
    (low, high), given = bounds_of(ty), "int" if value.is_narrow else "int64"
    tests = [f"x >= {low}ll"] if value.low < low else []
    tests += [f"x <= {high}ll"] if value.high > high else []
    # In a part of an expression that some lanes compute, the others must not be tested.
    uniform = value.uniform and (not body.in_arm or body.is_uniform_here())
    shape = "uniform " if uniform else "varying "
    name = body.program.overflow(Overflow(_told(body, node, value), ty), shape + given + " && ".join(tests))
    body.program.support[name] = (
        f"static inline {shape}{ty.spmd} {name}({shape}{given} x) {{\n"
        f"    assert({' && '.join(tests)});\n    return ({ty.spmd})x;\n}}"
    )
    kept = {"apart": value.apart, "host": value.host, "passed": value.passed}
    return Value(f"{name}({value.text})", ty, uniform, max(value.low, low), min(value.high, high), **kept)


def _told(body: Any, node: Any, value: Value) -> str:
    """Name a Python int as it is written in Python, or where it is used."""
    names = body.program.python_variables
    length = _LENGTH.fullmatch(value.text)
    if value.passed is not None:
        return f"`{names.get(value.passed, value.passed)}`"
    if length is not None:
        array, axis = names.get(length[1], length[1]), int(length[2])
        return f"`{array}.shape[{axis}]`" if axis else f"`len({array})`"
    if value.text in names:
        return f"`{names[value.text]}`"
    if value.text.isidentifier() and value.text.startswith("v_"):
        return f"`{value.text[2:]}`"
    text = ast.unparse(node).split("\n", 1)[0] if isinstance(node, ast.AST) else ""
    return f"a Python int in `{text}`" if text else "a Python int"


def compared(body: Any, node: Any, op: str, a: Value, b: Value) -> str | None:
    """Write a comparison of integers of which one may not fit in the other's type; None where both do in one."""
    if not (a.type.is_int and b.type.is_int) or a.type == b.type:
        return None
    if INT in (a.type, b.type):
        weak, other = (a, b) if a.type == INT else (b, a)
        if not is_open(weak, other.type):
            return None
        if weak.is_narrow and INT32[0] <= bounds_of(other.type)[0] and bounds_of(other.type)[1] <= INT32[1]:
            x, y = (v.text if v is weak else body.cast(v, _NARROW, node).text for v in (a, b))
            return f"{x} {op} {y}"
        if is_assumed(body, weak, other.type):
            return None
    elif a.type.kind == b.type.kind:
        return None
    if NUMBERS["uint64"] in (a.type, b.type):
        if a.type.kind == "i":
            a, b, op = b, a, _MIRRORED.get(op, op)
        signed, large = body.cast(b, NUMBERS["int64"], node).text, f"{a.text} {op} ((uint64){b.text})"
        return f"({signed} < 0 || {large})" if op in (">", ">=", "!=") else f"({signed} >= 0 && {large})"
    x, y = (body.cast(v, NUMBERS["int64"], node).text for v in (a, b))
    return f"{x} {op} {y}"
