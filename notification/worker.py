"""The rule worker: rows from the log, through the rules, to the store, the engine and the tasks (spec 8).

A batch is decided while the one before it is being stored. Nobody is told before his item is stored, and a cursor passes a
row only when everything that follows from it is stored: after a crash a row is decided once and told at least once. While
the node's lease has run out the worker waits, and goes on where it was, or begins anew with other shards.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any as Anything
from typing import Final

from infra.kernel.errors import Unavailable
from infra.kernel.events import Event
from infra.runtime.recent import Recent

from .agenda import Agenda
from .core import Decider, Plan
from .log import Log
from .notice import Notice
from .online import Online
from .ownership import Fence
from .people import People
from .store import AGAIN, Decision, Row, Store

BATCH: Final = 512
SAVE_S: Final = 0.25
PAUSE_S: Final = 0.25
NOTICES: Final = 256
DOUBTED: Final = 1024


class Worker:
    """Works the log off. `publish(event)` hands a live copy to the engine, whatever comes of it; `fence()` is as for `Log`."""

    def __init__(
        self,
        store: Store,
        log: Log,
        agenda: Agenda,
        decider: Decider,
        online: Online,
        people: People,
        *,
        publish: Callable[[Event], None],
        fence: Callable[[], Fence],
        wall: Callable[[], float],
        logger: Anything,
    ) -> None:
        self.decided = self.told = self.scheduled = 0
        # Why it stands still; None while it gets on.
        self.trouble: str | None = None
        self._store, self._log, self._agenda, self._decider, self._online, self.people = store, log, agenda, decider, online, people
        self._publish, self._fence, self._wall, self._logger = publish, fence, wall, logger
        self._notices: Recent[str, Notice] = Recent(NOTICES)
        self._doubted: Recent[str, bool] = Recent(DOUBTED)
        self._storing: dict[tuple[str, str], Decision] = {}
        self._plans: asyncio.Queue[tuple[list[Row], Plan]] = asyncio.Queue(maxsize=1)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Work until `halt` or `close`."""
        self._tasks = [
            asyncio.create_task(each(), name=f"rule worker: {each.__name__}") for each in (self._decide, self._perform, self._save)
        ]

    async def halt(self) -> None:
        """Stop, and forget what is under way; whoever owns it finds it in the log. May be called twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        self._storing.clear()
        while not self._plans.empty():
            self._plans.get_nowait()

    async def close(self) -> None:
        """`halt`, and keep how far it went."""
        await self.halt()
        with suppress(Unavailable):
            await self._log.save()

    async def _decide(self) -> None:
        while True:
            rows = await self._patiently(lambda: self._log.take(BATCH))
            if rows:
                await self._plans.put((rows, await self._patiently(lambda rows=rows: self._plan(rows))))  # type: ignore[misc]
            else:
                await self._log.news.wait()

    async def _plan(self, rows: list[Row]) -> Plan:
        users = {row.user for row in rows}
        notices = await self._patiently(lambda: self._load_notices({row.event for row in rows}))
        people = await self._patiently(lambda: self.people.get(users))
        doubtful = self._doubtful(rows)
        online = await self._online.ask(users)
        storing = dict(self._storing)
        known = await self._patiently(lambda: self._store.decisions(doubtful)) if doubtful else {}
        plan = self._decider.plan(rows, notices, people, online, known | storing, int(self._wall() * 1000))
        self._storing.update({(each.user, each.event): each for each, _ in plan.decided})
        return plan

    def _doubtful(self, rows: list[Row]) -> list[tuple[str, str]]:
        """Those that may have been decided: by the owner before us, or because of a request that was made twice."""
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
        while True:
            rows, plan = await self._plans.get()
            if plan.decided:
                await self._patiently(lambda plan=plan: self._keep(plan))  # type: ignore[misc]
                for decision, _ in plan.decided:
                    del self._storing[decision.user, decision.event]
            if plan.tasks:
                await self._patiently(lambda plan=plan: self._agenda.add(plan.tasks))  # type: ignore[misc]
            await self._patiently(lambda plan=plan: self._tell(plan))  # type: ignore[misc]
            self._log.done(rows)
            self.decided += len(plan.decided)
            self.told += len(plan.live)
            self.scheduled += len(plan.tasks)

    async def _tell(self, plan: Plan) -> None:
        self._fence()
        for event in plan.live:
            self._publish(event)

    async def _keep(self, plan: Plan) -> None:
        """Store what was decided, while it is ours to decide."""
        fence = self._fence()
        await self._store.decide(plan.decided, fence)
        self._fence()

    async def _save(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            with suppress(Unavailable):
                await self._log.save()

    async def _patiently(self, ask: Callable[[], Anything]) -> Anything:
        """What `ask` returns, however long the store is away, and whatever else goes wrong: nothing is skipped."""
        while True:
            try:
                answer = await ask()
            except Unavailable as trouble:
                self._say(f"the store does not answer: {trouble}")
            except Exception as defect:
                self._say(f"the rule worker does not get on: {defect!r:.200}", is_defect=True)
            else:
                self.trouble = None
                return answer
            await asyncio.sleep(PAUSE_S)

    def _say(self, trouble: str, is_defect: bool = False) -> None:
        """Once for each trouble."""
        if trouble != self.trouble:
            (self._logger.error if is_defect else self._logger.warning)(trouble, exc_info=is_defect)
        self.trouble = trouble
