"""Admission: the way of a subscribe message, from its topics to what of them is followed. Pure.

As a rule all of it is known, and done at once. Otherwise the message waits for verdicts. What the client unsubscribes meanwhile is
taken out of it, so that the later message wins; two messages about the same topic do not mind each other.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic

from ..messages import Rejected
from ..session import Session, SessionState
from ..subscriptions import Subscriptions
from ..wish import Wish
from .authorizer import Authorizer
from .questions import Verdicts

# Told once: what the session follows now of a message, what of it was rejected, and when that was.
Done = Callable[[list[Topic], list[Rejected], float], None]

ENDED: Final = Refused("forbidden", "while this waited for an answer, it was decided that you may not see it any more")

# A message, and how many of its topics are unknown.
_Waiting = tuple[Wish, int]


class Admission:
    """The subscribe messages of all sessions. `authorizer` says what is allowed, and `subscriptions` does it."""

    def __init__(self, authorizer: Authorizer, subscriptions: Subscriptions) -> None:
        self._authorizer, self._subscriptions = authorizer, subscriptions
        self._waiting: dict[Session, list[_Waiting]] = {}

    def __len__(self) -> int:
        """Returns the number of sessions of which a message waits."""
        return len(self._waiting)

    def subscribe(
        self, session: Session, uris: list[str], now_s: float, done: Done, followed: Callable[[list[Topic]], None] | None = None
    ) -> None:
        """Subscribes `session` to what it may see of `uris`, at `now_s`.

        - `done`: is called once, at once or later, unless the session ends first.
        - `followed(topics)`: is told what of them is followed, in the same turn.

        Raises `Refused` for too many topics in one message, and where too much waits.
        """
        wish = self._subscriptions.read(session, uris, followed)
        found = self._authorizer.sort(session, wish.topics)
        wish.refuse(found.refused)
        unknown = dict.fromkeys(found.unknown)
        pending = self._pending(session)
        if unknown and pending + len(unknown) > self._subscriptions.most_topics:
            raise Refused("too-many-topics", "so many topics of yours wait to be allowed; wait for the answers")
        # What is known is followed now and not later: if it ends meanwhile, as what is followed does, it must not begin again.
        known = [topic for topic in wish.topics if topic not in unknown]
        self._subscriptions.follow(session, wish, known, pending)
        if not unknown:
            done(list(wish.topics), wish.rejected(), now_s)
            return
        self._waiting.setdefault(session, []).append((wish, len(unknown)))
        try:
            self._authorizer.ask(session, found.unknown, now_s, partial(self._decided, session, (wish, len(unknown)), known, done))
        except Refused:
            self._forget(session, (wish, len(unknown)))
            raise

    def _decided(self, session: Session, waiting: _Waiting, known: list[Topic], done: Done, verdicts: Verdicts) -> None:
        if session not in self._waiting or session.state is not SessionState.READY:
            return  # it has left
        self._forget(session, waiting)
        wish, _ = waiting
        wish.refuse({topic: verdict for topic, verdict in verdicts.items() if verdict is not None})
        wish.refuse({topic: ENDED for topic in known if not self._subscriptions.holds(session, topic)})
        self._subscriptions.follow(session, wish, [topic for topic in verdicts if topic in wish.topics], self._pending(session))
        done(list(wish.topics), wish.rejected(), self._authorizer.now_s)

    def _forget(self, session: Session, waiting: _Waiting) -> None:
        wishes = self._waiting[session]
        wishes.remove(waiting)
        if not wishes:
            del self._waiting[session]

    def _pending(self, session: Session) -> int:
        """Returns how many topics of `session` are unknown: they take up room as if they were followed."""
        return sum(count for _, count in self._waiting.get(session, ()))

    def unsubscribed(self, session: Session, topics: list[Topic]) -> None:
        """Takes `topics` out of all messages of `session` that wait."""
        for wish, _ in self._waiting.get(session, ()):
            wish.drop(topics)

    def left(self, session: Session) -> None:
        """Forgets the messages of a session that is gone."""
        self._waiting.pop(session, None)
