"""Loop lag: how late the event loop is. It is the first number to look at when a process has too much to do."""

import asyncio
from collections import deque
from typing import Final

PERIOD_S: Final = 0.25
WINDOW: Final = 60  # samples: 15 s, so that scrapes every 15 s miss no stall, however many readers there are


class LoopLag:
    """A timer of the running loop that rings every `PERIOD_S`, and how late it rang lately."""

    def __init__(self) -> None:
        self._samples_s: deque[float] = deque(maxlen=WINDOW)
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begins to measure the running loop; `stop` ends it."""
        self._arm(asyncio.get_running_loop())

    def stop(self) -> None:
        """Ends the measuring. May be called twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def worst_s(self) -> float:
        """Returns the longest delay, in seconds, of the last `WINDOW` samples; 0.0 before the first."""
        return max(self._samples_s, default=0.0)

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(PERIOD_S, self._tick, loop, loop.time() + PERIOD_S)

    def _tick(self, loop: asyncio.AbstractEventLoop, due_s: float) -> None:
        self._samples_s.append(max(0.0, loop.time() - due_s))
        self._arm(loop)
