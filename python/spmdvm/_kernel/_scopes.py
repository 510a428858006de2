"""Functions within kernels: which names belong to which function, and which variables of others one needs.

A function within a kernel reads the variables of the functions around it by lambda lifting (Johnsson, 1985): wherever
it is called, they are passed to it as further arguments, so that it sees what they are at the time of the call. What
calls a function needs its variables, too.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Callable

from ._plain import all_parameters
from ._trees import children, own_nodes, walk


class Scope:
    """The names of a function, with those of the functions in it."""

    def __init__(self, tree: Any, parent: Scope | None = None) -> None:
        """Look at a function, or at an expression; `parent` is the function around it."""
        self.tree = tree
        self.parent = parent
        is_function = isinstance(tree, ast.FunctionDef)
        nodes = own_nodes(tree.body if is_function else [tree])
        names = [node for node in nodes if isinstance(node, ast.Name)]
        self.bound = {arg.arg for arg in all_parameters(tree)} if is_function else set()
        self.bound |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        self.read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        self.functions: dict[str, list[Scope]] = {}
        for inner in nodes:
            if isinstance(inner, ast.FunctionDef):
                self.functions.setdefault(inner.name, []).append(Scope(inner, self))
        self.bound -= self.functions.keys()
        self._captured: list[tuple[Scope, str]] | None = None

    @property
    def name(self) -> str:
        """What the function is called."""
        name: str = getattr(self.tree, "name", "expression")
        return "<lambda>" if name.startswith("<lambda") else name

    def inner(self, tree: ast.FunctionDef) -> Scope:
        """Give the scope of a function in this one."""
        return next(scope for scope in self.functions[tree.name] if scope.tree is tree)

    def function(self, name: str) -> Scope | None:
        """Give the function in a kernel that a name stands for; None if it is none."""
        owner = self._home(name)
        return None if owner is None or name in owner.bound else owner.functions[name][-1]

    def is_variable(self, name: str) -> bool:
        """Return whether a name is that of a variable, of this function or of one around it."""
        owner = self._home(name)
        return owner is not None and name in owner.bound

    @property
    def captured(self) -> list[tuple[Scope, str]]:
        """The variables of functions around it that it needs, also for the functions that it calls."""
        if self._captured is None:
            found: dict[tuple[int, str], tuple[Scope, str]] = {}
            for scope in self._reachable():
                for name in sorted(scope.read - scope.bound - scope.functions.keys()):
                    owner = scope._owner(name)
                    if owner is not None and name in owner.bound and self._is_within(owner):
                        found.setdefault((id(owner), name), (owner, name))
            self._captured = list(found.values())
        return self._captured

    def _reachable(self) -> list[Scope]:
        """Give the function with all functions in kernels that it may call."""
        reached = [self]
        for scope in reached:
            for name in sorted(scope.read):
                callee = scope.function(name)
                if callee is not None and callee not in reached:
                    reached.append(callee)
        return reached

    def _home(self, name: str) -> Scope | None:
        """Give this function, or the innermost one around it, that has a variable or a function of a name."""
        return self if name in self.bound or name in self.functions else self._owner(name)

    def _owner(self, name: str) -> Scope | None:
        """Give the innermost function around this one that has a variable or a function of a name."""
        owner = self.parent
        while owner is not None and name not in owner.bound and name not in owner.functions:
            owner = owner.parent
        return owner

    def name_of(self, owner: Scope, name: str) -> str:
        """Give the name that a variable of a function around has in this one, which may have another of its name."""
        is_own = name in self.bound or name in self.functions
        return name if not is_own and self._owner(name) is owner else f"{name}.{owner._depth}"

    def _is_within(self, owner: Scope) -> bool:
        return self.parent is not None and (self.parent is owner or self.parent._is_within(owner))

    @property
    def _depth(self) -> int:
        return 0 if self.parent is None else 1 + self.parent._depth


@dataclass(frozen=True)
class Local:
    """A function within a kernel, as the code around it finds it."""

    scope: Scope
    # What finds names where it is written: other such functions, then what the kernel finds.
    lookup: Callable[[str], Any]

    @property
    def tree(self) -> ast.FunctionDef:
        """The function."""
        return self.scope.tree


def names_apart(statements: list[ast.stmt]) -> set[str]:
    """Give the names that blocks share by chance: each block that has one assigns it before it reads it.

    So no block reads what another one assigned, and what a name stands for is known from the text.
    """
    inner = [node for node in walk(ast.Module(statements, [])) if isinstance(node, (ast.FunctionDef, ast.Lambda))]
    shared = {name.id for function in inner for name in walk(function) if isinstance(name, ast.Name)}
    return {name for name in _stored(statements) - shared if _is_apart(statements, name)}


def names_beyond(statements: list[ast.stmt], apart: set[str]) -> set[str]:
    """Give the names that a loop or a branch assigns, if what they stand for is read behind it or in its next round.

    Functions within this one may be called there. Likewise those that are assigned elsewhere, too, unless these are
    names that are `apart`.
    """
    found: set[str] = set()
    left: set[str] = set()
    inside: set[str] = set()
    nested: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.update({node.id} & left)
        elif isinstance(node, ast.Name):
            left.discard(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
            nested.update(name.id for name in walk(node) if isinstance(name, ast.Name))
        elif isinstance(node, ast.If):
            visit(node.test)
            block(node.body)
            block(node.orelse)
        elif isinstance(node, (ast.For, ast.While)):
            first = [node.test] if isinstance(node, ast.While) else [node.target]
            visit(node.iter if isinstance(node, ast.For) else node.test)
            for _ in range(2):
                block([*first, *node.body])
            block(node.orelse)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            # (`a += …` reads what it changes.)
            targets = node.targets if isinstance(node, ast.Assign) else [_as_read(node.target)]
            visit(node.value)
            # (`a = b if … else c` is written in two branches.)
            (block if isinstance(node.value, ast.IfExp) else each)(targets)
        else:
            each(children(node))

    def each(nodes: Any) -> None:
        for node in nodes:
            visit(node)

    def block(nodes: list[Any]) -> None:
        each(nodes)
        inside.update(_stored(nodes))
        left.update(_stored(nodes))

    each(statements)
    stores = _stores(statements)
    several = {name for name in inside - apart if stores.count(name) > 1}
    return found | several | (inside & nested)


def _as_read(node: ast.expr) -> ast.expr:
    return ast.Name(node.id, ast.Load()) if isinstance(node, ast.Name) else node


def _stores(nodes: list[Any]) -> list[str]:
    """Give the names that are assigned, as often as they are."""
    return [node.id for node in own_nodes(nodes) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]


def _stored(nodes: list[Any]) -> set[str]:
    return set(_stores(nodes))


def _is_apart(block: list[ast.stmt], name: str) -> bool:
    """Return whether a block, or each of those in it, assigns a name in a statement of its own before it reads it."""
    assigned = False
    for statement in block:
        uses = _uses(statement, name)
        if not uses:
            continue
        if _assigns(statement, name) and (assigned or len(uses) == 1):
            assigned = True
        elif assigned:
            # `a += …` changes what it stands for.
            changed = [node.target for node in walk(statement) if isinstance(node, ast.AugAssign)]
            if any(isinstance(use.ctx, ast.Store) and use not in changed for use in uses):
                return False
        elif isinstance(statement, (ast.For, ast.While, ast.If)):
            inner = [statement.body, statement.orelse]
            if len(uses) > sum(len(_uses(each, name)) for each in inner[0] + inner[1]):
                return False
            if not all(_is_apart(each, name) for each in inner):
                return False
        else:
            return False
    return True


def _uses(node: ast.AST, name: str) -> list[ast.Name]:
    return [each for each in walk(node) if isinstance(each, ast.Name) and each.id == name]


def _assigns(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement assigns one thing to a name; `a if … else b` are two."""
    if not isinstance(statement, ast.Assign) or any(isinstance(node, ast.IfExp) for node in walk(statement.value)):
        return False
    targets = statement.targets
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name


def jumps(statements: list[ast.stmt], *kinds: type[ast.stmt]) -> bool:
    """Return whether a `break` or `continue` in a loop's body, or one of these kinds, belongs to that loop."""
    wanted = kinds or (ast.Break, ast.Continue)
    for statement in statements:
        if isinstance(statement, wanted):
            return True
        if isinstance(statement, ast.If) and (jumps(statement.body, *wanted) or jumps(statement.orelse, *wanted)):
            return True
        if isinstance(statement, (ast.For, ast.While)) and jumps(statement.orelse, *wanted):
            return True
    return False
