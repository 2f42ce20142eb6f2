"""A table of profiles as protocol functions read it, from plain lists of topics."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from overlay.protocol.buffer import Buffer
from overlay.protocol.chance import begin, wide
from overlay.protocol.profile import PRIORITIES, PROFILE, SIZE, START, index_size, write_index
from overlay.protocol.view import CELL, LINKS, NODE, ROW, SINCE

TOPICS = 12


class ProfileTable(NamedTuple):
    """The profile of each node in the row of its number, room for marks, and ids."""

    profiles: list[int]
    topics: list[int]
    priorities: list[int]
    marks: list[int]
    ids: list[int]

    def of(self, node: int) -> list[int]:
        """Returns the topics of a node."""
        start, size = self.profiles[PROFILE * node + START], self.profiles[PROFILE * node + SIZE]
        return self.topics[start : start + size]

    def priority(self, node: int, topic: int) -> int:
        """Returns the priority of a topic of a node."""
        return self.priorities[self.profiles[PROFILE * node + PRIORITIES] + self.of(node).index(topic)]


def profile_table(topics_of: Sequence[Sequence[int]], priorities: Sequence[Sequence[int]] = (), ids: Sequence[int] = ()) -> ProfileTable:
    """Returns the table of nodes with these topics, each list in rising order. Without `priorities` all are 4; without `ids` they rise."""
    rooms = [index_size(len(each)) for each in topics_of]
    starts = list(accumulate((len(each) + room for each, room in zip(topics_of, rooms, strict=True)), initial=0))
    firsts = list(accumulate((len(each) for each in topics_of), initial=0))
    profiles = [number for start, first, each in zip(starts, firsts, topics_of, strict=False) for number in (start, len(each), 0, first, 0)]
    topics = [topic for each, room in zip(topics_of, rooms, strict=True) for topic in [*each, *[0] * room]]
    for row in range(len(topics_of)):
        write_index(profiles, topics, row)
    flat = [priority for each in priorities for priority in each] or [4] * firsts[-1]
    return ProfileTable(profiles, topics, flat, [0] * TOPICS, list(ids) or [1000 * node for node in range(len(topics_of))])


def cells_of(entries: Sequence[tuple[int, int]], room: int = 0) -> list[int]:
    """Returns a view of (node, cycle since which nothing was heard of it), with `room` for more. The row of a node is its number."""
    return [number for node, since in entries for number in (node, node, since, 0)] + [0] * (CELL * room)


def entries_of(cells: Buffer, count: int, first: int = 0) -> list[tuple[int, int]]:
    """Returns (node, since) of the entries of a view, in rising order."""
    return sorted((cells[at * CELL + NODE], cells[at * CELL + SINCE]) for at in range(first, first + count))


def links_of(cells: Buffer, count: int) -> dict[int, int]:
    """Returns the links of each node in a view."""
    return {cells[at * CELL + NODE]: cells[at * CELL + LINKS] for at in range(count)}


def rows_of(cells: Buffer, count: int) -> dict[int, int]:
    """Returns the row of each node in a view."""
    return {cells[at * CELL + NODE]: cells[at * CELL + ROW] for at in range(count)}


def stream(seed: int = 1) -> list[int]:
    """Returns a buffer with one random stream."""
    streams = [0]
    begin(streams, 0, seed, 0)
    return streams


def random_ids(count: int, seed: int = 1) -> list[int]:
    """Returns ids from all over the circle."""
    streams = stream(seed)
    return [wide(streams, 0) for _ in range(count)]
