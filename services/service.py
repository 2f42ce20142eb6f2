"""What every publisher service with a store is: links in and out, an HTTP listener, a notifier, perhaps a capture, and their order."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from broker.client import SiteClient
from infra.kernel.frames import Hello, View
from infra.kernel.roles import ACCESSPOINT, ARTIST, NOTIFICATION, PLAYLIST, PRESENCE, SOCIAL
from infra.runtime.call_links import AskedLink, AskingLink
from infra.runtime.callers import Answerer, Callers
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.http.web import Route, Web
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node
from infra.runtime.tokens import Tokens
from infra.runtime.wrong_peer import wrong_peer

from .intake_client import IntakeClient
from .neighbours import Neighbours
from .options import ServiceOptions
from .peers import ServicePeers

# Who may call a publisher service over a link.
CALLERS: Final = frozenset({ACCESSPOINT, PRESENCE, PLAYLIST, SOCIAL, ARTIST, NOTIFICATION})


class ServiceWork(Protocol):
    """The work of a service on its open store. It is made as a whole when the store is open, so nothing in it is ever missing."""

    def routes(self) -> Sequence[Route]:
        """Returns what is answered over HTTP."""

    def answers(self) -> Mapping[str, Answerer]:
        """Returns what is answered over links, by op."""

    def start(self) -> None:
        """Begins what the service does by itself."""

    async def close(self) -> None:
        """Ends that. May be called twice."""

    def counters(self) -> dict[str, Any]:
        """Returns the figures of the service's own, for its `metrics.METRICS`."""


Options = TypeVar("Options", bound=ServiceOptions)
Work = TypeVar("Work", bound=ServiceWork)


class ServiceRole(ABC, Generic[Options, Work]):
    """A publisher service. `start` opens its store, then its listeners; `close` ends it.

    - `options`, `context`: see there.
    - `tokens`: reads the tokens of who asks over HTTP.
    - `token`: makes a token for the service of a name.

    A service says in `open_work` what it does, and in `broker_addresses` and `peer_addresses` whom it reaches. From `start` on
    `work` is what it does.
    """

    role: ClassVar[str]
    work: Work

    def __init__(self, options: Options, context: Context, tokens: Tokens, token: Callable[[str], str]) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.door
        self.context = context
        self.links = Node((self.role, self.node, self.site), context, self, timing=options.link)
        self.neighbours = Neighbours(
            SiteClient(self.links, self.site, self.broker_addresses(), book=context.revocations),
            ServicePeers(self.links, self.site, self.peer_addresses()),
            IntakeClient(options.notification, partial(token, self.role), context=context.doors.client_context),
            self.links.loops,
        )
        self.opened = AsyncExitStack()
        """What `close` closes again, the last first."""
        self._tokens = tokens
        self._callers: Callers
        self._web: Web | None = None  # None until there is something to answer with
        if context.capture is not None:
            self.opened.push_async_callback(context.capture.close)
        self.opened.push_async_callback(self.neighbours.notifier.close)

    def broker_addresses(self) -> Mapping[str, str]:
        """Returns slot -> address of the brokers that it publishes through, if it does."""
        return {}

    def peer_addresses(self) -> Mapping[str, Sequence[str]]:
        """Returns role -> addresses of the services that it calls."""
        return {}

    @abstractmethod
    async def open_work(self) -> Work:
        """Opens the store, which goes to `opened`, and returns what works on it. Raises ConfigError and Unavailable."""

    async def start(self) -> None:
        """Opens the store, goes on with what was left to do, listens, dials brokers and peers, and opens the door last.

        By then a broker has told whose tokens are revoked, if one can be reached.

        Raises ConfigError, Unavailable, and CannotListen if an address is taken.
        """
        self.work = work = await self.open_work()
        self.opened.push_async_callback(work.close)
        work.start()
        # The order matters when it is undone: listeners go first, then links, and what answers calls when no call can come.
        self._callers = Callers(work.answers(), self.context.log)
        self.opened.push_async_callback(self._callers.close)
        self.opened.push_async_callback(self.links.close)
        self._web = self._web_of(work.routes())
        self.opened.push_async_callback(self._web.close)
        await self.links.listen(self.options.listen)
        self.neighbours.brokers.start()
        self.neighbours.peers.start()
        if self.broker_addresses():
            await self.context.revocations.heard(self.context.log)
        self.address = await self._web.start(f"{self.role}.door", self.options.door)

    def _web_of(self, routes: Sequence[Route]) -> Web:
        return Web(
            routes,
            tokens=self._tokens,
            wall=self.context.wall,
            doors=self.context.doors,
            max_body_bytes=self.options.max_body_bytes,
            limits=self.options.web,
            name=self.role,
            log=self.context.log,
            audit=self.context.audit,
            allowed_origins=self.options.allowed_origins,
        )

    async def drain(self) -> None:
        """Takes nothing new over HTTP."""
        if self._web is not None:
            self._web.drain()

    async def close(self) -> None:
        """Closes listeners and links, giving up calls that are open, then what was opened, the last first. May be called twice."""
        await end_all(self.drain, self.opened.aclose, self.links.close)

    def ready(self) -> str | None:
        """Returns why not everything can be done now; None when it can."""
        if self._web is None:
            return "it is starting"
        if self.broker_addresses() and (why := self.neighbours.brokers.ready()):
            return why
        missing = self.neighbours.peers.missing()
        return f"no link to any service of {', '.join(missing)}" if missing else None

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.service_metrics(role)`, for the service's own metrics, and for a capture."""
        capture = self.context.capture
        others = (capture.counters() if capture is not None else {}) | self.links.loops.counters()
        if self._web is None:
            return others
        return others | {
            f"{self.role}_links": len(self.links.links),
            **self._web.counters(),
            f"{self.role}_calls_total": dict(self._callers.answered),
            f"{self.role}_calls_refused_total": self._callers.refused,
            f"{self.role}_notified_total": self.neighbours.notifier.accepted,
            **self.work.counters(),
        }

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns the newest view of the site."""
        return self.neighbours.brokers.view

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for all but access points, of any site as one service may serve several, and services of this site."""
        if hello.role not in CALLERS or (hello.role != ACCESSPOINT and hello.site != self.site):
            raise wrong_peer(hello, f"{self.role} of {self.site}", "access points, and services of its site")

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a link to a broker or a service that answered, or to somebody who called."""
        if self.neighbours.brokers.concerns(link):
            return self.neighbours.brokers.link_up(link)
        if link.dialled is not None:
            peers = self.neighbours.peers
            peers.link_up(link)
            return AskedLink(link, partial(peers.reply, link), partial(peers.link_down, link))
        return AskingLink(link, self._callers.take)

    def tick(self, now: float) -> None:
        """Does nothing: no decision here waits for a moment."""
