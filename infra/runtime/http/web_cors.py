"""CORS at a server on aiohttp: what pages of other origins are told."""

from collections.abc import Callable

from aiohttp import web

from infra.kernel.cors import PREFLIGHT_STATUS, Cors
from infra.kernel.http_headers import Headers


class WebCors:
    """The rule `cors` for requests of aiohttp. `count(request)` raises `RateRefused` for a preflight too many."""

    def __init__(self, cors: Cors, count: Callable[[web.BaseRequest], None]) -> None:
        self._cors, self._count = cors, count

    def headers(self, request: web.BaseRequest) -> Headers:
        """Returns what the answer to `request` must tell the page that sent it, if it was one."""
        origin = request.headers.get("Origin")
        return self._cors.headers(origin, request.headers.get("Host", "")) if origin is not None else ()

    def preflight(self, request: web.BaseRequest) -> web.Response | None:
        """Returns the answer to a preflight; None where `request` is none. Raises Refused (origin-refused, rate-limited)."""
        origin = request.headers.get("Origin")
        if origin is None or request.method != "OPTIONS" or "Access-Control-Request-Method" not in request.headers:
            return None
        self._count(request)
        return web.Response(status=PREFLIGHT_STATUS, headers=dict(self._cors.preflight(origin, request.headers.get("Host", ""))))
