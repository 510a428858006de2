"""Functions of the host."""

from __future__ import annotations

import ctypes
import gc
import math
import pickle
import threading
import traceback
import weakref
from pathlib import Path

import numpy as np
import pytest
import spmdvm

ENGINES = pytest.mark.parametrize("engine", ["interp", "auto"])
EAGER = {"hot": 2, "background": False}


@ENGINES
@pytest.mark.parametrize("width", [1, 4, 16, 64])
def test_numbers_go_in_and_out(engine: str, width: int) -> None:
    types = {
        "int8": -5,
        "uint8": 250,
        "int16": -500,
        "uint16": 65000,
        "int32": -70000,
        "uint32": 4_000_000_000,
        "int64": -(2**40),
        "uint64": 2**64 - 1,
        "float": 0.25,
        "double": 0.1,
        "bool": True,
    }
    source = "".join(
        f'extern "C" uniform {ty} f_{ty}(uniform {ty} x, uniform int k);'
        f"export uniform {ty} go_{ty}(uniform {ty} x) {{ return f_{ty}(x, 3); }}\n"
        for ty in types
    )
    seen = []

    def echo(x, k):
        seen.append((x, k))
        return x

    host = {f"f_{ty}": echo for ty in types}
    module = spmdvm.compile(source, width=width, engine=engine, jit=EAGER, host=host)
    for ty, value in types.items():
        assert module[f"go_{ty}"](value) == value
        assert seen[-1] == (value, 3)
        assert type(seen[-1][0]) is type(value)


@ENGINES
def test_it_is_called_once_for_the_gang(engine: str) -> None:
    source = """
    extern "C" uniform float scale(uniform int gang);
    export void run(uniform float x[], uniform int n) {
        uniform int gang = 0;
        foreach (i = 0 ... n) { x[i] *= scale(gang); ++gang; }
    }"""
    calls = []

    def scale(gang: int) -> float:
        calls.append(gang)
        return gang + 1.0

    module = spmdvm.compile(source, engine=engine, jit=EAGER, width=8, host={"scale": scale})
    x = np.ones(40, dtype=np.float32)
    module.run(x, len(x))
    assert calls == [0, 1, 2, 3, 4]
    assert (x == np.repeat(np.arange(1, 6), 8)).all()


VARYING = """
extern "C" float sinc(float x);
extern "C" float scaled(float x, uniform float by, const uniform float table[]);
extern "C" uniform float total(double x);
extern "C" bool odd(int8 i, bool flip);
extern "C" void see(unsigned int64 x);
export float of(float x) { return x < 0 ? -1 : sinc(x); }
export void in_loop(uniform float a[], uniform int n, const uniform float table[]) {
    foreach (i = 0 ... n) {
        if (i % 3 == 0) continue;
        a[i] = scaled(a[i], 2, table + 1);
    }
}
export uniform float sum(const uniform float a[], uniform int n) {
    uniform float s = 0;
    foreach (i = 0 ... n) s += total(a[i]);
    return s;
}
export int odds(int x) { int r = 0; for (int k = 0; k < x; ++k) if (odd((int8)k, k > 3)) r += k; return r; }
export void large(uniform int n) { foreach (i = 0 ... n) if (i == 2) see((unsigned int64)i << 62); }
"""


@ENGINES
@pytest.mark.parametrize("width", [1, 4, 16, 64])
@pytest.mark.parametrize("for_each", [False, True])
def test_varying_parameters_are_arrays_of_active_lanes(engine: str, width: int, for_each: bool) -> None:
    seen = []

    def scaled(x, by, table):
        seen.append(x)
        return x * by * table[0]

    def odd(i, flip):
        return (i % 2 == 1) ^ flip

    host = {"sinc": lambda x: np.sinc(x), "scaled": scaled, "odd": odd, "see": seen.append}
    if for_each:
        host = {name: spmdvm.per_lane(function) for name, function in host.items()}
        assert host["odd"](3, False) is True and host["odd"].__wrapped__ is odd
    host["total"] = lambda x: x.sum()
    module = spmdvm.compile(VARYING, engine=engine, jit=EAGER, width=width, host=host)
    x = np.linspace(-2, 2, 101, dtype=np.float32)
    np.testing.assert_allclose(module.of(x), np.where(x < 0, np.float32(-1), np.sinc(x)), rtol=1e-6, atol=1e-7)
    a, table = np.arange(100, dtype=np.float32), np.array([5, 0.5], np.float32)
    module.in_loop(a, 100, table)
    assert a.tolist() == list(range(100))
    table[1] = 2
    module.in_loop(a, 100, table)
    assert a.tolist() == [i if i % 3 == 0 else 4 * i for i in range(100)]
    if for_each:
        assert all(type(x) is float for x in seen)
        assert seen[:3] == [1, 2, 4]
    else:
        assert all(x.dtype == np.float32 and x.ndim == 1 and 0 < len(x) <= width for x in seen)
        assert np.concatenate(seen)[:3].tolist() == [1, 2, 4]
    assert module.sum(np.ones(100, np.float32), 100) == 100
    expected = [sum(k for k in range(n) if (k % 2 == 1) ^ (k > 3)) for n in range(40)]
    assert module.odds(np.arange(40, dtype=np.int32)).tolist() == expected
    module.large(5)
    assert seen[-1] == 1 << 63


def test_varying_results_are_checked() -> None:
    source = """
    extern "C" float f(float x);
    extern "C" int8 g();
    export float of(float x) { return x > 1 ? f(x) : 0; }
    export int count(int x) { return x + g(); }"""

    def give(result, g=lambda: 0):
        return spmdvm.compile(source, width=8, host={"f": lambda x: result, "g": g})

    x = np.arange(5, dtype=np.float32)
    for fine, wanted in (
        (7, [7, 7, 7]),
        (np.float32(0.5), [0.5, 0.5, 0.5]),
        (np.array(2), [2, 2, 2]),
        ([1, 2, 3], [1, 2, 3]),
        (np.array([1.5, 2, 3]), [1.5, 2, 3]),
        (np.arange(3), [0, 1, 2]),
    ):
        assert give(fine).of(x).tolist() == [0, 0, *wanted]
    for wrong, error, message in (
        (
            np.zeros(5, np.float32),
            ValueError,
            r"the result of the host's `f` must be a number, or an array of shape \(3,\)",
        ),
        (np.zeros((3, 1)), ValueError, r"as 3 lanes are active; it has shape \(3, 1\)"),
        (None, TypeError, "the result of the host's `f` expects a number .*, but was given None"),
        ("abc", TypeError, "the result of the host's `f`"),
        ([1e300, 0, 0], OverflowError, "too large for float32"),
        (np.array([1j, 0, 0]), TypeError, "complex numbers"),
    ):
        with pytest.raises(error, match=message):
            give(wrong).of(x)
    assert give(0, spmdvm.per_lane(iter(range(100)).__next__)).count(np.zeros(20, np.int32)).tolist() == list(range(20))
    with pytest.raises(OverflowError, match="does not fit int8"):
        give(0, lambda: [300] * 8).count(np.zeros(8, np.int32))
    with pytest.raises(TypeError, match="expects integers"):
        give(0, lambda: np.full(8, 0.5)).count(np.zeros(8, np.int32))
    with pytest.raises(TypeError, match="per_lane: function must be a callable, not 3"):
        spmdvm.per_lane(3)
    assert repr(spmdvm.per_lane(len)) == "spmdvm.per_lane(<built-in function len>)"


@ENGINES
@pytest.mark.parametrize("for_each", [False, True])
def test_exceptions_of_functions_with_varying_parameters(engine: str, for_each: bool) -> None:
    source = """
    extern "C" int check(int x);
    uniform int done = 0;
    export void run(uniform int n) { foreach (i = 0 ... n) { check(i); ++done; } }"""
    error = Special("twenty")
    seen = []

    def check(x):
        seen.extend(np.atleast_1d(x).tolist())
        if 20 in seen:
            raise error
        return x

    host = {"check": spmdvm.per_lane(check) if for_each else check}
    module = spmdvm.compile(source, width=4, engine=engine, jit=EAGER, host=host)
    with pytest.raises(Special) as caught:
        module.run(40)
    assert caught.value is error and module.globals["done"] == 5
    assert seen == list(range(21 if for_each else 24))


MEMORY = """
struct Pair { int a; float b[2]; };
extern "C" uniform float see(uniform float x[]);
extern "C" void look(const uniform float x[]);
extern "C" void change(uniform Pair &pair, uniform Pair * uniform more);
extern "C" void raw(void * uniform p);
uniform float table[4];
uniform Pair pairs[2];
extern uniform float given[];
export uniform float of_array(uniform float x[], uniform int from) { return see(x + from); }
export void of_constant(const uniform float x[]) { look(x); }
export uniform float of_global() { return see(table); }
export uniform float of_given() { return see(given); }
export uniform float of_local() { uniform float x[4]; x[3] = 2; uniform float r = see(x); return r * 10 + x[0]; }
export uniform float of_heap() {
    uniform float * uniform x = uniform new uniform float[4];
    uniform float r = see(x) + x[0];
    delete x;
    return r;
}
export uniform float of_freed() {
    uniform float * uniform x = uniform new uniform float[4];
    delete x;
    return see(x);
}
export uniform float of_null() { return see(NULL); }
export uniform float of_struct() { uniform Pair p = { 1, { 2, 3 } }; change(p, pairs + 1); return p.a + p.b[1]; }
export void of_bytes(uniform float x[]) { raw(x); raw(NULL); }
"""


@ENGINES
def test_pointers_are_arrays(engine: str) -> None:
    seen = []

    def see(x):
        if x is None:
            return -1
        assert x.dtype == np.float32
        seen.append(x)
        x[0] = len(x)
        return x.sum()

    def look(x):
        seen.append(x)
        assert not x.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1

    def change(pair, more):
        assert pair.shape == () and pair.dtype.names == ("a", "b")
        assert (pair["a"], list(pair["b"])) == (1, [2, 3])
        pair["a"] = 10
        pair["b"][1] = 5
        assert more.shape == (1,)
        more[0] = (7, (8, 9))

    def raw(p):
        seen.append(p)

    host = {"see": see, "look": look, "change": change, "raw": raw}
    module = spmdvm.compile(MEMORY, engine=engine, jit=EAGER, host=host)
    x = np.ones(10, dtype=np.float32)
    assert module.of_array(x, 4) == 6 + 5
    assert x[4] == 6 and np.shares_memory(seen[-1], x)
    module.of_constant(x)
    assert np.shares_memory(seen[-1], x)
    assert module.of_global() == 4
    assert np.shares_memory(seen[-1], module.globals["table"]) and module.globals["table"][0] == 4
    module.globals["given"] = given = np.zeros(3, dtype=np.float32)
    assert module.of_given() == 3 and given[0] == 3
    assert module.of_local() == (4 + 2) * 10 + 4
    assert module.of_heap() == 8
    with pytest.raises(ValueError, match="pointer to memory that is not there"):
        module.of_freed()
    assert module.of_null() == -1
    assert module.of_struct() == 15
    assert module.globals["pairs"][1]["a"] == 7 and list(module.globals["pairs"][1]["b"]) == [8, 9]
    module.of_bytes(x)
    assert seen[-1] is None and seen[-2].dtype == np.uint8 and len(seen[-2]) == 40


def test_calls_over_arrays_show_their_arrays() -> None:
    source = """
    extern "C" void see(const uniform float table[]);
    export float look(float x, const uniform float table[]) { see(table); return table[0] * x; }"""
    seen = []
    module = spmdvm.compile(source, host={"see": seen.append})
    table = np.array([2, 3], dtype=np.float32)
    assert (module.look(np.ones(40, dtype=np.float32), table) == 2).all()
    assert len(seen) == 3 and all(np.shares_memory(array, table) and len(array) == 2 for array in seen)


def test_arrays_may_be_kept() -> None:
    """Views that outlive the call, the module and the memory of the program are still safe."""
    kept = []
    host = {"see": lambda x: kept.append(x) or 0, "look": kept.append, "change": lambda *_: None, "raw": kept.append}
    module = spmdvm.compile(MEMORY, host=host)
    x = np.arange(8, dtype=np.float32)
    module.of_array(x, 0)
    module.of_local()
    module.of_heap()
    module.of_global()
    x[7] = 70
    module.globals["table"][2] = 5
    reference = weakref.ref(module)
    del x, module
    gc.collect()
    assert reference() is None
    array, local, heap, table = kept
    assert list(array) == [0, 1, 2, 3, 4, 5, 6, 70]
    assert list(local) == [0, 0, 0, 2] and list(heap) == [0, 0, 0, 0]
    assert list(table) == [0, 0, 5, 0]
    for view in kept:
        view[0] = 1


class Special(Exception):
    pass


@ENGINES
@pytest.mark.parametrize("threads", [1, 4])
def test_exceptions_pass_through_unchanged(engine: str, threads: int) -> None:
    source = """
    extern "C" void check(uniform int i);
    uniform int done = 0;
    export void run(uniform int n) { for (uniform int i = 0; i < n; ++i) { check(i); ++done; } }
    task void part() { check(taskIndex); }
    export void tasks(uniform int n) { launch[n] part(); }
    export int each(uniform int n, int x) { check(n); return x; }
    """
    error = Special("five")

    def check(i: int) -> None:
        if i == 5:
            raise error

    module = spmdvm.compile(source, engine=engine, jit=EAGER, task_threads=threads, host={"check": check})
    module.run(5)
    assert module.globals["done"] == 5
    with pytest.raises(Special) as caught:
        module.run(8)
    assert caught.value is error
    assert "in check" in "".join(traceback.format_tb(error.__traceback__))
    assert module.globals["done"] == 10
    for run in (lambda: module.tasks(6), lambda: module.each(5, np.arange(40, dtype=np.int32))):
        with pytest.raises(Special) as caught:
            run()
        assert caught.value is error
    module.run(1)
    for wrong in (KeyboardInterrupt, SystemExit, spmdvm.OutOfBounds):
        module = spmdvm.compile(
            source, engine=engine, host={"check": lambda i, wrong=wrong: (_ for _ in ()).throw(wrong())}
        )
        with pytest.raises(wrong):
            module.run(1)


@ENGINES
def test_the_program_is_called_back(engine: str) -> None:
    source = """
    extern "C" uniform int back(uniform int n, uniform int a[]);
    uniform int depth = 0;
    export uniform int down(uniform int n, uniform int a[]) {
        ++depth;
        a[n] = depth;
        uniform int result = n == 0 ? 1 : back(n - 1, a) + n;
        --depth;
        return result;
    }
    export int twice(int x) { return 2 * x; }
    export void fail() { assert(false); }
    """
    holder = {}

    def back(n, a):
        assert list(holder["m"].twice(np.arange(3, dtype=np.int32))) == [0, 2, 4]
        if n == 7:
            holder["m"].fail()
        return holder["m"].down(n, a)

    module = holder["m"] = spmdvm.compile(source, engine=engine, jit=EAGER, host={"back": back})
    a = np.zeros(10, dtype=np.int32)
    assert module.down(4, a) == 1 + 1 + 2 + 3 + 4
    assert list(a[:5]) == [5, 4, 3, 2, 1]
    assert module.globals["depth"] == 0
    with pytest.raises(spmdvm.AssertionFailed):
        module.down(8, a)
    endless = spmdvm.compile(
        'extern "C" void again(); export void go() { again(); }', host={"again": lambda: holder["e"].go()}
    )
    holder["e"] = endless
    with pytest.raises((spmdvm.StackOverflow, RecursionError)):
        endless.go()


def test_threads_share_what_the_host_provides() -> None:
    source = """
    extern "C" uniform int next();
    export uniform int sum(uniform int n) {
        uniform int s = 0;
        for (uniform int i = 0; i < n; ++i) s += next();
        return s;
    }"""
    module = spmdvm.compile(source, host={"next": lambda: 1})
    results = []
    threads = [threading.Thread(target=lambda: results.append(module.sum(2000))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2000] * 4


def test_function_pointers_of_ctypes() -> None:
    libm = ctypes.CDLL("libm.so.6")
    libm.cbrt.restype, libm.cbrt.argtypes = ctypes.c_double, [ctypes.c_double]

    @ctypes.CFUNCTYPE(ctypes.c_float, ctypes.POINTER(ctypes.c_float), ctypes.c_int)
    def total(p, n):
        return sum(p[i] for i in range(n))

    source = """
    extern "C" uniform double cbrt(uniform double x);
    extern "C" uniform float total(const uniform float x[], uniform int n);
    export uniform double root(uniform double x) { return cbrt(x); }
    export uniform float all(const uniform float x[], uniform int n) { return total(x, n); }"""
    module = spmdvm.compile(source, host={"cbrt": libm.cbrt, "total": total})
    del total
    gc.collect()
    assert module.root(27) == libm.cbrt(27)
    each = 'extern "C" double cbrt(double x); export double roots(double x) { return x > 0 ? cbrt(x) : 0; }'
    for host in ({"cbrt": libm.cbrt}, {"cbrt": spmdvm.per_lane(libm.cbrt)}, "libm.so.6"):
        roots = spmdvm.compile(each, host=host).roots(np.arange(-5, 40.0))
        assert roots.tolist() == [0] * 6 + [libm.cbrt(float(x)) for x in range(1, 40)]
    assert module.all(np.array([1, 2, 3.5], dtype=np.float32), 3) == 6.5
    with pytest.raises(ValueError, match="the function pointer `cbrt` is null"):
        spmdvm.compile(source, host={"cbrt": ctypes.CFUNCTYPE(None)(0)})


def test_function_pointers_of_cffi() -> None:
    cffi = pytest.importorskip("cffi")
    ffi = cffi.FFI()
    ffi.cdef("double cbrt(double);")
    cbrt = ffi.addressof(ffi.dlopen("libm.so.6"), "cbrt")
    source = 'extern "C" uniform double cbrt(uniform double x);'
    source += "export uniform double root(uniform double x) { return cbrt(x); }"
    assert spmdvm.compile(source, host={"cbrt": cbrt}).root(8) == 2


def test_shared_libraries() -> None:
    source = """
    extern "C" uniform float hypotf(uniform float x, uniform float y);
    extern "C" uniform int twice(uniform int x);
    export uniform float f() { return hypotf(3, 4) + twice(1); }"""
    module = spmdvm.compile(source, host=["libm.so.6", {"twice": lambda x: 2 * x}])
    assert module.f() == 7
    assert spmdvm.compile(source, host=({"hypotf": lambda x, y: 1, "twice": int}, "libm.so.6")).f() == 2
    with pytest.raises(spmdvm.LinkError, match=r'`twice` is declared.*(.|\n)*host=\{"twice": function\}'):
        spmdvm.compile(source, host="libm.so.6").f()
    with pytest.raises(OSError, match=r"libnowhere\.so\.9"):
        spmdvm.compile(source, host="libnowhere.so.9")


def test_names_that_are_not_those_of_the_program_are_told() -> None:
    source = """
    extern "C" uniform int f(uniform int x);
    extern "C" uniform int twice(uniform int x);
    export uniform int go(uniform int x) { return f(x); }
    export uniform int both(uniform int x) { return f(x) + twice(x); }"""

    def said(name: str, **host: object) -> str:
        with pytest.raises(spmdvm.LinkError) as caught:
            spmdvm.compile(source, host=host)[name](1)
        assert caught.value.diagnostics[0].code == "E0233"
        return " ".join(str(caught.value).split())

    wanted = "the host provides `ff`, which is not called; did you mean `f`?"
    assert wanted in said("go", ff=int) and wanted in said("go", ff=int, twice=int)
    # Of several, the one that is alike.
    near = said("both", f=int, twise=int, g=int)
    assert "provides `twise`" in near and "did you mean `twice`?" in near and "`g`" not in near
    # One dictionary may serve several programs.
    for text in (said("go"), said("go", twice=int), said("go", sine=int, cosine=int)):
        assert "the host provides" not in text
    assert spmdvm.compile(source, host={"f": int, "twice": int, "sine": int}).both(1) == 2


def test_what_is_wrong_is_told() -> None:
    source = 'extern "C" uniform int f(uniform int x); export uniform int g(uniform int x) { return f(x); }'
    for wrong in (3, [3], {"f": 3}, {3: int}):
        with pytest.raises(TypeError, match="host"):
            spmdvm.compile(source, host=wrong)
    for function, error in ((lambda x: "a", TypeError), (lambda x: 2**40, OverflowError), (lambda: 1, TypeError)):
        with pytest.raises(error):
            spmdvm.compile(source, host={"f": function}).g(1)
    with pytest.raises(TypeError, match="the result of the host's `f`"):
        spmdvm.compile(source, host={"f": lambda x: None}).g(1)
    with pytest.raises(spmdvm.CompileError, match="E0303"):
        spmdvm.compile(
            'extern "C" void f(float * x); export void g(uniform float a[]) { f(a + programIndex); }', host={"f": print}
        )
    one_result = 'extern "C" uniform float f(float x); export uniform float g(float x) { return f(x); }'
    with pytest.raises(spmdvm.CompileError, match=r"E0303(.|\n)*called for each lane, and declared to give one result"):
        spmdvm.compile(one_result, host={"f": spmdvm.per_lane(abs)})
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(spmdvm.compile(source, host={"f": int}))
    assert spmdvm.compile(source, host=None).exports == ("g",)
    assert spmdvm.compile(source, host={"f": math.factorial}).g(5) == 120


def test_linked_programs_use_one_host(tmp_path: Path) -> None:
    header = 'extern "C" uniform int next(uniform int by);\n'
    main, other = tmp_path / "main.ispc", tmp_path / "other.ispc"
    (tmp_path / "host.isph").write_text(header)
    main.write_text('#include "host.isph"\nexport uniform int a() { return next(1); }\n')
    other.write_text('#include "host.isph"\nexport uniform int b() { return next(10); }\n')
    total = [0]

    def add(by: int) -> int:
        total[0] += by
        return total[0]

    module = spmdvm.compile_file(main, sources=[other], host={"next": add})
    assert [module.a(), module.b(), module.a()] == [1, 11, 12]
