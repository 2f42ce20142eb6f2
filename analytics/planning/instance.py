"""The problem that is planned on: who follows which topic, and how many events each topic has (thesis 6.2; spec C1)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .errors import PlanError

Ints = NDArray[np.int64]
# Costs are summed in 64 bits, and searches add up a few of such sums.
MOST_COST: Final = 1 << 60
# One kind of array, so that each kernel is compiled once.
_OWN: Final = ("C_CONTIGUOUS", "WRITEABLE")
# Lists up to here are sorted by insertion: most are that short, and quicksort takes longer to begin.
_SHORT: Final = 48


@dataclass(frozen=True, slots=True)
class Rows:
    """Lists of numbers, stored end to end: list i is `values[offsets[i] : offsets[i + 1]]`, in rising order."""

    offsets: Ints
    values: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ints:
        """Returns the length of each list."""
        return np.diff(self.offsets)

    def lists(self) -> list[list[int]]:
        """Returns the same numbers as a list of lists."""
        values = self.values.tolist()
        return [values[first:last] for first, last in zip(self.offsets.tolist(), self.offsets[1:].tolist(), strict=False)]

    def turned(self, count: int) -> "Rows":
        """Returns, for each number below `count`, the lists that contain it."""
        offsets = _offsets(self.values, count)
        return Rows(offsets, _turn(self.offsets, self.values, offsets[:-1].copy()))


@dataclass(frozen=True, eq=False)
class Instance:
    """Topics and subscribers, numbered from 0. Each topic has a subscriber, and each subscriber a topic.

    - `events`: of each topic; 1 or more.
    - `topic_ids` and `subscriber_ids`: the numbers that they had in the source, in rising order.
    """

    events: Ints
    topics_of: Rows
    topic_ids: Ints
    subscriber_ids: Ints

    @cached_property
    def subscribers_of(self) -> Rows:
        """Returns the subscribers of each topic. It is as large as `topics_of`, and made at the first call."""
        return self.topics_of.turned(len(self.events))

    @cached_property
    def popularity(self) -> Ints:
        """Returns the number of subscribers of each topic."""
        return _counted(self.topics_of.values, len(self.events))

    @cached_property
    def cost(self) -> Ints:
        """Returns the normalized cost of each topic: its events times its subscribers."""
        return self.events * self.popularity

    @cached_property
    def received(self) -> Ints:
        """Returns the events that each subscriber gets if all topics are served."""
        return _sums(self.topics_of.offsets, self.topics_of.values, self.events)

    @cached_property
    def smallest(self) -> Ints:
        """Returns, for each subscriber, the events of their topic that has fewest."""
        return _minima(self.topics_of.offsets, self.topics_of.values, self.events)

    def thresholds(self, threshold: int) -> Ints:
        """Returns the events that satisfy each subscriber: `threshold`, or all events of their topics if these have fewer."""
        return np.minimum(threshold, self.received)


def instance(subscriber: NDArray[np.integer[Any]], topic: NDArray[np.integer[Any]], events: NDArray[Any]) -> Instance:
    """Returns the problem of these pairs.

    - `subscriber` and `topic`: whole numbers; together the pairs, each once.
    - `events`: of each topic, by its number.

    A topic without events can satisfy nobody, and nothing can satisfy a subscriber who has no other. Both are left out, as is a
    topic that nobody follows (spec C1, C7). Raises PlanError when events are no counts, when `subscriber` and `topic` are no lists of
    whole numbers of one length, when a topic has no number of events, when a pair is there twice, and when costs are too large for a sum.
    """
    every = counts(events)
    _check_pairs(subscriber, topic, len(every))
    t = np.require(topic, np.int32, _OWN)
    del topic
    popularity = np.where(every > 0, _counted(t, len(every)), 0)
    topic_ids = np.flatnonzero(popularity)
    found = every[topic_ids]
    if float(found.astype(np.float64) @ popularity[topic_ids]) > MOST_COST:
        raise PlanError("all deliveries together are more than 2^60; plan on a shorter period")
    t = _places(topic_ids, len(every), t)
    if popularity.sum() < len(t):
        heard = t >= 0
        subscriber = subscriber[heard]
        t = t[heard]
        del heard
    subscriber_ids, v = _renumbered(subscriber)
    del subscriber
    offsets = _offsets(v, len(subscriber_ids))
    topics_of = Rows(offsets, _spread(v, t, offsets[:-1].copy()))
    del v, t
    repeats = _sort(topics_of.offsets, topics_of.values)
    if repeats:
        raise PlanError("a pair of subscriber and topic is there twice; give each once")
    return Instance(found, topics_of, topic_ids, subscriber_ids)


def counts(events: NDArray[Any]) -> Ints:
    """Returns `events`, a number for each topic. Raises PlanError unless all are whole, 0 or more, and small enough to be added up."""
    if events.ndim != 1 or events.dtype.kind not in "iuf":
        raise PlanError(f"numbers of events must be a list of numbers, not {_shape(events)}")
    if events.dtype.kind == "f" and not np.isfinite(events).all():
        raise PlanError("numbers of events must be finite; there is NaN or infinity among them")
    if len(events) and events.min() < 0:
        raise PlanError(f"numbers of events must not be negative; the least is {events.min()}")
    if len(events) and int(events.max()) > MOST_COST:
        raise PlanError("a topic has more than 2^60 events; plan on a shorter period")
    found: Ints = events.astype(np.int64)
    if events.dtype.kind == "f" and (found != events).any():
        raise PlanError("numbers of events must be whole; multiply rates by the length of the period and round")
    return found


def _check_pairs(subscriber: NDArray[Any], topic: NDArray[Any], topics: int) -> None:
    for name, numbers in (("subscribers", subscriber), ("topics", topic)):
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise PlanError(f"{name} must be a list of whole numbers, not {_shape(numbers)}")
    if len(subscriber) != len(topic):
        raise PlanError(f"there are {len(subscriber):,} subscribers and {len(topic):,} topics; each pair has one of both")
    if len(topic) and not (0 <= int(topic.min()) <= int(topic.max()) < topics):
        raise PlanError(f"topics must be numbered from 0 to {topics - 1}, as there are {topics} numbers of events")
    if subscriber.dtype == np.uint64 and len(subscriber) and int(subscriber.max()) > np.iinfo(np.int64).max:
        raise PlanError(f"subscribers must have numbers below 2^63; one has {subscriber.max()}")


def _shape(array: NDArray[Any]) -> str:
    return f"{array.ndim} dimensions of {array.dtype}" if array.ndim != 1 else str(array.dtype)


def _renumbered(numbers: NDArray[np.integer[Any]]) -> tuple[Ints, NDArray[np.int32]]:
    """Returns the numbers that occur, in rising order, and the place of each of `numbers` among them."""
    if not len(numbers):
        return np.empty(0, np.int64), np.empty(0, np.int32)
    low, size = int(numbers.min()), int(numbers.max()) + 1
    if low < 0 or size > min(3 * len(numbers) + 1024, 1 << 31):  # too sparse for a table
        ids, places = np.unique(numbers, return_inverse=True)
        return ids.astype(np.int64), places.astype(np.int32)
    dense = np.require(numbers, np.int32, _OWN)
    ids = np.flatnonzero(_counted(dense, size))
    return ids, _places(ids, size, dense)


def _places(ids: Ints, size: int, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the place of each of `numbers` among `ids`, or -1. All numbers are below `size`."""
    if len(ids) == size:
        return numbers
    table = np.full(size, -1, np.int32)
    table[ids] = np.arange(len(ids), dtype=np.int32)
    return _looked_up(table, numbers)


def _offsets(values: NDArray[np.int32], count: int) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(_counted(values, count))])


@njit(cache=True, nogil=True)
def _counted(numbers: NDArray[np.int32], count: int) -> Ints:
    """Returns how often each number below `count` occurs."""
    found = np.zeros(count, np.int64)
    for number in numbers:
        found[number] += 1
    return found


@njit(cache=True, nogil=True)
def _looked_up(table: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns `table[numbers]` piece by piece: NumPy would copy all of `numbers` to 64 bits first."""
    found = np.empty_like(numbers)
    for at in range(len(numbers)):
        found[at] = table[numbers[at]]
    return found


@njit(cache=True, nogil=True)
def _spread(keys: NDArray[np.int32], values: NDArray[np.int32], begins: Ints) -> NDArray[np.int32]:
    """Returns `values` grouped by their keys. `begins` says where each group begins, and is used up."""
    result = np.empty_like(values)
    for at in range(len(keys)):
        key = keys[at]
        result[begins[key]] = values[at]
        begins[key] += 1
    return result


@njit(cache=True, nogil=True)
def _sort(offsets: Ints, values: NDArray[np.int32]) -> bool:
    """Sorts each list, and stops at the first number that occurs twice in one of them. Returns whether there is such a number."""
    for row in range(len(offsets) - 1):
        first, last = offsets[row], offsets[row + 1]
        if last - first > _SHORT:
            values[first:last].sort()
        for at in range(first + 1, last):
            value, to = values[at], at
            while to > first and values[to - 1] > value:
                values[to] = values[to - 1]
                to -= 1
            if to > first and values[to - 1] == value:
                return True
            values[to] = value
    return False


@njit(cache=True, nogil=True)
def _turn(offsets: Ints, values: NDArray[np.int32], places: Ints) -> NDArray[np.int32]:
    result = np.empty(len(values), np.int32)
    for row in range(len(offsets) - 1):
        for at in range(offsets[row], offsets[row + 1]):
            value = values[at]
            result[places[value]] = row
            places[value] += 1
    return result


@njit(cache=True, nogil=True)
def _sums(offsets: Ints, values: NDArray[np.int32], weights: Ints) -> Ints:
    result = np.zeros(len(offsets) - 1, np.int64)
    for row in range(len(result)):
        for at in range(offsets[row], offsets[row + 1]):
            result[row] += weights[values[at]]
    return result


@njit(cache=True, nogil=True)
def _minima(offsets: Ints, values: NDArray[np.int32], weights: Ints) -> Ints:
    result = np.empty(len(offsets) - 1, np.int64)
    for row in range(len(result)):
        least = weights[values[offsets[row]]]
        for at in range(offsets[row] + 1, offsets[row + 1]):
            least = min(least, weights[values[at]])
        result[row] = least
    return result
