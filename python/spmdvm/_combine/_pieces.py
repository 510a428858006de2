"""Operators and mapping functions: what the caller gave, the types it gives, and its SPMD text.

A piece is a function of numbers. Kernels and expressions are translated by the compiler of kernels; functions of a
module stand in its text, which is put in front of ours.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import operator
from typing import Any

import numpy as np

from .._cache import remembered
from .._kernel import Kernel, _functions, _library
from .._kernel._anew import kernel_of
from .._kernel._body import Body
from .._kernel._decided import is_literal
from .._kernel._evaluate import kernel_of_source, vectorize
from .._kernel._instances import decided_for
from .._kernel._program import Param, Program
from .._kernel._source import Source
from .._kernel._types import BOOL, INT64, Num, of_dtype, of_value, promote, strong
from .._kernel._values import literal
from .._spmdvm import Function


class _Named:
    """An operator that has a name: an expression, and its neutral element."""

    def __init__(self, expression: str, kinds: str, of_bools: str) -> None:
        # The kinds of numbers that it takes, as numpy names them; what it is of bools.
        self.expression, self.kinds, self.of_bools = expression, kinds, of_bools


_NAMED = {
    "+": _Named("a + b", "iuf", "+"),
    "*": _Named("a * b", "iuf", "*"),
    "min": _Named("np.minimum(a, b)", "biuf", "&"),
    "max": _Named("np.maximum(a, b)", "biuf", "|"),
    "&": _Named("a & b", "biu", "&"),
    "|": _Named("a | b", "biu", "|"),
    "^": _Named("a ^ b", "biu", "^"),
}
_ALIASES = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}
# Functions that are the same, and those that make one number of many, which are meant for an operator.
_FUNCTIONS: dict[Any, str] = {
    np.add: "+", operator.add: "+", np.multiply: "*", operator.mul: "*",
    np.minimum: "min", builtins.min: "min", np.maximum: "max", builtins.max: "max",
    np.bitwise_and: "&", operator.and_: "&", np.bitwise_or: "|", operator.or_: "|",
    np.bitwise_xor: "^", operator.xor: "^",
}  # fmt: skip
_OF_MANY: dict[Any, str] = {
    builtins.sum: "+", np.sum: "+", math.fsum: "+", np.prod: "*", math.prod: "*", np.min: "min", np.max: "max",
    builtins.any: "or", np.any: "or", builtins.all: "and", np.all: "and",
}  # fmt: skip
_MEANT = {
    "sum": "+", "cumsum": "+", "plus": "+", "count": "+", "prod": "*", "product": "*", "cumprod": "*", "multiply": "*",
    "minimum": "min", "maximum": "max", "all": "and", "any": "or", "&&": "and", "||": "or",
}  # fmt: skip
NAMES = '"+", "*", "min", "max", "&", "|", "^" (or "add", "mul", "and", "or", "xor")'


def neutral_of(name: str, ty: Num) -> Any:
    """Give the neutral element of a named operator."""
    if ty == BOOL:
        return name in ("*", "min", "&")
    info = np.finfo if ty.kind == "f" else np.iinfo
    if name == "+":
        # 0 + -0 is 0, but -0 + x is x for every x.
        return -0.0 if ty.kind == "f" else 0
    if name == "*":
        return 1
    if name in ("min", "max"):
        return (np.inf if name == "min" else -np.inf) if ty.kind == "f" else getattr(info(ty.dtype), _OTHER[name])
    return ~ty.dtype.type(0) if name == "&" else 0


_OTHER = {"min": "max", "max": "min"}


class Piece:
    """A function of numbers.

    Attributes:
        name: its name, for messages.
        parameter: the parameter of ours that it was given for.
        key: what programs that contain it are found by.
        options: those of `compile` that it brings along.
    """

    name: str
    parameter: str
    key: Any
    options: dict[str, Any]

    def types(self, given: tuple[Num, ...]) -> tuple[list[Num], bool]:
        """Give the types of its results for some types (weak ones are Python's own), and whether it gives a tuple."""
        raise NotImplementedError

    def write(self, program: Program, name: str, given: tuple[Num, ...], wanted: list[Num], uniform: bool) -> list[str]:
        """Write a function of that name, which gives the wanted types (a `Several__` if they are several)."""
        raise NotImplementedError


class KernelPiece(Piece):
    """A kernel, or an expression."""

    def __init__(self, who: str, parameter: str, kernel: Kernel) -> None:
        """Refuse kernels of arrays."""
        self.who, self.parameter, self.kernel = who, parameter, kernel
        self.name, self.key, self.options = kernel.__name__, kernel, kernel._options
        if not kernel._is_decided:
            kernel._decide()
        if not kernel.is_elementwise:
            raise TypeError(
                f"{who}(): `{parameter}` takes a function of numbers, and the kernel `{self.name}` takes arrays"
            )
        for param in kernel._signature.parameters.values():
            if param.kind is param.VAR_POSITIONAL:
                raise TypeError(
                    f"{who}(): `{parameter}` takes a function with a fixed number of parameters, and the kernel "
                    f"`{self.name}` has `*{param.name}`"
                )
        for param, annotation in kernel._annotations.items():
            if annotation is not None and _functions.type_of(annotation.of) is None:
                raise TypeError(
                    f"{who}(): `{parameter}` takes a function of numbers, and `{param}` of the kernel `{self.name}` is "
                    "a record"
                )
            if annotation is not None and annotation.what == "uniform":
                raise TypeError(
                    f"{who}(): `{parameter}` takes a function of elements, and `{param}` of the kernel `{self.name}` "
                    "is one number for all (`spmdvm.uniform`)"
                )

    def _defaults(self, count: int) -> dict[str, Any]:
        """Give the defaults of the parameters behind so many, by their names."""
        return {p.name: p.default for p in list(self.kernel._signature.parameters.values())[count:]}

    def _param_types(self, given: tuple[Num, ...]) -> dict[str, Num]:
        """Give the types of all parameters: those that get elements, and those that keep defaults that are numbers."""
        names, annotations = self.kernel._names, self.kernel._annotations
        defaults = self._defaults(len(given))
        if len(names) < len(given) or inspect.Parameter.empty in defaults.values():
            raise TypeError(
                f"{self.who}(): `{self.parameter}` must take {_count(given)}, and the kernel `{self.name}` has "
                f"{len(names)} parameter{'s' * (len(names) != 1)}"
            )
        types = {}
        for name, ty in zip(names, [*given, *map(of_value, defaults.values())]):
            if name in defaults and is_literal(defaults[name]):
                continue
            if not isinstance(ty, Num):
                where = f"{self.who}(): `{self.parameter}`"
                raise TypeError(f"{where}: the default of `{name}` of the kernel `{self.name}` is no number")
            annotation = annotations[name]
            param = ty if annotation is None else _functions.type_of(annotation.of)
            assert param is not None
            if not ty.weak and not np.can_cast(ty.dtype, param.dtype, "safe"):
                raise TypeError(
                    f"{self.who}(): `{self.parameter}`: `{name}` of the kernel `{self.name}` is a {param}, and would "
                    f"be given {ty}, which does not cast to it safely; convert the array, or change the annotation"
                )
            types[name] = param
        return types

    def _body(self, program: Program, given: tuple[Num, ...], uniform: bool) -> tuple[Body, list[Num]]:
        kernel, types = self.kernel, self._param_types(given)
        params = [Param(name, ty, uniform or k >= len(given)) for k, (name, ty) in enumerate(types.items())]
        literals = {name: value for name, value in self._defaults(len(given)).items() if is_literal(value)}
        body = Body(program, decided_for(kernel, program, params, literals), params, kernel._lookup, uniform)
        body.translate()
        return body, list(types.values())

    def _constants(self, types: list[Num], count: int) -> list[str]:
        """Write the defaults of the parameters behind so many, but for None and texts."""
        numbers = (value for value in self._defaults(count).values() if not is_literal(value))
        return [literal(value, ty) for value, ty in zip(numbers, types[count:])]

    def types(self, given: tuple[Num, ...]) -> tuple[list[Num], bool]:
        """Translate it, if it was not before."""

        def translate() -> tuple[list[Num], bool]:
            body, _ = self._body(Program(), given, False)
            if not body.returns:
                raise TypeError(f"{self.who}(): `{self.parameter}`: the kernel `{self.name}` returns nothing")
            of = next((ty for ty in body.returns if ty.kind == "c"), None)
            if of is not None:
                raise TypeError(
                    f"{self.who}(): `{self.parameter}`: the kernel `{self.name}` gives {strong(of)}, and combinators "
                    "take bools, integers and floats; take a part, `z.real`, or give both"
                )
            return body.returns, body.returns_tuple

        found: tuple[list[Num], bool] = remembered(("types", self.kernel, given), translate)
        return found

    def write(self, program: Program, name: str, given: tuple[Num, ...], wanted: list[Num], uniform: bool) -> list[str]:
        """Translate it into the program."""
        body, types = self._body(program, given, uniform)
        inner = body.write_static(program.name(name))
        program.python_names[inner.name] = self.name
        returns = body.returns or []
        shape = "uniform " if uniform else ""
        params = ", ".join(f"{shape}{ty.spmd} a{k}" for k, ty in enumerate(given))
        casts = [_cast(f"a{k}", a, b, shape) for k, (a, b) in enumerate(zip(given, types))]
        args = ", ".join([*casts, *self._constants(types, len(given))])
        if not body.returns_tuple:
            (ty,) = wanted
            result = _cast(f"{inner.name}({args})", strong(returns[0]), ty, shape)
            return [f"static inline {shape}{ty.spmd} {name}({params}) {{ return {result}; }}"]
        result = f"{shape}{inner.name}_result r = {inner.name}({args});"
        values = [_cast(f"r.v{k}", strong(a), b, shape) for k, (a, b) in enumerate(zip(returns, wanted))]
        return [
            f"static inline {shape}{several(wanted)} {name}({params}) {{ {result} {_gives(values, wanted, shape)} }}"
        ]


class FunctionPiece(Piece):
    """An exported function of a module."""

    def __init__(self, who: str, parameter: str, function: Function) -> None:
        """Keep the function; a program that contains it contains its module's text."""
        self.who, self.parameter, self.function = who, parameter, function
        self.name = function.__name__
        module = function.__reduce__()[1][0]
        # What it is pickled as is what it is compiled from.
        _, (self.source, choices, self.includes, names, bounds, self.others) = module.__reduce__()
        self.key = (self.source, tuple(self.others), choices, repr(self.includes), repr(names), self.name)
        fuel, timeout, memory, task_threads = bounds
        given = dict(
            width=choices[0], engine=choices[1], fp=choices[2], sandbox_includes=choices[3],
            include_paths=self.includes, defines=dict(names[0]), no_warn=names[2], jit=dict(names[1]), check=names[3],
            fuel=fuel, timeout=timeout, memory=memory, task_threads=task_threads,
        )  # fmt: skip
        self.options = {name: value for name, value in given.items() if value not in (None, [], {})}

    def types(self, given: tuple[Num, ...]) -> tuple[list[Num], bool]:
        """Call it with arrays without elements."""
        try:
            result = self.function(*(np.empty(0, ty.dtype) for ty in given))
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{self.who}(): `{self.parameter}`: the function `{self.name}` cannot be called with {_count(given)} "
                f"of {' and '.join(dict.fromkeys(map(str, given)))}: {error}"
            ) from None
        ty = None if result is None else of_dtype(result.dtype)
        if not isinstance(ty, Num) or result.shape != (0,):
            raise TypeError(
                f"{self.who}(): `{self.parameter}`: the function `{self.name}` must take and return varying numbers, "
                f"as `export float {self.name}(float x)` does"
            )
        return [ty], False

    def write(self, program: Program, name: str, given: tuple[Num, ...], wanted: list[Num], uniform: bool) -> list[str]:
        """Write a call."""
        (ty,) = wanted
        shape = "uniform " if uniform else ""
        params = ", ".join(f"{shape}{t.spmd} a{k}" for k, t in enumerate(given))
        call = f"({ty.spmd}){self.name}({', '.join(f'a{k}' for k in range(len(given)))})"
        if uniform:
            call = f"extract({call}, 0)"
        return [f"static inline {shape}{ty.spmd} {name}({params}) {{ return {call}; }}"]


def _count(given: tuple[Num, ...]) -> str:
    return "one number" if len(given) == 1 else f"{len(given)} numbers"


def _cast(text: str, given: Num, wanted: Num, shape: str) -> str:
    return text if given.spmd == wanted.spmd else f"(({shape}{wanted.spmd}){text})"


def several(types: list[Num]) -> str:
    """Name the type of results of some types."""
    return types[0].spmd if len(types) == 1 else "Several__" + "_".join(ty.spmd for ty in types)


def declare(types: list[Num]) -> str:
    """Declare what `several` names."""
    fields = " ".join(f"{ty.spmd} v{k};" for k, ty in enumerate(types))
    return "" if len(types) == 1 else f"struct {several(types)} {{ {fields} }};"


def _gives(values: list[str], types: list[Num], shape: str) -> str:
    """Return values from a function."""
    if len(values) == 1:
        return f"return {values[0]};"
    stores = " ".join(f"s.v{k} = {value};" for k, value in enumerate(values))
    return f"{shape}{several(types)} s; {stores} return s;"


class Operator:
    """What combines two elements: a piece, of which the neutral element may be known.

    Attributes:
        piece: the function of the elements' parts, those of the left one first.
        named: the sign of a named operator, else None.
    """

    def __init__(self, who: str, given: Any, parts: int) -> None:
        """Find out what the caller gave."""
        self.who, self.given, self.parts = who, given, parts
        self.named = None
        if parts == 1 and _is_hashable(given):
            if given in _OF_MANY:
                told = _OF_MANY[given]
                raise TypeError(
                    f"{who}(): `op` combines two elements, and `{given.__name__}` takes all of them; write {told!r}"
                )
            given = _FUNCTIONS.get(given, given)
        if isinstance(given, str):
            self.named = _ALIASES.get(given, given)
            if self.named not in _NAMED:
                close = _MEANT.get(given)
                help = "one of your own is a function of two elements, lambda a, b: …, with its `neutral=`"
                help = help if close is None else f"did you mean {close!r}?"
                raise ValueError(f"{who}(): `op` is {given!r}, and the operators with a name are {NAMES}; {help}")
            if parts != 1:
                raise TypeError(
                    f"{who}(): `op` is {given!r}, which combines numbers, and the elements are {parts} numbers each; "
                    f"give a kernel of {2 * parts} parameters that returns {parts} values"
                )
            self.piece: Piece = KernelPiece(who, "op", vectorize(_NAMED[self.named].expression))
        else:
            self.piece = piece_of(who, "op", given, 2 * parts, f"{NAMES}, or a function of two elements")

    def is_exact(self, types: list[Num]) -> bool:
        """Return whether elements of these types give the same in any order, to the last bit."""
        return self.named is not None and types[0].kind != "f"

    def state(self, types: list[Num]) -> list[Num]:
        """Give the types that its operands have if the elements have these: those that it gives again."""
        if self.named is not None:
            types = [self._of_named(types[0])]
        for _ in range(4):
            given, _ = self.piece.types((*types, *types))
            if len(given) != len(types):
                raise TypeError(
                    f"{self.who}(): `op` must return {_count(tuple(types))} for elements of {_count(tuple(types))}, "
                    f"and `{self.piece.name}` returns {len(given)}"
                )
            wider = [promote(a, b) if (a == BOOL) == (strong(b) == BOOL) else None for a, b in zip(types, given)]
            found = ", ".join(map(str, given))
            if None in wider or any(
                a == b and b not in (strong(c), c) and not c.weak for a, b, c in zip(wider, types, given)
            ):
                raise TypeError(
                    f"{self.who}(): `op` must return what it takes, and `{self.piece.name}` makes {found} of two "
                    f"elements of {', '.join(map(str, types))}; convert them first, with `map=`"
                )
            if wider == types:
                return types
            types = [strong(ty) for ty in wider if ty is not None]
        raise TypeError(f"{self.who}(): `op`: `{self.piece.name}` returns another type for each type it is given")

    def _of_named(self, ty: Num) -> Num:
        assert self.named is not None
        named = _NAMED[self.named]
        if ty == BOOL:
            if "b" not in named.kinds:
                return INT64
            self.piece = KernelPiece(self.who, "op", vectorize(_NAMED[named.of_bools].expression))
        elif ty.kind not in named.kinds:
            raise TypeError(
                f"{self.who}(): `op` is {self.given!r}, which takes integers or bools, and the elements are {ty}; "
                "convert them, with `map=np.int64` for one"
            )
        return ty

    def neutral(self, given: Any, types: list[Num]) -> list[np.ndarray]:
        """Give the neutral element, each part an array of one number."""
        if given is None:
            if self.named is None:
                example = "neutral=0" if len(types) == 1 else f"neutral=({', '.join('0' * len(types))})"
                raise TypeError(
                    f"{self.who}(): `neutral` is missing: the element that leaves others as they are when "
                    f"`{self.piece.name}` combines it with them, such as `{example}` for a sum"
                )
            return [np.array([neutral_of(self.named, types[0])], types[0].dtype)]
        parts = given if isinstance(given, (tuple, list)) else (given,)
        if len(parts) != len(types):
            raise TypeError(
                f"{self.who}(): `neutral` must have {_count(tuple(types))}, as the elements have, and has {len(parts)}"
            )
        return [_number(self.who, part, ty) for part, ty in zip(parts, types)]


def _number(who: str, value: Any, ty: Num) -> np.ndarray:
    """Give a number as an array of one, without losing anything but digits behind the point."""
    wrong = f"{who}(): `neutral` is {value!r}, and the operator combines {ty}"
    if isinstance(value, (str, bytes)) or np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "biuf":
        raise TypeError(f"{wrong}; give one number")
    with np.errstate(all="ignore"):
        try:
            array = np.array([value]).astype(ty.dtype)
        except (OverflowError, TypeError, ValueError):
            raise ValueError(f"{wrong}, which does not hold it") from None
    same = array[0] == value or (value != value and array[0] != array[0])
    near = ty.kind == "f" and np.isfinite(value) == np.isfinite(array[0])
    if not (same or near):
        raise ValueError(f"{wrong}, which does not hold it")
    return array


def _is_hashable(given: Any) -> bool:
    """Return whether it may be a key; kernels and functions of modules are no functions of numpy."""
    return callable(given) and type(given).__hash__ is not None


def piece_of(who: str, parameter: str, given: Any, count: int, takes: str) -> Piece:
    """Find out what was given for an operator or a mapping function of so many numbers."""
    if isinstance(given, Kernel):
        return KernelPiece(who, parameter, given)
    if isinstance(given, Function):
        return FunctionPiece(who, parameter, given)
    if isinstance(given, str) and parameter != "op":
        return KernelPiece(who, parameter, _of_text(who, parameter, given))
    if _functions.find(given) is not None or _library.takes_numbers(given):
        names = ", ".join(f"a{k}" for k in range(count))
        return KernelPiece(who, parameter, _known(given, names))
    if inspect.isfunction(given):
        return KernelPiece(who, parameter, kernel_of(given, {}))
    what, help = f"a {type(given).__name__}", ""
    if isinstance(given, (int, float, str, type(None))):
        what = f"{given!r}"
    elif isinstance(given, functools.partial):
        help = "; write what it calls: lambda x: f(x, 2)"
    elif callable(given):
        what = f"`{getattr(given, '__qualname__', type(given).__name__)}`, which kernels do not know"
        help = "; write a function, with `def` or `lambda`"
    elif isinstance(given, (np.ndarray, list)):
        help = f"; it comes before the arrays: spmdvm.{who}(f, x)"
    raise TypeError(
        f"{who}(): `{parameter}` takes {takes} (a function with @spmdvm.kernel, or one that a module exports), not "
        f"{what}{help}"
    )


def _of_text(who: str, parameter: str, text: str) -> Kernel:
    """Make a kernel of an expression of the elements."""
    if text.strip().isidentifier():
        # It might be meant for a function, and would be an element.
        raise TypeError(
            f"{who}(): `{parameter}` takes a function or an expression, such as 'sqrt(x)', not the name {text!r} alone"
        )
    return vectorize(text)


def _known(function: Any, names: str) -> Kernel:
    """Make a kernel that calls a function of Python, `math` or numpy."""

    def make() -> Kernel:
        name = getattr(function, "__name__", "f")
        text = f"{name}({names})"
        kernel = kernel_of_source(text, Source.of_expression(text, name), names.split(", "), name, {})
        kernel._lookup = {name: function}.__getitem__
        return kernel

    kernel: Kernel = remembered(("known", function, names), make)
    return kernel


__all__ = ["NAMES", "FunctionPiece", "KernelPiece", "Operator", "Piece", "declare", "piece_of", "several"]
