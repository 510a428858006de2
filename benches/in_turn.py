"""Processor time of two contenders that run in turn; for the benchmarks of kernels."""

from __future__ import annotations

import time
from collections.abc import Callable


def seconds(f: Callable[[], object]) -> float:
    """Tell the processor time of one call, in which nothing of others counts."""
    start = time.thread_time()
    f()
    return time.thread_time() - start


def warm_up(f: Callable[[], object], least: float = 1.5) -> None:
    """Call until compiling in the background is surely done."""
    spent = 0.0
    while spent < least:
        spent += seconds(f)


def times_of(both: tuple[Callable[[], object], Callable[[], object]], rounds: int) -> tuple[list[float], list[float]]:
    """Warm both up, then time so many rounds, in each of which both run once, the one or the other first."""
    for f in both:
        warm_up(f)
    times: tuple[list[float], list[float]] = ([], [])
    for k in range(rounds):
        for which in ((0, 1), (1, 0))[k % 2]:
            times[which].append(seconds(both[which]))
    return times
