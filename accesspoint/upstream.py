"""The access point's links: to aggregators, to the services of its site, and to the decision service if there is one."""

import asyncio
from collections.abc import Callable
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Heartbeat, Hello, Reply, View
from infra.kernel.roles import DECISION
from infra.runtime.context import Context
from infra.runtime.decision_link import DecisionLink
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node

from .core import AccessPointCore
from .offloading import Offloading
from .options import AccessPointOptions
from .source import Source

ROLE: Final = "accesspoint"


class Upstream:
    """Keeps the core fed: with events by `source`, with answers by the services."""

    def __init__(
        self,
        options: AccessPointOptions,
        core: AccessPointCore,
        context: Context,
        now: Callable[[], float],
    ) -> None:
        self._options, self._core = options, core
        self._stepping = False
        self.links = Node((ROLE, options.node, options.site), context, self, timing=options.link)
        self.source = Source(options, core, self.links, now, context.log)
        self._decision = DecisionLink(Offloading(core))
        core.attendance.wake = self._report_soon
        self._service_of = {address: service for service, addresses in options.services.items() for address in addresses}

    def start(self) -> None:
        """Dial an aggregator and all services."""
        self.source.start()
        for address, service in self._service_of.items():
            self.links.dial(address, service, self._options.site if service == "presence" else None)

    # Links (see `LinkRole`).

    def view(self) -> View:
        """An access point knows nothing of its site's brokers."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Nobody links to an access point."""
        raise Refused("wrong-peer", "access points take no links")

    def link_up(self, link: Link) -> LinkHandler:
        """An aggregator or a service answered."""
        assert link.dialled is not None
        service = self._service_of.get(link.dialled)
        if service == DECISION:
            return self._decision.link_up(link)
        if service:
            self._core.calls.node_up(service, link.dialled, link)
            if service == "presence":
                self._core.attendance.node_up(link.dialled, link)
        else:
            self.source.link_up(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """An aggregator or a service is lost."""
        assert link.dialled is not None
        service = self._service_of.get(link.dialled)
        if service:
            self._core.calls.node_down(service, link.dialled)
            if service == "presence":
                self._core.attendance.node_down(link.dialled)
        else:
            self.source.link_down(link)
            self._flush()

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Events for clients, news of what is installed, answers of services, what the decision service says."""
        try:
            for frame in frames:
                self._take(link, frame)
        finally:
            self._flush()

    def _flush(self) -> None:
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
        self._flush()

    def _report_soon(self) -> None:
        """All who come and go in one turn of the loop are reported together."""
        asyncio.get_running_loop().call_soon(self._core.attendance.report)

    def _take(self, link: Link, frame: AnyFrame) -> None:
        if link.dialled not in self._service_of:
            self.source.take(link, frame)
        elif isinstance(frame, Reply):
            self._core.calls.reply(link.dialled, frame)
        elif not isinstance(frame, Heartbeat):
            raise Refused("bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense to an access point")

    def tick(self, now: float) -> None:
        """Heartbeat interval."""
        self.source.tick()
