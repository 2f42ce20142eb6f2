"""Mails and pushes in the SQLite file: what is due, what was sent, and what was given up."""

import sqlite3
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from .store import Sent, Task, key_of
from .tables_sqlite import SqliteTables

_ENCODE: Final = msgspec.json.Encoder().encode


class SendingSqlite(SqliteTables):
    """The agenda of mails, pushes and live copies, their outcomes, and the dead letters."""

    async def save_sent_times(self, user: str, mails: Sequence[int], pushes: Sequence[int]) -> None:
        """See `Store`."""
        sql = "INSERT INTO people (user, sent_times) VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET sent_times = excluded.sent_times"
        await self._db.write(lambda db: db.execute(sql, (user, _ENCODE([mails, pushes]))))

    async def schedule(self, tasks: Sequence[Task]) -> None:
        """See `Store`."""
        await self._db.write(lambda db: db.executemany("INSERT OR REPLACE INTO due VALUES (?, ?, ?, ?, ?, ?, ?)", tasks))

    async def due(self, shard: int, after_ms: int, until_ms: int, limit: int) -> list[Task]:
        """See `Store`."""

        def work(db: sqlite3.Connection) -> list[Task]:
            order = "ORDER BY due_ms, user, channel, event"
            found = db.execute(
                f"SELECT * FROM due WHERE shard = ? AND due_ms > ? AND due_ms <= ? {order} LIMIT ?", (shard, after_ms, until_ms, limit)
            ).fetchall()
            if len(found) == limit:
                last_ms = found[-1][1]
                same = db.execute(f"SELECT * FROM due WHERE shard = ? AND due_ms = ? {order}", (shard, last_ms)).fetchall()
                found = [row for row in found if row[1] != last_ms] + same
            return list(map(Task._make, found))

        return await self._db.read(work)

    async def next_due(self, shard: int, after_ms: int) -> int | None:
        """See `Store`."""
        ((due_ms,),) = await self._all("SELECT min(due_ms) FROM due WHERE shard = ? AND due_ms > ?", (shard, after_ms))
        return due_ms  # type: ignore[no-any-return]

    async def sent(self, keys: Collection[tuple[str, str, str]]) -> dict[tuple[str, str, str], Sent]:
        """See `Store`."""
        found = await self._each("SELECT * FROM sent WHERE user = ? AND event = ? AND channel = ?", list(keys))
        return {(row[0], row[1], row[2]): Sent(*row) for row in found}

    async def record(self, sent: Sequence[Sent]) -> None:
        """See `Store`."""
        dead = [(key_of(each), each.user, each.event, each.channel, each.reason, each.ts_ms) for each in sent if each.state == "dead"]

        def work(db: sqlite3.Connection) -> None:
            db.executemany("INSERT OR REPLACE INTO sent VALUES (?, ?, ?, ?, ?, ?)", sent)
            db.executemany("INSERT OR REPLACE INTO dead VALUES (?, ?, ?, ?, ?, ?)", dead)

        await self._db.write(work)

    async def dead(self, after: str, limit: int) -> list[tuple[str, Sent]]:
        """See `Store`."""
        sql = "SELECT key, user, event, channel, 'dead', reason, ts_ms FROM dead WHERE key > ? ORDER BY key LIMIT ?"
        return [(key, Sent(*rest)) for key, *rest in await self._all(sql, (after, limit))]

    async def exhume(self, key: str) -> Sent | None:
        """See `Store`."""

        def work(db: sqlite3.Connection) -> Sent | None:
            found = db.execute("SELECT user, event, channel, 'dead', reason, ts_ms FROM dead WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            db.execute("DELETE FROM dead WHERE key = ?", (key,))
            db.execute("DELETE FROM sent WHERE user = ? AND event = ? AND channel = ?", found[:3])
            return Sent(*found)

        return await self._db.write(work)
