"""Where dicts and sets have their keys: an index by hashes, into lists of keys and values in the order of insertion.

This is the compact dict of CPython (Hettinger, 2012): the index is an open-addressing table, with linear probing, of
places in the lists. A key that is taken out leaves `GONE` in the index, and its place in the lists, until the index is
made anew, or somebody goes over the dict; the last one leaves no place in the lists if `popitem` takes it. Functions
are written for the types of the keys, and once for a key that is the same in all lanes, and once for a key of each.
"""

from __future__ import annotations

from typing import Any

from ._types import INT, NUMBERS, Num
from ._values import Value
from ._variables import spmd_name

# What the index has where there never was a key, and where one has been taken out.
FREE, GONE = -1, -2
# No dict has more keys, so that the index has fewer than 2**30 places.
MOST_KEYS = 2**28
# Multiplied by this, keys that lie together lie apart (Knuth, volume 3, section 6.4).
_GOLDEN = "0x9E3779B97F4A7C15ull"


def items_of(name: str) -> str:
    """Give the name of the list of what a dict has: its keys, with their values."""
    return f"{name}.items"


def index_of(name: str) -> str:
    """Give the name of the list that is the index of a dict."""
    return f"{name}.index"


def gone_of(name: str) -> str:
    """Give the variable that counts which places in the lists are no keys any more."""
    return f"{spmd_name(index_of(name))}__gone"


def spent_of(name: str) -> str:
    """Give the variable that counts which places of the index nobody uses, besides those of keys that are gone."""
    return f"{spmd_name(index_of(name))}__spent"


def counts_of(name: str) -> tuple[str, str]:
    """Give the variables that a dict has besides those of its lists."""
    return gone_of(name), spent_of(name)


def kind_of_key(ty: Num) -> str:
    """Give what is equal among keys: all integers are, but for those beyond int64, and floats of one type."""
    if ty.kind in "iu":
        return "uint64" if ty.name == "uint64" else "integer"
    return "bool" if ty.kind == "b" else NUMBERS[f"float{ty.bits}"].name if ty.kind == "f" else str(ty)


def sought_as(ty: Num) -> Num:
    """Give the type as which a key is sought."""
    return INT if kind_of_key(ty) == "integer" else ty


class DictTables:
    """Writes what finds keys, adds them and takes them out; `Body` has what it needs to know."""

    def key_lists(self, name: str) -> list[str]:
        """Give the lists of the numbers of keys."""
        return self.lists_of(items_of(name))[: self.key_count(name)]

    def value_lists(self, name: str) -> list[str]:
        """Give the lists of the numbers of values."""
        return self.lists_of(items_of(name))[self.key_count(name) :]

    def key_count(self, name: str) -> int:
        """Of how many numbers a key is made."""
        first = self.list_forms[items_of(name)].parts[0]
        return 1 if first is None else first.count

    def used(self, name: str) -> str:
        """Give the variable with how many places of the lists are used."""
        return f"{spmd_name(self.lists_of(items_of(name))[0])}__list__n0"

    def count_text(self, name: str) -> str:
        """Give how many keys there are."""
        return f"({self.used(name)} - {gone_of(name)})"

    def _index_text(self, name: str) -> tuple[str, str]:
        """Give the variables that are the index, and how many places it has."""
        text = spmd_name(index_of(name))
        return text, f"{text}__list__n0"

    def _types_of(self, name: str) -> list[Num]:
        return [self.types["list", own] for own in self.key_lists(name)]

    def _keys_text(self, name: str) -> str:
        return ", ".join(spmd_name(own) for own in self.key_lists(name))

    def found_text(self, name: str, key: list[Value]) -> str:
        """Give the place of a key in the lists, -1 if it has none; the key is as it is sought."""
        uniform = all(value.uniform for value in key)
        index, size = self._index_text(name)
        types = self._types_of(name)
        helper = self._finder(types, uniform)
        probes = ", ".join(value.text for value in key)
        return f"{helper}({index}, {size}, {self._keys_text(name)}, {probes})"

    def note_key(self, name: str, place: str, key: list[Value]) -> None:
        """Write that the index has a new key, which is in a place of the lists."""
        index, size = self._index_text(name)
        helper = self._walker(self._types_of(name), "noted")
        probes = ", ".join(value.text for value in key)
        self.emit(f"{helper}({index}, {size}, {place}, {probes});")

    def drop_key(self, name: str, place: str, key: list[Value]) -> None:
        """Write that a key is taken out, which is in a place of the lists."""
        index, size = self._index_text(name)
        helper = self._walker(self._types_of(name), "dropped")
        probes = ", ".join(value.text for value in key)
        self.emit(f"{helper}({index}, {size}, {place}, {probes});")
        self.emit(f"++{gone_of(name)};")
        self._clear_if_empty(name)

    def _clear_if_empty(self, name: str) -> None:
        self.emit(f"if ({gone_of(name)} == {self.used(name)}) {{")
        self.indent += 1
        self.clear_table(name)
        self.indent -= 1
        self.emit("}")

    def place_of_last(self, name: str) -> str:
        """Write where the key is that was added last; there is one. Give the variable that has its place."""
        used, gone, place, types = self.used(name), gone_of(name), self.temporary("place"), self._types_of(name)
        last = [
            Value(f"(({sought_as(ty).spmd}){spmd_name(own)}[{used} - 1])", sought_as(ty), True)
            for own, ty in zip(self.key_lists(name), types)
        ]
        # What has gone from the end leaves no place there.
        self.emit(f"while ({gone} > 0 && {self.found_text(name, last)} != {used} - 1) {{")
        self.indent += 1
        self._shorten(name)
        self.emit(f"--{gone};")
        self.indent -= 1
        self.emit("}")
        self.emit(f"const uniform int {place} = {used} - 1;")
        return place

    def drop_last(self, name: str, key: list[Value]) -> None:
        """Write that the last key is taken out, which is at the end of the lists."""
        index, size = self._index_text(name)
        helper = self._walker(self._types_of(name), "dropped")
        probes = ", ".join(self.cast(leaf, sought_as(leaf.type), None).text for leaf in key)
        self.emit(f"{helper}({index}, {size}, {self.used(name)} - 1, {probes});")
        self._shorten(name)
        self._clear_if_empty(name)

    def _shorten(self, name: str) -> None:
        """Write that the lists are shorter by a place, which the index has no more."""
        for own in self.lists_of(items_of(name)):
            self.emit(f"--{spmd_name(own)}__list__n0;")
        self.emit(f"++{spent_of(name)};")

    def clear_table(self, name: str) -> None:
        """Write that there are no keys."""
        for own in self.lists_of(items_of(name)):
            self.emit(f"{spmd_name(own)}__list__n0 = 0;")
        self.emit(f"{self._index_text(name)[1]} = 0;")
        for count in counts_of(name):
            self.emit(f"{count} = 0;")

    def make_room(self, node: Any, name: str) -> None:
        """Write that the index has room for one more key: at most two thirds of it are used."""
        used, size = self.used(name), self._index_text(name)[1]
        self.emit(f"if (({used} + {spent_of(name)}) * 3 >= {size} * 2) {{")
        self.indent += 1
        self.demand(node, f"{used} < {MOST_KEYS}", "a dict or a set has fewer than 2**28 keys")
        self._close_gaps(name)
        self.index_anew(name)
        self.indent -= 1
        self.emit("}")

    def have_no_gaps(self, name: str) -> None:
        """Write that all places of the lists are of keys, in their order."""
        self.emit(f"if ({gone_of(name)} > 0) {{")
        self.indent += 1
        self._close_gaps(name)
        self.index_anew(name)
        self.indent -= 1
        self.emit("}")

    def _close_gaps(self, name: str) -> None:
        index, size = self._index_text(name)
        used, gone, kept = self.used(name), gone_of(name), self.temporary("kept")
        self.program.support["py_kept"] = _KEPT
        self.emit(f"if ({gone} > 0) {{")
        self.indent += 1
        self.emit(f"uniform int * uniform {kept} = py_kept({index}, {size}, {used});")
        lists = self.lists_of(items_of(name))
        for own in lists:
            text, count = spmd_name(own), f"{used} - {gone}"
            self.emit(f"{text} = {self._taking(self.types['list', own])}({text}, {kept}, {count}, {text}__most);")
        for own in reversed(lists):
            self.emit(f"{spmd_name(own)}__list__n0 = {used} - {gone};")
        self.emit(f"{gone} = 0;")
        self.emit(f"delete {kept};")
        self.indent -= 1
        self.emit("}")

    def index_anew(self, name: str) -> None:
        """Write that the index is made of the keys in the lists, of which none is gone."""
        index, size = self._index_text(name)
        used, types = self.used(name), self._types_of(name)
        helper = "py_indexed_" + _suffix(types)
        walker = self._walker(types, "noted")
        given = ", ".join(f"uniform {ty.spmd} * uniform a{k}" for k, ty in enumerate(types))
        probes = ", ".join(f"({sought_as(ty).spmd})a{k}[at]" for k, ty in enumerate(types))
        self.program.support["py_places"] = _PLACES
        self.program.support[helper] = (
            f"static noinline uniform int * uniform {helper}(const uniform int size, const uniform int n, {given}) {{\n"
            "    uniform int * uniform index = uniform new uniform int[size];\n"
            f"    foreach (k = 0 ... size) index[k] = {FREE};\n"
            f"    for (uniform int at = 0; at < n; ++at) {walker}(index, size, at, {probes});\n"
            "    return index;\n"
            "}"
        )
        self.emit(f"{size} = py_places({used});")
        self.emit(f"{spent_of(name)} = 0;")
        self.emit(f"delete {index};")
        self.emit(f"{index} = {helper}({size}, {used}, {self._keys_text(name)});")

    def _finder(self, types: list[Num], uniform: bool) -> str:
        """Give the name of the function that finds a key."""
        shape = "uniform " if uniform else ""
        name = f"py_found_{'' if uniform else 'each_'}{_suffix(types)}"
        lists = ", ".join(f"uniform {ty.spmd} * uniform a{k}" for k, ty in enumerate(types))
        probes = ", ".join(f"const {shape}{sought_as(ty).spmd} x{k}" for k, ty in enumerate(types))
        pairs = (
            (f"(int)a{k}[at]", f"(int)x{k}") if ty.kind == "b" else (f"a{k}[at]", f"x{k}") for k, ty in enumerate(types)
        )
        test = " && ".join(f"{a} == {x}" for a, x in pairs)
        self.program.support[name] = (
            f"static inline {shape}int {name}(uniform int * uniform index, const uniform int size, {lists}, {probes}) "
            "{\n"
            "    if (size == 0) return -1;\n"
            f"{_hash(types, shape)}"
            "    while (true) {\n"
            f"        const {shape}int at = index[slot];\n"
            f"        if (at == {FREE}) return -1;\n"
            "        if (at >= 0) {\n"
            f"            if ({test}) return at;\n"
            "        }\n"
            "        slot = (slot + 1) & (size - 1);\n"
            "    }\n"
            "}"
        )
        return name

    def _walker(self, types: list[Num], what: str) -> str:
        """Give the name of the function that notes the place of a new key in the index, or forgets that of one."""
        name = f"py_{what}_{_suffix(types)}"
        probes = ", ".join(f"const uniform {sought_as(ty).spmd} x{k}" for k, ty in enumerate(types))
        test, new = ("index[slot] >= 0", "at") if what == "noted" else ("index[slot] != at", str(GONE))
        self.program.support[name] = (
            f"static inline void {name}(uniform int * uniform index, const uniform int size, const uniform int at, "
            f"{probes}) {{\n"
            f"{_hash(types, 'uniform ')}"
            f"    while ({test}) slot = (slot + 1) & (size - 1);\n"
            f"    index[slot] = {new};\n"
            "}"
        )
        return name


def _suffix(types: list[Num]) -> str:
    return "_".join(ty.spmd for ty in types)


def _hash(types: list[Num], shape: str) -> str:
    """Write where a key is sought first. Zeros are equal, whatever their sign."""
    lines = [f"    {shape}unsigned int64 h = 0;\n"]
    for k, ty in enumerate(types):
        bits = f"(unsigned int64)x{k}"
        if ty.kind == "f":
            wide = "double" if ty.bits == 64 else "float"
            bits = f"(x{k} == 0 ? 0ull : (unsigned int64)intbits(({wide})x{k}))"
        elif ty.kind == "b":
            bits = f"(x{k} ? 1ull : 0ull)"
        lines.append(f"    h = (h ^ {bits}) * {_GOLDEN};\n    h ^= h >> 32;\n")
    lines.append(f"    {shape}int slot = (int)(h & 0x7fffffffull) & (size - 1);\n")
    return "".join(lines)


_PLACES = """\
static inline uniform int py_places(const uniform int n) {
    uniform int size = 8;
    while (size < 3 * (n + 1)) size *= 2;
    return size;
}"""
_KEPT = """\
static noinline uniform int * uniform py_kept(uniform int * uniform index, const uniform int size,
                                              const uniform int n) {
    uniform int * uniform kept = uniform new uniform int[n];
    foreach (k = 0 ... n) kept[k] = 0;
    for (uniform int k = 0; k < size; ++k) {
        if (index[k] >= 0) kept[index[k]] = 1;
    }
    uniform int count = 0;
    for (uniform int k = 0; k < n; ++k) {
        if (kept[k] != 0) { kept[count] = k; ++count; }
    }
    return kept;
}"""
