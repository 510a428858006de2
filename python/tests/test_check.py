"""Check mode: what is found is told as data and as text, and nothing else changes."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest
import spmdvm

UNSET = """
export void f(uniform int a[]) {
    int x;
    if (programIndex & 1)
        x = a[programIndex];
    a[programIndex] = x;
}
"""


def test_finding() -> None:
    module = spmdvm.compile(UNSET, width=8, check=True)
    assert module.report() == []
    a = np.arange(8, dtype=np.int32)
    module.f(a)
    assert a.tolist() == [0, 1, 0, 3, 0, 5, 0, 7]
    (finding,) = module.report()
    assert isinstance(finding, spmdvm.Finding)
    assert (finding.kind, finding.file, finding.line, finding.column) == ("uninitialised", "<string>", 6, 5)
    assert (finding.lanes, finding.values, finding.times) == ((0, 2, 4, 6), (0, 0, 0, 0), 1)
    assert finding.message.startswith("`x` is used in what the host gets before anything was stored in it")
    assert [frame.function for frame in finding.stack] == ["f"]
    assert finding.related is None
    assert "a[programIndex] = x;" in str(finding)
    module.f(a)
    assert module.report()[0].times == 2


def test_results_are_the_same() -> None:
    plain, checked = (spmdvm.compile(UNSET, check=check) for check in (False, "all"))
    a, b = (np.arange(16, dtype=np.int32) for _ in range(2))
    plain.f(a)
    checked.f(b)
    assert a.tolist() == b.tolist()
    assert plain.report() == []


def test_out_of_bounds_names_all_lanes() -> None:
    text = "export void f(uniform int a[]) { a[2 * programIndex] = 1; }"
    module = spmdvm.compile(text, width=4, check=True)
    with pytest.raises(spmdvm.OutOfBounds) as caught:
        module.f(np.zeros(4, dtype=np.int32))
    assert caught.value.lane == 2
    (finding,) = module.report()
    assert (finding.kind, finding.lanes, finding.values) == ("out_of_bounds", (2, 3), (4, 6))
    assert "write to indices 4, 6 of `a`, which has 4 elements" in finding.message


def test_race_shows_both_accesses() -> None:
    text = """
task void add(uniform int a[]) {
    a[0] += taskIndex;
}
export void f(uniform int a[]) {
    launch[3] add(a);
}
"""
    module = spmdvm.compile(text, check=True)
    module.f(np.ones(1, dtype=np.int32))
    finding = module.report()[0]
    assert (finding.kind, finding.line) == ("race", 3)
    assert finding.related is not None
    assert (finding.related.message, finding.related.line) == ("the other access", 3)
    assert [(frame.function, frame.task) for frame in finding.stack] == [("add", 1), ("f", None)]
    assert finding.related.stack[-1].task == 0


def test_calls_over_arrays() -> None:
    text = "export float f(float x) { float y; if (x > 0) y = x; return y * 2; }"
    module = spmdvm.compile(text, width=4, check=True)
    assert module.f(np.array([1, -1, 2, -2, -3], dtype=np.float32)).tolist() == [2, 0, 4, 0, 0]
    (finding,) = module.report()
    assert (finding.kind, finding.lanes, finding.times) == ("uninitialised", (1, 3), 2)
    assert [frame.function for frame in finding.stack] in (["f"], [])


def test_polymorphic_functions() -> None:
    text = "export void f(uniform number$0 a[]) { uniform number$0 x; a[0] = x; }"
    module = spmdvm.compile(text, check=True)
    module.f(np.ones(1, dtype=np.int32))
    module.f(np.ones(1, dtype=np.float64))
    assert [finding.kind for finding in module.report()] == ["uninitialised"] * 2


@pytest.mark.parametrize(
    ("check", "kinds"),
    [
        (True, []),
        ("overflow", ["overflow"]),
        (["default", "overflow"], ["overflow"]),
        (["leak", "race"], ["leak"]),
        ("all", ["leak", "overflow"]),
        ((), []),
        (None, []),
    ],
)
def test_what_to_look_for(check: object, kinds: list) -> None:
    text = """
export uniform int f(uniform int x) {
    uniform int * uniform p = uniform new uniform int(7);
    return x * *p;
}
"""
    module = spmdvm.compile(text, check=check)
    module.f(1 << 30)
    assert sorted(finding.kind for finding in module.report()) == kinds


def test_pickled_modules_check_too() -> None:
    module = pickle.loads(pickle.dumps(spmdvm.compile(UNSET, check=True)))
    module.f(np.zeros(16, dtype=np.int32))
    assert len(module.report()) == 1


def test_threads_report_to_one_module() -> None:
    module = spmdvm.compile(UNSET, check=True)

    def call() -> None:
        module.f(np.zeros(16, dtype=np.int32))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [finding.times for finding in module.report()] == [8]


def test_other_engines_are_refused() -> None:
    with pytest.raises(ValueError, match="check mode runs on the reference interpreter, not on the engine `ir`"):
        spmdvm.compile(UNSET, check=True, engine="ir")
    with pytest.raises(TypeError, match="check must be False, True"):
        spmdvm.compile(UNSET, check=3)
