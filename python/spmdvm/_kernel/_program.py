"""The SPMD text of one instance, and what is known of the functions in it: what they take, and what they give."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from . import _complex, _random, _support
from ._arrays import Made
from ._asked_types import but_for_others
from ._decided import decided
from ._inline import Inline
from ._ints import Overflow
from ._places import Said
from ._source import Line, Source
from ._types import Num, Record, Rows, Type
from ._values import Form, Value

# Where lines of the text call functions.
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
        self._tests: dict[tuple[Overflow | str, str], str] = {}
        # The variables that may have no value where they are read, by the functions that have them.
        self.unset: dict[Any, frozenset[str]] = {}
        # The last one that was refused as it is not among them, with its function.
        self.refused: tuple[Any, str] | None = None
        # What is told by the functions that test whether a variable is None.
        self.nones: dict[str, str] = {}
        # Whether some function has.
        self.has_inlined = False
        # Whether the host brings memory for arrays when it is called.
        self.brings_memory = False
        self.support: dict[str, str] = {}
        # The declarations of functions of the host that take the values of what is raised, by their names.
        self.tells: dict[str, str] = {}
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
        # Functions without what is decided, by their trees and what their parameters are; with the whole ones.
        self._decided: dict[Any, tuple[Source, Source]] = {}
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
        # Whether functions ask for memory for lists.
        self.has_lists = False
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

    def decided(self, source: Source, given: dict[str, Any], lookup: Any) -> Source:
        """Give a function for parameters of which some are None or texts, without what is decided by that: once."""
        given = but_for_others(given, source.tree)
        key = (id(source.tree), tuple(given.items()))
        if key not in self._decided:
            unset = self.unset.get(source.identity, frozenset())
            self._decided[key] = (source, decided(source.with_unset(unset), given, lookup, unset))
        return self._decided[key][1]

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

    def none_test(self, what: str, how: str) -> str:
        """Give the name of the function that tests in some way whether a variable is None, of which `what` is told."""
        known = self._tests.setdefault((what, how), f"py_some_{len(self._tests)}")
        self.nones[known] = what
        return known

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
        for helper in (*self.support.values(), *self.tells.values()):
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


class Known(NamedTuple):
    """What is known of an integer, as of `Value`."""

    low: int
    high: int
    below: tuple[str, int] | None
    equals: tuple[str, int] | None
    apart: frozenset[str]


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
    # The parameters, by position, that are arrays of which it returns copies where Python returns them.
    copied: set[int] = field(default_factory=set)
    # How it becomes part of its callers, if it does.
    inline: Inline | None = None
    # How what it returns is made of values, if that is a tuple.
    form: Form | None = None
    # What it knows of the lists and dicts that it is given and may change, by their parameters.
    given: dict[str, Any] = field(default_factory=dict)


class Active:
    """A function that is being translated."""

    def __init__(self, body: Any, name: str) -> None:
        self.body, self.name = body, name
        self.calls_itself = False


class Unknown(Exception):
    """The result of a function that is being translated has no type yet; what needs it is left out in this pass."""

    def __init__(self, identity: Any, node: Any) -> None:
        super().__init__()
        self.identity, self.node = identity, node
