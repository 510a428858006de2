"""What `explain()` gives: each line of a source with what became of it, as text, as data and as HTML."""

from __future__ import annotations

import json
from pathlib import Path

import browser
import numpy as np
import pytest
import spmdvm
from spmdvm import _html

LONG = 4000
SOURCE = """
struct Point { float x, y; };

export void move(uniform Point points[], const uniform int order[], uniform float out[], uniform int n,
                 uniform float by) {
    foreach (i = 0 ... n) {
        float x = points[order[i]].x;
        if (x > 2)
            x = x * by;
        out[i] = x;
    }
}

export void cold(uniform float a[]) {
    a[programIndex] = 1 / a[0];
}
"""
OPTIONS = {"engine": "clif", "jit": {"background": False}}


@pytest.fixture
def module() -> spmdvm.Module:
    found = spmdvm.compile(SOURCE, **OPTIONS)
    points = np.ones((LONG, 2), np.float32)
    points[::4] = 9
    for _ in range(3):
        found.move(points, np.arange(LONG, dtype=np.int32)[::-1].copy(), np.zeros(LONG, np.float32), LONG, 2)
    return found


def line_with(explained: spmdvm.Explanation, text: str) -> spmdvm.ExplainedLine:
    (found,) = (row for row in explained.lines if text in row.text)
    return found


def test_lines_of_a_module(module: spmdvm.Module) -> None:
    explained = module.explain()
    assert [row.text for row in explained.lines] == SOURCE.splitlines()
    assert [row.line for row in explained.lines] == list(range(1, len(explained.lines) + 1))
    assert explained.engine == "clif" and explained.width == 16 and 0.5 < explained.native_share < 1
    gather = line_with(explained, "points[order[i]]")
    assert gather.state == "native" and gather.varying == ("x",)
    assert gather.memory == {"vector": 1, "gather": 1} or gather.memory == {"vector": 1, "strided gather": 1}
    assert any("neighbouring elements" in text for text in gather.advice)
    store = line_with(explained, "out[i] = x")
    assert store.memory == {"vector": 1} and store.advice == ()
    branch = line_with(explained, "if (x > 2)")
    assert branch.all_active is None or branch.all_active < 1
    head = line_with(explained, "foreach")
    assert head.native_seconds > 0
    assert line_with(explained, "1 / a[0]").state == "cold"
    assert line_with(explained, "struct Point").state == ""
    # It is a text, too.
    assert isinstance(explained, str) and explained.startswith("engine clif, width 16; native code has executed ")
    below = explained.splitlines()[explained.splitlines().index(f"{gather.line:>5}  {gather.text}") + 1]
    assert below.startswith("         native") and "varying x" in below and "gather" in below
    assert "loop in `move`" in explained.loops and explained.endswith(explained.loops.rstrip())
    assert explained.line(gather.line) == gather
    with pytest.raises(KeyError, match="there is no line 99; lines go from 1 to"):
        explained.line(99)


def test_uniform_and_varying_variables() -> None:
    explained = spmdvm.compile("""
export void f(uniform float a[], uniform int n) {
    uniform float half = n * 0.5;
    float mine = a[programIndex] + half;
    a[0] = reduce_add(mine);
}
""").explain()
    half, mine, stored = explained.lines[2:5]
    assert (half.varying, half.uniform) == ((), ("half",))
    assert (mine.varying, mine.uniform) == (("mine",), ())
    assert stored.memory == {"one element": 1}
    assert "no loop has been hot yet, so nothing is compiled" in explained.splitlines()[0]
    assert {row.state for row in explained.lines} == {"", "cold"}


def test_a_profile_adds_times_and_lanes(module: spmdvm.Module) -> None:
    points = np.ones((64, 2), np.float32)
    points[0] = 9
    order, out = np.arange(64, dtype=np.int32), np.zeros(64, np.float32)
    profile = module.profile("move", points, order, out, 64, 2.0)
    explained = module.explain(profile=profile)
    inner = line_with(explained, "x = x * by")
    assert (inner.executed, inner.utilisation) == (1, 1 / 16)
    assert inner.share == profile[inner.line].share
    assert line_with(explained, "struct").executed is None
    assert f"{inner.utilisation:.1%} of lanes active, executed once" in explained
    data = json.loads(json.dumps(explained.to_dict()))
    assert data["lines"][inner.line - 1]["executed"] == 1 and data["engine"] == "clif"
    with pytest.raises(TypeError, match="`profile` takes what `profile"):
        module.explain(profile=3)


def test_lanes_that_part_are_told() -> None:
    @spmdvm.kernel(**OPTIONS)
    def rounds(x):
        n = 0
        while x > 1:
            x -= 1
            n += 1
        return n

    x = np.where(np.arange(640) % 16 == 0, 200.0, 2.0)
    profile = rounds.profile(x)
    explained = rounds.explain(profile=profile)
    first = rounds.__wrapped__.__code__.co_firstlineno
    assert [row.line for row in explained.lines] == list(range(first, first + 7))
    assert all(row.file.endswith("test_explain.py") for row in explained.lines)
    inner = line_with(explained, "x -= 1")
    assert inner.utilisation < 0.1 and any("lanes part here" in text for text in inner.advice)
    assert inner.varying == ("x",) and line_with(explained, "n += 1").varying == ("n",)
    assert line_with(explained, "def rounds").varying == ()
    assert "gather" not in explained, "elements of a call over arrays lie in a row"
    for _ in range(5):
        rounds(np.tile(x, 20))
    explained = rounds.explain()
    assert line_with(explained, "while x > 1").state in ("native", "left")
    assert "loop in `rounds`" in explained.loops


def test_facts_of_kernels_name_lines_of_python() -> None:
    @spmdvm.kernel(**OPTIONS)
    def halved(n):
        count = 0
        while n > 1:
            n //= 2
            count += 1
        return count

    for _ in range(3):
        halved(np.arange(LONG))
    explained = halved.explain()
    head = line_with(explained, "while n > 1")
    assert any(f"compiled in the loop at {__file__}:{head.line}, " in fact for fact in head.facts)
    assert "\n".join(head.facts) in halved.explain(head.line)
    shown = halved._repr_html_()
    assert f"test_explain.py:{head.line}, " in shown
    # The SPMD text is folded away, and has lines of its own.
    for told in (json.dumps(explained.to_dict()), explained._repr_html_(), shown.partition("SPMD text")[0]):
        assert "&lt;kernel" not in told and "<kernel" not in told


def test_the_loop_of_a_call_over_arrays_is_not_the_users() -> None:
    module = spmdvm.compile(
        "export float f(float x) { return 2 * x + 1; }\n"
        "export float at(const uniform float a[], int i) { return a[i]; }\n",
        **OPTIONS,
    )
    x = np.ones(LONG, np.float32)
    for _ in range(3):
        module.f(x)
        module.at(x, np.arange(LONG, dtype=np.int32))
    for line, is_far in ((1, False), (2, True)):
        row = module.explain().line(line)
        assert any("gather" in fact for fact in row.facts) == is_far
        assert not any("scatter" in fact for fact in row.facts)
        assert bool(row.memory) == is_far
        # So is the text of the line alone.
        assert ("gather" in module.explain(line)) == is_far and "scatter" not in module.explain(line)
    (fact,) = (fact for fact in module.explain().line(2).facts if "gather" in fact)
    assert fact == "  1 × gather: every lane reads an address of its own"
    shown = module._repr_html_()
    assert "2 × gather" not in shown and "scatter" not in shown


def test_code_that_was_not_entered_is_not_shown_as_if_it_had_run() -> None:
    never = "  compiled in the loop at <string>:1, which was entered 0 times"
    ran = "  compiled in the loop at <string>:1, which was entered 10 times"
    assert [_html.state(facts) for facts in ([never], [ran], [never, ran])] == ["unused", "compiled", "compiled"]
    shown = _html.annotated([(1, "a loop", [never]), (2, "another", [ran, "  3 × gather: of each lane"])])
    assert '<details data-state="unused">' in shown
    below = shown.rpartition("</div><div")[2]
    for name in ("native code<", "native code that was not entered yet<", "▪ for each kind of instruction"):
        assert name in below
    assert "▪" not in _html.annotated([(1, "a loop", [ran])])


def test_it_is_shown_as_a_page(module: spmdvm.Module, tmp_path: Path) -> None:
    text = module.explain(profile=None)._repr_html_()
    assert '<tr data-state="native">' in text and "native code" in text
    if browser.missing():
        pytest.skip(browser.missing())
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body>{text}")
    seen = browser.Browser()
    try:
        seen.open((tmp_path / "page.html").as_uri())
        row = next(e for e in seen.all('tr[data-state="native"]') if "points[order[i]]" in e.text)
        assert "gather" in row.text and "neighbouring elements" not in row.text
        summary = next(e for e in seen.all("summary") if "gather" in e.text)
        summary.click()
        assert "neighbouring elements" in seen.shows("details[open]", "neighbouring elements")
        assert seen.complaints() == []
    finally:
        seen.close()
