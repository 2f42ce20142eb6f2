"""Artist monitoring as a process: its store, its doors, and the daily job."""

from pathlib import Path
from typing import Any, Final

from infra.kernel.topics import Kind

from ..follow_answers import follow_answers
from ..service import ServiceRole
from .catalogue import catalogue_of
from .core import time_of_day_s
from .handlers import ArtistHandlers
from .job import DailyJob, RunTally
from .options import ArtistOptions
from .schedule import Schedule
from .store import ArtistStores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite

ROLE: Final = "artist"
KINDS: Final = frozenset({Kind.ARTIST})


class ArtistService(ServiceRole[ArtistOptions]):
    """One artist monitoring service. `start` opens its store and its doors, `close` ends it."""

    role = ROLE
    stores: ArtistStores | None = None
    _job: DailyJob | None = None
    _schedule: Schedule | None = None

    async def start(self) -> None:
        """Open the store, then the doors; with an `at` the job runs when it is due. Raises ConfigError and Unavailable."""
        options = self.options
        stores = self.stores = await self._open_store()
        self.opened.push_async_callback(stores.close)
        job = self._job = DailyJob(
            catalogue_of(options.catalogue),
            stores.seen,
            stores.follows,
            self.notifier,
            announce_first=options.announce_first,
            wall=self._wall,
            log=self._log,
        )
        door = ArtistHandlers(self.captured(stores.follows, Kind.ARTIST), job, self._log)
        self.opened.push_async_callback(door.close)
        await self.open(door.routes(), follow_answers(stores.follows, KINDS))
        if options.at:
            at_s = time_of_day_s(options.at)
            self._schedule = Schedule(job, stores.seen, at_s, wall=self._wall, rng=self._rng, loops=self.links.loops)
            self._schedule.start()
            self.opened.push_async_callback(self._schedule.close)

    async def _open_store(self) -> ArtistStores:
        options = self.options
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, options.max_followed)
        return await open_sqlite(Path(options.path), options.max_followed)

    async def run_once(self) -> RunTally:
        """Run the job now. See `DailyJob.run_once`; to be called after `start`."""
        assert self._job is not None
        return await self._job.run_once()

    async def run_if_due(self) -> bool:
        """Run the job if its time has come. See `Schedule.run_if_due`; to be called after `start`, with an `at`."""
        assert self._schedule is not None
        return await self._schedule.run_if_due()

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        counted = super().counters()
        if self._job is not None:
            counted |= {"artist_announced_total": self._job.announced, "artist_running": int(self._job.is_running)}
            counted |= {"artist_runs_total": self._job.finished, "artist_runs_failed_total": self._job.failed}
        return counted
