"""Timelines: which task ran on which thread when."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
import spmdvm

SOURCE = """\
task void work(uniform float x[], uniform int rounds) {
    uniform float sum = 0;
    for (uniform int i = 0; i < rounds; ++i)
        sum += 1;
    x[taskIndex] = sum;
}
task void outer(uniform float x[], uniform int rounds) {
    launch[3] work(x + 3 * taskIndex, rounds);
    sync;
}
export uniform int all(uniform float x[], uniform int n, uniform int rounds) {
    launch[n] work(x, rounds);
    sync;
    launch[n] work(x, rounds);
    return n;
}
export void nested(uniform float x[], uniform int n, uniform int rounds) {
    launch[n] outer(x, rounds);
}
export void none() {}
export void fails(uniform float x[]) { launch[2] work(x, 3); }
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_every_task_is_there_once(threads: int) -> None:
    module = spmdvm.compile(SOURCE, task_threads=threads)
    x = np.zeros(40, np.float32)
    timeline = module.timeline("all", x, 40, 2000)
    assert timeline.result == 40
    assert (x == 2000).all()
    ran = sorted((run.launch, run.task) for run in timeline if run.finished)
    assert ran == [(launch, task) for launch in (0, 1) for task in range(40)]
    assert {run.function for run in timeline} == {"work"}
    # The pool may give the second launch other threads than the first, but never more at a time.
    running = [sum(run.begin <= at.begin < run.end for run in timeline) for at in timeline]
    assert 1 <= max(running) <= threads
    assert {run.thread for run in timeline} == set(range(timeline.threads))
    assert all(0 <= run.begin <= run.end <= timeline.seconds for run in timeline)
    assert [run.begin for run in timeline] == sorted(run.begin for run in timeline)
    # A thread does one thing at a time, and the second launch waits for the first.
    for thread in range(timeline.threads):
        own = [run for run in timeline if run.thread == thread]
        assert all(a.end <= b.begin for a, b in zip(own, own[1:]))
    assert max(run.end for run in timeline if run.launch == 0) <= min(run.begin for run in timeline if run.launch == 1)
    assert all(0 < share <= 1 for share in timeline.busy())


def test_tasks_that_wait_for_tasks() -> None:
    module = spmdvm.compile(SOURCE, task_threads=2)
    timeline = module.timeline(module.nested, np.zeros(12, np.float32), 4, 100)
    assert sum(run.finished for run in timeline if run.function == "work") == 12
    assert sum(run.finished for run in timeline if run.function == "outer") == 4
    assert {run.launch for run in timeline} == set(range(5))


def test_as_data_and_as_text() -> None:
    timeline = spmdvm.compile(SOURCE, task_threads=1).timeline("all", np.zeros(5, np.float32), 5, 10)
    data = json.loads(json.dumps(timeline.to_dict()))
    assert len(data["tasks"]) == len(timeline) == len(timeline.tasks) == 10
    assert data["tasks"][0]["task"] == timeline[0].task == 0
    assert repr(timeline).startswith("<timeline of all(): 10 tasks on 1 thread in ")
    assert "thread 0 (the caller): 10 pieces" in str(timeline)


def test_calls_before_and_after_are_not_recorded() -> None:
    module = spmdvm.compile(SOURCE, task_threads=2)
    x = np.zeros(5, np.float32)
    module.all(x, 5, 10)
    assert len(module.timeline("all", x, 5, 10)) == 10
    module.all(x, 5, 10)
    assert len(module.timeline("none")) == 0


def test_mistakes() -> None:
    module = spmdvm.compile(SOURCE)
    with pytest.raises(AttributeError, match="did you mean `nested`"):
        module.timeline("neste")
    with pytest.raises(spmdvm.OutOfBounds):
        module.timeline("fails", np.zeros(1, np.float32))


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = spmdvm.compile(SOURCE).timeline("all", np.zeros(5, np.float32), 5, 10)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        timeline.plot_timeline()


def test_as_html() -> None:
    module = spmdvm.compile(SOURCE, task_threads=2)
    timeline = module.timeline("all", np.zeros(9, np.float32), 9, 5000)
    shown = timeline._repr_html_()
    assert shown.count('<div title="') == len(timeline) and shown.count("<tr>") == timeline.threads
    run = timeline[0]
    assert f'<div title="{run.function}, launch {run.launch}, task {run.task}: ' in shown
    assert "thread 0" in shown and "dark and light in turn" in shown
    empty = module.timeline("none")._repr_html_()
    assert "0 tasks on 0 threads" in empty and "<tr>" not in empty


def test_a_picture() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    module = spmdvm.compile(SOURCE, task_threads=2)
    timeline = module.timeline("all", np.zeros(9, np.float32), 9, 5000)
    ax = timeline.plot_timeline()
    assert len(ax.patches) == 18
    assert len(ax.get_yticks()) == timeline.threads
    # Brightness means nothing but that another task begins.
    assert ax.get_xlabel().endswith("bars are tasks, dark and light in turn, with their indices")
    with pytest.raises(ValueError, match="has launched no tasks"):
        module.timeline("none").plot_timeline()
