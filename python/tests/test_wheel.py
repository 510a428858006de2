"""The wheel, as it is released: small, needing numpy alone, and working; and what importing the package loads."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LOADED = """
import sys
import numpy
before = set(sys.modules)
import spmdvm
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.skipif(
    not importlib.util.find_spec("maturin") or not shutil.which("cargo"), reason="maturin or cargo is not installed"
)
@pytest.mark.skipif(
    not list(ROOT.glob("target/release/*spmdvm*")),
    reason="the wheel is made of the release, which is not built (make install)",
)
def test_the_wheel(tmp_path: Path) -> None:
    """In release mode, which `make install` has compiled for already."""
    # maturin takes the interpreter of the environment that is active.
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    command = [sys.executable, ROOT / "python" / "wheel.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "works: spmdvm " in done.stdout


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_licences_are_those_of_the_project(name: str) -> None:
    """A wheel takes files of its own folder only."""
    assert (ROOT / "python" / name).read_bytes() == (ROOT / name).read_bytes()


def test_importing_loads_little() -> None:
    """Kernels, combinators and all else come when they are first used: benches/import_time.py tells the time."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"spmdvm", "spmdvm._errors", "spmdvm._spmdvm"} <= loaded
    assert not {name for name in loaded if name.startswith("spmdvm")} - {"spmdvm", "spmdvm._errors", "spmdvm._spmdvm"}
    assert not loaded & {"pandas", "inspect", "dataclasses", "json", "ast"}


def test_no_module_is_longer_than_anybody_reads() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in ROOT.glob("python/spmdvm/**/*.py")}
    assert lengths and not [f"{path.name}: {length}" for path, length in lengths.items() if length > 900]
