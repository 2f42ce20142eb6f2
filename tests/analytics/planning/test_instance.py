"""Instances: the pairs both ways, without what cannot satisfy or be satisfied."""

import numpy as np

from analytics.planning.instance import instance

# Users 7, 8, 9 and topics 1, 3, 4; topic 4 is silent and user 9 follows nothing else.
SUBSCRIBER = np.array([7, 8, 7, 8, 9])
TOPIC = np.array([1, 1, 3, 4, 4])
EVENTS = np.array([0, 5, 0, 2, 0])


def test_pairs_can_be_read_both_ways() -> None:
    found = instance(SUBSCRIBER, TOPIC, EVENTS)
    assert found.subscribers_of.lists() == [[0, 1], [0]]
    assert found.topics_of.lists() == [[0, 1], [0]]
    assert len(found.topics_of) == 2


def test_topics_without_events_and_whoever_has_no_other_are_left_out() -> None:
    """Spec C1, C7 no. 4: nobody is satisfied by nothing."""
    found = instance(SUBSCRIBER, TOPIC, EVENTS)
    assert found.topic_ids.tolist() == [1, 3]
    assert found.subscriber_ids.tolist() == [7, 8]
    assert found.events.tolist() == [5, 2]


def test_the_cost_of_a_topic_is_its_events_for_each_subscriber() -> None:
    assert instance(SUBSCRIBER, TOPIC, EVENTS).cost.tolist() == [10, 2]


def test_who_gets_less_than_the_threshold_is_satisfied_by_all_he_follows() -> None:
    assert instance(SUBSCRIBER, TOPIC, EVENTS).thresholds(6).tolist() == [6, 5]


def test_an_instance_may_be_empty() -> None:
    none = np.empty(0, np.int64)
    found = instance(none, none, none)
    assert (len(found.topics_of), len(found.subscribers_of), found.thresholds(1).tolist()) == (0, 0, [])
