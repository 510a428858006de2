"""Runs programs of public repositories on our engines and beside Intel's compiler `ispc`, and times them on one thread.

The programs are other people's and no part of this project: `--copies` names a folder with copies of their
repositories, as FOLDER/owner/name/…. `public_examples.py`, `public_pictures.py` and `public_numbers.py` know where each
lies and what it is called with; the data are made here. A program whose copy is not there is left out, and named at the
end.

Three things are done with each, in this order. Our engines run it on small data, and must give the same bits (NaNs
are equal). Then `ispc` and we run it on the data that are timed; results must be the same within the program's
tolerance, at the first call and when all is warm. Then both run in turn, as in `benches/ispc.py` (arrays are aligned
as there), with data put back before each round; times are medians of the processor's time. `native` is the share of
instructions that compiled code executed in these rounds; the ratio is our time divided by ispc's. Tasks run one after
another on both sides.

    python benches/public.py --copies FOLDER [--only NAME,…] [--rounds N] [--width N] [--engine auto|x86|clif|interp]
                             [--json] [--explain N] [--list] [--no-engines] [--ispc PATH] [--target NAME]

Ends with code 1 if results differ, or if a program failed; with 2 if what is needed is not there.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import public_examples  # noqa: F401
import public_numbers  # noqa: F401
import public_pictures  # noqa: F401
import spmdvm
from ispc import TARGETS, Compiler, Contender, Unusable, at_least, compare, geometric_mean, medians, warm_up
from ispc_kernels import Arguments
from public_programs import PROGRAMS, Program

ENGINES = ("interp", "clif", "x86")

# Every loop at once, on this thread: what is compared has run as compiled code.
EAGER = {"hot": 1, "background": False}

# What ispc needs for `launch` and `sync`: tasks run where they are launched, one after another.
TASKS = """
#include <stdint.h>
#include <stdlib.h>

struct block { struct block *next; void *memory; };
typedef void (*task)(void *, int, int, int, int, int, int, int, int, int, int);

void *ISPCAlloc(void **handle, int64_t size, int32_t alignment) {
    struct block *block = malloc(sizeof *block);
    if (!block || posix_memalign(&block->memory, alignment < 8 ? 8 : alignment, size)) abort();
    block->next = *handle;
    *handle = block;
    return block->memory;
}

void ISPCLaunch(void **handle, void *f, void *data, int x, int y, int z) {
    (void)handle;
    int index = 0;
    for (int k = 0; k < z; k++)
        for (int j = 0; j < y; j++)
            for (int i = 0; i < x; i++)
                ((task)f)(data, 0, 1, index++, x * y * z, i, j, k, x, y, z);
}

void ISPCSync(void *handle) {
    for (struct block *block = handle, *next; block; block = next) {
        next = block->next;
        free(block->memory);
        free(block);
    }
}
"""


# What ends a program's row: it cannot be compiled, called or compared here.
FAILURES = (RuntimeError, ValueError, TypeError, AttributeError, OSError, spmdvm.CompileError, spmdvm.Trap)


class Copies:
    """The folder with the copies, and ispc for what lies there."""

    def __init__(self, folder: Path, compiler: Compiler, width: int) -> None:
        """Keep both, and for how many lanes programs are compiled."""
        self.folder = folder
        self.compiler = compiler
        self.width = width

    def has(self, program: Program) -> bool:
        """Tell whether the files of a program are there."""
        return all(path.is_file() for path in self.files(program))

    def files(self, program: Program) -> list[Path]:
        """Give the sources of a program, the one with the entry first."""
        return [self.folder / program.repository / file for file in (program.file, *program.more)]

    def includes(self, program: Program) -> list[Path]:
        """Give the folders that its `#include`s search."""
        return [self.folder / program.repository / name for name in program.includes]

    def defines(self, macros: dict[str, str]) -> dict[str, str]:
        """Put the number of lanes into macros."""
        return {name: value.format(width=self.width) for name, value in macros.items()}

    def library(self, program: Program, folder: Path) -> ctypes.CDLL:
        """Make a shared object with ispc, and load it."""
        run, linker = self.compiler.run, self.compiler.linker
        words = ["--pic", "--woff", f"--target={self.compiler.target}", *self.compiler.words]
        words += [f"-I{path}" for path in self.includes(program)]
        # On the command line they would be those of its own library, too.
        macros = "".join(f"#define {name} {value}\n" for name, value in self.defines(program.defines).items())
        made = []
        for number, file in enumerate(self.files(program)):
            source = folder / f"{number}.ispc"
            source.write_text(f'{macros}#include "{file.resolve()}"\n')
            made.append(str(source.with_suffix(".o")))
            run([self.compiler.ispc, *words, str(source), "-o", made[-1]])
        tasks = folder / "tasks.c"
        tasks.write_text(TASKS + "".join(f"void {name}(void) {{ abort(); }}\n" for name in program.absent))
        library = str(folder / f"{program.name}.so")
        run([*linker, "-shared", "-fPIC", "-O2", str(tasks), *made, "-o", library, "-lm"])
        return ctypes.CDLL(library)

    def module(self, program: Program, **options: Any) -> spmdvm.Module:
        """Compile a program with ours."""
        main, *more = self.files(program)
        words = {"include_paths": self.includes(program), "defines": self.defines(program.defines)}
        return spmdvm.compile_file(main, sources=more, width=self.width, task_threads=1, **words, **options)


Store = Callable[[np.ndarray, str, np.ndarray], Any]
"""Stores the address of an array in a field of a record."""


def parameters(program: Program, arguments: Arguments, store: Store, call: Callable[..., Any]) -> list[Any]:
    """Store the addresses that records hold, call what comes before, and give the parameters.

    A link `a.f` to `b` means that the field `f` of the record `a` is the address of `b`. Where `a` has several records,
    each gets the address of its own part of `b`. A link `a` alone means that `a` is an array of addresses. What is
    linked to is no parameter, nor is anything whose name begins with `_`.
    """
    for link, to in program.links.items():
        name, _, field = link.partition(".")
        records, target = arguments[name], arguments[to]
        if not field:
            field, records = "address", records.view([("address", np.uint64)])
        for at in range(len(records)):
            store(records[at : at + 1], field, target[at] if len(records) > 1 else target)
    if program.prepare is not None:
        program.prepare(call, arguments)
    hidden = set(program.links.values())
    return [value for name, value in arguments.items() if name not in hidden and not name.startswith("_")]


def of_ispc(program: Program, library: ctypes.CDLL, *, small: bool = False) -> Contender:
    """Bind a program of a library to its arguments."""
    arguments = program.kernel.arguments(small=small)

    def store(record: np.ndarray, field: str, array: np.ndarray) -> None:
        record[field] = array.ctypes.data

    def call(name: str, *given: Any) -> Any:
        return getattr(library, name)(*map(as_c, given))

    values = [as_c(value) for value in parameters(program, arguments, store, call)]
    function = getattr(library, program.entry)
    returns = program.kernel.returns
    function.restype = returns and np.ctypeslib.as_ctypes_type(returns)
    return Contender(program.kernel, arguments, lambda: function(*values))


def as_c(value: np.ndarray | np.generic) -> Any:
    """Give what ctypes passes for an argument."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return np.ctypeslib.as_ctypes_type(type(value))(value)


def of_ours(program: Program, module: spmdvm.Module, *, small: bool = False) -> Contender:
    """Bind a program of a module to its arguments."""
    arguments = program.kernel.arguments(small=small)

    def store(record: np.ndarray, field: str, array: np.ndarray) -> None:
        module.bind(record, **{field: array})

    def call(name: str, *given: Any) -> Any:
        return getattr(module, name)(*given)

    values = parameters(program, arguments, store, call)
    function = getattr(module, program.entry)
    return Contender(program.kernel, arguments, lambda: function(*values))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether two arrays have the same bits; one NaN is as good as another."""
    equal = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    if a.dtype.kind == "f":
        equal |= np.isnan(a) & np.isnan(b)
    return bool(equal.all())


def engines_here() -> list[str]:
    """Give the engines that run on this machine."""
    found = []
    for engine in ENGINES:
        try:
            spmdvm.compile("", engine=engine)
        except (ValueError, RuntimeError):
            continue
        found.append(engine)
    return found


def agree(program: Program, copies: Copies) -> None:
    """Run a program on small data with each engine three times; RuntimeError if results differ, or nothing is done."""
    expected = None
    for engine in engines_here():
        jit = EAGER if engine != "interp" else {}
        contender = of_ours(program, copies.module(program, engine=engine, jit=jit), small=True)
        for _ in range(3):
            contender.run()
        results = contender.results
        if expected is None:
            expected = [array.copy() for array in results]
            for name, before, now in zip(program.kernel.outputs, contender.at_first, contender.written):
                if np.array_equal(before, now):
                    raise RuntimeError(f"{name} is as it was before")
        for name, a, b in zip(program.results, results, expected):
            if not same(a, b):
                raise RuntimeError(f"engine {engine} differs from {ENGINES[0]} in {name}")


class Row(NamedTuple):
    """What was measured of a program; times in seconds."""

    program: str
    ispc: float
    ours: float
    native_share: float
    """In the rounds that were timed."""
    first_result: float
    """Compiling and the first call."""
    engine: str

    @property
    def ratio(self) -> float:
        """Our time divided by ispc's."""
        return self.ours / self.ispc


def measure(program: Program, copies: Copies, options: argparse.Namespace) -> tuple[Row, spmdvm.Module]:
    """Compile, compare and time a program; RuntimeError if one of these fails."""
    if not options.no_engines:
        agree(program, copies)
    with tempfile.TemporaryDirectory() as folder:
        theirs = of_ispc(program, copies.library(program, Path(folder)))
        start = time.perf_counter()
        module = copies.module(program, engine=options.engine)
        compiled = time.perf_counter() - start
        ours = of_ours(program, module)
        start = time.perf_counter()
        ours.run()
        first = time.perf_counter() - start
        theirs.run()
        compare(program.kernel, ours, theirs, "the first call")
        # Large programs have hundreds of regions, which take seconds to be compiled.
        warm_up(ours, module, least=1, most=30)
        for _ in range(3):
            theirs.run()
        compare(program.kernel, ours, theirs, "a later call")
        before = module.stats()
        times = medians([theirs, ours], options.rounds)
        after = module.stats()
    native, interpreted = (after[name] - before[name] for name in ("native_instructions", "interpreted_instructions"))
    share = native / max(native + interpreted, 1)
    return Row(program.name, *times, share, compiled + first, after["engine"]), module


def line(row: Row) -> str:
    """Format a row."""
    times = f"{row.ispc * 1e3:10.3f}{row.ours * 1e3:10.3f}{row.ratio:9.2f}"
    return f"{row.program:22}{times}{row.native_share:9.1%}{row.first_result * 1e3:14.1f}  {row.engine}"


def as_json(rows: list[Row], failed: dict[str, str], missing: list[str], copies: Copies) -> str:
    """Put all into a document; times are in milliseconds."""
    worst = max(rows, key=lambda row: row.ratio, default=None)
    document = {
        "ispc": copies.compiler.version,
        "target": copies.compiler.target,
        "width": copies.width,
        "programs": [
            {
                "program": row.program,
                "repository": PROGRAMS[row.program].repository,
                "file": PROGRAMS[row.program].file,
                "function": PROGRAMS[row.program].entry,
                "ispc_ms": row.ispc * 1e3,
                "ours_ms": row.ours * 1e3,
                "ratio": row.ratio,
                "native_share": row.native_share,
                "first_result_ms": row.first_result * 1e3,
                "engine": row.engine,
            }
            for row in rows
        ],
        "failed": failed,
        "left_out": missing,
        "geometric_mean": geometric_mean(rows) if rows else None,
        "worst": worst and worst.program,
        "above_4": sum(row.ratio > 4 for row in rows),
        "native_below_99": [row.program for row in rows if row.native_share < 0.99],
    }
    return json.dumps(document, indent=2)


def summary(rows: list[Row], missing: list[str]) -> str:
    """Say what the table comes to."""
    text = ""
    if rows:
        worst = max(rows, key=lambda row: row.ratio)
        above = sum(row.ratio > 4 for row in rows)
        below = ", ".join(row.program for row in rows if row.native_share < 0.99)
        text += f"geometric mean of {len(rows)} ratios: {geometric_mean(rows):.2f}; worst: {worst.program}, "
        text += f"{worst.ratio:.2f}; above 4: {above}\nless than 99 % native: {below or 'none'}"
    if missing:
        text += f"\nleft out, because their copies are not there: {', '.join(missing)}"
    return text


def chosen(only: str) -> list[Program]:
    """Give the programs of a list of names."""
    names = [name for name in only.split(",") if name]
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        raise Unusable(f"there is no program {', '.join(unknown)}; there are: {', '.join(PROGRAMS)}")
    return [PROGRAMS[name] for name in names or PROGRAMS]


def measure_all(options: argparse.Namespace) -> int:
    """Measure and print; gives the exit code."""
    if options.copies is None or not options.copies.is_dir():
        raise Unusable("--copies names a folder with copies of the repositories, as FOLDER/owner/name/…")
    copies = Copies(options.copies, Compiler(options.ispc, options.target, options.width, ["-O2"]), options.width)
    programs = [program for program in chosen(options.only) if copies.has(program)]
    missing = [program.name for program in chosen(options.only) if not copies.has(program)]
    say = (lambda *_, **__: None) if options.json else print
    say(f"{copies.compiler.version}, {copies.compiler.target}, -O2; ours at width {options.width}\n")
    say(f"{'program':22}{'ispc ms':>10}{'ours ms':>10}{'ratio':>9}{'native':>9}{'first result':>14}  engine")
    measured: list[tuple[Row, spmdvm.Module]] = []
    failed: dict[str, str] = {}
    for program in programs:
        try:
            measured.append(measure(program, copies, options))
        except FAILURES as error:
            failed[program.name] = str(error).partition("\n")[0]
            say(f"{program.name:22}{failed[program.name]}", flush=True)
        else:
            say(line(measured[-1][0]), flush=True)
    rows = [row for row, _ in measured]
    if options.json:
        print(as_json(rows, failed, missing, copies))
        return 1 if failed else 0
    print(f"\n{summary(rows, missing)}")
    measured.sort(key=lambda pair: -pair[0].ratio)
    for row, module in measured[: options.explain]:
        print(f"\n--- {row.program}, {row.ratio:.2f}\n{module.explain()}")
    return 1 if failed else 0


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=Path, metavar="FOLDER", help="where the copies of the repositories are")
    parser.add_argument("--only", default="", metavar="NAME,…", help="only these programs")
    parser.add_argument("--list", action="store_true", help="name the programs with their files, and end")
    parser.add_argument("--no-engines", action="store_true", help="do not compare our engines first")
    parser.add_argument("--rounds", type=at_least(1), default=9, metavar="N", help="least rounds; 9 by default")
    parser.add_argument("--width", type=int, choices=sorted(TARGETS), default=16, help="lanes; 16 by default")
    parser.add_argument("--engine", choices=["auto", "x86", "clif", "interp"], default="auto", help="what is timed")
    parser.add_argument("--json", action="store_true", help="a JSON document in place of the table")
    parser.add_argument("--explain", type=at_least(0), default=0, metavar="N", help="explain() of the N worst")
    parser.add_argument("--ispc", metavar="PATH", help="the compiler, if it is not on the PATH")
    parser.add_argument("--target", metavar="NAME", help="ispc's target; it must have --width lanes")
    options = parser.parse_args()
    # The programs are not ours to mend.
    warnings.simplefilter("ignore", spmdvm.CompileWarning)
    if options.list:
        for program in PROGRAMS.values():
            print(f"{program.name:22}{program.repository}: {program.file}, {program.entry}")
        return 0
    try:
        return measure_all(options)
    except Unusable as error:
        print(f"benches/public.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
