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
from . import privacy_sqlite
from .privacy_sqlite import PrivacySqlite
from .store import MAX_CONTACTS, Expecting, KnownContact, Linked, Matches, SocialStores, check_count

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
    *privacy_sqlite.SCRIPTS,
    (
        "social-0002",
        # What users said of themselves before is forgotten: an id is somebody's when a service has vouched for it.
        """
        CREATE TABLE providers (user TEXT, provider TEXT, PRIMARY KEY (user, provider)) WITHOUT ROWID;
        INSERT INTO providers SELECT user, provider FROM accounts;
        DELETE FROM accounts;
        ALTER TABLE contacts ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0
        """,
    ),
)


async def open_sqlite(folder: Path, max_followed: int = MAX_TOPICS, max_contacts: int = MAX_CONTACTS) -> SocialStores:
    """Opens the stores in `folder`. Raises ConfigError when it cannot be used."""
    db = await Sqlite.open(folder / FILE, "social", SCRIPTS)
    social = SocialStoreSqlite(db, await db.write(_salt), max_contacts)
    return SocialStores(social, PrivacySqlite(db), FollowsSqlite(db, max_followed), OutboxSqlite(db), db.close)


class SocialStoreSqlite:
    """The store in one file; see `SocialStore`."""

    def __init__(self, db: Sqlite, salt: bytes, max_contacts: int) -> None:
        self.salt = salt
        self._db, self._max_contacts = db, max_contacts

    async def link(self, user: str, provider: str, contacts: Sequence[bytes], task: OutboxTask, vouched_id: bytes | None = None) -> None:
        """See `SocialStore`."""
        rows = [(user, provider, contact, vouched_id is not None) for contact in contacts]

        def work(connection: sqlite3.Connection) -> None:
            if vouched_id is not None:  # it replaces the user's id before, and the user of this id before
                connection.execute("INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)", (user, provider, vouched_id))
            connection.execute("INSERT OR IGNORE INTO providers VALUES (?, ?)", (user, provider))
            connection.executemany(_REMEMBER, rows)
            (count,) = connection.execute("SELECT count(*) FROM contacts WHERE user = ? AND provider = ?", (user, provider)).fetchone()
            check_count(count, self._max_contacts)
            put(connection, [task])

        await self._db.write(work)

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """See `SocialStore`."""

        def work(connection: sqlite3.Connection) -> Matches:
            values = {"user": user, "provider": provider, "limit": limit}
            contacts = [KnownContact(contact, who, bool(vouched)) for contact, who, vouched in connection.execute(_CONTACTS, values)]
            return Matches(contacts, [Expecting(who, bool(vouched)) for who, vouched in connection.execute(_WAITING, values)])

        return await self._db.read(work)

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """See `SocialStore`."""

        def work(connection: sqlite3.Connection) -> None:
            rows = [(user, provider, known.contact) for known in matches.contacts]
            connection.executemany("UPDATE contacts SET settled = 1 WHERE user = ? AND provider = ? AND contact = ?", rows)
            connection.executemany(_SETTLE_WAITING, [(each.user, provider, user, provider) for each in matches.waiting])

        await self._db.write(work)

    async def unlink(self, user: str, provider: str) -> None:
        """See `SocialStore`."""

        def work(connection: sqlite3.Connection) -> None:
            for table in ("contacts", "accounts", "providers"):
                connection.execute(f"DELETE FROM {table} WHERE user = ? AND provider = ?", (user, provider))

        await self._db.write(work)

    async def links(self, user: str) -> dict[str, Linked]:
        """See `SocialStore`."""
        rows = await self._db.read(lambda connection: connection.execute(_LINKS, (user,)).fetchall())
        return {provider: Linked(count, bool(verified)) for provider, count, verified in rows}

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


_REMEMBER: Final = """
    INSERT INTO contacts (user, provider, contact, vouched) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET vouched = max(vouched, excluded.vouched)"""
_CONTACTS: Final = """
    SELECT contact, accounts.user, vouched FROM contacts JOIN accounts ON accounts.provider = contacts.provider AND accounts.id = contact
    WHERE contacts.user = :user AND contacts.provider = :provider AND settled = 0 LIMIT :limit"""
_WAITING: Final = """
    SELECT contacts.user, vouched FROM accounts JOIN contacts ON contacts.provider = accounts.provider AND contact = id AND settled = 0
    WHERE accounts.user = :user AND accounts.provider = :provider LIMIT :limit"""
_SETTLE_WAITING: Final = """
    UPDATE contacts SET settled = 1 WHERE user = ? AND provider = ?
    AND contact = (SELECT id FROM accounts WHERE user = ? AND provider = ?)"""
_LINKS: Final = """
    SELECT provider,
        (SELECT count(*) FROM contacts WHERE contacts.user = providers.user AND contacts.provider = providers.provider),
        EXISTS (SELECT 1 FROM accounts WHERE accounts.user = providers.user AND accounts.provider = providers.provider)
    FROM providers WHERE user = ? ORDER BY provider"""


def _salt(connection: sqlite3.Connection) -> bytes:
    connection.execute("INSERT OR IGNORE INTO settings VALUES ('salt', ?)", (secrets.token_bytes(32),))
    (salt,) = connection.execute("SELECT value FROM settings WHERE name = 'salt'").fetchone()
    return bytes(salt)
