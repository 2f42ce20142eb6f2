"""The topics to serve with the capacity that is left when some topics are served already."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .heap import Heap, heap, remove_top, sink
from .solution import Metric, Solution, evaluate


def filled(instance: Instance, threshold: int, capacity: int, metric: Metric, start: Ints) -> Solution:
    """Returns `start`, which has to fit, followed by topics that fill the rest of the capacity.

    Each is the topic with most gain for its cost; it ends when no topic that fits adds anything. The arguments are those of a problem.

    By B3M the gain of a topic is the subscribers that it satisfies; by F-B3M it is the parts of their needs. Parts only shrink, so a topic
    is computed again when it is on top. The number of subscribers that a topic would satisfy may grow: all topics are computed again in
    rounds, until a round adds none.
    """
    state = _state(instance, threshold, metric)
    chosen, used = _fill(state, start, capacity)
    return Solution(chosen, used, float(getattr(evaluate(instance, threshold, chosen), metric)))


def pruned(instance: Instance, threshold: int, metric: Metric, topics: Ints, price: float) -> Ints:
    """Returns `topics` without those that add no more to the others than `price` times their cost. It visits them from last to first."""
    return topics[_kept(_state(instance, threshold, metric), topics, price)]


class _State(NamedTuple):
    """The state of the choice.

    - by topic: `events`, `cost`, `served`, and its `subscribers` by `offsets`.
    - by subscriber: the events that they `lack`, below 0 if they get more than they need, and `parts`: the worth of one event.
    - `whole`: only a whole subscriber is worth anything.
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
    """Returns the topics in the order of choice, and their cost. It uses the state up."""
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
    """Computes the topic on top again; returns whether its key is now lower, and so its place another one."""
    now = _key(state, left.items[0])
    if now >= left.keys[0]:
        return False
    left.keys[0] = now
    sink(left, size, 0)
    return True


@njit(cache=True, nogil=True)
def _keys(state: _State, most: int) -> NDArray[np.float64]:
    """Returns the key of each topic that is not served and costs `most` at most; 0 for the others."""
    keys = np.zeros(len(state.events))
    for topic in range(len(keys)):
        if not state.served[topic] and state.cost[topic] <= most:
            keys[topic] = _key(state, topic)
    return keys


@njit(cache=True, nogil=True)
def _key(state: _State, topic: int) -> float:
    """Returns the gain of the topic, divided by its cost."""
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
    """Gives the topic's events to all its subscribers; returns its cost."""
    state.served[topic] = True
    _add(state, topic, -state.events[topic])
    return int(state.cost[topic])


@njit(cache=True, nogil=True)
def _add(state: _State, topic: int, events: int) -> None:
    """Adds so many events to what each subscriber of the topic lacks."""
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        state.lacks[state.subscribers[at]] += events
