"""Granted topics: what sessions may follow because they have shown a token for it, and until when. Pure."""

from collections.abc import Iterable
from math import ceil
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

from ..due_seconds import DueSeconds
from ..session import Session

# Tokens of very many may end in the same second, and to end what they allow takes a while.
LOOKED_AT_ONCE: Final = 500


class _Granted:
    """The topics of one session, each until when, and the second in which they are looked at again."""

    __slots__ = ("ends_s", "second")

    def __init__(self) -> None:
        self.ends_s: dict[Topic, float] = {}
        self.second = 0


class GrantedTopics:
    """The topics of each session for which somebody has signed a subscription token, at most `most` of each session.

    Times are those of a clock that never goes back.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: dict[Session, _Granted] = {}
        self._due = DueSeconds[Session]()

    def __len__(self) -> int:
        """Returns the number of sessions that have some."""
        return len(self._of)

    @property
    def waiting(self) -> int:
        """How many seconds are kept in which some end, or would have ended."""
        return len(self._due)

    def has(self, session: Session, topic: Topic) -> bool:
        """Returns whether `session` has shown a token for `topic`."""
        granted = self._of.get(session)
        return granted is not None and topic in granted.ends_s

    def grant(self, session: Session, topics: Iterable[Topic], ends_s: float) -> None:
        """Notes a token of `session` for `topics`, which is valid until `ends_s`. Raises `Refused` if there would be too many."""
        ends = dict.fromkeys(topics, ends_s)
        if not ends:
            return
        granted = self._of.get(session) or _Granted()
        if len(granted.ends_s.keys() | ends.keys()) > self._most:
            reason = f"tokens of yours allow {self._most} topics already, and more are not kept; unsubscribe from some first"
            raise Refused("too-many-topics", reason)
        is_new = not granted.ends_s
        granted.ends_s |= ends
        self._of[session] = granted
        if is_new or ceil(ends_s) < granted.second:
            self._look_at(session, granted, ceil(ends_s))

    def _look_at(self, session: Session, granted: _Granted, second: int) -> None:
        self._due.remove(session, granted.second)
        granted.second = second
        self._due.add(session, second)

    def drop(self, session: Session, topics: Iterable[Topic]) -> None:
        """Forgets topics that `session` follows no longer."""
        granted = self._of.get(session)
        if granted is not None:
            for topic in topics:
                granted.ends_s.pop(topic, None)
            if not granted.ends_s:
                self.left(session)

    def left(self, session: Session) -> None:
        """Forgets a session that is gone."""
        granted = self._of.pop(session, None)
        if granted is not None:
            self._due.remove(session, granted.second)

    def over(self, now_s: float) -> list[tuple[Session, list[Topic]]]:
        """Returns topics whose tokens have expired, and forgets them; of a bounded number of sessions, the rest the next time."""
        found = []
        for session in self._due.take(now_s, LOOKED_AT_ONCE):
            granted = self._of[session]
            if topics := [topic for topic, ends_s in granted.ends_s.items() if ends_s <= now_s]:
                found.append((session, topics))
                self.drop(session, topics)
            if granted.ends_s:  # some have been put off
                self._look_at(session, granted, ceil(min(granted.ends_s.values())))
        return found
