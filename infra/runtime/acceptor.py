"""The accepting side of every listening socket of ours, doors and links, with TLS or without.

asyncio can listen by itself, but accepts as many in one turn of the loop as wait, lets any number of TLS handshakes wait, and tells
nobody of one that failed. Here sockets are accepted by hand, so many in a turn. Who has no place goes. All others are brought to their
protocol by `_open`, and nowhere else.
"""

import asyncio
import errno
import os
import socket
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.places import HeldPlace

from .address import Address
from .entrance import Entrance
from .logs import Logger
from .tls.handshakes import TlsHandshakes
from .turned_away import TurnedAway

# How many sockets are taken in one turn of the loop: connections that stand, and handshakes that are under way, get their turns, too.
ACCEPTED_AT_ONCE: Final = 16
# How long accepting rests when the machine has no descriptors or memory left.
REST_S: Final = 1.0
# When nobody was turned away for so long, the next one is told in the log again.
QUIET_S: Final = 60.0


class Acceptor:
    """Listening sockets whose connections get a protocol at `entrance`. It looks like an `asyncio.Server`.

    - `backlog`: how many connections may wait in the kernel.
    - `failures` counts the times at which no connection could be accepted, by the name of the error (`errno`).
    - `handshakes`: the TLS that comes before the protocol; None at a door in plain.
    - `log`: is told when nobody can be accepted, and when connections are turned away, once for each time that this happens a lot.
    """

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        entrance: Entrance,
        *,
        backlog: int,
        failures: Counter[str],
        log: Logger,
        handshakes: TlsHandshakes | None = None,
    ) -> None:
        self.sockets = tuple(sockets)
        self._loop = asyncio.get_running_loop()
        self._entrance, self._handshakes = entrance, handshakes
        self._failures, self._log = failures, log
        self._opening: set[asyncio.Task[bool]] = set()
        self._turned_away, self._turned_away_s = TurnedAway(), float("-inf")
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
        self._turned_away.close()

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                sock, peer = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # no descriptors or memory are left, as a rule; whoever waits is accepted later
                self._rest(listening, error)
                return
            sock.setblocking(False)
            try:
                # The socket itself might not know any more where it comes from: a client that resets it would be from nowhere.
                place = self._entrance.places.take(str(peer[0]), self._loop.time())
            except Refused as refused:
                self._turn_away(sock, refused)
            else:
                self._begin(sock, place)

    def _rest(self, listening: socket.socket, error: OSError) -> None:
        name = errno.errorcode.get(error.errno or 0, "other")
        self._failures[name] += 1
        self._log.error("cannot accept connections", reason=os.strerror(error.errno or 0), code=name, again_in_s=REST_S)
        self._loop.remove_reader(listening)
        self._loop.call_later(REST_S, self._resume, listening)

    def _resume(self, listening: socket.socket) -> None:
        if listening.fileno() >= 0:
            self._loop.add_reader(listening, self._accept, listening)

    def _turn_away(self, sock: socket.socket, refused: Refused) -> None:
        now_s = self._loop.time()
        if now_s - self._turned_away_s > QUIET_S:
            self._log.warning("connections are turned away", door=_name_of(self.sockets[0]), reason=refused.reason)
        self._turned_away_s = now_s
        if self._handshakes is None:
            self._turned_away.tell(sock, self._entrance.refusal(refused))
        else:
            sock.close()

    def _begin(self, sock: socket.socket, place: HeldPlace) -> None:
        if self._handshakes is not None and not self._handshakes.has_room(len(self._opening)):
            place.give_back()
            sock.close()
            return
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._open(sock, place))
        self._opening.add(task)
        task.add_done_callback(partial(self._opened, sock, place))

    async def _open(self, sock: socket.socket, place: HeldPlace) -> bool:
        """Brings the connection of `sock` to its protocol. Returns whether that has it now; if not, the socket is taken care of."""
        make = partial(self._entrance.make, place)
        if self._handshakes is not None:
            return await self._handshakes.open(sock, place.host, make, self._turned_away.tell)
        await self._loop.connect_accepted_socket(make, sock)
        return True

    def _opened(self, sock: socket.socket, place: HeldPlace, task: asyncio.Task[bool]) -> None:
        """Tidies up behind `_open`, which may have been cancelled before it began."""
        self._opening.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._log.error("a connection could not be accepted", exc_info=error)
        if task.cancelled() or error is not None:
            sock.close()
            place.give_back()
        elif not task.result():
            place.give_back()


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


def _name_of(sock: socket.socket) -> str:
    return str(Address(*sock.getsockname()[:2]))
