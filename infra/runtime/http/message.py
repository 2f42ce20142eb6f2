"""Requests and answers of HTTP as values: heads, responses, and the exchanges that take the body in between."""

from asyncio import Future
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import ClassVar, Protocol

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.http_error import JSON, http_error
from infra.kernel.http_headers import ALWAYS, Headers
from infra.kernel.places import NOWHERE, HeldPlace


def _nobody_listens(refused: Refused) -> None:
    """Does nothing: there is no connection that could be ended."""


class Head(msgspec.Struct, frozen=True, gc=False):
    """The head of a request.

    - `path`, `query`: as they were sent, not percent-decoded.
    - `headers`: their names are in lower case; a header that came several times is joined with ", ".
    - `keep_alive`: whether the client may send another request.
    - `place`: of the connection that it came on, which knows the address; that of a proxy where there is one. A WebSocket gives it back.
    - `refuse`: ends the request with a refusal while its body comes, and the connection with it. It is to be called at no other time.
    """

    method: str
    path: str
    query: str
    headers: dict[bytes, bytes]
    keep_alive: bool
    place: HeldPlace = NOWHERE
    refuse: Callable[[Refused], None] = _nobody_listens


class Response(msgspec.Struct, frozen=True, gc=False):
    """An answer. `headers` are trusted: they must not hold what came from a client. `code` names that of a refusal, to be counted."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Headers = ()
    code: str = ""

    def encode(self, *, keep_alive: bool = True, with_body: bool = True, cors: Headers = ()) -> bytes:
        """Returns the bytes on the wire.

        - `keep_alive`: whether the connection goes on.
        - `with_body`: False answers HEAD: the same headers, no body.
        - `cors`: what the page that asked must be told. It names the page's origin, so it is no part of what is built once.
        """
        prefix = _prefix(self.status, self.content_type, self.headers, keep_alive)
        more = b"".join(b"%b: %b\r\n" % (name.encode(), value.encode("latin-1")) for name, value in cors)
        return b"%b%d\r\n%b\r\n%b" % (prefix, len(self.body), more, self.body if with_body else b"")


@lru_cache(maxsize=256)
def _prefix(status: int, content_type: str, headers: Headers, keep_alive: bool) -> bytes:
    """Status line and headers up to the length; there are few different ones, so each is built once."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", f"Content-Type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in (*ALWAYS, *headers)]
    if not keep_alive:
        lines.append("Connection: close")
    return "\r\n".join([*lines, "Content-Length: "]).encode()


def stream_head(cors: Headers) -> bytes:
    """Returns the head of an answer of Server-Sent Events, which has no end. `cors`: see `Response.encode`."""
    told = (("Content-Type", "text/event-stream"), *ALWAYS, ("X-Accel-Buffering", "no"), *cors, ("Connection", "close"))
    return b"HTTP/1.1 200 OK\r\n%b\r\n" % "".join(f"{name}: {value}\r\n" for name, value in told).encode("latin-1")


def json_error(refused: Refused) -> Response:
    """Returns the answer to what was `refused`."""
    status, headers, body = http_error(refused)
    return Response(status, body, headers=headers, code=refused.code.name)


def closing_answer(refused: Refused) -> bytes:
    """Returns the bytes of an answer that says what was `refused`, and ends its connection."""
    return json_error(refused).encode(keep_alive=False)


Answer = Response | Future[Response]
"""An answer now, or when it is known. A future may end with `Refused`; a client that leaves does not cancel it."""


class Exchange(Protocol):
    """One request after its head. It is dropped without `end` when the client leaves or breaks the protocol first.

    `is_stream`: its body may come as long as it likes. All others have a time for the whole of it.
    """

    is_stream: ClassVar[bool]

    def chunk(self, data: bytes) -> None:
        """Takes the next bytes of the body. Raises Refused: answered at once, and the connection is closed."""

    def end(self) -> Answer:
        """Returns the answer, now that the body is complete. Raises Refused: answered, and the connection goes on."""


Factory = Callable[[Head], Exchange]
"""Made for each request when its head is known. Raises Refused: answered without reading the body."""


class BufferedExchange:
    """An exchange that collects the body, at most `max_body_bytes` of it (`too-large`), and answers it as one."""

    __slots__ = ("_answer", "_body", "_head", "_max_body_bytes")
    is_stream: ClassVar[bool] = False

    def __init__(self, head: Head, answer: Callable[[Head, bytes], Answer], max_body_bytes: int) -> None:
        """Raises `Refused("too-large")` if the head announces a longer body, before any of it is read."""
        self._head = head
        self._answer = answer
        self._max_body_bytes = max_body_bytes
        self._body: bytes | bytearray = b""
        if int(head.headers.get(b"content-length", b"0")) > max_body_bytes:
            raise self._too_large()

    def chunk(self, data: bytes) -> None:
        """See `Exchange`."""
        if len(self._body) + len(data) > self._max_body_bytes:
            raise self._too_large()
        if not self._body:
            self._body = data  # mostly there is no second one
            return
        if isinstance(self._body, bytes):
            self._body = bytearray(self._body)
        self._body += data

    def end(self) -> Answer:
        """See `Exchange`."""
        return self._answer(self._head, bytes(self._body))

    def _too_large(self) -> Refused:
        return Refused("too-large", f"the body is longer than {self._max_body_bytes} bytes; send it in parts")


class KnownExchange:
    """An exchange that lets a short body pass by, and then answers what the head alone asked for. So the connection can go on."""

    __slots__ = ("_response",)
    is_stream: ClassVar[bool] = False

    def __init__(self, response: Response) -> None:
        self._response = response

    def chunk(self, data: bytes) -> None:
        """See `Exchange`."""

    def end(self) -> Answer:
        """See `Exchange`."""
        return self._response
