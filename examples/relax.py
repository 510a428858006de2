"""A heated plate; a Python function that the program calls decides when it is done."""

import numpy as np
from example import Case, compile_example, main

INTERVAL = 10


def plate(rows: int, columns: int) -> np.ndarray:
    """A plate that is hot along its upper edge."""
    plate = np.zeros((rows, columns), np.float32)
    plate[0] = 1
    return plate


def case(rows: int = 256, columns: int = 384, enough: float = 1e-3) -> Case:
    """Relax until a round changes no point by more than `enough`."""
    seen = []

    def go_on(round: int, change: float, plate: np.ndarray) -> bool:
        seen.append((round, change, float(plate.mean())))
        return change > enough

    module = compile_example("relax", host={"go_on": go_on})

    def with_spmdvm() -> np.ndarray:
        seen.clear()
        both = plate(rows, columns), plate(rows, columns)
        rounds = module.relax(*both, rows, columns, INTERVAL)
        assert [round for round, *_ in seen] == list(range(INTERVAL, rounds + 1, INTERVAL))
        return both[rounds % 2]

    def with_numpy() -> np.ndarray:
        a = plate(rows, columns)
        quarter = np.float32(0.25)
        for round in range(1, 1 << 30):
            mean = quarter * (a[1:-1, :-2] + a[1:-1, 2:] + (a[:-2, 1:-1] + a[2:, 1:-1]))
            change = np.abs(mean - a[1:-1, 1:-1]).max()
            a[1:-1, 1:-1] = mean
            if round % INTERVAL == 0 and change <= enough:
                break
        return a

    return Case("relax", f"{rows} x {columns} points", with_spmdvm, with_numpy, 1e-6)


if __name__ == "__main__":
    main(case)
