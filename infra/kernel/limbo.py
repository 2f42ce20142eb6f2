"""Limbo: rows that nobody wants any more, kept until their numbers can be given to another topic.

A row number is a handle towards other nodes. Deliveries under it may be on their way after it was withdrawn; once the
withdrawal is known to be applied there, or no link is left, none can arrive any more and the number is free.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from .announcer import Announcer
from .topics import Topic


class Limbo:
    """First in, first out: withdrawals are applied in order."""

    __slots__ = ("_announcers", "_rows")

    def __init__(self, announcers: Sequence[Announcer]) -> None:
        self._announcers = announcers
        self._rows: deque[tuple[tuple[int, ...], int, Topic]] = deque()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Iterable[tuple[int, Topic]]) -> None:
        """`rows` were just withdrawn (the announcers have been told)."""
        marks = tuple(announcer.mark() for announcer in self._announcers)
        self._rows.extend((marks, row, topic) for row, topic in rows)

    def leave(self) -> Iterator[tuple[int, Topic]]:
        """Rows whose numbers are free now. Whoever asks checks that they are still unwanted."""
        while self._rows and all(map(Announcer.settled, self._announcers, self._rows[0][0])):
            _, row, topic = self._rows.popleft()
            yield row, topic
