"""Bodies under gravity."""

import numpy as np
from example import Case, compile_example, main

SOFTENING = 0.05
DT = 0.01


def with_numpy(position: np.ndarray, velocity: np.ndarray, mass: np.ndarray, steps: int) -> None:
    """All pairs at once; in place."""
    for _ in range(steps):
        delta = position[:, np.newaxis, :] - position[:, :, np.newaxis]
        d2 = (delta * delta).sum(axis=0) + np.float32(SOFTENING) ** 2
        velocity += np.float32(DT) * (mass / (d2 * np.sqrt(d2)) * delta).sum(axis=2)
        position += np.float32(DT) * velocity


def case(n: int = 1024, steps: int = 4) -> Case:
    """A cloud of bodies, some steps."""
    module = compile_example("nbody")
    rng = np.random.default_rng(4)
    start = rng.normal(size=(3, n)).astype(np.float32)
    mass = rng.uniform(0.5, 1.5, n).astype(np.float32) / np.float32(n)

    def ours() -> np.ndarray:
        position, velocity = start.copy(), np.zeros((3, n), np.float32)
        before = module.energy(n, SOFTENING, mass, position, velocity)
        for _ in range(steps):
            module.nbody_step(n, DT, SOFTENING, mass, position, velocity)
        after = module.energy(n, SOFTENING, mass, position, velocity)
        assert abs(after - before) < 0.01 * abs(before), (before, after)
        return position

    def reference() -> np.ndarray:
        position, velocity = start.copy(), np.zeros((3, n), np.float32)
        with_numpy(position, velocity, mass, steps)
        return position

    return Case("nbody", f"{n} bodies, {steps} steps", ours, reference, 1e-4)


if __name__ == "__main__":
    main(case)
