"""What arguments are besides numpy's arrays: masked arrays, pandas and polars objects, tensors, lazy arrays.

A function is run on plain arrays. What else the arguments carry is carried over to the result, or refused:

- Masked arrays: nothing is computed where an argument is masked; the result is masked there. `out` must be masked too.
- pandas Series and DataFrames: their labels must be equal; the result has them too.
- polars Series: without nulls; the result is a Series.
- Dask arrays: the call becomes a part of their graph (`_lazy`); what goes through whole arrays refuses them.
- Objects that show their memory (DLPack, `__array_interface__`): are views of it, if it is the CPU's.
- Other classes that say themselves what functions do to them (units, lazy arrays) are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np

from ._copies import Deadline, of_list

_PLAIN = (np.ndarray, np.memmap, np.recarray)


def _pandas(value: Any) -> str | None:
    """Name the kind of labelled object, if it is one."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.Series):
        return "Series"
    return "DataFrame" if pandas is not None and isinstance(value, pandas.DataFrame) else None


def is_polars(value: Any) -> bool:
    """Return whether it is a polars Series."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(value, polars.Series)


# The devices of DLPack whose memory the CPU reads, and names of others.
_CPU = (1, 3, 11, 13)
_DEVICES = {2: "CUDA", 4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI"}

# What tensors of torch hold that numpy has as well.
_OF_TORCH = {
    "bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
    "float16", "float32", "float64", "complex64", "complex128",
}  # fmt: skip


def _wrong_tensor(value: Any) -> str | None:
    """Say why the memory of a tensor of torch is not its numbers, and what to do; None if it is, or it is none."""
    torch: Any = sys.modules.get("torch")
    tensor: Any = getattr(torch, "Tensor", ())
    if not isinstance(value, tensor):
        return None
    dtype = str(value.dtype).removeprefix("torch.")
    if value.is_nested:
        return "of parts of different lengths (nested); pass them one by one (x.unbind())"
    if value.layout != torch.strided:
        return f"that does not hold all of its numbers ({value.layout}); make it dense (x.to_dense())"
    if value.device.type == "meta":
        return "of the device `meta`, which has no numbers; make it on the CPU"
    if value.is_quantized:
        return "of quantized numbers; convert it (x.dequantize())"
    if value.requires_grad:
        return "that records gradients, which a program does not; pass x.detach(), whose memory is the same"
    if value.is_conj():
        return "of conjugates of what is in its memory; compute them (x.resolve_conj())"
    if value.is_neg():
        return "of negatives of what is in its memory; compute them (x.resolve_neg())"
    if dtype not in _OF_TORCH:
        wider = "complex64" if value.is_complex() else "float32"
        return f"of {dtype}, which numpy does not have; convert it (x.to(torch.{wider}))"
    return None


def refuse_device(value: Any, place: str) -> None:
    """Fail if the object's numbers are out of reach: in the memory of a GPU, not computed yet, or not in its memory."""
    kind = type(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return
    wrong = _wrong_tensor(value)
    if wrong:
        raise TypeError(f"{place} was given a `{kind.__name__}` {wrong}")
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(value, polars.LazyFrame):
        raise TypeError(f"{place} was given a polars LazyFrame; compute it first (x.collect()), and pass its columns")
    if polars is not None and isinstance(value, polars.Expr):
        raise TypeError(f"{place} was given an expression of polars, which has no numbers; pass a column, df['x']")
    where = None
    if hasattr(kind, "__dlpack_device__"):
        device, number = value.__dlpack_device__()
        if int(device) not in _CPU:
            where = f"{_DEVICES.get(int(device), 'another')} device {number}"
    elif hasattr(value, "__cuda_array_interface__"):
        where = "CUDA device"
    if where:
        raise TypeError(
            f"{place} was given a `{kind.__name__}` in the memory of a GPU or the like ({where}), which programs do "
            "not reach; copy it to the CPU first (x.cpu(), x.get() or the like)"
        )


# What numpy makes of Python's numbers.
_INT = np.asarray([0]).dtype
_INT_MAX = int(np.iinfo(_INT).max)

# numpy has it since 1.22.
_of_dlpack = getattr(np, "from_dlpack", np.asarray)


def as_array(value: Any, place: str, deadline: Deadline | None = None) -> np.ndarray:
    """Give an object as a plain array: a view of its memory where it shows that.

    Raises:
        OutOfTime: it is a list, and the deadline was over before it was read.
        TypeError: it has an array for numpy, but does not give it; the text says why.
        ValueError: it is no array, such as a list of lists of different lengths.
    """
    refuse_device(value, place)
    if _has_nulls(value):
        raise TypeError(f"{place} has nulls, which no number stands for; fill them (x.fill_null(0)) or drop them")
    _refuse_missing(value, place)
    shows = hasattr(value, "__array__") or hasattr(value, "__array_interface__")
    read = _of_dlpack if not shows and hasattr(value, "__dlpack__") else np.asarray
    if shows or read is _of_dlpack:
        return _read(read, value, place)
    if isinstance(value, range) and value and max(abs(value[0]), abs(value[-1]), abs(value.step)) <= _INT_MAX // 2:
        # The same as numpy makes of its numbers one after another, which takes a hundred times as long.
        return np.arange(value.start, value[-1] + value.step, value.step, dtype=_INT)
    try:
        return np.asarray(value) if deadline is None or type(value) not in (list, tuple) else of_list(value, deadline)
    except ValueError as error:
        raise ValueError(f"{place} {no_array(value, error)}") from None


def _has_nulls(value: Any) -> bool:
    """Return whether a Series or DataFrame of polars has nulls."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(value, polars.DataFrame):
        return any(column.null_count() for column in value)
    return is_polars(value) and bool(value.null_count())


def _refuse_missing(value: Any, place: str) -> None:
    """Fail if integers or bools of pandas are missing: numpy would make floats, or objects, of all of them."""
    kind = _pandas(value)
    for dtype in [] if kind is None else value.dtypes if kind == "DataFrame" else [value.dtype]:
        if isinstance(dtype, np.dtype) or getattr(dtype, "kind", "") not in "iub":
            continue
        if np.asarray(value.isna()).any():
            what, fill = ("bool", "False") if dtype.kind == "b" else ("integer", "0")
            help = f"fill them (x.fillna({fill})), drop them, or pass x.astype('float64'), in which they are NaN"
            raise TypeError(f"{place} has missing values, which no {what} stands for; {help}")


def instead_of(dtype: np.dtype) -> str | None:
    """Say what to pass for an array of what programs do not have; None of what they have, and of records."""
    if dtype.kind == "O":
        return "pass its numbers, np.asarray(x, np.float64)"
    if dtype.kind in "mM":
        return "pass its counts, np.asarray(x).view(np.int64)"
    if dtype.kind in "SU":
        return "pass numbers; np.asarray(x, np.float64) reads those that are written"
    return "convert it, np.asarray(x, np.float64)" if dtype.char == "g" else None


def made_of(value: Any) -> str | None:
    """Say how an array is made of a mapping, a set or an iterator, of which numpy makes none; None of anything else."""
    if isinstance(value, Mapping):
        return "np.array(list(x.values()))"
    return "np.array(list(x))" if isinstance(value, (Iterator, Set)) else None


def _read(read: Any, value: Any, place: str) -> np.ndarray:
    """Read an object of another library; its errors do not know which argument it was."""
    try:
        found: np.ndarray = read(value)
    except (BufferError, RuntimeError, TypeError) as error:
        raise TypeError(f"{place} was given a `{type(value).__name__}` that gives no array: {error}") from None
    return found


def shared(value: Any, place: str = "an array") -> np.ndarray | None:
    """Give the memory of an object as an array, writable if that allows it; None if it does not show it."""
    if isinstance(value, np.generic):
        return None
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        return _buffer(value)
    view = _read(_of_dlpack, value, place)
    if not view.flags.writeable and hasattr(value, "__array__"):
        # Older DLPack does not say what may be written to, and numpy takes it for read-only.
        other = np.asarray(value)
        same = (other.shape, other.strides, other.dtype) == (view.shape, view.strides, view.dtype)
        if same and other.__array_interface__["data"][0] == view.__array_interface__["data"][0]:
            return other
    return view


def _buffer(value: Any) -> np.ndarray | None:
    """Give the memory of a writable buffer (`bytearray`, `array.array`, of ctypes); None if it is none."""
    try:
        memory = memoryview(value)
    except TypeError:
        return None
    if memory.readonly:
        return None
    try:
        return np.asarray(memory)
    except ValueError:
        # What it holds is nothing of numpy's, such as pointers of ctypes.
        return None


def is_labelled(value: Any) -> bool:
    """Return whether it is a pandas or polars object, whose labels results have too."""
    return _pandas(value) is not None or is_polars(value)


def readable(value: Any, place: str, deadline: Deadline | None = None) -> np.ndarray | None:
    """Give what can be read as an array: a view where the object has one (buffers, columns), else a copy to be read."""
    if isinstance(value, (str, int, float, np.generic, dict, set, frozenset, type(None))):
        return None
    if isinstance(value, bytes):
        return np.frombuffer(value, np.uint8)
    try:
        memory = memoryview(value)
    except TypeError:
        memory = None
    if memory is not None:
        try:
            return np.asarray(memory)
        except ValueError as error:
            raise ValueError(f"{place} {no_array(value, error)}") from None
    if not isinstance(value, (list, tuple, range)) and not hasattr(value, "__array__"):
        return None
    if is_foreign(value):
        raise TypeError(
            f"{place} is a `{type(value).__name__}`, which may mean more than its numbers; "
            "pass np.asarray(x) if they alone count"
        )
    array = as_array(value, place, deadline)
    is_view = hasattr(value, "__array__") and np.may_share_memory(array, as_array(value, place))
    if array.flags.writeable and not is_view:
        # What a program wrote there would be lost.
        array.flags.writeable = False
    return array


def no_array(value: Any, error: ValueError) -> str:
    """Say why numpy makes no array of an object."""
    if isinstance(value, (list, tuple)) and "inhomogeneous" in str(error):
        return "is no array: its rows have different lengths; make them equal, or pass one after another"
    ctypes = sys.modules.get("ctypes")
    if ctypes is not None and isinstance(value, ctypes._Pointer):
        help = "pass np.ctypeslib.as_array(x, (n,)) if there are n"
        return f"is a pointer of ctypes, which does not know how many elements it points to; {help}"
    if ctypes is not None and isinstance(value, ctypes._SimpleCData):
        return f"is a `{type(value).__name__}` of ctypes, and no array; pass its value, x.value, if that is a number"
    return f"is no array: {error}"


def is_lazy(value: Any) -> bool:
    """Return whether it is a Dask array."""
    dask = sys.modules.get("dask.array")
    return dask is not None and isinstance(value, dask.Array)


def lazily(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """Give the lazy array that a call with lazy arrays is; NotImplemented if there are none."""
    kwargs = kwargs or {}
    if not any(is_lazy(value) for value in (*args, *kwargs.values())):
        return NotImplemented
    from ._lazy import call

    return call(function, args, kwargs)


def is_foreign(value: Any) -> bool:
    """Tell whether the class of an object gives arrays a meaning that is not known here."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, (np.ma.MaskedArray, np.generic)):
        return False
    if is_polars(value):
        return False
    if _pandas(value) or kind.__module__.split(".")[0] == "pandas":
        return False
    return isinstance(value, np.ndarray) or hasattr(kind, "__array_ufunc__")


def has_masked(value: Any) -> bool:
    """Tell whether an object is a masked array with masked elements."""
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.getmaskarray(value).any())


class Containers:
    """What the arguments of one call carry besides numbers."""

    def __init__(self, name: str, inputs: list[tuple[str, Any]], out: Any, where: Any) -> None:
        """Look at varying arguments, `out` and `where`; the attributes `where` and `out` are for the call itself."""
        self.name = name
        self.given_out = out
        everything = [*inputs, ("where", where), ("out", out)]
        for label, value in everything:
            refuse_device(value, f"{name}(): `{label}`")
        for label, value in everything:
            if is_foreign(value):
                raise TypeError(
                    f"{name}(): `{label}` is a `{type(value).__name__}`, which may mean more than its numbers; "
                    "pass np.asarray(x) if they alone count"
                )
        self.masked = [np.ma.getmaskarray(v) for _, v in inputs if isinstance(v, np.ma.MaskedArray)]
        self.labelled = [(label, v) for label, v in everything if _pandas(v)]
        self.polars = [v for _, v in everything if is_polars(v)]
        if has_masked(where):
            raise TypeError(f"{name}(): `where` has masked elements; pass where.filled(False)")
        if self.masked and self.labelled:
            raise TypeError(f"{name}() takes masked arrays or pandas objects in one call, not both")
        if self.polars and (self.masked or self.labelled):
            raise TypeError(f"{name}() takes polars Series, or masked arrays or pandas objects, in one call, not both")
        self.out = np.asarray(out) if isinstance(out, np.ma.MaskedArray) else out
        self.where = True if where is None else where
        if _pandas(where) or isinstance(where, np.ma.MaskedArray):
            self.where = np.asarray(where)
        self.asked = self.where
        self._check_labels([np.shape(v) for _, v in everything if v is not None])
        self._mask()

    def _mask(self) -> None:
        """Leave out what is masked."""
        is_masked = isinstance(self.given_out, np.ma.MaskedArray)
        if self.masked and self.given_out is not None and not is_masked:
            raise TypeError(
                f"{self.name}(): the arguments are masked arrays, so `out` must be one too, to take the result's mask; "
                "it has none"
            )
        excluded = list(self.masked)
        if is_masked and self.given_out.hardmask:
            excluded.append(np.ma.getmaskarray(self.given_out))
        for mask in excluded:
            try:
                self.where = np.logical_and(self.where, ~mask) if np.asarray(self.where).dtype == bool else self.where
            except ValueError:
                # The shapes do not fit; the call says so.
                return

    def _check_labels(self, shapes: list[tuple[int, ...]]) -> None:
        if not self.labelled:
            return
        first_label, first = self.labelled[0]
        for label, value in self.labelled[1:]:
            kinds = _pandas(first), _pandas(value)
            if kinds[0] != kinds[1]:
                raise TypeError(
                    f"{self.name}(): `{first_label}` is a {kinds[0]} and `{label}` a {kinds[1]}, which have different "
                    "labels; pass the values of one of them: x.to_numpy()"
                )
            if not all(a.equals(b) for a, b in zip(first.axes, value.axes)):
                raise ValueError(
                    f"{self.name}(): `{first_label}` and `{label}` have different labels; align them first "
                    "(x, y = x.align(y)), or pass values only: x.to_numpy()"
                )
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            # The call says so.
            return
        if shape != first.shape:
            raise ValueError(
                f"{self.name}(): the result would have shape {shape}, for which the labels of `{first_label}`, of "
                f"shape {first.shape}, are not enough; pass its values: x.to_numpy()"
            )

    def wrap(self, result: Any) -> Any:
        """Give the result what the arguments carry."""
        if self.labelled and self.given_out is None and result is not None:
            return self._label(result)
        if self.polars and self.given_out is None and np.ndim(result) == 1:
            names = {value.name for value in self.polars}
            return type(self.polars[0])(names.pop() if len(names) == 1 else "", result)
        if isinstance(self.given_out, np.ma.MaskedArray):
            return self._update_mask(self.given_out)
        if not self.masked or result is None:
            return result
        shape = np.shape(result)
        mask = np.zeros(shape, bool)
        for part in self.masked:
            mask |= part
        return np.ma.MaskedArray(result, mask)[()]

    def _label(self, result: Any) -> Any:
        first = self.labelled[0][1]
        options = dict(zip(("index", "columns"), first.axes))
        if _pandas(first) == "Series":
            names = {value.name for _, value in self.labelled}
            options["name"] = names.pop() if len(names) == 1 else None
        # Nobody else has the result. A copy by pandas would take as long as the call, and go on after Ctrl-C.
        return type(first)(result, copy=False, **options)

    def _update_mask(self, out: np.ma.MaskedArray) -> np.ma.MaskedArray:
        """What was computed is masked no more; what was left out because an argument is masked is masked."""
        before = np.ma.getmaskarray(out)
        mask = before & ~np.broadcast_to(self.where, out.shape)
        for part in self.masked:
            mask |= np.broadcast_to(part & self.asked, out.shape)
        if (mask != before).any():
            out.mask = mask
        return out
