"""Times and bounds of `segue.Client`. Every default is here."""

import ssl
from dataclasses import dataclass, field

from infra.kernel.backoff import Backoff
from segue.sdk.errors import Misuse
from segue.sdk.trust import CaFile, check_trust


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """The options of a client. Raises Misuse when a value cannot work.

    - `open_timeout_s`: how long `async with Client(...)` tries before it gives up.
    - `answer_timeout_s`: how long one access point may take from the first packet to its welcome.
    - `heartbeat_s`: a connection is dead when nothing was heard on it for so long, not even the answer to a ping.
    - `stable_s`: a session that lasted so long resets the backoff.
    - `inbox_bytes`: the most that waits for the application, in bytes of events. Beyond it the socket is not read.
    - `inbox_items`: the most notifications that wait for the application. Others are pulled later.
    - `seen_by_hand`: notifications are seen when the application calls `Client.seen`, not as soon as it takes them.
    - `seen_every_s`: the seen mark is told at most once in so long.
    - `hello_pull_s`: how long the access point may take for the pull that it makes at hello. Then the client makes it itself.
    - `positions_every_s`: the positions in a `position_file` are saved at most once in so long.
    - `refresh_at`: which part of its life a token has had when the client brings another one, if it was given a function.
    - `max_frame_bytes`: the largest message that is read. A larger one ends the connection.
    - `ca_file`: the authorities that are believed at wss addresses, as PEM; None: those that this machine trusts.
    - `tls`: a context for wss addresses, instead.
    - `backoff`: the delays between tries.
    """

    open_timeout_s: float = 30.0
    answer_timeout_s: float = 10.0
    heartbeat_s: float = 15.0
    stable_s: float = 5.0
    inbox_bytes: int = 1 << 20
    inbox_items: int = 256
    seen_by_hand: bool = False
    seen_every_s: float = 1.0
    hello_pull_s: float = 5.0
    positions_every_s: float = 1.0
    refresh_at: float = 0.8
    max_frame_bytes: int = 1 << 20
    ca_file: CaFile = None
    tls: ssl.SSLContext | None = None
    backoff: Backoff = field(default_factory=Backoff)

    def __post_init__(self) -> None:
        check_trust(self.ca_file, self.tls)
        if not 0 < self.refresh_at < 1:
            raise Misuse(f"refresh_at must lie between 0 and 1, got {self.refresh_at!r}")
        for name in (
            "open_timeout_s",
            "answer_timeout_s",
            "heartbeat_s",
            "inbox_bytes",
            "inbox_items",
            "max_frame_bytes",
            "positions_every_s",
        ):
            if not getattr(self, name) > 0:
                raise Misuse(f"{name} must be more than 0, got {getattr(self, name)!r}")
