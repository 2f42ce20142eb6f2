"""The access point's links: one aggregator at a time, the services of its site, and the decision service if there is one."""

import asyncio
import random
import time
import zlib
from collections.abc import Callable
from typing import Any as Anything
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Applied, Deliver, Heartbeat, Hello, Reply, View
from infra.runtime.decider import DECIDER, Decider
from infra.runtime.link import Link
from infra.runtime.node import Node
from infra.runtime.wire import Network

from .core import AccessPointCore
from .offloading import Offloading
from .options import AccessPointOptions

ROLE: Final = "accesspoint"
FAILOVER_BEATS: Final = 2


class Upstream:
    """Keeps the core fed. The aggregator is one of the configured ones; when its link is lost, the next is tried."""

    def __init__(
        self,
        options: AccessPointOptions,
        core: AccessPointCore,
        network: Network,
        now: Callable[[], float],
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.failovers = 0
        self.link: Link | None = None
        self._options, self._core, self._now = options, core, now
        # A stable choice that differs between access points spreads them over the aggregators.
        self._turn = zlib.crc32(options.node.encode())
        self._waited = 0
        self._views = 0
        self._stepping = False
        self.links = Node((ROLE, options.node, options.site), network, self, timing=options.link, rng=rng, log=log, wall=wall)
        self._decider = Decider(Offloading(core))
        core.attendance.wake = self._report_soon
        self._service_of = {address: service for service, addresses in options.services.items() for address in addresses}

    def start(self) -> None:
        """Dial an aggregator and all services."""
        self._choose()
        for address, service in self._service_of.items():
            self.links.dial(address, service, self._options.site if service == "presence" else None)

    @property
    def aggregator(self) -> str:
        """The aggregator of choice."""
        return self._options.aggregators[self._turn % len(self._options.aggregators)]

    def _choose(self) -> None:
        self._waited = 0
        self._views += 1
        self._core.announcer.set_view(View(self._views, (self.aggregator,)))
        self.links.dial(self.aggregator, "aggregator", self._options.site)

    def _next(self) -> None:
        if len(self._options.aggregators) > 1:
            old = self.aggregator
            self._turn += 1
            self.failovers += 1
            self._choose()
            self.links.hang_up(old)

    # Links (see `LinkRole`).

    def view(self) -> View:
        """An access point knows nothing of its site's brokers."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Nobody links to an access point."""
        raise Refused("wrong-peer", "access points take no links")

    def link_up(self, link: Link) -> None:
        """An aggregator or a service answered."""
        assert link.dialled is not None
        service = self._service_of.get(link.dialled)
        if service == DECIDER:
            self._decider.link_up(link)
        elif service:
            self._core.calls.node_up(service, link.dialled, link)
            if service == "presence":
                self._core.attendance.node_up(link.dialled, link)
        else:
            self.link, self._waited = link, 0
            self._core.announcer.node_up(link.dialled, link)

    def link_down(self, link: Link, reason: str) -> None:
        """An aggregator is lost: go to the next one."""
        assert link.dialled is not None
        service = self._service_of.get(link.dialled)
        if service == DECIDER:
            self._decider.link_down(link)
            return
        if service:
            self._core.calls.node_down(service, link.dialled)
            if service == "presence":
                self._core.attendance.node_down(link.dialled)
            return
        self._core.announcer.node_down(link.dialled)
        if link is self.link:
            self.link = None
            self._next()

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Events for clients, news of what is installed, answers of services, what the decision service says."""
        if self._service_of.get(link.dialled or "") == DECIDER:
            self._decider.frames(frames)
            return
        try:
            for frame in frames:
                self._take(link, frame)
        finally:
            self._core.hub.flush()
            self._go_on()

    def _go_on(self) -> None:
        """A slice of a burst for every turn of the loop, so that the other topics get their turns."""
        if self._core.hub.bursting and not self._stepping:
            self._stepping = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        self._stepping = False
        self._core.hub.step()
        self._core.hub.flush()
        self._go_on()

    def _report_soon(self) -> None:
        """All who come and go in one turn of the loop are reported together."""
        asyncio.get_running_loop().call_soon(self._core.attendance.report)

    def _take(self, link: Link, frame: AnyFrame) -> None:
        core = self._core
        match frame:
            case Deliver(handles, bodies):
                core.hub.deliver(handles, bodies)
            case Applied(n, sites):
                core.announcer.applied(link.dialled or "", n, sites)
                core.subscriptions.advance(self._now())
            case Reply():
                core.calls.reply(frame)
            case Heartbeat():
                pass
            case _:
                raise Refused("bad-link-frame", f"{type(frame).__name__} makes no sense to an access point")

    def tick(self, now: float) -> None:
        """Heartbeat interval: an aggregator that does not answer is given up for the next one."""
        if self.link is None:
            self._waited += 1
            if self._waited > FAILOVER_BEATS:
                self._next()
