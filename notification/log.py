"""The log of events as the worker sees it: parts, each with a cursor, read once and in order (design 7).

A row is written before it is worked on, so a worker that dies finds it again. A row that was just written goes to the worker in
memory. Where there are too many of them, or the row is one of very many, it is read from the store when its turn comes.

Parts come and go with their shards: what was given out of a part that is handed over is worked off first. The numbers of one part:

    ... worked off | given out, open | in `fresh`, or to be read | on their way to the store ...
             cursor            taken                       visible

Appends may end in another order than they began. `visible` stands before the first that has not ended, so nobody reads past a
row that appears later. A failed append ends as well: its rows may be there, so they are looked for.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, repeat
from typing import Final

from infra.kernel.errors import Unavailable

from . import shards
from .ownership.core import FencingToken
from .store import LogRow, Store

# So many rows of a part are handed over in memory; what is more is read from the store.
FRESH: Final = 512
# So many rows of an event to very many are taken beside others, so that those are not kept waiting.
BULK_SLICE: Final = 128


class Append:
    """Rows on their way to the store, with numbers up to `last` that are theirs already."""

    __slots__ = ("ended", "last", "rows")

    def __init__(self, last: int) -> None:
        self.last, self.ended = last, False
        self.rows: Sequence[LogRow] = ()


class Part:
    """One part of the log.

    - `taken`: rows up to this number were given out.
    - `visible`: up to this number every append has ended, so a reader passes nobody's row.
    - `fresh`: rows after `taken`, in memory.
    - `behind`: some rows up to `visible` are not in `fresh` and must be read.
    - `inherited`: rows up to this number are from before we owned the part.
    - `open_rows`: how many were given out and are not worked off.
    - `is_handing_over`: nothing more is given out or taken in.
    """

    __slots__ = ("_appends", "behind", "clock", "fresh", "inherited", "is_handing_over", "open_rows", "taken", "visible")

    def __init__(self, cursor: int, end: int) -> None:
        self.taken, self.visible = cursor, max(cursor, end)
        self.inherited = self.visible
        self.clock = shards.Clock(self.visible)
        self.fresh: deque[LogRow] = deque()
        self.behind = True
        self.is_handing_over, self.open_rows = False, 0
        self._appends: deque[Append] = deque()

    @property
    def must_be_read(self) -> bool:
        """Whether the next rows are to be read from the store."""
        return self.behind and not self.fresh and not self.is_handing_over

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is under way."""
        return not self.open_rows and not self._appends

    def begin(self, numbers: range) -> Append:
        """Notes that an append with these numbers is on its way."""
        append = Append(numbers[-1])
        self._appends.append(append)
        return append

    def end(self, append: Append, rows: Sequence[LogRow]) -> None:
        """Notes that an append has ended with `rows`; without rows it must be looked for (a failed one may be there, too)."""
        append.rows, append.ended = rows, True
        while self._appends and self._appends[0].ended:
            first = self._appends.popleft()
            self.visible = first.last
            # Once behind, nothing fresh is taken until the store was read up to `visible` (`found`): rows would come out of order.
            if self.behind or not first.rows or len(self.fresh) + len(first.rows) > FRESH:
                self.behind = True
            else:
                self.fresh.extend(first.rows)

    def take(self, limit: int) -> list[LogRow]:
        """Returns the next rows from memory, at most `limit`."""
        rows = [self.fresh.popleft() for _ in range(min(limit, len(self.fresh)))]
        if rows:
            self.taken = rows[-1].n
            self.open_rows += len(rows)
        return rows

    def found(self, rows: Sequence[LogRow], limit: int, visible: int) -> list[LogRow]:
        """Returns those rows that may be given out.

        - `rows`: what was read after `taken`, at most `limit`.
        - `visible`: as it was when the store was asked. What became visible since may be missing in `rows`.
        """
        good = [row for row in rows if row.n <= visible]
        if len(good) < limit:  # then there is no other up to `visible`
            self.taken, self.behind = visible, self.visible > visible
        else:
            self.taken = good[-1].n
        self.open_rows += len(good)
        return good


class Log:
    """All parts of the shards that this node owns.

    - `news`: set when there may be rows to take.
    - `fence`: returns what writes bear; raises Unavailable where the node may not write now.
    """

    def __init__(self, store: Store, fence: Callable[[], FencingToken]) -> None:
        self.news = asyncio.Event()
        self._store, self._fence = store, fence
        self._parts: dict[int, Part] = {}
        self._done: dict[int, int] = {}
        self._progress = asyncio.Event()

    # Shards come and go.

    async def own(self, mine: Iterable[int], now_ms: int) -> None:
        """Goes on with the parts of these shards, from their cursors. Raises Unavailable: then none is owned."""
        parts = [shards.part_of(shard, is_bulk) for shard in mine for is_bulk in (False, True)]
        cursors, ends = await self._store.cursors(), await self._store.ends(parts)
        for part in parts:
            # The owner before us may have had a clock that was ahead of ours: our numbers begin above its rows.
            self._parts[part] = Part(cursors.get(part, 0), max(now_ms * shards.US_PER_MS, ends.get(part, 0)))
        self.news.set()

    async def hand_over(self, theirs: Collection[int]) -> None:
        """Gives nothing more out of these shards and takes nothing in; returns when nothing of them is under way."""
        parts = [part for number, part in self._parts.items() if shards.shard_of_part(number) in theirs]
        for part in parts:
            part.is_handing_over = True
        while not all(part.is_idle for part in parts):
            self._progress.clear()
            await self._progress.wait()

    def forget(self, theirs: Collection[int]) -> None:
        """Forgets these shards, whatever is under way."""
        for number in [number for number in self._parts if shards.shard_of_part(number) in theirs]:
            del self._parts[number]
            self._done.pop(number, None)

    def owns(self, shard: int) -> bool:
        """Returns whether rows for `shard` are taken in here."""
        part = self._parts.get(shard)
        return part is not None and not part.is_handing_over

    def is_inherited(self, row: LogRow) -> bool:
        """Returns whether `row` is from before this node owned its shard: the owner before may have decided it."""
        part = self._parts.get(row.part)
        return part is None or row.n <= part.inherited

    @property
    def backlog(self) -> int:
        """The number of parts that have rows to give out."""
        return sum(_has_rows(part) for part in self._parts.values())

    # Rows.

    async def append(self, followers: dict[int, list[str]], event: str, flags: int, is_bulk: bool, now_ms: int) -> None:
        """Stores one row for each of `followers`.

        - `followers`: users by shard, all of shards that are owned here.
        - `event`, `flags`: of each row; see `store`.
        - `is_bulk`: whether they go by the lane for bulk.
        - `now_ms`: Unix time.

        Raises Unavailable: then some may be stored.
        """
        fence = self._fence()
        appends: list[tuple[Part, Append, list[LogRow]]] = []
        for shard, users in followers.items():
            number = shards.part_of(shard, is_bulk)
            part = self._parts[number]
            numbers = part.clock.take(len(users), now_ms)  # and `begin` before any await, so appends stand in order of numbers
            rows = list(map(LogRow, repeat(number), numbers, repeat(event), users, repeat(flags)))
            appends.append((part, part.begin(numbers), rows))
        handed_over = False
        try:
            await self._store.append(list(chain.from_iterable(rows for _, _, rows in appends)), fence)
            handed_over = not is_bulk
        finally:
            for part, append, rows in appends:
                part.end(append, rows if handed_over else ())
            self.news.set()
            self._progress.set()
        if self._fence().node != fence.node:  # whoever has taken over may have read the log before these were in it
            raise Unavailable("this node was taken for dead meanwhile")

    async def take(self, limit: int) -> list[LogRow]:
        """Returns the next rows, at most `limit`; of bulk only a slice where there are others. Empty when there is nothing to do now.

        Raises Unavailable.
        """
        rows: list[LogRow] = []
        for part in self._parts.values():
            if not part.is_handing_over:
                rows.extend(part.take(limit - len(rows)))
        try:
            for is_bulk in (False, True):
                room = limit - len(rows)
                rows.extend(await self._read(is_bulk, min(room, BULK_SLICE) if is_bulk and rows else room))
        except Unavailable:
            if not rows:  # those are given out already
                raise
        if not rows and not self.backlog:  # no await between the two: a row that comes later sets it again
            self.news.clear()
        return rows

    async def _read(self, is_bulk: bool, limit: int) -> list[LogRow]:
        """Returns the next rows of parts that must be read: a few of each part.

        Rows that were written together lie side by side in what is stored for their users, too.
        """
        due = [number for number, part in self._parts.items() if shards.is_bulk(number) == is_bulk and part.must_be_read]
        asked = {number: (self._parts[number], self._parts[number].visible) for number in due[: min(limit, self._store.parts_at_once)]}
        if not asked:
            return []
        each = limit // len(asked)
        found = await self._store.rows({number: part.taken for number, (part, _) in asked.items()}, each)
        rows: list[LogRow] = []
        for number, (part, visible) in asked.items():
            # It may have been lost, and owned again as a new `Part`, while the store was asked.
            if self._parts.get(number) is part and not part.is_handing_over:
                rows.extend(part.found(found[number], each, visible))
                self._parts[number] = self._parts.pop(number)  # to the end: the others are next
        return rows

    def done(self, rows: Iterable[LogRow]) -> None:
        """Notes that these rows, the next of their parts, are worked off."""
        for row in rows:
            self._done[row.part] = row.n
            self._parts[row.part].open_rows -= 1
        self._progress.set()

    async def save(self) -> None:
        """Stores how far each part is worked off. After a crash what was done since then is done again. Raises Unavailable."""
        done, self._done = self._done, {}
        if done:
            try:
                await self._store.save_cursors(done)
            except BaseException:
                self._done = done | self._done  # what was done meanwhile is farther
                raise


def _has_rows(part: Part) -> bool:
    return not part.is_handing_over and (part.behind or bool(part.fresh))
