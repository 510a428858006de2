"""What `profile` and `timeline` give: counts by line, tasks on their threads, and their pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _html


class ProfileLine(NamedTuple):
    """What one line of a source did during a profiled call.

    Attributes:
        file: the file, as messages call it.
        line: the number of the line, from 1.
        text: the line.
        executed: how often it was executed, by whole gangs; a gang without an active lane executes nothing. Exact.
        active: the lanes that were active then, summed up. Exact.
        possible: the lanes that there were, summed up: `executed` times the width. Exact.
        utilisation: `active / possible`, from 0 to 1; nan if it was not executed.
        time: seconds in the interpreter, estimated.
        share: its part of the time of all lines, from 0 to 1.
        instructions: instructions of the bytecode, with those of library functions that the line calls. Exact.
        in_library: of these, those in library functions.
    """

    file: str
    line: int
    text: str
    executed: int
    active: int
    possible: int
    utilisation: float
    time: float
    share: float
    instructions: int
    in_library: int


class Profile:
    """What each line of a source did in one call; see `Module.profile`.

    It is a sequence of `ProfileLine`, by file and line; `str()` shows a table with the source.

    Attributes:
        lines: the same as a list.
        function: the name of the function that was called.
        result: what the call returned.
        width: lanes of the gang.
        seconds: what the profiled call took, by the clock.
        instructions: instructions of the bytecode, all in all.
        samples: how many of them were timed.
    """

    def __init__(
        self,
        lines: list[ProfileLine],
        sources: Mapping[str, Sequence[str]],
        elements: tuple[Any, Any],
        facts: Mapping[str, Any],
    ) -> None:
        """Keep what was seen: `sources` are lines of files, `elements` addresses and their shares of active lanes."""
        self.lines = lines
        self.function: str = facts["function"]
        self.result: Any = facts["result"]
        self.width: int = facts["width"]
        self.seconds: float = facts["seconds"]
        self.instructions: int = facts["instructions"]
        self.samples: int = facts["samples"]
        self._arguments: list[Any] = facts["arguments"]
        self._sources = sources
        self._elements = elements

    def __len__(self) -> int:
        """Give the number of lines that were executed."""
        return len(self.lines)

    def __iter__(self) -> Iterator[ProfileLine]:
        """Go through the lines, by file and number."""
        return iter(self.lines)

    def __getitem__(self, line: int) -> ProfileLine:
        """Give what a line did, by its number; of several files, the first that has such a line."""
        for row in self.lines:
            if row.line == line:
                return row
        executed = ", ".join(str(row.line) for row in self.lines[:20]) + (" …" if len(self.lines) > 20 else "")
        raise KeyError(f"nothing was executed on line {line}; executed lines are {executed or 'none'}")

    def hottest(self, n: int = 10) -> list[ProfileLine]:
        """Give the lines that take most time, those first."""
        return sorted(self.lines, key=lambda row: (-row.time, -row.instructions))[:n]

    def least_active(self, n: int = 10) -> list[ProfileLine]:
        """Give the lines that lose most time to inactive lanes, those first: their time times the inactive part."""
        lost = [(row.time * (1 - row.utilisation), row) for row in self.lines if row.active < row.possible]
        return [row for _, row in sorted(lost, key=lambda pair: -pair[0])[:n]]

    def to_dict(self) -> dict[str, Any]:
        """Give everything but the result as dicts, lists, numbers and strings, for JSON."""
        rows = [row._asdict() for row in self.lines]
        for row in rows:
            row["utilisation"] = None if math.isnan(row["utilisation"]) else row["utilisation"]
        return {
            "function": self.function,
            "width": self.width,
            "seconds": self.seconds,
            "instructions": self.instructions,
            "samples": self.samples,
            "lines": rows,
        }

    def _shown(self) -> Iterator[tuple[str, list[tuple[int, str, ProfileLine | None]]]]:
        """Go through files, each with the lines to be shown: those that were executed and what stands between them."""
        for file in dict.fromkeys(row.file for row in self.lines):
            of_line = {row.line: row for row in self.lines if row.file == file}
            source = self._sources.get(file, ())
            shown: list[tuple[int, str, ProfileLine | None]] = []
            last = None
            for number in sorted(of_line):
                if last is not None and number - last <= _LONGEST_GAP:
                    between = range(last + 1, number)
                    shown += [(n, source[n - 1] if n <= len(source) else "", None) for n in between]
                elif last is not None:
                    shown.append((0, "", None))
                shown.append((number, of_line[number].text, of_line[number]))
                last = number
            yield file, shown

    def _facts(self) -> str:
        return (
            f"{self.function}(): {self.instructions:,} instructions in {_seconds(self.seconds)} on the interpreter, "
            f"width {self.width}"
        )

    def __str__(self) -> str:
        """Show a table with the source."""
        out = [self._facts(), "   time        times    active lanes       busy   line"]
        for file, shown in self._shown():
            if len({row.file for row in self.lines}) > 1:
                out.append(file)
            for number, text, row in shown:
                if number == 0:
                    out.append(f"{'…':>56}")
                    continue
                cells = f"{'':47}" if row is None else _cells(row)
                out.append(f"{cells}  {number:>5}  {text.rstrip()}".rstrip())
        if not self.lines:
            out.append("nothing was executed")
        return "\n".join(out)

    def __repr__(self) -> str:
        """Tell the function and the hottest line."""
        hottest = self.hottest(1)
        most = f"; {hottest[0].share:.0%} of the time on line {hottest[0].line}" if hottest else ""
        return f"<profile of {self.function}(): {len(self.lines)} lines{most}>"

    def _repr_html_(self) -> str:
        return _html.profile(self._facts(), list(self._shown()))

    def lane_activity(self, array: Any = None) -> Any:
        """Give for each element of an array how busy the lanes were that computed it, as an array of the same shape.

        It is the part of lanes that were active, from 0 to 1, over all instructions that led to what was stored there
        (since the same store was executed last), and nan where nothing was stored.

        Args:
            array: the array that the call has written to, as it was passed; without it, the result of the call, or the
                only argument that it has written to.

        Raises:
            ValueError: the call has not written to it; or it is to be chosen, and there is none or several.
        """
        if array is None:
            array = self._written()
        array = np.asarray(array)
        activity = self._activity(array)
        if np.isnan(activity).all():
            raise ValueError(f"{self.function}() has stored nothing in this array, so it is not known what computed it")
        return activity

    def _activity(self, array: Any) -> Any:
        addresses, shares = self._elements
        places = np.zeros((), np.int64) + array.__array_interface__["data"][0]
        for length, stride in zip(array.shape, array.strides):
            places = places[..., None] + np.arange(length) * stride
        at = np.searchsorted(addresses, places.astype(np.uint64))
        found = np.full(array.shape, np.nan)
        if len(addresses):
            at = np.minimum(at, len(addresses) - 1)
            is_there = addresses[at] == places.astype(np.uint64)
            found[is_there] = shares[at][is_there]
        return found

    def _written(self) -> Any:
        if isinstance(self.result, np.ndarray) and self.result.size:
            return self.result
        arrays = [value for value in self._arguments if isinstance(value, np.ndarray) and value.size]
        written = [value for value in arrays if not np.isnan(self._activity(value)).all()]
        if len(written) != 1:
            what = "nothing was stored in an array" if not written else f"{len(written)} arrays were written to"
            raise ValueError(f"{self.function}(): {what}; say which array is meant: plot_divergence(array)")
        return written[0]

    def plot_divergence(self, array: Any = None, *, image: Any = None, ax: Any = None) -> Any:
        """Draw how busy the lanes were over the picture that they computed (with matplotlib).

        Red is where few lanes of the gang were active for most of the time; where all were, nothing is drawn over the
        picture, which is grey (or has colours of its own).

        Args:
            array: the array that the call has written to, of two dimensions (or one: a strip; or three, of which
                the last are colours); without it, the result of the call, or the only argument that it has written to.
            image: what to draw it over, of the same height and width; without it, the array.
            ax: the axes of matplotlib to draw in; without it, new ones.

        Returns:
            The axes.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: the array has no two dimensions, or the call has stored nothing in it.
        """
        pyplot, colors = _matplotlib()
        chosen = np.asarray(self._written() if array is None else array)
        activity = self.lane_activity(chosen)
        picture = chosen if image is None else np.asarray(image)
        if activity.ndim == 3 and activity.shape[2] <= 4:
            activity = np.nanmean(activity, axis=2) if not np.isnan(activity).all() else activity[..., 0]
        if activity.ndim == 1:
            activity, picture = activity[None, :], picture.reshape(1, -1) if picture.ndim == 1 else picture
        if activity.ndim != 2:
            raise ValueError(
                f"a picture has two dimensions, but the array has {chosen.ndim}: its shape is {chosen.shape}"
            )
        if picture.shape[:2] != activity.shape:
            raise ValueError(f"`image` must have the shape {activity.shape} of the array, not {picture.shape[:2]}")
        if ax is None:
            ax = pyplot.subplots(layout="constrained")[1]
        aspect = "auto" if activity.shape[0] == 1 else "equal"
        shown = _shades(picture)
        # From dark grey to light grey: on black colours are hard to see, and white would look like one of them.
        low, high = (np.nanmin(shown), np.nanmax(shown)) if np.isfinite(shown).any() else (0, 1)
        span = high - low or 1
        least, most = low - 0.6 * span, high + 0.4 * span
        ax.imshow(shown, cmap="gray", vmin=least, vmax=most, interpolation="nearest", aspect=aspect)
        # From clear, where all lanes are busy, to opaque red.
        fade = colors.LinearSegmentedColormap.from_list(
            "lanes", [(0.85, 0.05, 0.05, 0.9), (1.0, 0.6, 0.1, 0.45), (1, 1, 1, 0)]
        )
        drawn = ax.imshow(activity, cmap=fade, vmin=0, vmax=1, interpolation="nearest", aspect=aspect)
        bar = ax.figure.colorbar(drawn, ax=ax, label="active lanes of the gang (100%: the picture in grey, as it is)")
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        bar.ax.set_facecolor("0.5")
        mean = float(np.nanmean(activity))
        ax.set_title(f"{self.function}(): {mean:.0%} of the lanes busy on average")
        if activity.shape[0] == 1:
            ax.set_yticks([])
        return ax


# Lines that were not executed are shown where no more of them stand between two that were.
_LONGEST_GAP = 8


def _cells(row: ProfileLine) -> str:
    if not row.possible:
        return f"{row.share:>7.1%} {'':>12} {'':>15} {'':>10}"
    return f"{row.share:>7.1%} {row.executed:>12,} {row.active:>15,} {row.utilisation:>10.1%}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def _shades(picture: Any) -> Any:
    """Give a picture that imshow takes: numbers, or colours."""
    if picture.ndim == 3 and picture.shape[2] in (3, 4):
        return np.clip(picture, 0, 1) if picture.dtype.kind == "f" else picture
    if picture.ndim == 3:
        picture = picture[..., 0]
    return picture.astype(float)


def _matplotlib() -> tuple[Any, Any]:
    try:
        from matplotlib import colors, pyplot
    except ImportError as error:
        raise ImportError(
            "pictures are drawn with matplotlib, which is not installed: pip install matplotlib"
        ) from error
    return pyplot, colors


def _row(data: Sequence[Any]) -> ProfileLine:
    file, line, text, executed, active, possible, time, share, instructions, in_library = data
    utilisation = active / possible if possible else math.nan
    return ProfileLine(file, line, text, executed, active, possible, utilisation, time, share, instructions, in_library)


def _profile(lines: list[Any], sources: Mapping[str, str], elements: tuple[Any, Any], **facts: Any) -> Profile:
    """Make a profile of what the native half has seen."""
    texts = {file: text.splitlines() for file, text in sources.items()}
    return Profile([_row(line) for line in lines], texts, elements, facts)


def _of_kernel(seen: Profile, name: str, places: Sequence[Any]) -> Profile:
    """Make the profile of a kernel, by lines of Python, of that of its SPMD text.

    A line of Python has been executed as often as the most frequent of the lines that it has become.
    """
    merged: dict[tuple[str, int], ProfileLine] = {}
    for row in seen.lines:
        place = places[row.line - 1] if 0 < row.line <= len(places) else None
        if place is not None:
            row = row._replace(file=place.file, line=place.number, text=place.text.rstrip("\n"))
        key = (row.file, row.line)
        known = merged.get(key)
        if known is not None:
            most = row if row.executed > known.executed else known
            row = most._replace(
                time=known.time + row.time,
                share=known.share + row.share,
                instructions=known.instructions + row.instructions,
                in_library=known.in_library + row.in_library,
            )
        merged[key] = row
    lines = [merged[key] for key in sorted(merged)]
    facts = {**{k: getattr(seen, k) for k in _FACTS}, "function": name, "arguments": seen._arguments}
    return Profile(lines, _python_sources(lines), seen._elements, facts)


_FACTS = ("result", "width", "seconds", "instructions", "samples")


def _python_sources(lines: Sequence[ProfileLine]) -> dict[str, list[str]]:
    import linecache

    return {file: [text.rstrip("\n") for text in linecache.getlines(file)] for file in {row.file for row in lines}}


# Tasks.


class TaskRun(NamedTuple):
    """A time during which a thread ran a task. One that waits for tasks of its own is set aside: it has several.

    Attributes:
        function: the name of the task's function.
        launch: the number of the launch, from 0, in the order in which they happened.
        task: the index of the task in its launch.
        thread: the number of the thread, from 0, in the order in which they began to work.
        begin: when it began, in seconds since the call began.
        end: when it ended, likewise.
        finished: whether the task was over then, rather than waiting for others.
    """

    function: str
    launch: int
    task: int
    thread: int
    begin: float
    end: float
    finished: bool


class Timeline:
    """The tasks of one call on their threads; see `Module.timeline`.

    It is a sequence of `TaskRun`, in the order in which they began.

    Attributes:
        tasks: the same as a list.
        function: the name of the function that was called.
        result: what the call returned.
        seconds: what the call took, by the clock.
        threads: how many threads ran tasks.
        left_out: how many stretches are missing, because there were more than a million.
    """

    def __init__(self, tasks: list[TaskRun], facts: Mapping[str, Any]) -> None:
        """Keep what was recorded."""
        self.tasks = tasks
        self.function: str = facts["function"]
        self.result: Any = facts["result"]
        self.seconds: float = facts["seconds"]
        self.left_out: int = facts["left_out"]
        self.threads = len(facts["callers"])
        self._callers: list[bool] = facts["callers"]
        self._most_threads: int = facts["most_threads"]

    def __len__(self) -> int:
        """Give the number of stretches."""
        return len(self.tasks)

    def __iter__(self) -> Iterator[TaskRun]:
        """Go through them, in the order in which they began."""
        return iter(self.tasks)

    def __getitem__(self, at: int) -> TaskRun:
        """Give one of them."""
        return self.tasks[at]

    def busy(self) -> list[float]:
        """Give for each thread the part of the call's time during which it ran tasks, from 0 to 1."""
        busy = [0.0] * self.threads
        for run in self.tasks:
            busy[run.thread] += run.end - run.begin
        return [time / self.seconds if self.seconds else 0.0 for time in busy]

    def to_dict(self) -> dict[str, Any]:
        """Give everything but the result as dicts, lists, numbers and strings, for JSON."""
        return {
            "function": self.function,
            "seconds": self.seconds,
            "threads": self.threads,
            "left_out": self.left_out,
            "tasks": [run._asdict() for run in self.tasks],
        }

    def __repr__(self) -> str:
        """Tell how many tasks ran on how many threads."""
        n = sum(run.finished for run in self.tasks)
        plural = "s" * (self.threads != 1)
        return (
            f"<timeline of {self.function}(): {n} tasks on {self.threads} thread{plural} in {_seconds(self.seconds)}>"
        )

    def __str__(self) -> str:
        """Show a line for each thread."""
        out = [repr(self)[1:-1]]
        for thread, share in enumerate(self.busy()):
            own = [run for run in self.tasks if run.thread == thread]
            who = " (the caller)" if self._callers[thread] else ""
            longest = max(own, key=lambda run: run.end - run.begin)
            out.append(
                f"  thread {thread}{who}: {len(own)} pieces, busy {share:.0%} of the time, "
                f"longest {_seconds(longest.end - longest.begin)} (task {longest.task})"
            )
        return "\n".join(out)

    def _repr_html_(self) -> str:
        who = [f"thread {k}" + (" (the caller)" if own else "") for k, own in enumerate(self._callers)]
        return _html.timeline(repr(self)[1:-1], self.tasks, [*zip(who, self.busy())], self.seconds)

    def plot_timeline(self, *, ax: Any = None) -> Any:
        """Draw which task ran on which thread from when to when (with matplotlib).

        Launches have different colours; tasks that follow one another on a thread are dark and light in turn.

        Args:
            ax: the axes of matplotlib to draw in; without it, new ones.

        Returns:
            The axes.

        Raises:
            ImportError: matplotlib is not installed.
            ValueError: the call has launched no tasks.
        """
        pyplot, _ = _matplotlib()
        if not self.tasks:
            raise ValueError(f"{self.function}() has launched no tasks, so there is nothing to draw")
        if ax is None:
            ax = pyplot.subplots(figsize=(9, 1.4 + 0.5 * self.threads), layout="constrained")[1]
        # Milliseconds if there are few of them.
        unit, scale = ("s", 1.0) if self.seconds >= 1 else ("ms", 1e3)
        palette = pyplot.get_cmap("tab10")
        # What follows one another on a thread differs in brightness, so that short tasks can be told apart.
        shades: dict[TaskRun, int] = {}
        for thread in range(self.threads):
            shades.update((run, k % 2) for k, run in enumerate(run for run in self.tasks if run.thread == thread))
        for launch in dict.fromkeys(run.launch for run in self.tasks):
            own = [run for run in self.tasks if run.launch == launch]
            for shade in (0, 1):
                part = [run for run in own if shades[run] == shade]
                if part:
                    label = f"{own[0].function}, launch {launch}" if shade == shades[own[0]] else None
                    lengths = [(run.end - run.begin) * scale for run in part]
                    starts = [run.begin * scale for run in part]
                    rows = [run.thread for run in part]
                    color = palette(launch % 10)
                    ax.barh(rows, lengths, left=starts, height=0.8, color=color, alpha=1 - 0.45 * shade, label=label)
        if len(self.tasks) <= _MOST_LABELS:
            for run in self.tasks:
                # As wide as its number.
                if run.end - run.begin > (0.01 + 0.01 * len(str(run.task))) * self.seconds:
                    middle = (run.begin + run.end) / 2 * scale
                    color = "black" if shades[run] else "white"
                    ax.text(middle, run.thread, str(run.task), ha="center", va="center", color=color, fontsize=8)
        ax.set_yticks(range(self.threads))
        ax.set_yticklabels([f"thread {k}" + (" (caller)" if own else "") for k, own in enumerate(self._callers)])
        ax.invert_yaxis()
        ax.set_xlim(0, self.seconds * scale)
        ax.set_xlabel(f"time since the call began [{unit}]\nbars are tasks, dark and light in turn, with their indices")
        busy = sum(self.busy()) / self.threads
        ax.set_title(
            f"{self.function}(): {sum(r.finished for r in self.tasks)} tasks, threads busy {busy:.0%} of the time"
        )
        if len({run.launch for run in self.tasks}) <= _MOST_LEGEND:
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False, fontsize=8)
        return ax


# More tasks have no room for their numbers, and more launches none in the legend.
_MOST_LABELS = 400
_MOST_LEGEND = 12


def _timeline(rows: list[Any], **facts: Any) -> Timeline:
    """Make a timeline of what the native half has recorded."""
    return Timeline([TaskRun(*row) for row in rows], facts)
