"""What functions are annotated with: the types of parameters, `array[…]`, `uniform[…]` and numpy's, and of results.

Results are converted to what is annotated, where nothing is lost but digits.
"""

from __future__ import annotations

import ast
import collections
import collections.abc
import inspect
import types
import typing
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from .._errors import CompileError
from . import _functions, _told
from ._plain import parameters
from ._source import Source
from ._tuples import is_named_tuple
from ._types import INT, Array, Num, Uniform, is_laid_out, record_of
from ._values import Form, Value

# What annotations of numpy's name that stands for several types.
_ABSTRACT = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
    np.complexfloating,
)  # fmt: skip


_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
# What says how something is used, but not of which type it is.
_PROTOCOLS = (
    collections.abc.Callable,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.MutableSequence,
    collections.abc.Sequence,
    collections.abc.Mapping,
    collections.abc.MutableMapping,
    collections.abc.Set,
    collections.Counter,
    collections.defaultdict,
    dict,
    frozenset,
    list,
    set,
)


class Annotation:
    """What `array[…]` and `uniform[…]` give."""

    def __init__(self, what: str, of: Any, ndim: int | None, or_none: bool = False) -> None:
        self.what, self.of, self.ndim = what, of, ndim
        # Whether None is taken, too.
        self.or_none = or_none

    def __call__(self, *_: Any) -> typing.NoReturn:
        """Refuse to be called. Until Python 3.11, annotations that are texts must stand for what can be."""
        raise TypeError(f"{self!r} is the type of a parameter of a kernel; make arrays with numpy")

    def __or__(self, other: Any) -> Any:
        """Give what `array[float32] | None` means."""
        return typing.Union[self, other]

    def __ror__(self, other: Any) -> Any:
        """Give what `None | array[float32]` means."""
        return typing.Union[other, self]

    def __repr__(self) -> str:
        name = getattr(self.of, "__name__", self.of)
        return f"{self.what}[{name}]" if self.ndim in (None, 1) else f"{self.what}[{name}, {self.ndim}]"


class array:
    """The type of an array parameter of a kernel: `array[float32]`, `array[float32, 2]` with two dimensions.

    The elements may be a structured dtype. Arrays are passed without a copy; they must be C-contiguous.
    """

    def __class_getitem__(cls, item: Any) -> Annotation:
        of, ndim = item if isinstance(item, tuple) else (item, 1)
        if not isinstance(ndim, int) or not 1 <= ndim <= 8:
            raise TypeError(f"array[T, n] takes a number of dimensions from 1 to 8, not {ndim!r}")
        _check_elements("array", of)
        return Annotation("array", of, ndim)


class uniform:
    """The type of a parameter of an elementwise kernel that is one number for all elements: `uniform[int32]`."""

    def __class_getitem__(cls, item: Any) -> Annotation:
        _check_elements("uniform", item)
        return Annotation("uniform", item, None)


def _check_elements(what: str, of: Any) -> None:
    """Refuse what is the type of no number or record.

    Raises:
        TypeError: it is none.
    """
    if _functions.type_of(of) is None and not (isinstance(of, np.dtype) and of.names is not None):
        shown = getattr(of, "__name__", repr(of))
        raise TypeError(f"{what}[{shown}]: `{what}` is of numbers, {what}[spmdvm.float32], or of a structured dtype")


def read(source: Source, function: Callable[..., Any]) -> tuple[dict[str, Annotation | None], np.dtype | None]:
    """Give what the parameters of a kernel are annotated with, and the dtype of the record that it returns, if told.

    What is annotated of other results is noted at the source.
    """
    try:
        hints = hints_of(function)
    except Exception as error:
        raise CompileError(f"the annotations of `{function.__name__}` cannot be read: {error}") from None
    found: dict[str, Annotation | None] = {}
    for node in parameters(source.tree):
        hint = hints.get(node.arg)
        found[node.arg] = None if hint is None else _of_parameter(source, node, hint)
    result = hints.get("return")
    if isinstance(result, np.dtype) and result.names is not None:
        if record_of(result) is None:
            node = source.tree.returns or source.tree
            source.fail(node, "the kernel returns a record of numbers", _told.record_described("a record", result))
        return found, result
    if "return" in hints and getattr(source.tree, "returns", None) is not None:
        # (What is not written there, but set on the function, tells nothing.)
        if not is_known(result):
            refuse(source, source.tree.returns)
        source.returned = result
    return found, None


def _of_parameter(source: Source, node: ast.arg, hint: Any) -> Annotation | None:
    """Give what a parameter is annotated with; None if that tells nothing."""
    hint, or_none = _without_none(hint)
    if hint in (Any, np.ndarray, str, type(None)) or typing.get_origin(hint) is typing.Literal:
        return None
    if _is_open(hint):
        return None
    if is_of_tuples(hint):
        return Annotation("tuple", tuple, None)
    alias = typing.get_origin(hint)
    if hasattr(alias, "__value__"):
        # NDArray[…], which is an alias since numpy 2.5.
        hint = alias.__value__[typing.get_args(hint)]
    annotation = hint if isinstance(hint, Annotation) else None
    if annotation is None and typing.get_origin(hint) is np.ndarray:
        dtype = typing.get_args(typing.get_args(hint)[1])
        annotation = Annotation("array", dtype[0] if dtype else None, None)
    if annotation is None:
        annotation = Annotation("number", hint, None)
    is_number = _functions.type_of(annotation.of) is not None
    is_record = is_of_records(annotation) and record_of(annotation.of) is not None
    if annotation.what == "array" and is_record and not is_laid_out(annotation.of):
        help = "make the dtype with align=True; elementwise kernels take records of any layout"
        source.fail(node.annotation or node, f"`{node.arg}` has no type of kernels", "not as in C", help)
    if is_of_records(annotation) and not is_record:
        told = _told.record_described("a record", annotation.of)
        source.fail(node.annotation or node, f"`{node.arg}` has no type of kernels", told)
    if not is_number and not is_record:
        help = (
            "use `np.float32`, `spmdvm.int32`, `int`, `float`, `spmdvm.array[spmdvm.float32]`, "
            "`numpy.typing.NDArray[np.float64]` and so on; `np.ndarray` takes arrays of any numbers"
        )
        note = "it stands for several types" if annotation.of in _ABSTRACT else "not known"
        source.fail(node.annotation or node, f"`{node.arg}` has no type of kernels", note, help)
    return Annotation(annotation.what, annotation.of, annotation.ndim, True) if or_none else annotation


def _without_none(hint: Any) -> tuple[Any, bool]:
    """Give what is annotated besides None, and whether None is."""
    parts = typing.get_args(hint) if typing.get_origin(hint) in _UNIONS else ()
    if type(None) not in parts:
        return hint, False
    return typing.Union[tuple(part for part in parts if part is not type(None))], True


def _is_open(hint: Any) -> bool:
    """Return whether an annotation leaves the type to what is passed: one of several types, or a protocol."""
    if isinstance(hint, Annotation):
        return False
    origin = typing.get_origin(hint) or hint
    return isinstance(hint, typing.TypeVar) or any(origin is each for each in (*_UNIONS, *_PROTOCOLS))


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Give the annotations of a function."""
    try:
        return typing.get_type_hints(function)
    except TypeError:
        # Until Python 3.11, those that are texts must stand for what can be called, as dtypes cannot.
        given = function.__annotations__.items()
        return {name: eval(hint, function.__globals__) if isinstance(hint, str) else hint for name, hint in given}


def is_of_tuples(hint: Any) -> bool:
    """Return whether an annotation is one of tuples: `tuple`, `tuple[int, int]`, a class that is a `NamedTuple`."""
    return hint is tuple or typing.get_origin(hint) is tuple or is_named_tuple(hint)


def is_of_records(annotation: Annotation | None) -> bool:
    """Return whether what is annotated is a record, or an array of them."""
    return annotation is not None and isinstance(annotation.of, np.dtype) and annotation.of.names is not None


def parameter_type(annotation: Annotation) -> Any:
    """Give the type of a parameter of an elementwise kernel."""
    ty = record_of(annotation.of) if is_of_records(annotation) else _functions.type_of(annotation.of)
    return Uniform(ty) if annotation.what == "uniform" else ty


# Results.


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
    found, _ = _without_none(found)
    if any(found is each for each in _SILENT) or is_named_tuple(found) or (isinstance(found, np.dtype) and found.names):
        # (Records are another matter.)
        return None
    origin, arguments = typing.get_origin(found), typing.get_args(found)
    if hasattr(origin, "__value__"):
        # NDArray[…], which is an alias since numpy 2.5.
        found = origin.__value__[arguments]
        origin, arguments = typing.get_origin(found), typing.get_args(found)
    if origin in _UNIONS or isinstance(found, typing.TypeVar):
        # One of several types.
        return None
    if found is list or origin in (list, collections.abc.Sequence, collections.abc.Iterable):
        # What is in them they tell themselves.
        return None
    if origin is tuple:
        return None if Ellipsis in arguments or not arguments else tuple(meaning(part) for part in arguments)
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
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return typing.Union[_evaluated(body, node.left), _evaluated(body, node.right)]
    if isinstance(node, ast.Constant) and node.value is None:
        return type(None)
    if isinstance(node, ast.BinOp):
        refuse(body, node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return body.resolve(ast.copy_location(ast.Name(node.value, ast.Load()), node))
    return body.resolve(node)


def converted(body: Any, node: Any, parts: Any, is_tuple: bool, form: Form | None) -> list[Value]:
    """Convert what is returned, all values of tuples, to what the function is annotated to return."""
    what = told(body)
    if what is None:
        return list(parts)
    annotation, line = body.source.tree.returns, body.source.line(node).number
    several = _leaves(what, form)
    if what == NOTHING or isinstance(what, tuple) != is_tuple or len(several) != len(parts):
        count = f"{len(parts)} values" if is_tuple else "a value"
        body.fail(annotation, f"line {line} returns {count}, and this tells of something else", "here")
    return [_converted(body, node, part, of) for part, of in zip(parts, several)]


def _leaves(what: Told, form: Form | None = None) -> tuple[Told, ...]:
    """Give what is told of each value; of a tuple or a list of tuples, of which nothing is told, that is nothing."""
    if what is None and form is not None:
        return (None,) * form.count
    if not isinstance(what, tuple):
        return (what,)
    forms = form.parts if form is not None and len(form.parts) == len(what) else (None,) * len(what)
    return tuple(leaf for part, of in zip(what, forms) for leaf in _leaves(part, of))


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
