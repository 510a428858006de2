"""Tuples as values: classes of `NamedTuple`, the parts that have names, and what operators make of two."""

from __future__ import annotations

import ast
import copy
import inspect
from typing import Any

from . import _instead
from ._scopes import Local
from ._types import BOOL, Num
from ._values import Form, Value, constants, of_tuple, tuple_of
from ._wrappers import inner_of

# No tuple is repeated to more values.
_MOST_PARTS = 256


class Tuples:
    """Translates tuples; `Body` has what it needs to know."""

    def made_tuple(self, node: ast.Call, of: type) -> Value:
        """Translate `tuple(t)`, or a call of a class that is a `NamedTuple`."""
        if of is tuple:
            value = self._tuple_in(node.args[0]) if len(node.args) == 1 and not node.keywords else tuple_of(())
            value = self.expression(node.args[0]) if value is None else value
            if (node.args or node.keywords) and value.parts is None:
                help = "write its parts: `(a[0], a[1])`"
                self.fail(node, "`tuple` takes a tuple in a kernel", "how many values are these?", help)
            return tuple_of(value.parts)
        names: tuple[str, ...] = of._fields
        given = dict(zip(names, node.args))
        given.update(self._keywords(node, names, given))
        if len(node.args) > len(names):
            self.fail(node, f"`{of.__name__}` has {len(names)} fields, {', '.join(names)}", f"{len(node.args)} here")
        defaults = of._field_defaults
        parts = []
        for name in names:
            value = self.argument(given[name]) if name in given else constants(defaults.get(name))
            if value is None:
                what = f"the default of `{name}` is no number" if name in defaults else f"`{name}` is missing"
                self.fail(node, f"`{of.__name__}` has {len(names)} fields, {', '.join(names)}", what)
            parts.append(value)
        return tuple_of(parts, of)

    def _keywords(self, node: ast.Call, names: tuple[str, ...], given: Any) -> dict[str, ast.expr]:
        """Give what the fields of a tuple are given by their names."""
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in given:
                what = "no field" if keyword.arg not in names else "got two values for"
                help = _instead.meant(keyword.arg or "", names) or f"they are {', '.join(names)}"
                self.fail(keyword.value, f"`{ast.unparse(node.func)}` has {what} `{keyword.arg}`", "here", help)
        return {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}

    def replaced(self, node: ast.Call) -> Value | None:
        """Translate `p._replace(x=…)`; None if it is another call."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "_replace":
            return None
        value = self._tuple_of(node.func.value)
        if value is None or value.of is None:
            return None
        names = value.of._fields
        new = {name: self.argument(each) for name, each in self._keywords(node, names, ()).items()}
        return tuple_of((new.get(name, part) for name, part in zip(names, value.parts)), value.of)

    def named_tuple(self, node: ast.expr) -> Value | None:
        """Give the tuple that a name, or a part of such a one, stands for; None if it is something else."""
        if isinstance(node, ast.Name):
            region = self.region_of(node.id)
            return self.read_name(node) if node.id in region.tuples and node.id in region.names else None
        name = self._name_in_tuple(node)
        return None if name is None else self.named_tuple(ast.copy_location(ast.Name(name, ast.Load()), node))

    def named_part(self, node: ast.Attribute) -> Value | None:
        """Translate `p.x`, of a tuple whose parts have names; None if it is something else."""
        owner = node.value
        if isinstance(owner, ast.Subscript) and self.list_of(owner.value) is not None:
            value = self._tuple_of(owner)
        elif isinstance(owner, (ast.Name, ast.Attribute)) or _place_of(owner) is not None:
            value = self.named_tuple(owner)
        elif isinstance(owner, ast.Subscript):
            value = self._tuple_of(owner)
        elif isinstance(owner, ast.Call) and self._gives_named(owner):
            value = self.expression(owner)
        else:
            return None
        if value is None or value.of is None:
            return None
        names = value.of._fields
        if node.attr not in names:
            help = _instead.meant(node.attr, names) or f"it has the fields {', '.join(names)}"
            self.fail(node, f"`{ast.unparse(owner)}` has no `{node.attr}`", "no field", help)
        return value.parts[names.index(node.attr)]

    def _gives_named(self, node: ast.Call) -> bool:
        """Return whether a call may give a tuple whose parts have names: it is of a function of Python, or a class."""
        function = None if self.is_method(node) else self.called(node)
        return is_named_tuple(function) or isinstance(function, Local) or inspect.isfunction(inner_of(function))

    def _name_in_tuple(self, node: ast.expr) -> str | None:
        """Give the name of the variable that is a part of a tuple, `p[0]` and `p.x`; None if it is something else."""
        at = _place_of(node)
        if at is None or not isinstance(node, (ast.Subscript, ast.Attribute)):
            return None
        owner = node.value.id if isinstance(node.value, ast.Name) else self._name_in_tuple(node.value)
        form: Form | None = None if owner is None else self.region_of(owner).tuples.get(owner)
        if form is None:
            return None
        if isinstance(at, str):
            names = getattr(form.of, "_fields", ())
            at = names.index(at) if at in names else len(form.parts)
        at += len(form.parts) if at < 0 else 0
        return of_tuple(owner, at) if 0 <= at < len(form.parts) else None

    def _names_of(self, node: ast.expr) -> list[ast.expr]:
        """Give the names of the variables that are the parts of a tuple with a name."""
        name = node.id if isinstance(node, ast.Name) else self._name_in_tuple(node)
        form = None if name is None else self.region_of(name).tuples.get(name)
        return [
            ast.copy_location(ast.Name(of_tuple(name, k), ast.Load()), node)
            for k in range(len(form.parts) if form else 0)
        ]

    # Operators.

    def joined_tuples(self, node: ast.BinOp) -> Value | None:
        """Translate `p + q` and `2 * p` of tuples; None if it is something else."""
        if not isinstance(node.op, (ast.Add, ast.Mult)):
            return None
        left, right = self._tuple_at(node.left), self._tuple_at(node.right)
        if isinstance(node.op, ast.Add):
            return None if left is None or right is None else tuple_of((*left.parts, *right.parts))
        if (left is None) == (right is None):
            return None
        value, times = (left, node.right) if left is not None else (right, node.left)
        count = self.integer(times, "how often a tuple is repeated").const
        if count is None or count * len(value.parts) > _MOST_PARTS:
            what = "this is known at run time only" if count is None else f"more than {_MOST_PARTS} values"
            help = f"make an array: `np.full(n, {ast.unparse(node.left)}[0])`" if count is None else "make an array"
            self.fail(times, "tuples have a constant number of values", what, help)
        return tuple_of(value.parts * int(count))

    def _tuple_at(self, node: ast.expr) -> Value | None:
        """Give an operand that is a tuple; None if it is something else, or what a function gives."""
        if id(node) in self.elements:
            return None
        if isinstance(node, ast.BinOp):
            return self.joined_tuples(node)
        is_part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and self._is_tuple(node.value)
        is_shape = isinstance(node, ast.Attribute) and self._is_tuple(node)
        is_shape = is_shape and (self.array_of(node.value) is not None or self._is_shape_of_one(node))
        return self.expression(node) if isinstance(node, ast.Tuple) or is_part or is_shape else self.named_tuple(node)

    def _is_shape_of_one(self, node: ast.Attribute) -> bool:
        """Return whether it is the shape of a number of numpy's, which is empty."""
        value = self.read_name(node.value) if isinstance(node.value, ast.Name) and node.attr == "shape" else None
        return value is not None and value.parts is None and isinstance(value.type, Num) and not value.type.weak

    def ordered_tuples(self, node: Any, op: str, a: Value, b: Value) -> str:
        """Write which of two tuples comes first: the first values that differ tell, or else how many there are."""
        if a.parts is None or b.parts is None:
            self.fail(node, "a tuple and a number have no order", "here", "compare an element: `p[0] < x`")
        if not self.in_arm:
            a, b = self.keep(a), self.keep(b)
        counts = len(a.parts), len(b.parts)
        holds = {"<": counts[0] < counts[1], "<=": counts[0] <= counts[1], ">": counts[0] > counts[1]}
        text = "true" if holds.get(op, counts[0] >= counts[1]) else "false"
        for x, y in reversed(list(zip(a.parts, b.parts))):
            text = f"(({self.comparison(node, '==', x, y)}) ? {text} : ({self.comparison(node, op, x, y)}))"
        return text

    def extreme_tuple(self, node: Any, op: str, given: list[Value]) -> Value:
        """Give the first or the last of some tuples, as `min` and `max` of Python do."""
        best, *others = given
        for other in others:
            test = Value(self.comparison(node, op, other, best), BOOL, other.uniform and best.uniform)
            best = self._either(node, test, other, best)
        return best

    # Arrays in tuples, and tuples of indices.

    def with_names(self, statement: ast.stmt) -> ast.stmt:
        """Give a statement with the names of variables in the place of arrays that are parts of tuples.

        So all that is done with a name is done with them. Likewise a tuple that is an index becomes the names of its
        parts: `a[p]` is `a[p[0], p[1]]`.
        """
        return _with_names(self, statement) if any(region.tuples for region in self.regions) else statement

    def with_array(self, call: ast.Call, how: str) -> tuple[ast.Call, str, ast.expr]:
        """Give a call of a function of numpy, with arrays for tuples, how it is called, and its argument."""
        call = self.with_arrays(call)
        (source, *others) = call.args
        if isinstance(source, (ast.List, ast.Tuple)) and source.elts and not any(map(self._is_several, source.elts)):
            # Numbers that are written one by one.
            source = self._standing_for(source)
            call = ast.copy_location(ast.Call(call.func, [source, *others], call.keywords), call)
        return call, how, source

    def _is_several(self, node: ast.expr) -> bool:
        """Return whether something that is listed is no number."""
        is_written = isinstance(node, (ast.Starred, ast.List, ast.Tuple))
        return is_written or self.array_of(node) is not None or self.makes_elements(node)

    def with_arrays(self, call: ast.Call) -> ast.Call:
        """Give a call with arrays for tuples that have a name, as numpy takes them."""
        args = [self.as_listed(arg) for arg in call.args]
        same = all(arg is own for arg, own in zip(args, call.args))
        return call if same else ast.copy_location(ast.Call(call.func, args, call.keywords), call)

    def as_listed(self, node: ast.expr) -> ast.expr:
        """Give the array of what is in a tuple that has a name; anything else as it is."""
        if isinstance(node, (ast.Tuple, ast.List)) or self._tuple_at(node) is None:
            return node
        return self._standing_for(node)

    def _standing_for(self, node: ast.expr) -> ast.expr:
        """Give an expression that stands for the array of what is in a tuple."""
        listed = ast.copy_location(ast.Attribute(ast.Name("<array>", ast.Load()), "T", ast.Load()), node)
        self.parts_of[id(listed)] = listed, self.listed_array(node)
        return listed

    def listed_array(self, node: ast.expr) -> Value:
        """Give the array of what is in a tuple, the same for the same node."""
        if id(node) not in self.parts_of:
            self.parts_of[id(node)] = node, self._unnamed(node, self.listed_as(node, None))
        return self.parts_of[id(node)][1]

    def is_beside_array(self, node: ast.AST, child: ast.AST) -> bool:
        """Return whether an operand is a tuple beside an array, which is an array too to numpy."""
        if not isinstance(node, ast.BinOp) or not isinstance(child, (ast.Name, ast.Attribute)):
            return False
        other = node.right if child is node.left else node.left
        return self.named_tuple(child) is not None and self.makes_elements(other)


def is_named_tuple(found: Any) -> bool:
    """Return whether something is a class that `NamedTuple` makes, without methods of its own to make one."""
    return (
        isinstance(found, type) and issubclass(found, tuple) and hasattr(found, "_fields") and found.__base__ is tuple
    )


def _place_of(node: ast.expr) -> int | str | None:
    """Give the constant index, or the name, with which a part is taken; None if there is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    index = node.slice if isinstance(node, ast.Subscript) else None
    is_negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    of = index.operand if is_negative else index
    if not isinstance(of, ast.Constant) or type(of.value) is not int:
        return None
    return -of.value if is_negative else of.value


def _with_names(body: Any, node: Any) -> Any:
    """Copy a syntax tree with the names of variables for arrays in tuples; functions in it stay as they are."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return node
    if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Load):
        name = body._name_in_tuple(node)
        if name is not None and body._names_array(name):
            return ast.copy_location(ast.Name(name, ast.Load()), node)
    new = copy.copy(node)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Name, ast.Subscript, ast.Attribute)):
        names = body._names_of(node.slice)
        new.slice = ast.copy_location(ast.Tuple(names, ast.Load()), node.slice) if names else node.slice
        node = new
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(new, field, [_with_names(body, each) if isinstance(each, ast.AST) else each for each in value])
        elif isinstance(value, ast.AST):
            setattr(new, field, _with_names(body, value))
    return new
