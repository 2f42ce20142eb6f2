"""One process: any set of roles, composed, started in order, drained and stopped (design 3).

The only place that names the concrete classes of every role. A role never knows whether its neighbours share its
process: it gets a network, and the network may be memory.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self

import msgspec

from accesspoint.options import AccessPointOptions
from accesspoint.server import AccessPoint
from aggregator.options import AggregatorOptions
from aggregator.server import Aggregator
from broker.door import Door
from broker.options import BrokerOptions
from broker.server import Broker
from infra.kernel.errors import ConfigError
from infra.runtime.capture.capture import Capture
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.logs import get_logger
from infra.runtime.metrics import Value
from infra.runtime.tokens import Verifier
from infra.runtime.wire.wire import Network
from notification.options import NotificationOptions
from notification.server import NotificationModule
from services.artist.options import ArtistOptions
from services.artist.server import Artist
from services.decision.options import DecisionOptions
from services.playlist.options import PlaylistOptions
from services.playlist.server import Playlist
from services.presence.options import PresenceOptions
from services.presence.server import Presence
from services.social.options import SocialOptions
from services.social.server import Social

StoringOptions = PlaylistOptions | SocialOptions | ArtistOptions
# Those whose roles see the workload, and write it down if they are asked to.
CapturingOptions = BrokerOptions | AccessPointOptions | NotificationOptions | PlaylistOptions | ArtistOptions
RoleOptions = (
    BrokerOptions | AggregatorOptions | AccessPointOptions | PresenceOptions | NotificationOptions | StoringOptions | DecisionOptions
)

# Brokers first: the others can wait for them, and a door opens last.
ORDER: Final = ("broker", "decision", "presence", "notification", "social", "playlist", "artist", "aggregator", "accesspoint")


class Role(Protocol):
    """What a process knows of a role; see `metrics.Observed` for what operators see of it."""

    role: str
    node: str
    site: str

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def ready(self) -> str | None: ...

    def counters(self) -> dict[str, Value]: ...


def role_of(options: RoleOptions) -> str:
    """The name of the role that `options` are for."""
    return type(options).__name__.removesuffix("Options").lower()


class Parts:
    """What roles are made from. `wall` is Unix time in seconds, `token` makes a service's token.

    `doors` has the addresses of notification intakes by name, such as "sto/n1"; services that are configured with a name get
    the address. It grows as roles are started here.
    """

    def __init__(
        self,
        network: Network,
        verifier: Verifier,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
        token: Callable[[str], str] | None = None,
        doors: dict[str, str] | None = None,
    ) -> None:
        self.network, self.verifier, self.rng, self.wall = network, verifier, rng, wall
        self.doors: dict[str, str] = {} if doors is None else doors
        self._token = token or _no_token

    def make(self, options: RoleOptions) -> Any:
        """The role that `options` describe."""
        context = self._context(options)
        match options:
            case BrokerOptions():
                return Door(Broker(options, context), self.verifier.service, self.wall)
            case AggregatorOptions():
                return Aggregator(options, context)
            case PresenceOptions():
                return Presence(options, context)
            case NotificationOptions():
                return NotificationModule(options, context, self.verifier)
            case PlaylistOptions() | SocialOptions() | ArtistOptions():
                return self._service(options, context)
            case DecisionOptions():
                from services.decision.server import DecisionService  # it wants libraries that the other roles do without

                return DecisionService(options, context)
            case AccessPointOptions():
                return AccessPoint(options, context, self.verifier.client)

    def _context(self, options: RoleOptions) -> Context:
        """The world of the role that `options` are for, with a capture where one is wanted."""
        role, node = role_of(options), options.slot if isinstance(options, BrokerOptions) else options.node
        log = get_logger(role, node, options.site)
        capture = None
        if isinstance(options, CapturingOptions):
            capture = Capture.open(options.capture, role, options.site, node, wall=self.wall, log=log)
        return Context(network=self.network, log=log, rng=random.Random(self.rng.getrandbits(64)), wall=self.wall, capture=capture)

    def _service(self, options: StoringOptions, context: Context) -> Any:
        makers: dict[type, Callable[..., Any]] = {PlaylistOptions: Playlist, SocialOptions: Social, ArtistOptions: Artist}
        urls = [self.doors.get(each, each) for each in options.notification]
        resolved = msgspec.structs.replace(options, notification=urls)
        return makers[type(options)](resolved, context, self.verifier, self._token)

    def opened(self, role: Any) -> None:
        """`role` has been started here."""
        if isinstance(role, NotificationModule):
            self.doors[f"{role.site}/{role.node}"] = f"http://{role.address}"


def _no_token(service: str) -> str:
    raise ConfigError(f"{service} needs a token for the notification intake: give it auth.secret_file, the secret that signs tokens here")


class Process:
    """`async with Process(parts, options) as process:` runs the roles while the block runs.

    Leaving closes them in reverse order; `drain` first lets clients and other brokers go gracefully. Cancelling the
    entering closes what was started.
    """

    def __init__(self, parts: Parts, options: Sequence[RoleOptions]) -> None:
        self.roles: list[Role] = []
        self._parts = parts
        self._options = sorted(options, key=lambda each: ORDER.index(role_of(each)))

    async def __aenter__(self) -> Self:
        try:
            for options in self._options:
                role = self._parts.make(options)
                self.roles.append(role)
                await role.start()
                self._parts.opened(role)
        except BaseException as error:
            try:
                await self.close()
            except Exception as trouble:  # why it did not start matters more
                error.add_note(f"and closing what had been started raised {trouble!r}")
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def of(self, role: str, site: str | None = None) -> list[Any]:
        """The roles of one kind, in the order of their options."""
        return [each for each in self.roles if each.role == role and site in (None, each.site)]

    async def drain(self) -> None:
        """Access points first: clients are sent away while everything still works. Raises as `end_all`."""
        draining = (AccessPoint, Aggregator, Door, NotificationModule, Playlist, Social, Artist)
        await end_all(*(role.drain for role in reversed(self.roles) if isinstance(role, draining)))

    async def close(self) -> None:
        """Stop everything. Raises as `end_all`. May be called twice."""
        await end_all(*(role.close for role in reversed(self.roles)))

    async def settled(self, timeout_s: float = 10.0) -> None:
        """Wait until every role is ready. Raises TimeoutError that says which are not."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while waiting := {f"{role.role} {role.site}/{role.node}": why for role in self.roles if (why := role.ready())}:
            if asyncio.get_running_loop().time() > deadline:
                raise TimeoutError(f"not ready after {timeout_s:g} s: {waiting}")
            await asyncio.sleep(0.005)
