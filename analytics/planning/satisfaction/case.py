"""One problem of satisfaction: solved by the name of an algorithm, beside its bounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import msgspec
import numpy as np

from ..instance import Instance, Ints
from ..stopwatch import timed, trial
from .b3m import greedy_b3m
from .bound import bounds, bounds_at, spent
from .cuckoo import cuckoo
from .curve import curve
from .exact import exact
from .fb3m import greedy_fb3m
from .improved import improved
from .relaxed import Relaxed, relaxed
from .solution import Metric, Solution

Algorithm = Literal["greedy", "improved", "cuckoo", "exact"]
# Those for traces of any size.
ALGORITHMS: Final[tuple[Algorithm, ...]] = ("greedy", "improved", "cuckoo")
METRICS: Final[tuple[Metric, ...]] = ("b3m", "fb3m")
MORE: Final = 0.1
_POINTS: Final = 120


class SatisfactionRun(msgspec.Struct, frozen=True, kw_only=True):
    """One solution.

    - `share`: of all subscribers.
    - `bound`: the bound of the thesis.
    - `best_bound`: the tightest bound that is known.
    """

    metric: Metric
    threshold: int
    algorithm: Algorithm
    topics: int
    cost: int
    value: float
    share: float
    bound: float
    ratio: float
    best_bound: float
    best_ratio: float
    seconds: float


class GreedyLine(msgspec.Struct, frozen=True, kw_only=True):
    """The greedy choice topic by topic (figures 6.2, 6.4).

    It has shares of all subscribers over shares of the full capacity, and the bound at each.
    """

    metric: Metric
    threshold: int
    capacity_share: list[float]
    value_share: list[float]
    bound_share: list[float]


class More(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of a tenth more capacity: the `value` of greedy without it, and the addition, `more`."""

    metric: Metric
    threshold: int
    value: float
    more: float


@dataclass(frozen=True, eq=False)
class SatisfactionCase:
    """One problem: an instance, a threshold, a capacity and a metric."""

    instance: Instance
    threshold: int
    capacity: int
    metric: Metric

    @cached_property
    def relaxation(self) -> tuple[Relaxed, float]:
        """Returns the relaxed problem's solution, and its seconds. It is solved once, for the tightest bound and for our solution."""
        return timed(relaxed, self.instance, self.threshold, self.capacity, self.metric)

    def solved(self, algorithm: Algorithm) -> tuple[Solution, float]:
        """Returns the solution, and its seconds. Those of the relaxation are included where the algorithm needs it."""
        problem = self.instance, self.threshold, self.capacity, self.metric
        if algorithm != "improved":
            return timed(solve, *problem, algorithm)
        relaxation, relaxing_s = self.relaxation
        solution, seconds = timed(improved, *problem, relaxation=relaxation)
        return solution, relaxing_s + seconds

    def bound(self) -> float:
        """Returns the bound of the thesis."""
        return float(getattr(bounds(self.instance, self.threshold, self.capacity), self.metric))

    def limits(self) -> tuple[float, float]:
        """Returns the bound of the thesis, and the tightest known."""
        bound = self.bound()
        return bound, min(bound, self.relaxation[0].bound)

    def run(self, algorithm: Algorithm, solution: Solution, seconds: float, limits: tuple[float, float]) -> SatisfactionRun:
        """Returns `solution` beside its `limits`. `algorithm` is its name, `seconds` its time."""
        bound, best_bound = limits
        return SatisfactionRun(
            metric=self.metric,
            threshold=self.threshold,
            algorithm=algorithm,
            topics=len(solution.topics),
            cost=solution.cost,
            value=solution.value,
            share=solution.value / len(self.instance.topics_of),
            bound=bound,
            ratio=ratio(solution.value, bound),
            best_bound=best_bound,
            best_ratio=ratio(solution.value, best_bound),
            seconds=seconds,
        )

    def line(self, topics: Ints) -> GreedyLine:
        """Returns the way to a solution, reduced to the points that a plot can show."""
        way, people = curve(self.instance, self.threshold, topics, self.metric), len(self.instance.topics_of)
        kept = np.unique(np.linspace(0, len(way.used) - 1, min(_POINTS, len(way.used))).astype(np.int64))
        full = int(self.instance.cost.sum())
        used, prices = way.used[kept], spent(self.instance, self.threshold)
        return GreedyLine(
            metric=self.metric,
            threshold=self.threshold,
            capacity_share=(used / full).tolist(),
            value_share=(way.value[kept] / people).tolist(),
            bound_share=[getattr(bounds_at(prices, int(each)), self.metric) / people for each in used],
        )

    def more(self, value: float) -> More:
        """Returns what a tenth more capacity adds to `value`."""
        larger = solve(self.instance, self.threshold, round((1 + MORE) * self.capacity), self.metric, "greedy")
        return More(metric=self.metric, threshold=self.threshold, value=value, more=larger.value - value)


def solve(instance: Instance, threshold: int, capacity: int, metric: Metric, algorithm: Algorithm) -> Solution:
    """Returns the solution of the `algorithm` of that name for an `instance`, `threshold`, `capacity` and `metric`.

    Raises PlanError, as the algorithm does.
    """
    match algorithm:
        case "greedy":
            return greedy_b3m(instance, threshold, capacity) if metric == "b3m" else greedy_fb3m(instance, threshold, capacity)
        case "improved":
            return improved(instance, threshold, capacity, metric)
        case "cuckoo":
            return cuckoo(instance, threshold, capacity, metric)
        case "exact":
            return exact(instance, threshold, capacity, metric)


def warm() -> None:
    """Has the kernels compiled and loaded, so that no reported time contains it."""
    one = trial()
    for metric in METRICS:
        for algorithm in ALGORITHMS:
            solve(one, 1, 3, metric, algorithm)


def ratio(value: float, bound: float) -> float:
    """Returns the share of its bound that a value reaches; 1 where the bound is 0."""
    return value / bound if bound else 1.0
