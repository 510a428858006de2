"""Arrays that functions within kernels give: parts, and another one in each way through the function."""

import numpy as np
import pytest
import spmdvm

A, B, NONE = np.array([3.0, 1, 2, 2, 5]), np.array([2.0, 9, 5, 7]), np.zeros(0)


def check(function, *arguments, **options):
    """Compare the results of a kernel with those of Python, and what it leaves in arrays."""
    given, taken = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    expected, got = function(*given), spmdvm.kernel(function, **options)(*taken)
    pairs = zip(expected, got) if isinstance(expected, tuple) else [(expected, got)]
    for mine, theirs in pairs:
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip(given, taken):
        np.testing.assert_array_equal(mine, theirs)


def distinct(a):
    in_order = np.sort(a)
    is_new = np.ones(len(in_order), np.bool_)
    is_new[1:] = in_order[1:] != in_order[:-1]
    return in_order[is_new]


def either(a, b):
    if len(a) == 0:
        return b
    if len(b) == 0:
        return a
    return distinct(np.concatenate((a, b)))


def common(a, b):
    joined = np.concatenate((a, b))
    joined.sort()
    return joined[:-1][joined[1:] == joined[:-1]]


def large(a, least):
    places, values, n = np.empty(len(a), np.int32), np.empty(len(a)), 0
    for i in range(len(a)):
        if a[i] > least:
            places[n], values[n] = i, a[i] * 2
            n += 1
    return places[:n], values[:n]


def behind(a, k):
    return a[k:]


@pytest.mark.parametrize("engine", ["interp", "auto"])
@pytest.mark.parametrize(("a", "b"), [(A, B), (NONE, B), (A, NONE), (NONE, NONE)])
def test_each_way_gives_another_array(a, b, engine):
    def uses(a, b):
        u = either(a, b)
        total = 0.0
        for x in u:
            total += x
        return total, len(u), either(a, b) * 2, np.sum(either(b, a))

    def gives(a, b):
        return either(a, b), a

    check(uses, a, b, engine=engine)
    check(gives, a, b, engine=engine)


def test_kernels_give_another_array_in_each_way():
    def chosen(a, b):
        if len(a) > len(b):
            return a
        if len(b) > 4:
            return b[1:]
        return np.zeros(3)

    for a, b in ((A, B), (B, A), (B, B)):
        check(chosen, a, b)

    def of_lengths(n, m):
        if n > m:
            return np.ones(n)
        return np.zeros(m)

    check(of_lengths, 3, 2)
    check(of_lengths, 2, 3)


def test_parts_of_what_functions_make():
    def in_loops(a, b):
        total = 0.0
        for i in range(3):
            places, values = large(a[i:], 1.5)
            total += np.sum(values[places > 0]) + i * len(common(a[i:], b)) + len(either(a[i:], b))
        return total

    def whole(a):
        return large(a, 2.5)

    check(in_loops, A, B)
    check(whole, A)
    check(lambda a, b: np.mean(common(a, b)), A, B)


def test_parts_of_what_functions_are_passed():
    def read(a):
        return np.sum(behind(a, 2)) + np.max(behind(a * 2, 1)), behind(a, 1) + 1

    check(read, A)


def test_what_python_would_share_is_not_changed():
    def changes_result(a, b):
        u = either(a, b)
        u[0] = 5
        return u

    def changes_argument(a, b):
        u = either(a, b)
        a[0] = 7
        return np.sum(u)

    def zero(x):
        x[0] = 0

    def changes_unnamed(a, b):
        zero(either(a, b))
        return a[1]

    def through(a, b):
        return either(a, b)

    def changes_through(a, b):
        u = through(a, b)
        u += 1
        return a[0]

    def changes_part(a, b):
        t = behind(a, 1)
        t[0] = 3
        return a[1]

    for function, what in (
        (changes_result, "`u`"),
        (changes_argument, "`a`"),
        (changes_unnamed, "the result"),
        (changes_through, "`u`"),
        (changes_part, "`t`"),
    ):
        with pytest.raises(spmdvm.CompileError, match=f"may return an array that it is passed, and {what} is changed"):
            spmdvm.kernel(function)(A, B)

    def summed(a, b):
        return np.sum(either(a, b))

    def changes_between(a, b):
        before = summed(a, b)
        a[0] = 1
        return before, summed(a, b)

    check(changes_between, A, B)


def test_memory_of_given_arrays_is_given_back():
    def many(a, b, n):
        count = 0
        for _ in range(n):
            count += len(either(a, b)) + len(common(a, b))
        return count

    check(many, A, B, 2000, memory=1 << 20)


def test_places():
    def places(a, k):
        at = np.where(a > k)[0]
        other = np.nonzero(a == 2)[0]
        total = 0.0
        for i in np.flatnonzero(a < 3):
            total += a[i] * i
        return at, other, total, np.flatnonzero(a.reshape(1, -1) > k), np.mean(np.flatnonzero(a))

    check(places, A, 1.5)
    check(places, A, 99.0)

    def joined(a):
        found = np.flatnonzero(a > 1)
        return np.concatenate((found, np.arange(len(found)))), np.ravel(a * 2)[1:3], np.ravel(a)

    check(joined, A)


def twice_large(a, least):
    b = a[:] * 2
    return large(b, least)


def test_tuples_that_functions_hand_on():
    def names(a, k):
        places, values = twice_large(a, k)
        _, others = large(a, k)
        others = np.abs(-others)
        return (
            np.sum(values) + places[0],
            others,
            twice_large(a, k)[0].shape[0],
            len(twice_large(a, 1)[1]),
            large(a, k)[1] * 2,
        )

    def number(a):
        return counted(a)[1] + counted(a)[0][0]

    check(names, A, 2.5)
    check(number, A)


def counted(a):
    return a * 2, len(a)


def test_the_least_elements():
    def least(a, k):
        part = np.partition(a, k)
        return part[k], np.max(part[: k + 1]), a[np.argpartition(a, k)[k]]

    for k in (0, 2, 4):
        check(least, A, k)
    with pytest.raises(AssertionError, match="takes the place of an element"):
        spmdvm.kernel(least)(A, 5)


@pytest.mark.parametrize("a", [np.array([np.nan, 3, 1, np.nan, -7, 5]), np.array([3, -1, 4, 9]), np.full(3, np.nan)])
@pytest.mark.filterwarnings("ignore:All-NaN slice")
def test_products_and_medians_leave_nan_out(a):
    def both(a):
        return np.nanprod(a), np.nanmedian(a), np.nanprod(a + 1) - 1

    check(both, a)
    check(both, a.astype(np.float32))
    check(both, a.reshape(1, -1))

    def rows(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = np.nanmedian(m[i]) + np.nanprod(m[i])

    out = np.zeros(2)
    spmdvm.kernel(rows)(np.stack([a, a]), out)
    np.testing.assert_array_equal(out, np.nanmedian(a) + np.nanprod(a))


def test_enumerated_ranges():
    def found(a, n):
        total = 0.0
        for k, i in enumerate(range(1, n)):
            if a[i] == 5:
                break
            total += k * a[i]
        else:
            total += 100
        for k, i in enumerate(range(n), 2):
            total += k * i
        return total

    check(found, A, 4)
    check(found, A, 5)


def scaled(a, n):
    return a / n if n > 1 else a * 1


@pytest.mark.parametrize("engine", ["interp", "auto"])
@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_one_of_two_arrays_is_returned(k, engine):
    def unit(a, k):
        n = np.sqrt(np.sum(a * a))
        return a / n if n > k else a

    def part(a, k):
        return a[:2] if len(a) > k else a[1:]

    def within_another(a, k):
        return (a[:] * 2 if k > 1 else np.zeros(len(a))) if k > 0 else a + 1

    def by_a_function(a, k):
        return scaled(a[:3], k) + scaled(a[2:], k + 1)

    def by_one_in_it(a, k):
        def given(b):
            return b[1:] if k > 1 else b[:-1]

        return given(a) * 2

    for function in (unit, part, within_another, by_a_function, by_one_in_it):
        check(function, A, k, engine=engine)
