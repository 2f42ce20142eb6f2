"""The playlist service as a process: its store, its doors, and the courier that keeps what changes promise."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from infra.kernel.backoff import Backoff
from infra.kernel.topics import Kind

from ..follow_answers import follow_answers
from ..outbox import OutboxRelay
from ..service import ServiceRole
from .calls import KINDS, answers
from .core import LANES
from .courier import PlaylistCourier
from .handlers import PlaylistHandlers
from .lists import PlaylistListHandlers
from .options import PlaylistOptions
from .store import PlaylistStores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite

ROLE: Final = "playlist"
RETRY: Final = Backoff(base_s=0.1, cap_s=5.0)


class PlaylistService(ServiceRole[PlaylistOptions]):
    """One playlist service. `start` opens its store and its doors, `close` ends it: what is promised and not done waits in the store."""

    role = ROLE
    stores: PlaylistStores | None = None
    courier: PlaylistCourier | None = None
    door: PlaylistHandlers | None = None
    _relays: Sequence[OutboxRelay] = ()

    def broker_addresses(self) -> Mapping[str, str]:
        """See `ServiceRole`."""
        return self.options.brokers

    def peer_addresses(self) -> Mapping[str, Sequence[str]]:
        """See `ServiceRole`."""
        return {name: addresses for name, addresses in (("presence", self.options.presence), ("social", self.options.social)) if addresses}

    async def start(self) -> None:
        """Open the store, go on with what was promised, then open the doors. Raises ConfigError and Unavailable."""
        options = self.options
        stores = self.stores = await self._open_store()
        self.opened.push_async_callback(stores.close)
        follows = self.captured(stores.follows, Kind.PLAYLIST)
        self.courier = PlaylistCourier(
            self.brokers,
            self.peers,
            self.notifier,
            follows,
            wall=self._wall,
            tells_presence=bool(options.presence),
            asks_social=bool(options.social),
        )
        self._relays = [
            OutboxRelay(stores.outbox, self.courier.perform, rng=self._rng, loops=self.links.loops, log=self._log, lane=lane, backoff=RETRY)
            for lane in LANES
        ]
        self.door = PlaylistHandlers(stores.playlists, follows, rng=self._rng, wall=self._wall, written=self._wake)
        for relay in self._relays:
            relay.start()
            self.opened.push_async_callback(relay.close)
        lists = PlaylistListHandlers(stores.playlists, stores.follows)
        called = answers(stores.playlists, follows) | follow_answers(stores.follows, KINDS)  # those of clients are captured elsewhere
        await self.open(self.door.routes() + lists.routes(), called)

    async def _open_store(self) -> PlaylistStores:
        options, bounds = self.options, (self.options.max_followed, self.options.max_playlists)
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, f"{self.site}/{self.node}", self._wall, *bounds)
        return await open_sqlite(Path(options.path), *bounds)

    def _wake(self) -> None:
        for relay in self._relays:
            relay.wake()

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        counted = super().counters()
        if self.door is not None and self.courier is not None:
            each = [relay.counters(ROLE) for relay in self._relays]
            counted |= {name: sum(one[name] for one in each) for name in each[0]}
            counted |= {
                "playlist_changes_total": dict(self.door.changes),
                "playlist_conflicts_total": self.door.conflicts,
                "playlist_published_total": self.courier.published,
            }
        return counted
