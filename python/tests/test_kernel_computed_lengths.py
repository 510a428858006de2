"""Arrays of kernels whose lengths are known at run time only, and those that functions make of lists."""

import numpy as np
import pytest
import spmdvm
from test_kernel_made import check

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


def smaller(a, k):
    n = 0
    for v in a:
        n += v < k
    out = np.zeros(n)
    n = 0
    for v in a:
        if v < k:
            out[n] = v
            n += 1
    return out


def listed(a, k):
    xs = []
    for v in a:
        if v > k:
            xs.append(v)
    return np.array(xs)


def several(a):
    xs = [1]
    xs.append(int(a[0]))
    return np.array(xs), 2.5, np.array([x * 2 for x in xs if x > 1])


def way(a, k):
    if k > 2:
        return listed(a, 2)
    xs = [1.0]
    xs.append(a[0])
    return np.array(xs)


@kernel
def half(a):
    n = int(len(a) * 0.5)
    b = np.empty(n)
    for i in range(n):
        b[i] = a[i] * 2
    return b


@kernel
def counted(a):
    n = 0
    for v in a:
        n += v > 2
    b = np.zeros(n, np.float32)
    j = 0
    for v in a:
        if v > 2:
            b[j] = v
            j += 1
    b += 1
    b[1:] *= 2
    c = b * 2 + 1
    return np.sum(b), b, c, b.sum() + np.max(c), len(b), b.shape[0], b.size


@kernel
def loops(a):
    s = 0.0
    for i in range(4):
        n = int(a[i])
        t = np.zeros(n)
        u = np.full(n + 1, i, np.int64)
        for j in range(n):
            t[j] += j + a[i]
            u[j + 1] += u[j]
        s += np.sum(t) * np.sum(u)
    return s, t, u


@kernel
def used(a):
    n = int(a[0]) + 1
    b = np.ones(n)
    b[:] = a[:n]
    b.sort()
    c = b.copy()
    c[0] = 7
    d = np.zeros_like(b)
    d[1:] = b[:-1]
    e = b - c
    return b[::-1][0], b @ c, np.argmax(b), d[1:] + 0, e, np.median(b), np.mean(b), b > 2, b.astype(np.int32)


@kernel
def called(a):
    b = smaller(a, 4)
    c = listed(a, 2)
    s = 0.0
    for i in range(5):
        d = listed(a, i) * 2
        s += np.sum(d) + len(smaller(a, i + 1))
    x, y, z = several(a)
    e = listed(c, 3)
    return b, c, s, b[0] + c[-1], np.sum(listed(a, 100)), x, y, z, e, smaller(listed(a, 1), 5) + 1


@kernel
def given_on(a):
    return listed(a, 2)


@kernel
def several_given_on(a):
    return smaller(a, 4), several(a)


@kernel
def on_two_ways(a):
    if a[0] > 2:
        return listed(a, 2)
    return listed(a, 5)


@kernel
def ways(a):
    return way(a, 1), way(a, 5)


@kernel
def passed(a):
    def fill(x, v):
        for i in range(len(x)):
            x[i] = v + i
        x *= 2

    b = np.zeros(int(a[2]))
    fill(b, a[0])
    fill(b[1:], 1)
    m = 0
    for k in range(3):
        m += k
    c = np.ones(m + 1)
    return b, c


@kernel
def replaced(a):
    b = np.zeros(int(a[0]))
    c = listed(a, 1)
    s = 0.0
    for i in range(4):
        b = np.full(int(a[i]) + 1, a[i])
        c = c[c > i] - 0.5
        b[0] += s
        s += np.sum(b) + len(c) * c[0]
        b = b + np.max(c)
    return b, c, s


@kernel
def replaced_in_branches(a):
    b = np.zeros(int(a[0]))
    for v in a:
        if v > 4:
            b = np.ones(int(v))
        elif v > 2:
            b = b[1:] + 1
        else:
            b = b * 2
    return b


@kernel
def swapped(a):
    n = int(a[0])
    x, y, z = np.zeros(n), np.ones(n + 1), np.full(n, 2.0)
    for i in range(4):
        x[0] += i
        if i != 2:
            x, y, z = z, x + 1, y
        else:
            x, y = y, x[1:]
    return x, y, z


@kernel
def first_in_branches(a):
    n = int(a[0])
    if a[0] > 5:  # noqa: SIM108
        b = np.zeros(n)
    else:
        b = np.ones(n + 1)
    return b


@kernel
def kept_apart(a):
    n = int(a[0])
    t, s = np.zeros(n), 0.0
    for i in range(3):
        b = np.full(n, i * 1.0)
        u = b
        s += np.sum(t)
        t = b + 1
        u[0] = 5
        s += b[0]
    z, f = np.zeros(n, np.complex128), np.zeros(n, np.bool_)
    z[0], f[1] = a[1] + 2j, True
    return s, t, z, f


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_lengths_are_computed(function, options):
    check(function, A, **options)


def test_of_numbers_alone():
    def of_numbers(n):
        k = int(n * 0.5)
        b = np.zeros(k)
        b[0] = n
        return b

    check(of_numbers, 9)


def test_elements_read_and_store():
    def of_elements(a, out):
        b = np.zeros(int(a[2]) + 3)
        for i in spmdvm.foreach(len(out)):
            b[i] = a[i] * 2
        for i in spmdvm.foreach(len(out)):
            out[i] = b[len(out) - 1 - i] + np.sum(b)

    out = np.zeros(7)
    spmdvm.kernel(of_elements)(A, out)
    assert np.array_equal(out, A[::-1] * 2 + A.sum() * 2)


def test_memory_is_given_back():
    def total(a):
        s = 0.0
        for i in range(3000):
            s += np.sum(smaller(a, i)) + len(listed(a, 1)) + np.zeros(int(a[i % 7]) + 1000)[5]
        return s

    small = A.copy()
    expected = total(small)
    kernel = spmdvm.kernel(memory=1 << 20)(total)
    for _ in range(3):
        assert kernel(small) == expected


def test_what_cannot_be_is_told():
    def negative(a):
        return np.zeros(int(a[0]) - 10)

    def outside(a):
        b = np.zeros(int(a[0]))
        return b[int(a[0])]

    with pytest.raises(spmdvm.AssertionFailed, match=r"the length of `np\.zeros"):
        spmdvm.kernel(negative)(A)
    kernel = spmdvm.kernel(outside)
    for _ in range(3):
        with pytest.raises(IndexError):
            kernel(A)
