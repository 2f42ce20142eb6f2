"""One run: a period in which everything is served, the decision, and the same period again within the capacity."""

import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from accesspoint.server import AccessPoint
from analytics.offloading.plan import PlanOptions
from infra.kernel.errors import SegueError
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.shape import Shape
from segue.cluster.tokens import user_token
from segue.demo.cluster import SECRET_BYTES
from segue.demo.crowd import Crowd, need_files, topic_of
from segue.demo.friendships import make_friends
from segue.demo.show import Show
from segue.demo.store import temporary
from segue.demo.until import until

from .count import Count
from .outcome import OffloadOutcome
from .play import PeriodPlayer
from .stage import Stage

if TYPE_CHECKING:
    from services.decision.decision import OffloadingDecision
    from services.decision.server import DecisionService

READY_S: Final = 30.0
# Nothing is decided by the clock here. A period is over when everything of it has been played.
A_DAY_S: Final = 86_400.0


class OffloadDemoError(SegueError):
    """An engine that is not ready for what the demo needs. The message says what is missing and what to do."""


async def run(stage: Stage, sites: Sequence[str], rng: random.Random, show: Show) -> OffloadOutcome:
    """Runs both periods of `stage` at `sites`, tells `show` every step, and returns the outcome. `rng` is all its randomness.

    Raises SegueError that says what to do. Cancelling it stops everything that it started.
    """
    need_files(len(stage.friends))
    secret = secrets.token_bytes(SECRET_BYTES)
    async with _engine(stage, sites, secret, rng, show) as process:
        doors = {user: f"ws://{_door(process, n).address}" for n, user in enumerate(stage.friends)}
        play = PeriodPlayer(stage, rng, show)
        async with Crowd(doors, partial(user_token, secret), play.heard) as crowd:
            await crowd.gather(stage.friends, show)
            await play.period("watch", crowd, stage.demand)
            decision = await _decide(process, stage, show)
            count = await play.period("measure", crowd, decision.cost)
            untold = sum(crowd.offloaded(user) != _out_for(user, stage, decision) for user in stage.friends)
    return _outcome(stage, decision, count, untold, play.refused)


@asynccontextmanager
async def _engine(stage: Stage, sites: Sequence[str], secret: bytes, rng: random.Random, show: Show) -> AsyncIterator[Process]:
    """Runs every role of the engine at each site, and the decision service, all in this process."""
    plan = PlanOptions(capacity=stage.capacity, threshold=stage.threshold, metric=stage.metric, period_s=A_DAY_S, weight=1.0, overlap_ms=0)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(temporary("sqlite", None, show))
        await make_friends(store, stage.friends, lambda: None)
        shape = Shape(sites=tuple(sites), brokers=2, decision=plan, services=("social",), state=store.folder)
        options = list(shape.options())
        with show.phase("engine") as phase:
            process = await stack.enter_async_context(Process(RoleFactory.local(secret, rng), options))
            await process.settled(READY_S)
            peers = len(process.of("broker")) + len(process.of("accesspoint"))
            await _until(lambda: len(_decision(process).links.links) == peers, "everybody is linked to the decision service")
            phase.outcome = f"{len(options)} roles in {', '.join(sites)}, all in this process; one decides; policy {shape.effective_policy}"
        yield process


async def _decide(process: Process, stage: Stage, show: Show) -> "OffloadingDecision":
    """Has the service decide. Returns the decision when every broker and access point goes by it."""
    with show.phase("decide") as phase:
        decision = await _decision(process).decide()
        await _until(lambda: _epochs(process) == {decision.epoch}, f"every broker and access point goes by epoch {decision.epoch}")
        of = f"{len(decision.served):,} of {decision.topics:,} topics stay, {len(decision.out):,} leave real time"
        phase.outcome = f"{of}; computed in {decision.run_ms:,} ms"
    return decision


def _epochs(process: Process) -> set[Any]:
    points = {point.core.offload_notices.assigned.epoch for point in process.of("accesspoint")}
    return points | {broker.counters()["broker_assignment_epoch"] for broker in process.of("broker")}


def _decision(process: Process) -> "DecisionService":
    (decision,) = process.of("decision")
    return decision  # type: ignore[no-any-return]  # what a process knows of its roles is less


def _door(process: Process, number: int) -> AccessPoint:
    doors = process.of("accesspoint")
    return doors[number % len(doors)]  # type: ignore[no-any-return]


async def _until(condition: Callable[[], bool], what: str) -> None:
    if not await until(condition, READY_S):
        raise OffloadDemoError(f"after {READY_S:g} s it is not so that {what}. Is this machine very busy? Try again later.")


def _out_for(user: str, stage: Stage, decision: "OffloadingDecision") -> frozenset[str]:
    """Returns the topics that are out, of those that `user` follows."""
    out = {topic.decode()[1:] for topic in decision.out}
    return frozenset(topic_of(friend) for friend in stage.friends[user] if friend in out)


def _outcome(stage: Stage, decision: "OffloadingDecision", count: Count, untold: int, refused: int) -> OffloadOutcome:
    from analytics.planning.satisfaction.cuckoo import cuckoo

    rule = cuckoo(stage.instance(), stage.threshold, stage.capacity, stage.metric)
    out = {topic.decode()[1:] for topic in decision.out}
    return OffloadOutcome(
        users=len(stage.friends),
        topics=decision.topics,
        metric=stage.metric,
        threshold=stage.threshold,
        demand=stage.demand,
        capacity=stage.capacity,
        served=len(decision.served),
        offloaded=len(decision.out),
        run_ms=decision.run_ms,
        bound=decision.bound,
        predicted_value=decision.value,
        predicted_cost=decision.cost,
        measured_value=count.value(stage),
        measured_cost=count.deliveries,
        cuckoo_value=rule.value,
        cuckoo_cost=rule.cost,
        duplicated=count.duplicated,
        strayed=len(count.served() & out),
        untold=untold,
        refused=refused,
    )
