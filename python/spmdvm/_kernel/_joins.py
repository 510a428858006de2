"""Arrays that are joined to one."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from ._reductions import Reductions
from ._types import promote
from ._values import Value

JOINS = (np.concatenate, np.hstack, np.vstack, np.stack, np.column_stack)


class Joins(Reductions):
    """Translates what joins arrays; `Body` has what it needs to know."""

    def joined(self, node: ast.Call, function: Any) -> Value:
        """Translate `np.concatenate((a, b))` along an axis, and `np.hstack`, `np.vstack` and `np.stack`."""
        given = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "axis")]
        has_axis = function in (np.concatenate, np.stack)
        along = next((self.number(each).const for each in given), 0) if has_axis else None
        among = node.args[0] if node.args and len(node.args) + len(node.keywords) == 1 + len(given) else None
        arrays = [self.as_array(each) for each in among.elts] if isinstance(among, (ast.Tuple, ast.List)) else [None]
        if function in (np.column_stack, np.vstack) and None not in arrays:
            new = int(function is np.column_stack)
            arrays = [self._with_axis(node, array, new) if array.type.ndim == 1 else array for array in arrays]
        dims = {None if array is None else array.type.ndim for array in arrays}
        ndim = next(iter(dims)) if len(dims) == 1 else None
        if along is None and ndim is not None and given == []:
            along = 0 if function is np.vstack else min(ndim - 1, 1)
        if function is np.stack and ndim is not None and isinstance(along, int) and -ndim <= along + 1 <= ndim + 1:
            along, ndim = along % (ndim + 1), ndim + 1
            arrays = [self._with_axis(node, array, along) for array in arrays]
        if not arrays or ndim is None or not isinstance(along, int) or not -ndim <= along < ndim:
            help = "make an array, and store to its parts: `out[:n] = a`, `out[n:] = b`"
            note = "these are others" if None in dims or ndim is None else f"along another axis than these have: {ndim}"
            self.fail(node, "arrays of as many dimensions are joined in a kernel", note, help)
        return self._one_of(node, arrays, along % ndim)

    def _with_axis(self, node: ast.Call, array: Value, axis: int) -> Value:
        """Give an array with a new axis, of the length 1."""
        indices: list[ast.expr] = [ast.Slice() for _ in range(array.type.ndim)]
        indices.insert(axis, ast.Constant(None))
        index = ast.Tuple(indices, ast.Load())
        part = ast.Subscript(self.standing_for(node, array), index, ast.Load())
        return self.part(ast.fix_missing_locations(ast.copy_location(part, node)))

    def as_array(self, node: ast.expr) -> Value | None:
        """Give the array that an expression is, or one of its elements; None if it is a number."""
        found = self.array_of(node)
        return self.copied(node, node) if found is None and self.makes_elements(node) else found

    def standing_for(self, node: ast.expr, array: Value) -> ast.expr:
        """Give an expression that stands for an array that is there already."""
        at = ast.copy_location(ast.Attribute(ast.Name("<value>", ast.Load()), "T", ast.Load()), node)
        self.parts_of[id(at)] = at, array
        return at

    def in_a_row(self, source: ast.expr, array: Value) -> Value:
        """Give the elements of an array as one of one dimension."""
        whole = self.standing_for(source, array)
        return self.flattened(ast.copy_location(ast.Attribute(whole, "flat", ast.Load()), source), whole)

    def arguments_of(self, node: ast.Call, names: tuple[str, ...], needed: int) -> dict[str, ast.expr]:
        """Give the arguments of a call by their names, of which the first ones are needed.

        What is None is as if it were left out.
        """
        called, given = ast.unparse(node.func), dict(zip(names, node.args))
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in given:
                message = f"`{called}` takes no such `{keyword.arg}` in a kernel"
                self.fail(keyword.value, message, "here", f"they are {', '.join(names)}")
            given[keyword.arg] = keyword.value
        if len(node.args) > len(names):
            message = f"`{called}` takes {len(names)} argument{'s' * (len(names) != 1)} in a kernel"
            self.fail(node.args[len(names)], message, "more here")
        given = {name: at for name, at in given.items() if self._found_at(at) is not None}
        for name in names[:needed]:
            if name not in given:
                message = f"`{called}` takes {' and '.join(f'`{each}`' for each in names[:needed])}"
                self.fail(node, message, f"`{name}` is missing")
        return given

    def _one_of(self, node: ast.Call, arrays: list[Value], along: int) -> Value:
        """Make an array of the elements of several, one behind the other along an axis."""
        ty = arrays[0].type.of
        for array in arrays[1:]:
            ty = ty and promote(ty, array.type.of)
        if ty is None:
            self.fail(node, "these arrays have no common type", "here", "convert them: `a.astype(np.float64)`")
        axes = range(arrays[0].type.ndim)
        lengths = [self.dim(arrays[0].text, k) for k in axes]
        for array in arrays[1:]:
            for k in axes:
                length = self.dim(array.text, k)
                if k == along:
                    lengths[k] = self.operate(node, "+", lengths[k], length)
                elif length.equals != lengths[k].equals:
                    self.demand(
                        node, f"{length.text} == {lengths[k].text}", "arrays that are joined have equal lengths"
                    )
        made = self.new_array(node, ty, lengths, None)
        start = "0"
        for array in arrays:
            counters = [self.temporary("at") for _ in axes]
            self._begin(node, counters, [self.dim(array.text, k) for k in axes], True)
            element = self.element_at(array, counters)
            counters[along] = f"({start} + {counters[along]})"
            place = counters[0]
            for k in axes[1:]:
                place = f"((int64){place} * {self.dim(made.text, k).text} + {counters[k]})"
            self.emit(f"{self._root_of(made.text)}[{place}] = {self.cast(element, ty, node).text};")
            self._end(True)
            start = f"{start} + {self.dim(array.text, along).text}"
        return made
