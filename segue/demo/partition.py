"""The partition of a weighted graph into parts of nearly equal size, with little weight between them. Nodes are integers.

Strategy: grow the parts from random nodes, then improve them by single moves in the manner of Fiduccia and Mattheyses
(1982): always the best legal move, even where it loses, each node once a pass, and at the end of the pass back to the best
state seen. Restarts find a good first partition; kicks (a whole neighbourhood moves, then improve again) take it out of
local optima. The best partition is NP-hard to find; this one is good, quick and always the same for a seed.
"""

import random
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import ceil, floor
from typing import Final, TypeAlias

# graph[node] lists (neighbour, weight > 0); each edge stands at both of its ends with the same weight.
Graph: TypeAlias = Sequence[Sequence[tuple[int, int]]]

RESTARTS: Final = 6
KICKS: Final = 24
KICKED_SHARE: Final = 1 / 60
# A pass is given up when it has not improved for so many moves.
PATIENCE_MOVES: Final = 100


def partition(graph: Graph, parts: int, tolerance: float, rng: random.Random) -> list[int]:
    """Returns the part (0 to `parts` - 1) of each node of `graph`.

    Every size lies within the fraction `tolerance` of len(graph) / parts, or is that number rounded up or down. `rng` breaks ties.
    """
    if parts == 1 or not graph:
        return [0] * len(graph)
    best = min((_improved(graph, _grown(graph, parts, rng), parts, tolerance) for _ in range(RESTARTS)), key=_Cut.weight)
    for _ in range(KICKS):
        kicked = _improved(graph, _kicked(graph, best.part_of, parts, rng), parts, tolerance)
        best = min(best, kicked, key=_Cut.weight)
    return best.part_of


class _Cut:
    """A partition that is being improved: for each node its part and its weight to each part, and the sizes of the parts."""

    def __init__(self, graph: Graph, part_of: list[int], parts: int, tolerance: float) -> None:
        mean = len(graph) / parts
        self.graph = graph
        self.part_of = part_of
        self.size = [part_of.count(part) for part in range(parts)]
        self.smallest = min(floor(mean), ceil(mean * (1 - tolerance)))
        self.largest = max(ceil(mean), floor(mean * (1 + tolerance)))
        self.weight_to = [[0] * parts for _ in graph]
        for node, edges in enumerate(graph):
            for neighbour, weight in edges:
                self.weight_to[node][part_of[neighbour]] += weight

    def weight(self) -> int:
        """Returns the weight between parts, each edge counted at both ends."""
        return sum(sum(to) - to[part] for to, part in zip(self.weight_to, self.part_of, strict=True))

    def is_balanced(self) -> bool:
        return self.smallest <= min(self.size) and max(self.size) <= self.largest

    def boundary(self) -> list[int]:
        """Returns the nodes with an edge into another part."""
        return [node for node, to in enumerate(self.weight_to) if sum(to) > to[self.part_of[node]]]

    def best_move(self, node: int) -> tuple[int, int, int] | None:
        """Returns (loss, node, target) of the node's best move; None if it has none.

        A size may overstep its bound by one. Without that no node could move where all sizes have to be equal.
        """
        home = self.part_of[node]
        if self.size[home] < self.smallest:
            return None
        to = self.weight_to[node]
        target, most = home, -1
        for part, weight in enumerate(to):
            if weight > most and part != home and self.size[part] <= self.largest:
                target, most = part, weight
        return (to[home] - most, node, target) if target != home else None

    def move(self, node: int, target: int) -> None:
        home = self.part_of[node]
        self.part_of[node] = target
        self.size[home] -= 1
        self.size[target] += 1
        for neighbour, weight in self.graph[node]:
            to = self.weight_to[neighbour]
            to[home] -= weight
            to[target] += weight


def _improved(graph: Graph, part_of: list[int], parts: int, tolerance: float) -> _Cut:
    """Returns the balanced partition `part_of` after passes of moves, until a pass brings nothing more."""
    cut = _Cut(graph, part_of, parts, tolerance)
    while _pass_gain(cut) > 0:
        pass
    return cut


def _pass_gain(cut: _Cut) -> int:
    """Makes one pass: moves nodes, and goes back to the best balanced state on the way. Returns what was gained."""
    heap = [move for node in cut.boundary() if (move := cut.best_move(node))]
    heapify(heap)
    moved: dict[int, int] = {}
    gain = best_gain = best_length = 0
    while heap and len(moved) - best_length < PATIENCE_MOVES:
        planned = heappop(heap)
        node = planned[1]
        actual = None if node in moved else cut.best_move(node)
        if actual is None:
            continue
        if actual > planned:
            # Entries of the heap are not removed when they become wrong. This one was wrong, and goes in again.
            heappush(heap, actual)
            continue
        loss, _, target = actual
        moved[node] = cut.part_of[node]
        cut.move(node, target)
        gain -= loss
        if gain > best_gain and cut.is_balanced():
            best_gain, best_length = gain, len(moved)
        for neighbour, _ in cut.graph[node]:
            # The neighbours at the target lose more by leaving now. Their entries are put right when they come up.
            if cut.part_of[neighbour] != target and neighbour not in moved and (move := cut.best_move(neighbour)):
                heappush(heap, move)
    for node, home in reversed(list(moved.items())[best_length:]):
        cut.move(node, home)
    return best_gain


def _grown(graph: Graph, parts: int, rng: random.Random) -> list[int]:
    """Returns a partition of equal sizes. The parts take turns: each takes the free node with the most weight to it, or a random one."""
    part_of = [-1] * len(graph)
    weight_to = [[0] * parts for _ in graph]
    wanted: list[list[tuple[int, int]]] = [[] for _ in range(parts)]
    strangers = rng.sample(range(len(graph)), len(graph))
    for turn in range(len(graph)):
        part = turn % parts
        node = _first_free(wanted[part], strangers, part_of)
        part_of[node] = part
        for neighbour, weight in graph[node]:
            weight_to[neighbour][part] += weight
            heappush(wanted[part], (-weight_to[neighbour][part], neighbour))
    return part_of


def _first_free(wanted: list[tuple[int, int]], strangers: list[int], part_of: Sequence[int]) -> int:
    while wanted:
        _, node = heappop(wanted)
        if part_of[node] < 0:
            return node
    while part_of[strangers[-1]] >= 0:
        strangers.pop()
    return strangers.pop()


def _kicked(graph: Graph, part_of: Sequence[int], parts: int, rng: random.Random) -> list[int]:
    """Returns the partition after the neighbourhood of a random node changed places with random nodes of another part."""
    node = rng.randrange(len(graph))
    target = (part_of[node] + rng.randrange(1, parts)) % parts
    leaving = [near for near in _neighbourhood(graph, node, ceil(len(graph) * KICKED_SHARE)) if part_of[near] != target]
    residents = [resident for resident, part in enumerate(part_of) if part == target]
    kicked = list(part_of)
    for near, resident in zip(leaving, rng.sample(residents, min(len(leaving), len(residents))), strict=False):
        kicked[near], kicked[resident] = target, part_of[near]
    return kicked


def _neighbourhood(graph: Graph, node: int, most: int) -> list[int]:
    """Returns up to `most` nodes that can be reached from `node`, the nearest first."""
    near = {node: None}
    queue = [node]
    for reached in queue:
        fresh = [neighbour for neighbour, _ in graph[reached] if neighbour not in near]
        near.update(dict.fromkeys(fresh))
        queue += fresh
        if len(queue) >= most:
            break
    return queue[:most]
