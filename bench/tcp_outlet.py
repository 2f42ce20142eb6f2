"""Publishing over raw TCP in the peer's own protocol. There are no responses; the backpressure is the socket's."""

import asyncio
from collections.abc import Sequence
from typing import cast

from .outlets import Outlets


class TcpOutlet(asyncio.Protocol):
    """An outlet that is free for as long as the socket takes what is written. `greeting` is what it says first."""

    def __init__(self, outlets: Outlets, greeting: bytes) -> None:
        self._outlets, self._greeting = outlets, greeting
        self._transport: asyncio.Transport | None = None
        self._is_full = self._is_waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Logs in (asyncio)."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._greeting)
        self._outlets.freed(self)

    def send(self, topics: Sequence[int], payloads: Sequence[bytes]) -> None:
        """Writes events (see `PublisherOutlet`)."""
        if self._transport is not None:
            self._transport.write(b"".join(self._outlets.events(topics, payloads)))
        if self._is_full:
            self._is_waiting = True
        else:
            self._outlets.freed(self)

    def data_received(self, data: bytes) -> None:
        """Answers a ping, and counts an error as refused (asyncio)."""
        if b"-ERR" in data:
            self._outlets.refuse(1, data[:200].decode("latin-1"))
        elif data.endswith(b"PING\r\n") and self._transport is not None:
            self._transport.write(b"PONG\r\n")

    def pause_writing(self) -> None:
        """Notes that the buffers are full (asyncio)."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Notes that there is room again (asyncio)."""
        self._is_full = False
        if self._is_waiting:
            self._is_waiting = False
            self._outlets.freed(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts the lost connection as one refused publication (asyncio)."""
        self._transport = None
        self._outlets.refuse(1, f"a publisher was disconnected: {exc}")
