"""Stores to elements that arrays of indices name: `a[order] = b`, `m[rows] += 1`, `m[rows, columns] = 0`.

They are made one after another, so that of several that name one element the last is what stays, as in numpy. What is
stored is computed before, of what the elements were.
"""

from __future__ import annotations

import ast
from typing import Any

from . import _library
from ._types import Array, Num


class Scattered:
    """Translates such assignments; `Body` has what it needs to know."""

    def is_scattered(self, target: ast.expr) -> bool:
        """Return whether elements, or rows, are assigned that an array of integers names."""
        if not isinstance(target, ast.Subscript) or not self.is_uniform_here() or self.in_arm:
            return False
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(index, (ast.Slice, ast.Starred)) for index in indices):
            return False
        array = self.array_of(target.value)
        if array is None or not isinstance(array.type.of, Num) or len(indices) > array.type.ndim:
            return False
        several = [index for index in indices if self._names_several(index)]
        return bool(several) and (len(indices) == 1 or len(several) == len(indices) == 2 or array.type.ndim == 2)

    def _names_several(self, index: ast.expr) -> bool:
        """Return whether an index is an array of integers, or computes or lists them."""
        self.compute_indices(index)
        array = self.array_of(index)
        return array is not None and isinstance(array.type.of, Num) and array.type.of.is_int

    def scatter(self, node: ast.stmt, target: ast.Subscript, value: ast.expr, op: ast.operator | None) -> None:
        """Write the stores."""
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        at = ast.copy_location(ast.Call(target.value, [], []), target)
        arrays = []
        goal: ast.expr = target.value
        if len(indices) == 2 and not all(map(self._names_several, indices)):
            # Of a row, or of a column.
            row, column = indices
            is_column = self._names_several(row)
            taken: ast.expr = ast.Tuple([ast.Slice(), column], ast.Load()) if is_column else row
            goal = ast.fix_missing_locations(ast.copy_location(ast.Subscript(goal, taken, ast.Load()), target))
            indices = [row] if is_column else [column]
        for index in indices:
            array = self.numbers_at(index)
            if array.type.ndim != 1:
                self.fail(index, "an array of indices has one dimension here", f"this has {array.type.ndim}", "loop")
            arrays.append(array)
        if op is not None:
            if len(indices) == 2:
                help = "loop over the pairs: `for i, j in zip(rows, columns): …`"
                self.fail(target, "pairs of indices are assigned, not added to", "here", help)
            # (Indices that are computed are so once for a node.)
            old = ast.copy_location(ast.Subscript(goal, indices[0], ast.Load()), target)
            value = ast.copy_location(ast.BinOp(old, op, value), node)
        if isinstance(value, (ast.List, ast.Tuple)):
            stored = self.numbers_at(value)
        elif self.array_of(value) is not None or self.makes_elements(value):
            # (A copy: it may be read where it is stored to.)
            stored = self.copied(value, value)
        else:
            stored = self.keep(self.number(value))
        place = self.as_array(goal) if self.array_of(goal) is None else self.array_of(goal)
        kind = (place.type.ndim, len(arrays), stored.type.ndim if isinstance(stored.type, Array) else 0)
        if kind not in _WRITTEN:
            self.fail(target, "indices name elements or rows, and what is stored has one for each", "here", "loop")
        self.of_values(at, _WRITTEN[kind], place, *arrays, stored)


def put_number(a, indices, value):
    n = len(a)
    for k in range(len(indices)):
        i = indices[k]
        a[i + n if i < 0 else i] = value


def put(a, indices, values):
    n = len(a)
    assert len(values) == len(indices), "as many elements are stored as indices name"
    for k in range(len(indices)):
        i = indices[k]
        a[i + n if i < 0 else i] = values[k]


def put_number_in_rows(m, indices, value):
    n = len(m)
    for k in range(len(indices)):
        i = indices[k]
        m[i + n if i < 0 else i, :] = value


def put_row(m, indices, row):
    n = len(m)
    for k in range(len(indices)):
        i = indices[k]
        m[i + n if i < 0 else i, :] = row


def put_rows(m, indices, rows):
    n = len(m)
    assert len(rows) == len(indices), "as many rows are stored as indices name"
    for k in range(len(indices)):
        i = indices[k]
        m[i + n if i < 0 else i, :] = rows[k]


def put_number_at_pairs(m, rows, columns, value):
    n, w = m.shape
    assert len(rows) == len(columns), "there is a column for each row"
    for k in range(len(rows)):
        i, j = rows[k], columns[k]
        m[i + n if i < 0 else i, j + w if j < 0 else j] = value


def put_at_pairs(m, rows, columns, values):
    n, w = m.shape
    assert len(rows) == len(columns), "there is a column for each row"
    assert len(values) == len(rows), "as many elements are stored as indices name"
    for k in range(len(rows)):
        i, j = rows[k], columns[k]
        m[i + n if i < 0 else i, j + w if j < 0 else j] = values[k]


# By the dimensions of the array, how many arrays of indices there are, and the dimensions of what is stored.
_WRITTEN: dict[tuple[int, int, int], Any] = {
    (1, 1, 0): put_number,
    (1, 1, 1): put,
    (2, 1, 0): put_number_in_rows,
    (2, 1, 1): put_row,
    (2, 1, 2): put_rows,
    (2, 2, 0): put_number_at_pairs,
    (2, 2, 1): put_at_pairs,
}
_library.note(of_complex=_WRITTEN.values())
