"""Connections of the simulated network: two transports, and what is on its way between them.

A connection keeps the order of bytes, or breaks. Where it is cut, everything waits. What arrives comes in pieces of any size. Like TCP, an
end may be closed for sending only, and an end whose peer has vanished without a word is not told.
"""

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from .loop import SimulatedLoop
from .process import SimulatedProcess

BUFFER_BYTES: Final = 65_536
HIGH_BYTES: Final = 65_536


class Pieces(NamedTuple):
    """The behaviour of a connection.

    - `delay_s`: how long bytes take from one process to another, now. `is_cut`: whether they arrive at all.
    - `buffer_bytes`: what the machines on both sides take before a sender is told to wait.
    """

    delay_s: Callable[[str, str], float]
    is_cut: Callable[[str, str], bool]
    buffer_bytes: int = BUFFER_BYTES


class SimulatedSocket:
    """The socket of an end, as far as anybody asks for it."""

    def __init__(self, name: tuple[str, int]) -> None:
        self._name = name

    def setsockopt(self, *_: object) -> None:
        """Takes any option: none changes anything here."""

    def getsockname(self) -> tuple[str, int]:
        """Returns host and port."""
        return self._name


class SimulatedTransport(asyncio.Transport):
    """One end of a connection. `process`: whose it is; `peer`: the other end.

    `sent`: the bytes on their way to the peer, and in `None` the end of them. `is_reset`: the peer has reset it, which it may not know yet.
    """

    def __init__(self, loop: SimulatedLoop, process: SimulatedProcess, how: Pieces, rng: random.Random, port: int) -> None:
        super().__init__({"socket": SimulatedSocket(("127.0.0.1", port)), "peername": ("127.0.0.1", port)})
        self.process = process
        self.peer: SimulatedTransport
        self.sent: deque[bytes | None] = deque()
        self._loop, self._how, self._rng = loop, how, rng
        self._protocol: asyncio.Protocol | None = None
        self._unread: deque[bytes | None] = deque()
        self._outstanding_bytes = 0
        self._last_s = 0.0
        self._high = HIGH_BYTES
        self._is_closing = self._is_lost = self._is_reading_paused = self._is_writing_paused = False
        self._has_sent_eof = self.is_reset = self._is_broken = False
        process.transports[self] = None

    def begin(self, protocol: asyncio.Protocol) -> None:
        """Gives the end its protocol. What arrived before is read in a later turn."""
        if not self._is_lost:
            self._protocol = protocol
            protocol.connection_made(self)
            self._soon(self._read)

    def _soon(self, callback: Callable[..., Any], *args: Any) -> None:
        self._loop.call_in(self.process, callback, *args)

    # Writing.

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """See `asyncio.WriteTransport`."""
        if data and not self._is_lost and not self._is_closing and not self._has_sent_eof and not self.is_reset:
            self._send(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        """See `asyncio.WriteTransport`."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """See `asyncio.WriteTransport`."""
        if not self._is_lost and not self._has_sent_eof:
            self._has_sent_eof = True
            self._send(None)

    def can_write_eof(self) -> bool:
        """See `asyncio.WriteTransport`."""
        return True

    def _send(self, piece: bytes | None) -> None:
        if self._is_broken:
            return
        self.sent.append(piece)
        self._outstanding_bytes += len(piece or b"")
        self._arm()
        is_full = self._outstanding_bytes > self._how.buffer_bytes and self.get_write_buffer_size() > self._high
        if is_full and not self._is_writing_paused and self._protocol is not None:
            self._is_writing_paused = True
            self._protocol.pause_writing()

    def _arm(self) -> None:
        """Has the next piece arrive when its time has come; a later one never overtakes it."""
        arrives_s = self._loop.now_s + self._how.delay_s(self.process.name, self.peer.process.name)
        if arrives_s > self._last_s:
            self._last_s = arrives_s
        self._loop.at(self._last_s, self.pass_on)

    def pass_on(self) -> None:
        """Lets what was sent arrive, a piece at a time, unless the network is cut."""
        if not self.sent or self._how.is_cut(self.process.name, self.peer.process.name):
            return
        piece = self.sent.popleft()
        if piece is not None and len(piece) > 1 and self._rng.random() < 0.3:
            at = self._rng.randrange(1, len(piece))
            self.sent.appendleft(piece[at:])
            piece = piece[:at]
            self._loop.at(self._loop.now_s + self._rng.random() * 1e-3, self.pass_on)
        self.peer._arrive(piece)

    def resume(self) -> None:
        """Goes on after a cut. An end whose connection was reset meanwhile learns it now."""
        if self.is_reset:
            self._soon(self._lose, ConnectionResetError("reset by the peer"))
        for _ in range(len(self.sent)):
            self._arm()

    def _taken(self, size_bytes: int) -> None:
        """Notes that the peer has read so much."""
        self._outstanding_bytes -= size_bytes
        if self._is_writing_paused and self.get_write_buffer_size() <= self._high // 4 and not self._is_lost:
            self._is_writing_paused = False
            self._soon(self._go_on)

    def _go_on(self) -> None:
        if self._protocol is not None and not self._is_lost:
            self._protocol.resume_writing()

    def get_write_buffer_size(self) -> int:
        """See `asyncio.WriteTransport`: what the machines have not taken."""
        return max(0, self._outstanding_bytes - self._how.buffer_bytes)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """See `asyncio.WriteTransport`."""
        self._high = HIGH_BYTES if high is None else high

    # Reading.

    def _arrive(self, piece: bytes | None) -> None:
        if not self._is_lost and self.process.is_alive:
            self._unread.append(piece)
            self._soon(self._read)

    def _read(self) -> None:
        while self._unread and not self._is_reading_paused and not self._is_lost and self._protocol is not None:
            piece = self._unread.popleft()
            if piece is None:
                if not self._protocol.eof_received():
                    self.close()
                return
            self.peer._taken(len(piece))
            self._protocol.data_received(piece)

    def pause_reading(self) -> None:
        """See `asyncio.ReadTransport`."""
        self._is_reading_paused = True

    def resume_reading(self) -> None:
        """See `asyncio.ReadTransport`."""
        self._is_reading_paused = False
        self._soon(self._read)

    def is_reading(self) -> bool:
        """See `asyncio.ReadTransport`."""
        return not self._is_reading_paused

    # Ends.

    def is_closing(self) -> bool:
        """See `asyncio.BaseTransport`."""
        return self._is_closing or self._is_lost

    def close(self) -> None:
        """See `asyncio.BaseTransport`: what was written arrives, and then its end."""
        if not self._is_closing and not self._is_lost:
            self.write_eof()
            self._is_closing = True
            self._soon(self._lose, None)

    def abort(self) -> None:
        """See `asyncio.WriteTransport`: the peer loses what was on its way, and learns that the connection was reset."""
        if not self._is_lost:
            self._is_closing = True
            self._reset_peer()
            self._soon(self._lose, None)

    def snap(self) -> None:
        """Breaks the connection between two bytes, for both ends. What an end writes that does not know it yet arrives nowhere, either."""
        for end in (self, self.peer):
            end._reset_peer()

    def _reset_peer(self) -> None:
        self._is_broken = True
        self.sent.clear()
        delay_s = self._how.delay_s(self.process.name, self.peer.process.name)
        self._loop.at(self._loop.now_s + delay_s, self._tell_reset)

    def _tell_reset(self) -> None:
        self.peer.is_reset = True
        if self._how.is_cut(self.process.name, self.peer.process.name):
            return  # it learns that when it can be reached again
        if self.peer.process.is_alive:
            self.peer._soon(self.peer._lose, ConnectionResetError("reset by the peer"))

    def _lose(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = True
        self._unread.clear()
        self.process.transports.pop(self, None)
        if self._protocol is not None:
            self._protocol.connection_lost(error)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """See `asyncio.BaseTransport`."""
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """See `asyncio.BaseTransport`."""
        assert self._protocol is not None
        return self._protocol
