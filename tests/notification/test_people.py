"""The users whom the owner of their shard remembers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from notification.people import People
from notification.shards import SHARDS, shard_of
from notification.store import Device
from notification.store_sqlite import SqliteStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(tmp_path, 90 * 86_400, lambda: 0.0)
    yield opened
    await opened.close()


async def test_a_mark_that_is_not_stored_yet_outlives_a_change_of_what_the_user_prefers(store: SqliteStore) -> None:
    """SB-43: the change counts from now on, and the marks stay without a gap."""
    people = People(store)
    ann = (await people.get(["ann"]))["ann"]
    ann.last = 5
    await store.save_preferences("ann", b'{"tz":"UTC"}')
    await store.add_device("ann", Device("https://push.example.org/1", "key", "auth"))
    await people.refresh("ann")
    known = (await people.get(["ann"]))["ann"]
    assert (known.last, known.preferences, known.has_devices) == (5, b'{"tz":"UTC"}', True)


async def test_users_of_a_lost_shard_are_read_anew(store: SqliteStore) -> None:
    people = People(store)
    for user in ("ann", "bob"):
        (await people.get([user]))[user].last = 5
    assert shard_of("ann") != shard_of("bob")
    people.forget([shard_of("ann")])
    found = await people.get(["ann", "bob"])
    assert (found["ann"].last, found["bob"].last) == (0, 5)
    people.forget(range(SHARDS))
    assert (await people.get(["bob"]))["bob"].last == 0
