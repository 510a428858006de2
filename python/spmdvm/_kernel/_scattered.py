"""Stores to elements that arrays of indices name: `a[order] = b`, `m[rows] += 1`, `m[rows, columns] = 0`.

They are made one after another, so that of several that name one element the last is what stays, as in numpy. What is
stored is computed before, of what the elements were.
"""

from __future__ import annotations

import ast
from typing import Any

from . import _library
from ._types import Array, Num
from ._values import Value


class Scattered:
    """Translates such assignments; `Body` has what it needs to know."""

    def is_scattered(self, target: ast.expr) -> bool:
        """Return whether elements, or rows, are assigned that an array of integers names."""
        if not isinstance(target, ast.Subscript) or not self.is_uniform_here() or self.in_arm:
            return False
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        if any(isinstance(index, (ast.Slice, ast.Starred)) for index in indices):
            return self.chosen_axis(target) is not None
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
        if any(isinstance(index, ast.Slice) for index in indices):
            return self._store_along(node, target, value, op)
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
        stored = self._stored(value)
        place = self.as_array(goal) if self.array_of(goal) is None else self.array_of(goal)
        kind = (place.type.ndim, len(arrays), stored.type.ndim if isinstance(stored.type, Array) else 0)
        if kind not in _WRITTEN:
            self.fail(target, "indices name elements or rows, and what is stored has one for each", "here", "loop")
        self.of_values(at, _WRITTEN[kind], place, *arrays, stored)

    def _stored(self, value: ast.expr) -> Value:
        """Compute what is stored."""
        if isinstance(value, (ast.List, ast.Tuple)):
            return self.numbers_at(value)
        if self.array_of(value) is not None or self.makes_elements(value):
            # (A copy: it may be read where it is stored to.)
            return self.copied(value, value)
        return self.keep(self.number(value))

    def _store_along(self, node: ast.stmt, target: ast.Subscript, value: ast.expr, op: ast.operator | None) -> None:
        """Write the stores to rows, or columns, that an array of indices or a mask names: `m[:, order] = b`."""
        if op is not None:
            old = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), target)
            value = ast.copy_location(ast.BinOp(old, op, value), node)
        stored = self._stored(value)
        axis, place, indices = self.chosen_along(target)
        ndim = stored.type.ndim if isinstance(stored.type, Array) else 0
        written = (_IN_COLUMNS if axis else _IN_ROWS).get(ndim)
        if written is None:
            self.fail(target, "what is stored in rows or columns has up to two dimensions", f"this has {ndim}", "loop")
        self.of_values(ast.copy_location(ast.Call(target.value, [], []), target), written, place, indices, stored)


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


def put_number_in_columns(m, indices, value):
    w = m.shape[1]
    for k in range(len(indices)):
        j = indices[k]
        m[:, j + w if j < 0 else j] = value


def put_in_columns(m, indices, row):
    w, count = m.shape[1], len(row)
    assert count == len(indices) or count == 1, "as many elements are stored as indices name"
    for k in range(len(indices)):
        j = indices[k]
        m[:, j + w if j < 0 else j] = row[k if count > 1 else 0]


def put_columns(m, indices, columns):
    n, w = m.shape
    height, count = columns.shape
    assert count == len(indices) or count == 1, "as many columns are stored as indices name"
    assert height == n or height == 1, "columns that are stored are as long as those of the array"
    for k in range(len(indices)):
        j = indices[k]
        for i in range(n):
            m[i, j + w if j < 0 else j] = columns[i if height > 1 else 0, k if count > 1 else 0]


def put_in_rows(m, indices, row):
    n, count = len(m), len(row)
    assert count == m.shape[1] or count == 1, "as many elements are stored as a row has"
    for k in range(len(indices)):
        i = indices[k]
        for j in range(m.shape[1]):
            m[i + n if i < 0 else i, j] = row[j if count > 1 else 0]


def put_matrix_in_rows(m, indices, rows):
    n, w = m.shape
    count, width = rows.shape
    assert count == len(indices) or count == 1, "as many rows are stored as indices name"
    assert width == w or width == 1, "rows that are stored are as long as those of the array"
    for k in range(len(indices)):
        i = indices[k]
        for j in range(w):
            m[i + n if i < 0 else i, j] = rows[k if count > 1 else 0, j if width > 1 else 0]


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
# By the dimensions of what is stored along one axis of a matrix.
_IN_COLUMNS = {0: put_number_in_columns, 1: put_in_columns, 2: put_columns}
_IN_ROWS = {0: put_number_in_rows, 1: put_in_rows, 2: put_matrix_in_rows}
_library.note(of_complex=[*_WRITTEN.values(), *_IN_COLUMNS.values(), *_IN_ROWS.values()])
