"""What compilers and machines say of an instance of a kernel, at lines of Python."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._errors import CompileError, Overflow, Trap, raised
from ._inline import Inside
from ._nones import UNSET
from ._source import TOO_DEEP, Line, excerpt
from ._support import FUNCTIONS
from ._types import COMPLEX, FLOAT, INT, Num
from ._values import OUTSIDE, Form, Maybe

# The name of the exported function.
ENTRY = "entry__"
# The functions around the one for an element, where the program has the loop: they are not the user's.
LOOP, TASK = "loop__", "task__"
# What the machine says of a `raise`.
RAISED = "raise"
# The greatest index that traps tell.
_GREATEST = 2**63 - 1


class Told(NamedTuple):
    """A value in a text that the program hands out before it fails.

    Attributes:
        name: what stands for it in the text.
        form: how it is made of numbers, if it is a tuple.
        types: those of its numbers; `bool` of one of Python's.
        written: what is computed.
    """

    name: str
    form: Form | None
    types: tuple[Num | type, ...]
    written: str

    def of(self, handed: Iterator[Any]) -> Any:
        """Make it of the numbers that are handed out."""
        return _made(self.form, iter([_number(ty, handed) for ty in self.types]))


class _Unknown:
    """What stands in a text for a value that is not known."""

    def __init__(self, told: Told) -> None:
        self.told = told

    def __repr__(self) -> str:
        return f"{{{self.told.written}}}"

    def __format__(self, _: str) -> str:
        return repr(self)


@dataclass(frozen=True, eq=False)
class Said:
    """What is said by an `assert` whose text is an f-string, or by a `raise`.

    Attributes:
        condition: what was asserted.
        text: the f-string, of numbers that the kernel is called with.
        outside: the constants that names in it stand for.
        error: what is raised.
        told: what the program hands out for the text.
    """

    condition: str
    text: ast.JoinedStr
    outside: dict[str, Any]
    error: type[Exception] | None = None
    told: tuple[Told, ...] = ()

    def of(self, numbers: dict[str, Any], handed: list[Any] | None = None) -> str:
        """Give it for these numbers, and what was handed out; where they are not known, with their names."""
        given = None if handed is None else iter(handed)
        told = {value.name: _Unknown(value) if given is None else value.of(given) for value in self.told}
        numbers = {**numbers, **told}
        try:
            text = self._text(self.text, numbers)
        except Exception:
            text = "".join(self._piece(piece, numbers) for piece in self.text.values)
        return f"{self.condition} ({text})" if self.condition else text

    def _text(self, node: ast.JoinedStr, numbers: dict[str, Any]) -> str:
        tree = ast.fix_missing_locations(ast.Expression(node))
        # A name from outside may be that of a parameter of another function.
        return str(eval(compile(tree, "<assert>", "eval"), {**numbers, **self.outside}))

    def _piece(self, piece: ast.expr, numbers: dict[str, Any]) -> str:
        try:
            return self._text(ast.JoinedStr([piece]), numbers)
        except Exception:
            return f"{{{ast.unparse(piece.value)}}}"

    def _key(self) -> tuple[Any, ...]:
        return self.condition, ast.dump(self.text), repr(self.outside), self.error, self.told

    def __eq__(self, other: object) -> bool:
        """Return whether they say the same."""
        return isinstance(other, Said) and self._key() == other._key()

    def __hash__(self) -> int:
        """Give a number for what is said."""
        return hash(self._key())


def _number(ty: Num | type, handed: Iterator[Any]) -> Any:
    """Give a number as Python has it of what was handed out."""
    found = next(handed)
    if not isinstance(ty, Num):
        return bool(found)
    if ty.kind == "c":
        found = complex(found, next(handed))
    return {INT: int, FLOAT: float, COMPLEX: complex}.get(ty, ty.dtype.type)(found)


def _made(form: Form | None, numbers: Iterator[Any]) -> Any:
    if form is None:
        return next(numbers)
    parts = [_made(part, numbers) for part in form.parts]
    if isinstance(form.of, Maybe):
        return None if parts[0] else parts[1]
    return form.of(*parts) if isinstance(form.of, type) else tuple(parts)


def python_place(instance: Any, line: int | None) -> Line | None:
    return instance.places[line - 1] if line is not None and 0 < line <= len(instance.places) else None


def with_python_lines(text: str, instance: Any, name: str) -> str:
    """Name lines of Python instead of those of the SPMD text."""

    def named(found: re.Match[str]) -> str:
        place = python_place(instance, int(found[1]))
        return found[0] if place is None else f"{place.file}:{place.number}"

    text = re.sub(rf"<kernel {re.escape(name)}>:(\d+)(?::\d+)?", named, text)
    # Calls over arrays have a loop of their own around the function.
    return re.sub(r"`(\w+)(?:\$map)?`", lambda found: f"`{instance.names.get(found[1], found[1])}`", text)


def name_python_line(found: dict[str, Any], instance: Any) -> None:
    """Have a record of the engine tell the line and function of Python."""
    place = python_place(instance, found.get("line"))
    if place is not None:
        found["line"] = place.number
        if "file" in found:
            found["file"] = place.file
    if found.get("aborted_line"):
        aborted = python_place(instance, found["aborted_line"])
        found["aborted_line"] = aborted.number if aborted else None
    if isinstance(place, Inside) and "function" in found:
        found["function"] = place.function
    elif "function" in found:
        function = found["function"].removesuffix("$map")
        found["function"] = instance.names.get(function, found["function"])


def _line_excerpt(place: Line, note: str, columns: tuple[int, int] | None = None) -> str:
    text = place.text.rstrip("\n").expandtabs(4)
    column, end = columns or (len(text) - len(text.lstrip()) + 1, len(text) + 1)
    return excerpt(place, column, end, note)


def in_python(
    trap: Trap,
    instance: Any,
    shapes: dict[str, tuple[int, ...]],
    numbers: dict[str, Any] | None = None,
    handed: list[Any] | None = None,
) -> Trap:
    """Make a trap tell lines of Python.

    Args:
        trap: what the machine raised.
        instance: what was called.
        shapes: those of the arrays that the kernel was given, by parameter.
        numbers: what it was given besides, by parameter. (Those of the element that failed are the trap's.)
        handed: what the program has handed out for the text of what it raises, if that is known.
    """
    places = [python_place(instance, frame.line) for frame in trap.stack]
    head = str(trap.args[0] if trap.args else trap).split("\n", 1)[0]
    # Functions that give an operator its meaning have no line: the trap is in who uses them.
    inner, at = next(((frame.function, at) for frame, at in zip(trap.stack, places) if at), (ENTRY, None))
    own = at.function if isinstance(at, Inside) else instance.names.get(inner, inner)
    first = trap.stack[0].function if trap.stack and places[0] is None else ""
    called = {**dict.fromkeys((*FUNCTIONS, first), own), **instance.names, inner: own}
    if at is not None and f"{called[first]}(" not in at.text:
        # As `math.factorial(n)` is told, and what `a[order]` becomes is not.
        called[first] = own
    # Tasks of one call are no concern of the caller.
    head = re.sub(rf" \(task \d+ of `{TASK}`\)", "", head)
    head = re.sub(r"`([^`]+)`", lambda found: f"`{called.get(found[1], found[1])}`", head)
    place = next((place for place in places if place), None)
    innermost = trap.stack[0].function if trap.stack else ""
    overflow, none = instance.overflows.get(innermost), instance.nones.get(innermost)
    new = type(trap)("") if overflow is None else Overflow("")
    new.__dict__.update(trap.__dict__)
    if any(frame.function == TASK for frame in trap.stack):
        new.task = None
    help: str | None = None
    columns: tuple[int, int] | None = None
    found = re.fullmatch(r"(.*assertion failed: )(.*?)( \(lane \d+\))?( in `[^`]*`)?", head)
    if overflow is not None:
        new.kind = "overflow"
        lane = re.search(r" \(lane \d+\)", head)
        head = f"{overflow}{lane[0] if lane else ''} in `{own}`"
        help = "convert the number that it meets, `np.int64(x)`, or store to an array of a wider type"
    elif none is not None and found is not None:
        # As in Python, it is no number.
        is_unset = none.endswith(UNSET)
        new = raised(UnboundLocalError if is_unset else TypeError, (), {**new.__dict__, "kind": "raised"})
        variable = none.removesuffix(UNSET).removesuffix(" is None")
        head = f"`{variable}` {'has no value here' if is_unset else 'is None'}{found[3] or ''} in `{own}`"
        help = f"assign `{variable}` before" if is_unset else f"ask before: `if {variable} is not None:`"
    elif place is not None and trap.kind == "assertion" and found is not None:
        line = (place.file, place.number)
        if (*line, found[2]) in instance.advice:
            # It is not one of the user's.
            columns, help = instance.advice[(*line, found[2])]
        elif line in instance.assertions and places[0] is not None:
            which = re.fullmatch(rf"(?:assert|{RAISED}) (\d+)", found[2])
            told = instance.assertions[line][int(which[1]) if which else 0]
            before, error = found[1], None
            if isinstance(told, Said):
                of_element = {instance.variables.get(name, name): x for name, x in (trap.arguments or {}).items()}
                error, told = told.error, told.of({**(numbers or {}), **of_element}, handed)
            if error is not None:
                new = raised(error, (), {**new.__dict__, "kind": "raised"})
                before, told = "", told or error.__name__
            head = f"{before}{told}{found[3] or ''}{found[4] or ''}"
    elif trap.kind == "out_of_bounds" and trap.index is not None:
        # The machine names the array that was passed, also in functions.
        name = instance.variables.get(trap.array, trap.array)
        shape = instance.outside.get(trap.array) or shapes.get(name)
        said = _outside(trap.index, shape)
        head = head.replace(f"`{trap.array}`", f"`{name}`")
        if said is not None:
            new.index = None
            if shape is not None and len(shape) > 1:
                name += f"`, whose shape is {shape}"
            told = r"(read|write) (?:of|to) index -?\d+ of `\w+`, which has \d+ elements"
            head = re.sub(told, rf"\1 {said} `{name}`", head)
            # The memory that a program asks for is that of a list.
            told = r"(read|write) (?:of|to) index -?\d+ of an allocation, which has \d+ elements"
            head = re.sub(told, r"\1 outside of a list", head)
            head = head.replace(")`", ")")
        elif trap.index < 0:
            help = f"indices count from the end only where they are constants; write `len({name}) - …`"
        elif trap.index == _GREATEST:
            # Unsigned ones may be greater, which the machine does not tell apart.
            new.index = None
            head = head.replace(f"index {trap.index} ", f"an index of {trap.index} or more ")
    if place is not None:
        head += f"\n{_line_excerpt(place, new.kind.replace('_', ' '), columns)}"
        head += f"\n  help: {help}" if help else ""
    new.args = (head,)
    stack = []
    around = (LOOP, TASK, ENTRY) if any(frame.function == LOOP for frame in trap.stack) else ()
    for frame, at in zip(trap.stack, places):
        if (at is None and place is not None) or frame.function in around:
            # A function that gives an operator its meaning, or that calls the kernel for each element.
            continue
        function = instance.names.get(frame.function, frame.function)
        while isinstance(at, Inside):
            # As if it had been called.
            stack.append(frame._replace(function=at.function, file=at.file, line=at.number, column=None))
            at = at.caller
        stack.append(frame._replace(function=function, file=at and at.file, line=at and at.number, column=None))
    new.stack = tuple(stack)
    new.file, new.line, new.column = (place.file, place.number, None) if place else (None, None, None)
    return new


def _outside(index: int, shape: tuple[int, ...] | None) -> str | None:
    """Say which element it was, if the index is not the one in Python but an offset; None if it is."""
    if index <= OUTSIDE // 2:
        # What stands for an offset where one of the indices, or the place in a part, is outside.
        return "outside of a part of" if shape is not None and len(shape) == 1 else "outside of"
    if shape is None or len(shape) < 2 or index < 0:
        return None
    # All but the first index are inside.
    row, inner = divmod(index, math.prod(shape[1:]) or 1)
    return f"of index {(row, *map(int, np.unravel_index(inner, shape[1:])))} of"


def compile_error(error: CompileError, instance: Any, name: str) -> CompileError:
    """Tell the line of Python at which the SPMD text does not compile."""
    first = next((found for found in error.diagnostics if found.severity == "error"), None)
    place = python_place(instance, first.line) if first else None
    if place is None:
        return error
    head = f"error[{first.code}]: {first.message}, in the kernel `{name}`"
    note = first.labels[0].text if first.labels and first.labels[0].text else "here"
    help = f"\n  help: {TOO_DEEP}" if first.code == "E0108" else ""
    return CompileError(f"{head}\n{_line_excerpt(place, note)}{help}", error.diagnostics)
