"""A comparison, hour by hour, of the online variant with fresh solutions (WA-46)."""

from typing import NamedTuple

import numpy as np

from ..instance import Instance, Ints
from ..satisfaction.case import solve
from ..satisfaction.solution import Metric
from ..stopwatch import timed
from .moves import moves, sides
from .online import OnlineSolver


class Hour(NamedTuple):
    """One line of the comparison.

    - `value`, `moves`, `seconds`: of the online variant.
    - `fresh`, `fresh_moves`, `fresh_seconds`: of a solution made anew.
    - `anew`: the online variant took a fresh solution, too.
    """

    value: float
    fresh: float
    moves: int
    fresh_moves: int
    anew: bool
    seconds: float
    fresh_seconds: float


class OnlineComparison:
    """One problem as it changes, solved in both ways. Each way starts from its own choice of the hour before.

    Raises PlanError as `Online` does.
    """

    def __init__(self, metric: Metric, threshold: int) -> None:
        self._metric, self._threshold, self._online = metric, threshold, OnlineSolver(metric, threshold)
        self._fresh_ids: Ints = np.empty(0, np.int64)

    def next(self, instance: Instance, capacity: int) -> Hour:
        """Returns the next hour; in the first one both solutions are fresh. Raises PlanError for a capacity that makes no sense."""
        _ = instance.subscribers_of, instance.received  # whoever comes first would be charged for them
        before, fresh_before = self._online.served_ids, self._fresh_ids
        solution, seconds = timed(self._online.next, instance, capacity)
        fresh, fresh_s = timed(solve, instance, self._threshold, capacity, self._metric, "greedy")
        self._fresh_ids = sides(fresh_before, instance, fresh)
        return Hour(
            value=solution.value,
            fresh=fresh.value,
            moves=moves(before, self._online.served_ids).count,
            fresh_moves=moves(fresh_before, self._fresh_ids).count,
            anew=self._online.anew,
            seconds=seconds,
            fresh_seconds=fresh_s,
        )
