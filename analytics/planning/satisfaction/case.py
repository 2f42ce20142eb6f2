"""One problem: solved by name, beside its bounds."""

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


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One solution. `share`: of all subscribers. `bound`: that of the thesis; `best_bound`: the tightest known."""

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


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """Greedy, topic by topic: shares of all subscribers over shares of the full capacity, and the bound at each (figures 6.2, 6.4)."""

    metric: Metric
    threshold: int
    capacity_share: list[float]
    value_share: list[float]
    bound_share: list[float]


class More(msgspec.Struct, frozen=True, kw_only=True):
    """What a tenth more capacity brings: the `value` of greedy as it is, and `more` of it."""

    metric: Metric
    threshold: int
    value: float
    more: float


@dataclass(frozen=True, eq=False)
class Case:
    """One problem."""

    instance: Instance
    threshold: int
    capacity: int
    metric: Metric

    @cached_property
    def relaxation(self) -> tuple[Relaxed, float]:
        """The relaxed problem, solved once for the tightest bound and for our solution, and in how many seconds."""
        return timed(relaxed, self.instance, self.threshold, self.capacity, self.metric)

    def solved(self, algorithm: Algorithm) -> tuple[Solution, float]:
        """The solution, and in how many seconds; those of the relaxation are part of them where it is needed."""
        problem = self.instance, self.threshold, self.capacity, self.metric
        if algorithm != "improved":
            return timed(solve, *problem, algorithm)
        relaxation, relaxing_s = self.relaxation
        solution, seconds = timed(improved, *problem, relaxation=relaxation)
        return solution, relaxing_s + seconds

    def bound(self) -> float:
        """That of the thesis."""
        return float(getattr(bounds(self.instance, self.threshold, self.capacity), self.metric))

    def limits(self) -> tuple[float, float]:
        """The bound of the thesis, and the tightest known."""
        bound = self.bound()
        return bound, min(bound, self.relaxation[0].bound)

    def run(self, algorithm: Algorithm, solution: Solution, seconds: float, limits: tuple[float, float]) -> Run:
        """`solution` beside its `limits`."""
        bound, best_bound = limits
        return Run(
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

    def line(self, topics: Ints) -> Line:
        """The way to a solution, thinned to what a plot can show."""
        way, people = curve(self.instance, self.threshold, topics, self.metric), len(self.instance.topics_of)
        kept = np.unique(np.linspace(0, len(way.used) - 1, min(_POINTS, len(way.used))).astype(np.int64))
        full = int(self.instance.cost.sum())
        used, prices = way.used[kept], spent(self.instance, self.threshold)
        return Line(
            metric=self.metric,
            threshold=self.threshold,
            capacity_share=(used / full).tolist(),
            value_share=(way.value[kept] / people).tolist(),
            bound_share=[getattr(bounds_at(prices, int(each)), self.metric) / people for each in used],
        )

    def more(self, value: float) -> More:
        """What a tenth more capacity adds to `value`."""
        larger = solve(self.instance, self.threshold, round((1 + MORE) * self.capacity), self.metric, "greedy")
        return More(metric=self.metric, threshold=self.threshold, value=value, more=larger.value - value)


def solve(instance: Instance, threshold: int, capacity: int, metric: Metric, algorithm: Algorithm) -> Solution:
    """Returns the solution of the algorithm of that name. Raises PlanError, as the algorithm does."""
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
    """Has the kernels compiled and loaded, so that no time that is told contains it."""
    one = trial()
    for metric in METRICS:
        for algorithm in ALGORITHMS:
            solve(one, 1, 3, metric, algorithm)


def ratio(value: float, bound: float) -> float:
    """What of its bound a value comes to; all of it where there is nothing to be had."""
    return value / bound if bound else 1.0
