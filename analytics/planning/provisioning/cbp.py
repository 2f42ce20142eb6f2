"""Placement of the pairs topic by topic: stage 2 (thesis 7.2.2, algorithms 11 and 12 with errata E18 to E24; spec D3)."""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from .ffbp import one_by_one
from .order import falling
from .placement import PairPlacement
from .prices import check_room
from .selection import Selection
from .terms import Terms


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    """The steps from first fit to the whole algorithm (thesis 7.3.4). Each can be left out.

    - `group` (b): all pairs of a topic are placed together. Without it each pair is placed for itself, and `decide` has no effect.
    - `expensive_first` (c): the topics with most events to subscribers go first; with `by="rate"`, those with most events (E19). Without
      it they go in the order of their numbers.
    - `most_free` (d): pairs that do not fit onto the newest machine go to the one with most room; else to the first with room.
    - `decide` (e): they go to new machines if that is cheaper.
    """

    expensive_first: bool = True
    most_free: bool = True
    decide: bool = True
    group: bool = True
    by: Literal["volume", "rate"] = "volume"


def cbp(instance: Instance, selection: Selection, terms: Terms, options: PlacementOptions = PlacementOptions()) -> PairPlacement:
    """Returns where each pair of `selection` is served. Raises PlanError if a machine cannot take the served topic with most events."""
    topics = selection.served()
    check_room(terms, int(instance.events[topics].max(initial=0)))
    sizes = selection.subscribers_of.lengths[topics]
    if options.expensive_first:
        weights = instance.events[topics] * (sizes if options.by == "volume" else 1)
        topics = topics[falling(weights)]
    if not options.group:
        return one_by_one(instance, selection, terms, topics, options.most_free)
    prices = terms.rent_usd(1), terms.traffic_usd(1)
    offsets = selection.subscribers_of.offsets
    machine_of, machines = _place(offsets, topics, instance.events, terms.capacity, *prices, options.most_free, options.decide)
    return PairPlacement(machine_of, machines)


@njit(cache=True, nogil=True)
def _place(
    offsets: Ints, topics: Ints, events: Ints, capacity: int, rent_usd: float, event_usd: float, most_free: bool, decide: bool
) -> tuple[NDArray[np.int32], int]:
    """Returns the machine of each pair, and the number of machines.

    - `offsets`, `topics`, `events`: the pairs by topic, the order of the topics, and the events of each.
    - `capacity`, `rent_usd`, `event_usd`: of one machine; the price of an event.
    - `most_free`, `decide`: see the options.

    In the loop, `listed` is the room with which each machine is on the heap; `on` and `sizes` are the parts of the topic at hand.
    """
    machine_of = np.empty(offsets[-1], np.int32)
    machines = 0
    free, listed, on, sizes = np.empty(64, np.int64), np.full(64, -1, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    heap = [(np.int64(0), np.int64(0))]
    heap.pop()
    for topic in topics:
        rate, at, end = events[topic], offsets[topic], offsets[topic + 1]
        newest = machines - 1
        if machines and _fit(free[newest], rate) >= end - at:
            machine_of[at:end] = newest
            free[newest] -= (end - at + 1) * rate
            continue
        if most_free:
            _list(heap, listed, free, newest)
            count = _roomiest(heap, listed, free, rate, end - at, on, sizes)
        else:
            count = _first(free[:machines], rate, end - at, on, sizes)
        worth = not decide or _cheaper(end - at, sizes[:count], rate, _fit(capacity, rate), rent_usd, event_usd)
        for part in range(count):
            if worth:
                machine_of[at : at + sizes[part]] = on[part]
                at += sizes[part]
                free[on[part]] -= (sizes[part] + 1) * rate
            if most_free:
                _list(heap, listed, free, on[part])
        while at < end:
            if machines == len(free):
                free, listed = np.append(free, free), np.append(listed, np.full(machines, -1))
                on, sizes = np.append(on, on), np.append(sizes, sizes)
            size = min(end - at, _fit(capacity, rate))
            machine_of[at : at + size] = machines
            at += size
            free[machines] = capacity - (size + 1) * rate
            if most_free:
                _list(heap, listed, free, machines)
            machines += 1
    return machine_of, machines


@njit(cache=True, nogil=True)
def _fit(free: int, rate: int) -> int:
    """Returns how many pairs have room when the topic itself has to come in, too."""
    return free // rate - 1 if free >= 2 * rate else 0


@njit(cache=True, nogil=True)
def _list(heap: list[tuple[np.int64, np.int64]], listed: Ints, free: Ints, machine: int) -> None:
    """Puts the present room of that machine on the heap. Older entries of the machine stay there; they are skipped when they are on top."""
    if machine >= 0 and listed[machine] != free[machine]:
        heappush(heap, (np.int64(-free[machine]), np.int64(machine)))
        listed[machine] = free[machine]


@njit(cache=True, nogil=True)
def _roomiest(heap: list[tuple[np.int64, np.int64]], listed: Ints, free: Ints, rate: int, left: int, on: Ints, sizes: Ints) -> int:
    """Returns how `left` pairs would go to the machines with most room first: the number of parts. `on` and `sizes` get the parts.

    It takes these machines off the heap.
    """
    count = 0
    while left and heap:
        room, machine = heap[0]
        if -room == free[machine]:
            size = min(left, _fit(int(-room), rate))
            if size == 0:
                break
            on[count], sizes[count] = machine, size
            count += 1
            left -= size
            listed[machine] = -1
        heappop(heap)
    return count


@njit(cache=True, nogil=True)
def _first(free: Ints, rate: int, left: int, on: Ints, sizes: Ints) -> int:
    """Returns the same with the oldest machines first."""
    count = 0
    for machine in range(len(free)):
        size = min(left, _fit(free[machine], rate))
        if size:
            on[count], sizes[count] = machine, size
            count += 1
            left -= size
    return count


@njit(cache=True, nogil=True)
def _cheaper(pairs: int, sizes: Ints, rate: int, per_machine: int, rent_usd: float, event_usd: float) -> bool:
    """Returns whether it is cheaper to put `sizes` of the pairs on machines that exist and the rest on new ones, than all on new ones.

    It counts as machines the room that the pairs need with their incoming stream (E22), and changes nothing (E24).
    """
    among = -((np.sum(sizes) - pairs) // per_machine)
    fresh = -(-pairs // per_machine)
    among_usd = among * rent_usd + (pairs + len(sizes) + among) * rate * event_usd
    return bool(among_usd < fresh * rent_usd + (pairs + fresh) * rate * event_usd)
