"""What `stepper` gives: a call that is gone through line by line, forwards and backwards.

The call is made by a thread of its own, which waits for orders where it would run the program (`_spmdvm._Stepping`).
They are lines for the console of `spmdvm debug`; the answers have text and data.
"""

from __future__ import annotations

import atexit
import sys
import threading
import weakref
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _html
from ._spmdvm import _Stepping

# MiB of a run's past that are kept.
_KEEP = 256


class StepVariable(NamedTuple):
    """A variable at a step.

    Attributes:
        name: its name in the source.
        kind: "parameter", "local" or "global".
        type: a dtype's name such as "float32"; of arrays and records their type in the language.
        values: an array with the value of each lane; a number if it is the same in all lanes; None of arrays and
            records.
        text: arrays and records as text, else None.
    """

    name: str
    kind: str
    type: str
    values: Any
    text: str | None


class StepCall(NamedTuple):
    """A call on the way to a step: the function, the file and line in it, and the number of a task in its launch."""

    function: str
    file: str | None
    line: int | None
    task: int | None


class Step:
    """Where a call is, between two instructions, and what can be seen there; `str()` shows it.

    Attributes:
        position: how many instructions have been executed.
        reason: why it is here: "line" (the motion led here), "stop" (at a stop on the way), "end" or "start" (of the
            run).
        file, line, source: the line that is executed next, its number from 1, and its text; None where the call has
            returned.
        function: the name of the function, or None where the call has returned.
        active: the lanes that are active, an array of bool.
        variables: the function's variables that have a value, a dictionary of `StepVariable` by name.
        calls: the calls that lead here, innermost first, a tuple of `StepCall`.
        trap: what is wrong with the next instruction, if the program stops here; else None.
        returned: whether the call has returned.
    """

    def __init__(self, text: str, reason: str, position: int, lanes: int, state: dict[str, Any] | None) -> None:
        """Keep what was answered."""
        self._text = text
        self.position = position
        self.reason = reason
        self.returned = state is None
        seen: dict[str, Any] = state or {}
        self.file: str | None = seen.get("file")
        self.line: int | None = seen.get("line")
        self.source: str | None = seen.get("source")
        self.function: str | None = seen.get("function")
        self.trap: str | None = seen.get("trap")
        mask = seen.get("mask", 0)
        self.active = np.array([bool(mask >> lane & 1) for lane in range(lanes)])
        self.calls = tuple(StepCall(*call) for call in seen.get("calls", ()))
        self.variables: dict[str, StepVariable] = {}
        for name, kind, ty, uniform, numbers, text_ in seen.get("variables", ()):
            values: Any = None if numbers is None else np.array(numbers, ty)
            self.variables[name] = StepVariable(name, kind, ty, values[0] if uniform and numbers else values, text_)

    def __getitem__(self, name: str) -> Any:
        """Give a variable's values; arrays and records as text."""
        found = self.variables[name]
        return found.text if found.values is None else found.values

    def __str__(self) -> str:
        """Show the line, the masks, and the variables that are new or have changed."""
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        """Tell the place."""
        place = "returned" if self.returned else f"{self.function}, {self.file}:{self.line}"
        return f"<step {self.position}: {place}>"

    def _repr_html_(self) -> str:
        return _html.pre(str(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


class Stepper:
    """A call that is gone through line by line, forwards and backwards; `Module.stepper` and `Kernel.stepper` make one.

    Motions give the `Step` that they lead to, which is `stepper.here` then. Lines are those of the source; of kernels
    those of Python. What the program prints is printed once, when it is first reached. Arrays that were passed hold
    what they do at this step. A stepper that is closed (at the end of a `with`, or with the object) before the call has
    returned leaves no traces in them; `finish` gives what the call returns.

    A motion that Ctrl-C ends leaves the call where it was then.

    Attributes:
        here: where the call is.
    """

    here: Step

    def __init__(self, call: Callable[[Any], Any], name: str) -> None:
        """Begin a call: `call` makes it, on another thread, and has it served by what it is given."""
        self._name = name
        self._stepping = stepping = _Stepping(_KEEP)
        self._outcome: list[tuple[bool, Any]] = []
        self._closed = False
        self._thread = threading.Thread(
            target=_make, args=(call, stepping, self._outcome), name=f"spmdvm stepper of {name}", daemon=True
        )
        self._finalizer = weakref.finalize(self, _end, stepping, self._thread)
        self._finalizer.atexit = False
        _open.add(self)
        self._thread.start()
        try:
            answer = stepping.answer()
        except BaseException:
            self.close()
            raise
        if answer is None:
            self._thread.join()
            self._closed = True
            succeeded, outcome = self._outcome[0]
            if not succeeded:
                raise outcome
            raise ValueError(f"{name}() has nothing to step through: there are no elements")
        self._take(answer)

    # Motions.

    def next(self, n: int = 1) -> Step:
        """Go to the next line of this function, `n` times; calls are done on the way."""
        return self._move(f"next {_count(n)}")

    def into(self, n: int = 1) -> Step:
        """Go to the next line, `n` times, into functions that are called."""
        return self._move(f"in {_count(n)}")

    def out(self) -> Step:
        """Go on until this function has returned."""
        return self._move("out")

    def back(self, n: int = 1) -> Step:
        """Go back to the line before, `n` times; calls are undone on the way."""
        return self._move(f"back {_count(n)}")

    def back_into(self, n: int = 1) -> Step:
        """Go back to the line before, `n` times, into functions that were called."""
        return self._move(f"back-in {_count(n)}")

    def back_out(self) -> Step:
        """Go back to the call of this function."""
        return self._move("back-out")

    def resume(self) -> Step:
        """Go on to the next stop, or to the end."""
        return self._move("continue")

    def resume_back(self) -> Step:
        """Go back to the last stop before, or to the start."""
        return self._move("back-continue")

    def goto(self, position: int) -> Step:
        """Go to where so many instructions have been executed; to the end if there are fewer."""
        if position < 0:
            raise ValueError(f"there is no step {position}")
        return self._move(f"goto {int(position)}")

    # Stops.

    def break_at(self, place: int | str, condition: str | None = None) -> int:
        """Stop where a line begins: `place` is a line of the file where the call is, "FILE:LINE", or a function's name.

        With a condition over the variables ("x > 3", in the language of the stepper's `:print`) it stops where that
        holds in some active lane. A line without code stands for the next one that has some. Gives the number of the
        stop.
        """
        return self._stop(f"break {place}" + (f" if {condition}" if condition else ""))

    def watch(self, what: str) -> int:
        """Stop behind what changes a variable ("x"), a lane of it ("x[3]") or an element of an array.

        Gives the number of the stop.
        """
        return self._stop(f"watch {what}")

    def delete(self, stop: int | None = None) -> None:
        """Delete a stop, or all."""
        self.do("delete" if stop is None else f"delete {stop}")

    # The rest.

    def do(self, command: str) -> str:
        """Carry out a command of the stepper (docs/stepper.md) such as "why x[3]", "masks", "list" or "print a + b".

        Gives the text that it shows. Raises ValueError if it is wrong.
        """
        answer = self._ask(command)
        text, failed = answer[0], answer[1]
        if failed:
            raise ValueError(text.strip().removeprefix("error: "))
        return _html.Report(text.rstrip("\n"))

    def finish(self) -> Any:
        """Go to the end, past all stops, and give what the call returns; the stepper is closed then.

        Raises what the call raises.
        """
        if not self._outcome:
            self._check_open()
            answer = self._stepping.ask(None)
            if answer is not None and answer[1]:
                raise KeyboardInterrupt
            if answer is not None:
                _print(answer[2])
            self._thread.join()
            self.close()
        succeeded, outcome = self._outcome[0]
        if not succeeded:
            raise outcome
        return outcome

    def interact(self) -> None:
        """Read commands from the terminal, as `spmdvm debug` does, until `:quit`, which closes the stepper."""
        print(self.here)
        while not self._closed:
            try:
                line = input(f"({self.here.position}) ")
            except EOFError:
                return
            if line.strip().lstrip(":") in ("quit", "q", "exit"):
                return self.close()
            try:
                shown = self.do(line)
            except ValueError as error:
                shown = f"error: {error}"
            if shown:
                print(shown)

    def close(self) -> None:
        """End the call where it is. Unless it has returned, arrays are as they were before."""
        self._closed = True
        self._finalizer()

    def __enter__(self) -> Stepper:
        """Give itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Tell the call and where it is."""
        return f"<stepper of {self._name}(), {'closed' if self._closed else repr(self.here)[1:-1]}>"

    def _move(self, command: str) -> Step:
        answer = self._ask(command)
        if answer[1]:
            raise RuntimeError(answer[0].strip().removeprefix("error: "))
        return self.here

    def _stop(self, command: str) -> int:
        return int(self.do(command).split(":", 1)[0])

    def _ask(self, command: str) -> Any:
        self._check_open()
        answer = self._stepping.ask(command)
        if answer is None:
            self.close()
            raise RuntimeError(f"the stepper of {self._name}() is closed")
        self._take(answer)
        return answer

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"the stepper of {self._name}() is closed")

    def _take(self, answer: Any) -> None:
        text, failed, printed, reason, position, lanes, state = answer
        _print(printed)
        if not failed:
            self.here = Step(text, reason, position, lanes, state)


def _count(n: int) -> int:
    if n < 1:
        raise ValueError(f"a motion goes on by one line or more, not {n}")
    return int(n)


def _print(text: str) -> None:
    if text and sys.stdout is not None:
        sys.stdout.write(text)


def _make(call: Callable[[Any], Any], stepping: Any, outcome: list[tuple[bool, Any]]) -> None:
    """Make the call, on this thread, and note what it gives or raises."""
    try:
        outcome.append((True, call(stepping)))
    except BaseException as error:
        outcome.append((False, error))
    finally:
        stepping.ended()


def _end(stepping: Any, thread: threading.Thread) -> None:
    stepping.close()
    if thread is not threading.current_thread():
        thread.join()


# Those that must be closed before the interpreter goes: their threads wait for them.
_open: weakref.WeakSet[Stepper] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for stepper in list(_open):
        stepper.close()


def _of_module(module: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Stepper:
    """Step through a call of a function of a module."""
    name = function if isinstance(function, str) else getattr(function, "__name__", repr(function))
    return Stepper(lambda stepping: stepping.serve(module, function, args, kwargs), name)
