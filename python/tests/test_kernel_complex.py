"""Complex numbers in kernels: values beside numpy's, types, arrays, calls, and what is wrong with them."""

import cmath
import inspect
import math
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from spmdvm import uniform

ENGINES = pytest.mark.parametrize("engine", ["interp", "ir", "clif", "auto"])
WIDTHS = pytest.mark.parametrize("width", [1, 4, 64])
# Where what is multiplied and added is rounded once, the last bits differ from numpy's.
NEAR = {np.dtype(np.complex64): 3e-6, np.dtype(np.complex128): 4e-15}


def numbers(size=200, seed=1, dtype=np.complex128):
    rng = np.random.default_rng(seed)
    found = rng.normal(size=size) + 1j * rng.normal(size=size)
    return (found * 10.0 ** rng.integers(-3, 4, size)).astype(dtype)


def agrees(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    near = NEAR.get(found.dtype, 4e-15)
    assert (abs(found - expected) <= near * abs(expected)).all()


@ENGINES
@WIDTHS
def test_arithmetic_is_the_same_on_all_engines_and_widths(engine, width):
    def arithmetic(z, w):
        if abs(z) > abs(w):
            return z * w + z / w - z**3, abs(z), z == w
        return np.exp(z / abs(z)) - np.sqrt(w) * z.conjugate() + w**-2, z.imag, z != w

    kernel = spmdvm.kernel(arithmetic, engine=engine, width=width)
    z, w = numbers(150), numbers(150, 2)
    for a, b in zip(kernel(z, w), spmdvm.kernel(arithmetic, engine="interp", width=4)(z, w)):
        assert a.tobytes() == b.tobytes()


BINARY = [operator.add, operator.sub, operator.mul, operator.truediv]


@pytest.mark.parametrize("of", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_operators(of, dtype):
    kernel = {
        operator.add: spmdvm.kernel(lambda a, b: a + b),
        operator.sub: spmdvm.kernel(lambda a, b: a - b),
        operator.mul: spmdvm.kernel(lambda a, b: a * b),
        operator.truediv: spmdvm.kernel(lambda a, b: a / b),
    }[of]
    z, w = numbers(dtype=dtype), numbers(seed=2, dtype=dtype)
    agrees(kernel(z, w), of(z, w))
    for other in (z.real.copy(), np.arange(1, 201, dtype=np.int8), np.float16(2), 3, 0.5, 2 - 1j, True):
        agrees(kernel(z, other), of(z, other))
        agrees(kernel(other, z), of(other, z))


@pytest.mark.parametrize("strict", [False, True])
def test_without_fused_products_the_bits_are_those_of_python(strict):
    def product(a, b):
        return a * b

    kernel = spmdvm.kernel(product, fp="strict") if strict else spmdvm.kernel(product)
    z, w = numbers(500), numbers(500, 2)
    found, expected = kernel(z, w), np.array([complex(a) * complex(b) for a, b in zip(z, w)])
    agrees(found, expected)
    if strict:
        assert found.tobytes() == expected.tobytes()
        quotient = spmdvm.kernel(lambda a, b: a / b, fp="strict")
        single = z.astype(np.complex64), w.astype(np.complex64)
        assert (quotient(z, w) == z / w).all() and (quotient(*single) == single[0] / single[1]).all()


TYPES = ["bool", "int8", "int32", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("a", TYPES)
@pytest.mark.parametrize("b", ["complex64", "complex128"])
def test_types_are_those_of_numpy(a, b):
    add = spmdvm.kernel(lambda x, y: x + y)
    x, y = np.ones(3, a), np.ones(3, b)
    assert add(x, y).dtype == (x + y).dtype == add(y, x).dtype
    for weak in (1, 1.5, 2j):
        assert add(y, weak).dtype == y.dtype == add(weak, y).dtype
    if a != "bool":
        assert add(x, 1j).dtype == (x + 1j).dtype


def test_types_of_variables_and_constants():
    @spmdvm.kernel
    def f(c):
        z = 0
        for _ in range(3):
            z = z * z + c
        return z

    for c in (np.array([0.5, 1.0]), np.array([1j]), np.array([1j], np.complex64), np.array([1, 2])):
        z = 0
        for _ in range(3):
            z = z * z + c
        agrees(f(c), z)

    @spmdvm.kernel
    def g(x):
        x = x * 1j
        if x.imag > 2:
            x = 7
        return x, 2j * 3 - 1, x.real + 1j

    agrees(g(np.array([1.0, 3.0], np.float32))[0], np.array([1j, 7], np.complex64))
    assert g(2.0) == (2j, -1 + 6j, 1j) and g(3) == (7, -1 + 6j, 7 + 1j)


def test_special_values():
    inf, nan = math.inf, math.nan
    some = [complex(a, b) for a in (0.0, -0.0, 1.0, -2.5, inf, -inf) for b in (0.0, -0.0, 3.0, -1.0)]
    z = np.array(some)
    divide = spmdvm.kernel(lambda a, b: a / b, fp="strict")
    with np.errstate(all="ignore"):
        for w in (0j, 2 + 0j, 1 - 1j, -3j, 1e-300 + 1e-310j):
            np.testing.assert_array_equal(divide(z, np.complex128(w)), z / np.complex128(w))
        root = spmdvm.kernel(np_sqrt)(z)
        np.testing.assert_allclose(root.real, np.sqrt(z).real, rtol=4e-16)
        np.testing.assert_allclose(root.imag, np.sqrt(z).imag, rtol=4e-16)
        np.testing.assert_array_equal(np.signbit(root.imag), np.signbit(np.sqrt(z).imag))
    assert spmdvm.kernel(lambda z: (np.isnan(z), np.isinf(z), np.isfinite(z)))(complex(nan, 1)) == (True, False, False)
    assert spmdvm.kernel(lambda z: (np.isnan(z), np.isinf(z), np.isfinite(z)))(complex(1, inf)) == (False, True, False)
    assert spmdvm.kernel(lambda z: not z)(np.array([0, -0.0, 1j, nan])).tolist() == [True, True, False, False]


def np_sqrt(z):
    return np.sqrt(z)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_functions(dtype):
    z = numbers(dtype=dtype)
    small = z / abs(z)
    for kernel, of, given in [
        (spmdvm.kernel(lambda z: np.exp(z)), np.exp, small),
        (spmdvm.kernel(lambda z: np.sqrt(z)), np.sqrt, z),
        (spmdvm.kernel(lambda z: abs(z)), np.abs, z),
        (spmdvm.kernel(lambda z: np.abs(z)), np.abs, z),
        (spmdvm.kernel(lambda z: np.angle(z)), np.angle, z),
        (spmdvm.kernel(lambda z: np.conj(z)), np.conj, z),
        (spmdvm.kernel(lambda z: z.conj().imag), lambda z: z.conj().imag, z),
        (spmdvm.kernel(lambda z: np.real(z) - np.imag(z)), lambda z: z.real - z.imag, z),
        (spmdvm.kernel(lambda z: (z * z).real + (-z).imag), lambda z: (z * z).real + (-z).imag, z),
        (spmdvm.kernel(lambda z: np.square(z)), np.square, z),
        (spmdvm.kernel(lambda z: np.reciprocal(z)), np.reciprocal, z),
        (spmdvm.kernel(lambda z: np.where(z.real > 0, z, 1)), lambda z: np.where(z.real > 0, z, 1), z),
        (spmdvm.kernel(lambda z: z.item() + np.add(z, 1)), lambda z: z + np.add(z, 1), z),
    ]:
        found, expected = kernel(given), of(given)
        assert found.dtype == expected.dtype
        scale = abs(expected) if np.iscomplexobj(expected) else abs(expected) + abs(given) ** 2
        assert (abs(found - expected) <= 4 * np.finfo(dtype).eps * scale).all()
    # Near to what floats hold.
    top = float(np.finfo(dtype).max)
    far = np.array([top * (0.9 + 0.9j), top * -0.5j, 1e-30 + 1e-35j, -1e-40], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            spmdvm.kernel(np_sqrt)(far), np.sqrt(far), rtol=1e-5 if dtype == np.complex64 else 1e-14
        )
        assert (spmdvm.kernel(lambda z: abs(z))(far[1:]) > 0).all()
    large = np.array([88 + 1j, 709.5 + 1j, -800 + 2j, 709.5 - 1e-9j])
    np.testing.assert_allclose(spmdvm.kernel(lambda z: np.exp(z))(large), np.exp(large), rtol=1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 16, -1, -3, 0.5, 2.0, -2.0])
def test_powers(n):
    z = numbers(60)
    kernel = spmdvm.kernel(lambda z: z**n)
    np.testing.assert_allclose(kernel(z), z**n, rtol=2e-14)
    single = (z / abs(z) * 2).astype(np.complex64)
    np.testing.assert_allclose(kernel(single), single**n, rtol=2e-5)
    if isinstance(n, int):
        np.testing.assert_allclose(spmdvm.kernel(lambda z, n: z**n)(z, np.full(60, n)), z**n, rtol=2e-14)
        assert spmdvm.kernel(lambda z, n: pow(z, n))(2j, n) == pytest.approx((2j) ** n)


def test_powers_that_differ_between_elements():
    z, n = numbers(64), np.arange(-32, 32)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(spmdvm.kernel(lambda z, n: z**n)(z, n), z ** n.astype(float), rtol=1e-11)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_logarithms(dtype):
    eps = np.finfo(dtype).eps
    log = spmdvm.kernel(lambda z: np.log(z))
    z = numbers(2000, dtype=dtype)
    found, expected = log(z), np.log(z.astype(np.clongdouble))
    assert found.dtype == dtype
    # The parts by themselves, also where the real one is small.
    assert (abs(found.real - expected.real) <= 2 * eps * abs(expected.real)).all()
    assert (abs(found.imag - expected.imag) <= 2 * eps * abs(expected.imag)).all()
    rng = np.random.default_rng(4)
    near = np.exp(1j * rng.uniform(-3, 3, 500)) * (1 + rng.normal(size=500) * 10.0 ** rng.integers(-12, 0, 500))
    near = near.astype(dtype)
    apart = [float(Fraction(float(v.real)) ** 2 + Fraction(float(v.imag)) ** 2 - 1) for v in near]
    # (Log1p of numpy is exact enough.)
    assert (abs(log(near).real - np.log1p(apart) / 2) <= 2 * eps * abs(np.log1p(apart))).all()
    special = np.array([0, -0.0, 1, -1, complex(-1, -0.0), complex(math.inf, 1), complex(1, -math.inf), 1j], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(log(special), np.log(special), rtol=4 * eps)
    large = np.array([np.finfo(dtype).max * (1 + 1j) / 2, np.finfo(dtype).tiny * 1j], dtype)
    np.testing.assert_allclose(log(large), np.log(large), rtol=4 * eps)


def test_powers_of_other_numbers():
    z, w, x = numbers(300), numbers(300, 2), np.random.default_rng(3).normal(size=300)
    z, w = z / abs(z) * 2, w / abs(w)
    for kernel, of, given in [
        (spmdvm.kernel(lambda z: z**0.3), lambda z: z**0.3, (z,)),
        (spmdvm.kernel(lambda z, x: z**x), lambda z, x: z**x, (z, x)),
        (spmdvm.kernel(lambda z, w: z**w), lambda z, w: z**w, (z, w)),
        (spmdvm.kernel(lambda w: 2**w), lambda w: 2**w, (w,)),
        (spmdvm.kernel(lambda x, w: abs(x) ** w), lambda x, w: abs(x) ** w, (x, w)),
        (spmdvm.kernel(lambda z, w: np.power(z, w)), np.power, (z, w)),
    ]:
        found, expected = kernel(*given), of(*given)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=3e-14)
        single = [part.astype(np.complex64 if np.iscomplexobj(part) else np.float32) for part in given]
        np.testing.assert_allclose(kernel(*single), of(*single), rtol=2e-5)
    zero = spmdvm.kernel(lambda z, w: z**w)
    assert zero(0j, 2.5) == 0 and zero(0j, 0.0) == 1 and zero(0j, 1 + 1j) == 0 and zero(0j, 0j) == 1
    assert np.isnan(zero(0j, -1j)) and zero(2, 0j) == 1


def test_cmath():
    def f(z, x: float):
        r, phi = cmath.polar(z)
        return (
            cmath.exp(1j * x) + cmath.sqrt(x),
            cmath.log(z) + cmath.log(z, 2) + cmath.log(x),
            cmath.rect(r, phi) - z,
            cmath.phase(z),
            cmath.isnan(z),
            cmath.pi * z,
        )

    kernel = spmdvm.kernel(f)
    for z, x in [(1 + 2j, -3.0), (-1j, 0.5), (-2.0, 4.0)]:
        for found, expected in zip(kernel(z, x), f(z, x)):
            assert found == pytest.approx(expected, abs=1e-14)


def test_comparisons_conditions_and_tuples():
    def f(z, w):
        total = 0
        for by in (1, 2j, -0.5):
            total += by * z
        pair = (z, w)
        chosen = z if z == w else w or 3j
        return total, pair[0] + pair[1], chosen, z in (1, w), (z, w) == (w, z), sum((z, w, 1))

    z = np.array([1 + 1j, 2j, 0, 1])
    w = np.array([1 + 1j, 0, 5, 2])
    expected = [f(complex(a), complex(b)) for a, b in zip(z, w)]
    found = spmdvm.kernel(f)(z, w)
    assert [tuple(row) for row in zip(*(r.tolist() for r in found))] == [tuple(e) for e in expected]


def test_functions_of_python_and_recursion():
    def scaled(z, by=1j):
        return z * by, z.conjugate()

    def power(z, n) -> complex:
        if n == 0:
            return 1
        return z * power(z, n - 1)

    @spmdvm.kernel
    def f(z):
        def turned(w):
            return w * z

        a, b = scaled(z)
        return a + scaled(b, by=2)[0] + power(z, 3) + turned(1j)

    z = numbers(40)
    np.testing.assert_allclose(f(z), z * 1j + 2 * z.conj() + z**3 + 1j * z, rtol=1e-13)


def mandelbrot(c, limit: uniform[spmdvm.int32]):
    z = 0j
    for k in range(limit):
        z = z * z + c
        if z.real**2 + z.imag**2 > 4:
            return k
    return limit


@pytest.mark.parametrize("threads", [1, 2])
def test_mandelbrot(threads):
    y, x = np.mgrid[-1.2:1.2:60j, -2:0.6:80j]

    @spmdvm.kernel
    def with_two_floats(cr, ci, limit: uniform[spmdvm.int32]):
        zr = zi = 0.0
        for k in range(limit):
            zr, zi = zr * zr - zi * zi + cr, zr * zi + zi * zr + ci
            if zr**2 + zi**2 > 4:
                return k
        return limit

    @spmdvm.kernel
    def blocked(width, height, limit):
        out = np.empty((height, width), np.int64)
        for block in range(0, height, 16):
            for i, j in spmdvm.foreach((block, min(block + 16, height)), width):
                c = complex(-2 + 2.6 * j / (width - 1), -1.2 + 2.4 * i / (height - 1))
                z, k = 0j, 0
                while k < limit and z.real**2 + z.imag**2 <= 4:
                    z = z * z + c
                    k += 1
                out[i, j] = k
        return out

    found = spmdvm.kernel(mandelbrot)(x + 1j * y, 100, threads=threads)
    assert found.shape == (60, 80) and (found == with_two_floats(x, y, 100)).mean() > 0.999
    assert ((found + 1).clip(0, 100) == blocked(80, 60, 100)).mean() > 0.99


def test_arrays_of_all_kinds():
    square = spmdvm.kernel(lambda z: z * z)
    grid = numbers(600).reshape(20, 30)
    frozen = grid[0].copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"\0" + grid[0].tobytes(), np.uint8)[1:].view("c16")
    stretched = np.broadcast_to(grid[0], (3, 30))
    for z in (
        *(grid, grid.T, grid[::2, ::-3], np.asfortranarray(grid), frozen, grid[:0], grid[:, 4:4], unaligned),
        *(grid.astype(np.complex64), np.array(2 + 1j), stretched),
    ):
        agrees(square(z), z * z)
    assert square([1j, 2]).tolist() == [-1, 4]
    assert square(2j) == -4 and type(square(2j)) is complex and type(square(np.complex64(2j))) is complex
    out = np.full((20, 30), 7j)
    where = grid.real > 0
    assert square(grid, out=out, where=where) is out
    agrees(out, np.where(where, grid * grid, 7j))
    z = grid.copy()
    assert square(z, out=z) is z
    agrees(z, grid * grid)
    lines = np.zeros((30, 2), complex)
    square(grid[0], out=lines[:, 1])
    assert (lines[:, 0] == 0).all()
    agrees(lines[:, 1], grid[0] ** 2)
    add = spmdvm.kernel(lambda a, b: a + b)
    agrees(add(grid, grid[0]), grid + grid[0])
    agrees(add(grid[:, :1], np.arange(3.0)), grid[:, :1] + np.arange(3.0))
    masked = np.ma.array([1j, 2j], mask=[False, True])
    assert square(masked).tolist() == [-1, None]


def test_real_results_of_complex_numbers():
    z = numbers(50)
    size, below = spmdvm.kernel(lambda z: (abs(z), z.real < 0))(z)
    assert size.dtype == np.float64 and below.dtype == bool and (below == (z.real < 0)).all()
    assert type(spmdvm.kernel(lambda z: z.real)(1 + 2j)) is float


def test_annotations():
    @spmdvm.kernel
    def f(z: spmdvm.complex64, w: complex, s: uniform[np.complex128]):
        t: complex = 0
        t += w * s
        return z, t

    z, t = f(np.ones(2, np.float32), 2, 1j)
    assert z.dtype == np.complex64 and t.dtype == np.complex128 and t.tolist() == [2j, 2j]
    for wrong, message in [
        ((np.ones(2), 1j, 1j), r"f\(\): `z` takes complex64, and float64 does not cast to it safely"),
        ((1, "x", 1j), r"f\(\): `w` takes complex128"),
        ((1, 1, np.ones(3)), r"f\(\): `s` takes a complex number for all elements, not an array of shape \(3,\)"),
        ((np.complex128(0.1j), 1, 1), "which cannot hold the complex128 0.1j exactly; pass `complex"),
    ]:
        with pytest.raises(TypeError, match=message):
            f(*wrong)
    with pytest.raises(TypeError, match=r"real\(\): `x` takes float64, and was given 1j"):
        real(1j, 1j)


@spmdvm.kernel
def real(x: float, z: complex):
    return x * z


# Array kernels.


def fourier(x):
    n = len(x)
    out = np.zeros(n, np.complex128)
    for k in spmdvm.foreach(n):
        total = 0j
        for j in range(n):
            total += x[j] * np.exp(-2j * np.pi * ((j * k) % n) / n)
        out[k] = total
    return out


def energy(x):
    total = 0
    for i in spmdvm.foreach(len(x)):
        total += x[i] * x[i].conjugate()
    return total


def in_place(x, by):
    x *= by
    x[3] = 1
    x[4] = x[5].real
    x[0:2] = 0
    x[6:] += 1j * x[6:].conj()


def with_a_table(x, k):
    return x * TABLE[k % 4]


TABLE = np.array([1, 1j, -1, -1j])


def bins(x, k):
    out = np.zeros(4, complex)
    for i in spmdvm.foreach(len(x)):
        out[k[i]] += x[i]
    return out


def statements(x, y):
    a = np.abs(x) ** 2 + x.real
    b = np.sum(x.conj() * y), np.mean(x), np.prod(y[:4]), np.dot(x, y), np.sum(a), np.linalg.norm(x)
    z = np.where(a > 1, x, y)
    return (
        z,
        a,
        np.cumsum(x),
        x[::-1] * 2j,
        x.imag,
        np.concatenate((x, y)),
        x[a > 1],
        b[0],
        b[1],
        b[2],
        b[3],
        b[4],
        b[5],
    )


@ENGINES
def test_array_kernels(engine):
    x, y, k = numbers(90), numbers(90, 2), np.arange(90) * 7 % 4
    x, y = x / abs(x), y / abs(y)
    transform = spmdvm.kernel(fourier, engine=engine)(x)
    np.testing.assert_allclose(transform, np.fft.fft(x), atol=1e-11)
    total = spmdvm.kernel(energy, engine=engine)(x)
    assert type(total) is complex and total == pytest.approx(90)
    for by in (2j, 2, np.complex64(1j)):
        mine, its = x.copy(), x.copy()
        spmdvm.kernel(in_place, engine=engine)(mine, by)
        in_place(its, by)
        np.testing.assert_allclose(mine, its, rtol=1e-14, atol=1e-14)
    agrees(spmdvm.kernel(with_a_table, engine=engine)(x, k), with_a_table(x, k))
    found = spmdvm.kernel(bins, engine=engine)(x, k)
    np.testing.assert_allclose(found, [x[k == at].sum() for at in range(4)], rtol=1e-13)
    for found, expected in zip(spmdvm.kernel(statements, engine=engine)(x, y), statements(x, y)):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
        assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_more_array_kernels():
    @spmdvm.kernel
    def products(a, b):
        return a @ b, np.outer(a[0], b[:, 0]), np.sum(a, axis=0), np.mean(a, axis=1), a.T.conj()

    a, b = numbers(12).reshape(3, 4), numbers(12, 2).reshape(4, 3)
    expected = a @ b, np.outer(a[0], b[:, 0]), np.sum(a, axis=0), np.mean(a, axis=1), a.T.conj()
    for found, wanted in zip(products(a, b), expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)

    @spmdvm.kernel
    def made(n, z):
        a = np.full(n, z)
        b = np.ones(n, np.complex64)
        b[1] = 2j
        window = np.array([z, 1, 2j])
        c = np.zeros((2, n), complex)
        c[0] = np.exp(1j * np.linspace(0, 1, n))
        c[1] = window[0] + window[2]
        return a, b, c, a * b[0]

    a, b, c, d = made(4, 1 + 1j)
    assert a.tolist() == [1 + 1j] * 4 and b.tolist() == [1, 2j, 1, 1] and b.dtype == np.complex64
    np.testing.assert_allclose(c, [np.exp(1j * np.linspace(0, 1, 4)), [1 + 3j] * 4])
    assert d.dtype == np.complex128

    @spmdvm.kernel
    def single(a: spmdvm.array[spmdvm.complex64], s: complex):
        for i in spmdvm.foreach(len(a)):
            a[i] = a[i] * s
        return a[0]

    x = np.ones(3, np.complex64)
    assert single(x, 2) == 2 and x.tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match=r"single\(\): `a` takes an array of complex64, not of complex128"):
        single(np.ones(3, complex), 2)
    with pytest.raises(TypeError, match=r"single\(\): `s` takes a complex number, not a `str`"):
        single(x, "2")
    with pytest.raises(IndexError, match="index 3 of `a`"):
        spmdvm.kernel(beyond)(np.ones(3, complex))


def beyond(a):
    return a[len(a)]


def test_functions_of_numpy_in_kernels():
    @spmdvm.kernel
    def f(a):
        return np.diff(a), np.polyval(a, 1j), np.trapezoid(a, np.abs(a)), np.allclose(a, a * 1), np.convolve(a, a[:3])

    assert spmdvm.kernel(farthest)(numbers(50)) == farthest(numbers(50))
    a = numbers(20)
    expected = np.diff(a), np.polyval(a, 1j), trapezoid(a, abs(a)), True, np.convolve(a, a[:3])
    for found, wanted in zip(f(a), expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


def farthest(z):
    return z[np.argmax(np.abs(z - z[0]))], np.argmin(-z.imag)


trapezoid = np.trapezoid if hasattr(np, "trapezoid") else np.trapz


def test_records_with_complex_fields():
    wave = np.dtype([("f", np.float32), ("a", np.complex64), ("b", np.complex128)])

    @spmdvm.kernel
    def turned(w: wave, t) -> wave:
        return w.f, w.a * np.exp(1j * w.f * t), w.b.conjugate()

    w = np.zeros(5, wave)
    w["f"], w["a"], w["b"] = 1, 2j, numbers(5)
    found = turned(w, np.float32(np.pi))
    np.testing.assert_allclose(found["a"], [-2j] * 5, atol=1e-6)
    assert (found["b"] == w["b"].conj()).all() and found.dtype == wave

    @spmdvm.kernel
    def double(w):
        w["a"] *= 2
        for i in spmdvm.foreach(len(w)):
            w[i].b += w[i].a.real

    c = w.astype(np.dtype(wave.descr, align=True))
    double(c)
    assert c["a"].tolist() == [4j] * 5 and (c["b"] == w["b"]).all()


def test_expressions_combinators_and_other_processes():
    z, x = numbers(30), np.linspace(0, 3, 30)
    np.testing.assert_allclose(spmdvm.evaluate("abs(z)**2 + z.imag"), abs(z) ** 2 + z.imag, rtol=1e-13)
    np.testing.assert_allclose(spmdvm.evaluate("exp(1j*x) * z"), np.exp(1j * x) * z, rtol=1e-13)
    assert spmdvm.vectorize("z*z + 1")(1j) == 0
    turns = spmdvm.reduce("+", x, map=lambda x: np.exp(1j * x).real)
    np.testing.assert_allclose(turns, np.cos(x).sum(), rtol=1e-13)
    kernel = spmdvm.kernel(lambda z: z * 2j + 1)
    assert pickle.loads(pickle.dumps(kernel))(1j) == -1
    one, other, third = (scaling(factor) for factor in (2j, 2j, 3j))
    assert one is other and one is not third and third(1j) == -3
    with pytest.raises(TypeError, match=r"`x` holds complex128, .* take its real or imaginary part"):
        spmdvm.reduce("+", z)
    with pytest.raises(TypeError, match=r"`map`: .* gives complex128, and combinators take bools, integers and floats"):
        spmdvm.reduce("+", x, map=lambda x: x * 1j)


def scaling(factor):
    return spmdvm.kernel(lambda z: z * factor)


def test_profiles_progress_and_steps():
    z, told = numbers(100), []
    kernel = spmdvm.kernel(mandelbrot)
    assert (kernel.profile(z, 20).result == kernel(z, 20)).all()
    kernel(z, 20, progress=lambda *of: told.append(of))
    assert told[-1] == (100, 100)
    with spmdvm.kernel(lambda z: z * z).stepper(np.array([1j, 2])) as stepper:
        assert stepper.finish().tolist() == [-1, 4]
    with kernel.stepper(np.array([1j, 0.5]), 3) as stepper:
        stepper.break_at(mandelbrot.__code__.co_firstlineno + 3)
        assert stepper.resume()["z.im"][:2].tolist() == [0, 0] and stepper.resume()["z.im"][:2].tolist() == [1, 0]


def test_functions_of_the_text_are_only_those_that_are_called():
    kernel = spmdvm.kernel(lambda z: z + 1)
    kernel(1j)
    assert "operator+" in kernel.spmd_source and "operator*" not in kernel.spmd_source
    assert "py_csqrt" not in kernel.spmd_source
    plain = spmdvm.kernel(lambda x: x + 1)
    plain(1.0)
    assert "Complex" not in plain.spmd_source


# What is wrong.


def ordered(z):
    return z < 1  # HERE complex numbers have no order


def greatest(z):
    return max(z, 1)  # HERE `max` takes no complex numbers in a kernel


def whole_quotient(z):
    return z // 2  # HERE complex numbers have no `//`


def remainder(z):
    return z % 2  # HERE complex numbers have no `%`


def bits(z):
    return z & 1  # HERE complex numbers have no `&`


def turned_over(z):
    return ~z  # HERE complex numbers have no `~`


def as_an_int(z):
    return int(z)  # HERE a complex number is no `int`


def as_a_float(z):
    return np.float32(z)  # HERE a complex number is no `float32`


def in_a_float(z):
    x: float = z  # HERE a complex number is no `float`
    return x


def sine(z):
    return np.sin(z)  # HERE `np.sin` takes no complex numbers in a kernel


def decimal_logarithm(z):
    return np.log10(z)  # HERE `np.log10` takes no complex numbers in a kernel


def cmath_sine(z):
    return cmath.sin(z)  # HERE `cmath.sin` cannot be called in a kernel


def root_of_math(z):
    return math.sqrt(z)  # HERE `math.sqrt` takes no complex numbers in a kernel


def power_of_a_text(z):
    return z ** "2"  # HERE str values cannot stand in a kernel


def common_divisor(z):
    return math.gcd(z, 2)  # HERE `math.gcd` takes no complex numbers in a kernel


def parts_of_parts(z):
    return complex(z, 1)  # HERE the parts of a complex number are real


def of_a_text(z):
    return z + complex("1j")  # HERE str values cannot stand in a kernel


def assigned_part(z):
    z.real = 1  # HERE the parts of complex numbers are not assigned one by one
    return z


def printed(z):
    print(z)  # HERE complex numbers are not printed in a kernel
    return z


def over_lanes(z):
    return spmdvm.reduce_add(z)  # HERE `spmdvm.reduce_add` takes no complex numbers in a kernel


def counted(z):
    return sum(k for k in range(z))  # HERE `range` takes integers


def an_index(z):
    return TABLE[z]  # HERE an index takes integers


def array_ordered(a):
    return np.sort(a)  # HERE `np.sort` takes no complex numbers in a kernel


def array_least(a):
    return np.min(a)  # HERE `min` takes no complex numbers in a kernel


def array_place(a):
    return np.argmax(a)  # HERE `max` takes no complex numbers in a kernel


def array_spread(a):
    return np.var(a)  # HERE `var` takes no complex numbers in a kernel


def array_median(a):
    return np.median(a)  # HERE `np.median` takes no complex numbers in a kernel


def array_part_stored(a):
    a[0].imag = 1  # HERE the parts of complex numbers are not assigned one by one


def array_part_of_all_stored(a):
    a.real[0] = 1  # HERE the parts of complex numbers are not assigned one by one


def array_part_named_and_changed(a):
    b = a.real  # HERE `b` would be a part of the array, and is changed
    b[0] = len(a)
    return b


def array_greatest(a):
    most = 0.0
    for i in spmdvm.foreach(len(a)):
        most = max(most, a[i])  # HERE a `complex128` has no order
    return most


def array_stored_to_floats(a):
    out = np.zeros(len(a))
    out[:] = a  # HERE a complex number is no `float64`
    return out


WRONG = [f for f in vars().copy().values() if inspect.isfunction(f) and "# HERE" in inspect.getsource(f)]
WRONG.remove(assert_told)


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    given = np.ones(4, complex) if function.__name__.startswith("array_") else 1 + 2j
    assert_told(lambda: spmdvm.kernel(function)(given), function)


@pytest.mark.parametrize(
    ("function", "help"),
    [
        (ordered, "compare `abs(z)`, or a part, `z.real`"),
        (decimal_logarithm, "divide: `np.log(z) / np.log(10)`"),
        (cmath_sine, "of complex numbers there are `np.exp`, `np.log`, `np.sqrt`, powers"),
        (as_an_int, "take a part, `z.real` or `z.imag`, or the magnitude, `abs(z)`"),
        (assigned_part, "`a[i] = complex(x, z.imag)`"),
        (array_spread, "`np.mean(np.abs(z - np.mean(z)) ** 2)`"),
        (printed, "print its parts: `z.real`, `z.imag`"),
    ],
)
def test_help(function, help):
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.kernel(function)(np.ones(4, complex) if function.__name__.startswith("array_") else 1j)
    assert help in str(caught.value)


def test_other_arguments():
    square = spmdvm.kernel(lambda z: z * z)
    if np.dtype(np.clongdouble).itemsize > 16:
        with pytest.raises(TypeError, match=r"an array of complex\d+; kernels take numbers .* complex64, complex128"):
            square(np.ones(3, np.clongdouble))
    with pytest.raises(TypeError, match=r"whose bytes are in the other order; convert it, with astype.'complex128'"):
        square(np.ones(3, ">c16"))
    with pytest.raises(TypeError, match="`out` must be an array of complex128, but was given an array of float64"):
        square(np.ones(3, complex), out=np.ones(3))
