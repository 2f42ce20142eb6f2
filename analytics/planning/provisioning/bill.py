"""The bill of a plan. It is counted anew, after a check that the plan keeps every rule (thesis 7.1; spec D1, WA-32)."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..errors import PlanError
from ..instance import Instance, Ints
from ..threshold import check_threshold
from .placement import PairPlacement
from .selection import Selection
from .terms import Terms


@dataclass(frozen=True, slots=True)
class Bill:
    """The number of `machines`, the events that come in and go out on all of them, and their price."""

    machines: int
    incoming: int
    outgoing: int
    rent_usd: float
    traffic_usd: float

    @property
    def events(self) -> int:
        """Returns the events in and out together."""
        return self.incoming + self.outgoing

    @property
    def usd(self) -> float:
        """Returns the sum."""
        return self.rent_usd + self.traffic_usd


def bill(instance: Instance, threshold: int, selection: Selection, placement: PairPlacement, terms: Terms) -> Bill:
    """Returns the bill of a plan: `selection` says which pairs of the `instance` are served, `placement` where.

    Raises PlanError, which names the broken rule and the place: each pair is one of the instance and placed once, everybody is satisfied
    at `threshold`, every machine has a pair and carries no more than `terms` allow.
    """
    check_threshold(threshold)
    _check_pairs(instance, selection)
    _check_satisfied(instance, threshold, selection)
    incoming, carried = _carried(instance, selection, placement)
    over = np.flatnonzero(carried > terms.capacity)
    if len(over):
        raise PlanError(f"machine {over[0]} carries {carried[over[0]]:,} events and can carry {terms.capacity:,}")
    outgoing = selection.outgoing(instance)
    return Bill(placement.machines, incoming, outgoing, terms.rent_usd(placement.machines), terms.traffic_usd(incoming + outgoing))


def _check_pairs(instance: Instance, selection: Selection) -> None:
    if len(selection.subscribers_of) != len(instance.events):
        raise PlanError(f"the selection has {len(selection.subscribers_of)} topics and the instance {len(instance.events)}")
    chosen, rows = selection.subscribers_of, instance.topics_of
    if len(chosen.values) and not 0 <= chosen.values.min() <= chosen.values.max() < len(rows):
        raise PlanError(f"subscribers must be numbered from 0 to {len(rows) - 1}")
    strange = _stranger(chosen.offsets, chosen.values, rows.offsets, rows.values)
    if strange >= 0:
        topic = int(np.searchsorted(chosen.offsets, strange, side="right")) - 1
        raise PlanError(f"topic {topic} is served to subscriber {chosen.values[strange]}, who does not follow it or has it already")


def _check_satisfied(instance: Instance, threshold: int, selection: Selection) -> None:
    chosen = selection.subscribers_of
    got = _got(chosen.offsets, chosen.values, instance.events, len(instance.topics_of))
    lacking = np.flatnonzero(got < instance.thresholds(threshold))
    if len(lacking):
        v = lacking[0]
        raise PlanError(f"subscriber {v} gets {got[v]:,} events and needs {instance.thresholds(threshold)[v]:,}; {len(lacking):,} lack any")


def _carried(instance: Instance, selection: Selection, placement: PairPlacement) -> tuple[int, Ints]:
    """Returns all events that come in, and the events in and out of each machine."""
    machine_of, machines = placement.machine_of, placement.machines
    if len(machine_of) != len(selection):
        raise PlanError(f"{len(selection):,} pairs are selected and {len(machine_of):,} placed")
    if len(machine_of) and not 0 <= machine_of.min() <= machine_of.max() < machines:
        raise PlanError(f"machines must be numbered from 0 to {machines - 1}")
    incoming, carried = _load(selection.subscribers_of.offsets, machine_of, instance.events, machines)
    if len(carried) and not carried.all():
        raise PlanError(f"machine {int(np.argmin(carried))} has no pair")
    return incoming, carried


@njit(cache=True, nogil=True)
def _stranger(chosen_offsets: Ints, chosen: NDArray[np.int32], offsets: Ints, topics: NDArray[np.int32]) -> int:
    """Returns the first pair that is not in the instance, or does not come after the one before; or -1.

    Topics rise, and so do the topics of each subscriber. So the search for each begins behind the last one found.
    """
    seen = offsets[:-1].copy()
    for topic in range(len(chosen_offsets) - 1):
        for pair in range(chosen_offsets[topic], chosen_offsets[topic + 1]):
            subscriber = chosen[pair]
            if pair > chosen_offsets[topic] and chosen[pair - 1] >= subscriber:
                return pair
            at, end = seen[subscriber], offsets[subscriber + 1]
            while at < end and topics[at] < topic:
                at += 1
            if at == end or topics[at] != topic:
                return pair
            seen[subscriber] = at + 1
    return -1


@njit(cache=True, nogil=True)
def _got(chosen_offsets: Ints, chosen: NDArray[np.int32], events: Ints, subscribers: int) -> Ints:
    result = np.zeros(subscribers, np.int64)
    for topic in range(len(events)):
        for pair in range(chosen_offsets[topic], chosen_offsets[topic + 1]):
            result[chosen[pair]] += events[topic]
    return result


@njit(cache=True, nogil=True)
def _load(offsets: Ints, machine_of: NDArray[np.int32], events: Ints, machines: int) -> tuple[int, Ints]:
    carried = np.zeros(machines, np.int64)
    last = np.full(machines, -1)
    incoming = 0
    for topic in range(len(events)):
        for pair in range(offsets[topic], offsets[topic + 1]):
            machine = machine_of[pair]
            if last[machine] != topic:
                last[machine] = topic
                incoming += events[topic]
                carried[machine] += events[topic]
            carried[machine] += events[topic]
    return incoming, carried
