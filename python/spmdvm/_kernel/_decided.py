"""Branches that are decided when a kernel is compiled: those that depend on what is None, or a text.

No program has a value for these. A function is translated for each of them, from a tree in which they stand in place
of the names, without the branches that are not taken then: partial evaluation (Jones, Gomard and Sestoft, 1993) by
them alone. So a branch may do with its names what only holds there, and variables have the types that are assigned in
what is left.

What each name stands for is known from statement to statement. Where ways meet that differ in it, it is one or the
other, and who asks is told.
"""

from __future__ import annotations

import ast
import copy
import enum
import inspect
from typing import Any, Callable, NoReturn

import numpy as np

from ._scopes import Scope, own_nodes
from ._source import Source


class Kept(enum.Enum):
    """What a name stands for that is neither None nor a text."""

    NUMBER = "a number"
    VALUE = "something that a program has"
    EITHER = "None or a text in one way, something else in another"
    UNKNOWN = "nothing is known"


NUMBER, VALUE, EITHER, UNKNOWN = Kept

# Methods of texts that are known of known ones.
_OF_TEXTS = ("lower", "upper", "strip", "startswith", "endswith")
# What may be left out if nobody needs its value.
_HARMLESS = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Attribute, ast.expr_context, ast.cmpop,
    ast.boolop, ast.unaryop,
)  # fmt: skip
_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


def is_literal(value: Any) -> bool:
    """Return whether something is None or a text, by which functions differ."""
    return value is None or type(value) is str


def asked_of(signature: inspect.Signature, tree: ast.FunctionDef) -> set[str]:
    """Give the parameters that may be None or texts: by default, or as they are asked for that or passed on."""
    found = {parameter.name for parameter in signature.parameters.values() if is_literal(parameter.default)}
    for node in ast.walk(tree):
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


def misused(name: str | None, value: Any) -> tuple[str, str, str]:
    """Say that a name stands for None or a text where a number or an array is needed: message, note and help."""
    if value is None:
        help = "use a number that stands for it, such as `-1` or `np.nan`"
        if name is None:
            return "`None` cannot stand in a kernel", "not a number", help
        help = f"ask before, `if {name} is not None:`; or give it a value, `if {name} is None: {name} = …`"
        return f"`{name}` is None here", "this is no number", help
    if name is None:
        return (
            "str values cannot stand in a kernel",
            "not a number",
            ('texts stand in `print` and in comparisons of texts; use numbers (`ord("a")`)'),
        )
    return f"`{name}` is the text {value!r} here", "this is no number", f"compare it, `if {name} == {value!r}:`"


def decided(source: Source, given: dict[str, Any], lookup: Callable[[str], Any]) -> Source:
    """Give a function without what is decided, and without the parameters that are None or texts.

    Args:
        source: the function.
        given: what its parameters, and the variables that it has of functions around, stand for: None, a text, or
            what is known of them.
        lookup: what finds names from outside.
    """
    tree = source.tree
    if not isinstance(tree, ast.FunctionDef) or not (any(map(is_literal, given.values())) or _has_literals(tree)):
        return source
    body = _Decided(source, given, lookup).body
    if _are_same(body, tree.body) and not any(map(is_literal, given.values())):
        return source
    old = tree.args
    kept = {
        field: [arg for arg in getattr(old, field) if not is_literal(given.get(arg.arg, VALUE))]
        for field in ("posonlyargs", "args", "kwonlyargs")
    }
    no_defaults = {"defaults": [], "kw_defaults": [None] * len(kept["kwonlyargs"])}
    arguments = ast.arguments(**kept, **no_defaults, vararg=None, kwarg=None)
    new = copy.copy(source)
    new.tree = _with(tree, body=body, args=arguments)
    return new


def _has_literals(tree: ast.FunctionDef) -> bool:
    """Return whether None or a text is compared or assigned: others, in what is printed and raised, decide nothing."""
    for node in own_nodes(tree.body):
        if isinstance(node, (ast.Compare, ast.Assign, ast.AnnAssign, ast.IfExp, ast.BoolOp)):
            for part in ast.iter_child_nodes(node):
                several = part.elts if isinstance(part, (ast.Tuple, ast.List, ast.Set)) else [part]
                if any(isinstance(each, ast.Constant) and is_literal(each.value) for each in several):
                    return True
    return False


class _Decided:
    """Goes through a function; `body` has what is left of it."""

    def __init__(self, source: Source, given: dict[str, Any], lookup: Callable[[str], Any]) -> None:
        self.source, self.lookup = source, lookup
        scope = Scope(source.tree)
        self.bound: set[str] = scope.bound | scope.functions.keys()
        # What names stand for here; None where nothing comes to.
        self.state: dict[str, Any] | None = dict(given)
        # What is assigned in each of the loops around.
        self.seen: list[dict[str, set[Any]]] = []
        # What functions within have read of the variables: these are what they are when such a one is called.
        self.captured: set[str] = set()
        self.body = self._block(source.tree.body) or [_nothing(source.tree.body[0])]

    # What is known.

    def value(self, node: ast.expr) -> Any:
        """Give what an expression is, if that is known: None, a text or a bool; else what is known of it."""
        if isinstance(node, ast.Constant):
            return node.value if is_literal(node.value) or hasattr(node, "is_decided") else NUMBER
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Attribute):
            found = self._outside(node)
            return UNKNOWN if found is UNKNOWN else _kind_of(found)
        if isinstance(node, ast.UnaryOp):
            inner = self.value(node.operand)
            if not isinstance(node.op, ast.Not):
                return NUMBER if inner is NUMBER else UNKNOWN
            truth = _truth(inner)
            return UNKNOWN if truth is None else not truth
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            found = self._compared(node.left, node.ops[0], node.comparators[0])
            return UNKNOWN if found is None else found
        if isinstance(node, ast.BoolOp):
            return self._first(node)
        if isinstance(node, ast.IfExp):
            truth = _truth(self.value(node.test))
            return UNKNOWN if truth is None else self.value(node.body if truth else node.orelse)
        return self._of_text(node) if isinstance(node, ast.Call) else UNKNOWN

    def _named(self, name: str) -> Any:
        assert self.state is not None
        if name in self.state:
            return self.state[name]
        if name in self.bound:
            return UNKNOWN
        try:
            return _kind_of(self.lookup(name))
        except KeyError:
            return UNKNOWN

    def _outside(self, node: ast.expr) -> Any:
        """Give what a name, or one in a module or class, stands for outside of the function."""
        assert self.state is not None
        if isinstance(node, ast.Attribute):
            owner = self._outside(node.value)
            return UNKNOWN if owner is UNKNOWN else getattr(owner, node.attr, UNKNOWN)
        if not isinstance(node, ast.Name) or node.id in self.bound or node.id in self.state:
            return UNKNOWN
        try:
            return self.lookup(node.id)
        except KeyError:
            return UNKNOWN

    def _compared(self, a: ast.expr, op: ast.cmpop, b: ast.expr) -> bool | None:
        """Give what a comparison gives; None if that is not known."""
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self._is_in(self.value(a), b)
        elif isinstance(op, (ast.Is, ast.IsNot)):
            x, y = self.value(a), self.value(b)
            # (What else is asked may have effects.)
            is_name = isinstance(a if y is None else b, (ast.Name, ast.Constant))
            found = _is_none(x if y is None else y) if is_name and None in (x, y) else None
        elif isinstance(op, (ast.Eq, ast.NotEq)) and not is_written(a) and not is_written(b):
            found = _equal(self.value(a), self.value(b))
        else:
            return None
        return found if found is None else found is isinstance(op, (ast.In, ast.Is, ast.Eq))

    def _is_in(self, x: Any, among: ast.expr) -> bool | None:
        if isinstance(among, (ast.Tuple, ast.List, ast.Set)):
            parts = [self.value(part) for part in among.elts]
        else:
            found = self.value(among)
            if isinstance(found, str) and isinstance(x, str):
                return x in found
            of = self._outside(among)
            if not isinstance(of, (tuple, list, set, frozenset, dict)):
                return None
            parts = list(map(_kind_of, of))
        tests = [_equal(x, part) for part in parts]
        return True if True in tests else None if None in tests else False

    def _first(self, node: ast.BoolOp) -> Any:
        """Give what `and` and `or` give: the operand that decides."""
        value: Any = UNKNOWN
        for part in node.values:
            value = self.value(part)
            truth = _truth(value)
            if truth is None:
                return value if part is node.values[-1] else UNKNOWN
            if truth is isinstance(node.op, ast.Or):
                return value
        return value

    def _of_text(self, node: ast.Call) -> Any:
        """Give what a method of a text gives."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _OF_TEXTS or node.keywords:
            return UNKNOWN
        owner, args = self.value(node.func.value), [self.value(arg) for arg in node.args]
        if not isinstance(owner, str) or not all(isinstance(arg, str) for arg in args):
            return UNKNOWN
        try:
            return getattr(owner, node.func.attr)(*args)
        except TypeError:
            return UNKNOWN

    # Expressions.

    def expression(self, node: Any) -> Any:
        """Give an expression with what is known in its place."""
        change = getattr(self, "of_" + type(node).__name__, None)
        return self._parts(node) if change is None else change(node)

    def _parts(self, node: Any) -> Any:
        changed: dict[str, Any] = {}
        for field, old in ast.iter_fields(node):
            if isinstance(old, list):
                new = [self.expression(part) if isinstance(part, ast.AST) else part for part in old]
                changed.update({} if _are_same(old, new) else {field: new})
            elif isinstance(old, ast.AST) and not isinstance(old, _LEAVES):
                inner = self.expression(old)
                changed.update({} if inner is old else {field: inner})
        return _with(node, **changed) if changed else node

    def of_Name(self, node: ast.Name) -> ast.expr:
        """Put None or a text in the place of a name."""
        assert self.state is not None
        known = self.state.get(node.id, VALUE)
        if isinstance(node.ctx, ast.Store):
            return node
        if known is EITHER:
            self._refuse_either(node, node.id)
        return _constant(node, known, node.id) if is_literal(known) else node

    def of_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Refuse attributes of None and texts."""
        self._have_value(node.value)
        new: ast.expr = self._parts(node)
        return new

    def of_Call(self, node: ast.Call) -> ast.expr:
        """Put what a method of a text gives in its place; None and texts are not called."""
        self._have_value(node.func)
        return self._of_known(node)

    def of_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        """Put what is shown of None or a text in an f-string."""
        found = self.value(node.value)
        if not is_literal(found) or node.format_spec is not None:
            new: ast.expr = self._parts(node)
            return new
        return _constant(node, repr(found) if node.conversion == ord("r") else str(found))

    def _of_known(self, node: ast.expr) -> ast.expr:
        found = self.value(node)
        known: bool = is_literal(found) or isinstance(found, bool)
        new: ast.expr = _constant(node, found) if known else self._parts(node)
        return new

    of_Compare = of_UnaryOp = _of_known

    def of_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """Go through a comprehension, whose own names hide those of the function."""
        before = self.state
        assert before is not None
        own = [at.id for each in node.generators for at in ast.walk(each.target) if _is_store(at)]
        self.state = {**before, **dict.fromkeys(own, VALUE)}
        new: ast.expr = self._parts(node)
        self.state = before
        return new

    of_GeneratorExp = of_ListComp

    def of_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Leave out the operands of `and` and `or` that are known not to be the result."""
        kept: list[ast.expr] = []
        for part in node.values:
            truth = _truth(self.value(part))
            if truth is isinstance(node.op, ast.And) and part is not node.values[-1]:
                continue
            kept.append(self.expression(part))
            if truth is isinstance(node.op, ast.Or):
                break
        if _are_same(kept, node.values):
            return node
        return kept[0] if len(kept) == 1 else _with(node, values=kept)

    def of_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Choose one of two values, if it is known which."""
        rest, truth = self.condition(node.test)
        if truth is None:
            arms = self.expression(node.body), self.expression(node.orelse)
            same = rest is node.test and arms[0] is node.body and arms[1] is node.orelse
            return node if same else _with(node, test=rest, body=arms[0], orelse=arms[1])
        chosen: ast.expr = self.expression(node.body if truth else node.orelse)
        return chosen if rest is None else _with(node, test=rest, body=chosen, orelse=copy.deepcopy(chosen))

    def condition(self, node: ast.expr) -> tuple[ast.expr | None, bool | None]:
        """Decide a condition: give what is left of it, and whether it holds.

        If that is known, what is left is only what fails or has an effect when it is computed, which may be nothing.
        """
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            rest, truth = self.condition(node.operand)
            if truth is not None:
                return rest, not truth
            return (node if rest is node.operand else _with(node, operand=rest)), None
        if isinstance(node, ast.BoolOp):
            return self._conditions(node)
        truth = _truth(self.value(node))
        return (self.expression(node), None) if truth is None else (None, truth)

    def _conditions(self, node: ast.BoolOp) -> tuple[ast.expr | None, bool | None]:
        ends = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for part in node.values:
            rest, truth = self.condition(part)
            if truth is None:
                kept.append(rest or part)
                continue
            if rest is not None:
                # It is computed, whatever it gives.
                op = ast.Or() if truth else ast.And()
                kept.append(ast.copy_location(ast.BoolOp(op, [rest, _constant(part, truth)]), part))
            if truth is ends:
                needed = [at for at, each in enumerate(kept) if not _is_harmless(each)]
                return (_together(node, kept[: needed[-1] + 1]) if needed else None), ends
        return (_together(node, kept), None) if kept else (None, not ends)

    # Statements.

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
        return [node if isinstance(node.value, ast.Constant) else self._parts(node)]

    def do_Assign(self, node: ast.Assign) -> list[Any]:
        """Note what names stand for; None and texts are not assigned."""
        target, value = node.targets[0], node.value
        are_tuples = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        if len(node.targets) == 1 and are_tuples and len(target.elts) == len(value.elts):
            return self._assign_several(node, target, value)
        found = self.value(node.value)
        if is_literal(found) and all(isinstance(each, ast.Name) for each in node.targets):
            for each in node.targets:
                assert isinstance(each, ast.Name)
                self._set(each, found)
            return []
        new = self._parts(node)
        self._assigned(node)
        if len(node.targets) == 1:
            self._note(target, found)
        return [new]

    def _note(self, target: ast.expr, found: Any) -> None:
        """Note what is known of something that is assigned to a name."""
        if isinstance(target, ast.Name):
            self._set(target, VALUE if isinstance(found, Kept) and found is not NUMBER else found)

    def _assign_several(self, node: ast.Assign, target: ast.Tuple, value: ast.Tuple) -> list[Any]:
        found = [self.value(part) for part in value.elts]
        known = [isinstance(at, ast.Name) and is_literal(of) for at, of in zip(target.elts, found)]
        new = None if any(known) else self._parts(node)
        left = [(at, self.expression(of)) for at, of, out in zip(target.elts, value.elts, known) if not out]
        self._assigned(node)
        for at, of in zip(target.elts, found):
            self._note(at, of)
        if new is not None or not left:
            return [] if new is None else [new]
        if len(left) == 1:
            return [_with(node, targets=[left[0][0]], value=left[0][1])]
        names, values = zip(*left)
        return [_with(node, targets=[_with(target, elts=list(names))], value=_with(value, elts=list(values)))]

    def do_AnnAssign(self, node: ast.AnnAssign) -> list[Any]:
        """Note what a name stands for; None and texts are not assigned, whatever else is annotated."""
        if node.value is None:
            return [node]
        found = self.value(node.value)
        if is_literal(found) and isinstance(node.target, ast.Name):
            self._set(node.target, found)
            return []
        value, target = self.expression(node.value), self.expression(node.target)
        self._assigned(node)
        same = value is node.value and target is node.target
        return [node if same else _with(node, value=value, target=target)]

    def do_AugAssign(self, node: ast.AugAssign) -> list[Any]:
        """Refuse to add to None."""
        self._have_value(node.target)
        new = self._parts(node)
        self._assigned(node)
        return [new]

    def do_Return(self, node: ast.Return) -> list[Any]:
        """Nothing comes behind it."""
        new = self._parts(node)
        self.state = None
        return [new]

    do_Raise = do_Break = do_Continue = do_Return

    def do_Pass(self, node: ast.Pass) -> list[Any]:
        """`pass`."""
        return [node]

    def do_Assert(self, node: ast.Assert) -> list[Any]:
        """Leave out what holds; what is told is what was written."""
        rest, truth = self.condition(node.test)
        if truth:
            return _computed(node, rest)
        message = None if node.msg is None else self.expression(node.msg)
        if truth is None and rest is node.test and message is node.msg:
            return [node]
        test = _constant(node.test, False) if truth is False else rest
        new = _with(node, test=test, msg=message)
        new.written = node.test
        return [*(_computed(node, rest) if truth is False else ()), new]

    def do_If(self, node: ast.If) -> list[Any]:
        """Keep the one of two branches that is taken, if that is known."""
        rest, truth = self.condition(node.test)
        if truth is not None:
            return [*_computed(node, rest), *self._block(node.body if truth else node.orelse)]
        assert self.state is not None
        before = dict(self.state)
        body = self._block(node.body)
        after, self.state = self.state, before
        orelse = self._block(node.orelse)
        self.state = _joined(after, self.state)
        if rest is node.test and _are_same(body, node.body) and _are_same(orelse, node.orelse):
            return [node]
        return [_with(node, test=rest, body=body or [_nothing(node)], orelse=orelse)]

    def do_While(self, node: ast.While) -> list[Any]:
        """Keep a loop unless it is known that it makes no turn."""

        def turn() -> tuple[ast.expr | None, bool | None, list[Any]]:
            rest, truth = self.condition(node.test)
            return rest, truth, [] if truth is False else self._block(node.body)

        rest, truth, body = self._turns(turn)
        if truth is False:
            return [*_computed(node, rest), *self._block(node.orelse)]
        orelse = self._after(node.orelse)
        if truth:
            return [_with(node, test=_constant(node.test, True), body=[*_computed(node, rest), *body], orelse=orelse)]
        return [self._with_parts(node, {"test": rest, "body": body, "orelse": orelse})]

    def do_For(self, node: ast.For) -> list[Any]:
        """Go through a loop."""
        self._have_value(node.iter)
        over = self.expression(node.iter)

        def turn() -> list[Any]:
            self._assigned(node.target)
            return self._block(node.body)

        body = self._turns(turn)
        return [self._with_parts(node, {"iter": over, "body": body, "orelse": self._after(node.orelse)})]

    def _with_parts(self, node: Any, parts: dict[str, Any]) -> Any:
        same = all(
            _are_same(new, getattr(node, field)) if isinstance(new, list) else new is getattr(node, field)
            for field, new in parts.items()
        )
        return node if same else _with(node, **{**parts, "body": parts["body"] or [_nothing(node)]})

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
        free = {at.id for at in ast.walk(node) if isinstance(at, ast.Name)} - hidden
        stored = {at.id for at in own_nodes(self.source.tree.body) if _is_store(at)}
        for name in sorted(free & before.keys()):
            if is_literal(before[name]) and name in stored:
                self._refuse_either(next(at for at in ast.walk(node) if getattr(at, "id", "") == name), name)
        self.captured |= free
        defaults = self._parts(node.args)
        self.state, self.bound = {name: of for name, of in before.items() if name not in hidden}, bound | hidden
        body = [self._parts(statement) for statement in node.body]
        self.state, self.bound = before, bound
        if defaults is node.args and _are_same(body, node.body):
            return [node]
        return [_with(node, args=defaults, body=body)]

    def of_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Go through a function in one within."""
        return self.do_FunctionDef(node)[0]

    def _assigned(self, node: ast.AST) -> None:
        """Note that the names that are assigned somewhere stand for something."""
        for at in ast.walk(node):
            if _is_store(at):
                self._set(at, VALUE)

    def _set(self, node: Any, value: Any) -> None:
        name = node.name if isinstance(node, ast.FunctionDef) else node.id
        if is_literal(value) and name in self.captured:
            self._refuse_either(node, name)
        assert self.state is not None
        self.state[name] = value
        for seen in self.seen:
            seen.setdefault(name, set()).add(value)

    # What is told.

    def _have_value(self, node: ast.expr) -> None:
        """Fail if a name is None or a text."""
        assert self.state is not None
        known = self.state.get(node.id, VALUE) if isinstance(node, ast.Name) else VALUE
        if isinstance(node, ast.Name) and is_literal(known):
            self.source.fail(node, *misused(node.id, known))
        if isinstance(node, ast.Name) and known is EITHER:
            self._refuse_either(node, node.id)

    def _refuse_either(self, node: Any, name: str) -> NoReturn:
        message = f"`{name}` is None, or a text, in one place and something else in another"
        help = "begin with a number that stands for it, such as -1 or `np.inf`; or keep in a bool whether there is one"
        self.source.fail(node, message, "what it is here is known only while the kernel runs", help)


def _kind_of(found: Any) -> Any:
    if is_literal(found):
        return found
    return NUMBER if isinstance(found, (bool, int, float, complex, np.generic)) else VALUE


def _truth(value: Any) -> bool | None:
    """Give whether a value counts as true; None if that is not known."""
    return None if isinstance(value, Kept) else bool(value)


def _is_none(value: Any) -> bool | None:
    return None if value in (EITHER, UNKNOWN) else value is None


def _equal(a: Any, b: Any) -> bool | None:
    """Give whether two values are equal; None if that is not known."""
    if is_literal(a) and is_literal(b):
        return bool(a == b)
    if is_literal(a) or is_literal(b):
        other = b if is_literal(a) else a
        return False if other is NUMBER or isinstance(other, bool) else None
    return None


def is_written(node: ast.expr) -> bool:
    """Return whether an expression is `None`, as somebody wrote it: what is compared with `==` is told to be asked."""
    return isinstance(node, ast.Constant) and node.value is None and not hasattr(node, "stands_for")


def _join(a: Any, b: Any) -> Any:
    """Give what a name stands for that is one thing or the other."""
    if a is b or (isinstance(a, str) and isinstance(b, str) and a == b):
        return a
    return EITHER if EITHER in (a, b) or is_literal(a) or is_literal(b) else VALUE


def _joined(a: dict[str, Any] | None, b: dict[str, Any] | None) -> dict[str, Any] | None:
    """Give what names stand for where two ways meet; None of one does not come here."""
    if a is None or b is None:
        return b if a is None else a
    found = {}
    for name in (*a, *(name for name in b if name not in a)):
        # (What one way does not assign may have no value.)
        found[name] = _join(a.get(name, VALUE), b.get(name, VALUE))
    return found


def _is_harmless(node: ast.expr) -> bool:
    """Return whether computing an expression neither fails nor does anything."""
    plain = (ast.Add, ast.Sub, ast.Mult)
    return all(
        isinstance(part, (*_HARMLESS, *plain)) or (isinstance(part, ast.BinOp) and isinstance(part.op, plain))
        for part in ast.walk(node)
    )


def _is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _are_same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


# New nodes.


def _with(node: Any, **fields: Any) -> Any:
    """Give a copy of a node with other parts."""
    new = copy.copy(node)
    for field, value in fields.items():
        setattr(new, field, value)
    return new


def _constant(node: ast.expr, value: Any, name: str | None = None) -> ast.Constant:
    """Write what is known in the place of a node."""
    new: Any = ast.copy_location(ast.Constant(value), node)
    if isinstance(value, bool):
        new.is_decided = True
    if name is not None:
        new.stands_for = name
    return new  # type: ignore[no-any-return]


def _together(node: ast.BoolOp, parts: list[ast.expr]) -> ast.expr:
    if _are_same(parts, node.values):
        return node
    return parts[0] if len(parts) == 1 else _with(node, values=parts)


def _computed(node: Any, condition: ast.expr | None) -> list[Any]:
    """Write that a condition is computed, and no more."""
    return [] if condition is None else [ast.copy_location(ast.If(condition, [_nothing(node)], []), node)]


def _nothing(node: Any) -> ast.Pass:
    return ast.copy_location(ast.Pass(), node)
