"""Follows: what the decision service is told of who follows what here. Pure.

When its link stands it is told everything, user by user, and what changed of those it knows whenever it asks. So nothing is
kept for each subscription, only what changed since; and a pair that ended as it began is not told at all.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, Literal

from infra.kernel.assignment import may_leave
from infra.kernel.capture import Site
from infra.kernel.frames import Followed, Unfollowed
from infra.kernel.topics import Topic

# As many pairs of the longest names fit into a frame of a link; they take a few milliseconds to make.
BULK: Final = 4096
USERS: Final = 1024

Pair = tuple[str, Topic]


class Follows:
    """A `Recorder` of subscriptions to topics that may be offloaded. `followed(user)`: what a user follows now."""

    def __init__(self, followed: Callable[[str], Iterable[Topic]]) -> None:
        self._followed = followed
        self._told = False
        self._unknown: dict[str, None] = {}
        self._changed: dict[Pair, bool] = {}

    def begin(self, users: Iterable[str]) -> None:
        """The service is there and knows nothing; `users` are here."""
        self._told, self._unknown, self._changed = True, dict.fromkeys(users), {}

    def end(self) -> None:
        """The service is gone, and has forgotten what it was told."""
        self._told, self._unknown, self._changed = False, {}, {}

    def session(self, user: str, mobile: bool, action: Literal["join", "leave"]) -> None:
        """Who comes and goes is nothing to the service."""

    def subscription(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"], site: Site) -> None:
        """A subscription begins or ends."""
        if self._told and user not in self._unknown and may_leave(topic):
            pair = user, topic
            if self._changed.pop(pair, None) is None:
                self._changed[pair] = action == "subscribe"

    def tell(self) -> Iterator[list[Followed | Unfollowed]]:
        """What the service does not know yet, in portions for one turn of the loop each."""
        while self._unknown:
            yield from self._introduced(list(islice(self._unknown, USERS)))
        changed, self._changed = self._changed, {}
        began = [pair for pair, stands in changed.items() if stands]
        ended = [pair for pair, stands in changed.items() if not stands]
        for some in _portions(began):
            yield [Followed(*_columns(some))]
        for some in _portions(ended):
            yield [Unfollowed(*_columns(some))]

    def _introduced(self, users: list[str]) -> Iterator[list[Followed | Unfollowed]]:
        pairs: list[Pair] = []
        for user in users:
            if len(pairs) >= BULK:
                break
            del self._unknown[user]
            pairs += [(user, topic) for topic in self._followed(user) if may_leave(topic)]
        for some in _portions(pairs):
            yield [Followed(*_columns(some))]
        if not pairs:
            yield []


def _portions(pairs: list[Pair]) -> Iterator[list[Pair]]:
    return (pairs[start : start + BULK] for start in range(0, len(pairs), BULK))


def _columns(pairs: list[Pair]) -> tuple[list[str], list[bytes]]:
    return [user for user, _ in pairs], [topic for _, topic in pairs]
