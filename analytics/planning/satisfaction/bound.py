"""What no choice of topics can surpass (theorems 6.7 and 6.13; spec C4). Holds for normalized cost."""

from typing import NamedTuple

import numpy as np

from ..instance import Instance, Ints
from .solution import check_problem


class Bounds(NamedTuple):
    """`b3m`: subscribers that can be satisfied at most. `fb3m`: the greatest sum of the satisfied fractions of all subscribers."""

    b3m: int
    fb3m: float


def bounds(instance: Instance, threshold: int, capacity: int) -> Bounds:
    """Takes the subscribers who cost least while the capacity lasts.

    A topic's cost splits into its events for each of its subscribers, so whoever is satisfied consumes at least his threshold, and at
    least his smallest topic; a part of him consumes at least that part of it. Raises PlanError for a threshold or a capacity that
    cannot be meant.
    """
    check_problem(threshold, capacity)
    return bounds_at(spent(instance, threshold), min(capacity, int(instance.cost.sum())))


def spent(instance: Instance, threshold: int) -> Ints:
    """What the first, the first two, the first three ... of the subscribers who cost least consume at least."""
    return np.cumsum(np.sort(np.maximum(instance.thresholds(threshold), instance.smallest)))


def bounds_at(spent: Ints, capacity: int) -> Bounds:
    """The same for one of many capacities."""
    count = int(np.searchsorted(spent, capacity, side="right"))
    if count == len(spent):
        return Bounds(count, float(count))
    before = int(spent[count - 1]) if count else 0
    return Bounds(count, count + (capacity - before) / (int(spent[count]) - before))
