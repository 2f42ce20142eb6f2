"""The log of a node: parts that come and go, nothing given out twice, nothing passed over."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.errors import Unavailable
from notification.log import Log
from notification.ownership.core import FencingToken, NodeRecord
from notification.shards import US_PER_MS, by_shard, part_of, shard_of
from notification.store import LogRow
from notification.store_sqlite import SqliteStore

NOW_MS = 1_790_000_000_000
USERS = [f"u{n}" for n in range(20)]
SHARDS = sorted({shard_of(user) for user in USERS})


class Lease:
    """The fence of the log; `node` "" is none."""

    def __init__(self) -> None:
        self.node = "n1"

    def __call__(self) -> FencingToken:
        if not self.node:
            raise Unavailable("no lease")
        return FencingToken(self.node, NOW_MS * US_PER_MS)


class Slow(SqliteStore):
    """A store that holds appends back, and fails to read, when told to."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.may_append = asyncio.Event()
        self.may_append.set()
        self.is_readable = True

    async def append(self, rows: Sequence[LogRow], fence: FencingToken | None = None) -> None:
        await super().append(rows, fence)
        await self.may_append.wait()

    async def rows(self, after: Mapping[int, int], limit: int) -> dict[int, list[LogRow]]:
        if not self.is_readable:
            raise Unavailable("not now")
        return await super().rows(after, limit)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Slow]:
    opened = await Slow.open(tmp_path, 90 * 86_400, lambda: NOW_MS / 1000)
    assert isinstance(opened, Slow)
    for node in ("n1", "n2"):
        await opened.beat(NodeRecord(node, "sto", node, 1), 0)
    yield opened
    await opened.close()


@pytest.fixture
def lease() -> Lease:
    return Lease()


async def owning(store: Slow, lease: Lease, now_ms: int = NOW_MS) -> Log:
    log = Log(store, lease)
    await log.own(SHARDS, now_ms)
    return log


async def append(log: Log, event: str, now_ms: int = NOW_MS, is_bulk: bool = False) -> None:
    await log.append(by_shard(USERS), event, 0, is_bulk, now_ms)


async def drained(log: Log) -> list[LogRow]:
    found: list[LogRow] = []
    while log.backlog:
        rows = await log.take(7)
        log.done(rows)
        found += rows
    return found


async def test_everything_is_given_out_once(store: Slow, lease: Lease) -> None:
    log = await owning(store, lease)
    for n in range(3):
        await append(log, f"e{n}", is_bulk=n == 1)
    rows = await drained(log)
    assert sorted((row.event, row.user) for row in rows) == sorted((f"e{n}", user) for n in range(3) for user in USERS)
    assert not any(log.is_inherited(row) for row in rows)


async def test_the_next_owner_goes_on_where_the_last_one_saved_and_doubts_what_was_there(store: Slow, lease: Lease) -> None:
    """SB-62. Also when the new owner's clock is behind: its rows come after what is there, and replace none of it."""
    first = await owning(store, lease)
    for n in range(2):
        await append(first, f"e{n}")
    first.done(await first.take(20))
    await first.save()
    lease.node = "n2"
    second = await owning(store, lease, NOW_MS - 1000)
    rows = await drained(second)
    assert len(rows) == 20
    assert all(second.is_inherited(row) for row in rows)
    await append(second, "e2", NOW_MS - 1000)
    rows = await drained(second)
    assert {row.event for row in rows} == {"e2"}
    assert len(rows) == 20
    assert not any(second.is_inherited(row) for row in rows)


async def test_shards_are_left_when_what_was_begun_is_done(store: Slow, lease: Lease) -> None:
    log = await owning(store, lease)
    await append(log, "e0")
    rows = await log.take(5)
    store.may_append.clear()
    appending = asyncio.create_task(append(log, "e1"))
    await asyncio.sleep(0)
    leaving = asyncio.create_task(log.hand_over(SHARDS))
    await asyncio.sleep(0)
    assert not any(log.owns(shard) for shard in SHARDS)
    assert await log.take(100) == []
    log.done(rows)
    await asyncio.sleep(0)
    assert not leaving.done()
    store.may_append.set()
    await appending
    await leaving
    await log.save()
    log.forget(SHARDS)
    assert log.backlog == 0
    lease.node = "n2"
    assert len(await drained(await owning(store, lease))) == 40 - len(rows)


async def test_rows_that_are_stored_when_others_have_taken_over_are_not_accepted(store: Slow, lease: Lease) -> None:
    """Whoever took over may have read the log before they were in it."""
    log = await owning(store, lease)
    store.may_append.clear()
    appending = asyncio.create_task(append(log, "e0"))
    await asyncio.sleep(0)
    lease.node = "n2"
    store.may_append.set()
    with pytest.raises(Unavailable, match="taken for dead"):
        await appending


async def test_nothing_is_written_without_a_lease_or_by_the_buried(store: Slow, lease: Lease) -> None:
    log = await owning(store, lease)
    await store.bury("n1", 1)
    with pytest.raises(Unavailable, match="another node"):
        await append(log, "e0")
    lease.node = ""
    with pytest.raises(Unavailable, match="no lease"):
        await append(log, "e0")
    assert await store.ends([part_of(shard, False) for shard in SHARDS]) == {}


async def test_a_store_that_fails_to_read_one_part_costs_no_row_of_another(store: Slow, lease: Lease) -> None:
    log = await owning(store, lease)
    await drained(log)
    await append(log, "bulk", is_bulk=True)
    await append(log, "e0")
    store.is_readable = False
    rows = await log.take(100)
    assert [row.event for row in rows] == ["e0"] * 20
    with pytest.raises(Unavailable):
        await log.take(100)
    store.is_readable = True
    assert {row.event for row in await drained(log)} == {"bulk"}
