"""What other nodes call over links: follow and unfollow for clients (SB-12), follow-owner for the social service (SB-6)."""

from typing import Final

import msgspec

from infra.kernel.frames import Call
from infra.kernel.topics import Kind, user_topic
from infra.runtime.callers import Answerer
from infra.runtime.http.web import typed

from ..follow_answers import follow_answers
from ..follows import FollowStore
from .core import playlist_topic
from .parameters import checked_name
from .store import Playlists

KINDS: Final = frozenset({Kind.PLAYLIST})


class Owner(msgspec.Struct, frozen=True):
    """The body of `follow-owner` and `unfollow-owner`."""

    owner: str


def answers(playlists: Playlists, follows: FollowStore) -> dict[str, Answerer]:
    """Returns op -> what answers it.

    Users who follow an owner are kept as followers of the owner's feed. No client's follow reaches that topic here.
    """

    async def follow_owner(call: Call) -> bytes:
        owner = checked_name(typed(call.body, Owner).owner)
        # The owner first: a playlist that is made meanwhile finds the user among the owner's followers.
        await follows.add_followers(user_topic(owner), [call.user])
        after: str | None = ""
        while after is not None:
            owned, after = await playlists.owned(owner, after)
            await follows.add(call.user, [playlist_topic(each.owner, each.id) for each in owned])
        return b""

    async def unfollow_owner(call: Call) -> bytes:
        owner = checked_name(typed(call.body, Owner).owner)
        await follows.remove_followers(user_topic(owner), [call.user])
        return b""

    return follow_answers(follows, KINDS) | {"follow-owner": follow_owner, "unfollow-owner": unfollow_owner}
