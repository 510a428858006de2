"""Arrays that kernels make with lengths known at run time, and return; products; reductions along an axis."""

import linecache
import math

import numpy as np
import pytest
import spmdvm

rng = np.random.default_rng(5)
WAYS = [{}, {"width": 4, "engine": "interp"}, {"width": 64}, {"width": 1, "engine": "clif"}]
TYPES = [np.int8, np.uint16, np.int32, np.int64, np.float32, np.float64]


def same(found, expected):
    if isinstance(expected, tuple):
        return isinstance(found, tuple) and all(map(same, found, expected)) and len(found) == len(expected)
    found, expected = np.asarray(found), np.asarray(expected)
    # Sums and powers may be rounded in another order.
    exact = expected.dtype.kind != "f"
    equal = np.array_equal(found, expected) if exact else np.allclose(found, expected, 1e-5, 1e-6, equal_nan=True)
    return found.shape == expected.shape and found.dtype == expected.dtype and equal


def check(function, *args, **options):
    """Compare a kernel with the function run by Python, also in what they do to their arguments."""
    given, own = [[np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)]
    with np.errstate(all="ignore"):
        expected = function(*given)
    found = spmdvm.kernel(**options)(function)(*own)
    assert same(found, expected), (found, expected)
    for a, b in zip(own, given):
        assert same(a, b)
    return found


def every_way(*args):
    """Check a function when it is written."""

    def decorate(function):
        @pytest.mark.parametrize("options", WAYS, ids=str)
        def test(options):
            check(function, *args, **options)

        test.__name__ = test.__qualname__ = function.__name__
        return test

    return decorate


A = rng.random(23)
M, N = rng.random((5, 7)), rng.random((7, 4))


@every_way(A)
def test_an_array_like_another_is_returned(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = a[i] * 2 + 1
    return out


@every_way(100)
def test_a_sieve(n):
    prime = np.ones(n + 1, dtype=np.bool_)
    prime[0] = False
    prime[1] = False
    for i in range(2, int(math.sqrt(n)) + 1):
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
    count = 0
    for i in range(n + 1):
        count += int(prime[i])
    return count


@every_way(M, N)
def test_a_product_in_loops(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@every_way(M, N, A[:7])
def test_products(a, b, v):
    return a @ b, a @ v, v @ b, np.dot(a, b), a.dot(v), np.outer(v, v), v.dot(v), np.matmul(a, b)[1:, 2]


@every_way(A, 3)
def test_lengths_that_are_computed(a, k):
    n = len(a)
    out = np.zeros(max(n - k + 1, 1))
    half = np.full((n // 2, k % 2 + 1), 7, np.int16)
    for i in range(n - k + 1):
        for j in range(k):
            out[i] += a[i + j]
    return out, half, np.ones(a.size, np.uint8), half.shape[1]


@every_way(A)
def test_an_array_is_made_anew_in_each_turn(a):
    total = 0.0
    for turn in range(3):
        seen = np.zeros(len(a))
        for i in range(turn, len(a), 3):
            seen[i] += a[i]
        total += np.sum(seen) * (turn + 1)
    return total


@every_way(A)
def test_functions_make_and_return_arrays(a):
    def smooth(x):
        out = np.zeros_like(x)
        for i in range(1, len(x) - 1):
            out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
        return out

    def both(x):
        y = x * 2
        return y, y[0], x

    once = smooth(a)
    twice = smooth(once)
    double, first, itself = both(once)
    other, _, _ = both(a)
    itself[0] = 5.0
    return once, twice, double, first, other


def rectified(x):
    return np.maximum(x, 0)


def shares(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def times(x, by=2.0):
    return x * by


def nearer(x, k):
    if k > 0:
        return x - k
    return rectified(x + k)


@every_way(M - 0.5, N - 0.5)
def test_functions_of_elements_and_of_whole_arrays_stand_in_expressions(a, b):
    c = a @ b
    d = rectified(c) + 1
    e = 2 * shares(d) - times(c - 1) ** 2
    e += nearer(c, 2) - nearer(e, -1)
    return shares(c + 1), rectified(rectified(c) - 0.1), times(e), -times(c), np.exp(times(c)) * (times(d) > 1)


@every_way(A)
def test_functions_return_what_they_make_of_expressions(a):
    k = a[0]

    def moved(x):
        return x + k

    if k > 5:
        return times(a * 2)
    return moved(moved(a) - a)


@every_way(M)
def test_functions_that_give_numbers_of_arrays_are_numbers_in_expressions(m):
    def rows(x):
        return x.shape[0]

    def always(x):
        return 5.0

    def another(x, y):
        return y * 2

    n = rows(m) + 1
    x = always(m) + another(m, 3.0)
    return m[0] * n + x, n, x


@every_way(A)
def test_what_is_passed_may_be_returned(a):
    b = a[2:]
    b += 1
    return a, b, a[1:-2:2], a[::-1]


@every_way(M)
def test_parts_of_matrices_are_returned(m):
    out = m * 2
    n = int(m[0, 0] * 0) + 2
    return out[1], out[:, 1], out[:n, ::2], out.T, out[n:n]


def test_a_part_that_is_returned_is_of_what_was_passed():
    @spmdvm.kernel
    def tail(a, n):
        return a[n:]

    a = np.arange(10.0)
    part = tail(a, 7)
    part[0] = -1
    assert a[7] == -1 and part.tolist() == [-1, 8, 9]


@every_way(A)
def test_expressions_make_arrays(a):
    b = a * 2 - 1
    c = np.sqrt(np.abs(b)) + np.sum(a)
    d = b > c - 5
    e = -b
    f = np.where(d, b, c)
    b += 1
    return b, c, d, e, f, a - np.mean(a)


@pytest.mark.parametrize("ty", TYPES)
def test_types_are_those_of_numpy(ty):
    def made(a):
        i, f = a.astype(np.int32), a.astype(np.float32)
        return a + a, a * 2, a > 2, a.copy(), i, f, np.zeros_like(a), np.cumsum(a), np.diff(a), np.sort(a), np.prod(a)

    check(made, np.array([3, 1, 2, 5, 4], ty))


@pytest.mark.parametrize("ty", TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_reductions_along_an_axis(ty, axis):
    text = f"""
def along(a):
    m = a.astype(np.{np.dtype(ty).name})
    return (np.sum(m, axis={axis}), m.mean({axis}), np.min(m, {axis}), m.max(axis={axis}), np.any(m > 3, axis={axis}),
            np.all(m > 0, axis={axis}), np.count_nonzero(m, axis={axis}), m.argmin(axis={axis}),
            np.argmax(m, axis={axis}), np.var(m, axis={axis}), m.std(axis={axis}))
"""
    a = rng.integers(0, 9, (3, 4, 5)).astype(ty)
    found = spmdvm.kernel(_function(text))(a)
    expected = _function(text)(a)
    for x, y in zip(found, expected):
        assert same(x, y), (x, y)


def _function(text):
    name = f"<made {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    return next(value for key, value in space.items() if callable(value) and key not in ("np", "__builtins__"))


@every_way(M)
def test_sums_of_expressions_along_an_axis(m):
    center = m - np.mean(m, axis=0)
    return center, np.sqrt((m * m).sum(axis=1)), np.max(np.sum(m, axis=0)), np.sum(m, axis=None), m[0].sum(axis=0)


def test_nan_is_the_extreme_along_an_axis():
    def extremes(a):
        return np.min(a, axis=0), np.max(a, axis=1), np.argmin(a, axis=0), np.argmax(a, axis=1)

    a = np.array([[1, np.nan, 3], [np.nan, 5, 0], [2, np.nan, np.nan]])
    check(extremes, a)


@every_way(A)
def test_running_sums_and_their_like(a):
    n = 5
    sums = np.cumsum(a)
    sums[n:] = sums[n:] - sums[:-n]
    return sums[n - 1 :] / n, np.cumprod(a + 0.5), a.cumsum(), np.diff(a), np.concatenate((a, a[:3], sums))


@every_way(12)
def test_numbers_in_a_row(n):
    a, b, c = np.arange(n), np.arange(3, n), np.arange(n, -n, -5)
    return (
        a,
        b,
        c,
        np.arange(2, 2),
        np.linspace(0.0, 1.0, n),
        np.linspace(3, n, 1),
        np.arange(n, dtype=np.float32) * 0.5,
    )


@every_way(rng.integers(0, 9, 40).astype(float), 4.5)
def test_sorted_and_found(a, x):
    order = np.sort(a)
    total = 0
    for k in np.argsort(a):
        total = total * 3 % 1000 + int(a[k])
    return order, total, np.median(a), np.searchsorted(order, x), np.interp(x, order, order * 2), np.linalg.norm(a)


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 100])
def test_sorting_is_stable_and_puts_nan_last(n):
    def both(a):
        return np.sort(a), np.argsort(a)

    a = rng.integers(0, 5, n).astype(float)
    a[rng.random(n) < 0.2] = np.nan
    found = spmdvm.kernel(both)(a)
    assert np.array_equal(found[0], np.sort(a), equal_nan=True)
    assert found[1].tolist() == np.argsort(a, kind="stable").tolist()


@every_way(A)
def test_masks_choose(a):
    large = a[a > 0.5]
    mask = a < 0.25
    return large, len(large), a[mask], np.sum(a[mask]), a[a > 2]


@every_way(M)
def test_rows_and_columns(m):
    total = 0.0
    for row in m:
        total += row[0] * np.sum(row)
    for column in m.T:
        total -= column[1]
    t = m.T
    t[0, 1] = 9.0
    return total, m.T @ m, np.transpose(m), t.shape[0]


@every_way(rng.random((6, 2)))
def test_rows_that_are_taken_apart(points):
    far = 0.0
    for x, y in points:
        far = max(far, x * x + y * y)
    return far


@every_way(A)
def test_statements_read_before_they_write(a):
    a[1:] = a[:-1]
    a[::-1] += a
    a[2:] += a[:-2]


@every_way(3, 4)
def test_arrays_without_any_argument_that_is_one(h, w):
    out = np.zeros((h, w), np.int32)
    for i in range(h):
        for j in range(w):
            out[i, j] = i * 10 + j
    return out


def test_lists_are_arrays_that_can_be_returned():
    def listed(x, y):
        a = np.array([x, y, 3.0])
        return a, np.array([[1, 2], [3, 4]]), a[0]

    @spmdvm.kernel
    def array_kernel(a):
        b = np.array([a[0], a[1], 3.0])
        return b, np.array([[1, 2], [3, 4]]), b[0]

    found = array_kernel(np.array([1.0, 2.0]))
    assert same(found, listed(1.0, 2.0))


def test_each_call_gives_arrays_of_its_own():
    @spmdvm.kernel
    def ramp(n):
        out = np.zeros(n)
        for i in spmdvm.foreach(n):
            out[i] = i
        return out

    first, second = ramp(4), ramp(4)
    first[0] = 7
    assert second.tolist() == [0, 1, 2, 3]
    assert ramp(0).shape == (0,)


def test_lengths_that_are_none():
    @spmdvm.kernel
    def zeros(n):
        return np.zeros(n - 5)

    assert zeros(6).tolist() == [0]
    with pytest.raises(AssertionError, match=r"the length of `np.zeros\(n - 5\)` is not negative"):
        zeros(3)

    @spmdvm.kernel
    def plain(n):
        return np.zeros(n)

    with pytest.raises(AssertionError, match=r"the length of `np.zeros\(n\)` is not negative"):
        plain(-1)
    with pytest.raises(ValueError, match=r"plain\(\): `np.zeros\(n\)` would have more than \d+ elements: its shape is"):
        plain(2**40)

    @spmdvm.kernel
    def divided(n, k):
        return np.zeros(n // k)

    assert divided(9, 4).shape == (2,)
    with pytest.raises(ZeroDivisionError, match="divided"):
        divided(9, 0)


def test_numbers_of_numpy_that_wrap_are_no_lengths():
    @spmdvm.kernel
    def twice(n):
        return np.zeros(n * 2)

    assert twice(np.int32(4)).shape == (8,)
    with pytest.raises((AssertionError, ValueError)):
        twice(np.int32(2**30 + 5))


def test_an_index_beyond_names_the_array():
    @spmdvm.kernel
    def beyond(n):
        out = np.zeros((n, 3))
        for i in range(n + 1):
            out[i, 2] = 1.0
        return out

    with pytest.raises(IndexError, match=r"write outside of `out`, whose shape is \(4, 3\)"):
        beyond(4)


def test_traps_in_functions_that_make_arrays_are_at_their_lines():
    def inner(a):
        t = np.zeros(len(a))
        t[len(a)] = 1.0
        return t

    @spmdvm.kernel
    def outer(a):
        t = inner(a)
        return t[0]

    with pytest.raises(IndexError, match="write to index 3 of `t`, which has 3 elements") as caught:
        outer(np.zeros(3))
    assert "t[len(a)] = 1.0" in str(caught.value)


def test_what_a_kernel_made_for_another_is_its_own():
    @spmdvm.kernel
    def scaled(a, k):
        out = a * k
        return out

    @spmdvm.kernel
    def three(a):
        x = scaled(a, 2)
        y = scaled(a, 3)
        z = scaled(x + y, 10)
        return x, y, z

    a = np.arange(4.0)
    x, y, z = three(a)
    assert x.tolist() == [0, 2, 4, 6] and y.tolist() == [0, 3, 6, 9] and z.tolist() == [0, 50, 100, 150]


def test_kernels_that_return_arrays_can_be_profiled_and_stepped():
    @spmdvm.kernel
    def double(a):
        out = np.empty_like(a)
        for i in spmdvm.foreach(len(a)):
            out[i] = a[i] * 2
        return out

    profile = double.profile(np.arange(5.0))
    assert profile.result.tolist() == [0, 2, 4, 6, 8]
    with double.stepper(np.arange(5.0)) as stepper:
        assert "for i in" in str(stepper.next())
        assert stepper.finish().tolist() == [0, 2, 4, 6, 8]


def test_rows_for_lanes_are_an_array_of_the_kernel():
    @spmdvm.kernel
    def medians(a, out):
        n = a.shape[1]
        own = np.zeros((spmdvm.width, n))
        for i in spmdvm.foreach(len(a)):
            for k in range(n):
                x, at = a[i, k], k
                while at > 0 and own[spmdvm.lane, at - 1] > x:
                    own[spmdvm.lane, at] = own[spmdvm.lane, at - 1]
                    at -= 1
                own[spmdvm.lane, at] = x
            out[i] = own[spmdvm.lane, n // 2]

    a = rng.random((50, 9))
    out = np.zeros(50)
    medians(a, out)
    assert (out == np.median(a, axis=1)).all()


@every_way(A)
def test_a_name_comes_to_stand_for_another_array(a):
    b = a
    a = a * 2
    a = a + b
    b[0] = 7.0
    x, y = a.copy(), b * 2
    x, y = y, x
    return a, b, x, y


@every_way(A)
def test_names_in_loops_and_branches_keep_their_memory(a):
    v = np.ones(len(a))
    for k in range(3):
        v = v * a + k
        v = v[::-1]
    w = np.ones(len(a)) * 3
    if a[0] < 100:
        w = w - a
    return v, w


@every_way(M)
def test_each_loop_has_an_array_of_its_own_by_a_name(m):
    out = np.zeros(len(m))
    for i in range(len(m)):
        row = m[i]
        out[i] += np.sum(row)
    for i in range(len(m) - 1):
        row = m[i] - m[i + 1]
        row *= 2
        for k in range(2):
            out[i] += np.max(row[k:])
    for j in range(len(m)):
        row = m[:, j]
        row += 1
        out[j] -= row[0]
    for i in range(len(m)):
        row = m[i, i:]
        row = row * 3
        while row[0] < 5:
            row += 1
        out[i] += row[0]
    return out


@every_way(M)
def test_each_branch_has_an_array_of_its_own_by_a_name(m):
    out = np.zeros(len(m))
    for i in range(len(m)):
        if i % 2 == 0:
            part = m[i, 1:]
            out[i] = np.sum(part)
        elif i > 2:
            part = m[i:, 0]
            out[i] = part[0]
        else:
            part = np.zeros(5)
            part[i] = 3.0
            out[i] = np.sum(part)
    part = 2.5
    return out * part


@every_way(M)
def test_a_name_is_an_array_in_one_loop_and_a_number_in_another(m):
    total = 0.0
    for i in range(len(m)):
        x = m[i]
        total += x[0]
    for i in range(len(m)):
        x = 2.0 * i
        total += x
    for i in range(len(m)):
        x = m[:, i]
        total += x[1]
    return total


def test_an_array_of_another_block_is_not_taken_for_one():
    def of_a_function(m):
        total = 0.0
        for i in range(2):
            row = m[i]
            first = lambda k: row[k]  # noqa: E731, B023
            total += first(0)
        for i in range(2):
            row = m[:, i]
            total += first(1)
        return total

    with pytest.raises(spmdvm.CompileError, match="in loops and branches a name stands for one array"):
        spmdvm.kernel(of_a_function)(np.ones((4, 4)))


@every_way(rng.random((3, 4, 9)), 4)
def test_parts_whose_lengths_are_computed_are_put_in_a_row(a, n):
    out = np.zeros((8, len(a), 2))
    for i in range(8):
        window = a[:, :2, i : i + n].copy()
        out[i, :, 1] += window.ravel()[-1] + a[:, 1:, i:].flatten()[2]
        if i + n <= a.shape[2]:
            pairs = np.reshape(window, (len(a), n, 2, 1))
            out[i] += np.sum(pairs, axis=1)[:, :, 0] + np.max(a[:, :2, i : i + n].reshape(-1, 2)[:, 1])
    return out


def test_shapes_of_parts_that_do_not_fit_are_told():
    def reshaped(a, n):
        total = 0.0
        for i in range(len(a)):
            total += np.sum(np.reshape(a[i : i + n], (n, 2, 1)))
        return total

    a = np.ones((4, 2))
    with pytest.raises(AssertionError, match="has as many elements as the array"):
        spmdvm.kernel(reshaped)(a, 3)


@every_way(A)
def test_arrays_that_change_places(a):
    x, y, z = a.copy(), a * 2, a * 3
    for k in range(4):
        x, y, z = z, x, y
        if k % 2 == 0:
            x, y = y, x
        x[k] += 1
    return x, y, z


@every_way(M[:, :5] + 5 * np.eye(5), A[:5])
def test_a_system_of_equations(m, b):
    m, x = m.copy(), b.copy()
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            f = m[j, i] / m[i, i]
            m[j, i:] -= f * m[i, i:]
            x[j] -= f * x[i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - np.dot(m[i, i + 1 :], x[i + 1 :])) / m[i, i]
    return x


@every_way(A)
def test_copies_of_parts_whose_lengths_depend_on_numbers(a):
    n = int(a[3] * 4) + 3
    b = a[:n].copy()
    c = b * 2
    b[0] = 9
    for k in range(n - 1):
        a[k:n] -= a[k] * a[k + 1 : n + 1]
    return b, c, a[:n]


def test_lengths_that_differ_are_told():
    @spmdvm.kernel
    def add(a, b):
        return a[:] + b[:]

    with pytest.raises(AssertionError, match="arrays that are computed with have equal lengths"):
        add(np.zeros(3), np.zeros(4))


def test_what_is_read_before_it_is_stored_to_is_zero():
    @spmdvm.kernel
    def empty(n):
        return np.empty(n)

    for _ in range(5):
        found = empty(1000)
        assert not found.any()
        found[:] = 1


def scaled(x):
    norm = np.sum(x * x)
    if norm == 0:
        return 0.0, np.zeros(x.shape, np.float32)
    if norm < 1:
        return norm, np.ones(len(x), np.float32)
    out = np.empty(x.shape[0], np.float32)
    for i in range(len(x)):
        out[i] = x[i] / norm
    return out[0] * 2, out


def spaced(start: float, stop: float, n: int, has_end: bool):
    if has_end:
        return np.linspace(start, stop, n)
    return np.linspace(start, stop, n + 1)[:-1]


def read_before(x):
    doubled, tripled = x * 2, x * 3
    if x[0] > 1:
        return 0.0, doubled
    return doubled[0], tripled


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (scaled, (np.zeros(3),)),
        (scaled, (np.full(3, 0.1),)),
        (scaled, (np.arange(5.0),)),
        (spaced, (0.0, 1.0, 5, True)),
        (spaced, (0.0, 1.0, 5, False)),
        (read_before, (np.full(2, 1.0),)),
        (read_before, (np.full(2, 3.0),)),
    ],
)
def test_each_way_returns_an_array_of_its_own(function, arguments):
    found, expected = spmdvm.kernel(function)(*arguments), function(*arguments)
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for x, y in zip(found, expected):
        assert np.ndim(x) == 0 or x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_ways_that_return_other_lengths_fail_for_matrices():
    @spmdvm.kernel
    def either(x, n: int):
        if n > 3:
            return np.zeros(n)
        return x * 2

    assert either(np.ones(2), 2).tolist() == [2, 2] and either(np.ones(9), 4).tolist() == [0] * 4
    assert either(np.ones(3), 2).tolist() == [2, 2, 2]

    @spmdvm.kernel
    def of_rows(x, n: int):
        if n > 3:
            return np.zeros((n, 1))
        return x[:, None] * 2

    assert of_rows(np.ones(2), 2).tolist() == [[2], [2]]
    with pytest.raises(AssertionError, match="have the same lengths"):
        of_rows(np.ones(3), 2)


def test_arrays_that_change_places_are_not_mixed_up():
    def turned(x):
        a, b = x * 2, x * 3
        if x[0] > 1:
            return a, b
        return b, a

    def twice(x):
        a, b = x * 2, x * 3
        if x[0] > 1:
            return a, a
        return x * 4, b

    for function in (turned, twice):
        for x in (np.ones(2), np.full(3, 2.0)):
            got, expected = spmdvm.kernel(function)(x), function(x)
            assert [each.tolist() for each in got] == [each.tolist() for each in expected]

    def of_rows(x):
        a, b = x[:, None] * 2, x[:, None] * 3
        if x[0] > 1:
            return a, b
        return b, a

    with pytest.raises(spmdvm.CompileError, match="this returns another array"):
        spmdvm.kernel(of_rows)(np.ones(2))


def test_lengths_that_are_equal_when_it_is_called():
    @spmdvm.kernel
    def differences(x, y):
        out = x * 1.0
        for k in range(3):
            out = (y[1:] - y[:-1]) * k
        return out

    assert differences(np.ones(3), np.array([1.0, 2, 4, 8])).tolist() == [2, 4, 8]
    with pytest.raises(AssertionError, match="have the same lengths"):
        differences(np.ones(3), np.ones(3))


def shaped(x):
    shape = (len(x), 1)
    return x / np.reshape(np.sum(x, axis=1), shape)


def symmetric(x, n: int):
    out = np.zeros((n, n))
    for i in range(n):
        out[i, i:] = out[i:, i] = x[:, i] @ x[:, i:]
    return out


def products_of_parts(x):
    total = 0.0
    for k in range(1, len(x)):
        total += np.sum(np.outer(x[k:, 0], x[0, :k])) + np.sum(x[:k] @ x[:, k:])
    return total


@pytest.mark.parametrize(("function", "others"), [(shaped, ()), (symmetric, (4,)), (products_of_parts, ())])
def test_lengths_of_parts_and_of_tuples(function, others):
    x = np.random.default_rng(8).random((4, 4))
    np.testing.assert_allclose(spmdvm.kernel(function)(x, *others), function(x, *others), rtol=1e-13)


def joined(a, b, m):
    along_rows = np.concatenate((m, m[:, ::-1], m[:, 1:] * 2), axis=1)
    lists = np.concatenate((np.array([1, 2]), a))
    return np.hstack((a, b * 2)), np.hstack([m, m + 1]), np.vstack((m, m[:1])), along_rows, lists


def test_arrays_are_joined_along_an_axis():
    rng = np.random.default_rng(8)
    given = rng.random(4), rng.random(3), rng.random((3, 20))
    for found, expected in zip(spmdvm.kernel(joined)(*given), joined(*given)):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(AssertionError, match="arrays that are joined have equal lengths"):
        spmdvm.kernel(lambda m: np.hstack((m, m[1:])))(given[2])


@pytest.mark.parametrize(
    "function",
    [lambda a, m: np.hstack((a, m)), lambda a, m: np.vstack((m, m[None])), lambda a, m: np.concatenate((m, m), axis=2)],
)
def test_what_is_not_joined_is_told(function):
    with pytest.raises(spmdvm.CompileError, match="arrays of as many dimensions are joined"):
        spmdvm.kernel(function)(np.ones(3), np.ones((2, 3)))


def test_lengths_of_1_that_are_not_known_are_told():
    column, row = np.ones((3, 1)), np.ones((3, 4))
    with pytest.raises(AssertionError, match=r"`a\[:, 0\]\[:, None\] \* b`"):
        spmdvm.kernel(lambda a, b: a[:] * b[:])(column, row)
    assert (spmdvm.kernel(lambda a, b: a[:, 0][:, None] * b[:])(column, row) == row).all()


@every_way(A)
def test_one_of_two_arrays_that_are_computed_by_whole_ones_gets_a_name(a):
    b = np.sum(a) + a if a[0] > 0 else a + 0
    c = np.sum(a) + a if a[0] < 0 else np.max(a) * a
    total = np.sum(b)
    for i in range(3):
        d = np.sum(a) + a if i == 1 else a * i
        total += d[i]
    return b, c * 1, total


def running(a) -> np.ndarray:
    out = np.empty_like(a, dtype=np.float64)
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        out[i] = total
    return out


def turned_round(a):
    return np.flip(np.sort(a))


def test_arrays_like_others_that_functions_give_stand_in_expressions():
    def columns(m):
        out = np.empty(m.shape)
        for k in range(m.shape[1]):
            out[:, k] = running(m[:, k])
            out[:, k] -= turned_round(m[:, k])
        return out, np.max(running(m[0])) + np.min(turned_round(m[1]))

    rng = np.random.default_rng(3)
    for m in (rng.random((4, 3)), rng.integers(0, 9, (3, 5))):
        got, expected = spmdvm.kernel(columns)(m), columns(m)
        assert np.allclose(got[0], expected[0], rtol=1e-14) and np.isclose(got[1], expected[1])


def copy(x):
    return x * 2 + 1


def test_functions_that_are_called_as_those_of_numpy_are_what_they_are():
    @spmdvm.kernel
    def odd(x):
        return copy(x)

    assert odd.is_elementwise and odd(np.arange(3)).tolist() == [1, 3, 5]
