"""The generator: one process with all clients and all publishers, in a closed or an open loop.

`python -m bench.load` reads a `GeneratorPlan` from standard input, connects and writes `Ready`. For each `Go` that it reads
then, it runs once and writes a `RunResult`. Each of these is one line of JSON. The process ends when its input ends.
"""

import asyncio
import gc
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import click
import msgspec

from infra.runtime.event_loop import run
from infra.runtime.logs import configure
from infra.runtime.wire.tcp import TcpNetwork

from .clients import Clients
from .clock import now_us
from .delivery_ledger import DeliveryLedger
from .dialects import dialect_of
from .dialects.dialect import DialectError
from .feeder import Feeder, body_envelope
from .http_outlet import BODIES, HttpOutlet
from .meter import cpu_s
from .outlets import Outlets, dial
from .percentile import percentile
from .plan import GeneratorPlan, Go, Ready, RunResult
from .speaker import Speaker
from .tcp_outlet import TcpOutlet
from .workload import GeneratedWorkload

TICK_S: Final = 0.001
LOOK_S: Final = 0.25
# When no delivery comes for so long although some are due, they are lost, and the loop must go on.
STALLED_S: Final = 3.0
DRAIN_S: Final = 5.0
STAR: Final = "star0"


class _Mark(NamedTuple):
    """The counts and CPU seconds at one moment."""

    at_s: float
    published: int
    delivered: int
    server_cpu_s: list[float]
    own_cpu_s: float


class Load:
    """A generator. Call `connect` first, `run` as often as wanted, and `close` at the end."""

    def __init__(self, plan: GeneratorPlan) -> None:
        self._plan = plan
        self._dialect = dialect_of(plan.target)
        self._workload = GeneratedWorkload(plan.shape)
        matched = plan.shape.clients - plan.aside
        self._follows = self._workload.follows[:matched]
        self._names = [self._dialect.topic(f"{plan.shape.prefix}{n}") for n in range(plan.shape.topics)] + [self._dialect.topic(STAR)]
        envelope = body_envelope if plan.publishing == "link" else self._dialect.envelope
        self._outlets = Outlets([envelope(name) for name in self._names], self._wake)
        self._clients = Clients(self._dialect, plan.target.clients_at, matched, self._wake, plan.target.ca_file)
        self._feeder: Feeder | None = None
        self._speaker: Speaker | None = None
        self._ledger = self._new_ledger()
        self._is_open = self._woken = False
        self._stalls = 0

    def _new_ledger(self) -> DeliveryLedger:
        fanout = [0] * len(self._names)
        for topics in self._follows:
            for topic in topics:
                fanout[topic] += 1
        return DeliveryLedger(fanout)

    async def connect(self) -> Ready:
        """Connects and subscribes the clients. Raises `DialectError`, OSError, TimeoutError."""
        await self._open_link()
        hellos = self._clients.hellos([[self._names[topic] for topic in sorted(topics)] for topics in self._workload.follows])
        before = self._mark()
        await self._clients.connect(hellos, self._plan.handshakes)
        after = self._mark()
        # A pause of the generator would be taken for latency of the server.
        gc.collect()
        gc.freeze()
        gc.disable()
        self._ledger.measuring = self._ledger.sampling = self._plan.publishing == "none"
        return Ready(clients=len(hellos), seconds=after.at_s - before.at_s, server_cpu_s=sum(after.server_cpu_s) - sum(before.server_cpu_s))

    async def _open_link(self) -> None:
        if self._plan.publishing == "link":
            self._feeder = Feeder(self._outlets, self._names, TcpNetwork(reuse_port=True))
            await self._feeder.listen(self._plan.target.publish_at)

    async def _open_outlets(self) -> None:
        """Connects the publishers. Not before there is something to publish, since doors close connections that say nothing."""
        plan, outlets = self._plan, self._outlets
        if self._is_open:
            return
        self._is_open = True
        match plan.publishing:
            case "none" | "link":
                pass
            case "tcp":
                await dial(lambda: TcpOutlet(outlets, self._dialect.greeting(len(outlets.free))), plan.target.publish_at, plan.publishers)
            case _:
                content_type, join = BODIES[plan.publishing]
                head = self._dialect.http_head(content_type)
                await dial(lambda: HttpOutlet(outlets, head, join), plan.target.publish_at, plan.publishers)

    async def close(self) -> None:
        """Disconnects all clients and the link."""
        self._clients.leave()
        if self._feeder is not None:
            await self._feeder.close()

    async def run(self, go: Go) -> RunResult:
        """Publishes, measures, waits for the rest and matches all deliveries. Where another generator publishes, it only listens."""
        if go.spoken is not None:
            return await self._listen(go.spoken)
        await self._open_outlets()
        self._ledger, self._stalls = self._new_ledger(), 0
        self._speaker = Speaker(
            self._plan, self._ledger, self._outlets, self._workload.publications(), star=len(self._names) - 1, start_us=now_us()
        )
        self._wake()
        await self._last(self._plan.warmup_s)
        first, last = await self._measured(go)
        bursts, self._speaker = self._speaker.bursts, None
        await self._look(DRAIN_S, lambda: not self._ledger.in_flight)
        if go.stop_reading:
            self._clients.read_again()
            await asyncio.sleep(LOOK_S)
        return self._result(first, last, bursts=bursts, samples=go.samples)

    async def _measured(self, go: Go) -> tuple[_Mark, _Mark]:
        if go.stop_reading:
            self._clients.stop_reading()
        if go.burst_every_s:
            self._burst(go.burst_every_s)
        self._ledger.measuring, self._ledger.sampling = True, go.samples
        first = self._mark()
        await self._last(go.seconds)
        last = self._mark()
        self._ledger.measuring = self._ledger.sampling = False
        return first, last

    async def _listen(self, spoken: list[int]) -> RunResult:
        first, ledger = self._mark(), self._ledger
        await self._look(DRAIN_S, lambda: ledger.delivered >= len(spoken) * len(self._follows))
        return self._result(first, self._mark(), spoken=spoken, samples=True)

    # The turns of the loop.

    def _wake(self) -> None:
        if not self._woken:
            self._woken = True
            asyncio.get_running_loop().call_soon(self._pump)

    def _pump(self) -> None:
        """Counts what came, then publishes what may go: once in each turn of the loop."""
        self._woken = False
        self._settle()
        if self._speaker is not None:
            self._speaker.pump(now_us())

    def _settle(self) -> None:
        arrivals = self._clients.arrivals
        if arrivals:
            self._ledger.settle(arrivals)
            arrivals.clear()

    def _burst(self, every_s: float) -> None:
        if self._speaker is not None:
            self._speaker.burst(now_us())
            self._wake()
            asyncio.get_running_loop().call_later(every_s, self._burst, every_s)

    async def _last(self, seconds: float) -> None:
        await self._look(seconds, lambda: False)

    async def _look(self, seconds: float, is_over: Callable[[], bool]) -> None:
        """Lets the loop run for so long or until `is_over`. It ticks where publishing goes by rate, and notices when no delivery comes."""
        step_s = TICK_S if self._plan.rate else LOOK_S
        end_s = time.monotonic() + seconds
        delivered, progress_s = -1, time.monotonic()
        while (now_s := time.monotonic()) < end_s and not is_over():
            await asyncio.sleep(min(step_s, end_s - now_s))
            self._pump()
            if self._ledger.delivered != delivered or not self._ledger.in_flight:
                delivered, progress_s = self._ledger.delivered, time.monotonic()
            elif time.monotonic() - progress_s > STALLED_S:
                self._stalls += 1
                self._ledger.forgive()
                self._wake()

    # Results.

    def _mark(self) -> _Mark:
        ledger = self._ledger
        server_cpu_s = [cpu_s(pid) for pid in self._plan.target.pids]
        return _Mark(time.monotonic(), ledger.published, ledger.delivered, server_cpu_s, time.process_time())

    def _result(
        self, first: _Mark, last: _Mark, *, bursts: Sequence[tuple[int, int]] = (), spoken: list[int] | None = None, samples: bool
    ) -> RunResult:
        ledger = self._ledger
        ordered = sorted(ledger.latencies_us)
        return RunResult(
            seconds=last.at_s - first.at_s,
            published=last.published - first.published,
            delivered=last.delivered - first.delivered,
            audit=ledger.audit(self._follows, None if spoken is None else dict.fromkeys(spoken, 0)),
            refused=self._outlets.refused,
            stalls=self._stalls,
            closed=dict(self._clients.closed),
            p50_ms=percentile(ordered, 0.50) / 1000,
            p99_ms=percentile(ordered, 0.99) / 1000,
            max_ms=(ordered[-1] if ordered else 0) / 1000,
            server_cpu_s=[after - before for before, after in zip(first.server_cpu_s, last.server_cpu_s, strict=True)],
            generator_cpu_s=last.own_cpu_s - first.own_cpu_s,
            bursts=list(bursts),
            samples=list(zip(ledger.due_us, ledger.latencies_us, strict=True)) if samples else [],
        )


async def _main() -> None:
    configure("console", "error")
    load = Load(msgspec.json.decode(await _line(), type=GeneratorPlan))
    try:
        _say(await load.connect())
        while line := await _line():
            _say(await load.run(msgspec.json.decode(line, type=Go)))
    except (DialectError, OSError, TimeoutError) as trouble:
        sys.exit(f"{type(trouble).__name__}: {trouble}")
    finally:
        await load.close()


async def _line() -> bytes:
    """Returns the next line of input; the loop goes on meanwhile."""
    return await asyncio.to_thread(sys.stdin.buffer.readline)


def _say(answer: Ready | RunResult) -> None:
    click.echo(msgspec.json.encode(answer))


if __name__ == "__main__":
    run(_main())
