"""Handshakes as fast as one thread makes them: what an attacker does who wants to be refused often."""

import socket
import struct
import time
from collections import Counter, deque
from typing import Final

# As many as the requirement names (DPS-26). Who is faster waits.
PER_S: Final = 10_000
# How many connections are open at once: the oldest is waited for, so the thread seldom sleeps for one.
OPEN: Final = 64
# So far behind its time the flood may be, and make up for it.
BEHIND_S: Final = 0.1
TIMEOUT_S: Final = 5.0
_STATUS_BYTES: Final = 12
# A close is a reset, which leaves nothing in the kernel: there are fewer free ports than handshakes in three seconds.
_RESET: Final = struct.pack("ii", 1, 0)
# Linux gives the port when it connects, and not before, where there are fewer to choose from.
_IP_BIND_ADDRESS_NO_PORT: Final = 24


class HandshakeFlood:
    """A flood of handshakes with the door at `address`, which begin with `said` and come from `source`.

    `done` counts them by the status of the answer, or as "cut", and is written by the thread that runs it.
    """

    def __init__(self, address: str, said: bytes, source: str, done: Counter[str]) -> None:
        host, _, port = address.rpartition(":")
        self._to, self._from = (host, int(port)), (source, 0)
        self._said, self._done = said, done
        self._open: deque[socket.socket] = deque()
        self._is_over = False

    def stop(self) -> None:
        """Ends `run` soon."""
        self._is_over = True

    def run(self) -> None:
        """Connects, says its part, reads the status and resets, `PER_S` times a second, until it is stopped."""
        due_s = time.monotonic()
        while not self._is_over:
            now_s = time.monotonic()
            if now_s < due_s:
                time.sleep(due_s - now_s)
            due_s = max(due_s, now_s - BEHIND_S) + OPEN / 2 / PER_S
            for _ in range(OPEN // 2):
                self._begin()
                if len(self._open) >= OPEN:
                    self._end(self._open.popleft())
        while self._open:
            self._open.popleft().close()

    def _begin(self) -> None:
        sock = socket.socket()
        try:
            sock.settimeout(TIMEOUT_S)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            sock.setsockopt(socket.IPPROTO_IP, _IP_BIND_ADDRESS_NO_PORT, 1)
            sock.bind(self._from)
            sock.connect(self._to)
            sock.send(self._said)
        except OSError:
            self._done["cut"] += 1
            sock.close()
            return
        self._open.append(sock)

    def _end(self, sock: socket.socket) -> None:
        with sock:
            try:
                status = sock.recv(_STATUS_BYTES)[9:]
            except OSError:
                status = b""
        self._done[status.decode("ascii", "replace") or "cut"] += 1
