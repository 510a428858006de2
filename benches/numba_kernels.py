"""The examples' kernels as a numba user would write them: plain loops over plain arrays, single precision throughout.

Constants are numpy scalars because numba would do the arithmetic of a Python float in double precision.
"""

from __future__ import annotations

import math

import numba
import numpy as np

F = np.float32
ZERO, HALF, ONE, TWO, FOUR = F(0), F(0.5), F(1), F(2), F(4)


@numba.njit
def mandelbrot(x0, y0, x1, y1, width, height, limit, counts):
    """Iterations of each pixel."""
    dx, dy = F((x1 - x0) / width), F((y1 - y0) / height)
    for row in range(height):
        for column in range(width):
            c_re = x0 + F(column) * dx
            c_im = y0 + F(row) * dy
            re, im = c_re, c_im
            i = 0
            while i < limit and re * re + im * im <= FOUR:
                re, im = c_re + (re * re - im * im), c_im + TWO * re * im
                i += 1
            counts[row, column] = i


@numba.njit
def black_scholes(stock, strike, years, rate, volatility, out):
    """Prices of European call options."""
    for i in range(stock.size):
        deviation = volatility[i] * math.sqrt(years[i])
        d1 = (math.log(stock[i] / strike[i]) + (rate[i] + HALF * volatility[i] * volatility[i]) * years[i]) / deviation
        d2 = d1 - deviation
        n1 = HALF * (ONE + math.erf(d1 * F(0.70710678)))
        n2 = HALF * (ONE + math.erf(d2 * F(0.70710678)))
        out[i] = stock[i] * n1 - strike[i] * math.exp(-rate[i] * years[i]) * n2


@numba.njit
def spmv(rows, starts, columns, values, x, y):
    """A matrix in compressed rows times a vector."""
    for row in range(rows):
        total = ZERO
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * x[columns[k]]
        y[row] = total


@numba.njit
def sum_of(data):
    """Add one number after another, as written."""
    total = ZERO
    for i in range(data.size):
        total += data[i]
    return total


@numba.njit
def saxpy(a, x, y):
    """Add `a` times `x` to `y`."""
    for i in range(x.size):
        y[i] = a * x[i] + y[i]


@numba.njit
def _heat_step(rate, a, b):
    height, width = a.shape
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            around = a[y, x - 1] + a[y, x + 1] + a[y - 1, x] + a[y + 1, x]
            b[y, x] = a[y, x] + rate * (around - FOUR * a[y, x])


@numba.njit
def heat(steps, rate, a, b):
    """Steps of the heat equation: from `a` to `b` and back."""
    for i in range(steps):
        if i % 2 == 0:
            _heat_step(rate, a, b)
        else:
            _heat_step(rate, b, a)


# Without the error model each division would ask whether it divides by zero, and the loop would not become vectors.
@numba.njit(fastmath=True, error_model="numpy")
def nbody_step(dt, softening, mass, position, velocity):
    """One step of bodies under gravity; x, y, z are rows."""
    x, y, z = position[0], position[1], position[2]
    n = mass.size
    for i in range(n):
        ax, ay, az = ZERO, ZERO, ZERO
        xi, yi, zi = x[i], y[i], z[i]
        for j in range(n):
            dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
            d2 = dx * dx + dy * dy + dz * dz + softening * softening
            pull = mass[j] / (d2 * math.sqrt(d2))
            ax += pull * dx
            ay += pull * dy
            az += pull * dz
        velocity[0, i] += dt * ax
        velocity[1, i] += dt * ay
        velocity[2, i] += dt * az
    for axis in range(3):
        for i in range(n):
            position[axis, i] += dt * velocity[axis, i]


@numba.njit
def _normalized(x, y, z):
    k = ONE / math.sqrt(x * x + y * y + z * z)
    return k * x, k * y, k * z


@numba.njit
def _sphere(t0, px0, py0, pz0, nx0, ny0, nz0, ox, oy, oz, dx, dy, dz, x, y, z):
    """What a ray hits first, a sphere or what it has hit so far."""
    fx, fy, fz = ox - x, oy - y, oz - z
    b = fx * dx + fy * dy + fz * dz
    c = fx * fx + fy * fy + fz * fz - F(0.25)
    discriminant = b * b - c
    if discriminant > ZERO:
        t = -b - math.sqrt(discriminant)
        if t > ZERO and t < t0:
            px, py, pz = ox + t * dx, oy + t * dy, oz + t * dz
            nx, ny, nz = _normalized(px - x, py - y, pz - z)
            return t, px, py, pz, nx, ny, nz
    return t0, px0, py0, pz0, nx0, ny0, nz0


@numba.njit
def _trace(ox, oy, oz, dx, dy, dz):
    """Distance, point and normal of what a ray hits first."""
    t, px, py, pz, nx, ny, nz = F(1e30), ZERO, ZERO, ZERO, ZERO, ZERO, ZERO
    if dy < F(-1e-6):
        floor = (F(-0.5) - oy) / dy
        if floor > ZERO and floor < t:
            t, px, py, pz = floor, ox + floor * dx, oy + floor * dy, oz + floor * dz
            nx, ny, nz = ZERO, ONE, ZERO
    for x, z in ((F(-1.05), F(-2.2)), (F(0), F(-3)), (F(1.05), F(-2.2))):
        t, px, py, pz, nx, ny, nz = _sphere(t, px, py, pz, nx, ny, nz, ox, oy, oz, dx, dy, dz, x, ZERO, z)
    return t, px, py, pz, nx, ny, nz


@numba.njit
def _random(h):
    h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x7FEB352D))
    h = np.uint32((h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B))
    h = np.uint32(h ^ (h >> np.uint32(16)))
    return F(h >> np.uint32(8)) * F(1 / 16777216)


@numba.njit
def _sky_seen(px, py, pz, nx, ny, nz, samples, seed):
    """The fraction of random directions around the normal that see the sky."""
    ex, ey = (ONE, ZERO) if abs(ny) > F(0.6) else (ZERO, ONE)
    ux, uy, uz = _normalized(ey * nz, -ex * nz, ex * ny - ey * nx)
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    ox, oy, oz = px + F(1e-4) * nx, py + F(1e-4) * ny, pz + F(1e-4) * nz
    escaped = 0
    for k in range(samples):
        radius2 = _random(np.uint32(seed + 2 * k))
        angle = F(6.2831853) * _random(np.uint32(seed + 2 * k + 1))
        radius = math.sqrt(radius2)
        a, b, c = radius * math.cos(angle), radius * math.sin(angle), math.sqrt(ONE - radius2)
        t = _trace(ox, oy, oz, a * ux + b * vx + c * nx, a * uy + b * vy + c * ny, a * uz + b * vz + c * nz)[0]
        if t > F(1e20):
            escaped += 1
    return F(escaped) / F(samples)


@numba.njit
def ao(width, height, samples, image):
    """The scene of three spheres on a floor, lit by the sky alone."""
    half_width, half_height = F(width) * HALF, F(height) * HALF
    for y in range(height):
        for x in range(width):
            dx = (F(x) + HALF - half_width) / half_height
            dy = (half_height - F(y) - HALF) / half_height
            dx, dy, dz = _normalized(dx, dy - F(0.1), F(-1.8))
            t, px, py, pz, nx, ny, nz = _trace(ZERO, F(0.1), ZERO, dx, dy, dz)
            shade = HALF - F(0.8) * dy
            if t < F(1e20):
                shade = _sky_seen(px, py, pz, nx, ny, nz, samples, (y * width + x) * 2 * samples)
            image[y, x] = shade
