"""Which types parameters have, where branches depend on that: `isinstance(x, float)`, `type(x) is int`.

It is known when a function is translated, so that the branch that is not taken is left out (`_decided`). What is known
of a parameter goes with its name, until something is assigned to it.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from ._trees import own_nodes, walk
from ._types import BOOL, Array, Num

_ASKING = ("isinstance", "type")


def type_key(name: str) -> str:
    """Give the name under which the class of a parameter is known."""
    return f"type of {name}"


def class_of(ty: Any) -> Any:
    """Give the class that a value has in Python, by its type in a kernel; None if that is not known."""
    if isinstance(ty, Array):
        return np.ndarray if ty.ndim else None
    if not isinstance(ty, Num):
        return None
    # (Arguments that are bools may be Python's or numpy's.)
    return bool if ty == BOOL else ty.weak_class if ty.weak else ty.dtype.type


def asked_types(tree: ast.AST) -> set[str]:
    """Give the names of which it is asked of which types they are."""
    calls = (node for node in walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    args = (node.args[0] for node in calls if node.func.id in _ASKING and node.args)
    return {arg.id for arg in args if isinstance(arg, ast.Name)}


def asks_types(tree: ast.FunctionDef) -> bool:
    """Return whether a function itself asks for types."""
    return any(asked_types(node) for node in own_nodes(tree.body) if isinstance(node, ast.Call))


def but_for_others(given: dict[str, Any], tree: ast.AST) -> dict[str, Any]:
    """Give what is known of parameters without the types that nobody asks for."""
    asked = {type_key(name) for name in asked_types(tree)}
    return {name: of for name, of in given.items() if name in asked or not name.startswith(type_key(""))}


def is_instance(cls: Any, asked: list[type]) -> bool:
    """Return whether a value of a class is one of some classes."""
    own = (bool, np.bool_) if cls is bool else (cls,)
    return any(issubclass(each, of) for each in own for of in asked)


def is_exactly(cls: Any, asked: list[type]) -> bool:
    """Return whether a class is one of some."""
    return cls in asked or (cls is bool and np.bool_ in asked)


class AskedTypes:
    """Decides what is asked about types; `_known` has what it needs to know."""

    def of_types(self, node: ast.Call) -> bool | None:
        """Give what `isinstance(x, T)` gives; None if that is not known."""
        if self.outside(node.func) is not builtins.isinstance or len(node.args) != 2 or node.keywords:
            return None
        cls, asked = self._class_at(node.args[0]), self._classes(node.args[1])
        if cls is None or asked is None:
            return None
        if cls is np.ndarray and any(of in (list, tuple) for of in asked):
            message = f"`{ast.unparse(node.args[0])}` is an array in a kernel, also if a list is passed"
            self.source.fail(node, message, "this asks for lists or tuples", "ask for `np.ndarray`, or for numbers")
        return is_instance(cls, asked)

    def of_type(self, a: ast.expr, op: ast.cmpop, b: ast.expr) -> bool | None:
        """Give what `type(x) is T` gives, also with `==` and `in`; None if that is not known."""
        if isinstance(a, ast.Call) and self.outside(a.func) is builtins.type and len(a.args) == 1:
            cls, asked = self._class_at(a.args[0]), self._classes(b)
        elif isinstance(b, ast.Call) and self.outside(b.func) is builtins.type and len(b.args) == 1:
            cls, asked = self._class_at(b.args[0]), self._classes(a)
        else:
            return None
        if cls is None or asked is None:
            return None
        return is_exactly(cls, asked) is isinstance(op, (ast.Is, ast.Eq, ast.In))

    def _class_at(self, node: ast.expr) -> Any:
        """Give the class of a parameter; None if it is not known."""
        if not isinstance(node, ast.Name):
            return None
        found = self.value(node)
        if found is None or isinstance(found, str):
            return type(found)
        of = self.state.get(type_key(node.id))
        return of if isinstance(of, type) else None

    def _classes(self, node: ast.expr) -> list[type] | None:
        """Give the classes that are asked for: one, a tuple of some, or `int | float`."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            several = [self._classes(each) for each in node.elts]
            return None if None in several else [of for each in several for of in each]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            both = [self._classes(node.left), self._classes(node.right)]
            return None if None in both else [*both[0], *both[1]]
        if isinstance(node, ast.Constant) and node.value is None:
            return [type(None)]
        found = self.outside(node)
        several = list(found) if isinstance(found, tuple) else [found]
        return several if all(isinstance(each, type) for each in several) else None
