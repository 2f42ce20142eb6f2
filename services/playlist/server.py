"""The playlist service as a process: its store, its doors, and the courier that keeps what changes promise."""

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any as Anything
from typing import Final

from infra.kernel.backoff import Backoff
from infra.kernel.topics import Kind
from infra.runtime.capture import Capture
from infra.runtime.wire import Network

from ..captured_follows import CapturedFollows
from ..follows import Follows
from ..notifier import Notifier
from ..outbox import Relay
from ..service import ServiceNode, Tokens, follow_answers
from .calls import KINDS, answers
from .core import LANES
from .courier import Courier
from .door import Door
from .lists import Lists
from .options import PlaylistOptions
from .store import Stores
from .store_cassandra import open_cassandra
from .store_sqlite import open_sqlite

ROLE: Final = "playlist"
RETRY: Final = Backoff(base_s=0.1, cap_s=5.0)


class Playlist:
    """One playlist service. `start` opens its store and its doors, `close` ends it. `token(service)` makes a service token."""

    role = ROLE

    def __init__(
        self,
        options: PlaylistOptions,
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
        peers = {name: addresses for name, addresses in (("presence", options.presence), ("social", options.social)) if addresses}
        self.service = ServiceNode(ROLE, options, network, tokens, log=log, rng=rng, wall=wall, brokers=options.brokers, peers=peers)
        self.links = self.service.links
        self._notifier = Notifier(options.notification, partial(token, ROLE))
        self.stores: Stores | None = None
        self.courier: Courier | None = None
        self._relays: list[Relay] = []
        self.door: Door | None = None

    @property
    def address(self) -> str:
        """Where the HTTP door is."""
        return self.service.door

    async def start(self) -> None:
        """Open the store, go on with what was promised, then open the doors. Raises ConfigError, Unavailable and OSError."""
        options = self.options
        stores = self.stores = await self._open()
        follows = self._captured(stores.follows)
        self.courier = Courier(
            self.service.brokers,
            self.service.peers,
            self._notifier,
            follows,
            wall=self._wall,
            tells_presence=bool(options.presence),
            asks_social=bool(options.social),
        )
        perform, shared = self.courier.perform, {"rng": self._rng, "log": self._log, "backoff": RETRY}
        self._relays = [Relay(stores.outbox, perform, lane=lane, **shared) for lane in LANES]
        self.door = Door(stores.playlists, follows, rng=self._rng, wall=self._wall, written=self._wake)
        for relay in self._relays:
            relay.start()
        lists = Lists(stores.playlists, stores.follows)
        called = answers(stores.playlists, follows) | follow_answers(stores.follows, KINDS)  # those of clients are captured elsewhere
        await self.service.start(self.door.routes() + lists.routes(), called)

    def _captured(self, follows: Follows) -> Follows:
        return follows if self._capture is None else CapturedFollows(follows, self._capture, Kind.PLAYLIST)

    async def _open(self) -> Stores:
        options, bounds = self.options, (self.options.max_followed, self.options.max_playlists)
        if options.store == "cassandra":
            return await open_cassandra(options.cassandra, f"{self.site}/{self.node}", self._wall, *bounds)
        return await open_sqlite(Path(options.path), *bounds)

    def _wake(self) -> None:
        for relay in self._relays:
            relay.wake()

    async def drain(self) -> None:
        """Take no changes any more."""
        self.service.drain()

    async def close(self) -> None:
        """Close the doors, then the store; what is promised and not done waits in it. May be called twice."""
        for relay in self._relays:
            await relay.close()
        await self.service.close()
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
        counted = self.service.counters() | {"playlist_notified_total": self._notifier.accepted}
        if self.door is not None and self.courier is not None:
            each = [relay.counters(ROLE) for relay in self._relays]
            counted |= {name: sum(one[name] for one in each) for name in each[0]}
            counted |= {
                "playlist_changes_total": dict(self.door.changes),
                "playlist_conflicts_total": self.door.conflicts,
                "playlist_published_total": self.courier.published,
            }
        if self._capture is not None:
            counted |= self._capture.counters()
        return counted
