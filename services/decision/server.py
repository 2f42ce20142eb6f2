"""The decision service as a process: it asks brokers and access points, has the answer computed, and tells them all.

====================  ======================================  ===================================
peer                  it tells                                it is told
====================  ======================================  ===================================
broker, any site      events of its topics                    `Survey`, `Assignment`
access point, any     who follows what there                  the same
====================  ======================================  ===================================
"""

import asyncio
from typing import Any

from infra.kernel.errors import Refused
from infra.kernel.frames import Hello, View
from infra.kernel.roles import ACCESSPOINT, BROKER, DECISION
from infra.runtime.context import Context
from infra.runtime.ending import end_all
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer

from .core import DecisionCore
from .decision import OffloadingDecision
from .options import DecisionOptions
from .peers import CountingBroker, DecisionPeer, ReportingPoint
from .rounds import Rounds
from .surveyor import Surveyor


class DecisionService:
    """One decision service. `start` listens and decides once a period from then on, `close` ends it."""

    role = DECISION

    def __init__(self, options: DecisionOptions, context: Context) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.listen
        self.core = DecisionCore(options, int(context.wall() * 1000))
        self.links = Node((DECISION, self.node, self.site), context, self, timing=options.link)
        self._surveyor = Surveyor(context.log)
        self._peers: list[DecisionPeer] = []
        self.rounds = Rounds(self.core, options.plan, self._peers, self._surveyor, context.log)

    async def start(self) -> None:
        """Listens for access points, dials all brokers, and has the solver compiled meanwhile.

        Raises CannotListen if the address is taken.
        """
        self.address = await self.links.listen(self.options.listen)
        for site, slots in self.options.sites.items():
            for address in slots.values():
                self.links.dial(address, BROKER, site)
        self.rounds.start(self.links.loops)

    async def close(self) -> None:
        """Stops deciding and closes all links. What was decided stands. May be called twice."""
        await end_all(self.rounds.close, self.links.close)

    def ready(self) -> str | None:
        """Returns why nothing sensible can be decided now; None when it can.

        Counts, which brokers tell, and followers, which access points tell, are half of what there is to know each.
        """
        roles = {peer.link.peer.role for peer in self._peers}
        if BROKER not in roles:
            return "no link to any broker yet"
        return None if ACCESSPOINT in roles else "no link to any access point yet"

    def decide(self) -> "asyncio.Task[OffloadingDecision]":
        """Begins a round now; see `Rounds.decide`."""
        return self.rounds.decide()

    # Links (see `LinkRole`).

    def view(self) -> View:
        """Returns no view: the decision service has none of its own."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` for all but the access points of the sites whose brokers are known here."""
        if hello.role != ACCESSPOINT:
            raise wrong_peer(hello, "the decision service", "access points")
        if hello.site not in self.options.sites:
            raise Refused("wrong-peer", f"no brokers of site {hello.site} are configured here (decision.sites)")

    def link_up(self, link: Link) -> LinkHandler:
        """Tells a broker that answered, or an access point that called, what holds; returns the handler of its link."""
        # Brokers are those that we dial; `admit` lets in nobody but access points.
        peer = self._reporting(link) if link.dialled is None else self._counting(link)
        self._peers.append(peer)
        if self.rounds.made is not None:
            peer.tell(self.rounds.made.whole())
        return peer

    def _counting(self, link: Link) -> CountingBroker:
        return CountingBroker(link, self._peers, self.core, self._surveyor)

    def _reporting(self, link: Link) -> ReportingPoint:
        point = ReportingPoint(link, self._peers, self.core, self._surveyor, lambda: self.links.now_s)
        point.begin()
        return point

    def tick(self, now: float) -> None:
        """Forgets access points that are gone for long."""
        self.core.tick(now)

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        core, made, capacity = self.core, self.rounds.made, self.options.plan.capacity
        return self.links.loops.counters() | {
            "decision_links": len(self.links.links),
            "decision_pairs": core.pairs(),
            "decision_pairs_refused_total": core.pairs_refused,
            "decision_counts_refused_total": core.counts_refused,
            "decision_rounds_total": self.rounds.done,
            "decision_failures_total": self.rounds.failed,
            "decision_late_total": self._surveyor.late,
            "decision_moves_total": core.moves,
            "decision_epoch": core.epoch,
            "decision_topics_planned": made.topics if made else 0,
            "decision_topics_offloaded": len(core.out),
            "decision_capacity_deliveries": -1 if capacity is None else capacity,
            "decision_expected_deliveries": made.cost if made else 0,
            "decision_reduced_deliveries": made.reduced if made else 0,
            "decision_expected_satisfaction": made.value if made else 0.0,
            "decision_bound_satisfaction": made.bound if made else 0.0,
            "decision_run_seconds": made.run_ms / 1000 if made else 0.0,
        }
