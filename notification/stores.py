"""The store that the options ask for."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from .options import NotificationOptions
from .store import Store
from .store_sqlite import SqliteStore

OpenStore: TypeAlias = Callable[[NotificationOptions, Callable[[], float]], Awaitable[Store]]
"""Opens a store as `open_store` does."""


async def open_store(options: NotificationOptions, wall: Callable[[], float]) -> Store:
    """Returns the store that `options` ask for, ready; `wall` is Unix time in seconds. Raises ConfigError and Unavailable."""
    if options.store == "cassandra":
        from .store_cassandra import CassandraStore  # the driver is large, and most processes need none

        return await CassandraStore.open(options.cassandra, options.retention_s, wall)
    return await SqliteStore.open(options.path, options.retention_s, wall)
