"""Going over the trees of functions: what translating a kernel spends most of its time on.

Contexts and operators are left out (`ast.Load`, `ast.Add`): all nodes share them, and who needs one asks its node.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

# Names of fields that hold no nodes that are gone over.
_WITHOUT_NODES = {"ctx", "op", "ops", "id", "attr", "kind", "type_comment", "is_async", "simple", "conversion", "level"}


class _Fields(dict):
    """The fields that may hold nodes, by the class of a node."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        without = {*_WITHOUT_NODES, "value"} if issubclass(kind, ast.Constant) else _WITHOUT_NODES
        fields = self[kind] = tuple(name for name in kind._fields if name not in without)
        return fields


_FIELDS = _Fields()


def children(node: ast.AST) -> list[Any]:
    """Give the nodes that a node consists of, as they stand in its fields."""
    found: list[Any] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def walk(node: ast.AST) -> list[Any]:
    """Give a node and all nodes in it, each level after the one around it."""
    found = [node]
    # (The list grows meanwhile.)
    for each in found:
        found += children(each)
    return found


def arms(node: ast.expr | None) -> list[ast.expr | None]:
    """Give the values of which an expression gives one: those of `a if … else b`, or itself."""
    return [*arms(node.body), *arms(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def own_nodes(statements: Iterable[Any]) -> list[Any]:
    """Give the nodes of a function's statements; of functions in it, those of their defaults."""
    found: list[Any] = []
    _add_own(statements, found)
    return found


def _add_own(nodes: Iterable[Any], found: list[Any]) -> None:
    for node in nodes:
        found.append(node)
        if isinstance(node, ast.FunctionDef):
            inner = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            inner = children(node)
        if inner:
            _add_own(inner, found)
