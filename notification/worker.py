"""The rule worker: rows from the log, through the rules, to the store, the engine and the tasks (spec 8).

A batch is decided while the one before it is being stored. Users are told only after their items are stored. A cursor passes
a row only when everything that follows from the row is stored. So after a crash each row is decided once and told at least
once. While the lease of the node has run out the worker waits. Then it goes on where it was, or begins anew with other shards.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Final, TypeVar

from infra.kernel.errors import Unavailable
from infra.kernel.events import Event
from infra.kernel.recent import Recent
from infra.runtime.ending import end_tasks

from .core import Decider, Plan
from .module_context import ModuleContext
from .notice import Notice
from .online import Online
from .owned import Owned
from .store import AGAIN, Decision, LogRow

BATCH: Final = 512
SAVE_S: Final = 0.25
PAUSE_S: Final = 0.25
NOTICES: Final = 256
DOUBTED: Final = 1024

T = TypeVar("T")


class Worker:
    """The loops that work the log off.

    - `module`, `owned`: the store, and what is owned of it.
    - `decider`: the rules.
    - `online`: asks presence.
    - `tell`: hands a live copy to the engine, whatever comes of it.

    `decided`, `told` and `scheduled` count rows, live copies, and mails and pushes.
    """

    def __init__(self, module: ModuleContext, owned: Owned, decider: Decider, online: Online, tell: Callable[[Event], None]) -> None:
        self.decided = self.told = self.scheduled = 0
        self._module, self._store, self._logger = module, module.store, module.context.log
        self._owned, self._log, self._decider, self._online, self._tell_engine = owned, owned.log, decider, online, tell
        self._troubles: dict[str, str] = {}
        self._notices: Recent[str, Notice] = Recent(NOTICES)
        self._doubted: Recent[str, bool] = Recent(DOUBTED)
        # Decided and on their way to the store: the next batch, planned meanwhile, must know them.
        self._storing: dict[tuple[str, str], Decision] = {}
        self._plans: asyncio.Queue[tuple[list[LogRow], Plan]] = asyncio.Queue(maxsize=1)
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def trouble(self) -> str | None:
        """Why the worker stands still; None while it gets on."""
        return next(iter(self._troubles.values()), None)

    def start(self) -> None:
        """Works until `stop` or `close`."""
        self._tasks = [
            self._module.loops.every(0.0, self._decide, "rule worker decides", at_once=True),
            self._module.loops.every(0.0, self._perform, "rule worker performs", at_once=True),
            self._module.loops.every(SAVE_S, self._log.save, "rule worker saves cursors"),
        ]

    async def stop(self) -> None:
        """Stops, and forgets what is under way: its owner finds it in the log. May be called twice; `start` begins again."""
        await end_tasks(*self._tasks)
        self._tasks.clear()
        self._storing.clear()
        self._troubles.clear()
        while not self._plans.empty():
            self._plans.get_nowait()

    async def close(self) -> None:
        """Stops, and keeps how far it went."""
        await self.stop()
        with suppress(Unavailable):
            await self._log.save()

    async def _decide(self) -> None:
        rows = await self._patiently(lambda: self._log.take(BATCH))
        if rows:
            await self._plans.put((rows, await self._patiently(lambda: self._plan(rows))))
        else:
            await self._log.news.wait()

    async def _plan(self, rows: list[LogRow]) -> Plan:
        users = {row.user for row in rows}
        notices = await self._patiently(lambda: self._load_notices({row.event for row in rows}))
        people = await self._patiently(lambda: self._owned.people.get(users))
        doubtful = self._doubtful(rows)
        online = await self._online.ask(users)
        # Taken before the store is asked: a decision that is stored meanwhile leaves `_storing`, and is in one of the two.
        storing = dict(self._storing)
        known = await self._patiently(lambda: self._store.decisions(doubtful)) if doubtful else {}
        plan = self._decider.plan(rows, notices, people, online, known | storing, self._module.now_ms())
        self._storing.update({(each.user, each.event): each for each, _ in plan.decided})
        return plan

    def _doubtful(self, rows: list[LogRow]) -> list[tuple[str, str]]:
        """Returns the (user, event) pairs that may have been decided already.

        Either the owner before us decided them, or a request was made twice.
        """
        events = {row.event for row in rows}
        doubted = {event for event in events if self._doubted.take(event)} | {row.event for row in rows if row.flags & AGAIN}
        for event in doubted:
            self._doubted.add(event, True)
        return [(row.user, row.event) for row in rows if self._log.is_inherited(row) or row.event in doubted]

    async def _load_notices(self, events: Collection[str]) -> dict[str, Notice]:
        known = {event: notice for event in events if (notice := self._notices.take(event)) is not None}
        if unknown := [event for event in events if event not in known]:
            known |= await self._store.notices(unknown)
        for event, notice in known.items():
            self._notices.add(event, notice)
        return known

    async def _perform(self) -> None:
        rows, plan = await self._plans.get()
        if plan.decided:
            await self._patiently(lambda: self._keep(plan))
            for decision, _ in plan.decided:
                del self._storing[decision.user, decision.event]
        if plan.tasks:
            await self._patiently(lambda: self._owned.agenda.add(plan.tasks))
        await self._patiently(lambda: self._tell(plan))
        self._log.done(rows)
        self.decided += len(plan.decided)
        self.told += len(plan.live)
        self.scheduled += len(plan.tasks)

    async def _tell(self, plan: Plan) -> None:
        self._owned.fence()
        for event in plan.live:
            self._tell_engine(event)

    async def _keep(self, plan: Plan) -> None:
        """Stores what was decided, while it is ours to decide."""
        fence = self._owned.fence()
        await self._store.decide(plan.decided, fence)
        self._owned.fence()  # again: the lease may have run out on the way, and then nobody is told

    async def _patiently(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Returns what `ask` returns, however long the store is away, and whatever else goes wrong.

        A loop that begins its step anew is not enough here: the log gives each row out once in a life, and a batch that is dropped
        would wait for the next one.
        """
        task = asyncio.current_task()
        assert task is not None
        who = task.get_name()  # one that gets on must not hide that another does not
        while True:
            try:
                answer = await ask()
            except Unavailable as trouble:
                self._say(who, f"the store does not answer: {trouble}")
            except Exception as defect:
                self._say(who, f"the rule worker does not get on: {defect!r:.200}", is_defect=True)
            else:
                self._troubles.pop(who, None)
                return answer
            await asyncio.sleep(PAUSE_S)

    def _say(self, who: str, trouble: str, is_defect: bool = False) -> None:
        """Logs each trouble once."""
        if trouble != self._troubles.get(who):
            (self._logger.error if is_defect else self._logger.warning)(trouble, exc_info=is_defect)
        self._troubles[who] = trouble
