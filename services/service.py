"""What every publisher service with a store is: links in and out, the HTTP door, a notifier, perhaps a capture, and their order."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

from broker.client import SiteClient
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Call, Heartbeat, Hello, Reply, View
from infra.kernel.topics import Kind
from infra.runtime.callers import Answerer, Callers
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.http.web import Route, Web
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.tokens import Identity, Service
from infra.runtime.wrong_peer import wrong_peer

from .captured_follows import CapturedFollows
from .follows import FollowStore
from .notifier import Notifier
from .options import ServiceOptions
from .peers import Peers

Options = TypeVar("Options", bound=ServiceOptions)

# Who may call a publisher service over a link.
CALLERS: Final = frozenset({"accesspoint", "presence", "playlist", "social", "artist", "notification"})


class Tokens(Protocol):
    """Who is at the HTTP door; `Verifier` has it. Both raise Refused."""

    def client(self, token: str, now_s: float) -> Identity:
        """The user who shows `token`."""

    def service(self, token: str, now_s: float) -> Service:
        """The service that shows `token`."""


class ServiceRole(Generic[Options]):
    """A service is one of these. Its `start` opens its store, starts its own tasks, and last calls `open` with what it answers; what is
    to be closed again goes to `opened`. `token(service)` makes a service token."""

    role: str

    def __init__(
        self,
        options: Options,
        context: Context,
        tokens: Tokens,
        token: Callable[[str], str],
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.door
        self.links = Node((self.role, self.node, self.site), context, self, timing=options.link)
        self.brokers = SiteClient(self.links, self.site, self.broker_addresses())
        self.peers = Peers(self.links, self.site, self.peer_addresses())
        self.notifier = Notifier(options.notification, partial(token, self.role))
        self.opened = AsyncExitStack()
        self._tokens = tokens
        self._log, self._rng, self._wall, self._capture = context.log, context.rng, context.wall, context.capture
        self._callers = Callers({}, context.log)
        self._web: Web | None = None
        if context.capture is not None:
            self.opened.push_async_callback(context.capture.close)
        self.opened.push_async_callback(self.notifier.close)

    def broker_addresses(self) -> Mapping[str, str]:
        """Slot -> address of the brokers that it publishes through, if it does."""
        return {}

    def peer_addresses(self) -> Mapping[str, Sequence[str]]:
        """Role -> addresses of the services that it calls."""
        return {}

    async def open(self, routes: Sequence[Route], answers: Mapping[str, Answerer]) -> None:
        """Opens the HTTP door with `routes`, listens for calls, which `answers` (by op) answer, then dials brokers and peers.

        Raises CannotListen if an address is taken.
        """
        options, tokens = self.options, self._tokens
        self._callers = Callers(answers, self._log)
        self._web = Web(
            routes,
            verify_user=tokens.client,
            verify_service=tokens.service,
            wall=self._wall,
            max_body_bytes=options.max_body_bytes,
            log=self._log,
        )
        self.address = await self._web.start(f"{self.role}.door", options.door)
        await self.links.listen(options.listen)
        self.brokers.start()
        self.peers.start()

    async def drain(self) -> None:
        """Take nothing new over HTTP."""
        if self._web is not None:
            self._web.drain()

    async def close(self) -> None:
        """Close the door and the links, giving up calls that are open, then what was `opened`, the last first. May be called twice."""
        await end_all(
            self.drain,
            self._web.close if self._web is not None else None,
            self.links.close,
            self._callers.close,
            self.opened.aclose,
        )

    def ready(self) -> str | None:
        """Why not everything can be done now; None when it can."""
        if self._web is None:
            return "it is starting"
        if self.broker_addresses() and (why := self.brokers.ready()):
            return why
        missing = self.peers.missing()
        return f"no link to any service of {', '.join(missing)}" if missing else None

    def captured(self, follows: FollowStore, kind: Kind) -> FollowStore:
        """`follows`, whose changes are captured if that is wanted."""
        return follows if self._capture is None else CapturedFollows(follows, self._capture, kind)

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.service_metrics(role)`, and for a capture."""
        captured: dict[str, Any] = self._capture.counters() if self._capture is not None else {}
        others = captured | self.links.loops.counters()
        return others | {
            f"{self.role}_links": len(self.links.links),
            f"{self.role}_http_requests_total": self._web.requests if self._web is not None else 0,
            f"{self.role}_calls_total": dict(self._callers.answered),
            f"{self.role}_calls_refused_total": self._callers.refused,
            f"{self.role}_notified_total": self.notifier.accepted,
        }

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self.brokers.view

    def admit(self, hello: Hello) -> None:
        """Access points, of any site: one service may serve several; and services of this site."""
        if hello.role not in CALLERS or (hello.role != "accesspoint" and hello.site != self.site):
            raise wrong_peer(hello, f"{self.role} of {self.site}", "access points, and services of its site")

    def link_up(self, link: Link) -> LinkHandler:
        """A broker or a peer answered, or somebody called."""
        if self.brokers.concerns(link):
            self.brokers.link_up(link)
        elif self.peers.concerns(link):
            self.peers.link_up(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """A node is gone."""
        if self.brokers.concerns(link):
            self.brokers.link_down(link)
        elif self.peers.concerns(link):
            self.peers.link_down(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Acknowledgements from brokers, replies of peers, calls from everybody else."""
        if self.brokers.concerns(link):
            self.brokers.frames(link, frames)
            return
        for frame in frames:
            match frame:
                case Call() if link.dialled is None:
                    self._callers.take(link, frame)
                case Reply() if link.dialled is not None:
                    self.peers.reply(link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense here")

    def tick(self, now: float) -> None:
        """Nothing to decide on time here."""
