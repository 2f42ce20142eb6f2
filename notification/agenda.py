"""The agenda: mails and pushes in order of when they are due, each read once (design 7).

Tasks lie in shards; a cursor follows in each. Nothing is put where the cursor has passed, and the cursor does not pass
what is still on its way to the store.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from .shards import PARTS
from .store import Store, Task

SHARDS: Final = 8
# Its cursors lie behind those of the log.
CURSORS: Final = 1 << 10
assert CURSORS >= PARTS


class Agenda:
    """What is to be sent later. `news` is set when something was put in that may be due at once."""

    def __init__(self, store: Store) -> None:
        self.news = asyncio.Event()
        self._store = store
        self._done = [0] * SHARDS
        self._open: dict[int, tuple[int, int]] = {}
        self._n = 0

    async def open(self) -> None:
        """Go on where the last process ended. Raises Unavailable."""
        cursors = await self._store.cursors()
        self._done = [cursors.get(CURSORS + shard, 0) for shard in range(SHARDS)]

    async def add(self, tasks: Sequence[Task]) -> None:
        """Keep tasks. Raises Unavailable: then some may be kept; adding them again is safe."""
        tasks = [task._replace(due_ms=max(task.due_ms, self._done[task.shard] + 1)) for task in tasks]
        self._n += 1
        n = self._n
        first = {shard: min(task.due_ms for task in tasks if task.shard == shard) for shard in {task.shard for task in tasks}}
        self._open.update({n * SHARDS + shard: (shard, due_ms) for shard, due_ms in first.items()})
        try:
            await self._store.schedule(tasks)
        finally:
            for shard in first:
                del self._open[n * SHARDS + shard]
            self.news.set()

    async def due(self, shard: int, now_ms: int, limit: int) -> list[Task]:
        """The next tasks that are due, all of one moment together. Raises Unavailable."""
        until_ms = min([now_ms, *(due_ms - 1 for where, due_ms in self._open.values() if where == shard)])
        return await self._store.due(shard, self._done[shard], until_ms, limit)

    async def done(self, shard: int, tasks: Sequence[Task]) -> None:
        """These, the next of their shard, are worked off. Raises Unavailable: then they may be read again."""
        self._done[shard] = tasks[-1].due_ms
        await self._store.save_cursors({CURSORS + shard: self._done[shard]})
