"""The HTTP door of a broker: what publishers and operators ask of it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from infra.kernel.errors import Refused
from infra.runtime.address import Address
from infra.runtime.context import Context
from infra.runtime.door_opener import OpenDoor
from infra.runtime.ending import end_all
from infra.runtime.http.door import HttpDoor, HttpLimits
from infra.runtime.node import Node
from infra.runtime.tokens import Service

from .grants import PublishingGrants, Verify
from .handlers import PATH, EventHandlers
from .operator_handlers import OperatorHandlers, VerifyOperator
from .options import BrokerOptions
from .orders import ClusterOrders
from .publishing import Submit
from .revocation_keeper import RevocationKeeper
from .ring_keeper import RingKeeper


class BrokerDoor:
    """The door of one broker, with the handlers behind it. `address`: where it is open.

    - `verify`, `verify_operator`: see `Broker`.
    - `keeper`, `orders`, `ring_keeper`: what operators ask for.
    - `submit`: where events go. `check_open()`: raises `Refused` while they cannot be brought to their owners.
    """

    def __init__(
        self,
        options: BrokerOptions,
        context: Context,
        links: Node,
        *,
        verify: Verify,
        verify_operator: VerifyOperator | None,
        keeper: RevocationKeeper,
        orders: ClusterOrders,
        ring_keeper: RingKeeper,
        submit: Submit,
        check_open: Callable[[], None],
    ) -> None:
        self.address = options.door
        self._options, self._doors = options, context.doors
        self.handlers = EventHandlers(
            options,
            PublishingGrants(verify, context.wall, context.now),
            context.wall,
            now=context.now,
            prefix=f"{links.incarnation:x}",
            submit=submit,
            check_open=check_open,
        )
        context.revocations.on_news(self.handlers.heard)
        self.operators = OperatorHandlers(
            options,
            keeper,
            orders,
            ring_keeper,
            context.audit,
            verify=verify_operator or _nobody,
            name=verify,
            wall=context.wall,
            now=context.now,
            new_id=lambda: f"{context.rng.getrandbits(96):024x}",
        )
        limits = HttpLimits(max_connections=options.max_connections, visitors=options.visitors)
        routes = {("POST", PATH): self.handlers.exchange, **self.operators.routes()}
        self._http = HttpDoor(routes, limits=limits, loops=links.loops, allowed_origins=options.allowed_origins)
        self._server: OpenDoor | None = None

    async def start(self) -> None:
        """Opens the door. Raises CannotListen if the address is taken."""
        self._server = await self._doors.open("broker.door", self._options.door, self._http.entrance)
        self.address = str(Address(*self._server.sockets[0].getsockname()[:2]))

    def drain(self) -> None:
        """Takes nothing new."""
        self._http.drain()

    async def answered(self) -> None:
        """Waits until everything is answered that was asked, for at most `drain_s`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._http.drained(), self._options.drain_s)

    async def close(self) -> None:
        """Closes the door and its connections. May be called twice."""
        await end_all(self._server.close if self._server is not None else None, self._http.close, self.operators.close)

    def counters(self) -> dict[str, Any]:
        """Returns the figures of what came over HTTP."""
        own = {"broker_http_turned_away_total": dict(self._http.turned_away), "broker_http_refused_total": dict(self._http.refusals)}
        return own | self.handlers.counters() | self.operators.counters()


def _nobody(token: str, wall_s: float) -> Service:
    raise Refused("forbidden", "there are no operators here")
