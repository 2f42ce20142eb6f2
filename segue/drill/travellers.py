"""The travellers of a drill: followers who are away while something happens, and want all of it when they come back."""

import asyncio
import tempfile
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from infra.runtime.ending import end_tasks
from segue.sdk.client import Client
from segue.sdk.position_file import PositionFile

from .ledger import DrillLedger


class DrillTravellers:
    """The travellers, by name, and the topics that each `follows`. Their positions are kept in files while they are away.

    - `connected(name, point, positions)`: returns a client at an access point of their site, which goes on from `positions`.
    - `listen(name, client)`: takes what comes.
    - `ledger`: where it counts that somebody came back and was not told that nothing is missing.
    """

    def __init__(
        self,
        follows: Mapping[str, frozenset[str]],
        connected: Callable[[str, int, PositionFile], Client],
        listen: Callable[[str, Client], Coroutine[None, None, None]],
        ledger: DrillLedger,
    ) -> None:
        self._follows, self._connected, self._listen, self._ledger = follows, connected, listen, ledger
        self._point = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._there = AsyncExitStack()
        self._listening: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Has them follow their topics for the first time."""
        self._folder = tempfile.TemporaryDirectory(prefix="segue-drill-")
        await self._follow()

    async def go(self) -> None:
        """Sends them away. What they have taken is in their files by then."""
        await end_tasks(*self._listening)
        self._listening.clear()
        await self._there.aclose()

    async def come(self) -> None:
        """Has them come back, each at the next access point of their site."""
        self._point += 1
        for recovered in await self._follow():
            self._ledger.unrecovered += recovered is not True

    async def close(self) -> None:
        """Ends it. May be called twice."""
        await self.go()
        if self._folder is not None:
            self._folder.cleanup()

    async def _follow(self) -> list[bool | None]:
        """Returns what each of them is told of what they missed; None where they have missed nothing yet."""
        assert self._folder is not None
        told = []
        for name, topics in self._follows.items():
            positions = PositionFile(Path(self._folder.name) / name)
            client = await self._there.enter_async_context(self._connected(name, self._point, positions))
            self._listening.append(asyncio.create_task(self._listen(name, client)))
            told.append((await client.subscribe(sorted(topics), wait="all")).recovered)
        return told
