"""The tables of the notification module in its SQLite file, and how they are asked."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from infra.runtime.sqlite import Sqlite

from .retention import Lived, lived_on

NOTICE: Final = "notices.id, service, topic, kind, producer, payload, ts_ms, digest"

SCRIPTS: Final = [
    (
        "0001_stored_path",
        """
        CREATE TABLE notices (
            id TEXT PRIMARY KEY, service TEXT, topic TEXT, kind TEXT, producer TEXT, payload BLOB, ts_ms INTEGER, digest TEXT,
            followers INTEGER
        ) WITHOUT ROWID;
        CREATE INDEX notices_by_topic ON notices (topic, ts_ms, id);
        CREATE TABLE events (part INTEGER, n INTEGER, event TEXT, user TEXT, flags INTEGER, PRIMARY KEY (part, n)) WITHOUT ROWID;
        CREATE TABLE cursors (part INTEGER PRIMARY KEY, n INTEGER);
        CREATE TABLE people (
            user TEXT PRIMARY KEY, last INTEGER DEFAULT 0, shown INTEGER DEFAULT 0, preferences BLOB DEFAULT x'',
            sent_times BLOB DEFAULT x''
        ) WITHOUT ROWID;
        CREATE TABLE items (user TEXT, mark INTEGER, shown INTEGER, types TEXT, event TEXT, PRIMARY KEY (user, mark)) WITHOUT ROWID;
        CREATE TABLE decisions (
            user TEXT, event TEXT, mark INTEGER, shown INTEGER, types TEXT, reasons TEXT, ts_ms INTEGER, PRIMARY KEY (user, event)
        ) WITHOUT ROWID;
        CREATE TABLE marks (user TEXT, client TEXT, mark INTEGER, PRIMARY KEY (user, client)) WITHOUT ROWID;
        CREATE TABLE devices (user TEXT, endpoint TEXT, p256dh TEXT, auth TEXT, PRIMARY KEY (user, endpoint)) WITHOUT ROWID;
        CREATE TABLE due (
            shard INTEGER, due_ms INTEGER, user TEXT, channel TEXT, event TEXT, attempt INTEGER, started_ms INTEGER,
            PRIMARY KEY (shard, due_ms, user, channel, event)
        ) WITHOUT ROWID;
        CREATE TABLE sent (
            user TEXT, event TEXT, channel TEXT, state TEXT, reason TEXT, ts_ms INTEGER, PRIMARY KEY (user, event, channel)
        ) WITHOUT ROWID;
        CREATE TABLE dead (key TEXT PRIMARY KEY, user TEXT, event TEXT, channel TEXT, reason TEXT, ts_ms INTEGER) WITHOUT ROWID
        """,
    ),
    (
        "0002_ownership",
        """
        CREATE TABLE members (node TEXT PRIMARY KEY, site TEXT, address TEXT, counter INTEGER) WITHOUT ROWID;
        CREATE TABLE claims (id INTEGER PRIMARY KEY, version INTEGER, owners TEXT)
        """,
    ),
    ("0003_epoch", "CREATE TABLE epoch (id INTEGER PRIMARY KEY, epoch INTEGER)"),
    (
        "0004_lived",
        """
        CREATE TABLE lived (id INTEGER PRIMARY KEY, trusted_ms INTEGER, doubted_ms INTEGER, since_ms INTEGER);
        INSERT INTO lived SELECT 0, max(ts_ms), 0, 0 FROM notices HAVING count(*) > 0
        """,
    ),
    (
        "0005_item_states",
        """
        ALTER TABLE people ADD COLUMN changed INTEGER DEFAULT 0;
        CREATE TABLE item_states (
            user TEXT, mark INTEGER, is_read INTEGER, is_archived INTEGER, is_deleted INTEGER, PRIMARY KEY (user, mark)
        ) WITHOUT ROWID
        """,
    ),
    (
        "0006_webhooks",
        """
        CREATE TABLE webhooks (
            user TEXT, id TEXT, url TEXT, secret TEXT, previous TEXT, previous_until_ms INTEGER, made_ms INTEGER, PRIMARY KEY (user, id)
        ) WITHOUT ROWID
        """,
    ),
]


class SqliteTables:
    """The tables in the file `db`. Each part of the store is a class of its own on it.

    - `retention_s`: how long what expires stays.
    - `wall`: Unix time in seconds.
    - `lived`: how far time had come for what the file holds; None: to what `wall` says.
    """

    def __init__(self, db: Sqlite, retention_s: float, wall: Callable[[], float], lived: Lived | None = None) -> None:
        self._db = db
        self._retention_ms, self._wall = int(retention_s * 1000), wall
        self._lived = lived or Lived(int(wall() * 1000))

    async def _all(self, sql: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        return await self._db.read(lambda db: db.execute(sql, values).fetchall())

    async def _each(self, sql: str, keys: Sequence[Sequence[object]]) -> list[tuple[Any, ...]]:
        """Looks up each key, all in one go; returns what was found."""
        return await self._db.read(lambda db: [row for key in keys for row in db.execute(sql, key)])

    async def _changes(self, sql: str, values: Sequence[object]) -> bool:
        """Writes, and returns whether that has changed one row."""
        return await self._db.write(lambda db: db.execute(sql, values).rowcount == 1)

    def _horizon_ms(self) -> int:
        return self._lived_on().trusted_ms - self._retention_ms

    def _lived_on(self) -> Lived:
        return lived_on(self._lived, int(self._wall() * 1000), self._retention_ms)


@lru_cache(maxsize=1 << 10)
def words(several: tuple[str, ...]) -> str:
    """Returns several words as one column has them."""
    return " ".join(several)


def split(column: str) -> tuple[str, ...]:
    """Returns the words of a column."""
    return tuple(column.split())
