"""GreedyB3M (thesis 6.3, algorithms 1 and 2 with errata E1 and E2; spec C3)."""

from typing import Any, Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .heap import GONE, Heap, heap, keep_fitting, remove_top, rise, sink
from .parts import gains, per_event, whole
from .solution import Solution, check_problem

# What is read and written together lies together, in half a line of the processor's cache.
_TOPIC: Final = np.dtype([("value", np.int64), ("known", np.int64), ("events", np.int64), ("decided", np.int64)])
_SUBSCRIBER: Final = np.dtype([("lacks", np.int64), ("first", np.int64), ("last", np.int64), ("end", np.int64)])
# A sixteenth. Half of it or twice as much makes no difference; nothing at all doubles the time where thresholds are high.
_MARGIN_BITS: Final = 4


def greedy_b3m(instance: Instance, threshold: int, capacity: int) -> Solution:
    """Chooses, again and again, the topic that adds most to its subscribers for its cost; of equals the lower number.

    A topic that does not fit is never tried again. It ends when no topic is left that adds anything. `value` counts subscribers.
    Raises PlanError for a `threshold` or a `capacity` that makes no sense.
    """
    check_problem(threshold, capacity)
    needs, parts = instance.thresholds(threshold), whole(instance)
    value = gains(instance, needs, parts)
    state = _state(instance, needs, value)
    chosen, cost = _chosen(state, value / instance.cost, parts, min(capacity, int(instance.cost.sum())))
    return Solution(chosen, cost, float(np.count_nonzero(state.lists["lacks"] == 0)))


class _State(NamedTuple):
    """The state of the choice.

    - `table`: of each topic its `value` (what it adds, in parts), the value that the heap has `known` (never less), and its `events`.
    - `lists`: of each subscriber the events that they `lack`, and their `topics[first:end]`. Those from `last` on have at least as many
      events as the subscriber lacks; those before `first` are decided.
    - `risen`: room for topics.
    """

    table: NDArray[Any]
    cost: Ints
    lists: NDArray[Any]
    topics: NDArray[np.int32]
    offsets: Ints
    subscribers: NDArray[np.int32]
    risen: NDArray[np.int32]


def _state(instance: Instance, needs: Ints, value: Ints) -> _State:
    of, by = instance.topics_of, instance.subscribers_of
    table, lists = np.zeros(len(value), _TOPIC), np.empty(len(needs), _SUBSCRIBER)
    table["value"], table["known"], table["events"] = value, value, instance.events
    lists["lacks"], lists["first"], lists["last"], lists["end"] = needs, of.offsets[:-1], of.offsets[1:], of.offsets[1:]
    return _State(table, instance.cost, lists, of.values.copy(), by.offsets, by.values, np.empty(len(value), np.int32))


@njit(cache=True, nogil=True)
def _chosen(state: _State, keys: NDArray[np.float64], whole: int, capacity: int) -> tuple[Ints, int]:
    """Returns the topics in the order of choice, and their cost. It uses the state up."""
    value, known = state.table["value"], state.table["known"]
    undecided, size = heap(keys), len(keys)
    chosen, count, used, rejected = np.empty(size, np.int64), 0, 0, 0
    while size:
        topic = undecided.items[0]
        if used + state.cost[topic] > capacity:
            state.table["decided"][topic] = 1
            size = remove_top(undecided, size)
            rejected += 1
            if 16 * rejected > size:
                size, rejected = keep_fitting(undecided, size, state.cost, capacity - used), 0
        elif known[topic] != value[topic]:
            known[topic] = value[topic]
            undecided.keys[0] = value[topic] / state.cost[topic]
            sink(undecided, size, 0)
        elif value[topic] == 0:
            break
        else:
            state.table["decided"][topic] = 1
            size = remove_top(undecided, size)
            chosen[count] = topic
            count += 1
            used += state.cost[topic]
            _serve(state, undecided, whole, topic)
    return chosen[:count].copy(), used


@njit(cache=True, nogil=True)
def _serve(state: _State, undecided: Heap, whole: int, topic: int) -> None:
    """Gives the topic's events to all its subscribers."""
    # Arrays are taken out of the state here, as that costs more than a short call.
    table, lists, topics, risen = state.table, state.lists, state.topics, state.risen
    events = table["events"][topic]
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        subscriber = state.subscribers[at]
        lacked = lists["lacks"][subscriber]
        lists["lacks"][subscriber] = max(0, lacked - events)
        if lacked > events:
            count = _revalue(table, lists, topics, subscriber, lacked, whole, risen)
            if count:
                _tell(state, undecided, risen[:count])
        elif lacked:
            _forget(table, lists, topics, subscriber, lacked, whole)


@njit(cache=True, nogil=True)
def _forget(table: NDArray[Any], lists: NDArray[Any], topics: NDArray[np.int32], subscriber: int, lacked: int, whole: int) -> None:
    """Takes the subscriber, who lacked so many events, out of the values: no topic adds anything to them any more."""
    each = per_event(lacked, whole)
    for at in range(lists["first"][subscriber], lists["end"][subscriber]):
        topic = topics[at]
        table["value"][topic] -= int(min(table["events"][topic], lacked) * each)


@njit(cache=True, nogil=True)
def _revalue(
    table: NDArray[Any],
    lists: NDArray[Any],
    topics: NDArray[np.int32],
    subscriber: int,
    lacked: int,
    whole: int,
    risen: NDArray[np.int32],
) -> int:
    """Updates the values of the subscriber's topics, now that they lack less than the `lacked` events of before.

    A topic that would have satisfied the subscriber before still would. Returns how many topics are worth more than the heap knows, and
    notes them in `risen`.
    """
    value, known, events = table["value"], table["known"], table["events"]
    lacks, count = lists["lacks"][subscriber], 0
    before, now = per_event(lacked, whole), per_event(lacks, whole)
    first, last = lists["first"][subscriber], lists["last"][subscriber]
    at = first
    while at < last:
        topic = topics[at]
        if table["decided"][topic]:
            topics[at] = topics[first]
            first += 1
            at += 1
            continue
        value[topic] += int(min(events[topic], lacks) * now) - int(min(events[topic], lacked) * before)
        if value[topic] > known[topic]:
            risen[count] = topic
            count += 1
        if events[topic] < lacks:
            at += 1
        else:
            last -= 1
            topics[at], topics[last] = topics[last], topic
    lists["first"][subscriber], lists["last"][subscriber] = first, last
    return count


@njit(cache=True, nogil=True)
def _tell(state: _State, undecided: Heap, risen: NDArray[np.int32]) -> None:
    """Raises the keys of the `risen` topics above their present values, as values go on rising.

    A key that is too high is noticed when its topic is on top.
    """
    value, known = state.table["value"], state.table["known"]
    for topic in risen:
        place = undecided.places[topic]
        if place == GONE:  # with others that did not fit
            state.table["decided"][topic] = 1
        else:
            known[topic] = value[topic] + (value[topic] >> _MARGIN_BITS)
            undecided.keys[place] = known[topic] / state.cost[topic]
            rise(undecided, place)
