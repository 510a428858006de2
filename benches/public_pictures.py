"""Texture compressors, renderers and filters of pictures, for `public.py`: see `public_programs.py`."""

from __future__ import annotations

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


@program(
    ISPC_RS, "examples/perlin/src/perlin.ispc", "perlin", "picture", small={"width": 32, "height": 20}, tolerance=1e-3
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
