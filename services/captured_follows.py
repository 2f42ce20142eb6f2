"""Follows that a capture is told of: those that no client's subscription at an access point shows."""

from collections.abc import Sequence
from typing import Literal

from infra.kernel.capture import Recorder
from infra.kernel.topics import Kind, Topic, kind_of

from .follows import FollowStore
from .passed_follows import PassedFollows


class CapturedFollows(PassedFollows):
    """A `FollowStore` that passes all on to `follows`, and tells `recorder` what changes for topics of `kind`.

    What a client subscribes to over its connection is in the capture of its access point already. So such calls go to `follows`
    itself.
    """

    def __init__(self, follows: FollowStore, recorder: Recorder, kind: Kind) -> None:
        super().__init__(follows)
        self._recorder, self._kind = recorder, kind

    async def add(self, user: str, topics: Sequence[Topic]) -> list[Topic]:
        """See `FollowStore`."""
        news = await self._follows.add(user, topics)
        for topic in news:
            self._tell(user, topic, "subscribe")
        return news

    async def remove(self, user: str, topics: Sequence[Topic]) -> None:
        """See `FollowStore`."""
        held = [topic for topic in dict.fromkeys(topics) if (await self._follows.follows(topic, [user]))[0]]
        await self._follows.remove(user, topics)
        for topic in held:
            self._tell(user, topic, "unsubscribe")

    async def add_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        are_there = await self._follows.follows(topic, users)
        await self._follows.add_followers(topic, users)
        for user, is_there in zip(users, are_there, strict=True):
            if not is_there:
                self._tell(user, topic, "subscribe")

    async def remove_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        are_there = await self._follows.follows(topic, users)
        await self._follows.remove_followers(topic, users)
        for user, is_there in zip(users, are_there, strict=True):
            if is_there:
                self._tell(user, topic, "unsubscribe")

    def _tell(self, user: str, topic: Topic, action: Literal["subscribe", "unsubscribe"]) -> None:
        if kind_of(topic) is self._kind:
            self._recorder.subscription(user, topic, action, None)


def captured(follows: FollowStore, capture: Recorder | None, kind: Kind) -> FollowStore:
    """Returns `follows`, of whose topics of `kind` the `capture` is told if there is one."""
    return follows if capture is None else CapturedFollows(follows, capture, kind)
