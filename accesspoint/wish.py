"""A wish: the topics of one subscribe message, and what is wrong with some of them. Pure."""

from collections.abc import Callable, Iterable, Mapping

from infra.kernel.errors import Refused
from infra.kernel.http_error import described
from infra.kernel.topics import Topic, format_topic

from .followable import parse_followable
from .messages import Rejected


class Wish:
    """The wish of a client of `user` to follow `uris`.

    - `topics`: those of them with which nothing is wrong so far, in their order and each once.
    - `followed(topics)`: is told what of them is followed, in the same turn.
    """

    __slots__ = ("_uris", "_why", "followed", "topics")

    def __init__(self, user: str, uris: list[str], followed: Callable[[list[Topic]], None] | None = None) -> None:
        self._uris, self.followed = uris, followed
        self._why: dict[str, Refused] = {}
        self.topics: dict[Topic, None] = {}
        for uri in uris:
            try:
                self.topics[parse_followable(user, uri)] = None
            except Refused as refused:
                self._why[uri] = refused

    def refuse(self, refused: Mapping[Topic, Refused]) -> None:
        """Takes out topics that are not to be followed, each for a reason."""
        for topic, why in refused.items():
            if topic in self.topics:
                del self.topics[topic]
                self._why[format_topic(topic)] = why

    def drop(self, topics: Iterable[Topic]) -> None:
        """Takes out topics that the client has unsubscribed meanwhile."""
        for topic in topics:
            self.topics.pop(topic, None)

    def rejected(self) -> list[Rejected]:
        """Returns what is wrong with the others, in the order in which the message names them."""
        if not self._why:
            return []
        return [(uri, described(self._why[uri])) for uri in self._uris if uri in self._why]
