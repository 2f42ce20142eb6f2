"""Friends on a real store: what happens at the same time as something else."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from infra.kernel.topics import Topic, user_topic
from services.barring import Barring
from services.follows import FollowStore
from services.follows_sqlite import FollowsSqlite
from services.social.core import MAX_AT_ONCE, Contacts, VouchedContacts
from services.social.friends import HASHED, Friends
from services.social.privacy_store import PrivacyStore
from services.social.store import SocialStores
from services.social.store_sqlite import open_sqlite


class BlockedMeanwhile(FollowsSqlite):
    """A graph in which bob blocks ann at the very moment when one of them begins to follow the other."""

    def __init__(self, inner: FollowStore, privacy: PrivacyStore) -> None:
        assert isinstance(inner, FollowsSqlite)
        super().__init__(inner._db)
        self._privacy = privacy

    async def add(self, user: str, topics: Sequence[Topic]) -> list[Topic]:
        """See `FollowStore`."""
        await self._privacy.block("bob", "ann")
        return await super().add(user, topics)

    async def add_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        await self._privacy.block("bob", "ann")
        await super().add_followers(topic, users)


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[SocialStores]:
    stores = await open_sqlite(tmp_path)
    yield stores
    await stores.close()


@pytest.fixture
def friends(stores: SocialStores) -> Friends:
    follows = BlockedMeanwhile(stores.follows, stores.privacy)
    return Friends(
        follows,
        stores.social,
        stores.privacy,
        Barring(),
        lambda: None,
        lambda: asyncio.sleep(0),
        has_playlists=False,
        has_wall=False,
        has_bell=False,
        now_ms=lambda: 0,
    )


async def follow_each_other(stores: SocialStores) -> list[bool]:
    return [(await stores.follows.follows(user_topic(owner), [user]))[0] for owner, user in (("ann", "bob"), ("bob", "ann"))]


async def test_a_follow_that_meets_a_block_does_not_come_back_when_the_block_is_taken_back(stores: SocialStores, friends: Friends) -> None:
    """AUTH-4."""
    assert not await friends.befriend("ann", "bob")
    assert await follow_each_other(stores) == [False, False]


async def test_an_address_book_that_meets_a_block_makes_no_friends(stores: SocialStores, friends: Friends) -> None:
    """AUTH-4."""
    for user, other in (("ann", "bob"), ("bob", "ann")):
        await friends.link(user, "facebook", VouchedContacts(user, [other]))
    await friends.match("ann", "facebook")
    assert await follow_each_other(stores) == [False, False]


async def test_a_large_address_book_does_not_hold_the_loop(friends: Friends) -> None:
    """Others have a turn after every few contacts, however long these are."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others = asyncio.create_task(count())
    linked = await friends.link("ann", "address-book", Contacts([f"bob{number}@example.org" for number in range(MAX_AT_ONCE)]))
    others.cancel()
    assert linked.contacts == MAX_AT_ONCE
    assert turns >= MAX_AT_ONCE // HASHED
