"""`python -m bench.micro.burst OUTBOXES` sends one event to so many simulated clients of one access point, while others speak.

The access point is real, and gets its events over a link in memory. Only the sockets are missing: a simulated client has a
session's maps and outbox, and notes the time at which its bytes would go to the kernel.
"""

import asyncio
import os
import random
import sys
from typing import Final

import click
import msgspec

from accesspoint.options import AccessPointOptions
from accesspoint.row import Member
from accesspoint.server import AccessPoint
from infra.kernel.topics import parse_topic
from infra.runtime.context import Context
from infra.runtime.event_loop import run
from infra.runtime.logs import configure, get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier
from infra.runtime.wire.memory import MemoryNetwork

from ..clock import now_us
from ..feeder import SITE, Feeder, body_envelope
from ..meter import rss_bytes
from ..outlets import Outlets
from ..percentile import percentile
from ..stamp import find, payload, read

OTHERS: Final = 500
FOLLOWERS: Final = 10
EVENTS_PER_S: Final = 1_000
TICK_S: Final = 0.002
IDLE_S: Final = 2.0
BURSTS: Final = 3
DEADLINE_S: Final = 30.0
WHERE: Final = "sto/a1"


class BurstFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Latencies from handing the event to the link until the moment at which it would be written to the client's socket.

    - `outboxes`, `bytes_per_outbox`: the simulated clients, and the resident memory of each.
    - `burst_s`: of each burst, seconds until the last client had it.
    - `idle_p99_ms`: of other topics before the bursts.
    - `burst_p99_ms`, `burst_max_ms`: of other topics during the bursts.
    """

    outboxes: int
    bytes_per_outbox: float
    burst_s: list[float]
    idle_p99_ms: float
    burst_p99_ms: float
    burst_max_ms: float

    def plain(self) -> dict[str, float]:
        """Returns the numbers among them by name."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if not isinstance(value, list)}


class _Fan(Member):
    """A client that follows the star. `heard` counts the deliveries of all of them."""

    __slots__ = ()
    heard = 0

    def write(self, data: bytes) -> None:
        _Fan.heard += 1


class _Other(Member):
    """A client that follows another topic and notes (due, latency) in microseconds."""

    __slots__ = ("samples",)

    def __init__(self, samples: list[tuple[int, int]]) -> None:
        super().__init__()
        self.samples = samples

    def write(self, data: bytes) -> None:
        now = now_us()
        for stamp in find(data, 0, len(data)):
            at_us, _ = read(stamp)
            self.samples.append((at_us, now - at_us))


class BurstStage:
    """An access point with its feeder and its simulated clients."""

    def __init__(self) -> None:
        uris = [f"hm://presence/user/u{number}/" for number in range(OTHERS)] + ["hm://presence/user/star/"]
        self.samples: list[tuple[int, int]] = []
        self._topics = [parse_topic(uri) for uri in uris]
        network = MemoryNetwork()
        self._outlets = Outlets([body_envelope(uri) for uri in uris], lambda: None)
        self._feeder = Feeder(self._outlets, uris, network)
        options = AccessPointOptions(site=SITE, node="ap1", policy="open", aggregators=[WHERE], door="127.0.0.1:0")
        verifier = Verifier(AuthOptions(), Keys(), lambda: None)
        log = get_logger("bench", "ap1", SITE)
        self._point = AccessPoint(options, Context(network=network, log=log, rng=random.Random(1)), verifier.client)
        self._rng = random.Random(2)

    async def open(self) -> None:
        """Links the access point and its feeder."""
        listening = asyncio.ensure_future(self._feeder.listen(WHERE))
        await self._point.start()
        await listening

    async def close(self) -> None:
        """Closes both."""
        await self._point.close()
        await self._feeder.close()

    def fill(self, outboxes: int) -> None:
        """Subscribes so many clients to the star, and the others to other topics."""
        star = self._topics[-1]
        for _ in range(outboxes):
            self._subscribe(_Fan(), len(self._topics) - 1)
        assert len(self._point.core.hub.topics[star]) == outboxes
        for number in range(OTHERS * FOLLOWERS):
            self._subscribe(_Other(self.samples), number % OTHERS)

    def _subscribe(self, member: Member, topic: int) -> None:
        row = self._point.core.hub.subscribe(member, self._topics[topic])
        if row is not None:
            self._point.core.announcer.want([(row.handle, self._topics[topic])])

    def speak(self, topics: list[int]) -> None:
        """Publishes one event on each of `topics` now."""
        now = now_us()
        self._feeder.send(topics, [payload(now, 0) for _ in topics])

    async def others_speak(self) -> None:
        """Publishes events on other topics for ever. It makes up for what a pause has delayed."""
        loop = asyncio.get_running_loop()
        start_s, spoken = loop.time(), 0
        while True:
            await asyncio.sleep(TICK_S)
            due = int((loop.time() - start_s) * EVENTS_PER_S)
            self.speak([self._rng.randrange(OTHERS) for _ in range(due - spoken)])
            spoken = due

    async def burst(self, outboxes: int) -> tuple[int, int]:
        """Publishes one event to all fans. Returns when it began and when the last one had it, in microseconds.

        Raises TimeoutError after `DEADLINE_S`.
        """
        loop = asyncio.get_running_loop()
        deadline_s, goal, began_us = loop.time() + DEADLINE_S, _Fan.heard + outboxes, now_us()
        self.speak([len(self._topics) - 1])
        while _Fan.heard < goal:
            await asyncio.sleep(0)
            if loop.time() > deadline_s:
                raise TimeoutError(f"{goal - _Fan.heard} of {outboxes} did not get the event in {DEADLINE_S:g} s")
        return began_us, now_us()


async def measure(outboxes: int) -> BurstFigures:
    """Subscribes all clients, lets the others speak, then the star too."""
    stage = BurstStage()
    await stage.open()
    before = rss_bytes(os.getpid())
    stage.fill(outboxes)
    after = rss_bytes(os.getpid())
    speaking = asyncio.ensure_future(stage.others_speak())
    await asyncio.sleep(IDLE_S)
    idle = sorted(latency for _, latency in stage.samples)
    spans = []
    for _ in range(BURSTS):
        spans.append(await stage.burst(outboxes))
        await asyncio.sleep(IDLE_S / 4)
    speaking.cancel()
    await asyncio.gather(speaking, return_exceptions=True)
    during = sorted(latency for due, latency in stage.samples if any(began <= due <= ended for began, ended in spans))
    await stage.close()
    return BurstFigures(
        outboxes=outboxes,
        bytes_per_outbox=(after - before) / outboxes,
        burst_s=[(ended - began) / 1e6 for began, ended in spans],
        idle_p99_ms=percentile(idle, 0.99) / 1000,
        burst_p99_ms=percentile(during, 0.99) / 1000,
        burst_max_ms=(during[-1] if during else 0) / 1000,
    )


if __name__ == "__main__":
    configure("console", "error")
    click.echo(msgspec.json.encode(run(measure(int(sys.argv[1])))))
