"""An aiohttp server whose errors are those of `http_error`, whether a handler, the router or aiohttp's own reader finds them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import http_exceptions, web

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.http_error import JSON, MethodRefused, http_error

from .answers import defect

CLOSING_S: Final = 1.0


class WebRunner(web.AppRunner):
    """The server of `app`. `hint` ends the reason for a path where there is nothing. Open requests get a second when it closes."""

    def __init__(self, app: web.Application, hint: str = "") -> None:
        super().__init__(app, access_log=None, shutdown_timeout=CLOSING_S)
        self._hint = hint

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(_Guard(made.request_handler, self._hint), request_factory=made.request_factory, **self._kwargs)


class _Guard:
    """A handler around `handler`. Whatever goes wrong with a request is answered from the code table, and harms no other request."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], hint: str) -> None:
        self._handler, self._hint = handler, hint

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._handler(request)
        except Refused as refused:
            return error_response(refused)
        except Unavailable as trouble:
            return error_response(Refused("unavailable", str(trouble)))
        except web.HTTPException as error:
            return error_response(self._refused(request, error))
        except (web.RequestPayloadError, http_exceptions.BadHttpMessage) as error:
            return error_response(Refused("bad-request", f"the body cannot be read: {error}"))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except Exception as error:
            return error_response(defect(error))

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
    """A factory of connections that refuse as we do."""

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, loop=asyncio.get_running_loop(), **self._kwargs)


class _Connection(web.RequestHandler):
    """A connection of aiohttp. What is no HTTP never gets to a handler, and is refused here."""

    __slots__ = ()

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        """Returns the refusal of `request`: of what aiohttp could not read (`exc`, with a `status` below 500), or of a defect.

        It ends the connection. Raises ConnectionError if an answer has begun.
        """
        if request.writer.output_size > 0:
            raise ConnectionError("an answer has begun, so no error can be told")
        response = error_response(_unreadable(exc) if status < 500 else defect(exc or TimeoutError("nobody answered")))
        response.force_close()
        return response


def error_response(refused: Refused) -> web.Response:
    """Returns what was `refused` as aiohttp sends it."""
    status, headers, body = http_error(refused)
    return web.Response(status=status, headers=dict(headers), body=body, content_type=JSON)


def _unreadable(error: BaseException | None) -> Refused:
    if isinstance(error, http_exceptions.LineTooLong):
        return Refused("too-large", f"a line of the request head is longer than {error.args[1]} bytes")
    reason = error.message if isinstance(error, http_exceptions.BadHttpMessage) else str(error)
    return Refused("bad-request", f"this is not HTTP/1.1: {reason.partition(chr(10))[0]}")
