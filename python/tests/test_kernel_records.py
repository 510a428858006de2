"""Elementwise kernels of records: layouts, shapes, results, and what is wrong with them."""

import pickle

import numpy as np
import pytest
import spmdvm
from marks import assert_told
from spmdvm import uniform

PACKED = np.dtype([("x", np.float64), ("k", np.int8), ("y", np.float32), ("on", np.bool_), ("n", np.uint16)])
ALIGNED = np.dtype(PACKED.descr, align=True)
# Another order in memory, with room between fields and behind them.
SCATTERED = np.dtype(
    {
        "names": ["x", "k", "y", "on", "n"],
        "formats": [np.float64, np.int8, np.float32, np.bool_, np.uint16],
        "offsets": [24, 3, 9, 0, 14],
        "itemsize": 40,
    }
)
LAYOUTS = pytest.mark.parametrize("layout", [PACKED, ALIGNED, SCATTERED], ids=["packed", "aligned", "scattered"])


def records(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    found = np.zeros(shape, dtype)
    found["x"], found["y"] = rng.normal(size=shape), rng.normal(size=shape)
    found["k"], found["n"] = rng.integers(-100, 100, shape), rng.integers(0, 60000, shape)
    found["on"] = rng.random(shape) < 0.5
    return found


@spmdvm.kernel
def weight(p, by=1.0):
    return (p.x * p.k if p.on else p.y + p.n) * by


def expected(p, by=1.0):
    return np.where(p["on"], p["x"] * p["k"], p["y"] + p["n"]) * by


@spmdvm.kernel
def moved(p: PACKED, dx) -> PACKED:
    return p.x + dx, p.k, p["y"] * 2, not p.on, p.n + 1


@LAYOUTS
@pytest.mark.parametrize("engine", ["interp", "ir", "clif", "auto"])
@pytest.mark.parametrize("width", [1, 4, 64])
def test_layouts_engines_and_widths(layout, engine, width):
    kernel = spmdvm.kernel(weight.__wrapped__, engine=engine, width=width)
    p = records(150, layout)
    np.testing.assert_allclose(kernel(p), expected(p), rtol=1e-6)
    assert kernel(p).tobytes() == weight(p).tobytes()


@LAYOUTS
@pytest.mark.parametrize("threads", [1, 2])
def test_shapes(layout, threads):
    p = records((30, 40), layout)
    frozen = p[0].copy()
    frozen.flags.writeable = False
    for given, by in [
        (p, 2.0),
        (p, np.arange(40)),
        (p[0], np.arange(3)[:, None]),
        (p[:, :1], np.arange(40.0)),
        (p[::-2, 3::5], 1.0),
        (p.T, 0.5),
        (frozen, 1),
        (p[:0], 1),
        (p[:, 7:7], np.zeros((30, 1))),
        (np.array(p[1, 2]), 3.0),
        (p.view(np.recarray), 3.0),
    ]:
        found = weight(given, by, threads=threads)
        assert found.shape == np.broadcast_shapes(given.shape, np.shape(by)) if np.ndim(found) else not given.shape
        np.testing.assert_allclose(found, expected(given, by), rtol=1e-6)
    one = weight(p[3, 4])
    assert type(one) is float and one == pytest.approx(float(expected(p[3, 4])))
    # Many, of which the last begin beyond a piece.
    many = records(200_003, layout)
    np.testing.assert_allclose(weight(many, threads=threads), expected(many), rtol=1e-6)


@LAYOUTS
def test_records_as_results(layout):
    p = records((4, 9), layout)
    found = moved(p, np.arange(9))
    assert found.dtype == PACKED and found.shape == (4, 9)
    assert (found["x"] == p["x"] + np.arange(9)).all() and (found["y"] == p["y"] * 2).all()
    assert (found["on"] == ~p["on"]).all() and (found["n"] == p["n"] + 1).all() and (found["k"] == p["k"]).all()
    one = moved(p[1, 1], 0.5)
    assert isinstance(one, np.void) and one.dtype == PACKED and one["x"] == p[1, 1]["x"] + 0.5
    assert moved(p[:0], 1).shape == (0, 9)
    # Of the same type as an argument where nothing else is said.
    larger = spmdvm.kernel(lambda a, b: a if a.x > b.x else b)
    other = records((4, 9), layout, seed=2)
    found = larger(p, other)
    assert found.dtype == layout and (found["x"] == np.maximum(p["x"], other["x"])).all()
    assert (found == np.where(p["x"] > other["x"], p, other)).all()
    assert larger(p, other[0, 0]).shape == (4, 9)


def test_records_among_other_results():
    @spmdvm.kernel
    def sorted_pair(a, b):
        apart = abs(a.x - b.x)
        if b.x < a.x:
            return b, a, apart
        return a, b, apart

    a, b = records(50, ALIGNED), records(50, PACKED, seed=3)
    again = spmdvm.kernel(lambda a, b: (b, a, abs(a.x - b.x)) if b.x < a.x else (a, b, abs(a.x - b.x)))
    low, high, apart = sorted_pair(a, b, threads=2)
    assert all((one == other).all() for one, other in zip(again(a, b), (low, high, apart)))
    assert (low["x"] == np.minimum(a["x"], b["x"])).all() and (high["x"] == np.maximum(a["x"], b["x"])).all()
    assert (apart == abs(a["x"] - b["x"])).all() and low.dtype == ALIGNED
    where = np.arange(50) % 2 == 0
    out = np.zeros(50, SCATTERED), np.zeros(50, ALIGNED), np.full(50, -1.0)
    assert sorted_pair(a, b, out=out, where=where) is out
    assert (out[0][where] == low[where]).all() and (out[0]["x"][~where] == 0).all()
    assert (out[1][where] == high[where]).all() and (out[2][~where] == -1).all()
    low, high, apart = sorted_pair(a[0], b[0])
    assert low.dtype == high.dtype == ALIGNED and type(apart) is float


def test_out_may_be_what_is_read():
    for layout in (ALIGNED, PACKED, SCATTERED):
        p = records(300, layout)
        new = moved(p, 1.0)
        assert moved(p, 1.0, out=p) is p and p.dtype == layout
        assert all((p[name] == new[name]).all() for name in PACKED.names)
        new = moved(p[:-1], 1.0)
        moved(p[:-1], 1.0, out=p[1:])
        assert all((p[1:][name] == new[name]).all() for name in PACKED.names)


def test_annotated_records_take_what_has_their_fields():
    more = np.dtype([("n", "u1"), ("on", "?"), ("other", "i8"), ("y", ">f4"), ("k", "i1"), ("x", "f4")])
    p = np.zeros(3, more)
    p["x"], p["n"] = 1.5, [1, 2, 3]
    found = moved(p, 0)
    assert found["x"].tolist() == [1.5] * 3 and found["n"].tolist() == [2, 3, 4]
    assert moved([(1, 2, 3, True, 4)] * 2, 1)["x"].tolist() == [2, 2]
    assert moved((1, 2, 3, True, 4), [1, 2])["n"].tolist() == [5, 5]
    assert moved((1, 2, 3, True, 4), 1).item() == (2.0, 2, 6.0, False, 5)


def test_one_record_for_all():
    plane = np.dtype([("a", np.float64), ("b", np.float64)])

    @spmdvm.kernel
    def above(x, y, p: uniform[plane]):
        return y > p.a * x + p["b"]

    one = np.zeros(1, plane)
    one["a"], one["b"] = 2, 1
    x = np.arange(5.0)
    assert above(x, 5.0, one).tolist() == [True, True, False, False, False]
    assert above(x, 5.0, one[0], threads=2).tolist() == above(x, 5.0, (2, 1)).tolist() == above(x, 5.0, one).tolist()
    with pytest.raises(TypeError, match=r"`p` takes one record, not an array of shape \(3,\)"):
        above(x, 5.0, np.zeros(3, plane))


def test_one_record_in_array_kernels():
    @spmdvm.kernel
    def nearest(p: PACKED, others, scale):
        best = 1e9
        for i in spmdvm.foreach(len(others)):
            best = min(best, abs(others[i].x - p.x) * scale)
        return best, p.k, weight(p)

    p, others = records(3, PACKED), records(60, ALIGNED, seed=4)
    for one in (p[1], p[1:2], p[1].item(), p[1].astype(ALIGNED)):
        best, k, size = nearest(one, others, 2)
        assert best == 2 * abs(others["x"] - p[1]["x"]).min() and k == p[1]["k"]
        assert size == pytest.approx(float(expected(p[1])))
    with pytest.raises(TypeError, match=r"nearest\(\): `p` takes one record, not an array of shape \(3,\)"):
        nearest(p, others, 2)

    @spmdvm.kernel
    def shifted(a, p):
        out = np.zeros(len(a))
        out[:] = a + p.x
        return out[1:]

    assert shifted(np.arange(3.0), p[0]).tolist() == [1 + p[0]["x"], 2 + p[0]["x"]]
    assert shifted(np.arange(3.0), p[1]).tolist() == [1 + p[1]["x"], 2 + p[1]["x"]]

    @spmdvm.kernel
    def outside(a, p):
        p.x = a[0]

    with pytest.raises(spmdvm.CompileError, match="`p` is a record that the kernel only reads"):
        outside(np.arange(3.0), p[0])

    @spmdvm.kernel
    def beyond(a, p, m):
        return a[p.k] + m[0, p.k]

    p[0]["k"] = 7
    with pytest.raises(IndexError, match="index 7 of `a`, which has 3 elements"):
        beyond(np.arange(3.0), p[0], np.zeros((2, 9)))
    with pytest.raises(IndexError, match=r"outside of `m`, whose shape is \(2, 4\)"):
        beyond(np.arange(9.0), p[0], np.zeros((2, 4)))


def test_array_kernels_return_records():
    @spmdvm.kernel
    def centre(ps) -> PACKED:
        x, y = 0.0, 0.0
        for i in spmdvm.foreach(len(ps)):
            x += ps[i].x
            y += ps[i].y
        return x / len(ps), 0, y / len(ps), True, len(ps)

    @spmdvm.kernel
    def first_beyond(ps, limit) -> PACKED:
        for p in ps:
            if p.x > limit:
                return p
        return ps[0] if ps[0].on else ps[1]

    @spmdvm.kernel
    def all_moved(ps, dx):
        for i in spmdvm.foreach(len(ps)):
            ps[i] = moved(ps[i], dx)

    ps = records(40, ALIGNED)
    found = centre(ps)
    assert isinstance(found, np.void) and found.dtype == PACKED and found["n"] == 40 and found["on"]
    assert found["x"] == pytest.approx(ps["x"].mean()) and found["y"] == pytest.approx(ps["y"].mean(), rel=1e-5)
    assert first_beyond(ps, 0.5).item() == ps[ps["x"] > 0.5][0].item()
    assert first_beyond(ps, 99).item() == ps[0 if ps[0]["on"] else 1].item()
    expected = moved(ps, 0.5)
    all_moved(ps, 0.5)
    assert all((ps[name] == expected[name]).all() for name in PACKED.names)

    @spmdvm.kernel
    def too_few(ps) -> PACKED:
        return ps[0].x, 1

    with pytest.raises(spmdvm.CompileError, match="the kernel returns a record of 5 fields, x, k, y, on, n"):
        too_few(ps)

    @spmdvm.kernel
    def not_annotated(ps):
        return ps[0]

    with pytest.raises(spmdvm.CompileError, match="annotate the kernel with its dtype"):
        not_annotated(ps)

    @spmdvm.kernel
    def field_of_a_tuple(p):
        q = moved(p, 1.0)
        return q.x

    with pytest.raises(spmdvm.CompileError, match=r"`q` is a tuple and has no `x`(.|\n)*take them apart"):
        field_of_a_tuple(ps)


def fields_by_name(p: PACKED):
    return p["x"] + p["k"]


def test_functions_of_records_by_the_names_of_their_fields():
    @spmdvm.kernel
    def f(p):
        return fields_by_name(p) * 2, moved(p, 1)[0]

    p = records(9, PACKED)
    assert f.is_elementwise and (f(p)[0] == (p["x"] + p["k"]) * 2).all() and (f(p)[1] == p["x"] + 1).all()


def test_expressions_of_records():
    p = records(20, SCATTERED)
    assert (spmdvm.evaluate("p.x * 2 + y", {"p": p, "y": 1}) == p["x"] * 2 + 1).all()
    assert (spmdvm.vectorize("abs(p.x)")(p) == abs(p["x"])).all()


def test_functions_names_and_taking_apart():
    def size(q, by=1):
        return abs(q.x) * by

    @spmdvm.kernel
    def f(p, q):
        r = p
        x, k, _, on, _ = q
        return size(r) + size(q, by=2) + (x if on else k)

    p, q = records(40, PACKED), records(40, ALIGNED, seed=5)
    wanted = abs(p["x"]) + 2 * abs(q["x"]) + np.where(q["on"], q["x"], q["k"])
    np.testing.assert_allclose(f(p, q), wanted)

    @spmdvm.kernel
    def total(p):
        found = 0.0
        for i in spmdvm.foreach(len(p)):
            found += weight(p[i], 2.0)
        return found

    np.testing.assert_allclose(total(q), expected(q, 2.0).sum(), rtol=1e-6)


def test_names_that_the_language_has():
    odd = np.dtype([("float", np.float32), ("a b", np.float64), ("é", np.int32), ("new", np.int8), ("Record0", bool)])

    @spmdvm.kernel
    def f(p: odd) -> odd:
        return p["a b"], p["é"] * 2.5, p["new"], p["new"] + 1, True

    p = np.zeros(3, odd)
    p["é"], p["a b"], p["new"] = [1, 2, 3], 7, 4
    found = f(p)
    assert found["float"].tolist() == [7] * 3 and found["a b"].tolist() == [2.5, 5, 7.5]
    assert found["é"].tolist() == [4] * 3 and found["new"].tolist() == [5] * 3 and found["Record0"].all()

    @spmdvm.kernel
    def g(p):
        p["float"] += 1
        for i in spmdvm.foreach(len(p)):
            p[i]["a b"] = p[i]["é"] + p[i]["new"] + p[i].Record0

    q = p.astype(np.dtype(odd.descr, align=True))
    g(q)
    assert q["float"].tolist() == [1] * 3 and q["a b"].tolist() == [5, 6, 7]


def test_one_field():
    single = np.dtype([("x", np.float32)])

    @spmdvm.kernel
    def f(p: single) -> single:
        return (p.x + 1,)

    assert f(np.zeros(3, single))["x"].tolist() == [1, 1, 1]


def test_kernels_go_by_value():
    @spmdvm.kernel
    def f(p: PACKED) -> PACKED:
        return p.x, 1, 2, True, 3

    other = pickle.loads(pickle.dumps(f))
    assert other(records(3, PACKED)).dtype == PACKED


def test_progress_profiles_and_effects(capsys):
    told = []
    p = records(1000, PACKED)
    weight(p, progress=lambda *of: told.append(of))
    assert told[-1] == (1000, 1000)
    assert (weight.profile(p).result == weight(p)).all()

    @spmdvm.kernel
    def show(p):
        if p.k > 0:
            print("k", p.k)

    p["k"] = 0
    assert show(p) is None
    assert capsys.readouterr().out == ""


def with_a_store(p):
    p.x = 1.0  # HERE `p` is a record that elementwise kernels only read
    return p.x


def with_a_store_by_name(p):
    q = p
    q.k += 1  # HERE `p` is a record that elementwise kernels only read
    return q.k


def _reset(q):
    q.x = 0.0


def with_a_store_elsewhere(p):
    _reset(p)  # HERE `p` is a record that elementwise kernels only read
    return p.x


def computed(p):
    return p * 2  # HERE records are not computed with


def compared(p):
    return p == p  # HERE records are not computed with


def other_field(p):
    return p.z  # HERE this is no field `z`; the fields are x, k, y, on, n


def too_few(p) -> PACKED:
    return p.x, p.k  # HERE the kernel returns a record of 5 fields, x, k, y, on, n


def one_number(p) -> PACKED:
    return p.x  # HERE the kernel returns a record of 5 fields


def a_float_for_an_integer(p) -> PACKED:
    return p.x, p.x, p.y, p.on, p.n  # HERE the field `k` of the result is an `int8`


def a_number_for_a_bool(p) -> PACKED:
    return p.x, p.k, p.y, p.k, p.n  # HERE the field `on` of the result is a `bool`


def too_large_a_number(p) -> PACKED:
    return p.x, 300, p.y, p.on, p.n  # HERE 300 is no `int8`


def now_this_now_that(p):
    if p.on:
        return p
    return p.x  # HERE this returns other values than other parts of the function


def field_of_a_field(p):
    return p.x.y  # HERE `p.x` is a number and has no `y`


def returned_within(p):
    def same(q):
        return q  # HERE a record is not returned as a whole

    return same(p).x


def another_name(p):
    p = p.x  # HERE the parameter `p` is a record and cannot be assigned
    return p


def made(p) -> PACKED:
    return np.array((p.x, p.k), dtype=PACKED)  # HERE this is no type of numbers


def chosen(p, o=0):
    q = p if p.on else o  # HERE a number is needed
    return q.x


WRONG = [
    with_a_store, with_a_store_by_name, with_a_store_elsewhere, computed, compared, other_field, too_few, one_number,
    a_float_for_an_integer, a_number_for_a_bool, field_of_a_field, too_large_a_number, now_this_now_that,
    returned_within, another_name, made, chosen,
]  # fmt: skip


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_mistakes_are_told_at_their_line(function):
    assert_told(lambda: spmdvm.kernel(function)(records(3, PACKED)), function)


def test_no_other_record():
    @spmdvm.kernel
    def f(p, q):
        if p.on:
            p = q
        return p.x

    with pytest.raises(spmdvm.CompileError, match="the parameter `p` cannot become another record here"):
        f(records(3, PACKED), records(3, PACKED))
    assert spmdvm.kernel(lambda p: p is None)(records(1, PACKED)).tolist() == [False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3.0, "`p` takes records {.*}, and was given a `float`"),
        (np.zeros(3), "`p` takes records {.*}, and was given an array of float64"),
        ("text", "`p` takes records {.*}, and was given a `str`"),
        ({"x": 1}, "`p` takes records {.*}, and was given a `dict`"),
        ((1, 2), "`p` takes records {.*}: could not assign tuple"),
        (np.zeros(3, [("x", float)]), "`p` takes records {.*}, and those given have no `k`: x"),
        (
            np.zeros(3, [(n, np.float64) for n in PACKED.names]),
            "`p` takes records {.*}, and float64 of `k` does not cast safely",
        ),
        (np.ma.zeros(3, PACKED), "`p` is a masked array of records, .* pass its data"),
    ],
)
def test_other_arguments_are_refused(given, message):
    with pytest.raises(TypeError, match=r"moved\(\): " + message):
        moved(given, 1)


def test_other_uses_are_refused():
    with pytest.raises(TypeError, match=r"whose field `at` is .*fields are numbers, and arrays and records"):
        weight(np.zeros(3, [("at", "S3", 2)]))
    with pytest.raises(TypeError, match="whose field `x` is >f8, with its bytes in the other order; convert it"):
        weight(np.zeros(3, [("x", ">f8")]))
    with pytest.raises(TypeError, match=r"moved\(\): `out` must be an array of .*, but was given an array of float64"):
        moved(records(3, PACKED), 1, out=np.zeros(3))
    with pytest.raises(ValueError, match=r"`out` has shape \(2,\), but the result has shape \(3,\)"):
        moved(records(3, PACKED), 1, out=np.zeros(2, PACKED))
    with pytest.raises(ValueError, match=r"the shapes \(3,\) of `p`, \(2,\) of `dx` do not broadcast together"):
        moved(records(3, PACKED), np.zeros(2))
    with pytest.raises(TypeError, match="`map` takes a function of numbers, and `p` of the kernel `moved` is a record"):
        spmdvm.reduce("+", np.zeros(3), map=moved)
    with pytest.raises(spmdvm.CompileError, match="whose field `at` is"):

        @spmdvm.kernel
        def f(p: np.dtype([("at", "M8[s]", 2)])):
            return p.at

    with pytest.raises(spmdvm.CompileError, match="make the dtype with align=True; elementwise kernels take"):

        @spmdvm.kernel
        def g(p: spmdvm.array[PACKED]):
            return p[0].x
