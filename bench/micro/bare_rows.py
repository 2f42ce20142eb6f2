"""`python -m bench.micro.bare_rows PLAN` writes the rows of a fan-out as a careful engineer does with the bare SQLite or driver.

The tables are the same. SQLite has one transaction for each page of a thousand, with `executemany` in it. Cassandra has prepared
statements, `CONCURRENCY` of them in flight at once. Rows are made before the clock runs: only the writing is timed.
"""

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from cassandra.concurrent import execute_concurrent_with_args

from infra.runtime.cassandra.client import CassandraOptions
from infra.runtime.cassandra.driver import connect
from infra.runtime.sqlite import Sqlite
from notification.shards import bucket_of, part_of, shard_of
from notification.store_cassandra import CassandraStore
from notification.tables_sqlite import SCRIPTS

from ..servers.stored import StoreName
from .audience import pages

FILE: Final = "bare.sqlite"
EVENT: Final = "bare-1"
CONCURRENCY: Final = 128
RETENTION_S: Final = 90 * 86_400.0
TTL: Final = int(RETENTION_S)
TOLD: Final = ("artist", "hm://notifications/feed/bjork%new-album/", "album", "bjork", bytes(120), 1_790_000_000_000, "0" * 32)

Row = tuple[Any, ...]
# Statements, each with the rows that it writes.
Chunk = list[tuple[str, list[Row]]]
# (part, number, user) of the followers of a page.
Numbered = list[tuple[int, int, str]]

# What is written for each follower, in SQLite and in Cassandra: first the row of the log, then what the worker adds.
SQLITE: Final = (
    "INSERT INTO events (part, n, event, user, flags) VALUES (?, ?, ?, ?, 0)",
    "INSERT INTO decisions (user, event, mark, shown, types, reasons, ts_ms) VALUES (?, ?, 1, 1, 'in-client', 'offline-row', ?)",
    "INSERT INTO items (user, event, mark, shown, types) VALUES (?, ?, 1, 1, 'in-client')",
    "INSERT INTO people (user, last, shown) VALUES (?, 1, 1)",
)
CASSANDRA: Final = (
    "INSERT INTO events (part, bucket, n, event, user, flags) VALUES (?, ?, ?, ?, ?, 0) USING TTL ?",
    "INSERT INTO decisions (user, event, mark, shown, types, reasons, ts_ms)"
    " VALUES (?, ?, 1, 1, 'in-client', 'offline-row', ?) USING TTL ?",
    "INSERT INTO items (user, event, service, topic, kind, producer, payload, ts_ms, digest, mark, shown, types)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 1, 'in-client') USING TTL ?",
    "INSERT INTO people (user, last, shown) VALUES (?, 1, 1)",
)


class BareRowsPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `store`: which store.
    - `followers`: how many there are.
    - `path`: a folder for SQLite.
    - `port`, `keyspace`: of Cassandra.
    """

    store: StoreName
    followers: int
    path: str = ""
    port: int = 0
    keyspace: str = ""


class BareRowsFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Followers a second: with their row of the log alone, and with all four rows that are kept of each."""

    logged_per_s: float
    all_per_s: float


def measure(plan: BareRowsPlan) -> BareRowsFigures:
    """Writes the log of all followers, then everything else. The second rate is of both together."""
    asyncio.run(_make_tables(plan))
    writing = _sqlite if plan.store == "sqlite" else _cassandra
    logged_s, rest_s = writing(plan)
    return BareRowsFigures(logged_per_s=plan.followers / logged_s, all_per_s=plan.followers / (logged_s + rest_s))


async def _make_tables(plan: BareRowsPlan) -> None:
    if plan.store == "sqlite":
        await (await Sqlite.open(Path(plan.path) / FILE, "notification", SCRIPTS)).close()
    else:
        await (await CassandraStore.open(_options(plan), RETENTION_S, time.time)).close()


def _options(plan: BareRowsPlan) -> CassandraOptions:
    return CassandraOptions(port=plan.port, keyspace=plan.keyspace, timeout_s=30.0)


def _sqlite(plan: BareRowsPlan) -> tuple[float, float]:
    log, decisions, items, people = SQLITE

    def logged(page: Numbered) -> Chunk:
        return [(log, [(part, n, EVENT, user) for part, n, user in page])]

    def rest(page: Numbered) -> Chunk:
        return [
            (decisions, [(user, EVENT, n) for _, n, user in page]),
            (items, [(user, EVENT) for *_, user in page]),
            (people, [(user,) for *_, user in page]),
        ]

    with closing(sqlite3.connect(Path(plan.path) / FILE, isolation_level=None)) as db:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "cache_size = -65536"):
            db.execute(f"PRAGMA {pragma}")

        def write(chunk: Chunk) -> None:
            db.execute("BEGIN IMMEDIATE")
            for sql, rows in chunk:
                db.executemany(sql, rows)
            db.execute("COMMIT")

        return _seconds(plan, logged, write), _seconds(plan, rest, write)


def _cassandra(plan: BareRowsPlan) -> tuple[float, float]:
    log, decisions, items, people = CASSANDRA

    def logged(page: Numbered) -> Chunk:
        return [(log, [(part, bucket_of(n), n, EVENT, user, TTL) for part, n, user in page])]

    def rest(page: Numbered) -> Chunk:
        return [
            (decisions, [(user, EVENT, n, TTL) for _, n, user in page]),
            (items, [(user, EVENT, *TOLD, TTL) for *_, user in page]),
            (people, [(user,) for *_, user in page]),
        ]

    connected = connect(_options(plan))
    try:
        statements = {sql: connected.session.prepare(sql) for sql in CASSANDRA}

        def write(chunk: Chunk) -> None:
            for sql, rows in chunk:
                execute_concurrent_with_args(connected.session, statements[sql], rows, concurrency=CONCURRENCY)

        return _seconds(plan, logged, write), _seconds(plan, rest, write)
    finally:
        connected.cluster.shutdown()


def _numbered(followers: int) -> Iterator[Numbered]:
    """Yields pages of followers, each ordered by part, as they come into a log."""
    start = time.time_ns() // 1000
    for page in pages(followers):
        yield sorted((part_of(shard_of(user), True), start + index, user) for index, user in enumerate(page))
        start += len(page)


def _seconds(plan: BareRowsPlan, made: Callable[[Numbered], Chunk], write: Callable[[Chunk], None]) -> float:
    """Returns the seconds of writing all pages, without the making of their rows."""
    spent_s = 0.0
    for page in _numbered(plan.followers):
        chunk = made(page)
        begun_s = time.perf_counter()
        write(chunk)
        spent_s += time.perf_counter() - begun_s
    return spent_s


if __name__ == "__main__":
    click.echo(msgspec.json.encode(measure(msgspec.json.decode(sys.argv[1], type=BareRowsPlan))))
