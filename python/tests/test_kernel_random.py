"""Random numbers in kernels: the same ones in Python and on every engine, and distributed as they should be."""

import math

import numpy as np
import pytest
import spmdvm

WAYS = [{}, {"width": 4, "engine": "interp"}, {"width": 64, "engine": "clif"}, {"width": 1}]


def test_the_generator_is_philox():
    # The published answers for counters and keys of zeros, of ones, and of the digits of pi.
    words = spmdvm.rng(0)._words()
    assert [f"{word:08x}" for word in words] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    ones = spmdvm.rng(-1, -1, -1)
    ones._draws = 2**32 - 1
    assert [f"{word:08x}" for word in ones._words()] == ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"]
    pi = spmdvm.rng(0x299F31D0_A4093822, 0x13198A2E_85A308D3, 0x03707344)
    pi._draws = 0x243F6A88
    assert [f"{word:08x}" for word in pi._words()] == ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"]


def draws(i, seed):
    rng = spmdvm.rng(seed, i)
    a = rng.random()
    b = rng.random(np.float32)
    c = rng.uniform(-2.0, 5)
    d = rng.integers(10)
    e = rng.integers(-(2**62), 2**62 + i)
    f, g = rng.integers(3, 4), rng.random() - rng.random()
    return a, b, c, d, e, f, g


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_numbers_are_those_of_python(options):
    i = np.arange(70)
    # Without products and sums that are rounded once.
    found = spmdvm.kernel(fp="strict", **options)(draws)(i, 12345678901234567)
    for k in range(70):
        expected = draws(k, 12345678901234567)
        for x, y in zip(found, expected):
            assert (x[k], x.dtype) == (y, y.dtype)


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_distributions_are_those_of_python(options):
    def draws(i):
        rng = spmdvm.rng(-7, i, 3)
        return rng.normal(), rng.normal(2.0, 3), rng.standard_normal(), rng.exponential(), rng.exponential(4.0)

    found = spmdvm.kernel(**options)(draws)(np.arange(50))
    for k in range(50):
        assert np.allclose([x[k] for x in found], draws(k), 1e-13)


def test_they_are_distributed_as_they_should():
    @spmdvm.kernel
    def moments(i):
        rng = spmdvm.rng(99, i)
        u, n, e, k = rng.random(), rng.normal(), rng.exponential(), rng.integers(6)
        return u, n, e, k

    count = 200_000
    u, n, e, k = moments(np.arange(count))
    error = 5 / math.sqrt(count)
    assert abs(u.mean() - 0.5) < error and abs(u.var() - 1 / 12) < error
    assert abs(n.mean()) < error and abs(n.var() - 1) < 2 * error and abs((n**3).mean()) < 5 * error
    assert abs(e.mean() - 1) < error and abs(e.var() - 1) < 4 * error
    counts = np.bincount(k, minlength=6)
    assert len(counts) == 6 and ((counts - count / 6) ** 2 / (count / 6)).sum() < 25
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < error and abs(np.corrcoef(u, n)[0, 1]) < error


def test_in_loops_and_branches_each_element_goes_on_by_itself():
    def walk(i):
        rng = spmdvm.rng(5, i)
        steps, x = 0, 0.0
        while abs(x) < 2:
            x += rng.random() - 0.5
            if x > 1:
                x -= rng.uniform(0.0, 0.25)
            steps += 1
        return steps

    assert spmdvm.kernel(walk)(np.arange(100)).tolist() == [walk(k) for k in range(100)]


def test_array_kernels_have_generators_outside_and_inside_of_foreach():
    def simulate(n):
        rng = spmdvm.rng(1, 2)
        out = np.zeros(n)
        for k in range(n):
            out[k] = rng.random()
        rng = spmdvm.rng(2)
        return out, rng.random()

    out, last = spmdvm.kernel(simulate)(20)
    expected, other = simulate(20)
    assert out.tolist() == expected.tolist() and last == other

    @spmdvm.kernel
    def fill(out, seed):
        for i, j in spmdvm.foreach(*out.shape):
            rng = spmdvm.rng(seed, i, j)
            out[i, j] = rng.random()

    out = np.zeros((5, 33))
    fill(out, 8)
    assert out[3, 20] == spmdvm.rng(8, 3, 20).random()


def test_functions_make_generators_of_their_own():
    def roll(seed, i):
        rng = spmdvm.rng(seed, i, 1)
        return rng.integers(1, 7)

    @spmdvm.kernel
    def two(i, seed: int):
        rng = spmdvm.rng(seed, i)
        return roll(seed, i) + rng.integers(1, 7)

    found = two(np.arange(40), 3)
    assert found.tolist() == [roll(3, k) + spmdvm.rng(3, k).integers(1, 7) for k in range(40)]


def test_no_numbers_to_choose_from():
    @spmdvm.kernel
    def none(i):
        rng = spmdvm.rng(1, i)
        return rng.integers(i, 2)

    assert none(np.array([1, 0])).shape == (2,)
    with pytest.raises(AssertionError, match="`integers` takes a number less than the second one"):
        none(np.array([1, 2]))
    with pytest.raises(ValueError, match="the first one less than the second, not 2 and 2"):
        spmdvm.rng(1).integers(2, 2)
    with pytest.raises(TypeError, match="float64 or float32, not float16"):
        spmdvm.rng(1).random(np.float16)
    assert repr(spmdvm.rng(1, 2)) == "<spmdvm.rng(1, 2, 0), after 0 draws>"


def test_pi_by_many_threads_is_always_the_same():
    @spmdvm.kernel
    def inside(i, seed: int):
        rng = spmdvm.rng(seed, i)
        x, y = rng.random(), rng.random()
        return x * x + y * y < 1

    i = np.arange(100_000)
    one, two = inside(i, 7), inside(i, 7, threads=2)
    assert (one == two).all() and abs(4 * one.mean() - math.pi) < 0.03


def test_kernels_that_draw_are_pickled_by_value():
    import pickle

    from spmdvm import rng

    scale = 3

    @spmdvm.kernel
    def draw(i):
        own = rng(1, i)
        return own.random() * scale

    i = np.arange(5)
    assert (pickle.loads(pickle.dumps(draw))(i) == draw(i)).all()


def test_what_is_no_number_is_refused_before_a_draw():
    rng = spmdvm.rng(1)
    for call, name in (
        (lambda: rng.uniform("a", 2), "uniform"),
        (lambda: rng.normal(0, None), "normal"),
        (lambda: rng.exponential([1.0]), "exponential"),
        (lambda: rng.integers("a"), "integers"),
        (lambda: rng.integers(0.5, 3), "integers"),
    ):
        with pytest.raises(TypeError, match=rf"rng.{name}\(\) takes (numbers|integers), not"):
            call()
    assert repr(rng).endswith("after 0 draws>") and 0 <= rng.uniform(np.float32(0), np.array(1)) < 1
