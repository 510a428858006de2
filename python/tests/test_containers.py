"""Masked arrays, pandas objects, lists and others as arguments."""

from __future__ import annotations

import array
import ctypes

import numpy as np
import pytest
import spmdvm
from spmdvm import _containers

SOURCE = """
export float add(float x, float y) { return x + y; }
export int inverse(int x) { return 100 / x; }
export int half(int x) { return x / 2; }
export float scaled(float x, uniform float k) { return x * k; }
export uniform float total(const uniform float x[], uniform int n) {
    float sum = 0;
    foreach (i = 0 ... n) sum += x[i];
    return reduce_add(sum);
}
export void fill(uniform float x[], uniform int n) { foreach (i = 0 ... n) x[i] = 1; }
export uniform double first(const uniform double &x) { return x; }
export double plus(double x) { return x + 1; }
struct Pair { float a; int b; };
export uniform float member(const uniform Pair &p) { return p.a; }
"""


@pytest.fixture(scope="module")
def module() -> spmdvm.Module:
    return spmdvm.compile(SOURCE)


def masked(values: list, mask: list, dtype: type = np.float32) -> np.ma.MaskedArray:
    return np.ma.MaskedArray(np.array(values, dtype), np.array(mask, bool))


def test_masked_elements_are_not_computed(module: spmdvm.Module) -> None:
    x = masked([1, 0, 5, 0], [0, 1, 0, 1], np.int32)
    result = module.inverse(x)
    assert isinstance(result, np.ma.MaskedArray)
    assert result.mask.tolist() == [False, True, False, True]
    assert result.compressed().tolist() == [100, 20]
    assert x.data.tolist() == [1, 0, 5, 0]


def test_masks_of_arguments_are_united(module: spmdvm.Module) -> None:
    x, y = masked([1, 2, 3], [1, 0, 0]), masked([[1], [2]], [[0], [1]])
    result = module.add(x, y)
    assert (result.mask == np.ma.add(x, y).mask).all()
    assert (result.compressed() == np.ma.add(x, y).compressed()).all()
    assert module.add(np.ma.MaskedArray(np.float32(1)), 2) == 3
    assert module.add(np.ma.masked.astype(np.float32), 2) is np.ma.masked


def test_masked_and_where(module: spmdvm.Module) -> None:
    x = masked([1, 2, 3, 4], [0, 1, 0, 0])
    result = module.add(x, 1, where=np.array([True, True, False, True]))
    assert result.mask.tolist() == [False, True, False, False]
    assert result.data.tolist() == [2, 0, 0, 5]
    with pytest.raises(TypeError, match="`where` has masked elements"):
        module.add(1.0, 1.0, where=np.ma.MaskedArray([True], [True]))


def test_masked_out(module: spmdvm.Module) -> None:
    x = masked([1, 2, 3], [0, 1, 0])
    out = masked([7, 8, 9], [1, 0, 0])
    assert module.add(x, 1, out=out) is out
    assert out.mask.tolist() == [False, True, False]
    assert out.data.tolist() == [2, 8, 4]
    hard = masked([7, 8, 9], [1, 0, 0]).harden_mask()
    module.add(x, 1, out=hard)
    assert hard.mask.tolist() == [True, True, False]
    assert hard.data.tolist() == [7, 8, 4]
    with pytest.raises(TypeError, match="the arguments are masked arrays, so `out` must be one too"):
        module.add(x, 1, out=np.zeros(3, np.float32))


def test_masked_arrays_as_memory(module: spmdvm.Module) -> None:
    assert module.total(masked([1, 2, 3], [0, 0, 0]), 3) == 6
    with pytest.raises(TypeError, match="`x` was given an array with masked elements"):
        module.total(masked([1, 2, 3], [0, 1, 0]), 3)


def test_classes_with_a_meaning_of_their_own(module: spmdvm.Module) -> None:
    class Metres(np.ndarray):
        pass

    class Lazy:
        def __array_ufunc__(self, *args: object) -> None: ...

        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.zeros(3, np.float32)

    for strange in (np.zeros(3, np.float32).view(Metres), Lazy(), np.zeros((3, 3), np.float32).view(np.matrix)):
        with pytest.raises(TypeError, match=r"may mean more than its numbers; pass np\.asarray\(x\)"):
            module.add(strange, 1)
        with pytest.raises(TypeError, match=r"may mean more than its numbers; pass np\.asarray\(x\)"):
            module.total(strange, 3)
    records = np.zeros(3, [("a", np.float32)]).view(np.recarray)
    assert type(module.add(records.a, 1)) is np.ndarray


def test_lists_take_the_type_that_is_asked_for(module: spmdvm.Module) -> None:
    result = module.add([1, 2.5], (3, 4))
    assert (result.dtype, result.tolist()) == (np.float32, [4, 6.5])
    assert module.half([[4, 8], [10, 12]]).tolist() == [[2, 4], [5, 6]]
    assert module.half([]).shape == (0,)
    assert module.total([1, 2, 3], 3) == 6
    assert module.first(1.5) == module.first(np.float32(1.5)) == module.first([1.5]) == 1.5
    assert module.member(np.array([(2.5, 1)], np.dtype([("a", "f4"), ("b", "i4")]))[0]) == 2.5
    with pytest.raises(TypeError, match=r"`x` expects integers \(int32\), but the list holds floats"):
        module.half([1.0, 2.0])
    with pytest.raises(OverflowError, match="4294967296 does not fit int32"):
        module.half([1, 2**32])
    with pytest.raises(OverflowError, match="a number is too large for float32"):
        module.add([1e300], 1)
    with pytest.raises(ValueError, match="rows differ in length"):
        module.add([[1, 2], [3]], 1)
    with pytest.raises(TypeError, match="which cannot write to a `list`"):
        module.fill([1, 2, 3], 3)


def test_lists_are_rather_numbers_than_memory() -> None:
    module = spmdvm.compile(
        "export int f(float x, const uniform float table[]) { return 1; }\nexport int f(float x, float y) { return 2; }"
    )
    assert module.f([1.0], [2.0]).tolist() == [2]
    assert module.f([1.0], np.ones(1, np.float32)).tolist() == [1]


def test_scalars_that_know_their_type(module: spmdvm.Module) -> None:
    assert module.add(np.float64(1.5), 1) == 2.5
    assert module.half(np.int64(9)) == 4
    assert module.add(np.array(0.5), np.int64(1)) == 1.5
    with pytest.raises(TypeError, match=r"cannot hold the float64 0\.1 exactly; pass float\(x\)"):
        module.add(np.float64(0.1), 1)
    with pytest.raises(OverflowError, match="does not fit int32"):
        module.half(np.int64(2**40))


def test_buffers(module: spmdvm.Module) -> None:
    numbers = array.array("f", [1, 2, 3])
    assert module.total(memoryview(numbers), 3) == 6
    assert module.add(memoryview(numbers), 1).tolist() == [2, 3, 4]


def test_series_keep_their_index(module: spmdvm.Module) -> None:
    pandas = pytest.importorskip("pandas")
    x = pandas.Series(np.arange(3, dtype=np.float32), index=list("abc"), name="x")
    result = module.add(x, 1)
    assert isinstance(result, pandas.Series)
    assert (result.index.tolist(), result.name, result.tolist()) == (["a", "b", "c"], "x", [1, 2, 3])
    y = pandas.Series(np.ones(3, np.float32), index=list("abc"), name="y")
    assert module.add(x, y).name is None
    assert module.scaled(x, np.float32(2)).tolist() == [0, 2, 4]
    assert module.add(x, y, where=x > 0).tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="`x` and `y` have different labels; align them first"):
        module.add(x, y.set_axis(list("cba")))
    with pytest.raises(ValueError, match=r"the result would have shape \(2, 3\)"):
        module.add(x, np.zeros((2, 3), np.float32))
    out = np.zeros(3, np.float32)
    assert module.add(x, 1, out=out) is out
    with pytest.raises(TypeError, match="`out` expects a numpy array, but was given a `Series`"):
        module.add(x, 1, out=x)
    assert module.total(x, 3) == 3
    with pytest.raises(TypeError, match="which cannot write to a `Series`"):
        module.fill(x, 3)
    with pytest.raises(TypeError, match=r"`x` expects float32, .* a `Series` of float64.*x.astype\(np.float32\)"):
        module.add(x.astype(float), 1)
    with pytest.raises(TypeError, match=r"`x` expects int32, .* a `Series` of Int64"):
        module.half(pandas.Series([1, 2], dtype="Int64"))


RANGES = [
    range(5), range(3, 20, 4), range(9, -3, -2), range(-7, 7), range(0), range(4, 2), range(1), range(2**63 - 4, 2**63),
    range(2**63, 2**63 + 2), range(-(2**63), -(2**63) + 3), range(5, 6, 2**70), range(0, 2**63, 2**62),
    range(-5, -20, -7), range(2**31 - 2, 2**31 + 1), range(-(2**62), 2**62, 2**61),
]  # fmt: skip


@pytest.mark.parametrize("numbers", RANGES)
def test_ranges_are_arrays_of_their_numbers(numbers: range) -> None:
    found, want = _containers.as_array(numbers, "f(): `x`"), np.asarray(numbers)
    assert found.dtype == want.dtype and found.tolist() == want.tolist()


def test_results_for_pandas_are_not_copied() -> None:
    """A copy would go on to its end, whatever Ctrl-C says."""
    pandas = pytest.importorskip("pandas")
    kernel = spmdvm.kernel(lambda x: x + 1)
    given = np.arange(40.0).reshape(10, 4)
    frame = pandas.DataFrame(given, columns=list("abcd"))
    result = kernel(frame)
    # Copies of pandas lie column by column.
    assert np.asarray(result).flags.c_contiguous
    result.iloc[0, 0] = 7
    assert frame.iloc[0, 0] == given[0, 0] == 0 and (result["b"] == given[:, 1] + 1).all()
    column = kernel(frame["a"])
    column[1] = 9
    assert column.name == "a" and frame["a"][1] == 4


def test_missing_integers_of_pandas_are_refused(module: spmdvm.Module) -> None:
    pandas = pytest.importorskip("pandas")
    missing = pandas.Series([1, None], dtype="Int64")
    kernel = spmdvm.kernel(lambda x: x + 1)
    calls = [
        module.half,
        kernel,
        lambda x: spmdvm.evaluate("x + 1", {"x": x}),
        lambda x: spmdvm.reduce("+", x),
        lambda x: kernel(pandas.DataFrame({"a": [1.0, 2.0], "b": x})),
    ]
    for call in calls:
        with pytest.raises(
            TypeError, match=r"`x` has missing values, which no integer stands for; fill them \(x\.fill"
        ):
            call(missing)
    with pytest.raises(TypeError, match=r"which no bool stands for; fill them \(x\.fillna\(False\)\)"):
        kernel(pandas.Series([True, None], dtype="boolean"))
    assert kernel(missing.fillna(5)).tolist() == [2, 6] and kernel(missing.astype("float64")).isna().tolist() == [
        False,
        True,
    ]
    assert kernel(pandas.Series([1.5, None], dtype="Float64")).isna().tolist() == [False, True]


def test_frames_keep_their_labels(module: spmdvm.Module) -> None:
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"u": np.ones(2, np.float32), "v": np.zeros(2, np.float32)}, index=["p", "q"])
    result = module.add(x, 1)
    assert result.equals(x + np.float32(1))
    with pytest.raises(TypeError, match="which have different labels"):
        module.add(x, x["u"])


def test_kernels_of_several_results_carry_what_others_do():
    @spmdvm.kernel
    def both(x, by):
        return 1 // x, x + by

    masked = np.ma.array([2, 0, 1], mask=[False, True, False])
    one, other = both(masked, 1)
    assert one.tolist() == [0, None, 1] and other.tolist() == [3, None, 2]
    one, other = both(np.array([2, 0, 1]), 1, where=np.array([True, False, True]))
    assert one.tolist() == [0, 0, 1] and other.tolist() == [3, 0, 2]
    out = np.full((2, 3), 7), np.full((2, 3), 7)
    assert both(np.array([2, 0, 1]), 1, where=np.array([[True], [False]]) & (np.arange(3) != 1), out=out) is out
    assert out[0].tolist() == [[0, 7, 1], [7, 7, 7]] and out[1].tolist() == [[3, 7, 2], [7, 7, 7]]
    for wrong, message in [
        ({"out": np.zeros(3, int)}, "`out` must be a tuple of 2 arrays, one for each result"),
        ({"out": (np.zeros(3, int), np.zeros(3))}, r"`out\[1\]` must be an array of int64, but was given .* float64"),
        (
            {"out": (np.zeros(3, int), np.zeros(4, int))},
            r"`out\[1\]` has shape \(4,\), but the result has shape \(3,\)",
        ),
        ({"where": np.ones(3)}, "`where` must be an array of bool"),
        ({"where": np.ones(2, bool)}, r"the shapes .*\(2,\) of `where` do not broadcast"),
        ({"threads": -2}, "`threads` must be a number from 0"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            both(np.array([2, 3, 1]), 1, **wrong)


def test_kernels_of_data_frames():
    pandas = pytest.importorskip("pandas")

    @spmdvm.kernel
    def twice(x):
        return 2 * x

    @spmdvm.kernel
    def split(x):
        return x // 2, x % 2

    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=["p", "q"])
    assert twice(frame).equals(2 * frame)
    assert twice(frame.astype("float32")).dtypes.tolist() == [np.float32, np.float32]
    assert twice(frame.astype("Int64")["a"]).tolist() == [2, 4]
    half, rest = split(frame["a"])
    assert half.equals(frame["a"] // 2) and rest.equals(frame["a"] % 2)
    with pytest.raises(TypeError, match="`x` has no type of kernels: a Series of"):
        twice(pandas.Series(["a", "b"]))


def test_array_kernels_read_what_has_numbers():
    @spmdvm.kernel
    def weighted(x, weights):
        total = 0.0
        for i in spmdvm.foreach(len(x)):
            total += x[i] * weights[i]
        return total

    class Held:
        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])

    weights = [10.0, 1.0]
    given = [[1.0, 2.0], (1, 2), range(1, 3), bytes([1, 2]), bytearray([1, 2]), array.array("d", [1, 2]), Held()]
    for x in given:
        assert weighted(x, weights) == 12
    pandas = pytest.importorskip("pandas")
    assert weighted(pandas.Series([1, 2]), pandas.Series(weights)) == 12


class Meters:
    """A class that says itself what functions of numpy do to it."""

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)

    def __array_ufunc__(self, *_, **__):
        return NotImplemented


def test_array_kernels_write_to_buffers_and_to_nothing_that_would_be_lost():
    @spmdvm.kernel
    def twice(x):
        x[:] *= 2

    numbers, memory = array.array("d", [1, 2]), bytearray([3, 4])
    twice(numbers)
    twice(memory)
    assert numbers.tolist() == [2, 4] and list(memory) == [6, 8]
    for x in ([1, 2], (1.0,), range(3)):
        kind = type(x).__name__
        with pytest.raises(TypeError, match=f"`x` is written by the kernel, which cannot write to a `{kind}`; make an"):
            twice(x)
    with pytest.raises((TypeError, ValueError), match="written"):
        twice(b"abc")
    with pytest.raises(TypeError, match="may mean more than its numbers"):
        twice(Meters())


def test_pointers_of_ctypes_are_told_how_to_become_arrays(module: spmdvm.Module) -> None:
    pointer = ctypes.cast((ctypes.c_float * 3)(1, 2, 3), ctypes.POINTER(ctypes.c_float))
    with pytest.raises(TypeError, match=r"; pass np\.ctypeslib\.as_array\(x, \(n,\)\), n being the number of elements"):
        module.total(pointer, 3)
    assert module.total(np.ctypeslib.as_array(pointer, (3,)), 3) == 6
