"""The bounds of all connections of one HTTP door of the engine."""

from dataclasses import dataclass, field

from infra.kernel.places import VisitorLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """The bounds of all connections. Times are exact to one `sweep_interval_s`.

    - `max_connections`: more are turned away. A WebSocket no longer counts.
    - `max_unanswered`: requests of one connection that wait for their answers.
    - `head_timeout_s`: from the first byte of a request (or the connection) to the end of its head, and between two pieces of its body.
    - `body_timeout_s`: for all of a body, unless it is a stream.
    - `idle_timeout_s`: between two requests, and for a client that does not read its answers.
    - `visitors`: how many may come from where.
    """

    max_connections: int = 10_000
    max_head_bytes: int = 8192
    max_unanswered: int = 256
    head_timeout_s: float = 10.0
    body_timeout_s: float = 60.0
    idle_timeout_s: float = 75.0
    sweep_interval_s: float = 1.0
    visitors: VisitorLimits = field(default_factory=VisitorLimits)
