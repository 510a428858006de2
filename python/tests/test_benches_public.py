"""The benchmark of public programs: its table is whole, and it does what it says with programs of our own."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHES = Path(__file__).parents[2] / "benches"


def load(name: str) -> ModuleType:
    """Import a file of the benchmarks under its own name, by which they import each other."""
    spec = importlib.util.spec_from_file_location(name, BENCHES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


kernels = load("ispc_kernels")
load("ispc")
table = load("public_programs")
for _name in ("public_examples", "public_pictures", "public_numbers"):
    load(_name)
public = load("public")
PROGRAMS = dict(table.PROGRAMS)

needs_ispc = pytest.mark.skipif(
    shutil.which("ispc") is None or shutil.which("cc") is None, reason="needs the compiler ispc, and cc, on the PATH"
)

PICTURE = """
struct Picture { uint8 *pixels; int n; };
export uniform int invert(uniform Picture picture[], uniform uint8 to[]) {
    uniform int n = picture->n;
    foreach (i = 0 ... n) to[i] = 255 - picture->pixels[i];
    return n;
}
"""
ROWS = """
uniform float factor;
export void set_factor(uniform float f) { factor = f; }
task void scale(uniform float *uniform rows[], uniform int n) {
    foreach (i = 0 ... n) rows[taskIndex][i] *= factor;
}
export void scale_rows(uniform float *uniform rows[], uniform int count, uniform int n) {
    launch[count] scale(rows, n);
}
"""


def own(name: str, make, *outputs: str, **options):
    """Describe a program of a repository of our own."""
    before = set(table.PROGRAMS)
    make.__name__ = name
    table.program("own/programs", f"{name}.ispc", name, *outputs, small={"n": 37}, **options)(make)
    (new,) = set(table.PROGRAMS) - before
    return table.PROGRAMS.pop(new)


def make_invert(rng, n: int = 1000):
    record = np.zeros(1, np.dtype([("pixels", np.uint64), ("n", np.int32)], align=True))
    record["n"] = n
    return {"picture": record, "to": np.zeros(n, np.uint8), "pixels": kernels.bytes_(rng, n)}


def make_scale_rows(rng, n: int = 1000):
    rows = kernels.floats(rng, 1, 2, 5, n)
    return {"addresses": np.zeros(5, np.uint64), "count": np.int32(5), "n": np.int32(n), "rows": rows}


invert = own("invert", make_invert, "to", links={"picture.pixels": "pixels"}, returns=np.int32)
scale_rows = own(
    "scale_rows",
    make_scale_rows,
    "rows",
    links={"addresses": "rows"},
    prepare=lambda call, given: call("set_factor", np.float32(3)),
)


@pytest.fixture
def copies(tmp_path: Path):
    folder = tmp_path / "own" / "programs"
    folder.mkdir(parents=True)
    (folder / "invert.ispc").write_text(PICTURE)
    (folder / "scale_rows.ispc").write_text(ROWS)
    return public.Copies(tmp_path, None, 4)


def test_the_table_is_whole() -> None:
    assert len(PROGRAMS) >= 40
    assert len({program.repository for program in PROGRAMS.values()}) >= 12
    for name, program in PROGRAMS.items():
        assert program.repository.count("/") == 1
        assert program.file.endswith(".ispc")
        arguments = program.kernel.arguments(small=True)
        written = {*program.kernel.outputs, *program.kernel.scratch}
        linked = {link.partition(".")[0] for link in program.links} | set(program.links.values())
        assert written | linked <= set(arguments), name
        assert program.kernel.outputs or program.kernel.returns is not None
        assert {type(value) for value in arguments.values()} <= {np.ndarray} | set(np.sctypeDict.values()), name


@pytest.mark.parametrize("program", [invert, scale_rows], ids=lambda program: program.name)
def test_engines_agree(program, copies) -> None:
    public.agree(program, copies)


def test_what_is_not_done_is_noticed(copies, tmp_path: Path) -> None:
    (tmp_path / "own" / "programs" / "invert.ispc").write_text(PICTURE.replace("to[i] =", "int unused ="))
    with pytest.raises(RuntimeError, match="to is as it was before"):
        public.agree(invert, copies)


def test_addresses_are_stored(copies) -> None:
    contender = public.of_ours(scale_rows, copies.module(scale_rows))
    before = contender.arguments["rows"].copy()
    contender.run()
    assert (contender.arguments["rows"] == before * 3).all()
    contender = public.of_ours(invert, copies.module(invert))
    contender.run()
    assert (contender.arguments["to"] == 255 - contender.arguments["pixels"]).all()


def test_numbers_are_the_same_if_their_bits_are() -> None:
    a = np.array([1, np.nan, 0], np.float32)
    assert public.same(a, a.copy())
    assert public.same(a, np.array([1, -np.nan, 0], np.float32))
    assert not public.same(a, np.array([1, np.nan, -0.0], np.float32))
    assert not public.same(np.array([1, 2]), np.array([1, 3]))


def script(*words: str) -> subprocess.CompletedProcess:
    """Run the benchmark."""
    return subprocess.run([sys.executable, BENCHES / "public.py", *words], capture_output=True, text=True)


def test_without_copies_it_says_what_it_needs(tmp_path: Path) -> None:
    for words in ((), ("--copies", str(tmp_path / "nothing"))):
        done = script(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--copies names a folder" in done.stderr


def test_the_list() -> None:
    done = script("--list")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(PROGRAMS)


@needs_ispc
def test_ispc_agrees(copies, tmp_path: Path) -> None:
    compiler = sys.modules["ispc"].Compiler(None, None, 4, ["-O2"])
    for program in (invert, scale_rows):
        theirs = public.of_ispc(program, public.Copies(copies.folder, compiler, 4).library(program, tmp_path))
        ours = public.of_ours(program, copies.module(program))
        theirs.run()
        ours.run()
        assert program.kernel.difference(ours.results, theirs.results) is None


@needs_ispc
def test_what_has_no_copy_is_left_out(tmp_path: Path) -> None:
    done = script("--copies", str(tmp_path), "--only", "rt,bc7", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["left_out"] == ["rt", "bc7"]
    assert document["programs"] == []
    assert document["geometric_mean"] is None


@needs_ispc
def test_a_row_of_the_table(copies, monkeypatch, capsys) -> None:
    monkeypatch.setitem(table.PROGRAMS, "invert", invert)
    monkeypatch.setattr(sys, "argv", ["public.py", "--copies", str(copies.folder), "--only", "invert", "--width", "4"])
    assert public.main() == 0
    said = capsys.readouterr().out
    assert "geometric mean of 1 ratios" in said
    assert "worst: invert" in said
