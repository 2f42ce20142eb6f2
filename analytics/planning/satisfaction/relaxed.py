"""A bound from a linear relaxation that no choice of topics can exceed; it is tighter than the bound of the thesis (spec C4).

Topics may be served in part, and nobody is satisfied further than their covers allow (covers.py). Give each cover a price; the prices of
one subscriber are 1 at most together. The part of a subscriber is then at most 1 less their prices, plus each price times what its cover
allows: a constant, and a profit of each topic. Summed over all subscribers: no choice within the capacity is worth more than the
constants and the fractional knapsack of the profits. So *all* prices give a valid bound. Good prices come from the primal-dual method of
Chambolle and Pock (2011) with the steps of Pock and Chambolle (2011). It restarts from the average of its points when that is closer.
"""

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numba import njit

from ..instance import Instance, Ints
from .bound import bounds
from .covers import Covers, Floats, covers
from .knapsack import most_profit, nearest
from .solution import Metric, check_metric, check_problem

SWEEPS: Final = 600
GAP: Final = 0.001
# Sweeps between looks at how close it is.
_STRETCH: Final = 20
# Sums of millions of floats may be too small by that part of them.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The solution of the relaxed problem.

    - `bound`: no choice of topics has more value.
    - `shares`: of each topic, how much a nearly best relaxed choice serves; from 0 to 1.
    - `price`: about what one more unit of capacity would add to the bound.
    """

    bound: float
    shares: Floats
    price: float


def relaxed_bound(instance: Instance, threshold: int, capacity: int, metric: Metric) -> float:
    """Returns the bound alone, as `relaxed` finds it."""
    return relaxed(instance, threshold, capacity, metric).bound


def relaxed(instance: Instance, threshold: int, capacity: int, metric: Metric, *, sweeps: int = SWEEPS, gap: float = GAP) -> Relaxed:
    """Goes over all pairs until the bound is within `gap` (a part of it) of the best of its kind, at most `sweeps` times.

    The bound is valid after any number of sweeps, and never above that of the thesis.
    Raises PlanError for a `threshold` or a `capacity` that makes no sense.
    """
    check_problem(threshold, capacity)
    check_metric(metric)
    thesis = float(getattr(bounds(instance, threshold, capacity), metric))
    if capacity >= int(instance.cost.sum()):
        return Relaxed(thesis, np.ones(len(instance.cost)), 0.0)
    found = _Search(covers(instance, threshold, metric), instance.cost, capacity).run(sweeps, gap)
    bound = min(thesis, found.bound * (1 + _ROUNDING))
    return Relaxed(float(math.floor(bound)) if metric == "b3m" else bound, found.shares, found.price)


class _Point(NamedTuple):
    """`shares` and `profits` by topic, and `prices` by cover. `bound`: what the prices prove; `value`: what the shares are worth."""

    shares: Floats
    prices: Floats
    profits: Floats
    bound: float
    value: float

    @property
    def gap(self) -> float:
        return self.bound - self.value


class _Search:
    """The search for prices and shares. The `shares` cost the capacity at most at every point."""

    def __init__(self, covers: Covers, cost: Ints, capacity: int) -> None:
        self._covers, self._cost, self._capacity = covers, cost.astype(np.float64), float(capacity)
        self._affordable = cost <= capacity
        weights = np.zeros(len(cost))
        self._price_steps = 1 / _weigh(covers, weights)
        self._share_steps = np.where(self._affordable, 1 / np.maximum(weights, 1.0), 0.0)
        self._per_cost = 0.0

    def run(self, sweeps: int, gap: float) -> Relaxed:
        """Returns the least bound and the best shares that were seen."""
        counts = np.diff(self._covers.firsts)
        point = self._point(np.zeros(len(self._cost)), np.repeat(0.5 / counts, counts))
        bound, best = point.bound, point
        for first in range(0, sweeps, _STRETCH):
            if bound - best.value <= gap * bound:
                break
            last, mean = self._stretch(point, min(_STRETCH, sweeps - first))
            bound, best = min(bound, last.bound, mean.bound), max(best, last, mean, key=lambda each: each.value)
            point = mean if mean.gap < last.gap else last
        return Relaxed(bound, best.shares, self._per_cost)

    def _stretch(self, point: _Point, sweeps: int) -> tuple[_Point, _Point]:
        """Returns the point that lies that many sweeps from `point`, and the average of all points on the way."""
        shares, prices, profits = point.shares, point.prices.copy(), point.profits
        shares_sum, prices_sum = np.zeros_like(shares), np.zeros_like(prices)
        for _ in range(sweeps):
            before, shares = shares, np.empty_like(shares)
            wanted, slopes = before + self._share_steps * profits, self._share_steps * self._cost
            self._per_cost = nearest(wanted, slopes, self._cost, self._capacity, self._per_cost, shares)
            profits = self._covers.alone.copy()
            _sweep(self._covers, self._price_steps, 2 * shares - before, prices, profits)
            shares_sum += shares
            prices_sum += prices
        return self._point(shares, prices), self._point(shares_sum / sweeps, prices_sum / sweeps)

    def _point(self, shares: Floats, prices: Floats) -> _Point:
        profits = self._covers.alone.copy()
        rest, value = _judge(self._covers, shares, prices, profits)
        earned = most_profit(profits[self._affordable], self._cost[self._affordable], self._capacity)
        return _Point(shares, prices, profits, rest + earned, value + float(self._covers.alone @ shares))


@njit(cache=True, nogil=True)
def _weigh(covers: Covers, weights: Floats) -> Floats:
    """Returns the sum of the weights of each cover; it adds the weights of each topic to `weights`."""
    result = np.zeros(len(covers.lacks))
    for cover in range(len(result)):
        for at in range(covers.begins[cover], covers.ends[cover]):
            weight = min(1.0, covers.gives[at] / covers.lacks[cover])
            weights[covers.topics[at]] += weight
            result[cover] += weight
    return result


@njit(cache=True, nogil=True)
def _sweep(covers: Covers, steps: Floats, shares: Floats, prices: Floats, profits: Floats) -> None:
    """Raises the price of each cover that allows too little at these `shares`, lowers the others, and adds up `profits`."""
    for subscriber in range(len(covers.firsts) - 1):
        first, last = covers.firsts[subscriber], covers.firsts[subscriber + 1]
        for cover in range(first, last):
            prices[cover] = max(0.0, prices[cover] + steps[cover] * (1 - _allowed(covers, cover, shares)))
        _limit(prices[first:last], steps[first:last])
        for cover in range(first, last):
            _pay(covers, cover, prices[cover], profits)


@njit(cache=True, nogil=True)
def _judge(covers: Covers, shares: Floats, prices: Floats, profits: Floats) -> tuple[float, float]:
    """Returns the sum of the constants, and the worth of `shares` to those who have covers; it adds up `profits`."""
    rest, value = 0.0, 0.0
    for subscriber in range(len(covers.firsts) - 1):
        free, part = 1.0, 1.0
        for cover in range(covers.firsts[subscriber], covers.firsts[subscriber + 1]):
            free -= prices[cover]
            part = min(part, _allowed(covers, cover, shares))
            _pay(covers, cover, prices[cover], profits)
        rest += max(0.0, free)
        value += part
    return rest, value


@njit(cache=True, nogil=True, inline="always")
def _allowed(covers: Covers, cover: int, shares: Floats) -> float:
    total, lack = 0.0, covers.lacks[cover]
    for at in range(covers.begins[cover], covers.ends[cover]):
        total += min(1.0, covers.gives[at] / lack) * shares[covers.topics[at]]
    return total


@njit(cache=True, nogil=True, inline="always")
def _pay(covers: Covers, cover: int, price: float, profits: Floats) -> None:
    if price > 0:
        lack = covers.lacks[cover]
        for at in range(covers.begins[cover], covers.ends[cover]):
            profits[covers.topics[at]] += min(1.0, covers.gives[at] / lack) * price


@njit(cache=True, nogil=True)
def _limit(prices: Floats, steps: Floats) -> None:
    """Returns the nearest prices that are 1 at most together. The method requires that squares of distances are divided by the steps.

    Without that, a cover of many topics, with its short steps, never gets its price, and the search stops before the best.
    """
    over, weight = prices.sum() - 1, steps.sum()
    while over > 1e-12:
        less, over, weight = over / weight, -1.0, 0.0
        for at in range(len(prices)):
            prices[at] = max(0.0, prices[at] - less * steps[at])
            if prices[at] > 0:
                over += prices[at]
                weight += steps[at]
