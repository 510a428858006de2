"""Expressions of kernels: operators with their meaning in Python and numpy, and elements of arrays."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from . import _bools, _complex, _functions, _instead, _ints, _support
from ._calls import Calls, text_of
from ._parts import NO_INDEX, is_complex_part, is_ellipsis, is_no_index
from ._scopes import Local
from ._types import BOOL, FLOAT, FLOAT64, INT, NUMBERS, Array, Num, Record, promote
from ._values import INT32, INT64, LANE, Value, constant, constants, literal, tuple_of

_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
# With what lengths are computed before a call: nothing that takes long for large numbers.
_OF_LENGTHS = ("+", "-", "*", "//", "%", "&", "|", "^")
_FOLDED = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


class Expressions(Calls):
    """Translates expressions; `Body` has what they need to know."""

    def expression(self, node: ast.expr) -> Value:
        """Translate an expression."""
        if id(node) in self.elements:
            return self.elements[id(node)]
        translate = getattr(self, "of_" + type(node).__name__, None)
        if translate is None:
            what, help = _UNSUPPORTED.get(type(node).__name__, (f"`{type(node).__name__}`", None))
            self.fail(node, f"{what} cannot stand in a kernel", "not supported", help)
        return translate(node)

    def kind_of(self, node: ast.expr) -> str:
        """Say what an expression is that should be something else; if it is an error, fail with that."""
        value = self.expression(node)
        return f"this is `{value.type}`" if value.parts is None else f"these are {len(value.parts)} values"

    def number(self, node: ast.expr) -> Value:
        """Translate an expression that is a number or a bool."""
        return self._as_number(node, self.expression(node))

    def _as_number(self, node: ast.expr, value: Value) -> Value:
        if value.parts is not None or not isinstance(value.type, Num):
            what = "several values" if value.parts is not None else f"`{value.type}`"
            self.fail(node, "a number is needed", f"this is {what}", _element_help(value))
        return value

    def integer(self, node: ast.expr, what: str) -> Value:
        """Translate an expression that is an integer."""
        value = self.number(node)
        if not value.type.is_int:
            self.fail(
                node,
                f"{what} takes integers",
                f"this is `{value.type}`",
                "write `int(…)`" if value.type != BOOL else None,
            )
        return value

    def truth(self, node: ast.expr) -> str:
        """Translate a condition: a number counts as true unless it is zero."""
        return self.condition(node).text

    def condition(self, node: ast.expr) -> Value:
        """Give whether an expression counts as true; operands of `and` and `or` may be of different types then."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.condition(node.operand)
            if inner.const is not None:
                return constant(not inner.const)
            return replace(inner, text=f"(!{inner.text})", is_python=True)
        if not isinstance(node, ast.BoolOp):
            return self.as_bool(node, self.expression(node))
        values = [self.condition(node.values[0])]
        for part in node.values[1:]:
            self.in_arm += 1
            values.append(self.condition(part))
            self.in_arm -= 1
        op = " && " if isinstance(node.op, ast.And) else " || "
        return Value("(" + op.join(value.text for value in values) + ")", BOOL, all(v.uniform for v in values))

    def as_bool(self, node: ast.expr, value: Value) -> Value:
        """Give whether a value counts as true."""
        if value.parts is not None or not isinstance(value.type, Num):
            note = f"this is {'an array' if value.parts is None else 'a tuple'}"
            self.fail(node, "a condition is a number or a bool", note, "ask for the length: `len(a) > 0`")
        if value.type == BOOL:
            return value
        if value.const is not None:
            return constant(bool(value.const))
        if value.type.kind == "c":
            return Value(f"py_ctrue({value.text})", BOOL, value.uniform)
        zero = literal(0, NUMBERS["int32"] if value.is_narrow else value.type)
        return Value(f"({value.text} != {zero})", BOOL, value.uniform)

    # Conversions.

    def cast(self, value: Value, ty: Num, node: Any) -> Value:
        """Convert a number where it meets another one or is stored. A Python int must fit; one of numpy's wraps."""
        if _ints.is_open(value, ty):
            return _ints.fitted(self, node, value, ty, lambda value: self._cast(value, ty, node))
        return self._cast(value, ty, node)

    def _cast(self, value: Value, ty: Num, node: Any) -> Value:
        """Convert a number. Of a Python int that is no constant the low bits are taken."""
        if value.const is not None and not (value.type == FLOAT and value.const != value.const):
            if ty.is_int and value.type.is_int:
                if not ty.holds(int(value.const)):
                    if value.type != INT:
                        wrapped = int(np.array(int(value.const)).astype(ty.dtype))
                        return Value(literal(wrapped, ty), ty, True, const=wrapped)
                    help = "convert the other number: `int(x)`, `np.int64(x)`"
                    self.fail(node, f"{value.const} is no `{ty}`", f"`{ty}` has {_range(ty)}", help)
                const = int(value.const)
                return Value(literal(const, ty), ty, True, const, const, const)
            if ty.kind in "fc" and value.type != BOOL and (ty.kind == "c" or value.type.kind != "c"):
                return Value(literal(value.const, ty), ty, True, const=value.const)
        if value.type.spmd == ty.spmd and not value.is_narrow:
            return replace(value, type=ty)
        if ty == BOOL:
            return self.as_bool(node, value)
        if value.type.kind == "c" and ty.kind != "c":
            help = "take a part, `z.real` or `z.imag`, or the magnitude, `abs(z)`"
            self.fail(node, f"a complex number is no `{ty}`", f"this is `{value.type}`", help)
        if ty.kind == "c":
            x = value if value.type.kind == "c" else self.cast(value, ty.part, node)
            text = x.text if value.type.kind == "c" else f"{x.text}, {literal(0, ty.part)}"
            return Value(f"{_complex.maker(ty)}({text})", ty, value.uniform)
        fits = ty.is_int and value.type.is_int and ty.holds(value.low) and ty.holds(value.high)
        low, high = (value.low, value.high) if ty == INT or fits else INT64
        # No index has more than 31 bits.
        apart = value.apart if ty.is_int and ty.bits >= 32 else frozenset()
        host = value.host if ty.is_int else None
        if value.wrapped is not None and ty.is_int and ty.bits <= 32:
            text = value.wrapped if ty.spmd == "int" else f"(({ty.spmd}){value.wrapped})"
            return Value(text, ty, value.uniform, apart=apart, host=host)
        if value.type.kind == "f" and ty.spmd == "int64":
            shape = "uniform" if value.uniform else "varying"
            helper = self.program.use(f"py_int_{shape}")
            return Value(f"{helper}<{shape} {value.type.spmd}>({value.text})", ty, value.uniform)
        known = {"apart": apart, "host": host}
        if ty == INT or fits:
            known.update(equals=value.equals, below=value.below, least=value.least, most=value.most)
        return Value(f"(({ty.spmd}){value.text})", ty, value.uniform, low, high, **known)

    def convert(self, node: Any, value: Value, ty: Num) -> Value:
        """Convert as `int(x)`, `np.float32(x)` and their like do."""
        if value.const is not None and ty.is_int and value.type.kind == "f" and math.isfinite(value.const):
            value = constant(int(value.const))
        if ty == INT and value.type.is_int:
            if value.type == INT:
                return value
            return Value(f"((int64){value.text})", INT, value.uniform, host=value.host)
        if value.const is not None and ty.is_int and value.type.is_int and not ty.holds(int(value.const)):
            self.fail(node, f"{value.const} is no `{ty}`", f"`{ty}` has {_range(ty)}")
        return self._cast(value, ty, node)

    def annotation(self, node: ast.expr) -> Num:
        """Give the type that an annotation names."""
        owner = self.array_of(node.value) if isinstance(node, ast.Attribute) and node.attr == "dtype" else None
        if owner is not None and isinstance(owner.type.of, Num):
            return owner.type.of
        found = self.resolve(node)
        ty = _functions.type_of(found)
        if ty is None:
            help = "use `np.float32`, `spmdvm.int32`, `int`, `float` and so on"
            if isinstance(found, np.dtype) and found.names:
                help = f"a kernel makes records of what it returns: `-> {ast.unparse(node)}`, and return a tuple"
            self.fail(node, "this is no type of numbers", "not known", help)
        return ty

    # Atoms.

    def of_Constant(self, node: ast.Constant) -> Value:
        """Translate a number."""
        value = constant(node.value)
        if value is None:
            if isinstance(node.value, int):
                self.fail(node, "this integer has more than 64 bits", "too large")
            if node.value is None:
                help = "use a number that stands for it, such as `-1` or `np.nan`"
                self.fail(node, "`None` cannot stand in a kernel", "not a number", help)
            help = None
            if isinstance(node.value, str):
                help = 'texts stand in `print` only; use numbers (`ord("a")`)'
            self.fail(node, f"{type(node.value).__name__} values cannot stand in a kernel", "not a number", help)
        return value

    def of_Name(self, node: ast.Name) -> Value:
        """Translate a variable, a parameter or a constant from outside."""
        value = self.read_name(node)
        if value is not None:
            return value
        found = self.resolve(node) if node.id not in self.local_functions else self.local_functions[node.id]
        if node.id in self.local_functions or isinstance(found, Local):
            name = "<lambda>" if node.id.startswith("<lambda") else node.id
            help = "call it, or pass it to a function of Python that calls it"
            self.fail(node, f"`{name}` is a function, not a number", "here", help)
        return self._outside(node, node.id, found)

    def _outside(self, node: Any, name: str, found: Any) -> Value:
        if found is _functions.LANE:
            return Value("programIndex", INT, False, 0, 63, apart=frozenset([LANE]), most="((int64)programCount - 1)")
        if found is _functions.WIDTH:
            return Value("programCount", INT, True, 1, 64, host="_width")
        value = constants(found)
        if value is None:
            kind = type(found).__name__
            help = "pass it as an argument" if isinstance(found, (np.ndarray, list, tuple)) else None
            if isinstance(found, type):
                help = f"write it where a type is needed: `np.zeros(n, {name})`, `{name}(x)`"
            self.fail(
                node, f"`{name}` is {_article(kind)} `{kind}`, and only numbers are taken from outside", "here", help
            )
        return value

    def resolve(self, node: ast.expr) -> Any:
        """Find what a name, or a name in a module, stands for outside of the kernel."""
        if isinstance(node, ast.Name) and isinstance(self.local_functions.get(node.id), type):
            # A type that was passed to the function.
            return self.local_functions[node.id]
        if isinstance(node, ast.Name):
            try:
                return self.lookup(node.id)
            except KeyError:
                if any(node.id in region.names for region in self.regions):
                    help = "a type or a constant from outside stands here, such as `np.float64`, `a.dtype`"
                    self.fail(node, f"`{node.id}` is a variable", "this is known when a kernel is compiled", help)
                known = (*self.counts, *(param.name for param in self.params), *_functions.names_of(self.lookup))
                help = _instead.meant(node.id, [name for name in known if name != node.id])
                if self.source.is_variable(node.id):
                    help = f"each element of a `foreach` has its own `{node.id}`: store it in an array, or add it up"
                self.fail(node, f"there is no `{node.id}`", "not known here", help)
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            try:
                return getattr(owner, node.attr)
            except AttributeError:
                help = _instead.attribute_of(owner, ast.unparse(node.value), node.attr, _functions.known_names())
                self.fail(node, f"there is no `{ast.unparse(node)}`", "not known", help)
        if isinstance(node, ast.Constant):
            return node.value
        if self._is_limits(node):
            return self.resolve(node.func)(self.resolve(node.args[0]))
        if isinstance(node, ast.Subscript):
            return self.resolve(node.value)[self.resolve(node.slice)]
        help = "give it a name before: `f = lambda …`" if isinstance(node, ast.Lambda) else None
        self.fail(node, "this is no name", "not known", help)

    def _is_limits(self, node: ast.expr) -> bool:
        """Return whether an expression is `np.finfo(T)` or `np.iinfo(T)`, whose attributes are constants."""
        if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords or self.is_method(node):
            return False
        function = self.called(node)
        return function is np.finfo or function is np.iinfo

    def of_Tuple(self, node: ast.Tuple) -> Value:
        """Translate several values."""
        return tuple_of(self.expression(part) for part in node.elts)

    def of_List(self, node: ast.List) -> Value:
        """Translate several values in a list that nobody changes."""
        return tuple_of(self.expression(part) for part in node.elts)

    def refuse_list(self, node: ast.expr) -> NoReturn:
        """Fail because of a list that is more than several values."""
        what, help = _UNSUPPORTED["List"]
        self.fail(node, f"{what} cannot stand in a kernel", "not supported", help)

    def of_Attribute(self, node: ast.Attribute) -> Value:
        """Translate `a.shape`, a field of a record, or a constant of a module."""
        owner = node.value
        field = self.field(node)
        if field is not None:
            return field
        if is_complex_part(node) and id(owner) in self.elements:
            return _complex.part_of(self, self.number(owner), node.attr)
        if isinstance(owner, ast.Name):
            value = self.read_name(owner)
            if value is not None and isinstance(value.type, Array) and value.type.ndim == 0:
                return self.element(node, stores=False)
            if value is not None and isinstance(value.type, Array):
                if node.attr == "T":
                    return self.array_of(node)
                if node.attr == "shape":
                    return tuple_of(self.dim(value.text, k) for k in range(value.type.ndim))
                if node.attr == "size":
                    return self._size(value)
                if node.attr == "ndim":
                    return constant(value.type.ndim)
                help = _instead.attribute(node.attr)
                self.fail(node, f"arrays in kernels have no `{node.attr}`", "not supported", help)
            if value is not None and value.parts is None and node.attr in ("real", "imag"):
                return _complex.part_of(self, value, node.attr)
            if value is not None and value.parts is not None:
                help = f"take them apart, `x, y = {owner.id}`; or take one, `{owner.id}[0]`"
                self.fail(node, f"`{owner.id}` is a tuple and has no `{node.attr}`", f"{len(value.parts)} values", help)
            if value is not None:
                self.fail(node, f"`{owner.id}` is a number and has no `{node.attr}`", "here")
        elif node.attr in ("shape", "size", "ndim") and not isinstance(owner, ast.Call) and self.is_part(owner):
            part = self.part(owner)
            if node.attr == "shape":
                return tuple_of(self.dim(part.text, k) for k in range(part.type.ndim))
            return self._size(part) if node.attr == "size" else constant(part.type.ndim)
        elif node.attr in ("real", "imag") and (part := self._complex_part(owner, node.attr)) is not None:
            return part
        if self.is_field(owner) or (isinstance(owner, (ast.Subscript, ast.Call)) and not self._is_limits(owner)):
            return self.element(node, stores=False)
        root = owner
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(owner, ast.Attribute) and isinstance(root, ast.Name) and self.read_name(root) is not None:
            value = self._as_number(owner, self.expression(owner))
            self.fail(node, f"`{ast.unparse(owner)}` is a number and has no `{node.attr}`", f"`{value.type}`")
        return self._outside(node, ast.unparse(node), self.resolve(node))

    def _complex_part(self, owner: ast.expr, which: str) -> Value | None:
        """Give the real or the imaginary part of what an expression gives; None of a record, of which it is a field."""
        value = self.expression(owner)
        if isinstance(value.type, Array) and value.parts is None and value.type.ndim == 0:
            return None
        return _complex.part_of(self, self._as_number(owner, value), which)

    def _size(self, value: Value) -> Value:
        dims = [self.dim(value.text, k) for k in range(value.type.ndim)]
        if len(dims) == 1:
            return dims[0]
        known = [dim.before for dim in dims]
        host = None if None in known else "(" + " * ".join(known) + ")"
        text = "(" + " * ".join(f"(int64){dim.text}" for dim in dims) + ")"
        return Value(text, INT, all(dim.uniform for dim in dims), 0, host=host)

    # Elements.

    def of_Subscript(self, node: ast.Subscript) -> Value:
        """Translate an element of an array, or of a tuple such as `a.shape`."""
        value = self._tuple_of(node.value)
        if value is not None and isinstance(node.slice, ast.Slice):
            bounds = [part and self.integer(part, "a bound").const for part in _bounds_of(node.slice)]
            if any(part is not None and at is None for part, at in zip(_bounds_of(node.slice), bounds)):
                self.fail(node.slice, "the bounds of a part of a tuple are constants", "known only at run time")
            return tuple_of(value.parts[slice(*bounds)])
        if value is not None:
            at = self.integer(node.slice, "an index")
            if at.const is None:
                return self.one_of(node, value.parts, at)
            if not -len(value.parts) <= at.const < len(value.parts):
                self.fail(node.slice, f"this is one of {len(value.parts)} values", f"there is none at {at.const}")
            return value.parts[at.const]
        if self.is_choice(node):
            return self.array_of(node)
        return self.part(node) if self.is_part(node) else self.element(node, stores=False)

    def _tuple_of(self, node: ast.expr) -> Value | None:
        """Give a tuple that is indexed; None if it is none."""
        if isinstance(node, ast.Name):
            value = self.read_name(node)
            try:
                value = constants(self.lookup(node.id)) if value is None else value
            except KeyError:
                return None
        elif isinstance(node, ast.Subscript):
            inner = self._tuple_of(node.value)
            value = self.of_Subscript(node) if inner is not None else None
        elif isinstance(node, ast.Call):
            value = None if self.is_method(node) else self.expression(node)
        else:
            value = self.expression(node) if isinstance(node, (ast.Attribute, ast.Tuple, ast.List)) else None
        return value if value is not None and value.parts is not None else None

    def element(self, node: Any, stores: bool) -> Value:
        """Translate an element, or a field of one: `a[i]`, `a[i, j]`, `p[i].x`, `p[i]["x"]`, `p["x"][i]`."""
        field, at = None, node
        if isinstance(at, ast.Attribute):
            field, at = at.attr, at.value
        if isinstance(at, ast.Subscript) and text_of(at.slice) is not None and field is None:
            field, at = text_of(at.slice), at.value
        record = self.read_name(at) if isinstance(at, ast.Name) else self.field(at)
        if isinstance(at, ast.Subscript) and isinstance(at.value, ast.Name) and field is None:
            of = self.read_name(at.value)
            if of is not None and isinstance(of.type, Array) and of.type.ndim == 0:
                names = ", ".join(name for name, _ in of.type.of.fields)
                help = f"take a field: `{at.value.id}.{of.type.of.fields[0][0]}`"
                self.fail(node, f"this is a record, with the fields {names}", "an index of it", help)
        if record is not None and isinstance(record.type, Array) and record.type.ndim == 0:
            return self.member(node, record, [], field, ast.unparse(at), stores)
        if record is not None and record.parts is None and isinstance(record.type, Array) and at is not node:
            help = "take one of its elements"
            self.fail(node, f"`{ast.unparse(at)}` is an array and has no `{field}`", f"`{record.type}`", help)
        if not isinstance(at, ast.Subscript):
            if isinstance(at, (ast.Call, *_LITERALS)):
                # If that is an error, it says more.
                self.expression(at)
            if isinstance(at, (ast.Name, ast.Attribute)) and record is None:
                self._refuse_outside(at, self.resolve(at))
            self.fail(node, "this is no element of an array", "here")
        owner = at.value
        several = self.field(owner)
        is_named = isinstance(owner, ast.Subscript) and text_of(owner.slice) is not None
        if is_named and field is None and several is None and not self.is_field_of_all(owner):
            field, owner = text_of(owner.slice), owner.value
        if several is not None:
            array = several
        elif isinstance(owner, ast.Subscript) and self.is_part(owner):
            array = self.part(owner)
        elif not isinstance(owner, ast.Name) and not stores and self.array_of(owner) is not None:
            array = self.array_of(owner)
        elif not isinstance(owner, ast.Name):
            if stores and is_complex_part(owner):
                self.refuse_part(owner)
            if isinstance(owner, (ast.Call, *_LITERALS)):
                # If that is an error, it says more.
                self.expression(owner)
            if isinstance(owner, ast.Subscript) and isinstance(self.expression(owner).type, Num):
                name = ast.unparse(owner)
                self.fail(owner, f"`{name}` is a number and has no elements", f"`{self.expression(owner).type}`")
            help = "give it a name before: `found = …`, `found[0]`"
            self.fail(owner, "arrays and their parts are indexed", "something else here", help)
        else:
            array = self.read_name(owner)
        if array is None:
            self._refuse_outside(owner, self.resolve(owner))
        if not isinstance(array.type, Array):
            help = "annotate the kernel's parameter if it is passed on as an array: `spmdvm.array[spmdvm.float64]`"
            if not isinstance(self.source.tree, ast.FunctionDef):
                help = "expressions are of single elements; take the part before"
            self.fail(owner, f"`{owner.id}` is a number and has no elements", f"`{array.type}`", help)
        of = array.type.of
        if isinstance(of, Record):
            indices = self._indices_of(at, array)
            if field is None and not stores:
                return self.record_of(array, indices)
            return self.member(node, array, indices, field, ast.unparse(at), stores)
        if stores:
            self.refuse_to_store(node, array)
            self.stored.add(self._name_of(array))
        text, uniform, self.element_apart = self._place(at, array)
        if self.inside is not None and not stores and field is None:
            # Where it is known before that no element is outside, none is asked for its indices.
            flag, plain = self.inside
            text = f"({flag} ? {plain} : {text})"
        if field is not None:
            self.fail(node, f"the elements of `{ast.unparse(owner)}` are numbers and have no fields", f"`{of}`")
        return Value(text, of, uniform)

    def _refuse_outside(self, node: ast.expr, found: Any) -> NoReturn:
        """Fail because something from outside has no elements in a kernel."""
        name, kind = ast.unparse(node), type(found).__name__
        help = "pass it as an argument"
        if isinstance(found, dict):
            help = f"give what is needed of it a name before the kernel, `value = {name}[…]`; or pass that"
        self.fail(node, f"`{name}` is {_article(kind)} `{kind}` from outside of the kernel", "not a parameter", help)

    def refuse_part(self, node: ast.Attribute) -> NoReturn:
        """Fail because the real or the imaginary part of a number is assigned."""
        both = ("x", "z.imag") if node.attr == "real" else ("z.real", "x")
        help = f"make a number of both: `a[i] = complex({', '.join(both)})`"
        self.fail(node, "the parts of complex numbers are not assigned one by one", "here", help)

    def _indices_of(self, node: ast.Subscript, array: Value) -> list[Value]:
        """Translate the indices of an element."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        ndim = array.type.ndim
        if len(parts) == ndim + 1:
            parts = [part for part in parts if not is_ellipsis(part)]
        for part in filter(is_no_index, parts):
            self.fail(part, *NO_INDEX)
        if len(parts) != ndim:
            told = f"this array has {ndim} dimension{'s' * (ndim != 1)}"
            given = f"{len(parts)} ind{'ices' if len(parts) != 1 else 'ex'}"
            self.fail(node, told, given, "give one index for each")
        return [self._index(part, array, axis) for axis, part in enumerate(parts)]

    def _place(self, node: ast.Subscript, array: Value) -> tuple[str, bool, frozenset[str]]:
        """Translate the indices of an element; also those of `foreach` with which it is another element for each."""
        indices = self._indices_of(node, array)
        apart = self.fixed_apart(array).union(*(index.apart for index in indices))
        return (*self.place_of(array, indices), apart)

    def _index(self, node: ast.expr, array: Value, axis: int) -> Value:
        if self.array_of(node) is not None or (isinstance(node, ast.Compare) and any(self._arrays_in(node))):
            help = (
                "loop, and take the elements for which it holds; `np.sum(np.where(mask, a, 0))` adds some up; "
                "`spmdvm.filter(mask, a)` takes some outside of the kernel"
            )
            self.fail(node, "arrays of indices and masks do not index in a kernel", "this is an array", help)
        if is_no_index(node):
            self.fail(node, *NO_INDEX)
        value = self.integer(node, "an index")
        if not self.in_arm and value.const is None and _COMPUTED.search(value.text):
            # It may stand in tests, too.
            value = self.keep(value)
        if value.const is None and value.low == value.high < 0:
            # A variable that is assigned once.
            value = constant(value.low)
        if value.const is not None and value.const < 0:
            length = self.dim(array.text, axis)
            if length.const is not None:
                return constant(length.const + value.const)
            return replace(length, text=f"({length.text} - {-value.const})", low=-(2**31), equals=None, below=None)
        return value

    def _is_within(self, index: Value, array: Value, axis: int) -> bool:
        """Return whether an index is known to be in bounds."""
        length = self.dim(array.text, axis)
        symbol = length.equals[0]
        if length.const is not None and index.low >= 0 and index.high < length.const:
            return True
        below = index.below or (index.equals and (index.equals[0], index.equals[1] + 1))
        return index.low >= 0 and below is not None and below[0] == symbol and below[1] <= 0

    # Operators.

    def of_BinOp(self, node: ast.BinOp) -> Value:
        """Translate `a + b` and its like."""
        if isinstance(node.op, ast.MatMult) and self.array_of(node) is not None:
            return self.array_of(node)
        if isinstance(node.op, ast.MatMult) and self.array_of(node.left) is not None:
            return self.dot(node, node.left, node.right)
        whole = _written(node)
        if whole is not None and (value := constant(whole)) is not None:
            return value
        for side in (node.left, node.right):
            if isinstance(side, ast.List):
                self.refuse_list(side)
        return self.binary(node, node.op, self.number(node.left), self.number(node.right))

    def binary(self, node: Any, op: ast.operator, a: Value, b: Value) -> Value:
        """Translate an operation on two numbers."""
        name = _OPERATORS.get(type(op))
        if name is None:
            help = "write `*`; or annotate what is an array, such as `a: spmdvm.array[spmdvm.float64]`"
            self.fail(node, "`@` takes arrays", f"of `{a.type}` and `{b.type}`", help)
        for value in (a, b):
            if value.parts is not None or not isinstance(value.type, Num):
                self.fail(node, "operators take numbers", f"`{value.type}`", _element_help(value))
        return self.operate(node, name, a, b)

    def operate(self, node: Any, op: str, a: Value, b: Value) -> Value:
        """Apply an operator."""
        result = self._operated(node, op, a, b)
        if a.host is None and b.host is None:
            return result
        return replace(result, host=_before(op, a, b)) if result.const is None and result.type.is_int else result

    def _operated(self, node: Any, op: str, a: Value, b: Value) -> Value:
        a, b = _bools.operands(op, a, b)
        if a.type == BOOL and b.type == BOOL:
            return _bools.operate(self, node, op, a, b)
        folded = self._fold(node, op, a, b)
        if folded is not None:
            return folded
        if "c" in (a.type.kind, b.type.kind):
            return _complex.operate(self, node, op, a, b)
        if op == "/":
            return self._true_division(node, a, b)
        if op == "**":
            return self._power(node, a, b)
        ty = promote(a.type, b.type)
        if ty is None or (ty.kind == "f" and a.type.is_int and b.type.is_int):
            self.fail(node, f"`{a.type}` and `{b.type}` have no common integer type", "convert one of them")
        if op in ("<<", ">>", "&", "|", "^") and ty.kind == "f":
            self.fail(node, f"floats have no `{op}`", f"`{ty}`", _instead.of_bits(node, op))
        if ty == INT:
            return self._python_ints(node, op, a, b)
        x, y = self.cast(a, ty, node), self.cast(b, ty, node)
        uniform = a.uniform and b.uniform
        if op in ("//", "%"):
            helper = (
                {"//": "py_floordiv", "%": "py_mod"}[op] if ty.is_int else {"//": "py_ffloordiv", "%": "py_fmod"}[op]
            )
            if ty.kind == "u":
                return Value(f"({x.text} {op[0]} {y.text})", ty, uniform)
            if ty.is_int and b.const is not None and _is_power_of_two(b.const):
                text = (
                    f"({x.text} & {literal(b.const - 1, ty)})"
                    if op == "%"
                    else f"({x.text} >> {b.const.bit_length() - 1})"
                )
                return Value(text, ty, uniform)
            return self._helper(helper, ty, uniform, x, y)
        if op in ("<<", ">>"):
            if b.const is not None and 0 <= b.const < ty.bits:
                return Value(f"({x.text} {op} {y.text})", ty, uniform)
            return self._helper("py_shl" if op == "<<" else "py_shr", ty, uniform, x, y)
        return Value(f"({x.text} {op} {y.text})", ty, uniform, apart=_apart(op, a, b) if ty.bits >= 32 else frozenset())

    def _fold(self, node: Any, op: str, a: Value, b: Value) -> Value | None:
        """Compute with constants of Python's as Python does."""
        if a.const is None or b.const is None or not (a.type.weak and b.type.weak):
            return None
        try:
            result = _FOLDED[op](a.const, b.const)
        except ZeroDivisionError:
            self.fail(node, "division by zero", "always")
        except (OverflowError, ValueError, TypeError) as error:
            self.fail(node, str(error), "here")
        return constant(result) or self.fail(node, "this integer has more than 64 bits", "too large")

    def _python_ints(self, node: Any, op: str, a: Value, b: Value) -> Value:
        """Apply an operator to two ints of Python's, as 32-bit numbers where the result is one."""
        low, high = _interval(op, a, b)
        inside = INT64[0] <= low and high <= INT64[1]
        low, high = (low, high) if inside else INT64
        narrow = a.is_narrow and b.is_narrow and INT32[0] <= low and high <= INT32[1]
        x, y = (v.text if narrow else self.cast(v, INT, node).text for v in (a, b))
        uniform = a.uniform and b.uniform
        wrapped = None if narrow else _wrapped(op, a, b)
        result = Value(f"({x} {op} {y})", INT, uniform, low, high, apart=_apart(op, a, b), wrapped=wrapped)
        if op in ("+", "-", "//", "*"):
            result = self.between(op, a, b, result)
        if op in "+-" and inside:
            return replace(result, below=_below(op, a, b), equals=_equals(op, a, b))
        if op == "%" and b.low >= 0 and (b.equals or b.below):
            symbol, offset = b.equals or (b.below[0], b.below[1] - 1)
            result = replace(result, below=(symbol, offset))
        far = _beyond(a, b) if op == "%" and narrow and b.low >= 0 else None
        if far is not None and a.low >= 0 and far <= 0:
            # It is less: the remainder is all of it.
            return replace(result, text=x)
        if far is not None and far <= _NEAR and a.low >= -_NEAR and not uniform:
            helper = self._helper("py_mod_near", NUMBERS["int32"], uniform, replace(a, text=x), replace(b, text=y))
            return replace(result, text=helper.text)
        if op in ("//", "%"):
            if a.low >= 0 and (b.low > 0 or (op == "%" and b.low >= 0)):
                return replace(result, text=f"({x} {op[0]} {y})")
            if b.const is not None and _is_power_of_two(b.const):
                text = f"({x} & {b.const - 1})" if op == "%" else f"({x} >> {b.const.bit_length() - 1})"
                return replace(result, text=text)
            ty = NUMBERS["int32"] if narrow else INT
            helper = "py_floordiv" if op == "//" else "py_mod"
            return replace(result, text=self._helper(helper, ty, uniform, replace(a, text=x), replace(b, text=y)).text)
        if op in ("<<", ">>") and not (b.const is not None and 0 <= b.const < (32 if narrow else 64)):
            x, y = (self.cast(v, INT, node) for v in (a, b))
            return self._helper("py_shl" if op == "<<" else "py_shr", INT, uniform, x, y)
        return result

    def _helper(self, helper: str, ty: Num, uniform: bool, *args: Value) -> Value:
        name = self.program.use(helper)
        shape = "uniform" if uniform else "varying"
        texts = (f"({shape} {ty.spmd}){arg.text}" for arg in args)
        return Value(f"{name}<{shape} {ty.spmd}>({', '.join(texts)})", ty, uniform)

    def _true_division(self, node: Any, a: Value, b: Value) -> Value:
        ty = promote(a.type, b.type)
        if ty is None:
            self.fail(node, f"`{a.type}` and `{b.type}` cannot be divided", "convert one of them")
        if ty.is_int:
            ty = FLOAT if ty == INT else FLOAT64
        x, y = self.cast(a, ty, node), self.cast(b, ty, node)
        return Value(f"({x.text} / {y.text})", ty, a.uniform and b.uniform)

    def _power(self, node: Any, a: Value, b: Value) -> Value:
        ty = promote(a.type, b.type)
        uniform = a.uniform and b.uniform
        if ty is None:
            self.fail(node, f"`{a.type}` and `{b.type}` have no power", "convert one of them")
        if ty.is_int and b.const is not None and b.const < 0:
            self.fail(node, "integers have no negative powers", "here", "convert to a float: `float(x) ** -1`")
        x = self.cast(a, ty, node)
        if b.const is not None and float(b.const).is_integer() and (b.const == 2 or (0 <= b.const <= 16 and ty.is_int)):
            return self._repeated(node, x, int(b.const), ty)
        y = self.cast(b, ty, node)
        if ty.is_int:
            self.advise(node, _support.NEGATIVE_POWER, _power_help(node))
            return self._helper("py_ipow", ty, uniform, x, y)
        if b.const == 0.5:
            return Value(f"sqrt({x.text})", ty, uniform)
        return Value(f"pow({x.text}, {y.text})", ty, uniform)

    def _repeated(self, node: Any, x: Value, n: int, ty: Num) -> Value:
        if n == 0:
            return Value(literal(1, ty), ty, x.uniform)
        if n == 1:
            return x
        if not _is_simple(x.text):
            x = self.keep(x) if not self.in_arm else x
        return Value("(" + " * ".join([x.text] * n) + ")", ty, x.uniform)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        """Translate `-x`, `+x`, `~x`, `not x`."""
        if isinstance(node.op, ast.Not):
            return self.condition(node)
        return self.unary(node, node.op, self.number(node.operand))

    def unary(self, node: Any, op: ast.unaryop, value: Value) -> Value:
        """Apply `-`, `+` or `~`."""
        if isinstance(op, ast.Invert):
            if value.type == BOOL:
                return Value(f"(!{value.text})", BOOL, value.uniform)
            if not value.type.is_int:
                what = "complex numbers" if value.type.kind == "c" else "floats"
                self.fail(node, f"{what} have no `~`", f"`{value.type}`")
            x = self.cast(value, value.type, node)
            return Value(f"(~{x.text})", value.type, value.uniform)
        value = _bools.as_int(value)
        if value.type == BOOL:
            self.fail(
                node, "bools have no sign, nor do those of numpy", "a bool", "write `~x`, or convert it: `int(x)`"
            )
        if isinstance(op, ast.UAdd):
            return value
        if value.const is not None and value.type.weak:
            return constant(-value.const)
        low, high = (-value.high, -value.low) if value.type == INT and value.low > INT64[0] else INT64
        narrow = value.is_narrow and INT32[0] <= low and high <= INT32[1]
        text = value.text if narrow else self.cast(value, value.type, node).text
        host = f"(-{value.host})" if value.host is not None and value.type.is_int else None
        result = Value(f"(-{text})", value.type, value.uniform, low, high, host=host)
        return self.between("-", constant(0), value, result) if value.type == INT else result

    def of_BoolOp(self, node: ast.BoolOp) -> Value:
        """Translate `and` and `or`, whose value is one of the operands."""
        values = [self.number(node.values[0])]
        for part in node.values[1:]:
            self.in_arm += 1
            values.append(self.number(part))
            self.in_arm -= 1
        is_and = isinstance(node.op, ast.And)
        if all(value.type == BOOL for value in values):
            op, is_python = " && " if is_and else " || ", all(value.is_python for value in values)
            text = "(" + op.join(value.text for value in values) + ")"
            return Value(text, BOOL, all(v.uniform for v in values), is_python=is_python)
        values = list(map(_bools.as_int, values))
        ty = values[0].type
        for value in values[1:]:
            # A bool is 0 or 1 beside a number.
            ty = promote(ty, value.type) if ty is not None else None
        if ty is None:
            self.fail(
                node,
                "the operands have no common type",
                " and ".join(f"`{v.type}`" for v in values),
                "compare the number: `x != 0`",
            )
        self.in_arm += 1
        result = self.cast(values[-1], ty, node)
        for value in reversed(values[:-1]):
            test, x = self.as_bool(node, value).text, self.cast(value, ty, node).text
            yes, no = (result.text, x) if is_and else (x, result.text)
            result = Value(f"({test} ? {yes} : {no})", ty, value.uniform and result.uniform)
        self.in_arm -= 1
        return result

    def of_Compare(self, node: ast.Compare) -> Value:
        """Translate comparisons, also chains of them."""
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return self._membership(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and _is_none(node.comparators[0]):
            # What has a value in a kernel is something.
            self.expression(node.left)
            return constant(isinstance(node.ops[0], ast.IsNot))
        operands = [self._compared(node.left)]
        for part in node.comparators:
            self.in_arm += bool(len(operands) > 1)
            operands.append(self._compared(part))
            self.in_arm -= bool(len(operands) > 2)
        if len(operands) > 2:
            for at, value in enumerate(operands[1:-1], 1):
                if not _is_simple(value.text) and not self.in_arm:
                    operands[at] = self.keep(value)
        texts = []
        for a, op, b in zip(operands, node.ops, operands[1:]):
            name = _COMPARISONS.get(type(op))
            if name is None:
                self.fail(node, "`is` and `in` are not supported in kernels", "here", "compare with `==`")
            texts.append(self.comparison(node, name, a, b))
        text = " && ".join(texts)
        is_python = all(map(_bools.is_pythons, operands))
        return Value(f"({text})", BOOL, all(v.uniform for v in operands), is_python=is_python)

    def _compared(self, node: ast.expr) -> Value:
        """Translate an operand of a comparison: a number, or a tuple."""
        value = self.expression(node)
        return self._as_number(node, value) if value.parts is None else value

    def _membership(self, node: ast.Compare) -> Value:
        """Translate `x in (2, 3, 5)`."""
        among = node.comparators[0]
        among_ = ast.copy_location(ast.Tuple(among.elts, ast.Load()), among) if isinstance(among, ast.List) else among
        found = self.expression(among_) if isinstance(among_, (ast.Tuple, ast.Name, ast.Attribute)) else None
        if found is None or found.parts is None:
            self.fail(among, "`in` looks into a tuple in a kernel", "something else here", "write the loop")
        value = self.number(node.left)
        if not _is_simple(value.text) and not self.in_arm:
            value = self.keep(value)
        tests = [self.comparison(node, "==", value, part) for part in found.parts if self._is_number(among, part)]
        text = "(" + (" || ".join(f"({test})" for test in tests) or "false") + ")"
        uniform = value.uniform and found.uniform
        return Value(text if isinstance(node.ops[0], ast.In) else f"(!{text})", BOOL, uniform, is_python=True)

    def _is_number(self, node: Any, value: Value) -> bool:
        if value.parts is not None or not isinstance(value.type, Num):
            self.fail(node, "`in` looks into a tuple of numbers", "this has something else in it")
        return True

    def comparison(self, node: Any, op: str, a: Value, b: Value) -> str:
        """Write a comparison."""
        if a.parts is not None or b.parts is not None:
            return self._of_tuples(node, op, a, b)
        if a.type == BOOL and b.type == BOOL:
            return _bools.compared(op, a, b)
        a, b = _bools.as_int(a), _bools.as_int(b)
        ty = promote(a.type, b.type)
        if ty.kind == "c" and op not in ("==", "!="):
            self.fail(node, "complex numbers have no order", f"`{ty}`", "compare `abs(z)`, or a part, `z.real`")
        if ty == INT and a.is_narrow and b.is_narrow:
            return f"{a.text} {op} {b.text}"
        if ty.is_int:
            for value, other in ((a, b), (b, a)):
                if value.const is not None and value.type == INT and not ty.holds(value.const):
                    return self._beyond(op if value is b else _mirrored(op), value.const, ty, other)
        by_value = _ints.compared(self, node, op, a, b)
        if by_value is not None:
            return by_value
        return f"{self.cast(a, ty, node).text} {op} {self.cast(b, ty, node).text}"

    def _of_tuples(self, node: Any, op: str, a: Value, b: Value) -> str:
        """Write whether two tuples are equal, or differ."""
        if op not in ("==", "!="):
            self.fail(node, "tuples are not ordered in a kernel", "here", "compare their elements")
        if a.parts is None or b.parts is None or len(a.parts) != len(b.parts):
            return "true" if op == "!=" else "false"
        tests = [f"({self.comparison(node, '==', x, y)})" for x, y in zip(a.parts, b.parts)]
        text = " && ".join(tests) or "true"
        return f"({text})" if op == "==" else f"(!({text}))"

    def _beyond(self, op: str, const: int, ty: Num, value: Value) -> str:
        """Compare a number with a constant that no value of its type reaches, if it is no constant itself."""
        # (Another constant may.)
        less = const > int(np.iinfo(ty.dtype).max) if value.const is None else value.const < const
        if value.const == const:
            return "true" if op in ("<=", ">=", "==") else "false"
        holds = {"<": less, "<=": less, ">": not less, ">=": not less, "==": False, "!=": True}[op]
        return "true" if holds else "false"

    def of_IfExp(self, node: ast.IfExp) -> Value:
        """Translate `a if c else b`."""
        if not self.in_arm and self.needs_branches(node):
            return self.chosen_before(node)
        test = self.condition(node.test)
        self.in_arm += 1
        a, b = self.in_one_arm(node.body), self.in_one_arm(node.orelse)
        self.in_arm -= 1
        if a is None and b is None:
            return self.number(node.body)
        return self._either(node, test, a or b, b or a)

    def _either(self, node: ast.IfExp, test: Value, a: Value, b: Value) -> Value:
        """Give one of two numbers, or of two tuples."""
        if a.parts is None and b.parts is None:
            return self.choose(node, test, a, b)
        if a.parts is None or b.parts is None or len(a.parts) != len(b.parts):
            self.fail(node, "the two values are not alike", "tuples of as many numbers, or two numbers")
        test = test if _is_simple(test.text) or self.in_arm else self.keep(test)
        return tuple_of(self._either(node, test, x, y) for x, y in zip(a.parts, b.parts))

    def choose(self, node: Any, test: Value, a: Value, b: Value, mixes: bool = False) -> Value:
        """Give one of two numbers; a bool and a number have a common type if it `mixes` them, as numpy does."""
        a, b = self._as_number(node, a), self._as_number(node, b)
        ty = promote(a.type, b.type) if mixes or (a.type == BOOL) == (b.type == BOOL) else None
        if ty is None:
            bools = "convert the bool: `int(…)`" if BOOL in (a.type, b.type) else "convert one of them"
            self.fail(node, "the two values have no common type", f"`{a.type}` and `{b.type}`", bools)
        if ty == INT and a.is_narrow and b.is_narrow:
            text = f"({test.text} ? {a.text} : {b.text})"
            return Value(text, INT, test.uniform and a.uniform and b.uniform, min(a.low, b.low), max(a.high, b.high))
        self.in_arm += 1
        x, y = self.cast(a, ty, node), self.cast(b, ty, node)
        self.in_arm -= 1
        return Value(f"({test.text} ? {x.text} : {y.text})", ty, test.uniform and a.uniform and b.uniform)


_LITERALS = (
    ast.Constant, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip
# How far `i + 1` and its like are from the ends of a range.
_NEAR = 1024


def _beyond(a: Value, b: Value) -> int | None:
    """Give by how much an integer may be more than another is, at most, plus one; None if that is not known."""
    if a.below is None or b.equals is None or a.below[0] != b.equals[0]:
        return None
    return a.below[1] - b.equals[1]


# What calls functions, or reads elements.
_COMPUTED = re.compile(r"[\w>]\(|\[")


def _interval(op: str, a: Value, b: Value) -> tuple[int, int]:
    """Give the least and greatest result of an operation on integers."""
    if op == "+":
        return a.low + b.low, a.high + b.high
    if op == "-":
        return a.low - b.high, a.high - b.low
    if op == "*":
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return min(ends), max(ends)
    if op == "//" and a.low >= 0 and b.low > 0:
        return a.low // b.high, a.high // b.low
    if op == "%" and b.low >= 0:
        # There is none of zero.
        return 0, max(min(b.high - 1, a.high) if a.low >= 0 else b.high - 1, 0)
    if op == "&" and (a.low >= 0 or b.low >= 0):
        return 0, min(v.high for v in (a, b) if v.low >= 0)
    if op in "|^" and a.low >= 0 and b.low >= 0:
        return 0, (1 << max(a.high, b.high).bit_length()) - 1
    if op == ">>" and b.const is not None and b.const >= 0:
        return a.low >> min(b.const, 63), a.high >> min(b.const, 63)
    return INT64


def _apart(op: str, a: Value, b: Value) -> frozenset[str]:
    """Give the indices with which the result of an operation on integers is another number for each."""
    if op == "*":
        varying, factor = (a, b) if b.const is not None else (b, a)
        # A product that wraps might be that of another number.
        few = varying.is_narrow and factor.is_narrow and factor.const not in (None, 0)
        return varying.apart if few and varying.type == factor.type == INT else frozenset()
    if op not in ("+", "-"):
        return frozenset()
    return a.apart if b.uniform else b.apart if a.uniform else frozenset()


def _wrapped(op: str, a: Value, b: Value) -> str | None:
    """Write the low 32 bits of a result in 64 where those of the operands make them, and are at hand; else None."""
    cut = lambda v: f"((int){v.text})" if v.uniform and v.type == INT else None  # noqa: E731
    x, y = (v.text if v.is_narrow else v.wrapped or cut(v) for v in (a, b))
    is_shift = op == "<<" and b.const is not None and 0 <= b.const < 32
    makes = op in ("+", "-", "*", "&", "|", "^") or is_shift
    return f"({x} {op} {y})" if makes and x is not None and y is not None else None


def _below(op: str, a: Value, b: Value) -> tuple[str, int] | None:
    """Give what a sum or difference of two integers is below."""
    for value, other in ((a, b), (b, a)) if op == "+" else ((a, b),):
        at = value.below or (value.equals and (value.equals[0], value.equals[1] + 1))
        if at is not None:
            return at[0], at[1] + (other.high if op == "+" else -other.low)
    return None


def _before(op: str, a: Value, b: Value) -> str | None:
    """Give what computes a result before the call; None if an operand is not known then."""
    x, y = a.before, b.before
    return f"({x} {op} {y})" if x is not None and y is not None and op in _OF_LENGTHS else None


def _equals(op: str, a: Value, b: Value) -> tuple[str, int] | None:
    """Give the length, and the offset from it, that a sum or difference is equal to."""
    for value, other in ((a, b), (b, a)) if op == "+" else ((a, b),):
        if value.equals is not None and other.const is not None:
            return value.equals[0], value.equals[1] + (other.const if op == "+" else -other.const)
    return None


def _bounds_of(node: ast.Slice) -> list[ast.expr | None]:
    return [node.lower, node.upper, node.step]


def _is_power_of_two(value: Any) -> bool:
    return isinstance(value, int) and value > 0 and value & (value - 1) == 0


def _is_simple(text: str) -> bool:
    return text.replace("_", "").replace(".", "").isalnum()


def _mirrored(op: str) -> str:
    return {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)


def _range(ty: Num) -> str:
    info = np.iinfo(ty.dtype)
    return f"{info.min} to {info.max}"


def _article(kind: str) -> str:
    return "an" if kind[:1] in "aeiou" else "a"


def _written(node: ast.expr) -> int | None:
    """Give the integer that is written as `2**64 - 1` or the like, whose parts may have more than 64 bits."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub, ast.Pow, ast.LShift)):
        return None
    a, b = _written(node.left), _written(node.right)
    if a is None or b is None or not (0 <= b <= 64 or isinstance(node.op, (ast.Add, ast.Sub))):
        return None
    return int(_FOLDED[_OPERATORS[type(node.op)]](a, b))


def _power_help(node: Any) -> str:
    """Say how to write a power whose exponent may be negative."""
    operands = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])
    x, n = map(ast.unparse, operands) if len(operands) == 2 else ("x", "n")
    return f"`{n}` is negative; compute with floats: `float({x}) ** {n}`"


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _element_help(value: Value) -> str | None:
    help = "take an element: `a[i]`; statements over all write to a part: `out[:] = a + 1`, `a[:] += 1`"
    if value.parts is not None or not isinstance(value.type, Array):
        return None
    return help if value.type.ndim else f"take one of its fields, {', '.join(name for name, _ in value.type.of.fields)}"


_UNSUPPORTED = {
    "List": (
        "a list",
        "make an array, `np.array([…])` or `out = np.empty(len(a))`, in which elements are counted (`out[n] = x`, "
        "`n += 1`) and of which a part can be returned (`return out[:n]`); or use a tuple",
    ),
    "Dict": ("a dict", "use arrays: one for what is looked up, another for what belongs to it"),
    "Set": ("a set", "use an array of flags: `seen[k] = True`"),
    "ListComp": ("a list comprehension", "write the loop, or `np.sum(a * a)` and its like"),
    "SetComp": ("a comprehension", "write the loop"),
    "DictComp": ("a comprehension", "write the loop"),
    "GeneratorExp": ("a generator", "write the loop, or `np.sum(a * a)` and its like"),
    "Lambda": ("`lambda`", "give it a name, in a statement of its own (`f = lambda …`), or write it with `def`"),
    "Await": ("`await`", None),
    "Yield": ("`yield`", "store into an array that is passed"),
    "YieldFrom": ("`yield`", "store into an array that is passed"),
    "JoinedStr": ("a string", "strings stand in `print` only"),
    "NamedExpr": ("`:=` here", "assign in a statement before"),
    "Starred": ("`*`", None),
    "Slice": ("a slice", "loop over the indices"),
}
