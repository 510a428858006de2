"""Bad inputs, each with its message.

The messages stand in `hostile.txt` beside this file; `UPDATE_SNAPSHOTS=1` writes it anew. No input may give an
exception of a class that is not listed here, or take the process down.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import fractions
import io
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import spmdvm

SNAPSHOTS = Path(__file__).with_name("hostile.txt")
EXPECTED = (spmdvm.SpmdError, TypeError, ValueError, OverflowError, OSError, LookupError, AttributeError)

PROGRAM = """
export void scale(uniform float x[], uniform int n, uniform float k) { foreach (i = 0 ... n) x[i] *= k; }
export uniform float total(const uniform float x[], uniform int n) {
    float sum = 0;
    foreach (i = 0 ... n) sum += x[i];
    return reduce_add(sum);
}
export float add(float x, float y) { return x + y; }
export int divide(int x, int y) { return x / y; }
export float get(int i, const uniform float table[]) { return table[i]; }
export float put(int i, uniform float table[]) { table[i & 1] = 1; return table[0]; }
export void touch(float x) { }
export bool is_positive(double x) { return x > 0; }
struct Vec { float x, y, z; };
struct Mixed { float x; int n; };
export uniform float height(const uniform Vec v[], uniform int i) { return v[i].z; }
export void mend(uniform Mixed &m) { m.n = 1; }
export uniform float mixed(const uniform Mixed m[]) { return m[0].x; }
export uniform float matrix(const uniform float m[][4]) { return m[0][3]; }
export uniform int8 small(uniform int8 a) { return a; }
export uniform unsigned int64 large(uniform unsigned int64 a) { return a; }
export uniform float16 half_(uniform float16 a) { return a; }
export uniform int which(uniform float x[]) { return 1; }
export uniform int which(uniform double x[]) { return 2; }
export uniform bool invert(uniform bool x) { return !x; }
"""

# What is evaluated; `m` is the program above, `f32` and `i32` make arrays.
COMPILE = """
spmdvm.compile(42)
spmdvm.compile(None)
spmdvm.compile(b"export void f() {}")
spmdvm.compile()
spmdvm.compile("", "")
spmdvm.compile("kernel.ispc")
spmdvm.compile("  ../../etc/kernel.ispc  ")
spmdvm.compile("/etc/passwd")
spmdvm.compile("mandelbrot")
spmdvm.compile("export void f() { x = 1; }")
spmdvm.compile("export void f() {")
spmdvm.compile("}" * 3)
spmdvm.compile("export void f(uniform float x[]) { x[0] = \\udc80; }")
spmdvm.compile("export void f() { \\0 }")
spmdvm.compile('#include "/etc/passwd"')
spmdvm.compile('#include "../x.isph"')
spmdvm.compile("#error stop here")
spmdvm.compile(Path("nosuch.ispc"))
spmdvm.compile(Path("."))
spmdvm.compile_file("nosuch.ispc")
spmdvm.compile_file("nosuch/kernel.ispc")
spmdvm.compile_file("")
spmdvm.compile_file(".")
spmdvm.compile_file(3)
spmdvm.compile_file(None)
spmdvm.compile_file("a\\0b.ispc")
spmdvm.compile_file("x" * 300)
spmdvm.compile_file("export void f() { }\\nexport void g() { }\\n")
spmdvm.compile_file("nosuch.ispc", sources=["b.ispc"])
spmdvm.compile("", sources=["b.ispc"])
"""

OPTIONS = """
width=0
width=3
width=128
width=-1
width=8.0
width="wide"
width=True
width=None
engine=None
engine="warp"
engine=1
fp="sloppy"
fp=None
check=3
check="no"
include_paths="folder"
include_paths=3
include_paths=[3]
defines=[1]
defines="N=3"
defines={1: 2}
defines={"1x": 2}
defines={"a b": 2}
defines={"": 2}
defines={"N": "1\\n#include <x>"}
defines={"F(x": 1}
fuel=-1
fuel=1.5
fuel=2**64
fuel="many"
fuel=True
timeout=-1
timeout=float("nan")
timeout="1s"
timeout=[1]
memory=2**70
memory=-5
memory="4 GiB"
memory=1e9
task_threads=0
task_threads=-2
task_threads=1.0
task_threads="all"
jit={"warm": 1}
jit={"hot": "often"}
jit={"hot": -1}
jit=3
jit={1: 1}
hints=None
hints="yes"
widht=8
colour=1
source=""
"""

CALLS = """
m.scale()
m.scale(f32(3), 3)
m.scale(f32(3), 3, 2, 1)
m.scale(f32(3), 3, 2, k=1)
m.scale(f32(3), 3, kk=1)
m.scale(f32(3), 3, 2, out=f32(3))
m.scale([1, 2, 3], 3, 2)
m.scale((1.0,), 1, 2)
m.scale(range(3), 3, 2)
m.scale({1, 2}, 2, 2)
m.scale("abc", 3, 2)
m.scale(b"abcd", 1, 2)
m.scale(None, 3, 2)
m.scale(3.0, 1, 2)
m.scale(np.float32(3), 1, 2)
m.scale(np.zeros(3), 3, 2)
m.scale(np.zeros(3, complex), 3, 2)
m.scale(np.zeros(3, ">f4"), 3, 2)
m.scale(np.zeros(3, object), 3, 2)
m.scale(np.zeros(3, "M8[s]"), 3, 2)
m.scale(np.zeros(3, "U5"), 3, 2)
m.scale(np.zeros(3, "S4"), 3, 2)
m.scale(f32(6)[::2], 3, 2)
m.scale(f32(2, 3).T, 6, 2)
m.scale(np.broadcast_to(f32(1), 3), 3, 2)
m.scale(readonly(3), 3, 2)
m.scale(np.zeros(3, [("x", "f4")]), 3, 2)
m.scale(f32(3), 3.0, 2)
m.scale(f32(3), "3", 2)
m.scale(f32(3), None, 2)
m.scale(f32(3), 2**31, 2)
m.scale(f32(3), 10**100, 2)
m.scale(f32(3), 1j, 2)
m.scale(f32(3), [3], 2)
m.scale(f32(3), np.array([3]), 2)
m.scale(f32(3), np.float64(3), 2)
m.scale(f32(3), 3, 1e39)
m.scale(f32(3), 3, 10**400)
m.scale(f32(3), 3, "2")
m.scale(f32(3), 3, np.complex64(1))
m.scale(f32(3), 3, datetime.timedelta(1))
m.scale(f32(3), 4, 2)
m.scale(f32(0), 1, 2)
m.scale(f32(3), -1, 2) or m.scale(f32(3), 2**31 - 1, 2)
m.small(128)
m.small(-129)
m.small(np.int64(300))
m.large(-1)
m.large(2**64)
m.half_(1e6)
m.invert(1)
m.invert("yes")
m.total(["a", "b"], 2)
m.total([1j], 1)
m.total([[1, 2], [3]], 3)
m.total([1e300], 1)
m.total([None], 1)
m.total(3, 1)
m.total(io.StringIO("x"), 1)
m.total(np.ma.MaskedArray(f32(3), [0, 1, 0]), 3)
m.total(f32(3).view(Units), 3)
m.height(f32(4, 4), 0)
m.height(np.zeros((4, 3)), 0)
m.height(np.zeros(3, [("x", "f4"), ("y", "f4")]), 0)
m.height(np.zeros(3, [("x", "f4"), ("y", "f4"), ("w", "i4")]), 0)
m.height([1, 2], 0)
m.mixed(f32(4))
m.mixed(np.zeros(4, [("n", "i4"), ("x", "f4")]))
m.mixed([(1.0, 2)])
m.mend(np.zeros(2, MIXED))
m.mend(np.zeros(2, MIXED)[0])
m.mend((1.0, 2))
m.matrix(f32(4, 3))
m.matrix(f32(6))
m.matrix([[1, 2, 3, 4]] * 2) and m.matrix([[1, 2, 3]])
m.which(i32(3))
m.which()
m.which([1.0])
"""

MAPPED = """
m.add(1)
m.add(f32(3), f32(4))
m.add(f32(2, 3), f32(2))
m.add(np.zeros(3), 1)
m.add(np.zeros(3, complex), 1)
m.add(i32(3), 1)
m.add("a", 1)
m.add(None, 1)
m.add(["a"], 1)
m.add([1, [2]], 1)
m.add([2**100], 1)
m.add(np.float64(0.1), 1)
m.add(np.float64(1e300), 1)
m.add(np.int64(2**24 + 1), 1)
m.add(1e39, 1)
m.add(decimal.Decimal("0.5"), "x")
m.add(fractions.Fraction(1, 3), None)
m.add(np.zeros(3, object), 1)
m.add(f32(3).view(Units), 1)
m.add(np.matrix([[1]], dtype=np.float32), 1)
m.add(f32(3), 1, out=f32(4))
m.add(f32(3), 1, out=f32(1, 3, 1))
m.add(f32(3), 1, out=np.zeros(3))
m.add(f32(3), 1, out=[0, 0, 0])
m.add(f32(3), 1, out=readonly(3))
m.add(f32(3), 1, out=3)
m.add(f32(3), 1, where=1)
m.add(f32(3), 1, where=[1, 0, 1])
m.add(f32(3), 1, where=[True, False])
m.add(f32(3), 1, where="yes")
m.add(f32(3), 1, threads=-1)
m.add(f32(3), 1, threads=1.5)
m.add(f32(3), 1, threads="all")
m.add(f32(3), 1, thread=2)
m.add(f32(3), 1, dtype=np.float64)
m.add(np.ma.MaskedArray(f32(3), [0, 1, 0]), 1, out=f32(3))
m.touch(f32(3), out=f32(3))
m.divide([5, 6], [1, 0])
m.divide([[5, 6], [7, 8]], [[1, 1], [0, 1]])
m.divide(1, 0)
m.divide([1.5], 1)
m.divide([True, 2**31], 1)
m.divide(np.arange(3, dtype=np.uint32), 1)
m.get([0, 1, 7], f32(3))
m.get(-1, f32(3))
m.get([0, 1], f32(6)[::2])
m.get([0, 1], None)
m.put([0, 1], readonly(3))
m.put([0, 1], f32(3), threads=2)
m.put([0, 1], [1, 2])
m.is_positive(["a"])
"""

MODULES = """
m.nosuch
m.scales
m["nosuch"]
m[3]
m.explain(99999)
m.explain("x")
m.explain(-1)
m.scale.x
setattr(m, "scale", 1)
spmdvm.Module()
spmdvm.Function()
pickle.loads(pickle.dumps(m).replace(b"foreach", b"forever"))
spmdvm.compile("void f() { }").f
"""


class Units(np.ndarray):
    """An array with a meaning of its own."""


def cases() -> list[str]:
    options = [f"spmdvm.compile('', {line})" for line in OPTIONS.strip().splitlines()]
    return [
        *COMPILE.strip().splitlines(),
        *options,
        *(CALLS + MAPPED.lstrip("\n") + MODULES.lstrip("\n")).split("\n")[1:-1],
    ]


@pytest.fixture(scope="module")
def names() -> dict:
    def f32(*shape: int) -> np.ndarray:
        return np.ones(shape, np.float32)

    def i32(*shape: int) -> np.ndarray:
        return np.ones(shape, np.int32)

    def readonly(*shape: int) -> np.ndarray:
        array = f32(*shape)
        array.flags.writeable = False
        return array

    mixed = np.dtype([("x", "f4"), ("n", "i4")])
    m = spmdvm.compile(PROGRAM, timeout=10, memory=1 << 26)
    local = {"m": m, "f32": f32, "i32": i32, "readonly": readonly, "MIXED": mixed, "Units": Units}
    modules = (datetime, decimal, fractions, io, np, pickle, spmdvm)
    return {"Path": Path, "np": np, **{module.__name__: module for module in modules}, **local}


def message(case: str, names: dict) -> str:
    """What comes of a case: the exception's class and text."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            result = eval(case, names)
    except EXPECTED as error:
        text = error.args[0] if isinstance(error, LookupError) and not isinstance(error, spmdvm.Trap) else error
        return f"{type(error).__name__}: {text}".replace("\0", "\\0")
    pytest.fail(f"{case} gave {result!r}")


def snapshots() -> dict[str, str]:
    parts = SNAPSHOTS.read_text(encoding="utf-8").split("\n>>> ")[1:] if SNAPSHOTS.exists() else []
    return {case: text.strip("\n") for case, text in (part.split("\n", 1) for part in parts)}


def test_there_are_many() -> None:
    assert len(set(cases())) == len(cases()) >= 90
    assert os.environ.get("UPDATE_SNAPSHOTS") or list(snapshots()) == cases()


@pytest.mark.filterwarnings("ignore")
def test_messages(names: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = {case: "\n".join(line.rstrip() for line in message(case, names).splitlines()) for case in cases()}
    if os.environ.get("UPDATE_SNAPSHOTS"):
        body = "".join(f"\n>>> {case}\n{text}\n" for case, text in found.items())
        SNAPSHOTS.write_text(
            "What bad inputs are answered with; written by test_hostile.py.\n" + body, encoding="utf-8"
        )
    known = snapshots()
    wrong = {case: (text, known.get(case)) for case, text in found.items() if known.get(case) != text}
    assert not wrong, "\n".join(f">>> {case}\n{text}\nbut it was\n{old}" for case, (text, old) in wrong.items())


def test_nothing_quotes_more_than_a_line_of_source(names: dict) -> None:
    secret = "\n".join(f"secret{i} secret{i}" for i in range(20))
    for source in (secret, "/* " + secret, '"' + secret, "export void f() {" + secret, "#if 1\n" + secret):
        with pytest.raises(spmdvm.CompileError) as caught:
            spmdvm.compile(source)
        for part in str(caught.value).split("[E"):
            assert len({word for word in part.split() if word.startswith("secret")}) <= 2, part


def test_no_message_shows_names_of_the_compiler(names: dict) -> None:
    for case, text in snapshots().items():
        assert "$" not in text.replace("number$", ""), case
