"""The agenda: every task is found when it is due, and the store is asked only then."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.errors import Unavailable
from notification.agenda import MAX_OPEN, Agenda
from notification.ownership.core import FencingToken
from notification.store import Task
from notification.store_sqlite import SqliteStore

NOW_MS = 1_790_000_000_000


class Watched(SqliteStore):
    """Counts what is asked, and holds additions back when told to."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.asked: Counter[str] = Counter()
        self.may_add = asyncio.Event()
        self.may_add.set()

    async def schedule(self, tasks: Sequence[Task]) -> None:
        await super().schedule(tasks)
        await self.may_add.wait()

    async def due(self, shard: int, after_ms: int, until_ms: int, limit: int) -> list[Task]:
        self.asked["due"] += 1
        return await super().due(shard, after_ms, until_ms, limit)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Watched]:
    opened = await Watched.open(tmp_path, 90 * 86_400, lambda: NOW_MS / 1000)
    assert isinstance(opened, Watched)
    yield opened
    await opened.close()


async def owning(store: Watched, *shards: int) -> Agenda:
    agenda = Agenda(store, lambda: FencingToken("n1", 1))
    await agenda.own(shards)
    return agenda


def task(shard: int, due_ms: int, user: str = "ann") -> Task:
    return Task(shard, due_ms, user, "email", "e1", 1, due_ms)


async def work_off(agenda: Agenda, now_ms: int) -> list[Task]:
    found: list[Task] = []
    for shard in agenda.ready(now_ms):
        while tasks := await agenda.due(shard, now_ms, 10):
            await agenda.done(shard, tasks)
            found += tasks
    return found


async def test_a_task_is_ready_when_it_is_due_and_nothing_is_asked_before(store: Watched) -> None:
    agenda = await owning(store, 1, 2)
    tasks = [task(1, NOW_MS), task(1, NOW_MS + 500), task(2, NOW_MS + 100)]
    await agenda.add(tasks)
    assert await work_off(agenda, NOW_MS - 1) == []
    assert store.asked["due"] == 0
    assert await work_off(agenda, NOW_MS) == tasks[:1]
    assert await work_off(agenda, NOW_MS + 99) == []
    assert await work_off(agenda, NOW_MS + 10_000) == tasks[1:]
    assert agenda.ready(NOW_MS + 1_000_000) == []


async def test_the_next_owner_finds_what_is_left(store: Watched) -> None:
    first = await owning(store, 1)
    tasks = [task(1, NOW_MS + n) for n in range(3)]
    await first.add(tasks)
    await work_off(first, NOW_MS)
    await first.hand_over([1])
    with pytest.raises(Unavailable, match="another node"):
        await first.add(tasks)
    assert await first.due(1, NOW_MS + 10, 10) == []
    assert await work_off(await owning(store, 1), NOW_MS + 10) == tasks[1:]


async def test_a_task_that_is_late_is_put_after_what_is_done(store: Watched) -> None:
    agenda = await owning(store, 1)
    await agenda.add([task(1, NOW_MS)])
    await work_off(agenda, NOW_MS)
    await agenda.add([task(1, NOW_MS - 5000, "bob")])
    assert [each.user for each in await work_off(agenda, NOW_MS + 1)] == ["bob"]


async def test_a_shard_is_left_when_what_is_on_its_way_has_arrived(store: Watched) -> None:
    agenda = await owning(store, 1)
    store.may_add.clear()
    adding = asyncio.create_task(agenda.add([task(1, NOW_MS)]))
    await asyncio.sleep(0)
    leaving = asyncio.create_task(agenda.hand_over([1]))
    await asyncio.sleep(0)
    assert not leaving.done()
    store.may_add.set()
    await adding
    await leaving
    assert await work_off(await owning(store, 1), NOW_MS) == [task(1, NOW_MS)]


async def test_what_is_looked_up_while_something_is_added_is_not_missed(store: Watched) -> None:
    agenda = await owning(store, 1)
    await agenda.add([task(1, NOW_MS)])
    await work_off(agenda, NOW_MS)
    store.may_add.clear()
    adding = asyncio.create_task(agenda.add([task(1, NOW_MS + 5, "bob")]))
    await asyncio.sleep(0)
    assert await agenda.due(1, NOW_MS + 10, 10) == []
    store.may_add.set()
    await adding
    assert [each.user for each in await work_off(agenda, NOW_MS + 10)] == ["bob"]


async def test_what_is_under_way_is_not_read_again_and_holds_back_the_cursor_but_not_the_reader(store: Watched) -> None:
    agenda = await owning(store, 1)
    tasks = [task(1, NOW_MS + n) for n in range(4)]
    await agenda.add(tasks)
    assert await agenda.due(1, NOW_MS + 10, 2) == tasks[:2]
    assert await agenda.due(1, NOW_MS + 10, 2) == tasks[2:]
    assert await agenda.due(1, NOW_MS + 10, 2) == []
    await agenda.done(1, tasks[1:])
    assert await work_off(await owning(store, 1), NOW_MS + 10) == tasks


async def test_what_is_put_back_is_read_again_and_what_is_still_under_way_is_not(store: Watched) -> None:
    agenda = await owning(store, 1)
    tasks = [task(1, NOW_MS + n) for n in range(4)]
    await agenda.add(tasks)
    await agenda.due(1, NOW_MS + 10, 10)
    agenda.put_back(1, [tasks[1]])
    assert agenda.ready(NOW_MS + 10) == [1]
    assert await agenda.due(1, NOW_MS + 10, 10) == [tasks[1]]
    await agenda.done(1, tasks)
    assert await work_off(await owning(store, 1), NOW_MS + 10) == []


async def test_a_shard_that_has_too_much_under_way_is_read_no_further_until_something_is_done(store: Watched) -> None:
    agenda = await owning(store, 1)
    tasks = [task(1, NOW_MS + n) for n in range(MAX_OPEN + 1)]
    await agenda.add(tasks)
    assert await agenda.due(1, NOW_MS + 1000, MAX_OPEN) == tasks[:MAX_OPEN]
    assert (agenda.ready(NOW_MS + 1000), await agenda.due(1, NOW_MS + 1000, 10)) == ([], [])
    agenda.news.clear()
    await agenda.done(1, tasks[:1])
    assert agenda.news.is_set()
    assert (agenda.ready(NOW_MS + 1000), await agenda.due(1, NOW_MS + 1000, 10)) == ([1], tasks[MAX_OPEN:])


async def test_what_is_added_while_the_store_is_read_lies_behind_the_reader(store: Watched) -> None:
    """Else one that is due in the millisecond that is read just now would be passed."""
    agenda = await owning(store, 1)
    await agenda.add([task(1, NOW_MS)])
    reading = asyncio.create_task(agenda.due(1, NOW_MS, 10))
    await asyncio.sleep(0)
    await agenda.add([task(1, NOW_MS, "bob")])
    assert await reading == [task(1, NOW_MS)]
    assert [each.user for each in await agenda.due(1, NOW_MS + 1, 10)] == ["bob"]
