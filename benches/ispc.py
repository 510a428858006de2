"""Times the kernels of `benches/ispc/` against what Intel's compiler `ispc` makes of the same files, on one thread.

Needs the compiler `ispc` (on the PATH, or --ispc PATH) and a C compiler that links (`cc`, or $CC); without them, it
says so and ends with code 2. The programs of ispc become shared objects in a temporary folder, which are called through
ctypes. The target is the widest of this processor that has --width lanes, unless --target names one.

Arrays begin at multiples of 64 bytes for both. Results are compared before anything is timed: those of the first
call, and those after the calls that warm up. In each round every contender runs once on the same data, which are put
back beforehand; times are medians of at least nine rounds, of the processor's time, so that others on the machine
disturb less. Before that stand, by the clock, what ispc and the linker take, and what we take from the text to the
first result. `native` is the share of instructions that compiled code has executed. The ratio is our time divided by
ispc's.

    python benches/ispc.py [--only NAME,…] [--rounds N] [--width N] [--fp contract|strict|fast]
                           [--engine auto|x86|clif|ir|interp] [--json] [--explain N] [--ispc PATH] [--target NAME]
                           [-O 2|3] [--opt NAME]…

Ends with code 1 if results differ, or if a kernel failed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import math
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import spmdvm
from ispc_kernels import KERNELS, Arguments, Kernel

SKX = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
AVX2 = {"avx2", "fma", "f16c", "bmi1", "bmi2"}

# The targets for a width, best first, with the features of a processor that they need.
TARGETS: dict[int, list[tuple[str, set[str]]]] = {
    4: [("avx512skx-x4", SKX), ("avx2-i32x4", AVX2), ("sse4.1-i32x4", {"sse4_1"}), ("neon-i32x4", {"neon"})],
    8: [("avx512skx-x8", SKX), ("avx2-i32x8", AVX2), ("sse4.1-i32x8", {"sse4_1"}), ("neon-i32x8", {"neon"})],
    16: [("avx512skx-x16", SKX), ("avx2-i32x16", AVX2), ("avx1-i32x16", {"avx"}), ("neon-i8x16", {"neon"})],
    32: [("avx512skx-x32", SKX), ("avx2-i8x32", AVX2), ("neon-i8x32", {"neon"})],
    64: [("avx512skx-x64", SKX)],
}

# What ispc is told for each of our modes of floating point. It fuses unless told otherwise, too.
MODES = {"contract": [], "strict": ["--opt=disable-fma"], "fast": ["--opt=fast-math"]}


class Unusable(Exception):
    """What is needed is not there; the text says what to do."""


def features() -> set[str]:
    """Tell what this processor can do, in the words of Linux."""
    if platform.machine().lower() in ("aarch64", "arm64"):
        return {"neon"}
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        raise Unusable(
            "this system does not tell what the processor can do; name a target of ispc, such as --target avx2-i32x16"
        ) from None
    return next((set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set())


class Compiler:
    """The compiler `ispc` with a linker, for a target."""

    def __init__(self, ispc: str | None, target: str | None, width: int, words: list[str]) -> None:
        """Find the programs, and the target for a width; `words` are for every call."""
        self.ispc = shutil.which(ispc or "ispc")
        if self.ispc is None:
            missing = f"{ispc} cannot be run" if ispc else "it is not on the PATH"
            raise Unusable(
                f"this benchmark needs Intel's compiler ispc, and {missing}. Install it (https://ispc.github.io), "
                "then put its folder on the PATH or say --ispc PATH"
            )
        linker = shlex.split(os.environ.get("CC") or "cc")
        if shutil.which(linker[0]) is None:
            raise Unusable(f"this benchmark links with a C compiler, and {linker[0]} is not on the PATH (or set CC)")
        self.linker = linker
        self.words = words
        self.version = self.run([self.ispc, "--version"]).split("(build")[0].strip(" ,\n")
        if target is None:
            self.target = self.choose(width)
        elif not target.endswith(f"x{width}"):
            raise Unusable(
                f"--target {target} does not have the {width} lanes of --width; its name would end in x{width}"
            )
        elif (trouble := self.trouble(target)) is not None:
            raise Unusable(f"--target {target}: {trouble}")
        else:
            self.target = target

    def choose(self, width: int) -> str:
        """Find the best target that both this processor and this ispc have."""
        here = features()
        for target, needs in TARGETS[width]:
            if needs <= here and self.trouble(target) is None:
                return target
        known = ", ".join(name for name, _ in TARGETS[width])
        raise Unusable(
            f"no target of ispc with {width} lanes fits this processor and this build of ispc (of {known}); "
            "choose another --width, or a --target"
        )

    def trouble(self, target: str) -> str | None:
        """Say why nothing can be compiled for a target; None if it can."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "nothing.ispc")
            source.write_text("export void nothing() { }\n")
            try:
                self.run([self.ispc, f"--target={target}", str(source), "-o", f"{folder}/nothing.o"])
            except RuntimeError as error:
                return str(error)
        return None

    def run(self, command: list[str]) -> str:
        """Run a program; what it says is in the error if it fails."""
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()[:6]
            raise RuntimeError(f"{Path(command[0]).name} failed ({done.returncode}): " + " | ".join(said))
        return done.stdout

    def compile(self, kernel: Kernel, folder: Path) -> ctypes.CDLL:
        """Make a shared object of a kernel, and load it."""
        made, library = folder / f"{kernel.name}.o", folder / f"{kernel.name}.so"
        command = [self.ispc, "--pic", "--woff", f"--target={self.target}", *self.words]
        self.run([*command, str(kernel.path), "-o", str(made)])
        self.run([*self.linker, "-shared", str(made), "-o", str(library), "-lm"])
        return ctypes.CDLL(str(library))


class Contender:
    """A kernel on data of its own, by one of the two."""

    def __init__(self, kernel: Kernel, arguments: Arguments, call: Callable[[], Any]) -> None:
        """Keep what the arrays that are written hold at first."""
        self.kernel = kernel
        # A call through ctypes has addresses only: the arrays live here.
        self.arguments = arguments
        self.call = call
        self.written = [arguments[name] for name in kernel.outputs + kernel.scratch]
        self.at_first = [array.copy() for array in self.written]
        self.results: list[np.ndarray] = []

    def run(self) -> float:
        """Put the data back, call, and give the time of the processor."""
        for array, at_first in zip(self.written, self.at_first):
            np.copyto(array, at_first)
        start = time.process_time()
        value = self.call()
        took = time.process_time() - start
        self.results = self.written[: len(self.kernel.outputs)]
        if self.kernel.returns is not None:
            self.results = [np.array([value], self.kernel.returns), *self.results]
        return took


def of_ispc(kernel: Kernel, library: ctypes.CDLL, *, small: bool = False) -> Contender:
    """Bind a kernel of a library to its arguments."""
    arguments = kernel.arguments(small=small)
    function = getattr(library, kernel.name)
    function.restype = kernel.returns and np.ctypeslib.as_ctypes_type(kernel.returns)
    values = [
        ctypes.c_void_p(value.ctypes.data)
        if isinstance(value, np.ndarray)
        else np.ctypeslib.as_ctypes_type(type(value))(value)
        for value in arguments.values()
    ]
    return Contender(kernel, arguments, lambda: function(*values))


def of_ours(kernel: Kernel, module: spmdvm.Module, *, small: bool = False) -> Contender:
    """Bind a kernel of a module to its arguments."""
    arguments = kernel.arguments(small=small)
    function, values = getattr(module, kernel.name), list(arguments.values())
    return Contender(kernel, arguments, lambda: function(*values))


class Row(NamedTuple):
    """What was measured of a kernel; times in seconds."""

    kernel: str
    ispc: float
    ours: float
    ispc_compile: float
    """ispc and the linker."""
    first_result: float
    """Ours: compiling and the first call."""
    engine: str
    native_share: float

    @property
    def ratio(self) -> float:
        """Our time divided by ispc's."""
        return self.ours / self.ispc


def medians(contenders: list[Contender], rounds: int, least: float = 0.2) -> list[float]:
    """Time all in turn: so many times, and more often what is quick."""
    times: list[list[float]] = [[] for _ in contenders]
    begin = time.perf_counter()
    while len(times[0]) < rounds or time.perf_counter() - begin < least:
        for contender, own in zip(contenders, times):
            own.append(contender.run())
    return [statistics.median(own) for own in times]


def warm_up(contender: Contender, module: spmdvm.Module, least: float = 0.5, most: float = 15) -> None:
    """Call until nothing more is compiled: no baseline code waits for better, and nothing has come for a while.

    Statistics are asked for now and then only: of large programs that takes longer than a call.
    """
    begin = changed = asked = time.perf_counter()
    before = None
    while time.perf_counter() - changed < least and time.perf_counter() - begin < most:
        contender.run()
        if time.perf_counter() - asked < least / 10:
            continue
        asked = time.perf_counter()
        stats = module.stats()
        waiting = any(version["baseline"] for loop in stats["loops"] for version in loop["versions"])
        if waiting or stats["traces"] != before:
            before = stats["traces"]
            changed = time.perf_counter()


def measure(kernel: Kernel, compiler: Compiler, options: argparse.Namespace) -> tuple[Row, spmdvm.Module]:
    """Compile, compare and time a kernel; RuntimeError if one of these fails."""
    if options.fp == "fast" and kernel.tolerance:
        # ispc's quotients of doubles are some 3e-9 off then.
        kernel = kernel._replace(tolerance=max(kernel.tolerance, 1e-6))
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        library = compiler.compile(kernel, Path(folder))
        ispc_compile = time.perf_counter() - start
        theirs = of_ispc(kernel, library)
        start = time.perf_counter()
        module = spmdvm.compile_file(kernel.path, width=options.width, engine=options.engine, fp=options.fp)
        compiled = time.perf_counter() - start
        ours = of_ours(kernel, module)
        start = time.perf_counter()
        ours.run()
        first = time.perf_counter() - start
        theirs.run()
        compare(kernel, ours, theirs, "the first call")
        warm_up(ours, module)
        for _ in range(3):
            theirs.run()
        compare(kernel, ours, theirs, "a later call")
        times = medians([theirs, ours], options.rounds)
        stats = module.stats()
    return Row(kernel.name, *times, ispc_compile, compiled + first, stats["engine"], stats["native_share"]), module


def compare(kernel: Kernel, ours: Contender, theirs: Contender, which: str) -> None:
    """Stop if results differ."""
    found = kernel.difference(ours.results, theirs.results)
    if found is not None:
        raise RuntimeError(f"results of {which} differ: {found}")


def line(row: Row) -> str:
    """Format a row."""
    times = f"{row.ispc * 1e3:10.3f}{row.ours * 1e3:10.3f}{row.ratio:9.2f}"
    return f"{row.kernel:18}{times}{row.ispc_compile * 1e3:14.0f}{row.first_result * 1e3:14.1f}" + (
        f"  {row.engine:8}{row.native_share:7.1%}"
    )


def geometric_mean(rows: list[Row]) -> float:
    """Give the mean of the ratios."""
    return math.exp(statistics.fmean(math.log(row.ratio) for row in rows))


def as_json(rows: list[Row], failed: dict[str, str], compiler: Compiler, options: argparse.Namespace) -> str:
    """Put all into a document; times are in milliseconds."""
    worst = max(rows, key=lambda row: row.ratio, default=None)
    document = {
        "ispc": compiler.version,
        "target": compiler.target,
        "width": options.width,
        "fp": options.fp,
        "rounds": options.rounds,
        "kernels": [
            {
                "kernel": row.kernel,
                "ispc_ms": row.ispc * 1e3,
                "ours_ms": row.ours * 1e3,
                "ratio": row.ratio,
                "ispc_compile_ms": row.ispc_compile * 1e3,
                "first_result_ms": row.first_result * 1e3,
                "engine": row.engine,
                "native_share": row.native_share,
            }
            for row in rows
        ],
        "failed": failed,
        "geometric_mean": geometric_mean(rows) if rows else None,
        "worst": worst and worst.kernel,
    }
    return json.dumps(document, indent=2)


def chosen(only: str) -> list[Kernel]:
    """Give the kernels of a list of names."""
    names = [name for name in only.split(",") if name]
    unknown = [name for name in names if name not in KERNELS]
    if unknown:
        raise Unusable(f"there is no kernel {', '.join(unknown)}; there are: {', '.join(KERNELS)}")
    return [KERNELS[name] for name in names or KERNELS]


def measure_all(options: argparse.Namespace) -> int:
    """Measure and print; gives the exit code."""
    kernels = chosen(options.only)
    words = [f"-O{options.O}", *MODES[options.fp], *(f"--opt={name}" for name in options.opt)]
    compiler = Compiler(options.ispc, options.target, options.width, words)
    try:
        spmdvm.compile("", width=options.width, engine=options.engine)
    except (ValueError, RuntimeError) as error:
        raise Unusable(str(error)) from None
    say = (lambda *_, **__: None) if options.json else print
    say(f"{compiler.version}, {compiler.target}, {' '.join(words)}; ours at width {options.width}, fp={options.fp}\n")
    times = f"{'ispc ms':>10}{'ours ms':>10}{'ratio':>9}{'ispc compiles':>14}{'first result':>14}"
    say(f"{'kernel':18}{times}  engine   native")
    measured: list[tuple[Row, spmdvm.Module]] = []
    failed: dict[str, str] = {}
    for kernel in kernels:
        try:
            measured.append(measure(kernel, compiler, options))
        except (RuntimeError, ValueError, spmdvm.CompileError, spmdvm.Trap) as error:
            failed[kernel.name] = str(error)
            say(f"{kernel.name:18}{error}", flush=True)
        else:
            say(line(measured[-1][0]), flush=True)
    rows = [row for row, _ in measured]
    if options.json:
        print(as_json(rows, failed, compiler, options))
    elif rows:
        worst = max(rows, key=lambda row: row.ratio)
        mean = f"geometric mean of {len(rows)} ratios: {geometric_mean(rows):.2f}"
        print(f"\n{mean}; worst: {worst.kernel}, {worst.ratio:.2f}")
        measured.sort(key=lambda pair: -pair[0].ratio)
        for row, module in measured[: options.explain]:
            print(f"\n--- {row.kernel}, {row.ratio:.2f}\n{module.explain()}")
    return 1 if failed else 0


def at_least(least: int) -> Callable[[str], int]:
    """Read whole numbers from a least one on."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} on is expected, not {text!r}")
        return int(text)

    return read


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="NAME,…", help="only these kernels")
    parser.add_argument("--rounds", type=at_least(1), default=9, metavar="N", help="least rounds; 9 by default")
    parser.add_argument("--width", type=int, choices=sorted(TARGETS), default=16, help="lanes; 16 by default")
    parser.add_argument("--fp", choices=sorted(MODES), default="contract", help="on both sides; contract by default")
    parser.add_argument("--engine", choices=["auto", "x86", "clif", "ir", "interp"], default="auto")
    parser.add_argument("--json", action="store_true", help="a JSON document in place of the table")
    parser.add_argument("--explain", type=at_least(0), default=0, metavar="N", help="explain() of the N worst")
    parser.add_argument("--ispc", metavar="PATH", help="the compiler, if it is not on the PATH")
    parser.add_argument("--target", metavar="NAME", help="ispc's target; it must have --width lanes")
    parser.add_argument("-O", choices=["2", "3"], default="2", help="ispc's level of optimisation")
    parser.add_argument("--opt", action="append", default=[], metavar="NAME", help="passed to ispc as --opt=NAME")
    try:
        return measure_all(parser.parse_args())
    except Unusable as error:
        print(f"benches/ispc.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
