"""Control flow: `if`, `while`, `for … in range(…)`, the `else` of loops, `break` and `continue`."""

from __future__ import annotations

import ast
import operator
from dataclasses import replace
from typing import Any, NamedTuple

from . import _instead
from ._scopes import Scope, jumps
from ._steps import Steps
from ._trees import children, walk
from ._types import INT, Num, join
from ._values import INT32, Value, constant, literal


class Else(NamedTuple):
    """What is known of the `else` of a loop: the variable that says that it was left, and what had a value then."""

    left: str
    assigned: list[set[str]]


class Control(Steps):
    """Translates branches, and loops that count; `Body` has what they need to know."""

    def do_If(self, node: ast.If) -> None:
        """`if`, `elif`, `else`."""
        truth = self.known_by_dimensions(node.test)
        if truth is not None:
            # What the other branch does is for arrays of other dimensions.
            return self.block(node.body if truth else node.orelse)
        self.emit(f"if ({self.test(node.test)}) {{")
        before = None if self.assigned is None else set(self.assigned)
        self._inner(node.body)
        after = self.assigned
        self.assigned = None if before is None else set(before)
        if node.orelse:
            self.emit("} else {")
            self._inner(node.orelse)
        self.emit("}")
        self.assigned = after if self.assigned is None else self.assigned if after is None else self.assigned & after

    def known_by_dimensions(self, node: ast.expr) -> bool | None:
        """Return whether a condition holds that asks how many dimensions arrays have; None of any other."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = self.known_by_dimensions(node.operand)
            return None if found is None else not found
        if isinstance(node, ast.BoolOp):
            # (What stands behind the operand that decides is not computed in Python either.)
            decides = isinstance(node.op, ast.Or)
            for part in node.values:
                found = self.known_by_dimensions(part)
                if found is None or found is decides:
                    return found
            return not decides
        if not isinstance(node, ast.Compare) or not any(map(_asks_dimensions, walk(node))):
            return None
        both = [node.left, *node.comparators]
        is_simple = all(_asks_dimensions(part) or isinstance(part, (ast.Constant, ast.Name)) for part in both)
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARED or not is_simple:
            return None
        a, b = (self.number(part).const for part in both)
        return None if a is None or b is None else _COMPARED[type(node.ops[0])](a, b)

    def _in_branches(self, node: Any, statement: Any) -> None:
        """Translate a statement with `a if c else b` as two, of which one is executed."""
        for target in getattr(node, "targets", [getattr(node, "target", None)]):
            if isinstance(target, ast.expr) and self.is_part(target):
                # Both stand for it.
                self.part(target)
        branches = self.in_two(node, node.value, statement)
        self.in_order(branches.test)
        self.do_If(branches)

    def _inner(self, statements: list[ast.stmt]) -> None:
        self.indent += 1
        at = self.at
        self.block(statements)
        self.at = at
        self.indent -= 1

    def do_While(self, node: ast.While) -> None:
        """`while`."""
        if node.orelse:
            return self._with_else(node, self._while)
        self._while(node)

    def _while(self, node: ast.While) -> None:
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        # Of several conditions each ends the loop by itself: lanes that one lets go are not asked for the next.
        several = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        start, at = len(self.lines), self.at
        self.forget(node)
        self.indent += 1
        for part in node.test.values if several else [] if endless else [node.test]:
            self.in_order(part)
            test = self.test(part)
            if len(self.lines) == start and not several:
                self.indent -= 1
                self.emit(f"while ({test}) {{")
                self.indent += 1
            else:
                self.emit(f"if (!{test}) break;")
        self.indent -= 1
        if endless or several or not self.lines[start][0].lstrip().startswith("while"):
            # What the condition needs is computed in each turn.
            self.lines.insert(start, ("    " * self.indent + "while (true) {", at))
        self._turns(node.body)
        self.emit("}")
        if endless and not jumps(node.body, ast.Break):
            self.assigned = None

    def do_For(self, node: ast.For) -> None:
        """`for … in range(…)` and `for … in spmdvm.foreach(…)`."""
        if node.orelse and isinstance(node.iter, ast.Call) and self.is_foreach(self.called(node.iter)):
            self.fail(node.orelse[0], "nothing leaves a `foreach`, so it has no `else`", "this part", "write it behind")
        if node.orelse:
            return self._with_else(node, self._for)
        self._for(node)

    def _for(self, node: ast.For) -> None:
        self.refuse_other_in_loop(node)
        is_call = isinstance(node.iter, ast.Call) and self.array_of(node.iter) is None
        what = self.called(node.iter) if is_call and not self.is_view(node.iter) else None
        if what is range:
            return self.range(node)
        if self.is_foreach(what):
            return self.foreach(node)
        if self.over_values(node):
            if not jumps(node.body, ast.Break):
                self.need_size(node.iter)
        else:
            self.fail(
                node.iter,
                "a kernel's loops count, or go over an array or a tuple",
                "neither `range(…)`, `spmdvm.foreach(…)` nor such values",
                _instead.loop(getattr(what, "__name__", "")),
            )

    def range(self, node: ast.For) -> None:
        """`for k in range(…)`."""
        call = node.iter
        if call.keywords or not 1 <= len(call.args) <= 3:
            self.fail(call, "`range` takes one to three numbers", "here")
        if not isinstance(node.target, ast.Name):
            self.fail(node.target, "`range` gives one number", "not a name")
        args = [self.integer(arg, "`range`") for arg in call.args]
        zero, one = constant(0), constant(1)
        start, stop, step = (zero, args[0], one) if len(args) == 1 else (*args, one)[:3]
        if step.const is None:
            return self._range_by(node, start, stop, step)
        if step.const == 0:
            self.fail(call.args[2], "the step of a `range` is not zero", "here")
        up = step.const > 0
        ty = INT
        for value in (start, stop):
            if not value.type.weak:
                ty = value.type if ty == INT else join(ty, value.type)
        if ty is None or ty.is_int is False:
            self.fail(call, "the numbers of this `range` have no common type", "convert one of them")
        name = node.target.id
        low, high = (start.low, stop.high - 1) if up else (stop.low + 1, start.high)
        narrow = ty == INT and all(
            INT32[0] <= v + step.const <= INT32[1] and INT32[0] <= v <= INT32[1] for v in (low, high)
        )
        spmd = "int" if narrow else ty.spmd
        uniform = start.uniform and stop.uniform
        shape = "uniform " if uniform else ""
        cast = (lambda v: v.text) if narrow else (lambda v: self.cast(v, ty, call).text)
        bound = cast(stop)
        if stop.const is None:
            bound = self.temporary("stop")
            self.emit(f"const {shape}{spmd} {bound} = {cast(stop)};")
        counter = self.temporary(name)
        by = f"++{counter}" if step.const == 1 else f"{counter} += {literal(step.const, ty)}"
        test = "<" if up else ">"
        if not up and ty.kind == "u":
            self.fail(call, "a `range` of unsigned numbers counts upwards", "convert its start: `int(…)`")
        self.emit(f"for ({shape}{spmd} {counter} = {cast(start)}; {counter} {test} {bound}; {by}) {{")
        below = stop.equals if up else None
        value = Value(counter, ty, uniform)
        if ty == INT:
            least = self.reach(start)[0] if up else None
            most = f"({stop.most} - 1)" if up and stop.most is not None else None
            value = Value(counter, ty, uniform, low, high, below=below, least=least, most=most)
        is_known = start.const is not None and stop.const is not None
        self._counted(node, name, value, is_known and len(range(start.const, stop.const, step.const)) > 0)
        self.emit("}")

    def _range_by(self, node: ast.For, start: Value, stop: Value, step: Value) -> None:
        """Translate a `range` whose step is known at run time only; it counts in 64 bits."""
        call, name = node.iter, node.target.id
        ty: Num | None = INT
        for value in (start, stop, step):
            if not value.type.weak:
                ty = value.type if ty == INT else ty and join(ty, value.type)
        if ty is None or not ty.is_int:
            self.fail(call, "the numbers of this `range` have no common type", "convert one of them")
        up = step.low > 0 or step.type.kind == "u"
        if ty.kind == "u" and not up:
            self.fail(call, "a `range` of unsigned numbers counts upwards", "convert its start: `int(…)`")
        wide = ty if ty.bits == 64 else INT
        uniform = start.uniform and stop.uniform and step.uniform
        shape = "uniform " if uniform else ""
        names = []
        for what, value in (("stop", stop), ("step", step)):
            names.append(self.temporary(what))
            self.emit(f"const {shape}{wide.spmd} {names[-1]} = {self.cast(value, wide, call).text};")
        bound, by = names
        if step.low <= 0:
            self.demand(call, f"{by} != 0", "range() step must not be zero")
        counter = self.temporary(name)
        test = f"{counter} < {bound}" if up else f"({by} > 0 ? {counter} < {bound} : {counter} > {bound})"
        first = self.cast(start, wide, call).text
        self.program.python_variables[counter] = name
        self.emit(f"for ({shape}{wide.spmd} {counter} = {first}; {test}; {counter} += {by}) {{")
        if ty == INT:
            low, high = (
                min(start.low, start.low if up else stop.low + 1),
                max(stop.high - 1, start.low if up else start.high),
            )
            value = Value(counter, INT, uniform, low, high, below=stop.equals if up else None)
            if value.is_narrow:
                value = replace(value, text=f"((int){counter})")
        else:
            value = Value(counter if ty == wide else f"(({ty.spmd}){counter})", ty, uniform)
        self._counted(node, name, value)
        self.emit("}")

    def _counted(self, node: ast.For, name: str, value: Value, is_run: bool = False) -> None:
        """Translate the body of a loop. Its variable is the counter, unless it is used for more."""
        if self.only_counts(name):
            region = self.regions[-1]
            region.indices[name] = value
            self.program.python_variables[value.text] = name
            self._turns(node.body, is_run)
            del region.indices[name]
            return
        before = set(self.assigned or ())
        self.indent += 1
        self.assign_name(node.target, name, value)
        self.indent -= 1
        self._turns(node.body, is_run)
        if not is_run:
            self.assigned = before

    def only_counts(self, name: str) -> bool:
        """Return whether a name is that of a counter alone."""
        return _only_counts(self.source.tree, name)

    def _turns(self, statements: list[ast.stmt], is_run: bool = False) -> None:
        """Translate the body of a loop, after which nothing more has a value than before, unless it `is_run` once."""
        before = set(self.assigned or ())
        self.loops.append(self.next_else or "loop")
        self.next_else = None
        self._inner(statements)
        self.loops.pop()
        if not is_run or self.assigned is None or jumps(statements):
            self.assigned = before

    def _with_else(self, node: ast.While | ast.For, write: Any) -> None:
        """Translate a loop and its `else`, which is executed unless a `break` has left the loop."""
        after = Else(self.temporary("left"), [])
        self.emit(f"{'uniform ' if self.is_uniform_here() else ''}bool {after.left} = false;")
        self.next_else = after
        write(node)
        self.next_else = None
        ends = [self.assigned]
        if self.assigned is not None:
            self.emit(f"if (!{after.left}) {{")
            self._inner(node.orelse)
            self.emit("}")
            ends = [self.assigned]
        known = [names for names in (*ends, *after.assigned) if names is not None]
        self.assigned = set.intersection(*known) if known else None

    def do_Break(self, node: ast.Break) -> None:
        """`break`."""
        if not self.loops or self.loops[-1] == "foreach":
            help = "pass over elements with `if` or `continue`; a loop over `range` goes in order, and can be left"
            self.fail(node, "`break` cannot leave a `foreach`, whose elements all run at once", "here", help)
        after = self.loops[-1]
        if isinstance(after, Else):
            self.emit(f"{after.left} = true;")
            after.assigned.append(set(self.assigned or ()))
        self.emit("break;")
        self.assigned = None

    def do_Continue(self, node: ast.Continue) -> None:
        """`continue`."""
        self.emit("continue;")
        self.assigned = None


def _only_counts(tree: ast.AST, name: str) -> bool:
    """Return whether a name is assigned by loops alone, none in another one, and read in them alone."""
    inside: set[int] = set()
    targets: set[int] = set()
    for loop in _nodes_where(tree, name):
        target = _target_in(loop, name)
        if target is not None:
            targets.add(id(target))
            # (Operators and contexts are shared by all nodes.)
            body = {id(node) for statement in loop.body for node in walk(statement) if isinstance(node, ast.Name)}
            if inside & body:
                return False
            inside |= body
    if targets & inside:
        return False
    names = [node for node in _nodes_where(tree, name) if isinstance(node, ast.Name) and node.id == name]
    return all(id(node) in (inside if isinstance(node.ctx, ast.Load) else targets) for node in names)


def _nodes_where(tree: ast.AST, name: str) -> Any:
    """Give the nodes of a function, without the functions in it that have a variable of their own of a name."""
    yield tree
    for child in children(tree):
        if not isinstance(child, ast.FunctionDef) or name not in Scope(child).bound:
            yield from _nodes_where(child, name)


def _target_in(loop: ast.AST, name: str) -> ast.Name | None:
    """Give what a loop assigns to, if that has a name."""
    found = walk(loop.target) if isinstance(loop, ast.For) else ()
    return next((node for node in found if isinstance(node, ast.Name) and node.id == name), None)


_COMPARED: dict[type[ast.cmpop], Any] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


def _asks_dimensions(node: ast.AST) -> bool:
    """Return whether an expression is `a.ndim`, or `len(a.shape)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        return isinstance(node.args[0], ast.Attribute) and node.args[0].attr == "shape"
    return isinstance(node, ast.Attribute) and node.attr == "ndim"
