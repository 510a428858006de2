"""Which lambda of a file a function is.

A function knows the line in which its lambda begins. If there are several, the positions of its instructions say which
one it is (Python 3.11 and later), else the instructions themselves.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
from typing import Any, NamedTuple, NoReturn

from .._cache import remembered
from .._errors import CompileError
from . import _texts
from ._trees import walk


class Span(NamedTuple):
    """The bytes in which an expression begins in its first line, and behind which it ends in its last."""

    start: int
    end: int


def is_lambda(function: Any) -> bool:
    """Return whether a function was written as a `lambda`."""
    return inspect.isfunction(function) and function.__code__.co_name == "<lambda>"


def lines_of(function: Any) -> tuple[str, int, tuple[str, ...], Span]:
    """Give the file of a lambda, its first line's number, its lines, and where it begins and ends in them."""
    code = function.__code__
    try:
        lines = inspect.findsource(function)[0]
    except (OSError, TypeError):
        lines = []
    if not lines:
        unreadable(f"the lambda in line {code.co_firstlineno} of {code.co_filename}", code.co_filename)
    text = "".join(lines)
    try:
        tree = remembered(("file", text), lambda: ast.parse(text))
        here = [node for node in _lambdas(tree) if node.lineno == code.co_firstlineno]
    except (SyntaxError, ValueError):
        here = []
    if len(here) > 1:
        here = _by_positions(code, here) or _by_code(code, here, tree)
    if not here or not _texts.is_of_text(function, here[0]):
        changed("the lambda", function)
    node = here[0]
    found = tuple(lines[node.lineno - 1 : node.end_lineno])
    return code.co_filename, node.lineno, found, Span(node.col_offset, node.end_col_offset or 0)


def changed(what: str, function: Any) -> NoReturn:
    """Fail because the text at the place of a function is not its own."""
    code = function.__code__
    raise CompileError(
        f"line {code.co_firstlineno} of {code.co_filename} does not have {what} any more from which a kernel is made: "
        "the file has changed since it was imported; import it anew"
    ) from None


def unreadable(what: str, file: str) -> NoReturn:
    """Fail because the text of a function is not known."""
    if file.startswith("<"):
        why = (
            "Python keeps no text of what is given to `-c`, to `exec` or by standard input, nor before 3.13 of what is "
            "typed at its prompt"
        )
    else:
        why = f"there is no file {file} with it"
    raise CompileError(
        f"the text of {what} cannot be read, and kernels are compiled from it: {why}\n"
        '  help: write it in a file or in a cell of a notebook, or as an expression: `spmdvm.vectorize("x * x")`'
    ) from None


def parse(lines: tuple[str, ...], span: Span) -> ast.Lambda:
    """Read a lambda, of which the positions count from the first of its lines."""
    text = [line.encode() for line in lines]
    text[-1] = text[-1][: span.end]
    # In parentheses, lines may end where they like.
    text[0] = b" " * span.start + text[0][span.start :]
    tree = ast.parse(b"(\n" + b"".join(text) + b"\n)", mode="eval").body
    assert isinstance(tree, ast.Lambda)
    return ast.increment_lineno(tree, -1)


def _lambdas(tree: ast.AST) -> list[ast.Lambda]:
    return [node for node in walk(tree) if isinstance(node, ast.Lambda)]


def _by_positions(code: types.CodeType, nodes: list[ast.Lambda]) -> list[ast.Lambda]:
    """Give the innermost lambda that has all instructions in its body; nothing if they have no positions."""
    if not hasattr(code, "co_positions"):
        return []
    # (line, last line, column, column behind)
    known = [at for at in code.co_positions() if None not in at and (at[0], at[2]) != (at[1], at[3])]
    within = [node for node in nodes if all(_is_in(node.body, at) for at in known)]
    return sorted(within, key=lambda node: node.col_offset)[-1:] if known else []


def _is_in(node: ast.expr, at: tuple[int, int, int, int]) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= (at[0], at[2]) and (at[1], at[3]) <= end


def _by_code(code: types.CodeType, nodes: list[ast.Lambda], tree: ast.AST) -> list[ast.Lambda]:
    """Give a lambda that is compiled to the same code. If several are, they mean the same."""
    beyond = 1 + max(node.end_lineno or 0 for node in walk(tree) if isinstance(node, ast.stmt))
    for node in nodes:
        # In lines of its own, by which its code is known; those within it come behind it.
        copied = copy.deepcopy(tree)
        twin = next(b for a, b in zip(_lambdas(tree), _lambdas(copied)) if a is node)
        ast.increment_lineno(twin, beyond)
        whole = _texts.compiled(copied, code.co_filename)
        if whole is None:
            return []
        own = next((inner for inner in _texts.codes_in(whole) if inner.co_firstlineno == twin.lineno), None)
        if own is not None and _texts.is_same(own, code):
            return [node]
    return []
