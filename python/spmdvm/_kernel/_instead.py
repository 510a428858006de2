"""What to write instead of what kernels do not have: functions, methods, attributes, and what loops go over."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._trees import walk

_RANDOM = (
    "make a generator, of a seed and the number of the element, `rng = spmdvm.rng(seed, i)`, and draw with "
    "`rng.random()`, `rng.normal()`, `rng.integers(low, high)`; or pass an array of random numbers"
)
_SORT = "write `np.sort(a)`, which gives another array; or sort outside of the kernel"
_COMPLEX = "types are known when a kernel is compiled; of a number, compare `z.imag != 0`"
_PART = "take it of elements: `a[i].real`; of all of them, `np.real(a)`, `np.imag(a)`"
_ROWS = "loop over the rows: `np.sum(a[i])`, or columns, `np.sum(a[:, j])`; or call `spmdvm.reduce(…, axis=0)` outside"
_INDICES = (
    "it is an array with other indices: write `a[j, i]` or `a.T`, `a[k // w, k % w]`; or do so outside of the kernel"
)
_PARTS = "pass an array for the result, and store to its parts: `out[:n] = a`, `out[n:] = b`"
_TAKE = "loop, and count what is taken; or call `spmdvm.filter` outside of the kernel"
_BINS = "write `bins[k] += 1` for each; or call `spmdvm.reduce_by_index` outside of the kernel"
_OUTSIDE = "write the loops; or call it outside of the kernel, and pass the result"
_NANS = "choose the elements: `b = a[~np.isnan(a)]`"
_LIST = (
    "make an array that is long enough and count, `out = np.empty(len(a))`, `out[n] = x`, `n += 1`; a part of it can "
    "be returned: `return out[:n]`"
)

_FUNCTIONS: dict[Any, str] = {
    np.asarray: "it takes an array, a number or numbers that are listed, `np.asarray([x, y])`, and a dtype",
    np.array: "it lists numbers, `np.array([x, y])`, or copies an array",
    sum: "write `np.sum(a)` of an array, or loop",
    builtins.any: "write `np.any(a)` of an array, or loop",
    builtins.all: "write `np.all(a)` of an array, or loop",
    isinstance: "types are known when a kernel is compiled; leave it out",
    type: "types are known when a kernel is compiled; leave it out",
    sorted: _SORT,
    list: _LIST,
    dict: "use arrays: one for what is looked up, another for what belongs to it",
    set: "use an array of flags: `seen[k] = True`",
    str: "texts stand in `print` only; use numbers",
    open: "read files outside of the kernel, and pass arrays",
    input: "ask outside of the kernel, and pass numbers",
    builtins.map: "write the loop",
    builtins.filter: "write the loop",
    math.fsum: "write `np.sum(a)` of an array, or loop",
}
# Functions of numpy by their names.
_OF_NUMPY = {
    **dict.fromkeys(["partition", "argpartition"], _SORT),
    **dict.fromkeys(["percentile", "quantile"], "take an element of `np.sort(a)`"),
    **dict.fromkeys(["extract", "compress", "delete"], _TAKE),
    **dict.fromkeys(["dstack", "append", "insert"], _PARTS),
    **dict.fromkeys(["reshape", "ravel", "rot90", "swapaxes", "moveaxis"], _INDICES),
    **dict.fromkeys(["bincount", "histogram2d", "histogramdd"], _BINS),
    **dict.fromkeys(["einsum", "tensordot", "inner", "vdot", "kron"], "write the loops"),
    **dict.fromkeys(["svd", "eig", "eigh", "qr", "lstsq", "pinv", "slogdet", "matrix_rank"], _OUTSIDE),
    "atleast_3d": "index with None: `a[:, None]`",
    **dict.fromkeys(["nanmedian", "nanpercentile", "nanquantile", "nanprod", "nancumsum"], _NANS),
    "diagflat": "write `np.diag(v)`",
    **dict.fromkeys(["fft", "ifft", "rfft", "irfft"], "write the butterflies, or transform outside of the kernel"),
    **dict.fromkeys(["iscomplex", "isreal"], _COMPLEX),
    "meshgrid": "compute the numbers of each element from its indices",
    "isin": "write `x in (2, 3, 5)`, or the loop",
    "select": "write `np.where` in `np.where`, or `if` and `elif`",
    "piecewise": "write `if` and `elif`",
    "convolve": "write the loops over elements and weights",
    "correlate": "write the loops over elements and weights",
    "polyval": "write `(c[0] * x + c[1]) * x + c[2]`, or the loop",
    "copyto": "write `out[:] = a`",
    "vectorize": "a kernel is called for each element: leave it out",
}
_METHODS = {
    **dict.fromkeys(["sort", "argsort", "partition"], _SORT),
    **dict.fromkeys(["reshape", "ravel", "flatten", "swapaxes", "squeeze"], _INDICES),
    **dict.fromkeys(["append", "pop", "extend", "insert", "remove", "tolist"], _LIST),
    **dict.fromkeys(["random", "integers", "normal", "uniform", "standard_normal", "rand", "randint"], _RANDOM),
    **dict.fromkeys(["cumsum", "cumprod"], "write `np.cumsum(a)`"),
    **dict.fromkeys(["nonzero", "take", "compress"], _TAKE),
    "trace": "write `np.trace(m)`",
    "searchsorted": "write `np.searchsorted(a, x)`",
    "count": "bits are counted by `np.bitwise_count(n)`; else write the loop",
    "bit_length": "loop, `while n: n >>= 1`; or write `math.frexp(n)[1]` of what a float holds",
    **dict.fromkeys(["conj", "conjugate"], "write `np.conj(a)`"),
}
_ATTRIBUTES = {
    "flat": "`for i in range(h): for j in range(w):` goes over all elements",
    "dtype": "it stands where a type is needed: `np.zeros(8, a.dtype)`, `x.astype(a.dtype)`",
    "real": _PART,
    "imag": _PART,
}
_OF_UNIQUE = {
    "axis": "rows are compared in loops; or call it outside of the kernel",
}
_WEIGHTS = "write it out: `np.sum(w * (x - mx) * (y - my)) / np.sum(w)`, of means that have weights, too"
# Parameters of functions of numpy that those that stand for them do not have.
_PARAMETERS = {
    "rowvar": "turn the matrix, `np.cov(m.T)`; of two vectors leave it out",
    "fweights": _WEIGHTS,
    "aweights": _WEIGHTS,
    "dtype": "convert the result, `.astype(np.float32)`",
}
_NORMS = "of matrices there are the orders None, 'fro', 1, -1, np.inf and -np.inf; compute others outside of the kernel"
# By functions that stand for those of numpy.
_OF_DIMENSIONS = {
    **dict.fromkeys(["norm_of_two", "norm_of_sum", "norm_of_greatest", "norm_of_least"], _NORMS),
    "norm_of_matrix": "of a vector leave `ord` out",
}
_LOOPS = {
    "reversed": "`range(n - 1, -1, -1)`, or `a[::-1]` of an array",
    "prange": "`spmdvm.foreach(n)` takes all at once, `range(n)` one after another",
    "arange": "`range(n)`",
    "nditer": "`for (i, j), x in np.ndenumerate(a)`, or `for x in a.ravel()`",
    "linspace": "`range(n)`, and the number of each index: `start + (stop - start) * k / (n - 1)`",
}


def function(function: Any, name: str, known: Iterable[str]) -> str:
    """Give what to write instead of a function, which may be one of nearly the name of one that is known."""
    module = getattr(function, "__module__", None) or ""
    if "random" in name or module.split(".")[0] == "random":
        return _RANDOM
    for other, help in _FUNCTIONS.items():
        if function is other:
            return help
    own = getattr(function, "__name__", name)
    if module == "cmath":
        return of_complex(own)
    if module.split(".")[0] == "numpy" and own in _OF_NUMPY:
        return _OF_NUMPY[own]
    # It is one that is there: what only looks like it is something else.
    found = close_to(name.rsplit(".", 1)[-1], known, 0.85)
    if found is not None:
        return f"is `{found}` meant?"
    return "compute it outside of the kernel and pass the result; or write it as a function of Python, with `def`"


def of_several_types(tree: ast.AST, *nodes: ast.expr) -> str | None:
    """Say what to do about a float that is assigned integers, too: a variable has one type; None of anything else."""
    for name in (node.id for node in nodes if isinstance(node, ast.Name)):
        for statement in walk(tree):
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                calls = (at.func for at in walk(statement.value) if isinstance(at, ast.Call))
                if any(isinstance(func, ast.Name) and func.id == "int" for func in calls):
                    own = f"`whole = {ast.unparse(statement.value)}`"
                    return f"`{name}` is a float elsewhere, and variables have one type: give the integer a name, {own}"
    return None


def of_bits(node: Any, op: str) -> str | None:
    """Say what to write for an operator of bits between floats."""
    if isinstance(node, ast.BinOp) and op == "^":
        return f"powers are written `**`: `{ast.unparse(node.left)} ** {ast.unparse(node.right)}`"
    return f"it goes before comparisons, which stand in parentheses: `(a > 0) {op} (b > 0)`" if op in "&|" else None


def close_to(name: str, known: Iterable[str], cutoff: float) -> str | None:
    """Give the name that is most like one; None if none is."""
    # Only errors need it.
    import difflib

    return next(iter(difflib.get_close_matches(name, list(known), 1, cutoff)), None)


def meant(name: str, known: Iterable[str], owner: str = "") -> str | None:
    """Ask for the name, of an owner, that may be meant by one that there is not; None if none is near."""
    found = close_to(name, sorted(other for other in known if other[:1] != "_"), 0.7)
    return None if found is None else f"did you mean `{owner}{found}`?"


def attribute_of(owner: Any, what: str, name: str, known: Iterable[str]) -> str | None:
    """Ask for the attribute that may be meant by one that an object does not have, first among what kernels know."""
    own, name = set(dir(owner)), {"reduce_sum": "reduce_add"}.get(name, name)
    return meant(name, own & set(known), f"{what}.") or meant(name, own, f"{what}.")


def keyword(called: str, name: str, value: str, args: str) -> str | None:
    """Give what to write instead of a keyword of numpy's functions of numbers; None if it is a plain argument."""
    if name == "where":
        return f"choose: `np.where({value}, {called}({args}), …)`"
    if name == "out":
        return f"store the result: `{value}[:] = {called}({args})`"
    if name in ("dtype", "casting"):
        return f"convert the result: `np.float32({called}({args}))`"
    return None


def method(name: str) -> str:
    """Give what to write instead of a method."""
    return _METHODS.get(name) or (
        "arrays have `sum`, `mean`, `var`, `std`, `min`, `max`, `argmin`, `argmax`, `any` and `all`, numbers `astype`, "
        "`clip`, `round` and `item`; else write the loop"
    )


def attribute(name: str) -> str:
    """Give what to write instead of an attribute of an array."""
    return _ATTRIBUTES.get(name) or "`shape`, `size` and `ndim` can be asked for"


def parameter(name: str | None, names: list[str], of_library: bool) -> str:
    """Give what to write instead of a parameter that a function does not have: an own one, or one of the library."""
    return (_PARAMETERS.get(name or "") if of_library else None) or f"they are {', '.join(names)}"


def loop(name: str) -> str:
    """Give what to loop over instead of what a function gives."""
    return _LOOPS.get(name) or "loop over indices: `for i in range(len(a))`"


def of_unique(other: str | None) -> str:
    """Give what to write instead of an argument of `np.unique`."""
    return _OF_UNIQUE.get(other or "") or "leave it out"


def reduction(how: str, other: str | None) -> str:
    """Give what to write instead of an argument of a reduction."""
    if other == "axis" or other is None:
        return _ROWS.replace("sum", how)
    if other == "dtype":
        return f"convert the result: `np.float32(np.{how}(a))`"
    if other == "out":
        return f"store the result: `out[0] = np.{how}(a)`"
    if other == "where":
        return f"choose: `np.{how}(np.where(mask, a, 0))`"
    return "leave it out, or loop"


def reduction_along(how: str, other: str | None) -> str:
    """Give what to write instead of an argument of a reduction along an axis."""
    if other == "dtype":
        return f"convert the result: `np.{how}(a, axis=0).astype(np.float32)`"
    if other == "out":
        return f"store the result: `out[:] = np.{how}(a, axis=0)`"
    return reduction(how, other) if other == "where" else "leave it out"


def dimensions(name: str, most: int | None) -> str | None:
    """Give what to write instead of a function of so many dimensions that is given an array of others."""
    help = "loop over the rows; or write the parts, such as `a[:, 1:] - a[:, :-1]`" if most == 1 else None
    return _OF_DIMENSIONS.get(name, help)


def of_complex(name: str) -> str:
    """Give what to write instead of a function of complex numbers."""
    if name in ("log2", "log10"):
        return f"divide: `np.log(z) / np.log({name[3:]})`"
    known = "`np.exp`, `np.log`, `np.sqrt`, powers, `np.conj`, `np.angle`, `abs` and `cmath.rect`"
    return f"of complex numbers there are {known}; else take a part, `z.real` or `z.imag`"
