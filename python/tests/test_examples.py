"""The examples agree with numpy."""

from __future__ import annotations

import importlib
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import spmdvm

FOLDER = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(FOLDER))
NAMES = sorted(path.stem for path in FOLDER.glob("*.ispc"))

SMALL = {
    "ao": {"width": 32, "height": 24, "samples": 8},
    "binomial": {"n": 100},
    "bitonic_sort": {"n": 256},
    "black_scholes": {"n": 1001},
    "histogram": {"n": 5003},
    "lookup": {"n": 5003},
    "mandelbrot": {"width": 65, "height": 40, "limit": 50},
    "mandelbrot_tasks": {"width": 65, "height": 41, "limit": 50},
    "nbody": {"n": 50, "steps": 2},
    "noise": {"width": 65, "height": 40},
    "reduction": {"n": 1003},
    "relax": {"rows": 30, "columns": 41},
    "saxpy": {"n": 1003},
    "spmv": {"rows": 203},
    "stencil": {"width": 67, "height": 33, "steps": 4},
}


@pytest.mark.parametrize("name", NAMES)
def test_example(name: str) -> None:
    import example

    module = importlib.import_module(name)
    cases = [module.case(**SMALL[name])]
    if hasattr(module, "ufunc_case"):
        cases.append(module.ufunc_case(64))
    if hasattr(module, "prefix_case"):
        cases.append(module.prefix_case(1003))
    for case in cases:
        result = case.spmdvm()
        assert example.error(result, case.numpy()) <= case.tolerance
        if case.picture:
            assert case.picture(result).shape[:2] == result.shape


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wrong_with_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import example

    checked = []

    def compile_example(name: str, **options: object) -> spmdvm.Module:
        options["check"] = True
        checked.append(spmdvm.compile_file(FOLDER / f"{name}.ispc", **options))
        return checked[-1]

    module = importlib.import_module(name)
    monkeypatch.setattr(module, "compile_example", compile_example)
    assert example.error(module.case(**SMALL[name]).spmdvm(), module.case(**SMALL[name]).numpy()) < 1
    assert checked
    assert [str(finding) for module in checked for finding in module.report()] == []


COMPARING = "adaptive explain host interchange long_work one_liners stepping wave"


@pytest.mark.parametrize("name", COMPARING.split())
def test_an_example_in_python(name: str, tmp_path: Path) -> None:
    """It compares its results itself."""
    ran = subprocess.run(
        [sys.executable, FOLDER / "python" / f"{name}.py"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) > 7
    assert "DIFFERS" not in ran.stdout


def test_all_examples_in_python_are_tested() -> None:
    """These, and those that other tests run."""
    elsewhere = {"combinators", "dask_mandelbrot", "kernels", "processes", "profile"}
    assert {path.stem for path in FOLDER.glob("python/*.py")} == elsewhere | set(COMPARING.split())


def test_the_example_of_profiles(tmp_path: Path) -> None:
    """It checks its counts itself; the pictures are drawn where matplotlib is."""
    ran = subprocess.run(
        [sys.executable, FOLDER / "python" / "profile.py"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    assert "while n < limit and re * re + im * im <= 4:" in ran.stdout
    drawn = sorted(path.name for path in tmp_path.glob("out/*.png"))
    assert drawn == ([] if "no pictures" in ran.stdout else ["profile.png", "timeline.png"])


def test_pictures_can_be_read(tmp_path: Path) -> None:
    import example

    example.write_png(tmp_path / "a.png", np.arange(12, dtype=float).reshape(3, 4) / 11)
    data = (tmp_path / "a.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (4, 3)
    start = data.index(b"IDAT")
    size = struct.unpack(">I", data[start - 4 : start])[0]
    assert len(zlib.decompress(data[start + 4 : start + 4 + size])) == 3 * 5
