"""Kernels in Python: they mean what the function means on numpy's numbers, element by element."""

import math
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import spmdvm

SIXTEEN = np.array([-7, -3, -1, 0, 1, 2, 5, 9], np.int32)


def values(dtype):
    """Give numbers of a type, the extremes among them."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        return np.array([-7.5, -2.0, -0.5, -0.0, 0.0, 0.25, 1.0, 3.0, 100.0, np.inf, -np.inf, np.nan], dtype)
    info = np.iinfo(dtype)
    few = [info.min, info.min + 1, -3, -1, 0, 1, 2, 7, 100, info.max - 1, info.max]
    return np.array([v for v in few if info.min <= v], dtype)


def pairs(a, b):
    """Give all pairs of two types' numbers."""
    x, y = np.meshgrid(values(a), values(b))
    return x.ravel(), y.ravel()


def expected(function, *arrays):
    """Call the Python function on numpy's numbers, one by one."""
    with np.errstate(all="ignore"):
        results = [function(*row) for row in zip(*arrays)]
    return np.array(results)


def agrees(kernel, *arrays, ulp=0):
    """Compare a kernel with its Python function: values, and the type if numpy's numbers go in."""
    with np.errstate(all="ignore"):
        want = expected(kernel.__wrapped__, *arrays)
    got = kernel(*arrays)
    assert got.dtype == want.dtype, (got.dtype, want.dtype)
    if got.dtype.kind == "f" and ulp:
        np.testing.assert_allclose(got, want, rtol=ulp * float(np.finfo(got.dtype).eps))
    else:
        np.testing.assert_array_equal(got, want)


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


def multiply(a, b):
    return a * b


def less(a, b):
    return a < b


def equal(a, b):
    return a == b


def lesser(a, b):
    return min(a, b)


def greatest(a, b):
    return max(a, b)


def numpys_lesser(a, b):
    return np.minimum(a, b)


def floor_divide(a, b):
    return a // b


def remainder(a, b):
    return a % b


def divide(a, b):
    return a / b


def bits_and(a, b):
    return a & b


def bits_or(a, b):
    return a | b


def bits_xor(a, b):
    return a ^ b


INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
# No integer type holds the values of both.
NO_MIX = {("int64", "uint64"), ("int8", "uint64"), ("int16", "uint64"), ("int32", "uint64")}


@pytest.mark.parametrize("function", [add, subtract, multiply, less, equal, numpys_lesser])
@pytest.mark.parametrize("b", ["int8", "int32", "int64", "uint16", "uint32", "float16", "float32", "float64"])
@pytest.mark.parametrize("a", ["int16", "int32", "uint8", "uint32", "float32", "float64"])
def test_operators_have_numpys_types_and_values(function, a, b):
    agrees(spmdvm.kernel(function, fp="strict"), *pairs(a, b))


@pytest.mark.parametrize("function", [floor_divide, remainder])
@pytest.mark.parametrize("ty", INTS)
def test_integer_division_rounds_down(function, ty):
    a, b = pairs(ty, ty)
    agrees(spmdvm.kernel(function), a[b != 0], b[b != 0])


@pytest.mark.parametrize("function", [floor_divide, remainder])
@pytest.mark.parametrize("ty", ["float32", "float64"])
def test_division_of_floats_rounds_down(function, ty):
    agrees(spmdvm.kernel(function, fp="strict"), *pairs(ty, ty))


@pytest.mark.parametrize("ty", [*INTS, *FLOATS])
def test_true_division_gives_floats(ty):
    a, b = pairs(ty, ty)
    if np.dtype(ty).itemsize > 1 and np.dtype(ty).kind in "iu":
        # numpy divides integers of 8 and 16 bits as float16 and float32; here all are divided as float64.
        got = spmdvm.kernel(divide)(a, b)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(got, a.astype(np.float64) / b.astype(np.float64))
    elif np.dtype(ty).kind == "f":
        agrees(spmdvm.kernel(divide), a, b)


@pytest.mark.parametrize("function", [bits_and, bits_or, bits_xor])
@pytest.mark.parametrize("ty", [*INTS, "bool"])
def test_bits(function, ty):
    agrees(spmdvm.kernel(function), *pairs(ty, ty))


def test_division_by_zero():
    @spmdvm.kernel
    def f(a, b):
        c = a + 1
        return c // b

    with pytest.raises(ZeroDivisionError) as caught:
        f(np.array([1, 2, 3]), np.array([1, 0, 1]))
    line = f.__wrapped__.__code__.co_firstlineno + 3
    assert caught.value.line == line and "return c // b" in str(caught.value)
    assert caught.value.file == __file__ and caught.value.element == (1,)
    assert caught.value.stack[0].function == "f"


def test_python_numbers_are_weak():
    @spmdvm.kernel
    def f(x):
        half = 0.5
        total = 0
        for k in range(4):
            total += k
        return half * x + total

    for ty in FLOATS:
        x = np.array([1, 2, 3], ty)
        np.testing.assert_array_equal(f(x), x * 0.5 + 6)
        assert f(x).dtype == ty
    assert f(np.array([1, 2], np.int32)).dtype == np.float64


def test_variables_grow_to_what_is_assigned():
    @spmdvm.kernel
    def f(n):
        x = 0
        for _ in range(3):
            x = x + 1
            if n > 1:
                x = x / 2
        return x

    np.testing.assert_array_equal(f(np.array([1, 2])), [3.0, 0.875])


def test_constants_that_do_not_fit_are_errors():
    @spmdvm.kernel
    def f(x):
        return x + 300

    assert f(np.array([1], np.int16))[0] == 301
    with pytest.raises(spmdvm.CompileError, match="300 is no `int8`"):
        f(np.array([1], np.int8))


def test_comparisons_with_constants_beyond_the_type():
    @spmdvm.kernel
    def f(x):
        return (x < 300) & (x > -5) & (x != 1000)

    assert f(np.array([0, 255], np.uint8)).tolist() == [True, True]


def test_chains_and_boolean_operators():
    @spmdvm.kernel
    def chain(a, b, c):
        return a < b + 1 <= c != 0

    @spmdvm.kernel
    def either(a, b):
        return a or b

    @spmdvm.kernel
    def both(a, b):
        return a and b

    @spmdvm.kernel
    def neither(a, b):
        return not a and not b

    a, b = pairs("int32", "int32")
    small = np.clip(a, -100, 100), np.clip(b, -100, 100)
    agrees(chain, *small, np.roll(small[0], 3))
    for kernel in (either, both):
        agrees(kernel, *small)
    np.testing.assert_array_equal(neither(*small), (small[0] == 0) & (small[1] == 0))

    # Only lanes that need it divide.
    @spmdvm.kernel
    def guarded(a, b):
        return b != 0 and a // b > 1

    assert guarded(np.array([4, 4]), np.array([0, 2])).tolist() == [False, True]


def test_powers():
    @spmdvm.kernel
    def square(x):
        return x**2

    @spmdvm.kernel
    def power(x, y):
        return x**y

    agrees(square, SIXTEEN)
    agrees(square, values("float32"))
    agrees(power, *pairs("int32", "uint8"))
    x = np.linspace(0.1, 4, 50)
    np.testing.assert_allclose(power(x, 1.5), x**1.5, rtol=1e-15)
    with pytest.raises(AssertionError):
        power(SIXTEEN, np.int32(-1))


def test_shifts():
    @spmdvm.kernel
    def left(x, n):
        return x << n

    @spmdvm.kernel
    def right(x, n):
        return x >> n

    @spmdvm.kernel
    def fixed(x):
        return (x << 3) ^ (x >> 2)

    for ty in INTS:
        bits = np.dtype(ty).itemsize * 8
        x, n = np.meshgrid(values(ty), np.array([0, 1, 5, bits - 1, bits, bits + 3], ty))
        agrees(left, x.ravel(), n.ravel())
        agrees(right, x.ravel(), n.ravel())
        agrees(fixed, values(ty))


@pytest.mark.parametrize(
    "name",
    [
        "sqrt",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "cbrt",
        "arcsin",
        "arccos",
        "arctan",
        "arcsinh",
        "arccosh",
        "arctanh",
    ],
)
def test_functions_of_numpy(name):
    function = getattr(np, name)
    x = np.linspace(0.05, 0.95, 40)
    if name == "arccosh":
        x = x + 1
    for ty, ulp in (("float32", 4), ("float64", 4)):
        got = spmdvm.vectorize(f"{name}(x)")(x.astype(ty))
        assert got.dtype == ty
        np.testing.assert_allclose(got, function(x.astype(ty)), rtol=ulp * np.finfo(ty).eps)
    assert spmdvm.vectorize(f"np.{name}(x)")(np.array([1])).dtype == np.float64


def test_rounding_and_parts():
    @spmdvm.kernel
    def to_int(x):
        return int(x) + math.floor(x) * 10 + math.ceil(x) * 100 + round(x) * 1000

    x = np.array([-2.5, -1.2, -0.5, 0.5, 1.5, 2.5, 3.7])
    assert to_int(x).tolist() == [int(v) + math.floor(v) * 10 + math.ceil(v) * 100 + round(v) * 1000 for v in x]
    assert to_int(x).dtype == np.int64
    for text in (
        "floor(x)",
        "ceil(x)",
        "trunc(x)",
        "rint(x)",
        "abs(x)",
        "sign(x)",
        "square(x)",
        "isnan(x)",
        "isfinite(x)",
    ):
        with np.errstate(all="ignore"):
            for ty in ("float32", "int16"):
                got = spmdvm.vectorize(text)(values(ty))
                np.testing.assert_array_equal(got, eval(text, vars(np), {"x": values(ty)}))
    a, b = pairs("float64", "float64")
    for text in (
        "minimum(a, b)",
        "maximum(a, b)",
        "clip(a, -1.0, b)",
        "where(a < b, a, 2.0)",
        "hypot(a, b)",
        "copysign(a, b)",
    ):
        got = spmdvm.evaluate(text)
        np.testing.assert_array_equal(got, eval(text, vars(np), {"a": a, "b": b}))


def test_conversions():
    @spmdvm.kernel
    def f(x):
        return np.uint8(x) + spmdvm.float32(0.5)

    np.testing.assert_array_equal(f(SIXTEEN), SIXTEEN.astype(np.uint8) + np.float32(0.5))
    assert f(SIXTEEN).dtype == np.float32
    assert spmdvm.kernel(lambda_like)(np.array([0.0, 2.0])).tolist() == [False, True]


def lambda_like(x):
    return bool(x)


def test_numbers_of_tuples_are_those_of_python_as_single_ones_are():
    @spmdvm.kernel
    def kinds(x, n):
        return x, n, x > 1, x * 1j

    @spmdvm.kernel
    def doubled(x):
        return x * 2

    @spmdvm.kernel
    def both(x):
        return x * 2, x > 1

    single = doubled(np.float32(1.5))
    assert (type(single), single) == (float, 3.0)
    for result in (kinds(2.0, 3), kinds(np.float32(2), np.int8(3)), kinds(np.array(2.0), 3)):
        assert (result, [type(v) for v in result]) == ((2.0, 3, True, 2j), [float, int, bool, complex])
    masked = both(np.ma.MaskedArray(np.uint8(4)))
    assert [v.dtype for v in masked] == [np.uint8, bool]
    assert [type(v) for v in both(np.uint8(4))] == [int, bool] == [type(v) for v in spmdvm.map(both, np.uint8(4))]
    assert [v.dtype for v in both(np.ones(2, np.uint8))] == [np.uint8, bool]


def test_results_are_tuples():
    @spmdvm.kernel
    def split(x):
        whole = math.floor(x)
        return whole, x - whole

    whole, part = split(np.array([[1.25, -1.25], [3.0, 0.5]]))
    assert whole.tolist() == [[1, -2], [3, 0]] and part.tolist() == [[0.25, 0.75], [0, 0.5]]
    assert whole.dtype == np.int64
    assert split(2.5) == (2, 0.5)


def test_functions_within_and_outside():
    def inner(a, b):
        return a * b + OFFSET

    @spmdvm.kernel
    def twice(x):
        return x + x

    @spmdvm.kernel
    def f(x, y):
        def both(p, q):
            return p - q, inner(p, q)

        d, s = both(x, y)
        return twice(d) + s

    x, y = np.arange(5.0), np.arange(5, 10)
    np.testing.assert_array_equal(f(x, y), 2 * (x - y) + x * y + OFFSET)


OFFSET = 3


def test_closures_give_constants():
    def make(k):
        @spmdvm.kernel
        def scaled(x):
            return k * x

        return scaled

    assert make(3)(np.array([2], np.int8)).tolist() == [6]
    assert make(2.5)(np.array([2], np.float32)).dtype == np.float32


def test_out_where_threads_and_broadcasting():
    @spmdvm.kernel
    def f(a, b):
        return a * 10 + b

    a, b = np.arange(4)[:, None], np.arange(3)
    np.testing.assert_array_equal(f(a, b, threads=2), a * 10 + b)
    out = np.full((4, 3), -1)
    f(a, b, out=out, where=b > 0)
    assert out[0].tolist() == [-1, 1, 2]
    assert f(1, 2) == 12
    assert f([1, 2], b=5).tolist() == [15, 25]


def test_annotations():
    @spmdvm.kernel
    def f(x: spmdvm.float32, n: spmdvm.uniform[spmdvm.int32]) -> np.float32:
        total = x
        for _ in range(n):
            total = total * x
        return total

    assert f.is_elementwise and "uniform int n" in f.spmd_source
    assert f(np.array([2.0], np.float32), 3).tolist() == [16]
    with pytest.raises(TypeError):
        f(np.array([2.0]), 3)


@spmdvm.kernel
def blur(image: spmdvm.array[spmdvm.float32, 2], out: spmdvm.array[spmdvm.float32, 2]):
    """Average each inner pixel with its neighbours."""
    height, width = image.shape
    for i, j in spmdvm.foreach((1, height - 1), (1, width - 1)):
        total = 0.0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                total += image[i + di, j + dj]
        out[i, j] = total / 9


def test_array_kernels():
    image = np.random.default_rng(1).random((7, 21)).astype(np.float32)
    out = np.zeros_like(image)
    blur(image, out)
    parts = [image[1 + di : 6 + di, 1 + dj : 20 + dj] for di in (-1, 0, 1) for dj in (-1, 0, 1)]
    np.testing.assert_allclose(out[1:-1, 1:-1], sum(parts) / 9, rtol=1e-6)
    # Indices that are known to be inside are not tested.
    assert "?" not in blur.spmd_source and "assert" not in blur.spmd_source
    with pytest.raises(ValueError, match="`out` takes an array of 2 dimensions"):
        blur(image, out.ravel())
    with pytest.raises(TypeError, match="`image` takes an array of float32, not of float64"):
        blur(image.astype(float), out)


def test_indices_out_of_bounds():
    @spmdvm.kernel
    def f(a, i, j):
        return a[i, j]

    a = np.arange(12.0).reshape(3, 4)
    assert f(a, 2, 3) == 11
    for i, j in [(0, 4), (0, -1), (-1, 3), (3, 0), (2**40, 0), (0, 2**33)]:
        with pytest.raises(IndexError) as caught:
            f(a, i, j)
        assert caught.value.line == f.__wrapped__.__code__.co_firstlineno + 2

    @spmdvm.kernel
    def last(a):
        return a[-1] + a[-2]

    assert last(np.array([1, 20, 300])) == 320
    with pytest.raises(IndexError):
        last(np.array([1]))


def test_sums_over_foreach():
    @spmdvm.kernel
    def stats(a):
        total, low, high = 0.0, np.float32(np.inf), np.float32(-np.inf)
        for i in spmdvm.foreach(len(a)):
            total += a[i]
            low = min(low, a[i])
            high = max(a[i], high)
        mean = total / len(a)
        var = 0.0
        for i in spmdvm.foreach(a.size):
            var -= (a[i] - mean) ** 2
        return mean, -var, low, high

    a = np.random.default_rng(2).random(1000).astype(np.float32)
    mean, var, low, high = stats(a)
    np.testing.assert_allclose(
        [mean, var, low, high], [a.mean(), ((a - a.mean()) ** 2).sum(), a.min(), a.max()], rtol=1e-5
    )


def test_records():
    particle = np.dtype([("x", np.float32), ("v", np.float32), ("n", np.int32)], align=True)

    @spmdvm.kernel
    def step(p, dt: spmdvm.float32):
        for i in spmdvm.foreach(len(p)):
            p[i].x += p[i]["v"] * dt
            p["n"][i] += 1

    p = np.zeros(10, particle)
    p["v"] = np.arange(10)
    step(p, 0.5)
    assert p["x"].tolist() == [k / 2 for k in range(10)] and p["n"].tolist() == [1] * 10


def test_python_loops_keep_their_meaning():
    @spmdvm.kernel
    def f(n):
        k = -1
        seen = 0
        for k in range(2, n, 3):
            seen = seen * 100 + k
            k = 1000
        return seen, k

    for n in (0, 3, 9):
        assert f(n) == f.__wrapped__(n)

    @spmdvm.kernel
    def down(n):
        total = 0
        for k in range(n, 0, -2):
            if k == 6:
                continue
            if k == 2:
                break
            total = total * 10 + k
        return total

    n = np.arange(10)
    agrees(down, n)


def test_conditions_of_loops_are_computed_in_each_turn():
    @spmdvm.kernel(timeout=60)
    def grow(x, y):
        n = 0
        while (x + y) ** 2 < 100 and 0 <= n + x * 0 < 50:
            x += 1
            n += 1
        return n

    agrees(grow, np.arange(-3.0, 15.0), np.ones(18))


def test_lanes():
    @spmdvm.kernel(width=8)
    def f(a, out):
        for i in spmdvm.foreach(len(a)):
            out[i] = spmdvm.reduce_add(a[i]) + spmdvm.width * 1000 + spmdvm.lane * 100

    a, out = np.arange(8), np.zeros(8, np.int64)
    f(a, out)
    assert out.tolist() == [28 + 8000 + 100 * k for k in range(8)]
    with pytest.raises(TypeError, match="for kernels"):
        spmdvm.reduce_add(3)


def test_print_and_assert(capfd):
    @spmdvm.kernel
    def f(a):
        print("sum of", len(a), f"is {a[0] + a[1]}, 100%")
        assert a[0] < 5, "too large"

    f(np.array([1, 2]))
    assert capfd.readouterr().out == "sum of 2 is 3, 100%\n"
    with pytest.raises(AssertionError) as caught:
        f(np.array([7, 2]))
    assert caught.value.line == f.__wrapped__.__code__.co_firstlineno + 3


def test_limits_and_options():
    @spmdvm.kernel(fuel=1000)
    def endless(x):
        while True:
            x = x + 1

    with pytest.raises(TimeoutError):
        endless(np.arange(3))


def test_kernels_are_pickled_by_name():
    again = pickle.loads(pickle.dumps(blur))
    assert again is blur


def test_threads_share_a_kernel():
    @spmdvm.kernel
    def f(x):
        return x * 2 + 1

    results = []
    threads = [
        threading.Thread(target=lambda ty=ty: results.append(f(np.arange(9, dtype=ty)).tolist()))
        for ty in (INTS + FLOATS) * 3
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[2 * k + 1 for k in range(9)]] * len(threads)


class Frame(dict):
    """As pandas' frames, it is neither true nor false."""

    def __bool__(self):
        raise ValueError("neither")


def test_errors_of_evaluate_begin_with_its_name():
    a = np.ones(3)
    for call, told in (
        (lambda: spmdvm.evaluate("o + 1", {"o": object()}), r"^evaluate\('o \+ 1'\): `o` has no type of kernels"),
        (lambda: spmdvm.evaluate("a + b", {"a": a, "b": np.ones(4)}), r"^evaluate\('a \+ b'\): the shapes "),
        (lambda: spmdvm.evaluate("a + 1", {"a": a}, out=np.ones(3, int)), r"^evaluate\('a \+ 1'\): `out` must be an "),
        (lambda: spmdvm.evaluate("a, -a", {"a": a}, out=a), r"^evaluate\('a, -a'\): `out` must be a tuple of 2"),
    ):
        with pytest.raises((TypeError, ValueError), match=told):
            call()


def test_evaluate_finds_names():
    a, b = np.arange(4.0), 2  # noqa: F841
    assert spmdvm.evaluate("a * b + pi - math.pi").tolist() == [0, 2, 4, 6]
    assert spmdvm.evaluate("a + c", {"c": 5}).tolist() == [5, 6, 7, 8]
    assert spmdvm.evaluate("a + c", Frame({"c": 5})).tolist() == [5, 6, 7, 8]
    out = np.zeros(4)
    assert spmdvm.evaluate("a if a > 1 else -a", out=out) is out
    assert out.tolist() == [0, -1, 2, 3]
    with pytest.raises(spmdvm.CompileError, match=r"write `spmdvm\.reduce"):
        spmdvm.evaluate("sum(a) + 1")
    with pytest.raises(NameError, match="`zz`"):
        spmdvm.evaluate("a + zz")
    assert [spmdvm.evaluate("c * k").tolist() for c, k in ((a, 1), (a, 2))] == [
        [0, 1, 2, 3],
        [0, 2, 4, 6],
    ]
    assert [spmdvm.evaluate("a + k").tolist()[0] for k in range(3)] == [0, 1, 2]
    with pytest.raises(NameError, match="is no variable here; is the function `sqrt` meant"):
        spmdvm.evaluate("a + sqr")
    with pytest.raises(TypeError, match=r"there is no variable in 'np\.pi \* 2': Python computes it"):
        spmdvm.evaluate("np.pi * 2")
    assert spmdvm.evaluate("a.real + np.pi - pi").tolist() == [0, 1, 2, 3]
    with pytest.raises(spmdvm.CompileError, match=r"something is missing at the end"):
        spmdvm.evaluate("a +")
    assert spmdvm.vectorize("y - x")(5, 3) == 2


def test_what_a_kernel_shows():
    assert repr(blur).startswith("<array kernel blur(")
    assert blur.__doc__.startswith("Average") and blur.__name__ == "blur"

    @spmdvm.kernel
    def f(x):
        return x + 1

    with pytest.raises(RuntimeError, match="has not been called"):
        _ = f.spmd_source
    f(np.arange(3))
    assert "export int64" in f.spmd_source and "entry__" in f.module.disassemble()


def test_arrays_with_more_elements_than_32_bits_count():
    @spmdvm.kernel
    def last(a, out):
        height, width = a.shape
        for i, j in spmdvm.foreach((49_999, height), width):
            out[j] = a[i, j]

    try:
        # The system gives pages that are written or read.
        a = np.zeros((50_000, 50_000), np.int8)
    except MemoryError:
        pytest.skip("no address space for 2.5 GB")
    a[-1] = 7
    out = np.zeros(50_000, np.int8)
    last(a, out)
    assert (out == 7).all()


def test_reports_are_in_lines_of_python():
    @spmdvm.kernel(engine="clif", jit={"background": False})
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    for _ in range(3):
        collatz(np.arange(1, 10_000))
    first = collatz.__wrapped__.__code__.co_firstlineno
    report = collatz.explain()
    assert f"test_kernel.py:{first + 3}: loop in `collatz`" in report
    assert "entry__" not in report and "<kernel" not in report
    line = collatz.explain(first + 4)
    assert line.startswith(f"line {first + 4}: n = n // 2 if n % 2 == 0 else 3 * n + 1\n  compiled in the loop at ")
    with pytest.raises(ValueError, match=r"line 1 has no code of collatz\(\)"):
        collatz.explain(1)
    loops = collatz.stats()["loops"]
    assert {loop["function"] for loop in loops} == {"collatz"}
    assert first + 3 in {loop["line"] for loop in loops}
    assert all(loop["file"].endswith("test_kernel.py") for loop in loops)
    # The stepper shows this text.
    source = collatz.spmd_source.splitlines()
    assert any("while (" in text and text.endswith(f"// test_kernel.py:{first + 3}") for text in source)
    assert any("v_steps = 0" in text and text.endswith(f"// test_kernel.py:{first + 2}") for text in source)


def test_the_examples_of_the_documentation(tmp_path):
    import re
    import runpy
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 17
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    runpy.run_path(str(program))


@pytest.mark.parametrize("what", [spmdvm.kernel, spmdvm.evaluate, spmdvm.vectorize, spmdvm.rng])
def test_examples_in_docstrings(what):
    import doctest

    test = doctest.DocTestParser().get_doctest(what.__doc__, {}, what.__name__, None, None)
    assert test.examples and doctest.DocTestRunner().run(test).failed == 0


def test_arrays_of_the_function():
    @spmdvm.kernel(fp="strict")
    def tree(price: spmdvm.float32, strike: spmdvm.float32):
        value = np.zeros(9, np.float32)
        for i in range(len(value)):
            value[i] = max(price * np.float32(1.1) ** i - strike, 0.0)
        for level in range(8, 0, -1):
            for i in range(level):
                value[i] = 0.5 * (value[i + 1] + value[i])
        return value[0]

    price = np.linspace(50, 150, 33, dtype=np.float32)
    want = expected(tree.__wrapped__, price, np.full_like(price, 100))
    np.testing.assert_allclose(tree(price, 100), want, rtol=1e-5)
    with pytest.raises(spmdvm.CompileError, match="known before it is called"):

        @spmdvm.kernel
        def made(x):
            n = 3
            n += 1
            a = np.zeros(n)
            return a[0] + x

        made(3)

    @spmdvm.kernel
    def beyond(n):
        a = np.ones(4, np.int32)
        return a[n]

    assert beyond(3) == 1
    for n in (4, -1):
        with pytest.raises(IndexError):
            beyond(n)


def test_the_examples_give_the_bits_of_the_spmd_programs(monkeypatch):
    import sys
    from pathlib import Path

    folder = Path(__file__).parents[2] / "examples"
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.syspath_prepend(str(folder / "python"))
    import kernels

    names = []
    for name, ours, theirs in kernels.cases(3000):
        np.testing.assert_array_equal(ours(), theirs(), err_msg=name)
        names.append(name)
    assert len(names) == 10
    darts = kernels.in_circle(np.arange(500, dtype=np.int32), 100)
    assert darts.dtype == np.int32 and 3.0 < 4 * darts.mean() / 100 < 3.3
    table = np.random.default_rng(1).normal(3, 2, (50, 7))
    found, order = kernels.standardised(table)
    np.testing.assert_allclose(found, (table - table.mean(axis=0)) / table.std(axis=0), rtol=1e-12)
    assert order.tolist() == np.argsort(table.mean(axis=0)).tolist()
    del sys.modules["kernels"]


def test_what_only_errors_and_views_need_is_not_imported(tmp_path):
    file = tmp_path / "first.py"
    file.write_text(
        "import sys, numpy, spmdvm\n"
        "before = set(sys.modules)\n"
        "assert spmdvm.kernel(lambda x: x + 1)(1) == 2\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    found = subprocess.run([sys.executable, file], capture_output=True, text=True, check=True).stdout.split()
    seeing = ("_html", "_profile", "_step", "_explain", "_combine")
    assert not {"difflib", "html", "shutil", *(f"spmdvm.{name}" for name in seeing)} & set(found)
