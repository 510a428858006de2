"""What loops go over: arrays, lists, tuples, and `range`, `enumerate`, `zip` and `reversed` of these.

Each is as many values, and what has one of them at an index; so they stand in one another as in Python.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

from ._expressions import Expressions
from ._types import INT, Num, Tuple
from ._usage import of_program
from ._values import LONGEST, Value, constant, tuple_of


class Iterables(Expressions):
    """Translates what loops go over; `Body` has what they need to know."""

    def gone_through(self, node: ast.expr) -> tuple[Value, Any] | None:
        """Give how many values there are, and what has one of them at an index; None of what is nothing like that."""
        if (found := self.over_dict(node)) is not None:
            return found
        function = None
        if isinstance(node, ast.Call) and self.array_of(node) is None and not self.is_method(node):
            function = self.called(node)
        of_iterables = {
            range: self._of_range, zip: self._zipped, builtins.enumerate: self._enumerated, reversed: self._reversed,
        }  # fmt: skip
        given = next((translate for known, translate in of_iterables.items() if function is known), None)
        if given is not None:
            return given(node)
        array = self.array_of(node)
        if array is None and not isinstance(node, (ast.Name, ast.Tuple, ast.List)) and self.makes_elements(node):
            array = self.copied(node, node)
        if array is not None:
            return self._elements_of(node, array)
        may_be_tuple = isinstance(node, (ast.Tuple, ast.Name, ast.Attribute, ast.Subscript, ast.BinOp))
        if isinstance(node, ast.List):
            parts = tuple(map(self.expression, node.elts))
        elif may_be_tuple or (function is not None and of_program(function) is not None):
            parts = self.expression(node).parts
        else:
            return None
        if parts is None:
            return None
        if not parts:
            self.fail(node, "there is nothing to loop over", "empty")
        return constant(len(parts)), self._table(node, parts)

    def _have_values(self, node: ast.expr, what: str) -> tuple[Value, Any]:
        """Give what `gone_through` gives; fail if there is nothing to go over."""
        found = self.gone_through(node)
        if found is None:
            self.fail(node, f"`{what}` goes over arrays, lists and tuples in a kernel", self.kind_of(node))
        return found

    def _zipped(self, node: ast.Call) -> tuple[Value, Any]:
        """Translate `zip(a, b)`."""
        if not node.args or node.keywords:
            self.fail(node, "`zip` takes arrays and tuples in a kernel", "here")
        lengths, items = zip(*(self._have_values(values, "zip") for values in node.args))
        shortest = lengths[0]
        for length in lengths[1:]:
            if length.equals != shortest.equals or length.equals is None:
                text = f"({length.text} < {shortest.text} ? {length.text} : {shortest.text})"
                known = length.before, shortest.before
                host = None if None in known else f"_min({known[0]}, {known[1]})"
                shortest = Value(text, INT, length.uniform and shortest.uniform, 0, LONGEST, host=host)
        return self.keep(shortest), lambda index: tuple_of(item(index) for item in items)

    def _enumerated(self, node: ast.Call) -> tuple[Value, Any]:
        """Translate `enumerate(a)` and `enumerate(a, 1)`."""
        given = self.arguments_of(node, ("iterable", "start"), 1)
        length, item = self._have_values(given["iterable"], "enumerate")
        first = self.keep(self.integer(given["start"], "`enumerate`")) if "start" in given else constant(0)

        def pair(index: Value) -> Value:
            return tuple_of([index if first.const == 0 else self.operate(node, "+", index, first), item(index)])

        return length, pair

    def _reversed(self, node: ast.Call) -> tuple[Value, Any]:
        """Translate `reversed(a)`."""
        if len(node.args) != 1 or node.keywords:
            self.fail(node, "`reversed` takes one array, list or tuple", "here")
        length, item = self._have_values(node.args[0], "reversed")
        length = self.keep(length)
        equals = length.equals or (None if length.const is None else (f"{length.const} elements", 0))

        def from_end(index: Value) -> Value:
            text = f"({length.text} - 1 - {index.text})"
            high = LONGEST if length.const is None else max(int(length.const) - 1, 0)
            return item(Value(text, INT, index.uniform and length.uniform, 0, high, below=equals))

        return length, from_end

    def _of_range(self, node: ast.Call) -> tuple[Value, Any]:
        """Translate a `range` that is not all of what a loop goes over."""
        if node.keywords or not 1 <= len(node.args) <= 3:
            self.fail(node, "`range` takes one to three numbers", "here")
        ends = [self.keep(self.integer(arg, "`range`")) for arg in node.args]
        first, last, step = (constant(0), *ends, constant(1)) if len(ends) == 1 else (*ends, constant(1))[:3]
        if step.const == 0:
            self.fail(node.args[2], "the step of a `range` is not zero", "here")
        if step.const is None:
            self.demand(node, f"{step.text} != 0", "range() step must not be zero")
        count = last if first.const == 0 else self.keep(self.operate(node, "-", last, first))
        if step.const != 1:
            # How many steps lie before the end, rounded up.
            steps = self.operate(node, "//", self.operate(node, "-", constant(0), count), step)
            count = self.keep(self.operate(node, "-", constant(0), steps))
        if count.low < 0:
            host = None if count.before is None else f"_max({count.before}, 0)"
            count = Value(f"({count.text} > 0 ? {count.text} : 0)", INT, count.uniform, 0, LONGEST, host=host)

        def item(index: Value) -> Value:
            by = index if step.const == 1 else self.operate(node, "*", index, step)
            return by if first.const == 0 else self.operate(node, "+", first, by)

        return count, item

    def _elements_of(self, node: ast.expr, array: Value) -> tuple[Value, Any]:
        """Give the length of an array, and what has its element at an index."""
        self.want_type(node)
        array = self.fixed(array)
        if array.type.ndim == 0:
            self.fail(node, "loops go over arrays", "this is one record", "take its fields: `p.x`")
        if isinstance(array.type.of, Tuple):
            return self.dim(array.text, 0), lambda index: self.tuple_in_list(array, [index])
        if array.type.ndim == 1 and not isinstance(array.type.of, Num):
            return self.dim(array.text, 0), lambda index: self.record_of(array, [index])
        if array.type.ndim > 1:
            return self.dim(array.text, 0), lambda index: self.row_of(array, index)

        def element(index: Value) -> Value:
            text, uniform = self.place_of(array, [index])
            return Value(text, array.type.of, uniform)

        return self.dim(array.text, 0), element
