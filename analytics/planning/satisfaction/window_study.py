"""Consecutive windows of a trace, solved as they come (figures 6.6, 6.7), and online: each from the solution of the one before (WA-46)."""

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from ..instance import instance
from ..workload import Window
from .case import Case, ratio, solve, warm
from .solution import Metric

if TYPE_CHECKING:
    from ..online.online import Online

WINDOW_CAPACITIES: Final = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


class WindowRun(msgspec.Struct, frozen=True, kw_only=True):
    """Greedy on one window (figures 6.6, 6.7)."""

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
    """One window solved from the solution of the window before, beside one solved afresh. `moves`: topics that changed sides."""

    start_ms: int
    metric: Metric
    value: float
    fresh: float
    moves: int
    seconds: float
    fresh_seconds: float


def windowed(found: Iterable[Window], threshold: int, metrics: Iterable[Metric], begun: Callable[[str], None]) -> list[WindowRun]:
    """Each window at each of `WINDOW_CAPACITIES`."""
    warm()
    runs = []
    for number, window in enumerate(found, 1):
        begun(f"window {number}")
        full = int(window.instance.cost.sum())
        for metric in metrics:
            for share in WINDOW_CAPACITIES:
                case = Case(window.instance, threshold, round(share * full), metric)
                solution, seconds = case.solved("greedy")
                sizes = {"topics": len(window.instance.events), "pairs": len(window.instance.topics_of.values)}
                runs.append(
                    WindowRun(
                        start_ms=window.start_ms,
                        **sizes,
                        metric=metric,
                        capacity_share=share,
                        threshold=threshold,
                        value=solution.value,
                        ratio=ratio(solution.value, case.bound()),
                        seconds=seconds,
                    )
                )
    return runs


def online(
    found: Iterable[Window], threshold: int, metrics: Iterable[Metric], capacity_share: float, begun: Callable[[str], None]
) -> list[OnlineRun]:
    """Each window from the solution of the one before; the first has none to start from."""
    from ..online.moves import moves
    from ..online.online import Online

    warm()
    solvers = {metric: Online(metric, threshold) for metric in metrics}
    for metric in solvers:
        _warm(Online(metric, 1))
    served = {metric: np.empty(0, np.int64) for metric in solvers}
    runs = []
    for number, window in enumerate(found, 1):
        begun(f"online: window {number}")
        capacity = round(capacity_share * int(window.instance.cost.sum()))
        _ = window.instance.subscribers_of, window.instance.received  # whoever comes first would be charged for them
        for metric, solver in solvers.items():
            begin_s = time.perf_counter()
            solution = solver.next(window.instance, capacity)
            solved_s = time.perf_counter()
            fresh = solve(window.instance, threshold, capacity, metric, "greedy")
            fresh_s = time.perf_counter()
            ids = window.instance.topic_ids[solution.topics]
            runs.append(
                OnlineRun(
                    start_ms=window.start_ms,
                    metric=metric,
                    value=solution.value,
                    fresh=fresh.value,
                    moves=moves(served[metric], ids).count,
                    seconds=solved_s - begin_s,
                    fresh_seconds=fresh_s - solved_s,
                )
            )
            served[metric] = ids
    return runs


def _warm(solver: "Online") -> None:
    """Two steps on a small problem, the second from the first: what is compiled then costs no window its time."""
    one = instance(np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32), np.array([1, 2]))
    for capacity in (5, 4):
        solver.next(one, capacity)
