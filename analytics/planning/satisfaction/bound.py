"""What no choice of topics can surpass (theorems 6.7 and 6.13; spec C4). Holds for normalized cost."""

from typing import NamedTuple

import numpy as np

from ..instance import Instance


class Bounds(NamedTuple):
    """`b3m`: subscribers that can be satisfied at most. `fb3m`: the greatest sum of the satisfied fractions of all subscribers."""

    b3m: int
    fb3m: float


def bounds(instance: Instance, threshold: int, capacity: int) -> Bounds:
    """Takes the subscribers who cost least while the capacity lasts.

    A topic's cost splits into its events for each of its subscribers, so whoever is satisfied consumes at least his threshold, and at
    least his smallest topic; a part of him consumes at least that part of it.
    """
    prices = np.sort(np.maximum(instance.thresholds(threshold), instance.smallest))
    spent = np.cumsum(prices)
    count = int(np.searchsorted(spent, capacity, side="right"))
    if count == len(prices):
        return Bounds(count, float(count))
    left = capacity - (int(spent[count - 1]) if count else 0)
    return Bounds(count, count + left / int(prices[count]))
