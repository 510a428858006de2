"""Structs and short vectors by value, pointers, and structs that point to arrays."""

from __future__ import annotations

import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
import spmdvm

RAY = """
struct Ray { uniform float origin[3]; uniform float<3> direction; uniform int8 depth; };
export uniform Ray step(uniform Ray ray, uniform float t) {
    for (uniform int i = 0; i < 3; ++i) ray.origin[i] += t * ray.direction[i];
    ++ray.depth;
    return ray;
}
export uniform double<2> swapped(uniform double<2> v) { uniform double<2> w = { v.y, v.x }; return w; }
export float scaled(float x, uniform float<2> by) { return x * by.x + by.y; }
enum Side { LEFT, RIGHT };
export uniform Side other(uniform Side side) { return side == LEFT ? RIGHT : LEFT; }
export uniform bool negated(uniform bool b) { return !b; }
"""

LIST = """
struct Node { uniform float value; Node *uniform next; };
export Node *uniform push(Node *uniform list, uniform float value) {
    Node *uniform node = uniform new uniform Node;
    node->value = value;
    node->next = list;
    return node;
}
export void *uniform opaque(Node *uniform list) { return list; }
export uniform float total(const Node *uniform list) {
    uniform float sum = 0;
    for (; list != NULL; list = list->next) sum += list->value;
    return sum;
}
export void drop(Node *uniform list) { delete list; }
export uniform int *uniform find(uniform int a[], uniform int n, uniform int x) {
    for (uniform int i = 0; i < n; ++i) if (a[i] == x) return a + i;
    return NULL;
}
export uniform int first(uniform int a[]) { return a[0]; }
export float plus(float x, uniform int *uniform p) { return p == NULL ? x : x + p[0]; }
"""

MESH = """
struct Mesh { uniform float *uniform x; uniform int64 n; };
struct Scene { Mesh mesh; uniform int *uniform ids; };
export uniform float total(const uniform Mesh &mesh) {
    float sum = 0;
    foreach (i = 0 ... mesh.n) sum += mesh.x[i];
    return reduce_add(sum);
}
export void clear(uniform Mesh meshes[], uniform int n) {
    for (uniform int k = 0; k < n; ++k) foreach (i = 0 ... meshes[k].n) meshes[k].x[i] = 0;
}
export uniform float scene_total(const uniform Scene &s) { return total(s.mesh) + s.ids[0]; }
"""


@pytest.fixture(scope="module")
def ray() -> spmdvm.Module:
    return spmdvm.compile(RAY)


def test_structs_by_value(ray: spmdvm.Module) -> None:
    start = {"origin": [1, 2, 3], "direction": (10, 20, 30, 0), "depth": 7}
    moved = ray.step(start, 0.5)
    assert isinstance(moved, np.void)
    assert moved["origin"].tolist() == [6, 12, 18]
    assert moved["depth"] == 8
    # What came out goes in, as a record, in an array, and as a tuple.
    again = ray.step(moved, 1)
    assert again["origin"].tolist() == [16, 32, 48]
    assert ray.step(np.array(moved), 1) == again
    assert ray.step(np.array([moved]), 1) == again
    assert ray.step((moved["origin"], moved["direction"], 8), 1) == again
    assert moved["depth"] == 8
    moved["depth"] = 1
    assert ray.step(moved, 1)["depth"] == 2


def test_short_vectors_by_value(ray: spmdvm.Module) -> None:
    result = ray.swapped([1.5, 2.5])
    assert result.dtype == np.float64 and result.tolist() == [2.5, 1.5]
    assert ray.swapped(result).tolist() == [1.5, 2.5]
    assert ray.scaled(np.array([1, 2], np.float32), (2, 1)).tolist() == [3, 5]
    assert ray.other(0) == 1 and ray.negated(True) is False


@pytest.mark.parametrize(
    ("argument", "error", "message"),
    [
        ({"origin": [1, 2, 3]}, TypeError, "step(): `ray`: the struct needs a value for `direction`"),
        (
            {"origin": [1, 2, 3], "x": 1},
            TypeError,
            "the struct has no field `x`; its fields are origin, direction, depth",
        ),
        (
            {"origin": [1, 2], "direction": [0] * 4, "depth": 0},
            ValueError,
            "`ray`.origin has the shape (3,), but was given (2,)",
        ),
        (
            {"origin": [1, 2, 3], "direction": [0] * 4, "depth": 300},
            OverflowError,
            "`ray`.depth: 300 does not fit int8",
        ),
        (
            {"origin": [1, 2, 3], "direction": [0] * 4, "depth": 1.5},
            TypeError,
            "`ray`.depth is int8, but was given float64",
        ),
        ((1, 2), TypeError, "the struct has 3 fields (origin, direction, depth), not 2"),
        (
            5,
            TypeError,
            "step(): `ray` expects a record (an element of a structured array), a dict or a tuple for struct Ray",
        ),
        ("ray", TypeError, "but was given an object of type str"),
        (np.zeros(2, np.int32), TypeError, "step(): `ray` expects an array of struct Ray"),
    ],
)
def test_wrong_structs(ray: spmdvm.Module, argument: Any, error: type, message: str) -> None:
    with pytest.raises(error) as caught:
        ray.step(argument, 1)
    assert message in str(caught.value)


def test_wrong_vectors(ray: spmdvm.Module) -> None:
    with pytest.raises(ValueError, match=r"swapped\(\): `v` is a reference to one element"):
        ray.swapped([1, 2, 3])


def test_structs_by_layout(ray: spmdvm.Module) -> None:
    names = ["a", "b", "c"]
    formats = [(np.float32, 3), (np.float32, 4), np.int8]
    dtype = np.dtype({"names": names, "formats": formats, "offsets": [0, 16, 32], "itemsize": 48})
    assert ray.step(np.zeros((), dtype), 1)["depth"] == 1
    nested = np.dtype([("p", [("x", "f4"), ("yz", "f4", 2), ("pad", "V4")]), ("d", "f4", 4), ("n", "i1"), ("q", "V15")])
    with pytest.raises(TypeError, match="struct Ray"):
        ray.step(np.zeros((), nested), 1)
    moved = np.dtype({"names": names, "formats": formats, "offsets": [0, 12, 32], "itemsize": 48})
    with pytest.raises(TypeError, match="struct Ray"):
        ray.step(np.zeros((), moved), 1)


def test_pointers_go_out_and_in() -> None:
    module = spmdvm.compile(LIST)
    pointers = [None]
    for i in range(1, 11):
        pointers.append(module.push(pointers[-1], i))
    last = pointers[-1]
    assert isinstance(last, spmdvm.Pointer) and "struct Node" in repr(last)
    assert module.total(last) == 55
    assert module.total(None) == 0
    assert module.total(module.opaque(last)) == 55
    assert last == module.opaque(last) and hash(last) == hash(module.opaque(last)) and last != pointers[1]
    assert int(last) == last.address != 0
    module.drop(last)
    with pytest.raises(spmdvm.BadPointer):
        module.total(last)
    with pytest.raises(TypeError, match="a pointer of another module"):
        spmdvm.compile(LIST).total(pointers[1])
    with pytest.raises(
        TypeError, match=r"expects a pointer to int32, but was given <spmdvm pointer 0x.* to struct Node>"
    ):
        module.first(pointers[1])
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(last)
    node = pointers[1]
    del module, pointers, last
    gc.collect()
    assert node.address != 0


def test_a_pointer_into_an_array() -> None:
    module = spmdvm.compile(LIST)
    a = np.array([5, 6, 7], np.int32)
    found = module.find(a, 3, 6)
    assert module.first(found) == 6
    a[1] = 60
    assert module.first(found) == 60
    assert module.find(a, 3, 1) is None
    assert module.plus(np.float32([1, 2]), found).tolist() == [61, 62]
    assert module.plus(np.float32([1, 2]), None).tolist() == [1, 2]
    reference = weakref.ref(a)
    del a
    gc.collect()
    assert module.first(found) == 60
    address = found.address
    del found
    gc.collect()
    assert module.first(np.array([1], np.int32)) == 1
    assert reference() is None, "forgotten with its last pointer, once the module has run again"
    assert address


def test_addresses_that_programs_store() -> None:
    source = """
        struct Node { uniform int value; };
        export void make(Node *uniform *uniform out, uniform int value) {
            *out = uniform new uniform Node;
            (*out)->value = value;
        }
        export uniform int value(const Node *uniform node) { return node->value; }
        export uniform int first(const uniform int64 a[]) { return a[0]; }
        export int added(int x, const Node *uniform node) { return x + node->value; }
    """
    module = spmdvm.compile(source)
    out = np.zeros(2, np.uint64)
    module.make(out, 7)
    assert module.value(out[0]) == 7
    assert module.added(np.int32([1, 2]), out[0]).tolist() == [8, 9]
    for wrong in (out[1], np.uint64(12345), np.uint64(out.ctypes.data)):
        with pytest.raises(spmdvm.BadPointer):
            module.value(wrong)
    with pytest.raises(TypeError, match="expects a numpy array of int64"):
        module.first(out[0])


def mesh_type() -> np.dtype:
    return np.dtype([("x", np.uint64), ("n", np.int64)])


def test_records_point_to_arrays() -> None:
    module = spmdvm.compile(MESH)
    x = np.ones(100, np.float32)
    mesh = np.zeros(1, mesh_type())
    assert module.bind(mesh, x=x) is mesh
    mesh["n"] = 100
    assert module.total(mesh) == 100
    mesh["n"] = 101
    with pytest.raises(spmdvm.OutOfBounds):
        module.total(mesh)
    meshes = np.zeros(3, mesh_type())
    arrays = [np.full(n, n, np.float32) for n in (1, 2, 3)]
    for record, array in zip(meshes, arrays):
        record["n"] = len(module.bind(record, x=array)["x"].tobytes()) and len(array)
    assert [module.total(mesh) for mesh in meshes] == [1, 4, 9]
    module.clear(meshes, 3)
    assert all((array == 0).all() for array in arrays)
    reference = weakref.ref(arrays[2])
    del arrays, array, record
    gc.collect()
    assert module.total(meshes[2]) == 0 and reference() is not None, "kept while the record lives"
    module.bind(meshes[2], x=None)
    with pytest.raises(spmdvm.SpmdError):
        module.total(meshes[2])
    gc.collect()
    assert reference() is None
    scene = np.zeros((), np.dtype([("mesh", mesh_type()), ("ids", np.uint64)]))
    module.bind(scene["mesh"], x=np.ones(4, np.float32))
    scene["mesh"]["n"] = 4
    module.bind(scene, ids=np.array([10], np.int32))
    gc.collect()
    assert module.scene_total(scene) == 14


def test_pointers_of_arrays() -> None:
    module = spmdvm.compile(MESH)
    x = np.ones(10, np.float32)
    pointer = module.bind(x)
    assert module.total({"x": pointer, "n": 10}) == 10
    assert module.total((pointer, 5)) == 5
    mesh = np.zeros(1, mesh_type())
    mesh["x"], mesh["n"] = int(pointer), 10
    x.flags.writeable = False
    assert module.total(mesh) == 10
    fixed = module.bind(x)
    with pytest.raises(spmdvm.ReadOnly):
        module.clear(np.array([(int(fixed), 10)], mesh_type()), 1)
    del pointer
    gc.collect()
    with pytest.raises(spmdvm.BadPointer):
        module.total(mesh)
    with pytest.raises(spmdvm.BadPointer):
        module.total({"x": x.ctypes.data % 2**40 * 2**24, "n": 1})


@pytest.mark.parametrize(
    ("target", "fields", "error", "message"),
    [
        ([1, 2], {}, TypeError, "bind() takes a numpy array, but was given"),
        (np.zeros((4, 4))[:, 1], {}, ValueError, "bind() takes C-contiguous arrays"),
        (np.array([None]), {}, TypeError, "holds Python objects"),
        (np.zeros(3), {"x": np.zeros(3)}, TypeError, "bind() sets fields of a record"),
        (np.zeros(3, mesh_type()), {"x": np.zeros(3)}, TypeError, "bind() sets fields of a record"),
        (np.zeros(1, mesh_type()), {"y": np.zeros(3)}, TypeError, "has no field `y`; its fields are x, n"),
        (np.zeros(1, mesh_type()), {"n": np.zeros(3)}, TypeError, "the field `n` is int64, no pointer (np.uint64)"),
        (np.zeros(1, mesh_type()), {"x": [1, 2]}, TypeError, "bind() takes a numpy array"),
    ],
)
def test_what_cannot_be_bound(target: Any, fields: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error) as caught:
        spmdvm.compile(MESH).bind(target, **fields)
    assert message in str(caught.value)
