"""First fit, pair by pair: the baseline of stage 2 (thesis 7.2.2, algorithm 10 with erratum E17; spec D3)."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .placement import PairPlacement
from .prices import check_room
from .selection import Selection
from .terms import Terms


def ffbp(instance: Instance, selection: Selection, terms: Terms) -> PairPlacement:
    """Returns each pair on the first machine with room for the event, and for the topic itself if it does not come in there yet.

    The thesis leaves the order of the pairs open: here it is that of subscribers, then of the numbers of each one's topics. It takes a
    step for each pair and machine, and a bit for each topic and machine. Raises PlanError if a machine cannot take the served topic with
    most events.
    """
    served = selection.served()
    check_room(terms, int(instance.events[served].max(initial=0)))
    order = np.argsort(selection.subscribers_of.values, kind="stable")
    return PairPlacement(*_place(*_pairs(instance, selection), order, terms.capacity, False))


def one_by_one(instance: Instance, selection: Selection, terms: Terms, topics: Ints, most_free: bool) -> PairPlacement:
    """Returns the same in the order of `topics`. With `most_free`, each pair goes to the machine with most room."""
    offsets = selection.subscribers_of.offsets
    order = np.concatenate([np.empty(0, np.int64), *(np.arange(offsets[topic], offsets[topic + 1]) for topic in topics)])
    return PairPlacement(*_place(*_pairs(instance, selection), order, terms.capacity, most_free))


def _pairs(instance: Instance, selection: Selection) -> tuple[NDArray[np.int32], Ints]:
    """Returns the topic of each pair, and the events of each topic."""
    return np.repeat(np.arange(len(instance.events), dtype=np.int32), selection.subscribers_of.lengths), instance.events


@njit(cache=True, nogil=True)
def _place(topic_of: NDArray[np.int32], events: Ints, order: Ints, capacity: int, most_free: bool) -> tuple[NDArray[np.int32], int]:
    machine_of = np.empty(len(topic_of), np.int32)
    machines = 0
    free = np.full(8, capacity)
    there = np.zeros((1, len(events)), np.uint8)
    for pair in order:
        topic = topic_of[pair]
        rate = events[topic]
        best = -1
        for machine in range(machines):
            room = free[machine]
            if room >= rate and (room >= 2 * rate or there[machine >> 3, topic] & (1 << (machine & 7))):
                if best < 0 or room > free[best]:
                    best = machine
                if not most_free:
                    break
        if best < 0:
            best = machines
            machines += 1
            if machines > len(free):
                free = np.append(free, np.full(len(free), capacity))
                there = np.concatenate((there, np.zeros_like(there)))
        if not there[best >> 3, topic] & (1 << (best & 7)):
            there[best >> 3, topic] |= 1 << (best & 7)
            free[best] -= rate
        free[best] -= rate
        machine_of[pair] = best
    return machine_of, machines
