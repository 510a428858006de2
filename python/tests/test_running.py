"""Threads, the GIL, Ctrl-C and prints."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import spmdvm

ENDLESS = "export void endless() { while (true) { } }\n"


def in_threads(n: int, work) -> None:
    threads = [threading.Thread(target=work, args=(k,)) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads(kernels: spmdvm.Module) -> None:
    arrays = [np.full(1000, k, np.float32) for k in range(8)]

    def work(k: int) -> None:
        for _ in range(50):
            kernels.scale(arrays[k], 1000, 2)
            kernels.scale(arrays[k], 1000, 0.5)

    in_threads(8, work)
    for k, x in enumerate(arrays):
        assert (x == k).all()


def test_compiling_in_threads() -> None:
    results = []
    in_threads(8, lambda k: results.append(spmdvm.compile(f"export uniform int f() {{ return {k}; }}").f()))
    assert sorted(results) == list(range(8))


def test_the_gil_is_released() -> None:
    module = spmdvm.compile(ENDLESS, timeout=0.5)
    steps = 0
    done = threading.Event()

    def run() -> None:
        with pytest.raises(TimeoutError):
            module.endless()
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not done.is_set():
        steps += 1
        time.sleep(0.001)
    thread.join()
    assert steps > 20


def test_globals_last_from_call_to_call() -> None:
    module = spmdvm.compile("static uniform int count = 0;\nexport uniform int next() { return ++count; }\n")
    assert [module.next() for _ in range(3)] == [1, 2, 3]
    in_threads(4, lambda k: [module.next() for _ in range(100)])
    assert module.next() == 404


def run_and_interrupt(code: str) -> subprocess.CompletedProcess:
    """Run Python code in another process; when it is ready, press Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Tests may run in the background of a shell, which ignores the signal and passes that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("Ctrl-C did not stop the program")
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
PRELUDE = f"""\
import spmdvm, signal, threading, time
module = spmdvm.compile({ENDLESS!r})
"""


@needs_signals
def test_ctrl_c_stops_an_endless_program() -> None:
    code = """\
handler = signal.getsignal(signal.SIGINT)
print("ready", flush=True)
try:
    module.endless()
except KeyboardInterrupt as e:
    assert type(e) is KeyboardInterrupt
    print("stopped", flush=True)
assert signal.getsignal(signal.SIGINT) is handler
spmdvm.compile("export void f() { }").f()
print("lives")
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"stopped\nlives\n", result.stderr.decode()


# Takes long to compile.
STATEMENTS = "".join(f"x = x * 3 + {i}; if (x > {i}) ++x;\n" for i in range(200_000))
LARGE = f"export int f(int x) {{{STATEMENTS}return x; }}"


@needs_signals
def test_ctrl_c_stops_a_compilation() -> None:
    code = """\
import spmdvm, signal
from test_running import LARGE
handler = signal.getsignal(signal.SIGINT)
print("ready", flush=True)
try:
    spmdvm.compile(LARGE)
except KeyboardInterrupt as e:
    assert type(e) is KeyboardInterrupt
    print("stopped", flush=True)
assert signal.getsignal(signal.SIGINT) is handler
spmdvm.compile("export void f() { }").f()
"""
    path = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
    result = run_and_interrupt(path + code)
    assert result.stdout == b"stopped\n", result.stderr.decode()


def test_the_timeout_bounds_a_compilation() -> None:
    start = time.monotonic()
    with pytest.raises(spmdvm.OutOfTime, match="compilation took longer") as error:
        spmdvm.compile(LARGE, timeout=0.05)
    assert time.monotonic() - start < 2
    assert isinstance(error.value, TimeoutError)


@needs_signals
def test_ctrl_c_after_the_handler_was_set_anew() -> None:
    code = """\
spmdvm.compile("export void f() { }").f()
def handler(number, frame):
    raise ValueError("mine")
signal.signal(signal.SIGINT, handler)
print("ready", flush=True)
try:
    module.endless()
except ValueError as e:
    print(e)
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"mine\n", result.stderr.decode()


@needs_signals
def test_ctrl_c_with_a_library_that_passes_the_signal_on() -> None:
    code = """\
import faulthandler
short = spmdvm.compile("export void f() { }")
short.f()
faulthandler.register(signal.SIGINT, chain=True)
short.f()
print("ready", flush=True)
try:
    module.endless()
except KeyboardInterrupt:
    print("stopped")
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"stopped\n", result.stderr.decode()
    assert b"most recent call first" in result.stderr


@needs_signals
def test_a_library_takes_its_handler_down() -> None:
    code = """\
import faulthandler
long = spmdvm.compile("export void f() { for (uniform int i = 0; i < 100000; ++i) { } }")
long.f()
faulthandler.register(signal.SIGINT, chain=True)
long.f()
faulthandler.unregister(signal.SIGINT)
long.f()
print("ready", flush=True)
try:
    time.sleep(10)
except KeyboardInterrupt:
    print("stopped")
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"stopped\n", result.stderr.decode()


@needs_signals
def test_ctrl_c_before_the_first_poll() -> None:
    # Rounds that take so long that the signal comes before several thousand of them.
    code = """\
long = "x = exp(x) * 0.25f; " * 3000
body = f"float x = a[0]; for (;;) {{ {long} }}"
module = spmdvm.compile(f"export void f(uniform float a[]) {{ {body} }}", engine="interp")
import numpy as np
print("ready", flush=True)
try:
    module.f(np.ones(1, np.float32))
except KeyboardInterrupt:
    print("stopped")
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"stopped\n", result.stderr.decode()


@needs_signals
def test_ctrl_c_between_calls() -> None:
    code = """\
short = spmdvm.compile("export void f() { }")
short.f()
print("ready", flush=True)
try:
    time.sleep(10)
except KeyboardInterrupt:
    print("stopped", flush=True)
short.f()
print("lives")
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"stopped\nlives\n", result.stderr.decode()


@needs_signals
def test_ctrl_c_while_a_thread_runs() -> None:
    code = """\
def work():
    try:
        module.endless()
    except spmdvm.Interrupted as e:
        assert e.kind == "interrupted"
        print("thread stopped", flush=True)
thread = threading.Thread(target=work)
thread.start()
print("ready", flush=True)
try:
    while thread.is_alive():
        time.sleep(0.01)
    time.sleep(1)
except KeyboardInterrupt:
    pass
thread.join()
print("joined")
"""
    result = run_and_interrupt(PRELUDE + code)
    assert result.stdout == b"thread stopped\njoined\n", result.stderr.decode()


@needs_signals
def test_ctrl_c_stops_a_mapped_function_in_threads() -> None:
    code = """\
import numpy as np, spmdvm
module = spmdvm.compile("export float f(float x) { while (x == 0) { } return x; }")
print("ready", flush=True)
try:
    module.f(np.zeros(1000, np.float32), threads=2)
except KeyboardInterrupt:
    print("stopped")
"""
    result = run_and_interrupt(code)
    assert result.stdout == b"stopped\n", result.stderr.decode()


PRINTING = """
export void hello(uniform int n) {
    for (uniform int i = 0; i < n; ++i) print("hello %\\n", i);
}
"""


def test_print(capsys: pytest.CaptureFixture) -> None:
    spmdvm.compile(PRINTING).hello(3)
    assert capsys.readouterr().out == "hello 0\nhello 1\nhello 2\n"


def test_print_goes_where_stdout_goes_now(monkeypatch: pytest.MonkeyPatch) -> None:
    module = spmdvm.compile(PRINTING)
    for _ in range(2):
        sink = io.StringIO()
        monkeypatch.setattr(sys, "stdout", sink)
        module.hello(1)
        assert sink.getvalue() == "hello 0\n"
    monkeypatch.setattr(sys, "stdout", None)
    module.hello(1)


def test_print_shows_lanes(capsys: pytest.CaptureFixture) -> None:
    module = spmdvm.compile('export void f() { if (programIndex < 2) print("%\\n", programIndex); }', width=4)
    module.f()
    assert capsys.readouterr().out == "[0,1,((2)),((3))]\n"


def test_an_error_of_stdout(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("full")

    monkeypatch.setattr(sys, "stdout", Broken())
    with pytest.raises(OSError, match="full"):
        spmdvm.compile(PRINTING).hello(2)


def test_a_program_cannot_be_called_by_its_own_print(monkeypatch: pytest.MonkeyPatch) -> None:
    module = spmdvm.compile("static uniform int state = 1;\n" + PRINTING)

    class Calling(io.StringIO):
        def write(self, text: str) -> int:
            module.hello(1)
            return len(text)

    monkeypatch.setattr(sys, "stdout", Calling())
    with pytest.raises(RuntimeError, match="while it prints"):
        module.hello(1)


def test_same_bits_at_every_run(kernels: spmdvm.Module) -> None:
    x = np.random.default_rng(1).random(1000, dtype=np.float32)
    assert len({kernels.total(x, 1000) for _ in range(20)}) == 1


FORK = """
import os, sys, time
import numpy as np
import spmdvm

TEXT = "export void f(uniform float a[], uniform int n) { foreach (i = 0 ... n) a[i] = a[i] * 0.5f + 1; }"

def run(module):
    a = np.zeros(3000, np.float32)
    module.f(a, len(a))
    return bool((a == 1).all())

def compiles(module):
    for _ in range(3000):
        if not run(module):
            return False
        if any(v["entries"] for loop in module.stats()["loops"] for v in loop["versions"]):
            return True
        time.sleep(0.005)
    return False

def child_succeeds(work):
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    return os.waitpid(pid, 0)[1] == 0

ready = spmdvm.compile(TEXT, engine="clif")
assert compiles(ready)
assert child_succeeds(lambda: compiles(ready)), "what the parent has compiled"
assert child_succeeds(lambda: compiles(spmdvm.compile(TEXT, engine="clif"))), "a module of its own"
for _ in range(5):
    pending = spmdvm.compile(TEXT, engine="clif")
    # The loop gets hot, and its compilation begins on a thread that the child does not have.
    assert run(pending)
    assert child_succeeds(lambda: compiles(pending)), "what the parent was compiling"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_children_compile_loops() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], timeout=120, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


MIXED = """
task void part(uniform int a[], uniform int n) {
    uniform int at = taskIndex;
    for (uniform int r = 0; r < 20; ++r) foreach (i = at * (n / 4) ... (at + 1) * (n / 4)) a[i] += i;
}
export void tasks(uniform int a[], uniform int n) { launch[4] part(a, n); }
export void alone(uniform int a[], uniform int n) {
    for (uniform int r = 0; r < 20; ++r) foreach (i = 0 ... n) a[i] += i;
}
"""


def test_threads_share_a_module_while_its_loops_are_compiled() -> None:
    shared = spmdvm.compile(MIXED, engine="clif")
    wrong: list[str] = []

    def work(name: str) -> None:
        for round_ in range(40):
            n = 400 + 4 * round_
            a = np.zeros(n, np.int32)
            getattr(shared, name)(a, n)
            if not (a == 20 * np.arange(n)).all():
                wrong.append(name)
            # Modules come and go meanwhile, some of them while they are compiled.
            other = spmdvm.compile(MIXED, engine="clif")
            other.alone(a, n)
            del other

    threads = [threading.Thread(target=work, args=(name,)) for name in ("alone", "tasks", "alone", "tasks")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    # The thread that compiles may come late on a busy machine, but it comes.
    end = time.monotonic() + 60
    while shared.stats()["traces"] == 0 and time.monotonic() < end:
        shared.alone(np.zeros(400, np.int32), 400)
    assert shared.stats()["traces"] >= 1
