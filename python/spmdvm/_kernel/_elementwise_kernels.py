"""Elementwise kernels: what they are passed, and those that go through memory themselves.

Most are mapped over arrays by the package's own calls, which know strides. Where there are several results, or arrays
of lengths that are passed, arguments are brought to one shape, row after row, and the program has the loop: one for a
call, or one task for each of several threads. Tasks begin where gangs do, so that gangs are the same for every number
of threads.
"""

from __future__ import annotations

import builtins
import functools
import math
import os
import time
from typing import Any

import numpy as np

from .. import _containers, _progress
from .._copies import Deadline, assign, contiguous
from .._errors import Trap
from . import _passed_tuples, _told
from ._annotations import is_of_records, parameter_type
from ._body import Body
from ._instances import decided_for, literals_of, note_passed
from ._known import is_literal
from ._places import ENTRY, LOOP, TASK, Said
from ._program import Param, Program
from ._types import Array, Literal, Num, Record, Rows, Uniform, of_dtype, of_value, record_of, strong
from ._usage import has_effects

# After so many elements it is noted how many are done.
_PIECE = 65536
_MOST_THREADS = 1024
# A call that has failed is repeated to find the element if it took no longer.
_MOST_SECONDS = 1.0
# It has had this place since numpy 1.25.
_TooHard = getattr(np, "exceptions", np).TooHardError


def as_array(kernel: Any, name: str, value: Any, deadline: Deadline) -> Any:
    """Give what is no number as an array, unless the call itself knows what to make of it (pandas, polars)."""
    place = f"{kernel.__name__}(): `{name}`"
    if isinstance(value, (tuple, list)) and is_of_records(kernel._annotations[name]):
        return as_records(place, value, record_of(kernel._annotations[name].of))
    if isinstance(value, (int, float, complex, np.generic, np.ndarray, str, bytes, dict, type(None))):
        return value
    if kernel._annotations[name] is None and _passed_tuples.is_uniform_tuple(kernel, name, value):
        return value
    if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__"):
        return _containers.as_array(value, place)
    _containers.refuse_device(value, place)
    if hasattr(value, "__array__") and (_containers.is_labelled(value) or _containers.is_foreign(value)):
        return value
    found = _containers.as_array(value, place, deadline)
    # Of an object that is no number its type is told.
    return value if found.dtype.hasobject and not isinstance(value, (list, tuple)) else found


def types_of(kernel: Any, values: list[Any]) -> tuple[Any, ...]:
    """Give the types of the arguments of an elementwise kernel."""
    any_array = builtins.any(getattr(value, "ndim", 0) or _containers.is_labelled(value) for value in values)
    types: list[Any] = []
    for name, value in zip(kernel._names, values):
        annotation = kernel._annotations[name]
        if is_literal(value) and kernel._takes_literal(name, value):
            types.append(Literal(value))
            continue
        if annotation is not None:
            types.append(parameter_type(annotation))
            continue
        if isinstance(value, tuple):
            found = _passed_tuples.type_of(value)
            if found is None:
                raise TypeError(f"{kernel.__name__}(): `{name}` {_told.no_type(value)}")
            types.append(found)
            continue
        if _containers.is_labelled(value):
            found = _containers.as_array(value, f"{kernel.__name__}(): `{name}`")
            ty = of_dtype(found.dtype)
            if ty is None:
                of = getattr(value, "dtype", found.dtype)
                help = _told.CODES.get(str(of)) or _containers.instead_of(found.dtype)
                told = f"a {type(value).__name__} of {of}" + (f"; {help}" if help else "")
                raise TypeError(f"{kernel.__name__}(): `{name}` {_told.no_type(value, told)}")
        else:
            ty = of_dtype(value.dtype) if hasattr(value, "dtype") else of_value(value)
            if ty is None and getattr(getattr(value, "dtype", None), "names", None):
                ty = record_of(value.dtype)
        if not isinstance(ty, (Num, Record)):
            raise TypeError(f"{kernel.__name__}(): `{name}` {_told.no_type(value)}")
        types.append(Uniform(ty) if isinstance(ty, Num) and ty.weak and any_array else ty)
    return tuple(types)


def translate(kernel: Any, program: Program, types: list[Any]) -> tuple[Body, Program, list[Any], list[Any]]:
    """Write the text of an elementwise kernel."""
    literals, names = literals_of(kernel._names, types)
    types = [ty for ty in types if not isinstance(ty, Literal)]
    forms = _passed_tuples.forms(names, types)
    names, apart = _passed_tuples.apart(names, tuple(types), True)
    types = list(apart)
    plain = [ty.of if isinstance(ty, Uniform) else ty for ty in types]
    params = []
    for name, ty, given in zip(names, plain, types):
        # A record is one of an array.
        view, of = ((), Array(ty, 0)) if isinstance(ty, Record) else (None, ty)
        params.append(Param(name, of, isinstance(given, Uniform), view))
    body = Body(program, decided_for(kernel, program, params, literals, forms), params, kernel._lookup, False)
    body.tuples = forms
    body.result = None if kernel._returns is None else record_of(kernel._returns)
    program.brings_memory = True
    for param in params:
        if param.uniform and isinstance(param.type, Num) and param.type.is_int:
            param.host = body.param_text(param.name)
    note_passed(body)
    body.translate()
    if body.returns is None and not has_effects(body.source.tree):
        kernel._source.fail(
            kernel._source.tree,
            f"`{kernel.__name__}` is called for each element, and gives none a result",
            "nothing is returned",
            "return it; kernels that change arrays index them: `a[:] *= 2`, `a[i] = …`",
        )
    numbers = [*plain, *(body.returns or ())]
    is_mapped = builtins.all(isinstance(ty, Num) and ty.kind != "c" for ty in numbers)
    if is_mapped and not body.returns_tuple and not body.hidden:
        result = body.returns[0].spmd if body.returns else "void"
        head = f"export {result} {ENTRY}({', '.join(body.param_list())}) {{"
        return body, program, [head, *body.lines, "}"], types
    return body, program, write_loop(program, body, types, kernel.__name__), types


def write_loop(program: Any, body: Any, types: list[Any], name: str) -> list[str]:
    """Write the element's function, and what calls it for all elements."""
    inner = body.write_static(program.name("element"))
    program.python_names[inner.name] = name
    params, arguments = [], []
    for param, given in zip(body.params, types):
        text = body.param_text(param.name)
        if isinstance(param.type, Array):
            # One of an array, and which.
            params.append(f"const uniform {program.record(param.type.of)} {text}[]")
            arguments.extend([text, "0"] if isinstance(given, Uniform) else [f"{text} + from__", "i__"])
        elif isinstance(given, Uniform):
            params.append(f"uniform {param.type.spmd} {text}")
            arguments.append(text)
        else:
            params.append(f"const uniform {param.type.spmd} {text}[]")
            arguments.append(f"({text} + from__)[i__]")
    # The arrays that it makes.
    brought = body.param_list()[len(body.param_list(made=False)) :]
    params.extend(brought)
    arguments.extend(_name_in(part) for part in brought)
    results = body.results()
    for k, ty in enumerate(results):
        of = program.record(ty) if isinstance(ty, Record) else ty.spmd
        params.append(f"uniform {of} out__{k}[]")
    call = f"{inner.name}({', '.join(arguments)})"
    if body.returns_tuple:
        places: list[str] = []
        for k, ty in enumerate(results):
            members = [after for after, _ in ty.leaves] if isinstance(ty, Record) else [""]
            places.extend(f"(out__{k} + from__)[i__]{member}" for member in members)
        stores = " ".join(f"{place} = r__.v{k};" for k, place in enumerate(places))
        call = f"{inner.name}_result r__ = {call}; {stores}"
    else:
        call = f"(out__0 + from__)[i__] = {call};" if results else f"{call};"
    params.extend(["const uniform bool where__[]", "uniform bool masked__"])
    given = ", ".join(map(_name_in, params))
    declared, count = ", ".join(params), "uniform int64 done__[]"
    border = "gangs__ * {} / taskCount * programCount"
    # Of these each task has its own.
    firsts = [
        f"{array.text} + (int64)taskIndex * {' * '.join(f'{array.text}__n{k}' for k in range(len(array.hosts)))}"
        for array in body.hidden
    ]
    own = dict(zip((array.text for array in body.hidden), firsts))
    in_task = ", ".join(own.get(text, text) for text in map(_name_in, params))
    loop = [
        f"static void {LOOP}({declared}, uniform int64 first__, uniform int64 end__, {count}) {{",
        f"    for (uniform int64 from__ = first__; from__ < end__; from__ += {_PIECE}) {{",
        f"        const uniform int n__ = (int)min(end__ - from__, {_PIECE}ll);",
        "        foreach (i__ = 0 ... n__) {",
        f"            if (!masked__ || (where__ + from__)[i__]) {{ {call} }}",
        "        }",
        "        atomic_add_global(done__, (uniform int64)n__);",
        "    }",
        "}",
    ]
    at = body.source.line(body.source.tree)
    if not program.inlines:
        # For who steps through it: one loop, which is the kernel's.
        return [
            f"export void {ENTRY}({declared}, uniform int64 n__, {count}, uniform int tasks__) {{",
            "    const uniform int64 from__ = 0;",
            "    foreach (i__ = 0 ... (int)n__) {",
            f"        if (!masked__ || where__[i__]) {{ {call} }}",
            "    }",
            "    done__[0] = n__;",
            "}",
        ]
    program.functions.append([(line, at) for line in loop])
    return [
        f"task void {TASK}({declared}, uniform int64 n__, {count}) {{",
        "    const uniform int64 gangs__ = (n__ + programCount - 1) / programCount;",
        f"    const uniform int64 end__ = min({border.format('(taskIndex + 1)')}, n__);",
        f"    {LOOP}({in_task}, {border.format('taskIndex')}, end__, done__);",
        "}",
        f"export void {ENTRY}({declared}, uniform int64 n__, {count}, uniform int tasks__) {{",
        f"    if (tasks__ < 2) {LOOP}({given}, 0, n__, done__);",
        f"    else {{ launch[tasks__] {TASK}({given}, n__, done__); sync; }}",
        "}",
    ]


def _name_in(param: str) -> str:
    return param.rsplit(" ", 1)[1].removesuffix("[]")


def call(kernel: Any, instance: Any, values: list[Any], special: dict[str, Any], is_seen: bool) -> Any:
    """Call a kernel. What is `is_seen` (by a profiler, a stepper) is one thing after another."""
    name = kernel.__name__
    out, where, threads = special.get("out"), special.get("where", True), special.get("threads", 1)
    progress = special.get("progress", False)
    is_told = _progress.is_told(name, progress)
    tasks = _threads_of(name, threads)
    dtypes = _dtypes_of(kernel, instance, values) if instance.gives_records else instance.result_dtypes
    outs = None if out is None else _outs_of(name, out, dtypes)
    varying = [
        (n, value)
        for n, value, param in zip(instance.param_names, values, instance.params)
        if not isinstance(param, Uniform)
    ]
    carried = None
    if where is not True or not builtins.all([type(v) in _PLAIN for _, v in varying]):
        for n, value in varying:
            if isinstance(value, np.ma.MaskedArray) and value.dtype.names:
                told = "is a masked array of records, whose fields have masks of their own"
                raise TypeError(f"{name}(): `{n}` {told}; pass its data (x.data), or the fields")
        carried = _containers.Containers(name, varying, None, where)
        where = carried.where
    deadline = Deadline(name, kernel._options.get("timeout"))
    shape, mask = _shape_of(name, varying, where, outs)
    mask = contiguous(mask, deadline).reshape(-1)
    given: list[Any] = []
    for n, value, param, dtype in zip(instance.param_names, values, instance.params, instance.dtypes):
        if type(value) is np.ndarray and value.dtype == dtype and value.shape == shape and value.flags.c_contiguous:
            given.append(value.reshape(-1))
        elif isinstance(param, Uniform):
            given.append(one_of(f"{name}(): `{n}`", value, param.of))
        elif not shape and _is_of(value, dtype):
            given.append(np.array([value], dtype))
        else:
            given.append(_elements_of(f"{name}(): `{n}`", value, param, shape, deadline))
    # What is left out is zero.
    make = np.empty if where is True else np.zeros
    if outs is None:
        targets = [make(shape, dtype) for dtype in instance.result_dtypes]
    else:
        targets = _targets(outs, instance.result_dtypes, make, [*given, mask])
    n_elements = math.prod(shape)
    tasks = min(tasks, max(-(-n_elements // instance.module.width), 1))
    if instance.made:
        # More than run at once would only take memory.
        tasks = min(tasks, _threads_of(name, 0))
    made = [
        part for array in instance.memory(given, name, tasks) for part in (array, len(array) // tasks, *array.shape[1:])
    ]
    if is_told:
        counted = _progress.Counted(name, progress, n_elements)
        counter, told = counted.counter, {"progress": counted}
    else:
        counter, told = np.zeros(1, np.int64), {}
    flat = [target.reshape(-1) for target in targets]
    masked = where is not True
    end = [mask, masked, n_elements, counter, 1 if is_seen else tasks]
    began = time.monotonic()
    try:
        kernel._run(instance, [*given, *made, *flat, *end], told)
    except Trap as trap:
        if not is_seen and trap.lane is not None and time.monotonic() - began < _MOST_SECONDS:
            parts = ([*given, *flat], made, mask if masked else None)
            _tell_element(kernel, instance, trap, parts, n_elements, shape)
        raise
    if outs is not None:
        chosen = np.broadcast_to(where, shape) if masked else True
        for goal, target in zip(outs, targets):
            if goal is not target:
                assign(goal, target, deadline, chosen)
        return out if instance.gives_several else outs[0]
    found = [_as_dtype(target, dtype) for target, dtype in zip(targets, dtypes)]
    if not shape:
        # As functions of one number give one of Python. Records are numpy's, and what will have a mask keeps its type.
        is_plain = carried is None or not carried.masked
        found = [target.item() if is_plain and target.dtype.names is None else target[()] for target in found]
    if carried is not None:
        found = [carried.wrap(target) for target in found]
    return instance.shaped(tuple(found)) if instance.gives_several else found[0] if found else None


# Of arguments of these types nothing else is to be known.
_PLAIN = (np.ndarray, int, float, complex, bool, *(np.dtype(c).type for c in "?bBhHiIlLqQefdFD"))
_ALL = np.ones(1, bool)


def _tell_element(
    kernel: Any, instance: Any, trap: Trap, parts: tuple[Any, ...], n_elements: int, shape: tuple[int, ...]
) -> None:
    """Find out at which element a call has failed, by calls over halves of the elements: all that they do is to fail.

    Each is half as long as the one before. Gangs begin where they did, so that the lane is the same.
    """
    elements, made, mask = parts
    if "print(" in instance.text:
        return
    width, varying = instance.module.width, [not isinstance(param, Uniform) for param in instance.params]
    varying += [True] * (len(elements) - len(varying))
    end = [np.zeros(1, np.int64), 1]

    def fails(first: int, last: int) -> Trap | None:
        """Return how elements fail, or None if they do not."""
        own = [part[first:last] if is_own else part for part, is_own in zip(elements, varying)]
        where = [_ALL, False] if mask is None else [mask[first:last], True]
        inputs, outputs = own[: len(instance.params)], own[len(instance.params) :]
        try:
            kernel._run(instance, [*inputs, *made, *outputs, *where, last - first, *end], {})
        except Trap as found:
            return found
        return None

    first, last = 0, -(-n_elements // width)
    while last - first > 1:
        middle = (first + last) // 2
        if fails(first * width, min(middle * width, n_elements)) is not None:
            last = middle
        else:
            first = middle
    found = fails(first * width, min(last * width, n_elements))
    if found is None or found.kind != trap.kind or found.lane is None:
        return
    at = first * width + found.lane
    # With several threads another element may have been the first to be told.
    trap.__dict__.update(found.__dict__)
    trap.args, trap.element = found.args, tuple(int(k) for k in np.unravel_index(at, shape))
    values = (part[at] if is_own else part for part, is_own in zip(elements, varying))
    trap.arguments = {
        name: value.item() if isinstance(value, np.generic) and not isinstance(value, np.void) else value
        for name, value in zip(instance.param_names, values)
    }
    for told in instance.assertions.get((trap.file, trap.line), ()):
        before = told.of({}) if isinstance(told, Said) and not told.told else ""
        if before and before in trap.args[0]:
            trap.args = (trap.args[0].replace(before, told.of(trap.arguments), 1),)
            break


def _as_dtype(result: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if result.dtype is dtype:
        return result
    # (Equal dtypes may differ in what they say of themselves.)
    return result.view(dtype) if result.dtype == dtype else result.astype(dtype)


def _threads_of(name: str, threads: Any) -> int:
    """Give a number of tasks."""
    if isinstance(threads, (bool, np.bool_)) or not isinstance(threads, (int, np.integer)) or threads < 0:
        raise ValueError(f"{name}(): `threads` must be a number from 0 (all cores) up, not {threads!r}")
    return max(os.cpu_count() or 1, 2) if threads == 0 else min(int(threads), _MOST_THREADS)


def _shape_of(name: str, varying: list[Any], where: Any, outs: Any) -> tuple[tuple[int, ...], np.ndarray]:
    """Give the shape of the results, and which elements are computed."""
    named = varying if where is True else [*varying, ("where", where)]
    shapes_ = [value.shape if type(value) is np.ndarray else np.shape(value) for _, value in named]
    try:
        shape = shapes_[0] if len(set(shapes_)) == 1 else np.broadcast_shapes(*shapes_)
    except ValueError:
        shapes = ", ".join(f"{np.shape(value)} of `{n}`" for n, value in named if np.shape(value))
        raise ValueError(f"{name}(): the shapes {shapes} do not broadcast together") from None
    if outs is not None:
        shape = _with_outs(name, shape, outs)
    if where is True:
        return shape, _ALL
    where = np.asarray(where)
    if where.dtype != bool:
        raise TypeError(f"{name}(): `where` must be an array of bool, but was given one of {where.dtype}")
    return shape, np.broadcast_to(where, shape)


def _with_outs(name: str, shape: tuple[int, ...], outs: list[np.ndarray]) -> tuple[int, ...]:
    """Give the shape of the arrays that take the results: as numpy's may, these have more elements than arguments."""
    for k, goal in enumerate(outs):
        try:
            fits = np.broadcast_shapes(shape, goal.shape) == goal.shape == outs[0].shape
        except ValueError:
            fits = False
        if not fits:
            needed = outs[0].shape if goal.shape != outs[0].shape and k else shape
            raise ValueError(f"{_label(name, k, outs)} has shape {goal.shape}, but the result has shape {needed}")
    return outs[0].shape


def _label(name: str, k: int, outs: Any) -> str:
    return f"{name}(): `out[{k}]`" if len(outs) > 1 else f"{name}(): `out`"


def _dtypes_of(kernel: Any, instance: Any, values: list[Any]) -> list[np.dtype]:
    """Give what results are kept in: of a record, what the kernel is annotated with, or that of an argument."""
    found = []
    for ty in instance.result_types:
        dtype = strong(ty).dtype
        if isinstance(ty, Record):
            given = (np.dtype(value.dtype) for value in values if getattr(value, "dtype", None) is not None)
            same = (other for other in given if other.names and record_of(other) == ty)
            dtype = next(same, dtype) if kernel._returns is None else kernel._returns
        found.append(dtype)
    return found


def _outs_of(name: str, out: Any, types: list[np.dtype]) -> list[np.ndarray]:
    """Give the arrays that are to take the results."""
    if not types:
        raise TypeError(f"{name}() has no result, so it takes no `out`")
    outs = list(out) if isinstance(out, tuple) else [out]
    if len(outs) != len(types):
        what = f"a tuple of {len(types)} arrays, one for each result" if len(types) > 1 else "an array"
        told = f"there are {len(outs)}" if isinstance(out, tuple) else f"was given one `{type(out).__name__}`"
        raise TypeError(f"{name}(): `out` must be {what}, but {told}")
    for k, (goal, dtype) in enumerate(zip(outs, types)):
        label = _label(name, k, outs)
        is_record = isinstance(goal, np.ndarray) and goal.dtype.names and dtype.names
        fits = isinstance(goal, np.ndarray) and goal.dtype == dtype
        if is_record and record_of(goal.dtype) == record_of(dtype):
            # Wherever its fields lie.
            fits = True
        if not fits:
            what = f"an array of {goal.dtype}" if isinstance(goal, np.ndarray) else f"a {type(goal).__name__}"
            raise TypeError(f"{label} must be an array of {dtype}, but was given {what}")
        if not goal.flags.writeable:
            raise ValueError(f"{label} takes a result, but the array is read-only; pass a writable one (x.copy())")
        for j, other in enumerate(outs[:k]):
            if _meet(goal, other):
                raise ValueError(f"{name}(): `out[{j}]` and `out[{k}]` share memory, and each takes a result")
    return outs


def _meet(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether arrays share elements, as far as that is found out soon."""
    try:
        return np.shares_memory(a, b, max_work=10_000)
    except _TooHard:
        return False


def _is_of(value: Any, dtype: np.dtype) -> bool:
    """Return whether one number is kept in this dtype as it is, as far as its type tells at once."""
    if type(value) is int:
        return dtype == np.int64 and value.bit_length() < 64
    return dtype.names is None and type(value) is (float if dtype == np.float64 else dtype.type)


def _elements_of(place: str, value: Any, ty: Any, shape: tuple[int, ...], deadline: Deadline) -> np.ndarray:
    """Give the elements of an argument, in a row."""
    source = np.asarray(value)
    if isinstance(ty, Record):
        source = _fields_of(place, value, ty)
    else:
        _check_cast(place, value, source, ty)
    return contiguous(np.broadcast_to(source, shape), deadline, ty.dtype).reshape(-1)


def _check_cast(place: str, value: Any, source: np.ndarray, ty: Num) -> None:
    """Fail if numbers are not converted: arrays if that is not safe, single ones if they are none of the type."""
    if not isinstance(value, (int, float, complex, np.generic)):
        if not np.can_cast(source.dtype, ty.dtype, "safe"):
            raise TypeError(f"{place} takes {ty.dtype}, and {source.dtype} does not cast to it safely")
        return
    kind = "i" if isinstance(value, int) and not isinstance(value, bool) else source.dtype.kind
    if _ORDER.find(kind) > _ORDER.index(ty.kind) and not (ty.is_int and kind in "iu"):
        raise TypeError(f"{place} takes {ty.dtype}, and was given {value!r}")
    if ty.is_int and not ty.holds(int(value)):
        raise OverflowError(f"{place}: {value} does not fit {ty.dtype}")
    with np.errstate(all="ignore"):
        cast = ty.dtype.type(value)
    if isinstance(value, np.generic) and cast != value and value == value:
        told = f"which cannot hold the {value.dtype} {value} exactly"
        help = f"pass `{type(value.item()).__name__}(x)` to have it rounded"
        raise TypeError(f"{place} takes {ty.dtype}, {told}; {help}")
    if ty.kind in "fc" and np.isinf(cast) and not np.isinf(complex(value)):
        raise OverflowError(f"{place}: {value} is too large for {ty.dtype}")


# From what is the least to what holds all others.
_ORDER = "buifc"


def complex_of(place: str, value: Any, ty: Num) -> Any:
    """Give the one complex number that is passed for all elements."""
    source = np.asarray(value)
    if source.ndim or source.dtype.kind not in _ORDER:
        what = f"an array of shape {source.shape}" if source.ndim else f"a `{type(value).__name__}`"
        raise TypeError(f"{place} takes a complex number{' for all elements' * bool(source.ndim)}, not {what}")
    _check_cast(place, value, source, ty)
    return ty.dtype.type(value)


def one_of(place: str, value: Any, ty: Any) -> Any:
    """Give what is passed for all elements: a number, or an array of one record; arrays as they are."""
    if not isinstance(ty, (Num, Record)):
        return value
    if isinstance(ty, Num):
        return complex_of(place, value, ty) if ty.kind == "c" else value
    source = _fields_of(place, value, ty)
    if source.size != 1:
        raise TypeError(f"{place} takes one record, not an array of shape {source.shape}")
    return np.ascontiguousarray(source.astype(ty.dtype, copy=False)).reshape(1)


def _fields_of(place: str, value: Any, ty: Record) -> np.ndarray:
    """Give records with the fields that are wanted, in their order."""
    source = np.asarray(value)
    names = source.dtype.names
    if names is None:
        told = f"an array of {source.dtype}" if isinstance(value, np.ndarray) else f"a `{type(value).__name__}`"
        raise TypeError(f"{place} takes records {ty}, and was given {told}")
    for field, of in ty.fields:
        if field not in names:
            raise TypeError(f"{place} takes records {ty}, and those given have no `{field}`: {', '.join(names)}")
        given = source.dtype.fields[field][0]
        if not _casts(given, of):
            raise TypeError(f"{place} takes records {ty}, and {given} of `{field}` does not cast safely")
    wanted = [field for field, _ in ty.fields]
    return source if list(names) == wanted else source[wanted]


def _casts(given: np.dtype, of: Any) -> bool:
    """Return whether a field is converted: records within one have the same fields, in their order."""
    if isinstance(of, Rows):
        return given.shape == of.shape and _casts(given.base, of.of)
    if not isinstance(of, Record):
        return given.shape == () and np.can_cast(given, of.dtype, "safe")
    names = given.names or ()
    return names == tuple(n for n, _ in of.fields) and builtins.all(_casts(given[n], ty) for n, ty in of.fields)


@functools.lru_cache(maxsize=256)
def _pairs(dtype: np.dtype) -> np.dtype:
    """Give the dtype with pairs of floats in place of complex numbers."""
    if dtype.kind == "c":
        part = f"f{dtype.itemsize // 2}"
        return np.dtype([("re", part), ("im", part)])
    if dtype.subdtype is not None:
        return np.dtype((_pairs(dtype.base), dtype.shape))
    if dtype.names is None:
        return dtype
    fields = [dtype.fields[name] for name in dtype.names]
    formats, offsets = [_pairs(field[0]) for field in fields], [field[1] for field in fields]
    of = {"names": dtype.names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize}
    return np.dtype(of)


def as_pairs(value: Any) -> Any:
    """Give what a program takes for complex numbers: pairs of floats, in the same memory."""
    if isinstance(value, np.ndarray):
        pairs = _pairs(value.dtype)
        return value if pairs is value.dtype else value.view(pairs)
    return (float(value.real), float(value.imag)) if isinstance(value, (complex, np.complexfloating)) else value


def of_pair(result: Any) -> Any:
    """Give the complex number that a program has returned."""
    return complex(result["re"], result["im"]) if isinstance(result, np.void) else result


def as_records(place: str, value: Any, ty: Record) -> np.ndarray:
    """Give a tuple as a record, and a list of them as an array."""
    try:
        return np.array(value, ty.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{place} takes records {ty}: {error}") from None


def _targets(outs: list[np.ndarray], dtypes: list[np.dtype], make: Any, read: list[Any]) -> list[np.ndarray]:
    """Give what the program writes to: an array of the caller's if nothing is read there, else another."""
    found: list[np.ndarray] = []
    for goal, dtype in zip(outs, dtypes):
        near = [*(array for array in read if isinstance(array, np.ndarray)), *(o for o in outs if o is not goal)]
        is_plain = type(goal) in (np.ndarray, np.memmap) and goal.dtype == dtype and goal.flags.c_contiguous
        is_apart = is_plain and not builtins.any(np.may_share_memory(goal, array) for array in near)
        found.append(goal if is_apart else make(goal.shape, dtype))
    return found
