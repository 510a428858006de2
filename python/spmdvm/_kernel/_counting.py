"""Arrays of numbers that are as far apart from each other: `np.arange(start, stop, step)`, `np.linspace(a, b, n)`."""

from __future__ import annotations

import ast
import math
from dataclasses import replace

import numpy as np

from . import _functions
from ._along import Along
from ._types import FLOAT64, INT, NUMBERS, Num, promote, strong
from ._values import LONGEST, Value, constant


class Counting(Along):
    """Translates what makes them; `Body` has what it needs to know."""

    def counting(self, node: ast.Call) -> Value:
        """Translate `np.arange(n)`, `np.arange(start, stop)` and `np.arange(start, stop, step)`."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        dtype = given.pop("dtype", None)
        at = [*node.args, *(given.pop(name) for name in ("start", "stop", "step")[len(node.args) :] if name in given)]
        if given or not 1 <= len(at) <= 3:
            self.fail(node, "`np.arange` takes one to three numbers and a dtype", "something else here")
        args = [self.number(arg) for arg in at]
        for arg, value in zip(at, args):
            if value.type.kind not in "iuf":
                self.fail(arg, "`np.arange` counts in integers and floats", f"this is `{value.type}`")
        start, stop, step = (constant(0), args[0], constant(1)) if len(args) == 1 else (*args, constant(1))[:3]
        if step.const == 0:
            self.fail(at[2], "the step of `np.arange` is not zero", "here")
        # (With an int64, an uint64 is a float to numpy.)
        is_float = any(value.type.kind == "f" or value.type == NUMBERS["uint64"] for value in (start, stop, step))
        ty = FLOAT64 if is_float else NUMBERS["int64"]
        of = strong(ty if dtype is None else self.annotation(dtype))
        if is_float or step.const is None:
            return self._by_steps(node, start, stop, step, ty, of)
        return self._by_integers(node, start, stop, step, of)

    def _by_integers(self, node: ast.Call, start: Value, stop: Value, step: Value, of: Num) -> Value:
        """Make an array of integers with a constant step, whose length may be known before the call."""
        if start.const == 0 and step.const > 0:
            apart = stop
        else:
            apart = self.operate(node, "-", *((stop, start) if step.const > 0 else (start, stop)))
        size = abs(int(step.const))
        if size > 1:
            apart = self.operate(node, "//", self.operate(node, "+", apart, constant(size - 1)), constant(size))
        if apart.const is not None:
            length = constant(max(0, int(apart.const)))
        elif start.const == 0 and size == 1:
            length = _functions.find(max)(self, node, [constant(0), apart]) if apart.low < 0 else apart
        else:
            length = _functions.find(max)(self, node, [constant(0), self.keep(apart)])
        first = self.convert(node, start, INT)
        made, index = self._each_of(node, of, length)
        number = self.operate(node, "+", first, self.operate(node, "*", index, constant(int(step.const))))
        return self._set(made, index, self.cast(number, of, node).text)

    def _by_steps(self, node: ast.Call, start: Value, stop: Value, step: Value, ty: Num, of: Num) -> Value:
        """Make an array as numpy does.

        It is as long as the quotient of two floats says, and its elements are the first one and multiples of what the
        first two are apart, in their own type.
        """
        values = tuple(map(self.keep, (start, stop, step)))
        # Sums and differences are those of the numbers as they are given.
        if any(promote(a.type, b.type) is None for a in values for b in values):
            values = tuple(self.convert(node, value, FLOAT64) for value in values)
        start, stop, step = values
        apart = self.keep(self.operate(node, "-", stop, start))
        known = [value.const for value in (apart, step)]
        if None in known:
            length = self._length_by_steps(node, apart, step)
        else:
            with np.errstate(all="ignore"):
                quotient = np.float64(known[0]) / np.float64(known[1])
            if not quotient <= LONGEST:
                self.fail(node, "an array has a finite length", f"this would have {quotient} elements")
            # (What is too small for a float is one step.)
            is_small = quotient == 0 and known[0] != 0 and not np.signbit(quotient)
            length = constant(1 if is_small else max(0, math.ceil(max(quotient, -1.0))))
        begin = self.convert(node, start, ty)
        then = self.convert(node, self.keep(self.operate(node, "+", start, step)), ty)
        first = self.keep(self.convert(node, begin, of))
        second = self.keep(self.convert(node, then, of))
        delta = self.keep(self.operate(node, "-", second, first))
        made, index = self._each_of(node, of, length)
        # (As a variable the product is rounded before the sum.)
        many = self.keep(self.operate(node, "*", self.convert(node, index, of), delta))
        other = self.cast(self.operate(node, "+", first, many), of, node)
        text = f"{index.text} == 0 ? {first.text} : {index.text} == 1 ? {second.text} : {other.text}"
        return self._set(made, index, text)

    def _length_by_steps(self, node: ast.Call, apart: Value, step: Value) -> Value:
        """Compute the length of an array from how far its ends are apart, and the step."""
        shape = "uniform " if self.is_uniform_here() else ""
        steps, length = self.temporary("steps"), self.temporary("length")
        self.raise_unless(node, f"({step.text} != 0)", ZeroDivisionError, "float division by zero")
        quotient = self.convert(node, self.operate(node, "/", apart, step), FLOAT64)
        self.emit(f"const {shape}double {steps} = {quotient.text};")
        self.raise_unless(node, f"({steps} == {steps})", ValueError, "arange: cannot compute length")
        self.raise_unless(node, f"({steps} <= {LONGEST}.0d)", ValueError, "Maximum allowed size exceeded")
        small = f"{steps} == 0 && {apart.text} != 0 && 1 / {steps} > 0 ? 1 : 0"
        self.emit(f"const {shape}int64 {length} = {steps} > 0 ? (int64)ceil({steps}) : {small};")
        return Value(length, INT, self.is_uniform_here(), 0, LONGEST)

    def spread(self, node: ast.Call) -> tuple[Value, Value]:
        """Translate `np.linspace(start, stop, num)`; give the array, and how far its numbers are apart."""
        given = self.arguments_of(node, ("start", "stop", "num", "endpoint", "retstep", "dtype", "axis"), 2)
        ends = []
        for name in ("start", "stop"):
            if self._is_array(given[name]):
                help = "loop over them: `out[:, k] = np.linspace(a[k], b[k], n)`"
                self.fail(given[name], "`np.linspace` goes from a number to a number in a kernel", "an array", help)
            ends.append(self.number(given[name]))
        if "axis" in given and self.number(given["axis"]).const not in (0, -1):
            self.fail(given["axis"], "`np.linspace` makes an array of one dimension in a kernel", "another axis")
        ty = promote(*(value.type for value in ends))
        ty = strong(ty) if ty is not None and ty.kind in "fc" else FLOAT64
        of = self.annotation(given["dtype"]) if "dtype" in given else ty
        num = self.integer(given["num"], "`num`") if "num" in given else constant(50)
        if num.const is not None and num.const < 0:
            self.fail(given["num"], "lengths of arrays are not negative", f"{num.const} here")
        to_end = self.flag_of(given, "endpoint", True)
        num = self.keep(num)
        count = self.operate(node, "-", num, constant(1)) if to_end else num
        first, last = (self.keep(self.convert(node, value, ty)) for value in ends)
        apart = self.keep(self.operate(node, "-", last, first))
        many = self.keep(self.convert(node, count, ty.part))
        step = self._distance(node, apart, many)
        made, index = self._each_of(node, strong(of), num)
        at = self.convert(node, index, ty.part)
        far = self.keep(self._far(node, at, apart, many, step))
        number = self.keep(self.operate(node, "+", far, first))
        if to_end and num.const != 1:
            is_last = f"{index.text} == {num.text} - 1" + (f" && {num.text} > 1" if num.const is None else "")
            number = replace(number, text=f"({is_last} ? {last.text} : {number.text})")
        if of.is_int and ty.kind == "f":
            number = replace(number, text=f"floor({number.text})")
        return self._set(made, index, self.convert(node, number, strong(of)).text), step

    def _distance(self, node: ast.Call, apart: Value, many: Value) -> Value:
        """Compute how far numbers are apart; of one or none that is unknown."""
        unknown = self.convert(node, constant(float("nan")), apart.type)
        if many.const is not None and many.const <= 0:
            return unknown
        step = self.operate(node, "/", apart, many)
        if many.const is None:
            step = replace(step, text=f"({many.text} > 0 ? {step.text} : {unknown.text})", const=None)
        return self.keep(step)

    def _far(self, node: ast.Call, at: Value, apart: Value, many: Value, step: Value) -> Value:
        """Compute how far a number is from the first one, as numpy does: also where a step is too small for a float."""
        steps, alone = self.operate(node, "*", at, step), self.operate(node, "*", at, apart)
        if many.const is not None and many.const <= 0:
            return alone
        if step.const:
            return steps
        part = self.operate(node, "*", self.operate(node, "/", at, many), apart)
        is_small = self.as_bool(node, step).text
        text = f"({is_small} ? {steps.text} : {part.text})"
        if many.const is None:
            text = f"({many.text} > 0 ? {text} : {alone.text})"
        return replace(steps, text=text, const=None)

    def flag_of(self, given: dict[str, ast.expr], name: str, default: bool) -> bool:
        """Give an argument that is True or False, and known when the kernel is compiled."""
        if name not in given:
            return default
        value = self.number(given[name])
        if value.const is None:
            self.fail(given[name], f"`{name}` is a constant in a kernel", "this is known only while it runs")
        return bool(value.const)

    def _each_of(self, node: ast.Call, of: Num, length: Value) -> tuple[Value, Value]:
        """Make an array and begin a loop over its elements; give it, and the index."""
        made = self.new_array(node, of, [length], None, None, True, True)
        counters, together = [self.temporary("at")], self.is_uniform_here()
        self._begin(node, counters, [self.dim(made.text, 0)], together)
        (index,) = self._indices_at(made, counters)
        return made, index if together else replace(index, uniform=True)

    def _set(self, made: Value, index: Value, text: str) -> Value:
        """Set the element at the index, and end the loop."""
        place, _ = self.place_of(made, [index])
        self.emit(f"{place} = {text};")
        self._end(not index.uniform)
        return made
