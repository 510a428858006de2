"""Arrays that each element has, of lengths that are known when the kernel is called."""

from __future__ import annotations

import numpy as np
import pytest
import spmdvm
from spmdvm import int32, uniform

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
WIDTHS = pytest.mark.parametrize("width", [1, 4, 64])


def most_frequent(a, i, bins):
    counts = np.zeros((bins, 2), np.int32)
    for k in range(a.shape[1]):
        counts[int(a[i, k] * bins), 0] += 1
        counts[int(a[i, k] * bins), 1] += k
    best = 0
    for b in range(bins):
        if counts[b, 0] > counts[best, 0]:
            best = b
    return best + 100 * counts[best, 1]


@ENGINES
@WIDTHS
def test_arrays_in_a_foreach(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def smoothed(a, r, out):
        n = len(a)
        for i in spmdvm.foreach(n):
            window = np.empty(2 * r + 1)
            for k in range(2 * r + 1):
                window[k] = a[min(max(i + k - r, 0), n - 1)]
            for p in range(1, 2 * r + 1):
                key, q = window[p], p - 1
                while q >= 0 and window[q] > key:
                    window[q + 1] = window[q]
                    q -= 1
                window[q + 1] = key
            out[i] = window[r]

    a, out = np.random.default_rng(1).random(100), np.zeros(100)
    for r in (0, 1, 4):
        smoothed(a, r, out)
        assert out.tolist() == [np.median(a[np.clip(np.arange(i - r, i + r + 1), 0, 99)]) for i in range(100)]
    with pytest.raises(spmdvm.AssertionFailed, match="not negative"):
        smoothed(a, -1, out)
    for large in (2**32, 2**40):
        with pytest.raises(ValueError, match="would have more than"):
            smoothed(a, large, out)


@ENGINES
@WIDTHS
def test_arrays_of_functions_that_are_called_in_a_foreach(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def both(a, bins: int, out):
        for i in spmdvm.foreach(len(out)):
            out[i] = most_frequent(a, i, bins) + 1000 * most_frequent(a, i, bins + 1)

    a, out = np.random.default_rng(2).random((33, 20)), np.zeros(33)
    for bins in (1, 7):
        both(a, bins, out)
        want = [most_frequent(a, i, bins) + 1000 * most_frequent(a, i, bins + 1) for i in range(33)]
        assert out.tolist() == want


@ENGINES
@WIDTHS
def test_every_element_finds_zeros(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def counted(a, n, out):
        for i in spmdvm.foreach(len(a)):
            if a[i] > 2:
                continue
            for turn in range(3):
                seen, ones, raw = np.zeros(n, np.int64), np.ones((n, 2), np.float32), np.empty(n)
                for k in range(n):
                    out[i] += seen[k] + 10 * ones[k, 1] + 100 * raw[k]
                    seen[k], ones[k, 1], raw[k] = 7, turn, 5
                if turn == a[i]:
                    break

    a, out = np.arange(50.0) % 5, np.zeros(50)
    counted(a, 4, out)
    assert out.tolist() == [40 * (x + 1) if x <= 2 else 0 for x in a]


def test_copies_in_a_foreach():
    @spmdvm.kernel
    def third(m, out):
        for i in spmdvm.foreach(len(m)):
            row = m[i].copy()
            row.sort()
            twice = m[i] * 2 + row
            out[i] = row[2] + np.median(m[i]) + np.sort(m[i])[0] + np.sum(twice) + np.percentile(m[i], 75)

    m, out = np.random.default_rng(3).random((40, 5)), np.zeros(40)
    before = m.copy()
    third(m, out)
    s = np.sort(m, axis=1)
    np.testing.assert_allclose(out, s[:, 2] * 2 + s[:, 0] + 3 * m.sum(axis=1) + s[:, 3])
    assert (m == before).all()


@ENGINES
@WIDTHS
def test_elementwise_kernels(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def powers(x, n: uniform[int32]):
        t = np.zeros(n)
        total = 0.0
        for k in range(n):
            t[k] = x if k == 0 else t[k - 1] * x
            total += t[k]
        return total

    @spmdvm.kernel(engine=engine, width=width)
    def ends(x, n: uniform[int32]):
        t = np.full((2, n), x)
        t[1, n - 1] += 1
        return t[0, 0], t[1, n - 1]

    x = np.linspace(-1, 1, 45).reshape(5, 9)
    np.testing.assert_allclose(powers(x, 4), x + x**2 + x**3 + x**4, rtol=1e-12, atol=1e-12)
    assert powers(2.0, 3) == 14 and np.ndim(powers(2.0, 3)) == 0
    assert powers(x[:0], 3).shape == (0, 9)
    a, b = ends(x, 6)
    assert (a == x).all() and (b == x + 1).all()
    for threads in (0, 2, 3, 1000):
        assert (powers(x, 4, threads=threads) == powers(x, 4)).all()
    for threads in (1, 2):
        with pytest.raises(IndexError, match="in `ends`"):
            ends(x, 0, threads=threads)


def test_threads_have_arrays_of_their_own():
    def median(v):
        a = v.copy()
        a.sort()
        return a[len(a) // 2]

    @spmdvm.kernel
    def kernel(x, n: uniform[int32]):
        t = np.zeros((n, 2))
        for k in range(n):
            t[k, 0], t[k, 1] = x * (k - 2), k
        u = t[:, 0] * 2
        return median(u), np.sum(t)

    @spmdvm.kernel
    def beyond(x, n: uniform[int32]):
        t = np.zeros(n)
        t[x] = 1
        return t[0]

    x = np.random.default_rng(1).random(10_007)
    one = kernel(x, 7)
    np.testing.assert_allclose(one[0], 2 * x)
    np.testing.assert_allclose(one[1], 14 * x + 21 - 7 * x)
    for threads in (0, 2, 5, 10_000):
        for a, b in zip(one, kernel(x, 7, threads=threads)):
            assert (a == b).all()

    for k in (5, 6, 2**31 - 1, -1):
        x = np.zeros(3000, np.int64)
        x[2222] = k
        for threads in (1, 2):
            with pytest.raises(IndexError) as caught:
                beyond(x, 5, threads=threads)
            assert caught.value.element == (2222,) and caught.value.arguments["x"] == k


def test_arrays_with_many_elements_or_none():
    @spmdvm.kernel
    def large(x):
        t = np.zeros((101, 100))
        t[100, 99] = x
        return t[100, 99] + t[0, 0]

    @spmdvm.kernel
    def none(x):
        t = np.zeros((3, 0))
        return t[0, 0] + x

    assert large(np.arange(4)).tolist() == [0, 1, 2, 3]
    with pytest.raises(IndexError):
        none(1)


def test_traps_leave_nothing_behind():
    @spmdvm.kernel
    def checked(a, n, out):
        for i in spmdvm.foreach(len(a)):
            t = np.zeros(n)
            t[i % n] = a[i]
            assert a[i] >= 0
            out[i] = np.sum(t)

    a, out = np.arange(20.0), np.zeros(20)
    for _ in range(3):
        checked(a, 3, out)
        assert (out == a).all()
        with pytest.raises(spmdvm.AssertionFailed):
            checked(-a, 3, out)


def test_they_are_stepped_through():
    @spmdvm.kernel(width=4)
    def stepped(a, n, out):
        for i in spmdvm.foreach(len(a)):
            t = np.zeros(n)
            t[1] = a[i]
            out[i] = t[1] * 2

    a, out = np.arange(4.0), np.zeros(4)
    with stepped.stepper(a, 3, out) as stepper:
        stepper.finish()
    assert out.tolist() == [0, 2, 4, 6]


def test_kernels_that_are_called_once_for_their_lengths_say_so():
    @spmdvm.kernel
    def last(x, n):
        t = np.zeros(n)
        for k in range(n):
            t[k] = x * k
        return t[n - 1]

    assert last(2.0, 5) == 8
    with pytest.raises(spmdvm.CompileError, match=r"annotate these: `n: spmdvm\.uniform\[spmdvm\.int64\]`"):
        last(np.arange(4.0), 5)
