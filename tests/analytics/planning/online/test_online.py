"""The online variant: as good as fresh solutions over a day, with fewer moves, and right whatever changes."""

from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.online.comparison import OnlineComparison
from analytics.planning.online.online import OnlineSolver
from analytics.planning.online.repair import complete, give_up, state
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.solution import Metric, evaluate
from bench.changing_hours import Follow, hours
from tests.support.generated import drawn
from tests.support.instances import instances

METRICS: tuple[Metric, ...] = get_args(Metric)
metrics = st.sampled_from(METRICS)
GREEDY = {"b3m": greedy_b3m, "fb3m": greedy_fb3m}


@pytest.fixture(scope="module", params=[1, 2])
def day(request: pytest.FixtureRequest) -> list[Instance]:
    workload = drawn("spotify", 1 / 100, seed=request.param)
    return list(hours(Follow(workload.profile, workload.subscriber, workload.topic, workload.events)))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("share", "part_of_moves"), [(0.01, 0.9), (0.02, 0.9), (0.1, 0.7), (0.5, 0.9)])
def test_over_a_day_it_is_within_five_percent_of_fresh_solutions_with_fewer_moves(
    day: list[Instance], metric: Metric, share: float, part_of_moves: float
) -> None:
    """WA-46: in each of 24 hours, whether capacity is short or not; moves are reported for each."""
    capacity = int(share * sum(int(each.cost.sum()) for each in day) / len(day))
    comparison = OnlineComparison(metric, threshold=20)
    first, *rest = (comparison.next(each, capacity) for each in day)
    assert len(rest) == 23
    assert first.anew
    assert (first.value, first.moves) == (first.fresh, first.fresh_moves)
    assert min(each.value / each.fresh for each in rest) >= 0.95
    assert sum(each.moves for each in rest) < part_of_moves * sum(each.fresh_moves for each in rest)


@given(st.lists(st.tuples(instances(), st.floats(0, 1.2)), min_size=2, max_size=5), st.integers(1, 20), metrics)
@settings(max_examples=80)
def test_whatever_changes_the_cost_is_within_the_capacity_and_the_value_is_right(
    course: list[tuple[Instance, float]], threshold: int, metric: Metric
) -> None:
    """WA-46, WA-17: after arbitrary changes; no topic is chosen twice, and what is remembered is what was chosen."""
    online = OnlineSolver(metric, threshold)
    for found, share in course:
        capacity = int(found.cost.sum() * share)
        solution = online.next(found, capacity)
        assert solution.cost == found.cost[solution.topics].sum() <= capacity
        assert solution.value == pytest.approx(getattr(evaluate(found, threshold, solution.topics), metric), abs=1e-9)
        assert len(set(solution.topics.tolist())) == len(solution.topics)
        served = np.intersect1d(online.served_ids, found.topic_ids)
        assert served.tolist() == sorted(found.topic_ids[solution.topics].tolist())


@given(instances(), st.integers(1, 20), st.floats(0, 1), metrics)
@settings(max_examples=40)
def test_the_first_solution_is_fresh_and_stays_while_nothing_changes(found: Instance, threshold: int, share: float, metric: Metric) -> None:
    """Spec C7: of two solutions of equal value the old one is kept; it may only get better."""
    capacity, online = int(found.cost.sum() * share), OnlineSolver(metric, threshold)
    solutions = [online.next(found, capacity) for _ in range(4)]
    assert solutions[0].topics.tolist() == GREEDY[metric](found, threshold, capacity).topics.tolist()
    for before, after in pairwise(solutions):
        same = set(before.topics.tolist()) == set(after.topics.tolist())
        assert after.value > before.value or (same and after.value == pytest.approx(before.value))


@given(instances(), st.integers(1, 20), st.floats(0, 1), metrics)
@settings(max_examples=60)
def test_what_completes_a_choice_is_worth_most_for_its_cost_of_all_that_fits(
    found: Instance, threshold: int, share: float, metric: Metric
) -> None:
    """By the definition, with the weights; for B3M that holds at the beginning of each round, here of the only one."""
    capacity, weights = int(found.cost.sum() * share), np.where(np.arange(len(found.events)) % 2, 1.5, 1.0)
    served: list[int] = []
    made = state(found, found.thresholds(threshold), np.zeros(len(weights), np.bool_), metric == "fb3m")
    topics, used = complete(made, weights, 0, capacity, rounds=1)
    assert used == found.cost[topics].sum() <= capacity
    for topic in topics if metric == "fb3m" else topics[:1]:
        gains = [gain(found, threshold, served, each, metric) * weights[each] for each in range(len(weights))]
        fits = (found.cost[served].sum() + found.cost <= capacity) & ~np.isin(np.arange(len(weights)), served)
        assert gains[topic] == pytest.approx(np.max(gains, where=fits, initial=0), abs=1e-9)
        served.append(int(topic))


def gain(found: Instance, threshold: int, served: list[int], topic: int, metric: Metric) -> float:
    """Returns what `topic` adds for its cost: to each subscriber, the part that it is of what they lack (B3M) or need (F-B3M)."""
    needs, added = found.thresholds(threshold), 0.0
    for subscriber, topics in enumerate(found.topics_of.lists()):
        lacks = needs[subscriber] - sum(found.events[each] for each in topics if each in served)
        if topic in topics and lacks > 0:
            added += min(found.events[topic], lacks) / (lacks if metric == "b3m" else needs[subscriber])
    return float(added / found.cost[topic])


@given(instances(), st.integers(1, 20))
@settings(max_examples=40)
def test_what_is_given_up_of_fb3m_first_is_worth_least_for_its_cost(found: Instance, threshold: int) -> None:
    """By the definition."""
    every, cost = np.arange(len(found.events)), int(found.cost.sum())
    made = state(found, found.thresholds(threshold), np.ones(len(every), np.bool_), fractional=True)
    used = give_up(made, cost, cost - 1)
    worth = evaluate(found, threshold, every).fb3m
    losses = [(worth - evaluate(found, threshold, np.delete(every, topic)).fb3m) / found.cost[topic] for topic in every]
    (gone,) = np.flatnonzero(~made.served)
    assert losses[gone] == pytest.approx(min(losses), abs=1e-9)
    assert used == cost - found.cost[gone]


def test_a_workload_without_any_topic_of_before_is_solved_anew() -> None:
    online = OnlineSolver("b3m", 5)
    online.next(instance(np.array([0, 1]), np.array([0, 1]), np.array([3, 4])), 10)
    solution = online.next(instance(np.array([0, 1]), np.array([7, 8]), np.array([0] * 7 + [3, 4])), 3)
    assert (solution.topics.tolist(), online.anew) == ([0], True)
    assert online.served_ids.tolist() == [0, 1, 7]


def test_where_little_comes_back_a_fresh_solution_is_tried() -> None:
    """What was served has become loud, and much better topics are there: the old choice is no guide."""
    follows = np.arange(10), np.arange(10)
    online = OnlineSolver("fb3m", 10)
    online.next(instance(*follows, np.array([1] * 5 + [10] * 5)), 5)
    solution = online.next(instance(*follows, np.array([10] * 5 + [1] * 5)), 5)
    assert solution.topics.tolist() == [5, 6, 7, 8, 9]


def test_at_capacity_0_nothing_is_served_and_an_empty_instance_has_nothing_to_serve() -> None:
    one = instance(np.array([0]), np.array([0]), np.array([3]))
    none = instance(np.array([], int), np.array([], int), np.array([], int))
    online = OnlineSolver("fb3m", 5)
    assert [online.next(each, capacity).value for each, capacity in ((one, 3), (one, 0), (one, 3), (none, 3), (one, 3))] == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("metric", METRICS)
def test_a_capacity_beyond_64_bits_serves_all(metric: Metric) -> None:
    """At first, and from what was served before."""
    online, found = OnlineSolver(metric, 1 << 60), instance(np.array([0, 1]), np.array([0, 1]), np.array([3, 4]))
    values = [online.next(found, capacity).value for capacity in (1 << 80, 4, 1 << 80)]
    assert values == [2, 1, 2]


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(PlanError, match="threshold is 0"):
        OnlineSolver("b3m", 0)
    with pytest.raises(PlanError, match="no metric 'best'"):
        OnlineSolver("best", 5)  # type: ignore[arg-type]
    for capacity in (-1, float("nan")):
        with pytest.raises(PlanError, match=f"capacity is {capacity}"):
            OnlineSolver("b3m", 5).next(instance(np.array([0]), np.array([0]), np.array([3])), capacity)  # type: ignore[arg-type]
