"""Variables of a function and of its `foreach` loops: their types, what is known of them, and what names stand for."""

from __future__ import annotations

import ast
import copy
import functools
import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

from . import _nones
from ._program import Unknown
from ._reserved import RESERVED
from ._source import Declaration
from ._steps import is_chosen
from ._types import BOOL, INT, Array, Num, join, named
from ._values import INT64, LONGEST, Form, Value, constant, of_tuple, tuple_of


@dataclass
class Variable:
    """A variable of the function, or of one `foreach`."""

    type: Num
    uniform: bool
    # What it always equals, if it is assigned once.
    equals: tuple[str, int] | None = None
    text: str = ""
    # Of an integer that is assigned once: the least and the greatest it can be.
    range: tuple[int, int] = INT64
    apart: frozenset[str] = frozenset()
    # Likewise, of an integer that is known before the call, what gives it; and a length that an integer is below.
    host: str | None = None
    below: tuple[str, int] | None = None
    # Likewise, expressions between which it is.
    least: str | None = None
    most: str | None = None
    # The variable with its low 32 bits, if it has 64.
    wrapped: str | None = None
    # Of a bool, whether it is one of Python's.
    is_python: bool = False

    @property
    def spmd(self) -> str:
        """The type it is declared with."""
        return self.value().type.spmd if not self.value().is_narrow else "int"

    def value(self) -> Value:
        """Give what reading it gives."""
        known = {"equals": self.equals, "apart": self.apart, "host": self.host, "below": self.below}
        known.update(least=self.least, most=self.most, wrapped=self.wrapped, is_python=self.is_python)
        return Value(self.text, self.type, self.uniform, *self.range, **known)


class Reduction(NamedTuple):
    """A variable from outside of a `foreach` that its body adds to."""

    partial: str
    # `+`, `min` or `max`.
    how: str


class LocalArray(NamedTuple):
    """An array that the function makes; its elements lie row after row in an array of one dimension."""

    of: Num
    shape: tuple[int, ...]
    uniform: bool

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass
class Region:
    """The function, or the body of a `foreach`: what is declared there."""

    key: Any
    uniform: bool
    names: set[str]
    variables: dict[str, Variable] = field(default_factory=dict)
    reductions: dict[str, Reduction] = field(default_factory=dict)
    indices: dict[str, Value] = field(default_factory=dict)
    arrays: dict[str, LocalArray] = field(default_factory=dict)
    # Names of parts of arrays.
    parts: dict[str, Value] = field(default_factory=dict)
    # The forms of the variables that are tuples.
    tuples: dict[str, Form] = field(default_factory=dict)
    # Those of them that are generators of random numbers.
    generators: set[str] = field(default_factory=set)
    # Further variables, with their types: the low 32 bits of others, and which parts names stand for.
    further: dict[str, str] = field(default_factory=dict)
    # The variables from around that a `foreach` sums up.
    summed: set[str] = field(default_factory=set)
    # How far its statements are indented that are in no loop or branch.
    indent: int = 1


class Variables:
    """Translates variables, and reads names; `Body` has what they need to know."""

    # How often lengths of lists have been asked for.
    n_lengths = 0

    def region_of(self, name: str) -> Region:
        """Give the region that a name belongs to."""
        for region in reversed(self.regions):
            if name in region.names:
                return region
        return self.regions[-1]

    def in_foreach(self) -> bool:
        """Return whether this is the body of a `foreach`."""
        return len(self.regions) > 1

    def is_uniform_here(self) -> bool:
        """Return whether all lanes execute the same here."""
        return self.regions[-1].uniform

    def assign_name(self, node: Any, name: str, value: Value) -> None:
        """Assign to a variable."""
        _nones.refuse_others(self, node, name)
        if self.takes_dict(node, name, value) or self.takes_list(node, name, value):
            return None
        self.refuse_other_list(node, name, value)
        if value.parts is not None:
            return self._name_tuple(node, name, value)
        if isinstance(value.type, Array) and name == "_":
            return None
        is_array = value.parts is None and isinstance(value.type, Array)
        if is_array and (self._made(value.text) is None or is_unnamed(value.text) or self.is_taken(name)):
            return self._name_part(node, name, value)
        if not isinstance(value.type, Num):
            own = f"assign it in a statement of its own, `{name} = np.array(…)`; or copy it, `{name} = a.copy()`"
            help = own if isinstance(value.type, Array) else None
            self.fail(
                node, f"`{name}` cannot stand for {named(value.type)}", "only numbers are kept in variables", help
            )
        of = next((p.type for p in self.params if p.name == name and not isinstance(p.type, Num)), None)
        if of is not None:
            what = "an array" if of.ndim else "a record"
            self.fail(node, f"the parameter `{name}` is {what} and cannot be assigned", "give the number another name")
        region = self.region_of(name)
        if name in region.tuples:
            self.fail(node, f"`{name}` is a tuple in one place and {named(value.type)} in another", "this is one value")
        if any(name in r.indices for r in self.regions):
            self.fail(node, f"`{name}` counts the elements of `foreach` and cannot be assigned", "use another name")
        if region is not self.regions[-1]:
            self.fail(
                node,
                f"`{_nones.shown(name)}` belongs to the code around `foreach`, whose elements all run at once",
                "which element's value would it have?",
                f"sums are possible: `{name} += …`, also `{name} = min({name}, …)` and `max`; or use another name",
            )
        if region.uniform and not value.uniform:
            self.fail(
                node,
                f"`{name}` would differ between lanes outside of `foreach`",
                "this value differs from lane to lane",
            )
        if name in self.apart:
            # It may have been an array in a block before.
            region.parts.pop(name, None)
        ty = self._grow((region.key, name), value.type, node)
        variable = region.variables.setdefault(name, Variable(ty, region.uniform))
        variable.type, variable.text = ty, spmd_name(name)
        if not value.is_python or any(param.name == name for param in self.params):
            self.of_numpy.add((region.key, name))
        variable.is_python = ty == BOOL and (region.key, name) not in self.of_numpy
        once = self.counts.get(name) == 1 and name not in self.repeated and all(p.name != name for p in self.params)
        # (What may be None may be read further up, too.)
        once = once and not _nones.is_optional(self, name)
        variable.equals = value.equals if once else None
        same = once and ty.is_int and value.type == ty
        variable.range = (value.low, value.high) if same or (once and ty == INT) else INT64
        variable.below = value.below if same else None
        variable.least, variable.most = (value.least, value.most) if same else (None, None)
        variable.apart = value.apart if once and ty.is_int else frozenset()
        variable.host = value.before if once and ty.is_int and region.uniform else None
        narrow = variable.spmd == "int" and ty == INT
        self.emit(f"{variable.text} = {value.text if narrow else self.cast(value, ty, node).text};")
        variable.wrapped = None
        if same and value.wrapped is not None and not narrow and not region.uniform:
            # As an index it has 32 bits.
            variable.wrapped = self.temporary(variable.text)
            region.further[variable.wrapped] = "int"
            self.emit(f"{variable.wrapped} = {value.wrapped};")
        if self.assigned is not None:
            self.assigned.add(name)

    def is_taken(self, name: str) -> bool:
        """Return whether a name has memory for the elements of arrays that it comes to stand for."""
        if name in self.resized:
            return True
        return self.uniform and not self.in_foreach() and self.indent > 1 and name in self.regions[0].parts

    def _name_tuple(self, node: Any, name: str, value: Value) -> None:
        """Keep a tuple: each of its values in a variable of its own."""
        region = self.region_of(name)
        form = self.forms[region.key, name] = region.tuples.setdefault(name, value.form)
        if name in region.variables or any(p.name == name for p in self.params):
            self.fail(node, f"`{name}` is a number in one place and a tuple in another", "these are several values")
        of = len(form.parts)
        if of != len(value.parts):
            self.fail(node, f"`{name}` has {of} values in one place and {len(value.parts)} in another", "here")
        if form != value.form:
            self.fail(node, f"`{name}` is another tuple here than in another place", "this is made of other parts")
        for k, part in enumerate(value.parts):
            own = of_tuple(name, k)
            region.names.add(own)
            self.counts[own] = self.made[own] = self.counts.get(name, 0)
            self.repeated.update({own} if name in self.repeated else ())
            self.assign_name(node, own, part)
        if self.assigned is not None:
            self.assigned.add(name)

    def _grow(self, key: Any, ty: Num, node: Any = None) -> Num:
        """Join a type to that of a variable."""
        old = self.types.get(key)
        new = ty if old is None else join(old, ty)
        if new is None:
            help = "convert the bool: `int(…)`" if BOOL in (old, ty) else "convert one of them"
            name = "what is chosen" if is_chosen(key[1]) else f"`{key[1]}`"
            self.fail(
                node,
                f"{name} is {named(old)} in one place and {named(ty)} in another",
                f"this is {named(ty)}",
                help,
            )
        self.types[key] = new
        return new

    def _refuse_unset(self, node: ast.Name, name: str) -> NoReturn:
        """Fail because a variable may have no value; if it turns out to be a number, it is tested instead."""
        if self.source.is_told and not self.in_foreach() and not _nones.is_optional(self, name):
            self.program.refused = self.source.identity, name
        told = "it is assigned in a part that may not have been executed"
        self.fail(node, f"`{name}` may have no value here", told, f"assign `{name}` before")

    def read_name(self, node: ast.Name) -> Value | None:
        """Give a variable or parameter; None if the name is none."""
        name = node.id
        if name in self.local_functions:
            return None
        for region in self.regions:
            if name in region.indices:
                return region.indices[name]
        if name in self.dicts:
            return None
        region = self.region_of(name)
        if name in region.names or _nones.is_optional(self, name):
            if name in region.arrays:
                array = region.arrays[name]
                return Value(spmd_name(name), Array(array.of, len(array.shape)), array.uniform)
            param = next((p for p in self.params if p.name == name), None)
            if param is not None and not isinstance(param.type, Num) and name not in region.parts:
                return Value(self.param_text(name), param.type, not param.lanes)
            if self.assigned is not None and self.assigned.isdisjoint((name, _nones.flag_of(name))):
                self._refuse_unset(node, _nones.shown(name))
            if name in region.parts:
                return region.parts[name]
            if name in region.generators and not self.drawing:
                help = f"draw, `{name}.random()`, and pass the number; a function that draws makes one of its own, "
                help += "of another stream: `spmdvm.rng(seed, i, 1)`"
                self.fail(node, f"the generator `{name}` stands here alone", "it only gives numbers", help)
            if name in region.tuples:
                form = region.tuples[name]
                own = (_with_id(node, of_tuple(name, k)) for k in range(len(form.parts)))
                return tuple_of(map(self.read_name, own), form.of)
            if name in self.regions[-1].summed:
                _nones.refuse_in_foreach(self, node, name)
                self.fail(
                    node,
                    f"`{name}` is summed up in this `foreach`, and has its value only behind it",
                    "it cannot be read while elements are still added",
                    f"add with `{name} += …`; or take the least or greatest, `{name} = min({name}, …)`",
                )
            if name in region.variables:
                return _nones.tested(self, node, region.variables[name].value())
            if param is not None:
                known = {} if param.known is None else param.known._asdict()
                if param.host is not None and known.get("equals") is None:
                    # An index that is below it is below lengths that are it.
                    known["equals"] = (f"= {param.host}", 0)
                of = {"host": param.host, "passed": param.passed}
                value = Value(self.param_text(name), param.type, param.uniform, **known, **of)
                return _nones.tested(self, node, value)
            return self._further_down(node, region)
        return self.outside_array(node)

    def _further_down(self, node: ast.Name, region: Region) -> Value | None:
        """Give a variable that is assigned further down in the text, as the last pass knows it.

        That may be so of what is None before. In a pass that does not know it yet, what needs it is left out.
        """
        key = (region.key, node.id)
        if not _nones.is_optional(self, node.id) and not self.untyped:
            return None
        if key in self.forms:
            region.tuples[node.id] = self.forms[key]
        elif key in self.types:
            ty = self.types[key]
            variable = Variable(ty, region.uniform, text=spmd_name(node.id))
            variable.is_python = ty == BOOL and key not in self.of_numpy
            region.variables[node.id] = variable
        else:
            raise Unknown(_nones.UNTYPED, node)
        region.names.add(node.id)
        return self.read_name(node)

    def param_text(self, name: str) -> str:
        """Give the name of a parameter in SPMD text."""
        plain = name.isascii() and name.isidentifier() and name not in RESERVED and not name.startswith("v_")
        return name if plain else spmd_name(name).replace("v_", "p_", 1)

    def dim(self, array: str, axis: int) -> Value:
        """Give a length of an array."""
        made = self._made(array)
        text = f"{array}__n{axis}"
        symbol = self.dims.get(text, text) if made is None else length_symbol(made.shape[axis])
        length = length_of(symbol)
        if length is not None:
            return replace(constant(length), equals=(symbol, 0))
        host = self.program.hosts.get(symbol)
        if self.is_list_text(array) or text in self.moving:
            # It may be another one each time.
            symbol, self.n_lengths = f"{text} {self.n_lengths}", self.n_lengths + 1
        is_same = text not in self.differing
        return Value(self._length_names.get(symbol, text), INT, is_same, 0, LONGEST, equals=(symbol, 0), host=host)

    @functools.cached_property
    def _length_names(self) -> dict[str, str]:
        """The names of the parameters' lengths, by what stands for them: one for all that are equal.

        What is computed of the lengths of several arrays, such as where a row begins, is the same text then.
        """
        names = [
            f"{self.param_text(param.name)}__n{axis}"
            for param in self.params
            if isinstance(param.type, Array)
            for axis in range(param.type.ndim)
        ]
        return {self.dims.get(name, name): name for name in reversed(names)}

    def made_text(self, name: str) -> str:
        """Give the name in the text of an array that the function makes."""
        return spmd_name(name)

    def _made(self, text: str) -> LocalArray | None:
        """Give the array of this function that has a name in the text; None if there is none."""
        for region in self.regions:
            for name, local in region.arrays.items():
                if spmd_name(name) == text:
                    return local
        return None

    def _declare(self, region: Region, at: int) -> None:
        """Write the declarations of a region in front of its statements."""
        own = {p.name for p in self.params} if region.key == "" else set()
        shown = self.program.python_variables
        if region.key == "":
            # A variable of a function around has a number behind its name if there is another one of that name.
            shown.update({self.param_text(p.name): p.name.partition(".")[0] for p in self.params})
        shown.update({spmd_name(name): name for name in (*region.arrays, *region.variables)})
        shown.update({reduction.partial: f"{name} (of lanes)" for name, reduction in region.reductions.items()})
        place = self.source.line(self.source.tree) if region.key == "" else self.at
        declared = []
        for name, array in region.arrays.items():
            shape = "uniform " if array.uniform else ""
            text = f"{shape}{array.of.spmd} {spmd_name(name)}[{array.size}];"
            declared.append(("    " * self.indent + text, Declaration(*place)))
        for name, variable in region.variables.items():
            shape = "uniform " if variable.uniform else ""
            start = f" = {self._given(name, variable.type)}" if name in own else ""
            text = f"{shape}{variable.spmd} {variable.text}{start};"
            declared.append(("    " * self.indent + text, place if start else Declaration(*place)))
        for name, of in sorted(region.further.items()):
            declared.append(("    " * self.indent + f"{of} {name};", Declaration(*place)))
        self.lines[at:at] = declared

    def _given(self, name: str, ty: Num) -> str:
        """Write the argument with which the variable begins that a parameter is."""
        text, of = self.param_text(name), next(param.type for param in self.params if param.name == name)
        # Numbers of other kinds are converted where they are assigned.
        return self.cast(Value(text, of, False), ty, None).text if ty.kind == "c" else text


def spmd_name(name: str) -> str:
    """Give the SPMD name of a variable: no keyword, no function of the library and no parameter."""
    name = name.replace("[", "__").replace("]", "_").replace(".", "__").replace(" ", "__").strip("<>")
    return f"v_{name}" if name.isascii() else "v_" + "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)


def _with_id(node: ast.Name, name: str) -> ast.Name:
    """Give the name of a part of a tuple, of which is known what is of the tuple."""
    new = copy.copy(node)
    new.id = name
    return new


def is_unnamed(text: str) -> bool:
    """Return whether an array of the function has no name in Python, so that a name may stand for it."""
    return text.startswith("v_listed__")


def length_symbol(length: int) -> str:
    """Give what stands for a constant length: arrays of as many elements have one length."""
    return f"{length} elements"


def length_of(symbol: str) -> int | None:
    """Give the constant length that a symbol stands for; None if it is known at run time only."""
    count, _, what = symbol.partition(" ")
    return int(count) if what == "elements" else None
