"""Branches that are decided when a kernel is compiled: those that depend on what is None, or a text.

No program has a value for these. A function is translated for each of them, from a tree in which they stand in place
of the names, without the branches that are not taken then: partial evaluation (Jones, Gomard and Sestoft, 1993) by
them alone. So a branch may do with its names what only holds there, and variables have the types that are assigned in
what is left.

What each name stands for is known from statement to statement. Where ways meet of which one has None, and the other a
value of the program, the program tells which, by a bool beside the variable (`_nones`); and who has asked for it knows.
Where they have different texts, it is one or the other, and who asks is told.
"""

from __future__ import annotations

import ast
import copy
import inspect
from typing import Any, Callable

from . import _nones
from ._asked_types import asks_types, type_key
from ._known import EITHER, MAYBE, NUMBER, VALUE, Kept, Known, are_same, constant_at, copied, is_literal, is_store
from ._none_results import always_leaves, calls_one, is_none, may_miss, returns_none_or_value
from ._scopes import Scope, jumps
from ._source import Source
from ._trees import children, own_nodes, walk


def asked_of(signature: inspect.Signature, tree: ast.FunctionDef) -> set[str]:
    """Give the parameters that may be None or texts: by default, or as they are asked for that or passed on."""
    found = {parameter.name for parameter in signature.parameters.values() if is_literal(parameter.default)}
    for node in walk(tree):
        asked: list[Any] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            both = [node.left, *node.comparators]
            asked = both if any(isinstance(each, ast.Constant) and is_literal(each.value) for each in both) else []
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            asked = [node.left]
        elif isinstance(node, (ast.If, ast.IfExp)):
            asked = [node.test]
        elif isinstance(node, ast.BoolOp):
            asked = node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            asked = [node.operand]
        elif isinstance(node, ast.Call):
            asked = [*node.args, *(keyword.value for keyword in node.keywords)]
        found.update(name.id for name in asked if isinstance(name, ast.Name))
    return found


def decided(
    source: Source, given: dict[str, Any], lookup: Callable[[str], Any], unset: frozenset[str] = frozenset()
) -> Source:
    """Give a function without what is decided, and without the parameters that are None or texts.

    Args:
        source: the function.
        given: what its parameters, and the variables that it has of functions around, stand for: None, a text, or
            what is known of them.
        lookup: what finds names from outside.
        unset: variables that are None at first, as they may have no value where they are read.
    """
    tree = source.tree
    if not isinstance(tree, ast.FunctionDef):
        return source
    may_be_none = returns_none_or_value(tree, lookup) or _asks_for_none(tree, lookup)
    asks = may_be_none or _has_literals(tree) or asks_types(tree)
    if not (any(map(is_literal, given.values())) or asks):
        return source
    # The variables that a bool says of whether they are None, which turn out on the way.
    optional: set[str] = set()
    while (found := _Decided(source, given, lookup, optional, unset)).optional != optional:
        optional = found.optional
    body, returns_maybe = found.body, False
    if returns_none_or_value(tree, lookup):
        body, returns_maybe = _with_none_returned(body)
    if not returns_maybe and are_same(body, tree.body) and not any(map(is_literal, given.values())):
        return source
    old = tree.args
    kept = {
        field: [arg for arg in getattr(old, field) if not is_literal(given.get(arg.arg, VALUE))]
        for field in ("posonlyargs", "args", "kwonlyargs")
    }
    no_defaults = {"defaults": [], "kw_defaults": [None] * len(kept["kwonlyargs"])}
    arguments = ast.arguments(**kept, **no_defaults, vararg=old.vararg, kwarg=None)
    new = copy.copy(source)
    new.tree = copied(tree, body=body, args=arguments)
    new.tree.returns_maybe = returns_maybe
    return new


def _asks_for_none(tree: ast.FunctionDef, lookup: Callable[[str], Any]) -> bool:
    """Return whether a function assigns or returns what another one returns that may be None."""
    scope = Scope(tree)
    values = (node.value for node in own_nodes(tree.body) if isinstance(node, (ast.Assign, ast.Return)))
    return any(isinstance(value, ast.Call) and calls_one(value, scope, lookup) for value in values)


def _with_none_returned(body: list[Any]) -> tuple[list[Any], bool]:
    """Give what is left of a function with None returned at its end; and whether it may be None or a value."""
    returns = [node for node in own_nodes(body) if isinstance(node, ast.Return)]
    asks = [node for node in returns if hasattr(node, "none_flag") or hasattr(node.value, "asks_none")]
    some = [node for node in returns if not is_none(node.value)]
    if not some:
        return body, False
    if not always_leaves(body):
        end: Any = ast.copy_location(ast.Return(None), body[-1])
        end.is_end = True
        return [*body, end], True
    return body, bool(asks) or len(some) < len(returns)


def _has_literals(tree: ast.FunctionDef) -> bool:
    """Return whether None or a text is compared or assigned: others, in what is printed and raised, decide nothing.

    So is what a dict may not have.
    """
    for node in own_nodes(tree.body):
        if may_miss(node):
            return True
        if isinstance(node, (ast.Compare, ast.Assign, ast.AnnAssign, ast.IfExp, ast.BoolOp)):
            for part in children(node):
                several = part.elts if isinstance(part, (ast.Tuple, ast.List, ast.Set)) else [part]
                if any(isinstance(each, ast.Constant) and is_literal(each.value) for each in several):
                    return True
    return False


class _Decided(Known):
    """Goes through a function; `body` has what is left of it."""

    def __init__(
        self,
        source: Source,
        given: dict[str, Any],
        lookup: Callable[[str], Any],
        optional: set[str],
        unset: frozenset[str],
    ) -> None:
        self.source, self.lookup, self.unset = source, lookup, unset
        # The variables that are asked or read where they may be None.
        self.optional = set(optional)
        scope = self.scope = Scope(source.tree)
        self.bound: set[str] = scope.bound | scope.functions.keys()
        # What names stand for here; None where nothing comes to.
        self.state: dict[str, Any] | None = dict(given)
        # What is assigned in each of the loops around.
        self.seen: list[dict[str, set[Any]]] = []
        # What functions within have read of the variables: these are what they are when such a one is called.
        self.captured: set[str] = set()
        # In how many functions within this is.
        self.depth = 0
        begins = [self._begun(name, of is None) for name, of in given.items() if name in optional]
        self.body = [*begins, *self._block(source.tree.body)] or [_nothing(source.tree.body[0])]

    def _begun(self, name: str, is_none: bool) -> ast.Assign:
        """Write whether a parameter is None at first; errors about that stand where it is assigned."""
        first = self.source.tree.body[0]
        at = next((node for node in own_nodes(self.source.tree.body) if is_store(node) and node.id == name), first)
        return copied(_nones.told(at, name, is_none), lineno=first.lineno)  # type: ignore[no-any-return]

    # Statements.

    def _told(self, node: Any) -> list[Any]:
        """Write of the variables that are assigned somewhere, and are None elsewhere, that they are something."""
        stores = [at for at in walk(node) if is_store(at) and at.id in self.optional]
        return [_nones.told(at, at.id, False) for at in stores]

    def _block(self, statements: list[Any]) -> list[Any]:
        found: list[Any] = []
        for statement in statements:
            if self.state is None:
                break
            found.extend(self._statement(statement))
        return found

    def _statement(self, node: Any) -> list[Any]:
        decide = getattr(self, "do_" + type(node).__name__, None)
        if decide is not None:
            new: list[Any] = decide(node)
            return new
        # What is no statement of kernels is told when it is translated.
        self._assigned(node)
        return [node]

    def do_Expr(self, node: ast.Expr) -> list[Any]:
        """Go through a call."""
        return [node if isinstance(node.value, ast.Constant) else self.parts(node)]

    def do_Assign(self, node: ast.Assign) -> list[Any]:
        """Note what names stand for; None and texts are not assigned."""
        target, value = node.targets[0], node.value
        if isinstance(value, ast.IfExp) and self.may_be_none(value):
            arms = [[copied(node, value=arm)] for arm in (value.body, value.orelse)]
            return self.do_If(ast.copy_location(ast.If(value.test, *arms), node))
        are_tuples = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        if len(node.targets) == 1 and are_tuples and len(target.elts) == len(value.elts):
            return self._assign_several(node, target, value)
        if len(node.targets) == 1 and isinstance(target, ast.Name) and self._may_give_none(value):
            return self._assign_result(node, target, value)
        found = self.value(node.value)
        maybe = self.maybe(value)
        if (is_literal(found) or maybe is not None) and all(isinstance(each, ast.Name) for each in node.targets):
            return [new for each in node.targets for new in self._assign_none(node, each, found, maybe)]
        self.need_some(*([] if isinstance(target, ast.Tuple) else [value]))
        new = self.parts(node)
        self._assigned(node)
        if len(node.targets) == 1:
            self._note(target, found)
        return [new, *self._told(node)]

    def _assign_none(self, node: ast.stmt, target: Any, found: Any, maybe: str | None) -> list[Any]:
        """Note that a variable is None or a text, which is not assigned; or that it is `maybe` None as another is."""
        self._set(target, found)
        if maybe is None:
            return [_nones.told(target, target.id, True)] if found is None and target.id in self.optional else []
        self.optional.update((target.id, maybe))
        value = ast.copy_location(ast.Name(maybe, ast.Load()), target)
        copied = ast.copy_location(ast.Assign([target], _nones.as_some(value)), node)
        is_some = ast.copy_location(ast.If(_nones.asked(target, maybe, False), [copied], []), node)
        return [is_some, _nones.told(target, target.id, _nones.asked(target, maybe))]

    def _may_give_none(self, node: ast.expr) -> bool:
        """Return whether a function is called that returns None in one way and a value in another."""
        return isinstance(node, ast.Call) and not self.depth and calls_one(node, self.scope, self.lookup)

    def _assign_result(self, node: ast.Assign, target: ast.Name, value: ast.Call) -> list[Any]:
        """Assign what a function returns, and whether that is None."""
        call = copied(self.expression(value))
        call.asks_none = True
        self.optional.add(target.id)
        self._set(target, MAYBE)
        flag = ast.copy_location(ast.Name(_nones.flag_of(target.id), ast.Store()), target)
        both = ast.copy_location(ast.Tuple([flag, target], ast.Store()), target)
        return [copied(node, targets=[both], value=call)]

    def _note(self, target: ast.expr, found: Any) -> None:
        """Note what is known of something that is assigned to a name."""
        if isinstance(target, ast.Name):
            self._set(target, VALUE if isinstance(found, Kept) and found is not NUMBER else found)

    def _assign_several(self, node: ast.Assign, target: ast.Tuple, value: ast.Tuple) -> list[Any]:
        if any(self.may_be_none(part) for part in value.elts if isinstance(part, ast.IfExp) or self.maybe(part)):
            return self._assign_in_turn(node, target, value)
        if any(isinstance(at, ast.Name) and self._may_give_none(of) for at, of in zip(target.elts, value.elts)):
            return self._assign_in_turn(node, target, value)
        found = [self.value(part) for part in value.elts]
        known = [isinstance(at, ast.Name) and is_literal(of) for at, of in zip(target.elts, found)]
        new = None if any(known) else self.parts(node)
        left = [(at, self.expression(of)) for at, of, out in zip(target.elts, value.elts, known) if not out]
        for at in (at for at, out in zip(target.elts, known) if not out):
            self._assigned(at)
        for at, of in zip(target.elts, found):
            self._note(at, of)
        told = [
            _nones.told(at, at.id, of is None)
            for at, of in zip(target.elts, found)
            if isinstance(at, ast.Name) and at.id in self.optional
        ]
        if new is not None or not left:
            return [*([] if new is None else [new]), *told]
        if len(left) == 1:
            return [copied(node, targets=[left[0][0]], value=left[0][1]), *told]
        names, values = zip(*left)
        return [
            copied(node, targets=[copied(target, elts=list(names))], value=copied(value, elts=list(values))),
            *told,
        ]

    def _assign_in_turn(self, node: ast.Assign, target: ast.Tuple, value: ast.Tuple) -> list[Any]:
        """Assign several values, of which some may be None, by names of their own: all are computed before."""
        pairs = []
        for at, of in zip(target.elts, value.elts):
            name = f"new {at.lineno} {at.col_offset}"
            store, load = (ast.copy_location(ast.Name(name, ctx), at) for ctx in (ast.Store(), ast.Load()))
            pairs.append(([store], of, [at], load))
        first = [copied(node, targets=store, value=of) for store, of, _, _ in pairs]
        then = [copied(node, targets=at, value=load) for _, _, at, load in pairs]
        return self._block([*first, *then])

    def do_AnnAssign(self, node: ast.AnnAssign) -> list[Any]:
        """Note what a name stands for; None and texts are not assigned, whatever else is annotated."""
        if node.value is None:
            return [node]
        found = self.value(node.value)
        if isinstance(node.target, ast.Name) and (is_literal(found) or self.may_be_none(node.value)):
            return self.do_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))
        value, target = self.expression(node.value), self.expression(node.target)
        self._assigned(node)
        same = value is node.value and target is node.target
        return [node if same else copied(node, value=value, target=target), *self._told(node)]

    def do_AugAssign(self, node: ast.AugAssign) -> list[Any]:
        """Refuse to add to None."""
        self.have_value(node.target)
        new, name = self.parts(node), getattr(node.target, "id", None)
        if name is not None and self.state is not None and self.state.get(name) is MAYBE:
            # It is tested.
            self.optional.add(name)
        elif isinstance(node.target, ast.Name) and node.target.id in self.optional:
            new = copied(new, target=_nones.as_some(node.target))
        self._assigned(node)
        return [new]

    def do_Return(self, node: ast.Return) -> list[Any]:
        """Nothing comes behind it; what is returned may be None."""
        value, name = node.value, self.maybe(node.value)
        if isinstance(value, ast.IfExp) and self.may_be_none(value):
            arms = [[copied(node, value=arm)] for arm in (value.body, value.orelse)]
            return self.do_If(ast.copy_location(ast.If(value.test, *arms), node))
        if name is not None:
            self.optional.add(name)
            new = copied(node, value=_nones.as_some(value))
            new.none_flag = ast.copy_location(ast.Name(_nones.flag_of(name), ast.Load()), value)
        else:
            new = self.parts(node)
            if value is not None and self._may_give_none(value):
                new = copied(new, value=copied(new.value))
                new.value.asks_none = True
        self.state = None
        return [new]

    def do_Raise(self, node: Any) -> list[Any]:
        """Nothing comes behind it."""
        new = self.parts(node)
        self.state = None
        return [new]

    do_Break = do_Continue = do_Raise

    def do_Pass(self, node: ast.Pass) -> list[Any]:
        """`pass`."""
        return [node]

    def do_Assert(self, node: ast.Assert) -> list[Any]:
        """Leave out what holds; what is told is what was written."""
        rest, truth = self.condition(node.test)
        if truth:
            return _computed(node, rest)
        before = self.state
        self.assume(node.test, False)
        message = None if node.msg is None else self.expression(node.msg)
        self.state = before
        if truth is None:
            self.assume(node.test, True)
        if truth is None and rest is node.test and message is node.msg:
            return [node]
        test = constant_at(node.test, False) if truth is False else rest
        new = copied(node, test=test, msg=message)
        new.written = node.test
        return [*(_computed(node, rest) if truth is False else ()), new]

    def do_If(self, node: ast.If) -> list[Any]:
        """Keep the one of two branches that is taken, if that is known."""
        rest, truth = self.condition(node.test)
        if truth is not None:
            return [*_computed(node, rest), *self._block(node.body if truth else node.orelse)]
        assert self.state is not None
        before = dict(self.state)
        self.assume(node.test, True)
        body = self._block(node.body)
        after, self.state = self.state, before
        self.assume(node.test, False)
        orelse = self._block(node.orelse)
        self.state = _joined(after, self.state)
        if rest is node.test and are_same(body, node.body) and are_same(orelse, node.orelse):
            return [node]
        return [copied(node, test=rest, body=body or [_nothing(node)], orelse=orelse)]

    def do_While(self, node: ast.While) -> list[Any]:
        """Keep a loop unless it is known that it makes no turn."""

        def turn() -> tuple[ast.expr | None, bool | None, list[Any]]:
            rest, truth = self.condition(node.test)
            if truth is None:
                self.assume(node.test, True)
            return rest, truth, [] if truth is False else self._block(node.body)

        rest, truth, body = self._turns(turn)
        if truth is False:
            return [*_computed(node, rest), *self._block(node.orelse)]
        if truth is None and not jumps(node.body, ast.Break):
            self.assume(node.test, False)
        orelse = self._after(node.orelse)
        if truth:
            return [
                copied(node, test=constant_at(node.test, True), body=[*_computed(node, rest), *body], orelse=orelse)
            ]
        return [self._with_parts(node, {"test": rest, "body": body, "orelse": orelse})]

    def do_For(self, node: ast.For) -> list[Any]:
        """Go through a loop."""
        self.have_value(node.iter)
        over = self.expression(node.iter)

        def turn() -> list[Any]:
            self._assigned(node.target)
            return [*self._told(node.target), *self._block(node.body)]

        body = self._turns(turn)
        return [self._with_parts(node, {"iter": over, "body": body, "orelse": self._after(node.orelse)})]

    def _with_parts(self, node: Any, parts: dict[str, Any]) -> Any:
        same = all(
            are_same(new, getattr(node, field)) if isinstance(new, list) else new is getattr(node, field)
            for field, new in parts.items()
        )
        return node if same else copied(node, **{**parts, "body": parts["body"] or [_nothing(node)]})

    def _after(self, orelse: list[Any]) -> list[Any]:
        """Go through the `else` of a loop, which may be left out."""
        assert self.state is not None
        before = dict(self.state)
        new = self._block(orelse)
        self.state = _joined(before, self.state)
        return new

    def _turns(self, turn: Callable[[], Any]) -> Any:
        """Go through the body of a loop, for what names stand for in any of its turns."""
        assert self.state is not None
        entry = dict(self.state)
        while True:
            self.state = dict(entry)
            self.seen.append({})
            found = turn()
            merged = dict(entry)
            for name, values in self.seen.pop().items():
                for value in values:
                    merged[name] = _join(merged[name], value) if name in merged else value
            if merged == entry:
                self.state = entry
                return found
            entry = merged

    def do_FunctionDef(self, node: ast.FunctionDef) -> list[Any]:
        """Put None and texts in the place of names that a function within reads; its own branches are decided later."""
        self._set(node, VALUE)
        scope = Scope(node)
        hidden = scope.bound | scope.functions.keys()
        before, bound = self.state, self.bound
        assert before is not None
        free = {at.id for at in walk(node) if isinstance(at, ast.Name)} - hidden
        stored = {at.id for at in own_nodes(self.source.tree.body) if is_store(at)}
        for name in sorted(free & before.keys()):
            if is_literal(before[name]) and name in stored:
                self.refuse_either(next(at for at in walk(node) if getattr(at, "id", "") == name), name)
        self.captured |= free
        defaults = self.parts(node.args)
        self.state, self.bound = {name: of for name, of in before.items() if name not in hidden}, bound | hidden
        self.depth += 1
        body = [self.parts(statement) for statement in node.body]
        self.depth -= 1
        self.state, self.bound = before, bound
        told = [_nones.told(node, node.name, False)] if node.name in self.optional else []
        if defaults is node.args and are_same(body, node.body):
            return [node, *told]
        return [copied(node, args=defaults, body=body), *told]

    def of_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Go through a function in one within."""
        return self.do_FunctionDef(node)[0]

    def _assigned(self, node: ast.AST) -> None:
        """Note that the names that are assigned somewhere stand for something."""
        for at in walk(node):
            if is_store(at):
                self._set(at, VALUE)

    def _set(self, node: Any, value: Any) -> None:
        name = node.name if isinstance(node, ast.FunctionDef) else node.id
        if (is_literal(value) or value is MAYBE) and name in self.captured:
            self.refuse_either(node, name)
        assert self.state is not None
        self.state[name] = value
        for seen in self.seen:
            seen.setdefault(name, set()).add(value)
        if type_key(name) in self.state:
            # It may be of another type from here on.
            self.state[type_key(name)] = VALUE
            for seen in self.seen:
                seen.setdefault(type_key(name), set()).add(VALUE)


def _join(a: Any, b: Any) -> Any:
    """Give what a name stands for that is one thing or the other."""
    if a is b or (isinstance(a, str) and isinstance(b, str) and a == b):
        return a
    if EITHER in (a, b) or isinstance(a, str) or isinstance(b, str):
        return EITHER
    return MAYBE if MAYBE in (a, b) or a is None or b is None else VALUE


def _joined(a: dict[str, Any] | None, b: dict[str, Any] | None) -> dict[str, Any] | None:
    """Give what names stand for where two ways meet; None of one does not come here."""
    if a is None or b is None:
        return b if a is None else a
    found = {}
    for name in (*a, *(name for name in b if name not in a)):
        # (What one way does not assign may have no value.)
        found[name] = _join(a.get(name, VALUE), b.get(name, VALUE))
    return found


def _computed(node: Any, condition: ast.expr | None) -> list[Any]:
    """Write that a condition is computed, and no more."""
    return [] if condition is None else [ast.copy_location(ast.If(condition, [_nothing(node)], []), node)]


def _nothing(node: Any) -> ast.Pass:
    return ast.copy_location(ast.Pass(), node)
