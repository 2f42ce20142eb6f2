"""A wire that loses something: a WebSocket relay before an access point. It takes one live copy away, and nothing else."""

import asyncio
from collections.abc import Callable

import aiohttp
import msgspec
from aiohttp import WSMsgType, web

from infra.runtime.ending import end_all

from .loopback import Loopback

_Socket = web.WebSocketResponse | aiohttp.ClientWebSocketResponse


class _Message(msgspec.Struct):
    op: str = ""
    kind: str = ""


class LossyWire(Loopback):
    """A relay between `url` and the access point at `door`: `async with LossyWire(door, lost) as wire:`.

    The first live copy of a notification does not come through. `lost()` is called instead.
    """

    def __init__(self, door: str, lost: Callable[[], None]) -> None:
        super().__init__(web.get("/v1/connect", self._relay))
        self._door, self._lost = door, lost
        self._has_lost = False
        self._http = aiohttp.ClientSession()

    @property
    def url(self) -> str:
        """The URL to which a client connects."""
        return f"ws://{self.address}"

    async def __aexit__(self, *_: object) -> None:
        await end_all(super().__aexit__, self._http.close)

    async def _relay(self, request: web.Request) -> web.WebSocketResponse:
        protocols = [each.strip() for each in request.headers.get("Sec-WebSocket-Protocol", "").split(",")]
        client = web.WebSocketResponse(protocols=protocols)
        await client.prepare(request)
        async with self._http.ws_connect(f"{self._door}{request.path_qs}", protocols=protocols) as server:
            ways = [asyncio.create_task(self._pass(client, server)), asyncio.create_task(self._pass(server, client))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            await client.close()
        return client

    async def _pass(self, source: _Socket, target: _Socket) -> None:
        async for message in source:
            if message.type is WSMsgType.TEXT and not self._is_to_be_lost(message.data):
                await target.send_str(message.data)

    def _is_to_be_lost(self, text: str) -> bool:
        """Returns whether a message is the live copy to lose. Clients send no events, so it is one of the server."""
        message = msgspec.json.decode(text, type=_Message)
        if self._has_lost or (message.op, message.kind) != ("event", "notification"):
            return False
        self._has_lost = True
        self._lost()
        return True
