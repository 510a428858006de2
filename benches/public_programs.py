"""The programs of `public.py`: where each lies in its repository, what it is called with, and what is compared.

Each function below makes the arguments of the program of its name, in the order of its parameters, from a source of
random numbers; sizes are its parameters, as in `ispc_kernels.py`. The programs themselves are not here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from ispc_kernels import Arguments, Kernel, Source, bytes_, f32, floats, i32


class Program(NamedTuple):
    """A program of a repository, and what to do with it."""

    repository: str
    """owner/name"""
    file: str
    entry: str
    """The exported function."""
    kernel: Kernel
    """Its data, and how results are compared."""
    links: dict[str, str]
    """Which fields of records hold the addresses of which arrays: `record.field`, or an array of addresses."""
    includes: tuple[str, ...]
    """Folders of the repository that `#include` searches."""
    defines: dict[str, str]
    more: tuple[str, ...]
    """Other sources of the program."""

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.kernel.name

    @property
    def results(self) -> tuple[str, ...]:
        """Names of what is compared."""
        return ("the result",) * (self.kernel.returns is not None) + self.kernel.outputs


PROGRAMS: dict[str, Program] = {}


def program(
    repository: str,
    file: str,
    entry: str,
    *outputs: str,
    small: dict[str, int],
    scratch: tuple[str, ...] = (),
    returns: type[np.generic] | None = None,
    tolerance: float = 0,
    share: float = 0,
    links: dict[str, str] | None = None,
    includes: tuple[str, ...] = (),
    defines: dict[str, str] | None = None,
    more: tuple[str, ...] = (),
) -> Callable[[Callable[..., Arguments]], Callable[..., Arguments]]:
    """Enter a function that makes arguments into the table."""

    def enter(make: Callable[..., Arguments]) -> Callable[..., Arguments]:
        name = make.__name__
        kernel = Kernel(name, make, small, outputs, scratch, returns, tolerance, share)
        PROGRAMS[name] = Program(repository, file, entry, kernel, links or {}, includes, defines or {}, more)
        return make

    return enter


f64 = np.float64
u32 = np.uint32

ISPC = "ispc/ispc"
EXAMPLES = "examples/cpu"


# --- The examples of ispc


@program(ISPC, f"{EXAMPLES}/mandelbrot/mandelbrot.ispc", "mandelbrot_ispc", "output", small={"width": 48, "height": 20, "limit": 40}, share=0.01)
def mandelbrot(rng: Source, width: int = 512, height: int = 256, limit: int = 256) -> Arguments:
    """512 x 256 pixels; one rounding more or less may change a count at the border of the set."""
    return {
        "x0": f32(-2), "y0": f32(-1), "x1": f32(1), "y1": f32(1), "width": i32(width), "height": i32(height),
        "limit": i32(limit), "output": np.zeros((height, width), i32),
    }  # fmt: skip


@program(ISPC, f"{EXAMPLES}/mandelbrot_tasks/mandelbrot_tasks.ispc", "mandelbrot_ispc", "output", small={"width": 64, "height": 32, "limit": 40}, share=0.01)
def mandelbrot_tasks(rng: Source, width: int = 512, height: int = 256, limit: int = 256) -> Arguments:
    """Likewise, in tasks."""
    return mandelbrot(rng, width, height, limit)


def options(rng: Source, n: int) -> Arguments:
    """Options with prices, strikes, years, rates and volatilities."""
    price, strike = floats(rng, 50, 150, 2, n)
    years, rate, volatility = floats(rng, 0.5, 2, n), floats(rng, 0.01, 0.05, n), floats(rng, 0.1, 0.4, n)
    return {
        "price": price, "strike": strike, "years": years, "rate": rate, "volatility": volatility,
        "result": np.zeros(n, f32), "count": i32(n),
    }  # fmt: skip


@program(ISPC, f"{EXAMPLES}/options/options.ispc", "black_scholes_ispc", "result", small={"n": 203}, tolerance=1e-4)
def black_scholes(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 options; logarithm and exponential are approximated."""
    return options(rng, n)


@program(ISPC, f"{EXAMPLES}/options/options.ispc", "binomial_put_ispc", "result", small={"n": 67}, tolerance=1e-3)
def binomial(rng: Source, n: int = 4096) -> Arguments:
    """4096 options; powers are approximated."""
    return options(rng, n)


@program(ISPC, f"{EXAMPLES}/noise/noise.ispc", "noise_ispc", "output", small={"width": 48, "height": 11}, tolerance=1e-4)
def noise(rng: Source, width: int = 320, height: int = 256) -> Arguments:
    """320 x 256 pixels; sums are fused differently."""
    return {
        "x0": f32(-10), "y0": f32(-10), "x1": f32(10), "y1": f32(10), "width": i32(width), "height": i32(height),
        "output": np.zeros((height, width), f32),
    }  # fmt: skip


@program(ISPC, f"{EXAMPLES}/stencil/stencil.ispc", "loop_stencil_ispc", "even", "odd", small={"n": 20, "steps": 2}, tolerance=1e-4)
def stencil(rng: Source, n: int = 64, steps: int = 6) -> Arguments:
    """Six steps in a box of 64 x 64 x 64 points; sums are fused differently."""
    even, odd = floats(rng, 0, 1, 2, n, n, n)
    lo, hi, size = i32(4), i32(n - 4), i32(n)
    return {
        "t0": i32(0), "t1": i32(steps), "x0": lo, "x1": hi, "y0": lo, "y1": hi, "z0": lo, "z1": hi,
        "nx": size, "ny": size, "nz": size, "coef": np.array([0.5, -0.25, 0.125, -0.0625], f32),
        "vsq": floats(rng, 0, 0.2, n, n, n), "even": even, "odd": odd,
    }  # fmt: skip


@program(ISPC, f"{EXAMPLES}/sort/sort.ispc", "sort_ispc", "code", "order", small={"n": 64, "tasks": 2})
def sort(rng: Source, n: int = 65_536, tasks: int = 4) -> Arguments:
    """65,536 numbers in four tasks."""
    code = rng.integers(0, 1 << 24, n).astype(u32)
    return {"n": i32(n), "code": code, "order": np.arange(n, dtype=i32), "tasks": i32(tasks)}


def camera(distance: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Make the two matrices for pixels to directions, and for the camera's place: it looks along z."""
    to_camera = np.array([[scale, 0, 0, -0.5], [0, scale, 0, -0.5], [0, 0, 0, 1], [0, 0, 0, 1]], f32)
    to_world = np.array([[1, 0, 0, 0.03], [0, 1, 0, 0.02], [0, 0, 1, -distance], [0, 0, 0, 1]], f32)
    return to_camera, to_world


NODE = np.dtype([("bounds", f32, (2, 3)), ("offset", u32), ("count", np.uint8), ("axis", np.uint8), ("pad", np.uint16)])
TRIANGLE = np.dtype([("p", f32, (3, 4)), ("id", i32), ("pad", i32, 3)])


def tree_of(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Build the tree of boxes over triangles (n, 3, 3): nodes before their children, at most four triangles in a leaf."""
    nodes: list[tuple] = []
    order: list[int] = []

    def build(members: np.ndarray) -> None:
        points = corners[members]
        bounds = np.stack([points.min((0, 1)), points.max((0, 1))])
        at = len(nodes)
        if len(members) <= 4:
            nodes.append((bounds, len(order), len(members), 0, 0))
            order.extend(members)
            return
        axis = int(np.argmax(bounds[1] - bounds[0]))
        members = members[np.argsort(points.mean(1)[:, axis], kind="stable")]
        nodes.append(())
        build(members[: len(members) // 2])
        nodes[at] = (bounds, len(nodes), 0, axis, 0)
        build(members[len(members) // 2 :])

    build(np.arange(len(corners)))
    triangles = np.zeros(len(corners), TRIANGLE)
    triangles["p"][:, :, :3] = corners[order]
    triangles["id"] = np.array(order) + 1
    return np.array(nodes, NODE), triangles


@program(ISPC, f"{EXAMPLES}/rt/rt.ispc", "raytrace_ispc", "image", "id", small={"width": 32, "height": 20, "n": 60}, tolerance=1e-3, share=0.01)
def rt(rng: Source, width: int = 256, height: int = 192, n: int = 4000) -> Arguments:
    """4000 triangles, 256 x 192 pixels; a ray that only just hits may miss."""
    at = rng.uniform(-1, 1, (n, 1, 3))
    nodes, triangles = tree_of((at + rng.uniform(-0.12, 0.12, (n, 3, 3))).astype(f32))
    to_camera, to_world = camera(3, 1 / max(width, height))
    return {
        "width": i32(width), "height": i32(height), "base_width": i32(width), "base_height": i32(height),
        "to_camera": to_camera, "to_world": to_world, "image": np.zeros((height, width), f32),
        "id": np.zeros((height, width), i32), "nodes": nodes, "triangles": triangles,
    }  # fmt: skip


def blob(rng: Source, n: int) -> np.ndarray:
    """Make a smooth density in a cube: some clouds."""
    z, y, x = np.mgrid[0:n, 0:n, 0:n] / n
    density = np.zeros((n, n, n))
    for cx, cy, cz, size in zip(*rng.uniform(0.2, 0.8, (3, 8)), rng.uniform(0.03, 0.12, 8)):
        density += np.exp(-((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2) / (2 * size * size))
    return (density / density.max()).astype(f32)


@program(ISPC, f"{EXAMPLES}/volume_rendering/volume.ispc", "volume_ispc", "image", small={"width": 16, "height": 12, "n": 9}, tolerance=1e-3, share=0.01)
def volume(rng: Source, width: int = 96, height: int = 64, n: int = 48) -> Arguments:
    """A cube of 48 x 48 x 48 densities, 96 x 64 pixels; exponentials are approximated."""
    to_camera, to_world = camera(2, 1 / max(width, height))
    return {
        "density": blob(rng, n), "sizes": np.array([n, n, n], i32), "to_camera": to_camera, "to_world": to_world,
        "width": i32(width), "height": i32(height), "image": np.zeros((height, width), f32),
    }  # fmt: skip


@program(ISPC, f"{EXAMPLES}/aobench/ao.ispc", "ao_ispc", "image", small={"width": 12, "height": 10, "samples": 1}, tolerance=0.02, share=0.05)
def aobench(rng: Source, width: int = 64, height: int = 48, samples: int = 2) -> Arguments:
    """64 x 48 pixels; rays go in random directions, and one that only just hits may miss."""
    return {
        "width": i32(width), "height": i32(height), "samples": i32(samples),
        "image": np.zeros((height, width, 3), f32),
    }  # fmt: skip


def matrices(rng: Source, n: int, dtype: type[np.generic] = f32) -> Arguments:
    """Two square matrices, a third for the product, and the three sizes."""
    a, b = rng.integers(0, 100, (2, n, n)) if np.issubdtype(dtype, np.integer) else rng.random((2, n, n))
    return {
        "a": a.astype(dtype), "b": b.astype(dtype), "c": np.zeros((n, n), dtype), "m": i32(n), "n": i32(n), "k": i32(n),
    }  # fmt: skip


SGEMM = f"{EXAMPLES}/sgemm/SGEMM_kernels.ispc"


@program(ISPC, SGEMM, "SGEMM_naive", "c", small={"n": 32}, tolerance=1e-4)
def sgemm_naive(rng: Source, n: int = 256) -> Arguments:
    """256 x 256 numbers; sums are fused differently."""
    return matrices(rng, n)


@program(ISPC, SGEMM, "SGEMM_tileShuffle", "c", small={"n": 32}, tolerance=1e-4)
def sgemm_shuffle(rng: Source, n: int = 256) -> Arguments:
    """256 x 256 numbers."""
    return matrices(rng, n)


@program(ISPC, SGEMM, "SGEMM_tileBlockNoSIMDIntrin_2", "c", small={"n": 32}, tolerance=1e-4)
def sgemm_blocks(rng: Source, n: int = 256) -> Arguments:
    """256 x 256 numbers."""
    return matrices(rng, n)


@program(ISPC, f"{EXAMPLES}/gmres/matrix.ispc", "sparse_multiply", "r", small={"rows": 103}, tolerance=1e-12)
def gmres(rng: Source, rows: int = 20_000) -> Arguments:
    """20,000 rows of 1 to 20 entries; the indices are doubles, too."""
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 21, rows))])
    entries = int(offsets[-1])
    return {
        "entries": rng.random(entries), "columns": rng.integers(0, rows, entries).astype(f64),
        "offsets": offsets[:-1].astype(f64), "rows": i32(rows), "cols": i32(rows), "nonzeroes": i32(entries),
        "v": rng.random(rows), "r": np.zeros(rows),
    }  # fmt: skip


@program(ISPC, f"{EXAMPLES}/perfbench/perfbench.ispc", "normalizeAOSNoCoalesce", "array", small={"n": 300}, tolerance=1e-5)
def normalize_aos(rng: Source, n: int = 300_000) -> Arguments:
    """100,000 points of three numbers, at indices that are floats; quotients are approximated."""
    return {"array": floats(rng, 1, 2, n), "count": i32(n), "zeros": np.zeros(64, f32)}


@program(ISPC, f"{EXAMPLES}/perfbench/perfbench.ispc", "xyzSumAOSStdlib", "result", small={}, tolerance=1e-3)
def sum_aos(rng: Source) -> Arguments:
    """65,536 points of three numbers; sums are made in another order."""
    n = 3 * 65_536
    return {"array": floats(rng, 0, 1, n), "count": i32(n), "zeros": np.zeros(64, f32), "result": np.zeros(3, f32)}


# --- Texture compressors

SURFACE = np.dtype([("ptr", np.uint64), ("width", i32), ("height", i32), ("stride", i32)], align=True)
TEXCOMP = "GameTechDev/ISPCTextureCompressor"
TEXCOMP_FILE = "ispc_texcomp/kernel.ispc"


def picture(rng: Source, width: int, height: int) -> np.ndarray:
    """Make a picture of four channels: slopes, edges and some noise."""
    y, x = np.mgrid[0:height, 0:width]
    channels = []
    for _ in range(4):
        a, b, c, d = rng.uniform(0.02, 0.12, 4)
        smooth = 127 + 60 * np.sin(a * x + b * y) + 50 * np.sign(np.sin(c * x - d * y))
        channels.append(smooth + rng.normal(0, 6, (height, width)))
    return np.clip(np.stack(channels, -1), 0, 255).astype(np.uint8)


def surface(pixels: np.ndarray) -> np.ndarray:
    """Describe a picture as a record; its address is stored later."""
    height, width = pixels.shape[:2]
    record = np.zeros(1, SURFACE)
    record["width"], record["height"], record["stride"] = width, height, pixels[0].nbytes
    return record


def blocks(rng: Source, size: int, per_block: int) -> Arguments:
    """A picture of size x size, and room for its blocks of 4 x 4 pixels."""
    pixels = picture(rng, size, size)
    return {"src": surface(pixels), "pixels": pixels, "dst": np.zeros(size * size // 16 * per_block, np.uint8)}


@program(TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC1_ispc", "dst", small={"size": 64}, links={"src.ptr": "pixels"}, share=0.02)
def bc1(rng: Source, size: int = 512) -> Arguments:
    """512 x 512 pixels; one rounding more or less may choose another encoding."""
    return blocks(rng, size, 8)


@program(TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC3_ispc", "dst", small={"size": 64}, links={"src.ptr": "pixels"}, share=0.02)
def bc3(rng: Source, size: int = 512) -> Arguments:
    """Likewise, with alpha."""
    return blocks(rng, size, 16)


BC7 = np.dtype(
    [
        ("modes", np.bool_, 4), ("refine", i32, 8), ("skip_mode2", np.bool_), ("skip1", i32), ("skip3", i32), ("skip7", i32),
        ("channel0", i32), ("refine_channel", i32), ("channels", i32),
    ],
    align=True,
)  # fmt: skip


@program(TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC7_ispc", "dst", small={"size": 32}, links={"src.ptr": "pixels"}, share=0.05)
def bc7(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels with alpha, all modes; one rounding more or less may choose another encoding."""
    settings = np.zeros(1, BC7)
    settings["modes"], settings["refine"] = True, [2, 2, 2, 2, 2, 2, 2, 1]
    settings["skip1"], settings["skip3"], settings["skip7"] = 8, 4, 8
    settings["refine_channel"], settings["channels"] = 2, 4
    return {**blocks(rng, size, 16), "settings": settings}


BC6H = np.dtype(
    [("slow", np.bool_), ("fast", np.bool_), ("refine1", i32), ("refine2", i32), ("skip", i32)], align=True
)


@program(TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC6H_ispc", "dst", small={"size": 32}, links={"src.ptr": "pixels"}, share=0.05)
def bc6h(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels of four halves; likewise."""
    pixels = (picture(rng, size, size) / 64).astype(np.float16).view(np.uint16)
    settings = np.zeros(1, BC6H)
    settings["slow"], settings["refine1"], settings["refine2"], settings["skip"] = True, 2, 2, 10
    return {"src": surface(pixels), "pixels": pixels, "dst": np.zeros(size * size, np.uint8), "settings": settings}


@program(TEXCOMP, TEXCOMP_FILE, "CompressBlocksETC1_ispc", "dst", small={"size": 32}, links={"src.ptr": "pixels"}, share=0.05)
def etc1(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels; likewise."""
    return {**blocks(rng, size, 8), "settings": np.array([6], i32)}
