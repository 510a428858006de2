"""Calls with Dask arrays: functions of varying numbers become parts of their graphs, computed chunk by chunk."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from ._cache import remembered
from ._containers import is_lazy
from ._spmdvm import Function


class _Call:
    """A function with the arguments that are the same for all chunks; it is called with chunks."""

    def __init__(self, function: Any, fixed: tuple[Any, ...], places: tuple[int, ...], options: dict[str, Any]) -> None:
        """Note what is fixed; chunks are put in at the places."""
        self.function, self.fixed, self.places, self.options = function, fixed, places, options
        self.__name__ = function.__name__

    def __call__(self, *chunks: Any) -> Any:
        """Call the function."""
        args = list(self.fixed)
        for at, chunk in zip(self.places, chunks):
            args[at] = chunk
        return self.function(*args, **self.options)

    def _packed(self) -> bytes:
        return pickle.dumps((self.function, self.fixed, self.places, self.options))

    def __reduce__(self) -> Any:
        """Pickle so that a process makes the same call once, and compiles its program once."""
        return _unpacked, (self._packed(),)

    def __dask_tokenize__(self) -> Any:
        """Give what names of chunks are made of: the same for the same call."""
        try:
            return self._packed()
        except (TypeError, pickle.PicklingError, AttributeError):
            # With functions of the host: good in this process.
            return id(self.function), id(self)


def _unpacked(packed: bytes) -> _Call:
    call: _Call = remembered(("call", packed), lambda: _Call(*pickle.loads(packed)))
    return call


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Give the lazy result of a call of an exported function or a kernel, of which some arguments are Dask arrays."""
    import dask.array as da

    name = function.__name__
    signature = function.__signature__
    if "threads" not in signature.parameters:
        raise TypeError(
            f"{name}() works on whole arrays, and was given a Dask array; compute that first (x.compute()), or call it "
            f"for each chunk (da.map_blocks)"
        )
    options = {}
    for option, default in (("out", None), ("where", True), ("threads", 1)):
        if option not in kwargs or signature.parameters[option].kind.name != "KEYWORD_ONLY":
            continue
        given = kwargs.pop(option)
        if option == "threads":
            options[option] = given
        elif given is not default:
            raise TypeError(f"{name}() of Dask arrays takes no `{option}=`; it gives a new lazy array")
    own = signature.parameters.get("progress")
    is_told = kwargs.get("progress", False) not in (None, False)
    if is_told and (own is None or own.kind.name == "KEYWORD_ONLY"):
        raise TypeError(f"{name}() of Dask arrays takes no `progress=`; use Dask's own (dask.diagnostics.ProgressBar)")
    if own is None or own.kind.name == "KEYWORD_ONLY":
        kwargs.pop("progress", None)
    bound = signature.bind(*args, **kwargs)
    values, names, varying = _parameters(function, bound)
    places = []
    for at, (value, label, is_varying) in enumerate(zip(values, names, varying)):
        if is_lazy(value) and not is_varying:
            raise TypeError(f"{name}(): `{label}` is the same for all elements and cannot be a Dask array; compute it")
        if is_varying and (is_lazy(value) or np.ndim(value) > 0):
            places.append(at)
    fixed = tuple(None if at in places else value for at, value in enumerate(values))
    part = _Call(function, fixed, tuple(places), options)
    chunked = [values[at] if is_lazy(values[at]) else np.asarray(values[at]) for at in places]
    # Types and mistakes are found out with chunks without elements.
    result = part(*(np.empty((0,) * max(x.ndim, 1), x.dtype) for x in chunked))
    if result is None:
        raise TypeError(f"{name}() has no result, so it cannot be called with Dask arrays")
    if not isinstance(result, tuple):
        return da.core.elemwise(part, *chunked, dtype=result.dtype)
    # The chunks of all must be the same.
    most = max(x.ndim for x in chunked)
    indexed = [part for x in chunked for part in (da.asarray(x), range(most - x.ndim, most))]
    _, chunked = da.core.unify_chunks(*indexed)
    inputs, outputs = ",".join("()" for _ in chunked), ",".join("()" for _ in result)
    return da.apply_gufunc(part, f"{inputs}->{outputs}", *chunked, output_dtypes=tuple(r.dtype for r in result))


def _parameters(function: Any, bound: Any) -> tuple[list[Any], list[str], list[bool]]:
    """Give the arguments by position, their names, and whether each is a number for each element."""
    parameters = function.__signature__.parameters
    if "args" in parameters and parameters["args"].kind.name == "VAR_POSITIONAL":
        # Overloads: all that are called with arrays take numbers.
        values = list(bound.args)
        return values, [f"argument {k + 1}" for k in range(len(values))], [True] * len(values)
    bound.apply_defaults()
    names = [n for n, p in parameters.items() if p.kind.name != "KEYWORD_ONLY"]
    values = [bound.arguments[n] for n in names]
    if isinstance(function, Function):
        return values, names, [" | " in str(parameters[n].annotation) for n in names]
    annotations = function._annotations
    return values, names, [annotations[n] is None or annotations[n].what != "uniform" for n in names]
