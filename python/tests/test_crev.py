"""The programs of examples/crev agree with references of another kind: numpy, dictionaries, other algorithms."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import pytest
import spmdvm

FOLDER = Path(__file__).parents[2] / "examples" / "crev"
WIDTHS = [4, 8, 16, 32, 64]
ALL = ["seq", "par", "launch", "crev"]


def function(program: str, name: str, width: int):
    return getattr(spmdvm.compile_file(FOLDER / f"{program}.ispc", width=width), name)


def graph(nodes: int, edges: int, seed: int) -> list[list[int]]:
    """Give the neighbours of each node of an undirected graph, in order."""
    pairs = np.random.default_rng(seed).integers(0, nodes, (edges, 2))
    neighbours: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs.tolist():
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    return [sorted(n) for n in neighbours]


def rows(neighbours: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    first = np.cumsum([0] + [len(n) for n in neighbours]).astype(np.int32)
    return first, np.array([to for n in neighbours for to in n], np.int32)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("variant", ["seq", "naive", "par", "launch", "crev"])
def test_book_filter(variant: str, width: int) -> None:
    lines, length = 37, 50
    book = np.random.default_rng(1).integers(0, 2, (lines, length)).astype(np.int8)
    pattern = np.array([1, 0, 1, 1, 0], np.int8)
    out = np.zeros_like(book)
    function("book_filter", f"filter_{variant}", width)(book.ravel(), lines, length, pattern, 5, out.ravel())
    windows = np.lib.stride_tricks.sliding_window_view(book, 5, axis=1)
    matches = (windows == pattern).all(axis=2).any(axis=1)
    assert 0 < matches.sum() < lines
    np.testing.assert_array_equal(out, book * matches[:, None])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("variant", ALL)
def test_string_matching(variant: str, width: int) -> None:
    text = "".join(np.random.default_rng(2).choice(list("ab"), 700))
    pattern = "abaab"
    found = np.zeros(len(text), np.int8)
    characters = [np.frombuffer(s.encode(), np.int8) for s in (text, pattern)]
    search = function("string_matching", f"search_{variant}", width)
    search(characters[0], len(text), characters[1], len(pattern), np.zeros(len(pattern), np.int32), found)
    assert found.tolist() == [int(text.startswith(pattern, i)) for i in range(len(text))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("variant", ALL)
def test_bellman_ford(variant: str, width: int) -> None:
    neighbours = graph(60, 120, 3)
    first, target = rows(neighbours)
    weight = np.random.default_rng(4).integers(1, 50, target.size).astype(np.int32)
    distance, changed, following = (np.zeros(60, np.int32) for _ in range(3))
    function("bellman_ford", f"paths_{variant}", width)(60, first, target, weight, distance, changed, following)
    assert distance.tolist() == dijkstra(first, target, weight)


def dijkstra(first: np.ndarray, target: np.ndarray, weight: np.ndarray) -> list[int]:
    distance = [0x3FFFFFFF] * (first.size - 1)
    queue = [(0, 0)]
    while queue:
        length, node = heapq.heappop(queue)
        if length < distance[node]:
            distance[node] = length
            for edge in range(first[node], first[node + 1]):
                heapq.heappush(queue, (length + int(weight[edge]), int(target[edge])))
    return distance


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("variant", ALL)
def test_depth_first_search(variant: str, width: int) -> None:
    # Tasks keep no order, which only a tree does not show.
    neighbours = tree(85) if variant == "launch" else graph(60, 120, 5)
    first, target = rows(neighbours)
    nodes = len(neighbours)
    parent, depth = np.full(nodes, -1, np.int32), np.zeros(nodes, np.int32)
    stack = np.zeros(2 * target.size + 2, np.int32)
    function("depth_first_search", f"search_{variant}", width)(first, target, parent, depth, stack)
    expected_parent, expected_depth = {0: 0}, {0: 0}

    def visit(node: int) -> None:
        for to in neighbours[node]:
            if to not in expected_parent:
                expected_parent[to], expected_depth[to] = node, expected_depth[node] + 1
                visit(to)

    visit(0)
    assert parent.tolist() == [expected_parent.get(node, -1) for node in range(nodes)]
    assert depth.tolist() == [expected_depth.get(node, 0) for node in range(nodes)]


def tree(nodes: int) -> list[list[int]]:
    """Give the neighbours in a tree in which each node has four children."""
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for node in range(1, nodes):
        neighbours[node].append((node - 1) // 4)
        neighbours[(node - 1) // 4].append(node)
    return neighbours


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("variant", ALL)
def test_leader_election(variant: str, width: int) -> None:
    neighbours = graph(100, 60, 6)
    first, target = rows(neighbours)
    leader, news, following = (np.zeros(100, np.int32) for _ in range(3))
    function("leader_election", f"elect_{variant}", width)(100, first, target, leader, news, following)
    expected: dict[int, int] = {}
    for node in range(100):
        queue = [node]
        while queue:
            reached = queue.pop()
            if reached not in expected:
                expected[reached] = node
                queue += neighbours[reached]
    assert leader.tolist() == [expected[node] for node in range(100)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("variant", ["seq", "launch", "crev"])
@pytest.mark.parametrize("program", ["quicksort", "mergesort"])
@pytest.mark.parametrize("largest", [10, 100_000])
def test_sorts(program: str, variant: str, width: int, largest: int) -> None:
    numbers = np.random.default_rng(7).integers(0, largest, 500).astype(np.int32)
    result = numbers.copy()
    function(program, f"{program}_{variant}", width)(result, result.size, np.zeros_like(result))
    np.testing.assert_array_equal(result, np.sort(numbers))
