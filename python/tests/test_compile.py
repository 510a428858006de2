"""spmdvm.compile and modules."""

from __future__ import annotations

import inspect
import pickle
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
import spmdvm

WIDTH = "export uniform int lanes() { return programCount; }\n"


def test_hints_come_when_asked_for() -> None:
    source = "export void f(uniform int a[], uniform int n) { foreach (i = 0 ... n) a[a[i]] = i; }"
    assert spmdvm.compile(source).warnings == []
    with pytest.warns(spmdvm.CompileWarning, match="W0901"):
        (hint,) = spmdvm.compile(source, hints=True).warnings
    assert (hint.code, hint.severity) == ("W0901", "warning")


def test_texts_and_files(tmp_path: Path) -> None:
    file = tmp_path / "w.ispc"
    file.write_text(WIDTH)
    for module in (spmdvm.compile(file), spmdvm.compile_file(file), spmdvm.compile_file(str(file))):
        assert module.lanes() == 16
        assert module.name == str(file)
        assert module.source == WIDTH
    assert spmdvm.compile(WIDTH).name == "<string>"
    assert spmdvm.compile_file(file, width=4, sources=()).lanes() == 4


def test_a_string_is_never_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("password: 1234\n")
    (tmp_path / "secret.ispc").write_text("password: 1234\n")
    for name, error in (("secret", spmdvm.CompileError), ("secret.ispc", ValueError)):
        with pytest.raises(error) as caught:
            spmdvm.compile(name)
        assert "password" not in str(caught.value)
    with pytest.raises(ValueError, match=r"looks like the path of a file; use spmdvm\.compile_file"):
        spmdvm.compile("secret.ispc")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing\.ispc") as caught:
        spmdvm.compile_file("missing.ispc")
    assert caught.value.filename == "missing.ispc"
    with pytest.raises(FileNotFoundError):
        spmdvm.compile(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        spmdvm.compile_file(tmp_path)
    with pytest.raises(ValueError, match="several lines"):
        spmdvm.compile_file(WIDTH + WIDTH)


WARNS = "export void f(uniform int a[], uniform int n) {\n    if (a[0] = n) a[1] = 1;\n}\n"


def test_warnings_can_be_left_out() -> None:
    source = "export uniform int f(uniform int x) { if (x = 3) return 1; return 2; }"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module = spmdvm.compile(source, no_warn=["W0212"])
        assert module.warnings == [] and pickle.loads(pickle.dumps(module)).warnings == []
    for wrong, message in [
        ("W0212", "no_warn must be a list of codes of warnings"),
        ([3], "no_warn: each must be a code such as"),
        (["W9999"], "no_warn: each must be the code of a warning, not 'W9999'"),
        (["E0001"], "no_warn: each must be the code of a warning, not 'E0001'"),
    ]:
        with pytest.raises((TypeError, ValueError)) as caught:
            spmdvm.compile(source, no_warn=wrong)
        assert message in str(caught.value)


def test_warnings_are_pythons(tmp_path: Path) -> None:
    def compile_it() -> None:
        spmdvm.compile(WARNS)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        compile_it()
        compile_it()
    (warning,) = caught
    assert warning.category is spmdvm.CompileWarning
    assert "<string>:2" in str(warning.message) and "W0212" in str(warning.message)
    assert warning.filename == __file__
    file = tmp_path / "w.ispc"
    file.write_text(WARNS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            assert len(spmdvm.compile_file(file).warnings) == 1
    (warning,) = caught
    assert (warning.filename, warning.lineno) == (str(file), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", spmdvm.CompileWarning)
        with pytest.raises(spmdvm.CompileWarning):
            spmdvm.compile(WARNS)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32, 64])
def test_width(width: int) -> None:
    module = spmdvm.compile(WIDTH, width=width)
    assert module.width == width
    assert module.lanes() == width


def test_native_width() -> None:
    assert spmdvm.compile(WIDTH, width="native").width in (4, 8, 16)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 3}, "width must be 1, 2, 4"),
        ({"width": "wide"}, "width must be 1, 2, 4"),
        ({"engine": "warp"}, "engine must be .*, not 'warp'"),
        ({"fp": "sloppy"}, "fp must be .*, not 'sloppy'"),
        ({"check": "rase"}, "check: there is no check `rase`; there are default, all, uninitialised"),
        ({"timeout": -1.0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
    ],
)
def test_bad_options(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spmdvm.compile(WIDTH, **options)


def test_options_are_keywords() -> None:
    with pytest.raises(TypeError):
        spmdvm.compile(WIDTH, 8)
    with pytest.raises(TypeError, match="list of paths"):
        spmdvm.compile(WIDTH, include_paths="folder")


def test_defines() -> None:
    source = "export uniform int f() { return N; }\n#ifdef FLAG\nexport void g() { }\n#endif\n"
    module = spmdvm.compile(source, defines={"N": 7, "FLAG": None})
    assert module.f() == 7
    assert "g" in module
    assert spmdvm.compile(source, defines={"N": True}).f() == 1


def test_include_paths(tmp_path: Path) -> None:
    (tmp_path / "seven.isph").write_text("#define SEVEN 7\n")
    source = '#include "seven.isph"\nexport uniform int f() { return SEVEN; }\n'
    assert spmdvm.compile(source, include_paths=[tmp_path]).f() == 7
    with pytest.raises(spmdvm.CompileError, match="seven"):
        spmdvm.compile(source)
    file = tmp_path / "main.ispc"
    file.write_text(source)
    assert spmdvm.compile_file(file).f() == 7


def test_sandboxed_includes(tmp_path: Path) -> None:
    (tmp_path / "seven.isph").write_text("#define SEVEN 7\n")
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "main.ispc"
    source = '#include "../seven.isph"\nexport uniform int f() { return SEVEN; }\n'
    file.write_text(source)
    module = spmdvm.compile_file(file)
    assert module.f() == 7
    assert pickle.loads(pickle.dumps(module)).f() == 7
    with pytest.raises(spmdvm.CompileError, match="E0013"):
        spmdvm.compile_file(file, sandbox_includes=True)
    with pytest.raises(spmdvm.CompileError, match="E0013"):
        spmdvm.compile(source, include_paths=[tmp_path / "sub"])
    free = spmdvm.compile(source, include_paths=[tmp_path / "sub"], sandbox_includes=False)
    assert free.f() == 7


def test_compile_error() -> None:
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.compile("export void f(uniform float x[]) {\n    x[0] = nonsense;\n}\n")
    error = caught.value
    assert isinstance(error, spmdvm.SpmdError)
    assert "nonsense" in str(error)
    assert "<string>" in str(error)
    (diagnostic,) = error.diagnostics
    assert diagnostic.severity == "error"
    assert diagnostic.code.startswith("E")
    assert "nonsense" in diagnostic.message
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == ("<string>", 2, 12)
    assert (diagnostic.end_line, diagnostic.end_column) == (2, 20)
    assert diagnostic.labels[0].line == 2
    assert isinstance(diagnostic.notes, tuple)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert again.diagnostics == error.diagnostics


def test_all_errors_are_reported() -> None:
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.compile("void f() { uniform int a = b; }\nvoid g() { uniform int a = c; }\n")
    assert [d.line for d in caught.value.diagnostics if d.severity == "error"] == [1, 2]


def test_module_members(kernels: spmdvm.Module) -> None:
    assert kernels.exports == ("scale", "total", "copy", "nothing")
    assert set(kernels.exports) <= set(dir(kernels))
    assert "disassemble" in dir(kernels)
    assert "scale" in kernels
    assert "other" not in kernels
    assert kernels.scale is kernels.scale
    assert kernels["scale"] is kernels.scale
    assert "scale" in repr(kernels)
    with pytest.raises(AttributeError, match="did you mean `scale`"):
        kernels.scales  # noqa: B018
    with pytest.raises(KeyError):
        kernels["other"]
    assert not hasattr(kernels, "unknown")
    assert kernels.warnings == []
    assert "scale" in kernels.disassemble()
    stats = kernels.stats()
    assert (stats["width"], stats["traces"], stats["loops"]) == (16, 0, [])
    assert stats["engine"] in ("x86", "clif", "interp")


def test_a_function_named_as_a_member() -> None:
    module = spmdvm.compile("export uniform int width() { return 5; }\n")
    assert module.width == 16
    assert module["width"]() == 5


def test_a_module_without_exports() -> None:
    module = spmdvm.compile("void f() { }\n")
    assert module.exports == ()
    with pytest.raises(AttributeError, match="put `export` before a function"):
        module.f  # noqa: B018


def test_pickle(tmp_path: Path) -> None:
    (tmp_path / "seven.isph").write_text("#define SEVEN 7\n")
    file = tmp_path / "main.ispc"
    file.write_text('#include "seven.isph"\nexport uniform int f() { return SEVEN * programCount * K; }\n')
    module = spmdvm.compile_file(file, width=8, defines={"K": 3}, fuel=1000)
    again = pickle.loads(pickle.dumps(module))
    assert again.f() == 7 * 8 * 3
    assert (again.width, again.name, again.source) == (8, module.name, module.source)
    assert pickle.loads(pickle.dumps(module.f))() == 7 * 8 * 3
    assert pickle.loads(pickle.dumps(again)).f() == 7 * 8 * 3


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("float lambda, float x", ["lambda_", "x"]),
        ("float out, float threads", ["out", "threads"]),
        ("float where", ["where"]),
        ("float args, float kwargs", ["args", "kwargs"]),
        ("float self, float None", ["self", "None_"]),
        ("float class, float class_", ["class_", "class__"]),
    ],
)
def test_signatures_of_any_names(parameters: str, names: list[str]) -> None:
    function = spmdvm.compile(f"export float f({parameters}) {{ return 1; }}").f
    special = ("out", "where", "threads", "progress")
    own = [name for name in inspect.signature(function).parameters if name not in special]
    assert own == [name for name in names if name not in special]
    assert set(names) <= set(inspect.signature(function).parameters)
    assert function(*[1.0] * len(names)) == 1


def test_functions_describe_themselves() -> None:
    module = spmdvm.compile(
        "/// Adds up.\n/// Twice.\nexport uniform float f(const uniform float x[], uniform int n, uniform float k = 2) "
        "{ return x[n] * k; }\n"
    )
    f = module.f
    assert f.__name__ == "f"
    assert "Adds up.\nTwice." in f.__doc__
    assert "x : C-contiguous array of float32; only read" in f.__doc__
    assert "k : float32, a number, default 2.0" in f.__doc__
    signature = inspect.signature(f)
    assert list(signature.parameters) == ["x", "n", "k"]
    assert signature.parameters["k"].default == 2.0
    assert repr(f).startswith("<spmdvm function export uniform float f(")
    x = np.arange(4, dtype=np.float32)
    assert f(x, 3) == 6
    assert f(x, n=3, k=5) == 15


def test_import_is_quick() -> None:
    """Beyond numpy's own import."""
    code = "import numpy, time; start = time.perf_counter(); import spmdvm; print(time.perf_counter() - start)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < 0.06


LOOP = """export void f(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) a[i] = a[i] * 2 + 1;
}"""


@pytest.mark.parametrize("length", [3, 21])
def test_loops_over_local_arrays_that_vectors_do_not_divide_are_compiled(length: int) -> None:
    source = f"""export void f(uniform int n, uniform int out[]) {{
        for (uniform int i = 0; i < n; ++i) {{
            uniform int a[{length}];
            foreach (j = 0 ... {length}) a[j] = i + j;
            foreach (j = 0 ... {length}) out[j] += a[j];
        }}
    }}"""
    module = spmdvm.compile(source, engine="clif", jit={"background": False})
    out = np.zeros(length, np.int32)
    module.f(4000, out)
    assert out.tolist() == [4000 * 3999 // 2 + 4000 * j for j in range(length)]
    stats = module.stats()
    assert stats["loops"] and all(loop["aborted"] is None for loop in stats["loops"])
    assert stats["native_instructions"] > stats["interpreted_instructions"]


def test_rows_of_a_local_array_that_are_shorter_than_vectors_are_compiled() -> None:
    source = """export void f(uniform int n, uniform int out[]) {
        for (uniform int i = 0; i < n; ++i) {
            uniform int a[64];
            for (uniform int row = 0; row < 4; ++row) {
                foreach (j = 0 ... 16) a[16 * row + j] = i + row;
            }
            for (uniform int row = 0; row < 4; ++row) {
                foreach (j = 0 ... 16) out[16 * row + j] += a[16 * row + j];
            }
        }
    }"""
    module = spmdvm.compile(source, width=32, engine="clif", jit={"background": False})
    out = np.zeros(64, np.int32)
    module.f(2000, out)
    assert out.tolist() == [2000 * 1999 // 2 + 2000 * (j // 16) for j in range(64)]
    stats = module.stats()
    assert stats["native_instructions"] > 10 * stats["interpreted_instructions"]


def test_statistics_of_compiled_loops() -> None:
    module = spmdvm.compile(LOOP, engine="clif")
    a = np.zeros(4000, np.float32)
    for _ in range(1000):
        module.f(a, len(a))
        if any(v["entries"] for loop in module.stats()["loops"] for v in loop["versions"]):
            break
        time.sleep(0.01)
    stats = module.stats()
    (loop,) = stats["loops"]
    assert (stats["engine"], loop["function"], loop["line"], loop["aborted"]) == ("clif", "f", 2, None)
    assert stats["traces"] >= 1 and stats["code_bytes"] > 0 and stats["compile_seconds"] > 0
    assert sum(loop["versions"][0]["exits"].values()) == loop["versions"][0]["entries"]
    assert stats["code_bytes"] <= stats["code_limit"] and stats["native_seconds"] > 0
    executed = stats["native_instructions"], stats["interpreted_instructions"]
    assert executed[0] > 0 and stats["native_share"] == executed[0] / sum(executed)
    guards = loop["versions"][0]["guards"]
    assert sum(guard["times"] for guard in guards) == loop["versions"][0]["entries"]
    assert {"why": "end of loop", "function": "f"}.items() <= guards[0].items()
    text = module.explain(ir=True)
    assert "loop in `f`" in text and "load.lanes.f32" in text
    assert "compiled in the loop at <string>:2" in module.explain(2)
    with pytest.raises(ValueError, match="line 99 has no code"):
        module.explain(line=99)


def test_statistics_of_instances_compiled_at_their_first_call() -> None:
    module = spmdvm.compile(
        "export void scale(uniform number$0 a[], uniform int n) {\n    foreach (i = 0 ... n) a[i] = a[i] * 2;\n}",
        engine="clif",
    )
    for dtype in (np.int32, np.float64):
        a = np.zeros(4000, dtype)
        for _ in range(1000):
            module.scale(a, len(a))
            lines = [loop["line"] for loop in module.stats()["loops"] if loop["versions"]]
            if len(lines) >= (1 if dtype == np.int32 else 2):
                break
            time.sleep(0.01)
    assert lines == [2, 2]


def test_engines_agree() -> None:
    a, b = np.linspace(0, 1, 1003, dtype=np.float32), np.linspace(0, 1, 1003, dtype=np.float32)
    spmdvm.compile(LOOP, engine="interp").f(a, len(a))
    spmdvm.compile(LOOP, engine="ir").f(b, len(b))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("engine", ["clif", "x86"])
def test_a_native_engine_agrees_or_says_what_it_needs(engine: str) -> None:
    a, b = np.linspace(0, 1, 1003, dtype=np.float32), np.linspace(0, 1, 1003, dtype=np.float32)
    try:
        module = spmdvm.compile(LOOP, engine=engine, jit={"hot": 1, "background": False})
    except ValueError as error:
        assert re.search(rf"`{engine}` cannot make code for this machine: .+; use `auto`", str(error))
        return
    reference = spmdvm.compile(LOOP, engine="interp")
    for _ in range(4):
        reference.f(a, len(a))
        module.f(b, len(b))
        np.testing.assert_array_equal(a, b)
    stats = module.stats()
    assert stats["engine"] == engine
    assert stats["loops"][0]["versions"]


def test_auto_takes_the_best_engine() -> None:
    def runs(engine: str) -> bool:
        try:
            spmdvm.compile(LOOP, engine=engine)
        except ValueError:
            return False
        return True

    best = next(engine for engine in ("x86", "clif", "interp") if runs(engine))
    assert spmdvm.compile(LOOP).stats()["engine"] == best


POLYMORPHIC = """export void scale(uniform number$0 a[], uniform number$0 by, uniform int n) {
    foreach (i = 0 ... n) a[i] = a[i] * by;
}"""


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.float32, np.float64])
def test_polymorphic_functions_are_compiled_for_the_dtypes_used(dtype: type) -> None:
    module = spmdvm.compile(POLYMORPHIC)
    a = np.arange(5, dtype=dtype)
    module.scale(a, 3, 5)
    np.testing.assert_array_equal(a, np.arange(5, dtype=dtype) * 3)


def test_an_instance_that_is_wrong_raises_when_it_is_called() -> None:
    module = spmdvm.compile("export void f(uniform number$0 a[]) { a[0] = a[0] % 2; }")
    a = np.array([5], np.int32)
    module.f(a)
    assert a[0] == 1
    with pytest.raises(spmdvm.CompileError, match="%"):
        module.f(np.array([5], np.float32))


def test_settings_of_the_jit() -> None:
    source = "export void f(uniform int a[], uniform int n) { foreach (i = 0 ... n) a[i] += i / 3; }"
    module = spmdvm.compile(source, engine="clif", jit={"hot": 1, "background": False, "one_lane": "off"})
    a = np.zeros(1000, np.int32)
    for _ in range(3):
        module.f(a, 1000)
    np.testing.assert_array_equal(a, np.arange(1000, dtype=np.int32) // 3 * 3)
    assert module.stats()["loops"][0]["versions"]
    again = pickle.loads(pickle.dumps(module))
    for _ in range(2):
        again.f(a, 1000)
    assert again.stats()["loops"][0]["versions"], "settings are pickled too: 126 rounds are enough"
    with pytest.raises(ValueError, match="no JIT setting `warm`; there are `hot`"):
        spmdvm.compile(source, jit={"warm": 1})
    with pytest.raises(ValueError, match="`hot` takes a number from 0 up, not `often`"):
        spmdvm.compile(source, jit={"hot": "often"})
    with pytest.raises(TypeError, match="jit: names must be strings"):
        spmdvm.compile(source, jit={1: 1})  # type: ignore[dict-item]
