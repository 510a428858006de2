"""What is asked of two dicts or sets: `s == t`, `s <= t`, `s.isdisjoint(t)`, `d == e`."""

from __future__ import annotations

import ast
from typing import Any

from ._dict_values import DictValues, is_empty
from ._types import BOOL, INT
from ._values import LONGEST, Value

# What holds of how many keys two sets have, and whether it is the second one that has all of the other's.
_ORDERS = {
    ast.Eq: ("==", False), ast.NotEq: ("==", False), ast.LtE: ("<=", False), ast.Lt: ("<", False),
    ast.GtE: (">=", True), ast.Gt: (">", True),
}  # fmt: skip
_METHODS = {"issubset": ast.LtE, "issuperset": ast.GtE}


class DictComparisons(DictValues):
    """Translates comparisons of dicts and sets; `Body` has what it needs to know."""

    def is_of_two_dicts(self, node: ast.AST) -> bool:
        """Return whether an expression compares two dicts or sets."""
        if not isinstance(node, ast.Compare) or type(node.ops[0]) not in _ORDERS or len(node.ops) > 1:
            return False
        return self.kind_of_dict(node.left) is not None and self.kind_of_dict(node.comparators[0]) is not None

    def compared_dicts(self, node: ast.Compare) -> Value | None:
        """Translate a comparison of dicts or sets; None if it is something else."""
        if not self.is_of_two_dicts(node):
            return None
        sides, op = [node.left, node.comparators[0]], node.ops[0]
        kinds = [self.kind_of_dict(side) for side in sides]
        if kinds[0].is_set != kinds[1].is_set:
            self.fail(node, "a dict is no set", "these are compared", "compare the keys: `set(d) == s`")
        is_equal = isinstance(op, (ast.Eq, ast.NotEq))
        if not kinds[0].is_set and not is_equal:
            self.fail(node, "dicts have no order", "here", "compare the keys, which are sets: `set(d) <= set(e)`")
        empty = [is_empty(side) and not isinstance(side, ast.Name) for side in sides]
        if is_equal and any(empty):
            # (Of which types its keys are nobody knows.)
            text = f"({self.count_of(self.dict_of(sides[1 if empty[0] else 0])).text} == 0)"
        else:
            text = self._all_in(node, sides, *_ORDERS[type(op)])
        return Value(f"(!{text})" if isinstance(op, ast.NotEq) else text, BOOL, True, is_python=True)

    def asked_of_two_sets(self, node: ast.Call, name: str) -> Value | None:
        """Translate `s.issubset(t)`, `s.issuperset(t)` and `s.isdisjoint(t)`; None if it is something else."""
        how = node.func.attr
        if not self.dicts[name].is_set or len(node.args) != 1 or node.keywords:
            return None
        if how == "isdisjoint":
            sides = [node.func.value, self._as_set(node.args[0])]
            return Value(self._all_in(node, sides, None, False, False), BOOL, True, is_python=True)
        if how not in _METHODS:
            return None
        test = ast.Compare(node.func.value, [_METHODS[how]()], [self._as_set(node.args[0])])
        return self.compared_dicts(ast.copy_location(test, node))

    def _all_in(self, node: Any, sides: list[ast.expr], op: str | None, swaps: bool, are_in: bool = True) -> str:
        """Write whether a dict has all keys of another one, with their values, or none; give the variable."""
        names = [self.dict_of(side) for side in sides]
        for side, name in zip(sides, names):
            self._need_types(side, name)
        counts = [self.count_text(name) for name in names]
        holds, counter = self.temporary("holds"), self.temporary("k")
        self.emit(f"uniform bool {holds} = {'true' if op is None else f'{counts[0]} {op} {counts[1]}'};")
        self.emit(f"if ({holds}) {{")
        self.indent += 1
        of, among = reversed(names) if swaps else names
        length, entry = self._entries(sides[1 if swaps else 0], of)
        self.emit(self.loop_to(counter, length))
        self.indent += 1
        key, *values = entry(Value(counter, INT, True, 0, LONGEST)).parts
        place, _ = self._place_of_key(node, among, self.keep(key))
        self.emit(f"if ({place} {'<' if are_in else '>='} 0) {{ {holds} = false; break; }}")
        for value in values:
            other = self._entry_at(among, place).parts[1]
            if value.form != other.form:
                self.fail(node, "the values of these dicts are made of other parts", "so that they differ")
            self.emit(f"if (!({self.comparison(node, '==', self.keep(value), self.keep(other))})) {{")
            self.emit(f"    {holds} = false;")
            self.emit("    break;")
            self.emit("}")
        self.indent -= 2
        self.emit("    }")
        self.emit("}")
        return holds
