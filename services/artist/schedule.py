"""The schedule of the daily job: about once a day, and again soon when a run could not finish."""

import asyncio
from typing import Final

from infra.kernel.backoff import Backoff
from infra.runtime.context import Context
from infra.runtime.ending import end_tasks
from infra.runtime.loops import Loops

from .core import is_due
from .job import DailyJob
from .store import SeenItems

LOOK_S: Final = 1.0
AGAIN: Final = Backoff(base_s=0.1, cap_s=300.0)


class Schedule:
    """The schedule of `job`. `at_s` is the moment of the day, in seconds after midnight UTC; None: it never runs by itself."""

    def __init__(self, job: DailyJob, seen: SeenItems, at_s: int | None, context: Context, loops: Loops) -> None:
        self._job, self._seen, self._at_s, self._loops = job, seen, at_s, loops
        self._wall, self._rng = context.wall, context.rng
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Looks at the clock from now on."""
        if self._at_s is not None:
            self._task = self._loops.every(LOOK_S, self._look, "artist schedule", at_once=True, again_s=self._again_s)

    async def close(self) -> None:
        """Stops, also in the middle of a run: the next start goes on with it. May be called twice."""
        await end_tasks(self._task)

    async def run_if_due(self) -> bool:
        """Runs the job if the newest run has not finished, or if that of today has not begun; returns whether it did.

        Raises as `DailyJob.run_once`.
        """
        if self._at_s is None:
            return False
        last = await self._seen.last()
        due = last is None or not last.finished or is_due(self._wall(), self._at_s, last.started_s)
        if due and not self._job.is_running:
            await self._job.run_once()
            return True
        return False

    async def _look(self) -> None:
        await self.run_if_due()

    def _again_s(self, failed: int) -> float:
        return AGAIN.delay_s(failed, self._rng)
