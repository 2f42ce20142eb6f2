"""What all connections of one aiohttp server share: places, patience, counters, and the sweep that ends what keeps us waiting."""

import asyncio
from collections import Counter
from functools import partial
from typing import Final, Protocol

from infra.kernel.every_one import for_every_one
from infra.kernel.http_patience import HttpPatience
from infra.kernel.places import Places

from ..logs import Logger
from ..loops import Loops
from ..open_files import allow_open_files
from .web_limits import WebLimits

SWEEP_S: Final = 1.0
# What a process needs open besides the connections of this door: links, stores, logs.
OTHER_FILES: Final = 200
LEAST_PLACES: Final = 16


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
    - `places`: who has a place there, and who got none.
    """

    def __init__(self, name: str, limits: WebLimits, log: Logger) -> None:
        self.open: set[SweptConnection] = set()
        self.patience: HttpPatience = limits.patience
        self.given_up: Counter[str] = Counter()
        """The connections that kept us waiting for too long, by what was awaited."""
        self.refusals: Counter[str] = Counter()
        """The requests that were answered with an error, by code."""
        self._name, self._limits, self._log = name, limits, log
        self.places = Places(limits.max_connections, limits.visitors)
        self._sweeper: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Makes room for the connections, and begins to sweep. `stop` ends it."""
        limits = self._limits
        room = allow_open_files(limits.max_connections + OTHER_FILES) - OTHER_FILES
        size = max(LEAST_PLACES, min(limits.max_connections, room))
        if size < limits.max_connections:
            self._log.warning("fewer connections than configured", door=self._name, connections=size, wanted=limits.max_connections)
        self.places.size = size
        now_s = asyncio.get_running_loop().time
        self._sweeper = Loops(self._log).every(SWEEP_S, lambda: self.sweep(now_s()), "timeouts of HTTP")

    def stop(self) -> None:
        """Ends sweeping, and cuts what is open. May be called twice."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for_every_one(connection.abort for connection in tuple(self.open))

    def sweep(self, now_s: float) -> None:
        """Ends the connections that have kept us waiting for too long at `now_s`, in the loop's time. It is called on time."""
        for_every_one(partial(connection.sweep, now_s) for connection in tuple(self.open))
