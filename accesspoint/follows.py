"""Follows: what the decision service is told of who follows what here. Pure.

When its link stands it is told everything, user by user. Later, whenever it asks, it is told what changed of what it knows. So
nothing is kept for each subscription but what changed since; and a pair that ended as it began is not told at all.
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
    """A `Recorder` of subscriptions to topics that may be offloaded."""

    def __init__(self) -> None:
        self._told = False
        # Users of whom the service has heard nothing yet, in the order in which it will.
        self._unknown: dict[str, None] = {}
        # Pairs that are not as the service knows them, and whether they stand now.
        self._changed: dict[Pair, bool] = {}

    def begin(self, users: Iterable[str]) -> None:
        """Notes that the service is there and knows nothing; `users` are here."""
        self._told, self._unknown, self._changed = True, dict.fromkeys(users), {}

    def end(self) -> None:
        """Notes that the service is gone, and has forgotten what it was told."""
        self._told, self._unknown, self._changed = False, {}, {}

    def session(self, user: str, mobile: bool, action: Literal["join", "leave"]) -> None:
        """Does nothing: the service does not want to know when `user` does the `action`, `mobile` or not."""

    def subscription(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"], site: Site) -> None:
        """Notes that a subscription of `user` to `topic` begins or ends, as `action` says; `site` is this one."""
        # Who is unknown is not noted: all that they follow by then is told when their turn comes.
        if self._told and user not in self._unknown and may_leave(topic):
            pair = user, topic
            # Begin and end alternate, so a second change undoes the first: the service knows the pair as it is again.
            if self._changed.pop(pair, None) is None:
                self._changed[pair] = action == "subscribe"

    def tell(self, followed: Callable[[str], Iterable[Topic]]) -> Iterator[list[Followed | Unfollowed]]:
        """Returns what the service does not know yet, in portions for one turn of the loop each.

        `followed(user)` returns what `user` follows when their turn comes.
        """
        while self._unknown:
            yield from self._introduced(list(islice(self._unknown, USERS)), followed)
        # Taken before the first of them is told: what changes in between is told the next time.
        changed, self._changed = self._changed, {}
        began = [pair for pair, stands in changed.items() if stands]
        ended = [pair for pair, stands in changed.items() if not stands]
        for some in _portions(began):
            yield [Followed(*_columns(some))]
        for some in _portions(ended):
            yield [Unfollowed(*_columns(some))]

    def _introduced(self, users: list[str], followed: Callable[[str], Iterable[Topic]]) -> Iterator[list[Followed | Unfollowed]]:
        pairs: list[Pair] = []
        for user in users:
            if len(pairs) >= BULK:
                break
            # In one turn of the loop with the next line: a change after that is noted, one before it is in what is read here.
            del self._unknown[user]
            pairs += [(user, topic) for topic in followed(user) if may_leave(topic)]
        for some in _portions(pairs):
            yield [Followed(*_columns(some))]
        if not pairs:  # to look at so many users took its time, too: the loop gets its turn
            yield []


def _portions(pairs: list[Pair]) -> Iterator[list[Pair]]:
    return (pairs[start : start + BULK] for start in range(0, len(pairs), BULK))


def _columns(pairs: list[Pair]) -> tuple[list[str], list[bytes]]:
    return [user for user, _ in pairs], [topic for _, topic in pairs]
