"""The agenda: mails and pushes in order of when they are due, each read once (design 7).

Tasks lie in the shards of their users. In each shard a reader goes ahead, and a cursor follows up to the first task that is not worked
off. Two rules hold: nothing is put where the reader has passed, and the reader does not pass what is still on its way to the store. The
owner of the shard alone puts and reads tasks. So it knows when the next task of a shard is due, and looks only then.
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
# Of a shard that has so many under way nothing more is read.
MAX_OPEN: Final = 400


class Shard:
    """The agenda of one shard.

    - `done_ms`: the cursor; tasks up to it are worked off. `saved_ms` is what the store has of it.
    - `read_ms`: tasks up to it have been read; those in `open` are under way.
    - `reading_ms`: up to where the store is asked now.
    - `next_ms`: no task that has not been read is due before it.
    - `adding`: when the first task of each addition is due that is on its way to the store.
    """

    __slots__ = ("adding", "done_ms", "is_saving", "next_ms", "open", "read_ms", "reading_ms", "saved_ms")

    def __init__(self, done_ms: int) -> None:
        self.done_ms = self.saved_ms = self.read_ms = self.reading_ms = done_ms
        self.next_ms = NEVER_MS
        self.open: set[Task] = set()
        self.adding: list[int] = []
        self.is_saving = False

    @property
    def is_full(self) -> bool:
        """Whether so much is under way that nothing more is read."""
        return len(self.open) >= MAX_OPEN

    def close(self, tasks: Iterable[Task]) -> None:
        """Notes that `tasks` are worked off: the cursor goes on to the first one that is not."""
        self.open.difference_update(tasks)
        self.done_ms = max(self.done_ms, min((task.due_ms for task in self.open), default=self.read_ms + 1) - 1)


class Agenda:
    """The tasks to be done later, in the shards that this node owns.

    - `news`: set when something was put in that may be due at once.
    - `fence`: as for `Log`.
    """

    def __init__(self, store: Store, fence: Callable[[], FencingToken]) -> None:
        self.news = asyncio.Event()
        self._store, self._fence = store, fence
        self._shards: dict[int, Shard] = {}
        self._progress = asyncio.Event()

    async def own(self, mine: Iterable[int]) -> None:
        """Goes on where the last owner of these shards ended. Raises Unavailable: then none is owned."""
        cursors = await self._store.cursors()
        taken = {shard: Shard(cursors.get(CURSORS + shard, 0)) for shard in mine}
        first = await asyncio.gather(*(self._store.next_due(shard, each.done_ms) for shard, each in taken.items()))
        for each, next_ms in zip(taken.values(), first, strict=True):
            each.next_ms = NEVER_MS if next_ms is None else next_ms
        self._shards |= taken
        self.news.set()

    async def hand_over(self, theirs: Collection[int]) -> None:
        """Waits until nothing is on its way to the store in these shards, and forgets them at once."""
        while any(each.adding for shard, each in self._shards.items() if shard in theirs):
            self._progress.clear()
            await self._progress.wait()
        self.forget(theirs)

    def forget(self, theirs: Collection[int]) -> None:
        """Forgets these shards, whatever is under way."""
        for shard in theirs:
            self._shards.pop(shard, None)

    async def add(self, tasks: Sequence[Task]) -> None:
        """Puts tasks on the agenda. Raises Unavailable: then some may be kept; adding them again is safe."""
        fence = self._fence()
        if any(task.shard not in self._shards for task in tasks):
            raise Unavailable("another node owns these users")
        # A task for a time that the reader has passed would never be read.
        tasks = [task._replace(due_ms=max(task.due_ms, _passed_ms(self._shards[task.shard]) + 1)) for task in tasks]
        first: dict[int, int] = {}
        for task in tasks:
            first[task.shard] = min(task.due_ms, first.get(task.shard, NEVER_MS))
        shards = {shard: self._shards[shard] for shard in first}
        # Until they are stored the reader stops in front of them (`due`): it would not find them and would go past.
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
        """Returns the shards in which something is due that may be begun."""
        return [shard for shard, each in self._shards.items() if each.next_ms <= now_ms and not each.is_full]

    async def due(self, shard: int, now_ms: int, limit: int) -> list[Task]:
        """Returns the next tasks of `shard` that are due at `now_ms`, about `limit`: all of one moment come together.

        They are under way from now on, until `done` or `put_back` is told of them. There is none where too many are. Where there is
        none, it looks up when the next one is due. Raises Unavailable.
        """
        self.check()
        each = self._shards.get(shard)
        while each is not None and not each.is_full:
            tasks = await self._read(shard, each, now_ms, limit)
            if not tasks:
                await self._look(shard, each)
                break
            if new := [task for task in tasks if task not in each.open]:
                each.open.update(new)
                return new
        return []

    async def _read(self, shard: int, each: Shard, now_ms: int, limit: int) -> list[Task]:
        from_ms, until_ms = each.read_ms, min([now_ms, *(due_ms - 1 for due_ms in each.adding)])
        each.reading_ms = until_ms
        try:
            tasks = await self._store.due(shard, from_ms, until_ms, limit)
        finally:
            each.reading_ms = 0
        if tasks and each.read_ms == from_ms:  # else something was put back meanwhile
            each.read_ms = tasks[-1].due_ms
        return tasks

    async def _look(self, shard: int, each: Shard) -> None:
        """Looks up when the next task is due."""
        # Cleared before the question, not after: what is added while it is answered lowers it again, and must not be overwritten.
        each.next_ms, before_ms = NEVER_MS, each.next_ms
        try:
            next_ms = await self._store.next_due(shard, each.read_ms)
        except BaseException:
            each.next_ms = before_ms
            raise
        each.next_ms = min(each.next_ms, NEVER_MS if next_ms is None else next_ms)

    async def done(self, shard: int, tasks: Sequence[Task]) -> None:
        """Notes that these tasks of `shard` are worked off. Raises Unavailable: then they may be read again."""
        self.check()
        if (each := self._shards.get(shard)) is not None:
            was_full = each.is_full
            each.close(tasks)
            if was_full:
                self.news.set()
            await self._save(shard, each)

    def put_back(self, shard: int, tasks: Sequence[Task]) -> None:
        """Notes that these tasks of `shard` are not under way any more, and not worked off: they are read again."""
        each = self._shards.get(shard)
        if each is not None and tasks:
            first_ms = min(task.due_ms for task in tasks)
            each.open.difference_update(tasks)
            each.read_ms, each.next_ms = min(each.read_ms, first_ms - 1), min(each.next_ms, first_ms)

    async def _save(self, shard: int, each: Shard) -> None:
        """Saves the cursor. What goes on while it is saved is saved in one go afterwards."""
        if each.is_saving:
            return
        each.is_saving = True
        try:
            while each.saved_ms < (done_ms := each.done_ms):
                await self._store.save_cursors({CURSORS + shard: done_ms})
                each.saved_ms = done_ms
        finally:
            each.is_saving = False


def _passed_ms(each: Shard) -> int:
    """Returns until when tasks have been read, or are about to be."""
    return max(each.done_ms, each.read_ms, each.reading_ms)
