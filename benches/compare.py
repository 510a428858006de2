"""Times the examples: against numba, numpy and the interpreter; and what compiling and calls cost.

Results are compared before anything is timed. Times are medians of at least nine rounds, in each of which every
contender runs once, so that they meet the same conditions. Everything runs on one thread but for the tasks. The engine
is the one that `auto` takes, unless another is asked for; the first line names it.

    python benches/compare.py [numba | examples | calls]… [--only NAME,…] [--rounds N] [--engine auto|x86|clif|ir]

`numba` compares kernels with their numba versions (if numba is installed). `examples` shows for each example its time,
that of numpy and of the interpreter, what its first call takes beyond a later one, and the time to compile its regions.
`calls` shows what a call costs beyond its work.
"""

from __future__ import annotations

import argparse
import functools
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import spmdvm

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

import black_scholes
import demo
import example
import mandelbrot

Contender = Callable[[], object]

CALLS = 20_000


class Duel(NamedTuple):
    """A kernel and its numba version. Each gives its result when called; `target` is the least ratio aimed at."""

    name: str
    target: float | None
    ours: Callable[[], np.ndarray]
    theirs: Callable[[], np.ndarray]
    tolerance: float


def mandelbrot_duel(numba_kernels) -> Duel:
    """1024 x 512 pixels. Nothing is fused on either side, so that the counts are equal."""
    module = example.compile_example("mandelbrot", fp="strict")
    corners = [np.float32(x) for x in (mandelbrot.X0, mandelbrot.Y0, mandelbrot.X1, mandelbrot.Y1)]
    ours, theirs = np.zeros((2, 512, 1024), np.int32)
    return Duel(
        "mandelbrot",
        2,
        lambda: (module.mandelbrot(*corners, 1024, 512, 256, ours), ours)[1],
        lambda: (numba_kernels.mandelbrot(*corners, 1024, 512, 256, theirs), theirs)[1],
        0,
    )


def ao_duel(numba_kernels) -> Duel:
    """256 x 192 pixels, 32 rays each."""
    module = example.compile_example("ao")
    ours, theirs = np.zeros((2, 192, 256), np.float32)
    return Duel(
        "ao",
        1.5,
        lambda: (module.ao(256, 192, 32, ours), ours)[1],
        lambda: (numba_kernels.ao(256, 192, 32, theirs), theirs)[1],
        1e-2,
    )


def black_scholes_duel(numba_kernels) -> Duel:
    """Half a million options."""
    module = example.compile_example("black_scholes")
    data = black_scholes.options(500_000)
    ours, theirs = np.zeros((2, 500_000), np.float32)
    return Duel(
        "black_scholes",
        1,
        lambda: (module.black_scholes_arrays(500_000, *data, ours), ours)[1],
        lambda: (numba_kernels.black_scholes(*data, theirs), theirs)[1],
        1e-4,
    )


def spmv_duel(numba_kernels) -> Duel:
    """100,000 rows of 0 to 20 entries."""
    module = example.compile_example("spmv")
    rng = np.random.default_rng(5)
    rows = 100_000
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 21, rows))]).astype(np.int32)
    n = int(starts[-1])
    columns = rng.integers(0, rows, n).astype(np.int32)
    values, x = rng.random(n, dtype=np.float32), rng.random(rows, dtype=np.float32)
    ours, theirs = np.zeros((2, rows), np.float32)
    return Duel(
        "spmv",
        0.8,
        lambda: (module.spmv(rows, starts, columns, values, x, ours), ours)[1],
        lambda: (numba_kernels.spmv(rows, starts, columns, values, x, theirs), theirs)[1],
        1e-5,
    )


def sum_duel(numba_kernels) -> Duel:
    """A million numbers. Added one after another they lose more digits than in sixteen sums."""
    module = example.compile_example("reduction")
    data = np.random.default_rng(8).random(1_000_000, dtype=np.float32)
    return Duel(
        "sum",
        0.8,
        lambda: np.array(module.sum(data.size, data)),
        lambda: np.array(numba_kernels.sum_of(data)),
        1e-3,
    )


def saxpy_duel(numba_kernels) -> Duel:
    """A million elements; `y` grows from call to call, on both sides alike."""
    module = example.compile_example("saxpy")
    a = np.float32(2.5e-3)
    x, ours = np.random.default_rng(1).random((2, 1_000_000), dtype=np.float32)
    theirs = ours.copy()
    return Duel(
        "saxpy",
        0.8,
        lambda: (module.saxpy(x.size, a, x, ours), ours)[1],
        lambda: (numba_kernels.saxpy(a, x, theirs), theirs)[1],
        1e-6,
    )


def stencil_duel(numba_kernels) -> Duel:
    """Ten steps on a plate of 512 x 512 points."""
    module = example.compile_example("stencil")
    rate = np.float32(0.2)
    start = np.random.default_rng(6).random((512, 512), dtype=np.float32)
    ours, theirs = (start.copy(), start.copy()), (start.copy(), start.copy())
    return Duel(
        "stencil",
        0.5,
        lambda: (module.heat(512, 512, 10, rate, *ours), ours[0])[1],
        lambda: (numba_kernels.heat(10, rate, *theirs), theirs[0])[1],
        1e-5,
    )


def nbody_duel(numba_kernels) -> Duel:
    """A step of 1024 bodies, from the same state each time."""
    module = example.compile_example("nbody")
    rng = np.random.default_rng(4)
    start = rng.normal(size=(3, 1024)).astype(np.float32)
    mass = (rng.uniform(0.5, 1.5, 1024) / 1024).astype(np.float32)
    dt, softening = np.float32(0.01), np.float32(0.05)

    def ours() -> np.ndarray:
        position, velocity = start.copy(), np.zeros_like(start)
        module.nbody_step(1024, dt, softening, mass, position, velocity)
        return np.stack([position, velocity])

    def theirs() -> np.ndarray:
        position, velocity = start.copy(), np.zeros_like(start)
        numba_kernels.nbody_step(dt, softening, mass, position, velocity)
        return np.stack([position, velocity])

    return Duel("nbody (fastmath)", 0.25, ours, theirs, 1e-4)


DUELS = [
    mandelbrot_duel,
    ao_duel,
    black_scholes_duel,
    spmv_duel,
    sum_duel,
    saxpy_duel,
    stencil_duel,
    nbody_duel,
]


def agree(name: str, result: object, expected: object, tolerance: float, share: float = 0) -> None:
    """Stop if more than a share of the results differ."""
    result, expected = np.asarray(result, np.float64), np.asarray(expected, np.float64)
    off = np.abs(result - expected) / np.maximum(1, np.abs(expected))
    if result.shape != expected.shape or not np.mean(off > tolerance) <= share:
        sys.exit(f"{name}: results differ by up to {off.max():g}")


def medians(contenders: dict[str, Contender], rounds: int, warm: float = 0.3) -> dict[str, float]:
    """Time all contenders in turn, once their loops have been compiled: so many times, and more often what is quick."""
    for contender in contenders.values():
        until = time.perf_counter() + warm
        while time.perf_counter() < until:
            contender()
    times: dict[str, list[float]] = {name: [] for name in contenders}
    begin = time.perf_counter()
    while rounds > 0 or time.perf_counter() - begin < warm:
        rounds -= 1
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(list_) for name, list_ in times.items()}


def milliseconds(seconds: float) -> str:
    """Format a time."""
    return f"{seconds * 1e3:9.3f} ms"


def against_numba(only: list[str], rounds: int, engine: str) -> None:
    """Print the table of kernels and their numba versions."""
    try:
        import numba_kernels
    except ImportError:
        print("numba is not installed\n")
        return
    print(f"{'kernel':20}{'spmdvm':>12}{'numba':>12}{'numba/spmdvm':>15}{'target':>9}")
    for make in DUELS:
        with Engine(engine):
            duel = make(numba_kernels)
        if only and duel.name.split()[0] not in only:
            continue
        # A ray that only just hits may fall to either side.
        share = 0.05 if duel.name == "ao" else 0
        # One call each: some change their data.
        agree(duel.name, duel.ours(), duel.theirs(), duel.tolerance, share)
        times = medians({"spmdvm": duel.ours, "numba": duel.theirs}, max(rounds, 9))
        ratio = times["numba"] / times["spmdvm"]
        cells = milliseconds(times["spmdvm"]) + milliseconds(times["numba"])
        missed = "  missed" if ratio < duel.target else ""
        print(f"{duel.name:20}{cells}{ratio:14.2f}x{duel.target:8.2f}x{missed}", flush=True)
    print()


class Engine:
    """Has the examples compiled for an engine, and keeps the modules."""

    def __init__(self, engine: str) -> None:
        """Take the engine's name."""
        self.engine = engine
        self.modules: list[spmdvm.Module] = []

    def __enter__(self) -> Engine:
        """Take the place of the compiler."""
        self.compilers = {name: getattr(spmdvm, name) for name in ("compile", "compile_file")}
        for name, compiler in self.compilers.items():
            setattr(spmdvm, name, functools.partial(self.compile_and_keep, compiler))
        return self

    def __exit__(self, *_: object) -> None:
        """Put the compiler back."""
        for name, compiler in self.compilers.items():
            setattr(spmdvm, name, compiler)

    def compile_and_keep(self, compiler: Callable[..., spmdvm.Module], *args, **options) -> spmdvm.Module:
        """Compile for the engine."""
        self.modules.append(compiler(*args, **{"engine": self.engine, **options}))
        return self.modules[-1]

    def regions(self) -> list[float]:
        """Give the times in which regions were recorded and compiled, in milliseconds."""
        loops = [loop for module in self.modules for loop in module.stats()["loops"]]
        return [version["seconds"] * 1e3 for loop in loops for version in loop["versions"]]


def against_interpreter(only: list[str], rounds: int, name_of_engine: str) -> None:
    """Print the table of examples."""
    head = f"{'example':16}{'spmdvm':>12}{'numpy':>12}{'interp':>12}{'numpy/spmdvm':>14}{'interp/spmdvm':>15}"
    print(f"{head}{'first call':>12}{'regions':>9}{'median':>8}{'largest':>9}")
    gains, regions = [], []
    with Engine("interp"):
        slow = {case.name: case for case in demo.cases()}
    with Engine(name_of_engine):
        names = [case.name for case in demo.cases()]
    for index, name in enumerate(names):
        if only and name.split()[0] not in only:
            continue
        # Compiled anew, so that its first call is the first of its program.
        with Engine(name_of_engine) as engine:
            case = demo.cases()[index]
        start = time.perf_counter()
        result = case.spmdvm()
        first = time.perf_counter() - start
        agree(name, result, case.numpy(), case.tolerance)
        agree(f"{name}, interpreted", slow[name].spmdvm(), result, 0)
        times = medians({"spmdvm": case.spmdvm, "numpy": case.numpy, "interp": slow[name].spmdvm}, max(rounds, 9))
        gain = times["interp"] / times["spmdvm"]
        gains.append(gain)
        own = engine.regions()
        regions += own
        cells = "".join(milliseconds(times[of]) for of in ("spmdvm", "numpy", "interp"))
        ratios = f"{times['numpy'] / times['spmdvm']:13.2f}x{gain:14.2f}x"
        made = f"{len(own):9}" + (f"{statistics.median(own):8.2f}{max(own):9.2f}" if own else "")
        print(f"{name:16}{cells}{ratios}{(first - times['spmdvm']) * 1e3:+9.2f} ms{made}", flush=True)
    if gains:
        print(f"\ninterp/spmdvm: geometric mean {math.exp(statistics.fmean(map(math.log, gains))):.2f}x (target 5x)")
    if regions:
        print(
            f"regions: {len(regions)}, compiled in {statistics.median(regions):.2f} ms (median; target 2 ms), "
            f"{max(regions):.2f} ms (largest; target 10 ms)"
        )
    print()


CALLED = """
export void nothing() { }
export void scalars(uniform int a, uniform float b, uniform int c, uniform float d) { }
export void arrays(uniform int n, uniform float a, const uniform float x[], uniform float y[]) { }
"""


def calls(rounds: int, engine: str) -> None:
    """Print what a call costs beyond its work."""
    module = spmdvm.compile(CALLED, engine=engine)
    x, y = np.zeros((2, 16), np.float32)
    a = np.float32(2.5)

    def many(f: Callable, *args: object) -> float:
        """Time a call."""
        repeated = functools.partial(f, *args)
        start = time.perf_counter()
        for _ in range(CALLS):
            repeated()
        return (time.perf_counter() - start) / CALLS

    kinds = {
        "no arguments": (module.nothing,),
        "four numbers": (module.scalars, 1, 2.0, 3, 4.0),
        "two numbers and two arrays": (module.arrays, 16, a, x, y),
    }
    times: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(max(rounds, 9)):
        for name, (f, *args) in kinds.items():
            times[name].append(many(f, *args))
    print("a call beyond its work (target with four arguments: 1.5 µs)")
    for name, list_ in times.items():
        print(f"    {name:28}{statistics.median(list_) * 1e6:6.2f} µs")
    print()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="table", help="numba, examples, calls; all by default")
    parser.add_argument("--only", default="", help="only these kernels or examples")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--engine", default="auto", help="auto (the default), x86, clif or ir")
    options = parser.parse_args()
    only = [name for name in options.only.split(",") if name]
    tables = options.tables or ["numba", "examples", "calls"]
    print(f"engine: {spmdvm.compile(CALLED, engine=options.engine).stats()['engine']}\n")
    if "numba" in tables:
        against_numba(only, options.rounds, options.engine)
    if "examples" in tables:
        against_interpreter(only, options.rounds, options.engine)
    if "calls" in tables:
        calls(options.rounds, options.engine)


if __name__ == "__main__":
    main()
