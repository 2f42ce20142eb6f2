"""Linear inequalities that hold for whatever is served: nobody is satisfied further than any of his covers allows.

With x_t = 1 for each served topic and 0 for the others, a cover (topics, lack) of a subscriber says that the part of him which is
satisfied is at most the sum over these topics of min(1, events / lack) * x_t.

All his topics with his whole need are a cover by either metric. For B3M more is true: what some of his topics leave of his need has
to come from the others, so those are a cover with that lack; and a topic without which the others do not suffice is one by itself.
"""

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .solution import Metric

Floats = NDArray[np.float64]
# Subscribers with more topics have one cover only: they are few, and theirs would be many.
LONGEST: Final = 8


class Covers(NamedTuple):
    """Of subscribers with two topics or more. Those of subscriber i are `firsts[i] : firsts[i + 1]`.

    By cover: its topics are those of `topics[begins : ends]`, and `lacks` events. `gives`: events of each of `topics`, but not more than
    its subscriber needs. `alone`: by topic, how many follow nothing else; they are satisfied exactly if it is served.
    """

    firsts: Ints
    begins: Ints
    ends: Ints
    lacks: Floats
    topics: NDArray[np.int32]
    gives: Floats
    alone: Floats


def covers(instance: Instance, threshold: int, metric: Metric) -> Covers:
    """The covers by that metric: for B3M those of the largest topics left out, one after the other, and those of single topics."""
    of, lengths = instance.topics_of, instance.topics_of.lengths
    alone = np.bincount(of.values[of.offsets[:-1][lengths == 1]], minlength=len(instance.events)).astype(np.float64)
    longest = LONGEST if metric == "b3m" else 0
    many = lengths[lengths > 1]
    entries, most = int(many.sum()), int(np.where(many > longest, 1, many).sum())
    found = Covers(
        np.zeros(len(many) + 1, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.float64),
        np.empty(entries, np.int32),
        np.empty(entries, np.float64),
        alone,
    )
    count = _fill(found, of.offsets, of.values, instance.events, instance.thresholds(threshold), instance.received, longest)
    return found._replace(begins=found.begins[:count].copy(), ends=found.ends[:count].copy(), lacks=found.lacks[:count].copy())


@njit(cache=True, nogil=True)
def _fill(found: Covers, offsets: Ints, topics: NDArray[np.int32], events: Ints, needs: Ints, received: Ints, longest: int) -> int:
    """Returns how many covers there are."""
    subscriber, cover, begin = 0, 0, 0
    for row in range(len(needs)):
        length = offsets[row + 1] - offsets[row]
        if length == 1:
            continue
        end = begin + length
        found.topics[begin:end] = topics[offsets[row] : offsets[row + 1]]
        if length > longest:
            _put(found, cover, begin, end, needs[row])
            cover += 1
        else:
            _sort(found.topics[begin:end], events)
            cover = _cover(found, cover, begin, end, events, needs[row], received[row])
        for at in range(begin, end):
            found.gives[at] = min(events[found.topics[at]], needs[row])
        subscriber, begin = subscriber + 1, end
        found.firsts[subscriber] = cover
    return cover


@njit(cache=True, nogil=True)
def _cover(found: Covers, cover: int, begin: int, end: int, events: Ints, need: int, received: int) -> int:
    """All covers of one subscriber, whose topics are there by falling events; returns the number of the next cover.

    The topics that he cannot do without come first. With them in covers of their own, covers of them and others would say no more.
    """
    at, lack = begin, need
    while at < end and received - events[found.topics[at]] < need:
        _put(found, cover, at, at + 1, 1)
        lack -= events[found.topics[at]]
        at, cover = at + 1, cover + 1
    while at < end and lack > 0:
        _put(found, cover, at, end, lack)
        lack -= events[found.topics[at]]
        at, cover = at + 1, cover + 1
    return cover


@njit(cache=True, nogil=True, inline="always")
def _put(found: Covers, cover: int, begin: int, end: int, lack: int) -> None:
    found.begins[cover], found.ends[cover], found.lacks[cover] = begin, end, lack


@njit(cache=True, nogil=True)
def _sort(topics: NDArray[np.int32], events: Ints) -> None:
    """A few topics by falling events."""
    for at in range(1, len(topics)):
        topic, place = topics[at], at
        while place > 0 and events[topics[place - 1]] < events[topic]:
            topics[place] = topics[place - 1]
            place -= 1
        topics[place] = topic
