"""Social as a process: its store, its doors, and the courier that keeps its promises."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..outbox import OutboxRelay
from ..service import ServiceRole
from .calls import answers
from .courier import SocialCourier
from .friends import Friends
from .handlers import SocialHandlers
from .options import SocialOptions
from .store import SocialStores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite
from .wall import wall_of

ROLE: Final = "social"


class SocialService(ServiceRole[SocialOptions]):
    """One social service. `start` opens its store and its doors, `close` ends it: what is promised and not done waits in the store."""

    role = ROLE
    stores: SocialStores | None = None
    _courier: SocialCourier | None = None
    _relay: OutboxRelay | None = None

    def peer_addresses(self) -> Mapping[str, Sequence[str]]:
        """See `ServiceRole`."""
        return {"playlist": self.options.playlist} if self.options.playlist else {}

    async def start(self) -> None:
        """Open the store, go on with what was promised, then open the doors. Raises ConfigError and Unavailable."""
        stores = self.stores = await self._open_store()
        self.opened.push_async_callback(stores.close)
        posts = wall_of(self.options.wall) if self.options.wall else None
        if posts is not None:
            self.opened.push_async_callback(posts.close)
        friends = Friends(
            stores.follows,
            stores.social,
            lambda: relay.wake(),
            has_playlists=bool(self.options.playlist),
            has_wall=posts is not None,
            now_ms=lambda: int(self._wall() * 1000),
        )
        self._courier = SocialCourier(friends, stores.follows, self.notifier, self.peers, posts)
        relay = self._relay = OutboxRelay(stores.outbox, self._courier.perform, rng=self._rng, loops=self.links.loops, log=self._log)
        relay.start()
        self.opened.push_async_callback(relay.close)
        await self.open(SocialHandlers(friends).routes(), answers(friends, stores.follows))

    async def _open_store(self) -> SocialStores:
        options, bounds = self.options, (self.options.max_followed, self.options.max_contacts)
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, f"{self.site}/{self.node}", self._wall, *bounds)
        return await open_sqlite(Path(options.path), *bounds)

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        counted = super().counters()
        if self._relay is not None and self._courier is not None:
            counted |= self._relay.counters(ROLE)
            counted |= {"social_joined_total": self._courier.joined, "social_posted_total": self._courier.posted}
        return counted
