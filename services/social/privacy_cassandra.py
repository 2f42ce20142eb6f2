"""What users set about others, in Cassandra. Every write is idempotent, and says what somebody wants, so the last one holds."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from infra.kernel.access import FOREVER_MS, Listening, Visibility
from infra.runtime.cassandra.client import Cassandra

from ..follows import PAGE
from ..list_page import ListPage
from .privacy_store import PlaylistKey, PlaylistPrivacy, check_blocks, check_editors, check_private

T = TypeVar("T")

# So many names at most are asked for in one query: each may be a partition of its own.
LOOKED_UP: Final = 100
_BLOCK: Final = (
    "INSERT INTO social_blocks (member, other) VALUES (?, ?)",
    "INSERT INTO social_blocked_by (member, other) VALUES (?, ?)",
)
_UNBLOCK: Final = (
    "DELETE FROM social_blocks WHERE member = ? AND other = ?",
    "DELETE FROM social_blocked_by WHERE member = ? AND other = ?",
)
_SET_EDITORS: Final = {
    True: "UPDATE social_playlists SET editors = editors + ? WHERE owner = ? AND playlist = ?",
    False: "UPDATE social_playlists SET editors = editors - ? WHERE owner = ? AND playlist = ?",
}


class PrivacyCassandra:
    """The settings in a keyspace; see `PrivacyStore`. `db` has the module "social". Two changes at once may pass a bound by one."""

    def __init__(self, db: Cassandra) -> None:
        self._db = db

    async def set_listening(self, user: str, wanted: Listening) -> None:
        """See `PrivacyStore`."""
        await self._db.execute("INSERT INTO social_listening (member, wanted) VALUES (?, ?)", user, wanted.value)

    async def listening_of(self, users: Sequence[str]) -> dict[str, Listening]:
        """See `PrivacyStore`."""
        query = "SELECT member, wanted FROM social_listening WHERE member IN ?"
        some = await asyncio.gather(*(self._db.execute(query, chunk) for chunk in _chunks(users)))
        return {user: Listening(wanted) for rows in some for user, wanted in rows}

    async def block(self, user: str, other: str) -> None:
        """See `PrivacyStore`."""
        ((count,),) = await self._db.execute("SELECT count(*) FROM social_blocks WHERE member = ?", user)
        check_blocks(count + 1)
        await self._change(_BLOCK, user, other)

    async def unblock(self, user: str, other: str) -> None:
        """See `PrivacyStore`."""
        await self._change(_UNBLOCK, user, other)

    async def _change(self, cql: tuple[str, str], user: str, other: str) -> None:
        there, back = cql
        await self._db.batch([(there, (user, other)), (back, (other, user))], logged=True)

    async def blocks(self, user: str, after: str = "", limit: int = PAGE) -> ListPage[str]:
        """See `PrivacyStore`."""
        query = "SELECT other FROM social_blocks WHERE member = ? AND other > ? LIMIT ?"
        users = [other for (other,) in await self._db.execute(query, user, after, limit)]
        return ListPage(users, users[-1] if len(users) == limit else None)

    async def blocked_among(self, user: str, others: Sequence[str]) -> set[str]:
        """See `PrivacyStore`."""
        queries = [f"SELECT other FROM {table} WHERE member = ? AND other IN ?" for table in ("social_blocks", "social_blocked_by")]
        some = await asyncio.gather(*(self._db.execute(query, user, chunk) for query in queries for chunk in _chunks(others)))
        return {other for rows in some for (other,) in rows}

    async def set_visibility(self, playlist: PlaylistKey, wanted: Visibility) -> None:
        """See `PrivacyStore`."""
        await self._db.execute("INSERT INTO social_playlists (owner, playlist, wanted) VALUES (?, ?, ?)", *playlist, wanted.value)

    async def set_editor(self, playlist: PlaylistKey, editor: str, *, wanted: bool) -> None:
        """See `PrivacyStore`."""
        if wanted:
            known = (await self.playlists([playlist])).get(playlist, PlaylistPrivacy())
            check_editors(len(known.editors | {editor}))
        await self._db.execute(_SET_EDITORS[wanted], {editor}, *playlist)

    async def playlists(self, playlists: Sequence[PlaylistKey]) -> dict[PlaylistKey, PlaylistPrivacy]:
        """See `PrivacyStore`."""
        query = "SELECT owner, playlist, wanted, editors FROM social_playlists WHERE owner = ? AND playlist = ?"
        some = await asyncio.gather(*(self._db.execute(query, *key) for key in playlists))
        return {
            PlaylistKey(owner, id_): PlaylistPrivacy(wanted and Visibility(wanted), frozenset(editors or ()))
            for rows in some
            for owner, id_, wanted, editors in rows
        }

    async def set_private(self, user: str, client: str, until_ms: int, now_ms: int) -> None:
        """See `PrivacyStore`."""
        if until_ms <= now_ms:
            await self._db.execute("DELETE FROM social_private WHERE member = ? AND client = ?", user, client)
            return
        check_private(len((await self.private_clients(user, now_ms)).keys() | {client}))
        # Those that end of themselves leave the table by themselves. 0 seconds mean: never.
        seconds = 0 if until_ms == FOREVER_MS else (until_ms - now_ms) // 1000 + 1
        change = "INSERT INTO social_private (member, client, until_ms) VALUES (?, ?, ?) USING TTL ?"
        await self._db.execute(change, user, client, until_ms, seconds)

    async def private_clients(self, user: str, now_ms: int) -> dict[str, int]:
        """See `PrivacyStore`."""
        rows = await self._db.execute("SELECT client, until_ms FROM social_private WHERE member = ?", user)
        return {client: until_ms for client, until_ms in rows if until_ms > now_ms}


def _chunks(items: Sequence[T]) -> Iterator[list[T]]:
    return (list(items[start : start + LOOKED_UP]) for start in range(0, len(items), LOOKED_UP))
