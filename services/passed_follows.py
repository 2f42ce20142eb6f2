"""Follows that are passed on: the base of what looks at changes of follows on their way to the store."""

from collections.abc import Sequence

from infra.kernel.topics import Topic

from .follows import PAGE, FollowStore
from .list_page import ListPage


class PassedFollows:
    """A `FollowStore` that asks `follows` all that is asked. A subclass says what becomes of changes."""

    def __init__(self, follows: FollowStore) -> None:
        self._follows = follows

    async def followers(self, topic: Topic, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """See `FollowStore`."""
        return await self._follows.followers(topic, after, limit)

    async def topics(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[Topic]:
        """See `FollowStore`."""
        return await self._follows.topics(user, after, limit)

    async def follows(self, topic: Topic, users: Sequence[str]) -> list[bool]:
        """See `FollowStore`."""
        return await self._follows.follows(topic, users)

    async def followed(self, user: str, topics: Sequence[Topic]) -> set[Topic]:
        """See `FollowStore`."""
        return await self._follows.followed(user, topics)

    async def count(self, topic: Topic) -> int:
        """See `FollowStore`."""
        return await self._follows.count(topic)
