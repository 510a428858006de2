"""Whether a function is what the text at its place says: files are edited while programs run that imported them."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator
from typing import Any

from .._cache import remembered
from ._wrappers import CHECKERS

_CODE = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount")

# In names of what tools write into functions when they are imported: pytest for `assert`, and checkers of types.
_INSTRUMENT = ("@py", *CHECKERS)


def is_of_text(function: Any, node: ast.FunctionDef | ast.Lambda) -> bool:
    """Return whether a function is the one that was found at its place in a text."""
    code = function.__code__
    own = _compiled_alone(node, code.co_freevars)
    if own is not None and is_same(own, code):
        return True
    # The whole text knows more: classes with private names, what is imported from `__future__`.
    text = "".join(inspect.findsource(function)[0])
    here = [own for own in remembered(("codes", text), lambda: _codes_of(text)) if _place(own) == _place(code)]
    is_instrumented = any(tool in name for name in code.co_names for tool in _INSTRUMENT)
    return any(is_instrumented or is_same(own, code) for own in here)


def is_same(a: types.CodeType, b: types.CodeType) -> bool:
    """Return whether two code objects do the same, wherever they stand."""
    if any(getattr(a, name) != getattr(b, name) for name in _CODE) or len(a.co_consts) != len(b.co_consts):
        return False
    # 1, 1.0 and True are equal, but not the same.
    return all(
        is_same(x, y)
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType)
        else type(x) is type(y) and repr(x) == repr(y)
        for x, y in zip(a.co_consts, b.co_consts)
    )


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Give a code object and those in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes_in(const)


def compiled(tree: ast.Module, file: str) -> types.CodeType | None:
    """Compile a file as Python and notebooks do; None if it is none."""
    try:
        return compile(tree, file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _codes_of(text: str) -> list[types.CodeType]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    whole = compiled(tree, "<text>")
    return [] if whole is None else list(codes_in(whole))


def _compiled_alone(node: ast.FunctionDef | ast.Lambda, free: tuple[str, ...]) -> types.CodeType | None:
    """Compile a function in another one that has the variables which it takes from around it."""
    statement: ast.stmt
    if isinstance(node, ast.Lambda):
        name, statement = "<lambda>", ast.Expr(node)
    else:
        name = node.name
        fields = {field: getattr(node, field) for field in node._fields}
        statement = ast.FunctionDef(**{**fields, "decorator_list": []})
    around = ast.parse("def around(): pass")
    assert isinstance(around.body[0], ast.FunctionDef)
    given: list[ast.stmt] = [ast.Assign([ast.Name(other, ast.Store())], ast.Constant(None)) for other in free]
    around.body[0].body = [*given, ast.copy_location(statement, node)]
    whole = compiled(ast.fix_missing_locations(around), "<text>")
    return None if whole is None else next((code for code in codes_in(whole) if code.co_name == name), None)
