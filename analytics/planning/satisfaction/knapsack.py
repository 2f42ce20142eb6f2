"""Topics that are taken in part, within the capacity."""

from typing import Final

import numpy as np
from numba import njit

from .covers import Floats

_TRIES: Final = 60
_CLOSE: Final = 1e-5


def most_profit(profits: Floats, costs: Floats, capacity: float) -> float:
    """Returns the greatest possible profit: the best profit for the cost comes first, and the last topic in part."""
    order = np.argsort(-profits / costs)
    spent = np.cumsum(costs[order])
    count = int(np.searchsorted(spent, capacity, side="right"))
    whole = float(profits[order[:count]].sum())
    if count == len(order):
        return whole
    left = capacity - (float(spent[count - 1]) if count else 0.0)
    return whole + left / float(costs[order[count]]) * float(profits[order[count]])


@njit(cache=True, nogil=True)
def nearest(wanted: Floats, slopes: Floats, costs: Floats, capacity: float, price: float, shares: Floats) -> float:
    """Sets `shares` to `wanted` less the price times `slopes`, within 0 and 1. Returns the price at which they cost the capacity.

    If they cost less at price 0, the price is 0. The search begins at `price`, and stops within 1/100 000 of the capacity.
    """
    low, high = -1.0, 0.0
    for topic in range(len(wanted)):
        if wanted[topic] > 0 and slopes[topic] > 0:
            high = max(high, wanted[topic] / slopes[topic])
    price = min(price, high)
    for _ in range(_TRIES):
        used, slope = 0.0, 0.0
        for topic in range(len(wanted)):
            share = wanted[topic] - price * slopes[topic]
            shares[topic] = min(1.0, max(0.0, share))
            used += costs[topic] * shares[topic]
            if 0 < share < 1:
                slope += costs[topic] * slopes[topic]
        if used > capacity:
            low = price
        else:
            high = price
        if abs(used - capacity) <= _CLOSE * capacity or high <= 0:
            break
        price = max(0.0, price + (used - capacity) / slope) if slope > 0 else high
        if not low < price < high:
            price = max(0.0, (low + high) / 2)
    return price
