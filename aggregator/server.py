"""The aggregator as a process: access points call it, it calls every broker of its site."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from broker.client import SiteClient
from infra.kernel.announcer import Told
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Applied, Fence, Fenced, Heartbeat, Hello, Leaving, Staying, Subscribe, Unsubscribe, View
from infra.kernel.limbo import Limbo
from infra.kernel.receipts import Receipts
from infra.kernel.topics import Topic
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer

from .core import AggregatorCore, Rows
from .options import AggregatorOptions

ROLE: Final = "aggregator"


class _AccessPoint:
    """What a subscribing access point has and was told. `fence`: the number of the one that it waits for, and what brokers must
    have done before. `stays`: it has nowhere else to go."""

    __slots__ = ("bit", "fence", "receipts", "stays")

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.receipts = Receipts()
        self.fence: tuple[int, Told] | None = None
        self.stays = False


class Aggregator:
    """One aggregator. `start` opens its door, `drain` has the access points go to another one, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: AggregatorOptions,
        context: Context,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.core = AggregatorCore()
        self.address = options.listen
        self.failovers = self.link_drops = 0
        self.links = Node((ROLE, self.node, self.site), context, self, timing=options.link)
        self._brokers = SiteClient(self.links, self.site, options.brokers, self.core.wanted)
        self._limbo = Limbo([self._brokers.announcer])
        self._points: dict[Link, _AccessPoint] = {}
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
        self._is_draining = True
        for link in self._points:
            link.send(Leaving())
        self._check_left()
        try:
            async with asyncio.timeout(self.options.drain_s):
                await self._left.wait()
        except TimeoutError:
            self._log.warning("access points have not moved", points=len(self._points), after_s=self.options.drain_s)
        if stay := sum(point.stays for point in self._points.values()):
            self._log.warning("no other aggregator to go to: events are lost until one is there", points=stay)

    def _check_left(self) -> None:
        if self._is_draining and all(point.stays for point in self._points.values()):
            self._left.set()

    async def close(self) -> None:
        """Close all links."""
        await self.links.close()

    def ready(self) -> str | None:
        """Why subscriptions cannot be installed now; None when they can."""
        if self._is_draining:
            return "draining"
        return self._brokers.ready()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The newest view of the site."""
        return self._brokers.view

    def admit(self, hello: Hello) -> None:
        """Admits access points of this site, as many as there is room for, and none while this one drains."""
        if (hello.role, hello.site) != ("accesspoint", self.site):
            raise wrong_peer(hello, f"an aggregator of {self.site}", "the access points of its site")
        if self._is_draining:
            raise Refused("draining", f"aggregator {self.node} is leaving; go to another one")
        self.core.interest.check_room()

    def link_up(self, link: Link) -> LinkHandler:
        """A broker answered, or an access point called."""
        link.max_queued_bytes, link.max_bytes = self.options.max_link_queue_bytes, self.options.max_link_bytes
        if self._brokers.concerns(link):
            self._brokers.link_up(link)
        else:
            self._points[link] = _AccessPoint(self.core.open(link))
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """A broker is lost (another takes over), or an access point with all that it wanted."""
        self.link_drops += link.drops
        if self._brokers.concerns(link):
            self.failovers += 1
            self._brokers.link_down(link)
            self._tell_points()
        elif point := self._points.pop(link, None):
            self._withdraw(self.core.close(point.bit))
            self._check_left()

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """A batch from a peer. Raises `Refused` if the peer may not say that."""
        if point := self._points.get(link):
            self._from_point(link, point, frames)
            return
        for deliver in self._brokers.frames(link, frames):
            self.core.fan_out(deliver.handles, deliver.bodies)
        if any(isinstance(frame, Applied | Heartbeat) for frame in frames):
            self._tell_points()

    def _from_point(self, link: Link, point: _AccessPoint, frames: list[AnyFrame]) -> None:
        for frame in frames:
            match frame:
                case Subscribe(n, handles, topics):
                    known: Sequence[Topic] = topics  # type: ignore[assignment]  # the codec has checked them
                    self._brokers.want(self.core.subscribe(point.bit, known, handles))
                    point.receipts.record(n, {}, self._brokers.announcer.mark())
                case Unsubscribe(n, topics):
                    known = topics  # type: ignore[assignment]
                    self._withdraw(self.core.unsubscribe(point.bit, known))
                    point.receipts.record(n, {}, self._brokers.announcer.mark())
                case Fence(n):
                    point.fence = (n, self._brokers.announcer.ask_all())
                case Staying():
                    point.stays = True
                    self._check_left()
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from an access point makes no sense here")
        self._tell(link, point)

    def tick(self, now: float) -> None:
        """Nothing to decide on time here but how long a broker is kept that topics have left."""
        self._brokers.announcer.tick()
        self._release()

    def _withdraw(self, rows: Rows) -> None:
        if rows:
            self._brokers.unwant(topic for _, topic in rows)
            self._limbo.add(rows)

    def _release(self) -> None:
        for row, topic in self._limbo.leave():
            self.core.interest.release(row, topic)

    def _tell_points(self) -> None:
        self._release()
        for link, point in self._points.items():
            self._tell(link, point)

    def _tell(self, link: Link, point: _AccessPoint) -> None:
        if (news := point.receipts.advance(self._brokers.announcer.reached)) is not None:
            link.send(news)
        if point.fence is not None and self._brokers.announcer.has_done(point.fence[1]):
            link.send(Fenced(point.fence[0]))
            point.fence = None

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        core = self.core
        return self.links.loops.counters() | {
            "aggregator_topics": len(core.interest) - len(self._limbo),
            "aggregator_links": len(self.links.links),
            "aggregator_brokers_live": len(self._brokers.links),
            "aggregator_events_received_total": core.received,
            "aggregator_events_stale_total": core.stale,
            "aggregator_deliveries_total": core.fanout.deliveries,
            "aggregator_subscribes_total": core.subscribes,
            "aggregator_unsubscribes_total": core.unsubscribes,
            "aggregator_link_queue_bytes": sum(link.wire.queued_bytes for link in self.links.links),
            "aggregator_link_drops_total": self.link_drops + sum(link.drops for link in self.links.links),
            "aggregator_links_slow_total": self.links.slow,
            "aggregator_failovers_total": self.failovers,
            "aggregator_protocol_errors_total": self.links.refused,
        }
