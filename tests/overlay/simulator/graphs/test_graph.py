"""A graph of subscriptions: numbers from 0, each pair once, and the workload that it becomes."""

from itertools import pairwise

import numpy as np
import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs.graph import SubscriptionGraph, graph_of, neighbours


def made(*pairs: tuple[int, int], is_social: bool = True) -> SubscriptionGraph:
    subscriber, topic = np.array(pairs).reshape(-1, 2).T
    return graph_of(subscriber, topic, is_social=is_social)


def listed(graph: SubscriptionGraph) -> list[tuple[int, int]]:
    return list(zip(graph.subscriber.tolist(), graph.topic.tolist(), strict=True))


def test_users_and_their_topics_have_the_same_numbers_in_a_social_graph() -> None:
    graph = made((30, 10), (10, 20), (30, 10))
    assert (graph.users, graph.topics, graph.pairs) == (3, 3, 2)
    assert listed(graph) == [(0, 1), (2, 0)]


def test_topics_that_are_no_users_have_numbers_of_their_own() -> None:
    graph = made((30, 10), (10, 20), (30, 20), is_social=False)
    assert (graph.users, graph.topics) == (2, 2)
    assert listed(graph) == [(0, 1), (1, 0), (1, 1)]


def test_nodes_subscribe_to_something_and_topics_have_a_subscriber() -> None:
    found = made((1, 3), (2, 3), (2, 1)).workload()
    assert (found.nodes, found.topics, found.pairs) == (2, 2, 3)
    assert found.topics_of.lists() == [[1], [0, 1]]


def test_degrees_are_counted_on_both_sides() -> None:
    graph = made((0, 1), (0, 2), (2, 1))
    assert graph.topics_of().tolist() == [2, 0, 1]
    assert graph.subscribers_of().tolist() == [0, 2, 1]


def test_neighbours_are_both_ends_of_a_pair_once_each() -> None:
    starts, joined = neighbours(made((0, 1), (1, 0), (2, 1)))
    assert [joined[first:last].tolist() for first, last in pairwise(starts)] == [[1], [0, 2], [1]]


def test_users_are_joined_with_topics_where_these_are_no_users() -> None:
    starts, joined = neighbours(made((5, 7), (6, 7), (6, 8), is_social=False))
    assert [joined[first:last].tolist() for first, last in pairwise(starts)] == [[2], [2, 3], [0, 1], [1]]


def test_a_restricted_social_graph_has_the_pairs_among_those_kept() -> None:
    graph = made((0, 1), (1, 2), (2, 3), (3, 0), (0, 2)).restricted(np.array([True, True, True, False]))
    assert listed(graph) == [(0, 1), (0, 2), (1, 2)]


def test_users_keep_all_their_topics_where_these_are_no_users() -> None:
    graph = made((0, 7), (1, 8), (1, 7), (2, 9), is_social=False).restricted(np.array([False, True, True]))
    assert listed(graph) == [(0, 0), (0, 1), (1, 2)]


def test_nothing_is_no_graph() -> None:
    with pytest.raises(OverlayError, match="nobody subscribes to anything"):
        made()


def test_one_subscriber_is_no_workload() -> None:
    with pytest.raises(OverlayError, match="one node"):
        made((0, 1), (0, 2)).workload()
