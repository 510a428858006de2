"""Arrays and numbers of comprehensions: `np.array([f(x) for x in a])`, `sum(x * x for x in a)`."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from ._calls import MOST_ELEMENTS
from ._parts import Axis, Part
from ._plain import assigned_in_test
from ._types import BOOL, FLOAT64, INT, Array, Num, promote, strong
from ._values import LONGEST, Value, constant, exactly, unequal
from ._variables import LocalArray, spmd_name

# What several values make of a comprehension, which goes over them in order.
_OF_VALUES = ("sum", "min", "max", "any", "all")


class Comprehensions:
    """Translates comprehensions; `Body` has what it needs to know."""

    def comprehended(self, node: ast.Call) -> Value | None:
        """Give the array that `np.array([… for … in …])` makes; None if it is another call.

        All lengths are those of what the loops go over, which is asked for before them. With a condition the array is
        long enough for all, and the part of it is given that has been filled.
        """
        if not node.args or not isinstance(node.args[0], (ast.ListComp, ast.GeneratorExp)):
            return None
        listed, levels = node.args[0], []
        while isinstance(listed, ast.ListComp):
            levels.append(listed)
            listed = listed.elt
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        dtype = node.args[1] if len(node.args) == 2 else given.pop("dtype", None)
        if given or len(node.args) > 2 or not levels:
            help = "write a list, `np.array([… for … in …], np.float64)`"
            self.fail(node, "an array is made of a list and a dtype", "something else here", help)
        if self.in_arm:
            self.fail(node, "an array is made in what may not be computed", "here", "make it in a statement before")
        several = listed.elts if isinstance(listed, (ast.Tuple, ast.List)) else [listed]
        has_condition = any(loop.ifs for level in levels for loop in level.generators)
        if has_condition and (len(levels) > 1 or several != [listed]):
            help = "choose rows in a loop: `out[count] = …`, `count += 1`, and take the part `out[:count]`"
            self.fail(node, "a condition chooses numbers for an array of one dimension", "this has several", help)
        loops = [[(loop, *self._gone_over(loop)) for loop in level.generators] for level in levels]
        lengths = [self._product_of(node, [length for _, length, _, _ in level]) for level in loops]
        is_known = all(most.before is not None for level in loops for *_, most in level)
        columns = [constant(len(several))] if several != [listed] else []
        of = None if dtype is None else strong(self.annotation(dtype))
        if self.is_uniform_here() and len(levels) == 1 and not columns and not is_known:
            return self.array_of_list(levels[0], of)
        most = [self._product_of(node, [most for *_, most in level]) for level in loops]
        made, set_type = self._to_fill(node, [*lengths, *columns], [*most, *columns])
        count = self.temporary("count") if has_condition else ""
        if count:
            self.emit(f"uniform int {count} = 0;")
        start = self.indent
        bound = dict(self.regions[-1].indices)
        indices = [self._begin_level(level) for level in loops]
        values = [self.number(each) for each in several]
        of = of or self._common(node, values)
        for k, value in enumerate(values):
            at = indices if several == [listed] else [*indices, constant(k)]
            place = self._place_in(made, [Value(count, INT, True, 0, LONGEST)] if count else at)
            self.emit(f"{place} = {self.cast(value, of, node).text};")
        if count:
            self.emit(f"++{count};")
        self._end_loops(start, bound)
        made = set_type(of)
        return made if not count else self._filled(made, count)

    def _gone_over(self, loop: ast.comprehension) -> tuple[Value, Any, Value]:
        """Give how often a loop of a comprehension goes, what has its value at an index, and how often at most.

        The latter is known before the call where that of a part of an array is not.
        """
        values = loop.iter
        function = self.called(values) if isinstance(values, ast.Call) and not self.is_method(values) else None
        if loop.is_async:
            self.fail(values, "`async` cannot stand in a kernel", "here")
        if (over := self.over_dict(values)) is not None:
            return *over, over[0]
        if function in (range, zip, enumerate, reversed):
            length, item = self.gone_through(values)
            length = exactly(self.keep(length))
            is_known = length.before is not None or function is range
            arrays = [] if is_known else [self.array_of(arg) for arg in values.args]
            return length, item, next((self.most(array, 0) for array in arrays if array is not None), length)
        array = self.array_of(values)
        if array is None and not isinstance(values, (ast.Name, ast.Tuple, ast.List)) and self.makes_elements(values):
            array = self.copied(values, values)
        if array is not None:
            length, item = self._elements_of(values, array)
            return self.keep(length), item, self.most(array, 0)
        is_tuple = isinstance(values, (ast.Tuple, ast.List, ast.Name, ast.Attribute, ast.Subscript))
        found = self.expression(values) if is_tuple else None
        if found is None or not found.parts:
            help = "loop over indices: `… for i in range(len(a))`"
            self.fail(values, "a comprehension in a kernel counts, or goes over an array or a tuple", "here", help)
        length = constant(len(found.parts))
        return length, self._table(values, found.parts), length

    def _product_of(self, node: Any, lengths: list[Value]) -> Value:
        product = lengths[0]
        for length in lengths[1:]:
            product = self.operate(node, "*", product, length)
        return product if product.const is not None else self.keep(product)

    def _begin_level(self, loops: list[Any]) -> Value:
        """Begin loops one in another; give the number of all their rounds so far."""
        text, high = "", 1
        for loop, length, item, _ in loops:
            counter = self.temporary("k")
            self.emit(self.loop_to(counter, length))
            self.indent += 1
            last = LONGEST if length.const is None else max(int(length.const) - 1, 0)
            below = length.equals or (None if length.const is None else (f"{length.const} elements", 0))
            index = Value(counter, INT, length.uniform, 0, last, below=below)
            self._bind(loop.target, item(index))
            for given in loop.ifs:
                assigned, test = assigned_in_test(given)
                for each in assigned:
                    self._bind(each.targets[0], self.expression(each.value))
                self.emit(f"if ({self.truth(test)}) {{")
                self.indent += 1
            text = f"({text}) * {length.text} + {counter}" if text else counter
            high = min(high * (last + 1), LONGEST)
        return Value(text if text.isidentifier() else f"((int)({text}))", INT, True, 0, max(high - 1, 0))

    def _bind(self, target: ast.expr, value: Value) -> None:
        """Have names stand for a value: they are those of a comprehension alone."""
        if isinstance(target, ast.Name):
            array = value.parts is None and isinstance(value.type, Array)
            self.regions[-1].indices[target.id] = value if array else self.keep(value)
            return
        if not isinstance(target, (ast.Tuple, ast.List)):
            self.fail(target, "a comprehension assigns to names", "this is none")
        if value.parts is None and isinstance(value.type, Array) and value.type.ndim > 0:
            value = self.taken_apart(target, value)
        count = 1 if value.parts is None else len(value.parts)
        if value.parts is None or count != len(target.elts):
            self.fail(target, unequal(count, len(target.elts)), "here")
        for part, own in zip(target.elts, value.parts):
            self._bind(part, own)

    def _end_loops(self, start: int, bound: dict[str, Value]) -> None:
        while self.indent > start:
            self.indent -= 1
            self.emit("}")
        self.regions[-1].indices = bound

    def _common(self, node: ast.Call, values: list[Value]) -> Num:
        """Give the type of an array of such numbers, as numpy does."""
        ty: Num | None = strong(values[0].type)
        for value in values[1:]:
            ty = ty and promote(ty, strong(value.type))
        if ty is None:
            self.fail(node, "the numbers have no common type", "here", "give one: `np.array([…], np.float64)`")
        return strong(ty)

    def _to_fill(self, node: ast.Call, lengths: list[Value], most: list[Value]) -> tuple[Value, Any]:
        """Make an array whose type is known when an element is translated; give what sets that, and gives the array."""
        known = [length.const for length in lengths]
        if not self.is_uniform_here() and None not in known and 1 <= np.prod(known) <= MOST_ELEMENTS:
            name, region = self.temporary("listed"), self.regions[-1]
            region.names.add(name)
            self.made[name] = 1

            def set_local(of: Num) -> Value:
                region.arrays[name] = LocalArray(of, tuple(map(int, known)), region.uniform)
                if self.assigned is not None:
                    self.assigned.add(name)
                return Value(spmd_name(name), Array(of, len(known)), region.uniform)

            return set_local(FLOAT64), set_local
        made = self.new_array(node, FLOAT64, most, None, None, True, True)
        whole = made
        if any(length.before is None for length in lengths):
            part = self.temporary("part")
            for axis, length in enumerate(lengths):
                if length.equals is not None and length.equals[1] == 0:
                    self.dims[f"{part}__n{axis}"] = length.equals[0]
                self.emit(f"const uniform int {part}__n{axis} = (uniform int){length.text};")
            self.parts[part] = Part(whole, whole.text, tuple(Axis(Value("0", INT, True, 0, 0, 0), 1) for _ in lengths))
            made = Value(part, whole.type, True)

        def set_type(of: Num) -> Value:
            self.in_type(whole, of)
            return replace(made, type=Array(of, len(lengths)))

        return made, set_type

    def _place_in(self, made: Value, indices: list[Value]) -> str:
        """Give the element that is filled, which is inside."""
        known = []
        for axis, index in enumerate(indices):
            below = (self.dim(made.text, axis).equals[0], 0)
            known.append(index if index.const is not None else replace(index, below=below))
        text: str = self.place_of(made, known)[0]
        return text

    def _filled(self, made: Value, count: str) -> Value:
        """Give the part of an array that has been filled."""
        name = self.temporary("part")
        self.emit(f"const uniform int {name}__n0 = {count};")
        self.parts[name] = Part(made, made.text, (Axis(Value("0", INT, True, 0, 0, 0), 1),))
        return Value(name, made.type, True)

    def each_of(self, listed: ast.ListComp, write: Any) -> None:
        """Have something written for each value of a comprehension, which takes where it stands and it."""
        loops = [(loop, *self._gone_over(loop)) for loop in listed.generators]
        start, bound = self.indent, dict(self.regions[-1].indices)
        self._begin_level(loops)
        write(listed.elt, self.expression(listed.elt))
        self._end_loops(start, bound)

    # Numbers.

    def all_of(self, node: ast.expr, source: ast.expr) -> ast.ListComp:
        """Give `[x for x in xs]`."""
        load, store = (ast.copy_location(ast.Name("<each>", context), node) for context in (ast.Load(), ast.Store()))
        return ast.copy_location(ast.ListComp(load, [ast.comprehension(store, source, [], 0)]), node)

    def is_among(self, node: ast.Compare, among: ast.expr) -> Value:
        """Translate `x in xs` of an array or a list: whether any of it is equal to a number."""
        listed = self.all_of(node, among)
        self.elements[id(node.left)] = self.keep(self._element(node.left))
        listed.elt = ast.copy_location(ast.Compare(listed.elt, [ast.Eq()], [node.left]), node)
        call = ast.copy_location(ast.Call(ast.Name("any", ast.Load()), [listed], []), node)
        found = self.over_comprehension(call, "any")
        del self.elements[id(node.left)]
        return found if isinstance(node.ops[0], ast.In) else replace(found, text=f"(!{found.text})")

    def over_list(self, node: ast.Call, how: str, source: ast.expr) -> Value:
        """Translate `sum(xs)` of a list, and its like."""
        call = ast.Call(node.func, [self.all_of(node, source)], [])
        return self.over_comprehension(ast.copy_location(call, node), how)

    def over_comprehension(self, node: ast.Call, how: str) -> Value | None:
        """Translate `sum(… for … in …)`, and `min`, `max`, `any` and `all`; None if it is another call."""
        listed = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if how not in _OF_VALUES or not isinstance(listed, (ast.ListComp, ast.GeneratorExp)):
            return None
        if how in ("min", "max"):
            return self.extreme_of(node, how, listed)
        if self.in_arm:
            self.fail(node, f"`{how}` of a comprehension in what may not be computed", "here", "give it a name before")
        at, line, start = len(self.lines), self.at, self.indent
        loops = [(loop, *self._gone_over(loop)) for loop in listed.generators]
        bound = dict(self.regions[-1].indices)
        total = self.temporary(how)
        self._begin_level(loops)
        value = self.number(listed.elt)
        tests = how in ("any", "all")
        value = self.as_bool(listed.elt, value) if tests else value
        key = (self.regions[-1].key, total)
        ty = BOOL if tests else self._grow(key, promote(value.type, INT), node)
        value = self.cast(value, ty, node)
        uniform = self.is_uniform_here()
        sofar = Value(total, ty, uniform)
        if tests:
            self.emit(f"{total} = {total} {'||' if how == 'any' else '&&'} {value.text};")
            if len(loops) == 1:
                self.emit(f"if ({'' if how == 'any' else '!'}{total}) break;")
        else:
            self.emit(f"{total} = {self.cast(self.operate(node, '+', sofar, value), ty, node).text};")
        self._end_loops(start, bound)
        shape, first = "uniform " if uniform else "", constant(how == "all") if tests else constant(0)
        self.lines.insert(at, ("    " * start + f"{shape}{ty.spmd} {total} = {self.cast(first, ty, node).text};", line))
        return self.keep(Value(total, ty, uniform, is_python=tests))
