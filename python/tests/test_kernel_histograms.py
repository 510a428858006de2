"""Which elements arrays have and how many of each, in kernels as in numpy."""

import numpy as np
import pytest
import spmdvm
from ways import EVERY_WAY

DTYPES = ["float32", "float64", "int32", "int64"]
rng = np.random.default_rng(11)


def same(found, expected):
    """Return whether arrays have the same elements and type, or numbers, or tuples of both."""
    if isinstance(expected, tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    found, expected = np.asarray(found), np.asarray(expected)
    equal = np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")
    return equal and found.dtype == expected.dtype


def samples(dtype):
    """Give arrays of a type, with several elements alike and none."""
    found = [rng.integers(-9, 9, n).astype(dtype) for n in (0, 1, 2, 17, 200)]
    if np.dtype(dtype).kind == "f":
        found += [np.array(some, dtype) for some in ([np.nan], [np.nan, 1, np.nan, np.inf, 1, -np.inf, -0.0, 0.0])]
    return found


@EVERY_WAY
@pytest.mark.parametrize("dtype", [*DTYPES, "uint8", "float16", "bool"])
def test_distinct_elements(dtype, options):
    def distinct(a):
        u = np.unique(a)
        return u, len(u), np.unique(a[1::2])

    kernel = spmdvm.kernel(**options)(distinct)
    for a in [*samples(dtype), rng.integers(0, 5, (6, 7)).astype(dtype)]:
        assert same(kernel(a), distinct(a))


@EVERY_WAY
def test_distinct_elements_of_what_is_computed(options):
    def several(a):
        large = a[a > 0]
        total = 0
        for x in np.unique(a % 5):
            total = total * 10 + x
        doubled = [x * 2 for x in a]
        found = np.unique(large)
        found[0] = -1
        return total, found, np.unique(doubled), np.unique(a[a > 100]), np.unique(-a)[::-1], np.sort(large), a

    a = rng.integers(-9, 9, 40)
    assert same(spmdvm.kernel(**options)(several)(a), several(a))


@EVERY_WAY
def test_distinct_elements_of_each_row(options):
    @spmdvm.kernel(**options)
    def counted(m, out):
        for i in spmdvm.foreach(len(m)):
            out[i] = len(np.unique(m[i]))

    m = rng.integers(0, 6, (37, 8)).astype(np.int32)
    out = np.zeros(len(m), np.int64)
    counted(m, out)
    assert out.tolist() == [len(np.unique(row)) for row in m]


def bins_of(a, n, low, high):
    return np.histogram(a, n, (low, high))


def between(a, edges):
    counts, same_edges = np.histogram(a, bins=edges)
    return counts, same_edges


def around(edges, dtype):
    """Give numbers at edges and next to them, where bins are decided by the last bit, and some that are in none."""
    beside = [np.nextafter(edges, side) for side in (-np.inf, np.inf)]
    found = np.concatenate([edges, *beside, 3 * rng.normal(size=300)]).astype(dtype)
    if found.dtype.kind == "f":
        found[:3] = np.nan, np.inf, -np.inf
    return found


RANGES = [(-3.0, 3.0), (0, 5), (-3, 3.5), (0.1, 0.7), (-0.3, 0.30000000000000004), (2, 2), (1.5, 1.5), (-1e-3, 1e-3)]
OF_NUMPY = [(np.float32(-1.1), np.float32(2.3)), (np.float32(0.1), 2.7), (np.int32(-4), 7), (np.float64(0.1), 0.9)]


@EVERY_WAY
@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "float16"])
def test_bins_of_one_width(dtype, options):
    kernel = spmdvm.kernel(**options)(bins_of)
    for low, high in RANGES + OF_NUMPY * (np.lib.NumpyVersion(np.__version__) >= "2.0.0"):
        for n in (1, 3, 10, 37):
            edges = np.linspace(low, high, n + 1)
            for a in (around(edges, dtype), around(edges, dtype)[:1], around(edges, dtype)[:0]):
                assert same(kernel(a, n, low, high), np.histogram(a, n, (low, high))), (low, high, n)


@EVERY_WAY
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of", [*DTYPES, "float16"])
def test_bins_between_edges(dtype, of, options):
    kernel = spmdvm.kernel(**options)(between)
    every = [[0, 1, 2], [0, 1, 1, 3], [-2, 5], [2, 2], [1], []]
    if np.dtype(of).kind == "f":
        every += [[0, 1, np.nan], [-np.inf, 0, 0.5, np.inf], [-0.5, 0.1, 0.3]]
    for some in every:
        edges = np.array(some, of)
        for a in (around(np.arange(-3.0, 4.0), dtype), np.zeros(1, dtype), np.zeros(0, dtype)):
            assert same(kernel(a, edges), between(a, edges)), some


@EVERY_WAY
def test_many_elements_in_many_bins(options):
    kernel = spmdvm.kernel(**options)(bins_of)
    for dtype in ("float32", "float64"):
        a = rng.random(100_000).astype(dtype)
        assert same(kernel(a, 1000, 0.0, 1.0), bins_of(a, 1000, 0.0, 1.0))
        assert same(kernel(a, 777, 0.1, 0.9), bins_of(a, 777, 0.1, 0.9))


@EVERY_WAY
def test_histograms_are_tuples_of_arrays(options):
    def several(a, out):
        n, limits = 6, (0.0, 0.5)
        h = np.histogram(a * 2 - 1, bins=n, range=(np.min(a), np.max(a)))
        out[:] = np.histogram(a, 4, (0, 1))[0]
        listed = [x for x in a if x > 0.3]
        counts, _ = np.histogram(a[a > 0.1], 3, limits)
        _, inner = bins_of(a, n, 0.25, 0.75)
        of_list, _ = np.histogram(listed, [0.0, 0.5, 1.0])
        return h[0] / np.sum(h[0]), h[1][1:], counts, inner, np.histogram(a, [0.0, 0.5]), of_list

    def in_rows(m):
        return np.histogram(m, 4, [0, 1]), np.histogram(m[:, 1], range=(0, 1), bins=4)[0]

    a, found, expected = rng.random(50), np.zeros(4), np.zeros(4)
    assert same(spmdvm.kernel(**options)(several)(a, found), several(a, expected)) and same(found, expected)
    m = a.reshape(10, 5)
    assert same(spmdvm.kernel(**options)(in_rows)(m), in_rows(m))


def weighted(a, w):
    return np.histogram(a, 7, (-3.0, 3.0), weights=w)


def weighted_between(a, edges, w):
    return np.histogram(a, edges, weights=w), np.histogram(a, edges, density=True, weights=w)


def dense(a, n, edges):
    return np.histogram(a, n, (-3, 5), density=True), np.histogram(a, edges, None, True)


def near(found, expected, rtol):
    """Return whether histograms are the same but for how their sums are rounded."""
    if not isinstance(expected[0], np.ndarray):
        return all(near(one, other, rtol) for one, other in zip(found, expected))
    (sums, edges), (others, same_edges) = found, expected
    is_near = np.allclose(sums, others, rtol, 0, equal_nan=True)
    return is_near and sums.dtype == others.dtype and same(edges, same_edges)


@EVERY_WAY
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [*DTYPES, "int8", "uint8", "uint64", "float16"])
def test_sums_of_weights(dtype, options):
    kernel, between = (spmdvm.kernel(**options)(function) for function in (weighted, weighted_between))
    for n in (0, 1, 5, 1000):
        w = (100 * rng.random(n)).astype(dtype)
        if w.dtype.itemsize == 1:
            # (What numpy makes of sums that are too great is not defined.)
            w %= 2
        for of in DTYPES:
            a = (3 * rng.normal(size=n)).astype(of)
            # Elements are added in order, so that the bits are the same.
            assert same(kernel(a, w), weighted(a, w)), (n, of)
            # There numpy takes sums of all elements before one from another, in the type of the weights.
            for edges in (np.array([-3.0, 0.1, 1, 3]), np.array([0, 2, 5], np.int32), np.zeros(1)):
                rtol = {"float32": 1e-4, "float16": 0.05}.get(dtype, 1e-12)
                assert near(between(a, edges, w), weighted_between(a, edges, w), rtol), (n, of)


@EVERY_WAY
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [*DTYPES, "uint8", "float16"])
def test_densities(dtype, options):
    kernel = spmdvm.kernel(**options)(dense)
    for n in (0, 1, 5, 1000):
        a = (3 * rng.normal(size=n)).astype(dtype)
        for edges in ([-3, -1, 2, 2], [0.1, 0.7, 2.5], [1], [-np.inf, 0, np.inf]):
            edges = np.array(edges)
            assert same(kernel(a, 10, edges), dense(a, 10, edges)), (n, edges)


@EVERY_WAY
def test_weights_of_what_is_computed(options):
    def counted(a, weights=None, bins=5):
        return np.histogram(a, bins, (0.0, 1.0), weights=weights)[0]

    def several(m, w):
        of_rows = np.histogram(m, 4, (0, 1), weights=w * 2 + 1, density=True)
        part, _ = np.histogram(m[:, 1], 3, (0.0, 1.0), False, w[::-1, 0])
        listed = [x for x in w[0]]
        of_list = np.histogram(m[0], 3, (0.0, 1.0), weights=listed)[0]
        of_computed = np.histogram(-m, 3, (-1, 0), weights=-w)[0]
        return of_rows, part, of_list, of_computed, counted(m[0]), counted(m[0], w[1], 3)

    m, w = rng.random((6, 5)), rng.integers(0, 9, (6, 5)).astype(float)
    (found, *rest), (expected, *others) = spmdvm.kernel(**options)(several)(m, w), several(m, w)
    assert near(found, expected, 1e-12) and same(tuple(rest), tuple(others))


@EVERY_WAY
def test_many_weights(options):
    a, w = rng.random(100_000), rng.random(100_000)
    assert near(spmdvm.kernel(**options)(weighted)(a, w), weighted(a, w), 1e-12)


def test_weights_of_another_shape_trap():
    with pytest.raises(AssertionError, match="weights have the shape of the array"):
        spmdvm.kernel(weighted)(np.zeros(4), np.zeros(5))
    with pytest.raises(AssertionError, match="weights have the shape of the array"):
        spmdvm.kernel(weighted)(np.zeros((3, 4)), np.zeros((4, 3)))
    with pytest.raises(spmdvm.CompileError, match="weights have the shape of the array"):
        spmdvm.kernel(weighted)(np.zeros((2, 2)), np.zeros(4))
    with pytest.raises(spmdvm.CompileError, match="complex"):
        spmdvm.kernel(weighted)(np.zeros(4), np.zeros(4, complex))


def test_ranges_and_edges_that_numpy_refuses_trap():
    a = rng.random(10)
    kernel = spmdvm.kernel(bins_of)
    for low, high, n, message in [
        (1.0, 0.0, 4, "from the least to the greatest"),
        (0.0, np.inf, 4, "finite"),
        (np.nan, 1.0, 4, "from the least to the greatest"),
        (1.0, 1.0000000000000002, 4, "has room for so many bins"),
        (0.0, 1.0, 0, "the number of bins is positive"),
    ]:
        with pytest.raises(AssertionError, match=message):
            kernel(a, n, low, high)
        with pytest.raises(ValueError):
            np.histogram(a, n, (low, high))
    with pytest.raises(AssertionError, match="the edges of a histogram increase"):
        spmdvm.kernel(between)(a, np.array([0.0, 2.0, 1.0]))


@EVERY_WAY
def test_histograms_in_loops(options):
    def several(m, out):
        total = np.zeros(4, np.int64)
        for i in range(len(m)):
            counts, edges = np.histogram(m[i], 4, (0.0, 1.0))
            total += counts
            if i % 2 == 1:
                u = np.unique(m[i] // 0.25)
                out[i] = len(u) + edges[1]
        return total

    m, found, expected = rng.random((6, 9)), np.zeros(6), np.zeros(6)
    assert same(spmdvm.kernel(**options)(several)(m, found), several(m, expected)) and same(found, expected)


@EVERY_WAY
def test_weights_in_loops(options):
    def several(m, w):
        total, heights = np.zeros(4, np.float32), np.zeros(4)
        for i in range(len(m)):
            sums, edges = np.histogram(m[i], 4, (0.0, 1.0), weights=w[i])
            total += sums
            # (A name that kernels might use themselves.)
            dense, _ = np.histogram(m[i], edges, density=True)
            heights += dense
        return total, heights

    m, w = rng.random((6, 9)), rng.integers(0, 9, (6, 9)).astype(np.float32)
    assert same(spmdvm.kernel(**options)(several)(m, w), several(m, w))
