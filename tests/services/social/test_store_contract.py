"""The contract of every store of social."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from infra.kernel.errors import Refused
from infra.runtime.cassandra.client import Cassandra
from services.social.core import hashed
from services.social.store import Expecting, KnownContact, Linked, Matches, SocialStores
from services.social.store_cassandra import use_cassandra
from services.social.store_sqlite import open_sqlite
from services.tasks import OutboxTask

P = "facebook"
NOBODY = Matches([], [])


def h(name: str) -> bytes:
    return hashed(b"salt", P, name)


async def link(stores: SocialStores, user: str, *contacts: str, provider: str = P, me: str = "", vouched: bool = True) -> None:
    """Links `user`, who is `me` at the provider, as a service does, or as users do for themselves."""
    task = OutboxTask(f"{user}-{provider}", user, "match", b"")
    await stores.social.link(user, provider, [h(contact) for contact in contacts], task, h(me or user) if vouched else None)


async def matches(stores: SocialStores, user: str, limit: int = 100) -> tuple[list[str], list[str]]:
    found = await stores.social.matches(user, P, limit)
    assert len(found.contacts) <= limit
    assert len(found.waiting) <= limit
    return sorted(known.user for known in found.contacts), sorted(waiting.user for waiting in found.waiting)


class SocialContract:
    """The contract of every store. `stores` remember 100 contacts of each user."""

    async def test_who_knows_whom_is_found_from_both_sides(self, stores: SocialStores) -> None:
        """SB-4 and SB-5: contacts who are users, and users who remembered the newcomer."""
        await link(stores, "ann", "bob", "cyd")
        assert await matches(stores, "ann") == ([], [])
        await link(stores, "bob")
        assert await matches(stores, "bob") == ([], ["ann"])
        assert await matches(stores, "ann") == (["bob"], [])
        await link(stores, "dan", "ann", "bob", "eve")
        assert await matches(stores, "dan") == (["ann", "bob"], [])

    async def test_what_is_settled_is_no_match_any_more_from_either_side_whatever_is_linked_again(self, stores: SocialStores) -> None:
        await link(stores, "ann", "bob")
        await link(stores, "bob", "ann")
        found = await stores.social.matches("bob", P, 10)
        assert (found.contacts, found.waiting) == ([KnownContact(h("ann"), "ann", True)], [Expecting("ann", True)])
        for _ in range(2):
            await stores.social.settle("bob", P, found)
            assert await matches(stores, "bob") == ([], [])
            assert await matches(stores, "ann") == ([], [])
            await link(stores, "ann", "bob")
            await link(stores, "bob", "ann")
        assert await matches(stores, "bob") == ([], [])

    async def test_many_matches_come_a_part_at_a_time(self, stores: SocialStores) -> None:
        users = [f"u{n}" for n in range(25)]
        for user in users:
            await link(stores, user, "ann")
        await link(stores, "ann", *users)
        contacts: set[str] = set()
        waiting: set[str] = set()
        rounds = 0
        while any(found := await stores.social.matches("ann", P, 10)):
            assert len(found.contacts) <= 10
            assert len(found.waiting) <= 10
            contacts |= {known.user for known in found.contacts}
            waiting |= {each.user for each in found.waiting}
            await stores.social.settle("ann", P, found)
            rounds += 1
            assert rounds < 20
        assert contacts == waiting == set(users)

    async def test_providers_do_not_know_of_each_other(self, stores: SocialStores) -> None:
        await link(stores, "ann", "bob")
        await link(stores, "bob", provider="address-book")
        assert await matches(stores, "ann") == ([], [])
        assert await stores.social.matches("bob", "address-book", 10) == NOBODY

    async def test_what_users_say_of_themselves_finds_them_not_and_takes_nothing_from_anybody(self, stores: SocialStores) -> None:
        await link(stores, "eve", "bob", me="ann", vouched=False)
        await link(stores, "cyd", "ann")
        assert await matches(stores, "eve") == ([], [])
        await link(stores, "ann", "bob")
        assert await matches(stores, "ann") == ([], ["cyd"])
        assert await matches(stores, "cyd") == (["ann"], [])
        assert (await stores.social.links("eve"), await stores.social.links("ann")) == ({P: Linked(1, False)}, {P: Linked(1, True)})

    async def test_an_id_is_whose_a_service_said_last_and_a_user_has_one(self, stores: SocialStores) -> None:
        await link(stores, "cyd", "x", "y")
        await link(stores, "ann", me="x")
        await link(stores, "bob", me="x")
        assert await matches(stores, "cyd") == (["bob"], [])
        assert (await matches(stores, "ann"), await matches(stores, "bob")) == (([], []), ([], ["cyd"]))
        assert [(await stores.social.links(user))[P].is_verified for user in ("ann", "bob")] == [False, True]
        await link(stores, "bob", me="y")
        assert await matches(stores, "cyd") == (["bob"], [])
        await stores.social.settle("cyd", P, await stores.social.matches("cyd", P, 10))
        await link(stores, "ann", me="x")
        assert await matches(stores, "cyd") == (["ann"], [])

    async def test_of_many_who_are_said_to_have_an_id_at_once_one_has_it(self, stores: SocialStores) -> None:
        await asyncio.gather(*(link(stores, f"u{n}", me="x") for n in range(8)))
        await link(stores, "ann", "x")
        assert len((await matches(stores, "ann"))[0]) == 1
        linked = [(await stores.social.links(f"u{n}"))[P] for n in range(8)]
        assert sum(each.is_verified for each in linked) == 1

    async def test_a_contact_is_vouched_for_once_a_service_has_said_so(self, stores: SocialStores) -> None:
        await link(stores, "bob")
        await link(stores, "ann", "bob", vouched=False)
        assert (await stores.social.matches("ann", P, 10)).contacts == [KnownContact(h("bob"), "bob", False)]
        assert (await stores.social.matches("bob", P, 10)).waiting == [Expecting("ann", False)]
        for vouched in (True, False):
            await link(stores, "ann", "bob", vouched=vouched)
            assert (await stores.social.matches("ann", P, 10)).contacts == [KnownContact(h("bob"), "bob", True)]
            assert (await stores.social.matches("bob", P, 10)).waiting == [Expecting("ann", True)]

    async def test_unlinking_forgets_id_and_contacts_and_gives_the_id_free(self, stores: SocialStores) -> None:
        await link(stores, "ann", "bob", "cyd", me="x")
        assert await stores.social.links("ann") == {P: Linked(2, True)}
        for _ in range(2):
            await stores.social.unlink("ann", P)
        assert await stores.social.links("ann") == {}
        await link(stores, "bob")
        assert await matches(stores, "bob") == ([], [])
        await link(stores, "dan", me="x")
        await link(stores, "ann", me="y")

    async def test_linking_promises_in_the_same_breath(self, stores: SocialStores) -> None:
        await link(stores, "ann", "bob")
        await stores.social.promise([OutboxTask("a", "k", "op", b"1"), OutboxTask("b", "k", "op", b"2")])
        await stores.social.promise([])
        undone = await stores.outbox.undone(0, 10)
        assert sorted((stored.task.id, stored.task.body) for stored in undone) == [("a", b"1"), ("ann-facebook", b""), ("b", b"2")]

    async def test_an_address_book_that_grows_without_end_is_refused(self, stores: SocialStores) -> None:
        await link(stores, "ann", *(str(n) for n in range(60)))
        await link(stores, "ann", *(str(n) for n in range(30, 100)))
        with pytest.raises(Refused, match="too-large"):
            await link(stores, "ann", "one more")
        assert await stores.social.links("ann") == {P: Linked(100, True)}

    async def test_nobody_wants_posts_who_has_not_said_so(self, stores: SocialStores) -> None:
        """SB-34."""
        assert not await stores.social.posting("ann")
        for _ in range(2):
            await stores.social.set_posting("ann", True)
            assert await stores.social.posting("ann")
        for _ in range(2):
            await stores.social.set_posting("ann", False)
            assert not await stores.social.posting("ann")


class TestSqlite(SocialContract):
    @pytest.fixture
    async def stores(self, tmp_path: Path) -> AsyncIterator[SocialStores]:
        stores = await open_sqlite(tmp_path, max_contacts=100)
        yield stores
        await stores.close()


class TestCassandra(SocialContract):
    @pytest.fixture
    async def stores(self, cassandra_store: Cassandra) -> SocialStores:
        return await use_cassandra(cassandra_store, "sto/f1", time.time, max_contacts=100)

    async def test_the_salt_is_made_once(self, cassandra_store: Cassandra, stores: SocialStores) -> None:
        again = await use_cassandra(cassandra_store, "sto/f2", time.time)
        assert again.social.salt == stores.social.salt
        assert len(again.social.salt) >= 16


async def test_the_salt_is_made_once(tmp_path: Path) -> None:
    one = await open_sqlite(tmp_path / "a")
    await one.close()
    again, other = await open_sqlite(tmp_path / "a"), await open_sqlite(tmp_path / "b")
    assert one.social.salt == again.social.salt != other.social.salt
    assert len(one.social.salt) >= 16
    await again.close()
    await other.close()
