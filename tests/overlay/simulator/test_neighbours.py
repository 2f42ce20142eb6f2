"""Random graphs of neighbours are connected, go both ways, and keep their bounds."""

from itertools import pairwise

import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED, numbers
from overlay.simulator.errors import OverlayError
from overlay.simulator.neighbours import NeighbourGraph, random_graph


def rows(graph: NeighbourGraph) -> list[list[int]]:
    offsets, ends = numbers(graph.offsets), numbers(graph.ends)
    return [ends[first:last] for first, last in pairwise(offsets)]


@pytest.mark.parametrize("nodes", [12, 300])
def test_links_go_both_ways_and_nobody_has_too_many(nodes: int) -> None:
    graph = random_graph(nodes, mean=8, most=10, seed=3)
    found = rows(graph)
    assert all(len(set(row)) == len(row) <= 10 and node not in row for node, row in enumerate(found))
    assert sum(map(len, found)) == pytest.approx(8 * nodes, rel=0.02)
    owners = [node for node, row in enumerate(found) for _ in row]
    ends, back = numbers(graph.ends), numbers(graph.back)
    assert all(owners[back[link]] == ends[link] and ends[back[link]] == owners[link] for link in range(len(ends)))


def test_everybody_can_be_reached() -> None:
    found = rows(random_graph(200, mean=2, most=4, seed=1))
    reached, waiting = {0}, [0]
    while waiting:
        new = set(found[waiting.pop()]) - reached
        reached |= new
        waiting += new
    assert len(reached) == 200


def test_a_seed_gives_the_same_graph_compiled_and_interpreted_and_another_seed_another_one() -> None:
    """OV-1, OV-2."""
    one, same = (random_graph(60, mean=6, most=8, seed=9, execution=each) for each in (COMPILED, INTERPRETED))
    assert [numbers(each) for each in one] == [numbers(each) for each in same]
    assert numbers(one.ends) != numbers(random_graph(60, mean=6, most=8, seed=10).ends)


@pytest.mark.parametrize(("nodes", "mean", "most"), [(2, 2, 2), (100, 1, 5), (100, 8, 7), (10, 8, 10)])
def test_a_graph_that_cannot_be_is_refused(nodes: int, mean: int, most: int) -> None:
    with pytest.raises(OverlayError, match="cannot have"):
        random_graph(nodes, mean=mean, most=most, seed=1)
