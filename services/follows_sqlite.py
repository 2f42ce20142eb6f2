"""Follows in SQLite: one table, clustered by topic, with an index by user."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic
from infra.runtime.sqlite import Sqlite

from .follows import MAX_TOPICS, PAGE
from .list_page import ListPage

SCRIPTS: Final = (
    (
        "follows-0001",
        """
        CREATE TABLE follows (topic BLOB NOT NULL, user TEXT NOT NULL, PRIMARY KEY (topic, user)) WITHOUT ROWID;
        CREATE INDEX follows_by_user ON follows (user, topic);
        """,
    ),
)
_ADD: Final = "INSERT OR IGNORE INTO follows (topic, user) VALUES (?, ?)"
_REMOVE: Final = "DELETE FROM follows WHERE topic = ? AND user = ?"


class FollowsSqlite:
    """The follows in one file; see `FollowStore`. `db` was opened with `SCRIPTS` among its scripts."""

    def __init__(self, db: Sqlite, max_topics: int = MAX_TOPICS) -> None:
        self._db, self._max_topics = db, max_topics

    async def add(self, user: str, topics: Sequence[Topic]) -> list[Topic]:
        """See `FollowStore`."""

        def work(connection: sqlite3.Connection) -> list[Topic]:
            new = [topic for topic in topics if connection.execute(_ADD, (topic, user)).rowcount]
            if new:
                (count,) = connection.execute("SELECT count(*) FROM follows WHERE user = ?", (user,)).fetchone()
                if count > self._max_topics:
                    raise Refused("too-many-topics", f"a user follows at most {self._max_topics} topics")
            return new

        return await self._db.write(work)

    async def remove(self, user: str, topics: Sequence[Topic]) -> None:
        """See `FollowStore`."""
        await self._many(_REMOVE, ((topic, user) for topic in topics))

    async def add_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        await self._many(_ADD, ((topic, user) for user in users))

    async def remove_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`."""
        await self._many(_REMOVE, ((topic, user) for user in users))

    async def _many(self, statement: str, pairs: Iterable[tuple[Topic, str]]) -> None:
        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(statement, pairs)

        await self._db.write(work)

    async def followers(self, topic: Topic, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """See `FollowStore`. Pages follow each other in the order of names."""
        query = "SELECT user FROM follows WHERE topic = ? AND user > ? ORDER BY user LIMIT ?"
        users = [user for (user,) in await self._all(query, topic, after, limit)]
        return ListPage(users, users[-1] if len(users) == limit else None)

    async def topics(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[Topic]:
        """See `FollowStore`."""
        query = "SELECT topic FROM follows WHERE user = ? AND topic > ? ORDER BY topic LIMIT ?"
        topics = [Topic(topic) for (topic,) in await self._all(query, user, after.encode(), limit)]
        return ListPage(topics, topics[-1].decode() if len(topics) == limit else None)

    async def follows(self, topic: Topic, users: Sequence[str]) -> list[bool]:
        """See `FollowStore`."""
        query = "SELECT user FROM follows WHERE topic = ? AND user IN (SELECT value FROM json_each(?))"
        found = {user for (user,) in await self._all(query, topic, msgspec.json.encode(users).decode())}
        return [user in found for user in users]

    async def followed(self, user: str, topics: Sequence[Topic]) -> set[Topic]:
        """See `FollowStore`."""
        query = "SELECT topic FROM follows WHERE user = ? AND topic IN (SELECT CAST(value AS BLOB) FROM json_each(?))"
        asked = msgspec.json.encode([topic.decode() for topic in topics]).decode()
        return {Topic(topic) for (topic,) in await self._all(query, user, asked)}

    async def count(self, topic: Topic) -> int:
        """See `FollowStore`."""
        ((count,),) = await self._all("SELECT count(*) FROM follows WHERE topic = ?", topic)
        return int(count)

    async def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._db.read(lambda connection: connection.execute(query, values).fetchall())
