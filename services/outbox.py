"""Outbox: what a change of state has promised to others, kept beside the state until it is done.

Rule 1: a task is written in the same atomic write as the change that promised it; so neither is there without the other.
Rule 2: tasks of one key are performed one after the other, in the order in which they were written.
Rule 3: a task is performed until it succeeds, so it may be performed twice. Its receiver knows a repetition by its id.
Rule 4: tasks whose receivers fail independently are on *lanes* of their own. A lane that is stuck stops no other.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from infra.kernel.backoff import Backoff
from infra.kernel.errors import Refused, Unavailable
from infra.runtime.context import Context
from infra.runtime.ending import end_tasks
from infra.runtime.loops import Loops

from .tasks import OutboxTask, Stored, TaskOutbox

MAX_HELD: Final = 1024
MAX_PER_KEY: Final = 64
PARALLEL: Final = 32
READ: Final = 256
# How often what is in the store is looked through from the beginning.
SWEEP_S: Final = 60.0


class OutboxRelay:
    """Performs the tasks of one lane of an outbox.

    - `perform`: does a task. It raises Unavailable to be called again later, with growing delays, and Refused to have the task set
      aside. Any other exception is logged, and the task is tried again as after Unavailable.
    - `lane`: whose tasks it performs.
    - `backoff`: the delays before a task is tried again, and before the store is read again.
    - `news`: is set by whoever writes tasks; `wake` sets it, too.

    At most `MAX_HELD` tasks are in memory, and of one key at most `MAX_PER_KEY`. So a receiver that is away costs little memory.
    If it concerns some keys only, it stops no others.
    """

    def __init__(
        self,
        outbox: TaskOutbox,
        perform: Callable[[OutboxTask], Awaitable[None]],
        context: Context,
        loops: Loops,
        *,
        lane: str = "",
        backoff: Backoff = Backoff(base_s=0.1, cap_s=30.0),  # noqa: B008 - a frozen value
        news: asyncio.Event | None = None,
    ) -> None:
        self.performed = self.retried = self.refused = 0
        self._outbox, self._perform, self._loops = outbox, perform, loops
        self._rng, self._log, self._lane, self._backoff = context.rng, context.log, lane, backoff
        # Tasks in memory, by key; the numbers of the same tasks; and those that were finished while the store is being read.
        self._queues: dict[str, deque[Stored]] = {}
        self._held: set[int] = set()
        self._finished: set[int] = set()
        # Keys that have tasks in the store for which there was no room. Until the store is read again from its beginning,
        # no later task of such a key may be taken, or it would overtake them.
        self._behind: set[str] = set()
        self._again = False
        self._after = 0
        self._swept_s = 0.0
        self._news = news or asyncio.Event()
        self._slots = asyncio.Semaphore(PARALLEL)
        self._runners: set[asyncio.Task[None]] = set()
        self._reader: asyncio.Task[None] | None = None

    def counters(self, role: str) -> dict[str, int]:
        """Returns the figures for `metrics.service_metrics(role)`."""
        return {
            f"{role}_outbox_waiting": len(self._held),
            f"{role}_outbox_done_total": self.performed,
            f"{role}_outbox_retries_total": self.retried,
            f"{role}_outbox_refused_total": self.refused,
        }

    def start(self) -> None:
        """Begins with what an earlier life of the process has left."""
        self._swept_s = asyncio.get_running_loop().time()
        self._reader = self._loops.every(
            SWEEP_S,
            self._read_news,
            "outbox reader",
            at_once=True,
            wake=self._news,
            again_s=lambda failed: self._backoff.delay_s(failed, self._rng),
        )

    def wake(self) -> None:
        """Has tasks that were written performed now, and not at the next sweep."""
        self._news.set()

    async def close(self) -> None:
        """Stops. What is not done will be done in the next life. May be called twice."""
        await end_tasks(*self._runners, self._reader)

    async def _read_news(self) -> None:
        now_s = asyncio.get_running_loop().time()
        if self._again or now_s - self._swept_s >= SWEEP_S:
            self._swept_s, self._after, self._again = now_s, 0, False
            self._behind.clear()
        while len(self._held) < MAX_HELD:
            self._finished.clear()
            found = await self._outbox.undone(self._after, READ, self._lane)
            for stored in found:
                self._after = stored.n
                self._take(stored)
            if len(found) < READ:
                return

    def _take(self, stored: Stored) -> None:
        key = stored.task.key
        if stored.n in self._held or stored.n in self._finished or key in self._behind:
            return
        queue = self._queues.get(key)
        if len(self._held) >= MAX_HELD or (queue is not None and len(queue) >= MAX_PER_KEY):
            self._behind.add(key)  # none of its later tasks may be taken before this one
            return
        self._held.add(stored.n)
        if queue is not None:
            queue.append(stored)
            return
        self._queues[key] = deque([stored])
        runner = asyncio.get_running_loop().create_task(self._run(key), name="outbox runner")
        self._runners.add(runner)
        runner.add_done_callback(self._runners.discard)

    async def _run(self, key: str) -> None:
        queue = self._queues[key]
        while queue:
            stored, attempt = queue[0], 0
            while not await self._try(stored, attempt):
                attempt += 1
                self.retried += 1
                await asyncio.sleep(self._backoff.delay_s(attempt, self._rng))
            self._finish(queue.popleft())
        del self._queues[key]
        if key in self._behind:
            self._again = True
            self.wake()

    def _finish(self, stored: Stored) -> None:
        self._held.discard(stored.n)
        self._finished.add(stored.n)  # a reading that is under way may still show it
        if len(self._held) == MAX_HELD // 2:
            self._again = bool(self._behind)
            self.wake()

    async def _try(self, stored: Stored, attempt: int) -> bool:
        """Performs a task; returns whether it is out of the way."""
        task = stored.task
        try:
            async with self._slots:
                try:
                    await self._perform(task)
                    self.performed += 1
                    await self._outbox.done(stored)
                except Refused as refused:
                    self.refused += 1
                    self._log.error("task refused and set aside", op=task.op, id=task.id, reason=str(refused))
                    await self._outbox.set_aside(stored, str(refused))
            return True
        except Unavailable as trouble:
            if not attempt:
                self._log.info("task waits", op=task.op, reason=str(trouble))
        except Exception:
            self._log.exception("task failed", op=task.op, id=task.id)
        return False
