"""Run the examples, check each against numpy, and show what they take."""

import importlib
import time

import numpy as np
import spmdvm
from example import Case, run, show

EXAMPLES = [
    "mandelbrot",
    "mandelbrot_tasks",
    "noise",
    "ao",
    "black_scholes",
    "binomial",
    "nbody",
    "stencil",
    "spmv",
    "histogram",
    "lookup",
    "relax",
    "bitonic_sort",
    "saxpy",
    "reduction",
]


def cases() -> list[Case]:
    """All cases of all examples."""
    found = []
    for name in EXAMPLES:
        module = importlib.import_module(name)
        found += [getattr(module, f) for f in ("case", "ufunc_case", "prefix_case") if hasattr(module, f)]
    return [make() for make in found]


def main() -> None:
    """Print the table."""
    start = time.perf_counter()
    all_cases = cases()
    compiled = time.perf_counter() - start
    reports = [run(case) for case in all_cases]
    engine = spmdvm.compile("export void f() { }").stats()["engine"]
    print(
        f"spmdvm {spmdvm.__version__} (engine {engine}, width 16, one thread except for tasks), numpy {np.__version__}"
    )
    print(f"{len(all_cases)} programs compiled and their input made in {compiled:.2f} s\n")
    show(reports)


if __name__ == "__main__":
    main()
