"""Consecutive windows of a trace, solved one by one (figures 6.6, 6.7), and online: each from the solution before it (WA-46)."""

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from ..online.comparison import OnlineComparison
from ..stopwatch import trial
from ..workload import Window
from .case import SatisfactionCase, ratio, warm
from .solution import Metric

WINDOW_CAPACITIES: Final = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


class WindowRun(msgspec.Struct, frozen=True, kw_only=True):
    """The greedy solution of one window (figures 6.6, 6.7)."""

    start_ms: int
    topics: int
    pairs: int
    metric: Metric
    capacity_share: float
    threshold: int
    value: float
    ratio: float
    seconds: float


class OnlineRun(msgspec.Struct, frozen=True, kw_only=True):
    """One window solved from the solution of the window before, beside one solved afresh (`fresh`).

    - `moves`: topics that changed sides since the window before; idle ones do not. In the first window all served topics did.
    - `fresh_moves`: the same between the two fresh solutions.
    - `anew`: the old choice was too far off, so a fresh solution was tried, too.
    """

    start_ms: int
    metric: Metric
    value: float
    fresh: float
    moves: int
    fresh_moves: int
    anew: bool
    seconds: float
    fresh_seconds: float


def windowed(found: Iterable[Window], threshold: int, metrics: Iterable[Metric], begun: Callable[[str], None]) -> list[WindowRun]:
    """Returns a run for each window (`found`) at each of `WINDOW_CAPACITIES`, by each of `metrics`.

    `begun` is called with the name of the next step.
    """
    warm()
    runs = []
    for number, window in enumerate(found, 1):
        begun(f"window {number}")
        runs += [_greedy(window, threshold, metric, share) for metric in metrics for share in WINDOW_CAPACITIES]
    return runs


def _greedy(window: Window, threshold: int, metric: Metric, capacity_share: float) -> WindowRun:
    found = window.instance
    case = SatisfactionCase(found, threshold, round(capacity_share * int(found.cost.sum())), metric)
    solution, seconds = case.solved("greedy")
    return WindowRun(
        start_ms=window.start_ms,
        topics=len(found.events),
        pairs=len(found.topics_of.values),
        metric=metric,
        capacity_share=capacity_share,
        threshold=threshold,
        value=solution.value,
        ratio=ratio(solution.value, case.bound()),
        seconds=seconds,
    )


def online(
    found: Iterable[Window], threshold: int, metrics: Iterable[Metric], capacity_share: float, begun: Callable[[str], None]
) -> list[OnlineRun]:
    """Returns a run for each window, from the solution of the one before; the first has none to start from.

    - `threshold`, `metrics`: of the problems.
    - `capacity_share`: the capacity, as a share of the full one.
    - `begun`: is called with the name of the next step.
    """
    warm()
    compared = {metric: OnlineComparison(metric, threshold) for metric in metrics}
    for metric in compared:
        _warm(OnlineComparison(metric, 1))
    runs = []
    for number, window in enumerate(found, 1):
        begun(f"online: window {number}")
        capacity = round(capacity_share * int(window.instance.cost.sum()))
        for metric, comparison in compared.items():
            hour = comparison.next(window.instance, capacity)
            runs.append(OnlineRun(start_ms=window.start_ms, metric=metric, **hour._asdict()))
    return runs


def _warm(comparison: OnlineComparison) -> None:
    """Solves two steps of a small problem, the second from the first. So compiling costs no window its time."""
    one = trial()
    for capacity in (5, 4):
        comparison.next(one, capacity)
