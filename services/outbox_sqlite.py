"""The outbox in SQLite: tasks are rows of the very database that holds the state, written in its transactions."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from infra.runtime.sqlite import Sqlite

from .tasks import OutboxTask, Stored

SCRIPTS: Final = (
    (
        "outbox-0001",
        """
        CREATE TABLE outbox (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, key TEXT, op TEXT, body BLOB, lane TEXT);
        CREATE INDEX outbox_by_lane ON outbox (lane, n);
        CREATE TABLE outbox_refused (n INTEGER PRIMARY KEY, id TEXT, key TEXT, op TEXT, body BLOB, lane TEXT, reason TEXT, at TEXT);
        """,
    ),
)


def put(connection: sqlite3.Connection, tasks: Iterable[OutboxTask]) -> None:
    """Writes `tasks` as part of the transaction that `connection` is in."""
    rows = ((task.id, task.key, task.op, task.body, task.lane) for task in tasks)
    connection.executemany("INSERT INTO outbox (id, key, op, body, lane) VALUES (?, ?, ?, ?, ?)", rows)


class OutboxSqlite:
    """The outbox in one file; see `TaskOutbox`. `db` was opened with `SCRIPTS` among its scripts; `put` writes."""

    def __init__(self, db: Sqlite) -> None:
        self._db = db

    async def undone(self, after: int, limit: int, lane: str = "") -> Sequence[Stored]:
        """See `TaskOutbox`."""
        query = "SELECT n, id, key, op, body, lane FROM outbox WHERE lane = ? AND n > ? ORDER BY n LIMIT ?"
        rows = await self._db.read(lambda connection: connection.execute(query, (lane, after, limit)).fetchall())
        return [Stored(n, OutboxTask(*task)) for n, *task in rows]

    async def done(self, stored: Stored) -> None:
        """See `TaskOutbox`."""
        await self._db.write(lambda connection: _delete(connection, stored))

    async def set_aside(self, stored: Stored, reason: str) -> None:
        """See `TaskOutbox`."""
        query = "INSERT OR IGNORE INTO outbox_refused SELECT n, id, key, op, body, lane, ?, datetime('now') FROM outbox WHERE n = ?"

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(query, (reason, stored.n))
            _delete(connection, stored)

        await self._db.write(work)


def _delete(connection: sqlite3.Connection, stored: Stored) -> None:
    connection.execute("DELETE FROM outbox WHERE n = ?", (stored.n,))
