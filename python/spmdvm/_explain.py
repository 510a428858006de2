"""What `explain()` gives: the source with what became of each line, as text, as data and as HTML.

It joins what is known of a line: from the bytecode which variables differ between lanes and how memory is accessed,
from the engine what was compiled and how often which variant suited, and from a profile, if one is given, times and
lanes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ._html import MOST_LINES, Report, explanation, facts, hot_lines, is_of_call, state


class ExplainedLine(NamedTuple):
    """What became of one line of a source.

    Attributes:
        file: the file, as messages call it.
        line: the number of the line, from 1.
        text: the line.
        state: "native", "left" (native, and left here for the interpreter), "unused" (compiled, and not entered yet),
            "interpreted" (in a hot loop), "cold" (not hot yet), or "" (no code).
        varying: variables that are computed here and may differ from lane to lane.
        uniform: variables that are computed here and are the same in all lanes.
        memory: accesses by their kind ("vector", "gather", "strided gather", "scatter", "strided scatter", "one
            element").
        all_active: of the rounds of compiled code that were asked, how many had every lane active, from 0 to 1; None if
            none was asked.
        native_seconds: the time in compiled code of loops that begin here.
        executed, utilisation, share: those of the profile that was passed; None without one.
        facts: what the engine says of the line, as `explain(line)` does.
        advice: what to do.
    """

    file: str
    line: int
    text: str
    state: str
    varying: tuple[str, ...]
    uniform: tuple[str, ...]
    memory: dict[str, int]
    all_active: float | None
    native_seconds: float
    executed: int | None
    utilisation: float | None
    share: float | None
    facts: tuple[str, ...]
    advice: tuple[str, ...]


class Explanation(Report):
    """What `explain()` gives: a text, which notebooks show as a page.

    Attributes:
        lines: what became of each line of the source, as a list of `ExplainedLine`.
        engine: the engine.
        width: lanes of the gang.
        native_share: the part of instructions that compiled code has executed, from 0 to 1.
        loops: what the engine says of its loops, which is the last part of the text.
    """

    __slots__ = ("engine", "lines", "loops", "native_share", "width")
    lines: list[ExplainedLine]
    engine: str
    width: int
    native_share: float
    loops: str

    def line(self, number: int) -> ExplainedLine:
        """Give what became of a line, by its number."""
        for row in self.lines:
            if row.line == number:
                return row
        raise KeyError(f"there is no line {number}; lines go from {self.lines[0].line} to {self.lines[-1].line}")

    def to_dict(self) -> dict[str, Any]:
        """Give everything as dicts, lists, numbers and strings, for JSON."""
        return {
            "engine": self.engine,
            "width": self.width,
            "native_share": self.native_share,
            "lines": [row._asdict() for row in self.lines],
            "loops": self.loops,
        }

    def _repr_html_(self) -> str:
        return explanation(self._head(), self.lines, self.loops)

    def _head(self) -> str:
        return _head(self.engine, self.width, self.native_share, self.lines)


def _head(engine: str, width: int, share: float, lines: Sequence[ExplainedLine]) -> str:
    states = {row.state for row in lines}
    if not states & {"native", "left", "unused", "interpreted"}:
        how = "no loop has been hot yet, so nothing is compiled: pass larger arrays, or call it more often"
    else:
        how = f"native code has executed {share:.1%} of the instructions"
    return f"engine {engine}, width {width}; {how}"


def _explained(stats: Mapping[str, Any], lines: list[ExplainedLine], loops: str) -> Explanation:
    head = _head(stats["engine"], stats["width"], stats["native_share"], lines)
    parts = [head, *_written(lines)]
    if loops.strip():
        parts.extend(["", "loops", loops.rstrip()])
    found = Explanation("\n".join(parts))
    found.lines, found.loops = lines, loops
    found.engine, found.width, found.native_share = stats["engine"], stats["width"], stats["native_share"]
    return found


def _written(lines: Iterable[ExplainedLine]) -> Iterable[str]:
    for row in lines:
        yield f"{row.line:>5}  {row.text}".rstrip()
        told = notes(row)
        if told:
            yield f"         {'; '.join(told)}"
        yield from (f"         -> {text}" for text in row.advice)


# What is said of states.
_SAID = {
    "native": "native",
    "left": "native, and left here",
    "unused": "native, and not entered yet",
    "interpreted": "interpreted in a hot loop",
    "cold": "interpreted, not hot",
}


def notes(row: ExplainedLine) -> list[str]:
    """Give what is said of a line in a few words."""
    told = [_SAID[row.state]] if row.state else []
    if row.state == "interpreted" and any("is being compiled" in fact for fact in row.facts):
        told = ["being compiled"]
    if row.varying:
        told.append(f"varying {', '.join(row.varying)}")
    if row.uniform:
        told.append(f"uniform {', '.join(row.uniform)}")
    for kind, n in row.memory.items():
        told.append(kind if n == 1 else f"{n} × {kind}")
    if row.all_active is not None:
        told.append(f"all lanes active in {row.all_active:.0%} of rounds")
    if row.native_seconds:
        told.append(f"{row.native_seconds * 1e3:.2f} ms in its native code")
    if row.share is not None:
        told.append(f"{row.share:.1%} of the time")
    if row.utilisation is not None and row.utilisation == row.utilisation:
        times = "once" if row.executed == 1 else f"{row.executed:,} times"
        told.append(f"{row.utilisation:.1%} of lanes active, executed {times}")
    return told


# What to do.

_GATHER = (
    "let neighbouring lanes access neighbouring elements: `a[i]`, or `a[k, i]`, where `foreach` goes over `i`; "
    "fields of records in arrays of their own"
)
_ADVICE = (
    ("division of integers", "divide by constants, or by what is the same for all lanes; or compute with floats"),
    ("remainder of floats", "subtract the multiple: `x - floor(x / y) * y`"),
    ("half precision", "compute with float32, and convert at the ends"),
    ("atomic operation", "give each lane a place of its own, and add them up behind the loop"),
    ("left to the interpreter", "move it out of the loop, if that can be"),
    ("done by the interpreter's handler", "move it out of the loop, if that can be"),
    ("  interpreted in", "it says why; docs/jit.md lists what stays with the interpreter"),
)


def _advice(facts_: Sequence[str], memory: Mapping[str, int], busy: float | None, share: float | None) -> list[str]:
    """Give what to do about a line; `busy` and `share` are those of a profile."""
    found = [_GATHER] if any("gather" in kind or "scatter" in kind for kind in memory) else []
    found.extend(help for start, help in _ADVICE if any(start in fact for fact in facts_))
    if busy is not None and share is not None and busy < 0.5 and share > 0.05:
        found.append(
            "lanes part here: let neighbours take as long (sort the input), or go on with those that are left "
            "(`spmdvm.filter`)"
        )
    return found


# What the bytecode says.

_REGISTER = re.compile(r"\b([uv]\d+):\w+(?: \"([^\"]+)\")?")
_PLACE = re.compile(r"; (.*):(\d+)$")
_ACCESS = re.compile(r"(?:(\w+) = )?(load|store)(\.lane)?\.[\w.]+ \[([^\]]*)\]")


class _Code(NamedTuple):
    """What the bytecode of one line does."""

    varying: dict[str, None]
    uniform: dict[str, None]
    memory: dict[str, int]


def _code_of(module: Any) -> dict[int, _Code]:
    """Give what the bytecode of each line of a module's own source does."""
    found: dict[int, _Code] = {}
    names: dict[str, str] = {}
    here: _Code | None = None
    is_own = True
    for text in module.disassemble().splitlines():
        if text.startswith("func "):
            names, here = {}, None
            # Calls over arrays load elements and store results, in whole vectors where these lie in a row.
            is_own = not is_of_call(text)
        words = text.split(None, 1)
        if text.startswith("func ") or (words and words[0] in ("var", "const")):
            names.update((register, name) for register, name in _REGISTER.findall(text) if name)
            continue
        place = _PLACE.search(text)
        if place is not None:
            here = None
            if place[1] == module.name and is_own:
                here = found.setdefault(int(place[2]), _Code({}, {}, {}))
        if here is None:
            continue
        result = words[0] if len(words) > 1 and words[1].startswith("= ") else None
        if result in names:
            (here.varying if result.startswith("v") else here.uniform)[names[result]] = None
        access = _ACCESS.search(text)
        if access is not None:
            kind = _kind(access[2], access[3] is not None, access[4])
            here.memory[kind] = here.memory.get(kind, 0) + 1
    return found


def _kind(what: str, is_vector: bool, address: str) -> str:
    if re.search(r"\bv\d+", address):
        return "gather" if what == "load" else "scatter"
    return "vector" if is_vector else "one element"


def _rounds(stats: Mapping[str, Any]) -> tuple[dict[tuple[int, str], list[int]], dict[int, float]]:
    """Give how often variants suited and did not, by line and variant, and the time in native code by loops' lines."""
    suited: dict[tuple[int, str], list[int]] = {}
    seconds: dict[int, float] = {}
    for loop in stats["loops"]:
        for version in loop["versions"]:
            seconds[loop["line"]] = seconds.get(loop["line"], 0.0) + version["native_seconds"]
            for part in version["variants"]:
                counts = suited.setdefault((part["line"], part["variant"]), [0, 0])
                counts[0] += part["hit"]
                counts[1] += part["missed"]
    return suited, seconds


def _row(
    place: tuple[str, int, str],
    code: _Code,
    told: Sequence[str],
    rounds: tuple[dict[tuple[int, str], list[int]], dict[int, float]],
    at: Sequence[int],
    profile: Mapping[tuple[str, int], Any],
) -> ExplainedLine:
    """Join what is known of a line, which consists of the lines `at` of the program."""
    if not code.memory.keys() & {"gather", "scatter"}:
        told = [fact for fact in told if "gather:" not in fact and "scatter:" not in fact]
    suited, seconds = rounds
    counts = [suited.get((n, "all_active"), [0, 0]) for n in at]
    hit, missed = sum(c[0] for c in counts), sum(c[1] for c in counts)
    memory = dict(code.memory)
    strided = [suited.get((n, "strided"), [0, 0]) for n in at]
    if sum(c[0] for c in strided) > sum(c[1] for c in strided):
        memory = {f"strided {k}" if k in ("gather", "scatter") else k: n for k, n in memory.items()}
    seen = profile.get(place[:2])
    busy, share = (None, None) if seen is None else (seen.utilisation, seen.share)
    lane_facts = state(told)
    return ExplainedLine(
        *place,
        {"compiled": "native", "none": ""}.get(lane_facts, lane_facts),
        tuple(code.varying),
        tuple(name for name in code.uniform if name not in code.varying),
        memory,
        hit / (hit + missed) if hit + missed else None,
        sum(seconds.get(n, 0.0) for n in at),
        None if seen is None else seen.executed,
        busy,
        share,
        tuple(told),
        tuple(_advice(told, memory, busy, share)),
    )


def _by_place(profile: Any) -> dict[tuple[str, int], Any]:
    """Give the lines of a profile by file and number."""
    if profile is None:
        return {}
    if not hasattr(profile, "lines") or not hasattr(profile, "hottest"):
        raise TypeError(f"`profile` takes what `profile(…)` has given, not {type(profile).__name__}")
    return {(row.file, row.line): row for row in profile.lines}


def of_module(module: Any, loops: str, profile: Any = None) -> Explanation:
    """Explain a module."""
    lines, stats, seen = module.source.splitlines(), module.stats(), _by_place(profile)
    # To explain a line takes a time that grows with the program.
    known = range(1, len(lines) + 1) if len(lines) <= MOST_LINES else hot_lines(module)
    code, rounds, empty = _code_of(module), _rounds(stats), _Code({}, {}, {})
    rows = [
        _row((module.name, n, text), code.get(n, empty), facts(module, n) if n in known else [], rounds, [n], seen)
        for n, text in enumerate(lines, 1)
    ]
    return _explained(stats, rows, loops)


def of_kernel(
    instance: Any,
    source: tuple[str, Sequence[tuple[int, str]]],
    facts: Mapping[int, Sequence[str]],
    loops: str,
    profile: Any = None,
) -> Explanation:
    """Explain a kernel by its lines of Python, of which `source` has the file, and each with its number."""
    module, seen = instance.module, _by_place(profile)
    file, lines = source
    at: dict[int, list[int]] = {}
    for number, place in enumerate(instance.places, 1):
        if place is not None and place.file == file:
            at.setdefault(place.number, []).append(number)
    stats, of_line = module.stats(), _code_of(module)
    rounds, rows = _rounds(stats), []
    for number, text in lines:
        code = _Code({}, {}, {})
        for own in at.get(number, ()):
            part = of_line.get(own, _Code({}, {}, {}))
            if not text.lstrip().startswith("def "):
                for names, found in ((code.varying, part.varying), (code.uniform, part.uniform)):
                    known = (instance.variables.get(name) for name in found)
                    names.update((name, None) for name in known if name is not None)
            for kind, n in part.memory.items():
                code.memory[kind] = code.memory.get(kind, 0) + n
        told = facts.get(number, ())
        rows.append(_row((file, number, text), code, told, rounds, at.get(number, ()), seen))
    return _explained(stats, rows, loops)
