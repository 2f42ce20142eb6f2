"""What sessions are told of their topics that leave real time and come back. Pure.

A session hears of each switch that concerns it, in one message if its topics fit into one, and of a topic that is out already
when it subscribes to it. Who does not read hears of all that it missed when it reads again: nothing piles up for it.
"""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Final

from infra.kernel.assignment import Assigned
from infra.kernel.frames import Assignment
from infra.kernel.topics import Topic, format_topic

from . import messages
from .hub import Hub
from .row import Member
from .session import Session, SessionState
from .soon import Soon

# So many topics and their sessions are looked at, and so many sessions told, in one turn of the loop: a few milliseconds.
LOOKED_AT: Final = 16_384
SESSIONS: Final = 256


class OffloadNotices:
    """The notices to the sessions in `hub`, at most `topics_per_message` topics in one.

    `soon(catch_up)` is called when somebody has missed some and reads again, once until that was done.
    """

    def __init__(self, hub: Hub, topics_per_message: int, soon: Soon) -> None:
        self.assigned = Assigned()
        self._soon = soon
        self.told = 0
        self._hub, self._topics_per_message = hub, topics_per_message
        self._switched: set[Topic] = set()
        self._telling = False
        self._missed: dict[Session, dict[Topic, None]] = {}
        self._resumed: list[Session] = []

    def offer(self, frame: Assignment) -> bool:
        """Takes what the decision service says; returns whether `tell` must be gone through now.

        Raises `Refused` as `Assigned.offer` does.
        """
        switch = self.assigned.offer(frame)
        if switch is None:
            return False
        self._switched |= switch.left
        self._switched |= switch.came
        # One telling at a time: what switches while it goes on is told by the same one, behind the rest.
        begins, self._telling = not self._telling, True
        return begins

    def tell(self) -> Iterator[float]:
        """Tells every session what has switched of its topics, some of them in each step."""
        while self._switched:
            switched, self._switched = self._switched, set()
            concerned: set[Member] = set()
            looked_at = 0
            for topic in switched:
                row = self._hub.topics.get(topic, ())
                concerned.update(row)
                looked_at += 1 + len(row)
                if looked_at >= LOOKED_AT:
                    looked_at = 0
                    yield 0.0
            members = iter(concerned)
            while some := list(islice(members, SESSIONS)):
                for member in some:
                    assert isinstance(member, Session)
                    self._say(member, [topic for topic in self._hub.held(member) if topic in switched])
                yield 0.0
        self._telling = False

    def subscribed(self, session: Session, topics: Collection[Topic]) -> None:
        """Tells `session`, which was told that it follows `topics` now, which of them are out."""
        if out := self.assigned.out:
            self._say(session, [topic for topic in topics if topic in out])

    def resumed(self, session: Session) -> None:
        """Notes that a slow session reads again, or is gone."""
        if session in self._missed:
            if not self._resumed:
                self._soon(self.catch_up)
            self._resumed.append(session)

    def catch_up(self) -> None:
        """Tells those who read again what they missed."""
        resumed, self._resumed = self._resumed, []
        for session in resumed:
            self._say(session, self._missed.pop(session, ()))

    def _say(self, session: Session, topics: Collection[Topic]) -> None:
        if session.state is not SessionState.READY:
            return
        # It may have left some since. And what is said is how they stand now, not how they stood when they switched.
        followed = [topic for topic in topics if self._hub.holds(session, topic)]
        if session.outbox is not None:
            self._missed.setdefault(session, {}).update(dict.fromkeys(followed))
            return
        for start in range(0, len(followed), self._topics_per_message):
            session.say(self._message(followed[start : start + self._topics_per_message]))
            self.told += 1

    def _message(self, topics: list[Topic]) -> bytes:
        assigned = self.assigned
        left = [format_topic(topic) for topic in topics if topic in assigned.out]
        back = [format_topic(topic) for topic in topics if topic not in assigned.out]
        return messages.offloaded(assigned.epoch, left, back, assigned.every_ms)
