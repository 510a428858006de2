"""The kernels that are timed against `ispc` give the same on our engines, and the same as ispc where there is one."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import spmdvm

BENCHES = Path(__file__).parents[2] / "benches"


def load(file: str, name: str) -> ModuleType:
    """Import a file of the benchmarks."""
    spec = importlib.util.spec_from_file_location(name, BENCHES / file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


kernels = load("ispc_kernels.py", "ispc_kernels")
bench = load("ispc.py", "ispc_bench")
KERNELS = kernels.KERNELS

# Every loop at once, on this thread: what is compared has run as compiled code.
EAGER = {"hot": 1, "background": False}

needs_ispc = pytest.mark.skipif(
    shutil.which("ispc") is None or shutil.which("cc") is None, reason="needs the compiler ispc, and cc, on the PATH"
)


def results(kernel, **options) -> list[np.ndarray]:
    """Run a kernel three times on small data."""
    module = spmdvm.compile_file(kernel.path, **options)
    contender = bench.of_ours(kernel, module, small=True)
    for _ in range(3):
        contender.run()
    return contender.results


def test_every_file_is_described_and_every_description_has_a_file() -> None:
    assert sorted(path.stem for path in kernels.FOLDER.glob("*.ispc")) == sorted(KERNELS)
    assert len(KERNELS) >= 30


@pytest.mark.parametrize("name", KERNELS)
def test_engines_agree_and_something_is_computed(name: str) -> None:
    kernel = KERNELS[name]
    expected = results(kernel, engine="interp")
    for a, b in zip(results(kernel, engine="auto", jit=EAGER), expected):
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8))
    # Each output differs from what it held before.
    before = kernel.arguments(small=True)
    computed = expected[1:] if kernel.returns is not None else expected
    for name_, array in zip(kernel.outputs, computed):
        assert not np.array_equal(array, before[name_]), name_
    if kernel.returns is not None:
        assert expected[0][0] != 0


@pytest.mark.parametrize("name", KERNELS)
def test_widths_agree(name: str) -> None:
    kernel = KERNELS[name]
    assert kernel.difference(results(kernel, width=8), results(kernel, width=16)) is None


def reference(name: str, given: dict) -> np.ndarray:
    """What numpy gives for some of the kernels."""
    f = {
        key: value.astype(np.float64)
        for key, value in given.items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    }
    if name == "saxpy":
        return given["a"] * f["x"] + f["y"]
    if name == "prefix_sum":
        return np.concatenate([[0], np.cumsum(given["x"])[:-1]])
    if name == "histogram":
        return np.bincount(given["data"], minlength=256)
    if name == "transpose":
        return given["from"].T
    if name in ("sgemm", "sgemm_tiled"):
        return f["a"] @ f["b"]
    if name == "fft":
        return np.fft.fft(f["re"] + 1j * f["im"]).real
    if name in ("bitonic_sort", "quicksort"):
        return np.sort(given["key"])
    if name == "newton":
        return np.cbrt(f["x"])
    if name == "floyd_warshall":
        d = given["distance"].copy()
        for k in range(len(d)):
            d = np.minimum(d, d[:, k : k + 1] + d[k])
        return d
    if name == "life":
        cells = given["from"]
        around = sum(np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)) - cells
        inside = ((around == 3) | ((around == 2) & (cells == 1)))[1:-1, 1:-1]
        return np.pad(inside, 1)
    if name == "median":
        cells = given["from"]
        moved = [np.roll(cells, (y, x), (0, 1)) for y in (-1, 0, 1) for x in (-1, 0, 1)]
        return np.pad(np.median(moved, 0)[1:-1, 1:-1], 1)
    if name == "tree":
        return np.searchsorted(np.sort(given["keys"]), given["high"], "right") - np.searchsorted(
            np.sort(given["keys"]), given["low"]
        )
    if name in ("crc32", "crc32_table"):
        import zlib

        return np.array([zlib.crc32(message.tobytes()) for message in given["message"].T])
    raise KeyError(name)


@pytest.mark.parametrize(
    "name",
    [
        *("saxpy", "prefix_sum", "histogram", "transpose", "sgemm", "sgemm_tiled", "fft", "bitonic_sort", "quicksort"),
        *("newton", "floyd_warshall", "life", "median", "tree", "crc32", "crc32_table"),
    ],
)
def test_what_they_compute(name: str) -> None:
    kernel = KERNELS[name]
    expected = reference(name, kernel.arguments(small=True))
    assert np.allclose(results(kernel)[0], expected, rtol=1e-4, atol=1e-4)


# Lanes for which most processors have a target.
WIDTH = 4


@pytest.fixture(scope="module")
def compiler():
    return bench.Compiler(None, None, WIDTH, ["-O2"])


@needs_ispc
@pytest.mark.parametrize("name", KERNELS)
def test_ispc_agrees(name: str, compiler, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    theirs = bench.of_ispc(kernel, compiler.compile(kernel, tmp_path), small=True)
    theirs.run()
    assert kernel.difference(results(kernel, width=WIDTH, jit=EAGER), theirs.results) is None


def script(*words: str, path: str | None = None) -> subprocess.CompletedProcess:
    """Run the benchmark."""
    environment = {**os.environ, "PATH": path} if path is not None else None
    return subprocess.run(
        [sys.executable, BENCHES / "ispc.py", *words], capture_output=True, text=True, env=environment
    )


def test_without_ispc_it_says_what_it_needs(tmp_path: Path) -> None:
    done = script(path=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs Intel's compiler ispc" in done.stderr
    assert "--ispc PATH" in done.stderr
    done = script("--ispc", str(tmp_path / "ispc"))
    assert done.returncode == 2
    assert f"{tmp_path / 'ispc'} cannot be run" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "saxpi"), "there is no kernel saxpi; there are: saxpy, "),
        (("--rounds", "0"), "a whole number from 1 on is expected, not '0'"),
        (("--width", "5"), "invalid choice: 5"),
    ],
)
def test_wrong_words(words: tuple[str, ...], message: str) -> None:
    done = script(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_differences_are_told() -> None:
    kernel = KERNELS["saxpy"]
    a = [np.array([1, 2, 3], np.float32)]
    assert kernel.difference(a, [a[0] * np.float32(1 + 2e-7)]) is None
    assert kernel.difference(a, [np.array([1, 2, np.nan], np.float32)]) == (
        "y: 1 of 3 differ, the first[2] is 3.0, with ispc nan"
    )
    kernel = KERNELS["nearest"]
    assert kernel.difference([np.array([5], np.int32)], [np.array([6], np.int32)]) == (
        "the result: 1 of 1 differ, the first is 5, with ispc 6"
    )


@needs_ispc
@pytest.mark.parametrize(
    ("words", "linker", "message"),
    [
        (("--target", "avx2-i32x8"), "cc", "--target avx2-i32x8 does not have the 16 lanes of --width"),
        (("--target", "nonsense-x16"), "cc", "--target nonsense-x16: ispc failed (1): "),
        ((), "no-such-linker -x", "no-such-linker is not on the PATH (or set CC)"),
    ],
)
def test_what_the_compilers_lack(words: tuple[str, ...], linker: str, message: str, monkeypatch) -> None:
    monkeypatch.setenv("CC", linker)
    done = script("--only", "saxpy", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@needs_ispc
def test_the_table_as_json() -> None:
    done = script("--only", "saxpy,histogram", "--rounds", "1", "--json", "--width", str(WIDTH))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["kernel"] for row in document["kernels"]] == ["saxpy", "histogram"]
    assert document["failed"] == {}
    assert all(row["ratio"] == row["ours_ms"] / row["ispc_ms"] > 0 for row in document["kernels"])
