"""Both ends of a connection of TLS within one process, and a protocol that notes what becomes of its end."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from infra.runtime.tls.contexts import ServerTls
from infra.runtime.tls.securing import secured
from infra.runtime.tls.transport import TlsTransport
from tests.support.tls_files import TestAuthority

DEADLINE_S = 20.0


class Noted(asyncio.Protocol):
    """One end. `says_more`: it has still something to say when its peer has ended."""

    def __init__(self, says_more: bool = False) -> None:
        self.transport: TlsTransport
        self.pieces: list[bytes] = []
        self.told: list[str] = []
        self.lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._says_more = says_more

    @property
    def heard(self) -> bytes:
        """Everything that came."""
        return b"".join(self.pieces)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Notes the transport."""
        self.transport = cast(TlsTransport, transport)

    def data_received(self, data: bytes) -> None:
        """Notes what came."""
        self.pieces.append(data)

    def eof_received(self) -> bool:
        """Notes that the peer says nothing more."""
        self.told.append("ended")
        return self._says_more

    def pause_writing(self) -> None:
        """Notes that too much waits."""
        self.told.append("pause")

    def resume_writing(self) -> None:
        """Notes that little waits again."""
        self.told.append("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        """Notes the end."""
        self.lost.set_result(exc)


def sockets() -> tuple[socket.socket, socket.socket]:
    """Returns both ends of a connection within this process, which do not block."""
    ours, theirs = socket.socketpair()
    for sock in (ours, theirs):
        sock.setblocking(False)
    return ours, theirs


async def secured_pair(folder: Path, make: Callable[[], Any] = Noted) -> tuple[Any, Noted]:
    """Returns the ends of a connection: one that was called, which `make` makes, and its peer, which has called."""
    tls = ServerTls(TestAuthority(folder).options())
    ours, theirs = sockets()
    called = secured(ours, tls.context, make, timeout_s=DEADLINE_S, is_called=True)
    return await asyncio.gather(called, secured(theirs, tls.own_context(), Noted, timeout_s=DEADLINE_S))
