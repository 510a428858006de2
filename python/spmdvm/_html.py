"""What notebooks show of modules, functions, kernels, diagnostics, findings and traps, as HTML.

Every text is escaped. Colours are translucent, so that they do on light and dark pages.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

_MONO = "font-family:monospace;white-space:pre;text-align:left;line-height:1.4;overflow-x:auto"
_DIM = "opacity:.6"
_GREEN, _AMBER, _RED, _BLUE, _GREY = "60,160,80", "220,150,20", "220,60,60", "70,120,220", "128,128,128"
# In longer programs the lines of hot loops alone are explained.
MOST_LINES = 200
# What became of a line: a colour and the words of the legend.
_STATES = {
    "compiled": (_GREEN, "native code"),
    "left": (_BLUE, "native code that was left here"),
    "unused": (_GREY, "native code that was not entered yet"),
    "interpreted": (_AMBER, "interpreted in a hot loop"),
    "cold": ("", "interpreted; not hot"),
    "none": ("", ""),
}


class Report(str):
    """A text that is shown as it is, rather than with quotes."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return pre(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def pre(text: str) -> str:
    """Show a text as it is."""
    return f'<div style="{_MONO}">{escape(text.rstrip())}</div>'


def _chip(text: str, colour: str) -> str:
    return f'<span style="background:rgba({colour},.2);border-radius:3px;padding:0 4px">{escape(text)}</span>'


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Give a table of cells that are HTML already; no head if it is empty."""
    cell = 'style="text-align:left;font-family:monospace;white-space:pre;padding:0 6px"'
    top = "<tr>" + "".join(f"<th {cell}>{name}</th>" for name in head) + "</tr>" if head else ""
    body = "".join("<tr>" + "".join(f"<td {cell}>{part}</td>" for part in row) + "</tr>" for row in rows)
    return f"<table>{top}{body}</table>"


# Sources with what became of their lines.


def state(facts: Sequence[str]) -> str:
    """Give which of `_STATES` a line is in, of what `explain(line)` says."""
    words = [fact.strip() for fact in facts]
    # A poll looks whether the call is to end, or newer code is there.
    ends = ("end of loop", "return", "poll")
    if any(word.startswith("left here") and not word.endswith(ends) for word in words):
        return "left"
    compiled = [word for word in words if word.startswith("compiled in")]
    if compiled:
        # Several versions and loops may have the line; one that ran is enough.
        return "unused" if all(word.endswith("entered 0 times") for word in compiled) else "compiled"
    if any(word.startswith(("interpreted in", "in the")) for word in words):
        return "interpreted"
    return "cold" if words else "none"


def annotated(lines: Iterable[tuple[int, str, Sequence[str]]]) -> str:
    """Show lines with their numbers, coloured by what became of them; a click on one shows the facts."""
    shown, states, has_marks = [], set(), False
    for number, text, facts in lines:
        found = state(facts)
        states.add(found)
        colour = _STATES[found][0]
        background = f"background:rgba({colour},.16);" if colour else ""
        costs = sum(" × " in fact for fact in facts)
        has_marks |= costs > 0
        mark = f' <span style="{_DIM}">{"▪" * min(costs, 5)}</span>' if costs else ""
        head = f'<span style="{_DIM}">{number:>4}</span>  {escape(text)}{mark}'
        if facts:
            inner = "\n".join(escape(f"      {fact.rstrip()}") for fact in facts)
            summary = f'<summary style="{background}cursor:pointer;display:block">{head}</summary>'
            shown.append(f'<details data-state="{found}">{summary}<div style="{_DIM}">{inner}</div></details>')
        else:
            shown.append(f'<div data-state="{found}">{head}</div>')
    legend = _legend(states)
    if not legend and "cold" in states:
        legend = ["no loop has been hot yet: nothing is compiled"]
    if has_marks:
        legend.append("▪ for each kind of instruction that takes long")
    below = f'<div style="{_DIM}">{" ".join(legend)} · click a line for more</div>' if legend else ""
    return f'<div class="spmdvm-source" style="{_MONO}">{"".join(shown)}</div>{below}'


def _legend(states: Iterable[str]) -> list[str]:
    """Say what the colours mean that lines in these states have."""
    return [_chip(name, colour) for s, (colour, name) in _STATES.items() if colour and s in states]


def explanation(head: str, lines: Sequence[Any], loops: str) -> str:
    """Show a source with what became of each line: what is said of it beside it, and a click on it shows the rest."""
    from ._explain import notes

    cell = "padding:0 8px;font-family:monospace;white-space:pre;text-align:left;vertical-align:top"
    colours = {"native" if s == "compiled" else s: colour for s, (colour, _) in _STATES.items() if colour}
    most = max((row.share for row in lines if row.share), default=0)
    rows = []
    for row in lines:
        background = f"background:rgba({colours[row.state]},.16)" if row.state in colours else ""
        heat = f"background:rgba({_RED},{0.6 * (row.share or 0) / most:.3f})" if most else ""
        share = f'<td style="{cell};text-align:right;{heat}">{"" if row.share is None else f"{row.share:.1%}"}</td>'
        slow = [kind for kind in row.memory if "gather" in kind or "scatter" in kind]
        counted = [kind if row.memory[kind] == 1 else f"{row.memory[kind]} × {kind}" for kind in slow]
        chips = " ".join(_chip(text, _RED) for text in counted)
        told = [note for note in notes(row._replace(share=None)) if not any(note.endswith(kind) for kind in slow)]
        said = f'{chips} <span style="{_DIM}">{escape("; ".join(told))}</span>'
        more = "".join(f"<div>{_chip('do', _AMBER)} {escape(text)}</div>" for text in row.advice)
        more += "".join(f'<div style="{_DIM}">{escape(fact.rstrip())}</div>' for fact in row.facts)
        if more:
            said = f'<details><summary style="cursor:pointer">{said}</summary>{more}</details>'
        code = f'<td style="{cell};{_DIM}">{row.line}</td><td style="{cell};{background}">{escape(row.text)}</td>'
        first = share if most else ""
        beside = cell.replace("pre", "pre-wrap")
        rows.append(f'<tr data-state="{row.state or "none"}">{first}{code}<td style="{beside}">{said}</td></tr>')
    legend = _legend({"compiled" if row.state == "native" else row.state for row in lines})
    below = f'<div style="{_DIM}">{" ".join(legend)} · click a line for more</div>' if legend else ""
    table = f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
    below += _folded("loops", pre(loops)) if loops.strip() else ""
    return f'<div class="spmdvm-explain"><div>{escape(head)}</div>{table}{below}</div>'


def facts(module: Any, line: int) -> list[str]:
    """Give what became of a line of a module; nothing if it has no code."""
    try:
        told: list[str] = module.explain(line).splitlines()
    except ValueError:
        return []
    # The first line repeats the source.
    return told[1:]


def is_of_call(head: str) -> bool:
    """Return whether the head of a function of the bytecode is that of the loop of a call over arrays."""
    return "$map" in head.split("(", 1)[0]


def explained(module: Any) -> list[tuple[int, str, list[str]]]:
    """Give the lines of a module's source, each with its number and what became of it."""
    lines = module.source.splitlines()
    # To explain a line takes a time that grows with the program.
    known = range(1, len(lines) + 1) if len(lines) <= MOST_LINES else hot_lines(module)
    return [(n, text, facts(module, n) if n in known else []) for n, text in enumerate(lines, 1)]


def listing(module: Any) -> str:
    """Show the source of a module with what became of each line."""
    return annotated(explained(module))


def hot_lines(module: Any) -> list[int]:
    """Give the lines, not too many of them, at which loops that were hot begin, were left, or could not be compiled."""
    found: dict[int, None] = {}
    for loop in module.stats()["loops"]:
        parts = [part for v in loop["versions"] for part in (*v["guards"], *v["variants"])]
        lines = (loop["line"], loop["aborted_line"], *(part["line"] for part in parts))
        found.update(dict.fromkeys(line for line in lines if line))
    return list(found)[:MOST_LINES]


def profile(head: str, files: Sequence[tuple[str, Sequence[tuple[int, str, Any]]]]) -> str:
    """Show sources with what each line did: the hotter the redder, and a bar of active lanes."""
    cell = "padding:0 8px;text-align:right;font-family:monospace;white-space:pre"
    names = ("time", "times executed", "active lanes", "", "")
    top = "<tr>" + "".join(f'<th style="{cell}">{name}</th>' for name in names) + "</tr>"
    rows = []
    most = max((row.share for _, shown in files for _, _, row in shown if row), default=0)
    for file, shown in files:
        if len(files) > 1:
            rows.append(f'<tr><td colspan="5" style="{cell};text-align:left;{_DIM}">{escape(file)}</td></tr>')
        for number, text, row in shown:
            code = (
                f'<td style="{cell};{_DIM}">{number or "…"}</td><td style="{cell};text-align:left">{escape(text)}</td>'
            )
            if row is None:
                rows.append(f'<tr><td colspan="3"></td>{code}</tr>')
                continue
            heat = f"background:rgba({_RED},{0.6 * row.share / most:.3f})" if most else ""
            title = f"{row.time * 1e3:.3g} ms, {row.instructions:,} instructions"
            share = f'<td style="{cell};{heat}" title="{title}">{row.share:.1%}</td>'
            rows.append(f"<tr>{share}{_lanes_of_line(row, cell)}{code}</tr>")
    note = "counts are exact; times are those of the interpreter, from samples"
    table = f'<table style="border-collapse:collapse">{top}{"".join(rows)}</table>'
    return f'<div class="spmdvm-profile"><div>{escape(head)}</div>{table}<div style="{_DIM}">{note}</div></div>'


def _lanes_of_line(row: Any, cell: str) -> str:
    """Give the cells with how often a line was executed and with how many lanes."""
    if not row.possible:
        return f'<td style="{cell}"></td><td style="{cell}"></td>'
    percent = 100 * row.utilisation
    colour = _GREEN if percent > 75 else _AMBER if percent > 40 else _RED
    bar = f"background:linear-gradient(to right,rgba({colour},.35) {percent:.1f}%,transparent {percent:.1f}%)"
    title = f"{row.active:,} of {row.possible:,} lanes"
    return (
        f'<td style="{cell}">{row.executed:,}</td><td style="{cell};{bar}" title="{title}">{row.utilisation:.1%}</td>'
    )


# Longer timelines are shown without their bars, which nobody could tell apart.
_MOST_BARS = 2000


def timeline(head: str, runs: Sequence[Any], threads: Sequence[tuple[str, float]], seconds: float) -> str:
    """Show a bar for each run of a task, in a row for each thread: its name, and how busy it was."""
    rows = []
    for thread, (name, busy) in enumerate(threads):
        own = [run for run in runs if run.thread == thread]
        bars = "".join(_bar_of(run, k, seconds) for k, run in enumerate(own)) if len(runs) <= _MOST_BARS else ""
        cell = "padding:0 8px;font-family:monospace;white-space:pre;text-align:left"
        line = f'<div style="position:relative;height:1.3em;width:40em">{bars}</div>'
        rows.append(f'<tr><td style="{cell}">{escape(name)}</td><td style="{cell}">{busy:.0%}</td><td>{line}</td></tr>')
    note = "bars are tasks, dark and light in turn; the pointer over one shows which"
    table = f'<table style="border-collapse:collapse">{"".join(rows)}</table>'
    below = f'<div style="{_DIM}">{note}</div>' if 0 < len(runs) <= _MOST_BARS else ""
    return f'<div class="spmdvm-timeline"><div>{escape(head)}</div>{table}{below}</div>'


def _bar_of(run: Any, k: int, seconds: float) -> str:
    """Show a run of a task, the k-th of its thread; launches have different colours."""
    colour = (_BLUE, _AMBER, _GREEN, _RED)[run.launch % 4]
    left, width = (100 * time / seconds if seconds else 0.0 for time in (run.begin, run.end - run.begin))
    milliseconds = (run.end - run.begin) * 1e3
    title = escape(f"{run.function}, launch {run.launch}, task {run.task}: {milliseconds:.3g} ms", quote=True)
    place = f"position:absolute;top:1px;bottom:1px;left:{left:.3f}%;width:{width:.3f}%;min-width:1px"
    return f'<div title="{title}" style="{place};background:rgba({colour},{0.45 if k % 2 else 0.8})"></div>'


def _folded(title: str, inner: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def _declarations(module: Any) -> list[str]:
    return [repr(module[name])[len("<spmdvm function ") : -1] for name in module.exports]


def module(module: Any) -> str:
    """Show a module."""
    engine = module.stats()["engine"]
    head = f"<b>spmdvm module</b> {escape(module.name)} · width {module.width} · engine {escape(engine)}"
    rows = [[escape(declaration)] for declaration in _declarations(module)] or [["exports nothing"]]
    warnings = module.warnings
    parts = [f"<div>{head}</div>", _table([], rows)]
    if warnings:
        lines = module.source.splitlines()
        texts = [diagnostic(w, lines if w.file == module.name else None) for w in warnings]
        parts.append(_folded(f"{len(warnings)} warning{'s' * (len(warnings) > 1)}", "".join(texts)))
    parts.append(_folded("source, and what became of it", listing(module)))
    return "".join(parts)


def function(function: Any) -> str:
    """Show an exported function."""
    declaration, _, rest = (function.__doc__ or "").partition("\n")
    return f"<div><b>spmdvm function</b></div>{pre(declaration)}{_folded('more', pre(rest.strip()))}"


def kernel(kernel: Any) -> str:
    """Show a kernel: its source in Python, and what became of it when it was called last."""
    kind = "elementwise" if kernel.is_elementwise else "array"
    signature = escape(f"{kernel.__name__}{kernel._signature}")
    parts = [f"<div><b>{kind} kernel</b> <code>{signature}</code></div>"]
    instance = kernel._last
    if instance is None:
        parts.append(annotated((n, text, ()) for n, text in python_lines(kernel)))
        parts.append(f'<div style="{_DIM}">not called yet</div>')
        return "".join(parts)
    of_line = kernel._facts()
    parts.append(annotated((n, text, of_line.get(n, ())) for n, text in python_lines(kernel)))
    parts.append(_folded("SPMD text", listing(instance.module)))
    return "".join(parts)


def python_lines(kernel: Any) -> list[tuple[int, str]]:
    """Give the lines of a kernel, numbered as in its file."""
    source = kernel._source
    return [(source.first + k, line.rstrip("\n")) for k, line in enumerate(source.lines)]


# Diagnostics, findings, traps.


def _marked(text: str, column: int, end: int, colour: str) -> str:
    """Show a line with a part of it underlined. Columns count from 1."""
    start, stop = column - 1, max(end - 1, column)
    style = f"text-decoration:underline wavy rgb({colour});background:rgba({colour},.15)"
    middle = escape(text[start:stop]) or "&nbsp;"
    return f'{escape(text[:start])}<span style="{style}">{middle}</span>{escape(text[stop:])}'


def diagnostic(d: Any, lines: Sequence[str] | None = None) -> str:
    """Show an error or a warning with its lines, of the file where they are not given."""
    colour = _RED if d.severity == "error" else _AMBER
    parts = [f"<div>{_chip(f'{d.severity}[{d.code}]', colour)} <b>{escape(d.message)}</b></div>"]
    for label in d.labels or ():
        text = label.source or linecache.getline(label.file, label.line).rstrip("\n")
        if lines is not None and 0 < label.line <= len(lines):
            text = lines[label.line - 1]
        end = label.end_column if label.end_line == label.line else len(text) + 1
        place = f"{label.file}:{label.line}:{label.column}"
        shown = [f'<span style="{_DIM}">{escape(place)}</span>']
        if text:
            shown.append(f'<span style="{_DIM}">{label.line:>4} │</span> {_marked(text, label.column, end, colour)}')
        if label.text:
            shown.append(f'<span style="{_DIM}">     ╰─ {escape(label.text)}</span>')
        parts.append(f'<div style="{_MONO}">{chr(10).join(shown)}</div>')
    if d.help:
        parts.append(f"<div>{_chip('help', _BLUE)} {escape(d.help)}</div>")
    parts.extend(f'<div style="{_DIM}">note: {escape(note)}</div>' for note in d.notes)
    return f'<div class="spmdvm-diagnostic" style="margin:4px 0">{"".join(parts)}</div>'


# The beginnings of what a rendered message consists of.
_HEAD = re.compile(r"^(?:\[\w+\] )?(error|warning|trap|help|note)(?:\[\w+\])?:", re.IGNORECASE)


def rendered(text: str) -> str:
    """Show a message that is drawn in the source already."""
    shown = []
    for line in text.rstrip().splitlines():
        found = _HEAD.match(line.strip())
        if found:
            kind = found[1].lower()
            colour = {"error": _RED, "trap": _RED, "warning": _AMBER}.get(kind, _BLUE)
            at = line.index(found[0])
            rest = escape(line[at + len(found[0]) :])
            shown.append(f"{escape(line[:at])}{_chip(found[0], colour)}<b>{rest}</b>")
        else:
            shown.append(escape(line))
    return f'<div class="spmdvm-message" style="{_MONO}">{chr(10).join(shown)}</div>'


def _lanes(lanes: Sequence[int], values: Sequence[Any]) -> str:
    """Give a table of lanes and their values."""
    head = ["lane", *(str(lane) for lane in lanes)]
    same = len(values) == len(lanes)
    rows = [["value", *(escape(str(value)) for value in values)]] if same and lanes else []
    if not lanes:
        return _table(["value"], [[escape(str(value))] for value in values]) if values else ""
    return _table(head, rows)


def finding(f: Any) -> str:
    """Show what check mode has found, with its lanes and their values."""
    times = f" · {f.times} times" if f.times > 1 else ""
    head = f"{_chip(f.kind, _AMBER)} <b>{escape(f.message)}</b>{times}"
    return f"<div>{head}</div>{rendered(f.text)}{_lanes(f.lanes, f.values)}"


def error(e: Any) -> str:
    """Show an exception that draws its place in the source, and of a trap the lanes and arguments."""
    parts = [f"<div><b>{escape(type(e).__name__)}</b></div>", rendered(str(e))]
    arguments = getattr(e, "arguments", None)
    if arguments:
        parts.append(_table(["argument", "value"], [[escape(k), escape(repr(v))] for k, v in arguments.items()]))
    stack = getattr(e, "stack", ())
    if len(stack) > 1:
        rows = [[escape(f.function), escape(f"{f.file}:{f.line}" if f.file else "")] for f in stack]
        parts.append(_folded("calls", _table(["function", "at"], rows)))
    return "".join(parts)
