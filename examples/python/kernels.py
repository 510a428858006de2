"""Examples written in Python: the programs of the folder above as kernels, and a race between both.

`python examples/python/kernels.py` compares the results, bit for bit, and the times.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from spmdvm import array, float32, foreach, int32, kernel, rng, uint32, uniform

sys.path.insert(0, str(Path(__file__).parent.parent))

STEPS = 64


@kernel(fp="strict")
def axpy(a: float32, x: float32, y: float32):
    """Compute a*x + y."""
    return a * x + y


@kernel(fp="strict")
def saxpy(a: float32, x: array[float32], y: array[float32]):
    """Add a*x to y."""
    for i in foreach(len(x)):
        y[i] = a * x[i] + y[i]


def normal_cdf(x):
    """Give the distribution function of the normal distribution."""
    return 0.5 * (1 + math.erf(x * 0.70710678))


@kernel(fp="strict")
def black_scholes(stock: float32, strike: float32, years: float32, rate: float32, volatility: float32):
    """Give the price of a European call option."""
    deviation = volatility * math.sqrt(years)
    d1 = (math.log(stock / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    d2 = d1 - deviation
    return stock * normal_cdf(d1) - strike * math.exp(-rate * years) * normal_cdf(d2)


@kernel(fp="strict")
def binomial(stock: float32, strike: float32, years: float32, rate: float32, volatility: float32):
    """Give the price of a European call option by a tree: each element walks its own."""
    value = np.zeros(STEPS + 1, np.float32)
    dt = years / STEPS
    up = math.exp(volatility * math.sqrt(dt))
    down = 1 / up
    discount = math.exp(-rate * dt)
    p_up = (math.exp(rate * dt) - down) / (up - down)
    price = stock * math.pow(down, STEPS)
    for i in range(STEPS + 1):
        value[i] = max(price - strike, 0.0)
        price *= up * up
    for level in range(STEPS, 0, -1):
        for i in range(level):
            value[i] = discount * (p_up * value[i + 1] + (1 - p_up) * value[i])
    return value[0]


@kernel(fp="strict")
def mandelbrot(x0: float32, y0: float32, x1: float32, y1: float32, limit: int32, counts: array[int32, 2]):
    """Count the iterations of each point of a picture."""
    height, width = counts.shape
    dx = (x1 - x0) / width
    dy = (y1 - y0) / height
    for row in range(height):
        for column in foreach(width):
            c_re = x0 + column * dx
            c_im = y0 + row * dy
            re, im = c_re, c_im
            n = int32(0)
            while n < limit and not re * re + im * im > 4:
                re, im = c_re + (re * re - im * im), c_im + 2 * re * im
                n += 1
            counts[row, column] = n


@kernel(fp="strict")
def spmv(starts: array[int32], columns: array[int32], values: array[float32], x: array[float32], y: array[float32]):
    """Multiply a sparse matrix with a vector."""
    for row in foreach(len(y)):
        total = float32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@kernel(fp="strict")
def heat_step(rate: float32, a: array[float32, 2], b: array[float32, 2]):
    """Take a step of the heat equation from a to b."""
    height, width = a.shape
    for y, x in foreach((1, height - 1), (1, width - 1)):
        center = a[y, x]
        around = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]
        b[y, x] = center + rate * (around - 4 * center)


def corner_hash(x, y, z):
    """Give 32 well-mixed bits for a corner of the lattice."""
    h = uint32(x) * 0x8DA6B343 + uint32(y) * 0xD8163841 + uint32(z) * 0xCB1AB31F
    h = (h ^ (h >> 15)) * 0x2C1B3C6D
    h = (h ^ (h >> 12)) * 0x297A2D39
    return h ^ (h >> 15)


def gradient(bits, x, y, z):
    """Multiply a vector with one of twelve directions."""
    h = bits & 15
    u = x if h < 8 else y
    v = y if h < 4 else x if h == 12 or h == 14 else z
    return (u if h & 1 == 0 else -u) + (v if h & 2 == 0 else -v)


def fade(t):
    """Rise from 0 to 1 smoothly."""
    return t * t * t * (t * (t * 6 - 15) + 10)


def mix(t, a, b):
    """Go from a to b."""
    return a + t * (b - a)


@kernel(fp="strict")
def noise(x: float32, y: float32, z: float32):
    """Give Perlin's gradient noise."""
    fx, fy, fz = np.floor(x), np.floor(y), np.floor(z)
    ix, iy, iz = int32(fx), int32(fy), int32(fz)
    x -= fx
    y -= fy
    z -= fz
    edge = np.zeros(4, np.float32)
    for k in range(4):
        j, m = k & 1, k >> 1
        low = gradient(corner_hash(ix, iy + j, iz + m), x, y - j, z - m)
        high = gradient(corner_hash(ix + 1, iy + j, iz + m), x - 1, y - j, z - m)
        edge[k] = mix(fade(x), low, high)
    return mix(fade(z), mix(fade(y), edge[0], edge[1]), mix(fade(y), edge[2], edge[3]))


@kernel(fp="strict")
def nbody_step(dt: float32, softening: float32, mass: array[float32], p: array[float32, 2], v: array[float32, 2]):
    """Move bodies for a time of dt."""
    n = len(mass)
    for i in foreach(n):
        ax, ay, az = float32(0), float32(0), float32(0)
        for j in range(n):
            dx, dy, dz = p[0, j] - p[0, i], p[1, j] - p[1, i], p[2, j] - p[2, i]
            d2 = dx * dx + dy * dy + dz * dz + softening * softening
            pull = mass[j] / (d2 * math.sqrt(d2))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        v[0, i] += dt * ax
        v[1, i] += dt * ay
        v[2, i] += dt * az
    for axis in range(3):
        for i in foreach(n):
            p[axis, i] += dt * v[axis, i]


@kernel(fp="strict")
def extrema(data: array[float32]):
    """Give the least and the greatest number."""
    low, high = data[0], data[0]
    for i in foreach(len(data)):
        low = min(low, data[i])
        high = max(high, data[i])
    return low, high


@kernel(fp="strict")
def total(data: array[float32]):
    """Give the sum."""
    s = float32(0)
    for i in foreach(len(data)):
        s += data[i]
    return s


@kernel
def in_circle(thrower: int32, draws: uniform[int32]):
    """Throw darts at a square; count those in the circle."""
    dice = rng(5, thrower)
    hits = int32(0)
    for _ in range(draws):
        x, y = dice.random(), dice.random()
        hits += x * x + y * y < 1
    return hits


@kernel
def standardised(table):
    """Give a table with columns of mean 0 and deviation 1, and the columns in the order of their means."""
    mean, deviation = np.mean(table, axis=0), np.std(table, axis=0)
    order = np.argsort(mean)
    out = np.empty_like(table)
    for i, j in foreach(*table.shape):
        out[i, j] = (table[i, j] - mean[j]) / deviation[j]
    return out, order


def cases(n: int = 100_000) -> list[tuple]:
    """Give for each kernel a call of it and one of the SPMD program: both return their results."""
    from example import compile_example

    def program(name, **options):
        return compile_example(name, fp="strict", **options)

    generator = np.random.default_rng(1)
    x, y = generator.random(n, dtype=np.float32), generator.random(n, dtype=np.float32)
    bounds = [(5, 30), (1, 100), (0.2, 10), (0.01, 0.05), (0.1, 0.5)]
    options = [generator.uniform(low, high, n).astype(np.float32) for low, high in bounds]
    side = max(8, int(math.sqrt(n)))
    plate = generator.random((side, side + 3), dtype=np.float32)
    result = [np.zeros_like(plate), np.zeros_like(plate)]
    counts = [np.zeros((side, 2 * side), np.int32) for _ in range(2)]
    lengths = generator.integers(0, 20, side)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = generator.integers(0, side, starts[-1], dtype=np.int32)
    values, vector = generator.random(starts[-1], dtype=np.float32), generator.random(side, dtype=np.float32)
    products = [np.zeros(side, np.float32) for _ in range(2)]
    few = min(n, 1000)
    start = generator.random((3, few), dtype=np.float32)
    bodies = [(start.copy(), np.zeros((3, few), np.float32)) for _ in range(2)]
    prices = np.zeros(n, np.float32)
    least = np.zeros(2, np.float32)
    names = "saxpy black_scholes binomial mandelbrot spmv stencil noise nbody reduction"
    p = {name: program(name) for name in names.split()}
    view = (-2.8, -1.15, 1.8, 1.15)
    return [
        ("axpy", lambda: axpy(2, x, y), lambda: p["saxpy"].axpy(2, x, y)),
        ("black_scholes", lambda: black_scholes(*options), lambda: p["black_scholes"].black_scholes(*options)),
        ("binomial", lambda: binomial(*options), lambda: (p["binomial"].binomial(n, *options, prices), prices)[1]),
        (
            "mandelbrot",
            lambda: (mandelbrot(*view, 256, counts[0]), counts[0])[1],
            lambda: (p["mandelbrot"].mandelbrot(*view, 2 * side, side, 256, counts[1]), counts[1])[1],
        ),
        (
            "spmv",
            lambda: (spmv(starts, columns, values, vector, products[0]), products[0])[1],
            lambda: (p["spmv"].spmv(side, starts, columns, values, vector, products[1]), products[1])[1],
        ),
        (
            "heat_step",
            lambda: (heat_step(0.1, plate, result[0]), result[0])[1],
            lambda: (p["stencil"].heat(side + 3, side, 1, 0.1, plate, result[1]), result[1])[1],
        ),
        ("noise", lambda: noise(x * 9, y * 9, x), lambda: p["noise"].noise(x * 9, y * 9, x)),
        (
            "nbody_step",
            lambda: (nbody_step(0.01, 0.1, x[:few], *bodies[0]), bodies[0][0])[1],
            lambda: (p["nbody"].nbody_step(few, 0.01, 0.1, x[:few], *bodies[1]), bodies[1][0])[1],
        ),
        ("extrema", lambda: np.array(extrema(x)), lambda: (p["reduction"].extrema(n, x, least), least)[1]),
        ("total", lambda: total(x), lambda: np.float32(p["reduction"].sum(n, x))),
    ]


def main() -> None:
    """Compare, and print a table of times."""
    from example import seconds

    print(f"{'kernel':<14} {'Python':>9}  {'SPMD':>9}  ratio")
    for name, ours, theirs in cases(200_000):
        if not np.array_equal(ours(), theirs()):
            sys.exit(f"{name}: the results differ")
        mine, other = seconds(ours), seconds(theirs)
        print(f"{name:<14} {1e3 * mine:6.2f} ms  {1e3 * other:6.2f} ms  {mine / other:5.2f}")
    darts = in_circle(np.arange(10_000, dtype=np.int32), 1000).sum()
    print(f"pi is about {4 * darts / 1e7:.4f}")
    table, order = standardised(np.random.default_rng(2).normal(range(5), 2, (1000, 5)))
    print(f"columns in the order of their means: {order.tolist()}; now with mean {abs(table.mean()):.1f}")


if __name__ == "__main__":
    main()
