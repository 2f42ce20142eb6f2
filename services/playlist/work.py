"""What the playlist service does with its open store: handlers of requests, and the courier that keeps what changes promise."""

from collections.abc import Mapping
from typing import Any, Final

from infra.kernel.backoff import Backoff
from infra.kernel.roles import PLAYLIST
from infra.kernel.topics import Kind
from infra.runtime.callers import Answerer
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.http.web import Route

from ..barring import Barring
from ..captured_follows import captured
from ..neighbours import Neighbours
from ..outbox import OutboxRelay
from ..telling_follows import TellingFollows
from .calls import answers
from .core import LANES
from .courier import PlaylistCourier
from .handlers import PlaylistHandlers
from .lists import PlaylistListHandlers
from .options import PlaylistOptions
from .store import PlaylistStores
from .viewers import Viewers

RETRY: Final = Backoff(base_s=0.1, cap_s=5.0)


class PlaylistWork:
    """The work of one playlist service (see `ServiceWork`)."""

    def __init__(self, options: PlaylistOptions, stores: PlaylistStores, neighbours: Neighbours, context: Context) -> None:
        self.stores = stores
        self.barring = Barring()
        self._told = TellingFollows(stores.follows, self.barring)
        self._follows = captured(self._told, context.capture, Kind.PLAYLIST)
        self._viewers = Viewers(neighbours.peers, is_asked=bool(options.social))
        self.courier = PlaylistCourier(
            self._follows, self._viewers, neighbours, context.wall, tells_presence=bool(options.presence), asks_social=bool(options.social)
        )
        perform, loops = self.courier.perform, neighbours.loops
        self._relays = [OutboxRelay(stores.outbox, perform, context, loops, lane=lane, backoff=RETRY) for lane in LANES]
        self._handlers = PlaylistHandlers(stores.playlists, self._follows, self._viewers, context, written=self._wake)
        self._lists = PlaylistListHandlers(stores.playlists, stores.follows, self._viewers)

    def routes(self) -> list[Route]:
        """See `ServiceWork`."""
        return self._handlers.routes() + self._lists.routes()

    def answers(self) -> Mapping[str, Answerer]:
        """See `ServiceWork`."""
        # What clients follow is in the captures of access points already, so it passes these by.
        return answers(self.stores.playlists, self._told, self._follows, self._viewers)

    def start(self) -> None:
        """See `ServiceWork`."""
        for relay in self._relays:
            relay.start()

    async def close(self) -> None:
        """See `ServiceWork`."""
        await end_all(*(relay.close for relay in self._relays))

    def _wake(self) -> None:
        for relay in self._relays:
            relay.wake()

    def counters(self) -> dict[str, Any]:
        """See `ServiceWork`."""
        lanes = [relay.counters(PLAYLIST) for relay in self._relays]
        return {name: sum(lane[name] for lane in lanes) for name in lanes[0]} | {
            "playlist_changes_total": dict(self._handlers.changes),
            "playlist_conflicts_total": self._handlers.conflicts,
            "playlist_published_total": self.courier.published,
        }
