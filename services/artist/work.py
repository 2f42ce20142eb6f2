"""What artist monitoring does with its open store: handlers of requests, and the daily job."""

from collections.abc import Mapping
from typing import Any, Final

from infra.kernel.topics import Kind
from infra.runtime.callers import Answerer
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.http.web import Route

from ..captured_follows import captured
from ..follow_answers import follow_answers
from ..neighbours import Neighbours
from .catalogue import catalogue_of
from .core import time_of_day_s
from .handlers import ArtistHandlers
from .job import DailyJob
from .options import ArtistOptions
from .schedule import Schedule
from .store import ArtistStores

KINDS: Final = frozenset({Kind.ARTIST})


class ArtistWork:
    """The work of one artist monitoring service (see `ServiceWork`). `schedule` runs `job` if the options say when."""

    def __init__(self, options: ArtistOptions, stores: ArtistStores, neighbours: Neighbours, context: Context) -> None:
        self._stores = stores
        catalogue = catalogue_of(options.catalogue, context.outgoing)
        self.job = DailyJob(catalogue, stores, neighbours.notifier, context, announce_first=options.announce_first)
        at_s = time_of_day_s(options.at) if options.at else None
        self.schedule = Schedule(self.job, stores.seen, at_s, context, neighbours.loops)
        self._handlers = ArtistHandlers(captured(stores.follows, context.capture, Kind.ARTIST), self.job, context.log)

    def routes(self) -> list[Route]:
        """See `ServiceWork`."""
        return self._handlers.routes()

    def answers(self) -> Mapping[str, Answerer]:
        """See `ServiceWork`."""
        return follow_answers(self._stores.follows, KINDS)

    def start(self) -> None:
        """See `ServiceWork`."""
        self.schedule.start()

    async def close(self) -> None:
        """See `ServiceWork`."""
        await end_all(self.schedule.close, self._handlers.close)

    def counters(self) -> dict[str, Any]:
        """See `ServiceWork`."""
        return {
            "artist_announced_total": self.job.announced,
            "artist_running": int(self.job.is_running),
            "artist_runs_total": self.job.finished,
            "artist_runs_failed_total": self.job.failed,
        }
