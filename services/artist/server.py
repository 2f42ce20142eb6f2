"""Artist monitoring as a process: its store, its doors, and the daily job."""

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any as Anything
from typing import Final

from infra.kernel.topics import Kind
from infra.runtime.capture import Capture
from infra.runtime.wire import Network

from ..captured_follows import CapturedFollows
from ..follows import Follows
from ..notifier import Notifier
from ..service import ServiceNode, Tokens, follow_answers
from .catalogue import catalogue_of
from .core import time_of_day_s
from .door import Door
from .job import Job, Tally
from .options import ArtistOptions
from .schedule import Schedule
from .store import Stores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite

ROLE: Final = "artist"
KINDS: Final = frozenset({Kind.ARTIST})


class Artist:
    """One artist monitoring service. `start` opens its store and its doors, `close` ends it. `token(service)` makes a service
    token."""

    role = ROLE

    def __init__(
        self,
        options: ArtistOptions,
        network: Network,
        tokens: Tokens,
        token: Callable[[str], str],
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
        capture: Capture | None = None,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self._log, self._rng, self._wall, self._capture = log, rng, wall, capture
        self.service = ServiceNode(ROLE, options, network, tokens, log=log, rng=rng, wall=wall)
        self.links = self.service.links
        self._notifier = Notifier(options.notification, partial(token, ROLE))
        self.stores: Stores | None = None
        self._job: Job | None = None
        self._schedule: Schedule | None = None
        self._door: Door | None = None

    @property
    def address(self) -> str:
        """Where the HTTP door is."""
        return self.service.door

    async def start(self) -> None:
        """Open the store, then the doors; with an `at` the job runs when it is due. Raises ConfigError, Unavailable and OSError."""
        options = self.options
        stores = self.stores = await self._open()
        job = self._job = Job(
            catalogue_of(options.catalogue),
            stores.seen,
            stores.follows,
            self._notifier,
            announce_first=options.announce_first,
            wall=self._wall,
            log=self._log,
        )
        self._door = Door(self._captured(stores.follows), job, self._log)
        await self.service.start(self._door.routes(), follow_answers(stores.follows, KINDS))
        if options.at:
            at_s = time_of_day_s(options.at)
            self._schedule = Schedule(job, stores.seen, at_s, wall=self._wall, rng=self._rng, log=self._log)
            self._schedule.start()

    def _captured(self, follows: Follows) -> Follows:
        return follows if self._capture is None else CapturedFollows(follows, self._capture, Kind.ARTIST)

    async def _open(self) -> Stores:
        options = self.options
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, options.max_followed)
        return await open_sqlite(Path(options.path), options.max_followed)

    async def run_once(self) -> Tally:
        """Run the job now. See `Job.run_once`; to be called after `start`."""
        assert self._job is not None
        return await self._job.run_once()

    async def run_if_due(self) -> bool:
        """Run the job if its time has come. See `Schedule.run_if_due`; to be called after `start`, with an `at`."""
        assert self._schedule is not None
        return await self._schedule.run_if_due()

    async def drain(self) -> None:
        """Take nothing new over HTTP."""
        self.service.drain()

    async def close(self) -> None:
        """Close the doors, break off the job, close the store. May be called twice."""
        await self.service.close()
        if self._schedule is not None:
            await self._schedule.close()
        if self._door is not None:
            await self._door.close()
        await self._notifier.close()
        if self.stores is not None:
            await self.stores.close()
        if self._capture is not None:
            await self._capture.close()

    def ready(self) -> str | None:
        """Why not everything can be done now; None when it can."""
        return self.service.ready()

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.METRICS`."""
        counted = self.service.counters() | {"artist_notified_total": self._notifier.accepted}
        if self._job is not None:
            counted |= {"artist_announced_total": self._job.announced, "artist_running": int(self._job.is_running)}
            counted |= {"artist_runs_total": self._job.finished, "artist_runs_failed_total": self._job.failed}
        if self._capture is not None:
            counted |= self._capture.counters()
        return counted
