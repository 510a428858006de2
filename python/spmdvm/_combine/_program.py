"""Programs: templates of SPMD text with an operator and a mapping function put in, compiled once for their types."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import CompileError, Trap
from .._kernel._messages import host_of
from .._kernel._places import compile_error, in_python
from .._kernel._program import Program as Text
from .._kernel._types import BOOL, Num
from .._progress import Counted
from .._spmdvm import _compile_silently as _compile
from ._pieces import FunctionPiece, KernelPiece, Operator, Piece, declare, several


class Program:
    """A compiled combinator."""

    def __init__(
        self,
        who: str,
        text: str,
        places: list[Any],
        of_python: Text,
        pieces: list[Piece],
        options: dict[str, Any],
    ) -> None:
        """Compile a text whose lines come from these places, with functions that are translated from Python."""
        self.who, self.text, self.places = who, text, places
        self.names, self.variables = of_python.python_names, of_python.python_variables
        self.assertions, self.overflows = of_python.assertions, of_python.overflows
        self.advice, self.outside, self.nones = of_python.advice, of_python.outside, of_python.nones
        functions = [piece for piece in pieces if isinstance(piece, FunctionPiece)]
        self.in_python = not functions
        host = host_of(of_python.tells)
        self.name = next((piece.name for piece in pieces if piece.parameter != "op"), pieces[0].name if pieces else who)
        try:
            if functions:
                self.module = _with_module(functions, text, {**options, **host})
            else:
                self.module = _compile([(f"<{who}>", text)], **options, **host)
        except CompileError as error:
            raise compile_error(error, self, self.name) if self.in_python else error from None
        except TypeError as error:
            raise _about_options(error, who, options) from None

    def call(self, entry: str, *args: Any) -> Any:
        """Call one of its functions; traps tell lines of Python."""
        return self._call(entry, args, {})

    def call_counted(self, count: Counted | None, *args: Any) -> Any:
        """Call the function that does the work, which counts what is done if somebody is told."""
        if count is None:
            return self._call("entry__", args, {})
        return self._call("entry__", (*args, count.counter), {"progress": count})

    def _call(self, entry: str, args: tuple[Any, ...], special: dict[str, Any]) -> Any:
        try:
            return self.module[entry](*args, **special)
        except Trap as trap:
            if self.in_python:
                raise in_python(trap, self, {}) from None
            raise


def _with_module(functions: list[FunctionPiece], text: str, options: dict[str, Any]) -> Any:
    """Compile a text behind that of the module whose functions it calls."""
    first = functions[0]
    for other in functions[1:]:
        if other.key[:-1] != first.key[:-1]:
            raise TypeError(
                f"{first.who}(): `{first.parameter}` and `{other.parameter}` are functions of two modules; compile "
                "them as one"
            )
    name, source = first.source
    return _compile([(name, f"{source}\n{text}"), *first.others], **options)


# What is meant by names of numpy's.
_MEANT = {
    "exclusive": "write inclusive=False",
    "dtype": "convert the elements, map=np.float64 for one",
    "initial": "combine it with the result",
    "out": "the result is returned",
    "where": "take the elements before, with spmdvm.filter; or map others to the neutral element",
    "weights": "they are the `values`",
}


def _about_options(error: TypeError, who: str, options: dict[str, Any]) -> TypeError:
    """Say what is wrong with options at the function that was called."""
    text = str(error)
    if not text.startswith("compile() has no option"):
        return error
    help = next((f"; {_MEANT[name]}" for name in options if name in _MEANT and f"`{name}`" in text), None)
    text = text.replace("compile()", f"{who}()", 1)
    return TypeError(text if help is None else text.split("; ")[0] + help)


def options_of(who: str, pieces: list[Piece], given: dict[str, Any]) -> dict[str, Any]:
    """Join the options of pieces and those that the caller gave, which win."""
    found: dict[str, Any] = {}
    for piece in pieces:
        for name, value in piece.options.items():
            if name in given:
                continue
            if name in found and found[name] != value:
                raise TypeError(
                    f"{who}(): `op` and `map` were made with different options, {name}={found[name]!r} and "
                    f"{name}={value!r}; say which with {name}="
                )
            found[name] = value
    return {**found, **given}


def template(name: str) -> str:
    """Read a template."""
    return (Path(__file__).parent / f"{name}.ispc").read_text(encoding="utf-8")


def arrays(stem: str, types: list[Num], constant: bool = False) -> str:
    """Write parameters that are arrays."""
    const = "const " if constant else ""
    return ", ".join(f"{const}uniform {ty.spmd} {stem}{k}[]" for k, ty in enumerate(types))


def names(stem: str, types: list[Num]) -> str:
    """Write them as arguments."""
    return ", ".join(f"{stem}{k}" for k in range(len(types)))


# What an operator that may trap, print or go on for ever contains.
_MAY_FAIL = re.compile(r"[/%\[]|\b(assert|print|while|for|do)\b")


def _parts(types: list[Num]) -> list[str]:
    """Write what selects each part of an element."""
    return [f".v{k}" for k in range(len(types))] if len(types) > 1 else [""]


def packed(place: str, ty: Num) -> str:
    """Write where numbers are packed to: the library packs no bools, which are bytes of 0 and 1."""
    return f"(uniform int8 * uniform)({place})" if ty == BOOL else place


class Writer:
    """The text of a program."""

    def __init__(self, who: str) -> None:
        """Begin with nothing."""
        self.who = who
        self.text = Text()
        self.lines: list[str] = []
        self.pieces: list[Piece] = []
        self.declared: set[str] = set()

    def write(self, *lines: str) -> None:
        """Add lines."""
        self.lines.extend(lines)

    def declare(self, types: list[Num]) -> str:
        """Declare the type of several values, and give its name."""
        name = several(types)
        if name not in self.declared:
            self.declared.add(name)
            self.write(declare(types))
        return name

    def piece(self, piece: Piece, name: str, given: list[Num], wanted: list[Num], uniform: bool) -> None:
        """Add a piece under a name."""
        if piece not in self.pieces:
            self.pieces.append(piece)
        self.declare(wanted)
        self.write(*piece.write(self.text, name, tuple(given), wanted, uniform))

    def params(self, name: str, stem: str, types: list[Num], constant: bool = False) -> None:
        """Define macros for some arrays: `NAME_PARAMS__`, `NAME__`."""
        self.write(f"#define {name}_PARAMS__ {arrays(stem, types, constant)}", f"#define {name}__ {names(stem, types)}")

    def elements(self, name: str, stem: str, types: list[Num], constant: bool = False) -> None:
        """Define macros for arrays of elements: also `LOAD_NAME__(at)`, `STORE_NAME__(at, s)`, `ONE_NAME__`, …"""
        self.params(name, stem, types, constant)
        self.accesses(name, stem, types)

    def accesses(self, name: str, stem: str, types: list[Num]) -> None:
        """Define how elements of arrays are read and written."""
        state = self.declare(types)
        parts = _parts(types)
        loads = ", ".join(f"{stem}{k}[at]" for k in range(len(types)))
        stores = " ".join(f"{stem}{k}[at] = v__{part};" for k, part in enumerate(parts))
        several_ = len(types) > 1
        self.write(
            f"#define LOAD_{name}__(at) {self.maker(types, '')}({loads})"
            if several_
            else f"#define LOAD_{name}__(at) {loads}",
            f"#define ONE_{name}__(at) {self.maker(types, 'uniform ')}({loads})"
            if several_
            else f"#define ONE_{name}__(at) {loads}",
            f"#define STORE_{name}__(at, s) {{ {state} v__ = s; {stores} }}",
            f"#define STORE_ONE_{name}__(at, s) {{ uniform {state} v__ = s; {stores} }}",
        )

    def packs(self, name: str, stem: str, types: list[Num]) -> None:
        """Define how active lanes write elements side by side: `PACK_NAME__(at, s)`."""
        stores = " ".join(
            f"packed_store_active({packed(f'{stem}{k} + (at)', ty)}, {'(int8)' if ty == BOOL else ''}v__{part});"
            for k, (ty, part) in enumerate(zip(types, _parts(types)))
        )
        self.write(f"#define PACK_{name}__(at, s) {{ {self.declare(types)} v__ = s; {stores} }}")

    def maker(self, types: list[Num], shape: str) -> str:
        """Give what makes an element of its parts."""
        state = self.declare(types)
        name = f"make_{shape.strip()}{state}"
        if name not in self.declared:
            self.declared.add(name)
            params = ", ".join(f"{shape}{ty.spmd} a{k}" for k, ty in enumerate(types))
            stores = " ".join(f"s.v{k} = a{k};" for k in range(len(types)))
            self.write(f"static inline {shape}{state} {name}({params}) {{ {shape}{state} s; {stores} return s; }}")
        return name

    def loads(self, piece: Piece | None, given: list[Num], wanted: list[Num], constant: bool = False) -> None:
        """Define what loads an element of the arrays that the caller gave, and maps it: `LOAD_X__(at)`."""
        self.params("X", "x", given, True)
        args = [f"x{k}[{'(at) & 0' if constant else 'at'}]" for k in range(len(given))]
        if piece is not None:
            self.piece(piece, "map__", given, wanted, False)
            self.write(f"#define LOAD_X__(at) map__({', '.join(args)})")
            return
        for macro, shape in (("LOAD", ""), ("ONE", "uniform ")):
            cast = [f"({shape}{ty.spmd}){arg}" for ty, arg in zip(wanted, args)]
            text = f"({cast[0]})" if len(given) == 1 else f"{self.maker(wanted, shape)}({', '.join(cast)})"
            self.write(f"#define {macro}_X__(at) {text}")

    def state(self, operator: Operator, types: list[Num]) -> None:
        """Write the operator, and what is done with elements as it takes them."""
        state = self.declare(types)
        self.write(f"#define State__ {state}")
        before = len(self.text.functions)
        for name, uniform in (("op", False), ("op_one", True)):
            self.piece(operator.piece, f"{name}_parts__", [*types, *types], types, uniform)
            shape = "uniform " if uniform else ""
            args = ", ".join(f"{x}{part}" for x in "ab" for part in _parts(types))
            head = f"static inline {shape}{state} {name}__({shape}{state} a, {shape}{state} b)"
            self.write(f"{head} {{ return {name}_parts__({args}); }}")
        written = "\n".join(line for function in self.text.functions[before:] for line, _ in function)
        is_total = isinstance(operator.piece, KernelPiece) and not _MAY_FAIL.search(written)
        # What can neither fail nor go on for ever is computed for all lanes: that is faster than a mask.
        if is_total and len(types) == 1:
            self.write("#define COMBINE__(condition, s, combined) { State__ t__ = combined; s = condition ? t__ : s; }")
        else:
            self.write("#define COMBINE__(condition, s, combined) if (condition) s = combined;")

        def function(head: str, each: str, shape: str = "") -> None:
            """Write a function that does something with each part."""
            stores = " ".join(f"s{part} = {each.format(part)};" for part in _parts(types))
            self.write(f"static inline {shape}{state} {head} {{ {shape}{state} s; {stores} return s; }}")

        function(f"splat__(uniform {state} a)", "a{}")
        function(f"extract__({state} a, uniform int lane)", "extract(a{}, lane)", "uniform ")
        function(f"rotate__({state} a, uniform int by)", "rotate(a{}, by)")
        function(f"broadcast__({state} a, uniform int lane)", "broadcast(a{}, lane)")
        self.elements("NEUTRAL", "e", types, True)

    def keeps(self, piece: Piece | None, given: list[Num], kept: list[Num], size: int) -> None:
        """Write the predicate of a filter, and how rows are stored and moved. Without a piece the last array tells."""
        self.write("#define KEEP__ keep__")
        head = f"static inline bool keep__({arrays('x', given, True)}, int64 at)"
        if piece is None:
            self.write(f"{head} {{ return x{len(kept)}[at]; }}")
        else:
            self.piece(piece, "predicate__", [ty for ty in given for _ in range(size)], [BOOL], False)
            args = [
                f"x{k}[at * {size} + {j}]" if size > 1 else f"x{k}[at]" for k in range(len(given)) for j in range(size)
            ]
            self.write(f"{head} {{ return predicate__({', '.join(args)}); }}")
        both = f"{arrays('x', given, True)}, {arrays('y', kept)}"
        places = [packed(f"y{k} + to", ty) for k, ty in enumerate(kept)]
        kinds = ["(int8)" if ty == BOOL else "" for ty in kept]
        packs = " ".join(
            f"n = packed_store_active(kept, {place}, {kind}x{k}[at]);"
            for k, (place, kind) in enumerate(zip(places, kinds))
        )
        copies = " ".join(f"y{k}[to + j] = x{k}[from + j];" for k in range(len(kept)))
        moves = " ".join(
            f"memmove64(y{k} + to, y{k} + from, count * sizeof(uniform {ty.spmd}));" for k, ty in enumerate(kept)
        )
        self.write(
            "#define STORE_KEPT__ store_kept__",
            f"static inline uniform int store_kept__({both}, uniform int64 to, bool kept, int64 at) {{ uniform int n "
            f"= 0; {packs} return n; }}",
            "#define COPY_ROW__ copy_row__",
            f"static void copy_row__({both}, uniform int64 from, uniform int64 to, uniform int64 count) {{ foreach (j "
            f"= 0 ... count) {{ {copies} }} }}",
            "#define MOVE_ROWS__ move_rows__",
            f"static void move_rows__({arrays('y', kept)}, uniform int64 from, uniform int64 to, uniform int64 count) "
            f"{{ {moves} }}",
        )

    def counts(self, is_told: bool) -> None:
        """Define how templates count what is done, for `progress=`; without that they do not.

        `DID__(n)` adds to the counter, which is passed as `DONE__` to what has the parameter `DONE_PARAM__`.
        `IN_PIECES__` is a loop over a range in pieces from `FROM__` to `TO__`, which follow one another: one piece, if
        nothing is counted.
        """
        if is_told:
            self.write(
                "#define DONE_PARAM__ , uniform int64 done__[]",
                "#define DONE__ , done__",
                "#define DID__(n) atomic_add_global(done__, (uniform int64)(n));",
                "#define DID_SOME__(condition, n) if (condition) atomic_add_global(done__, (uniform int64)(n));",
                "#define IN_PIECES__(first, end) uniform int64 end__ = end; \\",
                "    for (uniform int64 from__ = first; from__ < end__; from__ += 65536)",
                "#define TO__ min(from__ + 65536, end__)",
            )
        else:
            self.write("#define DONE_PARAM__", "#define DONE__", "#define DID__(n)", "#define DID_SOME__(condition, n)")
            self.write("#define IN_PIECES__(first, end) uniform int64 from__ = first, end__ = end;")
            self.write("#define TO__ end__")
        self.write("#define FROM__ from__")

    def accumulators(self, count: int) -> None:
        """Define how many accumulators a gang has, and how they are joined."""
        self.write(f"#define ACCUMULATORS__ {count}")
        self.write("#define EACH_ACCUMULATOR__(DO) " + " ".join(f"DO({k})" for k in range(count)))
        joins: list[str] = []
        half = count // 2
        while half:
            joins.extend(f"s{k} = op__(s{k}, s{k + half});" for k in range(half))
            half //= 2
        self.write("#define JOIN_ACCUMULATORS__ " + " ".join(joins))

    def is_small(self) -> bool:
        """Return whether what was put in is so short that copies of it do no harm."""
        return sum(len(function) for function in self.text.functions) <= 12 and all(
            isinstance(piece, KernelPiece) for piece in self.pieces
        )

    def compile(self, options: dict[str, Any]) -> Program:
        """Compile what was written."""
        head, places = self.text.text()
        text = head + "\n".join(self.lines) + "\n"
        return Program(self.who, text, places, self.text, self.pieces, options)


def as_parts(arrays_of_parts: list[np.ndarray]) -> Any:
    """Give one array as it is, and several as a tuple."""
    return arrays_of_parts[0] if len(arrays_of_parts) == 1 else tuple(arrays_of_parts)
