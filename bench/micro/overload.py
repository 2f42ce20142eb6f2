"""`python -m bench.micro.overload PLAN` gives a site link a share of what it can carry, in virtual time, and counts what comes of it.

Broker, link, frames and the other site's broker are the real ones. The network between them is a number of bytes a step. All CPU is that
of both brokers; publications are made before the clock runs. A delivery is *useful* when it is still the newest of its topic as it comes:
of presence nobody needs another one.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, Literal

import click
import msgspec

from broker.core import BrokerCore
from broker.overload_options import OverloadOptions
from broker.site_outlet import SiteOutlet
from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.events import Event, encode_tail
from infra.kernel.fanout import Receiver
from infra.kernel.frames import AnyFrame, Deliver, Frame, Hello, View
from infra.kernel.gains import gain_of
from infra.kernel.topics import Topic, format_topic, user_topic
from infra.runtime.link import Link
from infra.runtime.wire.wire import OnFrames, OnLost, WireEnd

from ..shape import WorkloadShape
from ..workload import GeneratedWorkload

STEP_S: Final = 0.005
LOOK_STEPS: Final = 10  # as often as `SiteOutlets` does
QUEUE_BYTES: Final = 4 << 20
# A capacity is so many events a second, of so many bytes each.
EVENTS_PER_S: Final = 10_000
EVENT_BYTES: Final = 265
PAYLOAD: Final = b'{"track":"%b"}' % (b"x" * 108)
ID: Final = b'"id":"'

Policy = Literal["drop", "batch", "conflate", "gain"]


class OverloadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `policy`: what is done with what the link does not take.
    - `load`: how much is published, in capacities of the link.
    - `seconds`: for so long, in virtual time. `clients`: at the other site.
    """

    policy: Policy
    load: float
    seconds: float
    clients: int = 20_000


class OverloadFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run.

    - `events`: what came over the link. `deliveries`: what clients get of it. `useful`: those of use. `due`: all that were published.
    - `p50_s`: how old the events were as they came.
    """

    events: int
    deliveries: int
    useful: int
    due: int
    cpu_s: float
    p50_s: float


class _Pipe:
    """A wire that carries some bytes whenever time goes on. See `Wire`."""

    far_end = WireEnd()

    def __init__(self, take: Callable[[AnyFrame], None]) -> None:
        self.queued_bytes = 0
        self._chunks: deque[bytes] = deque()
        self._decoder, self._take, self._room = FrameDecoder(), take, 0

    def send(self, frames: Sequence[Frame]) -> None:
        self._chunks.append(b"".join(map(encode, frames)))
        self.queued_bytes += len(self._chunks[-1])

    def carry(self, room: int) -> None:
        """Brings so many bytes to the other end."""
        self._room += room
        while self._chunks and self._room > 0:
            chunk = self._chunks.popleft()
            part, rest = chunk[: self._room], chunk[self._room :]
            if rest:
                self._chunks.appendleft(rest)
            self._room -= len(part)
            self.queued_bytes -= len(part)
            for frame in self._decoder.feed(part):
                self._take(frame)
        self._room = min(self._room, room)

    def trust(self) -> None: ...

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None: ...

    def close(self) -> None: ...

    abort = close


class _Sink:
    """The other site's aggregator: it notes when each event came."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.came: list[tuple[float, bytes]] = []

    def deliver(self, handle: int, body: bytes) -> None:
        self.came.append((self.now_s, body))


class _Sites:
    """Two brokers and the link between them."""

    def __init__(self, plan: OverloadPlan, topics: Sequence[Topic], followers: Sequence[int]) -> None:
        self.sink, self.far, self.near = _Sink(), BrokerCore("lon", 2), BrokerCore("sto", 1)
        self.far.subscribe(self.far.open(self.sink, False), topics, range(len(topics)))
        self.wire = _Pipe(self._relay)
        hello = Hello("broker", "b1", "lon", 1, 1, View(1, ("b1",)))
        self._is_waiting = False
        self.link = Link(self.wire, hello, None, 0.0, Link.flush if plan.policy == "drop" else self._woken)
        self.link.max_queued_bytes = QUEUE_BYTES
        self.outlet: SiteOutlet | None = None
        if plan.policy in ("conflate", "gain"):
            self.outlet = SiteOutlet(self.link, OverloadOptions(enabled=True, queue_bytes=QUEUE_BYTES))
        if plan.policy == "gain" and self.outlet is not None:
            for row, number in enumerate(followers):
                self.outlet.gains[row] = gain_of(number)
        receiver: Receiver = self.outlet or self.link
        self.near.subscribe(self.near.open(receiver, True, ("lon", "b1")), topics, [self.far.interest.rows[topic] for topic in topics])

    def _woken(self, link: Link) -> None:
        self._is_waiting = True

    def _relay(self, frame: AnyFrame) -> None:
        assert isinstance(frame, Deliver)
        self.far.relay(frame.handles, frame.bodies)

    def step(self, number: int, events: Sequence[Event]) -> None:
        """Publishes `events`, and lets time go on."""
        self.sink.now_s = number * STEP_S
        for event in events:
            self.near.publish(event)
        if self.outlet is not None and number % LOOK_STEPS == 0:
            self.outlet.look(0.0, self.sink.now_s)
        if self._is_waiting:
            self._is_waiting = False
            self.link.flush()
        self.wire.carry(round(EVENTS_PER_S * EVENT_BYTES * STEP_S))


def measure(plan: OverloadPlan) -> OverloadFigures:
    """Makes a run of `plan`."""
    work = GeneratedWorkload(WorkloadShape(clients=plan.clients))
    topics = [user_topic(f"u{number}") for number in range(len(work.fanout))]
    spoken = list(islice(work.publications(), round(plan.load * EVENTS_PER_S * plan.seconds)))
    events = [Event(topics[of], b"", encode_tail(format_topic(topics[of]), 1, str(at), "play", PAYLOAD)) for at, of in enumerate(spoken)]
    sites, per_step = _Sites(plan, topics, work.fanout), plan.load * EVENTS_PER_S * STEP_S
    began_s = time.process_time()
    for number in range(round(plan.seconds / STEP_S)):
        sites.step(number, events[round(per_step * number) : round(per_step * (number + 1))])
    cpu_s = time.process_time() - began_s
    return _figures(plan, sites.sink.came, spoken, work.fanout, cpu_s)


def _figures(
    plan: OverloadPlan, came: Sequence[tuple[float, bytes]], spoken: Sequence[int], followers: Sequence[int], cpu_s: float
) -> OverloadFigures:
    published_s = [at / (plan.load * EVENTS_PER_S) for at in range(len(spoken))]
    replaced_s = [plan.seconds] * len(spoken)
    last: dict[int, int] = {}
    for at, topic in enumerate(spoken):
        if topic in last:
            replaced_s[last[topic]] = published_s[at]
        last[topic] = at
    found = [(now_s, int(body[(start := body.index(ID) + len(ID)) : body.index(b'"', start)])) for now_s, body in came]
    ages = sorted(now_s - published_s[at] for now_s, at in found)
    return OverloadFigures(
        events=len(found),
        deliveries=sum(followers[spoken[at]] for _, at in found),
        useful=sum(followers[spoken[at]] for now_s, at in found if now_s <= replaced_s[at]),
        due=sum(followers[topic] for topic in spoken),
        cpu_s=cpu_s,
        p50_s=max(0.0, ages[len(ages) // 2]),
    )


if __name__ == "__main__":
    click.echo(msgspec.json.encode(measure(msgspec.json.decode(sys.argv[1], type=OverloadPlan))))
