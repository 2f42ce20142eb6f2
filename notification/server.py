"""The notification module as a process: intake and settings over HTTP, the feed over links, the rule worker behind both.

Any number of processes work on one store, and share the followers among them (`ownership`). Access points call any of them
for their clients. Each process asks presence who is online, and publishes live copies through the brokers of its site.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from broker.client import SiteClient
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.frames import Hello, View
from infra.kernel.roles import ACCESSPOINT, NOTIFICATION, PRESENCE
from infra.runtime.call_links import AskedLink, AskingLink
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.metrics import Value
from infra.runtime.node import Node
from infra.runtime.tokens import Tokens
from infra.runtime.wrong_peer import wrong_peer
from rule_engine.load import default_text, load
from rule_engine.rules import RuleSet

from .online import Online
from .options import NotificationOptions
from .stored_path import StoredPath, Surroundings
from .stores import OpenStore, open_store


class NotificationModule:
    """One node of the notification module. `start` opens its store, its links and its HTTP handlers, `close` ends it.

    `stored` is everything behind its store; None before `start`, and from `close` on.
    """

    role: Final = NOTIFICATION

    def __init__(self, options: NotificationOptions, context: Context, tokens: Tokens, open_store: OpenStore = open_store) -> None:
        """Raises ConfigError for rules that cannot be used. `open_store` opens the store that `options` ask for."""
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.door
        self.stored: StoredPath | None = None
        self._capture, self._doors = context.capture, context.doors
        self._revocations, self._log = context.revocations, context.log
        self.links = Node((self.role, self.node, self.site), context, self, timing=options.link)
        self.online = Online(len(options.presence))
        self._brokers = SiteClient(self.links, self.site, options.brokers, book=context.revocations)
        self._surroundings = Surroundings(
            options, context, _rules(options), self.links, self._brokers, self.online, tokens, self._public_url, open_store
        )

    async def start(self) -> None:
        """Opens the store, goes on with what was left, then opens the HTTP handlers. Raises ConfigError and Unavailable."""
        self.stored = stored = await StoredPath.open(self._surroundings)
        listen = await self.links.listen(self.options.listen)
        self._brokers.start()
        for address in self.options.presence:
            self.links.dial(address, PRESENCE, self.site)
        await stored.start(self.options.advertise or listen)
        await self._revocations.heard(self._log)  # no revoked token is taken meanwhile, if a broker can be reached
        self.address = await stored.web.start("notification.door", self.options.door)

    async def drain(self) -> None:
        """Takes nothing new over HTTP."""
        if self.stored is not None:
            self.stored.web.drain()

    async def close(self) -> None:
        """Closes the HTTP handlers, stops working, closes the store. May be called twice."""
        stored, self.stored = self.stored, None
        await end_all(
            stored.close if stored is not None else None,
            self.links.close,
            stored.end if stored is not None else None,
            self._capture.close if self._capture is not None else None,
        )

    def ready(self) -> str | None:
        """Returns why not everything can be done now; None when it can."""
        if self.stored is None:
            return "it is starting"
        return self._brokers.ready() or self.stored.missing() or self.stored.worker.trouble or self.online.missing()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns the newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Admits access points and other nodes of the module, of any site: one module may serve several. Raises Refused."""
        if hello.role not in (ACCESSPOINT, NOTIFICATION):
            raise wrong_peer(hello, f"notification of {self.site}", "access points")

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a broker, of presence, of another node or of an access point. Raises Refused while this node closes."""
        if self._brokers.concerns(link):
            return self._brokers.link_up(link)
        if self.stored is None:
            raise Refused("draining")
        if link.peer.role == NOTIFICATION:
            return self._node_up(self.stored, link)
        if link.dialled is None:
            return AskingLink(link, self.stored.callers.take)
        self.online.link_up(link)
        return AskedLink(link, partial(self.online.reply, link), partial(self.online.link_down, link))

    def _node_up(self, stored: StoredPath, link: Link) -> LinkHandler:
        """Returns the handler of a link of another node. Two nodes have two links: each asks over the one that it has dialled."""
        routes = stored.routes
        routes.link_up(link)
        if link.dialled is None:
            return AskingLink(link, stored.peers.take, routes.link_down)
        return AskedLink(link, partial(routes.reply, link), partial(routes.link_down, link))

    def tick(self, now: float) -> None:
        """Tries live copies again that no broker took."""
        if self.stored is not None:
            self.stored.teller.tick()

    @property
    def on_hang_up(self) -> Callable[[], None] | None:
        """What SIGHUP does; None where there is nothing to read again."""
        return self.stored.mail.mailer.on_hang_up if self.stored is not None and self.stored.mail is not None else None

    def _public_url(self) -> str:
        return self.options.public_url or f"{self._doors.scheme('http')}://{self.address}"

    def counters(self) -> dict[str, Value]:
        """Returns figures for `metrics.METRICS`."""
        figures: dict[str, Value] = {
            **self.links.loops.counters(),
            "notification_links": len(self.links.links),
            "notification_presence_unanswered_total": self.online.unanswered,
        }
        if self._capture is not None:
            figures |= self._capture.counters()
        return figures | self.stored.counters() if self.stored is not None else figures


def _rules(options: NotificationOptions) -> RuleSet:
    """Raises ConfigError."""
    if options.rules is None:
        return load(default_text(), "the default rules")
    try:
        return load(options.rules.read_text(encoding="utf-8"), str(options.rules))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"notification.rules: {options.rules} cannot be read: {error}") from None
