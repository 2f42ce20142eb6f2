"""The states of a client, as it tells them."""

from dataclasses import dataclass
from enum import StrEnum

from segue.sdk.messages import Installed


class Phase(StrEnum):
    """A phase of a client's life."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    WAITING = "waiting"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One step of a client's life.

    - CONNECTING to `url`.
    - CONNECTED to `site` at `url`; its topics are subscribed as far as `installed` says (None: that is not known).
    - WAITING `retry_in_s` before the next try, at `url`, because of `reason`.
    - CLOSED because of `reason`; it is empty where the application has closed the client.
    """

    phase: Phase
    url: str
    site: str = ""
    installed: Installed | None = None
    reason: str = ""
    retry_in_s: float = 0.0
