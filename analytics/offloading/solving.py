"""One problem of the decision service and the choice that solves it: arrays in, arrays out, as long as it takes (spec C7)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from analytics.planning.instance import Instance, Ints, instance
from analytics.planning.online.online import OnlineSolver
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.solution import Metric, Solution, evaluate

from .leftover import Floats, Leftover
from .pairs import Keys, pair, topics_of, users_of

Solver = Literal["online", "fresh"]
# Sums of fractions that differ by less are equal.
TOLERANCE: Final = 1e-9
# Another try is worth it if it gains this part of the capacity; and how many tries there are.
_WORTH: Final = 0.01
_TRIES: Final = 4
_SOLVERS: Final[dict[Metric, Callable[[Instance, int, int], Solution]]] = {"b3m": greedy_b3m, "fb3m": greedy_fb3m}


@dataclass(frozen=True, slots=True, eq=False)
class OffloadingProblem:
    """A problem. All arrays but `pairs` have the shape (topics,).

    - `pairs`: those of each access point, rising; shape (pairs,) each.
    - `events`: how many are expected of each topic; 0 is idle.
    - `out`: which topics are out of real time now.
    - `remembered`: which topics are not forgotten yet.
    - `leftover`: what is delivered of each topic if it is out.
    """

    pairs: list[Keys]
    events: Ints
    out: NDArray[np.bool_]
    remembered: NDArray[np.bool_]
    leftover: Leftover


@dataclass(frozen=True, slots=True, eq=False)
class OffloadingChoice:
    """A choice of topics.

    - `served`: the numbers of the topics that stay in real time, of those that have events and followers.
    - `out`: which topics are out from now on; shape (topics,).
    - `topics`: how many topics have events and followers.
    - `cost`: the deliveries of what is served.
    - `reduced`: the deliveries of the others in the next period.
    - `value`, `bound`: the satisfaction by what is served alone, and what no choice could surpass.
    """

    served: Ints
    out: NDArray[np.bool_]
    topics: int
    cost: int
    reduced: int
    value: float
    bound: float


def solve(problem: OffloadingProblem, metric: Metric, threshold: int, capacity: int | None, solver: Solver = "fresh") -> OffloadingChoice:
    """Returns the best choice that the greedy algorithm finds, or the online variant, which moves fewer topics.

    - `metric`, `threshold`: what satisfies a subscriber.
    - `capacity`: in deliveries; None is no limit.
    - `solver`: "fresh" chooses anew, "online" goes on from the choice before.

    Deliveries at a reduced rate have their room in the capacity. The overlap of what leaves has none, as it is over soon. The choice
    before stays if it is as good and still fits, so that nothing moves. Idle topics stay on their side while they are remembered.
    Raises PlanError for deliveries too many to be added up.
    """
    # A user who is at two access points follows a topic once.
    pairs = np.unique(np.concatenate([np.empty(0, np.int64), *problem.pairs]))
    found = instance(users_of(pairs), topics_of(pairs), problem.events)
    limit = int(found.cost.sum()) if capacity is None else capacity
    before = np.flatnonzero(~problem.out[found.topic_ids])
    first, later = (events[found.topic_ids] * found.popularity for events in problem.leftover)
    case = _Case(found, later, before, metric, threshold, limit, solver)
    chosen = case.chosen()
    out = problem.out & problem.remembered & (problem.events == 0)
    out[found.topic_ids] = True
    served = found.topic_ids[chosen]
    out[served] = False
    bound = getattr(bounds(found, threshold, limit), metric)
    return OffloadingChoice(served, out, len(found.events), case.cost(chosen), _without(first, chosen), case.value(chosen), bound)


def warm(metric: Metric, solver: Solver) -> None:
    """Compiles or loads the kernels that `solve` uses. That takes seconds in a new installation."""
    keys = np.array([pair(1, 0), pair(1, 1), pair(3, 1), pair(3, 2), pair(3, 3)])
    events = np.array([0, 1, 2, 3])
    none, nothing = np.zeros(len(events), np.bool_), Leftover(np.zeros(len(events)), np.zeros(len(events)))
    first = solve(OffloadingProblem([keys], events, none, none, nothing), metric, 2, 4)
    solve(OffloadingProblem([keys], events, first.out, none, nothing), metric, 2, 3, solver)


def _without(deliveries: Floats, topics: Ints) -> int:
    """Returns the deliveries of all topics but these. Less than a whole one is none."""
    return int(np.delete(deliveries, topics).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """A problem of topics with events and followers: `leftover` of each while it is out, and the topics that were served `before`."""

    found: Instance
    leftover: Floats
    before: Ints
    metric: Metric
    threshold: int
    limit: int
    solver: Solver

    def cost(self, topics: Ints) -> int:
        return int(self.found.cost[topics].sum())

    def value(self, topics: Ints) -> float:
        return float(getattr(evaluate(self.found, self.threshold, topics), self.metric))

    def fits(self, topics: Ints) -> bool:
        return self.cost(topics) + _without(self.leftover, topics) <= self.limit

    def chosen(self) -> Ints:
        everything = np.arange(len(self.found.events))
        if self.fits(everything):
            return everything
        best = self._best()
        if self.fits(self.before) and self.value(self.before) >= best.value - TOLERANCE:
            return self.before
        return best.topics

    def _best(self) -> Solution:
        """Returns a good choice that leaves room for the leftover of all other topics."""
        # The room depends on the choice, and the choice on the room. At first room is kept for the leftover of all topics, which is
        # too much; then for that of the topics that the last try leaves out.
        kept = _without(self.leftover, self.before[:0])
        best = self._within(self.limit - kept)
        for _ in range(_TRIES):
            needed = _without(self.leftover, best.topics)
            if kept - needed <= self.limit * _WORTH:
                break
            kept = needed
            next_ = self._within(self.limit - kept)
            if next_.value <= best.value or not self.fits(next_.topics):
                break
            best = next_
        return best

    def _within(self, limit: int) -> Solution:
        room = max(0, limit)
        if self.solver == "fresh" or not 0 < len(self.before) < len(self.found.events):  # there is no choice to start from
            return _SOLVERS[self.metric](self.found, self.threshold, room)
        online = OnlineSolver(self.metric, self.threshold)
        online.served_ids = self.found.topic_ids[self.before]
        return online.next(self.found, room)
