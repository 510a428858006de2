"""Parts of arrays in kernels: `a[1:-1]`, `a[::2]`, `a[i]` of several dimensions, `a.T`, and arrays in other shapes.

A part is a name for elements of an array parameter; nothing is copied. Its bounds are computed once, as numpy computes
them, and its lengths are variables like those of a parameter, so that all else treats it as one.
"""

from __future__ import annotations

import ast
import math

from ._fields import Axis, Part, is_text
from ._offsets import Offsets
from ._types import BOOL, INT, Array, Num, Record, Tuple
from ._values import LONGEST, Value, exactly

_LONGEST_WINDOW = 64
# What computes indices: of masks these make numbers, or nothing.
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
NO_INDEX = (
    "`None` cannot stand in an index",
    "here",
    "a new dimension stands beside those that are left: `a[:, None]`, `a[None, i]`; or write the loops, in "
    "`for i, j in spmdvm.foreach(len(a), len(b))`",
)


# What may be an array of indices.
_MAY_BE_INDICES = (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.List)


class Parts(Offsets):
    """Translates parts; `Body` has what they need to know."""

    def array_of(self, node: ast.expr) -> Value | None:
        """Give the array that an expression names, or a part of one; None if it is something else."""
        if isinstance(node, ast.Name):
            value = self.read_name(node)
            return value if value is not None and isinstance(value.type, Array) else None
        if id(node) in self.called_before and id(node) in self.elements:
            return None
        field = self.field(node)
        if field is not None:
            return field
        if isinstance(node, (ast.Call, ast.BinOp, ast.List)) and (listing := self.listing(node)) is not None:
            return listing
        if isinstance(node, ast.Subscript) and self.is_of_histogram(node):
            return self.array_of_call(node)
        if isinstance(node, ast.Subscript) and (given := self.among_given(node)) is not None:
            return given
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
        if id(node) in self.parts_of:
            return self.parts_of[id(node)][1]
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
        if self.is_of_rows(array):
            # They lie so.
            return self.parts[array.text].array
        lengths = [self.dim(array.text, axis) for axis in range(array.type.ndim)]
        if array.text in self.parts and any(length.before is None for length in lengths):
            self.parts_of[id(node)] = node, self._row_after_row(node, array, lengths)
            return self.parts_of[id(node)][1]
        if array.text in self.parts or array.text in self.views:
            array = self.copy_of(node, array)
            lengths = [self.dim(array.text, axis) for axis in range(array.type.ndim)]
        name = self.temporary("part")
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

    def _row_after_row(self, node: ast.expr, array: Value, lengths: list[Value]) -> Value:
        """Copy the elements of a part whose lengths are computed, row after row, to an array that is long enough."""
        most = [self.most(array, axis) for axis in range(len(lengths))]
        is_known = all(length.before is not None for length in most)
        most = most if is_known else lengths
        host = "(" + " * ".join(length.before for length in most) + ")" if is_known else None
        size = " * ".join(f"(uniform int64){length.text}" for length in most)
        made = self.new_array(node, array.type.of, [Value(size, INT, True, 0, LONGEST, host=host)], None)
        counters = [self.temporary("at") for _ in lengths]
        self._begin(node, counters, lengths, True)
        at = counters[0]
        for counter, length in zip(counters[1:], lengths[1:]):
            at = f"({at}) * {length.text} + {counter}"
        # No length is beyond the most.
        below = (self.dim(made.text, 0).equals[0], 0)
        place, _ = self.place_of(made, [Value(f"({at})", INT, False, 0, LONGEST, below=below)])
        self.emit(f"{place} = {self.element_at(array, counters).text};")
        self._end(True)
        count = " * ".join(length.text for length in lengths)
        return self.first_of(node, made, Value(f"({count})", INT, True, 0, LONGEST))

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
        value = self.in_shape(flat, lengths)
        self.parts_of[id(node)] = node, value
        return value

    def in_shape(self, flat: Value, lengths: list[Value]) -> Value:
        """Give an array of one dimension as one of some lengths, row after row."""
        name = self.temporary("part")
        for axis, length in enumerate(lengths):
            own = f"{name}__n{axis}"
            symbol = f"{length.const} elements" if length.const is not None else f"= {length.before}"
            if length.equals is not None and length.equals[1] == 0:
                symbol = length.equals[0]
            if length.before is not None:
                self.program.hosts.setdefault(symbol, length.before)
            if length.before is not None or (length.equals is not None and length.equals[1] == 0):
                self.dims[own] = symbol
            self.emit(f"const uniform int {own} = (uniform int)({length.text});")
        self.parts[name] = Part(flat, self._name_of(flat), (), None, False, True)
        return Value(name, Array(flat.type.of, len(lengths)), flat.uniform)

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
        may_be_mask = (ast.Compare, ast.Name, ast.BinOp, ast.UnaryOp, ast.Call, ast.Attribute)
        if id(node) in self.elements or not isinstance(node.slice, may_be_mask):
            return False
        if not self.is_uniform_here() or self.array_of(node.value) is None or not self.makes_elements(node.slice):
            return False
        if not self.in_arm:
            self.compute_indices(node.slice)
        array = self.array_of(node.slice)
        return array is None or array.type.of == BOOL

    def takes(self, node: ast.Subscript) -> bool:
        """Return whether elements are taken whose indices stand in an array: `a[order]`."""
        if isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
            return id(node) not in self.elements and self.chosen_axis(node) is not None
        if id(node) in self.elements or not isinstance(node.slice, _MAY_BE_INDICES):
            return False
        if not self.is_uniform_here() or self.in_arm or not isinstance(node.ctx, ast.Load):
            return False
        array = self.array_of(node.value)
        if array is not None:
            self.compute_indices(node.slice)
        at = None if array is None or array.type.ndim == 0 else self.array_of(node.slice)
        return at is not None and at.type.ndim == 1 and isinstance(at.type.of, Num) and at.type.of.is_int

    def chosen_axis(self, node: ast.Subscript) -> int | None:
        """Give along which axis indices in an array, or a mask, choose of a matrix, `m[:, order]`; None if none do."""
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else []
        among = [isinstance(index, ast.Slice) for index in indices]
        if len(indices) != 2 or among.count(True) != 1 or not self.is_uniform_here() or self.in_arm:
            return None
        axis = among.index(False)
        index = indices[axis]
        if not isinstance(index, (*_MAY_BE_INDICES, ast.Compare)) or (
            isinstance(index, ast.Name) and not self.is_array_name(index)
        ):
            return None
        array = self.array_of(node.value)
        if array is None or array.type.ndim != 2 or not isinstance(array.type.of, Num):
            return None
        self.compute_indices(index)
        given = self.array_of(index)
        if given is None and (isinstance(index, ast.List) or not self.makes_elements(index)):
            return None
        if given is None:
            self.parts_of[id(index)] = index, self.copied(index, index)
            given = self.array_of(index)
        is_one = given.type.ndim == 1 and isinstance(given.type.of, Num)
        return axis if is_one and given.type.of.kind in "iub" else None

    def compute_indices(self, node: ast.expr) -> None:
        """Compute an array of indices once, where it is written as `order + 1` or `[0, 2]`."""
        if id(node) in self.parts_of:
            return
        if isinstance(node, ast.List) and node.elts:
            self.listed_array(node)
        is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC)
        is_sum |= isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        if is_sum and self.makes_elements(node):
            self.parts_of[id(node)] = node, self.copied(node, node)

    def is_part(self, node: ast.expr) -> bool:
        """Return whether an index takes more than one element."""
        if self.is_field(node):
            return self.field(node).type.ndim > 0
        if not isinstance(node, ast.Subscript):
            return False
        indices = indices_of(node)
        if any(isinstance(index, ast.Slice) for index in indices):
            return not self._is_tuple(node.value) and self.chosen_axis(node) is None
        if any(is_ellipsis(index) or is_no_index(index) for index in indices):
            # What is left out may be no dimension at all.
            of = self.array_of(node.value)
            given = [index for index in indices if not is_no_index(index)]
            return of is not None and (len(given) <= of.type.ndim or len(given) < len(indices))
        if is_text(node.slice):
            records = self.array_of(node.value) if isinstance(node.value, (ast.Name, ast.Subscript)) else None
            return records is not None and isinstance(records.type.of, Record) and records.type.ndim > 0
        if isinstance(node.ctx, ast.Load) and (self.is_choice(node) or self.takes(node)):
            return False
        if isinstance(node.value, ast.Subscript) and not self.is_field(node.value):
            return self.is_part(node.value) and len(indices) < self.part(node.value).type.ndim
        array = self.read_name(node.value) if isinstance(node.value, ast.Name) else None
        if isinstance(node.value, (ast.Attribute, ast.Call)) or self.is_field(node.value):
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
        if array is None and self.is_of_elements(node.value):
            # What is computed gets an array: `(a - b)[:, 1:]`.
            array = self.copied(node.value, node.value)
            self.parts_of[id(node.value)] = node.value, array
        if array is None:
            if isinstance(node.value, ast.Call):
                # What is called may not be known, which is told then.
                self.expression(node.value)
            self.fail(node.value, "only arrays have parts", "no array")
        if self.in_arm:
            self.fail(node, "a part of an array in what may not be computed", "here", "give it a name before")
        if isinstance(array.type.of, Tuple) and isinstance(node.slice, ast.Slice):
            return self.part_of_tuples(node, array)
        self.refuse_tuples(node, array)
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
        indices = indices_of(node)
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

    def _name_of(self, array: Value) -> str:
        """Give the name of the parameter, or of the array made here, that the elements are in."""
        if array.text in self.parts:
            return self.parts[array.text].name
        own = {self.made_text(name): name for region in self.regions for name in region.arrays}
        own.update({self.param_text(p.name): p.name for p in self.params})
        return own.get(array.text, array.text)


def is_no_index(node: ast.expr) -> bool:
    """Return whether an index is `None`, also as `np.newaxis`."""
    is_named = isinstance(node, ast.Attribute) and node.attr == "newaxis"
    return is_named or (isinstance(node, ast.Constant) and node.value is None)


def is_complex_part(node: ast.expr) -> bool:
    """Return whether an expression is `z.real` or `z.imag`, of whatever."""
    return isinstance(node, ast.Attribute) and node.attr in ("real", "imag")


def is_ellipsis(node: ast.expr) -> bool:
    """Return whether an index is `...`."""
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


def indices_of(node: ast.Subscript) -> list[ast.expr]:
    """Give what stands between the brackets."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
