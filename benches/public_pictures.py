"""Texture compressors, renderers and filters of pictures, for `public.py`: see `public_programs.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ispc_kernels import Arguments, Source, bytes_, f32, floats, i32
from public_programs import program

u32 = np.uint32

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


@program(
    TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC1_ispc", "dst", small={"size": 64}, links={"src.ptr": "pixels"}, share=0.02
)
def bc1(rng: Source, size: int = 512) -> Arguments:
    """512 x 512 pixels; one rounding more or less may choose another encoding."""
    return blocks(rng, size, 8)


@program(
    TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC3_ispc", "dst", small={"size": 64}, links={"src.ptr": "pixels"}, share=0.02
)
def bc3(rng: Source, size: int = 512) -> Arguments:
    """Likewise, with alpha."""
    return blocks(rng, size, 16)


BC7 = np.dtype(
    [
        ("modes", np.bool_, 4), ("refine", i32, 8), ("skip_mode2", np.bool_), ("skip1", i32), ("skip3", i32),
        ("skip7", i32), ("channel0", i32), ("refine_channel", i32), ("channels", i32),
    ],
    align=True,
)  # fmt: skip


@program(
    TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC7_ispc", "dst", small={"size": 32}, links={"src.ptr": "pixels"}, share=0.05
)
def bc7(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels with alpha, all modes; one rounding more or less may choose another encoding."""
    settings = np.zeros(1, BC7)
    settings["modes"], settings["refine"] = True, [2, 2, 2, 2, 2, 2, 2, 1]
    settings["skip1"], settings["skip3"], settings["skip7"] = 8, 4, 8
    settings["refine_channel"], settings["channels"] = 2, 4
    return {**blocks(rng, size, 16), "settings": settings}


BC6H = np.dtype([("slow", np.bool_), ("fast", np.bool_), ("refine1", i32), ("refine2", i32), ("skip", i32)], align=True)


@program(
    TEXCOMP, TEXCOMP_FILE, "CompressBlocksBC6H_ispc", "dst", small={"size": 32}, links={"src.ptr": "pixels"}, share=0.05
)
def bc6h(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels of four halves; likewise."""
    pixels = (picture(rng, size, size) / 64).astype(np.float16).view(np.uint16)
    settings = np.zeros(1, BC6H)
    settings["slow"], settings["refine1"], settings["refine2"], settings["skip"] = True, 2, 2, 10
    return {"src": surface(pixels), "pixels": pixels, "dst": np.zeros(size * size, np.uint8), "settings": settings}


@program(
    TEXCOMP, TEXCOMP_FILE, "CompressBlocksETC1_ispc", "dst", small={"size": 32}, links={"src.ptr": "pixels"}, share=0.05
)
def etc1(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels; likewise."""
    return {**blocks(rng, size, 8), "settings": np.array([6], i32)}


ASTC = np.dtype([("width", i32), ("height", i32), ("channels", i32), ("skip", i32), ("refine", i32)])


@program(
    TEXCOMP,
    "ispc_texcomp/kernel_astc.ispc",
    "astc_rank_ispc",
    "modes",
    small={"modes": 4},
    links={"src.ptr": "pixels"},
    share=0.05,
    absent=("pack_block_c",),
)
def astc(rng: Source, modes: int = 64) -> Arguments:
    """Modes for 64 blocks of 6 x 6 pixels; one rounding more or less may choose another."""
    pixels = picture(rng, 6, 6 * 64)
    settings = np.array([(6, 6, 4, modes, 2)], ASTC)
    return {
        "src": surface(pixels), "pixels": pixels, "x": i32(0), "y": i32(0), "modes": np.zeros(64 * modes, u32),
        "settings": settings,
    }  # fmt: skip


BC7E_SETTINGS = np.dtype(
    [
        ("partitions", u32, 8), ("weights", u32, 4), ("numbers", u32, 6), ("perceptual", np.bool_, 4),
        ("opaque", u32, 3), ("opaque_modes", np.bool_, 8), ("alpha", u32, 5), ("alpha_modes", np.bool_, 8),
    ]
)  # fmt: skip


@program(
    "BinomialLLC/bc7e", "bc7e.ispc", "bc7e_compress_blocks", "blocks", small={"n": 16}, share=0.1,
    prepare=lambda call, given: (
        call("bc7e_compress_block_init"),
        call("bc7e_compress_block_params_init_basic", given["settings"], np.bool_(True)),
    ),
)  # fmt: skip
def bc7e(rng: Source, n: int = 512) -> Arguments:
    """512 blocks of 4 x 4 pixels; one rounding more or less may choose another encoding."""
    pixels = picture(rng, 4, 4 * n).reshape(4, n, 4, 4).transpose(1, 0, 2, 3).copy().view(u32)
    return {"n": u32(n), "blocks": np.zeros(2 * n, np.uint64), "pixels": pixels, "settings": np.zeros(1, BC7E_SETTINGS)}


# --- Renderers


BALL = np.dtype(
    {"names": ["kind", "center", "radius", "material"], "formats": [i32, (f32, 4), f32, i32],
     "offsets": [0, 16, 32, 36], "itemsize": 48}
)  # fmt: skip
MATTER = np.dtype(
    {"names": ["kind", "albedo", "fuzziness", "refraction"], "formats": [i32, (f32, 4), f32, f32],
     "offsets": [0, 16, 32, 36], "itemsize": 48}
)  # fmt: skip
VIEW = np.dtype(
    {"names": ["origin", "corner", "horizontal", "vertical", "u", "v", "w", "lens"], "formats": [(f32, 4)] * 7 + [f32],
     "offsets": range(0, 128, 16), "itemsize": 128}
)  # fmt: skip


@program(
    "GPSnoopy/RayTracingInOneWeekend",
    "ispc/Renderer.ispc",
    "RenderTile",
    "picture",
    small={"width": 16, "height": 12, "n": 5},
    tolerance=0.02,
    share=0.1,
)
def weekend(rng: Source, width: int = 64, height: int = 48, n: int = 60) -> Arguments:
    """64 x 48 pixels, 60 balls of three materials; a ray that only just hits may miss, and goes elsewhere then."""
    ball, matter = np.zeros(n, BALL), np.zeros(n, MATTER)
    ball["center"][:, :3] = np.stack([floats(rng, -4, 4, n), floats(rng, 0.1, 1, n), floats(rng, -4, 4, n)], -1)
    ball["radius"], ball["material"] = floats(rng, 0.2, 0.5, n), np.arange(n)
    ball["center"][0, :3], ball["radius"][0] = (0, -1000, 0), 1000
    matter["kind"], matter["albedo"][:, :3] = rng.integers(0, 3, n), floats(rng, 0.2, 1, n, 3)
    matter["fuzziness"], matter["refraction"] = floats(rng, 0, 0.3, n), 1.5
    view = np.zeros(1, VIEW)
    view["origin"][0, :3], view["corner"][0, :3] = (0, 2, 8), (-2.67, 0, 4)
    view["horizontal"][0, 0], view["vertical"][0, 1], view["lens"] = 5.33, 4, 0.02
    view["u"][0, 0], view["v"][0, 1], view["w"][0, 2] = 1, 1, 1
    return {
        "picture": np.zeros((height, width, 4), f32), "balls": ball, "n": i32(n), "materials": matter, "view": view,
        "x0": i32(0), "x1": i32(width), "y0": i32(0), "y1": i32(height), "width": i32(width), "height": i32(height),
        "samples": i32(4), "bounces": i32(6),
    }  # fmt: skip


ISPC_RS = "Twinklebear/ispc-rs"

# These programs begin their random numbers with one of the processor where the target has that. Here they begin with
# the number of the lane, so that both compute the same.
NO_RDRAND = {"rdrand(p)": "((*(p) = programIndex) >= 0)"}

CAMERA = np.dtype(
    [(name, f32, 3) for name in ("at", "direction", "up", "corner", "across", "down")]
    + [("width", i32), ("height", i32)]
)


def make_scene(call: Callable[..., Any], given: Arguments) -> None:
    """Let the program make its materials, balls, plane and light."""
    material = given["_material"]
    call("make_lambertian", material, np.array([0.8, 0.6, 0.5], f32))
    for ball, at, radius in zip(range(len(given["scene"]) - 1), given["_centers"], given["_radii"]):
        call("make_sphere", given["scene"][ball : ball + 1], at, radius, material[0])
    call("make_plane", given["scene"][-1:], np.array([0, -1, 0], f32), np.array([0, 1, 0], f32), material[0])
    light = np.zeros(1, np.uint64)
    call("make_point_light", light, np.array([3, 4, 2], f32), np.array([30, 30, 30], f32))
    given["light"] = light[0]


RT = "examples/rt/src"


@program(
    ISPC_RS,
    f"{RT}/rt.ispc",
    "render",
    "picture",
    small={"width": 16, "height": 12, "n": 4},
    tolerance=0.02,
    share=0.1,
    includes=(RT,),
    defines=NO_RDRAND,
    more=tuple(f"{RT}/{name}.ispc" for name in ("geom", "lights", "material", "mc")),
    prepare=make_scene,
)
def path_tracer(rng: Source, width: int = 64, height: int = 48, n: int = 8) -> Arguments:
    """64 x 48 pixels, eight balls on a plane; a ray that only just hits may miss, and goes elsewhere then."""
    camera = np.zeros(1, CAMERA)
    camera["at"], camera["corner"], camera["across"], camera["down"] = (0, 1, 6), (-1, 0.7, -2), (2, 0, 0), (0, -1.4, 0)
    camera["width"], camera["height"] = width, height
    return {
        "camera": camera, "scene": np.zeros(n + 1, np.uint64), "n": i32(n + 1), "light": np.uint64(0),
        "seeds": rng.integers(0, 1 << 30, height).astype(i32), "width": i32(width), "height": i32(height),
        "picture": np.zeros((height, width, 3), f32), "samples": i32(2), "_material": np.zeros(1, np.uint64),
        "_centers": floats(rng, -2, 2, n, 3), "_radii": floats(rng, 0.3, 0.8, n),
    }  # fmt: skip


@program(
    ISPC_RS,
    "examples/aobench/src/ao.ispc",
    "aobench",
    "picture",
    small={"width": 32, "height": 10, "samples": 1},
    tolerance=0.02,
    share=0.05,
    defines=NO_RDRAND,
)
def aobench_rust(rng: Source, width: int = 64, height: int = 48, samples: int = 2) -> Arguments:
    """64 x 48 pixels; a ray that only just hits may miss."""
    return {
        "width": i32(width), "height": i32(height), "samples": i32(samples),
        "seeds": rng.integers(0, 1 << 30, 64).astype(i32), "picture": np.zeros((height, width), f32),
    }  # fmt: skip


@program(
    ISPC_RS,
    "examples/perlin/src/perlin.ispc",
    "perlin",
    "picture",
    small={"width": 32, "height": 20},
    tolerance=1e-3,
)
def perlin(rng: Source, width: int = 256, height: int = 128) -> Arguments:
    """256 x 128 pixels, six octaves."""
    return {
        "w": f32(4), "h": f32(4), "width": i32(width), "height": i32(height), "picture": np.zeros((height, width), f32),
    }  # fmt: skip


@program(
    "gareth-cross/gradient_noise_ispc",
    "src/gradient_noise/gradient_noise.ispc",
    "gradient_noise_ispc",
    "picture",
    small={"width": 64, "height": 9},
    tolerance=1e-3,
)
def gradient_noise(rng: Source, width: int = 256, height: int = 128, n: int = 256) -> Arguments:
    """256 x 128 pixels, five octaves."""
    table = np.concatenate([rng.permutation(n) for _ in range(3)]).astype(u32)
    gradients = rng.normal(size=(n, 3))
    gradients /= np.linalg.norm(gradients, axis=1, keepdims=True)
    return {
        "table": table, "n": u32(n), "gradients": gradients.astype(f32), "octaves": u32(5), "width": u32(width),
        "height": u32(height), "stride": u32(width), "picture": np.zeros((height, width), f32),
    }  # fmt: skip


@program(
    "Stawicki2137/Newton-Fractal_ISPC",
    "newton.ispc",
    "newton_fractal_ispc",
    "picture",
    small={"width": 32, "height": 20},
    share=0.01,
)
def newton_fractal(rng: Source, width: int = 128, height: int = 96) -> Arguments:
    """128 x 96 pixels, five roots; one rounding more or less may lead elsewhere at a border."""
    return {
        "x0": f32(-1.5), "y0": f32(-1.5), "x1": f32(1.5), "y1": f32(1.5), "width": i32(width), "height": i32(height),
        "limit": i32(40), "n": i32(5), "epsilon": f32(1e-3), "picture": np.zeros((height, width), i32),
    }  # fmt: skip


PACKED = "rust-lang/packed_simd"


@program(
    PACKED,
    "examples/mandelbrot/volta/mandelbrot.ispc",
    "mandelbrot_ispc",
    "picture",
    small={"width": 48, "height": 20, "limit": 40},
    share=0.01,
)
def mandelbrot_double(rng: Source, width: int = 256, height: int = 128, limit: int = 256) -> Arguments:
    """256 x 128 pixels, in doubles and tasks."""
    f64 = np.float64
    return {
        "x0": f64(-2), "y0": f64(-1), "x1": f64(1), "y1": f64(1), "width": i32(width), "height": i32(height),
        "limit": i32(limit), "picture": np.zeros((height, width), i32),
    }  # fmt: skip


@program(
    PACKED,
    "examples/aobench/volta/ao.ispc",
    "ao_ispc",
    "picture",
    small={"width": 12, "height": 10, "samples": 1},
    tolerance=0.02,
    share=0.05,
)
def aobench_packed(rng: Source, width: int = 64, height: int = 48, samples: int = 2) -> Arguments:
    """64 x 48 pixels; a ray that only just hits may miss."""
    return {
        "width": i32(width), "height": i32(height), "samples": i32(samples),
        "picture": np.zeros((height, width, 3), f32),
    }  # fmt: skip


# --- Effects of light strings

XLIGHTS = "xLightsSequencer/xLights"
EFFECTS = "src-core/effects/ispc"
PLASMA = np.dtype(
    [
        ("style", f32), ("state", f32), ("density", f32), ("time", f32), ("sine5", f32), ("cosine3", f32),
        ("sine2", f32), ("width", u32), ("height", u32), ("colors", np.uint8, (8, 4)), ("n", np.uint16),
    ],
    align=True,
)  # fmt: skip


@program(
    XLIGHTS,
    f"{EFFECTS}/PlasmaFunctions.ispc",
    "PlasmaEffectStyle0",
    "picture",
    small={"width": 40, "height": 20},
    tolerance=0.05,
    share=0.01,
)
def plasma(rng: Source, width: int = 256, height: int = 128) -> Arguments:
    """256 x 128 pixels; sines are approximated, and colours are whole numbers."""
    how = np.zeros(1, PLASMA)
    how["style"], how["density"], how["time"], how["sine5"], how["cosine3"], how["sine2"] = 1, 2, 0.7, 0.3, 0.6, 0.8
    how["width"], how["height"], how["colors"], how["n"] = width, height, bytes_(rng, 1, 8, 4), 6
    picture = np.zeros((height, width, 4), np.uint8)
    return {"how": how, "first": i32(0), "last": i32(width * height), "picture": picture}


KALEIDOSCOPE = np.dtype(
    [
        ("width", u32), ("height", u32), ("cx", f32), ("cy", f32), ("size", f32), ("angle", f32), ("style", i32),
        ("limit", i32), ("corners", f32, 6),
    ]
)  # fmt: skip


@program(
    XLIGHTS,
    f"{EFFECTS}/KaleidoscopeFunctions.ispc",
    "KaleidoscopeEffectISPC",
    "picture",
    small={"width": 40, "height": 20},
    share=0.02,
)
def kaleidoscope(rng: Source, width: int = 256, height: int = 128) -> Arguments:
    """256 x 128 pixels; sines and arcs are approximated, and a pixel may come from the one beside."""
    how = np.zeros(1, KALEIDOSCOPE)
    how["width"], how["height"], how["cx"], how["cy"] = width, height, width / 2, height / 2
    how["size"], how["angle"], how["style"] = 6, 0.3, 4
    picture = np.zeros((height, width, 4), np.uint8)
    count = i32(width * height)
    return {"how": how, "from": bytes_(rng, height, width, 4), "picture": picture, "first": i32(0), "last": count}


LIFE = np.dtype(
    [("width", u32), ("height", u32), ("count", i32), ("type", i32), ("colors", i32), ("seed", np.uint64)], align=True
)


@program(XLIGHTS, f"{EFFECTS}/LifeFunctions.ispc", "LifeEffectISPC", "to", small={"width": 40, "height": 20})
def life(rng: Source, width: int = 256, height: int = 128) -> Arguments:
    """256 x 128 cells, a step; all numbers are whole."""
    n = width * height
    how = np.array([(width, height, n, 0, 4, 12345)], LIFE)
    cells = np.where(rng.random(n) < 0.3, rng.integers(1, 1 << 24, n) | 0xFF000000, 0xFF000000).astype(u32)
    return {
        "how": how, "first": i32(0), "last": i32(n), "from": cells, "palette": rng.integers(0, 1 << 32, 4).astype(u32),
        "to": np.zeros(n, u32),
    }  # fmt: skip


# --- Pictures made smaller

DOWNSAMPLER = "Traverse-Research/ispc-downsampler"
DOWNSAMPLING = "src/ispc/kernels/downsampling.ispc"
PLANE = np.dtype([("width", u32), ("height", u32), ("data", np.uint64), ("stride", u32)], align=True)
WEIGHTS = np.dtype([(name, np.uint64) for name in ("starts", "counts", "values")])
CONTEXT = np.dtype([(name, np.uint64) for name in ("vertical", "horizontal", "scratch")])


def plane(width: int, height: int, channels: int) -> np.ndarray:
    """Describe a picture as a record; its address is stored later."""
    record = np.zeros(1, PLANE)
    record["width"], record["height"], record["stride"] = width, height, channels
    return record


@program(
    DOWNSAMPLER,
    DOWNSAMPLING,
    "downsample_normal_map",
    "to",
    small={"size": 32},
    links={"source.data": "from", "target.data": "to"},
    tolerance=0.02,
    share=0.01,
)
def normal_map(rng: Source, size: int = 256) -> Arguments:
    """256 x 256 normals, a third as many each way; roots are approximated, and numbers are whole."""
    return planes(rng, size, size // 3, 3) | {"format": i32(0)}


def planes(rng: Source, size: int, smaller: int, channels: int) -> Arguments:
    """A picture, and room for a smaller one."""
    return {
        "source": plane(size, size, channels), "target": plane(smaller, smaller, channels),
        "from": bytes_(rng, size, size, channels), "to": np.zeros((smaller, smaller, channels), np.uint8),
    }  # fmt: skip


@program(
    DOWNSAMPLER,
    DOWNSAMPLING,
    "resample_with_cached_weights_4",
    "to",
    small={"size": 24},
    scratch=("scratch",),
    links={
        "source.data": "from", "target.data": "to", "context.vertical": "_weights", "context.horizontal": "_weights",
        "context.scratch": "scratch", "_weights.starts": "starts", "_weights.counts": "counts", "rows": "values",
        "_weights.values": "rows",
    },
    tolerance=0.02,
    share=0.01,
)  # fmt: skip
def resample(rng: Source, size: int = 256, taps: int = 8) -> Arguments:
    """256 x 256 pixels of four channels, half as many each way; numbers are whole."""
    half = size // 2
    values = floats(rng, 0.5, 1, half, taps)
    starts = np.clip(np.arange(half) * 2 - taps // 2, 0, size - taps).astype(u32)
    return planes(rng, size, half, 4) | {
        "format": i32(0), "context": np.zeros(1, CONTEXT), "_weights": np.zeros(1, WEIGHTS), "starts": starts,
        "counts": np.full(half, taps, u32), "values": values / values.sum(1, keepdims=True),
        "rows": np.zeros(half, np.uint64), "scratch": np.zeros((size, half, 4), np.uint8),
    }  # fmt: skip


@program(
    DOWNSAMPLER,
    "src/ispc/kernels/rescale_alpha.ispc",
    "scale_to_alpha_coverage",
    "to",
    small={"size": 12},
    tolerance=0.02,
    share=0.01,
)
def alpha_coverage(rng: Source, size: int = 64) -> Arguments:
    """64 x 64 pixels, made a quarter; numbers are whole."""
    small = size // 2
    return {
        "width": u32(size), "height": u32(size), "from": bytes_(rng, size, size, 4), "small": u32(small),
        "small_height": u32(small), "to": bytes_(rng, small, small, 4), "cutoff": np.array([0.5], f32),
    }  # fmt: skip
