"""What operators make of bools: numpy's, which are a dtype of their own, and Python's, which are ints.

Python's are `True`, `False`, what `not` and `in` give, comparisons of Python's own numbers, and variables that are
nothing else. All others are numpy's: elements of arrays, arguments, and comparisons of numbers of numpy's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ._types import BOOL, FLOAT64, INT, NUMBERS, Num
from ._values import Value

# Of two bools of numpy's; all other operators take them as `int8`.
_LOGICAL = {"+": "||", "*": "&&", "&": "&&", "|": "||", "^": "!="}
_ORDER = {"<": "(!{a} && {b})", "<=": "(!{a} || {b})", ">": "({a} && !{b})", ">=": "({a} || !{b})"}


def is_pythons(value: Value) -> bool:
    """Return whether a number is one of Python's own."""
    return value.parts is None and isinstance(value.type, Num) and (value.type.weak or value.is_python)


def as_int(value: Value) -> Value:
    """Give a bool of Python's as the int that it is; anything else as it is."""
    if value.type != BOOL or not value.is_python:
        return value
    const = None if value.const is None else int(value.const)
    text = f"((int){value.text})" if const is None else str(const)
    return Value(text, INT, value.uniform, const or 0, 1 if const is None else const, const)


def operands(op: str, a: Value, b: Value) -> tuple[Value, Value]:
    """Give the operands of an operator, with bools of Python's as ints; but for such as give bools again."""
    if a.type == b.type == BOOL and (op in "&|^" or not (a.is_python and b.is_python)):
        return a, b
    return as_int(a), as_int(b)


def operate(body: Any, node: Any, op: str, a: Value, b: Value) -> Value:
    """Apply an operator to two bools as numpy does."""
    if op in _LOGICAL:
        both = a.is_python and b.is_python
        return Value(f"({a.text} {_LOGICAL[op]} {b.text})", BOOL, a.uniform and b.uniform, is_python=both)
    if op == "-":
        help = "write `a ^ b`, or convert one: `int(a) - b`"
        body.fail(node, "bools have no `-`, nor do those of numpy", "two bools", help)
    ty = FLOAT64 if op == "/" else NUMBERS["int8"]
    result: Value = body.operate(node, op, body.cast(a, ty, node), body.cast(b, ty, node))
    return result


def compared(op: str, a: Value, b: Value) -> str:
    """Write a comparison of two bools, of which `False` is the lesser."""
    return _ORDER[op].format(a=a.text, b=b.text) if op in _ORDER else f"{a.text} {op} {b.text}"


def extreme(op: str, a: Value, b: Value) -> Value:
    """Give the lesser (`<`) or the greater (`>`) of two bools."""
    return replace(operate(None, None, "*" if op == "<" else "+", a, b), is_python=a.is_python and b.is_python)
