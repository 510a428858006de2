"""What names and expressions stand for where branches are decided: None, a text, or something that programs have.

What is None or a text is put in the place of names, and conditions that follow from it are decided. A name that is None
in one way and a value of the program in another is asked by the bool beside it (`_nones`), and what a condition says of
it is known behind that.
"""

from __future__ import annotations

import ast
import copy
import enum
import inspect
from typing import Any, NoReturn

import numpy as np

from . import _nones
from ._asked_types import AskedTypes
from ._none_results import may_miss
from ._trees import walk


class Kept(enum.Enum):
    """What a name stands for that is neither None nor a text."""

    NUMBER = "a number"
    VALUE = "something that a program has"
    MAYBE = "None in one way, something that a program has in another"
    EITHER = "a text in one way, something else in another"
    UNKNOWN = "nothing is known"


NUMBER, VALUE, MAYBE, EITHER, UNKNOWN = Kept

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


class Known(AskedTypes):
    """Goes through expressions; `_decided` has what it needs to know of the function."""

    # What is known.

    def value(self, node: ast.expr) -> Any:
        """Give what an expression is, if that is known: None, a text or a bool; else what is known of it."""
        if isinstance(node, ast.Constant):
            return node.value if is_literal(node.value) or hasattr(node, "is_decided") else NUMBER
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Attribute):
            found = self.outside(node)
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

    def outside(self, node: ast.expr) -> Any:
        """Give what a name, or one in a module or class, stands for outside of the function."""
        assert self.state is not None
        if isinstance(node, ast.Attribute):
            owner = self.outside(node.value)
            return UNKNOWN if owner is UNKNOWN else getattr(owner, node.attr, UNKNOWN)
        if not isinstance(node, ast.Name) or node.id in self.bound or node.id in self.state:
            return UNKNOWN
        try:
            return self.lookup(node.id)
        except KeyError:
            return UNKNOWN

    def _compared(self, a: ast.expr, op: ast.cmpop, b: ast.expr) -> bool | None:
        """Give what a comparison gives; None if that is not known."""
        if (asked := self.of_type(a, op, b)) is not None:
            return asked
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
            of = self.outside(among)
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
        """Give what a method of a text gives, or `isinstance`."""
        if (asked := self.of_types(node)) is not None:
            return asked
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
        return self.parts(node) if change is None else change(node)

    def parts(self, node: Any) -> Any:
        changed: dict[str, Any] = {}
        for field, old in ast.iter_fields(node):
            if isinstance(old, list):
                new = [self.expression(part) if isinstance(part, ast.AST) else part for part in old]
                changed.update({} if are_same(old, new) else {field: new})
            elif isinstance(old, ast.AST) and not isinstance(old, _LEAVES):
                inner = self.expression(old)
                changed.update({} if inner is old else {field: inner})
        return copied(node, **changed) if changed else node

    def of_Name(self, node: ast.Name) -> ast.expr:
        """Put None or a text in the place of a name."""
        assert self.state is not None
        known = self.state.get(node.id, VALUE)
        if isinstance(node.ctx, ast.Store):
            return node
        if known is EITHER or (known is MAYBE and self.depth):
            self.refuse_either(node, node.id)
        if is_literal(known):
            return constant_at(node, known, node.id)
        if known is MAYBE:
            # It is tested.
            self.optional.add(node.id)
        is_some = node.id in self.optional and known is not MAYBE and not self.depth
        return _nones.as_some(node) if is_some else node

    def of_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Refuse attributes of None and texts."""
        self.have_value(node.value)
        new: ast.expr = self.parts(node)
        return new

    def of_Call(self, node: ast.Call) -> ast.expr:
        """Put what a method of a text gives in its place; None and texts are not called."""
        self.have_value(node.func)
        if self.maybe(node.func) is not None:
            self.refuse_maybe(node.func)
        if not _takes_numbers(self.outside(node.func)):
            # Functions of Python may ask for None, and lists take it.
            self.need_some(*node.args, *(keyword.value for keyword in node.keywords))
        return self._of_known(node)

    def of_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        """Put what is shown of None or a text in an f-string."""
        self.need_some(node.value)
        found = self.value(node.value)
        if not is_literal(found) or node.format_spec is not None:
            new: ast.expr = self.parts(node)
            return new
        return constant_at(node, repr(found) if node.conversion == ord("r") else str(found))

    def _of_known(self, node: ast.expr) -> ast.expr:
        found = self.value(node)
        known: bool = is_literal(found) or isinstance(found, bool)
        new: ast.expr = constant_at(node, found) if known else self.parts(node)
        return new

    def of_Compare(self, node: ast.Compare) -> ast.expr:
        """Put what a comparison gives in its place; whether a variable is None is asked of its bool."""
        maybe = self._asks(node)
        if maybe is not None:
            return self._ask(node, maybe, isinstance(node.ops[0], ast.Is))
        if (asked := self._asks_for_key(node)) is not None:
            return asked
        if not all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops):
            # None is another value than numbers.
            self.need_some(node.left, *node.comparators)
        return self._of_known(node)

    def of_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Put what an operator gives in its place."""
        if isinstance(node.op, ast.Not) and not isinstance(self.value(node), bool):
            rest, truth = self.condition(node)
            return self.parts(node) if truth is not None or rest is None else rest
        return self._of_known(node)

    def of_Tuple(self, node: ast.Tuple | ast.List) -> ast.expr:
        """Go through several values, none of which may be None."""
        if isinstance(node.ctx, ast.Load):
            self.need_some(*node.elts)
        new: ast.expr = self.parts(node)
        return new

    of_List = of_Tuple

    def of_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Go through an element, whose indices are numbers."""
        if not isinstance(node.slice, ast.Tuple):
            new: ast.expr = self.parts(node)
            return new
        value, index = self.expression(node.value), self.parts(node.slice)
        same = value is node.value and index is node.slice
        return node if same else copied(node, value=value, slice=index)  # type: ignore[no-any-return]

    def of_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """Go through a comprehension, whose own names hide those of the function."""
        before = self.state
        assert before is not None
        own = [at.id for each in node.generators for at in walk(each.target) if is_store(at)]
        self.state = {**before, **dict.fromkeys(own, VALUE)}
        self.need_some(node.elt)
        new: ast.expr = self.parts(node)
        self.state = before
        return new

    of_GeneratorExp = of_ListComp

    def of_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """Leave out the operands of `and` and `or` that are known not to be the result."""
        kept: list[ast.expr] = []
        before = self.state
        for part in node.values:
            truth = _truth(self.value(part))
            if truth is isinstance(node.op, ast.And) and part is not node.values[-1]:
                continue
            self.need_some(part)
            is_last = part is node.values[-1]
            kept.append(self.expression(part if is_last or isinstance(node.op, ast.And) else _with_false(part)))
            if truth is isinstance(node.op, ast.Or):
                break
            self.assume(part, isinstance(node.op, ast.And))
        self.state = before
        if are_same(kept, node.values):
            return node
        return kept[0] if len(kept) == 1 else copied(node, values=kept)

    def of_IfExp(self, node: ast.IfExp) -> ast.expr:
        """Choose one of two values, if it is known which."""
        rest, truth = self.condition(node.test)
        if truth is None:
            arms = self._arm(node, True), self._arm(node, False)
            same = rest is node.test and arms[0] is node.body and arms[1] is node.orelse
            return node if same else copied(node, test=rest, body=arms[0], orelse=arms[1])
        self.need_some(node.body if truth else node.orelse)
        chosen: ast.expr = self.expression(node.body if truth else node.orelse)
        return chosen if rest is None else copied(node, test=rest, body=chosen, orelse=copy.deepcopy(chosen))

    def _arm(self, node: ast.IfExp, holds: bool) -> ast.expr:
        """Go through one of two values, which is no None."""
        before = self.state
        self.assume(node.test, holds)
        arm = node.body if holds else node.orelse
        self.need_some(arm)
        new: ast.expr = self.expression(arm)
        self.state = before
        return new

    def condition(self, node: ast.expr) -> tuple[ast.expr | None, bool | None]:
        """Decide a condition: give what is left of it, and whether it holds.

        If that is known, what is left is only what fails or has an effect when it is computed, which may be nothing.
        """
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            rest, truth = self.condition(node.operand)
            if truth is not None:
                return rest, not truth
            return (node if rest is node.operand else copied(node, operand=rest)), None
        if isinstance(node, ast.BoolOp):
            return self._conditions(node)
        maybe = self.maybe(node)
        if maybe is not None:
            # None counts as false.
            both = [self._ask(node, maybe, False), _nones.as_some(node)]
            return ast.copy_location(ast.BoolOp(ast.And(), both), node), None
        truth = _truth(self.value(node))
        node = _with_false(node)
        return (self.expression(node), None) if truth is None else (None, truth)

    def _conditions(self, node: ast.BoolOp) -> tuple[ast.expr | None, bool | None]:
        before = self.state
        found = self._conditions_in(node)
        self.state = before
        return found

    def _conditions_in(self, node: ast.BoolOp) -> tuple[ast.expr | None, bool | None]:
        ends = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for part in node.values:
            rest, truth = self.condition(part)
            if truth is None:
                kept.append(rest or part)
                self.assume(part, not ends)
                continue
            if rest is not None:
                # It is computed, whatever it gives.
                op = ast.Or() if truth else ast.And()
                kept.append(ast.copy_location(ast.BoolOp(op, [rest, constant_at(part, truth)]), part))
            if truth is ends:
                needed = [at for at, each in enumerate(kept) if not _is_harmless(each)]
                return (_together(node, kept[: needed[-1] + 1]) if needed else None), ends
        return (_together(node, kept), None) if kept else (None, not ends)

    # Names that may be None.

    def maybe(self, node: Any) -> str | None:
        """Give the name of a variable that may be None; None if it is something else, or has no value then."""
        assert self.state is not None
        if isinstance(node, ast.Name) and node.id in self.unset:
            return None
        return node.id if isinstance(node, ast.Name) and self.state.get(node.id) is MAYBE else None

    def _asks(self, node: ast.expr) -> str | None:
        """Give the name of a variable of which it is asked whether it is None, and may be; None of anything else."""
        if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return None
        a, b = node.left, node.comparators[0]
        return self.maybe(a) if self.value(b) is None else self.maybe(b) if self.value(a) is None else None

    def _asks_for_key(self, node: ast.Compare) -> ast.expr | None:
        """Give `d.get(k) is None` as `k not in d`; None if it is something else."""
        if len(node.ops) > 1 or not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return None
        a, b = node.left, node.comparators[0]
        call = a if self.value(b) is None else b if self.value(a) is None else None
        if call is None or not may_miss(call) or call.func.attr != "get":
            return None
        op = ast.NotIn() if isinstance(node.ops[0], ast.Is) else ast.In()
        test = ast.Compare(self.expression(call.args[0]), [op], [self.expression(call.func.value)])
        return ast.copy_location(test, node)

    def _ask(self, node: ast.expr, name: str, is_none: bool) -> ast.expr:
        """Write the question whether a variable is None, or whether it is not."""
        if self.depth:
            self.refuse_either(node, name)
        self.optional.add(name)
        return _nones.asked(node, name, is_none)

    def assume(self, test: ast.expr, holds: bool) -> None:
        """Note what is known where a condition holds, or does not."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.assume(test.operand, not holds)
        elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
            for part in test.values:
                self.assume(part, holds)
        else:
            asked = self._asks(test)
            is_none = asked is not None and isinstance(test.ops[0], ast.Is) is holds
            name = asked or (self.maybe(test) if holds else None)
            if name is not None:
                self.state = {**(self.state or {}), name: None if is_none else VALUE}

    def need_some(self, *nodes: ast.expr) -> None:
        """Fail if a variable may be None where Python would take that."""
        for node in nodes:
            if self.maybe(node) is not None:
                self.refuse_maybe(node)

    def may_be_none(self, node: ast.expr) -> bool:
        """Return whether a value is None or a variable that may be, or chooses one."""
        if not isinstance(node, ast.IfExp):
            return self.maybe(node) is not None or self.value(node) is None
        before, found = self.state, []
        for arm, holds in ((node.body, True), (node.orelse, False)):
            self.assume(node.test, holds)
            found.append(self.may_be_none(arm))
            self.state = before
        return any(found)

    # What is told.

    def have_value(self, node: ast.expr) -> None:
        """Fail if a name is None or a text."""
        assert self.state is not None
        known = self.state.get(node.id, VALUE) if isinstance(node, ast.Name) else VALUE
        if isinstance(node, ast.Name) and is_literal(known):
            self.source.fail(node, *misused(node.id, known))
        if isinstance(node, ast.Name) and known is EITHER:
            self.refuse_either(node, node.id)

    def refuse_maybe(self, node: Any, help: str | None = None) -> NoReturn:
        help = help or f"ask before: `if {node.id} is not None:`, or `assert {node.id} is not None`"
        self.source.fail(node, f"`{node.id}` may be None here", "a kernel has no value for that", help)

    def refuse_either(self, node: Any, name: str) -> NoReturn:
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


def _takes_numbers(found: Any) -> bool:
    """Return whether a function from outside takes numbers, and no None: one of Python's own, of `math` or of numpy."""
    if isinstance(found, type):
        numbers = (int, float, complex, range, np.generic)
        return issubclass(found, numbers) and not issubclass(found, (bool, np.bool_))
    return isinstance(found, np.ufunc) or (inspect.isbuiltin(found) and found is not print)


def _is_none(value: Any) -> bool | None:
    return None if value in (MAYBE, EITHER, UNKNOWN) else value is None


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


def _with_false(node: ast.expr) -> ast.expr:
    """Give `d.get(k)` with a number in the place of None, that counts as false, too."""
    if not may_miss(node):
        return node
    zero = ast.copy_location(ast.Constant(0), node)
    return ast.copy_location(ast.Call(node.func, [node.args[0], zero], []), node)


def _is_harmless(node: ast.expr) -> bool:
    """Return whether computing an expression neither fails nor does anything."""
    plain = (ast.Add, ast.Sub, ast.Mult)
    return all(
        isinstance(part, (*_HARMLESS, *plain)) or (isinstance(part, ast.BinOp) and isinstance(part.op, plain))
        for part in walk(node)
    )


def is_store(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def are_same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


# New nodes.


def copied(node: Any, **fields: Any) -> Any:
    """Give a copy of a node with other parts."""
    new = copy.copy(node)
    for field, value in fields.items():
        setattr(new, field, value)
    return new


def constant_at(node: ast.expr, value: Any, name: str | None = None) -> ast.Constant:
    """Write what is known in the place of a node."""
    new: Any = ast.copy_location(ast.Constant(value), node)
    if isinstance(value, bool):
        new.is_decided = True
    if name is not None:
        new.stands_for = name
    return new  # type: ignore[no-any-return]


def _together(node: ast.BoolOp, parts: list[ast.expr]) -> ast.expr:
    if are_same(parts, node.values):
        return node
    return parts[0] if len(parts) == 1 else copied(node, values=parts)
