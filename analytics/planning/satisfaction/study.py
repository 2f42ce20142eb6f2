"""What `segue plan satisfaction` asks of one workload: what is served, how far that is from the best, and what more would bring."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import PlanError
from ..instance import MOST_COST, Instance
from ..published import CAPACITY_SHARE, THRESHOLD_SHARES, WINDOW_THRESHOLD
from ..stopwatch import WARMING
from ..subject import Subject, facts
from ..workload import Workload, windows
from .case import ALGORITHMS, METRICS, Algorithm, Case, Line, More, Run, warm
from .solution import Metric, check_problem
from .window_study import OnlineRun, WindowRun, online, windowed


@dataclass(frozen=True, slots=True)
class Questions:
    """A whole number is events of a `threshold`, or deliveries of `capacity`; a float is a share of the mean events of a topic, or of
    what serving all topics takes. `windows`: how many hours are solved one by one, `online` also from each other.
    """

    thresholds: tuple[int | float, ...] = THRESHOLD_SHARES
    capacity: int | float = CAPACITY_SHARE
    metrics: tuple[Metric, ...] = METRICS
    algorithms: tuple[Algorithm, ...] = ALGORITHMS
    windows: int = 0
    online: bool = False


class Study(Subject, frozen=True, kw_only=True):
    """All answers, and what they are about."""

    mean_events: float
    full_capacity: int
    capacity: int
    runs: list[Run]
    lines: list[Line]
    more: list[More]
    windows: list[WindowRun]
    online: list[OnlineRun]


def study(workload: Workload, asked: Questions, begun: Callable[[str], None]) -> Study:
    """Solves every case; `begun` is told what comes next. Raises PlanError for a threshold or a capacity that cannot be meant."""
    found = workload.instance
    full = int(found.cost.sum())
    # More than all topics take brings no more, and kernels take 64 bits.
    capacity = min(asked.capacity, full) if isinstance(asked.capacity, int) else round(min(asked.capacity, 1.0) * full)
    thresholds = in_events(found, asked.thresholds)
    _check(found, thresholds, capacity)
    begun(WARMING)
    warm()
    answers = [_answer(Case(found, each, capacity, metric), asked, begun) for metric in asked.metrics for each in thresholds]
    hours, moving = _windows(workload, asked, capacity / full, begun)
    return Study(
        **facts(workload),
        notes=list(workload.notes),
        mean_events=float(found.events.mean()),
        full_capacity=full,
        capacity=capacity,
        runs=[run for answer in answers for run in answer.runs],
        lines=[answer.line for answer in answers],
        more=[answer.more for answer in answers],
        windows=hours,
        online=moving,
    )


def in_events(found: Instance, thresholds: Iterable[int | float]) -> tuple[int, ...]:
    """Shares of the mean events of a topic as events, 1 at least; each threshold once."""
    mean = float(found.events.mean())
    return tuple(dict.fromkeys(each if isinstance(each, int) else max(1, int(min(each * mean, 2.0 * MOST_COST))) for each in thresholds))


class _Answer(NamedTuple):
    runs: list[Run]
    line: Line
    more: More


def _answer(case: Case, asked: Questions, begun: Callable[[str], None]) -> _Answer:
    what = f"{case.metric}, threshold {case.threshold:,}"
    solved = {}
    for algorithm in dict.fromkeys(("greedy", *asked.algorithms)):
        begun(f"{what}: {algorithm}")
        solved[algorithm] = case.solved(algorithm)
    begun(f"{what}: bounds")
    both = case.limits()
    if "exact" in solved:
        both = both[0], min(both[1], solved["exact"][0].value)  # nothing is tighter than the optimum itself
    begun(f"{what}: more capacity")
    greedy = solved["greedy"][0]
    runs = [case.run(each, *solved[each], both) for each in asked.algorithms]
    return _Answer(runs, case.line(greedy.topics), case.more(greedy.value))


def _windows(
    workload: Workload, asked: Questions, capacity_share: float, begun: Callable[[str], None]
) -> tuple[list[WindowRun], list[OnlineRun]]:
    if not asked.windows:
        return [], []
    found = list(windows(workload, asked.windows, begun=begun))
    moving = online(found, WINDOW_THRESHOLD, asked.metrics, capacity_share, begun) if asked.online else []
    return windowed(found, WINDOW_THRESHOLD, asked.metrics, begun), moving


def _check(found: Instance, thresholds: Iterable[int], capacity: int) -> None:
    for threshold in thresholds:
        check_problem(threshold, capacity)
    cheapest = int(found.cost.min())
    if capacity < cheapest:
        raise PlanError(f"the capacity is {capacity:,} deliveries, and the cheapest topic takes {cheapest:,}: give more (--capacity)")
