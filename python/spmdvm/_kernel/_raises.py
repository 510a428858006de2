"""`assert` and `raise`, whose texts are told when a kernel has failed."""

from __future__ import annotations

import ast
from typing import Any

from ._messages import Messages
from ._places import RAISED, Said
from ._values import Value


class Raises(Messages):
    """Translates what fails where the program says so."""

    def do_Assert(self, node: ast.Assert) -> None:
        """`assert`."""
        text = None if node.msg is None else self.text_named(node.msg)
        written = ast.unparse(getattr(node, "written", node.test))
        if not self.source.is_told:
            # Its line is not the user's.
            return self.demand(None, self.truth(node.test), text or written)
        holds = self.truth(node.test)
        if node.msg is None or text is not None:
            return self._write_assert(node, holds, written + (f" ({text})" if text is not None else ""))
        start, indent = len(self.lines), self.indent
        self.indent += 1
        said, values = self._said("an `assert`", node.msg, written)
        if values:
            self.hand_out(values)
            self._write_assert(node, self._nobody(), said)
        self.indent = indent
        if not values:
            return self._write_assert(node, holds, said)
        inner = self.lines[start:]
        del self.lines[start:]
        self.emit(f"if (!({holds})) {{")
        self.lines.extend(inner)
        self.emit("}")

    def _write_assert(self, node: ast.Assert, holds: str, told: str | Said) -> None:
        at = self._told_at(self.source.line(node), told)
        which = f', "assert {at}"' if at else ""
        self.emit(f"assert({holds}{which});")

    def do_Raise(self, node: ast.Raise) -> None:
        """`raise ValueError("…")`."""
        call = node.exc if isinstance(node.exc, ast.Call) else None
        given = node.exc if call is None else call.func
        error = self.resolve(given) if isinstance(given, (ast.Name, ast.Attribute)) else None
        if not (isinstance(error, type) and issubclass(error, Exception)):
            help = 'write it here, with a text: `raise ValueError("negative")`'
            self.fail(node, "`raise` takes an exception", "not known", help)
        args = [] if call is None else call.args
        if len(args) > 1 or (call is not None and call.keywords) or not is_nothing(node.cause):
            self.fail(node, "an exception of a kernel has a text, and nothing else", "here", "put it in an f-string")
        said, values = self._said("a `raise`", args[0] if args else ast.Constant(""), "", error)
        if values:
            self.hand_out(values)
        self.require(node, self._nobody(), said)
        self.assigned = None

    def _nobody(self) -> str:
        """Give a condition that does not hold: lanes that are not here do not fail, and the one that does is told."""
        return "false" if self.is_uniform_here() else "programIndex < 0"

    def _said(
        self, what: str, node: ast.expr, condition: str, error: type[Exception] | None = None
    ) -> tuple[Said, list[Any]]:
        """Give what is said, and what the program hands out for it."""
        text, outside, told, values = self.message(what, node)
        return Said(condition, text, outside, error, tuple(told)), values

    def require(self, node: Any, test: str, told: Said) -> None:
        """Write that an exception is raised at the line of a node unless something holds."""
        place = self.source.line(node)
        at = self._told_at(place, told)
        which = f"{RAISED} {at}" if at else RAISED
        self.emit(f'assert({test}, "{which}");')

    def raise_unless(self, node: Any, test: str, error: type[Exception], text: str) -> None:
        """Write that an exception with a text is raised unless something holds."""
        self.require(node, test, Said("", ast.JoinedStr([ast.Constant(text)]), {}, error))

    def raise_value_unless(self, node: Any, test: str, error: type[Exception], value: Value, written: str) -> None:
        """Write that an exception of a value is raised unless something holds, whose text is that of the value."""
        told = self.told_as("told__0", value, written)
        piece = ast.FormattedValue(ast.Name(told.name, ast.Load()), ord("r"))
        said = Said("", ast.JoinedStr([piece]), {}, error, (told,))
        self.emit(f"if (!({test})) {{")
        self.indent += 1
        self.hand_out(list(value.leaves))
        self.require(node, self._nobody(), said)
        self.indent -= 1
        self.emit("}")

    def _told_at(self, place: Any, told: str | Said) -> int:
        """Note what is told at a line, and give which it is there: a function may be made several times."""
        all_of_line = self.program.assertions.setdefault((place.file, place.number), [])
        if told not in all_of_line:
            all_of_line.append(told)
        return all_of_line.index(told)


def is_nothing(node: ast.expr | None) -> bool:
    """Return whether a statement is given nothing, or `None`."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)
