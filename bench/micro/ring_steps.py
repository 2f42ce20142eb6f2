"""`python -m bench.micro.ring_steps PLAN` follows very many topics at one aggregator, and publishes at brokers that come and go.

It prints a line when all topics are followed. Then each line of its input is a `RingPhase`, which it answers with `PhaseFigures`.
"""

import asyncio
import random
import sys
import time
from pathlib import Path
from typing import Final

import click
import msgspec

from infra.kernel.announcer import BULK
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Applied, Deliver, Hello, Subscribe, View
from infra.kernel.link_timing import LinkTiming
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic
from infra.runtime.context import Context
from infra.runtime.event_loop import run
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.logs import configure, get_logger
from infra.runtime.node import Node
from infra.runtime.wire.tcp import TcpNetwork
from segue.cli.state import secret_of
from segue.cluster.tokens import service_token
from segue.sdk.operator import Operator

from ..clock import now_us
from ..dialects.segue import Segue
from ..feeder import SITE
from ..http_outlet import BODIES, HttpOutlet
from ..outlets import Outlets, dial
from ..stamp import find, payload, read
from .latencies import Latencies

BATCH: Final = 32
TICK_S: Final = 0.002
LOOK_S: Final = 0.1
INSTALLED_S: Final = 180.0
PHASE_S: Final = 300.0
# What was published has come by then, or it will not.
LAST_S: Final = 3.0
PUBLISHERS: Final = 8


class RingLoadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `aggregator`, `doors`: where an access point dials, and the doors of brokers that always run.
    - `state`: the folder with the secret of tokens.
    - `topics`, `spoken`: topics that are followed, and on how many of them there are events.
    - `rate`: events a second.
    - `slots`, `later`: the brokers before, and with those that come: a topic moves if its owner is another one.
    """

    aggregator: str
    doors: list[str]
    state: str
    topics: int
    spoken: int
    rate: float
    slots: list[str]
    later: list[str]


class RingPhase(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the run: it is over after `seconds`, or when each slot of the ring has its share of `shares`.

    `drains`: an operator orders these shares; else brokers that come get theirs by themselves.
    """

    seconds: float = 0.0
    shares: dict[str, int] = {}
    drains: bool = False


class PhaseFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a phase: of the events on topics that `move`, and of the `others`. `lost` and `twice` are counted over all phases."""

    seconds: float
    events: int
    refused: int
    lost: int
    twice: int
    move: Latencies
    others: Latencies


class RingSpeaker:
    """A role (see `LinkRole`) that plays an access point and its clients, and a service that publishes for them."""

    def __init__(self, plan: RingLoadPlan) -> None:
        self.installed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._plan = plan
        self._changes = 0
        self._topics: list[bytes] = [user_topic(f"user{n}") for n in range(plan.topics)]
        dialect = Segue(plan.state)
        self._head = dialect.http_head(BODIES["ndjson"][0])
        self.outlets = Outlets([dialect.envelope(dialect.topic(f"user{n}")) for n in range(plan.spoken)], lambda: None)
        before, after = Ring(plan.slots), Ring(plan.later)
        self._moves = [before.owner(topic) != after.owner(topic) for topic in self._topics[: plan.spoken]]
        self._rng = random.Random(1)
        self._spoken: list[int] = []
        self._came = bytearray()
        self._waited_ms: tuple[list[float], list[float]] = ([], [])
        self._twice = 0

    async def publish(self) -> None:
        """Publishes for ever, in an open loop: each event bears the moment at which it was due."""
        plan, start_us = self._plan, now_us()
        for door in plan.doors:
            await dial(lambda: HttpOutlet(self.outlets, self._head, BODIES["ndjson"][1]), door, PUBLISHERS)
        while True:
            due = int((now_us() - start_us) * plan.rate / 1e6)
            while len(self._spoken) + BATCH <= due and self.outlets.free:
                first = len(self._spoken)
                topics = self._rng.choices(range(plan.spoken), k=BATCH)
                self._spoken += topics
                self._came.extend(bytes(BATCH))
                stamps = [payload(start_us + int(n * 1e6 / plan.rate), n) for n in range(first, first + BATCH)]
                self.outlets.free.popleft().send(topics, stamps)
            await asyncio.sleep(TICK_S)

    def begin(self) -> int:
        """Begins a phase. Returns how many events there were before."""
        self._waited_ms = ([], [])
        self.outlets.refused = 0
        return len(self._spoken)

    def figures(self, first: int, end: int, seconds: float) -> PhaseFigures:
        """Returns the figures of the phase with the events from `first` to `end`, which took so many seconds."""
        came = self._came[:end]
        return PhaseFigures(
            seconds=seconds,
            events=end - first,
            refused=self.outlets.refused,
            lost=came.count(0),
            twice=self._twice,
            move=Latencies.of(self._waited_ms[1]),
            others=Latencies.of(self._waited_ms[0]),
        )

    @property
    def spoken(self) -> int:
        """How many events have been published."""
        return len(self._spoken)

    def link_up(self, link: Link) -> LinkHandler:
        """Announces all topics to the aggregator."""
        for start in range(0, len(self._topics), BULK):
            bulk = self._topics[start : start + BULK]
            self._changes += 1
            link.send(Subscribe(self._changes, list(range(start, start + len(bulk))), bulk))
        return ToRole(self, link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Notes events, and when all topics are followed."""
        at_us = now_us()
        for frame in frames:
            if isinstance(frame, Deliver):
                for body in frame.bodies:
                    self._note(body, at_us)
            elif isinstance(frame, Applied) and frame.sites.get(SITE, 0) >= self._changes and not self.installed.done():
                self.installed.set_result(None)

    def _note(self, body: bytes, at_us: int) -> None:
        for stamp in find(body):
            due_us, number = read(stamp)
            if self._came[number]:
                self._twice += 1
            else:
                self._came[number] = 1
                self._waited_ms[self._moves[self._spoken[number]]].append((at_us - due_us) / 1000)

    def link_down(self, link: Link, reason: str) -> None:
        """Raises ConnectionResetError: the aggregator should not have gone."""
        raise ConnectionResetError(reason)

    def view(self) -> View:
        """Returns an empty view: there are no brokers here."""
        return View(0, ())

    def admit(self, hello: Hello) -> None:
        """Raises `Refused`: nobody links to an access point."""
        raise Refused("wrong-peer", "access points take no links")

    def tick(self, now: float) -> None:
        """Does nothing: no work is due by time."""


async def _until_there(operator: Operator, phase: RingPhase) -> None:
    if phase.drains:
        await operator.change_ring(SITE, phase.shares, (await operator.ring()).share_of)
    while True:
        ring = await operator.ring()
        if ring.is_there and ring.share_of == phase.shares:
            return
        await asyncio.sleep(LOOK_S)


async def _phase(speaker: RingSpeaker, operator: Operator, phase: RingPhase) -> PhaseFigures:
    first, begun_s = speaker.begin(), time.monotonic()
    async with asyncio.timeout(PHASE_S):
        if phase.shares:
            await _until_there(operator, phase)
        else:
            await asyncio.sleep(phase.seconds)
    seconds, end = time.monotonic() - begun_s, speaker.spoken
    await asyncio.sleep(LAST_S)
    return speaker.figures(first, end, seconds)


async def serve(plan: RingLoadPlan) -> None:
    """Follows all topics, and then plays the phases that it is told."""
    speaker = RingSpeaker(plan)
    context = Context(network=TcpNetwork(), log=get_logger("bench", "ring", SITE), rng=random.Random(1))
    node = Node(("accesspoint", "bench", SITE), context, speaker, timing=LinkTiming())
    token = service_token(secret_of(Path(plan.state)), "operator")
    node.dial(plan.aggregator, "aggregator", SITE)
    async with asyncio.timeout(INSTALLED_S):
        await speaker.installed
    publishing = asyncio.create_task(speaker.publish(), name="publishes")
    click.echo("followed")
    async with Operator(f"http://{plan.doors[0]}", token) as operator:
        while line := await asyncio.to_thread(sys.stdin.readline):
            click.echo(msgspec.json.encode(await _phase(speaker, operator, msgspec.json.decode(line, type=RingPhase))))
    publishing.cancel()
    await node.close()


if __name__ == "__main__":
    configure("console", "error")
    run(serve(msgspec.json.decode(sys.argv[1], type=RingLoadPlan)))
