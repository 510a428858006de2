"""Names that stand for arrays: for parts of them, for new ones, and in loops for one array whose elements change."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from .._errors import CompileError
from ._arrays import Made
from ._parts import is_complex_part
from ._resized import Resized
from ._trees import walk
from ._types import Array, Num
from ._usage import given_out
from ._values import Value, constant, differ
from ._variables import LocalArray, Region, length_of, spmd_name


class NamedArrays(Resized):
    """Translates what gives arrays names; `Body` has what it needs to know."""

    def _name_part(self, node: Any, name: str, value: Value) -> None:
        """Give an array, or a part of one, a name.

        Where statements are executed once, in order, a name may come to stand for another array. Elsewhere what has a
        name keeps its memory, and takes the elements of the other.
        """
        region = self.regions[-1]
        if region is not self.region_of(name):
            self.fail(node, f"`{name}` belongs to the code around `foreach`", "here", "use another name")
        if name in self.resized:
            return self.take_resized(node, name, value)
        bound, is_param = region.parts.get(name), any(p.name == name for p in self.params)
        straight = self.indent == region.indent
        several = name in self.renewed or name in self.chosen
        known = not several and (self.made.get(name) == 1 or (not is_param and name in self.apart))
        if bound is None and is_param and not straight and self._becomes_own(name, value):
            # In the next pass it is a copy from the start, whose elements change.
            bound = value
        elif bound is None and is_param and not straight and value.type.ndim == 0:
            help = f"choose its fields, `x = {name}.x if … else …`; or return in each branch"
            self.fail(node, f"the parameter `{name}` cannot become another record here", "in a loop or a branch", help)
        elif bound is None and is_param and not straight:
            help = f"give the result a name of its own; or store to the elements, `{name}[:] = …`"
            self.fail(node, f"the parameter `{name}` cannot become another array here", "in a loop or a branch", help)
        lasts = self.outlasts(name, value)
        is_own = self._is_made(value.text) or self.is_own_list(value) or self.is_of_rows(value)
        if bound is None and not straight and not known and not lasts and not is_own:
            self._refuse_name(node, name)
        if bound is None or straight or known:
            if not (lasts and not known and self.moves(name, bound, value)):
                region.parts[name] = self.lasting(name, value, not known) if lasts else self.fixed(value)
        elif not (lasts and self.moves(name, bound, value)) and bound.text != value.text:
            self._take_elements(node, name, bound, value)
        if self.assigned is not None:
            self.assigned.add(name)
        return None

    def _becomes_own(self, name: str, value: Value) -> bool:
        """Have a parameter that comes to stand for other arrays be a copy; return whether nobody could tell."""
        if not self.is_uniform_here() or self.in_foreach():
            return False
        param = next(param for param in self.params if param.name == name)
        is_plain = param.view in (None, (1,)) and not param.lanes and isinstance(param.type.of, Num) and self.uniform
        if self._is_changed(name) or self._is_shared(name):
            if not is_plain or self._is_shared(name, False):
                return False
            self.resized.add(name)
        elif is_plain and value.type == param.type and value.type.ndim and self._is_of_param(value):
            # Of two that are passed nobody knows that they are equally long.
            given = [self.dim(self.param_text(name), k).equals for k in range(param.type.ndim)]
            if any(a is None or a != self.dim(value.text, k).equals for k, a in enumerate(given)):
                self.resized.add(name)
        self.renewed.add(name)
        return True

    def _is_of_param(self, value: Value) -> bool:
        """Return whether an array is one that is passed, or a part of it."""
        root = self._root_of(value.text)
        return any(root == self.param_text(param.name) for param in self.params if isinstance(param.type, Array))

    def _is_shared(self, name: str, calls: bool = True) -> bool:
        """Return whether other names may come to stand for a parameter's array, or functions of Python change it."""
        array = next(param.type for param in self.params if param.name == name)

        def is_it(node: ast.expr) -> bool:
            """Return whether an expression is the array, or a part of it."""
            while isinstance(node, (ast.Subscript, ast.Attribute)):
                if isinstance(node, ast.Attribute) and node.attr not in ("T", "flat"):
                    return False
                at, node = node, node.value
                count = len(at.slice.elts) if isinstance(getattr(at, "slice", None), ast.Tuple) else 1
                if isinstance(at, ast.Subscript) and isinstance(node, ast.Name) and not self.is_part(at):
                    return count != array.ndim and node.id == name
            return isinstance(node, ast.Name) and node.id == name

        for node in walk(self.source.tree):
            given: list[ast.expr] = []
            targets = getattr(node, "targets", ())
            if targets and all(isinstance(each, ast.Subscript) for each in targets):
                # The elements are copied.
                continue
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                if self._only_reads(node):
                    continue
                given = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
            elif isinstance(node, ast.AugAssign) and calls:
                given = [node.target]
            elif isinstance(node, ast.Call) and calls and not self._is_of_libraries(node):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(map(is_it, given)):
                return True
        return False

    def _only_reads(self, node: Any) -> bool:
        """Return whether an assignment is of parameters alone of which none is changed: `x, y = y, x`, `m = m.T`."""
        if not isinstance(node, ast.Assign) or len(node.targets) > 1:
            return False
        pair = [node.targets[0], node.value]
        several = [each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each] for each in pair]
        of = [each.value if isinstance(each, ast.Attribute) and each.attr == "T" else each for each in several[1]]
        names = [getattr(each, "id", None) for each in (*several[0], *of)]
        own = {param.name for param in self.params}
        return all(name in own and not self._changes(name) for name in names)

    def _is_of_libraries(self, node: ast.Call) -> bool:
        """Return whether a call is of a function that changes no array."""
        try:
            function = None if self.is_method(node) else self.called(node)
        except CompileError:
            return False
        return (getattr(function, "__module__", None) or "").split(".")[0] in ("numpy", "math", "builtins")

    def _is_changed(self, name: str) -> bool:
        """Return whether what a name stands for is changed where it is, as lists are."""
        changing = ("append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear")

        def changes(node: ast.AST) -> bool:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
                return isinstance(node.value, ast.Name) and node.value.id == name
            if not isinstance(node, ast.Attribute) or node.attr not in changing:
                return False
            return isinstance(node.value, ast.Name) and node.value.id == name

        tree = self.source.tree
        if name in given_out(tree, self.lookup) or any(map(changes, walk(tree))):
            return True
        calls = [node for node in walk(tree) if isinstance(node, ast.Call)]
        return any(name in self.changed_by_call(node) for node in calls)

    def _names_array(self, name: str) -> bool:
        """Return whether a name stands for an array or a part of one."""
        if any(name in region.arrays or name in region.parts for region in self.regions):
            return True
        return any(param.name == name and isinstance(param.type, Array) for param in self.params)

    def _refuse_name(self, node: Any, name: str, note: str = "") -> NoReturn:
        help = (
            "use another name; arrays that change places are rows of one: `np.zeros((2, n))`, with `a[k % 2, i]`; of "
        )
        help += "records fields are chosen: `x = p.x if … else q.x`"
        note = note or f"`{name}` is assigned elsewhere too"
        self.fail(node, "in loops and branches a name stands for one array", note, help)

    def _is_made(self, text: str) -> bool:
        return any(made.text == text for made in self.hidden)

    def _root_of(self, text: str) -> str:
        """Give the array that a part is one of."""
        while text in self.parts:
            text = self.parts[text].array.text
        return text

    def _take_elements(self, node: Any, name: str, bound: Value, value: Value) -> None:
        """Copy an array to the one that a name stands for; nobody can tell it from another one under that name."""
        root = self._root_of(bound.text)
        is_list = self.is_own_list(bound)
        if not is_list and not self._is_made(bound.text) and not self.is_of_rows(bound):
            self._refuse_name(node, name, "a part of another kind, or of another array" * (bound.text in self.moving))
        for other, of in region_parts(self.regions):
            if other not in (name, *self.lists) and self._root_of(of.text) == root:
                self._refuse_name(node, name, f"`{other}` stands for its array, too")
        if bound.type != value.type:
            self._refuse_name(node, name, f"an array of another type: {value.type} rather than {bound.type}")
        self.refuse_two_names(node, name, value)
        is_other = self._has_other_lengths(bound, value) or self.may_differ(bound, value)
        if not is_list and is_other and self.becomes_resized(name, bound, value):
            return
        if not is_list and self._has_other_lengths(bound, value):
            self._refuse_name(node, name, "an array of other lengths")
        if self._root_of(value.text) == root:
            value = self.copy_of(node, value)
        if is_list:
            self.resize(bound, self.dim(value.text, 0))
        self._copy_elements(node, bound, value)

    def _has_other_lengths(self, a: Value, b: Value) -> bool:
        """Return whether it is known that arrays differ in a length."""
        pairs = [(self.dim(a.text, k), self.dim(b.text, k)) for k in range(a.type.ndim)]
        return any(None not in (x.before, y.before) and differ(x.before, y.before) for x, y in pairs)

    def _copy_elements(self, node: Any, bound: Value, value: Value) -> None:
        """Copy the elements of an array to another one; it is tested that there are as many."""
        lengths = [self.dim(bound.text, k) for k in range(bound.type.ndim)]
        for k, length in enumerate(lengths):
            other = self.dim(value.text, k)
            if length.equals is None or length.equals != other.equals:
                what = "arrays that take the place of each other have the same lengths"
                help = "give the other one a name of its own; or return it from a function of its own"
                self.demand(node, f"{length.text} == {other.text}", what, help)
        counters = [self.temporary("at") for _ in lengths]
        self._begin(node, counters, lengths, True)
        to, of = (self.element_at(array, counters) for array in (bound, value))
        self.emit(f"{to.text} = {of.text};")
        self._end(True)

    def _apart_from_names(self, target: ast.Tuple | ast.List, values: tuple[Value, ...]) -> list[Value]:
        """Give values; of arrays that several names are assigned to, and that change in this, copies.

        Parts stay what they are while names that they are read by come to stand for others.
        """
        if not any(isinstance(value.type, Array) for value in values if value.parts is None):
            return list(values)
        names = [part.id for part in target.elts if isinstance(part, ast.Name)]
        bound = [of for name, of in region_parts(self.regions) if name in names]
        own = (of for of in bound if self.indent > 1)
        changed = {self._root_of(of.text) if self.is_own_list(of) or self.is_of_rows(of) else of.text for of in own}
        return [
            value
            if not isinstance(value.type, Array) or value.parts is not None
            else self.copy_of(target, value)
            if self._root_of(value.text) in changed
            else self.fixed(value)
            for value in values
        ]

    def makes_array(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `a = np.zeros(8, np.float32)` and its like; return whether it is one."""
        what = self.makes(value)
        if what is None:
            return False
        fill, of, lengths = what
        several = isinstance(target, ast.Name) and self.made.get(target.id) != 1 and self.is_uniform_here()
        if several or not all(isinstance(length, int) for length in lengths):
            if not isinstance(target, ast.Name):
                return False
            values = [constant(length) if isinstance(length, int) else length for length in lengths]
            made = self.new_array(value, of, values, fill, target.id, True)
            self.assign_name(target, target.id, made)
            return True
        name, made = self._new_array(target, of, lengths)
        # What `np.empty` makes is zero until it is stored to, as all memory is; check mode tells who reads it before.
        if fill is not None:
            counter = self.temporary("k")
            text = f"{spmd_name(name)}[{counter}] = {fill.text};"
            self.emit(f"for (uniform int {counter} = 0; {counter} < {made.size}; ++{counter}) {text}")
        if self.assigned is not None:
            self.assigned.add(name)
        return True

    def lists_array(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `a = np.array([[1, 2], [3, 4]])`; return whether it is one."""
        what = self.listed(value)
        if what is None:
            return False
        if isinstance(target, ast.Name) and self.made.get(target.id) != 1 and self.is_uniform_here():
            # It stands for another array elsewhere.
            self.assign_name(target, target.id, self.brought(value, *what))
        else:
            self.list_array(target, *what)
        return True

    def list_array(self, target: ast.expr, values: list[Value], of: Num, lengths: tuple[int, ...]) -> None:
        """Make an array of numbers under a name."""
        texts = [self.cast(each, of, target).text for each in values]
        name, _ = self._new_array(target, of, lengths)
        for k, text in enumerate(texts):
            self.emit(f"{spmd_name(name)}[{k}] = {text};")
        if self.assigned is not None:
            self.assigned.add(name)

    def _new_array(self, target: ast.expr, of: Num, lengths: tuple[int, ...]) -> tuple[str, LocalArray]:
        """Declare an array of the function under the name that it is assigned to."""
        if not isinstance(target, ast.Name) or self.made.get(target.id) != 1:
            self.fail(
                target,
                "an array of the function is made once, under a name of its own",
                f"`{ast.unparse(target)}` is assigned elsewhere, too" if isinstance(target, ast.Name) else "no name",
                "arrays that change places are rows of one: `np.zeros((2, n))`, with `a[k % 2, i]`",
            )
        name, region = target.id, self.regions[-1]
        if region is not self.region_of(name):
            self.fail(target, f"`{name}` belongs to the code around `foreach`", "here", "use another name")
        made = region.arrays[name] = LocalArray(of, lengths, region.uniform)
        return name, made

    def brought(self, node: ast.expr, values: list[Value], of: Num, lengths: tuple[int, ...]) -> Value:
        """Give an array of listed numbers that outlives the function."""
        texts = [self.keep(self.cast(each, of, node)).text for each in values]
        made = self.new_array(node, of, [constant(length) for length in lengths], None)
        for k, text in enumerate(texts):
            self.emit(f"{made.text}[{k}] = {text};")
        return made

    def bring(self, node: Any, made: Made) -> str:
        """Have the host bring an array for a function that is called; give its name."""
        text = self.temporary(self.made_text("made"))
        self.hidden.append(replace(made, text=text, is_zero=False))
        self.program.python_variables[text] = made.name
        for axis, host in enumerate(made.hosts):
            own = f"{text}__n{axis}"
            symbol = made.symbols[axis]
            self.dims[own] = symbol
            if length_of(symbol) is None:
                self.program.hosts.setdefault(symbol, host)
        return text

    def names_new(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `b = a * 2` of arrays, `b = np.sum(a, axis=0)`; return whether it is such a one."""
        if not isinstance(target, ast.Name) or isinstance(value, ast.Name):
            return False
        if isinstance(value, ast.Subscript) and not self.is_choice(value) and not self.is_of_histogram(value):
            return False
        if not self.makes_elements(value):
            return False
        made = self.array_of(value)
        if made is None:
            self._refuse_to_change_parts(target, value)
            made = self.copied(value, value, None, target.id)
        root = self.parts[made.text].name if made.text in self.parts else made.text
        for hidden in self.hidden:
            if hidden.text == root:
                hidden.name = self.program.python_variables[root] = target.id
        self.assign_name(target, target.id, made)
        return True

    def _refuse_to_change_parts(self, target: ast.Name, value: ast.expr) -> None:
        """Fail if a name stands for the real or imaginary parts of an array, and changes them: they are copies here."""
        is_call = isinstance(value, ast.Call) and not self.is_method(value)
        is_part = is_complex_part(value) or (is_call and self.called(value) in (np.real, np.imag))
        if is_part and (self._is_changed(target.id) or self.counts.get(target.id, 0) > 1):
            help = f"copy them: `{ast.unparse(value)}.copy()`; or store to the elements of the array"
            self.fail(value, f"`{target.id}` would be a part of the array, and is changed", "here", help)


def region_parts(regions: list[Region]) -> list[tuple[str, Value]]:
    """Give the names of arrays and parts of arrays, with what they stand for."""
    return [pair for region in regions for pair in region.parts.items()]
