"""Loops over values in kernels: over the elements of an array, and over tuples; and tables of constants.

A short loop over constants is written out, once for each; others go through a table or an array.
"""

from __future__ import annotations

import ast
import builtins
from typing import Any

import numpy as np

from ._calls import MOST_DIMENSIONS, MOST_ELEMENTS
from ._iterables import Iterables
from ._scopes import jumps
from ._trees import walk
from ._types import INT, Array, Num, join, of_dtype
from ._values import INT32, INT64, LONGEST, Value, constant, exactly, initial, tuple_of

# Loops over as many constants are written out.
_MOST_WRITTEN_OUT = 16


class Loops(Iterables):
    """Translates loops over values; `Body` has what they need to know."""

    def over_values(self, node: ast.For) -> bool:
        """Translate `for x in values`, also with `enumerate` and `zip`; return whether it is one."""
        values, target, counting, first = node.iter, node.target, None, constant(0)
        pair = target.elts if isinstance(target, ast.Tuple) else ()
        is_call = isinstance(values, ast.Call) and not self.is_method(values)
        if is_call and self.called(values) is builtins.enumerate and len(pair) == 2 and _is_name(pair[0]):
            given = self.arguments_of(values, ("iterable", "start"), 1)
            first = self.keep(self.integer(given["start"], "`enumerate`")) if "start" in given else first
            values, (counting, target) = given["iterable"], pair
        counted = counting and (counting, first)
        if (over := self.over_dict(values)) is not None:
            self._over(node, target, counted, *over)
            return True
        function = self.called(values) if isinstance(values, ast.Call) and not self.is_method(values) else None
        if function in (np.ndindex, np.ndenumerate):
            if counted:
                help = "count yourself: `k = 0` before the loop, and `k += 1` in it"
                self.fail(values, "`enumerate` goes over an array or a tuple in a kernel", "here", help)
            self._over_indices(node, values, function)
            return True
        if isinstance(values, ast.Call) and self.array_of(values) is None:
            found = None if self.is_method(values) else self.gone_through(values)
            if found is None and counted:
                found = self._have_values(values, "enumerate")
            if found is not None:
                self._over(node, target, counted, *found)
            return found is not None
        array = self.array_of(values)
        if array is not None:
            self._over(node, target, counted, *self._elements_of(values, array))
            return True
        if not isinstance(values, (ast.Tuple, ast.List, ast.Name, ast.Attribute)):
            found = self.gone_through(values)
            if found is not None:
                self._over(node, target, counted, *found)
            return found is not None
        found = tuple_of(map(self.expression, values.elts)) if isinstance(values, ast.List) else self.expression(values)
        if found.parts is None:
            return False
        if not found.parts and not isinstance(values, ast.Name):
            self.fail(values, "there is nothing to loop over", "empty")
        if not found.parts:
            # `*rest` took nothing.
            return True
        if not self._write_out(node, target, counted, found.parts):
            items = self._table(values, found.parts)
            self._over(node, target, counted, constant(len(found.parts)), items)
        return True

    def _over(self, node: ast.For, target: ast.expr, counted: Any, length: Value, item: Any) -> None:
        """Write a loop that assigns one value after another, and to a name their number, which begins with another."""
        counter = self.temporary("k")
        self.emit(self.loop_to(counter, length))
        below = length.equals or (None if length.const is None else (f"{length.const} elements", 0))
        index = Value(
            counter, INT, length.uniform, 0, LONGEST if length.const is None else length.const - 1, below=below
        )
        before = set(self.assigned or ())
        self.indent += 1
        if counted is not None:
            counting, first = counted
            number = index if first.const == 0 else self.operate(counting, "+", index, first)
            self.assign_name(counting, counting.id, number)
        value = item(index)
        if isinstance(target, (ast.Tuple, ast.List)) and value.parts is None and isinstance(value.type, Array):
            value = self.taken_apart(target, value)
        self.assign(target, value)
        self.indent -= 1
        is_run = length.const is not None and length.const > 0
        self._turns(node.body, is_run)
        if not is_run:
            self.assigned = before
        self.emit("}")

    def _over_indices(self, node: ast.For, call: ast.Call, function: Any) -> None:
        """Translate `for i, j in np.ndindex(h, w)`, the last index first, and `for (i, j), x in np.ndenumerate(a)`."""
        array, lengths = None, []
        if function is np.ndenumerate:
            (source,) = self.arguments_of(call, ("arr",), 1).values()
            array = self.as_array(self.as_listed(source))
            if array is None or not isinstance(array.type.of, Num):
                self.fail(source, "`np.ndenumerate` goes over an array of numbers", self.kind_of(source))
            array = self.fixed(array)
            lengths = [self.dim(array.text, axis) for axis in range(array.type.ndim)]
        else:
            lengths = self._lengths_of(call)
        last = [LONGEST if length.const is None else max(int(length.const) - 1, 0) for length in lengths]
        symbols = [n.equals or (None if n.const is None else (f"{n.const} elements", 0)) for n in lengths]
        before, start = set(self.assigned or ()), self.indent
        counters = self._begin_indices(lengths, jumps(node.body, ast.Break))
        index = [
            Value(counter, INT, counter not in self.differing, 0, high, below=below)
            for counter, high, below in zip(counters, last, symbols)
        ]
        value = tuple_of(index)
        if array is not None:
            text, uniform = self.place_of(array, index)
            value = tuple_of([value, Value(text, array.type.of, uniform)])
        self.assign(node.target, value)
        self.indent -= 1
        is_run = all(length.const is not None and length.const > 0 for length in lengths)
        self._turns(node.body, is_run)
        if not is_run:
            self.assigned = before
        self.emit("}")
        while self.indent > start:
            self.indent -= 1
            self.emit("}")

    def _lengths_of(self, call: ast.Call) -> list[Value]:
        """Give the lengths of a call of `np.ndindex`, which are passed as a tuple or by themselves."""
        if any(isinstance(arg, ast.Starred) for arg in call.args):
            call = self.spread_out(call)
        if call.keywords or not call.args:
            self.fail(call, "`np.ndindex` takes the lengths of a shape in a kernel", "here", "`np.ndindex(h, w)`")
        parts = [each for arg in call.args for each in self._parts_in(arg, len(call.args) == 1)]
        lengths = []
        for at, part in parts:
            if not isinstance(part.type, Num) or part.parts is not None or not part.type.is_int:
                self.fail(at, "`np.ndindex` takes integers", "here", "write `int(…)`")
            part = self.keep(exactly(self.convert(at, part, INT)))
            if part.const is not None and part.const < 0:
                self.fail(at, "lengths of a shape are not negative", f"{part.const} here")
            if part.const is None and not 0 <= part.low <= part.high <= LONGEST:
                test = f"{part.text} >= 0 && {part.text} <= {LONGEST}ll"
                self.demand(at, test, f"lengths of a shape are from 0 to {LONGEST}")
            lengths.append(part)
        if len(lengths) > MOST_DIMENSIONS or not lengths:
            self.fail(call, f"an array of a kernel has 1 to {MOST_DIMENSIONS} dimensions", f"{len(lengths)} here")
        return lengths

    def _parts_in(self, node: ast.expr, is_alone: bool) -> list[tuple[ast.expr, Value]]:
        """Give the numbers of an argument, which may be a tuple if it is the only one, each with where it stands."""
        if is_alone and isinstance(node, (ast.List, ast.Tuple)):
            return [(each, self.expression(each)) for each in node.elts]
        value = self.expression(node)
        return [(node, part) for part in (value.parts if is_alone and value.parts is not None else [value])]

    def _begin_indices(self, lengths: list[Value], is_one: bool) -> list[str]:
        """Begin loops one in another, or one for all, which a `break` leaves; give the indices."""
        counters = [self.temporary("at") for _ in lengths]
        self.differing.update(c for c, length in zip(counters, lengths) if not length.uniform)
        if not is_one or len(lengths) == 1:
            for counter, length in zip(counters, lengths):
                self.emit(self.loop_to(counter, length))
                self.indent += 1
            return counters
        rest, shape = self.temporary("k"), "uniform " if all(length.uniform for length in lengths) else ""
        self.differing.update(counters if not shape else ())
        size = " * ".join(f"(int64){length.text}" for length in lengths)
        self.emit(f"for ({shape}int64 {rest} = 0; {rest} < {size}; ++{rest}) {{")
        self.indent += 1
        for counter, length in reversed([*zip(counters, lengths)][1:]):
            self.emit(f"const {shape}int {counter} = (int)({rest} % {length.text});")
            rest = f"({rest} / {length.text})"
        self.emit(f"const {shape}int {counters[0]} = (int){rest};")
        return counters

    def _write_out(self, node: ast.For, target: ast.expr, counted: Any, items: tuple[Value, ...]) -> bool:
        """Translate the body for each of some constants, if they are few and it goes straight through them."""
        targets = list(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]
        rows = [item.parts if item.parts is not None else (item,) for item in items]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        names += [counted[0].id] if counted is not None else []
        first = None if counted is None else counted[1].const
        if (
            len(items) > _MOST_WRITTEN_OUT
            or len(targets) != len([each for each in targets if isinstance(each, ast.Name)])
            or any(len(row) != len(targets) or any(value.const is None for value in row) for row in rows)
            or any((item.parts is not None) != isinstance(target, (ast.Tuple, ast.List)) for item in items)
            or jumps(node.body)
            or (counted is not None and first is None)
            or not all(self.only_counts(name) for name in names)
        ):
            return False
        region = self.regions[-1]
        nodes = {id(part) for part in _nodes_of(node.body)}
        for part in _nodes_of(node.body):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.repeated.add(part.id)
        for k, row in enumerate(rows):
            region.indices.update(zip(names, [*row, constant(k + (first or 0))]))
            # A part of an array may be another one each time.
            self.parts_of = {part: found for part, found in self.parts_of.items() if part not in nodes}
            self.emit("{")
            self._turns(node.body, True)
            self.emit("}")
        for name in names:
            del region.indices[name]
        return True

    def _table(self, node: ast.expr, items: tuple[Value, ...]) -> Any:
        """Give what has an item by its index: numbers, or tuples that are alike."""
        form, of = items[0].form, items[0].of
        if any(item.form != form for item in items):
            self.fail(node, "the values are not alike", "some are tuples of other lengths")
        if form is None:
            return self._column(node, list(items))
        columns = [self._table(node, tuple(item.parts[k] for item in items)) for k in range(len(form.parts))]
        return lambda index: tuple_of((column(index) for column in columns), of)

    def _column(self, node: ast.expr, values: list[Value]) -> Any:
        """Give what has one of several numbers by its index: a table of constants, or an array that is made here."""
        ty: Num | None = None
        for value in values:
            if value.parts is not None or not isinstance(value.type, Num):
                self.fail(node, "loops go over numbers, or tuples of numbers", "this is something else")
            ty = value.type if ty is None else join(ty, value.type)
            if ty is None:
                self.fail(node, "the values have no common type", f"`{value.type}`", "convert them")
        low, high = min(v.low for v in values), max(v.high for v in values)
        if ty != INT:
            low, high = INT64
        spmd = "int" if ty == INT and INT32[0] <= low and high <= INT32[1] else ty.spmd
        casts = [v.text if spmd == "int" and ty == INT else self.cast(v, ty, node).text for v in values]
        uniform = all(value.uniform for value in values)
        if all(value.const is not None for value in values):
            if ty.kind == "c":
                casts = [initial(value.const, ty) for value in values]
            name = self.program.table(spmd, casts)
        else:
            name = self.temporary("values")
            self.emit(f"{'uniform ' if uniform else ''}{spmd} {name}[{len(values)}];")
            for k, text in enumerate(casts):
                self.emit(f"{name}[{k}] = {text};")
        # Traps name it.
        self.program.python_variables[name] = ast.unparse(node)

        def item(index: Value) -> Value:
            text = index.text if index.is_narrow else f"(int64){index.text}"
            return Value(f"{name}[{text}]", ty, uniform and index.uniform, low, high)

        return item

    def one_of(self, node: ast.Subscript, values: tuple[Value, ...], index: Value) -> Value:
        """Translate the element of a tuple at an index that is known at run time only."""
        parts = [part for value in values for part in (value.parts or (value,))]
        if self.in_arm and any(part.const is None for part in parts):
            help = "give the element a name before"
            self.fail(node.slice, f"this is one of {len(values)} values", "in what may not be computed", help)
        item: Value = self._table(node.value, values)(index)
        return item

    # Arrays from outside.

    def outside_array(self, node: ast.Name) -> Value | None:
        """Give the constant array that a name from outside stands for; None if it is none."""
        try:
            found = self.lookup(node.id)
        except KeyError:
            return None
        # Subclasses may mean more than their numbers.
        if type(found) not in (np.ndarray, np.memmap) or not found.ndim:
            return None
        of = of_dtype(found.dtype)
        if not isinstance(of, Num) or not 1 <= found.size <= MOST_ELEMENTS or found.ndim > MOST_DIMENSIONS:
            what = f"`{found.dtype}`" if not isinstance(of, Num) else f"{found.size} elements"
            self.fail(
                node,
                f"`{node.id}` is a `ndarray` from outside of the kernel that is no table of up to "
                f"{MOST_ELEMENTS} numbers",
                what,
                "pass it as an argument",
            )
        text = self.program.table(of.spmd, [initial(value, of) for value in found.reshape(-1).tolist()])
        for axis, length in enumerate(found.shape):
            self.dims[f"{text}__n{axis}"] = f"{length} elements"
        self.tables[text] = node.id
        # Traps name it.
        self.program.python_variables.setdefault(text, node.id)
        self.program.outside[text] = found.shape
        return Value(text, Array(of, found.ndim), True)

    def refuse_to_store(self, node: Any, array: Value) -> None:
        """Fail if an array is a constant from outside."""
        own = self._name_of(array)
        param = next((p for p in self.params if p.name == own), None)
        if self.identity is None and param is not None and isinstance(param.type, Array) and param.type.ndim == 0:
            field = param.type.of.fields[0][0]
            if self.uniform:
                help = f"pass an array of records, and store to one of them: `{own}[0].{field} = …`"
                self.fail(node, f"`{own}` is a record that the kernel only reads", "this stores to it", help)
            help = f"return what it becomes; or go through the array: `for i in spmdvm.foreach(len({own}))`, "
            help += f"`{own}[i].{field} = …`"
            self.fail(node, f"`{own}` is a record that elementwise kernels only read", "this stores to it", help)
        name = self.tables.get(own)
        if name is not None:
            self.fail(
                node,
                f"`{name}` is an array from outside of the kernel, and a constant in it",
                "this stores to it",
                "pass it as an argument",
            )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _nodes_of(statements: list[ast.stmt]) -> list[ast.AST]:
    """Give all nodes of statements."""
    return [node for statement in statements for node in walk(statement)]
