"""Kernels that are wrong: each has a line `# HERE`, and behind it what the error says."""

# ruff: noqa
import math

import numpy as np

import spmdvm
from spmdvm import array, float32, foreach, int32

TABLE = [1, 2, 3]
DATA = np.arange(4)
OBJECTS = np.array([None, "a"])
LARGE = np.zeros(5000)
SIZES = (1, 2, 3)
WORDS = {"a": 1}


def text_value(x):
    return "text"  # HERE str values cannot stand in a kernel


def a_list(x):
    return [x, x]  # HERE a list cannot stand in a kernel


def a_dict_of_texts(x):
    y = {"a": x}  # HERE str values cannot stand in a kernel
    return y


def a_comprehension(x):
    return len([v for v in (x, 1)])  # HERE cannot


def a_generator(x):
    return len(v for v in (x, 1))  # HERE a generator


def a_lambda(x):
    f, g = lambda v: v, 1  # HERE `lambda` cannot stand
    return f(x) + g


def a_lambda_that_is_called(x):
    return (lambda v: v)(x)  # HERE no name


def ordered_tuples(x):
    return (x, 1) < 3  # HERE a tuple and a number have no order


def tuple_plus_number(x):
    return (x, 1) + 1  # HERE a number is needed


def extreme_of_nothing(x):
    return x + max(())  # HERE there is no `max` of nothing


def shape_with_a_typo(x):
    height, width = x.shpe  # HERE `x` is a number and has no `shpe`
    return height


def float_that_becomes_an_integer(array_a):
    i = array_a[0] / 2
    i = int(i)
    return array_a[i]  # HERE an index takes integers


def float_parameter_that_becomes_an_integer(x):
    def low(y):
        y = int(y / 2)
        return y & 3  # HERE floats have no `&`

    return low(x * 0.5)


def sum_of_rows(array_a):
    return sum(array_a[:, None])  # HERE `sum` of Python takes numbers in a kernel


def array_stored_by_a_mask(a):
    a[a > 2] = a  # HERE of an array as many elements are taken as the mask chooses


def array_stored_by_another_mask(a):
    a[a > 2] = a[a > 3]  # HERE of an array as many elements are taken as the mask chooses


def array_stored_by_indices(a):
    a[a] = 1  # HERE arrays of indices do not index in a kernel


def array_stored_by_a_mask_of_rows(a):
    m = np.zeros((4, 4))
    a[0] = 1
    m[a > 2] = 1  # HERE a mask has the dimensions of what it chooses from, which are 2


def array_mask_in_a_foreach(a):
    for i in foreach(len(a)):
        a[a > i] = 0  # HERE a part of an array is assigned outside of `foreach`


def array_row_of_all_in_a_foreach(a):
    t = np.zeros((4, 4))
    for i in foreach(len(a)):
        t[0] = a[i]  # HERE a part of an array is assigned outside of `foreach`


def array_changed_in_a_foreach(a):
    for i in foreach(len(a)):
        a += a[i]  # HERE a part of an array is assigned outside of `foreach`


def array_of_too_many_numbers(a):
    t = np.zeros((4, 2))
    t[1] = 1, 2, 3  # HERE there are 2 elements, and 3 here
    a[0] = t[1, 1]


def array_numbers_for_a_plane(a):
    t = np.zeros((4, 2))
    t[:] = 1, 2  # HERE several numbers are assigned to a row of numbers
    a[0] = t[1, 1]


def array_mask_of_and(a):
    a[a > 1 and a < 3] = 0  # HERE this takes one value, not an array of them


def array_sum_along_an_axis(a):
    a[0] = np.sum(a, axis=1)  # HERE this array has 1 dimension


def array_sum_along_an_axis_by_position(a):
    a[0] = a.sum(0, np.float32)  # HERE a reduction along an axis takes an array and the axis


def array_least_of_sums(a):
    a[0] = np.argmin(np.mean(a, axis=1))  # HERE this array has 1 dimension


def array_of_a_length_that_changes(x):
    n = 3
    n += 1
    t = np.zeros(n)  # HERE the lengths of an array of a kernel are known before it is called
    return t[0] + x


def array_of_a_length_in_a_foreach(a):
    for i in spmdvm.foreach(len(a)):
        t = np.zeros(i + 1)  # HERE the lengths of an array of a kernel are known before it is called
        a[i] = t[0]


def array_made_where_it_may_not_be(a):
    b = np.zeros(len(a)) if a[1] > 0 else a  # HERE an array is made in what may not be computed
    a[0] = b[0]


def array_returned_or_a_number(a):
    if a[0] > 1:
        return a
    return 1.0  # HERE this returns no array, other parts of the function do


def array_returned_or_another(a):
    b = a[:, None] * 2
    if a[0] > 1:
        return a
    return b  # HERE this returns another array than other parts of the function


def array_along_two_axes(a):
    return np.sum(a, axis=(0, 1))  # HERE the axis of a reduction is a constant


def array_with_its_dimensions_kept(a):
    return a / np.sum(a, axis=0, keepdims=True)  # HERE the axis is kept of arrays of several dimensions


def array_axis_in_a_foreach(a):
    two = np.zeros((2, 2))
    for i in spmdvm.foreach(len(a)):
        a[i] = np.sum(two, axis=0)  # HERE `sum` along an axis gives an array, which is made outside of `foreach`


def array_without_an_end(a):
    return np.arange(0.0, np.inf, 0.5) + a  # HERE an array has a finite length


def array_given_by_a_function_that_calls_itself(a):
    def halves(x, n):
        y = x * 0.5
        return halves(y, n - 1) if n > 0 else y  # HERE `halves` calls itself, and makes or returns an array

    b = halves(a, 3)
    a[0] = b[0]


def generator_as_a_number(x):
    rng = spmdvm.rng(1, x)
    return rng + 1  # HERE the generator `rng` stands here alone


def generator_without_a_name(x):
    return spmdvm.rng(1, x)  # HERE a generator is made in a statement of its own


def generator_with_another_method(x):
    rng = spmdvm.rng(1, x)
    return rng.poisson(3)  # HERE generators in kernels have no `poisson()`


def generator_in_what_may_not_be_computed(x):
    t = (2, 3)
    rng = spmdvm.rng(1, x)
    return x * 2 if x > 1 else rng.random() + t[1:][0]  # HERE a number is drawn in what may not be computed


def array_generator_of_the_code_around(a):
    rng = spmdvm.rng(1)
    for i in spmdvm.foreach(len(a)):
        a[i] = rng.random()  # HERE the generator `rng` belongs to the code around `foreach`


def generator_of_a_fraction(x):
    rng = spmdvm.rng(1.5, x)  # HERE `seed` takes integers
    return rng.random()


def generator_of_other_floats(x):
    rng = spmdvm.rng(1, x)
    return rng.random(np.float16)  # HERE random numbers are `float64` or `float32`


def array_parted(a):
    a.partition(3)  # HERE `a` has no `partition()` in a kernel


def array_step_that_varies(a):
    for k in foreach(4):
        a[k] = np.sum(a[::k])  # HERE the step of a part is the same for all elements, and not zero


def array_backwards(a):
    for v in reversed(len(a)):  # HERE `reversed` goes over arrays, lists and tuples in a kernel
        a[0] += v


def array_pairs_of_indices(a):
    for x in np.nditer(a):  # HERE a kernel's loops count, or go over an array or a tuple
        a[0] = x


def array_half_an_index(a):
    for i, j in np.ndindex(2, 2.5):  # HERE `np.ndindex` takes integers
        a[i] = j


def array_indices_of_too_few(a):
    for i, j in np.ndindex(2):  # HERE there is 1 value for 2 names
        a[i] = j


def array_indices_of_less_than_nothing(a):
    for i, j in np.ndindex((2, -1)):  # HERE lengths of a shape are not negative
        a[i] = j


def array_indices_that_are_counted(a):
    for k, (i, j) in enumerate(np.ndindex(2, 2)):  # HERE `enumerate` goes over an array or a tuple in a kernel
        a[i] = j + k


def array_elements_of_a_number(a):
    for i, x in np.ndenumerate(len(a)):  # HERE `np.ndenumerate` goes over an array of numbers
        a[i] = x


def function_as_a_number(x):
    def more(v):
        return v + x

    return more + x  # HERE `more` is a function, not a number


def lambda_for_a_function_of_numbers(x):
    return max(lambda v: v, x)  # HERE `<lambda>` is a function, not a number


def number_for_a_function(x):
    def twice(f, v):
        return f(f(v))  # HERE `f` is a number or an array and cannot be called

    return twice(x, x)


def array_given_by_a_function(a):
    def apply(f):
        return f(a)

    a[0] = apply(lambda b: b.foo)  # HERE arrays in kernels have no `foo`


def function_passed_to_itself(x):
    def depth(f, n):
        return f(n) if n == 0 else depth(lambda v: v + n, n - 1)  # HERE a function that reads `n` of `depth` is passed

    return depth(lambda v: v, x)


def default_that_is_a_variable(x):
    k = x

    def f(v, k=k):
        return v + k

    return f(1)  # HERE the default of `k` of `f` is no number


def list_that_is_repeated(x):
    t = [0] * 8  # HERE a list cannot stand where each element runs by itself
    return t[x]


def array_of_indices(a):
    a[0] = a[a]  # HERE arrays of indices and masks do not index in a kernel


def print_to_a_file(x):
    print(x, file=2)  # HERE `print` takes `sep=` and `end=` in a kernel, texts
    return x


def keywords_of_numpy(x):
    return np.hypot(x, x2=3)  # HERE functions of Python and numpy take their arguments by position


def star_parameters(x):
    def inner(**v):
        return x

    return inner()  # HERE `inner` has a `**` parameter


def library_of_bools(x):
    return math.gcd(x > 1, 2)  # HERE `math.gcd` does not take such arguments: `x` is a `bool` in one place


def nothing_as_a_value(x):
    y = x + None  # HERE `None` cannot stand in a kernel
    return y


def none_that_is_added(x, w=None):
    return x + w  # HERE `w` is None here


def array_none_that_is_indexed(a, w=None):
    return a[0] * w[0]  # HERE `w` is None here


def array_none_that_is_asked_for_its_shape(a, w=None):
    return a[0] * w.shape[0]  # HERE `w` is None here


def none_that_is_called(x, f=None):
    return f(x)  # HERE `f` is None here


def none_that_is_changed(x, w=None):
    w += 1  # HERE `w` is None here
    return x + w


def none_that_is_compared(x, w=None):
    if w == None:  # HERE `==` does not ask for None in a kernel
        return x
    return x + w


def none_until_there_is_one(x):
    best = None
    for k in range(10):
        if best is None or x % k > best:
            best = x % k
    return best  # HERE what an elementwise kernel returns may be None


def none_among_several_results(x):
    y = None
    if x > 0:
        y = 1.0
    return x, y  # HERE `y` may be None here


def none_as_one_of_two_values(x):
    y = None
    if x > 0:
        y = 1.0
    return x + (y if x > 2 else 0.0)  # HERE `y` may be None here


def none_for_a_function(x):
    y = None
    if x > 0:
        y = 1.0
    return helper(x, y)  # HERE `y` may be None here


def none_that_is_equal(x):
    y = None
    if x > 0:
        y = 1.0
    return 2.0 if y == x else 1.0  # HERE `y` may be None here


def none_that_is_printed(x):
    y = None
    if x > 0:
        y = 1.0
    print(y)  # HERE `y` may be None here
    return x


def none_in_a_list(x):
    y = None
    if x > 0:
        y = 1.0
    return np.max(np.array([x, y]))  # HERE `y` may be None here


def array_none_that_is_stored(a):
    y = None
    for v in a:
        y = v
    a[0] = y  # HERE `y` may be None here


def array_none_or_an_array(a):
    part = None
    if len(a) > 3:
        part = a[1:]  # HERE `part` is None in one place and an array in another
    return 0.0 if part is None else part[0]


def array_parameter_that_becomes_none(array_a, b=2.0):
    if array_a[0] > 2:
        array_a = None  # HERE `array_a` is None in one place and an array in another
    return b if array_a is None else array_a[0]


def array_none_or_a_list(a):
    xs = None
    for v in a:
        if xs is None:
            xs = [v]  # HERE `xs` is None in one place and a list in another
        xs.append(v)
    return a[0]


def none_or_a_function(x):
    f = None
    if x > 2:
        f = lambda y: y + 1  # noqa: E731  # HERE `f` is None in one place and a function in another
    return x if f is None else f(x)


def none_or_a_text(x):
    mode = None
    if x > 2:
        mode = "large"
    return 0.0 if mode is None else x  # HERE `mode` is None, or a text, in one place and something else


def none_that_is_nothing_in_one_branch(x):
    if x > 0:
        y = None
    if x > 2:
        y = 1.0
    return 0.0 if y is None else y  # HERE `y` may have no value here


def array_none_around_a_foreach(a):
    best = None
    for i in foreach(len(a)):
        if best is None or a[i] < best:  # HERE `best` belongs to the code around `foreach`
            best = a[i]
    return 0.0 if best is None else best


def array_none_in_which_a_foreach_is_added_up(a):
    total = None
    if len(a) > 2:
        total = 0.0
    for i in foreach(len(a)):
        total += a[i]  # HERE `total` is None in one place, and combined in a `foreach` here
    return 0.0 if total is None else total


def array_none_that_a_function_within_asks_for(a):
    best = None
    for v in a:
        if v > 2:
            best = v

    def found(x):
        return x if best is None else best  # HERE `best` is None, or a text, in one place and something else

    return found(1.0)


def array_none_that_a_function_reads_and_the_kernel_assigns(a, w=None):
    def weighted(k):
        return a[k] if w is None else a[k] * w  # HERE `w` is None, or a text, in one place and something else

    first = weighted(0)
    w = 2.0
    return first + weighted(1)


def text_that_is_added(x, mode="full"):
    return x + mode  # HERE `mode` is the text 'full' here


def ordered_texts(x, mode="full"):
    return x if mode < "same" else -x  # HERE `mode` is the text 'full' here


def loop_over_a_text(x, mode="full"):
    for letter in mode:  # HERE `mode` is the text 'full' here
        x += 1
    return x


def assigned_tuple_parameter(x):
    def inner(t):
        t = (1, 2, 3)  # HERE `t` has 2 values in one place and 3 in another
        return t[0]

    return inner((x, 1))


def text_that_is_no_number(x):
    return x + float("many")  # HERE this text is no number


def variable_of_a_foreach_behind_it(a):
    for i in foreach(len(a)):
        last = a[i]
    a[0] = last  # HERE there is no `last`


def foreach_with_a_step(a):
    for i in foreach((0, len(a), 2)):  # HERE a range of `foreach` is a number, or a start and a stop
        a[i] = 0


def foreach_of_a_number_with_a_star(a):
    for i in foreach(*len(a)):  # HERE `*` takes a tuple apart, such as `*a.shape`
        a[i] = 0


def element_of_another_shape(a):
    a[0] = a.swapaxes(0, 1)[0, 1]  # HERE `a` has no `swapaxes()` in a kernel


def assertion_about_an_array(a):
    b = a * 2
    assert b[0] < 0, f"{b} is wrong"  # HERE an array is no part of the text of an `assert`
    a[0] = 1


def a_with(x):
    with x:  # HERE `with` cannot stand
        return 1


def a_with_of_numpy(x):
    with np.errstate(all="ignore"):  # HERE `with` cannot stand
        return 1 / x


def misspelt(x):
    value = x + 1
    return vaule  # HERE there is no `vaule`


def misspelt_function(x):
    return np.sqroot(x)  # HERE there is no `np.sqroot`


def misspelt_global(x):
    return x + TABEL[0]  # HERE there is no `TABEL`


def sum_of_lanes(x):
    return spmdvm.reduce_sum(x)  # HERE there is no `spmdvm.reduce_sum`


def element_of_a_dict(x):
    return x + WORDS["a"]  # HERE `WORDS` is a `dict` from outside of the kernel


def element_of_a_dict_by_number(x):
    return x + WORDS[x]  # HERE `WORDS` is a `dict` from outside of the kernel


def element_of_a_dict_that_is_written(x):
    return {"a": x}["a"]  # HERE str values cannot stand in a kernel


def function_of_some(x):
    return np.sqrt(x, where=x > 0)  # HERE take their arguments by position


def starred_names(x):
    x, *y = x, 1, 2  # HERE `*` among names cannot stand in a kernel
    return x


def array_starred_names(a):
    x, *y = a  # HERE `*` among names cannot stand in a kernel
    a[0] = x


def array_place_in_two_dimensions(a):
    m = np.zeros((3, 4))
    a[0] = np.argmax(m)  # HERE `argmax` takes an array of one dimension


def array_sums_in_two_dimensions(a):
    m = np.zeros((3, 4))
    b = np.cumsum(m)  # HERE sums up to each element are of arrays of one dimension
    a[0] = b[0]


def array_break(a):
    for i in foreach(len(a)):
        if a[i] > 0:
            break  # HERE `break` cannot leave a `foreach`


def array_return(a):
    for i in foreach(len(a)):
        if a[i] > 0:
            return i  # HERE `return` cannot leave a `foreach`


def array_as_a_condition(a):
    if a:  # HERE a condition is a number or a bool
        a[0] = 1


def a_try(x):
    try:  # HERE `try` cannot stand
        return x
    except ValueError:
        return 0


def a_raise_again(x):
    if x < 0:
        raise  # HERE `raise` takes an exception
    return x


def a_raise_of_a_number(x):
    if x < 0:
        raise np.pi  # HERE `raise` takes an exception
    return x


def a_raise_of_several_values(x):
    if x < 0:
        raise ValueError("negative", x)  # HERE an exception of a kernel has a text, and nothing else
    return x


def a_raise_of_a_list(a):
    found = [a[0], 2.0]
    found.append(3.0)
    if a[0] < 0:
        raise ValueError("found %s" % found)  # HERE a list is no part of the text of a `raise`


def a_raise_of_chosen_values(x):
    y = x + 1
    if y < 0:
        raise ValueError(f"{y} gives x" if x > 0 else "nothing")  # HERE texts of which one is chosen have no values
    return y


def an_import(x):
    if x > 1:
        import os  # HERE `import` stands among the kernel's own statements

    return x


def a_global(x):
    global TABLE  # HERE `global` cannot stand
    return x


def a_class(x):
    class A:  # HERE `class` cannot stand
        pass

    return x


def a_delete(x):
    y = x
    del y  # HERE `del` takes an element of a list
    return x


def a_yield(x):
    yield x  # HERE `yield` cannot stand


def a_walrus(x):
    if x > 1 or (y := x) < 2:  # HERE `:=` here cannot stand
        return y
    return x


def a_walrus_that_is_read_before(x):
    y = 1
    return y + (y := x)  # HERE `:=` here cannot stand


def a_walrus_behind_a_call(x):
    return abs(x) + (y := x) + y  # HERE `:=` here cannot stand


def a_walrus_in_an_update(x):
    x += (x := 3)  # HERE `:=` here cannot stand
    return x


def a_loop_with_else_and_a_walrus(x):
    while (y := x - 1) > 0:  # HERE `:=` here cannot stand in a kernel
        x = y
    else:
        x = 7
    return x


def matrix_product(x):
    return (x + 1) @ (x + 1)  # HERE `@` takes arrays


def is_and_in(x):
    return x is x  # HERE `is` and `in` are not supported


def membership(x):
    return x in range(2)  # HERE `in` looks into a tuple, list or array in a kernel


def membership_of_tuples(x):
    return x in ((1, 2), (3, 4))  # HERE `in` looks into a tuple of numbers


def no_value_in_a_foreach(a):
    for i in foreach(len(a)):
        if a[i] > 1:
            y = 2
        a[i] = y  # HERE `y` may have no value here


def no_value_or_none(x):
    if x > 1:
        y = None
    elif x > 2:
        y = 1
    return y + 1  # HERE `y` may have no value here


def unknown(x):
    return x + missing  # HERE there is no `missing`


def unknown_function(x):
    return np.sqroot(x)  # HERE there is no `np.sqroot`


def unsupported_function(x):
    return np.correlate(x, x)  # HERE `np.correlate` cannot be called


def list_outside(x):
    return TABLE[x]  # HERE `TABLE` is a `list` from outside


def array_outside(x):
    x[0] = OBJECTS[0]  # HERE `OBJECTS` is a `ndarray` from outside


def array_outside_that_is_large(x):
    x[0] = LARGE[0]  # HERE no table of up to 4096 numbers


def array_outside_stored_to(x):
    DATA[1] = x[0]  # HERE `DATA` is an array from outside of the kernel, and a constant in it


def array_outside_part_stored_to(x):
    DATA[1:] = x[0]  # HERE `DATA` is an array from outside of the kernel, and a constant in it


def array_outside_stored_to_by_a_function(x):
    def clear(a):
        a[0] = 0

    clear(DATA)  # HERE `DATA` is an array from outside of the kernel, and a constant in it
    x[0] = 1


def index_in_a_tuple(x):
    return SIZES[3] + x  # HERE this is one of 3 values


def index_in_a_tuple_of_variables(x):
    p = (x, x + 1)
    return p[x] if x < 2 else 0  # HERE this is one of 2 values


def module_as_number(x):
    return x + math  # HERE `math` is a `module`


def recursion_of_two(x):
    def f(n):
        return g(n - 1)  # HERE the type of the result cannot be found out

    def g(n):
        return f(n) + 1

    return f(x)


def recursion(x):
    def f(n):
        return f(n - 1)  # HERE the type of the result cannot be found out

    return f(x)


def keywords(x):
    return np.maximum(x, x2=1)  # HERE by position


def star(x):
    return max(x, **y)  # HERE `**` cannot stand in a call in a kernel


def tuple_and_number(x):
    y = (x, x)
    y = x  # HERE `y` is a tuple in one place and
    return y


def number_and_tuple(x):
    y = x
    y = (x, x)  # HERE `y` is a number in one place and a tuple in another
    return y


def tuples_of_several_lengths(x):
    y = (x, x)
    y = (x, x, x)  # HERE `y` has 2 values in one place and 3 in another
    return y[0]


def tuple_as_number(x):
    y = (x, x)
    return y + 1  # HERE a number is needed


def star_in_call(x):
    return max(*x)  # HERE `*` takes a tuple apart


def too_many(x):
    return np.sqrt(x, x, x)  # HERE takes 1 arguments


def wrong_count(x):
    def f(a, b):
        return a

    return f(x)  # HERE `f` takes 2 arguments


def unpack_one(x):
    a, b = x  # HERE this is one value, not several
    return a


def unpack_three(x):
    a, b = x, x, x  # HERE there are 3 values for 2 names
    return a


def bool_difference(x):
    return (x > 1) - (x > 2)  # HERE bools have no `-`


def bool_sign(x):
    return -(x > 1)  # HERE bools have no sign


def bool_and_number(x):
    y = x > 1
    y = x  # HERE `y` is a `bool` in one place and
    return y


def two_results(x):
    if x > 1:
        return x, x
    return x  # HERE this returns 1 values, other parts of the function 2


def bool_result(x):
    if x > 1:
        return x
    return True  # HERE this returns a bool, other parts


def sometimes_nothing(x):  # HERE not every way through the function returns a value
    if x > 1:
        return x


def float_shift(x):
    return (x + 0.5) << 1  # HERE floats have no `<<`


def float_invert(x):
    return ~(x + 0.5)  # HERE floats have no `~`


def zero_division(x):
    return x + 1 // 0  # HERE division by zero


def negative_power(x):
    return x**-1  # HERE integers have no negative powers


def too_large(x):
    return x + 2**70  # HERE this integer has more than 64 bits


def wrong_range(x):
    for k in range(0.5):  # HERE `range` takes integers
        x += k
    return x


def range_step(x):
    for k in range(0, 10, x + 0.5):  # HERE `range` takes integers
        x += k
    return x


def range_step_down(x):
    for k in range(np.uint64(9), np.uint64(0), x):  # HERE have no common type
        x += k
    return x


def range_step_zero(x):
    for k in range(0, 10, 0):  # HERE the step of a `range` is not zero
        x += k
    return x


def loop_over_values(x):
    for v in 3 + 1:  # HERE a kernel's loops count
        x += v
    return x


def loop_over_a_list_from_outside(x):
    for v in TABLE:  # HERE `TABLE` is a `list`
        x += v
    return x


def loop_over_nothing(x):
    for v in ():  # HERE there is nothing to loop over
        x += v
    return x


def loop_over_unlike_values(x):
    for v in ((1, 2), 3):  # HERE the values are not alike
        x += 1
    return x


def loop_over_zip(x):
    for a, b in enumerate((1, 2), 1, 2):  # HERE `enumerate` takes 2 arguments in a kernel
        x += a * b
    return x


def loop_over_zip_of_a_number(x):
    for a, b in zip((1, 2), 3 + 1):  # HERE `zip` goes over arrays, lists and tuples in a kernel
        x += a * b
    return x


def array_place_in_a_matrix(x):
    two = np.zeros((2, 2))
    x[0] = two.argmax()  # HERE `argmax` takes an array of one dimension in a kernel


def loop_else(a):
    for i in foreach(len(a)):
        a[i] = 5
    else:
        a[0] = 5  # HERE nothing leaves a `foreach`, so it has no `else`


def useless(x):
    x + 1  # HERE this expression does nothing
    return x


def number_indexed(x):
    y = max(x, 1)
    return y[0]  # HERE `y` is a number and has no elements


def method(x):
    return x.nonzero()  # HERE `x` has no `nonzero()` in a kernel


def method_of_a_number(x):
    return (x + 1).bit_length()  # HERE `x + 1` has no `bit_length()` in a kernel


def array_sum_of_another_type(a):
    return a.sum(dtype=np.float32)  # HERE `sum` goes over all elements in a kernel


def array_sum_of_numbers(a):
    return np.sum(a[0])  # HERE `sum` takes an array


def array_sum_in_an_arm(a):
    return np.sum(a) + len(a[1:]) if len(a) > 1 else 0.0  # HERE `sum` of an array in what may not be computed


def array_choice_of_one_that_changes(a):
    def twice(x):
        x *= 2
        return x + 1

    a[:] = a - (twice(a) if a[0] > 1 else a + 1)  # HERE a choice between arrays stands alone if it changes some


def array_root_of_a_tuple(a):
    t = (a[0], 2.0)
    a[0] = np.sqrt(t)[1]  # HERE a number is needed


def array_of_a_bool_or_a_sum(a):
    x = a[0] > 1 and np.sum(a)  # HERE what is chosen is a `bool` in one place and a `float64` in another
    a[0] = x


def array_index_that_changes_in_several(a):
    def index(x):
        x[0] += 1
        return 1

    a[index(a)], x = 1.0, a[0]  # HERE what is assigned several times has no index that changes arrays
    a[0] = x


def array_greatest_of_bools(a):
    return np.max(a > 1)  # HERE bools have no `max`


def array_product_of_matrices(a):
    m = np.zeros((4, 4, 4))
    return m @ a  # HERE products in kernels are of vectors and matrices


def array_converted(a):
    return a[1:].astype(np.float32, copy=False)  # HERE `astype` takes a type of numbers


def random_numbers(x):
    return x + np.random.random()  # HERE `np.random.random` cannot be called in a kernel


def elements_for_names(x):
    a = np.zeros(3)
    b, c = a  # HERE there are 3 elements, and 2 here
    return b + c + x


def array_made_of_a_list(x):
    return np.array([1, 2, 3])[x]  # HERE an index takes integers


def array_of_rows_that_differ(x):
    a = np.array([[1, 2], [x]])  # HERE the rows of an array are alike
    return a[0, 0]


def array_listed_with_options(x):
    a = np.array([1, x], copy=True)  # HERE an array is made of numbers and a dtype
    return a[0]


def array_changed_as_a_whole(a):
    b = a
    a[0] = 1
    for _ in range(3):
        a = a + 1  # HERE the parameter `a` cannot become another array here
    b[1] = a[0]


def code_of_no_character(x):
    return ord("ab") + x  # HERE `ord` takes a text of one character


def no_such_keyword(x):
    def f(a, b=1):
        return a + b

    return f(x, c=1)  # HERE `f` has no parameter `c`


def value_given_twice(x):
    def f(a, b=1):
        return a + b

    return f(x, a=1)  # HERE `f` has got two values for `a`


def default_that_is_no_constant(x):
    def f(a, b=x):
        return a + b

    return f(x)  # HERE the default of `b` of `f` is no number


def arrays_that_change_places(x):
    a = np.zeros(2)  # HERE an array of the function is made once
    b = np.zeros(2)
    a, b = b, a
    return x


def attribute(x):
    return x.nbytes  # HERE `x` is a number and has no `nbytes`


def print_value(x):
    return print(x)  # HERE `print` gives no value


def fancy_print(x):
    print(f"{np.sqrt(x):>10}")  # HERE a float has one of the letters
    return x


def fancy_print_in_the_middle(x):
    print(f"{x:^10.2f}")  # HERE this format is not in a kernel's `print`


def fancy_print_with_commas(x):
    print(f"{len((1, 2)):,}")  # HERE it has a width, `.` and digits, and a letter


def fancy_print_of_computed_width(x):
    print(f"{x:{x}.2f}")  # HERE what it is made of has to be known


def fancy_print_of_a_float_with_zeros(x):
    print(f"{np.sqrt(x):08.2f}")  # HERE signs and zeros stand in front of integers only


def fancy_print_of_a_bool(x):
    print(f"{x > 1:d}")  # HERE a bool has none


def fancy_print_of_what_may_be_negative(x):
    print(f"{np.int32(x):04x}")  # HERE a number that may be negative has the letter `d`


def fancy_print_as_source(x):
    print(f"{x!r}")  # HERE numbers are printed as they are


def decorated_inner(x):
    @math.sqrt  # HERE functions in a kernel have no decorators
    def f(a):
        return a

    return f(x)


def no_type(x):
    y: str = x  # HERE this is no type of numbers
    return y


def no_number(x):
    y: int  # HERE a variable gets its type when it is assigned
    return x


def array_return_in_foreach(a):
    for i in foreach(len(a)):
        return a[i]  # HERE `return` cannot leave a `foreach`


def array_break_foreach(a):
    for i in foreach(len(a)):
        break  # HERE `break` cannot leave a `foreach`


def array_nested_foreach(a):
    for i in foreach(len(a)):
        for j in foreach(len(a)):  # HERE a `foreach` cannot stand in another one
            a[j] = i


def array_outer_assigned(a):
    last = 0.0
    for i in foreach(len(a)):
        last = a[i]  # HERE `last` belongs to the code around `foreach`
    return last


def array_outer_product(a):
    p = 1.0
    for i in foreach(len(a)):
        p *= a[i]  # HERE only sums, minima and maxima are combined
    return p


def array_sum_read(a):
    s = 0.0
    for i in foreach(len(a)):
        s += a[i]
        a[i] = s  # HERE `s` is summed up in this `foreach`


def array_sum_read_before(a):
    s = 0.0
    for i in foreach(len(a)):
        a[i] += s  # HERE `s` is summed up in this `foreach`
        s += a[i]


def array_two_ways(a):
    s = 0.0
    for i in foreach(len(a)):
        s += a[i]
        s = min(s, a[i])  # HERE `s` is combined in two ways


def array_index_assigned(a):
    for i in foreach(len(a)):
        i = i + 1  # HERE `i` counts the elements of `foreach`
        a[i] = 0


def array_slice_in_foreach(a):
    for i in foreach(len(a)):
        a[1:2] = 0  # HERE a part of an array is assigned outside of `foreach`


def array_slice_with_step(a):
    k = len(a)
    a[::0] = k  # HERE the step of a part is the same for all elements, and not zero


def array_overlap(a):
    def shift(x):
        x[1:] = x[:-1]  # HERE `x` is read and written at different places in one statement

    shift(a[: int(a[0])])


def array_slice_named_twice(a):
    for k in range(3):
        b = a[1:]
        if k > 1:
            b = a[::-1]  # HERE in loops and branches a name stands for one array
        a[0] = b[0]


def array_with_two_names_that_changes(a):
    b = a * 2
    c = b
    for _ in range(3):
        b = b + 1  # HERE in loops and branches a name stands for one array
    a[0] = c[0]


def array_that_changes_its_type(a):
    b = np.zeros(len(a), np.int64)
    for _ in range(3):
        b = b + a  # HERE in loops and branches a name stands for one array
    a[0] = b[0]


def array_made_here_read_and_written(a):
    def shift(x):
        x[1:] = x[:-1]  # HERE `x` is read and written at different places in one statement

    own = np.zeros(4)
    shift(own[: int(a[0])])
    a[0] = own[0]


def array_slice_of_other_dimensions_passed_on(a):
    def f(b):
        return b[0, 1]  # HERE this array has 1 dimension

    return f(a[1:])


def array_slice_as_number(a):
    a[0] = a[1:] + 1  # HERE a number is needed


def array_of_ellipsis(a):
    a[..., 1:, ...] = 0  # HERE `...` stands once in an index


def array_truth(a):
    a[:] = a[:] if len(a) > 1 else 0  # HERE this takes one value, not an array of them


def array_extremes(a):
    a[:] = max(a[:], 1)  # HERE this takes one value, not an array of them


def array_where_of_one(a):
    for i in spmdvm.foreach(len(a)):
        a[i] = np.where(a > 1)[0]  # HERE `np.where` is called outside of `foreach`, once


def annotated_as_another_kind(x):
    y: int = x / 2  # HERE a float is no `int`
    return y


def array_slice_varies(a):
    def first(part):
        return part[0]

    for i in foreach(len(a)):
        a[i] = first(a[i:])  # HERE the parts of arrays that are passed have the same length


def array_slice_that_varies_is_sorted(a):
    for i in foreach(len(a)):
        b = a[i:]
        a[i] = np.median(b)  # HERE the lengths of an array of a kernel are known before it is called


def array_slice_of_shape(a):
    return len(a)[:1]  # HERE only arrays have parts


def array_dimensions(a):
    a[0, 1] = 0  # HERE this array has 1 dimension


def array_float_index(a):
    a[0.5] = 0  # HERE an index takes integers


def array_assigned(a):
    a = a[0]  # HERE the parameter `a` is an array and cannot be assigned


def array_condition(a):
    if a:  # HERE a condition is a number or a bool
        a[0] = 1


def array_field(a):
    a[0].x = 1  # HERE the elements of `a` are numbers and have no fields


def array_attribute(a):
    a[0] = a.strides  # HERE arrays in kernels have no `strides`


def array_lanes(a):
    a[0] = spmdvm.lane  # HERE lanes would store different values


def array_foreach_names(a):
    for i, j in foreach(len(a)):  # HERE 2 names for 1 ranges
        a[i] = j


def record_whole(p):
    x = p[0]
    p[0].x = x  # HERE a field is one number


def record_in_arithmetic(p):
    return p[0] + p[1]  # HERE records are not computed with


def record_of_three(p):
    p[0] = 1.0, 2, 3  # HERE the record has 2 fields, and there are 3 values


def record_of_a_number(p):
    p[0] = 1.0  # HERE a record is assigned as a whole


def record_printed(p):
    print(p[0])  # HERE a number is needed


def record_returned(p):
    return p[0]  # HERE a record is not returned


def record_without_length(p):
    return len(p[0])  # HERE a record has no length


def record_by_number(p):
    x = p[0]
    return x[1]  # HERE this is a record, with the fields x, n


def record_field_passed(p):
    def first(a):
        return a[0]

    return first(p["x"])  # HERE a field of records is passed on neither


def record_no_field_of_all(p):
    p["y"] = 1  # HERE no field `y`


def record_no_field(p):
    p[0].y = 1  # HERE no field `y`


def list_that_is_changed(a):
    for _i in foreach(len(a)):
        found = [1, 2]  # HERE a list cannot stand in a `foreach`
        found[0] = a[0]


def list_returned(x: np.float64):
    return [x, 2]  # HERE a list cannot stand in a kernel


def array_swapped(a):
    b = np.zeros_like(a)
    for _ in range(3):
        b[0] += 1
        a, b = b, a  # HERE the parameter `a` cannot become another array here
    return a[0]


def array_counted_in_a_foreach(a):
    for i in spmdvm.foreach(len(a)):
        t = np.cumsum(a)  # HERE where each element runs by itself, this makes no array
        a[i] = t[0]


def array_differences_of_rows(a):
    rows = a.reshape(2, 2)
    return np.diff(rows)  # HERE `np.diff` takes an array of one dimension in a kernel


def array_turned_rows(a):
    return np.flip(a, 1)  # HERE this array has 1 dimension


def array_polynomial_of_rows(a):
    return np.polyval(a.reshape(2, 2), a[0])  # HERE `np.polyval` takes an array of one dimension in a kernel


def foreach_over_an_array(a):
    for i in spmdvm.foreach(a):  # HERE a range of `foreach` is a number, or a start and a stop
        a[i] = 0


def sum_that_is_written_out(a):
    s = 0.0
    for i in spmdvm.foreach(len(a)):
        s = s + a[i]  # HERE `s` is summed up in this `foreach`, and has its value only behind it
    return s


def element_of_a_number(a):
    return a[0][0]  # HERE `a[0]` is a number and has no elements


def element_of_a_dict_that_is_listed(a):
    return a[0] + {0: "x"}[0]  # HERE str values cannot stand in a kernel


def axis_that_is_not(a):
    return np.sum(a, axis=1)  # HERE this array has 1 dimension


def array_type_that_is_a_variable(a):
    n = len(a)
    a[0] = np.zeros(3, n)[0]  # HERE `n` is a variable


def array_distinct_along_an_axis(a):
    u = np.unique(a, axis=0)  # HERE `np.unique` takes an array and nothing else in a kernel
    a[: len(u)] = u


def array_distinct_with_places(a):
    a[0] = np.unique(a, True)[0]  # HERE `np.unique` takes an array and nothing else in a kernel


def array_distinct_of_a_number(a):
    a[0] = len(np.unique(a[0]))  # HERE `np.unique` takes an array


def array_histogram_with_one_weight(a):
    a[:2] = np.histogram(a, 2, (0, 1), weights=2.0)[0]  # HERE weights are an array, one for each element


def array_histogram_with_a_mask(a):
    a[:2] = np.histogram(a, 2, (0, 1), weights=a > 1)[0]  # HERE weights are numbers in a kernel


def array_histogram_with_weights_of_another_shape(a):
    a[:2] = np.histogram(a, 2, (0, 1), weights=a[:, None])[0]  # HERE weights have the shape of the array


def array_histogram_that_may_be_dense(a):
    a[:2] = np.histogram(a, 2, (0, 1), density=len(a) > 2)[0]  # HERE `density` is `True` or `False` in a kernel


def array_histogram_that_is_normed(a):
    a[:2] = np.histogram(a, 2, (0, 1), normed=True)[0]  # HERE `np.histogram` takes no such `normed` in a kernel


def array_histogram_without_a_range(a):
    a[:2] = np.histogram(a, 2)[0]  # HERE bins of one width are those of a range in a kernel


def array_histogram_of_no_bins(a):
    counts, edges = np.histogram(a, 0, (0, 1))  # HERE there is at least one bin


def array_histogram_of_half_a_range(a):
    counts, edges = np.histogram(a, 2, range=(1,))  # HERE a range is two numbers, `(low, high)`


def array_histogram_of_edges_and_a_range(a):
    counts, edges = np.histogram(a, [0, 1, 2], (0, 2))  # HERE edges are their own range


def array_histogram_of_a_number(a):
    counts, edges = np.histogram(a[0], 2, (0, 1))  # HERE elements of an array are counted


def array_histogram_in_a_foreach(a):
    for i in foreach(len(a)):
        a[i] = np.histogram(a, 2, (0, 1))[0][1]  # HERE `np.histogram` makes arrays, outside of `foreach`


def array_norm_of_another_order(a):
    a[0] = np.linalg.norm(a, 3)  # HERE `np.linalg.norm` takes no such `ord` in a kernel


def array_norm_of_an_order_that_is_computed(a):
    n = len(a)
    a[0] = np.linalg.norm(a, ord=n)  # HERE `np.linalg.norm` takes no such `ord` in a kernel


def array_norm_of_columns(a):
    a[0] = np.linalg.norm(a[:, None], 2)  # HERE `np.linalg.norm` takes an array of one dimension in a kernel


def array_norm_of_a_vector_as_a_matrix(a):
    a[0] = np.linalg.norm(a, "fro")  # HERE `np.linalg.norm` takes an array of two dimensions in a kernel


def array_norm_of_matrices_along_an_axis(a):
    a[:1] = np.linalg.norm(a[:, None], "fro", axis=0)  # HERE `np.linalg.norm` takes no such `ord` along an axis


def array_norm_of_a_cube(a):
    a[0] = np.linalg.norm(a[:, None, None], 1)  # HERE `np.linalg.norm` takes an array of one dimension in a kernel


def array_norm_of_another_order_along_an_axis(a):
    a[:1] = np.linalg.norm(a[:, None], 3, axis=0)  # HERE `np.linalg.norm` takes no such `ord` in a kernel


def array_norm_along_an_axis_that_is_not(a):
    return np.linalg.norm(a, axis=1)  # HERE this array has 1 dimension


def array_norm_along_an_axis_of_another_type(a):
    a[:1] = np.linalg.norm(a[:, None], axis=0, dtype=int)  # HERE a reduction along an axis takes an array and the axis


def array_norm_of_a_named_argument(a):
    a[0] = np.linalg.norm(x=a, axis=0)  # HERE `norm` has no parameter `axis`


def array_norm_along_two_axes(a):
    return np.linalg.norm(a[:, None], axis=(0, 1))  # HERE the axis of a reduction is a constant


def array_norm_of_a_vector_with_its_dimensions_kept(a):
    return a / np.linalg.norm(a, axis=0, keepdims=True)  # HERE the axis is kept of arrays of several dimensions


def array_norm_along_an_axis_in_a_foreach(a):
    two = a[:, None]
    for i in foreach(len(a)):
        a[i] = np.linalg.norm(two, axis=0)[0]  # HERE `linalg.norm` along an axis gives an array, which is made


def array_norm_along_an_axis_of_a_number(a):
    return np.linalg.norm(a[0], axis=0)  # HERE `linalg.norm` along an axis takes an array


def array_searched_on_another_side(a):
    a[0] = np.searchsorted(a, 2, side="middle")  # HERE `np.searchsorted` takes no such `side` in a kernel


def array_covariance_of_three(a):
    a[0] = np.cov(a, a, a)[0, 1]  # HERE `cov` takes 2 arguments


def array_covariance_of_columns(a):
    a[0] = np.cov(a, a, rowvar=False)[0, 1]  # HERE `cov` has no parameter `rowvar`


def array_covariance_with_weights(a):
    a[0] = np.cov(a, a, aweights=a)[0, 1]  # HERE `cov` has no parameter `aweights`


def array_covariance_with_a_number(a):
    c = np.cov(a, a[0])  # HERE `np.cov` takes an array as its `y`
    a[0] = c[0, 1]


def array_correlation_with_a_matrix(a):
    a[0] = np.corrcoef(a, a[:, None, None])[0, 1]  # HERE `np.corrcoef` does not take such arguments: this takes


def array_out_of_another_kind(a):
    b = np.zeros(len(a), np.int32)
    np.sqrt(a, out=b)  # HERE `out=` takes no `float64` here


def array_out_where(a):
    np.sqrt(a, out=a, where=a > 1)  # HERE functions of numpy take `out=` and no other keyword in a kernel


def array_out_that_is_an_element(a):
    np.add(a, 1, out=a[0])  # HERE `out=` takes an array in a kernel


def array_out_that_is_a_list(a):
    xs = []
    xs.append(1.0)
    np.add(a, 1, out=xs)  # HERE `out=` takes an array in a kernel


def array_out_within_an_expression(a):
    a[:] = 1 + np.add(a, 1, out=a)  # HERE functions of Python and numpy take their arguments by position


def array_out_of_two_results(a):
    np.divmod(a, 2, out=(a, a))  # HERE functions of Python and numpy take their arguments by position


def array_out_of_fewer_dimensions(a):
    np.add(a[:, None], a, out=a)  # HERE this has 2 dimensions, what is assigned 1


def array_diagonal(a):
    return np.diag(a[:, None, None])  # HERE `np.diag` takes a matrix in a kernel


def array_turned_columns_alone(a):
    return np.fliplr(a)  # HERE this array has 1 dimension


def array_repeated_by_an_array(a):
    return np.repeat(a, a)  # HERE elements are repeated as often as integers say


def array_repeated_less_than_never(a):
    return np.tile(a, -1)  # HERE how often an array is repeated is not negative


def array_rolled_by_a_part(a):
    return np.roll(a, 1.5)  # HERE a shift takes integers


def array_rolled_along_an_axis_that_is_computed(a):
    return np.roll(a, 1, axis=len(a) - 4)  # HERE an axis is a constant in a kernel


def array_rolled_by_too_many(a):
    return np.roll(a[:, None], (1, 2, 3), (0, 1))  # HERE there is a shift for each axis


def array_rolled_in_an_order(a):
    return np.roll(a, 1, order=2)  # HERE `np.roll` takes no such `order` in a kernel


def array_tiled_never(a):
    return np.tile(a)  # HERE `np.tile` takes `A` and `reps`


def array_at_least_of_two(a):
    return np.atleast_1d(a, a)  # HERE `np.atleast_1d` takes 1 argument in a kernel


def array_number_put_elsewhere(a):
    return np.roll(a[0], 1)  # HERE elements of an array are put to other places


def array_zip_in_steps(a):
    for k, x in zip(range(0, 9, 0), a):  # HERE the step of a `range` is not zero
        a[k] = x


def array_part_of_what_is_not_known(a):
    a[0] = np.atleast_3d(a)[:, 0].sum()  # HERE `np.atleast_3d` cannot be called in a kernel
