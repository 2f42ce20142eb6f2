"""A small HTTP service behind a door, with recorded connections: what the tests of the door talk to."""

import asyncio
import json
from typing import Any, Self

from httptools import HttpResponseParser

from infra.kernel.errors import Refused
from infra.kernel.places import HeldPlace
from infra.kernel.shares import Shares
from infra.runtime.http.door import Answer, BufferedExchange, Exchange, Factory, Head, HttpDoor, HttpLimits, Response
from infra.runtime.logs import get_logger
from infra.runtime.loops import Loops
from tests.support.recording_transport import RecordingTransport

MAX_BODY_BYTES = 20_000
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Protocol: segue.v1\r\n\r\n"
).encode()


class Stream(Exchange):
    """An exchange that takes a body piece by piece, and no exclamation marks."""

    is_stream = True

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def chunk(self, data: bytes) -> None:
        if b"!" in data:
            raise Refused("bad-json", "no shouting")
        self._pieces.append(data)

    def end(self) -> Answer:
        return Response(202, b"%d" % len(self._pieces))


class Remembering(asyncio.Protocol):
    """A protocol that takes over from HTTP and remembers what it got."""

    def __init__(self, place: HeldPlace) -> None:
        self.transport: asyncio.BaseTransport | None = None
        self.received = b""
        self.place = place

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        self.received += data


class Desk:
    """A door with a small service behind it: echo at once, later when the test says so, a stream, a WebSocket.

    A turn of the loop has no end here, unless the test gives it `shares`.
    """

    def __init__(self, shares: Shares | None = None, **limits: Any) -> None:
        self.later: list[asyncio.Future[Response]] = []
        self.heads: list[Head] = []
        self.pieces: list[bytes] = []
        self.taken_over: list[Remembering] = []
        answering = {("GET", "/echo"): self.echo, ("POST", "/echo"): self.echo, ("GET", "/later"): self.wait}
        refusing: dict[tuple[str, str], Factory] = {
            ("POST", "/stream"): lambda head: Stream(self.pieces),
            ("POST", "/closed"): self.refuse,
            ("GET", "/broken"): self.break_down,
        }
        self.door = HttpDoor(
            {route: self.buffered(answer) for route, answer in answering.items()} | refusing,
            {"/ws": self.take_over},
            HttpLimits(**limits),
            streams={"/flow": self.take_over},
            loops=Loops(get_logger("desk", "d1", "sto")),
            shares=Shares(asyncio.get_running_loop().call_soon, share=1 << 40, whole=1 << 40) if shares is None else shares,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.door.close()
        await self.door.drained()

    def buffered(self, answer: Any) -> Any:
        return lambda head: BufferedExchange(head, answer, MAX_BODY_BYTES)

    def echo(self, head: Head, body: bytes) -> Answer:
        self.heads.append(head)
        return Response(200, body or head.query.encode(), "text/plain")

    def wait(self, head: Head, body: bytes) -> Answer:
        self.later.append(asyncio.get_running_loop().create_future())
        return self.later[-1]

    def refuse(self, head: Head) -> Exchange:
        raise Refused("forbidden", "not yours")

    def break_down(self, head: Head) -> Exchange:
        raise ZeroDivisionError("of our making")

    def take_over(self, head: Head) -> asyncio.Protocol:
        if head.query == "full":
            raise Refused("overloaded")
        self.taken_over.append(Remembering(head.place))
        return self.taken_over[-1]

    def connect(self, host: str = "") -> RecordingTransport:
        """Opens a new connection from `host`. Raises `Refused` if there is no place."""
        place = self.door.places.take(host, asyncio.get_running_loop().time())
        return RecordingTransport(self.door.protocol(place))

    def serve(self, *chunks: bytes) -> RecordingTransport:
        """Opens a new connection that sent `chunks`."""
        return self.visit("", *chunks)

    def visit(self, host: str, *chunks: bytes) -> RecordingTransport:
        """Opens a new connection from `host` that sent `chunks`. Raises `Refused` if there is no place."""
        return send(self.connect(host), *chunks)

    def sweep(self, after_s: float) -> None:
        self.door.sweep(asyncio.get_running_loop().time() + after_s)


def send(transport: RecordingTransport, *chunks: bytes) -> RecordingTransport:
    for chunk in chunks:
        assert isinstance(transport.protocol, asyncio.Protocol)
        transport.protocol.data_received(chunk)
    return transport


def get(target: str, *headers: str, method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def post(target: str, body: bytes, *headers: str) -> bytes:
    return get(target, f"Content-Length: {len(body)}", *headers, method="POST") + body


class Answers:
    """The answers: one (status, headers, body) for each response, as an independent parser reads them."""

    def __init__(self, transport: RecordingTransport) -> None:
        self.found: list[tuple[int, dict[str, str], bytes]] = []
        self._headers: dict[str, str] = {}
        self._body = b""
        self._parser = HttpResponseParser(self)
        self._parser.feed_data(transport.written)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self.found.append((self._parser.get_status_code(), self._headers, self._body))
        self._headers, self._body = {}, b""


def answered(transport: RecordingTransport) -> list[tuple[int, bytes]]:
    return [(status, body) for status, _, body in Answers(transport).found]


def only(transport: RecordingTransport) -> tuple[int, str, dict[str, str]]:
    """Status, code and headers of the one answer, which is an error."""
    [(status, headers, body)] = Answers(transport).found
    error = json.loads(body)
    assert set(error) == {"code", "number", "reason"}
    return status, error["code"], headers
