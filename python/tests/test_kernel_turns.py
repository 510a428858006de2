"""Elements of a `foreach` that change the same element of an array do so one after another: nothing is lost."""

import numpy as np
import pytest
import spmdvm

foreach = spmdvm.foreach
X = np.random.default_rng(1).integers(0, 7, 300)
FLOATS = X / 7
ENGINES = pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}, {"width": 64}], ids=str)


def in_python(function, *arguments):
    """Run the function with ranges for `foreach`."""
    scope = {**function.__globals__, "foreach": lambda *n: range(n[0]) if len(n) == 1 else np.ndindex(*n)}
    type(function)(function.__code__, scope)(*arguments)


def counts(x, bins):
    for i in foreach(len(x)):
        bins[x[i]] += 1


def differences(x, bins):
    for i in foreach(len(x)):
        if x[i] != 3:
            bins[8 - x[i]] -= x[i]


def products(x, bins):
    for i in foreach(len(x)):
        k = x[i]
        bins[k] = bins[k] * 3 + 1


def greatest(x, bins):
    for i in foreach(len(x)):
        bins[x[i] // 2] = max(bins[x[i] // 2], i % 50)


def one_element(x, bins):
    for i in foreach(len(x)):
        bins[0] += x[i]
        bins[-1] ^= x[i]


def by_a_function(x, bins):
    for i in foreach(len(x)):
        add(bins, x[i], 2)


def add(bins, k, n):
    bins[k] += n


def nothing_twice(x, bins):
    for i in foreach(len(bins)):
        j = i + 1
        bins[i] += x[i]
        bins[j - 1] *= 3
        bins[i] = bins[i] + 1


def in_rows(x, m):
    for y, k in foreach(len(m), len(m[0])):
        m[y, k] += x[k]
        m[k, y] *= 2


def in_columns(x, m):
    for y, k in foreach(len(m), len(m[0])):
        m[0, k] += x[y] + 1


def of_a_row(x, m):
    for y in foreach(len(m)):
        row = m[y]
        for k in range(len(row)):
            row[k] += x[k]


def by_lanes(x, m):
    for i in foreach(len(x)):
        m[0, spmdvm.lane] += x[i]


@ENGINES
@pytest.mark.parametrize(
    "function", [counts, differences, products, greatest, one_element, by_a_function, nothing_twice]
)
def test_nothing_is_lost(function, options):
    for dtype in (np.int64, np.int32, np.uint8):
        mine, theirs = np.ones((2, 9), dtype)
        spmdvm.kernel(**options)(function)(X.astype(dtype), mine)
        with np.errstate(over="ignore"):
            in_python(function, X.astype(dtype), theirs)
        np.testing.assert_array_equal(mine, theirs)


@ENGINES
@pytest.mark.parametrize("function", [in_rows, in_columns, of_a_row])
def test_nothing_is_lost_in_several_dimensions(function, options):
    mine, theirs = np.ones((2, 6, 6))
    spmdvm.kernel(**options)(function)(X, mine)
    in_python(function, X, theirs)
    if function is not in_rows:
        np.testing.assert_array_equal(mine, theirs)


def test_floats_are_added_in_order_of_the_elements():
    x, where = FLOATS.astype(np.float32) / 3, X
    for width in (1, 16):
        bins = np.zeros(7, np.float32)

        @spmdvm.kernel(width=width)
        def add_up(x, where, bins):
            for i in foreach(len(x)):
                bins[where[i]] += x[i]

        add_up(x, where, bins)
        want = np.zeros(7, np.float32)
        np.add.at(want, where, x)
        assert bins.tobytes() == want.tobytes()


def test_fields_of_records():
    particle = np.dtype([("n", np.int32), ("x", np.float32)], align=True)

    @spmdvm.kernel
    def gather(x, p):
        for i in foreach(len(x)):
            p[x[i]].n += 1
            p[x[i]].x = p[x[i]].x + 0.5

    p = np.zeros(7, particle)
    gather(X, p)
    assert p["n"].tolist() == np.bincount(X).tolist() and p["x"].tolist() == (p["n"] / 2).tolist()


@pytest.mark.parametrize(
    ("function", "turns"),
    [
        (counts, 1),
        (one_element, 2),
        (by_a_function, 1),
        (nothing_twice, 0),
        (in_rows, 0),
        (in_columns, 1),
        (of_a_row, 0),
    ],
)
def test_lanes_take_turns_only_where_they_may_meet(function, turns):
    kernel = spmdvm.kernel(function)
    kernel(X, np.ones(9, int) if function in (counts, one_element, by_a_function, nothing_twice) else np.ones((6, 6)))
    assert kernel.spmd_source.count("foreach_active") == turns


def test_lanes_do_not_take_turns_by_their_numbers():
    kernel = spmdvm.kernel(width=8)(by_lanes)
    m = np.zeros((1, 8))
    kernel(X, m)
    assert m.sum() == X.sum() and "foreach_active" not in kernel.spmd_source


def test_shapes_are_taken_apart():
    @spmdvm.kernel
    def fill(m):
        for y, x in foreach(*m.shape):
            m[y, x] = y * 10 + x

    m = np.zeros((3, 5))
    fill(m)
    np.testing.assert_array_equal(m, np.add.outer(np.arange(3) * 10, np.arange(5)))
