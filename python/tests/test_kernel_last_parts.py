"""Parts of arrays that are named in loops and branches, and read behind them: they are the last ones, as in Python."""

import linecache
import random

import numpy as np
import pytest
import spmdvm
from test_kernel_made import check

M = np.arange(24.0).reshape(8, 3) % 7
KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def of_a_row(m):
    for i in range(3):
        t = m[i]
    return t[1]


@kernel
def of_an_expression(m):
    for i in range(3):
        t = m[i]
    return t + 1


@kernel
def stored_to(m):
    for i in range(4):
        t = m[i, 1:]
    t[0] = 5
    t *= 2
    return t[0]


@kernel
def in_loops(m):
    total = 0.0
    for i in range(4):
        for j in range(2):
            t = m[i, j:]
        s = t[0]
        for k in range(len(t)):
            total += t[k] * i
    return t[1] + s * 2, total


@kernel
def of_parts(m):
    for i in range(3):
        t = m[i]
        u = t[1:]
        column = m[i:, 1].T
    for k in range(2):
        u[k] += k
    return u[0], t[2], np.sum(column), np.sum(u) + i


@kernel
def in_branches(m):
    s = 0.0
    for i in range(3):
        if m[i, 0] > 2:
            for j in range(2):
                t = m[j + i]
            s += t[1]
        else:
            for j in range(2):
                u = m[:, j]
            s -= u[i]
    return s


@kernel
def in_functions(m):
    def last(x):
        for i in range(2):
            t = x[i, ::2]
        return t[1] + np.sum(t)

    return last(m) + last(m[1:])


@kernel
def of_another_round(m):
    total = 0.0
    for i in range(2):
        row = m[i]
        total += row[0]
    for i in range(2):
        total += row[0]
        row = m[i + 1]
    return total


@kernel
def before_and_in_a_loop(m):
    t, s = m[0], 0.0
    for i in range(1, 8):
        s += np.sum(t)
        t = m[i]
        if t[0] > 2:
            t = m[i - 1]
            t[0] += 1
        s = s * 2 + t[1]
    return s, t[2]


@kernel
def only_in_a_loop(m):
    t, s = m[7], 0.0
    t = m[6]
    for i in range(3):
        t = m[i]
        s += t[1] * i
    return s


@kernel
def swapped(m):
    a, b = m[0], m[1]
    for i in range(5):
        a[0] += b[1] + i
        a, b = b, a
    return a[0], b[0], a + b


@kernel
def swapped_behind_a_branch(m):
    t, u = m[0], m[1]
    if m[0, 0] > 2:
        u = m[2]
    else:
        t = m[3]
    t, u = u, t
    u[0] += 1
    t, u = u, t
    return np.sum(t), u[1]


@kernel
def best(m):
    b = m[0]
    for row in m:
        if np.sum(row) > np.sum(b):
            b = row
    return b * 1


@kernel
def of_other_lengths(m):
    t, s = m[1:, 0], 0.0
    n = len(t)
    for i in range(4):
        u = t
        s += t[0] + len(t) * 10
        t = m[i:, 1]
        s += np.sum(u) + np.sum(t)
    for j in range(len(t)):
        s += t[j]
    return s, n, t + 1


@kernel
def columns(m):
    t = m[:, 0]
    for j in range(1, 3):
        t = m[:, 3 - j] if m[j, j] > 3 else m[:, j]
        t[j] += 1
    x, y = t[0], t[-1]
    u = m[1:, 1] if m[0, 0] > 3 else m[:, 0] if m[0, 1] == 1 else m[3:, 2]
    return x, y, u[0], len(u)


@kernel
def of_copies_and_chosen_elements(m):
    xs = []
    for i in range(4):
        xs.append(m[i, 1])
        copied = np.array(xs)
        chosen = m[:, 0][m[:, 0] > i]
    return copied, chosen + 1, chosen[0]


@kernel
def of_three_dimensions(m):
    c = np.zeros((2, 3, 4))
    for i in range(2):
        for j in range(3):
            c[i, j] = m[i + j, j] + np.array([1, 2, 3, i + 4])
    s, p = 0.0, c[0]
    for i in range(2):
        q = p[1]
        p = c[i]
        s += q[i] + p[2, 3] + np.sum(p) + np.sum(p[1:, ::2])
        r = p.T
    return s, r[0, 1], p[1] + 1


@kernel
def in_functions_several(m):
    def greatest(x, k):
        t = x[0, ::2]
        for i in range(k):
            if x[i, 0] > t[0]:
                t = x[i, ::2]
        return t[1]

    return greatest(m, 3) + greatest(m[1:], 5)


@pytest.mark.parametrize("options", [{}, {"engine": "interp", "width": 4}], ids=str)
@pytest.mark.parametrize("function", KERNELS)
def test_behind_loops_parts_are_the_last_ones(function, options):
    check(function, M, **options)


def test_each_lane_has_last_parts_of_its_own():
    def of_lanes(m, out):
        for i in spmdvm.foreach(len(out)):
            for j in range(3):
                t = m[j + i]
                u = m[j, i % 2 :]
            out[i] = t[1] + np.sum(u) + u[0]

    out = np.zeros(5)
    spmdvm.kernel(of_lanes)(M, out)
    assert np.array_equal(out, [M[2 + i, 1] + np.sum(M[2, i % 2 :]) + M[2, i % 2] for i in range(5)])


def test_each_lane_has_parts_of_its_own_one_after_another():
    def of_lanes(m, out):
        for i in spmdvm.foreach(len(out)):
            t = m[i]
            for j in range(3):
                if m[j, 0] > t[0]:
                    t = m[j + i % 2]
                    u = t[i % 2 :]
                    out[i] += u[0]
            out[i] += t[1] + np.sum(t)

    out, expected = np.zeros(5), np.zeros(5)
    spmdvm.kernel(of_lanes)(M, out)
    for i in range(5):
        t = M[i]
        for j in range(3):
            if M[j, 0] > t[0]:
                t = M[j + i % 2]
                expected[i] += t[i % 2]
        expected[i] += t[1] + np.sum(t)
    assert np.array_equal(out, expected)


def test_parts_of_other_kinds_do_not_take_the_place_of_each_other():
    def rows_and_columns(m):
        t = m[0]
        for i in range(3):
            t = m[:, i]
        return t[0]

    def of_two_arrays(m, n):
        t = m[0]
        for i in range(3):
            t = n[i]
        return t[0]

    for function, args in ((rows_and_columns, (M,)), (of_two_arrays, (M, M + 1))):
        with pytest.raises(spmdvm.CompileError, match="in loops and branches a name stands for one array"):
            spmdvm.kernel(function)(*args)


def written(seed):
    """Write a function in whose loops and branches names come to stand for rows."""
    choose = random.Random(seed).choice
    names = ["t", "u", "w"]

    def statement(depth, indent):
        a, b = choose(names), choose(names)
        lines = choose([
            lambda: [f"{a} = m[{choose(['i % 8', '3', '(i + k) % 8'])}]"],
            lambda: [f"{a} = {b}"],
            lambda: [f"{a}, {b} = {b}, {a}"],
            lambda: [f"x += {a}[{choose([0, 1, 2])}] + np.sum({b})"],
            lambda: [f"{a}[{choose([0, 1, 2])}] += 1"],
            lambda: ["k += 1"],
            lambda: ["for i in range(3):", *statement(depth - 1, 1), *statement(depth - 1, 1)],
            lambda: ["if x % 3 < 1.5:", *statement(depth - 1, 1), "else:", *statement(depth - 1, 1)],
        ][: 8 if depth else 6])()  # fmt: skip
        return ["    " * indent + line for line in lines]

    lines = ["x, i, k = 0.0, 1, 2", "t, u, w = m[0], m[1], m[2]"]
    for _ in range(8):
        lines += statement(3, 0)
    return "".join(f"    {line}\n" for line in [*lines, "return x, np.sum(t), u[1], w[2]"])


@pytest.mark.parametrize("seed", range(40))
def test_random_names_of_rows_are_those_of_python(seed):
    name, text = f"<rows {seed}>", f"def kernel(m):\n{written(seed)}"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"np": np}
    exec(compile(text, name, "exec"), space)
    check(space["kernel"], M)
