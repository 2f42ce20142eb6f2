"""The pairs to serve when incoming events count as well: stage 1 with an eye on stage 2 (beyond thesis 7.2.1).

Strategy: a pair costs its events. A subscriber who is alone with a topic pays for its incoming stream, too. Each subscriber in turn
takes the cheapest topics, given the choice of all others, until nobody can improve. The volume never rises. In the first round an
incoming stream is divided among those who have the topic and the one who might take it. So it pays to be where others are.
"""

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints, Rows
from ..threshold import check_threshold
from .cover import Flags, cover
from .selection import Selection

SHARING_ROUNDS: Final = 1
# Two to four more are enough on the profiles; none makes it worse.
MOST_ROUNDS: Final = 20
# More than can follow a topic: it comes in whatever anybody decides.
ALWAYS: Final = 1 << 40


def choose(instance: Instance, threshold: int) -> Selection:
    """Returns pairs that satisfy everybody with few events in and out together. Raises PlanError for a threshold that makes no sense."""
    check_threshold(threshold)
    rows, events = instance.topics_of, instance.events
    count = np.where(indispensable(instance, threshold) > 0, ALWAYS, 0)
    chosen = np.zeros(len(rows.values), np.bool_)
    changed = np.zeros(len(events), np.int64)
    for number in range(MOST_ROUNDS):
        better = _round(rows.offsets, rows.values, events, threshold, number, count, changed, chosen)
        if not better and number >= SHARING_ROUNDS:
            break
    sizes = np.add.reduceat(chosen, rows.offsets[:-1], dtype=np.int64)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Selection(Rows(ends, rows.values[chosen]).turned(len(events)))


def indispensable(instance: Instance, threshold: int) -> Ints:
    """Returns, for each topic, how many of its subscribers cannot be satisfied without it."""
    rows = instance.topics_of
    return _indispensable(rows.offsets, rows.values, instance.events, instance.received - instance.thresholds(threshold))


@njit(cache=True, nogil=True)
def _indispensable(offsets: Ints, values: NDArray[np.int32], events: Ints, spare: Ints) -> Ints:
    result = np.zeros(len(events), np.int64)
    for row in range(len(spare)):
        for at in range(offsets[row], offsets[row + 1]):
            if events[values[at]] > spare[row]:
                result[values[at]] += 1
    return result


@njit(cache=True, nogil=True)
def _round(
    offsets: Ints, values: NDArray[np.int32], events: Ints, threshold: int, number: int, count: Ints, changed: Ints, chosen: Flags
) -> int:
    """Lets each subscriber choose once; returns how many changed their choice.

    - `number`: of this round.
    - `count`: how many subscribers have chosen each topic.
    - `changed`: the round in which the choice of each topic last made a difference to others.

    It updates `count`, `changed` and `chosen`.
    """
    rows, better = len(offsets) - 1, 0
    for row in range(rows):
        turn = number * rows + row
        topics, mine = values[offsets[row] : offsets[row + 1]], chosen[offsets[row] : offsets[row + 1]]
        if number > SHARING_ROUNDS and _latest(topics, changed) <= turn - rows:
            continue
        gives, prices = np.empty(len(topics), np.int64), np.empty(len(topics), np.float64)
        total, paid = 0, 0.0
        for place in range(len(topics)):
            others = count[topics[place]] - (1 if mine[place] else 0)
            gives[place] = events[topics[place]]
            alone = 0.0 if others else 1.0
            share = 1.0 / (1.0 + others) if number < SHARING_ROUNDS else alone
            prices[place] = gives[place] * (1.0 + share)
            total += gives[place]
            paid += prices[place] if mine[place] else 0.0
        taken = np.empty(len(topics), np.bool_)
        price, _ = cover(gives, prices, min(threshold, total), taken)
        if number == 0 or price < paid:
            better += 1
            for place in range(len(topics)):
                if taken[place] != mine[place]:
                    topic = topics[place]
                    # Others see whether they would be alone with it, and those who have it whether they are.
                    count[topic] += 1 if taken[place] else -1
                    if count[topic] - (1 if taken[place] else 0) <= 1:
                        changed[topic] = turn
                    mine[place] = taken[place]
    return better


@njit(cache=True, nogil=True)
def _latest(topics: NDArray[np.int32], changed: Ints) -> int:
    """Returns the last round in which the choice of one of the topics made a difference."""
    latest = np.int64(0)
    for topic in topics:
        latest = max(latest, changed[topic])
    return int(latest)
