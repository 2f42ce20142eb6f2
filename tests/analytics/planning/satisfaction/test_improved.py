"""The improved choice: within the capacity, never worse than the greedy one, and near to the best possible."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.filling import filled, pruned
from analytics.planning.satisfaction.improved import improved
from analytics.planning.satisfaction.relaxed import relaxed
from analytics.planning.satisfaction.solution import Metric, evaluate
from tests.support.generated import drawn
from tests.support.instances import instances, optimum

METRICS: tuple[Metric, ...] = ("b3m", "fb3m")


@cache
def _spotify() -> Instance:
    found = drawn("spotify", 0.01, seed=5)
    return instance(found.subscriber, found.topic, found.events)


@given(instances(), st.integers(1, 20), st.floats(0, 1))
@settings(max_examples=30)
def test_it_fits_and_is_worth_at_least_the_greedy_choice_and_at_most_the_best(found: Instance, threshold: int, share: float) -> None:
    """WA-17, for our own choice: its value is the one counted anew."""
    capacity = int(found.cost.sum() * share)
    best = optimum(found, threshold, capacity)
    for metric, greedy, most in zip(METRICS, (greedy_b3m, greedy_fb3m), best, strict=True):
        solution = improved(found, threshold, capacity, metric)
        assert solution.cost == found.cost[solution.topics].sum() <= capacity
        assert len(np.unique(solution.topics)) == len(solution.topics)
        assert solution.value == pytest.approx(getattr(evaluate(found, threshold, solution.topics), metric))
        assert greedy(found, threshold, capacity).value <= solution.value <= most + 1e-9


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("threshold", [27, 276, 2763])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1, 0.5])
def test_on_a_generated_trace_at_least_nine_tenths_of_the_bound_are_had(metric: Metric, threshold: int, share: float) -> None:
    """WA-45: the result beside its bound. The target of 0.90 at every published setting."""
    found = _spotify()
    capacity = int(found.cost.sum() * share)
    relaxation = relaxed(found, threshold, capacity, metric)
    solution = improved(found, threshold, capacity, metric, relaxation=relaxation)
    assert 0.90 * relaxation.bound <= solution.value <= relaxation.bound
    assert solution.cost <= capacity


@pytest.mark.parametrize("metric", METRICS)
def test_more_is_had_than_by_the_greedy_choice(metric: Metric) -> None:
    found = _spotify()
    capacity = int(found.cost.sum()) // 20
    greedy = (greedy_b3m if metric == "b3m" else greedy_fb3m)(found, 276, capacity)
    assert improved(found, 276, capacity, metric).value > greedy.value


def test_the_same_problem_has_the_same_solution() -> None:
    found = _spotify()
    capacity = int(found.cost.sum()) // 10
    one, other = (improved(found, 276, capacity, "b3m") for _ in range(2))
    assert np.array_equal(one.topics, other.topics)


def test_whom_no_topic_alone_satisfied_at_first_is_satisfied_by_the_last_that_he_lacks() -> None:
    """The second topic adds nobody until the first is there, which has a subscriber of its own; it has its turn in another round."""
    found = instance(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([2, 1]))
    solution = filled(found, 3, 5, "b3m", np.empty(0, np.int64))
    assert solution.topics.tolist() == [0, 1]
    assert solution.value == 2


def test_filling_begins_with_what_it_is_given() -> None:
    found = instance(np.array([0, 1, 1]), np.array([0, 1, 2]), np.array([1, 5, 1]))
    solution = filled(found, 5, 6, "fb3m", np.array([1]))
    assert solution.topics.tolist() == [1, 0]
    assert (solution.cost, solution.value) == (6, 2.0)


def test_topics_that_add_less_to_the_others_than_the_price_are_dropped() -> None:
    """The last topic gives its subscriber nothing that the first has not; the second satisfies one for 5."""
    found = instance(np.array([0, 1, 0]), np.array([0, 1, 2]), np.array([4, 5, 4]))
    assert pruned(found, 4, "b3m", np.array([0, 1, 2]), 0.0).tolist() == [0, 1]
    assert pruned(found, 4, "fb3m", np.array([0, 1, 2]), 0.2).tolist() == [0]


@pytest.mark.parametrize("metric", METRICS)
def test_without_capacity_nothing_is_served(metric: Metric) -> None:
    found = instance(np.array([0, 1]), np.array([0, 1]), np.array([3, 4]))
    solution = improved(found, 9, 0, metric)
    assert (len(solution.topics), solution.cost, solution.value) == (0, 0, 0.0)


@pytest.mark.parametrize("metric", METRICS)
def test_of_an_empty_instance_nothing_is_served(metric: Metric) -> None:
    nobody = instance(np.empty(0, np.int64), np.empty(0, np.int64), np.array([3]))
    assert improved(nobody, 1, 5, metric).value == 0


def test_what_cannot_be_meant_is_refused() -> None:
    found = instance(np.array([0]), np.array([0]), np.array([3]))
    with pytest.raises(PlanError, match="threshold is 0"):
        improved(found, 0, 1, "b3m")
