"""Run SPMD programs (the ISPC language, extended) on numpy arrays.

Write per-element code with branches and loops as if for one element, call it on numpy arrays:

>>> import numpy as np
>>> import spmdvm
>>> module = spmdvm.compile('''
... export void clamp(uniform float x[], uniform int n, uniform float low) {
...     foreach (i = 0 ... n)
...         if (x[i] < low)
...             x[i] = low;
... }
... ''')
>>> x = np.array([3, -1, 2], dtype=np.float32)
>>> module.clamp(x, len(x), 0)
>>> x
array([3., 0., 2.], dtype=float32)

The program's global variables are numpy views in `module.globals`, and `extern` ones are supplied there:

>>> module = spmdvm.compile('''
... extern uniform float x[];
... uniform int calls = 0;
... export void twice(uniform int n) {
...     ++calls;
...     foreach (i = 0 ... n)
...         x[i] *= 2;
... }
... ''')
>>> module.globals["x"] = x
>>> module.twice(2)
>>> x
array([6., 0., 2.], dtype=float32)
>>> int(module.globals["calls"])
1

Or write them in Python: `spmdvm.kernel` compiles a function, `spmdvm.evaluate` an expression.

>>> @spmdvm.kernel
... def steps(n):
...     count = 0
...     while n != 1:
...         n = n // 2 if n % 2 == 0 else 3 * n + 1
...         count += 1
...     return count
>>> steps(np.arange(1, 8))
array([ 0,  1,  7,  2,  5,  8, 16])

Arrays are not copied. What a program may not do raises an exception: see `Trap` and `CompileError`.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

from ._errors import (
    Aborted,
    AssertionFailed,
    BadPointer,
    CompileError,
    CompileWarning,
    Diagnostic,
    DivisionByZero,
    Finding,
    HostError,
    Interrupted,
    Label,
    LinkError,
    OutOfBounds,
    OutOfFuel,
    OutOfMemory,
    OutOfTime,
    Overflow,
    ReadOnly,
    Related,
    SpmdError,
    StackOverflow,
    Trap,
    TrapFrame,
    UnboundExtern,
)
from ._spmdvm import Function, Globals, Module, Pointer, __version__, compile, compile_file, per_lane

__all__ = [
    "Aborted",
    "AssertionFailed",
    "BadPointer",
    "CompileError",
    "CompileWarning",
    "Diagnostic",
    "DivisionByZero",
    "ExplainedLine",
    "Explanation",
    "Finding",
    "Function",
    "Globals",
    "HostError",
    "Interrupted",
    "Kernel",
    "Label",
    "LinkError",
    "Module",
    "OutOfBounds",
    "OutOfFuel",
    "OutOfMemory",
    "OutOfTime",
    "Overflow",
    "Pointer",
    "Profile",
    "ProfileLine",
    "ReadOnly",
    "Related",
    "SpmdError",
    "StackOverflow",
    "Step",
    "StepCall",
    "StepVariable",
    "Stepper",
    "TaskRun",
    "Timeline",
    "Trap",
    "TrapFrame",
    "UnboundExtern",
    "__version__",
    "array",
    "bool_",
    "broadcast",
    "compile",
    "compile_file",
    "complex64",
    "complex128",
    "evaluate",
    "float16",
    "float32",
    "float64",
    "foreach",
    "int8",
    "int16",
    "int32",
    "int64",
    "kernel",
    "lane",
    "none",
    "per_lane",
    "reduce",
    "reduce_add",
    "reduce_by_index",
    "reduce_max",
    "reduce_min",
    "rng",
    "rotate",
    "scan",
    "shift",
    "shuffle",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uniform",
    "vectorize",
    "width",
]

# Names of combinators.
_COMBINATORS = ("filter", "map", "reduce", "reduce_by_index", "scan")
# Names of what `profile` and `timeline` give.
_SEEING = ("Profile", "ProfileLine", "TaskRun", "Timeline")
# Of what `explain` gives.
_EXPLAINING = ("ExplainedLine", "Explanation")
# Of what takes expressions that are texts.
_EVALUATING = ("evaluate", "vectorize")
# And of what `stepper` gives.
_STEPPING = ("Step", "StepCall", "StepVariable", "Stepper")
# Names that would hide Python's own, and so are not in `__all__`.
_HIDDEN = ("all", "any", "filter", "map")

Mapping.register(Globals)

if TYPE_CHECKING:
    from ._combine import filter as filter
    from ._combine import map as map
    from ._combine import reduce, reduce_by_index, scan
    from ._explain import ExplainedLine, Explanation
    from ._kernel import (
        Kernel,
        array,
        broadcast,
        foreach,
        kernel,
        lane,
        none,
        reduce_add,
        reduce_max,
        reduce_min,
        rng,
        rotate,
        shift,
        shuffle,
        uniform,
        width,
    )
    from ._kernel import (
        all as all,
    )
    from ._kernel import (
        any as any,
    )
    from ._kernel._evaluate import evaluate, vectorize
    from ._profile import Profile, ProfileLine, TaskRun, Timeline
    from ._step import Step, StepCall, Stepper, StepVariable


def __getattr__(name: str) -> Any:
    """Import kernels, combinators and profiles when they are first asked for: few programs have all of these."""
    if name in __all__ or name in _HIDDEN:
        owner = "._combine" if name in _COMBINATORS else "._profile" if name in _SEEING else "._kernel"
        owner = "._step" if name in _STEPPING else "._explain" if name in _EXPLAINING else owner
        owner = "._kernel._evaluate" if name in _EVALUATING else owner
        value = globals()[name] = getattr(importlib.import_module(owner, __name__), name)
        return value
    raise AttributeError(f"module 'spmdvm' has no attribute '{name}'")


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic `%%spmd` to IPython: `%load_ext spmdvm`."""
    from ._notebook import load

    load(shell)


def __dir__() -> list[str]:
    """Give all names, those of kernels too."""
    return sorted({*globals(), *__all__, *_HIDDEN})
