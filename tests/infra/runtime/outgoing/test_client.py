"""infra.runtime.outgoing.client: where calls go, and how much of an answer is believed."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from infra.kernel.errors import Unavailable
from infra.runtime.outgoing.client import OutgoingClient
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.outgoing.resolver import NotCallable

HERE = OutgoingOptions(private=["127.0.0.1"])
SHORT_S = 0.1


class Stranger:
    """A server that answers as a stranger would. `asked` counts its requests; `said` is what the last one said."""

    def __init__(self) -> None:
        self.asked = 0
        self.said: dict[str, str] = {}
        self.url = ""
        self._end = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked += 1
        self.said = dict(request.headers)
        match request.path:
            case "/redirect":
                return web.Response(status=302, headers={"Location": "/plain"})
            case "/gzip":
                return web.Response(body=gzip.compress(bytes(10_000_000)), headers={"Content-Encoding": "gzip"})
            case "/endless":
                return await self._endless(request)
            case "/silent":
                await self._end.wait()
        return web.Response(body=await request.read() or b"plain", headers={"Set-Cookie": "who=we"})

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while not self._end.is_set():
            await response.write(bytes(65536))
        return response

    def end(self) -> None:
        self._end.set()


@asynccontextmanager
async def stranger() -> AsyncIterator[Stranger]:
    made = Stranger()
    app = web.Application()
    app.router.add_route("*", "/{any:.*}", made.serve)
    async with TestServer(app) as server:
        made.url = str(server.make_url("")).rstrip("/")
        try:
            yield made
        finally:
            made.end()


@asynccontextmanager
async def client(options: OutgoingOptions = HERE, timeout_s: float = 5.0, max_answer_bytes: int = 1000) -> AsyncIterator[OutgoingClient]:
    made = OutgoingClient(options, timeout_s=timeout_s, max_answer_bytes=max_answer_bytes)
    try:
        yield made
    finally:
        await made.close()


async def test_an_answer_is_returned_whatever_its_status() -> None:
    async with stranger() as there, client() as ours:
        answer = await ours.post(f"{there.url}/hook", b"news", {"X-Id": "7"})
        assert (answer.status, answer.body, answer.is_whole) == (200, b"news", True)
        assert there.said["X-Id"] == "7"
        assert (await ours.get(f"{there.url}/plain")).body == b"plain"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "[::ffff:127.0.0.1]"])
async def test_a_private_address_is_not_called_however_it_is_written(host: str) -> None:
    """DPS-26: the connection is never made, so nothing on this machine is asked."""
    async with stranger() as there, client(OutgoingOptions()) as ours:
        with pytest.raises((NotCallable, Unavailable), match=r"not on the public internet|not a canonical"):
            await ours.get(there.url.replace("127.0.0.1", host) + "/plain")
        assert there.asked == 0


async def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async with stranger() as there, client() as ours:
        assert (await ours.get(f"{there.url}/redirect")).status == 302
        assert there.asked == 1


async def test_of_an_endless_answer_only_the_beginning_is_read() -> None:
    async with stranger() as there, client() as ours:
        answer = await ours.get(f"{there.url}/endless")
        assert (len(answer.body), answer.is_whole) == (1000, False)


async def test_an_encoded_answer_is_not_inflated() -> None:
    """DPS-26: 10 MB of zeros stay the 10 kB that they came as."""
    async with stranger() as there, client(max_answer_bytes=1 << 20) as ours:
        answer = await ours.get(f"{there.url}/gzip")
        assert there.said["Accept-Encoding"] == "identity"
        assert len(answer.body) < 20_000
        assert not answer.is_whole
        async with ours.stream(f"{there.url}/gzip") as stream:
            with pytest.raises(Unavailable, match="encoding 'gzip', which nobody has asked for"):
                await anext(stream.chunks)


async def test_no_cookie_is_kept() -> None:
    async with stranger() as there, client() as ours:
        await ours.get(f"{there.url}/plain")
        await ours.get(f"{there.url}/plain")
        assert "Cookie" not in there.said


async def test_silence_ends_a_call() -> None:
    async with stranger() as there, client(timeout_s=SHORT_S) as ours:
        with pytest.raises(Unavailable, match="no answer in time"):
            await ours.get(f"{there.url}/silent")


async def test_an_answer_is_read_in_pieces() -> None:
    async with stranger() as there, client() as ours, ours.stream(f"{there.url}/plain") as answer:
        assert answer.status == 200
        assert b"".join([chunk async for chunk in answer.chunks]) == b"plain"


async def test_nobody_at_the_address_is_unavailable() -> None:
    async with client() as ours:
        with pytest.raises(Unavailable):
            await ours.get("http://127.0.0.1:1/")
