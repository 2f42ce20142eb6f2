"""The outbox in Cassandra: tasks are written by the logged batch that changes the state, in partitions of a lane's minute.

Where the state changes by a conditional write, which no batch across partitions can hold, tasks are written before it under
a *guard* and confirmed after it. If the node dies in between, `happened` tells from the guard whether the change was done.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Self

from infra.runtime.cassandra.client import Cassandra, Row

from .tasks import OutboxTask, Stored

BUCKET_US: Final = 60_000_000
# What a node of Cassandra missed, or a coordinator had to replay, has arrived by then.
LATE_BUCKETS: Final = 60
BUCKETS: Final = 500

_INSERT: Final = "INSERT INTO outbox (owner, lane, bucket, n, id, key, op, body, guard) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BUCKET: Final = "INSERT INTO outbox_buckets (owner, lane, bucket) VALUES (?, ?, ?)"
_DELETE: Final = "DELETE FROM outbox WHERE owner = ? AND lane = ? AND bucket = ? AND n = ?"

Statements = list[tuple[str, Row]]


async def never(guard: str) -> bool:
    """For a service whose tasks have no guards."""
    raise AssertionError(f"a task with a guard, {guard}, in the outbox of a service that sets none")


class OutboxCassandra:
    """See `TaskOutbox`. `open` makes one. `db` has the module "outbox"; `owner` names the node whose promises these are, in all its
    lives, such as "playlist/sto/l1". One process has an owner's outbox at a time. `wall` is Unix time in seconds."""

    def __init__(self, db: Cassandra, owner: str, wall: Callable[[], float], happened: Callable[[str], Awaitable[bool]] = never) -> None:
        self._db, self._owner, self._wall, self._happened = db, owner, wall, happened
        self._last = 0
        self._writing: set[int] = set()

    @classmethod
    async def open(cls, db: Cassandra, owner: str, wall: Callable[[], float], happened: Callable[[str], Awaitable[bool]] = never) -> Self:
        """The outbox, ready to number tasks above all that are there, whatever the clock says now."""
        outbox = cls(db, owner, wall, happened)
        ((bucket,),) = await db.execute("SELECT max(bucket) FROM outbox_buckets WHERE owner = ?", owner)
        outbox._last = 0 if bucket is None else (bucket + 1) * BUCKET_US
        return outbox

    @asynccontextmanager
    async def writing(self, tasks: Sequence[OutboxTask], guard: str = "") -> AsyncIterator[Statements]:
        """The statements that write `tasks`, for a logged batch that is run within the block. Tasks that are written later are not
        shown by `undone` before the block is left: so none is passed over."""
        numbers = [self._number() for _ in tasks]
        self._writing.update(numbers)
        try:
            yield self._statements(numbers, tasks, guard)
        finally:
            self._writing.difference_update(numbers)

    async def confirm(self, statements: Statements) -> None:
        """Say, within the block of `writing`, that the change was done. If it fails, `happened` will be asked."""
        await self._db.batch([(cql, (*values[:-1], "")) for cql, values in statements if cql == _INSERT])

    async def withdraw(self, statements: Statements) -> None:
        """Say, within the block of `writing`, that the change was not done. If it fails, `happened` will be asked."""
        await self._db.batch([(_DELETE, values[:4]) for cql, values in statements if cql == _INSERT])

    def _number(self) -> int:
        self._last = max(self._last + 1, int(self._wall() * 1_000_000))
        return self._last

    def _statements(self, numbers: Sequence[int], tasks: Sequence[OutboxTask], guard: str) -> Statements:
        rows = [
            (self._owner, task.lane, n // BUCKET_US, n, task.id, task.key, task.op, task.body, guard)
            for n, task in zip(numbers, tasks, strict=True)
        ]
        buckets = dict.fromkeys(row[:3] for row in rows)
        return [*((_BUCKET, bucket) for bucket in buckets), *((_INSERT, row) for row in rows)]

    async def undone(self, after: int, limit: int, lane: str = "") -> Sequence[Stored]:
        """See `TaskOutbox`."""
        # What has a higher number may come to be seen before what has a lower one.
        until = min(self._writing, default=self._last + 1) - 1
        found: list[Stored] = []
        first: int | None = after // BUCKET_US
        while first is not None:
            buckets, first = await self._buckets(lane, first)
            for bucket in buckets:
                found += await self._undone_of(lane, bucket, (after, until), limit - len(found))
                if len(found) == limit:
                    return found
        return found

    async def _undone_of(self, lane: str, bucket: int, between: tuple[int, int], limit: int) -> list[Stored]:
        query = (
            "SELECT n, id, key, op, body, lane, guard FROM outbox WHERE owner = ? AND lane = ? AND bucket = ? AND n > ? AND n <= ? LIMIT ?"
        )
        after, until = between
        found: list[Stored] = []
        rows = await self._db.execute(query, self._owner, lane, bucket, after, until, limit)
        if not rows and not after:
            await self._forget(lane, bucket)
        while rows:
            for n, *task, guard in rows:
                after, stored = n, Stored(n, OutboxTask(*task))
                if not guard or await self._has_happened(stored, guard):
                    found.append(stored)
            if len(found) == limit:
                break
            rows = await self._db.execute(query, self._owner, lane, bucket, after, until, limit - len(found))
        return found

    async def _has_happened(self, stored: Stored, guard: str) -> bool:
        """Whether the change behind a task was done. If not, the task is forgotten."""
        if await self._happened(guard):
            return True
        await self.done(stored)
        return False

    async def _forget(self, lane: str, bucket: int) -> None:
        """A bucket that is empty, and so old that nothing comes late any more."""
        if bucket < self._wall() * 1_000_000 // BUCKET_US - LATE_BUCKETS:
            await self._db.execute("DELETE FROM outbox_buckets WHERE owner = ? AND lane = ? AND bucket = ?", self._owner, lane, bucket)

    async def done(self, stored: Stored) -> None:
        """See `TaskOutbox`."""
        await self._db.execute(_DELETE, *self._key(stored))

    async def set_aside(self, stored: Stored, reason: str) -> None:
        """See `TaskOutbox`."""
        task = stored.task
        refused = "INSERT INTO outbox_refused (owner, n, id, key, op, body, lane, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        row = self._owner, stored.n, task.id, task.key, task.op, task.body, task.lane, reason
        await self._db.batch([(refused, row), (_DELETE, self._key(stored))], logged=True)

    def _key(self, stored: Stored) -> Row:
        return self._owner, stored.task.lane, stored.n // BUCKET_US, stored.n

    async def _buckets(self, lane: str, first: int) -> tuple[list[int], int | None]:
        """Some minutes of a lane from `first` on, and where those behind them begin; None if there are none."""
        query = "SELECT bucket FROM outbox_buckets WHERE owner = ? AND lane = ? AND bucket >= ? LIMIT ?"
        buckets = [bucket for (bucket,) in await self._db.execute(query, self._owner, lane, first, BUCKETS)]
        return buckets, buckets[-1] + 1 if len(buckets) == BUCKETS else None
