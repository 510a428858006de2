"""Which elements an array has, and how many of each: `np.unique(a)`."""

from __future__ import annotations

import ast

from . import _instead, _library
from ._joins import Joins
from ._values import Value


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
