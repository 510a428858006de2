"""Arrays as long as turns out: what masks and indices choose, `np.nonzero(a)`, `np.unique(a, return_counts=True)`."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from . import _library, _sought
from ._rearranged import Rearranged
from ._types import BOOL, Num
from ._values import Value, tuple_of

# The further results of `np.unique`, in their order.
_OF_UNIQUE = ("return_index", "return_inverse", "return_counts")


class Chosen(Rearranged):
    """Translates what chooses elements; `Body` has what it needs to know."""

    def gives_several_arrays(self, node: ast.Call, function: Any) -> bool:
        """Return whether a function of numpy gives a tuple of arrays."""
        if function is np.unique:
            return any(keyword.arg in _OF_UNIQUE for keyword in node.keywords)
        if function is np.linspace:
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            return self.flag_of(given, "retstep", False) if len(node.args) < 5 else True
        is_where = function is np.where and len(node.args) == 1 and not node.keywords
        return function is np.histogram or function is np.nonzero or is_where

    def several_arrays(self, node: ast.Call, function: Any) -> Value | None:
        """Translate such a call; None if it is another."""
        if not self.gives_several_arrays(node, function):
            return None
        if function is np.histogram:
            return self.histogram(node)
        if function is np.linspace:
            return tuple_of(self.spread(node))
        return self._distinct_parts(node) if function is np.unique else self._nonzero(node)

    def _nonzero(self, node: ast.Call) -> Value:
        """Translate `np.nonzero(a)` and `np.where(a)`: the indices of the elements that are not zero."""
        called = ast.unparse(node.func)
        (source,) = self.arguments_of(node, ("condition" if called.endswith("where") else "a",), 1).values()
        self._need_memory(node)
        array = self.numbers_at(source)
        if array.type.ndim > 2:
            help = f"ask for those of all elements in a row: `np.flatnonzero({ast.unparse(source)})`"
            self.fail(node, f"`{called}` takes arrays of up to two dimensions in a kernel", "this has more", help)
        if array.type.ndim == 1:
            return tuple_of([self.of_values(node, _sought.flatnonzero, array)])
        return self.of_values(node, _sought.places_in_rows, array)

    def _distinct_parts(self, node: ast.Call) -> Value:
        """Translate `np.unique(a, return_counts=True)` and its like."""
        given = self.arguments_of(node, ("ar", *_OF_UNIQUE), 1)
        self._need_memory(node)
        wanted = [True]
        for name in _OF_UNIQUE:
            flag = given.get(name)
            if flag is not None and not (isinstance(flag, ast.Constant) and isinstance(flag.value, bool)):
                self.fail(flag, f"`{name}` is `True` or `False` in a kernel", "here")
            wanted.append(flag is not None and flag.value is True)
        array = self.numbers_at(given["ar"])
        if array.type.ndim > 1:
            array = self.in_a_row(given["ar"], array)
        found = self.of_values(node, _sought.distinct_parts, array)
        parts = [part for part, is_wanted in zip(found.parts, wanted) if is_wanted]
        return tuple_of(parts) if len(parts) > 1 else parts[0]

    def _need_memory(self, node: ast.Call) -> None:
        if self.is_uniform_here() and not self.in_arm:
            return
        help = "call it before, once for all elements; or loop over the elements, and count"
        self.fail(node, f"`{ast.unparse(node.func)}` is called outside of `foreach`, once", "here", help)

    def sought(self, node: ast.Call, function: Any) -> Value | None:
        """Translate functions that are given an array where they may be given a number; None of other calls.

        They are `np.searchsorted(a, v)`, `np.digitize(x, bins)`, `np.quantile(a, q)`, `np.partition(a, places)` and
        `np.repeat(a, counts)`; and `np.take(m, indices, axis=1)`.
        """
        if function is np.take and (len(node.args) > 2 or node.keywords):
            return self._taken_along(node)
        if function in (np.quantile, np.percentile) and len(node.args) == 2 and not node.keywords:
            if not self.may_be_several(node.args[1]):
                return None
            self._need_memory(node)
            arrays = [self.numbers_at(arg) for arg in node.args]
            if arrays[1].type.ndim > 1:
                self.fail(node.args[1], "quantiles are those of a list of numbers", "this has two dimensions", "loop")
            written = _sought.ends if arrays[1].type.of.is_int else _sought.quantiles
            return self.of_values(node, written if function is np.quantile else _sought.percentiles, *arrays)
        if function in (np.partition, np.argpartition) and len(node.args) == 2 and not node.keywords:
            if not self.may_be_several(node.args[1]):
                return None
            self._need_memory(node)
            arrays = [self.numbers_at(arg) for arg in node.args]
            written = _sought.partitioned if function is np.partition else _sought.indices_partitioned
            if any(array.type.ndim > 1 for array in arrays) or not arrays[1].type.of.is_int:
                called = ast.unparse(node.func)
                help = f"loop over the rows: `{called}(m[i], k)`"
                self.fail(node, f"`{called}` takes an array of one dimension, and places in it", "here", help)
            return self.of_values(node, written, *arrays)
        if function is np.digitize and node.args and self.may_be_several(node.args[0]):
            given = self.arguments_of(node, ("x", "bins", "right"), 2)
            is_right = self.flag_of(given, "right", False)
            self._need_memory(node)
            arrays = [self.numbers_at(given[name]) for name in ("x", "bins")]
            if any(array.type.ndim > 1 for array in arrays):
                help = f"take them in a row, and reshape what you get: `{ast.unparse(given['x'])}.ravel()`"
                self.fail(node, "`np.digitize` takes arrays of one dimension in a kernel", "this has more", help)
            return self.of_values(node, _sought.bins_with_right_edges if is_right else _sought.bins_of, *arrays)
        if function is np.searchsorted and len(node.args) > 1 and self.may_be_several(node.args[1]):
            given = self.arguments_of(node, ("a", "v", "side"), 2)
            side = given.get("side")
            if side is not None and not (isinstance(side, ast.Constant) and side.value in ("left", "right")):
                self.fail(side, "`side` is `'left'` or `'right'` in a kernel", "here")
            self._need_memory(node)
            arrays = [self.numbers_at(given[name]) for name in ("a", "v")]
            is_right = side is not None and side.value == "right"
            return self.of_values(node, _sought.places_behind if is_right else _sought.places_of, *arrays)
        if function is not np.repeat:
            return None
        given = self.arguments_of(node, ("a", "repeats", "axis"), 2)
        if not self.may_be_several(given["repeats"]):
            return None
        self._need_memory(node)
        arrays = [self.numbers_at(given[name]) for name in ("a", "repeats")]
        if not arrays[1].type.of.is_int:
            told = f"these are `{arrays[1].type.of}`"
            self.fail(given["repeats"], "elements are repeated as often as integers say", told, "convert them")
        if arrays[0].type.ndim > 1 and "axis" in given:
            help = "repeat the indices, and take these: `m[np.repeat(np.arange(len(m)), counts)]`"
            self.fail(node, "elements of arrays of one dimension are repeated by counts of their own", "here", help)
        return self.of_values(node, _sought.repeated, self.in_a_row(given["a"], arrays[0]), arrays[1])

    def _taken_along(self, node: ast.Call) -> Value | None:
        """Translate `np.take(m, indices, axis=1)`, which is `m[:, indices]`."""
        given = self.arguments_of(node, ("a", "indices", "axis"), 2)
        if "axis" not in given or not self.may_be_several(given["indices"]):
            return None
        array, axis = self.numbers_at(given["a"]), self.integer(given["axis"], "an axis").const
        if axis is None or not -array.type.ndim <= axis < array.type.ndim or array.type.ndim > 2:
            self.fail(node, "elements are taken along an axis of a matrix in a kernel, a constant", "here", "loop")
        if array.type.ndim == 1:
            call = ast.copy_location(ast.Call(node.func, [given["a"], given["indices"]], []), node)
            return self._of_library(call, _library.find(np.take))
        whole = self.standing_for(given["a"], array)
        at: ast.expr = given["indices"]
        if isinstance(at, (ast.Tuple, ast.List)):
            at = self.standing_for(at, self.numbers_at(at))
        along = at if axis % 2 == 0 else ast.Tuple([ast.Slice(), at], ast.Load())
        part = ast.fix_missing_locations(ast.copy_location(ast.Subscript(whole, along, ast.Load()), node))
        return self._chosen(part)

    def may_be_several(self, node: ast.expr) -> bool:
        """Return whether an argument is an array, or lists or computes one, rather than a number."""
        if isinstance(node, (ast.List, ast.Tuple)) or self.array_of(node) is not None:
            return True
        return self.makes_elements(node) or self._tuple_at(node) is not None

    def chosen_along(self, node: ast.Subscript) -> tuple[int, Value, Value]:
        """Give along which axis indices choose of a matrix, the part of it that they choose of, and the indices."""
        axis = self.chosen_axis(node)
        assert axis is not None and isinstance(node.slice, ast.Tuple)
        whole, at = ast.Slice(), node.slice.elts[axis]
        parts: list[ast.expr] = [node.slice.elts[0], whole] if axis else [whole, node.slice.elts[1]]
        of = ast.Subscript(node.value, ast.Tuple(parts, ast.Load()), ast.Load())
        part = ast.fix_missing_locations(ast.copy_location(of, node))
        index, place = self.numbers_at(at), self.array_of(part)
        if index.type.of == BOOL:
            one, other = self.dim(place.text, axis), self.dim(index.text, 0)
            if one.equals != other.equals or one.equals is None:
                self.demand(node, f"{one.text} == {other.text}", "a mask has an element for each row or column")
            index = self.of_values(ast.copy_location(ast.Call(at, [], []), at), _sought.flatnonzero, index)
        return axis, place, index

    def chosen_of_several(self, node: ast.Subscript, array: Value) -> Value | None:
        """Translate `m[mask]` and `m[order]` of an array of several dimensions; None of one of one."""
        if array.type.ndim == 1 or not isinstance(array.type.of, Num):
            return None
        call = ast.copy_location(ast.Call(node.value, [node.value, node.slice], []), node)
        if isinstance(node.slice, ast.Tuple):
            axis, place, index = self.chosen_along(node)
            return self.of_values(call, _sought.taken_columns if axis else _sought.taken_rows, place, index)
        index = self.numbers_at(node.slice)
        if index.type.ndim == array.type.ndim and index.type.of == BOOL:
            for axis in range(array.type.ndim):
                one, other = self.dim(array.text, axis), self.dim(index.text, axis)
                if one.equals != other.equals:
                    self.demand(node, f"{one.text} == {other.text}", "a mask has the shape of its array")
            flat = [self.in_a_row(at, of) for at, of in ((node.value, array), (node.slice, index))]
            parts = [self.standing_for(node, of) for of in flat]
            return self._chosen(ast.copy_location(ast.Subscript(parts[0], parts[1], ast.Load()), node))
        if index.type.ndim > 1 or array.type.ndim > 2:
            self.fail(node, "a mask or an array of indices chooses rows of a matrix", f"`{array.type}`", "loop over it")
        written = _sought.chosen_rows if index.type.of == BOOL else _sought.taken_rows
        return self.of_values(call, written, array, index)
