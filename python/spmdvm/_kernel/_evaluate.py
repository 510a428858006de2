"""Kernels of expressions that are texts: `evaluate` and `vectorize`."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
import sys
import typing
from collections.abc import Mapping
from typing import Any, Callable

import numpy as np

from .._cache import remembered
from . import Kernel, _functions, _options, _told, kernel
from ._instead import close_to, meant
from ._source import Source
from ._trees import walk

_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "True": True, "False": False}
_MODULES = {"np": np, "numpy": np, "math": math}
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")


def vectorize(expression: str | Callable[..., Any], **options: Any) -> Kernel:
    """Make a kernel of an expression; its parameters are the names in it, in the order in which they occur.

    >>> import numpy as np, spmdvm
    >>> spmdvm.vectorize("x*x + 1")(np.arange(4))
    array([ 1,  2,  5, 10])

    Functions of `math` and numpy need no prefix. Options are those of `compile`.

    Like numpy's, it takes a function of numbers as well, and is `spmdvm.kernel` then:

    >>> spmdvm.vectorize(lambda x, limit: x if x < limit else limit)(np.arange(4), 2)
    array([0, 1, 2, 2])
    """
    if "otypes" in options:
        raise TypeError(
            "vectorize() has no option `otypes`; results have the types that numpy gives, those of functions what is "
            "annotated: `def f(x) -> np.float64`"
        )
    _options.check("vectorize", options)
    if inspect.isfunction(expression):
        found: Kernel = kernel(expression, **options)
        if not found.is_elementwise:
            raise TypeError(
                f"spmdvm.vectorize takes a function of numbers, and `{found.__name__}` goes through arrays itself; for "
                "such there is spmdvm.kernel"
            )
        return found
    if not isinstance(expression, str):
        told = _told.no_function(expression)
        raise TypeError(f"spmdvm.vectorize takes an expression as a string, or a function, not {told}")
    return kernel_of_text("vectorize", expression.strip(), options)


def evaluate(
    expression: str,
    names: typing.Mapping[str, Any] | None = None,
    /,
    *,
    out: Any = None,
    threads: int = 1,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Compute an expression of arrays and numbers in one go, without arrays for its parts.

    Its names are looked up in `names`, or where they are missing in the caller's variables.

    >>> import numpy as np, spmdvm
    >>> a, b = np.array([3.0, 5.0]), np.array([4.0, 12.0])
    >>> spmdvm.evaluate("sqrt(a*a + b*b)")
    array([ 5., 13.])

    Args:
        expression: a Python expression; functions of `math` and numpy need no prefix.
        names: arrays and numbers by name.
        out, threads, progress: as for functions of a module.
        options: those of `compile`.

    Raises:
        CompileError: it is no expression of numbers.
        NameError: a name is neither in `names` nor a variable of the caller.
        TypeError, ValueError: `names` is no mapping, or an option is wrong.
    """
    if not isinstance(expression, str):
        raise TypeError(f"spmdvm.evaluate takes a string, not {type(expression).__name__}")
    # (Tables of pandas and polars have columns by name.)
    if names is not None and not (isinstance(names, Mapping) or hasattr(names, "keys") or hasattr(names, "columns")):
        raise TypeError(f'evaluate(): names are a mapping, {{"x": x}}, not {type(names).__name__}')
    for name in options:
        if name not in _options.NAMES and re.search(rf"\b{name}\b", expression):
            raise TypeError(
                f"evaluate() has no option `{name}`; pass what names of the expression stand for as a mapping: "
                f'evaluate({expression!r}, {{"{name}": …}})'
            )
    expression = expression.strip()
    found = kernel_of_text("evaluate", expression, options)
    spaces: list[Any] = [{} if names is None else names]
    frame = sys._getframe(1)
    while frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:
        # Until Python 3.12 they are functions of their own.
        spaces.append(frame.f_locals)
        frame = frame.f_back
    spaces.extend((frame.f_locals, frame.f_globals))
    values = []
    for name in found._names:
        for space in spaces:
            if name in space:
                values.append(space[name])
                break
        else:
            known = {key for space in spaces for key in space if isinstance(key, str)}
            help = _meant(name) or (f"; {text}" if (text := meant(name, known)) else "")
            raise NameError(f"`{name}` in spmdvm.evaluate({expression!r}) is no variable here{help}")
    special = {} if out is None else {"out": out}
    if threads != 1:
        special["threads"] = threads
    if progress is not None and progress is not False:
        special["progress"] = progress
    if not values:
        raise TypeError(f"there is no variable in {expression!r}: Python computes it")
    try:
        return found(*values, **special)
    except (TypeError, ValueError, OverflowError) as error:
        # What was called is `evaluate`: the text is the kernel's name, and no function's.
        head, text = f"{found.__name__}()", str(error)
        if not text.startswith(head):
            raise
        raise type(error)(f"evaluate({found.__name__!r})" + text[len(head) :]) from None


def kernel_of_text(who: str, text: str, options: dict[str, Any]) -> Kernel:
    """Give the kernel of an expression, the same one for the same text; its parameters are the names in it."""
    _options.check(who, options)
    key = ("expression", text, _options.frozen(options))
    kernel: Kernel = remembered(key, lambda: _of_text(text, options))
    return kernel


def _of_text(text: str, options: dict[str, Any]) -> Kernel:
    what = text if len(text) <= 60 else text[:57] + "…"
    source = Source.of_expression(text, what)
    tree = source.tree
    called = {id(node.func) for node in walk(tree) if isinstance(node, ast.Call)}
    owners = {id(node.value) for node in walk(tree) if isinstance(node, ast.Attribute)}
    nodes = [node for node in walk(tree) if isinstance(node, ast.Name)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    names = (n for n in nodes if id(n) not in called and n.id not in _CONSTANTS)
    # (What is assigned within cannot stand there, which is told at its place.)
    own = {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
    found = [n.id for n in names if n.id not in own and not (id(n) in owners and n.id in _MODULES)]
    return kernel_of_source(text, source, list(dict.fromkeys(found)), what, options)


def kernel_of_source(text: str, source: Source, names: list[str], name: str, options: dict[str, Any]) -> Kernel:
    """Make an elementwise kernel of an expression, whose parameters are some of its names."""
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    kernel = Kernel.__new__(Kernel)
    kernel._text = text
    kernel.__name__ = kernel.__qualname__ = name
    kernel._prepare(source, _lookup_in_expression, inspect.Signature(parameters), options)
    kernel.__signature__ = kernel._whole_signature()
    return kernel


def _lookup_in_expression(name: str) -> Any:
    for owner in (
        _CONSTANTS,
        vars(np) if name not in ("min", "max", "round", "abs") else {},
        vars(math),
        vars(builtins),
    ):
        if name in owner:
            return owner[name]
    if name in _MODULES:
        return _MODULES[name]
    raise KeyError(name)


_lookup_in_expression.names = _functions.known_names  # type: ignore[attr-defined]


def _meant(name: str) -> str:
    """Give the function that a name may be meant for."""
    close = close_to(name, (*dir(math), "where", "clip", "minimum", "maximum"), 0.75)
    return "" if close is None else f"; is the function `{close}` meant?"
