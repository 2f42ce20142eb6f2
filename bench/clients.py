"""All clients of one generator."""

import asyncio
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import pack
from typing import Any, Final

from infra.runtime.tls.contexts import client_context

from .client import BenchClient
from .delivery_ledger import Arrival
from .dialects import Dialect
from .dialects.dialect import DialectError
from .frames import masked

BUFFER_BYTES: Final = 1 << 18
CONNECT_S: Final = 120.0
# A client that will stop reading must not hide megabytes of it in its own kernel.
SMALL_RECEIVE_BYTES: Final = 16 << 10
# Without it the ports of twenty thousand clients stay taken for a minute, and the next run finds none.
_RESET_ON_CLOSE: Final = pack("ii", 1, 0)


class Clients:
    """Clients 0 to n-1 of one server.

    - `dialect`, `address`: how the server speaks, and where it listens.
    - `matched`: the first so many clients note their deliveries in `arrivals`; the others are only connected.
    - `wake`: is called when `arrivals` gets its first entry.
    - `ca_file`: whom they believe; they speak TLS then.
    """

    def __init__(self, dialect: Dialect, address: str, matched: int, wake: Callable[[], None], ca_file: str = "") -> None:
        self.dialect = dialect
        self.matched = matched
        self.wake = wake
        self.buffer = bytearray(BUFFER_BYTES)
        self.arrivals: list[Arrival] = []
        self.closed: Counter[int] = Counter()
        self.upgrade = _upgrade(dialect, address)
        self._host, _, self._port = address.rpartition(":")
        self._tls: dict[str, Any] = {"ssl": client_context(Path(ca_file)), "server_hostname": "localhost"} if ca_file else {}
        self._all: list[BenchClient] = []
        self._waiting = 0
        self._turn: asyncio.Event = asyncio.Event()
        self._trouble: Exception | None = None
        self._leaving = False

    def hellos(self, names: Sequence[Sequence[str]]) -> list[bytes]:
        """Returns everything that each client will say, ready to be sent. So no topic or token is made while the clock runs."""
        dialect = self.dialect
        return [
            b"".join(masked(dialect.opcode, message) for message in dialect.hello(client, topics)) for client, topics in enumerate(names)
        ]

    async def connect(self, hellos: Sequence[bytes], handshakes: int) -> None:
        """Connects and subscribes all clients, `handshakes` at a time. Raises `DialectError`, OSError or TimeoutError."""
        async with asyncio.timeout(CONNECT_S):
            for number, hello in enumerate(hellos):
                while self._waiting >= handshakes:
                    await self._next_turn()
                self._waiting += 1
                await self._dial(number, hello)
            while self._waiting:
                await self._next_turn()

    async def _dial(self, number: int, hello: bytes) -> None:
        subscriber = BenchClient(self, number, hello)
        self._all.append(subscriber)
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        if number >= self.matched:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_RECEIVE_BYTES)
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(sock, (self._host, int(self._port)))
        await loop.create_connection(lambda: subscriber, sock=sock, **self._tls)

    async def _next_turn(self) -> None:
        await self._turn.wait()
        self._turn.clear()
        if self._trouble is not None:
            raise self._trouble

    def confirmed(self) -> None:
        """Notes that the subscriptions of one client stand."""
        self._waiting -= 1
        self._turn.set()

    def fail(self, trouble: Exception) -> None:
        """Notes that a client cannot be connected. `connect` raises the first `trouble`."""
        self._trouble = self._trouble or trouble
        self._turn.set()

    def lost(self, subscriber: BenchClient) -> None:
        """Notes that a connection is gone."""
        if self._leaving:
            return
        self.closed[subscriber.close_number] += 1
        if not subscriber.is_ready:
            self.fail(DialectError(f"client {subscriber.number} was disconnected before it was subscribed"))

    def stop_reading(self) -> None:
        """Lets the clients that are not matched stop reading."""
        for subscriber in self._all[self.matched :]:
            if subscriber.transport is not None:
                subscriber.transport.pause_reading()

    def read_again(self) -> None:
        """Lets the clients that had stopped read again, so that they see what became of them."""
        for subscriber in self._all[self.matched :]:
            if subscriber.transport is not None:
                subscriber.transport.resume_reading()

    def leave(self) -> None:
        """Disconnects all clients."""
        self._leaving = True
        for subscriber in self._all:
            if subscriber.transport is not None:
                subscriber.transport.abort()


def _upgrade(dialect: Dialect, address: str) -> bytes:
    lines = [
        f"GET {dialect.path} HTTP/1.1",
        f"Host: {address}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: c2VndWUgYmVuY2htYXJrcw==",
        "Sec-WebSocket-Version: 13",
    ]
    if dialect.subprotocol:
        lines.append(f"Sec-WebSocket-Protocol: {dialect.subprotocol}")
    return "\r\n".join([*lines, "", ""]).encode()
