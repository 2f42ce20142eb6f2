"""Granted topics: what sessions may follow because they have shown a token for it, and until when. Pure."""

from collections.abc import Iterable
from heapq import heappop, heappush
from itertools import count

from infra.kernel.topics import Topic

from ..session import Session


class GrantedTopics:
    """The topics of each session for which somebody has signed a subscription token. Times are those of a clock that never goes back."""

    def __init__(self) -> None:
        self._ends_s: dict[Session, dict[Topic, float]] = {}
        # When to look at a session again. One that was put off, or is gone, is passed over when its turn comes.
        self._due: list[tuple[float, int, Session]] = []
        self._n = count()

    def __len__(self) -> int:
        """Returns the number of sessions that have some."""
        return len(self._ends_s)

    def has(self, session: Session, topic: Topic) -> bool:
        """Returns whether `session` has shown a token for `topic`."""
        return topic in self._ends_s.get(session, ())

    def grant(self, session: Session, topics: Iterable[Topic], ends_s: float) -> None:
        """Notes a token of `session` for `topics`, which is valid until `ends_s`."""
        mine = self._ends_s.setdefault(session, {})
        before = min(mine.values(), default=None)
        mine.update(dict.fromkeys(topics, ends_s))
        if before is None or ends_s < before:
            heappush(self._due, (ends_s, next(self._n), session))

    def drop(self, session: Session, topics: Iterable[Topic]) -> None:
        """Forgets topics that `session` follows no longer."""
        mine = self._ends_s.get(session)
        if mine is not None:
            for topic in topics:
                mine.pop(topic, None)
            if not mine:
                del self._ends_s[session]

    def left(self, session: Session) -> None:
        """Forgets a session that is gone."""
        self._ends_s.pop(session, None)

    def over(self, now_s: float) -> list[tuple[Session, list[Topic]]]:
        """Returns the topics whose tokens have expired, and forgets them."""
        found = []
        while self._due and self._due[0][0] <= now_s:
            _, _, session = heappop(self._due)
            mine = self._ends_s.get(session, {})
            if topics := [topic for topic, ends_s in mine.items() if ends_s <= now_s]:
                found.append((session, topics))
                self.drop(session, topics)
            if mine:
                heappush(self._due, (min(mine.values()), next(self._n), session))
        return found
