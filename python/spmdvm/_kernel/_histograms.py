"""Which elements an array has, and how many: `np.unique(a)`, `np.histogram(a, 10, (0, 1))`."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from . import _functions, _instead, _library
from ._joins import Joins
from ._types import FLOAT64, INT, NUMBERS, Num, promote, strong
from ._values import Value, constant, exactly, tuple_of


class Histograms(Joins):
    """Translates what tells which elements there are; `Body` has what it needs to know."""

    def distinct(self, node: ast.Call) -> Value:
        """Translate `np.unique(a)`: a copy in order, and the part of it that keeps one of equal elements."""
        called = ast.unparse(node.func)
        others = [*node.args[1:], *node.keywords]
        if not node.args or others:
            other = others[0] if others else node
            named = other.arg if isinstance(other, ast.keyword) else None
            at = other.value if isinstance(other, ast.keyword) else other
            message = f"`{called}` takes an array and nothing else in a kernel"
            self.fail(at, message, "here", _instead.of_unique(named))
        (source,) = self.with_arrays(node).args
        if not self.makes_elements(source):
            self.fail(source, f"`{called}` takes an array", self.kind_of(source))
        made = self.copied_in_a_row(node, source)
        self.sort_in_place(node, made)
        count = self.keep(self.of_values(node, _library.keep_distinct, made))
        return self.first_of(node, made, count)

    def histogram(self, node: ast.Call) -> Value:
        """Translate `np.histogram`: how many elements are between edges, and the edges."""
        called, given = ast.unparse(node.func), self._of_histogram(node)
        if not self.is_uniform_here():
            help = "call it before; or count: `bins[k] += 1`"
            self.fail(node, f"`{called}` makes arrays, outside of `foreach`", "here each element runs by itself", help)
        array = self._in_a_row(self.as_listed(given["a"]))
        self.refuse_complex_in(node, [array])
        bins = self.as_listed(given["bins"])
        edges = self.listed_array(bins) if isinstance(bins, (ast.List, ast.Tuple)) else self.as_array(bins)
        if edges is None:
            return self._of_equal_bins(node, array, bins, given.get("range"))
        if "range" in given:
            self.fail(given["range"], "edges are their own range", "here", "leave it out")
        if edges.type.ndim != 1:
            self.fail(bins, "edges are an array of one dimension", f"this has {edges.type.ndim}")
        self.refuse_complex_in(node, [edges])
        apart = self.operate(node, "-", self.dim(edges.text, 0), constant(1))
        count = _functions.find(max)(self, node, [constant(0), apart])
        counts = self._new_counts(node, count)
        self.of_values(node, _library.count_between, array, edges, counts)
        return tuple_of([counts, edges])

    def is_of_histogram(self, node: ast.Subscript) -> bool:
        """Return whether counts or edges are taken at once: `np.histogram(a, 10, (0, 1))[0]`."""
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(node.slice, ast.Constant) or self.is_method(call):
            return False
        return isinstance(call.func, (ast.Name, ast.Attribute)) and self.called(call) is np.histogram

    def _of_histogram(self, node: ast.Call) -> dict[str, ast.expr]:
        """Give the arguments of `np.histogram` by their names."""
        called, names = ast.unparse(node.func), ("a", "bins", "range")
        given = dict(zip(names, node.args))
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in given:
                help = _instead.of_histogram(keyword.arg)
                self.fail(keyword.value, f"`{called}` takes no such `{keyword.arg}` in a kernel", "here", help)
            given[keyword.arg] = keyword.value
        if len(node.args) > len(names):
            self.fail(node.args[len(names)], f"`{called}` takes an array, bins and a range in a kernel", "more here")
        for name in names[:2]:
            if name not in given:
                help = "write `np.histogram(a, bins, (low, high))`, or `np.histogram(a, edges)`"
                self.fail(node, f"`{called}` takes an array and bins in a kernel", f"`{name}` is missing", help)
        return given

    def _in_a_row(self, source: ast.expr) -> Value:
        """Give the elements of an expression of arrays as an array of one dimension."""
        array = self.as_array(source)
        if array is None:
            self.fail(source, "elements of an array are counted", self.kind_of(source))
        if not isinstance(array.type.of, Num):
            self.fail(source, "numbers are counted", f"this is `{array.type}`")
        self.parts_of.setdefault(id(source), (source, array))
        return self.flattened(ast.copy_location(ast.Attribute(source, "flat", ast.Load()), source), source)

    def _new_counts(self, node: ast.Call, count: Value) -> Value:
        ty = NUMBERS["int64"]
        return self.new_array(node, ty, [count], self.cast(constant(0), ty, node))

    def _of_equal_bins(self, node: ast.Call, array: Value, bins: ast.expr, between: ast.expr | None) -> Value:
        """Translate a histogram of so many bins of one width, in the types in which numpy computes edges and places."""
        count = exactly(self.convert(node, self.integer(bins, "the number of bins"), INT))
        if count.const is not None and count.const < 1:
            self.fail(bins, "there is at least one bin", f"{count.const} here")
        if count.const is None:
            self.demand(bins, f"{count.text} > 0", "the number of bins is positive")
        low, high = self._range_between(node, between)
        pair = promote(low.type, high.type)
        first, last, span = self.of_values(node, _library.outer_edges, low, high).parts
        one_more = self.operate(node, "+", count, constant(1))
        edges = self.new_array(node, _kept_in(promote(pair, array.type.of)), [one_more], None)
        counts = self._new_counts(node, count)
        # Numbers of Python's are those of numpy in what is computed of them alone.
        start, stop = (replace(self.cast(each, _kept_in(pair), node), type=_kept_in(pair)) for each in (first, last))
        span = replace(span, type=strong(span.type))
        self.of_values(node, _library.set_edges, edges, start, stop)
        self.of_values(node, _library.count_in_bins, array, low, high, first, last, span, edges, counts)
        return tuple_of([counts, edges])

    def _range_between(self, node: ast.Call, between: ast.expr | None) -> tuple[Value, Value]:
        """Give the numbers between which elements are counted."""
        if between is None:
            help = "pass one, such as `(np.min(a), np.max(a))`"
            self.fail(node, "bins of one width are those of a range in a kernel", "there is none", help)
        pair = self._tuple_in(between)
        if pair is None or len(pair.parts) != 2 or not all(part.type.kind in "iuf" for part in pair.parts):
            self.fail(between, "a range is two numbers, `(low, high)`", "something else here")
        low, high = map(self.keep, pair.parts)
        if promote(low.type, high.type) is None:
            note = f"`{low.type}` and `{high.type}`"
            self.fail(between, "these have no common type", note, "convert one of them")
        return low, high


def _kept_in(ty: Num | None) -> Num:
    """Give the type of floats in which numpy keeps what is computed of numbers of a type, or of no common one."""
    return strong(ty) if ty is not None and ty.kind == "f" else FLOAT64
