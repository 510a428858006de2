"""Functions of kernels change the lists, dicts and sets that they are given, or find around them, as Python's do."""

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from test_kernel_dicts import A, in_order, outcome, random_ops

KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


def push(stack, x):
    stack.append(x)


def two_taken(stack):
    return stack.pop() - 2 * stack.pop()


def bump(d, k, by=1):
    if k in d:
        d[k] += by
    else:
        d[k] = by


def has(d, k):
    return k in d


def first_time(seen, x):
    if x in seen:
        return False
    seen.add(x)
    return True


def pushed_in_order(stack, i, a):
    if i < len(a):
        stack.append(a[i])
        pushed_in_order(stack, 2 * i + 1, a)
        pushed_in_order(stack, 2 * i + 2, a)


def heap_pushed(heap, x):
    heap.append(x)
    i = len(heap) - 1
    while i > 0 and heap[(i - 1) // 2] > heap[i]:
        p = (i - 1) // 2
        heap[i], heap[p] = heap[p], heap[i]
        i = p


def heap_taken(heap):
    heap[0], heap[-1] = heap[-1], heap[0]
    x = heap.pop()
    i = 0
    while 2 * i + 1 < len(heap):
        j = 2 * i + 1
        if j + 1 < len(heap) and heap[j + 1] < heap[j]:
            j += 1
        if heap[i] <= heap[j]:
            break
        heap[i], heap[j] = heap[j], heap[i]
        i = j
    return x


def moved(xs, ys):
    while xs:
        ys.append(xs.pop())


@kernel
def of_lists(a):
    stack = []
    for x in a:
        push(stack, x)
        if len(stack) > 3:
            y = two_taken(stack)
            push(stack, y)
    return stack, len(stack)


@kernel
def of_dicts(a):
    d, n = {}, 0
    for x in a:
        if has(d, x):
            n += 1
        bump(d, x)
        bump(d, 3, 2)
    bump(d, 4, 0.5)
    return d, n


@kernel
def of_sets(a):
    seen, out, n = set(), [], 0
    for x in a:
        if first_time(seen, x):
            out.append(x)
        n += 1 if first_time(seen, x + 1) else 10
    return out, n, seen


@kernel
def from_around(a):
    out, d = [], {}

    def visit(i):
        if i < len(a):
            out.append((i, a[i]))
            d[i] = len(out)
            visit(2 * i + 1)
            visit(2 * i + 2)

    visit(0)
    return out, d


@kernel
def recursive(a):
    stack = []
    pushed_in_order(stack, 0, a)
    return stack


@kernel
def a_heap(a):
    heap = []
    for x in a:
        heap_pushed(heap, x)
    out = []
    while heap:
        out.append(heap_taken(heap))
    return out


@kernel
def in_pythons_order(a):
    xs = [1, 2, 3]
    n = len(xs) + two_taken(xs) * 10 + len(xs) * 100 + xs[0]
    push(xs, n)
    push(xs, two_taken(xs) if n > 1000 else 7)
    return xs


@kernel
def of_tuples(a):
    queue = []

    def add(x, y):
        queue.append((x, y))

    for i, x in enumerate(a):
        add(i, x * 0.5)
    s = 0.0
    for i, h in queue:
        s += i * h
    return s, queue


@kernel
def two_lists(a):
    xs, ys = [1, 2, 3], []
    moved(xs, ys)
    n = len(xs)
    moved(ys, xs)
    return xs, ys, n


@kernel
def types_that_a_function_tells(a):
    xs = []
    push(xs, 1)
    push(xs, 0.5)
    return xs, sum(xs)


@kernel
def given_on(a):
    def twice(stack, x):
        push(stack, x)
        push(stack, x + 1)

    stack = []
    for x in a[:4]:
        twice(stack, x)
    return stack


@kernel
def made_for_a_call(a):
    def longest(seen):
        n = 0
        for x in range(10):
            n = n + 1 if x in seen else 0
        return n

    return longest({4, 5, 6}) * 10 + longest(set(a))


def pushed(stack, x):
    stack.append(x)
    return stack


def pushed_twice(stack, x, twice):
    if twice:
        stack.append(x * 2)
        return stack
    stack.append(x)
    return stack


def pushed_and_counted(stack, x):
    stack.append(x)
    return stack, len(stack)


@kernel
def lists_that_are_returned(a):
    xs = []
    for x in a[:3]:
        xs = pushed(xs, x)
    pushed(xs, 5)
    xs = pushed_twice(xs, 7, len(xs) > 3)
    xs = pushed(pushed(xs, 4), 5.5)
    xs, n = pushed_and_counted(xs, 8)
    return xs, n, len(pushed(xs, 1)), sum(pushed(xs, 2))


@kernel
def a_list_that_is_handed_on(a):
    xs = [a[0]]
    return pushed(xs, 9)


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS, ids=lambda f: f.__name__)
def test_what_is_given_changes_as_in_python(function, options):
    assert outcome(spmdvm.kernel(**options)(function), A) == outcome(function, A)


def with_functions(codes, keys, values):
    """Do one thing after another by functions, and note what they give."""
    d, heap, stack, log = {0: 0.0}, [], [], []

    def drop(k):
        return d.pop(k, -1.0)

    for code, k, v in zip(codes, keys, values):
        r = -1.0
        if code < 5:
            bump(d, k, v)
        elif code < 7:
            r = drop(k)
        elif code < 10:
            heap_pushed(heap, v)
        elif code < 12:
            if heap:
                r = heap_taken(heap)
        elif code < 14:
            push(stack, (k, v))
        elif code < 15:
            if len(stack) > 1:
                (i, x), (j, y) = stack.pop(), stack.pop()
                r = i * x - j * y
        else:
            r = 1.0 if has(d, k) else 0.0
        log.append(r)
    return d, heap, stack, log


def compare(kernel, seeds):
    for seed in seeds:
        codes, keys, values = random_ops(seed, 20 + seed % 200, 1 + seed % 31)
        expected = with_functions(codes.tolist(), keys.tolist(), values.tolist())
        assert in_order(kernel(codes, keys, values)) == in_order(expected), seed


def test_random_sequences_are_those_of_python():
    compare(spmdvm.kernel(fp="strict")(with_functions), range(50))


def test_elements_call_functions_that_read_dicts():
    def of_elements(a, out):
        d = {}
        for x in a:
            d[x] = x * 0.5
        for i in spmdvm.foreach(len(out)):
            out[i] = d[i] if has(d, i) else -1.0

    out = np.zeros(12)
    spmdvm.kernel(of_elements)(A, out)
    assert out.tolist() == [i * 0.5 if i in A else -1.0 for i in range(12)]


def test_what_is_wrong_in_a_function_is_told_there():
    def empty(a):
        stack = [1]
        stack.pop()
        return two_taken(stack)

    with pytest.raises(IndexError, match="`two_taken`"):
        spmdvm.kernel(empty)(A)


def bound_anew(a):
    def fill(xs):
        xs = []  # HERE `xs` is passed, and another list here
        xs.append(1)

    xs = [2]
    xs.append(a[0])
    fill(xs)
    return len(xs)


def returned(a):
    def same(xs):
        xs.append(1)
        return xs

    xs = [2]
    ys = same(xs)  # HERE a list that changes has one name in a kernel
    return len(xs) + len(ys)


def a_dict_that_is_returned(a):
    def same(d):
        d[1] = 2
        return d  # HERE `d` is passed, and returned

    d = {3: 4}
    d = same(d)
    return len(d)


def tuples_that_are_returned(a):
    def same(xs):
        xs.append((1, 2))
        return xs  # HERE `xs` is passed, and returned

    xs = []
    xs = same(xs)
    return len(xs)


def a_part(a):
    def fill(xs):
        xs.append(1)  # HERE `xs` is passed here, and only read

    xs = [2, 3]
    xs.append(4)
    fill(xs[1:])
    return len(xs)


def by_elements(a):
    xs = [0]
    for i in spmdvm.foreach(len(a)):
        push(xs, i)
    return len(xs)


WRONG = [bound_anew, returned, a_dict_that_is_returned, tuples_that_are_returned, a_part]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(A), function)


def test_elements_change_no_lists():
    with pytest.raises(spmdvm.CompileError, match="whose elements all run at once"):
        spmdvm.kernel(by_elements)(A)
