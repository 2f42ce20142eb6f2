"""The answer to `followed`: which topics a user follows, told to access points whose clients hear of all their friends (SB-4, SB-6)."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.frames import Call
from infra.kernel.topics import Kind, Topic, kind_of, owner_of, user_topic
from infra.runtime.callers import Answerer

from .follows import FollowStore

# So many owners are asked about at once. Whoever wants to know of more asks about all.
MAX_OWNERS: Final = 100


class FollowedWish(msgspec.Struct, frozen=True, array_like=True):
    """The body of `followed`: the topics of these `owners`, or of all without any, from the cursor `after` on."""

    owners: Annotated[list[str], msgspec.Meta(max_length=MAX_OWNERS)]
    after: str = ""


class FollowedTopics(msgspec.Struct, frozen=True, array_like=True):
    """The answer: a page of topics, and where the next one begins; None where there is none."""

    topics: list[bytes]
    next: str | None = None


_WISH: Final = msgspec.msgpack.Decoder(FollowedWish)
_ENCODE: Final = msgspec.msgpack.Encoder().encode


def followed_answer(follows: FollowStore, kind: Kind) -> Answerer:
    """Returns what answers `followed` from `follows`, with the topics of `kind`: users or playlists."""

    async def followed(call: Call) -> bytes:
        try:
            wish = _WISH.decode(call.body)
        except msgspec.DecodeError as wrong:
            raise Refused("bad-field", f"the body must be MessagePack of [[owner, ...], after]: {wrong}") from wrong
        if wish.owners and kind is Kind.USER:
            return _ENCODE(FollowedTopics(list(await follows.followed(call.user, [user_topic(owner) for owner in wish.owners]))))
        if wish.owners:
            return _ENCODE(FollowedTopics([topic for owner in wish.owners for topic in await _playlists_of(follows, call.user, owner)]))
        page = await follows.topics(call.user, wish.after)
        return _ENCODE(FollowedTopics([topic for topic in page.items if kind_of(topic) is kind], page.next))

    return followed


async def _playlists_of(follows: FollowStore, user: str, owner: str) -> Sequence[Topic]:
    """Returns the playlists of `owner` that `user` follows. In the order of compact forms those of one owner are side by side."""
    found: list[Topic] = []
    after: str | None = f"P{owner}/"
    while after is not None:
        page = await follows.topics(user, after)
        theirs = [topic for topic in page.items if kind_of(topic) is Kind.PLAYLIST and owner_of(topic) == owner]
        found += theirs
        after = page.next if len(theirs) == len(page.items) else None
    return found
