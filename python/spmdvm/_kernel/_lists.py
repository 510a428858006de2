"""Lists that grow, `xs.append(x)`: memory that the program asks for, with how many numbers there are and may be.

A list is read as a part of that memory, as long as there are numbers; each time its length is asked for it may be
another, so that all indices are tested. What a function has asked for it gives back wherever it returns, but for what
the kernel returns: the host copies it, and has it given back then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ._dict_tables import counts_of
from ._list_methods import CHANGING, ListMethods
from ._parts import Axis, Part
from ._trees import walk
from ._types import FLOAT64, INT, Array, Num, Tuple, named, strong
from ._values import LONGEST, Value, formed
from ._variables import spmd_name

# What stands for a list that is returned, and for an array that is made of one.
LIST, LISTED = "<list>", "<listed>"
# What a list stands for that a function was passed, with the name of the parameter.
GIVEN = "<given> "
_HELP = (
    "make an array that is long enough, `out = np.empty(len(a))`, and count what is in it (`out[n] = x`, `n += 1`); a "
    "part of it can be returned: `out[:n]`"
)


class Lists(ListMethods):
    """Translates lists; `Body` has what they need to know."""

    def starts_list(self, target: ast.expr, value: ast.expr) -> bool:
        """Translate `xs = []`, if it changes, `xs = [x] * n` and `xs = [… for … in …]`; return whether it is one."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return self._start_several(target, value)
        if not isinstance(target, ast.Name) or not self._is_list(target.id, value):
            return False
        self._need_order(target, target.id)
        made = self.listing(value)
        if made is None and isinstance(value, ast.ListComp):
            # It may be made of the list that has the name until then.
            made = self._comprehended(value)
        if made is not None:
            return self.takes_list(target, target.id, made)
        if isinstance(value, ast.BinOp):
            value, times = (value.left, value.right) if isinstance(value.left, ast.List) else (value.right, value.left)
            count = self.keep(self.integer(times, "how often a list is repeated"))
            numbers = [self.keep(self._element(each)) for each in value.elts]
            self.begin_list(target.id)
            counter = self.temporary("k")
            self.emit(f"for (uniform int64 {counter} = {count.text}; {counter} > 0; --{counter}) {{")
            self.indent += 1
            for number in numbers:
                self.push(target, target.id, number)
            self.indent -= 1
            self.emit("}")
        else:
            numbers = [self.keep(self._element(each)) for each in getattr(value, "elts", ())]
            self.begin_list(target.id)
            for number in numbers:
                self.push(target, target.id, number)
        return True

    def _start_several(self, target: ast.Tuple, value: ast.Tuple) -> bool:
        """Translate `xs, n = [], 0`; return whether there is a list that changes."""
        lists: list[tuple[ast.Name, list[Value] | Value]] = []
        others = []
        for at, of in zip(target.elts, value.elts):
            if isinstance(at, ast.Name) and self._is_list(at.id, of):
                self._need_order(at, at.id)
                made = self._comprehended(of) if isinstance(of, ast.ListComp) else self.listing(of)
                if made is None and not isinstance(of, ast.List):
                    help = f"write two statements: `{at.id} = {ast.unparse(of)}` is one of its own"
                    self.fail(of, "this list is made in a statement of its own", "here", help)
                lists.append((at, made or [self.keep(self._element(each)) for each in of.elts]))
            else:
                others.append((at, of))
        if lists and others:
            names, values = (ast.copy_location(ast.Tuple(list(each), ast.Load()), target) for each in zip(*others))
            self.do_Assign(ast.copy_location(ast.Assign([names], values), target))
        for at, numbers in lists:
            if isinstance(numbers, Value):
                self.takes_list(at, at.id, numbers)
                continue
            self.begin_list(at.id)
            for number in numbers:
                self.push(at, at.id, number)
        return bool(lists)

    def _is_list(self, name: str, value: ast.expr) -> bool:
        """Return whether a name comes to stand for a list: one that changes, or has a length that is computed."""
        if self.is_listing(value):
            return True
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
            return isinstance(value.left, ast.List) or isinstance(value.right, ast.List)
        return isinstance(value, ast.ListComp) or (isinstance(value, ast.List) and self._is_changed(name))

    def _need_order(self, node: ast.expr, name: str) -> None:
        """Fail unless statements are executed once, in order."""
        if self.in_foreach() or not self.uniform:
            where = "in a `foreach`" if self.in_foreach() else "where each element runs by itself"
            self.fail(node, f"a list cannot stand {where}", f"`{name}` would be another one for each element", _HELP)
        if name in self.given:
            help = f"give it another name; or empty it, `{name}.clear()`"
            self.fail(node, f"`{name}` is passed, and another list here", "who passes it keeps the old one", help)
        if name in self.regions[0].variables or name in self.regions[0].tuples or self._is_param(name):
            self.fail(node, f"`{name}` is a list here and something else in another place", "here", "use another name")

    def _is_param(self, name: str) -> bool:
        return any(param.name == name for param in self.params)

    def _element(self, node: ast.expr) -> Value:
        """Translate what a list holds: a number, or a tuple."""
        value = self.expression(node)
        return value if value.parts is not None else self._as_number(node, value)

    def begin_list(self, name: str) -> None:
        """Have a name stand for a list of nothing."""
        if name in self.list_forms:
            for own in self.lists_of(name):
                self.begin_list(own)
            self.regions[0].parts[name] = self.list_of_tuples(name)
            if self.assigned is not None:
                self.assigned.add(name)
            return
        if name not in self.lists:
            self.lists.append(name)
            text = spmd_name(name)
            of = self.types.get(("list", name), FLOAT64)
            root = Value(text, Array(of, 1), True)
            self.parts[f"{text}__list"] = Part(root, text, (Axis(Value("0", INT, True, 0, 0, 0), 1),))
            self.regions[0].parts[name] = replace(root, text=f"{text}__list")
            self.program.python_variables[text] = name
        if not self.is_given(name):
            self.emit(f"{spmd_name(name)}__list__n0 = 0;")
        if self.assigned is not None:
            self.assigned.add(name)

    def push(self, node: ast.expr, name: str, value: Value) -> None:
        """Add a number, or a tuple, at the end."""
        if value.parts is not None:
            return self.push_tuple(node, name, value)
        if not isinstance(value.type, Num):
            help = "keep its numbers, `xs.extend(a)`, or where it is found, `xs.append(i)`"
            self.fail(node, "lists in kernels are of numbers and tuples of them", f"this is {named(value.type)}", help)
        if name in self.list_forms:
            self.refuse_mixed(node, name)
        ty = self.list_type(node, name, value.type)
        text, spmd = spmd_name(name), ty.spmd
        count, most = f"{text}__list__n0", f"{text}__most"
        self._with_type(name, ty, name)
        number = self.keep(self.cast(value, ty, node))
        self.emit(f"if ({count} == {most}) {{")
        self.indent += 1
        self.demand(node, f"{most} < {LONGEST // 2}", "a list has fewer than 2**30 numbers")
        self.emit(f"{most} = {most} == 0 ? 8 : 2 * {most};")
        self.emit(f"{text} = {self._grown(spmd)}({text}, {count}, {most});")
        self.indent -= 1
        self.emit("}")
        self.emit(f"{text}[{count}] = {number.text};")
        self.emit(f"++{count};")
        return None

    def _grown(self, spmd: str) -> str:
        """Give the name of the function that gives longer memory for a list."""
        name, pointer = "py_grown", f"uniform {spmd} * uniform"
        self.program.has_lists = True
        self.program.support[f"{name} {spmd}"] = (
            f"static noinline {pointer} {name}({pointer} from, const uniform int n, const uniform int most) {{\n"
            f"    {pointer} longer = uniform new uniform {spmd}[most];\n"
            "    foreach (k = 0 ... n) longer[k] = from[k];\n"
            "    delete from;\n"
            "    return longer;\n"
            "}"
        )
        return name

    def list_named(self, node: ast.expr) -> str | None:
        """Give the name of the list that an expression is; None if it is something else."""
        return node.id if isinstance(node, ast.Name) and self.is_list(node.id) else None

    def is_list(self, name: str) -> bool:
        """Return whether a name stands for a list."""
        return name in self.lists or (name in self.list_forms and self.lists_of(name)[0] in self.lists)

    def changes_list(self, node: ast.Call) -> bool:
        """Translate `xs.append(x)` and its like; return whether it is one."""
        func = node.func
        name = self.list_named(func.value) if isinstance(func, ast.Attribute) else None
        if name is None:
            self._refuse_given(node)
            return False
        self.read_name(func.value)
        self._need_own(node, name)
        if len(node.args) not in CHANGING.get(func.attr, ()) or (node.keywords and func.attr != "sort"):
            self.refuse_method(node, name, func.attr)
        if func.attr == "append":
            self.push(node.args[0], name, self.expression(node.args[0]))
        elif func.attr == "clear":
            for own in self.lists_of(name):
                self.emit(f"{spmd_name(own)}__list__n0 = 0;")
        elif func.attr == "pop":
            self.popped(node)
        elif func.attr == "sort":
            self.want_type(func.value)
            self.put_in_order(node, name)
        elif func.attr == "reverse":
            self.want_type(func.value)
            self.reverse_list(name)
        elif func.attr == "insert":
            self.insert_in_list(node, name)
        elif func.attr == "remove":
            self.want_type(func.value)
            self.remove_from_list(node, name)
        else:
            self._extend(node, name, node.args[0])
        return True

    def _refuse_given(self, node: ast.Call) -> None:
        """Fail if a list changes that a function is given, which only reads it."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in CHANGING or func.attr == "sort":
            return
        of = func.value.id if isinstance(func.value, ast.Name) else None
        if any(name.partition("[")[0] == of for name in (*self.tuples, *(param.name for param in self.params))):
            help = f"return what is added, and add it where `{of}` is made: `{of} += f(…)`; or copy: `new = list({of})`"
            self.fail(node, f"`{of}` is passed here, and only read", "this changes a list", help)

    def _extend(self, node: ast.Call, name: str, values: ast.expr) -> None:
        if self.list_named(values) == name:
            self.fail(values, f"`{name}` is extended by itself", "it would not end", "copy it before")
        self.each_of(self.all_of(node, values), lambda at, number: self.push(at, name, number))

    def adds_to_list(self, node: ast.AugAssign) -> bool:
        """Translate `xs += [x, y]`; return whether a list is changed."""
        name = self.list_named(node.target)
        if name is None:
            return False
        self._need_own(node, name)
        if isinstance(node.op, ast.Add) and not isinstance(node.value, (ast.List, ast.Tuple)):
            self._extend(node, name, node.value)
            return True
        if not isinstance(node.op, ast.Add):
            self.fail(node, f"`{name}` is a list", "it takes what is added at its end", f"write `{name}.extend(…)`")
        for each in node.value.elts:
            self.push(each, name, self.expression(each))
        return True

    def _need_own(self, node: ast.expr, name: str) -> None:
        if self.in_foreach() or not self.uniform:
            self.fail(
                node, f"`{name}` changes in a `foreach`, whose elements all run at once", "in which order?", _HELP
            )

    def popped(self, node: ast.Call) -> Value | None:
        """Translate `xs.pop()`; None if it is something else."""
        func = node.func
        name = self.list_named(func.value) if isinstance(func, ast.Attribute) and func.attr == "pop" else None
        if name is None:
            return None
        self._need_own(node, name)
        if len(node.args) > 1 or node.keywords:
            self.refuse_method(node, name, "pop")
        uses = sum(isinstance(at, ast.Name) and at.id == name for at in walk(self.now))
        # (Of several that are taken each is taken in its turn.)
        pops = sum(isinstance(at, ast.Call) and self._pops(at, name) for at in walk(self.now))
        if self.in_arm or uses > pops:
            help = f"give the number a name before: `x = {name}.pop()`"
            self.fail(node, f"`{name}` changes in a statement in which it is used otherwise", "here", help)
        self.read_name(func.value)
        self.want_type(func.value)
        if node.args:
            return self.taken_from(node, name, node.args[0])
        taken = [self._taken(own) for own in self.lists_of(name)]
        form = self.list_forms.get(name)
        return taken[0] if form is None else formed(form, iter(taken))

    def _pops(self, node: ast.Call, name: str) -> bool:
        func = node.func
        is_pop = isinstance(func, ast.Attribute) and func.attr == "pop"
        return is_pop and isinstance(func.value, ast.Name) and func.value.id == name

    def _taken(self, name: str) -> Value:
        """Take the last number from a list."""
        array, count = self.regions[0].parts[name], f"{spmd_name(name)}__list__n0"
        text, _ = self.place_of(array, [Value(f"({count} - 1)", INT, True, -1, LONGEST)])
        value = self.keep(Value(text, array.type.of, True))
        self.emit(f"--{count};")
        return value

    def copied_list(self, node: ast.Call) -> Value | None:
        """Translate `np.array(xs)` of a list: a list that nobody changes; None if it is something else."""
        array = self.array_of(node.args[0]) if len(node.args) == 1 else None
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        dtype = given.pop("dtype", None)
        if array is None or array.type.ndim != 1 or not self.is_of_list(array) or given:
            return None
        if self.in_foreach() or self.in_arm:
            self.fail(node, "an array is made of a list before, once for all elements", "here", "give it a name before")
        of = None if dtype is None else self.annotation(dtype)
        if isinstance(array.type.of, Tuple):
            return self._rows_of_list(node, array, of)
        return self.array_of_list(self.all_of(node, node.args[0]), of)

    def _rows_of_list(self, node: ast.Call, array: Value, of: Num | None) -> Value:
        """Give an array with a row for each of the tuples in a list."""
        form, columns = self.columns_of(array)
        if form.parts != (None,) * len(columns):
            self.refuse_tuples(node.args[0], array)
        given = ast.copy_location(ast.Tuple([self.standing_for(node, column) for column in columns], ast.Load()), node)
        made = self.joined(ast.copy_location(ast.Call(node.func, [given], []), node), np.column_stack)
        return made if of in (None, made.type.of) else self.copied(node, self.standing_for(node, made), strong(of))

    def array_of_list(self, listed: ast.ListComp, of: Num | None) -> Value:
        """Give an array of as many numbers as turn out to be: a list without a name, which nobody changes."""
        made = self.temporary("copy")
        self.begin_list(made)

        def push(node: ast.expr, value: Value) -> None:
            number = self._as_number(node, value)
            self.push(node, made, self.convert(node, number, strong(of or number.type)))

        self.each_of(listed, push)
        return self.regions[0].parts[made]

    def made_now(
        self, node: ast.expr, of: Num, lengths: list[Value], fill: Value | None, name: str, always: bool = False
    ) -> Value | None:
        """Make an array whose lengths are known at run time only, a list of so many numbers; None if it is another."""
        is_known = all(length.before is not None for length in lengths) and not always
        if not lengths or is_known or self.in_arm or not self.is_uniform_here():
            return None
        if len(lengths) > 1:
            return self._made_of_rows(node, of, lengths, fill, name)
        length, made = self.keep(lengths[0]), self.temporary("copy")
        self.begin_list(made)
        # (Of an array that is computed the type turns out later, in each pass.)
        self.types["list", made] = of
        array = self._with_type(made, of, name)
        what = f"the length of `{ast.unparse(node)}` is not negative, and less than 2**30"
        self.demand(node, f"{length.text} >= 0 && {length.text} < {LONGEST // 2}", what)
        self.resize(array, length)
        if fill is not None:
            at = self.temporary("at")
            self.emit(f"foreach ({at} = 0 ... {array.text}__n0) {spmd_name(made)}[{at}] = {fill.text};")
        return array

    def _made_of_rows(
        self, node: ast.expr, of: Num, lengths: list[Value], fill: Value | None, name: str
    ) -> Value | None:
        """Make an array of several dimensions likewise: one row after another in a list."""
        lengths = [self.keep(length) for length in lengths]
        size = " * ".join(f"(int64){length.text}" for length in lengths)
        # (So that the product is one of 64 bits, each of them is tested before.)
        tests = " && ".join(f"{length.text} >= 0 && {length.text} < {LONGEST // 2}" for length in lengths)
        known = " && ".join(f"{length.text} > 0" for length in lengths)
        what = f"the lengths of `{ast.unparse(node)}` are not negative, and there are fewer than 2**30 elements"
        product = " * ".join(f"(double){length.text}" for length in lengths)
        self.demand(node, f"{tests} && (!({known}) || {product} < {float(LONGEST // 2)}d)", what)
        flat = self.made_now(node, of, [self.keep(Value(f"({size})", INT, True, 0, LONGEST))], fill, name)
        return self.in_shape(flat, lengths)

    def resize(self, array: Value, length: Value) -> None:
        """Have a list be as long, of whatever numbers."""
        text = self._root_of(array.text)
        count, most = f"{array.text}__n0", f"{text}__most"
        self.emit(f"{count} = (uniform int){length.text};")
        self.emit(f"if ({count} > {most}) {{")
        self.emit(f"    {most} = {count};")
        self.emit(f"    {text} = {self._grown(array.type.of.spmd)}({text}, 0, {most});")
        self.emit("}")

    def is_of_rows(self, array: Value) -> bool:
        """Return whether an array is one of several dimensions whose lengths the kernel has computed."""
        part = self.parts.get(array.text)
        return part is not None and part.is_flat and array.type.ndim > 1 and self.is_own_list(part.array)

    def list_in_type(self, text: str, of: Num) -> None:
        """Have a list be of a type that has turned out only after it was made."""
        name = next(name for name in self.lists if spmd_name(name) == text)
        self.types["list", name] = of
        self._grown(of.spmd)
        self._with_type(name, of, self.program.python_variables[text])

    def is_own_list(self, array: Value) -> bool:
        """Return whether an array is a list as a whole that is no list in Python, as it has no other name."""
        return self.is_list_text(array.text) and array.text.startswith("v_copy__")

    def given_list(self, node: ast.expr, array: Value, numbers: Iterator[Value]) -> Value:
        """Have the list, or array of one, that a function returns, whose memory is this function's now."""
        of, is_list, address, count = array.type.of, array.text == LIST, next(numbers), next(numbers)
        lengths = [next(numbers) for _ in range(array.type.ndim)] if array.type.ndim > 1 else []
        made = self.new_list(node) if is_list else self.temporary("copy")
        self.begin_list(made)
        ty = self._grow(("list", made), of, node)
        text = spmd_name(made)
        self.emit(f"delete {text};")
        self.emit(f"{text} = (uniform {ty.spmd} * uniform){address.text};")
        self.emit(f"{text}__list__n0 = {text}__most = (uniform int){count.text};")
        given = self._with_type(made, ty, made)
        return self.in_shape(given, lengths) if lengths else given

    def _with_type(self, name: str, of: Num, shown: str) -> Value:
        """Give a list whose type is known."""
        array = self.regions[0].parts[name] = replace(self.regions[0].parts[name], type=Array(of, 1))
        part = self.parts[array.text]
        self.parts[array.text] = part._replace(array=replace(part.array, type=Array(of, 1)))
        self.program.python_variables[spmd_name(name)] = shown
        return array

    def is_of_list(self, array: Value) -> bool:
        """Return whether an array is a list, or a part of one."""
        root = self._root_of(array.text)
        return any(root == spmd_name(name) for name in self.lists)

    # Results, and memory.

    def returned_list(self, node: ast.expr) -> Value | None:
        """Give a list that is returned, `xs` or `[… for … in …]`; None if it is something else."""
        if self.list_named(node) is not None:
            return self.read_name(node)
        if not self.uniform or self.in_arm or self.in_foreach():
            return None
        return self._comprehended(node) if isinstance(node, ast.ListComp) else self.listing(node)

    def _comprehended(self, node: ast.ListComp) -> Value:
        """Give the list that a comprehension makes."""
        name = self.new_list(node)
        self.each_of(node, lambda at, value: self.push(at, name, value))
        return self.regions[0].parts[name]

    def list_result(self, node: ast.expr, value: Value) -> tuple[Value, list[Value]] | None:
        """Give what a list that is returned stands for, and where it lies and how long it is; None of another array."""
        is_of_rows = self.is_of_rows(value)
        text = self.parts[value.text].array.text if is_of_rows else value.text
        name = next((name for name in self.lists if text == f"{spmd_name(name)}__list"), None)
        if name is None and self.is_of_list(value):
            root = self._root_of(value.text)
            if root.startswith("v_copy__"):
                # Nobody else has the array that it is a part of.
                return self.list_result(node, self.copy_of(node, value))
            self.fail(node, "a list is returned as a whole", "this is a part of one", "copy it: `np.array(xs[1:])`")
        if name is None:
            return None
        if self.is_given(name) and name in self.given:
            # Who has passed it has it.
            return Value(f"{GIVEN}{name}", Array(strong(value.type.of), 1), True), []
        if self.is_given(name):
            own = name.partition("[")[0]
            help = f"it is changed where it is; or return a copy: `list({own})`"
            self.fail(node, f"`{own}` is passed, and returned", "it would have two names", help)
        is_copy, of = name.startswith("copy__"), self.borrowed(name)
        if of is not None:
            # It may be the array that was passed.
            self.copied_of |= {at for at, param in enumerate(self.params) if param.name == of}
        if is_copy and (name in self.given_away or of is not None):
            return self.list_result(node, self.copy_of(node, value))
        if name in self.given_away:
            self.fail(node, f"`{name}` is returned twice", "here", f"copy it: `np.array({name})`")
        self.given_away.add(name)
        of, text = strong(value.type.of), spmd_name(name)
        if self.identity is None:
            self._have_taken(of)
        numbers = [Value(f"((uniform int64){text})", INT, True), Value(f"((int64){text}__list__n0)", INT, True)]
        # (One of several dimensions has its lengths, too.)
        lengths = [self.dim(value.text, axis).text for axis in range(value.type.ndim)] if is_of_rows else []
        numbers += [Value(f"((int64){length})", INT, True) for length in lengths]
        return Value(LISTED if is_copy else LIST, Array(of, value.type.ndim), True), numbers

    def _have_taken(self, of: Num) -> None:
        """Add the function by which the host takes the numbers of a list, and gives back its memory."""
        # (Complex numbers are two.)
        take, pointer = f"take__{of.part.spmd}", f"uniform {of.part.spmd} * uniform"
        self.program.support[take] = (
            f"export void {take}(uniform int64 from, uniform int n, uniform {of.part.spmd} out[]) {{\n"
            f"    {pointer} list = ({pointer})from;\n"
            "    foreach (k = 0 ... n) out[k] = list[k];\n"
            "    delete list;\n"
            "}"
        )

    def free_lists(self, values: list[Value]) -> list[Value]:
        """Give the memory of lists back before a return of values, which are computed before."""
        if not self.known_lists:
            self.given_away = set()
            return values
        kept = [value if value.text.startswith("((uniform int64)") else self.keep(value) for value in values]
        for name in sorted(self.known_lists - self.given_away):
            if self.is_given(name):
                continue
            if self.borrowed(name) is not None:
                self.emit(f"if ({spmd_name(name)}__own) delete {spmd_name(name)};")
                continue
            self.emit(f"delete {spmd_name(name)};")
        self.given_away = set()
        return kept

    def list_declarations(self) -> list[str]:
        """Write the variables of the lists."""
        declared = []
        for name in self.lists:
            if self.is_given(name):
                continue
            text, of = spmd_name(name), self.types.get(("list", name), FLOAT64)
            declared.append(f"uniform {of.spmd} * uniform {text} = NULL;")
            declared.append(f"uniform int {text}__list__n0 = 0, {text}__most = 0;")
        own = (name for name in self.dicts if name not in self.given)
        declared += [f"uniform int {count} = 0;" for name in own for count in counts_of(name)]
        return declared

    def is_list_text(self, text: str) -> bool:
        """Return whether a list has such a name in the text."""
        return text.endswith("__list") and any(text == f"{spmd_name(name)}__list" for name in self.lists)

    def refuse_other_list(self, node: ast.expr, name: str, value: Value) -> None:
        """Fail if a name that is assigned is a list, or would be another name of one."""
        if self.is_list(name):
            help = f"copy: `{name} = []`, `{name}.extend(…)`; or use another name"
            self.fail(node, f"`{name}` is a list that changes, and something else here", "here", help)
        is_array = value.parts is None and isinstance(value.type, Array)
        if is_array and self.is_of_list(value) and not self._root_of(value.text).startswith("v_copy__"):
            help = f"copy it: `{name} = np.array(…)`; or `{name} = []`, `{name}.extend(…)`"
            self.fail(node, "a list that changes has one name in a kernel", "this is another, or a part", help)

    def refuse_lists(self, node: ast.expr) -> None:
        """Fail if an operator takes lists, which are no arrays."""
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
        for side in sides:
            if self.list_named(side) is not None:
                help = f"compute with an array: `np.array({ast.unparse(side)})`; or write the loop"
                self.fail(side, "operators take no lists in a kernel", "here", help)
