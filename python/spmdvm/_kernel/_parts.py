"""Parts of arrays in kernels: `a[1:-1]`, `a[::2]`, `a[i]` of several dimensions, and statements over their elements.

A part is a name for elements of an array parameter; nothing is copied. Its bounds are computed once, as numpy computes
them, and its lengths are variables like those of a parameter, so that all else treats it as one.
"""

from __future__ import annotations

import ast
import builtins
import copy
import math
import re
from dataclasses import replace
from typing import Any, Callable, NoReturn

from ._fields import Axis, Fields, Part, field_in, is_text
from ._types import BOOL, INT, Array, Num, Record
from ._values import INT32, LONGEST, OUTSIDE, Value, exactly, tuple_of

# What bounds of indices are below, and the numbers of parameters in them: no sum of them overflows 64 bits.
_SMALL, _LARGEST = 2**30, "1099511627776ll"
# A length with an offset, or a constant.
_OF_LENGTH = re.compile(r"\(?(?:\d+ll|\(int64\)(\w+__n\d+)(?: [+-] -?\d+)?)\)?")
_LONGEST_WINDOW = 64
NO_INDEX = (
    "`None` cannot stand in an index",
    "here",
    "a new dimension stands beside those that are left: `a[:, None]`, `a[None, i]`; or write the loops, in "
    "`for i, j in spmdvm.foreach(len(a), len(b))`",
)


class Parts(Fields):
    """Translates parts; `Body` has what they need to know."""

    def array_of(self, node: ast.expr) -> Value | None:
        """Give the array that an expression names, or a part of one; None if it is something else."""
        if isinstance(node, ast.Name):
            value = self.read_name(node)
            return value if value is not None and isinstance(value.type, Array) else None
        field = self.field(node)
        if field is not None:
            return field
        if isinstance(node, ast.Subscript) and self.is_part(node):
            return self.part(node)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            return self.turned(node, node.value)
        if isinstance(node, ast.Attribute) and node.attr == "flat":
            return self.flattened(node, node.value)
        if isinstance(node, ast.Subscript) and self.is_record(node):
            value: Value = self.element(node, stores=False)
            return value
        if isinstance(node, ast.Subscript) and (self.is_choice(node) or self.takes(node)):
            return self.array_of_call(node)
        return self.array_of_call(node) if isinstance(node, (ast.Call, ast.BinOp)) else None

    def turned(self, node: ast.expr, source: ast.expr) -> Value | None:
        """Give an array with its axes from the last to the first; None if the expression is no array."""
        if id(node) not in self.parts_of:
            array = self.array_of(source)
            if array is None:
                return None
            name, ndim = self.temporary("part"), array.type.ndim
            for axis in range(ndim):
                self._same_length(f"{name}__n{axis}", self.dim(array.text, ndim - 1 - axis))
            axes = tuple(Axis(Value("0", INT, True, 0, 0, 0), 1) for _ in range(ndim))
            self.parts[name] = Part(array, self._name_of(array), axes, None, True)
            self.parts_of[id(node)] = node, Value(name, array.type, array.uniform)
        return self.parts_of[id(node)][1]

    def flattened(self, node: ast.expr, source: ast.expr) -> Value | None:
        """Give all elements of an array, row after row; of a part of one a copy. None if the expression is no array."""
        if id(node) in self.parts_of:
            return self.parts_of[id(node)][1]
        array = self.array_of(source)
        if array is None or array.type.ndim == 1:
            return array
        if array.text in self.parts or array.text in self.views:
            array = self.copy_of(node, array)
        if array.text in self.parts:
            help = "loop over its elements, or give it lengths that are known before: `a[:n]`, `a[2:]`"
            self.fail(node, "the lengths of this part are known only when it is taken", "all of its elements", help)
        name = self.temporary("part")
        lengths = [self.dim(array.text, axis) for axis in range(array.type.ndim)]
        size = " * ".join(f"(int64){length.text}" for length in lengths)
        if all(length.const is not None for length in lengths):
            self.dims[f"{name}__n0"] = f"{math.prod(length.const for length in lengths)} elements"
        elif all(length.before is not None for length in lengths):
            host = "(" + " * ".join(length.before for length in lengths) + ")"
            self.dims[f"{name}__n0"] = f"= {host}"
            self.program.hosts.setdefault(f"= {host}", host)
        if self.program.wide:
            self.demand(node, f"{size} <= {LONGEST}", f"the elements in a row are up to {LONGEST}")
        self.emit(f"const uniform int {name}__n0 = (uniform int)({size});")
        self.parts[name] = Part(array, self._name_of(array), (), None, False, True)
        value = Value(name, Array(array.type.of, 1), array.uniform)
        self.parts_of[id(node)] = node, value
        return value

    def reshaped(self, node: ast.Call, source: ast.expr, shape: list[ast.expr]) -> Value | None:
        """Give all elements of an array, row after row, as an array of another shape."""
        if id(node) in self.parts_of:
            return self.parts_of[id(node)][1]
        if self.array_of(source) is None:
            copied = self.copied(source, source)
            self.parts_of[id(source)] = source, copied
        flat = self.flattened(ast.copy_location(ast.Attribute(source, "flat", ast.Load()), node), source)
        if flat is None:
            return None
        lengths = self._shape_of(node, shape, flat)
        if len(lengths) == 1:
            return flat
        name = self.temporary("part")
        for axis, length in enumerate(lengths):
            own = f"{name}__n{axis}"
            symbol = f"{length.const} elements" if length.const is not None else f"= {length.before}"
            if length.equals is not None and length.equals[1] == 0:
                symbol = length.equals[0]
            if length.before is not None:
                self.dims[own] = symbol
                self.program.hosts.setdefault(symbol, length.before)
            self.emit(f"const uniform int {own} = (uniform int)({length.text});")
        self.parts[name] = Part(flat, self._name_of(flat), (), None, False, True)
        value = Value(name, Array(flat.type.of, len(lengths)), flat.uniform)
        self.parts_of[id(node)] = node, value
        return value

    def _shape_of(self, node: ast.Call, shape: list[ast.expr], flat: Value) -> list[Value]:
        """Translate the lengths of a shape, of which one may be -1, and have it tested that they suit the elements."""
        parts = [self.expression(each) for each in shape]
        parts = list(parts[0].parts) if len(parts) == 1 and parts[0].parts is not None else parts
        size, lengths = self.dim(flat.text, 0), []
        for part in map(exactly, parts):
            if not isinstance(part.type, Num) or not part.type.is_int or not part.uniform:
                self.fail(node, "the lengths of a shape are integers, the same for all elements", "here")
            lengths.append(self.keep(part))
        open_ = [k for k, part in enumerate(lengths) if part.const == -1]
        if len(open_) > 1 or any(part.const is not None and part.const < -1 for part in lengths):
            self.fail(node, "one length of a shape may be -1, which is what is left", "here")
        known = [part for part in lengths if part.const != -1]
        product = " * ".join(f"(uniform int64){part.text}" for part in known) or "1ll"
        if open_ and len(lengths) > 1:
            hosts = [part.before for part in (size, *known)]
            host = None if None in hosts else f"({hosts[0]} // _max(1, {' * '.join(f'({h})' for h in hosts[1:])}))"
            text = f"({size.text} / ({product} == 0 ? 1 : {product}))"
            lengths[open_[0]] = self.keep(Value(text, INT, True, 0, LONGEST, host=host))
        elif open_:
            return [size]
        tested = " * ".join(f"(uniform int64){part.text}" for part in lengths)
        positive = " && ".join(f"{part.text} >= 0" for part in lengths)
        told = f"`{ast.unparse(node)}` has as many elements as the array"
        self.demand(node, f"{positive} && {tested} == {size.text}", told)
        return lengths

    def row_of(self, array: Value, index: Value) -> Value:
        """Give the part of an array of several dimensions that one index of the first takes."""
        name, axes = self.temporary("part"), [Axis(index, None)]
        for axis in range(1, array.type.ndim):
            self._same_length(f"{name}__n{axis - 1}", self.dim(array.text, axis))
            axes.append(Axis(Value("0", INT, True, 0, 0, 0), 1))
        self.parts[name] = Part(array, self._name_of(array), tuple(axes))
        return Value(name, Array(array.type.of, array.type.ndim - 1), array.uniform)

    def is_choice(self, node: ast.Subscript) -> bool:
        """Return whether elements are taken that a mask chooses: `a[a > 2]`, outside of a statement over elements."""
        if id(node) in self.elements or not isinstance(node.slice, (ast.Compare, ast.Name, ast.BinOp, ast.UnaryOp)):
            return False
        if not self.is_uniform_here() or self.array_of(node.value) is None or not self.makes_elements(node.slice):
            return False
        array = self.array_of(node.slice)
        return array is None or array.type.of == BOOL

    def takes(self, node: ast.Subscript) -> bool:
        """Return whether elements are taken whose indices stand in an array: `a[order]`."""
        if id(node) in self.elements or not isinstance(node.slice, (ast.Name, ast.Call, ast.Subscript)):
            return False
        if not self.is_uniform_here() or self.in_arm or not isinstance(node.ctx, ast.Load):
            return False
        array = self.array_of(node.value)
        at = None if array is None or array.type.ndim != 1 else self.array_of(node.slice)
        return at is not None and at.type.ndim == 1 and isinstance(at.type.of, Num) and at.type.of.is_int

    def is_part(self, node: ast.expr) -> bool:
        """Return whether an index takes more than one element."""
        if self.is_field(node):
            return self.field(node).type.ndim > 0
        if not isinstance(node, ast.Subscript):
            return False
        indices = _indices(node)
        if any(isinstance(index, ast.Slice) for index in indices):
            return not self._is_tuple(node.value)
        if any(is_ellipsis(index) or is_no_index(index) for index in indices):
            # What is left out may be no dimension at all.
            of = self.array_of(node.value)
            given = [index for index in indices if not is_no_index(index)]
            return of is not None and (len(given) <= of.type.ndim or len(given) < len(indices))
        if is_text(node.slice):
            records = self.array_of(node.value) if isinstance(node.value, (ast.Name, ast.Subscript)) else None
            return records is not None and isinstance(records.type.of, Record) and records.type.ndim > 0
        if isinstance(node.value, ast.Subscript) and not self.is_field(node.value):
            return self.is_part(node.value) and len(indices) < self.part(node.value).type.ndim
        array = self.read_name(node.value) if isinstance(node.value, ast.Name) else None
        if isinstance(node.value, ast.Attribute) or self.is_field(node.value):
            array = self.array_of(node.value)
        is_array = array is not None and isinstance(array.type, Array)
        return is_array and len(indices) < array.type.ndim and not any(is_text(index) for index in indices)

    def _is_tuple(self, node: ast.expr) -> bool:
        """Return whether what a slice takes a part of is a tuple: `a.shape[:2]`."""
        if isinstance(node, ast.Attribute):
            return node.attr == "shape" and not self.is_field(node)
        value = self.read_name(node) if isinstance(node, ast.Name) else None
        return value is not None and value.parts is not None

    def part(self, node: ast.Subscript | ast.Attribute) -> Value:
        """Translate a part; the same node gives the same part again."""
        field = self.field(node)
        if field is not None:
            return field
        if id(node) not in self.parts_of:
            # With the node: another one in its place would have its id.
            self.parts_of[id(node)] = node, self._make_part(node)
        return self.parts_of[id(node)][1]

    def _make_part(self, node: ast.Subscript) -> Value:
        array = self.array_of(node.value)
        if array is None:
            if isinstance(node.value, ast.Call):
                # What is called may not be known, which is told then.
                self.expression(node.value)
            self.fail(node.value, "only arrays have parts", "no array")
        if self.in_arm:
            self.fail(node, "a part of an array in what may not be computed", "here", "give it a name before")
        if is_text(node.slice):
            return self.field_of(node, array, str(ast.literal_eval(node.slice)))
        indices, ndim = self._whole_indices(node, array.type.ndim), array.type.ndim
        given = sum(not is_no_index(index) for index in indices)
        if given > ndim:
            told = f"this array has {ndim} dimension{'s' * (ndim != 1)}"
            self.fail(node, told, f"{given} indices", "give one index for each")
        name = self.temporary("part")
        axes: list[Axis] = []
        kept, new = 0, set()
        for index in [*indices, *(ast.Slice(None, None, None) for _ in range(ndim - given))]:
            axis = len(axes)
            if is_no_index(index):
                self.dims[f"{name}__n{kept}"] = "1 elements"
                new.add(kept)
                kept += 1
                continue
            if not isinstance(index, ast.Slice):
                axes.append(Axis(self.keep(self._index(index, array, axis)), None))
                continue
            axes.append(self._range(index, array, axis, f"{name}__n{kept}"))
            kept += 1
        owner = self._name_of(array)
        row = None
        plain = array.text not in self.parts and array.text not in self.views and not self.program.wide
        if plain and axes and axes[0].step is None and axes[0].start.uniform:
            row = f"{name}__row"
            self.emit(f"const uniform int {row} = {self._row(array, axes[0].start)};")
        self.parts[name] = Part(array, owner, tuple(axes), row, new=frozenset(new))
        return Value(name, Array(array.type.of, kept), array.uniform)

    def _whole_indices(self, node: ast.Subscript, ndim: int) -> list[ast.expr]:
        """Give the indices, with `:` for the dimensions that `...` stands for."""
        indices = _indices(node)
        at = [k for k, index in enumerate(indices) if is_ellipsis(index)]
        if len(at) > 1:
            self.fail(indices[at[1]], "`...` stands once in an index", "here", "write `:` for each dimension")
        given = sum(not is_no_index(index) for index in indices)
        if at and given - 1 <= ndim:
            left = [ast.copy_location(ast.Slice(None, None, None), node) for _ in range(ndim + 1 - given)]
            indices[at[0] : at[0] + 1] = left
        return indices

    def _range(self, index: ast.Slice, array: Value, axis: int, length: str) -> Axis:
        """Translate `start:stop:step` with numpy's meaning, and declare the length under a name."""
        step, by = 1, None
        if index.step is not None:
            by = self.integer(index.step, "the step of a part")
            if by.const == 0 or not by.uniform:
                help = "loop: `for k in range(start, stop, step): a[k] = …`"
                self.fail(index.step, "the step of a part is the same for all elements, and not zero", "here", help)
            # One that is larger takes the first element, too.
            step = 1 if by.const is None else max(-LONGEST, min(int(by.const), LONGEST))
        n = self.dim(array.text, axis)
        if by is not None and by.const is None:
            return self._range_by_steps(index, array, axis, length, by)
        if index.lower is None and index.upper is None and step == 1:
            # All of it: an index below one length is below the other.
            self._same_length(length, n)
            return Axis(Value("0", INT, True, 0, 0, 0), 1)
        window = self._window(index, n) if step == 1 else None
        if window is not None:
            first, count = window
            self.dims[length] = f"{count} elements"
            self.emit(f"const uniform int {length} = {count};")
            return Axis(self.keep(first), 1)
        low, high = ("0", n.text) if step > 0 else ("-1", f"({n.text} - 1)")
        ends = [
            self._bound(index.lower, n, low, high, low if step > 0 else high),
            self._bound(index.upper, n, low, high, high if step > 0 else low),
        ]
        names = [self.temporary("start"), self.temporary("stop")]
        for name, (text, is_same) in zip(names, ends):
            self.emit(f"const {'uniform ' if is_same else ''}int {name} = {text};")
        is_same = ends[0][1] and ends[1][1]
        if not is_same:
            self.differing.add(length)
        first, last = names if step > 0 else reversed(names)
        size = abs(step)
        count = f"{last} - {first}" if size == 1 else f"({last} - {first} + {size - 1}) / {size}"
        bounds = [bound and self.integer(bound, "a bound of a part") for bound in (index.lower, index.upper)]
        known = ["" if bound is None else bound.before for bound in bounds]
        if index.lower is None and index.upper is None and step == -1:
            self.dims[length] = n.equals[0]
        elif n.before is not None and None not in known:
            host = f"_len(_range({n.before})[{known[0]}:{known[1]}:{step}])"
            self.dims[length] = f"= {host}"
            self.program.hosts.setdefault(f"= {host}", host)
        self.emit(f"const {'uniform ' if is_same else ''}int {length} = {first} < {last} ? {count} : 0;")
        return Axis(Value(names[0], INT, ends[0][1], -1, LONGEST), step)

    def _range_by_steps(self, index: ast.Slice, array: Value, axis: int, length: str, by: Value) -> Axis:
        """Translate `start:stop:step` with a step that is computed, which is positive."""
        n = self.dim(array.text, axis)
        step = self.temporary("step")
        told = f"the step `{ast.unparse(index.step)}`, which is computed, is positive"
        self.demand(index.step, f"{by.text} > 0", told)
        self.emit(f"const uniform int {step} = (uniform int)min((uniform int64){by.text}, {LONGEST}ll);")
        unit = ast.copy_location(ast.Slice(index.lower, index.upper, None), index)
        whole = self.temporary("range")
        axis_ = self._range(unit, array, axis, whole)
        is_same = whole not in self.differing
        if not is_same:
            self.differing.add(length)
        bounds = [bound and self.integer(bound, "a bound of a part") for bound in (index.lower, index.upper)]
        known = ["" if bound is None else bound.before for bound in bounds]
        if n.before is not None and None not in known and by.before is not None:
            host = f"_len(_range({n.before})[{known[0]}:{known[1]}:{by.before}])"
            self.dims[length] = f"= {host}"
            self.program.hosts.setdefault(f"= {host}", host)
        shape = "uniform " if is_same else ""
        count = f"({shape}int)(((int64){whole} + {step} - 1) / {step})"
        self.emit(f"const {shape}int {length} = {count};")
        return Axis(axis_.start, step)

    def _same_length(self, name: str, length: Value) -> None:
        """Declare a length that is another one."""
        self.dims[name] = length.equals[0]
        if not length.uniform:
            self.differing.add(name)
        self.emit(f"const {'uniform ' if length.uniform else ''}int {name} = {length.text};")

    def _window(self, index: ast.Slice, length: Value) -> tuple[Value, int] | None:
        """Give where `i - 1:i + 2` begins and how long it is, if all of it is known to be inside; else None."""
        if index.lower is None or index.upper is None:
            return None
        (base, low), (other, high) = _base(index.lower), _base(index.upper)
        if base is None or base != other or not 0 < high - low <= _LONGEST_WINDOW:
            return None
        start, stop = self.integer(index.lower, "a bound of a part"), self.integer(index.upper, "a bound of a part")
        below = stop.below or (stop.equals and (stop.equals[0], stop.equals[1] + 1))
        if start.low < 0 or not start.is_narrow or below is None or length.equals is None:
            return None
        return (start, high - low) if below[0] == length.equals[0] and below[1] <= 1 else None

    def _bound(self, node: ast.expr | None, n: Value, low: str, high: str, default: str) -> tuple[str, bool]:
        """Write a bound, which counts from the end if it is negative, and is moved into the array.

        Tell whether it is the same for all lanes.
        """
        if node is None:
            return default, n.uniform
        value = self.integer(node, "a bound of a part")
        if value.const is not None:
            at = int(value.const)
            if abs(at) > LONGEST:
                return (high if at > 0 else low), n.uniform
            if at >= 0:
                return f"{at} < {high} ? {at} : {high}", n.uniform
            return f"{n.text} - {-at} > {low} ? {n.text} - {-at} : {low}", n.uniform
        given, text = self.temporary("given"), self.temporary("bound")
        wide = value.text if value.is_narrow else self.cast(value, INT, node).text
        is_same = value.uniform and n.uniform
        shape = "uniform " if is_same else ""
        self.emit(f"const {shape}int64 {given} = {wide};")
        self.emit(f"const {shape}int64 {text} = {given} < 0 ? {given} + {n.text} : {given};")
        return f"{text} < {low} ? {low} : {text} > {high} ? {high} : (int){text}", is_same

    def place_of(self, array: Value, indices: list[Value]) -> tuple[str, bool]:
        """Give an element by its indices, and whether it is the same for all lanes."""
        self.unsure = []
        root, offset, tests, field = self._offset(array, indices)
        uniform = root.uniform and all(index.uniform for index in indices) and self._fixed_uniform(array)
        text = f"({' && '.join(tests)}) ? {offset} : {OUTSIDE}" if tests else offset
        flag = self.known_inside(self.unsure) if tests and not uniform else None
        self.inside = None if flag is None else (flag, f"{root.text}[{offset}]{field}")
        return f"{root.text}[{text}]{field}", uniform

    def reach(self, value: Value) -> tuple[str | None, str | None]:
        """Give expressions of parameters alone between which an integer is; None where there is none."""
        if value.const is not None:
            return (f"{value.const}ll", f"{value.const}ll") if abs(value.const) < _SMALL else (None, None)
        least, most = value.least, value.most
        if value.equals is not None and (text := self._symbol_text(value.equals[0])) is not None:
            least = most = text if value.equals[1] == 0 else f"({text} + {value.equals[1]})"
        if most is None and value.below is not None and (text := self._symbol_text(value.below[0])) is not None:
            most = f"({text} + {value.below[1] - 1})"
        if most is None and value.high < _SMALL:
            most = f"{value.high}ll"
        return (f"{value.low}ll" if least is None and value.low > -_SMALL else least), most

    def _symbol_text(self, symbol: str) -> str | None:
        if symbol.startswith("= ") and symbol[2:] in {self.param_text(p.name) for p in self.params if p.uniform}:
            return f"(int64){symbol[2:]}"
        length = self._length_names.get(symbol)
        return None if length is None else f"(int64){length}"

    def between(self, op: str, a: Value, b: Value, result: Value) -> Value:
        """Note between what the result of an operation on two integers is."""
        if result.const is not None:
            return result
        (least, most), (low, high) = self.reach(a), self.reach(b)
        if op == "-":
            low, high = high, low
        factor = b.const if op in ("*", "//") else None
        if op == "*" and a.low >= 0 and b.low >= 0 and self._are_lengths(least, most, low, high):
            # Less than 2⁶², so that another number may be added, but no other product of these.
            return replace(result, least=f"({least} * {low})", most=f"({most} * {high})")
        if op in ("*", "//") and not (factor is not None and 0 < factor < 2**16 and a.low >= 0):
            return result
        if op == "*" and "*" in f"{least}{most}":
            return result
        sign = "/" if op == "//" else op
        new = [None if x is None or y is None else f"({x} {sign} {y})" for x, y in ((least, low), (most, high))]
        if any(" * (" in f"{text}" for text in (most, high)) and "*" in f"{most}" and "*" in f"{high}":
            return result
        # With numbers alone the range says as much.
        new = [None if text is None or len(text) > 200 or "(int64)" not in text else text for text in new]
        return replace(result, least=new[0], most=new[1])

    def _are_lengths(self, *texts: str | None) -> bool:
        """Return whether numbers are computed of one length each, and of constants, without products."""
        found = [None if text is None else _OF_LENGTH.fullmatch(text) for text in texts]
        own = {self.param_text(param.name) for param in self.params}
        return all(at is not None and at[1] not in own for at in found)

    def known_inside(self, unsure: list[tuple[Value, Value]]) -> str | None:
        """Give what says whether indices are all below lengths, which is computed first; None if nothing can."""
        tests: dict[str, None] = {}
        for index, length in unsure:
            least, most = self.reach(index)
            bound = self.reach(length)[0]
            if least is None or most is None or bound is None or (length.const is None and "(int64)" not in bound):
                return None
            if not (index.low >= 0):
                tests[f"{least} >= 0"] = None
            tests[f"{most} < {bound}"] = None
        return self.known_before(tests)

    def known_before(self, tests: dict[str, None]) -> str:
        """Give what says whether tests of parameters alone hold, which is computed first."""
        wide = {self.param_text(p.name) for p in self.params if isinstance(p.type, Num) and p.known is None}
        names = dict.fromkeys(re.findall(r"\(int64\)(\w+)", " ".join(tests)))
        # So that nothing overflows.
        small = [f"{name} > -{_LARGEST} && {name} < {_LARGEST}" for name in names if name in wide]
        text = " && ".join([*small, *tests])
        if text not in self.flags:
            self.flags[text] = self.temporary("inside")
        return self.flags[text]

    def _fixed_uniform(self, array: Value) -> bool:
        """Return whether the indices that a part has fixed are the same for all lanes."""
        part = self.parts.get(array.text)
        if part is None:
            return array.text not in self.views or self.views[array.text].uniform
        return all(axis.start.uniform for axis in part.axes) and self._fixed_uniform(part.array)

    def fixed_apart(self, array: Value) -> frozenset[str]:
        """Give the indices of `foreach` with which the indices differ that a part has fixed."""
        part = self.parts.get(array.text)
        if part is None:
            return frozenset()
        return self.fixed_apart(part.array).union(*(axis.start.apart for axis in part.axes if axis.step is None))

    # Parts that are passed: an array, where the part begins in it, its lengths, and how far its elements lie apart.

    def begins_uniform(self, value: Value) -> bool:
        """Return whether a value, if it is a part of an array, begins at the same place for all lanes."""
        return not isinstance(value.type, Array) or self._fixed_uniform(value)

    def view_of(self, value: Value) -> tuple[int | None, ...] | None:
        """Give how far the elements of a part lie apart along each axis, where that is a constant."""
        if not isinstance(value.type, Array) or (value.text not in self.parts and value.text not in self.views):
            return None
        return tuple(self._apart(value, axis)[1] for axis in range(value.type.ndim))

    def view_texts(self, node: Any, value: Value) -> list[str]:
        """Write the arguments that pass a part."""
        self.refuse_field(node, value)
        root, offset, tests, _ = self._offset(value, [Value("0", INT, True, 0, 0, 0)] * value.type.ndim)
        # From there no element is in bounds.
        begin = f"(({' && '.join(tests)}) ? {offset} : {OUTSIDE})" if tests else offset
        apart = [self._apart(value, axis) for axis in range(value.type.ndim)]
        lengths = [self.dim(value.text, axis).text for axis in range(value.type.ndim)]
        if not self.differing.isdisjoint(lengths):
            self.fail(
                node,
                "the parts of arrays that are passed have the same length for all elements",
                "here it differs from element to element",
                "pass the array and both bounds; or a part of a constant length, `a[i:i + 3]`, where it is inside",
            )
        return [root.text, *lengths, begin, *(text for text, step in apart if step is None)]

    def _apart(self, array: Value, axis: int) -> tuple[str, int | None]:
        """Give how far the elements of an array or part lie apart along an axis, and the constant if it is one."""
        part, view = self.parts.get(array.text), self.views.get(array.text)
        if part is not None and part.is_flat and array.type.ndim == 1:
            return "1", 1
        if self.taken_field(array) is not None:
            # They are not passed.
            return "0", None
        if part is not None and axis in part.new:
            return "0", 0
        if part is not None and not part.is_flat:
            axis -= sum(k < axis for k in part.new)
            kept = [k for k, taken in enumerate(part.axes) if taken.step is not None]
            kept = kept[::-1] if part.is_turned else kept
            step = part.axes[kept[axis]].step
            text, apart = self._apart(part.array, kept[axis])
            return f"{step} * {text}", None if apart is None or isinstance(step, str) else step * apart
        if view is not None:
            return f"{array.text}__s{axis}" if view.view[axis] is None else str(view.view[axis]), view.view[axis]
        lengths = [self.dim(array.text, k) for k in range(axis + 1, array.type.ndim)]
        if all(length.const is not None for length in lengths):
            apart = math.prod(length.const for length in lengths)
            return str(apart), apart
        after = [length.text for length in lengths]
        wide = "(int64)" if self.program.wide else ""
        return wide + " * ".join(after), None

    def _in_view(self, array: Value, indices: list[Value], tests: list[str]) -> str:
        """Give the offset of an element of a part that was passed, and what must hold for its indices."""
        terms = [f"{array.text}__at"]
        for axis, index in enumerate(indices):
            if not self._is_within(index, array, axis):
                tests.append(self._within(index, array, axis))
            text, apart = self._apart(array, axis)
            wide = f"(int64){index.text}" if self.program.wide else _short(index)
            terms.append(wide if apart == 1 else f"{wide} * {text}")
        return " + ".join(terms)

    def _offset(self, array: Value, indices: list[Value]) -> tuple[Value, str, list[str], str]:
        """Give the array that the elements are in, the offset of one, what must hold for its indices, and its field."""
        part = self.parts.get(array.text)
        tests: list[str] = []
        if array.text in self.views:
            return array, self._in_view(array, indices, tests), tests, ""
        if part is None:
            return array, self._flat(array, indices, None, tests), tests, ""
        if part.is_flat and len(indices) > 1:
            text = _short(indices[0])
            for axis, index in enumerate(indices):
                if not self._is_within(index, array, axis):
                    tests.append(self._within(index, array, axis))
                if axis > 0:
                    text = f"({text}) * {self.dim(array.text, axis).text} + {_short(index)}"
            uniform = all(index.uniform for index in indices)
            root, offset, more, field = self._offset(part.array, [Value(f"({text})", INT, uniform, 0, LONGEST)])
            return root, offset, [*tests, *more], field
        if part.is_flat:
            # As long as the array, so that the machine's test is enough.
            return part.array, indices[0].text, tests, ""
        own = [(at, index) for at, index in enumerate(indices) if at not in part.new]
        given = iter(own[:: -1 if part.is_turned else 1])
        outer = []
        for axis, taken in enumerate(part.axes):
            if taken.step is None:
                outer.append(taken.start)
                continue
            at, index = next(given)
            if not self._is_within(index, array, at):
                tests.append(self._within(index, array, at))
            by = index.text if taken.step == 1 else f"{taken.step} * {index.text}"
            text = by if taken.start.const == 0 else f"({taken.start.text} + {by})"
            symbol = self.dim(part.array.text, axis).equals
            # Where the tests hold it is inside.
            outer.append(Value(text, INT, index.uniform, 0, LONGEST, below=(symbol[0], 0) if symbol else None))
        if part.row is not None:
            return part.array, self._flat(part.array, outer, part.row, tests), tests, ""
        root, offset, more, field = self._offset(part.array, outer)
        if part.field is not None:
            field += f".{part.array.type.of.member(part.field)}"
            for at, index in given:
                if not self._is_within(index, array, at):
                    tests.append(self._within(index, array, at))
                field += f"[{_short(index)}]"
        return root, offset, [*tests, *more], field

    def _flat(self, array: Value, indices: list[Value], row: str | None, tests: list[str]) -> str:
        """Give the offset in an array, and what must hold for the indices; the machine tests the offset.

        `row` is where the first index begins, if that is computed already. With 64 bits an offset is out of bounds if
        the first index is; with 32, which all but very large arrays take, that is tested.
        """
        if len(indices) == 1:
            return indices[0].text
        lengths = [self.dim(array.text, axis).text for axis in range(len(indices))]
        known = [self._is_within(index, array, axis) for axis, index in enumerate(indices)]
        tests += [self._within(indices[axis], array, axis) for axis in range(1, len(indices)) if not known[axis]]
        if self.program.wide:
            text = f"(int64){indices[0].text}"
            for length, index in zip(lengths[1:], indices[1:]):
                text = f"({text}) * {length} + {index.text}"
            return text
        if row is None and indices[0].uniform:
            row = self._row(array, indices[0])
        elif row is None:
            if not known[0]:
                tests.append(self._within(indices[0], array, 0))
            row = " * ".join([_short(indices[0]), *lengths[1:]])
        rest = _short(indices[1])
        for length, index in zip(lengths[2:], indices[2:]):
            rest = f"({rest}) * {length} + {_short(index)}"
        return rest if row == "0" else f"{row} + {rest}"

    def _row(self, array: Value, index: Value) -> str:
        """Give where a row begins whose index is the same for all lanes: if there is no such row, out of bounds."""
        lengths = [self.dim(array.text, axis).text for axis in range(array.type.ndim)]
        text = " * ".join([_short(index), *lengths[1:]])
        # Offsets in the first two rows that are out of bounds are so with 32 bits, too: they are not below the number
        # of elements, or have become negative.
        if index.const == 0:
            return "0"
        if self._is_within(index, array, 0) or index.const == 1:
            return text
        return f"({self._within(index, array, 0)} ? {text} : {OUTSIDE})"

    def _within(self, index: Value, array: Value, axis: int) -> str:
        """Write the test that an index is within a length, as far as that is not known."""
        length = self.dim(array.text, axis)
        self.unsure.append((index, length))
        if index.low < 0 and self._is_within(replace(index, low=0), array, axis):
            return f"{index.text} >= 0"
        is_low = index.type.name == "int32" or (index.type == INT and INT32[0] <= index.low and index.high < 2**32)
        if is_low and not (index.low >= 0 and index.is_narrow):
            # Without a sign what is negative, or does not fit in 32 bits, is no length: one comparison for both ends.
            return f"(uint){_short(index)} < (uint){length.text}"
        below = f"{index.text} < {length.text}"
        return below if index.low >= 0 or index.type.kind == "u" else f"{index.text} >= 0 && {below}"

    # Statements over all elements of a part.

    def is_masked(self, target: ast.expr) -> bool:
        """Return whether elements are assigned that a mask chooses: `a[a > 2] = 0`."""
        if not isinstance(target, ast.Subscript) or isinstance(target.slice, (ast.Slice, ast.Constant, ast.Tuple)):
            return False
        return self.array_of(target.value) is not None and any(True for _ in self._arrays_in(target.slice))

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
        reduced = {id(each) for part in self._whole(new) for each in ast.walk(part)}
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
    ) -> None:
        """Translate `a[1:] = …` and `a[1:] += …` to a loop over the elements of the part, or those of a mask."""
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
        if self.is_reduction(node):
            yield node
            return
        for child in ast.iter_child_nodes(node):
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
            for child in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from self._numbers(child)

    def _arrays_in(self, node: ast.expr) -> Any:
        """Give the arrays and parts in an expression of elements, each with its node."""
        if id(node) in self.elements:
            return
        if isinstance(node, (ast.Name, ast.Subscript, ast.Call, ast.BinOp, ast.Attribute)):
            array = self.array_of(node)
            if array is not None:
                yield node, array
                return
        if isinstance(node, (ast.Name, ast.Subscript)):
            return
        if is_complex_part(node) or (isinstance(node, ast.Call) and self.is_method_of_elements(node)):
            yield from self._arrays_in(node.value if isinstance(node, ast.Attribute) else node.func.value)
        called = None if not isinstance(node, ast.Call) or self.is_method_of_elements(node) else self.called(node)
        if isinstance(node, ast.Attribute) or called is len:
            return
        help = "write `np.minimum` or `np.maximum`" if called in (builtins.min, builtins.max) else _only_of_one(node)
        for child in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
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

    def _name_of(self, array: Value) -> str:
        """Give the name of the parameter, or of the array made here, that the elements are in."""
        if array.text in self.parts:
            return self.parts[array.text].name
        own = {self.made_text(name): name for region in self.regions for name in region.arrays}
        own.update({self.param_text(p.name): p.name for p in self.params})
        return own.get(array.text, array.text)


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


def is_no_index(node: ast.expr) -> bool:
    """Return whether an index is `None`, also as `np.newaxis`."""
    is_named = isinstance(node, ast.Attribute) and node.attr == "newaxis"
    return is_named or (isinstance(node, ast.Constant) and node.value is None)


def is_complex_part(node: ast.expr) -> bool:
    """Return whether an expression is `z.real` or `z.imag`, of whatever."""
    return isinstance(node, ast.Attribute) and node.attr in ("real", "imag")


def is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _base(node: ast.expr) -> tuple[str | None, int]:
    """Give the name that an index is near, and how far it is away; no name if it is something else."""
    apart = 0
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and _is_int(node.right):
        apart += node.right.value if isinstance(node.op, ast.Add) else -node.right.value
        node = node.left
    return (node.id, apart) if isinstance(node, ast.Name) else (None, 0)


def _is_int(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _short(index: Value) -> str:
    """Give an index that is tested as a number of 32 bits."""
    if index.wrapped is not None:
        return index.wrapped
    return index.text if index.is_narrow or index.type.name == "int32" else f"(int){index.text}"


def _only_of_one(node: ast.expr) -> str | None:
    """Give what to write instead of an expression that asks whether one value is true; None if it does not."""
    if isinstance(node, ast.IfExp):
        return "write `np.where(condition, a, b)`"
    if isinstance(node, ast.BoolOp) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return "write `np.logical_and`, `np.logical_or` or `np.logical_not`"
    return "compare in two steps" if isinstance(node, ast.Compare) and len(node.ops) > 1 else None


def _indices(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _all_of(node: ast.expr) -> str | None:
    """Give of what an expression is all elements: `a`, `a[:]`, `a[:, :]`, `p["x"]`; None if it is something else."""
    taken = field_in(node)
    if taken is not None:
        records = _all_of(taken[0])
        return None if records is None else f"{records}.{taken[1]}"
    if isinstance(node, ast.Subscript):
        everything = ast.dump(ast.Slice(None, None, None))
        return _all_of(node.value) if all(ast.dump(index) == everything for index in _indices(node)) else None
    return node.id if isinstance(node, ast.Name) else None


def _as_read(node: ast.Subscript | ast.Attribute) -> ast.expr:
    last = node.attr if isinstance(node, ast.Attribute) else node.slice
    return type(node)(node.value, last, ast.Load())
