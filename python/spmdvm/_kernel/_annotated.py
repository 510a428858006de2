"""What functions are annotated to return: results are converted to it, where nothing is lost but digits."""

from __future__ import annotations

import ast
import inspect
import typing
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _functions
from ._types import INT, Array, Num
from ._values import Value


@dataclass(frozen=True)
class ArrayOf:
    """An array; of numbers of a type, if that is told."""

    of: Num | None


# What an annotation tells of a result: its type, or those of several; `NOTHING` if there is none. None: it tells none.
Told = typing.Union[Num, ArrayOf, "tuple[Told, ...]", str, None]
NOTHING = "nothing"
_SILENT = (Any, object, tuple, np.ndarray)
_HELP = "use `np.float32`, `int`, `tuple[float, np.int32]`, `numpy.typing.NDArray[np.float32]` and so on"


def meaning(found: Any) -> Told:
    """Give what an annotation tells.

    Raises:
        TypeError: it names no type that functions in kernels return.
    """
    if found is None or found is type(None):
        return NOTHING
    if any(found is each for each in _SILENT) or (isinstance(found, np.dtype) and found.names):
        # (Records are another matter.)
        return None
    origin, arguments = typing.get_origin(found), typing.get_args(found)
    if hasattr(origin, "__value__"):
        # NDArray[…], which is an alias since numpy 2.5.
        found = origin.__value__[arguments]
        origin, arguments = typing.get_origin(found), typing.get_args(found)
    if origin is tuple:
        return None if Ellipsis in arguments else tuple(meaning(part) for part in arguments)
    if origin is np.ndarray:
        dtype = typing.get_args(arguments[1]) if len(arguments) > 1 else ()
        of = _functions.type_of(dtype[0]) if dtype else None
        if of is None and dtype and _is_of_numpy(dtype[0]):
            raise TypeError(f"{found!r} is no type of results")
        return ArrayOf(of)
    what, of = getattr(found, "what", ""), _functions.type_of(getattr(found, "of", found))
    if of is None:
        raise TypeError(f"{found!r} is no type of results")
    return ArrayOf(of) if what == "array" else of


def _is_of_numpy(found: Any) -> bool:
    """Return whether something is a class of numpy's for numbers, or of several such as `np.floating`."""
    return isinstance(found, type) and issubclass(found, np.generic) and found is not np.void


def is_known(found: Any) -> bool:
    """Return whether an annotation is one of results."""
    try:
        meaning(found)
    except TypeError:
        return False
    return True


def told(body: Any) -> Told:
    """Give what the annotation of the function that a body translates tells."""
    node = getattr(body.source.tree, "returns", None)
    if node is None or body.result is not None:
        return None
    known = body.source.returned
    found = _evaluated(body, node) if known is inspect.Signature.empty else known
    return meaning(found) if is_known(found) else refuse(body, node)


def refuse(body: Any, node: Any) -> typing.NoReturn:
    """Fail because an annotation names no type that functions in kernels return; of a body, or a source."""
    body.fail(node, f"`{ast.unparse(node)}` is no type of the results of kernels", "not known", _HELP)


def _evaluated(body: Any, node: Any) -> Any:
    """Give what an annotation stands for outside of the kernel."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.isidentifier():
        return _evaluated(body, ast.copy_location(ast.parse(node.value, mode="eval").body, node))
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        given = tuple(_evaluated(body, part) for part in parts)
        return _evaluated(body, node.value)[given if isinstance(node.slice, ast.Tuple) else given[0]]
    if isinstance(node, ast.BinOp):
        refuse(body, node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return body.resolve(ast.copy_location(ast.Name(node.value, ast.Load()), node))
    return body.resolve(node)


def converted(body: Any, node: Any, parts: Any, is_tuple: bool) -> list[Value]:
    """Convert what is returned to what the function is annotated to return."""
    what = told(body)
    if what is None:
        return list(parts)
    annotation, line = body.source.tree.returns, body.source.line(node).number
    several = what if isinstance(what, tuple) else (what,)
    if what == NOTHING or isinstance(what, tuple) != is_tuple or len(several) != len(parts):
        count = f"{len(parts)} values" if is_tuple else "a value"
        body.fail(annotation, f"line {line} returns {count}, and this tells of something else", "here")
    return [_converted(body, node, part, of) for part, of in zip(parts, several)]


def _converted(body: Any, node: Any, value: Value, what: Told) -> Value:
    annotation, line = body.source.tree.returns, body.source.line(node).number
    if isinstance(value.type, Array):
        of = value.type.of
        if what is None or (isinstance(what, ArrayOf) and what.of in (None, of)):
            return value
        help = f"convert it: `….astype(np.{what.of})`" if isinstance(what, ArrayOf) else None
        body.fail(annotation, f"line {line} returns an array of {of}, and this tells of something else", "here", help)
    if isinstance(what, ArrayOf) and body.uniform:
        body.fail(annotation, f"line {line} returns a number, and this tells of an array", "here")
    # An elementwise kernel gives an array of what it returns.
    ty = what.of if isinstance(what, ArrayOf) else what
    if ty is None:
        return value
    if not isinstance(ty, Num):
        body.fail(annotation, f"line {line} returns a number, and this tells of something else", "here")
    fits = value.type == INT and ty.is_int
    if not fits and not np.can_cast(value.type.dtype, ty.dtype, "same_kind"):
        name = ty.name if ty.weak or ty.name == "bool" else f"np.{ty}"
        help = f"convert it where it is returned: `{name}(…)`"
        body.fail(annotation, f"line {line} returns `{value.type}`, which is no `{ty}`", f"`{ty}`", help)
    return body.cast(value, ty, node)
