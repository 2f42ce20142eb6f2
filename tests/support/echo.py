"""A protocol that says back what it hears."""

import asyncio
from typing import cast

from infra.runtime.http.half_close import half_close


class Echo(asyncio.Protocol):
    """A connection that says back what it hears, and a goodbye to "bye"."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Takes the connection."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Answers."""
        if data.startswith(b"bye"):
            self._is_over = True
            self._transport.write(b"goodbye")
            half_close(self._transport)
        elif not self._is_over:
            self._transport.write(data)
