"""Follows of which access points are told: whose clients hear of all their friends asks again about what has changed (SB-6)."""

from collections.abc import Sequence
from typing import Final

from infra.kernel.topics import Topic, owner_of

from .barring import EVERYBODY, BarredPair, Barring
from .follows import FollowStore
from .passed_follows import PassedFollows

# With more users than this at once, all who follow the owner are told to ask again: one frame in place of one pair for each.
FEW: Final = 100


class TellingFollows(PassedFollows):
    """A `FollowStore` that passes all on to `follows`, and tells by `barring` whose follows of whom have changed."""

    def __init__(self, follows: FollowStore, barring: Barring) -> None:
        super().__init__(follows)
        self._barring = barring

    async def add(self, user: str, topics: Sequence[Topic]) -> list[Topic]:
        """See `FollowStore`."""
        news = await self._follows.add(user, topics)
        self._barring.tell(_pairs(user, news))
        return news

    async def remove(self, user: str, topics: Sequence[Topic]) -> None:
        """See `FollowStore`."""
        with self._barring.telling(_pairs(user, topics)):
            await self._follows.remove(user, topics)

    async def add_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        with self._barring.telling(_of_users(topic, users)):
            await self._follows.add_followers(topic, users)

    async def remove_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        with self._barring.telling(_of_users(topic, users)):
            await self._follows.remove_followers(topic, users)


def _pairs(user: str, topics: Sequence[Topic]) -> list[BarredPair]:
    return [BarredPair(owner, user) for owner in dict.fromkeys(map(owner_of, topics))]


def _of_users(topic: Topic, users: Sequence[str]) -> list[BarredPair]:
    owner = owner_of(topic)
    return [BarredPair(owner, EVERYBODY)] if len(users) > FEW else [BarredPair(owner, user) for user in users]
