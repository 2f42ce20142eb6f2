"""Retelling: live copies that no broker took are kept on the agenda, and go again as long as their users are online.

What is due for a user goes as one copy, that of the newest mark: the device sees the gap below it and pulls. A user who has
gone offline before any broker took it gets what the rules give to a user who is offline. So nobody loses a mail because they
were online when it was decided. How a copy stands is stored beside the mails and pushes, so `why` can tell.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

from infra.kernel.errors import Unavailable
from infra.kernel.events import Event
from infra.kernel.topics import user_of
from infra.runtime.ending import end_tasks

from . import items
from .agenda import Agenda
from .core import DIGEST, EMAIL, LIVE, Decider
from .module_context import ModuleContext
from .notice import Notice
from .shards import SHARDS, shard_of
from .store import WAITING, Decision, Person, Sent, Task
from .teller import Publish

# How long a copy waits before it goes again, and how long a broker may take to answer.
AGAIN_MS: Final = 10_000
MOMENT_MS: Final = 1000
ANSWER_S: Final = 5.0
PAUSE_S: Final = 1.0
AT_ONCE: Final = 100
MAX_NEWS: Final = 100_000


class Retelling:
    """The outcomes of live copies, and the copies that go again.

    - `module`, `agenda`: the store, and the tasks of owned shards.
    - `decider`: decides for users who have gone offline.
    - `publish`: makes one attempt.
    - `schedule`: puts a task on the agenda of the node that owns its user.

    At most `MAX_NEWS` outcomes wait for the store. Beyond that the oldest is given up, and `lost` counts it: its mark shows as
    a gap later.
    """

    def __init__(
        self, module: ModuleContext, agenda: Agenda, decider: Decider, publish: Publish, schedule: Callable[[Task], Awaitable[None]]
    ) -> None:
        self.retold = self.lost = 0
        self._module, self._store, self._agenda, self._decider = module, module.store, agenda, decider
        self._publish, self._schedule = publish, schedule
        self._news: deque[Sent] = deque()
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Keeps outcomes until `close`."""
        self._task = self._module.loops.every(
            None, self._keep_all, "live copies that no broker took", at_once=True, wake=self._arrived, again_s=lambda _: PAUSE_S
        )

    async def close(self) -> None:
        """Stops, and keeps what has come in. May be called twice."""
        await end_tasks(self._task)
        with suppress(Unavailable):
            await self._keep_all()

    def told(self, event: Event, ok: bool, attempts: int) -> None:
        """Notes what came of a live copy: `ok` if a broker took it, after so many `attempts`.

        One that was taken at the first attempt leaves no trace, because nearly all go that way.
        """
        if ok and attempts == 1:
            return
        state, reason = ("delivered", f"a broker took it at attempt {attempts}") if ok else (WAITING, _waits(attempts))
        if len(self._news) >= MAX_NEWS:
            self._news.popleft()
            self.lost += 1
        self._news.append(Sent(user_of(event.topic), event.id.decode(), LIVE, state, reason, self._module.now_ms()))
        self._arrived.set()

    async def _keep_all(self) -> None:
        while self._news:
            await self._keep()

    async def _keep(self) -> None:
        """Stores the next outcomes, and schedules what is to go again. Raises Unavailable: then they wait as before."""
        some = [self._news.popleft() for _ in range(min(AT_ONCE, len(self._news)))]
        try:
            await self._store.record(some)
            await asyncio.gather(*(self._schedule(_task(each)) for each in some if each.state == WAITING))
        except BaseException:
            self._news.extendleft(reversed(some))
            raise

    async def tell(self, tasks: Sequence[Task], person: Person, notices: Mapping[str, Notice], online: int, now_ms: int) -> list[Sent]:
        """Tells one user what is due, or decides for them where they have gone offline; returns how each copy stands now.

        - `tasks`: what is due for `person`; `notices` has what they are about.
        - `online`: the user's bits, 0 if they are offline.
        - `now_ms`: Unix time.

        Raises Unavailable.
        """
        known = await self._store.decisions([(task.user, task.event) for task in tasks])
        decided = [(each, notices[each.event]) for each in known.values() if each.event in notices]
        if not online:
            await self._instead(decided, person, now_ms)
            return [_ended(task, "dropped", "the user went offline before a broker took it", now_ms) for task in tasks]
        if not decided:
            return [_ended(task, "dropped", "it has expired", now_ms) for task in tasks]
        decision, notice = max(decided, key=lambda each: each[0].mark)
        if await self._is_taken(items.live(person.user, decision.mark, self._decider.epoch(), decision.types, notice, items.told(notice))):
            self.retold += len(tasks)
            return [_ended(task, "delivered", "a broker took it when it was told again", now_ms) for task in tasks]
        await self._agenda.add([task._replace(due_ms=_due_ms(now_ms), attempt=task.attempt + 1) for task in tasks])
        return [_ended(task, WAITING, _waits(task.attempt + 1), now_ms) for task in tasks]

    async def _instead(self, decided: Sequence[tuple[Decision, Notice]], person: Person, now_ms: int) -> None:
        """Schedules mails and pushes for a user who is offline now, save those that were granted at once."""
        tasks: list[Task] = []
        for decision, notice in decided:
            verdict = self._decider.verdict(notice, person, 0, 0, now_ms)
            granted = (task for task in self._decider.tasks(decision, verdict, person, now_ms))
            tasks += (task for task in granted if (EMAIL if task.channel == DIGEST else task.channel) not in decision.types)
        if tasks:
            await self._agenda.add(tasks)

    async def _is_taken(self, event: Event) -> bool:
        taken: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._publish(event, lambda ok: None if taken.done() else taken.set_result(ok))
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                return await taken
        return False


def _waits(attempts: int) -> str:
    return f"no broker has taken it in {attempts} attempt{'s' * (attempts > 1)}; it goes again while the user is online"


def _due_ms(now_ms: int) -> int:
    """Returns when a copy goes again, a full second: what is due for a user at one moment goes as one."""
    return (now_ms + AGAIN_MS) // MOMENT_MS * MOMENT_MS + MOMENT_MS


def _task(waiting: Sent) -> Task:
    due_ms = _due_ms(waiting.ts_ms)
    return Task(shard_of(waiting.user) % SHARDS, due_ms, waiting.user, LIVE, waiting.event, 1, due_ms)


def _ended(task: Task, state: str, reason: str, now_ms: int) -> Sent:
    return Sent(task.user, task.event, LIVE, state, reason, now_ms)
