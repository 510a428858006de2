"""Array kernels, which are called once: what they are passed, and what is made for a call."""

from __future__ import annotations

import builtins
import re
from typing import Any, NamedTuple

import numpy as np

from .. import _containers
from .._copies import Deadline
from . import _elementwise_kernels, _functions, _passed_dicts, _passed_tuples, _told
from ._annotations import Annotation, is_of_records, parameter_type
from ._body import Body
from ._instances import Instance, decided_for, kind_of, literals_of, note_passed
from ._known import is_literal
from ._messages import passed_as
from ._places import ENTRY
from ._program import Param, Program
from ._types import (
    COMPLEX,
    FLOAT,
    INT,
    Array,
    Literal,
    Num,
    Record,
    Tuple,
    Uniform,
    of_dtype,
    of_value,
    record_of,
    strong,
)
from ._values import LONGEST

# What is said of an array that cannot be written to.
_READ_ONLY = re.compile(r"\w+\(\): `(\w+)` is written by the program, but the array is read-only")
_AS_THEY_ARE = (np.ndarray, np.generic, int, float, complex)
# Of arguments of these types `Again` sees all that matters.
_FORMED = (np.ndarray, int, float, bool, *(np.dtype(c).type for c in "?bBhHiIlLqQefd"))


class Again(NamedTuple):
    """The last call of an array kernel: what comes with arguments of the same types and shapes goes the same way.

    Kernels of a tenth of a millisecond are called in loops (steps of a simulation), with the same arrays.
    """

    instance: Instance
    # Of each argument the type, of an array its numbers' and its shape.
    seen: list[Any]
    # What the run is given, and where in it the arguments stand.
    run: list[Any]
    places: list[int]

    @staticmethod
    def of(instance: Instance, values: list[Any], arrays: list[bool]) -> Again | None:
        """Note a call; None where there is more to it."""
        if instance.arrays is not None or not builtins.all(type(v) in _FORMED for v in values):
            return None
        run: list[Any] = []
        places = []
        for value, is_array in zip(values, arrays):
            places.append(len(run))
            run.extend((None, *value.shape) if is_array else (None,))
        seen = [(v.dtype, v.shape) if isinstance(v, np.ndarray) else type(v) for v in values]
        return Again(instance, seen, run, places)


def call(kernel: Any, values: list[Any], progress: dict[str, Any]) -> Any:
    """Call an array kernel."""
    try:
        # What has been taken as it is once is so again.
        plan = kernel._plans[tuple([kind_of(value) for value in values])]
    except (KeyError, TypeError):
        plan = None
    if plan is None:
        before, deadline = values, kernel._deadline()
        values = [
            v if isinstance(v, _AS_THEY_ARE) or is_literal(v) else _shared(kernel, k, v, deadline)
            for k, v in enumerate(values)
        ]
        if builtins.any(v is not b for v, b in zip(values, before)):
            return _call_converted(kernel, before, values, progress)
        kinds = tuple([_passed_tuples.kind_of(value) for value in values])
        plan = kernel._plans.get(kinds)
    if plan is None:
        given_types = _types_of(kernel, values)
        takes, names, types = None, kernel._names, given_types
        if builtins.any(isinstance(ty, Literal) for ty in types):
            takes = [k for k, ty in enumerate(types) if not isinstance(ty, Literal)]
            names, types = [names[k] for k in takes], tuple([types[k] for k in takes])
        is_apart = builtins.any(isinstance(ty, Tuple) for ty in types)
        names, types = _passed_tuples.apart(names, types)
        arrays = [isinstance(ty, Array) for ty in types]
        several = builtins.any(isinstance(ty, Array) and ty.ndim > 1 for ty in types)
        # Instances by what is equal about shapes.
        is_converted = builtins.any(isinstance(ty, Record) or getattr(ty, "kind", "") == "c" for ty in types)
        plan = (given_types, takes, is_apart, names, types, arrays, several, is_converted, {})
        kernel._plans[kinds] = plan
    given_types, takes, is_apart, names, types, arrays, several, is_converted, ready = plan
    if takes is not None:
        values = [values[k] for k in takes]
    if is_apart:
        # Of a tuple each number is passed.
        values = _passed_tuples.all_leaves(values)
    if is_converted:
        places = [f"{kernel.__name__}(): `{name}`" for name in names]
        values = [_elementwise_kernels.one_of(*each) for each in zip(places, values, types)]
    given: list[Any] = []
    lengths: dict[int, int] = {}
    pattern = []
    # Whether offsets need more than 32 bits.
    wide = False
    for value, is_array, ty in zip(values, arrays, types):
        given.append(value)
        if isinstance(ty, Record):
            # Which one of an array.
            given.append(0)
        if is_array:
            shape = value.shape
            # (Where an array has no elements, a dimension may be long nevertheless.)
            if (value.size > LONGEST or not value.size) and max(shape) > LONGEST:
                name = names[next(k for k, v in enumerate(values) if v is value)]
                raise ValueError(f"{kernel.__name__}(): `{name}` is longer than {LONGEST} elements in a dimension")
            given.extend(shape)
            wide |= value.size > LONGEST
            if several:
                # Lengths that are equal now: an index below one is below the other.
                pattern.append(tuple([lengths.setdefault(n, len(lengths)) for n in shape]))
    shapes = (tuple(pattern), wide)
    instance = ready.get(shapes)
    if instance is None:
        key = ("arrays", given_types, *shapes)
        instance = kernel._instance(key, lambda program: _translate(kernel, program, list(given_types), *shapes))
        ready[shapes] = instance
    kernel._last = instance
    made: list[np.ndarray] = []
    if instance.made:
        made = instance.memory(given, kernel.__name__)
        for array in made:
            given.extend((array, *array.shape))
    if not instance.gives_several:
        is_plain = not made and not is_converted and not is_apart and takes is None
        plain = kernel._is_decided and kernel._is_positional and is_plain
        kernel._again = Again.of(instance, values, arrays) if plain else None
        result = kernel._run(instance, given, progress)
        return result if instance.arrays is None else instance.results(values, made, [])
    results = [np.empty(1, strong(ty).dtype) for ty in instance.result_types]
    kernel._run(instance, [*given, *results], progress)
    # What Python has as numbers of its own, such as counters and lengths, is not numpy's here either.
    numbers = tuple(r.item() if ty in (INT, FLOAT, COMPLEX) else r[0] for r, ty in zip(results, instance.result_types))
    if kernel._returns is not None and instance.arrays is None:
        return np.array(numbers, kernel._returns)[()]
    return instance.shaped(numbers) if instance.arrays is None else instance.results(values, made, list(numbers))


def _call_converted(kernel: Any, before: list[Any], values: list[Any], progress: dict[str, Any]) -> Any:
    """Call an array kernel with what objects have been made to arrays."""
    try:
        with passed_as(before, values):
            return call(kernel, values, progress)
    except ValueError as error:
        found = _READ_ONLY.match(str(error))
        at = kernel._names.index(found[1]) if found and found[1] in kernel._names else None
        if at is None or _containers.shared(before[at]) is not None:
            raise
        kind = type(before[at]).__name__
        raise TypeError(
            f"{kernel.__name__}(): `{found[1]}` is written by the kernel, which cannot write to a `{kind}`; make an "
            "array, x = np.array(x), pass it, and find the results there"
        ) from None


def _shared(kernel: Any, at: int, value: Any, deadline: Deadline) -> Any:
    """Give the memory of an object that shows it as an array; anything else as it is."""
    place = f"{kernel.__name__}(): `{kernel._names[at]}`"
    if isinstance(value, (dict, set, frozenset)):
        return _passed_dicts.passed(place, value)
    if isinstance(value, _passed_dicts.Passed):
        return value
    own = kernel._annotations[kernel._names[at]]
    if isinstance(value, tuple) and own is None and _passed_tuples.is_tuple(kernel, kernel._names[at], value):
        return value
    if isinstance(value, tuple) and own is not None and own.what != "array" and is_of_records(own):
        return _elementwise_kernels.as_records(place, value, record_of(own.of))
    if _containers.is_lazy(value):
        raise TypeError(
            f"{place} is a Dask array, and this kernel works on whole arrays; compute it first (x.compute()), or "
            "call the kernel for each chunk (da.map_blocks)"
        )
    _containers.refuse_device(value, place)
    array = _containers.shared(value, place)
    annotation, name = kernel._annotations[kernel._names[at]], kernel._names[at]
    if array is None and annotation is None and name in kernel._typed and of_value(value) is not None:
        return value
    if array is None and (name in kernel._indexed or (annotation is not None and annotation.what == "array")):
        array = _containers.readable(value, place, deadline)
    return value if array is None else array


def _types_of(kernel: Any, values: list[Any]) -> tuple[Any, ...]:
    """Give the types of the arguments of an array kernel."""
    types: list[Any] = []
    for name, value in zip(kernel._names, values):
        annotation = kernel._annotations[name]
        if isinstance(value, _passed_dicts.Passed):
            types.append(value.type)
            continue
        if is_literal(value) and kernel._takes_literal(name, value):
            types.append(Literal(value))
            continue
        if annotation is not None and annotation.what != "array":
            ty = parameter_type(annotation)
            types.append(ty.of if isinstance(ty, Uniform) else ty)
            continue
        if annotation is None and isinstance(value, tuple):
            ty = _passed_tuples.type_of(value)
            if ty is None:
                raise TypeError(f"{kernel.__name__}(): `{name}` {_told.no_type(value)}")
            types.append(ty)
            continue
        is_number = name not in kernel._indexed or name in kernel._typed
        if annotation is None and is_number and not isinstance(value, np.ndarray):
            ty = record_of(value.dtype) if isinstance(value, np.void) and value.dtype.names else of_value(value)
        else:
            if not isinstance(value, np.ndarray):
                raise TypeError(f"{kernel.__name__}(): `{name}` takes an array, not {_told.described(value)}")
            ty = of_value(value)
            if isinstance(ty, Array) and annotation is not None:
                _check(kernel, name, value, ty, annotation)
        if ty is None or (not is_number and not isinstance(ty, Array)):
            raise TypeError(f"{kernel.__name__}(): `{name}` {_told.no_type(value)}")
        types.append(ty)
    return tuple(types)


def _check(kernel: Any, name: str, value: np.ndarray, ty: Array, annotation: Annotation) -> None:
    """Refuse an array that is not as it is annotated."""
    if annotation.ndim is not None and value.ndim != annotation.ndim:
        raise ValueError(
            f"{kernel.__name__}(): `{name}` takes an array of {annotation.ndim} dimensions, not {value.ndim}"
        )
    of = _functions.type_of(annotation.of) or of_dtype(annotation.of)
    if strong(of) != ty.of if isinstance(of, Num) else of != ty.of:
        help = f"; pass np.asarray(x, np.{of})" if isinstance(of, Num) else ""
        raise TypeError(f"{kernel.__name__}(): `{name}` takes an array of {of}, not of {value.dtype}{help}")


def _translate(
    kernel: Any, program: Program, types: list[Any], pattern: tuple, wide: bool
) -> tuple[Body, Program, list[Any], list[Any]]:
    """Write the text of an array kernel; `pattern` tells which lengths are equal."""
    program.wide, program.brings_memory = wide, True
    literals, names = literals_of(kernel._names, types)
    types = [ty for ty in types if not isinstance(ty, Literal)]
    forms = _passed_tuples.forms(names, types)
    names, apart = _passed_tuples.apart(names, tuple(types))
    params = [
        Param(n, Array(ty, 0), True, ()) if isinstance(ty, Record) else Param(n, ty, True)
        for n, ty in zip(names, apart)
    ]
    body = Body(program, decided_for(kernel, program, params, literals, forms), params, kernel._lookup, True)
    body.tuples = forms
    body.result = None if kernel._returns is None else record_of(kernel._returns)
    for param in params:
        if isinstance(param.type, Num) and param.type.is_int:
            param.host = body.param_text(param.name)
    note_passed(body)
    arrays = [param for param in params if isinstance(param.type, Array) and param.type.ndim]
    for param, classes in zip(arrays, pattern):
        for k, number in enumerate(classes):
            body.dims[f"{body.param_text(param.name)}__n{k}"] = f"length {number}"
    for param in arrays:
        for k in range(param.type.ndim):
            length = f"{body.param_text(param.name)}__n{k}"
            program.hosts.setdefault(body.dims.get(length, length), length)
    body.translate()
    if not body.returns_tuple:
        result = f"uniform {body.returns[0].spmd}" if body.returns else "void"
        head = f"export {result} {ENTRY}({', '.join(body.param_list())}) {{"
        return body, program, [head, *body.lines, "}"], list(apart)
    inner = body.write_static(program.name("all"))
    program.python_names[inner.name] = kernel.__name__
    outs = [f"uniform {ty.spmd} out__{k}[]" for k, ty in enumerate(body.returns)]
    names = [part.rsplit(" ", 1)[1].removesuffix("[]") for part in body.param_list()]
    stores = " ".join(f"out__{k}[0] = r__.v{k};" for k in range(len(outs)))
    lines = [
        f"export void {ENTRY}({', '.join([*body.param_list(), *outs])}) {{",
        f"    uniform {inner.name}_result r__ = {inner.name}({', '.join(names)}); {stores}",
        "}",
    ]
    return body, program, lines, list(apart)
