"""Functions within kernels read the variables of the functions around them, as they are when they are called."""

# ruff: noqa: B007, B023, E731, F821, F823

import importlib
import inspect
import itertools
import math
import random

import numpy as np
import pytest
import spmdvm
from marks import marked

K = 1000


def as_python(function):
    """Test that the kernel of a function gives what Python gives."""
    numbers = np.arange(-3, 6)
    got = spmdvm.kernel(function)(numbers)
    want = [function(v) for v in numbers]
    for a, b in zip(got, zip(*want)) if isinstance(want[0], tuple) else [(got, want)]:
        assert a.tolist() == list(b)


def test_values_are_those_at_the_call():
    @as_python
    def late(x):
        n, s = 3, 0.5

        def f(v):
            return v * s + n

        before = f(x)
        s = 2.0
        n += x
        return before, f(x), f(n)


def test_a_variable_may_come_after_the_function():
    @as_python
    def after(x):
        def f(v):
            return v + n

        n = x * x
        return f(1)


def test_functions_call_others_that_read():
    @as_python
    def chain(x):
        def first(v):
            return second(v) + k

        def second(v):
            return third(v) * m

        third = lambda v: v - x
        k, m = 5, 7
        y = first(2)
        k = 11
        return y, first(3), second(k)


def test_a_name_belongs_to_the_function_around_that_has_it():
    @as_python
    def names(x):
        k, m = 1, 10

        def reads_k(v):
            return v + k

        def has_its_own(k):
            # Its `k` is not the one that `reads_k` has.
            return reads_k(k) * 100 + k

        def assigns_its_own(v):
            k = 7 + v
            m = 2
            return reads_k(k) + m

        def around(m):
            def within(v):
                return v * m + reads_k(v) + around_twice(m)

            return within(3)

        def around_twice(v):
            return v + m + K

        return has_its_own(x), assigns_its_own(x), around(x + 4), k, m


def test_functions_in_functions_read_all_around():
    @as_python
    def nest(x):
        a = x + 1

        def outer(b):
            c = b * a

            def inner(d):
                def innermost(e):
                    return a + 10 * b + 100 * c + 1000 * d + 10000 * e

                return innermost(d + 1) - innermost(d)

            return inner(5) + inner(c)

        return outer(2)


def test_recursion():
    @as_python
    def sums(x):
        step = 2

        def down(n):
            return 0 if n <= 0 else n * step + down(n - step)

        def even(n):
            return x == x if n == 0 else odd(n - 1)

        def odd(n):
            return x != x if n == 0 else even(n - 1)

        y = down(x)
        step = 1
        return y, down(x), int(even(abs(x)))

    @spmdvm.kernel
    def queens(n):
        def place(row, columns, up, down):
            if row == n:
                return 1
            count = 0
            for c in range(n):
                if not (columns >> c | up >> (row + c) | down >> (row - c + n)) & 1:
                    count += place(row + 1, columns | 1 << c, up | 1 << (row + c), down | 1 << (row - c + n))
            return count

        return place(0, 0, 0, 0)

    assert queens(np.arange(1, 7)).tolist() == [1, 0, 0, 2, 10, 4]


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.float16, np.float32, np.float64, np.bool_])
def test_types(dtype):
    @spmdvm.kernel
    def pick(x, y):
        def same():
            return y

        return same()

    y = np.array([1, 0, 1], dtype)
    got = pick(np.zeros(3, np.int32), y)
    assert got.dtype == y.dtype
    assert got.tolist() == y.tolist()


def test_types_follow_the_variable():
    @spmdvm.kernel
    def grows(x):
        total = 0

        def half():
            return total / 2

        for _ in range(3):
            total = half() + x
        return total

    assert grows(np.array([1, 2], np.float32)).dtype == np.float32
    assert grows(np.array([1, 2], np.float32)).tolist() == [1.75, 3.5]
    assert grows(np.array([1, 2])).dtype == np.float64


def test_tuples_and_counters():
    @as_python
    def tuples(x):
        p = (x, x + 1, 2.5)
        total = 0.0
        for k in range(4):

            def weigh(w):
                return p[0] * w + p[1] - p[2] * k

            total += weigh(k)
        for k in (1, 5):
            total += weigh(x)
            p = (x, 0, 0.5)
        return total


def test_arrays():
    @spmdvm.kernel
    def around(a, out, n):
        table = np.array([1.0, 10.0, 100.0])
        middle = a[1:-1]
        rows = out[0]

        def at(i):
            return a[i % len(a)] * table[i % 3] + middle[i % len(middle)]

        def put(i, value):
            rows[i] = value
            out[1, i] += value

        for i in spmdvm.foreach(len(a)):
            put(i, at(i + n))
        table[0] = 0
        put(0, at(0))

    a, out = np.arange(1.0, 8.0), np.zeros((2, 7))
    around(a, out, 2)
    want = [a[(i + 2) % 7] * (1, 10, 100)[(i + 2) % 3] + a[1:-1][(i + 2) % 5] for i in range(7)]
    last = a[1]
    assert out[0].tolist() == [last, *want[1:]]
    assert out[1].tolist() == [want[0] + last, *want[1:]]


def test_arrays_of_lanes():
    @spmdvm.kernel
    def medians(image, out):
        height, width = image.shape
        for i, j in spmdvm.foreach((1, height - 1), (1, width - 1)):
            v = np.zeros(9)

            def sink(k):
                key = v[k]
                k -= 1
                while k >= 0 and v[k] > key:
                    v[k + 1] = v[k]
                    k -= 1
                v[k + 1] = key

            for k in range(9):
                v[k] = image[i + k // 3 - 1, j + k % 3 - 1]
                sink(k)
            out[i, j] = v[4]

    image = np.random.default_rng(1).random((8, 40))
    out = np.zeros_like(image)
    medians(image, out)
    for i, j in itertools.product(range(1, 7), range(1, 39)):
        assert out[i, j] == np.median(image[i - 1 : i + 2, j - 1 : j + 2])


def test_records():
    particles = np.array([(1.5, 2), (3.5, 4)], np.dtype([("x", np.float64), ("n", np.int64)], align=True))

    @spmdvm.kernel
    def total(p):
        def of(i):
            return p[i].x * p[i].n

        return of(0) + of(1)

    assert total(particles) == 17


def test_an_array_keeps_what_python_would_assign_with_nonlocal():
    @spmdvm.kernel
    def counted(x):
        calls = np.zeros(1, np.int64)

        def fibonacci(n):
            calls[0] += 1
            return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

        return fibonacci(x), calls[0]

    values, calls = counted(np.arange(6))
    assert values.tolist() == [0, 1, 1, 2, 3, 5]
    assert calls.tolist() == [1, 1, 3, 5, 9, 15]


def test_arrays_within_functions_make_a_kernel_of_arrays():
    @spmdvm.kernel
    def first_and_last(a):
        def at(i):
            return a[i]

        return at(0) + at(len(a) - 1)

    assert not first_and_last.is_elementwise
    assert first_and_last(np.arange(5.0)) == 4

    @spmdvm.kernel
    def of_numbers(x):
        def second(x):
            return x[1]

        return second((x, 2)) + second((1, x))

    assert of_numbers.is_elementwise
    assert of_numbers(np.arange(3)).tolist() == [2, 3, 4]


def outside(v):
    def inner(w):
        return w + v

    return inner(2) * K


def test_functions_outside_and_lambdas():
    kernel = spmdvm.kernel(lambda x: outside(x) + outside(x + 1))
    assert kernel(np.arange(2)).tolist() == [5000, 7000]
    assert spmdvm.map(outside, np.arange(2)).tolist() == [2000, 3000]


def bisect(f, low, high):
    """Find where a function is 0."""
    while high - low > 1e-9:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return low


def compose(f, g):
    n = 7
    return applied(lambda v: f(g(v)) + n, 2)


def applied(f, x):
    n = 100
    return f(x) + n


def test_functions_are_passed_to_functions():
    @as_python
    def passes(x):
        n = 3

        def twice(f, v):
            return f(f(v))

        def more(v):
            return v + n * x

        def passes_another(v):
            # It finds the function where it is written itself.
            return twice(more, v) + applied(passes_none, v)

        def passes_none(v):
            return v * n

        before = twice(more, x)
        n = 5
        return (
            before,
            twice(more, x),
            twice(f=lambda v: twice(lambda u: u * n, v), v=x),
            twice(abs, -x),
            applied(outside, x) + applied(int, x * 0.5),
            compose(lambda v: v * x, lambda v: v + n),
            passes_another(x),
        )

    @spmdvm.kernel
    def roots(y):
        return bisect(lambda x: x * x - y, 0.0, y), bisect(math.cos, 1.0 + 0 * y, 2.0)

    numbers = np.linspace(1, 9, 20)
    np.testing.assert_allclose(roots(numbers), [np.sqrt(numbers), np.full(20, np.pi / 2)])


def test_functions_are_defaults():
    def kernel(x, y):
        def half(x):
            return x / 2

        def apply(x, f=half, g=abs):
            return f(x) + g(y)

        return apply(x), apply(x, lambda x: x * 3), apply(x, g=math.sqrt)

    found = spmdvm.kernel(kernel)(np.array([4.0, 9.0]), 16.0)
    for k, x in enumerate((4.0, 9.0)):
        assert tuple(part[k] for part in found) == kernel(x, 16.0)


def test_functions_that_are_passed_read_and_change_arrays():
    @spmdvm.kernel
    def smooth(a, out):
        def at_each(f, n):
            for i in spmdvm.foreach((1, n - 1)):
                f(i)

        def put(i):
            out[i] = fold(lambda s, k: s + a[i + k], -1, 2) / 3

        at_each(put, len(a))

    def fold(f, low, high):
        total = 0.0
        for k in range(low, high):
            total = f(total, k)
        return total

    a, out = np.arange(40.0) ** 2, np.zeros(40)
    smooth(a, out)
    np.testing.assert_allclose(out[1:-1], (a[:-2] + a[1:-1] + a[2:]) / 3)


@pytest.mark.parametrize("engine", ["interp", "auto"])
@pytest.mark.parametrize("width", [1, 4, 16])
def test_engines_and_widths(engine, width):
    @spmdvm.kernel(engine=engine, width=width)
    def root(y):
        def f(v):
            return v * v - y

        low, high = 0.0, y
        while high - low > 1e-9:
            middle = (low + high) / 2
            if f(low) * f(middle) <= 0:
                high = middle
            else:
                low = middle
        return low

    numbers = np.linspace(1, 100, 300)
    assert np.allclose(root(numbers), np.sqrt(numbers))


# What is wrong is told at its line.


def assigns_nonlocal(x):
    n = x

    def f(v):
        nonlocal n  # HERE `nonlocal` cannot stand in a kernel
        n += v
        return n

    return f(1)


def adds_to_its_own(x):
    n = x

    def f(v):
        n += v  # HERE `n` may have no value here
        return n

    return f(1)


def called_too_early(x):
    def f(v):
        return v + n

    y = f(x)  # HERE `f` reads `n`, which may have no value here
    n = 3
    return y + n


def called_by_another_too_early(x):
    def f(v):
        return v + n

    def g(v):
        return f(v)

    if x > 2:
        n = 3
    return g(x)  # HERE `g` reads `n`, which may have no value here


def unknown_name(x):
    def f(v):
        return v + unknown  # HERE there is no `unknown`

    return f(x)


def wrong_inside(x):
    n = x * 0.5

    def f(v):
        return v << n  # HERE floats have no `<<`

    return f(x)


def two_functions_of_a_name(x):
    if x > 0:

        def f(v):
            return v

    else:

        def f(v):  # HERE `f` is a function here and something else in another place
            return -v

    return f(x)


def function_and_number(x):
    f = 3
    f = lambda v: v + x  # HERE `f` is a function here and something else in another place
    return f(x)


def sum_that_is_read(array_a):
    total = 0.0

    def f(v):
        return v + total

    for i in spmdvm.foreach(len(array_a)):
        total += f(array_a[i])  # HERE `total` is summed up in this `foreach`


def stores_to_a_constant(x):
    def f(v):
        TABLE[0] = v  # HERE `TABLE` is an array from outside of the kernel
        return v

    return f(x)


def each_has_its_own(array_a):
    def f(v):
        return v + own

    for i in spmdvm.foreach(len(array_a)):
        own = array_a[i]
        array_a[i] = own
    array_a[0] = f(1)  # HERE `f` reads `own`, which may have no value here


TABLE = np.arange(3)
WRONG = [
    assigns_nonlocal,
    adds_to_its_own,
    called_too_early,
    called_by_another_too_early,
    unknown_name,
    wrong_inside,
    two_functions_of_a_name,
    function_and_number,
    sum_that_is_read,
    stores_to_a_constant,
    each_has_its_own,
]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    line, _, message = marked(function)
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.kernel(function)(np.arange(4.0) if "array_a" in inspect.signature(function).parameters else 3)
    assert message in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].line == line


def test_nonlocal_says_what_to_write():
    with pytest.raises(spmdvm.CompileError, match=r"return the new value, `n = f\(n\)`"):
        spmdvm.kernel(assigns_nonlocal)(1)


def test_integers_keep_what_is_known_of_them():
    @spmdvm.kernel
    def blur(a, out, bins):
        h, w = a.shape

        def at(di, dj):
            return a[i + di, j + dj]

        def put(value):
            out[i, j] += value
            bins[(i + j) % 3] += 1

        for i, j in spmdvm.foreach((1, h - 1), (1, w - 1)):
            total = 0.0
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    total += at(di, dj)
            put(total / 9)

    a, out, bins = np.random.default_rng(1).random((9, 40)), np.zeros((9, 40)), np.zeros(3, int)
    blur(a, out, bins)
    want = sum(a[1 + di : 8 + di, 1 + dj : 39 + dj] for di in (-1, 0, 1) for dj in (-1, 0, 1)) / 9
    np.testing.assert_allclose(out[1:-1, 1:-1], want)
    assert bins.sum() == 7 * 38
    # All indices are inside. Elements have places of their own in `out`, but not in `bins`.
    assert "? " not in blur.spmd_source
    assert blur.spmd_source.count("foreach_active") == 1

    def large(x):
        n = 2**31 - 1

        def product(k):
            return k * n + x

        return product(2**31 - 1) + product(-(2**31)) + product(n)

    assert spmdvm.kernel(large)(5) == large(5)


def test_lengths_of_parts_are_not_taken_for_others():
    @spmdvm.kernel
    def sums(a, b):
        def of(k):
            few = b[:2]
            return few[k]

        total = 0.0
        row = a[1:]
        for k in range(len(row)):
            total += row[k] + of(k)
        return total

    a, b = np.arange(3.0), np.arange(5.0)
    assert sums(a, b) == 4
    with pytest.raises(IndexError):
        sums(np.arange(4.0), b)


def test_functions_that_call_themselves_are_translated_once_more_only():
    @spmdvm.kernel
    def ways(n):
        def place(row, used):
            return 1 if row >= 6 else place(row + 1, used + row) + (place(row + 2, used) if used < 9 else 0)

        return place(0, 0) + n

    def count(row, used):
        return 1 if row >= 6 else count(row + 1, used + row) + (count(row + 2, used) if used < 9 else 0)

    assert ways(1) == count(0, 0) + 1
    assert ways.spmd_source.count("static int64 v_place_") + ways.spmd_source.count("static inline int64 v_place_") <= 4

    @spmdvm.kernel
    def many(x):
        def f(k):
            return x * k

        return (f(1) + f(2) + f(3) + f(4) + f(5) + f(6) + f(7) + f(8) + f(9) + f(10) + f(11) + f(12)) * (
            f(13) + f(14) + f(15) + f(16) + f(17) + f(18) + f(19) + f(20) + f(21) + f(22)
        )

    assert many(2) == 2 * sum(range(13)) * 2 * sum(range(13, 23))
    assert many.spmd_source.count("static inline int64 v_f_") <= 17


class RandomFunctions:
    """Writes functions with functions in them that read, hide and pass variables and functions around them."""

    def __init__(self, seed):
        self.random, self.names = random.Random(seed), 0

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def expression(self, names, functions, depth=0):
        draw = self.random.randrange(7 if depth < 3 else 3)
        inner = lambda: self.expression(names, functions, depth + 1)
        if draw < 2:
            return self.random.choice(names)
        if draw == 3 and functions:
            return f"{self.random.choice(functions)}({inner()})"
        if draw == 4:
            return f"({inner()} if {inner()} > {inner()} else {inner()})"
        if draw == 5:
            given = f"lambda e: e * {self.expression(names, [], 2)} + {self.expression(names, [], 2)}"
            return f"passed({self.random.choice([*functions, given])}, {inner()})"
        return (
            f"({inner()} {self.random.choice('+-*')} {inner()})" if draw == 6 else str(self.random.choice([0, 1, 0.5]))
        )

    def body(self, indent, names, functions, own, depth):
        lines, pad = [], "    " * indent
        names, functions, own = list(names), list(functions), list(own)
        for _ in range(self.random.randrange(2, 5)):
            draw, value = self.random.randrange(5), self.expression(names, functions)
            if draw == 0 and depth < 3:
                # Its parameter may have the name of a variable around it.
                function, given = self.name("f"), self.random.choice([*names, self.name("p")])
                lines.append(f"{pad}def {function}({given}):")
                lines += self.body(indent + 1, sorted({*names, given}), functions, [given], depth + 1)
                functions.append(function)
            elif draw == 1:
                names.append(self.name("v"))
                own.append(names[-1])
                lines.append(f"{pad}{names[-1]} = {value}")
            elif draw == 2:
                lines.append(f"{pad}for i in range(2):")
                lines.append(f"{pad}    {self.random.choice(own)} = {value} * i")
            else:
                lines.append(f"{pad}{self.random.choice(own)} = {value}")
        return [*lines, f"{pad}return {self.expression(names, functions)} * 1.0"]


@pytest.mark.parametrize("seed", range(4))
def test_random_functions_do_as_python(seed, tmp_path, monkeypatch):
    lines = ["def passed(f, w):", "    return f(w) + 0.25", ""]
    for k in range(25):
        writer = RandomFunctions(100 * seed + k)
        lines += [f"def kernel{k}(x, y):", *writer.body(1, ["x", "y"], [], ["x", "y"], 0), ""]
    (tmp_path / f"random_functions_{seed}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(f"random_functions_{seed}")
    x, y = np.array([-2.0, -0.5, 0.0, 1.0, 3.5]), np.array([1.0, -1.0, 2.0, 0.5, -3.0])
    for k in range(25):
        function = getattr(module, f"kernel{k}")
        got = spmdvm.kernel(function, fp="strict", width=(1, 4, 8)[k % 3])(x, y)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(got, [function(a, b) for a, b in zip(x, y)], rtol=1e-9, err_msg=f"kernel{k}")


hidden, elsewhere = np.ones(20_000), 9


def test_names_of_variables_are_never_those_from_outside():
    def by_element(out):
        for hidden, elsewhere in spmdvm.foreach(*out.shape):
            below, right = hidden + 1, elsewhere + 1
            out[hidden, elsewhere] = below * right

    out = np.zeros((3, 4))
    spmdvm.kernel(by_element)(out)
    assert out.tolist() == np.multiply.outer(np.arange(1, 4), np.arange(1, 5)).tolist()

    def index_behind(a):
        for elsewhere in spmdvm.foreach(len(a)):
            a[elsewhere] = 1
        return elsewhere

    def variable_behind(a):
        for i in spmdvm.foreach(len(a)):
            elsewhere = i
            a[i] = elsewhere
        return elsewhere

    def before(a):
        x = a[0] + elsewhere
        elsewhere = x
        return elsewhere

    for wrong in (index_behind, variable_behind, before):
        with pytest.raises(spmdvm.CompileError, match="`elsewhere`"):
            spmdvm.kernel(wrong)(np.zeros(4))

    def inner(a):
        def f(elsewhere):
            return elsewhere * 2

        return f(a[0]) + elsewhere

    assert spmdvm.kernel(inner)(np.ones(2)) == 11


def test_types_are_passed_to_functions():
    def spaced(start, stop, n, dtype=np.float64):
        out = np.empty(n, dtype)
        for k in range(n):
            out[k] = start + k * (stop - start) / (n - 1)
        return out

    def power(x, function=np.sqrt, of=np.float32):
        return function(x) + of(2)

    @spmdvm.kernel
    def several(n: int, x: float):
        return spaced(0, 1, n), spaced(0, 1, n, np.float32), spaced(0, 9, n, dtype=np.int64), power(x), power(x, np.exp)

    found, expected = several(4, 2.0), several.__wrapped__(4, 2.0)
    assert [x.dtype for x in found[:3]] == [np.float64, np.float32, np.int64]
    for x, y in zip(found, expected):
        np.testing.assert_allclose(x, y, rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "None; pass a number that stands for it"),
        (np.float32, "the type float32; write it"),
        (abs, "a function"),
        (np.array(3, object), "an array of object without dimensions; pass its numbers"),
    ],
)
def test_what_is_no_argument_is_told(value, told):
    for kernel in (spmdvm.kernel(lambda a, x: a[0] + x), spmdvm.kernel(lambda a, x: a + x)):
        with pytest.raises(TypeError, match=told):
            kernel(np.ones(2), value)
