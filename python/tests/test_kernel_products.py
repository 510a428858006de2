"""Products of arrays in kernels, and `np.asarray` of numbers."""

import numpy as np
import pytest
import spmdvm

DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def all_products(a, m):
    whole, part = np.prod(a, axis=None), np.prod(a[1:] * a[:-1])
    kept = np.prod(m, axis=-1, keepdims=True)
    return np.prod(a), a.prod(), np.nanprod(a), part, np.prod(a[:0]), np.prod(m), m.prod(axis=0), m.prod(1), kept, whole


def as_wanted(found, wanted):
    for f, w in zip(found, wanted):
        assert np.asarray(f).dtype == np.asarray(w).dtype and np.shape(f) == np.shape(w)
        rtol = {"f2": 0.02, "f4": 1e-5, "c8": 1e-5}.get(np.asarray(w).dtype.str[1:], 1e-12)
        np.testing.assert_allclose(f, w, rtol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 8, 64])
def test_products_are_those_of_numpy(dtype, width):
    rng = np.random.default_rng(3)
    m = (rng.random((5, 9)) + 0.6).astype(dtype)
    if m.dtype.kind == "c":
        m += (1j * rng.random((5, 9))).astype(dtype)
    a = m.reshape(-1)[:37].copy()
    with np.errstate(all="ignore"):
        as_wanted(spmdvm.kernel(all_products, width=width)(a, m), all_products(a, m))


def test_integers_have_numpys_bits():
    a = np.arange(1, 60)
    found = spmdvm.kernel(lambda a: np.prod(a))(a)
    with np.errstate(all="ignore"):
        assert found == np.prod(a)


def test_each_element_multiplies_its_own():
    @spmdvm.kernel
    def rows(m):
        out = np.zeros(len(m))
        for i in spmdvm.foreach(len(m)):
            out[i] = np.prod(m[i, : i + 1]) * m[i].prod()
        return out

    m = np.random.default_rng(4).random((6, 6)) + 0.5
    np.testing.assert_allclose(rows(m), [np.prod(m[i, : i + 1]) * m[i].prod() for i in range(6)], rtol=1e-13)


def test_numbers_that_are_written_one_by_one():
    def several(a):
        x, n = a[0], len(a)
        y = np.argmax([x, 5.0, n])
        return np.prod((2, 3)), np.prod(a.shape), np.sum([x, 2.0]), np.max((1, n)), np.mean([x, n, 3]), y

    a = np.array([0.5, 3.0, 4.0])
    assert spmdvm.kernel(several)(a) == several(a)


def numbers(a):
    x = np.asarray(a[1] * 2)
    y = np.array(a[0], dtype=np.float32)
    z = np.asarray(len(a))
    zeros = np.zeros(3, x.dtype)
    return (
        x,
        y,
        z * np.int8(3),
        zeros + x,
        np.atleast_1d(np.asarray(2.5)),
        x.ndim + y.size,
        x.shape == (),
        a * np.array(2),
    )


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64"])
def test_arrays_of_numbers_are_numbers(dtype):
    a = np.array([1, 2, 3], dtype)
    for f, w in zip(spmdvm.kernel(numbers)(a), numbers(a)):
        assert np.asarray(f).dtype == np.asarray(w).dtype and np.shape(f) == np.shape(w) and np.all(f == w)


def test_arrays_are_converted():
    def converted(a):
        b, c = np.asarray(a, np.float64), np.array(a, dtype=np.float64)
        b[0], c[1] = 9.0, 8.0
        return np.asarray(a, dtype=np.float32), np.asarray(a > 2, dtype=np.int8), np.array(a, np.int16), c[1] + a[0]

    a, b = np.array([1.0, 2, 3]), np.array([1.0, 2, 3])
    for f, w in zip(spmdvm.kernel(converted)(a), converted(b)):
        assert np.asarray(f).dtype == np.asarray(w).dtype and np.all(f == w)
    # One that has the type already is the array itself.
    assert a.tolist() == b.tolist() == [9, 2, 3]


def test_numbers_have_an_empty_shape():
    def turned(a):
        angle = np.asarray(a[0])
        r = np.zeros(angle.shape + (3, 3))  # noqa: RUF005
        r[..., 0, 0], r[..., 1, 2] = np.cos(angle), np.sin(angle)
        return r

    a = np.array([0.5, 1])
    np.testing.assert_allclose(spmdvm.kernel(turned)(a), turned(a), rtol=1e-15)
