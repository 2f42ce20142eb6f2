"""The agenda: mails and pushes in order of when they are due, each read once (design 7).

Tasks lie in the shards of their users; a cursor follows in each. Nothing is put where the cursor has passed, and the cursor
does not pass what is still on its way to the store: both are the owner's alone. So the owner knows when the next task of a
shard is due, and looks only then.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from infra.kernel.errors import Unavailable

from .ownership.core import FencingToken
from .shards import PARTS
from .store import Store, Task

# Its cursors lie behind those of the log.
CURSORS: Final = 1 << 10
assert CURSORS >= PARTS
NEVER_MS: Final = 1 << 62


class Shard:
    """One shard. Tasks up to `done_ms` are worked off, none is due before `next_ms`; `adding`: the first of each addition that is
    on its way to the store."""

    __slots__ = ("adding", "done_ms", "next_ms")

    def __init__(self, done_ms: int) -> None:
        self.done_ms, self.next_ms = done_ms, NEVER_MS
        self.adding: list[int] = []


class Agenda:
    """What is to be sent later, in the shards that this node owns. `news` is set when something was put in that may be due at
    once; `fence()` is as for `Log`."""

    def __init__(self, store: Store, fence: Callable[[], FencingToken]) -> None:
        self.news = asyncio.Event()
        self._store, self._fence = store, fence
        self._shards: dict[int, Shard] = {}
        self._progress = asyncio.Event()

    async def own(self, mine: Iterable[int]) -> None:
        """Go on where the last owner ended. Raises Unavailable: then none is taken."""
        cursors = await self._store.cursors()
        taken = {shard: Shard(cursors.get(CURSORS + shard, 0)) for shard in mine}
        first = await asyncio.gather(*(self._store.next_due(shard, each.done_ms) for shard, each in taken.items()))
        for each, next_ms in zip(taken.values(), first, strict=True):
            each.next_ms = NEVER_MS if next_ms is None else next_ms
        self._shards |= taken
        self.news.set()

    async def hand_over(self, theirs: Collection[int]) -> None:
        """Take nothing in for these shards any more; return when nothing is on its way, and they are forgotten."""
        while any(each.adding for shard, each in self._shards.items() if shard in theirs):
            self._progress.clear()
            await self._progress.wait()
        self.forget(theirs)

    def forget(self, theirs: Collection[int]) -> None:
        """Forget these shards, whatever is under way."""
        for shard in theirs:
            self._shards.pop(shard, None)

    async def add(self, tasks: Sequence[Task]) -> None:
        """Keep tasks. Raises Unavailable: then some may be kept; adding them again is safe."""
        fence = self._fence()
        if any(task.shard not in self._shards for task in tasks):
            raise Unavailable("another node owns these users")
        tasks = [task._replace(due_ms=max(task.due_ms, self._shards[task.shard].done_ms + 1)) for task in tasks]
        first: dict[int, int] = {}
        for task in tasks:
            first[task.shard] = min(task.due_ms, first.get(task.shard, NEVER_MS))
        shards = {shard: self._shards[shard] for shard in first}
        for shard, each in shards.items():
            each.adding.append(first[shard])
        try:
            await self._store.schedule(tasks)
        finally:
            for shard, each in shards.items():
                each.adding.remove(first[shard])
                each.next_ms = min(each.next_ms, first[shard])
            self.news.set()
            self._progress.set()
        if self._fence().node != fence.node:  # whoever has taken over may have passed them
            raise Unavailable("this node was taken for dead meanwhile")

    def check(self) -> None:
        """Raises Unavailable while nothing may be done."""
        self._fence()

    def ready(self, now_ms: int) -> list[int]:
        """The shards in which something is due."""
        return [shard for shard, each in self._shards.items() if each.next_ms <= now_ms]

    async def due(self, shard: int, now_ms: int, limit: int) -> list[Task]:
        """The next tasks that are due, all of one moment together; with none, the next moment is looked up. Raises Unavailable."""
        self.check()
        each = self._shards.get(shard)
        if each is None:
            return []
        until_ms = min([now_ms, *(due_ms - 1 for due_ms in each.adding)])
        tasks = await self._store.due(shard, each.done_ms, until_ms, limit)
        if not tasks:
            await self._look(shard, each)
        return tasks

    async def _look(self, shard: int, each: Shard) -> None:
        each.next_ms, before_ms = NEVER_MS, each.next_ms
        try:
            next_ms = await self._store.next_due(shard, each.done_ms)
        except BaseException:
            each.next_ms = before_ms
            raise
        # What was added meanwhile has lowered it.
        each.next_ms = min(each.next_ms, NEVER_MS if next_ms is None else next_ms)

    async def done(self, shard: int, tasks: Sequence[Task]) -> None:
        """These, the next of their shard, are worked off. Raises Unavailable: then they may be read again."""
        self.check()
        if (each := self._shards.get(shard)) is not None:
            each.done_ms = tasks[-1].due_ms
            await self._store.save_cursors({CURSORS + shard: each.done_ms})
