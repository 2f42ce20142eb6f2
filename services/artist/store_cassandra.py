"""What artist monitoring remembers, in Cassandra. Only one node runs the job, so nothing here is a conditional write."""

from collections.abc import Sequence
from typing import Any, Final

from infra.runtime.cassandra.client import Cassandra, CassandraOptions

from ..cql import scripts
from ..follows import MAX_TOPICS
from ..follows_cassandra import FollowsCassandra
from .core import CatalogueItem, Standing
from .store import ArtistStores, Run

JOB: Final = "daily"
LOOKED_UP: Final = 100

_BEGIN: Final = "INSERT INTO artist_runs (job, number, started_s, finished) VALUES (?, ?, ?, ?)"


async def open_cassandra(options: CassandraOptions, max_followed: int = MAX_TOPICS) -> ArtistStores:
    """Opens the stores in a keyspace. Raises ConfigError and Unavailable."""
    db = await Cassandra.open(options)
    try:
        return await use_cassandra(db, max_followed)
    except BaseException:
        await db.close()
        raise


async def use_cassandra(db: Cassandra, max_followed: int = MAX_TOPICS) -> ArtistStores:
    """Opens the stores in `db`; makes its tables if they are not there."""
    for module in ("follows", "artist"):
        await db.migrate(module, scripts(module))
    return ArtistStores(SeenCassandra(db), FollowsCassandra(db, "artist", max_followed), db.close)


class SeenCassandra:
    """The items that were seen; see `SeenItems`. `db` has the module "artist"."""

    def __init__(self, db: Cassandra) -> None:
        self._db = db

    async def last(self) -> Run | None:
        """See `SeenItems`."""
        rows = await self._db.execute("SELECT number, started_s, finished FROM artist_runs WHERE job = ? LIMIT 1", JOB)
        return Run(*rows[0]) if rows else None

    async def begin(self, now_s: float) -> Run:
        """See `SeenItems`."""
        last = await self.last()
        if last is not None and not last.finished:
            return last
        run = Run(last.number + 1 if last else 1, now_s, False)
        await self._db.execute(_BEGIN, JOB, *run)
        return run

    async def finish(self, run: Run) -> None:
        """See `SeenItems`."""
        await self._db.execute(_BEGIN, JOB, run.number, run.started_s, True)

    async def standing(self, run: Run, items: Sequence[CatalogueItem]) -> list[Standing]:
        """See `SeenItems`."""
        first = await self._first_runs(run, {item.artist for item in items})
        seen = {key for (key,) in await self._among("SELECT item FROM artist_seen WHERE item IN ?", [item.key for item in items])}
        return [_standing(run, item.key in seen, first[item.artist]) for item in items]

    async def mark(self, items: Sequence[CatalogueItem]) -> None:
        """See `SeenItems`."""
        await self._db.many("INSERT INTO artist_seen (item) VALUES (?)", ((item.key,) for item in items))

    async def _first_runs(self, run: Run, artists: set[str]) -> dict[str, int]:
        known = dict(await self._among("SELECT artist, first_run FROM artist_known WHERE artist IN ?", list(artists)))
        new = dict.fromkeys(artists - known.keys(), run.number)
        await self._db.many("INSERT INTO artist_known (artist, first_run) VALUES (?, ?)", new.items())
        return known | new

    async def _among(self, query: str, keys: Sequence[Any]) -> list[Any]:
        chunks = (keys[start : start + LOOKED_UP] for start in range(0, len(keys), LOOKED_UP))
        return [row for chunk in chunks for row in await self._db.execute(query, chunk)]


def _standing(run: Run, is_seen: bool, first_run: int) -> Standing:
    if is_seen:
        return Standing.SEEN
    return Standing.FIRST if first_run == run.number else Standing.NEW
