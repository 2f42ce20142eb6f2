"""The log of events as the worker sees it: parts, each with a cursor, read once and in order (design 7).

A row is written before it is worked on, so a worker that dies finds it again. What was just written is handed over in
memory; where that is too much, or the row is one of very many, it is read from the store when its turn comes.
"""

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from . import shards
from .store import Row, Store

# So many rows of a part are handed over in memory; what is more is read from the store.
FRESH: Final = 512
# So many rows of an event to very many are taken at a time, so that others get their turns.
BULK_SLICE: Final = 250


class Append:
    """Rows on their way to the store, under numbers that are theirs already."""

    __slots__ = ("ended", "last", "rows")

    def __init__(self, last: int) -> None:
        self.last, self.ended = last, False
        self.rows: Sequence[Row] = ()


class Part:
    """One part of the log. Rows up to `taken` were given out; up to `visible` every append has ended, so that whoever reads so
    far passes nobody's row; `behind`: some of them between are not in `fresh` and must be read."""

    __slots__ = ("_appends", "behind", "clock", "fresh", "taken", "visible")

    def __init__(self, cursor: int, end: int) -> None:
        self.taken, self.visible = cursor, max(cursor, end)
        self.clock = shards.Clock(self.visible)
        self.fresh: deque[Row] = deque()
        self.behind = True
        self._appends: deque[Append] = deque()

    def begin(self, numbers: range) -> Append:
        """An append with these numbers is on its way."""
        append = Append(numbers[-1])
        self._appends.append(append)
        return append

    def end(self, append: Append, rows: Sequence[Row]) -> None:
        """It is stored, and handed over as `rows`; without rows it must be looked for (a failed one may be there, too)."""
        append.rows, append.ended = rows, True
        while self._appends and self._appends[0].ended:
            first = self._appends.popleft()
            self.visible = first.last
            if self.behind or not first.rows or len(self.fresh) + len(first.rows) > FRESH:
                self.behind = True
            else:
                self.fresh.extend(first.rows)

    def take(self, limit: int) -> list[Row]:
        """Rows from memory."""
        rows = [self.fresh.popleft() for _ in range(min(limit, len(self.fresh)))]
        if rows:
            self.taken = rows[-1].n
        return rows

    def found(self, rows: Sequence[Row], limit: int, visible: int) -> list[Row]:
        """`rows`, at most `limit`, were read after `taken`, when `visible` was as given; those that may be given out."""
        good = [row for row in rows if row.n <= visible]
        if len(good) < limit:
            self.taken, self.behind = visible, self.visible > visible
        else:
            self.taken = good[-1].n
        return good


class Log:
    """All parts that this worker owns."""

    def __init__(self, store: Store) -> None:
        self.news = asyncio.Event()
        self._store = store
        self._parts: dict[int, Part] = {}
        self._done: dict[int, int] = {}

    async def open(self, parts: Iterable[int], now_ms: int) -> None:
        """Own `parts`, from their cursors on. Raises Unavailable."""
        cursors = await self._store.cursors()
        for part in parts:
            self._parts[part] = Part(cursors.get(part, 0), now_ms * shards.US_PER_MS)
        self.news.set()

    @property
    def backlog(self) -> int:
        """How many parts have rows to give out."""
        return sum(part.behind or bool(part.fresh) for part in self._parts.values())

    async def append(self, users: Iterable[str], event: str, flags: int, is_bulk: bool, now_ms: int) -> None:
        """Store one row for each of `users`. Raises Unavailable: then some may be stored."""
        appends: list[tuple[Part, Append, list[Row]]] = []
        for shard, followers in shards.by_shard(users).items():
            number = shards.part_of(shard, is_bulk)
            part = self._parts[number]
            numbers = part.clock.take(len(followers), now_ms)
            rows = [Row(number, n, event, user, flags) for n, user in zip(numbers, followers, strict=True)]
            appends.append((part, part.begin(numbers), rows))
        handed_over = False
        try:
            await self._store.append(list(chain.from_iterable(rows for _, _, rows in appends)))
            handed_over = not is_bulk
        finally:
            for part, append, rows in appends:
                part.end(append, rows if handed_over else ())
            self.news.set()

    async def take(self, limit: int) -> list[Row]:
        """The next rows: at most `limit`, and a slice of bulk. Empty when there is nothing to do now. Raises Unavailable."""
        rows: list[Row] = []
        for part in self._parts.values():
            rows.extend(part.take(limit - len(rows)))
        bulk = 0
        for number, part in list(self._parts.items()):
            room = min(limit - len(rows), BULK_SLICE - bulk) if shards.is_bulk(number) else limit - len(rows)
            if part.behind and not part.fresh and room > 0:
                found = await self._read(number, part, room)
                bulk += len(found) if shards.is_bulk(number) else 0
                rows.extend(found)
                if shards.is_bulk(number):
                    self._parts[number] = self._parts.pop(number)  # to the end: the others are next
        if not rows and not self.backlog:
            self.news.clear()
        return rows

    async def _read(self, number: int, part: Part, limit: int) -> list[Row]:
        visible = part.visible
        return part.found(await self._store.rows(number, part.taken, limit), limit, visible)

    def done(self, rows: Iterable[Row]) -> None:
        """These rows, the next of their parts, are worked off."""
        for row in rows:
            self._done[row.part] = row.n

    async def save(self) -> None:
        """Keep how far each part is worked off; what was done since the last time is done again after a crash. Raises Unavailable."""
        done, self._done = self._done, {}
        if done:
            try:
                await self._store.save_cursors(done)
            except BaseException:
                self._done = done | self._done
                raise
