"""Sums, means, extremes and votes over arrays in kernels: `np.sum(a)`, `a[1:].max()`, `np.any(a > b)`, `a @ b`.

Outside of `foreach` all elements are taken at once, each lane its own, and lanes are combined in a fixed tree; in a
`foreach` and in elementwise kernels each element of those takes one after another.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from . import _functions, _instead, _random
from ._broadcast import Broadcasts
from ._types import BOOL, FLOAT64, INT, NUMBERS, Num, strong
from ._values import Value, literal

FUNCTIONS = {
    np.sum: "sum",
    np.mean: "mean",
    np.min: "min",
    np.amin: "min",
    np.max: "max",
    np.amax: "max",
    np.any: "any",
    np.all: "all",
    np.argmin: "argmin",
    np.argmax: "argmax",
    np.var: "var",
    np.std: "std",
    np.count_nonzero: "count_nonzero",
    np.prod: "prod",
}
METHODS = frozenset(FUNCTIONS.values()) - {"count_nonzero"}
# Methods of numbers: the function that they are (none: the number itself), and how many arguments they take.
_OF_NUMBERS: dict[str, tuple[Any, int]] = {
    "clip": (np.clip, 2),
    "round": (np.round, 1),
    "item": (None, 0),
    "conjugate": (np.conjugate, 0),
    "conj": (np.conjugate, 0),
}
_OF_ELEMENTS = ("clip", "round", "conj", "conjugate")
_SIGNS = {"any": "||", "all": "&&"}


class Reductions(Broadcasts):
    """Translates reductions; `Body` has what they need to know."""

    def reduction(self, node: ast.Call, how: str, source: ast.expr) -> Value:
        """Translate a reduction over the elements of an array, of a part, or of an expression of such."""
        keywords = [keyword for keyword in node.keywords if not is_less(how, keyword)]
        others = [*node.args[1:], *keywords] if source in node.args else [*node.args, *keywords]
        if self._has_axis(node, source):
            made = self.array_of_call(node)
            if made is not None:
                return made
            # Of one dimension that is all of it.
            others = []
        if others:
            other, named = others[0], isinstance(others[0], ast.keyword)
            help = _instead.reduction(how, other.arg if named else None)
            at = other.value if named else other
            self.fail(at, f"`{how}` goes over all elements in a kernel", "not supported", help)
        if how == "count_nonzero":
            zero = ast.copy_location(ast.Constant(0), source)
            given = ast.copy_location(ast.Compare(source, [ast.NotEq()], [zero]), source)
            return self._reduced(node, "sum", given)
        if how in ("argmin", "argmax"):
            return self._place_of(node, how, source)
        if how in ("var", "std"):
            return self._spread(node, how, source)
        return self._reduced(node, how, source)

    def _spread(self, node: Any, how: str, source: ast.expr) -> Value:
        """Translate the mean of squared distances from the mean, and its root."""
        mean = ast.copy_location(ast.Name("mean", ast.Load()), node)
        outer, less = self.elements, self.less_of(node, how)
        self.elements = {**outer, id(mean): self.keep(self._reduced(node, "mean", source))}
        self.refuse_complex(node, how, self.elements[id(mean)])
        apart = ast.copy_location(ast.BinOp(source, ast.Sub(), mean), node)
        squares = ast.copy_location(ast.BinOp(apart, ast.Mult(), apart), node)
        result = self._reduced(node, "mean", squares, less)
        self.elements = outer
        return result if how == "var" else replace(result, text=f"sqrt({result.text})")

    def less_of(self, node: Any, how: str) -> Value | None:
        """Give what is taken from the number of elements before a sum of squares is divided by it; None if nothing."""
        given = [keyword.value for keyword in node.keywords if is_less(how, keyword)]
        if len(given) > 1:
            self.fail(given[1], "`ddof` and `correction` are one argument", "it is given twice", "leave one out")
        if not given:
            return None
        value = self.number(given[0])
        if value.type.kind == "c":
            self.fail(given[0], "a number of elements is taken away", f"this is `{value.type}`")
        return self.keep(self.cast(value, FLOAT64 if value.type.kind == "f" else INT, node))

    def over_length(self, total: Value, size: str, less: Value | None) -> Value:
        """Divide a sum by a number of elements, from which something may be taken, but not more than there is."""
        ty, uniform = total.type.part.spmd, total.uniform
        if less is None:
            return Value(f"({total.text} / (({ty})({size})))", total.type, uniform)
        uniform &= less.uniform
        if less.type.kind == "f":
            # As numpy does, in 64 bits.
            quotient = f"(double){total.text} / max((double)({size}) - {less.text}, 0.0d)"
            return Value(f"(({ty})({quotient}))", total.type, uniform)
        return Value(f"({total.text} / (({ty})max((int64)({size}) - {less.text}, 0ll)))", total.type, uniform)

    def refuse_complex(self, node: Any, how: str, value: Value) -> None:
        """Fail if a reduction has no meaning here for complex numbers."""
        if value.type.kind == "c":
            help = "compare their magnitudes: `np.abs(z)`"
            if how in ("var", "std"):
                help = "write it out: `np.mean(np.abs(z - np.mean(z)) ** 2)`"
            self.fail(node, f"`{how}` takes no complex numbers in a kernel", f"`{value.type}`", help)

    def _place_of(self, node: Any, how: str, source: ast.expr) -> Value:
        """Translate the index of the first element that is the least or greatest, or NaN if there is one."""
        array = self.array_of(source)
        if array is None and self.is_uniform_here() and self.makes_elements(source):
            array = self.copied(source, source)
        if array is None or array.type.ndim != 1:
            note = self.kind_of(source) if array is None else f"this has {array.type.ndim} dimensions"
            help = f"of each row: `np.{how}(a[i])`; of all elements: `np.{how}(a.ravel())`"
            self.fail(source, f"`{how}` takes an array of one dimension in a kernel", note, help)
        best = self.keep(self._reduced(node, how.removeprefix("arg"), source))
        together, length, ty = self.is_uniform_here(), self.dim(array.text, 0), NUMBERS["int64"]
        counter, place = self.temporary("at"), self.temporary("place")
        self.emit(f"varying int64 {place} = {length.text};")
        self._begin(node, [counter], [length], together)
        element = self.element_at(array, [counter], not together).text
        test = f"{element} == {best.text}"
        if array.type.of.kind == "f":
            test = f"({test} || ({element} != {element} && {best.text} != {best.text}))"
        self.emit(f"{place} = {test} ? min({place}, (int64){counter}) : {place};")
        self._end(together)
        return Value(f"((int64)reduce_min({place}))" if together else place, ty, together)

    def dot(self, node: Any, left: ast.expr, right: ast.expr) -> Value:
        """Translate the product of two vectors."""
        for side in (left, right):
            array = self.array_of(side)
            if array is None or array.type.ndim != 1:
                what = self.kind_of(side) if array is None else f"this has {array.type.ndim} dimensions"
                self.fail(side, "products in kernels are of two arrays of one dimension", what, "write the loops")
        product = ast.copy_location(ast.BinOp(left, ast.Mult(), right), node)
        return self._reduced(node, "dot", product)

    def _reduced(self, node: Any, how: str, source: ast.expr, less: Value | None = None) -> Value:
        if self.in_arm:
            self.fail(node, f"`{how}` of an array in what may not be computed", "here", "give it a name before")
        outer = self.elements
        self.elements = {**outer, **{id(part): self.keep(self.number(part)) for part in self._whole(source)}}
        found = list(self._arrays_in(source))
        if not found:
            note = self.kind_of(source)
            help = "annotate the parameter if it is one (`a: spmdvm.array[spmdvm.float64]`); `min(a, b)` takes numbers"
            if not isinstance(self.source.tree, ast.FunctionDef):
                help = 'expressions are of single elements; to combine these write `spmdvm.reduce("+", x, map="x * x")`'
            self.fail(source, f"`{how}` takes an array", note, help)
        lengths = [self.dim(like.text, axis) for like, axis in self.broadcast(found)]
        self.same_lengths(found, lengths)
        together = self.is_uniform_here()
        counters = [self.temporary("at") for _ in lengths]
        # The type is known when an element is translated; the loop stands around it.
        start, at = len(self.lines), self.at
        loops = self._begin(node, counters, lengths, together)
        self.elements.update((id(part), self.element_at(array, counters, not together)) for part, array in found)
        value = self.number(source)
        self.elements = outer
        ty, first = self._kind(node, how, value)
        total = self.temporary(how)
        new = self._step(source, how, Value(total, ty, False), value)
        self.emit(f"{total} = {new};")
        for _ in range(loops):
            self._end(together)
        head = [f"varying {ty.spmd} {total} = {first};"]
        size = " * ".join(f"(int64){length.text}" for length in lengths)
        if how in ("min", "max"):
            head.append(self.demanded(node, f"{size} > 0", f"`{how}` takes at least one element"))
        self.lines[start:start] = [("    " * self.indent + text, at) for text in head]
        result = Value(total, ty, False)
        if together:
            result = self.keep(Value(self._of_lanes(how, total, ty), ty, True))
        return self.over_length(result, size, less) if how == "mean" else result

    def _begin(self, node: Any, counters: list[str], lengths: list[Value], together: bool) -> int:
        """Begin the loops over all elements; tell how many there are."""
        if together:
            ranges = ", ".join(f"{counter} = 0 ... {length.text}" for counter, length in zip(counters, lengths))
            self.emit(f"foreach ({ranges}) {{")
            self.enter_foreach(node)
            return 1
        for counter, length in zip(counters, lengths):
            self.emit(self.loop_to(counter, length))
            self.indent += 1
        return len(lengths)

    def loop_to(self, counter: str, length: Value) -> str:
        """Write the head of a loop over indices below a length, which may differ from lane to lane."""
        if not length.uniform:
            self.differing.add(counter)
        return (
            f"for ({'uniform ' if length.uniform else ''}int {counter} = 0; {counter} < {length.text}; ++{counter}) {{"
        )

    def _end(self, together: bool) -> None:
        if together:
            self.leave_foreach()
        else:
            self.indent -= 1
        self.emit("}")

    def _kind(self, node: Any, how: str, value: Value) -> tuple[Num, str]:
        """Give the type in which elements are combined, as numpy does, and what to begin with."""
        ty = value.type
        if how in _SIGNS:
            return BOOL, "true" if how == "all" else "false"
        if how == "mean":
            ty = ty if ty.kind in "fc" else FLOAT64
        if how in ("sum", "prod") and ty.kind in "bi":
            ty = NUMBERS["int64"]
        if how in ("sum", "prod") and ty.kind == "u":
            ty = NUMBERS["uint64"]
        if ty == BOOL:
            self.fail(node, f"bools have no `{how}`", "bools", "ask for `any` or `all`")
        if how in ("min", "max"):
            self.refuse_complex(node, how, value)
        ty = strong(ty)
        if how not in ("min", "max"):
            return ty, literal(1 if how == "prod" else 0, ty)
        if ty.kind == "f":
            return ty, literal(np.inf if how == "min" else -np.inf, ty)
        info = np.iinfo(ty.dtype)
        return ty, literal(int(info.max if how == "min" else info.min), ty)

    def _step(self, node: Any, how: str, total: Value, value: Value) -> str:
        """Write how an element is added to those before."""
        if how in _SIGNS:
            return f"{total.text} {_SIGNS[how]} {self.as_bool(node, value).text}"
        value = self.cast(value, total.type, node)
        if how not in ("min", "max"):
            return f"{total.text} {'*' if how == 'prod' else '+'} {value.text}"
        if total.type.kind != "f":
            return f"{how}({total.text}, {value.text})"
        helper = "py_minimum" if how == "min" else "py_maximum"
        return self._helper(helper, total.type, total.uniform, total, value).text

    def sum_of_lanes(self, text: str, ty: Num) -> str:
        """Write the sum of a number of all lanes."""
        return f"py_creduce_add({text})" if ty.kind == "c" else f"(({ty.spmd})reduce_add({text}))"

    def _of_lanes(self, how: str, total: str, ty: Num) -> str:
        """Write what the lanes have found together."""
        if how in _SIGNS:
            return f"{how}({total})"
        if how == "prod":
            return f"py_creduce_mul({total})" if ty.kind == "c" else f"{self.program.use('py_product')}({total})"
        if how not in ("min", "max"):
            return self.sum_of_lanes(total, ty)
        least = f"(({ty.spmd})reduce_{how}({total}))"
        nan = literal(np.nan, ty) if ty.kind == "f" else ""
        return f"(any(isnan({total})) ? {nan} : {least})" if nan else least

    def is_method(self, node: ast.Call) -> bool:
        """Return whether a call is one of a method of a value, rather than of a function of a module."""
        at = node.func
        if not isinstance(at, ast.Attribute):
            return False
        if self.generator(at.value) is not None:
            return True
        while isinstance(at, ast.Attribute):
            at = at.value
        return not isinstance(at, ast.Name) or at.id in self.dicts or self.read_name(at) is not None

    def is_method_of_elements(self, node: ast.Call) -> bool:
        """Return whether a call is of a method that goes by elements, such as `a.clip(0, 1)`."""
        func = node.func
        return isinstance(func, ast.Attribute) and func.attr in _OF_ELEMENTS and self.is_method(node)

    def is_reduction(self, node: ast.expr) -> bool:
        """Return whether an expression goes over whole arrays and gives one number."""
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.MatMult) and self.array_of(node) is None
        if not isinstance(node, ast.Call) or id(node) in self.elements:
            return False
        if self.is_method(node):
            if node.func.attr == "dot":
                return self.array_of(node.func.value) is not None and self.array_of(node) is None
            found = node.func.attr in METHODS and any(True for _ in self._arrays_in(node.func.value))
            return found and not (self._has_axis(node, node.func.value) and self.array_of(node) is not None)
        function = self.called(node)
        if function is np.linalg.norm or any(function is known for known in FUNCTIONS):
            return not (node.args and self._has_axis(node, node.args[0]) and self.array_of(node) is not None)
        if function is np.dot:
            return self.array_of(node) is None
        if self.gives_tuple(function):
            return False
        return self.takes_arrays(node, function) and not self.gives_one_array(node, function)

    def _has_axis(self, node: ast.Call, source: ast.expr) -> bool:
        """Return whether a reduction is given an axis, or `None` for all of them."""
        positional = node.args[1:] if source in node.args else node.args
        return bool(positional) or any(keyword.arg == "axis" for keyword in node.keywords)

    def drawn(self, node: ast.Call) -> Value | None:
        """Translate a draw of a generator, `rng.random()`; None if it is another call."""
        name = self.generator(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if name is None:
            return None
        self.drawing = True
        parts = self.read_name(node.func.value).parts
        self.drawing = False
        return _random.draw(self, node, name, parts)

    def method(self, node: ast.Call) -> Value | None:
        """Translate a method of an array or a number; None if it is another call."""
        func = node.func
        drawn = self.drawn(node)
        if drawn is not None:
            return drawn
        if not self.is_method(node):
            return None
        if func.attr == "dot" and len(node.args) == 1 and not node.keywords and self.array_of(func.value) is not None:
            return self.dot(node, func.value, node.args[0])
        if func.attr in METHODS:
            found = any(True for _ in self._arrays_in(func.value))
            return self.reduction(node, func.attr, func.value) if found else None
        if func.attr in _OF_NUMBERS and (id(func.value) in self.elements or self.array_of(func.value) is None):
            function, most = _OF_NUMBERS[func.attr]
            if node.keywords or len(node.args) > most:
                self.fail(node, f"`{func.attr}` of a number takes up to {most} arguments", "others here")
            given = [self.number(func.value), *map(self.number, node.args)]
            return _functions.find(function)(self, node, given) if function is not None else given[0]
        if func.attr != "astype":
            return None
        if self.array_of(func.value) is not None:
            self.fail(node, "arrays are not converted in a kernel", "`.astype`", "convert elements: `np.float32(a[i])`")
        if len(node.args) != 1 or node.keywords:
            self.fail(node, "`astype` takes a type of numbers", "here")
        # As numpy does: the types of Python are those in which numpy keeps them.
        return self.convert(node, self.number(func.value), strong(self.annotation(node.args[0])))


def is_less(how: str, keyword: ast.keyword) -> bool:
    """Return whether an argument says what is taken from the number of elements, `np.var(a, ddof=1)`."""
    return how in ("var", "std") and keyword.arg in ("ddof", "correction")
