"""Turns: of several that want the same key at once one is inside, or a few, and the others wait in the order in which they came."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from infra.kernel.errors import Unavailable


class Turns:
    """Turns at any number of keys. A key that nobody wants is not kept.

    - `most`: how many are inside or wait at the same time, at all keys.
    - `most_of_key`: how many of them at one key; None: as many.
    - `inside`: how many are inside at one key.
    """

    def __init__(self, most: int, *, most_of_key: int | None = None, inside: int = 1) -> None:
        self._most, self._most_of_key, self._inside, self._here = most, most_of_key or most, inside, 0
        self._places: dict[str, asyncio.Semaphore] = {}
        self._wanted: dict[str, int] = {}

    @asynccontextmanager
    async def take(self, key: str) -> AsyncIterator[None]:
        """Waits for the turn at `key`, and has it inside the block. Raises `Unavailable` where too many are here already."""
        if self._here >= self._most:
            raise Unavailable(f"{self._most} requests are under way or wait already; repeat this one later")
        if self._wanted.get(key, 0) >= self._most_of_key:
            raise Unavailable(f"{self._most_of_key} requests for {key} are under way or wait already; repeat this one later")
        places = self._places.setdefault(key, asyncio.Semaphore(self._inside))
        self._want(key, +1)
        try:
            async with places:
                yield
        finally:
            self._want(key, -1)

    def _want(self, key: str, more: int) -> None:
        """Counts those that want `key`. The semaphore cannot tell: between a release and the wake-up of the next it seems free."""
        self._here += more
        self._wanted[key] = self._wanted.get(key, 0) + more
        if not self._wanted[key]:
            del self._wanted[key], self._places[key]
