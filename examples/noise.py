"""Gradient noise, as a picture."""

import numpy as np
from example import Case, compile_example, main

U = np.uint32


def corner_hash(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The program's hash of a corner of the lattice."""
    h = x.astype(U) * U(0x8DA6B343) + y.astype(U) * U(0xD8163841) + z.astype(U) * U(0xCB1AB31F)
    h = (h ^ (h >> U(15))) * U(0x2C1B3C6D)
    h = (h ^ (h >> U(12))) * U(0x297A2D39)
    return h ^ (h >> U(15))


def gradient(h: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The product with one of twelve directions."""
    h = h & U(15)
    u = np.where(h < 8, x, y)
    v = np.where(h < 4, y, np.where((h == 12) | (h == 14), x, z))
    return np.where(h & U(1), -u, u) + np.where(h & U(2), -v, v)


def noise(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The program's `noise`."""
    x, y, z = np.broadcast_arrays(x, y, z)
    cell = [np.floor(a) for a in (x, y, z)]
    ix, iy, iz = (a.astype(np.int64) for a in cell)
    x, y, z = x - cell[0], y - cell[1], z - cell[2]
    u, v, w = (t * t * t * (t * (t * 6 - 15) + 10) for t in (x, y, z))
    edge = []
    for k in range(4):
        j, l = k & 1, k >> 1
        low = gradient(corner_hash(ix, iy + j, iz + l), x, y - j, z - l)
        high = gradient(corner_hash(ix + 1, iy + j, iz + l), x - 1, y - j, z - l)
        edge.append(low + u * (high - low))
    front, back = (edge[m] + v * (edge[m + 1] - edge[m]) for m in (0, 2))
    return front + w * (back - front)


def with_numpy(width: int, height: int, scale: float, octaves: int) -> np.ndarray:
    """The program's `turbulence`."""
    y, x = np.mgrid[:height, :width].astype(np.float32) * np.float32(scale) / np.float32(height)
    return sum(
        np.float32(0.5 ** (k + 1)) * np.abs(noise(x * np.float32(2**k), y * np.float32(2**k), np.float32(0.5 + k)))
        for k in range(octaves)
    )


def clouds(image: np.ndarray) -> np.ndarray:
    """White on blue."""
    t = np.clip(2.2 * image, 0, 1)[..., np.newaxis]
    return (1 - t) * [0.10, 0.28, 0.62] + t * [1.0, 0.98, 0.94]


def case(width: int = 512, height: int = 256, scale: float = 4, octaves: int = 5) -> Case:
    """Turbulence: octaves of noise."""
    module = compile_example("noise")
    image = np.zeros((height, width), np.float32)

    def ours() -> np.ndarray:
        module.turbulence(width, height, scale, octaves, image)
        return image

    work = f"{width} x {height} pixels, {octaves} octaves"
    return Case("noise", work, ours, lambda: with_numpy(width, height, scale, octaves), 1e-4, clouds)


def ufunc_case(n: int = 400) -> Case:
    """The exported function itself, over a grid by broadcasting."""
    module = compile_example("noise")
    x = np.linspace(-3, 3, n, dtype=np.float32)
    y = x[:, np.newaxis]
    z = np.float32(0.25)
    return Case("noise as ufunc", f"{n} x {n} points", lambda: module.noise(x, y, z), lambda: noise(x, y, z), 1e-4)


if __name__ == "__main__":
    main(case, ufunc_case)
