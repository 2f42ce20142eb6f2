"""What to serve with the capacity that is left once some topics are served."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .heap import Heap, heap, remove_top, sink
from .solution import Metric, Solution, evaluate


def filled(instance: Instance, threshold: int, capacity: int, metric: Metric, start: Ints) -> Solution:
    """`start`, which has to fit, then again and again the topic that adds most for what it costs, while one that fits adds anything.

    By B3M a topic adds those whom it satisfies, by F-B3M the parts of what they need. Parts only shrink meanwhile, so a topic is worked
    out again when it is on top. Those whom it satisfies may become more: all topics are worked out again in rounds, until one adds none.
    """
    state = _state(instance, threshold, metric)
    chosen, used = _fill(state, start, capacity)
    return Solution(chosen, used, float(getattr(evaluate(instance, threshold, chosen), metric)))


def pruned(instance: Instance, threshold: int, metric: Metric, topics: Ints, price: float) -> Ints:
    """`topics` without those that add no more to the others than `price` times what they cost, looked at from the last to the first."""
    return topics[_kept(_state(instance, threshold, metric), topics, price)]


class _State(NamedTuple):
    """By topic: `events`, `cost`, `served`, and its `subscribers` by `offsets`. By subscriber: `lacks` events, less
    than 0 if he gets more than he needs; `parts`: what one is worth.

    `whole`: only a subscriber as a whole is worth anything.
    """

    events: Ints
    cost: Ints
    served: NDArray[np.bool_]
    offsets: Ints
    subscribers: NDArray[np.int32]
    lacks: Ints
    parts: NDArray[np.float64]
    whole: bool


def _state(instance: Instance, threshold: int, metric: Metric) -> _State:
    needs, by, served = instance.thresholds(threshold), instance.subscribers_of, np.zeros(len(instance.events), np.bool_)
    return _State(instance.events, instance.cost, served, by.offsets, by.values, needs, 1 / needs, metric == "b3m")


@njit(cache=True, nogil=True)
def _fill(state: _State, start: Ints, capacity: int) -> tuple[Ints, int]:
    """The topics in the order they are chosen, and what they cost; uses the state up."""
    chosen, used = np.empty(len(state.events), np.int64), 0
    for count in range(len(start)):
        chosen[count] = start[count]
        used += _serve(state, start[count])
    count, before = len(start), -1
    while before < count:
        before = count
        left, size = heap(_keys(state, capacity - used)), len(state.events)
        while size and left.keys[0] > 0:
            topic = left.items[0]
            if used + state.cost[topic] > capacity:
                size = remove_top(left, size)
            elif not _lowered(state, left, size):
                size = remove_top(left, size)
                chosen[count] = topic
                count += 1
                used += _serve(state, topic)
    return chosen[:count].copy(), used


@njit(cache=True, nogil=True)
def _kept(state: _State, topics: Ints, price: float) -> NDArray[np.bool_]:
    for topic in topics:
        _add(state, topic, -state.events[topic])
    kept = np.ones(len(topics), np.bool_)
    for place in range(len(topics) - 1, -1, -1):
        _add(state, topics[place], state.events[topics[place]])
        if _key(state, topics[place]) > price:
            _add(state, topics[place], -state.events[topics[place]])
        else:
            kept[place] = False
    return kept


@njit(cache=True, nogil=True)
def _lowered(state: _State, left: Heap, size: int) -> bool:
    """Works out the topic on top again; whether it now has a lower key, and so another place."""
    now = _key(state, left.items[0])
    if now >= left.keys[0]:
        return False
    left.keys[0] = now
    sink(left, size, 0)
    return True


@njit(cache=True, nogil=True)
def _keys(state: _State, most: int) -> NDArray[np.float64]:
    """The key of each topic that is not served and costs no more than that, and 0 for the others."""
    keys = np.zeros(len(state.events))
    for topic in range(len(keys)):
        if not state.served[topic] and state.cost[topic] <= most:
            keys[topic] = _key(state, topic)
    return keys


@njit(cache=True, nogil=True)
def _key(state: _State, topic: int) -> float:
    """What the topic adds for what it costs."""
    gain, events = 0.0, state.events[topic]
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        lack = state.lacks[state.subscribers[at]]
        if lack <= 0:
            continue
        if not state.whole:
            gain += min(events, lack) * state.parts[state.subscribers[at]]
        elif events >= lack:
            gain += 1
    return float(gain / state.cost[topic])


@njit(cache=True, nogil=True)
def _serve(state: _State, topic: int) -> int:
    """All subscribers of the topic get its events; returns what it costs."""
    state.served[topic] = True
    _add(state, topic, -state.events[topic])
    return int(state.cost[topic])


@njit(cache=True, nogil=True)
def _add(state: _State, topic: int, events: int) -> None:
    """So many events are lacking to each of its subscribers, more than before."""
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        state.lacks[state.subscribers[at]] += events
