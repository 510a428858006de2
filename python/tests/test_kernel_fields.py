"""Fields of records that are several numbers, or records themselves."""

import re

import numpy as np
import pytest
import spmdvm
from marks import assert_told

PAIR = np.dtype([("low", np.int16), ("high", np.float64)], align=True)
BODY = np.dtype(
    [("tag", np.int8), ("pos", np.float32, 3), ("range", PAIR), ("m", np.float64, (2, 2)), ("ends", PAIR, 2)],
    align=True,
)
PACKED_PAIR = np.dtype([*PAIR.descr[:1], ("high", np.float64)])
PACKED = np.dtype(
    [("tag", "i1"), ("pos", "f4", 3), ("range", PACKED_PAIR), ("m", "f8", (2, 2)), ("ends", PACKED_PAIR, 2)]
)


def bodies(n, dtype=BODY, seed=1):
    rng, made = np.random.default_rng(seed), np.zeros(n, dtype)
    made["tag"] = rng.integers(-9, 9, n)
    made["pos"] = rng.random((n, 3), np.float32)
    made["m"] = rng.random((n, 2, 2))
    for pair in (made["range"], made["ends"]):
        pair["low"] = rng.integers(-99, 99, pair.shape)
        pair["high"] = rng.random(pair.shape)
    return made


def same(a, b):
    """Return whether all numbers of records are equal: what lies between fields is no matter."""
    if a.dtype.names is None:
        return (a == b).all()
    return all(same(a[name], b[name]) for name in a.dtype.names)


@pytest.mark.parametrize("dtype", [BODY, PACKED], ids=["aligned", "packed"])
def test_elementwise_kernels_read_them(dtype):
    @spmdvm.kernel
    def read(p, k):
        x, y, z = p.pos
        total = x * y + z
        for v in p.pos:
            total += v
        inner = p.range
        return total + p.pos[k] + p.m[1][k % 2] + p.m[0, 1], p.range.low + inner.high, p.ends[k % 2].low + len(p.pos)

    p, k = bodies(50, dtype), np.arange(50) % 3
    one, two, three = read(p, k)
    x, y, z = p["pos"].T
    all_ = np.arange(50)
    wanted = x * y + z + p["pos"].sum(axis=1) + p["pos"][all_, k] + p["m"][all_, 1, k % 2] + p["m"][:, 0, 1]
    np.testing.assert_allclose(one, wanted, rtol=1e-5)
    np.testing.assert_allclose(two, p["range"]["low"] + p["range"]["high"])
    assert (three == p["ends"][all_, k % 2]["low"] + 3).all()


def test_by_the_names_of_fields():
    @spmdvm.kernel
    def read(p: PACKED):
        return p["pos"][1] + p["range"]["low"] + p["ends"][1]["high"]

    p = bodies(20, PACKED)
    wanted = p["pos"][:, 1] + p["range"]["low"] + p["ends"][:, 1]["high"]
    np.testing.assert_allclose(read(p), wanted)
    assert read(p[0].item()) == read(p)[0]


def test_expressions_of_them():
    @spmdvm.kernel
    def f(p, q):
        d = p.pos - q.pos
        return np.dot(d, d), np.sum(p.m * 2), np.max(p.pos), p.pos[1:].sum(), p.pos.size + p.m.shape[0]

    p, q = bodies(30), bodies(30, seed=2)
    d = p["pos"] - q["pos"]
    wanted = (d * d).sum(axis=1), 2 * p["m"].sum(axis=(1, 2)), p["pos"].max(axis=1), p["pos"][:, 1:].sum(axis=1)
    for found, expected in zip(f(p, q), (*wanted, np.full(30, 5))):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def length(v):
    return np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])


def test_functions_take_them():
    @spmdvm.kernel
    def f(p):
        return length(p.pos)

    @spmdvm.kernel
    def g(ps, out):
        for i in spmdvm.foreach(len(ps)):
            out[i] = length(ps[i].pos)

    p, out = bodies(30), np.zeros(30, np.float32)
    g(p, out)
    np.testing.assert_allclose(f(p), np.linalg.norm(p["pos"], axis=1), rtol=1e-6)
    assert (f(p) == out).all()


def test_array_kernels_change_them():
    @spmdvm.kernel
    def change(ps, n):
        for i in spmdvm.foreach(len(ps)):
            ps[i].pos[1] += 1
            ps[i]["pos"][0] = ps[i].tag
            for k in range(n):
                ps[i].m[k, 1 - k] = k
            ps[i].range.low = 7
            ps[i].ends[1].high *= 2
            p = ps[i]
            p.ends[0].low = p.range.low + 1

    p = bodies(40)
    wanted = p.copy()
    wanted["pos"][:, 1] += 1
    wanted["pos"][:, 0] = wanted["tag"]
    wanted["m"][:, 0, 1], wanted["m"][:, 1, 0] = 0, 1
    wanted["range"]["low"] = 7
    wanted["ends"]["high"][:, 1] *= 2
    wanted["ends"]["low"][:, 0] = 8
    change(p, 2)
    assert same(p, wanted)


def test_whole_fields_are_assigned():
    @spmdvm.kernel
    def change(ps, qs, dt: np.float32):
        for i in spmdvm.foreach(len(ps)):
            ps[i].pos += qs[i].pos * dt
            ps[i].range = qs[i].range
            ps[i].m = 0
            ps[i].ends[1] = 5, 0.5
            ps[i].ends[0] = ps[i].ends[1]
            qs[i].pos = 1, 2, ps[i].tag

    p, q = bodies(40), bodies(40, seed=3)
    wanted, other = p.copy(), q.copy()
    wanted["pos"] += other["pos"] * np.float32(0.5)
    wanted["range"] = other["range"]
    wanted["m"] = 0
    wanted["ends"] = (5, 0.5)
    other["pos"] = np.array([np.ones(40), 2 * np.ones(40), p["tag"]]).T
    change(p, q, 0.5)
    assert same(p, wanted) and same(q, other)


def test_fields_of_whole_arrays():
    @spmdvm.kernel
    def f(ps, out):
        ps["pos"][:, 2] *= 2
        ps["range"]["low"] += 1
        for i in spmdvm.foreach(len(ps)):
            out[i] = ps["pos"][i, 0] + ps["range"][i].low
        return np.sum(ps["pos"]), np.sum(ps["range"]["high"])

    p, out = bodies(40), np.zeros(40)
    wanted = p.copy()
    wanted["pos"][:, 2] *= 2
    wanted["range"]["low"] += 1
    total, high = f(p, out)
    assert same(p, wanted)
    np.testing.assert_allclose(out, p["pos"][:, 0] + p["range"]["low"], rtol=1e-6)
    np.testing.assert_allclose([total, high], [p["pos"].sum(), p["range"]["high"].sum()], rtol=1e-5)


@pytest.mark.parametrize("dtype", [BODY, PACKED], ids=["aligned", "packed"])
def test_results(dtype):
    @spmdvm.kernel
    def swapped(p) -> dtype:
        x, y, z = p.pos
        return p.tag, (z, y, x), p.range, ((p.m[0, 0], 1), (2, 3)), (p.ends[1], (4, p.m[1, 1]))

    @spmdvm.kernel
    def larger(a, b):
        return a if a.pos[0] > b.pos[0] else b

    p, q = bodies(20, dtype), bodies(20, dtype, seed=4)
    found = swapped(p)
    assert found.dtype == dtype and (found["pos"] == p["pos"][:, ::-1]).all() and same(found["range"], p["range"])
    assert (found["m"][:, 0, 0] == p["m"][:, 0, 0]).all() and (found["m"][:, 1] == (2, 3)).all()
    assert same(found["ends"][:, 0], p["ends"][:, 1]) and (found["ends"]["high"][:, 1] == p["m"][:, 1, 1]).all()
    assert same(larger(p, q), np.where(p["pos"][:, 0] > q["pos"][:, 0], p, q))
    inner = spmdvm.kernel(lambda p: p.range)(p)
    assert same(inner, p["range"])


def test_complex_numbers_and_odd_names():
    inner = np.dtype([("z", np.complex64, 2), ("float", np.int32)], align=True)
    dtype = np.dtype([("int", inner), ("a b", np.complex128)], align=True)

    @spmdvm.kernel
    def f(p: dtype):
        return p.int.z[1] * p["a b"] + p.int["float"]

    @spmdvm.kernel
    def g(p):
        for i in spmdvm.foreach(len(p)):
            p[i].int.z[0] = p[i].int.z[1] * 2j

    p = np.zeros(5, dtype)
    p["int"]["z"][:, 1], p["a b"], p["int"]["float"] = 1 + 2j, np.arange(5) * 1j, 3
    assert (f(p) == (1 + 2j) * p["a b"] + 3).all()
    g(p)
    assert (p["int"]["z"][:, 0] == (1 + 2j) * 2j).all()


def test_names_keep_the_record():
    @spmdvm.kernel
    def f(ps, i: int):
        pos, inner = ps[i].pos, ps[i + 1].range
        tag, _, _, m, ends = ps[i]
        i = 0
        pos[1] = 5
        inner.low = i + 6
        m[0, 1] = tag
        for e in ends:
            e.low = 7

    p = bodies(4)
    wanted = p.copy()
    wanted[2]["pos"][1], wanted[3]["range"]["low"], wanted[2]["m"][0, 1] = 5, 6, wanted[2]["tag"]
    wanted[2]["ends"]["low"] = 7
    f(p, 2)
    assert same(p, wanted)


def test_many_numbers():
    dtype = np.dtype([("n", np.int32), ("counts", np.int32, (20, 20))])

    @spmdvm.kernel
    def f(p, k):
        return p.counts[p.n, k] + np.sum(p.counts)

    p = np.zeros(3, dtype)
    p["n"], p["counts"] = [1, 2, 3], np.arange(400).reshape(20, 20)
    assert (f(p, 4) == np.array([24, 44, 64]) + 79800).all()
    with pytest.raises(spmdvm.CompileError, match="records of more than 256 numbers are not taken as a whole"):
        spmdvm.kernel(lambda p: p)(p)


def test_indices_are_tested():
    @spmdvm.kernel
    def f(p, k):
        return p.pos[k]

    @spmdvm.kernel
    def g(ps, k):
        for i in spmdvm.foreach(len(ps)):
            ps[i].pos[k] = 0

    with pytest.raises(IndexError, match="of a part of `p`"):
        f(bodies(3), 3)
    with pytest.raises(IndexError):
        spmdvm.kernel(lambda p: p.m[0, 5])(bodies(3))
    with pytest.raises(IndexError):
        g(bodies(3), 3)
    with pytest.raises(IndexError):
        g(bodies(3), -1)


def test_other_layouts():
    packed_inside = np.dtype([("tag", np.int8), ("range", PACKED_PAIR)], align=True)

    @spmdvm.kernel
    def f(ps):
        return ps[0].range.high

    with pytest.raises(TypeError, match=r"fields do not lie as in C; make the dtype with align=True"):
        f(np.zeros(3, packed_inside))
    packed = bodies(3, PACKED)
    with pytest.raises(TypeError, match="fields do not lie as in C") as caught:
        f(packed)
    advice = re.search(r"x\.(astype\(.*, align=True\)\))", str(caught.value))
    assert f(eval(f"packed.{advice[1]}")) == packed[0]["range"]["high"]
    with pytest.raises(TypeError, match="with its bytes in the other order; convert it"):
        f(np.zeros(3, [("range", [("high", ">f8")])]))
    with pytest.raises(spmdvm.CompileError, match="a record without fields"):
        spmdvm.kernel(_of_nothing)
    other = np.dtype([("range", [("high", "f8"), ("low", "i2")])])

    @spmdvm.kernel
    def g(p: packed_inside):
        return p.range.low

    with pytest.raises(TypeError, match=r"`range` does not cast safely|no `tag`"):
        g(np.zeros(3, other))
    swapped = np.dtype([("tag", np.int8), ("range", [("high", "f8"), ("low", "i2")])])
    with pytest.raises(TypeError, match="`range`"):
        g(np.zeros(3, swapped))


def _of_nothing(p: np.dtype([])):
    return 1


def a_field_that_is_not(p):
    return p.range.x  # HERE this is no field `x`; the fields are low, high


def _size(q):
    return q.low


def a_record_passed_on(p):
    return _size(p.range)  # HERE a field of records is passed on neither to functions nor as a result


def a_field_of_numbers(p):
    return p.pos.x  # HERE `p.pos` is an array and has no `x`


def too_many_numbers(p) -> BODY:
    return 1, (1, 2), p.range, p.m, p.ends  # HERE the field `pos` of the result has 3 values


def stored_to(p):
    p.pos[0] = 1  # HERE `p` is a record that elementwise kernels only read


def stored_to_within(p):
    p.range.low = 1  # HERE `p` is a record that elementwise kernels only read


@pytest.mark.parametrize(
    "function",
    [a_field_that_is_not, a_record_passed_on, a_field_of_numbers, too_many_numbers, stored_to, stored_to_within],
    ids=lambda f: f.__name__,
)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(bodies(3)), function)


def first_of(pos):
    return pos[0] * 2


def changed(pos, p):
    p[0].pos[0] = 50
    return pos[0]


def test_a_field_that_is_passed_may_not_change_meanwhile():
    def reads(p):
        return first_of(p[0].pos)

    def changes(p):
        return changed(p[0].pos, p)

    def changes_others(p, q):
        return changed(p[0].pos, q)

    p, q = bodies(3), bodies(3, seed=2)
    before = p["pos"][0, 0]
    assert spmdvm.kernel(reads)(p) == before * 2 and spmdvm.kernel(changes_others)(p, q) == before
    assert q["pos"][0, 0] == 50
    with pytest.raises(spmdvm.CompileError, match="a field is passed as the numbers that it has then"):
        spmdvm.kernel(changes)(p)
