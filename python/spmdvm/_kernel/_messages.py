"""The texts of `raise` and `assert`, which are put together when a kernel has failed.

A text is made by Python, of what is known outside of the program then: constants, and numbers that the kernel was
called with. If there is more in it, the program computes its values in front of the trap and hands them to the host
(`note`), which keeps them for the thread that runs: the trap comes at once, of the lowest of the lanes that are there,
whose values are the first.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import threading
from collections.abc import Iterable, Iterator
from typing import Any

from ._known import is_literal
from ._loops import Loops
from ._places import Told
from ._trees import walk
from ._types import BOOL, Array, Num
from ._values import Value, constants

# What is computed outside of the program, of numbers that are known there.
_OUTSIDE = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)
# What makes texts of what it is given.
_MAKERS = (str, repr, ascii, format, hex, oct, bin, chr)
_METHODS = frozenset(
    [
        "capitalize",
        "center",
        "format",
        "ljust",
        "lower",
        "lstrip",
        "rjust",
        "rstrip",
        "strip",
        "title",
        "upper",
        "zfill",
    ]
)


class _Noted(threading.local):
    """What the program of this thread has handed out last, and what it was passed where arrays were made of that."""

    values: list[Any] | None = None
    passed: dict[int, Any] | None = None


_noted = _Noted()


def note(*columns: Any) -> None:
    """Keep the values of the lowest lane; the program calls this."""
    _noted.values = [column[0] for column in columns]


def noted() -> list[Any] | None:
    """Take what was handed out; None if nothing was."""
    found, _noted.values = _noted.values, None
    return found


@contextlib.contextmanager
def passed_as(before: Iterable[Any], values: Iterable[Any]) -> Iterator[None]:
    """Know of arrays, for a call, of what they were made, which is what texts tell."""
    _noted.passed = {id(value): old for old, value in zip(before, values) if value is not old}
    try:
        yield
    finally:
        _noted.passed = None


def as_passed(value: Any) -> Any:
    """Give what was passed as an array."""
    return (_noted.passed or {}).get(id(value), value)


def host_of(tells: Iterable[str]) -> dict[str, Any]:
    """Give the option of the compiler that provides functions to which programs hand out values."""
    host = dict.fromkeys(tells, note)
    return {"host": host} if host else {}


class Messages(Loops):
    """Translates texts; `Body` has what it needs to know."""

    def message(self, what: str, node: ast.expr) -> tuple[ast.JoinedStr, dict[str, Any], list[Told], list[Value]]:
        """Give a text as an f-string, what names in it stand for outside, and what the program hands out for it."""
        try:
            making = _Making(self, what, False)
            made = making.piece(node)
        except _Computed:
            making = _Making(self, what, True)
            made = making.piece(node)
        if not isinstance(made, ast.JoinedStr):
            made = ast.JoinedStr([ast.copy_location(ast.FormattedValue(made, -1), node)])
        return made, making.outside, making.told, making.values

    def told_as(self, name: str, value: Value, written: str) -> Told:
        """Give what makes a value of the numbers that are handed out for it."""
        types = tuple(bool if leaf.is_python and leaf.type == BOOL else leaf.type for leaf in value.leaves)
        return Told(name, value.form, types, written)

    def hand_out(self, values: list[Value]) -> None:
        """Write that values are handed to the host."""
        types, given = [], []
        for value in values:
            of = value.type
            parts = [f"{value.text}.re", f"{value.text}.im"] if of.kind == "c" else [value.text]
            types += [_passed_as(of.part)] * len(parts)
            given += parts
        name = "_".join(("told__", *types))
        self.program.tells[name] = f'extern "C" void {name}({", ".join(f"{ty} v{k}" for k, ty in enumerate(types))});'
        self.emit(f"{name}({', '.join(given)});")

    def is_known_outside(self, node: ast.expr, outside: dict[str, Any], has_params: bool) -> bool:
        """Return whether a number is known when the kernel has failed; notes what names stand for.

        If it `has_params`, these are parameters of the kernel, too, that are not assigned.
        """
        is_given = has_params and self.identity is None
        numbers = {param.name for param in self.params if isinstance(param.type, Num)} if is_given else ()
        found: dict[str, Any] = {}
        for part in walk(node):
            if not isinstance(part, _OUTSIDE):
                return False
            if isinstance(part, ast.Name) and (part.id not in numbers or self.counts.get(part.id)):
                value = self.resolve(part) if self.read_name(part) is None else None
                if not isinstance(value, str) and constants(value) is None:
                    return False
                found[part.id] = value
        outside.update(found)
        return True

    def is_passed_array(self, node: ast.expr) -> bool:
        """Return whether an expression is an array that the kernel is passed, which is told as it is when it fails."""
        if not isinstance(node, ast.Name) or self.identity is not None or not self.is_uniform_here():
            return False
        param = next((param for param in self.params if param.name == node.id), None)
        is_array = param is not None and isinstance(param.type, Array) and isinstance(param.type.of, Num)
        return is_array and param.type.ndim > 0 and not self.counts.get(node.id)

    def text_named(self, node: ast.expr) -> str | None:
        """Give a text that is written, or that a name stands for outside; None of anything else."""
        found = self._found_at(node)
        return found if isinstance(found, str) else None


class _Computed(Exception):
    """There are values in a text that are known to the program only."""


class _Making:
    """Goes through one text: what makes texts stays for Python, and what stands in them is handed out."""

    def __init__(self, body: Any, what: str, hands_out: bool) -> None:
        """Begin; if it `hands_out` values, those are among them that the kernel was called with."""
        self.body, self.what, self.hands_out = body, what, hands_out
        self.outside: dict[str, Any] = {}
        self.told: list[Told] = []
        self.values: list[Value] = []

    def piece(self, node: ast.expr) -> ast.expr:
        """Go through a part, which is a text or a value."""
        known = self.body.text_named(node)
        if known is not None:
            return ast.copy_location(ast.Constant(known), node)
        if not self.is_text(node):
            return self._value(node)
        # (What is translated is asked for by which node it is, in the next pass, too.)
        made: Any = copy.copy(node)
        if isinstance(made, ast.JoinedStr):
            made.values = [self.piece(part) for part in made.values]
        elif isinstance(made, ast.FormattedValue):
            made.value = self.piece(made.value)
            made.format_spec = None if made.format_spec is None else self.piece(made.format_spec)
        elif isinstance(made, ast.BinOp):
            made.left, made.right = self.piece(made.left), self._operand(made)
        elif isinstance(made, ast.IfExp):
            made.test = self._value(made.test)
            count = len(self.values)
            made.body, made.orelse = self.piece(made.body), self.piece(made.orelse)
            if len(self.values) > count:
                help = "fail in an `if` for each of the texts"
                self.body.fail(node, "texts of which one is chosen have no values in them", "here", help)
        elif isinstance(made, ast.Call):
            self._call(made)
        return made

    def _operand(self, node: ast.BinOp) -> ast.expr:
        """Go through what stands behind an operator: behind `%` it may be several things."""
        if not isinstance(node.op, ast.Mod) or not isinstance(node.right, ast.Tuple):
            return self.piece(node.right)
        several = copy.copy(node.right)
        several.elts = [self.piece(part) for part in several.elts]
        return several

    def _call(self, made: ast.Call) -> None:
        if isinstance(made.func, ast.Attribute):
            made.func = copy.copy(made.func)
            made.func.value = self.piece(made.func.value)
        else:
            # Its name may be another one's there.
            self.outside[made.func.id] = self._maker(made.func)
        made.args = [self.piece(part) for part in made.args]
        made.keywords = [ast.keyword(keyword.arg, self.piece(keyword.value)) for keyword in made.keywords]

    def _maker(self, node: ast.expr) -> Any:
        """Give the function of Python that makes texts, if a name stands for one."""
        if not isinstance(node, ast.Name) or self.body.read_name(node) is not None:
            return None
        try:
            found = self.body.lookup(node.id)
        except KeyError:
            return None
        return next((maker for maker in _MAKERS if found is maker), None)

    def is_text(self, node: ast.expr) -> bool:
        """Return whether an expression is a text."""
        if isinstance(node, (ast.JoinedStr, ast.FormattedValue)) or self.body.text_named(node) is not None:
            return True
        if isinstance(node, ast.BinOp):
            either = isinstance(node.op, (ast.Add, ast.Mult)) and self.is_text(node.right)
            return either or (isinstance(node.op, (ast.Add, ast.Mod, ast.Mult)) and self.is_text(node.left))
        if isinstance(node, ast.IfExp):
            return self.is_text(node.body) or self.is_text(node.orelse)
        if not isinstance(node, ast.Call) or any(keyword.arg is None for keyword in node.keywords):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in _METHODS and self.is_text(node.func.value)
        return self._maker(node.func) is not None

    def _value(self, node: ast.expr) -> ast.expr:
        """Have a value handed out, unless it is known outside."""
        if isinstance(node, ast.Constant) and is_literal(node.value):
            return node
        if self.body.is_known_outside(node, self.outside, not self.hands_out) or self.body.is_passed_array(node):
            return node
        if not self.hands_out:
            raise _Computed
        value = self.body.expression(node)
        for leaf in value.leaves:
            if not isinstance(leaf.type, Num) or self.body.is_list_text(leaf.text):
                of, help = self._refused(node, leaf)
                self.body.fail(node, f"{of} is no part of the text of {self.what}", "here", help)
        leaves = [self.body.keep(leaf) if leaf.type.kind == "c" else leaf for leaf in value.leaves]
        told = self.body.told_as(f"told__{len(self.told)}", value, ast.unparse(node))
        self.told.append(told)
        self.values.extend(leaves)
        return ast.copy_location(ast.Name(told.name, ast.Load()), node)

    def _refused(self, node: ast.expr, value: Value) -> tuple[str, str]:
        """Say what a value is that is no number, and what to write instead."""
        name = ast.unparse(node)
        if self.body.is_list_text(value.text):
            return "a list", f"tell a part of it: `{{{name}[0]}}`, `{{len({name})}}`"
        if isinstance(value.type, Array):
            return "an array", f"tell a part of it: `{{{name}[0]}}`, `{{{name}.shape}}`"
        return f"`{value.type}`", "tell numbers of it"


def _passed_as(ty: Num) -> str:
    """Give the type of the language as which the host takes a number."""
    if ty == BOOL:
        return "bool"
    return "double" if ty.kind == "f" else "uint64" if ty.kind == "u" else "int64"
