"""The rule worker when the lease runs out under it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from infra.kernel.errors import Unavailable
from infra.kernel.events import Event
from notification.agenda import Agenda
from notification.core import Decider, Patience
from notification.log import Log
from notification.notice import Header, Notice, check
from notification.online import Online
from notification.owned import Owned
from notification.ownership.core import FencingToken, NodeRecord
from notification.people import People
from notification.shards import SHARDS, by_shard
from notification.store import Decision
from notification.store_sqlite import SqliteStore
from notification.worker import Worker
from rule_engine.load import default_text, load
from tests.support.eventually import eventually
from tests.support.stored import module_context

NOW_S = 1_790_000_000.0
TOPIC = "hm://notifications/feed/bjork%new-album/"
USERS = [f"u{n}" for n in range(30)]


class DefectiveStore(SqliteStore):
    """A store that stores no decision while `is_broken`."""

    is_broken = False

    async def decide(self, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
        if self.is_broken:
            raise ValueError("not what we thought")
        await super().decide(decided, fence)


class Bench:
    """A worker with all that it needs on a real store, a lease that can be taken away, and a log that tells of warnings."""

    def __init__(self, store: DefectiveStore) -> None:
        self.store, self.node, self.has_lease = store, "n1", True
        self.told: list[Event] = []
        self.warned = asyncio.Event()
        self.log, agenda, self.people = Log(store, self.fence), Agenda(store, self.fence), People(store)
        self.agenda = agenda
        decider = Decider(load(default_text(), "the default rules"), Patience(), lambda: 7)
        owned = Owned(log=self.log, agenda=agenda, people=self.people, fence=self.fence)
        self.worker = Worker(module_context(store, lambda: NOW_S, self), owned, decider, Online(0), self.told.append)

    def fence(self) -> FencingToken:
        if not self.has_lease:
            raise Unavailable("the lease has run out")
        return FencingToken(self.node, 1)

    def warning(self, *_: object, **__: object) -> None:
        self.warned.set()

    debug = info = error = exception = warning

    async def own(self) -> None:
        await self.agenda.own(range(SHARDS))
        await self.log.own(range(SHARDS), int(NOW_S * 1000))

    async def take_in(self, event: str) -> None:
        notice = check(Header(event, TOPIC, "album", msgspec.Raw(b'{"album":"Post"}')), "artist", int(NOW_S * 1000))
        await self.store.begin(notice)
        await self.log.append(by_shard(USERS), event, 0, False, int(NOW_S * 1000))

    async def all_marks(self) -> list[int]:
        return [person.last for person in (await self.store.people(USERS)).values()]

    async def decided(self, marks: int) -> None:
        """Waits until everybody has so many items."""
        async with asyncio.timeout(30):
            while await self.all_marks() != [marks] * len(USERS):
                pass


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    store = await DefectiveStore.open(tmp_path, 90 * 86_400, lambda: NOW_S)
    for node in ("n1", "n2"):
        await store.beat(NodeRecord(node, "sto", node, 1), 0)
    bench = Bench(store)
    await bench.own()
    bench.worker.start()
    yield bench
    await bench.worker.close()
    await store.close()


async def test_nothing_is_stored_or_told_while_the_lease_has_run_out_and_all_of_it_afterwards(bench: Bench) -> None:
    await bench.take_in("e1")
    bench.has_lease = False
    async with asyncio.timeout(30):
        await bench.warned.wait()
    assert await bench.all_marks() == [0] * len(USERS)
    assert bench.told == []
    bench.has_lease = True
    await bench.decided(1)


async def test_what_was_planned_for_lost_shards_is_dropped_and_decided_once_by_the_next_owner(bench: Bench) -> None:
    """SB-62: here the node itself under its new name."""
    await bench.take_in("e1")
    bench.has_lease = False
    async with asyncio.timeout(30):
        await bench.warned.wait()
    await bench.worker.stop()
    bench.log.forget(range(SHARDS))
    bench.people.forget(range(SHARDS))
    await bench.store.bury("n1", 1)
    bench.node, bench.has_lease = "n2", True
    await bench.own()
    bench.worker.start()
    await bench.take_in("e2")
    await bench.decided(2)
    for user in USERS:
        assert [(item.mark, item.notice.id) for item in await bench.store.items(user, 0, 10)] == [(1, "e1"), (2, "e2")]


async def test_a_defect_stops_the_work_is_told_and_skips_nothing(bench: Bench) -> None:
    """It goes on where it was as soon as that can be; until then whoever asks hears why it stands still."""
    bench.store.is_broken = True
    await bench.take_in("e0")
    await bench.warned.wait()
    assert "not what we thought" in str(bench.worker.trouble)
    bench.store.is_broken = False
    await bench.decided(1)
    await eventually(lambda: bench.worker.trouble is None)  # a loop that waits between two tries says it until its next one
