"""What functions return: numbers, tuples of them, records and arrays."""

from __future__ import annotations

import ast
import itertools
import math
from dataclasses import replace
from typing import Any

from . import _annotations, _nones
from ._effects import RESULT
from ._plain import parameters
from ._program import Unknown
from ._trees import own_nodes
from ._tuples import is_named_tuple
from ._types import BOOL, INT, Array, Num, Record, join, named, strong
from ._usage import gives_array, of_program
from ._values import OUTSIDE, Columns, Form, Listed, Maybe, Value, constant, tuple_of

# Arrays of as many elements are returned as numbers where each element runs by itself.
_MOST_LISTED = 64


class Returns:
    """Translates `return`; `Body` has what it needs to know."""

    def do_Return(self, node: ast.Return) -> None:
        """`return`."""
        if self.in_foreach():
            help = "keep what is found, `first = min(first, i)`, and return it behind; or loop over `range`, in order"
            self.fail(node, "`return` cannot leave a `foreach`, whose elements all run at once", "here", help)
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            if getattr(self.source.tree, "returns_maybe", False) and (self.uniform or self.identity is not None):
                return self._return_none(node)
            if hasattr(node, "is_end"):
                return
            if self.returns is not None:
                help = "return a number that stands for it, such as -1 or `np.nan`"
                self.fail(node, "this returns nothing, other parts of the function a value", "here", help)
            self.free_lists([])
            self.emit("return;")
            self.assigned = None
            return
        stored = self.with_out(node.value)
        if stored is not node.value:
            node = ast.copy_location(ast.Return(stored), node)
        if self.needs_branches(node.value) or self._chooses_record(node.value) or self._chooses_array(node.value):
            return self._in_branches(node, ast.Return)
        if self.result is None and self._returns_arrays(node):
            return
        if isinstance(node.value, ast.List):
            self.refuse_list(node.value)
        value = self.expression(node.value)
        value, flag = self._maybe_apart(node, value)
        form = value.form
        value = self._without_records(node, value)
        parts = value.leaves
        if self.arrays is not None:
            self.fail(node, "this returns no array, other parts of the function do", "here")
        for part in parts:
            if not isinstance(part.type, Num):
                self.fail(node, "a kernel returns numbers", f"this is {named(part.type)}")
            if self.uniform and not part.uniform:
                self.fail(node, "the result would differ between lanes", "this value differs from lane to lane")
        is_tuple = value.parts is not None
        parts = _annotations.converted(self, node, parts, is_tuple, value.form)
        if flag is not None:
            parts, form, is_tuple = [flag, *parts], Form((None, form), Maybe()), True
        if self.returns is not None and (len(self.returns) != len(parts) or self.returns_tuple != is_tuple):
            self.fail(
                node, f"this returns {len(parts)} values, other parts of the function {len(self.returns)}", "here"
            )
        self._have_form(node, form)
        old = self.returns or [part.type for part in parts]
        new = [join(a, part.type) for a, part in zip(old, parts)]
        for ty, part in zip(new, parts):
            if ty is None:
                self.fail(node, "this returns a bool, other parts of the function a number", f"{named(part.type)}")
        self.returns, self.returns_tuple, self.returns_numbers = new, is_tuple, True
        self.emit(self.return_text(self.free_lists([self.cast(part, ty, node) for part, ty in zip(parts, new)])))
        self.assigned = None

    def _maybe_apart(self, node: ast.Return, value: Value) -> tuple[Value, Value | None]:
        """Give what is returned and, if it may be None, whether it is."""
        if not getattr(self.source.tree, "returns_maybe", False):
            return value, None
        if not self.uniform and self.identity is None:
            if isinstance(value.of, Maybe) or hasattr(node, "none_flag"):
                help = "return a number that stands for it, such as -1 or `np.nan`: `return -1 if x is None else x`"
                self.fail(node, "what an elementwise kernel returns may be None", "arrays have no value for that", help)
            return value, None
        if isinstance(value.of, Maybe):
            flag, value = value.parts
            return value, flag
        if hasattr(node, "none_flag"):
            return value, self.read_name(node.none_flag)
        return value, constant(False)

    def _return_none(self, node: ast.Return) -> None:
        """Write that None is returned, where other parts of the function return a value."""
        if self.returns is None or self.arrays is not None:
            if self.arrays is not None:
                self._refuse_none_or_array(node)
            raise Unknown(_nones.UNTYPED, node)
        zeros = [constant(k == 0) if ty == BOOL else constant(0) for k, ty in enumerate(self.returns)]
        values = [self.cast(zero, ty, node) for zero, ty in zip(zeros, self.returns)]
        self.emit(self.return_text(self.free_lists(values)))
        self.assigned = None

    def _refuse_none_or_array(self, node: ast.Return) -> None:
        help = "return an array or a list of nothing, `np.zeros(0)`, `[]`; or tell by a number whether there is one"
        self.fail(node, "this returns None, other parts of the function an array", "only numbers may be None", help)

    def _have_form(self, node: ast.Return, form: Form | None) -> None:
        """Note how the result is made of values; fail if another `return` gives one that is made otherwise."""
        if (self.returns is not None or self.arrays is not None) and form != self.form:
            self.fail(node, "this returns another tuple than other parts of the function", "made of other parts")
        self.form = form

    def return_text(self, values: list[Value]) -> str:
        """Write a return of values, which have the types of the result."""
        if not self.returns_tuple:
            return f"return {values[0].text};"
        stores = " ".join(f"r__.v{k} = {value.text};" for k, value in enumerate(values))
        return f"{{ Result__ r__; {stores} return r__; }}"

    def _chooses_record(self, node: ast.expr) -> bool:
        """Return whether an elementwise kernel returns one of two records: `p if c else q`."""
        if not isinstance(node, ast.IfExp) or self.identity is not None or (self.uniform and self.result is None):
            return False
        arms = [arm.elts if isinstance(arm, ast.Tuple) else [arm] for arm in (node.body, node.orelse)]
        found = [self.array_of(part) for arm in arms for part in arm if isinstance(part, (ast.Name, ast.Subscript))]
        return any(value is not None and value.type.ndim == 0 for value in found)

    def _chooses_array(self, node: ast.expr) -> bool:
        """Return whether an array kernel returns one of two arrays: `a / n if n > 1 else a`."""
        return self.uniform and isinstance(node, ast.IfExp) and any(map(self.may_be_array, (node.body, node.orelse)))

    def _without_records(self, node: ast.Return, value: Value) -> Value:
        """Give what a kernel returns with the fields of records in place of these."""
        if self.identity is not None or (self.uniform and self.result is None):
            return value
        if self.result is not None:
            records: tuple[Record | None, ...] = (self.result,)
            found, several = self._as_record(node, value, self.result), False
        else:
            parts, several = value.leaves, value.parts is not None
            records = tuple(part.type.of if isinstance(part.type, Array) else None for part in parts)
            given = (
                [part] if of is None else self.numbers_of(node, part, of, "it") for part, of in zip(parts, records)
            )
            found = tuple_of(number for numbers in given for number in numbers) if any(records) else value
        before = (self.records, self.gives_several)
        if self.returns is not None and any((*records, *self.records)) and (records, several) != before:
            self.fail(node, "this returns other values than other parts of the function", "here")
        self.records, self.gives_several = records, several
        return found

    def _as_record(self, node: ast.Return, value: Value, of: Record) -> Value:
        """Give the fields of the record that is to be returned."""
        count = len(of.fields)
        what = f"the kernel returns a record of {count} field{'s' * (count > 1)}, {', '.join(n for n, _ in of.fields)}"
        if isinstance(value.type, Array) and value.parts is None:
            if value.type.of != of:
                self.fail(node, what, f"this is another record: {named(value.type)}")
            return tuple_of(self.numbers_of(node, value, of, "the result"))
        if value.parts is None or len(value.parts) != count:
            told = "this is one value" if value.parts is None else f"these are {len(value.parts)} values"
            self.fail(node, what, told, "return a tuple with a number for each")
        given = []
        for (name, ty), part in zip(of.fields, value.parts):
            numbers = self.numbers_of(node, part, ty, f"the field `{name}` of the result")
            given.extend((name, number) for number in numbers)
        fields = []
        for (name, part), (_, ty) in zip(given, of.leaves):
            if (part.type.kind == "f" and ty.kind != "f") or (part.type == BOOL) != (ty == BOOL):
                help = f"convert it: `{'bool' if ty == BOOL else f'np.{ty}'}(…)`"
                self.fail(
                    node, f"the field `{name}` of the result is {named(ty)}", f"given is {named(part.type)}", help
                )
            fields.append(self.cast(part, ty, node))
        return tuple_of(fields)

    def results(self) -> list[Num | Record]:
        """Give the types of the results of an elementwise kernel."""
        types, found = list(self.returns or ()), []
        for record in self.records if types else ():
            count = 1 if record is None else len(record.leaves)
            found.append(types[0] if record is None else record)
            del types[:count]
        return found

    def _returns_arrays(self, node: ast.Return) -> bool:
        """Translate a `return` with arrays in it; return whether it is one."""
        known: dict[int, Value] = {}
        before = self.arrays or self.last_arrays
        self._note_returned(node.value, known, None if before is None else self.form, list(before or ()))
        returned = [leaf for value in known.values() for leaf in value.leaves if isinstance(leaf.type, Array)]
        is_element = self.identity is None and (not self.uniform or self.result is not None)
        if not returned or (is_element and all(value.type.ndim == 0 for value in returned)):
            self.elements.update(known)
            return False
        if not self.uniform and any(value.type.ndim for value in returned):
            help = "return the numbers of each element: `return x, y`; or store to an array that is passed"
            self.fail(node, "where each element runs by itself, numbers are returned", "this is an array", help)
        arrays: list[Value | None] = []
        numbers: list[Value] = []
        nodes, value = self._all_returned(node.value, known)
        found, form, several = value.leaves, value.form, value.parts is not None
        found = self._as_before(node, _annotations.converted(self, node, found, several, form))
        for each, value in zip(nodes, found):
            if not isinstance(value.type, Array):
                arrays.append(None)
                numbers.append(self._as_number(each, value))
                continue
            if value.type.ndim == 0:
                field = value.type.of.fields[0][0]
                help = (
                    f"return its fields: `{ast.unparse(each)}.{field}`; or annotate the kernel with its dtype, `-> …`"
                )
                self.fail(each, "a record is not returned as a whole", f"this is {named(value.type)}", help)
            if not isinstance(value.type.of, Num):
                self.fail(each, "arrays of numbers are returned", f"this is {named(value.type)}", "return nothing")
            root, where = self._copied_out(each, value) or self._returned_part(each, value)
            arrays.append(replace(root, parts=tuple(where)) if where else root)
            numbers += where
        if getattr(self.source.tree, "returns_maybe", False):
            self._refuse_none_or_array(node)
        shapes = tuple(v and (v.text, v.type, v.parts is None) for v in arrays)
        before = self.arrays
        if before is not None and shapes != tuple(v and (v.text, v.type, v.parts is None) for v in before):
            self.gives_copies |= self._may_give_copies(arrays, before)
            if self.gives_copies and not self.copies_now:
                # The next pass has each of them copied.
                self.assigned = None
                return True
            help = (
                "all return one that they make, of one type and shape (of one that is passed, `a.copy()`); or store to "
            )
            help += "one array, and return that at the end"
            self.fail(node, "this returns another array than other parts of the function", "here", help)
        if self.returns_numbers:
            self.fail(node, "this returns an array, other parts of the function none", "here")
        self._have_form(node, form)
        self.arrays, self.is_tuple, self.returns_tuple = tuple(arrays), several, bool(numbers)
        self.gives_arrays = True
        old = self.returns or [part.type for part in numbers]
        if before is None and len(old) != len(numbers):
            # In another pass more was known of the lengths.
            old = [part.type for part in numbers]
        if len(old) != len(numbers):
            self.fail(node, "this returns other values than other parts of the function", "here")
        new = [join(a, part.type) for a, part in zip(old, numbers)]
        for ty, part in zip(new, numbers):
            if ty is None:
                self.fail(node, "this returns a bool, other parts of the function a number", f"{named(part.type)}")
        self.returns = new
        values = [self.cast(part, ty, node) for part, ty in zip(numbers, new)]
        values = self.free_lists(values)
        self.emit(self.return_text(values) if values else "return;")
        self.assigned = None
        return True

    def _note_returned(
        self, node: ast.expr, known: dict[int, Value], form: Form | None, before: list[Value | None]
    ) -> None:
        """Note what is returned of which it is known at once whether it is an array, by its nodes.

        `form` and `before` are those of another `return`, as far as they are known.
        """
        if isinstance(node, ast.List) and self._is_of_numbers_alone(node):
            known[id(node)] = self.in_columns(self._listed_result(node, form, before))
            return
        if isinstance(node, (ast.Tuple, ast.List)):
            forms = form.parts if form is not None and len(form.parts) == len(node.elts) else [None] * len(node.elts)
            at = 0
            for each, own in zip(node.elts, forms):
                self._note_returned(each, known, own, before[at:] if form is not None else [])
                at += 1 if own is None else own.count
            return
        value = self._returned(node)
        if value is not None:
            known[id(node)] = self.in_columns(value)

    def _is_of_numbers_alone(self, node: ast.List) -> bool:
        """Return whether a list that is written has no arrays in it, so that it is one of lists."""
        if not self.uniform or self.in_foreach() or self.in_arm:
            return False
        if self.identity is None and self.result is not None:
            return False
        return not any(isinstance(each, (ast.List, ast.ListComp)) or self.may_be_array(each) for each in node.elts)

    def _listed_result(self, node: ast.List, form: Form | None, before: list[Value | None]) -> Value:
        """Give a list that is written where it is returned; one of nothing has the type of others that are returned."""
        name = self.new_list(node)
        for each in node.elts:
            self.push(each, name, self.keep(self._element(each)))
        if node.elts:
            return self.regions[0].parts[name]
        arrays = [array for array in before[: 1 if form is None else form.count] if array is not None]
        if not arrays:
            written = ast.dump(node)
            returns = [at.value for at in own_nodes(self.source.tree.body) if isinstance(at, ast.Return)]
            if any(value is not None and ast.dump(value) != written for value in returns) and not self.last_arrays:
                raise Unknown(_nones.UNTYPED, node)
            return self.regions[0].parts[name]
        if form is not None and isinstance(form.of, Columns):
            self.have_form(node, name, form.of.form)
        for own, array in zip(self.lists_of(name), arrays):
            self.types["list", own] = strong(array.type.of)
            self._with_type(own, array.type.of, own)
        if name in self.list_forms:
            self.regions[0].parts[name] = self.list_of_tuples(name)
        return self.regions[0].parts[name]

    def _all_returned(self, node: ast.expr, known: dict[int, Value]) -> tuple[list[ast.expr], Value]:
        """Give what is returned, and where each of its values stands."""
        if isinstance(node, (ast.Tuple, ast.List)) and id(node) not in known:
            parts = [self._all_returned(each, known) for each in node.elts]
            return [each for nodes, _ in parts for each in nodes], tuple_of(value for _, value in parts)
        value = known[id(node)] if id(node) in known else self.expression(node)
        return [node] * len(value.leaves), value

    def _returned(self, node: ast.expr) -> Value | None:
        """Give the array that is returned, or what a function gives that is called; None if it is something else."""
        given = self.returned_dict(node)
        if given is not None:
            return given
        listing = self.returned_list(node)
        if listing is not None:
            return listing
        if not self.uniform and self.identity is not None:
            few = self._few_numbers(node)
            if few is not None:
                return few
        listed = self.listed(node)
        if listed is not None:
            return self.brought(node, *listed)
        found = self.array_of(node)
        if found is not None and self._made(found.text) is not None:
            # An array that is a variable ends with the function.
            return self.copied(node, node)
        if found is not None:
            return found
        if not isinstance(node, ast.Name) and self.makes_elements(node):
            return self.copied(node, node)
        function = self.called(node) if isinstance(node, ast.Call) and not self.is_method(node) else None
        several = self.expression(node) if is_named_tuple(function) else self.named_tuple(node)
        if several is not None and any(isinstance(leaf.type, Array) for leaf in several.leaves):
            return several
        gives_some = (function is not None and self.gives_several_arrays(node, function)) or gives_array(function)
        gives_some = gives_some or (function is not None and bool(self.given_arrays(node, function)))
        if function is not None and (gives_some or self.takes_arrays(node, function)):
            value = self.expression(node)
            return self.keep(value) if isinstance(value.type, Num) and value.parts is None else value
        return None

    def given_arrays(self, node: ast.Call, function: Any) -> set[str]:
        """Give the parameters of a function of the program that a call gives arrays, or expressions of such."""
        text = of_program(function)
        names = [] if text is None else [arg.arg for arg in parameters(text[0])]
        given = [*zip(names, node.args), *((keyword.arg, keyword.value) for keyword in node.keywords)]
        return {name for name, arg in given if name is not None and self.is_of_elements(arg)}

    def _few_numbers(self, node: ast.expr) -> Value | None:
        """Give the elements of a small array that a function returns where each element runs by itself.

        No memory outlives the function there; who calls it makes an array of them.
        """
        listed = self.listed(node)
        if listed is not None:
            values, of, lengths = listed
            return tuple_of((self.cast(value, of, node) for value in values), Listed(of, lengths))
        array = self.array_of(node)
        is_own = array is not None and self._made(self._root_of(array.text)) is None and not self._is_made(array.text)
        if is_own and array.text not in self.parts:
            # It was passed.
            return None
        if array is None and not isinstance(node, ast.Name) and self.makes_elements(node):
            array = self.copied(node, node)
        if array is None or not isinstance(array.type.of, Num):
            return None
        lengths = [self.dim(array.text, axis).const for axis in range(array.type.ndim)]
        if None in lengths or not 1 <= math.prod(lengths) <= _MOST_LISTED:
            return None
        values = []
        for at in itertools.product(*map(range, lengths)):
            text, uniform = self.place_of(array, [constant(k) for k in at])
            values.append(self.keep(Value(text, array.type.of, uniform)))
        return tuple_of(values, Listed(array.type.of, tuple(lengths)))

    def _as_before(self, node: ast.Return, found: Any) -> list[Value]:
        """Give what is returned, in the arrays that other ways through the function return, if all are made in it.

        These take the elements, so that what is read of them is read before.
        """
        known = [array.text for array in self.arrays or () if array is not None]
        given = [value if isinstance(value.type, Array) else self.keep(value) for value in found] if known else found
        given = list(given)
        for k, (before, value) in enumerate(zip(self.arrays or (), given)):
            if before is None or before.parts is not None or before.type != value.type or before.text == value.text:
                continue
            root = self._root_of(value.text)
            if value.type.ndim == 1 and self.gives_copies:
                continue
            is_made = self._is_made(before.text) and self._is_made(root) and root not in known
            if is_made and value.type.ndim == 1 and not self._has_same_length(before, value):
                continue
            if is_made and known.count(before.text) == 1 and not self._has_other_lengths(before, value):
                self._copy_elements(node, before, value)
                given[k] = before
        return given

    def _has_same_length(self, a: Value, b: Value) -> bool:
        """Return whether it is known that arrays of one dimension are equally long."""
        lengths = self.dim(a.text, 0), self.dim(b.text, 0)
        return lengths[0].equals is not None and lengths[0].equals == lengths[1].equals

    def _may_give_copies(self, arrays: list[Value | None], before: tuple[Value | None, ...]) -> bool:
        """Return whether what several ways return, other arrays each, becomes the same if all is copied."""
        if not self.is_uniform_here() or len(arrays) != len(before):
            return False
        pairs = [pair for pair in zip(arrays, before) if pair[0] != pair[1]]
        return all(
            a is not None and b is not None and a.type == b.type and a.type.ndim == 1 and isinstance(a.type.of, Num)
            for a, b in pairs
        )

    def _copied_out(self, node: ast.expr, value: Value) -> tuple[Value, list[Value]] | None:
        """Give a copy of an array that is returned, in memory of its own; None if it is returned as it is.

        In functions within a kernel so are parts of arrays, too. Nobody can tell if the function has made the array; of
        one that it was passed, its callers take care that they change neither (`refuse_to_share`).
        """
        is_part = self.identity is not None and (value.text in self.parts or value.text in self.views)
        is_copied = self.copies_now and value.type.ndim == 1
        if not (is_copied or is_part) or self.in_arm or not self.is_uniform_here():
            return None
        root = self._root_of(value.text)
        is_whole = self.is_list_text(value.text)
        if self.is_of_list(value) and (is_whole or not self.is_own_list(replace(value, text=f"{root}__list"))):
            return None
        passed = {at for at, param in enumerate(self.params) if self.param_text(param.name) == root}
        if value.type.ndim > 1:
            if not isinstance(value.type.of, Num) or self.is_of_list(value):
                return None
            self.copied_of |= passed
            lengths = [self.dim(value.text, k) for k in range(value.type.ndim)]
            made = self.made_now(node, value.type.of, lengths, None, ast.unparse(node), True)
            self._copy_elements(node, made, value)
            return self.list_result(node, made)
        self.copied_of |= passed
        name, length = self.temporary("copy"), self.dim(value.text, 0)
        self.begin_list(name)
        own = self._with_type(name, self._grow(("list", name), value.type.of, node), ast.unparse(node))
        self.resize(own, length)
        self._copy_elements(node, own, value)
        return self.list_result(node, own)

    def refuse_to_share(self, node: ast.Call, name: str, result: Any, values: list[Value]) -> None:
        """Fail if an array that a function may return in Python, and here gives a copy of, is changed."""
        roots = {self._root_of(values[at].text) for at in result.copied}
        passed = {at for at, param in enumerate(self.params) if self.param_text(param.name) in roots}
        self.copied_of |= passed
        told = next((name for name in sorted(self.changed_names(node)) if self._stands_for(name, roots)), None)
        if told is not None:
            what = "the result" if told == RESULT else f"`{told}`"
            help = f"have `{name}` return copies, `return a.copy()`"
            self.fail(node, f"`{name}` may return an array that it is passed, and {what} is changed", "here", help)

    def _stands_for(self, name: str, roots: set[str]) -> bool:
        """Return whether a name that is changed is the result of a call, or stands for one of some arrays."""
        array = self.array_of(ast.Name(name, ast.Load())) if self._names_array(name) else None
        return array is None or self._root_of(array.text) in roots

    def _returned_part(self, node: ast.expr, value: Value) -> tuple[Value, list[Value]]:
        """Give the array that is returned, and which part of it: where it begins, its lengths and steps."""
        listed = self.list_result(node, value)
        if listed is not None:
            return listed
        if value.text not in self.parts and value.text not in self.views:
            return value, []
        if self.identity is not None or value.text in self.views:
            help = "return the whole array, and take the part where the function is called; or a copy, `a[1:].copy()`"
            self.fail(node, "a function in a kernel returns whole arrays", "this is a part of one", help)
        self.refuse_field(node, value)
        root, at, tests, _ = self._offset(value, [Value("0", INT, True, 0, 0, 0)] * value.type.ndim)
        begin = f"(({' && '.join(tests)}) ? {at} : {OUTSIDE})" if tests else f"({at})"
        lengths = [self.dim(value.text, axis).text for axis in range(value.type.ndim)]
        steps = [self._apart(value, axis)[0] for axis in range(value.type.ndim)]
        return replace(root, type=value.type), [
            Value(f"((int64)({text}))", INT, True) for text in (begin, *lengths, *steps)
        ]
