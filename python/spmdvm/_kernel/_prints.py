"""`print` in kernels: texts, numbers and f-strings become a format of the language, and its values."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple, NoReturn

from ._calls import text_of
from ._types import BOOL, FLOAT64
from ._values import Value

# What formats of Python have in common with those of the language.
_FORMAT = re.compile(r"([<>]?)(\+?)(0?)([1-9][0-9]{0,2})?(?:\.([0-9]{1,2}))?([a-zA-Z]?)")
# What begins a text that would be taken for a part of the format of the value before it.
_GOES_ON = re.compile(r"[-+.%0-9A-Za-z]")


class _Shown(NamedTuple):
    """A value with its format, `%s` if it is shown as it is."""

    format: str
    value: str


def write(body: Any, node: ast.Call) -> None:
    """Translate a call of `print`."""
    between = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        text = text_of(keyword.value)
        if keyword.arg not in between or text is None:
            body.fail(keyword.value, "`print` takes `sep=` and `end=` in a kernel, texts", f"`{keyword.arg}=`")
        between[keyword.arg] = text
    pieces: list[str | _Shown] = []
    for k, part in enumerate(node.args):
        pieces.extend([between["sep"]] if k else [])
        text = text_of(part)
        if text is not None:
            pieces.append(text)
        elif isinstance(part, ast.JoinedStr):
            pieces.extend(_formatted(body, piece) for piece in part.values)
        else:
            pieces.append(_Shown("%s", _number(body, part).text))
    pieces.append(between["end"])
    form, arguments = _joined(pieces)
    body.emit(f'print("{form}"{"".join(f", {argument}" for argument in arguments)});')


def _joined(pieces: list[str | _Shown]) -> tuple[str, list[str]]:
    """Give the format and the values; a text that could be a part of the format before it is a value, too."""
    merged: list[str | _Shown] = []
    for piece in pieces:
        if isinstance(piece, str) and merged and isinstance(merged[-1], str):
            merged[-1] += piece
        elif piece:
            merged.append(piece)
    form, arguments = [], []
    for k, piece in enumerate(merged):
        if isinstance(piece, str):
            is_apart = not k or not _GOES_ON.match(piece)
            form.append(_escaped(piece).replace("%", "%%") if is_apart else "%s")
            arguments.extend([] if is_apart else [f'"{_escaped(piece)}"'])
            continue
        after = merged[k + 1] if k + 1 < len(merged) else ""
        goes_on = not isinstance(after, str) or _GOES_ON.match(after)
        form.append("%" if piece.format == "%s" and not goes_on else piece.format)
        arguments.append(piece.value)
    return "".join(form), arguments


def _formatted(body: Any, piece: Any) -> str | _Shown:
    """Translate a piece of an f-string."""
    text = text_of(piece)
    if text is not None:
        return text
    if piece.conversion != -1:
        help = f"leave it out: `{{{ast.unparse(piece.value)}}}`"
        body.fail(piece, "numbers are printed as they are in a kernel", f"`!{chr(piece.conversion)}`", help)
    value = _number(body, piece.value)
    if piece.format_spec is None:
        return _Shown("%s", value.text)
    texts = [text_of(part) for part in piece.format_spec.values]
    spec = None if None in texts else "".join(map(str, texts))
    if spec == "":
        return _Shown("%s", value.text)
    return _with_format(body, piece, value, spec)


def _with_format(body: Any, piece: Any, value: Value, spec: str | None) -> _Shown:
    """Translate a number with a format, if that shows it as Python does."""
    name, kind = ast.unparse(piece.value), value.type.kind

    def refuse(what: str, help: str) -> NoReturn:
        shown = "a format" if spec is None else f"`:{spec}`"
        body.fail(piece, f"this format is not in a kernel's `print`: {what}", shown, help)

    like = f"`{{{name}:8.3f}}`" if kind == "f" else f"`{{{name}:5d}}`"
    if value.type == BOOL or kind == "b":
        refuse("a bool has none", f"leave it out, `{{{name}}}`, or convert it, `{{int({name}):d}}`")
    if spec is None:
        refuse("what it is made of has to be known", f"write digits, such as {like}")
    found = _FORMAT.fullmatch(spec)
    if found is None:
        refuse("it has a width, `.` and digits, and a letter", f"write one like {like}")
    align, plus, zero, width, digits, letter = found.groups()
    if letter in tuple("eEfFgG"):
        if plus or zero:
            refuse("signs and zeros stand in front of integers only", f"leave them out, as in {like}")
        if kind != "f":
            value = body.cast(value, FLOAT64, piece.value)
    elif kind == "f":
        refuse("a float has one of the letters `f`, `e` and `g`", f"write one like {like}")
    elif letter not in ("", "d", "x", "X", "o") or digits:
        refuse("an integer has one of the letters `d`, `x`, `o`, `f`, `e` and `g`", f"write one like {like}")
    elif kind == "i" and letter not in ("", "d"):
        refuse("a number that may be negative has the letter `d`", f"convert it: `{{np.uint64({name}):{spec}}}`")
    elif plus and kind == "u":
        refuse("what has no sign shows none", f"leave it out, as in {like}")
    if align == "<" and zero:
        refuse("zeros stand in front", f"leave one out, as in {like}")
    flags = "-" * (align == "<") + plus + zero * bool(width)
    if align == ">" and zero:
        # (There Python puts zeros in front of the sign.)
        refuse("zeros stand behind the sign", f"leave `>` out, as in {like}")
    number = (width or "") + (f".{digits}" if digits else "")
    return _Shown(f"%{flags}{number}{letter or 'd'}", value.text)


def _number(body: Any, node: ast.expr) -> Value:
    value: Value = body.number(node)
    if value.type.kind == "c":
        help = "print its parts: `z.real`, `z.imag`"
        body.fail(node, "complex numbers are not printed in a kernel", f"`{value.type}`", help)
    return value


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
