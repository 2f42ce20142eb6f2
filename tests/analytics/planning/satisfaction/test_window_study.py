"""The hours of a trace: each solved at several capacities, and from the one before."""

from itertools import product

import numpy as np
import pytest

from analytics.planning.instance import Instance, instance
from analytics.planning.online.moves import moves, sides
from analytics.planning.online.online import OnlineSolver
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.case import METRICS
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.solution import Metric, Solution
from analytics.planning.satisfaction.window_study import WINDOW_CAPACITIES, OnlineRun, online, windowed
from analytics.planning.workload import Window
from bench.changing_hours import HOUR_MS, Follow, hours
from tests.support.generated import drawn

THRESHOLD = 20
SHARE = 0.1


@pytest.fixture(scope="module")
def found() -> list[Window]:
    """Four hours of the afternoon."""
    workload = drawn("spotify", 1 / 200, seed=1)
    follow = Follow(workload.profile, workload.subscriber, workload.topic, workload.events)
    return [Window(number * HOUR_MS, each) for number, each in enumerate(hours(follow, 4, first=12))]


def capacity(window: Window, share: float) -> int:
    return round(share * int(window.instance.cost.sum()))


def greedy(window: Window, share: float, metric: Metric) -> Solution:
    return (greedy_b3m if metric == "b3m" else greedy_fb3m)(window.instance, THRESHOLD, capacity(window, share))


def test_each_window_is_solved_at_each_share_of_its_own_full_capacity(found: list[Window]) -> None:
    """WA-45 (thesis 6.5.4): value and ratio are those of greedy and of the bound at that capacity."""
    told: list[str] = []
    runs = windowed(found, THRESHOLD, METRICS, told.append)
    assert told == ["window 1", "window 2", "window 3", "window 4"]
    for run, (window, metric, share) in zip(runs, product(found, METRICS, WINDOW_CAPACITIES), strict=True):
        value = greedy(window, share, metric).value
        limit = bounds(window.instance, THRESHOLD, capacity(window, share))
        assert (run.start_ms, run.metric, run.capacity_share, run.threshold) == (window.start_ms, metric, share, THRESHOLD)
        assert (run.topics, run.pairs) == (len(window.instance.events), len(window.instance.topics_of.values))
        assert (run.value, run.ratio) == (value, value / getattr(limit, metric))
        assert run.seconds > 0


@pytest.mark.parametrize("metric", METRICS)
def test_online_is_told_beside_fresh_solutions_with_the_moves_of_both(found: list[Window], metric: Metric) -> None:
    """WA-46: at the threshold and the share of the capacity that are asked for."""
    told: list[str] = []
    runs = online(found, THRESHOLD, (metric,), SHARE, told.append)
    assert told == [f"online: window {number}" for number in (1, 2, 3, 4)]
    solver, fresh_ids = OnlineSolver(metric, THRESHOLD), np.empty(0, np.int64)
    for run, window in zip(runs, found, strict=True):
        before, fresh_before = solver.served_ids, fresh_ids
        solution, fresh = solver.next(window.instance, capacity(window, SHARE)), greedy(window, SHARE, metric)
        fresh_ids = sides(fresh_before, window.instance, fresh)
        assert (run.start_ms, run.metric, run.anew) == (window.start_ms, metric, solver.anew)
        assert (run.value, run.fresh) == (solution.value, fresh.value)
        assert (run.moves, run.fresh_moves) == (moves(before, solver.served_ids).count, moves(fresh_before, fresh_ids).count)
        assert min(run.seconds, run.fresh_seconds) > 0


def test_both_metrics_go_through_the_same_windows(found: list[Window]) -> None:
    """Each from its own solution of before."""

    def without_times(run: OnlineRun) -> tuple[int, Metric, float, int, int]:
        return run.start_ms, run.metric, run.value, run.moves, run.fresh_moves

    both = online(found, THRESHOLD, METRICS, SHARE, lambda _: None)
    apart = [online(found, THRESHOLD, (metric,), SHARE, lambda _: None) for metric in METRICS]
    assert list(map(without_times, both)) == [without_times(run) for pair in zip(*apart, strict=True) for run in pair]


def test_topics_that_are_idle_for_an_hour_do_not_move() -> None:
    """WA-29, WA-46: nothing is decided about them, so they stay in real time."""

    def of(*events: int) -> Instance:
        return instance(np.arange(4), np.arange(4), np.array(events))

    hourly = [of(5, 5, 0, 0), of(0, 0, 5, 5), of(5, 5, 0, 0)]
    runs = online([Window(0, each) for each in hourly], 3, ("b3m",), 1.0, lambda _: None)
    assert [(run.moves, run.fresh_moves) for run in runs] == [(2, 2), (2, 2), (0, 0)]
    assert [run.anew for run in runs] == [True, True, False]
