"""A connection of aiohttp, with what aiohttp leaves out: places, timeouts for all that a client may keep us waiting for, our words."""

import asyncio
from asyncio import BaseTransport, Transport
from typing import Any, Final, cast

from aiohttp import http_exceptions, web

from infra.kernel.errors import Refused
from infra.kernel.http_error import JSON, http_error
from infra.kernel.http_headers import ALWAYS
from infra.kernel.http_patience import Awaited, Waiting
from infra.kernel.places import NOWHERE, HeldPlace
from infra.kernel.printable import printable

from .answers import defect
from .message import closing_answer
from .web_door import WebDoor

# aiohttp's own header names the versions of aiohttp and Python.
EVERYWHERE: Final = {"Server": "segue", **dict(ALWAYS)}
# After an answer, what is left of the request's body is read for so long at most.
LINGERING_S: Final = 1.0


class WebConnection(web.RequestHandler):
    """One connection of a server. What is no HTTP never gets to a handler, and is refused here."""

    __slots__ = ("_door", "_is_heard", "_is_held", "_is_new", "_request", "_socket", "_waiting", "place")

    def __init__(self, manager: web.Server, door: WebDoor, place: HeldPlace, **options: Any) -> None:
        super().__init__(manager, loop=asyncio.get_running_loop(), auto_decompress=False, lingering_time=LINGERING_S, **options)
        self._door, self.place = door, place
        self._socket: Transport | None = None
        self._request: web.BaseRequest | None = None
        self._is_heard = self._is_held = False
        self._is_new = True
        self._waiting = Waiting(0.0)

    # asyncio

    def connection_made(self, transport: BaseTransport) -> None:
        """Takes the connection."""
        self._waiting = Waiting(asyncio.get_running_loop().time())
        self._socket = cast(Transport, transport)
        self._door.open.add(self)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Takes bytes of the client."""
        if data:
            self._waiting.heard(asyncio.get_running_loop().time())
            self._is_heard = self._is_heard or self._request is None
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Gives the place back."""
        self._socket = None
        self._door.open.discard(self)
        self.place.give_back()
        super().connection_lost(exc)

    def pause_reading(self) -> None:
        """Notes that it is we who do not read on."""
        self._is_held = True
        super().pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Notes that we read on."""
        self._is_held = False
        super().resume_reading(resume_parser)

    # what the server calls

    def begin(self, request: web.BaseRequest) -> None:
        """Notes that a handler has `request` now."""
        self._request, self._is_heard, self._is_new = request, False, False
        if self.place.is_forwarded:
            self.place.speak_for(",".join(request.headers.getall("X-Forwarded-For", [])))

    def end(self) -> None:
        """Notes that the handler has answered."""
        self._request = None

    def sweep(self, now_s: float) -> None:
        """See `SweptConnection`."""
        awaited = self._awaited()
        if not self._waiting.is_over(awaited, self._door.patience, now_s):
            return
        self._door.given_up[awaited.value] += 1
        if awaited is Awaited.HEAD and self._is_heard and self.transport is not None:
            self._door.refusals["hello-timeout"] += 1
            self.transport.write(closing_answer(Refused("hello-timeout", "the request did not arrive in time")))
            self.force_close()
        elif awaited in (Awaited.NEXT, Awaited.HEAD):
            self.force_close()
        else:
            self.abort()

    def refusal(self, refused: Refused) -> web.Response:
        """Returns what was `refused` as aiohttp sends it, and counts it."""
        self._door.refusals[refused.code.name] += 1
        return error_response(refused)

    def abort(self) -> None:
        """See `SweptConnection`."""
        if self._socket is not None:
            self._socket.abort()

    def _awaited(self) -> Awaited:
        """Returns what the connection is in the middle of."""
        if self._socket is None or self._socket.is_closing():
            return Awaited.END
        if self.writing_paused:
            return Awaited.READING
        if self._request is not None:
            is_waiting = not self._is_held and not self._request.content.is_eof()
            return Awaited.BODY if is_waiting else Awaited.ANSWER
        return Awaited.HEAD if self._is_heard or self._is_new else Awaited.NEXT

    # aiohttp

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Returns the refusal of `request`: of what aiohttp could not read (`exc`, with a `status` below 500), or of a defect.

        It ends the connection. Raises ConnectionError if an answer has begun, or if nobody is there to read one.
        """
        if isinstance(exc, ConnectionError):
            raise exc
        if request.writer.output_size > 0:
            raise ConnectionError("an answer has begun, so no error can be told")
        response = self.refusal(_unreadable(exc) if status < 500 else defect(exc or TimeoutError("nobody answered")))
        response.headers.update(EVERYWHERE)
        response.force_close()
        return response

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Logs a defect. A client that breaks off, or whose body makes no sense, is none: it is told, if it is there to be told."""
        if not isinstance(kw.get("exc_info"), ConnectionError | web.RequestPayloadError | http_exceptions.BadHttpMessage):
            super().log_exception(*args, **kw)


def peer_of(transport: BaseTransport | None) -> str:
    """Returns the address at the other end of `transport`, as the socket says it; "" where there is none."""
    name = transport.get_extra_info("peername") if transport is not None else None
    return str(name[0]) if isinstance(name, tuple) and name else ""


def place_of(request: web.BaseRequest) -> HeldPlace:
    """Returns the place of the connection on which `request` came."""
    return request.protocol.place if isinstance(request.protocol, WebConnection) else NOWHERE


def error_response(refused: Refused) -> web.Response:
    """Returns what was `refused` as aiohttp sends it."""
    status, headers, body = http_error(refused)
    return web.Response(status=status, headers=dict(headers), body=body, content_type=JSON)


def _unreadable(error: BaseException | None) -> Refused:
    if isinstance(error, http_exceptions.LineTooLong):
        return Refused("too-large", f"a line of the request head is longer than {error.args[1]} bytes")
    reason = error.message if isinstance(error, http_exceptions.BadHttpMessage) else str(error)
    return Refused("bad-request", f"this is not HTTP/1.1: {printable(reason.partition(chr(10))[0])}")
