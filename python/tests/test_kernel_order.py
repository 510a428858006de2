"""Functions that change arrays, where it depends on a condition whether they are called: all goes in Python's order."""

import linecache
import random

import numpy as np
import pytest
import spmdvm
from test_kernel_made import check

A = np.array([3.0, 1.5, 2.5, -4.0, 0.5])


def counted(x):
    x[1] += 1
    return x[1] * 2


def twice(x):
    x *= 2
    return x + 1


def pair(x):
    x[0] -= 1
    return x[0], x[1]


def is_more(x):
    x[2] += 1
    return x[2] > 3


def index(x):
    x[3] += 1
    return 2


STATEMENTS = """
x = (counted(a) if a[0] > 1 else 0.0) + a[1]
x = a[1] + (counted(a) if a[0] > 1 else 0.0)
x = np.sum(a) + (counted(a) if a[0] > 1 else 0.0) * np.sum(a)
x = counted(a) + np.sum(a)
x = np.max(a) * a[1] + counted(a) * np.sum(a) + a[1] * counted(a) + a[1]
x = np.sum(a * counted(a)) + np.sum(a) if a[0] > 1 else counted(a) + np.sum(a)
x = 1.0 if a[0] > 1 and counted(a) > np.sum(a) else np.sum(a)
x = 1.0 if a[0] > 1 and counted(a) > a[1] and a[1] < counted(a) or counted(a) > 0 else np.sum(a)
x = 1.0 if a[0] > 5 or counted(a) > np.sum(a) else np.sum(a)
x = (counted(a) and np.sum(a)) + a[1]
x = (a[2] and counted(a)) + np.sum(a)
x = a[2] or counted(a) + np.sum(a)
x = (counted(a) if counted(a) > 1 else np.sum(a)) + (np.sum(a) if counted(a) > 100 else counted(a))
x = max(counted(a), np.sum(a)) + a[1]
x = a[0] < counted(a) < np.sum(a) * counted(a)
x = 0.0 < a[1] < counted(a) < 2.0 * a[1]
x = 5.0 < a[1] < counted(a) < 2.0 * a[1]
x = np.sum(a) < 50 < counted(a) < np.sum(a)
x = np.sum(a) if is_more(a) or is_more(a) else -np.sum(a)
z = not (is_more(a) and is_more(a)); x = a[2] + int(z)
x = np.sum(a) + pair(a)[0] + np.sum(a)
x, y = np.sum(a), counted(a) + np.sum(a); x += y
x, y = counted(a) if a[0] > 1 else a[0], np.sum(a); x += y
x = 0.0; x += counted(a) if a[0] > 1 else np.sum(a)
x = float(is_more(a) and not is_more(a) or np.sum(a) > 3) + np.sum(a)
x = counted(a) if not (is_more(a) and np.sum(a) > 3) else np.sum(a)
x = counted(a) if a[0] > 5 else np.sum(a) if is_more(a) and is_more(a) else counted(a) - np.sum(a)
x = sum([counted(a) if y > 1 else 0.0 for y in (1.0, 2.0, 3.0)]) + np.sum(a)
x = np.where(a[0] > 1, counted(a), np.sum(a)) + a[1]
x = np.sum(twice(a)) if a[0] > 1 else np.sum(a)
x = np.sum(a) + (np.sum(twice(a)) if a[0] > 1 else np.sum(a)) + np.sum(a)
x = 0.0 if np.sum(twice(a)) > 3 and np.sum(twice(a)) > a[0] else np.sum(a)
d = twice(a) if a[0] > 1 else a * 2; x = d[1] + np.sum(a)
d = a * 2 if a[0] > 5 else twice(a); x = d[1] + np.sum(a)
d = a + (counted(a) if a[0] > 1 else 0.0) * a; x = d[1] + np.sum(d)
d = a + (a[0] and counted(a)) * a; x = d[1] + np.sum(d)
a[1] += counted(a); x = a[1]
a[1] += counted(a) + np.sum(a); x = a[1]
a[1] -= counted(a) if a[0] > 1 else 0.0; x = a[1]
a[1:] += counted(a) + np.sum(a); x = a[1]
a[1:] += np.sum(a) if a[0] > 5 else a[1] + counted(a); x = a[1]
a[1:] = np.sum(a) if a[0] > 5 else 2.0; x = a[1]
a[0], x = counted(a), np.sum(a) * counted(a)
a[index(a)] = a[3] + np.sum(a); x = 1.0
a[index(a)] += a[3] + np.sum(a); x = 1.0
a[index(a):] += counted(a) + np.sum(a); x = a[1]
a[index(a):] += counted(a) if a[0] > 1 else 0.0; x = a[1]
a[index(a) if a[0] > 1 else 0] = np.sum(a); x = 1.0
a[int(a[3]) + index(a) + 4] += np.sum(a) * counted(a) - (counted(a) if is_more(a) else 0); x = a[1]
a[int(abs(np.sum(a))) % 5] += np.max(a * (counted(a) if is_more(a) else np.sum(a))); x = a[1]
a[int(abs(np.max(a + np.sum(a)))) % 5] = counted(a); x = a[1]
a[int(abs(a[1]))] = counted(a); x = a[1]
x = a[index(a) if a[0] > 1 else 0] + np.sum(a)
return counted(a) if a[0] > 1 else np.sum(a), np.sum(a), a[1]
return np.sum(a) if a[0] > 1 and counted(a) > 1 else 3.0
return np.sum(a), is_more(a) and is_more(a), np.sum(a)
return np.sum(a), a[0] > 1 and is_more(a), np.sum(a)
while counted(a) < 20 - a[1]: x += a[1]
while np.sum(a) > 0 and counted(a) < 20 - np.sum(a): x += a[1]
while a[1] < 20 and (counted(a) < 20 - np.sum(a) or a[1] < 9): x += a[1]
while not (a[1] > 20 or counted(a) + np.sum(a) > 50): x += a[1]
while (counted(a) if x < 10 else counted(a) + np.sum(a)) < 40 + a[1]: x += a[1]
while np.sum(twice(a)) < 100: x += np.sum(a)
for i in range(index(a) + int(np.sum(a))): x += a[i % 5]
for i in range(index(a) if a[0] > 1 else 3): x += a[i]
for y in twice(a): x += y + np.sum(a)
for k in (0, 1, 2): x += a[1] + (counted(a) if a[k] > 2 else np.sum(a)) * (k and counted(a))
if a[0] > 1 and counted(a) > np.sum(a): x += a[1]
if a[0] > 5 or counted(a) + np.sum(a) > 2: x += a[1]
assert a[0] > 1 and counted(a) + np.sum(a) > 0; x = a[1]
"""


def written(statement):
    """Give a function with a statement, whose text kernels find."""
    begin = "x = 0.0\n    " if statement.startswith(("while", "for", "if")) else ""
    text = f"def kernel(a):\n    {begin}{statement}\n    return x, np.sum(a)\n"
    name = f"<{statement}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = dict(globals())
    exec(compile(text, name, "exec"), space)
    return space["kernel"]


@pytest.mark.parametrize("statement", STATEMENTS.strip().splitlines())
def test_what_depends_on_conditions_goes_in_order(statement):
    check(written(statement), A)
    check(written(statement), A, engine="interp", width=4)


def test_branches_go_in_order():
    def kernel(a):
        x = 0.0
        if a[0] > 5:
            x += 1
        elif counted(a) + np.sum(a) > 2 and counted(a) < np.sum(a):
            x += a[1]
        else:
            x -= np.sum(a)
        return x, np.sum(a)

    check(kernel, A)


def test_each_element_goes_in_order():
    def kernel(a, out):
        for i in spmdvm.foreach(len(out)):
            own = np.zeros(4)
            own[1] = a[i]
            x = own[1] + (counted(own) if a[i] > 1 else 0.0) + own[1]
            if (x > 5 and counted(own) > 3) or counted(own) < 1:
                x += own[1]
            out[i] = x + own[1]

    out, expected = np.zeros(5), np.zeros(5)
    spmdvm.kernel(kernel)(A, out)
    for i, of in enumerate(A):
        own = np.zeros(4)
        own[1] = of
        x = own[1] + (counted(own) if of > 1 else 0.0) + own[1]
        if (x > 5 and counted(own) > 3) or counted(own) < 1:
            x += own[1]
        expected[i] = x + own[1]
    assert np.array_equal(out, expected)


def test_later_operands_go_over_whole_arrays_and_draw():
    def kernel(a):
        n = 0
        if len(a) > 1 and np.sum(a) > 2:
            n += 1
        while n < 5 or np.max(a) < 9:
            n += 1
            a += 1
        return n, len(a) > 9 or np.sum(a) > 20, 0 < n < np.sum(a) < 100

    check(kernel, A)

    def draws(x):
        rng = spmdvm.rng(1, int(x))
        return (x > 1 and rng.random() < 0.5) + rng.random()

    x = np.arange(20.0)
    assert np.array_equal(spmdvm.kernel(draws)(x), [draws(of) for of in x])


def halved(x):
    x *= 0.5
    return x + 1


def moved(x, k):
    x[0] += k
    return x[k % 5]


class Writer:
    """Writes functions whose expressions call functions that change arrays, wherever an expression may stand."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, depth):
        of = self.number
        simple = ["a[0]", "a[1]", "1.5", "np.sum(a)", "counted(a)", "n", "np.sum(halved(a))", "moved(a, 3)"]
        if depth <= 0:
            return self.random.choice(simple)
        return self.random.choice([
            lambda: f"({of(depth - 1)} - {of(depth - 1)} * 0.25)",
            lambda: f"({of(depth - 1)} if {self.test(depth - 1)} else {of(depth - 1)})",
            lambda: f"max({of(depth - 1)}, {of(depth - 1)})",
            lambda: f"np.sum(a * {of(depth - 1)})",
            lambda: f"float({self.test(depth - 1)})",
            lambda: f"moved(a, int({of(depth - 1)}) % 5)",
        ])()  # fmt: skip

    def test(self, depth):
        if depth <= 0:
            return self.random.choice(["a[1] > 2", "is_more(a)", "np.sum(a) > 3", "counted(a) < 9"])
        return self.random.choice([
            lambda: f"({self.test(depth - 1)} and {self.test(depth - 1)})",
            lambda: f"({self.test(depth - 1)} or {self.test(depth - 1)})",
            lambda: f"not {self.test(depth - 1)}",
            lambda: f"({self.number(depth - 1)} < {self.number(depth - 1)} < {self.number(depth - 1)})",
        ])()  # fmt: skip

    def statement(self):
        place = f"a[int(abs({self.number(1)})) % 5]"
        return self.random.choice([
            lambda: f"x = {self.number(2)}",
            lambda: f"{place} += {self.number(2)}",
            lambda: f"{place} = {self.number(2)}",
            lambda: f"if {self.test(2)}: x += {self.number(1)}",
            lambda: f"while x < 9 and n < 9 and {self.test(2)}: n += 1",
            lambda: f"y, x = {self.number(2)}, {self.number(1)}; x += y",
        ])()  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_go_in_order(seed):
    writer = Writer(seed)
    lines = ["n, x = 5, 0.0", *(writer.statement() for _ in range(3)), f"return x, {writer.number(1)}, n"]
    text = "def kernel(a):\n" + "".join(f"    {line}\n" for line in lines)
    name = f"<order {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = dict(globals())
    exec(compile(text, name, "exec"), space)
    mine, theirs = A.copy(), A.copy()
    expected = space["kernel"](theirs)
    assert np.allclose(spmdvm.kernel(space["kernel"])(mine), expected), text
    assert np.allclose(mine, theirs), text
