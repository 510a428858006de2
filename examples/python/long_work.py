"""Work that takes long: how far it is, an end to it by time, by Ctrl-C, and by the amount of work.

`python examples/python/long_work.py`
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import spmdvm


@spmdvm.kernel
def rounds(x, y, limit: spmdvm.uniform[int]):
    """Count the rounds until a point has left the circle."""
    re, im, n = 0.0, 0.0, 0
    while n < limit and re * re + im * im <= 4:
        re, im = re * re - im * im + x, 2 * re * im + y
        n += 1
    return n


ENDLESS = """
export void spin(uniform int64 counts[]) {
    while (true)
        ++counts[0];
}
task void wait(uniform int64 counts[]) {
    while (counts[0] >= 0)
        atomic_add_global(&counts[0], (int64)1);
}
export void tasks(uniform int64 counts[]) {
    launch[4] wait(counts);
}
"""


def seconds_until(error: type[BaseException], call: Callable[[], object], at: float) -> float:
    """Make a call that is to end with an error after a time; tell how much later it did."""
    start = time.perf_counter()
    try:
        call()
    except error as ended:
        late = time.perf_counter() - start - at
        print(f"   {type(ended).__name__} {1e3 * late:.0f} ms after it was due: {str(ended).splitlines()[:1]}")
        return late
    sys.exit("it came to an end by itself")


def press_ctrl_c(after: float) -> None:
    """Do what Ctrl-C at a terminal does, on another thread, after a time."""
    threading.Timer(after, lambda: signal.raise_signal(signal.SIGINT)).start()


def main() -> None:
    """Show all."""
    x, y = np.linspace(-2, 0.8, 900), np.linspace(-1.2, 1.2, 600)[:, None]

    print("1. `progress=True` draws a bar on standard error")
    rounds(x, y, 1000, progress=True)

    print("2. A function is told: elements that are done, of all")
    told: list[tuple[int, int | None]] = []
    rounds(x, y, 1000, progress=lambda done, total: told.append((done, total)))
    print(f"   told {len(told)} times, last {told[-1]}")
    assert told[-1] == (540_000, 540_000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)

    print("3. Combinators tell it, too")
    told.clear()
    spmdvm.reduce("+", x, map=np.sqrt, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (900, 900)
    print(f"   last {told[-1]}")

    print("4. What the function raises ends the call")

    def enough(done: int, total: int | None) -> None:
        raise StopIteration(f"at {done} of {total}")

    try:
        rounds(x, y, 1000, progress=enough)
    except StopIteration as stopped:
        print(f"   StopIteration {stopped}")

    counts = np.zeros(1, np.int64)
    late = []
    for name in ("spin", "tasks"):
        print(f"5. `timeout=` ends {name}(), which has no end")
        module = spmdvm.compile(ENDLESS, timeout=0.3)
        late.append(seconds_until(TimeoutError, lambda f=module[name]: f(counts), 0.3))
        assert counts[0] > 0, "what it has done is there"

    for name in ("spin", "tasks"):
        print(f"6. Ctrl-C ends {name}()")
        module = spmdvm.compile(ENDLESS)
        press_ctrl_c(0.3)
        late.append(seconds_until(KeyboardInterrupt, lambda f=module[name]: f(counts), 0.3))

    print("7. A module that was stopped can be called again")
    press_ctrl_c(0.2)
    late.append(seconds_until(KeyboardInterrupt, lambda: module.spin(counts), 0.2))

    print("8. `fuel=` bounds the work, not the time: it ends at the same place each time")
    ends = []
    for _ in range(2):
        counts[0] = 0
        try:
            spmdvm.compile(ENDLESS, fuel=100_000).spin(counts)
        except spmdvm.Trap as trap:
            ends.append((trap.kind, int(counts[0])))
    print(f"   {ends[0][0]} after {ends[0][1]} rounds")
    assert len(ends) == 2 and ends[0] == ends[1]
    print(f"all within {1e3 * max(late):.0f} ms")


if __name__ == "__main__":
    main()
