"""Calling exported functions with numbers and arrays."""

from __future__ import annotations

import numpy as np
import pytest
import spmdvm

TYPES = {
    "bool": np.bool_,
    "int8": np.int8,
    "int16": np.int16,
    "int32": np.int32,
    "int64": np.int64,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
    "uint64": np.uint64,
    "float16": np.float16,
    "float": np.float32,
    "double": np.float64,
}


@pytest.mark.parametrize(("spmd", "dtype"), TYPES.items())
def test_every_type(spmd: str, dtype: type) -> None:
    module = spmdvm.compile(
        f"export void copy(const uniform {spmd} a[], uniform {spmd} b[], uniform int n) "
        "{ foreach (i = 0 ... n) b[i] = a[i]; }\n"
        f"export uniform {spmd} same(uniform {spmd} x) {{ return x; }}\n"
    )
    a = np.array([0, 1, 1, 0, 1], dtype=dtype)
    b = np.zeros_like(a)
    module.copy(a, b, 5)
    assert (a == b).all()
    one = module.same(dtype(1))
    assert type(one) is type(dtype(1).item())
    assert one == 1
    assert module.same(True) == 1


@pytest.mark.parametrize(("spmd", "dtype"), [t for t in TYPES.items() if t[0].lstrip("u").startswith("int")])
def test_limits_of_integers(spmd: str, dtype: type) -> None:
    module = spmdvm.compile(f"export uniform {spmd} same(uniform {spmd} x) {{ return x; }}\n")
    info = np.iinfo(dtype)
    for value in (int(info.min), int(info.max)):
        assert module.same(value) == value
    for value in (int(info.min) - 1, int(info.max) + 1):
        with pytest.raises(OverflowError, match="`x`"):
            module.same(value)


def test_arrays_are_not_copied(kernels: spmdvm.Module, floats: np.ndarray) -> None:
    kernels.scale(floats, 10, 2)
    assert (floats == 2 * np.arange(10)).all()
    assert kernels.total(floats, len(floats)) == 90
    assert kernels.scale(x=floats, n=10, k=0.5) is None
    assert kernels.total(n=10, x=floats) == 45


def test_any_shape_if_contiguous(kernels: spmdvm.Module) -> None:
    x = np.ones((2, 3, 4), np.float32)
    kernels.scale(x, x.size, 3)
    assert (x == 3).all()
    kernels.scale(x[1], 12, 2)
    assert (x[0] == 3).all()
    assert (x[1] == 6).all()
    point = np.array(5, np.float32)
    kernels.scale(point, 1, 2)
    assert point == 10
    kernels.scale(np.empty(0, np.float32), 0, 1)


def test_overlapping_arrays(kernels: spmdvm.Module, floats: np.ndarray) -> None:
    kernels.copy(floats[5:], floats[:5], 5)
    assert (floats == [5, 6, 7, 8, 9, 5, 6, 7, 8, 9]).all()


def test_unaligned_arrays(kernels: spmdvm.Module) -> None:
    x = np.frombuffer(bytearray(41), np.uint8)[1:].view(np.float32)
    x[:] = 1
    assert not x.flags.aligned
    kernels.scale(x, 10, 2)
    assert (x == 2).all()


WRONG_ARRAYS = [
    (
        lambda x: x.astype(np.float64),
        TypeError,
        r"scale\(\): `x` expects an array of float32, but was given an array of float64.*x\.astype\(np\.float32\)",
    ),
    (lambda x: x.astype(">f4"), TypeError, r"`x` expects an array of float32, but was given an array of >f4"),
    (
        lambda x: list(x),
        TypeError,
        r"`x` is written by the program, which cannot write to a `list`.*np\.array\(x, dtype=np\.float32\)",
    ),
    (lambda x: 3, TypeError, r"`x` expects a numpy array of float32, but was given an `int`"),
    (lambda x: x.astype(object), TypeError, r"`x` .*holds Python objects"),
    (lambda x: x.astype("m8[s]"), TypeError, "timedelta64"),
    (lambda x: x[::2], ValueError, r"`x` must be C-contiguous.*\(5,\).*np\.ascontiguousarray.*copy the result back"),
    (lambda x: np.asfortranarray(np.ones((3, 4), np.float32)), ValueError, "C-contiguous"),
]


@pytest.mark.parametrize(("change", "error", "message"), WRONG_ARRAYS)
def test_wrong_arrays(kernels: spmdvm.Module, floats: np.ndarray, change, error, message: str) -> None:
    with pytest.raises(error, match=message):
        kernels.scale(change(floats), 5, 2)
    assert (floats == np.arange(10)).all()


def test_read_only_arrays(kernels: spmdvm.Module, floats: np.ndarray) -> None:
    floats.flags.writeable = False
    assert kernels.total(floats, 10) == 45
    with pytest.raises(ValueError, match=r"scale\(\): `x` is written by the program, but the array is read-only"):
        kernels.scale(floats, 10, 2)


WRONG_SCALARS = [
    (2**31, OverflowError, r"scale\(\): `n`: 2147483648 does not fit int32 \(-2147483648 to 2147483647\)"),
    (-(2**40), OverflowError, "does not fit int32"),
    (10**60, OverflowError, "the int does not fit int32"),
    (np.int64(2**40), OverflowError, "does not fit int32"),
    (1.5, TypeError, r"`n` expects an integer \(int32\), but was given the float 1.5"),
    (np.float32(1), TypeError, "`n` expects an integer"),
    ("5", TypeError, r"`n` expects an integer \(int32\), but was given a `str`"),
    (None, TypeError, "was given None"),
    (1j, TypeError, "a `complex`"),
    (np.arange(3), TypeError, r"`n` expects a scalar of type int32, but was given an array of int64 with shape \(3,\)"),
]


@pytest.mark.parametrize(("value", "error", "message"), WRONG_SCALARS)
def test_wrong_scalars(kernels: spmdvm.Module, floats: np.ndarray, value, error, message: str) -> None:
    with pytest.raises(error, match=message):
        kernels.scale(floats, value, 2)
    assert (floats == np.arange(10)).all()


@pytest.mark.parametrize("value", [3, True, np.int8(3), np.uint64(3), np.array(3), np.int32(3)])
def test_integers(kernels: spmdvm.Module, value) -> None:
    x = np.ones(3, np.float32)
    kernels.scale(x, value, 2)
    assert x[0] == 2


@pytest.mark.parametrize("value", [2, 2.0, np.float16(2), np.float32(2), np.float64(2), np.int64(2), np.array(2.0)])
def test_numbers(kernels: spmdvm.Module, value) -> None:
    x = np.ones(3, np.float32)
    kernels.scale(x, 3, value)
    assert (x == 2).all()


def test_floats_too_large(kernels: spmdvm.Module, floats: np.ndarray) -> None:
    with pytest.raises(OverflowError, match="`k`: 1e300 is too large for float32"):
        kernels.scale(floats, 1, 1e300)
    with pytest.raises(OverflowError, match="`k`: the int is too large for float32"):
        kernels.scale(floats, 1, 10**400)
    kernels.scale(floats[1:], 9, float("inf"))
    assert floats[1] == np.inf


def test_bools() -> None:
    module = spmdvm.compile("export uniform bool invert(uniform bool x) { return !x; }")
    assert module.invert(True) is False
    assert module.invert(np.bool_(False)) is True
    with pytest.raises(TypeError, match="expects a bool"):
        module.invert(1)


WRONG_CALLS = [
    ((), {}, "misses its arguments `x`, `n`, `k`"),
    ((1, 2), {}, "misses its argument `k`"),
    ((1, 2, 3, 4), {}, r"scale\(\) takes 3 arguments, but 4 were given"),
    ((1, 2), {"kk": 1}, r"scale\(\) got an unexpected keyword argument 'kk'; its parameters are x, n, k"),
    ((1, 2, 3), {"k": 1}, r"scale\(\) got two values for `k`"),
]


@pytest.mark.parametrize(("args", "kwargs", "message"), WRONG_CALLS)
def test_wrong_calls(kernels: spmdvm.Module, args, kwargs, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        kernels.scale(*args, **kwargs)


def test_defaults_in_the_middle() -> None:
    module = spmdvm.compile(
        "export uniform int f(uniform int a, uniform int b = 10, uniform int c = 100) { return a + b + c; }"
    )
    assert module.f(1) == 111
    assert module.f(1, c=0) == 11
    assert module.f(1, 0) == 101


def test_overloads_by_dtype() -> None:
    module = spmdvm.compile(
        "export uniform int which(uniform float x[]) { return 1; }\n"
        "export uniform int which(uniform double x[]) { return 2; }\n"
        "export uniform int kind(uniform int x) { return 1; }\n"
        "export uniform int kind(uniform double x) { return 2; }\n"
        "export uniform int kind(uniform bool x) { return 3; }\n"
    )
    assert module.which(np.zeros(1, np.float32)) == 1
    assert module.which(np.zeros(1, np.float64)) == 2
    assert [module.kind(x) for x in (1, 1.0, True, np.float32(1), np.int64(1))] == [1, 2, 3, 2, 1]
    with pytest.raises(TypeError, match=r"no overload of which\(\)(?s:.*)float32(?s:.*)float64"):
        module.which(np.zeros(1, np.int32))


STRUCTS = """
enum Color { RED, GREEN, BLUE };
struct Inner { float weight; int8 tag; };
struct Point { float x, y; double big; int ids[3]; Inner inner; Color color; };
export void grow(uniform Point points[], uniform int n) {
    foreach (i = 0 ... n) {
        points[i].x *= 2;
        points[i].big += points[i].ids[1];
        points[i].inner.weight = 7;
        points[i].color = BLUE;
    }
}
export uniform float read(const uniform Point &p) { return p.x + p.ids[2]; }
export void write(uniform Point &p) { p.y = 5; }
struct Vec { float x, y, z; };
export uniform float height(const uniform Vec v[], uniform int n) { return v[n].z; }
export uniform int tell(uniform Color c) { return (uniform int)c; }
export void paint(uniform Color c[]) { c[0] = GREEN; }
"""
INNER = np.dtype([("weight", np.float32), ("tag", np.int8)], align=True)
POINT = np.dtype(
    [("x", "f4"), ("y", "f4"), ("big", "f8"), ("ids", "i4", 3), ("inner", INNER), ("color", "u4")], align=True
)


@pytest.fixture(scope="module")
def structs() -> spmdvm.Module:
    return spmdvm.compile(STRUCTS)


def test_structured_arrays(structs: spmdvm.Module) -> None:
    points = np.zeros(5, POINT)
    points["x"] = np.arange(5)
    points["ids"] = [1, 2, 3]
    points["inner"]["tag"] = 9
    structs.grow(points, 5)
    assert (points["x"] == 2 * np.arange(5)).all()
    assert (points["big"] == 2).all()
    assert (points["inner"]["weight"] == 7).all()
    assert (points["inner"]["tag"] == 9).all()
    assert (points["color"] == 2).all()


def test_references(structs: spmdvm.Module) -> None:
    point = np.zeros((), POINT)
    point["x"], point["ids"] = 1.5, [1, 2, 3]
    assert structs.read(point) == 4.5
    points = np.zeros(3, POINT)
    structs.write(points[1:2])
    assert points["y"].tolist() == [0, 5, 0]
    with pytest.raises(ValueError, match=r"`p` is a reference to one element, but was given an array of shape \(3,\)"):
        structs.write(points)
    with pytest.raises(TypeError, match=r"`p` expects .*a `void`; pass a\[i:i\+1\] instead of a\[i\]"):
        structs.write(points[0])


def changed(**fields) -> np.dtype:
    formats = [fields.get(name, POINT[name]) for name in POINT.names]
    return np.dtype(list(zip(POINT.names, formats)), align=True)


WRONG_STRUCTS = [
    (changed(y=np.int32), "field `y` is int32, but float32 in struct Point"),
    (changed(x=np.float64), "field `y` lies at byte 8, but at byte 4 in struct Point|field `x` is float64"),
    (changed(ids=np.dtype(("i4", 2))), "in struct Point"),
    (np.dtype([("x", "f4"), ("y", "f4")]), "it has no field `big`"),
    (np.dtype([(name, POINT[name]) for name in POINT.names] + [("more", "f4")]), "struct Point has no field `more`"),
    (np.dtype(np.float32), "expects an array of struct Point"),
]


@pytest.mark.parametrize(("dtype", "message"), WRONG_STRUCTS)
def test_wrong_structs(structs: spmdvm.Module, dtype: np.dtype, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        structs.grow(np.zeros(2, dtype), 2)


def test_the_message_gives_the_dtype(structs: spmdvm.Module) -> None:
    with pytest.raises(TypeError) as caught:
        structs.grow(np.zeros(2), 2)
    text = str(caught.value)
    end = f"'itemsize': {POINT.itemsize}}})"
    expression = text[text.index("np.dtype(") : text.index(end) + len(end)]
    assert eval(expression, {"np": np}) == POINT


def test_rows_of_numbers_as_structs(structs: spmdvm.Module) -> None:
    assert structs.height(np.arange(12, dtype=np.float32).reshape(4, 3), 2) == 8
    with pytest.raises(ValueError, match="12 bytes each"):
        structs.height(np.arange(4, dtype=np.float32), 0)


def test_enums(structs: spmdvm.Module) -> None:
    assert structs.tell(2) == 2
    for dtype in (np.int32, np.uint32):
        colors = np.zeros(1, dtype)
        structs.paint(colors)
        assert colors[0] == 1
    with pytest.raises(TypeError, match="enum Color"):
        structs.paint(np.zeros(1, np.int64))


def test_multi_dimensional_parameters() -> None:
    module = spmdvm.compile("export uniform int at(const uniform int a[][4], uniform int i) { return a[i][1]; }")
    assert module.at(np.arange(12, dtype=np.int32).reshape(3, 4), 2) == 9
    with pytest.raises(TypeError, match="int32"):
        module.at(np.zeros((3, 4)), 0)
