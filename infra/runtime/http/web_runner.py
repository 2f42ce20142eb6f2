"""An aiohttp server whose errors are those of `http_error`, whether a handler, the router or aiohttp's own reader finds them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, cast

from aiohttp import http_exceptions, web

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.http_error import MethodRefused
from infra.kernel.places import HeldPlace
from infra.kernel.request_head import check_encoding, check_head

from ..address import Address
from ..door_opener import DoorOpener
from ..entrance import Entrance
from .answers import defect
from .message import closing_answer
from .web_connection import EVERYWHERE, WebConnection
from .web_cors import WebCors
from .web_door import WebDoor

CLOSING_S: Final = 1.0


class WebRunner(web.AppRunner):
    """The server of `app`, whose connections `door` admits. Open requests get a second when it closes.

    - `hint`: ends the reason for a path where there is nothing.
    - `cors`: which pages may ask; None where no page should.
    """

    def __init__(self, app: web.Application, door: WebDoor, hint: str = "", cors: WebCors | None = None) -> None:
        super().__init__(app, access_log=None, shutdown_timeout=CLOSING_S)
        self._door, self._hint, self._cors = door, hint, cors

    async def setup(self) -> None:
        """Begins to admit connections."""
        await super().setup()
        self._door.start()

    async def cleanup(self) -> None:
        """Ends all connections. May be called twice."""
        try:
            await super().cleanup()
        finally:
            self._door.stop()

    async def listen(self, doors: DoorOpener, option: str, address: str, *, plain: bool = False) -> str:
        """Opens a door at `address`, which `option` says, and returns it with the real port. Raises as `DoorOpener.open`."""
        await _Site(self, doors, option, address, plain=plain).start()
        return str(Address(*self.addresses[0][:2]))

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(self._door, _Guard(made.request_handler, self._hint, self._cors), made, self._kwargs)


class _Site(web.BaseSite):
    """A door of a runner, which closes it."""

    def __init__(self, runner: WebRunner, doors: DoorOpener, option: str, address: str, *, plain: bool) -> None:
        super().__init__(runner)
        self._doors, self._option, self._address, self._plain = doors, option, address, plain

    @property
    def name(self) -> str:
        """The address, as it was configured."""
        return self._address

    async def start(self) -> None:
        """Opens the door. Raises as `DoorOpener.open`."""
        server = self._runner.server
        assert isinstance(server, _Server), "the runner is set up before its door opens"
        entrance = Entrance(places=server.door.places, make=server.connection, refusal=closing_answer)
        self._server = await self._doors.open(self._option, self._address, entrance, plain=self._plain)  # type: ignore[assignment]  # as much of a server as a runner needs
        await super().start()


class _Guard:
    """A handler around `handler`. Whatever goes wrong with a request is answered from the code table, and harms no other request."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], hint: str, cors: WebCors | None) -> None:
        self._handler, self._hint, self._cors = handler, hint, cors

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast(WebConnection, request.protocol)
        connection.begin(request)
        try:
            response = await self._answer(request, connection)
        finally:
            connection.end()
        if not response.prepared:
            response.headers.update(EVERYWHERE)
            if self._cors is not None:
                response.headers.update(self._cors.headers(request))
        return response

    async def _answer(self, request: web.BaseRequest, connection: WebConnection) -> web.StreamResponse:
        try:
            check_head(request.raw_path, (request.version.major, request.version.minor), request.raw_headers)
        except Refused as refused:
            response = connection.refusal(refused)
            response.force_close()  # where its body ends is a matter of opinion
            return response
        try:
            check_encoding(request.raw_headers)
            if self._cors is not None and (preflight := self._cors.preflight(request)) is not None:
                return preflight
            return await self._handler(request)
        except Refused as refused:
            return connection.refusal(refused)
        except Unavailable as trouble:
            return connection.refusal(Refused("unavailable", str(trouble)))
        except web.HTTPException as error:
            return connection.refusal(self._refused(request, error))
        except (web.RequestPayloadError, http_exceptions.BadHttpMessage) as error:
            return connection.refusal(Refused("bad-request", f"the body cannot be read: {error}"))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            return connection.refusal(defect(error))

    def _refused(self, request: web.BaseRequest, error: web.HTTPException) -> Refused:
        match error:
            case web.HTTPNotFound():
                return Refused("not-found", f"there is nothing at {request.path}{self._hint}")
            case web.HTTPMethodNotAllowed():
                return MethodRefused(request.method, request.path, error.allowed_methods)
            case web.HTTPRequestEntityTooLarge():
                return Refused("too-large", f"the body is over the limit of {request.client_max_size} bytes")
            case _:
                return Refused("bad-request", error.text or error.reason)


class _Server(web.Server):
    """A factory of connections that refuse as we do, at `door`, for the server `made` by aiohttp with `options`."""

    def __init__(self, door: WebDoor, guard: _Guard, made: web.Server, options: dict[str, object]) -> None:
        super().__init__(guard, request_factory=made.request_factory)
        self.door, self._options = door, options

    def connection(self, place: HeldPlace) -> WebConnection:
        """Returns a connection that has a `place`."""
        return WebConnection(self, self.door, place, **self._options)
