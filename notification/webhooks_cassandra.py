"""The webhooks of users in Cassandra."""

from .tables_cassandra import CassandraTables
from .webhook import Webhook


class WebhooksCassandra(CassandraTables):
    """The endpoints of each user. The row of a user says whether there are any, so that nobody is asked about who has none."""

    async def webhooks(self, user: str) -> list[Webhook]:
        """See `Store`."""
        sql = "SELECT id, url, secret, previous, previous_until_ms, made_ms FROM webhooks WHERE user = ?"
        return [Webhook(*row) for row in await self._db.execute(sql, user)]

    async def save_webhook(self, user: str, webhook: Webhook) -> None:
        """See `Store`. Of one partition key, so both or neither."""
        webhook_sql = "INSERT INTO webhooks (user, id, url, secret, previous, previous_until_ms, made_ms) VALUES (?, ?, ?, ?, ?, ?, ?)"
        person_sql = "INSERT INTO people (user, has_webhooks) VALUES (?, ?)"
        await self._db.batch([(webhook_sql, (user, *webhook)), (person_sql, (user, True))])

    async def remove_webhook(self, user: str, webhook_id: str) -> None:
        """See `Store`. That a user had one stays noted: the worst of that is a question whose answer is empty."""
        await self._db.execute("DELETE FROM webhooks WHERE user = ? AND id = ?", user, webhook_id)
