"""The positions that the next process begins with: behind what the application has taken, not behind what has arrived. Pure.

Numbers move with each event that is taken. Points, and what was emptied, count from when everything that had arrived before them
was taken. So one picture of all positions waits at most, and another one is taken only when that one counts.
"""

from collections.abc import Iterable

from segue.sdk.cursor import MAX_TOPICS, Cursors, Position
from segue.sdk.errors import Misuse
from segue.sdk.messages import Event


class KeptPositions:
    """The kept positions of one client.

    - `user`: whose they are; empty while nobody knows.
    - `positions`: those to begin with, and those to save.
    - `is_changed`: whether they have changed since they were saved.
    """

    def __init__(self, user: str, positions: dict[str, Position]) -> None:
        self.user = user
        self.positions = positions
        self.is_changed = False
        self._arrived = self._taken = 0
        self._waiting: tuple[int, dict[str, Position]] | None = None
        self._later: Cursors | None = None

    def belong(self, user: str) -> None:
        """Notes that they are those of `user`. Raises Misuse where they are those of another one."""
        if self.user and self.user != user:
            raise Misuse(f"position_file: it holds positions of {self.user}, and this client is {user}; give each user a file")
        self.user = user

    def arrived(self) -> None:
        """Notes that an event is on its way to the application."""
        self._arrived += 1

    def changed(self, cursors: Cursors) -> None:
        """Notes that `cursors` have changed, otherwise than by an event."""
        if self._waiting is not None:
            self._later = cursors
        else:
            self._waiting = (self._arrived, cursors.snapshot())
            self._settle()

    def taken(self, event: Event, *, is_followed: bool = True) -> None:
        """Notes that the application has taken `event`, the oldest one that was on its way.

        If its topic is followed no longer (`is_followed`), nothing is kept of it.
        """
        self._taken += 1
        if is_followed and (event.topic in self.positions or len(self.positions) < MAX_TOPICS):
            self.positions[event.topic] = self.positions.get(event.topic, Position(None, {})).moved(event)
        self.is_changed = True
        self._settle()

    def forget(self, topics: Iterable[str]) -> None:
        """Forgets `topics`, which are not followed any more."""
        for topic in topics:
            self.positions.pop(topic, None)
            if self._waiting is not None:
                self._waiting[1].pop(topic, None)
        self.is_changed = True

    def _settle(self) -> None:
        if self._waiting is None or self._taken < self._waiting[0]:
            return
        self.positions, self._waiting, self.is_changed = self._waiting[1], None, True
        if self._later is not None:
            later, self._later = self._later, None
            self.changed(later)
