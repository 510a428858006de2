"""Numbers, sorting, packets and meshes, for `public.py`: see `public_programs.py`."""

from __future__ import annotations

import numpy as np
from ispc_kernels import Arguments, Source, bytes_, f32, floats, i32
from public_examples import matrices, options
from public_programs import program

u16 = np.uint16
u32 = np.uint32

# --- Linear algebra, finance, grids, streams


@program("andeplane/wavesolver_ispc", "wavesolver.ispc", "wavesolver_ispc", "after", small={"n": 24}, tolerance=1e-4)
def wavesolver(rng: Source, n: int = 512) -> Arguments:
    """512 x 512 points; sums are fused differently."""
    now, before, after = floats(rng, 0, 1, 3, n + 2, n + 2)
    return {"size": i32(n), "c": f32(0.1), "now": now, "before": before, "after": after}


ASST1 = "cmu15418/asst1-s18"


@program(ASST1, "prog4_sqrt/sqrt.ispc", "sqrt_ispc", "output", small={"n": 203}, tolerance=1e-4)
def sqrt_newton(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 numbers between 0 and 3."""
    return {"n": i32(n), "guess": f32(1), "values": floats(rng, 0.001, 2.999, n), "output": np.zeros(n, f32)}


@program(ASST1, "prog5_saxpy/saxpy.ispc", "saxpy_ispc", "result", small={"n": 203}, tolerance=1e-6)
def saxpy(rng: Source, n: int = 1_000_000) -> Arguments:
    """A million elements."""
    x, y = floats(rng, 0, 1, 2, n)
    return {"n": i32(n), "scale": f32(2), "x": x, "y": y, "result": np.zeros(n, f32)}


@program("lcw/stream_ispc", "stream_tasks.ispc", "stream_triad_tasks", "a", small={"n": 203}, tolerance=1e-12)
def stream_triad(rng: Source, n: int = 500_000) -> Arguments:
    """500,000 doubles, in tasks."""
    b, c = rng.random((2, n))
    return {"a": np.zeros(n), "b": b, "c": c, "scalar": np.float64(3), "count": i32(n)}


@program("ParRes/Kernels", "C1z/transpose.ispc", "transpose_tiled", "b", "a", small={"n": 40})
def transpose_tiled(rng: Source, n: int = 512) -> Arguments:
    """512 x 512 doubles, in tasks of 32 x 32."""
    a, b = rng.integers(0, 1000, (2, n, n)).astype(np.float64)
    return {"n": i32(n), "a": a, "b": b, "tile": i32(32)}


@program("ParRes/Kernels", "C1z/transpose.ispc", "transpose", "b", "a", small={"n": 40})
def transpose_tasks(rng: Source, n: int = 512) -> Arguments:
    """512 x 512 doubles, a task for each gang."""
    a, b = rng.integers(0, 1000, (2, n, n)).astype(np.float64)
    return {"n": i32(n), "a": a, "b": b}


CUDA = "Culturenotes/compare_cuda_with_ispc"


@program(
    CUDA, "ispc/SGEMM_kernels_ispc.ispc", "SGEMM_tileBlockNoSIMDIntrin_2_double", "c", small={"n": 32}, tolerance=1e-12
)
def dgemm(rng: Source, n: int = 256) -> Arguments:
    """256 x 256 doubles."""
    return matrices(rng, n, np.float64)


@program(
    "rust-lang/packed_simd",
    "examples/options_pricing/volta/options.ispc",
    "black_scholes_ispc",
    "result",
    small={"n": 203},
    returns=np.float64,
    tolerance=1e-3,
    includes=("examples/options_pricing/volta",),
)
def black_scholes_packed(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 options; logarithm and exponential are approximated."""
    return options(rng, n)


# --- Packets, digests

OPENPERF = "Spirent/openperf"
WIDE = {"TARGET_WIDTH": "{width}"}
PGA = "src/lib/spirent_pga/ispc"


@program(OPENPERF, "src/modules/cpu/generator/ispc/matrix.ispc", "multiply_matrix_int64", "c", small={"n": 24})
def matrix_int64(rng: Source, n: int = 128) -> Arguments:
    """128 x 128 numbers of 64 bits."""
    a, b = rng.integers(0, 1000, (2, n, n))
    return {"a": a, "b": b, "c": np.zeros((n, n), np.int64), "size": i32(n)}


@program(OPENPERF, f"{PGA}/prbs.ispc", "fill_prbs_aligned", "payload", small={"n": 203}, returns=u32, defines=WIDE)
def prbs_fill(rng: Source, n: int = 60_000) -> Arguments:
    """60,000 words of a random sequence."""
    return {"payload": np.zeros(n, u32), "length": u16(n), "seed": u32(12345)}


@program(
    OPENPERF,
    f"{PGA}/checksum.ispc",
    "checksum_ipv4_headers",
    "sums",
    small={"n": 40},
    links={"headers": "packets"},
    defines=WIDE,
)
def checksums(rng: Source, n: int = 60_000) -> Arguments:
    """60,000 headers of packets, five to fifteen words long."""
    packets = bytes_(rng, n, 64)
    packets[:, 0] = 0x40 + rng.integers(5, 16, n)
    return {"headers": np.zeros(n, np.uint64), "count": u16(n), "sums": np.zeros(n, u32), "packets": packets}


@program(
    OPENPERF,
    f"{PGA}/encode_signatures.ispc",
    "encode_signatures",
    "packets",
    small={"n": 40},
    links={"places": "packets"},
    defines=WIDE,
)
def signatures(rng: Source, n: int = 60_000) -> Arguments:
    """60,000 signatures of 16 bytes."""
    streams, numbers, high, low = rng.integers(0, 1 << 32, (4, n)).astype(u32)
    return {
        "places": np.zeros(n, np.uint64), "streams": streams, "numbers": numbers, "high": high, "low": low,
        "flags": rng.integers(0, 4, n).astype(u32), "count": u16(n), "packets": np.zeros((n, 16), np.uint8),
    }  # fmt: skip


DIGESTS = "src/lib/regurgitate/ispc"


@program(
    OPENPERF,
    f"{DIGESTS}/merge_float_double.ispc",
    "merge_float_double",
    "to",
    "to_weights",
    small={"n": 300},
    returns=u32,
    tolerance=1e-3,
)
def merge_digests(rng: Source, n: int = 300_000) -> Arguments:
    """300,000 means, sorted, into 200; where one ends is rounded."""
    weights = rng.integers(1, 20, n).astype(np.float64)
    return {
        "means": np.sort(floats(rng, 0, 100, n)), "weights": weights, "n": u32(n), "to": np.zeros(1000, f32),
        "to_weights": np.zeros(1000), "room": u32(200),
    }  # fmt: skip


@program(
    OPENPERF,
    f"{DIGESTS}/sort_float_float.ispc",
    "sort_float_float",
    "means",
    "weights",
    small={"n": 768},
    scratch=("a", "b"),
)
def sort_digests(rng: Source, n: int = 30_720) -> Arguments:
    """30,720 means with weights."""
    # It loads what lies behind the end, and selects another value then.
    room = n + 512
    a, b = np.zeros((2, room), f32)
    return {"means": floats(rng, 0, 100, room), "weights": floats(rng, 1, 9, room), "n": u32(n), "a": a, "b": b}


# --- Meshes

PAINTER = "unity3d-jp/NormalPainter"
MESHES = ".NormalPainter/Plugin/MeshUtils/MeshUtilsCore.ispc"


@program(PAINTER, MESHES, "MulPoints3", "to", small={"n": 203}, defines={"muSIMD_MulPoints3": "1"}, tolerance=1e-5)
def mesh_transform(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 points."""
    points = floats(rng, -1, 1, n, 3)
    return {"matrix": floats(rng, -1, 1, 16), "points": points, "to": np.zeros((n, 3), f32), "n": i32(n)}


@program(PAINTER, MESHES, "Normalize", "points", small={"n": 203}, tolerance=1e-4)
def mesh_normalize(rng: Source, n: int = 100_000) -> Arguments:
    """100,000 vectors; roots are approximated."""
    return {"points": floats(rng, -1, 1, n, 3), "n": i32(n)}


@program(PAINTER, MESHES, "FloatToHalf", "to", small={"n": 203}, defines={"muSIMD_FloatToHalf": "1"})
def to_halves(rng: Source, n: int = 500_000) -> Arguments:
    """500,000 numbers."""
    return {"to": np.zeros(n, u16), "from": rng.normal(0, 100, n).astype(f32), "n": i32(n)}


@program(PAINTER, MESHES, "MinMax3", "low", "high", small={"n": 203}, defines={"muSIMD_MinMax3": "1"})
def mesh_bounds(rng: Source, n: int = 200_000) -> Arguments:
    """200,000 points."""
    return {"points": floats(rng, -1, 1, n, 3), "n": i32(n), "low": np.zeros(3, f32), "high": np.zeros(3, f32)}


@program(
    PAINTER,
    MESHES,
    "RayTrianglesIntersectionIndexed",
    "found",
    "distance",
    small={"n": 203},
    returns=i32,
    tolerance=1e-4,
)
def mesh_ray(rng: Source, n: int = 50_000) -> Arguments:
    """A ray through 50,000 triangles."""
    vertices, indices = mesh(rng, n)
    return {
        "at": np.array([0, 0, -5], f32), "to": np.array([0.01, 0.02, 1], f32), "vertices": vertices, "indices": indices,
        "n": i32(n), "found": np.full(1, -1, i32), "distance": np.zeros(1, f32),
    }  # fmt: skip


@program(PAINTER, MESHES, "GenerateNormalsTriangleIndexed", "normals", small={"n": 203}, tolerance=1e-3)
def mesh_normals(rng: Source, n: int = 20_000) -> Arguments:
    """Normals of 20,000 triangles; roots are approximated."""
    vertices, indices = mesh(rng, n)
    return {
        "normals": np.zeros_like(vertices), "vertices": vertices, "indices": indices, "triangles": i32(n),
        "n": i32(len(vertices)),
    }  # fmt: skip


def mesh(rng: Source, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Make n triangles that share their corners."""
    vertices = floats(rng, -1, 1, n // 2 + 2, 3)
    return vertices, rng.integers(0, len(vertices), (n, 3)).astype(i32)
