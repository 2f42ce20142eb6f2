"""What all connections of one aiohttp server share: places, patience, counters, and the sweep that ends what keeps us waiting."""

import asyncio
from collections import Counter
from typing import Final, Protocol

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.http_patience import HttpPatience
from infra.kernel.places import Places

from ..logs import Logger
from ..open_files import allow_open_files
from .web_limits import WebLimits

SWEEP_S: Final = 1.0
# What a process needs open besides the connections of this door: links, stores, logs.
OTHER_FILES: Final = 200
LEAST_PLACES: Final = 16
# Of those that are turned away, so many at once may take their time to read why.
MAX_TURNED_AWAY: Final = 256
# When nobody was turned away for so long, the next one is told in the log again.
QUIET_S: Final = 60.0


class SweptConnection(Protocol):
    """A connection that is looked at once a second."""

    def sweep(self, now_s: float) -> None:
        """Ends the connection if it has kept us waiting for too long at `now_s`, in the loop's time."""

    def abort(self) -> None:
        """Ends the connection now."""


class WebDoor:
    """The state of one server.

    - `name`: of the door, for the log.
    - `limits`: see there.
    - `log`: is told when connections are turned away, once for each time that this happens a lot.
    """

    def __init__(self, name: str, limits: WebLimits, log: Logger) -> None:
        self.open: set[SweptConnection] = set()
        self.patience: HttpPatience = limits.patience
        self.given_up: Counter[str] = Counter()
        """The connections that kept us waiting for too long, by what was awaited."""
        self._name, self._limits, self._log = name, limits, log
        self._places = Places(limits.max_connections, limits.max_connections_per_address)
        self._turned_away_s = float("-inf")
        self._turned_away = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def connections(self) -> int:
        """The number of connections that have a place."""
        return self._places.taken

    @property
    def refused(self) -> dict[str, int]:
        """The number of connections that got no place, by which bound was met."""
        return dict(self._places.refused)

    def start(self) -> None:
        """Makes room for the connections, and begins to sweep. `stop` ends it."""
        limits = self._limits
        room = allow_open_files(limits.max_connections + OTHER_FILES) - OTHER_FILES
        size = max(LEAST_PLACES, min(limits.max_connections, room))
        if size < limits.max_connections:
            self._log.warning("fewer connections than configured", door=self._name, connections=size, wanted=limits.max_connections)
        self._places = Places(size, limits.max_connections_per_address)
        self._arm(asyncio.get_running_loop())

    def stop(self) -> None:
        """Ends sweeping, and cuts what is open. May be called twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for_every_one(connection.abort for connection in tuple(self.open))

    def enter(self, connection: SweptConnection, address: str, now_s: float) -> None:
        """Gives `connection`, which comes from `address`, a place. Raises `Refused("overloaded")` if there is none."""
        try:
            self._places.take(address)
        except Refused as refused:
            self._tell(refused, now_s)
            raise
        self.open.add(connection)

    def leave(self, connection: SweptConnection, address: str) -> None:
        """Takes the place of `connection` back."""
        self.open.discard(connection)
        self._places.give_back(address)

    def turn_away(self, connection: SweptConnection) -> bool:
        """Returns whether `connection`, which got no place, may stay until it has read why. `forget` ends that."""
        if self._turned_away >= MAX_TURNED_AWAY:
            return False
        self._turned_away += 1
        self.open.add(connection)
        return True

    def forget(self, connection: SweptConnection) -> None:
        """Forgets a connection that was turned away."""
        if connection in self.open:
            self.open.discard(connection)
            self._turned_away -= 1

    def sweep(self, now_s: float) -> None:
        """Ends the connections that have kept us waiting for too long at `now_s`, in the loop's time. It is called on time."""
        for connection in tuple(self.open):
            connection.sweep(now_s)

    def _tell(self, refused: Refused, now_s: float) -> None:
        """Logs the first connection that is turned away after a time of quiet."""
        if now_s - self._turned_away_s > QUIET_S:
            self._log.warning("connections are turned away", door=self._name, reason=refused.reason)
        self._turned_away_s = now_s

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(SWEEP_S, self._turn, loop)

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._arm(loop)
        self.sweep(loop.time())
