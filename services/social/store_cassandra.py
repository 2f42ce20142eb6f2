"""What social remembers, in Cassandra. Everything but the salt is idempotent."""

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
from .privacy_cassandra import PrivacyCassandra
from .store import MAX_CONTACTS, Expecting, KnownContact, Linked, Matches, SocialStores, check_count

T = TypeVar("T")

LOOKED_UP: Final = 100
SETTLED: Final = 25

_REMEMBER: Final = "INSERT INTO social_contacts (member, provider, contact, vouched) VALUES (?, ?, ?, ?)"
_SETTLE: Final = "INSERT INTO social_contacts (member, provider, contact, settled) VALUES (?, ?, ?, true)"
_WAIT: Final = "INSERT INTO social_waiting (provider, contact, member, vouched) VALUES (?, ?, ?, ?)"
_STOP_WAITING: Final = "DELETE FROM social_waiting WHERE provider = ? AND contact = ? AND member = ?"
_CONTACTS: Final = "SELECT contact, settled, vouched FROM social_contacts WHERE member = ? AND provider = ?"


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
    return SocialStores(social, PrivacyCassandra(db), FollowsCassandra(db, "social", max_followed), outbox, db.close)


class SocialStoreCassandra:
    """The store in a keyspace; see `SocialStore`. `db` has the modules "outbox" and "social"."""

    def __init__(self, db: Cassandra, salt: bytes, outbox: OutboxCassandra, max_contacts: int) -> None:
        self.salt = salt
        self._db, self._outbox, self._max_contacts = db, outbox, max_contacts

    async def link(self, user: str, provider: str, contacts: Sequence[bytes], task: OutboxTask, vouched_id: bytes | None = None) -> None:
        """See `SocialStore`. The task is written last: a caller without an answer repeats, and finds what was written."""
        vouched = vouched_id is not None
        known = {contact: (settled, before) async for contact, settled, before in self._contacts(user, provider)}
        check_count(len(known.keys() | contacts), self._max_contacts)
        if vouched_id is not None:
            there = "INSERT INTO social_identities (provider, id, member) VALUES (?, ?, ?)"
            back = "INSERT INTO social_identity_of (member, provider, id) VALUES (?, ?, ?)"
            await self._db.batch([(there, (provider, vouched_id, user)), (back, (user, provider, vouched_id))], logged=True)
        news = [contact for contact in contacts if contact not in known or (vouched and not known[contact][1])]
        await self._db.execute("INSERT INTO social_providers (member, provider) VALUES (?, ?)", user, provider)
        await self._db.many(_REMEMBER, ((user, provider, contact, vouched) for contact in news))
        waiting = [contact for contact in contacts if not known.get(contact, (False, False))[0]]
        again = [contact for contact in waiting if vouched or not known.get(contact, (False, False))[1]]
        await self._db.many(_WAIT, ((provider, contact, user, vouched) for contact in again))
        await self.promise([task])

    async def _id(self, user: str, provider: str) -> bytes | None:
        """Returns the id of `user`, on which both tables agree."""
        rows = await self._db.execute("SELECT id FROM social_identity_of WHERE member = ? AND provider = ?", user, provider)
        if not rows:
            return None
        me: bytes = rows[0][0]
        owners = await self._db.execute("SELECT member FROM social_identities WHERE provider = ? AND id = ?", provider, me)
        return me if owners == [(user,)] else None

    async def _contacts(self, user: str, provider: str) -> AsyncIterator[tuple[bytes, bool, bool]]:
        async for rows in self._db.pages(_CONTACTS, user, provider):
            for contact, settled, vouched in rows:
                yield contact, bool(settled), bool(vouched)

    async def matches(self, user: str, provider: str, limit: int) -> Matches:
        """See `SocialStore`."""
        return Matches(await self._known(user, provider, limit), await self._waiting(user, provider, limit))

    async def _waiting(self, user: str, provider: str, limit: int) -> list[Expecting]:
        me = await self._id(user, provider)
        if me is None:
            return []
        query = "SELECT member, vouched FROM social_waiting WHERE provider = ? AND contact = ? LIMIT ?"
        return [Expecting(who, bool(vouched)) for who, vouched in await self._db.execute(query, provider, me, limit)]

    async def _known(self, user: str, provider: str, limit: int) -> list[KnownContact]:
        unsettled = iter([(contact, vouched) async for contact, settled, vouched in self._contacts(user, provider) if not settled])
        found: list[KnownContact] = []
        while len(found) < limit and (some := dict(islice(unsettled, LOOKED_UP))):
            users = await self._users(provider, list(some))
            found += [KnownContact(contact, who, some[contact]) for contact, who in users.items()]
        return found[:limit]

    async def _users(self, provider: str, ids: list[bytes]) -> dict[bytes, str]:
        """Returns id -> user, for those of `ids` on which both tables agree."""
        query = "SELECT id, member FROM social_identities WHERE provider = ? AND id IN ?"
        users: dict[bytes, str] = dict(await self._db.execute(query, provider, ids))
        if not users:
            return {}
        query = "SELECT member, id FROM social_identity_of WHERE member IN ? AND provider = ?"
        back: dict[str, bytes] = dict(await self._db.execute(query, list(set(users.values())), provider))
        return {contact: who for contact, who in users.items() if back.get(who) == contact}

    async def settle(self, user: str, provider: str, matches: Matches) -> None:
        """See `SocialStore`."""
        me = await self._id(user, provider)
        pairs = [(user, known.contact) for known in matches.contacts]
        pairs += [(waiting.user, me) for waiting in matches.waiting if me is not None]
        for some in _chunks(pairs, SETTLED):
            settled = [(_SETTLE, (who, provider, contact)) for who, contact in some]
            no_longer = [(_STOP_WAITING, (provider, contact, who)) for who, contact in some]
            await self._db.batch(settled + no_longer, logged=True)

    async def unlink(self, user: str, provider: str) -> None:
        """See `SocialStore`."""
        contacts = [contact async for contact, _, _ in self._contacts(user, provider)]
        await self._db.many(_STOP_WAITING, ((provider, contact, user) for contact in contacts))
        await self._db.execute("DELETE FROM social_contacts WHERE member = ? AND provider = ?", user, provider)
        me = await self._id(user, provider)
        if me is not None:
            await self._db.execute("DELETE FROM social_identities WHERE provider = ? AND id = ?", provider, me)
        await self._db.execute("DELETE FROM social_identity_of WHERE member = ? AND provider = ?", user, provider)
        await self._db.execute("DELETE FROM social_providers WHERE member = ? AND provider = ?", user, provider)

    async def links(self, user: str) -> dict[str, Linked]:
        """See `SocialStore`."""
        rows = await self._db.execute("SELECT provider FROM social_providers WHERE member = ?", user)
        return {provider: await self._linked(user, provider) for provider in sorted(provider for (provider,) in rows)}

    async def _linked(self, user: str, provider: str) -> Linked:
        query = "SELECT count(*) FROM social_contacts WHERE member = ? AND provider = ?"
        ((count,),) = await self._db.execute(query, user, provider)
        return Linked(count, await self._id(user, provider) is not None)

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
