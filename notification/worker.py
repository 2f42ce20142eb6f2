"""The rule worker: rows from the log, through the rules, to the store, the engine and the tasks (spec 8).

A batch is decided while the one before it is being stored. Nobody is told before his item is stored, and a cursor passes a
row only when everything that follows from it is stored: after a crash a row is decided once and told at least once.
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
from .people import People
from .store import AGAIN, Decision, Row, Store

BATCH: Final = 500
SAVE_S: Final = 0.25
PAUSE_S: Final = 0.25
NOTICES: Final = 256
DOUBTED: Final = 1024


class Worker:
    """Works the log off. `publish(event)` hands a live copy to the engine."""

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
        wall: Callable[[], float],
        logger: Anything,
    ) -> None:
        self.decided = self.told = self.scheduled = 0
        self._store, self._log, self._agenda, self._decider, self._online, self.people = store, log, agenda, decider, online, people
        self._publish, self._wall, self._logger = publish, wall, logger
        self._notices: Recent[str, Notice] = Recent(NOTICES)
        self._doubted: Recent[str, bool] = Recent(DOUBTED)
        self._storing: dict[tuple[str, str], Decision] = {}
        self._plans: asyncio.Queue[tuple[list[Row], Plan]] = asyncio.Queue(maxsize=1)
        self._tasks: list[asyncio.Task[None]] = []
        # Rows from before our start may have been decided by who died with them.
        self._started_us = int(wall() * 1_000_000)

    def start(self) -> None:
        """Work until `close`."""
        self._tasks = [
            asyncio.create_task(each(), name=f"rule worker: {each.__name__}") for each in (self._decide, self._perform, self._save)
        ]

    async def close(self) -> None:
        """Stop; what is not done is found in the log at the next start. May be called twice."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        with suppress(Unavailable):
            await self._log.save()

    async def _decide(self) -> None:
        while True:
            rows = await self._patiently(lambda: self._log.take(BATCH))
            if rows:
                await self._plans.put((rows, await self._plan(rows)))
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
        """Those that may have been decided: written before our start, or by a request that was made twice."""
        events = {row.event for row in rows}
        doubted = {event for event in events if self._doubted.take(event)} | {row.event for row in rows if row.flags & AGAIN}
        for event in doubted:
            self._doubted.add(event, True)
        return [(row.user, row.event) for row in rows if row.n <= self._started_us or row.event in doubted]

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
                await self._patiently(lambda plan=plan: self._store.decide(plan.decided))  # type: ignore[misc]
                for decision, _ in plan.decided:
                    del self._storing[decision.user, decision.event]
            if plan.tasks:
                await self._patiently(lambda plan=plan: self._agenda.add(plan.tasks))  # type: ignore[misc]
            for event in plan.live:
                self._publish(event)
            self._log.done(rows)
            self.decided += len(plan.decided)
            self.told += len(plan.live)
            self.scheduled += len(plan.tasks)

    async def _save(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            with suppress(Unavailable):
                await self._log.save()

    async def _patiently(self, ask: Callable[[], Anything]) -> Anything:
        """What `ask` returns, however long the store is away: nothing is skipped."""
        said = ""
        while True:
            try:
                return await ask()
            except Unavailable as trouble:
                if str(trouble) != said:
                    said = str(trouble)
                    self._logger.warning("the store does not answer; trying again", reason=said)
                await asyncio.sleep(PAUSE_S)
