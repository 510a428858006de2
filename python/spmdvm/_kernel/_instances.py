"""Instances of a kernel: what it is compiled to for some types of arguments, and what calls need to know of that."""

from __future__ import annotations

import builtins
import collections
import copy
import linecache
import math
import threading
from collections.abc import Iterator, Mapping
from typing import Any, Callable

import numpy as np

from .. import _containers
from .._errors import CompileError, Trap
from .._spmdvm import _compile_silently as _compile
from ._asked_types import class_of, type_key
from ._body import Body
from ._known import NUMBER, VALUE
from ._lists import LIST, LISTED
from ._messages import host_of, noted
from ._places import ENTRY, LOOP, TASK, compile_error
from ._program import Param, Program
from ._source import Declaration, Source
from ._types import INT, Array, Literal, Num, Record, Uniform, strong
from ._values import LONGEST, OF_HOST, Columns, Dict, Entries, Form, Maybe


class _Ran(threading.local):
    """The module in which the last call of this thread has left the lists that it returns."""

    module: Any = None


ran = _Ran()


class Instance:
    """A kernel compiled for types of arguments."""

    def __init__(self, program: Program, body: Body, params: list[Any], name: str) -> None:
        self.text, self.places = program.text()
        # Whether numbers are passed as pairs of floats.
        self.has_complex = program.has_complex
        self.params = params
        # What the parameters are called, and which of the kernel's these are; None if all: others are None or texts.
        self.param_names = [param.name for param in body.params]
        self.takes: list[int] | None = None
        # What its functions are called in Python.
        self.names = {**program.python_names, ENTRY: name}
        self.variables = program.python_variables
        # What is asserted, as Python has it, by file and line.
        self.assertions = program.assertions
        # By the functions that test whether Python ints fit: which these are.
        self.overflows = program.overflows
        # By the functions that test whether a variable is None: what is told.
        self.nones = program.nones
        # The functions of the host that take the values of what is raised.
        self.tells = tuple(program.tells)
        self.advice, self.outside = program.advice, program.outside
        # How numbers and arrays are made to what it returns, if there are tuples in that or a `NamedTuple`.
        self.form = body.form if body.result is None and not _is_plain(body.form) else None
        self.gives_several = body.returns_tuple if body.uniform else body.gives_several
        # Whether the program of an elementwise kernel has the loop over its elements.
        self.has_loop = f" {LOOP}(" in self.text
        self.names.update({LOOP: name, TASK: name} if self.has_loop else {})
        self.result_types: list[Any] = (body.returns or []) if body.uniform else body.results()
        self.gives_records = builtins.any(isinstance(ty, Record) for ty in self.result_types)
        # What numbers and records are kept in, of an elementwise kernel that goes through memory itself.
        self.result_dtypes = [strong(ty).dtype for ty in self.result_types]
        self.dtypes = [None if isinstance(ty, (Uniform, Array)) else strong(ty).dtype for ty in params]
        # The arrays that are made for a call, and what gives their lengths; and what is returned, if arrays are.
        self.made, self.arrays, self.is_tuple = body.hidden, body.arrays, body.is_tuple
        self.returns_lists = any(array is not None and array.text in (LIST, LISTED) for array in body.arrays or ())
        self.roots = {made.text: k for k, made in enumerate(body.hidden)}
        self.passed = {body.param_text(param.name): k for k, param in enumerate(body.params)}
        self.lengths: Callable[..., list[tuple[int, ...]]] | None = None
        self.module: Any = None
        self.function: Any = None
        # The same with functions of Python that are called rather than part of their callers: for the stepper.
        self.by_steps: Instance | None = None
        # What tells whether Python ints that are passed fit where they are used, and what runs if they do not.
        self.fits: Callable[..., bool] | None = _fitting(program, body, self.has_loop)
        self.careful: Instance | None = None
        self.translate: Translate | None = None
        self.has_inlined, self.has_lists = program.has_inlined, program.has_lists

    def memory(self, given: list[Any], name: str, tasks: int = 1) -> list[np.ndarray]:
        """Make the arrays for a call, one behind another for each of several tasks."""
        arrays = []
        # Integers of numpy's would wrap.
        known = [int(value) if isinstance(value, np.integer) else value for value in given]
        for made, shape in zip(self.made, self.lengths(*known) if self.lengths is not None else ()):
            if max(shape) > LONGEST or math.prod(shape) > LONGEST:
                raise ValueError(
                    f"{name}(): `{made.name}` would have more than {LONGEST} elements: its shape is {shape}"
                )
            # Also what `np.empty` makes, so that what is read before it is stored to is always the same.
            arrays.append(np.zeros((tasks * shape[0], *shape[1:]), made.of.dtype))
        return arrays

    def results(self, values: list[Any], made: list[np.ndarray], numbers: list[Any]) -> Any:
        """Give what a call returns that returns arrays; `numbers` tell which parts of them."""
        given, results = iter(numbers), []
        for array in self.arrays:
            if array is None:
                results.append(next(given))
                continue
            if array.text in (LIST, LISTED):
                found = self._taken(array.type.of, int(next(given)), int(next(given)))
                shape = tuple(int(next(given)) for _ in range(array.type.ndim)) if array.type.ndim > 1 else found.shape
                results.append(found.reshape(shape) if array.text == LISTED else found.tolist())
                continue
            root = made[self.roots[array.text]] if array.text in self.roots else values[self.passed[array.text]]
            results.append(root if array.parts is None else _part_of(root, array.type.ndim, given))
        return self.shaped(tuple(results)) if self.is_tuple else results[0]

    def _taken(self, of: Any, address: int, length: int) -> np.ndarray:
        """Take a list out of the program's memory, and have that given back."""
        found = np.empty(length, of.dtype)
        pairs = found.view(np.dtype(of.part.dtype)).reshape(-1) if of.kind == "c" else found
        ran.module[f"take__{of.part.spmd}"](address, len(pairs), pairs)
        return found

    def forget(self, kernel: Any) -> None:
        """Begin with new memory, as a call that failed has left its lists in the old one."""
        if self.has_lists:
            self.module = self.compiled(kernel, self.text)
            self.function = self.module[ENTRY]

    def compiled(self, kernel: Any, text: str) -> Any:
        """Compile its text, or one that does the same."""
        return _compile([(f"<kernel {kernel.__name__}>", text)], **kernel._options, **host_of(self.tells))

    def shaped(self, results: tuple[Any, ...]) -> Any:
        """Give results as the function returns them, which may be tuples in tuples."""
        return results if self.form is None else _shaped(self.form, iter(results))

    def translation(self) -> tuple[Any, ...]:
        """Give what the stepper has to know: files with their texts, places of lines, names, and lines that declare."""
        files = list(dict.fromkeys(place.file for place in self.places if place))
        texts = {file: linecache.getlines(file) for file in files}
        for place in filter(None, self.places):
            # As it was compiled, and where there is no file at all.
            lines = texts[place.file]
            lines.extend("\n" for _ in range(place.number - len(lines)))
            lines[place.number - 1] = place.text if place.text.endswith("\n") else place.text + "\n"
        lines_ = [place and (files.index(place.file), place.number) for place in self.places]
        declare = [number for number, place in enumerate(self.places, 1) if isinstance(place, Declaration)]
        return [(file, "".join(texts[file])) for file in files], lines_, self.names, self.variables, declare


# Writes the text of a kernel for some types into a program; gives its body, what it exports, and its parameters.
Translate = Callable[[Program], "tuple[Body, Program, list[str], list[Any]]"]


def build(kernel: Any, body: Body, program: Program, export: list[str], params: list[Any]) -> Instance:
    """Compile the text of a kernel for some types."""
    at = kernel._source.line(kernel._source.tree)
    program.functions.append([(line, at) if isinstance(line, str) else line for line in export])
    instance = Instance(program, body, params, kernel.__name__)
    # (Those that are tuples are a parameter for each of their numbers.)
    passed = {name.partition("[")[0] for name in instance.param_names}
    takes = [k for k, name in enumerate(kernel._names) if name in passed]
    if len(takes) < len(kernel._names):
        instance.takes = takes
    try:
        instance.module = instance.compiled(kernel, instance.text)
        instance.function = instance.module[ENTRY]
        instance.lengths = _lengths_of(body, instance.module.width) if instance.made else None
    except CompileError as error:
        raise compile_error(error, instance, kernel.__name__) from None
    return instance


def by_steps(kernel: Any, instance: Instance) -> Instance:
    """Give the instance in which functions of Python are called, which are part of their callers else."""
    if instance.by_steps is None:
        slow = instance
        if instance.has_inlined or instance.has_loop:
            slow = build(kernel, *instance.translate(Program(inlines=False, assumes=False)))
        lines = slow.text.split("\n")
        for at, place in enumerate(slow.places):
            if place is not None and lines[at].startswith("static inline "):
                lines[at] = lines[at].replace("static inline", "static noinline", 1)
        slow = copy.copy(slow)
        slow.module = slow.compiled(kernel, "\n".join(lines))
        slow.function = slow.module[ENTRY]
        instance.by_steps = slow
    return instance.by_steps


def handed_out(instance: Instance, trap: Trap, is_one_thread: bool) -> list[Any] | None:
    """Give the values that the program has handed out for what it raises; None if they are not known.

    Of several threads each was handed its own: the element that is told is computed once more here.
    """
    found = noted()
    if is_one_thread:
        return found
    found = None
    if trap.arguments and "print(" not in instance.text:
        try:
            instance.function(*trap.arguments.values())
        except (Trap, TypeError, ValueError, OverflowError):
            found = noted()
    return found


def kind_of(value: Any) -> Any:
    """Give what the types of a call depend on."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    # (Lazy frames compute what they have there.)
    if hasattr(value.__class__, "dtypes") and _containers.is_labelled(value):
        return value.__class__, tuple(value.dtypes) if value.ndim > 1 else value.dtype
    if hasattr(value, "dtype"):
        return value.__class__, value.dtype, getattr(value, "ndim", 1)
    # Each text has instances of its own.
    return value if value.__class__ is str else value.__class__


def literals_of(names: list[str], types: Any) -> tuple[dict[str, str | None], list[str]]:
    """Give the parameters that are None or texts, with these, and the names of the others."""
    found = {name: ty.value for name, ty in zip(names, types) if isinstance(ty, Literal)}
    return found, [name for name in names if name not in found]


def decided_for(
    kernel: Any,
    program: Program,
    params: list[Param],
    literals: dict[str, str | None],
    tuples: Mapping[str, Form] | None = None,
) -> Source:
    """Give the function of a kernel for parameters of which some are None or texts, and some tuples."""
    kinds = {param.name: NUMBER if isinstance(param.type, Num) else VALUE for param in params}
    tuples = tuples or {}
    kinds.update(dict.fromkeys(tuples, VALUE))
    for name, of in [
        *((p.name, class_of(p.type)) for p in params),
        *((name, _class_of_tuple(tuples[name])) for name in tuples),
    ]:
        if of is not None:
            kinds[type_key(name)] = of
    return program.decided(kernel._source, {**kinds, **literals}, kernel._lookup)


def _class_of_tuple(form: Form) -> type:
    """Give the class of a tuple that is passed, or of the dict or set that is passed as one."""
    return (set if form.of.kind.is_set else dict) if isinstance(form.of, Entries) else form.of or tuple


def note_passed(body: Body) -> None:
    """Note which Python ints are passed to a kernel."""
    for param in body.params:
        if param.type == INT:
            param.passed = body.param_text(param.name)


def _fitting(program: Program, body: Body, has_loop: bool) -> Callable[..., bool] | None:
    """Make the function that tells whether Python ints that are passed fit where they are used; None if all do."""
    if not program.assumed:
        return None
    names = [body.param_text(param.name) for param in body.params] if has_loop else _names_of(body, True)
    passed = {param.passed for param in body.params if param.passed is not None}
    tests = []
    for host, (low, high) in program.assumed.items():
        # (What is annotated as `int` may be given arrays.)
        is_int = f"{host}.__class__ in _int and " if host in passed else ""
        tests.append(f"{is_int}{low} <= {host} <= {high}")
    of = {"_min": min, "_max": max, "_int": (int, *(np.dtype(c).type for c in "bBhHiIlLqQ"))}
    found: Callable[..., bool] = eval(f"lambda {', '.join([*names, '*_'])}: {' and '.join(tests)}", of)
    if passed.issuperset(program.assumed):
        return found

    def fits(*given: Any) -> bool:
        try:
            return bool(found(*given))
        except (ArithmeticError, ValueError, TypeError, NameError):
            return False

    return fits


def _names_of(body: Body, made: bool) -> list[str]:
    """Give the names of what an instance is given, with the arrays that are made for the call."""
    return [part.rsplit(" ", 1)[1].removesuffix("[]") for part in body.param_list(made)]


def _lengths_of(body: Body, width: int) -> Callable[..., list[tuple[int, ...]]]:
    """Make the function that computes the lengths of arrays of what is passed."""
    # (An element's record is passed as an array of these, without which of them it is.)
    names = _names_of(body, False) if body.uniform else [body.param_text(param.name) for param in body.params]
    shapes = ", ".join("(" + "".join(f"_of(lambda: {host}), " for host in made.hosts) + ")" for made in body.hidden)
    text = f"lambda {', '.join(names)}: [{shapes}]"
    of = {"_of": _length, **OF_HOST, "_width": width}
    found: Callable[..., list[tuple[int, ...]]] = eval(text, of)
    return found


def _is_plain(form: Form | None) -> bool:
    """Return whether a result is one value, or a tuple of single values."""
    return form is None or form == Form((None,) * len(form.parts))


def _shaped(form: Form | None, results: Iterator[Any]) -> Any:
    if form is None:
        return next(results)
    parts = [_shaped(part, results) for part in form.parts]
    if isinstance(form.of, Maybe):
        return None if parts[0] else parts[1]
    if isinstance(form.of, Columns):
        return [_shaped(form.of.form, iter(numbers)) for numbers in zip(*parts)]
    if isinstance(form.of, Entries):
        rows = (_shaped(form.of.form, iter(numbers)) for numbers in zip(*parts))
        return _dict_of(form.of.kind, rows)
    return tuple(parts) if form.of is None else form.of(*parts)


def _dict_of(kind: Dict, rows: Iterator[Any]) -> Any:
    """Make a dict or set of what it has, each a tuple."""
    if kind.is_set:
        return {key for (key,) in rows}
    if kind.is_counter:
        return collections.Counter(dict(rows))
    return dict(rows) if kind.missing is None else collections.defaultdict(kind.missing, rows)


def _length(of: Callable[[], Any]) -> int:
    """Give a length. Where there is none the kernel fails, if it comes to it."""
    try:
        return builtins.max(int(of()), 0)
    except (ArithmeticError, ValueError):
        return 0


def _part_of(root: np.ndarray, ndim: int, given: Any) -> np.ndarray:
    """Give a part of an array: numbers tell where it begins, its lengths and how far elements lie apart."""
    numbers = [int(next(given)) for _ in range(1 + 2 * ndim)]
    begin, shape, steps = numbers[0], tuple(numbers[1 : 1 + ndim]), numbers[1 + ndim :]
    if not math.prod(shape):
        return np.empty(shape, root.dtype)
    strides = tuple(step * root.itemsize for step in steps)
    return np.ndarray(shape, root.dtype, root, begin * root.itemsize, strides)
