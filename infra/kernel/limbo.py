"""Limbo: rows that nobody wants any more, kept until their numbers can be given to another topic.

A row number is a handle towards other nodes. Deliveries under it may still be on their way after it was withdrawn. Once every linked
node is known to have done the withdrawal, none can arrive any more, and the number is free. Were it free earlier, an event of the old
topic would be taken for one of the new.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from .announcer import Announcer
from .moving_topics import Told
from .topics import Topic


class Limbo:
    """A queue of rows: first in, first out. A row that was wanted again and withdrawn again waits for the later withdrawal."""

    __slots__ = ("_announcers", "_rows")

    def __init__(self, announcers: Sequence[Announcer]) -> None:
        self._announcers = announcers
        self._rows: OrderedDict[int, tuple[Topic, tuple[Told, ...]]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Iterable[tuple[int, Topic]]) -> None:
        """Adds `rows`, which were just withdrawn: the announcers have been told."""
        told = tuple(announcer.told() for announcer in self._announcers)
        for row, topic in rows:
            self._rows[row] = (topic, told)
            self._rows.move_to_end(row)  # a known row keeps its place otherwise, and would be free too early

    def leave(self) -> Iterator[tuple[int, Topic]]:
        """Yields rows whose numbers are free now. The caller checks that they are still unwanted."""
        done: tuple[Told, ...] | None = None
        while self._rows:
            row, (topic, told) = next(iter(self._rows.items()))
            # Rows of one `add` share one `told`, so the nodes are asked once for all of them. Later rows wait for more.
            if told is not done and not all(map(Announcer.has_done, self._announcers, told)):
                return
            done = told
            del self._rows[row]
            yield row, topic
