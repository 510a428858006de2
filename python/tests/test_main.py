"""`python -m spmdvm` and the script `spmdvm` are the command line."""

import subprocess
import sys
from pathlib import Path

import pytest
import spmdvm

PROGRAM = "export void twice(uniform float x[], uniform int n) {\n    foreach (i = 0 ... n) x[i] *= 2;\n}\n"


def run(*words, command=(sys.executable, "-m", "spmdvm"), text=None):
    """Run the command line."""
    return subprocess.run([*command, *words], capture_output=True, encoding="utf-8", input=text, timeout=120)


def test_it_runs_programs(tmp_path):
    file = tmp_path / "twice.ispc"
    file.write_text(PROGRAM)
    done = run("run", str(file), "iota:f32:4", "4", "--width", "4")
    assert (done.returncode, done.stdout) == (0, "x: f32[4] = [0, 2, 4, 6]\n"), done
    assert run("check", str(file)).returncode == 0


def test_it_has_a_prompt():
    done = run("repl", "--width", "4", text="int x = programIndex * 3\nx\n")
    assert done.returncode == 0 and "varying int32 = 0 3 6 9" in done.stdout, done


def test_exit_codes(tmp_path):
    assert run("--version").stdout.split() == ["spmdvm", spmdvm.__version__]
    wrong = run("rnu")
    assert wrong.returncode == 2 and "rnu" in wrong.stderr
    file = tmp_path / "beyond.ispc"
    file.write_text(PROGRAM)
    trapped = run("run", str(file), "iota:f32:4", "5")
    assert trapped.returncode == 3 and "index out of bounds" in trapped.stderr
    file.write_text("export void f( {")
    assert run("check", str(file)).returncode == 1


def test_the_script():
    script = Path(sys.executable).with_name("spmdvm")
    if not script.is_file():
        pytest.skip("the package was not installed with its scripts")
    assert run("--version", command=[str(script)]).stdout == run("--version").stdout
