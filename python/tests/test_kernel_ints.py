"""Python ints that are known at run time only, with integers of numpy's: their values count, or it is an error."""

import numpy as np
import pytest
import spmdvm

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
WIDTHS = pytest.mark.parametrize("width", [1, 8])
KINDS = [np.dtype(name) for name in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]]
pixels = np.arange(250, 256, dtype=np.uint8)
COMPARISONS = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def ends(dtype):
    """Give numbers of a type, with the least and the greatest."""
    info = np.iinfo(dtype)
    return np.array([info.min, info.min + 1, 0, 1, 5, info.max - 1, info.max], dtype)


# Comparisons.


@ENGINES
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_arguments_are_compared_by_value(dtype, engine):
    x = ends(dtype)
    numbers = [0, 5, -1, 127, 128, -129, 255, 300, -(2**31), 2**31, 2**32, 3_000_000_000, -(2**63), 2**63 - 1]
    for op, same in COMPARISONS.items():
        right, left = (spmdvm.vectorize(text, engine=engine) for text in (f"x {op} n", f"n {op} x"))
        for n in numbers:
            np.testing.assert_array_equal(right(x, n), same(x, n), err_msg=f"{dtype} {op} {n}")
            np.testing.assert_array_equal(left(n, x), same(n, x), err_msg=f"{n} {op} {dtype}")


@pytest.mark.parametrize("second", KINDS, ids=str)
@pytest.mark.parametrize("first", KINDS, ids=str)
def test_all_integers_are_compared_by_value(first, second):
    x, y = ends(first)[:, None], ends(second)
    for op, same in COMPARISONS.items():
        np.testing.assert_array_equal(spmdvm.vectorize(f"x {op} y")(x, y), same(x, y), err_msg=op)


def test_the_same_kernel_is_called_with_numbers_that_fit_and_that_do_not():
    below = spmdvm.kernel(lambda x, limit: x < limit)
    for limit in (252, 300, 252, -1, 255, 256):
        assert below(pixels, limit).tolist() == (pixels < limit).tolist()
    assert spmdvm.evaluate("pixels < limit", {"limit": 300}).all()
    assert spmdvm.kernel(lambda x, low, high: low < x < high)(pixels, -5, 300).all()
    assert not spmdvm.kernel(lambda x, n: x in (n, 3))(pixels, 252 + 256).any()


@ENGINES
@WIDTHS
def test_counters_and_lengths_are_compared_by_value(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def counts(image, into):
        for k in range(len(into)):
            n = 0
            for i in spmdvm.foreach(len(image)):
                if image[i] == k:
                    n += 1
            into[k] = n

    @spmdvm.kernel(engine=engine, width=width)
    def inside(labels, table):
        n = 0
        for i in range(len(labels)):
            if labels[i] < len(table):
                n += 1
        return n

    into = np.zeros(600, np.int64)
    counts(pixels, into)
    assert into.tolist() == [0] * 250 + [1] * 6 + [0] * 344
    assert inside(pixels, np.zeros(256)) == 6
    assert inside(pixels, np.zeros(252)) == 2


def test_the_lesser_of_an_element_and_an_int_need_not_be_the_int():
    assert spmdvm.kernel(lambda x, n: min(x, n))(pixels, 300).tolist() == pixels.tolist()
    assert spmdvm.kernel(lambda x, n: max(n, x))(pixels, -300).tolist() == pixels.tolist()
    assert spmdvm.kernel(lambda x, n: x if x < n else n)(pixels, 300).tolist() == pixels.tolist()
    with pytest.raises(OverflowError, match="`n` does not fit in the `uint8`"):
        spmdvm.kernel(lambda x, n: max(x, n))(pixels, 300)
    with pytest.raises(OverflowError, match="`n`"):
        spmdvm.kernel(lambda x, n: np.minimum(x, n))(pixels, 300)


def test_clip_takes_bounds_beyond_the_type_as_numpy_does():
    x = np.arange(-128, 127, 60, dtype=np.int8)
    clipped = spmdvm.kernel(lambda a, low, high: np.clip(a, low, high))
    for low, high in ((-1000, 1000), (-10, 10), (-10, 1000)):
        got = clipped(x, low, high)
        assert got.dtype == np.int8
        assert got.tolist() == np.clip(x, low, high).tolist()
    assert spmdvm.kernel(lambda a: np.clip(a, -1000, 50))(x).tolist() == np.clip(x, -1000, 50).tolist()
    with pytest.raises(OverflowError, match="`low`"):
        clipped(x, 200, 300)


# Arithmetic and what is stored.


@ENGINES
@WIDTHS
@pytest.mark.parametrize("text", ["x * 2 + n", "n - x", "x // n", "x % n", "x & n", "x << n", "x ** n"])
def test_arguments_have_to_fit_the_type_they_are_used_as(text, engine, width):
    x, kernel = np.arange(1, 4, dtype=np.int8), spmdvm.vectorize(text, engine=engine, width=width)
    names = sorted(kernel.__signature__.parameters)[:1]
    assert names == ["n"]
    assert kernel(x=x, n=3).dtype == np.int8
    with pytest.raises(OverflowError, match=r"`n` does not fit in the `int8` that it is used as \(-128 to 127\)"):
        kernel(x=x, n=1000)
    np.testing.assert_array_equal(kernel(x=x, n=2), eval(text, {"x": x, "n": 2}))


def test_what_is_computed_of_arguments_has_to_fit():
    @spmdvm.kernel
    def shifted(x, n):
        by = n + 1
        return x + by

    assert shifted(pixels, 3).tolist() == (pixels + 4).tolist()
    with pytest.raises(OverflowError, match="`by`"):
        shifted(pixels, 255)


def added(a, b):
    return a + b


def test_functions_that_are_called_name_what_does_not_fit():
    with pytest.raises(OverflowError, match=r"`n`.* in `added`"):
        spmdvm.kernel(lambda x, n: added(x, n))(pixels, 300)
    assert spmdvm.kernel(lambda x, n: added(x, n))(pixels, 1).tolist() == (pixels + 1).tolist()


def test_only_what_is_executed_has_to_fit():
    @spmdvm.kernel
    def either(x, n):
        if n > 255:
            return x
        return x + n

    assert either(pixels, 300).tolist() == pixels.tolist()
    assert either(pixels, 2).tolist() == (pixels + 2).tolist()


def test_what_is_annotated_as_int_may_be_an_array():
    @spmdvm.kernel
    def shifted(x, n: int):
        return x + n

    assert shifted(pixels, 2).tolist() == (pixels + 2).tolist()
    assert shifted(pixels, np.arange(6)).tolist() == (pixels + np.arange(6, dtype=np.uint8)).tolist()
    with pytest.raises(OverflowError):
        shifted(pixels, np.arange(6) * 100)


@ENGINES
def test_what_is_stored_has_to_fit(engine):
    @spmdvm.kernel(engine=engine)
    def first(x, k):
        x[0] = k

    @spmdvm.kernel(engine=engine)
    def counted(x):
        for k in range(len(x)):
            x[k] = k

    @spmdvm.kernel(engine=engine)
    def squares(x):
        for k in spmdvm.foreach(len(x)):
            x[k] = k * k

    @spmdvm.kernel(engine=engine)
    def whole(x, k):
        x[:] = k
        x += k

    x = np.zeros(16, np.uint8)
    first(x, 44)
    assert x[0] == 44
    with pytest.raises(OverflowError, match="`k` does not fit in the `uint8`") as error:
        first(x, 300)
    assert isinstance(error.value, spmdvm.Overflow)
    assert isinstance(error.value, spmdvm.Trap)
    assert error.value.kind == "overflow"
    assert "x[0] = k" in str(error.value)
    squares(x)
    assert x.tolist() == [k * k for k in range(16)]
    with pytest.raises(OverflowError, match=r"a Python int in `x\[k\]`"):
        squares(np.zeros(17, np.uint8))
    counted(np.zeros(256, np.uint8))
    with pytest.raises(OverflowError, match="`k`"):
        counted(np.zeros(257, np.uint8))
    whole(x, 100)
    assert set(x.tolist()) == {200}
    with pytest.raises(OverflowError, match="`k`"):
        whole(x, 300)


def test_numbers_of_rows_and_columns_are_stored_as_int32():
    @spmdvm.kernel
    def numbered(out):
        height, width = out.shape
        for i, j in spmdvm.foreach(height, width):
            out[i, j] = i * width + j

    out = np.zeros((30, 50), np.int32)
    numbered(out)
    assert (out.ravel() == np.arange(1500)).all()
    small = np.zeros((4, 64), np.uint8)
    numbered(small)
    assert (small.ravel() == np.arange(256)).all()
    with pytest.raises(OverflowError):
        numbered(np.zeros((4, 65), np.uint8))


@ENGINES
@WIDTHS
def test_counters_have_to_fit_in_arithmetic(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def weighted(x):
        total = 0
        for i in range(len(x)):
            total += x[i] * i
        return total

    assert weighted(np.ones(16, np.int8)) == 120
    with pytest.raises(OverflowError, match="`i` does not fit in the `int8`"):
        weighted(np.zeros(129, np.int8))


def test_lengths_have_to_fit():
    @spmdvm.kernel
    def moved(x):
        for i in range(len(x)):
            x[i] = x[i] + len(x)

    @spmdvm.kernel
    def made(x, n):
        t = np.zeros(n + 1, np.uint8)
        for i in range(len(t)):
            t[i] = x[i] + len(t)
        return t

    x = np.zeros(255, np.uint8)
    moved(x)
    assert set(x.tolist()) == {255}
    with pytest.raises(OverflowError, match=r"`len\(x\)`"):
        moved(np.zeros(256, np.uint8))
    assert made(pixels, 3).tolist() == [254, 255, 0, 1]
    with pytest.raises(OverflowError, match=r"`len\(t\)`"):
        made(np.zeros(400, np.uint8), 300)


def test_lanes_that_do_not_take_part_are_not_tested():
    @spmdvm.kernel(width=8)
    def capped(x, out):
        for i in spmdvm.foreach(len(x)):
            n = 0
            for _ in range(x[i]):
                n += 2
            out[i] = n if n < 256 else 255
            if n < 100:
                out[i] = n + 1

    x = np.array([1, 200, 49, 128], np.int32)
    out = np.zeros(4, np.uint8)
    capped(x, out)
    assert out.tolist() == [3, 255, 99, 255]


def test_kernels_of_several_results_and_records():
    @spmdvm.kernel
    def both(x, n):
        return x < n, x + 1

    assert both(pixels, 300)[0].all()
    assert both(pixels, 252)[0].tolist() == (pixels < 252).tolist()
    pair = np.dtype([("x", np.uint8), ("y", np.int64)], align=True)

    @spmdvm.kernel
    def made(a, n) -> pair:
        return n, a

    assert made(pixels, 30)["x"].tolist() == [30] * 6
    with pytest.raises(OverflowError, match="`n`"):
        made(pixels, 300)


def test_defaults_and_combinators():
    below = spmdvm.kernel(lambda x, n=300: x < n)
    assert below(pixels).all()
    assert spmdvm.map(below, pixels).all()
    with pytest.raises(OverflowError, match="`n`"):
        spmdvm.map(spmdvm.kernel(lambda x, n=300: x + n), pixels)


def test_conversions_that_are_written_take_the_low_bits():
    @spmdvm.kernel
    def low(x, n):
        return x + np.uint8(n)

    assert low(pixels, 300).tolist() == (pixels + np.uint8(44)).tolist()


def test_array_kernels_that_are_called_again():
    @spmdvm.kernel
    def count(x, n):
        c = 0
        for i in spmdvm.foreach(len(x)):
            if x[i] < n:
                c += 1
        return c

    for n in (252, 252, 300, 300, -1, 252):
        assert count(pixels, n) == (pixels < n).sum()
    assert count.profile(pixels, 300).result == 6
    assert "py_fits" not in count.spmd_source
