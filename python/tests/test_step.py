"""Calls that are stepped through: of modules, and of kernels at lines of Python."""

from __future__ import annotations

import gc
import inspect
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spmdvm

SOURCE = """\
noinline float half(float x) {
    return x / 2;
}
export void settle(uniform float a[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i];
        while (x > 1)
            x = half(x);
        a[i] = x;
    }
}
export float twice(float x) {
    float y = x + x;
    print("twice\\n");
    return y;
}
export uniform int sum(uniform int n) {
    uniform int s = 0;
    for (uniform int i = 0; i < n; ++i)
        s += i;
    return s;
}
export uniform int element(uniform int a[], uniform int at) {
    uniform int far = at * at;
    return a[far];
}
"""


@pytest.fixture(scope="module")
def module() -> spmdvm.Module:
    return spmdvm.compile(SOURCE, width=4)


# Kernels, whose lines are found by their text.


@spmdvm.kernel
def half(x):
    smaller = x / 2
    return smaller


def raised(x, k):
    high = x + k
    return high * 2


@spmdvm.kernel(width=4)
def settle(a, n):
    total = 0.0
    for i in spmdvm.foreach(n):
        x = a[i]
        rounds = 0
        while x > 1:
            if x > 10:
                x = half(x)
            else:
                x -= 1
            rounds += 1
        a[i] = raised(x, rounds)
        total += x
    return total


@spmdvm.kernel(width=4)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@spmdvm.kernel(width=4)
def polar(x, y):
    r = np.hypot(x, y)
    return r, np.arctan2(y, x)


@spmdvm.kernel
def fused(x, y, z):
    return times(x, y) + z


def times(x, y):
    return x * y


@spmdvm.kernel(width=4)
def bad(a, n):
    for i in spmdvm.foreach(n):
        j = i + 1
        a[i] = a[j]


def line_of(function: Any, text: str) -> int:
    """Give the number of the line of a function in which a text stands."""
    lines, first = inspect.getsourcelines(getattr(function, "__wrapped__", function))
    found = [first + k for k, line in enumerate(lines) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]


def test_lines_of_a_module_go_by_forwards_and_backwards(module: spmdvm.Module) -> None:
    a = np.array([4, 1, 2], np.float32)
    with module.stepper("settle", a, 3) as stepper:
        here = stepper.here
        assert (here.function, here.line, here.position, here.reason) == ("settle", 4, 0, "line")
        assert here.source == "export void settle(uniform float a[], uniform int n) {"
        assert here["n"] == 3 and here["a"] == "[4, 1, 2] (3 elements)"
        lines = [stepper.next().line for _ in range(5)]
        assert lines == [5, 6, 7, 8, 7]
        assert stepper.here.active.tolist() == [True, False, True, False]
        assert stepper.here["x"].tolist()[:3] == [2, 1, 1]
        assert stepper.back().line == 8
        assert stepper.here["x"].tolist()[:3] == [4, 1, 2]
        assert stepper.into().function == "half"
        assert [call.function for call in stepper.here.calls] == ["half", "settle"]
        assert [call.line for call in stepper.here.calls] == [2, 8]
        assert stepper.out().function == "settle"
        assert stepper.break_at(9) == 1
        step = stepper.resume()
        assert (step.line, step.reason) == (9, "stop")
        assert stepper.next().line in (4, 5)
        assert a.tolist() == [1, 1, 1]
        assert stepper.back(2).line in (7, 8)
        assert a.tolist() == [4, 1, 2], "arrays are what they are at this step"
    assert a.tolist() == [4, 1, 2]


def test_the_result_is_that_of_the_call(module: spmdvm.Module) -> None:
    assert module.stepper("sum", 10).finish() == 45
    stepper = module.stepper(module.sum, n=10)
    stepper.next(5)
    assert stepper.finish() == 45 and stepper.finish() == 45
    with pytest.raises(RuntimeError, match=r"stepper of sum\(\) is closed"):
        stepper.next()
    a = np.array([4, 1, 3], np.float32)
    module.stepper("settle", a, 3).finish()
    assert a.tolist() == [1, 1, 0.75]


def test_calls_over_arrays_are_one_run(module: spmdvm.Module, capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for given in (x, x.T, x[:, ::2], x[:, :1] + x[:1], np.float32(3), np.broadcast_to(x[0], (4, 3))):
        stepper = module.stepper("twice", given)
        assert stepper.here.line == 13 and stepper.here.function == "twice"
        assert [call.function for call in stepper.here.calls] == ["twice"]
        assert np.array_equal(stepper.finish(), given + given)
    out = np.zeros((2, 3), np.float32)
    assert module.stepper("twice", x, out=out, where=x > 2).finish() is out
    assert out.tolist() == [[0, 0, 0], [6, 8, 10]]
    with pytest.raises(ValueError, match=r"`out` must lie in memory as one piece"):
        module.stepper("twice", x, out=np.zeros((2, 7), np.float32)[:, :3])
    capsys.readouterr()
    stepper = module.stepper("twice", x)
    stepper.next(3)
    assert capsys.readouterr().out == "twice\n"
    stepper.back(2)
    stepper.next(2)
    assert capsys.readouterr().out == "", "what has been printed is not printed again"
    stepper.finish()
    assert capsys.readouterr().out == "twice\n", "by the second gang"


def test_traps_stop_before_the_instruction(module: spmdvm.Module) -> None:
    stepper = module.stepper("element", np.arange(3, dtype=np.int32), 5)
    step = stepper.resume()
    assert step.reason == "end" and not step.returned
    assert step.line == 25 and "index out of bounds" in step.trap
    assert stepper.back().line == 24
    assert stepper.here.trap is None
    with pytest.raises(spmdvm.OutOfBounds) as caught:
        stepper.finish()
    assert caught.value.line == 25 and caught.value.index == 25
    with pytest.raises(spmdvm.OutOfBounds):
        stepper.finish()


def test_stops_and_commands(module: spmdvm.Module) -> None:
    with module.stepper("sum", 5) as stepper:
        assert stepper.break_at(20, "i == 3") == 1
        step = stepper.resume()
        assert (step.line, step["i"], step["s"]) == (20, 3, 3)
        assert "the condition holds" in str(step)
        assert stepper.watch("s") == 2
        assert stepper.resume()["s"] == 6
        assert stepper.resume_back()["s"] in (3, 6)
        stepper.delete(2)
        stepper.delete()
        assert stepper.do("print s * 2 + i").startswith("s * 2 + i = ")
        assert stepper.do("why s").startswith("s = ")
        position = stepper.here.position
        stepper.do("goto 0")
        assert stepper.here.position == 0, "commands that move do so"
        assert stepper.goto(position).position == position
        assert stepper.goto(10**9).returned
        stepper.goto(position)
        assert stepper.back_out().reason == "start"
        for wrong in ("nonsense", "print nonsense", "break 99", "goto -x"):
            with pytest.raises(ValueError):
                stepper.do(wrong)
        with pytest.raises(ValueError, match="one line or more"):
            stepper.next(0)
        with pytest.raises(ValueError, match="no step -1"):
            stepper.goto(-1)
        assert repr(stepper).startswith("<stepper of sum(), step ")
    assert repr(stepper) == "<stepper of sum(), closed>"


def test_mistakes_in_calls(module: spmdvm.Module) -> None:
    with pytest.raises(TypeError, match="`x` expects a number"):
        module.stepper("twice", "three")
    with pytest.raises(AttributeError):
        module.stepper("nothing")
    with pytest.raises(TypeError, match=r"stepper\(\) takes a function of the module"):
        module.stepper(3)
    with pytest.raises(TypeError, match=r"kernel.stepper\(…\)"):
        module.stepper(collatz, 3)
    other = spmdvm.compile("export void f() {}")
    with pytest.raises(ValueError, match="another module"):
        module.stepper(other.f)


def test_modules_with_state_are_nobody_elses_meanwhile() -> None:
    module = spmdvm.compile("uniform int n = 1; export uniform int more() {\n n += 1;\n return n; }")
    with module.stepper("more") as stepper:
        stepper.next(2)
        with pytest.raises(RuntimeError, match="while it is stepped through"):
            module.more()
    assert module.more() == 2, "the call that was not ended has left no traces"
    assert module.stepper("more").finish() == 3
    assert module.more() == 4


def test_kernels_are_stepped_by_lines_of_python() -> None:
    a = np.array([1.5, 20, 3, 0.5])
    wanted = a.copy()
    total = settle(wanted, 4)
    with settle.stepper(a, 4) as stepper:
        here = stepper.here
        assert here.file == __file__ and here.function == "settle"
        assert (here.line, here.source) == (line_of(settle, "def settle"), "def settle(a, n):")
        assert set(here.variables) == {"a", "n"}
        seen = [stepper.next().source.strip() for _ in range(6)]
        assert seen == [
            "total = 0.0", "for i in spmdvm.foreach(n):", "x = a[i]", "rounds = 0", "while x > 1:", "if x > 10:",
        ]  # fmt: skip
        assert stepper.here.active.tolist() == [True, True, True, False]
        assert stepper.here["x"].tolist() == [1.5, 20, 3, 0.5]
        assert stepper.here["x"].dtype == np.float64
        assert stepper.break_at(line_of(settle, "x = half(x)")) == 1
        assert stepper.resume().active.tolist() == [False, True, False, False]
        assert stepper.into().source == "def half(x):"
        calls = [(call.function, call.file, call.line) for call in stepper.here.calls]
        assert calls == [
            ("half", __file__, line_of(half, "def half")),
            ("settle", __file__, line_of(settle, "x = half(x)")),
        ]
        assert stepper.next(2).source.strip() == "return smaller"
        assert stepper.here["smaller"][1] == 10
        assert set(stepper.here.variables) == {"x", "smaller"}
        assert stepper.out().source.strip() == "x = half(x)"
        assert stepper.next().source.strip() == "x -= 1"
        assert stepper.back().source.strip() == "x = half(x)"
        assert stepper.here["x"][1] == 20
        stepper.delete()
        stepper.break_at("raised")
        assert stepper.resume().source == "def raised(x, k):"
        assert set(stepper.here.variables) == {"x", "k"}
        stepper.break_at(line_of(settle, "return total"))
        assert stepper.resume().source.strip() == "return total"
        assert stepper.here["total"] == total
        assert np.array_equal(a, wanted)
        assert stepper.finish() == total
    assert np.array_equal(a, wanted)


def test_nothing_of_the_translation_is_shown() -> None:
    with settle.stepper(np.array([1.5, 20, 3, 0.5]), 4) as stepper:
        shown = [str(stepper.here)]
        while not stepper.here.returned:
            shown += [str(stepper.into()), *stepper.here.variables, str(stepper.here.calls)]
            if not stepper.here.returned:
                shown += [stepper.do(command) for command in ("vars", "where", "masks", "list")]
    text = "\n".join(shown)
    for own in ("v_x", "v_total", "t__", "i__", "a__n0", "entry__", "<kernel", "$map", "_1 "):
        assert own not in text, own
    assert "total (of lanes)" in text


def test_variables_have_values_when_they_are_assigned() -> None:
    with settle.stepper(np.array([1.5, 20, 3, 0.5, 7, 8]), 6) as stepper:
        for source in ("x = a[i]", "rounds = 0"):
            stepper.break_at(line_of(settle, source))
        gangs = 0
        while not stepper.resume().returned:
            known = set(stepper.here.variables)
            if stepper.here.source.strip() == "x = a[i]":
                gangs += 1
                assert not known & {"x", "rounds"}
            else:
                assert "x" in known and "rounds" not in known
        assert gangs == 2


INDICES = """
export void f(const uniform float a[], uniform float b[], uniform int h, uniform int w) {
    foreach (y = 0 ... h, x = 0 ... w) {
        float unused = 3 * a[y * w + x];
        b[y * w + x] = a[y * w + x];
    }
}
export void row(const uniform float a[], uniform float b[], uniform int n) {
    foreach (i = 0 ... n)
        b[i] = 2 * a[i];
}
"""


def test_indices_have_values_where_only_addresses_are_made_of_them() -> None:
    module = spmdvm.compile(INDICES, width=4, no_warn=["W0200"])
    a = np.arange(12, dtype=np.float32)
    b = np.zeros_like(a)
    with module.stepper("row", a, b, 6) as stepper:
        stepper.break_at(10)
        assert stepper.resume()["i"].tolist() == [0, 1, 2, 3]
        step = stepper.resume()
        assert step["i"].tolist()[:2] == [4, 5] and step.active.tolist() == [True, True, False, False]
        stepper.break_at(10, "i == 1")
        assert stepper.resume_back()["i"].tolist() == [0, 1, 2, 3]
        stepper.delete()
        stepper.finish()
    assert b.tolist() == [0, 2, 4, 6, 8, 10] + 6 * [0]
    with module.stepper("f", a, b, 3, 4) as stepper:
        stepper.break_at(5)
        for y in range(3):
            step = stepper.resume()
            assert step["y"] == y and step["x"].tolist() == [0, 1, 2, 3]
            assert step["unused"].tolist() == (3 * a[4 * y : 4 * y + 4]).tolist()
    # Programs that are not stepped through do without.
    assert '"i"' not in module.disassemble() and '"unused"' not in module.disassemble()

    with settle.stepper(np.array([1.5, 20, 3, 0.5, 7, 8]), 6) as stepper:
        stepper.break_at(line_of(settle, "rounds = 0"))
        assert stepper.resume()["i"].tolist() == [0, 1, 2, 3]
        assert stepper.resume()["i"].tolist()[:2] == [4, 5]


def test_programs_with_state_are_stepped_as_they_are(tmp_path: Path) -> None:
    module = spmdvm.compile(
        "uniform int calls;\n" + INDICES.replace("2 * a[i]", "a[i] + calls++"), width=4, no_warn=["W0200"]
    )
    a, b = np.zeros(4, np.float32), np.zeros(4, np.float32)
    module.globals["calls"] = 5
    with module.stepper("row", a, b, 4) as stepper:
        stepper.finish()
    assert b.tolist() == [5, 5, 5, 5] and module.globals["calls"] == 6
    table = spmdvm.compile(
        "extern const uniform float table[];\n" + INDICES.replace("2 * a[i]", "table[i]"), width=4, no_warn=["W0200"]
    )
    table.globals["table"] = np.arange(4, dtype=np.float32)
    with table.stepper("row", a, b, 4) as stepper:
        stepper.finish()
    assert b.tolist() == [0, 1, 2, 3]
    # What is included may have changed since.
    (tmp_path / "factor.isph").write_text("#define FACTOR 2\n")
    (tmp_path / "main.ispc").write_text('#include "factor.isph"\n' + INDICES.replace("2 *", "FACTOR *"))
    main = spmdvm.compile_file(tmp_path / "main.ispc", width=4, no_warn=["W0200"])
    (tmp_path / "factor.isph").write_text("#define FACTOR 3\n")
    a[:] = 1
    with main.stepper("row", a, b, 4) as stepper:
        stepper.finish()
    assert b.tolist() == [2, 2, 2, 2]


def test_elementwise_kernels_go_gang_by_gang() -> None:
    n = np.arange(1, 7)
    stepper = collatz.stepper(n)
    assert stepper.here.source == "def collatz(n):"
    assert stepper.here["n"].tolist() == [1, 2, 3, 4]
    assert len(stepper.here.calls) == 1
    stepper.break_at("collatz")
    step = stepper.resume()
    assert step["n"].tolist()[:2] == [5, 6] and step.active.tolist() == [True, True, False, False]
    assert np.array_equal(stepper.finish(), collatz(n))
    assert collatz.stepper(27).finish() == collatz(27)
    x, y = np.array([[3.0], [5.0]]), np.array([4.0, 12.0, 0.0])
    for got, wanted in zip(polar.stepper(x, y).finish(), polar(x, y)):
        assert np.array_equal(got, wanted) and got.shape == (2, 3)


def test_stepping_gives_the_bits_of_the_call() -> None:
    x, y, z = np.random.default_rng(1).standard_normal((3, 1000))
    assert np.array_equal(fused.stepper(x, y, z).finish(), fused(x, y, z))


def test_traps_of_kernels_are_at_lines_of_python() -> None:
    a = np.arange(6.0)
    stepper = bad.stepper(a, 6)
    step = stepper.resume()
    assert step.trap and step.source.strip() == "a[i] = a[j]"
    with pytest.raises(IndexError) as caught:
        stepper.finish()
    assert caught.value.line == line_of(bad, "a[i] = a[j]") and caught.value.file == __file__


def test_lambdas_and_expressions() -> None:
    stepper = spmdvm.vectorize("x * x + 1").stepper(np.arange(4))
    assert stepper.here.source == "x * x + 1"
    assert stepper.finish().tolist() == [1, 2, 5, 10]


def test_a_stepper_that_is_forgotten_ends_its_thread() -> None:
    a = np.array([4, 1, 2], np.float64)
    gc.collect()
    before = threading.active_count()
    stepper = settle.stepper(a, 3)
    stepper.next(8)
    assert threading.active_count() == before + 1
    del stepper
    gc.collect()
    assert threading.active_count() == before
    assert a.tolist() == [4, 1, 2]


def test_lazy_arrays_are_refused() -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"collatz.stepper\(\) was given a lazy array"):
        collatz.stepper(da.ones(3, dtype=int))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_a_motion_and_not_the_call() -> None:
    module = spmdvm.compile("export void f(uniform int n) {\n while (n != 0) {\n n |= 1; }\n}")
    with module.stepper("f", 1) as stepper:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            stepper.resume()
        assert time.monotonic() - began < 60
        timer.join()
        assert stepper.next().line in (2, 3)
        assert stepper.goto(0).position == 0


def test_interact(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["next", "wrong", "print n", "quit"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    stepper = collatz.stepper(np.arange(1, 5))
    stepper.interact()
    shown = capsys.readouterr().out
    assert "steps = 0" in shown and "error: there is no command" in shown
    assert repr(stepper) == "<stepper of collatz(), closed>"


def test_the_page_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    part = page[page.index("## Stepping") : page.index("## Timelines")]
    (block,) = re.findall(r"^```python\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
    exec(block, {"np": np, "spmdvm": spmdvm})
    assert "x[0] = 4" in capsys.readouterr().out


def test_open_steppers_do_not_keep_a_process_from_ending() -> None:
    program = (
        "import spmdvm\nm = spmdvm.compile('export uniform int f(uniform int n) { return n + 1; }')\n"
        "s = m.stepper('f', 1)\ns.next()\nprint('here')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "here\n", "")
