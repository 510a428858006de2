"""Expressions of kernels: numbers and their conversions, names, attributes, and elements of arrays."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from . import _complex, _functions, _instead, _ints
from ._calls import text_of
from ._known import is_literal, misused
from ._operators import Operators, element_help
from ._parts import NO_INDEX, is_complex_part, is_ellipsis, is_no_index
from ._scopes import Local
from ._types import BOOL, FLOAT, INT, NUMBERS, Array, Num, Record, Tuple
from ._values import INT64, LANE, Value, constant, constants, literal, tuple_of

# What numbers of numpy's have as arrays do.
_OF_NUMBERS = {"shape": tuple_of(()), "ndim": constant(0), "size": constant(1)}


class Expressions(Operators):
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
            what = f"a tuple of {len(value.parts)}" if value.parts is not None else f"`{value.type}`"
            is_made = isinstance(node, ast.Call) and isinstance(value.type, Array) and not self.is_uniform_here()
            help = f"give it a name before: `found = {ast.unparse(node)}`" if is_made else element_help(value)
            self.fail(node, "a number is needed", f"this is {what}", help)
        return value

    def integer(self, node: ast.expr, what: str) -> Value:
        """Translate an expression that is an integer."""
        value = self.number(node)
        if not value.type.is_int:
            help = _instead.of_several_types(self.source.tree, node) or "write `int(…)`"
            self.fail(node, f"{what} takes integers", f"this is `{value.type}`", None if value.type == BOOL else help)
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
        if id(node) not in self.elements and (found := self.has_keys(node)) is not None:
            return found
        if not isinstance(node, ast.BoolOp) or id(node) in self.elements:
            return self.as_bool(node, self.expression(node))
        if self.needs_steps(node):
            return self.as_bool(node, self.in_steps(node, True))
        values = [self.condition(node.values[0])]
        for part in node.values[1:]:
            self.in_arm += 1
            values.append(self.condition(part))
            self.in_arm -= 1
        op = " && " if isinstance(node.op, ast.And) else " || "
        return Value("(" + op.join(value.text for value in values) + ")", BOOL, all(v.uniform for v in values))

    def as_bool(self, node: ast.expr, value: Value) -> Value:
        """Give whether a value counts as true."""
        if self.is_list_text(value.text):
            return Value(f"({self.dim(value.text, 0).text} > 0)", BOOL, True, is_python=True)
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
        if owner is None and isinstance(node, ast.Attribute) and node.attr == "dtype":
            at = node.value
            value = self.read_name(at) if isinstance(at, ast.Name) else None
            if isinstance(at, (ast.Call, ast.BinOp, ast.Subscript)):
                value = self.as_array(at) or self.expression(at)
            if value is not None and isinstance(value.type, Array) and isinstance(value.type.of, Num):
                return value.type.of
            if value is not None and value.parts is None and isinstance(value.type, Num) and not value.type.weak:
                return value.type
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
            if is_literal(node.value):
                self.fail(node, *misused(getattr(node, "stands_for", None), node.value))
            self.fail(node, f"{type(node.value).__name__} values cannot stand in a kernel", "not a number")
        return value

    def of_Name(self, node: ast.Name) -> Value:
        """Translate a variable, a parameter or a constant from outside."""
        value = self.read_name(node)
        if value is not None:
            return value
        if (name := self.dict_named(node)) is not None:
            self.refuse_dict(node, name)
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
        named = self.named_part(node)
        if named is not None:
            return named
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
            if value is not None and node.attr in _OF_NUMBERS and isinstance(value.type, Num) and not value.type.weak:
                return _OF_NUMBERS[node.attr]
            if value is not None:
                # (Nothing tells that it is to be an array.)
                known = [] if hasattr(np.ndarray, node.attr) else dir(np.ndarray)
                help = _instead.meant(node.attr, known, f"{owner.id}.")
                self.fail(node, f"`{owner.id}` is a number and has no `{node.attr}`", "here", help)
        elif node.attr in ("shape", "size", "ndim") and (part := self._unnamed_array(owner)) is not None:
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

    def _unnamed_array(self, node: ast.expr) -> Value | None:
        """Give an array without a name: a part of one, what a function gives, or what is computed; None of a number."""
        given = self.among_given(node) if isinstance(node, ast.Subscript) else None
        if given is not None:
            return given
        if isinstance(node, ast.Call) or (isinstance(node, ast.Subscript) and self.is_of_histogram(node)):
            return self.array_of(node)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
            return self.as_array(node)
        if isinstance(node, ast.Subscript) and (self.is_choice(node) or self.takes(node)):
            return self.array_of(node)
        return self.part(node) if self.is_part(node) else None

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
        """Translate an element of an array, or of a tuple such as `a.shape`, or a value of a dict."""
        if (found := self.item(node)) is not None:
            return found
        value = self._tuple_of(node.value)
        if value is not None:
            return self._part_of_tuple(node, value)
        if self.is_choice(node) or self.takes(node):
            return self.array_of(node)
        return self.part(node) if self.is_part(node) else self.element(node, stores=False)

    def _part_of_tuple(self, node: ast.Subscript, value: Value) -> Value:
        """Translate `p[i]` and `p[i:j]` of a tuple."""
        if isinstance(node.slice, ast.Slice):
            bounds = [part and self.integer(part, "a bound").const for part in _bounds_of(node.slice)]
            if any(part is not None and at is None for part, at in zip(_bounds_of(node.slice), bounds)):
                self.fail(node.slice, "the bounds of a part of a tuple are constants", "known only at run time")
            return tuple_of(value.parts[slice(*bounds)])
        at = self.integer(node.slice, "an index")
        if at.const is None:
            return self.one_of(node, value.parts, at)
        if not -len(value.parts) <= at.const < len(value.parts):
            self.fail(node.slice, f"this is one of {len(value.parts)} values", f"there is none at {at.const}")
        return value.parts[at.const]

    def _tuple_of(self, node: ast.expr) -> Value | None:
        """Give a tuple that is indexed; None if it is none."""
        if isinstance(node, ast.Name):
            value = self.read_name(node)
            try:
                value = constants(self.lookup(node.id)) if value is None else value
            except KeyError:
                return None
        elif isinstance(node, ast.Subscript):
            if self.is_of_dict(node):
                value = self.expression(node)
                return value if value.parts is not None else None
            inner = self._tuple_of(node.value)
            if inner is not None:
                value = self._part_of_tuple(node, inner)
            else:
                value = self.of_Subscript(node) if self.list_of(node.value) is not None else None
        elif isinstance(node, ast.Call):
            is_other = self.is_method(node) and not self.is_of_dict(node)
            value = None if is_other else self.expression(node)
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
            if stores and isinstance(owner, ast.Subscript) and self.expression(owner).parts is not None:
                help = f"store another one: `{ast.unparse(owner)} = (…, …)`"
                self.fail(owner, f"`{ast.unparse(owner)}` is a tuple, whose parts do not change", "here", help)
            if isinstance(owner, ast.Subscript) and isinstance(self.expression(owner).type, Num):
                name = ast.unparse(owner)
                self.fail(owner, f"`{name}` is a number and has no elements", f"`{self.expression(owner).type}`")
            help = "give it a name before: `found = …`, `found[0]`"
            self.fail(owner, "arrays and their parts are indexed", "something else here", help)
        else:
            array = self.read_name(owner)
            self.want_type(owner)
        if array is None:
            self._refuse_outside(owner, self.resolve(owner))
        if array.parts is not None:
            told = ast.unparse(owner)
            help = f"make another one: `{told} = (x, {told}[1])`; or use an array"
            self.fail(owner, f"`{told}` is a tuple, whose parts do not change", f"{len(array.parts)} values", help)
        if not isinstance(array.type, Array):
            help = "annotate the kernel's parameter if it is passed on as an array: `spmdvm.array[spmdvm.float64]`"
            if not isinstance(self.source.tree, ast.FunctionDef):
                help = "expressions are of single elements; take the part before"
            self.fail(owner, f"`{owner.id}` is a number and has no elements", f"`{array.type}`", help)
        of = array.type.of
        if isinstance(of, Tuple):
            return self.tuple_in_list(array, self._indices_of(at, array))
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


_LITERALS = (
    ast.Constant, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp,
)  # fmt: skip
# What calls functions, or reads elements.
_COMPUTED = re.compile(r"[\w>]\(|\[")


def _bounds_of(node: ast.Slice) -> list[ast.expr | None]:
    return [node.lower, node.upper, node.step]


def _range(ty: Num) -> str:
    info = np.iinfo(ty.dtype)
    return f"{info.min} to {info.max}"


def _article(kind: str) -> str:
    return "an" if kind[:1] in "aeiou" else "a"


_UNSUPPORTED = {
    "List": (
        "a list",
        "make an array, `np.array([…])` or `out = np.empty(len(a))`, in which elements are counted (`out[n] = x`, "
        "`n += 1`) and of which a part can be returned (`return out[:n]`); or use a tuple",
    ),
    "Dict": (
        "a dict",
        "give it a name in a statement of its own, `d = {…}`; it is looked into, gone over and returned",
    ),
    "Set": ("a set", "give it a name in a statement of its own, `s = {…}`; it is looked into, gone over and returned"),
    "ListComp": ("a list comprehension", "make an array of it, `np.array([… for … in …])`; or write the loop"),
    "SetComp": ("a set", "give it a name in a statement of its own: `s = {… for … in …}`"),
    "DictComp": ("a dict", "give it a name in a statement of its own: `d = {… for … in …}`"),
    "GeneratorExp": ("a generator", "write the loop; `sum`, `min`, `max`, `any` and `all` take it"),
    "Lambda": ("`lambda`", "give it a name, in a statement of its own (`f = lambda …`), or write it with `def`"),
    "Await": ("`await`", None),
    "Yield": ("`yield`", "store into an array that is passed"),
    "YieldFrom": ("`yield`", "store into an array that is passed"),
    "JoinedStr": ("a string", "strings stand in `print` only"),
    "NamedExpr": ("`:=` here", "assign in a statement before"),
    "Starred": ("`*`", None),
    "Slice": ("a slice", "loop over the indices"),
}
