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
import random
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any as Anything
from typing import Final

from infra.kernel.announcer import Announcer
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.frames import (
    Announced,
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
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.limbo import Limbo
from infra.kernel.membership import Membership
from infra.kernel.receipts import Receipts
from infra.kernel.ring import Ring
from infra.kernel.topics import Kind, Topic, kind_of
from infra.runtime.capture import Capture
from infra.runtime.link import Link
from infra.runtime.node import Node
from infra.runtime.wire import Network

from .client import ROLE, SiteClient
from .core import BrokerCore
from .forwarder import Prefix
from .handover import Handover
from .offloading import DECIDER, Offloading
from .options import BrokerOptions
from .router import Done, Router

# Engine inputs are exactly three (SB-45). A service with a link or a token may publish on these kinds and no others.
SERVICE_KINDS: Final[dict[str, frozenset[Kind]]] = {
    "presence": frozenset({Kind.USER}),
    "playlist": frozenset({Kind.PLAYLIST}),
    "notification": frozenset({Kind.PLAYLIST, Kind.ARTIST, Kind.SOCIAL, Kind.INBOX}),
}


class _Subscriber:
    """What a subscribing link has and was told, and the view of this site under which it has announced everything."""

    __slots__ = ("bit", "receipts", "view")

    def __init__(self, bit: int) -> None:
        self.bit = bit
        self.receipts = Receipts()
        self.view = View(0, ())


class Broker:
    """One broker. `start` opens its doors, `drain` leaves the ring, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: BrokerOptions,
        network: Network,
        *,
        log: Anything,
        rng: random.Random,
        wall: Callable[[], float] = time.time,
        capture: Capture | None = None,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.slot
        slots = sorted(options.sites[self.site])
        born_ms = int(wall() * 1000)
        self.core = BrokerCore(self.site, born_ms << 8 | slots.index(self.node), self._owner_at)
        self._capture = capture
        if capture is not None:
            self.core.record = capture.event
        self.draining = self._met = False
        self.link_drops = 0
        self._log = log
        self.links = Node((ROLE, self.node, self.site), network, self, timing=options.link, rng=rng, log=log, wall=wall)
        self.membership = Membership(self.node, slots, self.links.now_s, options.membership, born_ms)
        self.handover = Handover(self.node, options.handover_s)
        others = {slot: address for slot, address in options.sites[self.site].items() if slot != self.node}
        self._mesh = SiteClient(self.links, self.site, others)
        self._far = {
            site: SiteClient(self.links, site, brokers, self.core.wanted_here)
            for site, brokers in options.sites.items()
            if site != self.site
        }
        self._router = Router(self.node, self.core.publish, self._mesh.forwarder, self.handover)
        self._limbo = Limbo([client.announcer for client in self._far.values()])
        self.offloading = Offloading(self.core, log)
        self._left = asyncio.Event()
        self._subscribers: dict[Link, _Subscriber] = {}
        self._publishers: dict[Link, Prefix] = {}

    async def start(self) -> None:
        """Listen for links and dial the other brokers. Raises OSError if the address is taken."""
        await self.links.listen(self.options.listen)
        for client in (self._mesh, *self._far.values()):
            client.start()
        self.tick(self.links.now_s)

    async def drain(self) -> None:
        """Leave the ring: take nothing new, wait until the others have taken over and no aggregator gets anything from here
        any more (at most `drain_s`)."""
        self.draining = True
        self.membership.leave(self.node)
        for link in self._mesh.links.values():
            link.send(Leaving())
        self._check_left()
        try:
            async with asyncio.timeout(self.options.drain_s):
                await self._left.wait()
        except TimeoutError:
            self._log.warning("left without a successor", after_s=self.options.drain_s)

    def _check_left(self) -> None:
        successors = self.membership.alive(self.links.now_s)
        if not successors or (self.node not in self.ring.slots and not any(self.core.wanted_here())):
            self._left.set()

    async def close(self) -> None:
        """Close all links. May be called twice."""
        await self.links.close()
        if self._capture is not None:
            await self._capture.close()

    def ready(self) -> str | None:
        """Why this broker cannot own topics yet; None when it can."""
        if self.draining:
            return "draining"
        if self.node not in self.membership.view.slots:
            return "not in the site's view yet"
        if not self._met:
            return "not linked yet to every broker of the site's view"
        return None

    def _meet(self) -> None:
        """Ready from the first time that all brokers of the view are linked; later, one that is lost is waited out by the
        others without refusing everybody else's events."""
        slots = self.membership.view.slots
        self._met = self._met or (self.node in slots and {*slots} <= {self.node, *self._mesh.links})

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The view of this site."""
        return self.membership.view

    def admit(self, hello: Hello) -> None:
        """Aggregators and services of this site, brokers of any site that the configuration names, one decision service of any."""
        if hello.role == ROLE:
            if hello.node not in self.options.sites.get(hello.site, {}):
                raise Refused("wrong-peer", f"no broker {hello.node} of site {hello.site} is configured here")
        elif hello.role == DECIDER:
            self.offloading.admit(hello)
        elif hello.site != self.site:
            raise Refused("wrong-peer", f"{hello.role} of site {hello.site} belongs to the brokers of its own site, this is {self.site}")
        elif hello.role != "aggregator" and hello.role not in SERVICE_KINDS:
            raise Refused("wrong-peer", f"a {hello.role} has no business with a broker")

    def link_up(self, link: Link) -> None:
        """A peer is there: give it its place."""
        link.max_queued_bytes = self.options.max_link_queue_bytes
        peer = link.peer
        if client := self._client_of(link):
            client.link_up(link)
            if self.draining and client is self._mesh:
                link.send(Leaving())
        elif peer.role == DECIDER:
            self.offloading.link_up(link)
            return
        elif peer.role == "aggregator" or peer.site != self.site:
            self._subscribers[link] = _Subscriber(self.core.open(link, peer.site != self.site, (peer.site, peer.node)))
        else:
            self._publishers[link] = Prefix()
        if peer.role == ROLE and peer.site == self.site:
            self.membership.rejoin(peer.node)
            self._heard(peer.node)
        self._offer(peer.site, peer.view)
        self._meet()

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone: forget what it wanted; suspect it if it is a broker of this site."""
        self.link_drops += link.drops
        if client := self._client_of(link):
            client.link_down(link)
            self._tell_subscribers()
        if subscriber := self._subscribers.pop(link, None):
            self._withdraw(*self.core.close(subscriber.bit))
            self.handover.announced(link)
        self._publishers.pop(link, None)
        self.offloading.link_down(link)
        if link.peer.role == ROLE and link.peer.site == self.site:
            self.membership.link_lost(link.peer.node)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """A batch from a peer. Raises `Refused` if the peer may not say that."""
        if link.peer.role == DECIDER:
            self.offloading.frames(frames)
            return
        if link.peer.role == ROLE and link.peer.site == self.site:
            self._heard(link.peer.node)
        client = self._client_of(link)
        if client is not None:
            for deliver in client.frames(link, frames):
                self._relay(deliver)
            if client is not self._mesh:
                self._tell_subscribers()
        subscriber = self._subscribers.get(link)
        for frame in frames:
            match frame:
                case Heartbeat(view):
                    self._offer(link.peer.site, view)
                case Leaving():
                    self.membership.leave(link.peer.node)
                    self.tick(self.links.now_s)
                case Subscribe() | Unsubscribe() if subscriber is not None:
                    self._change(link, subscriber, frame)
                case Announced(view) if subscriber is not None:
                    self._announced(link, subscriber, view)
                case Publish() if link in self._publishers:
                    self._take(link, frame)
                case Deliver() | Applied() | Published() if client is not None:
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense here")
        if subscriber is not None:
            self._tell(link, subscriber)

    def tick(self, now: float) -> None:
        """Heartbeat interval: is it on us to issue a view?"""
        self._meet()
        if self.membership.tick(now):
            self._view_changed()
        self.handover.tick(now)
        self.offloading.tick(now)
        for client in self._far.values():
            client.announcer.tick()
        self._release()
        if self.draining:
            self._check_left()

    def _client_of(self, link: Link) -> SiteClient | None:
        if link.dialled is None:
            return None
        return self._mesh if link.peer.site == self.site else self._far[link.peer.site]

    # Views.

    def _heard(self, slot: str) -> None:
        self.membership.heard(slot, self.links.now_s)

    def _offer(self, site: str, view: View) -> None:
        if site == self.site:
            if self.membership.offer(view):
                self._view_changed()
            if self.membership.tick(self.links.now_s):
                self._view_changed()
        elif site in self._far and self._far[site].set_view(view):
            self._tell_subscribers()

    def _view_changed(self) -> None:
        view, before = self.membership.view, self.ring
        self._router.ring = Ring(view.slots)
        self._meet()
        self._log.info("view", number=view.number, slots=list(view.slots))
        for link in self.links.links:
            link.send(Heartbeat(view))
        late = [link for link, subscriber in self._subscribers.items() if subscriber.view != view]
        self.handover.begin(before, late, self.links.now_s)

    def _announced(self, link: Link, subscriber: _Subscriber, view: View) -> None:
        subscriber.view = view
        self._offer(self.site, view)  # whoever knows a higher one: a site that lost its memory must not go on below it
        if view == self.membership.view:
            self.handover.announced(link)

    def _owner_at(self, site: str, topic: Topic) -> str | None:
        return self._far[site].announcer.ring.owner(topic)

    # Subscriptions.

    def _change(self, link: Link, subscriber: _Subscriber, frame: Subscribe | Unsubscribe) -> None:
        topics: Sequence[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
        if isinstance(frame, Subscribe):
            news = self.core.subscribe(subscriber.bit, topics, frame.handles)
            if news:
                for client in self._far.values():
                    client.want(news)
        else:
            self._withdraw(*self.core.unsubscribe(subscriber.bit, topics))
        marks = {self.site: 0}
        if link.peer.site == self.site:
            marks |= {site: client.announcer.mark() for site, client in self._far.items()}
        subscriber.receipts.record(frame.n, marks)

    def _withdraw(self, silent: list[tuple[int, Topic]], dead: list[tuple[int, Topic]]) -> None:
        if silent:
            for client in self._far.values():
                client.unwant(topic for _, topic in silent)
        if dead:
            self._limbo.add(dead)
            self._release()

    def _release(self) -> None:
        if self.handover.over:  # what it holds names rows
            for row, topic in self._limbo.leave():
                self.core.release(row, topic)

    def _tell_subscribers(self) -> None:
        self._release()
        for link, subscriber in self._subscribers.items():
            self._tell(link, subscriber)

    def _tell(self, link: Link, subscriber: _Subscriber) -> None:
        reached = {self.site: 0}
        if link.peer.site == self.site:
            reached |= {site: client.announcer.reached.get(site, 0) for site, client in self._far.items()}
        if (news := subscriber.receipts.advance(reached)) is not None:
            link.send(news)

    # Events.

    def _relay(self, deliver: Deliver) -> None:
        relay = partial(self.core.relay, deliver.handles, deliver.bodies)
        if not self.handover.hold(len(deliver.handles), relay):
            relay()

    def _take(self, link: Link, frame: Publish) -> None:
        kinds = SERVICE_KINDS.get(link.peer.role)
        topics: Iterable[Topic] = frame.topics  # type: ignore[assignment]
        events = [Event(*parts) for parts in zip(topics, frame.ids, frame.tails, strict=True)]
        if kinds is not None and not kinds.issuperset(map(kind_of, topics)):
            raise Refused("forbidden", f"a {link.peer.role} service may publish {', '.join(sorted(kinds))} topics only")
        self.submit(events, frame.hops, partial(self._taken, link, frame.n))

    def _taken(self, link: Link, n: int, failed: list[int]) -> None:
        # What failed is not tried again here: to acknowledge it late would stall all others, and the publisher knows better.
        prefix = self._publishers.get(link)
        if prefix is not None and (said := prefix.done(n, not failed)) is not None:
            link.send(said)

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

    def counters(self) -> dict[str, Anything]:
        """Figures for `metrics.METRICS`; the door adds its own."""
        core = self.core
        captured: dict[str, Anything] = self._capture.counters() if self._capture is not None else {}
        others = captured | self.offloading.counters()
        return others | {
            "broker_events_matched_total": core.matched,
            "broker_events_unmatched_total": core.unmatched,
            "broker_deliveries_total": core.fanout.deliveries,
            "broker_events_forwarded_total": self._mesh.forwarder.forwarded,
            "broker_events_duplicate_total": core.duplicates,
            "broker_events_misrouted_total": self._router.misrouted,
            "broker_site_copies_total": core.site_copies,
            "broker_site_events_received_total": core.site_events,
            "broker_interest_rows": len(core.interest),
            "broker_links": len(self.links.links),
            "broker_sites_live": sum(client.alive for client in self._far.values()) + 1,
            "broker_view_number": self.membership.view.number,
            "broker_link_queue_bytes": sum(link.wire.queued_bytes for link in self.links.links),
            "broker_link_drops_total": self.link_drops + sum(link.drops for link in self.links.links),
            "broker_protocol_errors_total": self.links.refused,
        }
