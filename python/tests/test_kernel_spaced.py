"""`np.arange` of floats and `np.linspace` in kernels: lengths, types and bits are numpy's."""

import numpy as np
import pytest
import spmdvm


def check(function, *args, **options):
    """Assert that a kernel gives what the function gives, to the bit."""
    with np.errstate(all="ignore"):
        wanted = function(*args)
    found = spmdvm.kernel(function, **options)(*args)
    assert type(found) is type(wanted)
    for f, w in zip(found, wanted) if isinstance(wanted, tuple) else [(found, wanted)]:
        assert np.asarray(f).dtype == np.asarray(w).dtype and np.shape(f) == np.shape(w)
        assert np.asarray(f).tobytes() == np.asarray(w).tobytes(), (f, w)


def of_constants(a):
    return (
        np.arange(0.0, 1.0, 0.1),
        np.arange(2.5),
        np.arange(1.0, -1.0, -0.25),
        np.arange(-0.0, 2.0),
        np.arange(1.0, 0.0),
        np.arange(0, 3, 0.7, dtype=np.float32),
        np.arange(0.5, 5, 0.7, dtype=np.int32),
        np.arange(0.0, 5.0, np.inf),
        np.arange(start=1.5, stop=4.0),
        np.arange(3, stop=5.5, step=0.5),
        a,
    )


def of_numbers(a, n):
    return (
        np.arange(n * 0.1, 2.0, 0.3),
        np.arange(a[0], a[-1]),
        np.arange(a[-1], a[0], -a[0]),
        np.arange(0, n, a[0]),
        np.arange(a[0] * 1e-3, a[-1], 0.01, dtype=np.float32),
        np.arange(a[1], a[1]),
        np.arange(0.0, a[1], a[1] / 0),
        np.arange(a[1], 0.0, a[1] / 0),
    )


@pytest.mark.parametrize("width", [1, 4, 16])
def test_floats_are_counted_as_numpy_does(width):
    check(of_constants, np.zeros(1), width=width)
    check(of_numbers, np.array([0.3, 1.7, 9.1]), 7, width=width)
    check(of_numbers, np.array([0.3, 1.7, 9.1], np.float32), 7, width=width)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32"])
def test_types_are_those_of_numpy(dtype):
    def counted(ends):
        return np.arange(ends[1]), np.arange(ends[0], ends[1]), np.arange(0, ends[1], 2), np.arange(ends[0], 7.5)

    check(counted, np.array([2, 9], dtype))


def test_steps_that_are_computed():
    def counted(a, step):
        return np.arange(a[0], 10, step), np.arange(10, -a[0], -step)

    for step in (1, 3, 10, 11):
        check(counted, np.array([2, 9]), step)


def test_loops_go_over_them():
    def total(a):
        s = 0.0
        for x in np.arange(a[0], a[-1], 0.1):
            s = s * 0.5 + x
        return s

    a = np.array([0.25, 3.0])
    assert spmdvm.kernel(total, fp="strict")(a) == total(a)


@pytest.mark.parametrize(
    ("error", "text", "given"),
    [
        (ZeroDivisionError, "float division by zero", (0.0, 1.0, 0.0)),
        (ValueError, "arange: cannot compute length", (0.0, np.nan, 1.0)),
        (ValueError, "Maximum allowed size exceeded", (0.0, np.inf, 1.0)),
        (ValueError, "Maximum allowed size exceeded", (0.0, 1.0, 1e-300)),
    ],
)
def test_lengths_that_are_none_are_errors(error, text, given):
    kernel = spmdvm.kernel(lambda a: np.arange(a[0], a[1], a[2]))
    with pytest.raises(error, match=f"^{text}"):
        kernel(np.array(given))


def spaced(a, n):
    return (
        np.linspace(0, 1, n),
        np.linspace(a[0], a[-1], 11, endpoint=False),
        np.linspace(a[0], a[-1], n, True),
        np.linspace(0, 10, n, dtype=np.int64),
        np.linspace(-3, 3, n, dtype=np.int8),
        np.linspace(0, 10),
        np.linspace(0, 10, num=n * 2 + 1, dtype=np.float32),
        np.linspace(start=1, stop=10, num=1),
        np.linspace(a[0], 10, 0),
        np.linspace(3, 3, n),
        np.linspace(0, 1, int(a[0] * 8)),
        np.linspace(a[1], a[1], int(a[0] * 20), endpoint=False),
        np.linspace(a[-1], a[0], n + 1, axis=0),
        np.linspace(0, 5e-324, 7),
    )


def steps(a, n):
    x, step = np.linspace(a[0], a[-1], n, retstep=True)
    _, other = np.linspace(0, 1, 5, False, True)
    return x, step, other, np.linspace(0, 1, n - n + 1, retstep=True)[1], np.linspace(0, 1, 1, retstep=True)[1]


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_spaces_are_those_of_numpy(n, dtype):
    check(spaced, np.array([0.3, 1.7, 9.1], dtype), n)
    a = np.array([0.3, 1.7, 9.1], dtype)
    for found, wanted in zip(spmdvm.kernel(steps)(a, n), steps(a, n)):
        # (Where there is no step it is NaN.)
        np.testing.assert_array_equal(found, wanted)


def test_spaces_of_complex_numbers():
    def counted(z, n):
        return np.linspace(z[0], z[1], n), np.linspace(0, z[1], n, endpoint=False)

    z = np.array([1 + 2j, 0.5 - 3j])
    for found, wanted in zip(spmdvm.kernel(counted)(z, 9), counted(z, 9)):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


def test_each_element_has_its_own():
    @spmdvm.kernel
    def area(low, high):
        x = np.linspace(low, high, 33)
        return np.sum(x * x) * (high - low) / 33

    low = np.linspace(-1, 1, 21)
    wanted = [np.sum(np.linspace(v, 2, 33) ** 2) * (2 - v) / 33 for v in low]
    np.testing.assert_allclose(area(low, 2.0), wanted, rtol=1e-13)

    @spmdvm.kernel
    def longer(low, n: spmdvm.uniform[int]):
        x = np.linspace(low, 2.0, n)
        return np.sum(x)

    np.testing.assert_allclose(longer(low, 9), [np.linspace(v, 2, 9).sum() for v in low], rtol=1e-13)


def test_what_is_no_number_is_told():
    for function, told in (
        (lambda a, n: np.linspace(a[:2], a[1:], n), "`np.linspace` goes from a number to a number in a kernel"),
        (lambda a, n: np.linspace(0, 1, n, endpoint=a[0] > 0), "`endpoint` is a constant in a kernel"),
        (lambda a, n: np.linspace(0, 1, n, axis=1), "makes an array of one dimension in a kernel"),
        (lambda a, n: np.linspace(0, 1, 2.5 * n), "`num` takes integers"),
        (lambda a, n: np.arange(0, a[0] > 1), "`np.arange` counts in integers and floats"),
        (lambda a, n: np.arange(0, n, 0), "the step of `np.arange` is not zero"),
        (lambda a, n: np.arange(0.0, np.inf) + a[0], "an array has a finite length"),
        (lambda a, n: np.cov(a, a[0])[0, 1], "`np.cov` takes an array as its `y`"),
        (lambda a, n: np.corrcoef(a, n), "`np.corrcoef` takes an array as its `y`"),
    ):
        with pytest.raises(spmdvm.CompileError) as caught:
            spmdvm.kernel(function)(np.array([0.5, 1.5, 2.5]), 3)
        assert told in str(caught.value).splitlines()[0]
