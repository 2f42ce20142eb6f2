"""Runs the job about once a day, and again soon when it could not finish."""

import asyncio
import random
from collections.abc import Callable
from typing import Any as Anything
from typing import Final

from infra.kernel.backoff import Backoff
from infra.kernel.errors import Unavailable

from .core import is_due
from .job import Job
from .store import Seen

LOOK_S: Final = 1.0
AGAIN: Final = Backoff(base_s=0.1, cap_s=300.0)


class Schedule:
    """`at_s` is the moment of the day, in seconds after midnight UTC; `wall` is Unix time in seconds."""

    def __init__(self, job: Job, seen: Seen, at_s: int, *, wall: Callable[[], float], rng: random.Random, log: Anything) -> None:
        self._job, self._seen, self._at_s, self._wall, self._rng, self._log = job, seen, at_s, wall, rng, log
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look at the clock from now on."""
        self._task = asyncio.get_running_loop().create_task(self._loop(), name="artist schedule")

    async def close(self) -> None:
        """Stop, also in the middle of a run: the next start goes on with it. May be called twice."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def run_if_due(self) -> bool:
        """Run the job if the newest run has not finished, or if that of today has not begun. Whether it did. Raises as `run_once`."""
        last = await self._seen.last()
        due = last is None or not last.finished or is_due(self._wall(), self._at_s, last.started_s)
        if due and not self._job.is_running:
            await self._job.run_once()
            return True
        return False

    async def _loop(self) -> None:
        attempt, said = 0, ""
        while True:
            try:
                await self.run_if_due()
                attempt, said, pause_s = 0, "", LOOK_S
            except Unavailable as trouble:
                attempt, pause_s = attempt + 1, AGAIN.delay_s(attempt, self._rng)
                if str(trouble) != said:
                    said = str(trouble)
                    self._log.warning("artist run broke off; it is tried again until it ends", reason=said)
            except Exception:
                attempt, pause_s = attempt + 1, AGAIN.cap_s
                self._log.exception("artist run failed")
            await asyncio.sleep(pause_s)
