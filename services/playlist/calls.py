"""What other nodes call over links: follow and unfollow for clients (SB-12), follow-owner and prune for the social service (SB-6)."""

from typing import Final

import msgspec

from infra.kernel.access import PLAYLIST_RULE, refusal
from infra.kernel.frames import Call
from infra.kernel.json_text import typed
from infra.kernel.topics import Kind, user_topic
from infra.runtime.callers import Answerer

from ..follow_answers import follow_answers
from ..followed_answer import followed_answer
from ..follows import FollowStore, read_topics
from .core import playlist_topic
from .following import follow_seen
from .parameters import checked_name
from .pruning import PruneRequest, Pruning
from .store import Playlists
from .viewers import Viewers

KINDS: Final = frozenset({Kind.PLAYLIST})


class Owner(msgspec.Struct, frozen=True):
    """The body of `follow-owner` and `unfollow-owner`."""

    owner: str


def answers(playlists: Playlists, follows: FollowStore, capturing: FollowStore, viewers: Viewers) -> dict[str, Answerer]:
    """Returns op -> what answers it. What clients follow goes to `follows`, and all else to `capturing`.

    Users who follow an owner are kept as followers of the owner's feed. No client's follow reaches that topic here.
    """

    async def follow_owner(call: Call) -> bytes:
        owner = checked_name(typed(call.body, Owner).owner)
        # The owner first: a playlist that is made meanwhile finds the user among the owner's followers.
        await capturing.add_followers(user_topic(owner), [call.user])
        after: str | None = ""
        while after is not None:
            owned, after = await playlists.owned(owner, after)
            topics = [playlist_topic(each.owner, each.id) for each in owned]
            await follow_seen(capturing, viewers, call.user, topics)
        return b""

    async def unfollow_owner(call: Call) -> bytes:
        owner = checked_name(typed(call.body, Owner).owner)
        await capturing.remove_followers(user_topic(owner), [call.user])
        return b""

    async def follow(call: Call) -> bytes:
        topics = read_topics(call.user, call.body, KINDS)
        seen = await follow_seen(follows, viewers, call.user, topics)
        if not all(seen):
            raise refusal(PLAYLIST_RULE, topics[seen.index(False)])
        return b""

    async def prune(call: Call) -> bytes:
        return msgspec.json.encode(await pruning.prune(call.user, typed(call.body, PruneRequest)))

    pruning = Pruning(capturing, viewers)
    own = {"follow": follow, "followed": followed_answer(follows, Kind.PLAYLIST)}
    own |= {"follow-owner": follow_owner, "unfollow-owner": unfollow_owner, "prune": prune}
    return follow_answers(follows, KINDS) | own
