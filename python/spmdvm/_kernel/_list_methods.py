"""What changes lists besides their end, and looks for values in them: `insert`, `pop(i)`, `sort`, `index` and others.

Of a list of tuples all lists of numbers change alike. Sorting is a merge sort of the places, which compares as Python
compares tuples: the first numbers that differ tell.
"""

from __future__ import annotations

import ast
from typing import Any

from ._list_values import ListValues
from ._types import INT, Num
from ._values import LONGEST, Value, formed
from ._variables import spmd_name

# Methods that change a list, each with the numbers of arguments that it takes.
CHANGING = {
    "append": (1,), "extend": (1,), "insert": (2,), "pop": (0, 1), "remove": (1,), "clear": (0,), "sort": (0,),
    "reverse": (0,),
}  # fmt: skip
_ASKING = ("index", "count")


class ListMethods(ListValues):
    """Translates methods of lists; `Body` has what they need to know."""

    # Order.

    def put_in_order(self, node: ast.Call, name: str) -> None:
        """Put a list in order, as `xs.sort(key=…, reverse=…)` and `sorted` do."""
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        unknown = next((of for arg, of in given.items() if arg not in ("key", "reverse")), None)
        if unknown is not None:
            self.fail(unknown, "a list is put in order by `key=` and `reverse=`", "this is something else")
        key, backwards = given.get("key"), given.get("reverse")
        key = None if key is not None and self._found_at(key) is None else key
        if ("list", self.lists_of(name)[0]) not in self.types:
            return
        is_plain = backwards is None or (isinstance(backwards, ast.Constant) and not backwards.value)
        if key is None and is_plain and name not in self.list_forms:
            self.sort_in_place(node, self.regions[0].parts[name])
            return
        keys = name if key is None else self._keys_of(node, name, key)
        is_back = "false" if backwards is None else self.truth(backwards)
        columns = self.lists_of(keys)
        types = [self.types["list", own] for own in columns]
        if any(ty.kind == "c" for ty in types):
            self.fail(node, "complex numbers have no order", "these are in the list", "sort by their magnitudes")
        order, texts = self.temporary("order"), [spmd_name(own) for own in self.lists_of(name)]
        count = f"{texts[0]}__list__n0"
        lists = ", ".join(spmd_name(own) for own in columns)
        self.emit(f"if ({count} > 1) {{")
        self.indent += 1
        self.emit(f"uniform int * uniform {order} = {self._ordering(types)}({lists}, {count}, {is_back});")
        for own, text in zip(self.lists_of(name), texts):
            self.emit(f"{text} = {self._taking(self.types['list', own])}({text}, {order}, {count}, {text}__most);")
        self.emit(f"delete {order};")
        self.indent -= 1
        self.emit("}")

    def _keys_of(self, node: ast.Call, name: str, key: ast.expr) -> str:
        """Make a list of what a function gives for each value of a list; give its name."""
        each = self.all_of(node, self.standing_for(node, self.regions[0].parts[name]))
        if isinstance(key, ast.Lambda):
            takes = key.args.args
            if len(takes) != 1 or key.args.defaults or key.args.vararg or key.args.kwonlyargs or key.args.posonlyargs:
                self.fail(key, "what gives the keys takes one value", "here")
            store = ast.copy_location(ast.Name(takes[0].arg, ast.Store()), key)
            each = ast.ListComp(key.body, [ast.comprehension(store, each.generators[0].iter, [], 0)])
        else:
            each.elt = self.called_for(key, each.elt)
        keys = self.new_list(node)
        self.each_of(ast.copy_location(each, node), lambda at, value: self.push(at, keys, value))
        return keys

    def _ordering(self, types: list[Num]) -> str:
        """Give the name of the function that gives the order of what lists of such types have."""
        name = "py_order_" + "_".join(ty.spmd for ty in types)
        given = ", ".join(f"uniform {ty.spmd} * uniform a{k}" for k, ty in enumerate(types))
        lists = ", ".join(f"a{k}" for k in range(len(types)))
        tests = []
        for k, ty in enumerate(types):
            x, y = (f"(uniform int)a{k}[{at}]" if ty.kind == "b" else f"a{k}[{at}]" for at in ("i", "j"))
            tests.append(f"    if ({x} != {y}) return {x} < {y};\n")
        self.program.support[name] = (
            f"static inline uniform bool {name}_before({given}, const uniform int i, const uniform int j) {{\n"
            f"{''.join(tests)}    return false;\n}}\n"
            f"static noinline uniform int * uniform {name}({given}, const uniform int n, const uniform bool back) {{\n"
            "    uniform int * uniform at = uniform new uniform int[n];\n"
            "    uniform int * uniform to = uniform new uniform int[n];\n"
            "    foreach (k = 0 ... n) at[k] = k;\n"
            "    for (uniform int width = 1; width < n; width *= 2) {\n"
            "        for (uniform int first = 0; first < n; first += 2 * width) {\n"
            "            const uniform int middle = min(first + width, n);\n"
            "            const uniform int last = min(middle + width, n);\n"
            "            uniform int i = first, j = middle;\n"
            "            for (uniform int k = first; k < last; ++k) {\n"
            "                uniform bool takes_left = i < middle;\n"
            "                if (takes_left && j < last) {\n"
            f"                    if (back) takes_left = !{name}_before({lists}, at[i], at[j]);\n"
            f"                    else takes_left = !{name}_before({lists}, at[j], at[i]);\n"
            "                }\n"
            "                if (takes_left) { to[k] = at[i]; ++i; }\n"
            "                else { to[k] = at[j]; ++j; }\n"
            "            }\n"
            "        }\n"
            "        uniform int * uniform other = at;\n"
            "        at = to;\n"
            "        to = other;\n"
            "    }\n"
            "    delete to;\n"
            "    return at;\n"
            "}"
        )
        return name

    def _taking(self, ty: Num) -> str:
        """Give the name of the function that gives the numbers of a list in another order."""
        name, pointer = f"py_taken_{ty.spmd}", f"uniform {ty.spmd} * uniform"
        self.program.support[name] = (
            f"static noinline {pointer} {name}({pointer} from, uniform int * uniform at, const uniform int n, "
            "const uniform int most) {\n"
            f"    {pointer} taken = uniform new uniform {ty.spmd}[most];\n"
            "    for (uniform int k = 0; k < n; ++k) taken[k] = from[at[k]];\n"
            "    delete from;\n"
            "    return taken;\n"
            "}"
        )
        return name

    def reverse_list(self, name: str) -> None:
        """Translate `xs.reverse()`."""
        for own in self.lists_of(name):
            ty = self.types.get(("list", own))
            if ty is None:
                continue
            text, helper = spmd_name(own), f"py_reversed_{ty.spmd}"
            self.program.support[helper] = (
                f"static noinline void {helper}(uniform {ty.spmd} * uniform a, const uniform int n) {{\n"
                "    for (uniform int k = 0; k < n / 2; ++k) {\n"
                f"        const uniform {ty.spmd} x = a[k];\n"
                "        a[k] = a[n - 1 - k];\n"
                "        a[n - 1 - k] = x;\n"
                "    }\n"
                "}"
            )
            self.emit(f"{helper}({text}, {text}__list__n0);")

    # Places.

    def insert_in_list(self, node: ast.Call, name: str) -> None:
        """Translate `xs.insert(i, x)`, of an index that Python moves into the list."""
        at = self.keep(self.integer(node.args[0], "an index"))
        value = self.keep(self._element(node.args[1]))
        count, place = self.temporary("count"), self.temporary("at")
        first = spmd_name(self.lists_of(name)[0])
        if value.parts is not None and name not in self.list_forms:
            self.have_form(node.args[1], name, value.form)
            first = spmd_name(self.lists_of(name)[0])
        self.emit(f"const uniform int {count} = {first}__list__n0;")
        wide = f"(int64){at.text}"
        self.emit(f"uniform int64 {place} = {wide} < 0 ? {wide} + {count} : {wide};")
        self.emit(f"{place} = {place} < 0 ? (int64)0 : {place} > {count} ? (int64){count} : {place};")
        self.push(node.args[1], name, value)
        for own, leaf in zip(self.lists_of(name), value.leaves):
            text, ty = spmd_name(own), self.types["list", own]
            size = f"({count} - {place}) * sizeof(uniform {ty.spmd})"
            self.emit(f"memmove64({text} + {place} + 1, {text} + {place}, {size});")
            self.emit(f"{text}[{place}] = {self.cast(leaf, ty, node).text};")

    def taken_from(self, node: ast.AST, name: str, index: ast.expr) -> Value:
        """Translate `xs.pop(i)`."""
        at = self.keep(self.integer(index, "an index"))
        count = f"{spmd_name(self.lists_of(name)[0])}__list__n0"
        place = self.temporary("at")
        self.emit(
            f"const uniform int64 {place} = (int64){at.text} < 0 ? (int64){at.text} + {count} : (int64){at.text};"
        )
        self.raise_unless(node, f"{count} > 0", IndexError, "pop from empty list")
        self.raise_unless(node, f"{place} >= 0 && {place} < {count}", IndexError, "pop index out of range")
        taken = [self._closed(own, place) for own in self.lists_of(name)]
        form = self.list_forms.get(name)
        return taken[0] if form is None else formed(form, iter(taken))

    def _closed(self, name: str, place: str) -> Value:
        """Take a number out of a list; those behind it move up."""
        text, ty = spmd_name(name), self.regions[0].parts[name].type.of
        value = self.keep(Value(f"{text}[{place}]", ty, True))
        self.emit(f"--{text}__list__n0;")
        size = f"({text}__list__n0 - {place}) * sizeof(uniform {ty.spmd})"
        self.emit(f"memmove64({text} + {place}, {text} + {place} + 1, {size});")
        return value

    def remove_from_list(self, node: ast.Call, name: str) -> None:
        """Translate `xs.remove(x)`."""
        place = self._place_among(node, name, node.args[0])
        self.raise_unless(node, f"{place} >= 0", ValueError, "list.remove(x): x not in list")
        for own in self.lists_of(name):
            self._closed(own, place)

    def do_Delete(self, node: ast.Delete) -> None:
        """`del xs[i]`."""
        for target in node.targets:
            if self.deletes_item(target):
                continue
            name = self.list_named(target.value) if isinstance(target, ast.Subscript) else None
            if name is None:
                help = "variables end with the function"
                self.fail(node, "`del` takes an element of a list or dict in a kernel", "not supported", help)
            if isinstance(target.slice, ast.Slice):
                help = f"take what is left: `{name} = {name}[:i] + {name}[j:]`"
                self.fail(target, "`del` takes one element of a list in a kernel", "these are several", help)
            self._need_own(node, name)
            self.want_type(target.value)
            self.taken_from(node, name, target.slice)

    # What is in a list.

    def asked_of_list(self, node: ast.Call) -> Value | None:
        """Translate `xs.index(x)` and `xs.count(x)`; None if it is something else."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in _ASKING:
            return None
        name = self.list_named(func.value)
        if name is None:
            return None
        if len(node.args) != 1 or node.keywords:
            self.fail(node, f"`{func.attr}` takes a value in a kernel", "something else here")
        if self.in_arm:
            self.fail(node, "a list is searched in what may not be computed", "here", "give it a name before")
        self.want_type(func.value)
        place = self._place_among(node, name, node.args[0], func.attr == "count")
        if func.attr == "index":
            self.raise_unless(node, f"{place} >= 0", ValueError, "list.index(x): x not in list")
        return Value(place, INT, True, 0, LONGEST)

    def _place_among(self, node: ast.Call, name: str, sought: ast.expr, counts: bool = False) -> str:
        """Write a search for the first of some values that are equal, -1 if there is none; or how many there are."""
        value = self.keep(self._element(sought))
        array, found, counter = self.regions[0].parts[name], self.temporary("found"), self.temporary("k")
        length = self.dim(array.text, 0)
        self.emit(f"uniform int {found} = {0 if counts else -1};")
        self.emit(self.loop_to(counter, length))
        self.indent += 1
        below = (length.equals[0], 0)
        _, item = self._elements_of(node.func.value, array)
        each = item(Value(counter, INT, True, 0, LONGEST, below=below))
        test = self.comparison(node, "==", each, value)
        self.emit(f"if ({test}) {'++' + found + ';' if counts else '{ ' + found + ' = ' + counter + '; break; }'}")
        self.indent -= 1
        self.emit("}")
        return found

    def refuse_method(self, node: ast.Call, name: str, attr: str) -> Any:
        """Fail because a list has no such method in a kernel, or not with such arguments."""
        known = ", ".join(f"`{each}`" for each in (*CHANGING, *_ASKING, "copy"))
        help = f"lists in kernels have {known}; else write the loop"
        self.fail(node, f"`{name}` has no such `{attr}` in a kernel", "not supported", help)
