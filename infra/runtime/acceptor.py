"""The accepting side of every listening socket of ours, doors and links, with TLS or without.

asyncio can listen by itself, but accepts as many in one turn of the loop as wait, lets any number of TLS handshakes wait, and tells
nobody of one that failed. Here sockets are accepted by hand, so many in a turn. Each is brought to its protocol by `_open`, and nowhere
else.
"""

import asyncio
import errno
import os
import socket
from collections import Counter
from collections.abc import Sequence
from typing import Final

from .address import Address
from .logs import Logger
from .tls_handshakes import ProtocolFactory, TlsHandshakes

# How many sockets are taken in one turn of the loop: connections that stand, and handshakes that are under way, get their turns, too.
ACCEPTED_AT_ONCE: Final = 16
# How long accepting rests when the machine has no descriptors or memory left.
REST_S: Final = 1.0


class Acceptor:
    """Listening sockets whose connections get a protocol of `factory`. It looks like an `asyncio.Server`.

    - `backlog`: how many connections may wait in the kernel.
    - `failures` counts the times at which no connection could be accepted, by the name of the error (`errno`).
    - `handshakes`: the TLS that comes before the protocol; None at a door in plain.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        factory: ProtocolFactory,
        *,
        backlog: int,
        failures: Counter[str],
        log: Logger,
        handshakes: TlsHandshakes | None = None,
    ) -> None:
        self.sockets = tuple(sockets)
        self._loop = asyncio.get_running_loop()
        self._factory, self._handshakes = factory, handshakes
        self._failures, self._log = failures, log
        self._opening: set[asyncio.Task[None]] = set()
        for sock in self.sockets:
            sock.setblocking(False)
            sock.listen(backlog)
            self._loop.add_reader(sock, self._accept, sock)

    def close(self) -> None:
        """Stops accepting, and cuts those who have no protocol yet. Connections that stand are not touched. May be called twice."""
        for sock in self.sockets:
            if sock.fileno() >= 0:
                self._loop.remove_reader(sock)
                sock.close()
        for task in self._opening:
            task.cancel()

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                sock, peer = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptors or memory are left, as a rule; whoever waits is accepted later
                self._rest(listening, error)
                return
            self._begin(sock, str(peer[0]))

    def _rest(self, listening: socket.socket, error: OSError) -> None:
        name = errno.errorcode.get(error.errno or 0, "other")
        self._failures[name] += 1
        self._log.error("cannot accept connections", reason=os.strerror(error.errno or 0), code=name, again_in_s=REST_S)
        self._loop.remove_reader(listening)
        self._loop.call_later(REST_S, self._resume, listening)

    def _resume(self, listening: socket.socket) -> None:
        if listening.fileno() >= 0:
            self._loop.add_reader(listening, self._accept, listening)

    def _begin(self, sock: socket.socket, host: str) -> None:
        if self._handshakes is not None and not self._handshakes.has_room(len(self._opening)):
            sock.close()
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._welcome(sock, host))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _welcome(self, sock: socket.socket, host: str) -> None:
        try:
            await self._open(sock, host)
        except asyncio.CancelledError:
            sock.close()
            raise
        except Exception:
            self._log.exception("a connection could not be accepted")
            sock.close()

    async def _open(self, sock: socket.socket, host: str) -> None:
        """Brings the connection of `sock`, which comes from `host`, to its protocol."""
        if self._handshakes is not None:
            await self._handshakes.open(sock, host, self._factory)
        else:
            await self._loop.connect_accepted_socket(self._factory, sock)


async def bound_sockets(address: Address, *, reuse_port: bool = False) -> list[socket.socket]:
    """Returns a socket for each address that `address` stands for. Raises OSError, and leaves none open then.

    `reuse_port`: a port may be taken that another process of ours holds open.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(*address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets: list[socket.socket] = []
    try:
        for family, sockaddr in dict.fromkeys((family, sockaddr) for family, _, _, _, sockaddr in found):
            sockets.append(socket.create_server(sockaddr[:2], family=family, reuse_port=reuse_port))
    except BaseException:
        for sock in sockets:
            sock.close()
        raise
    return sockets
