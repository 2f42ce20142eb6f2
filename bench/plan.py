"""The messages to and from a generator process: lines of JSON on its standard input and output."""

from typing import Literal

import msgspec

from .delivery_ledger import Audit
from .shape import WorkloadShape

Speaks = Literal["segue", "nats", "mosquitto", "naive"]
# How a generator publishes. none: it only listens. link: it plays the aggregator of an access point. tcp: it speaks the peer's own
# protocol, without acknowledgement. The others are HTTP: one event in a request, an array of events, or lines of them.
Publishing = Literal["none", "single", "array", "ndjson", "tcp", "link"]


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A running server. Addresses are host:port.

    - `speaks`: its dialect.
    - `clients_at`, `publish_at`, `admin_at`: where clients, publishers and the admin connect.
    - `pids`: all its processes.
    - `state`: the folder with the secret of tokens.
    - `ca_file`: whom clients believe; they speak TLS then.
    """

    speaks: Speaks
    clients_at: str
    publish_at: str = ""
    admin_at: str = ""
    pids: list[int]
    state: str = ""
    ca_file: str = ""


class GeneratorPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of one generator: its clients, then how it publishes.

    - `target`: the server.
    - `shape`: the parameters of the workload.
    - `publishing`, `publishers`: how it publishes, and on how many connections.
    - `batch`: events that go out together, where `publishing` knows batches.
    - `window`: publications in flight at most (closed loop).
    - `rate`: publications a second; with one, the window does not count (open loop).
    - `warmup_s`: time before anything is measured.
    - `handshakes`: clients that connect at the same time.
    - `aside`: the last so many clients are no part of the matching.
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
    """The message that all clients are connected and their subscriptions confirmed. `server_cpu_s` is what that cost."""

    clients: int
    seconds: float
    server_cpu_s: float


class Go(msgspec.Struct, frozen=True, kw_only=True):
    """The order to run once.

    - `seconds`: the measured time.
    - `stop_reading`: the clients aside read no more from the beginning of the measured time on.
    - `burst_every_s`: publish on the topic `star0` as well, once in so many seconds; 0 for never.
    - `spoken`: do not publish, but match these publications on topic 0.
    - `samples`: put each single latency into the result.
    """

    seconds: float = 5.0
    stop_reading: bool = False
    burst_every_s: float = 0.0
    spoken: list[int] | None = None
    samples: bool = False


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run. Rates and CPU are those of the measured time; `audit` is of the whole run.

    - `published`, `delivered`: publications and deliveries within `seconds`.
    - `refused`: publications that the server did not accept.
    - `stalls`: how often no delivery came for so long that the loop went on without them.
    - `closed`: clients whose connection ended, by close number (0: without one).
    - `server_cpu_s`: CPU seconds of each process of the target.
    - `bursts`: the number of each publication on the star's topic, and when it was due (microseconds).
    - `samples`: when each delivery was due, and its latency (microseconds).
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
