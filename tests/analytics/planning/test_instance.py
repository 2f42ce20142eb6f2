"""Instances: the pairs both ways, without what cannot satisfy or be satisfied."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import instance

# Users 7, 8, 9 and topics 1, 3, 4; topic 4 is silent and user 9 follows nothing else.
SUBSCRIBER = np.array([7, 8, 7, 8, 9])
TOPIC = np.array([1, 1, 3, 4, 4])
EVENTS = np.array([0, 5, 0, 2, 0])
PAIRS = st.sets(st.tuples(st.sampled_from([-(1 << 40), 0, 1, 5, 6, 1 << 40]), st.integers(0, 5)), max_size=24).flatmap(
    lambda pairs: st.permutations(sorted(pairs))
)


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


@settings(max_examples=60)
@given(pairs=PAIRS, events=st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_the_order_and_the_size_of_numbers_do_not_matter(pairs: list[tuple[int, int]], events: list[int]) -> None:
    kept = sorted(pair for pair in pairs if events[pair[1]])
    subscribers, topics = sorted({who for who, _ in kept}), sorted({topic for _, topic in kept})
    wanted = [[topics.index(topic) for who, topic in kept if who == each] for each in subscribers]

    found = instance(np.array([who for who, _ in pairs], np.int64), np.array([topic for _, topic in pairs], np.int64), np.array(events))
    assert found.subscriber_ids.tolist() == subscribers
    assert found.topic_ids.tolist() == topics
    assert found.topics_of.lists() == wanted
    assert found.popularity.tolist() == [sum(topic == each for _, topic in kept) for each in topics]


def test_lists_rise_however_long_they_are() -> None:
    topic = np.random.default_rng(1).permutation(500)
    found = instance(np.repeat([3, 1], [300, 200]), topic, np.ones(500))
    assert found.topics_of.lists() == [sorted(topic[300:].tolist()), sorted(topic[:300].tolist())]


@pytest.mark.parametrize("length", [2, 200])
def test_a_pair_that_is_there_twice_is_told_wherever_it_stands(length: int) -> None:
    topic = np.append(np.arange(length), 0)
    with pytest.raises(PlanError, match="twice"):
        instance(np.zeros(length + 1, np.int32), topic, np.ones(length))


def test_what_it_is_made_from_stays_as_it_was() -> None:
    subscriber, topic = SUBSCRIBER.astype(np.int32), TOPIC.astype(np.int32)
    for column in (subscriber, topic):
        column.setflags(write=False)
    assert instance(subscriber, topic, EVENTS).topics_of.lists() == [[0, 1], [0]]
    assert (subscriber.tolist(), topic.tolist()) == (SUBSCRIBER.tolist(), TOPIC.tolist())


@pytest.mark.parametrize(
    ("subscriber", "topic", "events", "says"),
    [
        ([0, 1, 2], [0, 0], [1], "there are 3 subscribers and 2 topics"),
        ([0], [0.7], [1], "topics must be a list of whole numbers, not float64"),
        ([0.2], [0], [1], "subscribers must be a list of whole numbers, not float64"),
        (["a"], [0], [1], "subscribers must be a list of whole numbers, not <U1"),
        ([[0]], [0], [1], "subscribers must be a list of whole numbers, not 2 dimensions of int64"),
        ([0], [0], [[1]], "numbers of events must be a list of numbers, not 2 dimensions of int64"),
        ([0], [0], ["a"], "numbers of events must be a list of numbers, not <U1"),
        ([0], [0], [float("nan")], "there is NaN or infinity"),
        ([0], [0], [1.5], "must be whole"),
        ([0], [5], [1], "numbered from 0 to 0"),
        ([(1 << 64) - 1], [0], [1], "below 2\\^63"),
    ],
)
def test_what_are_no_pairs_and_counts_is_refused(subscriber: list[Any], topic: list[Any], events: list[Any], says: str) -> None:
    with pytest.raises(PlanError, match=says):
        instance(np.array(subscriber), np.array(topic), np.array(events))
