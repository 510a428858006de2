"""Builds the wheel as it is released, and checks it: what is in it, what it needs, its size, and that it works.

`python python/wheel.py [FOLDER]` puts it into target/wheels, or a folder. Needs maturin, Rust and numpy.
`python python/wheel.py --check FOLDER` checks the one that is in a folder already.

One wheel is for all ordinary interpreters since Python 3.9. Free-threaded ones need a wheel each: the one for
`--interpreter PYTHON` (by default the one that runs this; it needs numpy and pip), from Python 3.14 on.
"""

from __future__ import annotations

import argparse
import email
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MOST_BYTES = 10_000_000

PROGRAM = """
import sys, sysconfig, pathlib, numpy as np, spmdvm
folder = pathlib.Path(sys.argv[1]).resolve()
assert folder in pathlib.Path(spmdvm.__file__).resolve().parents, spmdvm.__file__
twice = spmdvm.compile("export float twice(float x) { return 2 * x; }").twice
assert twice(np.arange(3, dtype=np.float32)).tolist() == [0, 2, 4]
assert spmdvm.evaluate("a * a + 1", {"a": np.arange(3.0)}).tolist() == [1, 2, 5]
assert int(spmdvm.reduce("+", np.arange(10))) == 45
assert not (sysconfig.get_config_var("Py_GIL_DISABLED") and sys._is_gil_enabled()), "the interpreter got its lock"
"""


def tag_for(interpreter: str) -> str:
    """Give the tags of the wheel that is for an interpreter."""
    code = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"
    done = subprocess.run([interpreter, "-c", code], check=True, capture_output=True, text=True)
    major, minor, is_free_threaded = map(int, done.stdout.split())
    return f"cp{major}{minor}-cp{major}{minor}t" if is_free_threaded else "cp39-abi3"


def find(folder: Path, tag: str) -> Path:
    """Give the only wheel with these tags in a folder."""
    found = list(folder.glob(f"*-{tag}-*.whl"))
    assert len(found) == 1, f"{folder} has {len(found)} wheels for {tag}: {[w.name for w in folder.glob('*.whl')]}"
    return found[0].resolve()


def build(folder: Path, interpreter: str, tag: str) -> Path:
    """Build it in release mode, and give the file."""
    for before in folder.glob(f"*-{tag}-*.whl"):
        before.unlink()
    command = ["build", "--release", "--manifest-path", HERE / "Cargo.toml", "--out", folder, "-i", interpreter]
    subprocess.run([sys.executable, "-m", "maturin", *command], check=True)
    return find(folder, tag)


def check_contents(wheel: Path) -> None:
    """Check size, requirements and files."""
    size = wheel.stat().st_size
    assert size < MOST_BYTES, f"{wheel.name} has {size:,} bytes; it may have {MOST_BYTES:,}"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        needs = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist")
    assert [need.split(">")[0] for need in needs or []] == ["numpy"], f"it needs {needs} at run time, not numpy alone"
    package = {name for name in names if name.startswith("spmdvm/")}
    assert all(name.startswith("spmdvm/") or ".dist-info/" in name for name in names), names
    sources = HERE / "spmdvm"
    wanted = {f"spmdvm/{p.relative_to(sources).as_posix()}" for p in sources.rglob("*") if p.suffix in KEPT}
    missing = wanted - package
    assert not missing, f"not in the wheel: {missing}"
    (native,) = (name for name in package if name.endswith((".so", ".pyd", ".dylib")))
    assert {f"LICENSE-{kind}" for kind in ("MIT", "APACHE")} <= {Path(name).name for name in names}, "licences"
    print(f"{wheel.name}: {size / 1e6:.2f} MB, needs numpy alone, {len(package)} files and {native}")


KEPT = (".py", ".pyi", ".ispc", ".typed")


def check_use(wheel: Path, interpreter: str) -> None:
    """Unpack it into a folder of its own, and run programs from there."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target", folder, wheel]
        subprocess.run([interpreter, "-m", "pip", *command], check=True)
        environment = {**os.environ, "PYTHONPATH": folder}
        # An interpreter that takes its lock again, for a module that says it needs it, warns.
        command = [interpreter, "-W", "error::RuntimeWarning", "-c", PROGRAM, folder]
        subprocess.run(command, check=True, env=environment, cwd=folder)
        version = subprocess.run(
            [interpreter, "-m", "spmdvm", "--version"], env=environment, cwd=folder, check=True, capture_output=True
        )
        print(f"works: {version.stdout.decode().strip()}")


def main() -> None:
    """Build and check."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parent / "target" / "wheels")
    parser.add_argument("--check", action="store_true", help="check the wheel that is in the folder")
    parser.add_argument("--interpreter", default=sys.executable, metavar="PYTHON", help="the wheel is for this one")
    given = parser.parse_args()
    folder, tag = given.folder.resolve(), tag_for(given.interpreter)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = find(folder, tag) if given.check else build(folder, given.interpreter, tag)
    check_contents(wheel)
    check_use(wheel, given.interpreter)


if __name__ == "__main__":
    main()
