"""Clients and publishers of a simulated world: plain protocols, which share no code with ours."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from tests.support.client_frames import client_frame

from .transport import SimulatedTransport

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class SimulatedClient(asyncio.Protocol):
    """One connection of a user. `told` gets every message, in order, and the end; `lost` is true once the connection is gone."""

    def __init__(self, hello: dict[str, Any], told: Callable[[dict[str, Any]], None]) -> None:
        self.lost = self.is_open = False
        self._hello, self._told = hello, told
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(
            b"GET /v1/connect HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: segue.v1\r\n\r\n"
        )
        self.say(self._hello)

    def say(self, message: dict[str, Any]) -> None:
        """Sends one message, if the connection stands."""
        if self._transport is not None and not self.lost:
            self._transport.write(client_frame(TEXT, json.dumps(message).encode()))

    def end(self, *, kill: bool) -> None:
        """Ends the connection; with `kill`, without a goodbye."""
        if self._transport is not None and not self.lost:
            if kill:
                self._transport.abort()
            else:
                self._transport.write(client_frame(CLOSE, (1000).to_bytes(2, "big")))

    def leave(self, how: str) -> None:
        """Ends the connection as `how` says: `says goodbye`, `hangs up` without one, or it `breaks` between two bytes."""
        if how == "breaks" and isinstance(self._transport, SimulatedTransport):
            self._transport.snap()
        else:
            self.end(kill=how == "hangs up")

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not self.is_open:
            head, end, rest = self._data.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101 "):
                assert self._transport is not None
                self._told({"op": "refused", "head": head.split(b"\r\n")[0].decode()})
                self._transport.close()
                return
            self.is_open, self._data = True, rest
        while (frame := _frame(self._data)) is not None:
            opcode, payload, self._data = frame
            if opcode == TEXT:
                self._told(json.loads(payload))
            elif opcode == PING and self._transport is not None:
                self._transport.write(client_frame(PONG, payload))

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._told({"op": "lost", "reason": repr(exc)})


def _frame(data: bytes) -> tuple[int, bytes, bytes] | None:
    """Returns the first frame of a server in `data` and what follows it (RFC 6455 5.2); None if it is not whole."""
    if len(data) < 2:
        return None
    assert data[0] & 0x70 == 0, "a reserved bit is set"
    assert data[1] & 0x80 == 0, "a server masks nothing"
    size, start = data[1] & 0x7F, 2
    if size >= 126:
        width = 2 if size == 126 else 8
        start += width
        if len(data) < start:
            return None
        size = int.from_bytes(data[2:start], "big")
    if len(data) < start + size:
        return None
    return data[0] & 0x0F, data[start : start + size], data[start + size :]


class SimulatedPublisher(asyncio.Protocol):
    """One request of a service: `answer` is (status, body), or the error by which the connection ended."""

    def __init__(self, token: str, events: list[dict[str, Any]]) -> None:
        self.answer: asyncio.Future[tuple[int, dict[str, Any]]] = asyncio.get_running_loop().create_future()
        body = json.dumps(events[0] if len(events) == 1 else events).encode()
        self._request = (
            f"POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        ).encode() + body
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, SimulatedTransport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._data += data

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        head, end, body = self._data.partition(b"\r\n\r\n")
        if self.answer.done():
            return
        try:
            self.answer.set_result((int(head.split()[1]), json.loads(body)))
        except (IndexError, ValueError):
            self.answer.set_exception(ConnectionError(f"no answer: {exc!r} {end!r}"))
