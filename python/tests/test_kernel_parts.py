"""Parts of arrays in kernels mean what they mean in numpy: each kernel is also run as the Python function it is."""

import itertools

import numpy as np
import pytest
import spmdvm

BOUNDS = [None, 0, 1, 3, 7, 20, -1, -2, -6, -20]


def agrees(kernel, *arguments):
    """Run the function on copies and the kernel on the arrays, and compare what both leave and give."""
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    want = kernel.__wrapped__(*copies)
    got = kernel(*arguments)
    assert got == want
    for mine, numpys in zip(arguments, copies):
        np.testing.assert_array_equal(mine, numpys)


def numbers(*shape):
    return np.random.default_rng(1).integers(-100, 100, shape).astype(np.float64)


@spmdvm.kernel
def smooth(a, out):
    out[0] = 0
    out[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 4
    out[::2] *= 2
    out[-1:] = 5
    out[:] += a


@spmdvm.kernel
def between(a, start, stop):
    a[start:stop] = 7
    return len(a[start:stop])


@spmdvm.kernel
def transposed(a, out):
    height, width = a.shape
    for y in range(height):
        row = a[y]
        for x in range(width):
            out[x, y] = row[x]
    for x in range(width):
        out[x, :] *= 2
        column = a[:, x]
        out[x] -= column


@spmdvm.kernel
def blurred(image, out):
    out[1:-1, 1:-1] = (image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]) / 4


@spmdvm.kernel
def broadcast(a, row, k, out):
    out[:] = a + row
    out[1:, 0] = k
    out[::2, ::-1] = np.where(a[::2, ::-1] > row, np.sqrt(abs(a[::2])), k * row[::-1])


@spmdvm.kernel
def in_place(a, b):
    a[:] = a / 2 + b
    a[:, :] = b[:] - a[:] * 3
    b[:] = b + 1


@spmdvm.kernel
def nested(a):
    inner = a[1:-1]
    thirds = inner[::3]
    backwards = thirds[::-1]
    total = 0.0
    for k in range(len(backwards)):
        total += backwards[k] * k + thirds[-1]
    return total + a[2:][1] + inner.shape[0] + thirds.size


def test_parts_mean_what_they_mean_in_numpy():
    agrees(smooth, numbers(50), numbers(50))
    agrees(smooth, numbers(50).astype(np.float32), numbers(50).astype(np.float32))
    agrees(smooth, numbers(3), numbers(3))
    agrees(transposed, numbers(5, 8), np.zeros((8, 5)))
    agrees(blurred, numbers(9, 30), numbers(9, 30))
    agrees(blurred, numbers(2, 2), numbers(2, 2))
    agrees(broadcast, numbers(7, 20), numbers(20), 3.0, numbers(7, 20))
    agrees(in_place, numbers(6, 7), numbers(6, 7))
    agrees(nested, numbers(40))
    agrees(nested, numbers(4))


def test_bounds_known_when_it_runs():
    for start, stop in itertools.product([b for b in BOUNDS if b is not None], repeat=2):
        agrees(between, numbers(8), start, stop)
    agrees(between, numbers(8), np.int64(2**62), np.int64(-(2**62)))
    agrees(between, numbers(8), np.uint8(2), np.int8(-1))


@pytest.mark.parametrize("step", [None, 1, 2, 5, 100, -1, -3, -100])
def test_bounds_that_are_constants(step, tmp_path):
    # All in one function: it is compiled once.
    lines = ["def all_of_them(a):", "    n = 0"]
    for start, stop in itertools.product(BOUNDS, repeat=2):
        index = ":".join("" if part is None else str(part) for part in (start, stop, step))
        lines += [f"    a[{index}] += {len(lines)}", f"    n += len(a[{index}])"]
    path = tmp_path / "generated.py"
    path.write_text("\n".join([*lines, "    return n", ""]))
    space = {}
    exec(compile(path.read_text(), path, "exec"), space)
    agrees(spmdvm.kernel(space["all_of_them"], engine="interp"), numbers(8))


def test_parts_in_a_foreach():
    @spmdvm.kernel
    def rows(a, out):
        for y in spmdvm.foreach(len(out)):
            row = a[y]
            total = 0.0
            for x in range(len(row)):
                total += row[x]
            out[y] = total + row[1:][0]

    a, out = numbers(30, 5), np.zeros(30)
    rows(a, out)
    np.testing.assert_array_equal(out, [sum(row) + row[1] for row in a])

    @spmdvm.kernel
    def every(a, out):
        half = a[::2]
        for k in spmdvm.foreach(len(half)):
            out[k] = half[k]

    out = np.zeros(15)
    every(numbers(30), out)
    np.testing.assert_array_equal(out, numbers(30)[::2])


def test_indices_are_tested_against_the_part():
    @spmdvm.kernel
    def read(a, k):
        part = a[2:5]
        return part[k]

    assert read(numbers(9), 2) == numbers(9)[4]
    for k in (3, -1):
        with pytest.raises(IndexError):
            read(numbers(9), k)

    @spmdvm.kernel
    def column(a, k):
        return a[:, 1:3][0, k]

    assert column(numbers(4, 5), 1) == numbers(4, 5)[0, 2]
    with pytest.raises(IndexError):
        column(numbers(4, 5), 2)

    @spmdvm.kernel
    def outside(a, y):
        row = a[y]
        return row[0]

    with pytest.raises(IndexError):
        outside(numbers(4, 5), 4)
    with pytest.raises(IndexError):
        outside(numbers(4, 5), -1)


def test_lengths_that_differ_trap():
    @spmdvm.kernel
    def add(a, b):
        a[1:] += b

    with pytest.raises(AssertionError, match="`add`"):
        add(numbers(5), numbers(5))
    agrees(add, numbers(5), numbers(4))


def test_records():
    particle = np.dtype([("x", np.float32), ("n", np.int32)], align=True)

    @spmdvm.kernel
    def bump(p):
        some = p[1:4]
        for k in range(len(some)):
            some[k].x = k
            some[k]["n"] = 2 * k

    p = np.zeros(6, particle)
    bump(p)
    assert p["x"].tolist() == [0, 0, 1, 2, 0, 0] and p["n"].tolist() == [0, 0, 2, 4, 0, 0]


def test_results_do_not_depend_on_engine_and_width():
    want = numbers(50)
    smooth(numbers(50), want)
    for width, engine in itertools.product([1, 4, 64], ["interp", "clif", "auto"]):
        out = numbers(50)
        spmdvm.kernel(smooth.__wrapped__, width=width, engine=engine)(numbers(50), out)
        np.testing.assert_array_equal(out, want)


def slices(n):
    """Give slices of n elements by how many they take."""
    by_length = {}
    values = [None, *range(-n - 1, n + 2)]
    for start, stop, step in itertools.product(values, values, [None, 1, 2, 3, -1, -2]):
        part = ":".join("" if v is None else str(v) for v in (start, stop, step))
        by_length.setdefault(len(range(*slice(start, stop, step).indices(n))), []).append(part)
    return by_length


@pytest.mark.parametrize("seed", range(8))
def test_random_statements(seed, tmp_path):
    rng = np.random.default_rng(seed)
    height, width = 5, 7
    rows, columns = slices(height), slices(width)

    def pick(options):
        return options[rng.integers(len(options))]

    def source(tall, wide):
        row, column = pick(rows[tall]), pick(columns[wide])
        kind = rng.integers(5)
        if kind == 0:
            return f"b[{row}, {column}][::-1]"
        if kind == 1:
            return f"row[{column}]"
        if kind == 2:
            return f"c[{rng.integers(-height, height)}, {column}]"
        return f"{pick(['b', 'c'])}[{row}, {column}]"

    lines = ["def statements(out, b, c, row, k):"]
    for _ in range(25):
        tall, wide = pick(list(rows)), pick(list(columns))
        x, y, z = source(tall, wide), source(tall, wide), source(tall, wide)
        right = pick(
            [
                f"{x} + {y} * k",
                f"np.where({x} > {y}, {z}, {y} / 4)",
                f"np.minimum({x}, {y}) - abs({z})",
                f"-{x} % 7 + len({y})",
                "k",
            ]
        )
        lines.append(f"    out[{pick(rows[tall])}, {pick(columns[wide])}] {pick(['=', '+=', '-='])} {right}")
    path = tmp_path / "generated.py"
    path.write_text("\n".join([*lines, ""]))
    space = {"np": np}
    exec(compile(path.read_text(), path, "exec"), space)
    agrees(
        spmdvm.kernel(space["statements"], engine=pick(["interp", "clif"])),
        numbers(height, width),
        numbers(height, width) + 1,
        numbers(height, width) - 2,
        numbers(width),
        3.0,
    )


# Parts as arguments.


def total_of(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


def fill(x, start):
    for i in range(len(x)):
        x[i] = start + i


@pytest.mark.parametrize("start, stop", list(itertools.product([0, 2, -3, 20, -20], [0, 5, -1, 20, -20])))
def test_parts_are_passed(start, stop):
    @spmdvm.kernel
    def totals(a, out):
        out[0] = total_of(a[start:stop])
        out[1] = total_of(a[start:stop:2])
        out[2] = total_of(a[start:stop:-3])
        out[3] = total_of(a)
        b = a[start:stop]
        out[4] = total_of(b[1:]) + total_of(b[::-2])
        fill(out[5:9], 3)
        fill(out[-1:8:-1], 10)

    totals_in_python = totals.__wrapped__
    a = numbers(11)
    mine, theirs = np.zeros(13), np.zeros(13)
    totals(a, mine)
    totals_in_python(a, theirs)
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("engine", ["interp", "clif"])
def test_rows_and_columns_are_passed(engine):
    """Rows differ from lane to lane in `foreach`."""

    @spmdvm.kernel(engine=engine)
    def sums(image, out):
        for y in spmdvm.foreach(len(image)):
            out[y] = total_of(image[y]) + 2 * total_of(image[y, ::-2]) + total_of(image[y, 1:-1])
        for x in range(image.shape[1]):
            out[x] += total_of(image[:, x]) - total_of(image[::3, x])

    for _ in range(3):
        image, out = numbers(40, 17), np.zeros(40)
        sums(image, out)
        want = image.sum(1) + 2 * image[:, ::-2].sum(1) + image[:, 1:-1].sum(1)
        want[:17] += image.sum(0) - image[::3].sum(0)
        np.testing.assert_array_equal(out, want)


def test_parts_of_several_dimensions_are_passed():
    def shift(x, by):
        height, width = x.shape
        for y, i in spmdvm.foreach(height, width):
            x[y, i] += by * (y + 1) + i

    def inner(x):
        shift(x[1:, ::2], 100)
        x[0] = 7

    @spmdvm.kernel
    def change(block):
        shift(block[1], 1)
        shift(block[:, 2], 10)
        shift(block[0, ::-1, 1:-1], 1000)
        inner(block[2])

    block = numbers(3, 5, 6)
    want = block.copy()

    def plain(x, by):
        x += by * (np.arange(x.shape[0])[:, None] + 1) + np.arange(x.shape[1])

    plain(want[1], 1)
    plain(want[:, 2], 10)
    plain(want[0, ::-1, 1:-1], 1000)
    plain(want[2][1:, ::2], 100)
    want[2][0] = 7
    change(block)
    np.testing.assert_array_equal(block, want)


def test_a_function_that_halves_its_part_calls_itself():
    def halves(x) -> np.float64:
        if len(x) == 1:
            return x[0]
        middle = len(x) // 2
        return halves(x[:middle]) + halves(x[middle:])

    @spmdvm.kernel
    def tree(x: spmdvm.array[np.float64]):
        return halves(x)

    x = numbers(37)
    assert tree(x) == x.sum()


def test_records_in_parts_are_passed():
    body = np.dtype([("x", np.float64), ("m", np.float32)], align=True)

    def moment(bodies):
        total = 0.0
        for i in range(len(bodies)):
            total += bodies[i].x * bodies[i].m
            bodies[i].m = 1
        return total

    @spmdvm.kernel
    def run(bodies: spmdvm.array[body]):
        return moment(bodies[::2])

    bodies = np.zeros(9, body)
    bodies["x"], bodies["m"] = np.arange(9), 2
    assert run(bodies) == 2 * np.arange(0, 9, 2).sum()
    assert bodies["m"].tolist() == [1, 2, 1, 2, 1, 2, 1, 2, 1]


@pytest.mark.parametrize("at", [-4, 3, 5, 100, 2**31 - 2, -(2**31), 2**40])
def test_parts_that_are_passed_are_bounded(at):
    """By their own lengths, not by those of the array that they are in."""

    def element(x, at):
        return x[at]

    @spmdvm.kernel
    def one(a, at):
        return element(a[2:5], at)

    @spmdvm.kernel
    def row(a, at):
        return element(a[at], 0) + element(a[:, 1], 0)

    @spmdvm.kernel
    def column(a, at):
        return element(a[:, at], 0)

    a = numbers(3, 3)
    with pytest.raises(IndexError):
        one(numbers(10), at)
    for f in (row, column):
        with pytest.raises(IndexError):
            f(a, at)
    assert one(numbers(10), 2) == numbers(10)[4]
    assert row(a, 2) == a[2, 0] + a[0, 1]
    assert column(a, 2) == a[0, 2]


def test_lengths_of_parts_of_callers_are_not_taken_for_ones_of_the_same_name():
    """An index below the length of one part is tested against that of another."""

    def inner(x, n):
        y = x[: n - 1]
        total = 0.0
        for i in range(len(x)):
            total += y[i]
        return total

    def outer(x, n):
        return inner(x[:n], n)

    @spmdvm.kernel
    def run(a, n):
        return outer(a[:n], n)

    with pytest.raises(IndexError):
        run(numbers(10), 5)


# Arrays that a kernel makes, as arguments.


def ramp(a, k):
    for i in range(len(a)):
        a[i] = k + i


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i]
    return s


def sort(a):
    for i in range(1, a.size):
        k = i
        while k > 0 and a[k - 1] > a[k]:
            below = a[k - 1]
            a[k - 1] = a[k]
            a[k] = below
            k -= 1


@spmdvm.kernel
def scaled(a, b):
    for i in range(a.shape[0]):
        a[i] = a[i] * b[-1]
    return len(a) + b.size


def reversed_total(a, n):
    own = np.zeros(2)
    own[0] = a[n]
    own[1] = total(own) + (reversed_total(a, n - 1) if n > 0 else 0.0)
    return own[1]


def own_arrays(x):
    own = np.zeros(5)
    ramp(own, x)
    n = scaled(own, own)
    return total(own) + n + total(own[1:-1]) + 2 * total(own[::-2])


def median(a, b, c):
    three = np.empty(3)
    three[0], three[1], three[2] = a, b, c
    sort(three)
    return three[1]


def masked(x):
    own = np.ones(3)
    if x > 2:
        ramp(own, x)
    else:
        part = own[1:]
        ramp(part, -x)
    return total(own) + reversed_total(own, 2)


@spmdvm.kernel
def in_foreach(a, out):
    shared = np.full(6, 2.0)
    ramp(shared[2:], 7)
    shared[::2] = a[:3] * 2
    sort(shared)
    for i in spmdvm.foreach(len(out)):
        mine = np.full(3, i, np.int32)
        ramp(mine, i)
        mine[i % 3] = 0
        rest = mine[1:]
        out[i] = total(mine) + total(shared) + shared[i % 6] * total(rest) + a[i]
    return total(shared)


@pytest.mark.parametrize("engine", ["interp", "auto"])
@pytest.mark.parametrize("width", [1, 8])
def test_arrays_of_the_function_are_passed(engine, width):
    x, y, z = (numbers(40) * 10 % 5 for _ in range(3))
    for function, given in ((own_arrays, (x,)), (median, (x, y[::-1].copy(), z + x)), (masked, (x,))):
        made = spmdvm.kernel(engine=engine, width=width, fp="strict")(function)
        wanted = [with_kernels(function)(*row) for row in zip(*given)]
        np.testing.assert_array_equal(made(*given), wanted, err_msg=function.__name__)
    a, ours, theirs = numbers(30), np.zeros(30), np.zeros(30)
    made = spmdvm.kernel(engine=engine, width=width, fp="strict")(in_foreach.__wrapped__)
    spaces = {**globals(), "spmdvm": type("S", (), {"foreach": staticmethod(range)})}
    in_python = type(total)(in_foreach.__wrapped__.__code__, spaces)
    assert made(a, ours) == in_python(a, theirs)
    np.testing.assert_array_equal(ours, theirs)


def with_kernels(function):
    """Give the function with the Python functions in place of the kernels that it calls."""
    return type(function)(function.__code__, {**globals(), "scaled": scaled.__wrapped__})


def test_arrays_of_the_function_are_not_passed_beyond_their_ends():
    def take(a, at):
        return a[at]

    @spmdvm.kernel
    def varying(at):
        own = np.ones(4)
        return take(own, at) + take(own[1:], at - 1)

    @spmdvm.kernel
    def uniform(out, at):
        own = np.ones(4)
        out[0] = take(own, at)

    assert varying(np.array([1, 2, 3])).tolist() == [2, 2, 2]
    uniform(np.zeros(1), 3)
    for wrong in (4, 100, -1):
        with pytest.raises(IndexError):
            varying(wrong)
        with pytest.raises(IndexError):
            uniform(np.zeros(1), wrong)


def test_types_and_lengths_of_arrays_of_the_function_are_theirs():
    def count(a):
        n = 0
        for _i in range(len(a)):
            n += 1
        return n

    @spmdvm.kernel
    def apart(x):
        small = np.zeros(2, np.int8)
        large = np.ones(9, np.float32)
        flags = np.ones(3, np.bool_)
        return 100 * count(small) + 10 * count(large) + count(flags) + (1000 if flags[2] else 0)

    assert apart(1) == 1293


def test_rows_of_turned_arrays():
    @spmdvm.kernel
    def f(a):
        a.T[0][1] = 7
        return a.T[1], a.T[2].sum()

    a = np.arange(6.0).reshape(2, 3)
    row, total = f(a)
    assert row.tolist() == [1, 4] and total == 7 and a[1, 0] == 7


def test_rows_are_taken_apart():
    @spmdvm.kernel
    def f(m, ps):
        top, bottom = m
        top[0] = 7
        (a, b), (c, d) = m[:, :2]
        p, q = ps
        p.x += q.x
        return a, b + c + d, bottom

    m, ps = np.arange(6.0).reshape(2, 3), np.array([(1,), (2,)], [("x", np.float64)])
    one, other, row = f(m, ps)
    assert (one, other) == (7, 8) and row.tolist() == [3, 4, 5] and m[0, 0] == 7 and ps["x"].tolist() == [3, 2]
    with pytest.raises(AssertionError, match="there are 2 elements"):
        f(np.ones((3, 3)), ps)


def assigned_at_once(a, m):
    m[0] = first = a[:4] + 1
    m[1, 0] = m[2] = number = a[1] + 0.5
    a[1:] = m[3, 1:] = a[:-1]
    m[m > 1.5] = a[0] = 7
    return first, number


def test_several_parts_are_assigned_one_value():
    a, m = np.random.default_rng(9).random(4), np.zeros((4, 4))
    b, n = a.copy(), m.copy()
    found, expected = spmdvm.kernel(assigned_at_once)(a, m), assigned_at_once(b, n)
    np.testing.assert_array_equal(found[0], expected[0])
    assert found[1] == expected[1] and (a == b).all() and (m == n).all()


def counted(a):
    a[0] += 1
    return a[0]


def assigned_where_the_first_changes_what_is_read(a, m):
    m[0] = a[0] = m[1] = a[1] = a[0] + 1
    m[2, :2] = m[3, :2] = m[1, 1], a[3]
    m[2, 2:] = m[3, 2:] = [m[3, 3], m[2, 0]]
    m[3] = a[2] = m[1] = counted(a)


def test_what_is_assigned_to_several_parts_is_computed_once():
    a, m = np.random.default_rng(9).random(4), np.arange(16.0).reshape(4, 4)
    b, n = a.copy(), m.copy()
    spmdvm.kernel(assigned_where_the_first_changes_what_is_read)(a, m)
    assigned_where_the_first_changes_what_is_read(b, n)
    assert (a == b).all() and (m == n).all()


def test_several_parts_are_assigned_by_each_element():
    @spmdvm.kernel
    def spread(a, m):
        for i in spmdvm.foreach(len(a)):
            m[i, ::2] = m[i, 1] = a[i]

    a, m = np.arange(20.0), np.zeros((20, 3))
    spread(a, m)
    assert (a == m.T).all()


def test_a_flipped_array_is_the_array_itself():
    @spmdvm.kernel
    def turned(a, m):
        total = 0.0
        for k in range(1, len(a)):
            total += np.dot(np.flip(a[:k]), a[:k])
        back = np.flip(a)
        back[0] = 9
        return total, np.flip(m * 2)

    a, m = np.random.default_rng(9).random(4), np.arange(6.0).reshape(2, 3)
    expected = sum(np.dot(np.flip(a[:k]), a[:k]) for k in range(1, 4))
    total, twice = turned(a, m)
    assert np.isclose(total, expected, rtol=1e-13) and a[3] == 9
    assert (twice == np.flip(m * 2)).all()
