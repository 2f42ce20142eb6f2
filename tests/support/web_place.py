"""A small server on `WebRunner`, and raw connections to it: for what aiohttp leaves out."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, cast

from aiohttp import web

from infra.runtime.door_opener import DoorOpener
from infra.runtime.http.web_cors import WebCors
from infra.runtime.http.web_door import WebDoor
from infra.runtime.http.web_limits import WebLimits
from infra.runtime.http.web_runner import WebRunner
from tests.support.recording_log import RecordingLog

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]

HELLO = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"


class RawHttp:
    """A connection to a server, byte by byte."""

    def __init__(self, host: str, port: int, from_host: str = "127.0.0.1") -> None:
        self._to, self._from = (host, port), (from_host, 0)
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(*self._to, local_addr=self._from)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.writer.close()

    def send(self, data: bytes) -> None:
        """Sends `data`."""
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Returns status, headers in lower case and body of the next answer, which has a length."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return int(head[0].split()[1]), headers, body

    def stop_reading(self) -> None:
        """Lets what the server sends pile up."""
        cast(asyncio.Transport, self.writer.transport).pause_reading()

    async def ended(self) -> bytes:
        """Returns what comes until the server ends the connection, in whatever way."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""


class WebPlace:
    """A server with the paths `/hello`, `/take` (answers the length of the body), `/wait` (answers when `free` is set), `/large`."""

    def __init__(self, limits: WebLimits, cors: WebCors | None = None) -> None:
        self.log = RecordingLog()
        self.door = WebDoor("test", limits, self.log)
        self.free = asyncio.Event()
        self.host, self.port = "127.0.0.1", 0
        app = web.Application(client_max_size=1 << 20)
        for path, handle in (("/hello", self._hello), ("/take", self._take), ("/wait", self._wait), ("/large", self._large)):
            app.router.add_route("*", path, handle)
        self.runner = WebRunner(app, self.door, cors=cors)

    def connect(self, from_host: str = "127.0.0.1") -> RawHttp:
        """Returns a connection to the server, from one of this machine's addresses."""
        return RawHttp(self.host, self.port, from_host)

    async def settled(self) -> None:
        """Returns when all that was sent before has been read: the answer to a request that was sent after it is there."""
        async with self.connect("127.0.0.9") as last:
            last.send(HELLO)
            await last.answer()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Returns when `condition` holds."""
        async with asyncio.timeout(30):
            while not condition():  # noqa: ASYNC110 - a door tells nobody
                await asyncio.sleep(0)

    def later(self, seconds: float) -> None:
        """Has the door sweep as it would when so many seconds had passed since the sweep before."""
        now_s = asyncio.get_running_loop().time()
        self.door.sweep(now_s)
        self.door.sweep(now_s + seconds)

    async def _hello(self, _: web.Request) -> web.Response:
        return web.Response(text="hello")

    async def _take(self, request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    async def _wait(self, _: web.Request) -> web.Response:
        await self.free.wait()
        return web.Response(text="waited")

    async def _large(self, _: web.Request) -> web.Response:
        return web.Response(body=bytes(64 << 20))


@asynccontextmanager
async def web_place(cors: WebCors | None = None, **limits: Any) -> AsyncIterator[WebPlace]:
    """Serves while the block runs, within these `limits` (`WebLimits`). `cors` says which pages may ask."""
    place = WebPlace(WebLimits(**limits), cors)
    await place.runner.setup()
    try:
        await place.runner.listen(DoorOpener(log=place.log), "test.door", f"{place.host}:0")
        place.port = place.runner.addresses[0][1]
        yield place
    finally:
        await place.runner.cleanup()
