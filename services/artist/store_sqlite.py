"""What artist monitoring remembers, in SQLite."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from infra.runtime.sqlite import Sqlite

from .. import follows_sqlite
from ..follows import MAX_TOPICS
from ..follows_sqlite import FollowsSqlite
from .core import CatalogueItem, Standing
from .store import ArtistStores, Run

FILE: Final = "artist.sqlite"
SCRIPTS: Final = (
    *follows_sqlite.SCRIPTS,
    (
        "artist-0001",
        """
        CREATE TABLE runs (number INTEGER PRIMARY KEY, started_s REAL NOT NULL, finished INTEGER NOT NULL);
        CREATE TABLE artists (artist TEXT PRIMARY KEY, first_run INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE seen (item BLOB PRIMARY KEY) WITHOUT ROWID
        """,
    ),
)


async def open_sqlite(folder: Path, max_followed: int = MAX_TOPICS) -> ArtistStores:
    """Opens the stores in `folder`. Raises ConfigError when it cannot be used."""
    db = await Sqlite.open(folder / FILE, "artist", SCRIPTS)
    return ArtistStores(SeenSqlite(db), FollowsSqlite(db, max_followed), db.close)


class SeenSqlite:
    """The items that were seen; see `SeenItems`."""

    def __init__(self, db: Sqlite) -> None:
        self._db = db

    async def last(self) -> Run | None:
        """See `SeenItems`."""
        return await self._db.read(_last)

    async def begin(self, now_s: float) -> Run:
        """See `SeenItems`."""

        def work(connection: sqlite3.Connection) -> Run:
            last = _last(connection)
            if last is not None and not last.finished:
                return last
            run = Run(last.number + 1 if last else 1, now_s, False)
            connection.execute("INSERT INTO runs VALUES (?, ?, ?)", run)
            return run

        return await self._db.write(work)

    async def finish(self, run: Run) -> None:
        """See `SeenItems`."""
        await self._db.write(lambda connection: connection.execute("UPDATE runs SET finished = 1 WHERE number = ?", (run.number,)).rowcount)

    async def standing(self, run: Run, items: Sequence[CatalogueItem]) -> list[Standing]:
        """See `SeenItems`."""

        def work(connection: sqlite3.Connection) -> list[Standing]:
            connection.executemany("INSERT OR IGNORE INTO artists VALUES (?, ?)", {(item.artist, run.number) for item in items})
            return [_standing(connection, run, item) for item in items]

        return await self._db.write(work)

    async def mark(self, items: Sequence[CatalogueItem]) -> None:
        """See `SeenItems`."""
        keys = [(item.key,) for item in items]
        await self._db.write(lambda connection: connection.executemany("INSERT OR IGNORE INTO seen VALUES (?)", keys).rowcount)


def _last(connection: sqlite3.Connection) -> Run | None:
    row = connection.execute("SELECT number, started_s, finished FROM runs ORDER BY number DESC LIMIT 1").fetchone()
    return Run(row[0], row[1], bool(row[2])) if row else None


def _standing(connection: sqlite3.Connection, run: Run, item: CatalogueItem) -> Standing:
    if connection.execute("SELECT 1 FROM seen WHERE item = ?", (item.key,)).fetchone():
        return Standing.SEEN
    (first_run,) = connection.execute("SELECT first_run FROM artists WHERE artist = ?", (item.artist,)).fetchone()
    return Standing.FIRST if first_run == run.number else Standing.NEW
