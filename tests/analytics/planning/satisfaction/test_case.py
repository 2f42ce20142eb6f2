"""One problem, solved by name: its solution, its bounds, the way to it and what lies beyond."""

import numpy as np
import pytest

from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.case import ALGORITHMS, METRICS, SatisfactionCase, ratio
from analytics.planning.satisfaction.cuckoo import cuckoo
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.improved import improved
from analytics.planning.satisfaction.relaxed import relaxed
from analytics.planning.satisfaction.solution import Metric, Solution
from tests.support.generated import drawn

GREEDY = {"b3m": greedy_b3m, "fb3m": greedy_fb3m}
THRESHOLD = 276


@pytest.fixture(scope="module")
def workload() -> Instance:
    found = drawn("spotify", 1 / 200, seed=4)
    return instance(found.subscriber, found.topic, found.events)


@pytest.fixture(params=METRICS)
def case(request: pytest.FixtureRequest, workload: Instance) -> SatisfactionCase:
    """At a tenth of what serving all takes."""
    metric: Metric = request.param
    return SatisfactionCase(workload, THRESHOLD, int(workload.cost.sum()) // 10, metric)


def greedy(case: SatisfactionCase, capacity: int) -> Solution:
    return GREEDY[case.metric](case.instance, case.threshold, capacity)


def test_each_algorithm_is_the_one_of_that_name(case: SatisfactionCase) -> None:
    problem = case.instance, case.threshold, case.capacity, case.metric
    wanted = {"greedy": greedy(case, case.capacity), "improved": improved(*problem), "cuckoo": cuckoo(*problem)}
    for algorithm in ALGORITHMS:
        solution, seconds = case.solved(algorithm)
        assert solution.topics.tolist() == wanted[algorithm].topics.tolist()
        assert solution.value == wanted[algorithm].value
        assert seconds > 0


def test_the_time_of_our_solution_has_that_of_the_relaxation_in_it(case: SatisfactionCase) -> None:
    _, relaxing_s = case.relaxation
    assert case.solved("improved")[1] > relaxing_s


def test_the_bounds_are_that_of_the_thesis_and_one_that_is_as_tight_or_tighter(case: SatisfactionCase) -> None:
    """WA-45."""
    bound, best_bound = case.limits()
    assert bound == getattr(bounds(case.instance, case.threshold, case.capacity), case.metric)
    assert best_bound == relaxed(case.instance, case.threshold, case.capacity, case.metric).bound < bound
    assert best_bound >= case.solved("improved")[0].value


def test_a_run_is_the_solution_beside_its_limits(case: SatisfactionCase) -> None:
    """WA-45: as shares of all subscribers, and of either bound."""
    solution = greedy(case, case.capacity)
    run = case.run("greedy", solution, 1.5, (2 * solution.value, 1.25 * solution.value))
    assert (run.metric, run.threshold, run.algorithm, run.seconds) == (case.metric, THRESHOLD, "greedy", 1.5)
    assert (run.topics, run.cost, run.value) == (len(solution.topics), solution.cost, solution.value)
    assert run.share == solution.value / len(case.instance.subscriber_ids)
    assert (run.ratio, run.best_ratio) == (0.5, 0.8)


def test_the_line_ends_at_the_solution_and_never_crosses_the_bound(case: SatisfactionCase) -> None:
    solution = greedy(case, case.capacity)
    line, people, full = case.line(solution.topics), len(case.instance.subscriber_ids), int(case.instance.cost.sum())
    assert line.capacity_share[-1] == solution.cost / full
    assert line.value_share[-1] == pytest.approx(solution.value / people)
    assert line.bound_share[-1] == getattr(bounds(case.instance, THRESHOLD, solution.cost), case.metric) / people
    assert 100 <= len(line.capacity_share) == len(line.value_share) == len(line.bound_share) <= 120
    assert line.capacity_share == sorted(line.capacity_share)
    assert (np.array(line.value_share) <= np.array(line.bound_share)).all()


def test_more_is_what_greedy_gains_with_a_tenth_more_capacity(case: SatisfactionCase) -> None:
    now, then = greedy(case, case.capacity).value, greedy(case, round(1.1 * case.capacity)).value
    found = case.more(now)
    assert (found.value, found.more) == (now, then - now)
    assert found.more > 0


def test_nothing_of_nothing_is_all() -> None:
    assert (ratio(3.0, 4.0), ratio(0.0, 0.0)) == (0.75, 1.0)
