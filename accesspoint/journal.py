"""Journal: what those who want to know are told of the sessions of this access point. Pure.

Sessions are told one by one. A subscription is told once for each user: it begins with the first of their connections here that
subscribes, and ends with the last that leaves it. Who subscribes to what is in the hub; here is only which sessions a user has.
"""

from collections.abc import Iterable, Iterator

from infra.kernel.capture import Recorder
from infra.kernel.topics import Topic

from .hub import Hub
from .session import Session


class Journal:
    """The sessions of each user at `site`, whose subscriptions `hub` knows. `recorders` are told of both."""

    def __init__(self, hub: Hub, site: str, recorders: Iterable[Recorder]) -> None:
        self._recorders = tuple(recorders)
        self._hub, self._site = hub, site
        self._sessions: dict[str, dict[Session, None]] = {}

    @property
    def users(self) -> list[str]:
        """Who has a session here."""
        return list(self._sessions)

    def followed(self, user: str) -> set[Topic]:
        """Returns what `user` is subscribed to, by any of their sessions."""
        return {topic for session in self._sessions.get(user, ()) for topic in self._hub.held(session)}

    def joined(self, session: Session) -> None:
        """Tells that `session` has said hello."""
        self._sessions.setdefault(session.user, {})[session] = None
        for recorder in self._recorders:
            recorder.session(session.user, session.mobile, "join")

    def left(self, session: Session, held: Iterable[Topic]) -> None:
        """Tells that `session` is gone, and with it the subscriptions that it `held`."""
        self.unsubscribed(session, held)
        sessions = self._sessions[session.user]
        del sessions[session]
        if not sessions:
            del self._sessions[session.user]
        for recorder in self._recorders:
            recorder.session(session.user, session.mobile, "leave")

    def subscribed(self, session: Session, topics: Iterable[Topic]) -> None:
        """Tells that `session` has subscribed to `topics`, to none of which it was."""
        for topic in self._of_no_other(session, topics):
            for recorder in self._recorders:
                recorder.subscription(session.user, topic, "subscribe", self._site)

    def unsubscribed(self, session: Session, topics: Iterable[Topic]) -> None:
        """Tells that `session` has unsubscribed from `topics`, to all of which it was subscribed."""
        for topic in self._of_no_other(session, topics):
            for recorder in self._recorders:
                recorder.subscription(session.user, topic, "unsubscribe", self._site)

    def _of_no_other(self, session: Session, topics: Iterable[Topic]) -> Iterator[Topic]:
        """Returns those of `topics` to which no other session of the same user is subscribed."""
        others = [each for each in self._sessions[session.user] if each is not session]
        if not others:
            return iter(topics)
        return (topic for topic in topics if not any(self._hub.holds(other, topic) for other in others))
