"""The rule to beat, and that it is beaten."""

import numpy as np
import pytest

from analytics.planning.errors import PlanError
from analytics.planning.instance import instance
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.cuckoo import cuckoo
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from tests.support.generated import drawn
from tests.support.instances import fractions, small


def test_topics_with_most_events_and_followers_are_served_as_far_as_they_fit() -> None:
    """Work 6, 8, 5 and 1: within 10 the 8, and then the 1, as neither 6 nor 5 fits."""
    found = instance(np.array([0, 1, 0, 1, 0, 1]), np.array([0, 0, 1, 1, 2, 3]), np.array([3, 4, 5, 1]))
    solution = cuckoo(found, 1, 10, "b3m")
    assert (solution.topics.tolist(), solution.cost, solution.value) == ([1, 3], 9, 2)


def test_the_value_is_what_brute_force_says() -> None:
    for seed in range(100):
        found, threshold, capacity = small(seed)
        solution = cuckoo(found, threshold, capacity, "fb3m")
        assert solution.value == pytest.approx(sum(fractions(found, threshold, solution.topics.tolist())))
        assert solution.cost <= capacity


def test_at_equal_capacity_the_greedy_choices_satisfy_more() -> None:
    """WA-30 (thesis 6.1.2)."""
    workload = drawn("spotify", 0.01, 2)
    found = instance(workload.subscriber, workload.topic, workload.events)
    for percent in (1, 10, 50):
        capacity = int(found.cost.sum()) * percent // 100
        for threshold in (27, 276, 2763):
            assert greedy_b3m(found, threshold, capacity).value > cuckoo(found, threshold, capacity, "b3m").value
            assert greedy_fb3m(found, threshold, capacity).value > cuckoo(found, threshold, capacity, "fb3m").value


def test_a_problem_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(PlanError, match="threshold is 0"):
        cuckoo(instance(np.array([0]), np.array([0]), np.array([1])), 0, 1, "b3m")
