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
# By then whatever a node of Cassandra missed, or a coordinator had to replay, has arrived.
LATE_BUCKETS: Final = 60
BUCKETS: Final = 500

_INSERT: Final = "INSERT INTO outbox (owner, lane, bucket, n, id, key, op, body, guard) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BUCKET: Final = "INSERT INTO outbox_buckets (owner, lane, bucket) VALUES (?, ?, ?)"
_DELETE: Final = "DELETE FROM outbox WHERE owner = ? AND lane = ? AND bucket = ? AND n = ?"

Statements = list[tuple[str, Row]]


async def never(guard: str) -> bool:
    """Raises AssertionError: this is for a service whose tasks have no guards."""
    raise AssertionError(f"a task with a guard, {guard}, in the outbox of a service that sets none")


class OutboxCassandra:
    """The outbox of one node; see `TaskOutbox`. `open` makes it.

    - `db`: has the module "outbox".
    - `owner`: the node whose promises these are, under one name in all its lives, such as "playlist/sto/l1". One process at a time
      has an owner's outbox.
    - `wall`: Unix time in seconds.
    - `happened`: says from the guard of a task whether the change behind it was done.
    - `last`: the highest number that a task has had.
    """

    def __init__(self, db: Cassandra, owner: str, wall: Callable[[], float], happened: Callable[[str], Awaitable[bool]], last: int) -> None:
        self._db, self._owner, self._wall, self._happened, self._last = db, owner, wall, happened, last
        self._writing: set[int] = set()

    @classmethod
    async def open(cls, db: Cassandra, owner: str, wall: Callable[[], float], happened: Callable[[str], Awaitable[bool]] = never) -> Self:
        """Returns the outbox of `owner` in `db`; for `wall` and `happened` see the class.

        It numbers tasks above all that are there, also if the clock was set back since.
        """
        ((bucket,),) = await db.execute("SELECT max(bucket) FROM outbox_buckets WHERE owner = ?", owner)
        return cls(db, owner, wall, happened, 0 if bucket is None else (bucket + 1) * BUCKET_US)

    @asynccontextmanager
    async def writing(self, tasks: Sequence[OutboxTask], guard: str = "") -> AsyncIterator[Statements]:
        """Yields the statements that write `tasks` under a `guard`, for a logged batch that is run within the block.

        Until the block is left, `undone` shows no task that was written later. So none is passed over.
        """
        numbers = [self._number() for _ in tasks]
        self._writing.update(numbers)
        try:
            yield self._statements(numbers, tasks, guard)
        finally:
            self._writing.difference_update(numbers)

    async def confirm(self, statements: Statements) -> None:
        """Says, within the block of `writing`, that the change was done. If that fails, `happened` will be asked."""
        await self._db.batch([(cql, (*values[:-1], "")) for cql, values in statements if cql == _INSERT])

    async def withdraw(self, statements: Statements) -> None:
        """Says, within the block of `writing`, that the change was not done. If that fails, `happened` will be asked."""
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
        # A task may become visible before one with a lower number. Who reads on from the higher one would never see the lower.
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
        """Returns whether the change behind a task was done. Forgets the task if not."""
        if await self._happened(guard):
            return True
        await self.done(stored)
        return False

    async def _forget(self, lane: str, bucket: int) -> None:
        """Forgets a bucket that is empty, if it is so old that nothing comes late any more."""
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
        """Returns some minutes of a lane from `first` on, and where the next ones begin; None if there are none."""
        query = "SELECT bucket FROM outbox_buckets WHERE owner = ? AND lane = ? AND bucket >= ? LIMIT ?"
        buckets = [bucket for (bucket,) in await self._db.execute(query, self._owner, lane, first, BUCKETS)]
        return buckets, buckets[-1] + 1 if len(buckets) == BUCKETS else None
