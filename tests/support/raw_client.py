"""A client that misbehaves on purpose: a plain socket under the sans-I/O half of the independent `websockets` package.

Unlike `User` it reads only when it is told to, and sends any bytes that it is given.
"""

import asyncio
import json
import socket
import ssl
from collections.abc import Callable
from typing import Any, Self

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

DEADLINE_S = 30.0


class RawClient:
    """`async with RawClient(address) as client:` has shaken hands, unless it is `shy`, and said nothing else. `messages` are
    those read so far. With `tls` it speaks wss. `headers` are added to the handshake."""

    def __init__(
        self,
        address: str,
        *,
        receive_buffer_bytes: int = 0,
        shy: bool = False,
        tls: ssl.SSLContext | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self._address = address
        self._headers = headers or {}
        self._from_server, self._to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._secure = tls.wrap_bio(self._from_server, self._to_server, server_hostname="localhost") if tls is not None else None
        self._receive_buffer_bytes = receive_buffer_bytes
        self._protocol = ClientProtocol(parse_uri(f"ws://{address}/v1/connect"), subprotocols=["segue.v1"])  # type: ignore[list-item]
        self._shy = shy
        self._socket = socket.socket()
        self._taken = 0
        self.messages: list[dict[str, Any]] = []
        self.pings = 0
        self.ended = False

    async def __aenter__(self) -> Self:
        self._socket.setblocking(False)
        if self._receive_buffer_bytes:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer_bytes)
        host, _, port = self._address.rpartition(":")
        try:
            await asyncio.get_running_loop().sock_connect(self._socket, (host, int(port)))
        except OSError:
            self._socket.close()
            raise
        if self._secure is not None:
            await self._secured(self._secure.do_handshake)
        if not self._shy:
            await self.shake_hands()
        return self

    async def _secured(self, do: Callable[[], Any]) -> Any:
        """Does something of TLS, for which bytes may have to be read and sent. Returns its result; None at the end."""
        while True:
            try:
                return do()
            except ssl.SSLWantReadError:
                await self._send_plainly(self._to_server.read())
                data = await self._read_plainly()
                if not data:
                    return None
                self._from_server.write(data)
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return None
            finally:
                await self._send_plainly(self._to_server.read())

    async def shake_hands(self) -> None:
        """Asks for a WebSocket and reads the answer; see `refusal` for one that is not 101."""
        request = self._protocol.connect()
        request.headers.update(self._headers)
        self._protocol.send_request(request)
        await self._flush()
        await self.until(lambda: self._protocol.handshake_exc is not None or self._protocol.state is not State.CONNECTING)

    async def __aexit__(self, *exc: object) -> None:
        self._socket.close()

    async def _flush(self) -> None:
        await self.send(b"".join(self._protocol.data_to_send()))

    async def send(self, data: bytes) -> None:
        """Sends bytes as they are. What a server that has gone does not take is lost."""
        if self._secure is not None and data:
            self._secure.write(data)
            data = self._to_server.read()
        await self._send_plainly(data)

    async def _send_plainly(self, data: bytes) -> None:
        try:
            async with asyncio.timeout(DEADLINE_S):
                await asyncio.get_running_loop().sock_sendall(self._socket, data)
        except ConnectionError:
            pass

    async def say(self, message: dict[str, Any]) -> None:
        """Sends one message as a proper frame."""
        await self.text(json.dumps(message).encode())

    async def text(self, payload: bytes) -> None:
        """Sends one text message, whatever it holds."""
        self._protocol.send_text(payload)
        await self._flush()

    async def read(self) -> None:
        """Reads once. Counts pings; they are answered with the next message that is said, if there is one."""
        secure = self._secure
        data = await (self._read_plainly() if secure is None else self._secured(lambda: secure.read(1 << 16)))
        if data:
            self._protocol.receive_data(data)
        else:
            self.ended = True
            self._protocol.receive_eof()
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                continue
            assert isinstance(event, Frame)
            if event.opcode is Opcode.TEXT:
                self.messages.append(json.loads(bytes(event.data)))
            self.pings += event.opcode is Opcode.PING

    async def _read_plainly(self) -> bytes:
        try:
            return await asyncio.get_running_loop().sock_recv(self._socket, 1 << 16)
        except ConnectionError:
            return b""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Reads until `condition` holds or the server has closed. Raises TimeoutError."""
        async with asyncio.timeout(DEADLINE_S):
            while not (condition() or self.ended):
                await self.read()

    async def next(self, op: str) -> dict[str, Any]:
        """Returns the next message with this op; those before it are passed over."""
        while True:
            await self.until(lambda: len(self.messages) > self._taken)
            assert len(self.messages) > self._taken, f"the server closed without {op}; its last words: {self.messages[-3:]}"
            self._taken += 1
            if self.messages[self._taken - 1]["op"] == op:
                return self.messages[self._taken - 1]

    async def hello(self, token: str, **fields: Any) -> dict[str, Any]:
        """Says hello; returns the welcome."""
        await self.say({"op": "hello", "token": token} | fields)
        return await self.next("welcome")

    async def end(self) -> tuple[int | None, list[dict[str, Any]]]:
        """Reads until the server has closed. Returns the close code and the errors that came before it."""
        await self.until(lambda: False)
        return self._protocol.close_code, [message for message in self.messages if message["op"] == "error"]

    @property
    def refusal(self) -> tuple[int, str, str | None]:
        """The HTTP answer in place of a handshake: status, code, and after how many seconds to try again."""
        error = self._protocol.handshake_exc
        assert isinstance(error, InvalidStatus), error
        answer = error.response
        return answer.status_code, json.loads(bytes(answer.body or b""))["code"], answer.headers.get("Retry-After")
