"""Many threads at once: what they share (modules, kernels, caches) gives each of them what it would have had alone.

On a free-threaded interpreter they really run at once, on others they take turns at any bytecode.
"""

from __future__ import annotations

import collections
import gc
import pickle
import re
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import warnings

import numpy as np
import pytest
import spmdvm
from spmdvm import _cache, _combine
from spmdvm._kernel import _instances

THREADS = 8
# The first rounds are hot already: compiled code takes over while the threads run.
HOT = {"hot": 2, "background": True}


@pytest.fixture(autouse=True)
def _quick_turns():
    """Let threads that share a lock take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(work, n: int = THREADS) -> list:
    """Call `work(0)` to `work(n - 1)`, each on a thread of its own, all at once; give what they gave."""
    barrier, results, errors = threading.Barrier(n), [None] * n, []

    def run(k: int) -> None:
        try:
            barrier.wait()
            results[k] = work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"
    if errors:
        raise errors[0]
    return results


def run_alone(code: str) -> str:
    """Run Python code in another process; give what it prints."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs a free-threaded interpreter")
def test_the_interpreter_goes_on_without_its_lock():
    assert not sys._is_gil_enabled()
    # Which would warn, too.
    code = "import sys, spmdvm; spmdvm.kernel; spmdvm.reduce; print(sys._is_gil_enabled())"
    assert run_alone(code) == "False\n"


# Modules.

PLAIN = """
export float steps(float x, uniform int n) {
    float y = x;
    for (int i = 0; i < n; ++i)
        y = y * 0.5f + i;
    return y;
}
export uniform float total(const uniform float x[], uniform int n) {
    float sum = 0;
    foreach (i = 0 ... n) sum += x[i];
    return reduce_add(sum);
}
task void part(uniform float x[], uniform int n) {
    foreach (i = taskIndex * n ... (taskIndex + 1) * n) x[i] += taskIndex;
}
export void tasks(uniform float x[], uniform int n) { launch[4] part(x, n); }
export uniform int at(const uniform int x[], uniform int i) { return x[i]; }
export int over(int a, int b) { return a / b; }
"""


@pytest.mark.parametrize("engine", ["auto", "interp"])
def test_a_module_is_called_from_many_threads(engine):
    module = spmdvm.compile(PLAIN, engine=engine, jit=HOT)
    x = np.arange(1000, dtype=np.float32)
    steps = x.copy()
    for i in range(20):
        steps = steps * np.float32(0.5) + np.float32(i)

    def work(k: int) -> None:
        for _ in range(20):
            np.testing.assert_allclose(module.steps(x, 20), steps, rtol=1e-6)
            assert module.total(x + k, 1000) == pytest.approx(np.sum(x) + 1000 * k)
            mine = np.zeros(400, np.float32)
            module.tasks(mine, 100)
            assert mine.reshape(4, 100).tolist() == [[float(t)] * 100 for t in range(4)]

    together(work)


def test_threads_of_calls_and_of_python():
    module = spmdvm.compile(PLAIN, jit=HOT)
    x = np.arange(5000, dtype=np.float32)
    expected = module.steps(x, 5)

    def work(k: int) -> None:
        for threads in (1, 2, 3):
            out = np.empty_like(x)
            module.steps(x, 5, out=out, threads=threads)
            assert np.array_equal(out, expected)

    together(work)


def test_calls_of_a_module_with_globals_take_turns():
    module = spmdvm.compile("""
        uniform int calls = 0;
        uniform int of_thread[8];
        export uniform int call(uniform int k) { ++calls; ++of_thread[k]; return calls; }
    """)
    given = together(lambda k: [module.call(k) for _ in range(200)])
    # Each call saw a number of its own, and each thread its calls in order.
    assert sorted(n for of_one in given for n in of_one) == list(range(1, 200 * THREADS + 1))
    assert all(of_one == sorted(of_one) for of_one in given)
    assert module.globals["of_thread"].tolist() == [200] * 8


def test_globals_are_supplied_while_others_call():
    module = spmdvm.compile("""
        extern uniform int x[];
        export uniform int total() {
            uniform int sum = 0;
            for (uniform int i = 0; i < 64; ++i) sum += x[i];
            return sum;
        }
    """)
    module.globals["x"] = np.full(64, 1, np.int32)

    def work(k: int) -> None:
        for n in range(100):
            if k % 2:
                module.globals["x"] = np.full(64, n, np.int32)
                assert len(set(module.globals["x"].tolist())) == 1
            else:
                # One of the arrays, whole.
                assert module.total() in range(0, 64 * 100, 64)

    together(work)
    gc.collect()


def test_what_can_be_asked_of_a_module_while_it_runs():
    module = spmdvm.compile(PLAIN, jit=HOT, check=False)
    x = np.arange(3000, dtype=np.float32)

    def work(k: int) -> None:
        for _ in range(10):
            if k % 2:
                module.steps(x, 10)
                continue
            assert module.stats()["engine"] and "total" in module.exports
            assert isinstance(module.explain(), str) and module.disassemble() and repr(module.steps)
            assert module.report() == [] and str(module.over.__signature__)
            profile = module.profile("total", x, 3000)
            assert profile.result == pytest.approx(np.sum(x)) and len(profile) > 0
            assert len(module.timeline("tasks", x.copy(), 100)) == 4

    together(work)


def test_modules_and_functions_come_and_go():
    x = np.ones(100, np.float32)

    def work(k: int) -> None:
        for _ in range(5):
            total = spmdvm.compile(PLAIN).total
            gc.collect(0)
            assert total(x, 100) == 100

    together(work)


def test_functions_of_a_module_are_made_once():
    for _ in range(20):
        module = spmdvm.compile(PLAIN)
        first = together(lambda k, module=module: module.total)
        assert all(function is first[0] for function in first)


# Pointers.

POINTERS = """
struct Row { uniform float *uniform x; uniform int n; };
export uniform float total(const uniform Row rows[], uniform int at) {
    float sum = 0;
    foreach (i = 0 ... rows[at].n) sum += rows[at].x[i];
    return reduce_add(sum);
}
"""


def test_fields_of_one_array_are_bound_by_many_threads():
    module = spmdvm.compile(POINTERS)
    row = np.dtype([("x", np.uint64), ("n", np.int32)], align=True)
    for _ in range(20):
        rows = np.zeros(THREADS, row)

        def work(k: int, rows=rows) -> None:
            for n in (5, 50):
                # Nobody else keeps the array.
                module.bind(rows[k], x=np.full(n, k + 1, np.float32))
                rows[k]["n"] = n

        together(work)
        gc.collect()
        assert [module.total(rows, k) for k in range(THREADS)] == [50 * (k + 1) for k in range(THREADS)]


def test_addresses_are_given_and_taken_back():
    module = spmdvm.compile("export uniform int first(const uniform int *uniform x) { return x[0]; }")

    def work(k: int) -> None:
        for n in range(50):
            pointer = module.bind(np.array([100 * k + n], np.int32))
            assert module.first(pointer) == 100 * k + n

    together(work)


# Kernels.


def counted(monkeypatch: pytest.MonkeyPatch, owner) -> collections.Counter:
    """Count what is compiled, by its text."""
    real, counts = owner._compile, collections.Counter()

    def count(source, **options):
        counts[source[-1][1]] += 1
        return real(source, **options)

    monkeypatch.setattr(owner, "_compile", count)
    return counts


def test_the_first_call_of_a_kernel_is_made_by_all_at_once(monkeypatch):
    counts = counted(monkeypatch, _instances)
    dtypes = (np.float32, np.float64, np.int32, np.int64)
    for _ in range(5):
        counts.clear()

        @spmdvm.kernel
        def poly(x):
            return x * x + 3 * x

        def work(k: int, poly=poly) -> None:
            x = np.arange(50, dtype=dtypes[k % len(dtypes)])
            result = poly(x)
            assert result.dtype == x.dtype and np.array_equal(result, x * x + 3 * x)
            assert "x" in poly.spmd_source and isinstance(poly.explain(), str) and poly.stats()["engine"]

        together(work)
        assert sorted(counts.values()) == [1] * len(dtypes)


def test_array_kernels_at_once():
    @spmdvm.kernel
    def smooth(a, out):
        for i in spmdvm.foreach((1, len(a) - 1)):
            out[i] = (a[i - 1] + a[i] + a[i + 1]) / 3

    def work(k: int) -> None:
        a = np.arange(40.0) * k
        for _ in range(10):
            out = np.zeros(40)
            smooth(a, out)
            np.testing.assert_allclose(out[1:-1], a[1:-1])

    together(work)


def test_profiles_of_one_kernel_do_not_mix():
    @spmdvm.kernel
    def count(n):
        k = 0
        while n > 0:
            n -= 1
            k += 1
        return k

    def work(k: int) -> None:
        for _ in range(3):
            assert count.profile(10 * k).result == 10 * k
            assert count(k) == k

    together(work)


def test_expressions_are_compiled_once_for_all(monkeypatch):
    counts = counted(monkeypatch, _instances)
    for n in range(20):
        kernels = together(lambda k, n=n: spmdvm.vectorize(f"x * {n} + 1"))
        assert all(kernel is kernels[0] for kernel in kernels)
        values = together(lambda k, n=n: spmdvm.evaluate(f"x * {n} - y", {"x": k, "y": 1.0}))
        assert values == [k * n - 1.0 for k in range(THREADS)]
    assert set(counts.values()) == {1}


def test_packed_kernels_are_made_once():

    @spmdvm.kernel
    def shifted(x):
        return x + 12.5

    packed = pickle.dumps(shifted)

    for _ in range(10):
        _cache._remembered.clear()
        kernels = together(lambda k: pickle.loads(packed))
        assert all(kernel is kernels[0] for kernel in kernels)
        assert kernels[0](1.0) == 13.5


def test_warnings_of_others_stay_as_they_are():
    """Kernels that are compiled say nothing about their text; that does not change what Python shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", spmdvm.CompileWarning)
        before = list(warnings.filters)
        for _ in range(5):

            def work(k: int) -> None:
                kernel = spmdvm.kernel(_unused) if k % 2 else spmdvm.vectorize(f"x + {k} * 0")
                assert kernel(1.0) == 1.0 + (k % 2) * 0
                spmdvm.reduce("+", np.arange(10), fuel=1_000_000 + k)

            together(work)
            assert warnings.filters == before
            _cache._remembered.clear()


def _unused(x):
    y = x + 1
    y = x
    return y


# Combinators.


def test_the_first_call_of_a_combinator_is_made_by_all_at_once(monkeypatch):
    counts = counted(monkeypatch, _combine._program)
    x = np.arange(1000, dtype=np.float64)
    for _ in range(3):
        _cache._remembered.clear()
        counts.clear()

        def work(k: int) -> None:
            assert spmdvm.reduce("+", x) == np.sum(x)
            assert np.array_equal(spmdvm.scan("max", x), x)
            assert np.array_equal(spmdvm.filter(is_low, x), x[x < 500])
            bins = spmdvm.reduce_by_index(np.zeros(10), "+", np.arange(1000) % 10, x)
            assert np.array_equal(bins, np.bincount(np.arange(1000) % 10, x))

        together(work)
        assert set(counts.values()) == {1}


@spmdvm.kernel
def is_low(x):
    return x < 500


def test_what_cannot_be_made_is_not_remembered():
    def fails():
        raise ZeroDivisionError

    def work(k: int) -> None:
        with pytest.raises(ZeroDivisionError):
            _cache.remembered(("a test", 1), fails)

    together(work)
    assert _cache.remembered(("a test", 1), lambda: "made") == "made"
    assert _cache.remembered(("a test", 1), fails) == "made"
    assert not _cache._making


def test_what_is_being_made_may_be_asked_for_by_who_makes_it():
    """As handlers of signals and finalizers do."""

    def make() -> str:
        return _cache.remembered(("a test", 2), lambda: "within")

    assert _cache.remembered(("a test", 2), make) == "within"
    assert not _cache._making


# What programs tell.


class Written:
    """Stands in for `sys.stdout`."""

    def __init__(self) -> None:
        self.texts: collections.deque[str] = collections.deque()

    def write(self, text: str) -> int:
        self.texts.append(text)
        return len(text)

    def flush(self) -> None:
        pass


def test_prints_of_all_threads_arrive(monkeypatch):
    module = spmdvm.compile("""
        export void say(uniform int k, uniform int n) {
            for (uniform int i = 0; i < n; ++i) print("%:%\\n", k, i);
        }
    """)
    out = Written()
    monkeypatch.setattr(sys, "stdout", out)
    together(lambda k: module.say(k, 100))
    monkeypatch.undo()
    lines = "".join(out.texts).splitlines()
    assert sorted(lines) == sorted(f"{k}:{i}" for k in range(THREADS) for i in range(100))
    # Those of one call in order.
    assert [line for line in lines if line.startswith("3:")] == [f"3:{i}" for i in range(100)]


def test_each_call_tells_its_own_progress():
    module = spmdvm.compile(PLAIN, jit=HOT)

    def work(k: int) -> list:
        told: list = []
        n = 1000 * (k + 1)
        module.steps(np.ones(n, np.float32), 200, progress=lambda *state: told.append(state))
        assert told[-1] == (n, n)
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert {total for _, total in told} == {n}

    together(work)


def test_functions_of_the_host_are_called_from_all_threads():
    def plus(x: int, k: int) -> int:
        if x == 77:
            raise LookupError(k)
        return x + k

    module = spmdvm.compile(
        """
        extern "C" uniform int plus(uniform int x, uniform int k);
        extern "C" void fill(uniform int x[], uniform int k);
        task void one(uniform int out[], uniform int k) { out[taskIndex] = plus(taskIndex, k); }
        export void tasks(uniform int out[], uniform int k) { launch[6] one(out, k); }
        export uniform int call(uniform int x, uniform int k) { return plus(x, k); }
        export uniform int filled(uniform int k) {
            uniform int own[16];
            for (uniform int i = 0; i < 16; ++i) own[i] = 0;
            fill(own, k);
            uniform int sum = 0;
            for (uniform int i = 0; i < 16; ++i) sum += own[i];
            return sum;
        }
        """,
        host={"plus": plus, "fill": lambda x, k: x.fill(k)},
    )

    def work(k: int) -> None:
        for _ in range(10):
            out = np.zeros(6, np.int32)
            module.tasks(out, k)
            assert out.tolist() == [i + k for i in range(6)]
            assert module.filled(k) == 16 * k
            with pytest.raises(LookupError) as raised:
                module.call(77, k)
            assert raised.value.args == (k,)

    together(work)


# What goes wrong.


def test_each_thread_gets_its_own_errors():
    module = spmdvm.compile(PLAIN, jit=HOT)
    limited = spmdvm.compile("export void endless() { while (true) { } }", fuel=1000)
    hurried = spmdvm.compile("export void endless() { while (true) { } }", timeout=0.02)
    x = np.arange(10, dtype=np.int32)

    def work(k: int) -> None:
        for n in range(10):
            with pytest.raises(spmdvm.OutOfBounds) as out:
                module.at(x, 100 * k + 10 + n)
            assert (out.value.index, out.value.length) == (100 * k + 10 + n, 10)
            b = np.ones(50, np.int32)
            b[k + n] = 0
            with pytest.raises(spmdvm.DivisionByZero) as division:
                module.over(np.arange(50, dtype=np.int32), b)
            assert division.value.element == (k + n,)
            with pytest.raises(spmdvm.OutOfFuel):
                limited.endless()
            with pytest.raises(TypeError, match="unexpected keyword"):
                module.at(x, nonsense=k)
        with pytest.raises(spmdvm.OutOfTime):
            hurried.endless()

    together(work)


def test_compiling_at_once():
    def work(k: int) -> None:
        for n in range(5):
            module = spmdvm.compile(f"export int f(int x) {{ return x + {100 * k + n}; }}")
            assert module.f(1) == 100 * k + n + 1
            # The same text on all threads.
            parts = [f"export uniform int a() {{ return {n}; }}", "export uniform int b() { return 2; }"]
            assert spmdvm.compile(parts).a() == n
            lines = "\n" * k
            with pytest.raises(spmdvm.CompileError) as wrong:
                spmdvm.compile(f"{lines}export void f() {{ nonsense{k}; }}")
            assert wrong.value.diagnostics[0].line == k + 1 and f"nonsense{k}" in str(wrong.value)

    together(work)


def test_kernels_with_errors_at_once():
    @spmdvm.kernel
    def wrong(x):
        return x.nonsense

    def work(k: int) -> None:
        with pytest.raises(spmdvm.CompileError, match="nonsense"):
            wrong(np.arange(3.0))

    together(work)


def test_options_that_change_while_they_are_read():
    """As if by another thread: a dictionary that grows while it is gone through."""
    defines: dict = {}

    class Text:
        def __str__(self) -> str:
            for n in range(100):
                defines[f"M{len(defines)}_{n}"] = n
            return "7"

    defines.update(N=Text(), M=Text())
    assert spmdvm.compile("export uniform int f() { return N; }", defines=defines).f() == 7
    assert len(defines) > 2


# Processes of their own.


def test_names_are_first_asked_for_by_all_at_once():
    names = ["kernel", "reduce", "Profile", "evaluate", "scan", "Timeline", "foreach", "map"]
    out = run_alone(f"""
        import sys, threading
        sys.setswitchinterval(1e-5)
        import spmdvm
        names, found = {names!r}, []
        barrier = threading.Barrier(len(names))
        def work(k):
            barrier.wait()
            found.append(all(callable(getattr(spmdvm, name)) for name in names[k:] + names[:k]))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(names))]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(len(found), all(found), spmdvm.reduce("+", [1, 2, 3]))
    """)
    assert out == f"{len(names)} True 6\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_stops_the_programs_of_all_threads():
    out = run_alone("""
        import os, signal, threading, time
        import numpy as np, spmdvm
        plain = spmdvm.compile("export void endless(const uniform int x[]) { while (x[0] == 0) { } }")
        tasks = spmdvm.compile('''
            task void part(const uniform int x[]) { while (x[0] == 0) { } }
            export void endless(const uniform int x[]) { launch[2] part(x); }
        ''')
        x, ended = np.zeros(1, np.int32), []
        def work(module):
            try:
                module.endless(x)
            except KeyboardInterrupt as error:
                ended.append(type(error).__name__)
        threads = [threading.Thread(target=work, args=(module,)) for module in (plain, tasks) * 3]
        [thread.start() for thread in threads]
        time.sleep(0.3)
        try:
            os.kill(os.getpid(), signal.SIGINT)
            [thread.join() for thread in threads]
        except KeyboardInterrupt:
            [thread.join() for thread in threads]
        print(ended)
    """)
    assert out == f"{['Interrupted'] * 6}\n"


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs POSIX signals")
def test_a_handler_may_call_the_kernel_that_is_being_compiled(tmp_path):
    """It runs on the thread that compiles, and so does not wait for it."""
    file = tmp_path / "handler.py"
    file.write_text(
        textwrap.dedent("""
        import signal, spmdvm
        from spmdvm._kernel import _instances
        @spmdvm.kernel
        def twice(x):
            return 2 * x
        real, inner = _instances._compile, []
        def handler(*_):
            if not inner:
                inner.append(None)
                inner[0] = twice(4)
        def compile(*args, **options):
            signal.raise_signal(signal.SIGUSR1)
            return real(*args, **options)
        signal.signal(signal.SIGUSR1, handler)
        _instances._compile = compile
        print(twice(3), inner[0])
    """)
    )
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=600)
    assert re.fullmatch(r"6 8\s*", done.stdout), done.stderr
