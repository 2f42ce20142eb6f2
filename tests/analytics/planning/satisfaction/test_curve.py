"""What each further topic brings."""

import numpy as np
import pytest

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.curve import curve
from analytics.planning.satisfaction.fb3m import greedy_by
from analytics.planning.satisfaction.solution import Metric
from tests.support.generated import drawn
from tests.support.instances import fractions, small


@pytest.fixture(scope="module")
def workload() -> Instance:
    found = drawn("spotify", 0.01, 3)
    return instance(found.subscriber, found.topic, found.events)


def test_each_point_is_what_brute_force_says_of_the_topics_so_far() -> None:
    for seed in range(60):
        found, threshold, _ = small(seed)
        topics = np.random.default_rng(seed).permutation(len(found.events))
        whole, parts = (curve(found, threshold, topics, metric) for metric in ("b3m", "fb3m"))
        for place in range(len(topics)):
            got = fractions(found, threshold, topics[: place + 1].tolist())
            assert (whole.value[place], parts.value[place]) == (got.count(1.0), pytest.approx(sum(got)))
            assert whole.used[place] == parts.used[place] == found.cost[topics[: place + 1]].sum()


@pytest.mark.parametrize("metric", ["b3m", "fb3m"])
def test_the_satisfied_never_become_fewer_and_the_last_point_is_the_solution(workload: Instance, metric: Metric) -> None:
    """WA-28 (thesis 6.5.2)."""
    capacity = int(workload.cost.sum()) // 10
    solution = greedy_b3m(workload, 276, capacity) if metric == "b3m" else greedy_by(workload, 276, capacity, "ratio").solution
    found = curve(workload, 276, solution.topics, metric)
    assert (np.diff(found.value) >= 0).all()
    assert (np.diff(found.used) > 0).all()
    assert (found.used[-1], found.value[-1]) == (solution.cost, pytest.approx(solution.value))


def test_one_run_gives_what_separate_runs_would_that_stop_earlier(workload: Instance) -> None:
    """WA-28: as long as no topic was rejected."""
    whole = greedy_b3m(workload, 276, int(workload.cost.sum()) // 10)
    found = curve(workload, 276, whole.topics, "b3m")
    for place in (0, 100, 1000):
        earlier = greedy_b3m(workload, 276, int(found.used[place]))
        assert earlier.topics.tolist() == whole.topics[: place + 1].tolist()
        assert (earlier.cost, earlier.value) == (found.used[place], found.value[place])


def test_no_topics_are_a_curve_without_points(workload: Instance) -> None:
    found = curve(workload, 1, np.empty(0, np.int64), "b3m")
    assert (len(found.used), len(found.value)) == (0, 0)


def test_a_threshold_that_cannot_be_meant_is_refused(workload: Instance) -> None:
    with pytest.raises(PlanError, match="threshold is 0"):
        curve(workload, 0, np.empty(0, np.int64), "b3m")
