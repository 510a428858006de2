"""Reductions along an axis of an array: `np.sum(a, axis=0)`, `a.mean(1)`, `np.linalg.norm(a, axis=1)`."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from . import _functions, _instead, _linear
from ._histograms import Histograms
from ._parts import Axis, Part
from ._reductions import is_less
from ._types import BOOL, FLOAT64, INT, NUMBERS, Array, Num, strong
from ._values import LONGEST, Value, constant, literal

# Norms of vectors: the functions of all elements, and what they are called along an axis.
_NORM = "linalg.norm"
_NORMS = {
    _linear.norm: _NORM,
    _linear.norm_of_two: _NORM,
    _linear.norm_of_sum: f"{_NORM} of sum",
    _linear.norm_of_greatest: f"{_NORM} of greatest",
    _linear.norm_of_least: f"{_NORM} of least",
}
# Those that take the elements of one row at once.
_BY_ROWS = ("sum", "prod", "mean", "min", "max", "any", "all", "count_nonzero")


class Along(Histograms):
    """Translates reductions along an axis; `Body` has what they need to know."""

    def norm_along(self, node: ast.Call) -> Value | None:
        """Translate `np.linalg.norm` along an axis; None if it gives a number."""
        if not node.args or not has_axis(node):
            return None
        others = [keyword for keyword in node.keywords if keyword.arg != "ord"]
        axis = self.axis_of(ast.copy_location(ast.Call(node.func, node.args[:1], others), node), node.args[2:])
        if axis is None:
            return None
        _, written = self.by_constant(without_axis(node), _linear.norm)
        if written not in _NORMS:
            help = "along an axis it is one of these: None, 1, 2, inf, -inf"
            self.fail(node, f"`{ast.unparse(node.func)}` takes no such `ord` along an axis", "here", help)
        return self.along(node, _NORMS[written], node.args[0], axis)

    def axis_of(self, node: ast.Call, positional: list[ast.expr], how: str = _NORM) -> int | None:
        """Give the axis that a reduction is to go along; None if it goes over all elements."""
        named = [keyword.value for keyword in node.keywords if keyword.arg == "axis"]
        given = [*named, *positional]
        if not given:
            return None
        at = given[0]
        others = [k for k in node.keywords if k.arg not in ("axis", "keepdims") and not is_less(how, k)] + given[1:]
        if others:
            other, named = others[0], isinstance(others[0], ast.keyword)
            message = "a reduction along an axis takes an array and the axis"
            help = _instead.reduction_along(how, other.arg if named else None)
            self.fail(other.value if named else other, message, "something else here", help)
        if self._keeps_axis(node) and isinstance(at, ast.Constant) and at.value is None:
            self.fail(at, "an axis that is kept is one of them", "all of them", "leave `keepdims` out")
        if isinstance(at, ast.Constant) and at.value is None:
            return None
        axis = None if isinstance(at, (ast.Tuple, ast.List)) else self.integer(at, "an axis").const
        if axis is None:
            help = "reduce along one after the other: `np.sum(np.sum(a, axis=2), axis=0)`"
            self.fail(at, "the axis of a reduction is a constant", "several, or known only at run time", help)
        return int(axis)

    def _keeps_axis(self, node: ast.Call) -> bool:
        """Return whether a reduction keeps its axis, with the length 1."""
        kept = [keyword.value for keyword in node.keywords if keyword.arg == "keepdims"]
        if kept and not (isinstance(kept[0], ast.Constant) and isinstance(kept[0].value, bool)):
            self.fail(kept[0], "`keepdims` is `True` or `False` in a kernel", "here")
        return bool(kept) and kept[0].value is True

    def along(self, node: Any, how: str, source: ast.expr, axis: int) -> Value | None:
        """Translate a reduction along an axis: an array of one dimension less; None if it gives a number."""
        made = self._reduced_along(node, how, source, axis)
        if not self._keeps_axis(node):
            return made
        if made is None:
            self.fail(node, "the axis is kept of arrays of several dimensions", "here", "leave `keepdims` out")
        name, ndim = self.temporary("part"), made.type.ndim + 1
        axis %= ndim
        self.dims[f"{name}__n{axis}"] = "1 elements"
        for k in range(made.type.ndim):
            self._same_length(f"{name}__n{k + (k >= axis)}", self.dim(made.text, k))
        axes = tuple(Axis(Value("0", INT, True, 0, 0, 0), 1) for _ in range(made.type.ndim))
        self.parts[name] = Part(made, self._name_of(made), axes, new=frozenset([axis]))
        return Value(name, Array(made.type.of, ndim), made.uniform)

    def _reduced_along(self, node: Any, how: str, source: ast.expr, axis: int) -> Value | None:
        """Translate it to an array without the axis."""
        named = how.partition(" ")[0]
        outer = self.elements
        self.elements = {**outer, **{id(part): self.keep(self.number(part)) for part in self._whole(source)}}
        found = list(self._arrays_in(source))
        if not found:
            self.elements = outer
            self.fail(source, f"`{named}` along an axis takes an array", self.kind_of(source))
        likes = self.broadcast(found)
        ndim = len(likes)
        if not -ndim <= axis < ndim:
            self.fail(node, f"this array has {ndim} dimension{'s' * (ndim != 1)}", f"there is no axis {axis}")
        axis %= ndim
        if ndim == 1:
            self.elements = outer
            return None
        if not self.is_uniform_here():
            message = f"`{named}` along an axis gives an array, which is made outside of `foreach`"
            self.fail(node, message, "here", _instead.reduction(named, "axis"))
        lengths = [self.dim(like.text, k) for like, k in likes]
        self.same_lengths(found, lengths)
        for part in self._numbers(source):
            self.elements[id(part)] = self.keep(self.number(part))
        kept = [length for k, length in enumerate(lengths) if k != axis]
        less = self.less_of(node, how)
        made = self.new_array(node, FLOAT64, kept, None)
        if how in ("min", "max", "argmin", "argmax", _NORMS[_linear.norm_of_least]):
            size = " && ".join(f"{length.text} > 0" for length in kept)
            self.demand(node, f"{lengths[axis].text} > 0 || !({size})", f"`{named}` takes at least one element")
        counters = [self.temporary("at") for _ in lengths]
        # In rows lanes take elements of one row, else each has its own result.
        by_rows = axis == ndim - 1 and (how.startswith(_NORM) or how in _BY_ROWS)
        kept_counters = [counter for k, counter in enumerate(counters) if k != axis]
        if by_rows:
            for counter, length in zip(kept_counters, kept):
                self.emit(f"for (uniform int {counter} = 0; {counter} < {length.text}; ++{counter}) {{")
                self.indent += 1
            index = [replace(value, uniform=True) for value in self._indices_at(made, kept_counters)]
        else:
            self._begin(node, kept_counters, kept, True)
            index = self._indices_at(made, kept_counters)

        def inner(write: Any) -> None:
            """Write a loop along the axis."""
            if by_rows:
                self.emit(f"foreach ({counters[axis]} = 0 ... {lengths[axis].text}) {{")
                self.enter_foreach(node)
            else:
                k = counters[axis]
                self.emit(self.loop_to(k, lengths[axis]))
                self.indent += 1
            elements = self.elements
            self.elements = dict(elements)
            self.elements.update((id(part), self._element_of(array, counters, by_rows, axis)) for part, array in found)
            write(self.number(source))
            self.elements = elements
            if by_rows:
                self._end(True)
            else:
                self._end(False)

        counter = Value(counters[axis], INT, by_rows, 0, LONGEST)
        result = self._along(node, how, inner, lengths[axis].text, counter, by_rows, less)
        ty = result.type
        place, _ = self.place_of(made, index)
        self.emit(f"{place} = {result.text};")
        self.elements = outer
        if by_rows:
            for _ in kept:
                self._end(False)
        else:
            self._end(True)
        return self.in_type(made, ty)

    def _element_of(self, array: Value, counters: list[str], by_rows: bool, axis: int) -> Value:
        """Give the element of an array at counters of which some are the same for all lanes."""
        own = counters[len(counters) - array.type.ndim :]
        first = len(counters) - len(own)
        indices = [
            Value(
                counter,
                INT,
                (first + k != axis) if by_rows else (first + k == axis),
                0,
                LONGEST,
                below=(self.dim(array.text, k).equals[0], 0),
            )
            if self.dim(array.text, k).const != 1
            else Value("0", INT, True, 0, 0, 0)
            for k, counter in enumerate(own)
        ]
        text, uniform = self.place_of(array, indices)
        return Value(text, array.type.of, uniform)

    def _along(
        self, node: Any, how: str, inner: Any, length: str, counter: Value, by_rows: bool, less: Value | None = None
    ) -> Value:
        """Write the loops of one result, or of one for each lane; give the result."""
        if how.startswith(_NORM):
            return self._norm(node, how, inner, by_rows)
        if how in ("var", "std"):
            mean = self.keep(self._along(node, "mean", inner, length, counter, by_rows))
            self.refuse_complex(node, how, mean)
            total = self._summed(node, "sum", inner, lambda value: self._squared(node, value, mean), by_rows)
            result = self.over_length(total, length, less)
            return result if how == "var" else replace(result, text=f"sqrt({result.text})")
        if how == "count_nonzero":
            test = lambda value: self.cast(self.as_bool(node, value), NUMBERS["int64"], node)  # noqa: E731
            return self._summed(node, "sum", inner, test, by_rows)
        if how in ("argmin", "argmax"):
            return self._first_of(node, how, inner, counter)
        total = self._summed(node, how, inner, lambda value: value, by_rows)
        return self.over_length(total, length, None) if how == "mean" else total

    def _norm(self, node: Any, how: str, inner: Any, by_rows: bool) -> Value:
        """Write a loop that finds a norm; integers are floats before they are squared."""

        def applied(function: Any, value: Value) -> Value:
            return self.keep(_functions.find(function)(self, node, [value]))

        def magnitude(value: Value) -> Value:
            return applied(np.abs, self.keep(self.operate(node, "*", value, constant(1.0))))

        def square(value: Value) -> Value:
            x = self.keep(self.operate(node, "*", value, constant(1.0)))
            return applied(np.real, self.keep(self.operate(node, "*", x, applied(np.conj, x))))

        if how == _NORM:
            total = self._summed(node, "sum", inner, square, by_rows)
            return replace(total, text=f"sqrt({total.text})")
        combine = {"sum": "sum", "greatest": "max", "least": "min"}[how.rpartition(" ")[2]]
        total = self.keep(self._summed(node, combine, inner, magnitude, by_rows))
        # Of no elements the greatest is 0.
        text = f"({total.text} < 0 ? {literal(0, total.type)} : {total.text})"
        return replace(total, text=text) if combine == "max" else total

    def _squared(self, node: Any, value: Value, mean: Value) -> Value:
        apart = self.keep(self.operate(node, "-", value, mean))
        return self.operate(node, "*", apart, apart)

    def _summed(self, node: Any, how: str, inner: Any, of: Any, by_rows: bool) -> Value:
        """Write a loop that combines what `of` makes of elements."""
        total, start, at = self.temporary(how), len(self.lines), self.at
        kinds: list[tuple[Num, str]] = []

        def step(value: Value) -> None:
            value = of(value)
            kinds.append(self._kind(node, how, value))
            ty = kinds[0][0]
            self.emit(f"{total} = {self._step(node, how, Value(total, ty, False), value)};")

        inner(step)
        ty, first = kinds[0]
        self.lines.insert(start, ("    " * self.indent + f"varying {ty.spmd} {total} = {first};", at))
        return self.keep(Value(self._of_lanes(how, total, ty), ty, True)) if by_rows else Value(total, ty, False)

    def _first_of(self, node: Any, how: str, inner: Any, counter: Value) -> Value:
        """Write a loop that finds the first of the least or greatest elements, or NaN."""
        best, place, start, at = self.temporary("best"), self.temporary("place"), len(self.lines), self.at
        types: list[Num] = []
        sign = "<" if how == "argmin" else ">"

        def step(value: Value) -> None:
            ty = strong(value.type)
            self.refuse_complex(node, how, value)
            if ty == BOOL:
                self.fail(node, f"bools have no `{how}`", "bools", "ask for `any` or `all`")
            types.append(ty)
            x = self.keep(self.cast(value, ty, node)).text
            test = f"{counter.text} == 0 || {x} {sign} {best}"
            if ty.kind == "f":
                test = f"({test} || {x} != {x}) && !({counter.text} > 0 && {best} != {best})"
            self.emit(f"if ({test}) {{ {best} = {x}; {place} = {counter.text}; }}")

        inner(step)
        head = [f"varying {types[0].spmd} {best} = 0;", f"varying int64 {place} = 0;"]
        self.lines[start:start] = [("    " * self.indent + text, at) for text in head]
        return Value(place, NUMBERS["int64"], False)


def has_axis(node: ast.Call) -> bool:
    """Return whether a call of `np.linalg.norm` is given an axis, or None for all of them."""
    return len(node.args) > 2 or any(keyword.arg == "axis" for keyword in node.keywords)


def without_axis(node: ast.Call) -> ast.Call:
    """Give a call of `np.linalg.norm` without the axis, where that is the only one of the array, or None."""
    if not node.args or not has_axis(node):
        return node
    others = [keyword for keyword in node.keywords if keyword.arg not in ("axis", "keepdims")]
    return ast.copy_location(ast.Call(node.func, node.args[:2], others), node)
