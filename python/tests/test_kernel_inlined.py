"""Functions that index arrays, which become part of their callers: nothing of that is seen but their speed."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
import spmdvm


def element(a, i):
    return a[i]


def clipped(a, i):
    if i < 0:
        return a[0]
    if i >= len(a):
        return a[len(a) - 1]
    return a[i]


def sign_of(a, i):
    x = a[i]
    if x > 0:
        s = 1
    elif x < 0:
        s = -1
    else:
        return 0.5
    return s * element(a, i)


def neighbours(a, i):
    t = clipped(a, i - 1)
    x = clipped(a, i + 1)
    return t, x, a[i]


def row_sum(m, i):
    total = 0.0
    for j in range(m.shape[1]):
        if m[i, j] < 0:
            continue
        if m[i, j] > 90:
            break
        total += m[i, j]
    return total


def put(out, i, x):
    t = x * 2
    out[i] = t


def swap(out, i, j):
    old = out[i]
    out[i] = out[j]
    out[j] = old
    return old


def table(k):
    t = np.array([3.0, 1.0, 4.0, 1.5])
    return t[k]


def by_return(a, out):
    for i in spmdvm.foreach(len(a)):
        out[i] = clipped(a, i - 2) + 10 * clipped(a, i + 3) + 100 * sign_of(a, i)


def by_tuple(a, out):
    for i in spmdvm.foreach(len(a)):
        # Names of the functions' own.
        t, x = 1.0, 2.0
        y, z, w = neighbours(a, i)
        out[i] = t + x + y - z * w


def by_parts(a, out):
    for i in spmdvm.foreach(len(a)):
        x = element(a, i) if a[i] > 0 else element(a, len(a) - 1 - i) * 3
        if element(a, i) < 0 and element(a, (i * 7) % len(a)) < 0:
            x += 1
        elif clipped(a, i + 1) > 2:
            x += 20
        k = 0
        while k < 5 and clipped(a, i + k) < 3:
            k += 1
        out[i] = x + 100 * k


def by_store(a, out):
    for i in spmdvm.foreach(len(a)):
        put(out, i, a[i] + 1)
        x = out[i]
        put(out, i, element(out, i) + x)


def by_rows(m, out):
    for i in spmdvm.foreach(len(out)):
        out[i] = row_sum(m, i) * 2


def by_table(a, out):
    for i in spmdvm.foreach(len(a)):
        k = i % 4
        out[i] = table(k) + table(3 - k)


def inner_functions(a, out):
    n = len(a)

    def at(i):
        return a[i % n]

    def twice(i):
        x = at(i) + at(i + 1)
        return x * 2

    for i in spmdvm.foreach(n):
        x = twice(i)
        out[i] = x + twice(i + 3)


def passed(a, out):
    def apply(f, i):
        return f(a[i], i) + a[0]

    for i in spmdvm.foreach(len(a)):
        out[i] = apply(lambda x, k: x * k, i)


A = np.random.default_rng(1).integers(-5, 6, 41).astype(float)
M = np.random.default_rng(2).integers(-20, 100, (41, 30)).astype(float)
KERNELS = [
    (by_return, A),
    (by_tuple, A),
    (by_parts, A),
    (by_store, A),
    (by_rows, M),
    (by_table, A),
    (inner_functions, A),
    (passed, A),
]


@pytest.mark.parametrize(("function", "given"), KERNELS, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("options", [{"engine": "interp"}, {"width": 1}, {"width": 64}, {}], ids=str)
def test_functions_give_what_they_do_in_python(function, given, options, monkeypatch):
    kernel = spmdvm.kernel(**options)(function)
    want, got, stepped = (np.zeros(len(given)) for _ in range(3))
    kernel(given, got)
    with monkeypatch.context() as python:
        python.setattr(spmdvm, "foreach", range)
        function(given, want)
    assert (got == want).all()
    called = {line.split("(")[0] for line in kernel.spmd_source.split("\n") if line.startswith("static inline")}
    assert not [head for head in called if "v_" in head and "lambda" not in head and "sign_of" not in head]
    if not options:
        with kernel.stepper(given, stepped) as stepper:
            stepper.finish()
        assert (stepped == want).all()


def test_elements_of_an_elementwise_kernel():
    @spmdvm.kernel
    def smoothed(x):
        t = np.zeros(8)
        for k in range(8):
            t[k] = x * k
        y = clipped(t, 9) + element(t, 3)
        put(t, 2, y)
        return t[2] + sign_of(t, 5)

    x = np.arange(-20.0, 20.0)
    assert smoothed(x).tolist() == [20 * v + (5 * v if v > 0 else -5 * v if v < 0 else 0.5) for v in x]


def test_what_stores_keeps_its_place():
    @spmdvm.kernel
    def mixed(out, got):
        for i in spmdvm.foreach(len(got)):
            got[i] = swap(out, 2 * i, 2 * i + 1) * 100 + element(out, 2 * i)

    out, got = np.arange(20.0), np.zeros(10)
    mixed(out, got)
    assert got.tolist() == [200 * i + 2 * i + 1 for i in range(10)]
    assert out.tolist() == [k ^ 1 for k in range(20)]


def test_traps_tell_the_calls():
    @spmdvm.kernel
    def outer(a, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = neighbours(a, i)[2]

    def deep(a, i):
        x = element(a, i + 1)
        return x + 1

    @spmdvm.kernel
    def nested(a, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = deep(a, i)

    with pytest.raises(IndexError, match="in `neighbours`") as found:
        outer(np.ones(3), np.zeros(5))
    assert [frame.function for frame in found.value.stack] == ["neighbours", "outer"]
    with pytest.raises(IndexError, match="in `element`") as found:
        nested(np.ones(3), np.zeros(3))
    assert [frame.function for frame in found.value.stack] == ["element", "deep", "nested"]
    text = [linecache.getline(frame.file, frame.line).strip() for frame in found.value.stack]
    assert text == ["return a[i]", "x = element(a, i + 1)", "out[i] = deep(a, i)"]


def test_functions_are_stepped_into():
    @spmdvm.kernel
    def outer(a, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = clipped(a, i + 2)

    a, out = np.arange(5.0), np.zeros(5)
    outer(a, out)
    assert "clipped" not in outer.spmd_source
    with outer.stepper(a, out) as stepper:
        seen = set()
        while not (step := stepper.into()).returned:
            seen.add(step.function)
    assert seen == {"outer", "clipped"}


def test_what_is_called_in_turn_is_still_there():
    def count(a, i):
        return 0 if i >= len(a) else int(a[i] > 0) + count(a, i + 1)

    @spmdvm.kernel
    def outer(a, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = element(a, i) + count(a, i)

    out = np.zeros(41)
    outer(A, out)
    assert out.tolist() == [A[i] + (A[i:] > 0).sum() for i in range(41)]


def test_lines_of_functions_are_explained_and_profiled():
    @spmdvm.kernel
    def outer(a, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = element(a, i) * 2

    a, out = np.ones(100), np.zeros(100)
    outer(a, out)
    line = element.__code__.co_firstlineno + 1
    assert f"line {line}: return a[i]" in outer.explain(line)
    assert any(row.line == line and row.executed for row in outer.profile(a, out).lines)


def of_a_part(m, i, k):
    t = m[i, k:]
    return t[0] + t[1]


def test_functions_that_name_parts_of_arrays_become_part_of_callers_that_do():
    def kernel(m, out):
        for i in spmdvm.foreach(len(out)):
            t = m[i, 1:]
            out[i] = of_a_part(m, i, 1) + of_a_part(m, i + 1, 0) * t[0]

    m, out = np.arange(24.0).reshape(8, 3) % 7, np.zeros(5)
    spmdvm.kernel(kernel)(m, out)
    assert np.array_equal(out, [m[i, 1] + m[i, 2] + (m[i + 1, 0] + m[i + 1, 1]) * m[i, 1] for i in range(5)])
