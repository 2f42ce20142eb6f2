"""Which store the options ask for."""

from collections.abc import Callable

from .options import NotificationOptions
from .store import Store
from .store_sqlite import SqliteStore


async def open_store(options: NotificationOptions, wall: Callable[[], float]) -> Store:
    """The store, ready. Raises ConfigError and Unavailable."""
    if options.store == "cassandra":
        from .store_cassandra import CassandraStore  # the driver is large, and most processes need none

        return await CassandraStore.open(options.cassandra, options.retention_s, wall)
    return await SqliteStore.open(options.path, options.retention_s, wall)
