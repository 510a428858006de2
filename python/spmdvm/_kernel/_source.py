"""Where kernels come from: their text and syntax tree, and errors that point into it."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
import tokenize
import weakref
from typing import Any, NamedTuple, NoReturn

from .._errors import CompileError, Diagnostic, Label
from . import _lambdas, _library, _texts
from ._plain import as_function, plain
from ._trees import children, walk


class Line(NamedTuple):
    """A line of a file, from 1, and what stands there."""

    file: str
    number: int
    text: str


class Declaration(Line):
    """The place of a declaration in SPMD text that Python does not have: it gives its variable no value."""

    __slots__ = ()


def excerpt(place: Line, column: int, end_column: int, note: str) -> str:
    """Draw a line with a place in it marked. Columns count from 1."""
    text = place.text.rstrip("\n").expandtabs(4)
    number = str(place.number)
    pad = " " * len(number)
    length = max(1, min(end_column, len(text) + 1) - column)
    middle = (length - 1) // 2
    marks = "─" * middle + "┬" + "─" * (length - 1 - middle)
    before = " " * (column - 1)
    return "\n".join(
        [
            f"{pad}  ╭─[ {place.file}:{place.number}:{column} ]",
            f"{pad}  │",
            f" {number} │ {text}",
            f"{pad}  │ {before}{marks}",
            f"{pad}  │ {before}{' ' * middle}╰── {note}",
            "─" * (len(number) + 2) + "╯",
        ]
    )


# The sources of functions that have been read, or that were made of their source.
_read: weakref.WeakKeyDictionary[Any, Source] = weakref.WeakKeyDictionary()


class Source:
    """The text of a function, with the places that its lines and columns have in the file."""

    def __init__(self, tree: Any, file: str, first: int, lines: tuple[str, ...]) -> None:
        """Keep a function's tree, and the lines of the file that it was read from, of which the first has a number."""
        self.tree = tree
        self.file = file
        self.first = first
        self.lines = lines
        self._column = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
        # Whether it is the caller's, who is told its lines; functions that are written here call others.
        self.is_told = not _library.is_own(file)
        # Of a lambda: where it begins and ends.
        self._span: _lambdas.Span | None = None
        # What it is annotated to return, if that is known; the tree has the text.
        self.returned: Any = inspect.Signature.empty

    @staticmethod
    def of(function: Any) -> Source:
        """Read the source of a function."""
        found = _read.get(function)
        if found is not None:
            return found
        if _lambdas.is_lambda(function):
            source = Source.of_lines(*_lambdas.lines_of(function))
            source.keep_for(function)
            return source
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            name = getattr(function, "__name__", repr(function))
            code = getattr(function, "__code__", None)
            _lambdas.unreadable(f"`{name}`", code.co_filename if code is not None else "<unknown>")
        except (tokenize.TokenError, SyntaxError):
            _lambdas.changed(f"`{function.__name__}`", function)
        file = inspect.getsourcefile(function) or "<unknown>"
        tree = _function_in(lines)
        if tree is not None:
            _refuse_deep(tree, file, first)
        if tree is None and inspect.iscoroutinefunction(function):
            raise CompileError(f"{file}:{first}: a kernel is a function written with `def`")
        if tree is None or not _texts.is_of_text(function, tree):
            _lambdas.changed(f"`{function.__name__}`", function)
        source = Source(plain(tree), file, first, tuple(lines))
        returned = function.__annotations__.get("return", source.returned)
        source.returned = source.returned if isinstance(returned, str) else returned
        source.keep_for(function)
        return source

    @staticmethod
    def of_lines(file: str, first: int, lines: tuple[str, ...], span: _lambdas.Span | None = None) -> Source:
        """Read a function's lines; of a lambda, what lies in a span of them."""
        if span is not None:
            given = _lambdas.parse(lines, span)
            _refuse_deep(given, file, first)
            source = Source(plain(as_function(given, "lambda_")), file, first, lines)
            source._column, source._span = 0, span
            return source
        found = _function_in(lines)
        if found is None:
            raise CompileError(f"{file}:{first}: a kernel is a function written with `def`")
        _refuse_deep(found, file, first)
        return Source(plain(found), file, first, lines)

    def origin(self) -> tuple[Any, ...]:
        """Give what `of_lines` makes the source of again."""
        return self.file, self.first, self.lines, self._span

    def keep_for(self, function: Any) -> None:
        """Note that this is the source of a function."""
        _read[function] = self

    @staticmethod
    def of_expression(text: str, what: str) -> Source:
        """Read an expression as a function of its names, in the order in which they occur."""
        file = f"<{what}>"
        lines = tuple(text.splitlines())
        try:
            body = ast.parse(text, file, mode="eval").body
        except (MemoryError, RecursionError):
            # Python's own parser has its limits, too.
            _fail_deep(file, 1)
        except SyntaxError as error:
            number, column, message = error.lineno or 1, error.offset, error.msg
            line = Line(file, number, lines[number - 1] if number <= len(lines) else "")
            if not column:
                # Python has looked for what is behind the last line.
                column, message = len(line.text) + 1, "something is missing at the end of the expression"
            drawn = excerpt(line, column, column + 1, "here")
            raise CompileError(f"error[K0001]: {message}\n{drawn}{_help_with(text)}") from None
        _refuse_deep(body, file, 1)
        source = Source(body, file, 1, lines)
        source._column = 0
        return source

    def inner(self, tree: Any) -> Source:
        """Give the source of a function within this one."""
        return Source(tree, self.file, self.first, self.lines)

    @property
    def identity(self) -> tuple[str, int, str]:
        """What a function is known by, however often it is translated."""
        return self.file, self.first + self.tree.lineno, getattr(self.tree, "name", "")

    def with_unset(self, names: frozenset[str]) -> Source:
        """Give a function in which some variables are None at first, as they may have no value where they are read."""
        if not names:
            return self
        at, new = self.tree.body[0], copy.copy(self)
        begins: list[Any] = []
        for name in sorted(names):
            begin: Any = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
            begins.append(ast.fix_missing_locations(ast.copy_location(begin, at)))
            begins[-1].is_unset = True
        new.tree = copy.copy(self.tree)
        new.tree.body = [*begins, *self.tree.body]
        return new

    def is_variable(self, name: str) -> bool:
        """Return whether the function has a variable of this name somewhere."""
        return _has_variable(self.tree, name)

    def line_of(self, number: int) -> str:
        """Give the text of a line by its number in the file."""
        at = number - self.first
        return self.lines[at] if 0 <= at < len(self.lines) else ""

    def line(self, node: Any) -> Line:
        """Give the line in which a node begins."""
        at = getattr(node, "lineno", 1) - 1
        return Line(self.file, self.first + at, self.lines[at] if at < len(self.lines) else "")

    def place(self, node: Any) -> tuple[int, int, int]:
        """Give the line of a node, its first column and the one behind its last, in the file."""
        line = getattr(node, "lineno", 1)
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        if getattr(node, "end_lineno", line) != line or end is None:
            end = start + 1
        # The tree counts bytes.
        text = self.line(node).text[self._column :].encode()
        start, end = (len(text[:at].decode(errors="replace")) if at <= len(text) else at for at in (start, end))
        return line + self.first - 1, start + self._column + 1, end + self._column + 1

    def fail(self, node: Any, message: str, note: str, help: str | None = None) -> NoReturn:
        """Raise an error at a node: what is wrong, what stands below the place, and what to do."""
        line, column, end = self.place(node)
        text = f"error[K0002]: {message}\n{excerpt(self.line(node), column, end, note)}"
        if help:
            text += f"\n  help: {help}"
        label = Label(self.file, line, column, line, end, note)
        diagnostic = Diagnostic(
            "K0002", "kernel", "error", message, self.file, line, column, line, end, (label,), help, ()
        )
        raise CompileError(text, [diagnostic])


# The compiler takes no more; of most operators half as many.
_DEEPEST = 256
TOO_DEEP = (
    "give parts of it names (in a function with `@spmdvm.kernel`), or put what is added into an array for `np.sum`"
)


def _refuse_deep(tree: ast.AST, file: str, first: int) -> None:
    """Fail if operations stand within one another so deeply that going through them would fail in Python."""
    nodes = [(tree, 0)]
    while nodes:
        node, depth = nodes.pop()
        if depth > _DEEPEST:
            _fail_deep(file, first + getattr(node, "lineno", 1) - 1)
        nodes.extend((child, depth + isinstance(child, ast.expr)) for child in children(node))


def _fail_deep(file: str, number: int) -> NoReturn:
    """Raise an error for an expression that is too long to be shown."""
    message = f"an expression is nested too deeply: more than {_DEEPEST} operations, each within the next"
    label = Label(file, number, 1, number, 2, "here")
    diagnostic = Diagnostic("K0002", "kernel", "error", message, file, number, 1, number, 2, (label,), TOO_DEEP, ())
    raise CompileError(f"error[K0002]: {message}\n  in line {number} of {file}\n  help: {TOO_DEEP}", [diagnostic])


def _help_with(text: str) -> str:
    """Say what to do with statements that are no expression."""
    try:
        first = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return ""
    help = "an expression has one value; statements stand in a function, `@spmdvm.kernel`"
    if isinstance(first, ast.Assign):
        help = (
            f"assign what it gives: `{ast.unparse(first.targets[0])} = spmdvm.evaluate({ast.unparse(first.value)!r})`"
        )
    return f"\n  help: {help}"


def _function_in(lines: Any) -> ast.FunctionDef | None:
    """Give the function that lines have, which may be indented."""
    try:
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except SyntaxError:
        return None
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef)), None)


def _has_variable(tree: ast.AST, name: str) -> bool:
    return any(
        (isinstance(node, ast.arg) and node.arg == name)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name)
        for node in walk(tree)
    )
