"""Which expressions are dicts and sets, and what makes them: `{}`, `set(a)`, `{k: v for …}`, `s | t`, `Counter(a)`.

Those that have no name are known by where they stand, as lists are; a name takes the memory of one.
"""

from __future__ import annotations

import ast
import builtins
import collections
from typing import Any

from . import _functions
from ._dict_tables import DictTables, counts_of, index_of, items_of
from ._trees import walk
from ._types import INT, NUMBERS
from ._usage import named_by, pairs_of
from ._values import LONGEST, Dict, Value, constant

VIEWS = ("keys", "values", "items")
_COPYING = ("copy", "union", "intersection", "difference", "symmetric_difference")
SET_OPERATORS = {ast.BitOr: "|", ast.BitAnd: "&", ast.Sub: "-", ast.BitXor: "^"}
_OF_METHODS = {"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"}
# Functions of Python that only read what they are given.
_READING = (
    "len", "sorted", "list", "tuple", "set", "dict", "sum", "min", "max", "any", "all", "enumerate", "zip", "reversed",
)  # fmt: skip
_NOWHERE = "make it before, once for all; `foreach` reads it: `d[k]`, `k in d`, `d.get(k, 0)`"


class DictValues(DictTables):
    """Translates what makes dicts and sets; `Body` has what it needs to know."""

    # Which expressions are dicts.

    def dict_named(self, node: ast.expr) -> str | None:
        """Give the name of the dict or set that an expression is; None if it is something else."""
        if (
            not isinstance(node, ast.Name)
            or node.id not in self.dicts
            or any(node.id in r.indices for r in self.regions)
        ):
            return None
        if self.assigned is not None and node.id not in self.assigned:
            help = f"assign `{node.id}` before"
            message = f"`{node.id}` may have no value here"
            self.fail(node, message, "it is assigned in a part that may not have been executed", help)
        return node.id

    def kind_of_dict(self, node: ast.expr) -> Dict | None:
        """Give what kind of a dict an expression is, or makes; None if it is something else."""
        if isinstance(node, ast.Name):
            return self.dicts.get(node.id)
        if isinstance(node, (ast.Dict, ast.DictComp, ast.Set, ast.SetComp)):
            return Dict(isinstance(node, (ast.Set, ast.SetComp)))
        if isinstance(node, ast.BinOp):
            kinds = [self.kind_of_dict(node.left), self.kind_of_dict(node.right)]
            return kinds[0] if None not in kinds and type(node.op) in SET_OPERATORS else None
        if not isinstance(node, ast.Call):
            return None
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _COPYING:
            return self.kind_of_dict(func.value)
        try:
            found = None if self.is_local(func) else named_by(func, self.lookup)
        except KeyError:
            return None
        if found is collections.Counter:
            return Dict(False, int, True)
        if found is collections.defaultdict:
            return Dict(False, self._factory(node))
        return Dict(found is builtins.set) if found is builtins.dict or found is builtins.set else None

    def is_local(self, func: ast.expr) -> bool:
        """Return whether a function is one within the kernel."""
        return isinstance(func, ast.Name) and func.id in self.local_functions

    def _factory(self, node: ast.Call) -> Any:
        """Give what makes the values of a `defaultdict`: a type of numbers."""
        factory = self.resolve(node.args[0]) if node.args else None
        if _functions.type_of(factory) is None:
            help = "write `defaultdict(int)`, `defaultdict(float)` or another type of numbers"
            self.fail(node, "a `defaultdict` of a kernel has numbers that are not there yet", "of which type?", help)
        return factory

    def viewed(self, node: ast.expr) -> tuple[str, str] | None:
        """Give the dict that a loop over an expression goes over, and which part of it; None of anything else."""
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr in VIEWS and self.kind_of_dict(func.value) is not None:
            if node.args or node.keywords:
                self.fail(node, f"`{func.attr}` takes nothing", "here")
            name = self.dict_of(func.value)
            if self.dicts[name].is_set:
                self.refuse_dict_method(node, name, func.attr)
            return name, func.attr
        return None if self.kind_of_dict(node) is None else (self.dict_of(node), "keys")

    def is_view(self, node: ast.expr) -> bool:
        """Return whether an expression is a dict, or its keys, values or items."""
        func = node.func if isinstance(node, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr in VIEWS:
            return self.kind_of_dict(func.value) is not None
        return self.kind_of_dict(node) is not None

    def is_of_dict(self, node: ast.AST) -> bool:
        """Return whether a number takes statements, as it is looked for in a dict."""
        if isinstance(node, ast.Subscript):
            return self.kind_of_dict(node.value) is not None
        if isinstance(node, ast.Compare):
            return self.is_of_two_dicts(node)
        func = node.func if isinstance(node, ast.Call) else None
        return isinstance(func, ast.Attribute) and self.kind_of_dict(func.value) is not None

    # What begins them.

    def starts_dict(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `d = {}`, `s = {x, y}`, `d = dict(zip(a, b))` and their like; return whether it is one."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return self._start_dicts(target, value)
        if not isinstance(target, ast.Name):
            return False
        kind = self.kind_of_dict(value)
        if kind is None:
            return False
        if isinstance(value, ast.Name):
            help = f"copy it: `{target.id} = {value.id}.copy()`"
            self.fail(value, "a dict or set has one name in a kernel", "this is another one", help)
        self._need_dict_order(value)
        if is_empty(value):
            self.begin_dict(target, target.id, kind)
        else:
            self.take_dict(target, target.id, self.dict_of(value))
        return True

    def _start_dicts(self, target: ast.Tuple, value: ast.Tuple) -> bool:
        """Translate `d, n = {}, 0`; return whether there is a dict."""
        kinds = [self.kind_of_dict(each) for each in value.elts]
        if not any(kind is not None for kind in kinds):
            return False
        for at, of, kind in zip(target.elts, value.elts, kinds):
            if kind is not None and (not isinstance(at, ast.Name) or isinstance(of, ast.Name)):
                self.fail(of, "a dict or set has one name in a kernel", "here", "copy it: `e = d.copy()`")
            if kind is not None:
                self.dict_of(of)
        others = [(at, of) for at, of, kind in zip(target.elts, value.elts, kinds) if kind is None]
        if others:
            names, values = (ast.copy_location(ast.Tuple(list(each), ast.Load()), target) for each in zip(*others))
            self.do_Assign(ast.copy_location(ast.Assign([names], values), target))
        for at, of, kind in zip(target.elts, value.elts, kinds):
            if kind is not None:
                self.take_dict(at, at.id, self.dict_of(of))
        return True

    def _need_dict_order(self, node: ast.expr) -> None:
        if self.in_foreach() or not self.uniform:
            where = "in a `foreach`" if self.in_foreach() else "where each element runs by itself"
            self.fail(node, f"a dict or set cannot be made {where}", "each element would have its own", _NOWHERE)
        if self.in_arm:
            self.fail(node, "a dict or set is made in what may not be computed", "here", "give it a name before")

    def begin_dict(self, node: Any, name: str, kind: Dict) -> None:
        """Have a name stand for a dict of nothing."""
        region = self.regions[0]
        is_other = name in region.variables or name in region.tuples or self._is_param(name) or self.is_list(name)
        if is_other or name in region.parts or self.dicts.get(name, kind) != kind:
            what = f"a {self.dicts.get(name, kind).named}"
            self.fail(node, f"`{name}` is {what} here and something else in another place", "here", "use another name")
        if name in self.given:
            help = f"give it another name; or empty it, `{name}.clear()`"
            self.fail(node, f"`{name}` is passed, and another dict here", "who passes it keeps the old one", help)
        self.refuse_passed(node, name)
        self.dicts[name] = kind
        items, index = items_of(name), index_of(name)
        self.begin_list(items)
        self.types["list", index] = NUMBERS["int32"]
        self.begin_list(index)
        self._with_type(index, NUMBERS["int32"], index)
        for count in counts_of(name):
            self.emit(f"{count} = 0;")
        if items not in self.list_forms and not self._may_be_filled(name):
            # Whatever is asked of it, it has nothing.
            self._have_items(node, name, None, None)
            for own in self.lists_of(items):
                self.list_type(node, own, INT)
        if self.assigned is not None:
            self.assigned.add(name)

    def _may_be_filled(self, name: str) -> bool:
        """Return whether the text has anything that may add keys to a dict."""

        def adds(node: ast.AST) -> bool:
            if isinstance(node, ast.Subscript):
                return _is_name(node.value, name)
            if isinstance(node, ast.AugAssign):
                return _is_name(node.target, name)
            if isinstance(node, ast.Name):
                return node.id == name and isinstance(node.ctx, ast.Store) and id(node) not in begun
            if not isinstance(node, ast.Call):
                return False
            is_method = isinstance(node.func, ast.Attribute) and node.func.attr in ("add", "update", "setdefault")
            if isinstance(node.func, ast.Name) and node.func.id in _READING:
                return False
            return (is_method and _is_name(node.func.value, name)) or any(_is_name(each, name) for each in node.args)

        assigned = (node for node in walk(self.source.tree) if isinstance(node, ast.Assign))
        pairs = (pair for node in assigned for pair in pairs_of(node.targets[0], node.value))
        begun = {id(target) for target, value in pairs if is_empty(value)}
        has_inner = any(isinstance(at, ast.FunctionDef) for at in self.source.tree.body)
        return has_inner or name.startswith("dict__") or any(map(adds, walk(self.source.tree)))

    def new_dict(self, node: Any, kind: Dict) -> str:
        """Begin a dict without a name; it is known by where it stands, in all passes."""
        at = ("dict", node.lineno, node.col_offset, node.end_col_offset)
        self.n_unnamed[at] = self.n_unnamed.get(at, 0) + 1
        name = "__".join(["dict", *map(str, at[1:]), str(self.n_unnamed[at])])
        self.begin_dict(node, name, kind)
        return name

    def dict_of(self, node: ast.expr) -> str:
        """Give the name of a dict that an expression is, or makes: the same for the same node."""
        name = self.dict_named(node)
        if name is not None:
            return name
        if id(node) not in self.dicts_made:
            self._need_dict_order(node)
            self.dicts_made[id(node)] = node, self._made_dict(node, self.kind_of_dict(node))
        return self.dicts_made[id(node)][1]

    def _made_dict(self, node: Any, kind: Dict) -> str:
        """Make the dict of an expression that makes one."""
        if isinstance(node, ast.BinOp):
            return self._joined_dicts(node, kind, SET_OPERATORS[type(node.op)], node.left, [node.right])
        func = getattr(node, "func", None)
        if isinstance(func, ast.Attribute) and func.attr in _OF_METHODS and self.kind_of_dict(func.value) is not None:
            return self._joined_dicts(node, kind, _OF_METHODS[func.attr], func.value, node.args)
        name = self.new_dict(node, kind)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if key is None:
                    self._put_all(value, name, value)
                    continue
                given = self.keep(self._element(key))
                self.put(node, name, given, self.keep(self._element(value)))
        elif isinstance(node, ast.Set):
            for each in [self.keep(self._element(each)) for each in node.elts]:
                self.put(node, name, each)
        elif isinstance(node, (ast.DictComp, ast.SetComp)):
            self._put_comprehended(node, name)
        elif isinstance(func, ast.Attribute) and func.attr == "copy":
            self._put_all(node, name, func.value)
        else:
            args = node.args[1:] if kind.adds else node.args
            if len(args) > 1 or node.keywords:
                help = "write `{k: v for k, v in …}`; or begin with none, and add them"
                self.fail(node, f"`{kind.named}` takes one thing that it goes over", "here", help)
            for each in args:
                self._put_all(node, name, each)
        return name

    def _put_comprehended(self, node: ast.DictComp | ast.SetComp, name: str) -> None:
        loops = [(loop, *self._gone_over(loop)) for loop in node.generators]
        start, bound = self.indent, dict(self.regions[-1].indices)
        self._begin_level(loops)
        key = self.keep(self._element(node.key if isinstance(node, ast.DictComp) else node.elt))
        value = self.keep(self._element(node.value)) if isinstance(node, ast.DictComp) else None
        self.put(node, name, key, value)
        self._end_loops(start, bound)

    def _put_all(self, node: Any, name: str, source: ast.expr) -> None:
        """Add all that an expression has: to a set values, to a dict items; of a `Counter` how often there is each."""
        kind = self.dicts[name]
        of = self.kind_of_dict(source)
        if of is not None and not of.is_set and not kind.is_set:
            source = ast.copy_location(ast.Call(ast.Attribute(source, "items", ast.Load()), [], []), source)
        elif kind.is_counter:
            return self.each_of(self.all_of(node, source), lambda at, value: self._count_one(at, name, value))
        if kind.is_set:
            return self.each_of(self.all_of(node, source), lambda at, value: self.put(at, name, self.keep(value)))

        def put(at: Any, value: Value) -> None:
            if value.parts is None or len(value.parts) != 2:
                self.fail(source, f"a `{kind.named}` is made of pairs, a key and a value", "these are none")
            key, value = self.keep(value.parts[0]), self.keep(value.parts[1])
            if kind.is_counter:
                self._add_to(at, name, key, value)
            else:
                self.put(at, name, key, value)

        return self.each_of(self.all_of(node, source), put)

    def _count_one(self, node: Any, name: str, value: Value) -> None:
        self._add_to(node, name, self.keep(value), constant(1))

    def _add_to(self, node: Any, name: str, key: Value, value: Value) -> None:
        """Add a number to that of a key of a `Counter`."""
        place, old = self._place_with(node, name, key)
        self._store_at(node, name, place, self.operate(node, "+", old, value))

    def _joined_dicts(self, node: Any, kind: Dict, how: str, left: ast.expr, others: list[ast.expr]) -> str:
        """Make a set of two, with the order of the first; or a dict, `d | e`."""
        if kind.missing is not None:
            self.fail(node, f"a `{kind.named}` is not joined in a kernel", "here", "copy it, and add: `c.update(d)`")
        if not kind.is_set and how != "|":
            self.fail(node, f"dicts have no `{how}`", "here", "take the keys: `set(d) & set(e)`")
        name = self.new_dict(node, kind)
        right = [self.dict_of(self._as_set(each)) if kind.is_set else self.dict_of(each) for each in others]
        of = self.dict_of(left)
        if how in "&-":
            found = lambda key: [self._contains(node, other, key) for other in right]  # noqa: E731
            self._put_some(node, name, of, lambda key: found(key) if how == "&" else _none_of(found(key)))
            return name
        one_of = (lambda other, key: _none_of([self._contains(node, other, key)])) if how == "^" else None
        if len(right) > 1 and how == "^":
            self.fail(node, "`symmetric_difference` takes one set", "several here")
        self._put_some(node, name, of, one_of and (lambda key: one_of(right[0], key)))
        for other in right:
            self._put_some(node, name, other, one_of and (lambda key: one_of(of, key)))
        return name

    def _as_set(self, node: ast.expr) -> ast.expr:
        """Give an expression as a set: of anything else that one of what it goes over."""
        kind = self.kind_of_dict(node)
        if kind is not None and kind.is_set:
            return node
        key = ("set", id(node))
        if key not in self.dicts_made:
            listed = self.all_of(node, node)
            made = ast.copy_location(ast.SetComp(listed.elt, listed.generators), node)
            self.dicts_made[key] = node, made
        return self.dicts_made[key][1]

    def _put_some(self, node: Any, name: str, of: str, tests: Any) -> None:
        """Add those keys of a dict to another, with their values, of which all tests hold."""
        length, item = self._entries(node, of)
        counter = self.temporary("k")
        self.emit(self.loop_to(counter, length))
        self.indent += 1
        entry = item(Value(counter, INT, True, 0, LONGEST))
        key = self.keep(entry.parts[0])
        if tests:
            self.emit(f"if ({' && '.join(tests(key))}) {{")
            self.indent += 1
        self.put(node, name, key, *(self.keep(part) for part in entry.parts[1:]))
        if tests:
            self.indent -= 1
            self.emit("}")
        self.indent -= 1
        self.emit("}")

    def take_dict(self, node: Any, name: str, other: str) -> None:
        """Have a name stand for a dict that has none yet, whose memory it takes."""
        form = self.list_forms.get(items_of(other))
        self.begin_dict(node, name, self.dicts[other])
        if form is None:
            return
        self._have_items(node, name, form.parts[0], form.parts[-1])
        for own, given in zip(self.lists_of(items_of(name)), self.lists_of(items_of(other))):
            if own in self.key_lists(name) and ("list", given) in self.types:
                self._key_type(node, name, own, Value("", self.types["list", given], True))
            self._take(node, own, given)
        self._take(node, index_of(name), index_of(other))
        for count, given in zip(counts_of(name), counts_of(other)):
            self.emit(f"{count} = {given};")
            self.emit(f"{given} = 0;")


def _none_of(tests: list[str]) -> list[str]:
    return [f"!{test}" for test in tests]


def is_empty(node: ast.expr) -> bool:
    """Return whether an expression makes a dict or set of nothing."""
    if isinstance(node, ast.Call):
        is_default = isinstance(node.func, (ast.Name, ast.Attribute)) and "defaultdict" in ast.unparse(node.func)
        return len(node.args) == int(is_default) and not node.keywords and not _is_method_of(node)
    return isinstance(node, ast.Dict) and not node.keys


def _is_method_of(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in _COPYING


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
