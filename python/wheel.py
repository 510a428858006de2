"""Builds the wheel as it is released, and checks it: what is in it, what it needs, its size, and that it works.

`python python/wheel.py [FOLDER]` puts it into target/wheels, or a folder. Needs maturin, Rust and numpy.
`python python/wheel.py --check FOLDER` checks the one that is in a folder already.
"""

from __future__ import annotations

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
import sys, pathlib, numpy as np, spmdvm
folder = pathlib.Path(sys.argv[1]).resolve()
assert folder in pathlib.Path(spmdvm.__file__).resolve().parents, spmdvm.__file__
twice = spmdvm.compile("export float twice(float x) { return 2 * x; }").twice
assert twice(np.arange(3, dtype=np.float32)).tolist() == [0, 2, 4]
assert spmdvm.evaluate("a * a + 1", {"a": np.arange(3.0)}).tolist() == [1, 2, 5]
assert int(spmdvm.reduce("+", np.arange(10))) == 45
"""


def build(folder: Path) -> Path:
    """Build it in release mode, and give the file."""
    before = set(folder.glob("*.whl"))
    for wheel in before:
        wheel.unlink()
    command = ["build", "--release", "--manifest-path", HERE / "Cargo.toml", "--out", folder]
    subprocess.run([sys.executable, "-m", "maturin", *command], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check_contents(wheel: Path) -> None:
    """Check size, tags, requirements and files."""
    size = wheel.stat().st_size
    assert size < MOST_BYTES, f"{wheel.name} has {size:,} bytes; it may have {MOST_BYTES:,}"
    assert "-cp39-abi3-" in wheel.name, f"{wheel.name}: one wheel is for Python 3.9 and all later ones"
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


def check_use(wheel: Path) -> None:
    """Unpack it into a folder of its own, and run programs from there."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["install", "--quiet", "--no-deps", "--disable-pip-version-check", "--target", folder, wheel]
        subprocess.run([sys.executable, "-m", "pip", *command], check=True)
        environment = {**os.environ, "PYTHONPATH": folder}
        subprocess.run([sys.executable, "-c", PROGRAM, folder], check=True, env=environment, cwd=folder)
        version = subprocess.run(
            [sys.executable, "-m", "spmdvm", "--version"], env=environment, cwd=folder, check=True, capture_output=True
        )
        print(f"works: {version.stdout.decode().strip()}")


def main() -> None:
    """Build and check."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    folder = Path(arguments[0]) if arguments else HERE.parent / "target" / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    if "--check" in sys.argv:
        (wheel,) = (file.resolve() for file in folder.glob("*.whl"))
    else:
        wheel = build(folder.resolve())
    check_contents(wheel)
    check_use(wheel)


if __name__ == "__main__":
    main()
