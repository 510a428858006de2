"""Programs of several sources."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import spmdvm

MAIN = """
extern float half(float x);
extern uniform int calls;
export void halve(uniform float x[], uniform int n) {
    foreach (i = 0 ... n) x[i] = half(x[i]);
}
export float quarter(float x) { return half(half(x)); }
export uniform int called() { return calls; }
"""
HALF = """
static uniform float factor = 0.5f;
uniform int calls = 0;
float half(float x) { ++calls; return factor * x; }
"""


def halves(module: spmdvm.Module) -> None:
    x = np.arange(40, dtype=np.float32)
    module.halve(x, len(x))
    assert (x == np.arange(40) / 2).all()
    assert module.called() == 3
    assert (module.quarter(x) == np.arange(40) / 8).all()
    assert module.globals["calls"] == 9


@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_texts(engine: str) -> None:
    module = spmdvm.compile([MAIN, HALF], engine=engine)
    assert module.exports == ("halve", "quarter", "called")
    assert (module.name, module.source) == ("<string 1>", MAIN)
    halves(module)
    halves(spmdvm.compile((("main.ispc", MAIN), ("half.ispc", HALF)), engine=engine))
    assert spmdvm.compile([("main.ispc", "export uniform int f() { return 7; }")]).f() == 7


def test_files(tmp_path: Path) -> None:
    header = "extern float half(float x);\nextern uniform int calls;\n"
    (tmp_path / "lib").mkdir()
    (tmp_path / "half.isph").write_text(header)
    main, half = tmp_path / "main.ispc", tmp_path / "lib" / "half.ispc"
    main.write_text(MAIN.replace(header, '#include "half.isph"\n'))
    half.write_text(HALF)
    halves(spmdvm.compile_file(main, sources=[half]))
    halves(spmdvm.compile_file(str(main), sources=(str(half) for _ in range(1))))
    module = spmdvm.compile([main, HALF])
    assert module.name == str(main)
    halves(module)
    # A change of one file is seen.
    half.write_text(HALF.replace("0.5f", "0.25f"))
    assert spmdvm.compile_file(main, sources=[half]).quarter(16.0) == 1
    (tmp_path / "half.isph").write_text(header.replace("float half", "double half"))
    with pytest.raises(spmdvm.LinkError, match="E0301"):
        spmdvm.compile_file(main, sources=[half])


def test_a_linked_module_pickles(tmp_path: Path) -> None:
    (tmp_path / "k.isph").write_text("#define K 3\n")
    other = tmp_path / "other.ispc"
    other.write_text('#include "k.isph"\nuniform int k() { return K; }\n')
    module = spmdvm.compile(["extern uniform int k(); export uniform int f() { return k(); }", other], width=4)
    again = pickle.loads(pickle.dumps(module))
    assert (again.f(), again.width, again.name) == (3, 4, "<string 1>")


def test_what_is_missing_is_told_at_the_call() -> None:
    source = "extern uniform int g(uniform int x); export uniform int f() { return g(1); }"
    source += "export uniform int h() { return 2; }"
    for module in (spmdvm.compile(source), spmdvm.compile([source])):
        assert module.h() == 2
        with pytest.raises(spmdvm.LinkError, match="`g` is declared but defined nowhere") as caught:
            module.f()
        (missing,) = caught.value.diagnostics
        assert (missing.code, missing.line, missing.column) == ("E0233", 1, source.index("g(1)") + 1)
        assert "sources=" in missing.help
    mapped = spmdvm.compile("extern float g(float x); export float f(float x) { return g(x); }")
    with pytest.raises(spmdvm.LinkError, match="`g`"):
        mapped.f(np.ones(3, dtype=np.float32))
    assert issubclass(spmdvm.LinkError, spmdvm.CompileError)


def test_errors_show_both_places() -> None:
    with pytest.raises(spmdvm.LinkError, match="`f` is defined in two files") as caught:
        spmdvm.compile([("a.ispc", "void f() { }"), ("b.ispc", "\nvoid f() { }")])
    (twice,) = caught.value.diagnostics
    assert twice.code == "E0300"
    assert [(label.file, label.line) for label in twice.labels] == [("b.ispc", 2), ("a.ispc", 1)]
    with pytest.raises(spmdvm.CompileError) as wrong:
        spmdvm.compile([("a.ispc", "int f() { return x; }"), ("b.ispc", "int g() { return y; }")])
    assert not isinstance(wrong.value, spmdvm.LinkError)
    assert [d.file for d in wrong.value.diagnostics] == ["a.ispc", "b.ispc"]


def test_warnings_name_their_files() -> None:
    with pytest.warns(spmdvm.CompileWarning, match="never used"):
        module = spmdvm.compile([("a.ispc", ""), ("b.ispc", "\nint g() { int y; return 1; }")])
    assert [(w.file, w.line) for w in module.warnings] == [("b.ispc", 2)]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="no source in the list"):
        spmdvm.compile([])
    with pytest.raises(TypeError, match="source 2 must be a text, a path, or a tuple of name and text, not"):
        spmdvm.compile(["", 3])
    with pytest.raises(TypeError, match="source 1 must be"):
        spmdvm.compile([("a", "b", "c")])
    with pytest.raises(ValueError, match="looks like the path"):
        spmdvm.compile(["a.ispc"])
    with pytest.raises(FileNotFoundError, match=r"b\.ispc"):
        spmdvm.compile([Path("b.ispc")])


def test_wrong_sources(tmp_path: Path) -> None:
    main = tmp_path / "main.ispc"
    main.write_text(MAIN)
    for wrong in ("half.ispc", Path("half.ispc"), 3):
        with pytest.raises(TypeError, match="sources must be a list of paths"):
            spmdvm.compile_file(main, sources=wrong)
    with pytest.raises(TypeError, match="sources: each must be a path, not 3"):
        spmdvm.compile_file(main, sources=[3])
    with pytest.raises(FileNotFoundError, match=r"missing\.ispc"):
        spmdvm.compile_file(main, sources=["missing.ispc"])
