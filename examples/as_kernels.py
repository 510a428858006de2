"""The examples as kernels in Python: the same computations as the programs beside this file, with the same bits.

`python examples/as_kernels.py` runs each beside its program and tells the times. Tasks (`mandelbrot_tasks`) and
functions of the host (`relax`) have no counterpart in kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import NamedTuple

import numpy as np
import spmdvm
from example import compile_example, seconds
from spmdvm import array, foreach
from spmdvm import float32 as f32
from spmdvm import int32 as i32
from spmdvm import uint32 as u32

Arrays = tuple[np.ndarray, ...]

# saxpy


@spmdvm.kernel
def saxpy(a: f32, x: array[f32], y: array[f32]):
    """Add `a` times `x` to `y`."""
    for i in foreach(len(x)):
        y[i] = a * x[i] + y[i]


# mandelbrot


def iterations(c_re, c_im, limit):
    """Count until z = z*z + c leaves the circle of radius 2."""
    re, im, n = c_re, c_im, i32(0)
    while n < limit and re * re + im * im <= 4:
        re, im = c_re + (re * re - im * im), c_im + 2 * re * im
        n += 1
    return n


@spmdvm.kernel(fp="strict")
def mandelbrot(x0: f32, y0: f32, x1: f32, y1: f32, limit: i32, counts: array[i32, 2]):
    """Fill `counts` with the iterations of each pixel."""
    height, width = counts.shape
    dx, dy = (x1 - x0) / f32(width), (y1 - y0) / f32(height)
    for row in range(height):
        for column in foreach(width):
            counts[row, column] = iterations(x0 + f32(column) * dx, y0 + f32(row) * dy, limit)


# noise


def corner_hash(x, y, z):
    """Give 32 well-mixed bits for a corner of the lattice."""
    h = u32(x) * u32(0x8DA6B343) + u32(y) * u32(0xD8163841) + u32(z) * u32(0xCB1AB31F)
    h = (h ^ (h >> 15)) * 0x2C1B3C6D
    h = (h ^ (h >> 12)) * 0x297A2D39
    return h ^ (h >> 15)


def gradient(h, x, y, z):
    """Give the product of (x, y, z) with one of twelve directions, chosen by the hash."""
    h = h & 15
    u = x if h < 8 else y
    v = y if h < 4 else (x if h == 12 or h == 14 else z)
    return (u if (h & 1) == 0 else -u) + (v if (h & 2) == 0 else -v)


def fade(t):
    """Rise from 0 to 1 with first and second derivatives of 0 at both ends."""
    return t * t * t * (t * (t * 6 - 15) + 10)


def mix(t, a, b):
    """Interpolate."""
    return a + t * (b - a)


def noise(x, y, z):
    """Give smooth noise between about -1 and 1."""
    fx, fy, fz = np.floor(x), np.floor(y), np.floor(z)
    ix, iy, iz = i32(fx), i32(fy), i32(fz)
    x -= fx
    y -= fy
    z -= fz
    u, v, w = fade(x), fade(y), fade(z)
    edge = np.empty(4, f32)
    for k in range(4):
        j, l = k & 1, k >> 1
        low = gradient(corner_hash(ix, iy + j, iz + l), x, y - f32(j), z - f32(l))
        high = gradient(corner_hash(ix + 1, iy + j, iz + l), x - 1, y - f32(j), z - f32(l))
        edge[k] = mix(u, low, high)
    return mix(w, mix(v, edge[0], edge[1]), mix(v, edge[2], edge[3]))


@spmdvm.kernel
def turbulence(scale: f32, octaves: i32, image: array[f32, 2]):
    """Fill a picture with noise of several octaves."""
    height, width = image.shape
    for row, column in foreach(height, width):
        x, y = f32(column) * scale / f32(height), f32(row) * scale / f32(height)
        total = f32(0)
        amplitude, frequency = f32(0.5), f32(1)
        for k in range(octaves):
            total += amplitude * abs(noise(x * frequency, y * frequency, f32(0.5) + f32(k)))
            amplitude *= 0.5
            frequency *= 2
        image[row, column] = total


# ao


def normalized(x, y, z):
    """Scale a vector to length 1."""
    k = 1 / np.sqrt(x * x + y * y + z * z)
    return k * x, k * y, k * z


def nearer(t, ox, oy, oz, dx, dy, dz, cx, cy, cz):
    """Give the distance at which a ray hits a sphere, or `t` if it misses it or that is nearer."""
    fx, fy, fz = ox - cx, oy - cy, oz - cz
    b = fx * dx + fy * dy + fz * dz
    c = fx * fx + fy * fy + fz * fz - f32(0.5) * f32(0.5)
    discriminant = b * b - c
    if discriminant > 0:
        s = -b - np.sqrt(discriminant)
        if s > 0 and s < t:
            t = s
    return t


def trace(ox, oy, oz, dx, dy, dz):
    """Give how far a ray goes to what it hits first (huge: nothing), and which sphere that is (0: the floor)."""
    t, which = f32(1e30), i32(0)
    if dy < f32(-1e-6):
        s = (f32(-0.5) - oy) / dy
        if s > 0:
            t = s
    first = nearer(t, ox, oy, oz, dx, dy, dz, f32(-1.05), f32(0), f32(-2.2))
    second = nearer(first, ox, oy, oz, dx, dy, dz, f32(0), f32(0), f32(-3))
    third = nearer(second, ox, oy, oz, dx, dy, dz, f32(1.05), f32(0), f32(-2.2))
    if first < t:
        which = i32(1)
    if second < first:
        which = i32(2)
    if third < second:
        which = i32(3)
    return third, which


def random_from(counter):
    """Give a number from 0 up to 1 from a counter."""
    h = counter
    h = (h ^ (h >> 16)) * 0x7FEB352D
    h = (h ^ (h >> 15)) * 0x846CA68B
    h = h ^ (h >> 16)
    return f32(h >> 8) * f32(1 / 16777216)


def sky_seen(px, py, pz, nx, ny, nz, samples, seed):
    """Give the fraction of random directions around the normal that see the sky."""
    ax, ay = f32(0), f32(1)
    if abs(ny) > f32(0.6):
        ax, ay = f32(1), f32(0)
    az = f32(0)
    ux, uy, uz = normalized(ay * nz - az * ny, az * nx - ax * nz, ax * ny - ay * nx)
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    ox, oy, oz = px + f32(1e-4) * nx, py + f32(1e-4) * ny, pz + f32(1e-4) * nz
    escaped = i32(0)
    for k in range(samples):
        radius2 = random_from(seed + u32(2 * k))
        angle = f32(6.2831853) * random_from(seed + u32(2 * k) + 1)
        radius = np.sqrt(radius2)
        s = radius * np.cos(angle)
        dx, dy, dz = 0 + s * ux, 0 + s * uy, 0 + s * uz
        s = radius * np.sin(angle)
        dx, dy, dz = dx + s * vx, dy + s * vy, dz + s * vz
        s = np.sqrt(1 - radius2)
        dx, dy, dz = dx + s * nx, dy + s * ny, dz + s * nz
        t, _ = trace(ox, oy, oz, dx, dy, dz)
        if t > f32(1e20):
            escaped += 1
    return f32(escaped) / f32(samples)


@spmdvm.kernel
def ao(samples: i32, image: array[f32, 2]):
    """Render three spheres on a floor, lit by the sky."""
    height, width = image.shape
    for y, x in foreach(height, width):
        px = (f32(x) + f32(0.5) - f32(width) * f32(0.5)) / (f32(height) * f32(0.5))
        py = (f32(height) * f32(0.5) - f32(y) - f32(0.5)) / (f32(height) * f32(0.5))
        dx, dy, dz = normalized(px, py - f32(0.1), f32(-1.8))
        t, which = trace(f32(0), f32(0.1), f32(0), dx, dy, dz)
        shade = f32(0.5) - f32(0.8) * dy
        if t < f32(1e20):
            hx, hy, hz = 0 + t * dx, f32(0.1) + t * dy, 0 + t * dz
            nx, ny, nz = f32(0), f32(1), f32(0)
            if which > 0:
                cx = f32(-1.05) if which == 1 else f32(0) if which == 2 else f32(1.05)
                cz = f32(-3) if which == 2 else f32(-2.2)
                nx, ny, nz = normalized(hx - cx, hy - 0, hz - cz)
            shade = sky_seen(hx, hy, hz, nx, ny, nz, samples, u32(y * width + x) * 2 * u32(samples))
        image[y, x] = shade


# black_scholes


def normal_cdf(x):
    """Give the distribution function of the normal distribution."""
    return f32(0.5) * (1 + erf(x * f32(0.70710678)))


@spmdvm.kernel
def black_scholes(
    stock: array[f32],
    strike: array[f32],
    years: array[f32],
    rate: array[f32],
    volatility: array[f32],
    price: array[f32],
):
    """Price call options."""
    for i in foreach(len(price)):
        s, k, t, r, v = stock[i], strike[i], years[i], rate[i], volatility[i]
        deviation = v * np.sqrt(t)
        d1 = (np.log(s / k) + (r + f32(0.5) * v * v) * t) / deviation
        d2 = d1 - deviation
        price[i] = s * normal_cdf(d1) - k * np.exp(-r * t) * normal_cdf(d2)


# binomial

STEPS = 64


def binomial_price(stock, strike, years, rate, volatility):
    """Give the price of one option."""
    value = np.empty(STEPS + 1, f32)
    dt = years / STEPS
    up = np.exp(volatility * np.sqrt(dt))
    down = 1 / up
    discount = np.exp(-rate * dt)
    p_up = (np.exp(rate * dt) - down) / (up - down)
    price = stock * down ** f32(STEPS)
    for i in range(STEPS + 1):
        value[i] = max(price - strike, f32(0))
        price *= up * up
    for level in range(STEPS, 0, -1):
        for i in range(level):
            value[i] = discount * (p_up * value[i + 1] + (1 - p_up) * value[i])
    return value[0]


@spmdvm.kernel
def binomial(
    stock: array[f32],
    strike: array[f32],
    years: array[f32],
    rate: array[f32],
    volatility: array[f32],
    price: array[f32],
):
    """Price call options by trees."""
    for i in foreach(len(price)):
        price[i] = binomial_price(stock[i], strike[i], years[i], rate[i], volatility[i])


# nbody


@spmdvm.kernel
def nbody_step(dt: f32, softening: f32, mass: array[f32], position: array[f32, 2], velocity: array[f32, 2]):
    """Take one step; positions and velocities are three rows."""
    n = len(mass)
    x, y, z = position[0], position[1], position[2]
    for i in foreach(n):
        ax, ay, az = f32(0), f32(0), f32(0)
        xi, yi, zi = x[i], y[i], z[i]
        for j in range(n):
            dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
            d2 = dx * dx + dy * dy + dz * dz + softening * softening
            pull = mass[j] / (d2 * np.sqrt(d2))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        velocity[0, i] += dt * ax
        velocity[1, i] += dt * ay
        velocity[2, i] += dt * az
    for axis in range(3):
        for i in foreach(n):
            position[axis, i] += dt * velocity[axis, i]


# stencil


def step(rate, before, after):
    """Replace every inner point by a mean of itself and its neighbours."""
    height, width = before.shape
    for y, x in foreach((1, height - 1), (1, width - 1)):
        center = before[y, x]
        around = before[y, x - 1] + before[y, x + 1] + before[y - 1, x] + before[y + 1, x]
        after[y, x] = center + rate * (around - 4 * center)


@spmdvm.kernel
def heat(steps: i32, rate: f32, a: array[f32, 2], b: array[f32, 2]):
    """Take steps of the heat equation, from one array to the other and back."""
    for i in range(steps):
        if i % 2 == 0:
            step(rate, a, b)
        else:
            step(rate, b, a)


# spmv


@spmdvm.kernel
def spmv(starts: array[i32], columns: array[i32], values: array[f32], x: array[f32], y: array[f32]):
    """Multiply a matrix of compressed rows and a vector."""
    for row in foreach(len(y)):
        total = f32(0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


# histogram

BINS = 256


@spmdvm.kernel
def histogram(low: f32, high: f32, data: array[f32], own: array[i32, 2], counts: array[i32]):
    """Count in bins of each lane's own, and add them up."""
    bins, lanes = own.shape
    own[:] = 0
    scale = f32(bins) / (high - low)
    for i in foreach(len(data)):
        at = min(max(i32(np.floor((data[i] - low) * scale)), i32(0)), i32(bins - 1))
        own[at, spmdvm.lane] += 1
    for k in foreach(bins):
        total = i32(0)
        for lane in range(lanes):
            total += own[k, lane]
        counts[k] += total


# lookup


@spmdvm.kernel
def lookup(table: array[f32], x: array[f32], out: array[f32]):
    """Interpolate in a table."""
    size = i32(len(table))
    for k in foreach(len(x)):
        at = np.clip(x[k], f32(0), f32(1)) * f32(size - 1)
        i = min(i32(at), size - 2)
        out[k] = table[i] + (at - f32(i)) * (table[i + 1] - table[i])


# bitonic_sort


@spmdvm.kernel
def bitonic_sort(data: array[f32]):
    """Sort in place; the length is a power of two."""
    n = i32(len(data))
    assert (n & (n - 1)) == 0
    run = i32(2)
    while run <= n:
        distance = run // 2
        while distance > 0:
            for pair in foreach(n // 2):
                i = i32(2 * pair) - (i32(pair) & (distance - 1))
                j = i + distance
                a, b = data[i], data[j]
                upwards = (i & run) == 0
                data[i] = min(a, b) if upwards else max(a, b)
                data[j] = max(a, b) if upwards else min(a, b)
            distance //= 2
        run *= 2


# reduction


@spmdvm.kernel
def total(data: array[f32]):
    """Give the sum."""
    s = f32(0)
    for i in foreach(len(data)):
        s += data[i]
    return s


@spmdvm.kernel
def extrema(data: array[f32], result: array[f32]):
    """Give the smallest and the largest."""
    low, high = data[0], data[0]
    for i in foreach(len(data)):
        low = min(low, data[i])
        high = max(high, data[i])
    result[0] = low
    result[1] = high


@spmdvm.kernel
def prefix_sum(data: array[i32], out: array[i32]):
    """Give running sums: gang by gang, as each needs the total of those before it."""
    n = len(data)
    total = i32(0)
    for start in range(0, n, 16):
        before = total
        for i in foreach((start, min(start + 16, n))):
            value = data[i]
            total += value
            for k in range(4):
                left = spmdvm.shift(value, -(1 << k))
                if spmdvm.lane >= 1 << k:
                    value += left
            out[i] = before + value


# Each beside its program.


class Pair(NamedTuple):
    """A program and a kernel. Each computes anew when it is called, and gives what must be equal."""

    name: str
    program: Callable[[], Arrays]
    kernel: Callable[[], Arrays]


def saxpy_pair(n: int = 4_000_000) -> Pair:
    """Stream."""
    module = compile_example("saxpy")
    x, start = np.random.default_rng(1).random((2, n), dtype=f32)
    y, z = start.copy(), start.copy()

    def program() -> Arrays:
        y[:] = start
        module.saxpy(n, 2.5, x, y)
        return (y,)

    def kernel() -> Arrays:
        z[:] = start
        saxpy(2.5, x, z)
        return (z,)

    return Pair("saxpy", program, kernel)


def mandelbrot_pair(height: int = 512, width: int = 1024) -> Pair:
    """Count iterations."""
    module = compile_example("mandelbrot", fp="strict")
    ours, theirs = np.zeros((2, height, width), i32)
    corners = -2.8, -1.15, 1.8, 1.15

    def program() -> Arrays:
        module.mandelbrot(*corners, width, height, 256, ours)
        return (ours,)

    def kernel() -> Arrays:
        mandelbrot(*corners, 256, theirs)
        return (theirs,)

    return Pair("mandelbrot", program, kernel)


def noise_pair(height: int = 256, width: int = 512) -> Pair:
    """Fill a picture with turbulence."""
    module = compile_example("noise")
    ours, theirs = np.zeros((2, height, width), f32)

    def program() -> Arrays:
        module.turbulence(width, height, 4, 5, ours)
        return (ours,)

    def kernel() -> Arrays:
        turbulence(4, 5, theirs)
        return (theirs,)

    return Pair("noise", program, kernel)


def ao_pair(height: int = 192, width: int = 256, samples: int = 32) -> Pair:
    """Cast rays."""
    module = compile_example("ao")
    ours, theirs = np.zeros((2, height, width), f32)

    def program() -> Arrays:
        module.ao(width, height, samples, ours)
        return (ours,)

    def kernel() -> Arrays:
        ao(samples, theirs)
        return (theirs,)

    return Pair("ao", program, kernel)


def options_pair(name: str, n: int, kernel_: spmdvm.Kernel, module: spmdvm.Module, function: str) -> Pair:
    """Price options."""
    rng = np.random.default_rng(3)
    ranges = [(50, 150), (50, 150), (0.25, 3), (0.01, 0.06), (0.1, 0.5)]
    data = [rng.uniform(low, high, n).astype(f32) for low, high in ranges]
    ours, theirs = np.zeros((2, n), f32)

    def program() -> Arrays:
        module[function](n, *data, ours)
        return (ours,)

    def kernel() -> Arrays:
        kernel_(*data, theirs)
        return (theirs,)

    return Pair(name, program, kernel)


def black_scholes_pair(n: int = 500_000) -> Pair:
    """Price options by a formula."""
    module = compile_example("black_scholes")
    return options_pair("black_scholes", n, black_scholes, module, "black_scholes_arrays")


def binomial_pair(n: int = 16_384) -> Pair:
    """Price options by trees."""
    return options_pair("binomial", n, binomial, compile_example("binomial", defines={"STEPS": STEPS}), "binomial")


def nbody_pair(n: int = 1024, steps: int = 4) -> Pair:
    """Move bodies."""
    module = compile_example("nbody")
    rng = np.random.default_rng(4)
    start = rng.normal(size=(3, n)).astype(f32)
    mass = rng.uniform(0.5, 1.5, n).astype(f32) / f32(n)

    def run(take: Callable[[np.ndarray, np.ndarray], None]) -> Arrays:
        position, velocity = start.copy(), np.zeros((3, n), f32)
        for _ in range(steps):
            take(position, velocity)
        return position, velocity

    return Pair(
        "nbody",
        lambda: run(lambda p, v: module.nbody_step(n, 0.01, 0.05, mass, p, v)),
        lambda: run(lambda p, v: nbody_step(0.01, 0.05, mass, p, v)),
    )


def stencil_pair(height: int = 512, width: int = 512, steps: int = 10) -> Pair:
    """Let heat flow."""
    module = compile_example("stencil")
    y, x = np.mgrid[:height, :width]
    start = ((x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 6) ** 2).astype(f32)
    start[0] = 1

    def program() -> Arrays:
        a, b = start.copy(), start.copy()
        module.heat(width, height, steps, 0.2, a, b)
        return a, b

    def kernel() -> Arrays:
        a, b = start.copy(), start.copy()
        heat(steps, 0.2, a, b)
        return a, b

    return Pair("stencil", program, kernel)


def spmv_pair(rows: int = 100_000, most: int = 20) -> Pair:
    """Multiply by a sparse matrix."""
    module = compile_example("spmv")
    rng = np.random.default_rng(5)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, most + 1, rows))]).astype(i32)
    columns = rng.integers(0, rows, starts[-1]).astype(i32)
    values, x = rng.random(starts[-1], dtype=f32), rng.random(rows, dtype=f32)
    ours, theirs = np.zeros((2, rows), f32)

    def program() -> Arrays:
        module.spmv(rows, starts, columns, values, x, ours)
        return (ours,)

    def kernel() -> Arrays:
        spmv(starts, columns, values, x, theirs)
        return (theirs,)

    return Pair("spmv", program, kernel)


def histogram_pair(n: int = 1_000_000) -> Pair:
    """Count in bins."""
    module = compile_example("histogram", defines={"BINS": BINS})
    data = np.random.default_rng(6).normal(size=n).astype(f32)
    own = np.zeros((BINS, module.width), i32)

    def program() -> Arrays:
        counts = np.zeros(BINS, i32)
        module.histogram(n, -4, 4, data, counts)
        return (counts,)

    def kernel() -> Arrays:
        counts = np.zeros(BINS, i32)
        histogram(-4, 4, data, own, counts)
        return (counts,)

    return Pair("histogram", program, kernel)


def lookup_pair(n: int = 1_000_000) -> Pair:
    """Interpolate in a table of a sine."""
    module = compile_example("lookup")
    table = np.sin(np.linspace(0, 6, 1000)).astype(f32)
    module.globals.update(table=table, size=1000)
    x = np.random.default_rng(7).uniform(-0.1, 1.1, n).astype(f32)
    ours, theirs = np.zeros((2, n), f32)

    def program() -> Arrays:
        return (module.lookup(x, out=ours),)

    def kernel() -> Arrays:
        lookup(table, x, theirs)
        return (theirs,)

    return Pair("lookup", program, kernel)


def bitonic_sort_pair(n: int = 1 << 16) -> Pair:
    """Sort."""
    module = compile_example("bitonic_sort")
    start = np.random.default_rng(7).random(n, dtype=f32)

    def program() -> Arrays:
        data = start.copy()
        module.bitonic_sort(n, data)
        return (data,)

    def kernel() -> Arrays:
        data = start.copy()
        bitonic_sort(data)
        return (data,)

    return Pair("bitonic_sort", program, kernel)


def reduction_pair(n: int = 2_000_000) -> Pair:
    """Sum, smallest and largest."""
    module = compile_example("reduction")
    data = np.random.default_rng(8).random(n, dtype=f32)
    ours, theirs = np.zeros((2, 2), f32)

    def program() -> Arrays:
        module.extrema(n, data, ours)
        return np.array(module.sum(n, data)), ours

    def kernel() -> Arrays:
        extrema(data, theirs)
        return np.array(total(data)), theirs

    return Pair("reduction", program, kernel)


def prefix_sum_pair(n: int = 1_000_000) -> Pair:
    """Running sums."""
    module = compile_example("reduction")
    data = np.random.default_rng(9).integers(-100, 100, n, dtype=i32)
    ours, theirs = np.zeros((2, n), i32)

    def program() -> Arrays:
        module.prefix_sum(n, data, ours)
        return (ours,)

    def kernel() -> Arrays:
        prefix_sum(data, theirs)
        return (theirs,)

    return Pair("prefix_sum", program, kernel)


PAIRS = [
    mandelbrot_pair,
    noise_pair,
    ao_pair,
    black_scholes_pair,
    binomial_pair,
    nbody_pair,
    stencil_pair,
    spmv_pair,
    histogram_pair,
    lookup_pair,
    bitonic_sort_pair,
    saxpy_pair,
    reduction_pair,
    prefix_sum_pair,
]


def main() -> None:
    """Compare and time all."""
    print(f"{'example':<15}{'program':>12}{'kernel':>12}")
    for make in PAIRS:
        pair = make()
        for ours, theirs in zip(pair.program(), pair.kernel()):
            assert ours.tobytes() == theirs.tobytes(), f"{pair.name}: results differ"
        times = [1e3 * seconds(f) for f in (pair.program, pair.kernel)]
        print(f"{pair.name:<15}" + "".join(f"{ms:9.2f} ms" for ms in times))


if __name__ == "__main__":
    main()
