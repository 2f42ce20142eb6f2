"""The questions of `segue plan satisfaction`: what is served, how far that is from the best, and what more capacity would bring."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import PlanError
from ..instance import MOST_COST, Instance
from ..published import CAPACITY_SHARE, THRESHOLD_SHARES, WINDOW_THRESHOLD
from ..stopwatch import WARMING
from ..subject import StudySubject, facts
from ..workload import Workload, windows
from .case import ALGORITHMS, METRICS, Algorithm, GreedyLine, More, SatisfactionCase, SatisfactionRun, warm
from .solution import Metric, check_problem
from .window_study import OnlineRun, WindowRun, online, windowed


@dataclass(frozen=True, slots=True)
class SatisfactionQuestions:
    """The questions about one workload.

    - a whole number: events of a `threshold`, or deliveries of `capacity`.
    - a float: a share of the mean events of a topic, or of what serving all topics takes.
    - `windows`: how many hours are solved one by one; with `online`, also each from the one before.
    """

    thresholds: tuple[int | float, ...] = THRESHOLD_SHARES
    capacity: int | float = CAPACITY_SHARE
    metrics: tuple[Metric, ...] = METRICS
    algorithms: tuple[Algorithm, ...] = ALGORITHMS
    windows: int = 0
    online: bool = False


class SatisfactionStudy(StudySubject, frozen=True, kw_only=True):
    """All answers, and their subject."""

    mean_events: float
    full_capacity: int
    capacity: int
    runs: list[SatisfactionRun]
    lines: list[GreedyLine]
    more: list[More]
    windows: list[WindowRun]
    online: list[OnlineRun]


def study(workload: Workload, asked: SatisfactionQuestions, begun: Callable[[str], None]) -> SatisfactionStudy:
    """Solves every case; `begun` is called with the name of the next step.

    Raises PlanError for a threshold or a capacity that makes no sense.
    """
    found = workload.instance
    full = int(found.cost.sum())
    # More than all topics take brings no more, and kernels take 64 bits.
    capacity = min(asked.capacity, full) if isinstance(asked.capacity, int) else round(min(asked.capacity, 1.0) * full)
    thresholds = in_events(found, asked.thresholds)
    _check(found, thresholds, capacity)
    begun(WARMING)
    warm()
    answers = [_answer(SatisfactionCase(found, each, capacity, metric), asked, begun) for metric in asked.metrics for each in thresholds]
    hours, moving = _windows(workload, asked, capacity / full, begun)
    return SatisfactionStudy(
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
    """Returns thresholds in events, 1 at least, each once: a share is one of the mean events of a topic."""
    mean = float(found.events.mean())
    return tuple(dict.fromkeys(each if isinstance(each, int) else max(1, int(min(each * mean, 2.0 * MOST_COST))) for each in thresholds))


class _Answer(NamedTuple):
    runs: list[SatisfactionRun]
    line: GreedyLine
    more: More


def _answer(case: SatisfactionCase, asked: SatisfactionQuestions, begun: Callable[[str], None]) -> _Answer:
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
    workload: Workload, asked: SatisfactionQuestions, capacity_share: float, begun: Callable[[str], None]
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
