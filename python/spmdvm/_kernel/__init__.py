"""Kernels written in Python: compiled through SPMD text when they are first called.

`Kernel` finds out the types of a call (`_array_kernels`, `_elementwise_kernels`) and has an instance translated for
them, compiled and called. `docs/internals/kernels.md` has a map of the modules.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import threading
import typing
from typing import Any, Callable

import numpy as np

from .. import _containers, _progress
from .._copies import Deadline
from .._errors import CompileError, Trap
from . import (
    _annotations,
    _array_kernels,
    _decided,
    _elementwise_kernels,
    _functions,
    _layouts,
    _options,
    _passed_tuples,
    _told,
)
from ._annotations import Annotation
from ._annotations import array as array
from ._annotations import uniform as uniform
from ._asked_types import asked_types
from ._effects import fills_list
from ._foreach import looks_like_foreach
from ._functions import ACROSS
from ._functions import foreach as foreach
from ._instances import Instance, Translate, build, by_steps, handed_out, kind_of, ran
from ._instead import meant
from ._lambdas import is_lambda
from ._messages import as_passed
from ._places import ENTRY, in_python, name_python_line, with_python_lines
from ._program import Program
from ._random import rng as rng
from ._source import Source
from ._trees import walk
from ._types import Array, Literal, Num, Record
from ._usage import Usage, grows_list, makes_arrays, reduces, returns_array, stored_to, taken_apart, with_fields
from ._wrappers import inner_of, is_wrapped

if typing.TYPE_CHECKING:
    # What shows things is imported when there is something to show.
    from .. import _profile, _step

lane, width = _functions.LANE, _functions.WIDTH
reduce_add, reduce_min, reduce_max = (ACROSS[name] for name in ("reduce_add", "reduce_min", "reduce_max"))
broadcast, rotate, shift, shuffle = (ACROSS[name] for name in ("broadcast", "rotate", "shift", "shuffle"))
# They hide Python's own, which are `builtins.any` and `builtins.all` here.
any, all, none = (ACROSS[name] for name in ("any", "all", "none"))


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
        self._annotations, self._returns = _annotations.read(self._source, function)
        self._told_tuples = {name for name, told in self._annotations.items() if told and told.what == "tuple"}
        if self._source.tree.args.vararg is not None:
            # What is left is a tuple.
            self._told_tuples.add(self._source.tree.args.vararg.arg)
        # Their types are those of what is passed.
        self._annotations.update(dict.fromkeys(self._told_tuples))
        tree = self._source.tree
        if tree.args.kwarg is not None:
            help = "name each parameter"
            self._source.fail(tree.args.kwarg, "a kernel has no `**` parameters", "not supported", help)
        self._decide()

    def _decide(self) -> None:
        """Find out whether it is elementwise; if a function that it calls is not there yet, for now."""
        tree, usage = self._source.tree, Usage(self._source.tree, self._lookup)
        self._is_decided = usage.is_known
        # (Of a record fields are indexed.)
        records = {name for name in self._names if _annotations.is_of_records(self._annotations[name])}
        records |= self._told_tuples
        self._tuples, self._stored = self._told_tuples | taken_apart(tree), stored_to(tree, self._lookup)
        self._indexed = usage.indexed & set(self._names) - records
        # Those that are arrays or numbers, whatever is done with them.
        self._typed = asked_types(tree)
        self.is_elementwise = not self._indexed and not builtins.any(
            isinstance(node, ast.For) and looks_like_foreach(node) for node in walk(tree)
        )
        # What is told to be the same for all elements may be a length of an array that each has.
        several = [name for name, a in self._annotations.items() if a is None or a.what != "uniform"]
        records |= with_fields(tree)
        self.is_elementwise &= not reduces(tree, self._lookup, [name for name in self._names if name not in records])
        self.is_elementwise &= not builtins.any(a is not None and a.what == "array" for a in self._annotations.values())
        self._has_lengths = self.is_elementwise and makes_arrays(tree, several)
        self.is_elementwise &= not self._has_lengths
        self.is_elementwise &= self._returns is not None or not returns_array(tree, self._lookup)
        self.is_elementwise &= not grows_list(tree) and not fills_list(tree, self._lookup)
        self.__signature__ = self._whole_signature()

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
        special = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_POSITIONAL)
        self._is_positional = builtins.all(p.kind not in special for p in signature.parameters.values())
        self._defaults = [p.default for p in signature.parameters.values()]
        self._least = builtins.sum(default is inspect.Parameter.empty for default in self._defaults)
        self._annotations: dict[str, Annotation | None] = dict.fromkeys(self._names)
        # The parameters that are annotated as tuples; and those that take tuples as such rather than as arrays.
        self._told_tuples: set[str] = set()
        self._tuples: set[str] = set()
        self._stored: set[str] = set()
        # The dtype of the record that it is annotated to return.
        self._returns: np.dtype | None = None
        self._indexed: set[str] = set()
        self._typed: set[str] = set()
        self.is_elementwise = self._is_decided = True
        # Whether it is called once only because arrays of its own have lengths that are passed.
        self._has_lengths = False
        self._instances: dict[Any, Instance] = {}
        # By what is seen of arguments at once: their types.
        self._plans: dict[Any, Any] = {}
        self._ready: dict[Any, Instance] = {}
        self._last: Instance | None = None
        # The parameters that may be None or texts, if that was asked.
        self._asked: set[str] | None = None
        # The last call of an array kernel.
        self._again: _array_kernels.Again | None = None
        # Threads that need the same instance at once wait for one of them to make it. That thread may take it again: in
        # handlers of signals and finalizers, which may call the kernel, too.
        self._lock = threading.RLock()

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
        if not kwargs and self._is_positional and len(args) == len(self._names):
            values = list(args)
        elif not kwargs and self._is_positional and self._least <= len(args) < len(self._names):
            values = [*args, *self._defaults[len(args) :]]
        else:
            bound = self._bound(args, kwargs)
            bound.apply_defaults()
            values = [bound.arguments[name] for name in self._names]
        if self.is_elementwise:
            return self._call_elements(values, special)
        progress = {name: special.pop(name) for name in ("progress",) if name in special}
        if special:
            name = next(iter(special))
            raise TypeError(
                f"{self.__name__}() is an array kernel, which is called once and has its own loops, and takes no "
                f"`{name}=`; {_told.INSTEAD_OF[name]}"
            )
        return _array_kernels.call(self, values, progress)

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
        if type(special.get("where")) is list:
            place = f"{self.__name__}(): `where`"
            special = {**special, "where": _containers.as_array(special["where"], place, self._deadline())}
        # What has been called with such arguments as they are needs no more than that.
        try:
            instance = self._ready[tuple([kind_of(value) for value in values])]
        except (KeyError, TypeError):
            instance = None
        if instance is not None:
            self._last = instance
            return self._call_instance(instance, values, special)
        if not builtins.all([isinstance(v, (int, float, complex, np.generic, np.ndarray)) for v in values]):
            lazy = _containers.lazily(self, tuple(values), special)
            if lazy is not NotImplemented:
                return lazy
            deadline = self._deadline()
            values = [_elementwise_kernels.as_array(self, *each, deadline) for each in zip(self._names, values)]
        kinds = tuple([_passed_tuples.kind_of(value) for value in values])
        try:
            types = self._plans[kinds]
        except KeyError:
            types = self._plans[kinds] = _elementwise_kernels.types_of(self, values)
        instance = self._instance(
            ("elements", types), lambda program: _elementwise_kernels.translate(self, program, list(types))
        )
        self._ready[kinds] = instance
        return self._call_instance(instance, values, special, True)

    def _deadline(self) -> Deadline:
        """Begin to count the time that arguments may take to be read."""
        return Deadline(self.__name__, self._options.get("timeout"))

    def _call_instance(
        self, instance: Instance, values: list[Any], special: dict[str, Any], may_be_tuples: bool = False
    ) -> Any:
        """Call an elementwise kernel: over arrays as they are, or what goes through memory itself."""
        if instance.takes is not None:
            values = [values[k] for k in instance.takes]
        if may_be_tuples:
            values = _passed_tuples.all_leaves(values)
        # What is looked at is seen as it was passed.
        turned = _layouts.turned(values, special) if _seeing.via is None else None
        if turned is None:
            return self._call_in_order(instance, values, special)
        found = _layouts.called(lambda *given: self._call_in_order(instance, *given), turned)
        return found if special.get("out") is None else special["out"]

    def _call_in_order(self, instance: Instance, values: list[Any], special: dict[str, Any]) -> Any:
        if instance.has_loop:
            return _elementwise_kernels.call(self, instance, values, special, _seeing.via is not None)
        out = special.get("out")
        if type(out) is tuple and len(out) == 1:
            # Functions of numpy take one array so, too.
            special = {**special, "out": out[0]}
        return self._run(instance, values, special)

    def _run(self, instance: Instance, given: list[Any], special: dict[str, Any]) -> Any:
        # A call that is looked at hands the next run over, and that one only.
        via = _seeing.via
        if instance.fits is not None and not instance.fits(*given):
            instance = self._careful(instance)
        try:
            if special and special.get("progress") is True:
                special = {**special, "progress": _progress.Bar(self.__name__)}
            if instance.has_complex:
                given = [_elementwise_kernels.as_pairs(value) for value in given]
            if instance.returns_lists:
                ran.module = instance.module
            if via is not None:
                _seeing.via = None
                return _elementwise_kernels.of_pair(via(instance, given, special))
            result = instance.function(*given, **special)
            return _elementwise_kernels.of_pair(result) if instance.has_complex else result
        except Trap as trap:
            instance.forget(self)
            numbers = self._numbers(instance, given)
            handed = handed_out(instance, trap, special.get("threads", 1) == 1) if instance.tells else None
            raise in_python(trap, instance, self._shapes(instance, given), numbers, handed) from None
        except (TypeError, ValueError, OverflowError) as error:
            text = str(error).replace(", or declare the parameter `const`", "")
            if text.startswith(f"{ENTRY}()"):
                raise type(error)(self.__name__ + text[len(ENTRY) :]) from None
            raise

    def _careful(self, instance: Instance) -> Instance:
        """Give the instance for Python ints that do not all fit where they are used: they are tested there."""
        with self._lock:
            if instance.careful is None:
                instance.careful = build(self, *instance.translate(Program(assumes=False)))
                instance.careful.translate = instance.translate
        self._last = instance.careful
        return instance.careful

    def _shapes(self, instance: Instance, given: list[Any]) -> dict[str, tuple[int, ...]]:
        """Give the shapes of the arrays that a run was given, by the names of the parameters."""
        takes = [
            isinstance(getattr(ty, "of", ty), Record)
            or isinstance(ty, Array if not instance.has_loop else (Num, Array))
            for ty in instance.params
        ]
        names = [name for name, takes_array in zip(instance.param_names, takes) if takes_array]
        arrays = [(k, value) for k, value in enumerate(given) if isinstance(value, np.ndarray) and value.ndim]
        shapes = {name: array.shape for name, (_, array) in zip(names, arrays)}
        # Behind those that are made stand their lengths; several tasks have one each.
        made = arrays[len(names) : len(names) + len(instance.made)]
        shapes |= {own.name: tuple(given[k + 1 : k + 1 + a.ndim]) for own, (k, a) in zip(instance.made, made)}
        return shapes

    def _numbers(self, instance: Instance, given: list[Any]) -> dict[str, Any]:
        """Give the numbers, and the arrays, that a run of an array kernel was given, by the names of the parameters."""
        found, at = {}, 0
        for name, ty in zip(instance.param_names, instance.params) if not self.is_elementwise else ():
            if isinstance(ty, (Num, Array)):
                found[name] = as_passed(given[at])
            # Behind an array stands its shape, behind a record which one it is.
            at += 1 + (ty.ndim if isinstance(ty, Array) else isinstance(ty, Record))
        return found

    # Instances.

    def _takes_literal(self, name: str, value: str | None) -> bool:
        """Return whether a parameter may be None, or a text."""
        if self._asked is None:
            self._asked = _decided.asked_of(self._signature, self._source.tree)
        annotation = self._annotations[name]
        if annotation is None:
            return name in self._asked
        default = self._signature.parameters[name].default
        return value is None and (annotation.or_none or default is None)

    def _instance(self, key: Any, translate: Translate) -> Instance:
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

    def _made(self, key: Any, translate: Translate) -> Instance:
        with self._lock:
            found = self._instances.get(key)
            if found is None:
                try:
                    translate, text = _with_unset(translate)
                    found = build(self, *text)
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
                if _has_text(key[1]):
                    self._forget_texts()
            return found

    def _forget_texts(self) -> None:
        """Forget the first instance for a text if there are too many: somebody may pass what is read from a file."""
        keys = [key for key in self._instances if _has_text(key[1])]
        if len(keys) <= _MOST_OF_TEXTS:
            return
        del self._instances[keys[0]]
        self._ready.clear()
        self._plans.clear()

    # What can be asked for.

    def _last_used(self) -> Instance:
        """Give the instance that was used last: by any thread, so that it may be another the next time."""
        if (
            self._last is None
            and self.is_elementwise
            and builtins.all(a is not None for a in self._annotations.values())
        ):
            types = [_annotations.parameter_type(a) for a in self._annotations.values()]
            self._instance(
                ("elements", tuple(types)), lambda program: _elementwise_kernels.translate(self, program, types)
            )
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

        def via(instance: Instance, given: list[Any], special: dict[str, Any]) -> Any:
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
            def via(instance: Instance, given: list[Any], special: dict[str, Any]) -> Any:
                slow = by_steps(self, instance)
                ran.module = slow.module
                return stepping.serve(slow.module, slow.function, tuple(given), special, slow.translation())

            return self._seen("stepper", via, args, kwargs)

        from .. import _step

        return _step.Stepper(call, self.__name__)

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


# For so many texts that are passed a kernel keeps what it is compiled to.
_MOST_OF_TEXTS = 64
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


def _with_unset(translate: Translate) -> tuple[Translate, Any]:
    """Translate a kernel; variables that may have no value are tested where they are read, if they are numbers.

    They turn out one after another. Where they are something else, the first error is what is told.
    """
    unset: dict[Any, frozenset[str]] = {}

    def translated(program: Program) -> Any:
        program.unset = unset
        return translate(program)

    first: CompileError | None = None
    while True:
        program = Program()
        try:
            return translated, translated(program)
        except CompileError as error:
            first = first or error
            function, name = program.refused or (None, "")
            if function is None or name in unset.get(function, ()):
                raise first from None
            unset[function] = unset.get(function, frozenset()) | {name}


def _has_text(types: Any) -> bool:
    return builtins.any(isinstance(ty, Literal) and ty.value is not None for ty in types)


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


_ndarray = np.ndarray
_NOTHING: dict[str, Any] = {}
