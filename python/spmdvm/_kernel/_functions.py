"""What kernels call: functions of Python, `math` and numpy, conversions, and what looks at other lanes."""

from __future__ import annotations

import ast
import builtins
import cmath
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Callable, NoReturn

import numpy as np

from . import _bools, _complex, _instead, _ints, _library, _linear, _rounding, _sought
from ._imports import imported_by
from ._types import BOOL, COMPLEX, FLOAT, FLOAT64, INT, NUMBERS, Num, promote
from ._values import Value, constant, tuple_of


class InKernels:
    """Something that has a meaning in kernels only."""

    def __init__(self, name: str, doc: str) -> None:
        self.__name__ = name
        self.__doc__ = doc
        # Where pickling finds it.
        self.__module__ = "spmdvm"

    def __repr__(self) -> str:
        return f"<spmdvm.{self.__name__}, for kernels>"

    def __call__(self, *_: Any) -> NoReturn:
        raise TypeError(f"spmdvm.{self.__name__} is for kernels: functions decorated with @spmdvm.kernel")

    def __reduce__(self) -> str:
        return self.__name__


def _refuse(self: InKernels, *_: Any) -> NoReturn:
    raise TypeError(f"spmdvm.{self.__name__} has a value in kernels only: functions decorated with @spmdvm.kernel")


for _operator_name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor",
):  # fmt: skip
    setattr(InKernels, f"__{_operator_name}__", _refuse)
    setattr(InKernels, f"__r{_operator_name}__", _refuse)
for _operator_name in ("lt", "le", "gt", "ge", "neg", "pos", "invert", "abs", "int", "float", "index", "getitem"):
    setattr(InKernels, f"__{_operator_name}__", _refuse)

foreach = InKernels("foreach", "for i in foreach(n), for i, j in foreach(h, w): all elements at once, in any order.")
LANE = InKernels("lane", "The number of the lane that executes, from 0.")
_library.foreach = _linear.foreach = _sought.foreach = foreach
WIDTH = InKernels("width", "How many lanes there are.")
_ACROSS = {
    "reduce_add": "The sum of the values of all active lanes.",
    "reduce_min": "The least of the values of all active lanes.",
    "reduce_max": "The greatest of the values of all active lanes.",
    "any": "Whether the condition holds in some active lane.",
    "all": "Whether the condition holds in all active lanes.",
    "none": "Whether the condition holds in no active lane.",
    "broadcast": "The value of one lane: broadcast(x, lane).",
    "rotate": "The value of the lane so many further on, around the end: rotate(x, by).",
    "shift": "The value of the lane so many further on, and 0 beyond the ends: shift(x, by).",
    "shuffle": "The value of another lane, each lane's own: shuffle(x, lane).",
}
ACROSS = {name: InKernels(name, doc) for name, doc in _ACROSS.items()}

Call = Callable[[Any, Any, "list[Value]"], Value]
_KNOWN: dict[int, tuple[Any, Call]] = {}


def find(function: Any) -> Call | None:
    """Give what translates the call of a function; None if it is not known."""
    entry = _KNOWN.get(id(function))
    if entry is not None:
        return entry[1]
    ty = type_of(function) if isinstance(function, type) or _is_of_numba(function) else None
    return None if ty is None else lambda body, node, args: _conversion(body, node, args, ty)


def _is_of_numba(found: Any) -> bool:
    """Return whether something is a type of numba's, such as `numba.float32`: functions for it are kernels, too."""
    return (type(found).__module__ or "").startswith("numba.core.types")


def type_of(found: Any) -> Num | None:
    """Give the type of numbers that an annotation or a conversion names."""
    if _is_of_numba(found):
        return NUMBERS.get(getattr(found, "name", ""))
    if isinstance(found, str):
        return NUMBERS.get(found) or {"int": INT, "float": FLOAT, "complex": COMPLEX}.get(found) or _named(found)
    if found is bool or found is np.bool_:
        return BOOL
    if found is int:
        return INT
    if found is float:
        return FLOAT
    if found is complex:
        return COMPLEX
    if isinstance(found, type) and issubclass(found, np.generic):
        # Those that stand for several, such as `np.floating`, have none.
        return _named(found)
    return NUMBERS.get(found.name) if isinstance(found, np.dtype) else None


def _named(found: Any) -> Num | None:
    """Give the type that numpy has for a text, such as `"f4"`, or for a class."""
    try:
        return NUMBERS.get(np.dtype(found).name)
    except TypeError:
        return None


def known_names() -> list[str]:
    """Give the names of the functions of Python, `math` and numpy that are known."""
    return [function.__name__ for function in (*(entry[0] for entry in _KNOWN.values()), *_library.known())]


def instead(function: Any, name: str) -> str:
    """Give what to write instead of a function that is not known."""
    return _instead.function(function, name, known_names())


def names_of(lookup: Any) -> Iterable[str]:
    """Give the names that a lookup finds, as far as it tells."""
    # Functions in a kernel find what the kernel does.
    outer = getattr(getattr(lookup, "__self__", None), "lookup", lookup)
    tell = getattr(outer, "names", None)
    return () if tell is None else tell()


def lookup_of(function: Any) -> Callable[[str], Any]:
    """Give what finds names for a function: what it imports, and closes over, globals, built-ins."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))
    spaces = (function.__globals__, vars(builtins))
    variables = {*code.co_varnames, *code.co_cellvars}
    imported: list[dict[str, Any]] = []

    def lookup(name: str) -> Any:
        if name in variables:
            if not imported:
                imported.append(imported_by(function))
            if name in imported[0]:
                return imported[0][name]
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                # It has no value yet.
                raise KeyError(name) from None
        for space in spaces:
            if name in space:
                return space[name]
        raise KeyError(name)

    lookup.names = lambda: (*cells, *function.__globals__, *vars(builtins))  # type: ignore[attr-defined]
    return lookup


# How calls are translated.


def _take(body: Any, node: Any, args: list[Value], *counts: int) -> None:
    if len(args) not in counts:
        takes = " or ".join(str(count) for count in counts)
        body.fail(node, f"this function takes {takes} arguments", f"{len(args)} here")


def _conversion(body: Any, node: Any, args: list[Value], ty: Num) -> Value:
    _take(body, node, args, 1)
    # Floats go towards zero, as in Python.
    return body.convert(node, args[0], ty)


def float_type(body: Any, node: Any, args: list[Value]) -> Num:
    """Give the type in which numpy computes a function of floats."""
    types = [arg.type for arg in args]
    if len(types) > 1 and not any(ty.weak for ty in types):
        # The least float that holds each of them; an int8 and an uint8 have a float16, though together an int16.
        types = [_float_of(ty) if ty.is_int or ty == BOOL else ty for ty in types]
    ty: Num | None = types[0]
    for other in types[1:]:
        ty = promote(ty, other) if ty is not None else None
    if ty is None:
        told = " and ".join(f"`{arg.type}`" for arg in args)
        body.fail(node, "this function takes numbers of a common type", told, "convert them")
    return ty if ty.kind == "f" else FLOAT if ty == INT else _float_of(ty)


def _float_of(ty: Num) -> Num:
    return {8: NUMBERS["float16"], 16: NUMBERS["float32"]}.get(ty.bits, FLOAT64)


def _of_floats(spmd: str, arity: int) -> Call:
    """Translate a function of floats that gives a float."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, arity)
        ty = float_type(body, node, args)
        texts = (body.cast(arg, ty, node).text for arg in args)
        shape = "uniform " if all(arg.uniform for arg in args) else ""
        texts = (f"({shape}{ty.spmd}){text}" for text in texts)
        return Value(f"{spmd}({', '.join(texts)})", ty, all(arg.uniform for arg in args))

    return call


def _of_math(call: Call) -> Call:
    """Have small integers and bools be doubles, as functions of `math` make them; floats keep their precision."""

    def converted(body: Any, node: Any, args: list[Value]) -> Value:
        return call(body, node, [in_math(body, node, arg) for arg in args])

    return converted


def in_math(body: Any, node: Any, value: Value) -> Value:
    """Give what a function of `math` computes with: numpy's functions take floats of 16 and 32 bits for these types."""
    is_small = value.type == BOOL or (value.type.is_int and value.type.bits < 32)
    return body.convert(node, value, FLOAT64) if is_small else value


def _float_power(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate a power that numpy computes in doubles at least."""
    _take(body, node, args, 2)
    args = [arg if arg.type in (INT, FLOAT) else body.convert(node, arg, FLOAT64) for arg in args]
    return _of_floats("pow", 2)(body, node, args)


def _rint(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate the one rounding of numpy's that makes floats of integers."""
    _take(body, node, args, 1)
    (value,) = args
    ty = float_type(body, node, args)
    return _same("round")(body, node, args) if value.type.kind == "f" else body.convert(node, value, ty)


def _whole(spmd: str) -> Call:
    """Translate a rounding that gives an int of Python's."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        value = args[0]
        if value.type.is_int:
            return body.convert(node, value, INT)
        if value.type == BOOL:
            body.fail(node, "a bool is not rounded", "not a number", "convert it: `int(x)`")
        return Value(f"((int64){spmd}({value.text}))", INT, value.uniform)

    return call


def _same(spmd: str) -> Call:
    """Translate a rounding of numpy's, which gives its argument's type and leaves integers alone."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        value = args[0]
        if value.type == BOOL:
            body.fail(node, "a bool is not rounded", "not a number", "convert it: `int(x)`")
        return value if value.type.is_int else Value(f"{spmd}({value.text})", value.type, value.uniform)

    return call


def _predicate(spmd: str, of_int: bool) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        value = args[0]
        if value.type.kind == "c":
            return Value(f"py_c{spmd}({body.cast(value, value.type, node).text})", BOOL, value.uniform)
        # (No bool of Python's: that would be a number where it is added.)
        text = f"{spmd}({value.text})" if value.type.kind == "f" else "true" if of_int else "false"
        return Value(text, BOOL, value.uniform or value.type.kind != "f")

    return call


def _abs(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 1)
    value = _bools.as_int(args[0])
    if value.type == BOOL:
        return value
    if value.const is not None and value.type.weak:
        return constant(abs(value.const))
    if value.type.kind == "c":
        return _complex.magnitude(body, node, args)
    if value.type.kind == "u":
        return value
    x = body.cast(value, value.type, node)
    return Value(f"abs({x.text})", value.type, value.uniform)


def _extreme(op: str) -> Call:
    """Translate Python's `min` and `max`: the first of the least or greatest."""

    def known(args: list[Value], result: Value) -> Value:
        hosts = [arg.before for arg in args]
        pick = "min" if op == "<" else "max"
        is_known = None not in hosts and result.const is None
        return replace(result, host=f"_{pick}({', '.join(hosts)})") if is_known else result

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        if len(args) < 2:
            body.fail(node, "`min` and `max` compare two or more numbers in a kernel", "here", "loop over the elements")
        result = args[0]
        for arg in args[1:]:
            if result.type == arg.type == BOOL:
                result = _bools.extreme(op, result, arg)
                continue
            result, arg = _bools.as_int(result), _bools.as_int(arg)
            ty = promote(result.type, arg.type)
            if ty is None:
                body.fail(node, "these have no common type", f"`{result.type}` and `{arg.type}`", "convert one of them")
            if ty == INT and result.is_narrow and arg.is_narrow:
                pick = min if op == "<" else max
                low, high = pick(result.low, arg.low), pick(result.high, arg.high)
                text = f"{pick.__name__}({arg.text}, {result.text})"
                below = _below_of(op, result, arg)
                least, most = _reach_of(op, body, result, arg)
                uniform = result.uniform and arg.uniform
                result = Value(text, INT, uniform, low, high, below=below, least=least, most=most)
                continue
            open_ = next((v for v in (result, arg) if _ints.is_open(v, ty) and not _ints.is_assumed(body, v, ty)), None)
            if open_ is not None:
                # It need not fit if it is not the one.
                test = f"({body.comparison(node, op, arg, result)})"
                body.in_arm += 1
                a, b = body.cast(result, ty, node), body.cast(arg, ty, node)
                body.in_arm -= 1
                result = Value(f"({test} ? {b.text} : {a.text})", ty, result.uniform and arg.uniform)
                continue
            a, b = body.cast(result, ty, node), body.cast(arg, ty, node)
            # In SPMD text `min(b, a)` is `b < a ? b : a`: the first of Python's if they are equal, or one is NaN.
            text = f"{'min' if op == '<' else 'max'}({b.text}, {a.text})"
            result = Value(text, ty, a.uniform and b.uniform)
            if ty.is_int:
                pick = min if op == "<" else max
                low, high = pick(a.low, b.low), pick(a.high, b.high)
                least, most = _reach_of(op, body, a, b)
                result = replace(result, low=low, high=high, below=_below_of(op, a, b), least=least, most=most)
        return known(args, result) if result.type.is_int else result

    return call


def _below_of(op: str, a: Value, b: Value) -> tuple[str, int] | None:
    """Give a length, and an offset, that the least of two integers is below; None of the greatest."""
    found = (v.below or (v.equals and (v.equals[0], v.equals[1] + 1)) for v in (a, b))
    return next((at for at in found if at is not None), None) if op == "<" else None


def _reach_of(op: str, body: Any, a: Value, b: Value) -> tuple[str | None, str | None]:
    """Give between what the least or greatest of two integers is, beside numbers that are known anyway."""
    pick = "min" if op == "<" else "max"
    pairs = [[text for text in pair if text is not None] for pair in zip(body.reach(a), body.reach(b))]
    found = [f"{pick}({', '.join(pair)})" if len(pair) == 2 else None for pair in pairs]
    # The least is not above either, the greatest not below.
    at = 1 if op == "<" else 0
    found[at] = found[at] or (pairs[at][0] if pairs[at] else None)
    found = [None if text is None or len(text) > 200 else text for text in found]
    return found[0], found[1]


def _np_extreme(helper: str, spmd: str) -> Call:
    """Translate numpy's minimum and maximum, in which a NaN wins."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 2)
        ty = promote(args[0].type, args[1].type)
        if ty is None:
            body.fail(
                node, "these have no common type", " and ".join(f"`{a.type}`" for a in args), "convert one of them"
            )
        if ty.is_int and not ty.weak:
            # In numpy both have to fit.
            args = [body.cast(arg, ty, node) if _ints.is_open(arg, ty) else arg for arg in args]
        if ty.is_int or ty == BOOL:
            return _extreme("<" if spmd == "min" else ">")(body, node, args)
        a, b = (body.cast(arg, ty, node) for arg in args)
        uniform = a.uniform and b.uniform
        return body._helper(helper, ty, uniform, a, b)

    return call


def _clip(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 3)
    result = args[0]
    for bound, op, helper, spmd in ((args[1], ">", "py_maximum", "max"), (args[2], "<", "py_minimum", "min")):
        if not (result.type.is_int and bound.type == INT):
            result = _np_extreme(helper, spmd)(body, node, [result, bound])
            continue
        # As in numpy, an int of Python's may be beyond what the type holds, where it bounds nothing.
        low, high = _ints.bounds_of(result.type)
        beyond = bound.const is not None and (bound.const < low if op == ">" else bound.const > high)
        result = result if beyond else _extreme(op)(body, node, [result, bound])
    return result


def _where(body: Any, node: Any, args: list[Value]) -> Value:
    if len(args) == 1:
        help = "take the places along the one axis at once: `np.where(a > 0)[0]`"
        body.fail(node, "`np.where` takes a condition and two values in a kernel", "the condition alone", help)
    _take(body, node, args, 3)
    return body.choose(node, body.as_bool(node, args[0]), args[1], args[2], mixes=True)


def _sign(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 1)
    value = args[0]
    if value.type == BOOL:
        body.fail(node, "bools have no sign", "not a number", "convert it: `int(x)`")
    return body._helper("py_sign", value.type, value.uniform, body.cast(value, value.type, node))


def _operator(op: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 2)
        return body.operate(node, op, args[0], args[1])

    return call


def _divmod(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 2)
    a, b = (body.keep(arg) if not body.in_arm else arg for arg in args)
    return tuple_of([body.operate(node, "//", a, b), body.operate(node, "%", a, b)])


def _bit_count(ty: Num) -> Call:
    """Translate the number of bits of an integer's magnitude."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        if not args[0].type.is_int:
            body.fail(node, "bits of integers are counted", f"`{args[0].type}`")
        x = _abs(body, node, args)
        text = f"popcnt((uint64){body.cast(x, x.type, node).text})"
        if x.type.kind == "i" and x.type.bits < 64:
            # The least of the type has a magnitude that only the unsigned type holds.
            text = f"popcnt((uint64)(uint{x.type.bits}){body.cast(x, x.type, node).text})"
        return body.cast(Value(f"((int){text})", INT, x.uniform, 0, 64), ty, node)

    return call


def _square(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 1)
    x = body.cast(args[0], NUMBERS["int8"], node) if args[0].type == BOOL else args[0]
    return body.operate(node, "**", x, constant(2))


def _scaled(factor: float, of_floats: float | None = None) -> Call:
    """Translate a multiplication; `of_floats` is the factor for float32 and float16, if that is another one."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        ty = float_type(body, node, args)
        factors = {64: factor, 32: factor if of_floats is None else of_floats}
        # The factor has more digits than a half: numpy multiplies floats, and rounds the product.
        of = NUMBERS["float32"] if ty.bits == 16 else ty
        x, k = body.cast(body.cast(args[0], ty, node), of, node), body.cast(constant(factors[of.bits]), of, node)
        return body.cast(Value(f"({x.text} * {k.text})", of, x.uniform), ty, node)

    return call


def _logical(op: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 2)
        a, b = (body.as_bool(node, arg) for arg in args)
        return Value(f"({a.text} {op} {b.text})", BOOL, a.uniform and b.uniform)

    return call


def _logical_not(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 1)
    value = body.as_bool(node, args[0])
    return Value(f"(!{value.text})", BOOL, value.uniform)


def _log(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `math.log`, also with a base."""
    _take(body, node, args, 1, 2)
    log = _of_floats("log", 1)
    if len(args) == 1:
        return log(body, node, args)
    return body.operate(node, "/", *(log(body, node, [arg]) for arg in args))


def _log_of_complex(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `cmath.log`, also with a base."""
    _take(body, node, args, 1, 2)
    log = _as_complex(_complex.log, 1)
    if len(args) == 1:
        return log(body, node, args)
    return body.operate(node, "/", *(log(body, node, [arg]) for arg in args))


def _hypot(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `math.hypot` of any number of coordinates."""
    if not args:
        return constant(0.0)
    first, *others = args
    result = _of_floats("abs", 1)(body, node, [first])
    for other in others:
        result = _of_floats("hypot", 2)(body, node, [result, other])
    return result


def _unary(op: ast.unaryop) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        return body.unary(node, op, args[0])

    return call


def _itself(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 1)
    return args[0]


def _comparison(op: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 2)
        return Value(f"({body.comparison(node, op, *args)})", BOOL, args[0].uniform and args[1].uniform)

    return call


def _fmod(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate the remainder with the sign of the dividend, as C's, also of integers."""
    _take(body, node, args, 2)
    ty = promote(args[0].type, args[1].type)
    ty = NUMBERS["int8"] if ty == BOOL else ty
    if ty is None or not ty.is_int:
        return _of_floats("fmod", 2)(body, node, args)
    a, b = (body.cast(arg, ty, node) for arg in args)
    return Value(f"({a.text} % {b.text})", ty, a.uniform and b.uniform)


def _reciprocal(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 1)
    if args[0].type.kind not in "fc":
        body.fail(node, "the reciprocal of an integer is 0 or 1", f"`{args[0].type}`", "convert it: `float(x)`")
    return body.operate(node, "/", constant(1), args[0])


def _nextafter(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 2)
    ty = float_type(body, node, args)
    if ty.bits == 16:
        body.fail(node, "neighbours are known of float32 and float64", "`float16`", "convert it: `np.float32(x)`")
    a, b = (body.cast(arg, ty, node) for arg in args)
    return body._helper(f"py_nextafter_{ty.bits}", ty, a.uniform and b.uniform, a, b)


def _ldexp(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 2)
    ty, by = float_type(body, node, args[:1]), args[1]
    if not by.type.is_int:
        body.fail(node, "`ldexp` takes a float and an integer", f"`{by.type}`", "convert it: `int(x)`")
    x, shape = body.cast(args[0], ty, node), "uniform " if by.uniform else ""
    power = by.text
    if not by.is_narrow:
        # From there on all is zero or infinite.
        power = f"(int)max(min(({shape}int64){body.cast(by, by.type, node).text}, 100000ll), -100000ll)"
    return Value(f"ldexp({x.text}, {power})", ty, x.uniform and by.uniform)


def _ldexp_of_math(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 2)
    return _ldexp(body, node, [in_math(body, node, args[0]), args[1]])


def _round(body: Any, node: Any, args: list[Value]) -> Value:
    if len(args) == 1:
        return _whole("round")(body, node, args)
    return _rounding.rounded_as_python(body, node, args)


def _varying(body: Any, node: Any, value: Value) -> str:
    if body.is_uniform_here():
        body.fail(node, "there are no lanes outside of `foreach`", "here")
    x = body.cast(value, value.type, node)
    return f"((varying {value.type.spmd}){x.text})"


def _reduce(name: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        ty = args[0].type
        if ty == BOOL:
            body.fail(node, "bools are not added or compared", "convert: `int(x)`")
        return Value(f"(({ty.spmd}){name}({_varying(body, node, args[0])}))", ty, True)

    return call


def _vote(name: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        return Value(f"{name}({_varying(body, node, body.as_bool(node, args[0]))})", BOOL, True)

    return call


def _of_lane(name: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 2)
        at = args[1]
        if not at.type.is_int:
            body.fail(node, f"`{name}` takes an integer", f"`{at.type}`")
        if name != "shuffle" and not at.uniform:
            body.fail(node, f"`{name}` takes the same number in all lanes", "this differs from lane to lane")
        x = _varying(body, node, args[0])
        index = at.text if at.is_narrow else f"(int){at.text}"
        return Value(f"{name}({x}, {index})", args[0].type, False)

    return call


def _of_reals(call: Call) -> Call:
    """Have a function refuse complex numbers."""

    def checked(body: Any, node: Any, args: list[Value]) -> Value:
        if isinstance(node, ast.Call):
            body.refuse_complex_in(node, args)
        return call(body, node, args)

    return checked


def _either(of_reals: Call, of_complex: Call) -> Call:
    """Translate a function that is another one of complex numbers."""

    def call(body: Any, node: Any, args: list[Value]) -> Value:
        is_complex = len(args) == 1 and args[0].type.kind == "c"
        return (of_complex if is_complex else of_reals)(body, node, args)

    return call


def _as_complex(call: Call, count: int) -> Call:
    """Translate a function of `cmath`, which takes real numbers too."""

    def converted(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, count)
        given = [body.cast(arg, promote(arg.type, COMPLEX), node) for arg in args]
        return call(body, node, given)

    return converted


def _complex_of(body: Any, node: Any, args: list[Value]) -> Value:
    """Translate `complex`, of one number or of both parts."""
    _take(body, node, args, 0, 1, 2)
    if len(args) < 2:
        return body.convert(node, args[0] if args else constant(0), COMPLEX)
    if any(arg.type.kind == "c" for arg in args):
        body.fail(node, "the parts of a complex number are real", "one of these is not", "add them: `a + 1j * b`")
    if all(arg.const is not None for arg in args):
        return constant(complex(*(float(arg.const) for arg in args)))
    re, im = (body.cast(arg, FLOAT, node) for arg in args)
    return Value(f"{_complex.maker(COMPLEX)}({re.text}, {im.text})", COMPLEX, re.uniform and im.uniform)


def _rect(body: Any, node: Any, args: list[Value]) -> Value:
    _take(body, node, args, 2)
    return _complex.rect(body, node, args)


def _part(which: str) -> Call:
    def call(body: Any, node: Any, args: list[Value]) -> Value:
        _take(body, node, args, 1)
        return _complex.part_of(body, args[0], which)

    return call


def _know(call: Call, *functions: Any, complex: bool = False) -> None:
    """Note what translates functions, and whether they take complex numbers."""
    for function in functions:
        if function is not None:
            _KNOWN[id(function)] = (function, call if complex else _of_reals(call))


def _fill() -> None:
    for name in ("erf", "erfc"):
        _know(_of_math(_of_floats(name, 1)), getattr(math, name))
    same = "sqrt exp exp2 expm1 log2 log10 log1p sin cos tan sinh cosh tanh cbrt"
    for name in same.split():
        of_complex = {"exp": _complex.exp, "sqrt": _complex.sqrt}.get(name)
        of_floats = _of_floats(name, 1)
        _know(_of_math(of_floats), getattr(math, name, None))
        of_numpy = of_floats if of_complex is None else _either(of_floats, of_complex)
        _know(of_numpy, getattr(np, name), complex=of_complex is not None)
    of_cmath = {"exp": _complex.exp, "sqrt": _complex.sqrt, "phase": _complex.angle, "polar": _complex.polar}
    for name, call in of_cmath.items():
        _know(_as_complex(call, 1), getattr(cmath, name), complex=True)
    for name in ("isnan", "isinf", "isfinite"):
        _know(_as_complex(_predicate(name, False), 1), getattr(cmath, name), complex=True)
    _know(_rect, cmath.rect)
    _know(_as_complex(_complex.angle, 1), np.angle, complex=True)
    _know(_complex_of, complex, complex=True)
    _know(_part("imag"), np.imag, complex=True)
    for ours, numpys in {
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
    }.items():
        _know(_of_math(_of_floats(ours, 1)), getattr(math, ours))
        _know(_of_floats(ours, 1), getattr(np, numpys))
    for name in ("atan2", "copysign", "fmod", "pow"):
        _know(_of_math(_of_floats(name, 2)), getattr(math, name))
    for ours, numpys in {"atan2": "arctan2", "copysign": "copysign", "hypot": "hypot"}.items():
        _know(_of_floats(ours, 2), getattr(np, numpys))
    _know(_float_power, np.float_power)
    for name in ("floor", "ceil", "trunc"):
        _know(_whole(name), getattr(math, name))
        _know(_same(name), getattr(np, name))
    _know(_of_math(_log), math.log)
    _know(_either(_of_floats("log", 1), _complex.log), np.log, complex=True)
    _know(_log_of_complex, cmath.log, complex=True)
    _know(_of_math(_hypot), math.hypot)
    _know(_rint, np.rint)
    _know(_same("trunc"), np.fix)
    _know(_rounding.rounded, np.round, np.around)
    _know(_unary(ast.USub()), np.negative, complex=True)
    _know(_unary(ast.UAdd()), np.positive, complex=True)
    _know(_unary(ast.Invert()), np.invert)
    _know(_either(_itself, _complex.conj), np.conjugate, complex=True)
    _know(_part("real"), np.real, complex=True)
    _know(_fmod, np.fmod)
    _know(_reciprocal, np.reciprocal, complex=True)
    _know(_ldexp_of_math, math.ldexp)
    _know(_ldexp, np.ldexp)
    _know(_nextafter, np.nextafter, getattr(math, "nextafter", None))
    _know(_round, round)
    _know(_abs, abs, np.abs, np.absolute, complex=True)
    _know(_of_math(_of_floats("abs", 1)), math.fabs)
    _know(_of_floats("abs", 1), np.fabs)
    _know(_predicate("isnan", False), math.isnan)
    _know(_predicate("isnan", False), np.isnan, complex=True)
    _know(_predicate("isinf", False), math.isinf)
    _know(_predicate("isinf", False), np.isinf, complex=True)
    _know(_predicate("isfinite", True), math.isfinite)
    _know(_predicate("isfinite", True), np.isfinite, complex=True)
    _know(_extreme("<"), min)
    _know(_extreme(">"), max)
    _know(_np_extreme("py_minimum", "min"), np.minimum)
    _know(_np_extreme("py_maximum", "max"), np.maximum)
    _know(_clip, np.clip)
    _know(_where, np.where, complex=True)
    _know(_sign, np.sign)
    _know(_square, np.square, complex=True)
    _know(_divmod, divmod, np.divmod)
    _know(_bit_count(INT), getattr(int, "bit_count", None))
    _know(_bit_count(NUMBERS["uint8"]), getattr(np, "bitwise_count", None))
    _know(_of_math(_scaled(math.pi / 180)), math.radians)
    _know(_scaled(math.pi / 180), np.radians, np.deg2rad)
    _know(_of_math(_scaled(180 / math.pi)), math.degrees)
    # numpy divides floats, by which the factor is the next one.
    _know(_scaled(180 / math.pi, float(np.float32(180) / np.float32(np.pi))), np.degrees, np.rad2deg)
    for op, functions in {
        "+": (np.add,),
        "-": (np.subtract,),
        "*": (np.multiply,),
        "/": (np.divide, np.true_divide),
        "//": (np.floor_divide,),
        "%": (np.mod, np.remainder),
        "**": (np.power, pow),
        "&": (np.bitwise_and,),
        "|": (np.bitwise_or,),
        "^": (np.bitwise_xor,),
        "<<": (np.left_shift,),
        ">>": (np.right_shift,),
    }.items():
        _know(_operator(op), *functions, complex=True)
    _know(_logical("&&"), np.logical_and, complex=True)
    _know(_logical("||"), np.logical_or, complex=True)
    _know(_logical("!="), np.logical_xor, complex=True)
    _know(_logical_not, np.logical_not, complex=True)
    comparisons = {
        "<": np.less,
        "<=": np.less_equal,
        ">": np.greater,
        ">=": np.greater_equal,
        "==": np.equal,
        "!=": np.not_equal,
    }
    for op, function in comparisons.items():
        _know(_comparison(op), function, complex=True)
    for name in ("reduce_add", "reduce_min", "reduce_max"):
        _know(_reduce(name), ACROSS[name])
    for name in ("any", "all", "none"):
        _know(_vote(name), ACROSS[name])
    for name in ("broadcast", "rotate", "shift", "shuffle"):
        _know(_of_lane(name), ACROSS[name])


_fill()
