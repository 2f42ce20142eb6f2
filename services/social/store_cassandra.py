"""What social remembers, in Cassandra. Conditional writes decide whose an external id is. All else is idempotent."""

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from infra.runtime.cassandra.client import Cassandra, CassandraOptions

from ..cql import scripts
from ..follows import MAX_TOPICS
from ..follows_cassandra import FollowsCassandra
from ..outbox_cassandra import OutboxCassandra
from ..tasks import OutboxTask
from .store import MAX_CONTACTS, Matches, SocialStores, check_claim, check_count

T = TypeVar("T")

LOOKED_UP: Final = 100
SETTLED: Final = 25

_REMEMBER: Final = "INSERT INTO social_contacts (member, provider, contact) VALUES (?, ?, ?)"
_SETTLE: Final = "INSERT INTO social_contacts (member, provider, contact, settled) VALUES (?, ?, ?, true)"
_WAIT: Final = "INSERT INTO social_waiting (provider, contact, member) VALUES (?, ?, ?)"
_STOP_WAITING: Final = "DELETE FROM social_waiting WHERE provider = ? AND contact = ? AND member = ?"
_CONTACTS: Final = "SELECT contact, settled FROM social_contacts WHERE member = ? AND provider = ?"


async def open_cassandra(
    options: CassandraOptions, node: str, wall: Callable[[], float], max_followed: int = MAX_TOPICS, max_contacts: int = MAX_CONTACTS
) -> SocialStores:
    """Opens the stores in a keyspace. `node` names this service in all its lives. Raises ConfigError and Unavailable."""
    db = await Cassandra.open(options)
    try:
        return await use_cassandra(db, node, wall, max_followed, max_contacts)
    except BaseException:
        await db.close()
        raise


async def use_cassandra(
    db: Cassandra, node: str, wall: Callable[[], float], max_followed: int = MAX_TOPICS, max_contacts: int = MAX_CONTACTS
) -> SocialStores:
    """Opens the stores in `db`; makes its tables if they are not there. `node` names this service in all its lives."""
    for module in ("follows", "outbox", "social"):
        await db.migrate(module, scripts(module))
    outbox = await OutboxCassandra.open(db, f"social/{node}", wall)
    social = SocialStoreCassandra(db, await _salt(db), outbox, max_contacts)
    return SocialStores(social, FollowsCassandra(db, "social", max_followed), outbox, db.close)


class SocialStoreCassandra:
    """The store in a keyspace; see `SocialStore`. `db` has the modules "outbox" and "social"."""

    def __init__(self, db: Cassandra, salt: bytes, outbox: OutboxCassandra, max_contacts: int) -> None:
        self.salt = salt
        self._db, self._outbox, self._max_contacts = db, outbox, max_contacts

    async def link(self, user: str, provider: str, me: bytes, contacts: Sequence[bytes], task: OutboxTask) -> None:
        """See `SocialStore`. The task is written last: a caller without an answer repeats, and finds what was written."""
        known = {contact: settled async for contact, settled in self._contacts(user, provider)}
        check_count(len(known.keys() | contacts), self._max_contacts)
        await self._claim(user, provider, me)
        await self._db.many(_REMEMBER, ((user, provider, contact) for contact in contacts if contact not in known))
        await self._db.many(_WAIT, ((provider, contact, user) for contact in contacts if not known.get(contact)))
        await self.promise([task])

    async def _claim(self, user: str, provider: str, me: bytes) -> None:
        # First the link of the user, then the account: if the account is another user's, the link is taken back. A crash between
        # the two leaves a link that the same user may claim again, and that blocks nobody else.
        await self._db.swap("INSERT INTO social_links (member, provider, id) VALUES (?, ?, ?) IF NOT EXISTS", user, provider, me)
        check_claim(provider, me, await self._id(user, provider))
        await self._db.swap("INSERT INTO social_accounts (provider, id, member) VALUES (?, ?, ?) IF NOT EXISTS", provider, me, user)
        owners = await self._db.execute("SELECT member FROM social_accounts WHERE provider = ? AND id = ?", provider, me)
        if owners != [(user,)]:
            await self._db.swap("DELETE FROM social_links WHERE member = ? AND provider = ? IF id = ?", user, provider, me)
            check_claim(provider, me, None)

    async def _id(self, user: str, provider: str) -> bytes | None:
        rows = await self._db.execute("SELECT id FROM social_links WHERE member = ? AND provider = ?", user, provider)
        return rows[0][0] if rows else None

    async def _contacts(self, user: str, provider: str) -> AsyncIterator[tuple[bytes, bool]]:
        async for rows in self._db.pages(_CONTACTS, user, provider):
            for contact, settled in rows:
                yield contact, bool(settled)

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """See `SocialStore`."""
        me = await self._id(user, provider)
        if me is None:
            return Matches([], [])
        query = "SELECT member FROM social_waiting WHERE provider = ? AND contact = ? LIMIT ?"
        waiting = [who for (who,) in await self._db.execute(query, provider, me, limit)]
        return Matches(await self._users(user, provider, limit), waiting)

    async def _users(self, user: str, provider: str, limit: int) -> list[tuple[bytes, str]]:
        query = "SELECT id, member FROM social_accounts WHERE provider = ? AND id IN ?"
        unsettled = iter([contact async for contact, settled in self._contacts(user, provider) if not settled])
        found: list[tuple[bytes, str]] = []
        while len(found) < limit and (some := list(islice(unsettled, LOOKED_UP))):
            found += [(contact, who) for contact, who in await self._db.execute(query, provider, some)]
        return found[:limit]

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """See `SocialStore`."""
        me = await self._id(user, provider)
        pairs = [(user, contact) for contact, _ in matches.contacts] + [(who, me) for who in matches.waiting if me is not None]
        for some in _chunks(pairs, SETTLED):
            settled = [(_SETTLE, (who, provider, contact)) for who, contact in some]
            no_longer = [(_STOP_WAITING, (provider, contact, who)) for who, contact in some]
            await self._db.batch(settled + no_longer, logged=True)

    async def unlink(self, user: str, provider: str) -> None:
        """See `SocialStore`."""
        contacts = [contact async for contact, _ in self._contacts(user, provider)]
        await self._db.many(_STOP_WAITING, ((provider, contact, user) for contact in contacts))
        await self._db.execute("DELETE FROM social_contacts WHERE member = ? AND provider = ?", user, provider)
        me = await self._id(user, provider)
        if me is not None:
            await self._db.swap("DELETE FROM social_accounts WHERE provider = ? AND id = ? IF member = ?", provider, me, user)
            await self._db.swap("DELETE FROM social_links WHERE member = ? AND provider = ? IF id = ?", user, provider, me)

    async def links(self, user: str) -> dict[str, int]:
        """See `SocialStore`."""
        query = "SELECT count(*) FROM social_contacts WHERE member = ? AND provider = ?"
        providers = [provider for (provider,) in await self._db.execute("SELECT provider FROM social_links WHERE member = ?", user)]
        return {provider: (await self._db.execute(query, user, provider))[0][0] for provider in providers}

    async def set_posting(self, user: str, wanted: bool) -> None:
        """See `SocialStore`."""
        change = "INSERT INTO social_posting (member) VALUES (?)" if wanted else "DELETE FROM social_posting WHERE member = ?"
        await self._db.execute(change, user)

    async def posting(self, user: str) -> bool:
        """See `SocialStore`."""
        return bool(await self._db.execute("SELECT member FROM social_posting WHERE member = ?", user))

    async def promise(self, tasks: Sequence[OutboxTask]) -> None:
        """See `SocialStore`."""
        for some in _chunks(tasks, SETTLED):
            async with self._outbox.writing(some) as statements:
                await self._db.batch(statements, logged=True)


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


async def _salt(db: Cassandra) -> bytes:
    await db.swap("INSERT INTO social_settings (name, value) VALUES ('salt', ?) IF NOT EXISTS", secrets.token_bytes(32))
    ((salt,),) = await db.execute("SELECT value FROM social_settings WHERE name = 'salt'")
    return bytes(salt)
