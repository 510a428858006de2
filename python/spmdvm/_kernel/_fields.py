"""Records in kernels: one of an array, its fields, those that are several numbers or records, and all at once.

A record is a part of its array without dimensions. So is a field that is a record; one of several numbers is a part
with their shape, so that all that is known of arrays holds for it.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from ._types import INT, Array, Num, Record, Rows
from ._values import Value, constant, tuple_of

_ALL = Value("0", INT, True, 0, 0, 0)
# A record of more numbers is not taken as a whole.
_MOST = 256


class Axis(NamedTuple):
    """What a part takes of an axis: one index (no step), or every so many elements from a start."""

    start: Value
    # A variable, if it is not known before.
    step: int | str | None


class Part(NamedTuple):
    """A part of an array, or of another part."""

    array: Value
    # The name of the parameter that the elements are in.
    name: str
    axes: tuple[Axis, ...]
    # Where the row begins that it is in, if it has one index for the first axis of an array.
    row: str | None = None
    # Whether its axes are those of the array from the last to the first.
    is_turned: bool = False
    # Whether it is all elements of an array of several dimensions, row after row; it has no `axes` then.
    is_flat: bool = False
    # The field that is taken of each record.
    field: str | None = None
    # Which of its axes are no axes of the array: they have the length 1.
    new: frozenset[int] = frozenset()


class Fields:
    """Translates records and their fields; `Body` has what they need to know."""

    def fail(self, node: Any, message: str, note: str, help: str | None = None) -> NoReturn:
        """Raise an error at a node."""
        raise NotImplementedError

    def record_of(self, array: Value, indices: list[Value]) -> Value:
        """Give one record of an array: a part without dimensions, of which `fixed` makes one that may have a name."""
        name = self.temporary("record")
        self.parts[name] = Part(array, self._name_of(array), tuple(Axis(index, None) for index in indices))
        return Value(name, Array(array.type.of, 0), array.uniform)

    def fixed(self, value: Value) -> Value:
        """Give a part whose indices stay what they are when variables change that they are computed from."""
        part = self.parts.get(value.text)
        if part is None:
            return value
        moves = value.text in self.moving
        axes = tuple(
            axis._replace(start=self.keep(axis.start)) if axis.step is None or moves else axis for axis in part.axes
        )
        array = self.fixed(part.array)
        if axes == part.axes and array == part.array and not moves:
            return value
        name = self.temporary("record")
        self.parts[name] = part._replace(array=array, axes=axes)
        for axis in range(value.type.ndim):
            self._same_length(f"{name}__n{axis}", self.dim(value.text, axis))
        return replace(value, text=name)

    def is_record(self, node: ast.Subscript) -> bool:
        """Return whether an index takes one record of an array."""
        if is_text(node.slice) or not (isinstance(node.value, (ast.Name, ast.Subscript)) or self.is_field(node.value)):
            return False
        if not isinstance(node.value, ast.Name) and not self.is_part(node.value):
            return False
        array = self.array_of(node.value)
        count = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        return array is not None and isinstance(array.type.of, Record) and count == array.type.ndim > 0

    def _record_type(self, node: ast.expr) -> Record | None:
        """Give the type of the one record that an expression is; None if it is something else."""
        value = self.read_name(node) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Subscript) and self.is_record(node):
            return self.array_of(node.value).type.of
        if value is not None and isinstance(value.type, Array) and value.type.ndim == 0:
            return value.type.of
        of = self._field_type(node)
        return of if isinstance(of, Record) else None

    def _field_type(self, node: ast.expr) -> Num | Record | Rows | None:
        """Give the type of a field of one record; None if an expression is something else."""
        taken = field_in(node)
        record = None if taken is None else self._record_type(taken[0])
        return None if record is None else dict(record.fields).get(taken[1])

    def is_field(self, node: ast.expr) -> bool:
        """Return whether an expression is a field of one record that is several numbers, or a record."""
        return isinstance(self._field_type(node), (Record, Rows))

    def is_field_of_all(self, node: ast.expr) -> bool:
        """Return whether an expression is such a field of all records of an array."""
        taken = field_in(node)
        array = None if taken is None else self.array_of(taken[0])
        fields = dict(array.type.of.fields) if array is not None and isinstance(array.type.of, Record) else {}
        return isinstance(fields.get(taken and taken[1]), (Record, Rows))

    def field(self, node: ast.expr) -> Value | None:
        """Give a field of one record that is several numbers, or a record; None if an expression is something else."""
        if not self.is_field(node):
            return None
        owner, name = field_in(node)
        record = self.read_name(owner) if isinstance(owner, ast.Name) else self.array_of(owner)
        return self.field_of(node, record, name)

    def field_of(self, node: Any, array: Value, field: str) -> Value:
        """Give a field of one record, or of all records of an array (`p["x"]`), as an array."""
        fields = dict(array.type.of.fields)
        if field not in fields:
            self.fail(node.slice, f"this is no field `{field}`; the fields are {', '.join(fields)}", "here")
        name, ndim, ty = self.temporary("field"), array.type.ndim, fields[field]
        of, shape = (ty.of, ty.shape) if isinstance(ty, Rows) else (ty, ())
        for axis in range(ndim):
            self._same_length(f"{name}__n{axis}", self.dim(array.text, axis))
        for axis, length in enumerate(shape, ndim):
            self.dims[f"{name}__n{axis}"] = f"{length} elements"
        self.parts[name] = Part(array, self._name_of(array), (Axis(_ALL, 1),) * ndim, field=field)
        return Value(name, Array(of, ndim + len(shape)), array.uniform)

    def taken_field(self, array: Value) -> str | None:
        """Give the field that an array is of the records of another one; None if it is none."""
        part = self.parts.get(array.text)
        if part is None:
            return None
        outer = self.taken_field(part.array)
        return outer if part.field is None else part.field if outer is None else f"{outer}.{part.field}"

    def refuse_field(self, node: Any, array: Value) -> None:
        """Fail if an array is a field of records, whose elements do not lie next to each other."""
        field = self.taken_field(array)
        if field is None:
            return
        if isinstance(array.type.of, Record):
            help = "pass the record that it is a field of, or the fields"
        else:
            help = f'pass the array of records, or a copy of the field: `p["{field}"].copy()`'
        self.fail(node, "a field of records is passed on neither to functions nor as a result", "here", help)

    def member(
        self, node: Any, array: Value, indices: list[Value], field: str | None, name: str, stores: bool
    ) -> Value:
        """Translate a field of the record at some indices."""
        fields = dict(array.type.of.fields)
        if field not in fields:
            names = ", ".join(fields)
            what = "a record" if field is None else f"no field `{field}`"
            self.fail(node, f"this is {what}; the fields are {names}", "here", f"write `{name}.{next(iter(fields))}`")
        if not isinstance(fields[field], Num):
            return self.field_of(node, self.record_of(array, indices), field)
        return self._number_of(node, array, indices, f".{array.type.of.member(field)}", fields[field], stores)

    def _number_of(self, node: Any, array: Value, indices: list[Value], after: str, of: Num, stores: bool) -> Value:
        if stores:
            self.refuse_to_store(node, array)
            self.stored.add(self._name_of(array))
        self.element_apart = self.fixed_apart(array).union(*(index.apart for index in indices))
        text, uniform = self.place_of(array, indices)
        return Value(f"{text}{after}", of, uniform)

    def store_record(self, target: Any, array: Value, value: Value) -> None:
        """Write that a record takes the fields of another one, or the numbers of a tuple."""
        if value.parts is None and (not isinstance(value.type, Array) or value.type != array.type):
            help = "assign another record, or a tuple of as many numbers"
            self.fail(target, "a record is assigned as a whole", f"this is `{value.type}`", help)
        # All are read before one is stored: it may be the same record.
        given = self.keep(tuple_of(self.numbers_of(target, value, array.type.of, "the record"))).parts
        for (after, of), part in zip(array.type.of.leaves, given):
            self.store(target, self._number_of(target, array, [], after, of, True), part, of)

    def fields_of(self, node: Any, record: Value) -> Value:
        """Give the fields of a record, as a tuple."""
        return tuple_of(self.member(node, record, [], name, "", False) for name, _ in record.type.of.fields)

    def numbers_of(self, node: Any, value: Value, ty: Num | Record | Rows, what: str) -> list[Value]:
        """Give all numbers of what becomes a record, or a field of one: another one, or a tuple."""
        if isinstance(ty, Num):
            return [self._as_number(node, value)]
        if isinstance(ty, Record) and len(ty.leaves) > _MOST:
            help = "assign the fields, in loops"
            self.fail(node, f"records of more than {_MOST} numbers are not taken as a whole", "here", help)
        if isinstance(ty, Record) and value.parts is None and value.type == Array(ty, 0):
            return [self._number_of(node, value, [], after, of, False) for after, of in ty.leaves]
        if isinstance(ty, Rows) and value.parts is None and value.type == Array(ty.of, len(ty.shape)):
            value = self._rows_of(node, value, [])
        names = [name for name, _ in ty.fields] if isinstance(ty, Record) else None
        count = ty.shape[0] if names is None else len(names)
        if value.parts is None or len(value.parts) != count:
            told = f"this is `{value.type}`" if value.parts is None else f"there are {len(value.parts)} values"
            help = f"give a tuple of {count}" if names is None else f"give one for each: {', '.join(names)}"
            self.fail(node, f"{what} has {count} {'values' if names is None else 'fields'}, and {told}", "here", help)
        inner = [ty.item] * count if names is None else [of for _, of in ty.fields]
        called = [what] * count if names is None else [f"the field `{name}`" for name in names]
        found = [self.numbers_of(node, *each) for each in zip(value.parts, inner, called)]
        return [number for numbers in found for number in numbers]

    def _rows_of(self, node: Any, array: Value, at: list[Value]) -> Value:
        """Give the elements of an array of constant lengths, as tuples in tuples."""
        axis, parts = len(at), []
        for k in range(self.dim(array.text, axis).const):
            index = [*at, replace(constant(k), below=(self.dim(array.text, axis).equals[0], 0))]
            if axis + 1 < array.type.ndim:
                parts.append(self._rows_of(node, array, index))
            elif isinstance(array.type.of, Record):
                parts.append(self.record_of(array, index))
            else:
                text, uniform = self.place_of(array, index)
                parts.append(Value(text, array.type.of, uniform))
        return tuple_of(parts)

    def passed(self, node: ast.expr, value: Value) -> Value:
        """Give what a function is passed: of a field of several numbers these, as their array is the record's."""
        is_field = value.parts is None and isinstance(value.type, Array) and isinstance(value.type.of, Num)
        if not is_field or self.taken_field(value) is None or value.type.ndim != 1:
            return value
        if self.dim(value.text, 0).const is None:
            return value
        self.taken_of[id(node)] = node, self._name_of(value)
        return self._rows_of(node, value, [])

    def refuse_changes(self, nodes: list[Any], stored: set[str]) -> None:
        """Fail if a function that is passed numbers of a field changes the records that they are of."""
        for node in nodes:
            _, name = self.taken_of.get(id(node), (None, None))
            if name in stored:
                help = "pass the array of records alone, and take the field there"
                told = "the function changes the records, and is passed what was there"
                self.fail(node, "a field is passed as the numbers that it has then", told, help)


def field_in(node: ast.expr) -> tuple[ast.expr, str] | None:
    """Give of what an expression may be a field (`p.x`, `p["x"]`), and its name; None if it is none."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Subscript) and is_text(node.slice):
        return node.value, node.slice.value
    return None


def is_text(node: ast.expr) -> bool:
    """Return whether an expression is a text."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
