"""Takes a choice of topics apart where it is weakest, and completes it again: the kernels of the online variant (spec D7).

What a topic is worth, is worked out as if it was the only one undecided: in parts of its subscribers, by what they lack without it. So
topics that are served and such as are not can be compared.
"""

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..satisfaction.heap import GONE, Heap, heap, remove_top, rise, sink
from ..satisfaction.parts import whole

UNKNOWN: Final = -1


class State(NamedTuple):
    """By topic: `events`, `cost`, whether it is `served`, and its `subscribers` by `offsets`.

    By subscriber: what he `needs`, what he `got` from the topics served, and his `topics` by `firsts`.
    """

    events: Ints
    cost: Ints
    served: NDArray[np.bool_]
    offsets: Ints
    subscribers: NDArray[np.int32]
    needs: Ints
    got: Ints
    firsts: Ints
    topics: NDArray[np.int32]


class Measure(NamedTuple):
    """A subscriber has `whole` parts. `fractional`: parts of what he needs; otherwise how near a topic brings him to all he needs."""

    whole: int
    fractional: bool


def state(instance: Instance, threshold: int, served: NDArray[np.bool_]) -> State:
    """The state with these topics `served`, which it changes."""
    of, by = instance.topics_of, instance.subscribers_of
    made = State(
        *(instance.events, instance.cost, served, by.offsets, by.values),
        *(instance.thresholds(threshold), np.zeros(len(of), np.int64), of.offsets, of.values),
    )
    _serve_all(made)
    return made


def measure(instance: Instance, fractional: bool) -> Measure:
    """The parts in which topics of the instance are compared."""
    return Measure(whole(instance), fractional)


def at_most(state: State, measure: Measure, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Hopes that cost nothing: no topic is worth more than all its subscribers."""
    hopes: NDArray[np.float64] = np.where(state.served, 0.0, measure.whole * weights / state.events)
    return hopes


@njit(cache=True, nogil=True)
def exactly(state: State, measure: Measure, weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """What every topic is worth as things stand, and how many pairs were looked at. By F-B3M nothing will be worth more."""
    return _worths(state, measure, False) * weights / state.cost, _pairs(state, False)


def best(hopes: NDArray[np.float64], cost: Ints, room: int) -> NDArray[np.float64]:
    """The greatest `hopes` of topics that fit, as many as it takes to fill the room, and 0 for all others."""
    fit = np.flatnonzero((hopes > 0) & (cost <= room))
    order = fit[np.argsort(-hopes[fit], kind="stable")]
    enough = order[: 1 + int(np.searchsorted(np.cumsum(cost[order]), room))]
    found = np.zeros_like(hopes)
    found[enough] = hopes[enough]
    return found


@njit(cache=True, nogil=True)
def give_up(state: State, measure: Measure, used: int, wanted: int) -> tuple[int, int]:
    """Gives up the served topics that are worth least for what they cost, until no more than `wanted` is used.

    Returns what is used, and how many pairs were looked at. By F-B3M the others only become worth more when one goes, so a topic is
    worked out again only once it is on top; for B3M that is a rule of thumb.
    """
    keys = np.where(state.served, -_worths(state, measure, True) / state.cost, -np.inf)
    looked, gone = _pairs(state, True), 0
    least, size, evaluated = heap(keys), len(keys), np.zeros(len(keys), np.int32)
    while used > wanted:
        topic = least.items[0]
        if evaluated[topic] != gone:
            evaluated[topic] = gone
            looked += state.offsets[topic + 1] - state.offsets[topic]
            key = -_worth(state, measure, topic, state.events[topic]) / state.cost[topic]
            if key < least.keys[0]:
                least.keys[0] = key
                sink(least, size, 0)
                continue
        size = remove_top(least, size)
        gone += 1
        used -= state.cost[topic]
        _serve(state, topic, -state.events[topic])
    return used, looked


@njit(cache=True, nogil=True)
def complete(
    state: State, measure: Measure, weights: NDArray[np.float64], hopes: NDArray[np.float64], used: int, capacity: int
) -> tuple[Ints, int, int]:
    """Serves again and again the topic that is worth most, times its weight, for what it costs; as the greedy algorithms do.

    `hopes`: no less than that, and 0 for topics that are left out; those that do not come up with it are never worked out.
    Returns the topics in order, what is used, and how many pairs were looked at.
    """
    values, known = np.full(len(weights), UNKNOWN), np.full(len(weights), UNKNOWN)
    promising, size = heap(hopes.copy()), len(weights)
    evaluated = np.full(size, UNKNOWN, np.int32)  # after how many choices
    chosen, count, looked = np.empty(size, np.int64), 0, 0
    while size and promising.keys[0] > 0 and used < capacity:
        topic = promising.items[0]
        if used + state.cost[topic] > capacity:
            size = remove_top(promising, size)
            continue
        if values[topic] == UNKNOWN or (measure.fractional and evaluated[topic] != count):
            values[topic] = _worth(state, measure, topic, 0)
            evaluated[topic] = count
            looked += state.offsets[topic + 1] - state.offsets[topic]
        if values[topic] != known[topic]:
            known[topic] = values[topic]
            promising.keys[0] = values[topic] * weights[topic] / state.cost[topic]
            sink(promising, size, 0)
            continue
        size = remove_top(promising, size)
        chosen[count] = topic
        count += 1
        used += state.cost[topic]
        if not measure.fractional:
            looked += _revalue_around(state, measure, promising, values, known, weights, topic)
        _serve(state, topic, state.events[topic])
    return chosen[:count].copy(), used, looked


@njit(cache=True, nogil=True)
def _serve_all(state: State) -> None:
    for topic in np.flatnonzero(state.served):
        _serve(state, int(topic), state.events[topic])


@njit(cache=True, nogil=True)
def _serve(state: State, topic: int, events: int) -> None:
    """The topic's subscribers get these events more, or less if they are negative."""
    state.served[topic] = events > 0
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        state.got[state.subscribers[at]] += events


@njit(cache=True, nogil=True)
def _worths(state: State, measure: Measure, served: bool) -> Ints:
    """What each topic that is served is worth, or each that is not, and 0 for the others; by subscribers, as they lie in memory."""
    worths = np.zeros(len(state.events), np.int64)
    for subscriber in range(len(state.needs)):
        needs = state.needs[subscriber]
        lacks = needs - state.got[subscriber]
        for at in range(state.firsts[subscriber], state.firsts[subscriber + 1]):
            topic = state.topics[at]
            if state.served[topic] == served:
                events = state.events[topic]
                worths[topic] += _part(measure, events, lacks + events * served, needs)
    return worths


@njit(cache=True, nogil=True)
def _pairs(state: State, served: bool) -> int:
    """How many pairs the topics have that are served, or that are not."""
    count = 0
    for topic in range(len(state.served)):
        if state.served[topic] == served:
            count += state.offsets[topic + 1] - state.offsets[topic]
    return count


@njit(cache=True, nogil=True)
def _worth(state: State, measure: Measure, topic: int, own: int) -> int:
    """What the topic adds, in parts; `own`: the events that its subscribers have from it already."""
    # Fields looked up once: each look-up in the loop counts its reference.
    events, subscribers, all_needs, all_got, worth = state.events[topic], state.subscribers, state.needs, state.got, 0
    for at in range(state.offsets[topic], state.offsets[topic + 1]):
        subscriber = subscribers[at]
        needs = all_needs[subscriber]
        worth += _part(measure, events, needs - all_got[subscriber] + own, needs)
    return worth


@njit(cache=True, nogil=True)
def _part(measure: Measure, events: int, lacks: int, needs: int) -> int:
    """What that many events are to a subscriber who lacks so many of those that he needs."""
    if lacks <= 0:
        return 0
    of = needs if measure.fractional else lacks
    return int(min(events, lacks) * (measure.whole / of))


@njit(cache=True, nogil=True)
def _revalue_around(
    state: State, measure: Measure, promising: Heap, values: Ints, known: Ints, weights: NDArray[np.float64], served: int
) -> int:
    """What the undecided topics of the subscribers of a topic are worth by B3M, once it is served; returns how many were looked at.

    The heap only learns of values that rise: a key that is too high is found out on top.
    """
    looked, events = 0, state.events[served]
    for follower in range(state.offsets[served], state.offsets[served + 1]):
        subscriber = state.subscribers[follower]
        needs = state.needs[subscriber]
        before = needs - state.got[subscriber]
        if before <= 0:
            continue
        for at in range(state.firsts[subscriber], state.firsts[subscriber + 1]):
            topic = state.topics[at]
            if promising.places[topic] == GONE or values[topic] == UNKNOWN:
                continue
            looked += 1
            own = state.events[topic]
            values[topic] += _part(measure, own, before - events, needs) - _part(measure, own, before, needs)
            if values[topic] > known[topic]:
                known[topic] = values[topic]
                promising.keys[promising.places[topic]] = values[topic] * weights[topic] / state.cost[topic]
                rise(promising, promising.places[topic])
    return looked
