"""The rows of an event in a store, counted by a reader of its own, whoever wrote them."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
from cassandra.concurrent import execute_concurrent_with_args

from infra.runtime.cassandra.client import CassandraOptions
from infra.runtime.cassandra.driver import connect
from notification.shards import PARTS

from ..servers.stored import StoredSite

# The name that the store gives its file.
FILE: Final = "notification.sqlite"
TIMEOUT_S: Final = 60.0
WIDTH: Final = 64

Users = Callable[[str], Iterator[str]]


class RowAudit(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one event, compared with its followers.

    - `lost`, `doubled`: followers with no row in the log, and with several.
    - `strange`: users with a row who are no followers.
    - `items_lost`, `items_doubled`: followers with no item, and users with several.
    """

    lost: int
    doubled: int
    strange: int
    items_lost: int
    items_doubled: int

    @property
    def wrong(self) -> int:
        """The number of all that is not as it should be."""
        return self.lost + self.doubled + self.strange + self.items_lost + self.items_doubled


def audit(target: StoredSite, event: str, followers: set[str], *, with_items: bool = True) -> RowAudit:
    """Compares what is stored with the audience.

    - `target`: the site.
    - `event`: the id of the event.
    - `followers`: its audience.
    - `with_items`: everything is decided, so each follower must have an item. Else none counts as lost.
    """
    with _reading(target) as (rows, items):
        in_log, in_items = Counter(rows(event)), Counter(items(event))
    return RowAudit(
        lost=len(followers - in_log.keys()),
        doubled=sum(number > 1 for number in in_log.values()),
        strange=len(in_log.keys() - followers),
        items_lost=len(followers - in_items.keys()) if with_items else 0,
        items_doubled=sum(number > 1 for number in in_items.values()),
    )


@contextmanager
def _reading(target: StoredSite) -> Iterator[tuple[Users, Users]]:
    if target.store == "sqlite":
        uri = f"file:{Path(target.path) / FILE}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as db:
            in_log, in_items = "SELECT user FROM events WHERE event = ?", "SELECT user FROM items WHERE event = ?"
            yield lambda event: _column(db, in_log, event), lambda event: _column(db, in_items, event)
        return
    connected = connect(CassandraOptions(port=target.port, keyspace=target.keyspace, timeout_s=TIMEOUT_S))
    try:
        # Each user has one partition of items: a whole table is read, which only a benchmark may do.
        yield lambda event: _logged(connected.session, event), lambda event: _kept(connected.session, event)
    finally:
        connected.cluster.shutdown()


def _column(db: sqlite3.Connection, sql: str, event: str) -> Iterator[str]:
    return (user for (user,) in db.execute(sql, (event,)))


def _logged(session: Any, event: str) -> Iterator[str]:
    buckets = session.prepare("SELECT part, bucket FROM event_buckets WHERE part = ?")
    places = [row for _, rows in execute_concurrent_with_args(session, buckets, [(n,) for n in range(PARTS)], WIDTH) for row in rows]
    rows = session.prepare("SELECT event, user FROM events WHERE part = ? AND bucket = ?")
    for place in places:
        yield from (user for found, user in session.execute(rows, place) if found == event)


def _kept(session: Any, event: str) -> Iterator[str]:
    return (user for found, user in session.execute("SELECT event, user FROM items") if found == event)
