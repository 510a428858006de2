"""Which elements arrays have and how many of each, in kernels as in numpy."""

import numpy as np
import pytest
import spmdvm

WAYS = [
    {},
    {"engine": "interp", "width": 1},
    {"engine": "interp", "width": 16},
    {"engine": "auto", "width": 4},
    {"engine": "auto", "width": 8, "fp": "strict"},
]
EVERY_WAY = pytest.mark.parametrize("options", WAYS, ids=str)
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
