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

Arrays are not copied. What a program may not do raises an exception: see `Trap` and `CompileError`.
"""

from collections.abc import Mapping

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
    ReadOnly,
    Related,
    SpmdError,
    StackOverflow,
    Trap,
    TrapFrame,
    UnboundExtern,
)
from ._spmdvm import Function, Globals, Module, Pointer, __version__, compile, compile_file

__all__ = [
    "Aborted",
    "AssertionFailed",
    "BadPointer",
    "CompileError",
    "CompileWarning",
    "Diagnostic",
    "DivisionByZero",
    "Finding",
    "Function",
    "Globals",
    "HostError",
    "Interrupted",
    "Label",
    "LinkError",
    "Module",
    "OutOfBounds",
    "OutOfFuel",
    "OutOfMemory",
    "OutOfTime",
    "Pointer",
    "ReadOnly",
    "Related",
    "SpmdError",
    "StackOverflow",
    "Trap",
    "TrapFrame",
    "UnboundExtern",
    "__version__",
    "compile",
    "compile_file",
]

Mapping.register(Globals)
