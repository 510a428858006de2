"""Kernels written in Python, and expressions: compiled through SPMD text when they are first called.

`Kernel` finds out the types of a call and has an instance translated for them (`_program`, `_body`), compiled and
called; `_values` and `_types` are what expressions are, `_ints` has Python ints fit in types of numpy's, `_source`
reads functions and draws errors, `_places` tells what engines say at lines of Python.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import linecache
import math
import re
import sys
import threading
import typing
from collections.abc import Mapping
from typing import Any, Callable

import numpy as np

from .. import _containers, _progress
from .._cache import remembered
from .._errors import CompileError, Trap
from .._spmdvm import _compile_silently as _compile
from . import _annotated, _elements, _functions, _options, _told
from ._body import Body
from ._foreach import looks_like_foreach
from ._functions import ACROSS
from ._functions import foreach as foreach
from ._instead import close_to, meant
from ._lambdas import is_lambda
from ._places import ENTRY, LOOP, TASK, compile_error, in_python, name_python_line, with_python_lines
from ._plain import parameters
from ._program import Param, Program
from ._random import rng as rng
from ._source import Declaration, Source
from ._types import INT, Array, Num, Record, Uniform, is_laid_out, of_dtype, of_value, record_of, strong
from ._usage import Usage, has_effects, makes_arrays, reduces, returns_array, with_fields
from ._values import LONGEST, OF_HOST
from ._wrappers import inner_of, is_wrapped

if typing.TYPE_CHECKING:
    # What shows things is imported when there is something to show.
    from .. import _profile, _step

lane, width = _functions.LANE, _functions.WIDTH
reduce_add, reduce_min, reduce_max = (ACROSS[name] for name in ("reduce_add", "reduce_min", "reduce_max"))
broadcast, rotate, shift, shuffle = (ACROSS[name] for name in ("broadcast", "rotate", "shift", "shuffle"))
# They hide Python's own, which are `builtins.any` and `builtins.all` here.
any, all, none = (ACROSS[name] for name in ("any", "all", "none"))


class _Annotation:
    """What `array[…]` and `uniform[…]` give."""

    def __init__(self, what: str, of: Any, ndim: int | None) -> None:
        self.what, self.of, self.ndim = what, of, ndim

    def __call__(self, *_: Any) -> typing.NoReturn:
        """Refuse to be called. Until Python 3.11, annotations that are texts must stand for what can be."""
        raise TypeError(f"{self!r} is the type of a parameter of a kernel; make arrays with numpy")

    def __repr__(self) -> str:
        name = getattr(self.of, "__name__", self.of)
        return f"{self.what}[{name}]" if self.ndim in (None, 1) else f"{self.what}[{name}, {self.ndim}]"


class array:
    """The type of an array parameter of a kernel: `array[float32]`, `array[float32, 2]` with two dimensions.

    The elements may be a structured dtype. Arrays are passed without a copy; they must be C-contiguous.
    """

    def __class_getitem__(cls, item: Any) -> _Annotation:
        of, ndim = item if isinstance(item, tuple) else (item, 1)
        if not isinstance(ndim, int) or not 1 <= ndim <= 8:
            raise TypeError(f"array[T, n] takes a number of dimensions from 1 to 8, not {ndim!r}")
        _check_elements("array", of)
        return _Annotation("array", of, ndim)


class uniform:
    """The type of a parameter of an elementwise kernel that is one number for all elements: `uniform[int32]`."""

    def __class_getitem__(cls, item: Any) -> _Annotation:
        _check_elements("uniform", item)
        return _Annotation("uniform", item, None)


def _check_elements(what: str, of: Any) -> None:
    """Refuse what is the type of no number or record.

    Raises:
        TypeError: it is none.
    """
    if _functions.type_of(of) is None and not (isinstance(of, np.dtype) and of.names is not None):
        shown = getattr(of, "__name__", repr(of))
        raise TypeError(f"{what}[{shown}]: `{what}` is of numbers, {what}[spmdvm.float32], or of a structured dtype")


class _Instance:
    """A kernel compiled for types of arguments."""

    def __init__(self, program: Program, body: Body, params: list[Any], name: str) -> None:
        self.text, self.places = program.text()
        # Whether numbers are passed as pairs of floats.
        self.has_complex = program.has_complex
        self.params = params
        # What its functions are called in Python.
        self.names = {**program.python_names, ENTRY: name}
        self.variables = program.python_variables
        # What is asserted, as Python has it, by file and line.
        self.assertions = program.assertions
        # By the functions that test whether Python ints fit: which these are.
        self.overflows = program.overflows
        self.advice, self.outside = program.advice, program.outside
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
        self.roots = {made.text: k for k, made in enumerate(body.hidden)}
        self.passed = {body.param_text(param.name): k for k, param in enumerate(body.params)}
        self.lengths: Callable[..., list[tuple[int, ...]]] | None = None
        self.module: Any = None
        self.function: Any = None
        # The same with functions of Python that are called rather than part of their callers: for the stepper.
        self.by_steps: _Instance | None = None
        # What tells whether Python ints that are passed fit where they are used, and what runs if they do not.
        self.fits: Callable[..., bool] | None = _fitting(program, body, self.has_loop)
        self.careful: _Instance | None = None
        self.translate: Translate | None = None
        self.has_inlined = program.has_inlined

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
            root = made[self.roots[array.text]] if array.text in self.roots else values[self.passed[array.text]]
            results.append(root if array.parts is None else _part_of(root, array.type.ndim, given))
        return tuple(results) if self.is_tuple else results[0]

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


class _Again(typing.NamedTuple):
    """The last call of an array kernel: what comes with arguments of the same types and shapes goes the same way.

    Kernels of a tenth of a millisecond are called in loops (steps of a simulation), with the same arrays.
    """

    instance: _Instance
    # Of each argument the type, of an array its numbers' and its shape.
    seen: list[Any]
    # What the run is given, and where in it the arguments stand.
    run: list[Any]
    places: list[int]

    @staticmethod
    def of(instance: _Instance, values: list[Any], arrays: list[bool]) -> _Again | None:
        """Note a call; None where there is more to it."""
        if instance.arrays is not None or not builtins.all(type(v) in _FORMED for v in values):
            return None
        run: list[Any] = []
        places = []
        for value, is_array in zip(values, arrays):
            places.append(len(run))
            run.extend((None, *value.shape) if is_array else (None,))
        seen = [(v.dtype, v.shape) if isinstance(v, np.ndarray) else type(v) for v in values]
        return _Again(instance, seen, run, places)


class Kernel:
    """A Python function that is compiled for the types of its arguments, when it is first called with them.

    Make one with `kernel`.

    Attributes:
        spmd_source: the SPMD text of the instance that was compiled last.
    """

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        """Read the function; nothing is compiled yet."""
        if not inspect.isfunction(function):
            raise TypeError(f"@spmdvm.kernel takes a function, not {_told.no_function(function)}")
        functools.update_wrapper(self, function)
        self._text: str | None = None
        function = inner_of(function)
        if is_wrapped(function):
            _refuse_wrapped(function)
        self._prepare(Source.of(function), _functions.lookup_of(function), inspect.signature(function), options)
        self._annotations = self._read_annotations(function)
        tree = self._source.tree
        arguments = tree.args
        for wrong in (arguments.vararg, arguments.kwarg):
            if wrong is not None:
                help = f"name each parameter; or take an array, `{wrong.arg}`, and its elements: `{wrong.arg}[0]`"
                self._source.fail(wrong, "a kernel has a fixed number of parameters", "not supported", help)
        self._decide()

    def _decide(self) -> None:
        """Find out whether it is elementwise; if a function that it calls is not there yet, for now."""
        tree, usage = self._source.tree, Usage(self._source.tree, self._lookup)
        self._is_decided = usage.is_known
        # (Of a record fields are indexed.)
        records = {name for name in self._names if _is_record(self._annotations[name])}
        self._indexed = usage.indexed & set(self._names) - records
        self.is_elementwise = not self._indexed and not builtins.any(
            isinstance(node, ast.For) and looks_like_foreach(node) for node in ast.walk(tree)
        )
        # What is told to be the same for all elements may be a length of an array that each has.
        several = [name for name, a in self._annotations.items() if a is None or a.what != "uniform"]
        records |= with_fields(tree)
        self.is_elementwise &= not reduces(tree, self._lookup, [name for name in self._names if name not in records])
        self.is_elementwise &= not builtins.any(a is not None and a.what == "array" for a in self._annotations.values())
        self._has_lengths = self.is_elementwise and makes_arrays(tree, several)
        self.is_elementwise &= not self._has_lengths
        self.is_elementwise &= self._returns is not None or not returns_array(tree, self._lookup)
        self.__signature__ = self._whole_signature()

    @staticmethod
    def _of_expression(text: str, source: Source, names: list[str], name: str, options: dict[str, Any]) -> Kernel:
        """Make an elementwise kernel of an expression."""
        parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
        kernel = Kernel.__new__(Kernel)
        kernel._text = text
        kernel.__name__ = kernel.__qualname__ = name
        kernel._prepare(source, _lookup_in_expression, inspect.Signature(parameters), options)
        kernel.__signature__ = kernel._whole_signature()
        return kernel

    def _whole_signature(self) -> inspect.Signature:
        """Give the signature with what calls take besides the function's parameters."""
        if not self.is_elementwise:
            return self._signature
        own = list(self._signature.parameters.values())
        special = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
            for name, default in _SPECIAL.items()
            if name not in self._names
        ]
        return self._signature.replace(parameters=[*own, *special])

    def _prepare(self, source: Source, lookup: Any, signature: inspect.Signature, options: dict[str, Any]) -> None:
        """Begin as an elementwise kernel without annotations and instances."""
        self._source, self._lookup, self._signature, self._options = source, lookup, signature, options
        self._names = list(signature.parameters)
        # Whether arguments may all come without a name.
        self._is_positional = builtins.all(p.kind is not p.KEYWORD_ONLY for p in signature.parameters.values())
        self._annotations: dict[str, _Annotation | None] = dict.fromkeys(self._names)
        # The dtype of the record that it is annotated to return.
        self._returns: np.dtype | None = None
        self._indexed: set[str] = set()
        self.is_elementwise = self._is_decided = True
        # Whether it is called once only because arrays of its own have lengths that are passed.
        self._has_lengths = False
        self._instances: dict[Any, _Instance] = {}
        # By what is seen of arguments at once: their types.
        self._plans: dict[Any, Any] = {}
        self._ready: dict[Any, _Instance] = {}
        self._last: _Instance | None = None
        # The last call of an array kernel.
        self._again: _Again | None = None
        # Threads that need the same instance at once wait for one of them to make it. That thread may take it again: in
        # handlers of signals and finalizers, which may call the kernel, too.
        self._lock = threading.RLock()

    def _read_annotations(self, function: Callable[..., Any]) -> dict[str, _Annotation | None]:
        try:
            hints = hints_of(function)
        except Exception as error:
            raise CompileError(f"the annotations of `{function.__name__}` cannot be read: {error}") from None
        found: dict[str, _Annotation | None] = {}
        for node in parameters(self._source.tree):
            hint = hints.get(node.arg)
            found[node.arg] = None if hint is None else self._annotation(node, hint)
        result = hints.get("return")
        if isinstance(result, np.dtype) and result.names is not None:
            if record_of(result) is None:
                node = self._source.tree.returns or self._source.tree
                self._source.fail(
                    node, "the kernel returns a record of numbers", _told.record_described("a record", result)
                )
            self._returns = result
        elif "return" in hints and getattr(self._source.tree, "returns", None) is not None:
            # (What is not written there, but set on the function, tells nothing.)
            if not _annotated.is_known(result):
                _annotated.refuse(self._source, self._source.tree.returns)
            self._source.returned = result
        return found

    def _annotation(self, node: ast.arg, hint: Any) -> _Annotation | None:
        if hint is Any or hint is np.ndarray:
            return None
        alias = typing.get_origin(hint)
        if hasattr(alias, "__value__"):
            # NDArray[…], which is an alias since numpy 2.5.
            hint = alias.__value__[typing.get_args(hint)]
        annotation = hint if isinstance(hint, _Annotation) else None
        if annotation is None and typing.get_origin(hint) is np.ndarray:
            dtype = typing.get_args(typing.get_args(hint)[1])
            annotation = _Annotation("array", dtype[0] if dtype else None, None)
        if annotation is None:
            annotation = _Annotation("number", hint, None)
        is_number = _functions.type_of(annotation.of) is not None
        is_record = _is_record(annotation) and record_of(annotation.of) is not None
        if annotation.what == "array" and is_record and not is_laid_out(annotation.of):
            help = "make the dtype with align=True; elementwise kernels take records of any layout"
            self._source.fail(node.annotation or node, f"`{node.arg}` has no type of kernels", "not as in C", help)
        if _is_record(annotation) and not is_record:
            told = _told.record_described("a record", annotation.of)
            self._source.fail(node.annotation or node, f"`{node.arg}` has no type of kernels", told)
        if not is_number and not is_record:
            help = (
                "use `np.float32`, `spmdvm.int32`, `int`, `float`, `spmdvm.array[spmdvm.float32]`, "
                "`numpy.typing.NDArray[np.float64]` and so on; `np.ndarray` takes arrays of any numbers"
            )
            note = "it stands for several types" if annotation.of in _ABSTRACT else "not known"
            self._source.fail(node.annotation or node, f"`{node.arg}` has no type of kernels", note, help)
        return annotation

    # Calls.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compile for these arguments, if they have other types than before, and run.

        An elementwise kernel takes `out=`, `where=` and `threads=` as numpy's functions do. All take `progress=`.
        """
        again = self._again
        if again is not None and not kwargs:
            instance, seen, run, places = again
            if seen == [(v.dtype, v.shape) if v.__class__ is _ndarray else v.__class__ for v in args]:
                if self._last is not instance:
                    self._last = instance
                run = run.copy()
                for place, value in zip(places, args):
                    run[place] = value
                return self._run(instance, run, _NOTHING)
        if not self._is_decided:
            self._decide()
        special: dict[str, Any] = {}
        if kwargs:
            special = {name: kwargs.pop(name) for name in _SPECIAL if name in kwargs and name not in self._names}
        if kwargs or len(args) != len(self._names) or not self._is_positional:
            bound = self._bound(args, kwargs)
            bound.apply_defaults()
            values = [bound.arguments[name] for name in self._names]
        else:
            values = list(args)
        if self.is_elementwise:
            return self._call_elements(values, special)
        progress = {name: special.pop(name) for name in ("progress",) if name in special}
        if special:
            name = next(iter(special))
            raise TypeError(
                f"{self.__name__}() is an array kernel, which is called once and has its own loops, and takes no "
                f"`{name}=`; {_told.INSTEAD_OF[name]}"
            )
        return self._call_arrays(values, progress)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Give the arguments by name."""
        unknown = next((name for name in kwargs if name not in self._names), None)
        if unknown is not None:
            # In Python's words, by which polars knows what functions do not take.
            help = meant(unknown, (*self._names, *(_SPECIAL if self.is_elementwise else ("progress",))))
            takes = f"'{unknown}': {self.__name__}{self.__signature__}"
            raise TypeError(
                f"{self.__name__}() got an unexpected keyword argument {takes}" + (f"; {help}" if help else "")
            )
        try:
            return self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}(): {error}: {self.__name__}{self._signature}") from None

    def _call_elements(self, values: list[Any], special: dict[str, Any]) -> Any:
        # What has been called with such arguments as they are needs no more than that.
        try:
            instance = self._ready[tuple([_kind(value) for value in values])]
        except (KeyError, TypeError):
            instance = None
        if instance is not None:
            self._last = instance
            return self._call_instance(instance, values, special)
        if not builtins.all([isinstance(v, (int, float, complex, np.generic, np.ndarray)) for v in values]):
            lazy = _containers.lazily(self, tuple(values), special)
            if lazy is not NotImplemented:
                return lazy
            values = [self._as_array(name, value) for name, value in zip(self._names, values)]
        kinds = tuple([_kind(value) for value in values])
        try:
            types = self._plans[kinds]
        except KeyError:
            types = self._plans[kinds] = self._element_types(values)
        instance = self._instance(("elements", types), lambda program: self._translate_elements(program, list(types)))
        self._ready[kinds] = instance
        return self._call_instance(instance, values, special)

    def _call_instance(self, instance: _Instance, values: list[Any], special: dict[str, Any]) -> Any:
        """Call an elementwise kernel: over arrays as they are, or what goes through memory itself."""
        if instance.has_loop:
            return _elements.call(self, instance, values, special, _seeing.via is not None)
        out = special.get("out")
        if type(out) is tuple and len(out) == 1:
            # Functions of numpy take one array so, too.
            special = {**special, "out": out[0]}
        return self._run(instance, values, special)

    def _as_array(self, name: str, value: Any) -> Any:
        """Give what is no number as an array, unless the call itself knows what to make of it (pandas, polars)."""
        place = f"{self.__name__}(): `{name}`"
        if isinstance(value, (tuple, list)) and _is_record(self._annotations[name]):
            return _elements.as_records(place, value, record_of(self._annotations[name].of))
        if isinstance(value, (int, float, complex, np.generic, np.ndarray, str, bytes, dict, type(None))):
            return value
        if hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__"):
            return _containers.as_array(value, place)
        _containers.refuse_device(value, place)
        if hasattr(value, "__array__") and (_containers.is_labelled(value) or _containers.is_foreign(value)):
            return value
        found = _containers.as_array(value, place)
        # Of an object that is no number its type is told.
        return value if found.dtype.hasobject and not isinstance(value, (list, tuple)) else found

    def _element_types(self, values: list[Any]) -> tuple[Any, ...]:
        """Give the types of the arguments of an elementwise kernel."""
        any_array = builtins.any(getattr(value, "ndim", 0) or _containers.is_labelled(value) for value in values)
        types: list[Any] = []
        for name, value in zip(self._names, values):
            annotation = self._annotations[name]
            if annotation is not None:
                types.append(_annotated_type(annotation))
                continue
            if _containers.is_labelled(value):
                found = _containers.as_array(value, f"{self.__name__}(): `{name}`")
                ty = of_dtype(found.dtype)
                if ty is None:
                    of = getattr(value, "dtype", found.dtype)
                    help = _told.CODES.get(str(of)) or _containers.instead_of(found.dtype)
                    told = f"a {type(value).__name__} of {of}" + (f"; {help}" if help else "")
                    raise TypeError(f"{self.__name__}(): `{name}` {_told.no_type(value, told)}")
            else:
                ty = of_dtype(value.dtype) if hasattr(value, "dtype") else of_value(value)
                if ty is None and getattr(getattr(value, "dtype", None), "names", None):
                    ty = record_of(value.dtype)
            if not isinstance(ty, (Num, Record)):
                raise TypeError(f"{self.__name__}(): `{name}` {_told.no_type(value)}")
            types.append(Uniform(ty) if isinstance(ty, Num) and ty.weak and any_array else ty)
        return tuple(types)

    def _call_arrays(self, values: list[Any], progress: dict[str, Any]) -> Any:
        try:
            # What has been taken as it is once is so again.
            plan = self._plans[tuple([_kind(value) for value in values])]
        except (KeyError, TypeError):
            plan = None
        if plan is None:
            before = values
            values = [
                v if isinstance(v, (np.ndarray, np.generic, int, float, complex)) else self._shared(k, v)
                for k, v in enumerate(values)
            ]
            if builtins.any(v is not b for v, b in zip(values, before)):
                return self._call_converted(before, values, progress)
            kinds = tuple([_kind(value) for value in values])
            plan = self._plans.get(kinds)
        if plan is None:
            types = self._array_types(values)
            arrays = [isinstance(ty, Array) for ty in types]
            several = builtins.any(isinstance(ty, Array) and ty.ndim > 1 for ty in types)
            # Instances by what is equal about shapes.
            is_converted = builtins.any(isinstance(ty, Record) or getattr(ty, "kind", "") == "c" for ty in types)
            plan = self._plans[kinds] = (types, arrays, several, is_converted, {})
        types, arrays, several, is_converted, ready = plan
        if is_converted:
            places = [f"{self.__name__}(): `{name}`" for name in self._names]
            values = [_elements.one_of(*each) for each in zip(places, values, types)]
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
                    name = self._names[next(k for k, v in enumerate(values) if v is value)]
                    raise ValueError(f"{self.__name__}(): `{name}` is longer than {LONGEST} elements in a dimension")
                given.extend(shape)
                wide |= value.size > LONGEST
                if several:
                    # Lengths that are equal now: an index below one is below the other.
                    pattern.append(tuple([lengths.setdefault(n, len(lengths)) for n in shape]))
        shapes = (tuple(pattern), wide)
        instance = ready.get(shapes)
        if instance is None:
            key = ("arrays", types, *shapes)
            instance = self._instance(key, lambda program: self._translate_arrays(program, list(types), *shapes))
            ready[shapes] = instance
        self._last = instance
        made: list[np.ndarray] = []
        if instance.made:
            made = instance.memory(given, self.__name__)
            for array in made:
                given.extend((array, *array.shape))
        if not instance.gives_several:
            plain = self._is_decided and self._is_positional and not made and not is_converted
            self._again = _Again.of(instance, values, arrays) if plain else None
            result = self._run(instance, given, progress)
            return result if instance.arrays is None else instance.results(values, made, [])
        results = [np.empty(1, strong(ty).dtype) for ty in instance.result_types]
        self._run(instance, [*given, *results], progress)
        numbers = tuple(r[0] for r in results)
        if self._returns is not None and instance.arrays is None:
            return np.array(numbers, self._returns)[()]
        return numbers if instance.arrays is None else instance.results(values, made, list(numbers))

    def _call_converted(self, before: list[Any], values: list[Any], progress: dict[str, Any]) -> Any:
        """Call an array kernel with what objects have been made to arrays."""
        try:
            return self._call_arrays(values, progress)
        except ValueError as error:
            found = _READ_ONLY.match(str(error))
            at = self._names.index(found[1]) if found and found[1] in self._names else None
            if at is None or _containers.shared(before[at]) is not None:
                raise
            kind = type(before[at]).__name__
            raise TypeError(
                f"{self.__name__}(): `{found[1]}` is written by the kernel, which cannot write to a `{kind}`; make an "
                "array, x = np.array(x), pass it, and find the results there"
            ) from None

    def _shared(self, at: int, value: Any) -> Any:
        """Give the memory of an object that shows it as an array; anything else as it is."""
        place = f"{self.__name__}(): `{self._names[at]}`"
        own = self._annotations[self._names[at]]
        if isinstance(value, tuple) and own is not None and own.what != "array" and _is_record(own):
            return _elements.as_records(place, value, record_of(own.of))
        if _containers.is_lazy(value):
            raise TypeError(
                f"{place} is a Dask array, and this kernel works on whole arrays; compute it first (x.compute()), or "
                "call the kernel for each chunk (da.map_blocks)"
            )
        _containers.refuse_device(value, place)
        array = _containers.shared(value, place)
        annotation, name = self._annotations[self._names[at]], self._names[at]
        if array is None and (name in self._indexed or (annotation is not None and annotation.what == "array")):
            array = _containers.readable(value, place)
        return value if array is None else array

    def _array_types(self, values: list[Any]) -> tuple[Any, ...]:
        """Give the types of the arguments of an array kernel."""
        types: list[Any] = []
        for name, value in zip(self._names, values):
            annotation = self._annotations[name]
            if annotation is not None and annotation.what != "array":
                ty = _annotated_type(annotation)
                types.append(ty.of if isinstance(ty, Uniform) else ty)
                continue
            if annotation is None and name not in self._indexed and not isinstance(value, np.ndarray):
                ty = record_of(value.dtype) if isinstance(value, np.void) and value.dtype.names else of_value(value)
            else:
                if not isinstance(value, np.ndarray):
                    raise TypeError(f"{self.__name__}(): `{name}` takes an array, not {_told.described(value)}")
                ty = of_value(value)
                if isinstance(ty, Array) and annotation is not None:
                    self._check_array(name, value, ty, annotation)
            if ty is None or (name in self._indexed and not isinstance(ty, Array)):
                raise TypeError(f"{self.__name__}(): `{name}` {_told.no_type(value)}")
            types.append(ty)
        return tuple(types)

    def _check_array(self, name: str, value: np.ndarray, ty: Array, annotation: _Annotation) -> None:
        if annotation.ndim is not None and value.ndim != annotation.ndim:
            raise ValueError(
                f"{self.__name__}(): `{name}` takes an array of {annotation.ndim} dimensions, not {value.ndim}"
            )
        of = _functions.type_of(annotation.of) or of_dtype(annotation.of)
        if strong(of) != ty.of if isinstance(of, Num) else of != ty.of:
            help = f"; pass np.asarray(x, np.{of})" if isinstance(of, Num) else ""
            raise TypeError(f"{self.__name__}(): `{name}` takes an array of {of}, not of {value.dtype}{help}")

    def _run(self, instance: _Instance, given: list[Any], special: dict[str, Any]) -> Any:
        # A call that is looked at hands the next run over, and that one only.
        via = _seeing.via
        if instance.fits is not None and not instance.fits(*given):
            instance = self._careful(instance)
        try:
            if special and special.get("progress") is True:
                special = {**special, "progress": _progress.Bar(self.__name__)}
            if instance.has_complex:
                given = [_elements.as_pairs(value) for value in given]
            if via is not None:
                _seeing.via = None
                return _elements.of_pair(via(instance, given, special))
            result = instance.function(*given, **special)
            return _elements.of_pair(result) if instance.has_complex else result
        except Trap as trap:
            numbers = self._numbers(instance, given)
            raise in_python(trap, instance, self._shapes(instance, given), numbers) from None
        except (TypeError, ValueError, OverflowError) as error:
            text = str(error).replace(", or declare the parameter `const`", "")
            if text.startswith(f"{ENTRY}()"):
                raise type(error)(self.__name__ + text[len(ENTRY) :]) from None
            raise

    def _careful(self, instance: _Instance) -> _Instance:
        """Give the instance for Python ints that do not all fit where they are used: they are tested there."""
        with self._lock:
            if instance.careful is None:
                instance.careful = self._build(*instance.translate(Program(assumes=False)))
                instance.careful.translate = instance.translate
        self._last = instance.careful
        return instance.careful

    def _shapes(self, instance: _Instance, given: list[Any]) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the arrays that a run was given, by the names of the parameters."""
        takes = [
            isinstance(getattr(ty, "of", ty), Record)
            or isinstance(ty, Array if not instance.has_loop else (Num, Array))
            for ty in instance.params
        ]
        names = [name for name, takes_array in zip(self._names, takes) if takes_array]
        arrays = [(k, value) for k, value in enumerate(given) if isinstance(value, np.ndarray) and value.ndim]
        shapes = {name: array.shape for name, (_, array) in zip(names, arrays)}
        # Behind those that are made stand their lengths; several tasks have one each.
        made = arrays[len(names) : len(names) + len(instance.made)]
        shapes |= {own.name: tuple(given[k + 1 : k + 1 + a.ndim]) for own, (k, a) in zip(instance.made, made)}
        return shapes

    def _numbers(self, instance: _Instance, given: list[Any]) -> dict[str, Any]:
        """Give the numbers that a run of an array kernel was given, by the names of the parameters."""
        found, at = {}, 0
        for name, ty in zip(self._names, instance.params) if not self.is_elementwise else ():
            if isinstance(ty, Num):
                found[name] = given[at]
            # Behind an array stands its shape, behind a record which one it is.
            at += 1 + (ty.ndim if isinstance(ty, Array) else isinstance(ty, Record))
        return found

    # Instances.

    def _instance(self, key: Any, translate: Translate) -> _Instance:
        # In free-threaded Python `get` of a dictionary and storing an attribute take locks: calls would queue.
        try:
            found = self._instances[key]
        except KeyError:
            found = None
        if found is None:
            found = self._made(key, translate)
        if self._last is not found:
            self._last = found
        return found

    def _made(self, key: Any, translate: Translate) -> _Instance:
        with self._lock:
            found = self._instances.get(key)
            if found is None:
                try:
                    found = self._build(*translate(Program()))
                    found.translate = translate
                except CompileError as error:
                    if self._has_lengths and builtins.any(isinstance(ty, Array) for ty in key[1]):
                        once = (
                            "the kernel is called once, because lengths of its arrays depend on numbers that are passed"
                        )
                        each = "for each element of arrays, annotate these: `n: spmdvm.uniform[spmdvm.int64]`"
                        error = CompileError(f"{error}\n  note: {once}; {each}", error.diagnostics)
                    # It says where in the kernel it comes from; where in the translator is not the caller's.
                    raise error.with_traceback(None) from None
                self._instances[key] = found
            return found

    def _build(self, body: Body, program: Program, export: list[str], params: list[Any]) -> _Instance:
        at = self._source.line(self._source.tree)
        program.functions.append([(line, at) if isinstance(line, str) else line for line in export])
        instance = _Instance(program, body, params, self.__name__)
        try:
            instance.module = _compile([(f"<kernel {self.__name__}>", instance.text)], **self._options)
            instance.function = instance.module[ENTRY]
            instance.lengths = _lengths_of(body, instance.module.width) if instance.made else None
        except CompileError as error:
            raise compile_error(error, instance, self.__name__) from None
        return instance

    def _translate_elements(self, program: Program, types: list[Any]) -> tuple[Body, Program, list[Any], list[Any]]:
        plain = [ty.of if isinstance(ty, Uniform) else ty for ty in types]
        params = []
        for name, ty, given in zip(self._names, plain, types):
            # A record is one of an array.
            view, of = ((), Array(ty, 0)) if isinstance(ty, Record) else (None, ty)
            params.append(Param(name, of, isinstance(given, Uniform), view))
        body = Body(program, self._source, params, self._lookup, False)
        body.result = None if self._returns is None else record_of(self._returns)
        program.brings_memory = True
        for param in params:
            if param.uniform and isinstance(param.type, Num) and param.type.is_int:
                param.host = body.param_text(param.name)
        _note_passed(body)
        body.translate()
        if body.returns is None and not has_effects(self._source.tree):
            self._source.fail(
                self._source.tree,
                f"`{self.__name__}` is called for each element, and gives none a result",
                "nothing is returned",
                "return it; kernels that change arrays index them: `a[:] *= 2`, `a[i] = …`",
            )
        numbers = [*plain, *(body.returns or ())]
        is_mapped = builtins.all(isinstance(ty, Num) and ty.kind != "c" for ty in numbers)
        if is_mapped and not body.returns_tuple and not body.hidden:
            result = body.returns[0].spmd if body.returns else "void"
            head = f"export {result} {ENTRY}({', '.join(body.param_list())}) {{"
            return body, program, [head, *body.lines, "}"], types
        return body, program, _elements.write_loop(program, body, types, self.__name__), types

    def _translate_arrays(
        self, program: Program, types: list[Any], pattern: tuple, wide: bool
    ) -> tuple[Body, Program, list[Any], list[Any]]:
        program.wide, program.brings_memory = wide, True
        params = [
            Param(n, Array(ty, 0), True, ()) if isinstance(ty, Record) else Param(n, ty, True)
            for n, ty in zip(self._names, types)
        ]
        body = Body(program, self._source, params, self._lookup, True)
        body.result = None if self._returns is None else record_of(self._returns)
        for param in params:
            if isinstance(param.type, Num) and param.type.is_int:
                param.host = body.param_text(param.name)
        _note_passed(body)
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
            return body, program, [head, *body.lines, "}"], types
        inner = body.write_static(program.name("all"))
        program.python_names[inner.name] = self.__name__
        outs = [f"uniform {ty.spmd} out__{k}[]" for k, ty in enumerate(body.returns)]
        names = [part.rsplit(" ", 1)[1].removesuffix("[]") for part in body.param_list()]
        stores = " ".join(f"out__{k}[0] = r__.v{k};" for k in range(len(outs)))
        lines = [
            f"export void {ENTRY}({', '.join([*body.param_list(), *outs])}) {{",
            f"    uniform {inner.name}_result r__ = {inner.name}({', '.join(names)}); {stores}",
            "}",
        ]
        return body, program, lines, types

    # What can be asked for.

    def _last_used(self) -> _Instance:
        """Give the instance that was used last: by any thread, so that it may be another the next time."""
        if (
            self._last is None
            and self.is_elementwise
            and builtins.all(a is not None for a in self._annotations.values())
        ):
            types = [_annotated_type(a) for a in self._annotations.values()]
            self._instance(("elements", tuple(types)), lambda program: self._translate_elements(program, types))
        if self._last is None:
            raise RuntimeError(f"{self.__name__} has not been called, and its parameters have no types yet")
        return self._last

    @property
    def spmd_source(self) -> str:
        """The SPMD text of the instance that was used last."""
        return self._last_used().text

    @property
    def module(self) -> Any:
        """The module of the instance that was used last: for `explain()`, `stats()` and `disassemble()`."""
        return self._last_used().module

    def explain(self, line: int | None = None, *, ir: bool = False, asm: bool = False, profile: Any = None) -> str:
        """Say what the engine makes of the instance that was used last, and why, at lines of Python.

        Gives an `Explanation`. With a line of the kernel's file: what became of that, as text. `ir`, `asm` and
        `profile` are those of `Module.explain`.
        """
        from .. import _explain, _html

        instance = self._last_used()
        if line is None:
            loops = with_python_lines(instance.module._loops(ir=ir, asm=asm), instance, self.__name__)
            source = (self._source.file, _html.python_lines(self))
            return _explain.of_kernel(instance, source, self._facts(), loops, profile)
        if not isinstance(line, (int, np.integer)):
            raise TypeError(f"line must be the number of a line, not {line!r}")
        facts = self._facts(int(line)).get(int(line))
        if not facts:
            raise ValueError(f"line {line} has no code of {self.__name__}()")
        told = next((p.text for p in instance.places if p and self._is_at(p, line)), self._source.line_of(line))
        return _html.Report("\n".join([f"line {line}: {told.strip()}", *facts]))

    def _is_at(self, place: Any, line: int) -> bool:
        return (place.number, place.file) == (line, self._source.file)

    def _facts(self, line: int | None = None) -> dict[int, list[str]]:
        """Give what became of each line of Python, or of one, in the instance that was used last."""
        from .. import _html

        instance = self._last_used()
        found: dict[int, dict[str, None]] = {}
        for at, place in enumerate(instance.places, 1):
            if place is not None and self._is_at(place, place.number if line is None else line):
                known = found.setdefault(place.number, {})
                told = _html.facts(instance.module, at)
                known.update(dict.fromkeys(with_python_lines(fact, instance, self.__name__) for fact in told))
        return {number: list(known) for number, known in found.items()}

    def stats(self) -> dict[str, Any]:
        """Give the counts of the engine for the instance that was used last, at lines of Python."""
        instance = self._last_used()
        stats: dict[str, Any] = instance.module.stats()
        for loop in stats["loops"]:
            name_python_line(loop, instance)
            for part in loop["measured"]:
                name_python_line(part, instance)
            for version in loop["versions"]:
                for part in (*version["guards"], *version["variants"]):
                    name_python_line(part, instance)
        return stats

    def profile(self, *args: Any, **kwargs: Any) -> _profile.Profile:
        """Call the kernel once and tell what each line did, at lines of Python; see `Module.profile`.

        A line of Python has been executed as often as the most frequent of the lines of SPMD that it has become; their
        times add up.
        """
        from .. import _profile

        seen: list[_profile.Profile] = []

        def via(instance: _Instance, given: list[Any], special: dict[str, Any]) -> Any:
            found = instance.module.profile(instance.function, *given, **special)
            seen.append(_profile._of_kernel(found, self.__name__, instance.places))
            return found.result

        result = self._seen("profile", via, args, kwargs)
        seen[0].result = result
        return seen[0]

    def stepper(self, *args: Any, **kwargs: Any) -> _step.Stepper:
        """Call the kernel once to step through it, line by line of Python, forwards and backwards; see `Stepper`.

        Functions that it calls are stepped into (`into`). The reference interpreter runs it, with the same results. Of
        an elementwise kernel one gang runs after another, each from the kernel's first line on.
        """

        def call(stepping: Any) -> Any:
            def via(instance: _Instance, given: list[Any], special: dict[str, Any]) -> Any:
                slow = self._by_steps(instance)
                return stepping.serve(slow.module, slow.function, tuple(given), special, slow.translation())

            return self._seen("stepper", via, args, kwargs)

        from .. import _step

        return _step.Stepper(call, self.__name__)

    def _by_steps(self, instance: _Instance) -> _Instance:
        """Give the instance in which functions of Python are called, which are part of their callers else."""
        if instance.by_steps is None:
            slow = instance
            if instance.has_inlined or instance.has_loop:
                slow = self._build(*instance.translate(Program(inlines=False, assumes=False)))
            lines = slow.text.split("\n")
            for at, place in enumerate(slow.places):
                if place is not None and lines[at].startswith("static inline "):
                    lines[at] = lines[at].replace("static inline", "static noinline", 1)
            slow = copy.copy(slow)
            slow.module = _compile([(f"<kernel {self.__name__}>", "\n".join(lines))], **self._options)
            slow.function = slow.module[ENTRY]
            instance.by_steps = slow
        return instance.by_steps

    def _seen(self, what: str, via: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the kernel, but have `via` make the run."""
        if builtins.any(_containers.is_lazy(value) for value in (*args, *kwargs.values())):
            raise TypeError(f"{self.__name__}.{what}() was given a lazy array; compute it first (x.compute())")
        _seeing.via = via
        try:
            return self(*args, **kwargs)
        finally:
            _seeing.via = None

    def __repr__(self) -> str:
        """Tell the name and the kind."""
        kind = "elementwise" if self.is_elementwise else "array"
        return f"<{kind} kernel {self.__qualname__}{self._signature}>"

    def _repr_html_(self) -> str:
        from .. import _html

        return _html.kernel(self)

    def __reduce__(self) -> Any:
        """Pickle by name, as functions are, where that finds it; else with its source and what it uses."""
        from . import _portable

        return _portable.reduce(self)

    def __copy__(self) -> Kernel:
        """Give itself: it does not change."""
        return self

    def __deepcopy__(self, _: Any) -> Kernel:
        """Give itself: it does not change."""
        return self

    def __get__(self, instance: Any, owner: Any = None) -> Kernel:
        """Refuse to be a method: a kernel has no `self`."""
        if instance is None:
            return self
        raise TypeError(f"the kernel `{self.__name__}` cannot be a method; make it a function, or a staticmethod")


# What calls of elementwise kernels take besides the function's parameters.
_SPECIAL = {"out": None, "where": True, "threads": 1, "progress": False}


# Who makes the next run of a kernel on this thread, if it is to be looked at.
class _Seeing(threading.local):
    """What makes the next run of this thread, if it is not to be an ordinary one."""

    via: Callable[..., Any] | None = None


_seeing = _Seeing()


@typing.overload
def kernel(function: Callable[..., Any], /, **options: Any) -> Kernel: ...


@typing.overload
def kernel(function: None = None, /, **options: Any) -> Callable[[Callable[..., Any]], Kernel]: ...


def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a Python function through SPMD text, so that it runs on whole arrays.

    A kernel of numbers is called like a function of numpy, on arrays that broadcast:

    >>> import numpy as np, spmdvm
    >>> @spmdvm.kernel
    ... def steps(n):
    ...     count = 0
    ...     while n != 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         count += 1
    ...     return count
    >>> steps(np.arange(1, 8))
    array([ 0,  1,  7,  2,  5,  8, 16])

    One that indexes its parameters is called once, and goes through them itself; what stands in a `foreach` is done
    for all elements at once, in any order:

    >>> @spmdvm.kernel
    ... def smooth(a, out):
    ...     for i in spmdvm.foreach((1, len(a) - 1)):
    ...         out[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
    >>> a, out = np.arange(5.0), np.zeros(5)
    >>> smooth(a, out)
    >>> out
    array([0., 1., 2., 3., 0.])

    Parameters take the types of the first call's arguments (each other combination is compiled too), or those of
    their annotations:
    `spmdvm.float32`, `np.int64`, `float`, `spmdvm.uniform[spmdvm.int32]`, `spmdvm.array[spmdvm.float32, 2]`.
    Numbers mean what they mean in numpy, Python's own ints and floats included; ints alone are computed with 64
    bits. docs/kernels.md has the rules.

    >>> spmdvm.kernel(lambda x, y: x * x + y)(np.arange(4), 1)
    array([ 1,  2,  5, 10])

    Args:
        function: the function; without it, a decorator is returned. Lambdas with the same text and the same values of
            what they use from outside are one kernel, so that one in a loop is compiled once. They keep the values that
            these have now; functions written with `def` take them when they are first called.
        options: those of `compile` but for `host`: `width`, `engine`, `fp`, `fuel`, `timeout`, …

    Raises:
        CompileError: something that kernels do not have, at its line, with what to write instead; at the call if it
        depends on types.
        TypeError, ValueError: it is no function, or an option is wrong.
    """
    _options.check("kernel", options)
    if function is None:
        return lambda f: kernel(f, **options)
    if not is_lambda(function):
        return Kernel(function, options)
    from ._anew import kernel_of

    return kernel_of(function, options)


# Expressions.


_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "True": True, "False": False}


def _lookup_in_expression(name: str) -> Any:
    for owner in (
        _CONSTANTS,
        vars(np) if name not in ("min", "max", "round", "abs") else {},
        vars(math),
        vars(builtins),
    ):
        if name in owner:
            return owner[name]
    if name in _MODULES:
        return _MODULES[name]
    raise KeyError(name)


_lookup_in_expression.names = _functions.known_names  # type: ignore[attr-defined]
_MODULES = {"np": np, "numpy": np, "math": math}


_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")


def _meant(name: str) -> str:
    """Give the function that a name may be meant for."""
    close = close_to(name, (*dir(math), "where", "clip", "minimum", "maximum"), 0.75)
    return "" if close is None else f"; is the function `{close}` meant?"


def _expression(who: str, text: str, options: dict[str, Any]) -> Kernel:
    """Give the kernel of an expression, the same one for the same text; its parameters are the names in it."""
    _options.check(who, options)
    key = ("expression", text, _options.frozen(options))
    kernel: Kernel = remembered(key, lambda: _of_text(text, options))
    return kernel


def _of_text(text: str, options: dict[str, Any]) -> Kernel:
    what = text if len(text) <= 60 else text[:57] + "…"
    source = Source.of_expression(text, what)
    tree = source.tree
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    owners = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    names = (n for n in nodes if id(n) not in called and n.id not in _CONSTANTS)
    # (What is assigned within cannot stand there, which is told at its place.)
    own = {n.id for n in nodes if isinstance(n.ctx, ast.Store)}
    found = [n.id for n in names if n.id not in own and not (id(n) in owners and n.id in _MODULES)]
    return Kernel._of_expression(text, source, list(dict.fromkeys(found)), what, options)


def vectorize(expression: str | Callable[..., Any], **options: Any) -> Kernel:
    """Make a kernel of an expression; its parameters are the names in it, in the order in which they occur.

    >>> import numpy as np, spmdvm
    >>> spmdvm.vectorize("x*x + 1")(np.arange(4))
    array([ 1,  2,  5, 10])

    Functions of `math` and numpy need no prefix. Options are those of `compile`.

    Like numpy's, it takes a function of numbers as well, and is `spmdvm.kernel` then:

    >>> spmdvm.vectorize(lambda x, limit: x if x < limit else limit)(np.arange(4), 2)
    array([0, 1, 2, 2])
    """
    if "otypes" in options:
        raise TypeError(
            "vectorize() has no option `otypes`; results have the types that numpy gives, those of functions what is "
            "annotated: `def f(x) -> np.float64`"
        )
    _options.check("vectorize", options)
    if inspect.isfunction(expression):
        found: Kernel = kernel(expression, **options)
        if not found.is_elementwise:
            raise TypeError(
                f"spmdvm.vectorize takes a function of numbers, and `{found.__name__}` goes through arrays itself; for "
                "such there is spmdvm.kernel"
            )
        return found
    if not isinstance(expression, str):
        told = _told.no_function(expression)
        raise TypeError(f"spmdvm.vectorize takes an expression as a string, or a function, not {told}")
    return _expression("vectorize", expression.strip(), options)


def evaluate(
    expression: str,
    names: typing.Mapping[str, Any] | None = None,
    /,
    *,
    out: Any = None,
    threads: int = 1,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Compute an expression of arrays and numbers in one go, without arrays for its parts.

    Its names are looked up in `names`, or where they are missing in the caller's variables.

    >>> import numpy as np, spmdvm
    >>> a, b = np.array([3.0, 5.0]), np.array([4.0, 12.0])
    >>> spmdvm.evaluate("sqrt(a*a + b*b)")
    array([ 5., 13.])

    Args:
        expression: a Python expression; functions of `math` and numpy need no prefix.
        names: arrays and numbers by name.
        out, threads, progress: as for functions of a module.
        options: those of `compile`.

    Raises:
        CompileError: it is no expression of numbers.
        NameError: a name is neither in `names` nor a variable of the caller.
        TypeError, ValueError: `names` is no mapping, or an option is wrong.
    """
    if not isinstance(expression, str):
        raise TypeError(f"spmdvm.evaluate takes a string, not {type(expression).__name__}")
    # (Tables of pandas and polars have columns by name.)
    if names is not None and not (isinstance(names, Mapping) or hasattr(names, "keys") or hasattr(names, "columns")):
        raise TypeError(f'evaluate(): names are a mapping, {{"x": x}}, not {type(names).__name__}')
    for name in options:
        if name not in _options.NAMES and re.search(rf"\b{name}\b", expression):
            raise TypeError(
                f"evaluate() has no option `{name}`; pass what names of the expression stand for as a mapping: "
                f'evaluate({expression!r}, {{"{name}": …}})'
            )
    expression = expression.strip()
    found = _expression("evaluate", expression, options)
    spaces: list[Any] = [{} if names is None else names]
    frame = sys._getframe(1)
    while frame.f_code.co_name in _COMPREHENSIONS and frame.f_back is not None:
        # Until Python 3.12 they are functions of their own.
        spaces.append(frame.f_locals)
        frame = frame.f_back
    spaces.extend((frame.f_locals, frame.f_globals))
    values = []
    for name in found._names:
        for space in spaces:
            if name in space:
                values.append(space[name])
                break
        else:
            known = {key for space in spaces for key in space if isinstance(key, str)}
            help = _meant(name) or (f"; {text}" if (text := meant(name, known)) else "")
            raise NameError(f"`{name}` in spmdvm.evaluate({expression!r}) is no variable here{help}")
    special = {} if out is None else {"out": out}
    if threads != 1:
        special["threads"] = threads
    if progress is not None and progress is not False:
        special["progress"] = progress
    if not values:
        raise TypeError(f"there is no variable in {expression!r}: Python computes it")
    try:
        return found(*values, **special)
    except (TypeError, ValueError, OverflowError) as error:
        # What was called is `evaluate`: the text is the kernel's name, and no function's.
        head, text = f"{found.__name__}()", str(error)
        if not text.startswith(head):
            raise
        raise type(error)(f"evaluate({found.__name__!r})" + text[len(head) :]) from None


# Helpers.


def _note_passed(body: Body) -> None:
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


def _refuse_wrapped(function: Any) -> typing.NoReturn:
    """Fail because a function is what a decorator made of another one."""
    name = function.__name__
    message = f"`{name}` is wrapped by a decorator, which would be left out"
    help = "put the decorator above `@spmdvm.kernel`, so that it wraps the kernel; or have the kernel do what it does"
    try:
        source = Source.of(inspect.unwrap(function))
    except CompileError:
        raise CompileError(f"error[K0002]: {message}\n  help: {help}") from None
    source.fail(source.tree, message, "this is the function within", help)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Give the annotations of a function."""
    try:
        return typing.get_type_hints(function)
    except TypeError:
        # Until Python 3.11, those that are texts must stand for what can be called, as dtypes cannot.
        given = function.__annotations__.items()
        return {name: eval(hint, function.__globals__) if isinstance(hint, str) else hint for name, hint in given}


def _is_record(annotation: _Annotation | None) -> bool:
    """Return whether what is annotated is a record, or an array of them."""
    return annotation is not None and isinstance(annotation.of, np.dtype) and annotation.of.names is not None


def _annotated_type(annotation: _Annotation) -> Any:
    """Give the type of a parameter of an elementwise kernel."""
    ty = record_of(annotation.of) if _is_record(annotation) else _functions.type_of(annotation.of)
    return Uniform(ty) if annotation.what == "uniform" else ty


# What annotations of numpy's name that stands for several types.
_ABSTRACT = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact, np.floating,
    np.complexfloating,
)  # fmt: skip
_ndarray = np.ndarray
# What is said of an array that cannot be written to.
_READ_ONLY = re.compile(r"\w+\(\): `(\w+)` is written by the program, but the array is read-only")
_NOTHING: dict[str, Any] = {}
# Of arguments of these types `_Again` sees all that matters.
_FORMED = (_ndarray, int, float, bool, *(np.dtype(c).type for c in "?bBhHiIlLqQefd"))


def _kind(value: Any) -> Any:
    """Give what the types of a call depend on."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    # (Lazy frames compute what they have there.)
    if hasattr(value.__class__, "dtypes") and _containers.is_labelled(value):
        return value.__class__, tuple(value.dtypes) if value.ndim > 1 else value.dtype
    return (value.__class__, value.dtype, getattr(value, "ndim", 1)) if hasattr(value, "dtype") else value.__class__
