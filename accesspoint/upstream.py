"""The access point's links: to aggregators, to the services of its site, and to the decision service if there is one."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import msgpack

from infra.kernel.errors import Refused
from infra.kernel.frames import NOBODY, AnyFrame, Barred, Call, Heartbeat, Hello, Reply, Revoked, View
from infra.kernel.revocations import Entry
from infra.kernel.roles import ACCESSPOINT, DECISION, PLAYLIST, PRESENCE, SOCIAL
from infra.runtime.context import Context
from infra.runtime.decision_link import DecisionLink
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, makes_no_sense
from infra.runtime.node import Node
from infra.runtime.tapped_link import TappedLink

from .client_offloading import ClientOffloading
from .core import AccessPointCore
from .options import AccessPointOptions
from .source import Source

# A social node tells changes to those who have asked it something. A call with the number 0 has no answer that anybody waits for.
GREETING: Final = Call(0, NOBODY, "", "may-see", msgpack.encode([]))
# The same for a playlist node.
PLAYLIST_GREETING: Final = Call(0, NOBODY, "", "followed", msgpack.encode(([], "")))


class Upstream:
    """The links that feed the core: with events by `source`, with answers by the services."""

    def __init__(
        self,
        options: AccessPointOptions,
        core: AccessPointCore,
        context: Context,
    ) -> None:
        self._options, self._core, self._wall, self._now = options, core, context.wall, context.now
        self.revocations = context.revocations
        self.revocations.on_news(self._hear)
        self._stepping = False
        self.links = Node((ACCESSPOINT, options.node, options.site), context, self, timing=options.link)
        self.source = Source(options, core, self.links, context.now, context.log)
        self._decision = DecisionLink(ClientOffloading(core))
        self._service_of = {address: service for service, addresses in options.services.items() for address in addresses}

    def start(self) -> None:
        """Dials an aggregator and all services."""
        self.source.start()
        for address, service in self._service_of.items():
            self.links.dial(address, service, self._options.site if service == PRESENCE else None)

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns no view: an access point knows nothing of its site's brokers."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Raises `Refused`: nobody links to an access point."""
        raise Refused("wrong-peer", "access points take no links")

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of an aggregator or a service that answered."""
        assert link.dialled is not None
        service = self._service_of.get(link.dialled)
        if service is None:
            self.revocations.meet(link)
            self.source.link_up(link)
            return TappedLink(link, AggregatorLink(self.source, link, self._flush), (Revoked, Call), self._obey)
        if service == DECISION:
            return self._decision.link_up(link)
        return self._service_up(service, link.dialled, link)

    def _obey(self, link: Link, frame: AnyFrame) -> None:
        """Takes what operators want, from an aggregator. Raises `Refused` for a call that is no order."""
        if isinstance(frame, Revoked):
            self.revocations.learn(frame)
        elif isinstance(frame, Call):
            link.send(self._core.orders.reply(frame, self._wall()))

    def _hear(self, news: Sequence[Entry]) -> None:
        self._core.dismissals.heard(news, self.revocations.known, self._wall())
        if self.revocations.is_whole:
            self._core.arrivals.release(self._now(), self._wall())

    def _service_up(self, service: str, address: str, link: Link) -> LinkHandler:
        self._core.calls.node_up(service, address, link)
        if service == PRESENCE:
            self._core.attendance.node_up(address, link)
        if service == SOCIAL:
            return SocialLink(self._core, address, link, self._now)
        if service == PLAYLIST:
            return PlaylistLink(self._core, address, link, self._now)
        return ServiceLink(self._core, service, address, link)

    def tick(self, now: float) -> None:
        """Looks after the aggregator, once in a heartbeat interval."""
        self.source.tick()
        self._core.subscriptions.tick()

    # Sending to clients.

    def _flush(self) -> None:
        self._core.hub.flush()
        self._go_on()

    def _go_on(self) -> None:
        """Takes up a burst, a slice in every turn of the loop, so that the other topics get their turns."""
        if self._core.hub.bursting and not self._stepping:
            self._stepping = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        self._stepping = False
        self._core.hub.step()
        self._flush()


class AggregatorLink:
    """The handler of a link to an aggregator. `flush()` sends clients what a batch brought them."""

    __slots__ = ("_flush", "_link", "_source")

    def __init__(self, source: Source, link: Link, flush: Callable[[], None]) -> None:
        self._source, self._link, self._flush = source, link, flush

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes events, and news of what is installed; then each session that got something has one write."""
        try:
            for frame in frames:
                self._source.take(self._link, frame)
        finally:
            self._flush()

    def down(self, reason: str) -> None:
        """Goes on without the aggregator. What was kept of another one may be delivered now, so it is sent, too."""
        self._source.link_down(self._link)
        self._flush()


class ServiceLink:
    """The handler of a link to a node of `service`, which answers calls of clients. Presence is told who is here, beside that."""

    __slots__ = ("_address", "_core", "_link", "_service")

    def __init__(self, core: AccessPointCore, service: str, address: str, link: Link) -> None:
        self._core, self._service, self._address, self._link = core, service, address, link

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes answers."""
        for frame in frames:
            self._take(frame)

    def _take(self, frame: AnyFrame) -> None:
        if isinstance(frame, Reply):
            self._core.calls.reply(self._address, frame)
        elif not isinstance(frame, Heartbeat):
            raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Gives up the answers that the node owes."""
        self._core.calls.node_down(self._service, self._address)
        if self._service == PRESENCE:
            self._core.attendance.node_down(self._address)


class SocialLink(ServiceLink):
    """The handler of a link to a social node, which tells whose answers of who may see what hold no longer."""

    __slots__ = ("_now",)

    def __init__(self, core: AccessPointCore, address: str, link: Link, now: Callable[[], float]) -> None:
        super().__init__(core, SOCIAL, address, link)
        self._now = now
        link.send(GREETING)
        core.gatekeeper.link_up(now())
        core.friends.rosters.node_up(SOCIAL, now())

    def _take(self, frame: AnyFrame) -> None:
        if isinstance(frame, Barred):
            self._core.gatekeeper.barred(frame, self._now())
            self._core.friends.barred(SOCIAL, frame, self._now())
        else:
            super()._take(frame)

    def down(self, reason: str) -> None:
        """Gives up the answers that the node owes. What sessions hold stands."""
        super().down(reason)
        self._core.gatekeeper.link_down()


class PlaylistLink(ServiceLink):
    """The handler of a link to a playlist node, which tells whose playlists somebody has begun to follow, or follows no more."""

    __slots__ = ("_now",)

    def __init__(self, core: AccessPointCore, address: str, link: Link, now: Callable[[], float]) -> None:
        super().__init__(core, PLAYLIST, address, link)
        self._now = now
        link.send(PLAYLIST_GREETING)
        core.friends.rosters.node_up(PLAYLIST, now())

    def _take(self, frame: AnyFrame) -> None:
        if isinstance(frame, Barred):
            self._core.friends.barred(PLAYLIST, frame, self._now())
        else:
            super()._take(frame)
