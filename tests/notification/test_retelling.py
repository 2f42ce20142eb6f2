"""Live copies that no broker took: what is kept of them, when they go again, and what comes instead."""

import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from infra.kernel.errors import Unavailable
from infra.kernel.events import Event
from notification import items, retelling
from notification.agenda import Agenda
from notification.core import DESKTOP, EMAIL, LIVE, Decider, Patience
from notification.notice import Notice
from notification.ownership.core import FencingToken
from notification.retelling import Retelling
from notification.store import WAITING, Decision, Person, Sent, Task
from notification.store_sqlite import SqliteStore
from rule_engine.load import default_text, load
from tests.notification.test_core import notice
from tests.support.stored import module_context

NOW_MS = 1_800_000_000_000
FENCE = FencingToken("n1", 1)
ANN = Person("ann", preferences=b'{"email":"ann@example.org"}')


class Module:
    """A retelling on a real store. `is_there`: whether a broker takes copies; `taken`: those that one took."""

    def __init__(self, store: SqliteStore) -> None:
        self.store, self.is_there = store, False
        self.taken: list[Event] = []
        self.agenda = Agenda(store, lambda: FENCE)
        decider = Decider(load(default_text(), "the default rules"), Patience(email_s=0.0), lambda: 7)
        self.retelling = Retelling(module_context(store, lambda: NOW_MS / 1000), self.agenda, decider, self.publish, self.schedule)
        self.notices = {each.id: each for each in (notice(number=n) for n in range(3))}
        self.is_owner = True

    def publish(self, event: Event, done: Callable[[bool], None]) -> None:
        if self.is_there:
            self.taken.append(event)
        done(self.is_there)

    async def schedule(self, task: Task) -> None:
        if not self.is_owner:
            raise Unavailable("another node owns these users")
        await self.agenda.add([task])

    async def decided(self, *types: str) -> list[Task]:
        """Makes all notices items of ann; returns their live copies, which are due."""
        found = [(Decision("ann", each.id, mark, mark, types, (), NOW_MS), each) for mark, each in enumerate(self.notices.values(), 1)]
        await self.store.decide(found)
        return [Task(0, NOW_MS, "ann", LIVE, event, 1, NOW_MS) for event in self.notices]

    def copy(self, each: Notice) -> Event:
        return items.live("ann", 1, 7, ("in-client",), each, items.told(each))

    async def due(self) -> list[Task]:
        """Returns all that is on the agenda, by when it is due."""
        later_ms = NOW_MS + 10 * retelling.AGAIN_MS
        return sorted([task for shard in range(64) for task in await self.store.due(shard, 0, later_ms, 100)], key=lambda task: task.due_ms)

    async def state(self, event: str) -> str:
        key = ("ann", event, LIVE)
        return (await self.store.sent([key]))[key].state


@pytest.fixture
async def module(tmp_path: Path) -> AsyncIterator[Module]:
    store = await SqliteStore.open(tmp_path, 86_400.0, lambda: NOW_MS / 1000)
    it = Module(store)
    await it.agenda.own(range(64))
    for each in it.notices.values():
        await store.begin(each)
    yield it
    await it.retelling.close()
    await store.close()


async def test_what_was_taken_at_once_costs_nothing_and_the_rest_is_kept(module: Module) -> None:
    first, late, never = module.notices.values()
    module.retelling.told(module.copy(first), True, 1)
    module.retelling.told(module.copy(late), True, 7)
    module.retelling.told(module.copy(never), False, 20)
    await module.retelling.close()
    assert await module.store.sent([("ann", first.id, LIVE)]) == {}
    assert (await module.state(late.id), await module.state(never.id)) == ("delivered", WAITING)
    (task,) = await module.due()
    assert (task.user, task.channel, task.event) == ("ann", LIVE, never.id)
    assert NOW_MS + retelling.AGAIN_MS < task.due_ms <= NOW_MS + retelling.AGAIN_MS + retelling.MOMENT_MS


async def test_what_is_due_for_a_user_goes_as_the_newest_alone(module: Module) -> None:
    tasks = await module.decided("in-client")
    module.is_there = True
    ended = await module.retelling.tell(random.Random(1).sample(tasks, 3), ANN, module.notices, DESKTOP, NOW_MS)
    assert [event.id for event in module.taken] == [b"e2"]
    assert {(each.event, each.state) for each in ended} == {(event, "delivered") for event in module.notices}
    assert await module.due() == []


async def test_it_goes_on_for_as_long_as_no_broker_takes_it(module: Module) -> None:
    tasks = await module.decided("in-client")
    ended = await module.retelling.tell(tasks, ANN, module.notices, DESKTOP, NOW_MS)
    assert {each.state for each in ended} == {WAITING}
    again = await module.due()
    assert len({task.due_ms for task in again}) == 1
    assert sorted((task.event, task.attempt) for task in again) == [(event, 2) for event in module.notices]


async def test_who_is_offline_by_then_gets_the_mails_that_were_not_granted_before(module: Module) -> None:
    tasks = await module.decided("in-client")
    ended = await module.retelling.tell(tasks, ANN, module.notices, 0, NOW_MS)
    assert (module.taken, {each.state for each in ended}) == ([], {"dropped"})
    assert sorted((task.channel, task.event) for task in await module.due()) == [(EMAIL, event) for event in module.notices]


async def test_a_mail_that_was_granted_before_is_not_granted_again(module: Module) -> None:
    tasks = await module.decided("in-client", "email")
    await module.retelling.tell(tasks, ANN, module.notices, 0, NOW_MS)
    assert await module.due() == []


async def test_what_cannot_be_kept_now_waits_in_order_and_within_a_bound(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retelling, "MAX_NEWS", 2)
    module.is_owner = False
    for each in module.notices.values():
        module.retelling.told(module.copy(each), False, 3)
    await module.retelling.close()
    assert await module.due() == []
    module.is_owner = True
    await module.retelling.close()
    assert module.retelling.lost == 1
    assert sorted(task.event for task in await module.due()) == ["e1", "e2"]


async def test_what_has_expired_meanwhile_is_told_to_nobody(module: Module) -> None:
    tasks = await module.decided("in-client")
    module.is_there = True
    ended: list[Sent] = await module.retelling.tell(tasks, ANN, {}, DESKTOP, NOW_MS)
    assert ({(each.state, each.reason) for each in ended}, module.taken) == ({("dropped", "it has expired")}, [])
