"""Linear inequalities that hold for any choice of topics: no subscriber is satisfied further than each of their covers allows.

Let x_t be 1 for each served topic and 0 for the others. A cover (topics, lack) of a subscriber says: the satisfied part of this
subscriber is at most the sum over these topics of min(1, events / lack) * x_t.

All topics of a subscriber with the whole need are a cover by either metric. For B3M more is true. A topic without which the others do
not suffice is a cover by itself. The rest of the need has to come from the others, so those are a cover with that lack. The smallest of
the others may be too few even if all of them are served. Then one of the larger ones must be served, so these are a cover with a lack
of 1.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .solution import Metric

Floats = NDArray[np.float64]


class Covers(NamedTuple):
    """The covers of subscribers with two topics or more. Those of subscriber i are `firsts[i] : firsts[i + 1]`.

    - by cover: its topics are `topics[begins : ends]`, and it `lacks` that many events.
    - `gives`: the events of each of `topics`, but not more than its subscriber needs.
    - `alone`: by topic, how many subscribers follow nothing else. They are satisfied exactly if it is served.
    """

    firsts: Ints
    begins: Ints
    ends: Ints
    lacks: Floats
    topics: NDArray[np.int32]
    gives: Floats
    alone: Floats


def covers(instance: Instance, threshold: int, metric: Metric) -> Covers:
    """Returns the covers by that metric: for B3M at most as many of a subscriber as they have topics."""
    of, lengths, whole = instance.topics_of, instance.topics_of.lengths, metric == "b3m"
    alone = np.bincount(of.values[of.offsets[:-1][lengths == 1]], minlength=len(instance.events)).astype(np.float64)
    many = lengths[lengths > 1]
    entries, most = int(many.sum()), int(many.sum()) if whole else len(many)
    found = Covers(
        np.zeros(len(many) + 1, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.float64),
        np.empty(entries, np.int32),
        np.empty(entries, np.float64),
        alone,
    )
    order = np.argsort(-instance.events, kind="stable").astype(np.int32)
    count = _fill(found, of.offsets, of.values, instance.events, order, instance.thresholds(threshold), instance.received, whole)
    return found._replace(begins=found.begins[:count].copy(), ends=found.ends[:count].copy(), lacks=found.lacks[:count].copy())


@njit(cache=True, nogil=True)
def _fill(
    found: Covers,
    offsets: Ints,
    topics: NDArray[np.int32],
    events: Ints,
    order: NDArray[np.int32],
    needs: Ints,
    received: Ints,
    whole: bool,
) -> int:
    """Fills `found`; returns how many covers there are. `order`: the topics by falling events; `whole`: the metric is B3M."""
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    subscriber, cover, begin = 0, 0, 0
    for row in range(len(needs)):
        length = offsets[row + 1] - offsets[row]
        if length == 1:
            continue
        end = begin + length
        sorted_ranks = np.sort(ranks[topics[offsets[row] : offsets[row + 1]]])
        for at in range(begin, end):
            found.topics[at] = order[sorted_ranks[at - begin]]
            found.gives[at] = min(events[found.topics[at]], needs[row])
        if whole:
            cover = _cover(found, cover, begin, end, needs[row], received[row], events)
        else:
            _put(found, cover, begin, end, needs[row])
            cover += 1
        subscriber, begin = subscriber + 1, end
        found.firsts[subscriber] = cover
    return cover


@njit(cache=True, nogil=True)
def _cover(found: Covers, cover: int, begin: int, end: int, need: int, received: int, events: Ints) -> int:
    """Writes the covers of one subscriber, whose topics are there by falling events; returns the number of the next cover."""
    at, lack = begin, need
    while at < end and received - events[found.topics[at]] < need:
        _put(found, cover, at, at + 1, 1)
        lack -= events[found.topics[at]]
        at, cover = at + 1, cover + 1
    if lack <= 0:
        return cover
    _put(found, cover, at, end, lack)
    last, rest = end - 1, events[found.topics[end - 1]]
    while rest < lack:
        last -= 1
        rest += events[found.topics[last]]
    if last + 1 == end:
        return cover + 1
    _put(found, cover + 1, at, last + 1, 1)
    return cover + 2


@njit(cache=True, nogil=True, inline="always")
def _put(found: Covers, cover: int, begin: int, end: int, lack: int) -> None:
    found.begins[cover], found.ends[cover], found.lacks[cover] = begin, end, lack
