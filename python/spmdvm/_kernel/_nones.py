"""Variables that are None until there is something, such as `best = None` before a loop that finds the best.

No program has a value for None, so such a variable is two: what it is, and a bool that says whether it is None. The
bool has a name that nobody can write, `best is None`, and is assigned beside the variable; so it is declared, shown and
kept for each lane as other variables are. Where `_decided` does not know that there is something, it is tested.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import replace
from typing import Any

from ._types import Array
from ._values import Value

_END = " is None"
# What is told of a variable that is None only as it has no value yet.
UNSET = " is unset"


class Untyped:
    """What is not known of a variable that is read before something is assigned to it, in the order of the text."""


UNTYPED = Untyped()


def flag_of(name: str) -> str:
    """Give the name of the bool that says whether a variable is None; of a value of a tuple, whether that is."""
    return name.partition("[")[0] + _END


def shown(name: str) -> str:
    """Give the variable that a name is about, as Python has it."""
    return name.removesuffix(_END)


def told(node: Any, name: str, is_none: bool | ast.expr) -> ast.Assign:
    """Write that a variable is None or not; or that it is if another one is."""
    value = is_none if isinstance(is_none, ast.expr) else ast.copy_location(ast.Constant(is_none), node)
    target = ast.copy_location(ast.Name(flag_of(name), ast.Store()), node)
    return ast.copy_location(ast.Assign([target], value), node)


def asked(node: Any, name: str, is_none: bool = True) -> ast.expr:
    """Write the question whether a variable is None, or whether it is not."""
    flag = ast.copy_location(ast.Name(flag_of(name), ast.Load()), node)
    return flag if is_none else ast.copy_location(ast.UnaryOp(ast.Not(), flag), node)


def as_some(node: ast.Name) -> ast.Name:
    """Give a name where its variable is known to be something."""
    new: Any = copy.copy(node)
    new.is_some = True
    return new  # type: ignore[no-any-return]


def is_optional(body: Any, name: str) -> bool:
    """Return whether a variable is None somewhere."""
    return any(flag_of(name) in region.names for region in body.regions)


def tested(body: Any, node: ast.Name, value: Value) -> Value:
    """Give what a variable is; the kernel fails if that is None."""
    if hasattr(node, "is_some") or not is_optional(body, node.id):
        return value
    flag = body.read_name(ast.copy_location(ast.Name(flag_of(node.id), ast.Load()), node))
    # In a part of an expression that some lanes compute, the others must not be tested.
    uniform = value.uniform and (not body.in_arm or body.is_uniform_here())
    shape, spmd = "uniform" if uniform else "varying", value.type.spmd
    is_unset = node.id.partition("[")[0] in body.program.unset.get(body.source.identity, ())
    what = node.id.partition("[")[0] + UNSET if is_unset else flag_of(node.id)
    name = body.program.none_test(what, f"{shape} {spmd}")
    body.program.support[name] = (
        f"static inline {shape} {spmd} {name}({shape} bool is_none, {shape} {spmd} x) {{\n"
        "    assert(!is_none);\n    return x;\n}"
    )
    return replace(Value(f"{name}({flag.text}, {value.text})", value.type, uniform), is_python=value.is_python)


def refuse_others(body: Any, node: Any, flag: str) -> None:
    """Fail if it is said of something that it may be None that is neither a number nor a tuple of them."""
    name = shown(flag)
    if name == flag:
        return
    region = body.region_of(name)
    param = next((param for param in body.params if param.name == name), None)
    what = None
    arrays = {each.partition("[")[0] for each in (*region.arrays, *region.parts)}
    if name in arrays or isinstance(getattr(param, "type", None), Array):
        what = "an array" if param is None or param.type.ndim else "a record"
    elif name in region.generators or name in body.local_functions:
        what = "a generator" if name in region.generators else "a function"
    what = "a list" if name in body.lists else what
    if what is not None:
        help = "keep in a bool whether there is one, or use another name"
        body.fail(node, f"`{name}` is None in one place and {what} in another", "only numbers may be None", help)


def refuse_in_foreach(body: Any, node: Any, flag: str) -> None:
    """Fail if elements of a `foreach` ask whether there is something that one of them is to find."""
    name = shown(flag)
    if name != flag:
        message = f"`{name}` belongs to the code around `foreach`, whose elements all run at once"
        help = f"begin with a number, `{name} = np.inf`, and take the least or greatest: `{name} = min({name}, …)`"
        body.fail(node, message, "which element has found it?", f"{help}; or loop over `range`, in order")
