"""The cell magic `%%spmd` of IPython and Jupyter: `%load_ext spmdvm`."""

from __future__ import annotations

import contextlib
import linecache
import re
import time
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.display import display

from . import _html
from ._errors import CompileError, Diagnostic, Finding, Trap
from ._spmdvm import Module, _compile_silently

_OPTION = re.compile(
    r"\s*(?:-(?P<short>[at]+)|--(?P<flag>annotate|time|check)"
    r"|--(?P<name>name|width|engine|fp)(?:=|\s+)(?P<value>\S+))(?=\s|$)"
)
_CHOICES = {"engine": ("auto", "interp", "ir", "clif", "x86"), "fp": ("contract", "strict", "fast")}
# For about so many seconds a call is repeated to be timed.
_TIMED_SECONDS = 0.3


class _Shown:
    """HTML for notebooks, and a text for terminals."""

    def __init__(self, html: str, text: str) -> None:
        self._html, self._text = html, text

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return self._text


@magics_class
class SpmdMagics(Magics):
    """The magics of spmdvm."""

    @cell_magic
    def spmd(self, line: str, cell: str) -> Any:
        """Compile the cell as an SPMD program; its exported functions become functions here.

        %%spmd [-a] [-t] [--name NAME] [--width W] [--engine E] [--fp F] [--check] [CALL]

        -a, --annotate: show what became of each line: native code, or why not. With CALL that is after the call.
        -t, --time: tell how long compiling took and, with CALL, the first call and the fastest of several.
        --name NAME: call the module so, for `NAME.explain()`, `NAME.stats()` and `NAME.report()`.
        --width, --engine, --fp, --check: as for `spmdvm.compile`.
        CALL: Python to be executed behind it, such as `f(x, len(x))`. Its value is that of the cell.
        """
        options, call = _parsed(line)
        annotate, timed, name = "annotate" in options, "time" in options, options.get("name")
        if name is not None and not name.isidentifier():
            raise UsageError(f"%%spmd: --name takes a name, not {name!r}")
        shell: Any = self.shell
        number = _cell_number(shell)
        # The line of the magic is the cell's first.
        file, text = f"<spmd cell {number}>", "\n" + cell
        _remember(file, text)
        start = time.perf_counter()
        try:
            module = _compile_silently([(file, text)], hints=annotate, **_compile_options(options))
        except CompileError as error:
            raise _without_frames(error) from None
        except (TypeError, ValueError) as error:
            raise UsageError(f"%%spmd: {error}") from None
        seconds = time.perf_counter() - start
        for warning in module.warnings:
            plain = f"{warning.severity}[{warning.code}]: {warning.message} ({warning.file}:{warning.line})"
            display(_Shown(_html.diagnostic(warning), plain))
        if timed:
            print(f"compiled in {_duration(seconds)}")
        shell.push({export: module[export] for export in module.exports})
        if name is not None:
            shell.push({name: module})
        value = self._run(call, f"<call in spmd cell {number}>", timed)
        if annotate:
            display(_Shown(_html.listing(module), _plain_listing(module)))
        return value

    def _run(self, call: str, file: str, timed: bool) -> Any:
        """Execute the call, if there is one, and give its value."""
        if not call:
            return None
        shell: Any = self.shell
        space = shell.user_ns
        code = _compiled(call, file)
        start = time.perf_counter()
        try:
            value = eval(code, space)
        except Trap as trap:
            raise _without_frames(trap) from None
        except Exception as error:
            _begin_at_the_call(error, shell)
            raise
        first = time.perf_counter() - start
        if not timed:
            return value
        times = [first]
        deadline = time.perf_counter() + _TIMED_SECONDS
        while time.perf_counter() < deadline and len(times) < 100_000:
            start = time.perf_counter()
            eval(code, space)
            times.append(time.perf_counter() - start)
        print(f"first call {_duration(first)}, fastest of {len(times)} {_duration(min(times))}")
        return value


def _cell_number(shell: Any) -> int:
    """Give the number of the cell that is running.

    IPython 9 raises `execution_count` before a cell runs, older ones do behind it, and neither where no history is
    kept; the result of the cell knows.
    """
    running = getattr(shell.displayhook, "exec_result", None)
    number = getattr(running, "execution_count", None)
    return int(shell.execution_count if number is None else number)


def _remember(file: str, text: str) -> None:
    """Have messages and tracebacks find a text that is in no file."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def _compiled(call: str, file: str) -> Any:
    """Compile the call; an expression if it is one, so that it has a value."""
    _remember(file, call)
    try:
        return compile(call, file, "eval")
    except SyntaxError:
        pass
    try:
        return compile(call, file, "exec")
    except SyntaxError as error:
        raise UsageError(f"%%spmd: the call behind the options is no Python ({error.msg}): {call}") from None


def _parsed(line: str) -> tuple[dict[str, str], str]:
    """Give the options at the beginning of the line, and what is behind them."""
    options: dict[str, str] = {}
    at = 0
    while found := _OPTION.match(line, at):
        at = found.end()
        for letter in found["short"] or "":
            options[{"a": "annotate", "t": "time"}[letter]] = ""
        if found["flag"]:
            options[found["flag"]] = ""
        if found["name"]:
            options[found["name"]] = found["value"]
    rest = line[at:].strip()
    if re.match(r"--?[A-Za-z]", rest):
        raise UsageError(f"%%spmd: there is no option {rest.split()[0]}, or its value is missing; %%spmd? has them all")
    return options, rest


def _compile_options(given: dict[str, str]) -> dict[str, Any]:
    """Give the options of `compile` that the line asks for."""
    options: dict[str, Any] = {}
    if "check" in given:
        options["check"] = True
    if "width" in given:
        width = given["width"]
        if width != "native" and not width.isdigit():
            raise UsageError(f"%%spmd: --width takes a number of lanes or native, not {width!r}")
        options["width"] = width if width == "native" else int(width)
    for name, choices in _CHOICES.items():
        if name in given:
            if given[name] not in choices:
                raise UsageError(f"%%spmd: --{name} is one of {', '.join(choices)}, not {given[name]!r}")
            options[name] = given[name]
    return options


def _without_frames(error: Any) -> Any:
    """Have IPython show an error with its place in the cell alone, without Python's own frames."""
    error._render_traceback_ = lambda: [f"{type(error).__name__}: {error}"]
    return error


def _begin_at_the_call(error: Exception, shell: Any) -> None:
    """Have IPython show the traceback from the call on, without the frames of the magic around it."""
    frames = error.__traceback__ and error.__traceback__.tb_next

    def shown() -> Any:
        return shell.InteractiveTB.structured_traceback(type(error), error, frames, tb_offset=0)

    # Classes with slots take no attribute; they are shown with all frames.
    with contextlib.suppress(AttributeError):
        error._render_traceback_ = shown  # type: ignore[attr-defined]


def _duration(seconds: float) -> str:
    for scale, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _plain_listing(module: Module) -> str:
    """Give the source with what became of each line, as text."""
    lines = []
    for number, text, facts in _html.explained(module):
        lines.append(f"{number:>4}  {text}")
        lines.extend(f"      {fact.rstrip()}" for fact in facts)
    return "\n".join(lines)


def load(shell: Any) -> None:
    """Register the magics, and have lists of findings and of diagnostics show themselves as these do."""
    shell.register_magics(SpmdMagics)
    formatter = shell.display_formatter.formatters["text/html"]
    with contextlib.suppress(KeyError):
        # Somebody else shows lists.
        formatter.lookup_by_type(list)
        return
    formatter.for_type(list, _html_of_list)


def _html_of_list(given: list[Any]) -> str | None:
    if not given or not all(isinstance(each, (Finding, Diagnostic)) for each in given):
        return None
    return "".join(each._repr_html_() for each in given)
