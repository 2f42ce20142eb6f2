"""A real endpoint of webhooks on the loopback, which checks signatures as the page on webhooks says."""

import asyncio
import base64
import hmac
import json
from typing import Any, Final, Self

from aiohttp import web

from segue.demo.loopback import Loopback

HANG: Final = 0


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Returns whether one of the signatures is by `secret`."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), signed, "sha256")).decode()
    return wanted in headers["webhook-signature"].split(" ")


class WebhookReceiver:
    """`async with WebhookReceiver() as receiver:` serves at `receiver.url`; `messages` are headers and bodies of what came.

    `answers` are statuses, first one first; when there are none it is 204. Status `HANG` is silence until `let_go`, or the end.
    """

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.messages: list[tuple[dict[str, str], bytes]] = []
        self.came = asyncio.Event()
        self.url = ""
        self._end = asyncio.Event()
        self._server = Loopback(web.post("/{name}", self._take))

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"http://{self._server.address}/a"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end.set()
        await self._server.__aexit__()

    def let_go(self) -> None:
        """Answers all that hang."""
        self._end.set()

    def data(self) -> list[Any]:
        """Returns what the messages say."""
        return [json.loads(body) for _, body in self.messages]

    async def _take(self, request: web.Request) -> web.Response:
        self.messages.append((dict(request.headers), await request.read()))
        self.came.set()
        status = self.answers.pop(0) if self.answers else 204
        if status == HANG:
            await self._end.wait()
        return web.Response(status=status or 204, headers={"Location": "/elsewhere"} if status == 302 else {})
