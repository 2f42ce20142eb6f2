"""The spread of an event: to whom a node sends it when it comes for the first time (PC 4.2, P2P-9). Pure.

Both ring neighbours get it, except the one that it came from, and random other subscribers whom the node knows from Cyclon or Vicinity.
Targets are collected in `chosen`, possible others in `found`.
"""

from .buffer import Buffer
from .chance import below, sample
from .profile import NONE, place_of
from .rings import EMPTY
from .view import CELL, NODE, ROW

# MIXED: for each link a coin says from which view it is drawn, and if that view has no subscriber, the link is not used. UNION: links are
# drawn from both views together.
MIXED = 0
UNION = 1


def ring_targets(successor: int, predecessor: int, sender: int, chosen: Buffer) -> int:
    """Writes the ring neighbours that get the event. `sender` is NONE for the publisher. Returns how many there are."""
    count = 0
    if successor != EMPTY and successor != sender:
        chosen[count] = successor
        count += 1
    if predecessor != EMPTY and predecessor != sender and predecessor != successor:
        chosen[count] = predecessor
        count += 1
    return count


def others_wanted(successor: int, predecessor: int, sender: int, fanout: int) -> int:
    """Returns how many others get it: one more if it came from a ring neighbour, because then one ring neighbour needs no copy."""
    if sender != NONE and sender in (successor, predecessor):
        return fanout - 1
    return max(0, fanout - 2)


def others(
    cells: Buffer,
    first: int,
    count: int,
    profiles: Buffer,
    topics: Buffer,
    topic: int,
    sender: int,
    chosen: Buffer,
    total: int,
    found: Buffer,
    begin: int,
    end: int,
) -> int:
    """Adds to `found[begin : end]` the subscribers in a view, except the sender, those chosen, and those there. Returns the new end."""
    for at in range(first, first + count):
        node = cells[at * CELL + NODE]
        if node != sender and place_of(profiles, topics, cells[at * CELL + ROW], topic) != NONE:  # noqa: SIM102 - two lines read better
            if not has(chosen, 0, total, node) and not has(found, begin, end, node):
                found[end] = node
                end += 1
    return end


def draw_union(streams: Buffer, at: int, found: Buffer, count: int, wanted: int, chosen: Buffer, total: int) -> int:
    """Chooses `wanted` random ones of `found`, or all if there are fewer. Returns how many are chosen in all."""
    for place in range(sample(streams, at, found, 0, count, wanted)):
        chosen[total] = found[place]
        total += 1
    return total


def draw_mixed(streams: Buffer, at: int, found: Buffer, count: int, second: int, wanted: int, chosen: Buffer, total: int) -> int:
    """Chooses up to `wanted` random ones: for each, a coin says whether it is of the first view or of the second.

    `found[0 : second]` are the subscribers in the first view, `found[second : count]` those in the second one. A node may be in both.
    Returns how many are chosen in all.
    """
    for _ in range(wanted):
        if below(streams, at, 2) == 0:
            total = _draw_one(streams, at, found, 0, second, chosen, total)
        else:
            total = _draw_one(streams, at, found, second, count - second, chosen, total)
    return total


def has(row: Buffer, begin: int, end: int, node: int) -> bool:
    """Returns whether the node stands in `row[begin : end]`."""
    for at in range(begin, end):  # noqa: SIM110 - a generator would not compile
        if row[at] == node:
            return True
    return False


def _draw_one(streams: Buffer, at: int, found: Buffer, first: int, count: int, chosen: Buffer, total: int) -> int:
    """Chooses one node of `found[first : first + count]` that is not chosen yet, if there is one. Returns how many are chosen."""
    for tried in range(sample(streams, at, found, first, count, count)):
        if not has(chosen, 0, total, found[first + tried]):
            chosen[total] = found[first + tried]
            return total + 1
    return total
