"""Turns: of several that want the same key at once one is inside, and the others wait in the order in which they came."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from infra.kernel.errors import Unavailable


class Turns:
    """Turns at any number of keys; at most `most` are inside or wait at the same time. A key that nobody wants is not kept."""

    def __init__(self, most: int) -> None:
        self._most, self._here = most, 0
        self._locks: dict[str, asyncio.Lock] = {}
        self._wanted: dict[str, int] = {}

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[None]:
        """Waits for the turn at `key`, and has it inside the block. Raises `Unavailable` where too many are here already."""
        if self._here >= self._most:
            raise Unavailable(f"{self._most} requests are under way or wait already; repeat this one later")
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._want(key, +1)
        try:
            async with lock:
                yield
        finally:
            self._want(key, -1)

    def _want(self, key: str, more: int) -> None:
        """Counts those that want `key`. The lock cannot tell: between a release and the wake-up of the next it seems free."""
        self._here += more
        self._wanted[key] = self._wanted.get(key, 0) + more
        if not self._wanted[key]:
            del self._wanted[key], self._locks[key]
