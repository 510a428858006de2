"""From the syntax tree of a Python function to SPMD text.

A `Program` collects the SPMD functions of one instance: a kernel with the types of its arguments. Each is
translated by a `Body` again and again until the types of its variables no longer change: a variable has the type
that holds whatever is assigned to it. Statements are here, expressions in `_expressions`.
"""

from __future__ import annotations

import ast
import functools
import math
import os
import re
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._errors import CompileError
from . import _annotated, _complex, _functions, _instead, _random, _support
from ._arrays import Made
from ._inline import Inline, inline_of
from ._ints import Overflow
from ._loops import jumps
from ._parts import Part, is_complex_part
from ._places import Said
from ._raises import Raises, is_nothing
from ._reserved import RESERVED
from ._scopes import Local, Scope, own_nodes
from ._source import Declaration, Line, Source
from ._types import BOOL, INT, Array, Num, Record, Rows, Type, join, promote
from ._usage import gives_array
from ._values import (
    INT32,
    LANE,
    LONGEST,
    OUTSIDE,
    Arguments,
    Value,
    constant,
    differ,
    literal,
    of_tuple,
    tuple_of,
)  # fmt: skip
from ._values import INT64 as INT64_RANGE

_MOST_PASSES = 40
# No program has so many functions that call one another.
_MOST_ACTIVE = 100
# Functions are translated for what is known of their arguments, but not for each of so many calls.
_MOST_INSTANCES = 16


@dataclass
class Variable:
    """A variable of the function, or of one `foreach`."""

    type: Num
    uniform: bool
    # What it always equals, if it is assigned once.
    equals: tuple[str, int] | None = None
    text: str = ""
    # Of an integer that is assigned once: the least and the greatest it can be.
    range: tuple[int, int] = INT64_RANGE
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


@dataclass
class Reduction:
    """A variable from outside of a `foreach` that its body adds to."""

    partial: str
    # `+`, `min` or `max`.
    how: str


class Known(NamedTuple):
    """What is known of an integer, as of `Value`."""

    low: int
    high: int
    below: tuple[str, int] | None
    equals: tuple[str, int] | None
    apart: frozenset[str]


@dataclass
class Param:
    """A parameter: its name in Python, its type, and what stands for it in SPMD text."""

    name: str
    type: Type
    # Whether it is the same in all lanes; of a part of an array, where it begins.
    uniform: bool
    # Of a part of an array, how far its elements lie apart along each axis, if that is a constant.
    view: tuple[int | None, ...] | None = None
    # Whether it is an array of which each lane has its own: one that a function made.
    lanes: bool = False
    # Of an integer of Python's that has 32 bits: what it is known to be.
    known: Known | None = None
    # Of an integer that is known before the kernel is called: what gives it.
    host: str | None = None
    # Of a Python int that was passed to the kernel: its name there.
    passed: str | None = None


@dataclass
class Result:
    """What translating a function gave."""

    name: str
    types: list[Num] | None
    is_tuple: bool
    uniform: bool
    # The parameters, by position, that are arrays it stores to.
    stored: set[int] = field(default_factory=set)
    # The arrays whose memory it is given by who calls it.
    hidden: list[Made] = field(default_factory=list)
    # What it returns, if there are arrays in it: these, and None for numbers.
    arrays: tuple[Value | None, ...] | None = None
    # What its parameters are called in the text.
    texts: list[str] = field(default_factory=list)
    # How it becomes part of its callers, if it does.
    inline: Inline | None = None


@dataclass
class Active:
    """A function that is being translated."""

    body: Body
    name: str
    calls_itself: bool = False


@dataclass
class Else:
    """What is known of the `else` of a loop: the variable that says that it was left, and what had a value then."""

    left: str
    assigned: list[set[str]]


class Unknown(Exception):
    """The result of a function that is being translated has no type yet; what needs it is left out in this pass."""

    def __init__(self, identity: Any, node: Any) -> None:
        super().__init__()
        self.identity, self.node = identity, node


_CALL = re.compile(r"(\w+)\(")


class Program:
    """The SPMD text of an instance, and where its lines come from."""

    def __init__(self, inlines: bool = True, assumes: bool = True) -> None:
        """Begin with nothing.

        Whether it `inlines`: functions that index arrays become part of their callers, and loops over elements are for
        several threads. Else it is for who steps through it. Whether it `assumes` that Python ints that are passed fit
        where they meet other integers: else they are tested there.
        """
        self.inlines = inlines
        self.assumes = assumes
        # Between what Python ints are assumed to be, by what gives them before the call; and what is tested of others,
        # by the functions that do so.
        self.assumed: dict[str, tuple[int, int]] = {}
        self.overflows: dict[str, Overflow] = {}
        self._tests: dict[tuple[Overflow, str], str] = {}
        # Whether some function has.
        self.has_inlined = False
        # Whether the host brings memory for arrays when it is called.
        self.brings_memory = False
        self.support: dict[str, str] = {}
        self.records: dict[Record, str] = {}
        # The declarations of constant arrays, by what they hold.
        self.tables: dict[tuple[str, tuple[str, ...]], str] = {}
        self.functions: list[list[tuple[str, Line | None]]] = []
        self.instances: dict[Any, Result] = {}
        self.active: dict[Any, Active] = {}
        # Functions that were passed to others, which are known by their ids.
        self.passed: list[Any] = []
        # What is declared in front of all functions, because they call each other.
        self.heads: list[list[tuple[str, Line | None]]] = []
        self.names = 0
        # What gives lengths before the call, by what stands for them.
        self.hosts: dict[str, str] = {}
        # Whether some array has so many elements that offsets in it need more than 32 bits.
        self.wide = False
        # What functions and variables are called in Python, by their names in the text.
        self.python_names: dict[str, str] = {}
        self.python_variables: dict[str, str] = {}
        # What is asserted and raised, by file and line.
        self.assertions: dict[tuple[str, int], list[str | Said]] = {}
        # By file, line and what an assertion of ours says there: the columns that are meant, and what to do.
        self.advice: dict[tuple[str, int, str], tuple[tuple[int, int] | None, str | None]] = {}
        # The shapes of constant arrays from outside, by their names in the text.
        self.outside: dict[str, tuple[int, ...]] = {}
        # Whether there are complex numbers in the text.
        self.has_complex = False

    def mark(self) -> tuple[int, int, set[Any]]:
        """Note what there is, for `reset`."""
        return len(self.functions), len(self.heads), set(self.instances)

    def reset(self, mark: tuple[int, int, set[Any]]) -> None:
        """Forget the functions that were written since."""
        functions, heads, instances = mark
        del self.functions[functions:], self.heads[heads:]
        self.instances = {key: result for key, result in self.instances.items() if key in instances}

    def name(self, stem: str) -> str:
        """Make a name that no other has."""
        self.names += 1
        return f"{stem}_{self.names}"

    def use(self, helper: str) -> str:
        """Ask for a support function."""
        self.support[helper] = _support.FUNCTIONS.get(helper) or _random.SUPPORT
        return helper

    def overflow(self, what: Overflow, how: str) -> str:
        """Give the name of the function that tests whether something fits, in some way."""
        if (what, how) not in self._tests:
            name = self._tests[what, how] = self.name("py_fits")
            self.overflows[name] = what
        return self._tests[what, how]

    def record(self, record: Record) -> str:
        """Give the name of a struct; those that it has members of stand before it."""
        for _, ty in record.fields:
            of = ty.of if isinstance(ty, Rows) else ty
            if isinstance(of, Record):
                self.record(of)
        return self.records.setdefault(record, f"Record{len(self.records)}")

    def table(self, spmd: str, numbers: list[str]) -> str:
        """Give the name of a constant array of such numbers."""
        key = (spmd, tuple(numbers))
        if key not in self.tables:
            self.tables[key] = self.name("table_")
        return self.tables[key]

    def _called(self) -> list[list[tuple[str, Line | None]]]:
        """Give the functions, and of those that nobody calls any more what they declare."""
        if not self.has_inlined:
            return self.functions
        kept: list[list[tuple[str, Line | None]]] = []
        names: set[str] = set()
        for lines in reversed(self.functions):
            head = next((k for k, (line, _) in enumerate(lines) if line.startswith("static ")), None)
            if head is not None and lines[head][0].split("(", 1)[0].rsplit(" ", 1)[1] not in names:
                kept.append(lines[:head])
                continue
            kept.append(lines)
            names.update(*(_CALL.findall(line) for line, _ in lines))
        return kept[::-1]

    def text(self) -> tuple[str, list[Line | None]]:
        """Give the text and, for each of its lines, the file and line of Python."""
        lines: list[tuple[str, Line | None]] = []
        called = self._called()
        written = [line for function in (*self.heads, *called) for line, _ in function]
        written += [ty.spmd for record in self.records for _, ty in record.leaves]
        self.has_complex = bool(_complex.occur(written))
        if self.has_complex:
            lines.extend((line, None) for line in _complex.prelude(written).splitlines())
        for helper in self.support.values():
            lines.extend((line, None) for line in helper.splitlines())
        for record, name in self.records.items():
            members = []
            for member, ty in record.fields:
                of, lengths = (ty.of, ty.lengths) if isinstance(ty, Rows) else (ty, "")
                spmd = self.record(of) if isinstance(of, Record) else of.spmd
                members.append(f"{spmd} {record.member(member)}{lengths};")
            lines.append((f"struct {name} {{ {' '.join(members)} }};", None))
        for (spmd, numbers), name in self.tables.items():
            lines.append((f"static const uniform {spmd} {name}[{len(numbers)}] = {{{', '.join(numbers)}}};", None))
        for function in (*self.heads, *called):
            lines.extend(function)
        texts, last = [], None
        for line, place in lines:
            # The stepper and traces show this text.
            new = place is not None and place != last and line.strip("{} ")
            texts.append(f"{line}  // {os.path.basename(place.file)}:{place.number}" if new else line)
            last = place if new else last
        return "\n".join(texts) + "\n", [place for _, place in lines]


@dataclass
class LocalArray:
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
    # How many values the variables have that are tuples.
    tuples: dict[str, int] = field(default_factory=dict)
    # Those of them that are generators of random numbers.
    generators: set[str] = field(default_factory=set)
    # The variables that have the low 32 bits of others.
    short: set[str] = field(default_factory=set)
    # The variables from around that a `foreach` sums up.
    summed: set[str] = field(default_factory=set)
    # How far its statements are indented that are in no loop or branch.
    indent: int = 1


class Body(Raises):
    """The translation of one function."""

    def __init__(
        self,
        program: Program,
        source: Source,
        params: list[Param],
        lookup: Any,
        uniform: bool,
        scope: Scope | None = None,
        functions: dict[str, Any] | None = None,
        captured: dict[tuple[int, str], str] | None = None,
    ) -> None:
        """Prepare: `lookup` finds what names from outside stand for; `uniform` functions may contain `foreach`.

        `scope` is that of a function within another one; parameters may be `functions`, or variables of functions
        around that are `captured`.
        """
        self.program = program
        self.source = source
        self.scope = scope or Scope(source.tree)
        self.functions, self.captured = functions or {}, captured or {}
        self.params = params
        self.views = {self.param_text(p.name): p for p in params if p.view is not None}
        self.lookup = _outside_of(source.tree, lookup)
        self.uniform = uniform
        self.types: dict[Any, Num] = {}
        # The variables that are bools of numpy's somewhere.
        self.of_numpy: set[Any] = set()
        self.returns: list[Num] | None = None
        self.returns_tuple = False
        # The record that a kernel is annotated to return; and which results of an elementwise one are records (None for
        # numbers), whose fields it returns one by one, and whether it gives a tuple of them.
        self.result: Record | None = None
        self.records: tuple[Record | None, ...] = ()
        self.gives_several = False
        # If arrays are returned: they, None for numbers, and how many numbers say which part of each it is.
        self.arrays: tuple[Value | None, ...] | None = None
        self.is_tuple = self.gives_arrays = self.returns_numbers = False
        # The arrays whose memory the host brings.
        self.hidden: list[Made] = []
        self.stored: set[str] = set()
        # The parameters that come to stand for other arrays in loops and branches.
        self.renewed: set[str] = set()
        # The parameters that are tuples, and how many numbers each is: parameters of their own.
        self.tuples: dict[str, int] = {}
        self.dims: dict[str, str] = {}
        # What constant arrays from outside are called there, by their names in the text.
        self.tables: dict[str, str] = {}
        # Functions by their names: those within this one, and those that it was given.
        self.local_functions: dict[str, Any] = {}
        # What it is among the active functions, if others call it.
        self.identity: Any = None
        # The indices of the `foreach` in which it is called.
        self.outer_indices: frozenset[str] = frozenset()
        # The active functions whose results were not known in this pass, each with a call.
        self.unknown: dict[Any, Any] = {}

    # The whole function.

    def translate(self) -> None:
        """Translate until nothing changes; `lines` has the body then."""
        tree = self.source.tree
        statements = tree.body if isinstance(tree, ast.FunctionDef) else [ast.Return(tree)]
        if not isinstance(tree, ast.FunctionDef):
            ast.copy_location(statements[0], tree)
        given = dict(self.dims)
        for _ in range(_MOST_PASSES):
            self.dims = dict(given)
            before = self._known()
            mark = self.program.mark()
            self._pass(statements)
            if before == self._known():
                if list(self.unknown) == [self.identity]:
                    self.fail(
                        self.unknown[self.identity],
                        "the type of the result cannot be found out: it depends on this call of the function itself",
                        "of which type is this?",
                        "annotate the function: `-> np.int64`, `-> float` …",
                    )
                return
            active = self.program.active.get(self.identity)
            if active is not None and active.calls_itself:
                # What it calls was translated for what was known of its result then.
                self.program.reset(mark)
        self.fail(tree, "the types of its variables depend on one another without end", "this function")

    def _known(self) -> tuple[Any, ...]:
        """Give what a pass may find out, for the next one."""
        return dict(self.types), list(self.returns or []), set(self.stored), set(self.renewed), set(self.of_numpy)

    def _pass(self, statements: list[ast.stmt]) -> None:
        self.lines: list[tuple[str, Line]] = []
        self.indent = 1
        self.at = Line("", 0, "")
        self.fresh = 0
        self.temporaries: list[str] = []
        # How many lines of functions have become part of this one; and whether the statement has called one that may
        # have an effect.
        self.n_inlined, self.has_called = 0, False
        # How many parts of expressions around are computed by some lanes only.
        self.in_arm = 0
        self.unknown = {}
        self.drawing = False
        self.hidden, self.arrays, self.returns_numbers = [], None, False
        # The parts of arrays, by their names in the text and by their nodes; and in a statement over all elements, what
        # stands for arrays.
        self.parts: dict[str, Part] = {}
        # The lengths of parts, and the counters of loops up to them, that differ from lane to lane.
        self.differing: set[str] = set()
        self.parts_of: dict[int, tuple[ast.expr, Value]] = {}
        self.elements: dict[int, Value] = {}
        # What is passed as the numbers of a field, and the name of the array of the records.
        self.taken_of: dict[int, tuple[ast.expr, str]] = {}
        # With which indices of `foreach` the element differs that was translated last; and the one lane that executes,
        # where lanes take turns.
        self.element_apart: frozenset[str] = frozenset()
        self.one: str | None = None
        # Indices and lengths that the element translated last is tested for; what says that they are all inside, and
        # the element without tests; and all that says such things, which is computed first.
        self.unsure: list[tuple[Value, Value]] = []
        self.inside: tuple[str, str] | None = None
        self.flags: dict[str, str] = {}
        # The loops around, and the `else` of the one that comes next.
        self.loops: list[str | Else] = []
        self.next_else: Else | None = None
        self.counts = _assignments(statements)
        changed = [node.target.id for node in own_nodes(statements) if _changes(node)]
        # But for `a += …`, which does not make `a` another array.
        self.made = {name: count - changed.count(name) for name, count in self.counts.items()}
        # What is assigned in loops that are written out: another value each time.
        self.repeated: set[str] = set()
        self.local_functions = dict(self.functions)
        names = _assigned(statements, into_foreach=False)
        given = {*self.tuples, *(p.name for p in self.params)}
        self.regions = [Region("", self.uniform, names | given)]
        self.regions[0].tuples.update(self.tuples)
        self.assigned: set[str] | None = given
        for param in self.params:
            if isinstance(param.type, Num) and param.name in names:
                # Python's parameters are variables.
                ty = self._grow(("", param.name), param.type)
                self.regions[0].variables[param.name] = Variable(
                    ty, self.uniform and param.uniform, None, _spmd_name(param.name)
                )
        start = len(self.lines)
        for name in sorted(self.renewed):
            given = ast.copy_location(ast.Name(name, ast.Load()), statements[0])
            self.at = self.source.line(statements[0])
            self.regions[0].parts[name] = self.copied(given, given, None, name)
        self.block(statements)
        if self.assigned is not None and self.returns is not None:
            what = self.source.tree
            help = "end it with a `return` of a value"
            self.fail(what, "not every way through the function returns a value", "it may end without `return`", help)
        self.lines[start:start] = [
            (f"    const uniform bool {name} = {text};", Declaration(*self.source.line(self.source.tree)))
            for text, name in self.flags.items()
        ]
        self._declare(self.regions[0], start)

    def _declare(self, region: Region, at: int) -> None:
        """Write the declarations of a region in front of its statements."""
        own = {p.name for p in self.params} if region.key == "" else set()
        shown = self.program.python_variables
        if region.key == "":
            # A variable of a function around has a number behind its name if there is another one of that name.
            shown.update({self.param_text(p.name): p.name.partition(".")[0] for p in self.params})
        shown.update({_spmd_name(name): name for name in (*region.arrays, *region.variables)})
        shown.update({reduction.partial: f"{name} (of lanes)" for name, reduction in region.reductions.items()})
        place = self.source.line(self.source.tree) if region.key == "" else self.at
        declared = []
        for name, array in region.arrays.items():
            shape = "uniform " if array.uniform else ""
            text = f"{shape}{array.of.spmd} {_spmd_name(name)}[{array.size}];"
            declared.append(("    " * self.indent + text, Declaration(*place)))
        for name, variable in region.variables.items():
            shape = "uniform " if variable.uniform else ""
            start = f" = {self._given(name, variable.type)}" if name in own else ""
            text = f"{shape}{variable.spmd} {variable.text}{start};"
            declared.append(("    " * self.indent + text, place if start else Declaration(*place)))
        declared.extend(("    " * self.indent + f"int {text};", Declaration(*place)) for text in sorted(region.short))
        self.lines[at:at] = declared

    def _given(self, name: str, ty: Num) -> str:
        """Write the argument with which the variable begins that a parameter is."""
        text, of = self.param_text(name), next(param.type for param in self.params if param.name == name)
        # Numbers of other kinds are converted where they are assigned.
        return self.cast(Value(text, of, False), ty, None).text if ty.kind == "c" else text

    def fail(self, node: Any, message: str, note: str, help: str | None = None) -> NoReturn:
        """Raise an error at a node."""
        self.source.fail(node, message, note, help)

    def advise(self, node: Any, what: str, help: str | None = None) -> None:
        """Note which place an assertion of ours is about that says `what`, and what to do."""
        line, column, end = self.source.place(node)
        key, told = (self.at.file, self.at.number, what), ((column, end) if line == self.at.number else None, help)
        if self.program.advice.setdefault(key, told) != told:
            # Nobody knows which of several it is.
            self.program.advice[key] = None, None

    def demand(self, node: Any, test: str, what: str, help: str | None = None) -> None:
        """Write that something must hold, which is told as `what`, and marked at a node if there is one."""
        self.emit(self.demanded(node, test, what, help))

    def demanded(self, node: Any, test: str, what: str, help: str | None = None) -> str:
        """Give what `demand` writes."""
        if node is not None:
            self.advise(node, what, help)
        else:
            self.program.advice[self.at.file, self.at.number, what] = None, help
        escaped = what.replace("\\", "\\\\").replace('"', '\\"')
        return f'assert({test}, "{escaped}");'

    def emit(self, text: str) -> None:
        """Write a line."""
        self.lines.append(("    " * self.indent + text, self.at))

    def temporary(self, stem: str) -> str:
        """Make a name of this function."""
        self.fresh += 1
        self.temporaries.append(f"{stem}__{self.fresh}")
        return self.temporaries[-1]

    def _grow(self, key: Any, ty: Num, node: Any = None) -> Num:
        """Join a type to that of a variable."""
        old = self.types.get(key)
        new = ty if old is None else join(old, ty)
        if new is None:
            help = "convert the bool: `int(…)`" if BOOL in (old, ty) else "convert one of them"
            self.fail(node, f"`{key[1]}` is {_a(old)} in one place and {_a(ty)} in another", f"this is {_a(ty)}", help)
        self.types[key] = new
        return new

    # Variables.

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
        if value.parts is not None:
            return self._name_tuple(node, name, value)
        if isinstance(value.type, Array) and name == "_":
            return None
        if isinstance(value.type, Array) and self._made(value.text) is None:
            return self._name_part(node, name, value)
        if not isinstance(value.type, Num):
            own = f"assign it in a statement of its own, `{name} = np.array(…)`; or copy it, `{name} = a.copy()`"
            help = own if isinstance(value.type, Array) else None
            self.fail(node, f"`{name}` cannot stand for {_a(value.type)}", "only numbers are kept in variables", help)
        of = next((p.type for p in self.params if p.name == name and not isinstance(p.type, Num)), None)
        if of is not None:
            what = "an array" if of.ndim else "a record"
            self.fail(node, f"the parameter `{name}` is {what} and cannot be assigned", "give the number another name")
        region = self.region_of(name)
        if name in region.tuples:
            self.fail(node, f"`{name}` is a tuple in one place and {_a(value.type)} in another", "this is one value")
        if any(name in r.indices for r in self.regions):
            self.fail(node, f"`{name}` counts the elements of `foreach` and cannot be assigned", "use another name")
        if region is not self.regions[-1]:
            self.fail(
                node,
                f"`{name}` belongs to the code around `foreach`, whose elements all run at once",
                "which element's value would it have?",
                f"sums are possible: `{name} += …`, also `{name} = min({name}, …)` and `max`; or use another name",
            )
        if region.uniform and not value.uniform:
            self.fail(
                node,
                f"`{name}` would differ between lanes outside of `foreach`",
                "this value differs from lane to lane",
            )
        ty = self._grow((region.key, name), value.type, node)
        variable = region.variables.setdefault(name, Variable(ty, region.uniform))
        variable.type, variable.text = ty, _spmd_name(name)
        if not value.is_python or any(param.name == name for param in self.params):
            self.of_numpy.add((region.key, name))
        variable.is_python = ty == BOOL and (region.key, name) not in self.of_numpy
        once = self.counts.get(name) == 1 and name not in self.repeated and all(p.name != name for p in self.params)
        variable.equals = value.equals if once else None
        same = once and ty.is_int and value.type == ty
        variable.range = (value.low, value.high) if same or (once and ty == INT) else INT64_RANGE
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
            region.short.add(variable.wrapped)
            self.emit(f"{variable.wrapped} = {value.wrapped};")
        if self.assigned is not None:
            self.assigned.add(name)

    def _name_tuple(self, node: Any, name: str, value: Value) -> None:
        """Keep a tuple: each of its values in a variable of its own."""
        if name in self.tuples:
            self.fail(node, f"the parameter `{name}` is a tuple and cannot be assigned", "here", "use another name")
        region = self.region_of(name)
        of = region.tuples.setdefault(name, len(value.parts))
        if name in region.variables or any(p.name == name for p in self.params):
            self.fail(node, f"`{name}` is a number in one place and a tuple in another", "these are several values")
        if of != len(value.parts):
            self.fail(node, f"`{name}` has {of} values in one place and {len(value.parts)} in another", "here")
        for k, part in enumerate(value.parts):
            if not isinstance(part.type, Num):
                self.fail(
                    node, f"`{name}` cannot hold {_a(part.type)}", "tuples are of numbers", "give it a name alone"
                )
            own = of_tuple(name, k)
            region.names.add(own)
            self.counts[own] = self.counts.get(name, 0)
            self.repeated.update({own} if name in self.repeated else ())
            self.assign_name(node, own, part)
        if self.assigned is not None:
            self.assigned.add(name)

    def _name_part(self, node: Any, name: str, value: Value) -> None:
        """Give an array, or a part of one, a name.

        Where statements are executed once, in order, a name may come to stand for another array. Elsewhere what has a
        name keeps its memory, and takes the elements of the other.
        """
        region = self.regions[-1]
        if region is not self.region_of(name):
            self.fail(node, f"`{name}` belongs to the code around `foreach`", "here", "use another name")
        bound, is_param = region.parts.get(name), any(p.name == name for p in self.params)
        straight = self.indent == region.indent
        if bound is None and is_param and not straight and self._becomes_own(name):
            # In the next pass it is a copy from the start, whose elements change.
            bound = value
        elif bound is None and is_param and not straight and value.type.ndim == 0:
            help = f"choose its fields, `x = {name}.x if … else …`; or return in each branch"
            self.fail(node, f"the parameter `{name}` cannot become another record here", "in a loop or a branch", help)
        elif bound is None and is_param and not straight:
            help = f"give the result a name of its own; or store to the elements, `{name}[:] = …`"
            self.fail(node, f"the parameter `{name}` cannot become another array here", "in a loop or a branch", help)
        if bound is None and not straight and self.made.get(name) != 1 and not self._is_made(value.text):
            self._refuse_name(node, name)
        if bound is None or straight or (self.made.get(name) == 1 and name not in self.renewed):
            region.parts[name] = self.fixed(value)
        elif bound.text != value.text:
            self._take_elements(node, name, bound, value)
        if self.assigned is not None:
            self.assigned.add(name)

    def _becomes_own(self, name: str) -> bool:
        """Have a parameter that comes to stand for other arrays be a copy; return whether nobody could tell."""
        if not self.is_uniform_here() or self.in_foreach() or self._is_changed(name) or self._is_shared(name):
            return False
        self.renewed.add(name)
        return True

    def _is_shared(self, name: str) -> bool:
        """Return whether other names may come to stand for a parameter's array, or functions of Python change it."""
        array = next(param.type for param in self.params if param.name == name)

        def is_it(node: ast.expr) -> bool:
            """Return whether an expression is the array, or a part of it."""
            while isinstance(node, (ast.Subscript, ast.Attribute)):
                if isinstance(node, ast.Attribute) and node.attr not in ("T", "flat"):
                    return False
                at, node = node, node.value
                count = len(at.slice.elts) if isinstance(getattr(at, "slice", None), ast.Tuple) else 1
                if isinstance(at, ast.Subscript) and isinstance(node, ast.Name) and not self.is_part(at):
                    return count != array.ndim and node.id == name
            return isinstance(node, ast.Name) and node.id == name

        for node in ast.walk(self.source.tree):
            given: list[ast.expr] = []
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
                given = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
            elif isinstance(node, ast.AugAssign):
                given = [node.target]
            elif isinstance(node, ast.Call) and not self._is_of_libraries(node):
                given = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(map(is_it, given)):
                return True
        return False

    def _is_of_libraries(self, node: ast.Call) -> bool:
        """Return whether a call is of a function that changes no array."""
        try:
            function = None if self.is_method(node) else self.called(node)
        except CompileError:
            return False
        return (getattr(function, "__module__", None) or "").split(".")[0] in ("numpy", "math", "builtins")

    def _refuse_name(self, node: Any, name: str, note: str = "") -> NoReturn:
        help = (
            "use another name; arrays that change places are rows of one: `np.zeros((2, n))`, with `a[k % 2, i]`; of "
        )
        help += "records fields are chosen: `x = p.x if … else q.x`"
        note = note or f"`{name}` is assigned elsewhere too"
        self.fail(node, "in loops and branches a name stands for one array", note, help)

    def _is_made(self, text: str) -> bool:
        return any(made.text == text for made in self.hidden)

    def _root_of(self, text: str) -> str:
        """Give the array that a part is one of."""
        while text in self.parts:
            text = self.parts[text].array.text
        return text

    def _take_elements(self, node: Any, name: str, bound: Value, value: Value) -> None:
        """Copy an array to the one that a name stands for; nobody can tell it from another one under that name."""
        if not self._is_made(bound.text):
            self._refuse_name(node, name)
        for other, of in region_parts(self.regions):
            if other != name and self._root_of(of.text) == bound.text:
                self._refuse_name(node, name, f"`{other}` stands for its array, too")
        if bound.type != value.type:
            self._refuse_name(node, name, f"an array of another type: {value.type} rather than {bound.type}")
        if self._has_other_lengths(bound, value):
            self._refuse_name(node, name, "an array of other lengths")
        if self._root_of(value.text) == bound.text:
            value = self.copy_of(node, value)
        self._copy_elements(node, bound, value)

    def _has_other_lengths(self, a: Value, b: Value) -> bool:
        """Return whether it is known that arrays differ in a length."""
        pairs = [(self.dim(a.text, k), self.dim(b.text, k)) for k in range(a.type.ndim)]
        return any(None not in (x.before, y.before) and differ(x.before, y.before) for x, y in pairs)

    def _copy_elements(self, node: Any, bound: Value, value: Value) -> None:
        """Copy the elements of an array to another one; it is tested that there are as many."""
        lengths = [self.dim(bound.text, k) for k in range(bound.type.ndim)]
        for k, length in enumerate(lengths):
            other = self.dim(value.text, k)
            if length.equals is None or length.equals != other.equals:
                what = "arrays that take the place of each other have the same lengths"
                help = "give the other one a name of its own; or return it from a function of its own"
                self.demand(node, f"{length.text} == {other.text}", what, help)
        counters = [self.temporary("at") for _ in lengths]
        self._begin(node, counters, lengths, True)
        to, of = (self.element_at(array, counters) for array in (bound, value))
        self.emit(f"{to.text} = {of.text};")
        self._end(True)

    def read_name(self, node: ast.Name) -> Value | None:
        """Give a variable or parameter; None if the name is none."""
        name = node.id
        if name in self.local_functions:
            return None
        for region in self.regions:
            if name in region.indices:
                return region.indices[name]
        region = self.region_of(name)
        if name in region.names:
            if name in region.arrays:
                array = region.arrays[name]
                return Value(_spmd_name(name), Array(array.of, len(array.shape)), array.uniform)
            param = next((p for p in self.params if p.name == name), None)
            if param is not None and not isinstance(param.type, Num) and name not in region.parts:
                return Value(self.param_text(name), param.type, not param.lanes)
            if self.assigned is not None and name not in self.assigned:
                self.fail(
                    node,
                    f"`{name}` may have no value here",
                    "it is assigned in a part that may not have been executed",
                    f"assign `{name}` before",
                )
            if name in region.parts:
                return region.parts[name]
            if name in region.generators and not self.drawing:
                help = f"draw, `{name}.random()`, and pass the number; a function that draws makes one of its own, "
                help += "of another stream: `spmdvm.rng(seed, i, 1)`"
                self.fail(node, f"the generator `{name}` stands here alone", "it only gives numbers", help)
            if name in region.tuples:
                own = (ast.Name(of_tuple(name, k), ast.Load()) for k in range(region.tuples[name]))
                return tuple_of(self.read_name(ast.copy_location(part, node)) for part in own)
            if name in self.regions[-1].summed:
                self.fail(
                    node,
                    f"`{name}` is summed up in this `foreach`, and has its value only behind it",
                    "it cannot be read while elements are still added",
                    f"add with `{name} += …`; or take the least or greatest, `{name} = min({name}, …)`",
                )
            if name in region.variables:
                return region.variables[name].value()
            if param is not None:
                known = {} if param.known is None else param.known._asdict()
                if param.host is not None and known.get("equals") is None:
                    # An index that is below it is below lengths that are it.
                    known["equals"] = (f"= {param.host}", 0)
                of = {"host": param.host, "passed": param.passed}
                return Value(self.param_text(name), param.type, param.uniform, **known, **of)
            return None
        return self.outside_array(node)

    def param_text(self, name: str) -> str:
        """Give the name of a parameter in SPMD text."""
        plain = name.isascii() and name.isidentifier() and name not in RESERVED and not name.startswith("v_")
        return name if plain else _spmd_name(name).replace("v_", "p_", 1)

    def dim(self, array: str, axis: int) -> Value:
        """Give a length of an array."""
        made = self._made(array)
        text = f"{array}__n{axis}"
        symbol = self.dims.get(text, text) if made is None else _length_symbol(made.shape[axis])
        length = _length_of(symbol)
        if length is not None:
            return replace(constant(length), equals=(symbol, 0))
        host = self.program.hosts.get(symbol)
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
        return _spmd_name(name)

    def _made(self, text: str) -> LocalArray | None:
        """Give the array of this function that has a name in the text; None if there is none."""
        for region in self.regions:
            for name, local in region.arrays.items():
                if _spmd_name(name) == text:
                    return local
        return None

    # Statements.

    def block(self, statements: list[ast.stmt]) -> None:
        """Translate statements; what stands behind `return` and its like is left out."""
        for statement in statements:
            if self.assigned is None:
                return
            self.at = self.source.line(statement)
            self.has_called = False
            arms = self.in_arm
            try:
                self.statement(statement)
            except Unknown as missing:
                # As if the call did not return; the next pass knows more.
                self.unknown[missing.identity] = missing.node
                self.in_arm, self.assigned = arms, None

    def in_one_arm(self, node: ast.expr) -> Value | None:
        """Translate a number, or a tuple, of which only the other one's type may be known yet; None if it is not."""
        try:
            value = self.expression(node)
            return value if value.parts is not None else self._as_number(node, value)
        except Unknown as missing:
            self.unknown[missing.identity] = missing.node
            return None

    def statement(self, node: ast.stmt) -> None:
        """Translate a statement."""
        translate = getattr(self, "do_" + type(node).__name__, None)
        if translate is None:
            what, help = _UNSUPPORTED.get(type(node).__name__, (f"`{type(node).__name__}`", None))
            self.fail(node, f"{what} cannot stand in a kernel", "not supported", help)
        translate(node)

    def do_Pass(self, _: ast.Pass) -> None:
        """`pass`."""

    def do_Expr(self, node: ast.Expr) -> None:
        """Translate a call for its effect, or leave out a docstring."""
        if isinstance(node.value, ast.Constant):
            return
        if isinstance(node.value, ast.Call) and self._changes_array(node):
            return
        if isinstance(node.value, ast.Call):
            name = self.called(node.value)
            if name is print:
                return self.print(node.value)
            value = self.call(node.value, as_statement=True)
            if value is not None:
                self.emit(f"{value.text};")
            return
        self.expression(node.value)
        self.fail(node, "this expression does nothing", "its value is not used")

    def _changes_array(self, node: ast.Expr) -> bool:
        """Translate `a.sort()` and `a.fill(x)` as `a[:] = …`; return whether it is one."""
        call = node.value
        if not isinstance(call.func, ast.Attribute) or not self.is_method(call) or call.keywords:
            return False
        array, how, count = call.func.value, call.func.attr, len(call.args)
        if (how, count) not in (("sort", 0), ("fill", 1)) or self.array_of(array) is None:
            return False
        if how == "sort":
            self.sort_in_place(call, self.array_of(array))
            return True
        target = ast.copy_location(ast.Subscript(array, ast.Slice(None, None, None), ast.Store()), call)
        self.assign_part(node, target, call.args[0], None)
        return True

    def do_Assign(self, node: ast.Assign) -> None:
        """`a = …`, `a[i] = …`, `a, b = …`."""
        if self.needs_branches(node.value):
            names = [n.id for each in node.targets for n in ast.walk(each) if isinstance(n, ast.Name)]
            self.repeated.update(names)
            return self._in_branches(node, lambda value: ast.Assign(node.targets, value))
        target = node.targets[0]
        if len(node.targets) > 1 and any(self.is_masked(each) or self.is_part(each) for each in node.targets):
            return self._assign_parts(node)
        if self.is_masked(target):
            return self.assign_masked(node, target, node.value, None)
        if self.is_part(target):
            values = self._tuple_in(node.value)
            if values is None:
                self.assign_part(node, target, node.value, None)
            else:
                self.assign_values(target, values)
            self.elements.pop(id(node.value), None)
            return
        if len(node.targets) > 1:
            value = self.keep(self.expression(node.value))
            for target in node.targets:
                self.assign(target, value)
            return
        if self.is_extreme(target, node.value) or self.makes_array(target, node.value):
            return
        if self.lists_array(target, node.value) or self.names_new(target, node.value):
            return
        same = [part for part in ast.walk(node.value) if _is_same(part, target)]
        if same and self._may_clash(target):
            return self._one_by_one([target, *same], lambda: self.assign(target, self.expression(node.value)))
        if self.names_generator(target, node.value):
            return
        if isinstance(node.value, ast.List) and isinstance(target, ast.Name) and self._is_changed(target.id):
            self.refuse_list(node.value)
        value = self.unpacked(target, node.value)
        if value is None and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            value = tuple_of(map(self.argument, node.value.elts))
        value = value or self.expression(node.value)
        if value.parts is not None:
            value = tuple_of(part if part.equals else self.keep(part) for part in value.parts)
        self.assign(target, value)

    def _is_changed(self, name: str) -> bool:
        """Return whether what a name stands for is changed where it is, as lists are."""
        changing = ("append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear")

        def changes(node: ast.AST) -> bool:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
                return isinstance(node.value, ast.Name) and node.value.id == name
            if not isinstance(node, ast.Attribute) or node.attr not in changing:
                return False
            return isinstance(node.value, ast.Name) and node.value.id == name

        return any(changes(node) for node in ast.walk(self.source.tree))

    def _tuple_in(self, node: ast.expr) -> Value | None:
        """Give the tuple that an expression is; None if it is something else, which may be one of arrays."""
        if id(node) in self.elements:
            value = self.elements[id(node)]
            return value if value.parts is not None else None
        if isinstance(node, ast.Name):
            value = self.read_name(node)
            return value if value is not None and value.parts is not None else None
        if isinstance(node, ast.Tuple):
            return self.expression(node)
        if isinstance(node, ast.List):
            return tuple_of(map(self.expression, node.elts))
        if isinstance(node, ast.Call) and not self.is_method(node) and not any(True for _ in self._arrays_in(node)):
            value = self.expression(node)
            # It has been called.
            self.elements[id(node)] = self.keep(value) if value.parts is None else value
            return value if value.parts is not None else None
        return None

    def _may_clash(self, target: ast.expr) -> bool:
        """Return whether lanes may have the same element for one that is computed from what it was."""
        if self.is_uniform_here() or not isinstance(target, (ast.Subscript, ast.Attribute)):
            return False
        self.element(_as_load(target), stores=False)
        apart = self.element_apart
        name = _array_of(target)
        array = None if name is None else self.read_name(name)
        # Each lane may have an array of its own.
        return (array is None or array.uniform) and not self.is_apart(apart)

    def is_apart(self, apart: frozenset[str]) -> bool:
        """Return whether something that differs with these indices of `foreach` is another for each element."""
        indices = self._apart_indices()
        return LANE in apart or (bool(indices) and apart.issuperset(indices))

    def _apart_indices(self) -> frozenset[str]:
        """Give the indices of the `foreach` around, also of one in which the function is called."""
        own = (name for region in self.regions for name, value in region.indices.items() if name in value.apart)
        return self.outer_indices.union(own)

    def _one_by_one(self, targets: list[Any], write: Any) -> None:
        """Write a statement that lanes execute one after another; their indices are computed before."""
        kept: dict[str, Value] = {}
        for target in targets:
            for index in _indices_in(target):
                known = ast.dump(index)
                if known not in kept:
                    value = self.expression(index)
                    kept[known] = value if value.const is not None else self.keep(value)
                self.elements[id(index)] = kept[known]
        outer, self.one = self.one, self.temporary("one")
        self.emit(f"foreach_active ({self.one}) {{")
        self.indent += 1
        write()
        self.indent -= 1
        self.emit("}")
        self.one = outer
        for target in targets:
            for index in _indices_in(target):
                del self.elements[id(index)]

    def unpacked(self, target: ast.expr, node: ast.expr) -> Value | None:
        """Give the elements of an array that several names are to stand for; None if that is not what is assigned."""
        if not isinstance(target, (ast.Tuple, ast.List)):
            return None
        self._refuse_star(target)
        count, array = len(target.elts), self.array_of(node)
        if array is None:
            return self.elements_of(node, count)
        if array.type.ndim == 0:
            return self.fields_of(node, array)
        return self.taken_apart(target, array)

    def _refuse_star(self, target: ast.Tuple | ast.List) -> None:
        """Fail if a name is to take what is left over."""
        for part in target.elts:
            if isinstance(part, ast.Starred):
                help = "give each value a name; or index: `x = t[0]`, `rest = t[1:]`"
                self.fail(part, "`*` among names cannot stand in a kernel", "not supported", help)

    def taken_apart(self, target: ast.Tuple | ast.List, array: Value) -> Value:
        """Give the elements, or rows, of an array, of which there are as many as names."""
        self.have_length(target, array, len(target.elts))
        below = (self.dim(array.text, 0).equals[0], 0)
        indices = [replace(constant(k), below=below) for k in range(len(target.elts))]
        if array.type.ndim > 1:
            return tuple_of(self.row_of(array, index) for index in indices)
        if isinstance(array.type.of, Record):
            return tuple_of(self.record_of(array, [index]) for index in indices)
        places = (self.place_of(array, [index]) for index in indices)
        return tuple_of(Value(text, array.type.of, uniform) for text, uniform in places)

    def makes_array(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `a = np.zeros(8, np.float32)` and its like; return whether it is one."""
        what = self.makes(value)
        if what is None:
            return False
        fill, of, lengths = what
        several = isinstance(target, ast.Name) and self.made.get(target.id) != 1 and self.is_uniform_here()
        if several or not all(isinstance(length, int) for length in lengths):
            if not isinstance(target, ast.Name):
                return False
            values = [constant(length) if isinstance(length, int) else length for length in lengths]
            self.assign_name(target, target.id, self.new_array(value, of, values, fill, target.id, True))
            return True
        name, made = self._new_array(target, of, lengths)
        # What `np.empty` makes is zero until it is stored to, as all memory is; check mode tells who reads it before.
        if fill is not None:
            counter = self.temporary("k")
            text = f"{_spmd_name(name)}[{counter}] = {fill.text};"
            self.emit(f"for (uniform int {counter} = 0; {counter} < {made.size}; ++{counter}) {text}")
        if self.assigned is not None:
            self.assigned.add(name)
        return True

    def lists_array(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `a = np.array([[1, 2], [3, 4]])`; return whether it is one."""
        what = self.listed(value)
        if what is None:
            return False
        if isinstance(target, ast.Name) and self.made.get(target.id) != 1 and self.is_uniform_here():
            # It stands for another array elsewhere.
            self.assign_name(target, target.id, self.brought(value, *what))
        else:
            self.list_array(target, *what)
        return True

    def list_array(self, target: ast.expr, values: list[Value], of: Num, lengths: tuple[int, ...]) -> None:
        """Make an array of numbers under a name."""
        texts = [self.cast(each, of, target).text for each in values]
        name, _ = self._new_array(target, of, lengths)
        for k, text in enumerate(texts):
            self.emit(f"{_spmd_name(name)}[{k}] = {text};")
        if self.assigned is not None:
            self.assigned.add(name)

    def names_new(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `b = a * 2` of arrays, `b = np.sum(a, axis=0)`; return whether it is such a one."""
        if not isinstance(target, ast.Name) or isinstance(value, ast.Name):
            return False
        if isinstance(value, ast.Subscript) and not self.is_choice(value):
            return False
        if not self.makes_elements(value):
            return False
        made = self.array_of(value)
        if made is None:
            self._refuse_to_change_parts(target, value)
            made = self.copied(value, value, None, target.id)
        root = self.parts[made.text].name if made.text in self.parts else made.text
        for hidden in self.hidden:
            if hidden.text == root:
                hidden.name = self.program.python_variables[root] = target.id
        self.assign_name(target, target.id, made)
        return True

    def _refuse_to_change_parts(self, target: ast.Name, value: ast.expr) -> None:
        """Fail if a name stands for the real or imaginary parts of an array, and changes them: they are copies here."""
        is_call = isinstance(value, ast.Call) and not self.is_method(value)
        is_part = is_complex_part(value) or (is_call and self.called(value) in (np.real, np.imag))
        if is_part and (self._is_changed(target.id) or self.counts.get(target.id, 0) > 1):
            help = f"copy them: `{ast.unparse(value)}.copy()`; or store to the elements of the array"
            self.fail(value, f"`{target.id}` would be a part of the array, and is changed", "here", help)

    def names_generator(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `rng = spmdvm.rng(seed, i)`; return whether it is such a one."""
        if not isinstance(value, ast.Call) or self.is_method(value) or self.called(value) is not _random.rng:
            return False
        if not isinstance(target, ast.Name):
            self.fail(target, "a generator is a variable of its own", "here", "write `rng = spmdvm.rng(seed, i)`")
        self.assign_name(target, target.id, _random.make(self, value))
        self.region_of(target.id).generators.add(target.id)
        return True

    def generator(self, node: ast.expr) -> str | None:
        """Give the name of the generator that an expression is; None if it is none."""
        if not isinstance(node, ast.Name) or node.id in self.local_functions:
            return None
        region = self.region_of(node.id)
        if node.id not in region.generators:
            return None
        if region is not self.regions[-1]:
            help = f"make one in the `foreach`, for each element: `{node.id} = spmdvm.rng(seed, i)`"
            self.fail(node, f"the generator `{node.id}` belongs to the code around `foreach`", "here", help)
        return node.id

    def bring(self, node: Any, made: Made) -> str:
        """Have the host bring an array for a function that is called; give its name."""
        text = self.temporary(self.made_text("made"))
        self.hidden.append(replace(made, text=text, is_zero=False))
        self.program.python_variables[text] = made.name
        for axis, host in enumerate(made.hosts):
            own = f"{text}__n{axis}"
            symbol = made.symbols[axis]
            self.dims[own] = symbol
            if _length_of(symbol) is None:
                self.program.hosts.setdefault(symbol, host)
        return text

    def _new_array(self, target: ast.expr, of: Num, lengths: tuple[int, ...]) -> tuple[str, LocalArray]:
        """Declare an array of the function under the name that it is assigned to."""
        if not isinstance(target, ast.Name) or self.made.get(target.id) != 1:
            self.fail(
                target,
                "an array of the function is made once, under a name of its own",
                f"`{ast.unparse(target)}` is assigned elsewhere, too" if isinstance(target, ast.Name) else "no name",
                "arrays that change places are rows of one: `np.zeros((2, n))`, with `a[k % 2, i]`",
            )
        name, region = target.id, self.regions[-1]
        if region is not self.region_of(name):
            self.fail(target, f"`{name}` belongs to the code around `foreach`", "here", "use another name")
        made = region.arrays[name] = LocalArray(of, lengths, region.uniform)
        return name, made

    def _assign_parts(self, node: ast.Assign) -> None:
        """Translate `a[0] = b[1:] = x`, whose value is computed before, as one assignment after another."""
        value, kept = node.value, None
        if not self.makes_elements(value):
            kept = self.keep(self._tuple_in(value) or self.expression(value))
        elif self.array_of(value) is None:
            # (A part stays one, which the first assignment may change.)
            self.parts_of[id(value)] = value, self.copied(value, value)
        for target in node.targets:
            if kept is not None:
                # (Each assignment forgets it.)
                self.elements[id(value)] = kept
            self.do_Assign(ast.copy_location(ast.Assign([target], value), node))
        self.elements.pop(id(value), None)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:
        """`a: T = …`."""
        if node.value is None:
            self.fail(
                node, "a variable gets its type when it is assigned", "this assigns nothing", "write `= …` as well"
            )
        if re.search("ndarray|NDArray|array\\[", ast.unparse(node.annotation)):
            # An array has its type from what it is made of.
            return self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        ty = self.annotation(node.annotation)
        value = self.number(node.value)
        if value.type.kind == "f" and ty.kind not in "fc":
            # To Python the annotation means nothing: the variable would be a float.
            help = f"convert it: `{ast.unparse(node.annotation)}({ast.unparse(node.value)})`"
            self.fail(node.value, f"a float is no `{ty}`", f"{_a(value.type)}", help)
        self.assign(node.target, self.cast(value, ty, node))

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        """`a += …`."""
        target = node.target
        if self.needs_branches(node.value):
            return self._in_branches(node, lambda value: ast.AugAssign(target, node.op, value))
        if isinstance(target, ast.Name) and self._names_array(target.id):
            # All of it is changed where it is.
            whole = ast.Subscript(_as_load(target), ast.Slice(None, None, None), ast.Store())
            return self.assign_part(node, ast.copy_location(whole, target), node.value, node.op)
        if isinstance(target, ast.Name):
            region = self.region_of(target.id)
            if region is not self.regions[-1] and target.id in region.names and target.id not in self._indices():
                return self.reduce(node, target.id, node.op, node.value)
        if self.is_masked(target):
            return self.assign_masked(node, target, node.value, node.op)
        if self.is_part(target):
            return self.assign_part(node, target, node.value, node.op)
        load = _as_load(target)
        if self._may_clash(target):
            operand = self.keep(self.expression(node.value))
            add = lambda: self.assign(target, self.binary(node, node.op, self.expression(load), operand))  # noqa: E731
            return self._one_by_one([target], add)
        value = self.binary(node, node.op, self.expression(load), self.expression(node.value))
        self.assign(target, value)

    def _names_array(self, name: str) -> bool:
        """Return whether a name stands for an array or a part of one."""
        if any(name in region.arrays or name in region.parts for region in self.regions):
            return True
        return any(param.name == name and isinstance(param.type, Array) for param in self.params)

    def _indices(self) -> set[str]:
        return {name for region in self.regions for name in region.indices}

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a name, an element or several of them."""
        if isinstance(target, ast.Name):
            return self.assign_name(target, target.id, value)
        if isinstance(target, (ast.Tuple, ast.List)):
            self._refuse_star(target)
            if value.parts is None and isinstance(value.type, Array) and value.type.ndim > 0:
                value = self.taken_apart(target, value)
            if value.parts is None:
                self.fail(target, "this is one value, not several", f"{len(target.elts)} names")
            if len(value.parts) != len(target.elts):
                self.fail(target, f"there are {len(value.parts)} values for {len(target.elts)} names", "here")
            for part, at in zip(target.elts, self._apart_from_names(target, value.parts)):
                self.assign(part, at)
            return
        if self.is_part(target):
            self.fail(target, "a part of an array is assigned by a statement of its own", "here")
        if is_complex_part(target) and self._is_of_numbers(target.value):
            self.refuse_part(target)
        if self.is_field(target) or (isinstance(target, ast.Subscript) and self.is_record(target)):
            return self.store_record(target, self.array_of(_as_load(target)), value)
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            place = self.element(target, stores=True)
            if not isinstance(value.type, Num) or value.parts is not None:
                what = "a field" if isinstance(target, ast.Attribute) else "an element of an array"
                told = "several values" if value.parts is not None else f"this is `{value.type}`"
                self.fail(target, f"{what} is one number", told)
            return self.store(target, place, value, place.type)
        self.fail(target, "this cannot be assigned", "not a name, an element or a field")

    def _is_of_numbers(self, node: ast.expr) -> bool:
        """Return whether an expression is a number, or an array of them."""
        found = self.array_of(node)
        value = self.expression(node) if found is None else found
        return value.parts is None and (isinstance(value.type, Num) or isinstance(value.type.of, Num))

    def store(self, target: ast.expr, place: Value, value: Value, of: Num) -> None:
        """Write that an element, or a field of one, takes a number."""
        if place.uniform and self.is_uniform_here() and not value.uniform:
            self.fail(target, "lanes would store different values to one element", "outside of `foreach`")
        text = self.cast(value, of, target).text
        if place.uniform and not value.uniform and self.one is not None:
            text = f"{'py_cextract' if of.kind == 'c' else 'extract'}({text}, (uniform int){self.one})"
        if self.inside is None or self.one is not None or "." in place.text.rpartition("]")[2]:
            return self.emit(f"{place.text} = {text};")
        (flag, plain), text = self.inside, self.keep(replace(value, text=text, type=of)).text
        return self.emit(f"if ({flag}) {plain} = {text}; else {place.text} = {text};")

    def _apart_from_names(self, target: ast.Tuple | ast.List, values: tuple[Value, ...]) -> list[Value]:
        """Give values; of arrays that several names are assigned to, and that change in this, copies."""
        if self.indent == 1 or not any(isinstance(value.type, Array) for value in values if value.parts is None):
            return list(values)
        names = [part.id for part in target.elts if isinstance(part, ast.Name)]
        changed = {of.text for name, of in region_parts(self.regions) if name in names}
        return [
            self.copy_of(target, value)
            if isinstance(value.type, Array) and value.parts is None and self._root_of(value.text) in changed
            else value
            for value in values
        ]

    def keep(self, value: Value) -> Value:
        """Compute a value once, here."""
        if value.parts is not None:
            return tuple_of(self.keep(part) for part in value.parts)
        if value.const is not None or not isinstance(value.type, Num):
            return value
        name = self.temporary("t")
        shape = "uniform " if value.uniform else ""
        ty = "int" if value.is_narrow else value.type.spmd
        self.emit(f"const {shape}{ty} {name} = {value.text};")
        return replace(value, text=name, wrapped=None)

    # Sums over `foreach`.

    def reduce(self, node: Any, name: str, op: ast.operator, operand: ast.expr) -> None:
        """Translate `s += …` in a `foreach` to a sum of each lane, which are added behind it."""
        if not isinstance(op, (ast.Add, ast.Sub)):
            self.fail(
                node,
                f"`{name}` belongs to the code around `foreach`, and only sums, minima and maxima are combined",
                "neither `+=` nor `-=`",
            )
        value = self._as_number(operand, self.expression(operand))
        old = self.types.get((self.region_of(name).key, name))
        if value.type == BOOL and old == BOOL:
            help = f"begin with a number, `{name} = 0`; or ask `if …: {name} = …` of elements that are stored"
            self.fail(node, f"bools cannot be added up in `{name}`, which is a bool itself", "a bool", help)
        if value.type == BOOL:
            # They are counted.
            value = self.cast(value, INT if value.is_python or old is None else promote(old, BOOL), node)
        sign = "-" if isinstance(op, ast.Sub) else "+"
        self._combine(node, name, "+", value, lambda partial, text: f"{partial} = {partial} {sign} {text};")

    def is_extreme(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `s = min(s, …)` of a variable from around the `foreach`; return whether it is one."""
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Call) and len(value.args) == 2):
            return False
        name, region = target.id, self.region_of(target.id)
        if region is self.regions[-1] or name not in region.names:
            return False
        how = self.extreme(value)
        first, second = value.args
        if how is None or value.keywords:
            return False
        if isinstance(second, ast.Name) and second.id == name:
            first, second = second, first
        if not (isinstance(first, ast.Name) and first.id == name):
            return False
        operand = self.expression(second)
        if not isinstance(operand.type, Num) or operand.type == BOOL or operand.type.kind == "c":
            help = "convert it: `int(…)`" if operand.type == BOOL else None
            self.fail(value, f"{_a(operand.type)} has no order", "not a number that is more or less than others", help)
        self._combine(value, name, how, operand, lambda partial, text: f"{partial} = {how}({partial}, {text});")
        return True

    def _combine(self, node: Any, name: str, how: str, value: Value, write: Any) -> None:
        outer = self.region_of(name)
        if outer.key != "" or name not in outer.variables or self.assigned is None or name not in self.assigned:
            self.fail(node, f"`{name}` has no value before the `foreach`", "there is nothing to begin with")
        ty = self._grow((outer.key, name), value.type, node)
        region = self.regions[-1]
        reduction = region.reductions.setdefault(name, Reduction(self.temporary(name), how))
        if reduction.how != how:
            self.fail(
                node,
                f"`{name}` is combined in two ways in one `foreach`",
                f"by `{how}` here, by `{reduction.how}` before",
            )
        self.emit(write(reduction.partial, self.cast(value, ty, node).text))

    # Control.

    def do_If(self, node: ast.If) -> None:
        """`if`, `elif`, `else`."""
        self.emit(f"if ({self.truth(node.test)}) {{")
        before = None if self.assigned is None else set(self.assigned)
        self._inner(node.body)
        after = self.assigned
        self.assigned = None if before is None else set(before)
        if node.orelse:
            self.emit("} else {")
            self._inner(node.orelse)
        self.emit("}")
        self.assigned = after if self.assigned is None else self.assigned if after is None else self.assigned & after

    def needs_branches(self, value: ast.expr) -> bool:
        """Return whether it is `a if c else b` of numbers that take statements: loops over arrays, draws."""
        if not isinstance(value, ast.IfExp):
            return False
        found = [self._loops_in(arm) for arm in (value.body, value.orelse)]
        return None not in found and any(found)

    def _loops_in(self, node: ast.expr) -> bool | None:
        """Return whether a number takes loops over arrays, or is drawn; None if it is none, but has parts of arrays."""
        func = node.func if isinstance(node, ast.Call) else None
        draws = isinstance(func, ast.Attribute) and self.generator(func.value) is not None
        if draws or self.is_reduction(node):
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return None
        found = [self._loops_in(each) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        return None if None in found else any(found)

    def chosen_before(self, node: ast.IfExp) -> Value:
        """Translate such a number within an expression: a variable that is assigned before."""
        name = f"either__{node.lineno}_{node.col_offset}"
        self.regions[-1].names.add(name)
        self.repeated.add(name)
        target = ast.copy_location(ast.Name(name, ast.Store()), node)
        self._in_branches(ast.copy_location(ast.Assign([target], node), node), lambda v: ast.Assign([target], v))
        return self.keep(self.read_name(ast.copy_location(ast.Name(name, ast.Load()), node)))

    def _in_branches(self, node: Any, statement: Any) -> None:
        """Translate a statement with `a if c else b` as two, of which one is executed."""
        of = node.value
        arms = [[ast.copy_location(statement(arm), node)] for arm in (of.body, of.orelse)]
        self.do_If(ast.copy_location(ast.If(of.test, *arms), node))

    def _inner(self, statements: list[ast.stmt]) -> None:
        self.indent += 1
        at = self.at
        self.block(statements)
        self.at = at
        self.indent -= 1

    def _turns(self, statements: list[ast.stmt], is_run: bool = False) -> None:
        """Translate the body of a loop, after which nothing more has a value than before, unless it `is_run` once."""
        before = set(self.assigned or ())
        self.loops.append(self.next_else or "loop")
        self.next_else = None
        self._inner(statements)
        self.loops.pop()
        if not is_run or self.assigned is None or jumps(statements):
            self.assigned = before

    def _with_else(self, node: ast.While | ast.For, write: Any) -> None:
        """Translate a loop and its `else`, which is executed unless a `break` has left the loop."""
        after = Else(self.temporary("left"), [])
        self.emit(f"{'uniform ' if self.is_uniform_here() else ''}bool {after.left} = false;")
        self.next_else = after
        write(node)
        self.next_else = None
        ends = [self.assigned]
        if self.assigned is not None:
            self.emit(f"if (!{after.left}) {{")
            self._inner(node.orelse)
            self.emit("}")
            ends = [self.assigned]
        known = [names for names in (*ends, *after.assigned) if names is not None]
        self.assigned = set.intersection(*known) if known else None

    def do_While(self, node: ast.While) -> None:
        """`while`."""
        if node.orelse:
            return self._with_else(node, self._while)
        self._while(node)

    def _while(self, node: ast.While) -> None:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        # Of several conditions each ends the loop by itself: lanes that one lets go are not asked for the next.
        several = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        start, at = len(self.lines), self.at
        self.indent += 1
        for part in node.test.values if several else [] if endless else [node.test]:
            test = self.truth(part)
            if len(self.lines) == start and not several:
                self.indent -= 1
                self.emit(f"while ({test}) {{")
                self.indent += 1
            else:
                self.emit(f"if (!{test}) break;")
        self.indent -= 1
        if endless or several or not self.lines[start][0].lstrip().startswith("while"):
            # What the condition needs is computed in each turn.
            self.lines.insert(start, ("    " * self.indent + "while (true) {", at))
        self._turns(node.body)
        self.emit("}")
        if endless and not _leaves(node.body):
            self.assigned = None

    def do_Break(self, node: ast.Break) -> None:
        """`break`."""
        if not self.loops or self.loops[-1] == "foreach":
            help = "pass over elements with `if` or `continue`; a loop over `range` goes in order, and can be left"
            self.fail(node, "`break` cannot leave a `foreach`, whose elements all run at once", "here", help)
        after = self.loops[-1]
        if isinstance(after, Else):
            self.emit(f"{after.left} = true;")
            after.assigned.append(set(self.assigned or ()))
        self.emit("break;")
        self.assigned = None

    def do_Continue(self, node: ast.Continue) -> None:
        """`continue`."""
        self.emit("continue;")
        self.assigned = None

    def do_Return(self, node: ast.Return) -> None:
        """`return`."""
        if self.in_foreach():
            help = "keep what is found, `first = min(first, i)`, and return it behind; or loop over `range`, in order"
            self.fail(node, "`return` cannot leave a `foreach`, whose elements all run at once", "here", help)
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            if self.returns is not None:
                help = "return a number that stands for it, such as -1 or `np.nan`"
                self.fail(node, "this returns nothing, other parts of the function a value", "here", help)
            self.emit("return;")
            self.assigned = None
            return
        if self.needs_branches(node.value) or self._chooses_record(node.value):
            return self._in_branches(node, ast.Return)
        if self.result is None and self._returns_arrays(node):
            return
        if isinstance(node.value, ast.List):
            self.refuse_list(node.value)
        value = self._without_records(node, self.expression(node.value))
        parts = value.parts if value.parts is not None else (value,)
        if self.arrays is not None:
            self.fail(node, "this returns no array, other parts of the function do", "here")
        for part in parts:
            if not isinstance(part.type, Num) or part.parts is not None:
                self.fail(node, "a kernel returns numbers", f"this is {_a(part.type)}")
            if self.uniform and not part.uniform:
                self.fail(node, "the result would differ between lanes", "this value differs from lane to lane")
        is_tuple = value.parts is not None
        parts = _annotated.converted(self, node, parts, is_tuple)
        if self.returns is not None and (len(self.returns) != len(parts) or self.returns_tuple != is_tuple):
            self.fail(
                node, f"this returns {len(parts)} values, other parts of the function {len(self.returns)}", "here"
            )
        old = self.returns or [part.type for part in parts]
        new = [join(a, part.type) for a, part in zip(old, parts)]
        for ty, part in zip(new, parts):
            if ty is None:
                self.fail(node, "this returns a bool, other parts of the function a number", f"{_a(part.type)}")
        self.returns, self.returns_tuple, self.returns_numbers = new, is_tuple, True
        self.emit(self.return_text([self.cast(part, ty, node) for part, ty in zip(parts, new)]))
        self.assigned = None

    def _chooses_record(self, node: ast.expr) -> bool:
        """Return whether an elementwise kernel returns one of two records: `p if c else q`."""
        if not isinstance(node, ast.IfExp) or self.identity is not None or (self.uniform and self.result is None):
            return False
        arms = [arm.elts if isinstance(arm, ast.Tuple) else [arm] for arm in (node.body, node.orelse)]
        found = [self.array_of(part) for arm in arms for part in arm if isinstance(part, (ast.Name, ast.Subscript))]
        return any(value is not None and value.type.ndim == 0 for value in found)

    def _without_records(self, node: ast.Return, value: Value) -> Value:
        """Give what a kernel returns with the fields of records in place of these."""
        if self.identity is not None or (self.uniform and self.result is None):
            return value
        if self.result is not None:
            records: tuple[Record | None, ...] = (self.result,)
            found, several = self._as_record(node, value, self.result), False
        else:
            parts, several = value.parts if value.parts is not None else (value,), value.parts is not None
            records = tuple(part.type.of if isinstance(part.type, Array) else None for part in parts)
            given = (
                [part] if of is None else self.numbers_of(node, part, of, "it") for part, of in zip(parts, records)
            )
            found = tuple_of(number for numbers in given for number in numbers) if any(records) else value
        before = (self.records, self.gives_several)
        if self.returns is not None and any((*records, *self.records)) and (records, several) != before:
            self.fail(node, "this returns other values than other parts of the function", "here")
        self.records, self.gives_several = records, several
        return found

    def _as_record(self, node: ast.Return, value: Value, of: Record) -> Value:
        """Give the fields of the record that is to be returned."""
        count = len(of.fields)
        what = f"the kernel returns a record of {count} field{'s' * (count > 1)}, {', '.join(n for n, _ in of.fields)}"
        if isinstance(value.type, Array) and value.parts is None:
            if value.type.of != of:
                self.fail(node, what, f"this is another record: {_a(value.type)}")
            return tuple_of(self.numbers_of(node, value, of, "the result"))
        if value.parts is None or len(value.parts) != count:
            told = "this is one value" if value.parts is None else f"these are {len(value.parts)} values"
            self.fail(node, what, told, "return a tuple with a number for each")
        given = []
        for (name, ty), part in zip(of.fields, value.parts):
            numbers = self.numbers_of(node, part, ty, f"the field `{name}` of the result")
            given.extend((name, number) for number in numbers)
        fields = []
        for (name, part), (_, ty) in zip(given, of.leaves):
            if (part.type.kind == "f" and ty.kind != "f") or (part.type == BOOL) != (ty == BOOL):
                help = f"convert it: `{'bool' if ty == BOOL else f'np.{ty}'}(…)`"
                self.fail(node, f"the field `{name}` of the result is {_a(ty)}", f"given is {_a(part.type)}", help)
            fields.append(self.cast(part, ty, node))
        return tuple_of(fields)

    def results(self) -> list[Num | Record]:
        """Give the types of the results of an elementwise kernel."""
        types, found = list(self.returns or ()), []
        for record in self.records if types else ():
            count = 1 if record is None else len(record.leaves)
            found.append(types[0] if record is None else record)
            del types[:count]
        return found

    def _returns_arrays(self, node: ast.Return) -> bool:
        """Translate a `return` with arrays in it; return whether it is one."""
        several = isinstance(node.value, (ast.Tuple, ast.List))
        nodes = list(node.value.elts) if several else [node.value]
        found = [self._returned(each) for each in nodes]
        if len(found) == 1 and found[0] is not None and found[0].parts is not None:
            # Of a function that returns several.
            several, found = True, list(found[0].parts)
            nodes *= len(found)
        returned = [value for value in found if value is not None and isinstance(value.type, Array)]
        is_element = self.identity is None and (not self.uniform or self.result is not None)
        if not returned or (is_element and all(value.type.ndim == 0 for value in returned)):
            for each, value in zip(nodes, found):
                if value is not None:
                    self.elements[id(each)] = value
            return False
        if not self.uniform and any(value.type.ndim for value in returned):
            help = "return the numbers of each element: `return x, y`; or store to an array that is passed"
            self.fail(node, "where each element runs by itself, numbers are returned", "this is an array", help)
        arrays: list[Value | None] = []
        numbers: list[Value] = []
        found = [self._as_number(each, self.expression(each)) if v is None else v for each, v in zip(nodes, found)]
        found = self._as_before(node, _annotated.converted(self, node, found, several))
        for each, value in zip(nodes, found):
            if not isinstance(value.type, Array):
                arrays.append(None)
                numbers.append(self._as_number(each, value))
                continue
            if value.type.ndim == 0:
                field = value.type.of.fields[0][0]
                help = (
                    f"return its fields: `{ast.unparse(each)}.{field}`; or annotate the kernel with its dtype, `-> …`"
                )
                self.fail(each, "a record is not returned as a whole", f"this is {_a(value.type)}", help)
            if not isinstance(value.type.of, Num):
                self.fail(each, "arrays of numbers are returned", f"this is {_a(value.type)}", "return nothing")
            root, where = self._returned_part(each, value)
            arrays.append(replace(root, parts=tuple(where)) if where else root)
            numbers += where
        shapes = tuple(v and (v.text, v.type, v.parts is None) for v in arrays)
        before = self.arrays
        if before is not None and shapes != tuple(v and (v.text, v.type, v.parts is None) for v in before):
            help = (
                "all return one that they make, of one type and shape (of one that is passed, `a.copy()`); or store to "
            )
            help += "one array, and return that at the end"
            self.fail(node, "this returns another array than other parts of the function", "here", help)
        if self.returns_numbers:
            self.fail(node, "this returns an array, other parts of the function none", "here")
        self.arrays, self.is_tuple, self.returns_tuple = tuple(arrays), several, bool(numbers)
        self.gives_arrays = True
        old = self.returns or [part.type for part in numbers]
        if len(old) != len(numbers):
            self.fail(node, "this returns other values than other parts of the function", "here")
        new = [join(a, part.type) for a, part in zip(old, numbers)]
        for ty, part in zip(new, numbers):
            if ty is None:
                self.fail(node, "this returns a bool, other parts of the function a number", f"{_a(part.type)}")
        self.returns = new
        values = [self.cast(part, ty, node) for part, ty in zip(numbers, new)]
        self.emit(self.return_text(values) if values else "return;")
        self.assigned = None
        return True

    def _returned(self, node: ast.expr) -> Value | None:
        """Give the array that is returned, or what a function gives that is called; None if it is something else."""
        listed = self.listed(node)
        if listed is not None:
            return self.brought(node, *listed)
        found = self.array_of(node)
        if found is not None and self._made(found.text) is not None:
            # An array that is a variable ends with the function.
            return self.copied(node, node)
        if found is not None:
            return found
        if not isinstance(node, ast.Name) and self.makes_elements(node):
            return self.copied(node, node)
        function = self.called(node) if isinstance(node, ast.Call) and not self.is_method(node) else None
        if function is not None and (self.takes_arrays(node, function) or gives_array(function)):
            value = self.expression(node)
            return self.keep(value) if isinstance(value.type, Num) and value.parts is None else value
        return None

    def _as_before(self, node: ast.Return, found: Any) -> list[Value]:
        """Give what is returned, in the arrays that other ways through the function return, if all are made in it.

        These take the elements, so that what is read of them is read before.
        """
        known = [array.text for array in self.arrays or () if array is not None]
        given = [value if isinstance(value.type, Array) else self.keep(value) for value in found] if known else found
        given = list(given)
        for k, (before, value) in enumerate(zip(self.arrays or (), given)):
            if before is None or before.parts is not None or before.type != value.type or before.text == value.text:
                continue
            root = self._root_of(value.text)
            is_made = self._is_made(before.text) and self._is_made(root) and root not in known
            if is_made and known.count(before.text) == 1 and not self._has_other_lengths(before, value):
                self._copy_elements(node, before, value)
                given[k] = before
        return given

    def brought(self, node: ast.expr, values: list[Value], of: Num, lengths: tuple[int, ...]) -> Value:
        """Give an array of listed numbers that outlives the function."""
        texts = [self.keep(self.cast(each, of, node)).text for each in values]
        made = self.new_array(node, of, [constant(length) for length in lengths], None)
        for k, text in enumerate(texts):
            self.emit(f"{made.text}[{k}] = {text};")
        return made

    def _returned_part(self, node: ast.expr, value: Value) -> tuple[Value, list[Value]]:
        """Give the array that is returned, and which part of it: where it begins, its lengths and steps."""
        if value.text not in self.parts and value.text not in self.views:
            return value, []
        if self.identity is not None or value.text in self.views:
            help = "return the whole array, and take the part where the function is called; or a copy, `a[1:].copy()`"
            self.fail(node, "a function in a kernel returns whole arrays", "this is a part of one", help)
        self.refuse_field(node, value)
        root, at, tests, _ = self._offset(value, [Value("0", INT, True, 0, 0, 0)] * value.type.ndim)
        begin = f"(({' && '.join(tests)}) ? {at} : {OUTSIDE})" if tests else f"({at})"
        lengths = [self.dim(value.text, axis).text for axis in range(value.type.ndim)]
        steps = [self._apart(value, axis)[0] for axis in range(value.type.ndim)]
        return replace(root, type=value.type), [
            Value(f"((int64)({text}))", INT, True) for text in (begin, *lengths, *steps)
        ]

    def return_text(self, values: list[Value]) -> str:
        """Write a return of values, which have the types of the result."""
        if not self.returns_tuple:
            return f"return {values[0].text};"
        stores = " ".join(f"r__.v{k} = {value.text};" for k, value in enumerate(values))
        return f"{{ Result__ r__; {stores} return r__; }}"

    def do_For(self, node: ast.For) -> None:
        """`for … in range(…)` and `for … in spmdvm.foreach(…)`."""
        if node.orelse and isinstance(node.iter, ast.Call) and self.is_foreach(self.called(node.iter)):
            self.fail(node.orelse[0], "nothing leaves a `foreach`, so it has no `else`", "this part", "write it behind")
        if node.orelse:
            return self._with_else(node, self._for)
        self._for(node)

    def _for(self, node: ast.For) -> None:
        is_call = isinstance(node.iter, ast.Call) and self.array_of(node.iter) is None
        what = self.called(node.iter) if is_call else None
        if what is range:
            return self.range(node)
        if self.is_foreach(what):
            return self.foreach(node)
        if not self.over_values(node):
            self.fail(
                node.iter,
                "a kernel's loops count, or go over an array or a tuple",
                "neither `range(…)`, `spmdvm.foreach(…)` nor such values",
                _instead.loop(getattr(what, "__name__", "")),
            )

    def range(self, node: ast.For) -> None:
        """`for k in range(…)`."""
        call = node.iter
        if call.keywords or not 1 <= len(call.args) <= 3:
            self.fail(call, "`range` takes one to three numbers", "here")
        if not isinstance(node.target, ast.Name):
            self.fail(node.target, "`range` gives one number", "not a name")
        args = [self.integer(arg, "`range`") for arg in call.args]
        zero, one = constant(0), constant(1)
        start, stop, step = (zero, args[0], one) if len(args) == 1 else (*args, one)[:3]
        if step.const is None:
            return self._range_by(node, start, stop, step)
        if step.const == 0:
            self.fail(call.args[2], "the step of a `range` is not zero", "here")
        up = step.const > 0
        ty = INT
        for value in (start, stop):
            if not value.type.weak:
                ty = value.type if ty == INT else join(ty, value.type)
        if ty is None or ty.is_int is False:
            self.fail(call, "the numbers of this `range` have no common type", "convert one of them")
        name = node.target.id
        low, high = (start.low, stop.high - 1) if up else (stop.low + 1, start.high)
        narrow = ty == INT and all(
            INT32[0] <= v + step.const <= INT32[1] and INT32[0] <= v <= INT32[1] for v in (low, high)
        )
        spmd = "int" if narrow else ty.spmd
        uniform = start.uniform and stop.uniform
        shape = "uniform " if uniform else ""
        cast = (lambda v: v.text) if narrow else (lambda v: self.cast(v, ty, call).text)
        bound = cast(stop)
        if stop.const is None:
            bound = self.temporary("stop")
            self.emit(f"const {shape}{spmd} {bound} = {cast(stop)};")
        counter = self.temporary(name)
        by = f"++{counter}" if step.const == 1 else f"{counter} += {literal(step.const, ty)}"
        test = "<" if up else ">"
        if not up and ty.kind == "u":
            self.fail(call, "a `range` of unsigned numbers counts upwards", "convert its start: `int(…)`")
        self.emit(f"for ({shape}{spmd} {counter} = {cast(start)}; {counter} {test} {bound}; {by}) {{")
        below = stop.equals if up else None
        value = Value(counter, ty, uniform)
        if ty == INT:
            least = self.reach(start)[0] if up else None
            most = f"({stop.most} - 1)" if up and stop.most is not None else None
            value = Value(counter, ty, uniform, low, high, below=below, least=least, most=most)
        is_known = start.const is not None and stop.const is not None
        self._counted(node, name, value, is_known and len(range(start.const, stop.const, step.const)) > 0)
        self.emit("}")

    def _range_by(self, node: ast.For, start: Value, stop: Value, step: Value) -> None:
        """Translate a `range` whose step is known at run time only; it counts in 64 bits."""
        call, name = node.iter, node.target.id
        ty: Num | None = INT
        for value in (start, stop, step):
            if not value.type.weak:
                ty = value.type if ty == INT else ty and join(ty, value.type)
        if ty is None or not ty.is_int:
            self.fail(call, "the numbers of this `range` have no common type", "convert one of them")
        up = step.low > 0 or step.type.kind == "u"
        if ty.kind == "u" and not up:
            self.fail(call, "a `range` of unsigned numbers counts upwards", "convert its start: `int(…)`")
        wide = ty if ty.bits == 64 else INT
        uniform = start.uniform and stop.uniform and step.uniform
        shape = "uniform " if uniform else ""
        names = []
        for what, value in (("stop", stop), ("step", step)):
            names.append(self.temporary(what))
            self.emit(f"const {shape}{wide.spmd} {names[-1]} = {self.cast(value, wide, call).text};")
        bound, by = names
        if step.low <= 0:
            self.demand(call, f"{by} != 0", "range() step must not be zero")
        counter = self.temporary(name)
        test = f"{counter} < {bound}" if up else f"({by} > 0 ? {counter} < {bound} : {counter} > {bound})"
        first = self.cast(start, wide, call).text
        self.program.python_variables[counter] = name
        self.emit(f"for ({shape}{wide.spmd} {counter} = {first}; {test}; {counter} += {by}) {{")
        if ty == INT:
            low, high = (
                min(start.low, start.low if up else stop.low + 1),
                max(stop.high - 1, start.low if up else start.high),
            )
            value = Value(counter, INT, uniform, low, high, below=stop.equals if up else None)
            if value.is_narrow:
                value = replace(value, text=f"((int){counter})")
        else:
            value = Value(counter if ty == wide else f"(({ty.spmd}){counter})", ty, uniform)
        self._counted(node, name, value)
        self.emit("}")

    def _counted(self, node: ast.For, name: str, value: Value, is_run: bool = False) -> None:
        """Translate the body of a loop. Its variable is the counter, unless it is used for more."""
        if self.only_counts(name):
            region = self.regions[-1]
            region.indices[name] = value
            self.program.python_variables[value.text] = name
            self._turns(node.body, is_run)
            del region.indices[name]
            return
        before = set(self.assigned or ())
        self.indent += 1
        self.assign_name(node.target, name, value)
        self.indent -= 1
        self._turns(node.body, is_run)
        if not is_run:
            self.assigned = before

    def only_counts(self, name: str) -> bool:
        """Return whether a name is that of a counter alone."""
        return _only_counts(self.source.tree, name)

    def foreach(self, node: ast.For) -> None:
        """`for i in foreach(n)`, `for i, j in foreach(h, w)`."""
        call = node.iter
        if not self.uniform:
            self.fail(
                node,
                "`foreach` stands in array kernels",
                "this kernel is called for each element already",
                "give it array parameters, or use `range`",
            )
        if self.in_foreach():
            self.fail(
                node, "a `foreach` cannot stand in another one", "here", "put both ranges into one: `foreach(h, w)`"
            )
        targets = list(node.target.elts) if isinstance(node.target, ast.Tuple) else [node.target]
        call = self.spread_out(call)
        if call.keywords or len(targets) != len(call.args) or not 1 <= len(targets) <= 8:
            pair = len(targets) == 1 and len(call.args) == 2
            help = (
                f"from {ast.unparse(call.args[0])} on: `foreach(({ast.unparse(call).split('(', 1)[1]})`"
                if pair
                else None
            )
            self.fail(call, f"{len(targets)} names for {len(call.args)} ranges", "one range for each name", help)
        names = []
        for target in targets:
            if not isinstance(target, ast.Name):
                self.fail(target, "`foreach` gives indices", "not a name")
            if target.id in self.regions[0].names and target.id in self.regions[0].variables:
                self.fail(target, f"`{target.id}` is a variable of the code around", "use another name")
            names.append(target.id)
        stored, outer = _assigned(node.body, into_foreach=True), self.regions[0].names
        region = Region(id(node), False, stored - outer, summed=stored & outer)
        ranges = []
        for name, arg in zip(names, call.args):
            start, stop = self._bounds(arg)
            spmd = _spmd_name(name)
            ranges.append(f"{spmd} = {start.text} ... {stop.text}")
            low, high = max(start.low, INT32[0]), min(stop.high - 1, LONGEST)
            known = {"below": stop.equals, "apart": frozenset([name]), "least": self.reach(start)[0]}
            # Of a stop that is no sum.
            known["most"] = None if stop.most is None else f"({stop.most} - 1)"
            region.indices[name] = Value(spmd, INT, False, low, high, **known)
            self.program.python_variables[spmd] = name
        declared = len(self.lines)
        outer = self.assigned
        self.emit(f"foreach ({', '.join(ranges)}) {{")
        self.regions.append(region)
        self.loops.append("foreach")
        self.indent += 1
        region.indent = self.indent
        start, at = len(self.lines), self.at
        self.assigned = set(outer or ())
        self.block(node.body)
        self.at = at
        self._declare(region, start)
        self.indent -= 1
        self.loops.pop()
        self.regions.pop()
        self.emit("}")
        self.assigned = outer
        self._join(region, declared)

    def enter_foreach(self, node: ast.stmt) -> None:
        """Begin the body of a loop over elements that a statement is."""
        self.regions.append(Region(id(node), False, set()))
        self.loops.append("foreach")
        self.indent += 1

    def leave_foreach(self) -> None:
        """End it."""
        self.indent -= 1
        self.loops.pop()
        self.regions.pop()

    def _join(self, region: Region, at: int) -> None:
        """Declare the sums of a `foreach` in front of it, and add up lanes behind it."""
        for name, reduction in region.reductions.items():
            variable = self.regions[0].variables[name]
            ty, partial, total = variable.type, reduction.partial, variable.text
            start = literal(0, ty) if reduction.how == "+" else total
            self.lines.insert(at, ("    " * self.indent + f"varying {ty.spmd} {partial} = {start};", self.at))
            if reduction.how == "+":
                self.emit(f"{total} = {total} + {self.sum_of_lanes(partial, ty)};")
            else:
                self.emit(f"{total} = ({ty.spmd})reduce_{reduction.how}({partial});")

    def _bounds(self, arg: ast.expr) -> tuple[Value, Value]:
        """Give the bounds of a range of `foreach`, as 32-bit numbers."""
        parts = arg.elts if isinstance(arg, ast.Tuple) else [ast.copy_location(ast.Constant(0), arg), arg]
        if len(parts) != 2:
            help = "of every second one: `for k in foreach(n // 2)`, with `i = 2 * k`" if len(parts) == 3 else None
            self.fail(arg, "a range of `foreach` is a number, or a start and a stop", "here", help)
        if isinstance(arg, ast.Name) and self.array_of(arg) is not None:
            help = f"write `foreach(len({arg.id}))`, and `{arg.id}[i]` within; in order, `for v in {arg.id}`"
            self.fail(arg, "a range of `foreach` is a number, or a start and a stop", "an array", help)
        start, stop = (self.integer(part, "`foreach`") for part in parts)
        return self._small(start), self._small(stop)

    def _small(self, value: Value) -> Value:
        """Give a bound of `foreach`, of which it is tested that it is one."""
        if value.is_narrow:
            return value
        kept = self.keep(value)
        text = kept.text
        tests = [f"{text} <= {LONGEST}"] if value.type.kind == "u" or value.low >= 0 else []
        if value.type.kind == "i" and value.type.bits > 32 and value.low < 0:
            tests = [f"{text} >= {INT32[0] + 1}", f"{text} <= {LONGEST}"]
        if tests and value.type.bits >= 32:
            self.demand(None, " && ".join(tests), f"`foreach` counts from {INT32[0] + 1} to {LONGEST}")
        known = {"equals": value.equals, "least": value.least, "most": value.most}
        return Value(f"(int){text}", INT, value.uniform, max(value.low, INT32[0]), LONGEST, **known)

    def do_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Note a function within the function; it is translated where it is called."""
        if node.decorator_list:
            self.fail(node.decorator_list[0], "functions in a kernel have no decorators", "here")
        other = self.local_functions.get(node.name)
        if (other is not None and getattr(other, "tree", None) is not node) or self.counts.get(node.name):
            help = "give each a name of its own, and choose where they are called: `f(x) if … else g(x)`"
            self.fail(node, f"`{node.name}` is a function here and something else in another place", "here", help)
        self.local_functions[node.name] = Local(self.scope.inner(node), self.lookup_inner)
        if self.assigned is not None:
            self.assigned.add(node.name)

    # Functions that are called.

    def instance(
        self,
        node: Any,
        source: Source,
        lookup: Any,
        given: Arguments,
        name: str,
        key: Any,
        scope: Scope | None = None,
    ) -> Result:
        """Translate a function for arguments of given types, once."""
        names, args = given.names, given.values
        # A number that is the same in all lanes is so in the function too, which may loop and branch by it.
        lanes = tuple(isinstance(arg.type, Array) and not arg.uniform for arg in args)
        uniform = tuple(
            self.begins_uniform(arg) if own else arg.uniform and self.begins_uniform(arg)
            for arg, own in zip(args, lanes)
        )
        plain = all(uniform) and not any(lanes) and self.is_uniform_here()
        types = tuple(INT if arg.type == INT else arg.type for arg in args)
        views = tuple(self.view_of(arg) for arg in args)
        many = sum(other[0] == key for other in self.program.instances) >= _MOST_INSTANCES
        # Of a function that calls itself less would be known each time.
        again = many or any(other[0] == key for other in self.program.active)
        dims = [self._symbols(arg, again) for arg in args]
        own = set(given.captured.values())
        symbols = {symbol for lengths in dims for symbol in lengths}
        known = tuple(None if again and name not in own else _known(arg, symbols) for name, arg in zip(names, args))
        indices = self._apart_indices()
        functions = tuple((name, id(getattr(function, "tree", function))) for name, function in given.functions.items())
        hosts = tuple(
            arg.host if isinstance(arg.type, Num) and not (again and name not in own) else None
            for name, arg in zip(names, args)
        )
        passed = tuple(arg.passed if host is not None else None for arg, host in zip(args, hosts))
        self.program.passed.extend(given.functions.values())
        identity = (key, types, plain, uniform, views, lanes, tuple(dims), tuple(given.tuples.items()), functions)
        identity = (*identity, known, indices, hosts, passed)
        active = self.program.active.get(identity)
        if active is not None:
            active.calls_itself = True
            result = active.body.result_so_far(active.name, node)
        elif identity in self.program.instances:
            result = self.program.instances[identity]
        else:
            if len(self.program.active) >= _MOST_ACTIVE:
                self.fail(node, f"`{name}` calls itself with other types each time", "here", "convert its arguments")
            params = [Param(*param) for param in zip(names, types, uniform, views, lanes, known, hosts, passed)]
            body = Body(self.program, source, params, lookup, plain, scope, given.functions, given.captured)
            body.tuples, body.outer_indices = given.tuples, indices
            own = self.program.name(_spmd_name(name))
            for name_of, symbols in zip(names, dims):
                for k, symbol in enumerate(symbols):
                    length = f"{body.param_text(name_of)}__n{k}"
                    body.dims[length] = f"{own}.{length}" if symbol is None else symbol
            self.program.python_names[own] = name
            result = self._translated(identity, body, own, node)
        given.narrow = {name for name, of in zip(names, known) if of is not None}
        for at in result.stored:
            self.refuse_to_store(node, args[at])
            self.stored.update({p.name for p in self.params} & {self._name_of(args[at])})
        self.refuse_changes(given.nodes, {self._name_of(args[at]) for at in result.stored})
        return result

    def _symbols(self, arg: Value, again: bool) -> tuple[str | None, ...]:
        """Give what stands for the lengths of an array that is passed; nothing for lengths that a part alone has.

        Nor for lengths that are computed, if the function is called `again` and again, each time with others.
        """
        if not isinstance(arg.type, Array):
            return ()
        if arg.text not in self.parts and (made := self._made(arg.text)) is not None:
            return tuple(_length_symbol(length) for length in made.shape)
        lengths = [f"{arg.text}__n{k}" for k in range(arg.type.ndim)]
        symbols = (self.dims.get(length, None if arg.text in self.parts else length) for length in lengths)
        is_part = arg.text in self.parts
        return tuple(None if again and is_part and symbol and symbol[0] == "=" else symbol for symbol in symbols)

    def _translated(self, identity: Any, body: Body, name: str, node: Any) -> Result:
        """Translate a function that is called, and add it to the program."""
        body.identity = identity
        active = self.program.active[identity] = Active(body, name)
        try:
            body.translate()
        finally:
            del self.program.active[identity]
        others = {key: call for key, call in body.unknown.items() if key != identity}
        if others and body.returns is None and body.gives_value():
            raise Unknown(next(iter(others)), node)
        self.unknown.update(dict.fromkeys(others, node))
        result = body.write_static(name, active.calls_itself)
        result.stored = body.stored_places()
        result.hidden, result.arrays = body.hidden, body.arrays
        result.texts = [body.param_text(param.name) for param in body.params]
        if self.program.inlines and not active.calls_itself:
            result.inline = inline_of(body, self.program.python_names.get(name, name))
        if active.calls_itself and (body.hidden or body.arrays is not None):
            self._refuse_arrays(name, node)
        if body.arrays is not None:
            result.is_tuple = body.is_tuple
        self.program.instances[identity] = result
        return result

    def _refuse_arrays(self, name: str, node: Any) -> NoReturn:
        help = "pass it an array to store to; or make arrays of constant lengths, `np.zeros(64)`"
        name = self.program.python_names.get(name, name)
        self.fail(node, f"`{name}` calls itself, and makes or returns an array", "here", help)

    def stored_places(self) -> set[int]:
        """Give the parameters, by position, that are arrays it stores to."""
        return {at for at, param in enumerate(self.params) if param.name in self.stored}

    def gives_value(self) -> bool:
        """Return whether some `return` of the function has a value."""
        return any(isinstance(n, ast.Return) and not is_nothing(n.value) for n in own_nodes(self.source.tree.body))

    def result_so_far(self, name: str, node: Any) -> Result:
        """Give what is known of the result while the function is translated; `node` is a call of itself."""
        annotated = getattr(self.source.tree, "returns", None)
        if self.gives_arrays or self.hidden:
            self._refuse_arrays(name, node)
        if self.returns is None and self.gives_value():
            told = None if annotated is None else _annotated.told(self)
            types = told if isinstance(told, tuple) else (told,)
            if not all(isinstance(ty, Num) for ty in types):
                raise Unknown(self.identity, node)
            self.returns, self.returns_tuple = list(types), isinstance(told, tuple)
        return Result(name, self.returns, self.returns_tuple, self.uniform, self.stored_places())

    def write_static(self, name: str, calls_itself: bool = False) -> Result:
        """Add the function to the program, for others in it; in front of them what it is, if they call each other."""
        types = self.returns
        shape = "uniform " if self.uniform else ""
        head = "void"
        lines: list[tuple[str, Line]] = []
        at = self.source.line(self.source.tree) if self.source.is_told else None
        body = self.lines if self.source.is_told else [(line, None) for line, _ in self.lines]
        first = []
        if types and self.returns_tuple:
            fields = " ".join(f"{ty.spmd} v{k};" for k, ty in enumerate(types))
            first.append((f"struct {name}_result {{ {fields} }};", at))
            head = f"{shape}{name}_result"
        elif types:
            head = f"{shape}{types[0].spmd}"
        signature = f"{head} {name}({', '.join(self.param_list())})"
        if calls_itself:
            self.program.heads.append([*first, (f"static {signature};", at)])
        else:
            lines.extend(first)
        lines.append((f"static {'' if calls_itself else 'inline '}{signature} {{", at))
        own = f"{shape}{name}_result"
        lines.extend((line.replace("Result__", own), place) for line, place in body)
        lines.append(("}", at))
        self.program.functions.append(lines)
        return Result(name, types, self.returns_tuple, self.uniform)

    def param_list(self, made: bool = True) -> list[str]:
        """Write the parameters, with those of the arrays that the host brings."""
        found = []
        for param in self.params:
            text = self.param_text(param.name)
            if isinstance(param.type, Array):
                constant_ = "" if param.name in self.stored else "const "
                of = param.type.of
                element = self.program.record(of) if isinstance(of, Record) else of.spmd
                found.append(f"{constant_}{'' if param.lanes else 'uniform '}{element} {text}[]")
                found.extend(f"uniform int {text}__n{k}" for k in range(param.type.ndim))
                if param.view is not None:
                    offset = "int64" if self.program.wide else "int"
                    found.append(f"{'uniform ' if param.uniform else ''}{offset} {text}__at")
                    apart = (k for k, step in enumerate(param.view) if step is None)
                    found.extend(f"uniform {offset} {text}__s{k}" for k in apart)
            else:
                spmd = param.type.spmd if param.known is None else "int"
                found.append(f"{'uniform ' if param.uniform else ''}{spmd} {text}")
        for array in self.hidden if made else ():
            found.append(f"uniform {array.of.spmd} {array.text}[]")
            found.extend(f"uniform int {array.text}__n{axis}" for axis in range(len(array.hosts)))
        return found


def region_parts(regions: list[Region]) -> list[tuple[str, Value]]:
    """Give the names of arrays and parts of arrays, with what they stand for."""
    return [pair for region in regions for pair in region.parts.items()]


def _known(arg: Value, symbols: set[str | None]) -> Known | None:
    """Give what is known of an argument that is an integer of 32 bits, beside lengths with symbols; None of others."""
    if arg.parts is not None or not arg.is_narrow:
        return None
    # Other symbols may be of this function only.
    below, equals = (at if at and (at[0] in symbols or _length_of(at[0])) else None for at in (arg.below, arg.equals))
    return Known(arg.low, arg.high, below, equals, arg.apart)


def _spmd_name(name: str) -> str:
    """Give the SPMD name of a variable: no keyword, no function of the library and no parameter."""
    name = name.replace("[", "__").replace("]", "_").replace(".", "__").strip("<>")
    return f"v_{name}" if name.isascii() else "v_" + "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)


def _length_symbol(length: int) -> str:
    """Give what stands for a constant length: arrays of as many elements have one length."""
    return f"{length} elements"


def _length_of(symbol: str) -> int | None:
    """Give the constant length that a symbol stands for; None if it is known at run time only."""
    count, _, what = symbol.partition(" ")
    return int(count) if what == "elements" else None


def _a(ty: Any) -> str:
    if isinstance(ty, Array):
        return f"an array ({ty})" if ty.ndim else f"a record ({ty})"
    name = str(ty)
    return f"an `{name}`" if name[0] in "aeiou" and not name.startswith("uint") else f"a `{name}`"


def _outside_of(tree: Any, lookup: Any) -> Any:
    """Give what finds names from outside, of which a variable of the function is none, whatever is there."""
    own = {
        node.id
        for node in own_nodes(getattr(tree, "body", ()) if isinstance(tree, ast.FunctionDef) else ())
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }

    def look(name: str) -> Any:
        if name in own:
            raise KeyError(name)
        return lookup(name)

    look.names = lambda: _functions.names_of(lookup)  # type: ignore[attr-defined]
    return look if own else lookup


def _assigned(statements: list[ast.stmt], into_foreach: bool) -> set[str]:
    """Give the names that statements assign; not those in `foreach` loops, unless asked for."""
    names: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        if isinstance(node, ast.For) and looks_like_foreach(node) and not into_foreach:
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    for statement in statements:
        visit(statement)
    return names


def looks_like_foreach(node: ast.For) -> bool:
    """Return whether a loop is over a call of `foreach`, under whatever name."""
    call = node.iter
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute):
        return call.func.attr == "foreach"
    return getattr(call.func, "id", "") not in ("range", "enumerate", "zip")


def _assignments(statements: list[ast.stmt]) -> dict[str, int]:
    """Count how often each name is assigned in the text of a function."""
    counts: dict[str, int] = {}
    for node in own_nodes(statements):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def _changes(node: ast.AST) -> bool:
    """Return whether a statement is `a += …` of a name."""
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _only_counts(tree: ast.AST, name: str) -> bool:
    """Return whether a name is assigned by loops alone, none in another one, and read in them alone."""
    inside: set[int] = set()
    targets: set[int] = set()
    for loop in _nodes_where(tree, name):
        target = _target_in(loop, name)
        if target is not None:
            targets.add(id(target))
            # (Operators and contexts are shared by all nodes.)
            body = {id(node) for statement in loop.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
            if inside & body:
                return False
            inside |= body
    if targets & inside:
        return False
    names = [node for node in _nodes_where(tree, name) if isinstance(node, ast.Name) and node.id == name]
    return all(id(node) in (inside if isinstance(node.ctx, ast.Load) else targets) for node in names)


def _nodes_where(tree: ast.AST, name: str) -> Any:
    """Give the nodes of a function, without the functions in it that have a variable of their own of a name."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, ast.FunctionDef) or name not in Scope(child).bound:
            yield from _nodes_where(child, name)


def _target_in(loop: ast.AST, name: str) -> ast.Name | None:
    """Give what a loop assigns to, if that has a name."""
    found = ast.walk(loop.target) if isinstance(loop, ast.For) else ()
    return next((node for node in found if isinstance(node, ast.Name) and node.id == name), None)


def _leaves(statements: list[ast.stmt]) -> bool:
    """Return whether a `break` leaves the loop with this body."""
    for statement in statements:
        if isinstance(statement, ast.Break):
            return True
        if isinstance(statement, ast.If) and (_leaves(statement.body) or _leaves(statement.orelse)):
            return True
        if isinstance(statement, (ast.For, ast.While)) and _leaves(statement.orelse):
            return True
    return False


def _is_same(part: ast.AST, target: ast.expr) -> bool:
    """Return whether an element that is read is the one that is assigned."""
    elements = (ast.Subscript, ast.Attribute)
    return isinstance(part, elements) and isinstance(target, elements) and ast.dump(part) == ast.dump(_as_load(target))


def _array_of(target: ast.expr) -> ast.Name | None:
    """Give the name of the array of an element, or of a field of one."""
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        target = target.value
    return target if isinstance(target, ast.Name) else None


def _indices_in(target: ast.expr) -> list[ast.expr]:
    """Give all indices of an element, or of a field of one."""
    found: list[ast.expr] = []
    while isinstance(target, (ast.Subscript, ast.Attribute)):
        if isinstance(target, ast.Subscript):
            parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
            found += [part for part in parts if not isinstance(part, (ast.Slice, ast.Constant))]
        target = target.value
    return found


def _as_load(target: ast.expr) -> ast.expr:
    copy = type(target)(**{name: getattr(target, name) for name in target._fields if name != "ctx"}, ctx=ast.Load())
    return ast.copy_location(copy, target)


_UNSUPPORTED = {
    "With": (
        "`with`",
        "write what stands in it alone: floats give inf and nan without a warning; Python stands around the call",
    ),
    "Try": ("`try`", "kernels cannot catch errors; test before"),
    "Delete": ("`del`", "variables end with the function"),
    "Global": ("`global`", "pass what changes as an array"),
    "Nonlocal": (
        "`nonlocal`",
        "return the new value, `n = f(n)`; or keep it in an array, `n = np.zeros(1, np.int64)`, with `n[0] += 1`",
    ),
    "Import": ("`import`", "import outside of the kernel"),
    "ImportFrom": ("`import`", "import outside of the kernel"),
    "ClassDef": ("`class`", "use structured arrays"),
    "AsyncFunctionDef": ("`async`", None),
    "AsyncFor": ("`async`", "write `for`"),
    "AsyncWith": ("`async`", None),
    "Match": ("`match`", "use `if` and `elif`"),
    "TryStar": ("`try`", "kernels cannot catch errors; test before"),
}
