"""What the fusion of similar arms is worth: an `if` of which both arms compute the same, against its parts.

Each kernel is timed in three forms, on random data, so that nearly every gang goes both ways: as it is written, with
the first arm only (for all lanes), and with its operands selected by hand before one common computation. Fused arms
take about as long as the last; executed one after the other they would take twice as long as one. Results are compared
first, times are medians of rounds in which every form runs once. The engine is the one that `auto` takes, unless
another is asked for; the first line names it.

    python benches/arms.py [--rounds N] [--engine auto|x86|clif|ir]
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import spmdvm

N = 100_000
WARM = 40

HEAD = """
export void f(const uniform float a[], const uniform float b[], uniform float out[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = a[i], y = b[i], r;
"""
TAIL = """
        out[i] = r;
    }
}
"""

QUOTIENT = "r = sqrt({0} * {0} + 1) / {1};"
LONG = """
    float t = sqrt({0} * {0} + 1);
    r = (t + {1}) / (t * {1} + 2);
    r = r / (1 + r * r);
    r = sqrt(r * r + t);
"""
LINE = "r = {0} * 3 + 1;"

KERNELS = {"a root and a quotient": QUOTIENT, "two roots, two quotients": LONG, "a product and a sum": LINE}


def forms(body: str) -> dict[str, str]:
    """The three forms of a kernel."""
    first, second = body.format("x", "y"), body.format("y", "x")
    by_hand = "float p = x > y ? x : y, q = x > y ? y : x;" + body.format("p", "q")
    arms = f"if (x > y) {{ {first} }} else {{ {second} }}"
    return {name: HEAD + text + TAIL for name, text in {"arms": arms, "one arm": first, "by hand": by_hand}.items()}


def measure(body: str, rounds: int, engine: str) -> dict[str, float]:
    """Median seconds of each form."""
    rng = np.random.default_rng(1)
    a, b = rng.random((2, N), np.float32) + 0.5
    modules = {name: spmdvm.compile(text, engine=engine) for name, text in forms(body).items()}
    out = {name: np.zeros(N, np.float32) for name in modules}
    for _ in range(WARM):
        for name, module in modules.items():
            module.f(a, b, out[name], N)
        time.sleep(0.01)  # What is being compiled in the background ends.
    np.testing.assert_array_equal(out["arms"], out["by hand"])
    times: dict[str, list[float]] = {name: [] for name in modules}
    for _ in range(rounds):
        for name, module in modules.items():
            begin = time.perf_counter()
            module.f(a, b, out[name], N)
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--engine", default="auto", help="auto (the default), x86, clif or ir")
    options = parser.parse_args()
    print(f"engine: {spmdvm.compile(HEAD + 'r = x;' + TAIL, engine=options.engine).stats()['engine']}\n")
    print(f"{'kernel':26} {'arms':>9} {'one arm':>9} {'by hand':>9}   arms / one arm")
    for name, body in KERNELS.items():
        times = measure(body, options.rounds, options.engine)
        row = " ".join(f"{1e6 * times[form]:7.1f}us" for form in ("arms", "one arm", "by hand"))
        print(f"{name:26} {row}   {times['arms'] / times['one arm']:.2f}")


if __name__ == "__main__":
    main()
