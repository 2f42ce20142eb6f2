"""Subscriptions that change, beside a plain dictionary."""

import random

import pytest

from overlay.simulator.compiled import COMPILED, INTERPRETED, Execution, numbers
from overlay.simulator.errors import OverlayError
from overlay.simulator.subscriptions import TopicSubscriptions
from tests.support.even_workload import even_workload


@pytest.mark.parametrize("execution", [COMPILED, INTERPRETED])
def test_nodes_and_topics_agree_with_a_dictionary_through_many_changes(execution: Execution) -> None:
    """Lists that grow move, and all of them move when there is no more room."""
    workload = even_workload(nodes=30, topics=20, each=3, seed=1)
    found, drawn = TopicSubscriptions(workload, execution), random.Random(2)
    expected = dict(enumerate(workload.topics_of.lists()))
    places = {len(found.topics)}
    for _ in range(200):
        node = drawn.randrange(30)
        expected[node] = sorted(drawn.sample(range(20), drawn.randrange(12)))
        found.change(node, drawn.sample(expected[node], len(expected[node])))
        places.add(len(found.topics))
        assert found.of_node(node) == expected[node]
    assert {node: found.of_node(node) for node in range(30)} == expected
    for topic in range(20):
        assert found.members(topic) == [node for node in range(30) if topic in expected[node]]
    assert len(places) > 1
    assert max(places) <= 8 * 30 * 12


def test_members_who_are_away_are_no_live_ones() -> None:
    found = TopicSubscriptions(even_workload(nodes=6, topics=1, each=1, seed=1), COMPILED)
    assert found.live_members(0, [1, 0, 1, 1, 0, 1]) == [0, 2, 3, 5]
    assert numbers(found.by_topic().starts) == [0, 6]


def test_who_may_publish_and_what_is_no_topic() -> None:
    found = TopicSubscriptions(even_workload(nodes=6, topics=2, each=1, seed=1), COMPILED)
    found.change(0, [1])
    found.check_publisher(1, 0, [1] * 6)
    for topic, alive in ((0, [1] * 6), (1, [0] * 6)):
        with pytest.raises(OverlayError, match=f"no live subscriber of topic {topic}: a publisher subscribes to its topic first"):
            found.check_publisher(topic, 0, alive)
    with pytest.raises(OverlayError, match="node 3 is to have topics from 1 to 2, and there are 2"):
        found.change(3, [2, 1])
