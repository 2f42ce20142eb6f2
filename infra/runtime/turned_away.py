"""Those who got no place: they are told why, and have a moment to read it."""

import asyncio
import socket
from collections import deque
from contextlib import suppress
from typing import Final

# How long one that was turned away may take to read why, and how many may do so at a time. More are closed at once.
READING_S: Final = 1.0
MAX_READING: Final = 256
# How often it is looked who has gone.
LOOK_S: Final = 0.1
_PIECE_BYTES: Final = 64 << 10


class TurnedAway:
    """The sockets of those who were turned away. Protocols and transports would cost more than what such a connection is worth.

    A socket that is closed while the client still sends resets it, and the answer may be lost (RFC 9112 9.6). So our half is closed first,
    what still comes is thrown away, and the rest follows when the client has closed, too, or in `READING_S`.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reading: deque[tuple[float, socket.socket]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._reading)

    def tell(self, sock: socket.socket, answer: bytes) -> None:
        """Sends `answer`, which fits into the buffer of a new socket, and ends the connection."""
        with suppress(OSError):  # it has gone already
            sock.send(answer)
            sock.shutdown(socket.SHUT_WR)
        if len(self._reading) >= MAX_READING:
            _has_gone(sock)
            sock.close()
            return
        self._reading.append((self._loop.time() + READING_S, sock))
        if self._timer is None:
            self._timer = self._loop.call_later(LOOK_S, self._look)

    def close(self) -> None:
        """Closes them all. May be called twice."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for _, sock in self._reading:
            sock.close()
        self._reading.clear()

    def _look(self) -> None:
        now_s = self._loop.time()
        for _ in range(len(self._reading)):
            until_s, sock = self._reading.popleft()
            if _has_gone(sock) or now_s >= until_s:
                sock.close()
            else:
                self._reading.append((until_s, sock))
        self._timer = self._loop.call_later(LOOK_S, self._look) if self._reading else None


def _has_gone(sock: socket.socket) -> bool:
    """Throws away a piece of what the client has sent, and returns whether it has closed."""
    try:
        return not sock.recv(_PIECE_BYTES)
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True
