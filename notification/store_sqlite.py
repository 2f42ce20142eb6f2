"""The store in an SQLite file: the embedded default (design 7). An item's body is kept once, with its notice.

Here are notices, the log, and people; `InboxSqlite` has items and marks, `SendingSqlite` mails and pushes, `WebhooksSqlite` webhooks,
`OwnershipSqlite` who owns what.
"""

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import msgspec

from infra.kernel.errors import Unavailable
from infra.runtime.sqlite import Sqlite, insert

from .inbox_sqlite import InboxSqlite
from .notice import Notice
from .ownership.core import FencingToken
from .ownership.ownership_sqlite import OwnershipSqlite
from .retention import Lived
from .sending_sqlite import SendingSqlite
from .shards import US_PER_MS
from .store import Decision, Device, LogRow, Person, Taken
from .tables_sqlite import NOTICE, SCRIPTS, split, words
from .webhooks_sqlite import WebhooksSqlite

_ENCODE: Final = msgspec.json.Encoder().encode

# Many rows come as one JSON text: for each row by itself the thread would ask for the interpreter, as in `sqlite.insert`.
_PersonRow = tuple[str, int, int, str, int, str, int, list[str]]
_DECODE_PEOPLE: Final = msgspec.json.Decoder(list[_PersonRow]).decode
_DECODE_ROWS: Final = msgspec.json.Decoder(list[LogRow]).decode


class SqliteStore(InboxSqlite, SendingSqlite, WebhooksSqlite, OwnershipSqlite):
    """A `store.Store` in a file."""

    parts_at_once = 64

    @classmethod
    async def open(cls, folder: Path, retention_s: float, wall: Callable[[], float]) -> Self:
        """Returns the store in `folder`, made if it is not there; `wall` is Unix time in seconds. Raises ConfigError."""
        db = await Sqlite.open(folder / "notification.sqlite", "notification", SCRIPTS)
        row = await db.read(lambda db: db.execute("SELECT trusted_ms, doubted_ms, since_ms FROM lived").fetchone())
        return cls(db, retention_s, wall, Lived(*row) if row else None)

    async def close(self) -> None:
        """See `Store`."""
        await self._db.close()

    # Notices and the log.

    async def begin(self, notice: Notice) -> Taken:
        """See `Store`."""

        def work(db: sqlite3.Connection) -> Taken:
            known = db.execute(f"SELECT {NOTICE}, followers FROM notices WHERE id = ?", (notice.id,)).fetchone()
            if known is not None:
                return Taken(Notice(*known[:-1]), known[-1], is_new=False)
            values = (
                notice.id, notice.service, notice.topic, notice.kind, notice.producer, notice.payload, notice.ts_ms, notice.digest,
            )  # fmt: skip
            db.execute("INSERT INTO notices VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)", values)
            return Taken(notice, None, is_new=True)

        return await self._db.write(work)

    async def append(self, rows: Sequence[LogRow], fence: FencingToken | None = None) -> None:
        """See `Store`."""

        def work(db: sqlite3.Connection) -> None:
            _check(db, fence)
            insert(db, "INSERT INTO events VALUES", rows)

        await self._db.write(work)

    async def complete(self, event: str, followers: int) -> None:
        """See `Store`."""
        await self._db.write(lambda db: db.execute("UPDATE notices SET followers = ? WHERE id = ?", (followers, event)))

    async def notices(self, events: Collection[str]) -> dict[str, Notice]:
        """See `Store`."""
        found = await self._each(f"SELECT {NOTICE} FROM notices WHERE id = ? AND ts_ms > ?", [(e, self._horizon_ms()) for e in events])
        return {row[0]: Notice(*row) for row in found}

    async def history(self, topic: str, before: tuple[int, str] | None, limit: int) -> list[Notice]:
        """See `Store`."""
        end = before or (1 << 62, "")
        sql = f"SELECT {NOTICE} FROM notices WHERE topic = ? AND (ts_ms, id) < (?, ?) AND ts_ms > ? ORDER BY ts_ms DESC, id DESC LIMIT ?"
        found = await self._all(sql, (topic, *end, self._horizon_ms(), limit))
        return [Notice(*row) for row in found]

    async def rows(self, after: Mapping[int, int], limit: int) -> dict[int, list[LogRow]]:
        """See `Store`. Rows of all parts that were written together concern users who are neighbours on the same pages."""
        horizon = self._horizon_ms() * US_PER_MS
        sql = """SELECT json_group_array(json_array(part, n, event, user, flags))
                 FROM (SELECT * FROM events WHERE part = ? AND n > ? ORDER BY n LIMIT ?)"""

        def work(db: sqlite3.Connection) -> dict[int, list[LogRow]]:
            return {part: _DECODE_ROWS(db.execute(sql, (part, max(n, horizon), limit)).fetchone()[0]) for part, n in after.items()}

        return await self._db.read(work)

    async def ends(self, parts: Collection[int]) -> dict[int, int]:
        """See `Store`."""
        found = await self._each("SELECT part, max(n) FROM events WHERE part = ? GROUP BY part", [(part,) for part in parts])
        return dict(found)

    async def cursors(self) -> dict[int, int]:
        """See `Store`."""
        return dict(await self._all("SELECT part, n FROM cursors", ()))

    async def save_cursors(self, cursors: Mapping[int, int]) -> None:
        """See `Store`."""
        rows = list(cursors.items())
        sql = "INSERT INTO cursors VALUES (?, ?) ON CONFLICT (part) DO UPDATE SET n = max(n, excluded.n)"
        await self._db.write(lambda db: db.executemany(sql, rows))

    # People and what was decided for them.

    async def people(self, users: Collection[str]) -> dict[str, Person]:
        """See `Store`."""
        sql = """SELECT json_group_array(json_array(user, last, shown, CAST(preferences AS TEXT),
                                                    EXISTS (SELECT 1 FROM devices WHERE user = people.user), CAST(sent_times AS TEXT),
                                                    changed,
                                                    json((SELECT json_group_array(id) FROM webhooks WHERE user = people.user))))
                 FROM json_each(?) AS asked CROSS JOIN people ON user = asked.value"""
        ((text,),) = await self._all(sql, (_ENCODE(list(users)).decode(),))
        found = {row[0]: _person(row) for row in _DECODE_PEOPLE(text)}
        return {user: found.get(user) or Person(user) for user in users}

    async def decide(self, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
        """See `Store`."""
        decisions = [
            (each.user, each.event, each.mark, each.shown, words(each.types), words(each.reasons), each.ts_ms) for each, _ in decided
        ]
        items = [(each.user, each.mark, each.shown, words(each.types), each.event) for each, _ in decided if each.mark]
        people = [(each.user, each.mark, each.shown) for each, _ in decided if each.mark]

        for rows in (decisions, items, people):
            rows.sort()  # neighbours are on the same page: one that is changed is written once

        def work(db: sqlite3.Connection) -> None:
            _check(db, fence)
            insert(db, "INSERT OR REPLACE INTO decisions VALUES", decisions)
            insert(db, "INSERT OR REPLACE INTO items VALUES", items)
            raised = "ON CONFLICT (user) DO UPDATE SET last = excluded.last, shown = excluded.shown"
            insert(db, "INSERT INTO people (user, last, shown) VALUES", people, raised)

        await self._db.write(work)

    async def decisions(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Decision]:
        """See `Store`."""
        sql = "SELECT user, event, mark, shown, types, reasons, ts_ms FROM decisions WHERE user = ? AND event = ? AND ts_ms > ?"
        found = await self._each(sql, [(*pair, self._horizon_ms()) for pair in pairs])
        return {
            (user, event): Decision(user, event, mark, shown, split(types), split(reasons), ts_ms)
            for user, event, mark, shown, types, reasons, ts_ms in found
        }

    async def save_preferences(self, user: str, preferences: bytes) -> None:
        """See `Store`."""
        sql = "INSERT INTO people (user, preferences) VALUES (?, ?) ON CONFLICT (user) DO UPDATE SET preferences = excluded.preferences"
        await self._db.write(lambda db: db.execute(sql, (user, preferences)))

    async def devices(self, user: str) -> list[Device]:
        """See `Store`."""
        sql = "SELECT endpoint, p256dh, auth FROM devices WHERE user = ? ORDER BY endpoint"
        return list(map(Device._make, await self._all(sql, (user,))))

    async def add_device(self, user: str, device: Device) -> None:
        """See `Store`."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?)", (user, *device))
            db.execute("INSERT OR IGNORE INTO people (user) VALUES (?)", (user,))

        await self._db.write(work)

    async def remove_device(self, user: str, endpoint: str) -> None:
        """See `Store`."""
        await self._db.write(lambda db: db.execute("DELETE FROM devices WHERE user = ? AND endpoint = ?", (user, endpoint)))

    async def sweep(self, limit: int) -> int:
        """See `Store`. The log says what else is old: nothing has to be searched for."""
        self._lived = lived = self._lived_on()
        horizon_ms = lived.trusted_ms - self._retention_ms

        def work(db: sqlite3.Connection) -> int:
            db.execute("INSERT OR REPLACE INTO lived VALUES (0, ?, ?, ?)", lived)
            return _sweep(db, horizon_ms, limit)

        return await self._db.write(work)

    @property
    def doubts_clock(self) -> bool:
        """See `Store`."""
        return self._lived.in_doubt


def _check(db: sqlite3.Connection, fence: FencingToken | None) -> None:
    """Raises Unavailable where the writer was buried."""
    if fence is not None and db.execute("SELECT 1 FROM members WHERE node = ?", (fence.node,)).fetchone() is None:
        raise Unavailable("another node owns these followers by now")


def _sweep(db: sqlite3.Connection, horizon_ms: int, limit: int) -> int:
    gone = 0
    parts = [part for (part,) in db.execute("SELECT DISTINCT part FROM cursors ORDER BY part")]
    for part in parts:
        rows = db.execute(
            "SELECT n, user, event FROM events WHERE part = ? AND n < ? ORDER BY n LIMIT ?", (part, horizon_ms * US_PER_MS, limit - gone)
        ).fetchall()
        for n, user, event in rows:
            for (mark,) in db.execute("SELECT mark FROM decisions WHERE user = ? AND event = ?", (user, event)).fetchall():
                db.execute("DELETE FROM items WHERE user = ? AND mark = ?", (user, mark))
                db.execute("DELETE FROM item_states WHERE user = ? AND mark = ?", (user, mark))
            db.execute("DELETE FROM decisions WHERE user = ? AND event = ?", (user, event))
            db.execute("DELETE FROM sent WHERE user = ? AND event = ?", (user, event))
            db.execute("DELETE FROM events WHERE part = ? AND n = ?", (part, n))
        gone += len(rows)
        if gone >= limit:
            return gone
    db.execute("DELETE FROM dead WHERE key < ?", (f"{horizon_ms:014d}",))
    db.execute("DELETE FROM due WHERE due_ms < ?", (horizon_ms,))
    gone += db.execute(
        "DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE ts_ms < ? LIMIT ?)", (horizon_ms, limit - gone)
    ).rowcount
    return gone


def _person(row: _PersonRow) -> Person:
    user, last, shown, preferences, has_devices, sent_times, changed, webhooks = row
    mails, pushes = msgspec.json.decode(sent_times, type=tuple[tuple[int, ...], tuple[int, ...]]) if sent_times else ((), ())
    return Person(user, last, shown, preferences.encode(), bool(has_devices), mails, pushes, changed, tuple(webhooks))
