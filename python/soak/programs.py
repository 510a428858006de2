"""Random programs: functions of varying numbers, and functions of arrays, of small parts put together at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

TYPES = {
    "int8": np.int8,
    "unsigned int16": np.uint16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "int64": np.int64,
    "float": np.float32,
    "double": np.float64,
}
FLOATS = ("float", "double")


@dataclass
class Program:
    """Source, and what its exports take.

    `mapped` takes numbers of `params`; `looked_up` a number and `table`; `swept` the arrays `out` and `in_`, their
    length, and runs over them in place; all give or hold `result`.
    """

    source: str
    params: list[str]
    result: str


class Writer:
    """Writes the text of one program."""

    def __init__(self, rng: random.Random) -> None:
        """Write with these random numbers."""
        self.rng = rng
        self.names: dict[str, str] = {}

    def program(self) -> Program:
        """Write a whole program."""
        rng = self.rng
        params = [rng.choice(list(TYPES)) for _ in range(rng.randint(1, 3))]
        result = rng.choice(list(TYPES))
        declared = ", ".join(f"{ty} p{i}" for i, ty in enumerate(params))
        source = f"static {result} helper({result} v, int depth) {{\n"
        source += f"    if (depth <= 0 || v > ({result})100) return v;\n"
        source += f"    return helper(({result})(v + ({result})1), depth - 1);\n}}\n"
        source += f"uniform {result} scale = 3;\nuniform int calls = 0;\n"
        self.names = {f"p{i}": ty for i, ty in enumerate(params)}
        source += f"export {result} mapped({declared}) {{\n{self.body(result)}}}\n"
        self.names = {"p0": result}
        source += f"export {result} looked_up({result} p0, const uniform {result} table[], uniform int n) {{\n"
        source += f"    int at = (int)({self.index('p0', result)}) & 7;\n"
        source += f"    {result} t = at < n ? table[at] : ({result})0;\n"
        self.names["t"] = result
        source += f"{self.body(result)}}}\n"
        self.names = {"x": result, "k": "int"}
        sweep = self.expression(result, 3)
        arrays = f"uniform {result} out[], uniform {result} in_[]"
        source += f"export void swept({arrays}, uniform int n, uniform int rounds) {{\n"
        source += "    ++calls;\n    for (uniform int r = 0; r < rounds; ++r)\n        foreach (i = 0 ... n) {\n"
        source += f"            {result} x = in_[i];\n            int k = i;\n"
        source += f"            out[i] = ({result})({sweep} + ({result})scale);\n        }}\n}}\n"
        return Program(source, params, result)

    def index(self, name: str, ty: str) -> str:
        """Write a number that is safe to convert to an int."""
        return f"isnan({name}) ? 0 : {name}" if ty in FLOATS else name

    def body(self, result: str) -> str:
        """Write the statements of a function, which end in a return."""
        rng = self.rng
        text = f"    {result} acc = {self.expression(result, 2)};\n    int turns = 0;\n"
        self.names |= {"acc": result, "turns": "int"}
        for _ in range(rng.randint(0, 4)):
            text += self.statement(result)
        return text + f"    return ({result})({self.expression(result, 2)} + acc);\n"

    def statement(self, result: str) -> str:
        """Write a statement that changes `acc`."""
        rng = self.rng
        value = f"({result})({self.expression(result, 2)})"
        kind = rng.randrange(7)
        if kind == 0:
            return f"    if ({self.condition()}) acc = {value}; else acc += {value};\n"
        if kind == 1:
            loop = f"for (int k = 0; k < {rng.randint(1, 9)}; ++k)"
            return f"    {loop} {{ if ({self.condition()}) continue; acc += {value}; }}\n"
        if kind == 2:
            loop = f"while (turns < {rng.randint(1, 40)})"
            return f"    {loop} {{ ++turns; if ({self.condition()}) break; acc = {value}; }}\n"
        if kind == 3:
            return f"    if ({self.condition()}) return {value};\n"
        if kind == 4:
            n = rng.randint(2, 8)
            fill = f"for (uniform int j = 0; j < {n}; ++j) local[j] = ({result})(acc + ({result})j);"
            return f"    {{ {result} local[{n}]; {fill} acc = local[(turns + {rng.randint(0, 9)}) % {n}]; }}\n"
        if kind == 5:
            return f"    acc = helper(acc, {rng.randint(0, 5)});\n"
        cases = f"case 0: acc += {value}; break; case 1: acc = {value}; default: turns += 5;"
        return f"    switch (turns & 3) {{ {cases} }}\n"

    def condition(self) -> str:
        """Write a comparison of things of one type."""
        ty = self.rng.choice(list(self.names.values()))
        comparison = self.rng.choice(["<", ">", "<=", "==", "!="])
        return f"({self.expression(ty, 1)} {comparison} {self.expression(ty, 1)})"

    def expression(self, ty: str, depth: int) -> str:
        """Write a value of a type."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            return self.leaf(ty)
        a, b = self.expression(ty, depth - 1), self.expression(ty, depth - 1)
        kind = rng.randrange(8)
        if kind < 3:
            return f"({ty})({a} {'+-*'[kind]} {b})"
        if kind == 3:
            return f"({self.condition()} ? {a} : {b})"
        if kind == 4:
            return f"({ty}){rng.choice(['min', 'max'])}(({ty}){a}, ({ty}){b})"
        if ty in FLOATS:
            return f"sqrt(abs({a}))" if kind == 5 else f"({a} / (abs({b}) + ({ty})1))"
        if kind == 5:
            return f"({ty})({a} {rng.choice(['&', '|', '^'])} {b})"
        if kind == 6:
            return f"({ty})({a} / (({ty}){b} == 0 ? ({ty})1 : ({ty}){b}))"
        return f"({ty})({a} {rng.choice(['<<', '>>'])} {rng.randint(0, 7)})"

    def leaf(self, ty: str) -> str:
        """Write a variable or a constant."""
        rng = self.rng
        fitting = [name for name, its in self.names.items() if its == ty or ty in FLOATS or its not in FLOATS]
        if fitting and rng.random() < 0.8:
            return f"({ty}){rng.choice(fitting)}"
        return f"({ty}){rng.choice(['1.5', '-0.25', '1e10'])}" if ty in FLOATS else f"({ty}){rng.randint(-20, 200)}"


ENDLESS = """
export void endless(uniform int a[]) { while (a[0] == 0) { a[1]++; } }
export void eats() { while (true) { uniform int8 * uniform p = uniform new uniform int8[100000]; p[0] = 1; } }
export uniform int deep(uniform int n) { return deep(n + 1) + 1; }
export void fills(uniform int8 a[], uniform int n) { while (true) memset(a, 1, n); }
task void one(uniform int a[]) { atomic_add_global(&a[0], 1); }
export void tasks(uniform int a[], uniform int n) { launch[n] one(a); sync; }
"""
