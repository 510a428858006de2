"""Kernels as users of numpy and Numba write them, compared with what Python makes of the same functions."""

import copy
import math

import numpy as np
import pytest
import spmdvm

RNG = np.random.default_rng(5)
IMAGE = RNG.random((9, 17))
CASES = []


def of(*arguments):
    """Note a function with the arguments that it is called with."""

    def note(function):
        CASES.append(pytest.param(function, arguments, id=function.__name__))
        return function

    return note


@of(np.linspace(-2, 1, 40), np.linspace(-1, 1, 40), 60)
def escape_time(re, im, limit):
    x = y = 0.0
    for i in range(limit):
        if x * x + y * y > 4:
            return i
        x, y = x * x - y * y + re, 2 * x * y + im
    return limit


@of(RNG.integers(0, 2, (7, 9)), np.zeros((7, 9), int))
def game_of_life(grid, out):
    h, w = grid.shape
    for i in range(h):
        for j in range(w):
            n = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    n += grid[(i + di) % h][(j + dj) % w]
            if grid[i][j] == 1 and (n == 2 or n == 3):
                out[i][j] = 1
            elif grid[i, j] == 0 and n == 3:
                out[i, j] = 1
            else:
                out[i, j] = 0


@of(IMAGE, np.zeros_like(IMAGE), 2, 1.5, 0.2)
def bilateral_filter(image, out, radius, near, alike):
    h, w = image.shape

    def weight(di, dj):
        apart = image[i + di, j + dj] - image[i, j]
        return math.exp(-(di**2 + dj**2) / (2 * near**2) - apart**2 / (2 * alike**2))

    for i in range(radius, h - radius):
        for j in range(radius, w - radius):
            total = norm = 0.0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    total += weight(di, dj) * image[i + di, j + dj]
                    norm += weight(di, dj)
            out[i, j] = total / norm


@of(RNG.random((4, 5)), RNG.random((5, 3)), np.zeros((4, 3)))
def matrix_product(a, b, c):
    n, m = c.shape
    for i in range(n):
        for j in range(m):
            c[i, j] = np.dot(a[i], b[:, j])


@of(np.arange(9), np.zeros(9, int))
def prefix_sums(a, out):
    total = 0
    for i, v in enumerate(a):
        total += v
        out[i] = total


@of(np.frombuffer(b"kitten", np.uint8), np.frombuffer(b"sitting", np.uint8), np.zeros((2, 8), int))
def levenshtein(s, t, row):
    m, n = len(s), len(t)
    for j in range(n + 1):
        row[0, j] = j
    for i in range(m):
        row[1, 0] = i + 1
        for j in range(n):
            cost = 0 if s[i] == t[j] else 1
            row[1, j + 1] = min(row[0, j + 1] + 1, row[1, j] + 1, row[0, j] + cost)
        row[0] = row[1]
    return row[0, n]


@of(np.arange(20, dtype=np.uint32), 100)
def random_walk(seed, steps):
    state = seed
    x = 0
    for _ in range(steps):
        state = state * np.uint32(1664525) + np.uint32(1013904223)
        if state >> 31:
            x += 1
        else:
            x -= 1
    return x


@of(100.0, np.array([90.0, 100, 110]), 1.0, 0.02, 0.3)
def black_scholes(s, strike, t, r, sigma):
    def below(d):
        return 0.5 * (1 + math.erf(d / math.sqrt(2)))

    def discounted(x):
        return x * math.exp(-r * t)

    d1 = (math.log(s / strike) + (r + sigma * sigma / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    return s * below(d1) - discounted(strike) * below(d2), discounted(strike) * below(-d2) - s * below(-d1)


@of(RNG.random((30, 2)), RNG.random((4, 2)), np.zeros(30, int))
def k_means_assign(points, centres, labels):
    for i in range(len(points)):
        d = np.zeros(4)
        for c in range(4):
            d[c] = np.sum((points[i] - centres[c]) ** 2)
        labels[i] = np.argmin(d)


@of(IMAGE, np.zeros_like(IMAGE))
def sobel(image, out):
    k = ((-1, 0, 1), (-2, 0, 2), (-1, 0, 1))
    h, w = image.shape
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            sx = sy = 0.0
            for a in range(3):
                for b in range(3):
                    sx += k[a][b] * image[i + a - 1, j + b - 1]
                    sy += k[b][a] * image[i + a - 1, j + b - 1]
            out[i, j] = np.hypot(sx, sy)


@of(IMAGE, np.zeros_like(IMAGE))
def median_of_nine(image, out):
    n = 9
    h, w = image.shape
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            v = np.zeros(n)
            for k in range(n):
                v[k] = image[i + k // 3 - 1, j + k % 3 - 1]
            for a in range(1, n):
                key = v[a]
                b = a - 1
                while b >= 0 and v[b] > key:
                    v[b + 1] = v[b]
                    b -= 1
                v[b + 1] = key
            out[i, j] = v[n // 2]


@of(RNG.integers(0, 9, (4, 5)), np.zeros((4, 5), int))
def integral_image(image, out):
    h, w = image.shape
    for i in range(h):
        row = 0
        for j in range(w):
            row += image[i, j]
            out[i, j] = row + (out[i - 1, j] if i > 0 else 0)


@of(np.arange(1, 40))
def collatz(n):
    steps = 0
    while n > 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


@of(np.array([12, 18, 7, 0]), 6)
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@of(np.ones(50, bool))
def sieve(is_prime):
    n = is_prime.size
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False


@of(np.arange(0, 40, 2), 13)
def binary_search(a, x):
    low, high = 0, len(a)
    while low < high:
        mid = (low + high) // 2
        if a[mid] < x:
            low = mid + 1
        else:
            high = mid
    return low


@of(np.arange(8.0), np.zeros(8), 2)
def butterfly(re, im, half):
    n = re.shape[0]
    for k in range(n // 2):
        j = k % half
        a = (k // half) * 2 * half + j
        b = a + half
        angle = -math.pi * j / half
        wr, wi = math.cos(angle), math.sin(angle)
        tr, ti = wr * re[b] - wi * im[b], wr * im[b] + wi * re[b]
        re[b], im[b] = re[a] - tr, im[a] - ti
        re[a] += tr
        im[a] += ti


@of(np.linspace(-1.5, 1.5, 31), 0.25, -3.0)
def ray_and_sphere(x, y, z):
    def dot(a, b):
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

    o = (x, y, z)
    d = (0.0, 0.0, 1.0)
    b = dot(o, d)
    c = b * b - (dot(o, o) - 1)
    return -b - math.sqrt(c) if c >= 0 else math.inf


@of(np.linspace(2, 10, 9))
def bisection(y):
    def f(x):
        return x * x - y

    low, high = 0.0, y
    while high - low > 1e-9:
        mid = 0.5 * (low + high)
        if f(low) * f(mid) <= 0:
            high = mid
        else:
            low = mid
    return (low + high) / 2


@of(np.array([[3.0, -2, 5], [0, 4, -1]]), np.zeros((2, 3)))
def elements_of_a_mask(a, b):
    b[a > 2] = 1
    b[~(a > 2)] -= a[~(a > 2)]
    a[(a < 0) | (a == np.max(a))] *= 10
    a[a == 0] = b[a == 0] * 2 + np.sum(b)


@of(np.arange(6.0), np.arange(6) % 3 == 1, np.array([2.5, 0.5]))
def mask_that_is_passed(a, mask, table):
    a[1:][mask[1:]] = table[0]
    inner = a[1:-1]
    inner[inner > 3] += table[1]


@of(np.linspace(-3, 3, 13))
def methods_of_numbers(x):
    return x.clip(-1, 1) + x.round() + (x * 2).item() + x.real + x.imag + np.where(x > 0, x, -x)


@of(np.arange(6.0).reshape(2, 3))
def shapes(a):
    h, w = a.shape
    t = 0.0
    for i in range(h):
        for v, u in zip(a[i], a[i][::-1]):
            t += v * u
    for k, (p, q) in enumerate(zip(a[0, :-1], a[1, 1:])):
        t += k * p * q
    return t + h + w + a.size + a.ndim + len(a) + a.shape[1] + a[-1, -1] + a[-1][-1] + a[1][2]


@of(np.arange(5), 1.5)
def tuples_at_an_index(i, x):
    weights = (x, 2 * x, -x)
    pairs = ((1, x), (2, i))
    k = i % 3
    return weights[k] * 100 + pairs[i % 2][1] + pairs[i % 2][k % 2]


@of(RNG.integers(0, 99, 40), np.zeros((64, 2), int))
def quicksort(a, stack):
    top = 0
    stack[0] = (0, len(a) - 1)
    while top >= 0:
        low, high = stack[top]
        top -= 1
        if low >= high:
            continue
        i = low
        for j in range(low, high):
            if a[j] < a[high]:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        stack[top + 1] = low, i - 1
        stack[top + 2] = [i + 1, high]
        top += 2


@of(RNG.random((5, 3)), np.ones((5, 3)), np.zeros((5, 3)))
def n_bodies(places, speeds, forces):
    def toward(i, j):
        dx, dy, dz = places[j] - places[i]
        d = (dx**2 + dy**2 + dz**2 + 1e-3) ** -1.5
        return dx * d, dy * d, dz * d

    n = len(places)
    for i in range(n):
        total = np.zeros(3)
        for j in range(n):
            if i != j:
                total += toward(i, j)[0]
        forces[i] = total
        row = speeds[i]
        row *= 0.5
    forces[n - 1] = toward(0, 1)
    speeds += forces


@of(RNG.random(9), np.zeros(9))
def softmax(x, out):
    out[:] = np.exp(x - x.max())
    out /= out.sum()


@of(np.array([3, 4, 2]), np.array([4, 5, 3]), 6, np.zeros(7, int))
def knapsack(weights, values, most, best):
    for i in range(len(weights)):
        for c in range(most, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[most]


@of(RNG.integers(1, 9, (5, 5)).astype(float))
def shortest_paths(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]


@of(np.arange(6), np.zeros(6, int))
def union_and_find(parent, rank):
    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    def join(a, b):
        a, b = find(a), find(b)
        if a != b:
            if rank[a] < rank[b]:
                a, b = b, a
            parent[b] = a
            rank[a] += rank[a] == rank[b]

    join(0, 1)
    join(2, 3)
    join(1, 3)
    return find(0) == find(2)


@of(np.zeros((5, 6), int), np.zeros((64, 2), int))
def flood_fill(image, stack):
    h, w = image.shape
    image[2, :] = 9
    top = 1
    while top:
        top -= 1
        y, x = stack[top]
        if not (0 <= y < h and 0 <= x < w) or image[y, x] != 0:
            continue
        image[y, x] = 5
        for dy, dx in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            stack[top] = y + dy, x + dx
            top += 1


@of(np.frombuffer(b"hello world", np.uint8))
def crc32(data):
    c = np.uint32(0xFFFFFFFF)
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = (c >> 1) ^ (0xEDB88320 if c & 1 else 0)
    return c ^ np.uint32(0xFFFFFFFF)


@of(np.arange(9.0), 3)
def counted(a, limit):
    return np.count_nonzero(a) * 100 + np.count_nonzero(a > limit)


@of(np.linspace(1, 3, 7))
def arrays_of_each_element(x):
    b = np.zeros(4)
    b[:] = x
    b[1:] *= 2
    b[:2] = x + 1, x - 1
    b += 0.5
    u, v = b[:2] * b[2:]
    return u - v + b.sum()


def each(function, arguments):
    """Give what Python makes of a function of numbers, element by element."""
    rows = zip(*np.broadcast_arrays(*arguments))
    with np.errstate(over="ignore"):
        return [function(*row) for row in rows]


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_kernels_do_as_python(function, arguments):
    kernel = spmdvm.kernel(function)
    given, wanted = copy.deepcopy(arguments), copy.deepcopy(arguments)
    got = kernel(*given)
    if kernel.is_elementwise:
        want = each(function, wanted)
        want = list(zip(*want)) if isinstance(want[0], tuple) else want
        np.testing.assert_allclose(got, want, rtol=1e-12)
        return
    want = function(*wanted)
    assert (got is None and want is None) or got == pytest.approx(want)
    for a, b in zip(given, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_kernel_of_numbers_that_gives_nothing():
    def doubled(x):
        x *= 2

    with pytest.raises(spmdvm.CompileError, match=r"is called for each element.*(\n.*)*`a\[:\] \*= 2`"):
        spmdvm.kernel(doubled)(np.arange(3))

    @spmdvm.kernel
    def checked(x):
        assert x >= 0

    assert checked(np.arange(3)) is None


def test_objects_are_told_by_their_types():
    with pytest.raises(TypeError, match="`rng` has no type of kernels: a `Generator`"):
        spmdvm.kernel(lambda x, rng: x + rng.random())(1.0, np.random.default_rng(1))


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_rows_in_a_foreach(engine, width):
    @spmdvm.kernel(width=width, engine=engine)
    def turned(points, out):
        for i in spmdvm.foreach(len(points)):
            x, y, z = points[i] * 2
            out[i] = y, -x, z
            out[i, :2] += points[i, 1:]
            row = out[i]
            row /= np.sum(row * row)

    points = RNG.random((50, 3))
    out = np.zeros((50, 3))
    turned(points, out)
    x, y, z = 2 * points.T
    want = np.stack([y + points[:, 1], -x + points[:, 2], z], 1)
    np.testing.assert_allclose(out, want / np.sum(want * want, 1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("engine", ["interp", "auto"])
def test_masks_at_every_width(engine, width):
    @spmdvm.kernel(width=width, engine=engine)
    def cut(a, limit):
        a[a > limit] = limit
        a[a < np.mean(a)] -= 1

    a = RNG.normal(size=3000)
    want = np.minimum(a, 0.5)
    want[want < np.mean(want)] -= 1
    cut(a, 0.5)
    np.testing.assert_allclose(a, want, rtol=1e-12)


def test_statements_of_several_arrays_are_not_taken_for_one_another():
    def changed(a, b, c):
        a[a > 1] += 1
        b[b > 2] += c[b > 2]
        c += a
        a *= 2
        b[a > 6] -= 1
        c[c > b] = a[c > b] + b[c > b]
        b += c
        a[b > 20] = 0

    for _ in range(40):
        given = [np.arange(8.0) + k for k in range(3)]
        wanted = copy.deepcopy(given)
        spmdvm.kernel(changed)(*given)
        changed(*wanted)
        np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize("width", [1, 4, 16])
def test_what_does_not_depend_on_the_element_is_computed_once_before(width):
    def changed(a, b):
        calls = np.zeros(1, np.int64)

        def counted(v):
            calls[0] += 1
            return v + calls[0]

        a -= a[3]
        b[b > b[2]] += a[0] * b[5]
        a[1:] = b[1:] * (a[2] if len(a) > 2 else a[100]) + counted(1)
        u, v = np.minimum(a[:2], b[:2])
        return calls[0] + u - v

    given, wanted = (copy.deepcopy([np.arange(40.0), np.arange(40.0) % 7]) for _ in range(2))
    assert spmdvm.kernel(changed, width=width)(*given) == changed(*wanted)
    np.testing.assert_array_equal(given, wanted)


# Records.

PARTICLE = np.dtype([("x", np.float64), ("v", np.float64), ("n", np.int32)], align=True)


def particles(n):
    found = np.zeros(n, PARTICLE)
    found["x"], found["v"], found["n"] = np.arange(n) * 1.5, np.arange(n)[::-1], np.arange(n) % 3
    return found


def records_in_a_loop(ps):
    for p in ps:
        p["x"] += p["v"]
        p["n"] = 3


def records_by_name(ps):
    at = 0
    for i in range(len(ps)):
        p = ps[i]
        if p["n"] == 2:
            p["v"] = -1
        if p["v"] * 2 > ps[at]["x"]:
            at = i
    best = ps[at]
    x, v, n = best
    return best["x"] + x + v * n


def records_to_functions(ps, places):
    def kick(p, by):
        p["v"] += by
        return p["v"] + p["x"]

    total = 0.0
    for i in range(len(places)):
        total += kick(ps[places[i]], 0.5)
    return total


def records_as_a_whole(ps):
    n = len(ps)
    for i in range(n // 2):
        x, v, k = ps[i]["x"], ps[i]["v"], ps[i]["n"]
        ps[i] = ps[n - 1 - i]
        ps[n - 1 - i] = (x, v, k)
        ps[i] = ps[i]


def records_of_rows(grid):
    for y in range(grid.shape[0]):
        row = grid[y]
        for p in row:
            p["v"] += y
        row["x"] = y
        row[1]["n"] = 9
        row[-1] = row[0]


def fields_of_all(ps):
    ps["x"][1:] += ps["v"][:-1]
    ps["n"] = 5
    ps["x"][ps["v"] > 2] = -1.0
    ps["v"][ps["v"] > 4] *= 2
    x = ps["x"]
    y = x * 2 + ps["v"]
    total = np.sum(y) + np.max(ps["x"]) + x[2] + len(x)
    for one, other in zip(ps["x"], ps["v"]):
        total += one * other
    return total


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (records_in_a_loop, (particles(9),)),
        (records_by_name, (particles(9),)),
        (records_to_functions, (particles(9), np.array([1, 1, 5, 8, 1]))),
        (records_as_a_whole, (particles(9),)),
        (records_of_rows, (particles(12).reshape(3, 4),)),
        (fields_of_all, (particles(9),)),
    ],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_records(function, arguments):
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    assert spmdvm.kernel(function)(*mine) == function(*theirs)
    for one, other in zip(mine, theirs):
        assert (one == other).all()


def test_records_in_a_foreach():
    @spmdvm.kernel
    def length(p):
        return p.x * p.x + p.v * p.v

    @spmdvm.kernel(width=8)
    def move(ps, places):
        total = 0.0
        for i in spmdvm.foreach(len(places)):
            p = ps[places[i]]
            # Some places stand there twice.
            p.x += 1
            p["n"] = max(p["n"], i)
            total += length(ps[i])
        return total

    ps, places = particles(60), np.array([1, 1, 2, 5, 1, 1] * 10)
    before = ps.copy()
    move(ps, places)
    assert ps["x"].tolist() == (before["x"] + np.bincount(places, minlength=60)).tolist()
    assert [ps["n"][1], ps["n"][2], ps["n"][5]] == [59, 56, 57]
    assert (ps["v"] == before["v"]).all()


def test_records_outside_are_told():
    @spmdvm.kernel
    def move(ps):
        ps[3].x = 1

    with pytest.raises(IndexError, match="index 3 of `ps`, which has 2 elements"):
        move(particles(2))

    @spmdvm.kernel
    def twice(p):
        return 2 * p

    with pytest.raises(spmdvm.CompileError, match="records are not computed with"):
        twice(particles(2))
    packed = np.dtype([("x", np.float32), ("n", np.int64)])
    with pytest.raises(TypeError, match="whose fields do not lie as in C; make the dtype with align=True"):
        move(np.zeros(2, packed))
    with pytest.raises(TypeError, match=r"whose field `at` is \('S4', \(3,\)\); fields are numbers"):
        move(np.zeros(2, [("at", "S4", 3)]))
