"""The aggregator as a process: access points call it, it calls every broker of its site."""

import asyncio
from collections.abc import Sequence
from typing import Any

from broker.client import SiteClient
from infra.kernel.errors import Refused
from infra.kernel.frames import Call, Hello, Reply, View
from infra.kernel.revocations import Entry
from infra.kernel.roles import ACCESSPOINT, AGGREGATOR
from infra.kernel.shares import Shares
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node
from infra.runtime.tapped_link import TappedLink
from infra.runtime.wrong_peer import wrong_peer

from .core import AggregatorCore
from .feeding_link import FeedingLink
from .options import AggregatorOptions
from .orders import PointOrders
from .points import AccessPoints


class Aggregator:
    """One aggregator. `start` opens its door, `drain` has the access points go to another one, `close` ends it."""

    role = AGGREGATOR

    def __init__(
        self,
        options: AggregatorOptions,
        context: Context,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.core = AggregatorCore()
        self.address = options.listen
        self.failovers = 0
        self.links = Node((AGGREGATOR, self.node, self.site), context, self, timing=options.link)
        self._brokers = SiteClient(
            self.links,
            self.site,
            options.brokers,
            self.core.wanted,
            self.core,
            book=context.revocations,
            gains_of=self.core.gains.of,
            progressed=lambda: self.points.tell_all(),  # they do not exist yet
        )
        self.points = AccessPoints(self.core, self._brokers, self._check_left, Shares(asyncio.get_running_loop().call_soon))
        self._orders = PointOrders(lambda: [point.link for point in self.points.everyone], context.log)
        self._book = context.revocations
        self._book.on_news(self._pass_on)
        self._log = context.log
        self._is_draining = False
        self._left = asyncio.Event()

    async def start(self) -> None:
        """Listens for access points, then dials the brokers. Raises CannotListen if the address is taken."""
        self.address = await self.links.listen(self.options.listen)
        self._brokers.start()

    async def drain(self) -> None:
        """Takes no further access point, and waits until those that are linked get everything from another aggregator or have said
        that there is none; at most `drain_s`."""
        self.begin_leaving()
        try:
            async with asyncio.timeout(self.options.drain_s):
                await self._left.wait()
        except TimeoutError:
            self._log.warning("access points have not moved", points=len(self.points), after_s=self.options.drain_s)
        if losing := self.points.losing:
            self._log.warning("no other aggregator to go to: events are lost until one is there", points=losing)

    def begin_leaving(self) -> None:
        """Takes no further access point, and asks those that are linked to go to another aggregator."""
        self._is_draining = True
        self.points.leave()
        self._check_left()

    def _check_left(self) -> None:
        if self._is_draining and self.points.staying == len(self.points):
            self._left.set()

    async def close(self) -> None:
        """Closes all links."""
        await end_all(self.links.close, self._orders.close)

    def ready(self) -> str | None:
        """Returns why subscriptions cannot be installed now; None when they can."""
        if self._is_draining:
            return "draining"
        return self._brokers.ready()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns the newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Admits access points of this site, as many as there is room for, and none while this one drains."""
        if (hello.role, hello.site) != (ACCESSPOINT, self.site):
            raise wrong_peer(hello, f"an aggregator of {self.site}", "the access points of its site")
        if self._is_draining:
            raise Refused("draining", f"aggregator {self.node} is leaving; go to another one")
        self.core.interest.check_room()

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler of a broker that answered, or of an access point that called."""
        link.max_queued_bytes, link.max_bytes = self.options.max_link_queue_bytes, self.options.max_link_bytes
        if link.dialled is not None:
            feeding = FeedingLink(self._brokers.link_up(link), self.points, self._broker_lost)
            return TappedLink(link, feeding, (Call,), self._orders.take)
        self._book.tell_all(link)
        return TappedLink(link, self.points.link_up(link), (Reply,), self._orders.take, self._orders.link_down)

    def _pass_on(self, news: Sequence[Entry]) -> None:
        self._book.tell([point.link for point in self.points.everyone], news)

    def _broker_lost(self) -> None:
        self.failovers += 1

    def tick(self, now: float) -> None:
        """Does what is due once in a heartbeat interval: brokers that topics have left, rows that are free again."""
        self._brokers.tick()
        self.points.tick()

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        core = self.core
        return self.links.loops.counters() | {
            "aggregator_topics": len(core.interest) - self.points.topics_in_limbo,
            "aggregator_links": len(self.links.links),
            "aggregator_brokers_live": len(self._brokers.links),
            "aggregator_events_received_total": core.received,
            "aggregator_events_stale_total": core.stale,
            "aggregator_deliveries_total": core.fanout.deliveries,
            "aggregator_subscribes_total": core.subscribes,
            "aggregator_unsubscribes_total": core.unsubscribes,
            "aggregator_link_queue_bytes": self.links.queued_bytes,
            "aggregator_link_drops_total": self.links.drops,
            "aggregator_links_slow_total": self.links.slow,
            "aggregator_failovers_total": self.failovers,
            "aggregator_protocol_errors_total": self.links.refused,
        }
