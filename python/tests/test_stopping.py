"""Ctrl-C ends calls of every kind, soon, and leaves all fit for the next one."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

# It is written to a file, as kernels are compiled from their source.
HEAD = '''
import contextlib, os, signal, sys, threading, time
import numpy as np
import spmdvm

@spmdvm.kernel
def slow(x):
    n = 0
    while x >= 0:
        n += 1
        x = x * 1
    return n

@spmdvm.kernel
def forever(a):
    while a[0] >= 0:
        for i in spmdvm.foreach(len(a)):
            a[i] += 0

@spmdvm.kernel
def chatty(a):
    while a[0] >= 0:
        print("value", a[0])

@spmdvm.kernel
def recursive(x):
    def deep(n):
        return 1 if n < 1 else deep(n - 1) + deep(n - 1)
    return deep(x)

def spin(x):
    while x > 0:
        x += 1

program = spmdvm.compile("""
extern "C" uniform float spin(uniform float x);
extern "C" float spin_lanes(float x);
extern "C" float quick(float x);
extern "C" uniform float rest(uniform float x);
export uniform float host() { return spin(1); }
export uniform float sleep() { return rest(1); }
export float host_lanes(float x) { return spin_lanes(x); }
export void host_often() { while (true) quick(programIndex); }
task void short_one() { }
export void tasks() { while (true) { launch[100] short_one(); sync; } }
""", host={"spin": spin, "spin_lanes": spmdvm.per_lane(spin), "quick": lambda x: x, "rest": lambda x: time.sleep(1000)})
x, at = np.zeros(100000), np.zeros(100000, int)
'''

CALLS = {
    "kernel": "slow(x)",
    "kernel_threads": "slow(x, threads=3)",
    "kernel_progress": "slow(x, progress=lambda done, total: None)",
    "kernel_profile": "slow.profile(x)",
    "kernel_stepper": "slow.stepper(x).finish()",
    "array_kernel": "forever(np.ones(100, np.float32))",
    "recursion": "recursive(np.full(100, 60))",
    "prints": "chatty(np.ones(4, np.float32))",
    "vectorize": "while True: spmdvm.vectorize('x * x + 1')(x)",
    "evaluate": "while True: spmdvm.evaluate('sqrt(x * x + 1)')",
    "map": "spmdvm.map(slow, x)",
    "reduce": "spmdvm.reduce('+', x, map=slow)",
    "reduce_threads": "spmdvm.reduce('+', x, map=slow, threads=3)",
    "scan": "spmdvm.scan('+', x, map=slow)",
    "filter": "spmdvm.filter(slow, x)",
    "reduce_by_index": "spmdvm.reduce_by_index(np.zeros(3, int), '+', at, x, map=slow)",
    "tasks": "program.tasks()",
    "host": "program.host()",
    "host_that_sleeps": "program.sleep()",
    "host_lanes": "program.host_lanes(np.ones(40, np.float32))",
    "host_often": "program.host_often()",
    "dask": "slow(da.zeros(1000, chunks=100)).compute(scheduler='threads')",
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_it(name: str, tmp_path) -> None:
    call = CALLS[name]
    imports, before = "", ""
    if name == "dask":
        pytest.importorskip("dask.array")
        # Before the key is pressed: not every module is fit for the next import when the first was stopped.
        imports = "import dask.array as da"
        # Nor is a chunk stopped that begins after that: the kernel is compiled by then, and all threads are in it.
        before = "slow(-da.ones(1000, chunks=100)).compute(scheduler='threads')"
    script = tmp_path / "script.py"
    script.write_text(f"""{imports}{HEAD}{before}
threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
        {call}
except KeyboardInterrupt:
    print("stopped")
assert slow(-np.ones(20)).tolist() == [0] * 20
assert spmdvm.reduce("+", np.arange(10)) == 45
""")
    # Were it not stopped, it would never end.
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "stopped\n"), done.stderr
