"""Partition: balanced and repeatable for any graph, near the optimum where the optimum is known."""

import random
from itertools import combinations
from math import ceil, floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.demo.partition import partition

Edges = dict[tuple[int, int], int]


def graph_of(nodes: int, edges: Edges) -> list[list[tuple[int, int]]]:
    graph: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for (one, other), weight in edges.items():
        graph[one].append((other, weight))
        graph[other].append((one, weight))
    return graph


def cut_weight(edges: Edges, part_of: list[int]) -> int:
    return sum(weight for (one, other), weight in edges.items() if part_of[one] != part_of[other])


@st.composite
def weighted_graphs(draw: st.DrawFn) -> tuple[int, Edges]:
    nodes = draw(st.integers(0, 25))
    pairs = list(combinations(range(nodes), 2))
    edges = draw(st.dictionaries(st.sampled_from(pairs), st.integers(0, 50), max_size=60)) if pairs else {}
    return nodes, edges


@settings(max_examples=60)
@given(weighted_graphs(), st.integers(1, 6), st.integers(0, 2**32))
def test_every_partition_is_balanced_and_the_same_for_a_seed(graph: tuple[int, Edges], parts: int, seed: int) -> None:
    nodes, edges = graph
    part_of = partition(graph_of(nodes, edges), parts, 0.05, random.Random(seed))
    assert len(part_of) == nodes
    assert all(floor(nodes / parts) <= part_of.count(part) <= ceil(nodes / parts) for part in range(parts))
    assert part_of == partition(graph_of(nodes, edges), parts, 0.05, random.Random(seed))


@pytest.mark.parametrize("seed", range(10))
def test_small_graphs_are_cut_as_well_as_the_best_of_all_halves(seed: int) -> None:
    rng = random.Random(seed)
    edges = {pair: rng.randrange(1, 50) for pair in combinations(range(12), 2) if rng.random() < 0.4}
    halves = ([int(node in half) for node in range(12)] for half in combinations(range(12), 6))
    assert cut_weight(edges, partition(graph_of(12, edges), 2, 0.0, rng)) == min(cut_weight(edges, half) for half in halves)


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_planted_communities_are_found(parts: int) -> None:
    rng = random.Random(parts)
    nodes = 40 * parts
    edges = {(a, b): 3 for a, b in combinations(range(nodes), 2) if rng.random() < (0.3 if a % parts == b % parts else 0.01)}
    part_of = partition(graph_of(nodes, edges), parts, 0.05, rng)
    assert len({(node % parts, part_of[node]) for node in range(nodes)}) == parts


def test_sizes_stay_within_the_tolerance_where_it_allows_more_than_rounding() -> None:
    rng = random.Random(8)
    edges = {(rng.randrange(node), node): rng.randrange(1, 9) for node in range(1, 300)}
    part_of = partition(graph_of(300, edges), 3, 0.1, rng)
    assert all(90 <= part_of.count(part) <= 110 for part in range(3))
