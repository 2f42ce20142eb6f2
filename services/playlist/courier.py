"""The courier of the playlist service: it tells the engine, the friend feed, walls and the notification module of each change.

Each way has a task of its own. The event has one id on all of them. So a client that hears of it twice shows it once, and a
repetition after a crash is known as such.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

import msgspec

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.events import Event, encode_tail
from infra.kernel.roles import PRESENCE, SOCIAL
from infra.kernel.topics import format_topic, user_topic

from ..follows import FollowStore, follower_pages
from ..intake_client import Audience, OutgoingNotification
from ..neighbours import Neighbours
from ..tasks import OutboxTask
from .core import KIND, ChangeEvent, act_message, playlist_topic, wall_message
from .viewers import Viewers

PUBLISH_S: Final = 5.0
FEED_S: Final = 60.0

_DECODER: Final = msgspec.json.Decoder(ChangeEvent)


class PlaylistCourier:
    """The courier; `perform` is what each `OutboxRelay` calls.

    - `follows`: who is told, as far as they may see it by then: that is what `viewers` say.
    - `wall`: Unix time in seconds.
    - `tells_presence`, `asks_social`: whether such services are configured.
    """

    def __init__(
        self,
        follows: FollowStore,
        viewers: Viewers,
        neighbours: Neighbours,
        wall: Callable[[], float],
        *,
        tells_presence: bool,
        asks_social: bool,
    ) -> None:
        self.published = 0
        self._follows, self._viewers = follows, viewers
        self._brokers, self._peers, self._notifier = neighbours.brokers, neighbours.peers, neighbours.notifier
        self._wall, self._tells_presence, self._asks_social = wall, tells_presence, asks_social

    async def perform(self, task: OutboxTask) -> None:
        """Does one task. Raises Unavailable to be called again, and Refused for what will never be possible."""
        promise = _DECODER.decode(task.body)
        match task.op:
            case "enlist":
                await self._enlist(promise)
            case "publish":
                await self._publish(promise)
            case "act":
                await self._act(promise)
            case "post":
                await self._post(promise)
            case "notify":
                await self._notify(promise)
            case "dismiss":
                await self._dismiss(promise)
            case op:
                raise Refused("unknown-op", f"{op}: a newer version of this service has promised it")

    async def _act(self, promise: ChangeEvent) -> None:
        """Adds a line to the friend feed. Feeds show what is happening and keep nothing, so a line that is late is left out."""
        if not self._tells_presence or self._wall() * 1000 - promise.ts_ms > FEED_S * 1000 or not await self._is_public(promise):
            return
        await self._peers.call(PRESENCE, promise.by, "act", act_message(promise))

    async def _post(self, promise: ChangeEvent) -> None:
        """Has social put up a wall post; it knows whether the user wants any."""
        if self._asks_social and await self._is_public(promise):
            await self._peers.call(SOCIAL, promise.by, "post", wall_message(promise))

    async def _is_public(self, promise: ChangeEvent) -> bool:
        """Returns whether those who follow the user who made the change may hear of this playlist, which may be another user's."""
        return await self._viewers.is_public(playlist_topic(promise.owner, promise.playlist))

    async def _enlist(self, promise: ChangeEvent) -> None:
        """Lets all who follow the owner follow the new playlist, as is the default (SB-6)."""
        topic = playlist_topic(promise.owner, promise.playlist)
        async for users in follower_pages(self._follows, user_topic(promise.owner)):
            viewers = await self._viewers.audience(topic, users)
            await self._follows.add_followers(topic, [user for user, viewer in zip(users, viewers, strict=True) if viewer.sees])

    async def _dismiss(self, promise: ChangeEvent) -> None:
        """Lets nobody follow a playlist that is gone."""
        topic = playlist_topic(promise.owner, promise.playlist)
        async for users in follower_pages(self._follows, topic):
            await self._follows.remove_followers(topic, users)

    async def _publish(self, promise: ChangeEvent) -> None:
        topic = playlist_topic(promise.owner, promise.playlist)
        tail = encode_tail(format_topic(topic), promise.ts_ms, promise.id, KIND, bytes(promise.payload))
        taken: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def done(ok: bool) -> None:
            if not taken.done():
                taken.set_result(ok)

        self._brokers.publish(Event(topic, promise.id.encode(), tail), done)
        try:
            async with asyncio.timeout(PUBLISH_S):
                ok = await taken
        except TimeoutError:
            ok = False
        if not ok:
            raise Unavailable("no broker took the event")
        self.published += 1

    async def _notify(self, promise: ChangeEvent) -> None:
        uri = format_topic(playlist_topic(promise.owner, promise.playlist))
        notification = OutgoingNotification(promise.id, uri, KIND, promise.payload, promise.owner)
        await self._notifier.notify(notification, self._audience(promise))

    async def _audience(self, promise: ChangeEvent) -> AsyncIterator[Audience]:
        """Yields the owner and all followers who may see the playlist now, save the user who made the change.

        Friends of the owner have it through the engine already (SB-31).
        """
        owner, topic = promise.owner, playlist_topic(promise.owner, promise.playlist)
        if promise.by != owner:
            yield Audience([owner])
        async for page in follower_pages(self._follows, topic):
            users = [user for user in page if user not in (owner, promise.by)]
            viewers = dict(zip(users, await self._viewers.audience(topic, users), strict=True))
            friends = [user for user, viewer in viewers.items() if viewer.sees and viewer.is_friend]
            others = [user for user, viewer in viewers.items() if viewer.sees and not viewer.is_friend]
            if friends:
                yield Audience(friends, friend=True, sent=True)
            if others:
                yield Audience(others)
