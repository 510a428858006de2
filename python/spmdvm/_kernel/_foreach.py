"""Loops over elements: `foreach`, and the variables around it in which its elements are combined."""

from __future__ import annotations

import ast
from typing import Any, Callable

from . import _library, _nones
from ._trees import children
from ._types import BOOL, INT, Num, named, promote
from ._usage import named_by
from ._values import INT32, LONGEST, Value, literal
from ._variables import Reduction, Region, spmd_name


class Foreach:
    """Translates `foreach`; `Body` has what it needs to know."""

    def foreach(self, node: ast.For) -> None:
        """`for i in foreach(n)`, `for i, j in foreach(h, w)`."""
        call = node.iter
        if not self.is_uniform_here() and _library.is_own(self.source.file):
            return self._one_after_another(node)
        if not self.uniform:
            self.fail(
                node,
                "`foreach` stands in array kernels",
                "this kernel is called for each element already",
                "give it array parameters, or use `range`",
            )
        if self.in_foreach():
            self.fail(
                node, "a `foreach` cannot stand in another one", "here", "put both ranges into one: `foreach(h, w)`"
            )
        targets = list(node.target.elts) if isinstance(node.target, ast.Tuple) else [node.target]
        call = self.spread_out(call)
        if call.keywords or len(targets) != len(call.args) or not 1 <= len(targets) <= 8:
            pair = len(targets) == 1 and len(call.args) == 2
            help = (
                f"from {ast.unparse(call.args[0])} on: `foreach(({ast.unparse(call).split('(', 1)[1]})`"
                if pair
                else None
            )
            self.fail(call, f"{len(targets)} names for {len(call.args)} ranges", "one range for each name", help)
        names = []
        for target in targets:
            if not isinstance(target, ast.Name):
                self.fail(target, "`foreach` gives indices", "not a name")
            if target.id in self.regions[0].names and target.id in self.regions[0].variables:
                self.fail(target, f"`{target.id}` is a variable of the code around", "use another name")
            names.append(target.id)
        stored, outer = assigned_in(node.body), self.regions[0].names
        # (Its place is the same in all passes.)
        key = (node.lineno, node.col_offset)
        region = Region(key, False, stored - outer, summed=stored & outer)
        ranges = []
        for name, arg in zip(names, call.args):
            start, stop = self._bounds(arg)
            spmd = spmd_name(name)
            ranges.append(f"{spmd} = {start.text} ... {stop.text}")
            low, high = max(start.low, INT32[0]), min(stop.high - 1, LONGEST)
            known = {"below": stop.equals, "apart": frozenset([name]), "least": self.reach(start)[0]}
            # Of a stop that is no sum.
            known["most"] = None if stop.most is None else f"({stop.most} - 1)"
            region.indices[name] = Value(spmd, INT, False, low, high, **known)
            self.program.python_variables[spmd] = name
        declared = len(self.lines)
        outer = self.assigned
        self.emit(f"foreach ({', '.join(ranges)}) {{")
        self.regions.append(region)
        self.loops.append("foreach")
        self.indent += 1
        region.indent = self.indent
        start, at = len(self.lines), self.at
        self.assigned = set(outer or ())
        self.block(node.body)
        self.at = at
        self._declare(region, start)
        self.indent -= 1
        self.loops.pop()
        self.regions.pop()
        self.emit("}")
        self.assigned = outer
        self._join(region, declared)

    def _one_after_another(self, node: ast.For) -> None:
        """Translate a `foreach` of a function that is called where each element runs by itself: as loops that count."""
        targets = list(node.target.elts) if isinstance(node.target, ast.Tuple) else [node.target]
        body = node.body
        for target, arg in reversed([*zip(targets, node.iter.args)]):
            bounds = arg.elts if isinstance(arg, ast.Tuple) else [arg]
            counts = ast.copy_location(ast.Call(ast.Name("range", ast.Load()), bounds, []), node.iter)
            body = [ast.copy_location(ast.For(target, counts, body, []), node)]
        self.range(body[0])

    def goes_over_elements(self, node: ast.For) -> bool:
        """Return whether a loop is over `foreach`, rather than over what a function gives."""
        try:
            return isinstance(node.iter, ast.Call) and self.is_foreach(named_by(node.iter.func, self.lookup))
        except KeyError:
            return False

    def _bounds(self, arg: ast.expr) -> tuple[Value, Value]:
        """Give the bounds of a range of `foreach`, as 32-bit numbers."""
        parts = arg.elts if isinstance(arg, ast.Tuple) else [ast.copy_location(ast.Constant(0), arg), arg]
        if len(parts) != 2:
            help = "of every second one: `for k in foreach(n // 2)`, with `i = 2 * k`" if len(parts) == 3 else None
            self.fail(arg, "a range of `foreach` is a number, or a start and a stop", "here", help)
        if isinstance(arg, ast.Name) and self.array_of(arg) is not None:
            help = f"write `foreach(len({arg.id}))`, and `{arg.id}[i]` within; in order, `for v in {arg.id}`"
            self.fail(arg, "a range of `foreach` is a number, or a start and a stop", "an array", help)
        start, stop = (self.integer(part, "`foreach`") for part in parts)
        return self._small(start), self._small(stop)

    def _small(self, value: Value) -> Value:
        """Give a bound of `foreach`, of which it is tested that it is one."""
        if value.is_narrow:
            return value
        kept = self.keep(value)
        text = kept.text
        tests = [f"{text} <= {LONGEST}"] if value.type.kind == "u" or value.low >= 0 else []
        if value.type.kind == "i" and value.type.bits > 32 and value.low < 0:
            tests = [f"{text} >= {INT32[0] + 1}", f"{text} <= {LONGEST}"]
        if tests and value.type.bits >= 32:
            self.demand(None, " && ".join(tests), f"`foreach` counts from {INT32[0] + 1} to {LONGEST}")
        known = {"equals": value.equals, "least": value.least, "most": value.most}
        return Value(f"(int){text}", INT, value.uniform, max(value.low, INT32[0]), LONGEST, **known)

    def enter_foreach(self, node: ast.stmt) -> None:
        """Begin the body of a loop over elements that a statement is."""
        self.regions.append(Region(id(node), False, set()))
        self.loops.append("foreach")
        self.indent += 1

    def leave_foreach(self) -> None:
        """End it."""
        self.indent -= 1
        self.loops.pop()
        self.regions.pop()

    def reduce(self, node: Any, name: str, op: ast.operator, operand: ast.expr) -> None:
        """Translate `s += …` in a `foreach` to a sum of each lane, which are added behind it."""
        if not isinstance(op, (ast.Add, ast.Sub)):
            self.fail(
                node,
                f"`{name}` belongs to the code around `foreach`, and only sums, minima and maxima are combined",
                "neither `+=` nor `-=`",
            )
        value = self._as_number(operand, self.expression(operand))
        old = self.types.get((self.region_of(name).key, name))
        if value.type == BOOL and old == BOOL:
            help = f"begin with a number, `{name} = 0`; or ask `if …: {name} = …` of elements that are stored"
            self.fail(node, f"bools cannot be added up in `{name}`, which is a bool itself", "a bool", help)
        if value.type == BOOL:
            # They are counted.
            value = self.cast(value, INT if value.is_python or old is None else promote(old, BOOL), node)
        sign = "-" if isinstance(op, ast.Sub) else "+"
        self._combine(node, name, "+", value, lambda partial, text: f"{partial} = {partial} {sign} {text};")

    def is_extreme(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `s = min(s, …)` of a variable from around the `foreach`; return whether it is one."""
        if not (isinstance(target, ast.Name) and isinstance(value, ast.Call) and len(value.args) == 2):
            return False
        name, region = target.id, self.region_of(target.id)
        if region is self.regions[-1] or name not in region.names:
            return False
        how = self.extreme(value)
        first, second = value.args
        if how is None or value.keywords:
            return False
        if isinstance(second, ast.Name) and second.id == name:
            first, second = second, first
        if not (isinstance(first, ast.Name) and first.id == name):
            return False
        operand = self.expression(second)
        if not isinstance(operand.type, Num) or operand.type == BOOL or operand.type.kind == "c":
            help = "convert it: `int(…)`" if operand.type == BOOL else None
            self.fail(
                value, f"{named(operand.type)} has no order", "not a number that is more or less than others", help
            )
        self._combine(value, name, how, operand, lambda partial, text: f"{partial} = {how}({partial}, {text});")
        return True

    def _combine(self, node: Any, name: str, how: str, value: Value, write: Any) -> None:
        if _nones.is_optional(self, name):
            help = f"begin with a number: `{name} = 0`, `{name} = np.inf`"
            self.fail(node, f"`{name}` is None in one place, and combined in a `foreach` here", "no number", help)
        outer = self.region_of(name)
        if outer.key != "" or name not in outer.variables or self.assigned is None or name not in self.assigned:
            self.fail(node, f"`{name}` has no value before the `foreach`", "there is nothing to begin with")
        ty = self._grow((outer.key, name), value.type, node)
        region = self.regions[-1]
        reduction = region.reductions.setdefault(name, Reduction(self.temporary(name), how))
        if reduction.how != how:
            self.fail(
                node,
                f"`{name}` is combined in two ways in one `foreach`",
                f"by `{how}` here, by `{reduction.how}` before",
            )
        self.emit(write(reduction.partial, self.cast(value, ty, node).text))

    def _join(self, region: Region, at: int) -> None:
        """Declare the sums of a `foreach` in front of it, and add up lanes behind it."""
        for name, reduction in region.reductions.items():
            variable = self.regions[0].variables[name]
            ty, partial, total = variable.type, reduction.partial, variable.text
            start = literal(0, ty) if reduction.how == "+" else total
            self.lines.insert(at, ("    " * self.indent + f"varying {ty.spmd} {partial} = {start};", self.at))
            if reduction.how == "+":
                self.emit(f"{total} = {total} + {self.sum_of_lanes(partial, ty)};")
            else:
                self.emit(f"{total} = ({ty.spmd})reduce_{reduction.how}({partial});")


def looks_like_foreach(node: ast.For) -> bool:
    """Return whether a loop is over a call of `foreach`, under whatever name."""
    call = node.iter
    if not isinstance(call, ast.Call):
        return False
    if isinstance(call.func, ast.Attribute):
        return call.func.attr == "foreach"
    return getattr(call.func, "id", "") not in ("range", "enumerate", "zip", "ndindex", "ndenumerate")


def assigned_in(statements: list[ast.stmt], is_apart: Callable[[ast.For], bool] | None = None) -> set[str]:
    """Give the names that statements assign, but for those of loops that are apart, as those over `foreach` are."""
    names: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
            return
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return
        if isinstance(node, ast.For) and is_apart is not None and is_apart(node):
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        for child in children(node):
            visit(child)

    for statement in statements:
        visit(statement)
    return names
