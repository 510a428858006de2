"""Where a program spends its time and its lanes, on which threads its tasks ran, and how far it is.

    python examples/python/profile.py

A picture of the Mandelbrot set: rows with the source, the lanes of the gang over the picture (profile.png), and the
tasks that compute it on their threads (timeline.png). The pictures need matplotlib; they go to the folder `out`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import spmdvm


@spmdvm.kernel
def mandelbrot(x, y, limit: spmdvm.uniform[int]):
    """Count the rounds until a point has left the circle."""
    re, im, n = 0.0, 0.0, 0
    while n < limit and re * re + im * im <= 4:
        re, im = re * re - im * im + x, 2 * re * im + y
        n += 1
    return n


TASKS = """
task void row(uniform int out[], uniform int width, uniform int height, uniform int limit) {
    uniform float y = -1.2f + 2.4f * taskIndex / height;
    foreach (i = 0 ... width) {
        float x = -2 + 2.8f * i / width, re = 0, im = 0;
        int n = 0;
        while (n < limit && re * re + im * im <= 4) {
            float next = re * re - im * im + x;
            im = 2 * re * im + y;
            re = next;
            ++n;
        }
        out[taskIndex * width + i] = n;
    }
}
export void image(uniform int out[], uniform int width, uniform int height, uniform int limit) {
    launch[height] row(out, width, height, limit);
}
"""


def main() -> None:
    """Profile, record and draw."""
    x, y = np.linspace(-2, 0.8, 240), np.linspace(-1.2, 1.2, 160)[:, None]

    print("1. What each line did: counts are exact, times are from samples of the interpreter")
    profile = mandelbrot.profile(x, y, 60)
    print(profile)
    body = max(profile, key=lambda row: row.active if "n += 1" in row.text else -1)
    assert body.active == profile.result.sum(), "the body of the loop runs as often as the result says"

    print("\n2. The lines that lose most time to idle lanes")
    for row in profile.least_active(2):
        print(f"   line {row.line}: {row.utilisation:.0%} of the lanes busy, {row.share:.0%} of the time")

    print("\n3. The same work as tasks, on their threads")
    module = spmdvm.compile(TASKS)
    image = np.zeros((480, 720), np.int32)
    timeline = module.timeline("image", image, 720, 480, 400)
    print(timeline)
    assert sum(run.finished for run in timeline) == 480

    print("\n4. How far a call is: `progress=True` draws a bar, a function is told")
    told: list[tuple[int, int | None]] = []
    mandelbrot(
        np.linspace(-2, 0.8, 1500), np.linspace(-1.2, 1.2, 1000)[:, None], 200, progress=lambda *at: told.append(at)
    )
    assert told[-1] == (1_500_000, 1_500_000)
    print(f"   told {len(told)} times, first {told[0][0]} and last {told[-1][0]} of {told[-1][1]} elements")

    draw(profile, timeline)


def draw(profile: spmdvm.Profile, timeline: spmdvm.Timeline) -> None:
    """Draw both, if matplotlib is there."""
    try:
        import matplotlib
    except ImportError:
        print("\nno pictures: they need matplotlib (pip install matplotlib)")
        return
    matplotlib.use("Agg")
    folder = Path("out")
    folder.mkdir(exist_ok=True)
    profile.plot_divergence().figure.savefig(folder / "profile.png", dpi=120)
    timeline.plot_timeline().figure.savefig(folder / "timeline.png", dpi=120)
    print(f"\nwrote {folder / 'profile.png'} and {folder / 'timeline.png'}")


if __name__ == "__main__":
    main()
