"""Viewers: who may see playlists and edit them, as the social service says.

Without a social service in the options there is nobody to ask. Then all playlists are public, and everybody edits a collaborative one.
While it is away, what it would have to say is refused with Unavailable (AUTH-10).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

from infra.kernel.access import CLOSED_RULE, Visibility, is_everybodys, refusal, rule_of
from infra.kernel.errors import Refused, Unavailable
from infra.kernel.roles import SOCIAL
from infra.kernel.topics import Topic, owner_of

from ..peers import ServicePeers
from .core import Playlist

T = TypeVar("T")

_RULES: Final = msgspec.msgpack.Decoder(list[int])
_RULE: Final = msgspec.msgpack.Decoder(int)
_VISIBILITY: Final = msgspec.msgpack.Decoder(str)
_ENCODE: Final = msgspec.msgpack.Encoder().encode
AT_ONCE: Final = 1000
_SEES: Final = 1
_FOLLOWS: Final = 2


class Viewer(NamedTuple):
    """One of those who may be told of a playlist.

    - `sees`: they may see it.
    - `is_friend`: they follow its owner, so they are a friend (spec 3.6).
    """

    sees: bool
    is_friend: bool


class Viewers:
    """The answers of social. `is_asked` says whether there is a social service. A service asks with an empty user, and sees everything."""

    def __init__(self, peers: ServicePeers, *, is_asked: bool) -> None:
        self._peers, self._is_asked = peers, is_asked

    async def check_sees(self, user: str, topic: Topic) -> None:
        """Raises Refused("forbidden") unless `user` may see `topic`."""
        (rule,) = await self._rules(user, [topic])
        _check(rule, topic)

    async def check_edits(self, user: str, playlist: Playlist) -> None:
        """Raises Refused("forbidden") for whoever may not see `playlist`, or not edit it though it is collaborative (AUTH-7).

        Whether it is, and who edits it otherwise, is for `core` to say.
        """
        if not playlist.collaborative:
            await self.check_sees(user, playlist.topic)
        elif self._is_asked and user != playlist.owner:
            answer = await self._ask(user, "may-edit", _ENCODE(playlist.topic))
            _check(_read(answer, _RULE), playlist.topic)

    async def seen(self, user: str, topics: Sequence[Topic]) -> list[bool]:
        """Returns for each of `topics` whether `user` may see it."""
        return [not rule for rule in await self._rules(user, topics)]

    async def audience(self, topic: Topic, users: Sequence[str]) -> list[Viewer]:
        """Returns what each of `users` is to the playlist of `topic`."""
        if not (self._is_asked and users):
            return [Viewer(sees=True, is_friend=False)] * len(users)
        answer = await self._ask(owner_of(topic), "who-sees", _ENCODE((topic, users)))
        _check_length(len(answer), len(users))
        return [Viewer(bool(flags & _SEES), bool(flags & _FOLLOWS)) for flags in answer]

    async def is_public(self, topic: Topic) -> bool:
        """Returns whether everybody may hear of the playlist of `topic`, as they do in friend feeds and on walls."""
        return not self._is_asked or _read(await self._ask(owner_of(topic), "visibility", _ENCODE(topic)), _VISIBILITY) == Visibility.PUBLIC

    async def _rules(self, user: str, topics: Sequence[Topic]) -> list[int]:
        asked = [topic for topic in topics if user and not is_everybodys(user, topic)]
        if not (self._is_asked and asked):
            return [0] * len(topics)
        known: dict[Topic, int] = {}
        for start in range(0, len(asked), AT_ONCE):
            some = asked[start : start + AT_ONCE]
            rules = _read(await self._ask(user, "may-see", _ENCODE(some)), _RULES)
            _check_length(len(rules), len(some))
            known |= zip(some, rules, strict=True)
        return [known.get(topic, 0) for topic in topics]

    async def _ask(self, user: str, op: str, body: bytes) -> bytes:
        try:
            return await self._peers.call(SOCIAL, user, op, body)
        except Refused as refused:
            # A node of the version before does not know whom it would have to keep out.
            raise Unavailable(f"social does not say who may see it: {refused}") from refused


def _check(rule: int, topic: Topic) -> None:
    if rule:
        raise refusal(rule_of(rule), topic)


def _check_length(answered: int, asked: int) -> None:
    if answered != asked:
        raise Unavailable(f"social answered for {answered}, {asked} were asked about ({CLOSED_RULE.id})")


def _read(answer: bytes, decoder: msgspec.msgpack.Decoder[T]) -> T:
    try:
        return decoder.decode(answer)
    except msgspec.DecodeError as wrong:
        raise Unavailable(f"what social says cannot be understood ({CLOSED_RULE.id}): {wrong}") from wrong
