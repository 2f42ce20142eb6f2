"""Loops: what a role does again and again for as long as it lives, all under one rule.

A step that raises is logged and counted, and the loop goes on with the next one. The part that begins a loop also ends it, by cancelling
its task. `close` ends those that are left.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from inspect import isawaitable
from typing import Final

from infra.kernel.errors import Unavailable
from infra.runtime.logs import Logger

from .ending import end_tasks
from .metrics import Metric

METRICS: Final = (
    Metric("loop_failures_total", "counter", "Steps of loops that failed. The loop goes on with the next one.", "steps", "loop"),
)
# For loops whose steps wait by themselves: one that fails without having waited would be taken again at once.
PAUSE_S: Final = 0.25

Step = Callable[[], Awaitable[float | None] | float | None]
"""One step. It may return in how many seconds it wants to be called again."""


class Loops:
    """All loops of one role. `log` is told what fails."""

    def __init__(self, log: Logger) -> None:
        self.failures: Counter[str] = Counter()
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()

    def every(
        self,
        period_s: float | None,
        step: Step,
        name: str,
        *,
        at_once: bool = False,
        wake: asyncio.Event | None = None,
        again_s: Callable[[int], float] | None = None,
    ) -> asyncio.Task[None]:
        """Takes `step` every `period_s` seconds, counted from the end of the step before, until the returned task is cancelled.

        - `name`: one of few, from the code; it is a label of the metric.
        - `at_once`: the first step comes without waiting.
        - `wake`: when it is set, the next step comes at once; it is cleared before that. With a `period_s` of None nothing else calls
          for a step.
        - `again_s`: how long to wait after so many failures in a row, in seconds; `period_s` otherwise.
        """
        turn = _Turn(period_s, wake, again_s or (lambda failed: PAUSE_S if period_s == 0 else period_s))
        task = asyncio.get_running_loop().create_task(self._run(turn, step, name, at_once), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Ends all loops that still run. May be called twice."""
        await end_tasks(*self._tasks)

    def counters(self) -> dict[str, dict[str, int]]:
        """Returns the figures of `METRICS`."""
        return {"loop_failures_total": dict(self.failures)}

    async def _run(self, turn: "_Turn", step: Step, name: str, at_once: bool) -> None:
        said, failed = "", 0
        wait_s: float | None = 0.0 if at_once else turn.period_s
        while True:
            await turn.wait(wait_s)
            try:
                asked_s = step()
                if isawaitable(asked_s):
                    asked_s = await asked_s
                wait_s = turn.period_s if asked_s is None else asked_s
                said, failed = "", 0
            except (Exception, asyncio.CancelledError) as error:
                if _is_ours(error):
                    raise
                failed += 1
                wait_s = turn.again_s(failed)
                said = self._tell(name, error, said)

    def _tell(self, name: str, error: BaseException, said: str) -> str:
        """Counts a failure of the loop `name`, and logs it unless it is the one that was `said` last. Returns what is said now."""
        self.failures[name] += 1
        now = repr(error)
        if now != said and isinstance(error, Unavailable):
            self._log.warning("waits for another", loop=name, reason=str(error))
        elif now != said:
            self._log.exception("a step failed; it goes on with the next one", loop=name, exc_info=error)
        return now


class _Turn:
    """The time of a loop's next step."""

    def __init__(self, period_s: float | None, wake: asyncio.Event | None, again_s: Callable[[int], float | None]) -> None:
        self.period_s, self.again_s = period_s, again_s
        self._wake = wake

    async def wait(self, wait_s: float | None) -> None:
        if self._wake is None:
            assert wait_s is not None, "a loop without a period needs something that wakes it"
            await asyncio.sleep(wait_s)
            return
        with suppress(TimeoutError):  # `wait_for` may swallow a cancellation before Python 3.12
            async with asyncio.timeout(wait_s):
                await self._wake.wait()
        self._wake.clear()


def _is_ours(error: BaseException) -> bool:
    """Returns whether the loop is cancelled, and not something that its step waited for."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and bool(task.cancelling())
