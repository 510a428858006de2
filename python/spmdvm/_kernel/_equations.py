"""Linear equations: `np.linalg.solve(a, b)`, `np.linalg.inv(a)`, `np.linalg.det(a)`, `np.linalg.cholesky(a)`.

They are solved in a copy of the matrix, by elimination with partial pivoting, as LAPACK does for numpy.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from . import _linear
from ._chosen import Chosen
from ._types import FLOAT64, Num, promote, strong
from ._values import Value, constant

EQUATIONS = (np.linalg.solve, np.linalg.inv, np.linalg.cholesky)


class Equations(Chosen):
    """Translates what solves equations; `Body` has what it needs to know."""

    def of_equations(self, node: ast.Call, function: Any) -> Value | None:
        """Translate a call that gives an array; None if it is one of another function."""
        if function is np.linalg.solve:
            return self._solved(node)
        if function is np.linalg.inv:
            matrix = self._square(node, self.arguments_of(node, ("a",), 1)["a"])
            size, of = self.dim(matrix.text, 0), self._type_of(node, matrix)
            return self._solution(node, matrix, self.identity_of(node, of, [size, size], constant(0)), of)
        return self._factor(node) if function is np.linalg.cholesky else None

    def determinant(self, node: ast.Call) -> Value:
        """Translate `np.linalg.det(a)`."""
        matrix = self._square(node, self.arguments_of(node, ("a",), 1)["a"])
        return self.of_values(node, _linear.det, self.copy_of(node, matrix, self._type_of(node, matrix)))

    def _solved(self, node: ast.Call) -> Value:
        """Translate `np.linalg.solve(a, b)`, of which `b` is a vector, or a matrix with a right side in each column."""
        given = self.arguments_of(node, ("a", "b"), 2)
        matrix, sides = self._square(node, given["a"]), self.numbers_at(given["b"])
        if sides.type.ndim not in (1, 2):
            note = f"this has {sides.type.ndim} dimensions"
            self.fail(given["b"], "right sides are a vector or the columns of a matrix", note, "loop over them")
        rows, size = self.dim(sides.text, 0), self.dim(matrix.text, 0)
        if rows.equals != size.equals:
            told = "solve: the right side has as many rows as the matrix"
            self.raise_unless(node, f"{rows.text} == {size.text}", ValueError, told)
        of = promote(self._type_of(node, matrix), self._type_of(node, sides))
        return self._solution(node, matrix, self.copy_of(node, sides, of), of)

    def _solution(self, node: ast.Call, matrix: Value, sides: Value, of: Num) -> Value:
        """Put solutions in the place of right sides."""
        found = self.keep(self.of_values(node, _linear.solve, self.copy_of(node, matrix, of), sides))
        self.raise_unless(node, found.text, np.linalg.LinAlgError, "Singular matrix")
        return sides

    def _factor(self, node: ast.Call) -> Value:
        """Translate `np.linalg.cholesky(a)`, which reads the lower part of a matrix, or the upper one."""
        given = self.arguments_of(node, ("a", "upper"), 1)
        upper, matrix = given.get("upper"), self._square(node, given["a"])
        if upper is not None and not (isinstance(upper, ast.Constant) and isinstance(upper.value, bool)):
            self.fail(upper, "`upper` is `True` or `False` in a kernel", "here")
        is_upper = upper is not None and upper.value
        of = self._type_of(node, matrix)
        if of.kind == "c":
            self.fail(node, "matrices of complex numbers have no such factor in a kernel", f"`{of}`")
        made = self.copy_of(node, self._turned(node, matrix) if is_upper else matrix, of)
        found = self.keep(self.of_values(node, _linear.cholesky, made))
        self.raise_unless(node, found.text, np.linalg.LinAlgError, "Matrix is not positive definite")
        return self._turned(node, made) if is_upper else made

    def _turned(self, node: ast.Call, matrix: Value) -> Value:
        source = self.standing_for(node, matrix)
        return self.turned(ast.copy_location(ast.Attribute(source, "T", ast.Load()), node), source)

    def _square(self, node: ast.Call, at: ast.expr) -> Value:
        """Give a matrix, of which it is tested that it is square."""
        matrix = self.numbers_at(at)
        if matrix.type.ndim != 2:
            note = f"this has {matrix.type.ndim} dimension{'s' * (matrix.type.ndim != 1)}"
            help = "loop over the matrices" if matrix.type.ndim > 2 else None
            self.fail(at, f"`{ast.unparse(node.func)}` takes a matrix in a kernel", note, help)
        rows, columns = (self.dim(matrix.text, k) for k in range(2))
        if rows.equals != columns.equals:
            told = "Last 2 dimensions of the array must be square"
            self.raise_unless(node, f"{rows.text} == {columns.text}", np.linalg.LinAlgError, told)
        return matrix

    def _type_of(self, node: ast.Call, array: Value) -> Num:
        """Give the type in which numpy computes with a matrix."""
        of = strong(array.type.of)
        if of.kind not in "fc":
            return FLOAT64
        if of.kind == "f" and of.bits == 16:
            help = "convert it: `a.astype(np.float32)`"
            self.fail(node, "equations are solved in `float32`, `float64` and complex types", f"`{of}`", help)
        return of
