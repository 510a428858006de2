"""Functions that change arrays which they are given, and what is read of these in the same expression before.

An expression of arrays becomes a loop, and the functions in it that go over whole arrays are called before. What stands
in front of one that changes an array, and is computed of that, is computed in front of it, as Python does, and what
stands behind it after. Where it depends on a condition whether it is called, that becomes statements (`_steps`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Callable

from .._errors import CompileError
from ._assignments import as_load
from ._plain import parameters
from ._scopes import Local
from ._trees import children, own_nodes, walk
from ._types import Array, Num
from ._usage import CHANGING, gives_one_array, lists_made, named_by, of_program, root_of, stored_to, values_in

# Of these expressions all parts are computed, from left to right.
_IN_ORDER = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Call,
    ast.Tuple,
    ast.List,
    ast.Subscript,
    ast.Attribute,
    ast.Slice,
    ast.keyword,
)
_NAMED = "give the index a name before, `i = …`"
# What a call gives that has no name.
RESULT = "<result>"
_LISTINGS = (ast.ListComp, ast.GeneratorExp)


def taken_whole(function: Any) -> set[str]:
    """Give the parameters of a function that are arrays if they are given such, as it is called once for all elements.

    It changes them by `x *= 2` and its like; or it changes an array of a function around it. One that a condition asks
    about is a number: arrays are neither true nor false.
    """
    text = of_program(function)
    if text is None:
        return set()
    tree, lookup = text
    names, changed = {arg.arg for arg in parameters(tree)}, changed_in(tree, lookup)
    if isinstance(function, Local) and changed - function.scope.bound:
        return names
    return (names & changed) - _asked(tree, lookup)


def _asked(tree: ast.FunctionDef, lookup: Callable[[str], Any]) -> set[str]:
    """Give the names of numbers: those that conditions ask about."""
    tests = (node.test for node in own_nodes(tree.body) if isinstance(node, (ast.If, ast.While, ast.IfExp)))
    return set().union(*(values_in(test, lookup) for test in tests))


def changed_in(tree: ast.FunctionDef, lookup: Callable[[str], Any], seen: AbstractSet[int] = frozenset()) -> set[str]:
    """Give the names that stand for arrays which a function changes, or that would if they stood for arrays."""
    found, own = stored_to(tree, lookup) | _changed_as_lists(tree), set()
    for statement in tree.body:
        augmented = (node.target for node in own_nodes([statement]) if isinstance(node, ast.AugAssign))
        found |= {target.id for target in augmented if isinstance(target, ast.Name)} - own
        if isinstance(statement, ast.Assign) and not isinstance(statement.value, (ast.Name, ast.Subscript)):
            # From here on it is another array, of the function itself.
            own |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    nodes = own_nodes(tree.body)
    for node in nodes:
        if isinstance(node, ast.Call):
            found |= _changed_by(node, lookup, seen | {id(tree)})
    others = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    for node in reversed(others):
        # `y = x[1:]` is a part of the same array.
        if node.targets[0].id in found and isinstance(node.value, (ast.Name, ast.Subscript)):
            found |= {root_of(node.value)} - {None}
    return found


def _changed_as_lists(tree: ast.FunctionDef) -> set[str]:
    """Give the names that stand for lists and dicts which a function changes, `xs.append(x)`, `del d[k]`."""
    nodes = own_nodes(tree.body)
    methods = (node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    found = [func.value for func in methods if func.attr in CHANGING]
    found += [at.value for at in nodes if isinstance(at, ast.Subscript) and isinstance(at.ctx, ast.Del)]
    return {at.id for at in found if isinstance(at, ast.Name)}


def _changed_by(node: ast.Call, lookup: Callable[[str], Any], seen: AbstractSet[int]) -> set[str]:
    """Give the names of the arrays that a call may change."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("sort", "fill"):
        return {root_of(node.func.value)} - {None}
    try:
        return changed_by(node, named_by(node.func, lookup), seen)
    except (KeyError, CompileError):
        # What is wrong with it is told when it is translated.
        return set()


def changed_by(node: ast.Call, function: Any, seen: AbstractSet[int] = frozenset()) -> set[str]:
    """Give the names of the arrays that a call of a function may change: those that it is given, or has from around."""
    text = of_program(function)
    if text is None or id(text[0]) in seen:
        return set()
    tree, lookup = text
    names, changed = [arg.arg for arg in parameters(tree)], changed_in(tree, lookup, seen) - _asked(tree, lookup)
    given = [*zip(names, node.args), *((keyword.arg, keyword.value) for keyword in node.keywords)]
    roots = {root_of(arg) for name, arg in given if name in changed} - {None}
    return roots | (changed - function.scope.bound if isinstance(function, Local) else set())


def fills_list(tree: ast.FunctionDef, lookup: Callable[[str], Any]) -> bool:
    """Return whether a function makes a list that functions change which it calls, or that are in it."""
    nodes = own_nodes(tree.body)
    made = lists_made(nodes)
    inner = (node for node in nodes if isinstance(node, ast.FunctionDef))
    if made and any(made & _changed_as_lists(each) for each in inner):
        return True
    return bool(made) and any(isinstance(node, ast.Call) and made & _changed_by(node, lookup, set()) for node in nodes)


class Effects:
    """Has expressions computed in order; `Body` has what is needed for it."""

    def changed_names(self, call: ast.Call) -> set[str]:
        """Give the names of arrays that are changed somewhere: those bound here, and those that a call is assigned to.

        What is changed as the argument of another call has the name `RESULT`.
        """
        tree = self.source.tree
        if not isinstance(tree, ast.FunctionDef):
            return set()
        augmented = (node.target for node in own_nodes(tree.body) if isinstance(node, ast.AugAssign))
        changed = changed_in(tree, self.lookup) | {at.id for at in augmented if isinstance(at, ast.Name)}
        place = (call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)

        def is_it(node: ast.AST) -> bool:
            at = (getattr(node, each, None) for each in ("lineno", "col_offset", "end_lineno", "end_col_offset"))
            return isinstance(node, ast.Call) and tuple(at) == place

        own = {name for name in changed if self._names_array(name)}
        for node in own_nodes(tree.body):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {at.id for target in targets for at in walk(target) if isinstance(at, ast.Name)}
                own |= names & changed if any(map(is_it, walk(node.value))) else set()
            if isinstance(node, ast.Call) and any(map(is_it, node.args)):
                args = [ast.Name(RESULT, ast.Load()) if is_it(arg) else ast.Constant(0) for arg in node.args]
                own |= _changed_by(ast.Call(node.func, args, []), self.lookup, frozenset()) & {RESULT}
        return own

    def compute_in_order(self, statement: ast.stmt) -> ast.stmt:
        """Compute what a statement reads of arrays in front of the calls in it that change them; give what is left."""
        self.forget(statement)
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            return self._assign_in_order(statement)
        field = {ast.If: "test", ast.Assert: "test", ast.For: "iter"}.get(type(statement), "value")
        self.in_order(getattr(statement, field, None))
        return statement

    def forget(self, statement: ast.stmt) -> None:
        """Forget what has been computed of a statement: a loop that is written out computes it again."""
        given = [each for each in children(statement) if isinstance(each, ast.expr)]
        for part in walk(ast.Tuple(given)) if any(map(self.changes_arrays, given)) else ():
            self.elements.pop(id(part), None)
        for part in walk(ast.Tuple(given)) if self.called_before else ():
            if id(part) in self.called_before:
                self.elements.pop(id(part), None)

    def in_order(self, at: ast.AST | None, all_of_it: bool = False) -> None:
        """Compute what an expression reads of arrays in front of the calls in it that change them, and these."""
        for part, changed in list(self._changing(at)):
            self._compute_before(at, part, changed)
            if part is not at or all_of_it:
                self._compute(part)

    def _assign_in_order(self, node: ast.Assign | ast.AugAssign) -> ast.stmt:
        """Compute the parts of an assignment in order: `a[i] += f(a)` reads the element before the call."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        indices = [index for target in targets for index in _indices_in(target)]
        found = {id(each): list(self._changing(each)) for each in (*indices, node.value)}
        changed: set[str] = set().union(*(names for parts in found.values() for _, names in parts))
        if not changed:
            return node
        moves = any(found[id(index)] for index in indices)
        if isinstance(node, ast.AugAssign):
            for index in indices:
                self.in_order(index, True)
                self._compute_now(index, changed)
            target = node.target
            if indices and not self.is_masked(target) and not self.is_part(target):
                value = ast.copy_location(ast.BinOp(as_load(target), node.op, node.value), node)
                node = ast.copy_location(ast.Assign([target], value), node)
            self.in_order(node.value, moves and not isinstance(node, ast.Assign))
        elif moves:
            if len(targets) > 1 or isinstance(targets[0], (ast.Tuple, ast.List)):
                self.fail(node, "what is assigned several times has no index that changes arrays", "here", _NAMED)
            self.in_order(node.value)
            self._compute_now(node.value, changed)
            for index in indices:
                self.in_order(index, True)
        else:
            # An index is computed behind the value.
            self.in_order(node.value, any(self._arrays_named(walk(index)) & changed for index in indices))
        return node

    def _changing(self, node: ast.AST | None) -> Iterator[tuple[ast.AST, set[str]]]:
        """Give the parts of an expression that are computed in any case and change arrays, in order, and these."""
        calls = [each for each in walk(node) if isinstance(each, ast.Call)] if node is not None else []
        calls = [call for call in calls if id(call) not in self.elements]
        changed = {id(call): found for call in calls if (found := self._changed_by(call))}
        return _changing(node, changed) if changed else iter(())

    def changed_by_call(self, call: ast.Call) -> set[str]:
        """Give the names of what a call of a function of the program may change."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)):
            return set()
        try:
            local = self.local_functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
            return changed_by(call, local or named_by(call.func, self.lookup))
        except (KeyError, CompileError):
            return set()

    def changes_arrays(self, node: ast.AST) -> bool:
        """Return whether an expression calls a function that changes arrays."""
        return any(isinstance(each, ast.Call) and self._changed_by(each) for each in walk(node))

    def _changed_by(self, call: ast.Call) -> set[str]:
        """Give the arrays that a call of a function of the program changes."""
        if not isinstance(call.func, (ast.Name, ast.Attribute)) or self.is_method(call):
            return set()
        names = changed_by(call, self._function_at(call.func))
        return self._arrays_named(ast.Name(name, ast.Load()) for name in sorted(names))

    def _arrays_named(self, nodes: Iterable[ast.AST]) -> set[str]:
        """Give the arrays that names stand for, or for parts of them."""
        nodes = [node for node in nodes if isinstance(node, ast.Name)]
        dicts = {node.id for node in nodes if node.id in self.dicts}
        names = {node.id for node in nodes if self._names_array(node.id)}
        values = (self.array_of(ast.Name(name, ast.Load())) for name in sorted(names))
        return dicts | {self._root_of(value.text) for value in values if value is not None}

    def _compute_before(self, node: ast.AST, until: ast.AST, changed: set[str]) -> None:
        """Compute what an expression reads of arrays in front of a part of it."""
        for part in [] if node is until else _parts_of(node):
            if any(each is until for each in walk(part)):
                return self._compute_before(part, until, changed)
            self._compute_now(part, changed)
        return None

    def _compute_now(self, node: ast.AST, changed: set[str]) -> None:
        """Compute an expression here, if it reads one of some arrays; names and parts of these stay what they are."""
        if not isinstance(node, ast.expr) or not self._arrays_named(walk(node)) & changed:
            return
        if isinstance(node, (ast.Tuple, ast.List, ast.Slice)):
            for part in _parts_of(node):
                self._compute_now(part, changed)
        elif id(node) not in self.elements and not self.is_view(node) and self.array_of(node) is None:
            self._compute(node)

    def _compute(self, node: ast.expr) -> None:
        """Compute an expression here."""
        if isinstance(node, ast.IfExp) and any(map(self.may_be_array, (node.body, node.orelse))):
            help = "give it a name before, in a statement of its own: `d = … if … else …`"
            self.fail(node, "a choice between arrays stands alone if it changes some", "here", help)
        if self.array_of(node) is not None:
            return
        if self.is_of_elements(node):
            self.parts_of[id(node)] = node, self.copied(node, node)
            return
        value = self.expression(node)
        if value.parts is not None or isinstance(value.type, Num):
            # (The node is kept: another one in its place would have its id.)
            self.computed.append(node)
            self.elements[id(node)] = self.keep(value)
        elif isinstance(value.type, Array):
            self.parts_of[id(node)] = node, value

    def may_be_array(self, node: ast.expr) -> bool:
        """Return whether an expression is an array, as far as that is known before it is computed."""
        if isinstance(node, ast.Call) and not self.is_method(node):
            return bool(gives_one_array(self.called(node)) or self.makes_elements(node))
        return self.makes_elements(node)


def _parts_of(node: ast.AST) -> list[ast.AST]:
    """Give the parts of an expression that are computed, in their order."""
    if isinstance(node, ast.Call):
        # (Functions have no value here; `a.sum()` begins with `a`.)
        return [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args, *node.keywords]
    return children(node)


def _changing(node: ast.AST, changed: dict[int, set[str]]) -> Iterator[tuple[ast.AST, set[str]]]:
    """Give the parts that are computed whatever others give, of which calls change arrays, in their order."""
    inner = [each for each in walk(node) if id(each) in changed]
    if not inner:
        return
    is_listing = isinstance(node, ast.Call) and any(isinstance(arg, _LISTINGS) for arg in node.args)
    is_chain = isinstance(node, ast.Compare) and len(node.ops) > 1
    if isinstance(node, _IN_ORDER) and not is_listing and not is_chain:
        for part in _parts_of(node):
            yield from _changing(part, changed)
        inner = [node] if id(node) in changed else []
    if inner:
        yield node, set().union(*(changed[id(each)] for each in inner))


def _indices_in(target: ast.expr) -> list[ast.expr]:
    """Give what stands between the brackets of what is assigned."""
    found = [target] if isinstance(target, (ast.Subscript, ast.Attribute)) else []
    found += target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    inner = [index for each in found for index in _indices_in(each.value if each is target else each)]
    return [*inner, target.slice] if isinstance(target, ast.Subscript) else inner
