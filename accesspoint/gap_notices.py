"""Gap notices: sessions hear of which of their topics something may be missing, though no number shows it. Pure.

Only those hear of it that follow the topic with `recover`. Some topics and some sessions have their turn at once.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from infra.kernel.topics import Topic, format_topic

from . import messages
from .hub import Hub
from .session import Session, SessionState
from .soon import Soon

# So many pairs of a topic and a session are looked at, and so many sessions are told, in one turn of the loop.
LOOKED_AT: Final = 4096
SESSIONS: Final = 256


class GapNotices:
    """The notices to the sessions in `hub`. `point(session)` returns the point that goes with one; `told` counts them."""

    def __init__(self, hub: Hub, soon: Soon, point: Callable[[Session], str | None]) -> None:
        self.told = 0
        self._hub, self._soon, self._point = hub, soon, point
        self._lost: dict[str, dict[Topic, None]] = {}
        self._telling = False

    def lost(self, topics: Sequence[Topic], reason: str) -> None:
        """Has sessions told, from the next turn on, that something of `topics` may be missing for `reason`."""
        self._lost.setdefault(reason, {}).update(dict.fromkeys(topics))
        if not self._telling:
            self._telling = True
            self._soon(lambda: self._go_on(self._tell()))

    def _go_on(self, telling: Iterator[None]) -> None:
        if next(telling, self) is not self:
            self._soon(lambda: self._go_on(telling))

    def _tell(self) -> Iterator[None]:
        """Tells everybody, some of them in each step. What is lost meanwhile is told by the same one."""
        while self._lost:
            reason, topics = self._lost.popitem()
            concerned: dict[Session, list[Topic]] = {}
            looked_at = 0
            for topic in topics:
                for member in list(self._hub.topics.get(topic, ())):
                    looked_at += 1
                    if isinstance(member, Session) and topic in member.follows_with_recovery:
                        concerned.setdefault(member, []).append(topic)
                    if looked_at % LOOKED_AT == 0:
                        yield
            sessions = iter(concerned.items())
            while some := list(islice(sessions, SESSIONS)):
                for session, mine in some:
                    self._say(session, mine, reason)
                yield
        self._telling = False

    def _say(self, session: Session, topics: list[Topic], reason: str) -> None:
        named = [format_topic(topic) for topic in topics if self._hub.holds(session, topic)]
        if session.state is SessionState.READY and named:
            self.told += 1
            session.say(messages.gap(named, reason, self._point(session)))
