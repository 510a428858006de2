"""Names that come to stand for arrays of other lengths in loops and branches: `stack = grow(stack)`, `m = m[1:, 1:]`.

Such a name has memory of its own, a list that is as long as the array of the moment, and of several dimensions the
lengths of that beside it, in variables. A parameter is the memory that was passed until another array takes its place:
what is stored to it before is seen by who calls the function, what is stored behind is not.
"""

from __future__ import annotations

import ast
from typing import Any

from ._last_parts import LastParts
from ._parts import Part
from ._trees import own_nodes, walk
from ._types import INT, Array, Num
from ._values import LONGEST, Value
from ._variables import spmd_name


class Resized(LastParts):
    """Translates names for arrays of several lengths; `Body` has what it needs to know."""

    def becomes_resized(self, name: str, bound: Value, value: Value) -> bool:
        """Have a name stand for arrays of other lengths from the next pass on; return whether it can."""
        if not self.uniform or self.in_foreach() or bound.type != value.type or not isinstance(bound.type.of, Num):
            return False
        self.resized.add(name)
        return True

    def may_differ(self, bound: Value, value: Value) -> bool:
        """Return whether arrays, one of which has lengths that are computed, are not known to be equally long."""
        if not any(self.is_of_rows(each) or self.is_own_list(each) for each in (bound, value)):
            return False
        pairs = [(self.dim(bound.text, k).equals, self.dim(value.text, k).equals) for k in range(bound.type.ndim)]
        return any(a is None or a != b for a, b in pairs)

    def take_resized(self, node: Any, name: str, value: Value) -> None:
        """Have a name stand for an array, whose elements its own takes, and whose lengths."""
        parts = self.regions[0].parts
        if name not in parts:
            parts[name] = self._open_array(name, value.type)
        bound = parts[name]
        if self.assigned is not None:
            self.assigned.add(name)
        if bound.type != value.type:
            self._refuse_name(node, name, f"an array of another type: {value.type} rather than {bound.type}")
        if bound.text == value.text or self._root_of(bound.text) != spmd_name(f"copy__of_{name}"):
            # (In a pass that has only found out that it has memory of its own.)
            return
        self.refuse_two_names(node, name, value)
        for other, of in parts.items():
            if other not in (name, *self.lists) and self._root_of(of.text) == self._root_of(bound.text):
                self._refuse_name(node, name, f"`{other}` stands for its array, too")
        if self._root_of(value.text) == self._root_of(bound.text):
            value = self.copy_of(node, value)
        lengths = [self.keep(self.dim(value.text, k)) for k in range(value.type.ndim)]
        flat = self._flat_of(bound)
        text = spmd_name(f"copy__of_{name}")
        if name in self.renewed:
            # Until now it was the array that was passed.
            self.emit(f"if (!{text}__own) {{ {text} = NULL; {text}__most = 0; {text}__own = true; }}")
        self.resize(flat, self._count_of(lengths))
        self._have_lengths(bound, lengths)
        self._copy_elements(node, bound, value)

    def borrow(self, name: str) -> None:
        """Have a parameter stand for the array that is passed, until it stands for another one."""
        param = next(param for param in self.params if param.name == name)
        given = Value(self.param_text(name), param.type, True)
        bound = self.regions[0].parts[name] = self._open_array(name, param.type)
        text = spmd_name(f"copy__of_{name}")
        self.regions[0].further[f"{text}__own"] = "uniform bool"
        lengths = [self.dim(given.text, k) for k in range(param.type.ndim)]
        begin = "" if param.view is None else f" + {given.text}__at"
        self.emit(f"{text} = (uniform {param.type.of.spmd} * uniform){given.text}{begin};")
        self.emit(f"{text}__list__n0 = (uniform int){self._count_of(lengths).text};")
        self.emit(f"{text}__own = false;")
        self._have_lengths(bound, lengths)
        if self._is_changed(name):
            self.stored.add(name)
        self.assigned.add(name)

    def borrowed(self, name: str) -> str | None:
        """Give the parameter that a list may be; None of others."""
        parameter = name.removeprefix("copy__of_")
        return parameter if parameter != name and parameter in self.renewed & self.resized else None

    def _open_array(self, name: str, ty: Array) -> Value:
        """Begin an array that may come to have other lengths."""
        own = f"copy__of_{name}"
        self.begin_list(own)
        self.types["list", own] = ty.of
        flat = self._with_type(own, ty.of, name)
        self._grown(ty.of.spmd)
        if ty.ndim == 1:
            return flat
        part = f"part__of_{spmd_name(name)}"
        for k in range(ty.ndim):
            self.regions[0].further[f"{part}__n{k}"] = "uniform int"
            self.moving.add(f"{part}__n{k}")
        self.parts[part] = Part(flat, self._name_of(flat), (), None, False, True)
        return Value(part, ty, True)

    def _flat_of(self, array: Value) -> Value:
        return array if array.type.ndim == 1 else self.parts[array.text].array

    def _have_lengths(self, array: Value, lengths: list[Value]) -> None:
        for k, length in enumerate(lengths if array.type.ndim > 1 else ()):
            self.emit(f"{array.text}__n{k} = (uniform int){length.text};")

    def _count_of(self, lengths: list[Value]) -> Value:
        if len(lengths) == 1:
            return lengths[0]
        return Value("(" + " * ".join(f"(int64){length.text}" for length in lengths) + ")", INT, True, 0, LONGEST)

    # One array of two names.

    def refuse_two_names(self, node: Any, name: str, value: Value) -> None:
        """Fail if two names would stand for one array, of which one takes the elements here, and that is changed."""
        root = self._root_of(value.text)
        arrays = [
            (other, Value(spmd_name(other), value.type, True)) for region in self.regions for other in region.arrays
        ]
        for other, of in [*arrays, *(pair for region in self.regions for pair in region.parts.items())]:
            if other == name or other in self.lists or self._root_of(of.text) != root:
                continue
            if self._is_read_behind(node, other) and (self._changes(name) or self._changes(other)):
                help = f"copy it: `{name} = {other}.copy()`; or use one name"
                message = f"`{name}` and `{other}` would be one array, which is changed"
                self.fail(node, message, f"`{other}` is read behind this", help)

    def _changes(self, name: str) -> bool:
        """Return whether elements of what a name stands for are changed."""
        augmented = (at.target for at in own_nodes(self.source.tree.body) if isinstance(at, ast.AugAssign))
        return self._is_changed(name) or any(isinstance(at, ast.Name) and at.id == name for at in augmented)

    def _is_read_behind(self, node: Any, name: str) -> bool:
        """Return whether a name is read behind a statement before it is assigned again, or in the next round of a loop.

        (Of what each round assigns before it reads it, the text tells.)
        """
        names = [at for at in walk(self.source.tree) if isinstance(at, ast.Name) and at.id == name]
        place = (getattr(self.now, "end_lineno", node.lineno), getattr(self.now, "end_col_offset", node.col_offset))
        behind = [at for at in names if (at.lineno, at.col_offset) >= place]
        if name not in self.apart and self.indent > 1:
            return any(isinstance(at.ctx, ast.Load) for at in behind) or len(names) > 1 + len(behind)
        return any(isinstance(at.ctx, ast.Load) for at in behind)
