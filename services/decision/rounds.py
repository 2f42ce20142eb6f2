"""Rounds of the decision service: all peers are asked, the answer is computed beside the loop, and all are told."""

import asyncio
import time
from collections.abc import Collection
from functools import partial

from analytics.offloading.plan import PlanOptions
from analytics.offloading.solving import OffloadingProblem, solve, warm
from infra.runtime.ending import end_tasks
from infra.runtime.logs import Logger
from infra.runtime.loops import Loops

from .core import DecisionCore
from .decision import OffloadingDecision
from .peers import DecisionPeer
from .surveyor import Surveyor


class Rounds:
    """One round at a time.

    - `core`: knows what peers have told, and makes the problem and the decision.
    - `plan`: what is decided, and how often.
    - `peers`: who is asked and told; those that are linked at that moment.

    `made` is the last decision, `done` and `failed` count rounds.
    """

    def __init__(self, core: DecisionCore, plan: PlanOptions, peers: Collection[DecisionPeer], surveyor: Surveyor, log: Logger) -> None:
        self.made: OffloadingDecision | None = None
        self.done = self.failed = 0
        self._core, self._plan, self._peers, self._surveyor, self._log = core, plan, peers, surveyor, log
        self._schedule: asyncio.Task[None] | None = None
        self._compiling: asyncio.Task[None] | None = None
        self._round: asyncio.Task[OffloadingDecision] | None = None

    def start(self, loops: Loops) -> None:
        """Has the solver compiled, and decides once a period from now on, as one of `loops`."""
        self._compile()
        self._schedule = loops.every(self._plan.period_s, self._decide_on_time, "decisions")

    def decide(self) -> "asyncio.Task[OffloadingDecision]":
        """Returns a round that begins now, or the one that is under way.

        The task raises PlanError if there is too much to be added up. The last decision stands then.
        """
        if self._round is None or self._round.done():
            self._round = asyncio.create_task(self._decide(), name="a round of decisions")
        return self._round

    async def close(self) -> None:
        """Stops deciding. What was decided stands. May be called twice."""
        await end_tasks(self._schedule, self._round, self._compiling)

    async def _decide_on_time(self) -> float:
        """Runs a round; returns how many seconds of its period are left. A round that took longer is not made up for."""
        now = asyncio.get_running_loop().time
        due_s = now() + self._plan.period_s
        await asyncio.gather(self.decide(), return_exceptions=True)  # what went wrong has been logged
        return max(0.0, due_s - now())

    def _compile(self) -> "asyncio.Task[None]":
        """Has the solver compiled in a thread, once; returns the task that waits for it."""
        if self._compiling is None:
            compiling = asyncio.to_thread(warm, self._plan.metric, self._plan.solver)
            self._compiling = asyncio.create_task(compiling, name="compiling the solver")
        return self._compiling

    async def _decide(self) -> OffloadingDecision:
        try:
            await self._surveyor.ask([peer.link for peer in self._peers], self._plan.survey_s)
            # A round that is cancelled must not stop the compiling, which later rounds need.
            await asyncio.shield(self._compile())
            decision = self.made = await self._solved()
        except Exception:
            self.failed += 1
            self._log.exception("no decision; the last one stands")
            raise
        self.done += 1
        self._tell_all(decision)
        return decision

    async def _solved(self) -> OffloadingDecision:
        start_s = time.perf_counter()
        plan, problem = self._plan, self._core.problem()
        self._warn_of_half(problem)
        work = partial(solve, problem, plan.metric, plan.threshold, plan.capacity, plan.solver)
        choice = await asyncio.to_thread(work)
        return self._core.decide(choice, round((time.perf_counter() - start_s) * 1000))

    def _warn_of_half(self, problem: OffloadingProblem) -> None:
        """Warns when there are no counts, or no followers: nothing can leave then. Another service may have the other half."""
        events, pairs = bool(problem.events.any()), any(map(len, problem.pairs))
        if events != pairs:
            missing, who = ("followers", "access point") if events else ("events", "broker")
            advice = f"nothing can leave; is there a second decision service, or does no {who} reach this one?"
            self._log.warning(advice, missing=missing, links=len(self._peers))

    def _tell_all(self, decision: OffloadingDecision) -> None:
        """Tells the change to peers that know the decision before, the whole to all others."""
        # The whole may be long: it is made once, and only if somebody needs it.
        whole = decision.whole() if any(not peer.epoch for peer in self._peers) else []
        change = decision.change()
        for peer in self._peers:
            peer.tell(change if peer.epoch else whole)
        self._log.info("decided", **decision.figures())
