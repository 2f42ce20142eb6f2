"""One process: any set of roles, composed, started in order, drained and stopped (design 3).

The only place that names the concrete classes of every role. A role never knows whether its neighbours share its
process: it gets a network, and the network may be memory.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self

from accesspoint.options import AccessPointOptions
from accesspoint.server import AccessPoint
from aggregator.options import AggregatorOptions
from aggregator.server import Aggregator
from broker.door import Door
from broker.options import BrokerOptions
from broker.server import Broker
from infra.runtime.logs import get_logger
from infra.runtime.metrics import Value
from infra.runtime.tokens import Verifier
from infra.runtime.wire import Network
from notification.options import NotificationOptions
from notification.server import Notification
from services.presence.options import PresenceOptions
from services.presence.server import Presence

RoleOptions = BrokerOptions | AggregatorOptions | AccessPointOptions | PresenceOptions | NotificationOptions

# Brokers first: the others can wait for them, and a door opens last.
ORDER: Final = ("broker", "presence", "notification", "aggregator", "accesspoint")


class Role(Protocol):
    """What a process knows of a role; see `metrics.Observed` for what operators see of it."""

    role: str
    node: str
    site: str

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def ready(self) -> str | None: ...

    def counters(self) -> dict[str, Value]: ...


class Parts:
    """What roles are made from. `wall` is Unix time in seconds."""

    def __init__(self, network: Network, verifier: Verifier, rng: random.Random, wall: Callable[[], float] = time.time) -> None:
        self.network, self.verifier, self.rng, self.wall = network, verifier, rng, wall

    def make(self, options: RoleOptions) -> Any:
        """The role that `options` describe."""
        shared: dict[str, Any] = {"rng": random.Random(self.rng.getrandbits(64)), "wall": self.wall}
        match options:
            case BrokerOptions():
                log = get_logger("broker", options.slot, options.site)
                return Door(Broker(options, self.network, log=log, **shared), self.verifier.service, self.wall)
            case AggregatorOptions():
                return Aggregator(options, self.network, log=get_logger("aggregator", options.node, options.site), **shared)
            case PresenceOptions():
                return Presence(options, self.network, log=get_logger("presence", options.node, options.site), **shared)
            case NotificationOptions():
                log = get_logger("notification", options.node, options.site)
                return Notification(options, self.network, self.verifier, log=log, **shared)
            case AccessPointOptions():
                log = get_logger("accesspoint", options.node, options.site)
                return AccessPoint(options, self.network, self.verifier.client, log=log, **shared)


class Process:
    """`async with Process(parts, options) as process:` runs the roles while the block runs.

    Leaving closes them in reverse order; `drain` first lets clients and other brokers go gracefully. Cancelling the
    entering closes what was started.
    """

    def __init__(self, parts: Parts, options: Sequence[RoleOptions]) -> None:
        roles: list[Role] = [parts.make(each) for each in options]
        self.roles = sorted(roles, key=lambda role: ORDER.index(role.role))

    async def __aenter__(self) -> Self:
        try:
            for role in self.roles:
                await role.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def of(self, role: str, site: str | None = None) -> list[Any]:
        """The roles of one kind, in the order of their options."""
        return [each for each in self.roles if each.role == role and site in (None, each.site)]

    async def drain(self) -> None:
        """Access points first: clients are sent away while everything still works."""
        for role in reversed(self.roles):
            if isinstance(role, AccessPoint | Door):
                await role.drain()

    async def close(self) -> None:
        """Stop everything. May be called twice."""
        for role in reversed(self.roles):
            await role.close()

    async def settled(self, timeout_s: float = 10.0) -> None:
        """Wait until every role is ready. Raises TimeoutError that says which are not."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while waiting := {f"{role.role} {role.site}/{role.node}": why for role in self.roles if (why := role.ready())}:
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"not ready after {timeout_s:g} s: {waiting}")
            await asyncio.sleep(0.005)
