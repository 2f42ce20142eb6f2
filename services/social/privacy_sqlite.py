"""What users set about others, in SQLite. Each question is one query, however much is asked at once."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from infra.kernel.access import Listening, Visibility
from infra.runtime.sqlite import Sqlite

from ..follows import PAGE
from ..list_page import ListPage
from .privacy_store import PlaylistKey, PlaylistPrivacy, check_blocks, check_editors, check_private

SCRIPTS: Final = (
    (
        "privacy-0001",
        """
        CREATE TABLE listening (user TEXT PRIMARY KEY, wanted TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE blocks (user TEXT, blocked TEXT, PRIMARY KEY (user, blocked)) WITHOUT ROWID;
        CREATE INDEX blocked_by ON blocks (blocked, user);
        CREATE TABLE visibility (owner TEXT, playlist TEXT, wanted TEXT NOT NULL, PRIMARY KEY (owner, playlist)) WITHOUT ROWID;
        CREATE TABLE editors (owner TEXT, playlist TEXT, editor TEXT, PRIMARY KEY (owner, playlist, editor)) WITHOUT ROWID;
        CREATE TABLE private (user TEXT, client TEXT, until_ms INTEGER NOT NULL, PRIMARY KEY (user, client)) WITHOUT ROWID
        """,
    ),
)
_BLOCKED: Final = """
    SELECT blocked FROM blocks WHERE user = :user AND blocked IN (SELECT value FROM json_each(:others))
    UNION SELECT user FROM blocks WHERE blocked = :user AND user IN (SELECT value FROM json_each(:others))"""
# Pairs of an owner and a playlist, as `playlists` asks for them.
_PAIRS: Final = "(SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:pairs))"
_VISIBILITY: Final = f"SELECT owner, playlist, wanted FROM visibility WHERE (owner, playlist) IN {_PAIRS}"
_EDITORS: Final = f"SELECT owner, playlist, editor FROM editors WHERE (owner, playlist) IN {_PAIRS}"


class PrivacySqlite:
    """The settings in one file; see `PrivacyStore`. `db` was opened with `SCRIPTS` among its scripts."""

    def __init__(self, db: Sqlite) -> None:
        self._db = db

    async def set_listening(self, user: str, wanted: Listening) -> None:
        """See `PrivacyStore`."""
        await self._write("INSERT OR REPLACE INTO listening VALUES (?, ?)", user, wanted)

    async def listening_of(self, users: Sequence[str]) -> dict[str, Listening]:
        """See `PrivacyStore`."""
        rows = await self._read("SELECT user, wanted FROM listening WHERE user IN (SELECT value FROM json_each(?))", _listed(users))
        return {user: Listening(wanted) for user, wanted in rows}

    async def block(self, user: str, other: str) -> None:
        """See `PrivacyStore`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR IGNORE INTO blocks VALUES (?, ?)", (user, other))
            check_blocks(_count(connection, "SELECT count(*) FROM blocks WHERE user = ?", user))

        await self._db.write(work)

    async def unblock(self, user: str, other: str) -> None:
        """See `PrivacyStore`."""
        await self._write("DELETE FROM blocks WHERE user = ? AND blocked = ?", user, other)

    async def blocks(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """See `PrivacyStore`."""
        query = "SELECT blocked FROM blocks WHERE user = ? AND blocked > ? ORDER BY blocked LIMIT ?"
        users = [other for (other,) in await self._read(query, user, after, limit)]
        return ListPage(users, users[-1] if len(users) == limit else None)

    async def blocked_among(self, user: str, others: Sequence[str]) -> set[str]:
        """See `PrivacyStore`."""
        values = {"user": user, "others": _listed(others)}
        rows = await self._db.read(lambda connection: connection.execute(_BLOCKED, values).fetchall())
        return {other for (other,) in rows}

    async def set_visibility(self, playlist: PlaylistKey, wanted: Visibility) -> None:
        """See `PrivacyStore`."""
        await self._write("INSERT OR REPLACE INTO visibility VALUES (?, ?, ?)", *playlist, wanted)

    async def set_editor(self, playlist: PlaylistKey, editor: str, *, wanted: bool) -> None:
        """See `PrivacyStore`."""
        if not wanted:
            await self._write("DELETE FROM editors WHERE owner = ? AND playlist = ? AND editor = ?", *playlist, editor)
            return

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR IGNORE INTO editors VALUES (?, ?, ?)", (*playlist, editor))
            check_editors(_count(connection, "SELECT count(*) FROM editors WHERE owner = ? AND playlist = ?", *playlist))

        await self._db.write(work)

    async def playlists(self, playlists: Sequence[PlaylistKey]) -> dict[PlaylistKey, PlaylistPrivacy]:
        """See `PrivacyStore`."""
        pairs = {"pairs": _listed(playlists)}

        def work(connection: sqlite3.Connection) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
            return connection.execute(_VISIBILITY, pairs).fetchall(), connection.execute(_EDITORS, pairs).fetchall()

        visibility, editors = await self._db.read(work)
        found = {PlaylistKey(owner, id_): PlaylistPrivacy(Visibility(wanted)) for owner, id_, wanted in visibility}
        for owner, id_, editor in editors:
            known = found.get(key := PlaylistKey(owner, id_), PlaylistPrivacy())
            found[key] = known._replace(editors=known.editors | {editor})
        return found

    async def set_private(self, user: str, client: str, until_ms: int, now_ms: int) -> None:
        """See `PrivacyStore`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM private WHERE user = ? AND (client = ? OR until_ms <= ?)", (user, client, now_ms))
            if until_ms > now_ms:
                connection.execute("INSERT INTO private VALUES (?, ?, ?)", (user, client, until_ms))
                check_private(_count(connection, "SELECT count(*) FROM private WHERE user = ?", user))

        await self._db.write(work)

    async def private_clients(self, user: str, now_ms: int) -> dict[str, int]:
        """See `PrivacyStore`."""
        rows = await self._read("SELECT client, until_ms FROM private WHERE user = ? AND until_ms > ? ORDER BY client", user, now_ms)
        return dict(rows)

    async def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._db.read(lambda connection: connection.execute(query, values).fetchall())

    async def _write(self, change: str, *values: object) -> None:
        await self._db.write(lambda connection: connection.execute(change, values).rowcount)


def _count(connection: sqlite3.Connection, query: str, *values: object) -> int:
    (count,) = connection.execute(query, values).fetchone()
    return int(count)


def _listed(values: Sequence[object]) -> str:
    return msgspec.json.encode(values).decode()
