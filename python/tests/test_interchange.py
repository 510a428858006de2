"""Arguments of other libraries: tensors (DLPack), `__array_interface__`, polars, read-only arrays."""

from __future__ import annotations

import array
import ctypes
import warnings

import numpy as np
import pytest
import spmdvm

PROGRAM = spmdvm.compile("""
export void scale(uniform float x[], uniform int n) { foreach (i = 0 ... n) x[i] *= 2; }
export uniform float total(const uniform float x[], uniform int n) {
    float s = 0;
    foreach (i = 0 ... n) s += x[i];
    return reduce_add(s);
}
export float half(float x) { return x / 2; }
""")


@spmdvm.kernel
def third(x):
    return x / 3


@spmdvm.kernel
def doubled(a: spmdvm.array[spmdvm.float32]):
    for i in spmdvm.foreach(len(a)):
        a[i] *= 2


class Tensor:
    """What shows its memory by DLPack alone."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


class TorchLike(Tensor):
    """As tensors of PyTorch: older DLPack, and an array of the same memory."""

    def __array__(self, dtype=None, copy=None):
        return self.array if dtype is None else self.array.astype(dtype)

    @property
    def dtype(self):
        return "torch.float32"


class Interface:
    """What shows its memory by numpy's older protocol."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Cuda:
    """As arrays of CuPy."""

    __cuda_array_interface__ = None
    dtype = np.dtype(np.float32)

    def __array_ufunc__(self, *_, **__):
        return NotImplemented

    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to a NumPy array is not allowed")


def floats():
    return np.arange(5, dtype=np.float32)


@pytest.mark.parametrize("kind", [Tensor, TorchLike, Interface])
def test_what_shows_its_memory_is_read(kind):
    assert PROGRAM.total(kind(floats()), 5) == 10
    np.testing.assert_array_equal(PROGRAM.half(kind(floats())), floats() / 2)
    np.testing.assert_array_equal(third(kind(floats())), third(floats()))
    assert third(kind(floats())).dtype == np.float32


@pytest.mark.parametrize("kind", [TorchLike, Interface])
def test_what_shows_its_memory_is_written(kind):
    x = floats()
    PROGRAM.scale(kind(x), 5)
    assert x.tolist() == [0, 2, 4, 6, 8]
    doubled(kind(x))
    assert x.tolist() == [0, 4, 8, 12, 16]


def test_what_is_read_only_is_not_written():
    frozen = floats()
    frozen.flags.writeable = False
    for given in (frozen, Interface(frozen)):
        assert PROGRAM.total(given, 5) == 10
        np.testing.assert_array_equal(PROGRAM.half(given), floats() / 2)
        np.testing.assert_array_equal(third(given), third(floats()))
        with pytest.raises(ValueError, match="read-only"):
            PROGRAM.scale(given, 5)
        with pytest.raises(ValueError, match="read-only"):
            doubled(given)
    assert frozen.tolist() == [0, 1, 2, 3, 4]
    # DLPack without a word about writing: numpy takes it for read-only.
    x = floats()
    view = np.from_dlpack(Tensor(x))
    if not view.flags.writeable:
        with pytest.raises(ValueError, match="read-only"):
            PROGRAM.scale(Tensor(x), 5)


@pytest.mark.parametrize(
    "given", [Tensor(floats(), (2, 1)), Tensor(floats(), (8, 0)), TorchLike(floats(), (2, 0)), Cuda()]
)
def test_memory_of_other_devices_is_refused(given):
    for call in (
        lambda: PROGRAM.total(given, 5),
        lambda: PROGRAM.scale(given, 5),
        lambda: PROGRAM.half(given),
        lambda: third(given),
        lambda: doubled(given),
    ):
        with pytest.raises(TypeError, match=r"in the memory of a GPU or the like .*; copy it to the CPU first"):
            call()
    with pytest.raises(TypeError, match="`x` was given a"):
        third(given)


COMBINED = {
    "reduce": (lambda x: spmdvm.reduce("+", x), "x"),
    "scan": (lambda x: spmdvm.scan("+", x), "x"),
    "filter": (lambda x: spmdvm.filter(lambda v: v > 1, x), "arrays"),
    "map": (lambda x: spmdvm.map(third, x), "x"),
    "map of several": (lambda x: spmdvm.map(lambda v: (v, -v), x)[1], "v"),
    "reduce_by_index": (
        lambda x: spmdvm.reduce_by_index(np.zeros(5, np.float32), "+", np.arange(5), x),
        "values",
    ),
}


@pytest.mark.parametrize("kind", [Tensor, TorchLike, Interface])
@pytest.mark.parametrize("call", [call for call, _ in COMBINED.values()], ids=COMBINED)
def test_combinators_read_what_shows_its_memory(kind, call):
    np.testing.assert_array_equal(call(kind(floats())), call(floats()))


@pytest.mark.parametrize(("call", "name"), COMBINED.values(), ids=COMBINED)
def test_combinators_refuse_other_devices(call, name):
    for given in (Tensor(floats(), (2, 1)), Cuda()):
        with pytest.raises(TypeError, match=rf"\(\): `{name}` was given .* in the memory of a GPU or the like \(CUDA"):
            call(given)


class Broken(Tensor):
    """What does not give what it has."""

    def __dlpack__(self, **options):
        raise BufferError("not today")


def test_errors_of_other_libraries_tell_the_argument():
    given = Broken(floats())
    for call, place in (
        (PROGRAM.half, "half(): `x`"),
        (lambda x: PROGRAM.total(x, 5), "total(): `x`"),
        (third, "third(): `x`"),
        (doubled, "doubled(): `a`"),
        (lambda x: spmdvm.reduce("+", x), "reduce(): `x`"),
    ):
        with pytest.raises(TypeError) as caught:
            call(given)
        assert str(caught.value) == f"{place} was given a `Broken` that gives no array: not today"


def test_results_go_to_other_libraries():
    result = third(np.arange(4.0))
    again = np.from_dlpack(Tensor(result))
    assert np.shares_memory(again, result)
    assert result.__dlpack_device__() == (1, 0)


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(5, dtype=torch.float32)
    np.testing.assert_array_equal(third(x), third(floats()))
    np.testing.assert_array_equal(PROGRAM.half(x), floats() / 2)
    doubled(x)
    assert x.tolist() == [0, 2, 4, 6, 8]
    PROGRAM.scale(x, 5)
    assert torch.from_numpy(PROGRAM.half(x)).tolist() == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda torch, x: x.requires_grad_(), r"records gradients.*; pass x\.detach\(\)"),
        (lambda torch, x: x.requires_grad_() * 2, r"records gradients.*; pass x\.detach\(\)"),
        (lambda torch, x: x.to(torch.bfloat16), r"of bfloat16, which numpy does not have; .*x\.to\(torch\.float32\)"),
        (lambda torch, x: x.to("meta"), "of the device `meta`, which has no numbers"),
        (lambda torch, x: torch.diag(x).to_sparse(), r"\(torch\.sparse_coo\); make it dense \(x\.to_dense\(\)\)"),
        (lambda torch, x: torch.complex(x, x).conj(), r"of conjugates .*x\.resolve_conj\(\)"),
        # Its memory has the opposite of its numbers, which must not be read.
        (lambda torch, x: torch.complex(x[:1], x[:1]).conj().imag, r"of negatives .*x\.resolve_neg\(\)"),
    ],
)
def test_tensors_that_are_no_plain_memory(make, told):
    torch = pytest.importorskip("torch")
    given = make(torch, torch.arange(5, dtype=torch.float32))
    for call, place in (
        (PROGRAM.half, r"half\(\): `x`"),
        (lambda x: PROGRAM.scale(x, 5), r"scale\(\): `x`"),
        (third, r"third\(\): `x`"),
        (doubled, r"doubled\(\): `a`"),
        (lambda x: spmdvm.scan("+", x), r"scan\(\): `x`"),
    ):
        with pytest.raises(TypeError, match=f"{place} was given a `Tensor` .*{told}"):
            call(given)


def test_arrays_of_jax():
    numbers = pytest.importorskip("jax.numpy")
    x = numbers.arange(5, dtype=numbers.float32)
    np.testing.assert_array_equal(third(x), third(floats()))
    np.testing.assert_array_equal(PROGRAM.half(x), floats() / 2)
    assert PROGRAM.total(x, 5) == 10
    assert spmdvm.reduce("+", x) == 10
    np.testing.assert_array_equal(spmdvm.evaluate("x * x + 1"), floats() * floats() + 1)
    # They never change, so they are not written to.
    for write in (lambda: PROGRAM.scale(x, 5), lambda: doubled(x)):
        with pytest.raises(ValueError, match=r"the array is read-only; pass a writable array"):
            write()
    assert x.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError, match="`x` has no type of kernels: an array of bfloat16"):
        third(numbers.arange(5, dtype=numbers.bfloat16))
    assert numbers.from_dlpack(third(x)).tolist() == third(floats()).tolist()


def test_series_of_polars():
    polars = pytest.importorskip("polars")
    a = polars.Series("a", floats())
    for result in (PROGRAM.half(a), third(a)):
        assert isinstance(result, polars.Series) and result.name == "a" and result.dtype == polars.Float32
    assert PROGRAM.half(a).to_list() == (floats() / 2).tolist()
    assert third(a).to_list() == third(floats()).tolist()

    @spmdvm.kernel
    def add(x, y):
        return x + y

    b = polars.Series("b", [1, 2, 3, 4, 5])
    assert add(b, b).name == "b" and add(b, b).to_list() == [2, 4, 6, 8, 10]
    both = add(a, polars.Series("b", floats()))
    assert both.name == "" and both.to_list() == [0, 2, 4, 6, 8]
    assert add(b, 1).to_list() == [2, 3, 4, 5, 6]
    assert add(b, np.ones((2, 5), np.int64)).shape == (2, 5)
    assert PROGRAM.total(a, 5) == 10
    out = np.zeros(5, np.float32)
    assert third(a, out=out) is out
    # It passes `return_dtype=`, unless it is told in Python's words that there is no such parameter.
    for function in (third, PROGRAM.half):
        frame = polars.DataFrame({"x": floats()}).with_columns(polars.col("x").map_batches(function).alias("y"))
        assert frame["y"].to_list() == function(floats()).tolist()
    for wrong, message in [
        (polars.Series("a", [1.0, None]), "has nulls, which no number stands for"),
        (polars.Series("a", ["text"]), "`x` has no type of kernels|object"),
    ]:
        with pytest.raises(TypeError, match=message):
            third(wrong)
    with pytest.raises(TypeError, match="has nulls"):
        PROGRAM.half(polars.Series("a", [1.0, None], dtype=polars.Float32))
    with pytest.raises(TypeError, match="not both"):
        add(b, np.ma.MaskedArray([1, 2, 3, 4, 5], [0, 1, 0, 0, 0]))


def test_combinators_refuse_nulls():
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"^reduce\(\): `x` has nulls"):
        spmdvm.reduce("+", polars.Series([1.0, None]))
    assert spmdvm.reduce("+", polars.Series([1.0, 2.0])) == 3
    with pytest.raises(TypeError, match=r"`x` holds <U1, .*; pass numbers; np\.asarray\(x, np\.float64\) reads those "):
        spmdvm.reduce("+", polars.Series(["a", "b"]))


def test_frames_and_expressions_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1, None], "b": [1.0, 2.0]})
    kernel = spmdvm.kernel(lambda x: x + 1)
    for call in (kernel, lambda x: spmdvm.reduce("+", x), lambda x: spmdvm.evaluate("x + 1", {"x": x})):
        with pytest.raises(TypeError, match="`x` has nulls, which no number stands for"):
            call(frame)
        with pytest.raises(TypeError, match=r"`x` was given an expression of polars, .*; pass a column, df\['x'\]"):
            call(polars.col("a"))
    assert kernel(frame.fill_null(0)).tolist() == [[2, 2], [1, 3]]
    with pytest.raises(TypeError, match=r"a Series of Categorical; pass x\.to_physical\(\)"):
        kernel(polars.Series(["a", "b"], dtype=polars.Categorical))


def test_lazy_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"a": [1.0, 2.0]})
    with warnings.catch_warnings():
        # It warns of what asking it for its types would compute.
        warnings.simplefilter("error")
        for call in (third, doubled, PROGRAM.half, lambda x: PROGRAM.total(x, 2), lambda x: spmdvm.reduce("+", x)):
            with pytest.raises(TypeError, match=r"is a polars LazyFrame|was given a polars LazyFrame; .*x\.collect"):
                call(frame)


@pytest.mark.parametrize("make", [bytearray, lambda numbers: memoryview(bytearray(numbers))])
def test_functions_write_to_buffers(make):
    module = spmdvm.compile("export void twice(uniform uint8 x[], uniform int n) { foreach (i = 0 ... n) x[i] *= 2; }")
    x = make(bytes([1, 2, 3]))
    module.twice(x, 3)
    assert list(x) == [2, 4, 6]
    with pytest.raises(TypeError, match="cannot write to a `memoryview`"):
        module.twice(memoryview(b"abc"), 3)


@pytest.mark.parametrize(
    "make", [lambda n: array.array("f", n), lambda n: (ctypes.c_float * len(n))(*n)], ids=["array", "ctypes"]
)
def test_functions_take_any_buffer(make):
    x = make([0.0, 1.0, 2.0, 3.0, 4.0])
    PROGRAM.scale(x, 5)
    assert list(x) == [0, 2, 4, 6, 8] and PROGRAM.total(x, 5) == 20
    assert PROGRAM.half(make([3.0, 6.0])).tolist() == [1.5, 3]
    # Its own buffer is let go again.
    if isinstance(x, array.array):
        x.append(1)


def doubles_of(kind):
    if kind == "numpy":
        return np.ones(2)
    if kind == "array":
        return array.array("d", [1, 1])
    if kind == "tensor":
        return TorchLike(np.ones(2))
    if kind == "torch":
        torch = pytest.importorskip("torch")
        return torch.ones(2, dtype=torch.float64)
    return pytest.importorskip(kind).Series([1.0, 1.0])


@pytest.mark.parametrize("kind", ["numpy", "array", "tensor", "torch", "pandas", "polars"])
def test_what_is_advised_can_be_done(kind):
    x = doubles_of(kind)
    for call, wanted in ((PROGRAM.half, "float32"), (lambda x: PROGRAM.total(x, 2), "an array of float32")):
        with pytest.raises(TypeError, match=f"`x` expects {wanted}, .*; convert it with ") as caught:
            call(x)
        advice = str(caught.value).rpartition("convert it with ")[2].removeprefix("x = ")
        has_astype = kind in ("numpy", "pandas")
        assert advice == ("x.astype(np.float32)" if has_astype else "np.asarray(x, np.float32)")
        call(eval(advice, {"np": np, "x": x}))


def test_buffers_that_are_no_arrays():
    number = ctypes.c_float(3)
    for x in (b"abcd", ctypes.pointer(number), (ctypes.c_void_p * 2)()):
        for call in (PROGRAM.scale, PROGRAM.total):
            with pytest.raises(TypeError, match=f"`x` expects a numpy array.*given a `{type(x).__name__}`"):
                call(x, 1)
    pair = spmdvm.compile(
        "struct P { float x; int n; };"
        "export void add(uniform P &p) { p.n += 1; }"
        "export uniform int of_second(const uniform P p[]) { return p[1].n; }"
    )

    class P(ctypes.Structure):
        _fields_ = [("x", ctypes.c_float), ("n", ctypes.c_int32)]

    p = P(1, 2)
    pair.add(p)
    assert p.n == 3 and pair.of_second((P * 2)(P(1, 2), P(3, 4))) == 4


def test_buffers_and_lists():

    given = memoryview(array.array("f", [0, 1, 2, 3, 4]))
    assert PROGRAM.total(given, 5) == 10
    assert third(memoryview(floats())).tolist() == third(floats()).tolist()
    assert third([3, 6]).tolist() == [1, 2]
