"""The next choice of topics, made from the last one after rates and subscriptions changed (spec D7, WA-46)."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..satisfaction.b3m import greedy_b3m
from ..satisfaction.fb3m import greedy_fb3m
from ..satisfaction.solution import Metric, Solution, check_metric, check_problem
from ..threshold import check_threshold
from .moves import found, sides
from .repair import RepairState, complete, give_up, state, value

# The part of what still fits that is given up beyond need. What still is the best there is comes back: that costs time, but no moves.
_GIVEN_UP: Final = 0.6
# A topic that was served stays so unless another does this much more for what it costs. A move is a move however large the topic, so
# those that cost more than the mean have less of it: where capacity is short, a few of them are most of the value.
_LOYALTY: Final = 0.25
# If no larger part of what was given up beyond need came back, then the old choice is no guide to the new one.
_LOST: Final = 0.02
# B3M: fewer miss topics that others made worth more, more cost time.
_ROUNDS: Final = 3


class OnlineSolver:
    """The solutions of one problem as it changes. Each starts from the one before; `topic_ids` identify topics between them.

    - `served_ids`: the served topics in rising order, with those that are idle now.
    - `anew`: the last solution was compared with a fresh one, or is one.

    Raises PlanError for a threshold that makes no sense, and for an unknown metric.
    """

    def __init__(self, metric: Metric, threshold: int) -> None:
        check_threshold(threshold)
        check_metric(metric)
        self._metric, self._threshold = metric, threshold
        self.served_ids: Ints = np.empty(0, np.int64)
        self.anew = True

    def next(self, instance: Instance, capacity: int) -> Solution:
        """Returns the topics to serve now: first those that stay, then those that come. Without a choice to start from, it solves afresh.

        The old choice stays if it fits and nothing better is found. Raises PlanError for a capacity that makes no sense.
        """
        check_problem(self._threshold, capacity)
        capacity = min(capacity, int(instance.cost.sum()))  # kernels take 64 bits
        old = found(instance.topic_ids, self.served_ids)
        if old.any():
            solution, self.anew = self._from(old, instance, capacity)
        else:
            solution, self.anew = self._anew(instance, capacity), True
        self.served_ids = sides(self.served_ids, instance, solution)
        return solution

    def _anew(self, instance: Instance, capacity: int) -> Solution:
        return (greedy_b3m if self._metric == "b3m" else greedy_fb3m)(instance, self._threshold, capacity)

    def _from(self, old: NDArray[np.bool_], instance: Instance, capacity: int) -> tuple[Solution, bool]:
        needs, cost = instance.thresholds(self._threshold), int(instance.cost @ old)
        now = state(instance, needs, old.copy(), fractional=self._metric == "fb3m")
        solutions = [Solution(np.flatnonzero(old), cost, value(now, needs))] if cost <= capacity else []
        topics, used, came_back = _repaired(now, cost, capacity)
        solutions.append(Solution(topics, used, value(now, needs)))
        anew = came_back < _LOST
        if anew:
            solutions.append(self._anew(instance, capacity))
        return max(solutions, key=lambda each: each.value), anew


def _repaired(now: RepairState, cost: int, capacity: int) -> tuple[Ints, int, float]:
    """Returns the topics, their cost, and how much of the cost that was given up beyond need was taken again, as a part of it."""
    fits, mean = min(cost, capacity), cost / np.count_nonzero(now.served)
    weights = np.where(now.served, 1 + _LOYALTY * np.minimum(1, mean / now.cost), 1.0)
    used = give_up(now, cost, int(fits * (1 - _GIVEN_UP)))
    stay = np.flatnonzero(now.served)
    chosen, filled = complete(now, weights, used, capacity, rounds=1 if now.fractional else _ROUNDS)
    back = int(now.cost[chosen[weights[chosen] > 1]].sum())
    return np.concatenate([stay, chosen]), filled, back / max(1, fits - used)
