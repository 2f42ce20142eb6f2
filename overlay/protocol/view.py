"""Views and messages: short lists of entries (P2P-3, P2P-6). Pure.

An entry is CELL numbers: the NODE, the ROW of the copy of its profile, the cycle SINCE which nothing was heard of it, and its LINKS (only
Rings uses them). The entries of a view stand one after the other from `first` on, in no order. In a message, SINCE is an age instead,
because every node counts cycles by itself.

An entry that was last refreshed at cycle s has the age `now - s`: it grows by one with each cycle, and nobody has to count it up.
"""

from .buffer import Buffer
from .profile import PROFILE, VERSION

CELL = 4
NODE = 0
ROW = 1
SINCE = 2
LINKS = 3

NONE = -1

# What becomes of ages where copies of an entry meet. OWN: each module keeps its own, and only the node itself makes them younger.
# MODULE: each module keeps its own, and a younger copy from anybody counts. SHARED: the same, with one age for all modules (P2P-25).
OWN = 0
MODULE = 1
SHARED = 2


def find(cells: Buffer, first: int, count: int, node: int) -> int:
    """Returns the place of the node's entry in the view, from 0, or NONE."""
    for place in range(count):
        if cells[(first + place) * CELL + NODE] == node:
            return place
    return NONE


def oldest(cells: Buffer, first: int, count: int) -> int:
    """Returns the place of the entry that was refreshed least recently, or NONE if the view is empty."""
    found = NONE
    for place in range(count):
        if found == NONE or cells[(first + place) * CELL + SINCE] < cells[(first + found) * CELL + SINCE]:
            found = place
    return found


def put(cells: Buffer, at: int, node: int, row: int, since: int) -> None:
    """Writes an entry without links at `at`, which counts entries from the beginning of the buffer."""
    cells[at * CELL + NODE] = node
    cells[at * CELL + ROW] = row
    cells[at * CELL + SINCE] = since
    cells[at * CELL + LINKS] = 0


def move(cells: Buffer, at: int, to: int) -> None:
    """Copies the entry at `at` to `to`."""
    for part in range(CELL):
        cells[to * CELL + part] = cells[at * CELL + part]


def drop(cells: Buffer, first: int, count: int, place: int) -> int:
    """Removes an entry: the last one takes its place. Returns how many are left."""
    move(cells, first + count - 1, first + place)
    return count - 1


def tell(cells: Buffer, at: int, now: int, message: Buffer, to: int) -> None:
    """Writes the entry at `at` into a message, with its age."""
    put(message, to, cells[at * CELL + NODE], cells[at * CELL + ROW], now - cells[at * CELL + SINCE])


def hear(message: Buffer, count: int, now: int) -> None:
    """Turns the ages of a message into cycles of the node that has received it."""
    for at in range(count):
        message[at * CELL + SINCE] = now - message[at * CELL + SINCE]


def refresh(cells: Buffer, first: int, count: int, node: int, now: int) -> None:
    """Makes the node's entry, if there is one, as young as can be."""
    place = find(cells, first, count, node)
    if place != NONE:
        cells[(first + place) * CELL + SINCE] = now


def renew(cells: Buffer, first: int, count: int, message: Buffer, received: int, profiles: Buffer, younger: bool) -> None:
    """Gives the entries of a view what a message has: a later copy of the profile, and a lower age if copies may make entries `younger`."""
    for at in range(received):
        version = profiles[message[at * CELL + ROW] * PROFILE + VERSION]
        # No copy is older than a first version.
        place = find(cells, first, count, message[at * CELL + NODE]) if younger or version > 0 else NONE
        if place != NONE:
            entry = (first + place) * CELL
            if version > profiles[cells[entry + ROW] * PROFILE + VERSION]:
                cells[entry + ROW] = message[at * CELL + ROW]
            if younger and message[at * CELL + SINCE] > cells[entry + SINCE]:
                cells[entry + SINCE] = message[at * CELL + SINCE]


def gather(pool: Buffer, size: int, cells: Buffer, first: int, count: int, profiles: Buffer, seen: Buffer, base: int, younger: bool) -> int:
    """Adds the entries of a view to a pool in which each node is once. Returns how many the pool has.

    A node that is there already stays as it is, but gets the later copy of its profile, and the lower age if `younger` says so. Of each
    node in the pool, `seen[node]` is `base` plus its place. A pool that is begun needs a base above all that were there before.
    """
    for at in range(first, first + count):
        node = cells[at * CELL + NODE]
        place = seen[node] - base
        if place < 0:
            seen[node] = base + size
            put(pool, size, node, cells[at * CELL + ROW], cells[at * CELL + SINCE])
            size += 1
        else:
            if profiles[cells[at * CELL + ROW] * PROFILE + VERSION] > profiles[pool[place * CELL + ROW] * PROFILE + VERSION]:
                pool[place * CELL + ROW] = cells[at * CELL + ROW]
            if younger and cells[at * CELL + SINCE] > pool[place * CELL + SINCE]:
                pool[place * CELL + SINCE] = cells[at * CELL + SINCE]
    return size
