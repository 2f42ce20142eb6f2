"""News: how a part of a test tells the test that something has changed, so that nobody waits for time to pass."""

import asyncio
from collections.abc import Callable

DEADLINE_S = 30.0


class News:
    """The news of one part of a test. Whoever waits gives up after `deadline_s`."""

    def __init__(self, deadline_s: float = DEADLINE_S) -> None:
        self._deadline_s = deadline_s
        self._next = asyncio.Event()

    def tell(self) -> None:
        """Wakes all who wait."""
        news, self._next = self._next, asyncio.Event()
        news.set()

    async def until(self, condition: Callable[[], object]) -> None:
        """Waits until `condition` holds, and looks again at all news. Raises TimeoutError."""
        async with asyncio.timeout(self._deadline_s):
            while not condition():
                await self._next.wait()
