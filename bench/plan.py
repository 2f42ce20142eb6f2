"""What a generator process is told and what it answers: JSON lines on its standard input and output."""

from typing import Literal

import msgspec

from .delivery_ledger import Audit
from .shape import WorkloadShape

Speaks = Literal["segue", "nats", "mosquitto", "naive"]
# none: only listen. link: play the aggregator of an access point. tcp: the peer's own protocol, without acknowledgement.
Publishing = Literal["none", "single", "array", "ndjson", "tcp", "link"]


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A running server. Addresses are host:port; `pids` are all its processes; `state` holds the secret of tokens."""

    speaks: Speaks
    clients_at: str
    publish_at: str = ""
    admin_at: str = ""
    pids: list[int]
    state: str = ""


class GeneratorPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One generator: its clients, then how it publishes.

    `window` publications are in flight at most; with a `rate` they leave at that many a second instead. `batch`
    events go out together where `publishing` knows batches. The last `aside` clients are no part of the matching.
    """

    target: Target
    shape: WorkloadShape = WorkloadShape()
    publishing: Publishing = "none"
    publishers: int = 32
    batch: int = 1
    window: int = 256
    rate: float = 0.0
    warmup_s: float = 1.0
    handshakes: int = 64
    aside: int = 0


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """All clients are connected and their subscriptions confirmed. `server_cpu_s`: what that cost."""

    clients: int
    seconds: float
    server_cpu_s: float


class Go(msgspec.Struct, frozen=True, kw_only=True):
    """Run once. `stop_reading`: the clients aside read no more from the beginning of the measured time on.

    `burst_every_s`: publish on the topic `star0` as well. `spoken`: do not publish; match these publications on topic 0.
    `samples`: answer with each single latency.
    """

    seconds: float = 5.0
    stop_reading: bool = False
    burst_every_s: float = 0.0
    spoken: list[int] | None = None
    samples: bool = False


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """One run. Rates and CPU are those of the measured time, `audit` is of the whole run.

    `server_cpu_s`: per process of the target. `refused`: publications the server did not accept. `closed`: clients whose
    connection ended, by close number (0: without one). `bursts`: (publication, microseconds). `samples`: (due, latency).
    """

    seconds: float
    published: int
    delivered: int
    audit: Audit
    refused: int
    stalls: int
    closed: dict[int, int]
    p50_ms: float
    p99_ms: float
    max_ms: float
    server_cpu_s: list[float]
    generator_cpu_s: float
    bursts: list[tuple[int, int]] = []
    samples: list[tuple[int, int]] = []

    @property
    def deliveries_per_s(self) -> float:
        return self.delivered / self.seconds

    @property
    def publications_per_s(self) -> float:
        return self.published / self.seconds

    @property
    def cpu_s_per_100k(self) -> float:
        """The unit: CPU seconds of the server per 100 000 deliveries."""
        return sum(self.server_cpu_s) / max(self.delivered, 1) * 100_000
