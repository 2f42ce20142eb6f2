"""The hop from the driver's thread to the event loop.

A completion costs the driver's thread an append. The loop is woken once for all that come before it looks.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

# So many completions a turn: each usually makes its waiter send the next request, and others want the loop, too.
BURST: Final = 64

Completion = Callable[[Any], None]


class Hop:
    """A queue of callbacks: `post` in any thread, and they run in the loop, in order. The requests in flight bound it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._done: deque[tuple[Completion, Any]] = deque()
        self._woken = False

    def post(self, callback: Completion, value: Any) -> None:
        """Makes the loop call `callback(value)`. After the loop was closed nothing happens."""
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
