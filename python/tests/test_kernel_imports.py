"""Kernels, and functions that they call, import modules and what is in them themselves."""

import pickle

import numpy
import pytest
import spmdvm
from ways import EVERY_WAY

A = numpy.arange(6.0)


@EVERY_WAY
def test_an_array_kernel_imports(options):
    @spmdvm.kernel(**options)
    def kernel(a, w=None):
        """Import several things."""
        import math

        import numpy as np
        import numpy.linalg as la
        from numpy import cumsum as added
        from spmdvm import foreach

        n = len(a)
        import os.path  # noqa: F401

        out = np.zeros(n)
        for i in foreach(n):
            out[i] = math.sqrt(a[i]) * (1 if w is None else w)

        def length(x):
            return la.norm(x) + math.pi

        return out, added(a), length(a)

    for args, scale in (((A,), 1), ((A, 3.0), 3)):
        out, added, length = kernel(*args)
        assert (out == numpy.sqrt(A) * scale).all() and (added == A.cumsum()).all()
        assert numpy.isclose(length, numpy.linalg.norm(A) + numpy.pi)


def powers(x):
    from numpy import float32, sqrt

    return sqrt(x) + float32(1)


@EVERY_WAY
def test_an_elementwise_kernel_imports(options):
    @spmdvm.kernel(**options)
    def kernel(x):
        import math as m

        return m.floor(powers(x)) if x > 0 else m.pi

    assert kernel(numpy.array([4.0, -1.0])).tolist() == [3, numpy.pi]


def test_what_is_imported_hides_what_is_outside():
    np = 7

    @spmdvm.kernel
    def kernel(x):
        import numpy as np

        return np.sin(x)

    assert kernel(0.5) == numpy.sin(0.5) and np == 7


def test_kernels_that_import_go_by_value():
    def made():
        @spmdvm.kernel
        def kernel(a):
            import numpy as np

            return np.sum(np.diff(a) ** 2)

        return kernel

    assert pickle.loads(pickle.dumps(made()))(A) == 5


def in_a_branch(a):
    if len(a) > 2:
        import math
    return math.pi


def in_a_function(a):
    def length(x):
        import math

        return math.sqrt(x)

    return length(a[0])


def of_nothing(a):
    import no_such_module_anywhere  # noqa: F401

    return a


def of_nothing_in_a_module(a):
    from math import no_such_function  # noqa: F401

    return a


def of_a_variable(a):
    import math

    math = len(a)  # noqa: F811
    return math


def of_a_parameter(a):
    import math as a

    return a.pi


def too_late(a):
    x = mathematics.pi  # noqa: F821
    import math as mathematics

    return x + mathematics.e + a[0]


@pytest.mark.parametrize(("function", "message", "line"), [
    (in_a_branch, "`import` stands among the kernel's own statements", 2),
    (in_a_function, "`import` stands among the kernel's own statements", 2),
    (of_nothing, "`import no_such_module_anywhere` finds nothing", 1),
    (of_nothing_in_a_module, "`from math import no_such_function` finds nothing", 1),
    (of_a_variable, "`math` is imported, and something else in another place", 1),
    (of_a_parameter, "`a` is imported, and something else in another place", 1),
    (too_late, "`mathematics` is imported further down", 1),
])  # fmt: skip
def test_what_is_wrong_with_an_import(function, message, line):
    with pytest.raises(spmdvm.CompileError, match=message) as caught:
        spmdvm.kernel(function)(A)
    assert caught.value.diagnostics[0].line == function.__code__.co_firstlineno + line
