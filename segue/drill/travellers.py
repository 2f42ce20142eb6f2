"""The travellers of a drill: followers who are away while something happens, and want all of it when they come back."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

from infra.runtime.ending import end_tasks
from segue.sdk.client import Client
from segue.sdk.messages import Installed
from segue.sdk.position_file import PositionFile


class DrillTravellers:
    """The travellers, by name, and the topics that each `follows`. Their positions are kept in files while they are away.

    - `connected(name, point, positions)`: returns a client at an access point of their site, which goes on from `positions`.
    - `listen(name, client)`: takes what comes.
    - `back(name, answer_s, answer)`: is called when somebody is back and knows what was missed; the answer took so long.
    """

    def __init__(
        self,
        follows: Mapping[str, frozenset[str]],
        connected: Callable[[str, int, PositionFile], Client],
        listen: Callable[[str, Client], Coroutine[None, None, None]],
        back: Callable[[str, float, Installed], None],
    ) -> None:
        self._follows, self._connected, self._listen, self._back = follows, connected, listen, back
        self._point = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._there = AsyncExitStack()
        self._clients: list[Client] = []
        self._listening: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Has them follow their topics for the first time."""
        self._folder = tempfile.TemporaryDirectory(prefix="segue-drill-")
        await self._follow()

    async def go(self) -> None:
        """Sends them away. They know a point, and what they have taken is in their files by then. Raises ConnectionLost."""
        for client in self._clients:
            await client.ping()
        await self._leave()

    async def _leave(self) -> None:
        await end_tasks(*self._listening)
        self._clients.clear()
        self._listening.clear()
        await self._there.aclose()

    async def come(self) -> None:
        """Has them come back, each at the next access point of their site."""
        self._point += 1
        for name, (answer_s, answer) in (await self._follow()).items():
            self._back(name, answer_s, answer)

    async def close(self) -> None:
        """Ends it. May be called twice."""
        await self._leave()
        if self._folder is not None:
            self._folder.cleanup()

    async def _follow(self) -> dict[str, tuple[float, Installed]]:
        """Returns what each of them is told of what they missed, and how long that took, in seconds."""
        assert self._folder is not None
        told = {}
        for name, topics in self._follows.items():
            positions = PositionFile(Path(self._folder.name) / name)
            client = await self._there.enter_async_context(self._connected(name, self._point, positions))
            self._clients.append(client)
            self._listening.append(asyncio.create_task(self._listen(name, client)))
            asked_s = time.monotonic()
            answer = await client.subscribe(sorted(topics), wait="all")
            told[name] = time.monotonic() - asked_s, answer
        return told
