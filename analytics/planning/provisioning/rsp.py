"""Random selection of pairs: the baseline of stage 1 (thesis 7.2.1; spec D2)."""

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..errors import PlanError
from ..instance import Instance, Ints, Rows
from ..threshold import check_threshold, whole_number
from .selection import Selection

_SEEDS: Final = "a whole number from 0 to 2^32 - 1"


def rsp(instance: Instance, threshold: int, seed: int = 0) -> Selection:
    """Returns, for each subscriber, topics in random order until they are satisfied; the same for the same seed.

    Raises PlanError for a threshold that makes no sense, and for a seed that is not from 0 to 2^32 - 1.
    """
    check_threshold(threshold)
    if not 0 <= whole_number("seed", seed, _SEEDS) < 1 << 32:
        raise PlanError(f"the seed is {seed}; it must be {_SEEDS}")
    rows = instance.topics_of
    offsets, topics = _choose(rows.offsets, rows.values, instance.events, threshold, seed)
    return Selection(Rows(offsets, topics).turned(len(instance.events)))


@njit(cache=True, nogil=True)
def _choose(offsets: Ints, values: NDArray[np.int32], events: Ints, threshold: int, seed: int) -> tuple[Ints, NDArray[np.int32]]:
    """Returns the topics of each subscriber.

    Numba has one generator for each thread. Pages of the result that are never touched cost no memory.
    """
    ends = np.zeros(len(offsets), np.int64)
    chosen = np.empty(len(values), np.int32)
    np.random.seed(seed)
    end = 0
    for row in range(len(offsets) - 1):
        shuffled = values[offsets[row] : offsets[row + 1]].copy()
        lacking = threshold
        for place in range(len(shuffled)):
            if lacking <= 0:
                break
            other = np.random.randint(place, len(shuffled))
            topic = shuffled[other]
            shuffled[other] = shuffled[place]
            chosen[end] = topic
            end += 1
            lacking -= events[topic]
        ends[row + 1] = end
    return ends, chosen[:end]
