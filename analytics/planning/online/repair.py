"""The kernels of the online variant: they take a choice of topics apart where it is weakest, and complete it again (spec D7).

The worth of a topic is computed as if it were the only undecided one. It is a sum over its subscribers: the part that the topic gives
of the events that they lack without it (B3M), or need (F-B3M). So served topics and others can be compared.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..satisfaction.heap import heap, keep_fitting, remove_top, sink

Floats = NDArray[np.float64]

# Fields that are read together lie together. `lacks`: events that a subscriber still needs; below 0 those beyond the need. `each`: the
# part of the need (F-B3M) or of the lack (B3M) that one event is.
_SUBSCRIBER: Final = np.dtype([("lacks", np.int64), ("each", np.float64)])
# One in so many topics is kept in order in a round.
_BEST: Final = 4


class RepairState(NamedTuple):
    """The choice as arrays.

    - by topic: `events`, `cost`, whether it is `served`, and its `subscribers` by `offsets`.
    - by subscriber: the `table`.
    - `fractional`: the metric is F-B3M.
    """

    events: Ints
    cost: Ints
    served: NDArray[np.bool_]
    offsets: Ints
    subscribers: NDArray[np.int32]
    table: NDArray[Any]
    fractional: bool


def state(instance: Instance, needs: Ints, served: NDArray[np.bool_], fractional: bool) -> RepairState:
    """Returns the state in which these topics are `served`. It keeps the array `served`, and changes it."""
    by, table = instance.subscribers_of, np.empty(len(needs), _SUBSCRIBER)
    table["lacks"] = needs
    np.divide(1.0, needs, out=table["each"])
    made = RepairState(instance.events, instance.cost, served, by.offsets, by.values, table, fractional)
    _change(made, np.flatnonzero(served), True)
    return made


@njit(cache=True, nogil=True)
def value(state: RepairState, needs: Ints) -> float:
    """Returns the worth of the served topics: the same sums as in `evaluate`."""
    lacks, total = state.table["lacks"], 0.0
    for subscriber in range(len(needs)):
        if lacks[subscriber] <= 0:
            total += 1
        elif state.fractional:
            total += (needs[subscriber] - lacks[subscriber]) / needs[subscriber]
    return total


def give_up(state: RepairState, used: int, wanted: int) -> int:
    """Gives up the served topics with least worth for their cost, until no more than `wanted` is `used`. Returns the use after that.

    Worths are not computed again after each topic. A topic whose worth grew meanwhile may come back in `complete`.
    """
    topics = np.flatnonzero(state.served)
    order = topics[np.argsort(_losses(state, topics), kind="stable")]
    left = used - np.cumsum(state.cost[order])
    count = np.count_nonzero(left > wanted) + 1 if used > wanted else 0
    _change(state, order[:count], False)
    return int(left[count - 1]) if count else used


def complete(state: RepairState, weights: Floats, used: int, capacity: int, rounds: int) -> tuple[Ints, int]:
    """Serves, again and again, the topic with most weighted worth for its cost, while one fits.

    - `weights`: a factor for the worth of each topic.
    - `used`, `capacity`: the cost of the served topics now, and at most.
    - `rounds`: each fills an equal part of the room.

    Worth that fell is noticed when the topic is on top of the heap. Worth that rose is noticed in the next round only; with F-B3M it
    never rises. Returns the topics in their order, and the use after that.
    """
    chosen = [np.empty(0, np.int64)]
    for left in range(rounds, -1, -1):  # the last with whatever fits into what the best left over
        if used < capacity:
            keys, wanted = _gains(state, capacity - used) * weights, used + (capacity - used) // max(1, left)
            more, used = _filled(state, weights, keys, _least(keys) if left else 0.0, used, wanted, capacity)
            chosen.append(more)
    return np.concatenate(chosen), used


def _least(keys: Floats) -> float:
    """Returns a key that only the best topics exceed. More of them are hardly ever needed, and a small heap is quicker."""
    rank = len(keys) - 1 - np.count_nonzero(keys) // _BEST
    return float(np.partition(keys, rank)[rank])


@njit(cache=True, nogil=True)
def _change(state: RepairState, topics: Ints, served: bool) -> None:
    """Serves the topics, or gives them up."""
    # Arrays are taken out of the state before loops: each look-up in one counts its references.
    subscribers, lacks, each = state.subscribers, state.table["lacks"], state.table["each"]
    for topic in topics:
        state.served[topic] = served
        events = state.events[topic] if served else -state.events[topic]
        for at in range(state.offsets[topic], state.offsets[topic + 1]):
            subscriber = subscribers[at]
            lacks[subscriber] -= events
            if not state.fractional and lacks[subscriber] > 0:
                each[subscriber] = 1 / lacks[subscriber]


@njit(cache=True, nogil=True)
def _losses(state: RepairState, topics: Ints) -> Floats:
    """Returns the worth of each of these served topics, divided by its cost."""
    found = np.empty(len(topics))
    for place in range(len(topics)):
        found[place] = _loss(state, topics[place])
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _loss(state: RepairState, topic: int) -> float:
    events, subscribers, lacks, each = state.events[topic], state.subscribers, state.table["lacks"], state.table["each"]
    fractional, loss = state.fractional, 0.0
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        subscriber = subscribers[at]
        without = lacks[subscriber] + events
        loss += max(0, min(events, without)) * (each[subscriber] if fractional else 1 / max(1, without))
    return float(loss / state.cost[topic])


@njit(cache=True, nogil=True)
def _gains(state: RepairState, room: int) -> Floats:
    """Returns the worth of each topic that is not served and fits, divided by its cost; 0 for others."""
    found = np.zeros(len(state.events))
    for topic in range(len(found)):
        if not state.served[topic] and state.cost[topic] <= room:
            found[topic] = _gain(state, topic)
    return found


@njit(cache=True, nogil=True)
def _gain(state: RepairState, topic: int) -> float:
    events, subscribers, lacks, each, gain = state.events[topic], state.subscribers, state.table["lacks"], state.table["each"], 0.0
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        subscriber = subscribers[at]
        gain += max(0, min(events, lacks[subscriber])) * each[subscriber]
    return float(gain / state.cost[topic])


@njit(cache=True, nogil=True)
def _filled(state: RepairState, weights: Floats, keys: Floats, least: float, used: int, wanted: int, capacity: int) -> tuple[Ints, int]:
    """Fills one round with the topics whose keys are above `least`, until `wanted` or more is `used`."""
    topics = np.flatnonzero(keys > least)
    promising, cost, size = heap(keys[topics]), state.cost[topics], len(topics)
    evaluated, chosen, count, rejected = np.zeros(size, np.int32), np.empty(size, np.int64), 0, 0
    while size and used < wanted and promising.keys[0] > least:
        place = promising.items[0]
        if used + cost[place] > capacity:
            size = remove_top(promising, size)
            rejected += 1
            if 16 * rejected > size:
                size, rejected = keep_fitting(promising, size, cost, capacity - used), 0
        elif evaluated[place] != count:
            evaluated[place] = count
            promising.keys[0] = _gain(state, topics[place]) * weights[topics[place]]
            sink(promising, size, 0)
        else:
            size = remove_top(promising, size)
            chosen[count] = topics[place]
            count += 1
            used += cost[place]
            _change(state, topics[place : place + 1], True)
    return chosen[:count].copy(), used
