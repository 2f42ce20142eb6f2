"""The store in Cassandra (design 7; tables: `infra/deploy/cassandra/notification/`).

What is told of a notice is kept with each item, so a pull reads one slice of one partition. Nothing is ever searched for, and
nothing is deleted but what was asked for: rows expire, cursors pass over what is read.

The timestamp of a write under a fence is the number of the fence, which resembles the time: of two owners the later one wins.

Here are notices, the log, and people; `InboxCassandra` has items and marks, `SendingCassandra` mails and pushes, `WebhooksCassandra`
webhooks, `OwnershipCassandra` who owns what.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import resources
from itertools import groupby
from typing import Any, Final

import msgspec

from infra.runtime.cassandra.client import Cassandra, CassandraOptions

from .inbox_cassandra import InboxCassandra
from .notice import Notice
from .ownership.core import FencingToken
from .ownership.ownership_cassandra import OwnershipCassandra
from .sending_cassandra import SendingCassandra
from .shards import bucket_of
from .store import Decision, Device, LogRow, Person, Taken
from .tables_cassandra import TOLD, side_by_side
from .webhooks_cassandra import WebhooksCassandra

# A batch of one partition is one mutation; the server warns about large ones.
BATCH_ROWS: Final = 100


class CassandraStore(InboxCassandra, SendingCassandra, WebhooksCassandra, OwnershipCassandra):
    """A `store.Store` in Cassandra. `wall` is Unix time in seconds; times to live are counted by the servers' clocks."""

    parts_at_once = 4

    def __init__(self, db: Cassandra, retention_s: float, wall: Callable[[], float]) -> None:
        super().__init__(db, retention_s, wall)
        # Buckets that were written to lately are known to be in the list of buckets.
        self._listed: dict[tuple[str, int], int] = {}

    @classmethod
    async def open(cls, options: CassandraOptions, retention_s: float, wall: Callable[[], float]) -> "CassandraStore":
        """Returns the store; makes its tables if they are not there. Raises ConfigError and Unavailable.

        - `options`: where it is.
        - `retention_s`: how long what expires stays.
        - `wall`: Unix time in seconds.
        """
        db = await Cassandra.open(options)
        try:
            folder = resources.files("infra").joinpath("deploy/cassandra/notification")
            scripts = sorted((each.name.removesuffix(".cql"), each.read_text(encoding="utf-8")) for each in folder.iterdir())
            await db.migrate("notification", scripts)
        except BaseException:
            await db.close()
            raise
        return cls(db, retention_s, wall)

    async def close(self) -> None:
        """See `Store`."""
        await self._db.close()

    # Notices and the log.

    async def begin(self, notice: Notice) -> Taken:
        """See `Store`."""
        places = "?, ?, ?, ?, ?, ?, ?, ?"
        insert = f"INSERT INTO notices (id, {TOLD}) VALUES ({places}) IF NOT EXISTS USING TTL ?"
        is_new = await self._db.swap(insert, notice.id, *_told(notice), self._ttl)
        taken = Taken(notice, None, is_new=True) if is_new else await self._begun(notice)
        if taken.followers is None:
            by_topic = f"INSERT INTO notices_by_topic (id, {TOLD}) VALUES ({places}) USING TTL ?"
            await self._db.execute(by_topic, notice.id, *_told(taken.notice), self._ttl)
        return taken

    async def append(self, rows: Sequence[LogRow], fence: FencingToken | None = None) -> None:
        """See `Store`. Rows of one bucket go together: a hundred of them cost little more than one."""
        using = self._using(fence)
        sql = "INSERT INTO events (part, bucket, n, event, user, flags) VALUES (?, ?, ?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?"
        batches: list[list[tuple[str, tuple[object, ...]]]] = []
        groups = [(key, list(same)) for key, same in groupby(rows, key=lambda row: (row.part, bucket_of(row.n)))]
        await side_by_side(lambda key: self._list("event_buckets", "part", *key), [key for key, _ in groups])
        for (part, bucket), same in groups:
            values = [(part, bucket, row.n, row.event, row.user, row.flags, *using) for row in same]
            batches += [[(sql, each) for each in values[at : at + BATCH_ROWS]] for at in range(0, len(values), BATCH_ROWS)]
        await side_by_side(self._db.batch, batches)

    async def _list(self, table: str, column: str, key: int, bucket: int) -> None:
        """Lists a bucket before anything is in it, so whoever reads by the list misses nothing."""
        if self._listed.get((table, key), -1) < bucket:
            await self._db.execute(f"INSERT INTO {table} ({column}, bucket) VALUES (?, ?) USING TTL ?", key, bucket, self._ttl)
            self._listed[table, key] = bucket

    async def _begun(self, notice: Notice) -> Taken:
        """Returns what is there in the place of a notice; it was there first."""
        known = await self._db.execute(f"SELECT id, {TOLD}, followers FROM notices WHERE id = ?", notice.id)
        return Taken(Notice(*known[0][:-1]), known[0][-1], is_new=False) if known else await self.begin(notice)

    def _using(self, fence: FencingToken | None) -> tuple[int, int]:
        """Returns the time to live and the timestamp of a write."""
        return self._ttl, fence.number if fence is not None else int(self._wall() * 1_000_000)

    async def complete(self, event: str, followers: int) -> None:
        """See `Store`."""
        await self._db.execute("UPDATE notices USING TTL ? SET followers = ? WHERE id = ?", self._ttl, followers, event)

    async def notices(self, events: Collection[str]) -> dict[str, Notice]:
        """See `Store`."""
        found = await self._each(f"SELECT id, {TOLD} FROM notices WHERE id = ?", [(event,) for event in events])
        return {row[0]: Notice(*row) for row in found if row[-1] is not None}

    async def history(self, topic: str, before: tuple[int, str] | None, limit: int) -> list[Notice]:
        """See `Store`."""
        end = before or (1 << 62, "")
        sql = f"SELECT id, {TOLD} FROM notices_by_topic WHERE topic = ? AND (ts_ms, id) < (?, ?) LIMIT ?"
        return [Notice(*row) for row in await self._db.execute(sql, topic, *end, limit)]

    async def rows(self, after: Mapping[int, int], limit: int) -> dict[int, list[LogRow]]:
        """See `Store`."""
        found = await side_by_side(lambda each: self._rows_of(*each, limit), after.items())
        return dict(zip(after, found, strict=True))

    async def _rows_of(self, part: int, after: int, limit: int) -> list[LogRow]:
        rows: list[LogRow] = []
        for bucket in await self._buckets("event_buckets", "part", part, bucket_of(after)):
            sql = "SELECT n, event, user, flags FROM events WHERE part = ? AND bucket = ? AND n > ? LIMIT ?"
            rows += [LogRow(part, *row) for row in await self._db.execute(sql, part, bucket, after, limit - len(rows))]
            if len(rows) >= limit:
                break
        return rows

    async def ends(self, parts: Collection[int]) -> dict[int, int]:
        """See `Store`."""
        found = await side_by_side(self._end, parts)
        return {part: n for part, n in zip(parts, found, strict=True) if n is not None}

    async def _end(self, part: int) -> int | None:
        """Returns the highest number in the newest bucket that has rows: one may be listed that nothing came into."""
        for (bucket,) in await self._db.execute("SELECT bucket FROM event_buckets WHERE part = ? ORDER BY bucket DESC LIMIT 100", part):
            sql = "SELECT n FROM events WHERE part = ? AND bucket = ? ORDER BY n DESC LIMIT 1"
            if found := await self._db.execute(sql, part, bucket):
                return int(found[0][0])
        return None

    async def cursors(self) -> dict[int, int]:
        """See `Store`."""
        return dict(await self._db.execute("SELECT part, n FROM cursors"))

    async def save_cursors(self, cursors: Mapping[int, int]) -> None:
        """See `Store`. A cursor is its own timestamp: the further one wins."""
        rows = [(part, n, n) for part, n in cursors.items() if n]
        await self._db.many("INSERT INTO cursors (part, n) VALUES (?, ?) USING TIMESTAMP ?", rows)

    # People and what was decided for them.

    async def people(self, users: Collection[str]) -> dict[str, Person]:
        """See `Store`."""
        sql = "SELECT user, last, shown, preferences, has_devices, sent_times, changed, has_webhooks FROM people WHERE user = ?"
        rows = await self._each(sql, [(user,) for user in users])
        found = {row[0]: _person(row) for row in rows}
        for user in [row[0] for row in rows if row[-1]]:
            found[user].webhooks = tuple(each.id for each in await self.webhooks(user))
        return {user: found.get(user) or Person(user) for user in users}

    async def decide(self, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
        """See `Store`. Writes of one owner may bear the same timestamp: then the greater value wins, and marks only rise."""
        using = self._using(fence)
        until = "USING TTL ? AND TIMESTAMP ?"
        decision_sql = f"INSERT INTO decisions (user, event, mark, shown, types, reasons, ts_ms) VALUES (?, ?, ?, ?, ?, ?, ?) {until}"
        item_sql = f"INSERT INTO items (user, mark, shown, types, event, {TOLD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {until}"
        person_sql = "INSERT INTO people (user, last, shown) VALUES (?, ?, ?) USING TIMESTAMP ?"
        batches: dict[str, list[tuple[str, tuple[Any, ...]]]] = {}
        for each, notice in decided:
            user, types = each.user, " ".join(each.types)
            batch = batches.setdefault(user, [])
            record = (user, each.event, each.mark, each.shown, types, " ".join(each.reasons), each.ts_ms, *using)
            batch.append((decision_sql, record))
            if each.mark:
                batch.append((item_sql, (user, each.mark, each.shown, types, each.event, *_told(notice), *using)))
        last = {each.user: each for each, _ in decided if each.mark}
        for user, each in last.items():
            batches[user].append((person_sql, (user, each.mark, each.shown, using[1])))
        await side_by_side(self._db.batch, batches.values())

    async def decisions(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Decision]:
        """See `Store`."""
        sql = "SELECT user, event, mark, shown, types, reasons, ts_ms FROM decisions WHERE user = ? AND event = ?"
        return {
            (user, event): Decision(user, event, mark, shown, tuple(types.split()), tuple(reasons.split()), ts_ms)
            for user, event, mark, shown, types, reasons, ts_ms in await self._each(sql, list(pairs))
        }

    async def save_preferences(self, user: str, preferences: bytes) -> None:
        """See `Store`."""
        await self._db.execute("INSERT INTO people (user, preferences) VALUES (?, ?)", user, preferences)

    async def devices(self, user: str) -> list[Device]:
        """See `Store`."""
        return [Device(*row) for row in await self._db.execute("SELECT endpoint, p256dh, auth FROM devices WHERE user = ?", user)]

    async def add_device(self, user: str, device: Device) -> None:
        """See `Store`. Of one partition key, so both or neither."""
        device_sql = "INSERT INTO devices (user, endpoint, p256dh, auth) VALUES (?, ?, ?, ?)"
        person_sql = "INSERT INTO people (user, has_devices) VALUES (?, ?)"
        await self._db.batch([(device_sql, (user, *device)), (person_sql, (user, True))])

    async def remove_device(self, user: str, endpoint: str) -> None:
        """See `Store`."""
        await self._db.execute("DELETE FROM devices WHERE user = ? AND endpoint = ?", user, endpoint)
        if not await self.devices(user):
            await self._db.execute("INSERT INTO people (user, has_devices) VALUES (?, ?)", user, False)

    async def sweep(self, limit: int) -> int:
        """See `Store`: rows expire by themselves."""
        return 0

    @property
    def doubts_clock(self) -> bool:
        """See `Store`: the servers' clocks count."""
        return False


def _told(notice: Notice) -> tuple[object, ...]:
    return notice.service, notice.topic, notice.kind, notice.producer, notice.payload, notice.ts_ms, notice.digest


def _person(row: tuple[Any, ...]) -> Person:
    user, last, shown, preferences, has_devices, sent_times, changed, _ = row
    mails, pushes = msgspec.json.decode(sent_times, type=tuple[tuple[int, ...], tuple[int, ...]]) if sent_times else ((), ())
    return Person(user, last or 0, shown or 0, preferences or b"", bool(has_devices), mails, pushes, changed or 0)
