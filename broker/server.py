"""The broker as a process: links in and out around the pure core, and the order in which they learn of each other.

Who is at the other end decides what a frame means:

====================  ======================================  ===================================
peer                  it called us                            we called it
====================  ======================================  ===================================
aggregator            subscribes; gets events of all sites    -
broker, other site    subscribes; gets events of this site    gives us that site's events
broker, this site     forwards events that we own             takes events that it owns
service               publishes on its kinds of topics        -
decision service      asks for counts, says what is served    -
====================  ======================================  ===================================
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any

from infra.kernel.announcer import Announcer
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.frames import (
    Announced,
    AnyFrame,
    Applied,
    Deliver,
    Heartbeat,
    Hello,
    Leaving,
    Publish,
    Published,
    Subscribe,
    Unsubscribe,
    View,
)
from infra.kernel.ring import Ring
from infra.kernel.roles import DECISION
from infra.kernel.topics import Topic
from infra.runtime.context import Context
from infra.runtime.decision_link import DecisionLink
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer

from .client import ROLE, SiteClient
from .core import BrokerCore
from .handover import Handover
from .mesh import Mesh
from .offloading import Offloading
from .options import SLOT_BITS, BrokerOptions
from .publisher import SERVICE_KINDS, Publisher
from .router import Done, Router
from .subscribers import Subscriber, Subscribers


class Broker:
    """One broker. `start` opens its doors, `drain` leaves the ring, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: BrokerOptions,
        context: Context,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.slot
        born_ms = int(context.wall() * 1000)
        self.core = BrokerCore(self.site, born_ms << SLOT_BITS | sorted(options.sites[self.site]).index(self.node), self._owner_at)
        self._capture = context.capture
        if context.capture is not None:
            self.core.record = context.capture.event
        self.link_drops = 0
        self._log = context.log
        self.links = Node((ROLE, self.node, self.site), context, self, timing=options.link)
        self.mesh = Mesh(options, self.links, born_ms, self._view_changed)
        self.handover = Handover(self.node, options.handover_s, options.max_handover_bytes)
        self._far = {
            site: SiteClient(self.links, site, brokers, self.core.wanted_here)
            for site, brokers in options.sites.items()
            if site != self.site
        }
        self._router = Router(self.node, self.core.publish, self.mesh.client.forwarder, self.handover)
        self._subscribers = Subscribers(self.site, self.core, self._far, self.handover)
        self._publishers: dict[Link, Publisher] = {}
        self.offloading = Offloading(self.core, context.log)
        self._decision = DecisionLink(self.offloading)
        self._left = asyncio.Event()

    async def start(self) -> None:
        """Listen for links and dial the other brokers. Raises CannotListen if the address is taken."""
        await self.links.listen(self.options.listen)
        for client in (self.mesh.client, *self._far.values()):
            client.start()
        self.tick(self.links.now_s)

    async def drain(self) -> None:
        """Leave the ring: take nothing new, wait until the others have taken over and no aggregator gets anything from here
        any more (at most `drain_s`)."""
        self.mesh.leave()
        self._check_left()
        try:
            async with asyncio.timeout(self.options.drain_s):
                await self._left.wait()
        except TimeoutError:
            self._log.warning("left without a successor", after_s=self.options.drain_s)

    def _check_left(self) -> None:
        if not self.mesh.has_successor() or (self.node not in self.ring.slots and not any(self.core.wanted_here())):
            self._left.set()

    async def close(self) -> None:
        """Close all links. May be called twice."""
        await end_all(self.links.close, self._capture.close if self._capture is not None else None)

    def ready(self) -> str | None:
        """Why this broker cannot own topics yet; None when it can."""
        return self.mesh.ready()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The view of this site."""
        return self.mesh.view

    def admit(self, hello: Hello) -> None:
        """Admits aggregators and services of this site, brokers of any site that the configuration names, and one decision service
        of any; those that subscribe only while there is room."""
        if hello.role == ROLE:
            if hello.node not in self.options.sites.get(hello.site, {}):
                raise Refused("wrong-peer", f"no broker {hello.node} of site {hello.site} is configured here")
        elif hello.role == DECISION:
            self._decision.admit(hello)
        elif hello.site != self.site:
            raise Refused("wrong-peer", f"{hello.role} of site {hello.site} belongs to the brokers of its own site, this is {self.site}")
        elif hello.role != "aggregator" and hello.role not in SERVICE_KINDS:
            raise wrong_peer(hello, f"broker {self.node} of {self.site}", f"aggregators, {', '.join(sorted(SERVICE_KINDS))}")
        if self._subscribes(hello):
            self.core.interest.check_room()

    def _subscribes(self, peer: Hello) -> bool:
        """Whether `peer`, which has called, is one that wants events."""
        return peer.role == "aggregator" or (peer.role == ROLE and peer.site != self.site)

    def link_up(self, link: Link) -> LinkHandler:
        """A peer is there: give it its place."""
        link.max_queued_bytes, link.max_bytes = self.options.max_link_queue_bytes, self.options.max_link_bytes
        peer = link.peer
        if peer.role == DECISION:
            return self._decision.link_up(link)
        if self.mesh.concerns(peer):
            self.mesh.link_up(link)
        elif link.dialled is not None:
            self._far[peer.site].link_up(link)
        if link.dialled is None:
            if self._subscribes(peer):
                self._subscribers.link_up(link)
            else:
                self._publishers[link] = Publisher(link, self.submit)
        self._offer(peer.site, peer.view)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone: forget what it wanted; suspect it if it is a broker of this site."""
        self.link_drops += link.drops
        if self.mesh.concerns(link.peer):
            self.mesh.link_down(link)
        elif link.dialled is not None:
            self._far[link.peer.site].link_down(link)
            self._subscribers.tell_all()
        self._subscribers.link_down(link)
        self._publishers.pop(link, None)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """A batch from a peer. Raises `Refused` if the peer may not say that."""
        if self.mesh.concerns(link.peer):
            self.mesh.heard(link)
        client = self._client_of(link)
        if client is not None:
            for deliver in client.frames(link, frames):
                self._relay(deliver)
            if client is not self.mesh.client:
                self._subscribers.tell_all()
        publisher, subscriber = self._publishers.get(link), self._subscribers.links.get(link)
        for frame in frames:
            match frame:
                case Heartbeat(view):
                    self._offer(link.peer.site, view)
                case Leaving() if self.mesh.concerns(link.peer):
                    self.mesh.membership.leave(link.peer.node)
                    self.tick(self.links.now_s)
                case Subscribe() | Unsubscribe() if subscriber is not None:
                    self._subscribers.change(link, frame)
                case Announced(view) if subscriber is not None:
                    self._announced(link, subscriber, view)
                case Publish() if publisher is not None:
                    publisher.take(frame)
                case Deliver() | Applied() | Published() if client is not None:
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense here")
        if subscriber is not None:
            self._subscribers.tell(link)

    def tick(self, now: float) -> None:
        """Heartbeat interval: is it on us to issue a view?"""
        self.mesh.tick()
        self.handover.tick(now)
        self.offloading.tick(now)
        for client in self._far.values():
            client.announcer.tick()
        self._subscribers.release()
        if self.mesh.draining:
            self._check_left()

    def _client_of(self, link: Link) -> SiteClient | None:
        if link.dialled is None:
            return None
        return self.mesh.client if link.peer.site == self.site else self._far[link.peer.site]

    # Views.

    def _offer(self, site: str, view: View) -> None:
        if site == self.site:
            self.mesh.offer(view)
        elif site in self._far and self._far[site].set_view(view):
            self._subscribers.tell_all()

    def _view_changed(self) -> None:
        view, before = self.mesh.view, self.ring
        self._router.ring = Ring(view.slots)
        self._log.info("view", number=view.number, slots=list(view.slots))
        for link in self.links.links:
            link.send(Heartbeat(view))
        self.handover.begin(before, self._subscribers.late(view), self.links.now_s)

    def _announced(self, link: Link, subscriber: Subscriber, view: View) -> None:
        subscriber.view = view
        self._offer(self.site, view)  # whoever knows a higher one: a site that lost its memory must not go on below it
        if view == self.mesh.view:
            self.handover.announced(link)

    def _owner_at(self, site: str, topic: Topic) -> str | None:
        return self._far[site].announcer.ring.owner(topic)

    # Events.

    def _relay(self, deliver: Deliver) -> None:
        relay = partial(self.core.relay, deliver.handles, deliver.bodies)
        if not self.handover.hold(deliver.bodies, relay):
            self.handover.give_up()  # what waits goes first; when it is over already, nothing does
            relay()

    def submit(self, events: Sequence[Event], hops: int, done: Done) -> None:
        """See `Router.submit`."""
        self._router.submit(events, hops, done)

    @property
    def ring(self) -> Ring:
        """Who owns what, under the newest view of this site."""
        return self._router.ring

    def announcers(self) -> dict[str, Announcer]:
        """The announcing side towards each other site; for tests and stats."""
        return {site: client.announcer for site, client in self._far.items()}

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`; the door adds its own."""
        core, forwarder = self.core, self.mesh.client.forwarder
        captured: dict[str, Any] = self._capture.counters() if self._capture is not None else {}
        others = captured | self.offloading.counters() | self.links.loops.counters()
        return others | {
            "broker_events_matched_total": core.matched,
            "broker_events_unmatched_total": core.unmatched,
            "broker_deliveries_total": core.fanout.deliveries,
            "broker_events_forwarded_total": forwarder.forwarded,
            "broker_events_duplicate_total": core.duplicates,
            "broker_events_misrouted_total": self._router.misrouted,
            "broker_site_copies_total": core.site_copies,
            "broker_site_events_received_total": core.site_events,
            "broker_site_events_stale_total": core.stale,
            "broker_interest_rows": len(core.interest),
            "broker_links": len(self.links.links),
            "broker_sites_live": sum(client.alive for client in self._far.values()) + 1,
            "broker_view_number": self.mesh.view.number,
            "broker_link_queue_bytes": sum(link.wire.queued_bytes for link in self.links.links),
            "broker_links_slow_total": self.links.slow,
            "broker_forward_bytes": forwarder.waiting_bytes,
            "broker_forward_refused_total": forwarder.refused,
            "broker_handover_bytes": self.handover.held_bytes,
            "broker_handover_overflow_total": self.handover.overflowed,
            "broker_link_drops_total": self.link_drops + sum(link.drops for link in self.links.links),
            "broker_protocol_errors_total": self.links.refused,
        }
