"""Parts of arrays that are named in loops and branches, and read behind them or in the next round: the last ones.

Such a name stands for a part whose numbers (where it begins, its lengths) are variables of the function. Wherever it
comes to stand for a part of the same kind, these are assigned; of the elements none is copied.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, NamedTuple

from ._fields import Part
from ._types import INT
from ._values import Value
from ._variables import length_of


class _Facts(NamedTuple):
    """What holds for a number whatever is assigned to it."""

    low: int
    high: int
    below: tuple[str, int] | None
    apart: frozenset[str]
    uniform: bool


class LastParts:
    """Translates names of such parts; `Body` has what it needs to know."""

    def outlasts(self, name: str, value: Value) -> bool:
        """Return whether a part is read behind the loop or branch that gives it a name."""
        # (The numbers of a list are variables anyway.)
        return name.partition("[")[0] in self.beyond and value.text in self.parts and not self.is_of_list(value)

    def chooses_part(self, node: ast.Assign) -> bool:
        """Return whether a name comes to stand for one of some parts: `t = m[0] if c else m[1]`."""

        def chooses(value: ast.expr) -> bool:
            if isinstance(value, ast.IfExp):
                return chooses(value.body) and chooses(value.orelse)
            return isinstance(value, ast.Subscript) and self.is_part(value)

        target, value = node.targets[0], node.value
        return isinstance(value, ast.IfExp) and isinstance(target, ast.Name) and chooses(value)

    def lasting(self, name: str, value: Value, several: bool) -> Value:
        """Give a part that a name stands for, in variables; `several` parts come to have it."""
        return self._last(name, value, several, None, 0)

    def moves(self, name: str, bound: Value | None, value: Value) -> bool:
        """Have a name stand for a part that only lies elsewhere than its last one; return whether it is one."""
        if bound is None or bound.text not in self.moving or not self._alike(bound, value):
            return False
        self._last(name, value, True, bound, 0)
        return True

    def _alike(self, a: Value, b: Value) -> bool:
        """Return whether parts are of the same kind of the same array, so that numbers alone tell them apart."""
        if a.text not in self.parts or b.text not in self.parts:
            return a.text == b.text
        one, other = self.parts[a.text], self.parts[b.text]
        if (a.type, a.uniform, _kind_of(one)) != (b.type, b.uniform, _kind_of(other)):
            return False
        is_stepped = any(isinstance(axis.step, str) for axis in (*one.axes, *other.axes))
        return not is_stepped and self._alike(one.array, other.array)

    def _last(self, name: str, value: Value, several: bool, bound: Value | None, depth: int) -> Value:
        """Assign the numbers of a part to variables: those of the last part, if there is one, or new ones."""
        part, region = self.parts[value.text], self.regions[-1]
        own = self.temporary("last") if bound is None else bound.text
        array = part.array
        if array.text in self.parts:
            last = None if bound is None else self.parts[bound.text].array
            array = self._last(name, array, several, last, depth + 1)
        axes = list(part.axes)
        for k, axis in enumerate(axes):
            key = (region.key, name, depth, k) if several else None
            axes[k] = axis._replace(start=self._in_variable(f"{own}__at{k}", axis.start, key))
            if isinstance(axis.step, str):
                step = Value(axis.step, INT, True, 1)
                axes[k] = axes[k]._replace(step=self._in_variable(f"{own}__by{k}", step, None).text)
        row = None
        if part.row is not None and not several and region.uniform:
            row = self._in_variable(f"{own}__row", Value(part.row, INT, True, -(2**31), 2**31 - 1), None).text
        for axis in range(value.type.ndim):
            self._last_length(own, axis, value, (region.key, name, depth, "n", axis) if several else None)
        if several:
            self.moving.add(own)
        self.parts[own] = part._replace(array=array, axes=tuple(axes), row=row)
        return replace(value, text=own)

    def _in_variable(self, text: str, value: Value, key: Any) -> Value:
        """Have a variable take a number; with a key, one that takes others elsewhere."""
        if value.const is not None and key is None:
            return value
        region = self.regions[-1]
        # Where lanes part, each has its own.
        uniform = value.uniform and region.uniform
        if key is not None:
            # (A larger one is negative then, and no index, either.)
            value = self.cast(value, INT, self.now)
            facts = _Facts(value.low, value.high, value.below, value.apart, uniform)
            facts = self.of_parts[key] = _joined(self.of_parts.get(key, facts), facts)
            value = replace(Value(value.text, INT, True), **facts._asdict())
            uniform = facts.uniform
        last = replace(value, text=text, uniform=uniform, wrapped=None)
        spmd = "int" if last.is_narrow else last.type.spmd
        region.further[text] = f"{'uniform ' if uniform else ''}{spmd}"
        self.emit(f"{text} = {value.text};")
        return last

    def _last_length(self, own: str, axis: int, value: Value, key: Any) -> None:
        """Have a variable take a length, unless it is one that has a name everywhere."""
        text, length = f"{own}__n{axis}", self.dim(value.text, axis)
        symbol = length.equals[0]
        is_known = symbol in self._length_names or symbol in self.program.hosts or length_of(symbol) is not None
        if key is not None:
            known = symbol if is_known else None
            symbol = self.of_parts[key] = known if self.of_parts.get(key, known) == known else None
        if symbol is None:
            # Nothing is concluded from one that may be another each time.
            self.moving.add(text)
        else:
            self.dims[text] = symbol
        if not length.uniform or not (is_known or self.is_uniform_here()):
            self.differing.add(text)
        if self.dim(own, axis).text == text:
            self.regions[-1].further[text] = f"{'uniform ' if text not in self.differing else ''}int"
            self.emit(f"{text} = {length.text};")


def _kind_of(part: Part) -> tuple[Any, ...]:
    """Give what does not change of a part."""
    steps = [axis.step for axis in part.axes]
    return part.name, steps, part.is_turned, part.is_flat, part.field, part.new


def _joined(a: _Facts, b: _Facts) -> _Facts:
    below = a.below if a.below == b.below else None
    return _Facts(min(a.low, b.low), max(a.high, b.high), below, a.apart & b.apart, a.uniform and b.uniform)
