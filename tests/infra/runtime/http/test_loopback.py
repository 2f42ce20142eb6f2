"""The HTTP door over real sockets, on asyncio's own loop and on uvloop, with independent clients."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

import aiohttp
import pytest
import uvloop
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.typing import Subprotocol

from infra.kernel.websocket import CLOSE, PING, TEXT, close_frame, pong_frame, text_frame
from infra.kernel.websocket_reader import FrameReader
from infra.runtime.door_opener import DoorOpener
from infra.runtime.http.door import Answer, BufferedExchange, Head, HttpDoor, Response
from infra.runtime.logs import get_logger
from infra.runtime.loops import Loops

Scenario = Callable[[int], Coroutine[Any, Any, None]]
SEGUE = [Subprotocol("segue.v1")]
MAX_BODY_BYTES = 1 << 20


class Echo(asyncio.Protocol):
    """A WebSocket that says back what it hears."""

    def __init__(self) -> None:
        self._reader = FrameReader(100_000)
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        for opcode, payload in self._reader.feed(data):
            if opcode == CLOSE:
                self._transport.write(close_frame(1000, "bye"))
                self._transport.close()
            elif opcode in (TEXT, PING):
                self._transport.write(text_frame(payload) if opcode == TEXT else pong_frame(payload))
        if self._reader.error is not None:
            self._transport.write(close_frame(self._reader.error.code.number, self._reader.error.reason))
            self._transport.close()


async def answer_later(head: Head, body: bytes) -> Response:
    await asyncio.sleep(0)
    return Response(200, body, "application/octet-stream")


def echo(head: Head, body: bytes) -> Answer:
    return asyncio.ensure_future(answer_later(head, body))


async def a_websocket_client_is_echoed(port: int) -> None:
    async with connect(f"ws://127.0.0.1:{port}/v1/connect", subprotocols=SEGUE) as client:
        for text in ("", "x", "né" * 100, "y" * 70_000):
            await client.send(text)
            assert await client.recv() == text
        await client.send(["in ", "three ", "fragments"])
        assert await client.recv() == "in three fragments"
        await (await client.ping())


async def a_violation_closes_the_websocket_with_its_number(port: int) -> None:
    wrong: list[tuple[str | bytes, int]] = [(b"binary", 4100), ("x" * 100_001, 4102)]
    for message, number in wrong:
        async with connect(f"ws://127.0.0.1:{port}/v1/connect", subprotocols=SEGUE) as client:
            await client.send(message)
            with pytest.raises(ConnectionClosedError) as closed:
                await client.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == number


async def a_handshake_without_the_subprotocol_is_refused_over_http(port: int) -> None:
    with pytest.raises(InvalidStatus) as refused:
        await connect(f"ws://127.0.0.1:{port}/v1/connect")
    assert refused.value.response.status_code == 400
    assert b"Sec-WebSocket-Protocol: segue.v1" in bytes(refused.value.response.body or b"")


async def an_http_client_posts_bodies_of_all_sizes_on_one_connection(port: int) -> None:
    url = f"http://127.0.0.1:{port}/echo"
    async with aiohttp.ClientSession() as client:
        for size in (0, 1, 300, 100_000, MAX_BODY_BYTES):
            async with client.post(url, data=b"x" * size) as response:
                assert (response.status, len(await response.read())) == (200, size)
        async with client.post(url, data=b"x" * 5000, expect100=True) as response:
            assert await response.read() == b"x" * 5000


async def a_client_that_is_still_sending_reads_why_it_was_refused(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"100000\r\n" + b"x" * 0x100000 + b"\r\n1000\r\n"
    )
    for _ in range(50):
        writer.write(b"x" * 100_000)
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"too-large"' in answer
    writer.close()
    await writer.wait_closed()


async def a_slow_reader_gets_everything_in_order_although_it_stops_the_reading(port: int) -> None:
    """Asks for more answers than the sockets hold: the server must stop, and go on when they are read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 12)
    size, count = 100_000, 100

    async def send() -> None:
        for n in range(count):
            writer.write(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size + b"%d" % (n % 10) * size)
            await writer.drain()

    async with asyncio.TaskGroup() as group:
        group.create_task(send())
        for n in range(count):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.endswith(b"Content-Length: %d\r\n\r\n" % size)
            assert await reader.readexactly(size) == b"%d" % (n % 10) * size
    writer.close()
    await writer.wait_closed()


SCENARIOS = [
    a_websocket_client_is_echoed,
    a_violation_closes_the_websocket_with_its_number,
    a_handshake_without_the_subprotocol_is_refused_over_http,
    an_http_client_posts_bodies_of_all_sizes_on_one_connection,
    a_client_that_is_still_sending_reads_why_it_was_refused,
    a_slow_reader_gets_everything_in_order_although_it_stops_the_reading,
]


async def serve(scenario: Scenario) -> None:
    routes = {("POST", "/echo"): lambda head: BufferedExchange(head, echo, MAX_BODY_BYTES)}
    door = HttpDoor(routes, {"/v1/connect": lambda head: Echo()}, loops=Loops(get_logger("door", "d1", "sto")))
    server = await DoorOpener().open("door", "127.0.0.1:0", door.entrance)
    async with asyncio.timeout(20):
        await scenario(server.sockets[0].getsockname()[1])
    server.close()
    door.drain()
    door.close()
    await door.drained()


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_over_a_real_socket(scenario: Scenario, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(serve(scenario))
