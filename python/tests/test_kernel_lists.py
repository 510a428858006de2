"""Lists that grow in kernels are those of Python: what they hold, what is returned of them, and their memory."""

import threading

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])


def chosen(a):
    xs = []
    for v in a:
        if v > 2:
            xs.append(v)
    return np.array(xs)


def counted(a):
    xs = [0]
    for i in range(len(a)):
        xs.append(i * i)
        if len(xs) > 4:
            xs[0] += xs[-1] + xs[len(xs) - 2]
    return len(xs), xs[0], xs[-1], sum(xs), max(xs), min(xs)


def many(a):
    xs, ys = [1], [2.5]
    xs = []
    for i in range(1000):
        xs.append(i)
        ys.append(a[i % 7] * i)
        if i % 3 == 0:
            ys.pop()
    return np.array(ys), xs, np.sum(np.array(xs))


def depth_first(a):
    stack, seen = [0], np.zeros(len(a), np.bool_)
    order = []
    while len(stack) > 0:
        k = stack.pop()
        if seen[k]:
            continue
        seen[k] = True
        order.append(k)
        for other in ((k * 3 + 1) % len(a), (k + 2) % len(a)):
            if not seen[other]:
                stack.append(other)
    return order


def queue(a):
    todo, first = [0], 0
    total = 0.0
    while first < len(todo):
        k = todo[first]
        first += 1
        total += a[k]
        if 2 * k + 2 < len(a):
            todo.append(2 * k + 1)
            todo.append(2 * k + 2)
    return total, todo


def truth_and_loops(a):
    xs, total = [], 0.0
    if not xs:
        total += 1
    for v in a:
        xs.append(v)
    while xs:
        x = xs.pop()
        total += x * len(xs)
    for v in a:
        xs.append(v)
    for k, x in enumerate(xs):
        total += k * x
    for x, y in zip(xs, a):
        total += x * y
    # A loop goes over what is added in it.
    for x in xs:
        if x > 4 and len(xs) < 20:
            xs.append(x - 2)
    return total, xs, any(x > 8 for x in xs)


def other_ways(a):
    xs = list()
    ys = [0.0] * len(a)
    for i in range(len(a)):
        ys[i] = a[i]
    xs.extend(a)
    xs.extend((1, 2))
    xs += [7, a[0]]
    zs = [v * 2 for v in xs if v < 5]
    xs.clear()
    xs.append(1.0)
    ys.sort()
    return np.array(ys), zs, xs, np.array([x + 1 for x in zs]), np.array(zs, dtype=np.float32)


def among(a):
    xs, n = [a[0]], 0
    for v in a:
        if v not in xs:
            xs.append(v)
        if v * 2 not in a:
            n += 1
        n += 4.0 in xs
    return xs, n


def comprehensions(a):
    xs = [1]
    xs.append(2)
    return [x * 2 for x in xs], [v for v in a if v > 2]


def computed(a):
    xs = []
    for v in a:
        if v > 1.2:
            xs.append(v)
    b = np.array(xs)
    c = b * 2 - xs[0]
    ys = [i for i in range(int(a[0]))]
    return c / 3, np.sort(b), np.array(xs[1:]), b[1:] - b[:-1], np.array(ys) + 1, b.mean()


def in_each_round(a):
    total = 0.0
    for i in range(len(a)):
        row: list[float] = []
        for k in range(i):
            row.append(a[k])
        b = np.array(row)
        if i > 2:
            total += np.sum(b) + b[-1] + np.mean(b)
    return total


def positive(a, limit):
    found = []
    for v in a:
        if v > limit:
            found.append(v)
    if len(found) == 0:
        return 0.0
    found.sort()
    return found[len(found) // 2]


def in_functions(a):
    total = 0.0
    for k in range(100):
        total += positive(a, k % 12)
    return total


def added(xs, start):
    total = 0.0
    for k in range(start, len(xs)):
        total += xs[k]
    return total


def passed(a):
    xs = []
    for v in a:
        xs.append(v)
        if len(xs) > 3:
            xs[0] = added(xs, 1)
    return added(xs, 0), np.sum(np.array(xs)[1:])


def several_ways(a):
    xs = []
    xs.append(a[0])
    if a[1] > 100:
        return xs, 1
    ys = []
    for v in a:
        ys.append(v)
        if v > 4:
            return ys, 2
    return xs, 3


def of_types(a):
    ns, fs, bs, zs = [], [], [], []
    for v in a:
        ns.append(int(v))
        ns.append(np.int16(v))
        fs.append(np.float32(v))
        bs.append(v > 2)
        zs.append(v * 1j)
    return np.array(ns), np.array(fs), np.array(bs), np.array(zs)


@pytest.mark.parametrize(
    "function",
    [
        chosen, counted, many, depth_first, queue, truth_and_loops, other_ways, computed, among, comprehensions,
        in_each_round, in_functions, passed, several_ways, of_types,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_lists_are_those_of_python(function):
    kernel = spmdvm.kernel(function)
    for _ in range(2):
        assert_same(kernel(A.copy()), function(A.copy()))


def test_nothing_in_them():
    kernel = spmdvm.kernel(chosen)
    assert kernel(np.zeros(3)).shape == (0,) and kernel(A).tolist() == [3, 4, 5, 9]


def test_one_number_is_enough_for_a_kernel():
    @spmdvm.kernel
    def primes(n):
        found = []
        for k in range(2, n):
            if all(k % p != 0 for p in found):
                found.append(k)
        return found

    assert primes(30) == [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]


def test_what_is_not_there_is_no_number():
    def last(a):
        xs = []
        for v in a:
            xs.append(v)
        xs.pop()
        return xs[int(a[0])]

    def of_nothing(a):
        xs = []
        if a[0] < 0:
            xs.append(1)
        return xs.pop()

    with pytest.raises(IndexError, match="read outside of a list in `last`"):
        spmdvm.kernel(last)(np.array([2.0, 1.0, 3.0]))
    with pytest.raises(IndexError):
        spmdvm.kernel(of_nothing)(A)


def test_memory_is_given_back():
    @spmdvm.kernel(memory=2**20)
    def half_of_it(a, n):
        xs = []
        for k in range(n):
            xs.append(k)
        assert a[0] > 0, "negative"
        return len(xs)

    for _ in range(20):
        assert half_of_it(A, 20_000) == 20_000
    for _ in range(20):
        with pytest.raises(AssertionError):
            half_of_it(-A, 20_000)
        assert half_of_it(A, 20_000) == 20_000


def test_lists_are_returned_of_calls_that_are_looked_at():
    kernel = spmdvm.kernel(queue)
    for _ in range(2):
        stepper = kernel.stepper(A)
        stepper.resume()
        assert_same(stepper.finish(), queue(A))
        assert_same(kernel.profile(A).result, queue(A))
        assert_same(kernel(A), queue(A))


def test_numbers_that_do_not_fit_are_tested_in_another_module():
    @spmdvm.kernel
    def sums(a, n):
        xs = []
        for v in a:
            if v < 0:
                xs.append(v + n)
            xs.append(v)
        return np.array(xs)

    small = np.arange(3, dtype=np.int8)
    assert sums(small, 1).tolist() == sums(small, 1000).tolist() == [0, 1, 2]
    with pytest.raises(OverflowError):
        sums(-small, 1000)
    assert sums(-small, 1).tolist() == [0, 0, -1, -1, -2]


def test_results_of_several_threads_are_their_own():
    @spmdvm.kernel
    def squares(a, n):
        xs = []
        for k in range(n):
            xs.append(k * k + int(a[0]))
        return np.array(xs)

    wrong = []

    def work(seed):
        for n in range(200):
            found = squares(np.array([float(seed)]), n + seed)
            if found.tolist() != [k * k + seed for k in range(n + seed)]:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def of_arrays(a):
    xs = []
    xs.append(a)  # HERE lists in kernels are of numbers and tuples of them
    return len(xs)


def another_name(a):
    xs = [1]
    xs.append(a[0])
    ys = xs  # HERE a list that changes has one name in a kernel
    return ys[0]


def computed_with(a):
    xs = [1]
    xs.append(a[0])
    return np.sum(xs + a)  # HERE operators take no lists in a kernel


def unknown_method(a):
    xs = [1]
    xs.append(a[0])
    xs.find(1)  # HERE `xs` has no such `find` in a kernel
    return xs[0]


def changed_within(a):
    xs = [1]
    xs.append(a[0])
    return len(xs) - xs.pop()  # HERE `xs` changes in a statement in which it is used otherwise


def changed_in_foreach(a):
    xs = [1]
    for i in spmdvm.foreach(len(a)):
        xs.append(a[i])  # HERE `xs` changes in a `foreach`, whose elements all run at once
    return len(xs)


def something_else(a):
    xs = [1]
    xs.append(a[0])
    xs = a[0]  # HERE `xs` is a list that changes, and something else here
    return xs


@pytest.mark.parametrize(
    "function",
    [
        of_arrays, another_name, computed_with, unknown_method, changed_within, changed_in_foreach,
        something_else,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)


def assert_same(found, expected):
    """Assert that results are the same: lists are lists, and arrays have the same types."""
    if isinstance(expected, tuple):
        assert isinstance(found, tuple) and len(found) == len(expected)
        for part, own in zip(found, expected):
            assert_same(part, own)
        return
    assert isinstance(found, list) == isinstance(expected, list)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.allclose(found, expected)
