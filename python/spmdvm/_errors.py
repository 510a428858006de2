"""The exceptions of spmdvm and the records they carry.

    SpmdError
    ├── CompileError                       the program does not compile
    │   └── LinkError                      its sources are no program together, or a function that is called is missing
    └── Trap                               the program failed while it ran
        ├── OutOfBounds (IndexError)       an index outside of its array
        ├── BadPointer (IndexError)        a null or dangling pointer, or a call through a bad function value
        ├── ReadOnly (ValueError)          a write to a constant or a read-only array
        ├── UnboundExtern (NameError)      an `extern` variable that was not supplied (`module.globals`)
        ├── DivisionByZero (ZeroDivisionError)
        ├── AssertionFailed (AssertionError)
        ├── Overflow (OverflowError)       a Python int does not fit in the type of numpy's that a kernel uses it as
        ├── Aborted (RuntimeError)         the program called abort()
        ├── StackOverflow (RecursionError)
        ├── HostError (RuntimeError)       a function of the host failed; exceptions of Python pass as they are
        ├── OutOfFuel (TimeoutError)       the `fuel` limit
        ├── OutOfTime (TimeoutError)       the `timeout` limit
        ├── OutOfMemory (MemoryError)      the `memory` limit
        └── Interrupted (KeyboardInterrupt)

Python's handlers of signals run while the main thread runs a program. What a handler raises (at Ctrl-C normally a plain
`KeyboardInterrupt`) stops the program and is raised; if it returns, the program goes on. Ctrl-C stops programs in other
threads too, unless Python's own handler has been replaced: they raise `Interrupted`.
"""

import warnings

# Annotations are values here, as texts would be compiled one by one whenever the package is imported.
from typing import Any, NamedTuple, Optional


class Label(NamedTuple):
    """A place in the source and what is said about it. Lines and columns count from 1; the end is past the last one.

    `source` is the line on which the place begins, or "" where it is not known.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    source: str = ""


class Diagnostic(NamedTuple):
    """One error or warning of the compiler; its place is that of its first label."""

    code: str
    name: str
    severity: str
    message: str
    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    labels: tuple[Label, ...]
    help: Optional[str]
    notes: tuple[str, ...]

    def _repr_html_(self) -> str:
        from . import _html

        return _html.diagnostic(self)


class TrapFrame(NamedTuple):
    """A call that was active at a trap.

    `lanes` are those that enclosing nested `foreach` loops were visiting. If the call was a task, `task` is its index
    in its launch, and the next frame is the call that launched it.
    """

    function: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    lanes: tuple[int, ...]
    task: Optional[int] = None


class Related(NamedTuple):
    """Another place that a finding has to do with: the other access of a race, where memory was allocated or freed."""

    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    stack: tuple[TrapFrame, ...]


class Finding(NamedTuple):
    """Something wrong that check mode has found at a place of the program. `str()` shows it in the source.

    Attributes:
        kind: what it is, such as "uninitialised"; docs/check.md has the table.
        message: it in words.
        file, line, column: the place of the innermost call that is not of the standard library, or None.
        lanes: the lanes it concerns, when it was found first; empty if the instruction is uniform.
        values: a number for each of these lanes (one if there are none): the index that was accessed, the lane that was
            read, the value that was stored, used or computed; empty where there is nothing to show.
        stack: the active calls, innermost first, a tuple of `TrapFrame`.
        related: another place that it has to do with, or None.
        times: how often it was found at this place.
        text: it in the source, for people.
    """

    kind: str
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    lanes: tuple[int, ...]
    values: tuple[Any, ...]
    stack: tuple[TrapFrame, ...]
    related: Optional[Related]
    times: int
    text: str

    def __str__(self) -> str:
        """Show it in the source."""
        return self.text

    def _repr_html_(self) -> str:
        from . import _html

        return _html.finding(self)


class SpmdError(Exception):
    """The base of all exceptions of this package."""

    def _repr_html_(self) -> str:
        from . import _html

        return _html.error(self)


class CompileError(SpmdError):
    """The program does not compile. Its text shows all diagnostics; `diagnostics` holds them as data."""

    diagnostics: list[Diagnostic]

    def __init__(self, message: str, diagnostics: Optional[list[Diagnostic]] = None) -> None:
        """Make the exception of a rendered text."""
        super().__init__(message)
        self.diagnostics = diagnostics or []


class LinkError(CompileError):
    """Sources that each compile cannot be one program, or a function that a call needs is defined nowhere."""


class CompileWarning(UserWarning):
    """A warning of the compiler. `Module.warnings` has them as data."""


class Trap(SpmdError):
    """The program failed while it ran. Its text shows the place in the source.

    Attributes:
        kind: what happened, such as "out_of_bounds".
        lane: the lowest lane that failed, or None if the operation was uniform.
        file, line, column: the place of the innermost call that has one, or None.
        index, length: of an access out of bounds, else None.
        array: the name of the parameter or variable that was accessed, or None.
        lanes: the lanes that enclosing nested `foreach` loops were visiting.
        task: the index of the task that failed in its launch, or None outside of tasks.
        element: in a call over arrays, the index of the element that failed in the shape that the arguments broadcast
            to (of Dask arrays: in the shape of their chunks); else, and where it is not known, None.
        arguments: the numbers that the function was called with for that element, by parameter.
        stack: the active calls, innermost first, a tuple of `TrapFrame`.
    """

    kind: str = ""
    lane: Optional[int] = None
    file: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None
    index: Optional[int] = None
    length: Optional[int] = None
    array: Optional[str] = None
    lanes: tuple[int, ...] = ()
    task: Optional[int] = None
    element: Optional[tuple[int, ...]] = None
    arguments: Optional[dict[str, Any]] = None
    stack: tuple[TrapFrame, ...] = ()


class OutOfBounds(Trap, IndexError):
    """An active lane accessed memory outside of its array, variable or allocation."""


class BadPointer(Trap, IndexError):
    """An active lane used a null or dangling pointer, freed what it may not, or called a bad function value."""


class ReadOnly(Trap, ValueError):
    """An active lane wrote to a constant or to a read-only array."""


class UnboundExtern(Trap, NameError):
    """An active lane accessed an `extern` variable without a value; set it in `module.globals`."""


class DivisionByZero(Trap, ZeroDivisionError):
    """An active lane divided an integer by zero."""


class AssertionFailed(Trap, AssertionError):
    """An assert was false in an active lane."""


class Overflow(Trap, OverflowError):
    """A Python int did not fit in the type of numpy's that a kernel uses it as."""


class Aborted(Trap, RuntimeError):
    """The program called abort()."""


class StackOverflow(Trap, RecursionError):
    """Calls nested too deeply."""


class OutOfFuel(Trap, TimeoutError):
    """The program took more loop iterations and calls than `fuel` allows."""

    def __str__(self) -> str:
        """Give the text, as for the other traps."""
        return str(self.args[0]) if self.args else ""


class OutOfTime(Trap, TimeoutError):
    """The program ran longer than `timeout` allows."""

    def __str__(self) -> str:
        """Give the text, as for the other traps."""
        return str(self.args[0]) if self.args else ""


class OutOfMemory(Trap, MemoryError):
    """The program allocated more than `memory` allows."""


class HostError(Trap, RuntimeError):
    """A function of the host failed. (What a Python callable raises is raised as it is.)"""


class Interrupted(Trap, KeyboardInterrupt):
    """Ctrl-C stopped a program, and no handler raised an exception of its own."""


class _Raised(Trap):
    """What a kernel raises: also an exception of the class that it names."""

    def __str__(self) -> str:
        """Give the text, as for the other traps."""
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> Any:
        """Pickle it by the class that the kernel names."""
        return raised, (type(self).__bases__[1], self.args, self.__dict__)


# By the class that a kernel names, the one of what it raises.
_raised: dict[type[Exception], type[_Raised]] = {}


def raised(error: type[Exception], args: tuple[Any, ...], told: dict[str, Any]) -> Trap:
    """Make the exception for a `raise` of a kernel, which is a trap that is told what others are."""
    of = _raised.get(error)
    if of is None:
        names = {"__module__": error.__module__, "__doc__": error.__doc__}
        of = _raised[error] = type(error.__name__, (_Raised, error), names)
    # The class may demand what only its own programs know.
    new = of.__new__(of)
    new.args = args
    new.__dict__.update(told)
    return new


_TRAPS: dict[str, type[Trap]] = {
    "out_of_bounds": OutOfBounds,
    "null_pointer": BadPointer,
    "bad_pointer": BadPointer,
    "bad_free": BadPointer,
    "bad_function": BadPointer,
    "read_only": ReadOnly,
    "unbound_extern": UnboundExtern,
    "division_by_zero": DivisionByZero,
    "assertion": AssertionFailed,
    "abort": Aborted,
    "stack_overflow": StackOverflow,
    "out_of_fuel": OutOfFuel,
    "timeout": OutOfTime,
    "out_of_memory": OutOfMemory,
    "interrupted": Interrupted,
    "host_error": HostError,
}


def _trap(kind, text, lane, index, length, array, stack, place):
    """Make the exception for a trap; called by the native module."""
    trap = _TRAPS.get(kind, Trap)(text)
    trap.kind, trap.lane, trap.index, trap.length, trap.array = kind, lane, index, length, array
    trap.element, trap.arguments = place or (None, None)
    trap.stack = tuple(TrapFrame(*frame[:4], tuple(frame[4]), frame[5]) for frame in stack)
    trap.lanes = tuple(lane for frame in reversed(trap.stack) for lane in frame.lanes)
    trap.task = next((frame.task for frame in trap.stack if frame.task is not None), None)
    for frame in trap.stack:
        if frame.line is not None:
            trap.file, trap.line, trap.column = frame.file, frame.line, frame.column
            break
    return trap


def _finding(kind, message, place, lanes, values, stack, related, times, text):
    """Make the record of a finding; called by the native module."""

    def calls(stack):
        return tuple(TrapFrame(*frame[:4], tuple(frame[4]), frame[5]) for frame in stack)

    nowhere = (None, None, None)
    if related:
        related = Related(related[0], *(related[1] or nowhere), calls(related[2]))
    return Finding(kind, message, *(place or nowhere), lanes, values, calls(stack), related, times, text)


def _compile_error(text, diagnostics):
    """Make the exception for a program that does not compile; called by the native module."""
    linking = diagnostics and all(d.code == "E0233" or d.code.startswith("E03") for d in diagnostics)
    return (LinkError if linking else CompileError)(text, diagnostics)


def _diagnostic(code, name, severity, message, labels, help, notes):
    """Make the record of a diagnostic; called by the native module. Labels may have the line of the source, too."""
    labels = tuple(Label(*place, *texts) for place, *texts in labels)
    place = labels[0][:5] if labels else ("<unknown>", 1, 1, 1, 1)
    return Diagnostic(code, name, severity, message, *place, labels, help, notes)


# Which warnings have been shown for which lines of files.
_shown: dict = {}


def _warn(diagnostics):
    """Show warnings of the compiler; called by the native module."""
    for d in diagnostics:
        text = f"{d.message} [{d.code}]" + (f"; {d.help}" if d.help else "")
        if d.file.startswith("<"):
            # The place is where the text is compiled: this function's caller, for native functions are not counted.
            warnings.warn(f"{d.file}:{d.line}: {text}", CompileWarning, stacklevel=2)
        else:
            warnings.warn_explicit(text, CompileWarning, d.file, d.line, module="spmdvm", registry=_shown)


for _class in (
    Label,
    Diagnostic,
    TrapFrame,
    Related,
    Finding,
    SpmdError,
    CompileError,
    LinkError,
    CompileWarning,
    Trap,
    Overflow,
    *_TRAPS.values(),
):
    _class.__module__ = "spmdvm"
