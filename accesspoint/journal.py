"""Journal: what a capture is told of the sessions of this access point. Pure.

Sessions are told one by one. A subscription is told once for each user: it begins with the first of his connections here that
subscribes, and ends with the last that leaves it.
"""

from collections.abc import Iterable

from infra.kernel.capture import Recorder
from infra.kernel.topics import Topic

from .session import Session


class Journal:
    """Tells `recorder` of sessions at `site`."""

    def __init__(self, recorder: Recorder, site: str) -> None:
        self._recorder, self._site = recorder, site
        self._connections: dict[tuple[str, Topic], int] = {}

    def joined(self, session: Session) -> None:
        """It has said hello."""
        self._recorder.session(session.user, session.mobile, "join")

    def left(self, session: Session, held: Iterable[Topic]) -> None:
        """It is gone, and with it the subscriptions that it `held`."""
        self.unsubscribed(session, held)
        self._recorder.session(session.user, session.mobile, "leave")

    def subscribed(self, session: Session, topics: Iterable[Topic]) -> None:
        """It has subscribed to `topics`, to none of which it was."""
        for topic in topics:
            pair = session.user, topic
            before = self._connections.get(pair, 0)
            self._connections[pair] = before + 1
            if not before:
                self._recorder.subscription(session.user, topic, "subscribe", self._site)

    def unsubscribed(self, session: Session, topics: Iterable[Topic]) -> None:
        """It has unsubscribed from `topics`, to all of which it was subscribed."""
        for topic in topics:
            pair = session.user, topic
            self._connections[pair] -= 1
            if not self._connections[pair]:
                del self._connections[pair]
                self._recorder.subscription(session.user, topic, "unsubscribe", self._site)
