"""The shape of graphs: triangles counted as one would by hand."""

from itertools import combinations
from math import log10

import numpy as np
import pytest

from overlay.simulator.draws import Draws, Stream
from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs.graph import SubscriptionGraph, graph_of
from overlay.simulator.graphs.shape import clustering, count_triangles


def random_graph(seed: int, users: int = 30, pairs: int = 120) -> SubscriptionGraph:
    drawn = (Draws(seed, Stream.SAMPLE).uniform(2 * pairs) * users).astype(np.int64)
    one, other = drawn[:pairs], drawn[pairs:]
    kept = one != other
    return graph_of(one[kept], other[kept], is_social=True)


def by_hand(graph: SubscriptionGraph) -> tuple[list[float], int, int]:
    """Returns the share of joined pairs of neighbours of each user, and the number of joined and of all such pairs."""
    around: list[set[int]] = [set() for _ in range(graph.users)]
    for one, other in zip(graph.subscriber.tolist(), graph.topic.tolist(), strict=True):
        around[one].add(other)
        around[other].add(one)
    shares, joined, all_pairs = [], 0, 0
    for each in around:
        pairs = list(combinations(sorted(each), 2))
        closed = sum(b in around[a] for a, b in pairs)
        shares.append(closed / len(pairs) if pairs else 0.0)
        joined += closed
        all_pairs += len(pairs)
    return shares, joined, all_pairs


@pytest.mark.parametrize("seed", range(4))
def test_clustering_equals_that_by_hand(seed: int) -> None:
    graph = random_graph(seed)
    shares, joined, pairs = by_hand(graph)
    found = clustering(graph)
    assert found.mean == pytest.approx(np.mean(shares))
    assert found.transitivity == pytest.approx(joined / pairs)
    assert joined > 0


def test_the_curve_by_degree_has_a_point_for_each_tenth_of_a_decade() -> None:
    graph = random_graph(5)
    shares, _, _ = by_hand(graph)
    found = clustering(graph)
    same: dict[int, list[tuple[int, float]]] = {}
    for degree, share in zip(found.degrees.tolist(), shares, strict=True):
        if degree >= 2:
            same.setdefault(round(10 * log10(degree)), []).append((degree, share))
    degrees, means = found.by_degree()
    assert len(same) > 5
    assert degrees.tolist() == [pytest.approx(np.mean([degree for degree, _ in same[place]])) for place in sorted(same)]
    assert means.tolist() == [pytest.approx(np.mean([share for _, share in same[place]])) for place in sorted(same)]


def test_interpreted_it_counts_the_same() -> None:
    triangles = [0, 0, 0, 0]
    count_triangles([0, 3, 5, 6, 6], [1, 2, 3, 2, 3, 3], [-1] * 4, triangles)
    assert triangles == [3, 3, 3, 3]


def test_topics_that_are_no_users_make_no_triangles() -> None:
    with pytest.raises(OverlayError, match="users and topics are not of one sort"):
        clustering(graph_of(np.array([0, 1]), np.array([5, 5]), is_social=False))
