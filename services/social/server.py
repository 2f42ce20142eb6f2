"""Social as a process: its store, its doors, and the courier that keeps its promises."""

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any as Anything
from typing import Final

from infra.runtime.wire import Network

from ..notifier import Notifier
from ..outbox import Relay
from ..service import ServiceNode, Tokens
from .calls import answers
from .courier import Courier
from .door import Door
from .friends import Friends
from .options import SocialOptions
from .store import Stores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite
from .wall import Wall, wall_of

ROLE: Final = "social"


class Social:
    """One social service. `start` opens its store and its doors, `close` ends it. `token(service)` makes a service token."""

    role = ROLE

    def __init__(
        self,
        options: SocialOptions,
        network: Network,
        tokens: Tokens,
        token: Callable[[str], str],
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self._log, self._rng, self._now_s = log, rng, wall
        peers = {"playlist": options.playlist} if options.playlist else {}
        self.service = ServiceNode(ROLE, options, network, tokens, log=log, rng=rng, wall=wall, peers=peers)
        self.links = self.service.links
        self._notifier = Notifier(options.notification, partial(token, ROLE))
        self.stores: Stores | None = None
        self._wall: Wall | None = None
        self._courier: Courier | None = None
        self._relay: Relay | None = None

    @property
    def address(self) -> str:
        """Where the HTTP door is."""
        return self.service.door

    async def start(self) -> None:
        """Open the store, go on with what was promised, then open the doors. Raises ConfigError, Unavailable and OSError."""
        stores = self.stores = await self._open()
        self._wall = wall_of(self.options.wall) if self.options.wall else None
        friends = Friends(
            stores.follows,
            stores.social,
            lambda: relay.wake(),
            has_playlists=bool(self.options.playlist),
            has_wall=self._wall is not None,
            now_ms=lambda: int(self._now_s() * 1000),
        )
        self._courier = Courier(friends, stores.follows, self._notifier, self.service.peers, self._wall)
        relay = self._relay = Relay(stores.outbox, self._courier.perform, rng=self._rng, log=self._log)
        relay.start()
        await self.service.start(Door(friends).routes(), answers(friends, stores.follows))

    async def _open(self) -> Stores:
        options, bounds = self.options, (self.options.max_followed, self.options.max_contacts)
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, f"{self.site}/{self.node}", self._now_s, *bounds)
        return await open_sqlite(Path(options.path), *bounds)

    async def drain(self) -> None:
        """Take nothing new over HTTP."""
        self.service.drain()

    async def close(self) -> None:
        """Close the doors, then the store; what is promised and not done waits in it. May be called twice."""
        if self._relay is not None:
            await self._relay.close()
        await self.service.close()
        await self._notifier.close()
        if self._wall is not None:
            await self._wall.close()
        if self.stores is not None:
            await self.stores.close()

    def ready(self) -> str | None:
        """Why not everything can be done now; None when it can."""
        return self.service.ready()

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.METRICS`."""
        counted = self.service.counters() | {"social_notified_total": self._notifier.accepted}
        if self._relay is not None and self._courier is not None:
            counted |= self._relay.counters(ROLE)
            counted |= {"social_joined_total": self._courier.joined, "social_posted_total": self._courier.posted}
        return counted
