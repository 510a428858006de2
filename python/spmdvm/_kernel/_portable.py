"""Kernels in other processes: by name where a process can import them, else as their source and the values they use.

By value go kernels of scripts and notebooks (`__main__`), of functions' insides, of expressions, and of modules that
cloudpickle has been told to take by value. With a kernel go the functions it calls that cannot be imported either.
"""

from __future__ import annotations

import ast
import builtins
import collections
import inspect
import pickle
import sys
import types
from typing import Any

import numpy as np

from .._cache import remembered
from . import Kernel, _evaluate, _functions, _random
from ._annotations import hints_of, is_known, is_of_tuples
from ._known import is_literal
from ._plain import all_parameters
from ._source import Source
from ._trees import walk
from ._tuples import is_named_tuple
from ._values import constants
from ._wrappers import inner_of


def reduce(kernel: Kernel) -> Any:
    """Give what pickle asks an object for."""
    if _is_importable(kernel):
        return kernel.__qualname__
    if kernel._text is not None:
        return _evaluate.kernel_of_text, ("vectorize", kernel._text, kernel._options)
    return _rebuild, (pickle.dumps(_Packer(kernel).records),)


def _is_importable(found: Any) -> bool:
    """Return whether another process finds the object by importing its module."""
    name = getattr(found, "__module__", None)
    if name in (None, "__main__", "__mp_main__") or name not in sys.modules:
        return False
    cloudpickle = sys.modules.get("cloudpickle")
    if cloudpickle is not None and hasattr(cloudpickle, "list_registry_pickle_by_value"):
        by_value = cloudpickle.list_registry_pickle_by_value()
        if any(name == listed or name.startswith(f"{listed}.") for listed in by_value):
            return False
    at: Any = sys.modules[name]
    for part in found.__qualname__.split("."):
        at = getattr(at, part, None)
    return at is found


class _Module:
    """A module that names stand for."""

    def __init__(self, name: str) -> None:
        self.name = name


_OF_TYPES = ("builtins", "collections", "numbers", "numpy", "spmdvm", "typing")


class _Function:
    """A function that is packed too."""

    def __init__(self, at: int) -> None:
        self.at = at


class _Exception:
    """A class of exceptions that cannot be imported, by its name and what it is one of."""

    def __init__(self, name: str, of: Any) -> None:
        self.name, self.of = name, of


class _NamedTuple:
    """A class of tuples that cannot be imported: its name, the names of its parts, and what they are by default."""

    def __init__(self, found: Any) -> None:
        self.name, self.fields = found.__name__, found._fields
        self.defaults = tuple(found._field_defaults.values())


class _Packer:
    """Collects a kernel and the functions it calls."""

    def __init__(self, kernel: Kernel) -> None:
        """Begin with the kernel, whose record is the first."""
        self.places: dict[int, int] = {}
        self.records: list[dict[str, Any]] = []
        self.function(kernel)

    def function(self, found: Any) -> _Function:
        """Pack a function or kernel, once."""
        function = inner_of(found)
        at = self.places.get(id(found))
        if at is not None:
            return _Function(at)
        at = self.places[id(found)] = len(self.records)
        source = Source.of(function)
        is_kernel = isinstance(found, Kernel)
        hints = hints_of(function) if is_kernel else {}
        # (A class of tuples may not be known there, and tells no more.)
        hints = {name: _known_anywhere(hint, name != "return") for name, hint in hints.items()}
        record = {
            "name": found.__name__,
            "qualname": found.__qualname__,
            "module": found.__module__,
            "doc": found.__doc__,
            "source": source.origin(),
            "defaults": (function.__defaults__, function.__kwdefaults__),
            "annotations": hints,
            "returned": _known_anywhere(source.returned) if is_known(source.returned) else inspect.Signature.empty,
            "options": found._options if is_kernel else None,
        }
        self.records.append(record)
        lookup = found._lookup if is_kernel else _functions.lookup_of(function)
        names = {}
        for name, attributes in _used(source.tree).items():
            try:
                names[name] = self.value(lookup(name), attributes)
            except KeyError:
                # The kernel says so when it is compiled.
                continue
        record["names"] = names
        return _Function(at)

    def value(self, found: Any, attributes: dict[str, Any]) -> Any:
        """Pack what a name stands for; of what is no number, function or module, the attributes that are used."""
        if (
            constants(found) is not None
            or is_literal(found)
            or isinstance(found, (np.ndarray, _functions.InKernels))
            or found is _random.rng
        ):
            return found
        if isinstance(found, types.ModuleType):
            return _Module(found.__name__)
        if isinstance(found, Kernel) or inspect.isfunction(inner_of(found)):
            return found if _is_importable(found) else self.function(found)
        if _functions.type_of(found) is not None or _functions.find(found) is not None:
            return found
        if _is_type(found):
            return found
        if isinstance(found, type) and issubclass(found, Exception):
            of = found.__base__
            return found if _is_importable(found) else _Exception(found.__name__, self.value(of, {}))
        if is_named_tuple(found):
            return found if _is_importable(found) else _NamedTuple(found)
        if isinstance(found, (np.ufunc, types.BuiltinFunctionType)) or getattr(builtins, "range", None) is found:
            return found
        kept = {
            name: self.value(getattr(found, name), inner) for name, inner in attributes.items() if hasattr(found, name)
        }
        return types.SimpleNamespace(**kept)


def _known_anywhere(hint: Any, of_parameter: bool = False) -> Any:
    """Give an annotation with `tuple` for a class of tuples, or of a parameter for any tuple."""
    return tuple if is_named_tuple(hint) or (of_parameter and is_of_tuples(hint)) else hint


def _is_type(found: Any) -> bool:
    """Return whether something stands in annotations, and is found by its name: `tuple`, `NDArray`, `Any`."""
    is_type = isinstance(found, type) or found is Any or isinstance(found, types.GenericAlias)
    is_type |= hasattr(found, "__value__")
    return is_type and (getattr(found, "__module__", None) or "").partition(".")[0] in _OF_TYPES


def _used(tree: Any) -> dict[str, dict[str, Any]]:
    """Give the names that a function takes from outside, each with the attributes it asks for, as a tree."""
    own = {arg.arg for arg in all_parameters(tree)}
    nodes = [node for part in (*tree.body, tree.returns) if part is not None for node in walk(part)]
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    used: dict[str, dict[str, Any]] = {}

    def note(node: Any) -> dict[str, Any] | None:
        if isinstance(node, ast.Name):
            return None if node.id in own else used.setdefault(node.id, {})
        owner = note(node.value) if isinstance(node, ast.Attribute) else None
        return None if owner is None else owner.setdefault(node.attr, {})

    for node in nodes:
        note(node)
    return used


def _rebuild(packed: bytes) -> Kernel:
    """Give a kernel that was packed; the same one again for the same bytes, so that it is compiled once."""
    kernel: Kernel = remembered(("packed", packed), lambda: _unpacked(packed))
    return kernel


def _unpacked(packed: bytes) -> Kernel:
    records = pickle.loads(packed)
    spaces = []
    made: list[Any] = []
    for record in records:
        source = Source.of_lines(*record["source"])
        source.returned = record["returned"]
        space: dict[str, Any] = {"__builtins__": builtins, "__name__": record["module"]}
        function = _made(source, record, space)
        source.keep_for(function)
        spaces.append(space)
        made.append(function if record["options"] is None else Kernel(function, record["options"]))

    named_tuples: dict[tuple[Any, ...], Any] = {}

    def value(packed: Any) -> Any:
        if isinstance(packed, _Module):
            return __import__(packed.name, fromlist=["_"])
        if isinstance(packed, _Function):
            return made[packed.at]
        if isinstance(packed, _Exception):
            return type(packed.name, (value(packed.of),), {})
        if isinstance(packed, _NamedTuple):
            key = (packed.name, packed.fields, packed.defaults)
            if key not in named_tuples:
                named_tuples[key] = collections.namedtuple(*key[:2], defaults=packed.defaults)
            return named_tuples[key]
        if isinstance(packed, types.SimpleNamespace):
            return types.SimpleNamespace(**{name: value(inner) for name, inner in vars(packed).items()})
        return packed

    for record, space in zip(records, spaces):
        space.update((name, value(packed)) for name, packed in record["names"].items())
    return made[0]


def _made(source: Source, record: dict[str, Any], space: dict[str, Any]) -> Any:
    """Define a function of its source, without decorators, and with the defaults and annotations it had."""
    tree = Source.of_lines(*record["source"]).tree
    tree.decorator_list, tree.returns = [], None
    tree.args.defaults = []
    tree.args.kw_defaults = [None] * len(tree.args.kwonlyargs)
    for arg in all_parameters(tree):
        arg.annotation = None
    ast.increment_lineno(tree, source.first - 1)
    exec(compile(ast.Module([tree], []), source.file, "exec"), space)
    function = space.pop(tree.name)
    function.__name__, function.__qualname__ = record["name"], record["qualname"]
    function.__doc__, (function.__defaults__, function.__kwdefaults__) = record["doc"], record["defaults"]
    function.__annotations__ = record["annotations"]
    return function
