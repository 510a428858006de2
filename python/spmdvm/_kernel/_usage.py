"""Which names of a kernel are arrays, by what is done with them: whether it is elementwise depends on that."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from typing import Any, Callable

import numpy as np

from .._errors import CompileError
from . import _functions
from ._plain import parameters
from ._reductions import FUNCTIONS as REDUCTIONS
from ._reductions import METHODS
from ._scopes import Scope, own_nodes
from ._source import Source


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
            if isinstance(node, ast.Call) and any(isinstance(arg, ast.Name) for arg in node.args):
                found |= self._passed(node, scope, lookup, seen)
        for inner in itertools.chain(*scope.functions.values()):
            found |= self._indexed(inner, lookup, seen) - inner.bound
        return found

    def _passed(self, node: ast.Call, scope: Scope, lookup: Callable[[str], Any], seen: set[int]) -> set[str]:
        """Give the names that are passed to a function which uses its parameters as arrays."""
        called = scope.function(node.func.id) if isinstance(node.func, ast.Name) else None
        try:
            if called is None:
                function = inspect.unwrap(_named(node.func, lookup))
                if not inspect.isfunction(function) or _is_of_numpy(function):
                    return set()
                called, lookup = Scope(Source.of(function).tree), _functions.lookup_of(function)
        except KeyError:
            self.is_known = False
            return set()
        except CompileError:
            # What is wrong with it is told when it is translated.
            return set()
        if id(called.tree) in seen:
            return set()
        inner = self._indexed(called, lookup, seen | {id(called.tree)})
        names = [arg.arg for arg in parameters(called.tree)]
        given = [*zip(names, node.args), *((keyword.arg, keyword.value) for keyword in node.keywords)]
        return {value.id for name, value in given if name in inner and isinstance(value, ast.Name)}


def _used_as_arrays(node: ast.AST) -> list[ast.expr]:
    """Give the parts of a node that are arrays: indexed, asked for their shape or length, gone over."""
    if isinstance(node, ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Attribute):
        return [node.value] if node.attr in ("shape", "size", "ndim") else []
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right] if isinstance(node.op, ast.MatMult) else []
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Attribute):
        return [node.func.value] if node.func.attr in METHODS else []
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    goes_over = name in ("len", "enumerate", "zip") or (name in ("sum", "min", "max") and len(node.args) == 1)
    return node.args if goes_over else []


def _named(func: ast.expr, lookup: Callable[[str], Any]) -> Any:
    """Give what a name, or a name in a module, stands for outside of the kernel."""
    if isinstance(func, ast.Name):
        return lookup(func.id)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        owner = lookup(func.value.id)
        return getattr(owner, func.attr, None) if isinstance(owner, types.ModuleType) else None
    return None


def _is_of_numpy(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").split(".")[0] == "numpy"


def reduces(tree: ast.FunctionDef, lookup: Callable[[str], Any], parameters: list[str]) -> bool:
    """Return whether a function that goes over whole arrays, such as `np.sum`, is called with parameters.

    It is not if an array that is made here stands in the expression: the parameters are numbers then.
    """
    own = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _looks_like_array(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not _is_name(node.func.value):
            sources = [node.func.value]
        elif _is_reduction(node.func, lookup):
            sources = node.args
        else:
            continue
        names = {at.id for source in sources for at in ast.walk(source) if isinstance(at, ast.Name)}
        if names & set(parameters) and not names & own:
            return True
    return False


def has_effects(tree: ast.FunctionDef) -> bool:
    """Return whether a function may do something but give a result: call `print` or another, assert, not end."""
    return any(
        isinstance(node, (ast.Assert, ast.While)) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
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
        found = _named(func, lookup)
    except KeyError:
        return False
    return found is np.dot or any(found is function for function in REDUCTIONS)
