"""The least and the greatest of what is gone over: `min(… for … in …)`, `max(xs, key=f)`, `min(d, key=d.get)`.

They are values as they come: numbers, or tuples in Python's order. The first of those that are equal is taken.
"""

from __future__ import annotations

import ast
from typing import Any

from ._comprehensions import Comprehensions
from ._types import BOOL, Num
from ._values import Value, constant, formed


class Extremes(Comprehensions):
    """Translates them; `Body` has what they need to know."""

    def extreme_by(self, node: ast.Call, how: str) -> Value | None:
        """Translate `min` and `max` with `key=` or `default=`; None of another call."""
        if not node.keywords or not node.args:
            return None
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        key, default = given.pop("key", None), given.pop("default", None)
        if given:
            self.fail(next(iter(given.values())), f"`{how}` takes `key=` and `default=`", "this is something else")
        source = node.args[0]
        if len(node.args) > 1:
            if default is not None:
                self.fail(default, f"`{how}` of several values has no `default=`", "here")
            source = ast.copy_location(ast.Tuple(list(node.args), ast.Load()), node)
        is_listed = isinstance(source, (ast.ListComp, ast.GeneratorExp))
        listed = source if is_listed else self.all_of(node, source)
        if key is not None and self._found_at(key) is None:
            key = None
        return self.extreme_of(node, how, listed, key, default)

    def extreme_of(
        self,
        node: ast.Call,
        how: str,
        listed: ast.ListComp | ast.GeneratorExp,
        key: ast.expr | None = None,
        default: ast.expr | None = None,
    ) -> Value:
        """Give the least or the greatest of what a comprehension has, or of what a key has of that."""
        if self.in_arm:
            self.fail(node, f"`{how}` of a comprehension in what may not be computed", "here", "give it a name before")
        other = None if default is None else self.keep(self.expression(default))
        at, line, start = len(self.lines), self.at, self.indent
        loops = [(loop, *self._gone_over(loop)) for loop in listed.generators]
        bound = dict(self.regions[-1].indices)
        begun, uniform = self.temporary("begun"), self.is_uniform_here()
        self._begin_level(loops)
        value = self._comparable(listed.elt, self.expression(listed.elt))
        kept, best = self._sofar(node, how, value)
        rank, first = kept, best
        if key is not None:
            ranked = self._comparable(key, self.ranked(key, kept))
            rank, first = self._sofar(node, "rank", ranked)
        test = self.comparison(node, "<" if how == "min" else ">", rank, first)
        self.emit(f"if (!{begun} || ({test})) {{")
        pairs = list(zip(best.leaves, kept.leaves))
        pairs += zip(first.leaves, rank.leaves) if key is not None else ()
        for variable, leaf in pairs:
            self.emit(f"    {variable.text} = {leaf.text};")
        self.emit("}")
        self.emit(f"{begun} = true;")
        self._end_loops(start, bound)
        shape = "uniform " if uniform else ""
        zeros = [self.cast(_zero(variable.type), variable.type, node).text for variable, _ in pairs]
        head = [f"{shape}{own.type.spmd} {own.text} = {zero};" for (own, _), zero in zip(pairs, zeros)]
        head.append(f"{shape}bool {begun} = false;")
        self.lines[at:at] = [("    " * start + text, line) for text in head]
        if other is not None:
            return self.keep(self._either(node, Value(begun, BOOL, uniform), best, other))
        self.raise_unless(node, begun, ValueError, f"{how}() iterable argument is empty")
        return self.keep(best)

    def ranked(self, key: ast.expr, value: Value) -> Value:
        """Give what a function has of a value by which it is compared."""
        name, each = "<ranked>", None
        if isinstance(key, ast.Lambda):
            takes = key.args.args
            if len(takes) != 1 or key.args.defaults or key.args.vararg or key.args.kwonlyargs or key.args.posonlyargs:
                self.fail(key, "what gives the keys takes one value", "here")
            name, each = takes[0].arg, key.body
        indices = self.regions[-1].indices
        before = dict(indices)
        indices[name] = value
        if each is None:
            each = self.called_for(key, ast.copy_location(ast.Name(name, ast.Load()), key))
        found = self.keep(self.expression(each))
        self.regions[-1].indices = before
        return found

    def called_for(self, key: ast.expr, value: ast.expr) -> ast.Call:
        """Give the call of a function for a value by which it is compared."""
        call: Any = ast.copy_location(ast.Call(key, [value], []), key)
        # (`d.get` finds it.)
        call.is_compared = True
        return call  # type: ignore[no-any-return]

    def _comparable(self, node: ast.expr, value: Value) -> Value:
        """Fail unless a value is a number, or a tuple of some."""
        if value.parts is None:
            return self._as_number(node, value)
        if not all(isinstance(leaf.type, Num) for leaf in value.leaves):
            self.fail(node, "tuples that are compared are of numbers in a kernel", "these have other parts")
        return value

    def _sofar(self, node: ast.Call, what: str, value: Value) -> tuple[Value, Value]:
        """Give a value with the types of the variables that keep the best one, and these."""
        given, variables, uniform = [], [], self.is_uniform_here()
        for leaf in value.leaves:
            name = self.temporary(what)
            ty = self._grow((self.regions[-1].key, name), leaf.type, node)
            given.append(self.keep(self.cast(leaf, ty, node)))
            variables.append(Value(name, ty, uniform, is_python=leaf.is_python))
        return formed(value.form, iter(given)), formed(value.form, iter(variables))


def _zero(ty: Num) -> Value:
    return constant(False if ty == BOOL else 0)
