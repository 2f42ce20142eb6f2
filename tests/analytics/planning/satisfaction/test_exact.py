"""Optimal solutions: found in two ways, and the same."""

import numpy as np
import pytest

from analytics.planning.errors import PlanError
from analytics.planning.instance import instance
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.exact import MOST_PAIRS, exact
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.solution import Metric
from tests.support.enumerated import enumerated
from tests.support.instances import optimum, small

METRICS: tuple[Metric, Metric] = ("b3m", "fb3m")


@pytest.mark.parametrize("metric", METRICS)
def test_the_integer_program_and_trying_all_agree_with_brute_force(metric: Metric) -> None:
    for seed in range(60):
        found, threshold, capacity = small(seed)
        best = optimum(found, threshold, capacity)[metric == "fb3m"]
        for solution in (exact(found, threshold, capacity, metric), enumerated(found, threshold, capacity, metric)):
            assert solution.value == pytest.approx(best)
            assert solution.cost == found.cost[solution.topics].sum() <= capacity


def test_no_optimum_of_sixteen_topics_surpasses_the_bounds() -> None:
    """WA-18 (thesis 6.3, 6.4), WA-19."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        subscriber, topic = np.nonzero(random.random((30, 16)) < 0.2)
        found = instance(subscriber, topic, random.integers(1, 50, 16))
        capacity, threshold = int(found.cost.sum()) // int(random.integers(2, 8)), int(random.integers(1, 90))
        limit, (whole, parts) = bounds(found, threshold, capacity), (enumerated(found, threshold, capacity, each) for each in METRICS)
        assert whole.value <= limit.b3m
        assert 0.316 * parts.value <= greedy_fb3m(found, threshold, capacity).value <= parts.value + 1e-9 <= limit.fb3m + 2e-9


@pytest.mark.parametrize("metric", METRICS)
def test_without_topics_or_without_capacity_for_any_nothing_is_served(metric: Metric) -> None:
    none = np.empty(0, np.int64)
    for found, capacity in ((instance(none, none, none), 5), (instance(np.array([0]), np.array([0]), np.array([5])), 4)):
        for solve in (exact, enumerated):
            assert solve(found, 1, capacity, metric).topics.tolist() == []


def test_more_pairs_than_the_solver_can_take_are_refused_with_what_to_take_instead() -> None:
    many = np.arange(MOST_PAIRS + 1)
    with pytest.raises(PlanError, match="there are 100,001 pairs; exact solutions are for 100,000 at most: take --algorithm improved"):
        exact(instance(many, many, many + 1), 1, 1, "b3m")


def test_needs_that_the_solver_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(PlanError, match="somebody needs 1000000 events"):
        exact(instance(np.array([0]), np.array([0]), np.array([10**6])), 10**7, 10**7, "b3m")


def test_a_problem_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(PlanError, match="threshold is 0"):
        exact(instance(np.array([0]), np.array([0]), np.array([1])), 0, 1, "b3m")
