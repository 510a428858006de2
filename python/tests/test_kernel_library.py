"""Functions of `math` and numpy in kernels give what they give in Python."""

import math

import numpy as np
import pytest
import spmdvm
from spmdvm._kernel import _functions, _library, _reductions

FLOATS = np.array([0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, -7, 1e-310, 1e300, -12.34, np.inf, -np.inf, np.nan])
INTS = np.array([0, 1, -1, 2, 3, -3, 4, 6, -6, 7, 12, 35, -48, 1000, 2**40])
PAIRS = tuple(a.ravel() for a in np.meshgrid(FLOATS, FLOATS))
INT_PAIRS = tuple(a.ravel() for a in np.meshgrid(INTS, INTS))
rng = np.random.default_rng(3)
WIDTHS = pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 1}], ids=["auto", "interp"])


def check(function, arguments, kernel, want=None, rtol=0.0):
    """Compare a kernel with the function, which takes one element unless it is numpy's."""
    with np.errstate(all="ignore"):
        if want is None and isinstance(function, np.ufunc):
            want = function(*arguments)
        elif want is None:
            want = [function(*(x.item() for x in row)) for row in zip(*arguments)]
    got = kernel(*arguments)
    wants, gots = (want, got) if isinstance(got, tuple) else ((want,), (got,))
    if isinstance(got, tuple) and isinstance(want, list):
        wants = list(zip(*want))
    for mine, theirs in zip(gots, wants):
        theirs = np.asarray(theirs)
        np.testing.assert_allclose(mine.astype(float), theirs.astype(float), rtol=rtol, atol=0)
        assert mine.dtype.kind == theirs.dtype.kind, (mine.dtype, theirs.dtype)
        if mine.dtype.kind == "f":
            # Which of two zeros is less, numpy leaves to the machine.
            known = ~np.isnan(theirs) & ((theirs != 0) if function in (np.fmax, np.fmin) else True)
            np.testing.assert_array_equal(np.signbit(mine)[known], np.signbit(theirs)[known])


OF_FLOATS = [
    (np.fmax, lambda x, y: np.fmax(x, y), 0),
    (np.fmin, lambda x, y: np.fmin(x, y), 0),
    (np.fmod, lambda x, y: np.fmod(x, y), 0),
    (np.heaviside, lambda x, y: np.heaviside(x, y), 0),
    (np.logaddexp, lambda x, y: np.logaddexp(x, y), 1e-15),
    (np.logaddexp2, lambda x, y: np.logaddexp2(x, y), 1e-15),
    (np.less, lambda x, y: np.less(x, y), 0),
    (np.less_equal, lambda x, y: np.less_equal(x, y), 0),
    (np.greater, lambda x, y: np.greater(x, y), 0),
    (np.greater_equal, lambda x, y: np.greater_equal(x, y), 0),
    (np.equal, lambda x, y: np.equal(x, y), 0),
    (np.not_equal, lambda x, y: np.not_equal(x, y), 0),
    (math.isclose, lambda x, y: math.isclose(x, y), 0),
    (
        lambda x, y: math.isclose(x, y, abs_tol=1, rel_tol=0.5),
        lambda x, y: math.isclose(x, y, rel_tol=0.5, abs_tol=1),
        0,
    ),
]
OF_A_FLOAT = [
    (np.negative, lambda x: np.negative(x), 0),
    (np.positive, lambda x: np.positive(x), 0),
    (np.conjugate, lambda x: np.conj(x), 0),
    (np.reciprocal, lambda x: np.reciprocal(x), 0),
    (np.signbit, lambda x: np.signbit(x), 0),
    (np.modf, lambda x: np.modf(x), 0),
    (math.modf, lambda x: math.modf(x), 0),
    (np.frexp, lambda x: np.frexp(x), 0),
    (math.frexp, lambda x: math.frexp(x), 0),
    (lambda x: np.ldexp(x, 3), lambda x: np.ldexp(x, 3), 0),
    (lambda x: np.ldexp(x, -1060), lambda x: np.ldexp(x, -1060), 0),
    (lambda x: math.log(abs(x), 2) if x else -math.inf, lambda x: math.log(abs(x), 2), 1e-15),
    (lambda x: math.hypot(x, 2.0, -3.0), lambda x: math.hypot(x, 2.0, -3.0), 1e-15),
]
OF_A_FLOAT_BY_NUMPY = [
    (np.round, lambda x: np.round(x)),
    (lambda x: np.round(x, 1), lambda x: np.round(x, 1)),
    (lambda x: np.around(x, -1), lambda x: np.around(x, -1)),
    (np.fix, lambda x: np.fix(x)),
    (np.real, lambda x: np.real(x)),
    (np.isposinf, lambda x: np.isposinf(x)),
    (np.isneginf, lambda x: np.isneginf(x)),
    (lambda x: np.isclose(x, 1.0), lambda x: np.isclose(x, 1.0)),
    (lambda x: np.isclose(x, np.inf), lambda x: np.isclose(x, np.inf)),
    (lambda x: np.isclose(x, 2.0, atol=1, rtol=0), lambda x: np.isclose(x, 2.0, atol=1, rtol=0)),
]
OF_INTEGERS = [
    (math.gcd, lambda x, y: math.gcd(x, y)),
    (math.lcm, lambda x, y: math.lcm(x, y)) if hasattr(math, "lcm") else (np.lcm, lambda x, y: np.lcm(x, y)),
    (np.gcd, lambda x, y: np.gcd(x, y)),
    (np.lcm, lambda x, y: np.lcm(x, y)),
    (np.greater, lambda x, y: np.greater(x, y)),
]


def compiled(function, options):
    return spmdvm.kernel(fp="strict", **options)(function)


@WIDTHS
@pytest.mark.parametrize(("function", "kernel", "rtol"), OF_FLOATS)
def test_functions_of_two_floats(function, kernel, rtol, options):
    check(function, PAIRS, compiled(kernel, options), rtol=rtol)


@WIDTHS
@pytest.mark.parametrize(("function", "kernel", "rtol"), OF_A_FLOAT)
def test_functions_of_a_float(function, kernel, rtol, options):
    check(function, (FLOATS,), compiled(kernel, options), rtol=rtol)


@WIDTHS
@pytest.mark.parametrize(("function", "kernel"), OF_A_FLOAT_BY_NUMPY)
def test_functions_of_numpy(function, kernel, options):
    with np.errstate(all="ignore"):
        halves = FLOATS.astype(np.float32)
    for x in (FLOATS, halves):
        with np.errstate(all="ignore"):
            want = function(x)
        got = compiled(kernel, options)(x)
        np.testing.assert_array_equal(got, want)
        assert got.dtype == want.dtype


@WIDTHS
@pytest.mark.parametrize(("function", "kernel"), OF_INTEGERS)
def test_functions_of_integers(function, kernel, options):
    check(function, INT_PAIRS, compiled(kernel, options))


def test_functions_with_conditions():
    counts = np.arange(21)
    check(math.factorial, (counts,), spmdvm.kernel(lambda n: math.factorial(n)))
    squares = np.array([0, 1, 2, 3, 4, 8, 9, 10, 2**52 - 1, 2**62 - 1, 2**62, 2**62 + 1, 3037000499**2, 2**63 - 1])
    check(math.isqrt, (squares,), spmdvm.kernel(lambda n: math.isqrt(n)))
    x, y = (a[(a != 0) & np.isfinite(a)] for a in (FLOATS, FLOATS))
    some = tuple(a.ravel() for a in np.meshgrid(x, y))
    check(math.remainder, some, spmdvm.kernel(fp="strict")(lambda a, b: math.remainder(a, b)))
    x = np.linspace(-4, 4, 101)
    np.testing.assert_allclose(spmdvm.map(lambda t: np.sinc(t), x), np.sinc(x), rtol=1e-12, atol=1e-16)
    divisors = INTS[INTS != 0]
    some = tuple(a.ravel() for a in np.meshgrid(INTS, divisors))
    check(np.fmod, some, spmdvm.kernel(lambda a, b: np.fmod(a, b)))
    for wrong in (-1, 21):
        with pytest.raises(AssertionError, match="in `factorial`") as caught:
            spmdvm.kernel(lambda n: math.factorial(n))(wrong)
        assert caught.value.file == __file__ and [frame.function for frame in caught.value.stack] == ["<lambda>"]


def test_what_is_wrong_is_at_the_call():
    for function, message in [
        (lambda x: np.invert(x + 0.5), "floats have no `~`"),
        (lambda x: np.reciprocal(x), "the reciprocal of an integer"),
        (lambda x: math.ldexp(1.0, x + 0.5), "`ldexp` takes a float and an integer"),
        (lambda x: np.round(x + 0.5, x * 0.5), "the number of digits is an integer"),
        (lambda x: math.gcd(x > 1, 2), "`math.gcd` does not take such arguments: bools have no magnitude"),
        (lambda x: math.gcd(x), "`gcd` takes 2 arguments"),
        (lambda x: math.gcd(x, 0.5), "`math.gcd` takes integers"),
        (lambda x: np.lcm(x + 0.5, x), "`np.lcm` takes integers"),
        (lambda x: math.isqrt(x / 2), "`math.isqrt` takes integers"),
        (lambda x: math.comb(x * 1.0, 2), "`math.comb` takes integers"),
        (lambda x: round(x, -x), "this rounds integers, to digits from 0 on"),
    ]:
        with pytest.raises(spmdvm.CompileError, match=message) as caught:
            spmdvm.kernel(function)(np.arange(3))
        assert caught.value.diagnostics[0].file == __file__


SMALL = np.array([0, 1, 2, 3, 5, 11, 100, 120])


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32])
def test_math_makes_doubles_of_small_integers(dtype):
    x = SMALL.astype(dtype)
    for kernel in (
        lambda x: math.sqrt(x),
        lambda x: math.pow(x, 3),
        lambda x: math.hypot(x, x),
        lambda x: math.atan2(x, 3),
        lambda x: math.copysign(x, -1.0),
        lambda x: math.fabs(x),
        lambda x: math.degrees(x),
        lambda x: math.log(x + 1),
        lambda x: math.ldexp(x, 9),
        lambda x: math.erf(x),
        lambda x: math.gamma(x + 1),
        lambda x: math.modf(x)[1],
    ):
        got, want = spmdvm.kernel(kernel)(x), [kernel(v) for v in x.astype(int).tolist()]
        np.testing.assert_allclose(got, want, rtol=4e-15)
        assert got.dtype == np.float64
    assert spmdvm.kernel(lambda x: math.sqrt(x))(x.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32])
def test_choices_of_small_integers(dtype):
    n = np.arange(11, dtype=dtype)
    assert spmdvm.kernel(lambda n: math.comb(n, 4))(n).tolist() == [math.comb(v, 4) for v in range(11)]
    assert spmdvm.kernel(lambda n: math.perm(n, 2))(n).tolist() == [math.perm(v, 2) for v in range(11)]


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.uint64, np.float16, np.float32])
def test_floats_of_integers_have_the_types_of_numpy(dtype):
    x = SMALL.astype(dtype)
    for kernel in (
        lambda x: np.rint(x),
        lambda x: np.float_power(x, x),
        lambda x: np.logaddexp(x, x),
        lambda x: np.modf(x)[1],
        lambda x: np.frexp(x)[0],
        lambda x: np.heaviside(x, x),
        lambda x: np.fmod(x, x >= 0),
        lambda x: np.fmin(x, x > 4),
        lambda x: np.fmax(x, 2.5),
    ):
        with np.errstate(all="ignore"):
            want = kernel(x)
        got = spmdvm.kernel(kernel)(x)
        assert got.dtype == want.dtype, (kernel, got.dtype, want.dtype)
        np.testing.assert_allclose(got, want, rtol=4 * np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0)


@pytest.mark.parametrize("function", [np.hypot, np.arctan2, np.copysign, np.logaddexp, np.heaviside, np.float_power])
def test_functions_of_two_types_have_the_types_of_numpy(function):
    kernel = spmdvm.kernel(lambda x, y: function(x, y))
    types = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64, np.float16, np.float32]
    for one in types:
        x = np.array([1, 1], one)
        others = [np.array([1, 0], other) for other in types]
        for y in (*others, 3, 2.5):
            assert kernel(x, y).dtype == function(x, y).dtype, (one, y)


def test_signs_of_zeros_are_those_of_numpy():
    x = np.array([0.0, -0.0, np.nan, -3, np.inf])
    for dtype in (np.float16, np.float32, np.float64):
        got, want = spmdvm.map(np.sign, x.astype(dtype)), np.sign(x.astype(dtype))
        np.testing.assert_array_equal(got, want)
        assert (np.signbit(got) == np.signbit(want))[~np.isnan(x)].all() and got.dtype == dtype


def test_halves_are_computed_as_floats():
    x = np.linspace(-5, 5, 300).astype(np.float16)
    y = x[::-1].copy()
    for function in (np.degrees, np.radians):
        for dtype in (np.float16, np.float32, np.float64):
            np.testing.assert_array_equal(spmdvm.map(function, x.astype(dtype)), function(x.astype(dtype)))
    got, want = spmdvm.map(np.logaddexp, x, y), np.logaddexp(x, y)
    assert got.dtype == np.float16 and (np.abs(got - want) <= np.spacing(np.abs(want))).all()


def test_what_is_asked_about_integers_is_a_bool_of_numpy():
    x = np.arange(3)
    assert spmdvm.kernel(lambda x: np.isnan(x) + np.isfinite(x))(x).dtype == np.bool_
    assert spmdvm.kernel(lambda x: abs(np.isinf(x)))(x).tolist() == [False] * 3
    assert spmdvm.kernel(lambda x: 1 if np.isnan(x) else 2)(x).tolist() == [2] * 3


GAMMA = np.concatenate([
    rng.uniform(low, high, 400) for low, high in
    ((0.5, 3), (3, 12), (12, 100), (100, 171.6), (1e-300, 0.5), (-10, 0), (-100, -10), (-150, -100), (-183, -150))
])  # fmt: skip


@WIDTHS
def test_gamma(options):
    gamma, lgamma = compiled(lambda x: math.gamma(x), options), compiled(lambda x: math.lgamma(x), options)
    for x in (GAMMA, GAMMA[np.abs(GAMMA) < 30].astype(np.float32)):
        want = np.array([math.gamma(value) for value in x.tolist()])
        # A number of float32 that is near a pole or far out is its result's error many times.
        rtol = 5e-15 if x.dtype == np.float64 else 3e-6
        np.testing.assert_allclose(gamma(x), want, rtol=rtol, atol=1e-322)
        want = np.array([math.lgamma(value) for value in x.tolist()])
        np.testing.assert_allclose(lgamma(x), want, rtol=rtol, atol=rtol)
        assert gamma(x).dtype == lgamma(x).dtype == x.dtype
    whole = np.arange(1.0, 24)
    assert gamma(whole).tolist() == [math.gamma(x) for x in whole]
    got = gamma(np.array([0.0, -0.0, -1, 172, np.inf, -np.inf, np.nan, -300.5, -301.5]))
    np.testing.assert_array_equal(got, [np.inf, -np.inf, np.nan, np.inf, np.inf, np.nan, np.nan, 0, 0])
    assert np.signbit(got[-2:]).tolist() == [True, False] and gamma(5) == 24
    got = lgamma(np.array([0.0, -3, 1, 2, np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(got, [np.inf, np.inf, 0, 0, np.inf, np.inf, np.nan])


@WIDTHS
def test_neighbours(options):
    x = np.array([*FLOATS, 5e-324, -5e-324, np.finfo(float).max, 1e-40])
    pairs = [a.ravel() for a in np.meshgrid(x, x)]
    after, apart = compiled(lambda x, y: np.nextafter(x, y), options), compiled(lambda x: np.spacing(x), options)
    with np.errstate(all="ignore"):
        for one, other in (pairs, [a.astype(np.float32) for a in pairs]):
            got, want = after(one, other), np.nextafter(one, other)
            np.testing.assert_array_equal(got, want)
            assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all() and got.dtype == want.dtype
            np.testing.assert_array_equal(apart(one), np.spacing(one))
    if hasattr(math, "ulp"):
        np.testing.assert_array_equal(compiled(lambda x: math.ulp(x), options)(x), [math.ulp(v) for v in x])
    with pytest.raises(spmdvm.CompileError, match="neighbours are known of float32 and float64"):
        after(np.float16(1), np.float16(2))


@WIDTHS
def test_choices(options):
    n, k = (a.ravel() for a in np.meshgrid(np.arange(62), np.arange(64)))
    check(math.comb, (n, k), compiled(lambda n, k: math.comb(n, k), options))
    few = n < 21
    check(math.perm, (n[few], k[few]), compiled(lambda n, k: math.perm(n, k), options))
    check(math.perm, (np.arange(20),), compiled(lambda n: math.perm(n), options))
    for n, k in ((68, 34), (-1, 2), (3, -1)):
        with pytest.raises(AssertionError, match="in `comb`"):
            compiled(lambda n, k: math.comb(n, k), options)(n, k)
    with pytest.raises(AssertionError, match="in `perm`"):
        compiled(lambda n, k: math.perm(n, k), options)(30, 20)


def test_functions_of_tuples():
    @spmdvm.kernel
    def of(a, b):
        return math.dist((a, b, 1.0), (1.0, 2.0, 3.0)), math.prod((a, b, 2)), math.prod((1, 2, 3))

    a = np.arange(5.0)
    far, product, six = of(a, 3.0)
    np.testing.assert_allclose(far, [math.dist((x, 3.0, 1.0), (1.0, 2.0, 3.0)) for x in a], rtol=1e-15)
    assert product.tolist() == (a * 6).tolist() and (six == 6).all()


# What kernels do not have: functions of sequences, of other kinds of values.
ABSENT = {"math": "fma fsum", "numpy": "isnat matmul matvec vecdot vecmat"}


def test_all_functions_of_math_and_numpy_are_known():
    known = {id(function) for function, _ in _functions._KNOWN.values()}
    known |= {id(function) for function in (*_library.known(), *_reductions.FUNCTIONS)}
    of_math = [function for name, function in vars(math).items() if callable(function) and name[0] != "_"]
    of_numpy = [function for function in vars(np).values() if isinstance(function, np.ufunc)]
    for module, functions in (("math", of_math), ("numpy", of_numpy)):
        missing = {function.__name__ for function in functions if id(function) not in known}
        assert missing <= set(ABSENT[module].split())


def test_searchsorted_has_nan_behind_all_others():
    @spmdvm.kernel
    def both(a, v):
        return np.searchsorted(a, v), np.searchsorted(a, v, side="right")

    for a in (np.arange(5.0), np.array([0, 1, np.nan, np.nan]), np.zeros(0), np.full(3, np.nan), np.arange(4)):
        for v in (np.nan, 1.0, np.inf):
            assert both(a, v) == (np.searchsorted(a, v), np.searchsorted(a, v, "right"))


def test_searchsorted_on_either_side():
    @spmdvm.kernel
    def places(a, v, out):
        for i in spmdvm.foreach(len(v)):
            out[i, 0] = np.searchsorted(a, v[i], side="right")
            out[i, 1] = np.searchsorted(a, v[i], side="left")

    a, v = np.array([1, 2, 2, 4.0]), np.arange(6.0)
    out = np.zeros((6, 2), int)
    places(a, v, out)
    assert ([np.searchsorted(a, v, "right"), np.searchsorted(a, v)] == out.T).all()


@pytest.mark.parametrize("function", [np.triu, np.tril])
def test_triangles_of_matrices(function):
    kernel = spmdvm.kernel(lambda m, k: (function(m), function(m * 2, k), np.sum(function(m, 1))))
    m = np.random.default_rng(4).random((4, 20)) * (1 + 2j)
    for k in (-2, 0, 3):
        own, shifted, total = kernel(m, k)
        assert (own == function(m)).all() and (shifted == function(m * 2, k)).all()
        assert np.isclose(total, function(m, 1).sum())
