"""Dispatch: mails, pushes and messages to webhooks when they are due (spec 8, SB-41, SB-42).

The ending of each is stored, so a task that is read again after a crash is not done again. A mail that went out before its
ending could be stored goes again, under the same Message-ID.

Nobody waits for somebody else's push service. What is due is begun while earlier tasks of the shard are under way, and the pushes of
one user stand in one line: one is under way at a time. So do the messages to one webhook.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Coroutine, Sequence
from typing import Any, Final

from infra.kernel.errors import Unavailable
from infra.runtime.ending import end_tasks

from .attempt import Attempts, Job, is_alone, jobs_of
from .module_context import ModuleContext
from .owned import Owned
from .store import WAITING, Task

PERIOD_S: Final = 1.0
AT_ONCE: Final = 100
# More pushes of one user are put off: else one user could fill what a shard may have under way.
MAX_LINE: Final = 8

Key = tuple[str, str, str]
# A user and a channel.
Line = tuple[str, str]


class Dispatch:
    """The loop that works tasks off: it reads the agenda of `owned`, and has `attempts` made."""

    def __init__(self, module: ModuleContext, owned: Owned, attempts: Attempts) -> None:
        self._module, self._store, self._logger = module, module.store, module.context.log
        self._agenda, self._attempts = owned.agenda, attempts
        self._task: asyncio.Task[None] | None = None
        self._reading: set[int] = set()
        self._running: dict[asyncio.Task[None], int] = {}
        self._lines: dict[Line, deque[Job]] = {}
        self._waiting: set[int] = set()
        self._rests_until_s: dict[int, float] = {}
        self._handing_over: frozenset[int] = frozenset()

    @property
    def ended(self) -> dict[str, int]:
        """How many tasks ended how."""
        return self._attempts.ended

    def start(self) -> None:
        """Sends what is due until `stop`."""
        self._task = self._module.loops.every(PERIOD_S, self._begin_due, "mails and pushes", at_once=True, wake=self._agenda.news)

    async def stop(self) -> None:
        """Stops at once. May be called twice; `start` begins again."""
        await end_tasks(self._task, *self._running)
        self._handing_over = frozenset()

    async def hand_over(self, theirs: Collection[int]) -> None:
        """Begins nothing more in these shards; returns when what was begun is done."""
        self._handing_over = frozenset(theirs)
        while mine := [task for task, shard in self._running.items() if shard in theirs]:
            await asyncio.wait(mine)

    def handed_over(self) -> None:
        """Notes that the agenda has forgotten the shards that were handed over: from now on it says what is ours."""
        self._handing_over = frozenset()

    def _begin_due(self) -> None:
        now_s = asyncio.get_running_loop().time()
        self._rests_until_s = {shard: until_s for shard, until_s in self._rests_until_s.items() if until_s > now_s}
        for shard in self._agenda.ready(self._module.now_ms()):
            if shard not in self._reading and shard not in self._handing_over and shard not in self._rests_until_s:
                self._reading.add(shard)
                task = self._run(shard, self._read(shard), "mails and pushes of a shard")
                task.add_done_callback(lambda _, shard=shard: self._reading.discard(shard))  # type: ignore[misc]

    def _run(self, shard: int, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._running[task] = shard
        task.add_done_callback(self._running.pop)
        return task

    async def _read(self, shard: int) -> None:
        """Begins everything that is due now in one shard."""
        try:
            while shard not in self._handing_over and (tasks := await self._agenda.due(shard, self._module.now_ms(), AT_ONCE)):
                await self._begin(shard, tasks)
            self._waiting.discard(shard)
            self._agenda.news.set()  # what came while we were ending
        except Unavailable as trouble:
            self._note(shard, trouble)
        except Exception:
            self._logger.exception("mails and pushes could not be sent")

    async def _begin(self, shard: int, tasks: Sequence[Task]) -> None:
        """Begins `tasks` of one shard, but those that have ended before. Raises Unavailable: then they are read again."""
        left = list(tasks)
        try:
            known = {key for key, each in (await self._store.sent({_key(task) for task in tasks})).items() if each.state != WAITING}
            await self._agenda.done(shard, [task for task in tasks if _key(task) in known])
            left = [task for task in tasks if _key(task) not in known]
            late = [job for job in jobs_of(left) if not self._has_begun(shard, job)]
            left = [task for job in late for task in job.tasks]
            if left:
                await self._attempts.put_off(left)
                await self._agenda.done(shard, left)
        except BaseException:
            self._put_back(shard, left)
            raise

    def _has_begun(self, shard: int, job: Job) -> bool:
        """Begins `job`, or puts it in the line of its user; returns False where that is full."""
        key = (job.user, job.channel)
        line = self._lines.get(key) if is_alone(job.channel) else None
        if line is None:
            line = deque([job])
            if is_alone(job.channel):
                self._lines[key] = line
            self._run(shard, self._work_off(shard, line), f"a {job.channel}")
        elif len(line) >= MAX_LINE:
            return False
        else:
            line.append(job)
        return True

    async def _work_off(self, shard: int, line: deque[Job]) -> None:
        """Does the jobs of `line`, one after the other."""
        key = (line[0].user, line[0].channel)
        try:
            while line and shard not in self._handing_over:
                is_late = await self._attempts.make(line[0])
                await self._agenda.done(shard, line.popleft().tasks)
                if is_late:  # the next one would wait as long for the same devices
                    await self._put_off(shard, line)
        except Unavailable as trouble:
            self._note(shard, trouble)
        except Exception:
            self._logger.exception("mails and pushes could not be sent")
        finally:
            if self._lines.get(key) is line:
                del self._lines[key]
            self._put_back(shard, [task for job in line for task in job.tasks])

    async def _put_off(self, shard: int, line: deque[Job]) -> None:
        """Puts off all that stands in `line` now. Raises Unavailable: then it stands there still."""
        late = list(line)
        tasks = [task for job in late for task in job.tasks]
        if tasks:
            await self._attempts.put_off(tasks)
            await self._agenda.done(shard, tasks)
        for _ in late:
            line.popleft()

    def _put_back(self, shard: int, tasks: Sequence[Task]) -> None:
        """Lets `tasks` that could not be worked off be read again, after a pause, whatever news there is of the shard meanwhile."""
        self._agenda.put_back(shard, tasks)
        if tasks:
            self._rests_until_s[shard] = asyncio.get_running_loop().time() + PERIOD_S

    def _note(self, shard: int, trouble: Unavailable) -> None:
        """Logs that the store does not answer, once until it does."""
        if shard not in self._waiting:
            self._waiting.add(shard)
            self._logger.warning("mails and pushes wait for the store", reason=str(trouble))


def _key(task: Task) -> Key:
    return task.user, task.event, task.channel
