"""Session: one client connection, from its handshake to its end. Pure; whoever has the socket subclasses it."""

from enum import Enum
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.websocket import text_frame

from . import messages
from .hub import Member


class SessionState(Enum):
    """new --hello--> ready --fatal code, close or loss--> ended; new --anything else--> ended."""

    NEW = "new"
    READY = "ready"
    ENDED = "ended"


# Which messages make sense when, and the code that answers the others. Executed by `AccessPointCore.receive`.
EXPECTED: Final[dict[SessionState, tuple[frozenset[type], str]]] = {
    SessionState.NEW: (frozenset({messages.HelloMessage}), "hello-first"),
    SessionState.READY: (
        frozenset(
            {
                messages.SubscribeMessage,
                messages.UnsubscribeMessage,
                messages.ActMessage,
                messages.LastMessage,
                messages.PullMessage,
                messages.SeenMessage,
                messages.ReadMessage,
                messages.HistoryMessage,
                messages.PingMessage,
            }
        ),
        "hello-again",
    ),
    SessionState.ENDED: (frozenset(), "going-away"),
}


class Session(Member):
    """One client, as the access point knows it.

    - `user`, `client`, `mobile`, `id`: known from its hello on.
    - `heard_s`: when it last said anything; `pinged`: whether it was asked for a sign of life since.
    - `said`: how many messages came in the `second` of the last one.
    """

    __slots__ = ("client", "heard_s", "id", "mobile", "pinged", "said", "second", "state", "user")

    def __init__(self, now_s: float) -> None:
        super().__init__()
        self.state = SessionState.NEW
        self.id = ""
        self.user = ""
        self.client = ""
        self.mobile = False
        self.heard_s = now_s
        self.pinged = False
        self.second = 0
        self.said = 0

    def say(self, message: bytes) -> None:
        """Sends one message."""
        self.write(text_frame(message))

    def expect(self, message: messages.ClientMessage) -> None:
        """Raises `Refused` unless `message` makes sense in this state."""
        allowed, code = EXPECTED[self.state]
        if type(message) not in allowed:
            raise Refused(code)

    def count(self, now_s: float, limit: int) -> bool:
        """Counts a message at `now_s`; tells whether it is within `limit` messages in the same second."""
        second = int(now_s)
        if second != self.second:
            self.second, self.said = second, 0
        self.said += 1
        return self.said <= limit

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        """Tells the client why, and closes; `reconnect_in_ms` says when to come back."""
        raise TypeError(f"{type(self).__name__} must say how it ends")

    def ping(self) -> None:
        """Asks for a sign of life."""
        raise TypeError(f"{type(self).__name__} must say how it pings")
