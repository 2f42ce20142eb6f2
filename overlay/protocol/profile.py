"""Profiles: which topics a node has, and the priority of each (P2P-5). Pure.

A profile is a row of a table, PROFILE numbers wide: where its topics START, their SIZE, its VERSION and where its PRIORITIES start.
Topics of a profile rise. The rows of one node that differ in priorities only may share their topics. Copies of a profile that nodes hand
on are rows, too, so two copies may differ. Of two copies of one node's profile, the one with the higher VERSION is the later; the first
has the version 0.

`marks` has a place for each topic, and is all 0 except while a function of this folder works with it.
"""

from .buffer import Buffer

PROFILE = 4
START = 0
SIZE = 1
VERSION = 2
PRIORITIES = 3

NONE = -1
# A node has fewer topics than 2^SHARED_BITS.
SHARED_BITS = 16


def mark_places(profiles: Buffer, topics: Buffer, row: int, marks: Buffer) -> None:
    """Marks each topic of the profile with its place in it, counted from 1."""
    start = profiles[row * PROFILE + START]
    for place in range(profiles[row * PROFILE + SIZE]):
        marks[topics[start + place]] = place + 1


def mark_priorities(profiles: Buffer, topics: Buffer, priorities: Buffer, row: int, marks: Buffer) -> None:
    """Marks each topic of the profile with 1, and with its priority in the bits above SHARED_BITS."""
    start, first = profiles[row * PROFILE + START], profiles[row * PROFILE + PRIORITIES]
    for place in range(profiles[row * PROFILE + SIZE]):
        marks[topics[start + place]] = (priorities[first + place] << SHARED_BITS) + 1


def mark_common(profiles: Buffer, topics: Buffer, row: int, other: int, marks: Buffer) -> int:
    """Marks each topic that both profiles have with 2, 3, 4, …, and the rest of `other`'s with 1. Returns how many they share."""
    start = profiles[other * PROFILE + START]
    for place in range(profiles[other * PROFILE + SIZE]):
        marks[topics[start + place]] = 1
    count = 0
    start = profiles[row * PROFILE + START]
    for place in range(profiles[row * PROFILE + SIZE]):
        topic = topics[start + place]
        if marks[topic] == 1:
            marks[topic] = count + 2
            count += 1
    return count


def unmark(profiles: Buffer, topics: Buffer, row: int, marks: Buffer) -> None:
    """Takes the marks from the topics of the profile."""
    start = profiles[row * PROFILE + START]
    for place in range(profiles[row * PROFILE + SIZE]):
        marks[topics[start + place]] = 0


def place_of(profiles: Buffer, topics: Buffer, row: int, topic: int) -> int:
    """Returns the place of the topic among those of the profile, or NONE."""
    start = profiles[row * PROFILE + START]
    low, high = 0, profiles[row * PROFILE + SIZE]
    while low < high:
        middle = (low + high) // 2
        if topics[start + middle] < topic:
            low = middle + 1
        else:
            high = middle
    if low < profiles[row * PROFILE + SIZE] and topics[start + low] == topic:
        return low
    return NONE
