"""Calls in kernels: of functions of Python, numpy and the program, and what makes arrays."""

from __future__ import annotations

import ast
import builtins
import functools
import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._errors import CompileError
from . import _functions, _instead, _library, _random
from ._along import without_axis
from ._arrays import AS_THEY_ARE, MAKERS, MAKERS_LIKE, Arrays, dtype_of
from ._asked_types import class_of, type_key
from ._effects import changed_in
from ._given import Reference
from ._inline import inlined
from ._known import NUMBER, VALUE, is_literal
from ._lists import GIVEN, LIST, LISTED
from ._plain import parameters
from ._reductions import FUNCTIONS as REDUCTIONS
from ._scopes import Local, Scope
from ._source import Source
from ._tuples import is_named_tuple
from ._types import BOOL, FLOAT64, NUMBERS, Array, Num, promote, strong
from ._values import Arguments, Listed, Maybe, Value, constant, constants, exactly, formed, tuple_of
from ._wrappers import inner_of, is_wrapped

MOST_ELEMENTS, MOST_DIMENSIONS = 4096, 8
# The names of arguments that are given by name, too.
_PARAMETERS = (
    (round, ("number", "ndigits")), (np.round, ("a", "decimals")), (np.around, ("a", "decimals")),
    (np.clip, ("a", "a_min", "a_max")),
)  # fmt: skip
_OF_SEVERAL = {
    builtins.min: "min",
    builtins.max: "max",
    builtins.sum: "sum",
    builtins.any: "any",
    builtins.all: "all",
}


class _Given(NamedTuple):
    """The arguments of a call: the names of the parameters, the values and where they are written; and others.

    Functions, None and texts are not passed.
    """

    names: list[str]
    values: list[Value]
    nodes: list[Any]
    functions: dict[str, Any]
    literals: dict[str, str | None]
    references: dict[str, Reference]

    def kinds(self) -> dict[str, Any]:
        """Give what is known of the parameters when branches are decided."""
        found: dict[str, Any] = dict.fromkeys((*self.functions, *self.references), VALUE)
        for name, value in zip(self.names, self.values):
            found[name] = NUMBER if value.parts is None and isinstance(value.type, Num) else VALUE
            of = class_of(value.type) if value.parts is None else tuple
            found.update({} if of is None else {type_key(name): of})
        for name, reference in self.references.items():
            found[type_key(name)] = list if reference.kind is None else set if reference.kind.is_set else dict
        return {**found, **self.literals}


class Calls(Arrays):
    """Translates calls; `Body` has what they need to know."""

    def called(self, node: ast.Call) -> Any:
        """Find the function of a call; one that is written in a kernel as a `Local`."""
        func = node.func
        if isinstance(func, ast.Name) and func.id in self.local_functions:
            return self.local_functions[func.id]
        if isinstance(func, ast.Name) and self.read_name(func) is not None:
            self.fail(func, f"`{func.id}` is a number or an array and cannot be called", "here")
        if self.is_method(node):
            owner = ast.unparse(func.value)
            self.fail(
                func,
                f"`{owner}` has no `{func.attr}()` in a kernel",
                "this method is not supported",
                _instead.method(func.attr),
            )
        return self.resolve(func)

    def is_foreach(self, function: Any) -> bool:
        """Return whether a function is `spmdvm.foreach`."""
        return function is _functions.foreach

    def is_elementwise(self, function: Any) -> bool:
        """Return whether a function is one of numbers, which numpy applies to arrays element by element."""
        return _functions.find(function) is not None and REDUCTIONS.get(function) is None

    def extreme(self, node: ast.Call) -> str | None:
        """Give whether a call is one of `min` or `max`."""
        try:
            function = self.lookup(node.func.id) if isinstance(node.func, ast.Name) else None
        except KeyError:
            return None
        return "min" if function is builtins.min else "max" if function is builtins.max else None

    def of_Call(self, node: ast.Call) -> Value:
        """Translate a call that gives something."""
        value = self.call(node, as_statement=False)
        if hasattr(node, "asks_none"):
            return value if isinstance(value.of, Maybe) else tuple_of([constant(False), value], Maybe())
        if isinstance(value.of, Maybe):
            called = ast.unparse(node.func)
            help = f"give it a name before, `found = {called}(…)`, and ask: `if found is not None:`"
            self.fail(node, f"what `{called}` returns may be None", "a kernel has no value for that", help)
        return value

    def call(self, node: ast.Call, as_statement: bool) -> Value | None:
        """Translate a call; None if all of it is written already."""
        result = self.array_of_call(node)
        if result is None:
            result = self.asked_of_dict(node)
            result = result or self.replaced(node) or self.popped(node) or self.asked_of_list(node)
        if result is None:
            result = self.method(node)
        if result is not None:
            return result
        function = self.called(node)
        if function is print:
            self.fail(node, "`print` gives no value", "here")
        if function is builtins.isinstance or function is builtins.type:
            asked = ast.unparse(node.args[0]) if node.args else "this"
            help = "ask about a parameter, before it is assigned: `isinstance(x, (int, float))`, `type(x) is float`"
            message = f"of which type `{asked}` is in Python is not known when a kernel is compiled"
            self.fail(node, message, "here", help)
        if function is _random.rng:
            help = "write `rng = spmdvm.rng(seed, i)`, and then `rng.random()`"
            self.fail(node, "a generator is made in a statement of its own", "here", help)
        if self.is_foreach(function) or function is range:
            help = "write `for k in range(n):`, also in a `zip`; an array that counts is `np.arange(n)`"
            self.fail(node, "loops alone count", "only `for … in` takes this", help)
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            node = self.spread_out(node)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.fail(keyword.value, "`**` cannot stand in a call in a kernel", "here", "write the arguments")
        if function is len:
            return self._length(node)
        if function is ord:
            return self._code(node)
        if (name := next((name for name in ("shape", "ndim", "size") if function is getattr(np, name)), None)) and (
            len(node.args) == 1 and not node.keywords
        ):
            return self.expression(ast.copy_location(ast.Attribute(node.args[0], name, ast.Load()), node))
        if function is tuple or is_named_tuple(function):
            return self.made_tuple(node, function)
        if function is float and len(node.args) == 1 and text_of(node.args[0]) is not None:
            return self._special(node, text_of(node.args[0]))
        how = REDUCTIONS.get(function) if callable(function) and type(function).__hash__ else None
        if how is not None and node.args:
            return self.reduction(*self.with_array(node, how))
        if function in (np.dot, np.matmul) and len(node.args) == 2 and not node.keywords:
            return self.dot(node, *self.with_arrays(node).args)
        arrays = self.several_arrays(node, function)
        if arrays is not None:
            return arrays
        if function is np.linalg.det:
            return self.determinant(node)
        several = self._several(node, function)
        if several is not None:
            return several
        if (
            any(function is each for each in (*AS_THEY_ARE, np.array))
            and node.args
            and (found := self._as_one(node)) is not None
        ):
            return found
        known = _functions.find(function)
        if known is not None:
            node = self.by_position(node, function)
            if node.keywords:
                values = ", ".join(ast.unparse(arg) for arg in (*node.args, *(given.value for given in node.keywords)))
                called, first = ast.unparse(node.func), node.keywords[0]
                alone = ", ".join(map(ast.unparse, node.args))
                help = _instead.keyword(called, first.arg, ast.unparse(first.value), alone)
                help = help or f"write `{called}({values})`"
                message = "functions of Python and numpy take their arguments by position in a kernel"
                self.fail(node, message, f"`{node.keywords[0].arg}=`", help)
            return known(self, node, [self.number(arg) for arg in node.args])
        if function is np.linalg.norm:
            node = without_axis(node)
        written = _library.find(function)
        if written is None:
            return self._own(node, function, as_statement)
        if _library.is_typed(function):
            return self._of_numbers(node, function, written)
        return self._of_library(node, written)

    def by_position(self, node: ast.Call, function: Any) -> ast.Call:
        """Give a call of a function, of which the names of arguments are known, with all by position if they can be."""
        names = next((names for known, names in _PARAMETERS if function is known), ())
        if not node.keywords or not names:
            return node
        given = self.arguments_of(node, names, 1)
        if set(given) != set(names[: len(given)]):
            return node
        return ast.copy_location(ast.Call(node.func, [given[name] for name in names[: len(given)]], []), node)

    def _as_one(self, node: ast.Call) -> Value | None:
        """Translate `np.asarray(x)` of a number, which stays one, of numpy's; None of another call."""
        dtype = dtype_of(node)
        if len(node.args) > 1 + (dtype is not None) or (node.keywords and dtype is None):
            return None
        value = self.expression(node.args[0])
        if value.parts is not None or not isinstance(value.type, Num):
            return None
        ty = value.type if dtype is None else self.annotation(dtype)
        return self.convert(node, value, strong(ty))

    def _several(self, node: ast.Call, function: Any) -> Value | None:
        """Translate `min`, `max`, `sum`, `any` and `all` of a tuple, list or array; None if it is another call."""
        how = next((how for known, how in _OF_SEVERAL.items() if function is known), None)
        found = self.over_comprehension(node, how or "")
        if found is not None:
            return found
        if how in ("min", "max") and (found := self.extreme_by(node, how)) is not None:
            return found
        if how in ("min", "max") and len(node.args) > 1 and not node.keywords:
            given = [self._tuple_at(arg) for arg in node.args]
            return None if None in given else self.extreme_tuple(node, "<" if how == "min" else ">", given)
        if how is None or len(node.args) != 1 or node.keywords:
            return None
        (source,) = node.args
        if self.is_view(source):
            return self.over_list(node, how, source)
        if (array := self.array_of(source)) is not None and self.is_list_value(array):
            if how not in ("min", "max"):
                self.refuse_tuples(node, array)
            return self.over_list(node, how, source)
        if array is not None and array.type.ndim == 1 and isinstance(array.type.of, Num):
            return self.over_list(node, how, source)
        if array is not None:
            rows = f"; or `np.sum({ast.unparse(source)}, axis=0)`, the sum of its rows" if how == "sum" else ""
            help = f"write `np.{how}({ast.unparse(source)})`, of all elements{rows}"
            self.fail(node, f"`{how}` of Python takes numbers in a kernel", f"this is {array.type}", help)
        if self.makes_elements(source):
            return self.over_list(node, how, source)
        value = tuple_of(map(self.expression, source.elts)) if isinstance(source, ast.List) else self.expression(source)
        if value.parts is None:
            return None
        if how in ("min", "max") and any(part.parts is not None for part in value.parts):
            return self.extreme_tuple(node, "<" if how == "min" else ">", list(value.parts))
        if how in ("min", "max"):
            if not value.parts:
                self.fail(node, f"there is no `{how}` of nothing", "an empty tuple")
            return _functions.find(function)(self, node, list(value.parts))
        if how == "sum":
            return functools.reduce(lambda a, b: self.operate(node, "+", a, b), value.parts, constant(0))
        tests = [self.as_bool(node, part) for part in value.parts]
        text = (" || " if how == "any" else " && ").join(test.text for test in tests)
        return Value(f"({text})", BOOL, value.uniform) if tests else constant(how == "all")

    def goes_over_values(self, node: ast.expr) -> bool:
        """Return whether an expression is `min`, `max`, `sum`, `any` or `all` that loops, of what may not be known."""
        if not isinstance(node, ast.Call) or not node.args or self.is_method(node):
            return False
        if not any(self.called(node) is known for known in _OF_SEVERAL):
            return False
        source = node.args[0]
        is_listed = isinstance(source, (ast.ListComp, ast.GeneratorExp)) or self.is_view(source)
        return bool(node.keywords) or (len(node.args) == 1 and (is_listed or self.list_named(source) is not None))

    def _of_numbers(self, node: ast.Call, function: Any, written: Any) -> Value:
        """Translate a call of a function that is written in Python, and of which numbers have to have some types."""
        values, is_half = [self.number(arg) for arg in node.args], False
        for arg, value in zip(node.args, values):
            if _library.takes_integers(function) and value.type.kind == "f":
                message, help = f"`{ast.unparse(node.func)}` takes integers", "convert it: `int(x)`"
                self.fail(arg, message, f"`{value.type}`", help)
        if _library.takes_doubles(function):
            values = [_functions.in_math(self, node, value) for value in values]
        if _library.takes_floats(function) and values and all(value.type.kind != "c" for value in values):
            ty = _functions.float_type(self, node, values)
            # Of halves numpy computes functions in floats, and rounds the result.
            is_half = ty.bits == 16 and function is not np.spacing
            of = NUMBERS["float32"] if is_half else ty
            values = [self.convert(node, self.convert(node, value, ty), of) for value in values]
        given = []
        for arg, value in zip(node.args, values):
            at = ast.copy_location(ast.Attribute(ast.Name("<value>", ast.Load()), "T", ast.Load()), arg)
            self.elements[id(at)] = value
            given.append(at)
        result = self._of_library(ast.copy_location(ast.Call(node.func, given, node.keywords), node), written)
        for at in given:
            del self.elements[id(at)]
        if is_half:
            parts = [part if part.type.is_int else self.convert(node, part, ty) for part in result.parts or (result,)]
            result = parts[0] if result.parts is None else replace(result, parts=tuple(parts))
        return result

    def _of_library(self, node: ast.Call, written: Any, as_statement: bool = False) -> Value | None:
        """Translate a call of a function that is written in Python; what is wrong with it is wrong with the call."""
        node, written = self.by_constant(node, written)
        given, node = node, self.with_arrays(node)
        listed = [arg for arg, own in zip(node.args, given.args) if arg is not own]
        self.elements.update((id(arg), self.array_of(arg)) for arg in listed)
        source = Source.of(written)
        source.is_told = False
        try:
            found = self._own(node, written, as_statement)
            self.elements = {at: value for at, value in self.elements.items() if all(at != id(arg) for arg in listed)}
            return found
        except CompileError as error:
            first = error.diagnostics[0]
            if first.file != source.file:
                raise
        self.fail(node, f"`{ast.unparse(node.func)}` does not take such arguments: {first.message}", "here", first.help)

    def by_constant(self, node: ast.Call, written: Any) -> tuple[ast.Call, Any]:
        """Give the function that a constant argument chooses, and the call without this argument."""
        choice = _library.choice_of(written)
        if choice is None:
            return node, written
        named = [keyword for keyword in node.keywords if keyword.arg == choice.name]
        at = next(iter([*node.args[choice.place : choice.place + 1], *(keyword.value for keyword in named)]), None)
        if at is None:
            return node, written
        value = at.value if isinstance(at, ast.Constant) else self.number(at).const
        if value not in choice.functions or (value is None and not isinstance(at, ast.Constant)):
            known = ", ".join(map(repr, choice.functions))
            message = f"`{ast.unparse(node.func)}` takes no such `{choice.name}` in a kernel"
            self.fail(at, message, "here", f"it is one of these, a constant: {known}")
        args = [*node.args[: choice.place], *node.args[choice.place + 1 :]]
        others = [keyword for keyword in node.keywords if keyword not in named]
        return ast.copy_location(ast.Call(node.func, args, others), node), choice.functions[value]

    def of_values(self, node: ast.Call, written: Any, *values: Value) -> Value | None:
        """Translate a call of a function that is written in Python with arrays and numbers that stand in no text."""
        given = []
        for value in values:
            at = ast.copy_location(ast.Attribute(ast.Name("<value>", ast.Load()), "T", ast.Load()), node)
            self.elements[id(at)] = value
            if isinstance(value.type, Array):
                self.parts_of[id(at)] = at, value
            given.append(at)
        result = self._of_library(ast.copy_location(ast.Call(node.func, given, []), node), written, True)
        for at in given:
            del self.elements[id(at)]
        return result

    def spread_out(self, call: ast.Call) -> ast.Call:
        """Give the call with the values of `*a.shape` in its place."""
        args: list[ast.expr] = []
        for arg in call.args:
            if not isinstance(arg, ast.Starred):
                args.append(arg)
                continue
            parts = self.expression(arg.value).parts
            if parts is None:
                help = "pass its parts: `f(a[0], a[1])`"
                self.fail(arg, "`*` takes a tuple apart, such as `*a.shape`", self.kind_of(arg.value), help)
            for k in range(len(parts)):
                part = ast.Subscript(arg.value, ast.copy_location(ast.Constant(k), arg), ast.Load())
                args.append(ast.copy_location(part, arg))
        return ast.copy_location(ast.Call(call.func, args, call.keywords), call)

    def makes(self, node: ast.expr) -> tuple[Value | None, Num, tuple[int | Value, ...]] | None:
        """Give what an array that a call makes is filled with, its type and its lengths; None if it makes none.

        The lengths are numbers if all are constants, and the array is small enough to be a variable of the kernel.
        """
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
            return None
        if self.is_method(node):
            return None
        what = self.called(node)
        if not any(what is maker for maker in (*MAKERS, *MAKERS_LIKE)):
            return None
        what, like = MAKERS_LIKE.get(what, what), what in MAKERS_LIKE
        args = list(node.args)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        model = args.pop(0) if args else given.pop("prototype" if like else "shape", None)
        if model is None:
            self.fail(
                node, "an array is made of a shape and a dtype", "no shape here", "write `np.zeros((4, 4), np.float32)`"
            )
        shape, of = self._like(model) if like else (self._shape(model), None)
        fill = constant(1 if what is np.ones else 0)
        if what is np.full:
            value = args.pop(0) if args else given.pop("fill_value", None)
            if value is None:
                self.fail(node, "`np.full` takes a length and a value", "here")
            fill = self.number(value)
        dtype = args.pop(0) if args else given.pop("dtype", None)
        if args or given:
            odd = args[0] if args else next(iter(given.values()))
            self.fail(odd, "an array is made of a shape and a dtype", "something else here", "leave it out")
        ty = of or (FLOAT64 if what is not np.full else fill.type)
        ty = ty if dtype is None else self.annotation(dtype)
        ty = strong(ty)
        return None if what is np.empty else self.cast(fill, ty, node), ty, shape

    def listed(self, node: ast.expr) -> tuple[list[Value], Num, tuple[int, ...]] | None:
        """Give the numbers of an array that a call lists, its type and its lengths; None if it lists none."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
            return None
        function = None if self.is_method(node) else self.called(node)
        if function is np.cross and len(node.args) == 2 and not node.keywords:
            return self._cross(node)
        if function is not np.array and function is not np.asarray:
            return None
        if not node.args or (not isinstance(node.args[0], ast.List) and self._tuple_at(node.args[0]) is None):
            return None
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        dtype = node.args[1] if len(node.args) == 2 else given.pop("dtype", None)
        if given or len(node.args) > 2:
            self.fail(node, "an array is made of numbers and a dtype", "something else here", "leave it out")
        return self.listed_as(node.args[0], dtype)

    def listed_as(self, node: ast.expr, dtype: ast.expr | None) -> tuple[list[Value], Num, tuple[int, ...]]:
        """Give the numbers in lists and tuples, the type of an array of them, if it is not given, and its lengths."""
        values, shape = self._listed(node)
        self._lengths(node, [constant(length) for length in shape])
        # Numbers of Python are int64 and float64 in a list, also beside others.
        ty: Num | None = strong(values[0].type)
        for value in values[1:]:
            ty = ty and promote(ty, strong(value.type))
        if dtype is None and ty is None:
            self.fail(node, "the numbers have no common type", "here", "give one: `np.array([…], np.float64)`")
        return values, strong(ty if dtype is None else self.annotation(dtype)), shape

    def _cross(self, node: ast.Call) -> tuple[list[Value], Num, tuple[int, ...]]:
        """Give the numbers of `np.cross(a, b)`, of three elements each."""
        (a, b, c), (d, e, f) = (self._three_of(node, arg) for arg in node.args)
        values = []
        for factors in ((b, f, c, e), (c, d, a, f), (a, e, b, d)):
            left, right = (self.binary(node, ast.Mult(), *pair) for pair in (factors[:2], factors[2:]))
            values.append(self.keep(self.binary(node, ast.Sub(), left, right)))
        return values, strong(values[0].type), (3,)

    def _three_of(self, node: ast.Call, arg: ast.expr) -> tuple[Value, ...]:
        """Give the three elements of an array."""
        names = ast.copy_location(ast.Tuple([node] * 3, ast.Store()), arg)
        found = self.unpacked(names, arg)
        if found is None and not self.makes_elements(arg):
            found = tuple_of(map(self.number, arg.elts)) if isinstance(arg, ast.List) else self.expression(arg)
        if found is None or len(found.parts or ()) != 3 or not all(isinstance(p.type, Num) for p in found.parts):
            help = "loop over the rows: `out[i] = np.cross(a[i], b[i])`"
            self.fail(arg, "`np.cross` takes arrays of three numbers in a kernel", self.kind_of(arg), help)
        return found.parts

    def _listed(self, node: ast.expr) -> tuple[list[Value], tuple[int, ...]]:
        """Give the numbers in lists of lists, row after row, and the lengths of these."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return self._numbers_in(node, self.expression(node))
        return self._of_rows(node, [self._listed(row) for row in node.elts])

    def _numbers_in(self, node: ast.expr, value: Value) -> tuple[list[Value], tuple[int, ...]]:
        """Give the numbers in a tuple of tuples, likewise."""
        if value.parts is None:
            return [self._as_number(node, value)], ()
        return self._of_rows(node, [self._numbers_in(node, part) for part in value.parts])

    def _of_rows(
        self, node: ast.expr, rows: list[tuple[list[Value], tuple[int, ...]]]
    ) -> tuple[list[Value], tuple[int, ...]]:
        if not rows or any(shape != rows[0][1] for _, shape in rows):
            self.fail(node, "the rows of an array are alike", "some have other lengths" if rows else "there are none")
        return [value for values, _ in rows for value in values], (len(rows), *rows[0][1])

    def _shape(self, node: ast.expr) -> tuple[int | Value, ...]:
        """Give the lengths of an array that is made."""
        value = tuple_of(map(self.number, node.elts)) if isinstance(node, ast.List) else self.expression(node)
        return self._lengths(node, value.parts if value.parts is not None else (value,))

    def _like(self, node: ast.expr) -> tuple[tuple[int | Value, ...], Num]:
        """Give the lengths and the type of an array that is made like another."""
        array = self.array_of(node)
        if array is None or not isinstance(array.type.of, Num):
            self.fail(node, "this makes an array like one of numbers", "no such array", "give a shape: `np.zeros(8)`")
        lengths = [self.dim(array.text, axis) for axis in range(array.type.ndim)]
        return self._lengths(node, lengths), array.type.of

    def _lengths(self, node: ast.expr, values: Any) -> tuple[int | Value, ...]:
        values = list(map(exactly, values))
        for value in values:
            if not isinstance(value.type, Num) or value.parts is not None or not value.type.is_int:
                what = f"this is `{value.type}`" if value.parts is None else "this is a tuple"
                self.fail(node, "lengths of arrays are integers", what, "write `int(…)`")
            if value.const is not None and value.const < 0:
                self.fail(node, "lengths of arrays are not negative", f"{value.const} here")
        if not 1 <= len(values) <= MOST_DIMENSIONS:
            self.fail(node, f"an array of a kernel has 1 to {MOST_DIMENSIONS} dimensions", f"{len(values)} here")
        known = [value.const for value in values]
        if None in known or not 1 <= math.prod(known) <= MOST_ELEMENTS:
            return tuple(values)
        return tuple(int(length) for length in known)

    def _code(self, node: ast.Call) -> Value:
        """Translate `ord("a")`."""
        text = text_of(node.args[0]) if len(node.args) == 1 else None
        if text is None or len(text) != 1:
            self.fail(node, "`ord` takes a text of one character in a kernel", "no such text")
        return constant(ord(text))

    def _special(self, node: ast.Call, text: str) -> Value:
        """Translate `float("inf")` and its like."""
        try:
            return constant(float(text))
        except ValueError:
            self.fail(node.args[0], "this text is no number", "here", '`float("inf")`')

    def _length(self, node: ast.Call) -> Value:
        if len(node.args) == 1 and (found := self.viewed(node.args[0])) is not None:
            return self.count_of(found[0])
        value = self.expression(node.args[0]) if len(node.args) == 1 else None
        if value is not None and value.parts is not None:
            return constant(len(value.parts))
        if value is None or not isinstance(value.type, Array):
            self.fail(node, "`len` takes an array", "here")
        if value.type.ndim == 0:
            self.fail(node.args[0], "a record has no length", "here", f"it has {len(value.type.of.fields)} fields")
        return self.dim(value.text, 0)

    def _own(self, node: ast.Call, function: Any, as_statement: bool) -> Value | None:
        """Translate a call of a function of the program."""
        scope = None
        if isinstance(function, Local):
            scope, lookup, name = function.scope, function.lookup, function.scope.name
            source, key = self.source.inner(function.tree), id(function.tree)
        else:
            inner = inner_of(function)
            name = getattr(inner, "__name__", type(function).__name__)
            of_numpy = (getattr(inner, "__module__", None) or "").split(".")[0] == "numpy"
            if is_wrapped(inner):
                called = ast.unparse(node.func)
                help = f"call the function itself, `{called}.__wrapped__(…)`, and do here what the decorator does"
                self.fail(node, f"`{called}` is wrapped by a decorator, which would be left out", "here", help)
            if of_numpy or not hasattr(inner, "__code__"):
                called = ast.unparse(node.func)
                help = _functions.instead(function, called)
                self.fail(node, f"`{called}` cannot be called in a kernel", "not known", help)
            source, lookup, key = Source.of(inner), _functions.lookup_of(inner), inner
        changed = changed_in(source.tree, lookup)
        own = self._arguments(node, source.tree, name, function if isinstance(function, Local) else inner, changed)
        for given_name, value, at in zip(own.names, own.values, own.nodes):
            if given_name in _library.arrays_of(function) and not isinstance(value.type, Array):
                message = f"`{ast.unparse(node.func)}` takes an array as its `{given_name}`"
                self.fail(at, message, f"this is `{value.type}`")
        dims = tuple(value.type.ndim for value in own.values if isinstance(value.type, Array))
        if scope is None and _library.of_dimensions(function, dims) is not function:
            # One with the same parameters.
            function = key = _library.of_dimensions(function, dims)
            source, lookup = Source.of(function), _functions.lookup_of(function)
            source.is_told = False
        scope = scope or Scope(source.tree)
        around = {scope.name_of(*pair): VALUE for pair in scope.captured}
        source, whole = self.program.decided(source, {**around, **own.kinds()}, lookup), source
        scope = scope if source.tree is whole.tree else Scope(source.tree, scope.parent)
        given = self._with_captured(node, scope, own, changed)
        if self.source.is_told and not source.is_told and not _library.takes_complex(function):
            self.refuse_complex_in(node, given.values)
        dims = [value.type.ndim for value in given.values if isinstance(value.type, Array)]
        most = _library.dimensions_of(function)
        others = [ndim for ndim in dims if most not in (None, ndim)]
        if others:
            help = _instead.dimensions(name, most)
            called = "this" if _library.is_own(self.source.file) else f"`{ast.unparse(node.func)}`"
            takes = f"{called} takes an array of {'one dimension' if most == 1 else 'two dimensions'} in a kernel"
            self.fail(node, takes, f"this has {others[0]}", help)
        result = self.instance(node, source, lookup, given, name, key, scope)
        texts = []
        for own, value in zip(given.names, given.values):
            ty = value.type
            if own in given.narrow:
                texts.append(value.text)
            elif isinstance(ty, Array):
                if value.text in self.parts or value.text in self.views:
                    texts.extend(self.view_texts(node, value))
                    continue
                texts.append(value.text)
                texts.extend(self.dim(value.text, k).text for k in range(ty.ndim))
            else:
                texts.append(self.cast(value, ty, node).text)
        texts += self.given_texts(given.references)
        self.learn(node, given.references, result.given)
        brought = {}
        for made in result.hidden:
            own = self.bring(node, made)
            brought[made.text] = own
            texts.extend([own, *(f"{own}__n{k}" for k in range(len(made.hosts)))])
        text = f"{result.name}({', '.join(texts)})"
        if result.copied:
            self.refuse_to_share(node, name, result, given.values)
        if result.arrays is not None:
            return self._arrays_given(node, name, result, given, brought, text)
        here = None if result.inline is None else inlined(self, result.inline, result, texts, as_statement)
        if here is not None:
            self.program.has_inlined = True
            if result.types is None:
                return None if as_statement else self.fail(node, f"`{name}` returns nothing", "no value")
            if not result.is_tuple:
                return Value(here, result.types[0], result.uniform)
            return self._as_given(node, result, here)
        self.has_called |= bool(result.stored) or bool(given.references) or result.types is None
        if result.types is None:
            if as_statement:
                self.emit(f"{text};")
                return None
            self.fail(node, f"`{name}` returns nothing", "no value")
        if not result.is_tuple:
            return Value(text, result.types[0], result.uniform)
        if self.in_arm:
            self.fail(node, f"`{name}` returns several values", "not in a part of an expression", "assign them first")
        kept = self.temporary("r")
        self.emit(f"const {'uniform' if result.uniform else 'varying'} {result.name}_result {kept} = {text};")
        return self._as_given(node, result, kept)

    def _as_given(self, node: ast.Call, result: Any, text: str) -> Value:
        """Give the tuple that a function has returned, with arrays where it has listed their elements."""
        found = (Value(f"{text}.v{k}", ty, result.uniform) for k, ty in enumerate(result.types))
        return self._with_listed(node, formed(result.form, found))

    def _with_listed(self, node: ast.Call, value: Value) -> Value:
        if isinstance(value.of, Listed):
            return self._unnamed(node, (list(value.parts), *value.of))
        if value.parts is None:
            return value
        return tuple_of((self._with_listed(node, part) for part in value.parts), value.of)

    def refuse_complex_in(self, node: ast.Call, values: list[Value]) -> None:
        """Fail if a function is given complex numbers, or arrays of them."""
        for value in values:
            of = value.type.of if isinstance(value.type, Array) else value.type
            if isinstance(of, Num) and of.kind == "c":
                called = ast.unparse(node.func)
                help = _instead.of_complex(called.rpartition(".")[2])
                self.fail(node, f"`{called}` takes no complex numbers in a kernel", f"`{of}`", help)

    def _arrays_given(
        self, node: ast.Call, name: str, result: Any, given: Arguments, brought: dict[str, str], text: str
    ) -> Value:
        """Call a function that gives arrays, which are its own or were passed; give them, and its numbers."""
        if self.in_arm:
            self.fail(node, f"`{name}` returns an array", "not in a part of an expression", "give it a name before")
        kept = self.temporary("r")
        if result.types:
            self.emit(f"const {'uniform' if result.uniform else 'varying'} {result.name}_result {kept} = {text};")
        else:
            self.emit(f"{text};")
        passed = dict(zip(result.texts, given.values))
        numbers = iter(Value(f"{kept}.v{k}", ty, result.uniform) for k, ty in enumerate(result.types))
        values = []
        for array in result.arrays:
            if array is None:
                values.append(next(numbers))
            elif array.text in (LIST, LISTED):
                values.append(self.given_list(node, array, numbers))
            elif array.text.startswith(GIVEN):
                name_here = given.references[array.text.removeprefix(GIVEN)].name
                values.append(self.regions[0].parts[name_here])
            elif array.text in brought:
                values.append(Value(brought[array.text], array.type, True))
            else:
                values.append(passed[array.text])
        return self.given_tuples(node, formed(result.form, iter(values)))

    def _with_captured(self, node: ast.Call, scope: Scope, given: _Given, changed: set[str]) -> Arguments:
        """Give the arguments of a call with the variables that the function needs, and those passed, of ones around."""
        captured: dict[tuple[int, str], str] = {}
        wanted = [*scope.captured, *_captured_of(given.functions.values())]
        functions = (function for function in given.functions.values() if isinstance(function, Local))
        changed = changed.union(*(changed_in(function.tree, function.lookup) for function in functions))
        for owner, name in wanted:
            if (id(owner), name) in captured:
                continue
            if owner is scope:
                message = f"a function that reads `{name}` of `{scope.name}` is passed to `{scope.name}` itself"
                self.fail(node, message, "of which call is the variable?", f"pass `{name}` as an argument")
            new = scope.name_of(owner, name)
            while new in given.names or new in given.functions or new in given.references:
                new += "_"
            captured[id(owner), name] = new
            own = name if owner is self.scope else self.captured[id(owner), name]
            if own in self.local_functions:
                given.functions[new] = self.local_functions[own]
                wanted.extend(_captured_of([given.functions[new]]))
                continue
            self._have_value(node, own, name, scope)
            load = ast.copy_location(ast.Name(own, ast.Load()), node)
            reference = self.reference_at(load, name in changed)
            if reference is not None:
                given.references[new] = reference
                continue
            value = self.read_name(load)
            given.names.append(new)
            given.values.append(value)
            given.nodes.append(node)
        return Arguments(*given, captured)

    def _found_at(self, node: ast.expr) -> Any:
        """Give what an argument stands for that is no value of the program: it is from outside, a function, None."""
        if isinstance(node, ast.Constant):
            return node.value if is_literal(node.value) else _NOTHING
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name):
            return _NOTHING
        if node is root and root.id in self.local_functions:
            return self.local_functions[root.id]
        if self.read_name(root) is not None:
            return _NOTHING
        try:
            self.lookup(root.id)
        except KeyError:
            return _NOTHING
        return self.resolve(node)

    def _function_at(self, node: ast.expr) -> Any:
        """Give the function that an argument is; None if it is a value."""
        found = self._found_at(node)
        is_function = isinstance(found, Local) or (callable(found) and not isinstance(found, _functions.InKernels))
        return found if is_function else None

    def _have_value(self, node: ast.Call, own: str, name: str, scope: Scope) -> None:
        """Fail if a variable that a function reads may have no value where it is called."""
        if self.assigned is not None and own not in self.assigned and not any(own in r.indices for r in self.regions):
            self.fail(
                node,
                f"`{scope.name}` reads `{name}`, which may have no value here",
                "it is called here",
                f"assign `{name}` before the call",
            )

    def _arguments(self, node: ast.Call, tree: ast.FunctionDef, name: str, function: Any, changed: set[str]) -> _Given:
        """Give the arguments of a call by position; those that are left out from the defaults.

        Of lists the function has `changed` those with these names.
        """
        a = tree.args
        if a.kwarg:
            help = "give each parameter a name"
            self.fail(node, f"`{name}` has a `**` parameter, which no function in a kernel has", "here", help)
        names = [arg.arg for arg in parameters(tree)]
        most = len(names) - len(a.kwonlyargs)
        if len(node.args) > most and a.vararg is None:
            self.fail(node, f"`{name}` takes {most} arguments", f"{len(node.args)} here")
        given = dict(zip(names[:most], node.args))
        for keyword in node.keywords:
            if keyword.arg not in names[len(a.posonlyargs) :] or keyword.arg in given:
                what = "no parameter" if keyword.arg not in names else "got two values for"
                help = _instead.parameter(keyword.arg, names, _library.is_written(function))
                self.fail(keyword.value, f"`{name}` has {what} `{keyword.arg}`", "here", help)
            given[keyword.arg] = keyword.value
        defaults = dict(zip(reversed(names[:most]), reversed(a.defaults)))
        defaults.update((arg.arg, value) for arg, value in zip(a.kwonlyargs, a.kw_defaults) if value is not None)
        if not isinstance(function, Local):
            known = dict(zip(reversed(names[:most]), reversed(function.__defaults__ or ())))
            known.update(function.__kwdefaults__ or {})
        found = _Given([], [], [], {}, {}, {})
        for parameter in names:
            at = given.get(parameter)
            reference = None if at is None else self.reference_at(at, parameter in changed)
            if reference is not None:
                found.references[parameter] = reference
                continue
            source = defaults.get(parameter) if at is None and isinstance(function, Local) else at
            passed = None if source is None else self._function_at(source)
            if passed is not None:
                found.functions[parameter] = passed
                continue
            if at is None and parameter not in defaults:
                self.fail(node, f"`{name}` takes {len(names)} arguments", f"`{parameter}` is missing")
            if at is None and not isinstance(function, Local) and callable(known[parameter]):
                found.functions[parameter] = known[parameter]
                continue
            is_own = at is not None or isinstance(function, Local)
            what = self._found_at(at or defaults[parameter]) if is_own else known[parameter]
            if is_literal(what):
                found.literals[parameter] = what
                continue
            value = self.passed(at, self.argument(at)) if at is not None else None
            if value is None and isinstance(function, Local):
                value = self.expression(defaults[parameter])
                value = value if _is_constant(value) else None
            elif value is None:
                value = constants(known[parameter])
            if value is None:
                help = "pass one"
                if isinstance(function, Local):
                    help = "pass it; or leave the parameter out: functions in a kernel read its variables themselves"
                message = f"the default of `{parameter}` of `{name}` is no number"
                self.fail(node, message, "it is taken here", help)
            value = self.in_columns(value)
            found.names.append(parameter)
            found.nodes.append(at if at is not None else node)
            found.values.append(value)
        if a.vararg is not None:
            found.names.append(a.vararg.arg)
            found.nodes.append(node)
            found.values.append(tuple_of(self._left_over(at, name, a.vararg.arg) for at in node.args[most:]))
        return found

    def _left_over(self, node: ast.expr, name: str, parameter: str) -> Value:
        """Translate an argument that `*rest` takes, which is a tuple of numbers and arrays."""
        if self._function_at(node) is not None or is_literal(self._found_at(node)):
            help = "give it a parameter of its own"
            self.fail(node, f"`*{parameter}` of `{name}` takes numbers and arrays in a kernel", "something else", help)
        value = self.passed(node, self.argument(node))
        self.refuse_tuples(node, value)
        return value

    def argument(self, node: ast.expr) -> Value:
        """Translate an argument of a function of Python; of arrays that are computed with, it is a new one."""
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call)) and self.makes_elements(node):
            made = self.array_of(node)
            return self.copied(node, node) if made is None else made
        return self.expression(node)

    def lookup_inner(self, name: str) -> Any:
        """Find a name for a function within the kernel: its neighbours, then what the kernel finds."""
        if name in self.local_functions:
            return self.local_functions[name]
        if name in self.scope.bound or name in self.scope.functions:
            raise KeyError(name)
        return self.lookup(name)


# What an argument stands for that is a value.
_NOTHING = object()


def _captured_of(functions: Any) -> list[tuple[Scope, str]]:
    """Give the variables that functions need of those around them."""
    return [pair for function in functions if isinstance(function, Local) for pair in function.scope.captured]


def _is_constant(value: Value) -> bool:
    return value.const is not None or (value.parts is not None and all(map(_is_constant, value.parts)))


def text_of(node: Any) -> str | None:
    """Give the text that an expression is; None if it is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
