"""A connection that got no place at a door."""

from asyncio import BaseTransport, Protocol, Transport
from typing import cast

from infra.kernel.errors import Refused
from infra.kernel.http_error import JSON, http_error
from infra.kernel.http_patience import Awaited, Waiting

from .half_close import half_close
from .web_door import WebDoor


class TurnedAway(Protocol):
    """A connection that is told why it is `refused`, and closed. What it sends is thrown away; no parser is made for it."""

    __slots__ = ("_door", "_refused", "_transport", "_waiting")

    def __init__(self, door: WebDoor, refused: Refused, now_s: float) -> None:
        self._door, self._refused = door, refused
        self._waiting = Waiting(now_s)
        self._transport: Transport | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Answers and closes our half: a full close could make the client lose the answer (RFC 9112 9.6)."""
        self._transport = transport = cast(Transport, transport)
        if not self._door.turn_away(self):
            transport.abort()
            return
        transport.write(closing_answer(self._refused))
        half_close(transport)

    def eof_received(self) -> bool:
        """Ends the connection: the client has read the answer, or does not want it."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._transport = None
        self._door.forget(self)

    def sweep(self, now_s: float) -> None:
        """See `SweptConnection`."""
        if self._waiting.is_over(Awaited.END, self._door.patience, now_s):
            self.abort()

    def abort(self) -> None:
        """See `SweptConnection`."""
        if self._transport is not None:
            self._transport.abort()


def closing_answer(refused: Refused) -> bytes:
    """Returns the bytes of an answer that says what was `refused`, and ends its connection."""
    status, headers, body = http_error(refused)
    fixed = (("Content-Type", JSON), ("Content-Length", str(len(body))), ("Connection", "close"))
    lines = [f"HTTP/1.1 {status} {refused.code.name}", *(f"{name}: {value}" for name, value in (*headers, *fixed))]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
