"""A bound that is nearly reached: the subscribers of a topic share the cost of its incoming events (beyond thesis 7.2.3).

Why it holds. Take any plan. For every served pair, charge the subscriber the events of the topic and a share of them. The shares of a
topic are 0 or more, and at most 1 together. Then the sum of all charges is at most the events that go out, and those that come in once
for each topic. A subscriber pays at least the price of the cheapest topics that satisfy them. So the sum of those prices is a bound,
whatever the shares are. A topic without which somebody cannot be satisfied has no shares: it comes in anyway, and once more for each
further machine that its pairs fill. (This is a Lagrangian relaxation of "a topic that is served comes in", for each pair.)

Strategy: the first shares go to those who take the topic when nobody pays for it. Shares grow for those who take the topic although
they pay.
"""

from math import ceil
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..threshold import check_threshold
from .bound import LowerBound, at_least
from .choice import indispensable
from .cover import Flags, Floats, cover
from .prices import check_room
from .terms import Terms

# Each takes about as long as a round of `choose`; after these the bound hardly rises.
ROUNDS: Final = 8
# Only subscribers whose table is smaller (topics times events needed) pay shares, or a round would take long.
MOST_CELLS: Final = 1 << 15
# What those who did not take a topic weigh at first, beside 1 for those who did.
FAINT: Final = np.float32(0.02)
# Sums of 64-bit floats are less wrong than this by far, for any number of pairs that fits a machine.
SLACK: Final = 1e-9


def relaxed_bound(instance: Instance, threshold: int, terms: Terms) -> LowerBound:
    """Returns a bound that no selection and placement can undercut.

    Raises PlanError for a `threshold` that makes no sense, and when machines under these `terms` are too small for any plan.
    """
    check_threshold(threshold)
    check_room(terms, int(instance.smallest.max(initial=0)))
    needed = indispensable(instance, threshold)
    incoming = _incoming(instance, needed, terms)
    return at_least(incoming + ceil(_charged(instance, threshold, needed == 0) * (1.0 - SLACK)), terms)


def _incoming(instance: Instance, needed: Ints, terms: Terms) -> int:
    """Returns the events that come in with any choice. `needed`: how many pairs of each topic are in every plan."""
    per_machine = np.maximum(1, terms.capacity // instance.events - 1)
    return int(-(-needed // per_machine) @ instance.events)


def _charged(instance: Instance, threshold: int, shared: Flags) -> float:
    """Returns the greatest sum of charges that was found. `shared`: the topics whose incoming events are paid for in shares."""
    rows = instance.topics_of
    weights = np.zeros(len(rows.values), np.float32)
    taken = np.zeros(len(rows.values), np.bool_)
    charged = np.zeros(len(rows))
    problem = rows.offsets, rows.values, instance.events, threshold
    _charge(*problem, np.arange(len(rows)), weights, np.ones(len(instance.events)), charged, taken)
    most = float(charged.sum())
    payers = instance.thresholds(threshold) <= MOST_CELLS // rows.lengths
    weights[:] = np.where(taken, np.float32(1.0), FAINT) * shared[rows.values] * np.repeat(payers, rows.lengths)
    subscribers = np.flatnonzero(np.logical_or.reduceat(weights > 0, rows.offsets[:-1]))
    for _ in range(ROUNDS):
        totals = np.bincount(rows.values, weights, len(instance.events))
        _charge(*problem, subscribers, weights, np.where(totals > 0, totals, 1.0), charged, taken)
        most = max(most, float(charged.sum()))
        weights[taken] *= 2
    return most


@njit(cache=True, nogil=True)
def _charge(
    offsets: Ints,
    values: NDArray[np.int32],
    events: Ints,
    threshold: int,
    subscribers: Ints,
    weights: NDArray[np.float32],
    totals: Floats,
    charged: Floats,
    taken: Flags,
) -> None:
    """Charges these subscribers, and writes their `charged` and `taken`. The share of a pair is its weight divided by the topic's total."""
    for subscriber in subscribers:
        first, end = offsets[subscriber], offsets[subscriber + 1]
        gives, prices = np.empty(end - first, np.int64), np.empty(end - first, np.float64)
        total = 0
        for pair in range(first, end):
            topic = values[pair]
            gives[pair - first] = events[topic]
            prices[pair - first] = events[topic] * (1.0 + np.float64(weights[pair]) / totals[topic])
            total += events[topic]
        _, charged[subscriber] = cover(gives, prices, min(threshold, total), taken[first:end])
