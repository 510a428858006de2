"""Modules and what is in them that functions import themselves: `import numpy as np` in a kernel.

They are found when the function is compiled. As names stand for them in all of the function, they are imported in its
own statements, in front of what uses them.
"""

from __future__ import annotations

import ast
from typing import Any

from .._errors import CompileError
from ._source import Source
from ._trees import walk


def imported_by(function: Any) -> dict[str, Any]:
    """Give what the names stand for that a function imports."""
    try:
        tree = Source.of(function).tree
    except CompileError:
        # That is told where it is translated.
        return {}
    found: dict[str, Any] = {}
    for statement in getattr(tree, "body", ()):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            # Python does it, also of relative modules.
            space = {name: function.__globals__.get(name) for name in ("__name__", "__package__", "__spec__")}
            code = compile(ast.Module([statement], []), "<import>", "exec")
            try:
                exec(code, space)
            except ImportError:
                continue
            found.update((name, space[name]) for name in names_of(statement) if name in space)
    return found


def names_of(statement: ast.Import | ast.ImportFrom) -> list[str]:
    """Give the names that an import assigns."""
    return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]


class Imports:
    """Translates imports; `Body` has what it needs to know."""

    def do_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        """`import numpy as np`, of which nothing is left when the kernel runs."""
        if node not in self.source.tree.body or self.scope.parent is not None:
            help = "import outside of the kernel, or in its first statements"
            self.fail(node, "`import` stands among the kernel's own statements", "in a part of it", help)
        for name in names_of(node):
            if self.counts.get(name) or any(param.name == name for param in self.params):
                self.fail(node, f"`{name}` is imported, and something else in another place", "here", "rename one")
            reads = (each for each in walk(self.source.tree) if isinstance(each, ast.Name) and each.id == name)
            early = next((each for each in reads if each.lineno < node.lineno), None)
            if early is not None:
                self.fail(early, f"`{name}` is imported further down", "it is read here", "import it before")
            try:
                self.lookup(name)
            except KeyError:
                text = ast.unparse(node)
                self.fail(node, f"`{text}` finds nothing", "when the kernel is compiled", "is it installed?")

    do_ImportFrom = do_Import
