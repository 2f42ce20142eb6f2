"""The contract of every store of what users set about others."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from infra.kernel.access import FOREVER_MS, Listening, Visibility
from infra.kernel.errors import Refused
from infra.runtime.cassandra.client import Cassandra
from services.social.privacy_store import MAX_EDITORS, MAX_PRIVATE, PlaylistKey, PlaylistPrivacy, PrivacyStore
from services.social.store_cassandra import use_cassandra
from services.social.store_sqlite import open_sqlite

MIX, OTHER = PlaylistKey("ann", "mix"), PlaylistKey("bob", "mix")
NOW_MS = int(time.time() * 1000)
HOUR_MS = 3_600_000


async def all_blocked(store: PrivacyStore, user: str) -> list[str]:
    """Returns whom `user` blocks, through pages."""
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        users, after = await store.blocks(user, after, 2)
        found += users
    return found


class PrivacyContract:
    """The contract of every store."""

    async def test_who_sees_what_one_plays_is_what_was_said_last(self, store: PrivacyStore) -> None:
        """AUTH-5."""
        assert await store.listening_of(["ann", "bob"]) == {}
        for wanted in Listening:
            await store.set_listening("ann", wanted)
            assert await store.listening_of(["bob", "ann", "cyd"]) == {"ann": wanted}
        await store.set_listening("bob", Listening.EVERYONE)
        assert await store.listening_of(["ann", "bob"]) == {"ann": Listening.NOBODY, "bob": Listening.EVERYONE}
        assert await store.listening_of([f"u{n}" for n in range(250)] + ["bob"]) == {"bob": Listening.EVERYONE}

    async def test_a_block_is_found_from_both_sides_until_it_is_taken_back(self, store: PrivacyStore) -> None:
        """AUTH-4."""
        for _ in range(2):
            await store.block("ann", "bob")
        await store.block("cyd", "ann")
        everybody = ["ann", "bob", "cyd", "dan"]
        assert [await store.blocked_among(user, everybody) for user in everybody] == [{"bob", "cyd"}, {"ann"}, {"ann"}, set()]
        assert (await all_blocked(store, "ann"), await all_blocked(store, "bob")) == (["bob"], [])
        for _ in range(2):
            await store.unblock("ann", "bob")
        assert [await store.blocked_among(user, everybody) for user in everybody] == [{"cyd"}, set(), {"ann"}, set()]

    async def test_each_of_two_may_block_the_other_and_takes_back_their_own_block_alone(self, store: PrivacyStore) -> None:
        """AUTH-4."""
        await store.block("ann", "bob")
        await store.block("bob", "ann")
        await store.unblock("ann", "bob")
        assert await store.blocked_among("ann", ["bob"]) == {"bob"}
        assert await store.blocked_among("bob", ["ann"]) == {"ann"}
        await store.unblock("bob", "ann")
        assert await store.blocked_among("ann", ["bob"]) == set()

    async def test_blocks_come_in_pages_by_name(self, store: PrivacyStore) -> None:
        for name in ("dan", "bob", "eve", "cyd", "fay"):
            await store.block("ann", name)
        assert await all_blocked(store, "ann") == ["bob", "cyd", "dan", "eve", "fay"]

    async def test_a_playlist_has_a_visibility_and_editors_each_set_for_itself(self, store: PrivacyStore) -> None:
        """AUTH-6, AUTH-7."""
        assert await store.playlists([MIX, OTHER]) == {}
        await store.set_editor(MIX, "bob", wanted=True)
        assert await store.playlists([MIX, OTHER]) == {MIX: PlaylistPrivacy(None, frozenset({"bob"}))}
        for wanted in Visibility:
            await store.set_visibility(MIX, wanted)
            assert await store.playlists([MIX]) == {MIX: PlaylistPrivacy(wanted, frozenset({"bob"}))}
        await store.set_editor(MIX, "cyd", wanted=True)
        await store.set_visibility(OTHER, Visibility.PRIVATE)
        for _ in range(2):
            await store.set_editor(MIX, "bob", wanted=False)
        assert await store.playlists([OTHER, MIX, PlaylistKey("ann", "other")]) == {
            MIX: PlaylistPrivacy(Visibility.PUBLIC, frozenset({"cyd"})),
            OTHER: PlaylistPrivacy(Visibility.PRIVATE),
        }

    async def test_a_list_of_editors_has_an_end(self, store: PrivacyStore) -> None:
        for n in range(MAX_EDITORS):
            await store.set_editor(MIX, f"u{n}", wanted=True)
        with pytest.raises(Refused, match="too-large"):
            await store.set_editor(MIX, "one-more", wanted=True)
        await store.set_editor(MIX, "u1", wanted=True)
        assert len((await store.playlists([MIX]))[MIX].editors) == MAX_EDITORS

    async def test_a_private_session_lasts_until_its_end_or_until_it_is_ended(self, store: PrivacyStore) -> None:
        """AUTH-8."""
        await store.set_private("ann", "desk", FOREVER_MS, NOW_MS)
        await store.set_private("ann", "phone", NOW_MS + HOUR_MS, NOW_MS)
        await store.set_private("bob", "desk", NOW_MS + HOUR_MS, NOW_MS)
        assert await store.private_clients("ann", NOW_MS) == {"desk": FOREVER_MS, "phone": NOW_MS + HOUR_MS}
        assert await store.private_clients("ann", NOW_MS + HOUR_MS - 1) == {"desk": FOREVER_MS, "phone": NOW_MS + HOUR_MS}
        assert await store.private_clients("ann", NOW_MS + HOUR_MS) == {"desk": FOREVER_MS}
        for _ in range(2):
            await store.set_private("ann", "desk", 0, NOW_MS)
        assert await store.private_clients("ann", NOW_MS) == {"phone": NOW_MS + HOUR_MS}
        assert await store.private_clients("bob", NOW_MS) == {"desk": NOW_MS + HOUR_MS}

    async def test_so_many_devices_are_private_at_once_and_no_more(self, store: PrivacyStore) -> None:
        for n in range(MAX_PRIVATE):
            await store.set_private("ann", f"c{n}", FOREVER_MS, NOW_MS)
        with pytest.raises(Refused, match="too-large"):
            await store.set_private("ann", "one-more", FOREVER_MS, NOW_MS)
        await store.set_private("ann", "c1", NOW_MS + HOUR_MS, NOW_MS)
        assert len(await store.private_clients("ann", NOW_MS)) == MAX_PRIVATE


class TestSqlite(PrivacyContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[PrivacyStore]:
        stores = await open_sqlite(tmp_path)
        yield stores.privacy
        await stores.close()


class TestCassandra(PrivacyContract):
    @pytest.fixture
    async def store(self, cassandra_store: Cassandra) -> PrivacyStore:
        return (await use_cassandra(cassandra_store, "sto/f1", time.time)).privacy
