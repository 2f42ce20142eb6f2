"""The cheapest way to satisfy one subscriber when each of their topics has a price: a knapsack that must be filled.

Strategy: topics without which the subscriber cannot be satisfied are taken. Of the topics that satisfy the subscriber alone, only the
cheapest matters. The others are combined by dynamic programming over their events, the cheapest per event first, until nothing can be
cheaper.

Other kernels compile `cover` into themselves, and Numba looks for changes only in the file of each kernel. After a change in this file,
delete the caches of those kernels.
"""

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Ints

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Cells of a table, topics by events, each a byte: more would take more time than it saves events.
MOST_CELLS: Final = 1 << 19
# Who needs more gets topics that are cheapest per event, until no more than this is left to combine.
MOST_NEED: Final = 1 << 11


@njit(cache=True, nogil=True)
def cover(events: Ints, prices: Floats, need: int, taken: Flags) -> tuple[float, float]:
    """Returns the price of the cheapest topics found that have `need` events together, and a price that no others can undercut.

    - `events`, `prices`: of each topic; prices are positive.
    - `need`: at most the events of all topics.
    - `taken`: becomes True for the topics that are found.

    Both prices are the same, unless the tables that would decide it are too large.
    """
    spare, paid = -need, 0.0
    for topic in range(len(events)):
        spare += events[topic]
    for topic in range(len(events)):
        taken[topic] = events[topic] > spare
        if taken[topic]:
            need -= events[topic]
            paid += prices[topic]
    if need <= 0:
        return paid, paid
    least = np.inf
    for topic in range(len(events)):
        if not taken[topic]:
            least = min(least, prices[topic] / min(events[topic], need) * need)
    lone = _lone(events, prices, need, taken)
    if lone >= 0 and prices[lone] <= least:
        taken[lone] = True
        return paid + prices[lone], paid + prices[lone]
    exact = _combine(events, prices, need, least, taken)
    price = 0.0
    for topic in range(len(events)):
        if taken[topic]:
            price += prices[topic]
    return price, price if exact else paid + least


@njit(cache=True, nogil=True)
def _lone(events: Ints, prices: Floats, need: int, taken: Flags) -> int:
    """Returns the cheapest topic that has all events by itself, or -1."""
    best = -1
    for topic in range(len(events)):
        if events[topic] >= need and not taken[topic] and (best < 0 or prices[topic] < prices[best]):
            best = topic
    return best


@njit(cache=True, nogil=True)
def _combine(events: Ints, prices: Floats, need: int, least: float, taken: Flags) -> bool:
    """Takes the cheapest topics found for the rest of `need`. Returns whether none can be cheaper, if `least` is the least price."""
    order = np.argsort(prices / events)
    exact = need <= MOST_NEED
    for topic in order:
        if need > MOST_NEED and events[topic] < need and not taken[topic]:
            taken[topic] = True
            need -= events[topic]
    lone = _lone(events, prices, need, taken)
    count, reach, enough = 0, 0, MOST_CELLS // need
    for topic in order:
        if events[topic] < need and not taken[topic]:
            if count >= enough and reach >= need:
                exact = False
                break
            order[count] = topic
            count += 1
            reach += events[topic]
    price = _table(events, prices, need, order[:count], least, prices[lone] if lone >= 0 else np.inf, taken)
    if price == np.inf:
        taken[lone] = True
    return exact or price <= least


@njit(cache=True, nogil=True)
def _table(events: Ints, prices: Floats, need: int, topics: Ints, least: float, below: float, taken: Flags) -> float:
    """Takes the cheapest of `topics` that have `need` events together. Returns their price; infinity if it is not `below` the given one."""
    best = np.full(need + 1, np.inf)
    best[0] = 0.0
    # Read only where it was written: clearing it would take longer than all the rest.
    better = np.empty((len(topics), need + 1), dtype=np.bool_)
    reach, last = 0, -1
    for topic in topics:
        last += 1
        reach = min(need, reach + events[topic])
        for had in range(reach, 0, -1):
            tried = best[max(0, had - events[topic])] + prices[topic]
            better[last, had] = tried < best[had]
            best[had] = min(best[had], tried)
        if best[need] <= least:
            break
    if best[need] >= below:
        return np.inf
    had = need
    while had > 0:
        if better[last, had]:
            taken[topics[last]] = True
            had = max(0, had - events[topics[last]])
        last -= 1
    return float(best[need])
