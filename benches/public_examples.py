"""The examples of ispc itself, for `public.py`: see `public_programs.py`."""

from __future__ import annotations

import numpy as np
from ispc_kernels import Arguments, Source, bytes_, f32, floats, i32
from public_programs import program

f64 = np.float64
u32 = np.uint32

ISPC = "ispc/ispc"
EXAMPLES = "examples/cpu"


@program(
    ISPC,
    f"{EXAMPLES}/mandelbrot/mandelbrot.ispc",
    "mandelbrot_ispc",
    "output",
    small={"width": 48, "height": 20, "limit": 40},
    share=0.01,
)
def mandelbrot(rng: Source, width: int = 512, height: int = 256, limit: int = 256) -> Arguments:
    """512 x 256 pixels; one rounding more or less may change a count at the border of the set."""
    return {
        "x0": f32(-2), "y0": f32(-1), "x1": f32(1), "y1": f32(1), "width": i32(width), "height": i32(height),
        "limit": i32(limit), "output": np.zeros((height, width), i32),
    }  # fmt: skip


@program(
    ISPC,
    f"{EXAMPLES}/mandelbrot_tasks/mandelbrot_tasks.ispc",
    "mandelbrot_ispc",
    "output",
    small={"width": 64, "height": 32, "limit": 40},
    share=0.01,
)
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


@program(
    ISPC, f"{EXAMPLES}/noise/noise.ispc", "noise_ispc", "output", small={"width": 48, "height": 11}, tolerance=1e-4
)
def noise(rng: Source, width: int = 320, height: int = 256) -> Arguments:
    """320 x 256 pixels; sums are fused differently."""
    return {
        "x0": f32(-10), "y0": f32(-10), "x1": f32(10), "y1": f32(10), "width": i32(width), "height": i32(height),
        "output": np.zeros((height, width), f32),
    }  # fmt: skip


@program(
    ISPC,
    f"{EXAMPLES}/stencil/stencil.ispc",
    "loop_stencil_ispc",
    "even",
    "odd",
    small={"n": 20, "steps": 2},
    tolerance=1e-4,
)
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
    """Build the tree of boxes over triangles (n, 3, 3), nodes before their children, up to four in a leaf."""
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


@program(
    ISPC,
    f"{EXAMPLES}/rt/rt.ispc",
    "raytrace_ispc",
    "image",
    "id",
    small={"width": 32, "height": 20, "n": 60},
    tolerance=1e-3,
    share=0.01,
)
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


def cloud(rng: Source, n: int) -> np.ndarray:
    """Make a smooth density in a cube: some clouds."""
    z, y, x = np.mgrid[0:n, 0:n, 0:n] / n
    density = np.zeros((n, n, n))
    for cx, cy, cz, size in zip(*rng.uniform(0.2, 0.8, (3, 8)), rng.uniform(0.03, 0.12, 8)):
        density += np.exp(-((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2) / (2 * size * size))
    return (density / density.max()).astype(f32)


@program(
    ISPC,
    f"{EXAMPLES}/volume_rendering/volume.ispc",
    "volume_ispc",
    "image",
    small={"width": 16, "height": 12, "n": 9},
    tolerance=1e-3,
    share=0.01,
)
def volume(rng: Source, width: int = 96, height: int = 64, n: int = 48) -> Arguments:
    """A cube of 48 x 48 x 48 densities, 96 x 64 pixels; exponentials are approximated."""
    to_camera, to_world = camera(2, 1 / max(width, height))
    return {
        "density": cloud(rng, n), "sizes": np.array([n, n, n], i32), "to_camera": to_camera, "to_world": to_world,
        "width": i32(width), "height": i32(height), "image": np.zeros((height, width), f32),
    }  # fmt: skip


@program(
    ISPC,
    f"{EXAMPLES}/aobench/ao.ispc",
    "ao_ispc",
    "image",
    small={"width": 12, "height": 10, "samples": 1},
    tolerance=0.02,
    share=0.05,
)
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


@program(
    ISPC, f"{EXAMPLES}/perfbench/perfbench.ispc", "normalizeAOSNoCoalesce", "array", small={"n": 300}, tolerance=1e-5
)
def normalize_aos(rng: Source, n: int = 300_000) -> Arguments:
    """100,000 points of three numbers, at indices that are floats; quotients are approximated."""
    return {"array": floats(rng, 1, 2, n), "count": i32(n), "zeros": np.zeros(64, f32)}


@program(ISPC, f"{EXAMPLES}/perfbench/perfbench.ispc", "xyzSumAOSStdlib", "result", small={}, tolerance=1e-3)
def sum_aos(rng: Source) -> Arguments:
    """65,536 points of three numbers; sums are made in another order."""
    n = 3 * 65_536
    return {"array": floats(rng, 0, 1, n), "count": i32(n), "zeros": np.zeros(64, f32), "result": np.zeros(3, f32)}


HEADER = np.dtype(
    [
        ("projection", f32, (4, 4)), ("near", f32), ("far", f32), ("width", i32), ("height", i32), ("lights", i32),
        ("chunk", i32), ("offsets", i32, 16),
    ]
)  # fmt: skip
G_BUFFER = (
    "depth", "normal_x", "normal_y", "specular", "power", "albedo_x", "albedo_y", "albedo_z", "light_x", "light_y",
    "light_z", "begin", "red", "green", "blue", "end",
)  # fmt: skip


@program(
    ISPC, f"{EXAMPLES}/deferred/kernels.ispc", "RenderStatic", "out_r", "out_g", "out_b",
    small={"width": 32, "height": 16}, links={f"arrays.{name}": name for name in G_BUFFER}, tolerance=0.01,
    share=0.001,
)  # fmt: skip
def deferred(rng: Source, width: int = 320, height: int = 192, lights: int = 1024) -> Arguments:
    """320 x 192 pixels, 1024 lights, tasks of 16 x 16; powers are approximated, and colours are whole numbers."""
    near, far = 1.0, 100.0
    header = np.zeros(1, HEADER)
    header["projection"][0, 0, 0], header["projection"][0, 1, 1] = 1, width / height
    header["projection"][0, 2, 2], header["projection"][0, 3, 2] = far / (far - near), -near * far / (far - near)
    header["near"], header["far"], header["width"], header["height"] = near, far, width, height
    header["lights"] = lights
    y, x = np.mgrid[0:height, 0:width]
    distance = 30 + 20 * np.sin(x / 40) * np.cos(y / 30)
    depth = (far / (far - near) - near * far / (far - near) / distance).astype(f32)

    def halves(low: float, high: float) -> np.ndarray:
        return floats(rng, low, high, height, width).astype(np.float16).view(np.uint16)

    at = floats(rng, -1, 1, 2, lights) * 30
    return {
        "header": header, "arrays": np.zeros(1, [(name, np.uint64) for name in G_BUFFER]), "count": i32(0),
        "out_r": np.zeros((height, width), np.uint8), "out_g": np.zeros((height, width), np.uint8),
        "out_b": np.zeros((height, width), np.uint8), "depth": depth, "normal_x": halves(0.3, 0.7),
        "normal_y": halves(0.3, 0.7), "specular": halves(0, 1), "power": halves(5, 50),
        "albedo_x": bytes_(rng, height, width), "albedo_y": bytes_(rng, height, width),
        "albedo_z": bytes_(rng, height, width), "light_x": at[0], "light_y": at[1],
        "light_z": floats(rng, 5, 60, lights),
        "begin": floats(rng, 1, 3, lights), "red": floats(rng, 0, 1, lights), "green": floats(rng, 0, 1, lights),
        "blue": floats(rng, 0, 1, lights), "end": floats(rng, 8, 20, lights),
    }  # fmt: skip


@program(
    ISPC,
    f"{EXAMPLES}/attention/attention.ispc",
    "single_head_attention_tiled_matmul",
    "output",
    small={"length": 32, "size": 32},
    tolerance=1e-3,
)
def attention(rng: Source, length: int = 384, size: int = 64) -> Arguments:
    """384 rows of 64 numbers; exponentials are approximated."""
    q, k, v = floats(rng, -1, 1, 3, length, size)
    return {"q": q, "k": k, "v": v, "output": np.zeros((length, size), f32), "length": i32(length), "size": i32(size)}


TRANSFORM = np.dtype([(name, f32) for name in ("scale_x", "scale_y", "x", "y", "angle")])


@program(
    ISPC,
    f"{EXAMPLES}/point_transform_nanobind/point_transform.ispc",
    "transform_points",
    "to_x",
    "to_y",
    small={"n": 203},
    tolerance=1e-5,
)
def point_transform(rng: Source, n: int = 300_000) -> Arguments:
    """300,000 points of the plane."""
    x, y = floats(rng, -1, 1, 2, n)
    to_x, to_y = np.zeros((2, n), f32)
    how = np.array([(1.5, 0.5, 2, 3, 0.7)], TRANSFORM)
    return {"x": x, "y": y, "to_x": to_x, "to_y": to_y, "how": how, "strength": f32(0.5), "count": i32(n)}


# --- The benchmarks of ispc

BENCHMARKS = "benchmarks/01_trivial"


@program(ISPC, f"{BENCHMARKS}/01_aossoa.ispc", "aos_to_soa3_stdlib_float", "output", small={"n": 768})
def aos_to_soa3(rng: Source, n: int = 393_216) -> Arguments:
    """131,072 points of three numbers."""
    return {"input": floats(rng, 0, 1, n), "output": np.zeros(n, f32), "n": i32(n)}


@program(ISPC, f"{BENCHMARKS}/04_fastdiv.ispc", "fastdiv_int32_13", "dst", small={"n": 203})
def divide_by_13(rng: Source, n: int = 500_000) -> Arguments:
    """500,000 numbers."""
    return {"src": rng.integers(-(1 << 31), 1 << 31, n).astype(i32), "dst": np.zeros(n, i32), "count": i32(n)}


@program(ISPC, f"{BENCHMARKS}/03_popcnt.ispc", "popcnt_varying_int64_even", "dst", small={"n": 203})
def popcount(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 numbers of 64 bits, in every other lane."""
    return {"src": rng.integers(0, 1 << 62, n), "dst": np.zeros(n, np.int64), "count": i32(n)}


@program(
    ISPC,
    f"{BENCHMARKS}/05_packed_load_store.ispc",
    "packed_store_active_int32_eq",
    "dst",
    small={"n": 203},
    returns=u32,
)
def packed_store(rng: Source, n: int = 500_000) -> Arguments:
    """500,000 numbers; every other one is stored."""
    return {"src": rng.integers(0, 1000, n).astype(i32), "dst": np.zeros(n, i32), "index": u32(1), "count": i32(n)}


@program(ISPC, f"{BENCHMARKS}/06_math.ispc", "pow_float", "dst", small={"n": 203}, tolerance=1e-4)
def powers(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 powers, which are approximated."""
    return {"a": floats(rng, 0, 10, n), "b": floats(rng, -3, 3, n), "dst": np.zeros(n, f32), "count": i32(n)}


@program(ISPC, "benchmarks/02_medium/test01.ispc", "TestUniform1", "dst", small={"n": 67}, tolerance=1e-6)
def short_foreach(rng: Source, n: int = 50_000) -> Arguments:
    """50,000 products of three numbers, each in a `foreach` of its own."""
    a, b = floats(rng, 0, 1, 2, n, 3)
    return {"dst": np.zeros((n, 3), f32), "a": a, "b": b, "count": i32(n)}
