"""Follows in Cassandra: two tables, one for each direction; followers of a topic in parts, so that no partition is giant.

The followers of a topic come part by part, in the order of names within each part only.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.ring import hash64
from infra.kernel.topics import Topic
from infra.runtime.cassandra.client import Cassandra, Row

from .follows import MAX_TOPICS, PAGE
from .list_page import ListPage

PARTS: Final = 64
# How many topics are looked up at once, and how many are changed in both tables by one logged batch.
LOOKED_UP: Final = 500
CHANGED: Final = 50
# Up to so many users are looked for by one query, whatever their parts are.
ASKED_AT_ONCE: Final = 100

_ADD: Final = (
    "INSERT INTO followers (topic, part, follower) VALUES (?, ?, ?)",
    "INSERT INTO followed (service, follower, topic) VALUES (?, ?, ?)",
)
_REMOVE: Final = (
    "DELETE FROM followers WHERE topic = ? AND part = ? AND follower = ?",
    "DELETE FROM followed WHERE service = ? AND follower = ? AND topic = ?",
)


class FollowsCassandra:
    """The follows of one `service`; see `FollowStore`. `db` has the module "follows". The topics of a user are kept per service."""

    def __init__(self, db: Cassandra, service: str, max_topics: int = MAX_TOPICS) -> None:
        self._db, self._service, self._max_topics = db, service, max_topics

    async def add(self, user: str, topics: Sequence[Topic]) -> list[Topic]:
        """See `FollowStore`."""
        known = await self._known(user, topics)
        new = [topic for topic in dict.fromkeys(topics) if topic not in known]
        if new:
            query = "SELECT count(*) FROM followed WHERE service = ? AND follower = ?"
            ((count,),) = await self._db.execute(query, self._service, user)
            if count + len(new) > self._max_topics:
                raise Refused("too-many-topics", f"a user follows at most {self._max_topics} topics")
        await self._change(_ADD, user, new)
        return new

    async def remove(self, user: str, topics: Sequence[Topic]) -> None:
        """See `FollowStore`."""
        await self._change(_REMOVE, user, topics)

    async def add_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `FollowStore`. If it fails, one direction may know what the other does not: repeat it."""
        await self._many(_ADD, topic, users)

    async def remove_followers(self, topic: Topic, users: Sequence[str]) -> None:
        """See `add_followers`."""
        await self._many(_REMOVE, topic, users)

    async def followers(self, topic: Topic, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """See `FollowStore`."""
        start, last = _position(after)
        found: list[str] = []
        # Steps grow: a popular topic fills the page from its first part, and one with few followers needs all 64.
        step = 1
        first = start
        while first < PARTS:
            parts = range(first, min(first + step, PARTS))
            many = await asyncio.gather(*(self._part(topic, part, last if part == start else "", limit) for part in parts))
            for part, users in zip(parts, many, strict=True):
                room = limit - len(found)
                found += users[:room]
                if len(users) >= room:
                    return ListPage(found, f"{part}:{found[-1]}")
            first, step = first + step, step * 2
        return ListPage(found, None)

    async def _part(self, topic: Topic, part: int, last: str, limit: int) -> list[str]:
        query = "SELECT follower FROM followers WHERE topic = ? AND part = ? AND follower > ? LIMIT ?"
        return [user for (user,) in await self._db.execute(query, topic, part, last, limit)]

    async def topics(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[Topic]:
        """See `FollowStore`."""
        query = "SELECT topic FROM followed WHERE service = ? AND follower = ? AND topic > ? LIMIT ?"
        rows = await self._db.execute(query, self._service, user, after.encode(), limit)
        topics = [Topic(topic) for (topic,) in rows]
        return ListPage(topics, topics[-1].decode() if len(topics) == limit else None)

    async def follows(self, topic: Topic, users: Sequence[str]) -> list[bool]:
        """See `FollowStore`."""
        by_part: defaultdict[int, list[str]] = defaultdict(list)
        for user in users:
            by_part[_part_of(user)].append(user)
        rows = await self._among(topic, by_part, users)
        found = {user for part in rows for (user,) in part}
        return [user in found for user in users]

    async def _among(self, topic: Topic, by_part: dict[int, list[str]], users: Sequence[str]) -> list[list[Row]]:
        # One query for a few users costs a tenth of one for each part. For many, each part would be asked about all of them.
        if len(users) <= ASKED_AT_ONCE:
            query = "SELECT follower FROM followers WHERE topic = ? AND part IN ? AND follower IN ?"
            return [await self._db.execute(query, topic, list(by_part), list(users))] if users else []
        query = "SELECT follower FROM followers WHERE topic = ? AND part = ? AND follower IN ?"
        return await asyncio.gather(*(self._db.execute(query, topic, part, some) for part, some in by_part.items()))

    async def followed(self, user: str, topics: Sequence[Topic]) -> set[Topic]:
        """See `FollowStore`."""
        return await self._known(user, topics)

    async def count(self, topic: Topic) -> int:
        """See `FollowStore`. It reads every part, so its cost grows with the number of followers."""
        query = "SELECT count(*) FROM followers WHERE topic = ? AND part = ?"
        rows = await asyncio.gather(*(self._db.execute(query, topic, part) for part in range(PARTS)))
        return sum(count for ((count,),) in rows)

    async def _known(self, user: str, topics: Sequence[Topic]) -> set[Topic]:
        query = "SELECT topic FROM followed WHERE service = ? AND follower = ? AND topic IN ?"
        chunks = [self._db.execute(query, self._service, user, chunk) for chunk in _chunks(topics, LOOKED_UP)]
        return {Topic(topic) for rows in await asyncio.gather(*chunks) for (topic,) in rows}

    async def _change(self, cql: tuple[str, str], user: str, topics: Iterable[Topic]) -> None:
        by_topic, by_user = cql
        part = _part_of(user)
        for chunk in _chunks(topics, CHANGED):
            there = [(by_topic, (topic, part, user)) for topic in chunk]
            back = [(by_user, (self._service, user, topic)) for topic in chunk]
            await self._db.batch(there + back, logged=True)

    async def _many(self, cql: tuple[str, str], topic: Topic, users: Sequence[str]) -> None:
        by_topic, by_user = cql
        await self._db.many(by_user, ((self._service, user, topic) for user in users))
        await self._db.many(by_topic, ((topic, _part_of(user), user) for user in users))


def _part_of(user: str) -> int:
    return hash64(user) % PARTS


def _position(after: str) -> tuple[int, str]:
    """Returns the part and the name that a cursor stands for. Raises Refused("bad-field")."""
    part, _, last = after.partition(":")
    if after and not (part.isascii() and part.isdigit() and len(part) < 4):
        raise Refused("bad-field", "`after` is what `next` was on the page before")
    return int(part or 0), last


def _chunks(topics: Iterable[Topic], size: int) -> Iterator[list[Topic]]:
    source = iter(topics)
    while chunk := list(islice(source, size)):
        yield chunk
