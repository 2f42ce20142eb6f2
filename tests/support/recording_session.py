"""A session without a socket, for tests of what an access point decides."""

import json
from collections.abc import Callable
from typing import Any

from websockets.client import ClientProtocol
from websockets.frames import Frame
from websockets.protocol import OPEN
from websockets.uri import parse_uri

from accesspoint.core import AccessPointCore
from accesspoint.session import Session
from infra.kernel.errors import Refused


def never(step: Callable[[], None]) -> None:
    """Lets the next turn of the loop, in which `step` would be called, never come."""


class RecordingSession(Session):
    """A session of `core`.

    - `ending`: the name of the code that it was closed with, and the hint.
    - `let_in_count`: how often it was told to read on, after it had to wait.
    """

    def __init__(self, core: AccessPointCore, now_s: float = 0.0) -> None:
        super().__init__(now_s)
        self.core = core
        self.written = b""
        self.pings = self.let_in_count = 0
        self.ending: tuple[str, int | None] | None = None
        core.join(self)

    def write(self, data: bytes) -> None:
        self.written += data

    def ping(self) -> None:
        self.pings += 1

    def let_in(self) -> None:
        self.let_in_count += 1

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        self.ending = refused.code.name, reconnect_in_ms
        self.core.leave(self, refused.code.name)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """All that was said, as an independent client understands it."""
        client = ClientProtocol(parse_uri("ws://localhost/"), state=OPEN)
        client.receive_data(self.written)
        return [json.loads(bytes(frame.data)) for frame in client.events_received() if isinstance(frame, Frame)]

    def tell(self, now_s: float = 0.0, **message: Any) -> dict[str, Any] | None:
        """Gives the core one message; returns the first answer to it, if there is one by now."""
        return self.tell_text(json.dumps(message).encode(), now_s)

    def tell_text(self, text: bytes, now_s: float = 0.0) -> dict[str, Any] | None:
        """Does the same with the text as it is."""
        before = len(self.messages)
        self.core.receive(self, text, now_s, now_s)
        return next(iter(self.messages[before:]), None)
