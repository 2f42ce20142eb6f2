"""What a client may ask about without following it: the last events of friends, the past of a topic. Pure."""

from collections.abc import Callable
from functools import partial

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, check_feed, check_last, parse_topic

from ..followable import parse_followable
from ..session import Session
from .authorizer import Authorizer
from .questions import Verdicts

# The topics of a message that the session may see; or why that cannot be said now.
Seen = Callable[[list[Topic] | Refused], None]


class Visible:
    """The questions of sessions that `authorizer` has to allow."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def feeds(self, session: Session, uris: list[str], now_s: float, then: Seen) -> None:
        """Calls `then` with those of `uris`, friend feeds, that `session` may see, at once or later.

        Raises `Refused` for what is no friend feed, and for too many.
        """
        check_last(len(uris))
        topics = list(dict.fromkeys(map(parse_topic, uris)))
        for topic in topics:
            check_feed(topic)
        found = self._authorizer.sort(session, topics)
        if found.unknown:
            self._authorizer.ask(session, found.unknown, now_s, partial(_some, topics, found.refused, then), keeps_allowed=True)
        else:
            _some(topics, found.refused, then, {})

    def one(self, session: Session, uri: str, now_s: float, then: Callable[[Refused | None], None]) -> None:
        """Calls `then` with why `session` may not see `uri`, or None, at once or later.

        Raises `Refused` for what is no topic, or is forbidden to everybody.
        """
        topic = parse_followable(session.user, uri)
        found = self._authorizer.sort(session, [topic])
        if found.unknown:
            self._authorizer.ask(session, found.unknown, now_s, lambda verdicts: then(verdicts[topic]), keeps_allowed=True)
        else:
            then(found.refused.get(topic))


def _some(topics: list[Topic], refused: dict[Topic, Refused], then: Seen, verdicts: Verdicts) -> None:
    why: dict[Topic, Refused | None] = {**refused, **verdicts}
    unknown = next((each for each in verdicts.values() if each is not None and each.code.name == "unavailable"), None)
    then(unknown or [topic for topic in topics if why.get(topic) is None])
