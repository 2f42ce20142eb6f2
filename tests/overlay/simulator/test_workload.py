"""Pairs of node and topic, both ways round, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.simulator.errors import OverlayError
from overlay.simulator.workload import workload
from tests.support.even_workload import even_workload


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1), st.randoms())
def test_both_ways_have_the_pairs_in_order(pairs: set[tuple[int, int]], random: Any) -> None:
    shuffled = sorted(pairs)
    random.shuffle(shuffled)
    found = workload(*np.array(shuffled).T, nodes=10, topics=10)
    assert found.topics_of.lists() == [sorted(t for v, t in pairs if v == node) for node in range(10)]
    assert found.subscribers_of.lists() == [sorted(v for v, t in pairs if t == topic) for topic in range(10)]
    assert (found.nodes, found.topics, found.pairs) == (10, 10, len(pairs))


def test_without_numbers_the_highest_ones_tell() -> None:
    found = workload(np.array([4, 1], np.int32), np.array([2, 6], np.uint8))
    assert (found.nodes, found.topics) == (5, 7)


@pytest.mark.parametrize(
    ("node", "topic", "counts", "message"),
    [
        ([], [], {}, "no node subscribes to a topic; give at least one pair"),
        ([0, 1], [0], {}, "there are 2 nodes and 1 topics"),
        ([0, 0], [0, 1], {}, "there is one node; an overlay needs two or more"),
        ([0, -1], [0, 1], {}, "pair 2: node -1 is not from 0 to"),
        ([0, 1, 2], [0, 1, 1], {"nodes": 2}, "pair 3: node 2 is not from 0 to 1; number the nodes from 0"),
        ([0, 1], [5, 1], {"topics": 5}, "pair 1: topic 5 is not from 0 to 4; number the topics from 0"),
        ([3, 1, 0, 1], [2, 7, 1, 7], {}, "pair 4: node 1 subscribes to topic 7 a second time; give each pair once"),
        ([0.5, 1], [0, 1], {}, "nodes must be a list of whole numbers, not of float64"),
        ([[0, 1]], [[0, 1]], {}, "nodes must be a list of whole numbers, not of int64 in 2 dimensions"),
        ([0, 1 << 40], [0, 1], {}, "pair 2: node 1099511627776 is not from 0 to"),
    ],
)
def test_pairs_that_make_no_sense_are_named(node: list[Any], topic: list[Any], counts: dict[str, int], message: str) -> None:
    with pytest.raises(OverlayError, match=message):
        workload(np.array(node), np.array(topic), **counts)


def test_the_workload_at_hand_gives_everybody_their_topics() -> None:
    found = even_workload(nodes=30, topics=12, each=5, seed=1)
    assert set(found.topics_of.lengths.tolist()) == {5}
    again, other = even_workload(nodes=30, topics=12, each=5, seed=1), even_workload(nodes=30, topics=12, each=5, seed=2)
    assert found.topics_of.lists() == again.topics_of.lists() != other.topics_of.lists()
