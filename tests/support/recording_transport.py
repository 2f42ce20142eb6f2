"""A transport that keeps what a protocol does with it, for tests that need every byte and every pause in its order."""

import asyncio
import errno
from typing import Any


class RecordingTransport(asyncio.Transport):
    """Connects `protocol` to nobody. `writes` are the calls of `write`; `done` is how the protocol ended it.

    `is_reset`: the peer has reset the connection, and the loop has not told anybody yet.
    """

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol: asyncio.BaseProtocol = protocol
        self.writes: list[bytes] = []
        self.reading = True
        self.half_closed = self.is_reset = False
        self.done = ""
        protocol.connection_made(self)

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)

    def write(self, data: Any) -> None:
        assert not self.half_closed, "written after the end"
        self.writes.append(bytes(data))

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def write_eof(self) -> None:
        if self.is_reset:
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")
        self.half_closed = True

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def is_closing(self) -> bool:
        return bool(self.done)

    def close(self) -> None:
        self._lose("close")

    def abort(self) -> None:
        self._lose("abort")

    def _lose(self, how: str) -> None:
        if not self.done:
            self.done = how
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)
