"""Where a broker keeps revocations and bans, so that a restart forgets none."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Self

from infra.kernel.revocations import Ban, Entry, Revocation
from infra.runtime.sqlite import Sqlite, insert

SCRIPTS: Final = (
    (
        "revocations",
        """
        CREATE TABLE revocations (
            kind TEXT, name TEXT, from_ms INTEGER, until_ms INTEGER, known_ms INTEGER, PRIMARY KEY (kind, name)
        ) WITHOUT ROWID
        """,
    ),
)
_HEAD: Final = "REPLACE INTO revocations (kind, name, from_ms, until_ms, known_ms) VALUES"


class RevocationStore:
    """An open file. `open` makes one, `close` ends it."""

    def __init__(self, db: Sqlite) -> None:
        self._db = db

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Returns the store in the file at `path`, made if it is not there. Raises ConfigError when it cannot be used."""
        return cls(await Sqlite.open(path, "broker", SCRIPTS, durable=True))

    async def entries(self) -> list[Entry]:
        """Returns all that is kept. Raises Unavailable."""
        return await self._db.read(lambda connection: [_entry(*row) for row in connection.execute("SELECT * FROM revocations")])

    async def keep(self, entries: Iterable[Entry]) -> None:
        """Keeps `entries`, each in the place of what was kept under its key; they are on the disk when this returns.

        Raises Unavailable when the disk is full.
        """
        rows = [_row(entry) for entry in entries]
        await self._db.write(lambda connection: insert(connection, _HEAD, rows))

    async def forget(self, entries: Iterable[Entry]) -> None:
        """Removes `entries`, which are over. Raises Unavailable."""
        keys = [entry.key for entry in entries]

        def remove(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM revocations WHERE kind = ? AND name = ?", keys)

        await self._db.write(remove)

    async def close(self) -> None:
        """Writes what was asked for, then closes. May be called twice."""
        await self._db.close()


def _row(entry: Entry) -> Sequence[Any]:
    if isinstance(entry, Ban):
        return (*entry.key, entry.at_ms, entry.until_ms, entry.known_ms)
    return (*entry.key, entry.before_ms, entry.until_ms, entry.until_ms)


def _entry(kind: Any, name: str, from_ms: int, until_ms: int, known_ms: int) -> Entry:
    return Ban(name, from_ms, until_ms, known_ms) if kind == "ban" else Revocation(kind, name, from_ms, until_ms)
