"""The online variant beside fresh solutions, hour by hour (WA-46)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..instance import Instance, Ints
from ..satisfaction.b3m import greedy_b3m
from ..satisfaction.fb3m import greedy_fb3m
from ..satisfaction.solution import Metric, Solution
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
        before = online.served_ids
        solution = online.next(instance, capacity)
        fresh = (greedy_b3m if metric == "b3m" else greedy_fb3m)(instance, threshold, capacity)
        switched, fresh_ids = _switched(fresh_ids, instance, fresh)
        yield Hour(hour, solution.value, fresh.value, moves(before, online.served_ids).count, switched, online.anew)


def _switched(old_ids: Ints, instance: Instance, fresh: Solution) -> tuple[int, Ints]:
    new_ids = sides(old_ids, instance, fresh)
    return moves(old_ids, new_ids).count, new_ids
