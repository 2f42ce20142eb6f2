"""The recovery of a client: what it asks for when it comes back, and what the answers mean for its positions (DPS-5, DPS-8, DPS-9). Pure.

Nothing of it is said to a server whose welcome names no window.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.loss_reasons import LossReason
from infra.kernel.topics import Kind, kind_of, parse_topic
from segue.sdk.cursor import Cursors
from segue.sdk.kept_positions import KeptPositions
from segue.sdk.messages import Event, Gap, LostTopic, Subscribed, Wait, Welcome, topic_batches

# Bytes of an epoch, a number, and what stands around them and a name.
NUMBER_BYTES: Final = 48
# The most that one message asks to recover numbers of.
MAX_SINCE: Final = 2_000


class _Asked(NamedTuple):
    """A subscribe that is not answered.

    - `topics`: its topics. `away`: those that were not followed when it was sent.
    - `nowhere`: those without a position. `can_miss`: those of which something can be missing.
    - `recovers`: whether the server was asked for what is missing.
    """

    topics: list[str]
    away: set[str]
    nowhere: set[str]
    can_miss: set[str]
    recovers: bool


class Recoverer:
    """The recovery of one client, over all its connections. `kept`, if there is one, follows what the application takes."""

    def __init__(self, kept: KeptPositions | None = None) -> None:
        self.cursors = Cursors()
        self._kept = kept
        self._welcome: Welcome | None = None
        self._asked: dict[int, _Asked] = {}
        if kept is not None:
            self.cursors.restore(kept.positions)

    @property
    def is_offered(self) -> bool:
        """Whether the server recovers anything."""
        return self._welcome is not None and bool(self._welcome.window)

    def connect(self, welcome: Welcome) -> None:
        """Notes a new connection, which began with `welcome`. Raises Misuse where the kept positions are those of another user."""
        if self._kept is not None:
            self._kept.belong(welcome.user)
        self._welcome = welcome
        self._asked.clear()

    def disconnect(self) -> None:
        """Notes the end of the connection."""
        self._asked.clear()
        self.cursors.disconnect()

    def batches(self, topics: Iterable[str]) -> Iterator[list[str]]:
        """Yields `topics` in lists for one subscribe each: those of a list have the same point, and all are recovered or none."""
        assert self._welcome is not None
        limits = self._welcome.limits
        most = msgspec.structs.replace(limits, topics_per_message=min(limits.topics_per_message, MAX_SINCE))
        groups: dict[tuple[bool, str | None], list[str]] = {}
        for topic in topics:
            position = self.cursors.position(topic)
            is_kept = self._is_kept(topic)
            groups.setdefault((is_kept, position.point if position and is_kept else None), []).append(topic)
        for (is_kept, _), group in groups.items():
            yield from topic_batches(group, most if is_kept else limits, self._since_bytes if is_kept else lambda _: 0)

    def ask(self, call_id: int, topics: list[str], wait: Wait) -> dict[str, Any]:
        """Returns the subscribe for a list of `batches`, which is sent as `call_id` at once. `wait` says for which sites it waits."""
        message: dict[str, Any] = {"op": "subscribe", "topics": topics, "wait": wait}
        recovers = self._is_kept(topics[0])
        nowhere = {topic for topic in topics if self.cursors.position(topic) is None}
        if recovers:
            message |= self._where(topics)
        away = {topic for topic in topics if self.cursors.is_away(topic)}
        can_miss = self.cursors.ask(topics) if recovers else self.cursors.begin(topics)
        self._asked[call_id] = _Asked(topics, away, nowhere, can_miss, recovers)
        return message

    def answered(self, answer: Subscribed) -> tuple[Subscribed, list[Gap]]:
        """Takes the answer to a subscribe. Returns it with what is missing, and the news of that."""
        asked = self._asked.pop(answer.id, None)
        if asked is None:  # it asked for no topic by name
            self.reach(answer.point)
            return msgspec.structs.replace(answer, recovered=None), []
        rejected = {each.topic for each in answer.rejected}
        followed = [topic for topic in asked.topics if topic not in rejected]
        lost = self._lost(asked, answer, rejected)
        self.cursors.retreat(rejected & asked.away)  # the others go on
        self.cursors.settle(followed, [each.topic for each in lost] if asked.recovers else ())
        self.reach(answer.point)
        recovered = not lost if self.is_offered and asked.can_miss - rejected else None
        return msgspec.structs.replace(answer, recovered=recovered, lost=lost), _gaps(lost, answer.point)

    def refused(self, call_id: int, refusal: Refused) -> bool:
        """Takes the refusal of a subscribe. Returns whether to ask again: for the server does not take the positions."""
        asked = self._asked.pop(call_id, None)
        if asked is None:
            return False
        self.cursors.retreat(asked.away)
        is_ours = asked.recovers and refusal.code.name == "bad-field" and bool(asked.can_miss)
        if is_ours:
            self.cursors.empty(asked.away)
        return is_ours

    def take(self, event: Event) -> Event | None:
        """Moves past `event`, which the application gets. Returns it with its gap; None if the application has it already."""
        taken = self.cursors.take(event)
        if taken is not None and self._kept is not None:
            self._kept.arrived()
        return taken

    def is_followed(self, topic: str) -> bool:
        """Returns whether `topic` has a cursor: it is followed, or was when the connection ended, and was not forgotten."""
        return topic in self.cursors

    def reach(self, point: str | None) -> None:
        """Notes that everything up to `point` has come; None: that the server does not say."""
        if point is not None:
            self.cursors.reach(point)
        if self._kept is not None:
            self._kept.changed(self.cursors)

    def miss(self, gap: Gap) -> None:
        """Notes that something may be missing."""
        self.cursors.empty(gap.topics)
        self.reach(gap.point)

    def begin(self, topics: Iterable[str]) -> None:
        """Notes that `topics` are followed from now on, without having been asked for by name."""
        new = list(topics)
        self.cursors.begin(new)
        self.cursors.settle(new, ())

    def kept_of_friends(self) -> list[str]:
        """Returns the topics with a position that may be those of friends: feeds and playlists."""
        return [topic for topic in self.cursors.snapshot() if _may_be_of_friend(topic)]

    def forget(self, topics: Iterable[str]) -> None:
        """Forgets `topics`, which are not followed any more."""
        gone = list(topics)
        self.cursors.forget(gone)
        if self._kept is not None:
            self._kept.forget(gone)

    def _is_kept(self, topic: str) -> bool:
        if not self.is_offered:
            return False
        assert self._welcome is not None
        try:
            return kind_of(parse_topic(topic)) in self._welcome.window
        except Refused:
            return False  # the server says what is wrong with it

    def _since_bytes(self, topic: str) -> int:
        position = self.cursors.position(topic)
        if position is None or not position.sites:
            return 0
        return len(topic.encode()) + NUMBER_BYTES + sum(len(site.encode()) + NUMBER_BYTES for site in position.sites)

    def _where(self, topics: list[str]) -> dict[str, Any]:
        positions = {topic: found for topic in topics if (found := self.cursors.position(topic)) is not None}
        point = next((position.point for position in positions.values()), None)
        since = {topic: {site: each[0] for site, each in position.sites.items()} for topic, position in positions.items() if position.sites}
        return {"recover": True} | ({"point": point} if point is not None else {}) | ({"since": since} if since else {})

    def _lost(self, asked: _Asked, answer: Subscribed, rejected: set[str]) -> tuple[LostTopic, ...]:
        can_miss = asked.can_miss - rejected
        if not self.is_offered:
            return ()
        if not asked.recovers:
            return tuple(LostTopic(topic, LossReason.NO_WINDOW) for topic in asked.topics if topic in can_miss)
        said = {each.topic: each for each in answer.lost if each.topic in can_miss}
        # Who says neither a point nor a number is told that nothing is missing from now on.
        silent = asked.nowhere if answer.recovered or answer.lost else asked.can_miss
        return tuple(
            said.get(topic) or LostTopic(topic, LossReason.EXPIRED) for topic in asked.topics if topic in can_miss & (said.keys() | silent)
        )


def _may_be_of_friend(topic: str) -> bool:
    try:
        return kind_of(parse_topic(topic)) in (Kind.USER, Kind.PLAYLIST)
    except Refused:
        return False


def _gaps(lost: Iterable[LostTopic], point: str | None) -> list[Gap]:
    by_reason: dict[str, list[str]] = {}
    for each in lost:
        by_reason.setdefault(each.reason, []).append(each.topic)
    return [Gap(topics=tuple(topics), reason=reason, point=point) for reason, topics in by_reason.items()]
