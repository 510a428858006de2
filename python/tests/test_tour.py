"""The programs of docs/tour.md, executed as they stand there, and compared with numpy."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import spmdvm

TOUR = Path(__file__).parents[2] / "docs" / "tour.md"


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The names that the programs of the page leave behind; none knows those of another."""
    blocks = re.findall(r"^```python\n(.*?)^```$", TOUR.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    found: dict = {}
    for k, text in enumerate(blocks):
        assert len([line for line in text.splitlines() if line]) <= 26, "it is to be taken in at a glance"
        # Kernels are compiled from the lines of a file.
        path = tmp_path_factory.mktemp("tour") / f"part{k}.py"
        path.write_text(text, encoding="utf-8")
        own: dict = {"__name__": "tour"}
        exec(compile(text, str(path), "exec"), own)
        found.update(own)
    return found


def test_the_image_filter(tour: dict) -> None:
    image, want = tour["image"].astype(np.float32), tour["image"].astype(np.float32).copy()
    total = np.zeros((58, 78), np.float32)
    weight = np.zeros((58, 78), np.float32)
    for dy in range(3):
        for dx in range(3):
            neighbour = image[dy : dy + 58, dx : dx + 78]
            near = 1 / (1 + np.float32(20) * (neighbour - image[1:-1, 1:-1]) ** 2)
            total += near * neighbour
            weight += near
    want[1:-1, 1:-1] = total / weight
    np.testing.assert_allclose(tour["clean"], want, rtol=1e-5, atol=1e-6)


def test_the_price_of_an_option(tour: dict) -> None:
    prices, spread = [], 0.2 / math.sqrt(12)
    for path in range(500):
        rng, price = spmdvm.rng(1, path), 100.0
        for _ in range(12):
            price *= math.exp(0.03 / 12 - spread * spread / 2 + spread * rng.normal())
        prices.append(price)
    found = tour["payoff"](np.arange(500), 100.0, 105.0, 12)
    np.testing.assert_allclose(found, np.maximum(np.array(prices) - 105, 0), rtol=1e-9, atol=1e-9)
    # And near to what Black and Scholes found.
    d1 = (math.log(100 / 105) + 0.03 + 0.02) / 0.2
    exact = 100 * cdf(d1) - 105 * math.exp(-0.03) * cdf(d1 - 0.2)
    assert tour["value"] == pytest.approx(exact, abs=0.2)


def cdf(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def test_mandelbrot(tour: dict) -> None:
    re_, im = np.broadcast_arrays(tour["re"], tour["im"])
    x, y, n = re_.copy(), im.copy(), np.zeros(re_.shape, np.int32)
    for _ in range(100):
        inside = x * x + y * y <= 4
        n += inside
        with np.errstate(over="ignore", invalid="ignore"):
            x, y = np.where(inside, x * x - y * y + re_, x), np.where(inside, 2 * x * y + im, y)
    assert tour["picture"].dtype == np.int32
    # A rounding may decide at the edge.
    assert (tour["picture"] != n).mean() < 0.002


def test_k_means(tour: dict) -> None:
    points, centers = tour["points"], np.array([[0.0, 1.0], [3.0, 1.0], [1.0, 4.0]])
    for _ in range(10):
        distance = ((points[:, None] - centers) ** 2).sum(axis=2)
        labels = distance.argmin(axis=1)
        centers = np.array([points[labels == k].mean(axis=0) for k in range(3)])
    np.testing.assert_array_equal(tour["labels"], labels)
    np.testing.assert_allclose(tour["centers"], centers, rtol=1e-9)
    np.testing.assert_allclose(tour["centers"], tour["places"], atol=0.05)


def test_the_histogram(tour: dict) -> None:
    want, edges = np.histogram(tour["values"], 40, (-3, 3))
    # A value at an edge may round to the other side.
    near = np.abs(tour["values"][:, None] - edges).min(axis=1) < 1e-12
    assert np.abs(tour["counts"] - want).sum() <= 2 * near.sum()
    assert tour["counts"].sum() == (np.abs(tour["values"]) < 3).sum()


def test_n_body(tour: dict) -> None:
    b = tour["start"].copy()
    for _ in range(20):
        dx, dy = b["x"] - b["x"][:, None], b["y"] - b["y"][:, None]
        d2 = dx * dx + dy * dy + 1e-3
        b["vx"] += 0.01 * (b["mass"] * dx / d2**1.5).sum(axis=1)
        b["vy"] += 0.01 * (b["mass"] * dy / d2**1.5).sum(axis=1)
        b["x"] += 0.01 * b["vx"]
        b["y"] += 0.01 * b["vy"]
    for name in ("x", "y", "vx", "vy"):
        np.testing.assert_allclose(tour["bodies"][name], b[name], rtol=1e-9, atol=1e-12)
        assert not np.array_equal(tour["bodies"][name], tour["start"][name])
