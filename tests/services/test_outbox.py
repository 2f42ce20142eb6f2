"""The relay: every promise is kept, in the order of its key, whatever fails in between."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from infra.kernel.backoff import Backoff
from infra.kernel.errors import Refused, Unavailable
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.loops import Loops
from infra.runtime.sqlite import Sqlite
from infra.runtime.wire.memory import MemoryNetwork
from services import outbox_sqlite
from services.outbox import MAX_HELD, OutboxRelay
from services.outbox_sqlite import OutboxSqlite
from services.tasks import OutboxTask, TaskOutbox
from tests.support.eventually import eventually
from tests.support.news import News

QUICK = Backoff(base_s=0.001, cap_s=0.002)
Perform = Callable[[OutboxTask], Awaitable[None]]


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Sqlite]:
    db = await Sqlite.open(tmp_path / "outbox.sqlite", "outbox", outbox_sqlite.SCRIPTS)
    yield db
    await db.close()


def make(db: Sqlite, perform: Perform, lane: str = "", backoff: Backoff = QUICK) -> OutboxRelay:
    return relay_of(OutboxSqlite(db), perform, lane, backoff)


def relay_of(outbox: TaskOutbox, perform: Perform, lane: str = "", backoff: Backoff = QUICK) -> OutboxRelay:
    context = Context(network=MemoryNetwork(), log=get_logger("outbox", "o1", "sto"), rng=random.Random(1))
    return OutboxRelay(outbox, perform, context, Loops(context.log), lane=lane, backoff=backoff)


async def put(db: Sqlite, *tasks: OutboxTask) -> None:
    await db.write(lambda connection: outbox_sqlite.put(connection, tasks))


async def left(db: Sqlite, table: str = "outbox") -> int:
    (count,) = await db.read(lambda connection: connection.execute(f"SELECT count(*) FROM {table}").fetchone())  # noqa: S608
    return int(count)


def task(n: int, key: str = "k") -> OutboxTask:
    return OutboxTask(f"id-{n}", key, "tell", b"%d" % n)


class Receiver:
    """A receiver of tasks; `until` waits for as many as are expected."""

    def __init__(self) -> None:
        self.taken: list[OutboxTask] = []
        self.trouble: Callable[[OutboxTask], Exception | None] = lambda task: None
        self._news = News()

    async def perform(self, task: OutboxTask) -> None:
        if (error := self.trouble(task)) is not None:
            raise error
        self.taken.append(task)
        self._news.tell()

    async def until(self, count: int) -> None:
        await self._news.until(lambda: len(self.taken) >= count)


async def emptied(db: Sqlite) -> None:
    async def is_empty() -> bool:
        return not await left(db)

    await eventually(is_empty)


async def test_tasks_of_a_key_are_performed_in_order_though_each_fails_now_and_then(db: Sqlite) -> None:
    receiver, rng = Receiver(), random.Random(7)
    receiver.trouble = lambda task: Unavailable("away") if rng.random() < 0.3 else None
    relay = make(db, receiver.perform)
    await put(db, *(task(n, f"k{n % 5}") for n in range(400)))
    relay.start()
    await receiver.until(400)
    for key in range(5):
        assert [each.body for each in receiver.taken if each.key == f"k{key}"] == [b"%d" % n for n in range(400) if n % 5 == key]
    await emptied(db)
    await relay.close()
    assert relay.counters("x")["x_outbox_waiting"] == 0


async def test_what_is_written_while_the_relay_runs_is_performed_when_it_is_woken(db: Sqlite) -> None:
    receiver = Receiver()
    relay = make(db, receiver.perform)
    relay.start()
    for n in range(20):
        await put(db, task(n))
        relay.wake()
    await receiver.until(20)
    assert [each.id for each in receiver.taken] == [f"id-{n}" for n in range(20)]
    await relay.close()


async def test_what_was_not_done_is_done_in_the_next_life(db: Sqlite) -> None:
    receiver = Receiver()
    receiver.trouble = lambda task: Unavailable("away")
    first = make(db, receiver.perform)
    await put(db, task(1), task(2))
    first.start()

    async def has_failed() -> bool:
        return first.retried > 0

    await eventually(has_failed)
    await first.close()
    assert await left(db) == 2
    receiver.trouble = lambda task: None
    second = make(db, receiver.perform)
    second.start()
    await receiver.until(2)
    assert [each.id for each in receiver.taken] == ["id-1", "id-2"]
    await second.close()


async def test_a_task_that_will_never_be_taken_is_set_aside_and_the_next_one_goes_on(db: Sqlite) -> None:
    receiver = Receiver()
    receiver.trouble = lambda task: Refused("bad-field", "no such kind") if task.id == "id-1" else None
    relay = make(db, receiver.perform)
    await put(db, task(1), task(2))
    relay.start()
    await receiver.until(1)
    await emptied(db)
    assert ([each.id for each in receiver.taken], relay.refused) == (["id-2"], 1)
    ((body, reason),) = await db.read(lambda connection: connection.execute("SELECT body, reason FROM outbox_refused").fetchall())
    assert (body, reason) == (b"1", "bad-field: no such kind")
    await relay.close()


async def test_a_key_that_is_stuck_stops_no_other_and_is_bounded_in_memory(db: Sqlite) -> None:
    receiver, stuck = Receiver(), True
    receiver.trouble = lambda task: Unavailable("away") if stuck and task.key == "stuck" else None
    relay = make(db, receiver.perform)
    await put(db, *(task(n, "stuck") for n in range(MAX_HELD)), *(task(n, f"k{n % 7}") for n in range(3000)))
    relay.start()
    await receiver.until(3000)
    assert relay.counters("x")["x_outbox_waiting"] <= 64 + 7  # the last of each other key may be on its way out
    stuck = False
    await receiver.until(3000 + MAX_HELD)
    assert [each.body for each in receiver.taken if each.key == "stuck"] == [b"%d" % n for n in range(MAX_HELD)]
    await emptied(db)
    await relay.close()


async def test_a_lane_that_is_stuck_with_more_than_fits_into_memory_stops_no_other(db: Sqlite) -> None:
    receiver, stuck = Receiver(), True
    receiver.trouble = lambda task: Unavailable("away") if stuck and task.lane == "slow" else None
    relays = [make(db, receiver.perform, lane, Backoff(base_s=0.2, cap_s=0.2)) for lane in ("slow", "fast")]
    await put(db, *(msgspec.structs.replace(task(n, f"k{n}"), lane="slow") for n in range(MAX_HELD + 200)))
    for relay in relays:
        relay.start()
    for n in range(100):
        await put(db, msgspec.structs.replace(task(n), lane="fast"))
        relays[1].wake()
    await receiver.until(100)
    assert {each.lane for each in receiver.taken} == {"fast"}
    assert relays[0].counters("x")["x_outbox_waiting"] == MAX_HELD
    stuck = False
    await receiver.until(100 + MAX_HELD + 200)
    await emptied(db)
    for relay in relays:
        await relay.close()


async def test_a_store_that_cannot_be_read_is_asked_again(db: Sqlite) -> None:
    receiver = Receiver()

    class Flaky(OutboxSqlite):
        tries = 0

        async def undone(self, after: int, limit: int, lane: str = ""):  # type: ignore[no-untyped-def]
            self.tries += 1
            if self.tries < 3:
                raise Unavailable("starting")
            return await super().undone(after, limit, lane)

    relay = relay_of(Flaky(db), receiver.perform)
    await put(db, task(1))
    relay.start()
    await receiver.until(1)
    await relay.close()
