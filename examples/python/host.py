"""Functions of Python and of C that a program calls, and its globals as arrays.

`python examples/python/host.py`: a pond of particles. The program moves them, asks functions of Python when to
stop and how to push each particle, asks C for the tide, and looks up the current in a table that Python supplies.
"""

from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

import numpy as np
import spmdvm

SOURCE = """
extern uniform float current[];         // supplied by Python
extern uniform int cells;
uniform int steps_taken;                // read by Python
uniform float greatest[8];

extern "C" uniform bool go_on(uniform int step, const uniform float x[]);       // Python
extern "C" float push(int particle, float x);                                   // Python, for all lanes at once
extern "C" float luck(float x);                                                 // Python, for each lane
extern "C" uniform double cos(uniform double angle);                            // C

export void drift(uniform float x[], uniform int n, uniform float strength) {
    for (uniform int step = 0; go_on(step, x); ++step) {
        const uniform float tide = cos(step * 0.5d);
        foreach (i = 0 ... n) {
            const int cell = clamp((int)(x[i] * cells), 0, cells - 1);
            const float pushed = x[i] < 0.01f ? luck(x[i]) : push(i, x[i]);
            x[i] = clamp(x[i] + tide * current[cell] + strength * pushed, 0.0f, 1.0f);
        }
        float most = 0;
        foreach (i = 0 ... n) most = max(most, x[i]);
        greatest[step] = reduce_max(most);
        steps_taken = step + 1;
    }
}
"""


class Pond:
    """What the functions of Python share: how often they were called, and where the particles have been."""

    def __init__(self, steps: int) -> None:
        """Go so many steps."""
        self.steps = steps
        self.pushes = 0
        self.means: list[float] = []

    def go_on(self, step: int, x: np.ndarray) -> bool:
        """Look at the particles, which are an array here and not copied."""
        assert not x.flags.writeable, "the program's parameter is const"
        self.means.append(float(x.mean()))
        return step < self.steps

    def push(self, particles: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Push particles: called once for a gang, with the values of its active lanes."""
        self.pushes += len(particles)
        return (particles * 7919) % 101 / 50 - x

    def luck(self, x: float) -> float:
        """Push a particle that lies at the shore: called for each, in their order."""
        self.pushes += 1
        return math.sqrt(1 - x)

    def functions(self) -> dict[str, Any]:
        """Give what the program calls."""
        libm = ctypes.CDLL("libm.so.6" if sys.platform.startswith("linux") else None)
        return {"go_on": self.go_on, "push": self.push, "luck": spmdvm.per_lane(self.luck), "cos": libm.cos}


def in_numpy(x: np.ndarray, current: np.ndarray, strength: float, steps: int) -> np.ndarray:
    """Compute the same."""
    x = x.copy()
    for step in range(steps):
        tide = np.float32(np.cos(step * 0.5))
        cell = np.clip((x * np.float32(len(current))).astype(np.int32), 0, len(current) - 1)
        pushed = np.where(x < np.float32(0.01), np.sqrt(1 - x), (np.arange(len(x)) * 7919) % 101 / 50 - x)
        x = np.clip(x + tide * current[cell] + strength * pushed, 0, 1).astype(np.float32)
    return x


def main() -> None:
    """Let them drift, and compare."""
    pond = Pond(steps=5)
    module = spmdvm.compile(SOURCE, host=pond.functions(), fp="strict")

    current = np.sin(np.linspace(0, 3, 64)).astype(np.float32) / 20
    module.globals.update(current=current, cells=len(current))
    x = np.random.default_rng(1).random(100, dtype=np.float32)
    want = in_numpy(x, current, 0.01, 5)
    module.drift(x, len(x), 0.01)
    print("A hundred particles in a pond, moved by a program that asks Python and C")
    print(f"1. {module.globals['steps_taken']} steps, {pond.pushes} pushes by Python, one for each particle and step")
    if not np.allclose(x, want, atol=1e-5):
        sys.exit("the particles are elsewhere")
    print(f"2. where they are on average: {', '.join(f'{mean:.3f}' for mean in pond.means)}")

    greatest = module.globals["greatest"]
    print(f"3. a global of the program is an array here: {np.array2string(greatest, precision=3)}")
    greatest[:] = 0
    current[:] = 0
    module.drift(x, len(x), 0.0)
    print(f"4. tables are shared, not copied: with a current of zero they stay, {abs(x - want).max():.1e} off")
    if abs(x - want).max() > 1e-4 or greatest[0] == 0:
        sys.exit("the globals are not shared")

    def refuse(step: int, _: np.ndarray) -> bool:
        if step == 2:
            raise LookupError("the pond is frozen")
        return True

    frozen = spmdvm.compile(SOURCE, host={**pond.functions(), "go_on": refuse})
    frozen.globals.update(current=current, cells=len(current))
    try:
        frozen.drift(x, len(x), 0.0)
    except LookupError as error:
        print(f"5. what a function of Python raises comes through: {error!r}")
    else:
        sys.exit("nothing was raised")
    print(f"6. it had taken {frozen.globals['steps_taken']} steps then")

    try:
        spmdvm.compile(SOURCE, host={"go_on": pond.go_on}).drift(x, len(x), 0.0)
    except spmdvm.LinkError as error:
        print(f"7. a function that nobody gives is an error: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
