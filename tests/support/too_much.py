"""A server whose every answer is longer than anybody could mean."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer

from infra.runtime.bounded_answer import MAX_BYTES


@asynccontextmanager
async def too_much() -> AsyncIterator[str]:
    """Serves while the block runs, at the URL that it gives."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=b" " * (MAX_BYTES + 1), content_type="application/json")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")
