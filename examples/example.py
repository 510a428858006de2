"""What the examples share: a case to run, its comparison with numpy, timing, pictures."""

from __future__ import annotations

import os
import struct
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spmdvm

HERE = Path(__file__).parent
OUT = HERE.parent / "out"


class Case(NamedTuple):
    """A computation done twice. Both functions return the result; they may be called again and again."""

    name: str
    work: str
    spmdvm: Callable[[], np.ndarray]
    numpy: Callable[[], np.ndarray]
    tolerance: float
    picture: Callable[[np.ndarray], np.ndarray] | None = None


class Report(NamedTuple):
    """What came out of a case."""

    name: str
    work: str
    error: float
    seconds: float
    numpy_seconds: float
    picture: Path | None


def compile_example(name: str, **options) -> spmdvm.Module:
    """Compile the program that lies beside the examples."""
    return spmdvm.compile_file(HERE / f"{name}.ispc", **options)


def error(result: np.ndarray, expected: np.ndarray) -> float:
    """Give the largest difference, relative for results beyond 1."""
    result, expected = np.asarray(result, np.float64), np.asarray(expected, np.float64)
    if result.shape != expected.shape or not np.isfinite(result).all():
        return float("inf")
    return float(np.max(np.abs(result - expected) / np.maximum(1, np.abs(expected)), initial=0))


def seconds(f: Callable[[], object], repeat: int = 3, at_least: float = 0.3) -> float:
    """Time a function: the best of so many runs, and of so many seconds, in which its loops get compiled."""
    times = []
    while len(times) < repeat or sum(times) < at_least:
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def run(case: Case) -> Report:
    """Check a case against numpy, time both, and write its picture."""
    result = case.spmdvm()
    off = error(result, case.numpy())
    if not off <= case.tolerance:
        sys.exit(f"{case.name}: differs from numpy by {off:g}, which is more than {case.tolerance:g}")
    path = None
    if case.picture:
        OUT.mkdir(exist_ok=True)
        path = OUT / f"{case.name}.png"
        write_png(path, case.picture(result))
    return Report(case.name, case.work, off, seconds(case.spmdvm), seconds(case.numpy), path)


def show(reports: list[Report]) -> None:
    """Print the table."""
    widths = (max(len(r.name) for r in reports), max(len(r.work) for r in reports))
    head = f"{'example':{widths[0]}}  {'work':{widths[1]}}  {'max error':>9}"
    head += f"  {'spmdvm':>9}  {'numpy':>9}  {'numpy/spmdvm':>12}"
    print(head)
    print("-" * len(head))
    for r in reports:
        ratio = r.numpy_seconds / r.seconds
        times = f"{r.seconds * 1e3:6.1f} ms  {r.numpy_seconds * 1e3:6.1f} ms  {ratio:11.{2 if ratio > 0.1 else 3}f}x"
        print(f"{r.name:{widths[0]}}  {r.work:{widths[1]}}  {r.error:9.1e}  {times}")
    for r in reports:
        if r.picture:
            print(f"picture: {os.path.relpath(r.picture)}")


def main(*cases: Callable[[], Case]) -> None:
    """Run the cases of one example."""
    show([run(case()) for case in cases])


def write_png(path: Path, pixels: np.ndarray) -> None:
    """Write a picture: rows of grey values, or of red, green, blue, from 0 to 1."""
    data = (np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8)
    height, width = data.shape[:2]
    rows = data.reshape(height, -1)
    # Every row begins with the number of its filter; 0 is none.
    raw = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1).tobytes()
    colour = 2 if data.ndim == 3 else 0
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    )
