"""A scene lit by the sky alone (ambient occlusion), as a picture."""

import numpy as np
from example import Case, compile_example, main

F = np.float32
SPHERES = np.array([[-1.05, 0, -2.2], [0, 0, -3], [1.05, 0, -2.2]], F)


def normalized(v: np.ndarray) -> np.ndarray:
    """Scale vectors (x, y, z along the first axis) to length 1."""
    return v * (F(1) / np.sqrt((v * v).sum(axis=0)))


def trace(origin: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give distance, point and normal where rays hit first; the distance is huge where they hit nothing."""
    best = np.full(origin.shape[1:], F(1e30))
    point, normal = np.zeros_like(origin), np.zeros_like(origin)
    with np.errstate(all="ignore"):
        t = (F(-0.5) - origin[1]) / direction[1]
    hit = (direction[1] < F(-1e-6)) & (t > 0)
    best = np.where(hit, t, best)
    point = np.where(hit, origin + t * direction, point)
    normal[1] = hit
    for center in SPHERES:
        center = center.reshape(3, *[1] * (origin.ndim - 1))
        offset = origin - center
        b = (offset * direction).sum(axis=0)
        c = (offset * offset).sum(axis=0) - F(0.25)
        discriminant = b * b - c
        t = -b - np.sqrt(np.maximum(discriminant, 0))
        hit = (discriminant > 0) & (t > 0) & (t < best)
        best = np.where(hit, t, best)
        point = np.where(hit, origin + t * direction, point)
        normal = np.where(hit, normalized(point - center), normal)
    return best, point, normal


def random_from(counter: np.ndarray) -> np.ndarray:
    """The program's hash as numbers from 0 up to 1."""
    h = (counter ^ (counter >> np.uint32(16))) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> np.uint32(15))) * np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    return (h >> np.uint32(8)).astype(F) * F(1 / 16777216)


def with_numpy(width: int, height: int, samples: int) -> np.ndarray:
    """Render all pixels at once, one sample after another."""
    x, y = np.meshgrid(np.arange(width, dtype=F), np.arange(height, dtype=F))
    px = (x + F(0.5) - F(width * 0.5)) / F(height * 0.5)
    py = (F(height * 0.5) - y - F(0.5)) / F(height * 0.5)
    origin = np.zeros((3, height, width), F)
    origin[1] = F(0.1)
    direction = normalized(np.stack([px, py - F(0.1), np.full_like(px, -1.8)]))
    sky = F(0.5) - F(0.8) * direction[1]
    distance, point, normal = trace(origin, direction)
    other = np.where(np.abs(normal[1]) > F(0.6), F([1, 0, 0]).reshape(3, 1, 1), F([0, 1, 0]).reshape(3, 1, 1))
    with np.errstate(all="ignore"):
        u = normalized(np.cross(other, normal, axis=0))
        v = np.cross(normal, u, axis=0)
        origin = point + F(1e-4) * normal
        seed = np.arange(width * height, dtype=np.uint32).reshape(height, width) * np.uint32(2 * samples)
        escaped = np.zeros((height, width), F)
        for k in range(samples):
            radius2 = random_from(seed + np.uint32(2 * k))
            angle = F(6.2831853) * random_from(seed + np.uint32(2 * k + 1))
            radius = np.sqrt(radius2)
            direction = radius * np.cos(angle) * u + radius * np.sin(angle) * v + np.sqrt(1 - radius2) * normal
            escaped += trace(origin, direction)[0] > F(1e20)
    return np.where(distance < F(1e20), escaped / F(samples), sky)


def case(width: int = 256, height: int = 192, samples: int = 32) -> Case:
    """Three spheres on a floor. A ray that only just hits may fall to either side: hence the tolerance."""
    module = compile_example("ao")
    image = np.zeros((height, width), np.float32)

    def ours() -> np.ndarray:
        module.ao(width, height, samples, image)
        return image

    work = f"{width} x {height} pixels, {samples} rays each"
    return Case("ao", work, ours, lambda: with_numpy(width, height, samples), 3 / samples, lambda image: image)


if __name__ == "__main__":
    main(case)
