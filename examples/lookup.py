"""Linear interpolation in a table, which is a global variable that the host supplies."""

import numpy as np
from example import Case, compile_example, main

SIZE = 1000


def case(n: int = 1_000_000) -> Case:
    """A table of a sine, looked up at random places."""
    module = compile_example("lookup")
    table = np.sin(np.linspace(0, 6, SIZE)).astype(np.float32)
    module.globals.update(table=table, size=SIZE)
    x = np.random.default_rng(7).uniform(-0.1, 1.1, n).astype(np.float32)
    places = np.linspace(0, 1, SIZE)
    return Case(
        "lookup", f"{n:,} places, {SIZE} entries", lambda: module.lookup(x), lambda: np.interp(x, places, table), 1e-5
    )


if __name__ == "__main__":
    main(case)
