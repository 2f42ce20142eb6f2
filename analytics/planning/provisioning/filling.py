"""Placement of the pairs on a given number of machines: stage 2 (beyond thesis 7.2.2).

Strategy: the topics with most volume go first, each to the machine with most room. Only the pairs that do not fit go to the next one.
The small topics come last and level the rest. So nearly no room is lost, and few topics have to come in twice.
"""

from heapq import heapreplace
from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .order import falling
from .placement import PairPlacement
from .prices import check_room
from .selection import Selection
from .terms import Terms

# The volume asks for so many machines, and one or two more nearly always do.
MOST_TRIES: Final = 10


def fill(instance: Instance, selection: Selection, terms: Terms) -> PairPlacement | None:
    """Returns a placement on the fewest machines that were found to suffice; None if they are many more than the volume requires.

    Raises PlanError if a machine cannot take the served topic with most events.
    """
    topics = selection.served()
    check_room(terms, int(instance.events[topics].max(initial=0)))
    volume = instance.events[topics] * (selection.subscribers_of.lengths[topics] + 1)
    order = topics[falling(volume)]
    fewest = -(-int(volume.sum()) // terms.capacity)
    for machines in range(fewest, fewest + MOST_TRIES):
        machine_of, used = _fill(selection.subscribers_of.offsets, order, instance.events, terms.capacity, machines)
        if used >= 0:
            return PairPlacement(machine_of, used)
    return None


@njit(cache=True, nogil=True)
def _fill(offsets: Ints, topics: Ints, events: Ints, capacity: int, machines: int) -> tuple[NDArray[np.int32], int]:
    """Returns the place of each pair, and the number of machines that have any, or -1 if there is no room.

    Of empty machines the first is taken first.
    """
    machine_of = np.empty(offsets[-1], np.int32)
    heap = [(-capacity, machine) for machine in range(machines)]
    used = 0
    for topic in topics:
        rate, at, end = events[topic], offsets[topic], offsets[topic + 1]
        while at < end:
            free, machine = -heap[0][0], heap[0][1]
            size = min(end - at, free // rate - 1)
            if size < 1:
                return machine_of, -1
            machine_of[at : at + size] = machine
            heapreplace(heap, (-(free - (size + 1) * rate), machine))
            at += size
            used = max(used, machine + 1)
    return machine_of, used
