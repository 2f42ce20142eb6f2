"""The epoch of a store: how a store that was put back is recognised, and that all nodes agree."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path

import pytest

from notification.epoch import FILE, StoreEpoch, is_put_back
from notification.ownership.core import NodeRecord
from notification.store_sqlite import SqliteStore
from tests.support.stored import module_context

# A clock on which no two readings are the same.
WALL = count(1_795_000_000).__next__


@asynccontextmanager
async def node(folder: Path, is_beside: bool = True) -> AsyncIterator[tuple[StoreEpoch, SqliteStore]]:
    """Gives a node that has opened its store, and will close it."""
    store = await SqliteStore.open(folder, 86_400.0, WALL)
    try:
        epoch = StoreEpoch(module_context(store, WALL), folder, is_beside=is_beside)
        await epoch.open()
        yield epoch, store
    finally:
        await store.close()


async def beat(epoch: StoreEpoch, store: SqliteStore, counter: int) -> None:
    """Does with `store` and `epoch` what the keeper does with every beat: the store has `counter`."""
    (last,) = [member.counter for member in await store.members()] or [0]
    assert await store.beat(NodeRecord("n1", "sto", "a", counter), last)
    epoch.reached(counter)


def copy(folder: Path) -> bytes:
    """Returns a copy of the store, as SQLite makes it while the node runs."""
    with closing(sqlite3.connect(folder / "notification.sqlite")) as db:
        return db.serialize()


def put_back(folder: Path, copied: bytes) -> None:
    """Restores a copy as docs/running.md says."""
    (folder / "notification.sqlite").write_bytes(copied)
    for suffix in ("-wal", "-shm"):
        (folder / f"notification.sqlite{suffix}").unlink(missing_ok=True)


async def lived(folder: Path) -> tuple[bytes, int]:
    """Lets a node live in `folder`; returns a copy of its store, made before its last beat, and its epoch."""
    async with node(folder) as (epoch, store):
        await beat(epoch, store, epoch.number + 1)
        copied = copy(folder)
        await beat(epoch, store, epoch.number + 2)
        return copied, epoch.number


async def test_an_epoch_outlives_the_node(tmp_path: Path) -> None:
    _, first = await lived(tmp_path)
    async with node(tmp_path) as (epoch, _):
        assert epoch.number == first > 0


async def test_a_store_that_was_put_back_begins_a_new_epoch_once(tmp_path: Path) -> None:
    copied, first = await lived(tmp_path)
    put_back(tmp_path, copied)
    async with node(tmp_path) as (epoch, _):
        second = epoch.number
        assert second > first
    async with node(tmp_path) as (epoch, _):
        assert epoch.number == second
    put_back(tmp_path, copied)
    async with node(tmp_path) as (epoch, _):
        assert epoch.number > second


async def test_a_store_that_was_put_back_into_a_new_folder_begins_a_new_epoch(tmp_path: Path) -> None:
    copied, first = await lived(tmp_path)
    put_back(tmp_path, copied)
    (tmp_path / FILE).unlink()
    async with node(tmp_path) as (epoch, _):
        assert epoch.number > first


async def test_a_node_that_is_new_to_a_store_elsewhere_changes_nothing(tmp_path: Path) -> None:
    """With Cassandra the folder of a node may be new, and the store is as it was."""
    _, first = await lived(tmp_path)
    (tmp_path / FILE).unlink()
    async with node(tmp_path, is_beside=False) as (epoch, _):
        assert epoch.number == first


async def test_all_nodes_on_one_store_come_to_the_same_epoch(tmp_path: Path) -> None:
    copied, _ = await lived(tmp_path)
    put_back(tmp_path, copied)
    async with node(tmp_path) as (one, _), node(tmp_path) as (other, store):
        assert one.number == other.number
        assert await store.begin_epoch(one.number + 7, one.number)  # as an operator does
        for each in (one, other):
            await each.read()
        assert one.number == other.number == await store.epoch()


@pytest.mark.parametrize("text", [b"", b"12", b"x" * 20])
async def test_a_file_that_cannot_be_read_is_as_none(tmp_path: Path, text: bytes) -> None:
    _, first = await lived(tmp_path)
    (tmp_path / FILE).write_bytes(text)
    async with node(tmp_path) as (epoch, _):
        assert epoch.number > first


@pytest.mark.parametrize(
    ("height", "remembered", "is_beside", "expected"),
    [(5, 5, True, False), (6, 5, True, False), (4, 5, True, True), (4, 5, False, True), (0, None, True, False), (4, None, False, False)],
)
def test_less_than_is_remembered_was_put_back(height: int, remembered: int | None, is_beside: bool, expected: bool) -> None:
    assert is_put_back(height, remembered, is_beside=is_beside) is expected
