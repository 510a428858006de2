"""Where an element of an array, or of a part of one, lies in memory, and what must be tested for that.

An index that is known to be inside is not tested. Where a test before a loop can tell that all of it
are, it is made there.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from ._fields import Fields
from ._types import INT, Array, Num
from ._values import INT32, LONGEST, OUTSIDE, Value

# What bounds of indices are below, and the numbers of parameters in them: no sum of them overflows 64 bits.
_SMALL, _LARGEST = 2**30, "1099511627776ll"
# A length with an offset, or a constant.
_OF_LENGTH = re.compile(r"\(?(?:\d+ll|\(int64\)(\w+__n\d+)(?: [+-] -?\d+)?)\)?")


class Offsets(Fields):
    """Finds elements; `Body` has what is needed for it."""

    def place_of(self, array: Value, indices: list[Value]) -> tuple[str, bool]:
        """Give an element by its indices, and whether it is the same for all lanes."""
        self.unsure = []
        root, offset, tests, field = self._offset(array, indices)
        uniform = root.uniform and all(index.uniform for index in indices) and self._fixed_uniform(array)
        text = f"({' && '.join(tests)}) ? {offset} : {OUTSIDE}" if tests else offset
        flag = self.known_inside(self.unsure) if tests and not uniform else None
        self.inside = None if flag is None else (flag, f"{root.text}[{offset}]{field}")
        return f"{root.text}[{text}]{field}", uniform

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

    def _is_within(self, index: Value, array: Value, axis: int) -> bool:
        """Return whether an index is known to be in bounds."""
        length = self.dim(array.text, axis)
        symbol = length.equals[0]
        if length.const is not None and index.low >= 0 and index.high < length.const:
            return True
        below = index.below or (index.equals and (index.equals[0], index.equals[1] + 1))
        return index.low >= 0 and below is not None and below[0] == symbol and below[1] <= 0

    # Between what integers are, by which all tests of a loop can be made before it.

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


def _short(index: Value) -> str:
    """Give an index that is tested as a number of 32 bits."""
    if index.wrapped is not None:
        return index.wrapped
    return index.text if index.is_narrow or index.type.name == "int32" else f"(int){index.text}"
