"""One client: a WebSocket connection that subscribes, and then notes what arrives and when."""

import asyncio
from typing import TYPE_CHECKING, cast

from .clock import now_us
from .dialects.dialect import DialectError
from .frames import CLOSE, PING, PONG, masked, split, whole
from .stamp import find

if TYPE_CHECKING:
    from .clients import Clients


class BenchClient(asyncio.BufferedProtocol):
    """Client `number` of `clients`. `hello` is everything that it will say.

    All clients share one read buffer, because each read is used up before the next one.
    """

    __slots__ = ("_clients", "_hello", "_is_open", "_rest", "close_number", "is_ready", "number", "transport")

    def __init__(self, clients: "Clients", number: int, hello: bytes) -> None:
        self.number = number
        self.is_ready = False
        self.close_number = 0
        self.transport: asyncio.Transport | None = None
        self._clients = clients
        self._hello = hello
        self._is_open = False
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asks for the upgrade (asyncio)."""
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._clients.upgrade)

    def get_buffer(self, sizehint: int) -> bytearray:
        """Returns the buffer to read into (asyncio)."""
        return self._clients.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Takes `nbytes` bytes that were read (asyncio). The hot path is whole data frames of a client that is ready."""
        buffer, end = self._clients.buffer, 0
        if self.is_ready and not self._rest:
            end = whole(buffer, nbytes)
            if end:
                self._note(find(buffer, 0, end))
        if end < nbytes:
            self._read(self._rest + buffer[end:nbytes])

    def _note(self, stamps: list[bytes]) -> None:
        clients = self._clients
        if stamps and self.number < clients.matched:
            # The loop empties `arrivals` in one go, so only the first entry has to wake it.
            if not clients.arrivals:
                clients.wake()
            clients.arrivals.append((self.number, now_us(), stamps))

    def _read(self, data: bytes) -> None:
        """Reads everything else: the handshake, responses, control frames, frames in pieces."""
        if not self._is_open:
            head, separator, data = data.partition(b"\r\n\r\n")
            if not separator:
                self._rest = head
                return
            self._opened(head)
        done = whole(data, len(data)) if self.is_ready else 0
        if done:
            self._note(find(data, 0, done))
        end = done
        for opcode, payload, stop in split(data[done:]):
            self._take(opcode, payload)
            end = done + stop
        self._rest = bytes(data[end:])

    def _opened(self, head: bytes) -> None:
        if not head.startswith(b"HTTP/1.1 101"):
            self._clients.fail(DialectError(head[:200].decode("latin-1")))
        self._is_open = True
        self._write(self._hello)
        self._hello = b""

    def _take(self, opcode: int, payload: bytes) -> None:
        dialect = self._clients.dialect
        if opcode == CLOSE:
            self.close_number = int.from_bytes(payload[:2])
        elif opcode == PING:
            self._write(masked(PONG, payload))
        elif self.is_ready:
            self._note(find(payload, 0, len(payload)))
        else:
            self._confirm(payload)
        if answer := dialect.answer(payload):
            self._write(masked(dialect.opcode, answer))

    def _confirm(self, message: bytes) -> None:
        try:
            self.is_ready = self._clients.dialect.confirms(message)
        except DialectError as trouble:
            self._clients.fail(trouble)
        if self.is_ready:
            self._clients.confirmed()

    def _write(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)

    def eof_received(self) -> bool:
        """Lets the connection close when the server has nothing more to say (asyncio)."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells `clients` that the connection is gone (asyncio)."""
        self.transport = None
        self._clients.lost(self)
