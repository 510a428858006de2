"""Lists in kernels that are sorted, sliced, joined, searched, returned and passed are those of Python."""

import random

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0])
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


def pairs(a, least):
    found = []
    for i in range(len(a)):
        if a[i] > least:
            found.append((a[i], i))
    return found


def weighed(found):
    total = 0.0
    for v, i in found:
        total += v * i
    return total + found[0][0] + len(found) + found[-1][1]


def squares(n):
    return [k * k for k in range(n)]


def split(a, at):
    low, high = [], []
    for v in a:
        if v < at:
            low.append(v)
        else:
            high.append((int(v), v))
    return low, high, len(low)


def by_remainder(pair):
    return pair[1] % 3, -pair[0]


@kernel
def returned(a):
    xs = []
    for i, v in enumerate(a):
        if v > 2:
            xs.append((i, (v, i * 2)))
    return xs, [(i, v) for i, v in enumerate(a)], [v for v in a], len(xs)


@kernel
def returned_in_some_way(a):
    if a[0] > 100:
        return []
    if a[1] > 100:
        return [(1, a[0])]
    xs = []
    for i, v in enumerate(a):
        xs.append((i, v))
        if v > 8:
            return xs[1:]
    return xs


@kernel
def nothing_is_returned(a):
    if a[0] > 1:
        return [], 0, []
    return [v for v in a], len(a), [(v, 1) for v in a]


@kernel
def written_where_they_are_returned(a):
    return [a[0], a[1] * 2], [(1, a[0]), (2, a[1])]


@kernel
def in_order(a):
    xs = [(int(v) % 3, i, v) for i, v in enumerate(a)]
    ys = [v for v in a]
    ys.sort(reverse=True)
    zs = sorted(xs)
    ws = sorted(xs, reverse=True)
    xs.sort(key=lambda t: -t[2])
    return xs, ys, zs, ws, sorted(a), sorted(x * 2 for x in a), sorted((3, 1, 2)), sorted([2.5, a[0], 0.5])


@kernel
def in_order_by_keys(a):
    xs = [(i, v) for i, v in enumerate(a)]
    xs.sort(key=by_remainder)
    ys = sorted(xs, key=by_remainder, reverse=True)
    zs = sorted(a, key=lambda v: (v % 2, -v))
    for i, v in sorted(xs, key=lambda t: t[1]):
        xs.append((i + 10, v))
        if len(xs) > 9:
            break
    return xs, ys, zs, sorted(xs, reverse=bool(a[0] > 1), key=None)


@kernel
def equal_ones_keep_their_order(a):
    xs = [(int(v) % 2, i) for i, v in enumerate(a)]
    xs.sort(key=lambda t: t[0])
    ys = sorted(xs, key=lambda t: t[0], reverse=True)
    zs = [0.0, -0.0, 1.0, -0.0, 0.0]
    zs.sort(reverse=True)
    ws = [0.0, -0.0, -1.0, -0.0, 0.0]
    ws.sort()
    return xs, ys, [1 / v if v > 0.5 else np.copysign(1.0, v) for v in zs], [np.copysign(1.0, w) for w in ws]


@kernel
def changed_in_the_middle(a):
    xs = [(i, v) for i, v in enumerate(a)]
    first = xs.pop(0)
    other = xs.pop(-2)
    xs.insert(1, (100, 0.5))
    xs.insert(-1, (101, 0.5))
    xs.insert(1000, (102, 0.5))
    xs.insert(-1000, (103, 0.5))
    at = xs.index((100, 0.5))
    del xs[at], xs[-1]
    xs.remove((2, 4.0))
    n = xs.count((103, 0.5)) * 10
    if (101, 0.5) in xs:
        n += 1
    if (1010, 0.5) not in xs:
        n += 100
    xs.reverse()
    ys = []
    for v in a:
        ys.insert(0, v)
        ys.insert(len(ys) // 2, v * 2)
    k = ys.index(8.0)
    ys.remove(8.0)
    x = ys.pop(k)
    return xs, first, other, at, n, ys, k, ys.count(3.0), x


@kernel
def made_of_others(a):
    xs = [v for v in a]
    ys = xs[1:3] + [7.5] + xs[::-2]  # noqa: RUF005
    zs = list(ys)
    zs.append(1.0)
    ws = zs.copy()
    ws[0] = 100.0
    xs = [x * 2 for x in xs if x > 2]
    xs += ys
    xs = sorted(xs) + xs * 2
    for k in range(3):
        xs = [x + k for x in xs]
        xs = xs[1:] + xs[:1]
    ps = [(i, v) for i, v in enumerate(a)]
    qs = ps[2:4]
    ps = ps[::-1] + [(9, a[0])] + qs  # noqa: RUF005
    n = list(range(3, 20, 4))
    m, rest = list(reversed(n)), list(zip(a, n))
    return xs, ys, zs, ws, ps, qs, n, m, rest, [i for i, v in ps[1:3]], len(ps[2:]), list(a)


@kernel
def given_by_functions(a):
    ps, qs = pairs(a, 2), pairs(a, 100)
    total = weighed(ps)
    if not qs:
        total += 1
    for v, _ in pairs(a, 1):
        total += v
    ps = sorted(pairs(a, 1))
    low, high, n = split(a, 3.0)
    low.append(100.0)
    xs = squares(5)
    xs.append(3)
    for x in squares(3):
        xs.append(x)
    return ps, total, weighed(ps), low, high, n, xs, sum(squares(4)), len(squares(7)), pairs(a, 4), weighed(high[1:])


@kernel
def given_by_kernels(a):
    found = compiled_pairs(a, 1)
    found.append((1.0, 7))
    return compiled_weighed(found), found, compiled_weighed(compiled_pairs(a, 2))


def compiled_weighed(found):
    return weighed(found)


compiled_pairs, compiled_weighed = spmdvm.kernel(pairs), spmdvm.kernel(compiled_weighed)


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_lists_are_those_of_python(function, options, monkeypatch):
    compiled = spmdvm.kernel(**options)(function)
    found = [compiled(A.copy()) for _ in range(2)]
    # Python has no lists of tuples to pass to a kernel.
    for name in ("pairs", "weighed"):
        monkeypatch.setitem(globals(), f"compiled_{name}", globals()[name])
    expected = function(A.copy())
    assert found == [expected, expected]
    assert repr(plain(found[0])) == repr(plain(expected))


def plain(value):
    """Give a result with Python's numbers, as lists that kernels return have them."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(plain, value))
    return value.item() if isinstance(value, np.generic) else value


def test_sorting_is_that_of_python_whatever_the_length():
    @spmdvm.kernel
    def ordered(a, b, backwards):
        xs = [(a[i], b[i], i) for i in range(len(a))]
        ys = [(a[i], i) for i in range(len(a))]
        ys.sort(key=lambda t: t[0], reverse=bool(backwards))
        return sorted(xs), ys

    source = random.Random(5)
    for n in (0, 1, 2, 3, 7, 64, 65, 1000):
        a = np.array([source.randrange(5) for _ in range(n)], np.int32)
        b = np.array([source.random() for _ in range(n)])
        for backwards in (False, True):
            found = ordered(a, b, backwards)
            xs = [(int(x), float(y), i) for i, (x, y) in enumerate(zip(a, b))]
            ys = [(x, i) for x, _, i in xs]
            assert found == (sorted(xs), sorted(ys, key=lambda t: t[0], reverse=backwards))


def test_what_is_not_there_is_an_error_of_python():
    @spmdvm.kernel
    def taken(a, i):
        xs = [v for v in a]
        return xs.pop(i)

    @spmdvm.kernel
    def sought(a, x):
        xs = [(1, v) for v in a]
        return xs.index((1, x))

    @spmdvm.kernel
    def removed(a, x):
        xs = [v for v in a]
        xs.remove(x)
        return xs

    assert (taken(A, -7), sought(A, 4.0), removed(A, 9.0)) == (3.0, 2, [3, 1, 4, 1.5, 5, 2])
    for i in (7, -8):
        with pytest.raises(IndexError, match="pop index out of range"):
            taken(A, i)
    with pytest.raises(IndexError, match="pop from empty list"):
        taken(A[:0].copy(), 0)
    with pytest.raises(ValueError, match="not in list"):
        sought(A, 100.0)
    with pytest.raises(ValueError, match="not in list"):
        removed(A, 100.0)


def test_memory_is_given_back():
    @spmdvm.kernel(memory=2**20)
    def work(a, n):
        total = 0
        for _ in range(50):
            xs = [(i, a[0]) for i in range(n)]
            ys = sorted(xs, reverse=True)[1:] + pairs(a, 1)[:0]
            total += len(ys) + len(squares(n))
            xs = list(xs)
        return total, xs

    total, xs = work(A, 2000)
    assert total == 50 * 3999 and xs == [(i, 3.0) for i in range(2000)]


def test_a_list_of_named_tuples_is_one_of_them():
    from test_kernel_tuple_lists import Point

    @spmdvm.kernel
    def points(a):
        ps = [Point(i, v) for i, v in enumerate(a)]
        ps.sort(key=lambda p: p.x)
        return ps, ps[0].x

    found, least = points(A)
    assert found[0] == Point(1, 1.0) and type(found[0]) is Point and least == 1.0
    assert [p.i for p in found] == A.argsort().tolist()


def changed_where_it_is_passed(xs, x):
    xs.append(x)  # HERE `xs` is passed here, and only read


def passes_to_be_changed(a):
    xs = [v for v in a]
    changed_where_it_is_passed(xs[1:], 1.0)
    return xs


def another_in_its_loop(a):
    xs = [v for v in a]
    for x in xs:  # HERE `xs` becomes another list in a loop over it
        xs = [x, *xs]
    return xs


def complex_ones(a):
    xs = [v * 1j for v in a]
    return len(sorted(xs, key=lambda z: z))  # HERE complex numbers have no order


def no_such_argument(a):
    xs = [v for v in a]
    xs.sort(cmp=1)  # HERE a list is put in order by `key=` and `reverse=`
    return xs


def several_deleted(a):
    xs = [v for v in a]
    del xs[1:3]  # HERE `del` takes one element of a list in a kernel
    return xs


def stored_to_a_part(a):
    xs = [(1, v) for v in a]
    xs[1:][0] = (2, 1.0)  # HERE a list that is passed, or a part of one, is only read
    return xs


def sorted_in_foreach(a):
    for i in spmdvm.foreach(len(a)):
        a[i] = sorted(a)[i]  # HERE a list cannot stand in a `foreach`


def unknown_method(a):
    xs = [v for v in a]
    xs.find(1.0)  # HERE `xs` has no such `find` in a kernel
    return xs


@pytest.mark.parametrize(
    "function",
    [
        passes_to_be_changed, another_in_its_loop, complex_ones, no_such_argument, several_deleted, stored_to_a_part,
        sorted_in_foreach, unknown_method,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_mistakes_are_told_at_their_line(function):
    told = changed_where_it_is_passed if function is passes_to_be_changed else function
    assert_told(lambda: spmdvm.kernel(function)(A.copy()), told)
