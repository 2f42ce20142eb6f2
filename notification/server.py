"""The notification module as a process: intake and settings over HTTP, the feed over links, the rule worker behind both.

Any number of processes work on one store, and share the followers among them (`ownership`). Access points call any of them
for their clients; it asks presence who is online, and publishes live copies through the brokers of its site.
"""

import asyncio
from typing import Any, Final

from broker.client import SiteClient
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.frames import AnyFrame, Call, Heartbeat, Hello, Reply, View
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer
from rule_engine.load import default_text, load
from rule_engine.rules import RuleSet

from .online import Online
from .options import NotificationOptions
from .parts import Parts, Surroundings, Tokens
from .teller import Teller

ROLE: Final = "notification"


class Notification:
    """One notification module. `start` opens its store and its doors, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: NotificationOptions,
        context: Context,
        tokens: Tokens,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.door
        self._wall, self._capture = context.wall, context.capture
        self.links = Node((ROLE, self.node, self.site), context, self, timing=options.link)
        self._brokers = SiteClient(self.links, self.site, options.brokers)
        self._teller = Teller(self._brokers.publish, asyncio.get_running_loop().time)
        self.online = Online(len(options.presence))
        record = context.capture.publication if context.capture is not None else None
        self._surroundings = Surroundings(
            options,
            _rules(options),
            self.links,
            self.online,
            tokens,
            self._teller.tell,
            self._brokers.publish,
            self._public_url,
            self._wall,
            context.rng,
            context.log,
            record,
        )
        self._parts: Parts | None = None

    async def start(self) -> None:
        """Open the store, go on with what was left, then open the doors. Raises ConfigError and Unavailable."""
        self._parts = parts = await Parts.open(self._surroundings)
        listen = await self.links.listen(self.options.listen)
        self._brokers.start()
        for address in self.options.presence:
            self.links.dial(address, "presence", self.site)
        await parts.start(self.options.advertise or listen)
        self.address = await parts.web.start("notification.door", self.options.door)

    async def drain(self) -> None:
        """Take nothing new over HTTP."""
        if self._parts is not None:
            self._parts.web.drain()

    async def close(self) -> None:
        """Close the doors, stop working, close the store. May be called twice."""
        parts, self._parts = self._parts, None
        await end_all(
            self._teller.end if parts is not None else None,
            parts.close if parts is not None else None,
            self.links.close,
            parts.end if parts is not None else None,
            self._capture.close if self._capture is not None else None,
        )

    def ready(self) -> str | None:
        """Why not everything can be done now; None when it can."""
        if self._parts is None:
            return "it is starting"
        return self._brokers.ready() or self._parts.missing() or self._parts.worker.trouble or self.online.missing()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Access points and other nodes of the module, of any site: one module may serve several."""
        if hello.role not in ("accesspoint", ROLE):
            raise wrong_peer(hello, f"notification of {self.site}", "access points")

    def link_up(self, link: Link) -> LinkHandler:
        """A broker, presence or another node answered, or one called."""
        if self._brokers.concerns(link):
            self._brokers.link_up(link)
        elif link.peer.role == ROLE:
            if self._parts is not None:
                self._parts.routes.link_up(link)
        elif link.dialled is not None:
            self.online.link_up(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone."""
        if self._brokers.concerns(link):
            self._brokers.link_down(link)
        elif link.peer.role == ROLE:
            if self._parts is not None:
                self._parts.routes.link_down(link)
        elif link.dialled is not None:
            self.online.link_down(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Calls of clients and of other nodes, answers of those and of presence, acknowledgements of brokers."""
        if self._brokers.concerns(link):
            self._brokers.frames(link, frames)
            return
        for frame in frames:
            match frame:
                case Call() if link.dialled is None and self._parts is not None:
                    (self._parts.peers if link.peer.role == ROLE else self._parts.callers).take(link, frame)
                case Reply() if link.dialled is not None and link.peer.role != ROLE:
                    self.online.reply(link, frame)
                case Reply() if link.dialled is not None and self._parts is not None:
                    self._parts.routes.reply(link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} makes no sense to the notification module")

    def tick(self, now: float) -> None:
        """Live copies that no broker took are tried again."""
        self._teller.tick()

    def _public_url(self) -> str:
        return self.options.public_url or f"http://{self.address}"

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        parts = self._parts
        figures: dict[str, Any] = self.links.loops.counters() | {
            "notification_links": len(self.links.links),
            "notification_live_failed_total": self._teller.failed,
            "notification_presence_unanswered_total": self.online.unanswered,
        }
        if self._capture is not None:
            figures |= self._capture.counters()
        return figures | parts.counters() if parts is not None else figures


def _rules(options: NotificationOptions) -> RuleSet:
    """Raises ConfigError."""
    if options.rules is None:
        return load(default_text(), "the default rules")
    try:
        return load(options.rules.read_text(encoding="utf-8"), str(options.rules))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"notification.rules: {options.rules} cannot be read: {error}") from None
