"""Functions of Python that index arrays become part of their callers.

The language itself replaces calls of functions that cannot trap only. In others an index is some number of each lane,
whatever it was where they were called, so that elements next to each other would be collected one by one. Lines of a
function keep their places; a trap in them tells the function and where it was called, as if it had been. The stepper,
which steps into functions, gets a text in which they are called.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ._source import Declaration, Line

# The lines of a function that are worth it, and of all those in one.
_MOST_LINES, _MOST_IN_ONE = 48, 400
# Names, and texts, in which there are none.
_NAME = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.])[A-Za-z_]\w*')
_SIMPLE = re.compile(r"[A-Za-z_]\w*|\(?-?[0-9.]+(e[+-]?[0-9]+)?(f|f16|d|ll)?\)?")
_CALL_OR_ELEMENT = re.compile(r"\w\(|\[")
# One element, which is the same number in an expression of the caller's.
_ELEMENT = re.compile(r"return (\w+\[[^\[\]]*\]);")


class Inside(Line):
    """A line of a function that is part of another one.

    Attributes:
        function: its name in Python.
        caller: the line that calls it, which may be such a one.
    """

    function: str
    caller: Line

    @staticmethod
    def of(place: Line, function: str, caller: Line) -> Inside:
        """Give a line of a function that is called in another line."""
        new = Inside(*place)
        if isinstance(place, Inside):
            function, caller = place.function, Inside.of(place.caller, function, caller)
        new.function, new.caller = function, caller
        return new


class Inline(NamedTuple):
    """A function as it becomes part of others.

    Attributes:
        name: what it is called in Python.
        lines: its body, in which `return` stands last only.
        params: the types of its parameters and their names, behind which `[]` stands for arrays.
        own: the names that are declared in it.
        has_effects: whether it does anything but give a result.
    """

    name: str
    lines: list[Any]
    params: list[tuple[str, str]]
    own: list[str]
    has_effects: bool


def inline_of(body: Any, name: str) -> Inline | None:
    """Give a function that has been translated as what becomes part of others; None if it remains one."""
    texts = [text for text, _ in body.lines]
    if body.uniform or body.hidden or body.arrays is not None or not body.source.is_told:
        return None
    if len(texts) > _MOST_LINES or not any("[" in text for text in texts) or any("print(" in text for text in texts):
        return None
    lines, _ = _read(body.lines, 0)
    lines = _with_last_returns(lines)
    if lines is None:
        return None
    params = [tuple(declared.rsplit(" ", 1)) for declared in body.param_list()]
    variables = [variable.text for variable in body.regions[0].variables.values()]
    arrays = [body.made_text(array) for array in body.regions[0].arrays]
    # (With the lengths of parts and where their rows begin: `part__1__n0`.)
    temporaries = set(body.temporaries)
    names = {name for text in texts for name in _NAME.findall(text) if name.rpartition("__")[0] in temporaries}
    own = [*variables, *arrays, *body.temporaries, *sorted(names - temporaries)]
    return Inline(name, lines, params, own, bool(body.stored))


# The lines of a function: one, or a block, which is the line that begins it, what is in it, and `else`.
class _Block(NamedTuple):
    head: tuple[str, Line]
    inner: list[Any]
    other: list[Any] | None


def _read(lines: list[tuple[str, Line]], at: int) -> tuple[list[Any], int]:
    """Read lines until the end of a block."""
    found: list[Any] = []
    while at < len(lines) and not lines[at][0].lstrip().startswith("}"):
        text, place = lines[at]
        line = (text.strip(), place)
        at += 1
        if not line[0].endswith("{"):
            found.append(line)
            continue
        inner, at = _read(lines, at)
        other = None
        if lines[at][0].strip() == "} else {":
            other, at = _read(lines, at + 1)
        found.append(_Block(line, inner, other))
        at += 1
    return found, at


def _with_last_returns(lines: list[Any]) -> list[Any] | None:
    """Have `return` stand last only, with what follows an `if` that returns in its `else`; None if that cannot be."""
    new: list[Any] = []
    for at, line in enumerate(lines):
        if not isinstance(line, _Block):
            new.append(line)
            if _is_return(line):
                return new
            continue
        if not _has_return([line]):
            new.append(line)
            continue
        if not line.head[0].startswith("if "):
            return None
        rest, inner, other = lines[at + 1 :], line.inner, line.other or []
        if _always_returns(inner):
            other = [*other, *rest]
        elif _always_returns(other):
            inner = [*inner, *rest]
        else:
            return None
        both = _with_last_returns(inner), _with_last_returns(other)
        if both[0] is None or both[1] is None:
            return None
        new.append(_Block(line.head, both[0], both[1]))
        return new
    return new


def _is_return(line: tuple[str, Line]) -> bool:
    return line[0].startswith("return") or line[0].endswith(" return r__; }")


def _has_return(lines: list[Any]) -> bool:
    return any(
        _has_return([*line.inner, *(line.other or [])]) if isinstance(line, _Block) else _is_return(line)
        for line in lines
    )


def _always_returns(lines: list[Any]) -> bool:
    last = lines[-1] if lines else None
    if isinstance(last, _Block):
        return _always_returns(last.inner) and _always_returns(last.other or [])
    return last is not None and _is_return(last)


def inlined(body: Any, inline: Inline, result: Any, texts: list[str], as_statement: bool) -> str | None:
    """Write a function where it is called with such arguments; give its result, or None if it has to be called.

    Where only some lanes may compute it, that is an expression; else lines before what they stand in.
    """
    is_part = body.in_arm > 0
    if body.is_uniform_here() or (not as_statement and (inline.has_effects or body.has_called)):
        return None
    element = None
    if len(inline.lines) == 1 and not isinstance(inline.lines[0], _Block):
        element = _ELEMENT.fullmatch(inline.lines[0][0])
    # Such an expression may have its arguments in several places: they are sums and the like.
    if is_part and (element is None or any(map(_CALL_OR_ELEMENT.search, texts))):
        return None
    if any(name.endswith("[]") and not text.isidentifier() for (_, name), text in zip(inline.params, texts)):
        return None
    if body.n_inlined > _MOST_IN_ONE:
        return None
    new = {}
    for (ty, name), text in zip(inline.params, texts):
        name = name.removesuffix("[]")
        if is_part or _SIMPLE.fullmatch(text):
            new[name] = text if _SIMPLE.fullmatch(text) else f"({text})"
            continue
        new[name] = body.temporary("p")
        body.emit(f"const {ty.removeprefix('const ')} {new[name]} = {text};")
    if element is not None and (is_part or as_statement):
        return _renamed(element[1], new)
    for name in inline.own:
        new[name] = body.temporary(name)
        shown = body.program.python_variables
        shown[new[name]] = shown.get(name, name)
    to = body.temporary("result") if result.types is not None else ""
    kind = f"{result.name}_result" if result.is_tuple else result.types[0].spmd if result.types is not None else ""
    start = len(body.lines)
    is_straight = bool(inline.lines) and not isinstance(inline.lines[-1], _Block)
    if to and not is_straight:
        body.emit(f"{kind} {to};")
    place = body.at

    def write(lines: list[Any]) -> None:
        for line in lines:
            text, at = line.head if isinstance(line, _Block) else line
            body.at = Inside.of(at, inline.name, place) if not isinstance(at, Declaration) else at
            if isinstance(line, _Block):
                body.emit(_renamed(text, new))
                body.indent += 1
                write(line.inner)
                if line.other:
                    body.indent -= 1
                    body.emit("} else {")
                    body.indent += 1
                    write(line.other)
                body.indent -= 1
                body.emit("}")
                continue
            if _is_return(line):
                text = _returned(text, to, kind, is_straight)
            if text:
                body.emit(_renamed(text, new))

    write(inline.lines)
    body.at = place
    body.n_inlined += len(body.lines) - start
    return to


def _returned(text: str, to: str, kind: str, is_declared: bool) -> str:
    """Write a `return` as an assignment."""
    if not to:
        return ""
    if text.startswith("return"):
        value = text.removeprefix("return ").removesuffix(";")
        return f"const {kind} {to} = {value};" if is_declared else f"{to} = {value};"
    declared = f"{kind} {to}; " if is_declared else ""
    return declared + text.replace("Result__", kind).replace(" return r__; }", f" {to} = r__; }}")


def _renamed(text: str, new: dict[str, str]) -> str:
    return _NAME.sub(lambda found: new.get(found[0], found[0]), text)
