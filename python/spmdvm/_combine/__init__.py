"""Data-parallel combinators: `map`, `reduce`, `scan`, `reduce_by_index`, `filter`.

Each is a template of SPMD text (`*.ispc`, beside this) into which `_program` puts an operator and a mapping function
(`_pieces`); it is compiled once for their types. Results are the same for any number of threads because the work is cut
by the shapes alone: into runs of a fixed length, whose results are combined in order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._cache import remembered
from .._containers import as_array, is_lazy
from .._copies import Deadline, assign, contiguous, copied
from .._kernel import Kernel
from .._kernel._options import check, frozen
from .._kernel._types import BOOL, Num, strong
from .._progress import Counted, is_told
from .._spmdvm import Function
from ._arrays import around, axis_first, axis_of, elements, flag, reading, threads_of
from ._pieces import FunctionPiece, Operator, Piece, piece_of
from ._program import Program, Writer, as_parts, options_of, template

# The elements of a run along an axis, and of one down columns.
_RUN, _ROWS = 65536, 256
# Columns that are gathered side by side; lines that a part of the work has.
_COLUMNS, _LINES = 1024, 4096
# How work goes through [outer][n][inner]; the templates name them.
_WAYS = {"INTERLEAVED__": 0, "ORDERED__": 1, "COLUMNS__": 2, "LINES__": 3}
_INTERLEAVED, _ORDERED, _BY_COLUMNS, _BY_LINES = range(4)
# Most histograms that a large input gets, and how many values for each element of `dest` are worth one for each thread
# (with 10, two threads took 0.6 to 0.9 of the time that ranges of `dest` take, with 1 it was 1.7 to 3 times that).
_PARTS, _VALUES = 16, 8


class _Setup:
    """An operator and a mapping function, for elements of some types."""

    def __init__(
        self, who: str, op: Any, map: Any, given: list[Num], state: list[Num] | None, options: dict[str, Any]
    ) -> None:
        """Find out what they are; `state` are the types that the operator must have, if they are not its to choose."""
        self.given = given
        self.mapping, mapped = _mapping(who, map, given)
        if state is not None and len(mapped) != len(state):
            raise TypeError(
                f"{who}(): the values are {len(mapped)} number{'s' * (len(mapped) > 1)} each, and `dest` is "
                f"{len(state)} array{'s' * (len(state) > 1)}; they must be as many"
            )
        self.mapped = mapped
        self.operator = Operator(who, op, len(mapped))
        self.state = self.operator.state(mapped if state is None else state)
        self.options = options_of(who, [p for p in (self.operator.piece, self.mapping) if p is not None], options)
        self.key = (
            who, self.operator.piece.key, None if self.mapping is None else self.mapping.key, tuple(given),
            tuple(self.state), frozen(self.options),
        )  # fmt: skip

    def deadline(self) -> Deadline:
        """Begin to count the time that a call may take."""
        return Deadline(self.key[0], self.options.get("timeout"))

    def begin(self, who: str, told: bool, constant: bool = False) -> Writer:
        """Write what all combinators with an operator have; where elements are `constant`, arrays have one."""
        text = Writer(who)
        text.counts(told)
        text.state(self.operator, self.state)
        text.loads(self.mapping, self.given, self.state, constant)
        for name in "VAB":
            text.elements(name, name.lower(), self.state)
        text.write(*(f"#define {name} {number}" for name, number in _WAYS.items()), _NEUTRAL)
        return text


def _setup(
    who: str, op: Any, map: Any, given: list[Num], options: dict[str, Any], state: list[Num] | None = None
) -> _Setup:
    """Give a setup, the same for the same arguments: finding out types takes longer than many a call."""
    if any(isinstance(function, Function) for function in (op, map)):
        return _Setup(who, op, map, given, state, options)
    key = ("setup", who, op, map, tuple(given), state and tuple(state), frozen(options))
    try:
        hash(key)
    except TypeError:
        return _Setup(who, op, map, given, state, options)
    return remembered(key, lambda: _Setup(who, op, map, given, state, options))


def _mapping(who: str, given: Any, types: list[Num]) -> tuple[Piece | None, list[Num]]:
    """Give the mapping function, and the types of what it makes of elements."""
    if given is None:
        return None, types
    count = len(types)
    piece = piece_of(who, "map", given, count, f"a function of {count} number{'s' * (count > 1)}")
    found, _ = piece.types(tuple(types))
    return piece, [strong(ty) for ty in found]


def _way(outer: int, n: int, inner: int, along: int) -> tuple[int, int, int, int]:
    """Choose how to go through an array.

    Returns:
        the way, the length of runs, how much a part of the work has side by side, how many parts there are.
    """
    if inner >= 16:
        return _BY_COLUMNS, _ROWS, _COLUMNS, outer * -(-n // _ROWS) * -(-inner // _COLUMNS)
    if n < 128 and outer >= 16:
        return _BY_LINES, max(n, 1), _LINES, -(-outer // _LINES)
    return along, _RUN, 1, outer * -(-n // _RUN) * inner


def _contiguous(arrays: list[np.ndarray], deadline: Deadline) -> list[np.ndarray]:
    return [contiguous(array, deadline) for array in arrays]


def _check_neutral(
    who: str, op: Operator, neutral: list[np.ndarray], types: list[Num], first: list[np.ndarray], given: Program
) -> None:
    """Refuse a neutral element that changes the first element."""
    left = [np.empty(1, ty.dtype) for ty in types]
    right = [np.empty(1, ty.dtype) for ty in types]
    value = [np.empty(1, ty.dtype) for ty in types]
    given.call("neutral__", *first, *neutral, *value, *left, *right)
    for made in (left, right):
        if not all(_is_near(a.item(), b.item(), ty) for ty, a, b in zip(types, made, value)):
            x, e, y = (
                parts[0].item() if len(types) == 1 else tuple(p.item() for p in parts)
                for parts in (value, neutral, made)
            )
            raise ValueError(
                f"{who}(): `neutral` is {e!r}, and `{op.piece.name}` combines it with {x!r} to {y!r}; the neutral "
                "element leaves others as they are"
            )


def _is_near(a: Any, b: Any, ty: Num) -> bool:
    """Return whether numbers are equal but for rounding."""
    if ty.kind != "f":
        return bool(a == b)
    return (a != a and b != b) or math.isclose(a, b, rel_tol=float(np.finfo(ty.dtype).eps) ** 0.5)


_NEUTRAL = """
export void neutral__(X_PARAMS__, NEUTRAL_PARAMS__, V_PARAMS__, A_PARAMS__, B_PARAMS__) {
    varying int64 first = 0;
    uniform State__ value = extract__(LOAD_X__(first), 0), neutral = ONE_NEUTRAL__(0);
    STORE_ONE_V__(0, value)
    STORE_ONE_A__(0, op_one__(neutral, value))
    STORE_ONE_B__(0, op_one__(value, neutral))
}
"""


def reduce(
    op: Any,
    x: Any,
    *,
    neutral: Any = None,
    map: Any = None,
    commutative: bool | None = None,
    axis: Any = None,
    keepdims: bool = False,
    threads: int = 1,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Combine all elements, or those along an axis, to one.

    >>> import numpy as np, spmdvm
    >>> int(spmdvm.reduce("+", np.arange(10)))
    45
    >>> @spmdvm.kernel
    ... def square(x):
    ...     return x * x
    >>> spmdvm.reduce("+", np.array([[1.0, 2.0], [3.0, 4.0]]), map=square, axis=0)
    array([10., 20.])

    Args:
        op: "+", "*", "min", "max", "&", "|", "^" (or "add", "mul", "and", "or", "xor"), or a function of two
            elements: a kernel, an exported function of a module, a function of Python or numpy that kernels know. It
            must be associative. For elements of several numbers it takes those of the left, then those of the right
            one, and returns as many.
        x: an array, or a tuple of arrays whose elements belong together.
        neutral: what combines with each element to that element; a tuple for elements of several numbers. Named
            operators know theirs.
        map: a function that is applied to the elements first; it takes a number of each array of `x`. Or an expression,
            `"x * x"`, whose names are these numbers in the order in which they occur.
        commutative: whether `op(a, b)` is `op(b, a)`, so that elements may be combined in another order, which is
            faster. Named operators are, others are not unless this says so.
        axis: along which axis or axes; None: all elements.
        keepdims: whether the result keeps the axes, with the length 1, so that it broadcasts with `x`.
        threads: over how many threads the work is spread; 0: as many as there are cores. The result is the same for any
            number.
        progress: True for a bar, or a function f(done, total) that is told how many elements are done, now and then.
        options: those of `compile`: `width`, `engine`, `fp`, `timeout`, …

    Returns:
        a number, or an array without the axis; a tuple of them for elements of several numbers. The type is that of the
        elements (or of what `map` gives); bools are added as int64. Of no elements, the neutral element.

    Raises:
        CompileError: `op` or `map` does not compile for these types.
        TypeError, ValueError: an argument is wrong; the text names it.
    """
    who = "reduce"
    told = is_told(who, progress, x)
    arrays, given = elements(who, "x", x, reading(who, options, op, map))
    threads = threads_of(who, threads)
    if commutative is not None:
        commutative = flag(who, "commutative", commutative)
    keepdims = flag(who, "keepdims", keepdims)
    before, axes = arrays[0].shape, axis
    arrays, shape, axis = _one_axis(who, arrays, axis)
    setup = _setup(who, op, map, given, options)
    operator, state = setup.operator, setup.state
    e = operator.neutral(neutral, state)
    if commutative is None:
        commutative = operator.named is not None
    outer, n, inner = around(shape, axis)
    left = (*shape[:axis], *shape[axis + 1 :])
    if keepdims:
        left = _with_all_axes(before, axes)
    if 0 in (outer, n, inner):
        return _nothing(operator, e, neutral, left)
    way, chunk, tile, count = _way(outer, n, inner, _INTERLEAVED if commutative else _ORDERED)

    def make() -> Program:
        text = setup.begin(who, told)
        text.accumulators(8 if text.is_small() and len(state) == 1 else 2)
        text.write(f"#define WAY__ {way}", f"#define UNIT__ {int(inner == 1)}", template("reduce"))
        return text.compile(setup.options)

    made = remembered((setup.key, way, inner == 1, told), make)
    arrays = [array.reshape(shape) for array in _contiguous(arrays, setup.deadline())]
    if operator.named is None or neutral is not None:
        _check_neutral(who, operator, e, state, arrays, made)
    chunks = -(-n // chunk)
    found = [np.empty((outer, chunks, inner), ty.dtype) for ty in state]
    counted = Counted(who, progress, outer * n * inner) if told else None
    made.call_counted(counted, *arrays, *found, *e, outer, n, inner, chunk, tile, count, threads)
    if not left:
        return as_parts([part[0, 0, 0] for part in found])
    return as_parts([part.reshape(left) if chunks == 1 else part[:, 0].reshape(left) for part in found])


def _with_all_axes(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """Give the shape of a result that keeps the axes along which it was combined."""
    if axis is None:
        return (1,) * len(shape)
    gone = {one % len(shape) for one in (axis if isinstance(axis, tuple) else (axis,))}
    return tuple(1 if k in gone else length for k, length in enumerate(shape))


def _nothing(op: Operator, e: list[np.ndarray], given: Any, shape: tuple[int, ...]) -> Any:
    """Give the results of reductions of no elements, as many as the shape has."""
    if op.named == "+" and given is None:
        # The sum of nothing is 0, not -0.
        e = [np.abs(part) for part in e]
    return as_parts([np.full(shape, part[0]) if shape else part[0] for part in e])


def _one_axis(who: str, arrays: list[np.ndarray], axis: Any) -> tuple[list[np.ndarray], tuple[int, ...], int]:
    """Give the arrays with their axes in order, the shape with one axis in place of several (or all), and that axis.

    The arrays have that shape when they are contiguous: to make them so may take long.
    """
    ndim, shape = arrays[0].ndim, arrays[0].shape
    if axis is None:
        return arrays, (arrays[0].size,), 0
    if not isinstance(axis, tuple):
        return arrays, shape, axis_of(who, axis, ndim)
    axes = sorted(axis_of(who, one, ndim) for one in axis)
    if len(set(axes)) < len(axes):
        raise ValueError(f"{who}(): `axis` is {axis}, which names an axis twice")
    if not axes:
        raise ValueError(f"{who}(): `axis` is an empty tuple; None means all axes")
    order = [k for k in range(ndim) if k < axes[0] and k not in axes] + axes
    order += [k for k in range(ndim) if k > axes[0] and k not in axes]
    front = sum(k < axes[0] for k in range(ndim) if k not in axes)
    merged = int(np.prod([shape[k] for k in axes]))
    new = (*(shape[k] for k in order[:front]), merged, *(shape[k] for k in order[front + len(axes) :]))
    return [array.transpose(order) for array in arrays], new, front


def scan(
    op: Any,
    x: Any,
    *,
    neutral: Any = None,
    map: Any = None,
    inclusive: bool = True,
    axis: Any = None,
    out: Any = None,
    threads: int = 1,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Combine each element with all before it.

    >>> import numpy as np, spmdvm
    >>> spmdvm.scan("+", np.array([1, 2, 3, 4]))
    array([ 1,  3,  6, 10])
    >>> spmdvm.scan("+", np.array([1, 2, 3, 4]), inclusive=False)
    array([0, 1, 3, 6])

    Args:
        op, x, neutral, map, threads, progress, options: as for `reduce`.
        inclusive: whether an element is part of its own result; else the first result is the neutral element.
        axis: along which axis; None: over all elements, in their order.
        out: an array for the results, of their shape and type (a tuple for elements of several numbers).

    Returns:
        an array of the shape of `x` (flat, without `axis`); a tuple of them for elements of several numbers.
    """
    who = "scan"
    told = is_told(who, progress, x)
    arrays, given = elements(who, "x", x, reading(who, options, op, map))
    threads = threads_of(who, threads)
    inclusive = flag(who, "inclusive", inclusive)
    if axis is None:
        shape, axis = (arrays[0].size,), 0
    else:
        shape, axis = arrays[0].shape, axis_of(who, axis, arrays[0].ndim)
    setup = _setup(who, op, map, given, options)
    operator, state = setup.operator, setup.state
    e = operator.neutral(neutral, state)
    if operator.named == "+" and neutral is None and not inclusive:
        e = [np.abs(part) for part in e]
    results = _outputs(who, out, shape, state)
    outer, n, inner = around(shape, axis)
    if 0 in (outer, n, inner):
        return as_parts(results) if out is None else out

    way, chunk, tile, _ = _way(outer, n, inner, _ORDERED)

    def make() -> Program:
        text = setup.begin(who, told)
        text.elements("Y", "y", state)
        text.elements("T", "t", state)
        text.write(
            f"#define WAY__ {way}", f"#define UNIT__ {int(inner == 1)}", f"#define EXCLUSIVE__ {int(not inclusive)}"
        )
        text.write(template("scan"))
        return text.compile(setup.options)

    made = remembered((setup.key, way, inner == 1, inclusive, told), make)
    deadline = setup.deadline()
    arrays = [array.reshape(shape) for array in _contiguous(arrays, deadline)]
    targets = _targets(results, arrays)
    if operator.named is None or neutral is not None:
        _check_neutral(who, operator, e, state, arrays, made)
    if way == _BY_COLUMNS:
        count = outer * -(-inner // tile)
    elif way == _BY_LINES:
        count = -(-outer // tile)
    else:
        count = outer * inner
    totals = [np.empty(count * -(-n // chunk) if way == _ORDERED and threads > 1 else 0, ty.dtype) for ty in state]
    # With few lines, their runs are scanned at the same time and then get what is before them.
    twice = way == _ORDERED and threads > 1 and n > chunk and count < 4 * threads
    counted = Counted(who, progress, outer * n * inner, 1 + twice) if told else None
    made.call_counted(counted, *arrays, *targets, *totals, *e, outer, n, inner, chunk, tile, count, threads)
    _deliver(results, targets, deadline)
    return as_parts(results) if out is None else out


def _outputs(who: str, out: Any, shape: tuple[int, ...], types: list[Num]) -> list[np.ndarray]:
    """Give the arrays for results: those that the caller gave, or new ones."""
    if out is None:
        return [np.empty(shape, ty.dtype) for ty in types]
    parts = list(out) if isinstance(out, (tuple, list)) else [out]
    if len(parts) != len(types):
        raise TypeError(f"{who}(): `out` must be {len(types)} array{'s' * (len(types) > 1)}, not {len(parts)}")
    for part, ty in zip(parts, types):
        if type(part) not in (np.ndarray, np.memmap):
            raise TypeError(f"{who}(): `out` takes an array, not {type(part).__name__}")
        if part.dtype != ty.dtype:
            raise TypeError(f"{who}(): `out` holds {part.dtype}, and the results are {ty}")
        if part.shape != shape:
            raise ValueError(f"{who}(): `out` has the shape {part.shape}, and the results have {shape}")
        if not part.flags.writeable:
            raise ValueError(f"{who}(): `out` is read-only")
    for k, part in enumerate(parts):
        if any(np.may_share_memory(part, other) for other in parts[:k]):
            raise ValueError(f"{who}(): the arrays of `out` share memory")
    return parts


def _targets(results: list[np.ndarray], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Give what can be written to instead of the results while the arrays are read."""

    def is_apart(result: np.ndarray) -> bool:
        return result.flags.c_contiguous and not any(np.may_share_memory(result, array) for array in arrays)

    return [result if is_apart(result) else np.empty(result.shape, result.dtype) for result in results]


def _deliver(results: list[np.ndarray], targets: list[np.ndarray], deadline: Deadline) -> None:
    for result, target in zip(results, targets):
        if result is not target:
            assign(result, target, deadline)


def reduce_by_index(
    dest: Any,
    op: Any,
    indices: Any,
    values: Any,
    *,
    neutral: Any = None,
    map: Any = None,
    axis: int = 0,
    bounds: str = "ignore",
    threads: int = 1,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Combine values into the elements of `dest` that indices tell: a generalised histogram.

    >>> import numpy as np, spmdvm
    >>> spmdvm.reduce_by_index(np.zeros(4, int), "+", np.array([0, 2, 2, 9]), np.array([1, 10, 100, 1000]))
    array([  1,   0, 110,   0])

    Args:
        dest: an array (a tuple of them, for elements of several numbers), which is changed. Where it has more axes than
            one, its elements are rows, which are combined number by number.
        op, neutral, map, threads, progress, options: as for `reduce`; the progress is that of indices. Elements that
            get several values get them in their order.
        indices: integers, an array of one dimension.
        values: for each index a value: an array of the shape of `indices` (with `dest`'s other axes behind, if it has
            some), or what broadcasts to that, such as 1; a tuple of arrays for elements of several numbers, or if
            `map` takes several.
        axis: the axis of `dest`, and of values that are rows, that indices count along.
        bounds: what becomes of values whose index is below 0 or beyond the end of `dest`: "ignore" leaves them out,
            "raise" raises IndexError before anything is changed.

    Returns:
        `dest`.
    """
    who = "reduce_by_index"
    told = is_told(who, progress, indices, values)
    threads = threads_of(who, threads)
    if bounds not in ("ignore", "raise"):
        raise ValueError(f'{who}(): `bounds` takes "ignore" or "raise", not {bounds!r}')
    targets = _dests(who, dest)
    axis = axis_of(who, axis, targets[0].ndim)
    before = reading(who, options, op, map)
    (at,), (index,) = elements(who, "indices", indices if not isinstance(indices, tuple) else list(indices), before)
    if index.kind not in "iu" and at.size:
        raise TypeError(f"{who}(): `indices` holds {index}, and indices are integers; convert it, with astype(int)")
    if at.ndim != 1:
        # A tuple with an index for each axis, as numpy has it.
        by_axes = isinstance(indices, tuple) and 1 < len(indices) == targets[0].ndim
        one = "one of elements in a row: dest.ravel(), and np.ravel_multi_index(indices, dest.shape)"
        raise ValueError(f"{who}(): `indices` has {at.ndim} dimensions; pass {one if by_axes else 'one, with ravel()'}")
    if not at.size:
        return dest
    outer, m, inner = around(targets[0].shape, axis)
    rows = (*targets[0].shape[:axis], len(at), *targets[0].shape[axis + 1 :])
    arrays, given = elements(who, "values", values, before)
    # One value for all indices is not copied for each.
    constant = all(array.size == 1 for array in arrays) and outer * inner == 1
    try:
        if constant:
            arrays = [array.reshape(1) for array in arrays]
        else:
            arrays = [array if array.shape == rows else np.broadcast_to(array, rows) for array in arrays]
    except ValueError:
        raise ValueError(
            f"{who}(): `values` has the shape {arrays[0].shape}, and {len(at)} indices of a dest of the shape "
            f"{targets[0].shape} need {rows}"
        ) from None
    state = [_dest_type(who, target) for target in targets]
    if threads == 1:
        # Its tasks run in the thread that calls.
        options.setdefault("task_threads", 1)
    setup = _setup(who, op, map, given, options, state)
    operator = setup.operator
    for ty, of in zip(setup.mapped, state):
        if not np.can_cast(ty.dtype, of.dtype, "safe") and not _is_plain(values, map, ty, of):
            raise TypeError(
                f"{who}(): the values are {ty}, which does not cast safely to the {of} of `dest`; convert them, or "
                "make `dest` wider"
            )
    if setup.state != state:
        raise TypeError(
            f"{who}(): `op`: `{operator.piece.name}` makes {', '.join(_shown(setup.state))} of `dest`'s "
            f"{', '.join(_shown(state))}; make `dest` of that type"
        )
    e = operator.neutral(neutral, state)
    if m * outer * inner == 0 and bounds == "ignore":
        return dest

    def make() -> Program:
        return _histogram(setup, index, constant, told).compile(setup.options)

    made = remembered((setup.key, index, constant, told), make)
    deadline = setup.deadline()
    at = contiguous(at, deadline)
    if bounds == "raise":
        place = made.call("outside__", at, len(at), m)
        if place >= 0:
            raise IndexError(
                f"{who}(): indices[{place}] is {at[place]}, and `dest` has {m} elements; "
                'bounds="ignore" leaves such values out'
            )
        if m * outer * inner == 0:
            return dest
    first = [axis_first(target, axis) for target in targets]
    direct = _contiguous(first, deadline)
    flat = _contiguous(arrays if constant else [axis_first(array, axis) for array in arrays], deadline)
    if any(np.may_share_memory(d, other) for d in direct for other in (*flat, at)):
        flat, at = [copied(array, deadline) for array in flat], copied(at, deadline)
    if operator.named is None or neutral is not None:
        _check_neutral(who, operator, e, state, flat, made)
    width = outer * inner
    # Each range has several times as many values as its histogram has elements.
    parts = max(1, min(_PARTS, len(at) // 65536, len(at) // (64 * m)))
    if operator.is_exact(state) and len(at) >= max(65536, _VALUES * m):
        # The order of values does not matter: the number of histograms may depend on that of threads.
        parts = max(parts, min(_PARTS, threads))
    buffers = [np.empty(parts * m * width if parts > 1 else 0, ty.dtype) for ty in state]
    counted = Counted(who, progress, len(at), threads if parts == 1 else 1) if told else None
    made.call_counted(counted, *direct, *buffers, *flat, at, len(at), m, width, *e, parts, threads)
    _deliver(first, direct, deadline)
    return dest


def _is_plain(values: Any, map: Any, ty: Num, of: Num) -> bool:
    """Return whether values are one Python number that dest's type holds."""
    if map is not None or not isinstance(values, (bool, int, float)):
        return False
    if of.is_int:
        return isinstance(values, int) and of.holds(values)
    return of.kind == "f"


def _dests(who: str, dest: Any) -> list[np.ndarray]:
    parts = list(dest) if isinstance(dest, tuple) else [dest]
    for k, part in enumerate(parts):
        name = "dest" if len(parts) == 1 else f"dest[{k}]"
        if type(part) not in (np.ndarray, np.memmap):
            told = f"`{name}` takes an array, which is changed, not {type(part).__name__}"
            raise TypeError(f"{who}(): {told}; arguments are dest, op, indices, values, in this order")
        if not part.flags.writeable:
            raise ValueError(f"{who}(): `{name}` is read-only, and would be changed")
        if part.ndim == 0:
            raise ValueError(f"{who}(): `{name}` has no dimensions; indices count along one")
        if part.shape != parts[0].shape:
            raise ValueError(f"{who}(): the arrays of `dest` have the shapes {parts[0].shape} and {part.shape}")
        if any(np.may_share_memory(part, other) for other in parts[:k]):
            raise ValueError(f"{who}(): the arrays of `dest` share memory")
    if not parts:
        raise TypeError(f"{who}(): `dest` is an empty tuple; give an array, or a tuple of arrays")
    return parts


def _dest_type(who: str, dest: np.ndarray) -> Num:
    if not dest.dtype.isnative:
        raise TypeError(f"{who}(): `dest` holds {dest.dtype}, whose bytes are in another order; make it native")
    _, (ty,) = elements(who, "dest", dest)
    return ty


def _shown(types: list[Num]) -> list[str]:
    return [str(ty) for ty in types]


def _histogram(setup: _Setup, index: Num, constant: bool, told: bool) -> Writer:
    """Write a histogram."""
    text, state = setup.begin("reduce_by_index", told, constant), setup.state
    text.elements("H", "h", state)
    text.elements("S", "s", state)
    last = int(np.iinfo(index.dtype).max)
    text.write(f"#define INDEX__ {index.spmd}", f"#define INDEX_BITS__ int{index.bits}", f"#define LAST__ {last}ull")
    text.write(f"#define PLAIN__ {int(setup.mapping is None)}", f"#define CONSTANT__ {int(constant)}")
    small = not constant and index.bits + sum(ty.bits for ty in setup.given) <= 64
    text.write(f"#define SMALL__ {int(small)}")
    names = [f"s{k} + (from)" for k in range(len(state))]
    text.write(f"#define S_FROM__(from) {', '.join(names)}")
    blocks = " ".join(f"uniform {ty.spmd} block{k}[BLOCK__];" for k, ty in enumerate(state))
    text.write(f"#define BLOCK_ARRAYS__ {blocks}")
    text.accesses("BLOCK", "block", state)
    text.packs("BLOCK", "block", state)
    text.write(template("histogram"))
    return text


def filter(
    predicate: Any, *arrays: Any, axis: Any = None, threads: int = 1, progress: Any = False, **options: Any
) -> Any:
    """Give the elements for which a predicate holds, in their order.

    >>> import numpy as np, spmdvm
    >>> @spmdvm.kernel
    ... def odd(x):
    ...     return x % 2 == 1
    >>> spmdvm.filter(odd, np.arange(8))
    array([1, 3, 5, 7])

    Args:
        predicate: a function that gives a bool (or a number: whether it is not 0) for a number of each array; an
            expression, `"x > 1"`; or an array of bools.
        arrays: arrays of one shape.
        axis: None: the elements, whatever the shape. Else slices along this axis are kept or left out: the predicate
            takes all numbers of a slice of each array (x and y of points of the shape (n, 2), with `axis=0`), or is an
            array of one bool for each slice.
        threads, progress, options: as for `reduce`.

    Returns:
        an array (flat, without `axis`) of what was kept; a tuple of them if there are several arrays.
    """
    who = "filter"
    told = is_told(who, progress, *arrays)
    threads = threads_of(who, threads)
    if not arrays:
        raise TypeError(f"{who}(): there is no array to filter; `arrays` come behind the predicate")
    if any(callable(array) or isinstance(array, str) for array in arrays):
        raise TypeError(f"{who}(): the predicate comes first: spmdvm.filter(predicate, x)")
    before = reading(who, options, predicate)
    found, types = elements(who, "arrays", arrays if len(arrays) > 1 else arrays[0], before)
    shape = found[0].shape
    if axis is None:
        inputs, shape = found, (found[0].size,)
    else:
        axis = axis_of(who, axis, len(shape))
        inputs = [axis_first(array, axis) for array in found]
        shape = inputs[0].shape
    n, size = shape[0], int(np.prod(shape[1:], dtype=np.int64))
    is_mask = isinstance(predicate, (np.ndarray, list))
    given = list(types)
    piece: Piece | None = None
    if is_mask:
        mask = as_array(predicate, f"{who}(): `predicate`", before)
        if mask.dtype != np.bool_:
            raise TypeError(f"{who}(): `predicate` is an array of {mask.dtype}; as an array it must hold bools")
        wanted = (n,) if axis is not None else found[0].shape
        if mask.shape != wanted:
            raise ValueError(
                f"{who}(): `predicate` has the shape {mask.shape}, and the arrays have {wanted} elements to choose from"
            )
        inputs, given = [*inputs, mask], [*given, BOOL]
    else:
        count = size * len(inputs)
        if count > 64:
            raise ValueError(
                f"{who}(): `predicate` would take {count} numbers, those of a slice; with so many, pass an array of "
                "bools"
            )
        piece = piece_of(
            who, "predicate", predicate, count, f"an array of bools, or a function of {count} number{'s' * (count > 1)}"
        )
        results, _ = piece.types(tuple(ty for ty in types for _ in range(size)))
        if len(results) != 1:
            raise TypeError(
                f"{who}(): `predicate` must return one bool, and `{piece.name}` returns {len(results)} values"
            )
    options = options_of(who, [piece] if piece else [], options)
    outputs = [np.empty(shape, ty.dtype) for ty in types]
    total = 0
    if n and size:

        def make() -> Program:
            text = Writer(who)
            text.counts(told)
            text.params("X", "x", given, True)
            text.params("Y", "y", types)
            text.keeps(piece, given, types, size)
            text.write(template("filter"))
            return text.compile(options)

        key = (
            who,
            None if piece is None else piece.key,
            tuple(given),
            len(types),
            size if piece else size == 1,
            told,
            frozen(options),
        )
        made = remembered(key, make)
        counts = np.zeros(-(-n // _RUN), np.int64)
        counted = Counted(who, progress, n) if told else None
        inputs = _contiguous(inputs, Deadline(who, options.get("timeout")))
        inputs = [array.reshape(shape if k < len(types) else -1) for k, array in enumerate(inputs)]
        total = made.call_counted(counted, *inputs, *outputs, size, n, _RUN, counts, threads)
    elif n:
        # Rows without elements: the predicate has nothing to look at, but a mask counts.
        total = int(np.count_nonzero(inputs[-1])) if is_mask else 0
    kept = []
    for output in outputs:
        output.resize((total, *shape[1:]), refcheck=False)
        kept.append(output if axis is None else np.moveaxis(output, 0, axis))
    return as_parts(kept)


def map(
    f: Any,
    *arrays: Any,
    out: Any = None,
    where: Any = None,
    threads: int = 1,
    progress: Any = False,
    **options: Any,
) -> Any:
    """Apply a function to each element.

    >>> import numpy as np, spmdvm
    >>> @spmdvm.kernel
    ... def polar(x, y):
    ...     return np.hypot(x, y), np.arctan2(y, x)
    >>> radius, angle = spmdvm.map(polar, np.array([1.0, 0.0]), np.array([0.0, 2.0]), threads=2)
    >>> radius
    array([1., 2.])

    Args:
        f: a kernel, an exported function of a module, a function of Python or numpy that kernels know; or an
            expression, `"x * y"`.
        arrays: for each parameter an array or a number; they broadcast.
        out: an array for the results; a tuple of them if `f` gives several.
        where: an array of bools: where to compute. Elsewhere `out` keeps its values; without `out`, 0 stands there.
        threads, progress, options: as for `reduce`.

    Returns:
        an array, or a number if all arguments are; a tuple of them if `f` gives several.
    """
    who = "map"
    told = is_told(who, progress, *arrays)
    threads = threads_of(who, threads)
    if not arrays:
        raise TypeError(f"{who}(): there is no array to map; `arrays` come behind the function")
    piece = piece_of(who, "f", f, len(arrays), f"a function of {len(arrays)} number{'s' * (len(arrays) > 1)}")
    special: dict[str, Any] = {"threads": threads}
    if out is not None:
        special["out"] = out
    if where is not None:
        special["where"] = where
    if told:
        special["progress"] = progress
    if isinstance(piece, FunctionPiece):
        if options:
            raise TypeError(
                f"{who}(): `{next(iter(options))}` is an option of `compile`, and `{piece.name}` is compiled; its "
                "module has the options"
            )
        return piece.function(*arrays, **special)
    check(who, options)
    kernel: Kernel = piece.kernel  # type: ignore[attr-defined]
    if len(kernel._names) != len(arrays):
        piece.types(tuple([BOOL] * len(arrays)))
    deadline = reading(who, options, kernel)
    arrays = tuple(_read(who, *each, deadline) for each in zip(kernel._names, arrays))
    if type(where) is list:
        where = special["where"] = as_array(where, f"{who}(): `where`", deadline)
    # Lazy calls know how many results there are.
    if any(is_lazy(array) for array in arrays) or not _gives_several(kernel, arrays):
        return (_with_options(kernel, options) if options else kernel)(*arrays, **special)
    found, given = elements(who, "arrays", arrays)
    results, _ = piece.types(tuple(given))
    state = [strong(ty) for ty in results]
    options = options_of(who, [piece], options)
    shape = found[0].shape
    mask = np.zeros(1, np.bool_)
    if where is not None:
        if np.asarray(where).dtype != np.bool_:
            raise TypeError(f"{who}(): `where` holds {np.asarray(where).dtype}, and takes bools")
        try:
            shape = np.broadcast_shapes(shape, np.shape(where))
        except ValueError:
            raise ValueError(
                f"{who}(): `where` has the shape {np.shape(where)}, which does not broadcast with the arrays' {shape}"
            ) from None
        found = [np.broadcast_to(array, shape) for array in found]
        mask = np.broadcast_to(np.asarray(where), shape)
    parts = _outputs(who, out, shape, state) if out is not None else [np.zeros(shape, ty.dtype) for ty in state]

    def make() -> Program:
        text = Writer(who)
        text.counts(told)
        text.loads(piece, given, state)
        text.elements("Y", "y", state)
        text.write(template("map"))
        return text.compile(options)

    made = remembered((who, piece.key, tuple(given), tuple(state), told, frozen(options)), make)
    size = parts[0].size
    if size:
        deadline = Deadline(who, options.get("timeout"))
        *inputs, mask = _contiguous([*found, mask], deadline)
        targets = _targets(parts, [*inputs, mask])
        if where is not None:
            _deliver(targets, parts, deadline)
        counted = Counted(who, progress, size) if told else None
        made.call_counted(counted, *inputs, *targets, mask, int(where is not None), size, threads)
        _deliver(parts, targets, deadline)
    if out is not None:
        return out
    return tuple(part if shape else part.item() for part in parts)


def _read(who: str, name: str, array: Any, deadline: Deadline) -> Any:
    """Read lists, once; give arrays whose bytes are in the other order, which kernels refuse, as copies in ours."""
    if type(array) in (list, tuple):
        return as_array(array, f"{who}(): `{name}`", deadline)
    is_masked = type(array) is np.ma.MaskedArray
    if not (is_masked or type(array) in (np.ndarray, np.memmap)) or array.dtype.kind not in "iuf":
        return array
    if array.dtype.isnative:
        return array
    if not is_masked:
        return contiguous(array, deadline).reshape(array.shape)
    turned = contiguous(array.data, deadline).reshape(array.shape)
    return np.ma.MaskedArray(turned, array.mask)


def _gives_several(kernel: Kernel, arrays: tuple[Any, ...]) -> bool:
    """Return whether a kernel gives a tuple for such arguments."""
    read = (as_array(array, f"map(): `{name}`") for name, array in zip(kernel._names, arrays))
    # What masked arrays and their like carry besides is the kernel's concern.
    _, given = elements("map", "arrays", tuple(np.asarray(array) for array in read))
    return kernel_types(kernel, given)[1]


def kernel_types(kernel: Kernel, given: list[Num]) -> tuple[list[Num], bool]:
    """Give the types of a kernel's results, and whether they are a tuple."""
    return piece_of("map", "f", kernel, len(given), "a function").types(tuple(given))


def _with_options(kernel: Kernel, options: dict[str, Any]) -> Kernel:
    """Give the same kernel with other options."""

    def make() -> Any:
        other = Kernel.__new__(Kernel)
        other.__dict__.update(kernel.__dict__)
        other._prepare(kernel._source, kernel._lookup, kernel._signature, {**kernel._options, **options})
        other._annotations, other._indexed = kernel._annotations, kernel._indexed
        other._returns = kernel._returns
        return other

    return remembered(("options", kernel, frozen(options)), make)  # type: ignore[arg-type, return-value]


__all__ = ["Function", "filter", "map", "reduce", "reduce_by_index", "scan"]
