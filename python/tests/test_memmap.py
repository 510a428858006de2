"""Arrays in mapped files, also those that others cut off."""

from __future__ import annotations

import mmap
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import spmdvm

HEAD = """
import mmap, os, sys, threading, time
import numpy as np
import spmdvm

module = spmdvm.compile('''
export uniform float total(const uniform float x[], uniform int n, uniform int rounds) {
    float sum = 0;
    for (uniform int r = 0; r < rounds; ++r) foreach (i = 0 ... n) sum += x[i];
    return reduce_add(sum);
}
export float plus(float x) { for (uniform int r = 0; r < 20; ++r) x += 1; return x; }
''')
n = 1 << 20
path = sys.argv[1]
np.ones(n, np.float32).tofile(path)

def cut(after=0.3):
    def work():
        time.sleep(after)
        os.truncate(path, 4096)
    threading.Thread(target=work).start()
"""


def run(tmp_path: Path, code: str) -> str:
    """Run Python code in another process; give what it prints."""
    code = HEAD + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "data")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_mapped_files(tmp_path: Path) -> None:
    module = spmdvm.compile("export float plus(float x) { return x + 1; }")
    path = tmp_path / "data"
    np.arange(5000, dtype=np.float32).tofile(path)
    x = np.memmap(path, np.float32, offset=4, shape=(4000,))
    assert (module.plus(x) == np.arange(2, 4002)).all()
    assert (module.plus(x[::-2]) == np.arange(2, 4002)[::-2]).all()
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        y = np.frombuffer(mapping, np.float32)
        assert (module.plus(y) == np.arange(1, 5001)).all()
        del y
    anonymous = np.frombuffer(mmap.mmap(-1, 4096), np.float32)
    assert (module.plus(anonymous) == 1).all()


@pytest.mark.skipif(sys.platform == "win32", reason="mapped files cannot be cut off there")
@pytest.mark.parametrize(
    ("array", "call"),
    [
        ("np.memmap(path, np.float32)", "module.total(x, n, 3000)"),
        ("np.memmap(path, np.float32, mode='r+')[5:]", "module.total(x, n - 5, 3000)"),
        ("np.memmap(path, np.float32)[::2].reshape(2, -1)", "module.plus(x, threads=2)"),
        ("np.frombuffer(mmap.mmap(os.open(path, os.O_RDWR), 0), np.float32)", "module.total(x, n, 3000)"),
    ],
)
def test_a_file_that_is_cut_off_is_an_error(tmp_path: Path, array: str, call: str) -> None:
    # Between two calls, or behind the last access of one, the file is found too short by the next.
    out = run(
        tmp_path,
        f"""
        x = {array}
        cut()
        try:
            while True:
                {call}
        except OSError as error:
            print(type(error).__name__, "cut off" in str(error))
        os.truncate(path, 4 * n)
        print(module.plus(np.memmap(path, np.float32))[0])
        """,
    )
    assert out == "OSError True\n21.0\n"


@pytest.mark.skipif(sys.platform == "win32", reason="mapped files cannot be cut off there")
def test_a_file_that_was_cut_off_before(tmp_path: Path) -> None:
    out = run(
        tmp_path,
        """
        x = np.memmap(path, np.float32)
        os.truncate(path, 4096)
        calls = [lambda: module.total(x, 1, 1), lambda: module.plus(x), lambda: module.total(x=x[2:], n=1, rounds=1)]
        for call in calls:
            try:
                call()
            except OSError as error:
                print("has been cut off" in str(error))
        """,
    )
    assert out == "True\nTrue\nTrue\n"
