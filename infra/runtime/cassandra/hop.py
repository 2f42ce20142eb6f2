"""From the driver's thread to the event loop.

A completion costs the driver's thread an append; the loop is woken once for all that come before it looks.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

# So many completions a turn: whoever waits for one usually sends the next request, and others want the loop too.
BURST: Final = 64

Completion = Callable[[Any], None]


class Hop:
    """`post` from any thread, in order; the callbacks run in the loop. Bounded by the requests in flight."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._done: deque[tuple[Completion, Any]] = deque()
        self._woken = False

    def post(self, callback: Completion, value: Any) -> None:
        """Have `callback(value)` called by the loop; after the loop was closed nothing happens."""
        self._done.append((callback, value))
        if not self._woken:
            self._woken = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        # Before looking: what is appended from here on wakes the loop again, at worst for nothing.
        self._woken = False
        done = self._done
        for _ in range(min(len(done), BURST)):
            callback, value = done.popleft()
            callback(value)
        if done and not self._woken:
            self._woken = True
            self._loop.call_soon(self._run)
