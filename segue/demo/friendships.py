"""The friendships of the data, written to the store of the social service before it starts, as an operator does who moves to Segue."""

import time
from collections.abc import Callable, Mapping, Sequence

from infra.kernel.topics import user_topic
from services.social.store import SocialStores
from services.social.store_cassandra import open_cassandra
from services.social.store_sqlite import open_sqlite

from .crowd import for_each
from .store import DemoStore

# The name of the service in its store (see `Shape`).
NODE = "sto/social1"


async def make_friends(store: DemoStore, friends: Mapping[str, Sequence[str]], one_done: Callable[[], None]) -> None:
    """Lets each user be followed by their `friends`, in the store of a social service that does not run. A friendship stands at both ends.

    `one_done` is called for each user. Raises ConfigError and Unavailable.
    """
    stores = await _open(store)
    try:

        async def one(user: str) -> None:
            await stores.follows.add_followers(user_topic(user), friends[user])
            one_done()

        await for_each(friends, one)
    finally:
        await stores.close()


async def _open(store: DemoStore) -> SocialStores:
    return await open_sqlite(store.folder) if store.kind == "sqlite" else await open_cassandra(store.cassandra, NODE, time.time)
