"""The broker as a process: its links, its HTTP door, and the order in which both learn of a view.

The decisions are in `core`, `handover` and `event_router`; `peers` says who is at the other end of a link, and `handlers` answers
what comes over HTTP.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from infra.kernel.announcer import PARTING_BEATS, Announcer
from infra.kernel.errors import Refused
from infra.kernel.events import Event, topic_in
from infra.kernel.frames import AnyFrame, Call, Deliver, Heartbeat, Hello, Reply, Revoked, Settled, Strayed, View
from infra.kernel.link_rights import SERVICE_KINDS
from infra.kernel.ring import Ring
from infra.kernel.roles import AGGREGATOR, ARTIST, BROKER, DECISION, SOCIAL
from infra.kernel.topics import Topic
from infra.runtime.address import Address
from infra.runtime.context import Context
from infra.runtime.decision_link import DecisionLink
from infra.runtime.door_opener import OpenDoor
from infra.runtime.ending import end_all
from infra.runtime.http.door import HttpDoor, HttpLimits
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node
from infra.runtime.tapped_link import TappedLink
from infra.runtime.tokens import Service
from infra.runtime.turns import in_turns
from infra.runtime.wrong_peer import wrong_peer

from .bereavements import Bereavements
from .client import SiteClient
from .copies import OwnerCopies
from .core import BrokerCore
from .event_router import Done, EventRouter
from .grants import PublishingGrants, Verify
from .handlers import PATH, EventHandlers
from .handover import Handover
from .heirs import Heirs
from .inheritance import Inheritance
from .mesh import Mesh
from .moving import MOVES, TopicMoves
from .offloading import Offloading
from .operator_handlers import OperatorHandlers, VerifyOperator
from .options import SLOT_BITS, BrokerOptions
from .orders import ClusterOrders
from .peers import Aggregators, HearingServices, OtherBrokers, PeerRole, PublishingServices
from .publication_order import PublicationOrder
from .recaller import Recaller
from .revocation_keeper import RevocationKeeper
from .ring_keeper import RingKeeper
from .site_outlets import SiteOutlets
from .splits import Splits
from .subscribers import Subscribers
from .tenure import Tenure
from .window import EventWindow
from .window_bounds import copied


class Broker:
    """One broker. `start` opens its doors, `drain` leaves the ring, `close` ends it.

    `verify(token, wall_s)` returns the service that may publish over HTTP, `verify_operator` the operator; both raise `Refused` for
    everybody else.
    """

    role = BROKER

    def __init__(self, options: BrokerOptions, context: Context, verify: Verify, verify_operator: VerifyOperator | None = None) -> None:
        self.options, self.site, self.node = options, options.site, options.slot
        self.address = options.door
        self._log, self._capture, self._doors = context.log, context.capture, context.doors
        born_ms = int(context.wall() * 1000)
        epoch = born_ms << SLOT_BITS | sorted(options.sites[self.site]).index(self.node)
        record = context.capture.event if context.capture is not None else None
        self.window = EventWindow(epoch, options.window, options.window_bytes) if options.window else None
        self.core = BrokerCore(self.site, epoch, self._owner_at, record, self.window, self._owns, self._keeps, self._astray)
        self.links = Node((BROKER, self.node, self.site), context, self, timing=options.link)
        self.mesh = Mesh(options, self.links, born_ms, self._view_changed)
        self.handover = Handover(self.node, options.max_handover_bytes)
        self.tenure = Tenure(self.node, epoch, lambda slot: slot in self.moves.awaited, copied(options.window))
        inheritance = Inheritance(self.node, self.core, self.tenure, lambda topics: self.subscribers.adopt(topics))
        links = self.mesh.client.links
        self.moves = TopicMoves(self.node, self.core, links, self.mesh.is_suspected, options.handover_s, self._moves_over, inheritance)
        # To whom topics have gone that are still served, and recorded, here; and for how many heartbeats that has been so.
        self._gone_to: set[str] = set()
        self._parting_beats = 0
        self._is_parting = False
        self.far = {
            site: SiteClient(self.links, site, brokers, self.core.wanted_here, era=self.mesh.era, gains_of=self.core.gains.of)
            for site, brokers in options.sites.items()
            if site != self.site
        }
        for client in self.far.values():
            client.copied = copied(options.window)
        # What goes to heirs before others get it, and what this broker has as an heir. All copies together take as much as the window.
        self.heirs = self._heirs_of(options, inheritance)
        share = options.window_bytes // max(1, len(options.sites[self.site]) - 1)
        self.copies = OwnerCopies(self.node, options.window, share, is_alone=not self.far)
        self.order = PublicationOrder(options.handover_s, options.max_handover_bytes)
        self.router = EventRouter(self.node, self.core.publish, self.mesh.client.forwarder, self.handover, self.order, self.heirs)
        self.offloading = Offloading(self.core, context.log)
        self._recaller = Recaller(self.site, self.core, self.tenure, is_alone=not self.far)
        outlets = SiteOutlets(options.overload, lambda: self.links.now_s)
        self.subscribers = Subscribers(
            self.core,
            self.mesh,
            self.far,
            self.handover,
            self._recaller,
            outlets,
            Bereavements(self.core, self.copies.claims),
            self._has_parted,
            lambda: self.moves.is_over,
        )
        self.splits = Splits(self.node, self.core, self.tenure, self.mesh.client.links, self.subscribers.tell_lost, self._split)
        self.keeper = RevocationKeeper(context.revocations, self.links, options.state, f"{self.site}-{self.node}", context.log)
        self._peers = self._peer_roles()
        self.handlers = EventHandlers(
            options,
            PublishingGrants(verify, context.wall, context.now),
            context.wall,
            now=context.now,
            prefix=f"{self.links.incarnation:x}",
            submit=self.submit,
            check_open=self._check_open,
        )
        context.revocations.on_news(self.handlers.heard)
        limits = HttpLimits(max_connections=options.max_connections, visitors=options.visitors)
        self.orders = ClusterOrders(self.links, self.far, context.log)
        self.ring_keeper = RingKeeper(options, self.core, self.mesh, self.links, self._waits_for)
        self.operators = OperatorHandlers(
            options,
            self.keeper,
            self.orders,
            self.ring_keeper,
            context.audit,
            verify=verify_operator or _nobody,
            name=verify,
            wall=context.wall,
            now=context.now,
            new_id=lambda: f"{context.rng.getrandbits(96):024x}",
        )
        routes = {("POST", PATH): self.handlers.exchange, **self.operators.routes()}
        self._http = HttpDoor(routes, limits=limits, loops=self.links.loops, allowed_origins=options.allowed_origins)
        self._view = View(0, ())
        self._server: OpenDoor | None = None
        self._left = asyncio.Event()

    def _heirs_of(self, options: BrokerOptions, inheritance: Inheritance) -> Heirs | None:
        kinds = copied(options.window)
        if not kinds:
            return None

        def is_settled() -> bool:
            return self.handover.over and self.tenure.is_over

        heirs = Heirs(self.node, self.core, kinds, self.mesh.client.links, inheritance, is_settled, in_turns, options.max_forward_bytes)
        self.core.marks = heirs.marks
        return heirs

    def _peer_roles(self) -> dict[str, PeerRole]:
        brokers = OtherBrokers(
            self.options,
            self.core,
            self.mesh,
            self.far,
            self.subscribers,
            submit=self.submit,
            relay=self._relay,
            left=self._sibling_left,
            settled=self._end_parting,
            moves=self.moves,
            strayed=self._take_strayed,
            splits=self.splits,
            copies=self.copies,
            heirs=self.heirs,
        )
        services = PublishingServices(self.mesh, self.submit)
        return {
            AGGREGATOR: Aggregators(self.core, self.mesh, self.subscribers),
            BROKER: brokers,
            DECISION: DecisionLink(self.offloading),
            **dict.fromkeys((SOCIAL, ARTIST), HearingServices(self.mesh)),
            **dict.fromkeys(SERVICE_KINDS, services),
        }

    async def start(self) -> None:
        """Reads what was revoked, listens for links, dials the other brokers, then opens the HTTP door.

        Raises CannotListen if an address is taken, ConfigError and Unavailable when what was revoked cannot be read.
        """
        await self.keeper.start()  # first: nobody is let in whom we have revoked
        await self.links.listen(self.options.listen)
        for client in (self.mesh.client, *self.far.values()):
            client.start()
        self.tick(self.links.now_s)
        self._server = await self._doors.open("broker.door", self.options.door, self._http.entrance)
        self.address = str(Address(*self._server.sockets[0].getsockname()[:2]))

    async def drain(self) -> None:
        """Leaves the ring, takes nothing new, and answers what was asked; takes at most `drain_s` for either."""
        await end_all(self.leave, self._http.drain, self._answered)

    async def leave(self) -> None:
        """Leaves the ring. Waits, for at most `drain_s`, until the others have taken over and no aggregator gets anything from here."""
        self.mesh.leave()
        self._check_left()
        try:
            async with asyncio.timeout(self.options.drain_s):
                await self._left.wait()
        except TimeoutError:
            self._log.warning("left without a successor", after_s=self.options.drain_s)

    def _check_left(self) -> None:
        is_done = self.node not in self.ring.slots and self.moves.is_over and not any(self.core.wanted_here())
        if is_done or not self.mesh.has_successor():
            self._left.set()

    async def _answered(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._http.drained(), self.options.drain_s)

    async def close(self) -> None:
        """Closes the HTTP door, its connections and all links. May be called twice."""
        await end_all(
            self._server.close if self._server is not None else None,
            self._http.close,
            self.operators.close,
            self.ring_keeper.close,
            self.links.close,
            self.orders.close,
            self.keeper.close,
            self._capture.close if self._capture is not None else None,
        )

    def ready(self) -> str | None:
        """Returns why this broker cannot own topics yet; None when it can."""
        return self.mesh.ready()

    def _check_open(self) -> None:
        """Raises `Refused` while this broker cannot bring an event to its owner."""
        if self.mesh.draining:
            raise Refused("draining")
        if (why := self.ready()) is not None:
            raise Refused("unavailable", why)

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns the view of this site."""
        return self.mesh.view

    def admit(self, hello: Hello) -> None:
        """Admits aggregators and services of this site, brokers of any site that the configuration names, and one decision service
        of any; those that subscribe only while there is room, and while they know which share of the ring everybody has."""
        peers = self._peers.get(hello.role)
        if peers is None:
            raise wrong_peer(hello, f"broker {self.node} of {self.site}", f"aggregators, {', '.join(sorted(SERVICE_KINDS))}")
        peers.admit(hello)
        if hello.role in (AGGREGATOR, BROKER) and not hello.knows(Settled) and self.mesh.view.shares:
            raise Refused(
                "unavailable", "brokers have shares of the ring now, which your version does not know; the ring will be whole again"
            )

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler for a peer of this role."""
        link.max_queued_bytes, link.max_bytes = self.options.max_link_queue_bytes, self.options.max_link_bytes
        handler = self._peers[link.peer.role].link_up(link)
        self.keeper.tell_all(link)
        if link.peer.role == BROKER:
            return TappedLink(link, handler, (Revoked, Call, Reply), self._oversee, self.orders.link_down)
        if link.peer.role == AGGREGATOR:
            return TappedLink(link, handler, (Reply,), self._oversee, self.orders.link_down)
        return handler

    def _oversee(self, link: Link, frame: AnyFrame) -> None:
        if isinstance(frame, Revoked):
            self.keeper.book.learn(frame)
        else:
            self.orders.take(link, frame)

    def tick(self, now: float) -> None:
        """Does what is due once in a heartbeat interval: a view, the end of a handover or an overlap, rows that are free again."""
        self.mesh.tick()
        self.moves.tick(now)
        self.order.tick(now, self.mesh.is_suspected)
        self._end_tenures()
        self.offloading.tick(now)
        for client in self.far.values():
            client.tick()
        self.subscribers.tick(now)
        self.copies.tick(now)
        if self.heirs is not None:
            self.heirs.tick()
        self._parting_beats += 1
        self._end_parting()
        self.subscribers.settle()
        if self.mesh.draining:
            self._check_left()

    def _moves_over(self) -> None:
        self.subscribers.serve_bereft()
        self.handover.announced(MOVES)
        self._end_tenures()
        self.subscribers.settle()

    def _end_tenures(self) -> None:
        if self.handover.over:
            self._recaller.owns_now()

    # Views.

    def _sibling_left(self, slot: str) -> None:
        self.mesh.membership.leave(slot, self.links.now_s)
        self.tick(self.links.now_s)

    def _view_changed(self) -> None:
        view, was, before = self.mesh.view, self._view, self.ring
        self.tenure.begin(was, view)
        self._view = view
        self._parting_beats = 0
        self.splits.follow(view, is_leaving=self.mesh.draining or was == self.mesh.former_view)
        self.router.follow(view.ring, self.links.now_s)
        self._log.info("view", number=view.number, slots=list(view.slots), **({"shares": list(view.shares)} if view.shares else {}))
        # Before anything is answered under the new view: on each link the view comes first.
        for link in self.links.links:
            link.send(Heartbeat(view))
        if self.heirs is not None:
            is_out = self.node in was.slots and self.node not in view.slots and not self.mesh.draining
            self.heirs.follow(view, self.ring, is_out=is_out)
        self.subscribers.seal()
        taken = self.copies.follow(view, self.mesh.membership.is_leaving)
        self.handover.begin(before, [*self.subscribers.late(view), MOVES])
        self._gone_to.update(self.moves.begin(before, view, self.links.now_s, taken))

    def _split(self) -> None:
        if self.heirs is not None:
            self.heirs.split()

    def _keeps(self, topic: Topic) -> bool:
        return bool(self._gone_to) or self._owns(topic)

    def _has_parted(self) -> bool:
        self._end_parting()
        return not self._gone_to

    def _end_parting(self) -> None:
        """Records no more what is others' by now, when they have all of it, and nothing comes here any more that followers of it lack."""
        if self._gone_to and not self._is_parting and self.moves.is_over and (self._parting_beats > PARTING_BEATS or self._may_part()):
            self._is_parting = True
            in_turns(self._part())

    def _may_part(self) -> bool:
        return self.mesh.have_taken(self._gone_to) and self.subscribers.have_settled()

    def _part(self) -> Iterator[float]:
        view = self._view
        yield from self.subscribers.hand_over()
        self._is_parting = False
        if self._view == view:  # else more goes to others
            self._gone_to.clear()
            self.subscribers.settle()

    def _waits_for(self) -> list[str]:
        return [f"broker {self.site}/{slot}" for slot in self.moves.awaited] + self.subscribers.unsettled()

    def _owner_at(self, site: str, topic: Topic) -> str | None:
        return self.far[site].announcer.ring.owner(topic)

    def _owns(self, topic: Topic) -> bool:
        return self.ring.owner(topic) == self.node

    # Events.

    def _relay(self, deliver: Deliver) -> None:
        if self.handover.over and not self._gone_to:
            self.core.relay(deliver.handles, deliver.bodies)
            return
        waits: list[tuple[int, bytes]] = []
        goes: list[tuple[int, bytes]] = []
        strays: dict[Link, list[bytes]] = {}
        for handle, body in zip(deliver.handles, deliver.bodies, strict=True):
            topic = topic_in(body)
            if topic is not None and (link := self._new_owner(topic)) is not None:
                strays.setdefault(link, []).append(body)
            else:
                (waits if topic is not None and self.handover.holds(topic) else goes).append((handle, body))
        for link, bodies in strays.items():
            link.send(Strayed(bodies))
        self.core.relay(*_columns(goes))
        relay = partial(self.core.relay, *_columns(waits))
        if waits and not self.handover.hold([body for _, body in waits], relay):
            self.handover.give_up()  # what waits goes first
            relay()

    def _new_owner(self, topic: Topic) -> Link | None:
        """Returns the link to the broker that `topic` has gone to, if it takes events of other sites from us."""
        link = self.mesh.client.links.get(self.ring.owner(topic) or "")
        return link if link is not None and link.knows(Strayed) else None

    def _astray(self, body: bytes) -> None:
        if (topic := topic_in(body)) is not None and (link := self._new_owner(topic)) is not None:
            link.send(Strayed([body]))

    def _take_strayed(self, bodies: Sequence[bytes]) -> None:
        """Gives followers events of other sites that have come to another broker of this one, where the topics were before."""
        waits: list[bytes] = []
        goes: list[bytes] = []
        for body in bodies:
            topic = topic_in(body)
            if topic is not None and (link := self._new_owner(topic)) is not None:
                link.send(Strayed([body]))
            else:
                (waits if topic is not None and self.handover.holds(topic) else goes).append(body)
        self._relay_strayed(goes)
        relay = partial(self._relay_strayed, waits)
        if waits and not self.handover.hold(waits, relay):
            self.handover.give_up()  # what waits goes first
            relay()

    def _relay_strayed(self, bodies: Sequence[bytes]) -> None:
        rows = self.core.interest.rows
        known = [(rows[topic], body) for body in bodies if (topic := topic_in(body)) is not None and topic in rows]
        self.core.stale += len(bodies) - len(known)
        self.core.relay(*_columns(known))

    def submit(self, events: Sequence[Event], hops: int, done: Done) -> None:
        """Brings `events` to their owners; see `EventRouter.submit` for `hops` and `done`."""
        self.router.submit(events, hops, done)

    @property
    def ring(self) -> Ring:
        """Who owns what, under the newest view of this site."""
        return self.router.ring

    def announcers(self) -> dict[str, Announcer]:
        """Returns the announcing side towards each other site; for tests and stats."""
        return {site: client.announcer for site, client in self.far.items()}

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        core, forwarder, window = self.core, self.mesh.client.forwarder, self.window
        captured: dict[str, Any] = self._capture.counters() if self._capture is not None else {}
        others = captured | self.handlers.counters() | self.operators.counters() | self.offloading.counters() | self.links.loops.counters()
        others |= self.subscribers.outlets.counters()
        return others | {
            "broker_http_turned_away_total": dict(self._http.turned_away),
            "broker_http_refused_total": dict(self._http.refusals),
            "broker_events_matched_total": core.matched,
            "broker_events_unmatched_total": core.unmatched,
            "broker_deliveries_total": core.fanout.deliveries,
            "broker_events_forwarded_total": forwarder.forwarded,
            "broker_events_duplicate_total": core.duplicates,
            "broker_events_misrouted_total": self.router.misrouted,
            "broker_site_copies_total": core.site_copies,
            "broker_site_events_received_total": core.site_events,
            "broker_site_events_stale_total": core.stale,
            "broker_interest_rows": len(core.interest),
            "broker_topics_lingering": len(core.recorded.lingering),
            "broker_links_behind": len(core.laggards) if core.laggards is not None else 0,
            "broker_window_served_total": core.laggards.served if core.laggards is not None else 0,
            "broker_window_passed_total": core.laggards.lost if core.laggards is not None else 0,
            "broker_window_events": len(window) if window is not None else 0,
            "broker_window_bytes": window.used_bytes if window is not None else 0,
            "broker_window_copies_bytes": self.copies.used_bytes,
            "broker_window_uncopied": self.heirs.uncopied if self.heirs is not None else 0,
            "broker_links": len(self.links.links),
            "broker_sites_live": sum(client.alive for client in self.far.values()) + 1,
            "broker_view_number": self.mesh.view.number,
            "broker_link_queue_bytes": self.links.queued_bytes,
            "broker_links_slow_total": self.links.slow,
            "broker_forward_bytes": forwarder.waiting_bytes + (self.heirs.waiting_bytes if self.heirs is not None else 0),
            "broker_forward_refused_total": forwarder.refused + (self.heirs.refused if self.heirs is not None else 0),
            "broker_handover_bytes": self.handover.held_bytes + self.order.waiting_bytes,
            "broker_handover_overflow_total": self.handover.overflowed + self.order.overflowed,
            "broker_link_drops_total": self.links.drops,
            "broker_protocol_errors_total": self.links.refused,
        }


def _columns(pairs: Sequence[tuple[int, bytes]]) -> tuple[list[int], list[bytes]]:
    return [handle for handle, _ in pairs], [body for _, body in pairs]


def _nobody(token: str, wall_s: float) -> Service:
    raise Refused("forbidden", "there are no operators here")
