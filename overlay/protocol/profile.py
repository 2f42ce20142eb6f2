"""Profiles: which topics a node has, and the priority of each (P2P-5). Pure.

A profile is a row of a table, PROFILE numbers wide: where its topics START, their SIZE, its VERSION, where its PRIORITIES start, and the
MASK of its index. Topics of a profile rise, and its index stands behind them: a hash table of MASK + 1 numbers, in which a topic is found
at once (`write_index`). The rows of one node that differ in priorities only may share their topics. Copies of a profile that nodes hand on
are rows, too, so two copies may differ. Of two copies of one node's profile, the one with the higher VERSION is the later; the first has
the version 0.

`marks` has a place for each topic, and is all 0 except while a function of this folder works with it.
"""

from .buffer import Buffer

PROFILE = 5
START = 0
SIZE = 1
VERSION = 2
PRIORITIES = 3
MASK = 4

NONE = -1
# A node has fewer topics than 2^SHARED_BITS.
SHARED_BITS = 16
_SCATTER = 2654435769


def mark_places(profiles: Buffer, topics: Buffer, row: int, marks: Buffer) -> None:
    """Marks each topic of the profile with its place in it, counted from 1."""
    start = profiles[row * PROFILE + START]
    for place in range(profiles[row * PROFILE + SIZE]):
        marks[topics[start + place]] = place + 1


def mark_priorities(profiles: Buffer, topics: Buffer, priorities: Buffer, begin: int, row: int, marks: Buffer) -> None:
    """Marks each topic of the profile with 1, and with its priority in the bits above SHARED_BITS.

    `begin`: where in the buffer the priorities of all begin, which may have those of several times.
    """
    start, first = profiles[row * PROFILE + START], begin + profiles[row * PROFILE + PRIORITIES]
    for place in range(profiles[row * PROFILE + SIZE]):
        marks[topics[start + place]] = (priorities[first + place] << SHARED_BITS) + 1


def list_common(profiles: Buffer, topics: Buffer, row: int, other: int, common: Buffer) -> int:
    """Writes the topics that both profiles have into `common`, in rising order. Returns how many they share."""
    if profiles[row * PROFILE + SIZE] > profiles[other * PROFILE + SIZE]:
        row, other = other, row
    start, count = profiles[row * PROFILE + START], 0
    for at in range(start, start + profiles[row * PROFILE + SIZE]):
        if place_of(profiles, topics, other, topics[at]) != NONE:
            common[count] = topics[at]
            count += 1
    return count


def unmark(profiles: Buffer, topics: Buffer, row: int, marks: Buffer) -> None:
    """Takes the marks from the topics of the profile."""
    start = profiles[row * PROFILE + START]
    for place in range(profiles[row * PROFILE + SIZE]):
        marks[topics[start + place]] = 0


def index_size(size: int) -> int:
    """Returns how long the index of so many topics is: at most half of it is used, and it is a power of two."""
    room = 1
    while room < 2 * size:
        room *= 2
    return room


def write_index(profiles: Buffer, topics: Buffer, row: int) -> None:
    """Writes the index of a profile behind its topics: of each topic its place, counted from 1, and 0 where there is none."""
    start, size = profiles[row * PROFILE + START], profiles[row * PROFILE + SIZE]
    index, mask = start + size, index_size(size) - 1
    profiles[row * PROFILE + MASK] = mask
    for at in range(index, index + mask + 1):
        topics[at] = 0
    for place in range(size):
        at = _begin(topics[start + place], mask)
        while topics[index + at] > 0:
            at = (at + 1) & mask
        topics[index + at] = place + 1


def place_of(profiles: Buffer, topics: Buffer, row: int, topic: int) -> int:
    """Returns the place of the topic among those of the profile, or NONE."""
    start, mask = profiles[row * PROFILE + START], profiles[row * PROFILE + MASK]
    index = start + profiles[row * PROFILE + SIZE]
    at = _begin(topic, mask)
    place = topics[index + at] - 1
    while place >= 0 and topics[start + place] != topic:
        at = (at + 1) & mask
        place = topics[index + at] - 1
    return place


def _begin(topic: int, mask: int) -> int:
    """Returns where in an index the search for a topic begins."""
    return (topic * _SCATTER >> 15) & mask
