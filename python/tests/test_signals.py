"""Python's handlers of signals run while programs run."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

HEAD = """
import os, signal, sys, threading, time
import numpy as np
import spmdvm

module = spmdvm.compile('''
export void endless(const uniform int flag[]) { while (flag[0] == 0) { } }
export int wait(int x, const uniform int flag[]) { while (flag[0] == 0) { } return x; }
task void part(const uniform int flag[]) { while (flag[0] == 0) { } }
export void tasks(const uniform int flag[]) { launch[4] part(flag); }
''')
stateful = spmdvm.compile('''
static uniform int n = 0;
export void endless(const uniform int flag[]) { while (flag[0] == 0) { } }
export void f() { n += 1; }
''')
flag = np.zeros(1, np.int32)
x = np.zeros(1000, np.int32)

class Stop(Exception):
    pass

def stop(number, frame):
    raise Stop(signal.Signals(number).name)

calls = []
def note(number, frame):
    calls.append(number)
    if len(calls) == 3:
        flag[0] = 1
    else:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
"""

RUNS = [
    "module.endless(flag)",
    "module.wait(x, flag)",
    "module.wait(x, flag, threads=3)",
    "module.tasks(flag)",
    "stateful.endless(flag)",
]


def run(code: str) -> str:
    """Run Python code in another process; give what it prints."""
    code = HEAD + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("call", RUNS)
@pytest.mark.parametrize("name", ["SIGALRM", "SIGTERM", "SIGUSR1"])
def test_what_a_handler_raises_stops_the_program(name: str, call: str) -> None:
    out = run(f"""
    signal.signal(signal.{name}, stop)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.{name})).start()
    start = time.monotonic()
    try:
        {call}
    except Stop as stopped:
        print(stopped)
    assert time.monotonic() - start < 20
    module.tasks(np.ones(1, np.int32))
    """)
    assert out == name + "\n"


@pytest.mark.parametrize("call", RUNS)
def test_the_program_goes_on_when_handlers_return(call: str) -> None:
    out = run(f"""
    signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    {call}
    print(len(calls))
    """)
    assert out == "3\n"


def test_a_handler_of_ctrl_c_that_returns() -> None:
    out = run("""
    def pressed(number, frame):
        flag[0] = 1
        print("pressed", flush=True)
    signal.signal(signal.SIGINT, pressed)
    thread = threading.Thread(target=module.endless, args=(np.zeros(1, np.int32),), daemon=True)
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    module.endless(flag)
    print("went on")
    """)
    assert out == "pressed\nwent on\n"


def test_ctrl_c_in_the_first_moment_of_another_thread() -> None:
    out = run("""
    def pressed_at_once(value):
        pressed.set()
        return value
    program = spmdvm.compile('''
    extern "C" uniform int begun(uniform int x);
    export void endless(const uniform int flag[]) { begun(0); while (flag[0] == 0) { } }
    ''', host={"begun": pressed_at_once})
    for _ in range(20):
        pressed, ended = threading.Event(), []
        def call():
            try:
                program.endless(flag)
            except KeyboardInterrupt:
                ended.append(True)
        thread = threading.Thread(target=call, daemon=True)
        try:
            thread.start()
            pressed.wait()
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        except KeyboardInterrupt:
            pass
        thread.join(10)
        assert ended, "it runs on"
    """)
    assert out == ""


def test_a_handler_may_call_programs() -> None:
    out = run("""
    def nested(number, frame):
        module.endless(np.ones(1, np.int32))
        flag[0] = 1
    signal.signal(signal.SIGALRM, nested)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    module.endless(flag)
    flag[0] = 0
    signal.signal(signal.SIGALRM, lambda number, frame: stateful.f())
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        stateful.endless(flag)
    except RuntimeError as error:
        print(error)
    """)
    expected = "a program cannot be called by the handler of a signal that came while it runs, because it has state\n"
    assert out == expected


def test_handlers_run_although_another_thread_is_busy() -> None:
    out = run("""
    busy = True
    def spin():
        while busy:
            pass
    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    signal.signal(signal.SIGALRM, note)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    module.endless(flag)
    print(len(calls))
    busy = False
    """)
    assert out == "3\n"


def test_programs_of_other_threads_go_on() -> None:
    out = run("""
    signal.signal(signal.SIGUSR1, lambda number, frame: calls.append(number))
    done = []
    thread = threading.Thread(target=lambda: done.append(module.endless(flag)))
    thread.start()
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.2)
    assert not done
    flag[0] = 1
    thread.join()
    print(len(calls), done)
    """)
    assert out == "1 [None]\n"


def test_what_begins_after_ctrl_c_is_not_stopped_by_it() -> None:
    out = run("""
    program = spmdvm.compile('extern "C" uniform float rest(uniform float x);'
        'export uniform float sleep() { return rest(1); }', host={"rest": lambda x: (time.sleep(2), x)[1]})
    thread = threading.Thread(target=program.sleep)
    thread.start()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        module.endless(flag)
    except KeyboardInterrupt:
        print("pressed")
    assert thread.is_alive()
    print(spmdvm.reduce("+", np.arange(10)))
    """)
    assert out.startswith("pressed\n45\n")


def test_no_signal_is_lost_in_short_calls() -> None:
    """Also not one that comes before a call has looked for the first time, after a millisecond."""
    out = run("""
    work = np.zeros(3_000_000, np.float32)
    square = spmdvm.vectorize("sqrt(work * work + 1)")
    caught = 0
    signal.signal(signal.SIGALRM, stop)
    for i in range(30):
        signal.setitimer(signal.ITIMER_REAL, 0.02 + 0.0003 * i)
        end = time.monotonic() + 1
        try:
            while time.monotonic() < end:
                square(work)
        except Stop:
            caught += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(caught)
    """)
    assert out == "30\n"


def test_the_first_call_runs_no_python_in_which_a_signal_could_be_lost() -> None:
    """Nor does it import anything: what a handler raised there would be a panic."""
    out = run("""
    ran = []
    sys.setprofile(lambda frame, event, arg: event == "call" and ran.append(frame.f_code.co_name))
    flag[0] = 1
    module.endless(flag)
    sys.setprofile(None)
    print(ran)
    """)
    assert out == "[]\n"
