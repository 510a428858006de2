"""Arrays of the elements of others at other places: `np.repeat(a, 3)`, `np.roll(m, 1, axis=0)`, `np.flip(m)`.

What is turned round or gets another dimension is a part, and not copied; all else is a new array.
"""

from __future__ import annotations

import ast
from typing import Any, Callable

import numpy as np

from . import _functions
from ._counting import Counting
from ._parts import Axis, Part
from ._types import FLOAT64, INT, Num, strong
from ._values import LONGEST, Value, constant, exactly

_FLIPS = {np.flip: None, np.flipud: 0, np.fliplr: 1}
_AT_LEAST = {np.atleast_1d: 1, np.atleast_2d: 2}
_IDENTITIES = (np.eye, np.identity)
_DIAGONALS = (np.diag, np.diagonal)
REARRANGE = (np.repeat, np.tile, np.roll, np.expand_dims, *_FLIPS, *_AT_LEAST, *_DIAGONALS)


class Rearranged(Counting):
    """Translates what puts elements to other places; `Body` has what it needs to know."""

    def rearranged(self, node: ast.Call, function: Any) -> Value | None:
        """Translate a call of such a function; None if it is one of another."""
        if function in _IDENTITIES:
            return self._identity(node, function)
        if function not in REARRANGE:
            return None
        if function in _FLIPS:
            return self._flipped(node, _FLIPS[function])
        if function in _AT_LEAST:
            return self._at_least(node, _AT_LEAST[function])
        if function is np.expand_dims:
            return self._with_one_more(node)
        if function in _DIAGONALS:
            return self._diagonal(node, function)
        if function is np.roll:
            return self._rolled(node)
        return self._tiled(node) if function is np.tile else self._with_repeats(node)

    def _with_repeats(self, node: ast.Call) -> Value:
        """Translate `np.repeat(a, n)`: each element, or each row of an axis, so many times."""
        given = self.arguments_of(node, ("a", "repeats", "axis"), 2)
        count = self._count(given["repeats"], "how often elements are repeated")
        if not self._is_array(given["a"]):
            return self._of_one(node, given["a"], [count])
        array, axis = self.numbers_at(given["a"]), self._axis_at(given)
        if axis is None:
            array, axis = self.in_a_row(given["a"], array), 0
        axis = self._axis_of(node, array, axis)
        times = [count if k == axis else constant(1) for k in range(array.type.ndim)]
        return self._several_times(node, array, times, "/")

    def _tiled(self, node: ast.Call) -> Value:
        """Translate `np.tile(a, n)`: the whole array, so many times along each axis."""
        given = self.arguments_of(node, ("A", "reps"), 2)
        counts = [self._count(at, "how often an array is repeated") for at in self._each_at(given["reps"])]
        if not self._is_array(given["A"]):
            return self._of_one(node, given["A"], counts)
        array = self.numbers_at(given["A"])
        ndim = array.type.ndim
        times = [*(constant(1) for _ in range(ndim - len(counts))), *counts]
        if len(times) > ndim:
            new: list[ast.expr] = [ast.Constant(None)] * (len(times) - ndim)
            array = self.part_at(node, array, [*new, *(ast.Slice() for _ in range(ndim))])
        return self._several_times(node, array, times, "%")

    def _of_one(self, node: ast.Call, source: ast.expr, counts: list[Value]) -> Value:
        """Make an array of one number several times."""
        value = self.keep(self.number(source))
        return self.new_array(node, strong(value.type), counts, value, None, True)

    def _several_times(self, node: ast.Call, array: Value, times: list[Value], op: str) -> Value:
        """Make an array with the elements of another one several times, one behind the other or all behind all."""
        whole = [(self.dim(array.text, k), self.most(array, k)) for k in range(array.type.ndim)]
        pairs = [[self.operate(node, "*", each, n) for each in pair] for pair, n in zip(whole, times)]

        def source(counters: list[str]) -> list[str]:
            by = times if op == "/" else [length for length, _ in whole]
            return [c if n.const == 1 else f"({c} {op} (int){each.text})" for c, n, each in zip(counters, times, by)]

        return self._gathered(node, array, *map(list, zip(*pairs)), source)

    def _rolled(self, node: ast.Call) -> Value:
        """Translate `np.roll(a, shift, axis)`: elements that leave at one end come in at the other."""
        given = self.arguments_of(node, ("a", "shift", "axis"), 2)
        array = self.numbers_at(given["a"])
        shifts = [self.integer(at, "a shift") for at in self._each_at(given["shift"])]
        axes = [self._constant_axis(at) for at in self._each_at(given["axis"])] if "axis" in given else [0]
        axes = [self._axis_of(node, array, axis) for axis in axes]
        if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
            self.fail(node, "there is a shift for each axis", f"{len(shifts)} for {len(axes)} axes")
        count = max(len(shifts), len(axes))
        by: dict[int, Value] = {}
        for shift, axis in zip(shifts * (count // len(shifts)), axes * (count // len(axes))):
            by[axis] = shift if axis not in by else self.operate(node, "+", by[axis], shift)
        lengths = [self.dim(array.text, k) for k in range(array.type.ndim)]
        most = [self.most(array, k) for k in range(array.type.ndim)]
        if "axis" not in given and len(lengths) > 1:
            return self._gathered(node, array, lengths, most, self._in_row_order(node, by[0], lengths))
        starts = {
            axis: self._start(node, shift, lengths[axis].text, lengths[axis].uniform) for axis, shift in by.items()
        }

        def source(counters: list[str]) -> list[str]:
            return [
                f"(int)({c} < {starts[k]} ? {c} - {starts[k]} + {n.text} : {c} - {starts[k]})" if k in starts else c
                for k, (c, n) in enumerate(zip(counters, lengths))
            ]

        return self._gathered(node, array, lengths, most, source)

    def _in_row_order(self, node: ast.Call, shift: Value, lengths: list[Value]) -> Callable[[list[str]], list[str]]:
        """Give what computes indices of which elements are rolled, row after row."""
        size, moved = " * ".join(f"(int64){length.text}" for length in lengths), self.temporary("moved")
        start = self._start(node, shift, f"({size})", all(length.uniform for length in lengths))

        def source(counters: list[str]) -> list[str]:
            at = counters[0]
            for counter, length in zip(counters[1:], lengths[1:]):
                at = f"(int64)({at}) * {length.text} + {counter}"
            self.emit(f"const int64 {moved} = {at} < {start} ? {at} - {start} + {size} : {at} - {start};")
            texts, rest = [], moved
            for length in reversed(lengths[1:]):
                texts.append(f"(int)({rest} % {length.text})")
                rest = f"({rest} / {length.text})"
            return [f"(int){rest}", *reversed(texts)]

        return source

    def _start(self, node: ast.Call, shift: Value, length: str, uniform: bool) -> str:
        """Give where the first element comes to lie: a shift from 0 to below the length."""
        shape = "uniform " if shift.uniform and uniform else ""
        given, start = self.temporary("shift"), self.temporary("start")
        text = self.cast(shift, INT, node).text
        self.emit(f"const {shape}int64 {given} = {text} % max((int64){length}, 1ll);")
        self.emit(f"const {shape}int64 {start} = {given} < 0 ? {given} + {length} : {given};")
        return start

    def _gathered(
        self,
        node: ast.Call,
        array: Value,
        lengths: list[Value],
        most: list[Value],
        source: Callable[[list[str]], list[str]],
    ) -> Value:
        """Make an array of the elements of another one, whose indices are computed of its own."""
        made, together = self._of_lengths(node, array.type.of, lengths, most, None), self.is_uniform_here()
        own = [self.dim(made.text, k) for k in range(len(lengths))]
        counters = [self.temporary("at") for _ in own]
        loops = self._begin(node, counters, own, together)
        uniform = not together and not any(counter in self.differing for counter in counters)
        below = [self.dim(array.text, k).equals[0] for k in range(array.type.ndim)]
        indices = [Value(text, INT, uniform, 0, LONGEST, below=(n, 0)) for text, n in zip(source(counters), below)]
        place = self.element_at(made, counters, not together)
        self.emit(f"{place.text} = {self.place_of(array, indices)[0]};")
        for _ in range(loops):
            self._end(together)
        return made

    def _of_lengths(
        self, node: ast.Call, of: Num, lengths: list[Value], most: list[Value], fill: Value | None
    ) -> Value:
        """Make an array of some lengths; if these are computed, a part of one of those that they are at most."""
        is_open = any(length.before is None for length in most) and self.is_uniform_here()
        if is_open or all(length.before is not None for length in lengths):
            return self.new_array(node, of, lengths, fill, None, True, fill is None)
        array = self.new_array(node, of, most, fill, None, True, fill is None)
        part = self.temporary("part")
        for axis, length in enumerate(lengths):
            name, shape = f"{part}__n{axis}", "uniform " if length.uniform else ""
            if not length.uniform:
                self.differing.add(name)
            self.emit(f"const {shape}int {name} = (int)({length.text});")
        axes = tuple(Axis(Value("0", INT, True, 0, 0, 0), 1) for _ in lengths)
        self.parts[part] = Part(array, self._name_of(array), axes)
        return Value(part, array.type, array.uniform)

    def _flipped(self, node: ast.Call, only: int | None) -> Value:
        """Translate `np.flip(a)`, which is `a[::-1]`, with as many of these as there are axes."""
        given = self.arguments_of(node, ("m", "axis") if only is None else ("m",), 1)
        array = self.numbers_at(given["m"], False)
        at = [self._constant_axis(each) for each in self._each_at(given["axis"])] if "axis" in given else None
        at = at if only is None else [only]
        axes = range(array.type.ndim) if at is None else [self._axis_of(node, array, axis) for axis in at]
        back = ast.UnaryOp(ast.USub(), ast.Constant(1))
        ends = [ast.Slice(None, None, back if k in axes else None) for k in range(array.type.ndim)]
        return self.part_at(node, array, ends)

    def _at_least(self, node: ast.Call, ndim: int) -> Value:
        """Translate `np.atleast_2d(a)`: the array, with further axes in front, or a number as one."""
        given = self.arguments_of(node, ("ary",), 1)
        if not self._is_array(given["ary"]):
            value = self.number(given["ary"])
            return self._unnamed(node, ([value], strong(value.type), (1,) * ndim))
        array = self.numbers_at(given["ary"], False)
        if array.type.ndim >= ndim:
            return array
        return self.part_at(node, array, [ast.Constant(None), ast.Slice()])

    def _with_one_more(self, node: ast.Call) -> Value:
        """Translate `np.expand_dims(a, axis)`: the array, with one more axis, of length 1."""
        given = self.arguments_of(node, ("a", "axis"), 2)
        array, axis = self.numbers_at(given["a"], False), self._constant_axis(given["axis"])
        ndim = array.type.ndim + 1
        if not -ndim <= axis < ndim:
            self.fail(given["axis"], f"the result has {ndim} dimensions", f"there is no axis {axis}")
        indices: list[ast.expr] = [ast.Slice() for _ in range(ndim)]
        indices[axis % ndim] = ast.Constant(None)
        return self.part_at(node, array, indices)

    def _diagonal(self, node: ast.Call, function: Any) -> Value:
        """Translate `np.diag(v, k)` and `np.diagonal(m, k)`: a matrix with a diagonal, or the diagonal of one."""
        called, names = ast.unparse(node.func), ("v", "k") if function is np.diag else ("a", "offset")
        given = self.arguments_of(node, names, 1)
        array = self.numbers_at(given[names[0]])
        by = self.integer(given[names[1]], "the number of a diagonal") if names[1] in given else constant(0)
        down, right = self._below_and_beside(node, by)
        if array.type.ndim == 1 and function is np.diag:
            return self._with_diagonal(node, array, down, right)
        if array.type.ndim != 2:
            note = f"this has {array.type.ndim} dimension{'s' * (array.type.ndim != 1)}"
            self.fail(node, f"`{called}` takes a matrix in a kernel", note)

        def length(rows: Value, columns: Value) -> Value:
            left = [self.operate(node, "-", rows, down), self.operate(node, "-", columns, right)]
            least = self.keep(_functions.find(min)(self, node, left))
            return self.keep(_functions.find(max)(self, node, [constant(0), least]))

        lengths = [[length(of(array, 0), of(array, 1))] for of in (self._length_at, self.most)]
        return self._gathered(node, array, *lengths, lambda at: [_moved(at[0], down), _moved(at[0], right)])

    def _length_at(self, array: Value, axis: int) -> Value:
        return self.dim(array.text, axis)

    def _with_diagonal(self, node: ast.Call, array: Value, down: Value, right: Value) -> Value:
        """Make a matrix of zeros, but for a diagonal."""
        own, of, together = self.dim(array.text, 0), array.type.of, self.is_uniform_here()
        lengths = [
            [self.operate(node, "+", self.operate(node, "+", length, down), right)] * 2
            for length in (own, self.most(array, 0))
        ]
        made = self._of_lengths(node, of, *lengths, self.cast(constant(0), of, node))
        counter = self.temporary("at")
        loops = self._begin(node, [counter], [own], together)
        at = [(k, _moved(counter, by)) for k, by in enumerate((down, right))]
        uniform = not together and counter not in self.differing
        index = [Value(text, INT, uniform, 0, LONGEST, below=(self.dim(made.text, k).equals[0], 0)) for k, text in at]
        place, _ = self.place_of(made, index)
        self.emit(f"{place} = {self.element_at(array, [counter], not together).text};")
        for _ in range(loops):
            self._end(together)
        return made

    def _below_and_beside(self, node: ast.Call, by: Value) -> tuple[Value, Value]:
        """Give in which row a diagonal begins, and in which column."""
        if by.const is not None:
            return constant(max(-by.const, 0)), constant(max(by.const, 0))
        most = _functions.find(max)
        by = self.keep(by)
        less = self.operate(node, "-", constant(0), by)
        return self.keep(most(self, node, [less, constant(0)])), self.keep(most(self, node, [by, constant(0)]))

    def _identity(self, node: ast.Call, function: Any) -> Value:
        """Translate `np.eye(n, m, k)`: zeros, and ones on a diagonal."""
        names = ("N", "M", "k", "dtype") if function is np.eye else ("n", "dtype")
        given = self.arguments_of(node, names, 1)
        lengths = [self._count(given[name], "a length") for name in ("n", "N", "M") if name in given]
        by = self.keep(self.integer(given["k"], "the number of a diagonal")) if "k" in given else constant(0)
        of = strong(self.annotation(given["dtype"])) if "dtype" in given else FLOAT64
        return self.identity_of(node, of, [lengths[0], lengths[-1]], by)

    def identity_of(self, node: ast.Call, of: Num, lengths: list[Value], by: Value) -> Value:
        """Make a matrix of zeros, and ones on a diagonal."""
        zero, together = self.cast(constant(0), of, node), self.is_uniform_here()
        made = self.new_array(node, of, lengths, zero, None, True)
        counter = self.temporary("at")
        rows, columns = (self.dim(made.text, k) for k in range(2))
        loops = self._begin(node, [counter], [rows], together)
        row = Value(counter, INT, not together, 0, LONGEST, below=(rows.equals[0], 0))
        column = row
        if by.const != 0 or rows.equals != columns.equals:
            at = f"((int64){counter} + {by.text})" if by.const != 0 else counter
            self.emit(f"if ({at} >= 0 && {at} < {columns.text})")
            column = Value(f"(int){at}", INT, not together and by.uniform, 0, LONGEST, below=(columns.equals[0], 0))
        place, _ = self.place_of(made, [row, column])
        self.emit(f"{place} = {self.cast(constant(1), of, node).text};")
        for _ in range(loops):
            self._end(together)
        return made

    # Arguments.

    def part_at(self, node: ast.Call, array: Value, indices: list[ast.expr]) -> Value:
        """Give the part of an array that indices take, one for each axis."""
        index = ast.Tuple(indices, ast.Load())
        part = ast.copy_location(ast.Subscript(self.standing_for(node, array), index, ast.Load()), node)
        return self.part(ast.fix_missing_locations(part))

    def numbers_at(self, node: ast.expr, of_numbers: bool = True) -> Value:
        """Give the array that an argument is, or lists, or computes."""
        is_listed = isinstance(node, (ast.List, ast.Tuple))
        array = self.listed_array(node) if is_listed else self.as_array(self.as_listed(node))
        if array is None:
            self.fail(node, "elements of an array are put to other places", self.kind_of(node))
        if of_numbers and not isinstance(array.type.of, Num):
            self.fail(node, "elements that are copied are numbers", f"this is `{array.type}`", "copy its fields")
        return array

    def _is_array(self, node: ast.expr) -> bool:
        """Return whether an argument is an array, lists one or computes one, rather than a number."""
        if isinstance(node, (ast.List, ast.Tuple)) or self.array_of(node) is not None or self.makes_elements(node):
            return True
        return self.expression(node).parts is not None

    def _each_at(self, node: ast.expr) -> list[ast.expr]:
        """Give the expressions of a tuple; the only one, if it is none."""
        if isinstance(node, (ast.Tuple, ast.List)):
            return list(node.elts)
        parts = self.expression(node).parts
        if parts is None:
            return [node]
        indices = (ast.copy_location(ast.Constant(k), node) for k in range(len(parts)))
        return [ast.copy_location(ast.Subscript(node, index, ast.Load()), node) for index in indices]

    def _count(self, node: ast.expr, what: str) -> Value:
        """Give a number that is not negative."""
        value = self.keep(exactly(self.integer(node, what)))
        if value.const is not None and value.const < 0:
            self.fail(node, f"{what} is not negative", f"{value.const} here")
        if value.const is None and value.low < 0:
            self.demand(node, f"{value.text} >= 0", f"{what} is not negative")
        return value

    def _axis_at(self, given: dict[str, ast.expr]) -> int | None:
        return self._constant_axis(given["axis"]) if "axis" in given else None

    def _constant_axis(self, node: ast.expr) -> int:
        axis = self.integer(node, "an axis").const
        if axis is None:
            self.fail(node, "an axis is a constant in a kernel", "known only at run time", "choose by `if` and `elif`")
        return int(axis)

    def _axis_of(self, node: ast.Call, array: Value, axis: int) -> int:
        """Give an axis of an array, which may be counted from the end."""
        ndim = array.type.ndim
        if not -ndim <= axis < ndim:
            self.fail(node, f"this array has {ndim} dimension{'s' * (ndim != 1)}", f"there is no axis {axis}")
        return axis % ndim


def _moved(counter: str, by: Value) -> str:
    return counter if by.const == 0 else f"({counter} + (int){by.text})"
