"""What loops of kernels go over is what Python does: `enumerate`, `zip`, `reversed` and `range`, in one another."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_made import check

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def expressions(a):
    total = 0.0
    for i, v in enumerate(a * 2 + 1):
        total += i * v
    for i, v in enumerate(a[::-1], 3):
        total += i * v
    for i, v in enumerate(np.sort(a), start=len(a)):
        total += i * v
    for v in a - 1:
        total = total * 1.5 + v
    for v in -a:
        total = total * 1.5 + v
    return total


@kernel
def in_one_another(a):
    total = 0.0
    for i, (x, y) in enumerate(zip(a, a * 2)):
        total += i * x * y
    for (i, x), y in zip(enumerate(a[1:]), a):
        total += i * x * y
    for x, (y, z) in zip(a, zip(a + 1, reversed(a))):
        total += x * y * z
    for k, (i, x) in enumerate(enumerate(a)):
        total += k * i * x
    for pair in enumerate(a):
        total += pair[0] * pair[1]
    for i, (j, k) in zip(range(9), zip(range(3, 20, 4), range(10, -5, -3))):
        total = total * 0.5 + i + j * k
    return total


@kernel
def backwards(a):
    total = 0.0
    for i in reversed(range(5)):
        total = total * 2 + a[i]
    for i in reversed(range(1, len(a), 3)):
        total = total * 2 + a[i]
    for v in reversed(a):
        total = total * 2 + v
    for i, v in reversed(((1, 2), (3, 4), (5, 6))):
        total = total * 2 + i * v
    for i, v in zip(reversed(range(len(a))), a):
        total = total * 2 + i * v
    xs = []
    for v in a:
        xs.append(v)
    for k, v in enumerate(reversed(xs)):
        total += k * v
    return total


@kernel
def ranges(a):
    total, n, step = 0, len(a), int(a[0])
    for i, k in enumerate(range(3, 20, 2)):
        total += i * k
    for i, k in zip(range(n, -n, -step), range(n * n)):
        total = total * 3 + i * k
    for i, k in zip(range(0, n, step), range(1, n - 1)):
        total = total * 3 + i * k
    for _, k in enumerate(range(n, 3, 2)):
        total += 1000 + k
    for _, k in enumerate(range(5, n, -1)):
        total += 1000 + k
    return total + a[0]


@kernel
def comprehensions(a):
    xs = [i * v for i, v in enumerate(a * 2)]
    ys = [i * v for i, v in zip(range(10, 0, -2), a[1:] - a[:-1])]
    zs = [v for v in reversed(a) if v > 1.5]
    n = sum(i for i in range(0, 100, 7))
    m = max(i * x * y for i, (x, y) in enumerate(zip(a, reversed(a))))
    return xs, ys, zs, n, m, np.array([a[i] for i in range(0, len(a), 2)]), np.array([v + 1 for v in a * a])


@kernel
def left_and_not_left(a):
    found = -1
    for i, v in enumerate(a * a):
        if v > 20:
            found = i
            break
    else:
        found = 100
    for i, (x, y) in enumerate(zip(a, a + 1)):
        if x > y:
            break
        if i == 2:
            continue
        found += i
    else:
        found += 1000
    return found


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_loops_go_over_what_python_goes_over(function, options):
    check(function, A, **options)


def test_a_step_of_nothing_is_told():
    @spmdvm.kernel
    def count(a, step):
        total = 0.0
        for i, v in zip(range(0, 10, step), a):
            total += i * v
        return total

    assert count(A, 5) == 5.0
    with pytest.raises((AssertionError, ValueError), match="step must not be zero"):
        count(A, 0)


def test_elements_go_over_them_too():
    def of_elements(a, out):
        for i in spmdvm.foreach(len(a)):
            total = 0.0
            for k, (x, y) in enumerate(zip(a, reversed(a))):
                total += k * x * y * a[i]
            out[i] = total

    found, expected = np.zeros(7), np.zeros(7)
    spmdvm.kernel(of_elements)(A, found)
    for i in range(7):
        expected[i] = sum(k * x * y * A[i] for k, (x, y) in enumerate(zip(A, reversed(A))))
    assert np.allclose(found, expected)


def of_a_number(a):
    for i, v in enumerate(len(a)):  # HERE `enumerate` goes over arrays, lists and tuples in a kernel
        a[i] = v


def of_a_number_in_zip(a):
    for i, (j, k) in enumerate(zip(a, 3)):  # HERE `zip` goes over arrays, lists and tuples in a kernel
        a[i] = j * k


def backwards_by_a_number(a):
    for i in reversed(a[0] > 1):  # HERE `reversed` goes over arrays, lists and tuples in a kernel
        a[i] = 1


@pytest.mark.parametrize("function", [of_a_number, of_a_number_in_zip, backwards_by_a_number], ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A.copy()), function)
