"""Rounding to some digits: `np.round(x, 2)`, `round(x, 2)`.

numpy rounds a product with a power of ten. Python rounds the number itself, of which the product is not exact: what it
lacks is known by a fused multiplication, so that a product that only looks like a half goes where it belongs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ._types import BOOL, INT
from ._values import Value, constant

# Powers of ten up to this one are doubles.
_MOST_DIGITS = 22
_WHOLE = "this rounds integers, to digits from 0 on"


def rounded(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `np.round`, which is the `round` of numpy's numbers, too."""
    if len(args) not in (1, 2):
        body.fail(node, "rounding takes a number, and the number of digits", f"{len(args)} here")
    x, digits = args[0], _digits(body, node, args)
    if x.type == BOOL:
        body.fail(node, "a bool is not rounded", "not a number", "convert it: `int(x)`")
    if x.type.kind == "c":
        body.fail(node, "complex numbers are not rounded in a kernel", f"`{x.type}`", "round the parts: `z.real`")
    if x.type.is_int:
        return _integer(body, node, x, digits)
    if digits.const == 0:
        return Value(f"round({x.text})", x.type, x.uniform)
    x = body.cast(x, x.type, node)
    power = f"({x.type.spmd}){_power(body, digits)}"
    if digits.const is not None:
        power = body.cast(constant(10.0 ** abs(digits.const)), x.type, node).text
        there, back = ("*", "/") if digits.const > 0 else ("/", "*")
        return Value(f"(round({x.text} {there} {power}) {back} {power})", x.type, x.uniform)
    if not body.in_arm:
        digits, x = body.keep(digits), body.keep(x)
        power = body.keep(Value(f"({x.type.spmd}){_power(body, digits)}", x.type, digits.uniform)).text
    up, down = f"round({x.text} * {power}) / {power}", f"round({x.text} / {power}) * {power}"
    return Value(f"({digits.text} >= 0 ? {up} : {down})", x.type, x.uniform and digits.uniform)


def rounded_as_python(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `round(x, n)`, of a float of Python's as Python does."""
    x = args[0]
    if len(args) != 2 or not (x.type.weak and x.type.kind == "f"):
        return rounded(body, node, args)
    digits = _digits(body, node, args)
    uniform = x.uniform and digits.uniform
    shape = "uniform " if uniform else ""
    name = f"py_round_{'uniform' if uniform else 'each'}"
    power = _power(body, replace(digits, text="n", const=None, uniform=uniform))
    body.program.support[name] = (
        f"static inline {shape}double {name}(const {shape}double x, const {shape}int64 n) {{\n"
        f"    const {shape}double power = {power};\n"
        f"    const {shape}double near = n >= 0 ? x * power : x / power;\n"
        # (Also of a NaN. Its digits lie in front of those that are asked for.)
        "    if (!(abs(near) < 9007199254740992.0d)) return x;\n"
        f"    const {shape}double lacks = n >= 0 ? fma(x, power, -near) : fma(-near, power, x);\n"
        f"    {shape}double whole = round(near);\n"
        f"    const {shape}double rest = near - whole;\n"
        "    if (rest == 0.5d && lacks > 0) whole += 1;\n"
        "    if (rest == -0.5d && lacks < 0) whole -= 1;\n"
        "    return n >= 0 ? whole / power : whole * power;\n"
        "}"
    )
    return Value(f"{name}({body.cast(x, x.type, node).text}, {body.cast(digits, INT, node).text})", x.type, uniform)


def _digits(body: Any, node: Any, args: list[Value]) -> Value:
    if len(args) < 2:
        return constant(0)
    digits = args[1]
    if not digits.type.is_int:
        body.fail(node, "the number of digits is an integer", f"this is `{digits.type}`")
    if digits.const is not None and abs(digits.const) > _MOST_DIGITS:
        body.fail(node, f"numbers are rounded to {_MOST_DIGITS} digits at most in a kernel", f"{digits.const} here")
    return digits


def _integer(body: Any, node: Any, x: Value, digits: Value) -> Value:
    """Give an integer, which has no digits behind the point."""
    if digits.const is None:
        body.fail(node, _WHOLE, "known only at run time", "write an `if`, or convert it: `float(x)`")
    if digits.const < 0:
        body.fail(node, _WHOLE, f"{digits.const} here", "convert it: `float(x)`")
    return x


def _power(body: Any, digits: Value) -> str:
    """Give 10 to the power of digits, or of as many in front of the point."""
    shape = "uniform " if digits.uniform else ""
    name = f"py_power_of_ten_{'uniform' if digits.uniform else 'each'}"
    body.program.support[name] = (
        f"static inline {shape}double {name}(const {shape}int64 n) {{\n"
        f'    assert(n >= -{_MOST_DIGITS} && n <= {_MOST_DIGITS}, "numbers are rounded to {_MOST_DIGITS} digits");\n'
        f"    {shape}double power = 1;\n"
        f"    for ({shape}int64 k = abs(n); k > 0; --k) power *= 10;\n"
        "    return power;\n"
        "}"
    )
    return f"{name}({body.cast(digits, INT, None).text})"
