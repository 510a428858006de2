"""Dicts and sets, `d[k] = v`, `s.add(x)`: lists of keys and values, in the order of insertion, with an index by hashes.

A name stands for one dict, as for a list. What a dict has are tuples `(k, v)` in a list of tuples, of which its types
are known as those of lists are; a set has tuples `(k,)`. Whoever goes over it has the gaps closed before that keys
leave which have been taken out.
"""

from __future__ import annotations

import ast
from typing import Any, NoReturn

import numpy as np

from . import _nones
from ._dict_comparisons import DictComparisons
from ._dict_tables import gone_of, items_of, kind_of_key, sought_as
from ._dict_values import SET_OPERATORS
from ._none_results import may_miss
from ._program import Unknown
from ._raises import is_nothing
from ._trees import walk
from ._types import BOOL, INT, Num, named
from ._values import LONGEST, Entries, Form, Maybe, Value, constant, formed, of_tuple, tuple_of
from ._variables import spmd_name

_UPDATING = {"update": "|", "intersection_update": "&", "difference_update": "-", "symmetric_difference_update": "^"}


class Dicts(DictComparisons):
    """Translates dicts and sets; `Body` has what they need to know."""

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
            help = f"convert it, so that all are of one type: `{'int' if old.is_int else f'np.{old.name}'}(…)`"
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
                help = f"convert it: `{'int' if ty.is_int else f'np.{ty.name}'}(…)`"
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
            self._need_key(node, place, getattr(node, "target", node), key)
        return place, self.keep(self._values_at(node, name, place))

    def _need_key(self, node: Any, place: str, at: Any, key: Value) -> None:
        """Write that a key has to be there."""
        written = at.slice if isinstance(at, ast.Subscript) else at.args[0] if isinstance(at, ast.Call) else at
        self.raise_value_unless(node, f"{place} >= 0", KeyError, key, ast.unparse(written))

    def need_own_dict(self, node: Any, name: str) -> None:
        """Fail if a dict changes in a `foreach`, or is passed from Python."""
        self.refuse_passed(node, name)
        if self.in_foreach() or not self.uniform:
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
        self._need_key(node, place, node, key)
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
        if self.kind_of_dict(among) is None or (isinstance(among, ast.Set) and _is_of_numbers(among)):
            return None
        key = self._element(node.left)
        key = key if self.in_arm else self.keep(key)
        text = self._contains(node, self.dict_of(among), key)
        text = text if isinstance(node.ops[0], ast.In) else f"(!{text})"
        found = Value(text, BOOL, all(leaf.uniform for leaf in key.leaves), is_python=True)
        return found if self.in_arm else self.keep(found)

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
        self._need_types(node, name)
        self.have_no_gaps(name)
        count, used, gone = self.temporary("count"), self.used(name), gone_of(name)
        self.emit(f"const uniform int {count} = {used};")
        test, what = f"{used} == {count} && {gone} == 0", "Set" if self.dicts[name].is_set else "dictionary"
        self.sizes[id(node)] = test, f"{what} changed size during iteration"

        def entry(index: Value) -> Value:
            self.need_size(node)
            return self._entry_at(name, index.text)

        return Value(count, INT, True, 0, LONGEST), entry

    def _entry_at(self, name: str, place: str) -> Value:
        """Give the key in a place, with its value, as a tuple."""
        lists = self.lists_of(items_of(name))
        leaves = (Value(f"{spmd_name(own)}[{place}]", self.types["list", own], True) for own in lists)
        return formed(self.list_forms[items_of(name)], leaves)

    def _need_types(self, node: Any, name: str) -> None:
        """Go on with the next pass if it is not known yet of which types keys and values are."""
        self._need_items(node, name)
        if any(("list", own) not in self.types for own in self.lists_of(items_of(name))):
            raise Unknown(_nones.UNTYPED, node)

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
            how = SET_OPERATORS.get(type(node.op))
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
        if any(isinstance(each, ast.Call) for each in walk(node.value)):
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
            self._need_key(node, place, node, key)
            self.drop_key(name, place, sought)
            return
        self._drop_if_there(name, place, sought)

    def changes_dict(self, node: ast.Call) -> bool:
        """Translate `s.add(x)`, `d.update(e)` and their like; return whether it is one."""
        func = node.func
        name = self.dict_named(func.value) if isinstance(func, ast.Attribute) else None
        if name is None:
            return False
        kind, how, count = self.dicts[name], func.attr, len(node.args)
        if (how, count) == ("pop", 2) and not kind.is_set and is_nothing(node.args[1]):
            self._take_out(node, name, self.keep(self._element(node.args[0])), False)
            return True
        if (how, count) in (("pop", 1), ("pop", 2), ("setdefault", 2), ("popitem", 0)) and not kind.is_set:
            self.asked_of_dict(node)
            return True
        if (how, count) == ("pop", 0) and kind.is_set:
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

    def first_key(self, node: ast.Call) -> Value | None:
        """Translate `next(iter(d))`; None if it is something else."""
        inner = node.args[0] if _is_call_of(node, "next") else None
        if inner is None or not _is_call_of(inner, "iter") or self.is_method(node) or not self.is_view(inner.args[0]):
            return None
        if self.called(node) is not next or self.called(inner) is not iter:
            return None
        length, item = self.over_dict(inner.args[0])
        self.raise_unless(node, f"{length.text} > 0", StopIteration, "")
        return self.keep(item(constant(0)))

    def asked_of_dict(self, node: ast.Call) -> Value | None:
        """Translate `d.get(k, 0)`, `d.pop(k)`, `d.setdefault(k, 0)`; None if it is something else."""
        func = node.func
        if (first := self.first_key(node)) is not None:
            return first
        if not isinstance(func, ast.Attribute) or self.kind_of_dict(func.value) is None:
            return None
        name, how, count = self.dict_of(func.value), func.attr, len(node.args)
        if not node.args and not node.keywords and how == ("pop" if self.dicts[name].is_set else "popitem"):
            return self._popped_item(node, name)
        if (found := self.asked_of_two_sets(node, name)) is not None:
            return found
        if self.dicts[name].is_set or node.keywords or how not in ("get", "pop", "setdefault"):
            self.refuse_dict_method(node, name, how)
        misses = may_miss(node)
        if count != 2 and (how, count) not in (("pop", 1), ("get", 1)):
            self.refuse_dict_method(node, name, how)
        if misses and not (hasattr(node, "asks_none") or hasattr(node, "is_compared")):
            help = f"give what it is else, `{name}.{how}(k, 0)`; or ask: `x = {name}.{how}(k)`, `if x is not None:`"
            self.fail(node, f"`{how}` of a dict may give None here", "a kernel has no value for that", help)
        key = self.keep(self._element(node.args[0]))
        if misses:
            found = self._found_or_none(node, name, key, how == "pop")
            if not hasattr(node, "is_compared"):
                return found
            told = "the key to compare by is None: it is not in the dict"
            self.raise_unless(node, f"!{found.parts[0].text}", TypeError, told)
            return self.keep(found.parts[1])
        other = self.keep(self._element(node.args[1])) if count == 2 else None
        if how == "setdefault":
            place = self._put(node, name, key, other, False)
            return self.keep(self._values_at(node, name, place))
        if how == "get":
            return self._found_or(node, name, key, other)
        self.need_own_dict(node, name)
        place, sought = self._place_of_key(node, name, key)
        if other is None:
            self._need_key(node, place, node, key)
            value = self.keep(self._values_at(node, name, place))
            self.drop_key(name, place, sought)
            return value
        value = self._value_or(node, name, place, other)
        self._drop_if_there(name, place, sought)
        return value

    def _found_or_none(self, node: ast.Call, name: str, key: Value, takes: bool) -> Value:
        """Give the value of a key, or None if it is not there; and take the key out if it `takes` it."""
        if takes:
            self.need_own_dict(node, name)
        self._need_types(node, name)
        place, sought = self._place_of_key(node, name, key)
        types = [self.types["list", own] for own in self.value_lists(name)]
        zeros = (self.cast(constant(False if ty == BOOL else 0), ty, node) for ty in types)
        value = self._value_or(node, name, place, formed(self.list_forms[items_of(name)].parts[1], zeros))
        if takes:
            self._drop_if_there(name, place, sought)
        is_none = Value(f"({place} < 0)", BOOL, place not in self.differing, is_python=True)
        return tuple_of([is_none, value], Maybe())

    def _drop_if_there(self, name: str, place: str, sought: list[Value]) -> None:
        self.emit(f"if ({place} >= 0) {{")
        self.indent += 1
        self.drop_key(name, place, sought)
        self.indent -= 1
        self.emit("}")

    def _popped_item(self, node: ast.Call, name: str) -> Value:
        """Translate `d.popitem()`, and `s.pop()` of a set, which take what was added last."""
        self.need_own_dict(node, name)
        self._need_types(node, name)
        is_set = self.dicts[name].is_set
        told = "pop from an empty set" if is_set else "popitem(): dictionary is empty"
        self.raise_unless(node, f"{self.count_text(name)} > 0", KeyError, told)
        place = self.place_of_last(name)
        key, *values = (self.keep(part) for part in self._entry_at(name, place).parts)
        self.drop_last(name, list(key.leaves))
        return key if is_set else tuple_of([key, *values])

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
        for each in walk(tree):
            if isinstance(each, ast.expr):
                ast.copy_location(each, node)
        call = tree.value if isinstance(tree, ast.Subscript) else tree
        call.args[0].func.value = func.value
        if isinstance(tree, ast.Subscript):
            tree.slice.upper = node.args[0]
        return tree

    def refuse_dict_method(self, node: Any, name: str, how: str) -> None:
        """Fail because a dict or a set has no such method in a kernel, or not with such arguments."""
        known = "`add`, `discard`, `remove`, `pop`, `update`, `clear`, `copy`, `union`, `intersection`, `issubset`"
        if not self.dicts[name].is_set:
            known = "`get`, `pop`, `popitem`, `setdefault`, `update`, `clear`, `copy`, `keys`, `values`, `items`"
        what = "sets" if self.dicts[name].is_set else "dicts"
        help = f"{what} in kernels have {known}; else write the loop"
        self.fail(node, f"`{self._shown_dict(name)}` has no such `{how}` in a kernel", "not supported", help)

    def refuse_dict(self, node: Any, name: str) -> NoReturn:
        """Fail because a dict stands where a value is needed."""
        what = "set" if self.dicts[name].is_set else "dict"
        help = f"take what it has: `len({name})`, `x in {name}`, `sorted({name})`"
        self.fail(node, f"`{name}` is a {what}, which is no value of an expression in a kernel", "here", help)

    # Those that are passed.

    def have_passed(self, node: Any, name: str, of: Entries) -> None:
        """Make the dict that is passed as lists of what it has."""
        self.at = self.source.line(node)
        self.begin_dict(node, name, of.kind)
        self._have_items(node, name, of.form.parts[0], of.form.parts[-1])
        for k, own in enumerate(self.lists_of(items_of(name))):
            param = next(each for each in self.params if each.name == of_tuple(name, k))
            given = Value(self.param_text(param.name), param.type, True)
            self.list_type(node, own, param.type.of)
            self._grown(param.type.of.spmd)
            array = self._with_type(own, self.types["list", own], own)
            self.resize(array, self.dim(given.text, 0))
            self._copy_elements(node, array, given)
        self.regions[0].parts[items_of(name)] = self.list_of_tuples(items_of(name))
        self.index_anew(name)
        self.passed_dicts.add(name)

    def refuse_passed(self, node: Any, name: str) -> None:
        """Fail if a dict changes that the kernel is passed."""
        if name in self.passed_dicts:
            what = "set" if self.dicts[name].is_set else "dict"
            help = f"copy it, and return the copy: `new = {name}.copy()`"
            self.fail(node, f"the {what} `{name}` is passed, and only read by a kernel", "this changes it", help)

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
        self._have_items(node, name, form.parts[0], form.parts[-1])
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


def _is_of_numbers(node: ast.Set) -> bool:
    """Return whether a set is written that looks like one of numbers, each of which is compared."""
    return not any(isinstance(each, (ast.Tuple, ast.Starred)) for each in node.elts)


def _is_call_of(node: ast.expr, name: str) -> bool:
    """Return whether an expression calls a function of such a name with one argument."""
    is_call = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    return is_call and isinstance(node.func, ast.Name) and node.func.id == name


def _is_exact(value: Any, ty: Num) -> bool:
    """Return whether a constant is a number of a type."""
    if isinstance(value, complex) or value != value:
        return False
    if ty.is_int:
        return isinstance(value, int) and ty.holds(value)
    with np.errstate(over="ignore"):
        return bool(float(ty.dtype.type(value)) == value)
