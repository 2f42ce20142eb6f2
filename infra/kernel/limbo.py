"""Limbo: rows that nobody wants any more, kept until their numbers can be given to another topic.

A row number is a handle towards other nodes. Deliveries under it may be on their way after it was withdrawn; once every
linked node is known to have done the withdrawal, none can arrive any more and the number is free.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from .announcer import Announcer, Told
from .topics import Topic


class Limbo:
    """First in, first out. A row that was wanted again and withdrawn again waits for the later withdrawal."""

    __slots__ = ("_announcers", "_rows")

    def __init__(self, announcers: Sequence[Announcer]) -> None:
        self._announcers = announcers
        self._rows: OrderedDict[int, tuple[Topic, tuple[Told, ...]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Iterable[tuple[int, Topic]]) -> None:
        """`rows` were just withdrawn (the announcers have been told)."""
        told = tuple(announcer.told() for announcer in self._announcers)
        for row, topic in rows:
            self._rows[row] = (topic, told)
            self._rows.move_to_end(row)

    def leave(self) -> Iterator[tuple[int, Topic]]:
        """Rows whose numbers are free now. Whoever asks checks that they are still unwanted."""
        done: tuple[Told, ...] | None = None
        while self._rows:
            row, (topic, told) = next(iter(self._rows.items()))
            if told is not done and not all(map(Announcer.has_done, self._announcers, told)):
                return
            done = told
            del self._rows[row]
            yield row, topic
