"""The next choice of topics from the last one, after rates changed and users came, left, followed and unfollowed (spec D7, WA-46)."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import PlanError
from ..instance import Instance, Ints
from ..satisfaction.b3m import greedy_b3m
from ..satisfaction.fb3m import greedy_fb3m
from ..satisfaction.solution import Metric, Solution, check_problem
from .moves import sides
from .repair import Measure, State, at_most, best, complete, exactly, give_up, measure, state

# The part of what still fits that is given up beyond need. What still is the best there is comes back: that costs time, but no moves.
_GIVEN_UP: Final = 0.3
# A topic that was served stays so unless another does this much more for what it costs.
_LOYALTY: Final = 1.3
# If no larger part of what was given up beyond need came back, then the old choice is no guide to the new one.
_LOST: Final = 0.02


class Step(NamedTuple):
    """How a solution came about: `looked` at so many pairs on the way from the last one; made `anew` by the greedy algorithm."""

    looked: int
    anew: bool


class _Repair(NamedTuple):
    """`came_back`: of the cost that was given up beyond need, the part that was taken again. `looked`: at so many pairs."""

    solution: Solution
    came_back: float
    looked: int


class Online:
    """Solutions of one problem as it changes, each from the one before; topics are told by their `topic_ids`.

    `served_ids`: the topics on the served side, rising, with those that are idle just now. `step`: about the last solution.
    Raises PlanError for a threshold that cannot be meant, and for an unknown metric.
    """

    def __init__(self, metric: Metric, threshold: int) -> None:
        check_problem(threshold, 0)
        if metric not in ("b3m", "fb3m"):
            raise PlanError(f"there is no metric {metric!r}; take b3m or fb3m")
        self._metric, self._threshold = metric, threshold
        self.served_ids: Ints = np.empty(0, np.int64)
        self.step = Step(0, anew=True)

    def next(self, instance: Instance, capacity: int) -> Solution:
        """The topics to serve now, those that stay before those that come. Where there is nothing to start from, a fresh solution.

        What was served is kept if it fits and nothing better is found. Raises PlanError for a capacity below 0.
        """
        check_problem(self._threshold, capacity)
        old = np.isin(instance.topic_ids, self.served_ids, assume_unique=True)
        if old.any():
            solution, self.step = self._from(old, instance, capacity)
        else:
            solution, self.step = self._anew(instance, capacity), Step(0, anew=True)
        self.served_ids = sides(self.served_ids, instance, solution)
        return solution

    def _anew(self, instance: Instance, capacity: int) -> Solution:
        return (greedy_b3m if self._metric == "b3m" else greedy_fb3m)(instance, self._threshold, capacity)

    def _from(self, old: NDArray[np.bool_], instance: Instance, capacity: int) -> tuple[Solution, Step]:
        now = state(instance, self._threshold, old.copy())
        kept = Solution(np.flatnonzero(old), int(instance.cost[old].sum()), self._value(now))
        repair = self._repair(now, kept, instance, capacity)
        found = [kept] if kept.cost <= capacity else []
        found.append(repair.solution)
        anew = repair.came_back < _LOST
        if anew:
            found.append(self._anew(instance, capacity))
        return max(found, key=lambda each: each.value), Step(repair.looked, anew)

    def _repair(self, now: State, kept: Solution, instance: Instance, capacity: int) -> _Repair:
        how = measure(instance, fractional=self._metric == "fb3m")
        fits = min(kept.cost, capacity)
        used, looked = give_up(now, how, kept.cost, int(fits * (1 - _GIVEN_UP)))
        weights = np.ones(len(now.events))
        weights[kept.topics] = _LOYALTY
        stay = np.flatnonzero(now.served)
        chosen, cost, also_looked = _completed(now, how, weights, used, capacity)
        back = int(instance.cost[chosen[weights[chosen] > 1]].sum())
        solution = Solution(np.concatenate([stay, chosen]), cost, self._value(now))
        return _Repair(solution, back / max(1, fits - used), looked + also_looked)

    def _value(self, now: State) -> float:
        """The same sums as in `evaluate`."""
        parts = np.minimum(1.0, now.got / now.needs)
        return float(np.count_nonzero(parts >= 1.0)) if self._metric == "b3m" else float(parts.sum())


def _completed(now: State, how: Measure, weights: NDArray[np.float64], used: int, capacity: int) -> tuple[Ints, int, int]:
    """As `complete`. For F-B3M first with about twice the topics that can be taken, then with whatever fits into the rest."""
    if not how.fractional:
        return complete(now, how, weights, at_most(now, how, weights), used, capacity)
    hopes, looked = exactly(now, how, weights)
    first, used, more = complete(now, how, weights, best(hopes, now.cost, 2 * (capacity - used)), used, capacity)
    rest = np.where(now.served | (now.cost > capacity - used), 0.0, hopes)
    last, used, still_more = complete(now, how, weights, rest, used, capacity)
    return np.concatenate([first, last]), used, looked + more + still_more
