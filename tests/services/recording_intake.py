"""A notification intake on real HTTP that remembers what it accepted, and fails when the test says so."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, Self

from aiohttp import web

from segue.demo.loopback import Loopback
from tests.support.news import News


class RecordingIntake:
    """`async with RecordingIntake() as intake:` listens at `intake.url`. `taken` maps ids to (notification, pages).

    `answer()` is asked at each request: a status other than 202 is answered instead of taking it. Nothing is read and nothing
    answered while `gate` is not set.
    """

    def __init__(self) -> None:
        self.taken: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        self.requests: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.answer: Callable[[], tuple[int, str]] = lambda: (202, "")
        self.gate = asyncio.Event()
        self.gate.set()
        self._news = News()
        self._server = Loopback(web.post("/v1/notifications", self._take))

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"http://{self._server.address}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._server.__aexit__()

    async def _take(self, request: web.Request) -> web.Response:
        status, code = self.answer()
        self.headers.append(dict(request.headers))
        await self.gate.wait()
        if status != 202:
            await request.read()
            self.requests.append(str(status))
            self._news.tell()
            return web.json_response({"code": code, "number": 0, "reason": "the test wants it so"}, status=status)
        lines = [json.loads(line) async for line in request.content]
        first, *pages = lines
        known = first["id"] in self.taken
        self.taken[first["id"]] = (first, pages)
        self.requests.append("202")
        self._news.tell()
        accepted = sum(len(page["followers"]) for page in pages)
        return web.json_response({"id": first["id"], "accepted": accepted, "duplicate": known}, status=202)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until `condition` holds, looking after each request. Raises TimeoutError."""
        await self._news.until(condition)

    async def told(self, number: int) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Returns what was accepted, in order, once it is so much."""
        await self.until(lambda: len(self.taken) >= number)
        return list(self.taken.values())
