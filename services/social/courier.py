"""The courier of social: it keeps what was promised, each task of the outbox, as often as it takes."""

from typing import Final

import msgspec

from infra.kernel.access import Relation
from infra.kernel.errors import Refused
from infra.kernel.roles import PLAYLIST
from infra.kernel.topics import format_topic

from ..follows import FollowStore
from ..intake_client import OutgoingNotification, alone
from ..neighbours import Neighbours
from ..tasks import OutboxTask
from .core import joined_topic
from .follower_news import FollowerNews
from .friends import Friends
from .privacy import Privacy
from .promise import Match, Prune, PutUp, Share, TellFollowed, TellJoined
from .wall import Wall

KIND: Final = "friend-joined"


class Pruned(msgspec.Struct, frozen=True):
    """The answer of a playlist service to `prune`: where it goes on; None when it is done."""

    next: str | None = None


class SocialCourier:
    """The courier; `perform` is what the relay calls. `followed` tells of new followers. Without a `wall` nothing is put up."""

    def __init__(
        self,
        friends: Friends,
        privacy: Privacy,
        follows: FollowStore,
        neighbours: Neighbours,
        followed: FollowerNews,
        wall: Wall | None,
    ) -> None:
        self.joined = self.posted = 0
        self._friends, self._privacy, self._follows, self._followed, self._wall = friends, privacy, follows, followed, wall
        self._notifier, self._peers = neighbours.notifier, neighbours.peers

    async def perform(self, task: OutboxTask) -> None:
        """Does one task. Raises Unavailable to be called again, and Refused for what will never be possible."""
        match task.op:
            case Match.op:
                found = msgspec.msgpack.decode(task.body, type=Match)
                await self._friends.match(found.user, found.provider)
            case Share.op:
                await self._share(msgspec.msgpack.decode(task.body, type=Share))
            case Prune.op:
                await self._prune(msgspec.msgpack.decode(task.body, type=Prune))
            case TellJoined.op:
                await self._tell(msgspec.msgpack.decode(task.body, type=TellJoined))
            case TellFollowed.op:
                await self._followed.tell(msgspec.msgpack.decode(task.body, type=TellFollowed))
            case PutUp.op:
                await self._put_up(msgspec.msgpack.decode(task.body, type=PutUp))
            case _:
                raise Refused("unknown-op", f"nobody here knows how to {task.op}; a newer version has promised it")

    async def _share(self, pair: Share) -> None:
        relation = (await self._privacy.relations(pair.user, [pair.owner]))[pair.owner]
        op = "follow-owner" if relation in (Relation.FRIENDS, Relation.FOLLOWER) else "unfollow-owner"
        await self._peers.call(PLAYLIST, pair.user, op, msgspec.json.encode({"owner": pair.owner}))

    async def _prune(self, promise: Prune) -> None:
        after: str | None = ""
        while after is not None:
            asked = {"playlist": promise.playlist, "user": promise.asker, "after": after}
            answer = await self._peers.call(PLAYLIST, promise.user, "prune", msgspec.json.encode(asked))
            after = msgspec.json.decode(answer, type=Pruned).next

    async def _tell(self, joined: TellJoined) -> None:
        topic = joined_topic(joined.user)
        if not (await self._follows.follows(topic, [joined.user]))[0]:
            return
        payload = {"user": joined.newcomer}
        news = OutgoingNotification(joined.id, format_topic(topic), KIND, msgspec.Raw(msgspec.json.encode(payload)), joined.newcomer)
        await self._notifier.notify(news, alone(joined.user, friend=True))
        self.joined += 1
        await self._friends.tell_wall(joined.user, joined.id, KIND, dict(payload))

    async def _put_up(self, promise: PutUp) -> None:
        if self._wall is not None and await self._friends.posting(promise.user):
            await self._wall.post(promise.post)
            self.posted += 1
