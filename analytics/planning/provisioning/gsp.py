"""Greedy selection of pairs: stage 1 (thesis 7.2.1, algorithms 8 and 9 with errata E14 to E16; spec D2)."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints, Rows
from ..threshold import check_threshold
from .order import falling
from .selection import Selection


def gsp(instance: Instance, threshold: int) -> Selection:
    """Returns, for each subscriber, the topics with most events that fit into the need. If none fits, the smallest other topic ends it.

    That is the greedy choice by `min(1, events / lacking) / (2 * events)`: all topics that fit have the same key, and of the larger
    topics the smallest wins. A tie goes to the topic with more events, then to the lower number; in the last choice, to the higher number.
    Raises PlanError for a threshold that makes no sense.
    """
    check_threshold(threshold)
    order = falling(instance.events).astype(np.int32)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    rows = instance.topics_of
    loud = instance.events[order]
    too_loud = int(np.count_nonzero(loud > threshold))
    fitting = np.empty(rows.lengths.max(initial=0), np.int32)
    offsets, topics = _choose(rows.offsets, rows.values, instance.received, ranks, order, loud, threshold, too_loud, fitting)
    return Selection(Rows(offsets, topics).turned(len(instance.events)))


@njit(cache=True, nogil=True)
def _choose(
    offsets: Ints,
    values: NDArray[np.int32],
    received: Ints,
    ranks: NDArray[np.int32],
    order: NDArray[np.int32],
    loud: Ints,
    threshold: int,
    too_loud: int,
    fitting: NDArray[np.int32],
) -> tuple[Ints, NDArray[np.int32]]:
    """Returns the topics of each subscriber, as offsets and numbers.

    - `loud`: events by rank, falling; the first `too_loud` are more than the threshold.
    - `fitting`: room for the longest list.

    Pages of the result that are never touched cost no memory.
    """
    ends = np.zeros(len(offsets), np.int64)
    chosen = np.empty(len(values), np.int32)
    end = 0
    for row in range(len(offsets) - 1):
        topics = values[offsets[row] : offsets[row + 1]]
        if received[row] <= threshold:
            chosen[end : end + len(topics)] = topics
            end += len(topics)
        else:
            first = end
            count, spare = _sorted(topics, ranks, too_loud, fitting)
            end += _fill(fitting[:count], spare, loud, threshold, chosen[end:])
            for at in range(first, end):
                chosen[at] = order[chosen[at]]
        ends[row + 1] = end
    return ends, chosen[:end]


@njit(cache=True, nogil=True)
def _sorted(topics: NDArray[np.int32], ranks: NDArray[np.int32], too_loud: int, fitting: NDArray[np.int32]) -> tuple[int, int]:
    """Puts the ranks of the topics that fit at all into `fitting`, most events first.

    Returns their number, and the last other rank or -1.
    """
    count, spare = 0, -1
    for topic in topics:
        rank = ranks[topic]
        if rank < too_loud:
            spare = max(spare, rank)
        else:
            fitting[count] = rank
            count += 1
    _sort(fitting[:count])
    return count, spare


@njit(cache=True, nogil=True)
def _fill(fitting: NDArray[np.int32], spare: int, loud: Ints, lacking: int, chosen: NDArray[np.int32]) -> int:
    """Puts the ranks that are chosen into `chosen`; returns their number."""
    end = 0
    for rank in fitting:
        if loud[rank] > lacking:
            spare = rank
            continue
        chosen[end] = rank
        end += 1
        lacking -= loud[rank]
        if lacking == 0:
            return end
    chosen[end] = spare
    return end + 1


@njit(cache=True, nogil=True)
def _sort(ranks: NDArray[np.int32]) -> None:
    """Sorts in place by Shell's method. Most lists are short, and Numba takes ten seconds to compile NumPy's sort."""
    gap = 1
    while 3 * gap < len(ranks):
        gap = 3 * gap + 1
    while gap:
        for end in range(gap, len(ranks)):
            rank, place = ranks[end], end
            while place >= gap and ranks[place - gap] > rank:
                ranks[place] = ranks[place - gap]
                place -= gap
            ranks[place] = rank
        gap //= 3
