"""infra.runtime.bounded_answer: no more of an answer is read than somebody could mean."""

import gzip

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from infra.runtime.bounded_answer import bounded_body


async def test_an_answer_is_read_up_to_its_bound_also_when_it_is_inflated() -> None:
    """DPS-26: 10 MB in 10 kB of gzip are not taken into memory."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=gzip.compress(bytes(10_000_000)), headers={"Content-Encoding": "gzip"})

    app = web.Application()
    app.router.add_get("/", answer)
    async with TestServer(app) as server, aiohttp.ClientSession() as http:
        async with http.get(server.make_url("/")) as response:
            with pytest.raises(aiohttp.ClientPayloadError, match="more than 1000000 bytes"):
                await bounded_body(response, 1_000_000)
        async with http.get(server.make_url("/")) as response:
            assert len(await bounded_body(response)) == 10_000_000
