"""Annotations of results: what is returned is converted to them, or they are an error."""

import pickle
import typing
from collections.abc import Callable, Sequence
from typing import Optional, Union

import numpy as np
import pytest
import spmdvm
from numpy.typing import NDArray

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
three = np.arange(3)


@ENGINES
@pytest.mark.parametrize(
    ("annotation", "given", "expected"),
    [
        (np.float64, np.float32, "float64"),
        (np.float32, np.float64, "float32"),
        (float, np.float32, "float64"),
        (float, np.int8, "float64"),
        (int, np.int8, "int64"),
        (int, np.bool_, "int64"),
        (np.int16, np.int64, "int16"),
        (np.complex64, np.float32, "complex64"),
        (complex, np.int32, "complex128"),
        ("np.float32", np.int32, "float32"),
        (spmdvm.float32, np.int32, "float32"),
        (np.dtype(np.float32), np.int32, "float32"),
        (NDArray[np.float32], np.int32, "float32"),
        ("NDArray[np.float32]", np.int32, "float32"),
        (np.ndarray, np.int16, "int16"),
        (typing.Any, np.int16, "int16"),
    ],
)
def test_results_have_the_annotated_type(annotation, given, expected, engine):
    @spmdvm.kernel(engine=engine)
    def kernel(x) -> annotation:
        return x

    result = kernel(three.astype(given))
    assert (result.dtype, result.tolist()) == (np.dtype(expected), three.astype(given).astype(expected).tolist())


def test_what_is_computed_is_converted():
    @spmdvm.kernel
    def third(x: np.float32) -> np.float64:
        return x / 3

    result = third(np.arange(3, dtype=np.float32))
    assert result.dtype == np.float64
    assert result.tolist() == (np.arange(3, dtype=np.float32) / np.float32(3)).tolist()


def test_several_results():
    @spmdvm.kernel
    def both(x) -> tuple[float, np.int16]:
        return x, x

    @spmdvm.kernel
    def any_number(x) -> tuple[float, ...]:
        return x, x, x

    assert [found.dtype.name for found in both(three)] == ["float64", "int16"]
    assert [found.dtype.name for found in any_number(three)] == ["int64"] * 3
    assert [found.dtype.name for found in pickle.loads(pickle.dumps(both))(three)] == ["float64", "int16"]


def squared(x) -> np.float32:
    return x * x


def test_functions_that_are_called():
    @spmdvm.kernel
    def outer(x):
        def inner(y) -> np.float32:
            return y / 3

        return squared(x), inner(x)

    found = outer(three)
    assert [each.dtype.name for each in found] == ["float32", "float32"]
    again = pickle.loads(pickle.dumps(outer))(three)
    assert [each.dtype.name for each in again] == ["float32", "float32"]


def test_functions_that_call_themselves():
    @spmdvm.kernel
    def sums(n) -> tuple[int, float]:
        if n < 1:
            return 0, n
        a, b = sums(n - 1)
        return a + n, b + 0.5

    found = sums(np.arange(5, dtype=np.int32))
    assert [each.tolist() for each in found] == [[0, 1, 3, 6, 10], [0, 0.5, 1, 1.5, 2]]


def test_arrays():
    @spmdvm.kernel
    def tail(a) -> spmdvm.array[spmdvm.float32]:
        return a[1:] * 2

    assert tail(np.arange(3, dtype=np.float32)).tolist() == [2, 4]
    with pytest.raises(spmdvm.CompileError, match="returns an array of float64") as error:
        tail(np.arange(3.0))
    assert "`….astype(np.float32)`" in str(error.value)
    assert pickle.loads(pickle.dumps(tail))(np.arange(3, dtype=np.float32)).tolist() == [2, 4]

    @spmdvm.kernel
    def split(a) -> tuple[NDArray[np.float64], np.float32]:
        return a[1:] * 2, a[0]

    rest, first = split(np.arange(3.0))
    assert rest.tolist() == [2, 4]
    assert type(first) is np.float32


def test_annotations_that_are_not_written():
    def double(x):
        return x * 2

    double.__annotations__["return"] = str
    assert spmdvm.kernel(double)(three).tolist() == [0, 2, 4]


def test_ints_have_to_fit():
    @spmdvm.kernel
    def length(a) -> np.uint8:
        return len(a)

    assert length(np.zeros(255)) == 255
    with pytest.raises(OverflowError):
        length(np.zeros(256))


def error_of(make, *arguments):
    with pytest.raises(spmdvm.CompileError) as error:
        make()(*arguments)
    return str(error.value)


def test_types_that_kernels_do_not_have():
    def text():
        @spmdvm.kernel
        def f(x) -> str:
            return x

    def named_ones():
        @spmdvm.kernel
        def f(x) -> dict[str, float]:
            return x

    def several():
        @spmdvm.kernel
        def f(x) -> NDArray[np.floating]:
            return x

    assert "`str` is no type of the results of kernels" in error_of(text)
    assert "`NDArray[np.floating]` is no type of the results of kernels" in error_of(several)
    assert "use `np.float32`" in error_of(named_ones)

    def named(x) -> str:
        return x

    assert "`str` is no type" in error_of(lambda: spmdvm.kernel(lambda x: named(x)), three)


def test_what_loses_more_than_digits():
    @spmdvm.kernel
    def whole(x) -> np.int32:
        return x * 2.5

    @spmdvm.kernel
    def flag(x) -> bool:
        return x

    @spmdvm.kernel
    def real(x) -> float:
        return x * 1j

    @spmdvm.kernel
    def nothing(x) -> None:
        return x

    @spmdvm.kernel
    def pair(x) -> tuple[int, int]:
        return x

    told = error_of(lambda: whole, three)
    assert "returns `float64`, which is no `int32`" in told
    assert "`np.int32(…)`" in told
    assert "def whole(x) -> np.int32:" in told
    assert "`bool(…)`" in error_of(lambda: flag, three)
    assert "which is no `float`" in error_of(lambda: real, three)
    assert "returns a value, and this tells of something else" in error_of(lambda: nothing, three)
    assert "returns a value, and this tells of something else" in error_of(lambda: pair, three)


def test_annotations_of_several_types_leave_the_type_to_what_is_passed():
    def apply(f: Callable, x: float) -> "Union[int, float]":
        return f(x)

    @spmdvm.kernel
    def times(x: Union[int, float], y: Optional[Union[int, float]] = None) -> Union[int, float]:
        return x * 2 if y is None else apply(lambda z: z * x, y)

    assert times(3) == 6 and times(2.5) == 5.0 and times(2.5, 2) == 5.0
    assert times(np.arange(3)).tolist() == [0, 2, 4]

    @spmdvm.kernel
    def summed(xs: Sequence[float]) -> tuple:
        total = 0.0
        for x in xs:
            total += x
        return total, len(xs)

    assert summed([1, 2.5]) == (3.5, 2) and summed(np.arange(4)) == (6, 4)
    summed.__wrapped__.__annotations__["return"] = getattr(typing, "Tuple")  # noqa: B009
    assert spmdvm.kernel(summed.__wrapped__)([1, 2]) == (3, 2)
