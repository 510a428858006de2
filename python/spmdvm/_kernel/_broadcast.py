"""Statements and expressions over all elements of arrays, whose shapes are broadcast as numpy does: `a[1:] = b * 2`.

A statement becomes one loop; what is read at other places than it is written is computed before.
"""

from __future__ import annotations

import ast
import builtins
import copy
from typing import Any, Callable, NoReturn

import numpy as np

from ._fields import field_in
from ._parts import Parts, indices_of, is_complex_part
from ._trees import children, walk
from ._types import INT, Num, strong
from ._values import LONGEST, Value, tuple_of


class Broadcasts(Parts):
    """Translates what goes over all elements; `Body` has what is needed for it."""

    def is_masked(self, target: ast.expr) -> bool:
        """Return whether elements are assigned that a mask chooses: `a[a > 2] = 0`."""
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, (ast.Slice, ast.Constant, ast.Tuple)):
            return False
        masks = target.slice.values if isinstance(target.slice, ast.BoolOp) else [target.slice]
        return self.array_of(target.value) is not None and any(map(self.is_of_elements, masks))

    def assign_masked(self, node: ast.stmt, target: ast.Subscript, value: ast.expr, op: ast.operator | None) -> None:
        """Translate `a[mask] = …`, in which arrays have the same mask, to a loop over all elements of the array."""
        mask, of = target.slice, self.array_of(target.value)
        if max(array.type.ndim for _, array in self._arrays_in(mask)) != of.type.ndim:
            help = "loop over the elements"
            self.fail(
                mask, f"a mask has the dimensions of what it chooses from, which are {of.type.ndim}", "here", help
            )
        chosen = _Unmasked(mask, self.is_reduction)
        whole = ast.Subscript(target.value, ast.Slice(None, None, None), ast.Store())
        new = chosen.visit(copy.deepcopy(value))
        # What is computed of all elements is one number.
        reduced = {id(each) for part in self._whole(new) for each in walk(part)}
        for source, _ in self._arrays_in(new):
            if id(source) not in chosen.found | reduced:
                help = f"write `{ast.unparse(source)}[{ast.unparse(mask)}]`, or loop"
                self.fail(source, "of an array as many elements are taken as the mask chooses", "all of it here", help)
        self.assign_part(node, ast.copy_location(whole, target), new, op, mask)

    def assign_part(
        self,
        node: ast.stmt,
        target: ast.Subscript,
        value: ast.expr,
        op: ast.operator | None,
        mask: ast.expr | None = None,
        is_out: bool = False,
    ) -> None:
        """Translate `a[1:] = …` and `a[1:] += …` to a loop over the elements of the part, or those of a mask.

        What `is_out` of a function of numpy takes only numbers of its own kind, and larger ones.
        """
        goal, name = self._part_to_store(target)
        lengths = [self.dim(goal.text, k) for k in range(goal.type.ndim)]
        before = self.elements
        # What goes over whole arrays is computed once, and what does not depend on the element: it may be an element of
        # the array that is changed.
        read = [value] if mask is None else [value, mask]
        self.elements = dict(before)
        for part in (part for find in (self._whole, self._numbers) for each in read for part in find(each)):
            self.elements[id(part)] = self.keep(self.number(part))
        found = [pair for each in read for pair in self._arrays_in(each)]
        clashing = [source for source, array in found if self._overlaps(source, array, target, name)]
        if clashing and (mask is not None or not self.is_uniform_here() or not self._is_known(found)):
            self._refuse_overlap(clashing[0], name)
        if clashing:
            # What is read elsewhere is computed before, as numpy does.
            found = [(value, self.copied(value, value))]
        self.same_lengths(found, lengths)
        counters = [self.temporary("at") for _ in lengths]
        together = self.is_uniform_here()
        loops = self._begin(node, counters, lengths, together)
        self.elements.update((id(source), self.element_at(array, counters, not together)) for source, array in found)
        place = self.element_at(goal, counters, not together)
        if not isinstance(place.type, Num):
            self.fail(target, "records are not assigned as a whole", "an array of records", "assign the fields")
        if mask is not None:
            test = self.number(mask)
            if test.type.name != "bool":
                self.fail(mask, "arrays of indices do not index in a kernel", "these are numbers", "loop over them")
            self.emit(f"if ({test.text}) {{")
        result = self.number(value) if op is None else self.binary(node, op, place, self.number(value))
        if is_out and not np.can_cast(strong(result.type).dtype, place.type.dtype, "same_kind"):
            help = f"convert: `{ast.unparse(target.value)}[:] = …`, which cuts numbers; or store to another array"
            self.fail(target.value, f"`out=` takes no `{strong(result.type)}` here", f"`{place.type}`", help)
        self.emit(f"{place.text} = {self.cast(result, place.type, value).text};{' }' if mask is not None else ''}")
        self.elements = before
        for _ in range(loops):
            self._end(together)

    def assign_values(self, target: ast.Subscript, value: Value) -> None:
        """Translate `a[i] = x, y, z`: a tuple that is assigned to a part of one dimension."""
        goal, _ = self._part_to_store(target)
        if goal.type.ndim != 1 or not isinstance(goal.type.of, Num):
            self.fail(target, "several numbers are assigned to a row of numbers", f"this is `{goal.type}`")
        self.have_length(target, goal, len(value.parts))
        for k, part in enumerate(self.keep(value).parts):
            text, _ = self.place_of(goal, [Value(str(k), INT, True, k, k, k)])
            self.emit(f"{text} = {self.cast(self._as_number(target, part), goal.type.of, target).text};")

    def have_length(self, node: ast.expr, array: Value, count: int) -> None:
        """Have it tested that an array of one dimension has so many elements."""
        length = self.dim(array.text, 0)
        if length.const is not None and length.const != count:
            self.fail(node, f"there are {length.const} elements, and {count} here", "here")
        if length.const is None:
            self.demand(node, f"{length.text} == {count}", f"there are {count} elements")

    def elements_of(self, node: ast.expr, count: int) -> Value | None:
        """Give the numbers of an expression of arrays that have so many elements; None if it is another one."""
        is_call = isinstance(node, ast.Call) and not self.is_method(node) and self.is_elementwise(self.called(node))
        if not is_call and not isinstance(node, (ast.BinOp, ast.UnaryOp)):
            return None
        before = self.elements
        self.elements = {**before, **{id(part): self.keep(self.number(part)) for part in self._whole(node)}}
        found = list(self._arrays_in(node))
        values = []
        if found and all(array.type.ndim == 1 and isinstance(array.type.of, Num) for _, array in found):
            for source, array in found:
                self.have_length(source, array, count)
            for k in range(count):
                for source, array in found:
                    text, uniform = self.place_of(array, [Value(str(k), INT, True, k, k, k)])
                    self.elements[id(source)] = Value(text, array.type.of, uniform)
                values.append(self.keep(self.number(node)))
        self.elements = before
        return tuple_of(values) if values else None

    def _part_to_store(self, target: ast.Subscript) -> tuple[Value, str]:
        """Give a part that is assigned, and the name of its array; lanes that run by themselves have one each."""
        goal = self.part(target)
        own = goal
        while own.text in self.parts:
            own = self.parts[own.text].array
        if own.uniform and not self.is_uniform_here() and not self.is_apart(self.fixed_apart(goal)):
            self.fail(
                target,
                "a part of an array is assigned outside of `foreach`",
                "here each element runs by itself",
                "assign one element: `a[i] = …`",
            )
        name = self.parts[goal.text].name
        self.refuse_to_store(target, goal)
        self.stored.add(name)
        return goal, name

    def broadcast(self, found: list[tuple[ast.expr, Value]]) -> list[tuple[Value, int]]:
        """Give for each dimension of an expression an array that has its length, and along which axis."""
        ndim = max(array.type.ndim for _, array in found)
        likes = []
        for k in range(-ndim, 0):
            own = [(array, array.type.ndim + k) for _, array in found if array.type.ndim + k >= 0]
            longer = (pair for pair in own if self.dim(pair[0].text, pair[1]).const != 1)
            # Those of most dimensions first: shapes that do not suit are told at the others.
            likes.append(next(longer, own[0]))
        return likes

    def same_lengths(self, found: list[tuple[ast.expr, Value]], lengths: list[Value]) -> None:
        """Have it tested that the arrays of an expression have the lengths of its elements."""
        for source, array in found:
            if array.type.ndim > len(lengths):
                self.fail(source, f"this has {array.type.ndim} dimensions, what is assigned {len(lengths)}", "here")
            if not isinstance(array.type.of, Num):
                name = next(iter(array.type.of.fields))[0]
                told = "an array of records" if array.type.ndim else "a record"
                text = ast.unparse(source)
                help = f'take a field: `{text}["{name}"]`' + ("" if array.type.ndim else f", `{text}.{name}`")
                self.fail(source, "records are not computed with", told, help)
            for axis, length in enumerate(lengths[len(lengths) - array.type.ndim :]):
                own = self.dim(array.text, axis)
                # Lengths that are known to be 1 are stretched, others are not.
                if own.equals != length.equals and not (own.const == 1 and length.const != 1):
                    told = "arrays that are computed with have equal lengths"
                    help = "lengths of 1 are stretched where they are known when it is compiled: `a[:, 0][:, None] * b`"
                    self.demand(None, f"{own.text} == {length.text}", told, help)

    def element_at(self, array: Value, counters: list[str], uniform: bool = False) -> Value:
        """Give the element of an array that a loop is at; the lengths have been compared."""
        indices = []
        for axis, counter in enumerate(counters[len(counters) - array.type.ndim :]):
            if self.dim(array.text, axis).const == 1:
                indices.append(Value("0", INT, True, 0, 0, 0))
                continue
            symbol = self.dim(array.text, axis).equals
            is_same = uniform and counter not in self.differing
            indices.append(Value(counter, INT, is_same, 0, LONGEST, below=(symbol[0], 0)))
        text, uniform = self.place_of(array, indices)
        return Value(text, array.type.of, uniform)

    def _whole(self, node: ast.expr) -> Any:
        """Give the parts of an expression that go over whole arrays."""
        if id(node) in self.elements:
            return
        if self.is_reduction(node):
            yield node
            return
        for child in children(node):
            if isinstance(child, ast.expr):
                yield from self._whole(child)

    def _numbers(self, node: ast.expr) -> Any:
        """Give the parts of an expression of arrays that are numbers, but for names and constants."""
        if isinstance(node, (ast.Name, ast.Constant)) or id(node) in self.elements:
            return
        if not any(True for _ in self._arrays_in(node)):
            yield node
            return
        if self.array_of(node) is None:
            for child in node.args if isinstance(node, ast.Call) else children(node):
                if isinstance(child, ast.expr):
                    yield from self._numbers(child)

    def _arrays_in(self, node: ast.expr) -> Any:
        """Give the arrays and parts in an expression of elements, each with its node."""
        if id(node) in self.elements:
            return
        self.refuse_lists(node)
        if isinstance(node, (ast.Name, ast.Subscript, ast.Call, ast.BinOp, ast.Attribute, ast.UnaryOp, ast.Compare)):
            array = self.array_of(node)
            if array is not None:
                self.refuse_tuples(node, array)
                yield node, array
                return
        if isinstance(node, (ast.Name, ast.Subscript)) or self.goes_over_values(node):
            return
        if is_complex_part(node) or (isinstance(node, ast.Call) and self.is_method_of_elements(node)):
            yield from self._arrays_in(node.value if isinstance(node, ast.Attribute) else node.func.value)
        called = None if not isinstance(node, ast.Call) or self.is_method_of_elements(node) else self.called(node)
        if isinstance(node, ast.Attribute) or called is len:
            return
        help = "write `np.minimum` or `np.maximum`" if called in (builtins.min, builtins.max) else _only_of_one(node)
        for child in node.args if isinstance(node, ast.Call) else children(node):
            if id(child) not in self.elements and self.is_beside_array(node, child):
                yield child, self.listed_array(child)
                continue
            for source, array in self._arrays_in(child):
                if help is not None:
                    self.fail(source, "this takes one value, not an array of them", "an array", help)
                yield source, array

    def _overlaps(self, source: ast.expr, array: Value, target: ast.Subscript, name: str) -> bool:
        """Return whether an array may be read at other places than it is written: the elements run in any order."""
        whole = _all_of(source)
        same = ast.dump(source) == ast.dump(_as_read(target)) or (whole is not None and whole == _all_of(target))
        return self._name_of(array) == name and not same and not self._are_apart(array, self.array_of(target))

    def _is_known(self, found: list[tuple[ast.expr, Value]]) -> bool:
        """Return whether the lengths of arrays are known before the call."""
        return all(self.most(array, axis).before is not None for _, array in found for axis in range(array.type.ndim))

    def _refuse_overlap(self, source: ast.expr, name: str) -> NoReturn:
        told = self.program.python_variables.get(name, name)
        self.fail(
            source,
            f"`{told}` is read and written at different places in one statement",
            "the elements run in any order",
            "write to another array first, or loop with `range`",
        )

    def _are_apart(self, a: Value, b: Value) -> bool:
        """Return whether two parts of an array are other fields, or have other constant indices, as rows do."""
        fields = self.taken_field(a), self.taken_field(b)
        if None not in fields and fields[0] != fields[1]:
            return True
        one, other = self.parts.get(a.text), self.parts.get(b.text)
        if one is None or other is None or one.array.text != other.array.text:
            return False
        ends = zip(one.axes, other.axes)
        fixed = [(x.start.const, y.start.const) for x, y in ends if x.step is None and y.step is None]
        return any(x is not None and y is not None and x != y for x, y in fixed)


class _Unmasked(ast.NodeTransformer):
    """Takes the arrays themselves for what a mask chooses from them."""

    def __init__(self, mask: ast.expr, is_reduction: Callable[[ast.expr], bool]) -> None:
        self.mask = ast.dump(mask)
        self.is_reduction = is_reduction
        # The nodes of the arrays.
        self.found: set[int] = set()

    def visit(self, node: ast.AST) -> Any:
        """Leave out what goes over whole arrays, of which the mask would choose some."""
        is_whole = isinstance(node, ast.expr) and self.is_reduction(node)
        return node if is_whole else super().visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Give the array of an element that the mask chooses."""
        if ast.dump(node.slice) != self.mask:
            return node
        self.found.add(id(node.value))
        return node.value


def _only_of_one(node: ast.expr) -> str | None:
    """Give what to write instead of an expression that asks whether one value is true; None if it does not."""
    if isinstance(node, ast.IfExp):
        return "write `np.where(condition, a, b)`"
    if isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return "write `np.logical_and`, `np.logical_or` or `np.logical_not`"
    return "compare in two steps" if isinstance(node, ast.Compare) and len(node.ops) > 1 else None


def _all_of(node: ast.expr) -> str | None:
    """Give of what an expression is all elements: `a`, `a[:]`, `a[:, :]`, `p["x"]`; None if it is something else."""
    taken = field_in(node)
    if taken is not None:
        records = _all_of(taken[0])
        return None if records is None else f"{records}.{taken[1]}"
    if isinstance(node, ast.Subscript):
        everything = ast.dump(ast.Slice(None, None, None))
        return _all_of(node.value) if all(ast.dump(index) == everything for index in indices_of(node)) else None
    return node.id if isinstance(node, ast.Name) else None


def _as_read(node: ast.Subscript | ast.Attribute) -> ast.expr:
    last = node.attr if isinstance(node, ast.Attribute) else node.slice
    return type(node)(node.value, last, ast.Load())
