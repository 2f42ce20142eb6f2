"""The HTTP/1.1 server of a role: request heads find their exchange, WebSockets their protocol (design 4.1, 4.2).

A request goes: `HttpConnection` (bytes, order, bounds) -> `RouteTable` -> a factory makes an `Exchange` -> body -> answer. This file
holds what a role needs to put up such a server.
"""

from asyncio import Task, get_running_loop
from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial

from infra.kernel.cors import Cors
from infra.kernel.every_one import for_every_one
from infra.kernel.places import HeldPlace, Places
from infra.kernel.shares import Shares

from ..entrance import Entrance
from ..loops import Loops
from .connection import HttpConnection, Shared
from .limits import HttpLimits
from .message import Answer, BufferedExchange, Exchange, Factory, Head, Response, closing_answer, json_error
from .route_table import RouteTable, Upgrade

__all__ = [
    "Answer",
    "BufferedExchange",
    "Exchange",
    "Factory",
    "Head",
    "HttpDoor",
    "HttpLimits",
    "Response",
    "Upgrade",
    "json_error",
]


class HttpDoor:
    """All connections of one listening socket: `await doors.open("broker.door", address, door.entrance)`.

    `places`: who has a place there, and who got none.

    One loop, of `loops`, sweeps all connections for those that keep us waiting. The socket is not owned here. To stop, close the server,
    `drain()`, wait for `drained()` as long as you like, and `close()`.
    """

    def __init__(
        self,
        routes: Mapping[tuple[str, str], Factory],
        upgrades: Mapping[str, Upgrade] | None = None,
        limits: HttpLimits | None = None,
        *,
        streams: Mapping[str, Upgrade] | None = None,
        loops: Loops,
        shares: Shares | None = None,
        allowed_origins: Collection[str] = (),
    ) -> None:
        """Begins with these routes and `limits`, and without connections.

        - `routes`: (method, path) -> factory of exchanges.
        - `upgrades`: path -> what makes the protocol of its WebSockets.
        - `streams`: path -> what makes the protocol of its answers without an end.
        - `shares`: of the turns of the loop; those that its WebSockets have, too, if there are any.
        - `allowed_origins`: of pages that may ask, beside those that always may (see `may_connect`).
        """
        limits = limits or HttpLimits()
        self._shared = Shared(
            routes=RouteTable(routes, upgrades or {}, streams or {}),
            limits=limits,
            cors=Cors(allowed_origins),
            shares=Shares(lambda step: get_running_loop().call_soon(step)) if shares is None else shares,
        )
        self._shared.empty.set()
        self.places = Places(limits.max_connections, limits.visitors)
        self._loops = loops
        self._sweeper: Task[None] | None = None

    @property
    def connections(self) -> int:
        """The number of open HTTP connections. One that became a WebSocket no longer counts here."""
        return len(self._shared.open)

    @property
    def refusals(self) -> Counter[str]:
        """How many requests were answered with an error, by code: by the door, or by what is behind it."""
        return self._shared.refusals

    @property
    def turned_away(self) -> Counter[str]:
        """How many connections were turned away before they said anything, by code."""
        return Counter({"overloaded": total} if (total := self.places.refused.total()) else {})

    @property
    def entrance(self) -> Entrance:
        """The way in, for `DoorOpener.open`."""
        return Entrance(places=self.places, make=self.protocol, refusal=closing_answer)

    def protocol(self, place: HeldPlace) -> HttpConnection:
        """Returns the protocol of a new connection, which gives `place` back when it ends."""
        if self._sweeper is None:
            now = get_running_loop().time
            self._shared.now = now()
            interval_s = self._shared.limits.sweep_interval_s
            self._sweeper = self._loops.every(interval_s, lambda: self.sweep(now()), "timeouts of HTTP")
        return HttpConnection(self._shared, place)

    def sweep(self, now: float) -> None:
        """Ends the connections that kept us waiting for too long at `now`, in the loop's time. It is called on time."""
        self._shared.now = now
        for_every_one(partial(connection.sweep, now) for connection in tuple(self._shared.open))

    def drain(self) -> None:
        """Closes idle connections, and every other after its next answer. New ones are served, one request each."""
        self._shared.draining = True
        for connection in tuple(self._shared.open):
            connection.drain()

    async def drained(self) -> None:
        """Returns when no connection is open. May be cancelled at any time."""
        await self._shared.empty.wait()

    def close(self) -> None:
        """Cuts what is still open and stops sweeping. May be called twice."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for_every_one(connection.abort for connection in tuple(self._shared.open))
