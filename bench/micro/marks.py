"""`python -m bench.micro.marks PLAN` counts the writes that reach the store when a user has read everything."""

import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click
import msgspec
import uvloop

from infra.kernel.events import Event
from infra.runtime.cassandra.client import Cassandra, CassandraOptions, Row
from infra.runtime.sqlite import Sqlite
from notification.feed import Feed, MarkMove
from notification.notice import Notice
from notification.store import Decision
from notification.store_cassandra import CassandraStore
from notification.store_sqlite import SqliteStore
from notification.tables_sqlite import SCRIPTS

RETENTION_S: Final = 90 * 86_400.0
PAGE: Final = 500
WRITES: Final = ("INSERT", "UPDATE", "DELETE", "REPLACE")

Store = SqliteStore | CassandraStore


class MarksPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `items`: for each user, how many items they have and read.
    - `port`, `keyspace`: of Cassandra; without a port the store is SQLite.
    """

    items: list[int]
    port: int = 0
    keyspace: str = ""


class MarksFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The statements that write, and the milliseconds, for each entry of the plan's `items`."""

    writes: list[int]
    ms: list[float]


class RecordingCassandra(Cassandra):
    """A Cassandra client that notes each statement in `told`."""

    told: list[str]

    async def execute(self, cql: str, *values: Any) -> list[Row]:
        """Notes the statement, then executes it (see `Cassandra`)."""
        self.told.append(cql)
        return await super().execute(cql, *values)

    async def batch(self, statements: Sequence[tuple[str, Row]], *, logged: bool = False) -> None:
        """Notes the statements, then executes them (see `Cassandra`)."""
        self.told += [cql for cql, _ in statements]
        await super().batch(statements, logged=logged)


async def measure(plan: MarksPlan) -> MarksFigures:
    """Reads everything through the feed that answers clients. The store is a real one."""
    with tempfile.TemporaryDirectory(prefix="segue-marks-") as folder:
        store, told = await (_cassandra(plan) if plan.port else _sqlite(Path(folder)))
        told_live: list[Event] = []
        feed = Feed(store, told_live.append, time.time, lambda: 1)
        figures = MarksFigures(writes=[], ms=[])
        await _fill(store, "first", 1)
        await feed.read("first", "", MarkMove())  # statements are prepared at their first use
        for items in plan.items:
            await _fill(store, f"reader{items}", items)
            told.clear()
            begun_s = time.perf_counter()
            await feed.read(f"reader{items}", "", MarkMove())
            figures.ms.append((time.perf_counter() - begun_s) * 1000)
            figures.writes.append(sum(each.lstrip().upper().startswith(WRITES) for each in told))
        assert len(told_live) == 1 + len(plan.items), "the devices of each were told once"
        await store.close()
    return figures


async def _sqlite(folder: Path) -> tuple[Store, list[str]]:
    told: list[str] = []

    def trace(db: sqlite3.Connection) -> None:
        db.set_trace_callback(told.append)

    db = await Sqlite.open(folder / "marks.sqlite", "notification", SCRIPTS)
    await db.write(trace)
    return SqliteStore(db, RETENTION_S, time.time), told


async def _cassandra(plan: MarksPlan) -> tuple[Store, list[str]]:
    options = CassandraOptions(port=plan.port, keyspace=plan.keyspace, timeout_s=30.0)
    await (await CassandraStore.open(options, RETENTION_S, time.time)).close()
    db = await RecordingCassandra.open(options)
    db.told = []
    return CassandraStore(db, RETENTION_S, time.time), db.told


async def _fill(store: Store, user: str, items: int) -> None:
    """Stores items of `user` as the worker does."""
    source = iter(range(1, items + 1))
    while marks := list(islice(source, PAGE)):
        await store.decide([_decided(user, mark) for mark in marks])
    for mark in range(1, items + 1):
        await store.begin(_decided(user, mark)[1])


def _decided(user: str, mark: int) -> tuple[Decision, Notice]:
    now_ms, event = int(time.time() * 1000), f"{user}-{mark}"
    notice = Notice(event, "artist", "hm://notifications/feed/bjork%new-album/", "album", "bjork", b"{}", now_ms, "0" * 32)
    return Decision(user, event, mark, mark, ("in-client",), ("offline-row",), now_ms), notice


if __name__ == "__main__":
    click.echo(msgspec.json.encode(uvloop.run(measure(msgspec.json.decode(sys.argv[1], type=MarksPlan)))))
