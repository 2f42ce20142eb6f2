"""A broker's HTTP door that plays a script: it notes what is published and answers as told."""

import asyncio
import json
from collections import deque
from types import TracebackType
from typing import Any, NamedTuple, Self

from aiohttp import web

from segue.demo.loopback import Loopback

DEADLINE_S = 30.0


class Request(NamedTuple):
    """A request of a publisher."""

    token: str
    content_type: str
    events: list[dict[str, Any]]


class Answer(NamedTuple):
    """An answer, given once. `status` 0 cuts the connection after the events were taken; `None` as body accepts them all."""

    status: int = 202
    body: dict[str, Any] | None = None
    headers: dict[str, str] | None = None


def rejected(*items: tuple[int, str], accepted: int = 0) -> Answer:
    """Returns a 202, with these (index, code) rejected."""
    return Answer(
        body={"accepted": accepted, "rejected": [{"index": i, "code": code, "reason": f"because of {code}"} for i, code in items]}
    )


def refused(status: int, code: str, **headers: str) -> Answer:
    """Returns a refusal of the whole request with a code."""
    return Answer(status, {"code": code, "number": 0, "reason": f"because of {code}"}, headers)


class ScriptedBroker:
    """Listens on a free port of the loopback; plays `script` once and then accepts everything."""

    def __init__(self, *script: Answer) -> None:
        self.script = deque(script)
        self.requests: list[Request] = []
        self.url = ""
        self._arrived: asyncio.Queue[Request] = asyncio.Queue()
        self._server = Loopback(web.post("/v1/events", self._publish), max_body_bytes=16 << 20)

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"http://{self._server.address}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._server.__aexit__()

    async def next_request(self) -> Request:
        """Returns the next request that was not yet taken by this."""
        async with asyncio.timeout(DEADLINE_S):
            return await self._arrived.get()

    @property
    def batches(self) -> list[list[str]]:
        """The kinds of the events of each request."""
        return [[event["kind"] for event in request.events] for request in self.requests]

    async def _publish(self, request: web.Request) -> web.StreamResponse:
        lines = (await request.read()).splitlines()
        token = request.headers["Authorization"].removeprefix("Bearer ")
        self.requests.append(Request(token, request.content_type, [json.loads(line) for line in lines]))
        self._arrived.put_nowait(self.requests[-1])
        answer = self.script.popleft() if self.script else Answer()
        if answer.status == 0:
            assert request.transport is not None
            request.transport.abort()
        body = {"accepted": len(lines), "rejected": []} if answer.body is None else answer.body
        return web.json_response(body, status=answer.status or 202, headers=answer.headers)
