"""A connection of TLS: OpenSSL reads from its socket and writes to it, and nothing stands in between.

The loops put a machine of their own there. It copies each byte twice and holds buffers for each connection, which was half of what a
delivery over TLS cost, and most of the memory of an idle connection.
"""

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any, Final

# The most that a record of TLS holds. A read returns one record at most.
RECORD_BYTES: Final = 16 << 10
# So many are read in one turn of the loop, and no more than so many bytes: decrypting 256 KiB, as much as the loops read without TLS, for
# each of 400 connections made turns of 14 ms. With 64 KiB they take 3.
RECORDS_AT_ONCE: Final = 16
BYTES_AT_ONCE: Final = 64 << 10
# What is longer goes to OpenSSL in pieces of this size: a piece counts as waiting until all of it is sent.
PIECE_BYTES: Final = 64 << 10
# So much may wait to be sent before the protocol is told, unless it says otherwise.
WRITE_BUFFER_BYTES: Final = 64 << 10
# How long a peer has, from `close` on, to take what waits and to close as well.
SHUTDOWN_S: Final = 5.0
# So much that a peer sends behind our goodbye is read and thrown away: more than was on its way when it was said.
MAX_THROWN_BYTES: Final = 16 << 20


class TlsTransport(asyncio.Transport):
    """The transport of a connection whose handshake is done.

    While its protocol does not read, nothing is read from the socket either.

    Both `write_eof` and `close` end with the goodbye of TLS, behind what was written before. What the peer sends after that is thrown
    away until it closes, too: a full close at once would reset the connection, and the peer could lose what was said last. `close` sets
    a time for that, `write_eof` does not. Neither takes more of it than `MAX_THROWN_BYTES`.
    """

    __slots__ = (
        "_deadline",
        "_fd",
        "_high_bytes",
        "_is_closing",
        "_is_ending",
        "_is_full",
        "_is_lost",
        "_is_over",
        "_is_paused",
        "_loop",
        "_low_bytes",
        "_protocol",
        "_receive",
        "_send",
        "_socket",
        "_thrown_bytes",
        "_waiting",
        "_waiting_bytes",
    )

    def __init__(self, sock: ssl.SSLSocket, protocol: asyncio.Protocol) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket, self._fd = sock, sock.fileno()
        self._send, self._receive = sock.send, sock.recv
        self._protocol = protocol
        self._waiting: deque[bytes | memoryview] | None = None  # the first one may be half sent: OpenSSL must get the very same again
        self._waiting_bytes = 0
        self._low_bytes, self._high_bytes = WRITE_BUFFER_BYTES // 4, WRITE_BUFFER_BYTES
        self._is_full = self._is_paused = False
        self._is_closing = self._is_lost = False
        self._is_ending = False  # nothing more may be written
        self._thrown_bytes = 0
        self._is_over = False  # the goodbye is said: what comes is thrown away
        self._deadline: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Tells the protocol that the connection stands, and reads."""
        self._loop.add_reader(self._fd, self._on_readable)
        self._call(self._protocol.connection_made, self)

    # What asyncio asks of a transport.

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Returns what is known by this `name`, which is one of asyncio's; `default` for others."""
        known = _EXTRA.get(name)
        try:
            return default if known is None else known(self._socket)
        except (OSError, ValueError, AttributeError):  # the connection is at its end
            return default

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Returns who takes what is read."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Gives what is read to another `protocol` from now on."""
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def is_closing(self) -> bool:
        """Returns whether `close` or `abort` was called, or the connection is lost."""
        return self._is_closing

    def is_reading(self) -> bool:
        """Returns whether the protocol wants to read."""
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        """Reads nothing until `resume_reading`."""
        if not self._is_paused and not self._is_closing:
            self._is_paused = True
            self._loop.remove_reader(self._fd)

    def resume_reading(self) -> None:
        """Reads on."""
        if self._is_paused and not self._is_closing:
            self._is_paused = False
            self._loop.add_reader(self._fd, self._on_readable)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Has the protocol pause when more than `high` bytes wait, until there are no more than `low`. Without `low`: a quarter."""
        if high is None:
            high = WRITE_BUFFER_BYTES if low is None else 4 * low
        self._high_bytes, self._low_bytes = high, high // 4 if low is None else low
        self._check_full()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Returns the low and the high limit."""
        return self._low_bytes, self._high_bytes

    def get_write_buffer_size(self) -> int:
        """Returns how many bytes wait, before they are encrypted."""
        return self._waiting_bytes

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Sends `data` as one write, as far as the system has room for it. The rest waits."""
        if self._waiting is not None or self._is_ending or not 0 < len(data) <= PIECE_BYTES:
            self._queue(data)
            return
        try:
            self._send(data)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            self._wait(data)
            self._loop.add_writer(self._fd, self._flush)
            self._check_full()
        except OSError as error:
            self._lose(error)

    def can_write_eof(self) -> bool:
        """Returns True: see `write_eof`."""
        return True

    def write_eof(self) -> None:
        """Says goodbye behind what waits. What the peer still sends is thrown away: who hears a goodbye of TLS closes as well."""
        if not self._is_ending:
            self._is_ending = True
            if self._waiting is None:
                self._say_goodbye()

    def close(self) -> None:
        """Says goodbye behind what waits, and closes when the peer does, or after `SHUTDOWN_S`."""
        if self._is_closing:
            return
        if self._is_paused:
            self.resume_reading()
        self._is_closing = True
        self._deadline = self._loop.call_later(SHUTDOWN_S, self.abort)
        self.write_eof()

    def abort(self) -> None:
        """Closes at once. What waits is lost."""
        self._lose(None)

    # Writing.

    def _queue(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_ending or not data:
            return
        is_first = self._waiting is None
        whole = memoryview(data)
        for start in range(0, len(whole), PIECE_BYTES):
            self._wait(whole[start : start + PIECE_BYTES])
        if is_first:
            self._flush()
        self._check_full()

    def _wait(self, data: bytes | bytearray | memoryview) -> None:
        if self._waiting is None:
            self._waiting = deque()
        # Whoever has given us a bytearray may use it again.
        self._waiting.append(data if isinstance(data, bytes) else bytes(data))
        self._waiting_bytes += len(data)

    def _flush(self) -> None:
        """Sends what waits, as far as the system has room for it."""
        waiting = self._waiting
        try:
            while waiting:
                self._send(waiting[0])
                self._waiting_bytes -= len(waiting.popleft())
        except ssl.SSLWantWriteError:
            self._loop.add_writer(self._fd, self._flush)
        except ssl.SSLWantReadError:
            self._loop.remove_writer(self._fd)  # `_on_readable` tries again
        except OSError as error:
            self._lose(error)
            return
        else:
            self._waiting = None
            self._loop.remove_writer(self._fd)
            if self._is_ending:
                self._say_goodbye()
        self._check_empty()

    def _check_full(self) -> None:
        if self._waiting_bytes > self._high_bytes and not self._is_full:
            self._is_full = True
            self._call(self._protocol.pause_writing)

    def _check_empty(self) -> None:
        if self._is_full and not self._is_lost and self._waiting_bytes <= self._low_bytes:
            self._is_full = False
            self._call(self._protocol.resume_writing)

    # Reading.

    def _on_readable(self) -> None:
        records: list[bytes] = []
        room_bytes = BYTES_AT_ONCE
        is_end, trouble = False, None
        try:
            while len(records) < RECORDS_AT_ONCE and room_bytes > 0 and not is_end:
                record = self._receive(RECORD_BYTES)
                room_bytes -= len(record)
                is_end = not record
                records.append(record)
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        except ssl.SSLWantWriteError:  # an answer within TLS
            self._loop.add_writer(self._fd, self._flush)
        except OSError as error:
            trouble = error
        if self._is_ending:
            self._throw(sum(map(len, records)))
        elif data := b"".join(records):
            self._call(self._protocol.data_received, data)
        if trouble is not None:
            self._lose(trouble)
        elif is_end:
            self._end()
        elif self._waiting:
            self._flush()

    def _throw(self, size_bytes: int) -> None:
        """Throws away what came behind our goodbye. A peer that goes on and on is cut, though it may lose the goodbye with that."""
        self._thrown_bytes += size_bytes
        if self._thrown_bytes > MAX_THROWN_BYTES:
            self._lose(None)

    def _end(self) -> None:
        """Notes that nothing more will come."""
        if self._is_over or self._is_lost:
            self._lose(None)
            return
        self._loop.remove_reader(self._fd)
        if not self._is_ending and self._call(self._protocol.eof_received):
            return  # it has still something to say
        self.close()

    # The end.

    def _say_goodbye(self) -> None:
        try:
            self._socket.unwrap()
        except ssl.SSLWantWriteError:
            self._loop.add_writer(self._fd, self._flush)
            return
        except ssl.SSLError:
            pass  # it is said, and the peer has not answered yet, or is still sending
        except OSError as error:
            self._lose(error)
            return
        else:
            self._lose(None)
            return
        self._throw_away()

    def _throw_away(self) -> None:
        """Ends the stream of the socket, and reads from it what nobody will decrypt."""
        self._is_over = True
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:  # the peer has reset the connection
            self._lose(error)
            return
        if not self._is_paused:
            self._loop.add_reader(self._fd, self._on_readable)

    def _lose(self, error: Exception | None) -> None:
        if self._is_lost:
            return
        self._is_lost = self._is_closing = self._is_ending = True
        self._waiting, self._waiting_bytes = None, 0
        if self._deadline is not None:
            self._deadline.cancel()
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        self._loop.call_soon(self._tell_lost, error)

    def _tell_lost(self, error: Exception | None) -> None:
        try:
            self._protocol.connection_lost(error)
        finally:
            self._socket.close()

    def _call(self, tell: Callable[..., Any], *arguments: object) -> Any:
        """Returns what the protocol returns. What it raises ends the connection and goes to the loop's handler."""
        try:
            return tell(*arguments)
        except Exception as error:
            context = {"message": "a protocol of TLS failed", "exception": error, "transport": self, "protocol": self._protocol}
            self._loop.call_exception_handler(context)
            self._lose(error)


_EXTRA: Final[dict[str, Callable[[ssl.SSLSocket], object]]] = {
    "cipher": ssl.SSLSocket.cipher,
    "peercert": ssl.SSLSocket.getpeercert,
    "peername": ssl.SSLSocket.getpeername,
    "socket": lambda sock: sock,
    "sockname": ssl.SSLSocket.getsockname,
    "ssl_object": lambda sock: sock,
    "sslcontext": lambda sock: sock.context,
}
