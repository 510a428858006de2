"""Notebooks: the cell magic, what is shown as HTML, completion."""

from __future__ import annotations

import html.parser
import inspect
import json
import re
import sys
from pathlib import Path

import browser
import numpy as np
import pytest
import spmdvm
from spmdvm import _errors

SCALE = """
export void scale(uniform float x[], uniform int n, uniform float k) {
    foreach (i = 0 ... n) x[i] *= k; // <script>alert("&amp;")</script>
}
export float square(float a) { return a * a; }
"""
LONG = 100_000


class Page(html.parser.HTMLParser):
    """Sees to it that elements close, and collects the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.states: dict[str, int] = {}
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.names.add(tag)
        state = dict(attrs).get("data-state")
        if state:
            self.states[state] = self.states.get(state, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def page(found: object) -> Page:
    """Give what a notebook shows of an object; nothing in it may be code of its own."""
    shown = Page(found._repr_html_())
    assert shown.names <= {"div", "span", "b", "code", "table", "tr", "td", "th", "details", "summary"}
    return shown


@pytest.fixture
def hot() -> spmdvm.Module:
    """A module with a loop that is native code."""
    module = spmdvm.compile(SCALE, engine="clif", jit={"background": False})
    x = np.ones(LONG, np.float32)
    for _ in range(3):
        module.scale(x, LONG, 1)
    return module


def test_modules_and_functions(hot: spmdvm.Module) -> None:
    shown = page(hot)
    assert "width 16 · engine clif" in shown.text
    assert 'x[i] *= k; // <script>alert("&amp;")</script>' in shown.text
    assert "native code" in shown.text and "compiled in the loop at <string>:3" in shown.text
    assert shown.states["compiled"] >= 1 and shown.states["cold"] >= 1
    cold = page(spmdvm.compile(SCALE))
    assert "compiled" not in cold.states and "no loop has been hot yet" in cold.text
    assert "export float square(float a)" in page(hot.square).text
    assert "Parameters" in page(hot.square).text
    assert "exports nothing" in page(spmdvm.compile("void f() {}")).text


def test_long_programs_explain_their_hot_loops() -> None:
    functions = [
        f"export void f{k}(uniform float x[], uniform int n) {{\nforeach (i = 0 ... n)\nx[i] += {k};\n}}"
        for k in range(80)
    ]
    module = spmdvm.compile("\n".join(functions), engine="clif", jit={"background": False})
    x = np.ones(LONG, np.float32)
    for _ in range(3):
        module.f2(x, LONG)
    shown = page(module)
    assert shown.states["compiled"] >= 1 and shown.states["none"] > 300
    assert "x[i] += 79;" in shown.text


def test_reports_are_texts_that_show_themselves(hot: spmdvm.Module) -> None:
    report = hot.explain()
    assert isinstance(report, str) and "loop in `scale`" in report
    shown = page(report).text
    assert "x[i] *= k" in shown and "native" in shown and report.loops.splitlines()[0] in shown
    line = hot.explain(next(row.line for row in report.lines if "x[i] *= k" in row.text))
    assert page(line).text == line.rstrip()


def test_warnings_with_their_lines() -> None:
    with pytest.warns(spmdvm.CompileWarning):
        module = spmdvm.compile(
            "export void f(uniform float x[]) {\n  float unused = 1;\n  x[programIndex] = x[0] / 3;\n}"
        )
    assert module.warnings
    shown = page(module)
    assert f"warning[{module.warnings[0].code}]" in shown.text and "float unused = 1;" in shown.text
    # Alone, too, though the program is in no file.
    alone = [page(warning).text for warning in module.warnings]
    assert module.warnings[0].message in alone[0] and any("2 │   float unused = 1;" in text for text in alone)


def test_diagnostics_of_files_show_lines(tmp_path: Path) -> None:
    path = tmp_path / "wrong.ispc"
    path.write_text("export void f(uniform float x[]) {\n    x[0] = missing<int>;\n}\n")
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.compile_file(path)
    assert "x[0] = missing<int>;" in page(caught.value).text
    shown = page(caught.value.diagnostics[0])
    assert "x[0] = missing<int>;" in shown.text and f"error[{caught.value.diagnostics[0].code}]" in shown.text


def test_diagnostics_of_texts_show_lines() -> None:
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.compile("export void f() {\r\n    int a = missing; // µ\r\n}")
    found = caught.value.diagnostics[0]
    assert found.labels[0].source == "    int a = missing; // µ"
    assert "2 │     int a = missing; // µ" in page(found).text
    parts = [("a.ispc", "int g();\nexport int f() { return g() + h(1); }"), ("b.ispc", "int g() { return 1; }")]
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.compile(parts)
    label = caught.value.diagnostics[0].labels[0]
    assert (label.file, label.line, label.source) == ("a.ispc", 2, "export int f() { return g() + h(1); }")
    # Each label would have a copy of it.
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.compile("export void f() { int a = missing; /* " + "-" * 20_000 + " */ }")
    assert caught.value.diagnostics[0].labels[0].source == ""


def test_diagnostics_show_the_line_that_they_are_given() -> None:
    # Of programs that are in no file.
    labels = [(("<string>", 2, 5, 2, 6), "not declared", "    y = 1;"), (("<string>", 1, 1, 1, 5), "in here")]
    made = _errors._diagnostic("E0200", "UndefinedName", "error", "there is no `y` here", labels, None, ())
    assert [label.source for label in made.labels] == ["    y = 1;", ""]
    assert "2 │     y = 1;" in page(made).text and "in here" in page(made).text


def test_traps_and_findings(hot: spmdvm.Module) -> None:
    with pytest.raises(spmdvm.OutOfBounds) as caught:
        hot.scale(np.ones(3, np.float32), 5, 2)
    shown = page(caught.value)
    assert "OutOfBounds" in shown.text and "x[i] *= k" in shown.text
    divide = spmdvm.compile("export int f(int a, int b) { return a / b; }")
    with pytest.raises(spmdvm.DivisionByZero) as caught:
        divide.f(np.array([4, 5], np.int32), np.array([1, 0], np.int32))
    assert "argumentvalue" in page(caught.value).text and "b0" in page(caught.value).text
    text = "export void f(uniform float y[]) { y[programIndex & 3] = programIndex; }"
    checked = spmdvm.compile(text, check=True, width=8)
    checked.f(np.zeros(4, np.float32))
    (finding,) = checked.report()
    shown = page(finding)
    assert "lane01234567" in shown.text and "value0.01.0" in shown.text and finding.message in shown.text


def test_kernels() -> None:
    @spmdvm.kernel(engine="clif", jit={"background": False})
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    before = page(collatz)
    assert "elementwise kernel" in before.text and "not called yet" in before.text
    assert "n = n // 2 if n % 2 == 0 else 3 * n + 1" in before.text
    for _ in range(3):
        collatz(np.arange(1, LONG))
    after = page(collatz)
    line = collatz.__wrapped__.__code__.co_firstlineno + 3
    assert f"{line}          while n != 1:" in after.text
    assert after.states["compiled"] >= 4
    assert "SPMD text" in after.text

    @spmdvm.kernel
    def wrong(x):
        return {1: "<b>"}[x]

    with pytest.raises(spmdvm.CompileError) as caught:
        wrong(1)
    assert '{1: "<b>"}' in page(caught.value).text


def test_signatures() -> None:
    module = spmdvm.compile(SCALE)
    assert list(inspect.signature(module.scale).parameters) == ["x", "n", "k"]
    assert list(inspect.signature(module.square).parameters) == ["a", "out", "where", "threads", "progress"]
    assert {"scale", "square", "explain"} <= set(dir(module))

    @spmdvm.kernel
    def add(a, b=1):
        return a + b

    @spmdvm.kernel
    def first(a):
        return a[0]

    assert str(inspect.signature(add)) == "(a, b=1, *, out=None, where=True, threads=1, progress=False)"
    assert str(inspect.signature(first)) == "(a)"
    own = ["p", "q", "out", "where", "threads", "progress"]
    assert list(inspect.signature(spmdvm.vectorize("p*q")).parameters) == own
    assert inspect.signature(spmdvm.Kernel).parameters


@pytest.fixture
def shell():
    """IPython, with the extension."""
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    main = sys.modules["__main__"]
    shell = InteractiveShell.instance()
    shell.reset()
    shell.run_line_magic("load_ext", "spmdvm")
    shell.run_cell(f"import numpy as np; x = np.ones({LONG}, np.float32)")
    yield shell
    # It had put a module of its own in place of `__main__`, from which other tests start processes.
    shell.restore_sys_module_state()
    InteractiveShell.clear_instance()
    assert sys.modules["__main__"] is main


def test_lists_of_findings_show_themselves(shell) -> None:
    checked = spmdvm.compile("export void f(uniform float y[]) { y[programIndex & 3] = programIndex; }", check=True)
    checked.f(np.zeros(4, np.float32))
    found = checked.report()
    shown, _ = shell.display_formatter.format(found)
    assert shown["text/html"] == "".join(finding._repr_html_() for finding in found) != ""
    for other in ([], [1, 2], [*found, 1]):
        assert "text/html" not in shell.display_formatter.format(other)[0]


def test_exports_become_functions(shell, capsys) -> None:
    assert shell.run_cell("%%spmd --name program --width 8\n" + SCALE).success
    assert shell.user_ns["square"](3.0) == 9
    assert shell.user_ns["program"].width == 8
    assert repr(shell.user_ns["program"].square) == repr(shell.user_ns["square"])
    # A call behind the options, whose value is the cell's; lines are those of the cell.
    ran = shell.run_cell("%%spmd --engine=interp square(4.0) + 1\n" + SCALE)
    assert ran.result == 17
    ran = shell.run_cell('%%spmd -t y = square(x[:3]); label = "a  b"\n' + SCALE)
    assert ran.success and shell.user_ns["label"] == "a  b" and shell.user_ns["y"].tolist() == [1, 1, 1]
    printed = capsys.readouterr().out
    assert "compiled in " in printed and "fastest of" in printed


def test_an_annotated_listing(shell, capsys) -> None:
    call = "[scale(x, len(x), 1) for _ in range(50)] and None"
    assert shell.run_cell(f"%%spmd --annotate --name program {call}\n" + SCALE).success
    printed = capsys.readouterr().out
    assert "3  export void scale(" in printed
    # Where the engine has no JIT, it says so.
    assert "compiled in the loop at <spmd cell" in printed or "has no JIT" in printed
    assert shell.run_cell("%%spmd -at\n" + SCALE).success
    printed = capsys.readouterr().out
    assert "compiled in " in printed and "no loop around it has been hot" in printed


def test_wrong_cells_show_their_place(shell, capsys) -> None:
    for cell, texts in {
        "%%spmd\nexport void f() {\n    y = 1;\n}": ["there is no `y`", ":3:5 ]", "    y = 1;"],
        "%%spmd f(0)\nexport uniform int f(uniform int a) { return 7 / a; }": ["DivisionByZero", ":2:46 ]"],
        "%%spmd --width many\nvoid f() {}": ["--width takes a number of lanes or native, not 'many'"],
        "%%spmd --engine fast\nvoid f() {}": ["--engine is one of auto, interp, ir, clif, x86, not 'fast'"],
        "%%spmd --name 3\nvoid f() {}": ["--name takes a name, not '3'"],
        "%%spmd -x\nvoid f() {}": ["there is no option -x"],
        "%%spmd --width\nvoid f() {}": ["there is no option --width, or its value is missing"],
        "%%spmd --width 7\nvoid f() {}": ["UsageError: %%spmd: width must be 1, 2, 4, 8, 16, 32, 64 or", "not 7"],
        "%%spmd f(\nexport void f() {}": ["UsageError: %%spmd: the call behind the options is no Python", "f("],
        "%%spmd f(1, missing)\nexport void f() {}": ["<call in spmd cell", "name 'missing' is not defined"],
        "%%spmd f(1)\nexport void f() {}": ["<call in spmd cell", "f() takes 0 arguments"],
    }.items():
        ran = shell.run_cell(cell)
        assert not ran.success
        captured = capsys.readouterr()
        printed = captured.out + captured.err
        for text in texts:
            assert text in printed, printed
        # Nothing of what is inside of the package, and one error rather than several.
        assert "_notebook.py" not in printed and "another exception" not in printed


def test_messages_name_the_cell(shell, capsys) -> None:
    # Versions of IPython differ in when they count.
    wrong = "%%spmd\nexport void f() { y = 1; }"
    before = shell.execution_count
    for k in range(2):
        shell.run_cell(wrong, store_history=True)
        assert f"<spmd cell {before + k}>:2:19" in capsys.readouterr().out
    # Cells without a history have the number of the next one.
    shell.run_cell(wrong)
    assert f"<spmd cell {before + 2}>:2:19" in capsys.readouterr().out
    with pytest.raises(spmdvm.CompileError, match=f"<spmd cell {before + 2}>:2:1"):
        shell.run_cell_magic("spmd", "", "void f() { y = 1; }")


def test_tracebacks_begin_at_the_call(shell, capsys) -> None:
    shell.run_cell("def wrong(a):\n    raise LookupError('of the user')")
    shell.run_cell("%%spmd wrong(f(0))\nexport uniform int f(uniform int a) { return a; }")
    printed = re.sub(r"\x1b\[[\d;]*m", "", capsys.readouterr().out)
    assert "wrong(f(0))" in printed and "raise LookupError('of the user')" in printed
    assert "run_cell_magic" not in printed and "_notebook.py" not in printed


def test_warnings_are_shown_in_the_cell(shell, capsys) -> None:
    ran = shell.run_cell("%%spmd\nexport void f(uniform float x[]) {\n    float unused = 1;\n    x[0] = 1;\n}")
    assert ran.success
    assert "warning[W" in capsys.readouterr().out


def test_completion(shell) -> None:
    from IPython.core.completer import provisionalcompleter

    def completions(text):
        with provisionalcompleter():
            return [found.text for found in shell.Completer.completions(text, len(text))]

    assert shell.run_cell("%%spmd --name program\n" + SCALE).success
    assert "scale" in completions("program.sc") or ".scale" in completions("program.sc")
    assert any("square" in text for text in completions('program["sq'))
    assert any(text == "threads=" for text in completions("square(thr"))
    found = shell.object_inspect("square")
    assert found["found"] and "a" in found["definition"] and "Parameters" in found["docstring"]


def start_kernel():
    """Start a process as notebooks have them."""
    manager = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    return manager.start_new_kernel(kernel_name="python3", startup_timeout=120)


def execute(client, code: str) -> tuple[str, dict[str, str], str]:
    """Run a cell; give what it printed, what it showed by kind, and its error."""
    printed, shown, failed = "", {}, ""

    def output(message: dict) -> None:
        nonlocal printed, failed
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "stream":
            printed += content["text"]
        elif kind in ("display_data", "execute_result"):
            for mime, text in content["data"].items():
                shown[mime] = shown.get(mime, "") + text
        elif kind == "error":
            failed += "\n".join(content["traceback"])

    client.execute_interactive(code, timeout=120, output_hook=output)
    return printed, shown, failed


def test_a_notebook() -> None:
    manager, client = start_kernel()
    try:
        assert execute(client, "%load_ext spmdvm\nimport numpy as np, spmdvm, pickle")[2] == ""
        printed, shown, failed = execute(
            client, "%%spmd -a --name program total(np.ones(100, np.float32))\n"
            "export uniform float total(const uniform float x[]) {\n"
            '    print("in the cell\\n");\n'
            "    float s = 0;\n"
            "    foreach (i = 0 ... 100) s += x[i];\n"
            "    return reduce_add(s);\n"
            "}",
        )  # fmt: skip
        assert failed == ""
        assert printed == "in the cell\n"
        assert "100.0" in shown["text/plain"]
        assert 'class="spmdvm-source"' in shown["text/html"] and "foreach (i = 0 ... 100)" in shown["text/html"]
        _, shown, _ = execute(client, "program")
        assert "spmdvm module" in shown["text/html"]
        cell = "@spmdvm.kernel\ndef twice(x):\n    print(x)\n    return 2 * x\ntwice(21)"
        printed, shown, failed = execute(client, cell)
        assert ("21" in printed, failed) == (True, "") and "42" in shown["text/plain"]
        _, shown, _ = execute(client, "pickle.loads(pickle.dumps(twice))(4)")
        assert shown["text/plain"] == "8"
        printed, _, failed = execute(client, "%%spmd\nexport void f() {\n    y = 1;\n}")
        assert "there is no `y`" in failed and "y = 1;" in failed
        tasks = (
            "%%spmd go()\n"
            'task void one() { print("task\\n"); }\n'
            "export void go() { launch[4] one(); sync; }"
        )  # fmt: skip
        printed, _, failed = execute(client, tasks)
        assert (printed, failed) == ("task\n" * 4, "")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_the_example() -> None:
    notebook = json.loads((Path(__file__).parents[2] / "examples" / "python" / "notebook.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 4
    manager, client = start_kernel()
    try:
        for cell in cells:
            assert execute(client, cell)[2] == "", cell
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_a_browser_shows_it(hot: spmdvm.Module, tmp_path: Path) -> None:
    if browser.missing():
        pytest.skip(browser.missing())
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{hot._repr_html_()}")
    seen = browser.Browser()
    try:
        seen.open((tmp_path / "page.html").as_uri())
        seen.all("summary")[0].click()
        line = next(e for e in seen.all('details[data-state="compiled"] summary') if "foreach" in e.text)
        assert "script" in line.text, "texts are no markup"
        line.click()
        assert "compiled in the loop" in seen.shows('details[data-state="compiled"][open]', "compiled in the loop")
        colour = seen.run("return getComputedStyle(arguments[0]).backgroundColor", {browser.ELEMENT: line.name})
        assert colour.startswith("rgba(60, 160, 80")
        assert seen.complaints() == []
    finally:
        seen.close()
