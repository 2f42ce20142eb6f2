"""The WebSocket under a connection: JSON messages out, typed messages in, and one ConnectionLost for every way to end."""

from typing import Any, Final, Self

import aiohttp
import msgspec

from infra.kernel.codes import BY_NAME
from infra.runtime.network_reason import network_reason
from segue.sdk.broker_answer import seconds_of
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import ConnectionLost, ProtocolError, code_of
from segue.sdk.messages import Answer, Event, decode

SUBPROTOCOL: Final = "segue.v1"
_TRY_AGAIN_LATER: Final = frozenset({408, 425, 429})


class WebSocketWire:
    """One open WebSocket. One task receives; any task sends."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool], url: str) -> None:
        self.url = url
        self._socket = socket

    @classmethod
    async def open(cls, http: aiohttp.ClientSession, url: str, options: ClientOptions) -> Self:
        """Returns a WebSocket to `url`, opened by `http`; `options` has the bound of its frames.

        Raises ConnectionLost. Cancelling it leaves no socket open.
        """
        try:
            socket = await http.ws_connect(
                url,
                protocols=(SUBPROTOCOL,),
                timeout=aiohttp.ClientWSTimeout(ws_close=1.0),
                max_msg_size=options.max_frame_bytes,
                decode_text=False,
            )
        except aiohttp.WSServerHandshakeError as error:
            hint = "; if the door speaks TLS, write wss://" if error.status == 400 and url.startswith("ws:") else ""
            reason = f"{url} answered the WebSocket handshake with HTTP {error.status}{hint}"
            is_final = 400 <= error.status < 500 and error.status not in _TRY_AGAIN_LATER
            retry_after_s = seconds_of(error.headers.get("Retry-After") if error.headers else None)
            raise ConnectionLost(reason, BY_NAME["bad-handshake"] if is_final else None, retry_after_s) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"cannot connect to {url}: {network_reason(error)}") from error
        if socket.protocol != SUBPROTOCOL:
            await socket.close()
            raise ConnectionLost(f"{url} does not speak {SUBPROTOCOL}", BY_NAME["bad-handshake"])
        return cls(socket, url)

    async def send(self, message: dict[str, Any]) -> None:
        """Sends one message. Raises ConnectionLost. Cancelling it sends the whole message or nothing."""
        try:
            await self._socket.send_frame(msgspec.json.encode(message), aiohttp.WSMsgType.TEXT)
        except (aiohttp.ClientError, OSError) as error:
            raise ConnectionLost(f"the connection to {self.url} broke: {network_reason(error)}") from error

    async def receive(self) -> tuple[Answer | Event, int]:
        """Returns the next message, and how many bytes its frame has. Raises ConnectionLost. Cancelling it loses nothing."""
        while True:
            frame = await self._socket.receive()
            if frame.type is not aiohttp.WSMsgType.TEXT:
                raise self._lost(frame.type, frame.extra)
            try:
                message = decode(frame.data)
            except ProtocolError as error:
                raise ConnectionLost(f"{self.url}: {error}") from error
            if message is not None:
                return message, len(frame.data)

    async def close(self) -> None:
        """Says goodbye and closes; waits a second at most for the other side. May be called twice and by any task."""
        await self._socket.close()

    def _lost(self, kind: aiohttp.WSMsgType, reason: str | None) -> ConnectionLost:
        if kind is aiohttp.WSMsgType.BINARY:
            return ConnectionLost(f"{self.url} sent a binary frame, which {SUBPROTOCOL} does not have")
        number = self._socket.close_code
        code = code_of(number=number)
        return ConnectionLost(reason or (code.text if code else f"{self.url} closed the connection ({number})"), code)
