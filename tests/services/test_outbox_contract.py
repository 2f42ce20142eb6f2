"""The contract of every store of promises."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from infra.runtime.cassandra.client import Cassandra
from infra.runtime.sqlite import Sqlite
from segue.cassandra import Server
from services import outbox_sqlite
from services.outbox_cassandra import BUCKET_US, LATE_BUCKETS, OutboxCassandra
from services.outbox_sqlite import OutboxSqlite
from services.tasks import OutboxTask, TaskOutbox
from tests.services.shared_keyspace import empty_keyspace


def task(n: int) -> OutboxTask:
    return OutboxTask(f"id-{n}", f"k{n % 3}", "tell", b"%d" % n)


class Store(NamedTuple):
    """`put` writes tasks as a change of state does; `reopen` gives the outbox of the next life."""

    outbox: TaskOutbox
    put: Callable[[list[OutboxTask]], Awaitable[None]]
    reopen: Callable[[], Awaitable[TaskOutbox]]


async def bodies(outbox: TaskOutbox, limit: int = 100, lane: str = "") -> list[int]:
    """Returns all that is undone on a `lane`, in its order, through pages of `limit`."""
    found: list[int] = []
    after = 0
    while some := await outbox.undone(after, limit, lane):
        found += [int(stored.task.body) for stored in some]
        assert [stored.n for stored in some] == sorted(stored.n for stored in some)
        assert some[0].n > after
        after = some[-1].n
    return found


class OutboxContract:
    async def test_tasks_come_in_the_order_of_writing_on_pages_of_any_size(self, store: Store) -> None:
        for n in range(0, 30, 3):
            await store.put([task(n), task(n + 1), task(n + 2)])
        for limit in (1, 7, 100):
            assert await bodies(store.outbox, limit) == list(range(30))
        assert (await store.outbox.undone(0, 1))[0].task == task(0)

    async def test_what_is_done_or_set_aside_does_not_come_again(self, store: Store) -> None:
        await store.put([task(n) for n in range(4)])
        first, second, *_ = await store.outbox.undone(0, 10)
        await store.outbox.done(first)
        for _ in range(2):
            await store.outbox.set_aside(second, "bad-field: no")
        assert await bodies(store.outbox) == [2, 3]

    async def test_each_lane_has_its_own_tasks(self, store: Store) -> None:
        await store.put([msgspec.structs.replace(task(n), lane=("", "slow")[n % 2]) for n in range(6)])
        assert (await bodies(store.outbox), await bodies(store.outbox, 2, "slow")) == ([0, 2, 4], [1, 3, 5])
        first, second, _ = await store.outbox.undone(0, 10, "slow")
        await store.outbox.done(first)
        await store.outbox.set_aside(second, "bad-field: no")
        assert (await bodies(store.outbox), await bodies(store.outbox, 2, "slow")) == ([0, 2, 4], [5])

    async def test_what_is_undone_is_there_in_the_next_life_and_new_tasks_come_behind(self, store: Store) -> None:
        await store.put([task(1), task(2)])
        outbox = await store.reopen()
        assert await bodies(outbox) == [1, 2]
        await store.put([task(3)])
        assert await bodies(outbox) == [1, 2, 3]


class TestSqlite(OutboxContract):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[Store]:
        db = await Sqlite.open(tmp_path / "outbox.sqlite", "outbox", outbox_sqlite.SCRIPTS)

        async def put(tasks: list[OutboxTask]) -> None:
            await db.write(lambda connection: outbox_sqlite.put(connection, tasks))

        async def reopen() -> TaskOutbox:
            return OutboxSqlite(db)

        yield Store(OutboxSqlite(db), put, reopen)
        await db.close()


class Clock:
    """A wall clock in the hands of a test."""

    def __init__(self) -> None:
        self.now_s = time.time()

    def __call__(self) -> float:
        return self.now_s


class TestCassandra(OutboxContract):
    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def truth(self) -> dict[str, bool]:
        """Returns guard -> whether its change was done."""
        return {}

    @pytest.fixture
    async def db(self, cassandra_server: Server) -> AsyncIterator[Cassandra]:
        async with empty_keyspace(cassandra_server, "outbox") as db:
            yield db

    @pytest.fixture
    async def outbox(self, db: Cassandra, clock: Clock, truth: dict[str, bool]) -> OutboxCassandra:
        return await self.open(db, clock, truth)

    async def open(self, db: Cassandra, clock: Clock, truth: dict[str, bool]) -> OutboxCassandra:
        async def happened(guard: str) -> bool:
            return truth[guard]

        return await OutboxCassandra.open(db, "test/sto/t1", clock, happened)

    @pytest.fixture
    def store(self, db: Cassandra, outbox: OutboxCassandra, clock: Clock, truth: dict[str, bool]) -> Store:
        latest = [outbox]

        async def put(tasks: list[OutboxTask]) -> None:
            async with latest[0].writing(tasks) as statements:
                await db.batch(statements, logged=True)

        async def reopen() -> TaskOutbox:
            clock.now_s -= 3600  # set back while it was down
            latest[0] = await self.open(db, clock, truth)
            return latest[0]

        return Store(outbox, put, reopen)

    async def test_a_task_is_not_passed_over_while_an_earlier_one_is_being_written(self, db: Cassandra, outbox: OutboxCassandra) -> None:
        gate = asyncio.Event()

        async def slow() -> None:
            async with outbox.writing([task(1)]) as statements:
                await gate.wait()
                await db.batch(statements, logged=True)

        writing = asyncio.ensure_future(slow())
        await asyncio.sleep(0)
        async with outbox.writing([task(2)]) as statements:
            await db.batch(statements, logged=True)
        assert await bodies(outbox) == []
        gate.set()
        await writing
        assert await bodies(outbox) == [1, 2]

    async def test_a_task_under_a_guard_is_there_only_if_its_change_was_done(
        self, db: Cassandra, outbox: OutboxCassandra, truth: dict[str, bool]
    ) -> None:
        truth |= {"done": True, "lost": False}
        for n, (guard, told) in enumerate((("done", None), ("lost", None), ("confirmed", True), ("withdrawn", False))):
            async with outbox.writing([task(n)], guard) as statements:
                await db.batch(statements, logged=True)
                if told is not None:
                    await (outbox.confirm(statements) if told else outbox.withdraw(statements))
        assert await bodies(outbox) == [0, 2]
        del truth["lost"]  # it was forgotten, and nobody asks again
        assert await bodies(outbox) == [0, 2]

    async def test_minutes_that_are_over_and_empty_are_forgotten(
        self, db: Cassandra, store: Store, outbox: OutboxCassandra, clock: Clock
    ) -> None:
        await store.put([task(1), task(2)])
        await outbox.done((await outbox.undone(0, 1))[0])
        clock.now_s += (LATE_BUCKETS + 2) * BUCKET_US / 1_000_000
        await store.put([task(3)])
        for expected in (2, 1):
            await bodies(outbox)
            assert len(await db.execute("SELECT bucket FROM outbox_buckets WHERE owner = ?", "test/sto/t1")) == expected
            await outbox.done((await outbox.undone(0, 1))[0])

    async def test_a_backlog_of_many_minutes_is_read_in_order(
        self, store: Store, outbox: OutboxCassandra, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("services.outbox_cassandra.BUCKETS", 2)
        for n in range(5):
            clock.now_s += 60
            await store.put([task(n)])
        assert await bodies(outbox) == [0, 1, 2, 3, 4]
        assert await bodies(outbox, 2) == [0, 1, 2, 3, 4]
