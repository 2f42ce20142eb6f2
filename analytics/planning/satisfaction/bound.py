"""A bound that no choice of topics can exceed (theorems 6.7 and 6.13; spec C4). It holds for normalized cost."""

from typing import NamedTuple

import numpy as np

from ..instance import Instance, Ints
from .solution import check_problem


class Bounds(NamedTuple):
    """Two bounds. `b3m`: the number of satisfied subscribers. `fb3m`: the sum of the satisfied fractions of all subscribers."""

    b3m: int
    fb3m: float


def bounds(instance: Instance, threshold: int, capacity: int) -> Bounds:
    """Returns both bounds: it takes the subscribers who cost least while the capacity lasts.

    The cost of a topic is its events for each of its subscribers. So a satisfied subscriber consumes at least their threshold, and at
    least their smallest topic; a part of a subscriber consumes at least that part of it. Raises PlanError for a `threshold` or a
    `capacity` that makes no sense.
    """
    check_problem(threshold, capacity)
    return bounds_at(spent(instance, threshold), min(capacity, int(instance.cost.sum())))


def spent(instance: Instance, threshold: int) -> Ints:
    """Returns the least that the first, the first two, the first three ... of the subscribers consume, the cheapest first."""
    return np.cumsum(np.sort(np.maximum(instance.thresholds(threshold), instance.smallest)))


def bounds_at(spent: Ints, capacity: int) -> Bounds:
    """Returns the bounds at one of many capacities, from the sums of `spent`."""
    count = int(np.searchsorted(spent, capacity, side="right"))
    if count == len(spent):
        return Bounds(count, float(count))
    before = int(spent[count - 1]) if count else 0
    return Bounds(count, count + (capacity - before) / (int(spent[count]) - before))
