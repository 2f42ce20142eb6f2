"""Wires over TCP: length-prefixed frames, one write per `send`."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import cast

from infra.kernel.codec import MAX_FRAME_BYTES, FrameDecoder, encode
from infra.kernel.errors import Refused
from infra.kernel.frames import Bye, Frame

from ..address import Address
from ..http.half_close import half_close
from .wire import OnFrames, OnLost, Wire

# So long the peer has to read what was sent before the close.
GOODBYE_S = 2.0


class TcpWire(asyncio.Protocol):
    """One end of a TCP connection. Bytes that are no frames end it, with a `Bye` and a reason for the log."""

    def __init__(self, on_wire: Callable[[Wire], None] | None = None, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._on_wire = on_wire
        self._decoder = FrameDecoder(max_frame_bytes)
        self._transport: asyncio.Transport | None = None
        self._on_frames: OnFrames | None = None
        self._on_lost: OnLost | None = None
        self._early: list[bytes] | None = []
        self._is_closed = False
        self._deadline: asyncio.TimerHandle | None = None
        self._reason = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Takes the connection, which stands (see `asyncio.Protocol`)."""
        transport = cast(asyncio.Transport, transport)  # uvloop has transports of its own
        self._transport = transport
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._on_wire is not None:
            self._on_wire(self)

    def start(self, on_frames: OnFrames, on_lost: OnLost) -> None:
        """See `Wire`."""
        self._on_frames, self._on_lost = on_frames, on_lost
        asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        early, self._early = self._early, None
        for data in early or ():
            self.data_received(data)
        if self._transport is None:
            self._tell_lost()

    def data_received(self, data: bytes) -> None:
        """Takes bytes from the peer (see `asyncio.Protocol`)."""
        if self._early is not None:
            self._early.append(data)
            return
        if self._is_closed or self._on_frames is None:
            return
        try:
            frames = self._decoder.feed(data)
        except Refused as refused:
            self._reason = str(refused)
            self.send([Bye(refused.code.number, refused.reason)])
            self.close()
            self._tell_lost()
            return
        if frames:
            self._on_frames(frames)

    def send(self, frames: Sequence[Frame]) -> None:
        """See `Wire`."""
        if self._transport is not None and not self._is_closed and not self._transport.is_closing():
            self._transport.write(b"".join(map(encode, frames)))

    def close(self) -> None:
        """See `Wire`."""
        # The socket is only half closed, and its input is thrown away until the peer closes too. A peer that is still sending would
        # otherwise be reset, and would lose what is on its way to it.
        if self._transport is not None and not self._is_closed and not self._transport.is_closing():
            half_close(self._transport)
            self._deadline = asyncio.get_running_loop().call_later(GOODBYE_S, self._transport.abort)
        self._is_closed = True

    def abort(self) -> None:
        """See `Wire`."""
        self._is_closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notes that the connection is gone (see `asyncio.Protocol`)."""
        self._transport = None
        if self._deadline is not None:
            self._deadline.cancel()
        self._reason = self._reason or str(exc or "closed")
        if self._early is None:
            self._tell_lost()

    def _tell_lost(self) -> None:
        if self._on_lost is not None:
            on_lost, self._on_lost = self._on_lost, None
            on_lost(self._reason)

    @property
    def queued_bytes(self) -> int:
        """See `Wire`."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0


class TcpListener:
    """A listening socket."""

    def __init__(self, server: asyncio.Server) -> None:
        self._server = server
        self.address = str(Address(*server.sockets[0].getsockname()[:2]))

    async def close(self) -> None:
        """See `Listener`."""
        self._server.close()


class TcpNetwork:
    """The real network. Addresses are "host:port". `reuse_port`: ports may be taken that another process of ours holds open."""

    def __init__(self, reuse_port: bool = False) -> None:
        self._reuse_port = reuse_port

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> TcpListener:
        """See `Network`."""
        host, port = Address.parse(address)
        loop = asyncio.get_running_loop()
        return TcpListener(await loop.create_server(lambda: TcpWire(on_wire), host, port, reuse_port=self._reuse_port or None))

    async def dial(self, address: str) -> TcpWire:
        """See `Network`."""
        host, port = Address.parse(address)
        loop = asyncio.get_running_loop()
        # Names are looked up here: inside of create_connection uvloop forgets a look-up that is given up, and complains when it fails.
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for *_, (ip, *_) in found[:-1]:
            with suppress(OSError):
                return await _connected(ip, port)
        return await _connected(found[-1][-1][0], port)


async def _connected(ip: str | int, port: int) -> TcpWire:
    _, wire = await asyncio.get_running_loop().create_connection(TcpWire, str(ip), port)
    return wire
