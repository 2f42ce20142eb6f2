"""What social remembers, in SQLite."""

import secrets
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from infra.runtime.sqlite import Sqlite

from .. import follows_sqlite, outbox_sqlite
from ..follows import MAX_TOPICS
from ..follows_sqlite import FollowsSqlite
from ..outbox_sqlite import OutboxSqlite, put
from ..tasks import OutboxTask
from .store import MAX_CONTACTS, Matches, SocialStores, check_claim, check_count

FILE: Final = "social.sqlite"
SCRIPTS: Final = (
    *follows_sqlite.SCRIPTS,
    *outbox_sqlite.SCRIPTS,
    (
        "social-0001",
        """
        CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE accounts (user TEXT, provider TEXT, id BLOB NOT NULL, PRIMARY KEY (user, provider)) WITHOUT ROWID;
        CREATE UNIQUE INDEX account_of ON accounts (provider, id);
        CREATE TABLE contacts (user TEXT, provider TEXT, contact BLOB, settled INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (user, provider, contact)) WITHOUT ROWID;
        CREATE INDEX waiting ON contacts (provider, contact) WHERE settled = 0;
        CREATE TABLE posting (user TEXT PRIMARY KEY) WITHOUT ROWID
        """,
    ),
)


async def open_sqlite(folder: Path, max_followed: int = MAX_TOPICS, max_contacts: int = MAX_CONTACTS) -> SocialStores:
    """Opens the stores in `folder`. Raises ConfigError when it cannot be used."""
    db = await Sqlite.open(folder / FILE, "social", SCRIPTS)
    social = SocialStoreSqlite(db, await db.write(_salt), max_contacts)
    return SocialStores(social, FollowsSqlite(db, max_followed), OutboxSqlite(db), db.close)


class SocialStoreSqlite:
    """The store in one file; see `SocialStore`."""

    def __init__(self, db: Sqlite, salt: bytes, max_contacts: int) -> None:
        self.salt = salt
        self._db, self._max_contacts = db, max_contacts

    async def link(self, user: str, provider: str, me: bytes, contacts: Sequence[bytes], task: OutboxTask) -> None:
        """See `SocialStore`."""
        rows = [(user, provider, contact) for contact in contacts]

        def work(connection: sqlite3.Connection) -> None:
            _claim(connection, user, provider, me)
            connection.executemany("INSERT OR IGNORE INTO contacts (user, provider, contact) VALUES (?, ?, ?)", rows)
            (count,) = connection.execute("SELECT count(*) FROM contacts WHERE user = ? AND provider = ?", (user, provider)).fetchone()
            check_count(count, self._max_contacts)
            put(connection, [task])

        await self._db.write(work)

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """See `SocialStore`."""

        def work(connection: sqlite3.Connection) -> Matches:
            values = {"user": user, "provider": provider, "limit": limit}
            contacts = connection.execute(_CONTACTS, values).fetchall()
            return Matches(contacts, [who for (who,) in connection.execute(_WAITING, values)])

        return await self._db.read(work)

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """See `SocialStore`."""

        def work(connection: sqlite3.Connection) -> None:
            rows = [(user, provider, contact) for contact, _ in matches.contacts]
            connection.executemany("UPDATE contacts SET settled = 1 WHERE user = ? AND provider = ? AND contact = ?", rows)
            connection.executemany(_SETTLE_WAITING, [(who, provider, user, provider) for who in matches.waiting])

        await self._db.write(work)

    async def unlink(self, user: str, provider: str) -> None:
        """See `SocialStore`."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM contacts WHERE user = ? AND provider = ?", (user, provider))
            connection.execute("DELETE FROM accounts WHERE user = ? AND provider = ?", (user, provider))

        await self._db.write(work)

    async def links(self, user: str) -> dict[str, int]:
        """See `SocialStore`."""
        return dict(await self._db.read(lambda connection: connection.execute(_LINKS, (user,)).fetchall()))

    async def set_posting(self, user: str, wanted: bool) -> None:
        """See `SocialStore`."""
        change = "INSERT OR IGNORE INTO posting VALUES (?)" if wanted else "DELETE FROM posting WHERE user = ?"
        await self._db.write(lambda connection: connection.execute(change, (user,)).rowcount)

    async def posting(self, user: str) -> bool:
        """See `SocialStore`."""
        found = await self._db.read(lambda connection: connection.execute("SELECT 1 FROM posting WHERE user = ?", (user,)).fetchone())
        return found is not None

    async def promise(self, tasks: Sequence[OutboxTask]) -> None:
        """See `SocialStore`."""
        await self._db.write(lambda connection: put(connection, tasks))


_CONTACTS: Final = """
    SELECT contact, accounts.user FROM contacts JOIN accounts ON accounts.provider = contacts.provider AND accounts.id = contact
    WHERE contacts.user = :user AND contacts.provider = :provider AND settled = 0 LIMIT :limit"""
_WAITING: Final = """
    SELECT contacts.user FROM accounts JOIN contacts ON contacts.provider = accounts.provider AND contact = id AND settled = 0
    WHERE accounts.user = :user AND accounts.provider = :provider LIMIT :limit"""
_SETTLE_WAITING: Final = """
    UPDATE contacts SET settled = 1 WHERE user = ? AND provider = ?
    AND contact = (SELECT id FROM accounts WHERE user = ? AND provider = ?)"""
_LINKS: Final = """
    SELECT provider, (SELECT count(*) FROM contacts WHERE contacts.user = accounts.user AND contacts.provider = accounts.provider)
    FROM accounts WHERE user = ? ORDER BY provider"""


def _salt(connection: sqlite3.Connection) -> bytes:
    connection.execute("INSERT OR IGNORE INTO settings VALUES ('salt', ?)", (secrets.token_bytes(32),))
    (salt,) = connection.execute("SELECT value FROM settings WHERE name = 'salt'").fetchone()
    return bytes(salt)


def _claim(connection: sqlite3.Connection, user: str, provider: str, me: bytes) -> None:
    connection.execute("INSERT OR IGNORE INTO accounts VALUES (?, ?, ?)", (user, provider, me))
    mine = connection.execute("SELECT id FROM accounts WHERE user = ? AND provider = ?", (user, provider)).fetchone()
    check_claim(provider, me, mine and mine[0])
