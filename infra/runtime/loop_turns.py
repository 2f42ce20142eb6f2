"""Turns of the loop, shared out among many who each need a lot of one."""

import asyncio
from collections import deque
from typing import Final


class LoopTurns:
    """The turns of the running loop: at most `at_once` of those who wait go on in each, first come, first served.

    Between two turns everybody else gets theirs. Whoever waits here is bounded by others.
    """

    def __init__(self, at_once: int) -> None:
        self._loop: Final = asyncio.get_running_loop()
        self._at_once = at_once
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Returns in a turn that has room. Whoever is cancelled meanwhile takes no room."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(waiter)
        if len(self._waiting) == 1:
            self._loop.call_soon(self._next)
        await waiter

    def _next(self) -> None:
        room = self._at_once
        while self._waiting and room:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(None)
                room -= 1
        if self._waiting:
            self._loop.call_soon(self._next)
