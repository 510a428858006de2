"""`spmdvm.evaluate` of an expression of five operations over 10⁷ floats, beside numpy and numexpr, on one thread.

`python benches/evaluate.py [ROUNDS]`

Needs numexpr for its column (`pip install numexpr`); without it, the column is left out. Results are compared first.
Times are medians of the processor time of so many rounds (15), in each of which every contender runs once, into an
array that is there already where the contender can. Aims: twice as fast as numpy, no slower than numexpr.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import spmdvm

try:
    import numexpr
except ImportError:
    numexpr = None

N = 10_000_000
EXPRESSIONS = {
    "a*b + c*d - a/2": ("a*b + c*d - a/2", lambda a, b, c, d: a * b + c * d - a / 2),
    "sqrt(a*a + b*b) * c - d": ("sqrt(a*a + b*b) * c - d", lambda a, b, c, d: np.sqrt(a * a + b * b) * c - d),
    "where(a < b, c*d, a - b) + c": (
        "where(a < b, c*d, a - b) + c",
        lambda a, b, c, d: np.where(a < b, c * d, a - b) + c,
    ),
    "exp(-a*a) * b + c/d": ("exp(-a*a) * b + c/d", lambda a, b, c, d: np.exp(-a * a) * b + c / d),
}


def seconds(f: Callable[[], object]) -> float:
    """Tell the processor time of one call on this thread, in which nothing of others counts."""
    start = time.thread_time()
    f()
    return time.thread_time() - start


def medians(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Time all, in turn."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for k in range(rounds + 2):
        for name, f in contenders.items():
            spent = seconds(f)
            if k >= 2:
                times[name].append(spent)
    return {name: statistics.median(spent) for name, spent in times.items()}


def contenders_of(
    text: str, with_numpy: Callable[..., np.ndarray], names: dict[str, np.ndarray], dtype: type
) -> dict[str, Callable[[], object]]:
    """Give what is compared for an expression."""
    ours, theirs = np.empty((2, N), dtype)
    found: dict[str, Callable[[], object]] = {
        "spmdvm": lambda: spmdvm.evaluate(text, names, out=ours),
        "numpy": lambda: with_numpy(**names),
    }
    if numexpr is not None:
        found["numexpr"] = lambda: numexpr.evaluate(text, names, out=theirs, casting="same_kind")
    return found


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    if numexpr is None:
        print("numexpr is not installed: its column is left out (pip install numexpr)")
    else:
        numexpr.set_num_threads(1)
    print(f"{'expression':<32}{'type':<9}{'spmdvm':>9}{'numpy':>13}{'numexpr':>11}   numpy/spmdvm numexpr/spmdvm")
    for dtype in (np.float32, np.float64):
        rng = np.random.default_rng(1)
        names = {name: rng.uniform(0.5, 2, N).astype(dtype) for name in "abcd"}
        for title, (text, with_numpy) in EXPRESSIONS.items():
            contenders = contenders_of(text, with_numpy, names, dtype)
            want = with_numpy(**names)
            for name, f in contenders.items():
                np.testing.assert_allclose(f(), want, rtol=1e-5, atol=1e-6, err_msg=f"{name}: {text}")
            ms = {name: 1e3 * spent for name, spent in medians(contenders, rounds).items()}
            row = f"{title:<32}{np.dtype(dtype).name:<9}{ms['spmdvm']:6.1f} ms{ms['numpy']:10.1f} ms"
            row += f"{ms['numexpr']:8.1f} ms" if "numexpr" in ms else f"{'–':>11}"
            row += f"{ms['numpy'] / ms['spmdvm']:14.2f}x"
            row += f"{ms['numexpr'] / ms['spmdvm']:14.2f}x" if "numexpr" in ms else f"{'–':>15}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
