"""The online variant beside fresh solutions, hour by hour (WA-46)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..instance import Instance
from ..satisfaction.case import solve
from ..satisfaction.solution import Metric
from .moves import moves, sides
from .online import Online


class Hour(NamedTuple):
    """One line of the comparison. `hour`: from 0. `value` and `moves`: online; `fresh_value` and `fresh_moves`: solved anew each hour.

    `anew`: the online variant took a fresh solution too.
    """

    hour: int
    value: float
    fresh_value: float
    moves: int
    fresh_moves: int
    anew: bool

    @property
    def ratio(self) -> float:
        """Online over fresh; 1 where nothing can be satisfied."""
        return self.value / self.fresh_value if self.fresh_value else 1.0


def compared(instances: Iterable[Instance], threshold: int, capacity: int, metric: Metric) -> Iterator[Hour]:
    """One line for each instance; the first solution is fresh on both sides."""
    online, fresh_ids = Online(metric, threshold), np.empty(0, np.int64)
    for hour, instance in enumerate(instances):
        before, fresh_before = online.served_ids, fresh_ids
        solution = online.next(instance, capacity)
        fresh = solve(instance, threshold, capacity, metric, "greedy")
        fresh_ids = sides(fresh_before, instance, fresh)
        switched, fresh_switched = moves(before, online.served_ids), moves(fresh_before, fresh_ids)
        yield Hour(hour, solution.value, fresh.value, switched.count, fresh_switched.count, online.anew)
