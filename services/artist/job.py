"""The daily job: it reads the catalogue, announces what is new, and remembers what it saw (spec 3.6, SB-35).

Rule: an item is remembered only after the notification module has taken it, and its notification has the same id in every run.
So a crash at any point costs no item, and the intake drops an item that it has had.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Final

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, format_topic
from infra.runtime.context import Context

from ..follows import FollowStore, follower_pages
from ..intake_client import Audience, IntakeClient, OutgoingNotification
from .catalogue import Catalogue
from .core import CatalogueItem, Standing, parse_line
from .store import ArtistStores, Run

COMPLAINTS: Final = 10


class RunTally(msgspec.Struct, kw_only=True):
    """The counts of one run so far.

    - `announced`: items that followers were told of.
    - `learned`: items of new artists, remembered in silence.
    - `refused`: notifications that nobody will ever take.
    - `wrong`: lines that are no items.
    """

    run: int
    started_s: float
    finished: bool = False
    items: int = 0
    announced: int = 0
    learned: int = 0
    refused: int = 0
    wrong: int = 0


class DailyJob:
    """The job. With `announce_first` it announces the items of artists who were never seen, too."""

    def __init__(
        self, catalogue: Catalogue, stores: ArtistStores, notifier: IntakeClient, context: Context, *, announce_first: bool
    ) -> None:
        self.tally: RunTally | None = None
        self.finished = self.failed = self.announced = 0
        self._catalogue, self._notifier, self._announce_first = catalogue, notifier, announce_first
        self._seen, self._follows = stores.seen, stores.follows
        self._wall, self._log = context.wall, context.log
        self._running = asyncio.Lock()

    @property
    def is_running(self) -> bool:
        """Whether a run is under way here."""
        return self._running.locked()

    async def run_once(self) -> RunTally:
        """Announces each item of the catalogue that was never seen, once. Running it again announces 0 (SB-35).

        An artist who was never seen is learned in silence, unless `announce_first`: the old albums are no news. Raises
        Unavailable when catalogue, store or intake cannot answer. The next run goes on where this one ended. Cancelling is safe.
        Two callers get a run each, one after the other.
        """
        async with self._running:
            try:
                return await self._run()
            except Exception:
                self.failed += 1
                raise

    async def _run(self) -> RunTally:
        run = await self._seen.begin(self._wall())
        if self.tally is None or self.tally.run != run.number:  # else it goes on with one that broke off
            self._log.info("artist run started", run=run.number)
        tally = self.tally = RunTally(run=run.number, started_s=run.started_s)
        async with aclosing(self._catalogue.batches()) as batches:
            async for lines in batches:
                await self._take(run, self._items(lines, tally), tally)
        await self._seen.finish(run)
        tally.finished = True
        self.finished += 1
        self._log.info("artist run finished", **msgspec.structs.asdict(tally))
        return tally

    def _items(self, lines: list[bytes], tally: RunTally) -> list[CatalogueItem]:
        """Returns each item of a batch, once."""
        items: dict[bytes, CatalogueItem] = {}
        for line in filter(bytes.strip, lines):
            try:
                item = parse_line(line)
                items[item.key] = item
            except Refused as refused:
                tally.wrong += 1
                if tally.wrong <= COMPLAINTS:
                    self._log.warning("catalogue line is no item", line=line[:200].decode(errors="replace"), reason=refused.reason)
        return list(items.values())

    async def _take(self, run: Run, items: list[CatalogueItem], tally: RunTally) -> None:
        standings = await self._seen.standing(run, items)
        tally.items += len(items)
        learned = []
        for item, standing in zip(items, standings, strict=True):
            if standing is Standing.NEW or (standing is Standing.FIRST and self._announce_first):
                await self._announce(item, tally)
            elif standing is Standing.FIRST:
                learned.append(item)
        await self._seen.mark(learned)
        tally.learned += len(learned)

    async def _announce(self, item: CatalogueItem, tally: RunTally) -> None:
        payload = msgspec.Raw(msgspec.json.encode(item.payload()))
        news = OutgoingNotification(item.notification_id(), format_topic(item.topic), item.type, payload, item.artist)
        try:
            await self._notifier.notify(news, _audience(self._follows, item.topic))
            tally.announced += 1
            self.announced += 1
        except Refused as refused:  # It would be refused for ever, so it is remembered all the same: the others must go on.
            tally.refused += 1
            self._log.error("notification refused", id=news.id, topic=news.topic, reason=refused.reason)
        await self._seen.mark([item])


async def _audience(follows: FollowStore, topic: Topic) -> AsyncIterator[Audience]:
    async for users in follower_pages(follows, topic):
        yield Audience(users)
