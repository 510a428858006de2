"""Functions that change arrays which they are given, and what is read of these in the same expression before.

An expression of arrays becomes a loop, and the functions in it that go over whole arrays are called before. What stands
in front of one that changes an array, and is computed of that, is computed in front of it, as Python does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Callable

from .._errors import CompileError
from ._plain import parameters
from ._scopes import Local, own_nodes
from ._usage import named_by, of_program, root_of, stored_to, values_in

# Of these expressions all parts are computed, from left to right.
_IN_ORDER = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Call,
    ast.Tuple,
    ast.List,
    ast.Subscript,
    ast.Attribute,
    ast.Slice,
    ast.keyword,
)


def taken_whole(function: Any) -> set[str]:
    """Give the parameters of a function that are arrays if they are given such, as it is called once for all elements.

    It changes them by `x *= 2` and its like; or it changes an array of a function around it. One that a condition asks
    about is a number: arrays are neither true nor false.
    """
    text = of_program(function)
    if text is None:
        return set()
    tree, lookup = text
    names, changed = {arg.arg for arg in parameters(tree)}, _changed(tree, lookup)
    if isinstance(function, Local) and changed - function.scope.bound:
        return names
    tests = (node.test for node in own_nodes(tree.body) if isinstance(node, (ast.If, ast.While, ast.IfExp)))
    return (names & changed).difference(*(values_in(test, lookup) for test in tests))


def _changed(tree: ast.FunctionDef, lookup: Callable[[str], Any], seen: AbstractSet[int] = frozenset()) -> set[str]:
    """Give the names that stand for arrays which a function changes, or that would if they stood for arrays."""
    found, own = stored_to(tree, lookup), set()
    for statement in tree.body:
        augmented = (node.target for node in own_nodes([statement]) if isinstance(node, ast.AugAssign))
        found |= {target.id for target in augmented if isinstance(target, ast.Name)} - own
        if isinstance(statement, ast.Assign) and not isinstance(statement.value, (ast.Name, ast.Subscript)):
            # From here on it is another array, of the function itself.
            own |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    nodes = list(own_nodes(tree.body))
    for node in nodes:
        if isinstance(node, ast.Call):
            found |= _changed_by(node, lookup, seen | {id(tree)})
    others = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    for node in reversed(others):
        # `y = x[1:]` is a part of the same array.
        if node.targets[0].id in found and isinstance(node.value, (ast.Name, ast.Subscript)):
            found |= {root_of(node.value)} - {None}
    return found


def _changed_by(node: ast.Call, lookup: Callable[[str], Any], seen: AbstractSet[int]) -> set[str]:
    """Give the names of the arrays that a call may change."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("sort", "fill"):
        return {root_of(node.func.value)} - {None}
    try:
        return changed_by(node, named_by(node.func, lookup), seen)
    except (KeyError, CompileError):
        # What is wrong with it is told when it is translated.
        return set()


def changed_by(node: ast.Call, function: Any, seen: AbstractSet[int] = frozenset()) -> set[str]:
    """Give the names of the arrays that a call of a function may change: those that it is given, or has from around."""
    text = of_program(function)
    if text is None or id(text[0]) in seen:
        return set()
    tree, lookup = text
    names, changed = [arg.arg for arg in parameters(tree)], _changed(tree, lookup, seen)
    given = [*zip(names, node.args), *((keyword.arg, keyword.value) for keyword in node.keywords)]
    roots = {root_of(arg) for name, arg in given if name in changed} - {None}
    return roots | (changed - function.scope.bound if isinstance(function, Local) else set())


class Effects:
    """Has expressions computed in order; `Body` has what is needed for it."""

    def compute_in_order(self, statement: ast.stmt) -> None:
        """Compute what a statement reads of arrays in front of the calls in it that change them."""
        at = statement.test if isinstance(statement, ast.If) else getattr(statement, "value", None)
        calls = [node for node in _always_computed(at) if isinstance(node, ast.Call)]
        found = [(call, changed) for call in calls if (changed := self._changed_by(call))]
        for part in ast.walk(at) if found else ():
            # A loop that is written out computes it again.
            self.elements.pop(id(part), None)
        for call, changed in found:
            self._compute_before(at, call, changed)

    def _changed_by(self, call: ast.Call) -> set[str]:
        """Give the arrays that a call of a function of the program changes."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)) or self.is_method(call):
            return set()
        names = changed_by(call, self._function_at(call.func))
        return self._arrays_named(ast.Name(name, ast.Load()) for name in sorted(names))

    def _arrays_named(self, nodes: Iterable[ast.AST]) -> set[str]:
        """Give the arrays that names stand for, or for parts of them."""
        names = {node.id for node in nodes if isinstance(node, ast.Name) and self._names_array(node.id)}
        values = (self.array_of(ast.Name(name, ast.Load())) for name in sorted(names))
        return {self._root_of(value.text) for value in values if value is not None}

    def _compute_before(self, node: ast.AST, call: ast.Call, changed: set[str]) -> None:
        """Compute what an expression reads of arrays in front of a call in it."""
        for part in _parts_of(node):
            if any(each is call for each in ast.walk(part)):
                return None if part is call else self._compute_before(part, call, changed)
            self._compute_now(part, changed)
        return None

    def _compute_now(self, node: ast.AST, changed: set[str]) -> None:
        """Compute an expression here, if it reads one of some arrays; names and parts of these stay what they are."""
        if not isinstance(node, ast.expr) or not self._arrays_named(ast.walk(node)) & changed:
            return
        if isinstance(node, (ast.Tuple, ast.List, ast.Slice)):
            for part in _parts_of(node):
                self._compute_now(part, changed)
        elif self.array_of(node) is None and self.is_of_elements(node):
            self.parts_of[id(node)] = node, self.copied(node, node)
        elif self.array_of(node) is None:
            self.elements[id(node)] = self.keep(self.expression(node))


def _parts_of(node: ast.AST) -> list[ast.AST]:
    """Give the parts of an expression that are computed, in their order."""
    if isinstance(node, ast.Call):
        # (Functions have no value here; `a.sum()` begins with `a`.)
        return [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args, *node.keywords]
    return list(ast.iter_child_nodes(node))


def _always_computed(node: ast.AST | None) -> Iterator[ast.AST]:
    """Give the parts of an expression that are computed whatever others give, in their order, and itself."""
    if not isinstance(node, _IN_ORDER):
        return
    for part in _parts_of(node):
        yield from _always_computed(part)
    yield node
