"""Lists of tuples, `xs.append((i, v))`: a list for each number of a tuple, `xs[0]`, `xs[1]`, which grow alike.

Such a list is read as an array whose elements are tuples. It is known that a list has tuples when the first one is
added to it, so that the next pass begins all the lists of it.
"""

from __future__ import annotations

import ast
from typing import Any

from ._trees import walk
from ._types import Array, Num, Tuple
from ._values import Columns, Form, Value, formed, of_tuple, tuple_of


class TupleLists:
    """Translates lists of tuples; `Body` has what it needs to know."""

    def lists_of(self, name: str) -> list[str]:
        """Give the lists of numbers that a list is made of: itself, unless it is one of tuples."""
        form = self.list_forms.get(name)
        return [name] if form is None else [of_tuple(name, k) for k in range(form.count)]

    def push_tuple(self, node: ast.expr, name: str, value: Value) -> None:
        """Add a tuple at the end of a list."""
        if not value.leaves:
            self.fail(node, "tuples in a list are of some numbers", "this is empty", "count them: `n += 1`")
        self.have_form(node, name, value.form)
        for own, leaf in zip(self.lists_of(name), value.leaves):
            self.push(node, own, leaf)
        self.regions[0].parts[name] = self.list_of_tuples(name)

    def have_form(self, node: Any, name: str, of: Form) -> None:
        """Note how the tuples of a list are made; fail if there are numbers, or others, in another place."""
        form = self.list_forms.get(name)
        if form is None and ("list", name) in self.types:
            self.refuse_mixed(node, name)
        if form is None:
            self.list_forms[name] = of
            if name in self.lists:
                self.lists.remove(name)
                self.begin_list(name)
        elif form != of:
            help = "all tuples of a list have as many numbers, in the same places; or keep a list for each kind"
            self.fail(node, f"`{name}` has other tuples in another place", "this is made of other parts", help)

    def refuse_mixed(self, node: ast.expr, name: str) -> None:
        """Fail because a list has a number here, and a tuple elsewhere."""
        help = "keep a list for each: `xs.append(x)`, `pairs.append((x, y))`"
        self.fail(node, f"`{name}` has numbers in one place and tuples in another", "here", help)

    def want_type(self, node: ast.expr) -> None:
        """Note that a list is read before anything has been added to it, in the text: it may have tuples."""
        name = self.list_named(node)
        if name in self.lists and ("list", name) not in self.types and self._is_filled(name):
            self.untyped.append(node)

    def _is_filled(self, name: str) -> bool:
        """Return whether something is added to a list."""

        def adds(node: ast.AST) -> bool:
            is_method = isinstance(node, ast.Attribute) and node.attr in ("append", "extend")
            to = node.value if is_method else node.target if isinstance(node, ast.AugAssign) else None
            return isinstance(to, ast.Name) and to.id == name

        return any(map(adds, walk(self.source.tree)))

    def list_of_tuples(self, name: str) -> Value:
        """Give a list of tuples as an array of them."""
        arrays = [self.regions[0].parts[own] for own in self.lists_of(name)]
        return self.of_columns(self.list_forms[name], arrays)

    def columns_of(self, array: Value) -> tuple[Form, list[Value]]:
        """Give how the tuples of a list are made, and the lists of their numbers."""
        form, arrays = self.columns[array.text]
        # (Their types may have turned out since.)
        own = {of.text: of for of in self.regions[0].parts.values() if isinstance(of.type.of, Num)}
        return form, [own.get(each.text, each) for each in arrays]

    def in_columns(self, value: Value) -> Value:
        """Give a list of tuples as a tuple of the lists of their numbers, as it is passed; anything else as it is."""
        if value.parts is not None:
            return tuple_of(map(self.in_columns, value.parts), value.of)
        if not isinstance(value.type, Array) or not isinstance(value.type.of, Tuple):
            return value
        form, arrays = self.columns_of(value)
        return tuple_of(arrays, Columns(form))

    def tuple_in_list(self, array: Value, indices: list[Value]) -> Value:
        """Give a tuple of a list by its index."""
        form, arrays = self.columns_of(array)
        places = ((self.place_of(each, indices), each) for each in arrays)
        leaves = [Value(text, each.type.of, uniform) for (text, uniform), each in places]
        return formed(form, iter(leaves))

    def store_tuple(self, target: ast.expr, value: Value) -> bool:
        """Translate `xs[i] = (a, b)`; return whether it is one."""
        array = self.list_of(target.value) if isinstance(target, ast.Subscript) else None
        if array is None or self.is_part(target):
            return False
        if self.list_named(target.value) is None:
            help = "store to the list where it is made"
            self.fail(target, "a list that is passed, or a part of one, is only read", "this stores to it", help)
        place = self.tuple_in_list(array, self._indices_of(target, array))
        if value.form != place.form:
            self.fail(target, "all tuples of a list are made of the same parts", "this takes another one")
        for to, leaf in zip(place.leaves, self.keep(value).leaves):
            self.store(target, to, leaf, to.type)
        return True

    def list_of(self, node: ast.expr) -> Value | None:
        """Give the list of tuples that an expression names; None if it is something else."""
        is_slice = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if not self.columns or not (is_slice or isinstance(node, (ast.Name, ast.Call))):
            return None
        if isinstance(node, ast.Name) and not self._names_array(node.id):
            return None
        array = self.array_of(node)
        return array if array is not None and isinstance(array.type.of, Tuple) else None

    def refuse_tuples(self, node: Any, array: Value) -> None:
        """Fail if an array is a list of tuples, which only loops and indices take."""
        if isinstance(array.type, Array) and isinstance(array.type.of, Tuple):
            help = "loop over it, `for x, y in xs`; or take one number of each: `np.array([x for x, y in xs])`"
            self.fail(node, "this takes no list of tuples in a kernel", "here", help)
