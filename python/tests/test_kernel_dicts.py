"""Dicts and sets in kernels are those of Python: what they hold, in which order, and what is refused."""

import pickle
import random
from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np
import pytest
import spmdvm
from marks import assert_told

A = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
X = np.array([0.5, -0.0, 2.5, 0.0, 0.5, 1e300, 2.5])
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


def in_order(value):
    """Give a result with dicts as their items, and sets sorted."""
    if isinstance(value, dict):
        return type(value).__name__, list(value.items())
    if isinstance(value, set):
        return "set", sorted(value)
    return [in_order(each) for each in value] if isinstance(value, (tuple, list)) else value


def outcome(function, *args):
    """Give what a function returns, or the class and text of what it raises."""
    try:
        return in_order(function(*args))
    except Exception as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins").__name__


@kernel
def counted(a):
    seen = {}
    for x in a:
        if x in seen:
            seen[x] += 1
        else:
            seen[x] = 1
    return seen


@kernel
def counted_by_get(a):
    seen = {}
    for x in a:
        seen[x] = seen.get(x, 0) + 1
    return seen, len(seen)


@kernel
def taken_out(a):
    d = {}
    for i, x in enumerate(a):
        d[x] = i
    del d[5]
    y, z = d.pop(3), d.pop(77, -1)
    d[5] = 100
    s = 0
    for k, v in d.items():
        s = 3 * s + k * v
    return d, y, z, s, list(d.keys()), sorted(d.values()), [k for k in d]


@kernel
def by_pairs(a):
    d = {}
    for i in range(len(a) - 1):
        d[a[i], i % 2] = (i, a[i] * 0.5)
    s = 0.0
    for (x, p), (i, h) in d.items():
        s += x * p + i * h
    if (3, 0) in d and (3, 7) not in d:
        i, h = d[3, 0]
        s += d[3, 0][1] + i + h
    return s, d


@kernel
def sets(a):
    s, t = set(), {1, 2, 3, 100}
    for x in a:
        s.add(x)
    s.discard(9)
    s.discard(9)
    u = s | t
    u -= {100}
    u.update(range(3))
    both = sorted(s & t), sorted(s - t), sorted(t - s), sorted(s ^ t), sorted(s.union(a, t)), sorted(set(a))
    return both, len(s), s, u, max(s), 4 in s, {x % 3 for x in a}


@kernel
def counters(a):
    c = Counter(a)
    c[5] += 10
    c.update(a[:3])
    del c[1], c[1000]
    return c, c[99], len(c), c.most_common(2), c.most_common()


@kernel
def with_defaults(a):
    d, e = defaultdict(float), defaultdict(int)
    for x in a:
        d[x % 3] += x * 0.5
        e[x] += 1
    q = d[17]
    return d, q, e, 4 in e, 44 in e


@kernel
def comprehended(a):
    d = {x: i for i, x in enumerate(a) if x > 2}
    e = dict(zip(a, a * 2))
    f = {x: (y, y + 1) for x, y in e.items()}
    v = np.array(list(e.values()))
    return d, e, f, sum(d.values()), max(e), min(d.keys()), np.sum(v), any(k > 8 for k in f)


@kernel
def added_if_missing(a):
    d = {}
    n = 0
    for x in a:
        n += int(d.setdefault(x % 4, x))
    while d:
        k = next(iter(d))
        n += int(d.pop(k)) + len(d)
    if not d:
        n += 1000
    return n, d


@kernel
def joined(a):
    d, e = {1: 2}, {1: 5, 9: 7}
    d.update(e)
    f = {**d, 4: 4}
    g = d.copy()
    f.clear()
    f[2] = 3
    h = d | f
    h |= {1: 0}
    d[1] = 11
    return d, e, f, g, h


@kernel
def of_floats(a):
    d = {}
    for k in range(8):
        d[k * 0.5] = k
    d[-0.0] += 100
    total = 0.0
    for key in d:
        total = 2 * total + key
    return d, total, 1 in d, 0.25 in d, d[2]


@kernel
def of_bools(a):
    d, e = {}, {}
    for x in a:
        d[x > 3] = x
        e[int(x)] = 1
    e[True] = 7
    return d, e, d[True], e[True]


@kernel
def read_where_it_may_not_be(a):
    d = {3: 1.5, 5: 0.5}
    s, n = 0.0, 0
    for x in a:
        s += d[x] if x in d else 0.25  # noqa: SIM401
        if x in d and d[x] > 1:
            n += 1
    return s, n, [d[x] for x in a if x in d]


@kernel
def never_filled(a):
    d, n = {}, 0
    for _ in d:
        n += 1
    return n, len(d), 3 in d, 4 not in d


@kernel
def made_again_in_loops(a):
    n = 0
    for i in range(4):
        d = {}
        for x in a[: i + 2]:
            d[x] = d.get(x, i) + x
        for k, v in d.items():
            n = 7 * n + k * v
        d = {v: k for k, v in d.items()}
        n += len(d) + max(d)
    return n


@kernel
def keys_that_come_and_go(a):
    d = {}
    n = 0
    for round in range(60):
        for k in range(round, round + 12):
            d[k] = round
        for k in range(round, round + 11):
            del d[k]
        for k, v in d.items():
            n = (5 * n + k * v) % 1000003
    return n, d


@kernel
def missing_key(a):
    d = {1: 2}
    return d[int(a[0])]


@kernel
def missing_key_changed(a):
    d = {1: 2}
    d[7] += 1
    return d


@kernel
def missing_key_deleted(a):
    d = {1: 2}
    del d[8]
    return d


@kernel
def missing_in_a_set(a):
    s = {1, 2}
    s.remove(3)
    return s


@kernel
def grown_while_gone_over(a):
    d = {1: 1}
    for k in d:
        d[k + 1] = 1
    return len(d)


@kernel
def shrunk_while_gone_over(a):
    d = {1: 1, 2: 2, 3: 3}
    for k in d:
        if k == 1:
            del d[2]
    return len(d)


@kernel
def left_after_a_change(a):
    d = {1: 1, 2: 2}
    for k in d:
        del d[k]
        break
    for k in list(d):
        d[k + 10] = 1
    return d


def drained(d):
    n = 0
    while d:
        n = n * 3 + d.popitem()[1]
    return n


@kernel
def last_ones(a):
    d = {x: i for i, x in enumerate(a)}
    del d[a[-1]]
    first = d.popitem()
    n = d.get(1, 0) + d.popitem()[1] * 100
    m = drained(d)
    d[1] = 7
    pairs = {1: (2, 3), 4: (5, 6)}
    n += pairs.popitem()[1][0]
    return first, n, m, d, pairs


@kernel
def last_ones_and_new_ones(a):
    d = {}
    n = 0
    for i in range(3000):
        d[i] = i
        k, v = d.popitem()
        n += k + v
        if 3 * i in d:
            n += 1
        d.setdefault(i % 7, 1)
        if i % 11 == 0:
            d.pop(6, None)
    return n, d


@kernel
def nothing_to_pop(a):
    d = {1: a[0]}
    d.popitem()
    d.popitem()
    return 0


@kernel
def nothing_in_a_set(a):
    s = {a[0]}
    s.pop()
    return s.pop()


@kernel
def set_to_nothing(a):
    s, n = set(a), 0
    while s:
        n += s.pop()
    return n, s


def looked_up(d, k):
    return d.get(k)


@kernel
def asked_for_none(a):
    d, n = {}, 0
    for i, x in enumerate(a):
        v = d.get(x)
        if v is None:
            d[x] = 1
        else:
            d[x] = v + 1
        w = looked_up(d, i)
        if w is not None and w > 1:
            n += 100 * w
        if d.get(i) is None:
            n += 1
        if (u := d.get(i)) is not None:
            n += 10 * u
        if not d.get(x + 1):
            n += 5
        n += d.get(x - 2) or 1000
    return d, n


@kernel
def taken_or_none(a):
    d = {x: (x, i * 0.5) for i, x in enumerate(a)}
    p, n = d.get(9), 0.0
    q = d.pop(4, None)
    if p is not None and q is not None:
        n = p[0] + q[1]
    again = d.pop(4, None)
    if again is None:
        n += 1000
    while (k := d.pop(int(n) % 7, None)) is not None:
        n += k[1]
    return n, d


@kernel
def none_as_a_result(a):
    return {1: 2}.get(5)


@kernel
def none_as_a_number(a):
    d = {1: 2}
    x, y = d.get(1), d.get(2)
    return x + y


@kernel
def compared_sets(a):
    s, t = set(a), {1, 2, 3}
    found = [s == t, s != t, s <= t, t <= s, t < s, s > t, s >= s, s < s, s == s.copy(), t == {3, 2, 1}, s == set()]
    others = [t.issubset(a), s.issuperset(t), t.isdisjoint(s), t.isdisjoint(range(7, 20)), {x for x in a} | {1} <= s]
    return [int(each) for each in found], [int(each) for each in others]


@kernel
def compared_dicts(a):
    d = {x: i for i, x in enumerate(a)}
    e = d.copy()
    n = int(d == e)
    e[1] += 1
    n = 2 * n + int(d == e)
    del e[1]
    n = 2 * n + int(d != e)
    n = 2 * n + int({1: (2, 3)} == {1: (2, 4)})
    return n, int(d == {}), int({1: (2, 3)} == {1: (2, 3)})


@kernel
def compared_in_conditions(a):
    seen, n = set(), 0
    for x in a:
        old = seen.copy()
        seen.add(x)
        if len(seen) > 2 and old == seen and n < 5:
            n += 1
        if old < seen or x == 77:
            n += 100
    while seen != {9}:
        seen.remove(min(seen))
        n += 1000
    return n


@kernel
def best_keys(a):
    d, c, e = {}, Counter(a), defaultdict(int)
    for i, x in enumerate(a):
        d[x, i % 2] = i % 5
    e[3] += 2
    best = max(d, key=d.get), min(d, key=d.get), max(c, key=c.get), max(e, key=e.get)
    return best, sorted(d, key=d.get, reverse=True), max(d), min(d.items(), key=lambda item: (item[1], item[0])), len(e)


@kernel
def sorted_by_none(a):
    d = {1: 5, 2: 3}
    return sorted([1, 2, 3], key=d.get)


def shortest(a, start):
    """The lengths of the shortest ways in a graph whose edges are pairs of numbers that follow one another."""
    edges = {}
    for i in range(len(a) - 1):
        edges[a[i], a[i + 1]] = i + 1
    far = {start: 0}
    todo = [start]
    while todo:
        at = todo.pop(0)
        for (x, y), length in edges.items():
            if x == at and far[at] + length < far.get(y, 1000):
                far[y] = far[at] + length
                todo.append(y)
    return far


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_dicts_are_those_of_python(function, options):
    assert outcome(spmdvm.kernel(**options)(function), A) == outcome(function, A)


def test_a_search_keeps_what_is_known_in_a_dict():
    assert outcome(spmdvm.kernel(shortest), A, 3) == outcome(shortest, A, 3)


def missing_number(a):
    return {1: 2}[7]


def missing_tuple(a):
    d = {(1, 2): 3}
    d[a[0], a[1] < 0.5] += 1
    return d


def missing_float(a):
    s = {0.5}
    s.remove(a[0] * 0.25)
    return s


def missing_bool(a):
    return {True: 1}.pop(a[0] > 7)


@pytest.mark.parametrize("function", [missing_number, missing_tuple, missing_float, missing_bool])
def test_a_key_that_is_missing_is_named(function):
    with pytest.raises(KeyError) as expected:
        function(A)
    with pytest.raises(KeyError) as found:
        spmdvm.kernel(function)(A)
    assert str(found.value).split("\n")[0] == f"{expected.value} in `{function.__name__}`"


def test_results_have_pythons_numbers():
    found = spmdvm.kernel(counted)(A)
    assert type(found) is dict and {type(k) for k in found} == {type(v) for v in found.values()} == {int}
    assert type(spmdvm.kernel(counters)(A)[0]) is Counter
    found = spmdvm.kernel(with_defaults)(A)[0]
    assert type(found) is defaultdict and found["new"] == 0.0


def test_kernels_with_counters_go_to_other_processes_by_value():
    @spmdvm.kernel
    def most(a):
        return Counter(a).most_common(1), isinstance(a, Iterable)

    assert pickle.loads(pickle.dumps(most))(A) == ([(5, 3)], True)


def test_elements_read_dicts():
    def of_elements(a, out):
        d = {}
        for i in range(len(a)):
            d[a[i], i % 2] = i * 0.5
        best = {x for x in a}
        for k in spmdvm.foreach(len(out)):
            out[k] = d[k, 1] if (k, 1) in d else d.get((k, 0), -1.0)
            if k in best:
                out[k] += 100

    out, expected = np.zeros(12), np.full(12, -1.0)
    spmdvm.kernel(of_elements)(A, out)
    for i, x in enumerate(A):
        expected[x] = i * 0.5 if i % 2 or (x, 1) not in {(y, j % 2) for j, y in enumerate(A)} else expected[x]
    expected[list(set(A))] += 100
    assert np.array_equal(out, expected)


def test_an_element_without_a_key_is_told():
    def of_elements(a, out):
        d = {1: 1.0}
        for k in spmdvm.foreach(len(out)):
            out[k] = d[k]

    with pytest.raises(KeyError, match=r"^0 \(lane 0\) in `of_elements`"):
        spmdvm.kernel(of_elements)(A, np.zeros(3))


def test_a_nan_is_no_key():
    def made(x):
        d = {}
        for v in x:
            d[v] = 1
        return len(d), np.nan in d

    assert spmdvm.kernel(made)(X) == (4, False)
    with pytest.raises(ValueError, match="a NaN is no key in a kernel"):
        spmdvm.kernel(made)(np.array([1.0, np.nan]))


def test_a_dict_counts_against_memory():
    def made(n: int):
        d = {}
        for k in range(n):
            d[k] = k
        return len(d)

    limited = spmdvm.kernel(memory=1_000_000)(made)
    assert limited(100) == 100
    with pytest.raises(spmdvm.Trap):
        limited(1_000_000)
    assert limited(100) == 100


def test_constants_are_sought_without_a_set():
    @spmdvm.kernel
    def among(x):
        return x in {2, 3, 5}

    @spmdvm.kernel
    def among_computed(x, y):
        return x in {y, y + 1}

    assert among(np.arange(6)).tolist() == [False, False, True, True, False, True]
    assert among_computed(np.arange(4), 2).tolist() == [False, False, True, True]


def ops(codes, keys, values):
    """Do one thing after another with a dict, and note what it gives."""
    d, e, seen = {}, {0: 0.0}, set()
    log = []
    for code, k, v in zip(codes, keys, values):
        r = -1.0
        if code == 0:
            d[k] = v
        elif code == 1:
            r = d.get(k, 0.25)
        elif code == 2:
            if k in d:
                d[k] += v
                r = d[k]
        elif code == 3:
            r = d.pop(k, -2.0)
        elif code == 4:
            r = d.setdefault(k, v)
        elif code == 5:
            d.pop(k, None)
            r = len(d)
        elif code == 6:
            for key, value in d.items():
                r = r * 0.5 + key * value
        elif code == 7:
            e = d.copy()
        elif code == 8:
            d.update(e)
        elif code == 9:
            if len(d) > 40:
                d.clear()
            elif d:
                first = next(iter(d))
                del d[first]
                r = first
        elif code == 10:
            seen.add(k)
        elif code == 11:
            seen.discard(k)
            r = len(seen)
        elif code == 12:
            r = 1.0 if k in seen else 0.0
        elif code == 13:
            seen -= {int(key) for key in d}
        elif code == 14:
            for key in sorted(seen):
                r = r * 0.5 + key
        elif code == 15:
            for key in list(d):
                if key % 3 == 0:
                    d[key + 1] = d.pop(key)
        elif code == 16:
            if d:
                k, v = d.popitem()
                r = k + v
        elif code == 17:
            found = d.get(k)
            r = -3.0 if found is None else found
        elif code == 18:
            r = 2.0 if d == e else 3.0 if len(d) > 0 else 4.0
        elif code == 19 and d:
            r = max(d, key=d.get)
        log.append(r)
    return d, e, sorted(seen), log


def random_ops(seed, count, most):
    """Make a sequence of things to do, with keys below some number."""
    draw = random.Random(seed)
    codes = np.array([draw.randrange(20) for _ in range(count)])
    keys = np.array([draw.randrange(-most, most) for _ in range(count)])
    return codes, keys, np.array([draw.random() for _ in range(count)])


def compare_ops(kernel, seeds, dtype=np.int64):
    """Compare a kernel with Python, for keys of a type."""
    for seed in seeds:
        codes, keys, values = random_ops(seed, 20 + seed % 300, 1 + seed % 97)
        keys = np.abs(keys).astype(dtype)
        expected = ops(codes.tolist(), keys.tolist(), values.tolist())
        assert in_order(kernel(codes, keys, values)) == in_order(expected), seed


def test_random_sequences_are_those_of_python():
    compare_ops(spmdvm.kernel(fp="strict")(ops), range(60))
    compare_ops(spmdvm.kernel(fp="strict")(ops), range(20), np.uint8)


def keys_of_two_types(a):
    d = {}
    d[1] = a[0]
    d[0.5] = a[1]  # HERE the keys of `d` are of several types
    return len(d)


def sought_as_another(a):
    d = {1: 2}
    return 0.5 in d  # HERE the keys of `d` are of another type


def of_other_parts(a):
    d = {}
    d[1, 2] = 3
    d[1] = 4  # HERE `d` has other keys in another place
    return len(d)


def with_lists(a):
    d = {}
    d[1] = a  # HERE dicts in kernels have numbers and tuples of them
    return len(d)


def two_names(a):
    d = {1: 2}
    e = d  # HERE a dict or set has one name in a kernel
    e[3] = 4
    return len(d)


def in_a_foreach(a):
    d = {1: 2}
    for i in spmdvm.foreach(len(a)):
        d[i] = 1  # HERE `d` changes in a `foreach`
    return len(d)


def may_be_none(a):
    d = {1: 2}
    x = d.get(3) + 1  # HERE `get` of a dict may give None here
    return x


def dicts_in_order(a):
    d = {1: 2}
    return d < {3: 4}  # HERE dicts have no order


def a_dict_and_a_set(a):
    d = {1: 2}
    return d == {1}  # HERE a dict is no set


def no_such_method(a):
    s = {1, 2}
    return s.pop(1)  # HERE `s` has no such `pop` in a kernel


def as_a_value(a):
    d = {1: 2}
    return d + 1  # HERE `d` is a dict, which is no value of an expression


def something_else(a):
    d = {1: 2}
    d = 3  # HERE `d` is a dict, and something else here
    return d


def another_in_a_loop(a):
    d = {1: 2}
    for k in d:  # HERE `d` becomes another dict in a loop over it
        d = {k + 1: 3}
    return len(d)


WRONG = [
    keys_of_two_types, sought_as_another, of_other_parts, with_lists, two_names, in_a_foreach, may_be_none,
    dicts_in_order, a_dict_and_a_set,
    no_such_method, as_a_value, something_else, another_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)
