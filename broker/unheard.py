"""Unheard topics: those of which other sites may publish something that does not come here, since they do not know yet that it is wanted.

An event that somebody has from another site shows that they were there lately, and what followed is in the window. That is so only
where the other sites sent everything here when the event was recorded. A topic that nobody followed here then, but another site did, has
events of this site in its window, and none of the others. Pure.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from .window import EventWindow

# So many topics are known one by one. With more, all are unheard until every site knows what is wanted.
MOST_TOPICS: Final = 1 << 16

Marks = Mapping[str, int]
"""Site -> what must be reached there (see `infra.kernel.announcer`)."""


class UnheardTopics:
    """The rows of topics that other sites do not know all to be wanted here. `window` hears when they do."""

    def __init__(self, window: EventWindow, most: int = MOST_TOPICS) -> None:
        self._window, self._most = window, most
        # Row -> the number of those with which it came last.
        self._rows: dict[int, int] = {}
        # What has come, in order. A row that comes again stands there again, and counts again.
        self._waiting: deque[tuple[int, Marks, Sequence[int]]] = deque()
        self._last = self._size = 0
        # What must be reached before any topic is heard; nothing, unless there were too many of them.
        self._all: Marks = {}

    def __contains__(self, row: int) -> bool:
        """Tells whether something may be missing of the topic that has `row`."""
        return bool(self._all) or row in self._rows

    def add(self, rows: Sequence[int], marks: Marks) -> None:
        """Notes that `rows` are wanted here from now on. Other sites know that when `marks` are reached, which rise."""
        if not rows or not marks:
            return
        if self._all or self._size + len(rows) > self._most:
            self._all, self._size = marks, 0
            self._rows.clear()
            self._waiting.clear()
            return
        self._last += 1
        self._size += len(rows)
        self._rows.update(dict.fromkeys(rows, self._last))
        self._waiting.append((self._last, marks, rows))

    def discard(self, row: int) -> None:
        """Notes that a topic has come from a former owner, which was sent everything, and that its new owner is sent what follows."""
        self._rows.pop(row, None)

    def reach(self, reached: Marks) -> None:
        """Notes how far the other sites have come."""
        while self._waiting and _are_reached(self._waiting[0][1], reached):
            number, _, rows = self._waiting.popleft()
            self._size -= len(rows)
            for row in rows:
                if self._rows.get(row) == number:
                    del self._rows[row]
                    self._window.heard(row)
        if self._all and _are_reached(self._all, reached):
            self._all = {}
            self._window.heard_all()


def _are_reached(marks: Marks, reached: Marks) -> bool:
    return all(reached.get(site, 0) >= mark for site, mark in marks.items())
