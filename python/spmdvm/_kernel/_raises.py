"""`assert` and `raise`, whose texts are told when a kernel has failed."""

from __future__ import annotations

import ast
from typing import Any

from ._loops import Loops
from ._places import RAISED, Said
from ._types import Num
from ._values import constants

# What the texts may have in them.
_TOLD = (
    ast.JoinedStr, ast.FormattedValue, ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp,
    ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


class Raises(Loops):
    """Translates what fails where the program says so."""

    def do_Assert(self, node: ast.Assert) -> None:
        """`assert`."""
        text = None if node.msg is None else self._text_named(node.msg)
        written = ast.unparse(getattr(node, "written", node.test))
        if not self.source.is_told:
            # Its line is not the user's.
            return self.demand(None, self.truth(node.test), text or written)
        place = self.source.line(node)
        message = "" if node.msg is None else f" ({ast.unparse(node.msg) if text is None else text})"
        told: str | Said = written + message
        if isinstance(node.msg, ast.JoinedStr):
            told = Said(written, node.msg, self._constants_in("an `assert`", node.msg))
        at = self._told_at(place, told)
        which = f', "assert {at}"' if at else ""
        self.emit(f"assert({self.truth(node.test)}{which});")

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
        named = self._text_named(args[0]) if args else ""
        text = _as_text(args[0]) if named is None else ast.JoinedStr([ast.Constant(named)])
        # Lanes that are not here do not fail, and the one that does is told.
        test = "false" if self.is_uniform_here() else "programIndex < 0"
        self.require(node, test, Said("", text, self._constants_in("a `raise`", text), error))
        self.assigned = None

    def require(self, node: Any, test: str, told: Said) -> None:
        """Write that an exception is raised at the line of a node unless something holds."""
        place = self.source.line(node)
        at = self._told_at(place, told)
        which = f"{RAISED} {at}" if at else RAISED
        self.emit(f'assert({test}, "{which}");')

    def raise_unless(self, node: Any, test: str, error: type[Exception], text: str) -> None:
        """Write that an exception with a text is raised unless something holds."""
        self.require(node, test, Said("", ast.JoinedStr([ast.Constant(text)]), {}, error))

    def _text_named(self, node: ast.expr) -> str | None:
        """Give a text that is written, or that a name stands for outside; None of anything else."""
        found = self._found_at(node)
        return found if isinstance(found, str) else None

    def _told_at(self, place: Any, told: str | Said) -> int:
        """Note what is told at a line, and give which it is there: a function may be made several times."""
        all_of_line = self.program.assertions.setdefault((place.file, place.number), [])
        if told not in all_of_line:
            all_of_line.append(told)
        return all_of_line.index(told)

    def _constants_in(self, what: str, text: ast.JoinedStr) -> dict[str, Any]:
        """Give what names in a text stand for that are no parameters.

        The text is put together when the kernel has failed, of what is known outside of it then.
        """
        found = {}
        numbers = {param.name for param in self.params if isinstance(param.type, Num) and self.identity is None}
        for node in ast.walk(text):
            is_known = isinstance(node, _TOLD)
            if isinstance(node, ast.Name) and (node.id not in numbers or self.counts.get(node.id)):
                is_known = self.read_name(node) is None and _is_told(self.resolve(node))
                found.update({node.id: self.resolve(node)} if is_known else {})
            if not is_known:
                message = f"the text of {what} can have parameters of the kernel in it that are not assigned"
                help = "print it before" + (": `if not …: print(…)`" if what == "an `assert`" else ", with `print(…)`")
                self.fail(node, message, "this is known only while the kernel runs", help)
        return found


def _is_told(found: Any) -> bool:
    """Return whether what a name stands for outside can be part of a text: a number, or a text."""
    return isinstance(found, str) or constants(found) is not None


def is_nothing(node: ast.expr | None) -> bool:
    """Return whether a statement is given nothing, or `None`."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def _as_text(node: ast.expr) -> ast.JoinedStr:
    """Give what an exception is made of as an f-string."""
    if isinstance(node, ast.JoinedStr):
        return node
    return ast.JoinedStr([ast.copy_location(ast.FormattedValue(node, -1), node)])
