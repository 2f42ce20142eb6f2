"""The tables of the notification module in Cassandra, and how they are asked (`infra/deploy/cassandra/notification/`)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from infra.runtime.cassandra.client import Cassandra

from .shards import BUCKET_US, US_PER_MS

X = TypeVar("X")
Y = TypeVar("Y")

TOLD: Final = "service, topic, kind, producer, payload, ts_ms, digest"
BUCKET_MS: Final = BUCKET_US // US_PER_MS
# So many requests of one call at once: several calls share the connection.
WIDTH: Final = 64
BUCKETS_AT_ONCE: Final = 1000


class CassandraTables:
    """The tables in `db`. Each part of the store is a class of its own on it.

    - `retention_s`: how long what expires stays.
    - `wall`: Unix time in seconds; times to live are counted by the servers' clocks.
    """

    def __init__(self, db: Cassandra, retention_s: float, wall: Callable[[], float]) -> None:
        self._db, self._retention_s, self._wall = db, retention_s, wall
        self._ttl = max(1, round(retention_s))

    async def _buckets(self, table: str, column: str, key: int, first: int) -> list[int]:
        sql = f"SELECT bucket FROM {table} WHERE {column} = ? AND bucket >= ? LIMIT ?"
        return [bucket for (bucket,) in await self._db.execute(sql, key, first, BUCKETS_AT_ONCE)]

    async def _each(self, sql: str, keys: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Looks up each key, side by side; returns what was found."""
        found = await side_by_side(lambda key: self._db.execute(sql, *key), keys)
        return [row for rows in found for row in rows]


async def side_by_side(work: Callable[[X], Awaitable[Y]], items: Iterable[X]) -> list[Y]:
    """Returns the results of `work` for all items, at most `WIDTH` under way at once.

    Raises the first error when those begun have ended.
    """
    todo = list(items)
    if len(todo) == 1:
        return [await work(todo[0])]
    results: list[Any] = [None] * len(todo)
    failed: list[Exception] = []
    source = iter(enumerate(todo))

    async def worker() -> None:
        for index, item in source:
            if failed:
                return
            try:
                results[index] = await work(item)
            except Exception as error:
                failed.append(error)

    await asyncio.gather(*(worker() for _ in range(min(WIDTH, len(todo)))))
    if failed:
        raise failed[0]
    return results
