"""Where kernels come from: their text and syntax tree, and errors that point into it."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from typing import Any, NoReturn

from .._errors import CompileError, Diagnostic, Label


def excerpt(file: str, line: int, column: int, end_column: int, note: str) -> str:
    """Draw a line of a file with a place in it marked. Columns count from 1."""
    text = linecache.getline(file, line).rstrip("\n").expandtabs(4)
    number = str(line)
    pad = " " * len(number)
    length = max(1, min(end_column, len(text) + 1) - column)
    middle = (length - 1) // 2
    marks = "─" * middle + "┬" + "─" * (length - 1 - middle)
    before = " " * (column - 1)
    return "\n".join(
        [
            f"{pad}  ╭─[ {file}:{line}:{column} ]",
            f"{pad}  │",
            f" {number} │ {text}",
            f"{pad}  │ {before}{marks}",
            f"{pad}  │ {before}{' ' * middle}╰── {note}",
            "─" * (len(number) + 2) + "╯",
        ]
    )


class Source:
    """The text of a function, with the places that its lines and columns have in the file."""

    def __init__(self, tree: Any, file: str, line: int, column: int) -> None:
        """Keep the tree of a function whose first line and column stand at those of a file, from 0."""
        self.tree = tree
        self.file = file
        self._line = line
        self._column = column

    @staticmethod
    def of(function: Any) -> Source:
        """Read the source of a function."""
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError) as error:
            name = getattr(function, "__name__", repr(function))
            raise CompileError(
                f"the source of `{name}` cannot be read: kernels are compiled from it ({error})"
            ) from None
        text = "".join(lines)
        flat = textwrap.dedent(text)
        column = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        file = inspect.getsourcefile(function) or "<unknown>"
        tree = ast.parse(flat)
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        if not found:
            raise CompileError(f"{file}:{first}: a kernel is a function written with `def`")
        return Source(found[0], file, first - 1, column)

    @staticmethod
    def of_expression(text: str, what: str) -> Source:
        """Read an expression as a function of its names, in the order in which they occur."""
        file = f"<{what}>"
        linecache.cache[file] = (len(text), None, [line + "\n" for line in text.splitlines()], file)
        try:
            body = ast.parse(text, file, mode="eval").body
        except SyntaxError as error:
            column = error.offset or 1
            drawn = excerpt(file, error.lineno or 1, column, column + 1, error.msg)
            raise CompileError(f"error[K0001]: {error.msg}\n{drawn}") from None
        return Source(body, file, 0, 0)

    def inner(self, tree: Any) -> Source:
        """Give the source of a function within this one."""
        return Source(tree, self.file, self._line, self._column)

    def place(self, node: Any) -> tuple[int, int, int]:
        """Give the line of a node, its first column and the one behind its last, in the file."""
        line = getattr(node, "lineno", 1)
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        if getattr(node, "end_lineno", line) != line or end is None:
            end = start + 1
        # The tree counts bytes.
        text = linecache.getline(self.file, line + self._line)[self._column :].encode()
        start, end = (len(text[:at].decode(errors="replace")) if at <= len(text) else at for at in (start, end))
        return line + self._line, start + self._column + 1, end + self._column + 1

    def fail(self, node: Any, message: str, note: str, help: str | None = None) -> NoReturn:
        """Raise an error at a node: what is wrong, what stands below the place, and what to do."""
        line, column, end = self.place(node)
        text = f"error[K0002]: {message}\n{excerpt(self.file, line, column, end, note)}"
        if help:
            text += f"\n  help: {help}"
        label = Label(self.file, line, column, line, end, note)
        diagnostic = Diagnostic(
            "K0002", "kernel", "error", message, self.file, line, column, line, end, (label,), help, ()
        )
        raise CompileError(text, [diagnostic])
