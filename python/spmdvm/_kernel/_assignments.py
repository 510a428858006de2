"""Assignments: `a = …`, `a[i] = …`, `a, b = …`, `a += …`, to names, elements and fields."""

from __future__ import annotations

import ast
import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np

from . import _instead, _random
from ._parts import is_complex_part
from ._scattered import Scattered
from ._trees import walk
from ._types import Array, Num, Record, named
from ._values import LANE, Value, constant, tuple_of, unequal


class Assignments(Scattered):
    """Translates assignments; `Body` has what they need to know."""

    def do_Assign(self, node: ast.Assign) -> None:
        """`a = …`, `a[i] = …`, `a, b = …`."""
        stored = self.with_out(node.value)
        if stored is not node.value:
            node = ast.copy_location(ast.Assign(node.targets, stored), node)
        if self.needs_branches(node.value) or self.chooses_part(node):
            names = [n.id for each in node.targets for n in walk(each) if isinstance(n, ast.Name)]
            self.repeated.update(names)
            self.chosen.update(names)
            return self._in_branches(node, lambda value: ast.Assign(node.targets, value))
        target = node.targets[0]
        if len(node.targets) > 1 and any(self.is_masked(each) or self.is_part(each) for each in node.targets):
            return self._assign_parts(node)
        if self.is_scattered(target):
            return self.scatter(node, target, node.value, None)
        if self.is_masked(target):
            return self.assign_masked(node, target, node.value, None)
        if self.is_part(target):
            values = self._tuple_in(node.value)
            if values is None:
                self.assign_part(node, target, node.value, None)
            else:
                self.assign_values(target, values)
            self.elements.pop(id(node.value), None)
            return
        if len(node.targets) > 1:
            value = self.keep(self.expression(node.value))
            for target in node.targets:
                self.assign(target, value)
            return
        if self.starts_dict(target, node.value) or self.starts_list(target, node.value):
            return
        if self.is_extreme(target, node.value) or self.makes_array(target, node.value):
            return
        if self.lists_array(target, node.value) or self.names_new(target, node.value):
            return
        same = [part for part in walk(node.value) if _is_same(part, target)]
        if same and self._may_clash(target):
            return self._one_by_one([target, *same], lambda: self.assign(target, self.expression(node.value)))
        if self.names_generator(target, node.value):
            return
        value = self.unpacked(target, node.value)
        if value is None and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            value = tuple_of(map(self.argument, node.value.elts))
        value = value or self.expression(node.value)
        if value.parts is not None:
            value = tuple_of((part if part.equals else self.keep(part) for part in value.parts), value.of)
        self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`a: T = …`."""
        if node.value is None:
            self.fail(
                node, "a variable gets its type when it is assigned", "this assigns nothing", "write `= …` as well"
            )
        if re.search("ndarray|NDArray|array\\[|[lL]ist|[dD]ict|[sS]et\\b|Counter", ast.unparse(node.annotation)):
            # An array has its type from what it is made of.
            return self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        ty = self.annotation(node.annotation)
        value = self.number(node.value)
        if value.type.kind == "f" and ty.kind not in "fc":
            # To Python the annotation means nothing: the variable would be a float.
            help = f"convert it: `{ast.unparse(node.annotation)}({ast.unparse(node.value)})`"
            self.fail(node.value, f"a float is no `{ty}`", f"{named(value.type)}", help)
        self.assign(node.target, self.cast(value, ty, node))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        """`a += …`."""
        target = node.target
        if self.needs_branches(node.value):
            return self._in_branches(node, lambda value: ast.AugAssign(target, node.op, value))
        if self.adds_to_dict(node) or self.adds_to_list(node):
            return None
        if isinstance(target, ast.Name) and self._names_array(target.id):
            # All of it is changed where it is.
            whole = ast.Subscript(as_load(target), ast.Slice(None, None, None), ast.Store())
            return self.assign_part(node, ast.copy_location(whole, target), node.value, node.op)
        if isinstance(target, ast.Name):
            region = self.region_of(target.id)
            if region is not self.regions[-1] and target.id in region.names and target.id not in self._indices():
                return self.reduce(node, target.id, node.op, node.value)
        if self.is_scattered(target):
            return self.scatter(node, target, node.value, node.op)
        if self.is_masked(target):
            return self.assign_masked(node, target, node.value, node.op)
        if self.is_part(target):
            return self.assign_part(node, target, node.value, node.op)
        load = as_load(target)
        if self._may_clash(target):
            operand = self.keep(self.expression(node.value))
            add = lambda: self.assign(target, self.binary(node, node.op, self.expression(load), operand))  # noqa: E731
            return self._one_by_one([target], add)
        value = self.binary(node, node.op, self.expression(load), self.expression(node.value))
        self.assign(target, value)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a name, an element or several of them."""
        if isinstance(target, ast.Name):
            return self.assign_name(target, target.id, value)
        if isinstance(target, (ast.Tuple, ast.List)):
            self._refuse_star(target)
            if value.parts is None and isinstance(value.type, Array) and value.type.ndim > 0:
                value = self.taken_apart(target, value)
            if value.parts is None:
                self.fail(target, "this is one value, not several", f"{len(target.elts)} names")
            if len(value.parts) != len(target.elts):
                self.fail(target, unequal(len(value.parts), len(target.elts)), "here")
            for part, at in zip(target.elts, self._apart_from_names(target, value.parts)):
                self.assign(part, at)
            return
        if self.stores_item(target, value):
            return None
        if self.is_part(target) and value.parts is None:
            # What is assigned is there already.
            at = ast.copy_location(ast.Attribute(ast.Name("<value>", ast.Load()), "T", ast.Load()), target)
            self.elements[id(at)] = value
            if isinstance(value.type, Array):
                del self.elements[id(at)]
                self.parts_of[id(at)] = at, value
            self.assign_part(target, target, at, None)
            self.elements.pop(id(at), None)
            return None
        if self.is_part(target):
            self.fail(target, "a part of an array is assigned by a statement of its own", "here")
        if is_complex_part(target) and self._is_of_numbers(target.value):
            self.refuse_part(target)
        if self.is_field(target) or (isinstance(target, ast.Subscript) and self.is_record(target)):
            return self.store_record(target, self.array_of(as_load(target)), value)
        if self.store_tuple(target, value):
            return None
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            place = self.element(target, stores=True)
            if not isinstance(value.type, Num) or value.parts is not None:
                what = "a field" if isinstance(target, ast.Attribute) else "an element of an array"
                told = "several values" if value.parts is not None else f"this is `{value.type}`"
                self.fail(target, f"{what} is one number", told)
            return self.store(target, place, value, place.type)
        self.fail(target, "this cannot be assigned", "not a name, an element or a field")

    def store(self, target: ast.expr, place: Value, value: Value, of: Num) -> None:
        """Write that an element, or a field of one, takes a number."""
        if place.uniform and self.is_uniform_here() and not value.uniform:
            self.fail(target, "lanes would store different values to one element", "outside of `foreach`")
        text = self.cast(value, of, target).text
        if place.uniform and not value.uniform and self.one is not None:
            text = f"{'py_cextract' if of.kind == 'c' else 'extract'}({text}, (uniform int){self.one})"
        if self.inside is None or self.one is not None or "." in place.text.rpartition("]")[2]:
            return self.emit(f"{place.text} = {text};")
        (flag, plain), text = self.inside, self.keep(replace(value, text=text, type=of)).text
        return self.emit(f"if ({flag}) {plain} = {text}; else {place.text} = {text};")

    def _assign_parts(self, node: ast.Assign) -> None:
        """Translate `a[0] = b[1:] = x`, whose value is computed before, as one assignment after another."""
        value, kept = node.value, None
        if not self.makes_elements(value):
            kept = self.keep(self._tuple_in(value) or self.expression(value))
        elif self.array_of(value) is None:
            # (A part stays one, which the first assignment may change.)
            self.parts_of[id(value)] = value, self.copied(value, value)
        for target in node.targets:
            if kept is not None:
                # (Each assignment forgets it.)
                self.elements[id(value)] = kept
            self.do_Assign(ast.copy_location(ast.Assign([target], value), node))
        self.elements.pop(id(value), None)

    def _changes_array(self, node: ast.Expr) -> bool:
        """Translate `a.sort()` and `a.fill(x)` as `a[:] = …`; return whether it is one."""
        call = node.value
        if not isinstance(call.func, ast.Attribute) or not self.is_method(call) or call.keywords:
            return False
        array, how, count = call.func.value, call.func.attr, len(call.args)
        if (how, count) not in (("sort", 0), ("fill", 1)) or self.array_of(array) is None:
            return False
        if how == "sort":
            self.sort_in_place(call, self.array_of(array))
            return True
        target = ast.copy_location(ast.Subscript(array, ast.Slice(None, None, None), ast.Store()), call)
        self.assign_part(node, target, call.args[0], None)
        return True

    def with_out(self, node: ast.expr) -> ast.expr:
        """Translate `np.add(a, b, out=c)` as `c[:] = np.add(a, b)`, and give `c`; any other expression as it is."""
        if not isinstance(node, ast.Call) or self.is_method(node):
            return node
        call, out = out_of(node, self.called(node))
        if out is None:
            return call
        if call.keywords:
            first, (called, *args) = call.keywords[0], map(ast.unparse, (node.func, *call.args))
            help = _instead.keyword(called, first.arg or "", ast.unparse(first.value), ", ".join(args))
            self.fail(first.value, "functions of numpy take `out=` and no other keyword in a kernel", "here", help)
        array = None if self.list_named(out) is not None else self.array_of(out)
        if array is None:
            self.fail(out, "`out=` takes an array in a kernel", self.kind_of(out))
        target = out if self.is_part(out) else ast.Subscript(out, ast.Slice(None, None, None), ast.Store())
        self.assign_part(node, ast.copy_location(target, out), call, None, is_out=True)
        return out

    def _tuple_in(self, node: ast.expr) -> Value | None:
        """Give the tuple that an expression is; None if it is something else, which may be one of arrays."""
        if id(node) in self.elements:
            value = self.elements[id(node)]
            return value if value.parts is not None else None
        if isinstance(node, ast.Name):
            value = self.read_name(node)
            return value if value is not None and value.parts is not None else None
        if isinstance(node, ast.Tuple):
            return self.expression(node)
        if isinstance(node, ast.List):
            return tuple_of(map(self.expression, node.elts))
        is_call = isinstance(node, ast.Call) and not self.is_method(node)
        if is_call and (self.goes_over_values(node) or not any(True for _ in self._arrays_in(node))):
            value = self.expression(node)
            if value.parts is None and isinstance(value.type, Array):
                self.parts_of[id(node)] = node, value
                return None
            # It has been called.
            self.elements[id(node)] = self.keep(value) if value.parts is None else value
            return value if value.parts is not None else None
        return self._tuple_at(node)

    def unpacked(self, target: ast.expr, node: ast.expr) -> Value | None:
        """Give the elements of an array that several names are to stand for; None if that is not what is assigned."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            return None
        self._refuse_star(target)
        count, array = len(target.elts), self.array_of(node)
        if array is None:
            return self.elements_of(node, count)
        if array.type.ndim == 0:
            return self.fields_of(node, array)
        return self.taken_apart(target, array)

    def taken_apart(self, target: ast.Tuple | ast.List, array: Value) -> Value:
        """Give the elements, or rows, of an array, of which there are as many as names."""
        self.have_length(target, array, len(target.elts))
        below = (self.dim(array.text, 0).equals[0], 0)
        indices = [replace(constant(k), below=below) for k in range(len(target.elts))]
        if array.type.ndim > 1:
            return tuple_of(self.row_of(array, index) for index in indices)
        if isinstance(array.type.of, Record):
            return tuple_of(self.record_of(array, [index]) for index in indices)
        places = (self.place_of(array, [index]) for index in indices)
        return tuple_of(Value(text, array.type.of, uniform) for text, uniform in places)

    def _refuse_star(self, target: ast.Tuple | ast.List) -> None:
        """Fail if a name is to take what is left over."""
        for part in target.elts:
            if isinstance(part, ast.Starred):
                help = "give each value a name; or index: `x = t[0]`, `rest = t[1:]`"
                self.fail(part, "`*` among names cannot stand in a kernel", "not supported", help)

    def _is_of_numbers(self, node: ast.expr) -> bool:
        """Return whether an expression is a number, or an array of them."""
        found = self.array_of(node)
        value = self.expression(node) if found is None else found
        return value.parts is None and (isinstance(value.type, Num) or isinstance(value.type.of, Num))

    def _may_clash(self, target: ast.expr) -> bool:
        """Return whether lanes may have the same element for one that is computed from what it was."""
        if self.is_uniform_here() or not isinstance(target, (ast.Subscript, ast.Attribute)):
            return False
        self.element(as_load(target), stores=False)
        apart = self.element_apart
        name = _array_of(target)
        array = None if name is None else self.read_name(name)
        # Each lane may have an array of its own.
        return (array is None or array.uniform) and not self.is_apart(apart)

    def is_apart(self, apart: frozenset[str]) -> bool:
        """Return whether something that differs with these indices of `foreach` is another for each element."""
        indices = self._apart_indices()
        return LANE in apart or (bool(indices) and apart.issuperset(indices))

    def _apart_indices(self) -> frozenset[str]:
        """Give the indices of the `foreach` around, also of one in which the function is called."""
        own = (name for region in self.regions for name, value in region.indices.items() if name in value.apart)
        return self.outer_indices.union(own)

    def _one_by_one(self, targets: list[Any], write: Any) -> None:
        """Write a statement that lanes execute one after another; their indices are computed before."""
        kept: dict[str, Value] = {}
        for target in targets:
            for index in _indices_in(target):
                known = ast.dump(index)
                if known not in kept:
                    value = self.expression(index)
                    kept[known] = value if value.const is not None else self.keep(value)
                self.elements[id(index)] = kept[known]
        outer, self.one = self.one, self.temporary("one")
        self.emit(f"foreach_active ({self.one}) {{")
        self.indent += 1
        write()
        self.indent -= 1
        self.emit("}")
        self.one = outer
        for target in targets:
            for index in _indices_in(target):
                del self.elements[id(index)]

    def _indices(self) -> set[str]:
        return {name for region in self.regions for name in region.indices}

    def names_generator(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `rng = spmdvm.rng(seed, i)`; return whether it is such a one."""
        if not isinstance(value, ast.Call) or self.is_method(value) or self.called(value) is not _random.rng:
            return False
        if not isinstance(target, ast.Name):
            self.fail(target, "a generator is a variable of its own", "here", "write `rng = spmdvm.rng(seed, i)`")
        self.assign_name(target, target.id, _random.make(self, value))
        self.region_of(target.id).generators.add(target.id)
        return True

    def generator(self, node: ast.expr) -> str | None:
        """Give the name of the generator that an expression is; None if it is none."""
        if not isinstance(node, ast.Name) or node.id in self.local_functions:
            return None
        region = self.region_of(node.id)
        if node.id not in region.generators:
            return None
        if region is not self.regions[-1]:
            help = f"make one in the `foreach`, for each element: `{node.id} = spmdvm.rng(seed, i)`"
            self.fail(node, f"the generator `{node.id}` belongs to the code around `foreach`", "here", help)
        return node.id


def _is_same(part: ast.AST, target: ast.expr) -> bool:
    """Return whether an element that is read is the one that is assigned."""
    elements = (ast.Subscript, ast.Attribute)
    return isinstance(part, elements) and isinstance(target, elements) and ast.dump(part) == ast.dump(as_load(target))


def _array_of(target: ast.expr) -> ast.Name | None:
    """Give the name of the array of an element, or of a field of one."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def _indices_in(target: ast.expr) -> list[ast.expr]:
    """Give all indices of an element, or of a field of one."""
    found: list[ast.expr] = []
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        if isinstance(target, ast.Subscript):
            parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
            found += [part for part in parts if not isinstance(part, (ast.Slice, ast.Constant))]
        target = target.value
    return found


def out_of(node: ast.Call, function: Any) -> tuple[ast.Call, ast.expr | None]:
    """Give a call of a function of elements without the array that it stores to, and that array; None if none is."""
    is_ufunc = isinstance(function, np.ufunc) and function.nout == 1
    if not is_ufunc and not any(function is known for known in (np.clip, np.round, np.around)):
        return node, None
    count = function.nin if is_ufunc else len(node.args)
    given = [*node.args[count : count + 1], *(each.value for each in node.keywords if each.arg == "out")]
    if len(given) != 1 or len(node.args) > count + 1:
        return node, None
    (out,) = given[0].elts if isinstance(given[0], ast.Tuple) and len(given[0].elts) == 1 else given
    others = [each for each in node.keywords if each.arg != "out"]
    call = ast.copy_location(ast.Call(node.func, node.args[:count], others), node)
    return call, None if isinstance(out, ast.Constant) and out.value is None else out


def as_load(target: ast.expr) -> ast.expr:
    new = copy.copy(target)
    new.ctx = ast.Load()
    return new
