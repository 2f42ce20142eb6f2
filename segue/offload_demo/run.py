"""One run: a period in which everything is served, the decision, and the same period again within the capacity."""

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from accesspoint.server import AccessPoint
from analytics.ods.options import PlanOptions
from infra.kernel.errors import SegueError
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire_memory import MemoryNetwork
from segue.demo.crowd import Crowd, for_each, topic_of
from segue.demo.first_act import need_files
from segue.demo.show import Show
from segue.process import Parts, Process
from segue.shape import Shape
from segue.state import service_token, user_token

from .count import Count
from .outcome import Outcome
from .stage import Stage

if TYPE_CHECKING:
    from analytics.ods.decision import Decision
    from analytics.ods.server import Ods

SECRET_BYTES: Final = 32
READY_S: Final = 30.0
# How long to wait for what is still under way.
DRAIN_S: Final = 10.0
POLL_S: Final = 0.01
# Nothing is decided by the clock here: a period is over when everything of it has been played.
A_DAY_S: Final = 86_400.0


class OffloadDemoError(SegueError):
    """The engine did not come as far as the demo needs. The message says what is missing and what to do."""


async def run(stage: Stage, sites: Sequence[str], rng: random.Random, show: Show) -> Outcome:
    """Runs it all. Raises SegueError that says what to do. Cancelling it stops everything that it started."""
    need_files(len(stage.friends))
    secret = secrets.token_bytes(SECRET_BYTES)
    async with _engine(stage, sites, secret, rng, show) as process:
        doors = {user: f"ws://{_door(process, n).address}" for n, user in enumerate(stage.friends)}
        play = Play(stage, rng, show)
        async with Crowd(doors, partial(user_token, secret), play.heard) as crowd:
            await _gather(stage, crowd, show)
            await play.period("watch", crowd, stage.demand)
            decision = await _decide(process, stage, show)
            count = await play.period("measure", crowd, decision.cost)
            untold = sum(crowd.offloaded(user) != _out_for(user, stage, decision) for user in stage.friends)
    return _outcome(stage, decision, count, untold, play.refused)


@asynccontextmanager
async def _engine(stage: Stage, sites: Sequence[str], secret: bytes, rng: random.Random, show: Show) -> AsyncIterator[Process]:
    """Every role of the engine at each site, and the decision service, all in this process."""
    plan = PlanOptions(capacity=stage.capacity, threshold=stage.threshold, metric=stage.metric, period_s=A_DAY_S, weight=1.0, overlap_ms=0)
    options = list(Shape(sites=tuple(sites), brokers=2, ods=plan).options())
    parts = Parts(MemoryNetwork(), Verifier(AuthOptions(), Keys(secret=secret), lambda: None), rng, token=partial(service_token, secret))
    with show.phase("engine") as phase:
        process = await Process(parts, options).__aenter__()
        try:
            await process.settled(READY_S)
            peers = len(process.of("broker")) + len(process.of("accesspoint"))
            await _until(lambda: len(_ods(process).links.links) == peers, "everybody is linked to the decision service")
            phase.outcome = f"{len(options)} roles in {', '.join(sites)}, all in this process; one of them decides"
        except BaseException:
            await process.close()
            raise
    try:
        yield process
    finally:
        await process.close()


class Play:
    """Periods: all events of one in a random order, and what arrives of them. `refused` counts those that the engine did not take."""

    def __init__(self, stage: Stage, rng: random.Random, show: Show) -> None:
        self.refused = 0
        self._stage, self._rng, self._show = stage, rng, show
        self._count = Count()

    def heard(self, user: str, mark: str, at_s: float) -> None:
        """An event has arrived."""
        self._count.heard(user, mark)

    async def period(self, name: str, crowd: Crowd, expected: int) -> Count:
        """Publishes the events of a period; returns when `expected` deliveries have arrived, or too long after, and no more are on
        their way."""
        count = self._count = Count()
        plays = self._stage.plays(self._rng)
        with self._show.phase(name, len(plays), "events") as phase:

            async def one(numbered: tuple[int, str]) -> None:
                number, user = numbered
                try:
                    await crowd.play(user, f"{user} {name} {number}")
                except SegueError:
                    self.refused += 1
                phase.one_done()

            await for_each(enumerate(plays), one)
            await _comes(lambda: count.deliveries >= expected, DRAIN_S)
            await crowd.fence()
            phase.outcome = f"{len(plays):,} events, {count.deliveries:,} deliveries"
        return count


async def _gather(stage: Stage, crowd: Crowd, show: Show) -> None:
    with show.phase("connect", len(stage.friends)) as phase:
        await crowd.connect(phase.one_done)
        phase.outcome = f"{len(stage.friends):,} users, each on a WebSocket of its own"
    with show.phase("follow", len(stage.friends)) as phase:
        await crowd.follow(stage.friends, phase.one_done)
        phase.outcome = f"{sum(map(len, stage.friends.values())):,} subscriptions, installed at every site"


async def _decide(process: Process, stage: Stage, show: Show) -> "Decision":
    """Has the service decide; returns when every broker and access point goes by it."""
    with show.phase("decide") as phase:
        decision = await _ods(process).decide()
        await _until(lambda: _epochs(process) == {decision.epoch}, f"every broker and access point goes by epoch {decision.epoch}")
        of = f"{len(decision.served):,} of {decision.topics:,} topics stay, {len(decision.out):,} leave real time"
        phase.outcome = f"{of}; computed in {decision.run_ms:,} ms"
    return decision


def _epochs(process: Process) -> set[Any]:
    points = {point.core.offloaded.assigned.epoch for point in process.of("accesspoint")}
    return points | {broker.counters()["broker_assignment_epoch"] for broker in process.of("broker")}


def _ods(process: Process) -> "Ods":
    (ods,) = process.of("ods")
    return ods  # type: ignore[no-any-return]  # what a process knows of its roles is less


def _door(process: Process, number: int) -> AccessPoint:
    doors = process.of("accesspoint")
    return doors[number % len(doors)]  # type: ignore[no-any-return]


async def _until(condition: Callable[[], bool], what: str) -> None:
    if not await _comes(condition, READY_S):
        raise OffloadDemoError(f"after {READY_S:g} s it is not so that {what}. Is this machine very busy? Try again later.")


async def _comes(condition: Callable[[], bool], within_s: float) -> bool:
    """Whether it holds, now or in time."""
    deadline_s = perf_counter() + within_s
    while not condition():
        if perf_counter() > deadline_s:
            return False
        await asyncio.sleep(POLL_S)
    return True


def _out_for(user: str, stage: Stage, decision: "Decision") -> frozenset[str]:
    """The topics that are out, of those that `user` follows."""
    out = {topic.decode()[1:] for topic in decision.out}
    return frozenset(topic_of(friend) for friend in stage.friends[user] if friend in out)


def _outcome(stage: Stage, decision: "Decision", count: Count, untold: int, refused: int) -> Outcome:
    from analytics.planning.satisfaction.cuckoo import cuckoo

    rule = cuckoo(stage.instance(), stage.threshold, stage.capacity, stage.metric)
    out = {topic.decode()[1:] for topic in decision.out}
    return Outcome(
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
