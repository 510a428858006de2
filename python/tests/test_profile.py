"""Profiles: counts by line, times, lanes of elements; of modules and of kernels."""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spmdvm

SOURCE = """\
noinline float half(float x) {
    return x / 2;
}
export float steps(float x, uniform float low) {
    float n = 0;
    while (x > low) {
        x = half(x);
        n += 1;
    }
    if (n > 3)
        n = 3 + sin(n);
    else {
        n = 0;
    }
    return n;
}
export void clamp(uniform float x[], uniform int n) {
    foreach (i = 0 ... n) {
        uniform float most = 2 * n;
        if (x[i] > 4)
            x[i] = min(x[i], most);
    }
}
uniform int calls = 0;
export void count() { ++calls; }
export void fails(uniform float x[]) { x[5] = 1; }
"""


def halvings(x: float, low: float) -> int:
    n = 0
    while np.float32(x) > low:
        x, n = x / 2, n + 1
    return n


@pytest.fixture(scope="module", params=[4, 16, 64])
def module(request: Any) -> spmdvm.Module:
    return spmdvm.compile(SOURCE, width=request.param)


def test_counts_of_an_elementwise_call_are_those_of_a_scalar_program(module: spmdvm.Module) -> None:
    x, low = np.linspace(0, 300, 1001, dtype=np.float32), 1.0
    expected = [halvings(float(v), low) for v in x]
    profile = module.profile("steps", x, low)
    gangs = math.ceil(len(x) / module.width)
    rounds = [max(expected[k : k + module.width]) for k in range(0, len(x), module.width)]
    assert (profile[5].executed, profile[5].active) == (gangs, len(x))
    # The test of the loop, once more than its rounds; the body; the function that it calls.
    assert (profile[6].executed, profile[6].active) == (sum(rounds) + gangs, sum(expected) + len(x))
    for line in (2, 7, 8):
        assert (profile[line].executed, profile[line].active) == (sum(rounds), sum(expected)), line
    assert profile[11].active == sum(n > 3 for n in expected)
    assert profile[13].active == sum(n <= 3 for n in expected)
    assert profile[15].active == len(x)
    for row in profile:
        assert row.possible == row.executed * module.width
        assert row.text == SOURCE.splitlines()[row.line - 1]
    np.testing.assert_array_equal(profile.result, module.steps(x, low))


def test_counts_of_a_foreach(module: spmdvm.Module) -> None:
    x = np.arange(203, dtype=np.float32)
    y = x.copy()
    profile = module.profile(module.clamp, x, len(x))
    module.clamp(y, len(y))
    np.testing.assert_array_equal(x, y)
    gangs = math.ceil(len(x) / module.width)
    assert profile.result is None
    # What the compiler moves out of the loop was there for every gang all the same.
    assert (profile[20].executed, profile[20].active) == (gangs, len(x))
    assert profile[21].active == len(x) - 5
    assert profile[21].utilisation == pytest.approx(profile[21].active / profile[21].possible)


def test_all_shapes_and_options_of_a_call(module: spmdvm.Module) -> None:
    x = np.linspace(0, 300, 64 * 30, dtype=np.float32).reshape(64, 30)
    out = np.zeros_like(x)
    mask = x > 100
    profile = module.profile("steps", x.T, low=1, out=out.T, where=mask.T, threads=4)
    assert profile[5].active == mask.sum()
    np.testing.assert_array_equal(out, np.where(mask, module.steps(x, 1), 0))
    assert profile.result.shape == (30, 64)


def test_times_add_up_and_the_hot_line_is_hot(module: spmdvm.Module) -> None:
    profile = module.profile("steps", np.full(3000, 1e30, np.float32), 1)
    assert sum(row.share for row in profile) == pytest.approx(1)
    assert all(row.time >= 0 for row in profile)
    assert sum(row.instructions for row in profile) == profile.instructions
    # Times are samples, which a busy machine takes where it likes; instructions are counted.
    counted = sorted(profile.lines, key=lambda row: -row.instructions)
    assert {row.line for row in counted[:4]} == {2, 6, 7, 8}
    times = [row.time for row in profile.hottest()]
    assert times == sorted(times, reverse=True) and times[0] > 0
    assert 0 < profile.samples <= profile.instructions
    assert profile.seconds > 0
    # `sin` is code of the library, which counts for the line that calls it.
    assert profile[11].in_library > 0
    assert profile[7].in_library == 0


def test_lines_that_lose_lanes() -> None:
    module = spmdvm.compile(SOURCE, width=16)
    x = np.where(np.arange(1600) % 16 == 0, 1e30, 2).astype(np.float32)
    profile = module.profile("steps", x, 1)
    worst = profile.least_active(3)
    lost = [row.time * (1 - row.utilisation) for row in worst]
    assert lost == sorted(lost, reverse=True) and all(row.active < row.possible for row in worst)
    assert max(profile[line].utilisation for line in (2, 6, 7, 8)) < 0.1
    activity = profile.lane_activity()
    assert activity.shape == x.shape
    assert (activity < 0.2).all() and (activity > 1 / 16 - 1e-9).all()


def test_busy_lanes_are_wholly_busy() -> None:
    module = spmdvm.compile(SOURCE, width=16)
    x = np.full((32, 48), 100, np.float32)
    assert (module.profile("steps", x, 1).lane_activity() == 1).all()
    out = np.zeros((48, 32), np.float32).T
    assert (module.profile("steps", x, 1, out=out).lane_activity(out) == 1).all()
    y = np.arange(100, dtype=np.float32)
    activity = module.profile("clamp", y, 100).lane_activity()
    assert np.isnan(activity[:5]).all()
    assert not np.isnan(activity[5:]).any()


def test_state_and_results_are_those_of_a_call() -> None:
    module = spmdvm.compile(SOURCE)
    assert module.profile("count").result is None
    module.count()
    assert module.globals["calls"] == 2
    assert module.profile("count")[25].executed == 1


def test_what_the_interpreter_runs_is_not_compiled() -> None:
    module = spmdvm.compile(SOURCE, jit={"hot": 2, "background": False})
    module.profile("steps", np.full(3000, 1e30, np.float32), 1)
    assert module.stats()["native_instructions"] == 0


def test_tasks_and_polymorphic_functions() -> None:
    module = spmdvm.compile(
        """task void part(uniform int x[]) {
               x[taskIndex] = taskIndex;
           }
           export void all(uniform int x[], uniform int n) {
               launch[n] part(x);
           }
           export number twice(number x) {
               return x + x;
           }"""
    )
    x = np.zeros(7, np.int32)
    profile = module.profile("all", x, 7)
    assert list(x) == list(range(7))
    assert (profile[2].executed, profile[5].executed) == (7, 1)
    for dtype in (np.int8, np.float64):
        profile = module.profile("twice", np.ones(100, dtype))
        assert profile[8].active == 100
        assert profile.result.dtype == dtype


def test_check_mode_still_checks() -> None:
    module = spmdvm.compile("export uniform int f() {\n    uniform int x;\n    return x;\n}", check=True)
    assert module.profile("f")[3].executed == 1
    assert [finding.line for finding in module.report()] == [3]


def test_as_data_and_as_text() -> None:
    module = spmdvm.compile(SOURCE)
    profile = module.profile("steps", np.linspace(0, 300, 1001, dtype=np.float32), 1)
    data = json.loads(json.dumps(profile.to_dict()))
    assert data["function"] == "steps"
    assert len(data["lines"]) == len(profile) == len(list(profile)) == len(profile.lines)
    assert data["lines"][0]["executed"] == profile.lines[0].executed
    text = str(profile).splitlines()
    assert "width 16" in text[0]
    row = next(line for line in text if line.endswith("n += 1;"))
    assert row.split()[1:4] == [f"{profile[8].executed:,}", f"{profile[8].active:,}", f"{profile[8].utilisation:.1%}"]
    # Lines between those that were executed are there too.
    assert any(line.endswith("else {") for line in text)
    assert "noinline" not in str(profile)
    assert repr(profile).startswith("<profile of steps(): ")
    page = profile._repr_html_()
    assert "times executed" in page
    assert "while (x &gt; low)" in page
    with pytest.raises(KeyError, match=r"nothing was executed on line 9; executed lines are 2, 4, 5, 6"):
        profile[9]


def test_nothing_to_do() -> None:
    module = spmdvm.compile(SOURCE)
    profile = module.profile("steps", np.zeros(0, np.float32), 1)
    assert len(profile) == 0
    assert "nothing was executed" in str(profile)
    assert profile._repr_html_()
    assert repr(profile) == "<profile of steps(): 0 lines>"


def test_mistakes(module: spmdvm.Module) -> None:
    with pytest.raises(AttributeError, match="did you mean `steps`"):
        module.profile("step", 1)
    with pytest.raises(TypeError, match="takes a function of the module, or its name"):
        module.profile(3)
    with pytest.raises(ValueError, match="function of another module"):
        module.profile(spmdvm.compile(SOURCE).count)
    with pytest.raises(TypeError, match="low"):
        module.profile("steps", 1.0)
    with pytest.raises(spmdvm.OutOfBounds):
        module.profile("fails", np.zeros(3, np.float32))

    @spmdvm.kernel
    def f(x):
        return x

    with pytest.raises(TypeError, match=r"kernel\.profile"):
        module.profile(f, 1)
    with pytest.raises(ValueError, match="has stored nothing in this array"):
        module.profile("steps", 1.0, 1).lane_activity(np.zeros(3))


def test_limits_hold() -> None:
    endless = "export void f() { uniform int i = 0; while (i < 2) { i = i & 1; } }"
    with pytest.raises(TimeoutError):
        spmdvm.compile(endless, timeout=0.1).profile("f")


@spmdvm.kernel
def collatz(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def length(n: int) -> int:
    count = 0
    while n != 1:
        n, count = n // 2 if n % 2 == 0 else 3 * n + 1, count + 1
    return count


def test_a_kernel_is_told_by_lines_of_python() -> None:
    x = np.arange(1, 301)
    first = inspect.getsourcelines(collatz.__wrapped__)[1]
    profile = collatz.profile(x)
    steps = [length(int(n)) for n in x]
    np.testing.assert_array_equal(profile.result, steps)
    assert profile.function == "collatz"
    assert {row.file for row in profile} == {__file__}
    assert profile[first + 5].text.strip() == "count += 1"
    assert profile[first + 5].active == sum(steps)
    assert profile[first + 3].active == sum(steps) + len(x)
    assert "n = n // 2 if n % 2 == 0 else 3 * n + 1" in str(profile)
    assert profile.lane_activity().shape == x.shape
    # The next call is an ordinary one.
    assert isinstance(collatz(x), np.ndarray)


def test_array_kernels_and_failing_kernels() -> None:
    @spmdvm.kernel
    def smooth(a, out):
        for i in spmdvm.foreach((1, len(a) - 1)):
            out[i] = (a[i - 1] + a[i] + a[i + 1]) / 3

    a, out = np.arange(50.0), np.zeros(50)
    profile = smooth.profile(a, out)
    assert profile.result is None
    assert out[3] == 3
    assert max(row.active for row in profile if "out[i]" in row.text) == 48
    assert np.isnan(profile.lane_activity()).sum() == 2
    with pytest.raises(TypeError):
        smooth.profile(a)

    @spmdvm.kernel
    def wrong(a, i):
        return a[i]

    with pytest.raises(spmdvm.OutOfBounds, match="return a"):
        wrong.profile(np.arange(3.0), 7)
    assert wrong(np.arange(3.0), 2) == 2


def test_kernels_of_several_results() -> None:
    @spmdvm.kernel
    def both(x):
        y = x * 2
        return y, y + 1

    profile = both.profile(np.arange(100.0))
    assert [list(r[:2]) for r in profile.result] == [[0, 2], [1, 3]]
    assert any(row.text.strip() == "y = x * 2" and row.active == 100 for row in profile)


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    profile = collatz.profile(np.arange(1, 30))
    with pytest.raises(ImportError, match="pip install matplotlib"):
        profile.plot_divergence()


@pytest.mark.parametrize(
    ("first", "last", "count"),
    [("Globals", "Structs and pointers", 1), ("Progress", "Stepping", 2), ("Stopping", "Notebooks", 1)],
)
def test_the_page_is_right(first: str, last: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    part = page[page.index(f"## {first}\n") : page.index(f"## {last}\n")]
    blocks = re.findall(r"^```python\n(.*?)^```$", part, re.DOTALL | re.MULTILINE)
    assert len(blocks) == count
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert first != "Progress" or "n += 1;" in capsys.readouterr().out


class TestPictures:
    @pytest.fixture(autouse=True)
    def matplotlib(self) -> None:
        pytest.importorskip("matplotlib").use("Agg")

    def test_of_divergence(self, tmp_path: Any) -> None:
        profile = collatz.profile(np.arange(1, 601).reshape(20, 30))
        ax = profile.plot_divergence()
        assert len(ax.images) == 2
        np.testing.assert_array_equal(np.asarray(ax.images[1].get_array()), profile.lane_activity())
        assert "lanes busy" in ax.get_title()
        # White, which would be taken for a colour of the bar, is in no picture; what is as it is, the bar says.
        least, most = ax.images[0].get_clim()
        numbers = np.asarray(ax.images[0].get_array())
        assert least < numbers.min() and numbers.max() < most
        assert "100%: the picture in grey, as it is" in ax.figure.axes[-1].get_ylabel()
        ax.figure.savefig(tmp_path / "a.png")
        # A strip, a picture of one's own, axes of one's own.
        collatz.profile(np.arange(1, 601)).plot_divergence(image=np.zeros((1, 600)), ax=ax)

    def test_of_what_is_no_picture(self) -> None:
        with pytest.raises(ValueError, match="two dimensions, but the array has 4"):
            collatz.profile(np.ones((2, 2, 2, 9), int)).plot_divergence()
        with pytest.raises(ValueError, match="nothing was stored in an array"):
            collatz.profile(27).plot_divergence()
        with pytest.raises(ValueError, match="must have the shape"):
            collatz.profile(np.ones((20, 30), int)).plot_divergence(image=np.zeros((3, 3)))
