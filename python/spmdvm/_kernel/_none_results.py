"""Functions that return None in one way and a value in another, and dicts that are asked, as far as the text tells."""

from __future__ import annotations

import ast
from typing import Any, Callable

from ._scopes import Scope, jumps
from ._trees import arms, own_nodes


def returns_none_or_value(tree: Any, lookup: Callable[[str], Any], seen: frozenset[int] = frozenset()) -> bool:
    """Return whether a function returns None in one way, or ends without `return`, and a value in another."""
    if not isinstance(tree, ast.FunctionDef) or id(tree) in seen:
        return False
    nodes = own_nodes(tree.body)
    returned = [node.value for node in nodes if isinstance(node, ast.Return)]
    given = [arm for value in returned for arm in arms(value)]
    some = [value for value in given if not is_none(value)]
    if not some:
        return False
    if len(some) < len(given) or not always_leaves(tree.body):
        return True
    unset = {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and not hasattr(node, "is_unset")
        for target, value in _pairs(node)
        if isinstance(target, ast.Name) and any(map(is_none, arms(value)))
    }
    scope = Scope(tree)
    return any(
        (isinstance(value, ast.Name) and value.id in unset)
        or (isinstance(value, ast.Call) and calls_one(value, scope, lookup, seen | {id(tree)}))
        for value in some
    )


def calls_one(node: ast.Call, scope: Scope, lookup: Callable[[str], Any], seen: frozenset[int] = frozenset()) -> bool:
    """Return whether a call is one of such a function."""
    from ._usage import named_by, of_program

    if may_miss(node):
        return True
    inner = scope.function(node.func.id) if isinstance(node.func, ast.Name) else None
    if inner is not None:
        return returns_none_or_value(inner.tree, lookup, seen)
    if isinstance(node.func, ast.Name) and scope.is_variable(node.func.id):
        return False
    try:
        text = of_program(named_by(node.func, lookup))
    except Exception:
        # What is wrong with it is told when it is translated.
        return False
    return text is not None and returns_none_or_value(*text, seen)


def may_miss(node: ast.AST) -> bool:
    """Return whether a call is `d.get(k)`, `d.get(k, None)` or `d.pop(k, None)`: None if there is no such key."""
    func = node.func if isinstance(node, ast.Call) and not node.keywords else None
    if not isinstance(func, ast.Attribute) or func.attr not in ("get", "pop"):
        return False
    count = len(node.args)
    return (func.attr == "get" and count == 1) or (count == 2 and is_none(node.args[1]))


def always_leaves(statements: list[Any]) -> bool:
    """Return whether what stands behind statements is never executed, as far as the text tells."""
    for node in statements:
        if isinstance(node, (ast.Return, ast.Raise)):
            return True
        if isinstance(node, ast.If) and always_leaves(node.body) and always_leaves(node.orelse):
            return True
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless and not jumps(node.body, ast.Break):
            return True
        if isinstance(node, (ast.While, ast.For)) and not jumps(node.body, ast.Break) and always_leaves(node.orelse):
            return True
    return False


def is_none(node: ast.expr | None) -> bool:
    """Return whether what is returned or assigned is None."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _pairs(node: ast.Assign) -> list[tuple[ast.expr, ast.expr]]:
    found = []
    for target in node.targets:
        several = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        found += list(zip(target.elts, node.value.elts)) if several else [(target, node.value)]
    return found
