"""Lists that expressions make, `sorted(xs)`, `xs[1:]`, `xs + ys`: lists without a name, until they get one.

A name takes the memory of such a list rather than its numbers.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Any, Callable

from ._parts import Part
from ._trees import children, own_nodes
from ._tuple_lists import TupleLists
from ._types import Array, Num, Tuple, strong
from ._usage import gives_one_array
from ._values import Columns, Value, tuple_of
from ._variables import spmd_name

# What fills a list, of which it takes the name.
_Fill = Callable[[str], None]


class ListValues(TupleLists):
    """Translates lists that expressions make; `Body` has what it needs to know."""

    def listing(self, node: ast.expr) -> Value | None:
        """Give the list that an expression makes, the same for the same node; None if it makes none."""
        known = self.parts_of.get(id(node))
        if known is not None:
            return known[1] if self.unnamed_list(known[1]) is not None else None
        fill = self._filling(node)
        if fill is None:
            return None
        if self.in_arm:
            self.fail(node, "a list is made in what may not be computed", "here", "give it a name before")
        self.need_order(node)
        name = self.new_list(node)
        fill(name)
        value = self.regions[0].parts[name]
        self.parts_of[id(node)] = node, value
        return value

    def is_listing(self, node: ast.expr) -> bool:
        """Return whether an expression makes a list of other lists, or of whatever there is."""
        return self._filling(node) is not None

    def _filling(self, node: ast.expr) -> _Fill | None:
        """Give what fills the list that an expression makes; None if it makes none."""
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return (lambda name: self._fill(node, name, node)) if self._is_of_list(node.value) else None
        if isinstance(node, ast.List):
            is_spread = any(isinstance(each, ast.Starred) for each in node.elts)
            return (lambda name: self._fill(node, name, node)) if is_spread else None
        if isinstance(node, ast.BinOp):
            return self._joined(node)
        if not isinstance(node, ast.Call):
            return None
        if (common := self.most_common(node)) is not None:
            return lambda name: self._fill(node, name, common)
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "copy" and self.list_named(func.value) is not None:
            if node.args or node.keywords:
                self.fail(node, "`copy` takes nothing", "here")
            return lambda name: self._fill(node, name, func.value)
        if not isinstance(func, ast.Name) or func.id not in ("sorted", "list") or self.is_method(node):
            return None
        function = self.called(node)
        if function is builtins.sorted:
            return lambda name: self._fill_sorted(node, name)
        if function is not builtins.list:
            return None
        if len(node.args) > 1 or node.keywords:
            self.fail(node, "`list` takes one thing that it goes over", "here")
        return lambda name: self._fill(node, name, *node.args)

    def _is_of_list(self, node: ast.expr) -> bool:
        """Return whether an expression is a list: one with a name, one that it makes, or one of a function."""
        if self.list_named(node) is not None or self.is_listing(node):
            return True
        if not isinstance(node, ast.Call) or self.is_method(node) or self.in_arm or not self.uniform:
            return False
        array = self.array_of(node) if gives_one_array(self.called(node)) else None
        return array is not None and self.is_list_value(array)

    def _may_join_lists(self, node: ast.BinOp) -> bool:
        """Return whether some operand looks like a list: few do, and expressions may be nested deeply."""
        open_: list[ast.expr] = [node]
        while open_:
            at = open_.pop()
            if isinstance(at, ast.BinOp):
                open_ += [at.left, at.right]
            elif isinstance(at, ast.Name):
                if self.is_list(at.id):
                    return True
            elif isinstance(at, (ast.List, ast.Call)) or isinstance(getattr(at, "slice", None), ast.Slice):
                return True
        return False

    def _joined(self, node: ast.BinOp) -> _Fill | None:
        """Give what fills `xs + ys` and `xs * n`; None if these are no lists."""
        if not self._may_join_lists(node):
            return None
        sides = [node.left, node.right]
        are_lists = [self._is_of_list(side) for side in sides]
        if isinstance(node.op, ast.Add) and any(are_lists):
            others = [side for side, is_list in zip(sides, are_lists) if not is_list]
            return (lambda name: self._fill(node, name, *sides)) if all(map(_is_list, others)) else None
        if not isinstance(node.op, ast.Mult) or not any(are_lists) or any(map(_is_list, sides)):
            return None
        of, times = sides if are_lists[0] else reversed(sides)
        if all(are_lists) or self.array_of(times) is not None:
            return None
        return lambda name: self._fill_repeated(node, name, of, times)

    def _fill(self, node: ast.expr, name: str, *sources: ast.expr) -> None:
        """Fill a list with all that some expressions go over."""
        for source in sources:
            if isinstance(source, ast.List):
                for each in source.elts:
                    if isinstance(each, ast.Starred):
                        self._fill(node, name, each.value)
                    else:
                        self.push(each, name, self.keep(self._element(each)))
            elif isinstance(source, (ast.ListComp, ast.GeneratorExp)):
                self.each_of(source, lambda at, value: self.push(at, name, value))
            else:
                self.each_of(self.all_of(node, source), lambda at, value: self.push(at, name, value))

    def _fill_sorted(self, node: ast.Call, name: str) -> None:
        if len(node.args) != 1:
            self.fail(node, "`sorted` takes one thing that it goes over, `key=` and `reverse=`", "here")
        self._fill(node, name, node.args[0])
        self.put_in_order(node, name)

    def _fill_repeated(self, node: ast.expr, name: str, of: ast.expr, times: ast.expr) -> None:
        count = self.keep(self.integer(times, "how often a list is repeated"))
        counter = self.temporary("k")
        self.emit(f"for (uniform int64 {counter} = {count.text}; {counter} > 0; --{counter}) {{")
        self.indent += 1
        self._fill(node, name, of)
        self.indent -= 1
        self.emit("}")

    # Those without a name.

    def need_order(self, node: ast.expr) -> None:
        """Fail unless statements are executed once, in order, as lists need it."""
        if self.in_foreach() or not self.uniform:
            where = "in a `foreach`" if self.in_foreach() else "where each element runs by itself"
            help = "make it before, once for all; or make an array, which each element has for itself: `np.sort(a)`"
            self.fail(node, f"a list cannot stand {where}", "each element would have its own", help)

    def new_list(self, node: Any) -> str:
        """Begin a list without a name; it is known by where it stands, in all passes."""
        at = (node.lineno, node.col_offset)
        self.n_unnamed[at] = self.n_unnamed.get(at, 0) + 1
        name = f"list__{at[0]}_{at[1]}_{self.n_unnamed[at]}"
        self.unnamed.append(name)
        self.begin_list(name)
        return name

    def unnamed_list(self, value: Value) -> str | None:
        """Give which of the lists without a name a value is; None if it is something else."""
        return next((name for name in self.unnamed if self.regions[0].parts[name].text == value.text), None)

    def is_list_value(self, value: Value) -> bool:
        """Return whether a value is a list as Python has it, rather than an array made of one."""
        return self.is_list_text(value.text) and not self.is_own_list(value)

    def takes_list(self, node: Any, name: str, value: Value) -> bool:
        """Have a name stand for a list that has none yet; return whether it is one."""
        unnamed = self.unnamed_list(value) if isinstance(value.type, Array) and value.parts is None else None
        own = self.regions[0].parts.get(name)
        if own is not None and value.parts is None and value.text == own.text and self.is_list(name):
            # A function has returned the list that it was passed.
            return True
        if unnamed is None:
            return False
        self._need_order(node, name)
        form = self.list_forms.get(unnamed)
        if form is not None:
            self.have_form(node, name, form)
        elif name in self.list_forms and ("list", unnamed) in self.types:
            self.refuse_mixed(node, name)
        self.begin_list(name)
        if form is not None or name not in self.list_forms:
            for own, other in zip(self.lists_of(name), self.lists_of(unnamed)):
                self._take(node, own, other)
        if form is not None:
            self.regions[0].parts[name] = self.list_of_tuples(name)
        return True

    def refuse_other_in_loop(self, node: ast.For) -> None:
        """Fail if a name becomes another list in a loop over the one that it stands for."""
        over = {at.id for at in _not_copied(node.iter) if self.is_list(at.id) or at.id in self.dicts}
        for at in own_nodes(node.body) if over else ():
            if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Store) and at.id in over:
                what = "list" if self.is_list(at.id) else "set" if self.dicts[at.id].is_set else "dict"
                help = f"give the other one a name of its own; or loop over a copy, `list({at.id})`"
                self.fail(node.iter, f"`{at.id}` becomes another {what} in a loop over it", "here", help)

    def _take(self, node: Any, name: str, other: str) -> None:
        """Have a list of numbers take the memory of another one, or its numbers if these are of another type."""
        of = self.types.get(("list", other))
        if of is None:
            return
        ty, to, given = self.list_type(node, name, of), spmd_name(name), spmd_name(other)
        if ty != of:
            counter = self.temporary("k")
            self.emit(f"for (uniform int {counter} = 0; {counter} < {given}__list__n0; ++{counter}) {{")
            self.indent += 1
            self.push(node, name, Value(f"{given}[{counter}]", of, True))
            self.indent -= 1
            self.emit("}")
            return
        self.emit(f"delete {to};")
        self.emit(f"{to} = {given};")
        for what in ("__list__n0", "__most"):
            self.emit(f"{to}{what} = {given}{what};")
            self.emit(f"{given}{what} = 0;")
        self.emit(f"{given} = NULL;")
        self._with_type(name, ty, name)

    def given_tuples(self, node: Any, value: Value) -> Value:
        """Give what a function returns with lists of tuples in the place of the lists of their numbers."""
        if value.parts is None:
            return value
        if not isinstance(value.of, Columns):
            return tuple_of((self.given_tuples(node, part) for part in value.parts), value.of)
        name = self.new_list(node)
        self.have_form(node, name, value.of.form)
        for own, part in zip(self.lists_of(name), value.parts):
            given = self.unnamed_list(part)
            assert given is not None
            self._take(node, own, given)
        self.regions[0].parts[name] = self.list_of_tuples(name)
        return self.regions[0].parts[name]

    def list_type(self, node: Any, name: str, of: Num) -> Num:
        """Note that a list has numbers of a type; give the one in which it keeps all."""
        key, old = ("list", name), self.types.get(("list", name), of)
        if old != of:
            # They are kept apart by Python, and are those of numpy's in an array.
            self.types[key] = strong(old)
        return self._grow(key, of if old == of else strong(of), node)

    # Parts of lists of tuples, and such lists that are passed.

    def part_of_tuples(self, node: ast.Subscript, array: Value) -> Value:
        """Translate `xs[1:]` of a list of tuples: a part of the list of each of their numbers."""
        form, lists = self.columns_of(array)
        name = self.temporary("part")
        axis = self._range(node.slice, lists[0], 0, f"{name}__n0")
        parts = []
        for k, each in enumerate(lists):
            own = name if k == 0 else self.temporary("part")
            self.parts[own] = Part(each, self._name_of(each), (axis,))
            if k > 0:
                self._same_length(f"{own}__n0", self.dim(name, 0))
            parts.append(Value(own, each.type, True))
        return self.of_columns(form, parts)

    def of_columns(self, form: Any, lists: list[Value]) -> Value:
        """Give lists of numbers as one of tuples."""
        value = Value(lists[0].text, Array(Tuple(tuple(each.type.of for each in lists), form.of), 1), True)
        self.columns[value.text] = form, lists
        return value


def _not_copied(node: ast.AST) -> Iterator[ast.Name]:
    """Give the names in what a loop goes over, but for those that it has copies of: `list(xs)`, `sorted(d)`."""
    if isinstance(node, ast.Name):
        yield node
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    if not is_call or node.func.id not in ("list", "sorted"):
        for inner in children(node):
            yield from _not_copied(inner)


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List)
