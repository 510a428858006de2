# ruff: noqa: B007, B023
"""Lambdas are kernels, and functions of combinators: found in their files, and compiled once."""

import importlib
import linecache
import math
import os
import pickle
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
import spmdvm

A = np.arange(6.0)
FACTOR = 2


def test_lambdas_are_kernels():
    square = spmdvm.kernel(lambda x: x * x + 1)
    np.testing.assert_array_equal(square(A), A * A + 1)
    assert square.__name__ == "<lambda>" and square.is_elementwise
    assert "x * x" in square.spmd_source
    assert spmdvm.kernel(width=8)(lambda x: x)(A).tolist() == A.tolist()
    total = spmdvm.kernel(lambda a: np.sum(a) + a[0])
    assert total(A + 1) == 22
    pair = spmdvm.kernel(
        lambda x, y=10: (  # in several lines
            x + y,
            x - y,
        )
    )
    for given in ((A,), (A, 3)):
        np.testing.assert_array_equal(pair(*given), pair.__wrapped__(*given))


def test_combinators_take_lambdas():
    assert spmdvm.map(lambda x, y: x * y, A, A).tolist() == (A * A).tolist()
    assert spmdvm.reduce(lambda a, b: max(a, b), A, neutral=-np.inf, map=lambda x: -x) == 0
    assert spmdvm.scan(lambda a, b: a + b, A, neutral=0).tolist() == np.cumsum(A).tolist()
    assert spmdvm.filter(lambda x: x % 2 == 0, A).tolist() == [0, 2, 4]
    bins = spmdvm.reduce_by_index(np.zeros(2), lambda a, b: a + b, np.arange(6) % 2, A, neutral=0)
    assert bins.tolist() == [6, 9]
    np.testing.assert_array_equal(spmdvm.map(lambda x: math.sqrt(x), A), np.sqrt(A))


def test_vectorize_takes_functions_of_numbers():
    assert spmdvm.vectorize(lambda x: x if x < 3 else -x)(A).tolist() == [0, 1, 2, -3, -4, -5]

    def half(x):
        return x / 2

    assert spmdvm.vectorize(half, width=8)(A).tolist() == (A / 2).tolist()
    with pytest.raises(TypeError, match=r"a function of numbers, and `<lambda>` goes through arrays itself; .*kernel"):
        spmdvm.vectorize(lambda a: a[0])
    with pytest.raises(TypeError, match="an expression as a string, or a function, not int"):
        spmdvm.vectorize(3)


def test_kernels_call_lambdas_from_outside():
    square = lambda v: v * v  # noqa: E731

    @spmdvm.kernel
    def caller(x):
        return square(x) + 1

    assert caller(A).tolist() == (A * A + 1).tolist()


# fmt: off
SEVERAL = [lambda x: x + 1, lambda x: x - 1, lambda x: -x if x > 2 else x, lambda x: 1 + 2, lambda x: .5]
NESTED = lambda: [spmdvm.map(f, A).tolist() for f in (lambda x: x * 10, lambda x: x * 11)]  # noqa: E731
# fmt: on


def test_several_lambdas_in_a_line():
    for function in SEVERAL:
        got = spmdvm.map(function, A)
        np.testing.assert_array_equal(got, [function(x) for x in A])
    assert spmdvm.map(SEVERAL[3], A).dtype == np.int64 and spmdvm.map(SEVERAL[4], A).dtype == np.float64
    assert NESTED() == [(A * 10).tolist(), (A * 11).tolist()]


def run(program, folder, *options, **environment):
    script = folder / "script.py"
    script.write_text(textwrap.dedent(program), encoding="utf-8")
    path = os.pathsep.join(sys.path)
    return subprocess.run(
        [sys.executable, *options, str(script)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path, **environment},
        check=False,
    )


def test_lambdas_are_told_apart_without_positions(tmp_path):
    program = """
        import numpy as np, spmdvm
        fs = [lambda x: x + 1, lambda x: x - 1, lambda x: 1, lambda x: True, lambda x: 1.0, lambda y: y + 1]
        a = np.arange(3)
        outer = lambda: spmdvm.map(lambda x: x * 10, a); print([spmdvm.map(f, a) for f in fs], outer())
    """
    ran = run(program, tmp_path, PYTHONNODEBUGRANGES="1")
    assert ran.returncode == 0, ran.stderr
    want = "[array([1, 2, 3]), array([-1,  0,  1]), array([1, 1, 1]), array([ True,  True,  True]), "
    assert ran.stdout == want + "array([1., 1., 1.]), array([1, 2, 3])] [ 0 10 20]\n"


def test_one_kernel_for_lambdas_that_are_the_same():
    found = {id(spmdvm.kernel(lambda x: x * n)) for n in (1, 2, 3) for _ in range(4)}
    assert len(found) == 3
    # Equal numbers of other types are others.
    made = [spmdvm.kernel(lambda x: x * n) for n in (1, 1.0, True, np.float32(1), np.int8(1), 1)]
    assert len(set(map(id, made))) == 5 and made[0] is made[5]
    assert [kernel(np.ones(1, np.int8)).dtype.name for kernel in made[:4]] == ["int8", "float64", "int8", "float32"]
    widths = [spmdvm.kernel(lambda x: x, width=width) for width in (4, 8, 4)]
    assert len(set(map(id, widths))) == 2
    # What cannot be compared is not taken for the same.
    assert spmdvm.kernel(lambda x: x, defines={})(A).tolist() == A.tolist()


def test_lambdas_have_the_values_of_now():
    results = []
    for n in (1, 2):
        results.append(spmdvm.map(lambda x: x * n, A).tolist())
    assert results == [A.tolist(), (2 * A).tolist()]
    assert [spmdvm.map(lambda x, k=k: x * k, A)[1] for k in (1, 2.5)] == [1, 2.5]
    table, results = np.array([1.0, 2.0]), []
    for first in (1, 5):
        table[0] = first
        results.append(spmdvm.map(lambda x: table[0] + x, A)[0])
    assert results == [1, 5]


def test_lambdas_keep_the_values_that_are_there_when_they_become_kernels():
    kernels = [spmdvm.kernel(lambda x: x * i) for i in range(3)]
    assert [kernel(1) for kernel in kernels] == [0, 1, 2]

    def times(x):
        return x * factor

    kernel, factor = spmdvm.kernel(times), 5
    assert kernel(1) == 5


def test_values_of_modules_are_those_of_now():
    global FACTOR
    try:
        results = []
        for FACTOR in (3, 4):
            results.append(spmdvm.map(lambda x: x * FACTOR, A)[1])
            results.append(spmdvm.map(of_module, A)[1])
        assert results == [3, 3, 4, 4]
    finally:
        FACTOR = 2


def of_module(x):
    return x * FACTOR


def test_values_stay_those_of_the_first_call():
    n = 2
    kernel = spmdvm.kernel(lambda x: x * n)
    assert kernel(A)[1] == 2
    n = 3
    # For other types it is compiled anew.
    assert kernel(np.arange(3))[1] == 2
    assert pickle.loads(pickle.dumps(kernel))(A)[1] == 2
    assert spmdvm.kernel(lambda x: x * n)(A)[1] == 3


def by_helper(x):
    return scaled(x) + scaled(x)


def scaled(x):
    return x * FACTOR + settings.shift


settings = types.SimpleNamespace(shift=0)


def test_values_that_helpers_and_objects_have_are_those_of_now():
    global FACTOR
    by_module = lambda x: x * changing.factor + changing.half(x)  # noqa: E731
    changing = types.ModuleType("changing")
    changing.half = lambda x: x * FACTOR / 2
    try:
        results = []
        # Also for types that come later, when the values have been others before.
        for FACTOR, settings.shift, changing.factor, numbers in ((3, 0, 1, A), (4, 1, 2, A), (3, 0, 1, np.arange(2))):
            results.append((spmdvm.map(by_helper, numbers)[1], spmdvm.map(by_module, numbers)[1]))
        assert results == [(6, 2.5), (10, 4), (6, 2.5)]
        kernel = spmdvm.kernel(lambda x: by_helper(x) + changing.factor)
        assert kernel(A)[1] == 7
        FACTOR, settings.shift, changing.factor = 10, 10, 10
        # A kernel has those of its first call.
        assert kernel(np.arange(2))[1] == 7
        assert spmdvm.kernel(lambda x: by_helper(x) + changing.factor)(A)[1] == 50
        assert spmdvm.map(counts_down, A).tolist() == [0, 1, 3, 6, 10, 15]
    finally:
        FACTOR, settings.shift = 2, 0


def counts_down(n):
    return 0.0 if n <= 0 else n + counts_down(n - 1)


def test_lambdas_pickle_by_value():
    k, helper = 3, lambda v: v + 1
    kernel = spmdvm.kernel(
        lambda x, y=2: helper(x)
        * y + k)  # fmt: skip
    again = pickle.loads(pickle.dumps(kernel))
    assert again is not kernel
    assert again(A).tolist() == kernel(A).tolist() == ((A + 1) * 2 + 3).tolist()
    assert again.spmd_source == kernel.spmd_source


def test_errors_are_at_the_lambda():
    with pytest.raises(spmdvm.CompileError) as caught:
        "éé"; spmdvm.map(lambda é: (é +  # noqa: E702
           é.foo), A)  # fmt: skip
    (found,) = caught.value.diagnostics
    assert found.message == "`é` is a number and has no `foo`"
    assert (found.column, found.end_column) == (12, 17)
    with open(__file__, encoding="utf-8") as file:
        assert file.read().splitlines()[found.line - 1] == "           é.foo), A)  # fmt: skip"
    with pytest.raises(TypeError, match=r"a fixed number of parameters, and the kernel `<lambda>` has `\*x`"):
        spmdvm.map(lambda *x: x, A)
    with pytest.raises(TypeError, match="`f` must take one number, and the kernel `<lambda>` has 2 parameters"):
        spmdvm.map(lambda x, y: x, A)
    with pytest.raises(TypeError, match="`f`: the default of `y` of the kernel `<lambda>` is no number"):
        spmdvm.map(lambda x, y=(1, 2): x, A)


def test_lambdas_without_a_text():
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.map(eval("lambda x: x"), A)
    assert str(caught.value) == (
        "the text of the lambda in line 1 of <string> cannot be read, and kernels are compiled from it: Python keeps "
        "no text of what is given to `-c`, to `exec` or by standard input, nor before 3.13 of what is typed at its "
        "prompt\n"
        '  help: write it in a file or in a cell of a notebook, or as an expression: `spmdvm.vectorize("x * x")`'
    )
    # Python 3.13 keeps what is typed.
    typed = "import spmdvm, numpy as np\nprint(spmdvm.map(lambda x: x * x, np.arange(3)))\n"
    ran = subprocess.run([sys.executable, "-i"], input=typed, capture_output=True, text=True, timeout=300, check=False)
    if sys.version_info >= (3, 13):
        assert "[0 1 4]" in ran.stdout
    else:
        assert "line 1 of <stdin> cannot be read" in ran.stderr


def test_files_that_have_changed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "changing_lambdas.py"
    file.write_text("f = lambda x: x + 1\ng = lambda x: x + 1\n")
    module = importlib.import_module("changing_lambdas")
    file.write_text("f = 3\ng = lambda y: y + 1\n")
    os.utime(file, (0, 0))
    for function in (module.f, module.g):
        with pytest.raises(spmdvm.CompileError, match=r"does not have the lambda any more .* has changed"):
            spmdvm.kernel(function)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f = lambda x: x + 1", "f = lambda x: x + 2"),
        ("f = lambda x: x + 1", "f = lambda x: x - 1"),
        ("def f(x):\n    return x + 1", "def f(x):\n    return x + 2"),
        ("def f(x):\n    return max(x, 1)", "def f(x):\n    return min(x, 1)"),
        ("def f(x):\n    return x + 1", "def g(x):\n    return x + 2\n\ndef f(x):\n    return x + 1"),
        ("def f(x):\n    return x + 1", "def g(x:"),
        ("def f(x):\n    return x + 1", "f = 3"),
        ("def f(x):\n    g = lambda v: v + 1\n    return g(x)", "def f(x):\n    g = lambda v: v + 2\n    return g(x)"),
    ],
)
def test_functions_whose_text_has_changed(before, after, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    name = f"changed_{abs(hash((before, after)))}"
    file = tmp_path / f"{name}.py"
    file.write_text(before + "\n")
    module = importlib.import_module(name)
    file.write_text(after + "\n")
    os.utime(file, (0, 0))
    for use in (lambda: spmdvm.kernel(module.f), lambda: spmdvm.map(module.f, A)):
        with pytest.raises(spmdvm.CompileError, match=r"does not have .* any more .* has changed"):
            use()
    if "return" in after or "lambda" in after:
        # Imported anew it is another function.
        linecache.clearcache()
        importlib.invalidate_caches()
        again = importlib.reload(module)
        np.testing.assert_array_equal(spmdvm.map(again.f, A), [again.f(x) for x in A])


def test_texts_that_are_compiled_to_other_code_have_not_changed():
    """Private names in classes, closures, and what pytest makes of `assert`."""

    class Holder:
        @staticmethod
        def method(x):
            __private = x + FACTOR
            assert __private >= 2, "told"
            return __private * n

    n = 3

    def closure(x):
        assert x < 100
        return x + n + FACTOR

    for function in (Holder.method, closure):
        np.testing.assert_array_equal(spmdvm.map(function, A), [function(x) for x in A])


def test_annotations_that_change_are_others(tmp_path):
    script = """
        import importlib, linecache, numpy as np, spmdvm, sys, time
        sys.path.insert(0, sys.argv[0].rsplit("/", 1)[0])
        sys.dont_write_bytecode = True
        from pathlib import Path
        file = Path(sys.argv[0]).with_name("annotated.py")
        got = []
        for ty in ("np.float32", "np.float64", "np.float32"):
            for text in (f"y: {ty} = x\\n    return y / 3", f"g = lambda v: v / 3\\n    z: {ty} = g(x)\\n    return z"):
                file.write_text(f"import numpy as np\\ndef f(x):\\n    {text}\\n")
                linecache.clearcache()
                importlib.invalidate_caches()
                known = sys.modules.get("annotated")
                module = importlib.reload(known) if known else importlib.import_module("annotated")
                got.append(str(spmdvm.map(module.f, np.arange(2)).dtype))
        print(got)
    """
    ran = run(script, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(["float32"] * 2 + ["float64"] * 2 + ["float32"] * 2)


def test_lambdas_in_notebooks():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        shell.run_cell("import numpy as np, spmdvm; n = 2")
        cell = "first, second = [spmdvm.map(f, np.arange(3)) for f in (lambda x: x * n, lambda x: x + n)]"
        assert shell.run_cell(cell).success
        assert shell.user_ns["first"].tolist() == [0, 2, 4] and shell.user_ns["second"].tolist() == [2, 3, 4]
        shell.run_cell("n = 5")
        assert shell.run_cell(cell).success
        assert shell.user_ns["first"].tolist() == [0, 5, 10]
    finally:
        InteractiveShell.clear_instance()
