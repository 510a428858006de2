"""Why is it slow? Hints before it runs, what became of each line when it did: as text, as data, as a page.

`python examples/python/explain.py` writes out/explain.html. Points that lie as records are read with strides; as
columns they are read in whole vectors, and the reports say so. `profile.py` has how often lines are executed.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import spmdvm

RECORDS = """
export void lengths(const uniform float points[], uniform float out[], const uniform int order[], uniform int n) {
    foreach (i = 0 ... n) {
        const int at = order[i];
        const float x = points[3 * at], y = points[3 * at + 1], z = points[3 * at + 2];
        out[i] = sqrt(x * x + y * y + z * z);
    }
}
"""


@spmdvm.kernel
def halvings(x):
    """Count the halvings until a number is at most 1."""
    n = 0
    while x > 1:
        x /= 2
        n += 1
    return n


def main() -> None:
    """Show all three."""
    print("1. Hints of the compiler, before anything runs; `hints=True` asks for them")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module = spmdvm.compile(RECORDS, hints=True)
    for warning in caught:
        print("   " + str(warning.message).splitlines()[0])
    if not any("W0900" in str(warning.message) for warning in caught):
        sys.exit("there is no hint about the gather")

    n = 100_000
    rng = np.random.default_rng(1)
    points, out = rng.random((n, 3), dtype=np.float32), np.zeros(n, np.float32)
    order = rng.permutation(n).astype(np.int32)
    for _ in range(20):
        module.lengths(points, out, order, n)
    if not np.allclose(out, np.sqrt((points[order] ** 2).sum(1)), rtol=1e-5):
        sys.exit("the lengths are wrong")

    print("\n2. What became of its lines and loops: text")
    print(module.explain())

    print("\n3. … of one line")
    print(module.explain(5))

    print("\n4. … as data: of each line how memory is accessed and what to do; of each loop what was chosen")
    for line in module.explain().lines:
        if line.memory:
            print(f"   line {line.line}: {', '.join(line.memory)}" + "".join(f"; {text}" for text in line.advice))
    stats = module.stats()
    print(f"   native share of the time: {stats['native_share']:.0%}")
    for loop in stats["loops"]:
        kinds = sorted({variant["variant"] for version in loop["versions"] for variant in version["variants"]})
        print(f"   {loop['function']}, line {loop['line']}: {len(loop['versions'])} version(s); {', '.join(kinds)}")
    if not stats["loops"]:
        sys.exit("nothing was compiled")

    print("\n5. A kernel in Python tells its own lines")
    x = rng.uniform(0, 1e6, n)
    for _ in range(10):
        halvings(x)
    print(halvings.explain())
    print(halvings.explain(halvings.__wrapped__.__code__.co_firstlineno + 4))

    print("\n6. As a page: listings with what became of each line, the reports, a profile")
    profile = halvings.profile(x[:2000])
    explained = halvings.explain(profile=profile)
    parts = [shown._repr_html_() for shown in (module, module.explain(), halvings, explained, profile)]
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    page = folder / "explain.html"
    page.write_text("<!doctype html><meta charset='utf-8'><title>explain</title>\n" + "\n".join(parts), "utf-8")
    print(f"   wrote {page}")


if __name__ == "__main__":
    main()
