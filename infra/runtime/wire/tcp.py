"""Wires over TCP: length-prefixed frames, one write per `send`. With certificates (`LinkTls`) they are encrypted by TLS."""

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, cast

from infra.kernel.codec import MAX_FRAME_BYTES, MAX_HELLO_BYTES, FrameDecoder, encode
from infra.kernel.errors import Refused
from infra.kernel.frames import Frame
from infra.kernel.places import NOWHERE, HeldPlace

from ..acceptor import Acceptor, bound_sockets
from ..address import Address
from ..entrance import Entrance
from ..http.half_close import half_close
from ..link_auth import HANDSHAKE_S, LinkAuth
from ..network_reason import network_reason
from ..tls.securing import secured
from .wire import OnFrames, OnLost, Wire, WireEnd, bye, say_bye

# How many callers may wait in the kernel.
BACKLOG: Final = 256
# So long the peer has to read what was sent before the close.
GOODBYE_S: Final = 2.0


class TcpWire(asyncio.Protocol):
    """One end of a TCP connection. Bytes that are no frames end it, with a `Bye` and a reason for the log."""

    def __init__(self, on_wire: Callable[[Wire], None] | None = None, place: HeldPlace = NOWHERE) -> None:
        """Makes one end.

        `on_wire` takes the wire of a caller, who has a `place` for strangers. It is not known yet who that is, so frames must be small
        until `trust` is called, and the place is theirs until then.
        """
        self.far_end = WireEnd()
        self._on_wire, self._place = on_wire, place
        self._decoder = FrameDecoder(MAX_FRAME_BYTES if on_wire is None else MAX_HELLO_BYTES)
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
        self.far_end = WireEnd(names=_names_of(transport))
        if self._on_wire is not None:
            self._on_wire(self)

    def trust(self) -> None:
        """See `Wire`."""
        self._decoder.max_frame_bytes = MAX_FRAME_BYTES
        self._place.give_back()

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
            say_bye(self, refused)
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
        self._place.give_back()
        if self._deadline is not None:
            self._deadline.cancel()
        self._reason = self._reason or ("closed" if exc is None else network_reason(exc))
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
    """A listening socket; with certificates each connection has a TLS handshake before it is a wire."""

    def __init__(self, server: Acceptor) -> None:
        self._server = server
        self.address = str(Address(*server.sockets[0].getsockname()[:2]))

    async def close(self) -> None:
        """See `Listener`."""
        await asyncio.sleep(0)  # a wire that was handed out in this turn stands: its handshake shall not be cut
        self._server.close()


class TcpNetwork:
    """The real network. Addresses are "host:port".

    - `reuse_port`: ports may be taken that another process of ours holds open.
    - `auth`: how links are proved, which may be by certificates: then wires are encrypted.
    - `failures` counts the times at which a port could accept nobody (see `Acceptor`).
    """

    def __init__(self, reuse_port: bool = False, auth: LinkAuth | None = None, failures: Counter[str] | None = None) -> None:
        self._reuse_port, self._auth = reuse_port, auth or LinkAuth()
        self._failures = Counter[str]() if failures is None else failures

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> TcpListener:
        """See `Network`."""
        where = Address.parse(address)
        sockets = await bound_sockets(where, reuse_port=self._reuse_port)
        handshakes, log = self._auth.handshakes(), self._auth.log
        entrance = Entrance(places=self._auth.places(), make=partial(TcpWire, on_wire), refusal=_bye)
        return TcpListener(Acceptor(sockets, entrance, backlog=BACKLOG, failures=self._failures, log=log, handshakes=handshakes))

    async def dial(self, address: str) -> TcpWire:
        """See `Network`."""
        host, port = Address.parse(address)
        loop = asyncio.get_running_loop()
        context = self._auth.tls.client if self._auth.tls is not None else None
        # Names are looked up here: inside of create_connection uvloop forgets a look-up that is given up, and complains when it fails.
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for family, *_, (ip, *_) in found[:-1]:
            with suppress(OSError):
                return await _connected(family, str(ip), port, context)
        family, *_, (ip, *_) = found[-1]
        return await _connected(family, str(ip), port, context)


async def _connected(family: int, ip: str, port: int, context: ssl.SSLContext | None) -> TcpWire:
    loop = asyncio.get_running_loop()
    if context is None:
        _, wire = await loop.create_connection(TcpWire, ip, port)
        return wire
    with socket.socket(family) as sock:  # closing it does nothing once the connection has taken it over
        sock.setblocking(False)
        await loop.sock_connect(sock, (ip, port))
        return await secured(sock, context, TcpWire, timeout_s=HANDSHAKE_S)


def _bye(refused: Refused) -> bytes:
    return encode(bye(refused))


def _names_of(transport: asyncio.Transport) -> frozenset[str]:
    """Returns the URIs in the certificate that the peer has proved; none without TLS."""
    certificate = transport.get_extra_info("peercert") or {}
    return frozenset(name for kind, name in certificate.get("subjectAltName", ()) if kind == "URI")
