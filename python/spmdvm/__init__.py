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

Arrays are not copied. What a program may not do raises an exception: see `Trap` and `CompileError`.
"""

from ._errors import (
    Aborted,
    AssertionFailed,
    BadPointer,
    CompileError,
    Diagnostic,
    DivisionByZero,
    Interrupted,
    Label,
    OutOfBounds,
    OutOfFuel,
    OutOfMemory,
    OutOfTime,
    ReadOnly,
    SpmdError,
    StackOverflow,
    Trap,
    TrapFrame,
)
from ._spmdvm import Function, Module, __version__, compile

__all__ = [
    "Aborted",
    "AssertionFailed",
    "BadPointer",
    "CompileError",
    "Diagnostic",
    "DivisionByZero",
    "Function",
    "Interrupted",
    "Label",
    "Module",
    "OutOfBounds",
    "OutOfFuel",
    "OutOfMemory",
    "OutOfTime",
    "ReadOnly",
    "SpmdError",
    "StackOverflow",
    "Trap",
    "TrapFrame",
    "__version__",
    "compile",
]
