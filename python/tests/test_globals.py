"""A program's globals from Python: views, setting, `extern` variables."""

import array
import ctypes
import gc
import pickle
import sys
import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest
import spmdvm

SOURCE = """
struct Point { float x; int8 tag; double w[2]; };
enum Color { RED, GREEN };
uniform int count = 3;
uniform float table[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };
float lanes;
int perLane[2];
uniform Point point;
uniform Point points[2];
uniform bool flag = true;
uniform Color color = GREEN;
const uniform double limits[2] = { -1, 1 };
static uniform int64 secret = 5;
uniform int8 *uniform text = "hi";
export void step() {
    static uniform int hidden = 0;
    ++hidden;
    ++count;
    table[1][2] = count;
    lanes = programIndex;
    perLane[1] = 10 * programIndex;
    point.x = 0.5f;
    point.w[1] = 7;
    points[1].tag = -3;
    ++secret;
}
export uniform float sum() {
    uniform float s = 0;
    for (uniform int i = 0; i < 2; ++i)
        for (uniform int j = 0; j < 3; ++j)
            s += table[i][j];
    return s;
}
"""

EXTERN = """
extern uniform float x[];
extern uniform float grid[][4];
extern uniform int n;
extern const uniform int weights[3];
export void scale() { foreach (i = 0 ... n) x[i] *= weights[i % 3]; }
export uniform float corner() { return grid[0][3]; }
export uniform int answer() { return 42; }
export uniform int get_n() { return n; }
"""


@pytest.fixture
def module():
    return spmdvm.compile(SOURCE, width=8)


@pytest.fixture
def external():
    return spmdvm.compile(EXTERN)


def test_it_is_a_mapping(module):
    names = ["count", "table", "lanes", "perLane", "point", "points", "flag", "color", "limits", "secret", "text"]
    assert isinstance(module.globals, Mapping)
    assert list(module.globals) == list(module.globals.keys()) == names
    assert len(module.globals) == len(names)
    assert "count" in module.globals and "hidden" not in module.globals and 3 not in module.globals
    assert dict(module.globals)["count"] == 3
    assert [v.dtype.name for v in module.globals.values()][:2] == ["int32", "float32"]
    assert dict(module.globals.items()).keys() == set(names)
    assert module.globals.get("nothing") is None and module.globals.get("nothing", 5) == 5
    text = repr(module.globals)
    assert "table: float32 (2, 3);" in text and "limits: float64 (2,), read-only" in text
    assert repr(spmdvm.compile("export void f() { }").globals) == "<spmdvm globals: none>"


def test_views_show_what_calls_write(module):
    count, table = module.globals["count"], module.globals["table"]
    assert count.shape == () and count.dtype == np.int32 and count == 3
    module.step()
    assert count == 4
    np.testing.assert_array_equal(table, np.array([[1, 2, 3], [4, 5, 4]], np.float32))
    assert table.dtype == np.float32 and table.flags.c_contiguous and not table.flags.owndata


def test_what_is_written_to_views_is_what_calls_read(module):
    table = module.globals["table"]
    table[...] = 1
    assert module.sum() == 6
    table[0, :] += 1
    assert module.sum() == 9


def test_varying_variables_have_an_axis_of_lanes(module):
    module.step()
    assert module.globals["lanes"].shape == (8,)
    np.testing.assert_array_equal(module.globals["lanes"], np.arange(8))
    assert module.globals["perLane"].shape == (2, 8)
    np.testing.assert_array_equal(module.globals["perLane"][1], 10 * np.arange(8))


def test_structs_have_structured_dtypes(module):
    module.step()
    point, points = module.globals["point"], module.globals["points"]
    assert point.shape == () and points.shape == (2,)
    assert point.dtype.names == ("x", "tag", "w") and point["w"].shape == (2,)
    assert point["x"] == 0.5 and list(point["w"]) == [0, 7] and points[1]["tag"] == -3
    module.globals["point"] = (2.0, 1, [3, 4])
    assert point["x"] == 2 and list(point["w"]) == [3, 4]
    module.globals["points"] = np.zeros(2, point.dtype)
    assert points[1]["tag"] == 0


def test_other_types(module):
    assert module.globals["flag"].dtype == bool and module.globals["flag"]
    assert module.globals["color"].dtype == np.uint32 and module.globals["color"] == 1
    assert module.globals["text"].dtype == np.uint64
    half = spmdvm.compile("uniform float16 h = 1.5; export void f() { h *= 2; }")
    half.f()
    assert half.globals["h"] == 3 and half.globals["h"].dtype == np.float16


def test_const_and_static_variables_are_read_only(module):
    for name, why in [("limits", "const"), ("secret", "static")]:
        view = module.globals[name]
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True
        with pytest.raises(ValueError, match=f"`{name}` is `{why}`: hosts only read it"):
            module.globals[name] = 1
    module.step()
    assert module.globals["secret"] == 6


def test_setting_converts_where_nothing_is_lost(module):
    module.globals["count"] = np.float64(7.0).astype(int)
    assert module.globals["count"] == 7
    module.globals["table"] = [[1, 2, 3], [4, 5, 6.5]]
    assert module.globals["table"][1, 2] == 6.5
    module.globals["table"] = 2  # broadcast
    assert module.sum() == 12
    module.globals["table"] = np.full((1, 1, 1, 3), 2)
    assert module.sum() == 12
    module.globals["point"] = [(1, 2, [3, 4])]
    assert module.globals["point"]["tag"] == 2
    module.globals["perLane"] = np.arange(8)
    np.testing.assert_array_equal(module.globals["perLane"], [np.arange(8)] * 2)
    module.globals.update(count=1, flag=False)
    assert module.globals["count"] == 1 and not module.globals["flag"]


@pytest.mark.parametrize(
    ("name", "value", "error", "text"),
    [
        ("count", 2.5, TypeError, r'globals\["count"\] expects an integer \(int32\), but was given the float 2.5'),
        ("count", 2**40, OverflowError, "does not fit int32"),
        ("count", "3", TypeError, "but was given a `str`"),
        ("perLane", np.zeros(8), TypeError, "expects int32, but was given an array of float64"),
        ("perLane", [2**31] * 8, OverflowError, "do not all fit int32"),
        ("table", np.zeros((2, 4)), ValueError, r'globals\["table"\] has the shape \(2, 3\), but .* shape \(2, 4\)'),
        ("table", np.zeros((2, 2, 3)), ValueError, r"has the shape \(2, 3\), but .* \(2, 2, 3\)"),
        ("lanes", np.arange(3), ValueError, r'globals\["lanes"\] has the shape \(8,\), but .* shape \(3,\)'),
        ("lanes", [1, 2, 3], ValueError, r'globals\["lanes"\] has the shape \(8,\), but .* shape \(3,\)'),
        ("table", [[1], [2, 3]], ValueError, r'globals\["table"\]: .*inhomogeneous'),
        ("table", "abc", TypeError, r"globals\[\"table\"\] expects float32, but was given the text 'abc'$"),
        ("table", ["a", "b", "c"], TypeError, r"expects float32, but the list holds text$"),
        ("table", [None] * 3, TypeError, r"expects float32, but the list holds what is no number"),
        ("perLane", [0.5] * 8, TypeError, r"expects int32, but the list holds floats$"),
        ("table", None, TypeError, r"expects float32, but was given None$"),
        ("table", {"a": 1}, TypeError, r"expects float32, but was given a `dict`$"),
        ("perLane", array.array("d", [1] * 8), TypeError, r"expects int32, but was given an `array` of float64$"),
        ("point", (1, 2), ValueError, r'globals\["point"\]: could not assign tuple'),
        ("point", "abc", ValueError, r'globals\["point"\]: could not convert'),
        ("point", np.zeros(2, [("x", "f4"), ("tag", "i1")]), TypeError, r"expects struct Point"),
        ("table", np.ma.masked_array([1, 2, 3], [0, 1, 0]), TypeError, "masked"),
        ("points", np.zeros(2), TypeError, "expects struct Point"),
        ("nothing", 1, KeyError, "the program has no global variable `nothing`"),
        ("tabel", 1, KeyError, "did you mean `table`"),
    ],
)
def test_values_that_do_not_fit(module, name, value, error, text):
    with pytest.raises(error, match=text):
        module.globals[name] = value


def test_only_extern_variables_are_withdrawn(module):
    with pytest.raises(ValueError, match="`count` has memory of its own"):
        del module.globals["count"]


def test_an_extern_array_is_shared(external):
    x, weights = np.arange(6, dtype=np.float32), np.array([1, 10, 100], np.int32)
    external.globals["x"] = x
    external.globals["n"] = 6
    external.globals["weights"] = weights
    external.scale()
    np.testing.assert_array_equal(x, [0, 10, 200, 3, 40, 500])
    assert external.globals["x"] is x
    x[:] = 1
    weights[:] = 2
    external.scale()
    np.testing.assert_array_equal(x, 2)


def test_what_cannot_be_shared_is_copied(external):
    external.globals["weights"] = [1, 1, 1]
    external.globals["n"] = np.int64(2)
    for value in ([1, 2], np.array([1.0, 2.0]), np.arange(1, 5, dtype=np.float32)[::2], np.array([1, 2], ">f4")):
        external.globals["x"] = value
        external.scale()
        assert external.globals["x"] is not value and external.globals["x"].dtype == np.float32
    fixed = np.ones(2, np.float32)
    fixed.flags.writeable = False
    external.globals["x"] = fixed
    assert external.globals["x"] is not fixed
    constant = np.array([5, 5, 5], np.int32)
    constant.flags.writeable = False
    external.globals["weights"] = constant
    assert external.globals["weights"] is constant, "the program only reads it"
    external.scale()
    np.testing.assert_array_equal(external.globals["x"], 5)


class Tensor:
    """What shows its memory by DLPack alone."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __dlpack__(self, **options):
        return self.numbers.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)


def test_memory_of_other_objects_is_shared(external):
    torch = sys.modules.get("torch")
    given = [
        array.array("f", [1, 2]),
        (ctypes.c_float * 2)(1, 2),
        memoryview(np.array([1, 2], np.float32)),
        memoryview(array.array("f", [1, 2])),
    ]
    if hasattr(np, "from_dlpack") and np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        # Before, numpy takes for read-only what comes by DLPack.
        given.append(Tensor(np.array([1, 2], np.float32)))
    if torch is not None:
        given.append(torch.tensor([1.0, 2.0]))
    external.globals.update(n=2, weights=[3, 3, 3])
    for x in given:
        external.globals["x"] = x
        external.scale()
        assert np.from_dlpack(x).tolist() == [3, 6] if isinstance(x, Tensor) else list(x) == [3, 6]
    # What is of another type, or read-only, is copied.
    for x in (array.array("d", [1, 2]), memoryview(np.array([1, 2], np.float32)).toreadonly()):
        external.globals["x"] = x
        external.scale()
        assert list(x) == [1, 2] and external.globals["x"].tolist() == [3, 6]
    numbers = array.array("f", [1, 2])
    external.globals["x"] = numbers
    with pytest.raises(BufferError):
        numbers.append(3)
    del external.globals["x"]
    numbers.append(3)
    external.globals["weights"] = weights = array.array("i", [1, 1, 1])
    weights[0] = 5
    assert external.globals["weights"].tolist() == [5, 1, 1]
    with pytest.raises(ValueError, match=r'globals\["weights"\] has the shape \(3,\), but was given .* shape \(2,\)'):
        external.globals["weights"] = array.array("i", [1, 2])


def test_memory_out_of_reach_is_told(external):
    class OfGpu(Tensor):
        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(TypeError, match=r'globals\["x"\] was given a `OfGpu` in the memory of a GPU'):
        external.globals["x"] = OfGpu(np.zeros(2, np.float32))


def test_only_calls_that_reach_an_extern_variable_need_it(external):
    assert external.answer() == 42
    with pytest.raises(spmdvm.UnboundExtern, match=r'without a value: `n` \(set module.globals\["n"\]') as caught:
        external.get_n()
    assert isinstance(caught.value, NameError) and caught.value.line == 9 and caught.value.kind == "unbound_extern"
    with pytest.raises(NameError, match="the extern variable `n` has no value"):
        external.globals["n"]
    assert "n: int32, extern, not set" in repr(external.globals)
    assert "n" in external.globals and external.globals.get("n") is None
    external.globals["n"] = 3
    assert external.get_n() == 3
    del external.globals["n"]
    with pytest.raises(spmdvm.UnboundExtern):
        external.get_n()


def test_shapes_of_extern_arrays(external):
    external.globals["grid"] = np.full((1, 4), 9, np.float32)
    assert external.corner() == 9
    with pytest.raises(ValueError, match=r"has the shape \(…, 4\), but was given an array of shape \(2, 3\)"):
        external.globals["grid"] = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match=r"has the shape \(3,\)"):
        external.globals["weights"] = [1, 2]
    external.globals["grid"] = np.zeros((0, 4), np.float32)
    with pytest.raises(IndexError):
        external.corner()


def test_accesses_of_extern_arrays_are_checked(external):
    external.globals.update(x=np.zeros(3, np.float32), n=4, weights=[1, 2, 3])
    with pytest.raises(spmdvm.OutOfBounds, match="index 3 of `x`, which has 3 elements"):
        external.scale()


@pytest.mark.parametrize("engine", ["interp", "ir", "clif", "auto"])
def test_all_engines_see_the_same(engine):
    module = spmdvm.compile(
        """
        extern uniform int data[];
        uniform int total = 0;
        export void add(uniform int n) {
            for (uniform int r = 0; r < 200; ++r) {
                int sum = 0;
                foreach (i = 0 ... n) sum += data[i];
                total += reduce_add(sum);
            }
        }
        """,
        engine=engine,
        jit={"hot": 3, "background": False},
    )
    for n in (100, 37):
        module.globals["data"] = np.arange(n, dtype=np.int32)
        module.globals["total"] = 0
        module.add(n)
        assert module.globals["total"] == 200 * sum(range(n))
    del module.globals["data"]
    with pytest.raises(spmdvm.UnboundExtern):
        module.add(10)


def test_a_view_outlives_its_module():
    module = spmdvm.compile("uniform int big[100000]; export void f() { big[99999] = 5; }")
    view = module.globals["big"]
    module.f()
    del module
    gc.collect()
    assert view[99999] == 5
    view[:] = 1
    assert view.sum() == 100000


def test_a_module_keeps_its_arrays():
    module = spmdvm.compile("extern uniform int a[]; export uniform int last(uniform int i) { return a[i]; }")
    module.globals["a"] = np.full(100000, 3, np.int32)
    gc.collect()
    assert module.last(99999) == 3
    old = module.globals["a"]
    module.globals["a"] = np.full(10, 4, np.int32)
    assert module.last(9) == 4 and old[5] == 3
    with pytest.raises(IndexError):
        module.last(99999)


def test_arrays_that_are_let_go_are_freed():
    class Array(np.ndarray):
        freed = False

        def __del__(self):
            Array.freed = True

    module = spmdvm.compile("extern uniform int a[]; export uniform int first() { return a[0]; }")
    module.globals["a"] = np.zeros(3, np.int32).view(Array)
    assert module.first() == 0
    gc.collect()
    assert not Array.freed
    del module.globals["a"]
    gc.collect()
    assert Array.freed


def test_a_shared_array_cannot_be_resized():
    module = spmdvm.compile("extern uniform int a[]; export void f() { a[0] = 1; }")
    a = np.zeros(10, np.int32)
    module.globals["a"] = a
    with pytest.raises(ValueError, match="resize"):
        a.resize(1000000, refcheck=False)
    module.f()
    assert a[0] == 1


def test_views_while_a_call_runs():
    module = spmdvm.compile(
        """
        uniform int go = 1;
        uniform int turns = 0;
        export void wait() { while (go != 0) ++turns; }
        """,
        timeout=60,
    )
    go, turns = module.globals["go"], module.globals["turns"]
    thread = threading.Thread(target=module.wait)
    thread.start()
    try:
        while turns == 0:
            time.sleep(0.001)
        assert module.globals["turns"] >= 0, "a view is had without waiting for the call"
    finally:
        go[...] = 0
        thread.join()
    assert turns > 0


def test_calls_at_once_and_new_arrays():
    module = spmdvm.compile("extern const uniform int a[]; export uniform int first() { return a[0] + a[99]; }")
    module.globals["a"] = np.zeros(100, np.int32)
    results, stop = set(), threading.Event()

    def call():
        while not stop.is_set():
            results.add(module.first())

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        module.globals["a"] = np.full(100, i, np.int32)
    stop.set()
    for thread in threads:
        thread.join()
    assert all(result % 2 == 0 for result in results)


def test_polymorphic_exports_share_extern_variables():
    module = spmdvm.compile(
        """
        extern const uniform int k;
        export void f(uniform number x[], uniform int n) { foreach (i = 0 ... n) x[i] *= k; }
        """
    )
    module.globals["k"] = 3
    for dtype in (np.float32, np.int16):
        x = np.ones(4, dtype)
        module.f(x, 4)
        np.testing.assert_array_equal(x, 3)


def test_tasks_see_globals():
    module = spmdvm.compile(
        """
        extern uniform int out[];
        uniform int base = 1;
        task void fill() { out[taskIndex] = base + taskIndex; }
        export void all(uniform int n) { launch[n] fill(); sync; }
        """
    )
    module.globals["out"] = out = np.zeros(50, np.int32)
    module.globals["base"] = 100
    module.all(50)
    np.testing.assert_array_equal(out, 100 + np.arange(50))


def test_pickling_leaves_state_behind(module):
    module.step()
    again = pickle.loads(pickle.dumps(module))
    assert again.globals["count"] == 3 and module.globals["count"] == 4
    assert again.globals["secret"] == 5


def test_extern_declarations_and_definitions_meet():
    module = spmdvm.compile(
        """
        extern uniform int a[];
        export uniform int f() { extern uniform int late; return a[2] + late; }
        uniform int a[3] = { 1, 2, 3 };
        extern uniform int a[3];
        export uniform int g() { extern uniform int late; return late; }
        """
    )
    assert module.globals["a"].shape == (3,)
    assert list(module.globals) == ["a", "late"]
    module.globals["late"] = 4
    assert module.f() == 7 and module.g() == 4


def test_a_limit_of_memory_counts_globals_but_not_what_is_supplied():
    source = "uniform int a[1000]; extern uniform int b[]; export void f() { b[0] = a[0]; }"
    module = spmdvm.compile(source, memory=5000)
    module.globals["b"] = np.ones(100000, np.int32)
    module.f()
    assert module.globals["b"][0] == 0
    with pytest.raises(spmdvm.OutOfMemory):
        spmdvm.compile(source, memory=1000).f()
