"""Publishing over HTTP: keep-alive connections, each with one request at a time."""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Final, cast

from .outlets import Outlets

# By name: the content type of a request, and how its events are joined.
BODIES: Final[dict[str, tuple[str, Callable[[list[bytes]], bytes]]]] = {
    "single": ("application/json", b"".join),
    "array": ("application/json", lambda events: b"[" + b",".join(events) + b"]"),
    "ndjson": ("application/x-ndjson", b"\n".join),
}
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_REJECTED: Final = b'"rejected":[{'


class HttpOutlet(asyncio.Protocol):
    """An outlet that posts events.

    - `outlets`: the outlets that it belongs to.
    - `head`: the request line and the headers up to Content-Length.
    - `join`: makes a body out of events.
    """

    def __init__(self, outlets: Outlets, head: bytes, join: Callable[[list[bytes]], bytes]) -> None:
        self._outlets, self._head, self._join = outlets, head, join
        self._transport: asyncio.Transport | None = None
        self._sent = 0
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Notes that the connection is ready for the first request (asyncio)."""
        self._transport = cast(asyncio.Transport, transport)
        self._outlets.freed(self)

    def send(self, topics: Sequence[int], payloads: Sequence[bytes]) -> None:
        """Sends one request (see `PublisherOutlet`). The outlet is free again when the response has come."""
        body = self._join(self._outlets.events(topics, payloads))
        self._sent = len(topics)
        if self._transport is not None:
            self._transport.write(b"%bContent-Length: %d\r\n\r\n%b" % (self._head, len(body), body))

    def data_received(self, data: bytes) -> None:
        """Takes a response or a part of one (asyncio)."""
        data = self._rest + data
        head, separator, body = data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not separator or (length and len(body) < int(length[1])):
            self._rest = data
            return
        self._rest = b""
        # `HTTP/1.1 200`: the tenth byte is the first digit of the status.
        if head[9:10] != b"2":
            self._outlets.refuse(self._sent, (head[:30] + body[:200]).decode("latin-1"))
        elif _REJECTED in body:
            self._outlets.refuse(body.count(b'"index"'), body[:200].decode("latin-1"))
        self._sent = 0
        self._outlets.freed(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts the events of the open request as refused (asyncio)."""
        self._transport = None
        if self._sent:
            self._outlets.refuse(self._sent, f"a publisher was disconnected: {exc}")
