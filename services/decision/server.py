"""The decision service as a process: it asks brokers and access points, has the answer computed, and tells them all.

====================  ======================================  ===================================
peer                  it tells                                it is told
====================  ======================================  ===================================
broker, any site      events of its topics                    `Survey`, `Assignment`
access point, any     who follows what there                  the same
====================  ======================================  ===================================
"""

import asyncio
import time
from functools import partial
from typing import Any, Final

from analytics.offloading.solving import OffloadingProblem, solve, warm
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Assignment, Followed, Heartbeat, Hello, Surveyed, Tally, Unfollowed, View
from infra.kernel.topics import Topic
from infra.runtime.context import Context
from infra.runtime.ending import end_all, end_tasks
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wrong_peer import wrong_peer

from .core import DecisionCore
from .decision import OffloadingDecision
from .options import DecisionOptions
from .surveyor import Surveyor

ROLE: Final = "decision"


class DecisionService:
    """One decision service. `start` opens its door and decides once a period from then on, `close` ends it."""

    role = ROLE

    def __init__(
        self,
        options: DecisionOptions,
        context: Context,
    ) -> None:
        self.options, self.site, self.node = options, options.site, options.node
        self.address = options.listen
        self.decision: OffloadingDecision | None = None
        self.rounds = self.failures = 0
        self.core = DecisionCore(options, int(context.wall() * 1000))
        self.links = Node((ROLE, self.node, self.site), context, self, timing=options.link)
        self._log = context.log
        self._brokers = {address: site for site, slots in options.sites.items() for address in slots.values()}
        self._told: dict[Link, int] = {}  # the epoch that each link knows, 0 for none: always the last one otherwise
        self._surveyor = Surveyor(context.log)
        self._warm: asyncio.Task[None] | None = None
        self._round: asyncio.Task[OffloadingDecision] | None = None
        self._schedule: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listens for access points, dials all brokers, has the solver compiled meanwhile. Raises CannotListen if the address is taken."""
        self.address = await self.links.listen(self.options.listen)
        for address, site in self._brokers.items():
            self.links.dial(address, "broker", site)
        plan = self.options.plan
        self._warm = asyncio.create_task(asyncio.to_thread(warm, plan.metric, plan.solver), name=f"{self.node} compiles")
        self._schedule = self.links.loops.every(plan.period_s, self._decide_on_time, "decisions")

    async def close(self) -> None:
        """Stop deciding and close all links. What was decided stands. May be called twice."""
        await end_all(partial(end_tasks, self._schedule, self._round, self._warm), self.links.close)

    def ready(self) -> str | None:
        """Why nothing sensible can be decided now; None when it can. Rates and followers are half of what there is to know each."""
        if not any(link.dialled for link in self._told):
            return "no link to any broker yet"
        return None if any(link.dialled is None for link in self._told) else "no link to any access point yet"

    # Rounds.

    def decide(self) -> "asyncio.Task[OffloadingDecision]":
        """A round now, or the one that is under way. It raises PlanError if there is too much to be added up; the last decision
        stands then."""
        if self._round is None or self._round.done():
            self._round = asyncio.create_task(self._decide(), name=f"a round of {self.node}")
        return self._round

    async def _decide_on_time(self) -> float:
        """A period lasts from the beginning of a round to that of the next; a round that took longer is not made up for."""
        now = asyncio.get_running_loop().time
        due_s = now() + self.options.plan.period_s
        await asyncio.gather(self.decide(), return_exceptions=True)  # what went wrong has been logged
        return max(0.0, due_s - now())

    async def _decide(self) -> OffloadingDecision:
        try:
            plan = self.options.plan
            await self._surveyor.ask(self._told, plan.survey_s)
            assert self._warm is not None
            await asyncio.shield(self._warm)
            start_s = time.perf_counter()
            problem = self.core.problem()
            self._warn_of_half(problem)
            answer = await asyncio.to_thread(solve, problem, plan.metric, plan.threshold, plan.capacity, plan.solver)
            self.decision = self.core.decide(answer, round((time.perf_counter() - start_s) * 1000))
        except Exception:
            self.failures += 1
            self._log.exception("no decision; the last one stands")
            raise
        self.rounds += 1
        self._tell_all(self.decision)
        return self.decision

    def _warn_of_half(self, problem: OffloadingProblem) -> None:
        """Without counts, or without followers, nothing can leave; another service may have the other half."""
        events, pairs = bool(problem.events.any()), any(map(len, problem.pairs))
        if events != pairs:
            missing, who = ("followers", "access point") if events else ("events", "broker")
            advice = f"nothing can leave; is there a second decision service, or does no {who} reach this one?"
            self._log.warning(advice, missing=missing, links=len(self._told))

    def _tell_all(self, decision: OffloadingDecision) -> None:
        whole = decision.whole() if 0 in self._told.values() else []
        change = decision.change()
        for link, epoch in self._told.items():
            self._tell(link, change if epoch else whole)
        self._log.info(
            "decided",
            epoch=decision.epoch,
            topics=decision.topics,
            served=len(decision.served),
            offloaded=len(decision.out),
            left=len(decision.left),
            came=len(decision.came),
            deliveries=decision.cost,
            reduced=decision.reduced,
            capacity=decision.plan.capacity,
            expected=round(decision.value, 3),
            bound=round(decision.bound, 3),
            ratio=round(decision.ratio, 3),
            run_ms=decision.run_ms,
        )

    def _tell(self, link: Link, frames: list[Assignment]) -> None:
        for frame in frames:
            link.send(frame)
        self._told[link] = frames[-1].epoch

    # Links (see `LinkRole`).

    def view(self) -> View:
        """The decision service has no view of its own."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Access points of the sites whose brokers are known here."""
        if hello.role != "accesspoint":
            raise wrong_peer(hello, "the decision service", "access points")
        if hello.site not in self.options.sites:
            raise Refused("wrong-peer", f"no brokers of site {hello.site} are configured here (decision.sites)")

    def link_up(self, link: Link) -> LinkHandler:
        """A broker answered, or an access point called: it is told what holds."""
        self._told[link] = 0
        if link.dialled is None:
            self.core.link_up((link.peer.site, link.peer.node))
        if self.decision is not None:
            self._tell(link, self.decision.whole())
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        """A peer is gone; nobody waits for its answer."""
        del self._told[link]
        self._surveyor.gone(link)
        if link.dialled is None:
            self.core.link_down((link.peer.site, link.peer.node), self.links.now_s)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Counts of a broker, follows of an access point. Raises `Refused` for all else: no event ever comes here (SB-63)."""
        point = (link.peer.site, link.peer.node) if link.dialled is None else None
        for frame in frames:
            match frame:
                case Tally(topics, counts) if point is None:
                    self.core.tally(_checked(topics), counts)
                case Followed(users, topics) if point is not None:
                    self.core.followed(point, users, _checked(topics))
                case Unfollowed(users, topics) if point is not None:
                    self.core.unfollowed(point, users, _checked(topics))
                case Surveyed(n, epoch):
                    self._holds(link, epoch)
                    if point is not None:
                        self.core.reported(point)
                    self._surveyor.answered(link, n)
                case Heartbeat():
                    pass
                case _:
                    raise Refused(
                        "bad-link-frame", f"{type(frame).__name__} from a {link.peer.role} makes no sense to the decision service"
                    )

    def _holds(self, link: Link, epoch: int) -> None:
        """A peer goes by an epoch; if another service has made it, the peer cannot follow a change, and is told the whole next time."""
        self.core.holds(epoch)
        if epoch > self._told[link]:
            self._told[link] = 0

    def tick(self, now: float) -> None:
        """Heartbeat interval: access points that are gone for long."""
        self.core.tick(now)

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        core, made, capacity = self.core, self.decision, self.options.plan.capacity
        return self.links.loops.counters() | {
            "decision_links": len(self.links.links),
            "decision_pairs": core.pairs(),
            "decision_pairs_refused_total": core.pairs_refused,
            "decision_counts_refused_total": core.counts_refused,
            "decision_rounds_total": self.rounds,
            "decision_failures_total": self.failures,
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


def _checked(topics: list[bytes]) -> list[Topic]:
    """As topics: the codec has checked that they are."""
    return topics  # type: ignore[return-value]
