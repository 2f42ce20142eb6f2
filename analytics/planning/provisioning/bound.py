"""A bound that no selection and placement can undercut (thesis 7.2.3, algorithm 13 and theorem 7.3; spec D4)."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..threshold import check_threshold
from .prices import check_room
from .terms import Terms


class LowerBound(NamedTuple):
    """The least events in and out, the least number of machines, and the least price."""

    events: int
    machines: int
    usd: float


class LowerBounds(NamedTuple):
    """Two bounds: `published` counts the events that go out, `stronger` also those that must come in."""

    published: LowerBound
    stronger: LowerBound


def lower_bounds(instance: Instance, threshold: int, terms: Terms) -> LowerBounds:
    """Returns both bounds. Each subscriber gets at least their threshold, and at least their smallest topic.

    Raises PlanError for a `threshold` that makes no sense, and when machines under these `terms` are too small for any plan.
    """
    check_threshold(threshold)
    check_room(terms, int(instance.smallest.max(initial=0)))
    needs = np.maximum(instance.thresholds(threshold), instance.smallest)
    outgoing = int(needs.sum())
    # A subscriber who needs all of their topics decides which come in. The fewer of them they need, the less they decide.
    order = np.argsort(-needs / instance.received, kind="stable")
    rows = instance.topics_of
    incoming = int(_incoming(rows.offsets, rows.values, instance.events, needs, order))
    return LowerBounds(at_least(outgoing, terms), at_least(outgoing + incoming, terms))


def at_least(events: int, terms: Terms) -> LowerBound:
    """Returns the price of `events` in and out if all machines were full."""
    if not events:
        return LowerBound(0, 0, 0.0)
    machines = -(-events // terms.capacity)
    return LowerBound(events, machines, terms.usd(machines, events))


@njit(cache=True, nogil=True)
def _incoming(offsets: Ints, values: NDArray[np.int32], events: Ints, needs: Ints, order: Ints) -> int:
    """Returns the least number of events that come in.

    Subscribers are visited in `order`. Some topics of a subscriber belong to nobody visited before. Those earlier topics may not give
    the subscriber all they need; the rest comes from the new topics, and it is at least the smallest of them. Each topic is counted for
    one subscriber only, so the sum holds for any order. Disjoint subscribers (spec D4) are a special case.
    """
    counted = np.zeros(len(events), np.bool_)
    total = 0
    for row in order:
        others, least = 0, np.int64(1 << 62)
        for at in range(offsets[row], offsets[row + 1]):
            topic = values[at]
            if counted[topic]:
                others += events[topic]
            else:
                least = min(least, events[topic])
        if others < needs[row]:
            total += max(needs[row] - others, least)
            for at in range(offsets[row], offsets[row + 1]):
                counted[values[at]] = True
    return total
