"""Arrays of several dimensions that kernels make: each kernel is also run as the Python function it is."""

import numpy as np
import pytest
import spmdvm

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
WIDTHS = pytest.mark.parametrize("width", [1, 8])
SHAPE = (3, 4)


def numbers(*shape):
    return np.random.default_rng(1).integers(-9, 9, shape).astype(np.float64)


def agrees(function, *arguments, **options):
    """Call an elementwise kernel with arrays, and its function with each element."""
    got = spmdvm.kernel(fp="strict", **options)(function)(*arguments)
    want = [function(*row) for row in zip(*(a.tolist() for a in arguments))]
    np.testing.assert_array_equal(got, np.array(want), err_msg=function.__name__)


def determinant(a, b, c):
    m = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            m[i, j] = a + b * i - c * j * i + (i + j) % 2
    m[-1, 0] = 2
    m[0, -1] += a
    x = m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
    y = m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
    return x - y + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])


def fill(a, x):
    height, width = a.shape
    for i in range(height):
        for j in range(width):
            a[i, j] = x + 10 * i + j


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def of_row(row):
    s = 0.0
    for k in range(len(row)):
        s = 2 * s + row[k]
    return s


def passed_on(x, k):
    own = np.empty(SHAPE, np.float32)
    fill(own, x)
    row = own[1]
    s = total(own) + total(own[1:, ::2]) + of_row(row) + of_row(own[:, 2]) + of_row(own[int(k) % 3])
    return s + own.ndim + own.size + len(own) + own.shape[1] + row[-1]


def of_three_dimensions(x, k):
    cube = np.full((2, 3, 4), x)
    like = np.zeros_like(cube, np.int32)
    for a in range(2):
        for b in range(3):
            for c in range(4):
                cube[a, b, c] += a * 100 + b * 10 + c
                like[a, b, c] = a - b + c
    at = int(abs(k)) % 4
    plane = cube[1]
    return cube[at % 2, at % 3, at] + plane[at % 3, at] + total(plane[1:]) + like[1, 2, at] + like.shape[2]


def steps(a, b):
    """The number of edits between two numbers of 5 digits of base 2: a table of 6 by 6."""
    d = np.zeros((6, 6), np.int32)
    for i in range(1, 6):
        d[i, 0] = i
        d[0, i] = i
    for i in range(1, 6):
        for j in range(1, 6):
            differs = 1 if (int(a) >> (i - 1)) & 1 != (int(b) >> (j - 1)) & 1 else 0
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + differs)
    return d[5, 5]


@ENGINES
@WIDTHS
def test_elements_shapes_parts_and_functions(engine, width):
    x, y, z = numbers(3, 40)
    agrees(determinant, x, y, z, engine=engine, width=width)
    agrees(passed_on, x, abs(y), engine=engine, width=width)
    agrees(of_three_dimensions, x, y, engine=engine, width=width)
    digits = np.random.default_rng(2).integers(0, 32, (2, 60))
    agrees(steps, *digits, engine=engine, width=width)


def test_lengths_are_constants_in_functions_that_are_called():
    def doubled(a):
        copy = np.zeros(a.shape)
        for i in range(len(a)):
            for j in range(a.shape[1]):
                copy[i, j] = 2 * a[i, j]
        return total(copy)

    def outer(x):
        small = np.ones((2, 3))
        large = np.ones((4, 2))
        large[3, 1] = x
        return 100 * doubled(small) + doubled(large)

    agrees(outer, numbers(9))


@ENGINES
@WIDTHS
def test_in_array_kernels(engine, width):
    @spmdvm.kernel(engine=engine, width=width, fp="strict")
    def smooth(image, out):
        weights = np.ones((3, 3), np.float32)
        weights[1, :] = 2
        weights[:, 1] *= 2
        weights[::2, ::2] /= 2
        for y, x in spmdvm.foreach((1, image.shape[0] - 1), (1, image.shape[1] - 1)):
            window = np.empty((3, 3))
            for i in range(3):
                for j in range(3):
                    window[i, j] = image[y + i - 1, x + j - 1] * weights[i, j]
            out[y, x] = total(window) + window[y % 3, x % 3]
        return weights[1, 1]

    image = numbers(20, 30)
    out, want = np.zeros((20, 30)), np.zeros((20, 30))
    weights = np.array([[0.5, 2, 0.5], [2, 4, 2], [0.5, 2, 0.5]])
    for y in range(1, 19):
        for x in range(1, 29):
            window = image[y - 1 : y + 2, x - 1 : x + 2] * weights
            want[y, x] = total(window) + window[y % 3, x % 3]
    assert smooth(image, out) == 4
    np.testing.assert_array_equal(out, want)


@ENGINES
def test_indices_are_tested_against_each_dimension(engine):
    @spmdvm.kernel(engine=engine)
    def element(i, j):
        own = np.zeros((3, 4))
        own[1, 2] = 5
        return own[i, j]

    @spmdvm.kernel(engine=engine)
    def element_of_row(i, j):
        own = np.zeros((3, 4))
        own[1, 2] = 5
        row = own[i]
        return row[j]

    for f in (element, element_of_row):
        i, j = np.indices((3, 4))
        assert f(i, j).sum() == 5 and f(1, 2) == 5
        # The element would be there, in another row.
        for wrong in ((0, 4), (1, -1), (3, 0), (-1, 0), (2, 4), (2**40, 0), (0, 2**33)):
            with pytest.raises(IndexError):
                f(*wrong)
            with pytest.raises(IndexError):
                f(np.array([1, wrong[0]]), np.array([2, wrong[1]]))


def test_what_is_wrong_with_a_shape():
    def no_number(n):
        a = np.zeros((2.5, 2))
        return a[0, 0]

    def ordered(n):
        a = np.zeros((2, 2), np.float32, "F")
        return a[0, 0]

    def one_index_too_many(n):
        a = np.zeros((2, 2))
        return a[0, 0, 0]

    for function, message in [
        (no_number, "lengths of arrays are integers"),
        (ordered, "made of a shape and a dtype"),
        (one_index_too_many, "this array has 2 dimensions"),
    ]:
        with pytest.raises(spmdvm.CompileError, match=message) as caught:
            spmdvm.kernel(function)(1)
        line = caught.value.diagnostics[0].line - function.__code__.co_firstlineno
        assert line == (2 if function is one_index_too_many else 1), function.__name__
