"""Elementwise kernels of several results, over arrays of all kinds and by several threads."""

import threading

import numpy as np
import pytest
import spmdvm
from spmdvm import int32, uniform

THREADS = (1, 2, 3, 7, 0, 5000)


@spmdvm.kernel
def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


@spmdvm.kernel
def steps(n):
    count, most = 0, n
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
        most = max(most, n)
    return count, most, count > 10


def python_steps(n):
    count, most = 0, n
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
        most = max(most, n)
    return count, most, count > 10


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("size", [0, 1, 7, 64, 65, 1000, 200_001])
def test_any_number_of_threads_gives_the_same(threads, size):
    x, y = np.random.default_rng(size).normal(size=(2, size))
    one, several = polar(x, y), polar(x, y, threads=threads)
    for a, b in zip(one, several):
        assert a.dtype == b.dtype == np.float64 and a.shape == (size,)
        assert a.tobytes() == b.tobytes()
    np.testing.assert_allclose(several[0], np.hypot(x, y), rtol=1e-15)


@pytest.mark.parametrize("engine", ["interp", "ir", "clif", "auto"])
@pytest.mark.parametrize("width", [1, 4, 8, 64])
def test_engines_and_widths(engine, width):
    kernel = spmdvm.kernel(polar.__wrapped__, engine=engine, width=width)
    x = np.linspace(-3, 3, 150)
    expected = polar(x, 0.5)
    for threads in (1, 2):
        for a, b in zip(kernel(x, 0.5, threads=threads), expected):
            assert a.tobytes() == b.tobytes()


def test_loops_that_differ():
    n = np.arange(1, 3001)
    count, most, many = steps(n, threads=2)
    expected = [python_steps(k) for k in range(1, 3001)]
    assert list(zip(count.tolist(), most.tolist(), many.tolist())) == expected
    assert many.dtype == bool


def test_functions_that_index_what_is_outside():
    table = np.array([1.0, 10.0, 100.0])

    def of(k):
        return table[k % 3]

    @spmdvm.kernel
    def f(k):
        return of(k), of(k + 1)

    assert [r.tolist() for r in f(np.arange(4), threads=2)] == [[1, 10, 100, 1], [10, 100, 1, 10]]


def test_gangs_are_the_same_for_every_number_of_threads():
    @spmdvm.kernel(width=8)
    def of_gang(x):
        return spmdvm.lane, spmdvm.reduce_add(x)

    x = np.arange(1003)
    lanes, sums = of_gang(x)
    assert (lanes == x % 8).all() and (sums[:1000] == np.repeat(x[:1000].reshape(-1, 8).sum(1), 8)).all()
    for threads in THREADS:
        for a, b in zip(of_gang(x, threads=threads), (lanes, sums)):
            assert (a == b).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_arrays_of_all_kinds(threads):
    rng = np.random.default_rng(3)
    square = rng.normal(size=(40, 40))
    of_bytes = np.frombuffer(b"\0" + rng.normal(size=40).tobytes(), np.uint8)
    unaligned = np.ndarray(40, np.float64, of_bytes[1:].tobytes())
    read_only = rng.normal(size=40)
    read_only.flags.writeable = False
    for x, y in [
        (square, square.T),
        (square[::2, ::-1], 1.5),
        (np.asfortranarray(square), square[0]),
        (square[:, :1], square[:1]),
        (read_only, unaligned),
        (np.broadcast_to(1.0, (3, 0, 5)), 2.0),
        (np.array(3.0), np.array(4.0)),
        (square[1].astype(np.float32), np.float32(2)),
        (np.arange(40, dtype=np.int8), square),
        ([1.0, 2.0, 3.0], (4.0, 5.0, 6.0)),
    ]:
        radius, angle = polar(x, y, threads=threads)
        assert np.shape(radius) == np.shape(angle) == np.broadcast_shapes(np.shape(x), np.shape(y))
        np.testing.assert_allclose(radius, np.hypot(x, y), rtol=1e-6)
        np.testing.assert_allclose(angle, np.arctan2(y, x), rtol=1e-6, atol=1e-7)
    assert polar(3.0, 4.0, threads=threads) == (5.0, np.arctan2(4.0, 3.0))


@pytest.mark.parametrize("threads", [1, 2])
def test_out_and_where(threads):
    x = np.arange(600.0).reshape(2, 300)
    where = x[0] % 3 == 0
    out = np.full((2, 300), -1.0), np.full((2, 300), -2.0)
    assert polar(x, 1.0, out=out, where=where, threads=threads) is out
    expected = np.hypot(x, 1.0)
    np.testing.assert_allclose(out[0], np.where(where, expected, -1.0))
    assert (out[1][:, ~where] == -2).all() and (out[1][:, where] != -2).all()
    # What is not computed is not looked at.
    divide = spmdvm.kernel(lambda a, b: (a // b, a % b))
    b = np.arange(-2, 3)
    whole, rest = divide(7, b, where=b != 0, threads=threads)
    assert whole.tolist() == [-4, -7, 0, 7, 3] and rest.tolist() == [-1, 0, 0, 0, 1]
    assert [r.tolist() for r in polar(x, 1.0, where=False, threads=threads)] == [[[0.0] * 300] * 2] * 2
    # More elements than arguments have, other orders, and every second one.
    wide = np.zeros((4, 300)), np.zeros((300, 4)).T
    polar(x[1], 2.0, out=wide, threads=threads)
    assert (wide[0] == polar(x[1], 2.0)[0]).all() and (wide[1] == polar(x[1], 2.0)[1]).all()
    lines = np.zeros((600, 2))
    polar(x.ravel(), 1.0, out=(lines[:, 0], lines[:, 1]), threads=threads)
    assert [column.tolist() for column in lines.T] == [r.tolist() for r in polar(x.ravel(), 1.0)]


@pytest.mark.parametrize("threads", [1, 2])
def test_out_may_be_what_is_read(threads):
    x, y = np.random.default_rng(1).normal(size=(2, 500))
    radius, angle = polar(x, y)
    a, b = x.copy(), y.copy()
    polar(a, b, out=(b, a), threads=threads)
    assert (b == radius).all() and (a == angle).all()
    a = np.concatenate([x, [0.0]])
    other = np.empty(500)
    polar(a[:-1], y, out=(a[1:], other), threads=threads)
    assert (a[1:] == radius).all() and (other == angle).all() and a[0] == x[0]
    mask = x > 0
    parts = mask.copy(), np.zeros(500, bool)
    spmdvm.kernel(lambda a: (a > 1, a > 2))(x, where=mask, out=(mask, parts[1]), threads=threads)
    assert (mask == np.where(parts[0], x > 1, False)).all()


def test_out_may_be_the_parts_of_an_array():
    z = np.full((2, 5), 3 + 4j)
    assert polar(3.0, np.full((2, 5), 4.0), out=(z.real, z.imag), threads=2)[0].base is not None
    np.testing.assert_allclose(z, 5 + 1j * np.arctan2(4.0, 3.0))
    one, two = spmdvm.kernel(lambda: (1, 2.5))()
    assert (one, two) == (1, 2.5)


def test_progress_counts_elements():
    n = np.arange(1, 400_001)
    for threads in (1, 2):
        told = []
        steps(n, threads=threads, progress=lambda *of, told=told: told.append(of))
        assert told[-1] == (n.size, n.size) and {total for _, total in told} == {n.size}
        assert [done for done, _ in told] == sorted(done for done, _ in told)
    told = []
    steps(5, progress=lambda *of: told.append(of))
    assert told[-1] == (1, 1)

    def stop(done, total):
        raise KeyError(done)

    with pytest.raises(KeyError):
        steps(n, threads=2, progress=stop)


def test_bars(capsys):
    steps(np.arange(1000), progress=True, threads=2)
    assert "steps: 100%" in capsys.readouterr().err


def test_traps_are_at_the_line():
    @spmdvm.kernel
    def both(x):
        a = x + 1
        b = 7 // x
        return a, b

    for threads in (1, 2):
        with pytest.raises(ZeroDivisionError, match=r"b = 7 // x") as caught:
            both(np.arange(1000) - 900, threads=threads)
        first = both.__wrapped__.__code__.co_firstlineno
        assert [(frame.function, frame.line - first) for frame in caught.value.stack] == [("both", 3)]
    assert both(np.arange(1, 4), threads=2)[1].tolist() == [7, 3, 2]


def test_traps_tell_the_element():
    @spmdvm.kernel
    def both(x, by: uniform[int32]):
        assert x != 7, "seven"
        return 7 // x, x * by

    x = np.arange(3000).reshape(30, 100) - 2345
    expected = ZeroDivisionError, (23, 45), {"x": 0, "by": 2}, 2345 % both_width()
    for special in (
        {},
        {"threads": 2},
        {"threads": 50},
        {"where": x >= 0},
        {"out": (np.zeros_like(x), np.zeros_like(x))},
    ):
        with pytest.raises(expected[0]) as caught:
            both(x.clip(None, 6), 2, **special)
        trap = caught.value
        assert (trap.element, trap.arguments, trap.lane) == expected[1:]
        assert f"(lane {trap.lane}) in `both`" in str(trap)
    with pytest.raises(spmdvm.AssertionFailed, match=r"x != 7 \(seven\)") as caught:
        both(np.arange(1, 900), 2, threads=3)
    assert caught.value.element == (6,) and caught.value.arguments == {"x": 7, "by": 2}
    with pytest.raises(ZeroDivisionError) as caught:
        both(0, 1)
    assert caught.value.element == () and caught.value.arguments == {"x": 0, "by": 1}
    assert both(x, 2, where=x > 7)[0][-1, -1] == 0

    @spmdvm.kernel
    def printing(x):
        print(x)
        return 1 // x, x

    with pytest.raises(ZeroDivisionError) as caught:
        printing(np.array([1, 0]))
    assert caught.value.element is None


def both_width():
    polar(1.0, 2.0)
    return polar.module.width


def test_steps_and_limits_show_no_loop_around_the_kernel():
    first = steps.__wrapped__.__code__.co_firstlineno
    with steps.stepper(np.array([3, 4])) as stepper:
        assert (stepper.into().line, str(stepper.into()).splitlines()[0].split(" in ")[1]) == (
            first + 1,
            "steps, 1 deep",
        )
        assert stepper.out().line == first + 1
    forever = spmdvm.kernel(endless, timeout=0.1)
    with pytest.raises(spmdvm.OutOfTime) as caught:
        forever(np.arange(100), threads=2)
    assert "out of time in `endless`\n" in str(caught.value) and caught.value.task is None


def endless(x):
    while x < 1000:
        x = x * 1
    return x, x


def test_numbers_for_all_elements_and_limits():
    @spmdvm.kernel(fuel=20_000)
    def powers(x, n: uniform[int32]):
        y = x
        for _ in range(n):
            y *= x
        return x, y

    x = np.linspace(0, 1, 99)
    np.testing.assert_allclose(powers(x, 3, threads=2)[1], x**4)
    with pytest.raises(spmdvm.OutOfFuel):
        powers(x, 1_000_000, threads=2)


def test_threads_of_python_and_of_a_call():
    n, results = np.arange(1, 5000), []
    workers = [threading.Thread(target=lambda: results.append(steps(n, threads=2)[0].sum())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [steps(n)[0].sum()] * 4


def test_what_looks_at_calls_sees_one_thread():
    x = np.arange(1, 200)
    profile = steps.profile(x, threads=2)
    assert (profile.result[0] == steps(x)[0]).all()
    with steps.stepper(np.array([3, 4]), threads=2) as stepper:
        found = stepper.finish()
    assert found[0].tolist() == [7, 2]
    assert "steps" in str(steps.explain())


@pytest.mark.parametrize(
    "special, message",
    [
        ({"threads": -1}, r"polar\(\): `threads` must be a number from 0 \(all cores\) up, not -1"),
        ({"threads": 1.5}, "`threads` must be a number from 0 .*, not 1.5"),
        ({"threads": "all"}, "`threads` must be a number from 0 .*, not 'all'"),
        ({"progress": 3}, r"polar\(\): `progress` must be True \(a bar\), or a function"),
        ({"out": np.zeros(3)}, "must be a tuple of 2 arrays, one for each result, but was given one `ndarray`"),
        ({"out": [np.zeros(3), np.zeros(3)]}, "`out` must be a tuple of 2 arrays, .*, but was given one `list`"),
        ({"out": (np.zeros(3),)}, "`out` must be a tuple of 2 arrays, one for each result, but there are 1"),
        ({"out": (np.zeros(3), None)}, r"`out\[1\]` must be an array of float64, but was given a NoneType"),
        ({"out": (np.zeros(3), np.zeros(3, int))}, r"`out\[1\]` must be an array of float64, but .* of int64"),
        ({"out": (np.zeros(3), np.zeros(4))}, r"`out\[1\]` has shape \(4,\), but the result has shape \(3,\)"),
        ({"out": (np.zeros(2), np.zeros(2))}, r"`out\[0\]` has shape \(2,\), but the result has shape \(3,\)"),
        ({"out": (np.zeros(4)[:3], np.broadcast_to(0.0, 3))}, r"`out\[1\]` takes a result, but .* read-only"),
        ({"where": np.ones(3)}, "`where` must be an array of bool, but was given one of float64"),
        ({"where": np.ones(2, bool)}, r"the shapes \(3,\) of `x`, \(2,\) of `where` do not broadcast together"),
    ],
)
def test_wrong_uses(special, message):
    with pytest.raises((TypeError, ValueError), match=message):
        polar(np.ones(3), 1.0, **special)


def test_more_wrong_uses():
    x = np.zeros(3)
    with pytest.raises(ValueError, match=r"polar\(\): `out\[0\]` and `out\[1\]` share memory, and each takes a result"):
        polar(x, x, out=(x, x))
    both = np.zeros(4)
    with pytest.raises(ValueError, match="share memory"):
        polar(x, x, out=(both[1:], both[:3]))
    with pytest.raises(ValueError, match=r"the shapes \(3,\) of `x`, \(2,\) of `y` do not broadcast together"):
        polar(x, np.zeros(2), threads=2)
    with pytest.raises(TypeError, match=r"typed\(\): `x` takes float32, and float64 does not cast to it safely"):
        typed(x)
    assert typed(np.zeros(3, np.float16), threads=2)[0].dtype == np.float32


@spmdvm.kernel
def typed(x: np.float32):
    return x, x + 1
