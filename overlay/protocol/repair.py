"""Repair by neighbours: a node says now and then how far it is with a topic, and each of both pulls what it lacks (OV-5). Pure.

PolderCast's authors have no such thing. It goes from subscriber to subscriber, so nobody hears of a topic that they do not want. Stand-bys
in rings and random links are told as often as direct neighbours: where two misbehaving nodes stand side by side, the ring alone is cut.
"""

from .buffer import Buffer
from .chance import below
from .rings import EMPTY
from .spread import has


def ring_neighbours(slots: Buffer, bays: int, ring: int, place: int, found: Buffer) -> int:
    """Writes who stands in the bay of the node's topic at `place` into `found`, each once. Returns how many those are."""
    count, first = 0, bays + place * ring
    for slot in range(first, first + ring):
        if slots[slot] != EMPTY and not has(found, 0, count, slots[slot]):
            found[count] = slots[slot]
            count += 1
    return count


def whom_to_tell(found: Buffer, count: int, streams: Buffer, at: int) -> int:
    """Returns a random one of `found[0 : count]`, or EMPTY if there is nobody."""
    return found[below(streams, at, count)] if count > 0 else EMPTY
