"""Tenure: since when a broker has owned its topics. What came before is in the window of another one. Pure."""

from collections import deque
from typing import Final

from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

MOST_CHANGES: Final = 64


class Tenure:
    """The changes of the ring that the broker `slot` has seen: who owned what before each, and at which stamp of the window it was over.

    Until a handover is over, former owners may still have events on their way to those who follow.
    """

    def __init__(self, slot: str) -> None:
        self._slot = slot
        # The rings before changes that are over, with the stamp at which they were; those before changes that are not.
        self._over: deque[tuple[int, Ring]] = deque(maxlen=MOST_CHANGES)
        self._open: list[Ring] = []
        self._floor = 0
        # The rings by which others served topics that were this broker's, with the stamp at which it learned of that.
        self._splits: deque[tuple[int, Ring]] = deque(maxlen=MOST_CHANGES)

    def begin(self, before: Ring) -> None:
        """Notes a change of the ring, which was `before`."""
        self._open.append(before)

    def end(self, stamp: int, oldest: int) -> None:
        """Notes that all changes are over at `stamp`. Nobody asks for what came before the stamp `oldest`."""
        for ring in self._open:
            if len(self._over) == MOST_CHANGES:
                self._floor = self._over[0][0]
            self._over.append((stamp, ring))
        self._open.clear()
        while self._over and self._over[0][0] < oldest:
            self._over.popleft()
        while self._splits and self._splits[0][0] < oldest:
            self._splits.popleft()

    def split(self, ring: Ring, stamp: int) -> None:
        """Notes that until `stamp` another part of the site went by `ring`."""
        self._splits.append((stamp, ring))

    def was_split(self, topic: Topic, stamp: int) -> bool:
        """Returns whether another broker has served `topic`, which is this one's, at some time after `stamp`."""
        return any(until >= stamp and ring.owner(topic) != self._slot for until, ring in self._splits)

    def reaches(self, topic: Topic, stamp: int) -> bool:
        """Returns whether `topic`, which is the broker's, has been so since `stamp`."""
        later = [ring for over, ring in self._over if over > stamp] + self._open
        return stamp >= self._floor and all(ring.owner(topic) == self._slot for ring in later)
