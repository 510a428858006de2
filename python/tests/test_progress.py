"""`progress=`: how far a call is, told while it runs."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
import spmdvm
from spmdvm._progress import Bar, _bar, _clock, _short

SOURCE = """\
export float steps(float x, uniform int n) {
    float s = 0;
    for (uniform int i = 0; i < n; ++i)
        s = s * x + 1;
    return s;
}
export void array(uniform float x[], uniform int n) {
    foreach (i = 0 ... n)
        x[i] = steps(x[i], 10);
}
task void work(uniform float x[], uniform int rounds) {
    uniform float s = 0;
    for (uniform int i = 0; i < rounds; ++i)
        s = s * 0.5 + 1;
    x[taskIndex] = s;
}
export void tasks(uniform float x[], uniform int n, uniform int rounds) {
    launch[n] work(x, rounds);
    sync;
    launch[n] work(x, rounds);
}
export float endless(float x) {
    while (x == x) {}
    return x;
}
export void forever(uniform float x[]) {
    uniform int i = 0;
    while (i < 2) i &= 1;
}
export float odd(float x) {
    assert(x != 77);
    return x;
}
export uniform int own(uniform int progress) { return progress; }
"""


@pytest.fixture(scope="module")
def module() -> spmdvm.Module:
    return spmdvm.compile(SOURCE, task_threads=2)


class Told(list):  # type: ignore[type-arg]
    def __call__(self, done: int, total: int | None) -> None:
        self.append((done, total))

    def is_in_order(self) -> bool:
        done = [d for d, _ in self]
        return done == sorted(done)


@pytest.mark.parametrize("threads", [1, 3])
def test_elements_are_counted_exactly(module: spmdvm.Module, threads: int) -> None:
    x = np.linspace(0, 1, 300_001, dtype=np.float32)
    told = Told()
    result = module.steps(x, 300, threads=threads, progress=told)
    np.testing.assert_array_equal(result, module.steps(x, 300))
    assert {total for _, total in told} == {len(x)}
    assert told[-1] == (len(x), len(x))
    assert told.is_in_order()
    assert len(told) == len(set(told))


def test_all_shapes(module: spmdvm.Module) -> None:
    x = np.linspace(0, 1, 70 * 90, dtype=np.float32).reshape(70, 90)
    for given in (x[::2, ::3], x.T, np.broadcast_to(x[0], (50, 90)), x[:0], x[0, 0]):
        told = Told()
        np.testing.assert_array_equal(module.steps(given, 5, progress=told), module.steps(given, 5))
        assert told[-1] == (given.size, given.size)
    out = np.zeros_like(x)
    told = Told()
    module.steps(x, 5, out=out, where=x > 0.5, progress=told)
    assert told[-1] == (x.size, x.size)
    np.testing.assert_array_equal(out, np.where(x > 0.5, module.steps(x, 5), 0))


def test_it_is_told_while_the_call_runs(module: spmdvm.Module) -> None:
    seen = threading.Event()

    def stop_when_half(done: int, total: int | None) -> None:
        assert total is not None
        if 0 < done < total:
            seen.set()

    x = np.linspace(0, 1, 100_000, dtype=np.float32)
    rounds = 1000
    while not seen.is_set():
        module.steps(x, rounds, progress=stop_when_half)
        rounds *= 4
        assert rounds < 1 << 30, "never told"


def test_tasks_are_counted(module: spmdvm.Module) -> None:
    told = Told()
    x = np.zeros(20, np.float32)
    module.tasks(x, 20, 100_000, progress=told)
    assert told[-1] == (40, 40)
    assert all(total in (None, 20, 40) for _, total in told)
    assert (x > 1.9).all()


def test_of_other_calls_rounds_are_counted(module: spmdvm.Module) -> None:
    told = Told()
    x = np.zeros(160_000, np.float32)
    module.array(x, len(x), progress=told)
    done, total = told[-1]
    assert done == total
    # At least a round for each gang.
    assert done >= 10_000
    assert all(total is None for _, total in told[:-1])


def test_an_exception_of_the_callback_passes_through(module: spmdvm.Module) -> None:
    mistake = RuntimeError("stop")

    def callback(done: int, total: int | None) -> None:
        raise mistake

    x = np.zeros(1000, np.float32)
    calls: list[Any] = [
        lambda: module.endless(x, progress=callback),
        lambda: module.endless(x, threads=2, progress=callback),
        lambda: module.forever(x, progress=callback),
        lambda: module.tasks(x, 100, 2_000_000_000, progress=callback),
    ]
    for call in calls:
        began = time.monotonic()
        with pytest.raises(RuntimeError) as caught:
            call()
        assert caught.value is mistake
        assert caught.value.__cause__ is None
        assert time.monotonic() - began < 5
    # Also where there is only the last report.
    with pytest.raises(RuntimeError, match="stop"):
        module.steps(np.float32(1), 1, progress=callback)


def test_traps_name_the_element_and_nothing_is_told_to_be_done(module: spmdvm.Module) -> None:
    told = Told()
    x = np.arange(100_000, dtype=np.float32)
    with pytest.raises(spmdvm.AssertionFailed) as caught:
        module.odd(x, progress=told)
    assert caught.value.element == (77,)
    assert all(done < len(x) for done, _ in told)


def test_limits_are_those_of_a_call_without() -> None:
    x = np.arange(32_000, dtype=np.float32)
    for fuel in (1, 3999, 4000):
        module = spmdvm.compile(SOURCE, fuel=fuel)

        def ends(**options: Any) -> bool:
            try:
                module.odd(x + 100, **options)  # noqa: B023
            except spmdvm.OutOfFuel:
                return False
            return True

        assert ends() == ends(progress=Told()) == (fuel == 4000), fuel
    module = spmdvm.compile(SOURCE, timeout=0.1)
    for f in (module.endless, module.forever):
        with pytest.raises(TimeoutError):
            f(x, progress=Told())


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers of Unix")
@pytest.mark.parametrize("name", ["endless", "forever"])
def test_ctrl_c(module: spmdvm.Module, name: str) -> None:
    # Where tests run in the background, SIGINT is ignored.
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            module[name](np.zeros(5, np.float32), progress=Told())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, interrupt)


def test_on_another_thread_and_from_within(module: spmdvm.Module) -> None:
    told, inner = Told(), Told()

    def nested(done: int, total: int | None) -> None:
        told(done, total)
        module.steps(np.ones(10, np.float32), 2, progress=inner)

    def call() -> None:
        module.steps(np.ones(100_000, np.float32), 1000, progress=nested)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert told[-1] == (100_000, 100_000)
    assert inner[-1] == (10, 10)


def test_a_program_with_state_cannot_be_called_from_its_own_progress() -> None:
    module = spmdvm.compile("uniform int n = 0; export float f(float x) { ++n; while (x > 0) x -= 1; return x; }")
    with pytest.raises(RuntimeError, match="because it has state"):
        module.f(np.full(100, 1e6, np.float32), progress=lambda *_: module.f(np.float32(1)))


def test_kernels() -> None:
    @spmdvm.kernel
    def double(x):
        return x * 2

    @spmdvm.kernel
    def fill(out):
        for i in spmdvm.foreach(len(out)):
            out[i] = i

    @spmdvm.kernel
    def both(x):
        return x, x

    x, told = np.arange(1000.0), Told()
    double(x, progress=told)
    assert told[-1] == (1000, 1000)
    for call in (lambda: fill(x, progress=told), lambda: both(x, progress=told)):
        told.clear()
        call()
        assert told[-1][0] == told[-1][1]
    with pytest.raises(TypeError, match="takes no `threads=`"):
        fill(x, threads=2)


def test_a_parameter_of_that_name_is_the_functions_own(module: spmdvm.Module) -> None:
    assert module.own(progress=7) == 7


@pytest.mark.parametrize("wrong", [1, "yes", 0.5, [print]])
def test_mistakes(module: spmdvm.Module, wrong: Any) -> None:
    with pytest.raises(
        TypeError, match=r"steps\(\): `progress` must be True \(a bar\), or a function f\(done, total\)"
    ):
        module.steps(1, 1, progress=wrong)


def test_nothing_is_told_where_nothing_is_asked_for(module: spmdvm.Module, capfd: Any) -> None:
    for off in (False, None):
        module.steps(np.ones(10, np.float32), 1, progress=off)
    assert capfd.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_of_a_terminal(module: spmdvm.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    module.steps(np.ones(100_000, np.float32), 10, progress=True)
    lines = stream.getvalue().split("\r")
    assert stream.getvalue().endswith("\n")
    assert lines[-1].startswith("steps: 100%|█")
    assert "100k/100k [00:00<00:00, " in lines[-1]
    assert "elements/s]" in lines[-1]


def test_elsewhere_it_is_a_plain_line(module: spmdvm.Module, capfd: Any) -> None:
    module.tasks(np.zeros(5, np.float32), 5, 10, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("tasks: 100%|██████████| 10/10 [00:00<00:00, ")
    assert err.endswith(" tasks/s]\n")
    assert err.count("\n") == 1


def test_the_bar_says_when_a_call_was_stopped(capfd: Any) -> None:
    module = spmdvm.compile(SOURCE, timeout=0.1)
    for f in (module.endless, module.forever):
        with pytest.raises(TimeoutError):
            f(np.zeros(1000, np.float32), progress=True)
        assert capfd.readouterr().err.endswith("] stopped\n")


def test_nobody_to_show_it_to(module: spmdvm.Module, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        assert module.steps(np.float32(1), 3, progress=True) == 3


def test_how_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [_bar(part, 2) for part in (0, 0.25, 0.5, 0.75, 1)] == ["  ", "▌ ", "█ ", "█▌", "██"]
    numbers = [0, 7, 999, 0.123, 16.04, 1000, 1234, 99_960, 999_600, 5e6, 3e12]
    shown = ["0", "7", "999", "0.12", "16.0", "1.00k", "1.23k", "100k", "1.00M", "5.00M", "3.00T"]
    assert [_short(n) for n in numbers] == shown
    assert [_clock(s) for s in (0.9, 61, 3600 * 5 + 62)] == ["00:00", "01:01", "5:01:02"]
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "70")
    bar = Bar("f")
    assert bar._text(250, 1000, "elements", 10.0).startswith("f:  25%|███")
    assert bar._text(250, 1000, "elements", 10.0).endswith("| 250/1.00k [00:10<00:30, 25 elements/s]")
    assert len(bar._text(250, 1000, "elements", 10.0)) < 70
    assert bar._text(2500, None, "rounds", 10.0) == "f: 2.50k rounds [00:10, 250 rounds/s]"
    assert bar._text(0, 0, "elements", 0.0).startswith("f: 100%|")


def test_in_a_pipe_that_nobody_reads() -> None:
    program = (
        "import os, sys, numpy as np, spmdvm\n"
        "read, write = os.pipe(); os.close(read); os.dup2(write, 2)\n"
        "m = spmdvm.compile('export float f(float x) { return x + 1; }')\n"
        "print(m.f(np.ones(3, np.float32), progress=True))\n"
        "sys.stdout.flush(); os._exit(0)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert ran.stdout == "[2. 2. 2.]\n"


@spmdvm.kernel
def add(a, b):
    return a + b


@spmdvm.kernel
def odd(x):
    return x % 2 == 1


@spmdvm.kernel
def both(x, y):
    return x + y, x * y


def _combinators(threads: int) -> list[tuple[str, int, Any]]:
    """Give calls of combinators that take `progress`, by every way they go, with the number of elements."""
    rng = np.random.default_rng(5)
    line, columns, lines = rng.random(300_001), rng.random((3000, 40)), rng.random((20_000, 5))
    whole = rng.integers(0, 100, 200_000)
    at = rng.integers(-5, 1000, 150_000)

    def histogram(bins: int, wide: bool = False, **special: Any) -> Any:
        dest = np.zeros((bins, 3) if wide else bins)
        values = rng.random((len(at), 3)) if wide else 0.5
        return spmdvm.reduce_by_index(dest, "+", at, values, threads=threads, **special)

    def calls(x: np.ndarray, **given: Any) -> list[tuple[str, int, Any]]:
        return [
            (f"reduce {x.shape}", x.size, lambda **s: spmdvm.reduce("+", x, threads=threads, **given, **s)),
            (f"scan {x.shape}", x.size, lambda **s: spmdvm.scan("+", x, threads=threads, **given, **s)),
        ]

    return [
        *calls(line),
        *calls(columns, axis=0),
        *calls(lines, axis=1),
        *calls(line[: 4 * 65_536].reshape(4, 65_536), axis=1),
        ("ordered", line.size, lambda **s: spmdvm.reduce(add, line, neutral=0, threads=threads, **s)),
        (
            "exclusive",
            columns.size,
            lambda **s: spmdvm.scan("+", columns, axis=0, inclusive=False, threads=threads, **s),
        ),
        ("histogram", at.size, lambda **s: histogram(1000, **s)),
        ("of few", at.size, lambda **s: histogram(10, **s)),
        ("of many", at.size, lambda **s: histogram(100_000, **s)),
        ("mapped", at.size, lambda **s: histogram(1000, map=np.square, **s)),
        ("filter", whole.size, lambda **s: spmdvm.filter(odd, whole, threads=threads, **s)),
        ("rows", len(lines), lambda **s: spmdvm.filter(lines[:, 0] > 0.5, lines, axis=0, threads=threads, **s)),
        ("map", line.size, lambda **s: spmdvm.map(np.sqrt, line, threads=threads, **s)),
        ("several", line.size, lambda **s: spmdvm.map(both, line, 2.0, threads=threads, **s)),
    ]


@pytest.mark.parametrize("threads", [1, 3])
def test_combinators_count_elements(threads: int) -> None:
    for (name, elements, plain), (_, _, counted) in zip(_combinators(threads), _combinators(threads)):
        told = Told()
        wanted, got = plain(), counted(progress=told)
        for a, b in zip(wanted if isinstance(wanted, tuple) else (wanted,), got if isinstance(got, tuple) else (got,)):
            np.testing.assert_array_equal(a, b, err_msg=name)
        assert told[-1] == (elements, elements), name
        assert {total for _, total in told} == {elements}, name
        assert told.is_in_order(), name


@pytest.mark.parametrize("threads", [1, 3])
def test_combinators_count_exactly_what_they_do(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from spmdvm import _progress

    made: list[_progress.Counted] = []

    def counted(*args: Any) -> _progress.Counted:
        made.append(_progress.Counted(*args))
        return made[-1]

    monkeypatch.setattr("spmdvm._combine.Counted", counted)
    for name, _, call in _combinators(threads):
        made.clear()
        call(progress=Told())
        for count in made:
            assert count.counter[0] == count.all, name
        assert len(made) == (name != "map"), name


def test_combinators_are_told_about_while_they_run() -> None:
    @spmdvm.kernel
    def slow(x, rounds: spmdvm.uniform[int]):
        for _ in range(rounds):
            x = x * 0.5 + 1
        return x

    def slowly(rounds: int) -> Any:
        @spmdvm.kernel
        def mapping(x):
            return slow(x, rounds)

        return mapping

    x, rounds = np.linspace(0, 1, 400_000), 100
    while True:
        told = Told()
        spmdvm.reduce("+", x, map=slowly(rounds), progress=told)
        if any(0 < done < x.size for done, _ in told):
            break
        rounds *= 4
        assert rounds < 1 << 24, "never told"


def test_combinators_are_stopped_by_what_is_told() -> None:
    @spmdvm.kernel
    def endless(x):
        while x == x:
            x = x + 0.0
        return x

    def stop(done: int, total: int | None) -> None:
        raise RuntimeError("stop")

    x = np.zeros(10_000)
    for call in (
        lambda: spmdvm.reduce("+", x, map=endless, progress=stop),
        lambda: spmdvm.scan("+", x, map=endless, threads=2, progress=stop),
        lambda: spmdvm.filter(endless, x, progress=stop),
        lambda: spmdvm.map(endless, x, progress=stop),
        lambda: spmdvm.evaluate("x + 1", {"x": x}, progress=stop),
    ):
        with pytest.raises(RuntimeError, match="stop"):
            call()


def test_bars_of_kernels(capfd: pytest.CaptureFixture[str]) -> None:
    """They have the kernel's name."""

    @spmdvm.kernel
    def both(a, b):
        return a + b, a - b

    @spmdvm.kernel
    def total(a):
        s = 0.0
        for i in range(len(a)):
            s += a[i]
        return s

    x = np.ones(1000)
    for kernel, given in ((add, (x, x)), (both, (x, x)), (total, (x,))):
        kernel(*given, progress=True)
        shown = capfd.readouterr().err
        assert shown.startswith(f"{kernel.__name__}: ") and shown.count("\n") == 1
    spmdvm.evaluate("2 * x + 1", progress=True)
    assert capfd.readouterr().err.startswith("2 * x + 1: 100%|")


def test_bars_of_combinators(capfd: pytest.CaptureFixture[str]) -> None:
    spmdvm.reduce("+", np.ones(1000), progress=True)
    spmdvm.scan("+", np.ones(1000), progress=True)
    shown = capfd.readouterr().err
    assert "reduce: 100%" in shown and "1.00k/1.00k" in shown
    assert "scan: 100%" in shown


def test_expressions() -> None:
    x, told = np.arange(1000.0), Told()
    assert np.array_equal(spmdvm.evaluate("2 * x + 1", progress=told), 2 * x + 1)
    assert told[-1] == (1000, 1000)
    told.clear()
    spmdvm.vectorize("2 * x + 1")(x, progress=told)
    assert told[-1] == (1000, 1000)
    for nothing in (None, False):
        assert spmdvm.evaluate("x + 1", progress=nothing)[0] == 1
        assert spmdvm.reduce("+", x, progress=nothing) == x.sum()


def test_nothing_to_do() -> None:
    told = Told()
    assert spmdvm.reduce("+", np.zeros(0), progress=told) == 0
    assert spmdvm.scan("+", np.zeros(0), progress=told).size == 0
    assert spmdvm.filter(odd, np.zeros(0, int), progress=told).size == 0
    assert all(done == total == 0 for done, total in told)


def test_mistakes_of_combinators() -> None:
    x = np.arange(10)
    with pytest.raises(TypeError, match=r"reduce\(\): `progress` must be True \(a bar\), or a function"):
        spmdvm.reduce("+", x, progress=3)
    with pytest.raises(TypeError, match=r"reduce_by_index\(\): `progress` must be"):
        spmdvm.reduce_by_index(x, "+", x, 1, progress="yes")
    with pytest.raises(TypeError, match="`progress` must be True"):
        spmdvm.evaluate("x + 1", progress=1)


def test_lazy_arrays_have_a_progress_of_their_own(module: spmdvm.Module) -> None:
    da = pytest.importorskip("dask.array")
    x, told = da.ones(100, dtype=np.float64), Told()
    for call in (
        lambda: spmdvm.reduce("+", x, progress=told),
        lambda: spmdvm.scan("+", (x, x), progress=told),
        lambda: spmdvm.filter(odd, x, progress=told),
        lambda: spmdvm.map(np.sqrt, x, progress=told),
        lambda: spmdvm.reduce_by_index(np.zeros(3), "+", x, 1, progress=told),
        lambda: spmdvm.evaluate("x + 1", {"x": x}, progress=told),
        lambda: odd(x, progress=told),
        lambda: module.steps(x.astype(np.float32), 3, progress=told),
    ):
        with pytest.raises(TypeError, match=r"ProgressBar"):
            call()
    assert not told
