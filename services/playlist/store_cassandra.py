"""The playlist store in Cassandra: one partition for each playlist, changed by conditional writes (SB-33: versions are a line).

A conditional write cannot be in one batch with the outbox. So tasks are written before it, under a guard that names the change;
see `OutboxCassandra`.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.topics import Topic
from infra.runtime.cassandra.client import Cassandra, CassandraOptions

from ..cql import scripts
from ..follows import MAX_TOPICS, PAGE
from ..follows_cassandra import FollowsCassandra
from ..list_page import ListPage
from ..outbox_cassandra import OutboxCassandra
from .core import Playlist, PlaylistStep
from .store import MAX_OWNED, PlaylistStores, Summary, names_of

# How long it is known which changes were done. A node that is away for longer cannot tell what became of its last one.
CHANGES_S: Final = 30 * 24 * 3600

_REPLACE: Final = f"""
    BEGIN BATCH
        UPDATE playlists SET version = ?, name = ?, collaborative = ?, length = ?, changed_ms = ?, deleted = ?, tracks = ?
            WHERE owner = ? AND id = ? IF version = ?;
        INSERT INTO playlists (owner, id, change, event) VALUES (?, ?, ?, ?) USING TTL {CHANGES_S};
    APPLY BATCH"""
_SUMMARY: Final = "SELECT DISTINCT owner, id, version, name, collaborative, length, changed_ms, deleted FROM playlists"


class _Guard(msgspec.Struct, array_like=True):
    """A change: the version that it makes, and the event that tells of it."""

    owner: str
    id: str
    version: int
    event: str


async def open_cassandra(
    options: CassandraOptions, node: str, wall: Callable[[], float], max_followed: int = MAX_TOPICS, max_owned: int = MAX_OWNED
) -> PlaylistStores:
    """Opens the stores in a keyspace. `node` names this service in all its lives. Raises ConfigError and Unavailable."""
    db = await Cassandra.open(options)
    try:
        for module in ("follows", "outbox", "playlist"):
            await db.migrate(module, scripts(module))
        return await use_cassandra(db, node, wall, max_followed, max_owned)
    except BaseException:
        await db.close()
        raise


async def use_cassandra(
    db: Cassandra, node: str, wall: Callable[[], float], max_followed: int = MAX_TOPICS, max_owned: int = MAX_OWNED
) -> PlaylistStores:
    """Opens the stores in `db`, which has the modules follows, outbox and playlist. `node` names this service in all its lives."""
    changes = _Changes(db)
    outbox = await OutboxCassandra.open(db, f"playlist/{node}", wall, changes.happened)
    return PlaylistStores(PlaylistsCassandra(db, outbox, max_owned), FollowsCassandra(db, "playlist", max_followed), outbox, db.close)


class _Changes:
    """The changes that were done."""

    def __init__(self, db: Cassandra) -> None:
        self._db = db

    async def happened(self, guard: str) -> bool:
        """Returns whether the change of a `guard` was done. It is asked for changes of an earlier life only."""
        change = msgspec.json.decode(guard, type=_Guard)
        key = change.owner, change.id, change.version
        # The change may still be on its way. A conditional write to its partition ends that: the change is done by then, or never.
        settle = f"INSERT INTO playlists (owner, id, change, event) VALUES (?, ?, ?, '') IF NOT EXISTS USING TTL {CHANGES_S}"
        if await self._db.swap(settle, *key):
            return False
        query = "SELECT event FROM playlists WHERE owner = ? AND id = ? AND change = ?"
        rows = await self._db.execute(query, *key)
        return rows == [(change.event,)]


class PlaylistsCassandra:
    """The playlists; see `Playlists`."""

    def __init__(self, db: Cassandra, outbox: OutboxCassandra, max_owned: int = MAX_OWNED) -> None:
        self._db, self._outbox, self._max_owned = db, outbox, max_owned

    async def get(self, owner: str, playlist_id: str) -> Playlist | None:
        """See `Playlists`."""
        query = (
            "SELECT DISTINCT owner, id, version, name, collaborative, changed_ms, deleted, tracks FROM playlists WHERE owner = ? AND id = ?"
        )
        rows = await self._db.execute(query, owner, playlist_id)
        if not rows or rows[0][2] is None:
            return None
        _, _, version, name, collaborative, changed_ms, deleted, tracks = rows[0]
        listed = msgspec.json.decode(tracks, type=list[str])
        return Playlist(owner, playlist_id, version, name, collaborative, listed, changed_ms, deleted)

    async def create(self, step: PlaylistStep) -> bool:
        """See `Playlists`. Two at once may make one too many."""
        new = step.playlist
        ((count,),) = await self._db.execute("SELECT count(*) FROM playlists_by_owner WHERE owner = ?", new.owner)
        if count >= self._max_owned and await self.get(new.owner, new.id) is None:
            raise Refused("too-many-topics", f"a user has at most {self._max_owned} playlists")
        await self._db.execute("INSERT INTO playlists_by_owner (owner, id) VALUES (?, ?)", new.owner, new.id)
        return await self._write(step, None)

    async def replace(self, step: PlaylistStep) -> bool:
        """See `Playlists`."""
        new = step.playlist
        done = await self._write(step, new.version - 1)
        if done and new.deleted:
            with suppress(Unavailable):  # a list of what is there looks at the playlists, too
                await self._db.execute("DELETE FROM playlists_by_owner WHERE owner = ? AND id = ?", new.owner, new.id)
        return done

    async def _write(self, step: PlaylistStep, before: int | None) -> bool:
        new = step.playlist
        guard = msgspec.json.encode(_Guard(new.owner, new.id, new.version, step.event_id)).decode()
        async with self._outbox.writing(step.tasks, guard) as statements:
            await self._db.batch(statements, logged=True)
            values = new.version, new.name, new.collaborative, len(new.tracks), new.changed_ms, new.deleted, msgspec.json.encode(new.tracks)
            change = new.owner, new.id, new.version, step.event_id
            done = await self._db.swap(_REPLACE, *values, new.owner, new.id, before, *change)
            with suppress(Unavailable):  # the guard will tell
                await (self._outbox.confirm(statements) if done else self._outbox.withdraw(statements))
        return done

    async def owned(self, owner: str, after: str = "", limit: int = PAGE) -> ListPage[Summary]:
        """See `Playlists`."""
        query = "SELECT id FROM playlists_by_owner WHERE owner = ? AND id > ? LIMIT ?"
        ids = [playlist_id for (playlist_id,) in await self._db.execute(query, owner, after, limit)]
        found = await self._summaries([(owner, playlist_id) for playlist_id in ids])
        return ListPage(found, ids[-1] if len(ids) == limit else None)

    async def summaries(self, topics: Sequence[Topic]) -> list[Summary]:
        """See `Playlists`."""
        return await self._summaries([names_of(topic) for topic in topics])

    async def _summaries(self, keys: Sequence[tuple[str, str]]) -> list[Summary]:
        query = f"{_SUMMARY} WHERE owner = ? AND id = ?"
        rows = await asyncio.gather(*(self._db.execute(query, *key) for key in keys))
        return [Summary(*row[:-1]) for found in rows for row in found if row[2] is not None and not row[-1]]
