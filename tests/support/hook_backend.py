"""A server of an operator that says who may come in, and who may see what."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer


class HookBackend:
    """The server, and what it was asked.

    - `allowed`: pairs of a user and a topic that they may see; `reason` is said of others.
    - `banned`: users who may not come in.
    - `mood`: "good", or what is wrong with its answers.
    - `asked`: what it was asked, by path; `headers`: those of the last request.
    """

    def __init__(self) -> None:
        self.allowed: set[tuple[str, str]] = set()
        self.banned: set[str] = set()
        self.reason = "not for you"
        self.mood = "good"
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.headers: dict[str, str] = {}
        self.url = ""
        self.arrived, self.go_on = asyncio.Event(), asyncio.Event()

    def of(self, path: str) -> list[dict[str, Any]]:
        """Returns what it was asked at `path`."""
        return [question for asked, question in self.asked if asked == path]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        question = json.loads(await request.read())
        self.asked.append((request.path, question))
        self.headers = dict(request.headers)
        self.arrived.set()
        match self.mood:
            case "slow":
                await self.go_on.wait()
            case "redirect":
                return web.Response(status=307, headers={"Location": "/elsewhere"})
            case "nonsense":
                return web.Response(body=b'{"allowed": "all", "allow": "yes"}')
            case "huge":
                return web.Response(body=b'{"allow": true, "allowed": ["' + b"x" * (2 << 20) + b'"]}')
            case "500" | "403" | "401" | "404":
                return web.Response(status=int(self.mood), body=b'{"allow": true, "allowed": []}')
        return web.json_response(self._answer(request.path, question))

    def _answer(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        if path == "/connect":
            is_banned = question["user"] in self.banned
            return {"allow": False, "reason": self.reason} if is_banned else {"allow": True}
        allowed = [topic for topic in question["topics"] if (question["user"], topic) in self.allowed]
        return {"allowed": allowed, "refused": {topic: self.reason for topic in question["topics"] if topic not in allowed}}


@asynccontextmanager
async def hook_backend() -> AsyncIterator[HookBackend]:
    """Runs such a server on loopback. What is slow goes on at the end."""
    made = HookBackend()
    app = web.Application()
    app.router.add_post("/{any:.*}", made.serve)
    async with TestServer(app) as server:
        made.url = str(server.make_url("")).rstrip("/")
        try:
            yield made
        finally:
            made.go_on.set()
