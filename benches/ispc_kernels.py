"""What the kernels of `benches/ispc/` are called with, which of their results are compared, and how exactly.

Each function below makes the arguments of the kernel of its name, in order, from a source of random numbers; sizes are
its parameters. `Kernel.arguments()` calls it with the sizes that are timed, `Kernel.arguments(small=True)` with those
of the tests, which are odd where they may be.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parent / "ispc"

Arguments = dict[str, Any]
"""Arrays and numpy's scalars by the names of the parameters."""


CACHE_LINE = 64
"""Bytes."""


def aligned(array: np.ndarray) -> np.ndarray:
    """Copy an array, in C order, to where a cache line begins. What shared memory with another does not any more.

    Vectors of 64 bytes take up to twice as long where each lies in two lines. numpy's arrays begin anywhere at a
    multiple of 16 bytes: two contenders would not have the same.
    """
    room = np.empty(array.nbytes + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class Kernel(NamedTuple):
    """A kernel, and what to do with it."""

    name: str
    make: Callable[..., Arguments]
    small: dict[str, int]
    """The sizes for tests."""
    outputs: tuple[str, ...]
    """The arrays that the kernel writes to and whose contents are compared."""
    scratch: tuple[str, ...]
    """Arrays that the kernel writes to as well, and that are not compared."""
    returns: type[np.generic] | None
    """The type of the result."""
    tolerance: float
    """How far numbers may be apart, as a part of the larger of their size and the output's mean size; 0: no bit."""
    share: float
    """The share of numbers that may differ by more: those that fall to one side of a comparison or to the other."""

    @property
    def path(self) -> Path:
        """The file of the kernel."""
        return FOLDER / f"{self.name}.ispc"

    def arguments(self, *, small: bool = False) -> Arguments:
        """Make the arguments, the same each time."""
        made = self.make(np.random.default_rng(zlib.crc32(self.name.encode())), **(self.small if small else {}))
        return {name: aligned(value) if isinstance(value, np.ndarray) else value for name, value in made.items()}

    def difference(self, ours: list[np.ndarray], theirs: list[np.ndarray]) -> str | None:
        """Say what differs between two lists of results, which begin with what the kernel returns; None if nothing."""
        names = ("the result",) * (self.returns is not None) + self.outputs
        for name, a, b in zip(names, ours, theirs):
            found = self.different(a, b)
            if found is not None:
                return f"{name}: {found}"
        return None

    def different(self, ours: np.ndarray, theirs: np.ndarray) -> str | None:
        """Say what differs between two arrays."""
        if self.tolerance == 0:
            off = ours.view(f"u{ours.itemsize}") != theirs.view(f"u{theirs.itemsize}")
        else:
            a, b = ours.astype(np.float64), theirs.astype(np.float64)
            size = np.abs(b)
            scale = np.mean(size[np.isfinite(size)]) if np.isfinite(size).any() else 0.0
            with np.errstate(invalid="ignore"):
                close = np.abs(a - b) <= self.tolerance * np.maximum(size, scale)
            off = ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))
        if np.mean(off) <= self.share:
            return None
        at = np.unravel_index(np.argmax(off), off.shape)
        where = f"[{', '.join(map(str, at))}]" if off.size > 1 else ""
        return f"{np.sum(off)} of {off.size} differ, the first{where} is {ours[at]}, with ispc {theirs[at]}"


KERNELS: dict[str, Kernel] = {}


def kernel(
    *outputs: str,
    small: dict[str, int],
    scratch: tuple[str, ...] = (),
    returns: type[np.generic] | None = None,
    tolerance: float = 0,
    share: float = 0,
) -> Callable[[Callable[..., Arguments]], Callable[..., Arguments]]:
    """Enter a function that makes arguments into the table."""

    def enter(make: Callable[..., Arguments]) -> Callable[..., Arguments]:
        name = make.__name__
        KERNELS[name] = Kernel(name, make, small, outputs, scratch, returns, tolerance, share)
        return make

    return enter


i32 = np.int32
f32 = np.float32
Source = np.random.Generator


def floats(rng: Source, low: float, high: float, *shape: int) -> np.ndarray:
    """Make numbers between two bounds."""
    return (low + (high - low) * rng.random(shape)).astype(f32)


def bytes_(rng: Source, *shape: int) -> np.ndarray:
    """Make any bytes."""
    return rng.integers(0, 256, shape).astype(np.uint8)


# --- Streams, sums and what goes along an array


@kernel("y", small={"n": 1003}, tolerance=1e-6)
def saxpy(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million elements."""
    return {"n": i32(n), "a": f32(2.5), "x": floats(rng, 0, 1, n), "y": floats(rng, 0, 1, n)}


@kernel(small={"n": 1003}, returns=f32, tolerance=1e-4)
def dot(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million elements; sums are made in another order at another width."""
    return {"n": i32(n), "x": floats(rng, 0, 1, n), "y": floats(rng, 0, 1, n)}


@kernel("sums", small={"n": 1003})
def prefix_sum(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million small integers."""
    return {"n": i32(n), "x": rng.integers(-9, 99, n).astype(i32), "sums": np.zeros(n, i32)}


@kernel("counts", small={"n": 5003})
def histogram(rng: Source, n: int = 500_000) -> Arguments:
    """Half a million bytes; some values are more frequent."""
    data = (rng.normal(128, 30, n) % 256).astype(np.uint8)
    return {"n": i32(n), "data": data, "counts": np.zeros(256, i32)}


@kernel("counts", small={"n": 5003})
def histogram_lanes(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million numbers."""
    return {"n": i32(n), "data": floats(rng, -0.05, 1.05, n), "counts": np.zeros(64, i32)}


@kernel("to", small={"n": 1003}, returns=i32)
def compact(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million numbers, of which three in ten are kept."""
    return {"n": i32(n), "limit": f32(0.7), "from": floats(rng, 0, 1, n), "to": np.zeros(n, f32)}


@kernel(small={"n": 1003}, returns=i32)
def nearest(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million points of the plane."""
    x, y = floats(rng, 0, 1, 2, n)
    return {"n": i32(n), "px": f32(0.3), "py": f32(0.6), "x": x, "y": y}


@kernel("y", small={"rows": 203}, tolerance=1e-5)
def spmv(rng: Source, rows: int = 100_000) -> Arguments:
    """100,000 rows of 0 to 20 entries."""
    first = np.concatenate([[0], np.cumsum(rng.integers(0, 21, rows))]).astype(i32)
    entries = int(first[-1])
    column = rng.integers(0, rows, entries).astype(i32)
    value, x = floats(rng, 0, 1, entries), floats(rng, 0, 1, rows)
    return {"rows": i32(rows), "first": first, "column": column, "value": value, "x": x, "y": np.zeros(rows, f32)}


@kernel("to", small={"rows": 37, "columns": 53})
def transpose(rng: Source, rows: int = 1000, columns: int = 1000) -> Arguments:
    """1000 x 1000 numbers."""
    matrix = floats(rng, 0, 1, rows, columns)
    return {"rows": i32(rows), "columns": i32(columns), "from": matrix, "to": np.zeros((columns, rows), f32)}


@kernel("to", small={"n": 1003})
def halves(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million numbers of 16 bits; the product is exact, so that the sum rounds alike whether it is fused or not."""
    data = rng.normal(0, 100, n).astype(np.float16).view(np.uint16)
    return {"n": i32(n), "scale": f32(0.5), "from": data, "to": np.zeros(n, np.uint16)}


@kernel("point", small={"n": 1024}, tolerance=1e-6)
def aos_soa(rng: Source, n: int = 327_680) -> Arguments:
    """Points of three numbers; as many as whole gangs of up to 64 hold."""
    return {"n": i32(n), "cosine": f32(0.8), "sine": f32(0.6), "point": floats(rng, -1, 1, n, 3)}


# --- Numbers: finance, physics, linear algebra


@kernel("call", "put", small={"n": 1003}, tolerance=1e-4)
def black_scholes(rng: Source, n: int = 200_000) -> Arguments:
    """200,000 options."""
    spot, strike = floats(rng, 50, 150, 2, n)
    years, volatility = floats(rng, 0.2, 2, n), floats(rng, 0.1, 0.5, n)
    call, put = np.zeros((2, n), f32)
    return {
        "n": i32(n), "rate": f32(0.03), "spot": spot, "strike": strike, "years": years, "volatility": volatility,
        "call": call, "put": put,
    }  # fmt: skip


@kernel("price", small={"n": 67}, tolerance=1e-3)
def binomial(rng: Source, n: int = 4096) -> Arguments:
    """4096 options."""
    spot, strike = floats(rng, 80, 120, 2, n)
    years, volatility = floats(rng, 0.5, 2, n), floats(rng, 0.15, 0.4, n)
    return {
        "n": i32(n), "rate": f32(0.03), "spot": spot, "strike": strike, "years": years, "volatility": volatility,
        "price": np.zeros(n, f32),
    }  # fmt: skip


@kernel("mean", small={"n": 67, "walks": 5, "steps": 20}, tolerance=1e-4)
def monte_carlo(rng: Source, n: int = 1024, walks: int = 64, steps: int = 64) -> Arguments:
    """1024 starts, 64 walks each."""
    start = floats(rng, 0, 1, n)
    return {"n": i32(n), "walks": i32(walks), "steps": i32(steps), "start": start, "mean": np.zeros(n, f32)}


@kernel("ax", "ay", "az", small={"n": 67}, tolerance=1e-4)
def nbody(rng: Source, n: int = 2048) -> Arguments:
    """2048 bodies."""
    x, y, z, mass = floats(rng, 0, 1, 4, n)
    ax, ay, az = np.zeros((3, n), f32)
    return {
        "n": i32(n), "softening": f32(0.01), "x": x, "y": y, "z": z, "mass": mass, "ax": ax, "ay": ay, "az": az,
    }  # fmt: skip


@kernel("a", small={"width": 67, "height": 33, "pairs": 2}, scratch=("b",), tolerance=1e-5)
def stencil2d(rng: Source, width: int = 512, height: int = 512, pairs: int = 4) -> Arguments:
    """Eight steps on a plate of 512 x 512."""
    a = floats(rng, 0, 1, height, width)
    return {"width": i32(width), "height": i32(height), "pairs": i32(pairs), "a": a, "b": a.copy()}


@kernel("next", small={"nx": 37, "ny": 11, "nz": 9}, tolerance=1e-5)
def stencil3d(rng: Source, nx: int = 128, ny: int = 96, nz: int = 64) -> Arguments:
    """A box of 128 x 96 x 64 points."""
    now, next_ = floats(rng, 0, 1, 2, nz, ny, nx)
    return {"nx": i32(nx), "ny": i32(ny), "nz": i32(nz), "speed": f32(0.1), "now": now, "next": next_}


@kernel("next", small={"width": 67, "height": 33}, tolerance=1e-13)
def wave(rng: Source, width: int = 512, height: int = 512) -> Arguments:
    """A step on a plate of 512 x 512 doubles."""
    now, next_, damping = rng.random((3, height, width))
    return {
        "width": i32(width), "height": i32(height), "speed": np.float64(0.2), "damping": damping * 0.1, "now": now,
        "next": next_,
    }  # fmt: skip


@kernel("to", small={"width": 67, "height": 13}, tolerance=1e-4)
def lbm(rng: Source, width: int = 512, height: int = 256) -> Arguments:
    """A channel of 512 x 256 cells."""
    weight = np.array([16, 4, 4, 4, 4, 1, 1, 1, 1]).reshape(9, 1, 1) / 36
    cells = (weight * (1 + 0.1 * rng.random((9, height, width)))).astype(f32)
    return {"width": i32(width), "height": i32(height), "omega": f32(1.2), "from": cells, "to": cells.copy()}


@kernel("c", small={"n": 36}, tolerance=1e-5)
def sgemm(rng: Source, n: int = 256) -> Arguments:
    """256 x 256 numbers."""
    a, b = floats(rng, 0, 1, 2, n, n)
    return {"n": i32(n), "a": a, "b": b, "c": np.zeros((n, n), f32)}


@kernel("c", small={"n": 48}, tolerance=1e-5)
def sgemm_tiled(rng: Source, n: int = 256) -> Arguments:
    """256 x 256 numbers."""
    return sgemm(rng, n)


@kernel("x", small={"n": 256}, tolerance=1e-5)
def walsh(rng: Source, n: int = 1 << 17) -> Arguments:
    """2¹⁷ numbers."""
    return {"n": i32(n), "x": floats(rng, -1, 1, n)}


@kernel("re", "im", small={"log2": 8}, scratch=("other_re", "other_im"), tolerance=1e-4)
def fft(rng: Source, log2: int = 16) -> Arguments:
    """2¹⁶ complex numbers."""
    n = 1 << log2
    turn = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    re, im = floats(rng, -1, 1, 2, n)
    other_re, other_im = np.zeros((2, n), f32)
    return {
        "n": i32(n), "wr": turn.real.astype(f32), "wi": turn.imag.astype(f32), "re": re, "im": im,
        "other_re": other_re, "other_im": other_im,
    }  # fmt: skip


@kernel("qr", "qi", small={"voxels": 67, "samples": 9}, tolerance=1e-3)
def mri_q(rng: Source, voxels: int = 2048, samples: int = 256) -> Arguments:
    """2048 voxels, 256 samples."""
    x, y, z = floats(rng, -1, 1, 3, voxels)
    kx, ky, kz = floats(rng, -2, 2, 3, samples)
    qr, qi = np.zeros((2, voxels), f32)
    return {
        "voxels": i32(voxels), "samples": i32(samples), "x": x, "y": y, "z": z, "kx": kx, "ky": ky, "kz": kz,
        "weight": floats(rng, 0, 1, samples), "qr": qr, "qi": qi,
    }  # fmt: skip


@kernel("cx", "cy", small={"n": 503, "k": 5}, scratch=("label",), tolerance=1e-3)
def kmeans(rng: Source, n: int = 50_000, k: int = 16) -> Arguments:
    """50,000 points, 16 centres; a point halfway between two may go to either."""
    x, y = floats(rng, 0, 1, 2, n)
    return {
        "n": i32(n), "k": i32(k), "x": x, "y": y, "cx": x[:k].copy(), "cy": y[:k].copy(), "label": np.zeros(n, i32),
    }  # fmt: skip


@kernel("distance", small={"n": 37})
def floyd_warshall(rng: Source, n: int = 256) -> Arguments:
    """256 points, all of which have ways to each other."""
    distance = rng.integers(1, 1000, (n, n)).astype(i32)
    np.fill_diagonal(distance, 0)
    return {"n": i32(n), "distance": distance}


@kernel("root", small={"n": 203}, tolerance=1e-11)
def newton(rng: Source, n: int = 50_000) -> Arguments:
    """50,000 doubles of very different sizes."""
    return {"n": i32(n), "x": 10.0 ** rng.uniform(-3, 6, n), "root": np.zeros(n)}


# --- Pictures


@kernel("steps", small={"width": 65, "height": 40, "limit": 50}, share=0.01)
def mandelbrot(rng: Source, width: int = 512, height: int = 256, limit: int = 256) -> Arguments:
    """512 x 256 pixels; one rounding more or less may change a count at the border of the set."""
    steps = np.zeros((height, width), i32)
    return {"width": i32(width), "height": i32(height), "limit": i32(limit), "steps": steps}


@kernel("shade", small={"width": 64, "height": 32, "limit": 40}, tolerance=1e-3, share=0.01)
def julia(rng: Source, width: int = 512, height: int = 256, limit: int = 200) -> Arguments:
    """512 x 256 pixels; likewise."""
    shade = np.zeros((height, width), f32)
    return {
        "width": i32(width), "height": i32(height), "cx": f32(-0.745), "cy": f32(0.113), "limit": i32(limit),
        "shade": shade,
    }  # fmt: skip


@kernel("image", small={"width": 65, "height": 40, "n": 7}, tolerance=1e-3, share=0.001)
def spheres(rng: Source, width: int = 512, height: int = 256, n: int = 24) -> Arguments:
    """512 x 256 pixels, 24 spheres; a ray that only just hits may miss."""
    sphere = np.dtype([(name, f32) for name in ("x", "y", "z", "radius", "shade")])
    ball = np.zeros(n, sphere)
    ball["x"], ball["y"] = floats(rng, -2, 2, 2, n)
    ball["z"] = floats(rng, 3, 8, n)
    ball["radius"], ball["shade"] = floats(rng, 0.2, 0.8, n), floats(rng, 0.5, 1, n)
    image = np.zeros((height, width), f32)
    return {"width": i32(width), "height": i32(height), "n": i32(n), "ball": ball, "image": image}


@kernel("image", small={"width": 65, "height": 40, "octaves": 3}, tolerance=1e-4)
def noise(rng: Source, width: int = 512, height: int = 256, octaves: int = 5) -> Arguments:
    """512 x 256 pixels, five octaves."""
    image = np.zeros((height, width), f32)
    return {"width": i32(width), "height": i32(height), "octaves": i32(octaves), "image": image}


@kernel("shade", small={"n": 1003}, tolerance=1e-4)
def materials(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 places; neighbours mostly have the same of 12 materials."""
    material = np.repeat(rng.integers(0, 12, n // 20 + 1), 20)[:n].astype(i32)
    return {
        "n": i32(n), "material": material, "gloss": floats(rng, 1, 20, 12), "colour": floats(rng, 0, 1, 12),
        "cosine": floats(rng, 0.01, 1, n), "shade": np.zeros(n, f32),
    }  # fmt: skip


def picture(rng: Source, width: int, height: int, dtype: type[np.generic]) -> Arguments:
    """Make a picture, and room for another one."""
    from_ = bytes_(rng, height, width) if dtype is np.uint8 else floats(rng, 0, 1, height, width)
    return {"width": i32(width), "height": i32(height), "from": from_, "to": np.zeros((height, width), dtype)}


@kernel("to", small={"width": 67, "height": 33}, tolerance=1e-5)
def convolve(rng: Source, width: int = 1024, height: int = 512) -> Arguments:
    """1024 x 512 pixels."""
    made = picture(rng, width, height, f32)
    weight = np.array([1, 2, 1, 2, 4, 2, 1, 2, 1], f32) / 16
    return {"width": made["width"], "height": made["height"], "weight": weight, "from": made["from"], "to": made["to"]}


@kernel("to", small={"width": 67, "height": 33})
def median(rng: Source, width: int = 1024, height: int = 512) -> Arguments:
    """1024 x 512 bytes."""
    return picture(rng, width, height, np.uint8)


@kernel("to", small={"width": 67, "height": 33})
def sobel(rng: Source, width: int = 1024, height: int = 512) -> Arguments:
    """1024 x 512 bytes, of neighbours that differ by little."""
    made = picture(rng, width, height, np.uint8)
    made["from"] //= 8
    return made


@kernel("to", small={"width": 67, "height": 33})
def life(rng: Source, width: int = 1024, height: int = 1024) -> Arguments:
    """1024 x 1024 cells, one in three alive."""
    made = picture(rng, width, height, np.uint8)
    made["from"] = (made["from"] < 85).astype(np.uint8)
    return made


@kernel("to", small={"width": 31, "height": 17}, tolerance=1e-4)
def bilinear(rng: Source, width: int = 300, height: int = 200) -> Arguments:
    """300 x 200 pixels become 2.5 times as many each way."""
    made = picture(rng, width, height, f32)
    new_width, new_height = width * 5 // 2, height * 5 // 2
    return {
        "width": made["width"], "height": made["height"], "new_width": i32(new_width), "new_height": i32(new_height),
        "from": made["from"], "to": np.zeros((new_height, new_width), f32),
    }  # fmt: skip


@kernel("grey", small={"n": 1003})
def luma(rng: Source, n: int = 500_000) -> Arguments:
    """Half a million pixels."""
    return {"n": i32(n), "rgb": bytes_(rng, n, 3), "grey": np.zeros(n, np.uint8)}


@kernel("under", small={"n": 1003})
def blend(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million bytes."""
    over, opacity, under = bytes_(rng, 3, n)
    return {"n": i32(n), "over": over, "opacity": opacity, "under": under}


# --- Whole numbers, bits, texts, sorting and recursion


@kernel("key", small={"n": 256})
def bitonic_sort(rng: Source, n: int = 1 << 15) -> Arguments:
    """2¹⁵ integers."""
    return {"n": i32(n), "key": rng.integers(-(10**9), 10**9, n).astype(i32)}


@kernel("key", small={"n": 1003}, scratch=("spare",))
def quicksort(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 integers, some of them equal."""
    return {"n": i32(n), "key": rng.integers(0, 5 * n, n).astype(i32), "spare": np.zeros(n, i32)}


@kernel("found", small={"n": 67, "nodes": 127})
def tree(rng: Source, n: int = 2000, nodes: int = (1 << 14) - 1) -> Arguments:
    """2000 ranges of up to 50 numbers, in a tree of 2¹⁴ - 1 in the order of a heap, which is full."""
    numbers = np.arange(nodes)
    level = np.floor(np.log2(numbers + 1)).astype(int)
    depth = level[-1] + 1
    # A node of a full tree has as many numbers to its left as this.
    keys = ((2 * (numbers + 1 - (1 << level)) + 1) << (depth - 1 - level)) - 1
    low = rng.integers(0, nodes, n)
    high = low + rng.integers(0, 50, n)
    return {
        "n": i32(n), "nodes": i32(nodes), "keys": keys.astype(i32), "low": low.astype(i32), "high": high.astype(i32),
        "found": np.zeros(n, i32),
    }  # fmt: skip


@kernel(small={"n": 1003}, returns=i32)
def string_match(rng: Source, n: int = 500_000) -> Arguments:
    """Half a million letters out of four, a word of five."""
    text = rng.choice(np.frombuffer(b"acgt", np.int8), n)
    return {"n": i32(n), "length": i32(5), "text": text, "word": text[n // 2 : n // 2 + 5].copy()}


@kernel("distance", small={"n": 67, "length": 9})
def edit_distance(rng: Source, n: int = 4096, length: int = 32) -> Arguments:
    """4096 words of 32 letters out of four."""
    word, others = rng.integers(97, 101, length).astype(np.int8), rng.integers(97, 101, (length, n)).astype(np.int8)
    return {"n": i32(n), "length": i32(length), "word": word, "others": others, "distance": np.zeros(n, i32)}


@kernel("merged", small={"n": 1003})
def digests(rng: Source, n: int = 500_000) -> Arguments:
    """Two times half a million digests."""
    a, b = rng.integers(-(2**63), 2**63 - 1, (2, n))
    return {"n": i32(n), "a": a, "b": b, "merged": np.zeros(n, np.int64)}


@kernel("crc", small={"n": 67, "length": 9})
def crc32(rng: Source, n: int = 4096, length: int = 64) -> Arguments:
    """4096 messages of 64 bytes."""
    return {
        "n": i32(n), "length": i32(length), "message": bytes_(rng, length, n), "crc": np.zeros(n, np.uint32),
    }  # fmt: skip


@kernel("crc", small={"n": 67, "length": 9})
def crc32_table(rng: Source, n: int = 4096, length: int = 256) -> Arguments:
    """4096 messages of 256 bytes."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> 1) ^ np.where(table & 1, np.uint32(0xEDB88320), np.uint32(0))
    made = crc32(rng, n, length)
    return {"n": made["n"], "length": made["length"], "table": table, "message": made["message"], "crc": made["crc"]}


@kernel("mirrored", "summary", small={"n": 1003})
def bits(rng: Source, n: int = 500_000) -> Arguments:
    """Half a million words."""
    word = (rng.integers(0, 2**32, n) >> rng.integers(0, 32, n)).astype(np.uint32)
    return {"n": i32(n), "word": word, "mirrored": np.zeros(n, np.uint32), "summary": np.zeros(n, i32)}


@kernel("stream", small={"blocks": 67})
def chacha(rng: Source, blocks: int = 16_384) -> Arguments:
    """A megabyte of the stream."""
    start = rng.integers(0, 2**32, 16).astype(np.uint32)
    start[12] = 1
    return {"blocks": i32(blocks), "start": start, "stream": np.zeros((16, blocks), np.uint32)}


@kernel("steps", small={"n": 503})
def collatz(rng: Source, n: int = 50_000) -> Arguments:
    """The first 50,000 numbers, whose ways stay below 2³²."""
    return {"n": i32(n), "steps": np.zeros(n, i32)}


@kernel("result", small={"n": 203, "length": 13})
def machine(rng: Source, n: int = 4096, length: int = 100) -> Arguments:
    """4096 programs of 100 instructions."""
    code = rng.integers(0, 5, (length, n)).astype(np.uint8)
    return {"n": i32(n), "length": i32(length), "code": code, "result": np.zeros(n, np.uint32)}
