"""Operators with their meaning in Python and numpy: arithmetic, comparisons, `and` and `or`, and `a if c else b`.

Of integers it is known between what a result lies, and what it is below, by which tests of bounds are left out.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from . import _bools, _complex, _instead, _ints, _support
from ._calls import Calls
from ._known import is_written
from ._types import BOOL, FLOAT, FLOAT64, INT, NUMBERS, Array, Num, promote
from ._values import INT32, INT64, Value, constant, literal, tuple_of

_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
# With what lengths are computed before a call: nothing that takes long for large numbers.
_OF_LENGTHS = ("+", "-", "*", "//", "%", "&", "|", "^")
_FOLDED = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
# How far `i + 1` and its like are from the ends of a range.
_NEAR = 1024


class Operators(Calls):
    """Translates operators; `Body` has what they need to know."""

    def of_BinOp(self, node: ast.BinOp) -> Value:
        """Translate `a + b` and its like."""
        if isinstance(node.op, ast.MatMult) and self.array_of(node) is not None:
            return self.array_of(node)
        if isinstance(node.op, ast.MatMult) and self.array_of(node.left) is not None:
            return self.dot(node, node.left, node.right)
        whole = _written(node)
        if whole is not None and (value := constant(whole)) is not None:
            return value
        for side in (node.left, node.right):
            if isinstance(side, ast.List):
                self.refuse_list(side)
        joined = self.joined_tuples(node)
        return joined or self.binary(node, node.op, self.number(node.left), self.number(node.right))

    def binary(self, node: Any, op: ast.operator, a: Value, b: Value) -> Value:
        """Translate an operation on two numbers."""
        name = _OPERATORS.get(type(op))
        if name is None:
            help = "write `*`; or annotate what is an array, such as `a: spmdvm.array[spmdvm.float64]`"
            self.fail(node, "`@` takes arrays", f"of `{a.type}` and `{b.type}`", help)
        for value in (a, b):
            if value.parts is not None or not isinstance(value.type, Num):
                self.fail(node, "operators take numbers", f"`{value.type}`", element_help(value))
        return self.operate(node, name, a, b)

    def operate(self, node: Any, op: str, a: Value, b: Value) -> Value:
        """Apply an operator."""
        result = self._operated(node, op, a, b)
        if a.host is None and b.host is None:
            return result
        return replace(result, host=_before(op, a, b)) if result.const is None and result.type.is_int else result

    def _operated(self, node: Any, op: str, a: Value, b: Value) -> Value:
        a, b = _bools.operands(op, a, b)
        if a.type == BOOL and b.type == BOOL:
            return _bools.operate(self, node, op, a, b)
        folded = self._fold(node, op, a, b)
        if folded is not None:
            return folded
        if "c" in (a.type.kind, b.type.kind):
            return _complex.operate(self, node, op, a, b)
        if op == "/":
            return self._true_division(node, a, b)
        if op == "**":
            return self._power(node, a, b)
        ty = promote(a.type, b.type)
        if ty is None or (ty.kind == "f" and a.type.is_int and b.type.is_int):
            self.fail(node, f"`{a.type}` and `{b.type}` have no common integer type", "convert one of them")
        if op in ("<<", ">>", "&", "|", "^") and ty.kind == "f":
            operands = [node.left, node.right] if isinstance(node, ast.BinOp) else []
            help = _instead.of_several_types(self.source.tree, *operands) or _instead.of_bits(node, op)
            self.fail(node, f"floats have no `{op}`", f"`{ty}`", help)
        if ty == INT:
            return self._python_ints(node, op, a, b)
        x, y = self.cast(a, ty, node), self.cast(b, ty, node)
        uniform = a.uniform and b.uniform
        if op in ("//", "%"):
            helper = (
                {"//": "py_floordiv", "%": "py_mod"}[op] if ty.is_int else {"//": "py_ffloordiv", "%": "py_fmod"}[op]
            )
            if ty.kind == "u":
                return Value(f"({x.text} {op[0]} {y.text})", ty, uniform)
            if ty.is_int and b.const is not None and _is_power_of_two(b.const):
                text = (
                    f"({x.text} & {literal(b.const - 1, ty)})"
                    if op == "%"
                    else f"({x.text} >> {b.const.bit_length() - 1})"
                )
                return Value(text, ty, uniform)
            return self._helper(helper, ty, uniform, x, y)
        if op in ("<<", ">>"):
            if b.const is not None and 0 <= b.const < ty.bits:
                return Value(f"({x.text} {op} {y.text})", ty, uniform)
            return self._helper("py_shl" if op == "<<" else "py_shr", ty, uniform, x, y)
        return Value(f"({x.text} {op} {y.text})", ty, uniform, apart=_apart(op, a, b) if ty.bits >= 32 else frozenset())

    def _fold(self, node: Any, op: str, a: Value, b: Value) -> Value | None:
        """Compute with constants of Python's as Python does."""
        if a.const is None or b.const is None or not (a.type.weak and b.type.weak):
            return None
        try:
            result = _FOLDED[op](a.const, b.const)
        except ZeroDivisionError:
            self.fail(node, "division by zero", "always")
        except (OverflowError, ValueError, TypeError) as error:
            self.fail(node, str(error), "here")
        return constant(result) or self.fail(node, "this integer has more than 64 bits", "too large")

    def _python_ints(self, node: Any, op: str, a: Value, b: Value) -> Value:
        """Apply an operator to two ints of Python's, as 32-bit numbers where the result is one."""
        low, high = _interval(op, a, b)
        inside = INT64[0] <= low and high <= INT64[1]
        low, high = (low, high) if inside else INT64
        narrow = a.is_narrow and b.is_narrow and INT32[0] <= low and high <= INT32[1]
        x, y = (v.text if narrow else self.cast(v, INT, node).text for v in (a, b))
        uniform = a.uniform and b.uniform
        wrapped = None if narrow else _wrapped(op, a, b)
        result = Value(f"({x} {op} {y})", INT, uniform, low, high, apart=_apart(op, a, b), wrapped=wrapped)
        if op in ("+", "-", "//", "*"):
            result = self.between(op, a, b, result)
        if op in "+-" and inside:
            return replace(result, below=_below(op, a, b), equals=_equals(op, a, b))
        if op == "%" and b.low >= 0 and (b.equals or b.below):
            symbol, offset = b.equals or (b.below[0], b.below[1] - 1)
            result = replace(result, below=(symbol, offset))
        far = _beyond(a, b) if op == "%" and narrow and b.low >= 0 else None
        if far is not None and a.low >= 0 and far <= 0:
            # It is less: the remainder is all of it.
            return replace(result, text=x)
        if far is not None and far <= _NEAR and a.low >= -_NEAR and not uniform:
            helper = self._helper("py_mod_near", NUMBERS["int32"], uniform, replace(a, text=x), replace(b, text=y))
            return replace(result, text=helper.text)
        if op in ("//", "%"):
            if a.low >= 0 and (b.low > 0 or (op == "%" and b.low >= 0)):
                return replace(result, text=f"({x} {op[0]} {y})")
            if b.const is not None and _is_power_of_two(b.const):
                text = f"({x} & {b.const - 1})" if op == "%" else f"({x} >> {b.const.bit_length() - 1})"
                return replace(result, text=text)
            ty = NUMBERS["int32"] if narrow else INT
            helper = "py_floordiv" if op == "//" else "py_mod"
            return replace(result, text=self._helper(helper, ty, uniform, replace(a, text=x), replace(b, text=y)).text)
        if op in ("<<", ">>") and not (b.const is not None and 0 <= b.const < (32 if narrow else 64)):
            x, y = (self.cast(v, INT, node) for v in (a, b))
            return self._helper("py_shl" if op == "<<" else "py_shr", INT, uniform, x, y)
        return result

    def _helper(self, helper: str, ty: Num, uniform: bool, *args: Value) -> Value:
        name = self.program.use(helper)
        shape = "uniform" if uniform else "varying"
        texts = (f"({shape} {ty.spmd}){arg.text}" for arg in args)
        return Value(f"{name}<{shape} {ty.spmd}>({', '.join(texts)})", ty, uniform)

    def _true_division(self, node: Any, a: Value, b: Value) -> Value:
        ty = promote(a.type, b.type)
        if ty is None:
            self.fail(node, f"`{a.type}` and `{b.type}` cannot be divided", "convert one of them")
        if ty.is_int:
            ty = FLOAT if ty == INT else FLOAT64
        x, y = self.cast(a, ty, node), self.cast(b, ty, node)
        return Value(f"({x.text} / {y.text})", ty, a.uniform and b.uniform)

    def _power(self, node: Any, a: Value, b: Value) -> Value:
        ty = promote(a.type, b.type)
        uniform = a.uniform and b.uniform
        if ty is None:
            self.fail(node, f"`{a.type}` and `{b.type}` have no power", "convert one of them")
        if ty.is_int and b.const is not None and b.const < 0:
            self.fail(node, "integers have no negative powers", "here", "convert to a float: `float(x) ** -1`")
        x = self.cast(a, ty, node)
        if b.const is not None and float(b.const).is_integer() and (b.const == 2 or (0 <= b.const <= 16 and ty.is_int)):
            return self._repeated(node, x, int(b.const), ty)
        y = self.cast(b, ty, node)
        if ty.is_int:
            self.advise(node, _support.NEGATIVE_POWER, _power_help(node))
            return self._helper("py_ipow", ty, uniform, x, y)
        if b.const == 0.5:
            return Value(f"sqrt({x.text})", ty, uniform)
        return Value(f"pow({x.text}, {y.text})", ty, uniform)

    def _repeated(self, node: Any, x: Value, n: int, ty: Num) -> Value:
        if n == 0:
            return Value(literal(1, ty), ty, x.uniform)
        if n == 1:
            return x
        if not _is_simple(x.text):
            x = self.keep(x) if not self.in_arm else x
        return Value("(" + " * ".join([x.text] * n) + ")", ty, x.uniform)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        """Translate `-x`, `+x`, `~x`, `not x`."""
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        return self.unary(node, node.op, self.number(node.operand))

    def unary(self, node: Any, op: ast.unaryop, value: Value) -> Value:
        """Apply `-`, `+` or `~`."""
        if isinstance(op, ast.Invert):
            if value.type == BOOL:
                return Value(f"(!{value.text})", BOOL, value.uniform)
            if not value.type.is_int:
                what = "complex numbers" if value.type.kind == "c" else "floats"
                self.fail(node, f"{what} have no `~`", f"`{value.type}`")
            x = self.cast(value, value.type, node)
            return Value(f"(~{x.text})", value.type, value.uniform)
        value = _bools.as_int(value)
        if value.type == BOOL:
            self.fail(
                node, "bools have no sign, nor do those of numpy", "a bool", "write `~x`, or convert it: `int(x)`"
            )
        if isinstance(op, ast.UAdd):
            return value
        if value.const is not None and value.type.weak:
            return constant(-value.const)
        low, high = (-value.high, -value.low) if value.type == INT and value.low > INT64[0] else INT64
        narrow = value.is_narrow and INT32[0] <= low and high <= INT32[1]
        text = value.text if narrow else self.cast(value, value.type, node).text
        host = f"(-{value.host})" if value.host is not None and value.type.is_int else None
        result = Value(f"(-{text})", value.type, value.uniform, low, high, host=host)
        return self.between("-", constant(0), value, result) if value.type == INT else result

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        """Translate `and` and `or`, whose value is one of the operands."""
        if self.needs_steps(node):
            return self.in_steps(node, False)
        values = [self.number(node.values[0])]
        for part in node.values[1:]:
            self.in_arm += 1
            values.append(self.number(part))
            self.in_arm -= 1
        is_and = isinstance(node.op, ast.And)
        if all(value.type == BOOL for value in values):
            op, is_python = " && " if is_and else " || ", all(value.is_python for value in values)
            text = "(" + op.join(value.text for value in values) + ")"
            return Value(text, BOOL, all(v.uniform for v in values), is_python=is_python)
        values = list(map(_bools.as_int, values))
        ty = values[0].type
        for value in values[1:]:
            # A bool is 0 or 1 beside a number.
            ty = promote(ty, value.type) if ty is not None else None
        if ty is None:
            self.fail(
                node,
                "the operands have no common type",
                " and ".join(f"`{v.type}`" for v in values),
                "compare the number: `x != 0`",
            )
        self.in_arm += 1
        result = self.cast(values[-1], ty, node)
        for value in reversed(values[:-1]):
            test, x = self.as_bool(node, value).text, self.cast(value, ty, node).text
            yes, no = (result.text, x) if is_and else (x, result.text)
            result = Value(f"({test} ? {yes} : {no})", ty, value.uniform and result.uniform)
        self.in_arm -= 1
        return result

    def of_Compare(self, node: ast.Compare) -> Value:
        """Translate comparisons, also chains of them."""
        if self.needs_steps(node):
            return self.in_steps(node, True)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self._membership(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and _is_none(node.comparators[0]):
            # What has a value in a kernel is something.
            self.expression(node.left)
            return constant(isinstance(node.ops[0], ast.IsNot))
        if (found := self.compared_dicts(node)) is not None:
            return found
        both = [node.left, *node.comparators]
        if any(map(is_written, both)) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
            asked = next((each for each in both if not is_written(each)), node.left)
            name = getattr(asked, "stands_for", None) or ast.unparse(asked)
            how = "is" if isinstance(node.ops[0], ast.Eq) else "is not"
            self.fail(node, "`==` does not ask for None in a kernel", "here", f"write `{name} {how} None`")
        operands = [self._compared(node.left)]
        for part in node.comparators:
            self.in_arm += bool(len(operands) > 1)
            operands.append(self._compared(part))
            self.in_arm -= bool(len(operands) > 2)
        if len(operands) > 2:
            for at, value in enumerate(operands[1:-1], 1):
                if not _is_simple(value.text) and not self.in_arm:
                    operands[at] = self.keep(value)
        texts = []
        for a, op, b in zip(operands, node.ops, operands[1:]):
            name = _COMPARISONS.get(type(op))
            if name is None:
                self.fail(node, "`is` and `in` are not supported in kernels", "here", "compare with `==`")
            texts.append(self.comparison(node, name, a, b))
        text = " && ".join(texts)
        is_python = all(map(_bools.is_pythons, operands))
        return Value(f"({text})", BOOL, all(v.uniform for v in operands), is_python=is_python)

    def _compared(self, node: ast.expr) -> Value:
        """Translate an operand of a comparison: a number, or a tuple."""
        value = self.expression(node)
        return self._as_number(node, value) if value.parts is None else value

    def _membership(self, node: ast.Compare) -> Value:
        """Translate `x in (2, 3, 5)`."""
        if (found := self.is_in_dict(node)) is not None:
            return found
        among = node.comparators[0]
        array = None if isinstance(among, (ast.Tuple, ast.List)) else self.array_of(among)
        if array is not None and array.type.ndim == 1:
            return self.is_among(node, among)
        among_ = (
            ast.copy_location(ast.Tuple(among.elts, ast.Load()), among)
            if isinstance(among, (ast.List, ast.Set))
            else among
        )
        found = self.expression(among_) if isinstance(among_, (ast.Tuple, ast.Name, ast.Attribute)) else None
        if found is None or found.parts is None:
            self.fail(
                among,
                "`in` looks into a tuple, list or array in a kernel",
                "something else here",
                "write the loop",
            )
        value = self.number(node.left)
        if not _is_simple(value.text) and not self.in_arm:
            value = self.keep(value)
        tests = [self.comparison(node, "==", value, part) for part in found.parts if self._is_number(among, part)]
        text = "(" + (" || ".join(f"({test})" for test in tests) or "false") + ")"
        uniform = value.uniform and found.uniform
        return Value(text if isinstance(node.ops[0], ast.In) else f"(!{text})", BOOL, uniform, is_python=True)

    def _is_number(self, node: Any, value: Value) -> bool:
        if value.parts is not None or not isinstance(value.type, Num):
            self.fail(node, "`in` looks into a tuple of numbers", "this has something else in it")
        return True

    def comparison(self, node: Any, op: str, a: Value, b: Value) -> str:
        """Write a comparison."""
        if a.parts is not None or b.parts is not None:
            return self._of_tuples(node, op, a, b)
        if a.type == BOOL and b.type == BOOL:
            return _bools.compared(op, a, b)
        a, b = _bools.as_int(a), _bools.as_int(b)
        ty = promote(a.type, b.type)
        if ty.kind == "c" and op not in ("==", "!="):
            self.fail(node, "complex numbers have no order", f"`{ty}`", "compare `abs(z)`, or a part, `z.real`")
        if ty == INT and a.is_narrow and b.is_narrow:
            return f"{a.text} {op} {b.text}"
        if ty.is_int:
            for value, other in ((a, b), (b, a)):
                if value.const is not None and value.type == INT and not ty.holds(value.const):
                    return self._beyond(op if value is b else _mirrored(op), value.const, ty, other)
        by_value = _ints.compared(self, node, op, a, b)
        if by_value is not None:
            return by_value
        return f"{self.cast(a, ty, node).text} {op} {self.cast(b, ty, node).text}"

    def _of_tuples(self, node: Any, op: str, a: Value, b: Value) -> str:
        """Write whether two tuples are equal, or differ, or which one comes before the other."""
        if op not in ("==", "!="):
            return self.ordered_tuples(node, op, a, b)
        if a.parts is None or b.parts is None or len(a.parts) != len(b.parts):
            return "true" if op == "!=" else "false"
        tests = [f"({self.comparison(node, '==', x, y)})" for x, y in zip(a.parts, b.parts)]
        text = " && ".join(tests) or "true"
        return f"({text})" if op == "==" else f"(!({text}))"

    def _beyond(self, op: str, const: int, ty: Num, value: Value) -> str:
        """Compare a number with a constant that no value of its type reaches, if it is no constant itself."""
        # (Another constant may.)
        less = const > int(np.iinfo(ty.dtype).max) if value.const is None else value.const < const
        if value.const == const:
            return "true" if op in ("<=", ">=", "==") else "false"
        holds = {"<": less, "<=": less, ">": not less, ">=": not less, "==": False, "!=": True}[op]
        return "true" if holds else "false"

    def of_IfExp(self, node: ast.IfExp) -> Value:
        """Translate `a if c else b`."""
        known = self.known_by_dimensions(node.test)
        if known is not None:
            return self.expression(node.body if known else node.orelse)
        if not self.in_arm and self.needs_branches(node):
            return self.chosen_before(node)
        test = self.condition(node.test)
        self.in_arm += 1
        a, b = self.in_one_arm(node.body), self.in_one_arm(node.orelse)
        self.in_arm -= 1
        if a is None and b is None:
            return self.number(node.body)
        return self._either(node, test, a or b, b or a)

    def _either(self, node: ast.IfExp, test: Value, a: Value, b: Value) -> Value:
        """Give one of two numbers, or of two tuples."""
        if a.parts is None and b.parts is None:
            return self.choose(node, test, a, b)
        if a.parts is None or b.parts is None or len(a.parts) != len(b.parts):
            self.fail(node, "the two values are not alike", "tuples of as many numbers, or two numbers")
        test = test if _is_simple(test.text) or self.in_arm else self.keep(test)
        of = a.of if a.of is b.of else None
        return tuple_of((self._either(node, test, x, y) for x, y in zip(a.parts, b.parts)), of)

    def choose(self, node: Any, test: Value, a: Value, b: Value, mixes: bool = False) -> Value:
        """Give one of two numbers; a bool and a number have a common type if it `mixes` them, as numpy does."""
        a, b = self._as_number(node, a), self._as_number(node, b)
        ty = promote(a.type, b.type) if mixes or (a.type == BOOL) == (b.type == BOOL) else None
        if ty is None:
            bools = "convert the bool: `int(…)`" if BOOL in (a.type, b.type) else "convert one of them"
            self.fail(node, "the two values have no common type", f"`{a.type}` and `{b.type}`", bools)
        if ty == INT and a.is_narrow and b.is_narrow:
            text = f"({test.text} ? {a.text} : {b.text})"
            return Value(text, INT, test.uniform and a.uniform and b.uniform, min(a.low, b.low), max(a.high, b.high))
        self.in_arm += 1
        x, y = self.cast(a, ty, node), self.cast(b, ty, node)
        self.in_arm -= 1
        return Value(f"({test.text} ? {x.text} : {y.text})", ty, test.uniform and a.uniform and b.uniform)


def _beyond(a: Value, b: Value) -> int | None:
    """Give by how much an integer may be more than another is, at most, plus one; None if that is not known."""
    if a.below is None or b.equals is None or a.below[0] != b.equals[0]:
        return None
    return a.below[1] - b.equals[1]


def _interval(op: str, a: Value, b: Value) -> tuple[int, int]:
    """Give the least and greatest result of an operation on integers."""
    if op == "+":
        return a.low + b.low, a.high + b.high
    if op == "-":
        return a.low - b.high, a.high - b.low
    if op == "*":
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return min(ends), max(ends)
    if op == "//" and a.low >= 0 and b.low > 0:
        return a.low // b.high, a.high // b.low
    if op == "%" and b.low >= 0:
        # There is none of zero.
        return 0, max(min(b.high - 1, a.high) if a.low >= 0 else b.high - 1, 0)
    if op == "&" and (a.low >= 0 or b.low >= 0):
        return 0, min(v.high for v in (a, b) if v.low >= 0)
    if op in "|^" and a.low >= 0 and b.low >= 0:
        return 0, (1 << max(a.high, b.high).bit_length()) - 1
    if op == ">>" and b.const is not None and b.const >= 0:
        return a.low >> min(b.const, 63), a.high >> min(b.const, 63)
    return INT64


def _apart(op: str, a: Value, b: Value) -> frozenset[str]:
    """Give the indices with which the result of an operation on integers is another number for each."""
    if op == "*":
        varying, factor = (a, b) if b.const is not None else (b, a)
        # A product that wraps might be that of another number.
        few = varying.is_narrow and factor.is_narrow and factor.const not in (None, 0)
        return varying.apart if few and varying.type == factor.type == INT else frozenset()
    if op not in ("+", "-"):
        return frozenset()
    return a.apart if b.uniform else b.apart if a.uniform else frozenset()


def _wrapped(op: str, a: Value, b: Value) -> str | None:
    """Write the low 32 bits of a result in 64 where those of the operands make them, and are at hand; else None."""
    cut = lambda v: f"((int){v.text})" if v.uniform and v.type == INT else None  # noqa: E731
    x, y = (v.text if v.is_narrow else v.wrapped or cut(v) for v in (a, b))
    is_shift = op == "<<" and b.const is not None and 0 <= b.const < 32
    makes = op in ("+", "-", "*", "&", "|", "^") or is_shift
    return f"({x} {op} {y})" if makes and x is not None and y is not None else None


def _below(op: str, a: Value, b: Value) -> tuple[str, int] | None:
    """Give what a sum or difference of two integers is below."""
    for value, other in ((a, b), (b, a)) if op == "+" else ((a, b),):
        at = value.below or (value.equals and (value.equals[0], value.equals[1] + 1))
        if at is not None:
            return at[0], at[1] + (other.high if op == "+" else -other.low)
    return None


def _before(op: str, a: Value, b: Value) -> str | None:
    """Give what computes a result before the call; None if an operand is not known then."""
    x, y = a.before, b.before
    if x is None or y is None:
        return None
    is_known = op in _OF_LENGTHS or (op == "**" and b.const is not None and 0 <= b.const <= 16)
    return f"({x} {op} {y})" if is_known else None


def _equals(op: str, a: Value, b: Value) -> tuple[str, int] | None:
    """Give the length, and the offset from it, that a sum or difference is equal to."""
    for value, other in ((a, b), (b, a)) if op == "+" else ((a, b),):
        if value.equals is not None and other.const is not None:
            return value.equals[0], value.equals[1] + (other.const if op == "+" else -other.const)
    return None


def _is_power_of_two(value: Any) -> bool:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def _is_simple(text: str) -> bool:
    return text.replace("_", "").replace(".", "").isalnum()


def _mirrored(op: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)


def _written(node: ast.expr) -> int | None:
    """Give the integer that is written as `2**64 - 1` or the like, whose parts may have more than 64 bits."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub, ast.Pow, ast.LShift)):
        return None
    a, b = _written(node.left), _written(node.right)
    if a is None or b is None or not (0 <= b <= 64 or isinstance(node.op, (ast.Add, ast.Sub))):
        return None
    return int(_FOLDED[_OPERATORS[type(node.op)]](a, b))


def _power_help(node: Any) -> str:
    """Say how to write a power whose exponent may be negative."""
    operands = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])
    x, n = map(ast.unparse, operands) if len(operands) == 2 else ("x", "n")
    return f"`{n}` is negative; compute with floats: `float({x}) ** {n}`"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def element_help(value: Value) -> str | None:
    help = "take an element: `a[i]`; statements over all write to a part: `out[:] = a + 1`, `a[:] += 1`"
    if value.parts is not None:
        return "take one of them, `t[0]`; or make an array of them, `np.array(t)`"
    if not isinstance(value.type, Array):
        return None
    return help if value.type.ndim else f"take one of its fields, {', '.join(name for name, _ in value.type.of.fields)}"
