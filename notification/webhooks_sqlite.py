"""The webhooks of users in the SQLite file."""

import sqlite3

from .tables_sqlite import SqliteTables
from .webhook import Webhook


class WebhooksSqlite(SqliteTables):
    """The endpoints of each user."""

    async def webhooks(self, user: str) -> list[Webhook]:
        """See `Store`."""
        sql = "SELECT id, url, secret, previous, previous_until_ms, made_ms FROM webhooks WHERE user = ? ORDER BY id"
        return list(map(Webhook._make, await self._all(sql, (user,))))

    async def save_webhook(self, user: str, webhook: Webhook) -> None:
        """See `Store`."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO webhooks VALUES (?, ?, ?, ?, ?, ?, ?)", (user, *webhook))
            db.execute("INSERT OR IGNORE INTO people (user) VALUES (?)", (user,))

        await self._db.write(work)

    async def remove_webhook(self, user: str, webhook_id: str) -> None:
        """See `Store`."""
        await self._db.write(lambda db: db.execute("DELETE FROM webhooks WHERE user = ? AND id = ?", (user, webhook_id)))
