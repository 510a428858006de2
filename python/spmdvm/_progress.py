"""The bar of `progress=True`, on standard error."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from ._containers import is_lazy

_BLOCKS = " ▏▎▍▌▋▊▉█"
# Seconds between two drawings, and where it is no terminal between two lines.
_EVERY, _EVERY_LINE = 0.1, 2.0


class Counted:
    """A program's own count of what it has done of its elements, which is told while it runs.

    Attributes:
        callback: who is told.
        is_bar: whether that is a `Bar`.
        counter: where the program counts, an array of one `int64`.
        all: what it holds in the end.
        total: the number of elements.
    """

    def __init__(self, who: str, progress: Any, total: int, passes: int = 1) -> None:
        """Begin to count elements, each of which is gone through some times."""
        self.is_bar = progress is True
        self.callback = Bar(who) if self.is_bar else progress
        self.counter = np.zeros(1, np.int64)
        self.all, self.total = total * passes, total


def is_told(who: str, progress: Any, *given: Any) -> bool:
    """Return whether somebody is to be told how far a call is. Lazy arrays have a progress of their own."""
    if progress is None or progress is False:
        return False
    if progress is not True and not callable(progress):
        raise TypeError(f"{who}(): `progress` must be True (a bar), or a function f(done, total), not {progress!r}")
    if any(is_lazy(part) for one in given for part in (one if isinstance(one, tuple) else (one,))):
        raise TypeError(
            f"{who}() of Dask arrays takes no `progress=`, which would not count what Dask computes; use Dask's own "
            "(dask.diagnostics.ProgressBar), or compute the arrays first (x.compute())"
        )
    return True


class Bar:
    """Shows how far a call is: a bar at a terminal, else a plain line now and then (in notebooks and files)."""

    def __init__(self, name: str) -> None:
        """Begin; nothing is shown until the first report."""
        self._name, self._began, self._drawn, self._width = name, time.monotonic(), -1.0, 0
        stream = sys.stderr
        self._stream = stream
        try:
            self._is_terminal = bool(stream is not None and stream.isatty())
        except (AttributeError, ValueError):
            # It is not quite a file, or is closed.
            self._is_terminal = False
        self._last: tuple[int, int | None, str] | None = None

    def __call__(self, done: int, total: int | None, unit: str) -> None:
        """Show that so much is done, of a total if that is known."""
        self._last = (done, total, unit)
        now = time.monotonic()
        # Of short calls only the end is shown.
        since = now - (self._drawn if self._drawn >= 0 else self._began)
        if since >= (_EVERY if self._is_terminal else _EVERY_LINE):
            self._draw(now)

    def close(self, succeeded: bool) -> None:
        """Show the end, and leave it there."""
        if self._last is None or self._stream is None:
            return
        self._draw(time.monotonic(), "" if succeeded else " stopped")
        if self._is_terminal:
            self._write("\n")

    def _draw(self, now: float, note: str = "") -> None:
        if self._stream is None or self._last is None:
            return
        self._drawn = now
        text = self._text(*self._last, now - self._began) + note
        if self._is_terminal:
            padding = " " * max(0, self._width - len(text))
            self._width = len(text)
            self._write(f"\r{text}{padding}")
        else:
            self._write(text + "\n")

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads it any more (it is closed, a pipe has gone): no reason to end the call.
            self._stream = None

    def _text(self, done: int, total: int | None, unit: str, elapsed: float) -> str:
        rate = done / elapsed if elapsed > 0 else 0.0
        speed = f"{_short(rate)} {unit}/s"
        if total is None:
            return f"{self._name}: {_short(done)} {unit} [{_clock(elapsed)}, {speed}]"
        part = done / total if total else 1.0
        left = _clock((total - done) / rate) if rate else "?"
        counts = f"{_short(done)}/{_short(total)} [{_clock(elapsed)}<{left}, {speed}]"
        head = f"{self._name}: {int(100 * part):>3}%|"
        # Imported where there is a bar, as it takes a while.
        import shutil

        room = min(40, shutil.get_terminal_size().columns - len(head) - len(counts) - 3) if self._is_terminal else 10
        return f"{head}{_bar(part, room)}| {counts}"


def _bar(part: float, cells: int) -> str:
    cells = max(cells, 1)
    eighths = int(min(max(part, 0.0), 1.0) * cells * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(cells)


def _short(number: float) -> str:
    """Give three or four digits and a power of a thousand."""
    for power in ("", "k", "M", "G", "T"):
        if number < 999.5 or power == "T":
            digits = 0 if not power and number == int(number) else 2 if number < 9.995 else 1 if number < 99.95 else 0
            return f"{number:.{digits}f}{power}"
        number /= 1000
    raise AssertionError("unreachable")


def _clock(seconds: float) -> str:
    whole = int(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"
