"""`match` as `if` and `elif`: patterns of numbers, texts and None, of alternatives, names, and tuples of these.

What is matched is computed once. A name that a pattern gives stands in its guard for what it is given, and is assigned
in front of the statements of its case. Other patterns stay, and are an error where they are translated.
"""

from __future__ import annotations

import ast
import copy
from typing import Any, NamedTuple

from ._trees import walk


class _Case(NamedTuple):
    """What must hold for a pattern (nothing, if that is anything), and what its names stand for."""

    tests: list[ast.expr]
    names: list[tuple[str, ast.expr]]


class _Unknown(Exception):
    """A pattern is none of these."""


def as_branches(node: Any) -> list[Any]:
    """Give a `match` as branches, with the assignment of what is matched; itself, if it has other patterns."""
    before, subject = _subject(node)
    branches: list[Any] = []
    try:
        for case in reversed(node.cases):
            branches = [_branch(case, subject, branches)] if branches or not _is_any(case) else case.body
    except _Unknown:
        return [node]
    found = [*before, *branches]
    for statement in found:
        for each in walk(statement):
            if isinstance(each, (ast.expr, ast.stmt)) and not hasattr(each, "lineno"):
                ast.copy_location(each, node)
    return found


def _is_any(case: Any) -> bool:
    pattern = case.pattern
    return case.guard is None and isinstance(pattern, ast.MatchAs) and pattern.pattern is None and pattern.name is None


def _subject(node: Any) -> tuple[list[Any], ast.expr]:
    """Give what is matched, by names, and what assigns these before."""
    of = node.subject
    if isinstance(of, (ast.Name, ast.Constant)):
        return [], of
    stem = f"matched {node.lineno} {node.col_offset}"
    if not isinstance(of, ast.Tuple):
        return [ast.Assign([ast.Name(stem, ast.Store())], of)], ast.Name(stem, ast.Load())
    names = [f"{stem} {k}" for k in range(len(of.elts))]
    targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    loads: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names]
    return [ast.Assign([targets], of)], ast.Tuple(loads, ast.Load())


def _branch(case: Any, subject: ast.expr, others: list[Any]) -> Any:
    tests, names = _of_pattern(case.pattern, subject)
    body = [ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], of), case.pattern) for name, of in names]
    body += case.body
    if case.guard is not None:
        tests = [*tests, _Named(dict(names)).visit(copy.deepcopy(case.guard))]
    if not tests:
        return ast.copy_location(
            ast.If(ast.copy_location(ast.Constant(True), case.pattern), body, others), case.pattern
        )
    test = tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), case.pattern)
    return ast.copy_location(ast.If(test, body, others), case.pattern)


def _of_pattern(pattern: Any, of: ast.expr) -> _Case:
    def compared(op: ast.cmpop, value: ast.expr) -> _Case:
        return _Case([ast.copy_location(ast.Compare(of, [op], [ast.copy_location(value, pattern)]), pattern)], [])

    if isinstance(pattern, ast.MatchValue):
        return compared(ast.Eq(), pattern.value)
    if isinstance(pattern, ast.MatchSingleton) and pattern.value is None:
        return compared(ast.Is(), ast.Constant(None))
    if isinstance(pattern, ast.MatchAs):
        found = _Case([], []) if pattern.pattern is None else _of_pattern(pattern.pattern, of)
        return found if pattern.name is None else _Case(found.tests, [*found.names, (pattern.name, of)])
    if isinstance(pattern, ast.MatchOr):
        cases = [_of_pattern(each, of) for each in pattern.patterns]
        if any(case.names for case in cases):
            raise _Unknown
        if any(not case.tests for case in cases):
            return _Case([], [])
        tests = [case.tests[0] if len(case.tests) == 1 else ast.BoolOp(ast.And(), case.tests) for case in cases]
        return _Case([ast.copy_location(ast.BoolOp(ast.Or(), tests), pattern)], [])
    if not isinstance(pattern, ast.MatchSequence) or any(isinstance(p, ast.MatchStar) for p in pattern.patterns):
        raise _Unknown
    count = len(pattern.patterns)
    if isinstance(of, ast.Tuple):
        if len(of.elts) != count:
            raise _Unknown
        parts, tests = list(of.elts), []
    else:
        parts = [ast.Subscript(of, ast.Constant(k), ast.Load()) for k in range(count)]
        length = ast.Call(ast.Name("len", ast.Load()), [of], [])
        tests = [ast.Compare(length, [ast.Eq()], [ast.Constant(count)])]
    cases = [_of_pattern(each, part) for each, part in zip(pattern.patterns, parts)]
    return _Case([*tests, *(t for case in cases for t in case.tests)], [n for case in cases for n in case.names])


class _Named(ast.NodeTransformer):
    """Puts what names stand for in their place."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace a name."""
        return copy.deepcopy(self.names.get(node.id, node)) if isinstance(node.ctx, ast.Load) else node
