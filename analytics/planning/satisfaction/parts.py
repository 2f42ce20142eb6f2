"""Subscribers counted in whole parts, so that sums of differences never drift and equal gains are equal (spec C3).

Less than a part counts as nothing. If a subscriber needs (F-B3M) or lacks (B3M) more than 2^40 events, one event adds nothing. So a
topic with no more than that is not served for this subscriber, even if there is room.
"""

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints

FINEST: Final = 40


def whole(instance: Instance) -> int:
    """Returns the number of parts of a subscriber: 2^40, or fewer where the subscribers of one topic would not fit into 62 bits."""
    most = int(instance.popularity.max(initial=0))
    return 1 << min(FINEST, 62 - most.bit_length())


def gains(instance: Instance, needs: Ints, whole: int) -> Ints:
    """Returns what each topic adds, in parts, while nothing is served. `needs`: the events that each subscriber needs."""
    return _gains(instance.topics_of.offsets, instance.topics_of.values, instance.events, needs, whole)


@njit(cache=True, nogil=True)
def _gains(offsets: Ints, topics: NDArray[np.int32], events: Ints, needs: Ints, whole: int) -> Ints:
    result = np.zeros(len(events), np.int64)
    for subscriber in range(len(needs)):
        need = needs[subscriber]
        each = per_event(need, whole)
        for at in range(offsets[subscriber], offsets[subscriber + 1]):
            topic = topics[at]
            result[topic] += int(min(events[topic], need) * each)
    return result


@njit(cache=True, nogil=True, inline="always")
def per_event(events: int, whole: int) -> float:
    """Returns the parts of one event, for each number of `events`.

    Half a part is added, so that all of them together, rounded down, are the whole.
    """
    return (whole + 0.5) / events
