"""Statements of Python in plainer ones: what `:=` assigns is assigned before, a `lambda` is a `def`, `match` is `if`.

An assignment may go before its statement where it is executed exactly once whenever the statement is, and nothing
before it in the statement reads its variable or calls a function, which might see the difference. Elsewhere it stays,
and is an error.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from ._matches import as_branches
from ._trees import walk

# Fields of statements that are evaluated once, when the statement begins, in order.
_EVALUATED: dict[type, tuple[str, ...]] = {
    ast.Assign: ("value",),
    ast.AnnAssign: ("value",),
    ast.AugAssign: ("value",),
    ast.Return: ("value",),
    ast.Expr: ("value",),
    ast.If: ("test",),
    ast.For: ("iter",),
    ast.Assert: ("test",),
}


def plain(tree: ast.FunctionDef) -> ast.FunctionDef:
    """Rewrite the statements of a function."""
    tree.body = _statements(tree.body)
    return tree


def _statements(body: list[Any]) -> list[Any]:
    return [plainer for statement in body for plainer in _statement(statement)]


def _statement(statement: Any) -> list[Any]:
    if type(statement).__name__ == "Match":
        branches = as_branches(statement)
        return branches if branches == [statement] else _statements(branches)
    statement = _in_turn(statement)
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(statement, field, None)
        if isinstance(inner, list):
            setattr(statement, field, _statements(inner))
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        function = _function(statement)
        return [statement] if function is None else [function]
    functions = _Functions()
    for field in ("value", "test", "iter"):
        given = getattr(statement, field, None)
        if isinstance(given, ast.expr):
            setattr(statement, field, functions.visit(given))
    return [*functions.found, *_assigned_before(statement)]


def _in_turn(statement: Any) -> Any:
    """Give `if a and (x := b):` as one `if` in another, so that `x` is assigned where it is in Python."""
    test = statement.test if isinstance(statement, ast.If) and not statement.orelse else None
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return statement
    later = next((k for k, value in enumerate(test.values) if k > 0 and _has_assignment(value)), None)
    if later is None:
        return statement
    first, rest = (
        part[0] if len(part) == 1 else ast.copy_location(ast.BoolOp(ast.And(), part), test)
        for part in (test.values[:later], test.values[later:])
    )
    inner = ast.copy_location(ast.If(rest, statement.body, []), statement)
    return ast.copy_location(ast.If(first, [inner], []), statement)


def _has_assignment(node: ast.expr) -> bool:
    return any(isinstance(each, ast.NamedExpr) for each in walk(node))


def assigned_in_test(test: ast.expr) -> tuple[list[ast.Assign], ast.expr]:
    """Give what `:=` in a test of a comprehension assigns before, and what is tested then."""
    if not _has_assignment(test):
        return [], test
    test = copy.deepcopy(test)
    lifted = _Lifted(test)
    test = lifted.visit(test)
    return lifted.assignments, test


def _assigned_before(statement: Any) -> list[Any]:
    """Give a statement, and in front of it what `:=` assigns."""
    if isinstance(statement, ast.While):
        return [_loop(statement)]
    lifted = _Lifted(statement)
    for field in _EVALUATED.get(type(statement), ()):
        value = getattr(statement, field)
        if value is not None:
            setattr(statement, field, lifted.visit(value))
    return [*lifted.assignments, statement]


def _function(statement: ast.Assign) -> ast.FunctionDef | None:
    """Make `f = lambda …` the function that it is."""
    target, given = statement.targets[0], statement.value
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or not isinstance(given, ast.Lambda):
        return None
    return ast.copy_location(plain(as_function(given, target.id)), statement)


class _Functions(ast.NodeTransformer):
    """Gives the lambdas among the arguments of calls names: functions that stand before the statement."""

    def __init__(self) -> None:
        self.found: list[ast.FunctionDef] = []

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Leave what is in a lambda to itself."""
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Replace arguments."""
        self.generic_visit(node)
        node.args = [self._named(arg) for arg in node.args]
        for keyword in node.keywords:
            keyword.value = self._named(keyword.value)
        return node

    def _named(self, given: ast.expr) -> ast.expr:
        if not isinstance(given, ast.Lambda):
            return given
        function = plain(as_function(given, "lambda_"))
        # No name of Python's is that.
        function.name = f"<lambda_{given.lineno}_{given.col_offset}>"
        self.found.append(function)
        return ast.copy_location(ast.Name(function.name, ast.Load()), given)


def parameters(tree: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    """Give all parameters; those that are given by their names only come last."""
    return [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]


def all_parameters(tree: ast.FunctionDef | ast.Lambda) -> list[ast.arg]:
    """Give all parameters, with the one that takes what is left, `*rest`, at the end."""
    return [*parameters(tree), *([] if tree.args.vararg is None else [tree.args.vararg])]


def as_function(given: ast.Lambda, name: str) -> ast.FunctionDef:
    """Make a lambda a function with a name."""
    function = ast.parse(f"def {name}(): pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    function.args, function.body = given.args, [ast.copy_location(ast.Return(given.body), given.body)]
    return ast.copy_location(function, given)


def _loop(loop: ast.While) -> ast.While:
    """Make `while (x := …) …` a loop that is left where the condition does not hold."""
    several = isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
    parts = loop.test.values if several else [loop.test]  # type: ignore[attr-defined]
    lifts = [_Lifted(loop) for _ in parts]
    tests = [lifted.visit(part) for lifted, part in zip(lifts, parts)]
    # With `else`, it would matter how the loop is left.
    if not any(lifted.assignments for lifted in lifts) or loop.orelse:
        for lifted in lifts:
            lifted.undo()
        return loop
    body: list[ast.stmt] = []
    for lifted, test in zip(lifts, tests):
        leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        for node in (leave, leave.test, leave.body[0]):
            ast.copy_location(node, loop.test)
        body += [*lifted.assignments, leave]
    endless = ast.While(ast.Constant(True), [*body, *loop.body], [])
    ast.copy_location(endless.test, loop.test)
    return ast.copy_location(endless, loop)


class _Lifted:
    """What goes before a statement."""

    def __init__(self, statement: Any) -> None:
        self.assignments: list[ast.Assign] = []
        self._replaced: list[tuple[Any, str, int | None, Any]] = []
        self._read: set[str] = set()
        self._calls = False
        if isinstance(statement, ast.AugAssign):
            self._look(statement.target)

    def visit(self, node: Any) -> Any:
        """Lift what is in an expression that is evaluated, in the order in which it is; gives what stays."""
        if isinstance(node, ast.NamedExpr):
            return self._lift(node)
        if isinstance(node, (ast.BoolOp, ast.IfExp, ast.Compare)):
            # The first operand is evaluated in any case, and so is the second one of a comparison.
            self._fields(node)
            return node
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            self._look(node)
            return node
        for field, value in ast.iter_fields(node):
            if isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.AST):
                        self._put(node, field, i, item)
            elif isinstance(value, ast.AST):
                self._put(node, field, None, value)
        self._note(node)
        return node

    def undo(self) -> None:
        """Put back what was lifted."""
        for node, field, i, value in reversed(self._replaced):
            if i is None:
                setattr(node, field, value)
            else:
                getattr(node, field)[i] = value

    def _fields(self, node: Any) -> None:
        if isinstance(node, ast.IfExp):
            self._put(node, "test", None, node.test)
            self._look(node.body)
            self._look(node.orelse)
        elif isinstance(node, ast.BoolOp):
            self._put(node, "values", 0, node.values[0])
            for value in node.values[1:]:
                self._look(value)
        else:
            self._put(node, "left", None, node.left)
            self._put(node, "comparators", 0, node.comparators[0])
            for value in node.comparators[1:]:
                self._look(value)

    def _put(self, node: Any, field: str, i: int | None, value: Any) -> None:
        new = self.visit(value)
        if new is not value:
            self._replaced.append((node, field, i, value))
            if i is None:
                setattr(node, field, new)
            else:
                getattr(node, field)[i] = new

    def _lift(self, node: ast.NamedExpr) -> Any:
        name = node.target.id
        stays = name in self._read or self._calls
        self._put(node, "value", None, node.value)
        # Once assigned it counts as read, so that it is not assigned again in the same statement.
        self._read.add(name)
        if stays:
            return node
        target = ast.copy_location(ast.Name(name, ast.Store()), node.target)
        self.assignments.append(ast.copy_location(ast.Assign([target], node.value), node))
        return ast.copy_location(ast.Name(name, ast.Load()), node.target)

    def _look(self, node: Any) -> None:
        for inner in walk(node):
            self._note(inner)

    def _note(self, node: Any) -> None:
        if isinstance(node, ast.Name):
            self._read.add(node.id)
        elif isinstance(node, ast.Call):
            self._calls = True
