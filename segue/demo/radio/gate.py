"""Who may ask the server of Segue Radio: pages of its own, in a browser on this machine."""

from collections.abc import Awaitable, Callable
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from infra.kernel.errors import Refused
from segue.home.admission import check_place

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]

SAFE: Final = frozenset({"GET", "HEAD"})
HEADERS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def check_page(method: str, host: str, origin: str | None, port: int) -> None:
    """Raises `Refused` for a request that does not come from a page of the server at `port`, and does not open one.

    `host` and `origin` are its headers. Browsers send an origin with each request that changes something, so one without is no page.
    """
    check_place(host, origin, "http", port)
    if origin is None and method not in SAFE:
        raise Refused("origin-refused", "only a page of this server may ask for that")


def policy(*connects: str) -> str:
    """Returns the `Content-Security-Policy` of a page that loads nothing but files of its own, and asks itself and `connects`."""
    own = "script-src 'self'; style-src 'self'; img-src 'self'; worker-src 'self'"
    return (
        f"default-src 'none'; {own}; connect-src 'self' {' '.join(connects)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def gate(content_policy: str, port: Callable[[], int]) -> Middleware:
    """Returns what refuses (403) all that `check_page` refuses, and gives each answer its headers. `port` is asked each time."""

    @web.middleware
    async def guard(request: web.Request, handler: Handle) -> web.StreamResponse:
        try:
            check_page(request.method, request.headers.get("Host", ""), request.headers.get("Origin"), port())
        except Refused as refused:
            raise web.HTTPForbidden(text=refused.reason) from None
        answer = await handler(request)
        if not answer.prepared:
            answer.headers.update({**HEADERS, "Content-Security-Policy": content_policy})
        return answer

    return guard
