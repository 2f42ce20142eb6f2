"""Journal: what those who want to know are told of the sessions of this access point. Pure.

Sessions are told one by one. A subscription is told once for each user: it begins with the first of his connections here that
subscribes, and ends with the last that leaves it. Who subscribes to what is in the hub; here is only which sessions a user has.
"""

from collections.abc import Iterable, Iterator

from infra.kernel.capture import Recorder
from infra.kernel.topics import Topic

from .hub import Hub
from .session import Session


class Journal:
    """Tells `recorders` of sessions at `site`, whose subscriptions `hub` knows."""

    def __init__(self, hub: Hub, site: str, recorders: Iterable[Recorder] = ()) -> None:
        self.recorders = list(recorders)
        self._hub, self._site = hub, site
        self._sessions: dict[str, dict[Session, None]] = {}

    @property
    def users(self) -> list[str]:
        """Who has a session here."""
        return list(self._sessions)

    def followed(self, user: str) -> set[Topic]:
        """What `user` is subscribed to, by any of his sessions."""
        return {topic for session in self._sessions.get(user, ()) for topic in self._hub.held(session)}

    def joined(self, session: Session) -> None:
        """It has said hello."""
        self._sessions.setdefault(session.user, {})[session] = None
        for recorder in self.recorders:
            recorder.session(session.user, session.mobile, "join")

    def left(self, session: Session, held: Iterable[Topic]) -> None:
        """It is gone, and with it the subscriptions that it `held`."""
        self.unsubscribed(session, held)
        sessions = self._sessions[session.user]
        del sessions[session]
        if not sessions:
            del self._sessions[session.user]
        for recorder in self.recorders:
            recorder.session(session.user, session.mobile, "leave")

    def subscribed(self, session: Session, topics: Iterable[Topic]) -> None:
        """It has subscribed to `topics`, to none of which it was."""
        for topic in self._of_no_other(session, topics):
            for recorder in self.recorders:
                recorder.subscription(session.user, topic, "subscribe", self._site)

    def unsubscribed(self, session: Session, topics: Iterable[Topic]) -> None:
        """It has unsubscribed from `topics`, to all of which it was subscribed."""
        for topic in self._of_no_other(session, topics):
            for recorder in self.recorders:
                recorder.subscription(session.user, topic, "unsubscribe", self._site)

    def _of_no_other(self, session: Session, topics: Iterable[Topic]) -> Iterator[Topic]:
        """Those of `topics` to which no other session of the same user is subscribed."""
        others = [each for each in self._sessions[session.user] if each is not session]
        if not others:
            return iter(topics)
        return (topic for topic in topics if not any(self._hub.holds(other, topic) for other in others))
