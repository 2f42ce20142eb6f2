"""Covers: inequalities that hold for whatever is served."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.covers import Covers, covers
from analytics.planning.satisfaction.solution import Metric
from tests.support.instances import fractions, instances


def _of(threshold: int, events: list[int], metric: Metric) -> list[tuple[list[int], float]]:
    """Returns the covers of one subscriber of all topics: which topics, and the lack."""
    everything = instance(np.zeros(len(events), np.int64), np.arange(len(events)), np.array(events))
    return _listed(covers(everything, threshold, metric), 0)


def _listed(found: Covers, subscriber: int) -> list[tuple[list[int], float]]:
    numbers = range(found.firsts[subscriber], found.firsts[subscriber + 1])
    return [(found.topics[found.begins[each] : found.ends[each]].tolist(), float(found.lacks[each])) for each in numbers]


@given(instances(), st.integers(1, 25))
@settings(max_examples=60)
def test_nobody_is_satisfied_further_than_his_covers_allow(found: Instance, threshold: int) -> None:
    """WA-18: what the relaxation rests on, for all choices of topics, by either metric."""
    events, many = found.events.tolist(), np.flatnonzero(found.topics_of.lengths > 1)
    b3m, fb3m = covers(found, threshold, "b3m"), covers(found, threshold, "fb3m")
    for served in product([0, 1], repeat=len(events)):
        parts = fractions(found, threshold, [topic for topic, taken in enumerate(served) if taken])
        for row, subscriber in enumerate(many):
            for made, part in ((b3m, float(parts[subscriber] == 1)), (fb3m, parts[subscriber])):
                allowed = [sum(min(1, events[topic] / lack) * served[topic] for topic in of) for of, lack in _listed(made, row)]
                assert part <= min(allowed) + 1e-12


def test_parts_have_one_cover_of_all_topics() -> None:
    assert _of(10, [9, 5, 5], "fb3m") == [([0, 1, 2], 10)]


def test_a_topic_that_cannot_be_done_without_is_a_cover_by_itself() -> None:
    """Without 9 there are 10 of 11; then 2 are lacking, and either of the others has them."""
    assert _of(11, [5, 9, 5], "b3m") == [([1], 1), ([0, 2], 2)]
    assert _of(19, [5, 9, 5], "b3m") == [([1], 1), ([0], 1), ([2], 1)]


def test_where_the_smallest_are_too_few_one_of_the_others_is_needed() -> None:
    """Of 10, 5 and 1 give 6 at most: without 9 and the other 5, that is not enough."""
    assert _of(10, [5, 9, 5, 1], "b3m") == [([1, 0, 2, 3], 10), ([1, 0], 1)]


def test_with_those_that_cannot_be_done_without_the_others_need_less() -> None:
    """20 have to be there; then 4 are lacking, and 2 and 1 are not enough."""
    assert _of(24, [3, 20, 2, 1, 4], "b3m") == [([1], 1), ([4, 0, 2, 3], 4), ([4, 0], 1)]


def test_where_any_topic_suffices_there_is_nothing_more_to_say() -> None:
    assert _of(5, [7, 6], "b3m") == [([0, 1], 5)]


def test_whoever_follows_one_topic_only_is_counted_there() -> None:
    found = covers(instance(np.array([0, 1, 2, 2]), np.array([1, 1, 0, 1]), np.array([3, 4])), 2, "b3m")
    assert found.alone.tolist() == [0, 2]
    assert len(found.firsts) == 2
