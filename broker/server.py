"""The broker as a process: its links, its HTTP door, and the order in which both learn of a view.

The decisions are in `core`, `handover` and `event_router`; `peers` says who is at the other end of a link, and `door` answers what comes
over HTTP.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from infra.kernel.announcer import Announcer
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.frames import Heartbeat, Hello, View
from infra.kernel.link_rights import SERVICE_KINDS
from infra.kernel.ring import Ring
from infra.kernel.roles import AGGREGATOR, ARTIST, BROKER, DECISION, SOCIAL
from infra.kernel.steps import was_left_out
from infra.kernel.topics import Topic
from infra.runtime.context import Context
from infra.runtime.decision_link import DecisionLink
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node
from infra.runtime.turns import in_turns

from .bereavements import Bereavements
from .client import SiteClient
from .copies import OwnerCopies
from .core import BrokerCore
from .departure import Departure
from .door import BrokerDoor
from .event_router import Done, EventRouter
from .figures import BrokerFigures
from .grants import Verify
from .handover import Handover
from .heir_briefing import HeirBriefing
from .heirs import Heirs
from .inheritance import Inheritance
from .mesh import Mesh
from .moving import MOVES, TopicMoves
from .offloading import Offloading
from .operator_handlers import VerifyOperator
from .options import SLOT_BITS, BrokerOptions
from .orders import ClusterOrders
from .other_sites import OtherSites
from .parting import Parting
from .peer_roles import PeerRoles
from .peers import Aggregators, HearingServices, OtherBrokers, PeerRole, PublishingServices
from .publication_order import PublicationOrder
from .publishing import PublishingLinks
from .recaller import Recaller
from .revocation_keeper import RevocationKeeper
from .ring_keeper import RingKeeper
from .ring_wishes import RingWishes
from .site_events import SiteEvents
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
        self._log, self._capture = context.log, context.capture
        born_ms = int(context.wall() * 1000)
        epoch = born_ms << SLOT_BITS | sorted(options.sites[self.site]).index(self.node)
        record = context.capture.event if context.capture is not None else None
        self.window = EventWindow(epoch, options.window, options.window_bytes) if options.window else None
        self.core = BrokerCore(
            self.site,
            epoch,
            self._owner_at,
            record,
            self.window,
            self._owns,
            self._keeps,
            self._awaits,
            self._stray,
            lambda: self.tenure.came_at,
        )
        self.links = Node((BROKER, self.node, self.site), context, self, timing=options.link)
        self.mesh = Mesh(options, self.links, born_ms, self._view_changed, lambda: len(self.core.interest))
        self.handover = Handover(self.node, options.max_handover_bytes)
        self.tenure = Tenure(self.node, epoch, lambda slot: slot in self.moves.awaited, copied(options.window))
        inheritance = Inheritance(self.node, self.core, self.tenure, lambda topics: self.subscribers.adopt(topics))
        links = self.mesh.client.links
        self.moves = TopicMoves(
            self.node,
            self.core,
            links,
            self.mesh.is_suspected,
            options.handover_s,
            self._moves_over,
            inheritance,
            lambda view: self.subscribers.have_announced(view),
        )
        self.parting = Parting(self.mesh, self.moves, lambda: self.subscribers, in_turns)
        self.site_events = SiteEvents(self.core, self.handover, links, self._owner, lambda: self.parting.is_over)
        self.far = {
            site: SiteClient(
                self.links,
                site,
                brokers,
                self.core.wanted_here,
                self.core,
                era=self.mesh.era,
                gains_of=self.core.gains.of,
                progressed=lambda: self.subscribers.tell_all(),  # they do not exist yet
            )
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
        self.publishing = PublishingLinks(self.submit, self.view)
        self.departure = Departure(self.node, self.mesh, self.moves, self.publishing, self.order, lambda: any(self.core.wanted_here()))
        self.offloading = Offloading(self.core, context.log)
        self._recaller = Recaller(self.site, self.core, self.tenure, is_alone=not self.far)
        outlets = SiteOutlets(options.overload, lambda: self.links.now_s)
        self.subscribers = Subscribers(
            self.core,
            self.mesh,
            OtherSites(self.far),
            self.handover,
            self._recaller,
            outlets,
            Bereavements(self.core, self.copies.claims),
            self.parting.done,
            lambda: self.moves.is_over,
            self.moves.announced,
        )
        self.splits = Splits(self.node, self.core, self.tenure, self.mesh.client.links, self.subscribers.losses.tell, self._split)
        self.keeper = RevocationKeeper(context.revocations, self.links, options.state, f"{self.site}-{self.node}", context.log)
        self.orders = ClusterOrders(self.links, self.far, context.log)
        wishes = RingWishes(options, self.mesh)
        self._peers = PeerRoles(options, self._roles(), self.mesh, self.keeper, self.orders, wishes)
        self.ring_keeper = RingKeeper(options, self.core, self.mesh, wishes, self._waits_for)
        self.door = BrokerDoor(
            options,
            context,
            self.links,
            verify=verify,
            verify_operator=verify_operator,
            keeper=self.keeper,
            orders=self.orders,
            ring_keeper=self.ring_keeper,
            submit=self.submit,
            check_open=self._check_open,
        )
        self.figures = BrokerFigures(
            capture=context.capture,
            copies=self.copies,
            core=self.core,
            door=self.door,
            far=self.far,
            handover=self.handover,
            heirs=self.heirs,
            links=self.links,
            mesh=self.mesh,
            offloading=self.offloading,
            order=self.order,
            outlets=outlets,
            router=self.router,
        )
        self._view = View(0, ())

    def _heirs_of(self, options: BrokerOptions, inheritance: Inheritance) -> Heirs | None:
        kinds = copied(options.window)
        if not kinds:
            return None

        def is_settled() -> bool:
            return self.handover.over and self.tenure.is_over

        links = self.mesh.client.links
        briefing = HeirBriefing(self.node, self.core, kinds, links, inheritance, is_settled, in_turns)
        heirs = Heirs(self.node, self.core, kinds, links, briefing, options.max_forward_bytes)
        self.core.marks = heirs.marks
        return heirs

    def _roles(self) -> dict[str, PeerRole]:
        brokers = OtherBrokers(
            self.options,
            self.core,
            self.mesh,
            self.far,
            self.subscribers,
            publishing=self.publishing,
            relay=self.site_events.relay,
            left=self._sibling_left,
            settled=self._sibling_settled,
            moves=self.moves,
            strayed=self.site_events.take_strayed,
            splits=self.splits,
            copies=self.copies,
            heirs=self.heirs,
        )
        services = PublishingServices(self.mesh, self.publishing)
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
        await self.door.start()

    @property
    def address(self) -> str:
        """Where the HTTP door is open."""
        return self.door.address

    async def drain(self) -> None:
        """Leaves the ring, takes nothing new, and answers what was asked; takes at most `drain_s` for either."""
        await end_all(self.leave, self.door.drain, self.door.answered)

    async def leave(self) -> None:
        """Leaves the ring. Waits, for at most `drain_s`, until the others have taken over and no aggregator gets anything from here."""
        self.mesh.leave()
        self.departure.check()
        try:
            async with asyncio.timeout(self.options.drain_s):
                await self.departure.over()
        except TimeoutError:
            self._log.warning("left without a successor", after_s=self.options.drain_s)

    async def close(self) -> None:
        """Closes the HTTP door, its connections and all links. May be called twice."""
        await end_all(
            self.door.close,
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
        self._peers.admit(hello)

    def link_up(self, link: Link) -> LinkHandler:
        """Returns the handler for a peer of this role."""
        return self._peers.link_up(link)

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
        self.parting.tick()
        self.site_events.order.tick(self.mesh.client.links)
        self.subscribers.settle()
        if self.mesh.draining:
            self.departure.check()

    def _moves_over(self) -> None:
        self.subscribers.serve_bereft()
        self.handover.announced(MOVES)
        self._end_tenures()
        self.subscribers.settle()

    def _end_tenures(self) -> None:
        if self.handover.over:
            self._recaller.owns_now()

    # Views.

    def _sibling_settled(self) -> None:
        self.parting.go_on()
        self.site_events.order.settled(self.mesh.membership.done())

    def _sibling_left(self, slot: str) -> None:
        self.mesh.membership.leave(slot, self.links.now_s)
        self.tick(self.links.now_s)

    def _view_changed(self) -> None:
        view, was, before = self.mesh.view, self._view, self.ring
        self.tenure.begin(was, view)
        self._view = view
        self.departure.follow(was, view)
        self.parting.begin(before, view.ring)
        self.splits.follow(view, has_served=self.mesh.is_let_in and not self.mesh.draining)
        self.router.follow(view.ring, self.links.now_s)
        self._log.info("view", number=view.number, slots=list(view.slots), **({"shares": list(view.shares)} if view.shares else {}))
        # Before anything is answered under the new view: on each link the view comes first.
        for link in self.links.links:
            link.send(Heartbeat(view))
        if self.heirs is not None:
            is_out = was_left_out(self.node, was, view) and not self.mesh.draining
            self.heirs.follow(view, self.ring, is_out=is_out)
        self.subscribers.seal()
        taken = self.copies.follow(view, self.mesh.membership.is_leaving)
        self.handover.begin(before, [*self.subscribers.late(view), MOVES])
        if self.far:
            self.site_events.order.begin(before, view.ring, self.node, self.mesh.client.links)
        self.parting.gone_to(self.moves.begin(before, view, self.links.now_s, taken))

    def _split(self) -> None:
        if self.heirs is not None:
            self.heirs.split()

    def _keeps(self, topics: Sequence[Topic]) -> Sequence[bool] | None:
        return self.mesh.mine(topics) if self.parting.is_over else None

    def _awaits(self, topic: Topic) -> bool:
        return self.tenure.has_heirs and self.window is not None and self.tenure.may_be_awaited(topic, self.window.too_old)

    def _waits_for(self) -> list[str]:
        return [f"broker {self.site}/{slot}" for slot in self.moves.awaited] + self.subscribers.unsettled()

    def _owner_at(self, site: str, topic: Topic) -> str | None:
        return self.far[site].announcer.ring.owner(topic)

    def _owns(self, topic: Topic) -> bool:
        return self._owner(topic) == self.node

    def _owner(self, topic: Topic) -> str | None:
        return self.ring.owner(topic)

    # Events.

    def _stray(self, body: bytes) -> None:
        self.site_events.stray(body)

    def submit(self, events: Sequence[Event], hops: int, done: Done, is_sender_behind: bool = False) -> None:
        """Brings `events` to their owners; see `EventRouter.submit` for the arguments.

        None reach them while the view may mean an earlier process. The door refuses them by then, but services have links, too.
        """
        if self.mesh.may_mean_another():
            done(list(range(len(events))))
            return
        self.router.submit(events, hops, done, is_sender_behind)

    @property
    def ring(self) -> Ring:
        """Who owns what, under the newest view of this site."""
        return self.router.ring

    def announcers(self) -> dict[str, Announcer]:
        """Returns the announcing side towards each other site; for tests and stats."""
        return {site: client.announcer for site, client in self.far.items()}

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        return self.figures.counters()
