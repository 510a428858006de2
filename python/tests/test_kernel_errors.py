"""What is wrong with a kernel is told at its line, and what is wrong with a call by the name of the parameter."""

import decimal
import functools
import importlib
import inspect
import math
import re
import sys

import kernels_wrong
import numpy as np
import numpy.typing as npt
import pytest
import spmdvm
from marks import assert_told

WRONG = [f for _, f in sorted(vars(kernels_wrong).items()) if inspect.isfunction(f) and f.__module__ == "kernels_wrong"]


def argument(name):
    if name.startswith("array_"):
        return np.zeros(4)
    if name.startswith("record_"):
        return np.zeros(4, np.dtype([("x", np.float32), ("n", np.int32)], align=True))
    return np.arange(1, 4)


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    diagnostic = assert_told(lambda: spmdvm.kernel(function)(argument(function.__name__)), function)
    assert diagnostic.end_column > diagnostic.column >= 1


def test_there_are_enough():
    assert len(WRONG) >= 60


@pytest.mark.parametrize(
    ("function", "help"),
    [
        ("random_numbers", "`rng = spmdvm.rng(seed, i)`, and draw with `rng.random()`"),
        ("arrays_that_change_places", "are rows of one: `np.zeros((2, n))`"),
        ("array_changed_as_a_whole", "`a[:] = …`"),
        ("array_slice_named_twice", "are rows of one: `np.zeros((2, n))`"),
        ("array_of_a_length_that_changes", "are annotated, `n: spmdvm.uniform[spmdvm.int64]`"),
        ("array_of_a_length_in_a_foreach", "give the greatest length that some element needs, of numbers"),
        ("array_along_two_axes", "`np.sum(np.sum(a, axis=2), axis=0)`"),
        ("array_with_its_dimensions_kept", "leave `keepdims` out"),
        ("array_axis_in_a_foreach", "loop over the rows: `np.sum(a[i])`, or columns, `np.sum(a[:, j])`"),
        ("generator_as_a_number", "makes one of its own, of another stream: `spmdvm.rng(seed, i, 1)`"),
        ("generator_with_another_method", "`rng.normal() or normal(mean, deviation)`"),
        ("array_generator_of_the_code_around", "for each element: `rng = spmdvm.rng(seed, i)`"),
        ("method", "call `spmdvm.filter` outside of the kernel"),
        ("element_of_another_shape", "write `a[j, i]` or `a.T`, `a[k // w, k % w]`"),
        ("array_outside_that_is_large", "pass it as an argument"),
        ("unsupported_function", "write the loops over elements and weights"),
        ("shape_with_a_typo", "did you mean `x.shape`?"),
        ("float_that_becomes_an_integer", "`i` is a float elsewhere, and variables have one type"),
        ("float_parameter_that_becomes_an_integer", "give the integer a name, `whole = int(y / 2)`"),
        ("sum_of_rows", "or `np.sum(array_a[:, None], axis=0)`, the sum of its rows"),
        ("variable_of_a_foreach_behind_it", "each element of a `foreach` has its own `last`"),
        ("foreach_with_a_step", "with `i = 2 * k`"),
        ("array_stored_by_a_mask", "write `a[a > 2]`, or loop"),
        ("array_mask_in_a_foreach", "assign one element: `a[i] = …`"),
        ("array_mask_of_and", "write `np.logical_and`"),
        ("array_rolled_in_an_order", "they are a, shift, axis"),
        ("array_out_where", "choose: `np.where(a > 1, np.sqrt(a), …)`"),
        ("array_out_within_an_expression", "store the result: `a[:] = np.add(a, 1)`"),
        ("array_histogram_with_a_mask", "choose the elements, `a[a > 1]`"),
        ("array_histogram_with_weights_of_another_shape", "take them in a row, both: `a.ravel()`"),
        ("array_histogram_that_may_be_dense", "`counts / np.diff(edges) / np.sum(counts)`"),
        ("array_histogram_that_is_normed", "they are a, bins, range, density, weights"),
        ("array_histogram_without_a_range", "pass one, such as `(np.min(a), np.max(a))`"),
        ("array_norm_of_another_order_along_an_axis", "None, 1, 2, inf, -inf"),
        ("array_norm_of_matrices_along_an_axis", "None, 1, 2, inf, -inf"),
        ("array_norm_of_columns", "of matrices there are the orders None, 'fro', 1, -1, np.inf and -np.inf"),
        ("array_norm_of_a_vector_with_its_dimensions_kept", "leave `keepdims` out"),
        ("array_norm_along_an_axis_in_a_foreach", "loop over the rows: `np.linalg.norm(a[i])`"),
        ("array_covariance_of_columns", "turn the matrix, `np.cov(m.T)`"),
        ("array_covariance_with_weights", "write it out"),
        ("array_correlation_with_a_matrix", "loop over the rows"),
        ("array_distinct_along_an_axis", "rows are compared in loops"),
        ("array_parted", "write `np.sort(a)`"),
        ("list_that_is_changed", "make an array that is long enough, `out = np.empty(len(a))`"),
        ("array_swapped", "give the result a name of its own"),
        ("array_step_that_varies", "`for k in range(start, stop, step): a[k] = …`"),
        ("array_pairs_of_indices", "`for x in a.ravel()`"),
        ("function_as_a_number", "call it, or pass it to a function of Python that calls it"),
        ("function_passed_to_itself", "pass `n` as an argument"),
        ("array_root_of_a_tuple", "make an array of them, `np.array(t)`"),
        ("default_that_is_a_variable", "functions in a kernel read its variables themselves"),
        ("list_that_is_repeated", "a part of it can be returned: `out[:n]`"),
        ("keywords_of_numpy", "write `np.hypot(x, 3)`"),
        ("a_with_of_numpy", "floats give inf and nan without a warning"),
        ("misspelt", "did you mean `value`?"),
        ("misspelt_function", "did you mean `np.sqrt`?"),
        ("misspelt_global", "did you mean `TABLE`?"),
        ("sum_of_lanes", "did you mean `spmdvm.reduce_add`?"),
        ("unknown", None),
        ("element_of_a_dict", "a name before the kernel, `value = WORDS[…]`"),
        ("element_of_a_dict_by_number", "a name before the kernel, `value = WORDS[…]`"),
        ("function_of_some", "`np.where(x > 0, np.sqrt(x), …)`"),
        ("starred_names", "give each value a name"),
        ("array_starred_names", "give each value a name"),
        ("array_place_in_two_dimensions", "of all elements: `np.argmax(a.ravel())`"),
        ("array_break", "a loop over `range` goes in order, and can be left"),
        ("array_return", "keep what is found, `first = min(first, i)`"),
        ("matrix_product", "write `*`; or annotate what is an array"),
        ("assertion_about_an_array", "tell a part of it: `{b[0]}`, `{b.shape}`"),
        ("nothing_as_a_value", "use a number that stands for it"),
        ("none_that_is_added", "ask before, `if w is not None:`; or give it a value, `if w is None: w = …`"),
        ("none_that_is_compared", "write `w is None`"),
        ("none_until_there_is_one", "such as -1 or `np.nan`"),
        ("none_for_a_function", "ask before: `if y is not None:`, or `assert y is not None`"),
        ("text_that_is_added", "compare it, `if mode == 'full':`"),
        ("fancy_print", "write one like `{np.sqrt(x):8.3f}`"),
        ("fancy_print_in_the_middle", "write one like `{x:5d}`"),
        ("fancy_print_of_a_bool", "`{int(x > 1):d}`"),
        ("fancy_print_of_what_may_be_negative", "`{np.uint64(np.int32(x)):04x}`"),
        ("fancy_print_as_source", "leave it out: `{x}`"),
    ],
)
def test_errors_say_what_to_write(function, help):
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.kernel(getattr(kernels_wrong, function))(argument(function))
    found = caught.value.diagnostics[0].help
    assert found is None if help is None else help in found


@pytest.mark.parametrize(
    ("function", "note"),
    [
        ("array_place_in_two_dimensions", "this has 2 dimensions"),
        ("array_sums_in_two_dimensions", "this has 2 dimensions"),
        ("array_as_a_condition", "this is an array"),
        ("matrix_product", "of `int64` and `int64`"),
    ],
)
def test_errors_say_what_is_at_their_place(function, note):
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.kernel(getattr(kernels_wrong, function))(argument(function))
    assert caught.value.diagnostics[0].labels[0].text == note


def test_misspelt_names_are_told_what_is_near():
    x = np.arange(3)
    for call, help in (
        (lambda: spmdvm.kernel(lambda x: secnd(x, 1))(x), "did you mean `second`?"),  # noqa: F821
        (lambda: spmdvm.map(lambda x: secnd(x, 1), x), "did you mean `second`?"),  # noqa: F821
        (lambda: spmdvm.evaluate("sqroot(x)", {"x": x}), "did you mean `sqrt`?"),
        (lambda: spmdvm.map("np.sqroot(x)", x), "did you mean `np.sqrt`?"),
    ):
        with pytest.raises(spmdvm.CompileError, match="there is no `") as caught:
            call()
        assert caught.value.diagnostics[0].help == help


def test_an_error_is_drawn_in_the_source():
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.kernel(kernels_wrong.a_lambda)(1)
    lines = str(caught.value).splitlines()
    assert lines[0] == "error[K0002]: `lambda` cannot stand in a kernel"
    assert lines[3].endswith("│     f, g = lambda v: v, 1  # HERE `lambda` cannot stand")
    assert lines[5].endswith("╰── not supported")
    assert lines[-1] == "  help: give it a name, in a statement of its own (`f = lambda …`), or write it with `def`"
    # The marks stand below the place.
    start = lines[3].index("lambda")
    assert lines[4].index("─") == start


def test_what_is_no_kernel():
    with pytest.raises(TypeError, match="takes a function, not int"):
        spmdvm.kernel(3)
    scope = {}
    exec("def f(x): return x", scope)
    with pytest.raises(spmdvm.CompileError, match="text of `f` cannot be read"):
        spmdvm.kernel(scope["f"])
    with pytest.raises(spmdvm.CompileError, match=r"a kernel has no `\*\*` parameters") as caught:
        spmdvm.kernel(lambda **x: 1)
    assert caught.value.diagnostics[0].help == "name each parameter"

    def one(x):
        return x

    for given, message in (
        (staticmethod(one), "not a staticmethod; write @staticmethod above @spmdvm.kernel"),
        (classmethod(one), "not a classmethod; a kernel has no `cls`"),
        (spmdvm.kernel(one), "not the kernel `one`; decorate its function once"),
        (np.sin, "not `sin`, which kernels call as it is; to call it on arrays, spmdvm.map(sin, x)"),
        (math.gcd, "not `gcd`, which kernels call as it is"),
        (functools.partial(one, 1), "not a partial; write what it calls"),
        (pytest.raises(ValueError).__enter__, "not a method; a kernel has no `self`"),
        (np.linalg, "not module; write one with `def` or `lambda`"),
    ):
        with pytest.raises(TypeError, match=re.escape(message)):
            spmdvm.kernel(given)
    with pytest.raises(spmdvm.CompileError, match="`x` has no type of kernels"):

        @spmdvm.kernel
        def typed(x: bytes):
            return x


def test_wrong_calls():
    @spmdvm.kernel
    def f(x, y):
        return x + y

    for args, message in [
        ((1,), r"^f\(\): missing a required argument: 'y': f\(x, y\)$"),
        ((1, 2, 3), r"^f\(\): too many positional arguments: f\(x, y\)$"),
        ((np.zeros(2, ">f4"), 1), r"`x` has no type of kernels: .*>f4, .*; convert it, with astype\('float32'\)"),
        (("a", 2), "`x` has no type of kernels: 'a'"),
        ((None, 2), "`x` has no type of kernels: None; pass a number"),
        ((np.array([1j], ">c16"), 2), "`x` has no type of kernels: an array of >c16, whose bytes are in the other"),
        ((np.array(["a"]), 2), "`x` has no type of kernels"),
    ]:
        with pytest.raises(TypeError, match=message):
            f(*args)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'z'"):
        f(1, 2, z=3)
    with pytest.raises(ValueError, match="broadcast"):
        f(np.arange(3), np.arange(4))

    @spmdvm.kernel
    def g(a, n):
        a[0] = n

    for args, message in [
        (([1, 2], 1), "`a` is written by the kernel, which cannot write to a `list`; make an array"),
        (("text", 1), "`a` takes an array, not 'text', a text"),
        ((np.array(1.0), 1), "`a` has no type of kernels"),
        ((np.zeros(3), np.array([None])), "`n` has no type"),
        ((np.zeros((3, 4))[:, 1], 1), "contiguous"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            g(*args)
    with pytest.raises(TypeError, match=r"array kernel, .* takes no `out=`"):
        g(np.zeros(3), 1, out=np.zeros(3))
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match=r"read-only|writable"):
        g(frozen, 1)

    class Holder:
        method = f

    with pytest.raises(TypeError, match="cannot be a method"):
        Holder().method(1, 2)


@spmdvm.kernel
def element_of_a_matrix(m, i, j):
    return m[i, j]


@spmdvm.kernel
def element_of_each_row(m, out, k):
    for i in spmdvm.foreach(len(out)):
        out[i] = m[i + k, 0]


@spmdvm.kernel
def element(a, i):
    return a[i]


@spmdvm.kernel
def element_of_a_part(a, i):
    middle = a[1:4]
    return middle[i]


@spmdvm.kernel
def element_by_another(m, i):
    return second(m, i)


def second(of, i):
    return of[i, 1]


M = np.zeros((3, 4))


@pytest.mark.parametrize(
    ("kernel", "arguments", "message", "index"),
    [
        (element_of_a_matrix, (M, 0, 4), "read outside of `m`, whose shape is (3, 4) in `element_of_a_matrix`", None),
        (element_of_a_matrix, (M, 3, 0), "read outside of `m`, whose shape is (3, 4) in", None),
        (element_of_a_matrix, (M, -1, 0), "read outside of `m`, whose shape is (3, 4) in", None),
        (
            element_of_each_row,
            (M, np.zeros(3), 1),
            "read outside of `m`, whose shape is (3, 4) (lane 2) in",
            None,
        ),
        (element, (M[0], 4), "read of index 4 of `a`, which has 4 elements in `element`", 4),
        (element, (M[0], -1), "read of index -1 of `a`, which has 4 elements in `element`", -1),
        (element_of_a_part, (np.zeros(6), 3), "read outside of a part of `a` in `element_of_a_part`", None),
        (element_of_a_part, (np.zeros(6), -1), "read outside of a part of `a` in `element_of_a_part`", None),
        (element_by_another, (M, 5), "read outside of `m`, whose shape is (3, 4) in `second`", None),
    ],
)
def test_elements_outside_are_told_as_in_python(kernel, arguments, message, index):
    with pytest.raises(IndexError) as caught:
        kernel(*arguments)
    text = str(caught.value)
    assert message in text.splitlines()[0], text
    assert caught.value.index == index
    help = "help: indices count from the end only where they are constants; write `len(a) - …`"
    assert (help in text) == (index == -1)


def test_assertions_are_told_as_in_python():
    @spmdvm.kernel
    def checked(x, limit):
        assert 0 <= x < limit, "x is a place"
        assert x != 1, limit
        return x

    for x, told in ((-1, "0 <= x < limit (x is a place)"), (1, "x != 1 (3)")):
        with pytest.raises(AssertionError) as caught:
            checked(np.array([0, x]), 3)
        head = f"[assertion] Trap: assertion failed: {told} (lane 1) in `checked`"
        assert str(caught.value).splitlines()[0] == head


LIMIT = 7


def test_texts_of_assertions_have_numbers():
    @spmdvm.kernel
    def one(x, y: spmdvm.uniform[spmdvm.float32]):
        assert x > 0, f"x is {x}, twice {2 * x:5.1f}; {y!r} of {LIMIT}"
        return x

    @spmdvm.kernel
    def two(x, y):
        assert x > 0, f"x is {x}, twice {2 * x:5.1f}; {y!r} of {LIMIT}"
        return x, y

    @spmdvm.kernel
    def arrays(a, x, y):
        assert x > 0, f"x is {x}, twice {2 * x:5.1f}; {y!r} of {LIMIT}"
        a[0] = y

    x = np.arange(5, -5, -1)
    for call, told in (
        (lambda: one(x, 2), "x is 0, twice   0.0; 2.0 of 7"),
        (lambda: one(-3, 2), "x is -3, twice  -6.0; 2.0 of 7"),
        (lambda: two(x, 2.5), "x is 0, twice   0.0; 2.5 of 7"),
        (lambda: two(-3, 2), "x is -3, twice  -6.0; 2 of 7"),
        (lambda: arrays(np.zeros((3, 2)).T[0].copy(), -1, 2), "x is -1, twice  -2.0; 2 of 7"),
        # Operators have no arguments that somebody gave.
        (lambda: spmdvm.reduce(least, x, neutral=99), "{a} and {b}"),
    ):
        with pytest.raises(AssertionError) as caught:
            call()
        assert f" ({told})" in str(caught.value).splitlines()[0]


def least(a, b):
    assert a > 0, f"{a} and {b}"
    return min(a, b)


OUTSIDE = np.array([1.0, 2.0, 3.0])
GRID = np.arange(6.0).reshape(2, 3)


def test_traps_have_no_names_of_the_compiler():
    at = spmdvm.kernel(lambda i: OUTSIDE[i])
    with pytest.raises(IndexError) as caught:
        at(np.array([-1]))
    assert "read of index -1 of `OUTSIDE`, which has 3 elements (lane 0) in `<lambda>`" in str(caught.value)
    assert "write `len(OUTSIDE) - …`" in str(caught.value)
    with pytest.raises(IndexError, match=r"outside of `GRID`, whose shape is \(2, 3\)"):
        spmdvm.kernel(lambda i: GRID[i, 3 - i])(np.array([0]))

    # Elements by an array of indices are taken by a function of ours.
    with pytest.raises(IndexError, match=r"read of index 5 of `t`, .* in `<lambda>`"):
        spmdvm.kernel(lambda t, i: t[i])(np.zeros(4), np.array([1, 5]))
    for index in (np.uint64(2**63 + 5), np.array([1, 2**64 - 1], np.uint64)):
        with pytest.raises(IndexError, match="an index of 9223372036854775807 or more of `t`") as caught:
            spmdvm.kernel(lambda t, i: t[i])(np.zeros(4), index)
        assert caught.value.index is None


@pytest.mark.parametrize(
    ("function", "arguments", "told"),
    [
        (lambda a: np.min(a), (np.zeros(0),), "`min` takes at least one element"),
        (lambda a: np.max(a, axis=0), (np.zeros((0, 3)),), "`max` takes at least one element"),
        (lambda a: np.median(a), (np.zeros(0),), "`median` takes at least one element"),
        (lambda a, b: np.convolve(a, b), (np.zeros(2), np.zeros(0)), "`convolve` takes at least one element of each"),
        (lambda a, b: a @ b, (np.zeros((2, 3)), np.zeros((2, 2))), "the lengths that a product sums over are equal"),
        (lambda a, b: np.dot(a, b), (np.zeros(3), np.zeros(2)), "arrays that are computed with have equal lengths"),
        (lambda n: math.factorial(n), (21,), "0 <= n <= 20"),
        (lambda n: np.zeros(n - 3)[0], (1,), "the length of `np.zeros(n - 3)` is not negative"),
    ],
)
def test_assertions_of_ours_have_no_names_of_the_compiler(function, arguments, told):
    with pytest.raises(AssertionError) as caught:
        spmdvm.kernel(function)(*arguments)
    assert str(caught.value).startswith(f"[assertion] Trap: assertion failed: {told}")


def test_assertions_of_ours_beside_those_of_users():
    @spmdvm.kernel
    def checked(a, n):
        assert np.min(a[:n]) > 0, "all are positive"
        for i in spmdvm.foreach(n):
            a[i] = 1

    with pytest.raises(AssertionError, match=r"np.min\(a\[:n\]\) > 0 \(all are positive\) in `checked`"):
        checked(np.zeros(3), 2)
    with pytest.raises(AssertionError, match="`min` takes at least one element in `checked`"):
        checked(np.ones(3), 0)

    @spmdvm.kernel
    def fill(a, n):
        for i in spmdvm.foreach(n):
            a[i] = 1

    with pytest.raises(AssertionError, match="`foreach` counts from -2147483647 to 2147418112 in `fill`"):
        fill(np.ones(3), 2**40)


def weighted(a, x, by):
    total = 0.0
    for k in range(0, x, by):
        total += a[x - k] * k
    return total


def test_functions_that_demand_something_are_part_of_their_callers():
    @spmdvm.kernel
    def kernel(a, out, by):
        for i in spmdvm.foreach(len(out)):
            out[i] = weighted(a, i, by)

    out, a = np.zeros(5), np.arange(5.0)
    kernel(a, out, 2)
    assert out.tolist() == [weighted(a, i, 2) for i in range(5)]
    assert "v_weighted_1(" not in kernel.spmd_source.split("export")[1]
    with pytest.raises(AssertionError, match=r"range\(\) step must not be zero in `weighted`"):
        kernel(a, out, 0)


def test_operations_that_fail_are_marked():
    @spmdvm.kernel
    def count(n):
        total = 0
        for k in range(n[0], n[1], n[2]):
            total += k
        return total

    with pytest.raises(AssertionError) as caught:
        count(np.array([0, 5, 0]))
    head, _, _, line, marks = str(caught.value).splitlines()[:5]
    assert head == "[assertion] Trap: assertion failed: range() step must not be zero in `count`"
    assert marks.index("─") == line.index("range(n[0]")

    @spmdvm.kernel
    def power(x, n):
        assert n > -5
        return x**n

    @spmdvm.kernel
    def by_call(x, n):
        return np.power(x, n)

    help = "help: `n` is negative; compute with floats: `float(x) ** n`"
    for kernel, n in ((power, -1), (by_call, -1)):
        with pytest.raises(AssertionError) as caught:
            kernel(np.array([3, 2]), np.array([1, n]))
        head, *_, last = str(caught.value).splitlines()
        assert head.endswith(f" negative powers of integers are not allowed (lane 1) in `{kernel.__name__}`")
        assert last.strip() == help
    # Nobody knows which of several it is.
    with pytest.raises(AssertionError, match="negative powers of integers are not allowed") as caught:
        spmdvm.kernel(lambda x, y: x**y + y**x)(2, -1)
    assert "help" not in str(caught.value)
    with pytest.raises(AssertionError, match="assertion failed: n > -5 in `power`"):
        power(np.array([3]), -5)


def test_wrong_calls_name_the_kernel():
    @spmdvm.kernel
    def f(x, y=1):
        return x + y

    with pytest.raises(
        TypeError, match=r"^f\(\) got an unexpected keyword argument 'z': f\(x, y=1, \*, out=None, .*\)$"
    ):
        f(1, z=2)
    with pytest.raises(OverflowError, match=r"^f\(\): `x`: \d+ does not fit int64"):
        f(2**70)
    with pytest.raises(spmdvm.CompileError, match="expressions are of single elements"):
        spmdvm.evaluate("M[0]")


def test_options_of_kernels_are_known_when_they_are_decorated():
    def f(x):
        return x

    with pytest.raises(TypeError, match=r"^kernel\(\) has no option `widht`; did you mean `width`\?$"):
        spmdvm.kernel(widht=8)
    with pytest.raises(TypeError, match=r"^kernel\(\) has no option `parallel`; its options are width, engine"):
        spmdvm.kernel(f, parallel=True)
    for options, message in (
        ({"width": 3}, r"^kernel\(\): width must be 1, 2, 4, 8, 16, 32, 64 or \"native\", not 3$"),
        ({"engine": "llvm"}, r"^kernel\(\): engine must be .*, not 'llvm'$"),
        ({"host": {"f": f}}, r"^kernel\(\) has no option `host`; functions of Python that a kernel calls are compiled"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            spmdvm.kernel(**options)
        with pytest.raises((TypeError, ValueError), match=message):
            spmdvm.kernel(f, **options)
    kernel = spmdvm.kernel(f)
    kernel(np.arange(3))
    with pytest.raises(TypeError, match="line must be the number of a line, not 'f'"):
        kernel.explain("f")


def test_limits_tell_the_operator_of_a_combinator():
    @spmdvm.kernel
    def join(a, b):
        while a < 1:
            a = a * 1.0
        return a + b

    with pytest.raises(TimeoutError, match="out of time in `join`"):
        spmdvm.reduce(join, np.zeros(10), neutral=0, timeout=0.05)


def test_annotations_that_are_no_types():
    for annotation, note in (
        (npt.NDArray[np.floating], "it stands for several types"),
        (npt.NDArray[np.number], "it stands for several types"),
        (np.integer, "it stands for several types"),
        (npt.NDArray, "not known"),
    ):

        def first(x):
            return x[0]

        first.__annotations__["x"] = annotation
        with pytest.raises(spmdvm.CompileError, match="`x` has no type of kernels") as caught:
            spmdvm.kernel(first)
        assert f"╰── {note}" in str(caught.value)
        assert "`numpy.typing.NDArray[np.float64]`" in caught.value.diagnostics[0].help
    for wrong, message in (
        (
            lambda: spmdvm.array[str],
            r"^array\[str\]: `array` is of numbers, array\[spmdvm.float32\], or of a structured",
        ),
        (lambda: spmdvm.array["many", 2], r"^array\['many'\]: `array` is of numbers"),
        (lambda: spmdvm.uniform["x"], r"^uniform\['x'\]: `uniform` is of numbers"),
        (lambda: spmdvm.array[np.floating], r"^array\[floating\]: "),
    ):
        with pytest.raises(TypeError, match=message):
            wrong()
    assert repr(spmdvm.array["float32", 2]) == "array[float32, 2]"


def test_rows_of_different_lengths():
    @spmdvm.kernel
    def plus(x):
        return x + 1

    for kernel, name in ((element, "element\\(\\): `a`"), (plus, "plus\\(\\): `x`")):
        with pytest.raises(ValueError, match=f"^{name} is no array: its rows have different lengths"):
            kernel([[1, 2], [3]], *([0] if kernel is element else []))


def test_names_that_have_values_in_kernels_only():
    message = r"^spmdvm.{} has a value in kernels only: functions decorated with @spmdvm.kernel$"
    for wrong, name in (
        (lambda: spmdvm.lane + 1, "lane"),
        (lambda: 2 * spmdvm.width, "width"),
        (lambda: np.arange(3) < spmdvm.lane, "lane"),
        (lambda: range(spmdvm.width), "width"),
        (lambda: -spmdvm.lane, "lane"),
    ):
        with pytest.raises(TypeError, match=message.format(name)):
            wrong()


def test_wrong_arguments_of_evaluate():
    x = np.arange(3)
    for call, message in (
        (
            lambda: spmdvm.evaluate("q + 1", q=x),
            r"^evaluate\(\) has no option `q`; .*: evaluate\('q \+ 1', {\"q",
        ),
        (lambda: spmdvm.evaluate("x", [x]), r"^evaluate\(\): names are a mapping, {\"x\": x}, not list$"),
        (lambda: spmdvm.evaluate("x", "x"), r"^evaluate\(\): names are a mapping, {\"x\": x}, not str$"),
        (lambda: spmdvm.evaluate("x", widht=3), r"^evaluate\(\) has no option `widht`; did you mean `width`\?$"),
        (lambda: spmdvm.evaluate("x", host={}), r"^evaluate\(\) has no option `host`"),
        (lambda: spmdvm.vectorize("x", widht=3), r"^vectorize\(\) has no option `widht`; did you mean `width`\?$"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    assert spmdvm.evaluate("x + 1", {"x": x}, include_paths=["."], width=8).tolist() == [1, 2, 3]
    with pytest.raises(spmdvm.CompileError) as caught:
        spmdvm.evaluate("sum(x)")
    assert caught.value.diagnostics[0].labels[0].text == "this is `int64`"
    # What it advises works.
    assert 'write `spmdvm.reduce("+", x, map="x * x")`' in caught.value.diagnostics[0].help
    assert spmdvm.reduce("+", x, map="x * x") == 5


@pytest.mark.parametrize(
    ("given", "help"),
    [
        (np.array([1, None], object), r"np\.asarray\(x, np\.float64\)"),
        ([1, "a"], "pass numbers"),
        (np.ones(2, np.longdouble), r"convert it, np\.asarray\(x, np\.float64\)"),
        (np.timedelta64(3, "s"), r"pass its counts, np\.asarray\(x\)\.view\(np\.int64\)"),
        (b"abc", r"np\.frombuffer\(x, np\.uint8\)"),
        ({"a": 1}, r"a `dict`; pass its numbers one by one"),
        ({1}, r"a `set`; pass np\.array\(list\(x\)\)"),
        ((k for k in range(3)), r"a `generator`; pass np\.array\(list\(x\)\)"),
        (decimal.Decimal("1.5"), r"a `Decimal`; pass float\(x\)"),
        (None, "kernels: None;"),
    ],
)
def test_what_to_pass_instead(given, help):
    with pytest.raises(TypeError, match=help):
        spmdvm.kernel(lambda x: x + 1)(given)
    if given is not None and not isinstance(given, (bytes, dict, set)):
        with pytest.raises(TypeError, match=help):
            spmdvm.kernel(lambda a: a[0])(given)


def test_arrays_without_dimensions():
    with pytest.raises(TypeError, match=r"an array of float64 without dimensions; pass x\.reshape\(1\)"):
        spmdvm.kernel(lambda a: a[0])(np.array(1.0))


def test_options_of_calls():
    @spmdvm.kernel
    def elements(x, y):
        return x + y

    @spmdvm.kernel
    def arrays(a):
        for i in spmdvm.foreach(len(a)):
            a[i] += 1

    x = np.arange(3.0)
    told = r"'treads': elements\(x, y, \*, out=None, .*progress=False\); did you mean `threads`\?"
    with pytest.raises(TypeError, match=told):
        elements(x, 1, treads=2)
    for option, help in (("threads", "call it for parts"), ("out", "store to an array"), ("where", "pass the mask")):
        with pytest.raises(TypeError, match=rf"arrays\(\) is an array kernel, .* takes no `{option}=`; .*{help}"):
            arrays(x, **{option: 1})
    # As functions of numpy.
    out = np.zeros(3)
    assert elements(x, 1, out=(out,)) is out and out.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x +", "something is missing at the end of the expression"),
        ("", "something is missing at the end of the expression"),
        ("y = x * 2", r"assign what it gives: `y = spmdvm\.evaluate\('x \* 2'\)`"),
        ("for v in x: v", "statements stand in a function"),
        ("x^2", r"powers are written `\*\*`: `x \*\* 2`"),
        ("x > 0 & x < 2", r"`\(a > 0\) & \(b > 0\)`"),
        ("[v for v in x]", "a list comprehension cannot stand in a kernel"),
        ("(y := x) + 1", "`:=` here cannot stand in a kernel"),
    ],
)
def test_expressions(text, message):
    x = np.arange(3.0)
    with pytest.raises(spmdvm.CompileError, match=message):
        spmdvm.evaluate(text, {"x": x})


@pytest.mark.parametrize("count", [200, 400, 1500, 20000])
def test_expressions_that_are_nested_too_deeply(count, tmp_path, monkeypatch):
    x = np.arange(3.0)
    text = "+".join(["x"] * count)
    for call in (lambda: spmdvm.evaluate(text, {"x": x}), lambda: spmdvm.reduce("+", x, map=text)):
        with pytest.raises(spmdvm.CompileError, match="nested too deeply") as caught:
            call()
        assert count == 200 or "help: give parts of it names" in str(caught.value)
    assert (spmdvm.evaluate("+".join(["x"] * 100), {"x": x}) == x * 100).all()
    if count > 2000:
        # Python itself does not compile a function of it.
        return
    (tmp_path / "long_sums.py").write_text(f"def f(x):\n    y = x[0]\n    return {text.replace('x', 'y')}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "long_sums", raising=False)
    module = importlib.import_module("long_sums")
    with pytest.raises(spmdvm.CompileError, match="nested too deeply") as caught:
        spmdvm.kernel(module.f)(x)
    assert "long_sums.py" in str(caught.value) and "help: give parts of it names" in str(caught.value)


def test_spaces_around_expressions():
    x, weight = np.arange(3.0), 2  # noqa: F841 - of the expression
    assert spmdvm.evaluate("\n    x * 2\n").tolist() == [0, 2, 4]
    assert spmdvm.vectorize(" x + 1 ")(x).tolist() == [1, 2, 3]
    with pytest.raises(NameError, match=r"`weigth` in .* is no variable here; did you mean `weight`\?"):
        spmdvm.evaluate("x * weigth")


def test_what_vectorize_takes():
    with pytest.raises(TypeError, match=r"a function, not `sin`, which kernels call as it is; .*spmdvm\.map\(sin, x\)"):
        spmdvm.vectorize(np.sin)
    with pytest.raises(TypeError, match=r"no option `otypes`; .*`def f\(x\) -> np\.float64`"):
        spmdvm.vectorize(lambda x: x, otypes=[float])
    with pytest.raises(TypeError, match=r"vectorize\(\) has no option `signature`"):
        spmdvm.vectorize(lambda x: x, signature="()")
    with pytest.raises(TypeError, match=r"not the text 'x \+ 1'; spmdvm\.vectorize makes kernels of expressions"):
        spmdvm.kernel("x + 1")
