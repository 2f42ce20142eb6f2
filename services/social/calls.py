"""The calls that social answers: follow and unfollow from access points, questions and wall posts from services (SB-12, SB-34)."""

from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.frames import Call
from infra.kernel.json_text import typed
from infra.kernel.topics import Kind
from infra.runtime.callers import Answerer

from ..followed_answer import followed_answer
from ..follows import PAGE, FollowStore, read_topics
from .answers import SubscribedFriends
from .core import EventId, EventKind
from .friends import Friends

MAX_ASKED: Final = 10_000
KINDS: Final = frozenset({Kind.SOCIAL})


class FriendsOf(msgspec.Struct, frozen=True):
    """The body of `friends`: asks for the friends of `user` who are subscribed to the feed of `user`, from `after` on."""

    user: str
    after: str = ""
    limit: int = PAGE


class NewPost(msgspec.Struct, frozen=True):
    """The body of `post`: what the caller's user did. `id` makes repeating safe."""

    id: EventId
    kind: EventKind
    payload: dict[str, object]


_IS_FRIEND: Final = msgspec.msgpack.Decoder(tuple[str, list[str]])


def answers(friends: Friends, follows: FollowStore) -> dict[str, Answerer]:
    """Returns op -> what answers it."""

    async def follow(call: Call) -> bytes:
        await follows.add(call.user, read_topics(call.user, call.body, KINDS))
        return b""

    async def unfollow(call: Call) -> bytes:
        await follows.remove(call.user, read_topics(call.user, call.body, KINDS))
        return b""

    async def friends_of(call: Call) -> bytes:
        asked = typed(call.body, FriendsOf)
        page = await friends.subscribed(asked.user, asked.after, max(1, min(asked.limit, PAGE)))
        return msgspec.json.encode(SubscribedFriends(page.items, page.next))

    async def is_friend(call: Call) -> bytes:
        owner, users = _pairs(call.body)
        return bytes(await friends.are_friends(owner, users))

    async def post(call: Call) -> bytes:
        act = typed(call.body, NewPost)
        await friends.tell_wall(call.user, act.id, act.kind, act.payload)
        return b""

    own = {"follow": follow, "unfollow": unfollow, "friends": friends_of, "is-friend": is_friend, "post": post}
    return own | {"followed": followed_answer(follows, Kind.USER)}


def _pairs(body: bytes) -> tuple[str, list[str]]:
    """Returns an owner, and the users who may be friends of that owner. Raises `Refused("bad-field")`."""
    try:
        owner, users = _IS_FRIEND.decode(body)
    except msgspec.DecodeError as wrong:
        raise Refused("bad-field", f"the body must be MessagePack of [owner, [users]]: {wrong}") from wrong
    if len(users) > MAX_ASKED:
        raise Refused("bad-field", f"{len(users)} users at once; at most {MAX_ASKED} are answered for")
    return owner, users
