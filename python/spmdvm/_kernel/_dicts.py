"""Dicts and sets, `d[k] = v`, `s.add(x)`: lists of keys and values, in the order of insertion, with an index by hashes.

A name stands for one dict, as for a list. What a dict has are tuples `(k, v)` in a list of tuples, of which its types
are known as those of lists are; a set has tuples `(k,)`. Whoever goes over it has the gaps closed before that keys
leave which have been taken out.
"""

from __future__ import annotations

import ast
import builtins
import collections
from typing import Any, NoReturn

import numpy as np

from . import _functions, _nones
from ._dict_tables import DictTables, gone_of, index_of, items_of, kind_of_key, sought_as
from ._program import Unknown
from ._types import BOOL, INT, NUMBERS, Num, named
from ._usage import named_by, pairs_of
from ._values import LONGEST, Dict, Entries, Form, Value, constant, formed, tuple_of
from ._variables import spmd_name

_VIEWS = ("keys", "values", "items")
_COPYING = ("copy", "union", "intersection", "difference", "symmetric_difference")
_SET_OPERATORS = {ast.BitOr: "|", ast.BitAnd: "&", ast.Sub: "-", ast.BitXor: "^"}
_OF_METHODS = {"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"}
_UPDATING = {"update": "|", "intersection_update": "&", "difference_update": "-", "symmetric_difference_update": "^"}
# Functions of Python that only read what they are given.
_READING = (
    "len", "sorted", "list", "tuple", "set", "dict", "sum", "min", "max", "any", "all", "enumerate", "zip", "reversed",
)  # fmt: skip
_NOWHERE = "make it before, once for all; `foreach` reads it: `d[k]`, `k in d`, `d.get(k, 0)`"


class Dicts(DictTables):
    """Translates dicts and sets; `Body` has what they need to know."""

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
            return kinds[0] if None not in kinds and type(node.op) in _SET_OPERATORS else None
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
        if isinstance(func, ast.Attribute) and func.attr in _VIEWS and self.kind_of_dict(func.value) is not None:
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
        if isinstance(func, ast.Attribute) and func.attr in _VIEWS:
            return self.kind_of_dict(func.value) is not None
        return self.kind_of_dict(node) is not None

    def is_of_dict(self, node: ast.AST) -> bool:
        """Return whether a number takes statements, as it is looked for in a dict."""
        if isinstance(node, ast.Subscript):
            return self.kind_of_dict(node.value) is not None
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
        if _is_empty(value):
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
        self.dicts[name] = kind
        items, index = items_of(name), index_of(name)
        self.begin_list(items)
        self.types["list", index] = NUMBERS["int32"]
        self.begin_list(index)
        self._with_type(index, NUMBERS["int32"], index)
        self.emit(f"{gone_of(name)} = 0;")
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

        assigned = (node for node in ast.walk(self.source.tree) if isinstance(node, ast.Assign))
        pairs = (pair for node in assigned for pair in pairs_of(node.targets[0], node.value))
        begun = {id(target) for target, value in pairs if _is_empty(value)}
        has_inner = any(isinstance(at, ast.FunctionDef) for at in self.source.tree.body)
        return has_inner or name.startswith("dict__") or any(map(adds, ast.walk(self.source.tree)))

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
            return self._joined_dicts(node, kind, _SET_OPERATORS[type(node.op)], node.left, [node.right])
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
        self._have_items(node, name, *_two(form))
        for own, given in zip(self.lists_of(items_of(name)), self.lists_of(items_of(other))):
            if own in self.key_lists(name) and ("list", given) in self.types:
                self._key_type(node, name, own, Value("", self.types["list", given], True))
            self._take(node, own, given)
        self._take(node, index_of(name), index_of(other))
        self.emit(f"{gone_of(name)} = {gone_of(other)};")
        self.emit(f"{gone_of(other)} = 0;")

    # Keys and values.

    def _have_items(self, node: Any, name: str, key: Form | None, value: Form | None) -> None:
        """Note of which form keys and values are; fail if others are of another one."""
        items, is_set = items_of(name), self.dicts[name].is_set
        form = Form((key,)) if is_set else Form((key, value))
        old = self.list_forms.get(items)
        if old is None:
            self.have_form(node, items, form)
            return
        for what, one, other in zip(("keys", "values"), old.parts, form.parts):
            if one != other:
                help = f"all {what} are numbers, or tuples of as many numbers; or keep a dict for each kind"
                message = f"`{self._shown_dict(name)}` has other {what} in another place"
                self.fail(node, message, "this is made of other parts", help)

    def _shown_dict(self, name: str) -> str:
        return f"the {self.dicts[name].named}" if name.startswith("dict__") else name

    def _key_type(self, node: Any, name: str, own: str, leaf: Value) -> Num:
        """Note that a dict has keys of a type; give the one in which it keeps all."""
        ty = leaf.type
        if ty.kind == "c":
            help = "take both parts: `d[z.real, z.imag]`"
            self.fail(node, "complex numbers are no keys in a kernel", f"this is {named(ty)}", help)
        old = self.types.get(("list", own), ty)
        if kind_of_key(old) != kind_of_key(ty) and not (ty == BOOL and old.is_int):
            help = f"convert it, so that all are of one type: `{'int' if old.is_int else f'np.{old}'}(…)`"
            message = f"the keys of `{self._shown_dict(name)}` are of several types"
            self.fail(node, message, f"this is {named(ty)}, and {named(old)} in another place", help)
        return self.list_type(node, own, INT if ty == BOOL and old.is_int else ty)

    def _sought(self, node: Any, name: str, key: Value) -> list[Value]:
        """Give a key as it is looked for."""
        self._need_items(node, name)
        form = self.list_forms[items_of(name)].parts[0]
        if key.form != form:
            told = "this is a tuple" if key.parts is not None else "this is one number"
            told = "a tuple of other parts" if key.parts is not None and form is not None else told
            self.fail(node, f"the keys of `{self._shown_dict(name)}` are made of other parts", told)
        found = []
        for own, leaf in zip(self.key_lists(name), key.leaves):
            ty = self.types.get(("list", own))
            if ty is None:
                raise Unknown(_nones.UNTYPED, node)
            kind, of = kind_of_key(ty), kind_of_key(leaf.type)
            is_exact = leaf.const is not None and ty.kind in "fu" and _is_exact(leaf.const, ty)
            if kind != of and not (leaf.type == BOOL and ty.is_int) and not is_exact:
                help = f"convert it: `{'int' if ty.is_int else f'np.{ty}'}(…)`"
                message = f"the keys of `{self._shown_dict(name)}` are of another type"
                self.fail(node, message, f"they are `{ty}`, and this is {named(leaf.type)}", help)
            found.append(self.cast(leaf, sought_as(ty), node))
        return found

    def _need_items(self, node: Any, name: str) -> None:
        """Go on with the next pass if it is not known yet what a dict has."""
        if items_of(name) not in self.list_forms:
            raise Unknown(_nones.UNTYPED, node)

    def _values_at(self, node: Any, name: str, place: str) -> Value:
        """Give the value in a place of the lists."""
        self._need_items(node, name)
        found = []
        for own in self.value_lists(name):
            if ("list", own) not in self.types:
                raise Unknown(_nones.UNTYPED, node)
            found.append(Value(f"{spmd_name(own)}[{place}]", self.types["list", own], place not in self.differing))
        return formed(self.list_forms[items_of(name)].parts[1], iter(found))

    def _place_of_key(self, node: Any, name: str, key: Value) -> tuple[str, list[Value]]:
        """Write where a key is; give the variable that has its place, -1 if it is not there, and what is sought."""
        if self.in_arm:
            self.fail(node, "a key is looked for in what may not be computed", "here", "give it a name before")
        sought = self._sought(node, name, key)
        uniform = all(value.uniform for value in sought)
        sought = [self.keep(value) for value in sought]
        place = self.temporary("place")
        if not uniform:
            self.differing.add(place)
        self.emit(f"{'uniform ' if uniform else ''}int {place} = {self.found_text(name, sought)};")
        return place, sought

    def put(self, node: Any, name: str, key: Value, value: Value | None = None) -> str:
        """Have a key have a value, which is added if it is not there; give the variable that has its place.

        Both are computed before.
        """
        return self._put(node, name, key, value, True)

    def _put(self, node: Any, name: str, key: Value, value: Value | None, changes: bool) -> str:
        self.need_own_dict(node, name)
        for leaf in (*key.leaves, *(() if value is None else value.leaves)):
            if not isinstance(leaf.type, Num):
                help = "keep what it is found by: an index, or a list of tuples"
                self.fail(node, "dicts in kernels have numbers and tuples of them", f"this is {named(leaf.type)}", help)
        if not key.leaves or (value is not None and not value.leaves):
            self.fail(node, "tuples in a dict are of some numbers", "this is empty")
        self._have_items(node, name, key.form, None if value is None else value.form)
        for own, leaf in zip(self.key_lists(name), key.leaves):
            self._key_type(node, name, own, leaf)
            if leaf.type.kind == "f" and leaf.const is None:
                self.raise_unless(node, f"{leaf.text} == {leaf.text}", ValueError, "a NaN is no key in a kernel")
        values = []
        for own, leaf in zip(self.value_lists(name), () if value is None else value.leaves):
            values.append(self.keep(self.cast(leaf, self.list_type(node, own, leaf.type), node)))
        place, sought = self._place_of_key(node, name, key)
        self.emit(f"if ({place} < 0) {{")
        self.indent += 1
        self.make_room(node, name)
        self.emit(f"{place} = {self.used(name)};")
        for own, leaf in zip(self.key_lists(name), key.leaves):
            self.push(node, own, self._as_kept(leaf, own))
        for own, leaf in zip(self.value_lists(name), values):
            self.push(node, own, leaf)
        self.note_key(name, place, sought)
        self.indent -= 1
        if values and changes:
            self.emit("} else {")
            for own, leaf in zip(self.value_lists(name), values):
                self.emit(f"    {spmd_name(own)}[{place}] = {leaf.text};")
        self.emit("}")
        return place

    def _as_kept(self, leaf: Value, own: str) -> Value:
        """Give a number of a key, of which a bool is an int beside others."""
        ty = self.types["list", own]
        return self.cast(leaf, INT, None) if leaf.type == BOOL and ty.is_int else leaf

    def _store_at(self, node: Any, name: str, place: str, value: Value) -> None:
        """Write that the key in a place has another value."""
        self._have_items(node, name, self.list_forms[items_of(name)].parts[0], value.form)
        for own, leaf in zip(self.value_lists(name), value.leaves):
            number = self._as_number(node, leaf)
            text = self.cast(number, self.list_type(node, own, number.type), node).text
            self.emit(f"{spmd_name(own)}[{place}] = {text};")

    def _missing_in(self, name: str) -> Value:
        """Give the value of a key that is not there, of a dict that has one."""
        factory = self.dicts[name].missing
        return constant(factory()) if factory in (int, float, bool) else constant(np.dtype(factory).type(0))

    def _place_with(self, node: Any, name: str, key: Value) -> tuple[str, Value]:
        """Give the place of a key whose value is changed, and the value; it is there, or added."""
        if self.dicts[name].missing is not None:
            place = self._put(node, name, key, self._missing_in(name), False)
        else:
            place, _ = self._place_of_key(node, name, key)
            self._need_key(node, place, getattr(node, "target", node))
        return place, self.keep(self._values_at(node, name, place))

    def _need_key(self, node: Any, place: str, at: Any) -> None:
        """Write that a key has to be there."""
        key = at.slice if isinstance(at, ast.Subscript) else at.args[0] if isinstance(at, ast.Call) else at
        self.raise_unless(node, f"{place} >= 0", KeyError, ast.unparse(key))

    def need_own_dict(self, node: Any, name: str) -> None:
        """Fail if a dict changes in a `foreach`."""
        if self.in_foreach():
            help = "change it in a loop over `range`, in order; a `foreach` reads it"
            message = f"`{self._shown_dict(name)}` changes in a `foreach`, whose elements all run at once"
            self.fail(node, message, "in which order?", help)
        if self.in_arm:
            self.fail(node, "a dict changes in what may not be computed", "here", "write an `if`")

    # What is read.

    def item(self, node: ast.Subscript) -> Value | None:
        """Translate `d[k]`; None of something else."""
        name = None if self.kind_of_dict(node.value) is None else self.dict_of(node.value)
        if name is None:
            return None
        kind = self.dicts[name]
        if kind.is_set:
            self.fail(node, "a set has no values", "this is an index", f"ask whether it has one: `x in {name}`")
        if isinstance(node.slice, ast.Slice):
            self.fail(node, "a dict has no parts", "this is a part", "take the items: `list(d.items())[i:j]`")
        key = self.keep(self._element(node.slice))
        if kind.adds:
            place = self._put(node, name, key, self._missing_in(name), False)
            return self.keep(self._values_at(node, name, place))
        if kind.is_counter:
            return self._found_or(node, name, key, self._missing_in(name))
        place, _ = self._place_of_key(node, name, key)
        self._need_key(node, place, node)
        return self.keep(self._values_at(node, name, place))

    def _found_or(self, node: Any, name: str, key: Value, other: Value) -> Value:
        """Give the value of a key, or another one if it is not there; that tells the type while none is known."""
        try:
            place, _ = self._place_of_key(node, name, key)
            return self._value_or(node, name, place, other)
        except Unknown as missing:
            self._note(missing)
            return other

    def _value_or(self, node: Any, name: str, place: str, other: Value) -> Value:
        test = Value(f"({place} >= 0)", BOOL, place not in self.differing)
        return self.keep(self._either(node, test, self._values_at(node, name, place), other))

    def is_in_dict(self, node: ast.Compare) -> Value | None:
        """Translate `k in d`; None if it is something else."""
        among = node.comparators[0]
        func = among.func if isinstance(among, ast.Call) else None
        if isinstance(func, ast.Attribute) and func.attr == "keys" and self.is_view(among):
            among = func.value
        if self.is_view(among) and self.kind_of_dict(among) is None:
            return self.is_among(node, among)
        if self.kind_of_dict(among) is None or (isinstance(among, ast.Set) and self._is_of_constants(among)):
            return None
        key = self._element(node.left)
        key = key if self.in_arm else self.keep(key)
        text = self._contains(node, self.dict_of(among), key)
        text = text if isinstance(node.ops[0], ast.In) else f"(!{text})"
        found = Value(text, BOOL, all(leaf.uniform for leaf in key.leaves), is_python=True)
        return found if self.in_arm else self.keep(found)

    def _is_of_constants(self, node: ast.Set) -> bool:
        return all(isinstance(each, (ast.Constant, ast.UnaryOp)) for each in node.elts)

    def _contains(self, node: Any, name: str, key: Value) -> str:
        return f"({self.found_text(name, self._sought(node, name, key))} >= 0)"

    def count_of(self, name: str) -> Value:
        """Give how many keys a dict has."""
        if items_of(name) not in self.list_forms:
            return Value("0", INT, True, 0, LONGEST)
        count = Value(self.count_text(name), INT, True, 0, LONGEST)
        return count if self.in_arm else self.keep(count)

    def has_keys(self, node: ast.expr) -> Value | None:
        """Give whether a dict has any keys, as a condition; None if it is something else."""
        name = self.dict_of(node) if self.kind_of_dict(node) is not None else None
        if name is None:
            return None
        return Value(f"({self.count_of(name).text} > 0)", BOOL, True, is_python=True)

    def over_dict(self, node: ast.expr) -> tuple[Value, Any] | None:
        """Give how many keys there are, and what has one at an index, or its value, or both; None of anything else."""
        found = self.viewed(node)
        if found is None:
            return None
        name, what = found
        length, entry = self._entries(node, name)

        def item(index: Value) -> Value:
            parts = entry(index).parts
            return parts[0] if what == "keys" else parts[1] if what == "values" else tuple_of(parts)

        return length, item

    def _entries(self, node: Any, name: str) -> tuple[Value, Any]:
        """Give how many keys there are, and what has one at an index with its value, as a tuple."""
        if self.in_foreach():
            help = "list it before: `keys = list(d)`, `items = list(d.items())`"
            self.fail(node, "a loop over a dict cannot stand in a `foreach`", "here", help)
        if self.in_arm:
            self.fail(node, "a loop over a dict in what may not be computed", "here", "give it a name before")
        self._need_items(node, name)
        if any(("list", own) not in self.types for own in self.lists_of(items_of(name))):
            raise Unknown(_nones.UNTYPED, node)
        self.have_no_gaps(name)
        count, used, gone = self.temporary("count"), self.used(name), gone_of(name)
        self.emit(f"const uniform int {count} = {used};")
        test, what = f"{used} == {count} && {gone} == 0", "Set" if self.dicts[name].is_set else "dictionary"
        self.sizes[id(node)] = test, f"{what} changed size during iteration"

        def entry(index: Value) -> Value:
            self.need_size(node)
            form = self.list_forms[items_of(name)]
            lists = self.lists_of(items_of(name))
            leaves = (Value(f"{spmd_name(own)}[{index.text}]", self.types["list", own], True) for own in lists)
            return formed(form, leaves)

        return Value(count, INT, True, 0, LONGEST), entry

    def need_size(self, node: Any) -> None:
        """Write that a dict that is gone over has as many keys as before."""
        if id(node) in self.sizes:
            test, text = self.sizes[id(node)]
            self.raise_unless(node, test, RuntimeError, text)

    # What is written.

    def stores_item(self, target: ast.expr, value: Value) -> bool:
        """Translate `d[k] = v` of a value that is computed; return whether it is one."""
        if not isinstance(target, ast.Subscript) or self.dict_named(target.value) is None:
            return False
        name = target.value.id
        if self.dicts[name].is_set:
            self.fail(target, "a set has no values", "this is an index", f"add it: `{name}.add(x)`")
        value = self.keep(value)
        self.put(target, name, self.keep(self._element(target.slice)), value)
        return True

    def adds_to_dict(self, node: ast.AugAssign) -> bool:
        """Translate `d[k] += v`, `s |= t`; return whether it is one of a dict or set."""
        target = node.target
        if isinstance(target, ast.Name) and target.id in self.dicts:
            how = _SET_OPERATORS.get(type(node.op))
            name = self.dict_named(target)
            if how is None or (how != "|" and not self.dicts[name].is_set):
                self.refuse_dict_method(node, name, ast.unparse(node))
            self._update(node, name, how, [node.value])
            return True
        if not isinstance(target, ast.Subscript) or self.dict_named(target.value) is None:
            return False
        name = target.value.id
        if self.dicts[name].is_set:
            self.fail(target, "a set has no values", "this is an index", f"add it: `{name}.add(x)`")
        self.need_own_dict(node, name)
        key = self.keep(self._element(target.slice))
        if any(isinstance(each, ast.Call) for each in ast.walk(node.value)):
            # They may change it.
            place, old = self._place_read(node, name, key)
            value = self.binary(node, node.op, old, self.expression(node.value))
            self.put(target, name, key, self.keep(value))
            return True
        place, old = self._place_with(node, name, key)
        self._store_at(node, name, place, self.binary(node, node.op, old, self.expression(node.value)))
        return True

    def _place_read(self, node: Any, name: str, key: Value) -> tuple[str, Value]:
        """Give the place and the value of a key that is read; a `Counter` does not have it for that."""
        if not self.dicts[name].is_counter:
            return self._place_with(node, name, key)
        place, _ = self._place_of_key(node, name, key)
        return place, self._value_or(node, name, place, self._missing_in(name))

    def deletes_item(self, target: ast.expr) -> bool:
        """Translate `del d[k]`; return whether it is one."""
        if not isinstance(target, ast.Subscript) or self.dict_named(target.value) is None:
            return False
        name = target.value.id
        key = self.keep(self._element(target.slice))
        self._take_out(target, name, key, not self.dicts[name].is_counter)
        return True

    def _take_out(self, node: Any, name: str, key: Value, must: bool) -> None:
        """Take a key out, which must be there or may be."""
        self.need_own_dict(node, name)
        place, sought = self._place_of_key(node, name, key)
        if must:
            self._need_key(node, place, node)
            self.drop_key(name, place, sought)
            return
        self.emit(f"if ({place} >= 0) {{")
        self.indent += 1
        self.drop_key(name, place, sought)
        self.indent -= 1
        self.emit("}")

    def changes_dict(self, node: ast.Call) -> bool:
        """Translate `s.add(x)`, `d.update(e)` and their like; return whether it is one."""
        func = node.func
        name = self.dict_named(func.value) if isinstance(func, ast.Attribute) else None
        if name is None:
            return False
        kind, how, count = self.dicts[name], func.attr, len(node.args)
        if (how, count) in (("pop", 1), ("pop", 2), ("setdefault", 2)) and not kind.is_set:
            self.asked_of_dict(node)
            return True
        self.need_own_dict(node, name)
        if how == "clear" and not count:
            if items_of(name) in self.list_forms:
                self.clear_table(name)
        elif kind.is_set and (how, count) == ("add", 1):
            self.put(node, name, self.keep(self._element(node.args[0])))
        elif kind.is_set and how in ("discard", "remove") and count == 1:
            self._take_out(node, name, self.keep(self._element(node.args[0])), how == "remove")
        elif how in _UPDATING and (kind.is_set or how == "update") and count and not node.keywords:
            self._update(node, name, _UPDATING[how], node.args)
        else:
            self.refuse_dict_method(node, name, how)
        return True

    def _update(self, node: Any, name: str, how: str, others: list[ast.expr]) -> None:
        """Change a set, or a dict, by others."""
        self.need_own_dict(node, name)
        if how == "|":
            for each in others:
                if self.dict_named(each) != name or self.dicts[name].is_counter:
                    self._put_all(node, name, self._copied_dict(each) if self.dict_named(each) == name else each)
            return
        load = ast.copy_location(ast.Name(name, ast.Load()), node)
        made = self._joined_dicts(node, self.dicts[name], how, load, others)
        self.take_dict(node, name, made)

    def _copied_dict(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(ast.Call(ast.Attribute(node, "copy", ast.Load()), [], []), node)

    def asked_of_dict(self, node: ast.Call) -> Value | None:
        """Translate `d.get(k, 0)`, `d.pop(k)`, `d.setdefault(k, 0)`; None if it is something else."""
        func = node.func
        if not isinstance(func, ast.Attribute) or self.kind_of_dict(func.value) is None:
            return None
        name, how, count = self.dict_of(func.value), func.attr, len(node.args)
        if self.dicts[name].is_set or node.keywords or how not in ("get", "pop", "setdefault"):
            self.refuse_dict_method(node, name, how)
        if count != 2 and (how, count) != ("pop", 1):
            help = f"give what it is else, `{name}.{how}(k, 0)`; or ask before: `if k in {name}:`"
            self.fail(node, f"`{how}` of a dict may give None here", "a kernel has no value for that", help)
        key = self.keep(self._element(node.args[0]))
        other = self.keep(self._element(node.args[1])) if count == 2 else None
        if how == "setdefault":
            place = self._put(node, name, key, other, False)
            return self.keep(self._values_at(node, name, place))
        if how == "get":
            return self._found_or(node, name, key, other)
        self.need_own_dict(node, name)
        place, sought = self._place_of_key(node, name, key)
        if other is None:
            self._need_key(node, place, node)
            value = self.keep(self._values_at(node, name, place))
            self.drop_key(name, place, sought)
            return value
        value = self._value_or(node, name, place, other)
        self.emit(f"if ({place} >= 0) {{")
        self.indent += 1
        self.drop_key(name, place, sought)
        self.indent -= 1
        self.emit("}")
        return value

    def most_common(self, node: ast.Call) -> ast.expr | None:
        """Give `c.most_common(n)` as what it means; None if it is something else."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr != "most_common" or len(node.args) > 1 or node.keywords:
            return None
        kind = self.kind_of_dict(func.value)
        if kind is None or not kind.is_counter:
            return None
        text = "sorted(c.items(), key=lambda item: item[1], reverse=True)" + ("[:n]" if node.args else "")
        tree = ast.parse(text, mode="eval").body
        for each in ast.walk(tree):
            if isinstance(each, ast.expr):
                ast.copy_location(each, node)
        call = tree.value if isinstance(tree, ast.Subscript) else tree
        call.args[0].func.value = func.value
        if isinstance(tree, ast.Subscript):
            tree.slice.upper = node.args[0]
        return tree

    def refuse_dict_method(self, node: Any, name: str, how: str) -> None:
        """Fail because a dict or a set has no such method in a kernel, or not with such arguments."""
        known = "`add`, `discard`, `remove`, `update`, `clear`, `copy`, `union`, `intersection`, `difference`"
        if not self.dicts[name].is_set:
            known = "`get`, `pop`, `setdefault`, `update`, `clear`, `copy`, `keys`, `values`, `items`"
        what = "sets" if self.dicts[name].is_set else "dicts"
        help = f"{what} in kernels have {known}; else write the loop"
        self.fail(node, f"`{self._shown_dict(name)}` has no such `{how}` in a kernel", "not supported", help)

    def refuse_dict(self, node: Any, name: str) -> NoReturn:
        """Fail because a dict stands where a value is needed."""
        what = "set" if self.dicts[name].is_set else "dict"
        help = f"take what it has: `len({name})`, `x in {name}`, `sorted({name})`"
        self.fail(node, f"`{name}` is a {what}, which is no value of an expression in a kernel", "here", help)

    # Results.

    def returned_dict(self, node: ast.expr) -> Value | None:
        """Give a dict that is returned, as lists of what it has; None if it is something else."""
        if self.kind_of_dict(node) is None:
            return None
        name = self.dict_of(node)
        self._need_items(node, name)
        if name in self.given:
            help = f"it is changed where it is; or return a copy: `{name}.copy()`"
            self.fail(node, f"`{name}` is passed, and returned", "it would have two names", help)
        self.have_no_gaps(name)
        items = items_of(name)
        arrays = [self.regions[0].parts[own] for own in self.lists_of(items)]
        return tuple_of(arrays, Entries(self.list_forms[items], self.dicts[name]))

    def given_dict(self, node: Any, value: Value) -> str:
        """Have the dict that a function returns, whose lists are this function's now."""
        form = value.of.form
        name = self.new_dict(node, value.of.kind)
        self._have_items(node, name, *_two(form))
        for own, part in zip(self.lists_of(items_of(name)), value.parts):
            given = self.unnamed_list(part)
            assert given is not None
            self._take(node, own, given)
        if all(("list", own) in self.types for own in self.lists_of(items_of(name))):
            self.index_anew(name)
        return name

    def takes_dict(self, node: Any, name: str, value: Value) -> bool:
        """Have a name stand for a dict that a function has returned; return whether it is one."""
        if not isinstance(value.of, Entries):
            if name in self.dicts:
                help = "use another name"
                self.fail(node, f"`{name}` is a {self.dicts[name].named}, and something else here", "here", help)
            return False
        self._need_dict_order(node)
        self.take_dict(node, name, self.given_dict(node, value))
        return True


def _two(form: Form) -> tuple[Form | None, Form | None]:
    """Give the forms of keys and values; a set has no values."""
    return form.parts[0], form.parts[1] if len(form.parts) > 1 else None


def _none_of(tests: list[str]) -> list[str]:
    return [f"!{test}" for test in tests]


def _is_empty(node: ast.expr) -> bool:
    """Return whether an expression makes a dict or set of nothing."""
    if isinstance(node, ast.Call):
        is_default = isinstance(node.func, (ast.Name, ast.Attribute)) and "defaultdict" in ast.unparse(node.func)
        return len(node.args) == int(is_default) and not node.keywords and not _is_method_of(node)
    return isinstance(node, ast.Dict) and not node.keys


def _is_method_of(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in _COPYING


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_exact(value: Any, ty: Num) -> bool:
    """Return whether a constant is a number of a type."""
    if isinstance(value, complex) or value != value:
        return False
    if ty.is_int:
        return isinstance(value, int) and ty.holds(value)
    with np.errstate(over="ignore"):
        return bool(float(ty.dtype.type(value)) == value)
