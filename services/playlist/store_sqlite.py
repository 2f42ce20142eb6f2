"""The playlist store in one SQLite file."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic
from infra.runtime.sqlite import Sqlite

from .. import follows_sqlite, outbox_sqlite
from ..follows import MAX_TOPICS, PAGE
from ..follows_sqlite import FollowsSqlite
from ..list_page import ListPage
from ..outbox_sqlite import OutboxSqlite
from .core import Playlist, PlaylistStep
from .store import MAX_OWNED, PlaylistStores, Summary, names_of

FILE: Final = "playlist.sqlite"
SCRIPTS: Final = (
    *follows_sqlite.SCRIPTS,
    *outbox_sqlite.SCRIPTS,
    (
        "playlist-0001",
        # The list of tracks is long, so it comes last: a summary is read without it.
        """
        CREATE TABLE playlists (
            owner TEXT, id TEXT, version INTEGER, name TEXT, collaborative INTEGER, length INTEGER, changed_ms INTEGER, deleted INTEGER,
            tracks BLOB, PRIMARY KEY (owner, id)
        );
        """,
    ),
)
_SUMMARY: Final = "SELECT owner, id, version, name, collaborative, length, changed_ms FROM playlists"


async def open_sqlite(folder: Path, max_followed: int = MAX_TOPICS, max_owned: int = MAX_OWNED) -> PlaylistStores:
    """Opens the stores in `folder`. Raises ConfigError when it cannot be used."""
    db = await Sqlite.open(folder / FILE, "playlist", SCRIPTS)
    return PlaylistStores(PlaylistsSqlite(db, max_owned), FollowsSqlite(db, max_followed), OutboxSqlite(db), db.close)


class PlaylistsSqlite:
    """The playlists; see `Playlists`."""

    def __init__(self, db: Sqlite, max_owned: int = MAX_OWNED) -> None:
        self._db, self._max_owned = db, max_owned

    async def get(self, owner: str, playlist_id: str) -> Playlist | None:
        """See `Playlists`."""
        query = "SELECT version, name, collaborative, tracks, changed_ms, deleted FROM playlists WHERE owner = ? AND id = ?"
        row = await self._db.read(lambda connection: connection.execute(query, (owner, playlist_id)).fetchone())
        if row is None:
            return None
        version, name, collaborative, tracks, changed_ms, deleted = row
        listed = msgspec.json.decode(tracks, type=list[str])
        return Playlist(owner, playlist_id, version, name, bool(collaborative), listed, changed_ms, bool(deleted))

    async def create(self, step: PlaylistStep) -> bool:
        """See `Playlists`."""
        new = step.playlist

        def work(connection: sqlite3.Connection) -> bool:
            query = "INSERT OR IGNORE INTO playlists VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
            if not connection.execute(query, (new.owner, new.id, *_columns(new))).rowcount:
                return False
            query = "SELECT count(*) FROM playlists WHERE owner = ? AND NOT deleted"
            if connection.execute(query, (new.owner,)).fetchone()[0] > self._max_owned:
                raise Refused("too-many-topics", f"a user has at most {self._max_owned} playlists")
            outbox_sqlite.put(connection, step.tasks)
            return True

        return await self._db.write(work)

    async def replace(self, step: PlaylistStep) -> bool:
        """See `Playlists`."""
        new = step.playlist

        def work(connection: sqlite3.Connection) -> bool:
            query = (
                "UPDATE playlists SET version = ?, name = ?, collaborative = ?, length = ?, changed_ms = ?, deleted = ?, tracks = ?"
                " WHERE owner = ? AND id = ? AND version = ?"
            )
            if not connection.execute(query, (*_columns(new), new.owner, new.id, new.version - 1)).rowcount:
                return False
            outbox_sqlite.put(connection, step.tasks)
            return True

        return await self._db.write(work)

    async def owned(self, owner: str, after: str = "", limit: int = PAGE) -> ListPage[Summary]:
        """See `Playlists`."""
        query = f"{_SUMMARY} WHERE owner = ? AND id > ? AND NOT deleted ORDER BY id LIMIT ?"
        rows = await self._db.read(lambda connection: connection.execute(query, (owner, after, limit)).fetchall())
        found = [_summary(row) for row in rows]
        return ListPage(found, found[-1].id if len(found) == limit else None)

    async def summaries(self, topics: Sequence[Topic]) -> list[Summary]:
        """See `Playlists`."""
        query = f"{_SUMMARY} WHERE owner = ? AND id = ? AND NOT deleted"

        def work(connection: sqlite3.Connection) -> list[Summary]:
            rows = (connection.execute(query, names_of(topic)).fetchone() for topic in topics)
            return [_summary(row) for row in rows if row is not None]

        return await self._db.read(work)


def _columns(playlist: Playlist) -> tuple[int | str | bytes, ...]:
    """Returns the columns behind the key, in the order of the table."""
    tracks = msgspec.json.encode(playlist.tracks)
    flags = int(playlist.collaborative), len(playlist.tracks), playlist.changed_ms, int(playlist.deleted)
    return (playlist.version, playlist.name, *flags, tracks)


def _summary(row: tuple[str, str, int, str, int, int, int]) -> Summary:
    owner, playlist_id, version, name, collaborative, length, changed_ms = row
    return Summary(owner, playlist_id, version, name, bool(collaborative), length, changed_ms)
