"""Mails and pushes in Cassandra: what is due, what was sent, and what was given up."""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from .retention import DAY_MS
from .store import Sent, Task, key_of
from .tables_cassandra import BUCKET_MS, CassandraTables

_ENCODE: Final = msgspec.json.Encoder().encode


class SendingCassandra(CassandraTables):
    """The agenda of mails, pushes and live copies, their outcomes, and the dead letters."""

    async def save_sent_times(self, user: str, mails: Sequence[int], pushes: Sequence[int]) -> None:
        """See `Store`."""
        await self._db.execute("INSERT INTO people (user, sent_times) VALUES (?, ?)", user, _ENCODE([mails, pushes]))

    async def schedule(self, tasks: Sequence[Task]) -> None:
        """See `Store`."""
        for shard, bucket in {(task.shard, task.due_ms // BUCKET_MS) for task in tasks}:
            await self._db.execute("INSERT INTO due_buckets (shard, bucket) VALUES (?, ?) USING TTL ?", shard, bucket, self._ttl)
        sql = """INSERT INTO due (shard, bucket, due_ms, user, channel, event, attempt, started_ms)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?) USING TTL ?"""
        await self._db.many(sql, [(task.shard, task.due_ms // BUCKET_MS, *task[1:], self._ttl) for task in tasks])

    async def due(self, shard: int, after_ms: int, until_ms: int, limit: int) -> list[Task]:
        """See `Store`."""
        tasks: list[Task] = []
        for bucket in await self._buckets("due_buckets", "shard", shard, after_ms // BUCKET_MS):
            if bucket > until_ms // BUCKET_MS or len(tasks) >= limit:
                break
            tasks += await self._due_in(shard, bucket, after_ms, until_ms, limit - len(tasks))
        return tasks

    async def _due_in(self, shard: int, bucket: int, after_ms: int, until_ms: int, limit: int) -> list[Task]:
        columns = "due_ms, user, channel, event, attempt, started_ms"
        sql = f"SELECT {columns} FROM due WHERE shard = ? AND bucket = ? AND due_ms > ? AND due_ms <= ? LIMIT ?"
        found = await self._db.execute(sql, shard, bucket, after_ms, until_ms, limit)
        if len(found) == limit:
            last_ms = found[-1][0]
            same = f"SELECT {columns} FROM due WHERE shard = ? AND bucket = ? AND due_ms = ?"
            rest = [row async for page in self._db.pages(same, shard, bucket, last_ms) for row in page]
            found = [row for row in found if row[0] != last_ms] + rest
        return [Task(shard, *row) for row in found]

    async def next_due(self, shard: int, after_ms: int) -> int | None:
        """See `Store`."""
        sql = "SELECT due_ms FROM due WHERE shard = ? AND bucket = ? AND due_ms > ? LIMIT 1"
        for bucket in await self._buckets("due_buckets", "shard", shard, after_ms // BUCKET_MS):
            if found := await self._db.execute(sql, shard, bucket, after_ms):
                return int(found[0][0])
        return None

    async def sent(self, keys: Collection[tuple[str, str, str]]) -> dict[tuple[str, str, str], Sent]:
        """See `Store`."""
        sql = "SELECT user, event, channel, state, reason, ts_ms FROM sent WHERE user = ? AND event = ? AND channel = ?"
        return {(row[0], row[1], row[2]): Sent(*row) for row in await self._each(sql, list(keys))}

    async def record(self, sent: Sequence[Sent]) -> None:
        """See `Store`. A dead letter is in the list before it counts as ended."""
        dead_sql = "INSERT INTO dead (day, key, user, event, channel, reason, ts_ms) VALUES (?, ?, ?, ?, ?, ?, ?) USING TTL ?"
        dead = [each for each in sent if each.state == "dead"]
        rows = [
            (each.ts_ms // DAY_MS, key_of(each), each.user, each.event, each.channel, each.reason, each.ts_ms, self._ttl) for each in dead
        ]
        await self._db.many(dead_sql, rows)
        sql = "INSERT INTO sent (user, event, channel, state, reason, ts_ms) VALUES (?, ?, ?, ?, ?, ?) USING TTL ?"
        await self._db.many(sql, [(*each, self._ttl) for each in sent])

    async def dead(self, after: str, limit: int) -> list[tuple[str, Sent]]:
        """See `Store`."""
        found: list[tuple[str, Sent]] = []
        today = int(self._wall() * 1000) // DAY_MS
        first = today - int(self._retention_s * 1000) // DAY_MS - 1
        sql = "SELECT key, user, event, channel, reason, ts_ms FROM dead WHERE day = ? AND key > ? LIMIT ?"
        for day in range(max(first, _day_of(after)), today + 1):
            rows = await self._db.execute(sql, day, after, limit - len(found))
            found += [(key, Sent(user, event, channel, "dead", reason, ts_ms)) for key, user, event, channel, reason, ts_ms in rows]
            if len(found) >= limit:
                break
        return found

    async def exhume(self, key: str) -> Sent | None:
        """See `Store`."""
        sql = "SELECT user, event, channel, reason, ts_ms FROM dead WHERE day = ? AND key = ?"
        found = await self._db.execute(sql, _day_of(key), key)
        if not found:
            return None
        user, event, channel, reason, ts_ms = found[0]
        await self._db.execute("DELETE FROM sent WHERE user = ? AND event = ? AND channel = ?", user, event, channel)
        await self._db.execute("DELETE FROM dead WHERE day = ? AND key = ?", _day_of(key), key)
        return Sent(user, event, channel, "dead", reason, ts_ms)


def _day_of(key: str) -> int:
    ts_ms = key.partition(":")[0]
    return int(ts_ms) // DAY_MS if ts_ms.isdecimal() else 0
