"""What a client tells about itself."""

from dataclasses import dataclass
from enum import StrEnum

from segue.sdk.messages import Installed


class Phase(StrEnum):
    """Where a client is between its start and its end."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One step of a client's life.

    CONNECTING to `url`; CONNECTED to `site`, its topics subscribed as far as `installed` says (None: not known); WAITING
    `retry_in_s` before the next try, because of `reason`; CLOSED because of `reason` (empty: by the application).
    """

    phase: Phase
    url: str
    site: str = ""
    installed: Installed | None = None
    reason: str = ""
    retry_in_s: float = 0.0
