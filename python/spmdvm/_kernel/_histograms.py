"""Which elements an array has, and how many: `np.unique(a)`, `np.histogram(a, 10, (0, 1))`."""

from __future__ import annotations

import ast
from dataclasses import replace

from . import _functions, _instead, _library
from ._joins import Joins
from ._types import BOOL, FLOAT64, INT, NUMBERS, Num, promote, strong
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
        source, is_density = self.as_listed(given["a"]), self._is_density(given)
        array = self._numbers_of(source, "elements of an array are counted")
        weights = self._weights(array, given["weights"]) if "weights" in given else None
        array = self.in_a_row(source, array)
        self.refuse_complex_in(node, [array] if weights is None else [array, weights])
        bins = self.as_listed(given["bins"])
        edges = self.listed_array(bins) if isinstance(bins, (ast.List, ast.Tuple)) else self.as_array(bins)
        if edges is None:
            counts, edges = self._of_equal_bins(node, array, weights, bins, given.get("range"))
        else:
            if "range" in given:
                self.fail(given["range"], "edges are their own range", "here", "leave it out")
            counts = self._between(node, array, weights, bins, edges)
        if weights is not None and weights.type.of != counts.type.of:
            counts = self.copy_of(node, counts, weights.type.of)
        return tuple_of([self._densities(node, counts, edges) if is_density else counts, edges])

    def is_of_histogram(self, node: ast.Subscript) -> bool:
        """Return whether one of several arrays is taken at once: `np.histogram(a, 10, (0, 1))[0]`."""
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(node.slice, ast.Constant) or self.is_method(call):
            return False
        return isinstance(call.func, (ast.Name, ast.Attribute)) and self.gives_several_arrays(call, self.called(call))

    def _of_histogram(self, node: ast.Call) -> dict[str, ast.expr]:
        """Give the arguments of `np.histogram` by their names."""
        given = self.arguments_of(node, ("a", "bins", "range", "density", "weights"), 0)
        for name in ("a", "bins"):
            if name not in given:
                message = f"`{ast.unparse(node.func)}` takes an array and bins in a kernel"
                help = "write `np.histogram(a, bins, (low, high))`, or `np.histogram(a, edges)`"
                self.fail(node, message, f"`{name}` is missing", help)
        return given

    def _is_density(self, given: dict[str, ast.expr]) -> bool:
        """Return whether densities are asked for rather than counts."""
        at = given.get("density")
        if at is None:
            return False
        if not isinstance(at, ast.Constant) or not isinstance(at.value, bool):
            help = "divide where they are asked for: `counts / np.diff(edges) / np.sum(counts)`"
            self.fail(at, "`density` is `True` or `False` in a kernel", "here", help)
        return at.value

    def _numbers_of(self, source: ast.expr, what: str) -> Value:
        """Give an array of numbers, or one of what is computed of some."""
        array = self.as_array(source)
        if array is None:
            self.fail(source, what, self.kind_of(source))
        if not isinstance(array.type.of, Num):
            self.fail(source, "numbers are counted", f"this is `{array.type}`")
        return array

    def _weights(self, array: Value, at: ast.expr) -> Value:
        """Give the weights of elements in a row: an array of their shape."""
        at = self.as_listed(at)
        weights = self._numbers_of(at, "weights are an array, one for each element")
        if weights.type.of == BOOL:
            help = f"choose the elements, `a[{ast.unparse(at)}]`; or count with numbers: `np.where(mask, 1, 0)`"
            self.fail(at, "weights are numbers in a kernel", "these are bools", help)
        if weights.type.ndim != array.type.ndim:
            note = f"of {weights.type.ndim} and {array.type.ndim} dimensions"
            self.fail(at, "weights have the shape of the array", note, "take them in a row, both: `a.ravel()`")
        for axis in range(array.type.ndim):
            length, other = (self.dim(each.text, axis) for each in (weights, array))
            if length.equals != other.equals:
                self.demand(at, f"{length.text} == {other.text}", "weights have the shape of the array")
        return self.in_a_row(at, weights)

    def _new_counts(self, node: ast.Call, count: Value, weights: Value | None) -> Value:
        """Make an array of zeros, to which what is in bins is added: in 64 bits, in which numpy adds weights."""
        kind = "i" if weights is None else weights.type.of.kind
        ty = NUMBERS[{"i": "int64", "u": "uint64", "f": "float64"}[kind]]
        return self.new_array(node, ty, [count], self.cast(constant(0), ty, node))

    def _densities(self, node: ast.Call, counts: Value, edges: Value) -> Value:
        """Make an array of counts for each unit of the elements, of which the sum over all units is 1."""
        made = self.new_array(node, FLOAT64, [self.dim(counts.text, 0)], None)
        self.of_values(node, _library.set_densities, counts, edges, made)
        return made

    def _between(self, node: ast.Call, array: Value, weights: Value | None, bins: ast.expr, edges: Value) -> Value:
        """Translate a histogram between edges; give the counts."""
        if edges.type.ndim != 1:
            self.fail(bins, "edges are an array of one dimension", f"this has {edges.type.ndim}")
        self.refuse_complex_in(node, [edges])
        apart = self.operate(node, "-", self.dim(edges.text, 0), constant(1))
        count = _functions.find(max)(self, node, [constant(0), apart])
        counts = self._new_counts(node, count, weights)
        self.of_values(node, _library.count_between, array, edges, counts, *_given(weights))
        return counts

    def _of_equal_bins(
        self, node: ast.Call, array: Value, weights: Value | None, bins: ast.expr, between: ast.expr | None
    ) -> tuple[Value, Value]:
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
        counts = self._new_counts(node, count, weights)
        # Numbers of Python's are those of numpy in what is computed of them alone.
        start, stop = (replace(self.cast(each, _kept_in(pair), node), type=_kept_in(pair)) for each in (first, last))
        span = replace(span, type=strong(span.type))
        self.of_values(node, _library.set_edges, edges, start, stop)
        of_range = (low, high, first, last, span)
        self.of_values(node, _library.count_in_bins, array, *of_range, edges, counts, *_given(weights))
        return counts, edges

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


def _given(weights: Value | None) -> list[Value]:
    """Give the last argument of a function that counts, if there is one."""
    return [] if weights is None else [weights]


def _kept_in(ty: Num | None) -> Num:
    """Give the type of floats in which numpy keeps what is computed of numbers of a type, or of no common one."""
    return strong(ty) if ty is not None and ty.kind == "f" else FLOAT64
