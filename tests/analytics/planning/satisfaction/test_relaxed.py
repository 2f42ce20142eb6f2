"""The relaxation: valid, never above the bound of the thesis, and near to what can be had."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.relaxed import relaxed, relaxed_bound
from analytics.planning.satisfaction.solution import Metric
from tests.support.generated import drawn
from tests.support.instances import instances, optimum

METRICS: tuple[Metric, ...] = ("b3m", "fb3m")


@cache
def _spotify() -> Instance:
    found = drawn("spotify", 0.01, seed=5)
    return instance(found.subscriber, found.topic, found.events)


def _of(*topics: list[int], events: list[int]) -> Instance:
    """Subscribers with these topics."""
    pairs = [(subscriber, topic) for subscriber, each in enumerate(topics) for topic in each]
    subscriber, topic = np.array(pairs).T
    return instance(subscriber, topic, np.array(events))


@given(instances(), st.integers(1, 20), st.floats(0, 1), st.sampled_from([0, 1, 7, 60]))
@settings(max_examples=150)
def test_no_choice_of_topics_surpasses_the_relaxation(found: Instance, threshold: int, share: float, sweeps: int) -> None:
    """WA-18, for our own bound, however early it is stopped."""
    capacity = int(found.cost.sum() * share)
    for metric, best in zip(METRICS, optimum(found, threshold, capacity), strict=True):
        bound = relaxed(found, threshold, capacity, metric, sweeps=sweeps).bound
        assert best - 1e-9 <= bound <= getattr(bounds(found, threshold, capacity), metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("threshold", [27, 276, 2763])
def test_on_a_generated_trace_the_relaxation_is_nearer_than_the_bound_of_the_thesis(metric: Metric, threshold: int) -> None:
    found = _spotify()
    capacity = int(found.cost.sum()) // 10
    assert relaxed_bound(found, threshold, capacity, metric) < 0.9 * getattr(bounds(found, threshold, capacity), metric)


def test_the_bound_comes_near_to_the_best_of_its_kind() -> None:
    """HiGHS solves the same relaxation, and finds 9167.2."""
    found = _spotify()
    assert 9167 <= relaxed_bound(found, 2763, int(int(found.cost.sum()) * 0.01), "b3m") <= 9167.2 * 1.001


def test_the_shares_are_parts_of_topics_and_cost_the_capacity() -> None:
    found = _spotify()
    capacity = int(found.cost.sum()) // 10
    shares = relaxed(found, 276, capacity, "fb3m").shares
    assert shares.min() >= 0
    assert shares.max() <= 1
    assert found.cost @ shares == pytest.approx(capacity, rel=1e-4)


def test_nobody_is_satisfied_by_most_of_what_he_needs() -> None:
    """Ten people need both of their topics, with 9 events and 1. The larger one fits, and gives each 9/10, but satisfies nobody.

    The smaller one does not fit, as a hundred others follow it.
    """
    found = _of(*[[0, 1]] * 10, *[[1, 2]] * 100, events=[9, 1, 100])
    assert bounds(found, 10, 90).b3m == 9
    assert relaxed_bound(found, 10, 90, "b3m") == 0
    assert relaxed_bound(found, 10, 90, "fb3m") == pytest.approx(9, rel=1e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_topics_that_cost_more_than_the_capacity_are_worth_nothing(metric: Metric) -> None:
    found = _of([0], [0], [1], events=[3, 4])
    assert relaxed_bound(found, 9, 5, metric) == pytest.approx(1)


@pytest.mark.parametrize("metric", METRICS)
def test_without_capacity_nothing_and_with_enough_all_can_be_had(metric: Metric) -> None:
    found = _of([0, 1], [1], events=[3, 4])
    assert relaxed_bound(found, 9, 0, metric) == 0
    assert relaxed_bound(found, 9, 11, metric) == 2
    assert relaxed_bound(found, 9, 12, metric) == 2


@pytest.mark.parametrize("metric", METRICS)
def test_an_empty_instance_has_nothing_to_bound(metric: Metric) -> None:
    nobody = instance(np.empty(0, np.int64), np.empty(0, np.int64), np.array([3]))
    assert relaxed_bound(nobody, 1, 0, metric) == 0


def test_what_cannot_be_meant_is_refused() -> None:
    found = _of([0], events=[3])
    with pytest.raises(PlanError, match="threshold is 0"):
        relaxed_bound(found, 0, 1, "b3m")
    with pytest.raises(PlanError, match="capacity is -1"):
        relaxed_bound(found, 1, -1, "fb3m")
