"""Tuples, constant arrays, loops over values, reductions and calls with keywords: as the Python functions they are."""

import math
import pickle

import numpy as np
import pytest
import spmdvm

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
WIDTHS = pytest.mark.parametrize("width", [1, 8])
AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / 16
TABLE = np.arange(256)[::-1] * 7 % 256
GRID = np.arange(12, dtype=np.int16).reshape(3, 4)
PRIMES = (2, 3, 5, 7)
MANY = tuple(range(0, 60, 3))


def agrees(function, *arguments, **options):
    """Call an elementwise kernel with arrays, and its function with each element."""
    got = spmdvm.kernel(fp="strict", **options)(function)(*arguments)
    want = [function(*row) for row in zip(*(a.tolist() for a in arguments))]
    np.testing.assert_array_equal(got, np.array(want), err_msg=function.__name__)


def literals(x):
    s = 0
    for k in (1, 2, 3):
        s = s * x + k
    for a, b in ((1, 2), (3, 4), (5, 6)):
        s += a * x - b
    for k in (x, x + 1, x * x):
        s += k
        if s > 1000:
            break
    return s


def constants_from_outside(x):
    s = 0
    for dy, dx in AROUND:
        if dy == dx:
            continue
        s += (x + dy) * (x - dx)
    for p in PRIMES:
        s = s * 3 + x % p
    for k, p in enumerate(PRIMES):
        s += k * p
    for m in MANY:
        s += m // (abs(x) + 1)
    a, b, c, d = PRIMES
    return s + a + b * c - d + len(PRIMES) + PRIMES[-1] + AROUND[2][1]


def at_an_index(x):
    k = abs(x) % 4
    return PRIMES[k] * 100 + AROUND[k + 4][1] * 10 + AROUND[2 * k][0] + (3, 1, 4, 1)[k]


def tables(x):
    k = abs(x) % 256
    s = TABLE[k] + TABLE[TABLE[k]] + GRID[abs(x) % 3, abs(x) % 4] + GRID.shape[1] + len(TABLE)
    row = GRID[1]
    for v in row:
        s += v
    return s + total(GRID[:, 2])


def total(a):
    s = 0
    for v in a:
        s += v
    return s


def variables(x):
    p = (x, x + 1)
    q = p
    if x > 0:
        p = (p[1], p[0])
    a, b = p
    low, high = limits(a, b)
    both = limits(x, 3)
    shape = (2, 3)[:1]
    return a * 100 + b * 10 + q[0] + low - high + both[1] + len(p) + shape[0] + p[-1]


def limits(a, b):
    return min(a, b), max(a, b)


def nested(x):
    p = ((x, 1), (2, x + 1))
    return p[0][0] * 10 + p[1][1] + p[1][0]


def steps(x):
    s = 0
    step = x % 5 - 2 if x % 5 != 2 else 3
    for k in range(x, 20, abs(step)):
        s += k
    for k in range(10, -10, step):
        s = s * 3 + k
        if s > 10**6:
            break
    return s


def membership(x):
    inside = x in (2, 3, 5, -7)
    return (1 if inside else 0) + (10 if x * x not in PRIMES else 0) + (100 if x in (1,) else 0)


def conditions(x):
    s = 0
    if x and x > 2:
        s += 1
    if not x or x % 2 == 0:
        s += 2
    while s and s < 20 + x:
        s += 5
    return s + (3 if x and not x > 4 else 4) + (x and x > 3) + (x > 5 or x)


def scaled(x, by=2, offset=0.5):
    return x * by + offset


def keywords(x):
    def inner(a, b=3):
        return a - b

    return scaled(x) + scaled(x, offset=x) + scaled(offset=1, x=x, by=3) + inner(x) + inner(b=x, a=1)


def others(x):
    q, r = divmod(x, 7)
    return q * 100 + r + ord("a") + (1 if ord("0") <= x + 48 <= ord("9") else 0)


def by_bits(x):
    return int.bit_count(x)


def by_name_only(x, *, by=2, plus):
    return x * by + plus


def names_only(x):
    def inner(a, *, b=1):
        return a - b

    return by_name_only(x, plus=1) + by_name_only(x, plus=x, by=3) + inner(x) + inner(x, b=x // 2)


def numbered(x):
    s = 0
    for k, v in enumerate((x, x + 1, x * x), 1):
        s += k * v
    for k, v in enumerate(MANY, start=x):
        s += k * v
    for k, v in enumerate((3, 1, 4), start=10):
        s = s * k + v
    return s


def of_tuples(x):
    t = (x, 3 - x, x // 2)
    if any((x < -5, x > 18)) and all([x != 20, x != 21]):
        return sum(t) + sum((x, 2.5)) + x
    return min(t) + 10 * max(t) + max([x, 4]) + (x in [1, 5, x + 1]) + sum(()) + all(()) + 0.5


def equal_tuples(x):
    t, u = (x, 1), (3, x - 2)
    return (t == u) + 2 * (t != (3, 1)) + 4 * ((x, x) == (x, 5) == (5, x)) + 8 * (t == (x, 1, 2)) + 16 * (t == PRIMES)


def listed(x):
    table = np.array([[1, 2, x], [x * x, 5, 6]])
    halves = np.array((0.5, 1, x), dtype=np.float32)
    row = np.asarray([x > 0, True])
    s = 0.0
    for k in range(3):
        s += table[0, k] * table[1, 2 - k] + halves[k]
    return s + table[x % 2, x % 3] + row[0] + row.sum()


def weighted(p, weights=(1, 2, 3), by=1):
    s = len(p)
    for a, w in zip(p, weights):
        s += a * w
    a, b = p[0], p[-1]
    return s * by + a - b


def towards(p, q):
    return (q[0] - p[0], q[1] - p[1])


def steepness(p, depth):
    if depth == 0:
        return p[0] * 2 + p[1]
    return steepness((p[1], p[0] + depth), depth - 1)


def passed_tuples(x):
    def inner(t, k=(5, 7)):
        return t[0] * k[1] - t[1] * k[0]

    p = (x, x * 2, 1)
    dx, dy = towards((x, 3), (x * x, x - 1))
    return weighted(p) + weighted(by=x, p=(1, x, 2)) + inner((x, dy)) + inner(p, (x, 1)) + dx + steepness((x, 1), 3)


def taken_apart(x):
    def inner(a, b, c=1):
        return a - b * c

    t = (x, 2)
    return inner(*t) + inner(x, *PRIMES[:2]) + max(*t, 3) + inner(*(x, 1), c=x)


def of_types(x):
    far = min(x * 1000, np.iinfo(np.int16).max) + np.iinfo(np.int8).min
    return far + np.finfo(float).eps * 2**60 + np.finfo(np.float64).tiny


def otherwise(x):
    found = place = 0
    for k in range(5):
        if k * k == x:
            found = k
            break
    else:
        found = -1
    n = abs(x)
    while n > 3 and n != 7:
        n -= 3
        if n == 5:
            break
        if n == 6:
            continue
    else:
        n += 100
    for p in PRIMES:
        for q in (p, p + 1):
            if q == x:
                break
        else:
            if x > 15:
                break
            continue
        place = q * 10
        break
    else:
        place = 7
    for _ in (1, 2):
        n += 1
    else:
        n *= 2
    return found + n + (place if x < 15 else 0)


def first_divisor(x):
    for d in range(2, 10):
        if x % d == 0:
            result = d
            break
    else:
        return -x
    return result


def of_texts(x):
    least, some = float("inf"), float("-1.5")
    for k in range(3):
        least = min(least, x * k)
    return least + some + (float("nan") if x > 1000 else 0)


WHOLE = [
    literals,
    constants_from_outside,
    at_an_index,
    tables,
    variables,
    nested,
    steps,
    membership,
    conditions,
    keywords,
    others,
    names_only,
    numbered,
    of_tuples,
    equal_tuples,
    listed,
    passed_tuples,
    of_texts,
    taken_apart,
    of_types,
    otherwise,
    first_divisor,
]


@ENGINES
@WIDTHS
def test_elementwise(engine, width):
    x = np.arange(-9, 22)
    for function in WHOLE:
        agrees(function, x, engine=engine, width=width)


@pytest.mark.skipif(not hasattr(int, "bit_count"), reason="Python 3.10 has it first")
def test_bits_are_counted():
    extremes = np.array([-(2**63), 2**63 - 1, -1, 0, 5, -5])
    agrees(by_bits, extremes)
    small = np.arange(-128, 128, dtype=np.int8)
    np.testing.assert_array_equal(spmdvm.kernel(by_bits)(small), [v.bit_count() for v in small.tolist()])
    if hasattr(np, "bitwise_count"):
        got = spmdvm.vectorize("bitwise_count(x)")(small)
        np.testing.assert_array_equal(got, np.bitwise_count(small))
        assert got.dtype == np.uint8


def test_constants_beyond_int64():
    x = np.array([1, 2**63, 2**64 - 2], np.uint64)
    for function in (
        lambda x: x < 2**63,
        lambda x: x >= 0x8000000000000001,
        lambda x: x + 2**63,
        lambda x: x ^ (2**64 - 1),
        lambda x: x // 2**63 + x % (1 << 63),
        lambda x: np.where(x > 5, 2**63, x),
        lambda x: x.astype(np.float64) + 2**63,
    ):
        got, want = spmdvm.kernel(function)(x), function(x)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
    small = np.arange(-1, 2)
    np.testing.assert_array_equal(spmdvm.kernel(lambda x: x < 2**63)(small), [True] * 3)
    for function in (
        lambda n: n < 2**63,
        lambda n: 2**64 - 1 > n > 3,
        lambda n: n == 2**63,
        lambda n: n in (5, 2**63),
        lambda n: n > 0 and 2**63 < 2**64 - 1,
        lambda n: n > 0 and 2**63 >= 2**63 != 2**63 + 1,
        lambda n: n > 0 and 5 > 2**63,
    ):
        assert spmdvm.kernel(function)(5) == function(5)
    for function in (lambda x: x + 2**63, lambda x: 2**63, lambda x: 2**63 if x > 0 else x):
        with pytest.raises(spmdvm.CompileError, match="9223372036854775808 is no `int"):
            spmdvm.kernel(function)(small)


def test_conversions_of_numbers():
    @spmdvm.kernel
    def halves(x):
        return (x * 0.75).astype(np.int32) + x.astype(np.int64)

    x = np.array([-3.5, 2.0, 7.9])
    np.testing.assert_array_equal(halves(x), (x * 0.75).astype(np.int32) + x.astype(np.int64))


def test_a_step_of_zero_is_a_trap():
    @spmdvm.kernel
    def count(x):
        n = 0
        for _ in range(0, 10, x):
            n += 1
        return n

    assert count(np.array([1, 3, -1, 100])).tolist() == [10, 4, 0, 1]
    with pytest.raises(AssertionError):
        count(0)


def life(grid, out):
    height, width = grid.shape
    for y, x in spmdvm.foreach(height, width):
        n = 0
        for dy, dx in AROUND:
            n += grid[(y + dy) % height, (x + dx) % width]
        out[y, x] = n == 3 or (grid[y, x] and n == 2)


@ENGINES
@WIDTHS
def test_neighbours(engine, width):
    grid = (np.random.default_rng(1).random((13, 21)) < 0.4).astype(np.int32)
    out = np.zeros_like(grid)
    spmdvm.kernel(engine=engine, width=width)(life)(grid, out)
    n = sum(np.roll(grid, (-dy, -dx), (0, 1)) for dy, dx in AROUND)
    np.testing.assert_array_equal(out, (n == 3) | ((grid == 1) & (n == 2)))


@ENGINES
@WIDTHS
def test_parts_in_loops_that_are_written_out(engine, width):
    @spmdvm.kernel(engine=engine, width=width, fp="strict")
    def gather(a, out):
        for k in (0, 2, 3):
            row = a[k]
            own = np.zeros(2)
            own[0] = row[k]
            out[:] += row * (k + 1) + own[0]
        return a[1].sum()

    a = np.arange(20.0).reshape(4, 5)
    out = np.zeros(5)
    assert gather(a, out) == a[1].sum()
    np.testing.assert_array_equal(out, sum(a[k] * (k + 1) + a[k, k] for k in (0, 2, 3)))


@ENGINES
def test_elements_have_names(engine):
    @spmdvm.kernel(engine=engine, fp="strict")
    def gray(image, out):
        for y, x in spmdvm.foreach(out.shape[0], out.shape[1]):
            red, green, blue = image[y, x]
            out[y, x] = 0.5 * red + 0.25 * green - blue
        first, second = image[0, 0, :2]
        sevens = np.full(3, 7)
        a, b, c = sevens
        first, second = second, first
        return first + a, second + b + c

    image = np.random.default_rng(1).random((4, 9, 3))
    out = np.zeros((4, 9))
    assert gray(image, out) == (image[0, 0, 1] + 7, image[0, 0, 0] + 14)
    np.testing.assert_array_equal(out, 0.5 * image[:, :, 0] + 0.25 * image[:, :, 1] - image[:, :, 2])
    with pytest.raises(AssertionError):
        gray(np.zeros((4, 9, 4)), out)


def test_convolution_with_a_table():
    @spmdvm.kernel
    def smooth(a, out):
        for i in spmdvm.foreach((2, len(a) - 2)):
            s = np.float32(0)
            for k, w in enumerate(WEIGHTS):
                s += w * a[i + k - 2]
            out[i] = s

    a = np.random.default_rng(1).random(200, dtype=np.float32)
    out = np.zeros_like(a)
    smooth(a, out)
    np.testing.assert_allclose(out[2:-2], np.convolve(a, WEIGHTS, "valid"), rtol=1e-6)


def test_tables_are_tested_against_their_ends():
    @spmdvm.kernel
    def at(k):
        return TABLE[k] + PRIMES[k]

    assert at(3) == TABLE[3] + 7
    for wrong in (4, -1, 256, 2**40):
        with pytest.raises(IndexError):
            at(wrong)


def copier(table):
    @spmdvm.kernel
    def copy(out):
        for k in range(len(out)):
            out[k] = table[k]

    return copy


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"])
def test_tables_of_all_types(dtype):
    values = [0, 1]
    if dtype[0] == "f":
        values += [1.5, -0.0, math.inf, -math.inf, math.nan, np.finfo(dtype).tiny, np.finfo(dtype).max, 1 / 3]
    elif dtype != "?":
        values += [np.iinfo(dtype).min, np.iinfo(dtype).max]
    table = np.array(values, dtype)
    out = np.zeros_like(table)
    copier(table)(out)
    np.testing.assert_array_equal(out, table)
    if dtype[0] == "f":
        assert np.signbit(out[3])


def test_constants_are_those_of_the_first_call():
    table = np.array([1.0, 2.0])

    @spmdvm.kernel
    def first(x):
        return x + table[0]

    assert first(1.0) == 2
    table[0] = 100
    assert first(1.0) == 2


def test_with_the_kernel_go_its_tables():
    offsets, table = ((1, 2), (3, 4)), np.array([[1.5, 2.5]])

    @spmdvm.kernel
    def uses(x):
        s = x
        for a, b in offsets:
            s = s * a + b
        return s + table[0, 1]

    assert pickle.loads(pickle.dumps(uses))(2.0) == uses(2.0) == (2 + 2) * 3 + 4 + 2.5


@spmdvm.kernel
def reductions(a, b, n):
    m = a.mean()
    return (
        np.sum(a),
        a[1:-1].sum(),
        np.sum(a * b + n),
        m,
        a.min(),
        np.max(b[::2]),
        np.sum(a > n),
        np.any(a > 8),
        (a @ b),
        np.dot(a, b[::-1]),
        np.all(b < 100),
    )


@ENGINES
@WIDTHS
@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "f8"])
def test_reductions(engine, width, dtype):
    kernel = spmdvm.kernel(engine=engine, width=width)(reductions.__wrapped__)
    # Sums are exact: in any order.
    a, b = np.random.default_rng(1).integers(0, 10, (2, 301)).astype(dtype)
    got, want = kernel(a, b, 3), reductions.__wrapped__(a, b, 3)
    for mine, numpys in zip(got, want):
        assert mine == numpys
    types = [np.asarray(value).dtype for value in want]
    assert [np.asarray(value).dtype for value in got] == types


def softmax(x, out):
    for i in spmdvm.foreach(len(x)):
        row = x[i]
        top = row.max()
        s = 0.0
        for j in range(len(row)):
            out[i, j] = math.exp(x[i, j] - top)
            s += out[i, j]
        for j in range(len(row)):
            out[i, j] /= s
        if np.any(row > 0.99):
            out[i, 0] = row.sum()


@ENGINES
@WIDTHS
def test_reductions_in_a_foreach(engine, width):
    x = np.random.default_rng(1).random((30, 17))
    out = np.zeros_like(x)
    spmdvm.kernel(engine=engine, width=width)(softmax)(x, out)
    want = np.exp(x - x.max(1)[:, None])
    want /= want.sum(1)[:, None]
    want[:, 0] = np.where((x > 0.99).any(1), x.sum(1), want[:, 0])
    assert (x > 0.99).any()
    np.testing.assert_allclose(out, want, rtol=1e-12)


@ENGINES
def test_reductions_in_statements_over_elements(engine):
    @spmdvm.kernel(engine=engine)
    def normalised(a, out):
        out[:] = (a - a.mean()) / np.sqrt(np.sum((a - np.mean(a)) ** 2) / len(a))

    a = np.random.default_rng(1).random(1000)
    out = np.zeros_like(a)
    normalised(a, out)
    np.testing.assert_allclose(out, (a - a.mean()) / a.std(), rtol=1e-12)
    # The mean is computed once, not for each element.
    assert normalised.spmd_source.count("foreach") == 4


@ENGINES
@WIDTHS
def test_extremes_of_nan_and_of_nothing(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def extremes(a):
        return a.min(), a.max()

    a = np.arange(50.0)
    assert extremes(a) == (0, 49)
    for at in (0, 17, 49):
        a[:] = np.arange(50)
        a[at] = np.nan
        assert np.isnan(extremes(a)).all()
    with pytest.raises(AssertionError):
        extremes(np.zeros(0))
    with pytest.raises(AssertionError):
        reductions(np.zeros(3), np.zeros(4), 1)


def test_reductions_of_own_arrays():
    def spread(x):
        own = np.zeros((2, 3))
        for i in range(2):
            for j in range(3):
                own[i, j] = x * i - j
        return own.max() - own[1].min() + np.sum(own * own) + own[0] @ own[1]

    agrees(spread, np.arange(-5.0, 5))


def test_variables_of_loops_that_are_written_out_hold_every_value():
    def large(x):
        s = 0
        for k in (10**12, 1):
            n = k
            p = (k, 2)
            s = s + n // 2 + p[0]
        for at, k in enumerate((3, 2**40, 5)):
            n2 = k + at
            if at < 2:
                s += n2
        return s + x

    agrees(large, np.arange(3))


def test_arrays_that_mean_more_than_their_numbers_are_no_tables():
    masked = np.ma.array([1.0, 2.0], mask=[True, False])

    @spmdvm.kernel
    def take(k):
        return masked[k]

    with pytest.raises(spmdvm.CompileError, match="`masked` is a `MaskedArray` from outside"):
        take(0)


@ENGINES
def test_tables_in_combinators(engine):
    @spmdvm.kernel(engine=engine)
    def weigh(x):
        s = 0.0
        for k, w in enumerate(WEIGHTS):
            s += w * (x + k)
        return s + PRIMES[x % 4]

    x = np.arange(100)
    np.testing.assert_array_equal(spmdvm.map(weigh, x), weigh(x))
    assert spmdvm.reduce("+", x, map=weigh) == pytest.approx(weigh(x).sum())


@ENGINES
@WIDTHS
@pytest.mark.parametrize("dtype", ["i4", "u1", "f8"])
def test_places_and_spreads(engine, width, dtype):
    @spmdvm.kernel(engine=engine, width=width)
    def together(a):
        return a.argmin(), np.argmax(a[1:]), a.var(), np.std(a)

    @spmdvm.kernel(engine=engine, width=width)
    def apart(a, out):
        for y in spmdvm.foreach(len(a)):
            row = a[y]
            out[y] = row.argmin() * 100 + np.argmax(row[::-1]) + row.std()

    a = np.random.default_rng(1).integers(0, 9, (30, 17)).astype(dtype)
    found = together(a[3])
    assert found[:2] == (a[3].argmin(), a[3, 1:].argmax())
    np.testing.assert_allclose(found[2:], (a[3].var(), a[3].std()), rtol=1e-14)
    out = np.zeros(30)
    apart(a, out)
    np.testing.assert_allclose(out, a.argmin(1) * 100 + a[:, ::-1].argmax(1) + a.std(1), rtol=1e-14)


@ENGINES
def test_the_place_of_nan_and_of_nothing(engine):
    @spmdvm.kernel(engine=engine)
    def places(a):
        return np.argmin(a), np.argmax(a)

    a = np.arange(50.0)
    assert places(a) == (0, 49)
    a[[17, 30]] = np.nan
    assert places(a) == (17, 17)
    with pytest.raises(AssertionError):
        places(np.zeros(0))


@ENGINES
def test_zip(engine):
    @spmdvm.kernel(engine=engine, fp="strict")
    def weighted(a, b):
        s = 0.0
        for x, y in zip(a, b):
            s = s / 2 + x * y
        for k, (x, w) in enumerate(zip(b[::-1], PRIMES)):
            s += k * x * w
        return s

    for n, m in ((30, 30), (30, 25), (2, 9), (0, 3)):
        a, b = np.random.default_rng(1).random(n), np.random.default_rng(2).random(m)
        assert weighted(a, b) == weighted.__wrapped__(a, b)

    def own(x):
        three = np.zeros(3)
        three[1] = x
        s = 0.0
        for v, w in zip(three, (1, 2, 3)):
            s += v * w
        return s

    agrees(own, np.arange(-3.0, 3), engine=engine)


def test_methods_of_expressions():
    @spmdvm.kernel
    def products(a, b, k):
        return (a * b).sum() + (a - k).max() + (-a).min() + (a > k).any()

    a, b = np.arange(5.0), np.arange(5.0)[::-1].copy()
    assert products(a, b, 2) == products.__wrapped__(a, b, 2)


def test_types_by_their_names():
    @spmdvm.kernel
    def named(x, out: spmdvm.array[np.int16]):
        scratch = np.zeros(2, dtype=out.dtype)
        scratch[0] = 40000
        whole: "np.int32" = 3  # noqa: UP037
        for i in spmdvm.foreach(len(x)):
            out[i] = x[i].astype("int16") + scratch[0] + whole * x[i].astype("f4").astype(np.int16)

    x, out = np.arange(5.5), np.zeros(6, np.int16)
    with pytest.raises(spmdvm.CompileError, match="40000 is no `int16`"):
        named(x, out)

    @spmdvm.kernel
    def of_python(x):
        return x.astype(float) * np.float32(3), x.astype(int), np.float64(x).astype("float32")

    results = of_python(np.array([0.1, 2.5], np.float32))
    assert [r.dtype.name for r in results] == ["float64", "int64", "float32"]
    want = np.array([0.1, 2.5], np.float32).astype(float) * np.float32(3)
    assert results[0].tolist() == want.tolist() and results[1].tolist() == [0, 2]


def test_shapes_are_compared():
    @spmdvm.kernel
    def same(a, b):
        assert len(a) > 1
        return a.shape == b.shape

    assert same(np.zeros((3, 4)), np.zeros((3, 4))) and not same(np.zeros((3, 4)), np.zeros((4, 3)))
    assert not same(np.zeros((3, 4)), np.zeros(3))


def test_print_with_texts_between_and_behind(capsys):
    @spmdvm.kernel
    def shown(a):
        print("a", a[0], "100%", sep=", ", end=".")
        print(a[1], sep="", end="\n\n")

    shown(np.array([1, 2]))
    assert capsys.readouterr().out == "a, 1, 100%.2\n\n"


def formats(x, n, k):
    print(f"{x:.2f}|{x:8.3f}|{x:<9.1f}|{x:>9.1f}|{x:12.4e}|{x:g}|{x:.3g}|{x:.0f}|{x:E}|{x:.10G}|{x:F}")
    print(f"{n:d}|{n:5}|{n:<5d}|{n:>6d}|{n:05d}|{n:+d}|{n:+06d}|{n:.2f}|{n:9.1e}|{n:.3g}|{n:0d}")
    print(f"{k:x}|{k:04X}|{k:<6o}|{k:d}|{k:.1f}")


@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_formats_of_print_are_those_of_python(engine, capsys):
    @spmdvm.kernel(engine=engine)
    def kernel(a, n, k):
        formats(a[0], n, k)

    rng = np.random.default_rng(5)
    floats = [0.0, -0.0, 0.125, 0.25, 2.5, 0.375, 1e22, 1e-7, 123456.5, np.inf, -np.inf, np.nan, 1e300, 5e-324, 99.995]
    floats.extend(rng.normal(size=40) * 10.0 ** rng.integers(-12, 12, 40))
    for at, x in enumerate(floats):
        n, k = (-1) ** at * 7**at % 2**62, np.uint64(3**at % 2**64)
        for given in (np.array([x]), np.array([x], np.float32) if abs(x) < 1e38 else np.array([x])):
            kernel(given, n, k)
            ours = capsys.readouterr().out
            formats(float(given[0]), n, int(k))
            assert ours == capsys.readouterr().out


def test_texts_behind_values_are_texts(capsys):
    def shown(a):
        print(f'{a[0]}s{a[1]}{a[0]}% {a[0]}.5|{a[0]}5|{a[0]}-{a[1]}"\\s%d {a[1]:3d}m{a[1]:.1f}{a[0]:d}')
        print(a[0], a[1], sep="")
        print(a[0], a[1], sep="x", end="d\n")
        print("%", a[0], "%d", a[1], "%", "d", sep="")

    spmdvm.kernel(shown)(np.array([-1, 2]))
    ours = capsys.readouterr().out
    shown([-1, 2])
    assert ours == capsys.readouterr().out


def test_formats_of_lanes(capsys):
    @spmdvm.kernel(width=4)
    def shown(x):
        print(f"x = {x:.1f}m")
        return x

    shown(np.array([1.0, 2.25]))
    assert capsys.readouterr().out == "x = [1.0,2.2,((0.0)),((0.0))]m\n"


def test_parameters_that_have_names_only():
    @spmdvm.kernel
    def scale(x, *, by=2.0):
        return x * by

    x = np.arange(3.0)
    assert scale(x).tolist() == [0, 2, 4] and scale(x, by=3).tolist() == [0, 3, 6]
    assert pickle.loads(pickle.dumps(scale))(x, by=5).tolist() == [0, 5, 10]
    assert spmdvm.map(scale, x).tolist() == [0, 2, 4]
    with pytest.raises(TypeError, match="too many positional arguments"):
        scale(x, 3)


def test_a_zip_counts():
    @spmdvm.kernel
    def weighted(a, n: int):
        total = 0.0
        for k, x, y in zip(range(n), a, a[::-1]):
            total += k * x - y
        for k, x in zip(range(3, n), a):
            total += k * x
        for first, (k, x) in enumerate(zip(range(5, 2), a)):
            total += 1000 * first * k * x + 1000
        return total

    a = np.random.default_rng(3).random(8)
    for n in (0, 4, 20):
        assert np.isclose(weighted(a, n), weighted.__wrapped__(a, n), rtol=1e-13)


@pytest.mark.parametrize(
    "x",
    [
        *(-0.0, float("nan"), float("inf"), 5e-324, (1 << 63) - 1, -(1 << 63), True, 1 - 2j),
        *(np.float32(0.1), np.float64(-0.0), np.float16("nan"), np.complex64(1j), np.bool_(True)),
        *(np.int8(-128), np.uint64((1 << 64) - 1)),
    ],
    ids=repr,
)
def test_one_number_is_what_it_is_in_an_array(x):
    @spmdvm.kernel
    def same(a):
        return a

    of_array = same(np.array([x]))
    assert np.array([same(x)], of_array.dtype).tobytes() == of_array.tobytes()


def test_one_number_that_does_not_fit():
    @spmdvm.kernel
    def whole(a: spmdvm.int64, b: spmdvm.float64):
        return a + b

    for n in (1 << 63, -(1 << 63) - 1):
        with pytest.raises(OverflowError, match=f"`a`: {n} does not fit int64"):
            whole(n, 1.0)
    with pytest.raises(TypeError, match="but was given the float"):
        whole(1.5, 1.0)
    assert whole(2, 1) == 3.0 and whole(np.int8(2), np.float32(0.5)) == 2.5
