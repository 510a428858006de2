"""Which names of a kernel are arrays, by what is done with them: whether it is elementwise depends on that."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Callable

import numpy as np

from .._errors import CompileError
from . import _functions, _library
from ._assignments import out_of
from ._equations import EQUATIONS
from ._joins import JOINS
from ._plain import parameters
from ._rearranged import REARRANGE
from ._reductions import FUNCTIONS as REDUCTIONS
from ._reductions import METHODS
from ._scopes import Local, Scope
from ._source import Source
from ._trees import arms, children, own_nodes, walk
from ._wrappers import inner_of, is_wrapped

# Those that read dicts, which array kernels take.
_OF_DICTS = ("get", "keys", "values", "items")
_METHODS = ("dot", "transpose", "ravel", "flatten", "reshape", "sort", "fill")
_OF_ARRAYS = (
    np.dot,
    np.matmul,
    np.cumsum,
    np.cumprod,
    np.outer,
    np.transpose,
    np.unique,
    np.histogram,
    np.nonzero,
    *JOINS,
    *REARRANGE,
    *EQUATIONS,
)
# Functions of numpy that make an array of another one.
_OF_ANOTHER = (
    "zeros_like",
    "ones_like",
    "empty_like",
    "full_like",
    "copy",
    "cumsum",
    "cumprod",
    "sort",
    "argsort",
    "diff",
    "unique",
    "flatnonzero",
    "roll",
    "flip",
    "flipud",
    "fliplr",
    "repeat",
    "tile",
    "diag",
    "convolve",
    "cross",
    "partition",
    "argpartition",
    "ravel",
    "solve",
    "inv",
    "cholesky",
)
# Those that take an array, and are called by its name.
_TAKE_ARRAYS = frozenset(
    [
        *_OF_ANOTHER,
        "histogram",
        "nonzero",
        "argwhere",
        "norm",
        "cov",
        "corrcoef",
        "median",
        "searchsorted",
        "digitize",
        "prod",
        "trace",
        "ptp",
        "polyval",
        "percentile",
        "quantile",
        "array_equal",
        "allclose",
        "trapezoid",
        "trapz",
        "diagonal",
        "asarray",
        "asanyarray",
        "ascontiguousarray",
        "nansum",
        "nanmean",
        "nanvar",
        "nanstd",
        "nanmin",
        "nanmax",
        "nanprod",
        "nanmedian",
        "expand_dims",
        "shape",
        "ndim",
        "size",
        "average",
        "ndenumerate",
        "det",
    ]
)
# Those that make one of other lengths than an array has.
_MAKERS = ("zeros", "ones", "empty", "full", "arange", "linspace", "eye", "identity")
# Those that give an array, whatever they are given, and methods of arrays that do.
_GIVE_ARRAYS = frozenset(
    [*_MAKERS, *_OF_ANOTHER, "array", "concatenate", "hstack", "vstack", "stack", "column_stack", "outer"]
)
_METHODS_GIVING_ARRAYS = ("copy", "cumsum", "cumprod", "flatten", "ravel", "reshape")
# Methods that change a list, a dict or a set.
CHANGING = frozenset(
    [
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "add", "discard", "update"),
        *("setdefault", "popitem", "intersection_update", "difference_update", "symmetric_difference_update"),
    ]
)
# Functions of Python that go over what they are given.
_GO_OVER = ("len", "enumerate", "zip", "reversed", "sorted", "list")


class Usage:
    """What a function does with names.

    Attributes:
        indexed: those that are used as arrays, also by functions that they are passed to.
        is_known: whether all these functions are there already.
    """

    def __init__(self, tree: ast.FunctionDef, lookup: Callable[[str], Any]) -> None:
        """Look at a function."""
        self.is_known = True
        self.indexed = self._indexed(Scope(tree), lookup, {id(tree)})

    def _indexed(self, scope: Scope, lookup: Callable[[str], Any], seen: set[int]) -> set[str]:
        found = set()
        for node in own_nodes(scope.tree.body):
            found.update(name.id for name in _used_as_arrays(node) if isinstance(name, ast.Name))
            found |= _given_out(node, lookup)
            if isinstance(node, ast.Call):
                found |= self._passed(node, scope, lookup, seen)
        for inner in itertools.chain(*scope.functions.values()):
            found |= self._indexed(inner, lookup, seen) - inner.bound
        return found

    def _passed(self, node: ast.Call, scope: Scope, lookup: Callable[[str], Any], seen: set[int]) -> set[str]:
        """Give the names that are passed to a function which uses its parameters as arrays."""
        called = scope.function(node.func.id) if isinstance(node.func, ast.Name) else None
        records: set[str] = set()
        root = root_of(node.func)
        if called is None and root is not None and scope.is_variable(root):
            # A function that was passed, or a method: nothing that will be there later.
            return set()
        try:
            if called is None:
                found = named_by(node.func, lookup)
                function = inner_of(found)
                if not inspect.isfunction(function) or is_wrapped(function) or _is_of_numpy(function):
                    return set()
                records = _records_of(found, function)
                called, lookup = Scope(Source.of(function).tree), _functions.lookup_of(function)
        except KeyError:
            self.is_known = False
            return set()
        except CompileError:
            # What is wrong with it is told when it is translated.
            return set()
        if id(called.tree) in seen:
            return set()
        inner = self._indexed(called, lookup, seen | {id(called.tree)}) - records
        names = [arg.arg for arg in parameters(called.tree)]
        given = [*zip(names, node.args), *((keyword.arg, keyword.value) for keyword in node.keywords)]
        return {value.id for name, value in given if name in inner and isinstance(value, ast.Name)}


def root_of(node: ast.expr) -> str | None:
    """Give the name with which an expression such as `a.b.c` begins; None if it begins with none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _records_of(found: Any, function: Any) -> set[str]:
    """Give the parameters of a kernel, or of a function, that are annotated as records: of these fields are indexed."""
    kernels = getattr(found, "_annotations", None)
    if kernels is not None:
        hints = {name: hint.of for name, hint in kernels.items() if hint is not None and hint.what != "array"}
    else:
        space = function.__globals__
        hints = {name: space.get(of) if isinstance(of, str) else of for name, of in function.__annotations__.items()}
    return {name for name, of in hints.items() if isinstance(of, np.dtype) and of.names is not None}


def _used_as_arrays(node: ast.AST) -> list[ast.expr]:
    """Give the parts of a node that are arrays: indexed, asked for their shape or length, gone over."""
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Attribute):
        return [node.value] if node.attr in ("shape", "size", "ndim", "T", "flat") else []
    if isinstance(node, (ast.For, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right] if isinstance(node.op, ast.MatMult) else []
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in ("reshape", "repeat", "diagonal"):
            owner = node.func.value
            of_numpy = isinstance(owner, ast.Name) and owner.id in ("np", "numpy")
            return node.args[:1] if of_numpy else [owner]
        if node.func.attr == "concatenate" and node.args and isinstance(node.args[0], (ast.Tuple, ast.List)):
            return node.args[0].elts
        if node.func.attr in _TAKE_ARRAYS:
            own = (
                [node.func.value]
                if node.func.attr in ("copy", "cumsum", "cumprod", "ravel", "sort") and not node.args
                else []
            )
            return own or (node.args[:1] if isinstance(node.func.value, ast.Name) else [])
        is_of_array = node.func.attr in METHODS or node.func.attr in _METHODS or node.func.attr in _OF_DICTS
        return [node.func.value] if is_of_array else []
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    goes_over = name in _GO_OVER or (name in ("sum", "min", "max") and len(node.args) == 1)
    return node.args if goes_over else []


def named_by(func: ast.expr, lookup: Callable[[str], Any]) -> Any:
    """Give what a name, or a name in a module, stands for outside of the kernel."""
    if isinstance(func, ast.Name):
        return lookup(func.id)
    if isinstance(func, ast.Attribute):
        owner = named_by(func.value, lookup)
        return getattr(owner, func.attr, None) if isinstance(owner, types.ModuleType) else None
    return None


def _is_of_numpy(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").split(".")[0] == "numpy"


def reduces(tree: ast.FunctionDef, lookup: Callable[[str], Any], given: list[str]) -> bool:
    """Return whether a function that goes over whole arrays, such as `np.sum`, is called with parameters.

    Also with what is computed of them, or if that is indexed. It is not if an array that is made here stands in the
    expression: the parameters are numbers then.
    """
    parameters = _computed_of(tree, given, lookup)
    own = {
        target.id
        for node in walk(tree)
        if isinstance(node, ast.Assign) and _looks_like_array(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in walk(tree):
        if looks_like_places(node):
            node = node.value
            sources = node.args
        elif not isinstance(node, ast.Call):
            continue
        elif isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not _is_name(node.func.value):
            sources = [node.func.value]
        elif _is_reduction(node.func, lookup) or (_of_numpy(node) == "where" and len(node.args) == 1):
            sources = node.args
        else:
            continue
        names = {at.id for source in sources for at in _not_listed(source) if isinstance(at, ast.Name)}
        if names & parameters and not names & own:
            return True
    computed, used = parameters - set(given), [each for node in walk(tree) for each in _used_as_arrays(node)]
    # (Of what is computed of numbers alone nothing can be gone over.)
    products = [side for node in walk(tree) if isinstance(node, ast.BinOp) for side in _used_as_arrays(node)]
    gone_over = [each for each in used if isinstance(each, (ast.BinOp, ast.UnaryOp)) and each not in products]
    if any(values_in(each, lookup) & parameters for each in gone_over):
        return True
    return any(isinstance(name, ast.Name) and name.id in computed for name in used)


def _not_listed(node: ast.AST) -> Iterator[ast.AST]:
    """Give an expression and what is in it, but for what `np.array([x, y])` lists: these are numbers."""
    yield node
    lists = _of_numpy(node) in ("array", "asarray") and isinstance(next(iter(node.args), None), (ast.List, ast.Tuple))
    for inner in () if lists else children(node):
        yield from _not_listed(inner)


def with_fields(tree: ast.FunctionDef) -> set[str]:
    """Give the names of which attributes are taken that no array has: records, whose fields may be arrays."""
    taken = (node for node in walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
    return {node.value.id for node in taken if not hasattr(np.ndarray, node.attr)}


def grows_list(tree: ast.FunctionDef) -> bool:
    """Return whether a function makes a list of numbers, and adds to it, or by a comprehension, or a dict or set."""
    nodes = own_nodes(tree.body)
    if any(isinstance(node, ast.Assign) and isinstance(node.value, ast.ListComp) for node in nodes):
        return True
    if any(map(_makes_dict, _but_for_tests(nodes))):
        return True
    if any(isinstance(node, ast.Call) and _is_named(node.func, ("sorted", "list")) for node in nodes):
        return True
    return bool(_grown(nodes))


def _makes_dict(node: ast.AST) -> bool:
    """Return whether an expression looks like one that makes a dict or set."""
    if isinstance(node, (ast.Dict, ast.DictComp, ast.Set, ast.SetComp)):
        return True
    func = node.func if isinstance(node, ast.Call) else None
    name = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
    return name in ("dict", "set", "defaultdict", "Counter")


def _but_for_tests(nodes: list[Any]) -> list[Any]:
    """Leave out what `in` looks into that is written, `x in {2, 3}`."""
    tests = [node for node in nodes if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn))]
    written = {id(node.comparators[0]) for node in tests}
    return [node for node in nodes if id(node) not in written]


def _grown(nodes: list[Any]) -> set[str]:
    """Give the names that stand for lists which grow."""
    lists = lists_made(nodes)
    methods = [node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    grown = [at.value for at in methods if at.attr in ("append", "extend", "insert", "pop")]
    grown += [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    return {at.id for at in grown if isinstance(at, ast.Name) and at.id in lists}


def lists_made(nodes: list[Any]) -> set[str]:
    """Give the names that are assigned lists which are written."""
    pairs = [pair for node in nodes if isinstance(node, ast.Assign) for pair in pairs_of(node.targets[0], node.value)]
    return {target.id for target, value in pairs if isinstance(target, ast.Name) and _makes_list(value)}


def _is_named(node: ast.expr, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _makes_list(node: ast.expr) -> bool:
    parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node]
    return any(isinstance(part, ast.List) for part in parts)


def stored_to(tree: ast.FunctionDef, lookup: Callable[[str], Any]) -> set[str]:
    """Give the names that stand for arrays to whose elements something is assigned, also by `out=`."""
    stored = (at for at in walk(tree) if isinstance(at, ast.Subscript) and isinstance(at.ctx, ast.Store))
    return {root for root in map(root_of, stored) if root is not None} | given_out(tree, lookup)


def given_out(tree: ast.AST, lookup: Callable[[str], Any]) -> set[str]:
    """Give the names that stand for arrays to which functions of elements store, `np.add(a, b, out=c)`."""
    return set().union(*(_given_out(node, lookup) for node in walk(tree)))


def _given_out(node: ast.AST, lookup: Callable[[str], Any]) -> set[str]:
    """Give the name of the array, or of the one of the part, that a call of a function of elements stores to."""
    if not isinstance(node, ast.Call) or not _is_of_elements(node, lookup):
        return set()
    out = out_of(node, named_by(node.func, lookup))[1]
    root = None if out is None else root_of(out)
    return set() if root is None else {root}


def taken_apart(tree: ast.FunctionDef) -> set[str]:
    """Give the names that stand for several values, as tuples do: `x, y = p`."""
    assigned = [node for node in walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)]
    return {node.value.id for node in assigned if isinstance(node.targets[0], (ast.Tuple, ast.List))}


def _computed_of(tree: ast.FunctionDef, parameters: list[str], lookup: Callable[[str], Any]) -> set[str]:
    """Give parameters, and variables that are computed of them by operators and methods, as arrays are too."""
    found = set(parameters)
    assigned = [node for node in walk(tree) if isinstance(node, ast.Assign) and _is_computed(node.value, lookup)]
    before = -1
    while before != len(found):
        before = len(found)
        for node in assigned:
            if values_in(node.value, lookup) & found:
                found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return found


def _is_computed(node: ast.expr, lookup: Callable[[str], Any]) -> bool:
    methods = ("astype", "clip", "round", "copy")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
        return True
    return _is_of_elements(node, lookup) or isinstance(node, (ast.Name, ast.BinOp, ast.UnaryOp, ast.Compare))


def _is_of_elements(node: ast.expr, lookup: Callable[[str], Any]) -> bool:
    """Return whether a call is one of numpy's functions that go element by element."""
    if not isinstance(node, ast.Call):
        return False
    try:
        function = named_by(node.func, lookup)
    except KeyError:
        return False
    return isinstance(function, np.ufunc) or function in (np.where, np.clip, np.round)


def values_in(node: ast.expr, lookup: Callable[[str], Any]) -> set[str]:
    """Give the names in an expression, but for those of which elements, lengths or other functions are taken."""
    if isinstance(node, ast.Name):
        return {node.id}
    if _is_of_elements(node, lookup):
        return set().union(*(values_in(each, lookup) for each in node.args))
    if isinstance(node, ast.Call):
        return values_in(node.func.value, lookup) if _is_computed(node, lookup) else set()
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return set()
    inner = (each for each in children(node) if isinstance(each, ast.expr))
    return set().union(*(values_in(each, lookup) for each in inner))


def makes_arrays(tree: ast.FunctionDef, parameters: list[str]) -> bool:
    """Return whether a function makes an array with a length that depends on its parameters: it is called once."""
    depends = set(parameters)
    assigned = [node for node in walk(tree) if isinstance(node, (ast.Assign, ast.AugAssign, ast.For))]
    for _ in range(len(assigned)):
        before = len(depends)
        for node in assigned:
            source = node.iter if isinstance(node, ast.For) else node.value
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if _names_in([source]) & depends:
                depends |= _names_in(targets)
        if len(depends) == before:
            break
    for node in walk(tree):
        name = _of_numpy(node)
        if name is None:
            continue
        shape = {"linspace": node.args[2:], "arange": node.args}.get(name, node.args[:1])
        if name in ("array", "asarray") and node.args and isinstance(node.args[0], ast.ListComp):
            loops = [loop for at in walk(node) for loop in getattr(at, "generators", ())]
            if _names_in([loop.iter for loop in loops]) & depends:
                return True
        shape += [keyword.value for keyword in node.keywords if keyword.arg in ("shape", "num")]
        if name in _MAKERS and _names_in(shape) & depends:
            return True
    return False


def looks_like_places(node: ast.AST) -> bool:
    """Return whether the places are taken where something holds: `np.where(a > 2)[0]`, `np.nonzero(a)[0]`."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant) or node.slice.value != 0:
        return False
    call = node.value
    return isinstance(call, ast.Call) and len(call.args) == 1 and _of_numpy(call) in ("where", "nonzero")


def returns_array(tree: ast.FunctionDef, lookup: Callable[[str], Any]) -> bool:
    """Return whether a function returns an array that it makes: it is called once, as elements are numbers."""
    return _returns_array(tree, lookup, {id(tree)})


def _returns_array(
    tree: ast.FunctionDef, lookup: Callable[[str], Any], seen: AbstractSet[int], given: AbstractSet[str] = frozenset()
) -> bool:
    # (Parameters that are given arrays, but for those that come to stand for something else.)
    nodes = own_nodes(tree.body)
    # (`x *= 2` leaves it an array.)
    same = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    stored = {at.id for at in nodes if isinstance(at, ast.Name) and isinstance(at.ctx, ast.Store) and at not in same}
    made = set(given - stored) | _grown(nodes)

    def is_made(node: ast.expr | None) -> bool:
        if isinstance(node, ast.IfExp):
            return any(map(is_made, arms(node)))
        if isinstance(node, (ast.BinOp, ast.UnaryOp)):
            parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
            return not isinstance(getattr(node, "op", None), ast.MatMult) and any(map(is_made, parts))
        if isinstance(node, ast.Tuple):
            return any(map(is_made, node.elts))
        if isinstance(node, ast.ListComp) or (isinstance(node, ast.Call) and _is_named(node.func, ("sorted", "list"))):
            return True
        if looks_like_places(node):
            return True
        if isinstance(node, ast.Subscript):
            indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            several = any(isinstance(index, (ast.Slice, ast.Compare)) or is_made(index) for index in indices)
            return several and is_made(node.value)
        if isinstance(node, ast.Call):
            if _gives_array_of_numpy(node, lookup) or _is_given(node, lookup, seen):
                return True
            if isinstance(node.func, ast.Attribute) and node.func.attr in ("astype", "clip", "round"):
                return is_made(node.func.value)
            return bool(given) and _is_of_elements(node, lookup) and any(map(is_made, node.args))
        return isinstance(node, ast.Name) and node.id in made

    assigned = [
        pair for node in nodes if isinstance(node, ast.Assign) for pair in pairs_of(node.targets[0], node.value)
    ]
    for _ in assigned:
        before = len(made)
        made |= {name.id for name, value in assigned if isinstance(name, ast.Name) and is_made(value)}
        if len(made) == before:
            break
    return any(isinstance(node, ast.Return) and is_made(node.value) for node in nodes)


def _gives_array_of_numpy(node: ast.Call, lookup: Callable[[str], Any]) -> bool:
    """Return whether a call is one of a function of numpy that gives an array, or of a method that does."""
    try:
        found = named_by(node.func, lookup)
    except (KeyError, CompileError):
        # It begins with a variable, or a module that the kernel itself imports.
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS_GIVING_ARRAYS
        return is_method or (isinstance(node.func, ast.Attribute) and _of_numpy(node) in _GIVE_ARRAYS)
    return _is_of_numpy(found) and getattr(found, "__name__", "") in _GIVE_ARRAYS


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Give what is assigned to each of several names."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts))
    return [(target, value)]


def _is_given(node: ast.Call, lookup: Callable[[str], Any], seen: AbstractSet[int]) -> bool:
    """Return whether a call is one of a function of Python that returns an array it makes."""
    try:
        return gives_array(named_by(node.func, lookup), seen)
    except (KeyError, CompileError):
        return False


def of_program(found: Any) -> tuple[ast.FunctionDef, Callable[[str], Any]] | None:
    """Give the text of a function of Python, or of one in a kernel, and what finds names for it; None of others."""
    if isinstance(found, Local):
        tree, lookup = found.tree, found.lookup
    else:
        function = inner_of(found)
        if not inspect.isfunction(function) or is_wrapped(function) or _is_of_numpy(function):
            return None
        tree, lookup = Source.of(function).tree, _functions.lookup_of(function)
    return (tree, lookup) if isinstance(tree, ast.FunctionDef) else None


def gives_array(found: Any, seen: AbstractSet[int] = frozenset(), given: AbstractSet[str] = frozenset()) -> bool:
    """Return whether something is a function of Python, or one in a kernel, that returns an array it makes."""
    text = of_program(found)
    if text is None or id(text[0]) in seen:
        return False
    tree, lookup = text
    return _returns_array(tree, lookup, seen | {id(tree)}, given)


def gives_one_array(found: Any, given: AbstractSet[str] = frozenset()) -> bool:
    """Return whether something is a function of Python that returns an array it makes, rather than a tuple of some.

    `given` are parameters that are given arrays, of which it may make others.
    """
    if not isinstance(found, Local) and not inspect.isfunction(inner_of(found)):
        return False
    return gives_array(found, given=given) and not gives_tuple(found)


def gives_tuple(found: Any, seen: AbstractSet[int] = frozenset()) -> bool:
    """Return whether something is a function of Python, or one in a kernel, that returns a tuple, or what one gives."""
    text = of_program(found)
    if text is None or id(text[0]) in seen:
        return False
    tree, lookup = text
    for value in (arm for node in own_nodes(tree.body) if isinstance(node, ast.Return) for arm in arms(node.value)):
        if isinstance(value, (ast.Tuple, ast.List)):
            return True
        try:
            if isinstance(value, ast.Call) and gives_tuple(named_by(value.func, lookup), seen | {id(tree)}):
                return True
        except (KeyError, CompileError):
            # It is a variable; or what is wrong with it is told when it is translated.
            continue
    return False


def _of_numpy(node: ast.AST) -> str | None:
    """Give the name of the function of numpy that may be called, also where it was imported by its name."""
    func = node.func if isinstance(node, ast.Call) else None
    if isinstance(func, ast.Attribute):
        return func.attr if isinstance(func.value, ast.Name) and func.value.id in ("np", "numpy") else None
    return func.id if isinstance(func, ast.Name) else None


def _names_in(nodes: Any) -> set[str]:
    return {at.id for node in nodes for at in walk(node) if isinstance(at, ast.Name)}


def has_effects(tree: ast.FunctionDef) -> bool:
    """Return whether a function may do something but give a result: call `print` or another, assert, raise, not end."""
    return any(
        isinstance(node, (ast.Assert, ast.Raise, ast.While))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in own_nodes(tree.body)
    )


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _looks_like_array(node: ast.expr) -> bool:
    """Return whether an expression may be a part of an array, or make one."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name.split("_")[0] in ("zeros", "ones", "empty", "full")
    return isinstance(node, ast.Subscript)


def _is_reduction(func: ast.expr, lookup: Callable[[str], Any]) -> bool:
    """Return whether the function of a call is one that goes over whole arrays."""
    try:
        found = named_by(func, lookup)
    except KeyError:
        return False
    if _library.makes_array(found) or _library.takes_array(found) or any(found is known for known in _OF_ARRAYS):
        return found is not np.linspace
    return any(found is function for function in REDUCTIONS)
