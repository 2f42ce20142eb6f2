"""ModifiedGreedyFB3M (thesis 6.4, algorithms 4 to 7 with errata E4 to E6; spec C5)."""

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .heap import GONE, Heap, heap, keep_fitting, remove_top, sink
from .parts import gains, whole
from .solution import Solution, check_problem

# What the next topic is chosen by: what it adds (type G), or what it adds for what it costs (type R).
Key = Literal["gain", "ratio"]
# What is read of a subscriber for each topic that is computed: the events that they lack, and the parts that each event is.
_SUBSCRIBER: Final = np.dtype([("lacks", np.int64), ("each", np.float64)])


class EvaluatedSolution(NamedTuple):
    """A solution, and the number of times that a topic's gain was computed."""

    solution: Solution
    evaluations: int


def greedy_fb3m(instance: Instance, threshold: int, capacity: int, *, lazy: bool = True) -> Solution:
    """Returns the better of type G and type R, type G if they are equal. It is at least 1/2 (1 - 1/e) of the optimum (thesis 6.4).

    The arguments are those of `greedy_by`.
    """
    start = _start(instance, threshold, capacity)
    by_gain, by_ratio = (_run(instance, start, capacity, key, lazy).solution for key in _KEYS)
    return by_ratio if by_ratio.value > by_gain.value else by_gain


def greedy_by(instance: Instance, threshold: int, capacity: int, key: Key, *, lazy: bool = True) -> EvaluatedSolution:
    """Chooses, again and again, the topic with the greatest `key`; of equals the lower number.

    A topic that does not fit is never tried again. It ends when no topic is left that adds anything. `value` is the sum of the parts that
    subscribers get. The gain of a topic never grows. So `lazy` computes it again only when the topic is on top; otherwise this is done for
    all topics that share a subscriber with a chosen one. The solution is the same.
    Raises PlanError for a `threshold` or a `capacity` that makes no sense.
    """
    return _run(instance, _start(instance, threshold, capacity), capacity, key, lazy)


_KEYS: Final[tuple[Key, Key]] = ("gain", "ratio")


class _Start(NamedTuple):
    needs: Ints
    parts: int
    gains: Ints


def _start(instance: Instance, threshold: int, capacity: int) -> _Start:
    check_problem(threshold, capacity)
    needs, parts = instance.thresholds(threshold), whole(instance)
    return _Start(needs, parts, gains(instance, needs, parts))


def _run(instance: Instance, start: _Start, capacity: int, key: Key, lazy: bool) -> EvaluatedSolution:
    state = _state(instance, start, key)
    chosen, cost, evaluations = _chosen(state, start.gains / state.divisor, min(capacity, int(instance.cost.sum())), lazy)
    value = ((start.needs - state.table["lacks"]) / start.needs).sum()
    return EvaluatedSolution(Solution(chosen, cost, float(value)), evaluations)


class _State(NamedTuple):
    """The state of the choice.

    - by topic: `events`, `cost`, `divisor` (of its gain), and its unsatisfied subscribers, `subscribers[firsts : lasts]`.
    - by subscriber: the `table`, and their topics by `offsets`.
    """

    events: Ints
    cost: Ints
    divisor: Ints
    firsts: Ints
    lasts: Ints
    subscribers: NDArray[np.int32]
    table: NDArray[Any]
    offsets: Ints
    topics: NDArray[np.int32]


def _state(instance: Instance, start: _Start, key: Key) -> _State:
    of, by = instance.topics_of, instance.subscribers_of
    table = np.empty(len(start.needs), _SUBSCRIBER)
    table["lacks"], table["each"] = start.needs, (start.parts + 0.5) / start.needs
    divisor = instance.cost if key == "ratio" else np.ones_like(instance.cost)
    firsts, lasts = by.offsets[:-1], by.offsets[1:].copy()
    return _State(instance.events, instance.cost, divisor, firsts, lasts, by.values.copy(), table, of.offsets, of.values)


@njit(cache=True, nogil=True)
def _chosen(state: _State, keys: NDArray[np.float64], capacity: int, lazy: bool) -> tuple[Ints, int, int]:
    """Returns the topics in the order of choice, their cost, and the number of evaluations. It uses the state up."""
    undecided, size, evaluations = heap(keys), len(keys), len(keys)
    chosen, count, used, rejected = np.empty(size, np.int64), 0, 0, 0
    evaluated = np.zeros(size, np.int32)  # after how many choices
    while size:
        topic = undecided.items[0]
        if used + state.cost[topic] > capacity:
            size = remove_top(undecided, size)
            rejected += 1
            if 16 * rejected > size:
                size, rejected = keep_fitting(undecided, size, state.cost, capacity - used), 0
        elif lazy and evaluated[topic] != count:
            _evaluate(state, undecided, size, 0)
            evaluated[topic] = count
            evaluations += 1
        elif undecided.keys[0] == 0:
            break
        else:
            size = remove_top(undecided, size)
            chosen[count] = topic
            count += 1
            used += state.cost[topic]
            _serve(state, topic)
            if not lazy:
                evaluations += _evaluate_around(state, undecided, size, topic, evaluated, count)
    return chosen[:count].copy(), used, evaluations


@njit(cache=True, nogil=True)
def _evaluate(state: _State, undecided: Heap, size: int, slot: int) -> None:
    topic = undecided.items[slot]
    gain = _gain(state.table, state.subscribers, state.firsts, state.lasts, topic, state.events[topic])
    undecided.keys[slot] = gain / state.divisor[topic]
    sink(undecided, size, slot)


@njit(cache=True, nogil=True)
def _gain(table: NDArray[Any], subscribers: NDArray[np.int32], firsts: Ints, lasts: Ints, topic: int, events: int) -> int:
    """Returns the gain of the topic, in parts of a subscriber. It drops those of its subscribers who are satisfied."""
    lacks, each = table["lacks"], table["each"]
    gain, at, last = 0, firsts[topic], lasts[topic]
    while at < last:
        subscriber = subscribers[at]
        if lacks[subscriber]:
            gain += int(min(lacks[subscriber], events) * each[subscriber])
            at += 1
        else:
            last -= 1
            subscribers[at] = subscribers[last]
    lasts[topic] = last
    return gain


@njit(cache=True, nogil=True)
def _evaluate_around(state: _State, undecided: Heap, size: int, served: int, evaluated: NDArray[np.int32], now: int) -> int:
    """Computes the gains of the undecided topics that share a subscriber with the served one; returns their number."""
    count = 0
    for follower in range(state.firsts[served], state.lasts[served]):
        subscriber = state.subscribers[follower]
        for at in range(state.offsets[subscriber], state.offsets[subscriber + 1]):
            topic = state.topics[at]
            if undecided.places[topic] != GONE and evaluated[topic] != now:
                _evaluate(state, undecided, size, undecided.places[topic])
                evaluated[topic] = now
                count += 1
    return count


@njit(cache=True, nogil=True)
def _serve(state: _State, topic: int) -> None:
    """Gives the topic's events to all its subscribers."""
    lacks = state.table["lacks"]
    for at in range(state.firsts[topic], state.lasts[topic]):
        subscriber = state.subscribers[at]
        lacks[subscriber] = max(0, lacks[subscriber] - state.events[topic])
