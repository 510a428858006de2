"""Expressions that become statements, as it depends on a condition whether a part of them is computed.

That is nothing for an expression of the language where the part takes loops over arrays, draws, or changes arrays. So
`a if c else b`, `and`, `or` and `a < b < c` with such parts are computed before: a variable is assigned in branches.
"""

from __future__ import annotations

import ast
from typing import Any

from ._trees import children, walk
from ._values import Value

_CHOSEN, _OPERAND = "either__", "operand__"


class Steps:
    """Translates such expressions; `Body` has what it needs to know."""

    def needs_branches(self, value: ast.expr) -> bool:
        """Return whether it is `a if c else b` that takes statements: numbers by loops over arrays, draws, changes."""
        if not isinstance(value, ast.IfExp) or id(value) in self.elements:
            return False
        found = [self.loops_in(arm) for arm in (value.body, value.orelse)]
        return (None not in found and any(found)) or self.changes_arrays(value)

    def loops_in(self, node: ast.expr) -> bool | None:
        """Return whether a number takes loops over arrays, or is drawn; None if it is none, but has parts of arrays."""
        func = node.func if isinstance(node, ast.Call) else None
        draws = isinstance(func, ast.Attribute) and self.generator(func.value) is not None
        if draws or self.is_of_dict(node) or self.is_reduction(node) or self.goes_over_values(node):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return None
        found = [self.loops_in(each) for each in children(node) if isinstance(each, ast.expr)]
        return None if None in found else any(found)

    def chosen_before(self, node: ast.IfExp) -> Value:
        """Translate such a number within an expression: a variable that is assigned before."""
        target, load = self._variable(node, _CHOSEN)
        return self._of_statements(node, [self.in_two(node, node, lambda value: ast.Assign([target], value))], load)

    def in_two(self, node: Any, of: ast.IfExp, statement: Any) -> ast.If:
        """Give a statement with one of two values as two in branches."""
        arms = [[ast.copy_location(statement(arm), node)] for arm in (of.body, of.orelse)]
        return ast.copy_location(ast.If(of.test, *arms), node)

    def needs_steps(self, node: ast.expr) -> bool:
        """Return whether later operands take statements: they change arrays, or go over whole ones."""
        later = node.values[1:] if isinstance(node, ast.BoolOp) else node.comparators[1:]
        if self.in_arm or not later:
            return False
        return any(map(self.loops_in, later)) or self.changes_arrays(node)

    def in_steps(self, node: ast.BoolOp | ast.Compare, is_test: bool) -> Value:
        """Compute operands of which later ones may not be computed; as a test, each is one of its own."""
        target, load = self._variable(node, _CHOSEN)
        if isinstance(node, ast.BoolOp):
            parts = [_as_bool(part) if is_test else part for part in node.values]
            is_and = isinstance(node.op, ast.And)
            steps = [[ast.Assign([target], part)] for part in parts]
        else:
            names = [self._variable(part, _OPERAND) for part in (node.left, *node.comparators)]
            given = [ast.Assign([name], part) for (name, _), part in zip(names, (node.left, *node.comparators))]
            tests = (ast.Compare(a[1], [op], [b[1]]) for a, op, b in zip(names, node.ops, names[1:]))
            steps = [[each, ast.Assign([target], test)] for each, test in zip(given[1:], tests)]
            steps[0].insert(0, given[0])
            is_and = True
        test = load if is_and else ast.UnaryOp(ast.Not(), load)
        inner: list[ast.stmt] = []
        for step in reversed(steps):
            inner = [*step, *([ast.If(test, inner, [])] if inner else [])]
        return self._of_statements(node, inner, load)

    def _variable(self, node: ast.expr, stem: str) -> tuple[ast.Name, ast.Name]:
        """Give a variable of no name in Python, as it is assigned and read, by where it stands."""
        name = f"{stem}{node.lineno}_{node.col_offset}_{node.end_col_offset}"
        self.regions[-1].names.add(name)
        self.repeated.add(name)
        store, load = (ast.copy_location(ast.Name(name, context), node) for context in (ast.Store(), ast.Load()))
        return store, load

    def _of_statements(self, node: ast.expr, statements: list[ast.stmt], load: ast.Name) -> Value:
        """Translate statements within an expression, after which a variable has its value."""
        now, has_called = self.now, self.has_called
        for statement in statements:
            for each in walk(statement):
                if isinstance(each, (ast.expr, ast.stmt)) and not hasattr(each, "lineno"):
                    ast.copy_location(each, node)
            self.statement(self.compute_in_order(statement))
        self.now, self.has_called = now, has_called
        return self.keep(self.read_name(load))


def is_chosen(name: str) -> bool:
    """Return whether a variable has no name in Python, and what an expression gives."""
    return name.startswith((_CHOSEN, _OPERAND))


def _as_bool(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), ast.copy_location(ast.UnaryOp(ast.Not(), node), node)), node)
